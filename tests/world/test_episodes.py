"""Whole episodes where there is nothing to fork: staged, played and graded on the world itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest

from sregym_env.cluster import oncall
from sregym_env.cluster.app import App
from sregym_env.cluster.disturbances import LinkLoss
from sregym_env.cluster.forkable import ScheduledAction, forkable
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import ProblemError, UsageError
from sregym_env.noise import DrivenWorld
from sregym_env.rewards.checks import failing_journeys
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.bringup.deploy import deployed_world
from tests.serve.serving import Served
from tests.world.worlds import APP, NAMESPACE, Unforkable, backend

PROBLEM = "missing_service_hotel_reservation"


class HiddenBackend:
    """The embedded cluster as if its worlds could not be copied."""

    def __init__(self) -> None:
        self.made: list[Unforkable] = []

    def deploy(self, app: App, seed: int) -> Any:
        """A world of its own."""
        self.made.append(Unforkable(deployed_world(app, seed)))
        return self.made[-1]


@pytest.fixture(params=["hidden", "over_http"])
def env(request: pytest.FixtureRequest) -> Iterator[SREGymEnv]:
    """An environment on a world that cannot be copied."""
    chosen = HiddenBackend() if request.param == "hidden" else backend(request.getfixturevalue("server"))
    made = SREGymEnv(PROBLEM, backend=chosen, raise_errors=True)
    yield made
    made.close()


def repaired(env: SREGymEnv) -> tuple[float, dict[str, Any]]:
    """Play the way of an engineer who knows the answer."""
    (solution,) = env.episode.staged.solutions
    for command in solution.remedies[0]:
        _, _, _, _, info = env.step(command)
        assert info["exit_code"] == 0, command
    env.step(f'submit diagnosis "{solution.diagnosis}"')
    _, reward, terminated, _, info = env.step("submit mitigation")
    assert terminated
    return reward, info


def test_the_right_repair_earns_and_nothing_does_not(env: SREGymEnv) -> None:
    """And one episode after the other on the same cluster."""
    observation, _ = env.reset(seed=3)
    world = env.episode.world
    assert forkable(world) is None
    assert NAMESPACE in observation
    health = world.traffic.health(10.0)
    assert failing_journeys(health, APP.slo, env.episode.staged.baseline, 10.0)
    pods, _, _, _, info = env.step(f"kubectl get pods -n {NAMESPACE}")
    assert (info["exit_code"], pods.count("Running") > 15) == (0, True)

    before = {pod["metadata"]["name"] for pod in world.cluster.list("pods", NAMESPACE)}
    reward, info = repaired(env)
    assert (reward, info["Mitigation"], info["Diagnosis"], info["is_success"]) == (1.0, True, True, True)
    after = {pod["metadata"]["name"] for pod in world.cluster.list("pods", NAMESPACE)}
    assert len(before & after) <= 2, "where there is no fork, the pods that were played with are recreated"
    assert info["sim_time_s"] == info["TTM"] < 120.0, "grading takes time, but not the agent's"
    assert env.state()["digest"] == ""

    env.reset(seed=3)
    env.step('submit diagnosis "nothing is wrong"')
    _, reward, _, _, info = env.step("submit mitigation")
    assert (reward, info["Mitigation"], info["is_success"]) == (0.0, False, False)


def test_what_needs_copies_says_so(env: SREGymEnv) -> None:
    env.reset(seed=0)
    for act in (env.fork, env.snapshot):
        with pytest.raises(UsageError, match="cannot be copied"):
            act()


def test_a_graded_reward_compares_with_what_the_oracle_saw_at_the_start() -> None:
    env = SREGymEnv(
        "hotel_res_concurrent_fault",
        backend=HiddenBackend(),
        reward="graded",
        raise_errors=True,
        max_commands=99,
    )
    env.reset(seed=0)
    *mended, _ = env.episode.staged.solutions
    for command in (command for solution in mended for command in solution.remedies[0]):
        env.step(command)
    _, reward, terminated, _, info = env.step("submit mitigation")
    assert terminated and not info["Mitigation"]
    assert 0.0 < reward < 0.5, "two of three faults are gone"


def test_the_same_verdicts_as_with_a_fork() -> None:
    """In place or on a copy, on the same world: the same checks with the same answers."""

    def grade(env: SREGymEnv) -> str:
        env.reset(seed=5)
        env.step(f"kubectl scale deployment/geo -n {NAMESPACE} --replicas=0")
        env.step('submit diagnosis "x"')
        _, _, _, _, info = env.step("submit mitigation")
        found: str = info["grade"]
        return found

    there = grade(SREGymEnv(PROBLEM, backend=HiddenBackend()))
    assert {"journeys", "available", "replicas"} <= set(_failed(there))
    assert _failed(there) == _failed(grade(SREGymEnv(PROBLEM)))


def _failed(grade: str) -> list[str]:
    return [check["name"] for check in json.loads(grade)["oracle"]["checks"] if not check["passed"]]


# --- the cluster that goes on -------------------------------------------------------------------------


def test_a_cluster_is_left_as_it_was(server: Served) -> None:
    """What a fault did outside of the application is taken back when the episode is done with."""
    chosen = backend(server)
    env = SREGymEnv(fault="cordoned_nodes", app=APP.name, backend=chosen, raise_errors=True)
    env.reset(seed=0)
    cluster = env.episode.world.cluster
    assert any(node["spec"].get("unschedulable") for node in cluster.list("nodes"))
    env.close()
    assert not any(node["spec"].get("unschedulable") for node in cluster.list("nodes"))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step("ls")


def test_the_agent_is_given_its_rights(server: Served) -> None:
    chosen = backend(server)
    world = server.server.hosted.world
    server.server.on_loop(
        lambda: world.cluster.delete(
            "clusterroles.rbac.authorization.k8s.io", oncall.ROLE["metadata"]["name"]
        )
    )
    made = chosen.deploy(APP, 0)
    agent = made.cluster.as_user(oncall.ONCALL)
    assert agent.review_access("delete", "pods", NAMESPACE)
    assert not agent.review_access("delete", "nodes")


def test_what_the_backend_cannot_do_is_refused_before_anything_is_changed(server: Served) -> None:
    env = SREGymEnv("latent_sector_error", backend=backend(server))
    with pytest.raises(
        ProblemError, match="latent_sector_error needs DiskReadErrors, which this backend cannot make"
    ):
        env.reset(seed=0)
    with pytest.raises(ProblemError, match=r'play without noise, with noise=\{"kinds": \["pod_kill"\]\}'):
        env.reset(seed=0, options={"problem": PROBLEM, "noise": True})
    world = server.server.hosted.world
    assert "mongodb-rate" in {s["metadata"]["name"] for s in world.cluster.list("services", NAMESPACE)}


# --- noise --------------------------------------------------------------------------------------------


def test_an_episode_with_noise_that_the_environment_makes() -> None:
    chosen = HiddenBackend()
    env = SREGymEnv(PROBLEM, noise=True, backend=chosen, raise_errors=True)
    env.reset(seed=2)
    assert isinstance(env.episode.world, DrivenWorld)
    (hidden,) = chosen.made
    begun = 0
    for _ in range(10):
        env.step("sleep 60")
        begun = max(begun, len(hidden._world.disturbances))
    assert begun > 0
    reward, info = repaired(env)
    assert (reward, info["Mitigation"]) == (1.0, True)
    env.close()
    assert hidden._world.disturbances == ()


def test_driven_noise_begins_and_ends_in_time() -> None:
    inner = deployed_world(APP, 0)
    loss = LinkLoss(NAMESPACE, "")
    world = DrivenWorld(
        Unforkable(inner),  # type: ignore[arg-type]
        [
            (100.0, ScheduledAction("apply", loss, draw=0.5, seconds=50.0)),
            (120.0, ScheduledAction("delete_pod", arguments=(NAMESPACE, ""), draw=0.0)),
        ],
    )
    begin = world.now()
    names = [pod["metadata"]["name"] for pod in inner.cluster.list("pods", NAMESPACE)]
    first = next(name for name in names if APP.heals(name))
    world.advance(99.0)
    assert inner.disturbances == ()
    world.cluster.as_user(oncall.ONCALL).advance(2.0)
    (struck,) = inner.disturbances
    assert isinstance(struck, LinkLoss) and struck.pod
    world.advance(47.0)
    assert first not in {pod["metadata"]["name"] for pod in inner.cluster.list("pods", NAMESPACE)}
    assert inner.disturbances == (struck,)
    world.advance(3.0)
    assert inner.disturbances == ()
    assert world.now() - begin == 151 * SECOND


def test_noise_of_pods_on_a_real_cluster(server: Served) -> None:
    noise = {"kinds": ["pod_kill"], "concurrent": 1, "interval_seconds": 60}
    problem = {"id": "x", "app": APP.name, "noise": noise}
    fault = {"fault": "missing_service", "target": "mongodb-rate"}
    env = SREGymEnv({**problem, "faults": [fault]}, backend=backend(server), raise_errors=True)
    env.reset(seed=1)
    names = set()
    for _ in range(4):
        env.step("sleep 60")
        names.add(
            frozenset(pod["metadata"]["name"] for pod in env.episode.world.cluster.list("pods", NAMESPACE))
        )
    assert len(names) > 2
