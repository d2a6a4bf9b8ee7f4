"""What Go's ``encoding/json`` says about bytes that are not JSON.

Bodies are parsed by something faster; only what fails is read again here, for the text of the complaint.
Source of the texts: the scanner of ``encoding/json`` (go1.23).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_DEPTH = 10_000
"""Nesting that Go's scanner bears."""

END = "unexpected end of JSON input"

_SPACE = re.compile(rb"[ \t\r\n]*")
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_HEX = b"0123456789abcdefABCDEF"
_WORDS = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}


class _Complaint(Exception):
    """The text of an error, and where the wrong byte is: -1 where the input ends too early."""

    def __init__(self, text: str, at: int = -1) -> None:
        super().__init__(text)
        self.at = at


def syntax_error(data: bytes) -> str | None:
    """Go's complaint about the first thing in ``data`` that is not JSON; None where all is well."""
    try:
        _document(data)
    except _Complaint as complaint:
        return str(complaint)
    return None


def values(data: bytes) -> Iterator[bytes]:
    """The values of a stream of JSON (``{...}{...}``), as a ``json.Decoder`` takes them one after the other.

    Raises ValueError with Go's text and the offset behind the wrong byte (``json: offset 2: invalid character ...``),
    or ``unexpected EOF`` where the last one is not complete.
    """
    at = _skip(data, 0)
    while at < len(data):
        try:
            end = _whole(data, at)
        except _Complaint as complaint:
            text = "unexpected EOF" if complaint.at < 0 else f"json: offset {complaint.at + 1}: {complaint}"
            raise ValueError(text) from None
        yield data[at:end]
        at = _skip(data, end)


def _document(data: bytes) -> None:
    at = _skip(data, _whole(data, _skip(data, 0)))
    if at < len(data):
        raise _wrong(data, at, "after top-level value")


def _whole(data: bytes, at: int) -> int:
    """Past one value, without recursion: what is open is kept in a list."""
    opened: list[int] = []
    at = _value(data, at, opened)
    while opened:
        at = _skip(data, at)
        at = _member(data, at, opened) if opened[-1] == 0x7B else _element(data, at, opened)
    return at


def _value(data: bytes, at: int, opened: list[int]) -> int:
    """Past a scalar or an empty container, or past the first scalar inside containers, whose members the caller
    goes on with."""
    while True:
        byte = _byte(data, at)
        if byte not in b"{[":
            return _scalar(data, at, byte)
        opened.append(byte)
        if len(opened) > MAX_DEPTH:
            raise _wrong(data, at, "exceeded max depth")
        at = _skip(data, at + 1)
        if _byte(data, at) == (0x7D if byte == 0x7B else 0x5D):
            opened.pop()
            return at + 1
        if byte == 0x7B:
            at = _key(data, at)


def _scalar(data: bytes, at: int, byte: int) -> int:
    if byte == 0x22:
        return _string(data, at)
    if byte in _WORDS:
        return _word(data, at, _WORDS[byte])
    if byte == 0x2D or 0x30 <= byte <= 0x39:
        return _number(data, at)
    raise _wrong(data, at, "looking for beginning of value")


def _key(data: bytes, at: int) -> int:
    """Past a key and its colon."""
    if _byte(data, at) != 0x22:
        raise _wrong(data, at, "looking for beginning of object key string")
    at = _skip(data, _string(data, at))
    if _byte(data, at) != 0x3A:
        raise _wrong(data, at, "after object key")
    return _skip(data, at + 1)


def _member(data: bytes, at: int, opened: list[int]) -> int:
    byte = _byte(data, at)
    if byte == 0x7D:
        opened.pop()
        return at + 1
    if byte != 0x2C:
        raise _wrong(data, at, "after object key:value pair")
    return _value(data, _key(data, _skip(data, at + 1)), opened)


def _element(data: bytes, at: int, opened: list[int]) -> int:
    byte = _byte(data, at)
    if byte == 0x5D:
        opened.pop()
        return at + 1
    if byte != 0x2C:
        raise _wrong(data, at, "after array element")
    return _value(data, _skip(data, at + 1), opened)


def _string(data: bytes, at: int) -> int:
    at += 1
    while True:
        found = _PLAIN.match(data, at)
        assert found is not None
        at = found.end()
        byte = _byte(data, at)
        if byte == 0x22:
            return at + 1
        if byte != 0x5C:
            raise _wrong(data, at, "in string literal")
        escape = _byte(data, at + 1)
        if escape == 0x75:
            for place in range(at + 2, at + 6):
                if _byte(data, place) not in _HEX:
                    raise _wrong(data, place, "in \\u hexadecimal character escape")
            at += 6
        elif escape in b'bfnrt\\/"':
            at += 2
        else:
            raise _wrong(data, at + 1, "in string escape code")


def _word(data: bytes, at: int, word: bytes) -> int:
    for index in range(1, len(word)):
        if _byte(data, at + index) != word[index]:
            expecting = f"in literal {word.decode()} (expecting {_quoted(word[index])})"
            raise _wrong(data, at + index, expecting)
    return at + len(word)


def _number(data: bytes, at: int) -> int:
    found = _NUMBER.match(data, at)
    if found is None:  # a minus alone
        _byte(data, at + 1)
        raise _wrong(data, at + 1, "in numeric literal")
    end = found.end()
    following = data[end : end + 1]
    text = found[0]
    if following == b"." and b"." not in text and b"e" not in text.lower():
        _byte(data, end + 1)
        raise _wrong(data, end + 1, "after decimal point in numeric literal")
    if following in (b"e", b"E") and b"e" not in text.lower():
        end += 2 if data[end + 1 : end + 2] in (b"+", b"-") else 1
        _byte(data, end)
        raise _wrong(data, end, "in exponent of numeric literal")
    return end


def _skip(data: bytes, at: int) -> int:
    found = _SPACE.match(data, at)
    assert found is not None
    return found.end()


def _byte(data: bytes, at: int) -> int:
    if at >= len(data):
        raise _Complaint(END)
    return data[at]


def _wrong(data: bytes, at: int, where: str) -> _Complaint:
    return _Complaint(f"invalid character {_quoted(data[at])} {where}", at)


def _quoted(byte: int) -> str:
    """A byte as the scanner quotes it."""
    special = {0x27: r"'\''", 0x22: "'\"'", 0x5C: r"'\\'", 0x0A: r"'\n'", 0x09: r"'\t'", 0x0D: r"'\r'"}
    special |= {0x07: r"'\a'", 0x08: r"'\b'", 0x0B: r"'\v'", 0x0C: r"'\f'"}
    if byte in special:
        return special[byte]
    char = chr(byte)
    return f"'{char}'" if char.isprintable() else f"'\\x{byte:02x}'" if byte < 0x80 else f"'\\u{byte:04x}'"
