"""A problem that has been set up, and what an engineer who knows the answer would do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

from sregym_env.cluster.api import World
from sregym_env.cluster.app import App
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.baseline import Baseline
from sregym_env.rewards.oracle import Cause
from sregym_env.tools.call import ToolOutcome


class Workstation(Protocol):
    """Where the agent's command lines run."""

    seed: int
    """From which ``$RANDOM`` is drawn."""

    def run(self, line: str, allowed: int = ...) -> ToolOutcome:
        """Run one command line, with so many commands that reach the world; virtual time passes in it."""
        ...

    def fork(self, world: Any) -> Self:
        """The same workstation in a forked world."""
        ...


class Injection(Protocol):
    """A fault that has happened."""

    def heal(self, world: World) -> None:
        """Take it back."""
        ...


@dataclass(frozen=True, slots=True)
class Solution:
    """How an engineer who knows the answer plays one fault."""

    investigation: tuple[str, ...]
    """Commands that look where the trouble is."""
    diagnosis: str
    remedies: tuple[tuple[str, ...], ...]
    """Alternative repairs, each a list of actions."""


@dataclass(frozen=True, slots=True)
class Staged:
    """A problem that has been set up: the fault is in, the symptoms show, nobody has acted yet."""

    task_id: str
    """Says which task it is without saying what is wrong."""
    episode_id: str
    app: App
    world: World
    baseline: Baseline
    specs: tuple[FaultSpec, ...]
    causes: tuple[Cause, ...]
    solutions: tuple[Solution, ...]
    problem_json: Mapping[str, Any]
    """The problem as plain JSON: ground truth."""
    workstation: Workstation
    spared: tuple[str, ...] = ()
    """Components that noise leaves alone."""
    injections: tuple[Injection, ...] = ()
    """What must be taken back out of a world that goes on, in the order in which it happened."""
