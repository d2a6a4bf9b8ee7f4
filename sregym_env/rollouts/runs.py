"""A run: a plan, a pool that plays it, and a dataset that grows on disk, so that what was killed can go on."""

from __future__ import annotations

from collections.abc import Callable
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
    folder: Path | str | None = None,
    resume: bool = False,
    redo_void: bool = False,
    title: str = "",
    begun: Callable[[int], None] | None = None,
    watch: Watcher | None = None,
) -> Run:
    """Play a plan to its end; into a folder if there is one, as a dataset.

    Every group is on disk as soon as it is done. With ``resume`` a folder that holds a part of the same run is gone on
    with: nothing that is there is played again, and what was given up is tried again; with ``redo_void`` so are the
    groups with an episode that has no outcome, because a model's endpoint or the judge failed. ``begun`` is told how
    many episodes need not be played. The finished dataset is the same to the byte however often it was interrupted.
    Raises UsageError where the folder holds another run, or this one without ``resume``.
    """
    folder = None if folder is None else Path(folder)
    if folder is None:
        return _played(plan, pool, None, {}, watch)
    writer = _writer(plan, folder, resume, title)
    known = _known(folder) if writer.done else {}
    if redo_void:
        known = {
            group_id: records
            for group_id, records in known.items()
            if all(record.trainable for record in records)
        }
    if begun is not None:
        begun(sum(map(len, known.values())))
    run = _played(plan, pool, writer, known, watch)
    writer.finish()
    return run


def saved_plan(folder: Path | str) -> RunPlan:
    """The plan of the run in a folder. Raises UsageError where there is none."""
    path = Path(folder) / PLAN
    if not path.is_file():
        raise UsageError(f"no run to go on with in {folder}: it has no {PLAN}")
    return RunPlan.from_json(path.read_text())


def slim(record: EpisodeRecord, like: EpisodeRecord | None = None) -> EpisodeRecord:
    """A record without texts and steps: what statistics are made of.

    What it has in common with another one of the run is kept once for both.
    """
    less: dict[str, Any] = {"messages": (), "steps": (), "tools": (), "diagnosis": None}
    for name in ("grade", "oracle"):
        verdict = getattr(record, name)
        less[name] = verdict and {"passed": verdict["passed"], "score": verdict["score"]}
    for name in ("config", "policy", "package") if like is not None else ():
        if getattr(record, name) == getattr(like, name):
            less[name] = getattr(like, name)
    return record.model_copy(update=less)


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


def _known(folder: Path) -> dict[str, tuple[EpisodeRecord, ...]]:
    """What is on disk, by group; read as a stream, of which only what statistics need is kept."""
    known: dict[str, list[EpisodeRecord]] = {}
    first: EpisodeRecord | None = None
    for record in open_dataset(folder).episodes():
        kept = slim(record, first)
        first = first or kept
        known.setdefault(record.group_id, []).append(kept)
    return {group_id: tuple(records) for group_id, records in known.items()}


def _played(
    plan: RunPlan,
    pool: Pool,
    writer: DatasetWriter | None,
    known: dict[str, tuple[EpisodeRecord, ...]],
    watch: Watcher | None,
) -> Run:
    """The groups that are not known are played."""
    groups = tuple(group for group in plan.groups if group.group_id not in known)
    records = dict(known)
    first: EpisodeRecord | None = None
    given_up: dict[int, GroupResult] = {}
    for result in pool.map_unordered(plan, groups) if groups else ():
        if result.error is not None:
            given_up[result.index] = result
        else:
            if writer is not None:
                writer.add(result.index, result.rollouts)
            kept = tuple(slim(rollout.record, first) for rollout in result.rollouts)
            first = first or kept[0]
            records[result.group.group_id] = kept
        if watch is not None:
            watch(result)
    return Run(
        plan=plan,
        records=tuple(record for group in plan.groups for record in records.get(group.group_id, ())),
        given_up=tuple(given_up[index] for index in sorted(given_up)),
        resumed=sum(map(len, known.values())),
    )
