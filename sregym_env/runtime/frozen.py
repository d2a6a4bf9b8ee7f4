"""Changing frozen values: a new value with some fields different."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")

_new = object.__new__
_set = object.__setattr__


def evolve(value: T, **changes: Any) -> T:
    """What :func:`dataclasses.replace` makes, in half the time; for frozen dataclasses with slots that have
    neither a base class with fields nor a ``__post_init__``. Raises AttributeError for an unknown field."""
    made = _new(type(value))
    for name in value.__slots__:  # type: ignore[attr-defined]
        _set(made, name, getattr(value, name))
    for name, to in changes.items():
        _set(made, name, to)
    return made
