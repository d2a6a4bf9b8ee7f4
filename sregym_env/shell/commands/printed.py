"""What a program prints, in the order in which it does."""

from __future__ import annotations

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.crowds import joined


class Printed:
    """Collects output and errors of one program."""

    __slots__ = ("chunks", "code")

    def __init__(self) -> None:
        self.chunks: list[tuple[int, str]] = []
        self.code = 0

    def out(self, text: str) -> None:
        """Write to standard output."""
        if text:
            self.chunks.append((1, text))

    def err(self, text: str, code: int = 1) -> None:
        """Write to standard error; the program fails with a code."""
        self.chunks.append((2, text))
        self.code = code

    def result(self, code: int | None = None) -> ExecResult:
        """What was printed, and the exit code."""
        chunks = self.chunks
        stdout = joined([text for descriptor, text in chunks if descriptor == 1])
        stderr = "".join([text for descriptor, text in chunks if descriptor == 2])
        both = bool(stdout) and bool(stderr)
        return ExecResult(stdout, stderr, self.code if code is None else code, tuple(chunks) if both else ())
