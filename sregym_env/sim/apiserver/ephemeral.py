"""The ``ephemeralcontainers`` subresource of pods: debug containers are added, never changed or taken away."""

from __future__ import annotations

from sregym_env.kube import status
from sregym_env.kube.defaults import apply_defaults
from sregym_env.kube.registry import Resource
from sregym_env.kube.status import FieldError
from sregym_env.kube.types import Manifest

_WHERE = "spec.ephemeralContainers"
_NOT_ALLOWED = ("ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resizePolicy")
"""Fields of containers that ephemeral ones may not have."""


def with_containers(kind: Resource, old: Manifest, wanted: Manifest) -> Manifest:
    """The stored pod with the ephemeral containers that a request wants. Raises Invalid."""
    made = apply_defaults(kind, wanted)["spec"].get("ephemeralContainers") or []
    errors = [*_kept(old, made), *_allowed(old, made)]
    if errors:
        raise status.invalid(kind, old["metadata"]["name"], errors)
    return {**old, "spec": {**old["spec"], "ephemeralContainers": made}}


def _kept(old: Manifest, made: list[Manifest]) -> list[FieldError]:
    """Complaints about containers that are there already."""
    errors = []
    new = {container.get("name"): container for container in made}
    for container in old["spec"].get("ephemeralContainers") or ():
        name = container["name"]
        if name not in new:
            text = f'existing ephemeral containers "{name}" may not be removed\n'
            errors.append(status.forbidden_field(_WHERE, text))
        elif new[name] != container:
            text = f'existing ephemeral containers "{name}" may not be changed\n'
            errors.append(status.forbidden_field(_WHERE, text))
    return errors


def _allowed(old: Manifest, made: list[Manifest]) -> list[FieldError]:
    """Complaints about the containers as they would be."""
    errors = []
    spec = old["spec"]
    others = {container["name"] for container in (*spec["containers"], *(spec.get("initContainers") or ()))}
    taken = set(others)
    for index, container in enumerate(made):
        where = f"{_WHERE}[{index}]"
        name, target = container.get("name", ""), container.get("targetContainerName", "")
        if not name:
            errors.append(status.required(f"{where}.name", ""))
        elif name in taken:
            errors.append(status.duplicate(f"{where}.name", name))
        taken.add(name)
        if not container.get("image"):
            errors.append(status.required(f"{where}.image", ""))
        if target and target not in others:
            errors.append(status.missing(f"{where}.targetContainerName", target))
        text = "cannot be set for an Ephemeral Container"
        errors += [
            status.forbidden_field(f"{where}.{field}", text) for field in _NOT_ALLOWED if container.get(field)
        ]
        if any((container.get("resources") or {}).values()):
            errors.append(status.forbidden_field(f"{where}.resources", text))
    return errors
