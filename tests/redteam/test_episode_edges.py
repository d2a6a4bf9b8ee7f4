"""The edges of the episode's interface: after the end, before the beginning, copies, and nonsense arguments."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest

import sregym_env  # noqa: F401
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import ProblemError, SREGymError, UsageError


def pair(**more: Any) -> SREGymEnv:
    """A pair's environment without wrappers."""
    arguments = {"fault": "wrong_binary", "target": "geo", "raise_errors": True, **more}
    made = gymnasium.make("SREGym/Pair-v0", **arguments).unwrapped
    assert isinstance(made, SREGymEnv)
    return made


def test_nothing_before_reset() -> None:
    env = pair()
    for use in (lambda: env.step("ls"), env.snapshot, env.state, lambda: env.episode):
        with pytest.raises(gymnasium.error.ResetNeeded):
            use()
    assert env.render() is None
    env.close()


def test_a_step_after_the_end_changes_nothing() -> None:
    env = pair(stage="mitigation")
    env.reset(seed=1)
    _, _, terminated, _, last = env.step("submit mitigation")
    assert terminated
    for action in ("kubectl get pods", "submit mitigation", "submit diagnosis x", ""):
        observation, reward, terminated, truncated, info = env.step(action)
        assert (reward, terminated, truncated) == (0.0, True, False)
        assert "over" in observation and info["step"] == last["step"]


def test_a_diagnosis_counts_once() -> None:
    env = pair(stage="e2e")
    env.reset(seed=1)
    env.step("submit diagnosis geo runs the wrong command")
    observation, *_ = env.step("submit diagnosis something else")
    assert "already" in observation or "mitigation" in observation


def test_reset_twice_is_the_same_episode() -> None:
    env = pair()
    assert env.reset(seed=4) == env.reset(seed=4)
    first = env.step("kubectl get pods -n hotel-reservation")
    env.reset(seed=4)
    assert env.step("kubectl get pods -n hotel-reservation") == first


@pytest.mark.parametrize("seed", [None, 0, 1, 2**31, 2**63, 2**64 + 1, 10**30])
def test_any_seed_will_do(seed: int | None) -> None:
    env = pair()
    observation, info = env.reset(seed=seed)
    assert observation and info["step"] == 0


def test_a_fork_outlives_its_parent() -> None:
    env = pair()
    env.reset(seed=2)
    env.step("echo one > /tmp/x")
    copy = env.fork()
    env.step("echo two > /tmp/x; kubectl delete deploy geo -n hotel-reservation")
    env.close()
    env.reset(seed=9)
    assert copy.step("cat /tmp/x")[0].strip() == "one"
    assert "NotFound" not in copy.step("kubectl get deploy geo -n hotel-reservation")[0]
    assert copy.fork().fork().step("cat /tmp/x")[0].strip() == "one"


def test_a_snapshot_may_be_restored_again_and_again() -> None:
    env = pair(render_mode="ansi")
    env.reset(seed=2)
    snapshot = env.snapshot()
    answers = set()
    for _ in range(3):
        env.step("kubectl scale deploy geo --replicas=3 -n hotel-reservation")
        env.step("submit diagnosis geo")
        env.step("submit mitigation")
        env.restore(snapshot)
        answers.add(env.step("kubectl get deploy geo -n hotel-reservation")[0])
    assert len(answers) == 1


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"fault": "wrong_binari"}, "wrong_binary"),
        ({"fault": "wrong_binary", "target": "geoo"}, "geo"),
        ({"fault": "wrong_binary", "target": "geo", "params": {"nothing": 1}}, "nothing"),
        ({"fault": "wrong_binary", "target": "geo", "app": "hotel-reservations"}, "hotel-reservation"),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(arguments: dict[str, Any], hint: str) -> None:
    with pytest.raises(SREGymError) as caught:
        gymnasium.make("SREGym/Pair-v0", **arguments).reset(seed=0)
    assert isinstance(caught.value, ProblemError | UsageError)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"nothing": 1},
        {"mode": "x"},
        {"stage": 3},
        {"problem": "no-such-problem"},
        {"problem": {}},
        {"fault": "", "target": ""},
    ],
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    env = pair()
    with pytest.raises((SREGymError, ValueError)):
        env.reset(seed=0, options=options)
    env.reset(seed=0)
    assert env.step("echo alive")[0].strip() == "alive"


@pytest.mark.parametrize(
    "arguments",
    [
        {"max_commands": 0},
        {"obs_chars": 1},
        {"render_mode": "human"},
        {"mode": "x"},
        {"stage": "x"},
        {"reward": "x"},
        {"reward": {"y": 1}},
    ],
)
def test_bad_arguments_are_refused_at_once(arguments: dict[str, Any]) -> None:
    with pytest.raises((UsageError, gymnasium.error.Error, TypeError)):
        SREGymEnv(fault="wrong_binary", target="geo", **arguments)
