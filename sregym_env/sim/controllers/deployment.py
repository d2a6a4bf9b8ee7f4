"""The Deployment controller: one ReplicaSet per template, rolled from the old ones to the new.

Follows ``pkg/controller/deployment`` of v1.32; the arithmetic is in :mod:`.rollout`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from sregym_env.kube import conditions
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.frozen import evolve
from sregym_env.runtime.ids import safe_hash
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.controllers import pods, rollout
from sregym_env.sim.controllers.ownership import (
    WakeOwner,
    claim,
    controlled,
    controller_of,
    reference,
    spec_selector,
)
from sregym_env.sim.controllers.replicaset import is_namespace_terminating
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

NAME = "deployment"
RESOURCE = "deployments.apps"
REPLICA_SETS = "replicasets.apps"
COMPONENT = "deployment-controller"
NO_DEADLINE = (1 << 31) - 1
"""A progressDeadlineSeconds of MaxInt32 means none."""


@dataclass(frozen=True, slots=True)
class _Rollout:
    """A Deployment with its ReplicaSets, as last read."""

    deployment: Manifest
    new: Manifest | None
    old: tuple[Manifest, ...]

    @property
    def all(self) -> list[Manifest]:
        """Old and new."""
        return [*self.old, self.new] if self.new is not None else list(self.old)

    def with_set(self, changed: Manifest) -> _Rollout:
        """The same after one ReplicaSet changed."""
        name = changed["metadata"]["name"]
        if self.new is not None and self.new["metadata"]["name"] == name:
            return evolve(self, new=changed)
        return evolve(self, old=tuple(changed if rs["metadata"]["name"] == name else rs for rs in self.old))


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Bring one Deployment a step closer to its template and size."""
    deployment = world.store.get(RESOURCE, *key)
    if deployment is None:
        return None
    owned = claim(world, REPLICA_SETS, deployment, "apps/v1", "Deployment", spec_selector(deployment))
    if "deletionTimestamp" in deployment["metadata"]:
        # Its ReplicaSets are the garbage collector's now (``syncStatusOnly``).
        known = _found(deployment, owned)
        _write_status(world, known, _status(world, known))
        return None
    deployment = _note_pause(world, deployment)
    # A new size is spread over old and new sets before any rollout goes on.
    if deployment["spec"].get("paused") or _is_scaling(deployment, owned):
        return _resize(world, deployment, owned)
    if rollout.is_rolling(deployment):
        return _roll(world, deployment, owned)
    return _recreate(world, deployment, owned)


# --- the two strategies and plain scaling -------------------------------------------------------------


def _roll(world: SimWorld, deployment: Manifest, owned: list[Manifest]) -> int | None:
    known = _with_new_set(world, deployment, owned)
    grown = _reconcile_new(world, known)
    # One step at a time: what comes of it wakes this loop again.
    if grown is not None:
        return _sync_status(world, grown)
    shrunk = _reconcile_old(world, known)
    if shrunk is not None:
        return _sync_status(world, shrunk)
    if rollout.is_complete(known.deployment, known.deployment.get("status") or {}):
        known = _clean_up(world, known)
    return _sync_status(world, known)


def _recreate(world: SimWorld, deployment: Manifest, owned: list[Manifest]) -> int | None:
    known = _found(deployment, owned)
    active = [replica_set for replica_set in known.old if rollout.replicas(replica_set)]
    if active:
        for replica_set in active:
            known = _scale(world, known, replica_set, 0)
        return _sync_status(world, known)
    if _old_pods_remain(world, known):
        return _sync_status(world, known)
    known = _with_new_set(world, deployment, owned)
    if known.new is not None:
        known = _scale(world, known, known.new, rollout.replicas(deployment))
    if rollout.is_complete(known.deployment, known.deployment.get("status") or {}):
        known = _clean_up(world, known)
    return _sync_status(world, known)


def _old_pods_remain(world: SimWorld, known: _Rollout) -> bool:
    if rollout.counted(known.old, "replicas") > 0:
        return True
    return any(
        not pods.is_finished(pod)
        for replica_set in known.old
        for pod in controlled(world, "pods", replica_set)
    )


def _resize(world: SimWorld, deployment: Manifest, owned: list[Manifest]) -> int | None:
    known = _distribute(world, _found(deployment, owned))
    if deployment["spec"].get("paused"):
        known = _clean_up(world, known)
    _write_status(world, known, _status(world, known))
    return None


def _is_scaling(deployment: Manifest, owned: list[Manifest]) -> bool:
    wanted = rollout.replicas(deployment)
    for replica_set in owned:
        if rollout.replicas(replica_set):
            # The size that a set was last made for stands in its annotation.
            desired = rollout.annotated(replica_set, rollout.DESIRED_REPLICAS)
            if desired is not None and desired != wanted:
                return True
    return False


def _distribute(world: SimWorld, known: _Rollout) -> _Rollout:
    """Spread a new size over the ReplicaSets in proportion to theirs (``scale``)."""
    deployment = known.deployment
    wanted = rollout.replicas(deployment)
    active = [replica_set for replica_set in known.all if rollout.replicas(replica_set)]
    single = _active_or_latest(known, active)
    if single is not None:
        return known if rollout.replicas(single) == wanted else _scale(world, known, single, wanted)
    if _is_saturated(deployment, known.new):
        for replica_set in known.old:
            if rollout.replicas(replica_set):
                known = _scale(world, known, replica_set, 0)
        return known
    if not rollout.is_rolling(deployment) or not active:
        return known
    surge, _ = rollout.surge_and_unavailable(deployment)
    allowed = wanted + surge if wanted > 0 else 0
    to_add = allowed - rollout.total(active)
    ordered = rollout.by_creation(active)
    # Among sets of one size the newer ones grow first, and the older ones shrink first.
    if to_add > 0:
        ordered.reverse()
    ordered.sort(key=rollout.replicas, reverse=True)
    sizes: list[int] = []
    added = 0
    for replica_set in ordered:
        share = rollout.proportion(deployment, replica_set, to_add, added) if to_add else 0
        sizes.append(rollout.replicas(replica_set) + share)
        added += share
    if to_add:
        # What rounding left over goes to the largest.
        sizes[0] = max(0, sizes[0] + to_add - added)
    for replica_set, size in zip(ordered, sizes, strict=True):
        known = _scale(world, known, replica_set, size)
    return known


def _active_or_latest(known: _Rollout, active: list[Manifest]) -> Manifest | None:
    if len(active) == 1:
        return active[0]
    if active:
        return None
    if known.new is not None:
        return known.new
    return rollout.by_creation(known.old)[-1] if known.old else None


def _is_saturated(deployment: Manifest, new: Manifest | None) -> bool:
    if new is None:
        return False
    wanted = rollout.replicas(deployment)
    return (
        rollout.replicas(new) == wanted
        and rollout.annotated(new, rollout.DESIRED_REPLICAS) == wanted
        and rollout.counted([new], "availableReplicas") == wanted
    )


def _reconcile_new(world: SimWorld, known: _Rollout) -> _Rollout | None:
    """Move the new ReplicaSet towards the wanted size; None if there is nothing to do."""
    new = known.new
    if new is None:
        return None
    wanted, have = rollout.replicas(known.deployment), rollout.replicas(new)
    size = wanted if have >= wanted else rollout.new_replicas(known.deployment, known.all, new)
    return None if size == have else _scale(world, known, new, size)


def _reconcile_old(world: SimWorld, known: _Rollout) -> _Rollout | None:
    """Shrink the old ReplicaSets as far as availability allows; None if there is nothing to do."""
    if rollout.total(known.old) == 0:
        return None
    wanted = rollout.replicas(known.deployment)
    _, unavailable = rollout.surge_and_unavailable(known.deployment)
    least = wanted - unavailable
    new_missing = 0
    if known.new is not None:
        new_missing = rollout.replicas(known.new) - rollout.counted([known.new], "availableReplicas")
    budget = rollout.total(known.all) - least - new_missing
    if budget <= 0:
        return None
    before = rollout.total(known.old)
    for replica_set in rollout.by_creation(known.old):
        # First replicas that serve nobody anyway.
        have = rollout.replicas(replica_set)
        excess = min(budget, have - rollout.counted([replica_set], "availableReplicas"))
        if have and excess > 0:
            budget -= excess
            known = _scale(world, known, replica_set, have - excess)
    spare = rollout.counted(known.all, "availableReplicas") - least
    for replica_set in rollout.by_creation(known.old):
        have = rollout.replicas(replica_set)
        count = min(have, spare)
        if count > 0:
            spare -= count
            known = _scale(world, known, replica_set, have - count)
    return known if rollout.total(known.old) < before else None


def _scale(world: SimWorld, known: _Rollout, replica_set: Manifest, size: int) -> _Rollout:
    deployment = known.deployment
    have = rollout.replicas(replica_set)
    wanted = _size_annotations(deployment)
    annotations = replica_set["metadata"].get("annotations") or {}
    current = all(annotations.get(name) == value for name, value in wanted.items())
    if have == size and current:
        return known
    changed = {
        **replica_set,
        "metadata": {**replica_set["metadata"], "annotations": {**annotations, **wanted}},
        "spec": {**replica_set["spec"], "replicas": size},
    }
    changed = apiserver.update(world, REPLICA_SETS, changed)
    if have != size:
        way = "up" if size > have else "down"
        name = replica_set["metadata"]["name"]
        text = f"Scaled {way} replica set {name} from {have} to {size}"
        events.record(world, deployment, "Normal", "ScalingReplicaSet", text, component=COMPONENT)
    return known.with_set(changed)


def _size_annotations(deployment: Manifest) -> dict[str, str]:
    wanted = rollout.replicas(deployment)
    surge, _ = rollout.surge_and_unavailable(deployment)
    return {rollout.DESIRED_REPLICAS: str(wanted), rollout.MAX_REPLICAS: str(wanted + surge)}


# --- revisions ----------------------------------------------------------------------------------------


def _found(deployment: Manifest, owned: list[Manifest]) -> _Rollout:
    new = rollout.new_replica_set(deployment, owned)
    return _Rollout(deployment, new, tuple(rs for rs in owned if rs is not new))


def _with_new_set(world: SimWorld, deployment: Manifest, owned: list[Manifest]) -> _Rollout:
    """The ReplicaSets with the new one made if it was missing, and its revision the highest."""
    known = _found(deployment, owned)
    revision = max((rollout.revision(rs) for rs in known.old), default=0) + 1
    if known.new is None:
        return _made(world, known, str(revision))
    new = _annotated_set(world, known, known.new, revision)
    text = (new["metadata"].get("annotations") or {}).get(rollout.REVISION, "")
    known = _Rollout(_with_revision(world, deployment, text), new, known.old)
    deadline = deployment["spec"].get("progressDeadlineSeconds")
    if deadline and conditions.find(deployment.get("status"), "Progressing") is None:
        text = f'Found new replica set "{new["metadata"]["name"]}"'
        known = _with_progress(world, known, "True", "FoundNewReplicaSet", text)
    return known


def _annotated_set(world: SimWorld, known: _Rollout, new: Manifest, revision: int) -> Manifest:
    deployment = known.deployment
    annotations = dict(new["metadata"].get("annotations") or {})
    wanted = {**annotations, **_inherited(deployment)}
    current = annotations.get(rollout.REVISION)
    if rollout.revision(new) < revision:
        wanted[rollout.REVISION] = str(revision)
        if current:
            history = annotations.get(rollout.REVISION_HISTORY)
            wanted[rollout.REVISION_HISTORY] = f"{history},{current}" if history else current
    min_ready = deployment["spec"].get("minReadySeconds", 0)
    spec = new["spec"]
    if spec.get("minReadySeconds", 0) != min_ready:
        spec = {**spec, "minReadySeconds": min_ready}
    if wanted == annotations and spec is new["spec"]:
        return new
    changed = {**new, "metadata": {**new["metadata"], "annotations": wanted}, "spec": spec}
    return apiserver.update(world, REPLICA_SETS, changed)


def _inherited(deployment: Manifest) -> dict[str, str]:
    annotations = deployment["metadata"].get("annotations") or {}
    return {name: value for name, value in annotations.items() if name not in rollout.NOT_COPIED}


def template_hash(template: Manifest, collisions: int) -> str:
    """The hash that names a ReplicaSet and labels its pods."""
    # Upstream hashes a dump of Go's structs; any hash will do that is the same for the same template.
    data = orjson.dumps(template, option=orjson.OPT_SORT_KEYS)
    if collisions:
        data += str(collisions).encode()
    return safe_hash(data)


def _made(world: SimWorld, known: _Rollout, revision: str) -> _Rollout:
    deployment = known.deployment
    metadata, spec, template = deployment["metadata"], deployment["spec"], deployment["spec"]["template"]
    collisions = (deployment.get("status") or {}).get("collisionCount", 0)
    digest = template_hash(template, collisions)
    hashed = {rollout.HASH_LABEL: digest}
    size = rollout.new_replicas(deployment, known.all, None)
    labels = {**((template.get("metadata") or {}).get("labels") or {}), **hashed}
    selector = spec.get("selector") or {}
    wanted: Manifest = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{metadata['name']}-{digest}",
            "namespace": metadata["namespace"],
            "labels": labels,
            "annotations": {
                **_inherited(deployment),
                **_size_annotations(deployment),
                rollout.REVISION: revision,
            },
            "ownerReferences": [reference(deployment, "apps/v1", "Deployment")],
        },
        "spec": {
            "replicas": size,
            "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), **hashed}},
            "template": {**template, "metadata": {**(template.get("metadata") or {}), "labels": labels}},
        },
    }
    if spec.get("minReadySeconds"):
        wanted["spec"]["minReadySeconds"] = spec["minReadySeconds"]
    new = _create_set(world, known, wanted, collisions)
    name = new["metadata"]["name"]
    if size > 0:
        text = f"Scaled up replica set {name} from 0 to {size}"
        events.record(world, deployment, "Normal", "ScalingReplicaSet", text, component=COMPONENT)
    known = evolve(known, new=new, deployment=_with_revision(world, deployment, revision))
    if spec.get("progressDeadlineSeconds"):
        known = _with_progress(
            world, known, "True", "NewReplicaSetCreated", f'Created new replica set "{name}"'
        )
    return known


def _create_set(world: SimWorld, known: _Rollout, wanted: Manifest, collisions: int) -> Manifest:
    deployment = known.deployment
    metadata = deployment["metadata"]
    try:
        return apiserver.create(world, REPLICA_SETS, wanted)
    except StatusError as error:
        if error.reason == "AlreadyExists":
            # Another template, or another owner, has this name: hash again with a higher collision count.
            status = {**(deployment.get("status") or {}), "collisionCount": collisions + 1}
            apiserver.update_status(world, RESOURCE, metadata["namespace"], metadata["name"], status)
        elif not is_namespace_terminating(error):
            text = f'Failed to create new replica set "{wanted["metadata"]["name"]}": {error.message}'
            if deployment["spec"].get("progressDeadlineSeconds"):
                _with_progress(world, known, "False", "ReplicaSetCreateError", text)
            events.record(world, deployment, "Warning", "ReplicaSetCreateError", text, component=COMPONENT)
        raise


def _with_revision(world: SimWorld, deployment: Manifest, revision: str) -> Manifest:
    metadata = deployment["metadata"]
    if (metadata.get("annotations") or {}).get(rollout.REVISION) == revision:
        return deployment
    changed = apiserver.patch_metadata(
        world, RESOURCE, metadata["namespace"], metadata["name"], annotations={rollout.REVISION: revision}
    )
    return deployment if changed is None else changed


def _clean_up(world: SimWorld, known: _Rollout) -> _Rollout:
    """Delete the oldest revisions beyond the history limit."""
    limit = known.deployment["spec"].get("revisionHistoryLimit")
    if limit is None:
        return known
    alive = [rs for rs in known.old if "deletionTimestamp" not in rs["metadata"]]
    for replica_set in sorted(alive, key=rollout.revision)[: max(0, len(alive) - limit)]:
        status, metadata = replica_set.get("status") or {}, replica_set["metadata"]
        idle = rollout.replicas(replica_set) == 0 and status.get("replicas", 0) == 0
        # Idle by a status that speaks of its present spec.
        if idle and metadata.get("generation", 1) <= status.get("observedGeneration", 0):
            apiserver.delete(world, REPLICA_SETS, metadata["namespace"], metadata["name"])
            known = evolve(known, old=tuple(rs for rs in known.old if rs is not replica_set))
    return known


# --- status -------------------------------------------------------------------------------------------


def _note_pause(world: SimWorld, deployment: Manifest) -> Manifest:
    if not deployment["spec"].get("progressDeadlineSeconds"):
        return deployment
    progress = conditions.find(deployment.get("status"), "Progressing")
    reason = "" if progress is None else progress.get("reason", "")
    # A missed deadline is not covered up by a pause.
    if reason == "ProgressDeadlineExceeded":
        return deployment
    paused = bool(deployment["spec"].get("paused"))
    if paused == (reason == "DeploymentPaused"):
        return deployment
    known = _Rollout(deployment, None, ())
    if paused:
        return _with_progress(world, known, "Unknown", "DeploymentPaused", "Deployment is paused").deployment
    return _with_progress(world, known, "Unknown", "DeploymentResumed", "Deployment is resumed").deployment


def _with_progress(world: SimWorld, known: _Rollout, status: str, reason: str, message: str) -> _Rollout:
    deployment = known.deployment
    before = deployment.get("status") or {}
    after = conditions.put(
        before.get("conditions") or (), world.now(), "Progressing", status, reason, message, update_time=True
    )
    return _write_status(world, known, {**before, "conditions": after})


def _write_status(world: SimWorld, known: _Rollout, status: dict[str, Any]) -> _Rollout:
    metadata = known.deployment["metadata"]
    changed = apiserver.update_status(world, RESOURCE, metadata["namespace"], metadata["name"], status)
    if changed is None or changed is known.deployment:
        return known
    return evolve(known, deployment=changed)


def _status(world: SimWorld, known: _Rollout) -> dict[str, Any]:
    deployment, all_sets = known.deployment, known.all
    before = deployment.get("status") or {}
    available = rollout.counted(all_sets, "availableReplicas")
    counts = {
        "replicas": rollout.counted(all_sets, "replicas"),
        "updatedReplicas": rollout.counted([known.new] if known.new else [], "replicas"),
        "readyReplicas": rollout.counted(all_sets, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, rollout.total(all_sets) - available),
        "collisionCount": before.get("collisionCount", 0),
    }
    status: dict[str, Any] = {"observedGeneration": deployment["metadata"].get("generation", 1)}
    status.update({name: count for name, count in counts.items() if count})
    _, unavailable = rollout.surge_and_unavailable(deployment)
    if available >= rollout.replicas(deployment) - unavailable:
        verdict = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        verdict = ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    status["conditions"] = conditions.put(
        before.get("conditions") or (), world.now(), "Available", *verdict, update_time=True
    )
    return status


def _sync_status(world: SimWorld, known: _Rollout) -> int | None:
    """Write the status with the judgement of progress; microseconds until the deadline, if it runs."""
    before = known.deployment.get("status") or {}
    status = _status(world, known)
    deadline = known.deployment["spec"].get("progressDeadlineSeconds")
    if not deadline or deadline == NO_DEADLINE:
        status["conditions"] = conditions.without(status["conditions"], "Progressing")
    elif not _was_complete(before, status):
        status["conditions"] = _judged(world, known, before, status, deadline)
    status["conditions"] = _with_failures(world, known, status["conditions"])
    _write_status(world, known, status)
    return _until_deadline(world, known, status, deadline)


def _was_complete(before: dict[str, Any], status: dict[str, Any]) -> bool:
    # A finished rollout stays finished: losing pods later is a matter of availability, not of progress.
    progress = conditions.find(before, "Progressing")
    updated = status.get("replicas", 0) == status.get("updatedReplicas", 0)
    return updated and progress is not None and progress.get("reason") == "NewReplicaSetAvailable"


def _judged(
    world: SimWorld, known: _Rollout, before: dict[str, Any], status: dict[str, Any], deadline: int
) -> list[conditions.Condition]:
    listed: list[conditions.Condition] = status["conditions"]
    name = known.deployment["metadata"]["name"]
    subject = f'Deployment "{name}"' if known.new is None else f'ReplicaSet "{known.new["metadata"]["name"]}"'
    now = world.now()
    if rollout.is_complete(known.deployment, status):
        verdict = ("True", "NewReplicaSetAvailable", f"{subject} has successfully progressed.")
    elif rollout.is_progressing(before, status):
        verdict = ("True", "ReplicaSetUpdated", f"{subject} is progressing.")
        current = conditions.find(status, "Progressing")
        made = conditions.put((), now, "Progressing", *verdict, update_time=True)
        # The deadline counts from the last update; the transition may be older.
        if current is not None and current["status"] == "True":
            made[0]["lastTransitionTime"] = current["lastTransitionTime"]
        return [*conditions.without(listed, "Progressing"), *made]
    elif _timed_out(world, status, deadline):
        verdict = ("False", "ProgressDeadlineExceeded", f"{subject} has timed out progressing.")
    else:
        return listed
    return conditions.put(listed, now, "Progressing", *verdict, update_time=True)


def _timed_out(world: SimWorld, status: dict[str, Any], deadline: int) -> bool:
    progress = conditions.find(status, "Progressing")
    if progress is None or progress.get("reason") == "NewReplicaSetAvailable":
        return False
    if progress.get("reason") == "ProgressDeadlineExceeded":
        return True
    return parse_rfc3339(progress["lastUpdateTime"]) + deadline * SECOND < world.now()


def _until_deadline(
    world: SimWorld, known: _Rollout, status: dict[str, Any], deadline: int | None
) -> int | None:
    if not deadline or deadline == NO_DEADLINE or rollout.is_complete(known.deployment, status):
        return None
    progress = conditions.find(status, "Progressing")
    if progress is None or progress.get("reason") in ("NewReplicaSetAvailable", "ProgressDeadlineExceeded"):
        return None
    # A second more, as upstream: times in a status have no fractions.
    due = parse_rfc3339(progress["lastUpdateTime"]) + (deadline + 1) * SECOND
    return max(SECOND, due - world.now())


def _with_failures(
    world: SimWorld, known: _Rollout, listed: list[conditions.Condition]
) -> list[conditions.Condition]:
    failure = None if known.new is None else conditions.find(known.new.get("status"), "ReplicaFailure")
    for replica_set in known.old:
        if failure is None:
            failure = conditions.find(replica_set.get("status"), "ReplicaFailure")
    if failure is None:
        return conditions.without(listed, "ReplicaFailure")
    return conditions.put(
        listed,
        world.now(),
        "ReplicaFailure",
        failure["status"],
        failure.get("reason", ""),
        failure.get("message", ""),
        update_time=True,
    )


def _wanted_changed(world: SimWorld, change: Change) -> Iterable[Key]:
    """The loop's own status writes follow from what it has just seen; only a rollout that has become complete
    leaves it something to do (:func:`_clean_up`)."""
    old, new = change.old, change.new
    if world.acting == NAME and old is not None and new is not None and old["spec"] is new["spec"]:
        before, after = old["metadata"], new["metadata"]
        told = all(
            before.get(field) is after.get(field)
            for field in ("labels", "annotations", "generation", "deletionTimestamp", "finalizers")
        )
        status = new.get("status") or {}
        if told and (
            not rollout.is_complete(new, status) or rollout.is_complete(old, old.get("status") or {})
        ):
            return ()
    return (change.key,)


def _wake_for_last_pod(world: SimWorld, change: Change) -> Iterable[Key]:
    """A Recreate rollout waits until the last old pod is gone (or done)."""
    if change.new is not None and not (pods.is_finished(change.new) and change.old is not None):
        return ()
    owner = controller_of(change.object)
    if owner is None or owner["kind"] != "ReplicaSet":
        return ()
    replica_set = world.store.get(REPLICA_SETS, change.key[0], owner["name"])
    parent = None if replica_set is None else controller_of(replica_set)
    if parent is None or parent["kind"] != "Deployment":
        return ()
    deployment = world.store.get(RESOURCE, change.key[0], parent["name"])
    if deployment is None or rollout.is_rolling(deployment):
        return ()
    return ((change.key[0], parent["name"]),)


CONTROLLER = Controller(
    NAME,
    {
        RESOURCE: _wanted_changed,
        REPLICA_SETS: WakeOwner("Deployment", RESOURCE, spec_selector),
        "pods": _wake_for_last_pod,
    },
    retried(NAME, reconcile),
)
