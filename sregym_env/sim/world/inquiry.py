"""What was looked at while something about the world was found out.

Most of what happens in a cluster changes little: an answer that has cost much to find still holds as long as
everything that was read for it still says the same. Whoever wants to remember an answer opens an :class:`Inquiry`;
whatever reads the world on the way notes what it has read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Read = tuple[tuple[str, Any], Any]
"""Something that was read of a world: by which reader and of what, and what it said."""

Settling = tuple[Any, ...]
"""What an evaluation leaves in the state of a process, a moment later."""


@dataclass(slots=True)
class Inquiry:
    """What was read, and what was left behind, while an answer was being found."""

    reads: dict[tuple[str, Any], Read] = field(default_factory=dict)
    """By their first halves."""
    settling: list[Settling] = field(default_factory=list)
    """What the evaluation would have changed: whoever uses the answer, changes it."""
    fleeting: bool = False
    """Whether chance, or something that nobody notes, had a part in it: the answer is good for once."""
    chanced: bool = False
    """Whether chance had."""
