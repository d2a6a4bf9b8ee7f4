"""Budgets, episodes that somebody else ends, and what a step is paid."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

from sregym_env.cluster.health import JourneyHealth
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.rewards.reward import TERMS

FAULT: dict[str, Any] = {"fault": "network_policy_block", "target": "recommendation"}


def made(**more: Any) -> SREGymEnv:
    """An environment whose own defects raise, at its first observation; in the published world, where it is known what
    each repair brings back."""
    env = SREGymEnv(**{**FAULT, **more}, raise_errors=True, variation=False)
    env.reset(seed=5)
    return env


def diagnosis(env: SREGymEnv) -> str:
    """The declared diagnosis, handed in."""
    return f"submit diagnosis <<'EOF'\n{env.episode.staged.solutions[0].diagnosis}\nEOF"


def repair(env: SREGymEnv) -> list[str]:
    """The declared repair."""
    return list(env.episode.staged.solutions[0].remedies[0])


# --- what a command is ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("kubectl get nodes", 1),
        ("kubectl get nodes; kubectl get pods -A | grep -v Running", 2),
        ("for n in 1 2 3; do kubectl get ns; alerts; done", 6),
        ("echo a b c | xargs -n1 kubectl get ns", 3),
        ("echo 'kubectl get ns' > f; bash f; sh f", 2),
        ("X=$(kubectl get ns -o name); curl -s http://nowhere/; echo $X | wc -l", 2),
        ("echo nothing | wc -l", 1),
        ("", 1),
        ("kubectl get ns &", 1),
        ("timeout 5 kubectl get ns && time kubectl get ns", 2),
        ("sleep 5; sleep 5", 1),
    ],
)
def test_what_reaches_the_cluster_counts(line: str, commands: int) -> None:
    *_, info = made().step(line)
    assert (info["step_commands"], info["commands"]) == (commands, commands)


def test_forty_chained_commands_are_not_one_step() -> None:
    env = made(max_commands=40)
    observation, *_, truncated, info = env.step("; ".join(["kubectl get ns -o name | head -1"] * 41))
    assert (truncated, info["exit_reason"], info["commands"]) == (True, "max_commands", 40)
    assert observation.count("namespace/") == 40
    assert "budget of commands is used up" in observation


def test_tool_calls_of_one_action_count_each() -> None:
    env = made(max_commands=3)
    call = '{"name": "kubectl", "arguments": {"command": "get ns -o name"}}'
    observation, *_, truncated, info = env.step(f"[{call}, {call}, {call}, {call}]")
    assert (truncated, info["commands"]) == (True, 3)
    assert len(env.results) == 4
    assert "used up" in env.results[3]
    assert observation.startswith("[1/4]\nnamespace/")


def test_handing_in_is_always_possible() -> None:
    env = made(max_commands=3)
    *_, terminated, _, info = env.step("kubectl get ns; kubectl get ns; kubectl get ns; submit mitigation")
    assert (terminated, info["exit_reason"]) == (True, "submitted")


def test_calls_after_the_end_are_answered() -> None:
    env = made()
    env.step('[{"name": "submit_mitigation"}, {"name": "alerts"}]')
    assert env.results[1] == "not carried out: the episode is over"


# --- an end from outside --------------------------------------------------------------------------


def test_a_diagnosis_that_was_handed_in_is_paid_at_the_end() -> None:
    env = made()
    env.step(diagnosis(env))
    _, reward, terminated, truncated, info = env.finish("max_tokens")
    assert (terminated, truncated, info["exit_reason"]) == (False, True, "max_tokens")
    assert reward == pytest.approx(0.4)
    assert info["trainable"]
    assert not info["is_success"]
    assert info["stage"] == "done"
    again = env.finish("max_tokens")
    assert again[1] == 0.0
    assert again[4]["reward_diagnosis"] == pytest.approx(0.4)


def test_an_outer_time_limit_is_settled_by_hand() -> None:
    env = TimeLimit(gym.make("SREGym/Pair-v0", **FAULT), 1)
    env.reset(seed=5)
    inner = env.unwrapped
    assert isinstance(inner, SREGymEnv)
    _, reward, terminated, truncated, _ = env.step(diagnosis(inner))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert inner.finish()[1] == pytest.approx(0.4)


@pytest.mark.parametrize(("graded", "earned"), [(False, 0.4), (True, 1.0)])
def test_what_stands_repaired_is_judged_where_the_rule_says_so(graded: bool, earned: float) -> None:
    env = made(grade_at_limit=graded)
    for line in (diagnosis(env), *repair(env)):
        env.step(line)
    _, reward, *_, info = env.finish()
    assert reward == pytest.approx(earned)
    assert info["is_success"] is graded
    assert info["TTM"] < 0, "nothing was handed in"


def test_at_its_own_limit_as_well() -> None:
    env = made(grade_at_limit=True, time_limit=600)
    for line in (diagnosis(env), *repair(env)):
        env.step(line)
    _, reward, _, truncated, info = env.step("sleep 600")
    assert (truncated, info["exit_reason"], info["is_success"]) == (True, "time_limit", True)
    assert reward == pytest.approx(1.0)


def test_what_is_still_broken_earns_nothing_at_the_limit() -> None:
    assert made(grade_at_limit=True, stage="mitigation").finish()[1] == 0.0


def test_what_broke_outside_voids_the_episode() -> None:
    env = made()
    env.step(diagnosis(env))
    _, reward, _, truncated, info = env.finish("infra")
    assert (reward, truncated, info["trainable"], info["exit_reason"]) == (0.0, True, False, "infra")
    assert all(info[f"reward_{term}"] == 0.0 for term in TERMS)


def test_an_episode_that_is_over_stays_as_it_is() -> None:
    env = made()
    env.step("submit mitigation")
    *_, info = env.finish("infra")
    assert (info["exit_reason"], info["trainable"]) == ("submitted", True)


def test_reasons_are_known() -> None:
    with pytest.raises(UsageError, match="cannot finish an episode for 'tired'; there are max_steps"):
        made().finish("tired")


# --- what a step is paid --------------------------------------------------------------------------


def test_every_cost_has_its_term() -> None:
    env = made(reward={"command_cost": 0.01, "second_cost": 0.001, "token_cost": 0.0001})
    env.charge(50)
    _, reward, *_, info = env.step("kubectl get ns; kubectl get ns; sleep 8")
    terms = {term: info[f"reward_{term}"] for term in TERMS}
    assert terms == pytest.approx(
        {
            "mitigation": 0.0,
            "diagnosis": 0.0,
            "collateral": 0.0,
            "shaping": 0.0,
            "command_cost": -0.02,
            "time_cost": -0.01,
            "token_cost": -0.005,
        }
    )
    assert reward == pytest.approx(sum(terms.values()))
    _, reward, *_, info = env.step("submit mitigation")
    assert reward == pytest.approx(-0.01 - 0.001)
    assert info["reward_token_cost"] == pytest.approx(-0.005), "tokens are paid for once"
    assert env.terms == pytest.approx({"command_cost": -0.01, "time_cost": -0.001})


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_a_shaped_reward_telescopes(gamma: float) -> None:
    env = made(reward={"preset": "shaped", "shaping": 0.5, "gamma": gamma}, stage="mitigation")
    first = env.potential
    assert first is not None
    assert 0 < first < 0.5, "most journeys go on, one fails"
    discounted, discount, seen = 0.0, 1.0, []
    for line in (*repair(env), "sleep 60", "submit mitigation"):
        *_, info = env.step(line)
        discounted += discount * env.terms.get("shaping", 0.0)
        discount *= gamma
        seen.append(env.potential)
    assert seen[-2] == pytest.approx(0.5), "all users are well after the repair"
    assert discounted == pytest.approx(-first, abs=1e-5), "whatever was done"
    assert info["is_success"]
    assert info["reward_mitigation"] == 1.0


def test_a_truncated_episode_keeps_its_potential() -> None:
    env = made(reward={"preset": "shaped", "shaping": 0.5})
    first = env.potential
    for line in (*repair(env), "sleep 60"):
        env.step(line)
    env.finish()
    assert first is not None
    assert env.terms_total["shaping"] == pytest.approx(0.5 - first, abs=1e-5)


def test_sending_the_users_away_is_no_health(monkeypatch: pytest.MonkeyPatch) -> None:
    env = made(reward="shaped")
    world = env.episode.world
    nobody = (JourneyHealth("search", 0.0, 1.0, 0.0, {}),)
    monkeypatch.setattr(type(world.traffic), "health", lambda self, window: nobody)
    env.step("kubectl get ns")
    assert env.potential == 0.0


def test_only_a_shaped_reward_looks_at_the_users() -> None:
    assert made().potential is None


# --- strict arguments -----------------------------------------------------------------------------

NAN = float("nan")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"problem": "wrong_bin_usage", **FAULT}, "problem= and fault= contradict each other"),
        ({"problems": "lite", "problem": "wrong_bin_usage"}, "problem= and problems= contradict"),
        ({"problem": "wrong_bin_usage", "target": "geo"}, "target= belongs to a .* pair: pass fault="),
        ({"app": "hotel-reservation"}, "app= belongs to"),
        ({"problem": "wrong_bin_usage", "params": {"port": 1}}, "params= belongs to"),
        ({**FAULT, "max_step": 3}, "unknown argument 'max_step'; .*there are app, backend"),
        ({**FAULT, "time_limits": 3}, "unknown argument 'time_limits'; did you mean 'time_limit'"),
        ({**FAULT, "time_limit": NAN}, "time_limit must be a finite number"),
        ({**FAULT, "time_limit": -1}, "at least 1"),
        ({**FAULT, "max_commands": 2.5}, "max_commands must be a whole number"),
        ({**FAULT, "max_commands": True}, "max_commands must be a whole number"),
        ({**FAULT, "reward": {"command_cost": NAN}}, "command_cost must be finite"),
        ({**FAULT, "reward": {"second_cost": -1}}, "second_cost must be finite and not negative"),
        ({**FAULT, "reward": {"mitigation": 0, "diagnosis": 0}}, "must not both be zero"),
        ({**FAULT, "reward": {"gamma": 0}}, "gamma must be above 0"),
        ({**FAULT, "reward": {"step_cost": 1}}, "unknown reward option 'step_cost'; there are"),
        ({**FAULT, "reward": "dense"}, "no reward preset 'dense'; there are composite, sparse, graded, shaped"),
        ({**FAULT, "noise": "no"}, "noise must be true or false, not 'no'"),
        ({**FAULT, "variation": 0}, "variation must be true or false, not 0"),
        ({**FAULT, "silent_alerts": "yes"}, "silent_alerts must be true or false"),
        ({**FAULT, "grade_at_limit": None}, "grade_at_limit must be true or false"),
        ({**FAULT, "compact": "a"}, "compact must be true or false"),
        ({**FAULT, "raise_errors": 1}, "raise_errors must be true or false"),
        ({**FAULT, "salt": 3}, "salt must be a text"),
        ({**FAULT, "app": 3}, "app must be a text"),
        ({"fault": ["scale_to_zero"]}, "fault must be a text"),
        ({**FAULT, "params": "port=1"}, "params must be a mapping, not 'port=1'"),
        ({"problems": "lite", "split": "dev"}, "split must be one of train, validation, test"),
    ],
)  # fmt: skip
def test_arguments_are_strict(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        SREGymEnv(**arguments)


def test_through_gymnasium_too() -> None:
    with pytest.raises(UsageError, match="problem= and fault= contradict"):
        gym.make("SREGym/wrong_bin_usage-v0", fault="scale_to_zero")
    with pytest.raises(UsageError, match="unknown argument 'foo'"):
        gym.make("SREGym/Suite-v0", foo=1)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"problem": "wrong_bin_usage", "fault": "scale_to_zero"}, "contradict"),
        ({"problem": "wrong_bin_usage", "target": "geo"}, "target= belongs to"),
        ({"noise": "maybe"}, "noise must be true or false, not 'maybe'"),
        ({"variation": "no"}, "variation must be true or false"),
        ({"fault": 3}, "fault must be a text"),
    ],
)
def test_options_are_strict(options: dict[str, Any], told: str) -> None:
    env = made()
    with pytest.raises(UsageError, match=told):
        env.reset(seed=1, options=options)
    assert env.step("echo alive")[0].strip() == "alive"


def test_numpys_bools_are_bools() -> None:
    assert made(noise=np.True_).config()["noise"] is True


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ({"name": "shell", "arguments": {"command": "echo alive"}}, "alive"),
        ([{"name": "shell", "arguments": {"command": "echo alive"}}], "alive"),
        (("echo alive",), "a tool call is an object such as"),
        (3, "bash: 3: command not found"),
        (None, "the action is empty"),
        (b"echo alive", "alive"),
        ({"name": {3}}, "command not found"),
    ],
)
def test_what_is_no_text_is_answered_as_what_it_would_be(action: Any, told: str) -> None:
    env = made()
    observation, _, _, _, info = env.step(action)
    assert told in observation
    assert info["exit_reason"] == ""


def test_an_episode_tells_its_whole_configuration() -> None:
    env = made(reward={"preset": "shaped"}, noise=True, max_commands=33)
    config = env.config()
    assert config["noise"] is True
    assert config["max_commands"] == 33
    assert config["reward"]["preset"] == "shaped"
    assert config["judge"] == {"name": "spec-12"}
    assert "recommendation" not in str(config), "the problem is not part of it"
