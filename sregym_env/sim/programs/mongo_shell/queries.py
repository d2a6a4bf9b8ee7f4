"""Query documents: which documents match, in which order, and which of their fields are shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.programs import javascript as js
from sregym_env.sim.programs.mongo_shell.values import Raw


def with_id(document: Mapping[str, Any], index: int, born: int) -> Mapping[str, Any]:
    """A document with the ``_id`` the driver gave it, which begins with the second in which its collection was ``born``."""
    if "_id" in document:
        return document
    first = next(iter(document.values()), "")
    second = born // SECOND
    bits = f"{keyed_bits('_id', second):010x}"[:10] + f"{keyed_bits('_id', index, repr(first)):06x}"[:6]
    return {"_id": Raw(f'ObjectId("{second:08x}{bits}")'), **document}


def matches(document: Mapping[str, Any], query: Mapping[str, Any]) -> bool:
    """Whether a document matches a query of equalities, comparisons, ``$in`` and regular expressions."""
    for key, wanted in query.items():
        value: Any = document
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(wanted, re.Pattern):
            if not (
                isinstance(value, str) and js.found(wanted.pattern, value, bool(wanted.flags & re.IGNORECASE))
            ):
                return False
        elif isinstance(wanted, Mapping) and any(k.startswith("$") for k in wanted):
            if not all(_compare(value, operator, bound) for operator, bound in wanted.items()):
                return False
        elif value != wanted:
            return False
    return True


def _compare(value: Any, operator: str, bound: Any) -> bool:
    match operator:
        case "$in":
            return value in bound
        case "$nin":
            return value not in bound
        case "$ne":
            return bool(value != bound)
        case "$eq":
            return bool(value == bound)
        case "$exists":
            return (value is not None) == bool(bound)
        case "$regex":
            pattern = bound.pattern if isinstance(bound, re.Pattern) else js.safe_pattern(str(bound))
            return isinstance(value, str) and js.found(pattern, value)
    comparable = isinstance(value, (int, float)) and isinstance(bound, (int, float))
    comparable = comparable or (isinstance(value, str) and isinstance(bound, str))
    if not comparable:
        return False
    return bool(
        {"$gt": value > bound, "$gte": value >= bound, "$lt": value < bound, "$lte": value <= bound}.get(
            operator
        )
    )


def projected(document: Mapping[str, Any], projection: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a document that a projection keeps."""
    if not projection:
        return document
    wanted = {key for key, on in projection.items() if on}
    if wanted:
        keep = wanted | ({"_id"} if projection.get("_id", 1) else set())
        return {k: v for k, v in document.items() if k in keep}
    return {k: v for k, v in document.items() if k not in projection}


def ranked(key: str, document: Mapping[str, Any]) -> tuple[int, Any]:
    """Where a document stands when sorted by ``key``: nothing and truth values, numbers, then text."""
    return _rank(document.get(key))


def _rank(value: Any) -> tuple[int, Any]:
    if isinstance(value, bool) or value is None:
        return (0, int(bool(value)))
    if isinstance(value, (int, float)):
        return (1, value)
    return (2, str(value))
