"""Requests of the cluster's own components in a world where somebody judges requests.

What a person's request meets, the writes of controllers and kubelets meet as well. The calls here are made only
where a webhook or policy is configured, or a namespace is to be deleted.
"""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.api import Propagation
from sregym_env.cluster.identity import User
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.apiserver import admission, identities
from sregym_env.sim.apiserver.custom import resource_of
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.store import Change

AGAIN = 10 * SECOND
"""How long a component waits before it tries again to write a status (the kubelet's sync period)."""


_KUBELETS = ("kubelet", "")
"""Loops that are kubelets; they also act when nobody else does."""


def component(world: SimWorld, kind: Resource, obj: Manifest) -> User:
    """Who writes the status of an object: the kubelet of its machine, or a controller."""
    if kind.key == "pods":
        node = obj["spec"].get("nodeName", "")
        return (
            identities.node(node) if node and world.acting in _KUBELETS else identities.acting(world.acting)
        )
    if kind.key == "nodes" and world.acting in _KUBELETS:
        return identities.node(obj["metadata"]["name"])
    return identities.acting(world.acting)


def status(world: SimWorld, kind: Resource, new: Manifest, old: Manifest) -> Manifest:
    """An object whose status a component writes, as admission leaves it. Raises what a webhook or policy says."""
    request = admission.attributes_of("UPDATE", kind, old, component(world, kind, old), "status")
    found = admission.consult(world, request, new, old)
    return new if found is None else {**old, "status": found.get("status") or {}}


def asker(world: SimWorld, user: User) -> User:
    """Who makes a request that a part of the simulation makes without saying for whom."""
    return identities.acting(world.acting) if user is identities.SYSTEM else user


def look_again(world: SimWorld, resource: str, obj: Manifest) -> None:
    """Have everybody who follows an object look at it again after a while."""
    metadata = obj["metadata"]
    key = (metadata.get("namespace", ""), metadata["name"])
    world.wake_watchers(Change(world.store.revision, "ADDED", resource, key, None, obj), AGAIN)


def updated(world: SimWorld, kind: Resource, new: Manifest, old: Manifest) -> Manifest:
    """An object whose metadata a component changes, as admission leaves it."""
    request = admission.attributes_of("UPDATE", kind, old, identities.acting(world.acting))
    new = admission.mutate(world, request, new, old)
    admission.validate(world, request, new, old)
    return new


def binding(world: SimWorld, pod: Manifest, node: str) -> None:
    """Ask about the scheduler's choice of a machine for a pod. Raises what a webhook or policy says."""
    metadata = pod["metadata"]
    name, namespace = metadata["name"], metadata["namespace"]
    chosen = {
        "kind": "Binding",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace, "uid": metadata["uid"]},
        "target": {"kind": "Node", "name": node},
    }
    kind = resource_of(world, "pods")
    request = admission.Attributes(
        "CREATE", kind, namespace, name, identities.SCHEDULER, "binding", ("", "v1", "Binding")
    )
    admission.consult(world, request, chosen, None)


def deletion(
    world: SimWorld,
    kind: Resource,
    old: Manifest,
    user: User,
    grace: int | None,
    propagation: Propagation,
    *,
    dry_run: bool = False,
) -> None:
    """Ask about a deletion. Raises Forbidden and what a webhook or policy says."""
    options: dict[str, Any] = {} if grace is None else {"gracePeriodSeconds": grace}
    options["propagationPolicy"] = propagation
    request = admission.attributes_of(
        "DELETE", kind, old, asker(world, user), dry_run=dry_run, options=options
    )
    admission.consult(world, request, None, old)
