"""Changing frozen values: a new value with some fields different."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

T = TypeVar("T")

_new = object.__new__

_Fields = tuple[Callable[[Any], tuple[Any, ...]], Mapping[str, Callable[[Any, Any], None]]]


@cache
def _fields(kind: type) -> _Fields:
    """What reads all fields of a class with slots at once, and what sets each."""
    names = kind.__slots__  # type: ignore[attr-defined]
    # With a name repeated the getter makes a tuple even of a single field.
    return attrgetter(names[0], *names), {name: getattr(kind, name).__set__ for name in names}


def evolve(value: T, **changes: Any) -> T:
    """What :func:`dataclasses.replace` makes, in a third of the time; for frozen dataclasses with slots that
    have neither a base class with fields nor a ``__post_init__``. Raises KeyError for an unknown field."""
    kind = type(value)
    read, setters = _fields(kind)
    made = _new(kind)
    values = iter(read(value))
    next(values)
    for set_, each in zip(setters.values(), values, strict=True):
        set_(made, each)
    for name, to in changes.items():
        setters[name](made, to)
    return made
