"""LimitRanger: defaults and bounds for the resources of containers, pods and claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sregym_env.kube import quantity
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver import quota
from sregym_env.sim.apiserver.admission.attributes import Attributes, refused
from sregym_env.sim.world import SimWorld

_ANNOTATION = "kubernetes.io/limit-ranger"


def mutate(world: SimWorld, request: Attributes, pod: Manifest, _old: Manifest | None) -> Manifest:
    """A new pod with the namespace's default requests and limits in containers that set none."""
    if request.operation != "CREATE":
        return pod
    for limit_range in world.store.list("limitranges", pod["metadata"]["namespace"]):
        for item in limit_range["spec"].get("limits", ()):
            if item.get("type") == "Container":
                pod = _with_defaults(pod, item)
    return pod


def _with_defaults(pod: Manifest, item: Manifest) -> Manifest:
    limits = item.get("default", {})
    requests = {**limits, **item.get("defaultRequest", {})}
    if not limits and not requests:
        return pod
    spec = dict(pod["spec"])
    notes: list[str] = []
    for field, word in (("containers", "container"), ("initContainers", "init container")):
        if field in spec:
            spec[field] = [_defaulted(c, requests, limits, word, notes) for c in spec[field]]
    metadata = pod["metadata"]
    if notes:
        text = "LimitRanger plugin set: " + "; ".join(notes)
        metadata = {**metadata, "annotations": {**metadata.get("annotations", {}), _ANNOTATION: text}}
    return {**pod, "spec": spec, "metadata": metadata}


def _defaulted(
    container: Manifest, requests: Mapping[str, str], limits: Mapping[str, str], word: str, notes: list[str]
) -> Manifest:
    resources = dict(container.get("resources", {}))
    for field, defaults in (("requests", requests), ("limits", limits)):
        own = resources.get(field, {})
        # A default request never exceeds the limit that the container set itself.
        added = {k: v for k, v in defaults.items() if k not in own}
        if field == "requests":
            declared = container.get("resources", {}).get("limits", {})
            added = {k: declared.get(k, v) for k, v in added.items()}
        if added:
            resources[field] = {**own, **added}
            names = ", ".join(sorted(added))
            notes.append(f"{names} {field[:-1]} for {word} {container.get('name', '')}")
    return {**container, "resources": resources}


def validate_pod(world: SimWorld, request: Attributes, pod: Manifest, _old: Manifest | None) -> None:
    """Raise Forbidden listing every bound of the namespace that a new pod breaks."""
    if request.operation != "CREATE":
        return
    problems: list[str] = []
    for limit_range in world.store.list("limitranges", pod["metadata"]["namespace"]):
        for item in limit_range["spec"].get("limits", ()):
            problems.extend(_pod_problems(pod, item))
    if problems:
        raise refused(request, pod, problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


def _pod_problems(pod: Manifest, item: Manifest) -> Iterable[str]:
    if item.get("type") == "Container":
        for container in (*pod["spec"].get("initContainers", ()), *pod["spec"].get("containers", ())):
            resources = container.get("resources", {})
            yield from _bounds(item, resources.get("requests", {}), resources.get("limits", {}))
    elif item.get("type") == "Pod":
        yield from _bounds(item, quota.pod_totals(pod, "requests"), quota.pod_totals(pod, "limits"))


def _bounds(item: Manifest, requests: Mapping[str, str], limits: Mapping[str, str]) -> Iterable[str]:
    kind = item["type"]
    for name, minimum in sorted(item.get("min", {}).items()):
        if name not in requests:
            yield f"minimum {name} usage per {kind} is {minimum}.  No request is specified"
        elif quantity.compare(requests[name], minimum) < 0:
            yield f"minimum {name} usage per {kind} is {minimum}, but request is {requests[name]}"
    for name, maximum in sorted(item.get("max", {}).items()):
        if name not in limits:
            yield f"maximum {name} usage per {kind} is {maximum}.  No limit is specified"
        elif quantity.compare(limits[name], maximum) > 0:
            yield f"maximum {name} usage per {kind} is {maximum}, but limit is {limits[name]}"
    for name, ratio in sorted(item.get("maxLimitRequestRatio", {}).items()):
        if name in limits and name in requests:
            found = quantity.nano(limits[name]) / max(1, quantity.nano(requests[name]))
            if found > quantity.nano(ratio) / quantity.NANO:
                yield f"{name} max limit to request ratio per {kind} is {ratio}, but provided ratio is {found:f}"


def validate_claim(world: SimWorld, request: Attributes, claim: Manifest, _old: Manifest | None) -> None:
    """Raise Forbidden for a claim outside the namespace's bounds."""
    requests: Mapping[str, Any] = claim["spec"].get("resources", {}).get("requests", {})
    for limit_range in world.store.list("limitranges", claim["metadata"]["namespace"]):
        for item in limit_range["spec"].get("limits", ()):
            if item.get("type") == "PersistentVolumeClaim":
                problems = list(_bounds(item, requests, requests))
                if problems:
                    raise refused(request, claim, problems[0])
