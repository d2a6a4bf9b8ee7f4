"""``expr``: one expression given as words: logic, comparison, arithmetic, matching and parts of strings."""

from __future__ import annotations

import re

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell import patterns
from sregym_env.shell.commands.posix import compiled
from sregym_env.shell.run import Call

_INTEGER = re.compile(r"-?[0-9]+\Z")
_NULL = re.compile(r"-?0+\Z|\Z")
_LONGEST = 4_000
"""Digits of the longest number."""

Value = int | str


class _Failed(Exception):
    """An expression that cannot be evaluated; its text is what ``expr`` says."""


class Expr:
    """The command."""

    name = "expr"

    def execute(self, args: list[str], ctx: Call) -> ExecResult:
        """Print the value; the exit code is 1 for null and zero, 2 for a wrong expression, 3 for an error."""
        words = args[1:] if args[:1] == ["--"] else args
        if not words:
            return ExecResult("", "expr: missing operand\nTry 'expr --help' for more information.\n", 2)
        try:
            value = _Expression(words).whole()
        except _Failed as error:
            return ExecResult("", f"expr: {error}\n", 2)
        except RecursionError:
            return ExecResult("", "expr: memory exhausted\n", 3)
        return ExecResult(f"{value}\n", "", int(_is_null(value)))


def _is_null(value: Value) -> bool:
    return _NULL.match(str(value)) is not None


def _integer(value: Value) -> int:
    if isinstance(value, int):
        return value
    if not _INTEGER.match(value):
        raise _Failed("non-integer argument")
    if len(value) > _LONGEST:
        raise _Failed(f"{value[:20]}...: Numerical result out of range")
    return int(value)


def _bounded(number: int) -> int:
    if number.bit_length() > 3 * _LONGEST:
        raise _Failed("Numerical result out of range")
    return number


class _Expression:
    """The words of an expression, read from left to right."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._at = 0

    def whole(self) -> Value:
        """The value of all words. Raises _Failed."""
        value = self._either(True)
        if self._at < len(self._words):
            raise _Failed(f"syntax error: unexpected argument '{self._words[self._at]}'")
        return value

    def _next(self, *wanted: str) -> str:
        """Take the next word if it is one of these."""
        if self._at < len(self._words) and self._words[self._at] in wanted:
            self._at += 1
            return self._words[self._at - 1]
        return ""

    def _required(self) -> None:
        if self._at >= len(self._words):
            raise _Failed(f"syntax error: missing argument after '{self._words[self._at - 1]}'")

    def _either(self, counts: bool) -> Value:
        left = self._both(counts)
        while self._next("|"):
            right = self._both(counts and _is_null(left))
            if _is_null(left):
                left = 0 if _is_null(right) else right
        return left

    def _both(self, counts: bool) -> Value:
        left = self._comparison(counts)
        while self._next("&"):
            right = self._comparison(counts and not _is_null(left))
            if _is_null(left) or _is_null(right):
                left = 0
        return left

    def _comparison(self, counts: bool) -> Value:
        left = self._sum(counts)
        while operator := self._next("<", "<=", "=", "==", "!=", ">=", ">"):
            right = self._sum(counts)
            left = _compared(left, operator, right) if counts else 0
        return left

    def _sum(self, counts: bool) -> Value:
        left = self._product(counts)
        while operator := self._next("+", "-"):
            right = self._product(counts)
            if counts:
                one, other = _integer(left), _integer(right)
                left = _bounded(one + other if operator == "+" else one - other)
        return left

    def _product(self, counts: bool) -> Value:
        left = self._match(counts)
        while operator := self._next("*", "/", "%"):
            right = self._match(counts)
            if not counts:
                continue
            one, other = _integer(left), _integer(right)
            if operator == "*":
                left = _bounded(one * other)
                continue
            if not other:
                raise _Failed("division by zero")
            quotient = abs(one) // abs(other)
            quotient = -quotient if (one < 0) != (other < 0) else quotient
            left = quotient if operator == "/" else one - quotient * other
        return left

    def _match(self, counts: bool) -> Value:
        left = self._word(counts)
        while self._next(":"):
            right = self._word(counts)
            left = _matched(str(left), str(right)) if counts else left
        return left

    def _word(self, counts: bool) -> Value:
        if self._next("+"):
            self._required()
            self._at += 1
            return self._words[self._at - 1]
        keyword = self._next("length", "match", "index", "substr")
        if not keyword:
            return self._atom(counts)
        first = str(self._word(counts))
        if keyword == "length":
            return len(first)
        second = self._word(counts)
        if keyword == "match":
            return _matched(first, str(second)) if counts else first
        if keyword == "index":
            places = [first.find(char) for char in str(second)]
            return min((place + 1 for place in places if place >= 0), default=0)
        third = self._word(counts)
        if not (_INTEGER.match(str(second)) and _INTEGER.match(str(third))):
            return ""
        start, count = _integer(second), _integer(third)
        return first[start - 1 : start - 1 + count] if start > 0 and count > 0 else ""

    def _atom(self, counts: bool) -> Value:
        self._required()
        if self._next("("):
            value = self._either(counts)
            if self._at >= len(self._words):
                raise _Failed(f"syntax error: expecting ')' after '{self._words[-1]}'")
            if not self._next(")"):
                raise _Failed(f"syntax error: expecting ')' instead of '{self._words[self._at]}'")
            return value
        if self._next(")"):
            raise _Failed("syntax error: unexpected ')'")
        self._at += 1
        return self._words[self._at - 1]


def _compared(left: Value, operator: str, right: Value) -> int:
    one, other = str(left), str(right)
    if _INTEGER.match(one) and _INTEGER.match(other):
        first, second = _integer(left), _integer(right)
        order = (first > second) - (first < second)
    else:
        order = (one > other) - (one < other)
    holds = {
        "<": order < 0,
        "<=": order <= 0,
        "=": order == 0,
        "==": order == 0,
        "!=": order != 0,
        ">=": order >= 0,
        ">": order > 0,
    }
    return int(holds[operator])


def _matched(text: str, pattern: str) -> Value:
    """How much of the beginning of ``text`` matches, or the group of the pattern if it has one."""
    try:
        patterns.count(pattern)
        expression = compiled(pattern, extended=False)
    except re.error as error:
        text = str(error)
        raise _Failed("Invalid regular expression" if text.startswith("Unmatched [") else text) from error
    found = expression.search(text)
    if found is None or found.start():
        return "" if expression.groups else 0
    if expression.groups:
        return str(found.group(1) or "")
    return len(found.group(0))
