"""The values of a program beside Python's own plain ones, and what may be asked of each."""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from typing import Any


@dataclass(frozen=True)
class Builtin:
    """A function of the library."""

    name: str
    call: Callable[..., Any]

    def __repr__(self) -> str:
        return f"<built-in function {self.name}>"


@dataclass(frozen=True)
class Kind(Builtin):
    """A class: it can be called, and values are of it."""

    type: tuple[type, ...] = ()
    members: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<class '{self.name}'>"


@dataclass(frozen=True)
class Module:
    """A module."""

    name: str
    members: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<module '{self.name}'>"


@dataclass(frozen=True, eq=False)
class Function:
    """A function that the program itself has written; a lambda's body is an expression."""

    name: str
    arguments: tuple[str, ...]
    body: list[ast.stmt] | ast.expr
    scope: Any
    """The names it sees."""
    defaults: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"<function {self.name} at 0x7f1c2e5b3d90>"


@dataclass(frozen=True)
class Method:
    """A method of a value."""

    value: Any
    name: str

    def __repr__(self) -> str:
        return f"<built-in method {self.name} of {type(self.value).__name__} object>"


class Stream:
    """What can be gone through once: a generator, ``map``, ``enumerate``."""

    def __init__(self, values: Iterable[Any], name: str = "generator") -> None:
        self._values = iter(values)
        self.name = name

    def __iter__(self) -> Iterator[Any]:
        return self._values

    def __next__(self) -> Any:
        return next(self._values)

    def __repr__(self) -> str:
        return f"<{self.name} object at 0x7f1c2e5a1b40>"


class TextFile:
    """A file of the machine, or a stream of the program, open for reading or writing."""

    def __init__(
        self, name: str, text: str = "", write: Callable[[str], None] | None = None, *, binary: bool = False
    ) -> None:
        self.name = name
        self._rest = text
        self._write = write
        self._binary = binary

    def read(self, size: int = -1) -> Any:
        """What is left, or so much of it."""
        if self._write is not None:
            raise OSError("not readable")
        size = len(self._rest) if size is None or size < 0 else size
        found, self._rest = self._rest[:size], self._rest[size:]
        return found.encode("utf-8", "surrogateescape") if self._binary else found

    def readline(self) -> Any:
        """The next line with its end; nothing at the end."""
        return self.read(self._rest.find("\n") + 1 or -1)

    def readlines(self) -> list[Any]:
        """All lines that are left."""
        return list(self)

    def write(self, text: str) -> int:
        """Write; the number of characters."""
        if self._write is None:
            raise OSError("not writable")
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        text.encode("utf-8", "surrogateescape")  # half a character cannot be written
        self._write(text)
        return len(text)

    def flush(self) -> None:
        """Nothing: what is written is written at once."""

    def close(self) -> None:
        """The same."""

    def __iter__(self) -> Iterator[Any]:
        while self._rest:
            yield self.readline()

    def __repr__(self) -> str:
        return f"<_io.TextIOWrapper name='{self.name}' mode='{'r' if self._write is None else 'w'}' encoding='utf-8'>"


@dataclass(frozen=True)
class Found:
    """Where a pattern matched."""

    text: str
    groups_: tuple[str | None, ...]
    names: Mapping[str, str | None]
    place: tuple[int, int]

    def group(self, *which: Any) -> Any:
        """What a group holds; the whole without one."""
        found = tuple(self._group(each) for each in which or (0,))
        return found[0] if len(found) == 1 else found

    def _group(self, which: Any) -> str | None:
        if isinstance(which, str) and which in self.names:
            return self.names[which]
        if isinstance(which, int) and 0 <= which <= len(self.groups_):
            return (self.text, *self.groups_)[which]
        raise IndexError("no such group")

    def groups(self) -> tuple[str | None, ...]:
        """All groups."""
        return self.groups_

    def groupdict(self) -> dict[str, str | None]:
        """The groups that have names."""
        return dict(self.names)

    def start(self) -> int:
        """Where it begins."""
        return self.place[0]

    def end(self) -> int:
        """Where it ends."""
        return self.place[1]

    def span(self) -> tuple[int, int]:
        """Both."""
        return self.place

    def __repr__(self) -> str:
        return f"<re.Match object; span={self.place}, match={self.text!r}>"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DICT = _names("get items keys values pop popitem update setdefault copy clear")
_MOMENT = _names("strftime isoformat weekday isoweekday date timestamp replace time utcoffset astimezone")

METHODS: Mapping[type, frozenset[str]] = {
    str: _names(
        "split rsplit strip lstrip rstrip startswith endswith replace lower upper title capitalize join splitlines find "
        "rfind index count isdigit isdecimal isnumeric isalpha isalnum isspace isupper islower ljust rjust center zfill "
        "partition rpartition removeprefix removesuffix encode format swapcase casefold"
    ),
    bytes: _names("decode split strip startswith endswith hex"),
    list: _names("append extend insert pop remove index count sort reverse copy clear"),
    tuple: _names("index count"),
    dict: _DICT,
    Counter: _DICT | _names("most_common elements total"),
    defaultdict: _DICT,
    OrderedDict: _DICT,
    set: _names("add discard remove pop union intersection difference issubset issuperset update copy"),
    int: _names("bit_length"),
    float: _names("is_integer"),
    datetime: _MOMENT,
    date: _names("strftime isoformat weekday isoweekday"),
    timedelta: _names("total_seconds"),
    TextFile: _names("read readline readlines write flush close"),
    Found: _names("group groups groupdict start end span"),
}
"""What may be called, by the exact type of the value."""

FIELDS: Mapping[type, frozenset[str]] = {
    datetime: _names("year month day hour minute second microsecond"),
    date: _names("year month day"),
    timedelta: _names("days seconds"),
    TextFile: _names("name"),
}
"""What may be read."""

PLAIN = (type(None), bool, int, float, str, bytes, list, tuple, dict, set, Counter, defaultdict, OrderedDict)
MOMENTS = (datetime, date, timedelta, timezone)
