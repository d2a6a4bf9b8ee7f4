"""Values cast again and again with other strings in them, at the speed of unpickling.

A value is walked once. What holds none of the strings in question is shared by all casts; the rest becomes a pickle
in which these strings, and everything shared, stand as persistent ids.
"""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copyreg import dispatch_table
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from io import BytesIO
from struct import pack
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

_PLAIN = frozenset((int, float, bool, type(None), bytes, np.ndarray, type, FunctionType, BuiltinFunctionType))
"""Types of what is made of nothing else; arrays hold numbers, and nobody writes into them."""


@dataclass(frozen=True, slots=True)
class Mould:
    """A value with gaps."""

    pickled: bytes
    shared: tuple[Any, ...]
    """What every cast holds; its persistent ids come after those of the gaps."""

    def cast(self, filling: list[Any]) -> Any:
        """The value with these in its gaps."""
        # A method of a list, so that no Python code runs for each gap.
        return _Caster(BytesIO(self.pickled), [*filling, *self.shared].__getitem__).load()


class _Caster(pickle.Unpickler):
    """Restores a value with what a function says of persistent ids."""

    def __init__(self, pickled: BytesIO, held: Callable[[int], Any]) -> None:
        super().__init__(pickled)
        self.persistent_load = held  # type: ignore[method-assign]


_Part = tuple[Any, Callable[..., Any], Sequence[Any]]
"""A value; the type of a container, or what makes the value of its pieces; and the pieces: keys and values in turn
where it is a dictionary."""


class Walk:
    """A value taken apart."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self._parts: dict[int, _Part] = {}
        """By identity of the value, which is held, so that it stays its own."""
        self._around: dict[int, list[int]] = {}
        """What directly holds a part: one entry for each time."""
        self._holders: dict[str, list[int]] = {}
        """The same for strings."""
        self._take_apart(root)

    @property
    def strings(self) -> Iterable[str]:
        """All strings in it, keys included, in the order in which they were met."""
        return self._holders.keys()

    def holding(self, text: str) -> Iterator[Mapping[Any, Any]]:
        """The dictionaries that directly hold a string."""
        for holder in dict.fromkeys(self._holders.get(text, ())):
            value = self._parts[holder][0]
            if type(value) is dict:
                yield value

    def mould(self, gaps: Mapping[str, int], numbers: Mapping[str, Mapping[int, int]]) -> Mould:
        """A mould with gaps in place of some strings, and of some integers under some keys."""
        touched = self._touched({holder for text in gaps for holder in self._holders[text]}, numbers)
        count = len(gaps) + len({gap for known in numbers.values() for gap in known.values()})
        writer = _Writer(self._parts, self._around, touched, gaps, numbers, count)
        return writer.written(self.root)

    def _take_apart(self, root: Any) -> None:
        parts, around, holders = self._parts, self._around, self._holders
        around[id(root)] = []
        open_ = [root]
        while open_:
            value = open_.pop()
            part = _apart(value)
            if part is None:
                continue
            here = id(value)
            parts[here] = part
            for piece in part[2]:
                kind = type(piece)
                if kind is str:
                    if piece in holders:
                        holders[piece].append(here)
                    else:
                        holders[piece] = [here]
                elif kind not in _PLAIN:
                    there = id(piece)
                    if there in around:
                        around[there].append(here)
                    else:
                        around[there] = [here]
                        open_.append(piece)

    def _touched(self, begin: set[int], numbers: Mapping[str, Mapping[int, int]]) -> set[int]:
        """Parts that hold a gap, directly or not."""
        for name, known in numbers.items():
            for holder in self._holders.get(name, ()):
                value, maker, _ = self._parts[holder]
                if maker is dict and value.get(name) in known:
                    begin.add(holder)
        touched = set(begin)
        open_ = list(begin)
        while open_:
            for outer in self._around.get(open_.pop(), ()):
                if outer not in touched:
                    touched.add(outer)
                    open_.append(outer)
        return touched


_NONE, _TRUE, _FALSE = pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE
_SMALL = 256
_BOUND = 1 << 31


class _Writer:
    """Writes a pickle of what is touched.

    Pickle's own writer would ask about every object and give every reference a number of its own, which takes two
    to three times as long to read.
    """

    def __init__(
        self,
        parts: Mapping[int, _Part],
        around: Mapping[int, list[int]],
        touched: set[int],
        gaps: Mapping[str, int],
        numbers: Mapping[str, Mapping[int, int]],
        first: int,
    ) -> None:
        self._parts = parts
        self._around = around
        self._touched = touched
        self._gaps = gaps
        self._numbers = numbers
        self._first = first
        self._out: list[bytes] = []
        self._again: dict[Any, bytes] = {}
        """How to say again what has been said, by the string or the identity of the value."""
        self._shared: list[Any] = []

    def written(self, root: Any) -> Mould:
        """The mould of a value."""
        self._say(root)
        self._out.append(pickle.STOP)
        body = b"".join(self._out)
        # In one frame: what is not framed is read byte by byte.
        head = pickle.PROTO + b"\x04" + pickle.FRAME + len(body).to_bytes(8, "little")
        return Mould(head + body, tuple(self._shared))

    def _say(self, value: Any) -> None:
        kind = type(value)
        if kind is str:
            slot: Any = value
        elif value is None:
            self._out.append(_NONE)
            return
        elif kind is bool:
            self._out.append(_TRUE if value else _FALSE)
            return
        elif kind is float:
            self._out.append(pickle.BINFLOAT + pack(">d", value))
            return
        elif kind is int and -_BOUND <= value < _BOUND:
            self._out.append(pickle.BININT + value.to_bytes(4, "little", signed=True))
            return
        else:
            slot = id(value)
        again = self._again.get(slot)
        if again is not None:
            self._out.append(again)
        elif slot in self._touched:
            self._make(slot)
        elif kind is str and value in self._gaps:
            self._refer(slot, self._gaps[value])
        else:
            self._refer(slot, self._first + len(self._shared))
            self._shared.append(value)

    def _refer(self, slot: Any, number: int) -> None:
        """Say what stands outside the pickle."""
        self._out.append(pickle.BININT + number.to_bytes(4, "little") + pickle.BINPERSID)
        self._remember(slot)

    def _remember(self, slot: Any) -> None:
        # As many as have been remembered: nothing is remembered twice.
        number = len(self._again)
        self._out.append(pickle.MEMOIZE)
        short = number < _SMALL
        self._again[slot] = (
            pickle.BINGET + number.to_bytes(1) if short else pickle.LONG_BINGET + number.to_bytes(4, "little")
        )

    def _make(self, slot: int) -> None:
        value, maker, pieces = self._parts[slot]
        if maker is dict or maker is list:
            self._fill(value, pieces, slot)
            return
        if maker is tuple:
            self._enclose(pieces)
        elif isinstance(maker, type) and (names := _constructed(maker)):
            self._build(maker, names, pieces)
        else:
            self._say(_tuples(maker) if _is_named(maker) else maker)
            self._enclose(pieces)
            if _is_named(maker) or maker in (set, frozenset):
                # These are made of all pieces at once.
                self._out.append(pickle.TUPLE1)
            self._out.append(pickle.REDUCE)
        if len(self._around[slot]) > 1:
            self._remember(slot)

    def _build(self, kind: type, names: Sequence[str], pieces: Sequence[Any]) -> None:
        """Make an instance whose class lets nobody set its fields: as one of another class, which it leaves last."""
        self._say(_blank(kind))
        self._out += (pickle.EMPTY_TUPLE, pickle.NEWOBJ, pickle.NONE, pickle.EMPTY_DICT, pickle.MARK)
        for name, piece in zip(names, pieces, strict=True):
            self._say(name)
            self._say(piece)
        self._say("__class__")
        self._say(kind)
        self._out += (pickle.SETITEMS, pickle.TUPLE2, pickle.BUILD)

    def _enclose(self, pieces: Iterable[Any]) -> None:
        self._out.append(pickle.MARK)
        for piece in pieces:
            self._say(piece)
        self._out.append(pickle.TUPLE)

    def _fill(self, value: Any, pieces: Sequence[Any], slot: int) -> None:
        is_dict = type(value) is dict
        self._out.append(pickle.EMPTY_DICT if is_dict else pickle.EMPTY_LIST)
        if len(self._around[slot]) > 1:
            self._remember(slot)
        self._out.append(pickle.MARK)
        if is_dict and not self._numbers.keys().isdisjoint(value):
            self._numbered(value)
        else:
            for piece in pieces:
                self._say(piece)
        self._out.append(pickle.SETITEMS if is_dict else pickle.APPENDS)

    def _numbered(self, mapping: Mapping[Any, Any]) -> None:
        """The items of a dictionary, some of whose integers have gaps."""
        for name, value in mapping.items():
            self._say(name)
            gap = self._numbers.get(name, {}).get(value) if type(value) is int else None
            if gap is None:
                self._say(value)
            else:
                self._out.append(pickle.BININT + gap.to_bytes(4, "little") + pickle.BINPERSID)


def _apart(value: Any) -> _Part | None:
    """What a value is made of. None where it is found by its name."""
    kind: Any = type(value)
    if kind is dict:
        pieces: list[Any] = []
        for item in value.items():
            pieces += item
        return value, dict, pieces
    if kind is list or kind is tuple:
        return value, kind, value
    if kind is frozenset or kind is set:
        return value, kind, sorted(value, key=repr)
    if kind in _PLAIN or kind is str:
        return None
    if _is_named(kind):
        return value, kind, tuple(value)
    if names := _constructed(kind):
        return value, kind, [getattr(value, name) for name in names]
    reduce = dispatch_table.get(kind)
    reduced = value.__reduce_ex__(pickle.HIGHEST_PROTOCOL) if reduce is None else reduce(value)
    if isinstance(reduced, str):
        return None
    maker, arguments, *rest = reduced
    state, items, pairs = (*rest, None, None, None)[:3]
    listed = None if items is None else list(items)
    paired = None if pairs is None else list(pairs)
    return value, _rebuilt, [maker, arguments, state, listed, paired]


def _is_named(kind: Any) -> bool:
    """Whether it is a class of tuples with named fields."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


@cache
def _tuples(kind: Hashable) -> Callable[..., Any]:
    """What makes a tuple of a class of one without names; the class itself takes twice as long."""
    return partial(tuple.__new__, kind)  # type: ignore[arg-type]


@cache
def _constructed(kind: Hashable) -> tuple[str, ...]:
    """Names of all fields of a dataclass; none where an instance is more than its fields."""
    if not is_dataclass(kind) or kind.__bases__ != (object,):
        return ()
    slots = getattr(kind, "__slots__", None)
    names = tuple(field.name for field in fields(kind))
    return names if slots is None or slots == names else ()


class _Blank(type):
    """What classes are that stand in for others: no module has a name for them, so a pickle says whom they stand in for."""

    of: type


@cache
def _blank(kind: Hashable) -> type:
    """A class whose instances have the same room for fields, and which lets everybody set them."""
    space = {"__slots__": kind.__slots__} if hasattr(kind, "__slots__") else {}
    made = _Blank("Blank", (), space)
    made.of = kind  # type: ignore[assignment]
    return made


def _by_whom(blank: _Blank) -> tuple[Any, ...]:
    return _blank, (blank.of,)


copyreg.pickle(_Blank, _by_whom)


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
