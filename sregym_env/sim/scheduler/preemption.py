"""Making room for a more important pod by evicting less important ones (``DefaultPreemption``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sregym_env.kube import selectors
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.scheduler import topology
from sregym_env.sim.scheduler.filters import NodeInfo
from sregym_env.sim.scheduler.placement import Attempt, fits
from sregym_env.sim.world import SimWorld

NEVER = "preemption: not eligible due to preemptionPolicy=Never."
UNDER_WAY = "preemption: not eligible due to a terminating pod on the nominated node."


def preempt(world: SimWorld, pod: Manifest, attempt: Attempt) -> tuple[str, str]:
    """Evict what stands in the way on the best node: (that node or ``""``, the preemption clause)."""
    if pod["spec"].get("preemptionPolicy") == "Never":
        return "", NEVER
    nominated = (pod.get("status") or {}).get("nominatedNodeName", "")
    total = len(attempt.around.infos)
    if attempt.problem:
        return "", _clause(total, [f"{total} Preemption is not helpful for scheduling"])
    if nominated and _terminating_below(attempt, pod, nominated):
        return nominated, UNDER_WAY
    candidates = []
    hopeless = 0
    for info in attempt.around.infos:
        misfit = attempt.misfits.get(info.name)
        if misfit is None or not misfit.resolvable:
            hopeless += 1
            continue
        victims = _victims(world, pod, info, attempt)
        if victims:
            candidates.append((info, victims))
    if not candidates:
        reasons = []
        if hopeless:
            reasons.append(f"{hopeless} Preemption is not helpful for scheduling")
        if total - hopeless:
            reasons.append(f"{total - hopeless} No preemption victims found for incoming pod")
        return "", _clause(total, reasons)
    info, victims = min(candidates, key=lambda candidate: _cost(world, *candidate))
    for victim in victims:
        _evict(world, pod, info, victim)
    return info.name, ""


def _clause(total: int, reasons: Sequence[str]) -> str:
    return f"preemption: 0/{total} nodes are available: {', '.join(sorted(reasons))}."


def _priority(pod: Manifest) -> int:
    return int(pod["spec"].get("priority") or 0)


def _terminating_below(attempt: Attempt, pod: Manifest, node: str) -> bool:
    return any(
        "deletionTimestamp" in other["metadata"] and _priority(other) < _priority(pod)
        for info in attempt.around.infos
        if info.name == node
        for other in info.pods
    )


def _victims(world: SimWorld, pod: Manifest, info: NodeInfo, attempt: Attempt) -> list[Manifest]:
    """The fewest, least important pods whose going makes the pod fit; empty if nothing helps."""
    lower = [other for other in info.pods if _priority(other) < _priority(pod)]
    if not lower or not _fits_without(world, pod, info, attempt, lower):
        return []
    # Reprieve those first whose going a budget forbids, then the most important, as many as still leave room.
    guarded = _guarded(world, lower)
    victims = sorted(
        lower,
        key=lambda other: (
            other["metadata"]["uid"] not in guarded,
            -_priority(other),
            (other.get("status") or {}).get("startTime", ""),
            other["metadata"]["name"],
        ),
    )
    for candidate in list(victims):
        rest = [other for other in victims if other is not candidate]
        if _fits_without(world, pod, info, attempt, rest):
            victims = rest
    return victims


def _guarded(world: SimWorld, candidates: Sequence[Manifest]) -> frozenset[str]:
    """UIDs of the pods that could not go without breaking a PodDisruptionBudget.

    What a budget allows is spent on the most important ones.
    """
    found = set()
    left: dict[tuple[str, str], int] = {}
    for pod in sorted(candidates, key=lambda other: (-_priority(other), other["metadata"]["name"])):
        metadata = pod["metadata"]
        for budget in world.store.list("poddisruptionbudgets.policy", metadata["namespace"]):
            if not selectors.from_dict(budget["spec"].get("selector")).matches(metadata.get("labels")):
                continue
            key = (metadata["namespace"], budget["metadata"]["name"])
            allowed = left.get(key, (budget.get("status") or {}).get("disruptionsAllowed", 0))
            left[key] = allowed - 1
            if allowed <= 0:
                found.add(metadata["uid"])
    return frozenset(found)


def _fits_without(
    world: SimWorld, pod: Manifest, info: NodeInfo, attempt: Attempt, victims: Sequence[Manifest]
) -> bool:
    thinner = info.without(victims)
    infos = [thinner if other is info else other for other in attempt.around.infos]
    around = topology.Surroundings(infos, attempt.around.namespaces)
    return fits(world, pod, thinner, around, attempt.claims) is None


def _cost(world: SimWorld, info: NodeInfo, victims: list[Manifest]) -> tuple[int, int, int, int, str]:
    priorities = [_priority(victim) for victim in victims]
    broken = _broken_budgets(world, victims)
    # The criteria of ``pickOneNodeForPreemption`` in their order, but for start times; names decide equals.
    return (broken, max(priorities), sum(priorities), len(victims), info.name)


def _broken_budgets(world: SimWorld, victims: Sequence[Manifest]) -> int:
    """How many of the victims a PodDisruptionBudget would rather keep."""
    broken = 0
    left: dict[tuple[str, str], int] = {}
    for victim in victims:
        metadata = victim["metadata"]
        for budget in world.store.list("poddisruptionbudgets.policy", metadata["namespace"]):
            selector = selectors.from_dict(budget["spec"].get("selector"))
            if not selector.matches(metadata.get("labels")):
                continue
            key = (metadata["namespace"], budget["metadata"]["name"])
            allowed = left.get(key, (budget.get("status") or {}).get("disruptionsAllowed", 0))
            left[key] = allowed - 1
            broken += allowed <= 0
    return broken


def _evict(world: SimWorld, pod: Manifest, info: NodeInfo, victim: Manifest) -> None:
    metadata = victim["metadata"]
    if "deletionTimestamp" in metadata:
        return
    status = victim.get("status") or {}
    condition: dict[str, Any] = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": rfc3339(world.now()),
        "reason": "PreemptionByScheduler",
        "message": "default-scheduler: preempting to accommodate a higher priority pod",
    }
    others = [c for c in status.get("conditions", ()) if c["type"] != "DisruptionTarget"]
    changed = {**status, "conditions": [*others, condition]}
    apiserver.update_status(world, "pods", metadata["namespace"], metadata["name"], changed)
    apiserver.delete(world, "pods", metadata["namespace"], metadata["name"], uid=metadata["uid"])
    text = f"Preempted by pod {pod['metadata']['uid']} on node {info.name}"
    events.record(world, victim, "Normal", "Preempted", text, component="default-scheduler")
