"""A build that leaks: pods grow with what they serve, are killed one by one, and only another build ends it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise

import pytest

from sregym_env import apps
from sregym_env.apps.further import rate
from sregym_env.apps.leaking import LEAKING, later, leak
from sregym_env.envs.env import SREGymEnv
from sregym_env.faults.memory_leak import BACKOFF
from sregym_env.kube.quantity import bytes_

APPS = ("hotel-reservation", "social-network", "astronomy-shop")
HOTEL = "hotel-reservation"
TARGET = "search"


@pytest.fixture(scope="module")
def leaking() -> Iterator[SREGymEnv]:
    env = SREGymEnv(f"{HOTEL}/memory_leak/{TARGET}")
    env.reset(seed=2)
    yield env


def _run(env: SREGymEnv, line: str) -> str:
    return str(env.step(line)[0])


def _memory(env: SREGymEnv) -> list[int]:
    """Mebibytes of each pod of the target, as ``kubectl top`` tells them."""
    rows = [row.split() for row in _run(env, f"kubectl top pods -n {HOTEL} --no-headers").splitlines()]
    return [bytes_(row[2]) >> 20 for row in rows if len(row) == 3 and row[0].startswith(f"{TARGET}-")]


def _repaired(env: SREGymEnv, line: str) -> tuple[bool, dict[str, bool]]:
    tried = env.fork()
    tried.step(f"{line}; sleep 60")
    info = tried.step("submit mitigation")[-1]
    checks = json.loads(info["grade"])["oracle"]["checks"]
    return bool(info["Mitigation"]), {check["name"]: check["passed"] for check in checks}


@pytest.mark.parametrize("app", APPS)
def test_every_application_publishes_a_build_that_leaks_beside_those_that_work(app: str) -> None:
    declared = apps.app(app)
    references = [image.reference for image in declared.images]
    assert len(references) == len(set(references))
    found = {c.name: c.builds[LEAKING] for c in declared.components if LEAKING in c.builds}
    assert len(found) >= 8
    for name, reference in found.items():
        assert leak(declared, reference) > 0.0
        assert rate(declared, name) > 0.0
        assert reference not in declared.by_name[name].releases
    working = {image.reference for image in declared.images} - set(found.values())
    assert not any(leak(declared, reference) for reference in working)


@pytest.mark.parametrize(
    ("reference", "pattern"),
    [
        ("ghcr.io/a/b:v41", "ghcr.io/a/b:v44"),
        ("quay.io/a/b:2.3.1", "quay.io/a/b:2.3.4"),
        ("quay.io/a/b:2.2.0-cart", "quay.io/a/b:2.2.3-cart"),
        ("host:5000/b", "host:5000/b:1.3.0"),
        ("a/b:latest", "a/b:1.3.0"),
    ],
)
def test_a_later_build_is_named_as_the_others_are(reference: str, pattern: str) -> None:
    assert later(reference) == pattern
    commit = later("a/b:0f3e9ac")
    assert commit != "a/b:0f3e9ac"
    assert len(commit) == len("a/b:0f3e9ac")
    assert later("a/b:1.2.0@sha256:" + "0" * 64).startswith("a/b:1.2.3@sha256:")


def test_its_pods_were_killed_for_memory_and_nothing_else_tells_what_is_wrong(leaking: SREGymEnv) -> None:
    env = leaking.fork()
    assert "OOMKilled" in _run(env, f"kubectl describe pods -n {HOTEL} | grep -A50 '^Name: *{TARGET}-'")
    assert "leak" not in _run(env, f"kubectl logs deployment/{TARGET} -n {HOTEL}").lower()


def test_they_grow_with_what_they_serve_until_they_are_killed(leaking: SREGymEnv) -> None:
    env = leaking.fork()
    seen: list[int] = []
    for _ in range(24):
        seen.append(max(_memory(env), default=0))
        env.step("sleep 30")
    climbs = [after - before for before, after in pairwise(seen)]
    assert sum(climb > 0 for climb in climbs) > sum(climb < 0 for climb in climbs)
    assert min(climbs) < -3 < 3 < max(seen) - min(each for each in seen if each)
    limits = json.loads(_run(env, f"kubectl get deployment {TARGET} -n {HOTEL} -o json"))["spec"]["template"][
        "spec"
    ]
    limit = bytes_(limits["containers"][0]["resources"]["limits"]["memory"]) >> 20
    assert max(seen) <= limit


def test_others_do_not_grow(leaking: SREGymEnv) -> None:
    env = leaking.fork()
    before = _run(env, f"kubectl top pods -n {HOTEL} --no-headers | grep ^profile")
    env.step("sleep 200")
    after = _run(env, f"kubectl top pods -n {HOTEL} --no-headers | grep ^profile")
    first, then = (bytes_(text.split()[2]) >> 20 for text in (before, after))
    assert abs(then - first) <= 3


def test_only_another_build_repairs_it(leaking: SREGymEnv) -> None:
    sibling = "$(kubectl get deploy profile -n hotel-reservation -o jsonpath='{.spec.template.spec.containers[0].image}')"
    there = f"deployment/{TARGET} -n {HOTEL}"
    passed, _ = _repaired(leaking, f"kubectl set image {there} hotel-reserv-{TARGET}={sibling}")
    assert passed
    for bait in (
        f"kubectl set resources {there} --limits=memory=2Gi",
        f"kubectl rollout restart {there}",
        f"kubectl scale {there} --replicas=8",
    ):
        passed, checks = _repaired(leaking, bait)
        assert not passed, bait
        assert not checks["cause: leak"]


def test_somebody_is_called_when_it_hurts_again() -> None:
    """Between two kills all is well: the fault says how long that may last."""
    fault = SREGymEnv(f"{HOTEL}/memory_leak/geo")
    fault.reset(seed=0)
    (cause,) = fault.episode.staged.causes
    assert cause.fault.recurs > BACKOFF  # type: ignore[attr-defined]
    world, slo = fault.episode.world, fault.episode.world.app.slo
    assert any(journey.success_ratio < slo.success_ratio for journey in world.traffic.health(30.0))
