"""What only a world has that is a value: it can be copied, kept, compared, and told what comes later.

A real cluster has none of this. Staging, tools, noise and grading ask :func:`forkable` and do without where the
answer is None; only caches, search and the checks of the embedded backend may demand it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self, cast

from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import Disturbance
from sregym_env.errors import UsageError


@dataclass(frozen=True, slots=True)
class ScheduledAction:
    """A deferred change from outside the cluster: data, so that worlds can be forked with it pending."""

    kind: Literal["apply", "heal", "delete_pod"]
    disturbance: Disturbance | None = None
    arguments: tuple[Any, ...] = ()
    """For ``delete_pod``: (namespace, pod)."""
    draw: float = 0.0
    """In [0, 1): picks the pod, in name order, when the action is due and names none."""
    seconds: float = 0.0
    """How long an applied disturbance lasts; 0 until something heals it."""
    spared: tuple[str, ...] = ()
    """Components none of whose pods is picked."""


class Forkable(World, Protocol):
    """A world that is a value."""

    def fork(self) -> Self:
        """An independent world with the same present and, given the same actions, the same future."""

    def trial(self) -> Self:
        """A fork that is only asked how objects, machines and users fare: logs, Normal events, Endpoints and metrics
        of it may be left out. What it is asked for is what a fork would say."""

    def reseed(self, seed: int) -> None:
        """From now on, chance is drawn from this seed."""

    def digest(self) -> str:
        """A hash of everything that can influence the future or be observed."""

    def watched_every(self, seconds: float) -> None:
        """From now on users and probes are looked at so often, at most, after changes; a second is usual. What runs is
        what would run: only when it is noticed is coarser."""

    def schedule(self, delay_seconds: float, action: ScheduledAction) -> None:
        """Let something outside the cluster happen later (a disturbance's begin or end)."""


def forkable(world: World) -> Forkable | None:
    """The world with its further powers, or None if it is not a value."""
    kind = type(world)
    # Written out, for it is asked at every reset: a loop over the names takes eight times as long.
    able = hasattr(kind, "fork") and hasattr(kind, "reseed") and hasattr(kind, "digest")
    return cast(Forkable, world) if able and hasattr(kind, "schedule") else None


def demanded(world: World) -> Forkable:
    """The world with its further powers. Raises UsageError if it is not a value."""
    found = forkable(world)
    if found is None:
        raise UsageError(
            "this world cannot be copied: only an embedded cluster can be forked, kept and restored"
        )
    return found
