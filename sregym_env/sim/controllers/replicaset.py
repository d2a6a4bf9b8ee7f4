"""The ReplicaSet and ReplicationController loops: as many pods as wanted, made in slow-starting batches, the least
useful deleted first.

Follows ``pkg/controller/replicaset`` of v1.32, which serves both kinds with the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sregym_env.kube import conditions
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.controllers import pods
from sregym_env.sim.controllers.ownership import (
    Selector,
    WakeOwner,
    claim,
    controlled,
    controller_of,
    reference,
    spec_selector,
)
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld, Wake
from sregym_env.sim.world.store import Change, Key

RESOURCE = "replicasets.apps"
COMPONENT = "replicaset-controller"
BURST = 500
"""At most so many pods are made or deleted in one go (BurstReplicas)."""


@dataclass(frozen=True, slots=True)
class _Loop:
    """What tells the two kinds apart."""

    resource: str
    api_version: str
    kind: str
    component: str
    selector: Callable[[Manifest], Selector]

    def reconcile(self, world: SimWorld, key: Key) -> int | None:
        """Bring one object to its number of replicas. Raises StatusError where a pod could not be made."""
        owner = world.store.get(self.resource, *key)
        if owner is None:
            return None
        claimed = claim(world, "pods", owner, self.api_version, self.kind, self.selector(owner))
        active = [pod for pod in claimed if pods.is_active(pod)]
        failure: StatusError | None = None
        missing = owner["spec"].get("replicas", 1) - len(active)
        if "deletionTimestamp" not in owner["metadata"]:
            if missing > 0:
                failure = self._create_pods(world, owner, missing)
            elif missing < 0:
                self._delete_pods(world, owner, active, -missing)
        status = _status(world, owner, active, missing, failure)
        apiserver.update_status(world, self.resource, *key, status)
        if failure is not None:
            raise failure
        min_ready = owner["spec"].get("minReadySeconds", 0)
        return pods.next_available(active, min_ready, world.now())

    def _create_pods(self, world: SimWorld, owner: Manifest, count: int) -> StatusError | None:
        metadata = owner["metadata"]
        pod = pods.from_template(
            owner["spec"]["template"],
            reference(owner, self.api_version, self.kind),
            generate_name=f"{metadata['name']}-",
            namespace=metadata["namespace"],
        )
        return slow_start(min(count, BURST), lambda: create_pod(world, owner, pod, self.component))

    def _delete_pods(self, world: SimWorld, owner: Manifest, active: list[Manifest], count: int) -> None:
        ranked = pods.in_deletion_order(active, _related(world, self.resource, owner))
        for pod in ranked[: min(count, BURST)]:
            delete_pod(world, owner, pod, self.component)

    def controller(self, name: str) -> Controller:
        """The control loop of this kind."""
        wake = WakeOwner(self.kind, self.resource, self.selector, pods.matters_to_owner)
        watches: dict[str, Wake] = {self.resource: _wanted_changed, "pods": wake}
        return Controller(name, watches, retried(name, self.reconcile))


def slow_start(count: int, create: Callable[[], StatusError | None]) -> StatusError | None:
    """Call ``create`` ``count`` times in batches of 1, 2, 4, ...; a batch with a failure is the last.

    The first failure of that batch, or None. Thus a quota that refuses everything is asked once, not 500 times.
    """
    batch = 1
    while count > 0:
        batch = min(batch, count)
        failures = [failure for failure in (create() for _ in range(batch)) if failure is not None]
        if failures:
            return failures[0]
        count -= batch
        batch *= 2
    return None


def create_pod(world: SimWorld, owner: Manifest, pod: Manifest, component: str) -> StatusError | None:
    """Create a pod for its owner and record the event; what the API server refused it with, or None."""
    try:
        made = apiserver.create(world, "pods", pod)
    except StatusError as error:
        if not is_namespace_terminating(error):
            text = f"Error creating: {error.message}"
            events.record(world, owner, "Warning", "FailedCreate", text, component=component)
        return error
    text = f"Created pod: {made['metadata']['name']}"
    events.record(world, owner, "Normal", "SuccessfulCreate", text, component=component)
    return None


def is_namespace_terminating(error: StatusError) -> bool:
    """Whether the API server refused because the namespace is going away."""
    return any(cause.get("reason") == "NamespaceTerminating" for cause in error.details.get("causes") or ())


def _related(world: SimWorld, resource: str, replica_set: Manifest) -> list[Manifest]:
    """Active pods of all ReplicaSets with the same controller: pods doubled up on a node go first."""
    owner = controller_of(replica_set)
    siblings = [replica_set]
    if owner is not None:
        siblings = [
            other
            for other in world.store.owned_by(resource, owner["uid"])
            if (controller_of(other) or {}).get("uid") == owner["uid"]
        ]
    return [pod for other in siblings for pod in controlled(world, "pods", other) if pods.is_active(pod)]


def delete_pod(world: SimWorld, owner: Manifest, pod: Manifest, component: str) -> None:
    """Delete a pod of an owner and record the event."""
    metadata = pod["metadata"]
    try:
        apiserver.delete(world, "pods", metadata["namespace"], metadata["name"])
    except StatusError as error:
        text = f"Error deleting: {error.message}"
        events.record(world, owner, "Warning", "FailedDelete", text, component=component)
        raise
    text = f"Deleted pod: {metadata['name']}"
    events.record(world, owner, "Normal", "SuccessfulDelete", text, component=component)


def _status(
    world: SimWorld, replica_set: Manifest, active: list[Manifest], missing: int, failure: StatusError | None
) -> dict[str, Any]:
    # As upstream: the counts are those before this round's creations, which will wake this loop again.
    spec, now = replica_set["spec"], world.now()
    wanted_labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    min_ready = spec.get("minReadySeconds", 0)
    labelled = ready = available = 0
    for pod in active:
        labels = pod["metadata"].get("labels") or {}
        labelled += all(labels.get(name) == value for name, value in wanted_labels.items())
        if pods.is_ready(pod):
            ready += 1
            available += pods.available_in(pod, min_ready, now) == 0
    status: dict[str, Any] = {"replicas": len(active)}
    if labelled:
        status["fullyLabeledReplicas"] = labelled
    if ready:
        status["readyReplicas"] = ready
    if available:
        status["availableReplicas"] = available
    status["observedGeneration"] = replica_set["metadata"].get("generation", 1)
    known = (replica_set.get("status") or {}).get("conditions") or []
    if failure is None:
        known = conditions.without(known, "ReplicaFailure")
    elif conditions.find({"conditions": known}, "ReplicaFailure") is None:
        reason = "FailedCreate" if missing > 0 else "FailedDelete"
        known = conditions.put(known, now, "ReplicaFailure", "True", reason, failure.message)
    if known:
        status["conditions"] = known
    return status


def _wanted_changed(_: SimWorld, change: Change) -> Iterable[Key]:
    """A status write alone (it shares the spec) changes nothing that this loop looks at."""
    old, new = change.old, change.new
    if old is not None and new is not None:
        if old["spec"] is new["spec"] and old.get("status") is not new.get("status"):
            return ()
    return (change.key,)


def _map_selector(obj: Manifest) -> Selector:
    """The selector of a ReplicationController is a plain map of labels."""
    labels = obj["spec"].get("selector")
    return {"matchLabels": labels} if labels else None


CONTROLLER = _Loop(RESOURCE, "apps/v1", "ReplicaSet", COMPONENT, spec_selector).controller("replicaset")
REPLICATION = _Loop(
    "replicationcontrollers", "v1", "ReplicationController", "replication-controller", _map_selector
).controller("replicationcontroller")
