"""The vector environment in one process says what Gymnasium's own synchronous one says, to the last key."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

import sregym_env  # noqa: F401 - registers the ids
from sregym_env.envs.curated import CURATED
from sregym_env.envs.registration import PAIR, SUITE, env_id
from sregym_env.envs.vector import SREGymVectorEnv
from sregym_env.envs.wrappers import NumericView, ObservationBudget, StepLimit
from sregym_env.errors import ProblemError, UsageError

PROBLEM = "SREGym/network_policy_block-v0"
ROUNDS: tuple[tuple[str, str], ...] = (
    ("kubectl get pods -A", "alerts"),
    ("submit mitigation", "kubectl get nodes"),
    ("kubectl get nodes", "submit mitigation"),
    ("kubectl get events -A", "kubectl get events -A"),
    ("submit mitigation", "submit mitigation"),
    ("alerts", "alerts"),
)
MODES = tuple(AutoresetMode)


def plain(value: Any) -> Any:
    """Arrays as lists with their types, so that == compares everything."""
    if isinstance(value, np.ndarray):
        return (value.dtype.kind, [plain(each) for each in value.tolist()])
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, tuple) else value


def over(result: tuple[Any, ...]) -> Any:
    """Who has ended."""
    return result[2] | result[3]


def played(envs: VectorEnv[Any, Any, Any], rounds: Any = ROUNDS) -> list[Any]:
    """Everything that is said over some rounds, with resets where nobody else resets."""
    seen: list[Any] = [plain(envs.reset(seed=[5, 6]))]
    for actions in rounds:
        result = envs.step(actions)
        seen.append([plain(part) for part in result])
        if envs.metadata["autoreset_mode"] == AutoresetMode.DISABLED and over(result).any():
            seen.append(plain(envs.reset(options={"reset_mask": over(result)})))
    return seen


@pytest.mark.parametrize("threads", (0, 2))
@pytest.mark.parametrize("mode", MODES)
def test_it_says_what_the_synchronous_one_says(mode: AutoresetMode, threads: int) -> None:
    serial = gym.make_vec(
        SUITE, num_envs=2, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}
    )
    ours = gym.make_vec(
        SUITE, num_envs=2, vectorization_mode="vector_entry_point", autoreset_mode=mode, threads=threads
    )
    assert isinstance(ours.unwrapped, SREGymVectorEnv)
    assert ours.metadata["autoreset_mode"] == serial.metadata["autoreset_mode"] == mode
    assert ours.observation_space == serial.observation_space
    assert ours.action_space == serial.action_space
    assert ours.single_observation_space == serial.single_observation_space
    seen = played(ours)
    assert seen == played(serial)
    ended = [infos for *_, infos in seen if "final_info" in infos]
    assert bool(ended) == (mode == AutoresetMode.SAME_STEP)
    ours.close()


@pytest.mark.parametrize("mode", MODES)
def test_numbers_are_batched_alike(mode: AutoresetMode) -> None:
    def one() -> gym.Env[Any, Any]:
        return NumericView(gym.make(PROBLEM), verbs=("restart",), mechanisms=("wrong_selector",))

    serial = SyncVectorEnv([one, one], autoreset_mode=mode)
    ours = SREGymVectorEnv(
        2,
        problem="network_policy_block",
        autoreset_mode=mode,
        wrap=[lambda env: NumericView(env, verbs=("restart",), mechanisms=("wrong_selector",))],
    )
    rounds = [np.array([1, 0]), np.array([3, 1]), np.array([1, 1])]
    seen = played(ours, rounds)
    assert seen == played(serial, rounds)
    first = ours.reset(seed=[5, 6])[0]
    assert first.shape == (2, ours.envs[0].observation_space.shape[0])
    again = ours.step(np.array([0, 0]))[0]
    assert not np.array_equal(first, again), "a later step must not change an earlier observation"


def test_every_id_has_one() -> None:
    for name in (*map(env_id, CURATED), PAIR, SUITE):
        assert gym.spec(name).vector_entry_point
    envs = gym.make_vec(PAIR, num_envs=2, fault="scale_to_zero", target="search")
    assert isinstance(envs, SREGymVectorEnv)
    envs.reset(seed=1)
    assert envs.envs[0].unwrapped.state()["task_id"] == envs.envs[1].unwrapped.state()["task_id"]
    envs.close()


def targets(envs: SREGymVectorEnv) -> list[str]:
    """What is played now."""
    return [env.unwrapped.episode.staged.problem_json["faults"][0]["target"] for env in envs.envs]  # type: ignore[attr-defined]


PAIRS = [f"hotel-reservation/scale_to_zero/{target}" for target in ("geo", "rate", "user")]


def test_arguments_are_dealt_round() -> None:
    each = [{"fault": "scale_to_zero", "target": "geo"}, {"problem": PAIRS[1], "stage": "mitigation"}]
    envs = SREGymVectorEnv(3, each=each, reward="sparse")
    envs.reset(seed=0)
    assert targets(envs) == ["geo", "rate", "geo"]
    assert [env.unwrapped.episode.rules.stage for env in envs.envs] == ["e2e", "mitigation", "e2e"]
    assert {env.unwrapped.episode.rules.reward.preset for env in envs.envs} == {"sparse"}


def test_who_is_told_what_to_play_plays_nothing_of_the_suite() -> None:
    each = [{"problem": PAIRS[1]}, {"fault": "scale_to_zero", "target": "geo"}]
    envs = gym.make_vec(SUITE, num_envs=2, each=each)
    assert isinstance(envs, SREGymVectorEnv)
    envs.reset(seed=0)
    assert targets(envs) == ["rate", "geo"]
    with pytest.raises(
        UsageError, match="each has 2 entries for 1 sub-environments: the last would never be played"
    ):
        SREGymVectorEnv(1, each=each)


def test_of_a_refused_reset_every_sub_environment_stays_as_it_was() -> None:
    envs = SREGymVectorEnv(2, problems=PAIRS)
    envs.reset(seed=0)
    envs.step(("ls", "ls"))
    before = [env.unwrapped.episode for env in envs.envs]  # type: ignore[attr-defined]
    for wrong in ({"stge": "x"}, {"problem": "hotel-reservation/no_such_fault/geo"}):
        with pytest.raises((UsageError, ProblemError)):
            envs.reset(seed=9, options={"each": [None, wrong]})
        assert [env.unwrapped.episode for env in envs.envs] == before  # type: ignore[attr-defined]


def test_a_wrapper_of_somebodys_own_takes_options_of_its_own() -> None:
    class Told(gym.Wrapper[Any, Any, Any, Any]):
        heard: Any = None

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
            left = dict(options or {})
            Told.heard = left.pop("mine", None)
            return self.env.reset(seed=seed, options=left)

    SREGymVectorEnv(1, problems=PAIRS, wrap=[Told]).reset(seed=0, options={"mine": 3})
    assert Told.heard == 3


def test_options_are_every_ones_own() -> None:
    envs = SREGymVectorEnv(3, problems=PAIRS)
    single = [None, {"problem": PAIRS[2]}, {"problem": PAIRS[0], "stage": "diagnosis"}]
    options = {"stage": "mitigation", "problem": PAIRS[1], "each": single}
    envs.reset(seed=0, options=options)
    assert targets(envs) == ["rate", "user", "geo"]
    assert [env.unwrapped.episode.rules.stage for env in envs.envs] == ["mitigation"] * 2 + ["diagnosis"]
    assert options["each"] is single, "what was passed stays as it was"


@pytest.mark.parametrize("mode", (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP))
def test_problems_are_played_in_turn(mode: AutoresetMode) -> None:
    envs = SREGymVectorEnv(2, problems=PAIRS, in_turn=True, autoreset_mode=mode, stage="mitigation")
    envs.reset(seed=0)
    met = [targets(envs)]
    for _ in range(2):
        result = envs.step(("submit mitigation",) * 2)
        assert over(result).all()
        if mode == AutoresetMode.NEXT_STEP:
            envs.step(("ignored",) * 2)
        met.append(targets(envs))
    assert met == [["geo", "rate"], ["user", "geo"], ["rate", "user"]]


def test_who_is_over_is_not_stepped_where_nobody_resets() -> None:
    envs = SREGymVectorEnv(2, problem="network_policy_block", autoreset_mode="Disabled")
    envs.reset(seed=1)
    envs.step(("submit mitigation", "alerts"))
    with pytest.raises(gym.error.ResetNeeded, match=r"sub-environments \[0\] are over"):
        envs.step(("alerts", "alerts"))
    before = envs.envs[1].unwrapped.state()["digest"]
    observations, infos = envs.reset(options={"reset_mask": np.array([True, False])})
    assert "on call" in observations[0]
    assert infos["_step"].tolist() == [True, False]
    assert envs.envs[1].unwrapped.state()["digest"] == before
    envs.step(("alerts", "alerts"))


def test_an_outer_limit_settles_the_episode() -> None:
    envs = gym.make_vec(PROBLEM, num_envs=1, vectorization_mode="vector_entry_point", max_episode_steps=1)
    envs.reset(seed=1)
    text = "A NetworkPolicy isolates the pods of mongodb-user."
    _, rewards, _, truncated, infos = envs.step((f'submit diagnosis "{text}"',))
    assert truncated.tolist() == [True]
    assert infos["exit_reason"].tolist() == ["max_steps"]
    assert rewards[0] == infos["reward_diagnosis"][0]


def test_it_travels_and_goes_on_alike() -> None:
    envs = SREGymVectorEnv(2, problem="network_policy_block", threads=2)
    envs.reset(seed=4)
    envs.step(("alerts", "alerts"))
    twin = pickle.loads(pickle.dumps(envs))
    assert plain(twin.step(("kubectl get pods -A",) * 2)[4]) == plain(
        envs.step(("kubectl get pods -A",) * 2)[4]
    )
    envs.close()
    twin.close()


def test_attributes_and_calls_reach_every_sub_environment() -> None:
    envs = SREGymVectorEnv(2, problem="network_policy_block", render_mode="ansi")
    envs.reset(seed=4)
    assert envs.render() == tuple(env.render() for env in envs.envs)
    assert envs.np_random_seed == (4, 5)
    assert len(envs.call("tools", format="mcp")[1]) == 10
    envs.set_attr("mark", [1, 2])
    assert envs.get_attr("mark") == (1, 2)
    with pytest.raises(UsageError, match="1 values for 2"):
        envs.set_attr("mark", [1])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"num_envs": 0}, "num_envs must be a whole number, at least 1"),
        ({"num_envs": "2"}, "num_envs must be a whole number"),
        ({"num_envs": 2.0}, "num_envs must be a whole number"),
        ({"threads": -1}, "threads"),
        ({"threads": "4"}, "threads"),
        ({"each": {"noise": True}}, "each must be a list"),
        ({"wrap": StepLimit}, "wrap must be a list"),
        ({"autoreset_mode": "next"}, "NextStep, SameStep, Disabled"),
        ({"in_turn": True}, "pass problems="),
        ({"num_envs": 2, "each": [{}, {"obs_chars": 2000}]}, "sub-environment 1 has other spaces"),
        ({"max_episode_steps": 0}, "max_steps"),
    ],
)
def test_what_makes_no_sense_is_told(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        SREGymVectorEnv(**{"problem": "network_policy_block", **arguments})


def test_what_makes_no_sense_at_a_reset_is_told() -> None:
    envs = SREGymVectorEnv(2, problem="network_policy_block")
    for given, says in (
        ({"seed": [1]}, "1 seeds for 2"),
        ({"options": {"each": [{}]}}, "1 entries for 2"),
        ({"options": {"reset_mask": np.array([False, False])}}, "at least one of them true"),
        ({"options": {"reset_mask": [True, True]}}, "numpy array"),
        ({"options": [1]}, "options must be a mapping"),
        ({"options": {"each": {"noise": True}}}, "'each'. must be a list"),
        ({"options": {"each": [1, 2]}}, "an entry of options"),
    ):
        with pytest.raises(UsageError, match=says):
            envs.reset(**given)
    envs.reset(seed=1)
    with pytest.raises(UsageError, match="1 actions for 2"):
        envs.step(("alerts",))
    with pytest.raises(UsageError, match="not the text 'ls'"):
        envs.step("ls")


def _limited() -> gym.Env[Any, Any]:
    return ObservationBudget(StepLimit(gym.make(PROBLEM), 3), 2_000)


def test_texts_arrive_whole_from_wrapped_environments_in_other_processes() -> None:
    serial = SyncVectorEnv([_limited, _limited])
    parallel = gym.vector.AsyncVectorEnv([_limited, _limited], context="fork")
    try:
        assert played(parallel) == played(serial)
    finally:
        parallel.close()
