"""Minari datasets: texts as observations and actions, without infos."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from sregym_env.envs.spaces import Text
from sregym_env.errors import UsageError
from sregym_env.rollouts.dataset.exporters.exporter import Format, Losses, Settings, Source
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.tools.parse import MAX_ACTION_CHARS

_BATCH = 64
"""Episodes in memory at a time."""


def write(source: Source, path: Path, settings: Settings, losses: Losses) -> int:
    """A folder that ``MINARI_DATASETS_PATH`` may point to. Raises UsageError without Minari, or for no episodes."""
    try:
        import minari
    except ModuleNotFoundError as error:
        raise UsageError("minari is not installed; pip install 'minari[arrow]'") from error
    buffers = (_buffer(minari, record, losses) for record in _scored(source, losses))
    first = list(islice(buffers, _BATCH))
    if not first:
        raise UsageError("there is no episode with a return, and Minari has no empty datasets")
    identifier = settings.minari_id or f"sregym/{source.split or 'all'}-v0"
    path.mkdir(parents=True, exist_ok=True)
    with _written_to(path):
        made = minari.create_dataset_from_buffers(
            identifier,
            buffer=first,
            observation_space=Text(_longest(source)),
            action_space=Text(MAX_ACTION_CHARS, min_length=1),
            algorithm_name=", ".join(each["name"] for each in source.dataset.manifest.policies) or "unknown",
            description=source.dataset.manifest.about.title,
            data_format="arrow",
        )
        while more := list(islice(buffers, _BATCH)):
            made.update_dataset_from_buffer(more)
    return int(made.total_episodes)


def _scored(source: Source, losses: Losses) -> Iterator[EpisodeRecord]:
    for record in source.records():
        if record.return_ is None or not record.steps:
            losses.add("episodes without a return or a step")
        else:
            yield record


def _longest(source: Source) -> int:
    """The room for an observation: the environment's own, and that of a briefing in many messages."""
    return max((max(map(len, _observations(record))) for record in source.records()), default=1)


def _buffer(minari: Any, record: EpisodeRecord, losses: Losses) -> Any:
    losses.add(
        "terms of rewards, verdicts, tool calls as objects and simulated times of steps", len(record.steps)
    )
    last = record.steps[-1]
    ended = [step.terminated or step.truncated for step in record.steps]
    # Minari wants every episode to end; what was settled from outside ends there.
    truncated = [step.truncated for step in record.steps]
    truncated[-1] = truncated[-1] or not ended[-1]
    return minari.data_collector.EpisodeBuffer(
        seed=record.seed,
        observations=_observations(record),
        actions=[record.action(step) or " " for step in record.steps],
        rewards=[step.reward for step in record.steps],
        terminations=[step.terminated for step in record.steps],
        truncations=truncated if not last.terminated else [False] * len(record.steps),
    )


def _observations(record: EpisodeRecord) -> list[str]:
    """One more than actions: the briefing comes first."""
    return [record.opening[-1].content, *(record.observation(step) for step in record.steps)]


@contextmanager
def _written_to(path: Path) -> Iterator[None]:
    """Minari takes its folder from the environment alone."""
    before = os.environ.get("MINARI_DATASETS_PATH")
    os.environ["MINARI_DATASETS_PATH"] = str(path.resolve())
    try:
        yield
    finally:
        if before is None:
            del os.environ["MINARI_DATASETS_PATH"]
        else:
            os.environ["MINARI_DATASETS_PATH"] = before


MINARI = Format(
    "minari", "A Minari dataset: texts as observations and actions (needs minari[arrow])", "", write
)
