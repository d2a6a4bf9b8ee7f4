"""Static types: what the compiler knows of a value before it is there.

A type is a name (``int``, ``dyn``, ``timestamp``, ``kubernetes.Quantity``), a pair such as ``("list", "int")``,
``("map", "string", "dyn")`` or ``("optional", "int")``, or an :class:`ObjectType`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.cel.values import kind_of

Type = Any
"""A name, a tuple or an ObjectType."""

DYN = "dyn"
_PRIMITIVE = frozenset(("int", "uint", "double", "bool", "string", "bytes", "list", "map", "type"))


@dataclass(frozen=True, slots=True, eq=False)
class ObjectType:
    """An object with known fields."""

    name: str
    fields: Mapping[str, Type]
    """Types by field name as the expression writes it."""


def type_text(type_: Type) -> str:
    """A type as cel-go prints it: ``list(int)``, ``map(string, dyn)``, ``google.protobuf.Timestamp``."""
    if isinstance(type_, ObjectType):
        return type_.name
    if isinstance(type_, tuple):
        name = "optional_type" if type_[0] == "optional" else type_[0]
        return f"{name}({', '.join(type_text(part) for part in type_[1:])})"
    return _TEXTS.get(str(type_), str(type_))


_TEXTS = {"timestamp": "timestamp", "duration": "duration", "list": "list(dyn)", "map": "map(dyn, dyn)"}


def fits(given: Type, wanted: Type) -> bool:
    """Whether a value of type ``given`` may stand where ``wanted`` is wanted."""
    if given is wanted or given == DYN or wanted == DYN:
        return True
    if isinstance(given, str) and isinstance(wanted, str):
        if given == "null":
            return wanted not in _PRIMITIVE
        if wanted == "null":
            return given not in _PRIMITIVE
        return bool(given == wanted)
    if isinstance(given, tuple) and isinstance(wanted, tuple):
        return bool(given[0] == wanted[0]) and all(
            fits(a, b) for a, b in zip(given[1:], wanted[1:], strict=False)
        )
    if isinstance(given, tuple) and isinstance(wanted, str):
        return bool(given[0] == wanted)
    if isinstance(given, str) and isinstance(wanted, tuple):
        return bool(given == wanted[0])
    if isinstance(given, ObjectType) and isinstance(wanted, ObjectType):
        return given.name == wanted.name
    # An object is compared with null, and stands in for a map where the host knows nothing better.
    return "null" in (given, wanted) or "map" in (given, wanted) or _head(given) == "map" == _head(wanted)


def _head(type_: Type) -> str:
    if isinstance(type_, ObjectType):
        return "map"
    return type_[0] if isinstance(type_, tuple) else str(type_)


def join(first: Type, second: Type) -> Type:
    """The type of a value that is either."""
    return first if fits(first, second) and first not in (DYN, "null") else second if first == "null" else DYN


def matches(value: Any, wanted: Type) -> bool:
    """Whether a value is of a type (its parts are not looked at)."""
    if wanted == DYN:
        return True
    return kind_of(value) == _head(wanted)


def element(type_: Type) -> Type:
    """Type of the elements of a list, or of the keys of a map, which is what macros range over."""
    return type_[1] if isinstance(type_, tuple) and type_[0] in ("list", "map") else DYN
