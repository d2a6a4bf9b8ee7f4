"""One attempt to find a node: the snapshot, the filters in their order, and the sentence if all refuse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sregym_env.kube.types import Manifest
from sregym_env.sim.containers.volumes import claim_name
from sregym_env.sim.scheduler import topology, volumes
from sregym_env.sim.scheduler.filters import Misfit, NodeInfo, node_level
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.derived import DerivedFrom, DerivedFromEach, DerivedWith


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of looking for a node."""

    feasible: tuple[NodeInfo, ...]
    misfits: Mapping[str, Misfit]
    """Why not, by node name."""
    around: topology.Surroundings
    claims: volumes.Claims
    problem: str = ""
    """Why no node was even looked at."""


def look(world: SimWorld, pod: Manifest, ignoring: str = "") -> Attempt:
    """Look at every node for a pod."""
    priority = pod["spec"].get("priority") or 0
    around = surroundings(world, ignoring or pod["metadata"]["uid"], priority)
    claims = volumes.claims_of(world, pod)
    if not around.infos:
        return Attempt((), {}, around, claims, "no nodes available to schedule pods")
    if claims.problem:
        return Attempt((), {}, around, claims, claims.problem)
    feasible = []
    misfits: dict[str, Misfit] = {}
    for info in around.infos:
        misfit = fits(world, pod, info, around, claims)
        if misfit is None:
            feasible.append(info)
        else:
            misfits[info.name] = misfit
    return Attempt(tuple(feasible), misfits, around, claims)


def surroundings(world: SimWorld, without: str, priority: int = 0) -> topology.Surroundings:
    """Every node with the pods that count on it; terminated pods and ``without`` (a UID) do not.

    Room that is kept for a less important pod than ``priority`` does not count as taken.
    """
    by_node: dict[str, list[Manifest]] = {}
    for pod in world.store.list("pods"):
        spec = pod["spec"]
        name = spec.get("nodeName")
        if not name and (spec.get("priority") or 0) >= priority:
            name = _reserved(world, pod)
        if not name or pod["metadata"]["uid"] == without:
            continue
        if (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed"):
            by_node.setdefault(name, []).append(pod)
    infos = [
        _node_info(node, by_node.get(node["metadata"]["name"], ())) for node in world.store.list("nodes")
    ]
    return topology.Surroundings(infos, _labels_of(world.store.list("namespaces")))


def _labels(namespaces: list[Manifest]) -> dict[str, Mapping[str, str]]:
    return {
        namespace["metadata"]["name"]: namespace["metadata"].get("labels") or {} for namespace in namespaces
    }


_node_info = DerivedWith(NodeInfo)
_labels_of = DerivedFrom(_labels)


def _reserved(world: SimWorld, pod: Manifest) -> str:
    """The node that has been chosen for a pod which is not bound to it yet.

    It waits for its volumes there, or for the pods that were preempted for it to leave.
    """
    nominated = (pod.get("status") or {}).get("nominatedNodeName")
    if nominated:
        return str(nominated)
    if "deletionTimestamp" in pod["metadata"] or not _claims_something(pod):
        return ""
    for claim in volumes.claims_of(world, pod).delayed:
        chosen = (claim["metadata"].get("annotations") or {}).get(volumes.SELECTED_NODE)
        if chosen:
            return str(chosen)
    return ""


def _claims(pod: Manifest) -> bool:
    return any(claim_name(pod, volume) for volume in pod["spec"].get("volumes") or ())


_claims_something = DerivedFromEach(_claims)


def fits(
    world: SimWorld, pod: Manifest, info: NodeInfo, around: topology.Surroundings, claims: volumes.Claims
) -> Misfit | None:
    """All filters for one node; the first refusal, or None."""
    misfit = node_level(pod, info)
    if misfit is None and (claims.bound or claims.delayed):
        misfit = volumes.fits(world, claims, info)
    if misfit is None and "topologySpreadConstraints" in pod["spec"]:
        misfit = topology.spread(pod, info, around)
    if misfit is None:
        misfit = topology.affinity(pod, info, around)
    return misfit


def refusal(attempt: Attempt, preemption: str) -> str:
    """The sentence of ``FailedScheduling``: ``0/4 nodes are available: 3 Insufficient cpu. preemption: ...``."""
    total = len(attempt.around.infos)
    if not total:
        return attempt.problem
    head = f"0/{total} nodes are available: "
    why = attempt.problem or ", ".join(_counted(attempt.misfits.values()))
    return f"{head}{why}. {preemption}" if preemption else f"{head}{why}."


def _counted(misfits: Iterable[Misfit]) -> list[str]:
    counts: dict[str, int] = {}
    for misfit in misfits:
        for reason in misfit.reasons:
            counts[reason] = counts.get(reason, 0) + 1
    # By text, as upstream: "10 ..." comes before "2 ...".
    return sorted(f"{count} {reason}" for reason, count in counts.items())
