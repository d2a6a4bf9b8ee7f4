"""Making one dataset of many runs: merged, filtered, without duplicates and keys."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from sregym_env.errors import UsageError
from sregym_env.rollouts.dataset.filters import Filter
from sregym_env.rollouts.dataset.manifest import About, Manifest
from sregym_env.rollouts.dataset.reader import Dataset, open_dataset
from sregym_env.rollouts.dataset.secrets import Scrubber
from sregym_env.rollouts.dataset.writer import DatasetWriter
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.rollouts.runner import Rollout

Dedupe = Literal["episode", "task", "none"]
"""What makes an episode a duplicate: the same actions in the same episode, or in any episode of the same task."""


@dataclass(frozen=True, slots=True)
class Built:
    """A dataset and what was left out of it."""

    manifest: Manifest
    filtered: int
    duplicates: int


def build(
    sources: Sequence[Path],
    out: Path,
    *,
    filter: Filter = Filter(),
    dedupe: Dedupe = "episode",
    secrets: Literal["mask", "refuse"] = "mask",
    title: str = "",
    description: str = "",
    licence: str = "apache-2.0",
) -> Built:
    """Merge the datasets in ``sources`` into a new one in ``out``, in constant memory but for a hash per episode.

    Raises UsageError where ``out`` is not empty, and with ``secrets="refuse"`` where an episode holds what looks like
    a key. Whatever is raised, nothing is left in ``out`` then.
    """
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; choose another folder")
    datasets = [open_dataset(source) for source in sources]
    if not all(dataset.has_labels for dataset in datasets):
        raise UsageError(
            "a dataset is built from runs with their labels: without them nobody knows the splits"
        )
    run = {
        "built_from": [dataset.manifest.about.run for dataset in datasets],
        "filter": filter.to_dict(),
        "dedupe": dedupe,
    }
    named: dict[str, Any] = {"title": title} if title else {}
    scrubber = Scrubber()
    writer = DatasetWriter(
        out, About(description=description, licence=licence, run=run, **named), scrubber=scrubber
    )
    left_out: Counter[str] = Counter()
    try:
        for index, group in enumerate(_wanted(datasets, filter, dedupe, left_out)):
            writer.add(index, group)
            if secrets == "refuse" and scrubber.found:
                raise UsageError(
                    f"an episode of group {group[0].record.group_id} holds what looks like a key "
                    f"({', '.join(sorted(scrubber.found))}); remove it, or mask it with secrets=mask"
                )
    # Whatever it was, an interrupt as well: a part of a dataset would stand in the way of the next try.
    except BaseException:
        shutil.rmtree(out)
        raise
    return Built(writer.finish(), left_out["filtered"], left_out["duplicates"])


def _wanted(
    datasets: Sequence[Dataset], filter: Filter, dedupe: Dedupe, left_out: Counter[str]
) -> Iterator[list[Rollout]]:
    """What is left of every group that something is left of."""
    seen: set[bytes] = set()
    for dataset in datasets:
        for _, members in groupby(dataset.indexed(), key=lambda indexed: indexed[0]):
            group = []
            for _, rollout in members:
                key = _key(rollout.record, dedupe)
                if not filter.wants(rollout.record):
                    left_out["filtered"] += 1
                elif dedupe != "none" and key in seen:
                    left_out["duplicates"] += 1
                else:
                    seen.add(key)
                    group.append(rollout)
            if group:
                yield group


def _key(record: EpisodeRecord, dedupe: Dedupe) -> bytes:
    parts = (record.episode_id if dedupe == "episode" else record.task_id, *record.actions)
    return blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()
