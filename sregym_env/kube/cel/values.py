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


class SetList(list[Any]):
    """A list of type ``set``: order means nothing, and ``+`` adds what is not there yet."""

    __slots__ = ()


class MapList(list[Any]):
    """A list of type ``map``: its items are told apart by keys, and ``+`` replaces items of the same keys."""

    __slots__ = ("keys",)

    def __init__(self, items: list[Any], keys: tuple[str, ...]) -> None:
        super().__init__(items)
        self.keys = keys

    def key_of(self, item: Any) -> tuple[Any, ...]:
        """The values of an item's keys."""
        return tuple(item.get(key) for key in self.keys) if isinstance(item, dict) else (repr(item),)


def joined(a: list[Any], b: list[Any]) -> list[Any]:
    """``a + b`` of two lists, as the type of the first has it."""
    if isinstance(a, SetList):
        return SetList([*a, *(item for item in b if not any(equal(item, known) for known in a))])
    if isinstance(a, MapList):
        fresh = {a.key_of(item): item for item in b}
        kept = [fresh.pop(a.key_of(item), item) for item in a]
        return MapList([*kept, *fresh.values()], a.keys)
    return [*a, *b]


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
    SetList: "list",
    MapList: "list",
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
        if isinstance(a, SetList):
            return len(a) == len(b) and all(any(equal(x, y) for y in b) for x in a)
        if isinstance(a, MapList) and len(a) == len(b):
            others = {a.key_of(item): item for item in b}
            return all(a.key_of(item) in others and equal(item, others[a.key_of(item)]) for item in a)
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if ka == "map":
        return len(a) == len(b) and all(key in b and equal(value, b[key]) for key, value in a.items())
    if ka == "optional":
        return bool(a.present == b.present and (not a.present or equal(a.value, b.value)))
    return bool(a == b)
