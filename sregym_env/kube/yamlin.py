"""Reading YAML as Kubernetes does: into JSON, with bounds.

PyYAML's C parser recurses on the C stack, so a few kilobytes of brackets end the process, and aliases let a small
document stand for an endless one. Both are refused before they can.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, TypeVar

import yaml

from sregym_env.kube.types import Json

_T = TypeVar("_T")

MAX_DEPTH = 200
"""Nesting of a document."""

MAX_NODES = 200_000
"""Values that a document with aliases may stand for."""

_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Loader(_Safe):  # type: ignore[misc]
    """PyYAML's safe loader without dates: as in Go's YAML-to-JSON, a timestamp stays a string."""


Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern) for tag, pattern in resolvers if tag.rpartition(":")[2] not in ("timestamp", "value")
    ]
    for first, resolvers in _Safe.yaml_implicit_resolvers.items()
}

_INDENTED = re.compile(rf"^[ \t\-?:]{{{MAX_DEPTH},}}", re.MULTILINE)
_SURROGATES = re.compile("[\ud800-\udfff]")


def load(text: str) -> Json:
    """The only document of a text. Raises yaml.YAMLError."""
    return _guarded(text, lambda: plain(yaml.load(text, Loader)))


def load_all(text: str) -> list[Json]:
    """The documents of a text. Raises yaml.YAMLError."""
    return _guarded(text, lambda: [plain(document) for document in yaml.load_all(text, Loader)])


def _guarded(text: str, read: Callable[[], _T]) -> _T:
    check_depth(text)
    try:
        return read()
    except (ValueError, RecursionError, OverflowError) as error:
        # What constructors raise about numbers, dates and the like, and recursive aliases.
        raise yaml.YAMLError(str(error)) from None


def check_depth(text: str) -> None:
    """Raises yaml.YAMLError for a text that is nested too deeply."""
    flows = text.count("[") + text.count("{")
    if flows <= MAX_DEPTH and _INDENTED.search(text) is None:
        return
    level = 0
    for event in yaml.parse(text, Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            level += 1
            if level > MAX_DEPTH:
                raise yaml.YAMLError("exceeded max depth")
        elif isinstance(event, yaml.CollectionEndEvent):
            level -= 1


def plain(value: Any) -> Json:
    """What the loader made as JSON: keys are strings, aliases are written out. Raises yaml.YAMLError."""
    return _plain(value, [0], 0)


def _plain(value: Any, count: list[int], level: int) -> Json:
    count[0] += 1
    if count[0] > MAX_NODES or level > MAX_DEPTH:
        raise yaml.YAMLError("document contains excessive aliasing")
    kind = type(value)
    if kind is str:
        return value if value.isprintable() else _SURROGATES.sub("\ufffd", value)
    if kind is dict:
        return {_key(key): _plain(item, count, level + 1) for key, item in value.items()}
    if kind is list:
        return [_plain(item, count, level + 1) for item in value]
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if -(2**63) <= value < 2**64 else float(min(max(value, -(10**300)), 10**300))
    if kind is float:
        return _finite(value)
    if kind is set:
        return {_key(key): None for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [_plain(item, count, level + 1) for item in value]
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _finite(value: float) -> float:
    if math.isfinite(value):
        return value
    shown = "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    raise yaml.YAMLError(f"json: unsupported value: {shown}")


def _key(key: Any) -> str:
    """A key as Go's YAML-to-JSON conversion writes it."""
    if type(key) is str:
        return key if key.isprintable() else _SURROGATES.sub("\ufffd", key)
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)


def complaint(error: Exception) -> str:
    """What is wrong with a document, with the line, as Go's YAML reader says it."""
    mark = getattr(error, "problem_mark", None)
    text = getattr(error, "problem", None) or str(error) or "document cannot be read"
    return f"line {mark.line + 1}: {text}" if mark is not None else text
