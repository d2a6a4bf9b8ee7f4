"""What commands write: the results of commands, and what passes over a connection to a container's streams."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

LONGEST_COMMAND = 3600.0
"""Seconds after which a command in a container is cut off that goes on waiting; kubelets cut off idle ones after four hours."""


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What a command in a container, or a tool, left behind."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    chunks: tuple[tuple[int, str], ...] = ()
    """What was written in which order, each piece with its descriptor (1 or 2), where both streams were used and
    the order is known."""
    cost: int = field(default=0, compare=False)
    """Commands that the shell which carried it out has run, for the account of a shell around it."""
    seconds: float = field(default=0.0, compare=False)
    """How long it took, as far as the world's clock has not moved for it."""

    @property
    def text(self) -> str:
        """Both streams as a person at a terminal would see them."""
        if self.chunks:
            return "".join(text for _, text in self.chunks)
        if self.stdout and self.stderr and not self.stdout.endswith("\n"):
            return f"{self.stdout}\n{self.stderr}"
        return self.stdout + self.stderr

    @property
    def pieces(self) -> tuple[tuple[int, str], ...]:
        """What was written, in order as far as that is known, each piece with its descriptor."""
        return self.chunks or tuple(piece for piece in ((1, self.stdout), (2, self.stderr)) if piece[1])

    def then(self, complaint: str, exit_code: int) -> ExecResult:
        """This, and an error after it."""
        chunks = (*self.pieces, (2, complaint)) if self.stdout else ()
        return ExecResult(self.stdout, self.stderr + complaint, exit_code, chunks, self.cost, self.seconds)


class Attached(NamedTuple):
    """What a container's main process has written, as somebody sees it who is attached."""

    text: str
    running: bool
    """Whether the process still runs and may write more."""
    cursor: int
    """Where the next look begins."""
