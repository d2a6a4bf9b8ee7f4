"""A table of tasks for trainers that play episodes themselves (GRPO): what to say, and how to reset.

The columns after ``prompt`` go to the environment, not to the model: ``problem`` is the answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sregym_env.rollouts.dataset.exporters.exporter import Format, Losses, Settings, Source, write_rows


def write(source: Source, path: Path, settings: Settings, losses: Losses) -> int:
    """One row per task and seed, in the order in which they were first played."""
    return write_rows(path, _rows(source, losses))


def _rows(source: Source, losses: Losses) -> Iterator[dict[str, Any]]:
    seen: set[tuple[str, str]] = set()
    for rollout in source.rollouts():
        record = rollout.record
        config = json.dumps(record.config, sort_keys=True)
        if (record.episode_id, config) in seen:
            losses.add("further episodes of the same task and seed")
            continue
        seen.add((record.episode_id, config))
        yield {
            "prompt": [{"role": message.role, "content": message.content} for message in record.opening],
            "task_id": record.task_id,
            "seed": record.seed,
            "problem": json.dumps(rollout.labels.problem, sort_keys=True),
            "config": config,
        }


TASKS = Format(
    "tasks",
    "Tasks for GRPO: prompt, seed, and the problem and configuration to reset with",
    ".jsonl",
    write,
    privileged=True,
)
