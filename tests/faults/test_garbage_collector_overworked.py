"""A collector that runs all the time: the CPU goes, nothing crashes, and only the program's own variable or cores help."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from sregym_env import apps
from sregym_env.apps.calls import collecting, collector, cores
from sregym_env.envs.env import SREGymEnv
from sregym_env.sim.programs.services.runtimes.go import Go

HOTEL = "hotel-reservation"
TARGET = "profile"


@pytest.fixture(scope="module")
def busy() -> Iterator[SREGymEnv]:
    env = SREGymEnv(f"{HOTEL}/garbage_collector_overworked/{TARGET}")
    env.reset(seed=1)
    yield env


def _run(env: SREGymEnv, line: str) -> str:
    return str(env.step(line)[0])


def _passes(env: SREGymEnv, line: str) -> bool:
    tried = env.fork()
    tried.step(f"{line}; sleep 60")
    return bool(tried.step("submit mitigation")[-1]["Mitigation"])


def test_the_collector_costs_more_the_sooner_it_runs() -> None:
    runtime = Go("/app")
    assert runtime.collector({}, 0) is None
    assert runtime.collector({"GOGC": "100"}, 0) is None
    found = runtime.collector({"GOGC": "1"}, 0)
    assert found is not None
    assert found.growth == 0.01
    assert Go.collecting(1.0) > 3 * Go.collecting(4.0) > 30 * Go.collecting(200.0)


def test_what_a_program_tunes_itself_overrides_the_runtimes_variable() -> None:
    app = apps.app(HOTEL)
    assert collector(app, TARGET) == "GC"
    assert collector(app, "mongodb-geo") == ""
    assert Go("/app", percent="GC").collector({"GOGC": "1"}, 0) is None
    assert collecting(app, TARGET, 1.0) > 4.0 * cores(app, TARGET)


def test_its_pods_use_their_whole_limit_and_say_how_they_are_tuned(busy: SREGymEnv) -> None:
    env = busy.fork()
    pods = _run(env, f"kubectl get pods -n {HOTEL} --no-headers | grep ^{TARGET}-")
    assert "Running" in pods
    assert "CrashLoopBackOff" not in pods
    limit = _run(
        env,
        f"kubectl get deployment {TARGET} -n {HOTEL} -o jsonpath='{{.spec.template.spec.containers[0].resources.limits.cpu}}'",
    )
    used = _run(env, f"kubectl top pods -n {HOTEL} --no-headers | grep ^{TARGET}-").split()[1]
    millis = [
        int(text.removesuffix("m")) if text.endswith("m") else int(text) * 1000
        for text in (limit.split()[0], used)
    ]
    assert millis[1] >= 0.85 * millis[0]
    assert "setGCPercent to 100" not in _run(
        env, f"kubectl logs deployment/{TARGET} -n {HOTEL} | grep setGCPercent"
    )


def test_its_own_variable_or_cores_help_and_nothing_else_does(busy: SREGymEnv) -> None:
    there = f"deployment/{TARGET} -n {HOTEL}"
    for right in (f"kubectl set env {there} GC=100", f"kubectl set env {there} GC-"):
        assert _passes(busy, right), right
    for wrong in (
        f"kubectl rollout restart {there}",
        f"kubectl set env {there} GOGC=100",
        f"kubectl set resources {there} --limits=memory=2Gi",
    ):
        assert not _passes(busy, wrong), wrong


def test_it_is_told_as_what_it_is(busy: SREGymEnv) -> None:
    (cause,) = busy.episode.staged.causes
    spec = cause.spec  # type: ignore[attr-defined]
    assert spec.field == "GC"
    text = f"{TARGET} spends its CPU on garbage collection because GC is {spec.wrong}"
    info = busy.fork().step(f"submit diagnosis {json.dumps(text)}")[-1]
    assert info["Diagnosis"]
