"""Values of the language that JSON has no form for, and how values are compared.

JSON values stand for themselves: ``int``, ``float``, ``str``, ``bool``, ``None``, ``list``, ``dict``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class Uint(int):
    """An unsigned integer (``1u``)."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A point in time, nanoseconds since the Unix epoch."""

    ns: int


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time in nanoseconds."""

    ns: int


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value (``type(x)``, ``int``)."""

    name: str


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may be absent."""

    present: bool
    value: Any = None


NONE = Optional(False)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A Kubernetes quantity, exact."""

    nano: int


class Host:
    """An object of the host: its public methods can be called (``authorizer``)."""

    __slots__ = ()
    type_name = "host"


def kind_of(value: Any) -> str:
    """The name of a value's type."""
    kind = _KINDS.get(type(value))
    if kind is None:
        kind = value.type_name if isinstance(value, Host) else getattr(value, "cel_type", "dyn")
    return kind


_KINDS: dict[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null",
    list: "list",
    tuple: "list",
    dict: "map",
    Timestamp: "timestamp",
    Duration: "duration",
    TypeValue: "type",
    Optional: "optional",
    Quantity: "kubernetes.Quantity",
}

_NUMBERS = frozenset(("int", "uint", "double"))


def equal(a: Any, b: Any) -> bool:
    """Equality as CEL has it: numbers by value, everything else only within its type."""
    ka, kb = kind_of(a), kind_of(b)
    if ka != kb and not (ka in _NUMBERS and kb in _NUMBERS):
        return False
    if ka == "list":
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if ka == "map":
        return len(a) == len(b) and all(key in b and equal(value, b[key]) for key, value in a.items())
    if ka == "optional":
        return bool(a.present == b.present and (not a.present or equal(a.value, b.value)))
    return bool(a == b)
