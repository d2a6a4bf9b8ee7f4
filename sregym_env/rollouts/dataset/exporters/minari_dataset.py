"""Minari datasets: texts as observations and actions, without infos."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sregym_env.envs.spaces import Text
from sregym_env.errors import UsageError
from sregym_env.rollouts.dataset.exporters.exporter import Format, Losses, Settings, Source
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.tools.parse import MAX_ACTION_CHARS


def write(source: Source, path: Path, settings: Settings, losses: Losses) -> int:
    """A folder that ``MINARI_DATASETS_PATH`` may point to. Raises UsageError without Minari."""
    try:
        import minari
        import PIL  # noqa: F401  (Minari needs it for texts, too)
        from minari.dataset.minari_storage import MinariStorage
    except ModuleNotFoundError as error:
        raise UsageError(f"{error.name} is not installed; install sregym-env[data]") from error
    identifier = settings.minari_id or f"sregym/{source.split or 'all'}-v0"
    try:
        minari.dataset.minari_dataset.parse_dataset_id(identifier)
    except ValueError as error:
        raise UsageError(f"{identifier!r} is no id of a Minari dataset: {error}") from error
    # Minari puts a relative path in front of its own files twice.
    place = path.resolve() / identifier / "data"
    place.mkdir(parents=True)
    # Not minari.create_dataset_from_buffers, which wants all episodes at once and takes its folder from the environment.
    storage = MinariStorage.new(
        place,
        observation_space=Text(_longest(source)),
        action_space=Text(MAX_ACTION_CHARS, min_length=1),
        data_format="arrow",
    )
    manifest = source.dataset.manifest
    storage.update_metadata(
        {
            "dataset_id": identifier,
            "minari_version": minari.__version__,
            "author": {"sregym_env"},
            "algorithm_name": ", ".join(sorted({each["name"] for each in manifest.policies})) or "unknown",
            "description": manifest.about.title,
        }
    )
    storage.update_episodes(_buffer(minari, record, losses) for record in _scored(source, losses))
    return int(storage.total_episodes)


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
    losses.add("messages before the briefing", len(record.opening) - 1)
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


MINARI = Format(
    "minari",
    "A Minari dataset: texts as observations and actions (needs minari[arrow])",
    "",
    write,
    ("minari_id",),
)
