"""Which nodes a pod tolerates and asks for: taints, node selectors and node affinity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sregym_env.kube.selectors import from_expressions
from sregym_env.kube.types import Manifest

Taint = Mapping[str, Any]
Toleration = Mapping[str, Any]


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether one toleration covers one taint (``v1.Toleration.ToleratesTaint``)."""
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (taint.get("value") or "")


def untolerated(
    tolerations: Sequence[Toleration], taints: Iterable[Taint], effects: tuple[str, ...]
) -> Taint | None:
    """The first taint with one of the effects that no toleration covers, or None."""
    for taint in taints:
        if taint.get("effect") in effects and not any(tolerates(t, taint) for t in tolerations):
            return taint
    return None


def taints_of(node: Manifest) -> Sequence[Taint]:
    """A node's taints."""
    found: Sequence[Taint] = (node.get("spec") or {}).get("taints") or ()
    return found


def matches_node(spec: Mapping[str, Any], node: Manifest) -> bool:
    """Whether a pod spec's nodeName, nodeSelector and required node affinity allow the node."""
    metadata = node["metadata"]
    if spec.get("nodeName") and spec["nodeName"] != metadata["name"]:
        return False
    labels = metadata.get("labels") or {}
    if any(labels.get(name) != value for name, value in (spec.get("nodeSelector") or {}).items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(_matches_term(term, metadata) for term in required.get("nodeSelectorTerms") or ())


def _matches_term(term: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    if expressions and not from_expressions(expressions).matches(metadata.get("labels") or {}):
        return False
    return not fields or from_expressions(fields).matches({"metadata.name": metadata["name"]})
