"""PodSecurity: the Pod Security Standards that the labels of a namespace enforce or warn of.

Follows ``k8s.io/pod-security-admission/admission`` of v1.32.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from sregym_env.kube import status
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.admission import warnings
from sregym_env.sim.apiserver.admission.attributes import Attributes, refused
from sregym_env.sim.apiserver.admission.pod_standards import Pod, Violation, violations
from sregym_env.sim.world import SimWorld

PREFIX = "pod-security.kubernetes.io/"
LEVELS = ("privileged", "baseline", "restricted")

_VERSION = re.compile(r"v1\.(0|[1-9][0-9]*)")
_NOTHING: Mapping[str, str] = {}


class Policy(NamedTuple):
    """A level in a version."""

    level: str
    version: str

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"


def policy_of(labels: Mapping[str, str], mode: str) -> Policy:
    """What the labels of a namespace say for ``enforce`` or ``warn``.

    A level that makes no sense is ``restricted`` where it is enforced and ``privileged`` elsewhere.
    """
    level = labels.get(PREFIX + mode, "privileged")
    if level not in LEVELS:
        level = "restricted" if mode == "enforce" else "privileged"
    version = labels.get(f"{PREFIX}{mode}-version", "latest")
    return Policy(level, version if _VERSION.fullmatch(version) else "latest")


def _labels(world: SimWorld, namespace: str) -> Mapping[str, str]:
    found = world.store.get("namespaces", "", namespace)
    return _NOTHING if found is None else found["metadata"].get("labels") or _NOTHING


def _told(found: list[Violation]) -> str:
    return ", ".join(map(str, found))


def validate(world: SimWorld, request: Attributes, pod: Manifest, old: Manifest | None) -> None:
    """Raise Forbidden naming every rule of the enforced level that a pod breaks; warn of the others."""
    labels = _labels(world, pod["metadata"]["namespace"])
    if not any(key.startswith(PREFIX) for key in labels):
        return
    if old is not None and not _matters(pod, old):
        return
    enforced = policy_of(labels, "enforce")
    found = violations(enforced.level, pod)
    if found:
        raise refused(request, pod, f'violates PodSecurity "{enforced}": {_told(found)}')
    _warn(world, request, labels, pod)


def _warn(world: SimWorld, request: Attributes, labels: Mapping[str, str], pod: Pod) -> None:
    policy = policy_of(labels, "warn")
    found = violations(policy.level, pod)
    if found:
        warnings.add(world, request, f'would violate PodSecurity "{policy}": {_told(found)}')


def _matters(pod: Manifest, old: Manifest) -> bool:
    """Whether an update of a pod can change how it is judged: its images and added containers."""
    for field in ("containers", "initContainers", "ephemeralContainers"):
        new_ones, old_ones = pod["spec"].get(field) or [], old["spec"].get(field) or []
        if new_ones is not old_ones:
            if [(c["name"], c.get("image")) for c in new_ones] != [
                (c["name"], c.get("image")) for c in old_ones
            ]:
                return True
    return False


def validate_workload(world: SimWorld, request: Attributes, obj: Manifest, _: Manifest | None) -> None:
    """Warn of the pods that an object would make."""
    labels = _labels(world, obj["metadata"]["namespace"])
    if f"{PREFIX}warn" not in labels:
        return
    spec: Any = obj.get("spec") or {}
    template = (
        obj.get("template")
        or spec.get("template")
        or (spec.get("jobTemplate") or {}).get("spec", {}).get("template")
    )
    if template and template.get("spec"):
        _warn(world, request, labels, template)


# --- namespaces -----------------------------------------------------------------------------------------------


def validate_namespace(world: SimWorld, request: Attributes, new: Manifest, old: Manifest | None) -> None:
    """Raise Invalid for labels that make no sense; warn of pods that a newly enforced level would refuse."""
    labels: Mapping[str, str] = new["metadata"].get("labels") or _NOTHING
    before: Mapping[str, str] = _NOTHING if old is None else old["metadata"].get("labels") or _NOTHING
    if not any(key.startswith(PREFIX) for key in (*labels, *before)):
        return
    problems = _problems(labels)
    if problems and problems != _problems(before):
        raise status.invalid(request.resource, request.name, problems)
    enforced, previous = policy_of(labels, "enforce"), policy_of(before, "enforce")
    if old is None or enforced == previous or enforced.level == "privileged":
        return
    relaxed = LEVELS.index(enforced.level) <= LEVELS.index(previous.level)
    if enforced.version == previous.version and relaxed:
        return
    for text in _existing(world, new["metadata"]["name"], enforced):
        warnings.add(world, request, text)


def _problems(labels: Mapping[str, str]) -> list[status.FieldError]:
    found = []
    for mode in ("enforce", "audit", "warn"):
        for key, valid, text in (
            (PREFIX + mode, LEVELS.__contains__, f"must be one of {', '.join(LEVELS)}"),
            (f"{PREFIX}{mode}-version", _is_version, 'must be "latest" or "v1.x"'),
        ):
            if key in labels and not valid(labels[key]):
                found.append(status.invalid_value(f"metadata.labels[{key}]", labels[key], text))
    return found


def _is_version(text: str) -> bool:
    return text == "latest" or _VERSION.fullmatch(text) is not None


def _existing(world: SimWorld, namespace: str, policy: Policy) -> list[str]:
    """Warnings about pods of a namespace, those that break the same rules together."""
    guilty: dict[str, list[str]] = {}
    for pod in world.store.list("pods", namespace):
        found = violations(policy.level, pod)
        if found:
            reasons = ", ".join(violation.reason for violation in found)
            guilty.setdefault(reasons, []).append(pod["metadata"]["name"])
    if not guilty:
        return []
    lines = []
    for reasons, names in guilty.items():
        others = len(names) - 1
        more = "" if not others else f" (and {others} other pod{'s' if others > 1 else ''})"
        lines.append(f"{min(names)}{more}: {reasons}")
    first = f'existing pods in namespace "{namespace}" violate the new PodSecurity enforce level "{policy}"'
    return [first, *sorted(lines)]
