"""Regular expressions in Go's syntax, which RE2 reads: linear time whatever the pattern, with Go's complaints."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import re2

from sregym_env.telemetry.logql.errors import QueryError

_LONGEST = 5120
"""Characters in a pattern at most: no query is longer."""

_MEMORY = 2 * 1024 * 1024
"""Bytes that a compiled pattern may take."""

_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "trailing \\": "trailing backslash at end of expression",
}
"""Where RE2's words for what is wrong differ from those of Go's ``regexp/syntax``."""


_LITERAL = re.compile(r"[A-Za-z0-9 _/:=,;\"'@#%&-]+")
"""What stands for itself in a pattern."""


_HEAVY = 100_000
"""Instructions times groups from which on an expression's groups are not looked for: RE2 would need seconds for a line."""


@lru_cache(maxsize=128)
def compiled(pattern: str | bytes, capturing: bool = True) -> Any:
    """A pattern ready to match anywhere in a text. Raises QueryError with Go's words.

    One that is not ``capturing`` tells whether it matches, and nothing of its groups.
    """
    if len(pattern) > _LONGEST:
        raise QueryError("error parsing regexp: expression too large")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    options.never_capture = not capturing
    try:
        found = re2.compile(pattern, options)
        if capturing and found.programsize * (found.groups + 1) > _HEAVY:
            raise QueryError("error parsing regexp: expression too large")
        return found
    except re2.error as error:
        raw = error.args[0] if error.args else ""
        said = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    raise QueryError(f"error parsing regexp: {_in_go(said, str(pattern))}")


def anchored(pattern: str) -> Any:
    """A pattern that must match the whole of a text, as matchers of labels do. Raises QueryError."""
    compiled(pattern, capturing=False)
    return compiled(f"^(?s:{pattern})$", capturing=False)


def finder(pattern: str) -> Callable[[str], bool]:
    """Whether a text holds a match, for many texts: RE2 is asked only about those that hold what must be there."""
    compiled(pattern, capturing=False)
    # Places of matches are of no interest, and RE2 finds bytes at half the cost of characters.
    search = compiled(pattern.encode("utf-8", "replace"), capturing=False).search
    literal = _beginning(pattern)
    if literal:
        return lambda text: literal in text and search(text.encode("utf-8", "replace")) is not None
    return lambda text: search(text.encode("utf-8", "replace")) is not None


def _beginning(pattern: str) -> str:
    """Characters with which every match begins; empty where that is not plain to see."""
    found = _LITERAL.match(pattern)
    if found is None or "|" in pattern:
        return ""
    # What a repeat follows may be missing.
    return found[0][:-1] if pattern[found.end() : found.end() + 1] in ("*", "?", "{") else found[0]


def _in_go(said: str, pattern: str) -> str:
    problem, _, detail = said.partition(": ")
    if problem.startswith("trailing"):
        problem, detail = "trailing \\", ""
    if problem in ("missing )", "unexpected )"):
        detail = pattern
    return f"{_WORDS.get(problem, problem)}: `{detail}`"
