"""``dataset.json``: what a dataset holds, how it came about, and the hashes of its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from sregym_env.errors import UsageError
from sregym_env.llm.messages import Frozen
from sregym_env.rollouts.dataset.files import write_whole
from sregym_env.rollouts.record import SCHEMA_VERSION

MANIFEST: Final = "dataset.json"


class About(Frozen):
    """What only the one who makes a dataset can say."""

    title: str = "Episodes of sregym_env"
    description: str = ""
    licence: str = "apache-2.0"
    """SPDX identifier, as dataset cards spell it."""
    run: dict[str, Any] = Field(default_factory=dict)
    """The run's configuration as JSON, or the filters of a build; never a key. Episodes of another one are refused."""


class File(Frozen):
    """One file of a dataset."""

    name: str
    bytes: int
    sha256: str


class Shard(Frozen):
    """Episodes of one split, and their labels in a file of its own, line by line in the same order."""

    split: str
    lines: int
    groups: tuple[tuple[int, int, int], ...]
    """The groups in it as runs: the first index, how many follow each other, episodes in each."""
    episodes: File
    labels: File


class Counts(Frozen):
    """How much there is."""

    groups: int = 0
    episodes: int = 0
    steps: int = 0
    trainable: int = 0
    succeeded: int = 0
    masked_secrets: int = 0
    """Texts that looked like keys and were replaced."""


class Manifest(Frozen):
    """The contents of ``dataset.json``."""

    schema_version: Literal["sregym-episodes/1"] = SCHEMA_VERSION
    finished: bool = False
    """Whether the groups have been put together into shards; until then only ``about`` is filled in."""
    about: About
    package_versions: tuple[str, ...] = ()
    python_versions: tuple[str, ...] = ()
    policies: tuple[dict[str, Any], ...] = ()
    """Who acted: name, version, model, settings."""
    judges: tuple[dict[str, Any], ...] = ()
    """Who graded the diagnoses, with everything that can change a grade."""
    configurations: tuple[dict[str, Any], ...] = ()
    """How the episodes were played, without the judge."""
    counts: Counts = Counts()
    splits: dict[str, int] = Field(default_factory=dict)
    """Episodes by split."""
    shards: tuple[Shard, ...] = ()
    parquet: tuple[File, ...] = ()
    """The files of the Parquet mirror, if there is one."""

    @property
    def groups(self) -> frozenset[int]:
        """Indexes of the groups in the shards."""
        return frozenset(
            index
            for shard in self.shards
            for first, count, _ in shard.groups
            for index in range(first, first + count)
        )

    def write(self, folder: Path) -> None:
        """Put it in place."""
        text = json.dumps(self.model_dump(mode="json"), indent=1, ensure_ascii=False)
        write_whole(folder / MANIFEST, f"{text}\n".encode())


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a dataset. Raises UsageError where there is none."""
    path = folder / MANIFEST
    if not path.is_file():
        raise UsageError(f"no dataset in {folder}: it has no {MANIFEST}")
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{path} is no manifest of {SCHEMA_VERSION}: {where}: {first['msg']}") from error
