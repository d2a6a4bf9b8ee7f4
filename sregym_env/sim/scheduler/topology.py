"""Filters that look at other pods: inter-pod affinity and anti-affinity, topology spread constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.kube import selectors
from sregym_env.kube.types import Manifest
from sregym_env.sim.scheduler.filters import Misfit, NodeInfo, matches_node, tolerates

AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING_ANTI_AFFINITY = "node(s) didn't satisfy existing pods anti-affinity rules"
SPREAD = "node(s) didn't match pod topology spread constraints"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NONE: Sequence[Any] = ()


class Surroundings:
    """All nodes with their pods, and namespace labels: what these filters compare with."""

    __slots__ = ("_existing_terms", "infos", "namespaces")

    def __init__(self, infos: Sequence[NodeInfo], namespaces: Mapping[str, Mapping[str, str]]) -> None:
        self.infos = infos
        self.namespaces = namespaces
        self._existing_terms: list[tuple[NodeInfo, Manifest, Mapping[str, Any]]] | None = None

    @property
    def existing_terms(self) -> list[tuple[NodeInfo, Manifest, Mapping[str, Any]]]:
        """Required anti-affinity terms of the pods that are already placed."""
        if self._existing_terms is None:
            self._existing_terms = [
                (info, pod, term)
                for info in self.infos
                for pod in info.social
                for term in terms(pod, "podAntiAffinity")
            ]
        return self._existing_terms


def terms(pod: Manifest, kind: str, field: str = REQUIRED) -> Sequence[Mapping[str, Any]]:
    """Terms of ``podAffinity`` or ``podAntiAffinity``."""
    affinity = pod["spec"].get("affinity") or {}
    found: Sequence[Mapping[str, Any]] = (affinity.get(kind) or {}).get(field) or _NONE
    return found


def concerns(term: Mapping[str, Any], owner: Manifest, other: Manifest, around: Surroundings) -> bool:
    """Whether ``other`` is one of the pods that a term of ``owner`` speaks of."""
    namespace = other["metadata"]["namespace"]
    names = term.get("namespaces") or ()
    selector = term.get("namespaceSelector")
    if selector is None:
        if namespace not in (names or (owner["metadata"]["namespace"],)):
            return False
    elif namespace not in names:
        if not selectors.from_dict(selector).matches(around.namespaces.get(namespace)):
            return False
    labels = other["metadata"].get("labels") or {}
    if term.get("labelSelector") is None:
        return False
    return selectors.from_dict(term["labelSelector"]).matches(labels)


def affinity(pod: Manifest, info: NodeInfo, around: Surroundings) -> Misfit | None:
    """Required inter-pod affinity and anti-affinity of the pod and of those already placed."""
    for term in terms(pod, "podAffinity"):
        if not _has_company(term, pod, info, around):
            # Evicting pods cannot bring the company that is missing.
            return Misfit((AFFINITY,), False)
    for term in terms(pod, "podAntiAffinity"):
        if _meets(term, pod, info, around):
            return Misfit((ANTI_AFFINITY,), True)
    for other_info, other, term in around.existing_terms:
        key = term["topologyKey"]
        domain = other_info.labels.get(key)
        if domain is not None and info.labels.get(key) == domain and concerns(term, other, pod, around):
            return Misfit((EXISTING_ANTI_AFFINITY,), True)
    return None


def _has_company(term: Mapping[str, Any], pod: Manifest, info: NodeInfo, around: Surroundings) -> bool:
    key = term["topologyKey"]
    domain = info.labels.get(key)
    if domain is None:
        return False
    anywhere = False
    for other_info in around.infos:
        for other in other_info.pods:
            if concerns(term, pod, other, around):
                anywhere = True
                if other_info.labels.get(key) == domain:
                    return True
    # The first pod of a group that wants each other's company may go anywhere.
    return not anywhere and concerns(term, pod, pod, around)


def _meets(term: Mapping[str, Any], pod: Manifest, info: NodeInfo, around: Surroundings) -> bool:
    key = term["topologyKey"]
    domain = info.labels.get(key)
    if domain is None:
        return False
    return any(
        concerns(term, pod, other, around)
        for other_info in around.infos
        if other_info.labels.get(key) == domain
        for other in other_info.pods
    )


def spread(pod: Manifest, info: NodeInfo, around: Surroundings) -> Misfit | None:
    """``topologySpreadConstraints`` with ``DoNotSchedule``."""
    for constraint in pod["spec"].get("topologySpreadConstraints", ()):
        if constraint.get("whenUnsatisfiable", "DoNotSchedule") != "DoNotSchedule":
            continue
        key = constraint["topologyKey"]
        domain = info.labels.get(key)
        if domain is None:
            return Misfit((f"{SPREAD} (missing required label)",), False)
        counts = _domain_counts(constraint, pod, around)
        least = min(counts.values(), default=0)
        minimum = constraint.get("minDomains")
        if minimum is not None and len(counts) < minimum:
            least = 0
        own = 1 if _selected(constraint, pod, pod) else 0
        if counts.get(domain, 0) + own - least > constraint["maxSkew"]:
            return Misfit((SPREAD,), True)
    return None


def _domain_counts(constraint: Mapping[str, Any], pod: Manifest, around: Surroundings) -> dict[str, int]:
    key = constraint["topologyKey"]
    counts: dict[str, int] = {}
    for info in around.infos:
        domain = info.labels.get(key)
        if domain is None or not _counted(constraint, pod, info):
            continue
        here = sum(_selected(constraint, pod, other) for other in info.pods)
        counts[domain] = counts.get(domain, 0) + here
    return counts


def _counted(constraint: Mapping[str, Any], pod: Manifest, info: NodeInfo) -> bool:
    if constraint.get("nodeAffinityPolicy", "Honor") == "Honor" and not matches_node(pod["spec"], info.node):
        return False
    if constraint.get("nodeTaintsPolicy", "Ignore") == "Honor":
        tolerations = pod["spec"].get("tolerations", ())
        for taint in (info.node.get("spec") or {}).get("taints", ()):
            if not any(tolerates(t, taint) for t in tolerations):
                return False
    return True


def _selected(constraint: Mapping[str, Any], pod: Manifest, other: Manifest) -> bool:
    if other["metadata"]["namespace"] != pod["metadata"]["namespace"]:
        return False
    if "deletionTimestamp" in other["metadata"] or constraint.get("labelSelector") is None:
        return False
    labels = other["metadata"].get("labels") or {}
    own = pod["metadata"].get("labels") or {}
    same = all(labels.get(key) == own.get(key) for key in constraint.get("matchLabelKeys", ()) if key in own)
    return same and selectors.from_dict(constraint["labelSelector"]).matches(labels)


def preferences(pod: Manifest, info: NodeInfo, around: Surroundings) -> int:
    """The weight of the preferred inter-pod terms that a node would satisfy."""
    total = 0
    for kind, sign in (("podAffinity", 1), ("podAntiAffinity", -1)):
        for preferred in terms(pod, kind, PREFERRED):
            if _meets(preferred["podAffinityTerm"], pod, info, around):
                total += sign * int(preferred["weight"])
    return total


def siblings(pod: Manifest, info: NodeInfo) -> int:
    """How many pods of the same owner the node already has (what the default constraints spread)."""
    owners = pod["metadata"].get("ownerReferences")
    if not owners:
        return 0
    uid = owners[0]["uid"]
    return sum(
        1
        for other in info.pods
        if "ownerReferences" in other["metadata"] and other["metadata"]["ownerReferences"][0]["uid"] == uid
    )
