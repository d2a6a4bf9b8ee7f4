"""Putting groups together into shards of bounded size, one split to a shard."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import zstandard

from sregym_env.errors import told_of
from sregym_env.rollouts.dataset.files import LEVEL, digest, put_in_place, synced
from sregym_env.rollouts.dataset.manifest import File, Shard
from sregym_env.rollouts.dataset.parts import Group

MAX_SHARD_BYTES: Final = 256_000_000
"""Of a shard's file of episodes; a single group that is larger has a shard of its own."""


class _Stream:
    """One file being written: a single zstandard frame, because many readers stop after the first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb")
        self._frame = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compressobj()
        self._waiting = 0

    def write(self, lines: list[bytes]) -> None:
        for line in lines:
            out = self._frame.compress(line + b"\n")
            self._waiting = 0 if out else self._waiting + len(line)
            with told_of(self.path):
                self._file.write(out)

    @property
    def bytes_at_most(self) -> int:
        """What the file would have if it ended here."""
        return self._file.tell() + self._waiting

    def finish(self) -> None:
        with told_of(self.path):
            self._file.write(self._frame.flush())
            synced(self._file)


@dataclass(slots=True)
class _Open:
    """A shard being written."""

    split: str
    episodes: _Stream
    labels: _Stream
    groups: list[tuple[int, int, int]] = field(default_factory=list)
    lines: int = 0


class Shards:
    """Writes shards under names of their own; :meth:`finish` gives them their names, when all are on disk."""

    def __init__(self, folder: Path, shard_bytes: int) -> None:
        for left_behind in folder.glob(".*.new"):
            left_behind.unlink()
        self._folder = folder
        self._limit = shard_bytes
        self._open: _Open | None = None
        self._written: list[_Open] = []

    def add(self, split: str, group: Group) -> None:
        """One more group. Splits come one after the other, indexes of a split in ascending order."""
        if not group.episodes:
            return
        shard = self._open
        coming = sum(len(line) + 1 for line in group.episodes)
        if shard is None or shard.split != split or shard.episodes.bytes_at_most + coming > self._limit:
            self._close()
            shard = self._open = _Open(split, self._stream("episodes"), self._stream("labels"))
        shard.episodes.write(group.episodes)
        shard.labels.write(group.labels)
        shard.lines += len(group.episodes)
        _note(shard.groups, group.index, len(group.episodes))

    def finish(self) -> tuple[Shard, ...]:
        """Give the files their names, take away what a killed process left behind, and tell what there is."""
        self._close()
        for stale in [*self._folder.glob("episodes-*.jsonl.zst"), *self._folder.glob("labels-*.jsonl.zst")]:
            stale.unlink()
        return tuple(self._named(number, shard) for number, shard in enumerate(self._written))

    def _stream(self, kind: str) -> _Stream:
        return _Stream(self._folder / f".{kind}-{len(self._written):05}.new")

    def _close(self) -> None:
        if self._open is not None:
            self._open.episodes.finish()
            self._open.labels.finish()
            self._written.append(self._open)
            self._open = None

    def _named(self, number: int, shard: _Open) -> Shard:
        files = []
        for kind, stream in (("episodes", shard.episodes), ("labels", shard.labels)):
            path = self._folder / f"{kind}-{number:05}.jsonl.zst"
            put_in_place(stream.path, path)
            files.append(File(name=path.name, bytes=path.stat().st_size, sha256=digest(path)))
        return Shard(
            split=shard.split,
            lines=shard.lines,
            groups=tuple(shard.groups),
            episodes=files[0],
            labels=files[1],
        )


def _note(runs: list[tuple[int, int, int]], index: int, size: int) -> None:
    """Add a group to runs of groups of one size."""
    if runs:
        first, count, each = runs[-1]
        if first + count == index and each == size:
            runs[-1] = (first, count + 1, each)
            return
    runs.append((index, 1, size))
