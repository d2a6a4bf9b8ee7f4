"""The language of ``sed``: a script as a list of commands (POSIX with GNU's additions)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sregym_env.shell.commands.posix import compiled

Address = tuple[Any, ...]
"""``("line", n)``, ``("last",)``, ``("regex", pattern)``, ``("step", first, step)``, ``("plus", n)``, ``("multiple", n)``."""

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}


class SedError(Exception):
    """A script that cannot be read or run."""


@dataclass(slots=True)
class Command:
    """One command: what it applies to and what it does."""

    name: str
    first: Address | None = None
    second: Address | None = None
    negated: bool = False
    text: str = ""
    """The text of ``a``, ``i``, ``c``; the label of ``b``, ``t``, ``T``; the file of ``r``, ``w``."""
    pattern: Any = None
    replacement: tuple[tuple[str, Any], ...] = ()
    count: int = 1
    everywhere: bool = False
    prints: bool = False
    file: str = ""
    table: dict[int, str] = field(default_factory=dict)
    target: int = 0
    """Where a block ends or a label is; the exit code of ``q`` and ``Q``."""


@lru_cache(maxsize=512)
def parsed(script: str, extended: bool) -> tuple[Command, ...]:
    """A script's commands; blocks and branches know where they lead. Raises SedError or ``re.error``."""
    return _Reader(script, extended).commands()


class _Reader:
    def __init__(self, script: str, extended: bool) -> None:
        self._script = script
        self._extended = extended
        self._at = 0
        self._found: list[Command] = []

    def _fail(self, text: str) -> SedError:
        return SedError(f"-e expression #1, char {self._at}: {text}")

    def commands(self) -> tuple[Command, ...]:
        """Read the whole script."""
        blocks: list[int] = []
        labels: dict[str, int] = {}
        while True:
            self._blank("; \t\n")
            if self._at >= len(self._script):
                break
            if self._peek() == "#":
                self._line()
                continue
            command = self._addresses()
            self._blank(" \t")
            command.name = self._take()
            if not command.name:
                raise self._fail("missing command")
            if command.name == "}":
                if not blocks:
                    raise self._fail("unexpected `}'")
                self._found[blocks.pop()].target = len(self._found)
                self._close()
                continue
            if command.name == ":":
                if command.first is not None:
                    raise self._fail(": doesn't want any addresses")
                label = self._label()
                if not label:
                    raise self._fail('":" lacks a label')
                labels[label] = len(self._found)
                continue
            if command.name == "{":
                blocks.append(len(self._found))
            else:
                self._rest(command)
            self._found.append(command)
        if blocks:
            raise SedError("-e expression #1, char 0: unmatched `{'")
        for command in self._found:
            if command.name in "btT":
                if command.text and command.text not in labels:
                    raise SedError(
                        f"-e expression #1, char {len(self._script)}: can't find label for jump to `{command.text}'"
                    )
                command.target = labels[command.text] if command.text else len(self._found)
        return tuple(self._found)

    # --- characters ---

    def _peek(self) -> str:
        return self._script[self._at : self._at + 1]

    def _take(self) -> str:
        char = self._peek()
        self._at += len(char)
        return char

    def _blank(self, chars: str) -> None:
        while self._peek() and self._peek() in chars:
            self._at += 1

    def _line(self) -> str:
        end = self._script.find("\n", self._at)
        end = len(self._script) if end < 0 else end
        text = self._script[self._at : end]
        self._at = end + 1
        return text

    def _number(self) -> int:
        start = self._at
        while self._peek().isdigit():
            self._at += 1
        return int(self._script[start : self._at][:9])

    def _label(self) -> str:
        self._blank(" \t")
        start = self._at
        while self._peek() and self._peek() not in ";\n}" and not self._peek().isspace():
            self._at += 1
        return self._script[start : self._at]

    def _close(self) -> None:
        self._blank(" \t")
        if self._peek() in ("", "}", "#"):
            return
        if self._take() not in (";", "\n"):
            raise self._fail("extra characters after command")

    # --- parts ---

    def _addresses(self) -> Command:
        command = Command("")
        command.first = self._address(False)
        if command.first is not None:
            self._blank(" \t")
            if self._peek() == ",":
                self._at += 1
                self._blank(" \t")
                command.second = self._address(True)
                if command.second is None:
                    raise self._fail("unexpected `,'")
        self._blank(" \t")
        while self._peek() == "!":
            command.negated = True
            self._at += 1
            self._blank(" \t!")
        return command

    def _address(self, second: bool) -> Address | None:
        char = self._peek()
        if char.isdigit():
            number = self._number()
            if self._peek() == "~" and not second:
                self._at += 1
                return ("step", number, self._number() if self._peek().isdigit() else 0)
            return ("line", number)
        if char == "$":
            self._at += 1
            return ("last",)
        if second and char and char in "+~":
            self._at += 1
            if not self._peek().isdigit():
                raise self._fail("expected number")
            return ("plus" if char == "+" else "multiple", self._number())
        if char not in ("/", "\\") or not char:
            return None
        self._at += 1
        mark = "/" if char == "/" else self._take()
        source = self._delimited(mark, "unterminated address regex")
        fold = False
        while self._peek() and self._peek() in "IM":
            fold = fold or self._take() == "I"
        return ("regex", self._regex(source, fold))

    def _regex(self, source: str, fold: bool) -> Any:
        if not source:
            return None
        try:
            return compiled(source, extended=self._extended, fold=fold, escapes=True)
        except re.error as error:
            raise self._fail(str(error)) from error

    def _delimited(self, mark: str, missing: str, *, regex: bool = True) -> str:
        """The text up to ``mark``; an escaped mark stands for itself, and brackets hide it."""
        out: list[str] = []
        while True:
            char = self._take()
            if char == "" or (char == "\n" and regex and missing.startswith("unterminated address")):
                raise self._fail(missing)
            if char == mark:
                return "".join(out)
            if char == "\\":
                following = self._take()
                if following == mark:
                    # A mark that is special in expressions loses that meaning when it is escaped.
                    out.append(
                        following if not regex or following not in "|+?(){}.*[]^$" else f"\\{following}"
                    )
                else:
                    out.append(char + following)
            elif char == "[" and regex:
                end = _bracket_end(self._script, self._at)
                if end < 0:
                    out.append(char)
                else:
                    out.append(char + self._script[self._at : end])
                    self._at = end
            else:
                out.append(char)

    def _rest(self, command: Command) -> None:
        name = command.name
        if name == "s":
            self._substitute(command)
        elif name == "y":
            self._transliterate(command)
        elif name in "aic":
            command.text = self._text()
            return
        elif name in "rRwW":
            self._blank(" \t")
            command.text = self._line()
            if not command.text:
                raise self._fail("missing filename in r/R/w/W commands")
            return
        elif name in "btT":
            command.text = self._label()
        elif name in "qQlL":
            self._blank(" \t")
            command.target = self._number() if self._peek().isdigit() else 0
        elif name not in "=dDgGhHnNpPxzF":
            raise self._fail(f"unknown command: `{name}'")
        self._close()

    def _text(self) -> str:
        self._blank(" \t")
        if self._peek() == "\\":
            self._at += 1
            self._blank(" \t")
            if self._peek() == "\n":
                self._at += 1
        if self._at >= len(self._script):
            raise self._fail("expected \\ after `a', `c' or `i'")
        out: list[str] = []
        while self._at < len(self._script):
            char = self._take()
            if char == "\\":
                following = self._take()
                out.append(_ESCAPES.get(following, following) if following != "n" else "n")
            elif char == "\n":
                break
            else:
                out.append(char)
        return "".join(out) + "\n"

    def _transliterate(self, command: Command) -> None:
        mark = self._take()
        source = _plain(self._delimited(mark, "unterminated `y' command", regex=False))
        target = _plain(self._delimited(mark, "unterminated `y' command", regex=False))
        if len(source) != len(target):
            raise self._fail("strings for `y' command are different lengths")
        command.table = {ord(a): b for a, b in zip(source, target, strict=True)}

    def _substitute(self, command: Command) -> None:
        mark = self._take()
        if mark in ("", "\n", "\\"):
            raise self._fail("unterminated `s' command")
        source = self._delimited(mark, "unterminated `s' command")
        form = self._delimited_form(mark)
        fold = False
        while True:
            char = self._peek()
            if char.isdigit():
                command.count = self._number()
                if command.count == 0:
                    raise self._fail("number option to `s' command may not be zero")
                continue
            if not char or char not in "gpiIMmew":
                break
            self._at += 1
            command.everywhere |= char == "g"
            command.prints |= char == "p"
            fold |= char in "iI"
            if char == "e":
                raise self._fail("e/r/w commands disabled in sandbox mode")
            if char == "w":
                self._blank(" \t")
                command.file = self._line()
                self._at -= 1
                break
        if self._peek() not in ("", ";", "\n", "}", "#", " ", "\t"):
            raise self._fail("unknown option to `s'")
        command.pattern = self._regex(source, fold)
        command.replacement = _replacement(form)
        groups = getattr(command.pattern, "groups", 9)
        for kind, value in command.replacement:
            if kind == "group" and value > groups:
                raise self._fail(f"invalid reference \\{value} on `s' command's RHS")

    def _delimited_form(self, mark: str) -> str:
        out: list[str] = []
        while True:
            char = self._take()
            if char == "":
                raise self._fail("unterminated `s' command")
            if char == mark:
                return "".join(out)
            if char == "\\":
                following = self._take()
                out.append(("\\&" if mark == "&" else following) if following == mark else char + following)
            else:
                out.append(char)


def _bracket_end(script: str, at: int) -> int:
    """Just after the bracket expression whose opening is before ``at``; -1 where it never ends."""
    if script.startswith("^", at):
        at += 1
    if script.startswith("]", at):
        at += 1
    while at < len(script) and script[at] != "]":
        if script[at] == "\n":
            return -1
        if script[at] == "[" and script[at + 1 : at + 2] in (":", ".", "="):
            end = script.find(script[at + 1] + "]", at + 2)
            if end < 0:
                return -1
            at = end + 1
        at += 1
    return at + 1 if at < len(script) else -1


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text, flags=re.DOTALL)


def _replacement(form: str) -> tuple[tuple[str, Any], ...]:
    """A replacement as parts: ``("text", s)``, ``("group", n)``, ``("case", letter)``."""
    parts: list[tuple[str, Any]] = []
    plain: list[str] = []

    def flush() -> None:
        if plain:
            parts.append(("text", "".join(plain)))
            plain.clear()

    index = 0
    while index < len(form):
        char = form[index]
        index += 1
        if char == "&":
            flush()
            parts.append(("group", 0))
            continue
        if char != "\\" or index >= len(form):
            plain.append(char)
            continue
        following = form[index]
        index += 1
        if following.isdigit():
            flush()
            parts.append(("group", int(following)))
        elif following in "ULulE":
            flush()
            parts.append(("case", following))
        else:
            plain.append(_ESCAPES.get(following, following))
    flush()
    return tuple(parts)
