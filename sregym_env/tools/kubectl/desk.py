"""The machine on which kubectl runs, as far as commands need more of it than to read manifests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sregym_env.cluster.streams import ExecResult


@dataclass(frozen=True, slots=True)
class Forward:
    """A local port behind which a port of a pod is (``port-forward``)."""

    namespace: str
    pod: str
    port: int
    uid: str = ""
    """Of the pod: another one of the same name is not reached."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """A local port behind which the API server is (``proxy``)."""

    prefix: str = "/"
    reject_methods: str = "^$"


Listener = Forward | Proxy


class Desk(Protocol):
    """Files that can be written, variables, programs to run, and ports to listen on."""

    def read_bytes(self, path: str) -> bytes:
        """Content of a file. Raises FileNotFoundError, IsADirectoryError."""
        ...

    def write_bytes(self, path: str, data: bytes) -> None:
        """Write a file. Raises OSError where that cannot be."""
        ...

    def make_directories(self, path: str) -> None:
        """Make sure that a directory exists."""
        ...

    def is_directory(self, path: str) -> bool:
        """Whether there is a directory at a path."""
        ...

    def walk(self, path: str) -> Sequence[tuple[str, bytes | None]]:
        """(path relative to the directory, content) of everything in it, sorted; None for directories."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        ...

    def variable(self, name: str) -> str:
        """An environment variable, empty where there is none."""
        ...

    def has(self, name: str) -> bool:
        """Whether there is a program of that name or path."""
        ...

    def execute(self, script: str) -> ExecResult:
        """Run a script with the shell of this machine."""
        ...

    def listen(self, port: int, listener: Listener) -> int:
        """Accept connections on a local port (0: any free one), while the command goes on; the port.

        Raises OSError when it is taken.
        """
        ...

    @property
    def detached(self) -> bool:
        """Whether the command runs in the background: it then returns at once and its ports stay open."""
        ...

    def close(self, port: int) -> None:
        """Stop accepting connections on a port."""
        ...
