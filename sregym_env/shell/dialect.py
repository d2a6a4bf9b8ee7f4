"""What the interpreter's reader of bash gets wrong, put right: ``==`` in ``(( ))``, ``name[i]=$(...)``, ``< <(...)``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from just_bash.ast import AST, ArithAssignmentNode, ProcessSubstitutionPart
from just_bash.interpreter import expansion
from just_bash.parser.lexer import Lexer, TokenType
from just_bash.parser.parser import Parser

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(\[[^\[\]]+\])?\s*(<<=|>>=|[-+*/%&|^]?=)(?!=)\s*(.+)\Z", re.DOTALL)
_ELEMENT = re.compile(r"[A-Za-z_]\w*\[[^\[\]\s]+\]\+?=(?=\$\()")


def _arithmetic_assignment(self: Any, expression: str) -> Any:
    """An assignment begins with a variable; ``==`` is none."""
    match = _ASSIGNED.match(expression.strip())
    if match is None:
        return self._parse_arith_ternary(expression.strip())
    name, subscript, operator, value = match.groups()
    return ArithAssignmentNode(
        operator=operator,
        variable=name,
        subscript=self._parse_arith_ternary(subscript[1:-1]) if subscript else None,
        value=self._parse_arith_assignment(value),
    )


_read_word_plain = Lexer._read_word


def _read_word(self: Any, start: int, line: int, column: int) -> Any:
    """Quote the substitution in ``name[i]=$(...)``, which the reader would end at its parenthesis."""
    match = _ELEMENT.match(self.input, self.pos)
    if match is not None:
        end = _closing(self.input, match.end() + 1)
        if end > 0 and (end == len(self.input) or self.input[end] in " \t\n;&|)"):
            quoted = f'"{self.input[match.end() : end]}"'
            self.input = self.input[: match.end()] + quoted + self.input[end:]
    return _read_word_plain(self, start, line, column)


def _closing(text: str, at: int) -> int:
    """Just after the parenthesis that closes the one at ``at``; -1 where none does. Quotes hide parentheses."""
    depth = 0
    quote = ""
    while at < len(text):
        char = text[at]
        if char == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return -1


def _redirection_reader(plain: Any) -> Any:
    """A reader of redirections that knows ``< <(command)``."""

    def read(self: Any) -> Any:
        less = TokenType.LESS
        ahead = [self._current().type, self._peek(1).type, self._peek(2).type]
        if ahead != [less, less, TokenType.LPAREN]:
            return plain(self)
        for _ in ahead:
            self._advance()
        self._skip_newlines()
        body = AST.script(self._parse_compound_list())
        self._skip_newlines()
        self._expect(TokenType.RPAREN, "Expected ')' to close process substitution")
        return AST.redirection("<", AST.word([ProcessSubstitutionPart(body=body, direction="input")]), None)

    return read


LAST_BACKGROUND = "__last_background"
"""The variable that stands for ``$!``."""

_ELEMENT_NAME = re.compile(r"([A-Za-z_]\w*)\[([^\[\]@*]+)\]\Z")
_ASKS = ("DefaultValue", "UseAlternative", "ErrorIfUnset")


def _stored(ctx: Any, part: Any) -> Any:
    """``${name[key]:-other}`` by the name under which the interpreter stores the element.

    It would look for a variable called ``name[key]`` and always take the other value.
    """
    if part.parameter == "!" and part.operation is None:
        # The interpreter would take it for the beginning of ${!name}.
        return replace(part, parameter=LAST_BACKGROUND)
    if part.operation is None or part.operation.type not in _ASKS:
        return part
    match = _ELEMENT_NAME.match(part.parameter)
    if match is None:
        return part
    name, key = match.groups()
    if ctx.state.env.get(f"{name}__is_array") == "assoc":
        key = expansion._expand_subscript_vars(ctx, key).strip("\"'")
    else:
        key = str(expansion._eval_array_subscript(ctx, key))
    return replace(part, parameter=f"{name}_{key}")


def _parameter_reader(plain: Any) -> Any:
    def expand(ctx: Any, part: Any, *rest: Any, **named: Any) -> Any:
        return plain(ctx, _stored(ctx, part), *rest, **named)

    return expand


_UPDATE = re.compile(r"([A-Za-z_]\w*)\[([^\[\]]+)\]\s*(?:(\+\+|--)|([-+*]?)=(?!=)(.+))\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _KeyedUpdate:
    """``name[key]++`` and ``name[key] += value``, of which the interpreter makes nothing."""

    name: str
    key: str
    operator: str
    value: Any
    after: bool = False
    """Whether the expression's own value is the one before the update."""
    type: str = "KeyedUpdate"


_parse_arithmetic_plain = Parser._parse_arithmetic_expression


def _arithmetic_expression(self: Any, expression: str) -> Any:
    match = _UPDATE.match(expression.strip())
    if match is None:
        return _parse_arithmetic_plain(self, expression)
    name, key, step, operator, value = match.groups()
    if step:
        return _KeyedUpdate(name, key, step[0], _parse_arithmetic_plain(self, "1"), after=True)
    return _KeyedUpdate(name, key, operator, _parse_arithmetic_plain(self, value))


def evaluator(plain: Any) -> Any:
    """Evaluates what :func:`_arithmetic_expression` reads; everything else is the interpreter's."""

    async def evaluate(ctx: Any, node: Any) -> int:
        if not isinstance(node, _KeyedUpdate):
            found: int = await plain(ctx, node)
            return found
        env = ctx.state.env
        if env.get(f"{node.name}__is_array") == "assoc":
            key = expansion._expand_subscript_vars(ctx, node.key).strip("\"'")
        else:
            env[f"{node.name}__is_array"] = "indexed"
            key = str(expansion._eval_array_subscript(ctx, node.key))
        place = f"{node.name}_{key}"
        old = int(env.get(place) or 0)
        value: int = await plain(ctx, node.value)
        # A step after the name gives the value before it.
        new = {"+": old + value, "-": old - value, "*": old * value}.get(node.operator, value)
        env[place] = str(new)
        return old if node.after else new

    return evaluate


def _no_eval(*_: Any) -> Any:
    """Stands in for Python's ``eval``, to which the interpreter would hand subscripts that it cannot read."""
    raise ValueError("arithmetic syntax error")


def install() -> None:
    """Put these readers in the place of the interpreter's own; once per process is enough."""
    if Lexer._read_word is not _read_word:
        Parser._parse_arith_assignment = _arithmetic_assignment
        Lexer._read_word = _read_word
        Parser._try_parse_redirection = _redirection_reader(Parser._try_parse_redirection)
        Parser._parse_arithmetic_expression = _arithmetic_expression
        expansion.eval = _no_eval
        for name in ("expand_parameter", "expand_parameter_async", "expand_parameter_segments_async"):
            setattr(expansion, name, _parameter_reader(getattr(expansion, name)))
