"""What every adapter needs."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from sregym_env.adapters.session import Session, rows
from sregym_env.adapters.trl import SREGymSpec, SREGymTools
from sregym_env.envs.tasks.splits import split_of
from sregym_env.errors import UsageError
from sregym_env.faults.problems import Problem
from sregym_env.rewards.judge import JudgeError
from tests.adapters.playing import PROBLEM, SEED, solution


def test_an_episode_by_named_tools() -> None:
    diagnosis, repair = solution()
    session = Session(raise_errors=True)
    assert "on call" in session.begin(PROBLEM, SEED)
    assert "Running" in session.call("shell", command="kubectl get pods -A")
    session.call("submit_diagnosis", text=diagnosis)
    for line in repair:
        session.say(line)
    assert not session.over
    session.call("submit_mitigation")
    assert session.over
    assert session.reward() == pytest.approx(1.0)
    assert session.reward() == pytest.approx(1.0), "asking twice pays once"
    metrics = session.metrics()
    assert metrics["success"] == 1.0
    assert metrics["ttd_s"] < metrics["ttm_s"]


def test_an_episode_that_is_cut_keeps_what_was_handed_in() -> None:
    session = Session(raise_errors=True)
    session.begin(PROBLEM, SEED)
    session.call("submit_diagnosis", text=solution()[0])
    assert session.reward("max_tokens") == pytest.approx(0.4)
    assert session.info["exit_reason"] == "max_tokens"
    assert "ttm_s" not in session.metrics()


def test_a_judge_that_fails_gives_no_reward() -> None:
    class Absent:
        name = "absent"
        settings: Mapping[str, Any] = {}

        def grade(self, *_: Any) -> Any:
            raise JudgeError("no answer")

    session = Session(judge=Absent())
    session.begin(PROBLEM, SEED)
    session.call("submit_diagnosis", text="x y")
    session.call("submit_mitigation")
    assert session.reward() is None


def test_before_the_first_episode() -> None:
    session = Session()
    assert session.reward() is None
    with pytest.raises(UsageError, match="call reset first"):
        session.call("alerts")
    with pytest.raises(UsageError, match="call reset first"):
        session.metrics()
    with pytest.raises(UsageError, match="the problem is no JSON"):
        session.begin('{"id": ', 0)


def test_rows_are_a_table() -> None:
    table = rows("lite", part="test", seeds=range(2))
    assert [row["task"] for row in table] == list(range(len(table)))
    assert {row["seed"] for row in table} == {0, 1}
    problems = [Problem.model_validate_json(row["problem"]) for row in table]
    assert {split_of(problem) for problem in problems} == {"test"}
    assert Session().begin(table[0]["problem"], 0)


def test_every_problem_has_every_seed_of_an_iterator_and_of_numpy() -> None:
    for seeds in (iter([1, 2]), np.array([1, 2])):
        table = rows("smoke", seeds=seeds)
        assert [row["seed"] for row in table] == [1, 2] * 5
        assert {type(row["seed"]) for row in table} == {int}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"seeds": 8}, "seeds must be a list"),
        ({"seeds": []}, "seeds must hold one"),
        ({"seeds": [-1]}, "seeds must be a whole number, at least 0"),
        ({"part": "tran"}, "part must be one of train, validation, test"),
        ({"by": "fault"}, "by must be one of family, target"),
        ({"max_comands": 3}, "did you mean 'max_commands'"),
    ],
)
def test_a_specification_that_makes_no_sense_is_refused_at_once(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        SREGymSpec(suite="smoke", **arguments)


# --- TRL's face, without TRL ----------------------------------------------------------------------


def test_a_specification_makes_environments_and_rows() -> None:
    spec = SREGymSpec(suite="smoke", seeds=[SEED], max_commands=30)
    env = spec.environment_factory()
    row = dict(spec.rows[2])
    assert json.loads(row["problem"])["id"] == PROBLEM
    assert "30 commands" in env.reset(**row)
    assert "No alerts" in env.alerts() or "STATE" in env.alerts()
    assert env.wait(seconds=5) == ""
    env.submit_diagnosis(text=solution()[0])
    for line in solution()[1]:
        env.shell(command=line)
    env.submit_mitigation()
    assert env.get_reward() == pytest.approx(1.0)
    assert env.reset(**row), "instances are used again"
    assert env.get_reward() == 0.0


def test_every_public_method_is_a_tool_with_a_schema() -> None:
    public = {
        name for name, _ in inspect.getmembers(SREGymTools, inspect.isfunction) if not name.startswith("_")
    }
    assert public == {
        "reset",
        "get_reward",
        "shell",
        "alerts",
        "wait",
        "submit_diagnosis",
        "submit_mitigation",
    }
    for name in public - {"reset", "get_reward"}:
        method = getattr(SREGymTools, name)
        for argument in list(inspect.signature(method).parameters)[1:]:
            assert f"{argument}: " in str(inspect.getdoc(method))
