"""Label selectors as controllers use them: a compiled test over an object's labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Labels = Mapping[str, str] | None
Selector = Mapping[str, Any] | None
"""A ``LabelSelector``. None selects nothing, an empty one everything."""


def matcher(selector: Selector) -> Callable[[Labels], bool]:
    """The test that a ``LabelSelector`` stands for."""

    def matches(labels: Labels) -> bool:
        return selects(selector, labels)

    return matches


def selects(selector: Selector, labels: Labels) -> bool:
    """Whether a ``LabelSelector`` selects an object with these labels."""
    if selector is None:
        return False
    found = labels or {}
    for key, value in (selector.get("matchLabels") or {}).items():
        if found.get(key) != value:
            return False
    return all(holds(expression, found) for expression in selector.get("matchExpressions") or ())


def holds(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether one requirement of a label selector, or of a node selector term, holds."""
    value = labels.get(requirement["key"])
    values = requirement.get("values") or ()
    match requirement["operator"]:
        case "In":
            return value is not None and value in values
        case "NotIn":
            return value is None or value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return _number(value) is not None and _number(value, 0) > _number(values[0], 0)  # type: ignore[operator]
        case "Lt":
            return _number(value) is not None and _number(value, 0) < _number(values[0], 0)  # type: ignore[operator]
    return False


def selects_map(selector: Mapping[str, str] | None, labels: Labels) -> bool:
    """Whether a plain map selector (a Service's) selects these labels. None and empty select nothing."""
    if not selector:
        return False
    found = labels or {}
    return all(found.get(key) == value for key, value in selector.items())


def _number(text: str | None, default: int | None = None) -> int | None:
    try:
        return int(text or "")
    except ValueError:
        return default
