"""The language: tokens and the tree of a program (POSIX awk)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

Node = tuple[Any, ...]
"""An expression or statement: its kind, then its parts."""

KEYWORDS = frozenset(
    "BEGIN END function func if else while for do break continue next nextfile exit return delete in getline "
    "print printf".split()
)
BUILTINS = frozenset(
    "length substr index split sub gsub gensub match sprintf sin cos atan2 exp log sqrt int rand srand tolower "
    "toupper system close fflush strftime systime".split()
)

_TOKEN = re.compile(
    r"""(?P<space>(?:[ \t\r]|\\\r?\n|\#[^\n]*)+)
    |(?P<newline>\n)
    |(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<name>[A-Za-z_]\w*)
    |(?P<operator>\*\*=|\*\*|&&|\|\||\+\+|--|>>|<=|>=|==|!=|!~|\+=|-=|\*=|/=|%=|\^=|[-+*/%^!<>|?:=~$(){}\[\];,])""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/((?:[^/\\\n\[]|\\.|\[\^?\]?(?:[^\]\\\n]|\\.|\[:\w+:\])*\])*)/")
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_PLAIN = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    '"': '"',
    "/": "/",
    "\\": "\\",
}


class AwkError(Exception):
    """A program that cannot be read or run."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its kind (``number``, ``string``, ``regex``, ``name``, ``call``, or the text itself)."""

    kind: str
    text: str


@dataclass(slots=True)
class Function:
    """A function that the program declares."""

    name: str
    parameters: tuple[str, ...]
    body: Node


@dataclass(slots=True)
class Program:
    """A parsed program."""

    begin: list[Node] = field(default_factory=list)
    rules: list[tuple[Node | None, Node | None, Node | None]] = field(default_factory=list)
    """(pattern, end of the range, action)."""
    end: list[Node] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)


def unescape(text: str) -> str:
    """The characters that a string's escapes stand for; unknown escapes keep their backslash."""

    def replaced(match: re.Match[str]) -> str:
        body = match[1]
        if body[0] in "01234567":
            return chr(int(body, 8) & 255)
        return "" if body == "\n" else _PLAIN.get(body, f"\\{body}")

    return _ESCAPE.sub(replaced, text)


def tokens(source: str) -> list[Token]:
    """The tokens of a program. Raises AwkError."""
    found: list[Token] = []
    position = 0
    while position < len(source):
        if source[position] == "/" and not _ends_operand(found):
            regex = _REGEX.match(source, position)
            if regex is None:
                raise AwkError("unterminated regexp")
            found.append(Token("regex", regex[1].replace("\\/", "/")))
            position = regex.end()
            continue
        match = _TOKEN.match(source, position)
        if match is None:
            raise AwkError("unterminated string" if source[position] == '"' else "syntax error")
        position, text = match.end(), match[0]
        match match.lastgroup:
            case "space":
                continue
            case "newline":
                found.append(Token("\n", "\n"))
            case "string":
                found.append(Token("string", unescape(text[1:-1])))
            case "name" if text in KEYWORDS:
                found.append(Token("function" if text == "func" else text, text))
            case "name" if text not in BUILTINS and source[position : position + 1] == "(":
                found.append(Token("call", text))
            case "name" if text in BUILTINS:
                found.append(Token("builtin", text))
            case "operator":
                text = {"**": "^", "**=": "^="}.get(text, text)
                found.append(Token(text, text))
            case kind:
                found.append(Token(str(kind), text))
    found.append(Token("end", ""))
    return found


def _ends_operand(found: list[Token]) -> bool:
    return bool(found) and found[-1].kind in (
        "number",
        "string",
        "regex",
        "name",
        "builtin",
        ")",
        "]",
        "$",
        "++",
        "--",
    )


class Parser:
    """Reads one program."""

    def __init__(self, source: str) -> None:
        self._tokens = tokens(source)
        self._at = 0

    # --- tokens ---

    @property
    def _kind(self) -> str:
        return self._tokens[self._at].kind

    def _next(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _take(self, *kinds: str) -> Token | None:
        return self._next() if self._kind in kinds else None

    def _expect(self, kind: str) -> Token:
        if self._kind != kind:
            shown = {"\n": "newline", "end": "end of program"}.get(self._kind, self._tokens[self._at].text)
            raise AwkError(f"syntax error at or near {shown}")
        return self._next()

    def _skip(self, *more: str) -> None:
        while self._kind == "\n" or self._kind in more:
            self._at += 1

    # --- program and statements ---

    def program(self) -> Program:
        """The whole program."""
        found = Program()
        self._skip(";")
        while self._kind != "end":
            self._item(found)
            self._skip(";")
        return found

    def _item(self, found: Program) -> None:
        if self._take("function"):
            name = self._next().text
            self._expect("(")
            parameters = []
            while self._kind != ")":
                parameters.append(self._expect("name").text)
                if not self._take(","):
                    break
                self._skip()
            self._expect(")")
            self._skip()
            found.functions[name] = Function(name, tuple(parameters), self._block())
        elif self._take("BEGIN"):
            self._skip()
            found.begin.append(self._block())
        elif self._take("END"):
            self._skip()
            found.end.append(self._block())
        else:
            pattern = until = None
            if self._kind != "{":
                pattern = self._expression()
                if self._take(","):
                    self._skip()
                    until = self._expression()
            found.rules.append((pattern, until, self._block() if self._kind == "{" else None))

    def _block(self) -> Node:
        self._expect("{")
        body = []
        self._skip(";")
        while self._kind != "}":
            body.append(self._statement())
            self._skip(";")
        self._next()
        return ("block", tuple(body))

    def _finish(self) -> None:
        if self._kind not in ("}", "end") and not self._take(";", "\n"):
            self._expect(";")

    def _body(self) -> Node:
        self._skip()
        if self._take(";"):
            return ("block", ())
        return self._statement()

    def _statement(self) -> Node:
        kind = self._kind
        if kind == "{":
            return self._block()
        reader = getattr(self, f"_{kind}_statement", None) if kind.isalpha() else None
        if reader is not None:
            self._next()
            node: Node = reader()
            return node
        node = self._simple()
        self._finish()
        return node

    def _if_statement(self) -> Node:
        self._expect("(")
        condition = self._expression()
        self._expect(")")
        then = self._body()
        mark = self._at
        self._skip(";")
        if self._take("else"):
            return ("if", condition, then, self._body())
        self._at = mark
        return ("if", condition, then, ("block", ()))

    def _while_statement(self) -> Node:
        self._expect("(")
        condition = self._expression()
        self._expect(")")
        return ("while", condition, self._body())

    def _do_statement(self) -> Node:
        body = self._body()
        self._skip(";")
        self._expect("while")
        self._expect("(")
        condition = self._expression()
        self._expect(")")
        self._finish()
        return ("do", body, condition)

    def _for_statement(self) -> Node:
        self._expect("(")
        ahead = [token.kind for token in self._tokens[self._at : self._at + 4]]
        if ahead == ["name", "in", "name", ")"]:
            name = self._next().text
            self._next()
            array = self._next().text
            self._next()
            return ("each", name, array, self._body())
        first = None if self._kind == ";" else self._simple()
        self._expect(";")
        self._skip()
        condition = None if self._kind == ";" else self._expression()
        self._expect(";")
        self._skip()
        step = None if self._kind == ")" else self._simple()
        self._expect(")")
        return ("for", first, condition, step, self._body())

    def _break_statement(self) -> Node:
        self._finish()
        return ("break",)

    def _continue_statement(self) -> Node:
        self._finish()
        return ("continue",)

    def _next_statement(self) -> Node:
        self._finish()
        return ("next",)

    def _nextfile_statement(self) -> Node:
        self._finish()
        return ("nextfile",)

    def _exit_statement(self) -> Node:
        return ("exit", self._optional())

    def _return_statement(self) -> Node:
        return ("return", self._optional())

    def _optional(self) -> Node | None:
        value = None if self._kind in (";", "\n", "}", "end") else self._expression()
        self._finish()
        return value

    def _simple(self) -> Node:
        if self._take("delete"):
            name = self._expect("name").text
            return ("delete", name, self._subscript() if self._kind == "[" else None)
        if self._kind in ("print", "printf"):
            return self._print(self._next().kind)
        return ("expression", self._expression())

    def _print(self, kind: str) -> Node:
        values: list[Node] = []
        if self._kind not in (";", "\n", "}", "end", ">", ">>", "|"):
            values = self._list(self._printed)
        if len(values) == 1 and values[0][0] == "group":
            values = list(values[0][1])
        target: Node | None = None
        mode = self._take(">", ">>", "|")
        if mode is not None:
            target = self._concatenation()
        return (kind, tuple(values), "" if mode is None else mode.kind, target)

    def _list(self, read: Any) -> list[Node]:
        found = [read()]
        while self._take(","):
            self._skip()
            found.append(read())
        return found

    def _printed(self) -> Node:
        return self._ternary(True)

    # --- expressions, loosest first ---

    def _expression(self) -> Node:
        return self._ternary(False)

    def _ternary(self, printing: bool) -> Node:
        left = self._or(printing)
        if self._take("?"):
            self._skip()
            then = self._ternary(printing)
            self._skip()
            self._expect(":")
            self._skip()
            return ("ternary", left, then, self._ternary(printing))
        if left[0] in ("name", "item", "field") and (
            operator := self._take("=", "+=", "-=", "*=", "/=", "%=", "^=")
        ):
            self._skip()
            return ("assign", operator.kind[:-1], left, self._ternary(printing))
        return left

    def _or(self, printing: bool) -> Node:
        left = self._and(printing)
        while self._take("||"):
            self._skip()
            left = ("or", left, self._and(printing))
        return left

    def _and(self, printing: bool) -> Node:
        left = self._membership(printing)
        while self._take("&&"):
            self._skip()
            left = ("and", left, self._membership(printing))
        return left

    def _membership(self, printing: bool) -> Node:
        left = self._matching(printing)
        while self._kind == "in":
            self._next()
            keys = left[1] if left[0] == "group" else (left,)
            left = ("in", keys, self._expect("name").text)
        return left

    def _matching(self, printing: bool) -> Node:
        left = self._comparison(printing)
        while operator := self._take("~", "!~"):
            left = ("match", operator.kind == "!~", left, self._comparison(printing))
        return left

    def _comparison(self, printing: bool) -> Node:
        left = self._concatenation()
        operators = ("<", "<=", "==", "!=", ">=") if printing else ("<", "<=", "==", "!=", ">", ">=")
        if operator := self._take(*operators):
            return ("compare", operator.kind, left, self._assigned())
        while self._kind == "|" and self._tokens[self._at + 1].kind == "getline":
            self._at += 2
            left = ("getline", self._place(), "|", left)
        return left

    def _assigned(self) -> Node:
        """The right side of a comparison: a concatenation, or an assignment to a name."""
        right = self._concatenation()
        if right[0] in ("name", "item", "field") and self._take("="):
            return ("assign", "", right, self._ternary(False))
        return right

    def _concatenation(self) -> Node:
        left = self._sum()
        while self._kind in (
            "number",
            "string",
            "name",
            "call",
            "builtin",
            "$",
            "(",
            "!",
            "-",
            "+",
            "++",
            "--",
        ):
            left = ("join", left, self._sum())
        return left

    def _sum(self) -> Node:
        left = self._product()
        while operator := self._take("+", "-"):
            left = ("arithmetic", operator.kind, left, self._product())
        return left

    def _product(self) -> Node:
        left = self._unary()
        while operator := self._take("*", "/", "%"):
            left = ("arithmetic", operator.kind, left, self._unary())
        return left

    def _unary(self) -> Node:
        if self._take("!"):
            return ("not", self._unary())
        if operator := self._take("-", "+"):
            return ("sign", operator.kind, self._unary())
        return self._power()

    def _power(self) -> Node:
        left = self._postfix()
        if self._take("^"):
            right = self._unary() if self._kind in ("-", "+", "!") else self._power()
            return ("arithmetic", "^", left, right)
        return left

    def _postfix(self) -> Node:
        left = self._primary()
        if left[0] in ("name", "item", "field") and (operator := self._take("++", "--")):
            return ("step", operator.kind[0], left, True)
        return left

    def _primary(self) -> Node:
        token = self._next()
        match token.kind:
            case "number":
                number = int(token.text, 16) if token.text[:2] in ("0x", "0X") else float(token.text)
                return ("number", float(number))
            case "string":
                return ("string", token.text)
            case "regex":
                return ("regex", token.text)
            case "$":
                if operator := self._take("++", "--"):
                    return ("field", ("step", operator.kind[0], self._primary(), False))
                if self._take("-"):
                    return ("field", ("sign", "-", self._primary()))
                return ("field", self._primary())
            case "++" | "--":
                return ("step", token.kind[0], self._primary(), False)
            case "(":
                self._skip()
                values = self._list(self._expression)
                self._skip()
                self._expect(")")
                return ("group", tuple(values)) if len(values) > 1 else ("parenthesis", values[0])
            case "name":
                if self._kind == "[":
                    return ("item", token.text, self._subscript())
                return ("name", token.text)
            case "call":
                return ("call", token.text, self._arguments())
            case "builtin":
                return ("builtin", token.text, self._arguments() if self._kind == "(" else ())
            case "getline":
                place = self._place()
                if self._take("<"):
                    return ("getline", place, "<", self._primary())
                return ("getline", place, "", None)
        self._at -= 1
        self._expect("expression")
        raise AssertionError

    def _place(self) -> Node | None:
        return self._primary() if self._kind in ("name", "$") else None

    def _subscript(self) -> tuple[Node, ...]:
        self._expect("[")
        keys = self._list(self._expression)
        self._expect("]")
        return tuple(keys)

    def _arguments(self) -> tuple[Node, ...]:
        self._expect("(")
        self._skip()
        values: list[Node] = []
        if self._kind != ")":
            values = self._list(self._expression)
        self._skip()
        self._expect(")")
        return tuple(values)
