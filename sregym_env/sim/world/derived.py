"""Views derived from stored objects and lists of them, remembered by identity.

Objects never change, the store makes a new list after every write, and forks share what neither has written
to; so a view is computed once, for whichever world asks first. Worlds in other threads may ask at the same
time: every change of what is remembered is a single operation on a dictionary, and at worst a view is
computed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Generic, TypeVar

from sregym_env.kube.types import Manifest

T = TypeVar("T")

KEPT = 64
"""Lists whose views are remembered; they are held, so that their identities stay theirs."""

KEPT_OBJECTS = 4096
"""The same for single objects."""


class DerivedFrom(Generic[T]):
    """A function of a list of objects, computed once per list."""

    __slots__ = ("_compute", "_known")

    def __init__(self, compute: Callable[[list[Manifest]], T]) -> None:
        self._compute = compute
        self._known: dict[int, tuple[list[Manifest], T]] = {}

    def __call__(self, objects: list[Manifest]) -> T:
        """The function's value for ``objects``."""
        found = self._known.get(id(objects))
        if found is not None and found[0] is objects:
            return found[1]
        while len(self._known) >= KEPT:
            # Not next(iter()): another thread may add to the dictionary in between. Two may take out the same one, so
            # that later ones have more to take out.
            for oldest in tuple(self._known)[:1]:
                self._known.pop(oldest, None)
        value = self._compute(objects)
        self._known[id(objects)] = (objects, value)
        return value


class DerivedFromEach(Generic[T]):
    """A function of one object, computed once per version of the object."""

    __slots__ = ("_compute", "_known")

    def __init__(self, compute: Callable[[Manifest], T]) -> None:
        self._compute = compute
        self._known: dict[str, tuple[Manifest, T]] = {}

    def __call__(self, obj: Manifest) -> T:
        """The function's value for ``obj``."""
        uid = obj["metadata"].get("uid", "")
        found = self._known.get(uid)
        if found is not None and found[0] is obj:
            return found[1]
        if len(self._known) >= KEPT_OBJECTS:
            self._known.clear()
        value = self._compute(obj)
        self._known[uid] = (obj, value)
        return value


class DerivedWith(Generic[T]):
    """A function of an object and of others that go with it, computed anew when any of them has changed."""

    __slots__ = ("_compute", "_known")

    def __init__(self, compute: Callable[[Manifest, Sequence[Manifest]], T]) -> None:
        self._compute = compute
        self._known: dict[str, tuple[Manifest, Sequence[Manifest], T]] = {}

    def __call__(self, obj: Manifest, others: Sequence[Manifest]) -> T:
        """The function's value for ``obj`` and ``others``; the sequence must not be changed afterwards."""
        uid = obj["metadata"].get("uid", "")
        found = self._known.get(uid)
        if found is not None and found[0] is obj:
            before = found[1]
            if len(before) == len(others) and all(map(is_, before, others)):
                return found[2]
        if len(self._known) >= KEPT:
            self._known.clear()
        value = self._compute(obj, others)
        self._known[uid] = (obj, others, value)
        return value
