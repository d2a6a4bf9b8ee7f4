"""A small reader of the JavaScript that people type into a database shell: literals, names, calls, members.

It reads one statement at a time into nested values; what they mean is the shell's business. Of functions it knows
those of one parameter with one expression, of operators ``+``; the rest, control flow too, is a syntax error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)
    | (?P<number>-?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+))
    | (?P<name>[A-Za-z_$][\w$]*)
    | (?P<regex>/(?:[^/\\\n]|\\.)+/[a-z]*)
    | (?P<arrow>=>)
    | (?P<mark>[{}\[\]():,.;=+!])
    )""",
    re.VERBOSE,
)
_COMMENTS = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|//[^\n]*|/\*.*?\*/""", re.DOTALL)
# The reader recurses, and what somebody types must not reach the end of Python's stack.
MAX_DEPTH = 40


class SyntaxProblem(ValueError):
    """Text that is not JavaScript we read; the text is the engine's message."""


@dataclass(frozen=True, slots=True)
class Name:
    """A variable or property by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Member:
    """``target.name`` or ``target["name"]``."""

    target: Any
    name: Any


@dataclass(frozen=True, slots=True)
class Invoke:
    """``target(arguments)``, with or without ``new``."""

    target: Any
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    """``name = value``."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class Sum:
    """``left + right``."""

    left: Any
    right: Any


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one parameter whose body is one expression."""

    parameter: str
    body: Any


def statements(text: str) -> Iterator[str]:
    """Split a script into statements: at semicolons and line ends where every bracket is closed."""
    yield from _known_statements(text) if len(text) <= _SHORT else _statements(text)


_SHORT = 2000
"""Letters of a script up to which it is remembered how it is taken apart."""


@lru_cache(maxsize=64)
def _known_statements(text: str) -> tuple[str, ...]:
    return tuple(_statements(text))


def _statements(text: str) -> Iterator[str]:
    text = _COMMENTS.sub(lambda m: m.group(1) or " ", text)
    depth, start, quote, index = 0, 0, "", 0
    while index < len(text):
        char = text[index]
        if quote:
            if char == "\\":
                index += 1
            elif char == quote:
                quote = ""
        elif char in "\"'`":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char in ";\n" and depth <= 0:
            following = text[index + 1 :].lstrip()
            if not (char == "\n" and following.startswith(".")):
                if text[start:index].strip():
                    yield text[start:index].strip()
                start = index + 1
                depth = 0
        index += 1
    if text[start:].strip():
        yield text[start:].strip()


def parse(text: str) -> Any:
    """Read one statement. Raises SyntaxProblem."""
    reader = _Reader(_known_tokens(text) if len(text) <= _SHORT else tuple(_tokens(text)))
    value = reader.statement()
    if reader.index < len(reader.tokens):
        raise SyntaxProblem("SyntaxError: unexpected token: " + _spoken(reader.tokens[reader.index]))
    return value


Token = tuple[str, str]


@lru_cache(maxsize=64)
def _known_tokens(text: str) -> tuple[Token, ...]:
    return tuple(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    position = 0
    text = text.strip()
    previous = ""
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.end() == position:
            raise SyntaxProblem("SyntaxError: illegal character")
        kind = match.lastgroup or ""
        if kind == "regex" and previous in (")", "]"):
            raise SyntaxProblem("SyntaxError: expected expression, got '/'")
        previous = match.group(kind)
        yield kind, previous
        position = match.end()
        while position < len(text) and text[position].isspace():
            position += 1


def _spoken(token: Token) -> str:
    return {"string": "string literal", "number": "numeric literal", "name": "identifier"}.get(
        token[0], f"'{token[1]}'"
    )


class _Reader:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.index = 0
        self._depth = 0

    def peek(self, ahead: int = 0) -> Token:
        index = self.index + ahead
        return self.tokens[index] if index < len(self.tokens) else ("end", "")

    def take(self, text: str) -> bool:
        if self.peek()[1] == text and self.peek()[0] in ("mark", "arrow", "name"):
            self.index += 1
            return True
        return False

    def expect(self, text: str, where: str) -> None:
        if not self.take(text):
            raise SyntaxProblem(f"SyntaxError: missing {text} {where}")

    def statement(self) -> Any:
        if self.peek()[1] in ("var", "let", "const") and self.peek(1)[0] == "name":
            self.index += 1
        if self.peek()[0] == "name" and self.peek(1)[1] == "=" and self.peek(1)[0] == "mark":
            name = self.peek()[1]
            self.index += 2
            return Assign(name, self.expression())
        return self.expression()

    def expression(self) -> Any:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise SyntaxProblem("InternalError: too much recursion")
        value = self.unit()
        while self.take("+"):
            value = Sum(value, self.unit())
        self._depth -= 1
        return value

    def unit(self) -> Any:
        value = self.primary()
        while True:
            if self.take("."):
                kind, name = self.peek()
                if kind != "name":
                    raise SyntaxProblem("SyntaxError: missing name after . operator")
                self.index += 1
                value = Member(value, name)
            elif self.take("("):
                value = Invoke(value, tuple(self.items(")", "after argument list")))
            elif self.peek()[1] == "[":
                self.index += 1
                key = self.expression()
                self.expect("]", "in index expression")
                value = Member(value, key)
            else:
                return value

    def items(self, end: str, where: str) -> list[Any]:
        found: list[Any] = []
        while not self.take(end):
            found.append(self.expression())
            if not self.take(","):
                self.expect(end, where)
                break
        return found

    def primary(self) -> Any:
        kind, text = self.peek()
        self.index += 1
        if kind == "string":
            return _unquoted(text)
        if kind == "number":
            return float(text) if any(c in text for c in ".eE") else int(text)
        if kind == "regex":
            body, _, flags = text[1:].rpartition("/")
            return re.compile(safe_pattern(body), re.IGNORECASE if "i" in flags else 0)
        if kind == "name":
            return self.named(text)
        if text == "{":
            return self.document()
        if text == "[":
            return self.items("]", "after element list")
        if text == "(":
            if self.peek()[0] == "name" and self.peek(1)[1] == ")" and self.peek(2)[1] == "=>":
                name = self.peek()[1]
                self.index += 3
                return Function(name, self.expression())
            value = self.expression()
            self.expect(")", "in parenthetical")
            return value
        if kind == "end":
            raise SyntaxProblem("SyntaxError: expected expression, got end of script")
        raise SyntaxProblem(f"SyntaxError: expected expression, got '{text}'")

    def named(self, text: str) -> Any:
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if text == "new":
            return self.unit()
        if text == "function":
            self.expect("(", "before formal parameters")
            parameter = self.peek()[1]
            self.index += 1
            self.expect(")", "after formal parameters")
            self.expect("{", "before function body")
            self.take("return")
            body = self.statement()
            self.take(";")
            self.expect("}", "after function body")
            return Function(parameter, body)
        if self.take("=>"):
            return Function(text, self.expression())
        return Name(text)

    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not self.take("}"):
            kind, text = self.peek()
            if kind not in ("name", "string", "number"):
                raise SyntaxProblem(f"SyntaxError: expected property name, got '{text}'")
            self.index += 1
            key = _unquoted(text) if kind == "string" else text
            self.expect(":", "after property id")
            found[key] = self.expression()
            if not self.take(","):
                self.expect("}", "after property list")
                break
        return found


_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None, "undefined": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b"}


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m.group(1), m.group(1)), text[1:-1])


def safe_pattern(body: str) -> str:
    """A pattern the engine can match in linear time, or its literal text."""
    if len(body) > 200 or re.search(r"[+*}][^|]{0,20}\)\s*[+*{]", body):
        return re.escape(body)
    try:
        re.compile(body)
    except re.error as error:
        raise SyntaxProblem(f"SyntaxError: invalid regular expression: {error}") from None
    return body


@lru_cache(maxsize=256)
def _linear(pattern: str, ignore_case: bool) -> Any:
    """A pattern for the engine that takes linear time; None for one that it has not (look-around)."""
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def found(pattern: str, text: str, ignore_case: bool = False) -> bool:
    """Whether a pattern matches somewhere in a text; one that takes look-around is sought as it is written."""
    compiled = _linear(pattern, ignore_case)
    return pattern in text if compiled is None else compiled.search(text) is not None
