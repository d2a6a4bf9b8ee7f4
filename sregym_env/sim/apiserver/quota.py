"""What objects count against a ResourceQuota: the evaluators shared by admission and the quota controller.

Source of the rules: k8s.io/kubernetes/pkg/quota/v1/evaluator/core.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sregym_env.kube import quantity
from sregym_env.kube.types import Manifest
from sregym_env.sim.world import SimWorld

Usage = dict[str, str]
"""Resource name to quantity."""

COMPUTE = ("cpu", "memory", "ephemeral-storage")

_COUNTED = {
    "services": "services",
    "configmaps": "configmaps",
    "secrets": "secrets",
    "persistentvolumeclaims": "persistentvolumeclaims",
    "replicationcontrollers": "replicationcontrollers",
    "resourcequotas": "resourcequotas",
    "pods": "pods",
}


def pod_totals(pod: Manifest, field: str) -> Usage:
    """Sum of one of ``requests`` / ``limits`` over a pod: containers, or the largest init container."""
    spec = pod["spec"]
    totals: Usage = {}
    for container in spec.get("containers", ()):
        for name, amount in container.get("resources", {}).get(field, {}).items():
            totals[name] = quantity.add(totals[name], amount) if name in totals else amount
    for container in spec.get("initContainers", ()):
        for name, amount in container.get("resources", {}).get(field, {}).items():
            if name not in totals or quantity.compare(amount, totals[name]) > 0:
                totals[name] = amount
    for name, amount in spec.get("overhead", {}).items():
        totals[name] = quantity.add(totals.get(name, "0"), amount)
    return totals


def usage_of(resource: str, obj: Manifest) -> Usage:
    """What one object uses, under every name a quota may constrain."""
    used: Usage = {f"count/{resource}": "1"}
    if resource in _COUNTED:
        used[_COUNTED[resource]] = "1"
    if resource == "pods":
        if obj.get("status", {}).get("phase") in ("Succeeded", "Failed"):
            return {"count/pods": "1"}
        for name, amount in pod_totals(obj, "requests").items():
            used[f"requests.{name}"] = amount
            if name in COMPUTE:
                used[name] = amount
        for name, amount in pod_totals(obj, "limits").items():
            used[f"limits.{name}"] = amount
    elif resource == "services":
        kind = obj["spec"].get("type", "ClusterIP")
        if kind == "LoadBalancer":
            used["services.loadbalancers"] = "1"
        if kind in ("NodePort", "LoadBalancer"):
            used["services.nodeports"] = str(len(obj["spec"].get("ports", ())))
    elif resource == "persistentvolumeclaims":
        requested = obj["spec"].get("resources", {}).get("requests", {}).get("storage")
        if requested:
            used["requests.storage"] = requested
            storage_class = obj["spec"].get("storageClassName")
            if storage_class:
                prefix = f"{storage_class}.storageclass.storage.k8s.io"
                used[f"{prefix}/requests.storage"] = requested
                used[f"{prefix}/persistentvolumeclaims"] = "1"
    return used


def in_scope(quota: Manifest, resource: str, obj: Manifest) -> bool:
    """Whether a quota's scopes cover an object."""
    spec = quota["spec"]
    scopes = spec.get("scopes") or ()
    terms = (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    if not scopes and not terms:
        return True
    if resource != "pods":
        return False
    return all(_matches(scope, obj) for scope in scopes) and all(_selected(term, obj) for term in terms)


def _selected(term: Mapping[str, Any], pod: Manifest) -> bool:
    """Whether one expression of a ``scopeSelector`` holds for a pod."""
    scope, operator = term.get("scopeName", ""), term.get("operator", "")
    if scope != "PriorityClass":
        return _matches(scope, pod)
    name: str = pod["spec"].get("priorityClassName") or ""
    if operator in ("Exists", "DoesNotExist"):
        return bool((name != "") == (operator == "Exists"))
    listed = bool(name) and name in (term.get("values") or ())
    return bool(listed) if operator == "In" else not listed


def _matches(scope: str, pod: Manifest) -> bool:
    spec = pod["spec"]
    terminating = spec.get("activeDeadlineSeconds") is not None
    if scope in ("Terminating", "NotTerminating"):
        return terminating == (scope == "Terminating")
    if scope in ("BestEffort", "NotBestEffort"):
        best_effort = not pod_totals(pod, "requests") and not pod_totals(pod, "limits")
        return best_effort == (scope == "BestEffort")
    if scope == "PriorityClass":
        return bool(spec.get("priorityClassName"))
    return scope == "CrossNamespacePodAffinity" and _looks_across(spec.get("affinity") or {})


def _looks_across(affinity: Mapping[str, Any]) -> bool:
    """Whether a pod's affinity names namespaces other than its own."""
    for field in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(field) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        preferred = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [weighted["podAffinityTerm"] for weighted in preferred]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False


def resources_of(hard: Iterable[str]) -> tuple[str, ...]:
    """Registry keys of the resources whose objects can matter to these constrained names, sorted."""
    found = set()
    for name in hard:
        if name.startswith("count/"):
            found.add(name.removeprefix("count/"))
        elif name in _COUNTED:
            found.add(name)
        elif name.startswith("services."):
            found.add("services")
        elif "storage" in name and "ephemeral" not in name:
            found.add("persistentvolumeclaims")
        else:
            found.add("pods")
    return tuple(sorted(found))


def used(world: SimWorld, quota: Manifest) -> Usage:
    """What the namespace uses now of everything the quota constrains."""
    hard: Mapping[str, Any] = quota["spec"].get("hard", {})
    namespace = quota["metadata"]["namespace"]
    totals = dict.fromkeys(hard, "0")
    for resource in resources_of(hard):
        for obj in world.store.list(resource, namespace):
            if in_scope(quota, resource, obj):
                for name, amount in usage_of(resource, obj).items():
                    if name in totals:
                        totals[name] = quantity.add(totals[name], amount)
    return totals
