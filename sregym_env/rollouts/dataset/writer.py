"""Writing a dataset while its episodes are played: a file per group, put together at the end.

A group that is on disk is there completely, whatever kills the process, and is not played again. What is put
together at the end depends on the groups alone, not on the order in which they came.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sregym_env.errors import UsageError
from sregym_env.rollouts.dataset.card import write_card
from sregym_env.rollouts.dataset.files import compressed, write_whole
from sregym_env.rollouts.dataset.held import held
from sregym_env.rollouts.dataset.lines import lines_of
from sregym_env.rollouts.dataset.manifest import MANIFEST, About, Manifest, read_manifest
from sregym_env.rollouts.dataset.parts import PARTS, Group, groups_of_parts, groups_of_shards, part_paths
from sregym_env.rollouts.dataset.secrets import Scrubber
from sregym_env.rollouts.dataset.shards import MAX_SHARD_BYTES, Shards
from sregym_env.rollouts.dataset.splits import SPLITS
from sregym_env.rollouts.dataset.tally import Tally
from sregym_env.rollouts.runner import Rollout


class DatasetWriter:
    """Creates a dataset, or goes on with one that is not finished or shall grow.

    Raises UsageError where the folder holds something else, or a dataset of another run configuration, and where another
    process is writing it: until its writer is dropped, or the process has ended.
    """

    def __init__(
        self,
        folder: Path | str,
        about: About = About(),
        *,
        scrubber: Scrubber | None = None,
        shard_bytes: int = MAX_SHARD_BYTES,
    ) -> None:
        self.folder = Path(folder)
        self._scrubber = Scrubber() if scrubber is None else scrubber
        self._about = About.model_validate(self._scrubber.mask(about.model_dump(), simulated=False))
        self._shard_bytes = shard_bytes
        self._finished = False
        self._done: set[int] = set()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._held = held(self.folder)
        self._open()

    @property
    def done(self) -> frozenset[int]:
        """Indexes of the groups that are on disk."""
        return frozenset(self._done)

    def add(self, index: int, rollouts: Sequence[Rollout]) -> None:
        """One group, complete. A group that is there already is replaced.

        Raises UsageError for an index below 0 and for a group without episodes.
        """
        if index < 0 or not rollouts:
            raise UsageError(
                f"group {index} of {len(rollouts)} episodes: both must not be negative, nor the latter zero"
            )
        if self._finished:
            self._reopen()
        lines = [lines_of(rollout, self._scrubber) for rollout in rollouts]
        self._write(Group(index, [line for line, _ in lines], [line for _, line in lines]))
        self._done.add(index)

    def finish(self) -> Manifest:
        """Put the groups together into shards, in the order of their indexes within each split.

        Of a dataset that is finished already only the manifest and the card are written anew.
        """
        if self._finished:
            manifest = read_manifest(self.folder).model_copy(update={"about": self._about})
        else:
            manifest = self._put_together()
        write_card(self.folder, manifest)
        # From here on the shards count, and no longer the parts.
        manifest.write(self.folder)
        shutil.rmtree(self.folder / PARTS, ignore_errors=True)
        self._finished = True
        return manifest

    def _open(self) -> None:
        if not (self.folder / MANIFEST).exists():
            if any(self.folder.iterdir()):
                raise UsageError(f"{self.folder} is not empty and holds no dataset; choose another folder")
            Manifest(about=self._about).write(self.folder)
        known = read_manifest(self.folder)
        if known.about.run != self._about.run:
            raise UsageError(
                f"{self.folder} holds episodes of another run configuration, which differs in "
                f"{_difference(known.about.run, self._about.run)}; choose another folder, or run what it was begun with"
            )
        self._finished = known.finished
        if known.finished:
            shutil.rmtree(self.folder / PARTS, ignore_errors=True)
            self._done = set(known.groups)
        else:
            (self.folder / PARTS).mkdir(exist_ok=True)
            self._done = {group.index for group in groups_of_parts(self.folder)}

    def _write(self, group: Group) -> None:
        episodes, labels = part_paths(self.folder, group.index)
        # A group counts as soon as its episodes are there, and then has its labels.
        write_whole(labels, compressed(group.labels))
        write_whole(episodes, compressed(group.episodes))

    def _reopen(self) -> None:
        """Take the shards apart again, so that groups can be added."""
        manifest = read_manifest(self.folder)
        (self.folder / PARTS).mkdir(exist_ok=True)
        for group in groups_of_shards(self.folder, manifest):
            self._write(group)
        Manifest(about=self._about).write(self.folder)
        for shard in manifest.shards:
            (self.folder / shard.episodes.name).unlink()
            (self.folder / shard.labels.name).unlink()
        for table in manifest.parquet:
            (self.folder / table.name).unlink(missing_ok=True)
        self._finished = False

    def _put_together(self) -> Manifest:
        tally = Tally()
        split_of: dict[int, str] = {}
        for group in groups_of_parts(self.folder):
            split_of[group.index] = tally.add(group)
        shards = Shards(self.folder, self._shard_bytes)
        for split in SPLITS:
            members = {index for index, belongs in split_of.items() if belongs == split}
            for group in groups_of_parts(self.folder, members.__contains__):
                shards.add(split, group)
        return tally.manifest(self._about, shards.finish())


def _difference(known: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    return ", ".join(key for key in sorted({*known, *given}) if known.get(key) != given.get(key))
