"""POSIX regular expressions, basic and extended with GNU's additions, in the words of the matcher."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from sregym_env.shell import patterns

CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "space": r" \t\n\r\f\v",
    "blank": r" \t",
    "upper": "A-Z",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9A-Fa-f",
    "print": " -~",
    "graph": "!-~",
    "cntrl": r"\x00-\x1f\x7f",
}
"""Members of ``[:name:]`` in the C locale, as written inside brackets."""

_KEPT = frozenset("wWsSbB")
_SPELLED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_INTERVAL = re.compile(r"(\d*)(,?)(\d*)")
_LARGEST_REPEAT = 1000


_SHORT_ENOUGH = (100_000, 2_000, 200)
"""Longest text, by the number of unbounded repeats, that the backtracking matcher may see: it is quicker than
the linear one on such texts, and its worst case (length to the power of repeats + 1) stays near a millisecond."""


class Expression:
    """A compiled expression: the linear matcher, or Python's where that cannot run long."""

    __slots__ = ("_linear", "_longest", "_quick", "groups")

    def __init__(self, quick: Any, linear: Any, repeats: int) -> None:
        self._quick = quick
        self._linear = linear
        self._longest = _SHORT_ENOUGH[repeats] if repeats < len(_SHORT_ENOUGH) else -1
        self.groups: int = quick.groups

    def search(self, text: str, position: int = 0) -> Any:
        """The first match, or None."""
        if len(text) <= self._longest:
            return self._quick.search(text, position)
        return self._linear.search(text, position)

    def finditer(self, text: str) -> Any:
        """All matches, none overlapping."""
        return (self._quick if len(text) <= self._longest else self._linear).finditer(text)


@lru_cache(maxsize=2048)
def compiled(
    source: str,
    *,
    extended: bool,
    fold: bool = False,
    escapes: bool = False,
    bracket_escapes: bool = False,
) -> Expression:
    """A compiled POSIX expression. ``fold`` ignores case; ``escapes``: ``\\n``, ``\\t`` stand for characters.

    ``bracket_escapes``: a backslash escapes inside brackets too. ``.`` matches every character,
    as in ``sed``. Raises ``re.error`` for an expression that is wrong.
    """
    written = _Translation(source, extended, escapes, bracket_escapes)
    flags = (re.IGNORECASE if fold else 0) | re.DOTALL
    compiled_linear = patterns.compiled(written.run("$"), flags)
    repeats = len(_SHORT_ENOUGH) if written.nested else written.unbounded
    if repeats >= len(_SHORT_ENOUGH):
        return Expression(compiled_linear, compiled_linear, repeats)
    again = _Translation(source, extended, escapes, bracket_escapes)
    # Python's `$` would match before a last newline too, and its `\w` beyond ASCII; RE2's do neither.
    return Expression(re.compile(again.run(r"\Z"), flags | re.ASCII), compiled_linear, repeats)


def translated(source: str, *, extended: bool, escapes: bool = False, bracket_escapes: bool = False) -> str:
    """The expression as the linear matcher writes it. Raises ``re.error``."""
    return _Translation(source, extended, escapes, bracket_escapes).run("$")


class _Translation:
    """One walk over an expression."""

    def __init__(self, source: str, extended: bool, escapes: bool, bracket_escapes: bool) -> None:
        self._source = source
        self._extended = extended
        self._escapes = escapes
        self._bracket_escapes = bracket_escapes
        self._at = 0
        self._out: list[str] = []
        self._atom: int | None = None
        """Where in ``_out`` the expression begins that a repeat would apply to."""
        self._repeated = False
        self._groups: list[int] = []
        self._count = 0
        self._end = "$"
        self.unbounded = 0
        """Repeats without an upper bound."""
        self.nested = False
        """Whether a group is repeated, or matched again."""

    def run(self, end: str) -> str:
        """The whole translation; ``end`` is what stands for the end of the text."""
        self._end = end
        source, length = self._source, len(self._source)
        while self._at < length:
            char = source[self._at]
            if char == "\\":
                self._backslash()
            elif char == "[":
                self._literal(self._bracket())
            elif char == "*":
                self._at += 1
                self._repeat("*", "*")
            elif char == ".":
                self._at += 1
                self._literal(".")
            elif char == "^" and self._starts():
                self._anchor("^")
            elif char == "$" and self._ends():
                self._anchor(self._end)
            elif self._extended and char in "(){}|+?":
                self._special(char)
            else:
                self._at += 1
                self._literal(re.escape(char))
        if self._groups:
            raise re.error("Unmatched ( or \\(")
        return "".join(self._out)

    def _literal(self, text: str) -> None:
        self._atom, self._repeated = len(self._out), False
        self._out.append(text)

    def _anchor(self, text: str) -> None:
        self._at += 1
        self._atom = None
        self._out.append(text)

    def _starts(self) -> bool:
        return self._extended or self._at == 0 or bool(self._out and self._out[-1] in ("(", "|"))

    def _ends(self) -> bool:
        rest = self._source[self._at + 1 :]
        return self._extended or not rest or rest.startswith(("\\)", "\\|"))

    def _repeat(self, operator: str, plain: str) -> None:
        if self._atom is None:
            # A repeat of nothing: GNU takes it literally in basic expressions and drops it in extended ones.
            if not self._extended:
                self._literal(re.escape(plain))
            return
        if self._repeated:
            # A repeat of a repeat would mean something else to the matcher.
            self.nested = True
            self._out[self._atom :] = ["(?:" + "".join(self._out[self._atom :]) + ")"]
        if operator != "?":
            self.unbounded += 1
            self.nested = self.nested or self._out[self._atom] == "("
        self._out.append(operator)
        self._repeated = True

    def _interval(self, closing: str) -> None:
        match = _INTERVAL.match(self._source, self._at)
        assert match is not None
        low, comma, high = match.groups()
        if not self._source.startswith(closing, match.end()) or not (low or comma):
            if self._extended:
                self._literal(re.escape("{"))
                return
            raise re.error("Invalid content of \\{\\}")
        if max(int(low or 0), int(high or 0)) > _LARGEST_REPEAT:
            raise re.error("Regular expression too big")
        if high and int(high) < int(low or 0):
            raise re.error("Invalid content of \\{\\}")
        self._at = match.end() + len(closing)
        self._repeat(f"{{{low or 0}{comma}{high}}}", "{")

    def _special(self, char: str) -> None:
        self._at += 1
        if char == "(":
            self._open()
        elif char == ")":
            if self._groups:
                self._close()
            elif self._extended:
                self._literal(r"\)")
        elif char == "|":
            self._out.append("|")
            self._atom = None
        elif char == "{":
            self._interval("}" if self._extended else "\\}")
        elif char == "}":
            self._literal(r"\}")
        else:
            self._repeat(char, char)

    def _open(self) -> None:
        self._groups.append(len(self._out))
        self._count += 1
        self._out.append("(")
        self._atom = None

    def _close(self) -> None:
        start = self._groups.pop()
        self._out.append(")")
        self._atom, self._repeated = start, False

    def _backslash(self) -> None:
        if self._at + 1 >= len(self._source):
            raise re.error("Trailing backslash")
        char = self._source[self._at + 1]
        self._at += 2
        if not self._extended and char in "(){}|+?":
            if char == ")" and not self._groups:
                raise re.error("Unmatched ) or \\)")
            self._special_basic(char)
        elif char in "<>":
            self._out.append(r"\b")
            self._atom = None
        elif char in "bB":
            self._out.append("\\" + char)
            self._atom = None
        elif char in _KEPT:
            self._literal("\\" + char)
        elif char == "`" or char == "'":
            self._out.append("^" if char == "`" else self._end)
            self._atom = None
        elif char in "123456789":
            if int(char) > self._count:
                raise re.error("Invalid back reference")
            self.nested = True
            self._literal(f"(?:\\{char})")
        elif self._escapes and char in _SPELLED:
            self._literal(re.escape(_SPELLED[char]))
        else:
            self._literal(re.escape(char))

    def _special_basic(self, char: str) -> None:
        if char == "}":
            self._literal(r"\}")
            return
        self._at -= 1
        self._special(char)

    def _bracket(self) -> str:
        """Read a bracket expression and give its translation."""
        source, at = self._source, self._at + 1
        out = ["["]
        if source.startswith("^", at):
            out.append("^")
            at += 1
        first = True
        while True:
            if at >= len(source):
                raise re.error("Unmatched [, [^, [:, [., or [=")
            char = source[at]
            if char == "]" and not first:
                break
            first = False
            if char == "[" and source[at + 1 : at + 2] in (":", ".", "="):
                mark = source[at + 1]
                end = source.find(mark + "]", at + 2)
                if end < 0:
                    raise re.error("Unmatched [, [^, [:, [., or [=")
                name = source[at + 2 : end]
                if mark == ":":
                    if name not in CLASSES:
                        raise re.error("Invalid character class name")
                    out.append(CLASSES[name])
                else:
                    out.append(_inside(name))
                at = end + 2
                continue
            if char == "\\":
                following = source[at + 1 : at + 2]
                if self._bracket_escapes and following:
                    out.append(_inside(_SPELLED.get(following, following)))
                    at += 2
                    continue
                if self._escapes and following in _SPELLED:
                    out.append(_inside(_SPELLED[following]))
                    at += 2
                    continue
            # A hyphen between two members makes a range; the matcher reads it the same way.
            follows = source[at + 1 : at + 2]
            ranged = char == "-" and len(out) > 1 and out[-1] != "^" and follows not in ("]", "")
            out.append("-" if ranged else _inside(char))
            at += 1
        self._at = at + 1
        out.append("]")
        return "".join(out)


def _inside(text: str) -> str:
    """Characters as members of a bracket expression."""
    return "".join(f"\\{char}" if char in "\\[]^-&~|" else char for char in text)
