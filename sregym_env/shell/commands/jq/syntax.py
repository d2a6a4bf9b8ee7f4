"""The language of jq: tokens and the tree of a filter."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

Node = tuple[Any, ...]
"""An expression: its kind, then its parts."""

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\#[^\n]*)+)
    |(?P<field>\.[A-Za-z_]\w*)
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<format>@[A-Za-z0-9_]+)
    |(?P<variable>\$(?:__loc__|[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*))
    |(?P<name>[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)
    |(?P<operator>\?//=|//=|\|=|\+=|-=|\*=|/=|%=|==|!=|<=|>=|//|\?//|\.\.|[-+*/%=<>|,.:;()\[\]{}?])""",
    re.VERBOSE,
)
KEYWORDS = frozenset(
    "def if then elif else end as reduce foreach try catch label import include and or __loc__".split()
)
_DEEPEST = 200


class JqSyntaxError(Exception):
    """A filter that cannot be read."""


class _Token:
    __slots__ = ("at", "kind", "text", "value")

    def __init__(self, kind: str, text: str, at: int, value: Any = None) -> None:
        self.kind = kind
        self.text = text
        self.at = at
        self.value = value


def _tokens(source: str) -> list[_Token]:
    found: list[_Token] = []
    position = 0
    while position < len(source):
        if source[position] == '"':
            value, position_after = _string(source, position)
            found.append(_Token("string", '"', position, value))
            position = position_after
            continue
        match = _TOKEN.match(source, position)
        if match is None:
            raise JqSyntaxError("syntax error, unexpected INVALID_CHARACTER")
        kind, text = str(match.lastgroup), match[0]
        if (kind == "name" and text in KEYWORDS) or kind == "operator":
            kind = text
        if kind != "space":
            found.append(_Token(kind, text, position))
        position = match.end()
    found.append(_Token("end", "", len(source)))
    return found


def _string(source: str, start: int) -> tuple[list[Any], int]:
    """The parts of a string literal (texts and interpolated trees) and where it ends."""
    parts: list[Any] = []
    plain: list[str] = []
    position = start + 1
    while True:
        if position >= len(source):
            raise JqSyntaxError("syntax error, unexpected $end, expecting QQSTRING_END")
        char = source[position]
        if char == '"':
            break
        if char != "\\":
            plain.append(char)
            position += 1
            continue
        if source[position + 1 : position + 2] == "(":
            end = _closing(source, position + 2)
            if plain:
                parts.append("".join(plain))
                plain = []
            parts.append(_Reader(source[position + 2 : end]).whole())
            position = end + 1
            continue
        length = 6 if source[position + 1 : position + 2] == "u" else 2
        if source[position + 6 : position + 8] == "\\u" and length == 6:
            length = 12
        try:
            plain.append(json.loads(f'"{source[position : position + length]}"'))
        except ValueError:
            try:
                length = min(length, 6)
                plain.append(json.loads(f'"{source[position : position + length]}"'))
            except ValueError:
                raise JqSyntaxError("syntax error, unexpected INVALID_CHARACTER") from None
        position += length
    if plain:
        parts.append("".join(plain))
    return parts, position + 1


def _closing(source: str, position: int) -> int:
    depth = 1
    while position < len(source):
        char = source[position]
        if char == '"':
            _, position = _string(source, position)
            continue
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth == 0:
            return position
        position += 1
    raise JqSyntaxError("syntax error, unexpected $end")


@lru_cache(maxsize=512)
def parsed(source: str) -> Node:
    """The tree of a filter. Raises JqSyntaxError."""
    return _Reader(source).whole()


_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_UPDATES = ("=", "|=", "+=", "-=", "*=", "/=", "%=", "//=")


class _Reader:
    def __init__(self, source: str) -> None:
        self._list = _tokens(source)
        self._at = 0
        self._depth = 0

    @property
    def _kind(self) -> str:
        return self._list[self._at].kind

    def _next(self) -> _Token:
        token = self._list[self._at]
        self._at += 1
        return token

    def _take(self, *kinds: str) -> _Token | None:
        return self._next() if self._kind in kinds else None

    def _expect(self, kind: str) -> _Token:
        if self._kind != kind:
            token = self._list[self._at]
            shown = (
                "$end"
                if token.kind == "end"
                else f"'{token.text}'"
                if token.kind in "()[]{}:;,|"
                else token.text
            )
            raise JqSyntaxError(f"syntax error, unexpected {shown}")
        return self._next()

    def whole(self) -> Node:
        """The whole filter."""
        if self._kind == "end":
            return ("identity",)
        node = self._pipe()
        self._expect("end")
        return node

    def _pipe(self) -> Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise JqSyntaxError("syntax error, filter is nested too deeply")
        try:
            return self._pipe_inner()
        finally:
            self._depth -= 1

    def _pipe_inner(self) -> Node:
        if self._take("def"):
            definition = self._definition()
            rest: Node = ("identity",) if self._kind == "end" else self._pipe()
            return ("def", *definition, rest)
        if self._take("label"):
            name = self._expect("variable").text
            self._expect("|")
            return ("label", name, self._pipe())
        left = self._comma()
        if self._take("|"):
            return ("pipe", left, self._pipe())
        return left

    def _definition(self) -> tuple[str, tuple[str, ...], Node]:
        token = self._next()
        if token.kind != "name" and token.kind not in KEYWORDS:
            raise JqSyntaxError(f"syntax error, unexpected {token.text}")
        parameters: list[str] = []
        if self._take("("):
            while True:
                parameters.append(self._next().text)
                if not self._take(";"):
                    break
            self._expect(")")
        self._expect(":")
        body = self._pipe()
        self._expect(";")
        return token.text, tuple(parameters), body

    def _comma(self) -> Node:
        left = self._assignment()
        while self._take(","):
            left = ("comma", left, self._assignment())
        return left

    def _assignment(self) -> Node:
        left = self._alternative()
        if operator := self._take(*_UPDATES):
            return ("update", operator.kind, left, self._alternative())
        return left

    def _alternative(self) -> Node:
        left = self._or()
        if self._take("//"):
            return ("alternative", left, self._alternative())
        return left

    def _or(self) -> Node:
        left = self._and()
        while self._take("or"):
            left = ("or", left, self._and())
        return left

    def _and(self) -> Node:
        left = self._comparison()
        while self._take("and"):
            left = ("and", left, self._comparison())
        return left

    def _comparison(self) -> Node:
        left = self._sum()
        if operator := self._take(*_COMPARISONS):
            left = ("binary", operator.kind, left, self._sum())
        return left

    def _sum(self) -> Node:
        left = self._product()
        while operator := self._take("+", "-"):
            left = ("binary", operator.kind, left, self._product())
        return left

    def _product(self) -> Node:
        left = self._unary()
        while operator := self._take("*", "/", "%"):
            left = ("binary", operator.kind, left, self._unary())
        return left

    def _unary(self) -> Node:
        if self._take("-"):
            return ("negate", self._postfix())
        return self._postfix()

    def _postfix(self) -> Node:
        node = self._primary()
        while True:
            kind = self._kind
            if kind == "field":
                node = ("field", node, ("literal", self._next().text[1:]))
            elif kind == "." and self._list[self._at + 1].kind == "string":
                self._at += 1
                node = ("field", node, self._text(self._next()))
            elif kind == "." and self._list[self._at + 1].kind == "[":
                self._at += 1
            elif kind == "[":
                self._at += 1
                node = self._subscript(node)
            elif kind == "?":
                self._at += 1
                node = ("try", node, None)
            elif kind == "as":
                # A binding holds for everything after its bar, so it is the end of this expression.
                return self._binding(node)
            else:
                return node

    def _binding(self, source: Node) -> Node:
        self._expect("as")
        patterns = [self._pattern()]
        while self._take("?//"):
            patterns.append(self._pattern())
        self._expect("|")
        return ("bind", source, tuple(patterns), self._pipe())

    def _subscript(self, node: Node) -> Node:
        if self._take("]"):
            return ("each", node)
        if self._take(":"):
            stop = self._pipe()
            self._expect("]")
            return ("slice", node, None, stop)
        start = self._pipe()
        if self._take(":"):
            end: Node | None = None if self._kind == "]" else self._pipe()
            self._expect("]")
            return ("slice", node, start, end)
        self._expect("]")
        return ("field", node, start)

    def _text(self, token: _Token, form: str = "") -> Node:
        parts = token.value
        if not any(isinstance(part, tuple) for part in parts):
            return ("literal", "".join(parts))
        return ("string", tuple(parts), form)

    def _primary(self) -> Node:
        token = self._next()
        match token.kind:
            case "number":
                value = float(token.text)
                return ("literal", int(value) if value.is_integer() else value)
            case "string":
                return self._text(token)
            case "format":
                if self._kind == "string":
                    return self._text(self._next(), token.text)
                return ("format", token.text)
            case "field":
                return ("field", ("identity",), ("literal", token.text[1:]))
            case ".":
                if self._kind == "string":
                    return ("field", ("identity",), self._text(self._next()))
                return ("identity",)
            case "..":
                return ("call", "recurse", ())
            case "variable":
                if token.text == "$__loc__":
                    return ("literal", {"file": "<top-level>", "line": 1})
                return ("variable", token.text)
            case "(":
                node = self._pipe()
                self._expect(")")
                return node
            case "[":
                if self._take("]"):
                    return ("literal", [])
                node = self._pipe()
                self._expect("]")
                return ("array", node)
            case "{":
                return self._object()
            case "if":
                return self._if()
            case "try":
                body = self._post_try()
                return ("try", body, self._post_try() if self._take("catch") else None)
            case "reduce":
                source, patterns = self._source()
                self._expect("(")
                start = self._pipe()
                self._expect(";")
                update = self._pipe()
                self._expect(")")
                return ("reduce", source, patterns, start, update)
            case "foreach":
                source, patterns = self._source()
                self._expect("(")
                start = self._pipe()
                self._expect(";")
                update = self._pipe()
                extract: Node = self._pipe() if self._take(";") else ("identity",)
                self._expect(")")
                return ("foreach", source, patterns, start, update, extract)
            case "def":
                definition = self._definition()
                return ("def", *definition, self._pipe())
            case "name":
                return self._call(token.text)
            case "-":
                return ("negate", self._postfix())
        self._at -= 1
        self._expect("expression")
        raise AssertionError

    def _post_try(self) -> Node:
        """The operand of ``try``: a term without a binding."""
        return self._postfix()

    def _source(self) -> tuple[Node, tuple[Node, ...]]:
        node = self._primary()
        while self._kind in ("field", "[", "?", "."):
            if self._kind == "field":
                node = ("field", node, ("literal", self._next().text[1:]))
            elif self._take("["):
                node = self._subscript(node)
            elif self._take("?"):
                node = ("try", node, None)
            else:
                self._at += 1
        self._expect("as")
        return node, (self._pattern(),)

    def _call(self, name: str) -> Node:
        if name == "break" and self._kind == "variable":
            return ("break", self._next().text)
        arguments: list[Node] = []
        if self._take("("):
            arguments.append(self._pipe())
            while self._take(";"):
                arguments.append(self._pipe())
            self._expect(")")
        if not arguments and name in ("null", "true", "false"):
            return ("literal", {"null": None, "true": True, "false": False}[name])
        return ("call", name, tuple(arguments))

    def _if(self) -> Node:
        condition = self._pipe()
        self._expect("then")
        then = self._pipe()
        if self._take("elif"):
            return ("if", condition, then, self._if())
        other: Node = ("identity",)
        if self._take("else"):
            other = self._pipe()
        self._expect("end")
        return ("if", condition, then, other)

    def _pattern(self) -> Node:
        if token := self._take("variable"):
            return ("variable", token.text)
        if self._take("["):
            items = [self._pattern()]
            while self._take(","):
                items.append(self._pattern())
            self._expect("]")
            return ("array", tuple(items))
        self._expect("{")
        pairs: list[tuple[Node, str, Node | None]] = []
        while True:
            token = self._next()
            bound = ""
            key: Node
            if token.kind == "variable":
                bound = token.text
                key = ("literal", token.text[1:])
            elif token.kind == "string":
                key = self._text(token)
            elif token.kind == "(":
                key = self._pipe()
                self._expect(")")
            else:
                key = ("literal", token.text)
            inner = self._pattern() if self._take(":") else None
            pairs.append((key, bound, inner))
            if not self._take(","):
                break
        self._expect("}")
        return ("object", tuple(pairs))

    def _object(self) -> Node:
        pairs: list[tuple[Node, Node]] = []
        while self._kind != "}":
            token = self._next()
            key: Node
            value: Node | None = None
            if token.kind == "variable":
                key, value = ("literal", token.text[1:]), ("variable", token.text)
            elif token.kind in ("string", "format"):
                if token.kind == "format":
                    key = self._text(self._expect("string"), token.text)
                else:
                    key = self._text(token)
            elif token.kind == "(":
                key = self._pipe()
                self._expect(")")
            elif token.kind == "number" or token.kind == "name" or token.kind in KEYWORDS:
                key = ("literal", token.text)
            else:
                self._at -= 1
                self._expect("object key")
                raise AssertionError
            if self._take(":"):
                value = self._value()
            elif value is None:
                value = ("field", ("identity",), key)
            pairs.append((key, value))
            if not self._take(","):
                break
        self._expect("}")
        return ("object", tuple(pairs))

    def _value(self) -> Node:
        node = self._alternative()
        while self._take("|"):
            node = ("pipe", node, self._alternative())
        return node
