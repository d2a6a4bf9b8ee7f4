"""The numeric view: measurements and nothing of the truth, a menu of honest operations, one layout for all problems."""

from __future__ import annotations

import inspect
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import flatten, flatten_space

import sregym_env  # noqa: F401 - registers the ids
from sregym_env.cluster.oncall import ONCALL
from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.envs.wrappers.numeric import FEATURES, VERBS, Choice, NumericView, menu, scene, signals
from sregym_env.errors import ClusterError, UsageError
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.faults.registry import declarations

HOTEL = "hotel-reservation"


PUBLISHED = pytest.param(False, 3, id="published")
VARIED = [pytest.param(True, seed, id=f"varied-{seed}") for seed in (4, 5)]
WORLDS = pytest.mark.parametrize(("variation", "seed"), [PUBLISHED, *VARIED])
"""The application as it is published, and worlds with a past, drawn by the seed."""


def view(fault: str, target: str, seed: int = 3, **arguments: Any) -> NumericView:
    """A view of a pair, at its beginning: in the published world unless ``variation`` is given."""
    env = NumericView(
        SREGymEnv(**{"fault": fault, "app": HOTEL, "target": target, "variation": False, **arguments})
    )
    env.reset(seed=seed)
    return env


def choose(env: NumericView, verb: str, component: str = "", mechanism: str = "") -> Any:
    """Play one choice of the menu."""
    return env.step(np.int64(env.menu.choices.index(Choice(verb, component, mechanism))))


def seen(env: NumericView, observation: Any, component: str) -> dict[str, float]:
    """What an observation tells of a component, by name."""
    prefix = f"{component}."
    named = dict(zip(env.layout.names, observation.tolist(), strict=True))
    return {name.removeprefix(prefix): value for name, value in named.items() if name.startswith(prefix)}


# --- what is seen --------------------------------------------------------------------------------------------

SIGNS: tuple[tuple[str, str, dict[str, float]], ...] = (
    ("scale_to_zero", "rate", {"desired": 0.0, "ready": 0.0, "endpoints": 0.0, "served": 0.0}),
    ("network_policy_block", "rate", {"policies": 1.0, "ready": 1.0, "desired": 0.5}),
    ("service_selector_mismatch", "memcached-rate", {"service": 1.0, "endpoints": 0.0, "ready": 1.0}),
    ("service_target_port_mismatch", "memcached-rate", {"endpoints": 1.0, "listening": 0.0}),
    ("missing_service", "memcached-rate", {"service": 0.0, "endpoints": 0.0, "ready": 1.0}),
    ("non_existent_node", "rate", {"pending": 1.0, "ready": 0.0}),
    ("incorrect_image", "rate", {"image_waiting": 1.0, "pending": 0.0}),
    ("missing_secret", "rate", {"config_waiting": 1.0}),
    ("init_container_dependency_hang", "rate", {"initialising": 1.0}),
    ("resource_request_too_small", "mongodb-rate", {"oom_killed": 1.0}),
)


@pytest.mark.sampled
@pytest.mark.parametrize(("fault", "target", "signs"), SIGNS, ids=[each[0] for each in SIGNS])
@pytest.mark.parametrize(("variation", "seed"), VARIED)
def test_every_sign_shows_in_every_world(
    fault: str, target: str, signs: dict[str, float], variation: bool, seed: int
) -> None:
    env = view(fault, target, seed, variation=variation)
    observation, _ = env.reset(seed=seed)
    assert {name: seen(env, observation, target)[name] for name in signs} == signs


@pytest.mark.parametrize(("fault", "target", "signs"), SIGNS, ids=[each[0] for each in SIGNS])
def test_every_sign_shows_where_the_fault_is_and_not_elsewhere(
    fault: str, target: str, signs: dict[str, float]
) -> None:
    env = view(fault, target)
    observation, _, _, _, _ = choose(env, "wait")
    assert {name: seen(env, observation, target)[name] for name in signs} == signs
    healthy = seen(env, observation, "jaeger")
    for name in ("desired", "ready", "endpoints", "listening", "service", "workload"):
        assert healthy[name] == (0.5 if name == "desired" else 1.0)
    for name in ("policies", "pending", "image_waiting", "config_waiting", "initialising", "oom_killed"):
        assert healthy[name] == 0.0


def test_restarts_and_users_show() -> None:
    env = view("service_selector_mismatch", "mongodb-rate")
    observation, *_ = choose(env, "wait")
    caller = seen(env, observation, "rate")
    assert caller["restarts"] > 0.0
    assert seen(env, observation, "mongodb-rate")["restarts"] == 0.0
    named = dict(zip(env.layout.names, observation.tolist(), strict=True))
    assert named["users.search.success"] < 0.5 < named["users.recommend.success"]
    assert 0.0 < named["time"] < named["commands"] < 0.1


def test_slow_answers_show() -> None:
    env = view("cpu_limit_too_low", "search")
    observation, *_ = choose(env, "wait")
    named = dict(zip(env.layout.names, observation.tolist(), strict=True))
    assert named["users.search.latency"] > 0.5 or named["users.search.success"] < 0.99


def test_one_layout_holds_for_every_problem_and_names_every_number() -> None:
    env = view("scale_to_zero", "geo")
    layout, space, entries = env.layout, env.observation_space, env.menu.choices
    assert len(layout.names) == len(set(layout.names)) == layout.size == space.shape[0]
    for fault, target in (("network_policy_block", "frontend"), ("missing_service", "consul")):
        other = view(fault, target)
        assert (other.layout, other.observation_space, other.menu.choices) == (layout, space, entries)
    table, rest = layout.split(np.arange(layout.size, dtype=np.float32))
    assert table.shape == (len(layout.components), len(FEATURES))
    assert rest.tolist() == list(range(layout.size - len(layout.rest), layout.size))


def test_another_application_is_another_view() -> None:
    env = NumericView(SREGymEnv(fault="scale_to_zero", app="parcel-tracking", variation=False))
    with pytest.raises(UsageError, match=r"NumericView\(app='parcel-tracking'\)"):
        env.reset(seed=1)
    env = NumericView(
        SREGymEnv(fault="scale_to_zero", app="parcel-tracking", variation=False), app="parcel-tracking"
    )
    observation, info = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    for entry in range(0, len(env.menu.choices), 97):
        observation, *_ = env.step(np.int64(entry))
        assert env.observation_space.contains(observation)
    assert info["choice"] == ""


def test_nothing_is_seen_that_the_agent_may_not_ask_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    env = view("scale_to_zero", "geo")
    world = env.sre.episode.world
    original = type(world.cluster).as_user

    def as_user(cluster: Any, user: Any) -> Any:
        asked.append(user)
        return original(cluster, user)

    monkeypatch.setattr(type(world.cluster), "as_user", as_user)
    scene.Scene.of(world)
    assert asked == [ONCALL]


def test_the_view_knows_neither_faults_nor_truth() -> None:
    for module in (scene, signals):
        text = inspect.getsource(module)
        assert "sregym_env.faults" not in text
        assert "sregym_env.rewards" not in text
    env = view("scale_to_zero", "geo")
    names = {each.name for each in declarations()}
    assert not names & set(env.layout.names)
    assert not names & {str(choice) for choice in env.menu.choices}


def test_looking_changes_nothing() -> None:
    env = view("scale_to_zero", "geo")
    before = env.sre.episode.digest
    for _ in range(2):
        scene.Scene.of(env.sre.episode.world)
        env._measured(env.reset(seed=3)[1])
    assert env.sre.episode.digest == before


# --- what is chosen -------------------------------------------------------------------------------------------

CURES = (
    ("scale_to_zero", "geo", "scale"),
    ("network_policy_block", "mongodb-geo", "admit"),
    ("service_selector_mismatch", "memcached-rate", "reselect"),
    ("service_target_port_mismatch", "mongodb-user", "retarget"),
    ("non_existent_node", "search", "unpin"),
    ("resource_request_too_small", "mongodb-rate", "resize"),
    ("cpu_limit_too_low", "frontend", "resize"),
)


@pytest.mark.sampled
@pytest.mark.parametrize(("fault", "target", "verb"), CURES)
@WORLDS
def test_the_right_operation_on_the_right_component_cures_and_no_other(
    fault: str, target: str, verb: str, variation: bool, seed: int
) -> None:
    begun = view(fault, target, seed, stage="mitigation", variation=variation)
    other = "jaeger" if verb != "resize" else "profile"
    for operation, component in ((verb, target), (verb, other), ("restart", target)):
        env = begun.fork()
        choose(env, operation, component)
        _, reward, terminated, _, info = choose(env, "submit")
        assert terminated
        # Restarting or scaling what was well may cost a little where it was more than was declared.
        assert info["Mitigation"] == ((operation, component) == (verb, target)), (operation, component)
        assert info["choice"] == "submit" and (reward == 1.0 if info["Mitigation"] else reward <= 0.0)


def test_undoing_takes_the_last_rollout_back() -> None:
    env = view("scale_to_zero", "geo")
    env.sre.step(f"kubectl set image deployment/rate hotel-reserv-rate=nope:1 -n {HOTEL}")
    choose(env, "undo", "rate")
    assert "successfully rolled out" in env.sre.observation


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
@pytest.mark.parametrize("variation", [False, True])
def test_every_operation_is_a_line_that_the_workstation_understands(verb: str, variation: bool) -> None:
    for fault, target in (("scale_to_zero", "geo"), ("missing_service", "mongodb-geo")):
        env = view(fault, target, variation=variation)
        _, _, _, _, info = choose(env, verb, target)
        assert info["error_type"] in ("", "command_error")
        assert "usage" not in env.sre.observation.lower()
        *_, info = choose(env, verb, "frontend")
        assert info["tool"] == "kubectl"


def test_every_entry_can_be_played_on_what_is_left_of_an_application() -> None:
    env = NumericView(SREGymEnv(fault="scale_to_zero", app=HOTEL, target="geo"), operations=99)
    env.reset(seed=3)
    env.sre.step(f"kubectl delete deployment,service rate -n {HOTEL}")
    for choice in env.menu.choices:
        if choice.component == "rate" and choice.verb != "diagnose":
            observation, *_ = env.step(np.int64(env.menu.choices.index(choice)))
            assert env.observation_space.contains(observation)
    assert seen(env, observation, "rate")["workload"] == 0.0


def test_trying_everything_everywhere_is_not_admitted() -> None:
    env = NumericView(SREGymEnv(fault="scale_to_zero", app=HOTEL, target="user"), operations=2)
    for _ in range(2):
        _, info = env.reset(seed=3)
        assert info["action_mask"].all()
        for component in ("jaeger", "consul"):
            *_, info = choose(env, "scale", component)
            assert info["choice"] == f"scale {component}"
        *_, info = choose(env, "scale", "user")
        assert info["choice"] == "wait"
        changes = [choice.verb in menu.BY_NAME for choice in env.menu.choices]
        assert info["action_mask"].tolist() == [int(not each) for each in changes]
        *_, info = choose(env, "submit")
        assert not info["Mitigation"]


def test_a_diagnosis_is_worth_what_it_says() -> None:
    begun = view("scale_to_zero", "mongodb-geo", stage="diagnosis")
    worth = {}
    for component, mechanism in (
        ("mongodb-geo", "scaled_to_zero"),
        ("mongodb-geo", "wrong_selector"),
        ("mongodb-rate", "scaled_to_zero"),
    ):
        _, reward, terminated, _, info = choose(begun.fork(), "diagnose", component, mechanism)
        assert terminated
        worth[component, mechanism] = (reward, info["is_success"])
    # The field, the value and the object are not in the menu.
    assert worth["mongodb-geo", "scaled_to_zero"] == (0.7767, True)
    assert not worth["mongodb-geo", "wrong_selector"][1]
    assert worth["mongodb-geo", "wrong_selector"][0] > worth["mongodb-rate", "scaled_to_zero"][0]


def test_every_mechanism_is_said_in_words_that_mean_it() -> None:
    passed = set()
    for declaration in declarations():
        if declaration.mechanism in passed:
            continue
        found = pairs(HOTEL, declaration.name)
        if not found or found[0].faults[0].target not in menu_components():
            continue
        env = view(declaration.name, found[0].faults[0].target, stage="diagnosis")
        *_, info = choose(env, "diagnose", found[0].faults[0].target, declaration.mechanism)
        assert info["is_success"], (declaration.name, env.sre.state()["grade"])
        passed.add(declaration.mechanism)
    assert len(passed) > 20


def menu_components() -> set[str]:
    """Components that the view of Hotel Reservation shows."""
    return set(view("scale_to_zero", "geo").layout.components)


def test_the_mask_tells_what_is_admissible_and_not_what_helps() -> None:
    env = view("scale_to_zero", "geo")
    healthy = NumericView(SREGymEnv(fault="network_policy_block", app=HOTEL, target="user", variation=False))
    assert env.action_mask.tolist() == healthy.reset(seed=1)[1]["action_mask"].tolist()
    assert env.action_mask.all()
    before = env.sre.episode.seconds
    *_, info = choose(env, "diagnose", "geo", "scaled_to_zero")
    diagnoses = [choice.verb == "diagnose" for choice in env.menu.choices]
    assert info["action_mask"].tolist() == [int(not each) for each in diagnoses]
    assert env.action_mask.tolist() == info["action_mask"].tolist()
    *_, info = choose(env, "diagnose", "rate", "scaled_to_zero")
    assert info["choice"] == "wait"
    assert env.sre.episode.seconds >= before + menu.WAIT_SECONDS
    submit = env.menu.choices.index(Choice("submit"))
    assert view("scale_to_zero", "geo", stage="diagnosis").action_mask.tolist() == [
        int(index != submit) for index in range(len(diagnoses))
    ]
    assert not view("scale_to_zero", "geo", stage="mitigation").action_mask[diagnoses].any()


def test_a_menu_is_what_was_asked_for() -> None:
    small = NumericView(
        SREGymEnv(fault="scale_to_zero", app=HOTEL), verbs=("scale",), mechanisms=("scaled_to_zero",)
    )
    components = len(small.layout.components)
    assert small.action_space.n == 2 + 2 * components
    assert [str(choice) for choice in small.menu.choices[:3]] == ["wait", "submit", "scale jaeger"]
    full = view("scale_to_zero", "geo")
    assert full.action_space.n == 2 + components * (len(VERBS) + len(MECHANISMS))
    with pytest.raises(UsageError, match="no verb 'heal'; there are restart"):
        NumericView(SREGymEnv(fault="scale_to_zero"), verbs=("heal",))
    for wrong in (0, True, 2.0):
        with pytest.raises(UsageError, match="operations"):
            NumericView(SREGymEnv(fault="scale_to_zero"), operations=wrong)
    with pytest.raises(UsageError, match="no mechanism 'magic'"):
        NumericView(SREGymEnv(fault="scale_to_zero"), mechanisms=("magic",))


def test_there_is_no_cure_for_everything() -> None:
    """Whatever one operation does to every component at once: most faults stay."""
    cured: dict[str, set[str]] = {}
    for fault, target in (("scale_to_zero", "user"), ("service_selector_mismatch", "memcached-rate")):
        begun = view(fault, target, stage="mitigation")
        for verb in ("restart", "scale", "admit", "reselect", "retarget"):
            env = begun.fork()
            parts = env._scene.parts  # type: ignore[union-attr]
            for component in parts:
                if not env.sre.episode.over:
                    env.sre.step(env.menu.line(Choice(verb, component), parts))
            *_, info = choose(env, "submit")
            if info["is_success"]:
                cured.setdefault(verb, set()).add(fault)
    assert cured == {"scale": {"scale_to_zero"}, "reselect": {"service_selector_mismatch"}}


# --- the wrapper as such ----------------------------------------------------------------------------------------


def test_a_view_cannot_be_stepped_before_it_is_reset() -> None:
    env = NumericView(SREGymEnv(fault="scale_to_zero"))
    with pytest.raises(gym.error.ResetNeeded):
        env.step(np.int64(0))


@pytest.mark.parametrize("action", [-1, 10**6, 1.0, True, "wait", None, np.array([1, 2]), np.array(1.0)])
def test_what_is_no_entry_is_refused(action: Any) -> None:
    env = view("scale_to_zero", "geo")
    with pytest.raises(UsageError, match="an entry of the menu, 0 to"):
        env.step(action)


def test_an_entry_may_come_in_an_array() -> None:
    env = view("scale_to_zero", "geo")
    for action in (0, np.array(0), np.array([0]), np.uint8(0)):
        *_, info = env.step(action)  # type: ignore[arg-type]
        assert info["choice"] == "wait"


def test_a_cluster_that_cannot_be_read_voids_the_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    env = view("scale_to_zero", "geo")

    def gone(_: Any) -> Any:
        raise ClusterError("connection refused")

    monkeypatch.setattr(scene.Scene, "of", gone)
    observation, reward, terminated, truncated, info = choose(env, "wait")
    assert not observation.any()
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["exit_reason"], info["trainable"]) == ("infra", False)


def test_it_flattens_as_rllib_flattens() -> None:
    env = view("scale_to_zero", "geo")
    observation, _ = env.reset(seed=1)
    assert flatten_space(env.observation_space).shape == env.observation_space.shape
    assert np.array_equal(flatten(env.observation_space, observation), observation)
    assert observation.dtype == np.float32


def test_the_words_of_the_menu_are_explained() -> None:
    for verb in VERBS:
        assert verb.does
    assert menu.PATIENCE_SECONDS > 0
