"""Which of the feasible nodes is best: the score plugins of the default profile with their weights."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.kube.types import Manifest
from sregym_env.sim.containers.resources import pod_requests
from sregym_env.sim.scheduler import topology
from sregym_env.sim.scheduler.filters import NodeInfo, matches_term, tolerates
from sregym_env.sim.world import SimWorld

FULL = 100
"""The score of a node that could not be better (``framework.MaxNodeScore``)."""
TAINT_WEIGHT, AFFINITY_WEIGHT, SPREAD_WEIGHT, INTER_POD_WEIGHT = 3, 2, 2, 2


def best(world: SimWorld, pod: Manifest, feasible: Sequence[NodeInfo], around: topology.Surroundings) -> str:
    """The name of the node to take; equals are decided by the scheduler's own stream."""
    if len(feasible) == 1:
        return feasible[0].name
    totals = [_resources(pod, info) for info in feasible]
    _add(totals, TAINT_WEIGHT, _reversed([_soft_taints(pod, info) for info in feasible]))
    _add(totals, AFFINITY_WEIGHT, _normal([_preferred_nodes(pod, info) for info in feasible]))
    _add(totals, SPREAD_WEIGHT, _reversed([topology.siblings(pod, info) for info in feasible]))
    _add(totals, INTER_POD_WEIGHT, _normal(_company(pod, feasible, around)))
    top = max(totals)
    winners = [info.name for info, total in zip(feasible, totals, strict=True) if total == top]
    return winners[0] if len(winners) == 1 else world.streams.choice("scheduler", winners)


def _company(pod: Manifest, feasible: Sequence[NodeInfo], around: topology.Surroundings) -> list[int]:
    if not pod["spec"].get("affinity"):
        return [0] * len(feasible)
    return [topology.preferences(pod, info, around) for info in feasible]


def _add(totals: list[int], weight: int, scores: Sequence[int]) -> None:
    for index, score in enumerate(scores):
        totals[index] += weight * score


def _resources(pod: Manifest, info: NodeInfo) -> int:
    """``LeastAllocated`` plus ``BalancedAllocation``, each with weight 1."""
    requests = pod_requests(pod)
    shares = []
    for wanted, used, name in (
        (requests.scored_cpu, info.scored[0], "cpu"),
        (requests.scored_memory, info.scored[1], "memory"),
    ):
        capacity = info.allocatable.get(name, 0)
        shares.append(1.0 if capacity == 0 else min(1.0, (used + wanted) / capacity))
    least = sum(int((1.0 - share) * FULL) for share in shares) // 2
    # The standard deviation of two shares is half their difference.
    balanced = int((1.0 - abs(shares[0] - shares[1]) / 2) * FULL)
    return least + balanced


def _soft_taints(pod: Manifest, info: NodeInfo) -> int:
    tolerations = pod["spec"].get("tolerations", ())
    return sum(
        1
        for taint in (info.node.get("spec") or {}).get("taints", ())
        if taint["effect"] == "PreferNoSchedule" and not any(tolerates(t, taint) for t in tolerations)
    )


def _preferred_nodes(pod: Manifest, info: NodeInfo) -> int:
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    return sum(
        int(term["weight"])
        for term in affinity.get(topology.PREFERRED, ())
        if matches_term(term["preference"], info.node)
    )


def _normal(raw: Sequence[int]) -> list[int]:
    """Stretch raw scores to 0..100, the greatest best."""
    low, high = min(raw), max(raw)
    if low == high:
        return [0] * len(raw)
    return [FULL * (value - low) // (high - low) for value in raw]


def _reversed(raw: Sequence[int]) -> list[int]:
    """Stretch raw scores to 0..100, the smallest best."""
    high = max(raw)
    return [FULL] * len(raw) if high == 0 else [FULL - FULL * value // high for value in raw]
