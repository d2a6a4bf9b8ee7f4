"""What an object bears of how it got into the cluster: what a pipeline delivers looks like what it has delivered.

A tool marks everything that it delivers; what a hand makes bears no tool's mark, though it be a copy of something that
does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sregym_env.cluster.app import App
from sregym_env.kube.types import Manifest

TRACKED = "argocd.argoproj.io/tracking-id"
"""Argo CD's own name of an object: ``release:group/Kind:namespace/name``."""

_LABELS = (
    "app.kubernetes.io/managed-by",
    "helm.sh/chart",
    "kustomize.toolkit.fluxcd.io/name",
    "kustomize.toolkit.fluxcd.io/namespace",
    "argocd.argoproj.io/instance",
)
_ANNOTATIONS = ("meta.helm.sh/release-name", "meta.helm.sh/release-namespace", TRACKED)

COMMON = 2
"""Objects of a kind that must bear the same label for it to be one that all of them bear."""


def delivered(app: App, manifest: Manifest) -> Manifest:
    """A new object as the application's pipeline delivers it: with the tool's marks, and with the labels and annotations
    that all objects of its kind in its namespace bear alike."""
    bare = by_hand(manifest)
    place = bare["metadata"].get("namespace", "")
    alike = [each for each in _others(app, bare) if each["kind"] == bare["kind"]]
    labels, annotations = (_shared(alike, field) for field in ("labels", "annotations"))
    marked = next((each for each in _others(app, bare) if _marks(each)), None)
    if marked is not None:
        release = marked["metadata"]
        labels |= _of(release.get("labels"), _LABELS)
        annotations |= _of(release.get("annotations"), _ANNOTATIONS)
        if TRACKED in annotations:
            group, name = bare["apiVersion"].rpartition("/")[0], bare["metadata"]["name"]
            tracked = annotations[TRACKED].partition(":")[0]
            annotations[TRACKED] = f"{tracked}:{group}/{bare['kind']}:{place}/{name}"
    return _with(bare, labels, annotations)


def by_hand(manifest: Manifest) -> Manifest:
    """A new object as a hand makes it: without any tool's marks."""
    metadata = dict(manifest["metadata"])
    for field, known in (("labels", _LABELS), ("annotations", _ANNOTATIONS)):
        if set(known) & set(metadata.get(field) or ()):
            metadata[field] = {key: value for key, value in metadata[field].items() if key not in known}
            if not metadata[field]:
                del metadata[field]
    return {**manifest, "metadata": metadata}


def _others(app: App, manifest: Manifest) -> Iterator[Manifest]:
    """What else the application declares: of the same namespace first."""
    place = manifest["metadata"].get("namespace", "")
    near = [each for each in app.manifests if each["metadata"].get("namespace", "") == place]
    yield from (each for each in near if each["metadata"]["name"] != manifest["metadata"]["name"])
    if not any(map(_marks, near)):
        yield from (each for each in app.manifests if _marks(each))


def _marks(manifest: Manifest) -> bool:
    metadata = manifest["metadata"]
    return bool(_of(metadata.get("labels"), _LABELS) or _of(metadata.get("annotations"), _ANNOTATIONS))


def _of(mapping: Mapping[str, str] | None, known: Sequence[str]) -> dict[str, str]:
    return {key: mapping[key] for key in known if key in mapping} if mapping else {}


def _shared(alike: Sequence[Manifest], field: str) -> dict[str, str]:
    """The labels or annotations that all of some objects bear with the same value."""
    if len(alike) < COMMON:
        return {}
    first, *rest = (each["metadata"].get(field) or {} for each in alike)
    return {
        key: value
        for key, value in first.items()
        if key not in (*_LABELS, *_ANNOTATIONS) and all(each.get(key) == value for each in rest)
    }


def _with(manifest: Manifest, labels: Mapping[str, str], annotations: Mapping[str, str]) -> Manifest:
    metadata = dict(manifest["metadata"])
    for field, more in (("labels", labels), ("annotations", annotations)):
        if more:
            metadata[field] = {**(metadata.get(field) or {}), **more}
    return {**manifest, "metadata": metadata}
