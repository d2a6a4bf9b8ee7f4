"""Playing on a real cluster: ``SREGymEnv(..., backend=LiveBackend("path/to/kubeconfig"))``."""

from __future__ import annotations

from contextlib import suppress

from sregym_env.cluster import deploy, oncall
from sregym_env.cluster.api import World
from sregym_env.cluster.app import App
from sregym_env.errors import AppError, ClusterError
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.live.clock import Clock, WallClock
from sregym_env.live.connection import Connection
from sregym_env.live.telemetry import Addresses
from sregym_env.live.world import LiveWorld

GONE_SECONDS = 300.0
"""How long the application of the last episode may take to go."""

SERVED_SECONDS = 300.0
"""How long users may take to be served after everything is available."""

WINDOW_SECONDS = 60.0
"""How long they are watched before the application is believed to be healthy: the oracle's baseline looks back so far."""


class LiveBackend:
    """One cluster, by kubeconfig, on which one episode at a time is played.

    Every episode finds the application deployed anew: its namespaces are deleted and created again. Whoever the
    kubeconfig belongs to must be allowed everything, impersonation included; the agent is not.
    """

    def __init__(
        self,
        kubeconfig: str = "",
        *,
        context: str = "",
        clock: Clock | None = None,
        telemetry: Addresses | None = None,
    ) -> None:
        """By default the kubeconfig that kubectl would take, the clock on the wall, and no monitoring."""
        self._telemetry = telemetry
        self._kubeconfig = kubeconfig
        self._context = context
        self._clock = clock

    def deploy(self, app: App, seed: int) -> World:
        """The cluster with the application available and its users served. Raises ClusterError.

        The seed changes nothing here: a real cluster cannot be told its chance.
        """
        world = LiveWorld(
            app, Connection.of(self._kubeconfig, self._context), self._clock or WallClock(), self._telemetry
        )
        _clear(world)
        for manifest in (oncall.ROLE, oncall.BINDING):
            _ensure(world, manifest)
        deploy.deploy(world)
        _await_users(world)
        return world


def _clear(world: World) -> None:
    """Delete what is left of an earlier deployment, and wait until it is gone."""
    namespaces = [m["metadata"]["name"] for m in world.app.manifests if m["kind"] == "Namespace"]
    for name in namespaces:
        with suppress(StatusError):
            world.cluster.delete("namespaces", name)
    waited = 0.0
    while left := [
        n for n in namespaces if any(o["metadata"]["name"] == n for o in world.cluster.list("namespaces"))
    ]:
        if waited >= GONE_SECONDS:
            raise ClusterError(
                f"namespace {left[0]} of an earlier episode is still there after {waited:.0f} s"
            )
        world.advance(deploy.LOOK_SECONDS)
        waited += deploy.LOOK_SECONDS
    for manifest in world.app.manifests:
        kind = world.cluster.registry.by_kind(manifest["apiVersion"], manifest["kind"])
        if kind is not None and not kind.namespaced and kind.plural != "namespaces":
            with suppress(StatusError):
                world.cluster.delete(kind.key, manifest["metadata"]["name"])


def _ensure(world: World, manifest: Manifest) -> None:
    """Make sure that an object is there and is as it should be."""
    kind = world.cluster.registry.by_kind(manifest["apiVersion"], manifest["kind"])
    assert kind is not None, manifest["kind"]
    try:
        world.cluster.create(manifest)
    except StatusError as error:
        if error.reason != "AlreadyExists":
            raise
        world.cluster.patch(kind.key, manifest["metadata"]["name"], manifest, type="merge")


def _await_users(world: World) -> None:
    """Wait until every journey is served, and then for a whole window of that. Raises AppError."""
    waited = 0.0
    while True:
        world.advance(WINDOW_SECONDS)
        waited += WINDOW_SECONDS
        slo, fares = world.app.slo, world.traffic.health(WINDOW_SECONDS)
        failing = [j for j in fares if not j.requests or j.success_ratio < slo.of(j.journey).success_ratio]
        if not failing:
            return
        if waited >= SERVED_SECONDS:
            why = "; ".join(f"{j.journey}: {next(iter(j.errors), 'no requests')}" for j in failing[:3])
            raise AppError(f"the users of {world.app.name} are not served after {waited:.0f} s: {why}")
