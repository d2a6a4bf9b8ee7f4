"""Go templates (``-o go-template``): the part of ``text/template`` that people use with kubectl.

Fields, variables, ``if``/``else if``/``with``/``range``/``end``, pipelines, parentheses, literals, trimming markers,
comments, and the functions ``index len print printf println eq ne lt le gt ge and or not slice html js urlquery``
plus kubectl's own ``base64decode`` and ``exists``. Not supported: ``define``/``template``/``block`` and methods.
Data are decoded JSON: integers are int64, other numbers float64. A program that brings functions of its own (Loki)
names them when it makes a template.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeAlias
from urllib.parse import quote_plus

from sregym_env.kube.jsonpath import JSONPathError, unquote
from sregym_env.kube.yamlout import go_float
from sregym_env.runtime import effort
from sregym_env.runtime.numbers import whole

_TOKEN = re.compile(
    r"""\s+|"(?:[^"\\]|\\.)*"|`[^`]*`|:=|[|(),=]|\$[A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*|(?:\.[A-Za-z_][A-Za-z0-9_]*)+|\."""
    r"""|[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|[A-Za-z_][A-Za-z0-9_]*"""
)
_NO_VALUE = object()

Functions: TypeAlias = Mapping[str, Callable[..., Any]]
"""What a template may call, by name."""


class TemplateError(ValueError):
    """A template that does not parse or does not fit the data; ``str()`` is close to Go's text."""

    spot = ""
    """Where in the template the execution ended and what is written there, where that is known."""
    written = ""
    """What the execution had written by then."""


@dataclass(slots=True)
class _Node:
    """A piece of a template: ``text``, ``pipe``, ``if``, ``with`` or ``range``."""

    kind: str
    text: str = ""
    pipe: _Pipe | None = None
    body: list[_Node] = field(default_factory=list)
    other: list[_Node] = field(default_factory=list)


@dataclass(slots=True)
class _Pipe:
    names: tuple[str, ...]
    declares: bool
    commands: list[list[Any]]


@dataclass(frozen=True, slots=True)
class _Path:
    root: str
    """Empty for the dot, else the variable's name."""
    fields: tuple[str, ...]
    spot: str = ""
    """Where it stands and what is written there, as errors name it."""


@dataclass(frozen=True, slots=True)
class _Chain:
    pipe: _Pipe
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Word:
    name: str


@dataclass(frozen=True, slots=True)
class _Value:
    value: Any


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in which template an action stands, and the functions that it may call."""

    template: str
    functions: Mapping[str, Callable[..., Any]]
    line: int = 0
    column: int = 0
    """Where in its line the action's text begins."""

    def error(self, problem: str) -> TemplateError:
        return TemplateError(f"template: {self.template}:{self.line}: {problem}")


class GoTemplate:
    """A compiled template."""

    __slots__ = ("_functions", "_nodes")

    def __init__(self, source: str, functions: Functions | None = None, name: str = "output") -> None:
        """Parse ``source``; ``functions`` come on top of Go's own, ``name`` is what errors call the template. Raises
        ``TemplateError``."""
        self._functions = {**_FUNCTIONS, **functions} if functions else _FUNCTIONS
        self._nodes = _parse(source, _Place(name, self._functions))

    def render(self, data: Any, *, allow_missing: bool = True) -> str:
        """The template filled with ``data``; raises ``TemplateError``, without ``allow_missing`` also for a key
        that a map does not have."""
        out = _Output()
        try:
            _Run(out, {"$": data}, self._functions, allow_missing).nodes(self._nodes, data)
        except TemplateError as error:
            error.written = "".join(out.parts)
            raise
        return "".join(out.parts)


@lru_cache(maxsize=512)
def compile_go_template(source: str) -> GoTemplate:
    """The compiled template for ``source`` (cached)."""
    return GoTemplate(source)


# --- parsing --------------------------------------------------------------------------------------


def _pieces(source: str, place: _Place) -> list[tuple[str, str, _Place]]:
    """(kind, text, place) of every text and action, trimming markers applied."""
    pieces: list[tuple[str, str, _Place]] = []
    pos, trim = 0, False
    while True:
        start = source.find("{{", pos)
        text = source[pos:] if start < 0 else source[pos:start]
        if trim:
            text = text.lstrip(" \t\r\n")
        if start < 0:
            pieces.append(("text", text, place))
            return pieces
        if re.match(r"\{\{-\s", source[start : start + 4]):
            text = text.rstrip(" \t\r\n")
        pieces.append(("text", text, place))
        here = replace(
            place,
            line=source.count("\n", 0, start) + 1,
            column=start + 2 - (source.rfind("\n", 0, start) + 1),
        )
        end = _close(source, start + 2)
        if end < 0:
            raise here.error("unclosed action")
        body = source[start + 2 : end]
        trim = bool(re.search(r"\s-\Z", body))
        pos = end + 2
        body = re.sub(r"\A-\s", "  ", re.sub(r"\s-\Z", "", body)).rstrip()
        here = replace(here, column=here.column + len(body) - len(body.lstrip()))
        body = body.lstrip()
        if not body.startswith("/*"):
            pieces.append(("action", body, here))


def _close(source: str, pos: int) -> int:
    quote = ""
    while pos < len(source):
        char = source[pos]
        if quote:
            if char == "\\" and quote == '"':
                pos += 1
            elif char == quote:
                quote = ""
        elif char in '"`':
            quote = char
        elif source.startswith("}}", pos):
            return pos
        pos += 1
    return -1


def _parse(source: str, place: _Place) -> list[_Node]:
    root: list[_Node] = []
    stack: list[tuple[_Node, bool]] = []
    current = root
    for kind, text, here in _pieces(source, place):
        if kind == "text":
            if text:
                current.append(_Node("text", text))
            continue
        word = text.split(None, 1)[0] if text else ""
        rest = text[len(word) :].strip()
        inside = replace(here, column=here.column + len(text) - len(rest))
        if word in ("if", "with", "range"):
            node = _Node(word, pipe=_pipe(rest, inside))
            current.append(node)
            stack.append((node, False))
            current = node.body
        elif word == "else":
            if not stack:
                raise here.error("unexpected {{else}}")
            current = stack[-1][0].other
            if rest:
                nested, _, condition = rest.partition(" ")
                within = replace(inside, column=inside.column + len(nested) + 1)
                node = _Node(nested, pipe=_pipe(condition, within))
                current.append(node)
                stack.append((node, True))
                current = node.body
        elif word == "end":
            if not stack:
                raise here.error("unexpected {{end}}")
            while stack.pop()[1]:
                pass
            current = _current(root, stack)
        else:
            current.append(_Node("pipe", pipe=_pipe(text, here)))
    if stack:
        raise replace(place, line=1).error("unexpected EOF")
    return root


def _current(root: list[_Node], stack: Sequence[tuple[_Node, bool]]) -> list[_Node]:
    if not stack:
        return root
    node = stack[-1][0]
    return node.other if node.other else node.body


def _pipe(text: str, place: _Place) -> _Pipe:
    tokens: list[_Token] = []
    pos = 0
    while pos < len(text):
        match = _TOKEN.match(text, pos)
        if match is None:
            raise place.error(f'unexpected "{text[pos]}" in operand')
        if not match.group().isspace():
            tokens.append(_Token(match.group(), pos))
        pos = match.end()
    if not tokens:
        raise place.error("missing value for command")
    names: tuple[str, ...] = ()
    declares = True
    for i, token in enumerate(tokens):
        if token in (":=", "="):
            names = tuple(name for name in tokens[:i] if name != ",")
            declares = token == ":="
            tokens = tokens[i + 1 :]
            break
    commands, rest = _commands(tokens, place)
    if rest:
        raise place.error("unexpected right paren")
    return _Pipe(names, declares, commands)


class _Token(str):
    """A word of an action, and where in it that stands."""

    __slots__ = ("at",)

    def __new__(cls, text: str, at: int) -> _Token:
        """The word ``text`` at ``at``."""
        made = super().__new__(cls, text)
        made.at = at
        return made

    at: int


def _spot(token: _Token, place: _Place) -> str:
    """A field path as Go's errors name it: by the place of its second part, if it has one."""
    second = token.find(".", 1)
    column = place.column + token.at + max(0, second)
    return f'{place.template}:{place.line}:{column}: executing "{place.template}" at <{token}>'


def _commands(tokens: list[_Token], place: _Place) -> tuple[list[list[Any]], list[_Token]]:
    commands: list[list[Any]] = [[]]
    while tokens:
        token, tokens = tokens[0], tokens[1:]
        if token == "|":
            commands.append([])
        elif token == "(":
            inner, tokens = _commands(tokens, place)
            if not tokens:
                raise place.error("unclosed left paren")
            tokens = tokens[1:]
            group = _Pipe((), True, inner)
            if tokens and tokens[0][0] == "." and len(tokens[0]) > 1:
                fields = tuple(part for part in tokens[0].split(".") if part)
                commands[-1].append(_Chain(group, fields))
                tokens = tokens[1:]
            else:
                commands[-1].append(group)
        elif token == ")":
            return commands, [token, *tokens]
        else:
            commands[-1].append(_operand(token, place))
    return commands, tokens


def _operand(token: _Token, place: _Place) -> Any:
    head = token[0]
    if head == '"':
        try:
            return _Value(unquote(token))
        except JSONPathError as error:
            raise place.error(f"{error}") from None
    if head == "`":
        return _Value(token[1:-1])
    if head == "$":
        root, *fields = token.split(".")
        return _Path(root, tuple(fields), _spot(token, place))
    if head == ".":
        return _Path("", tuple(part for part in token.split(".") if part), _spot(token, place))
    if head.isdecimal() or head in "+-":
        if not token.lstrip("+-").isdecimal():
            return _Value(float(token))
        number = whole(token.lstrip("+-"), None)
        if number is None:
            raise place.error(f"integer overflow: {token}")
        return _Value(-number if head == "-" else number)
    if token in ("true", "false"):
        return _Value(token == "true")
    if token == "nil":
        return _Value(None)
    if token not in place.functions and token not in ("and", "or"):
        raise place.error(f'function "{token}" not defined')
    return _Word(token)


# --- execution ------------------------------------------------------------------------------------


MAX_OUTPUT = 8 * 1024 * 1024
"""What one execution may cost: characters written, and ``_STEP`` for each turn of a loop."""

_STEP = 32

CHARACTER_EFFORT = 0.06
"""What each of these costs (units of ``runtime/effort.py``)."""

MAX_TEXT = 1024 * 1024
"""Characters of one value."""


class _Output:
    """What an execution has written, and what it has cost."""

    __slots__ = ("parts", "spent")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.spent = 0

    def append(self, text: str) -> None:
        self.parts.append(text)
        self.spend(len(text))

    def spend(self, cost: int) -> None:
        """Raises ``TemplateError`` where it is too much."""
        self.spent += cost
        effort.spend(CHARACTER_EFFORT * cost)
        if self.spent > MAX_OUTPUT:
            raise TemplateError("the template's output is too long")


class _Run:
    """One execution: where it writes and the variables in scope."""

    __slots__ = ("_allow_missing", "_functions", "_out", "_variables")

    def __init__(
        self,
        out: _Output,
        variables: dict[str, Any],
        functions: Mapping[str, Callable[..., Any]],
        allow_missing: bool = True,
    ) -> None:
        self._allow_missing = allow_missing
        self._functions = functions
        self._out = out
        self._variables = variables

    def _scope(self, variables: dict[str, Any]) -> _Run:
        """The same execution with other variables."""
        return _Run(self._out, variables, self._functions, self._allow_missing)

    def nodes(self, nodes: Sequence[_Node], dot: Any) -> None:
        for node in nodes:
            if node.kind == "text":
                self._out.append(node.text)
                continue
            assert node.pipe is not None
            if node.kind == "range":
                self._range(node, dot)
                continue
            scope = self if node.kind == "pipe" else self._scope(dict(self._variables))
            value = scope.pipe(node.pipe, dot)
            if node.kind == "pipe":
                if not node.pipe.names:
                    self._out.append(to_text(value))
            elif truth(value):
                scope.nodes(node.body, value if node.kind == "with" else dot)
            else:
                scope.nodes(node.other, dot)

    def _range(self, node: _Node, dot: Any) -> None:
        assert node.pipe is not None
        value = self.pipe(_Pipe((), True, node.pipe.commands), dot)
        entries: list[tuple[Any, Any]]
        if isinstance(value, dict):
            entries = [(key, value[key]) for key in sorted(value)]
        elif isinstance(value, list):
            entries = list(enumerate(value))
        elif value is None or value is _NO_VALUE:
            entries = []
        else:
            raise TemplateError(f"range can't iterate over {to_text(value)}")
        if not entries:
            self._scope(dict(self._variables)).nodes(node.other, dot)
        for key, item in entries:
            self._out.spend(_STEP)
            scope = dict(self._variables)
            if node.pipe.names:
                scope[node.pipe.names[-1]] = item
                if len(node.pipe.names) == 2:
                    scope[node.pipe.names[0]] = key
            self._scope(scope).nodes(node.body, item)

    def pipe(self, pipe: _Pipe, dot: Any) -> Any:
        value: Any = _NO_VALUE
        for i, command in enumerate(pipe.commands):
            value = self._command(command, dot, (value,) if i else ())
        for name in pipe.names:
            self._variables[name] = value
        return value

    def _command(self, command: Sequence[Any], dot: Any, piped: tuple[Any, ...]) -> Any:
        if not command:
            raise TemplateError("missing value for command")
        head = command[0]
        if isinstance(head, _Word):
            if head.name in ("and", "or"):
                return self._logic(head.name, command[1:], dot, piped)
            arguments = [self._value(operand, dot) for operand in command[1:]]
            return _bounded(self._functions[head.name](*_checked(head.name, [*arguments, *piped])))
        if len(command) > 1 or piped:
            raise TemplateError("can't give argument to non-function")
        return self._value(head, dot)

    def _logic(self, name: str, operands: Sequence[Any], dot: Any, piped: tuple[Any, ...]) -> Any:
        value: Any = None
        for value in (*(self._value(operand, dot) for operand in operands), *piped):
            if truth(value) is (name == "or"):
                return value
        return value

    def _value(self, operand: Any, dot: Any) -> Any:
        if isinstance(operand, _Value):
            return operand.value
        if isinstance(operand, _Pipe):
            return self.pipe(operand, dot)
        if isinstance(operand, _Word):
            return _bounded(self._functions[operand.name](*_checked(operand.name, [])))
        if isinstance(operand, _Chain):
            value = self.pipe(operand.pipe, dot)
            for name in operand.fields:
                value = self._member(value, name)
            return value
        value = dot
        if operand.root:
            if operand.root not in self._variables:
                raise TemplateError(f'undefined variable "{operand.root}"')
            value = self._variables[operand.root]
        try:
            for name in operand.fields:
                value = self._member(value, name)
        except TemplateError as error:
            error.spot = operand.spot
            raise
        return value

    def _member(self, value: Any, name: str) -> Any:
        found = _member(value, name)
        if found is _NO_VALUE and not self._allow_missing:
            nothing = "map has" if isinstance(value, dict) else "nil data;"
            raise TemplateError(f'{nothing} no entry for key "{name}"')
        return found


def _member(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return value.get(name, _NO_VALUE)
    if value is None or value is _NO_VALUE:
        if value is None:
            raise TemplateError(f"nil pointer evaluating interface {{}}.{name}")
        return _NO_VALUE
    raise TemplateError(f"can't evaluate field {name} in type interface {{}}")


def go_print(value: Any) -> str:
    """A value as Go's ``%+v`` prints it."""
    return _nested(value)


def truth(value: Any) -> bool:
    """Whether Go templates take a value for true."""
    return value is not _NO_VALUE and bool(value)


def to_text(value: Any) -> str:
    """A value as Go prints it."""
    if isinstance(value, str):
        return value
    if value is _NO_VALUE or value is None:
        return "<no value>"
    return _nested(value)


def _nested(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None or value is _NO_VALUE:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{_nested(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(_nested, value)) + "]"
    return go_float(value) if isinstance(value, float) else str(value)


# --- functions ------------------------------------------------------------------------------------


def _checked(name: str, arguments: list[Any]) -> list[Any]:
    least = _LEAST.get(name, 1 if name in _FUNCTIONS else 0)
    if len(arguments) < least:
        raise TemplateError(f"wrong number of args for {name}: want at least {least} got {len(arguments)}")
    return arguments


def _bounded(value: Any) -> Any:
    """What a function has made, if it is no larger than it may be."""
    if isinstance(value, str):
        effort.spend(CHARACTER_EFFORT * len(value))
        if len(value) > MAX_TEXT:
            raise TemplateError("the template's output is too long")
    else:
        effort.spend(1.0)
    return value


def _index(value: Any, *keys: Any) -> Any:
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key, _NO_VALUE)
        elif isinstance(value, list | str):
            if not isinstance(key, int):
                raise TemplateError(
                    f"error calling index: cannot index slice/array with type {type(key).__name__}"
                )
            if not 0 <= key < len(value):
                raise TemplateError(f"error calling index: index out of range: {key}")
            value = value[key]
        else:
            raise TemplateError("error calling index: index of untyped nil")
    return value


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, dict | list):
        return len(value)
    raise TemplateError("error calling len: len of nil pointer")


def _slice(value: Any, *bounds: int) -> Any:
    return value[slice(*bounds)] if len(bounds) == 2 else value[bounds[0] :] if bounds else value


def _equal(first: Any, *others: Any) -> bool:
    for other in others:
        if first is not None and other is not None and type(first) is not type(other):
            raise TemplateError("error calling eq: incompatible types for comparison")
    return any(first == other for other in others)


def _ordered(name: str, compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def run(a: Any, b: Any) -> bool:
        try:
            return compare(a, b)
        except TypeError:
            raise TemplateError(f"error calling {name}: incompatible types for comparison") from None

    return run


def _decode(text: Any) -> str:
    try:
        return base64.b64decode(str(text), validate=True).decode(errors="replace")
    except (binascii.Error, ValueError):
        raise TemplateError("error calling base64decode: base64 decode failed: illegal base64 data") from None


def _exists(value: Any, *keys: Any) -> bool:
    try:
        return _index(value, *keys) is not _NO_VALUE
    except TemplateError:
        return False


_VERB = re.compile(r"%([-+ 0#]*)([0-9]*)(?:\.([0-9]+))?([%vsdqtefgx])")


_MAX_WIDTH = 1_000_000
"""The largest width that Go's ``fmt`` takes."""


def _printf(pattern: str, *values: Any) -> str:
    rest = list(values)

    def replace(match: re.Match[str]) -> str:
        flags, width, precision, verb = match.groups()
        if verb == "%":
            return "%"
        if not rest:
            return f"%!{verb}(MISSING)"
        text = _formatted(verb, rest.pop(0), precision)
        if len(width) > 7 or int(width or 0) > _MAX_WIDTH:
            return f"%!(BADWIDTH){text}"
        wanted = int(width or 0)
        if "-" in flags:
            return text.ljust(wanted)
        return text.rjust(wanted, "0" if "0" in flags and verb in "dfg" else " ")

    text = _VERB.sub(replace, pattern)
    if rest:
        text += "%!(EXTRA " + ", ".join(to_text(value) for value in rest) + ")"
    return text


_KINDS: Mapping[type, str] = {bool: "bool", int: "int", float: "float64"}


def _formatted(verb: str, value: Any, precision: str | None) -> str:
    if verb == "q":
        return '"' + to_text(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if verb == "d":
        return str(value) if isinstance(value, int) else f"%!d(float64={to_text(value)})"
    if verb == "f" and isinstance(value, int | float):
        return f"{value:.{int(precision or 6)}f}"
    if verb == "e" and isinstance(value, int | float):
        return f"{value:.{int(precision or 6)}e}"
    if verb == "x" and isinstance(value, int):
        return f"{value:x}"
    if verb == "x" and isinstance(value, str):
        return value.encode().hex()
    if verb == "s" and type(value) in _KINDS:
        return f"%!s({_KINDS[type(value)]}={to_text(value)})"
    text = to_text(value)
    return text[: int(precision)] if precision and verb == "s" else text


def _print(*values: Any) -> str:
    out = ""
    for i, value in enumerate(values):
        if i and not isinstance(value, str) and not isinstance(values[i - 1], str):
            out += " "
        out += to_text(value)
    return out


_LEAST = {"eq": 2, "ne": 2, "lt": 2, "le": 2, "gt": 2, "ge": 2, "print": 0, "println": 0}
_FUNCTIONS: Functions = {
    "index": _index,
    "len": _length,
    "slice": _slice,
    "print": _print,
    "printf": _printf,
    "println": lambda *values: " ".join(map(to_text, values)) + "\n",
    "eq": _equal,
    "ne": lambda a, b: not _equal(a, b),
    "lt": _ordered("lt", lambda a, b: bool(a < b)),
    "le": _ordered("le", lambda a, b: bool(a <= b)),
    "gt": _ordered("gt", lambda a, b: bool(a > b)),
    "ge": _ordered("ge", lambda a, b: bool(a >= b)),
    "not": lambda value: not truth(value),
    "html": lambda *values: html.escape(_print(*values)),
    "js": lambda *values: _print(*values).replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"'),
    "urlquery": lambda *values: quote_plus(_print(*values)),
    "base64decode": _decode,
    "exists": _exists,
}
