"""What a manifest says about the episodes, counted while they pass."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import orjson

from sregym_env.rollouts.dataset.manifest import About, Counts, Manifest, Shard
from sregym_env.rollouts.dataset.parts import Group
from sregym_env.rollouts.dataset.splits import SPLITS, TRAIN, split_of
from sregym_env.rollouts.record import Labels


@dataclass(slots=True)
class Tally:
    """Counts and the different values of everything that must be said of a dataset."""

    counts: Counter[str] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    values: dict[str, set[str]] = field(default_factory=dict)

    def add(self, group: Group) -> str:
        """One group; returns the split it belongs to."""
        split: str = TRAIN
        for line, labels in zip(group.episodes, group.labels, strict=True):
            split = split_of(Labels.model_validate_json(labels))
            self.splits[split] += 1
            # Keys are ASCII and so are their masks: no need to look at strings one by one.
            self.counts["masked_secrets"] += line.count(b"MASKED_")
            self._count(orjson.loads(line))
        self.counts["groups"] += 1
        return split

    def manifest(self, about: About, shards: tuple[Shard, ...]) -> Manifest:
        """Everything that was counted."""
        return Manifest(
            finished=True,
            about=about,
            package_versions=tuple(self._values("package")),
            python_versions=tuple(self._values("python")),
            policies=tuple(self._values("policy")),
            judges=tuple(self._values("judge")),
            configurations=tuple(self._values("config")),
            counts=Counts(**self.counts),
            splits={split: self.splits[split] for split in SPLITS if self.splits[split]},
            shards=shards,
        )

    def _count(self, record: dict[str, Any]) -> None:
        self.counts["episodes"] += 1
        self.counts["steps"] += len(record["steps"])
        self.counts["trainable"] += record["trainable"]
        self.counts["succeeded"] += record["success"]
        config = dict(record["config"])
        self._note("judge", config.pop("judge", None))
        self._note("config", config)
        self._note("policy", record["policy"])
        self._note("package", record["package"]["sregym_env"])
        self._note("python", record["package"]["python"])

    def _note(self, name: str, value: Any) -> None:
        self.values.setdefault(name, set()).add(json.dumps(value, sort_keys=True))

    def _values(self, name: str) -> list[Any]:
        return [json.loads(text) for text in sorted(self.values.get(name, ())) if text != "null"]
