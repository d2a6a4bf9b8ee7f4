"""What an exporter is: something that writes the episodes of one split in a trainer's format, and counts what is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sregym_env.rollouts.dataset.filters import Filter
from sregym_env.rollouts.dataset.reader import Dataset
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.rollouts.runner import Rollout


@dataclass(frozen=True, slots=True)
class Settings:
    """How to export."""

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
    privileged: bool = False
    """Whether what is written tells the answer."""


def row_format(
    name: str,
    description: str,
    row: Callable[[EpisodeRecord, Settings, Losses], dict[str, Any] | None],
) -> Format:
    """A format with one line of JSON per episode; a row of None leaves the episode out."""

    def write(source: Source, path: Path, settings: Settings, losses: Losses) -> int:
        rows = (row(record, settings, losses) for record in source.records())
        return write_rows(path, (each for each in rows if each is not None))

    return Format(name, description, ".jsonl", write)


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Lines of JSON, in a file that is there when it is complete; how many."""
    temporary = path.with_name(f".{path.name}.new")
    number = 0
    with temporary.open("w", encoding="utf-8") as file:
        for each in rows:
            file.write(json.dumps(each, ensure_ascii=False, separators=(",", ":")) + "\n")
            number += 1
    os.replace(temporary, path)
    return number
