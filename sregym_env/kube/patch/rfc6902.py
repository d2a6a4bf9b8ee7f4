"""JSON Patch (RFC 6902), with the words of the library the API server uses (``evanphx/json-patch``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from sregym_env.kube.patch.errors import PatchError, TooLarge
from sregym_env.kube.types import Json
from sregym_env.runtime.numbers import whole

MAX_OPERATIONS = 10_000
"""Operations in one patch: the API server's ``maxJSONPatchOperations``."""

MAX_COPIED = 3 * 1024 * 1024
"""Bytes that ``copy`` may add in one patch: the API server's ``AccumulatedCopySizeLimit``."""


def json_patch(obj: Json, operations: Sequence[Mapping[str, Any]]) -> Json:
    """Apply a JSON patch; raises PatchError worded as the API server's library."""
    if not isinstance(operations, list | tuple):
        raise PatchError("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
    if len(operations) > MAX_OPERATIONS:
        raise TooLarge(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        )
    copied = _Copied()
    for operation in operations:
        if not isinstance(operation, Mapping):
            raise PatchError("json: cannot unmarshal into Go value of type jsonpatch.Operation")
        obj = _apply_operation(obj, operation, copied)
    return obj


class _Copied:
    """How much ``copy`` has added, in bytes of JSON: copies of copies would grow without end."""

    def __init__(self) -> None:
        self._total = 0

    def add(self, value: Json) -> None:
        """Count a copied value. Raises PatchError beyond the limit."""
        self._total += len(orjson.dumps(value))
        if self._total > MAX_COPIED:
            raise PatchError(
                "Unable to complete the copy, the accumulated size increase of copy is "
                f"{self._total}, exceeding the limit {MAX_COPIED}"
            )


def _apply_operation(obj: Json, operation: Mapping[str, Any], copied: _Copied) -> Json:
    kind = operation.get("op") or "unknown"
    path = operation.get("path")
    if kind not in ("add", "remove", "replace", "move", "copy", "test"):
        raise PatchError(f"Unexpected kind: {kind}")
    if not isinstance(path, str):
        raise PatchError(f"{kind} operation failed to decode path: missing value")
    if kind == "test":
        return _test(obj, path, operation)
    if kind == "add":
        return _point(obj, path, _split(path), _Add(operation.get("value"), path))
    if kind == "replace":
        return _point(obj, path, _split(path), _Replace(operation.get("value"), path))
    if kind == "remove":
        return _point(obj, path, _split(path), _Remove(path))
    source = operation.get("from")
    if not isinstance(source, str):
        raise PatchError(
            f"{kind} operation failed to decode from: operation, missing from field: missing value"
        )
    if kind == "copy":
        value = _lookup(obj, source, "copy")
        copied.add(value)
        return _point(obj, path, _split(path), _Add(value, path))
    value = _lookup(obj, source, "move")
    obj = _point(obj, source, _split(source), _Remove(source))
    return _point(obj, path, _split(path), _Add(value, path))


def _split(path: str) -> list[str]:
    if not path:
        return []
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _test(obj: Json, path: str, operation: Mapping[str, Any]) -> Json:
    value = _lookup(obj, path, "test")
    if not json_equal(value, operation.get("value")):
        raise PatchError(f"testing value {path} failed: test failed")
    return obj


def json_equal(left: Json, right: Json) -> bool:
    """Equality of JSON values; unlike in Python, true is not 1."""
    if left is right:
        return True
    if type(left) is not type(right):
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        return numbers and not isinstance(left, bool) and not isinstance(right, bool) and left == right
    if isinstance(left, dict):
        return len(left) == len(right) and all(
            k in right and json_equal(v, right[k]) for k, v in left.items()
        )
    if isinstance(left, list):
        return len(left) == len(right) and all(json_equal(a, b) for a, b in zip(left, right, strict=True))
    return bool(left == right)


def _lookup(obj: Json, path: str, verb: str) -> Json:
    """The value at a pointer. A missing last key of an object is null, except for a move."""
    steps = _split(path)
    for depth, step in enumerate(steps):
        last = depth == len(steps) - 1
        if isinstance(obj, dict) and step in obj:
            obj = obj[step]
        elif isinstance(obj, list) and whole(step, len(obj)) < len(obj):
            obj = obj[int(step)]
        elif last and isinstance(obj, dict):
            if verb == "move":
                raise PatchError(
                    f"error in move for path: '{step}': "
                    f"Unable to remove nonexistent key: {step}: missing value"
                )
            return None
        elif last and isinstance(obj, list) and step.isdigit():
            where = f"path: '{step}'" if verb == "move" else f"from: '{path}'"
            raise PatchError(
                f"error in {verb} for {where}: Unable to access invalid index: {step}: invalid index referenced"
            )
        else:
            what = "is missing path" if verb == "test" else "doc is missing from path"
            raise PatchError(f"{verb} operation does not apply: {what}: {path}: missing value")
    return obj


@dataclass(frozen=True, slots=True)
class _Add:
    value: Json
    path: str
    verb: str = "add"

    def in_dict(self, target: dict[str, Json], key: str) -> Json:
        return {**target, key: self.value}

    def in_list(self, target: list[Json], key: str) -> Json:
        if key == "-":
            return [*target, self.value]
        index = _index(key, self.path, "add")
        if not -len(target) - 1 <= index <= len(target):
            raise PatchError(_bad_index("add", self.path, index))
        if index < 0:
            index += len(target) + 1
        return [*target[:index], self.value, *target[index:]]


@dataclass(frozen=True, slots=True)
class _Replace:
    value: Json
    path: str
    verb: str = "replace"

    def in_dict(self, target: dict[str, Json], key: str) -> Json:
        # Unlike the RFC, the API server's library lets a replace create the key.
        return {**target, key: self.value}

    def in_list(self, target: list[Json], key: str) -> Json:
        index = _index(key, self.path, "replace")
        if not -len(target) <= index < len(target):
            raise PatchError(f"Object to be patched is missing field ({self.path}: missing value)")
        index %= len(target)
        return [*target[:index], self.value, *target[index + 1 :]]


@dataclass(frozen=True, slots=True)
class _Remove:
    path: str
    verb: str = "remove"

    def in_dict(self, target: dict[str, Json], key: str) -> Json:
        if key not in target:
            raise PatchError(
                f"error in remove for path: '{self.path}': "
                f"Unable to remove nonexistent key: {key}: missing value"
            )
        return {k: v for k, v in target.items() if k != key}

    def in_list(self, target: list[Json], key: str) -> Json:
        index = _index(key, self.path, "remove")
        if not -len(target) <= index < len(target):
            raise PatchError(_bad_index("remove", self.path, index))
        index %= len(target)
        return [*target[:index], *target[index + 1 :]]


_Change = _Add | _Replace | _Remove


def _bad_index(verb: str, path: str, index: int) -> str:
    return (
        f"error in {verb} for path: '{path}': "
        f"Unable to access invalid index: {index}: invalid index referenced"
    )


def _index(key: str, path: str, verb: str) -> int:
    try:
        return int(key)
    except ValueError:
        text = f'strconv.Atoi: parsing "{key}": invalid syntax'
        raise PatchError(f"error in {verb} for path: '{path}': {text}") from None


def _point(obj: Json, path: str, steps: list[str], change: _Change) -> Json:
    if not steps:
        if isinstance(change, _Remove):
            raise PatchError(f'remove operation does not apply: doc is missing path: "{path}": missing value')
        return change.value
    step = steps[0]
    if len(steps) == 1:
        if isinstance(obj, dict):
            return change.in_dict(obj, step)
        if isinstance(obj, list):
            return change.in_list(obj, step)
    elif isinstance(obj, dict) and isinstance(obj.get(step), dict | list):
        return {**obj, step: _point(obj[step], path, steps[1:], change)}
    elif isinstance(obj, list) and whole(step, len(obj)) < len(obj):
        index = int(step)
        return [*obj[:index], _point(obj[index], path, steps[1:], change), *obj[index + 1 :]]
    shown = path if change.verb == "replace" else f'"{path}"'
    raise PatchError(f"{change.verb} operation does not apply: doc is missing path: {shown}: missing value")
