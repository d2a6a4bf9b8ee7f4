"""The dataset card: ``README.md`` with the front matter that the Hugging Face Hub reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from sregym_env.rollouts.dataset.files import write_whole
from sregym_env.rollouts.dataset.manifest import Manifest
from sregym_env.rollouts.dataset.splits import SPLITS

CARD = "README.md"

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def write_card(folder: Path, manifest: Manifest) -> None:
    """Put the card in place."""
    write_whole(folder / CARD, card(manifest).encode())


def card(manifest: Manifest) -> str:
    """The card's text."""
    front = yaml.safe_dump(_front_matter(manifest), sort_keys=False, allow_unicode=True)
    about, counts = manifest.about, manifest.counts
    splits = "\n".join(f"| {split} | {episodes:,} |" for split, episodes in manifest.splits.items())
    policies = "\n".join(f"- {_policy(each)}" for each in manifest.policies) or "- none"
    judges = ", ".join(f"`{json.dumps(each, sort_keys=True)}`" for each in manifest.judges) or "none"
    return f"""---
{front}---

# {about.title}

{about.description or "Episodes of language-model agents that diagnose and repair incidents on an embedded Kubernetes cluster."}

{counts.episodes:,} episodes in {counts.groups:,} groups, {counts.steps:,} steps; {counts.succeeded:,} succeeded,
{counts.trainable:,} are fit for training (the others ended because something else than the agent failed, and have no
return). Made with sregym_env {", ".join(manifest.package_versions)}; format `{manifest.schema_version}`.

| split | episodes |
|---|---|
{splits}

Splits go by what is wrong (the family of the fault), never by episode: no family is in two of them, in this or any
other dataset of this format. `mixed` holds incidents with causes of several splits, and healthy systems; neither train
nor test on it.

Who acted:

{policies}

Diagnoses were graded by {judges}.

## Files

- `episodes-*.jsonl.zst`: one episode per line: messages, steps with rewards, outcome. Every text stands in it once.
- `labels-*.jsonl.zst`: the ground truth, line by line in the same order. Keep it from whoever is tested.
- `dataset.json`: counts, configurations, splits and SHA-256 of every file.
{_tables(manifest)}
```python
from sregym_env.rollouts.dataset.reader import open_dataset

for record in open_dataset("FOLDER").episodes(split="train"):
    print(record.return_, record.actions)
```

`sregym dataset export FOLDER OUT --format openai` writes the formats that trainers read; `sregym replay FOLDER` plays
the episodes again and compares every observation and reward.
"""


def _front_matter(manifest: Manifest) -> dict[str, Any]:
    return {
        "pretty_name": manifest.about.title,
        "license": manifest.about.licence,
        "language": ["en"],
        "task_categories": ["text-generation", "reinforcement-learning"],
        "tags": ["agent", "agent-traces", "sre", "kubernetes", "sregym"],
        "size_categories": [_size(manifest.counts.episodes)],
        "configs": [
            config
            for kind in ("episodes", "labels")
            if (config := {"config_name": kind, "data_files": _data_files(manifest, kind)})["data_files"]
        ],
    }


def _data_files(manifest: Manifest, kind: str) -> list[dict[str, Any]]:
    files = {
        split: [getattr(shard, kind).name for shard in manifest.shards if shard.split == split]
        for split in SPLITS
    }
    return [{"split": split, "path": names} for split, names in files.items() if names]


def _tables(manifest: Manifest) -> str:
    """A dataset on the Hub has one format: the tables are no configuration of their own."""
    if not manifest.parquet:
        return ""
    return (
        "- `episodes/*.parquet`, `steps/*.parquet`: the same as tables, nested values as JSON text; read them with "
        '`load_dataset("parquet", data_files="steps/*.parquet")` or `pandas.read_parquet`.\n'
    )


def _size(episodes: int) -> str:
    return next((name for limit, name in _SIZES if episodes < limit), "n>1M")


def _policy(policy: dict[str, Any]) -> str:
    model = f", model {policy['model']}" if policy.get("model") else ""
    return f"{policy['name']} {policy['version']}{model}"
