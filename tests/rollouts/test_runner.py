"""Episodes are played, recorded and reproducible."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.llm.messages import call
from sregym_env.llm.model import ModelError, Usage
from sregym_env.rollouts.policies import ExpertPolicy, Policy, RandomPolicy, Turn, turn
from sregym_env.rollouts.record import EpisodeRecord, Failure, Labels
from sregym_env.rollouts.runner import Budgets, Rollout, run_episode

PROBLEM = "network_policy_block"


def rolled(policy: Policy, seed: int = 4) -> Rollout:
    """One recorded episode."""
    return run_episode(
        SREGymEnv(PROBLEM, raise_errors=True, max_commands=100), policy, seed=seed, digests=True
    )


def test_the_expert_succeeds_and_the_record_says_how() -> None:
    rollout = rolled(ExpertPolicy())
    record = rollout.record
    assert record.success
    assert record.return_ == pytest.approx(1.0)
    assert record.exit_reason == "submitted"
    assert record.diagnosis is not None
    assert record.oracle is not None
    assert record.oracle["passed"]
    assert len(record.messages) == 1 + 2 * len(record.steps)
    for step in record.steps:
        first, last = step.message_span
        said, answered = record.messages[first], record.messages[last]
        assert said.action == record.action(step)
        assert answered.content == record.observation(step)
        assert [call.id for call in said.tool_calls] == [answered.tool_call_id]


def test_the_expert_does_not_use_forbidden_or_unknown_commands() -> None:
    record = rolled(ExpertPolicy()).record
    assert [
        record.action(step) for step in record.steps if step.error_type not in ("", "command_error")
    ] == []


@pytest.mark.parametrize("policy", [ExpertPolicy, RandomPolicy])
def test_the_same_seed_gives_the_same_record(policy: type[Policy]) -> None:
    assert rolled(policy()).record.to_json() == rolled(policy()).record.to_json()


def test_records_survive_json() -> None:
    rollout = rolled(RandomPolicy(3))
    assert EpisodeRecord.model_validate_json(rollout.record.to_json()) == rollout.record
    assert Labels.model_validate_json(rollout.labels.to_json()) == rollout.labels


def test_the_truth_is_not_in_the_record() -> None:
    rollout = rolled(RandomPolicy(3))
    assert PROBLEM in rollout.labels.to_json()
    assert PROBLEM not in rollout.record.to_json()
    assert "return" in json.loads(rollout.record.to_json())


def test_a_random_policy_does_not_succeed() -> None:
    assert not rolled(RandomPolicy(10)).record.success


# --- budgets, and whose fault it is ---------------------------------------------------------------


class Scripted:
    """Says one thing after another, and the last one ever after; each turn uses tokens."""

    name, version = "scripted", "1"

    def __init__(self, *says: str | Turn | Exception, tokens: int = 0) -> None:
        self.settings: Mapping[str, Any] = {"says": len(says)}
        self._says = list(says)
        self._usage = Usage(prompt_tokens=tokens)

    def begin(self, env: SREGymEnv, briefing: str, seed: int) -> None:
        """Nothing to prepare."""

    def act(self, observation: str, info: Mapping[str, Any]) -> Turn:
        """The next thing."""
        said = self._says.pop(0) if len(self._says) > 1 else self._says[0]
        if isinstance(said, Exception):
            raise said
        made = turn(said) if isinstance(said, str) else said
        return replace(made, usage=self._usage)


LOOK = "kubectl get pods"


def scripted(
    *says: str | Turn | Exception, budgets: Budgets = Budgets(), tokens: int = 0, **env: Any
) -> EpisodeRecord:
    """The record of an episode that says this."""
    made = SREGymEnv(PROBLEM, raise_errors=True, **env)
    return run_episode(made, Scripted(*says, tokens=tokens), seed=4, budgets=budgets).record


@pytest.mark.parametrize(
    ("budgets", "reason", "steps"),
    [
        (Budgets(steps=3), "max_steps", 3),
        (Budgets(tokens=250), "max_tokens", 3),
        (Budgets(sim_seconds=1.5), "sim_seconds", 2),
        (Budgets(wall_seconds=1e-9), "deadline", 0),
    ],
)
def test_a_budget_that_is_used_up_settles_the_episode(budgets: Budgets, reason: str, steps: int) -> None:
    record = scripted(LOOK, budgets=budgets, tokens=100)
    assert (record.exit_reason, len(record.steps)) == (reason, steps)
    assert record.failure == Failure(kind="agent", reason=reason)
    assert record.trainable
    assert record.return_ == 0.0


def test_what_was_handed_in_before_the_budget_was_used_up_is_paid() -> None:
    env = SREGymEnv(PROBLEM)
    env.reset(seed=4)
    told = f"submit diagnosis <<'E'\n{env.episode.staged.solutions[0].diagnosis}\nE"
    record = scripted(told, LOOK, budgets=Budgets(steps=2))
    assert record.return_ == pytest.approx(0.4)
    assert record.steps[-1].reward == pytest.approx(0.4)
    assert record.steps[-1].truncated
    assert record.reward_terms["diagnosis"] == pytest.approx(0.4)


@pytest.mark.parametrize("wrong", [0, -1, float("nan")])
def test_budgets_are_positive(wrong: float) -> None:
    with pytest.raises(UsageError, match="budget sim_seconds must be positive"):
        Budgets(sim_seconds=wrong)


@pytest.mark.parametrize("wrong", [{"steps": "3"}, {"tokens": 1.5}, {"sim_seconds": True}])
def test_budgets_are_numbers(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"budget \w+ must be a (whole )?number"):
        Budgets(**wrong)


def test_tokens_are_paid_for_where_the_reward_says_so() -> None:
    record = scripted(LOOK, "submit mitigation", tokens=100, reward={"token_cost": 0.0001})
    assert record.reward_terms["token_cost"] == pytest.approx(-0.02)
    assert record.return_ == pytest.approx(-0.02)
    assert record.usage == Usage(prompt_tokens=200)


@pytest.mark.parametrize(
    ("says", "env", "kind", "reason"),
    [
        (["submit mitigation"], {}, "agent", "not_repaired"),
        (["submit diagnosis geo", "submit mitigation"], {}, "agent", "neither"),
        (["submit diagnosis geo"], {"stage": "diagnosis"}, "agent", "wrong_diagnosis"),
        ([LOOK], {"max_commands": 2}, "agent", "max_commands"),
        ([ModelError("busy", "rate_limited")], {}, "world", "rate_limited"),
    ],
)
def test_whose_fault_it_is(says: list[Any], env: dict[str, Any], kind: str, reason: str) -> None:
    record = scripted(*says, **env)
    assert record.failure is not None
    assert (record.failure.kind, record.failure.reason) == (kind, reason)
    assert (record.return_ is None) is (kind != "agent")
    assert record.trainable is (kind == "agent")


def test_a_defect_of_the_environment_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    env = SREGymEnv(PROBLEM)
    env.reset(seed=4)
    monkeypatch.setattr(type(env.episode), "_carry_out", lambda *_: 1 / 0)
    record = run_episode(env, Scripted(LOOK), seed=4).record
    assert record.failure is not None
    assert (record.failure.kind, record.failure.reason) == ("ours", "infra")
    assert "ZeroDivisionError" in record.failure.detail
    assert (record.return_, record.trainable) == (None, False)


def test_every_call_of_a_turn_is_answered() -> None:
    calls = [
        call("a", "kubectl", command="get ns -o name"),
        call("b", "alerts"),
        call("c", "submit_mitigation"),
    ]
    record = scripted(turn("Three at once.", calls))
    answers = record.messages[-3:]
    assert [(each.role, each.tool_call_id, each.name) for each in answers] == [
        ("tool", "a", "kubectl"), ("tool", "b", "alerts"), ("tool", "c", "submit_mitigation")]  # fmt: skip
    assert "namespace/" in answers[0].content
    assert record.observation(record.steps[0]).startswith("[1/3]\n")
    assert record.steps[0].commands == 3


def test_two_configurations_never_share_an_id() -> None:
    ids = {
        scripted(LOOK, "submit mitigation", **env).rollout_id
        for env in (
            {},
            {"max_commands": 50},
            {"reward": "sparse"},
            {"reward": {"command_cost": 0.1}},
            {"obs_chars": 9000},
        )
    }
    assert len(ids) == 5


@pytest.mark.parametrize(
    "said", ["echo \ud800", turn("\udfff?", [call("a", "shell", command="echo \ud800")])]
)
def test_half_characters_do_not_break_a_record(said: str | Turn) -> None:
    record = scripted(said, "submit mitigation")
    assert EpisodeRecord.model_validate_json(record.to_json()) == record
    assert record.observation(record.steps[0]) == "?\n"
