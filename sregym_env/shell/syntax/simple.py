"""Reads simple commands: assignments, words and redirections, with the here-documents that follow the line."""

from __future__ import annotations

import re
from typing import NoReturn

from sregym_env.shell.syntax.conditionals import ConditionReader
from sregym_env.shell.syntax.tree import (
    Assignment,
    Elements,
    Quoted,
    Redirection,
    Simple,
    Word,
)
from sregym_env.shell.syntax.words import closing

_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_REDIRECTED = re.compile(r"(\d*|\{[A-Za-z_]\w*\})(<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|&>>|&>)")
_DECLARES = frozenset("declare typeset local export readonly".split())
_BLANK = re.compile(r"(?:[ \t\r]|\\\n)+")


class SimpleReader(ConditionReader):
    """Reads simple commands, and the white space between all commands."""

    def __init__(self, text: str, depth: int = 0) -> None:
        super().__init__(text, depth)
        self.open = False
        """Whether the text has ended within a here-document."""
        self._documents: list[tuple[str, bool, bool, Redirection]] = []
        """Here-documents of the present line: end, whether tabs go, whether it is quoted, where the text goes."""

    @property
    def waits(self) -> bool:
        """Whether a here-document has been announced and not begun."""
        return bool(self._documents)

    # --- white space --------------------------------------------------------------------------------

    def blank(self) -> None:
        """Skip blanks and a comment."""
        match = _BLANK.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        if self.text.startswith("#", self.at):
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end

    def newlines(self) -> None:
        """Skip blanks, comments and line ends, and read the here-documents that begin at those."""
        while True:
            self.blank()
            if not self.text.startswith("\n", self.at):
                return
            self.at += 1
            if self._documents:
                self._read_documents()

    def _read_documents(self) -> None:
        waiting, self._documents = self._documents, []
        for end, tabs, quoted, place in waiting:
            lines: list[str] = []
            while True:
                if self.at >= len(self.text):
                    self.open = True
                    break
                stop = self.text.find("\n", self.at)
                line = self.text[self.at :] if stop < 0 else self.text[self.at : stop]
                self.at = len(self.text) if stop < 0 else stop + 1
                if tabs:
                    line = line.lstrip("\t")
                if line == end:
                    break
                lines.append(f"{line}\n")
            # The node is not yet part of a tree that anybody else knows.
            object.__setattr__(place, "target", self._document(lines, quoted))

    def _document(self, lines: list[str], quoted: bool) -> Word:
        text = "".join(lines)
        return Word((Quoted(text),), text, text) if quoted else self.document(text)

    def unexpected(self) -> NoReturn:
        """Complain about what is here. Raises ScriptError."""
        text = self.text
        if self.at >= len(text):
            self.fail("unexpected end of file", unfinished=True)
        if text[self.at] == "\n":
            self.fail("near unexpected token `newline'")
        match = re.compile(r"&&|\|\||;;&|;;|;&|&>>?|>>|<<|>&|<&|[;&|<>()]|[^\s;&|<>()]+").match(text, self.at)
        self.fail(f"near unexpected token `{match[0] if match else text[self.at]}'")

    # --- simple commands ----------------------------------------------------------------------------

    def simple(self) -> Simple | None:
        """The simple command here; None where none begins."""
        start, line = self.at, self.line
        assignments: list[Assignment] = []
        words: list[Word | Assignment] = []
        redirections: list[Redirection] = []
        declares = False
        end = start
        while True:
            self.blank()
            redirection = self.redirection()
            if redirection is not None:
                redirections.append(redirection)
                end = self.at
                continue
            if not words or declares:
                assignment = self._assignment(declares)
                if assignment is not None:
                    (words if words else assignments).append(assignment)
                    end = self.at
                    continue
            word = self.word()
            if word is None:
                break
            words.append(word)
            if len(words) == 1 or (declares and len(words) == 2):
                declares = declares or word.plain in _DECLARES
            end = self.at
        if not (assignments or words or redirections):
            if self.at < len(self.text):
                self.unexpected()
            return None
        if words and self.text.startswith("(", self.at):
            # The shell has taken the parenthesis for that of a function; what follows it is what is wrong.
            self.at += 1
            self.blank()
            if self.at >= len(self.text):
                self.fail("near unexpected token `newline'")
            self.unexpected()
        source = self.text[start:end]
        return Simple(tuple(assignments), tuple(words), tuple(redirections), source, line)

    def _assignment(self, declares: bool) -> Assignment | None:
        match = _ASSIGNED.match(self.text, self.at)
        if match is None:
            return None
        start, subscript = self.at, None
        at = match.end()
        operator = match[2]
        if operator == "[":
            end = closing(self.text, at, "]")
            rest = re.compile(r"\+?=").match(self.text, end + 1) if end > 0 else None
            if rest is None:
                return None
            subscript = self.arithmetic(self.text[at:end])
            operator, at = rest[0], rest.end()
        self.at = at
        value: Word | Elements
        if self.text.startswith("(", at):
            value = self._elements()
        else:
            value = self.word() or Word((), "", "")
        return Assignment(match[1], subscript, operator == "+=", value, self.text[start : self.at])

    def _elements(self) -> Elements:
        self.at += 1
        items: list[tuple[Word | None, Word]] = []
        while True:
            self.newlines()
            if self.at >= len(self.text):
                self.unended(")")
            if self.text[self.at] == ")":
                self.at += 1
                return Elements(tuple(items))
            subscript = None
            if self.text[self.at] == "[":
                end = closing(self.text, self.at + 1, "]")
                if end > 0 and self.text.startswith("=", end + 1):
                    subscript = self.arithmetic(self.text[self.at + 1 : end])
                    self.at = end + 2
                    items.append((subscript, self.word() or Word((), "", "")))
                    continue
            word = self.word()
            if word is None:
                self.unexpected()
            items.append((subscript, word))

    def redirection(self) -> Redirection | None:
        """The redirection here, if there is one."""
        match = _REDIRECTED.match(self.text, self.at)
        if match is None:
            return None
        number, operator = match.groups()
        self.at = match.end()
        self.blank()
        if operator in ("<<", "<<-"):
            return self._here(number, operator)
        start = self.at
        target = self.word()
        if target is None:
            self.at = start
            self.unexpected()
        variable = number[1:-1] if number.startswith("{") else ""
        descriptor = int(number[:6]) if number.isdecimal() else None
        return Redirection(operator, descriptor, target, variable)

    def _here(self, number: str, operator: str) -> Redirection:
        start = self.at
        word = self.word()
        if word is None:
            self.unexpected()
        source = self.text[start : self.at]
        quoted = any(mark in source for mark in "'\"\\")
        end = re.sub(r"['\"\\]", "", source)
        made = Redirection("<<", int(number[:6]) if number.isdecimal() else None, Word((), "", ""))
        self._documents.append((end, operator == "<<-", quoted, made))
        return made
