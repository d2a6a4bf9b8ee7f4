"""Checking a dataset before it is published or trained on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from sregym_env.errors import SREGymError
from sregym_env.faults.problems import parsed
from sregym_env.rollouts.dataset.consistency import incoherent
from sregym_env.rollouts.dataset.files import CutOff, digest, read_lines
from sregym_env.rollouts.dataset.leaks import leaks
from sregym_env.rollouts.dataset.manifest import File, Manifest, Shard, read_manifest
from sregym_env.rollouts.dataset.parts import groups_of_parts
from sregym_env.rollouts.dataset.secrets import Scrubber
from sregym_env.rollouts.dataset.splits import MIXED, families, split_of
from sregym_env.rollouts.record import EpisodeRecord, Labels

ENOUGH: Final = 100
"""Findings after which the search ends."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a dataset."""

    where: str
    """A file or a rollout's id."""
    check: str
    what: str

    def to_dict(self) -> dict[str, str]:
        """Plain JSON."""
        return {"where": self.where, "check": self.check, "what": self.what}


def validate(folder: Path) -> tuple[Finding, ...]:
    """Everything that is wrong, up to :data:`ENOUGH` findings; nothing for a sound dataset.

    Raises UsageError where there is no dataset at all.
    """
    manifest = read_manifest(folder)
    found = []
    for finding in _findings(folder, manifest):
        found.append(finding)
        if len(found) == ENOUGH:
            break
    return tuple(found)


def _findings(folder: Path, manifest: Manifest) -> Iterator[Finding]:
    if not manifest.finished:
        yield Finding(str(folder), "finished", "its groups have not been put together: go on with the run")
        seen = _Seen()
        for group in groups_of_parts(folder):
            for episode, labels in zip(group.episodes, group.labels, strict=True):
                yield from seen.check(episode, labels, None)
        return
    yield from _files(folder, manifest)
    seen = _Seen()
    for shard in manifest.shards:
        yield from _shard(folder, shard, seen)
    yield from seen.counted(manifest)


def _files(folder: Path, manifest: Manifest) -> Iterator[Finding]:
    listed = [file for shard in manifest.shards for file in (shard.episodes, shard.labels)]
    for file in (*listed, *manifest.parquet):
        yield from _file(folder, file)
    names = {file.name for file in listed}
    for kind in ("episodes", "labels"):
        for path in sorted(folder.glob(f"{kind}-*.jsonl*")):
            if path.name not in names:
                yield Finding(path.name, "files", "is not in the manifest")


def _file(folder: Path, file: File) -> Iterator[Finding]:
    path = folder / file.name
    if not path.is_file():
        yield Finding(file.name, "files", "is missing")
    elif path.stat().st_size != file.bytes or digest(path) != file.sha256:
        yield Finding(file.name, "hashes", "is not the file that was written: its SHA-256 differs")


def _shard(folder: Path, shard: Shard, seen: _Seen) -> Iterator[Finding]:
    paths = [folder / shard.episodes.name, folder / shard.labels.name]
    if not all(path.is_file() for path in paths):
        return
    lines = 0
    try:
        for episode, labels in zip(*map(read_lines, paths), strict=True):
            lines += 1
            yield from seen.check(episode, labels, shard.split)
    except CutOff as error:
        yield Finding(shard.episodes.name, "files", str(error))
    except ValueError:
        yield Finding(shard.episodes.name, "labels", "episodes and labels differ in number")
    if lines != shard.lines:
        yield Finding(shard.episodes.name, "files", f"{lines} lines, and {shard.lines} by the manifest")


class _Seen:
    """What has passed, for checks that need more than one episode."""

    def __init__(self) -> None:
        self.episodes = self.steps = self.trainable = self.succeeded = 0
        self._rollouts: set[str] = set()
        self._split_of: dict[str, str] = {}

    def check(self, episode: bytes, labels: bytes, split: str | None) -> Iterator[Finding]:
        """One episode with its labels."""
        try:
            record = EpisodeRecord.model_validate_json(episode)
            truth = Labels.model_validate_json(labels)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            yield Finding(f"line {self.episodes + 1}", "schema", f"{where}: {first['msg']}")
            return
        self._count(record)
        findings = [
            *(("records", text) for text in incoherent(record)),
            *(("labels", text) for text in _unlabelled(record, truth)),
            *(("ground truth", text) for text in leaks(record, truth)),
            *(("secrets", text) for text in _keys(episode, labels)),
            *(("splits", text) for text in self._misplaced(truth, split)),
        ]
        if record.rollout_id in self._rollouts:
            findings.append(("records", "its rollout id is not the only one"))
        self._rollouts.add(record.rollout_id)
        for check, text in findings:
            yield Finding(record.rollout_id, check, text)

    def counted(self, manifest: Manifest) -> Iterator[Finding]:
        """Whether the manifest's counts are right."""
        for name in ("episodes", "steps", "trainable", "succeeded"):
            own, told = getattr(self, name), getattr(manifest.counts, name)
            if own != told:
                yield Finding("dataset.json", "counts", f"{own} {name}, and {told} by the manifest")

    def _count(self, record: EpisodeRecord) -> None:
        self.episodes += 1
        self.steps += len(record.steps)
        self.trainable += record.trainable
        self.succeeded += record.success

    def _misplaced(self, truth: Labels, split: str | None) -> Iterator[str]:
        found = families(truth)
        try:
            right = split_of(truth)
        except SREGymError:
            # A problem that is none, which is told of the labels, or a fault that this version does not know.
            return
        if split is None:
            return
        if split != right:
            yield f"stands in {split}, and its faults belong to {right}"
        for family in found if split != MIXED else ():
            other = self._split_of.setdefault(family, split)
            if other != split:
                yield f"the family {family} is in {other} and in {split}"


def _unlabelled(record: EpisodeRecord, truth: Labels) -> Iterator[str]:
    if record.rollout_id != truth.rollout_id or record.task_id != truth.task_id:
        yield f"its labels are those of {truth.rollout_id}"
    try:
        problem = parsed(truth.problem)
    except SREGymError as error:
        yield str(error)
        return
    if len(truth.specs) != len(problem.faults) or len(truth.root_cause) != len(truth.specs):
        yield f"{len(problem.faults)} faults, {len(truth.specs)} specs and {len(truth.root_cause)} root causes"
    if (record.grade is None) != (truth.grade is None) or (record.oracle is None) != (truth.oracle is None):
        yield "a verdict is in the record or in the labels alone"


def _keys(*lines: bytes) -> Iterator[str]:
    scrubber = Scrubber()
    for line in lines:
        # Line breaks and quotes are escaped there: what stands around a key must not hide it.
        scrubber.mask(line.decode().replace("\\n", "\n").replace('\\"', '"'), simulated=True)
    for name in sorted(scrubber.found):
        yield f"holds what looks like a key ({name})"
