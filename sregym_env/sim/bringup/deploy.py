"""Worlds in which an application is deployed as published, settled and serving: made once, forked for every episode.

Bringing a cluster and an application up takes tens of milliseconds; forking the result takes a fraction of
one. A small number of settled worlds per application differ in names, addresses, placement and timing; the
seed picks one and drives everything that happens from then on.
"""

from __future__ import annotations

from dataclasses import replace

from sregym_env.cluster.app import App
from sregym_env.cluster.deploy import deploy
from sregym_env.errors import AppError
from sregym_env.runtime.clock import HOUR
from sregym_env.sim.bringup import observability
from sregym_env.sim.bringup.plan import PUBLISHED, cluster_of
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs.registry import PROGRAMS

VARIANTS = 8
"""Settled worlds kept per application."""

APP_AGE = 5 * HOUR
"""How long the application has served when an episode begins: its start-up events have expired."""

# Worlds are values here: made of (app, variant) alone, so that threads that make one at once make equal ones.
_clusters: dict[int, EmbeddedWorld] = {}
_settled: dict[tuple[str, int], tuple[App, EmbeddedWorld]] = {}


def bare_cluster(variant: int = 0) -> EmbeddedWorld:
    """A fresh fork of an embedded cluster with its system pods running and nothing deployed."""
    known = _clusters.get(variant)
    if known is None:
        # Negative seeds are never played: an episode that drew the same numbers again would make objects
        # with UIDs that exist.
        known = cluster_of(PUBLISHED, -1 - variant)
        known.run_until(PUBLISHED.present)
        # What is kept is a fork that nobody ever writes to, so that forking it changes nothing in it, in any thread.
        known = _clusters[variant] = known.fork()
    return known.fork()


def deployed_world(app: App, seed: int = 0, present: int | None = None) -> EmbeddedWorld:
    """A world with ``app`` healthy and under load, different for every seed. Raises AppError.

    It ends at ``present``, if that is given, in a cluster that is otherwise the published one; it is kept for nobody.
    """
    variant = seed % VARIANTS
    if present is not None:
        world = _deploy(app, _cluster_at(present - APP_AGE, variant))
        world.reseed(seed)
        return world
    known = _settled.get((app.name, variant))
    # Another application may have the same name.
    if known is None or known[0] is not app:
        known = _settled[(app.name, variant)] = (app, _deploy(app, bare_cluster(variant)).fork())
    world = known[1].fork()
    world.reseed(seed)
    return world


def _cluster_at(instant: int, variant: int) -> EmbeddedWorld:
    """A bare cluster of the published kind at another instant."""
    shift = instant - PUBLISHED.present
    # With a key of its own: the published cluster's certificates hold around its own present only.
    plan = replace(PUBLISHED, born=PUBLISHED.born + shift, present=instant, key="elsewhen")
    world = cluster_of(plan, -1 - variant)
    world.run_until(instant)
    return world


def _deploy(app: App, world: EmbeddedWorld) -> EmbeddedWorld:
    _check_programs(app)
    deployed = world.now()
    world.app = app
    deploy(world)
    world.advance(120.0)
    # After the application, whose addresses and machines are as published whatever else there is.
    for manifest in observability.manifests(app.namespaces, node_port=observability.NODE_PORT):
        world.cluster.create(manifest)
    world.run_until(deployed + APP_AGE)
    return world


def _check_programs(app: App) -> None:
    """Raise AppError for programs that clash with ours, and for binaries that run a program nobody knows."""
    own = {program.name for program in app.programs}
    if clash := sorted(own & PROGRAMS.keys()):
        raise AppError(
            f"application {app.name} brings a program called {clash[0]!r}, which there is; rename its own"
        )
    for image in app.images:
        for name, binary in image.binaries.items():
            if binary.program not in own and binary.program not in PROGRAMS:
                raise AppError(
                    f"application {app.name}: {name} in image {image.reference} runs the program "
                    f"{binary.program!r}, which there is not; list it in the programs of the application"
                )
