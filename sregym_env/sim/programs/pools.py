"""Whose pools of connections lead to a server: found out from the settings of clients and from where these lead, where somebody looks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from sregym_env.sim.network.connections import connect
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.services.peers import Peer, only
from sregym_env.sim.programs.services.settings import ServiceSettings
from sregym_env.sim.programs.services.steps import Ask, LookAside, Step, Together, When
from sregym_env.sim.world.history import Load, history
from sregym_env.sim.world.process import Process


class Client(NamedTuple):
    """A process that has a pool of connections to a server."""

    process: Process
    peer: Peer
    """The server, as the process knows it."""
    settings: ServiceSettings


def clients(server: ProcessContext, drivers: Collection[str]) -> Iterator[Client]:
    """The processes with one of some client libraries that are up and whose settings lead to a server."""
    world = server.world
    for process in world.processes.values():
        image = world.images.get(process.image)
        binary = None if image is None else image.binaries.get(process.binary)
        settings = None if binary is None else binary.settings
        if not isinstance(settings, ServiceSettings) or not process.listening:
            continue
        for peer in settings.peers:
            host, port = only(ProcessContext(world, process), peer) if peer.driver in drivers else ("", 0)
            if not host:
                continue
            legs = connect(world, process, host, port, kept=True).legs
            if any(leg.outcome == "ok" and leg.process == server.process.key for leg in legs):
                yield Client(process, peer, settings)


def asked(client: Client) -> list[Ask]:
    """What a client's operations ask of the server, each kind once, in the order of its operations."""
    found: dict[tuple[str, str], Ask] = {}
    for handler in client.settings.handlers:
        for ask in _asks(handler.steps):
            if ask.peer == client.peer.name:
                found.setdefault((ask.operation, ask.of), ask)
    return list(found.values())


def _asks(steps: tuple[Step, ...]) -> Iterator[Ask]:
    for step in steps:
        if isinstance(step, Ask):
            yield step
        elif isinstance(step, LookAside):
            yield step.cache
            yield from _asks(step.miss)
        elif isinstance(step, Together):
            for branch in step.branches:
                yield from _asks(branch)
        elif isinstance(step, When):
            yield from _asks(step.steps)


def load(server: ProcessContext) -> Load | None:
    """What a server carries now; None where nobody asks it for anything."""
    last = history(server.world).last()
    run = server.process.key, server.process.restart
    return next(
        (each for each in (() if last is None else last.loads) if (each.process, each.restart) == run), None
    )


def present(server: ProcessContext) -> dict[str, float]:
    """Requests per second that clients send it now, by operation, sorted."""
    found = load(server)
    return {} if found is None else {name: rate for name, rate in sorted(found.rates) if rate > 0.0}
