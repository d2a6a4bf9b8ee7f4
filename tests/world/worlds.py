"""The implementations of a world, and what they are made of."""

from __future__ import annotations

from typing import Any

from sregym_env import apps
from sregym_env.cluster.app import App
from sregym_env.live.backend import LiveBackend
from sregym_env.live.connection import Connection
from sregym_env.live.world import LiveWorld
from sregym_env.serve.pace import Pace
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from tests.serve.serving import Served

APP: App = apps.app("hotel-reservation")
NAMESPACE = APP.namespace


class Still(Pace):
    """A served world's time that stands still however often somebody asks: only its clock moves it."""

    def asked(self, question: str) -> None:
        """Nothing."""


class ServedClock:
    """The clock of a served world, moved from outside: a second takes no time."""

    def __init__(self, served: Served) -> None:
        self._server = served.server

    def now(self) -> int:
        """The served world's time."""
        return self._server.on_loop(lambda: self._server.hosted.world.now())

    def sleep(self, seconds: float) -> None:
        """Let it pass."""

        def pass_() -> None:
            self._server.hosted.world.advance(seconds)
            self._server.hosted.announce()

        self._server.on_loop(pass_)


def put(served: Served, world: EmbeddedWorld) -> None:
    """Serve a world from now on, with its own timestamps."""
    pace = Still(world, "step")

    def exchange() -> None:
        served.server.hosted.pace = pace
        served.server.hosted.bell.ring()

    served.server.on_loop(exchange)


def over_http(served: Served, world: EmbeddedWorld) -> LiveWorld:
    """A world as a client of its API server knows it."""
    put(served, world)
    return LiveWorld(APP, Connection.of(str(served.kubeconfig)), ServedClock(served))


def empty_cluster() -> EmbeddedWorld:
    """A cluster in which nothing is deployed, but whose nodes can pull the application's images."""
    world = bare_cluster()
    world.app = APP
    return world


def backend(served: Served) -> LiveBackend:
    """Playing on a served cluster."""
    put(served, empty_cluster())
    return LiveBackend(str(served.kubeconfig), clock=ServedClock(served))


class Unforkable:
    """An embedded world that hides that it is a value: everything a world has, and nothing else."""

    def __init__(self, world: EmbeddedWorld) -> None:
        self._world = world

    app: Any = property(lambda self: self._world.app)
    cluster: Any = property(lambda self: self._world.cluster)
    nodes: Any = property(lambda self: self._world.nodes)
    traffic: Any = property(lambda self: self._world.traffic)
    telemetry: Any = property(lambda self: self._world.telemetry)

    def __getattr__(self, name: str) -> Any:
        if name not in ("alerts", "request", "now", "advance"):
            raise AttributeError(name)
        return getattr(self._world, name)
