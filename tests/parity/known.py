"""Command lines on which the two are known to differ, with the reason.

A line that is listed here and comes out equal in every state is to be removed from the list.
"""

from __future__ import annotations

from tests.parity.harness import Case

KNOWN: dict[str, str] = {}
"""By command line; those of docs/limits.md."""


def reason(case: Case) -> str | None:
    """Why this line is not expected to be equal, None when it is."""
    return KNOWN.get(case.line)
