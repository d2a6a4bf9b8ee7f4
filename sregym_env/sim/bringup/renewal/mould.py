"""Values cast again and again with other strings in them, at the speed of unpickling.

A value is walked once. What holds none of the strings in question is shared by all casts; the rest becomes a pickle
in which these strings, and everything shared, stand as persistent ids.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from io import BytesIO
from types import BuiltinFunctionType, FunctionType
from typing import Any


_NUMBERS = frozenset((int, float, bool, type(None)))
"""What a pickle holds as it is."""

_PLAIN = _NUMBERS | {bytes, type, FunctionType, BuiltinFunctionType}
"""What is made of nothing else."""

Parts = tuple[Callable[..., Any], Sequence[Any]]
"""What makes a value again, and from what: ``maker(*parts)``, or the container type with its items in a row."""


@dataclass(frozen=True, slots=True)
class Mould:
    """A value with gaps."""

    pickled: bytes
    shared: tuple[Any, ...]
    """What every cast holds; its persistent ids come after those of the gaps."""

    def cast(self, filling: list[Any]) -> Any:
        """The value with these in its gaps."""
        source = pickle.Unpickler(BytesIO(self.pickled))
        # A method of a list, so that no Python code runs for each gap.
        source.persistent_load = [*filling, *self.shared].__getitem__  # type: ignore[method-assign, assignment]
        return source.load()


class Walk:
    """A value taken apart.

    ``strings`` are all strings in it, keys included, in the order in which they are met.
    """

    def __init__(self, root: Any) -> None:
        self.root = root
        self.strings: dict[str, None] = {}
        # By identity; what is taken apart is held, so that identities stay theirs.
        self._known: dict[int, tuple[Any, Parts]] = {}
        self._take_apart(root)

    def _take_apart(self, root: Any) -> None:
        strings, known = self.strings, self._known
        open_: list[Any] = [root]
        while open_:
            value = open_.pop()
            if type(value) is str:
                strings[value] = None
            elif type(value) not in _PLAIN and id(value) not in known:
                parts = _parts(value)
                if parts is not None:
                    known[id(value)] = (value, parts)
                    open_.extend(parts[1])

    def mappings(self) -> Iterator[Mapping[Any, Any]]:
        """Every dictionary in it."""
        return (value for value, _ in self._known.values() if type(value) is dict)

    def mould(self, gaps: Mapping[str, int], numbers: Mapping[tuple[str, int], int]) -> Mould:
        """A mould with gaps in place of some strings, and of some integers under some keys."""
        casting = _Casting(self._known, gaps, numbers)
        shape = casting.whole(self.root)
        pickled = BytesIO()
        _Pickler(pickled, pickle.HIGHEST_PROTOCOL).dump(shape)
        return Mould(pickled.getvalue(), tuple(casting.shared))


class _Reference:
    """Something that stands outside the pickle."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def __call__(self) -> None:
        """Never called: a pickle only lets what can be called stand for a maker."""


class _Made:
    """Something that is made anew from its parts."""

    __slots__ = ("maker", "parts")

    def __init__(self, maker: Callable[..., Any], parts: tuple[Any, ...]) -> None:
        self.maker = maker
        self.parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return self.maker, self.parts


class _Pickler(pickle.Pickler):
    def persistent_id(self, obj: Any) -> int | None:
        return obj.index if type(obj) is _Reference else None


class _Casting:
    """The making of one mould."""

    def __init__(
        self,
        known: Mapping[int, tuple[Any, Parts]],
        gaps: Mapping[str, int],
        numbers: Mapping[tuple[str, int], int],
    ) -> None:
        self.shared: list[Any] = []
        self._known = known
        self._numbers = numbers
        self._first = len(gaps) + len({*numbers.values()})
        self._gaps = {text: _Reference(index) for text, index in gaps.items()}
        self._shapes: dict[int, Any] = {}
        self._references: dict[Any, _Reference] = {}

    def whole(self, value: Any) -> Any:
        """The value with references in its gaps; a reference to it where it has none."""
        shape = self.shape(value)
        return self._outside(value) if shape is value else shape

    def shape(self, value: Any) -> Any:
        """The value with references in its gaps; the very value where it has none."""
        kind = type(value)
        if kind is str:
            return self._gaps.get(value, value)
        if kind in _PLAIN:
            return value
        found = self._shapes.get(id(value))
        if found is None:
            known = self._known.get(id(value))
            found = self._shapes[id(value)] = value if known is None else self._shaped(*known)
        return found

    def _shaped(self, value: Any, parts: Parts) -> Any:
        maker, before = parts
        after = [self.shape(part) for part in before]
        if type(value) is dict and self._numbers:
            self._number(before, after)
        if all(map(_is, before, after)):
            return value
        held = [self._outside(part) if part is old else part for part, old in zip(after, before, strict=True)]
        if maker is dict:
            return dict(zip(held[::2], held[1::2], strict=True))
        if maker is list:
            return held
        if maker is tuple:
            return tuple(held)
        if maker is frozenset or maker is set:
            return _Made(self._outside(maker), (held,))
        return _Made(self._outside(maker), tuple(held))

    def _number(self, before: Sequence[Any], after: list[Any]) -> None:
        """Put gaps in place of integers of a dictionary."""
        for at in range(0, len(before), 2):
            name, number = before[at], before[at + 1]
            if type(number) is int and (name, number) in self._numbers:
                after[at + 1] = _Reference(self._numbers[(name, number)])

    def _outside(self, value: Any) -> Any:
        """A reference to what has no gaps, or the value itself where that is as short."""
        if type(value) in _NUMBERS:
            return value
        slot = value if type(value) is str else id(value)
        found = self._references.get(slot)
        if found is None:
            found = self._references[slot] = _Reference(self._first + len(self.shared))
            self.shared.append(value)
        return found


def _is(one: Any, other: Any) -> bool:
    return one is other


def _parts(value: Any) -> Parts | None:
    """What a value is made of. None where it is found by its name."""
    kind = type(value)
    if kind is dict:
        return dict, [part for item in value.items() for part in item]
    if kind is list or kind is tuple:
        return kind, value
    if kind is frozenset or kind is set:
        return kind, sorted(value, key=repr)
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return kind, tuple(value)
    if is_dataclass(value) and (names := _constructed(kind)) is not None:
        return kind, [getattr(value, name) for name in names]
    reduced = value.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
    if isinstance(reduced, str):
        return None
    maker, arguments, *rest = reduced
    state, items, pairs = (*rest, None, None, None)[:3]
    listed = None if items is None else list(items)
    paired = None if pairs is None else list(pairs)
    return _rebuilt, [maker, arguments, state, listed, paired]


@cache
def _constructed(kind: type) -> tuple[str, ...] | None:
    """Names of the fields of a dataclass that its constructor takes as they are; None where it does more."""
    declared = fields(kind)
    plain = all(field.init and not field.kw_only for field in declared)
    return tuple(field.name for field in declared) if plain and not hasattr(kind, "__post_init__") else None


def _rebuilt(
    maker: Callable[..., Any],
    arguments: Iterable[Any],
    state: Any,
    listed: list[Any] | None,
    paired: list[tuple[Any, Any]] | None,
) -> Any:
    """What pickling would restore from these."""
    made = maker(*arguments)
    if state is not None:
        if hasattr(made, "__setstate__"):
            made.__setstate__(state)
        else:
            plain, slots = state if isinstance(state, tuple) else (state, None)
            for name, value in {**(plain or {}), **(slots or {})}.items():
                object.__setattr__(made, name, value)
    if listed is not None:
        made.extend(listed)
    for name, value in paired or ():
        made[name] = value
    return made


