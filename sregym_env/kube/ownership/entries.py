"""The entries of ``metadata.managedFields``: who wrote which fields, how, and when."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sregym_env.kube.ownership.fields import Fields, canonical, is_fields, union
from sregym_env.kube.types import Json, Manifest

Operation = Literal["Apply", "Update"]
Key = tuple[str, str, str, str]
"""What tells entries apart: manager, operation, version (of updates only) and subresource."""

MOST_UPDATERS = 10
"""Entries of updates that are kept; older ones are merged (``DefaultMaxUpdateManagers``)."""

OLD_UPDATES = "ancient-changes"
"""The manager of merged entries."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One manager's fields."""

    manager: str
    operation: Operation
    api_version: str
    """The version in which the fields are named."""
    fields: Fields
    time: str = ""
    """When the set of fields last changed (RFC 3339)."""
    subresource: str = ""

    @property
    def key(self) -> Key:
        """What tells it from other entries: an applier is the same one in every version."""
        version = "" if self.operation == "Apply" else self.api_version
        return (self.manager, self.operation, version, self.subresource)

    @property
    def shown(self) -> str:
        """How conflicts name it: ``"kubectl-edit" using apps/v1``."""
        text = f'"{self.manager}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return f"{text} using {self.api_version}" if self.operation == "Update" else text

    def having(self, fields: Fields) -> Entry:
        """The entry with other fields."""
        return self if fields is self.fields else dataclasses.replace(self, fields=fields)


def decode(found: Json) -> tuple[Entry, ...]:
    """The entries of a ``managedFields`` list. Raises ValueError where one is malformed."""
    if not isinstance(found, list):
        raise ValueError("managedFields is not a list")
    return tuple(_decoded(entry) for entry in found)


def _decoded(entry: Json) -> Entry:
    if not isinstance(entry, dict):
        raise ValueError("entry is not an object")
    if entry.get("fieldsType") != "FieldsV1" or entry.get("operation") not in ("Apply", "Update"):
        raise ValueError("entry has no valid fieldsType and operation")
    fields = entry.get("fieldsV1") or {}
    if not is_fields(fields):
        raise ValueError("entry has malformed fieldsV1")
    return Entry(
        str(entry.get("manager", "")),
        entry["operation"],
        str(entry.get("apiVersion", "")),
        fields,
        str(entry.get("time") or ""),
        str(entry.get("subresource", "")),
    )


def stored(obj: Manifest) -> tuple[Entry, ...]:
    """The recorded entries of an object (they are well-formed: this package wrote them)."""
    return tuple(
        Entry(
            e["manager"],
            e["operation"],
            e["apiVersion"],
            e["fieldsV1"],
            e.get("time", ""),
            e.get("subresource", ""),
        )
        for e in obj["metadata"].get("managedFields") or ()
    )


def encode(entries: Iterable[Entry], recorded: Iterable[Manifest] = ()) -> list[Manifest]:
    """The ``managedFields`` list: appliers first, then by time. Sets of fields that are ``recorded`` already are in
    order."""
    ordered_already = {id(entry["fieldsV1"]) for entry in recorded}
    ordered = sorted(
        (entry for entry in entries if entry.fields),
        key=lambda e: (e.operation, e.time, e.manager, e.api_version, e.subresource),
    )
    return [_encoded(entry, id(entry.fields) in ordered_already) for entry in ordered]


def _encoded(entry: Entry, is_canonical: bool) -> dict[str, Any]:
    out: dict[str, Any] = {
        "manager": entry.manager,
        "operation": entry.operation,
        "apiVersion": entry.api_version,
    }
    if entry.time:
        out["time"] = entry.time
    out["fieldsType"] = "FieldsV1"
    out["fieldsV1"] = entry.fields if is_canonical else canonical(entry.fields)
    if entry.subresource:
        out["subresource"] = entry.subresource
    return out


def same_but_time(a: Sequence[Manifest], b: Sequence[Manifest]) -> bool:
    """Whether two lists say the same apart from when."""
    if len(a) != len(b):
        return False
    return all({**x, "time": ""} == {**y, "time": ""} for x, y in zip(a, b, strict=True))


def handed_over(entries: Sequence[Entry], updater: str, applier: str) -> tuple[Entry, ...]:
    """The entries after what somebody owned by updates became what somebody applies (``csaupgrade``)."""

    def given(entry: Entry) -> bool:
        return (entry.manager, entry.operation, entry.subresource) == (updater, "Update", "")

    heirs = [e for e in entries if (e.manager, e.operation, e.subresource) == (applier, "Apply", "")]
    source = next((entry for entry in entries if given(entry)), None)
    if source is None:
        return tuple(entries)
    if not heirs:
        heirs = [dataclasses.replace(source, manager=applier, operation="Apply")]
    heir = heirs[0]
    same_version = next((e for e in entries if given(e) and e.api_version == heir.api_version), None)
    if same_version is not None:
        heir = heir.having(union(heir.fields, same_version.fields))
    return (heir, *(e for e in entries if not given(e) and e.key != heir.key))


def capped(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries with the oldest updates merged, version by version, until few enough are left."""
    updates = sorted((e for e in entries if e.operation == "Update"), key=lambda e: (e.time, e.key))
    if len(updates) <= MOST_UPDATERS:
        return tuple(entries)
    kept = {entry.key: entry for entry in entries}
    left = len(updates)
    first: dict[str, Entry] = {}
    for entry in updates:
        if left <= MOST_UPDATERS:
            break
        older = first.setdefault(entry.api_version, entry)
        if older is entry:
            continue
        bucket = (OLD_UPDATES, "Update", entry.api_version, "")
        merged = kept.get(bucket)
        if merged is None:
            merged = kept.pop(older.key)
        fields = union(entry.fields, merged.fields)
        kept.pop(entry.key, None)
        kept[bucket] = Entry(OLD_UPDATES, "Update", entry.api_version, fields, entry.time)
        left -= 1
    return tuple(kept.values())
