"""A report of a run: one HTML file that opens from disk, with every number's interval and episodes to replay.

What a report shows of the world (the users' health, alerts, components) is in no record: the chosen episodes are played
again in the embedded cluster, bit for bit, and looked at after every step.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from sregym_env.errors import SREGymError, UsageError, told_of
from sregym_env.rollouts.dataset.manifest import MANIFEST
from sregym_env.rollouts.dataset.reader import Dataset, open_dataset
from sregym_env.rollouts.record import EpisodeRecord, Labels
from sregym_env.rollouts.replay import Difference, replay
from sregym_env.rollouts.report.choice import chosen
from sregym_env.rollouts.report.overview import outline, overview
from sregym_env.rollouts.report.page import inert, page
from sregym_env.rollouts.report.sampling import Samples
from sregym_env.rollouts.report.transcript import transcript

LARGEST: Final = 1_900_000
"""Bytes that the replayed episodes may take; texts are cut shorter until they do."""
LENGTHS: Final = (16_000, 8_000, 4_000, 2_000, 1_000, 400)
"""How long a text may be, in characters, before its middle is left out."""


def write_report(folder: Path, out: Path, *, episodes: int = 12, truth: bool = True) -> None:
    """Write the report of a dataset, finished or not, to one HTML file; the file appears when it is whole.

    A folder whose subfolders are datasets (``sregym eval`` writes one per policy) is reported as one run. The same
    datasets give the same bytes. ``episodes`` and ``truth``: as for :func:`report`. Raises UsageError where
    there is no dataset or no episode in it, and what :func:`demand_place` raises.
    """
    demand_place(out)
    datasets = tuple(open_dataset(path) for path in _folders(folder))
    labels = {name: each for dataset in datasets for name, each in dataset.labels().items()}
    title = datasets[0].manifest.about.title if len(datasets) == 1 else folder.resolve().name
    text = report(
        _Streamed(datasets),
        labels,
        title=title,
        episodes=episodes,
        truth=truth,
    )
    part = out.with_name(f".{out.name}.part")
    with told_of(out):
        part.write_bytes(text.encode("utf-8", "replace"))
    part.replace(out)


def demand_place(out: Path) -> None:
    """Refuse a place where no report can be, or where something else is. Raises UsageError and OSError."""
    if out.is_dir():
        raise UsageError(f"{out} is a folder; name the HTML file to write")
    if out.exists():
        with told_of(out), out.open("rb") as file:
            begun = file.read(len(_BEGINNING))
        if begun and begun.lower() != _BEGINNING:
            raise UsageError(f"{out} is there and no HTML file; name another")
    out.parent.mkdir(parents=True, exist_ok=True)
    if not os.access(out.parent, os.W_OK | os.X_OK):
        raise UsageError(f"{out}: nothing can be written in {out.parent}; name another")


_BEGINNING: Final = b"<!doctype html"


@dataclass(frozen=True, slots=True)
class _Streamed:
    """The episodes of datasets, read anew each time that they are asked for."""

    datasets: tuple[Dataset, ...]

    def __iter__(self) -> Iterator[EpisodeRecord]:
        return chain.from_iterable(dataset.episodes() for dataset in self.datasets)


def _folders(folder: Path) -> list[Path]:
    """The folder itself where it is a dataset, or those below it that are."""
    below = (
        [] if (folder / MANIFEST).exists() else sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))
    )
    return below or [folder]


def report(
    records: Iterable[EpisodeRecord],
    labels: Mapping[str, Labels],
    *,
    title: str,
    episodes: int = 12,
    truth: bool = True,
) -> str:
    """The page of a run. ``labels`` by rollout id: without an episode's labels it can be shown but not replayed.

    ``records`` are walked twice and never held all at once. ``episodes``: how many are shown step by step. ``truth``: whether the page says what was wrong; without, the page
    holds nothing of the labels. Raises UsageError where there is nothing to report.
    """
    if episodes < 0:
        raise UsageError(f"episodes must be at least 0, not {episodes}")
    outlines = [outline(record) for record in records]
    if not outlines:
        raise UsageError("there are no episodes to report")
    shown = _whole(records, chosen(outlines, episodes))
    graphs: dict[str, Any] = {}
    worlds: dict[str, dict[str, Any]] = {}
    for record in shown:
        world, samples = _world(record, labels.get(record.rollout_id), truth)
        worlds[record.rollout_id] = world
        if samples is not None:
            graphs.setdefault(samples.app, samples.graph)
    data = {
        "title": title,
        "truth": truth and bool(labels),
        **overview(outlines, labels if truth else {}),
        "graphs": graphs,
        "episodes": _fitting(shown, labels, worlds, truth),
    }
    return page(title, data)


def _whole(records: Iterable[EpisodeRecord], outlines: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    """The whole records of what was chosen by its outlines, in the same order."""
    wanted = {each.rollout_id for each in outlines}
    found = {record.rollout_id: record for record in records if record.rollout_id in wanted} if wanted else {}
    return [found[each.rollout_id] for each in outlines]


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


def _world(
    record: EpisodeRecord, labels: Labels | None, truth: bool
) -> tuple[dict[str, Any], Samples | None]:
    """What was seen when the episode was played again; ``note``: why it could not be, or in what it differed."""
    if labels is None:
        return {"note": "The labels of this episode are not here, so it cannot be played again."}, None
    if record.backend != "sim":
        return {"note": "This episode was played on a live cluster, which does nothing twice."}, None
    samples = Samples()
    try:
        replayed = replay(record, labels, samples.look)
    except SREGymError as error:
        why = str(error) if truth else type(error).__name__
        return {"note": f"This episode cannot be played again here: {why}"}, None
    differences = [each for each in replayed.differences if truth or not each.what.startswith("label")]
    if not samples.looks_at(record):
        return {"note": f"Played again here it went another way: {_first(differences)}"}, None
    seen = samples.to_json()
    if differences:
        seen["warning"] = f"Played again here it differs from the record: {_first(differences)}"
    return seen, samples


def _first(differences: Sequence[Difference]) -> str:
    return str(differences[0]) if differences else "in its labels"
