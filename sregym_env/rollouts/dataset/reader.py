"""Reading a dataset as a stream: in constant memory, whole or a split of it, finished or not."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from sregym_env.errors import UsageError
from sregym_env.rollouts.dataset.files import CutOff, read_lines
from sregym_env.rollouts.dataset.manifest import Manifest, read_manifest
from sregym_env.rollouts.dataset.parts import groups_of_parts, indexes
from sregym_env.rollouts.dataset.splits import SPLITS, split_of
from sregym_env.rollouts.record import EpisodeRecord, Labels
from sregym_env.rollouts.runner import Rollout

_Indexed = tuple[int, bytes]
R = TypeVar("R", EpisodeRecord, Labels)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset on disk. Its episodes come in the order of their groups' indexes, whatever their split."""

    folder: Path
    manifest: Manifest

    def episodes(self, split: str | None = None) -> Iterator[EpisodeRecord]:
        """The records of all splits or of one.

        Raises UsageError for a split there is not, and :class:`~sregym_env.rollouts.dataset.files.CutOff` for a shard
        that is not whole; a part that is not whole is passed over.
        """
        for _, line in self._lines("episodes", split):
            yield self._read(EpisodeRecord, line)

    def labels(self, split: str | None = None) -> dict[str, Labels]:
        """The ground truth by rollout id, all at once; empty where the dataset was published without."""
        found = (self._read(Labels, line) for _, line in self._lines("labels", split))
        return {labels.rollout_id: labels for labels in found} if self.has_labels else {}

    def rollouts(self, split: str | None = None) -> Iterator[Rollout]:
        """The records with their labels. Raises UsageError where the dataset was published without labels."""
        for _, rollout in self.indexed(split):
            yield rollout

    def indexed(self, split: str | None = None) -> Iterator[tuple[int, Rollout]]:
        """The same, with the index of the group."""
        if not self.has_labels:
            raise UsageError(f"{self.folder} was published without its labels")
        pairs = zip(self._lines("episodes", split), self._lines("labels", split), strict=True)
        for (index, episode), (_, labels) in pairs:
            yield index, Rollout(self._read(EpisodeRecord, episode), self._read(Labels, labels))

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that there are episodes of."""
        if self.manifest.finished:
            return tuple(self.manifest.splits)
        found = {split_of(labels) for labels in self.labels().values()}
        return tuple(split for split in SPLITS if split in found)

    @property
    def has_labels(self) -> bool:
        """Whether the ground truth is there."""
        return all((self.folder / shard.labels.name).exists() for shard in self.manifest.shards)

    def _read(self, kind: type[R], line: bytes) -> R:
        """What a line says. Raises UsageError for one that nobody can read."""
        try:
            return kind.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            what = "an episode" if kind is EpisodeRecord else "the labels of an episode"
            raise UsageError(
                f"{self.folder}: {what} cannot be read: {where}: {first['msg']}; the line begins with {line[:80]!r}; "
                f"sregym dataset validate {self.folder} names the file"
            ) from error

    def _lines(self, kind: str, split: str | None) -> Iterator[_Indexed]:
        if split is not None and split not in SPLITS:
            raise UsageError(f"no split {split!r}; there are {', '.join(SPLITS)}")
        if not self.manifest.finished:
            return self._of_parts(kind, split)
        # Every group is in one split, so that no two of these streams ever hold the same index.
        streams = [self._of_split(kind, each) for each in SPLITS if split in (None, each)]
        return heapq.merge(*streams, key=lambda indexed: indexed[0])

    def _of_split(self, kind: str, split: str) -> Iterator[_Indexed]:
        for shard in self.manifest.shards:
            if shard.split != split:
                continue
            lines = read_lines(self.folder / getattr(shard, kind).name)
            for index, size in indexes(shard):
                for _ in range(size):
                    line = next(lines, None)
                    if line is None:
                        raise CutOff(
                            f"{self.folder / getattr(shard, kind).name} has fewer lines than it should"
                        )
                    yield index, line

    def _of_parts(self, kind: str, split: str | None) -> Iterator[_Indexed]:
        for group in groups_of_parts(self.folder):
            for episode, labels in zip(group.episodes, group.labels, strict=True):
                if split is None or split_of(self._read(Labels, labels)) == split:
                    yield group.index, episode if kind == "episodes" else labels


def open_dataset(folder: Path | str) -> Dataset:
    """A dataset, or what there is of one that is still being written. Raises UsageError where there is none."""
    path = Path(folder)
    return Dataset(path, read_manifest(path))
