"""Worlds in which an application is deployed, settled and serving: made once, forked for every episode.

Bringing a cluster and an application up takes tens of milliseconds; forking the result takes a fraction of
one. A small number of settled worlds per application differ in names, addresses, placement and timing; the
seed picks one and drives everything that happens from then on.
"""

from __future__ import annotations

from sregym_env.cluster.app import App
from sregym_env.runtime.clock import DAY, EPOCH, HOUR
from sregym_env.sim.bringup import populate
from sregym_env.sim.bringup.assembly import MACHINERY
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs.system_images import SYSTEM_IMAGES
from sregym_env.sim.world import SimWorld

VARIANTS = 8
"""Settled worlds kept per application."""

CLUSTER_AGE = 41 * DAY
"""How long the cluster has existed when the application is deployed."""

APP_AGE = 5 * HOUR
"""How long the application has served when an episode begins: its start-up events have expired."""

DEPLOY_LIMIT = 900.0
"""Seconds of virtual time in which an application must become available."""

# Worlds are values here: made of (app, variant) alone, so that threads that make one at once make equal ones.
_clusters: dict[int, EmbeddedWorld] = {}
_settled: dict[tuple[str, int], tuple[App, EmbeddedWorld]] = {}


class DeployError(RuntimeError):
    """An application did not become available: its declaration or the simulation is wrong."""


def bare_cluster(variant: int = 0) -> EmbeddedWorld:
    """A fresh fork of an embedded cluster with its system pods running and nothing deployed."""
    known = _clusters.get(variant)
    if known is None:
        images = {image.reference: image for image in SYSTEM_IMAGES}
        # Negative seeds are never played: an episode that drew the same numbers again would make objects
        # with UIDs that exist.
        known = EmbeddedWorld(-1 - variant, start=EPOCH - CLUSTER_AGE, machinery=MACHINERY, images=images)
        populate.populate(known)
        known.run_until(EPOCH)
        # What is kept is a fork that nobody ever writes to, so that forking it changes nothing in it, in any thread.
        known = _clusters[variant] = known.fork()
    return known.fork()


def deployed_world(app: App, seed: int = 0) -> EmbeddedWorld:
    """A world with ``app`` healthy and under load, different for every seed. Raises DeployError."""
    variant = seed % VARIANTS
    known = _settled.get((app.name, variant))
    if known is None or known[0] is not app:
        known = _settled[(app.name, variant)] = (app, _deploy(app, variant).fork())
    world = known[1].fork()
    world.reseed(seed)
    return world


def _deploy(app: App, variant: int) -> EmbeddedWorld:
    world = bare_cluster(variant)
    world.app = app
    cluster = world.cluster
    for manifest in app.manifests:
        cluster.create(manifest)
    world.advance(5.0)
    waited = 5.0
    while unavailable := unavailable_workloads(world, app.namespace):
        if waited > DEPLOY_LIMIT:
            raise DeployError(f"{app.name} is not available after {waited:.0f} s: {', '.join(unavailable)}")
        world.advance(5.0)
        waited += 5.0
    world.advance(120.0)
    world.run_until(EPOCH + APP_AGE)
    return world


def unavailable_workloads(world: SimWorld, namespace: str) -> list[str]:
    """Names of the Deployments, StatefulSets and DaemonSets of a namespace that are not fully available."""
    found = []
    for resource in ("deployments.apps", "statefulsets.apps"):
        for obj in world.store.list(resource, namespace):
            status = obj.get("status", {})
            observed = status.get("observedGeneration", 0) == obj["metadata"]["generation"]
            if not observed or status.get("availableReplicas", 0) < obj["spec"].get("replicas", 1):
                found.append(obj["metadata"]["name"])
    for obj in world.store.list("daemonsets.apps", namespace):
        status = obj.get("status", {})
        if status.get("numberAvailable", 0) < status.get("desiredNumberScheduled", 1):
            found.append(obj["metadata"]["name"])
    return found
