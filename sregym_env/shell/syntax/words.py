"""Reads words: quotes, expansions, here-documents. The reader of commands builds on this one."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import NoReturn

from sregym_env.shell.syntax.tree import (
    Arithmetic,
    CommandOutput,
    DoubleQuoted,
    Literal,
    Parameter,
    Part,
    ProcessFile,
    Quoted,
    Script,
    Word,
)

DEEPEST = 60
"""How deep commands, substitutions and quotes may lie in each other."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_POSITION = re.compile(r"[0-9]+")
_SPECIAL = "@*#?-$!0123456789"
_BREAKS = frozenset(" \t\n;&|<>()")
_RUN = re.compile(r"[^ \t\n;&|<>()\\'\"$`?*+@!~{\[]+")
"""Characters of a word that mean nothing to anybody."""
_LENGTH = re.compile(r"#(?:[A-Za-z0-9_@*$!]|[#?-]\})")
_RUN_LOOSE = re.compile(r"[A-Za-z0-9_./:,%=\-]+")
_MEANING = re.compile(r"[?*\[\]{}~!]")
"""Characters of plain text that may still mean something to the shell."""
_ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_CODE = re.compile(r"x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})")


class ScriptError(Exception):
    """A script that cannot be read. ``unfinished``: more text could make it whole."""

    def __init__(self, text: str, line: int, unfinished: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.line = line
        self.unfinished = unfinished


def ansi(text: str) -> str:
    """What ``$'text'`` stands for."""
    out: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char != "\\" or at + 1 >= len(text):
            out.append(char)
            at += 1
            continue
        code = _CODE.match(text, at + 1)
        if code is not None:
            number = int(code[1] or code[2] or code[3] or "0", 16) if not code[4] else int(code[4], 8) & 255
            byte = code[1] is not None or code[4] is not None
            if byte:
                out.append(chr(number) if number < 128 else chr(0xDC00 + number))
            else:
                out.append(chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd")
            at = code.end()
        elif text[at + 1] == "c" and at + 2 < len(text):
            out.append(chr(ord(text[at + 2].upper()) & 31))
            at += 3
        else:
            out.append(_ESCAPES.get(text[at + 1], "\\" + text[at + 1]))
            at += 2
    made = "".join(out)
    if any("\udc80" <= char <= "\udcff" for char in made):
        return made.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    return made


class WordReader(ABC):
    """Reads words from a text at a position."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self._counted = 0, 1

    # --- the text -----------------------------------------------------------------------------------

    @property
    def line(self) -> int:
        """The number of the line that is being read."""
        return self.line_of(self.at)

    def line_of(self, at: int) -> int:
        """The number of the line of a place; cheap for places that are asked for in order."""
        before, number = self._counted
        if at < before:
            before, number = 0, 1
        number += self.text.count("\n", before, at)
        self._counted = at, number
        return number

    def fail(self, text: str, *, unfinished: bool = False) -> NoReturn:
        """Give up. Raises ScriptError."""
        raise ScriptError(text, self.line, unfinished)

    def unended(self, what: str) -> NoReturn:
        """Give up at the end of the text, which lacks something. Raises ScriptError."""
        self.at = len(self.text)
        self.fail(f"unexpected EOF while looking for matching `{what}'", unfinished=True)

    @abstractmethod
    def inner(self, end: str) -> Script:
        """The script up to a closing parenthesis; the reader of commands knows how."""

    @abstractmethod
    def script_of(self, text: str) -> Script:
        """A whole script of its own; the reader of commands knows how."""

    def arithmetic(self, text: str) -> Word:
        """An arithmetic text or a subscript, in which expansions work as inside double quotes."""
        if not any(char in text for char in "$`\\\"'"):
            return Word((Literal(text),), text, text)
        if "$" not in text and "`" not in text:
            plain = re.sub(r"[\"']|\\(?=.)", "", text)
            return Word((Literal(plain),), text, plain)
        parts = self.document(text).parts
        assert isinstance(parts[0], DoubleQuoted)
        bare = tuple(
            Literal(part.text.replace('"', "")) if isinstance(part, Literal) else part
            for part in parts[0].parts
        )
        return Word((DoubleQuoted(bare),), text)

    def document(self, text: str) -> Word:
        """The text of a here-document with its expansions."""
        self.deeper()
        reader = type(self)(text, self.depth)
        parts = reader.quoted_parts("", "$`\\\n")
        self.depth -= 1
        return Word((DoubleQuoted(parts),), text)

    def deeper(self) -> None:
        """One level down. Raises ScriptError when that is too many."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail("expression too deeply nested")

    # --- words --------------------------------------------------------------------------------------

    def word(self, *, groups: bool = False) -> Word | None:
        """The word here; None where none begins. ``groups``: ``!(a|b)`` is a pattern even at its beginning."""
        text, start = self.text, self.at
        run = _RUN_LOOSE.match(text, start)
        if run is not None:
            end = run.end()
            # A process substitution goes on with the word: ``--from-file=tls.crt=<(...)``.
            piped = text.startswith(("<(", ">("), end)
            if end == len(text) or (text[end] in _BREAKS and text[end] != "(" and not piped):
                self.at = end
                found = run[0]
                return Word((Literal(found),), found, found)
        parts: list[Part] = []
        while self.at < len(text):
            char = text[self.at]
            if char in _BREAKS:
                if char in "<>" and text.startswith("(", self.at + 1):
                    parts.append(self._process(char == "<"))
                    continue
                if char == "(" and self._groups(parts, groups):
                    self._pattern_group(parts)
                    continue
                break
            self._piece(parts)
        if not parts and self.at == start:
            return None
        return made_word(parts, text[start : self.at])

    def _groups(self, parts: list[Part], bang: bool) -> bool:
        """Whether the parenthesis here begins a pattern group: ``@(a|b)``."""
        before = self.text[self.at - 1] if self.at else ""
        last = parts[-1] if parts else None
        if not isinstance(last, Literal) or not last.text.endswith(before):
            return False
        return (before in "?*+@" and before != "") or (before == "!" and (bang or len(last.text) > 1))

    def _pattern_group(self, parts: list[Part]) -> None:
        self.at += 1
        _add(parts, "(")
        depth = 1
        while depth:
            if self.at >= len(self.text):
                self.unended(")")
            char = self.text[self.at]
            if char in "()|" or char in " \t<>&;":
                depth += {"(": 1, ")": -1}.get(char, 0)
                _add(parts, char)
                self.at += 1
            else:
                self._piece(parts)

    def _piece(self, parts: list[Part]) -> None:
        """One piece of a word outside of double quotes."""
        text, at = self.text, self.at
        char = text[at]
        run = _RUN.match(text, at)
        if run is not None:
            self.at = run.end()
            _add(parts, run[0])
        elif char == "\\":
            self.at = at + 2
            if at + 1 >= len(text):
                _add(parts, "\\")
            elif text[at + 1] != "\n":
                parts.append(Quoted(text[at + 1]))
        elif char == "'":
            end = text.find("'", at + 1)
            if end < 0:
                self.unended("'")
            self.at = end + 1
            parts.append(Quoted(text[at + 1 : end]))
        elif char == '"':
            parts.append(self._double())
        elif char in "$`":
            part = self._dollar(quoted=False)
            if isinstance(part, Literal):
                _add(parts, part.text)
            else:
                parts.append(part)
        else:
            self.at = at + 1
            _add(parts, char)

    def _double(self) -> DoubleQuoted:
        self.at += 1
        self.deeper()
        parts = self.quoted_parts('"', '$`"\\\n')
        self.depth -= 1
        return DoubleQuoted(parts)

    def quoted_parts(self, end: str, escapable: str) -> tuple[Part, ...]:
        """Parts as they are inside double quotes, up to ``end`` (the whole text for none)."""
        text = self.text
        parts: list[Part] = []
        stops = _stops(end)
        while True:
            if self.at >= len(text):
                if end:
                    self.unended(end)
                return tuple(parts)
            plain = stops.match(text, self.at)
            if plain is not None:
                self.at = plain.end()
                _add(parts, plain[0])
                continue
            char = text[self.at]
            if char == end:
                self.at += 1
                return tuple(parts)
            if char == "\\":
                following = text[self.at + 1 : self.at + 2]
                if following and following in escapable:
                    if following != "\n":
                        _add(parts, following)
                    self.at += 2
                else:
                    _add(parts, "\\")
                    self.at += 1
                continue
            part = self._dollar(quoted=True)
            if isinstance(part, Literal):
                _add(parts, part.text)
            else:
                parts.append(part)

    def _process(self, reads: bool) -> ProcessFile:
        self.at += 2
        return ProcessFile(self.inner(")"), reads)

    # --- what begins with a dollar ------------------------------------------------------------------

    def _dollar(self, *, quoted: bool) -> Part:
        text, at = self.text, self.at
        if text[at] == "`":
            return self._backquoted(quoted)
        following = text[at + 1 : at + 2]
        if following == "(":
            if text.startswith("((", at + 1):
                whole = self._arithmetic_text(at + 3)
                if whole is not None:
                    return Arithmetic(self.arithmetic(whole))
                # `$((a); b)` is a substitution that begins with a subshell.
                self.at = at
            self.at = at + 2
            return CommandOutput(self.inner(")"))
        if following == "{":
            self.at = at + 2
            self.deeper()
            found = self._braced(quoted)
            self.depth -= 1
            return found
        if not quoted and following == "'":
            return self._ansi_quoted()
        if not quoted and following == '"':
            self.at = at + 1
            return self._double()
        if (match := _NAME.match(text, at + 1)) is not None:
            self.at = match.end()
            return Parameter(match[0])
        if following and following in _SPECIAL:
            self.at = at + 2
            return Parameter(following)
        self.at = at + 1
        return Literal("$")

    def _ansi_quoted(self) -> Quoted:
        start = at = self.at + 2
        while at < len(self.text) and self.text[at] != "'":
            at += 2 if self.text[at] == "\\" else 1
        if at >= len(self.text):
            self.unended("'")
        self.at = at + 1
        return Quoted(ansi(self.text[start:at]))

    def _backquoted(self, quoted: bool) -> CommandOutput:
        start = at = self.at + 1
        while at < len(self.text) and self.text[at] != "`":
            at += 2 if self.text[at] == "\\" else 1
        if at >= len(self.text):
            self.unended("`")
        # Within double quotes a backslash takes the meaning of a quote as well, and is gone after that.
        body = re.sub(r'\\([$`\\"])' if quoted else r"\\([$`\\])", r"\1", self.text[start:at])
        self.at = at + 1
        self.deeper()
        script = self.script_of(body)
        self.depth -= 1
        return CommandOutput(script)

    def _arithmetic_text(self, start: int) -> str | None:
        """The text up to the ``))`` that closes what begins at ``start``; None where it ends otherwise."""
        end = closing(self.text, start)
        if end < 0 or not self.text.startswith("))", end):
            return None
        self.at = end + 2
        return self.text[start:end]

    def _braced(self, quoted: bool) -> Parameter:
        text = self.text
        asked = ""
        if _LENGTH.match(text, self.at):
            asked = "length"
            self.at += 1
        elif text.startswith("!", self.at) and not text.startswith("!}", self.at):
            asked = "indirect"
            self.at += 1
        match = _NAME.match(text, self.at) or _POSITION.match(text, self.at)
        if match is not None:
            name = match[0]
            self.at = match.end()
        elif text[self.at : self.at + 1] and text[self.at] in _SPECIAL:
            name = text[self.at]
            self.at += 1
        else:
            if self.at >= len(text):
                self.unended("}")
            return self._bad()
        subscript = None
        if text.startswith("[", self.at):
            end = closing(text, self.at + 1, "]")
            if end < 0:
                self.unended("]")
            subscript = self.arithmetic(text[self.at + 1 : end])
            self.at = end + 1
        if self.at >= len(text):
            self.unended("}")
        if text[self.at] == "}":
            self.at += 1
            if asked == "indirect" and subscript is not None and subscript.plain in ("@", "*"):
                return Parameter(name, subscript, "keys")
            return Parameter(name, subscript, asked)
        if asked == "length":
            return self._bad()
        if asked == "indirect" and text[self.at] in "*@" and text.startswith("}", self.at + 1):
            kind = text[self.at]
            self.at += 2
            return Parameter(name, Word((Literal(kind),), kind, kind), "names")
        return self._operation(name, subscript, asked, quoted)

    def _operation(self, name: str, subscript: Word | None, asked: str, quoted: bool) -> Parameter:
        text, at = self.text, self.at
        two = text[at : at + 2]
        if two in (":-", ":=", ":?", ":+"):
            operator = two
        elif text[at] in "-=?+":
            operator = text[at]
        elif two in ("##", "%%", "//", "/#", "/%", "^^", ",,", "~~"):
            operator = two
        elif text[at] in "#%/^,~:":
            operator = text[at]
        elif (
            text[at] == "@" and text[at + 1 : at + 2] in tuple("QEPAaUuLKk") and text.startswith("}", at + 2)
        ):
            self.at = at + 3
            return Parameter(name, subscript, asked, text[at : at + 2])
        else:
            return self._bad()
        self.at = at + len(operator)
        if operator == ":":
            first, ended = self._bounded(":}")
            second = self._bounded("}")[0] if not ended else None
            return Parameter(name, subscript, asked, ":", first, second)
        if operator[0] == "/":
            pattern = self._argument("/}", quoted, pattern=True)
            if self.text[self.at] == "/":
                self.at += 1
                replacement = self._argument("}", quoted)
            else:
                replacement = Word((), "", "")
            self.at += 1
            return Parameter(name, subscript, asked, operator, pattern, replacement)
        argument = self._argument("}", quoted, pattern=operator[0] in "#%^,~")
        self.at += 1
        return Parameter(name, subscript, asked, operator, argument)

    def _bad(self) -> Parameter:
        """``${...}`` that means nothing: an error when it is expanded, not when it is read."""
        start = self.text.rfind("${", 0, self.at)
        end = closing(self.text, start + 2, "}")
        if end < 0:
            self.unended("}")
        self.at = end + 1
        return Parameter(self.text[start : end + 1], None, "bad")

    def _bounded(self, ends: str) -> tuple[Word, bool]:
        """An arithmetic text in ``${name:offset:length}`` and whether it is the last."""
        start, depth = self.at, 0
        text = self.text
        at = start
        while at < len(text) and (depth or text[at] not in ends):
            char = text[at]
            if char == "\\":
                at += 1
            elif char in "'\"":
                found = text.find(char, at + 1)
                at = len(text) if found < 0 else found
            elif char in "({[":
                depth += 1
            elif char == "?" and not depth and ":" in ends:
                # The colon of a choice is not that before the length.
                at = max(text.find(":", at), at)
            elif depth and char in ")}]":
                depth -= 1
            at += 1
        if at >= len(text):
            self.unended("}")
        self.at = at + 1
        return self.arithmetic(text[start:at]), text[at] == "}"

    def _argument(self, ends: str, quoted: bool, *, pattern: bool = False) -> Word:
        """What follows an operator, up to an unquoted character of ``ends``, which is not taken."""
        parts: list[Part] = []
        text, start = self.text, self.at
        while True:
            if self.at >= len(text):
                self.unended("}")
            char = text[self.at]
            if char in ends:
                return made_word(parts, text[start : self.at])
            # Inside double quotes `${x:-'a'}` keeps its single quotes, but `${x#'a'}` takes them for quotes.
            if char == "'" and quoted and not pattern:
                _add(parts, "'")
                self.at += 1
            elif char == "\\" and quoted and not pattern:
                following = text[self.at + 1 : self.at + 2]
                if following in ("$", "`", '"', "\\", "}"):
                    parts.append(Quoted(following))
                    self.at += 2
                else:
                    _add(parts, "\\")
                    self.at += 1
            elif char in _BREAKS:
                if char in "<>" and text.startswith("(", self.at + 1) and not quoted:
                    parts.append(self._process(char == "<"))
                else:
                    _add(parts, char)
                    self.at += 1
            elif char in "'\"\\$`":
                self._piece(parts)
            else:
                _add(parts, char)
                self.at += 1


def _add(parts: list[Part], text: str) -> None:
    """Put plain text at the end of parts."""
    if parts and isinstance(parts[-1], Literal):
        parts[-1] = Literal(parts[-1].text + text)
    else:
        parts.append(Literal(text))


_STOPS: dict[str, re.Pattern[str]] = {"": re.compile(r"[^$`\\]+"), '"': re.compile(r'[^"$`\\]+')}


def _stops(end: str) -> re.Pattern[str]:
    return _STOPS[end]


def made_word(parts: list[Part], source: str) -> Word:
    """A word of these parts; its own text where that is all it can mean."""
    plain: str | None = None
    if all(
        isinstance(part, Quoted) or (isinstance(part, Literal) and not _MEANING.search(part.text))
        for part in parts
    ):
        plain = "".join(part.text for part in parts if isinstance(part, Literal | Quoted))
        if not parts:
            plain = None if source == "" else ""
    elif len(parts) == 1 and isinstance(parts[0], DoubleQuoted):
        inside = parts[0].parts
        if all(isinstance(part, Literal) for part in inside):
            plain = "".join(part.text for part in inside if isinstance(part, Literal))
    return Word(tuple(parts), source, plain)


def closing(text: str, at: int, end: str = ")") -> int:
    """Where the bracket closes that was opened just before ``at``; -1 where none does. Quotes hide brackets."""
    opening = {")": "(", "]": "[", "}": "{"}[end]
    depth = 1
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "'":
            found = text.find("'", at + 1)
            if found >= 0:
                at = found
        elif char == '"':
            at += 1
            while at < len(text) and text[at] != '"':
                at += 2 if text[at] == "\\" else 1
        elif char == opening:
            depth += 1
        elif char == end:
            depth -= 1
            if not depth:
                return at
        at += 1
    return -1
