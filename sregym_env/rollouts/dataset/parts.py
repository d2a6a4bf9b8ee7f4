"""Groups of episodes as lines: as parts, a file per group, while a dataset grows, and out of its shards afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import orjson

from sregym_env.rollouts.dataset.files import CutOff, read_lines
from sregym_env.rollouts.dataset.manifest import Manifest, Shard

PARTS: Final = "parts"
"""The folder of the parts."""

_PART = re.compile(r"episodes-(\d{10})\.jsonl\.zst")


@dataclass(frozen=True, slots=True)
class Group:
    """The episodes of one group and their labels, line by line in the same order."""

    index: int
    episodes: list[bytes]
    labels: list[bytes]


def part_paths(folder: Path, index: int) -> tuple[Path, Path]:
    """Where a group's episodes and labels are."""
    parts = folder / PARTS
    return parts / f"episodes-{index:010}.jsonl.zst", parts / f"labels-{index:010}.jsonl.zst"


def groups_of_parts(folder: Path, wanted: Callable[[int], bool] = lambda index: True) -> Iterator[Group]:
    """The groups that are whole, in the order of their indexes; what a killed process left behind is passed over."""
    names = [path.name for path in (folder / PARTS).glob("episodes-*")]
    for index in sorted(int(found[1]) for name in names if (found := _PART.fullmatch(name))):
        if not wanted(index):
            continue
        episodes, labels = part_paths(folder, index)
        with suppress(CutOff, FileNotFoundError):
            group = Group(index, list(read_lines(episodes)), list(read_lines(labels)))
            if len(group.episodes) == len(group.labels) and all(map(_is_json, group.episodes + group.labels)):
                yield group


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


def groups_of_shards(folder: Path, manifest: Manifest) -> Iterator[Group]:
    """The groups in the shards, shard by shard. Raises :class:`CutOff` for a shard that is not whole."""
    for shard in manifest.shards:
        episodes = read_lines(folder / shard.episodes.name)
        labels = read_lines(folder / shard.labels.name)
        for index, size in indexes(shard):
            yield Group(index, list(islice(episodes, size)), list(islice(labels, size)))


def indexes(shard: Shard) -> Iterator[tuple[int, int]]:
    """The groups of a shard in order: index, and how many episodes."""
    for first, count, size in shard.groups:
        for index in range(first, first + count):
            yield index, size
