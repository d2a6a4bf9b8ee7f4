"""Words of SQL, and statements of a script: PostgreSQL's lexical structure (chapter 4.1 of its manual)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from sregym_env.sim.programs.postgres.errors import refuse

Kind = Literal["word", "name", "text", "number", "symbol", "end"]

MAX_STATEMENT = 1_000_000
"""Characters of a script beyond which nothing is read."""

_LONG = ("::", "<=", ">=", "<>", "!=", "||", "->>", "->", "!~*", "!~", "~*", "@>")
_OPERATORS = "+-*/<>=~!@#%^&|`?:"


class Token(NamedTuple):
    """One word."""

    kind: Kind
    text: str
    """A word in lower case, a quoted name or a text without its quotes, a number or a symbol as it stands."""
    position: int
    """Of its first character."""
    end: int


def scan(sql: str) -> list[Token]:
    """The words of one statement, and a last one of kind ``end``. Raises Refused."""
    found: list[Token] = []
    place, size = 0, len(sql)
    while place < size:
        place = _blank(sql, place)
        if place >= size:
            break
        token = _token(sql, place)
        found.append(token)
        place = token.end
    found.append(Token("end", "", size, size))
    return found


def _blank(sql: str, place: int) -> int:
    """Past white space and comments."""
    while place < len(sql):
        if sql[place].isspace():
            place += 1
        elif sql.startswith("--", place):
            line = sql.find("\n", place)
            place = len(sql) if line < 0 else line + 1
        elif sql.startswith("/*", place):
            place = _comment(sql, place)
        else:
            break
    return place


def _comment(sql: str, place: int) -> int:
    """Past a comment; they nest."""
    depth, start = 0, place
    while place < len(sql):
        if sql.startswith("/*", place):
            depth, place = depth + 1, place + 2
        elif sql.startswith("*/", place):
            depth, place = depth - 1, place + 2
            if not depth:
                return place
        else:
            place += 1
    raise refuse("42601", f'unterminated /* comment at or near "{sql[start:]}"', position=start)


def _token(sql: str, place: int) -> Token:
    first = sql[place]
    if first == "'":
        return _quoted(sql, place, place, "'", "text", False)
    if first == '"':
        token = _quoted(sql, place, place, '"', "name", False)
        if not token.text:
            raise refuse("42601", 'zero-length delimited identifier at or near """"', position=place)
        return token
    if first in "eE" and sql[place + 1 : place + 2] == "'":
        return _quoted(sql, place, place + 1, "'", "text", True)
    if first == "$":
        tag = _dollar(sql, place)
        if tag:
            end = sql.find(tag, place + len(tag))
            if end < 0:
                raise refuse(
                    "42601", f'unterminated dollar-quoted string at or near "{sql[place:]}"', position=place
                )
            return Token("text", sql[place + len(tag) : end], place, end + len(tag))
    if first.isalpha() or first == "_" or ord(first) > 127:
        end = place
        while end < len(sql) and (sql[end].isalnum() or sql[end] in "_$" or ord(sql[end]) > 127):
            end += 1
        return Token("word", sql[place:end].lower(), place, end)
    if first.isdigit() or (first == "." and sql[place + 1 : place + 2].isdigit()):
        return _number(sql, place)
    for symbol in _LONG:
        if sql.startswith(symbol, place):
            return Token("symbol", symbol, place, place + len(symbol))
    return Token("symbol", first, place, place + 1)


def _number(sql: str, place: int) -> Token:
    end, dots = place, 0
    while end < len(sql) and (sql[end].isdigit() or (sql[end] == "." and not dots)):
        dots += sql[end] == "."
        end += 1
    if end < len(sql) and sql[end] in "eE":
        more = end + 1 + (sql[end + 1 : end + 2] in ("+", "-"))
        if sql[more : more + 1].isdigit():
            end = more
            while end < len(sql) and sql[end].isdigit():
                end += 1
    if end < len(sql) and (sql[end].isalpha() or sql[end] == "_"):
        stop = end + 1
        raise refuse(
            "42601", f'trailing junk after numeric literal at or near "{sql[place:stop]}"', position=place
        )
    return Token("number", sql[place:end], place, end)


def _dollar(sql: str, place: int) -> str:
    """The tag of a dollar quote that begins here; empty where none does."""
    end = place + 1
    while end < len(sql) and (sql[end].isalnum() or sql[end] == "_"):
        end += 1
    tag = sql[place : end + 1]
    return tag if tag.endswith("$") and len(tag) > 1 and not tag[1:2].isdigit() else ""


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def _quoted(sql: str, start: int, place: int, quote: str, kind: Kind, escapes: bool) -> Token:
    """A text or a name; its quote stands at ``place``."""
    out: list[str] = []
    at = place + 1
    while at < len(sql):
        letter = sql[at]
        if letter == quote:
            if sql[at + 1 : at + 2] != quote:
                return Token(kind, "".join(out), start, at + 1)
            at += 1
        elif escapes and letter == "\\" and at + 1 < len(sql):
            at += 1
            letter = _ESCAPES.get(sql[at], sql[at])
        out.append(letter)
        at += 1
    what = "string" if quote == "'" else "identifier"
    raise refuse("42601", f'unterminated quoted {what} at or near "{sql[start:]}"', position=start)


class Piece(NamedTuple):
    """A statement, or a command of psql, in a script."""

    meta: bool
    """Whether it begins with a backslash."""
    text: str
    line: int
    """Its last line in the script, from 1."""


def pieces(script: str) -> Iterator[Piece]:
    """The statements and commands of a script, as psql tells them apart."""
    script = script[:MAX_STATEMENT]
    place = start = 0
    while place < len(script):
        fresh = not script[start:place].strip()
        letter = script[place]
        if letter == "\\" and (fresh or script[place - 1 : place].isspace()):
            # A command takes the rest of its line; what stands before it stays in psql's buffer.
            line = script.find("\n", place)
            end = len(script) if line < 0 else line
            if not fresh:
                yield Piece(False, script[start:place].strip(), script.count("\n", 0, place) + 1)
            yield Piece(True, script[place:end].strip(), script.count("\n", 0, place) + 1)
            place = start = end + 1
        elif letter == ";":
            text = script[start : place + 1].strip()
            if text != ";":
                yield Piece(False, text, script.count("\n", 0, place) + 1)
            place = start = place + 1
        else:
            after = _step(script, place)
            if fresh and after - place > 1 and script.startswith(("--", "/*"), place):
                start = after
            place = after
    rest = script[start:].strip()
    if rest:
        yield Piece(False, rest, script.count("\n") + 1)


def _step(script: str, place: int) -> int:
    """Past one character, or past a text, a name or a comment that begins here."""
    letter = script[place]
    if letter in "'\"":
        escaped = letter == "'" and script[max(place - 1, 0) : place] in ("e", "E")
        at = place + 1
        while at < len(script):
            if escaped and script[at] == "\\":
                at += 1
            elif script[at] == letter:
                return at + 1
            at += 1
        return len(script)
    if letter == "$":
        tag = _dollar(script, place)
        end = script.find(tag, place + len(tag)) if tag else -1
        return end + len(tag) if end >= 0 else place + 1
    if script.startswith("--", place):
        line = script.find("\n", place)
        return len(script) if line < 0 else line + 1
    if script.startswith("/*", place):
        end = script.find("*/", place)
        return len(script) if end < 0 else end + 2
    return place + 1
