"""What a shortcut is: a declared policy, what it knows, and the command lines it types."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Literal

from sregym_env.cluster.app import App
from sregym_env.kube.types import Manifest

Group = Literal["blind", "reading", "diagnosis", "combination", "runbook"]
"""``blind``: what is printed changes nothing about what it does; ``reading``: it acts on figures that it reads, and
repairs; ``diagnosis``: it hands in words and repairs nothing; ``combination``: all of that together; ``runbook``: it compares what is not well with what
that was, and says which kind of cause mostly changes such a field: the least that deserves to be called looking."""

GROUPS: tuple[Group, ...] = ("blind", "reading", "diagnosis", "combination", "runbook")

Script = Generator[str, str, None]
"""Command lines; what each printed comes back. The repair is handed in when it ends."""

SETTLE = "sleep 300"
"""How a script waits for what it did to take effect: the longest back-off of a container."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A healthy world of the same pair under another seed, as somebody would remember it."""

    app: App
    """The application as it was drawn there."""
    objects: tuple[Manifest, ...]
    """Its objects, and those of the system's namespaces, without what servers fill in."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a policy knows before it begins."""

    app: App
    """The application as it is published: manifests, images, accounts."""
    elsewhere: Elsewhere | None = None
    """Remembered from another world; only for those that ask for it."""

    @property
    def namespace(self) -> str:
        """Where the application lives, as the briefing tells."""
        return self.app.namespace


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A policy that does not understand what it does."""

    name: str
    group: Group
    knows: str
    """What it knows and does, in a sentence."""
    script: Callable[[Knowledge], Script]
    remembers: bool = False
    """Whether it needs :attr:`Knowledge.elsewhere`."""
