"""A plan as a Ray Data pipeline: the same records, in Parquet."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sregym_env.errors import UsageError
from sregym_env.faults.problems import Problem, problem
from sregym_env.rollouts.plan import PolicyChoice, RunPlan, groups
from sregym_env.rollouts.pool import LocalPool
from sregym_env.rollouts.record import EpisodeRecord, Labels

ray = pytest.importorskip("ray")
pytest.importorskip("pandas")
parquet: Any = pytest.importorskip("pyarrow.parquet")

from sregym_env.rollouts.bulk import play_bulk  # noqa: E402


@pytest.fixture
def cluster() -> Iterator[None]:
    """This machine."""
    # What lies in front of the virtual environment here must do so in the workers too.
    variables = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    quiet: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False}
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    ray.init("local", num_cpus=3, object_store_memory=2**27, runtime_env={"env_vars": variables}, **quiet)
    yield
    ray.shutdown()


@pytest.mark.ray
@pytest.mark.usefixtures("cluster")
def test_bulk_runs_hold_the_same_records(tmp_path: Path) -> None:
    unplayable = Problem(
        id="x", app="hotel-reservation", faults=({"fault": "scale_to_zero", "target": "no"},)
    )  # type: ignore[arg-type]
    plan = RunPlan.of(
        groups((problem("network_policy_block"), unplayable), rounds=2, samples=2, seed=9),
        policy=PolicyChoice(name="random", options={"steps": 3}),
    )
    out = tmp_path / "bulk"
    play_bulk(plan, out, workers=1, groups_per_block=3)
    expected = [rollout for result in LocalPool().map(plan) for rollout in result.rollouts]
    episodes, labels = (parquet.read_table(out / name).to_pylist() for name in ("episodes", "labels"))
    records = [EpisodeRecord.model_validate_json(row["json"]) for row in episodes]
    assert records == [rollout.record for rollout in expected]
    assert [Labels.model_validate_json(row["json"]) for row in labels] == [each.labels for each in expected]
    rows = sorted(
        parquet.read_table(out / "index").to_pylist(),
        key=lambda row: (row["index"], row["sample_index"] or 0),
    )
    assert [row["index"] for row in rows] == [0, 0, 1, 1, 2, 3]
    assert [row["rollout_id"] for row in rows[:4]] == [record.rollout_id for record in records]
    assert ["ProblemError" in (row["error"] or "") for row in rows] == [False] * 4 + [True] * 2
    with pytest.raises(UsageError, match="exists already"):
        play_bulk(plan, out)
