"""Wrappers: what each of them changes, and that all of them are forked, pickled, made again and vectorised alike."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

import sregym_env  # noqa: F401 - registers the ids
from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.wrappers import (
    ChatObservation,
    NumericView,
    ObservationBudget,
    RewardTerms,
    StepLimit,
    ToolCallAction,
    fork,
)
from sregym_env.errors import UsageError
from sregym_env.rewards.reward import TERMS

PROBLEM = "SREGym/network_policy_block-v0"
DIAGNOSIS = "A NetworkPolicy isolates the pods of {}: all their connections time out."

Env = gym.Env[Any, Any]


def few(env: Env) -> Env:
    """A numeric view with a small menu."""
    return NumericView(env, verbs=("restart", "admit"), mechanisms=("network_policy_isolation",))


WRAPPED: dict[str, tuple[Callable[[Env], Env], tuple[Any, ...]]] = {
    "budget": (
        lambda env: ObservationBudget(env, 1_500),
        ("kubectl get pods -A -o wide", "alerts", "submit mitigation"),
    ),
    "terms": (lambda env: RewardTerms(env, {"diagnosis": 2.0}), ("alerts", "submit mitigation")),
    "limit": (lambda env: StepLimit(env, 2), ("alerts", "alerts")),
    "chat": (
        lambda env: ChatObservation(env, system="Be brief."),
        ("alerts", "kubectl get pods -A", "alerts"),
    ),
    "calls": (
        ToolCallAction,
        ({"name": "alerts", "arguments": {}}, [{"name": "wait", "arguments": {"seconds": 3}}] * 2),
    ),
    "chat of calls": (
        lambda env: ToolCallAction(ChatObservation(env)),
        ([{"name": "alerts"}, {"name": "kubectl", "arguments": {"command": "get pods -A"}}],),
    ),
    "numbers": (few, (0, 3, 1)),
    "everything": (
        lambda env: few(RewardTerms(StepLimit(ObservationBudget(env, 2_000), 3), {"mitigation": 0.5})),
        (0, 2, 0),
    ),
}
"""Name: (how it is wrapped, some actions)."""


def made(name: str) -> Env:
    """A wrapped environment as gym.make makes it."""
    return WRAPPED[name][0](gym.make(PROBLEM))


def plain(value: Any) -> Any:
    """Arrays as lists, so that == compares everything."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value


def stepped(env: Env, actions: Any) -> list[Any]:
    """What the actions lead to."""
    return [plain(env.step(action)) for action in actions]


@pytest.mark.parametrize("name", WRAPPED)
def test_gymnasium_finds_nothing_wrong(name: str) -> None:
    wrap = WRAPPED[name][0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(wrap(SREGymEnv(problem="network_policy_block")), skip_render_check=True)


@pytest.mark.parametrize("name", WRAPPED)
def test_observations_and_samples_lie_in_their_spaces(name: str) -> None:
    env = made(name)
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert env.observation_space.contains(env.observation_space.sample())
    env.action_space.seed(3)
    for _ in range(3):
        action = env.action_space.sample()
        assert env.action_space.contains(action)
        assert env.observation_space.contains(env.step(action)[0])
    assert env.observation_space == made(name).observation_space
    assert env.action_space == made(name).action_space


@pytest.mark.parametrize("name", WRAPPED)
def test_twins_go_on_alike_and_apart(name: str) -> None:
    env, actions = made(name), WRAPPED[name][1]
    env.reset(seed=2)
    first = stepped(env, actions[:1])
    assert first
    twins = [fork(env), pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    before = env.unwrapped.state()  # type: ignore[attr-defined]
    seen = [stepped(twin, actions[1:]) for twin in twins]
    assert seen[0] == seen[1] == seen[2]
    assert env.unwrapped.state() == before, "what a twin does is its own"  # type: ignore[attr-defined]
    assert stepped(env, actions[1:]) == seen[0]
    # What Gymnasium's wrappers count is forked with them: the twin may be reset and closed.
    twins[0].reset(seed=3)
    twins[0].close()


@pytest.mark.parametrize("name", WRAPPED)
def test_its_spec_makes_it_again(name: str) -> None:
    env = made(name)
    assert env.spec is not None
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert str(again) == str(env)
    assert plain(again.reset(seed=4)) == plain(env.reset(seed=4))
    actions = WRAPPED[name][1]
    assert stepped(again, actions) == stepped(env, actions)


@pytest.mark.parametrize("name", ("budget", "chat", "chat of calls", "numbers"))
def test_other_processes_say_the_same(name: str) -> None:
    actions = WRAPPED[name][1]
    makers = [lambda: made(name)] * 2
    serial, parallel = SyncVectorEnv(makers), AsyncVectorEnv(makers, context="fork")
    try:
        assert plain(parallel.reset(seed=[1, 2])) == plain(serial.reset(seed=[1, 2]))
        for action in actions:
            both = [action, action] if name == "numbers" else (action, action)
            assert plain(parallel.step(both)) == plain(serial.step(both))
    finally:
        parallel.close()


def test_forking_knows_what_it_cannot_fork() -> None:
    with pytest.raises(UsageError, match="cannot be forked"):
        fork(gym.make("CartPole-v1"))
    for wrapper in (lambda env: StepLimit(env, 3), lambda env: RewardTerms(env, {})):
        with pytest.raises(UsageError, match="goes around a SREGymEnv"):
            wrapper(gym.make("CartPole-v1"))


def test_statistics_of_other_peoples_wrappers_are_not_shared() -> None:
    env = gym.wrappers.RecordEpisodeStatistics(gym.make(PROBLEM))
    env.reset(seed=1)
    twin = fork(env)
    twin.step("submit mitigation")
    assert (len(twin.return_queue), len(env.return_queue)) == (1, 0)


# --- the step limit ---------------------------------------------------------------------------------------


def target_of(env: Env) -> str:
    """The component at fault."""
    return str(env.unwrapped.state()["specs"][0]["components"][0])  # type: ignore[attr-defined]


def test_a_time_limit_loses_what_a_step_limit_pays() -> None:
    earned = {}
    for kind in (gym.wrappers.TimeLimit, StepLimit):
        env: Env = kind(SREGymEnv(problem="network_policy_block"), 2)
        env.reset(seed=1)
        env.step(f"submit diagnosis {json.dumps(DIAGNOSIS.format(target_of(env)))}")
        _, reward, terminated, truncated, info = env.step("alerts")
        assert (terminated, truncated) == (False, True)
        earned[kind.__name__] = (reward, info["exit_reason"])
    assert earned["TimeLimit"] == (0.0, "")
    assert earned["StepLimit"][0] > 0.3
    assert earned["StepLimit"][1] == "max_steps"


def test_the_last_step_tells_of_its_action_and_of_the_end() -> None:
    env = StepLimit(SREGymEnv(problem="network_policy_block", reward={"command_cost": 0.01}), 1)
    env.reset(seed=1)
    observation, reward, _, truncated, info = env.step("kubectl get nodes && kubectl get nope")
    assert truncated
    assert "control-plane" in observation
    assert (info["step_commands"], info["exit_code"], info["tool"]) == (2, 1, "kubectl")
    assert info["exit_reason"] == "max_steps"
    assert reward == info["reward_command_cost"] == -0.02
    assert sum(info[f"reward_{term}"] for term in TERMS) == pytest.approx(reward)


def test_the_limit_grades_the_repair_where_the_environment_does() -> None:
    env = StepLimit(
        SREGymEnv(problem="network_policy_block", stage="mitigation", grade_at_limit=True, variation=False), 1
    )
    env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step(
        "kubectl delete networkpolicy --all -n hotel-reservation"
    )
    assert (reward, terminated, truncated, info["is_success"]) == (1.0, False, True, True)


def test_an_episode_that_ended_is_not_settled_twice() -> None:
    env = StepLimit(SREGymEnv(problem="network_policy_block"), 1)
    env.reset(seed=1)
    *_, terminated, truncated, info = env.step("submit mitigation")
    assert (terminated, truncated, info["exit_reason"]) == (True, False, "submitted")


def test_limits_may_be_numpys() -> None:
    three: Any = np.int64(3)
    env = StepLimit(SREGymEnv(problem="network_policy_block"), three)
    assert '"max_steps": 3' in json.dumps({"max_steps": env._saved_kwargs["max_steps"]})
    RewardTerms(env, {"diagnosis": np.float32(0.5)})  # type: ignore[dict-item]


@pytest.mark.parametrize("limit", (0, -1, 1.5, True))
def test_a_limit_is_a_number_of_steps(limit: Any) -> None:
    with pytest.raises(UsageError, match="max_steps"):
        StepLimit(SREGymEnv(problem="network_policy_block"), limit)


# --- budget and terms ---------------------------------------------------------------------------------------


def test_a_budget_cuts_and_says_so() -> None:
    whole, env = (
        wrap(SREGymEnv(problem="network_policy_block")) for wrap in (lambda e: e, WRAPPED["budget"][0])
    )
    for each in (whole, env):
        each.reset(seed=1)
    text, _, _, _, told = whole.step("kubectl get pods -n hotel-reservation -o wide")
    short, _, _, _, info = env.step("kubectl get pods -n hotel-reservation -o wide")
    assert len(text) > 1_500 >= len(short)
    assert not told["obs_truncated"]
    assert (info["obs_truncated"], info["obs_chars"]) == (True, len(short))
    assert f"left out of {len(text)}" in short
    assert env.unwrapped.observation == text  # type: ignore[attr-defined]
    *_, info = env.step("date")
    assert not info["obs_truncated"]


@pytest.mark.parametrize("chars", (999, True, 1500.0))
def test_a_budget_holds_its_note(chars: Any) -> None:
    with pytest.raises(UsageError, match="at least 1,000"):
        ObservationBudget(SREGymEnv(problem="network_policy_block"), chars)


def test_terms_are_paid_by_their_factors() -> None:
    factors = {"diagnosis": 2.5, "command_cost": -1.0, "mitigation": 0.0}
    inner = SREGymEnv(problem="network_policy_block", reward={"command_cost": 0.01})
    env = RewardTerms(StepLimit(inner, 3), factors)
    for _ in range(2):
        env.reset(seed=1)
        rewards = [float(env.step(each)[1]) for each in ("alerts; alerts", "alerts")]
        assert rewards == [0.02, 0.01]
        submit = f"submit diagnosis {json.dumps(DIAGNOSIS.format(target_of(env)))}"
        _, reward, _, truncated, info = env.step(submit)
        assert truncated
        assert info["reward_diagnosis"] > 0.3
        assert reward == pytest.approx(2.5 * info["reward_diagnosis"] + 0.01)
        assert sum(rewards) + float(reward) == pytest.approx(
            sum(factors.get(term, 1.0) * info[f"reward_{term}"] for term in TERMS)
        )


def test_a_voided_episode_pays_nothing() -> None:
    inner = SREGymEnv(problem="network_policy_block", reward={"command_cost": 0.01})
    env = RewardTerms(inner, {"command_cost": 2.0})
    env.reset(seed=1)
    assert env.step("alerts")[1] == -0.02
    inner.finish("infra")
    _, reward, _, _, info = env.step("alerts")
    assert (reward, info["trainable"]) == (0.0, False)


@pytest.mark.parametrize(
    ("factors", "says"),
    [
        ({"bonus": 1.0}, "no reward term 'bonus'"),
        ({"shaping": float("nan")}, "finite"),
        ({"shaping": "1"}, "finite"),
        (["shaping"], "factors must be a mapping"),
    ],
)
def test_factors_make_sense(factors: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        RewardTerms(SREGymEnv(problem="network_policy_block"), factors)


# --- conversations --------------------------------------------------------------------------------------------


def test_chats_are_made_before_calls_are() -> None:
    env = ToolCallAction(SREGymEnv(problem="network_policy_block"))
    with pytest.raises(UsageError, match=r"ToolCallAction\(ChatObservation\(env\)\) is the order"):
        ChatObservation(env)


def test_a_conversation_is_what_a_model_server_wants() -> None:
    env = ToolCallAction(ChatObservation(SREGymEnv(problem="network_policy_block"), system="Be brief."))
    opening, _ = env.reset(seed=1)
    assert [each["role"] for each in opening] == ["system", "user"]
    answers, *_ = env.step([{"name": "alerts", "arguments": {}}, {"id": "mine", "name": "nope"}])
    assert [(each["role"], each["tool_call_id"], each["name"]) for each in answers] == [
        ("tool", "call-1-1", "alerts"),
        ("tool", "mine", "nope"),
    ]
    assert "unknown tool" in answers[1]["content"]
    said = env.env.conversation  # type: ignore[attr-defined]
    assert [each["role"] for each in said] == ["system", "user", "assistant", "tool", "tool"]
    assert [each["id"] for each in said[2]["tool_calls"]] == ["call-1-1", "mine"]
    assert said[2]["tool_calls"][0]["function"] == {"name": "alerts", "arguments": "{}"}
    said.clear()
    answers[0].clear()
    assert len(env.env.conversation) == 5  # type: ignore[attr-defined]
    assert env.env.conversation[3]["content"]  # type: ignore[attr-defined]
    env.reset(seed=1)
    assert len(env.env.conversation) == 2  # type: ignore[attr-defined]


def told(*calls: tuple[str, str], content: Any = "") -> str:
    """An assistant's message with calls of the shell: their ids, and their arguments as they are on the wire."""
    wire = [
        {"id": identifier, "type": "function", "function": {"name": "shell", "arguments": arguments}}
        for identifier, arguments in calls
    ]
    return json.dumps({"role": "assistant", "content": content, "tool_calls": wire})


def test_a_conversation_keeps_the_words_beside_a_call() -> None:
    env = ChatObservation(SREGymEnv(problem="network_policy_block"))
    env.reset(seed=1)
    env.step(told(("a", '{"command": "pwd"}'), content="Where am I?"))
    env.step(told(("b", '{"command": "pwd"}'), content=None))
    assert [each["content"] for each in env.conversation if each["role"] == "assistant"] == [
        "Where am I?",
        "",
    ]


def test_every_call_of_a_conversation_is_answered() -> None:
    env = ChatObservation(SREGymEnv(problem="network_policy_block"))
    env.reset(seed=1)
    for said in (
        told(("a", "{oops"), ("b", '{"command": "pwd"}')),
        told(("c", '["pwd"]')),
        told(("d", '{"command": "pwd"}'), ("e", '{"command": "submit mitigation"}')),
        told(("f", '{"command": "pwd"}'), ("g", '{"command": "pwd"}')),  # after the end, refused as a whole
    ):
        answers, *_ = env.step(said)
        asked = [each["id"] for each in json.loads(said)["tool_calls"]]
        assert [each.get("tool_call_id") for each in answers] == asked
    broken = env.conversation[1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(broken) == {"unreadable_arguments": "{oops"}


@pytest.mark.parametrize("said", [told(*[("a", "{}")] * 17), told(("a" * 5_000, "{}"))])
def test_what_no_answer_fits_is_said_in_words(said: str) -> None:
    env = ChatObservation(SREGymEnv(problem="network_policy_block"))
    env.reset(seed=1)
    answers, *_ = env.step(said)
    assert [each["role"] for each in answers] == ["user"]
    assert len(json.dumps(answers)) <= env.observation_space.wire.max_length  # type: ignore[attr-defined]
    assert env.conversation[1] == {"role": "assistant", "content": said}


def test_a_call_may_be_said_as_an_object() -> None:
    env = ChatObservation(SREGymEnv(problem="network_policy_block"))
    env.reset(seed=1)
    said: Any = json.loads(told(("a", '{"command": "pwd"}')))
    answers, *_ = env.step(said)
    assert [each["content"] for each in answers] == ["/home/oncall\n"]


def test_arguments_that_json_has_no_place_for_are_refused() -> None:
    env = ToolCallAction(SREGymEnv(problem="network_policy_block"))
    env.reset(seed=1)
    with pytest.raises(UsageError, match="JSON has no place for"):
        env.step({"name": "shell", "arguments": {"command": object()}})


def test_a_system_message_is_a_text() -> None:
    with pytest.raises(UsageError, match="system must be a text"):
        ChatObservation(SREGymEnv(problem="network_policy_block"), system=5)  # type: ignore[arg-type]


WIRE = {"tool_calls": [{"id": "x", "type": "function", "function": {"name": "alerts", "arguments": "{}"}}]}


@pytest.mark.parametrize(
    ("action", "roles"),
    [
        ("alerts", ["user"]),
        (json.dumps(WIRE), ["tool"]),
        (json.dumps({"role": "assistant", "content": "", **WIRE}), ["tool"]),
        ('{"name": "alerts", "arguments": {}}', ["user"]),  # a call that nobody can refer to
        ('{"tool_calls": [', ["user"]),
        ('{"tool_calls": [{"id": "x", "function": {"name": 3}}]}', ["user"]),
        ('{"tool_calls": "alerts"}', ["user"]),
        ("{" * 5_000, ["user"]),
    ],
)
def test_answers_are_for_whoever_asked(action: str, roles: list[str]) -> None:
    env = ChatObservation(SREGymEnv(problem="network_policy_block"))
    env.reset(seed=1)
    answers, *_ = env.step(action)
    assert [each["role"] for each in answers] == roles
    assert env.observation_space.contains(answers)


def test_a_shortened_answer_stays_short() -> None:
    env = ChatObservation(ObservationBudget(SREGymEnv(problem="network_policy_block"), 1_000))
    env.reset(seed=1)
    call = {"id": "x", "function": {"name": "kubectl", "arguments": {"command": "get events -A"}}}
    for calls in ([call], [call, {**call, "id": "y"}]):
        answers, *_ = env.step(json.dumps({"tool_calls": calls}))
        assert sum(len(each["content"]) for each in answers) <= 1_000


@pytest.mark.parametrize(
    "action", ("alerts", {}, [], {"name": 1}, {"name": "a", "arguments": "x"}, [{"name": "a"}] * 17)
)
def test_what_is_no_call_is_refused(action: Any) -> None:
    env = ToolCallAction(SREGymEnv(problem="network_policy_block"))
    env.reset(seed=1)
    assert not env.action_space.contains(action)
    with pytest.raises(UsageError, match="an action is"):
        env.step(action)


def test_wrappers_of_texts_want_texts() -> None:
    numbers = few(SREGymEnv(problem="network_policy_block"))
    for wrapper in (lambda env: ObservationBudget(env, 2_000), ChatObservation, ToolCallAction, few):
        with pytest.raises(UsageError):
            wrapper(numbers)
