"""ConfigMaps and Secrets made of literals and files, and the hash their names end in."""

from __future__ import annotations

import base64
import hashlib
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sregym_env.kube.kustomize.errors import KustomizeError
from sregym_env.kube.kustomize.files import Tree
from sregym_env.kube.kustomize.resource import Piece
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_compact_json

_LETTERS = str.maketrans("013ae", "ghkmt")
"""The digits of the hash that could spell words or be mistaken are replaced."""

Options = Mapping[str, Any]


def generated(tree: Tree, folder: str, kind: str, arguments: Options, common: Options) -> Piece:
    """The object of one entry of ``configMapGenerator`` or ``secretGenerator``."""
    name = arguments.get("name")
    if not name:
        raise KustomizeError("a name is required for " + kind)
    data: dict[str, str] = {}
    for key, value in _pairs(tree, folder, kind, arguments):
        if key in data:
            raise KustomizeError(
                f"configmap {name} illegally repeats the key `{key}`"
                if kind == "ConfigMap"
                else f"secret {name} illegally repeats the key `{key}`"
            )
        data[key] = value
    own = arguments.get("options") or {}
    metadata: Manifest = {"name": name}
    if arguments.get("namespace"):
        metadata["namespace"] = arguments["namespace"]
    for field in ("labels", "annotations"):
        if marks := {**(common.get(field) or {}), **(own.get(field) or {})}:
            metadata[field] = marks
    obj: Manifest = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    if kind == "Secret":
        obj["type"] = arguments.get("type") or "Opaque"
        data = {key: base64.b64encode(text.encode()).decode() for key, text in data.items()}
    if data:
        obj["data"] = dict(sorted(data.items()))
    if own.get("immutable", common.get("immutable")):
        obj["immutable"] = True
    plain = own.get("disableNameSuffixHash", common.get("disableNameSuffixHash"))
    return Piece(obj, hashed=not plain)


def _pairs(tree: Tree, folder: str, kind: str, arguments: Options) -> Iterator[tuple[str, str]]:
    environments = [*(arguments.get("envs") or ())]
    if arguments.get("env"):
        environments.append(arguments["env"])
    for file in environments:
        yield from _environment(_content(tree, folder, file, "env"))
    for source in arguments.get("files") or ():
        key, equals, file = source.partition("=")
        if not equals:
            key, file = posixpath.basename(source), source
        yield key, _content(tree, folder, file, "file")
    for literal in arguments.get("literals") or ():
        key, equals, value = literal.partition("=")
        if not equals or not key:
            raise KustomizeError(
                f"literal source '{literal}' must be in the form key=value" if not equals else ""
            )
        yield key, _unquoted(value)


def _content(tree: Tree, folder: str, file: str, what: str) -> str:
    text = tree.text(posixpath.normpath(posixpath.join(folder, file)))
    if text is None:
        shown = tree.shown(posixpath.join(folder, file))
        raise KustomizeError(
            f"loading KV pairs: {what} sources: [{file}]: evalsymlink failure on '{shown}' : lstat {shown}: "
            "no such file or directory"
        )
    return text


def _environment(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        line = line.lstrip()
        if line and not line.startswith("#"):
            key, _, value = line.partition("=")
            yield key, value


def _unquoted(text: str) -> str:
    quoted = len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def combined(old: Piece, new: Piece, behavior: str) -> Piece:
    """What becomes of an object of a layer below that a generator merges with or replaces."""
    metadata = dict(old.obj["metadata"])
    for field in ("labels", "annotations"):
        if marks := {**(metadata.get(field) or {}), **(new.obj["metadata"].get(field) or {})}:
            metadata[field] = marks
    obj = {
        **old.obj,
        **{k: v for k, v in new.obj.items() if k in ("type", "immutable")},
        "metadata": metadata,
    }
    data = {**(old.obj.get("data") or {} if behavior == "merge" else {}), **(new.obj.get("data") or {})}
    obj["data"] = dict(sorted(data.items()))
    return replace(old.changed(obj), hashed=old.hashed and new.hashed)


def with_hash(piece: Piece) -> Piece:
    """The object under a name that ends in a hash of its content, where it is to have one."""
    if not piece.hashed:
        return piece
    obj = piece.obj
    name = obj["metadata"]["name"]
    # The name is left out, so that it does not change when a layer adds a prefix.
    content: Manifest = {"kind": piece.kind, "name": "", "data": obj.get("data", "")}
    if "binaryData" in obj:
        content["binaryData"] = obj["binaryData"]
    if piece.kind == "Secret":
        content["type"] = obj.get("type", "")
        if "stringData" in obj:
            content["stringData"] = obj["stringData"]
    digest = hashlib.sha256(to_compact_json(content).encode()).hexdigest()[:10].translate(_LETTERS)
    return piece.changed({**obj, "metadata": {**obj["metadata"], "name": f"{name}-{digest}"}})
