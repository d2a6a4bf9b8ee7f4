"""Choosing objects by kind, name, labels and annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import re2

from sregym_env.kube.kustomize.errors import KustomizeError
from sregym_env.kube.kustomize.resource import Id, Piece
from sregym_env.kube.selectors import parse_labels


def chosen(pieces: Sequence[Piece], target: Mapping[str, Any]) -> list[int]:
    """Positions of the objects a target means: regular expressions on what they are called now or were."""
    return [at for at, piece in enumerate(pieces) if _meant(piece, target)]


def _meant(piece: Piece, target: Mapping[str, Any]) -> bool:
    if not any(_named(each, target) for each in piece.ids):
        return False
    metadata = piece.obj.get("metadata") or {}
    for key, field in (("labelSelector", "labels"), ("annotationSelector", "annotations")):
        if target.get(key) and not parse_labels(target[key]).matches(metadata.get(field)):
            return False
    return True


def _named(found: Id, target: Mapping[str, Any]) -> bool:
    values = {
        "group": found.group,
        "version": found.version,
        "kind": found.kind,
        "name": found.name,
        "namespace": found.place,
    }
    for key, value in values.items():
        wanted = target.get(key)
        if wanted and _pattern(str(wanted)).fullmatch(value) is None:
            return False
    return True


@lru_cache(maxsize=256)
def _pattern(text: str) -> Any:
    """A regular expression in Go's syntax (RE2), which takes linear time. Raises KustomizeError."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        reason = said.decode() if isinstance(said, bytes) else str(said)
        raise KustomizeError(f"error parsing regexp: {reason}") from None
