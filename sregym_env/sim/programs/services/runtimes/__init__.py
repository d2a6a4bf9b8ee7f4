"""The languages: how what is written in them logs, fails and stops. One file each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sregym_env.sim.dataplane.network import Collector
from sregym_env.sim.programs.services.steps import Level

__all__ = ["Runtime"]


class Runtime(Protocol):
    """How a service's language behaves."""

    @property
    def stops(self) -> tuple[float, int]:
        """On SIGTERM: seconds until it exits, and its exit code."""
        ...

    @property
    def at_rest(self) -> float:
        """Cores that it uses while nobody asks."""
        ...

    @property
    def per_step(self) -> float:
        """CPU seconds that a request to a peer costs itself: serialisation, the socket."""
        ...

    def collector(self, env: Mapping[str, str], memory: int) -> Collector | None:
        """Its garbage collector, where the environment makes it work so hard that it counts; ``memory`` is the resident
        memory at rest, bytes."""
        ...

    def line(self, level: Level, where: str, text: str) -> str:
        """One line of its logger, with a placeholder for the time (:func:`~sregym_env.sim.world.logs.stamped`)."""
        ...

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """Whether lines of a level are written."""
        ...

    def panic(self, where: str, text: str, operation: str) -> str:
        """What is printed when the process dies of an error, with placeholders for the time; ``operation`` is the one
        that was served, if any."""
        ...

    @property
    def panics(self) -> int:
        """The exit code then."""
        ...

    @property
    def slip(self) -> str:
        """What it says of a programming error: a value that is used and was never set."""
        ...

    @property
    def unset(self) -> str:
        """What it says where no port is set."""
        ...

    def taken(self, port: int) -> str:
        """What it says where a port is in use."""
        ...
