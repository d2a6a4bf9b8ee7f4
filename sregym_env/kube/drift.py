"""Whether an object is still what somebody wants it to be: a manifest's own fields, and nothing that it does not name.

The rules of tools that compare what is declared with what is there (``kubectl diff``, Argo CD), as far as they need no
request: what the server adds or fills in is no difference, and neither is what a manifest leaves empty.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sregym_env.kube.types import Manifest

_COMPARED = ("labels", "annotations")
"""Of the metadata."""

_UNCOMPARED = ("apiVersion", "kind", "metadata", "status", "stringData")


def drifted(wanted: Manifest, live: Manifest, ignored: Collection[str] = ()) -> bool:
    """Whether some field that a manifest names is another in the object. ``ignored``: fields of ``spec`` that do not count."""
    mine, theirs = wanted["metadata"], live["metadata"]
    if any(_differs(mine.get(field), theirs.get(field)) for field in _COMPARED):
        return True
    for field, value in wanted.items():
        if field in _UNCOMPARED:
            continue
        if field == "spec" and ignored and isinstance(value, Mapping):
            value = {name: each for name, each in value.items() if name not in ignored}
        if _differs(value, live.get(field)):
            return True
    return False


def _differs(wanted: Any, live: Any) -> bool:
    if wanted is live:
        return False
    if isinstance(wanted, Mapping):
        if not isinstance(live, Mapping):
            return bool(wanted)
        return any(_differs(value, live.get(name)) for name, value in wanted.items())
    if isinstance(wanted, list):
        if not isinstance(live, list):
            return bool(wanted)
        if len(wanted) <= len(live) and _named(wanted) and _named(live):
            there = {each["name"]: each for each in live}
            return any(_differs(each, there.get(each["name"])) for each in wanted)
        return len(wanted) != len(live) or any(
            _differs(mine, theirs) for mine, theirs in zip(wanted, live, strict=True)
        )
    return bool(wanted != live) and not (live is None and not wanted)


def _named(entries: list[Any]) -> bool:
    return all(isinstance(each, Mapping) and "name" in each for each in entries)
