"""Storms of retries: two settings that harm nobody, something that passes, and an overload that stays until one of them goes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from sregym_env import apps
from sregym_env.apps.calls import cores, patience, services
from sregym_env.cluster.apply import apply
from sregym_env.cluster.edits import Thin
from sregym_env.cluster.inventory import Inventory
from sregym_env.envs.env import SREGymEnv
from sregym_env.faults.registry import declaration
from sregym_env.faults.storms import IDLE
from sregym_env.kube.quantity import milli
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs.services.peers import Policy

HOTEL = "hotel-reservation"
FAULTS = ("load_spike_retry_storm", "capacity_decrease_retry_storm")


def _served(world: EmbeddedWorld, over: float = 30.0) -> float:
    """The share of the worst journey's requests that succeed."""
    return min(journey.success_ratio for journey in world.traffic.health(over))


def _configured(fault: str, triggered: bool) -> EmbeddedWorld:
    """The published world with both settings, some time later; what passes has been there or not."""
    world = deployed_world(apps.app(HOTEL))
    instance = declaration(fault).bind(Inventory.of(world), "frontend")
    for edit in (*instance.fault.earlier, *instance.fault.edits):
        apply(world, edit)
        world.advance(60.0)
    if triggered:
        instance.replay(world)
    world.advance(600.0)
    return world


@pytest.mark.parametrize("fault", FAULTS)
def test_the_same_settings_harm_nobody_until_something_happens(fault: str) -> None:
    assert _served(_configured(fault, triggered=False)) > 0.99
    assert _served(_configured(fault, triggered=True)) < 0.9


def _used(world: EmbeddedWorld, component: str) -> float:
    """The part of its pods' CPU limits that a component uses."""
    (limit,) = {
        milli(container["resources"]["limits"]["cpu"])
        for container in world.cluster.get("deployments.apps", component, HOTEL)["spec"]["template"]["spec"][
            "containers"
        ]
    }
    used = [
        milli(pod["containers"][0]["usage"]["cpu"])
        for pod in world.cluster.list("pods.metrics.k8s.io", HOTEL)
        if pod["metadata"]["name"].startswith(f"{component}-")
    ]
    return sum(used) / len(used) / limit


def test_while_it_lasts_the_one_that_is_called_works_as_much_as_it_may() -> None:
    calm, stormy = (_configured(FAULTS[1], triggered=each) for each in (False, True))
    inventory = Inventory.of(deployed_world(apps.app(HOTEL)))
    callee = declaration(FAULTS[1]).bind(inventory, "frontend").parameters["callee"]
    assert _used(calm, callee) < 0.75
    assert _used(stormy, callee) > 0.9


@pytest.fixture(scope="module", params=FAULTS)
def storm(request: pytest.FixtureRequest) -> Iterator[SREGymEnv]:
    env = SREGymEnv(f"{HOTEL}/{request.param}/frontend")
    env.reset(seed=3)
    yield env


def _run(env: SREGymEnv, line: str) -> str:
    return str(env.step(line)[0])


def _repaired(env: SREGymEnv, line: str) -> tuple[bool, dict[str, bool]]:
    tried = env.fork()
    tried.step(f"{line}; sleep 90")
    info = tried.step("submit mitigation")[-1]
    checks = json.loads(info["grade"])["oracle"]["checks"]
    return bool(info["Mitigation"]), {check["name"]: check["passed"] for check in checks}


def test_first_looks_show_pods_that_are_well(storm: SREGymEnv) -> None:
    pods = _run(storm.fork(), f"kubectl get pods -n {HOTEL} --no-headers")
    assert all(
        " Running " in line or " Completed " in line for line in pods.splitlines()[:-1] if line.strip()
    )
    assert "GRPC_CLIENT" not in _run(
        storm.fork(), f"kubectl get events,deployments,services -n {HOTEL} -o wide"
    )


def test_the_policy_stands_in_the_caller(storm: SREGymEnv) -> None:
    shown = _run(storm.fork(), f"kubectl get deployment frontend -n {HOTEL} -o yaml")
    assert "GRPC_CLIENT_TIMEOUT" in shown
    assert "GRPC_CLIENT_RETRIES_ON_ERROR" in shown


def test_patience_or_fewer_retries_last_and_a_restart_does_not(storm: SREGymEnv) -> None:
    there = f"deployment/frontend -n {HOTEL}"
    for line in (
        f"kubectl set env {there} GRPC_CLIENT_TIMEOUT=1s GRPC_CLIENT_RETRIES_ON_ERROR=1",
        f"kubectl set env {there} GRPC_CLIENT_TIMEOUT- GRPC_CLIENT_RETRIES_ON_ERROR-",
    ):
        passed, checks = _repaired(storm, line)
        assert passed, (line, checks)
    (cause,) = storm.episode.staged.causes
    callee = cause.fault.facts["callee"]  # type: ignore[attr-defined]
    for line in (
        f"kubectl rollout restart {there}",
        f"kubectl rollout restart deployment/{callee} -n {HOTEL}",
        f"kubectl set env {there} GRPC_CLIENT_RETRIES_ON_ERROR=90",
    ):
        passed, _ = _repaired(storm, line)
        assert not passed, line


def test_half_the_pods_are_away_for_a_while_and_never_the_last_one() -> None:
    world = deployed_world(apps.app(HOTEL))
    before = world.cluster.get("deployments.apps", "geo", HOTEL)["metadata"]["generation"]
    apply(world, Thin("geo", 30.0))
    assert world.cluster.get("deployments.apps", "geo", HOTEL)["metadata"]["generation"] == before
    patch = {"spec": {"replicas": 3}}
    world.cluster.patch("deployments.apps", "geo", patch, namespace=HOTEL, type="merge")
    world.advance(30.0)
    now = world.now()
    apply(world, Thin("geo", 30.0))
    assert world.now() - now == 30_000_000
    events = [each["message"] for each in world.cluster.list("events", HOTEL)]
    assert any("from 3 to 1" in text for text in events)
    assert world.cluster.get("deployments.apps", "geo", HOTEL)["spec"]["replicas"] == 3


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, (0.0, 1)),
        ({"T": "50ms", "R": "30"}, (0.05, 31)),
        ({"T": "1.5s"}, (1.5, 1)),
        ({"T": "soon", "R": "-1"}, (0.0, 1)),
        ({"R": "2"}, (0.0, 3)),
    ],
)
def test_a_policy_is_read_as_go_reads_it(env: dict[str, str], expected: tuple[float, int]) -> None:
    assert Policy("T", "R").of(env)[:2] == expected


def test_what_services_need_is_what_they_use() -> None:
    """The share of a limit is of the CPU that the world measures."""
    app = apps.app(HOTEL)
    world = deployed_world(app)
    world.advance(120.0)
    for name in ("frontend", "search", "geo", "profile"):
        used = [
            milli(pod["containers"][0]["usage"]["cpu"])
            for pod in world.cluster.list("pods.metrics.k8s.io", HOTEL)
            if pod["metadata"]["name"].startswith(f"{name}-")
        ]
        assert cores(app, name) == pytest.approx(sum(used) / 1000 - IDLE * len(used), rel=0.1)


def test_only_clients_without_a_policy_of_their_own_follow_the_common_one() -> None:
    app = apps.app(HOTEL)
    assert patience(app, "search")[1] == ("geo",)
    assert set(patience(app, "frontend")[1]) == set(services(app)["frontend"].by_peer)
    assert patience(app, "geo") == (None, ())
