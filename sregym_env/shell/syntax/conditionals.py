"""Reads the tests of ``[[ ]]``."""

from __future__ import annotations

import re
from typing import NoReturn

from sregym_env.shell.syntax.tree import (
    Both,
    Condition,
    Conditional,
    Literal,
    Not,
    Test,
    Word,
)
from sregym_env.shell.syntax.words import WordReader

_UNARY = frozenset("-a -b -c -d -e -f -g -h -k -n -o -p -r -s -t -u -v -w -x -z -G -L -N -O -R -S".split())
_BINARY = frozenset("= == != =~ < > -eq -ne -lt -le -gt -ge -nt -ot -ef".split())
_WHITE = re.compile(r"(?:[ \t\r\n]|\\\n|#[^\n]*)+")


class ConditionReader(WordReader):
    """Reads tests, up to the brackets that close them."""

    def conditional(self) -> Conditional:
        """The test of a ``[[``, up to its ``]]``."""
        condition = self._either()
        self._white()
        if not self.text.startswith("]]", self.at):
            self._wrong_test()
        self.at += 2
        return Conditional(condition)

    def _wrong_test(self) -> NoReturn:
        if self.at >= len(self.text):
            self.unended("]]")
        self.fail(f"in conditional expression near `{self.text[self.at : self.at + 20].split()[0]}'")

    def _white(self) -> None:
        match = _WHITE.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        if self.at >= len(self.text):
            self.unended("]]")

    def _either(self) -> Condition:
        left = self._all()
        self._white()
        if self.text.startswith("||", self.at):
            self.at += 2
            return Both(left, self._either(), either=True)
        return left

    def _all(self) -> Condition:
        left = self._term()
        self._white()
        if self.text.startswith("&&", self.at):
            self.at += 2
            return Both(left, self._all(), either=False)
        return left

    def _term(self) -> Condition:
        self._white()
        self.deeper()
        try:
            if re.compile(r"!\s").match(self.text, self.at):
                self.at += 1
                return Not(self._term())
            if self.text.startswith("(", self.at):
                self.at += 1
                inner = self._either()
                self._white()
                if not self.text.startswith(")", self.at):
                    self._wrong_test()
                self.at += 1
                return inner
            return self._test()
        finally:
            self.depth -= 1

    def _test(self) -> Test:
        left = self.word(groups=True)
        if left is None or left.source == "]]":
            self._wrong_test()
        self._white()
        if left.source in _UNARY and not self.text.startswith(("]]", "&&", "||", ")"), self.at):
            start = self.at
            operand = self.word(groups=True)
            if operand is not None and operand.source not in _BINARY:
                return Test(left.source, operand)
            self.at = start
        operator = next((o for o in ("<", ">") if self.text.startswith(o, self.at)), "")
        if not operator:
            start = self.at
            found = self.word(groups=True)
            if found is None or found.source not in _BINARY:
                self.at = start
                return Test("", left)
            operator = found.source
        else:
            self.at += 1
        self._white()
        right = self._expression() if operator == "=~" else self.word(groups=True)
        if right is None:
            self._wrong_test()
        return Test(operator, left, right)

    def _expression(self) -> Word | None:
        """The regular expression of ``=~``: parentheses and bars are its own."""
        start, depth, parts = self.at, 0, list[object]()
        text = self.text
        collected: list[Word] = []
        while self.at < len(text):
            char = text[self.at]
            if char in " \t\n" and not depth:
                break
            if char == ")" and not depth:
                break
            if char in "()|<>&;" or char in " \t\n":
                if char in "&|" and not depth and text.startswith(char * 2, self.at):
                    break
                depth += {"(": 1, ")": -1}.get(char, 0)
                parts.append(Literal(char))
                self.at += 1
                continue
            if char == "[":
                # Up to the end of the set, blanks in it included.
                end = re.compile(r"\[\^?\]?(?:\[:\w+:\]|[^\]])*\]").match(text, self.at)
                if end is not None and not any(mark in end[0] for mark in "$`'\"\\"):
                    parts.append(Literal(end[0]))
                    self.at = end.end()
                    continue
            word = self.word()
            if word is None:
                break
            collected.append(word)
            parts.extend(word.parts)
        if self.at == start:
            return None
        return Word(tuple(parts), text[start : self.at])  # type: ignore[arg-type]
