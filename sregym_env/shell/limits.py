"""What a session may use, and what is raised when it is too much."""

from __future__ import annotations

from dataclasses import dataclass


class LimitExceeded(Exception):
    """A script has used up something that is bounded; the text says what."""


class TimeExceeded(LimitExceeded):
    """A script has computed for too long; left alone it might go on for ever."""


class MemoryExceeded(LimitExceeded):
    """A script holds too much."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one ``run`` may use before it is cut short."""

    commands: int = 20_000
    """Commands, steps of loops included; a program counts for several."""
    loop_iterations: int = 10_000
    depth: int = 60
    """Functions, substitutions and shells within each other."""
    script_bytes: int = 256 * 1024
    output_bytes: int = 1024 * 1024
    """Characters of each stream that are shown."""
    variable_bytes: int = 1024 * 1024
    """Characters in one variable or one word."""
    words: int = 100_000
    """Words that one word may become."""
    moved_bytes: int = 48 * 1024 * 1024
    """Characters that all commands together may read and write."""


COSTS = {
    "sort": 25, "awk": 10, "sed": 10, "jq": 20, "grep": 3, "egrep": 3, "fgrep": 3, "diff": 20, "tr": 25, "uniq": 4, "join": 15,
    "column": 5, "comm": 5, "xargs": 5, "nl": 3, "od": 20, "fold": 4, "cut": 4, "rev": 4, "paste": 4, "bc": 3, "tac": 2,
}  # fmt: skip
"""How much more than to copy a character it costs a program to work on it."""

PROGRAM_COST = 3
"""Commands that one run of a program counts for, beside itself."""

COMMAND_EFFORT = 25.0
MOVING_EFFORT = 0.012
"""What a command costs, and a character that is moved (units of ``runtime/effort.py``)."""

SHORT = 1000
"""Characters of a script, a program or a pattern that cost nothing to read: their number is bounded by the commands."""

READING_COST = 250
"""How much more than to copy a character it costs to read one of a longer script, program, expression or pattern."""
