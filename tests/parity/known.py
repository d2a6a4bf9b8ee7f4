"""Command lines on which the two are known to differ, with the reason.

A line that is listed here and comes out equal fails the replay: it is to be removed from the list.
"""

from __future__ import annotations

from tests.parity.harness import Case

REASONS: dict[str, str] = {}
"""What is behind the differences, by a short name; docs/limits.md says the same."""

KNOWN: dict[str, dict[str, str]] = {}
"""State to command line (with what went before) to the short name of the reason."""


def reason(state: str, case: Case) -> str | None:
    """Why this line is not expected to be equal, None when it is."""
    name = KNOWN.get(state, {}).get(str(case))
    return None if name is None else REASONS[name]
