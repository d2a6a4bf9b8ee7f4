"""Episodes are played, recorded and reproducible."""

from __future__ import annotations

import json

import pytest

from sregym_env.envs.env import SREGymEnv
from sregym_env.rollouts.policies import ExpertPolicy, Policy, RandomPolicy
from sregym_env.rollouts.record import EpisodeRecord, Labels
from sregym_env.rollouts.runner import Rollout, run_episode

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
        assert record.messages[first].action == record.action(step)
        assert record.messages[last].content == record.observation(step)


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
