"""A report of a run: one HTML file that opens from disk, with every number's interval and episodes to replay.

What a report shows of the world (the users' health, alerts, components) is in no record: the chosen episodes are played
again in the embedded cluster, bit for bit, and looked at after every step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sregym_env.envs.config import arguments
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.rollouts.record import EpisodeRecord, Labels
from sregym_env.rollouts.report.choice import chosen
from sregym_env.rollouts.report.overview import overview
from sregym_env.rollouts.report.page import inert, page
from sregym_env.rollouts.report.sampling import Samples
from sregym_env.rollouts.report.transcript import transcript

LARGEST: Final = 1_900_000
"""Bytes that the replayed episodes may take; texts are cut shorter until they do."""
LENGTHS: Final = (16_000, 8_000, 4_000, 2_000, 1_000, 400)
"""How long a text may be, in characters, before its middle is left out."""


def report(
    records: Sequence[EpisodeRecord],
    labels: Mapping[str, Labels],
    *,
    title: str,
    episodes: int = 12,
    truth: bool = True,
) -> str:
    """The page of a run. ``labels`` by rollout id: without an episode's labels it can be shown but not replayed.

    ``episodes``: how many are shown step by step. ``truth``: whether the page says what was wrong; without, the page
    holds nothing of the labels. Raises UsageError where there is nothing to report.
    """
    if not records:
        raise UsageError("there are no episodes to report")
    if episodes < 0:
        raise UsageError(f"episodes must be at least 0, not {episodes}")
    shown = chosen(records, episodes)
    graphs: dict[str, Any] = {}
    worlds = {record.rollout_id: _world(record, labels, graphs) for record in shown}
    data = {
        "title": title,
        "truth": truth and bool(labels),
        **overview(records, labels if truth else {}),
        "graphs": graphs,
        "episodes": _fitting(shown, labels, worlds, truth),
    }
    return page(title, data)


def _fitting(
    shown: Sequence[EpisodeRecord],
    labels: Mapping[str, Labels],
    worlds: Mapping[str, dict[str, Any]],
    truth: bool,
) -> list[dict[str, Any]]:
    """The episodes with texts as long as there is room for."""
    told: list[dict[str, Any]] = []
    for longest in LENGTHS:
        told = [
            {
                **transcript(record, labels.get(record.rollout_id), truth=truth, longest=longest),
                "world": worlds[record.rollout_id],
            }
            for record in shown
        ]
        if len(inert(told)) <= LARGEST:
            break
    return told


def _world(record: EpisodeRecord, labels: Mapping[str, Labels], graphs: dict[str, Any]) -> dict[str, Any]:
    """What was seen when the episode was played again, or ``note``: why it could not be."""
    mine = labels.get(record.rollout_id)
    if mine is None:
        return {"note": "The labels of this episode are not here, so it cannot be played again."}
    if record.backend != "sim":
        return {"note": "This episode was played on a live cluster; it cannot be played again."}
    samples = Samples()
    difference = _replayed(record, mine, samples)
    if difference:
        return {"note": difference}
    graphs.setdefault(samples.app, samples.graph)
    return samples.to_json()


def _replayed(record: EpisodeRecord, labels: Labels, samples: Samples) -> str:
    env = SREGymEnv(labels.problem, **arguments(record.config))
    env.reset(seed=record.seed)
    samples.look(env, -1)
    for step in record.steps:
        observation, *_ = env.step(record.action(step))
        samples.look(env, step.t)
    return ""
