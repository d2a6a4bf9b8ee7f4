"""Patterns of literals and captures: ``<ip> - <_> "<method> <path>"``.

The parser ``| pattern`` takes what stands at captures, the filters ``|>`` and ``!>`` ask whether a line has this
shape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from sregym_env.telemetry.logql.labels import is_label_name

_CAPTURE = re.compile(r"<([a-zA-Z_][a-zA-Z0-9_]*)>")


class PatternError(ValueError):
    """A pattern that makes no sense; the text is Loki's."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Literals and captures in turn; a capture is a name between angle brackets, ``_`` for one without a name."""

    parts: tuple[tuple[bool, str], ...]
    """(whether it is a capture, its name or the literal)."""

    def captures(self, line: str) -> list[tuple[str, str]]:
        """Names and what stood there; where a literal is missing, the capture before it takes the rest."""
        found: list[tuple[str, str]] = []
        if not line:
            return found
        at, parts = 0, self.parts
        if not parts[0][0]:
            literal = parts[0][1]
            if not line.startswith(literal):
                return found
            at, parts = len(literal), parts[1:]
        for index in range(0, len(parts), 2):
            name = parts[index][1]
            literal = parts[index + 1][1] if index + 1 < len(parts) else ""
            end = line.find(literal, at) if literal else len(line)
            value = line[at:] if end < 0 else line[at:end]
            if name != "_":
                found.append((name, value))
            if end < 0:
                break
            at = end + len(literal)
        return found

    def fits(self, line: str) -> bool:
        """Whether a line has this shape, to its end."""
        if not line or not self.parts:
            return len(line) == len(self.parts)
        at = 0
        for index, (capture, literal) in enumerate(self.parts):
            if capture:
                continue
            found = line.find(literal, at)
            # A capture takes at least one character; what stands before a literal at the beginning does not matter.
            if found < 0 or (index and found == at):
                return False
            at = found + len(literal)
        return self.parts[-1][0] == (at != len(line))


def _parts(text: str) -> tuple[tuple[bool, str], ...]:
    parts: list[tuple[bool, str]] = []
    at = 0
    for found in _CAPTURE.finditer(text):
        if found.start() > at:
            parts.append((False, text[at : found.start()]))
        parts.append((True, found[1]))
        at = found.end()
    if at < len(text):
        parts.append((False, text[at:]))
    return tuple(parts)


def _check_consecutive(parts: tuple[tuple[bool, str], ...]) -> None:
    for (capture, _), (following, _) in pairwise(parts):
        if capture and following:
            raise PatternError("found consecutive capture: invalid expression")


@lru_cache(maxsize=256)
def parse_pattern(text: str) -> Pattern:
    """The pattern of ``| pattern``. Raises PatternError."""
    parts = _parts(text)
    names = [name for capture, name in parts if capture and name != "_"]
    if not names:
        raise PatternError("at least one capture is required")
    _check_consecutive(parts)
    for name in names:
        if names.count(name) > 1:
            raise PatternError(f"duplicate capture name ({name}): invalid expression")
        if not is_label_name(name):
            raise PatternError(f"invalid capture label name '{name}'")
    return Pattern(parts)


@lru_cache(maxsize=256)
def line_pattern(text: str) -> Pattern:
    """The pattern of ``|>`` and ``!>``. Raises PatternError."""
    parts = _parts(text)
    if any(capture and name != "_" for capture, name in parts):
        raise PatternError("named captures are not allowed")
    _check_consecutive(parts)
    return Pattern(parts)
