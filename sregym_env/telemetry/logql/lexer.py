"""Words of a query, one at a time, each with the place that Loki gives it.

Loki reads with a copy of Go's ``text/scanner`` and looks ahead by hand for operators, durations and sizes. Where it
looks ahead, the line of the word is forgotten, so its errors speak of ``line 0``; that is kept.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

from sregym_env.telemetry.logql.errors import ParseError
from sregym_env.telemetry.logql.units import parse_any_duration, parse_bytes, parse_range

END = "$end"

KEYWORDS = frozenset(
    "unwrap by without bool offset on ignoring group_left group_right or and unless json regexp logfmt unpack pattern "
    "label_format line_format decolorize drop keep distinct variants of".split()
)
"""Words that are never names of labels."""

CONVERSIONS = {
    "bytes": "BYTES_CONV",
    "duration": "DURATION_CONV",
    "duration_seconds": "DURATION_SECONDS_CONV",
}
VECTOR_OPERATIONS = frozenset(
    "sum avg max min count stddev stdvar bottomk topk sort sort_desc approx_topk".split()
)
RANGE_OPERATIONS = frozenset(
    "rate rate_counter count_over_time bytes_rate bytes_over_time avg_over_time sum_over_time min_over_time "
    "max_over_time stdvar_over_time stddev_over_time quantile_over_time first_over_time last_over_time "
    "absent_over_time".split()
)
_FUNCTIONS = (
    {name: name.upper() for name in (*VECTOR_OPERATIONS, *RANGE_OPERATIONS, "vector")}
    | CONVERSIONS
    | {"label_replace": "label_replace", "ip": "ip"}
)
"""Words that are names of labels unless a parenthesis (or a grouping) follows, and the kinds of token they are."""

_PAIRS = frozenset(("!=", "=~", "!~", "!>", "|=", "|~", "|>", "==", ">=", "<="))
_SINGLE = frozenset("{}=,.()|+-*/%^<>]")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/|#[^\n]*)+", re.DOTALL)
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_RAW = re.compile(r"`([^`]*)`")
_CHAR = re.compile(r"'(?:[^'\\\n]|\\[^\n])'")
_DURATION = re.compile(r"[0-9nuµmshdwy.]+")
_SIZE = re.compile(r"[0-9BikKMGTP.]+")
_FLAG = re.compile(r"--(?:strict|keep-empty)(?![A-Za-z-])")
_ESCAPE = re.compile(r"\\(?:[abfnrtv\\\"]|[0-3][0-7]{2}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")
_CALL = re.compile(r"\s*(?:\(|(?:by|without)\s*\()", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Token:
    """One word: its kind as Loki's errors name it, what it says, and where it begins (from 1)."""

    kind: str
    text: str
    value: Any
    line: int
    column: int


class Lexer:
    """The words of one query, from left to right."""

    __slots__ = ("_at", "_line", "_line_start", "_query")

    def __init__(self, query: str) -> None:
        self._query = query
        self._at = 0
        self._line = 1
        self._line_start = 0

    def next(self) -> Token:
        """The next word; the last is ``$end``. Raises ParseError where there is none."""
        self._skip()
        query, at = self._query, self._at
        if at >= len(query):
            # Before anything has been read the scanner has no place.
            return Token(END, "", None, self._line if query else 0, self._column(at) if query else 0)
        char = query[at]
        found = _IDENTIFIER.match(query, at)
        if found:
            return self._word(found[0], found.end())
        found = _NUMBER.match(query, at)
        if found:
            return self._number(found[0], found.end())
        if char in "\"`'":
            return self._quoted(char)
        if char == "[":
            return self._range()
        if char == "-":
            return self._minus()
        pair = query[at : at + 2]
        if pair in _PAIRS:
            return self._token(pair, pair, at + 2, ahead=True)
        return self._token(char if char in _SINGLE else "IDENTIFIER", char, at + 1)

    def _skip(self) -> None:
        found = _SPACE.match(self._query, self._at)
        if found is None:
            if self._query.startswith("/*", self._at):
                raise self._error("comment not terminated")
            return
        self._advance(found.end())
        if self._query.startswith("/*", self._at):
            raise self._error("comment not terminated")

    def _advance(self, end: int) -> None:
        breaks = self._query.count("\n", self._at, end)
        if breaks:
            self._line += breaks
            self._line_start = self._query.rindex("\n", self._at, end) + 1
        self._at = end

    def _column(self, at: int) -> int:
        return at - self._line_start + 1

    def _error(self, problem: str, line: int | None = None) -> ParseError:
        return ParseError(problem, self._line if line is None else line, self._column(self._at))

    def _token(self, kind: str, text: str, end: int, value: Any = None, ahead: bool = False) -> Token:
        token = Token(kind, text, value, 0 if ahead else self._line, self._column(self._at))
        self._advance(end)
        return token

    def _word(self, text: str, end: int) -> Token:
        lower = text.lower()
        if lower in _FUNCTIONS:
            called = _CALL.match(self._query, end)
            return self._token(_FUNCTIONS[lower] if called else "IDENTIFIER", lower if called else text, end)
        return self._token(lower, lower, end) if lower in KEYWORDS else self._token("IDENTIFIER", text, end)

    def _number(self, text: str, end: int) -> Token:
        problem = _number_problem(text, self._query[end : end + 1])
        if problem:
            raise self._error(problem)
        for kind, more, parse in (
            ("DURATION", _DURATION, parse_any_duration),
            ("BYTES", _SIZE, parse_bytes),
        ):
            found = more.match(self._query, end)
            if found:
                try:
                    value = parse(text + found[0])
                except ValueError:
                    continue
                return self._token(kind, text + found[0], found.end(), value, ahead=True)
        return self._token("NUMBER", text, end)

    def _minus(self) -> Token:
        query, at = self._query, self._at
        flag = _FLAG.match(query, at)
        if flag:
            return self._token("PARSER_FLAG", flag[0], flag.end(), ahead=True)
        found = _DURATION.match(query, at + 1)
        if found:
            try:
                value = parse_any_duration(f"-{found[0]}")
            except ValueError:
                pass
            else:
                return self._token("DURATION", f"-{found[0]}", found.end(), value, ahead=True)
        return self._token("-", "-", at + 1)

    def _quoted(self, quote: str) -> Token:
        query, at = self._query, self._at
        if quote == "`":
            raw = _RAW.match(query, at)
            if raw is None:
                raise self._error("literal not terminated")
            return self._token("STRING", raw[1].replace("\r", ""), raw.end())
        if quote == "'":
            char = _CHAR.match(query, at)
            if char is None:
                closed = re.compile(r"'[^'\n]*'").match(query, at)
                raise self._error("invalid char literal" if closed else "literal not terminated")
            return self._token("IDENTIFIER", char[0], char.end())
        found = _STRING.match(query, at)
        if found is None:
            raise self._error(self._first_escape(at) or "literal not terminated")
        if "\\" not in found[1]:
            return self._token("STRING", found[1], found.end())
        if _ESCAPE.sub("", found[1]).count("\\"):
            raise self._error("invalid char escape")
        return self._token("STRING", _unescaped(found[1]), found.end())

    def _first_escape(self, at: int) -> str:
        rest = self._query[at + 1 :].split("\n", 1)[0]
        return "invalid char escape" if "\\" in _ESCAPE.sub("", rest) else ""

    def _range(self) -> Token:
        end = self._query.find("]", self._at)
        if end < 0:
            raise self._error("missing closing ']' in duration", 0)
        text = self._query[self._at + 1 : end]
        try:
            value = parse_range(text)
        except ValueError as error:
            raise self._error(str(error), 0) from None
        return self._token("RANGE", text, end + 1, value, ahead=True)


def _number_problem(text: str, following: str) -> str:
    """What Go's scanner says of a number that begins well; empty where it ends well too."""
    if following and following in "eE":
        return "exponent has no digits"
    if following and following in "pP":
        return f"'{following}' exponent requires hexadecimal mantissa"
    if text == "0" and following and following in "oO":
        return "octal literal has no digits"
    wrong = next((digit for digit in text if digit in "89"), "")
    if wrong and text[0] == "0" and text.isdigit():
        return f"invalid digit '{wrong}' in octal literal"
    return ""


def _unescaped(body: str) -> str:
    """A Go string without its escapes, which are Python's for bytes and characters below."""

    def replace(found: re.Match[str]) -> str:
        escape = found[0]
        if escape[1] in "uU":
            code = int(escape[2:], 16)
            return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
        return str(ast.literal_eval(f'"{escape}"'))

    return _ESCAPE.sub(replace, body)
