"""Playing a plan as a Ray Data pipeline, into Parquet: for hundreds of thousands of episodes on many machines.

A table of groups goes in; actors play them and write a Parquet file of episodes and one of labels per block of
groups; a table with a row per episode comes out, and is written as Parquet too. Ray Data decides how many actors there
are and feeds them. What is given up after so many attempts is a matter of
:class:`~sregym_env.rollouts.ray.RolloutPool`; here a group that raises becomes a row with an error, and a group that
kills its worker again and again ends the pipeline.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from sregym_env.errors import UsageError, told_of
from sregym_env.rollouts.plan import Group, RunPlan
from sregym_env.rollouts.pool import Player, Raised, tried
from sregym_env.rollouts.runner import Rollout
from sregym_env.rollouts.runs import PLAN

EPISODES, LABELS, INDEX = "episodes", "labels", "index"
"""The folders: records, ground truth, and a row of figures per episode. Only the second tells what was wrong."""

_SCHEMA = pyarrow.schema([("rollout_id", pyarrow.string()), ("json", pyarrow.string())])

_INDEX_SCHEMA = pyarrow.schema(
    [
        ("index", pyarrow.int64()),
        ("group_id", pyarrow.string()),
        ("seed", pyarrow.int64()),
        ("error", pyarrow.string()),
        ("sample_index", pyarrow.int64()),
        ("rollout_id", pyarrow.string()),
        ("task_id", pyarrow.string()),
        ("policy", pyarrow.string()),
        ("success", pyarrow.bool_()),
        ("return", pyarrow.float64()),
        ("exit_reason", pyarrow.string()),
        ("trainable", pyarrow.bool_()),
        ("commands", pyarrow.int64()),
        ("sim_time_s", pyarrow.float64()),
    ]
)
"""Of a group that could not be played only the first four are known."""


class Block:
    """An actor's work: play a block of groups, write it, and return its rows."""

    def __init__(self, plan: str, folder: str) -> None:
        self._plan = RunPlan.model_validate_json(plan)
        self._folder = Path(folder)
        self._player: Player | None = None

    def __call__(self, batch: dict[str, Any]) -> pyarrow.Table:
        """``batch``: a column of groups as JSON."""
        groups = [Group.model_validate_json(str(text)) for text in batch["group"]]
        rows: list[dict[str, Any]] = []
        rollouts: list[Rollout] = []
        for group in groups:
            told = tried(0, self._own, group)
            if isinstance(told, Raised):
                rows.append(_lost(group, told.error))
            else:
                rollouts += told.rollouts
                rows += [_row(group, rollout) for rollout in told.rollouts]
        self._write(groups[0].index, rollouts)
        return pyarrow.Table.from_pylist(rows, schema=_INDEX_SCHEMA)

    def _own(self) -> Player:
        if self._player is None:
            self._player = Player(self._plan)
        return self._player

    def _write(self, first: int, rollouts: list[Rollout]) -> None:
        """A block is named by its first group, so that one that is played again takes its own place."""
        ids = [rollout.record.rollout_id for rollout in rollouts]
        for folder, texts in (
            (EPISODES, [rollout.record.to_json() for rollout in rollouts]),
            (LABELS, [rollout.labels.to_json() for rollout in rollouts]),
        ):
            table = pyarrow.table({"rollout_id": ids, "json": texts}, schema=_SCHEMA)
            path = self._folder / folder / f"part-{first:09d}.parquet"
            whole = path.with_suffix(".tmp")
            parquet.write_table(table, whole, compression="zstd")
            whole.rename(path)


def play_bulk(
    plan: RunPlan,
    folder: Path,
    *,
    workers: int | tuple[int, int] = 2,
    groups_per_block: int = 8,
    cpus_per_worker: float = 1.0,
) -> None:
    """Play a plan into a folder that all machines share.

    Args:
        plan: what is played.
        folder: must not exist yet.
        workers: how many actors, or the least and the most.
        groups_per_block: groups per call and per file.
        cpus_per_worker: what an actor asks Ray for.

    Connects to Ray as ``ray.init()`` does where that is not done. Raises UsageError where the folder exists.
    """
    import ray.data

    folder = folder.absolute()
    if folder.exists():
        raise UsageError(f"{folder} exists already; bulk runs begin in a new folder")
    least, most = workers if isinstance(workers, tuple) else (workers, workers)
    for name in (EPISODES, LABELS):
        (folder / name).mkdir(parents=True)
    with told_of(folder / PLAN):
        (folder / PLAN).write_text(plan.to_json())
    table = ray.data.from_items([{"group": group.model_dump_json()} for group in plan.groups])
    played = table.map_batches(
        Block,
        fn_constructor_args=(plan.without_groups().model_dump_json(), str(folder)),
        batch_size=groups_per_block,
        batch_format="numpy",
        compute=ray.data.ActorPoolStrategy(min_size=least, max_size=most),
        num_cpus=cpus_per_worker,
    )
    played.write_parquet(str(folder / INDEX))


def _row(group: Group, rollout: Rollout) -> dict[str, Any]:
    record = rollout.record
    return {
        "index": group.index,
        "sample_index": record.sample_index,
        "rollout_id": record.rollout_id,
        "group_id": group.group_id,
        "task_id": record.task_id,
        "seed": record.seed,
        "policy": record.policy.name,
        "success": record.success,
        "return": record.return_,
        "exit_reason": record.exit_reason,
        "trainable": record.trainable,
        "commands": record.commands,
        "sim_time_s": record.sim_time_s,
    }


def _lost(group: Group, error: str) -> dict[str, Any]:
    return {"index": group.index, "group_id": group.group_id, "seed": group.seed, "error": error}
