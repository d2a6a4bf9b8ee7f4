"""How one resource is shown: its columns and the cells of an object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sregym_env.kube.types import Manifest

Cell = str | int | float | bool | None


Row = Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a server-side table."""

    name: str
    wide: bool = False
    type: str = "string"
    format: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Printer:
    """How one resource is shown: its columns and the cells of an object at a time."""

    columns: tuple[Column, ...]
    row: Callable[[Manifest, int], Row]
    narrow: int = field(init=False)
    """How many columns are shown without ``-o wide`` when those come first (-1 when interleaved)."""

    def __post_init__(self) -> None:
        flags = [column.wide for column in self.columns]
        count = flags.count(False)
        object.__setattr__(self, "narrow", -1 if any(flags[:count]) else count)

    def headers(self, wide: bool) -> list[str]:
        """Upper-case header names as kubectl shows them."""
        return [column.name.upper() for column in self.columns if wide or not column.wide]

    def cells(self, obj: Manifest, now: int, wide: bool) -> Row:
        """The cells of one object, without the wide ones unless asked for."""
        row = self.row(obj, now)
        if wide:
            return row
        narrow = self.narrow
        if narrow >= 0:
            return row[:narrow]
        return [cell for cell, column in zip(row, self.columns, strict=False) if not column.wide]

    @classmethod
    def of(cls, columns: str, row: Callable[[Manifest, int], Row]) -> Printer:
        """Columns separated by ``|``; those that only ``-o wide`` shows end in ``*``."""
        out = []
        for text in columns.split("|"):
            name = text.removesuffix("*")
            out.append(Column(name, wide=text.endswith("*"), format="name" if name == "Name" else ""))
        return cls(tuple(out), row)
