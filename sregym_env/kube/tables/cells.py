"""What the cells of many tables share: ages, labels, selectors, conditions, containers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from sregym_env.kube.durations import human_duration, parse_rfc3339
from sregym_env.kube.types import Manifest

NO_FIELDS: Mapping[str, Any] = {}
"""An absent object: every field of it is absent too."""


@lru_cache(maxsize=65536)
def micros(stamp: str) -> int:
    """A timestamp in microseconds since the Unix epoch."""
    return parse_rfc3339(stamp)


def since(stamp: str | None, now: int) -> str:
    """How long ago a timestamp was, as a person reads it: ``3m``, ``5h10m``; ``<unknown>`` when unset."""
    if not stamp:
        return "<unknown>"
    return _ago((now - micros(stamp)) // 1_000_000)


@lru_cache(maxsize=65536)
def _ago(seconds: int) -> str:
    return human_duration(seconds)


def age(obj: Manifest, now: int) -> str:
    """The age of an object."""
    return since(obj["metadata"].get("creationTimestamp"), now)


def format_labels(labels: Mapping[str, str] | None) -> str:
    """``a=b,c=d``, sorted as whole words (``a-b=`` before ``a=``), or ``<none>``."""
    if not labels:
        return "<none>"
    return ",".join(sorted([f"{key}={value}" for key, value in labels.items()]))


def format_selector(selector: Mapping[str, Any] | None) -> str:
    """A LabelSelector as ``metav1.FormatLabelSelector`` prints it."""
    if selector is None:
        return "<none>"
    parts = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    for term in selector.get("matchExpressions") or ():
        parts.append((term["key"], _expression(term)))
    return ",".join(text for _, text in sorted(parts, key=lambda part: part[0])) or "<none>"


def _expression(term: Mapping[str, Any]) -> str:
    key, operator = term["key"], term["operator"]
    if operator == "Exists":
        return str(key)
    if operator == "DoesNotExist":
        return f"!{key}"
    values = ",".join(sorted(term.get("values") or ()))
    return f"{key} {'in' if operator == 'In' else 'notin'} ({values})"


def access_modes(modes: Iterable[str] | None) -> str:
    """``RWO,ROX``: access modes abbreviated, in the fixed order."""
    present = tuple(modes or ())
    return ",".join(short for mode, short in _ACCESS_MODES if mode in present)


_ACCESS_MODES = (
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
)


def cut_off(items: list[str], shown: int, separator: str = ",") -> str:
    """The first items, and how many more there are."""
    text = separator.join(items[:shown])
    return f"{text} + {len(items) - shown} more..." if len(items) > shown else text


def find_condition(obj: Manifest, type_: str) -> Mapping[str, Any] | None:
    """The condition of this type in an object's status, if it has one."""
    for condition in (obj.get("status") or {}).get("conditions") or ():
        if condition["type"] == type_:
            found: Mapping[str, Any] = condition
            return found
    return None


def is_true(obj: Manifest, type_: str) -> bool:
    """Whether an object has this condition and it is true."""
    condition = find_condition(obj, type_)
    return condition is not None and condition.get("status") == "True"


def names_and_images(template: Mapping[str, Any] | None) -> tuple[str, str]:
    """The CONTAINERS and IMAGES cells of a pod template."""
    containers = ((template or {}).get("spec") or {}).get("containers") or ()
    return ",".join([c.get("name", "") for c in containers]), ",".join(
        [c.get("image", "") for c in containers]
    )
