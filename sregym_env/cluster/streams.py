"""What passes over a connection to a container's standard streams."""

from __future__ import annotations

from typing import NamedTuple


class Attached(NamedTuple):
    """What a container's main process has written, as somebody sees it who is attached."""

    text: str
    running: bool
    """Whether the process still runs and may write more."""
    cursor: int
    """Where the next look begins."""
