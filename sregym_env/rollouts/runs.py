"""A run: a plan, a pool that plays it, and a dataset that grows on disk, so that what was killed can go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sregym_env.errors import UsageError
from sregym_env.rollouts.dataset.files import write_whole
from sregym_env.rollouts.dataset.manifest import MANIFEST, About, read_manifest
from sregym_env.rollouts.dataset.reader import open_dataset
from sregym_env.rollouts.dataset.writer import DatasetWriter
from sregym_env.rollouts.plan import RunPlan
from sregym_env.rollouts.pool import GroupResult, Pool
from sregym_env.rollouts.record import EpisodeRecord

PLAN: Final = "labels-plan.json"
"""The plan in the folder of its dataset. It holds the problems: ground truth, as the labels are."""

Watcher = Callable[[GroupResult], None]
"""Called with every result once it is on disk."""


@dataclass(frozen=True, slots=True)
class Run:
    """What came of a plan."""

    plan: RunPlan
    records: tuple[EpisodeRecord, ...]
    """In the order of the plan; without texts and steps, which are in the dataset."""
    given_up: tuple[GroupResult, ...]
    """Groups that could not be played, in the order of the plan."""
    resumed: int
    """Episodes that were on disk already."""


def play(
    plan: RunPlan,
    pool: Pool,
    *,
    folder: Path | None = None,
    resume: bool = False,
    title: str = "",
    watch: Watcher | None = None,
) -> Run:
    """Play a plan to its end; into a folder if there is one, as a dataset.

    Every group is on disk as soon as it is done. With ``resume`` a folder that holds a part of the same run is gone on
    with: nothing that is there is played again, and what was given up is tried again. The finished dataset is the same
    to the byte however often it was interrupted. Raises UsageError where the folder holds another run, or this one
    without ``resume``.
    """
    if folder is None:
        return _played(plan, pool, None, {}, watch)
    writer = _writer(plan, folder, resume, title)
    # Read as a stream: only what statistics need is kept.
    known = (
        {record.rollout_id: slim(record) for record in open_dataset(folder).episodes()} if writer.done else {}
    )
    run = _played(plan, pool, writer, known, watch)
    writer.finish()
    return run


def saved_plan(folder: Path) -> RunPlan:
    """The plan of the run in a folder. Raises UsageError where there is none."""
    path = folder / PLAN
    if not path.is_file():
        raise UsageError(f"no run to go on with in {folder}: it has no {PLAN}")
    return RunPlan.from_json(path.read_text())


def slim(record: EpisodeRecord) -> EpisodeRecord:
    """A record without texts and steps: what statistics are made of."""
    return record.model_copy(update={"messages": (), "steps": (), "tools": ()})


def about(plan: RunPlan, title: str = "") -> About:
    """What the dataset of a run says of it: everything but the problems, which are the answers."""
    settings: dict[str, Any] = plan.model_dump(mode="json", exclude={"groups"})
    settings |= {"groups": len(plan.groups), "episodes": plan.episodes}
    named = {"title": title} if title else {}
    return About(run=settings, **named)


def _writer(plan: RunPlan, folder: Path, resume: bool, title: str) -> DatasetWriter:
    if (folder / MANIFEST).exists():
        held = read_manifest(folder).about.run
        if held.get("run_id") != plan.run_id:
            raise UsageError(_another(plan, folder, held))
        if not resume:
            raise UsageError(
                f"{folder} holds this run already; go on with it with --resume (resume=True), or choose another folder"
            )
    writer = DatasetWriter(folder, about(plan, title))
    write_whole(folder / PLAN, plan.to_json().encode())
    return writer


def _another(plan: RunPlan, folder: Path, held: dict[str, Any]) -> str:
    own = about(plan).run
    differing = [name for name in own if name != "run_id" and held.get(name) != own[name]]
    if (folder / PLAN).is_file():
        differing = list(saved_plan(folder).differences(plan))
    told = ", ".join(differing) or "problems or seeds"
    return (
        f"{folder} holds another run ({held.get('run_id', 'not of a plan')}, not {plan.run_id}), which differs in: {told}; "
        "choose another folder, or give the arguments that it was begun with"
    )


def _played(
    plan: RunPlan,
    pool: Pool,
    writer: DatasetWriter | None,
    known: dict[str, EpisodeRecord],
    watch: Watcher | None,
) -> Run:
    done: frozenset[int] = frozenset() if writer is None else writer.done
    groups = tuple(group for group in plan.groups if group.index not in done)
    played: dict[int, tuple[EpisodeRecord, ...]] = {}
    given_up: dict[int, GroupResult] = {}
    for result in pool.map_unordered(plan, groups) if groups else ():
        if result.error is not None:
            given_up[result.index] = result
        else:
            if writer is not None:
                writer.add(result.index, result.rollouts)
            played[result.index] = tuple(slim(rollout.record) for rollout in result.rollouts)
        if watch is not None:
            watch(result)
    return Run(
        plan=plan,
        records=tuple(_in_order(plan, played, known)),
        given_up=tuple(given_up[index] for index in sorted(given_up)),
        resumed=len(known),
    )


def _in_order(
    plan: RunPlan, played: dict[int, tuple[EpisodeRecord, ...]], known: dict[str, EpisodeRecord]
) -> Iterator[EpisodeRecord]:
    earlier: dict[str, list[EpisodeRecord]] = {}
    for record in known.values():
        earlier.setdefault(record.group_id, []).append(record)
    for group in plan.groups:
        yield from played.get(group.index, ()) or earlier.get(group.group_id, ())
