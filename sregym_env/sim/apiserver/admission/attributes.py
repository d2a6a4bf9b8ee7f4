"""What admission knows of a request besides the objects: who does what to which resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sregym_env.cluster.identity import User
from sregym_env.kube import status
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


@dataclass(frozen=True, slots=True)
class Attributes:
    """One request on its way through admission (``admission.Attributes`` of the API server)."""

    operation: Operation
    resource: Resource
    """The resource, in the version in which the objects are."""
    namespace: str
    """Namespace of the object; of a Namespace its own name; empty for what is cluster-scoped."""
    name: str
    """Name of the object; empty for a new one whose name the server is still to generate."""
    user: User
    subresource: str = ""
    kind: tuple[str, str, str] | None = None
    """(group, version, kind) of the object where it is not the resource's own: a Scale, an Eviction."""
    dry_run: bool = False
    options: Mapping[str, Any] | None = None
    """The request's CreateOptions, UpdateOptions or DeleteOptions, as far as they say anything."""
    waited: list[float] = field(default_factory=lambda: [0.0], compare=False, repr=False)
    """Seconds that the request has waited for webhooks; one number, which they add to."""

    @property
    def gvk(self) -> tuple[str, str, str]:
        """(group, version, kind) of the request's object."""
        return self.kind or self.resource.gvk

    @property
    def path(self) -> str:
        """``pods``, ``pods/eviction``, ``deployments.apps/scale``."""
        return f"{self.resource.key}/{self.subresource}" if self.subresource else self.resource.key


def attributes_of(
    operation: Operation,
    resource: Resource,
    obj: Manifest,
    user: User,
    subresource: str = "",
    *,
    dry_run: bool = False,
    options: Mapping[str, Any] | None = None,
    waited: list[float] | None = None,
) -> Attributes:
    """The attributes of a request about ``obj`` itself; ``waited`` where it has passed webhooks already."""
    metadata = obj["metadata"]
    name = metadata.get("name", "")
    namespace = metadata.get("namespace", "") if resource.namespaced else ""
    if resource.key == "namespaces":
        namespace = name
    waited = [0.0] if waited is None else waited
    return Attributes(operation, resource, namespace, name, user, subresource, None, dry_run, options, waited)


def subject(obj: Manifest | None, name: str = "") -> str:
    """How admission names an object in its refusals: a name that is still to be generated is its prefix."""
    if name:
        return name
    metadata: Mapping[str, Any] = {} if obj is None else obj.get("metadata") or {}
    return str(metadata.get("name") or metadata.get("generateName") or "Unknown")


def refused(request: Attributes, obj: Manifest | None, text: str) -> status.StatusError:
    """403: an admission plugin refuses (``admission.NewForbidden``)."""
    return status.forbidden_admission(request.resource, subject(obj, request.name), text)
