"""Worlds in which an application is deployed, settled and serving: made once, forked for every episode.

Bringing a cluster and an application up takes tens of milliseconds; forking the result takes a fraction of
one. A small number of settled worlds per application differ in names, addresses, placement and timing; the
seed picks one and drives everything that happens from then on.
"""

from __future__ import annotations

from contextlib import suppress

from sregym_env.cluster.api import World
from sregym_env.cluster.app import App
from sregym_env.errors import AppError
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import DAY, EPOCH, HOUR
from sregym_env.sim import bootstrap
from sregym_env.sim.assembly import MACHINERY
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs.registry import PROGRAMS
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

DEFINITION_LIMIT = 30.0
"""Seconds of virtual time in which a custom resource definition must be served."""

_clusters: dict[int, EmbeddedWorld] = {}
_settled: dict[tuple[str, int], tuple[App, EmbeddedWorld]] = {}


def bare_cluster(variant: int = 0) -> EmbeddedWorld:
    """A fresh fork of an embedded cluster with its system pods running and nothing deployed."""
    known = _clusters.get(variant)
    if known is None:
        images = {image.reference: image for image in SYSTEM_IMAGES}
        # Negative seeds are never played: an episode that drew the same numbers again would make objects
        # with UIDs that exist.
        known = EmbeddedWorld(-1 - variant, start=EPOCH - CLUSTER_AGE, machinery=MACHINERY, images=images)
        bootstrap.populate(known)
        known.run_until(EPOCH)
        _clusters[variant] = known
    return known.fork()


def deployed_world(app: App, seed: int = 0) -> EmbeddedWorld:
    """A world with ``app`` healthy and under load, different for every seed. Raises AppError."""
    variant = seed % VARIANTS
    known = _settled.get((app.name, variant))
    if known is None or known[0] is not app:
        known = (app, _deploy(app, variant))
        _settled[(app.name, variant)] = known
    world = known[1].fork()
    world.reseed(seed)
    return world


def _deploy(app: App, variant: int) -> EmbeddedWorld:
    world = bare_cluster(variant)
    _check_programs(app)
    world.app = app
    for manifest in app.manifests:
        _create(world, app, manifest)
    world.advance(5.0)
    waited = 5.0
    while unavailable := [name for space in app.namespaces for name in unavailable_workloads(world, space)]:
        if waited > DEPLOY_LIMIT:
            raise AppError(
                f"application {app.name} is not available after {waited:.0f} s: {', '.join(unavailable)}; correct "
                f"its manifests and images. Its pods say: {'; '.join(_complaints(world, app)) or 'nothing'}"
            )
        world.advance(5.0)
        waited += 5.0
    world.advance(120.0)
    world.run_until(EPOCH + APP_AGE)
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


def _create(world: EmbeddedWorld, app: App, manifest: Manifest) -> None:
    """Apply one manifest; objects of a kind that is being defined wait for it to be served."""
    try:
        made = world.cluster.create(manifest)
    except StatusError as error:
        metadata = manifest["metadata"]
        raise AppError(
            f"application {app.name}: {manifest['kind']} {metadata['name']} is refused: {error}; correct the manifest"
        ) from error
    waited = 0.0
    while made["kind"] == "CustomResourceDefinition" and not _is_served(made):
        if waited >= DEFINITION_LIMIT:
            name = made["metadata"]["name"]
            raise AppError(
                f"application {app.name}: {name} is not served after {waited:.0f} s; see its conditions"
            )
        world.advance(1.0)
        waited += 1.0
        made = world.cluster.get("customresourcedefinitions.apiextensions.k8s.io", made["metadata"]["name"])


_MOST_COMPLAINTS = 5


def _complaints(world: World, app: App) -> list[str]:
    """What pods that are not ready wait for, and the last lines that they wrote."""
    found = []
    for pod in [pod for namespace in app.namespaces for pod in world.cluster.list("pods", namespace)]:
        name, namespace, status = pod["metadata"]["name"], pod["metadata"]["namespace"], pod.get("status", {})
        conditions = {c["type"]: c for c in status.get("conditions") or ()}
        if conditions.get("Ready", {}).get("status") == "True" or status.get("phase") == "Succeeded":
            continue
        states = [c.get("state", {}) for c in status.get("containerStatuses") or ()]
        reasons = [s["waiting"].get("reason", "") for s in states if "waiting" in s]
        said = [conditions.get("PodScheduled", {}).get("message", ""), *reasons]
        with suppress(StatusError):
            said.append(world.cluster.logs(namespace, name, tail=1).strip())
        found.append(f"{name}: {', '.join(filter(None, said)) or status.get('phase', 'Pending')}")
    return found[:_MOST_COMPLAINTS]


def _is_served(definition: Manifest) -> bool:
    conditions = definition.get("status", {}).get("conditions") or ()
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


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
