"""The DaemonSet controller: one pod on every node that wants it.

Follows ``pkg/controller/daemon`` of v1.32. The pods go through the scheduler, pinned by node affinity.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import MINUTE, SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.containers import nodefit
from sregym_env.sim.controllers import pods, revisions
from sregym_env.sim.controllers.ownership import WakeOwner, claim, reference, spec_selector
from sregym_env.sim.controllers.replicaset import create_pod, delete_pod, slow_start
from sregym_env.sim.controllers.retry import retried, sooner
from sregym_env.sim.controllers.rollout import scaled
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key
from sregym_env.sim.world.wakes import own_key

RESOURCE = "daemonsets.apps"
COMPONENT = "daemonset-controller"
GENERATION = "deprecated.daemonset.template.generation"
HISTORY_LIMIT = 10
"""Revisions kept unless the spec says otherwise (default of ``revisionHistoryLimit``)."""
FAILED_FIRST = SECOND
FAILED_LONGEST = 15 * MINUTE
"""Back-off between deletions of failed daemon pods: 1 s, doubled, at most 15 min."""

_TOLERATED: tuple[tuple[str, str], ...] = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)


@dataclass(frozen=True, slots=True)
class _Placement:
    """Where pods are, and where they should be."""

    by_node: dict[str, list[Manifest]]
    wanted: list[str]
    """Nodes that should have one, in order."""
    allowed: frozenset[str]
    """Nodes where one may stay."""


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Bring one DaemonSet closer to one pod per eligible node. Raises StatusError where one could not be made."""
    daemon_set = world.store.get(RESOURCE, *key)
    if daemon_set is None:
        return None
    history = revisions.recorded(world, daemon_set, "DaemonSet")
    claimed = claim(world, "pods", daemon_set, "apps/v1", "DaemonSet", spec_selector(daemon_set))
    if "deletionTimestamp" in daemon_set["metadata"]:
        return None
    digest = history.update["metadata"]["labels"][revisions.HASH_LABEL]
    placed = _placement(world, daemon_set, claimed)
    again, failure = _fill(world, daemon_set, placed, digest)
    strategy = daemon_set["spec"].get("updateStrategy") or {}
    if failure is None and strategy.get("type", "RollingUpdate") == "RollingUpdate":
        # As upstream: what was just created is not there yet for the update to count.
        _replace_outdated(world, daemon_set, placed, digest)
    apiserver.update_status(world, RESOURCE, *key, _status(world, daemon_set, placed, digest))
    _truncate(world, daemon_set, history, claimed)
    if failure is not None:
        raise failure
    least = daemon_set["spec"].get("minReadySeconds", 0)
    return sooner(again, pods.next_available(claimed, least, world.now()))


def _placement(world: SimWorld, daemon_set: Manifest, claimed: Iterable[Manifest]) -> _Placement:
    by_node: dict[str, list[Manifest]] = {}
    for pod in claimed:
        node = target_node(pod)
        if node:
            by_node.setdefault(node, []).append(pod)
    spec = daemon_set["spec"]["template"]["spec"]
    tolerations = [*(spec.get("tolerations") or ()), *extra_tolerations(spec)]
    wanted: list[str] = []
    allowed: set[str] = set()
    for machine in world.store.list("nodes"):
        if not nodefit.matches_node(spec, machine):
            continue
        name, taints = machine["metadata"]["name"], nodefit.taints_of(machine)
        if nodefit.untolerated(tolerations, taints, ("NoSchedule", "NoExecute")) is None:
            wanted.append(name)
        if nodefit.untolerated(tolerations, taints, ("NoExecute",)) is None:
            allowed.add(name)
    return _Placement(by_node, wanted, frozenset(allowed))


def target_node(pod: Manifest) -> str:
    """The node a daemon pod is on, or is pinned to while it waits for the scheduler."""
    spec = pod["spec"]
    if spec.get("nodeName"):
        return str(spec["nodeName"])
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field["key"] == "metadata.name" and field.get("values"):
                return str(field["values"][0])
    return ""


def extra_tolerations(spec: Manifest) -> list[dict[str, str]]:
    """The tolerations that every daemon pod gets."""
    tolerated = _TOLERATED
    if spec.get("hostNetwork"):
        tolerated = (*tolerated, ("network-unavailable", "NoSchedule"))
    return [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
        for key, effect in tolerated
    ]


def _pinned(spec: Manifest, node: str) -> Manifest:
    """The pod spec bound to one node by affinity, with the daemon tolerations."""
    affinity = spec.get("affinity") or {}
    node_affinity = affinity.get("nodeAffinity") or {}
    field = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    # The template's own required terms were checked already: the name replaces them, as upstream.
    required = {"nodeSelectorTerms": [field]}
    node_affinity = {**node_affinity, "requiredDuringSchedulingIgnoredDuringExecution": required}
    tolerations = list(spec.get("tolerations") or ())
    tolerations += [extra for extra in extra_tolerations(spec) if extra not in tolerations]
    return {**spec, "affinity": {**affinity, "nodeAffinity": node_affinity}, "tolerations": tolerations}


def _fill(
    world: SimWorld, daemon_set: Manifest, placed: _Placement, digest: str
) -> tuple[int | None, StatusError | None]:
    """Create missing pods and delete failed, doubled and misplaced ones."""
    missing: list[str] = []
    again: int | None = None
    for node in sorted(set(placed.by_node) | set(placed.wanted)):
        found = placed.by_node.get(node, [])
        if node in placed.wanted:
            staying = []
            for pod in found:
                if pods.is_terminating(pod):
                    continue
                if pods.is_finished(pod):
                    again = sooner(again, _delete_finished(world, daemon_set, pod, node))
                else:
                    staying.append(pod)
            if not found:
                missing.append(node)
            elif len(staying) > 1 and not _surging(daemon_set):
                for pod in _oldest_first(staying)[1:]:
                    delete_pod(world, daemon_set, pod, COMPONENT)
        elif node not in placed.allowed:
            for pod in found:
                if not pods.is_terminating(pod):
                    delete_pod(world, daemon_set, pod, COMPONENT)
    nodes = iter(missing)

    def create() -> StatusError | None:
        return create_pod(world, daemon_set, _pod(daemon_set, next(nodes), digest), COMPONENT)

    return again, slow_start(len(missing), create)


def _surging(daemon_set: Manifest) -> bool:
    rolling = (daemon_set["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    return rolling.get("maxSurge", 0) not in (0, "0%")


def _oldest_first(found: list[Manifest]) -> list[Manifest]:
    return sorted(found, key=lambda pod: (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"]))


def _delete_finished(world: SimWorld, daemon_set: Manifest, pod: Manifest, node: str) -> int | None:
    """Delete a failed (or finished) pod, with backoff per node; microseconds to wait if it is too soon."""
    metadata = pod["metadata"]
    slot = f"daemonset.failed:{daemon_set['metadata']['uid']}/{node}"
    count, last = world.memory.get(slot, (0, 0))
    pause = min(FAILED_FIRST << min(count, 20), FAILED_LONGEST) if count else 0
    # client-go's back-off forgets an entry after twice its longest delay.
    if count and world.now() - last > 2 * FAILED_LONGEST:
        count, pause = 0, 0
    if world.now() < last + pause:
        return int(last + pause - world.now())
    world.memory[slot] = (count + 1, world.now())
    where = f"{metadata['namespace']}/{metadata['name']} on node {node}"
    if pods.phase(pod) == "Failed":
        text = f"Found failed daemon pod {where}, will try to kill it"
        events.record(world, daemon_set, "Warning", "FailedDaemonPod", text, component=COMPONENT)
    else:
        text = f"Found succeeded daemon pod {where}, will try to delete it"
        events.record(world, daemon_set, "Normal", "SucceededDaemonPod", text, component=COMPONENT)
    delete_pod(world, daemon_set, pod, COMPONENT)
    return None


def _pod(daemon_set: Manifest, node: str, digest: str) -> Manifest:
    metadata = daemon_set["metadata"]
    generation = (metadata.get("annotations") or {}).get(GENERATION)
    labels = {revisions.HASH_LABEL: digest}
    if generation is not None:
        labels["pod-template-generation"] = generation
    pod = pods.from_template(
        daemon_set["spec"]["template"],
        reference(daemon_set, "apps/v1", "DaemonSet"),
        generate_name=f"{metadata['name']}-",
        namespace=metadata["namespace"],
        labels=labels,
    )
    return {**pod, "spec": _pinned(pod["spec"], node)}


def _is_updated(daemon_set: Manifest, pod: Manifest, digest: str) -> bool:
    return bool((pod["metadata"].get("labels") or {}).get(revisions.HASH_LABEL) == digest)


def _is_available(world: SimWorld, daemon_set: Manifest, pod: Manifest) -> bool:
    least = daemon_set["spec"].get("minReadySeconds", 0)
    return pods.available_in(pod, least, world.now()) == 0


def _replace_outdated(world: SimWorld, daemon_set: Manifest, placed: _Placement, digest: str) -> None:
    """Replace pods of old revisions, no more at a time than the strategy allows."""
    rolling = (daemon_set["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    count = len(placed.wanted)
    most_surge = scaled(rolling.get("maxSurge", 0), count, up=True)
    most_missing = scaled(rolling.get("maxUnavailable", 1), count, up=True)
    if most_surge == 0:
        _replace_in_place(world, daemon_set, placed, digest, max(1, most_missing))
    else:
        _replace_by_surge(world, daemon_set, placed, digest, most_surge)


def _replace_in_place(
    world: SimWorld, daemon_set: Manifest, placed: _Placement, digest: str, most: int
) -> None:
    unavailable = 0
    broken, candidates = [], []
    for node in placed.wanted:
        staying = [pod for pod in placed.by_node.get(node, []) if not pods.is_terminating(pod)]
        new = next((pod for pod in staying if _is_updated(daemon_set, pod, digest)), None)
        old = next((pod for pod in staying if not _is_updated(daemon_set, pod, digest)), None)
        if new is not None or old is None:
            # Replaced already, or between two pods.
            unavailable += new is None or not _is_available(world, daemon_set, new)
        elif _is_available(world, daemon_set, old):
            candidates.append(old)
        else:
            unavailable += 1
            broken.append(old)
    for pod in [*broken, *candidates[: max(0, most - unavailable)]]:
        delete_pod(world, daemon_set, pod, COMPONENT)


def _replace_by_surge(
    world: SimWorld, daemon_set: Manifest, placed: _Placement, digest: str, most: int
) -> None:
    surging = 0
    waiting = []
    for node in placed.wanted:
        staying = [pod for pod in placed.by_node.get(node, []) if not pods.is_terminating(pod)]
        new = next((pod for pod in staying if _is_updated(daemon_set, pod, digest)), None)
        old = next((pod for pod in staying if not _is_updated(daemon_set, pod, digest)), None)
        if old is None:
            continue
        if new is None:
            waiting.append(node)
            if not _is_available(world, daemon_set, old):
                # A pod that serves nobody is replaced without using up the surge.
                create_pod(world, daemon_set, _pod(daemon_set, node, digest), COMPONENT)
                waiting.pop()
        elif _is_available(world, daemon_set, new):
            delete_pod(world, daemon_set, old, COMPONENT)
        else:
            surging += 1
    for node in waiting[: max(0, most - surging)]:
        create_pod(world, daemon_set, _pod(daemon_set, node, digest), COMPONENT)


def _status(world: SimWorld, daemon_set: Manifest, placed: _Placement, digest: str) -> dict[str, Any]:
    current = misplaced = ready = updated = available = 0
    for node in world.store.list("nodes"):
        name = node["metadata"]["name"]
        found = [pod for pod in placed.by_node.get(name, []) if not pods.is_terminating(pod)]
        if name not in placed.wanted:
            misplaced += bool(found)
            continue
        if not found:
            continue
        current += 1
        first = _oldest_first(found)[0]
        ready += pods.is_ready(first)
        available += _is_available(world, daemon_set, first)
        updated += any(_is_updated(daemon_set, pod, digest) for pod in found)
    desired = len(placed.wanted)
    status: dict[str, Any] = {
        "currentNumberScheduled": current,
        "numberMisscheduled": misplaced,
        "desiredNumberScheduled": desired,
        "numberReady": ready,
        "observedGeneration": daemon_set["metadata"].get("generation", 1),
    }
    counts = {
        "updatedNumberScheduled": updated,
        "numberAvailable": available,
        "numberUnavailable": desired - available,
    }
    status.update({name: count for name, count in counts.items() if count})
    return status


def _truncate(
    world: SimWorld, daemon_set: Manifest, history: revisions.History, claimed: Iterable[Manifest]
) -> None:
    digests = {(pod["metadata"].get("labels") or {}).get(revisions.HASH_LABEL) for pod in claimed}
    live = [
        revision["metadata"]["name"]
        for revision in history.all
        if (revision["metadata"].get("labels") or {}).get(revisions.HASH_LABEL) in digests
    ]
    revisions.truncate(world, daemon_set, history, live, HISTORY_LIMIT)


def _wake_for_node(world: SimWorld, change: Change) -> Iterable[Key]:
    """A node that came, went, or changed its labels or taints concerns every DaemonSet."""
    old, new = change.old, change.new
    if old is not None and new is not None:
        same_labels = old["metadata"].get("labels") == new["metadata"].get("labels")
        if same_labels and nodefit.taints_of(old) == nodefit.taints_of(new):
            return ()
    return [
        (daemon_set["metadata"]["namespace"], daemon_set["metadata"]["name"])
        for daemon_set in world.store.list(RESOURCE)
    ]


CONTROLLER = Controller(
    "daemonset",
    {
        RESOURCE: own_key,
        "pods": WakeOwner("DaemonSet", RESOURCE, spec_selector, pods.matters_to_owner),
        "nodes": _wake_for_node,
    },
    retried("daemonset", reconcile),
)
