"""What an object bears of how it got into the cluster: what a pipeline delivers looks like what it has delivered.

A tool marks everything that it delivers; what a hand makes bears no tool's mark, though it be a copy of something that
does.

Every object bears also which release of its part it is of. Parts are released one by one, and each has a version of its own,
so that no version is the one that most objects have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from zlib import crc32

from sregym_env.cluster.app import App
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

CHART = "helm.sh/chart"
"""The label in which a chart writes its name and version."""

NUMBER, REVISION = "release", "example.com/config-revision"

RELEASED = (CHART, REVISION, NUMBER)
"""Labels that say which release an object is of: of those that it bears the first is written anew by the next."""

TRACKED = "argocd.argoproj.io/tracking-id"
"""Argo CD's own name of an object: ``release:group/Kind:namespace/name``."""

_LABELS = (
    "app.kubernetes.io/managed-by",
    CHART,
    REVISION,
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
    place, name = bare["metadata"].get("namespace", ""), bare["metadata"]["name"]
    alike = [each for each in _others(app, bare) if each["kind"] == bare["kind"]]
    labels, annotations = (_shared(alike, field) for field in ("labels", "annotations"))
    own = part(app, name, place)
    others = sorted(_others(app, bare), key=lambda each: part_of(app, each) != own)
    marked = next(filter(_marks, others), None)
    if marked is not None:
        release = marked["metadata"]
        labels |= _of(release.get("labels"), (*_LABELS, NUMBER))
        kind = bare["kind"]
        if REVISION in labels:
            labels[REVISION] = f"{crc32(f'{kind}/{place}/{name}'.encode()):08x}"
        annotations |= _of(release.get("annotations"), _ANNOTATIONS)
        if TRACKED in annotations:
            group = bare["apiVersion"].rpartition("/")[0]
            tracked = annotations[TRACKED].partition(":")[0]
            annotations[TRACKED] = f"{tracked}:{group}/{bare['kind']}:{place}/{name}"
    return _with(bare, labels, annotations)


def by_hand(manifest: Manifest) -> Manifest:
    """A new object as a hand makes it: without any tool's marks, and of no release."""
    metadata = dict(manifest["metadata"])
    for field, known in (("labels", _LABELS), ("annotations", _ANNOTATIONS)):
        if set(known) & set(metadata.get(field) or ()):
            metadata[field] = {key: value for key, value in metadata[field].items() if key not in known}
            if not metadata[field]:
                del metadata[field]
    return {**manifest, "metadata": metadata}


# --- releases -------------------------------------------------------------------------------------


def part(app: App, name: str, namespace: str) -> str:
    """The component after which an object is named, which is released with it; empty for what all have in common."""
    own = (each.rpartition("/")[2] for each in app.by_name if app.namespace_of(each) == namespace)
    return max((each for each in own if f"-{each}-" in f"-{name}-"), key=len, default="")


def part_of(app: App, manifest: Manifest) -> str:
    """The same of a manifest."""
    metadata = manifest["metadata"]
    return part(app, metadata["name"], metadata.get("namespace", ""))


def first_version(chance: Chance) -> str:
    """A version that something has reached: ``2.17.3``."""
    return f"{chance.between('major', 0, 6)}.{chance.between('minor', 0, 30)}.{chance.between('patch', 0, 9)}"


def first_release(mark: str, chance: Chance, each: Chance) -> str:
    """What a label says of the release of a part, or of ``each`` of its objects, where no chart delivers it."""
    return (
        f"{each.bits('revision'):016x}"[:8] if mark == REVISION else f"r{chance.between('number', 20, 900)}"
    )


def next_release(mark: str, value: str, chance: Chance, each: Chance) -> str:
    """What it says after the next one; the same where it counts nothing."""
    if mark == REVISION:
        return first_release(mark, chance, each)
    found = _NUMBERED.fullmatch(value)
    if found is None:
        return value
    if not found["minor"]:
        return f"{found['before']}{int(found['last']) + chance.between('more', 1, 3)}"
    if chance.yes("patch", 0.6):
        return f"{found['before']}{found['minor']}.{int(found['last']) + 1}"
    return f"{found['before']}{int(found['minor']) + 1}.0"


_NUMBERED = re.compile(r"(?P<before>.*-\d+\.|r)(?:(?P<minor>\d+)\.)?(?P<last>\d+)", re.ASCII)
"""``geo-1.4.2`` and ``r417``."""


# --- what others bear -----------------------------------------------------------------------------


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
