"""The objects of a kustomization while it is built: what they are, and what they were called before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from sregym_env.kube.registry import BUILTIN
from sregym_env.kube.types import Manifest

_FIRST = (
    "Namespace", "ResourceQuota", "StorageClass", "CustomResourceDefinition", "ServiceAccount",
    "PodSecurityPolicy", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Secret",
    "Endpoints", "Service", "LimitRange", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim",
    "Deployment", "StatefulSet", "CronJob", "PodDisruptionBudget",
)  # fmt: skip
_LAST = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_RANK = {kind: rank - len(_FIRST) for rank, kind in enumerate(_FIRST)} | {
    kind: rank + 1 for rank, kind in enumerate(_LAST)
}


@dataclass(frozen=True, slots=True)
class Id:
    """What an object is and what it is called."""

    group: str
    version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        version, group = self.version or "[noVer]", self.group or "[noGrp]"
        return f"{self.kind}.{version}.{group}/{self.name}.{self.namespace or '[noNs]'}"

    @property
    def place(self) -> str:
        """The namespace with its default."""
        return self.namespace or "default"


def id_of(obj: Manifest) -> Id:
    """The identity of an object."""
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    metadata = obj.get("metadata") or {}
    return Id(
        group,
        version,
        str(obj.get("kind", "")),
        metadata.get("namespace") or "",
        str(metadata.get("name", "")),
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """An object on its way through the layers."""

    obj: Manifest
    before: tuple[Id, ...] = ()
    """What it was called in the layers below, oldest first."""
    hashed: bool = False
    """Whether its name is to end in a hash of its content."""
    prefixes: tuple[str, ...] = field(default=())
    suffixes: tuple[str, ...] = field(default=())

    @property
    def id(self) -> Id:
        """What it is called now."""
        return id_of(self.obj)

    @property
    def ids(self) -> tuple[Id, ...]:
        """Everything it has been called, the present last."""
        return (*self.before, self.id)

    @property
    def kind(self) -> str:
        """Its kind."""
        return str(self.obj.get("kind", ""))

    @property
    def namespaced(self) -> bool:
        """Whether objects of its kind live in namespaces; unknown kinds do."""
        known = BUILTIN.by_kind(str(self.obj.get("apiVersion", "")), self.kind)
        return known is None or known.namespaced

    def changed(self, obj: Manifest) -> Piece:
        """With another content; a former name or namespace is remembered."""
        if obj is self.obj:
            return self
        old = self.id
        return replace(self, obj=obj, before=self.before if id_of(obj) == old else (*self.before, old))

    def edited(self, change: Callable[[Manifest], Manifest]) -> Piece:
        """With its content changed by a function."""
        return self.changed(change(self.obj))


def in_order(pieces: Iterable[Piece], order: str, first: list[str], last: list[str]) -> list[Piece]:
    """As they are printed: the way they came (``fifo``), or by kind."""
    found = list(pieces)
    if order == "fifo":
        return found
    ranks = _RANK
    if first or last:
        ranks = {kind: at - len(first) for at, kind in enumerate(first)} | {
            k: at + 1 for at, k in enumerate(last)
        }
    return sorted(found, key=lambda piece: _position(piece.id, ranks))


def _position(found: Id, ranks: dict[str, int]) -> tuple[int, str, str]:
    kind = f"{found.group or '~G'}_{found.version or '~V'}_{found.kind}"
    return ranks.get(found.kind, 0), kind, f"{found.namespace or '~X'}|{found.name}"
