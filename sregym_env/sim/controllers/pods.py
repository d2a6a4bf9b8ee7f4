"""What controllers ask of pods: are they alive, ready, available, and which should go first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.world.store import Change

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


def phase(pod: Manifest) -> str:
    """The pod's phase; a pod nobody has looked at yet is Pending."""
    status = pod.get("status")
    found: str = status.get("phase", "Pending") if status else "Pending"
    return found


def is_terminating(pod: Manifest) -> bool:
    """Whether its deletion has been asked for."""
    return "deletionTimestamp" in pod["metadata"]


def is_finished(pod: Manifest) -> bool:
    """Whether all its containers are done for good."""
    return phase(pod) in ("Succeeded", "Failed")


def is_active(pod: Manifest) -> bool:
    """Whether it counts as a replica: neither finished nor on its way out."""
    return not is_finished(pod) and not is_terminating(pod)


def condition(pod: Manifest, type: str) -> dict[str, Any] | None:
    """A condition of the pod, or None."""
    status = pod.get("status")
    if status:
        for found in status.get("conditions") or ():
            if found["type"] == type:
                return found  # type: ignore[no-any-return]
    return None


def is_ready(pod: Manifest) -> bool:
    """Whether its Ready condition is True."""
    ready = condition(pod, "Ready")
    return ready is not None and ready["status"] == "True"


def is_running_and_ready(pod: Manifest) -> bool:
    """Whether it runs and is ready."""
    return phase(pod) == "Running" and is_ready(pod)


def available_in(pod: Manifest, min_ready_seconds: int, now: int) -> int | None:
    """Microseconds until the pod has been ready for ``min_ready_seconds``; 0 if it is; None if not ready."""
    ready = condition(pod, "Ready")
    if ready is None or ready["status"] != "True":
        return None
    if not min_ready_seconds:
        return 0
    return max(0, parse_rfc3339(ready["lastTransitionTime"]) + min_ready_seconds * SECOND - now)


def next_available(pods: Iterable[Manifest], min_ready_seconds: int, now: int) -> int | None:
    """Microseconds until the next of the ready pods becomes available, or None if none will by waiting."""
    if not min_ready_seconds:
        return None
    waits = (available_in(pod, min_ready_seconds, now) for pod in pods)
    return min((wait for wait in waits if wait), default=None)


def from_template(
    template: Manifest,
    owner: Manifest,
    *,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    finalizers: Sequence[str] = (),
    name: str = "",
    generate_name: str = "",
    namespace: str,
) -> Manifest:
    """A pod made from a pod template and controlled by ``owner`` (an owner reference)."""
    source = template.get("metadata") or {}
    metadata: Manifest = {"name": name} if name else {"generateName": generate_name}
    metadata["namespace"] = namespace
    all_labels = {**(source.get("labels") or {}), **(labels or {})}
    if all_labels:
        metadata["labels"] = all_labels
    all_annotations = {**(source.get("annotations") or {}), **(annotations or {})}
    if all_annotations:
        metadata["annotations"] = all_annotations
    all_finalizers = [*(source.get("finalizers") or ()), *finalizers]
    if all_finalizers:
        metadata["finalizers"] = all_finalizers
    metadata["ownerReferences"] = [owner]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def restarts(pod: Manifest) -> int:
    """The highest restart count of its containers."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return max((status.get("restartCount", 0) for status in statuses), default=0)


_PHASE_RANK = {"Pending": 0, "Unknown": 1, "Running": 2}


def deletion_cost(pod: Manifest) -> int:
    """The cost its annotation claims for deleting it; 0 without a valid one."""
    text = (pod["metadata"].get("annotations") or {}).get(DELETION_COST)
    if not text:
        return 0
    try:
        return int(text)
    except ValueError:
        return 0


def in_deletion_order(pods: Sequence[Manifest], related: Iterable[Manifest]) -> list[Manifest]:
    """Active pods with the one to delete first in front (``controller.ActivePodsWithRanks``).

    ``related`` are the active pods of the same application: a pod on a node with more of them goes first.
    """
    crowd = Counter(pod["spec"].get("nodeName", "") for pod in related)

    def rank(pod: Manifest) -> tuple[Any, ...]:
        node = pod["spec"].get("nodeName", "")
        ready = condition(pod, "Ready")
        is_up = ready is not None and ready["status"] == "True"
        since = parse_rfc3339(ready["lastTransitionTime"]) if is_up and ready is not None else 0
        metadata = pod["metadata"]
        return (
            bool(node),
            _PHASE_RANK.get(phase(pod), 2),
            is_up,
            deletion_cost(pod),
            -crowd[node],
            -since,
            -restarts(pod),
            -parse_rfc3339(metadata["creationTimestamp"]),
            metadata["name"],
        )

    return sorted(pods, key=rank)


def matters_to_owner(change: Change) -> bool:
    """Whether a pod's change can concern the controller that owns it.

    Status writes that leave phase, readiness and conditions alone (an IP, a container's state) do not.
    """
    old, new = change.old, change.new
    if old is None or new is None:
        return True
    before, after = old["metadata"], new["metadata"]
    for field in ("labels", "ownerReferences", "deletionTimestamp", "finalizers"):
        was, now = before.get(field), after.get(field)
        if was is not now and was != now:
            return True
    return phase(old) != phase(new) or condition(old, "Ready") != condition(new, "Ready")
