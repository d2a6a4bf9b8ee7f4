"""kubectl's JSONPath templates (k8s.io/client-go/util/jsonpath), as ``-o jsonpath``, ``wait`` and columns use them.

A template is text with actions in braces: ``{range .items[*]}{.metadata.name}{"\\n"}{end}``. This is not RFC 9535:
filters hold exactly one comparison, missing keys print nothing, maps and lists print as JSON. ``compile_template`` parses
once and caches; ``Template.render`` prints, ``Template.find`` returns the values.

Errors are ``JSONPathError`` with the text of the Go library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from sregym_env.kube.yamlout import go_float, to_compact_json, to_json
from sregym_env.runtime import effort
from sregym_env.runtime.numbers import whole

_TERMINATORS = frozenset(" \t\r\n.,[]$@{}")
_DICT_KEY = re.compile(r"'([^']*)'\Z")
_SLICE = re.compile(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?\Z")
_FILTER = re.compile(r"([^!<>=]+)([!<>=]+)(.+?)\Z")
_RELAXED = re.compile(r"\{\.?([^{}]+)\}\Z|\.?([^{}]+)\Z")


MAX_RANGES = 150
"""Ranges within each other; kubectl's own stack ends somewhere as well."""
NODE_EFFORT = 1.0
VALUE_EFFORT = 0.15
TEXT_EFFORT = 0.02
"""What a part of a template costs, a value that it is applied to, and a character that is printed (units of ``runtime/effort.py``)."""


class JSONPathError(ValueError):
    """A template that does not parse, or that does not fit the data; ``str()`` is the Go library's text."""


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text, or a quoted string inside an action."""

    value: str


@dataclass(frozen=True, slots=True)
class Field:
    """``.name``: the member of a map."""

    name: str


@dataclass(frozen=True, slots=True)
class Wildcard:
    """``.*``: all members."""


@dataclass(frozen=True, slots=True)
class Recursive:
    """``..``: the value and everything below it."""


@dataclass(frozen=True, slots=True)
class Slice:
    """``[start:end:step]``; ``single`` marks ``[i]``, whose end was derived from its start."""

    start: int | None
    end: int | None
    step: int | None
    single: bool


@dataclass(frozen=True, slots=True)
class Filter:
    """``[?(left op right)]`` over the elements of a list; operator ``exists`` has no right side."""

    left: tuple[Node, ...]
    operator: str
    right: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """``[a,b]``: the results of several subscripts, in order."""

    members: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or boolean written in the template."""

    value: int | float | bool


@dataclass(frozen=True, slots=True)
class Identifier:
    """``range``, ``end``, or a word the engine does not know."""

    name: str


Node = Text | Field | Wildcard | Recursive | Slice | Filter | Union | Literal | Identifier
Action = tuple[Node, ...]


class _Parser:
    """Recursive-descent parser that follows the Go scanner, so that errors come out alike."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0

    def template(self) -> list[Text | Action]:
        parts: list[Text | Action] = []
        while True:
            start = self.text.find("{", self.pos)
            if start < 0:
                if self.pos < len(self.text):
                    parts.append(Text(self.text[self.pos :]))
                return parts
            if start > self.pos:
                parts.append(Text(self.text[self.pos : start]))
            self.pos = start + 1
            parts.append(tuple(self.action()))

    def action(self) -> list[Node]:
        nodes: list[Node] = []
        text = self.text
        while True:
            if text.startswith("}", self.pos):
                self.pos += 1
                return nodes
            if text.startswith("[?(", self.pos):
                nodes.append(self.filter())
                continue
            if text.startswith("..", self.pos):
                self.recursive(nodes)
                continue
            char = text[self.pos] if self.pos < len(text) else ""
            if char in ("", "\r", "\n"):
                raise JSONPathError("unclosed action")
            if char in " @$":
                self.pos += 1
            elif char == "[":
                self.subscript(nodes)
            elif char in "\"'":
                nodes.append(Text(self.quoted(char)))
            elif char == ".":
                self.pos += 1
                nodes.append(self.field())
            elif char in "+-" or char.isdecimal():
                nodes.append(self.number())
            elif char == "_" or char.isalnum():
                nodes.append(self.identifier())
            else:
                shown = f"U+{ord(char):04X}" + (f" '{char}'" if char.isprintable() else "")
                raise JSONPathError(f"unrecognized character in action: {shown}")

    def field(self) -> Node:
        start = self.pos
        text = self.text
        while self.pos < len(text):
            char = text[self.pos]
            if char == "\\":
                self.pos += 2
            elif char in _TERMINATORS:
                break
            else:
                self.pos += 1
        name = text[start : self.pos]
        return Wildcard() if name == "*" else Field(name.replace("\\", ""))

    def recursive(self, nodes: list[Node]) -> None:
        if nodes and isinstance(nodes[-1], Recursive):
            raise JSONPathError("invalid multiple recursive descent")
        self.pos += 2
        nodes.append(Recursive())
        char = self.text[self.pos : self.pos + 1]
        if char == "_" or char.isalnum():
            nodes.append(self.field())

    def identifier(self) -> Node:
        start = self.pos
        while self.pos < len(self.text) and (self.text[self.pos] == "_" or self.text[self.pos].isalnum()):
            self.pos += 1
        name = self.text[start : self.pos]
        if name.lower() in ("true", "false"):
            return Literal(name.lower() == "true")
        return Identifier(name)

    def number(self) -> Node:
        start = self.pos
        if self.text[self.pos] in "+-":
            self.pos += 1
        while self.pos < len(self.text) and (self.text[self.pos] == "." or self.text[self.pos].isdecimal()):
            self.pos += 1
        token = self.text[start : self.pos]
        try:
            return Literal(float(token) if "." in token else int(token))
        except ValueError:
            raise JSONPathError(f"cannot parse number {token}") from None

    def quoted(self, quote: str) -> str:
        start = self.pos
        self.pos += 1
        while True:
            char = self.text[self.pos : self.pos + 1]
            if char in ("", "\n"):
                raise JSONPathError("unterminated quoted string")
            self.pos += 1
            if char == quote and self.text[self.pos - 2] != "\\":
                return unquote(self.text[start : self.pos])

    def filter(self) -> Node:
        self.pos += 3
        start = self.pos
        opened = closed = False
        quote = ""
        while True:
            char = self.text[self.pos : self.pos + 1]
            if char in ("", "\n"):
                raise JSONPathError("unterminated filter")
            self.pos += 1
            if char in "\"'":
                if not opened:
                    opened, quote = True, char
                elif char == quote and self.text[self.pos - 2] != "\\":
                    closed = True
            elif char == ")" and opened == closed:
                break
        if self.text[self.pos : self.pos + 1] != "]":
            raise JSONPathError("unclosed array expect ]")
        self.pos += 1
        text = self.text[start : self.pos - 2]
        match = _FILTER.match(text)
        if match is None:
            return Filter(_action_of(text), "exists", ())
        left, operator, right = match.groups()
        return Filter(_action_of(left), operator, _action_of(right))

    def subscript(self, nodes: list[Node]) -> None:
        start = self.pos
        end = self.text.find("]", start)
        newline = self.text.find("\n", start)
        if end < 0 or 0 <= newline < end:
            raise JSONPathError("unterminated array")
        self.pos = end + 1
        text = self.text[start + 1 : end]
        if text == "*":
            text = ":"
        members = text.split(",")
        if len(members) > 1:
            nodes.append(Union(tuple(_action_of(f"[{member.strip(' ')}]") for member in members)))
            return
        key = _DICT_KEY.match(text)
        if key is not None:
            nodes.extend(_action_of("." + key.group(1)))
            return
        nodes.append(_slice(text))


def _slice(text: str) -> Slice:
    match = _SLICE.match(text)
    if match is None:
        raise JSONPathError(f"invalid array index {text}")
    values: list[int | None] = []
    for i, group in enumerate(match.groups()):
        digits = (group or "")[1 if i else 0 :]
        if digits in ("", "-"):
            if digits:
                raise JSONPathError(f"array index {digits} is not a number")
            values.append(None)
        else:
            number = whole(digits.removeprefix("-"), None)
            if number is None:
                raise JSONPathError(f"array index {digits} is not a number")
            values.append(-number if digits.startswith("-") else number)
    start, end, step = values
    if not match.group(2):
        return Slice(start, (start or 0) + 1, step, True)
    return Slice(start, end, step, False)


def _action_of(text: str) -> Action:
    parts = _Parser("{" + text + "}").template()
    first = parts[0] if parts else ()
    return first if isinstance(first, tuple) else ()


_ESCAPED: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)", re.DOTALL)


def unquote(token: str) -> str:
    """The text of a quoted string with its escapes; raises ``JSONPathError`` on a bad escape."""
    body = token[1:-1]
    if "\\" not in body:
        return body

    def replace(match: re.Match[str]) -> str:
        code = match.group(1)
        if code in _ESCAPED:
            return _ESCAPED[code]
        if len(code) == 1:
            raise JSONPathError(f"unquote string {token} error invalid syntax")
        return chr(int(code, 8) if code[0].isdecimal() else int(code[1:], 16))

    return _ESCAPE.sub(replace, body)


class Template:
    """A compiled template. Immutable and shareable; evaluation keeps no state in it."""

    __slots__ = ("_parts", "source")

    def __init__(self, source: str) -> None:
        """Parse ``source``; raises ``JSONPathError``."""
        self.source = source
        self._parts = tuple(
            part if isinstance(part, tuple) else (part,) for part in _Parser(source).template()
        )

    def find(self, data: Any, *, allow_missing: bool = True) -> list[list[Any]]:
        """The values each action yields, in order, ranges unrolled."""
        return _Evaluation(self._parts, allow_missing).run(data)

    def render(self, data: Any, *, allow_missing: bool = True, as_json: bool = False) -> str:
        """The printed template: values of one action joined by a space, maps and lists as JSON."""
        out: list[str] = []
        for results in self.find(data, allow_missing=allow_missing):
            if as_json:
                out.append(to_json(results))
            else:
                out.append(" ".join([go_text(value) for value in results]))
            effort.spend(TEXT_EFFORT * len(out[-1]))
        return "".join(out)


class _Evaluation:
    """One run over the data, with the Go engine's range and end bookkeeping."""

    def __init__(self, parts: Sequence[Action], allow_missing: bool) -> None:
        self._parts = parts
        self._allow_missing = allow_missing
        self._depth = 0

    def run(self, data: Any) -> list[list[Any]]:
        results, _ = self._block(0, [data])
        return results

    def _block(self, start: int, current: list[Any]) -> tuple[list[list[Any]], int]:
        """Evaluate from part ``start`` to the matching ``end``; returns results and the index of that end."""
        if self._depth > MAX_RANGES:
            raise JSONPathError("exceeded max depth of nested ranges")
        output: list[list[Any]] = []
        parts = self._parts
        i = start
        while i < len(parts):
            part = parts[i]
            head = part[0] if part else None
            if isinstance(head, Identifier):
                if head.name == "end":
                    if not self._depth:
                        raise JSONPathError("not in range, nothing to end")
                    return output, i
                if head.name == "range":
                    i = self._range(part, i, current, output) + 1
                    continue
            output.append(self._list(current, part))
            i += 1
        return output, i

    def _range(self, part: Action, i: int, current: list[Any], output: list[list[Any]]) -> int:
        values = self._list(current, part[1:])
        self._depth += 1
        end = i
        if values:
            for value in values:
                results, end = self._block(i + 1, [value])
                output.extend(results)
        else:
            _, end = self._block(i + 1, [])
        self._depth -= 1
        # A range that nobody ends: the Go engine goes on with the node after it.
        return end if end < len(self._parts) else i

    def _list(self, current: list[Any], nodes: Action) -> list[Any]:
        for node in nodes:
            effort.spend(NODE_EFFORT + VALUE_EFFORT * len(current))
            current = self._walk(current, node)
            effort.spend(VALUE_EFFORT * len(current))
        return current

    def _walk(self, current: list[Any], node: Node) -> list[Any]:
        if isinstance(node, Field):
            return self._field(current, node.name)
        if isinstance(node, Slice):
            return _slices(current, node)
        if isinstance(node, Text | Literal):
            return [node.value]
        if isinstance(node, Wildcard):
            return [child for value in current for child in _children(value)]
        if isinstance(node, Filter):
            return self._filter(current, node)
        if isinstance(node, Recursive):
            return list(_descend(current))
        if isinstance(node, Union):
            return [value for member in node.members for value in self._list(current, member)]
        if node.name == "range":
            return current
        raise JSONPathError(f"unrecognized identifier {node.name}")

    def _field(self, current: list[Any], name: str) -> list[Any]:
        if not current:
            return current
        found = [value[name] for value in current if isinstance(value, dict) and name in value]
        if not found and not self._allow_missing:
            raise JSONPathError(f"{name} is not found")
        return found

    def _filter(self, current: list[Any], node: Filter) -> list[Any]:
        kept: list[Any] = []
        for value in current:
            if not isinstance(value, list):
                if value is None:
                    continue
                raise JSONPathError(f"{go_text_value(value)} is not array or slice and cannot be filtered")
            kept.extend(element for element in value if self._passes(element, node))
        return kept

    def _passes(self, element: Any, node: Filter) -> bool:
        if node.operator == "exists":
            try:
                return bool(self._list([element], node.left))
            except JSONPathError:
                return True  # as the Go engine: a failed walk leaves its input, which is there
        left = self._list([element], node.left)
        if not left:
            return False
        if len(left) > 1:
            raise JSONPathError("can only compare one element at a time")
        right = self._list([element], node.right)
        if not right:
            return False
        if len(right) > 1:
            raise JSONPathError("can only compare one element at a time")
        compare = _OPERATORS.get(node.operator)
        if compare is None:
            raise JSONPathError(f"unrecognized filter operator {node.operator}")
        return compare(left[0], right[0])


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    return value if isinstance(value, list) else ()


def _descend(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, str):
            if value:
                yield value
        elif isinstance(value, dict | list) and value:
            yield value
            yield from _descend(_children(value))


def _slices(current: list[Any], node: Slice) -> list[Any]:
    out: list[Any] = []
    for value in current:
        if value is None:
            continue
        if not isinstance(value, list):
            raise JSONPathError(f"{go_type(value)} is not array or slice")
        length = len(value)
        start = node.start or 0
        if start < 0:
            start += length
        end = length if node.end is None else node.end
        if end < 0 or (end == 0 and node.single):
            end += length
        if start == end:
            return out
        if not 0 <= start < length:
            raise JSONPathError(f"array index out of bounds: index {start}, length {length}")
        if not 0 <= end <= length:
            raise JSONPathError(f"array index out of bounds: index {end - 1}, length {length}")
        if start > end:
            raise JSONPathError(f"starting index {start} is greater than ending index {end}")
        step = 1 if node.step is None else node.step
        if step <= 0:
            raise JSONPathError("step must be > 0")
        out.extend(value[start:end:step])
    return out


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "string"
    raise JSONPathError("invalid type for comparison")


def _equal(left: Any, right: Any) -> bool:
    if _kind(left) != _kind(right):
        raise JSONPathError("incompatible types for comparison")
    return bool(left == right)


def _less(left: Any, right: Any) -> bool:
    kind = _kind(left)
    if kind != _kind(right):
        raise JSONPathError("incompatible types for comparison")
    if kind == "bool":
        raise JSONPathError("invalid type for comparison")
    return bool(left < right)


_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _less,
    "<=": lambda left, right: _less(left, right) or _equal(left, right),
    ">": lambda left, right: not (_less(left, right) or _equal(left, right)),
    ">=": lambda left, right: not _less(left, right),
}


@lru_cache(maxsize=2048)
def compile_template(source: str) -> Template:
    """The compiled template for ``source`` (cached); raises ``JSONPathError``."""
    return Template(source)


@lru_cache(maxsize=2048)
def relaxed(expression: str) -> str:
    """``x.y``, ``.x.y``, ``{x.y}`` or ``{.x.y}`` as the template ``{.x.y}`` (custom columns, ``--sort-by``)."""
    if not expression:
        return expression
    match = _RELAXED.match(expression)
    if match is None:
        raise JSONPathError(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' "
            "or '{.name1.name2}'"
        )
    return "{." + (match.group(1) or match.group(2)) + "}"


def go_text(value: Any) -> str:
    """One result as kubectl prints it: maps and lists as compact JSON, scalars as Go's ``%v``."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return to_compact_json(value)
    if value is None:
        return "null"
    return go_text_value(value)


def go_text_value(value: Any) -> str:
    """A decoded JSON value as Go's ``%v`` prints it (``map[a:1 b:2]``, ``[x y]``, ``<nil>``, ``true``)."""
    if isinstance(value, str):
        return value
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{go_text_value(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(go_text_value(item) for item in value) + "]"
    return go_float(value) if isinstance(value, float) else str(value)


def go_type(value: Any) -> str:
    """The Go type of a decoded JSON value."""
    if isinstance(value, dict):
        return "map[string]interface {}"
    if isinstance(value, list):
        return "[]interface {}"
    return {"str": "string", "bool": "bool", "int": "int64", "float": "float64"}.get(
        type(value).__name__, "interface {}"
    )


def go_syntax(value: Any) -> str:
    """A decoded JSON value as Go's ``%#v`` prints it; kubectl adds it to a failed template's error."""
    if isinstance(value, dict):
        body = ", ".join(f"{go_quote(key)}:{go_syntax(value[key])}" for key in sorted(value))
        return "map[string]interface {}{" + body + "}"
    if isinstance(value, list):
        return "[]interface {}{" + ", ".join(go_syntax(item) for item in value) + "}"
    if isinstance(value, str):
        return go_quote(value)
    if value is None:
        return "interface {}(nil)"
    return go_text_value(value)


_GO_SPECIAL = re.compile(r'[\x00-\x1f\x7f"\\]')
_GO_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\a": "\\a", "\b": "\\b"}


def go_quote(text: str) -> str:
    """``text`` as Go's ``%q`` prints it."""
    if not _GO_SPECIAL.search(text):
        return f'"{text}"'
    body = _GO_SPECIAL.sub(lambda m: _GO_ESCAPES.get(m.group(), f"\\x{ord(m.group()):02x}"), text)
    return f'"{body}"'
