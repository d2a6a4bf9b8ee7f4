"""The environment as Gymnasium's users and trainers meet it, on the embedded cluster."""

from __future__ import annotations

import json
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import sregym_env  # noqa: F401 - registers the ids
from sregym_env import SREGymEnv, UsageError
from sregym_env.errors import ProblemError
from sregym_env.rewards.judge import JudgeError

PROBLEM = "network_policy_block"
NAMESPACE = "hotel-reservation"


def made(**arguments: Any) -> SREGymEnv:
    """An environment that lets its own defects raise."""
    return SREGymEnv(**({"problem": PROBLEM, "raise_errors": True} | arguments))


def play(env: SREGymEnv, *actions: str) -> list[tuple[str, float, bool, bool, dict[str, Any]]]:
    """Several steps."""
    return [env.step(action) for action in actions]


def solution(env: SREGymEnv) -> list[str]:
    """The declared diagnosis and repair as actions."""
    (known,) = env.episode.staged.solutions
    return [f"submit diagnosis <<'EOF'\n{known.diagnosis}\nEOF", *known.remedies[0], "sleep 60"]


def test_gymnasium_finds_nothing_to_complain_about() -> None:
    env = gym.make(f"SREGym/{PROBLEM}-v0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=False)


def test_the_briefing_tells_the_task_and_not_the_answer() -> None:
    env = made()
    observation, info = env.reset(seed=1)
    assert NAMESPACE in observation
    assert "submit diagnosis" in observation
    assert "network" not in observation.lower().replace("networking", "")
    assert PROBLEM not in observation
    assert PROBLEM not in json.dumps(info)


def test_info_has_the_same_flat_keys_and_types_at_every_step() -> None:
    env = made()
    _, first = env.reset(seed=1)
    infos = [info for *_, info in play(env, "kubectl get pods", "nonsense {", "", "submit mitigation")]
    for info in infos:
        assert info.keys() == first.keys()
        assert [type(value) for value in info.values()] == [type(value) for value in first.values()]
        assert all(isinstance(value, str | int | float | bool) for value in info.values())
        assert info is not first


def test_the_same_seed_and_actions_give_the_same_everything() -> None:
    actions = ["kubectl get pods -n hotel-reservation -o wide", "kubectl get events -A", "alerts", "sleep 90"]
    histories = []
    for _ in range(2):
        env = made()
        history: list[Any] = [env.reset(seed=3)]
        history += play(env, *actions, "submit mitigation")
        history.append(env.state()["digest"])
        histories.append(history)
    assert histories[0] == histories[1]


def test_different_seeds_give_different_worlds() -> None:
    env = made()
    listings = set()
    for seed in range(3):
        env.reset(seed=seed)
        listings.add(env.step(f"kubectl get pods -n {NAMESPACE}")[0])
    assert len(listings) == 3


def test_the_declared_solution_earns_everything() -> None:
    env = made()
    env.reset(seed=5)
    play(env, *solution(env))
    _, reward, terminated, truncated, info = env.step("submit mitigation")
    assert (reward, terminated, truncated) == (pytest.approx(1.0), True, False), info["grade"]
    assert info["is_success"]
    assert info["Diagnosis"]
    assert info["Mitigation"]
    assert info["TTD"] < info["TTM"]


def test_doing_nothing_earns_nothing() -> None:
    env = made()
    env.reset(seed=5)
    _, reward, terminated, _, info = env.step("submit mitigation")
    assert (reward, terminated) == (0.0, True)
    assert "journeys" in info["grade"]


def test_a_diagnosis_counts_once() -> None:
    env = made(stage="e2e")
    env.reset(seed=5)
    play(env, 'submit diagnosis "The geo deployment is broken."')
    observation, *_, info = env.step(solution(env)[0])
    assert "already" in observation
    assert info["error_type"] == "forbidden"
    assert not info["Diagnosis"]


def test_what_one_line_hands_in_counts_in_its_order() -> None:
    env = made()
    env.reset(seed=5)
    diagnosis, *repair = solution(env)
    env.step(f"cat > said <<'EOF'\n{diagnosis.splitlines()[1]}\nEOF")
    commands = "; ".join([*repair, "submit mitigation", "submit diagnosis again"])
    observation, reward, terminated, _, info = env.step(f"submit diagnosis < said; {commands}")
    assert "Diagnosis received" in observation
    assert observation.index("Diagnosis received") < observation.index("Mitigation received")
    assert (
        observation.endswith("not carried out: the episode is over\n[exit code 1]\n") or "over" in observation
    )
    assert terminated
    assert reward == pytest.approx(1.0), info["grade"]
    env.reset(seed=5)
    observation, *_, info = env.step(
        "submit diagnosis < /dev/null; submit diagnosis geo is broken; submit diagnosis x"
    )
    assert "is empty" in observation
    assert "the first one counts" in observation


@pytest.mark.parametrize(("stage", "wrong"), [("diagnosis", "mitigation"), ("mitigation", "diagnosis x")])
def test_stages_ask_for_one_thing(stage: str, wrong: str) -> None:
    env = made(stage=stage)
    env.reset(seed=5)
    *_, info = env.step(f"submit {wrong}")
    assert info["error_type"] == "forbidden"
    actions = solution(env)
    if stage == "diagnosis":
        _, reward, terminated, _, info = env.step(actions[0])
    else:
        play(env, *actions[1:])
        _, reward, terminated, _, info = env.step("submit mitigation")
    assert terminated
    assert reward == pytest.approx(1.0), info["grade"]


def test_the_step_limit_truncates() -> None:
    env = made(max_commands=2)
    env.reset(seed=1)
    assert not env.step("kubectl get pods")[3]
    _, reward, terminated, truncated, info = env.step("kubectl get pods")
    assert (terminated, truncated, info["exit_reason"], reward) == (False, True, "max_commands", 0.0)
    assert "over" in env.step("kubectl get pods")[0]


def test_the_time_limit_truncates() -> None:
    env = made(time_limit=60)
    env.reset(seed=1)
    *_, truncated, info = env.step("sleep 100")
    assert truncated
    assert info["exit_reason"] == "time_limit"


def test_costs_of_commands_are_taken_off() -> None:
    env = made(reward={"command_cost": 0.01})
    env.reset(seed=1)
    _, reward, *_, info = env.step("kubectl get pods")
    assert reward == pytest.approx(-0.01)
    assert info["reward_command_cost"] == pytest.approx(-0.01)


def test_observations_keep_to_their_budget() -> None:
    env = made(obs_chars=2000)
    env.reset(seed=1)
    observation, *_, info = env.step("kubectl get pods -A -o yaml")
    assert len(observation) <= 2000
    assert info["obs_truncated"]
    assert "left out" in observation


@pytest.mark.parametrize(
    "action",
    ["", "\x00", "x" * 1_000_000, "kubectl frobnicate", "{", "'", "rm -rf /", "submit", "$(", "\ud800"],
)
def test_bad_input_is_an_observation(action: str) -> None:
    env = made()
    env.reset(seed=1)
    observation, reward, terminated, truncated, _info = env.step(action)
    assert isinstance(observation, str)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert env.observation_space.contains(observation)


def test_words_that_are_no_text_are_read_as_what_they_mean() -> None:
    env = made()
    env.reset(seed=1)
    none: Any = None
    raw: Any = b"pwd"
    assert "the action is empty" in env.step(none)[0]
    assert env.step(raw)[0] == "/home/oncall\n"


def test_forks_are_independent_and_equal_until_they_differ() -> None:
    env = made()
    env.reset(seed=2)
    env.step("echo hello > note")
    fork = env.fork()
    assert fork.state()["digest"] == env.state()["digest"]
    fork.step(f"kubectl delete deployment geo -n {NAMESPACE}")
    assert "geo" in env.step(f"kubectl get deployments -n {NAMESPACE}")[0]
    assert fork.step("cat note")[0].strip() == "hello"


def test_a_snapshot_can_be_restored_twice() -> None:
    env = made()
    env.reset(seed=2)
    env.step("kubectl get pods -A")
    snapshot = env.snapshot()
    results = []
    for _ in range(2):
        env.restore(snapshot)
        results.append(env.step(f"kubectl get events -n {NAMESPACE}"))
    assert results[0] == results[1]


def test_a_snapshot_brings_back_what_was_seen_and_how_it_is_played() -> None:
    env = made()
    env.reset(seed=2)
    seen, config, snapshot = env.observation, env.config(), env.snapshot()
    env.reset(seed=2, options={"noise": True})
    env.step("pwd")
    env.restore(snapshot)
    assert (env.observation, env.config()) == (seen, config)
    with pytest.raises(UsageError, match="what snapshot"):
        env.restore(None)  # type: ignore[arg-type]


def test_a_failing_judge_gives_no_reward() -> None:
    class Broken:
        name = "broken"

        def grade(self, diagnosis: str, specs: Any, app: Any) -> Any:
            raise JudgeError("endpoint is down")

    env = made(judge=Broken())
    env.reset(seed=5)
    actions = solution(env)
    assert not env.step(actions[0])[4]["trainable"]
    play(env, *actions[1:])
    _, reward, terminated, _, info = env.step("submit mitigation")
    assert terminated
    assert reward == 0.0
    assert not info["trainable"]


def test_a_defect_of_the_environment_ends_the_episode_as_infra(monkeypatch: pytest.MonkeyPatch) -> None:
    env = made(raise_errors=False)
    env.reset(seed=1)
    monkeypatch.setattr(env.episode.workstation, "run", lambda line: 1 / 0)
    _, reward, terminated, truncated, info = env.step("kubectl get pods")
    assert (reward, terminated, truncated, info["error_type"]) == (0.0, False, True, "infra")
    assert not info["trainable"]


def test_reactive_mode_lists_firing_alerts() -> None:
    env = made(mode="reactive")
    observation, _ = env.reset(seed=1)
    assert "paged" in observation
    assert "- " in observation


def test_options_replace_what_is_played() -> None:
    env = made()

    def played(options: dict[str, Any] | None = None) -> str:
        env.reset(seed=1, options=options)
        return str(env.unwrapped.state()["task_id"])

    first = played()
    second = played({"problem": "missing_service_hotel_reservation"})
    third = played({"fault": "scale_to_zero", "target": "search"})
    assert len({first, second, third}) == 3
    assert played() == first
    with pytest.raises(UsageError):
        env.reset(options={"colour": "red"})
    with pytest.raises(ProblemError):
        env.reset(options={"problem": "no_such_problem"})
    with pytest.raises(UsageError, match="options must be a mapping"):
        env.reset(options=[("noise", True)])  # type: ignore[arg-type]


@pytest.mark.parametrize("present", [1_790_000_000, 10**15, 10**18])
def test_a_present_in_which_nothing_can_be_played_is_refused(present: int) -> None:
    with pytest.raises(UsageError, match="microseconds since 1970"):
        made().reset(seed=1, options={"present": present})


def test_a_suite_draws_by_seed() -> None:
    env = gym.make(
        "SREGym/Suite-v0", problems=[PROBLEM, "missing_service_hotel_reservation", "wrong_bin_usage"]
    )

    def drawn_by(seed: int) -> str:
        env.reset(seed=seed)
        return str(env.unwrapped.state()["task_id"])  # type: ignore[attr-defined]

    drawn = [drawn_by(seed) for seed in (0, 1, 2, 3, 4, 5)]
    assert drawn == [drawn_by(seed) for seed in (0, 1, 2, 3, 4, 5)]
    assert len(set(drawn)) > 1


def test_a_pair_can_be_made() -> None:
    env = gym.make("SREGym/Pair-v0", fault="service_target_port_mismatch", target="mongodb-rate")
    env.reset(seed=1)
    assert "mongodb-rate" in env.step(f"kubectl get svc -n {NAMESPACE}")[0]


def test_vector_environments_work() -> None:
    envs = gym.make_vec(f"SREGym/{PROBLEM}-v0", num_envs=3, vectorization_mode="sync")
    observations, _ = envs.reset(seed=[1, 2, 3])
    assert len(observations) == 3
    observations, rewards, *_ = envs.step(["kubectl get pods", "alerts", "submit mitigation"])
    assert len(observations) == 3
    assert rewards.shape == (3,)


def test_render_gives_the_transcript() -> None:
    env = made(render_mode="ansi")
    env.reset(seed=1)
    env.step("kubectl get nodes")
    transcript = env.render()
    assert transcript is not None
    assert "$ kubectl get nodes" in transcript


@pytest.mark.parametrize(
    "arguments",
    [
        {"mode": "x"},
        {"stage": "x"},
        {"obs_chars": 3},
        {"max_commands": 0},
        {"max_commands": np.True_},
        {"reward": "x"},
        {"reward": 3},
        {"problem": None, "problems": 3},
        {"problem": None, "problems": {PROBLEM: 1}},
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        made(**arguments)


def test_a_problem_that_there_is_not_is_told_before_a_seed_draws_it() -> None:
    with pytest.raises(ProblemError, match="wrong_bin_usag'; did you mean wrong_bin_usage"):
        made(problem=None, problems=[PROBLEM, "wrong_bin_usag"])


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"problem": "wrong_bin_usag"}, "did you mean wrong_bin_usage"),
        ({"problem": {"id": "own", "app": "hotel"}}, "no application 'hotel'"),
        ({"problem": None, "fault": "scale_to_zer"}, "did you mean scale_to_zero"),
        ({"problem": None, "fault": "scale_to_zero", "app": "hotel"}, "no application 'hotel'"),
    ],
)
def test_what_there_is_not_is_told_when_the_environment_is_made(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(ProblemError, match=told):
        made(**asked)


def test_numbers_of_numpy_are_numbers() -> None:
    env = made(max_commands=np.int64(3), obs_chars=np.int32(2_000), time_limit=np.float32(60))
    env.reset(seed=1)
    config = env.config()
    assert json.loads(json.dumps(config)) == config
    assert (config["max_commands"], config["obs_chars"], config["time_limit"]) == (3, 2_000, 60.0)


@pytest.mark.parametrize("tokens", [-1, 1.5, True, None])
def test_nobody_is_paid_for_tokens(tokens: Any) -> None:
    env = made(reward={"token_cost": 0.001})
    env.reset(seed=1)
    with pytest.raises(UsageError, match="tokens must be a whole number, at least 0"):
        env.charge(tokens)


def test_a_fork_has_the_seed_of_what_it_was_forked_from() -> None:
    env = made()
    env.reset(seed=7)
    assert env.fork().np_random_seed == 7


def test_a_format_of_tools_that_there_is_not_is_told() -> None:
    with pytest.raises(UsageError, match="format must be one of openai, openai_responses"):
        made().tools("yaml")  # type: ignore[arg-type]


def test_tools_are_described_in_every_format() -> None:
    env = made()
    assert {"shell", "submit_diagnosis"} <= {tool["name"] for tool in env.tools("anthropic")}
    assert "kubectl" in env.tools_text()


def test_a_backend_makes_worlds() -> None:
    with pytest.raises(UsageError, match="backend: 'live' makes no worlds"):
        SREGymEnv("wrong_bin_usage", backend="live")  # type: ignore[arg-type]
