"""Episodes are played again from their records, and whatever differs is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sregym_env.cluster.app import App
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.faults.spec import FaultSpec
from sregym_env.llm.messages import Message
from sregym_env.rewards.checklist import Answer, Grade, checklist, grade
from sregym_env.rewards.judge import JudgeError
from sregym_env.rollouts.record import EpisodeRecord, Labels
from sregym_env.rollouts.replay import Difference, replay
from sregym_env.rollouts.replays import replay_all
from sregym_env.rollouts.runner import Budgets, Rollout
from tests.rollouts.played import PROBLEM, TALK, TEXT, expert, said, talked, typed


def changed(rollout: Rollout, **record: Any) -> tuple[EpisodeRecord, Labels]:
    """A record of which something else is claimed."""
    return rollout.record.model_copy(update=record), rollout.labels


def changed_step(rollout: Rollout, t: int, **step: Any) -> tuple[EpisodeRecord, Labels]:
    steps = list(rollout.record.steps)
    steps[t] = steps[t].model_copy(update=step)
    return changed(rollout, steps=tuple(steps))


LIMITS: dict[str, Any] = {
    "commands": {"max_commands": 3},
    "time": {"time_limit": 20.0},
    "graded at a limit": {"max_commands": 3, "grade_at_limit": True},
    "steps": {"budgets": Budgets(steps=2)},
    "simulated seconds": {"budgets": Budgets(sim_seconds=1.0)},
    "tokens": {"budgets": Budgets(tokens=5)},
    "no time at all": {"budgets": Budgets(wall_seconds=1e-9)},
    "costs": {
        "reward": {"preset": "shaped", "command_cost": 0.01, "second_cost": 0.001, "token_cost": 0.001}
    },
    "alerts first": {"mode": "reactive"},
    "repair alone": {"stage": "mitigation"},
    "noise": {"noise": True},
    "a briefing in two messages": {"opening": (Message(role="system", content="Be quick."),)},
}


@pytest.mark.parametrize("settings", LIMITS.values(), ids=LIMITS.keys())
def test_what_was_played_happens_again(settings: dict[str, Any]) -> None:
    rollout = said(*TALK, **settings)
    assert replay(rollout.record, rollout.labels).differences == ()


@pytest.mark.parametrize("rollout", [expert, talked, typed])
def test_every_kind_of_policy_is_replayed(rollout: Any) -> None:
    played = rollout()
    again = replay(played.record, played.labels)
    assert again.equal
    assert again.rollout.record.final_digest == played.record.final_digest


def test_a_model_that_broke_down_breaks_down_again() -> None:
    rollout = said(*TALK[:2])
    assert rollout.record.exit_reason == "infra"
    assert replay(rollout.record, rollout.labels).equal


def test_records_survive_being_written_before_they_are_replayed() -> None:
    rollout = talked()
    record = EpisodeRecord.model_validate_json(rollout.record.to_json())
    assert replay(record, Labels.model_validate_json(rollout.labels.to_json())).equal


CLAIMS = {
    "observation": (
        lambda: changed(
            talked(),
            messages=tuple(
                m.model_copy(update={"content": m.content.replace("frontend", "backend")})
                if m.role == "tool"
                else m
                for m in talked().record.messages
            ),
        ),
        0,
        "observation",
    ),
    "reward": (lambda: changed_step(talked(), 6, reward=0.5), 6, "reward"),
    "term": (lambda: changed_step(talked(), 6, reward_terms={"diagnosis": 1.0}), 6, "reward_terms"),
    "digest": (lambda: changed_step(talked(), 2, state_digest="0" * 32), 2, "state_digest"),
    "end": (lambda: changed_step(talked(), 6, terminated=False), 6, "terminated"),
    "return": (lambda: changed(talked(), return_=1.0), None, "return_"),
    "success": (lambda: changed(talked(), success=True), None, "success"),
    "repair": (lambda: changed(talked(), oracle={"passed": True}), None, "oracle"),
    "grade": (lambda: changed(talked(), grade={"passed": True}), None, "grade"),
    "final state": (lambda: changed(talked(), final_digest="0" * 32), None, "final_digest"),
    "exit": (lambda: changed(talked(), exit_reason="max_commands"), None, "exit_reason"),
    "briefing": (
        lambda: changed(
            talked(),
            messages=(Message(role="user", content="You are a pilot."), *talked().record.messages[1:]),
        ),
        -1,
        "text",
    ),
}


@pytest.mark.parametrize(("claim", "step", "what"), CLAIMS.values(), ids=CLAIMS.keys())
def test_a_false_claim_is_noticed(claim: Any, step: int | None, what: str) -> None:
    again = replay(*claim())
    assert not again.equal
    assert (step, what) in [(each.step, each.what) for each in again.differences]


def test_an_action_more_or_less_is_noticed() -> None:
    record = talked().record
    fewer = record.model_copy(update={"steps": record.steps[:-1]})
    assert "exit_reason" in {each.what for each in replay(fewer, talked().labels).differences}
    early = said(*TALK, max_commands=3)
    longer = early.record.model_copy(update={"config": {**early.record.config, "max_commands": 9}})
    assert "exit_reason" in {each.what for each in replay(longer, early.labels).differences}


def test_ground_truth_is_compared_too() -> None:
    labels = talked().labels.model_copy(update={"root_cause": ("nobody",)})
    (difference,) = replay(talked().record, labels).differences
    assert difference.what == "label root_cause"


def test_differences_are_told_by_their_first_differing_line() -> None:
    difference = Difference(3, "observation", "a\nb\nc", "a\nx\nc")
    assert str(difference) == "step 3, observation: recorded line 2 'b', replayed 'x'"
    assert "replayed nothing" in str(Difference(3, "observation", "a\nb", "a"))
    assert str(Difference(None, "commands", 3, 4)) == "episode, commands: recorded 3, replayed 4"


class Fickle:
    """A judge such as a model is: nobody can ask it again, and it never says the same twice."""

    name = "fickle"
    settings = {"model": "gone-1"}

    def __init__(self, score: bool | None) -> None:
        self._score = score

    def grade(self, diagnosis: str, specs: Sequence[FaultSpec], app: App) -> Grade:
        """Yes to everything, no to everything, or a failure; once."""
        if self._score is None:
            raise JudgeError("HTTP 500")
        return grade(Answer(question.id, self._score, "so it said") for question in checklist().questions)


@pytest.mark.parametrize("score", [True, False, None])
def test_the_grade_of_a_model_is_taken_from_the_record(score: bool | None) -> None:
    rollout = said(*TALK, judge=Fickle(score))
    assert rollout.record.trainable == (score is not None)
    again = replay(rollout.record, rollout.labels)
    assert again.equal, [str(each) for each in again.differences]
    assert again.rollout.labels.grade == rollout.labels.grade


def test_a_watcher_sees_the_environment_after_every_step() -> None:
    seen: list[tuple[int, str]] = []

    def watch(env: SREGymEnv, t: int) -> None:
        seen.append((t, env.episode.digest))

    record = talked().record
    replay(record, talked().labels, watch)
    assert [t for t, _ in seen] == [-1, *range(len(record.steps))]
    assert [digest for _, digest in seen[1:]] == [step.state_digest for step in record.steps]


def test_what_cannot_be_replayed_is_refused() -> None:
    live = talked().record.model_copy(update={"backend": "live"})
    with pytest.raises(UsageError, match="live cluster"):
        replay(live, talked().labels)
    with pytest.raises(UsageError, match="labels of"):
        replay(talked().record, expert().labels)


def test_two_processes_tell_what_one_tells() -> None:
    rollouts = [talked(), Rollout(*changed(typed(), return_=0.75))]
    alone = list(replay_all(rollouts))
    assert [outcome.number == 0 for outcome in alone] == [True, False]
    assert "return_: recorded 0.75" in alone[1].differences[0]
    assert list(replay_all(rollouts, jobs=2)) == alone
    assert len(list(replay_all(rollouts, limit=1))) == 1


def test_a_problem_that_is_gone_is_told_and_the_rest_is_replayed() -> None:
    gone = talked().labels.model_copy(
        update={"problem": {**talked().labels.problem, "faults": [{"fault": "no_such_fault", "target": "x"}]}}
    )
    first, second = replay_all([Rollout(talked().record, gone), talked()])
    assert "no_such_fault" in first.differences[0]
    assert second.number == 0


def test_the_problem_of_the_tests_has_not_been_renamed() -> None:
    assert talked().labels.problem["id"] == PROBLEM
    assert len(talked().record.steps) == len(TALK)
    assert len(typed().record.steps) == len(TEXT)
