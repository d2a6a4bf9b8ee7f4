"""What an exporter is: something that writes the episodes of one split in a trainer's format, and counts what is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from pathlib import Path
from typing import Any, Literal

from sregym_env.errors import UsageError, told_of
from sregym_env.rollouts.dataset.filters import Filter
from sregym_env.rollouts.dataset.reader import Dataset
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.rollouts.runner import Rollout

OPTIONS: Mapping[str, str] = {
    "text_calls": "--text-calls", "thoughts": "--drop-thoughts", "mask_errors": "--mask-errors", "margin": "--margin",
    "pairs": "--pairs", "atif_version": "--atif-version", "minari_id": "--minari-id",
}  # fmt: skip
"""What settings are called on the command line."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to export; each format takes some of it (:attr:`Format.takes`). Raises UsageError for values there are not."""

    text_calls: bool = False
    """Write command lines that a policy said as text as calls of the tools ``shell`` and ``submit_*``."""
    thoughts: Literal["keep", "drop"] = "keep"
    """What becomes of the words beside tool calls, and of a model's reasoning, where the format has a place."""
    mask_errors: bool = False
    """Give turns that could not be understood no weight, where the format can say so."""
    margin: float = 0.05
    """Least difference between the returns of a preference pair."""
    pairs: Literal["best", "all"] = "best"
    """Of a group: its best against its worst episode, or every episode against every worse one."""
    atif_version: Literal["1.7", "1.8"] = "1.7"
    minari_id: str = ""
    """Of a Minari dataset, e.g. ``sregym/suite/expert-v0``."""

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise UsageError(f"{name} is {' or '.join(map(repr, choices))}, not {value!r}")
        if not isinstance(self.margin, Real) or not 0.0 <= self.margin < float("inf"):
            raise UsageError(f"margin must be a number from 0 on, not {self.margin!r}")

    def changed(self) -> tuple[str, ...]:
        """The settings that are not as they usually are."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name) != each.default)


_CHOICES: Mapping[str, tuple[object, ...]] = {
    "text_calls": (False, True),
    "thoughts": ("keep", "drop"),
    "mask_errors": (False, True),
    "pairs": ("best", "all"),
    "atif_version": ("1.7", "1.8"),
}


@dataclass(slots=True)
class Losses:
    """What a format has no place for, counted."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, what: str, times: int = 1) -> None:
        """Something was left out, or said in another way."""
        if times:
            self.counts[what] = self.counts.get(what, 0) + times


@dataclass(frozen=True, slots=True)
class Source:
    """The episodes of one split that a filter lets through."""

    dataset: Dataset
    split: str | None = None
    filter: Filter = field(default_factory=Filter)

    def records(self) -> Iterator[EpisodeRecord]:
        """Without the ground truth."""
        return (record for record in self.dataset.episodes(self.split) if self.filter.wants(record))

    def rollouts(self) -> Iterator[Rollout]:
        """With the ground truth."""
        return (rollout for rollout in self.dataset.rollouts(self.split) if self.filter.wants(rollout.record))


@dataclass(frozen=True, slots=True)
class Exported:
    """What an exporter wrote."""

    format: str
    split: str | None
    path: Path
    rows: int
    losses: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "format": self.format,
            "split": self.split,
            "path": self.path.name,
            "rows": self.rows,
            "losses": dict(sorted(self.losses.items())),
        }


Write = Callable[[Source, Path, Settings, Losses], int]
"""Writes everything to a path and returns the number of rows."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format."""

    name: str
    description: str
    suffix: str
    """Of the file; empty where it is a folder."""
    write: Write
    takes: tuple[str, ...] = ()
    """The settings that it heeds."""
    privileged: bool = False
    """Whether what is written tells the answer."""

    def demand_fit(self, settings: Settings) -> None:
        """Refuse what this format would not heed. Raises UsageError."""
        stray = [each for each in settings.changed() if each not in self.takes]
        if stray:
            taken = f"it takes {', '.join(map(_named, self.takes))}" if self.takes else "it takes no settings"
            raise UsageError(f"format {self.name} does not heed {', '.join(map(_named, stray))}; {taken}")


def _named(setting: str) -> str:
    return f"{setting} ({OPTIONS[setting]})"


def row_format(
    name: str,
    description: str,
    row: Callable[[EpisodeRecord, Settings, Losses], dict[str, Any] | None],
    takes: tuple[str, ...],
) -> Format:
    """A format with one line of JSON per episode; a row of None leaves the episode out."""

    def write(source: Source, path: Path, settings: Settings, losses: Losses) -> int:
        rows = (row(record, settings, losses) for record in source.records())
        return write_rows(path, (each for each in rows if each is not None))

    return Format(name, description, ".jsonl", write, takes)


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Lines of JSON, in a file that is there when it is complete; how many."""
    temporary = path.with_name(f".{path.name}.new")
    number = 0
    with told_of(path), temporary.open("w", encoding="utf-8") as file:
        for each in rows:
            file.write(json.dumps(each, ensure_ascii=False, separators=(",", ":")) + "\n")
            number += 1
    os.replace(temporary, path)
    return number
