"""The patches of a kustomization: strategic merges and JSON patches, on named or selected objects."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

import yaml

from sregym_env.kube.kustomize.errors import KustomizeError
from sregym_env.kube.kustomize.files import Tree, documents
from sregym_env.kube.kustomize.merging import strategic
from sregym_env.kube.kustomize.resource import Id, Piece, id_of
from sregym_env.kube.kustomize.selecting import chosen
from sregym_env.kube.patch import PatchError, json_patch
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_yaml


def apply_patch(pieces: list[Piece], tree: Tree, folder: str, entry: Mapping[str, Any]) -> list[Piece]:
    """The objects with one entry of ``patches`` applied."""
    text, source = _text(tree, folder, entry)
    try:
        found = documents(text)
    except yaml.YAMLError:
        found = []
    target = entry.get("target")
    if found and all(isinstance(each, list) for each in found):
        return _json(pieces, [step for each in found for step in each], target, source)
    if not found or not all((isinstance(each, dict) and each.get("kind")) or target for each in found):
        raise KustomizeError(
            f"trouble configuring builtin PatchTransformer with config: `\n{to_yaml(dict(entry)).rstrip()}\n`: "
            f"unable to parse SM or JSON patch from {source}"
        )
    for patch in found:
        pieces = _strategic(pieces, patch, target, entry.get("options") or {})
    return pieces


def _text(tree: Tree, folder: str, entry: Mapping[str, Any]) -> tuple[str, str]:
    if entry.get("patch"):
        return entry["patch"], f"[patch: {_quoted(entry['patch'])}]"
    file = entry.get("path", "")
    text = tree.text(posixpath.normpath(posixpath.join(folder, file)))
    if text is None:
        shown = tree.shown(posixpath.join(folder, file))
        raise KustomizeError(
            f"trouble configuring builtin PatchTransformer with config: `\n{to_yaml(dict(entry)).rstrip()}\n`: "
            f"failed to get the patch file from path({file}): evalsymlink failure on '{shown}' : lstat {shown}: "
            "no such file or directory"
        )
    return text, f'[path: "{file}"]'


def _quoted(text: str) -> str:
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'


def _json(
    pieces: list[Piece], steps: list[Any], target: Mapping[str, Any] | None, source: str
) -> list[Piece]:
    if target is None:
        raise KustomizeError(f"must specify a target for JSON patch {source}")
    made = list(pieces)
    for at in chosen(pieces, target):
        try:
            patched = json_patch(made[at].obj, steps)
        except PatchError as error:
            raise KustomizeError(str(error)) from None
        assert isinstance(patched, dict)
        made[at] = made[at].changed(patched)
    return made


def _strategic(
    pieces: list[Piece], patch: Manifest, target: Mapping[str, Any] | None, options: Mapping[str, Any]
) -> list[Piece]:
    positions = [_unique(pieces, id_of(patch))] if target is None else chosen(pieces, target)
    made: list[Piece | None] = list(pieces)
    for at in positions:
        old = pieces[at]
        merged = strategic(old.obj, patch)
        made[at] = None if merged is None else old.changed(_as_before(merged, old.obj, options))
    return [piece for piece in made if piece is not None]


def _as_before(made: Manifest, old: Manifest, options: Mapping[str, Any]) -> Manifest:
    """A patch changes neither kind nor name unless it is allowed to."""
    if not options.get("allowKindChange"):
        made = {**made, "kind": old.get("kind"), "apiVersion": old.get("apiVersion")}
    if not options.get("allowNameChange"):
        made = {**made, "metadata": {**(made.get("metadata") or {}), "name": old["metadata"]["name"]}}
        if "namespace" in old["metadata"]:
            made["metadata"]["namespace"] = old["metadata"]["namespace"]
    return made


def _unique(pieces: list[Piece], wanted: Id) -> int:
    found = [
        at
        for at, piece in enumerate(pieces)
        if any(
            (each.group, each.version, each.kind, each.name)
            == (wanted.group, wanted.version, wanted.kind, wanted.name)
            and (not wanted.namespace or each.place == wanted.place)
            for each in piece.ids
        )
    ]
    if not found:
        raise KustomizeError(
            f'no resource matches strategic merge patch "{wanted}": no matches for Id {wanted}; failed to find '
            f"unique target for patch {wanted}"
        )
    if len(found) > 1:
        raise KustomizeError(
            f"multiple matches for Id {wanted}; failed to find unique target for patch {wanted}"
        )
    return found[0]
