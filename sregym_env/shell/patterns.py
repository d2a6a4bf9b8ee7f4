"""Regular expressions that a hostile pattern cannot hang: RE2 in the place of Python's ``re``.

``grep``, ``sed``, ``awk``, ``jq``, ``find`` and ``[[ =~ ]]`` take their patterns from the
agent. Python's matcher backtracks, so ``(a+)+$`` against a short line would run for years; RE2 takes linear
time. Patterns that RE2 has no words for (back-references, look-around) go to Python's matcher if they nest no
unbounded repeats, and are refused otherwise.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Any

import re2

from sregym_env.runtime import effort

STEP_EFFORT = 0.01
MOST_EFFORT = 2_000_000.0
"""What a step of the backtracking matcher costs, and what it may cost at the very worst (``runtime/effort.py``)."""

_LONGEST = 20_000
"""Characters in a pattern at most."""


_NAMED = re.compile(r"\(\?<(?=[A-Za-z_])")
"""How jq and Perl begin a named group; Python and RE2 write ``(?P<``."""


COMPILING_EFFORT = 250.0
READING_EFFORT = 8.0
"""What it costs to make a pattern ready, and a character of it (``runtime/effort.py``)."""


def count(pattern: str) -> None:
    """Count what it costs to make a pattern ready that a program has put together. Raises EffortExceeded."""
    effort.once(f"pattern {pattern}", COMPILING_EFFORT + READING_EFFORT * len(pattern))


@lru_cache(maxsize=2048)
def compiled(pattern: str, flags: int = 0) -> Any:
    """A pattern ready to match. Raises ``re.error`` for one that is wrong or could run without end."""
    if len(pattern) > _LONGEST:
        raise re.error("regular expression is too big")
    pattern = _NAMED.sub("(?P<", pattern)
    # Always, so that what is a pattern does not depend on which matcher runs in the end.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # what an agent types is no concern of ours
        checked = re.compile(pattern, flags)
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not flags & re.IGNORECASE
    options.dot_nl = bool(flags & re.DOTALL)
    # RE2's own option for lines works in its POSIX syntax only.
    written = f"(?m){pattern}" if flags & re.MULTILINE else pattern
    try:
        # RE2 has no verbose patterns.
        if not flags & re.VERBOSE:
            return re2.compile(written, options)
    except re2.error:
        pass
    if not _BEYOND.search(pattern):
        raise re.error("Regular expression too big")
    if _nests_repeats(pattern):
        raise re.error("regular expression is too complex")
    return Backtracking(checked, len(_QUANTIFIER.findall(pattern)))


_BEYOND = re.compile(r"\\[1-9]|\(\?(?:[=!>]|<[=!]|P=|\()|[*+?}]\+")
"""What RE2 has no words for: back-references, look-around, atomic groups and possessive repeats."""
_QUANTIFIER = re.compile(r"(?<!\\)(?:[*+]|\{)")
_REPEATED_GROUP = re.compile(r"\((?!\?[=!<])((?:[^()\\]|\\.)*)\)\s*(?:[*+]|\{)")


def _nests_repeats(pattern: str) -> bool:
    """Whether a group that repeats holds something that repeats, or a choice: what backtracks without end."""
    if any(
        _QUANTIFIER.search(found) or "|" in found or "?" in found
        for found in _REPEATED_GROUP.findall(pattern)
    ):
        return True
    # Groups within groups are not looked into: none of them may repeat.
    if re.search(r"\([^()]*\(.*\)\s*[*+{]", pattern):
        return True
    return len(_QUANTIFIER.findall(pattern)) > 8


class Backtracking:
    """A pattern that only Python's matcher understands, kept from texts on which that takes long."""

    __slots__ = ("_pattern", "_power")

    def __init__(self, pattern: re.Pattern[str], repeats: int) -> None:
        self._pattern = pattern
        self._power = min(repeats + 1, 4)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)

    def _check(self, text: str) -> None:
        """Raises ``re.error`` for a text that is too long for this pattern, in PCRE's words."""
        worst = STEP_EFFORT * float(len(text)) ** self._power
        if worst > MOST_EFFORT:
            raise re.error("exceeded PCRE's backtracking limit")
        effort.spend(min(worst, MOST_EFFORT / 10))

    def search(self, text: str, position: int = 0) -> Any:
        """The first match, or None."""
        self._check(text)
        return self._pattern.search(text, position)

    def match(self, text: str, position: int = 0) -> Any:
        """A match at the beginning, or None."""
        self._check(text)
        return self._pattern.match(text, position)

    def fullmatch(self, text: str) -> Any:
        """A match of the whole text, or None."""
        self._check(text)
        return self._pattern.fullmatch(text)

    def finditer(self, text: str, position: int = 0) -> Any:
        """All matches, none overlapping."""
        self._check(text)
        return self._pattern.finditer(text, position)

    def sub(self, replacement: Any, text: str, count: int = 0) -> str:
        """The text with its matches replaced."""
        self._check(text)
        return self._pattern.sub(replacement, text, count)

    def split(self, text: str) -> Any:
        """The pieces between matches."""
        self._check(text)
        return self._pattern.split(text)
