"""Reads and evaluates bash's arithmetic: whole numbers of 64 bits, whatever is asked of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeAlias

_WIDE = 1 << 64
_TOKEN = re.compile(
    r"\s*(?:(\d+#[0-9A-Za-z@_]+|0[xX][0-9A-Fa-f]+|\d\w*)|([A-Za-z_]\w*)|(<<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\|"
    r"|[-+*/%&|^]=|[-+*/%<>=!~&|^?:(),\[\]]))"
)
_ASSIGNS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_LEVELS: dict[str, int] = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "%": 10, "**": 11,
}  # fmt: skip
_DIGITS = {
    char: value
    for value, char in enumerate("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_")
}
DEEPEST = 40
"""Parentheses, operators and variables within each other."""


class ArithmeticProblem(Exception):
    """An expression that is wrong, as bash words it."""


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Name:
    """A variable or an element."""

    name: str
    subscript: str | None


@dataclass(frozen=True, slots=True)
class Unary:
    """A sign, ``!`` or ``~``."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands; a comma is one too."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Choice:
    """``condition ? one : other``."""

    condition: Node
    one: Node
    other: Node


@dataclass(frozen=True, slots=True)
class Assign:
    """An assignment; ``operator`` is what stands before the equals sign."""

    operator: str
    target: Name
    value: Node


@dataclass(frozen=True, slots=True)
class Step:
    """``++`` and ``--``."""

    by: int
    target: Name
    after: bool


Node: TypeAlias = Number | Name | Unary | Binary | Choice | Assign | Step


class Variables(Protocol):
    """Where names get their values."""

    def number(self, name: str, subscript: str | None) -> str:
        """The text of a variable or an element, empty where there is none."""
        ...

    def set_number(self, name: str, subscript: str | None, value: int) -> None:
        """Assign to it."""
        ...


def wrapped(number: int) -> int:
    """A number as bash's 64-bit signed integers hold it."""
    number &= _WIDE - 1
    return number - _WIDE if number >> 63 else number


@lru_cache(maxsize=2048)
def parse(text: str) -> Node:
    """An expression as a tree. Raises ArithmeticProblem."""
    reader = _Reader(text)
    if not reader.tokens:
        return Number(0)
    found = reader.comma(0)
    if reader.at < len(reader.tokens):
        problem = (
            "syntax error in expression"
            if reader.tokens[reader.at][0]
            else "syntax error: invalid arithmetic operator"
        )
        raise ArithmeticProblem(f'{text.strip()}: {problem} (error token is "{reader.left()}")')
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        at = 0
        end = len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                self.tokens.append(("", text[at:].strip(), at))
                break
            kind = "n" if match[1] else "v" if match[2] else "o"
            self.tokens.append((kind, match[match.lastindex or 0], match.start(match.lastindex or 0)))
            at = match.end()

    def left(self) -> str:
        return self.text[self.tokens[self.at][2] :].strip() if self.at < len(self.tokens) else ""

    def _is(self, *operators: str) -> str:
        if self.at < len(self.tokens):
            kind, text, _ = self.tokens[self.at]
            if kind == "o" and text in operators:
                return text
        return ""

    def _wanted(self) -> ArithmeticProblem:
        token = self.left() or (self.text.strip()[-1:] if self.tokens else "")
        return ArithmeticProblem(
            f'{self.text.strip()}: syntax error: operand expected (error token is "{token}")'
        )

    def comma(self, depth: int) -> Node:
        left = self.assignment(depth)
        while self._is(","):
            self.at += 1
            left = Binary(",", left, self.assignment(depth))
        return left

    def assignment(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise ArithmeticProblem(f"{self.text.strip()[:40]}: expression recursion level exceeded")
        left = self.choice(depth)
        operator = self._is(*_ASSIGNS)
        if not operator:
            return left
        if not isinstance(left, Name):
            raise ArithmeticProblem(
                f'{self.text.strip()}: attempted assignment to non-variable (error token is "{self.left()}")'
            )
        self.at += 1
        return Assign(operator[:-1], left, self.assignment(depth + 1))

    def choice(self, depth: int) -> Node:
        condition = self.binary(1, depth)
        if not self._is("?"):
            return condition
        self.at += 1
        one = self.comma(depth + 1)
        if not self._is(":"):
            raise ArithmeticProblem(
                f'{self.text.strip()}: `:\' expected for conditional expression (error token is "{self.left()}")'
            )
        self.at += 1
        return Choice(condition, one, self.assignment(depth + 1))

    def binary(self, level: int, depth: int) -> Node:
        left = self.unary(depth)
        while self.at < len(self.tokens):
            kind, operator, _ = self.tokens[self.at]
            mine = _LEVELS.get(operator, 0) if kind == "o" else 0
            if mine < level:
                break
            self.at += 1
            # A power binds to the right.
            right = self.binary(mine if operator == "**" else mine + 1, depth + (operator == "**"))
            left = Binary(operator, left, right)
        return left

    def unary(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise ArithmeticProblem(f"{self.text.strip()[:40]}: expression recursion level exceeded")
        if self.at >= len(self.tokens):
            raise self._wanted()
        kind, text, _ = self.tokens[self.at]
        if kind == "o":
            if text in ("++", "--"):
                following = self.tokens[self.at + 1][0] if self.at + 1 < len(self.tokens) else ""
                if following == "v":
                    self.at += 1
                    return Step(1 if text == "++" else -1, self._name(), after=False)
                self.at += 1
                return self.unary(depth + 1)
            if text in ("+", "-", "!", "~"):
                self.at += 1
                return Unary(text, self.unary(depth + 1))
            if text == "(":
                self.at += 1
                inner = self.comma(depth + 1)
                if not self._is(")"):
                    raise ArithmeticProblem(
                        f'{self.text.strip()}: missing `)\' (error token is "{self.left()}")'
                    )
                self.at += 1
                return inner
            raise self._wanted()
        if kind == "n":
            self.at += 1
            return Number(self._number(text))
        if kind == "v":
            name = self._name()
            step = self._is("++", "--")
            if step:
                self.at += 1
                return Step(1 if step == "++" else -1, name, after=True)
            return name
        raise self._wanted()

    def _name(self) -> Name:
        _, text, at = self.tokens[self.at]
        self.at += 1
        end = at + len(text)
        if not self.text.startswith("[", end):
            return Name(text, None)
        depth, stop = 1, end + 1
        while stop < len(self.text) and depth:
            depth += {"[": 1, "]": -1}.get(self.text[stop], 0)
            stop += 1
        if depth:
            raise ArithmeticProblem(f"{self.text.strip()}: bad array subscript")
        # The tokens of the subscript are not the expression's own.
        while self.at < len(self.tokens) and self.tokens[self.at][2] < stop:
            self.at += 1
        if self.at < len(self.tokens) or not self.tokens[-1][0]:
            self._retoken(stop)
        return Name(text, self.text[end + 1 : stop - 1])

    def _retoken(self, stop: int) -> None:
        """Read what follows a subscript anew, whose text may not have been made of tokens."""
        fresh = _Reader(self.text[stop:])
        self.tokens = self.tokens[: self.at] + [(kind, text, at + stop) for kind, text, at in fresh.tokens]

    def _number(self, text: str) -> int:
        if "#" in text:
            base_text, _, digits = text.partition("#")
            base = int(base_text[:4])
            if not 2 <= base <= 64:
                raise ArithmeticProblem(f'{text}: invalid arithmetic base (error token is "{text}")')
            total = 0
            for char in digits[:70]:
                value = _DIGITS[char.lower() if base <= 36 else char]
                if value >= base:
                    raise ArithmeticProblem(f'{text}: value too great for base (error token is "{text}")')
                total = total * base + value
            return wrapped(total)
        if text[:2] in ("0x", "0X"):
            return wrapped(int(text[2:66], 16))
        if not text.isdecimal() or not text.isascii():
            raise ArithmeticProblem(f'{text}: value too great for base (error token is "{text}")')
        if text[0] == "0" and len(text) > 1:
            if not set(text) <= set("01234567"):
                raise ArithmeticProblem(f'{text}: value too great for base (error token is "{text}")')
            return wrapped(int(text[:66], 8))
        return wrapped(int(text[:40]))


def _divided(left: int, right: int, text: str) -> tuple[int, int]:
    if right == 0:
        raise ArithmeticProblem(f'{text}: division by 0 (error token is "0")')
    quotient = abs(left) // abs(right)
    quotient = quotient if (left < 0) == (right < 0) else -quotient
    return quotient, left - quotient * right


def _power(left: int, right: int) -> int:
    if right < 0:
        raise ArithmeticProblem("exponent less than 0")
    return pow(left, right, _WIDE)


_PLAIN: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "**": _power,
    "<<": lambda a, b: a << (b & 63),
    ">>": lambda a, b: a >> (b & 63),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ",": lambda a, b: b,
}


def evaluate(text: str, variables: Variables, depth: int = 0) -> int:
    """The value of an expression. Raises ArithmeticProblem."""
    if depth > DEEPEST:
        raise ArithmeticProblem(f"{text.strip()[:40]}: expression recursion level exceeded")
    stripped = text.strip()
    if stripped.isdecimal() and stripped[0] != "0" and len(stripped) < 19 and stripped.isascii():
        return int(stripped)
    return _value(parse(text), variables, text.strip(), depth)


def _value(node: Node, variables: Variables, text: str, depth: int) -> int:
    if type(node) is Number:
        return node.value
    if type(node) is Name:
        found = variables.number(node.name, node.subscript)
        return evaluate(found, variables, depth + 1) if found else 0
    if type(node) is Binary:
        return _binary(node, variables, text, depth)
    if type(node) is Step:
        old = _value(node.target, variables, text, depth)
        new = wrapped(old + node.by)
        variables.set_number(node.target.name, node.target.subscript, new)
        return old if node.after else new
    if type(node) is Assign:
        value = _value(node.value, variables, text, depth)
        if node.operator:
            value = _applied(node.operator, _value(node.target, variables, text, depth), value, text)
        variables.set_number(node.target.name, node.target.subscript, value)
        return value
    if type(node) is Choice:
        chosen = node.one if _value(node.condition, variables, text, depth) else node.other
        return _value(chosen, variables, text, depth)
    assert type(node) is Unary
    value = _value(node.operand, variables, text, depth)
    if node.operator == "-":
        return wrapped(-value)
    if node.operator == "!":
        return int(not value)
    return ~value if node.operator == "~" else value


def _binary(node: Binary, variables: Variables, text: str, depth: int) -> int:
    left = _value(node.left, variables, text, depth)
    if node.operator == "&&":
        return int(bool(left and _value(node.right, variables, text, depth)))
    if node.operator == "||":
        return int(bool(left or _value(node.right, variables, text, depth)))
    return _applied(node.operator, left, _value(node.right, variables, text, depth), text)


def _applied(operator: str, left: int, right: int, text: str) -> int:
    if operator == "/":
        return wrapped(_divided(left, right, text)[0])
    if operator == "%":
        return wrapped(_divided(left, right, text)[1])
    return wrapped(int(_PLAIN[operator](left, right)))
