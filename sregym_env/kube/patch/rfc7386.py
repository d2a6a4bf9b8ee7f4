"""JSON Merge Patch (RFC 7386): applying and computing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.kube.patch.rfc6902 import json_equal
from sregym_env.kube.types import Json, Manifest


def merge_patch(obj: Json, patch: Json) -> Json:
    """Apply a JSON merge patch: objects merge, nulls delete, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    base = obj if isinstance(obj, dict) else {}
    changed: dict[str, Json] | None = None if isinstance(obj, dict) else {}
    for key, value in patch.items():
        if value is None:
            if key in base:
                changed = dict(base) if changed is None else changed
                changed.pop(key, None)
            continue
        old = base.get(key)
        new = merge_patch(old, value) if isinstance(value, dict) else value
        if new is not old and not (key in base and json_equal(new, old)):
            changed = dict(base) if changed is None else changed
            changed[key] = new
    return obj if changed is None else changed


def two_way_merge(original: Mapping[str, Any], modified: Mapping[str, Any]) -> Manifest:
    """The merge patch that turns ``original`` into ``modified``."""
    return _diff_merge(original, modified, True, True)


def three_way_merge(
    original: Mapping[str, Any], modified: Mapping[str, Any], current: Mapping[str, Any]
) -> Manifest:
    """The merge patch of ``kubectl apply`` for kinds without patch keys (custom resources)."""
    additions = _diff_merge(current, modified, True, False)
    deletions = _diff_merge(original, modified, False, True)
    return _overlay(deletions, additions)


def _diff_merge(
    original: Mapping[str, Any], modified: Mapping[str, Any], additions: bool, deletions: bool
) -> Manifest:
    patch: Manifest = {}
    for key, value in modified.items():
        old = original.get(key)
        if key in original and isinstance(old, dict) and isinstance(value, dict):
            if inner := _diff_merge(old, value, additions, deletions):
                patch[key] = inner
        elif additions and not (key in original and json_equal(old, value)):
            patch[key] = value
    if deletions:
        for key in original:
            if key not in modified:
                patch[key] = None
    return patch


def _overlay(below: Manifest, above: Manifest) -> Manifest:
    out = dict(below)
    for key, value in above.items():
        old = out.get(key)
        out[key] = _overlay(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return out
