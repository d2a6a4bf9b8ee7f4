"""What the API server warns of although it accepts it: duplicates, deprecated labels, names that will not do.

Texts and conditions are those of ``pkg/api/pod/warnings.go`` and of the strategies of v1.32.
"""

from __future__ import annotations

from collections.abc import Iterator

from sregym_env.kube import names, quantity
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest

_BETA = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": (
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead'
    ),
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": (
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
    ),
}
_TEMPLATES = {
    "deployments.apps": ("spec", "template"),
    "replicasets.apps": ("spec", "template"),
    "statefulsets.apps": ("spec", "template"),
    "daemonsets.apps": ("spec", "template"),
    "replicationcontrollers": ("spec", "template"),
    "jobs.batch": ("spec", "template"),
    "cronjobs.batch": ("spec", "jobTemplate", "spec", "template"),
    "podtemplates": ("template",),
}
_NAMES_PODS = frozenset(
    ("deployments.apps", "replicasets.apps", "replicationcontrollers", "jobs.batch", "cronjobs.batch")
)
_RECOMMENDED = "which can result in surprising behavior; a DNS label is recommended: "
_INGRESS_CLASS = "kubernetes.io/ingress.class"


def warnings_of(resource: Resource, new: Manifest, old: Manifest | None) -> Iterator[str]:
    """Warnings about a new object, or about what changed of an old one."""
    key = resource.key
    if key == "ingresses.networking.k8s.io":
        if old is None and _INGRESS_CLASS in (new["metadata"].get("annotations") or {}):
            yield f"annotation \"{_INGRESS_CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"
        return
    path = () if key == "pods" else _TEMPLATES.get(key)
    if path is None:
        return
    if old is None:
        yield from _name(key, new["metadata"].get("name", ""))
    template = _at(new, path)
    if old is None or template.get("spec") != _at(old, path).get("spec"):
        yield from _pod(template.get("spec") or {}, ".".join((*path, "spec")))


def _at(obj: Manifest, path: tuple[str, ...]) -> Manifest:
    for step in path:
        obj = obj.get(step) or {}
    return obj


def _name(key: str, name: str) -> Iterator[str]:
    complaints = names.dns1123_label(name) if name else ()
    if not complaints:
        return
    shown = f"[{' '.join(complaints)}]"
    if key == "pods":
        yield f"metadata.name: this is used in the Pod's hostname, {_RECOMMENDED}{shown}"
    elif key in _NAMES_PODS:
        yield f"metadata.name: this is used in Pod names and hostnames, {_RECOMMENDED}{shown}"


def _pod(spec: Manifest, where: str) -> Iterator[str]:
    for label in sorted(spec.get("nodeSelector") or ()):
        if label in _BETA:
            yield f"{where}.nodeSelector[{label}]: {_BETA[label]}"
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    ) or {}
    at = f"{where}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    for i, term in enumerate(affinity.get("nodeSelectorTerms") or ()):
        for j, expression in enumerate(term.get("matchExpressions") or ()):
            label = expression.get("key")
            if label in _BETA:
                yield f"{at}[{i}].matchExpressions[{j}].key: {label} is {_BETA[label]}"
    for field in ("initContainers", "containers"):
        for i, container in enumerate(spec.get(field) or ()):
            yield from _container(container, f"{where}.{field}[{i}]")
    grace = spec.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0:
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{where}.terminationGracePeriodSeconds: {text}"


def _container(container: Manifest, where: str) -> Iterator[str]:
    seen: dict[str, None] = {}
    for i, variable in enumerate(container.get("env") or ()):
        name, value = variable.get("name", ""), variable.get("value") or ""
        # A variable may be made of what stood under its own name before.
        if name in seen and f"$({name})" not in value:
            yield f'{where}.env[{i}]: hides previous definition of "{name}", which may be dropped when using apply'
        seen[name] = None
    ports: dict[tuple[object, ...], int] = {}
    for i, port in enumerate(container.get("ports") or ()):
        slot = (port.get("containerPort"), port.get("protocol"), port.get("hostPort"), port.get("hostIP"))
        if slot in ports:
            yield f"{where}.ports[{i}]: duplicate port definition with {where}.ports[{ports[slot]}]"
        ports.setdefault(slot, i)
    resources = container.get("resources") or {}
    for field in ("limits", "requests"):
        for name in ("memory", "ephemeral-storage"):
            amount = (resources.get(field) or {}).get(name)
            if amount is not None and quantity.nano(amount) % 1_000_000_000:
                text = f'fractional byte value "{amount}" is invalid, must be an integer'
                yield f"{where}.resources.{field}[{name}]: {text}"
