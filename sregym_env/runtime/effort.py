"""What one action may cost, counted in deterministic units of work: the same on every machine.

An action of an agent has an :class:`Effort`: an allowance for what its own tools compute, and one for what the world
does while it lasts. Whatever works on its behalf notes what that costs, and is stopped between two steps when the
allowance is used up, as a kernel kills a process that uses more than its share. Outside of :func:`bounded` (setting up
worlds, tests, servers) nothing is counted.

A unit is about a microsecond of the reference machine that the benchmark is calibrated to.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

OWN = 700_000.0
"""Units for what an action's own tools compute."""
WORLD = 3_200_000.0
"""Units for what the world does while an action lasts."""


class EffortExceeded(Exception):
    """An action has used up what it may cost; the text is what a shell says of a process that was killed."""

    def __init__(self) -> None:
        super().__init__("Killed")


class Effort:
    """What is left of the allowances of one action."""

    __slots__ = ("_given", "known", "own", "within", "world")

    def __init__(self, own: float = OWN, world: float = WORLD) -> None:
        self._given = own + world
        self.own = own
        self.world = world
        self.known: set[str] = set()
        """What has been counted once."""
        self.within = 0
        """Loops of the world's events that run now, within each other."""

    @property
    def used(self) -> float:
        """Units that have been counted."""
        return self._given - self.own - self.world


_present: ContextVar[Effort | None] = ContextVar("effort", default=None)


def present() -> Effort | None:
    """The effort of the action that is carried out now, if one is."""
    return _present.get()


def note(units: float) -> None:
    """Count work that cannot be stopped half-way."""
    effort = _present.get()
    if effort is not None:
        if effort.within:
            effort.world -= units
        else:
            effort.own -= units


def spend(units: float) -> None:
    """Count work of a tool. Raises EffortExceeded when the action has used up its allowance; never within the world's
    events, which are stopped between two of them."""
    effort = _present.get()
    if effort is None:
        return
    if effort.within:
        effort.world -= units
        return
    effort.own -= units
    if effort.own < 0:
        raise EffortExceeded


def once(key: str, units: float) -> None:
    """Count work of a tool whose result is kept, the first time that an action needs it: whether this process has kept it
    from another episode is nobody's business. Raises EffortExceeded."""
    effort = _present.get()
    if effort is not None and key not in effort.known:
        effort.known.add(key)
        spend(units)


def check() -> None:
    """Raises EffortExceeded when the action has used up one of its allowances; never within the world's events."""
    effort = _present.get()
    if effort is not None and not effort.within and (effort.own < 0 or effort.world < 0):
        raise EffortExceeded


@contextmanager
def bounded(own: float = OWN, world: float = WORLD) -> Iterator[Effort]:
    """Let the body cost no more than this."""
    effort = Effort(own, world)
    token = _present.set(effort)
    try:
        yield effort
    finally:
        _present.reset(token)
