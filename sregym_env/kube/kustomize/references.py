"""Following names: what refers to an object that was renamed refers to its new name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sregym_env.kube.kustomize.fields import POD_SPECS, Steps
from sregym_env.kube.kustomize.resource import Id, Piece
from sregym_env.kube.kustomize.trees import edit, path
from sregym_env.kube.types import Manifest


class Reference(NamedTuple):
    """A place that names an object of another kind."""

    kind: str
    """Kind that refers."""
    steps: Steps
    to: str
    """Kind that is named."""


_CONTAINERS = ("containers", "initContainers")


def _from_pods(to: str, places: Sequence[str], kinds: Sequence[str] = tuple(POD_SPECS)) -> list[Reference]:
    return [Reference(kind, (*POD_SPECS[kind], *path(place)), to) for kind in kinds for place in places]


def _config(to: str, word: str) -> list[str]:
    return [
        place
        for containers in _CONTAINERS
        for place in (f"{containers}/env/valueFrom/{word}KeyRef/name", f"{containers}/envFrom/{word}Ref/name")
    ]


_CONFIGURED = [kind for kind in POD_SPECS if kind != "ReplicationController"]
_ACCOUNTED = [kind for kind in POD_SPECS if kind not in ("PodTemplate", "ReplicaSet")]

REFERENCES: tuple[Reference, ...] = (
    *(Reference("HorizontalPodAutoscaler", path("spec/scaleTargetRef/name"), to)
      for to in ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")),
    *_from_pods("ConfigMap", [*_config("ConfigMap", "configMap"), "volumes/configMap/name",
                              "volumes/projected/sources/configMap/name"], _CONFIGURED),
    *_from_pods("Secret", [*_config("Secret", "secret"), "volumes/secret/secretName", "imagePullSecrets/name",
                           "volumes/projected/sources/secret/name"], _CONFIGURED),
    *_from_pods("ServiceAccount", ["serviceAccountName"], _ACCOUNTED),
    *_from_pods("PersistentVolumeClaim", ["volumes/persistentVolumeClaim/claimName"], _ACCOUNTED),
    *_from_pods("PriorityClass", ["priorityClassName"], _ACCOUNTED),
    *(Reference(kind, path("rules/resourceNames"), to)
      for kind in ("Role", "ClusterRole") for to in ("ConfigMap", "Secret")),
    Reference("ClusterRole", path("rules/resourceNames"), "PersistentVolume"),
    Reference("Ingress", path("spec/tls/secretName"), "Secret"),
    Reference("ServiceAccount", path("imagePullSecrets/name"), "Secret"),
    *(Reference("StorageClass", path(f"parameters/{key}"), "Secret")
      for key in ("secretName", "adminSecretName", "userSecretName", "secretRef")),
    Reference("PersistentVolume", path("spec/azureFile/secretName"), "Secret"),
    Reference("StatefulSet", path("spec/serviceName"), "Service"),
    Reference("Ingress", path("spec/rules/http/paths/backend/service/name"), "Service"),
    Reference("Ingress", path("spec/rules/http/paths/backend/serviceName"), "Service"),
    Reference("Ingress", path("spec/defaultBackend/service/name"), "Service"),
    Reference("Ingress", path("spec/backend/serviceName"), "Service"),
    Reference("APIService", path("spec/service/name"), "Service"),
    Reference("HTTPRoute", path("spec/rules/backendRefs/name"), "Service"),
    Reference("ValidatingWebhookConfiguration", path("webhooks/clientConfig/service"), "Service"),
    Reference("MutatingWebhookConfiguration", path("webhooks/clientConfig/service"), "Service"),
    Reference("RoleBinding", path("roleRef/name"), "Role"),
    Reference("RoleBinding", path("roleRef/name"), "ClusterRole"),
    Reference("ClusterRoleBinding", path("roleRef/name"), "ClusterRole"),
    Reference("RoleBinding", path("subjects"), "ServiceAccount"),
    Reference("ClusterRoleBinding", path("subjects"), "ServiceAccount"),
    Reference("PersistentVolumeClaim", path("spec/volumeName"), "PersistentVolume"),
    *(Reference(kind, path("spec/storageClassName"), "StorageClass")
      for kind in ("PersistentVolume", "PersistentVolumeClaim")),
    Reference("StatefulSet", path("spec/volumeClaimTemplates/spec/storageClassName"), "StorageClass"),
    Reference("Ingress", path("spec/ingressClassName"), "IngressClass"),
)  # fmt: skip


def with_names_followed(pieces: Sequence[Piece]) -> list[Piece]:
    """Every object with the names of others brought up to date."""
    return [piece.changed(_followed(piece.obj, piece, pieces)) for piece in pieces]


def _followed(obj: Manifest, piece: Piece, pieces: Sequence[Piece]) -> Manifest:
    for reference in REFERENCES:
        if reference.kind != piece.kind:
            continue
        if not _says_kind(obj, reference):
            continue
        candidates = [other for other in pieces if other.kind == reference.to]
        if candidates:
            obj = edit(obj, reference.steps, _Follow(piece, reference, candidates).change)
    return obj


def _says_kind(obj: Manifest, reference: Reference) -> bool:
    """A reference that tells the kind it names means no other."""
    holder = obj
    for step in reference.steps[:-1]:
        holder = holder.get(step) if isinstance(holder, dict) else None  # type: ignore[assignment]
    said = holder.get("kind") if isinstance(holder, dict) and len(reference.steps) == 2 else None
    if reference.steps[0] in ("roleRef", "subjects"):
        return said in (None, reference.to)
    return reference.steps[-2:] != ("scaleTargetRef", "name") or (
        isinstance(holder, dict) and holder.get("kind") == reference.to
    )


class _Follow:
    """Finds whom a name means."""

    def __init__(self, piece: Piece, reference: Reference, candidates: Sequence[Piece]) -> None:
        self._piece = piece
        self._reference = reference
        self._candidates = candidates

    def change(self, held: Any) -> Any:
        """The value with the name brought up to date."""
        if isinstance(held, str):
            found = self._meant(held, None)
            return held if found is None else found.name
        if isinstance(held, list):
            return [self.change(item) for item in held]
        if isinstance(held, dict) and "name" in held:
            if self._reference.to == "ServiceAccount" and held.get("kind") != "ServiceAccount":
                return held
            found = self._meant(str(held["name"]), str(held.get("namespace") or "default"))
            if found is None:
                return held
            made = {**held, "name": found.name}
            return {**made, "namespace": found.namespace} if found.namespace else made
        return held

    def _meant(self, name: str, namespace: str | None) -> Id | None:
        """The present identity of the object that was once called this."""
        found = [other for other in self._candidates if self._fits(other, name, namespace)]
        if len({other.id.name for other in found}) > 1:
            mine = {each.place for each in self._piece.ids}
            found = [other for other in found if other.id.place in mine] or found
            found = [other for other in found if _same_layers(other, self._piece)] or found
        return found[0].id if found and len({other.id.name for other in found}) == 1 else None

    def _fits(self, other: Piece, name: str, namespace: str | None) -> bool:
        for each in other.ids:
            if each.name != name:
                continue
            if namespace is not None and other.namespaced and each.place != namespace:
                continue
            if namespace is None and other.namespaced and self._piece.namespaced:
                if not {each.place for each in other.ids} & {mine.place for mine in self._piece.ids}:
                    continue
            return True
        return False


def _same_layers(one: Piece, other: Piece) -> bool:
    short = min(len(one.prefixes), len(other.prefixes))
    return one.prefixes[len(one.prefixes) - short :] == other.prefixes[len(other.prefixes) - short :]
