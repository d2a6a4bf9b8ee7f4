"""The call graph that services' steps say: who needs whom, when, and through whom a request goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sregym_env.sim.programs.services.asides import Flagged
from sregym_env.sim.programs.services.settings import ServiceSettings
from sregym_env.sim.programs.services.steps import Ask, LookAside, Reach, Step, Together, When


@dataclass(frozen=True, slots=True)
class Need:
    """One service's need of another."""

    on: str
    at_start: bool = False
    at_request: bool = False
    essential: bool = False
    """Whether a request fails without it."""
    cached: bool = True
    """Whether it is only asked where a cache does not know."""


def _asks(steps: tuple[Step, ...], missed: bool = False) -> Iterator[tuple[Ask, bool]]:
    """Every request that steps make to a peer, and whether only after a miss."""
    for step in steps:
        match step:
            case Ask():
                yield step, missed
            case LookAside(cache, miss):
                yield cache, missed
                yield from _asks(miss, True)
            case Together(branches):
                for branch in branches:
                    yield from _asks(branch, missed)
            case When() | Flagged():
                pass


def asked(settings: ServiceSettings) -> tuple[str, ...]:
    """Everybody whom a service asks at the start or with any request, each once."""
    starts = [step.peer for step in settings.start if isinstance(step, Reach)]
    found = [ask.peer for handler in settings.handlers for ask, _ in _asks(handler.steps)]
    return tuple(dict.fromkeys((*starts, *found)))


def calls(settings: ServiceSettings, operation: str) -> tuple[Ask, ...]:
    """What an operation asks of others, as often as it does, where it cannot do without and no cache knows."""
    handler = settings.handler(operation)
    asks = _asks(handler.steps) if handler is not None else ()
    return tuple(ask for ask, missed in asks if not missed and ask.lost.then != "ignore")


def reached(services: Mapping[str, ServiceSettings], entry: str, operation: str) -> dict[str, set[str]]:
    """Operations that a request cannot do without, by whom it asks for them; the entry first."""
    found: dict[str, set[str]] = {}
    frontier = [(entry, operation)]
    while frontier:
        name, asked = frontier.pop(0)
        if asked in found.setdefault(name, set()):
            continue
        found[name].add(asked)
        settings = services.get(name)
        handler = None if settings is None else settings.handler(asked)
        if handler is not None:
            asks = (ask for ask, _ in _asks(handler.steps) if ask.lost.then != "ignore")
            frontier.extend((ask.peer, ask.operation) for ask in asks)
    return found


def needs(settings: ServiceSettings, operations: set[str]) -> tuple[Need, ...]:
    """Whom a service needs to start, and to serve these operations; in the order of its peers."""
    found: dict[str, Need] = {}
    for step in settings.start:
        if isinstance(step, Reach):
            found[step.peer] = Need(step.peer, at_start=True, essential=True)
    for operation in sorted(operations):
        handler = settings.handler(operation)
        for ask, missed in _asks(handler.steps if handler else ()):
            known = found.get(ask.peer, Need(ask.peer))
            found[ask.peer] = Need(
                ask.peer,
                known.at_start,
                True,
                known.essential or ask.lost.then != "ignore",
                known.cached and missed,
            )
    return tuple(found[peer.name] for peer in settings.peers if peer.name in found)
