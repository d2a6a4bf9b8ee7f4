"""The words of a query.

A text is read as its UTF-8 bytes, because positions in errors are counted in bytes; only what is quoted may hold
other than ASCII. What the words are depends on brackets and braces that are open, as in Prometheus.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sregym_env.telemetry.gotext import quote
from sregym_env.telemetry.promql.errors import ParseError
from sregym_env.telemetry.promql.syntax import SETS

AGGREGATORS = frozenset(
    "sum avg count min max group stddev stdvar topk bottomk count_values quantile".split()
)
KEYWORDS = frozenset("offset by without on ignoring group_left group_right bool".split())
_WORD_OPERATORS = frozenset((*SETS, "atan2"))
_EDGES = frozenset(("start", "end"))

_SPACES = re.compile(r"[ \t\n\r]*")
_COMMENT = re.compile(r"#[^\r\n]*")
_WORD = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]*(?:\.[0-9a-fA-F]*)?|[0-9]*(?:\.[0-9]*)?)(?:[eE][+-]?[0-9]*)?")
_DURATION = re.compile(r"[smhdwy]s?(?:[0-9]+[smhdw]s?)*")
_DIGITS = re.compile("[0-9]*")
_ALNUM = re.compile(r"[A-Za-z0-9_]")
_OPERATORS = re.compile(r"==|!=|<=|>=|[-+*/%^<>@]")
_PLAIN = {'"': re.compile(r'[^"\\\n]*'), "'": re.compile(r"[^'\\\n]*"), "`": re.compile(r"[^`]*")}


@dataclass(frozen=True, slots=True)
class Token:
    """A word: its kind, its text as written, and the byte it begins at.

    Kinds are ``identifier``, ``metric identifier``, ``number``, ``duration``, ``string``, ``end of input``, ``edge``,
    ``aggregator``, ``keyword``, ``operator``, and every bracket and mark by its own text.
    """

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The byte after it."""
        return self.start + len(self.text)

    @property
    def word(self) -> str:
        """A keyword in lower case, as keywords are known."""
        return self.text.lower()

    def described(self) -> str:
        """As errors name it."""
        if self.kind == "end of input":
            return self.kind
        if self.kind == "keyword":
            return f"<{self.text}>"
        if self.text == "@":
            return '"<Item 57385>" <op:@>'  # the one operator that Prometheus has no name for
        if self.kind == "operator":
            return f"<op:{self.text}>"
        if self.kind == "aggregator":
            return f"<aggr:{self.text}>"
        text = decoded(self.text)
        if self.kind in ("identifier", "metric identifier"):
            return f"{self.kind} {quote(text)}"
        shown = quote(text[:10]) + "..." if len(self.text) > 10 else quote(text)
        return f"{self.kind} {shown}" if self.kind in ("number", "duration", "string") else shown


def decoded(text: str) -> str:
    """The text whose UTF-8 bytes these are."""
    return text if text.isascii() else text.encode("latin-1").decode(errors="replace")


class Lexer:
    """Reads one query, word by word, and no further than asked."""

    __slots__ = ("_at", "_brace", "_bracket", "_colon", "_depth", "_query", "_text")

    def __init__(self, query: str) -> None:
        """Begin with a text."""
        self._query = query
        self._text = query.encode(errors="replace").decode("latin-1")
        self._at = 0
        self._depth = 0
        self._brace = False
        self._bracket = False
        self._colon = False

    def next(self) -> Token:
        """The next word. Raises ParseError where there is none."""
        text = self._text
        while True:
            at = self._skip(_SPACES, self._at)
            if text.startswith("#", at):
                self._at = self._skip(_COMMENT, at)
                continue
            self._at = at
            return self._braced(at) if self._brace else self._statement(at)

    def _skip(self, pattern: re.Pattern[str], at: int) -> int:
        found = pattern.match(self._text, at)
        return at if found is None else found.end()

    def _take(self, kind: str, start: int, end: int) -> Token:
        self._at = end
        return Token(kind, self._text[start:end], start)

    def _wrong(self, text: str, at: int) -> ParseError:
        return ParseError(text, self._query, at)

    def _rune(self, at: int) -> str:
        """The character at a byte, quoted as Go quotes one; the end of the text is -1, which is no character."""
        text = self._text
        if at >= len(text):
            return "'\ufffd'"
        size = 1 + sum(text[at] >= lead for lead in "\xc0\xe0\xf0")
        return quote(decoded(text[at : at + size]), "'")

    def _statement(self, at: int) -> Token:
        text = self._text
        if at >= len(text):
            if self._depth:
                raise self._wrong("unclosed left parenthesis", at)
            if self._bracket:
                raise self._wrong("unclosed left bracket", at)
            return Token("end of input", "", at)
        char = text[at]
        if char == ",":
            return self._take(",", at, at + 1)
        if found := _OPERATORS.match(text, at):
            return self._take("operator", at, found.end())
        if char == "=":
            if text.startswith("~", at + 1):
                raise self._wrong("unexpected character after '=': '~'", at)
            return self._take("=", at, at + 1)
        if char == "!":
            raise self._wrong(f"unexpected character after '!': {self._rune(at + 1)}", at)
        if char in "0123456789" or (char == "." and text[at + 1 : at + 2] in tuple("0123456789")):
            return self._number(at)
        if char in "\"'`":
            return self._string(at)
        if _WORD.match(char):
            if self._bracket:
                return self._colon_mark(at)
            return self._word(at)
        if char in "()":
            self._depth += 1 if char == "(" else -1
            if self._depth < 0:
                raise self._wrong("unexpected right parenthesis ')'", at + 1)
            return self._take(char, at, at + 1)
        if char == "{":
            self._brace = True
            return self._take(char, at, at + 1)
        if char in "[]":
            return self._brackets(at)
        raise self._wrong(f"unexpected character: {self._rune(at)}", at)

    def _colon_mark(self, at: int) -> Token:
        if self._colon:
            raise self._wrong(f"unexpected colon {self._rune(at)}", at)
        self._colon = True
        return self._take(":", at, at + 1)

    def _brackets(self, at: int) -> Token:
        char = self._text[at]
        if char == "[":
            if self._bracket:
                raise self._wrong("unexpected left bracket '['", at)
            self._colon = False
            self._bracket = True
        elif not self._bracket:
            raise self._wrong("unexpected right bracket ']'", at)
        else:
            self._bracket = False
        return self._take(char, at, at + 1)

    def range_duration(self) -> Token:
        """The duration after a left bracket, where nothing else may be."""
        at = self._at = self._skip(_SPACES, self._at)
        end, whole = self._scan_number(at)
        if whole:
            raise self._wrong("missing unit character in duration", at)
        end, whole = self._scan_duration(end)
        if not whole:
            raise self._wrong(f"bad duration syntax: {quote(decoded(self._text[at:end]))}", at)
        return self._take("duration", at, end)

    def _scan_number(self, at: int) -> tuple[int, bool]:
        """Where a number ends, and whether it is one."""
        end = self._skip(_NUMBER, at)
        return end, not _ALNUM.match(self._text, end)

    def _scan_duration(self, at: int) -> tuple[int, bool]:
        """Where a duration ends whose first number is read, and whether it is one.

        Where it is none, the end is one further, as far as Prometheus has read.
        """
        found = _DURATION.match(self._text, at)
        if found is None:
            return at, False
        end = found.end()
        if self._text[end : end + 1] in tuple("0123456789"):
            return self._skip(_DIGITS, end), False
        if _ALNUM.match(self._text, end):
            return end + 1, False
        return end, True

    def _number(self, at: int) -> Token:
        end, whole = self._scan_number(at)
        if whole:
            return self._take("number", at, end)
        end, whole = self._scan_duration(end)
        if whole:
            return self._take("duration", at, end)
        raise self._wrong(f"bad number or duration syntax: {quote(decoded(self._text[at:end]))}", at)

    def _word(self, at: int) -> Token:
        end = self._skip(_WORD, at)
        word = self._text[at:end]
        lower = word.lower()
        if lower in _WORD_OPERATORS:
            kind = "operator"
        elif lower in AGGREGATORS:
            kind = "aggregator"
        elif lower in KEYWORDS:
            kind = "keyword"
        elif lower in _EDGES:
            kind = "edge"
        elif lower in ("inf", "nan"):
            kind = "number"
        else:
            kind = "metric identifier" if ":" in word else "identifier"
        return self._take(kind, at, end)

    def _braced(self, at: int) -> Token:
        text = self._text
        if at >= len(text):
            raise self._wrong("unexpected end of input inside braces", at)
        char = text[at]
        if _NAME.match(char):
            return self._take("identifier", at, self._skip(_NAME, at))
        if char == ",":
            return self._take(char, at, at + 1)
        if char in "\"'`":
            return self._string(at)
        if char == "=":
            if text.startswith("~", at + 1):
                return self._take("operator", at, at + 2)
            return self._take("=", at, at + 1)
        if char == "!":
            if text[at + 1 : at + 2] in ("~", "="):
                return self._take("operator", at, at + 2)
            raise self._wrong(f"unexpected character after '!' inside braces: {self._rune(at + 1)}", at)
        if char == "{":
            raise self._wrong("unexpected left brace '{'", at)
        if char == "}":
            self._brace = False
            return self._take(char, at, at + 1)
        raise self._wrong(f"unexpected character inside braces: {self._rune(at)}", at)

    def _string(self, at: int) -> Token:
        text = self._text
        mark = text[at]
        end = at + 1
        while True:
            end = self._skip(_PLAIN[mark], end)
            if end >= len(text) or text[end] == "\n":
                kind = "raw" if mark == "`" else "quoted"
                raise self._wrong(f"unterminated {kind} string", at)
            if text[end] == mark:
                return self._take("string", at, end + 1)
            end = self._escape(end + 1, at, mark)

    def _escape(self, at: int, start: int, mark: str) -> int:
        """Past an escape, whose backslash is read."""
        text = self._text
        char = text[at : at + 1]
        if not char:
            raise self._wrong("escape sequence not terminated", start)
        if char in "abfnrtv\\" + mark:
            return at + 1
        if char in "01234567":
            return self._digits(at, 3, 8, start)
        if char in "xuU":
            return self._digits(at + 1, {"x": 2, "u": 4, "U": 8}[char], 16, start)
        raise self._wrong(f"unknown escape sequence {self._codepoint(at)}", start)

    def _digits(self, at: int, count: int, base: int, start: int) -> int:
        text = self._text
        value = 0
        for place in range(at, at + count):
            char = text[place : place + 1]
            if not char:
                raise self._wrong("escape sequence not terminated", start)
            digit = "0123456789abcdef".find(char.lower())
            if not 0 <= digit < base:
                raise self._wrong(f"illegal character {self._codepoint(place)} in escape sequence", start)
            value = value * base + digit
        if value > (255 if count < 4 else 0x10FFFF) or 0xD800 <= value < 0xE000:
            raise self._wrong("escape sequence is an invalid Unicode code point", start)
        return at + count

    def _codepoint(self, at: int) -> str:
        """A character as ``%#U`` prints it."""
        char = self._rune(at)[1:-1]
        char = decoded(self._text[at]) if len(char) != 1 else char
        return f"U+{ord(char):04X} '{char}'" if char.isprintable() else f"U+{ord(char):04X}"


_SIMPLE = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"', "'": "'",
}  # fmt: skip
_ESCAPED = re.compile(
    r"\\(?:([abfnrtv\\\"'])|([0-7]{3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"
)


def unquoted(token: str) -> str:
    """The text of a string token, whose escapes the lexer has checked."""
    body = token[1:-1]
    if token[0] == "`" or "\\" not in body:
        return decoded(body)

    def replace(found: re.Match[str]) -> str:
        simple, octal, byte, short, long = found.groups()
        if simple:
            return _SIMPLE[simple]
        if octal or byte:
            return chr(int(octal, 8) if octal else int(byte, 16))
        return chr(int(short or long, 16)).encode().decode("latin-1")

    return decoded(_ESCAPED.sub(replace, body))
