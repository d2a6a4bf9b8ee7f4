"""Namespaces, prefixes, labels, annotations, replica counts and images."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sregym_env.kube.kustomize.errors import KustomizeError
from sregym_env.kube.kustomize.fields import Spot
from sregym_env.kube.kustomize.resource import Piece
from sregym_env.kube.kustomize.trees import edit, merged, path
from sregym_env.kube.types import Manifest

_UNPREFIXED = ("CustomResourceDefinition", "APIService", "Namespace")
_SCALED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
_IMAGE = re.compile(r"(?P<name>.*?)(?P<tag>:[^:/@]+)?(?P<digest>@.+)?\Z", re.DOTALL)


def in_namespace(piece: Piece, namespace: str) -> Piece:
    """The object, and what it says of its own namespace, in another namespace."""
    obj = piece.obj
    if piece.kind == "Namespace":
        obj = edit(obj, ("metadata", "name"), lambda _: namespace, create=True)
    elif piece.namespaced:
        obj = edit(obj, ("metadata", "namespace"), lambda _: namespace, create=True)
    if piece.kind in ("RoleBinding", "ClusterRoleBinding"):
        obj = edit(obj, ("subjects",), lambda subject: _default_account(subject, namespace))
    elif piece.kind == "APIService":
        obj = edit(obj, path("spec/service/namespace"), lambda _: namespace, create=True)
    return piece.changed(obj)


def _default_account(held: Any, namespace: str) -> Any:
    if isinstance(held, list):
        return [_default_account(subject, namespace) for subject in held]
    if isinstance(held, dict) and held.get("kind") == "ServiceAccount" and held.get("name") == "default":
        return {**held, "namespace": namespace}
    return held


def named(piece: Piece, prefix: str, suffix: str) -> Piece:
    """The object under a name with a prefix and a suffix."""
    if piece.kind in _UNPREFIXED:
        return piece
    made = piece.edited(lambda obj: edit(obj, ("metadata", "name"), lambda name: f"{prefix}{name}{suffix}"))
    return replace(
        made,
        prefixes=(*made.prefixes, prefix) if prefix else made.prefixes,
        suffixes=(*made.suffixes, suffix) if suffix else made.suffixes,
    )


def marked(piece: Piece, marks: Mapping[str, Any], spots: Iterable[Spot]) -> Piece:
    """The object with labels or annotations at every place that fits its kind."""
    if not marks:
        return piece
    group = piece.id.group

    def change(obj: Manifest) -> Manifest:
        for spot in spots:
            if spot.fits(piece.kind, group):
                obj = edit(
                    obj, spot.steps, merged({k: _text(v) for k, v in marks.items()}), create=spot.create
                )
        return obj

    return piece.edited(change)


def _text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value if isinstance(value, str) else str(value)


def scaled(pieces: Sequence[Piece], name: str, count: int) -> list[Piece]:
    """The workloads of that name with that many replicas."""
    found = [
        at
        for at, piece in enumerate(pieces)
        if piece.kind in _SCALED and any(each.name == name for each in piece.ids)
    ]
    if not found:
        kinds = " ".join(f"{kind}.[noVer].[noGrp]" for kind in _SCALED)
        raise KustomizeError(
            f"resource with name {name} does not match a config with the following GVK [{kinds}]"
        )
    made = list(pieces)
    for at in found:
        made[at] = made[at].edited(lambda obj: edit(obj, path("spec/replicas"), lambda _: count, create=True))
    return made


def with_images(piece: Piece, images: Sequence[Mapping[str, Any]]) -> Piece:
    """The object with the images of its containers renamed, retagged or pinned."""
    return piece.edited(lambda obj: _containers(obj, images)) if images else piece


def _containers(value: Any, images: Sequence[Mapping[str, Any]]) -> Any:
    if isinstance(value, list):
        return [_containers(item, images) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: [_container(item, images) for item in below]
        if key in ("containers", "initContainers") and isinstance(below, list)
        else _containers(below, images)
        for key, below in value.items()
    }


def _container(container: Any, images: Sequence[Mapping[str, Any]]) -> Any:
    if not isinstance(container, dict) or not isinstance(container.get("image"), str):
        return container
    image = container["image"]
    for wanted in images:
        image = _image(image, wanted)
    return container if image == container["image"] else {**container, "image": image}


def _image(image: str, wanted: Mapping[str, Any]) -> str:
    found = _IMAGE.match(image)
    assert found is not None
    name, tag, digest = found["name"], found["tag"] or "", found["digest"] or ""
    if name != wanted.get("name"):
        return image
    name = wanted.get("newName") or name
    if wanted.get("newTag"):
        tag, digest = f":{wanted['newTag']}", ""
        if wanted.get("digest"):
            digest = f"@{wanted['digest']}"
    elif wanted.get("digest"):
        tag, digest = "", f"@{wanted['digest']}"
    elif wanted.get("tagSuffix"):
        tag, digest = tag + wanted["tagSuffix"], ""
    return f"{name}{tag}{digest}"
