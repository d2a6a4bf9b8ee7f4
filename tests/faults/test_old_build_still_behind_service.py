"""An old build beside the current one: kept without pods for hours, harmless, and then behind the same name again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sregym_env import apps
from sregym_env.apps.outdated import OUTDATED, earlier, lacks
from sregym_env.envs.env import SREGymEnv
from sregym_env.sim.programs.services.protocols import Grpc, Thrift
from sregym_env.sim.programs.services.wires import LACKED_BY_JAVA, WordedGrpc
from sregym_env.sim.world.program import Call

APPS = ("hotel-reservation", "social-network", "astronomy-shop")
HOTEL = "hotel-reservation"
TARGET = "search"


@pytest.fixture(scope="module")
def outdated() -> Iterator[SREGymEnv]:
    env = SREGymEnv(f"{HOTEL}/old_build_still_behind_service/{TARGET}")
    env.reset(seed=2)
    yield env


def _said(env: SREGymEnv, line: str) -> str:
    return str(env.step(line)[0]).strip()


def _beside(env: SREGymEnv) -> str:
    """The workload that is kept beside the target."""
    names = _said(env, f"kubectl get deployments -n {HOTEL} -o name").splitlines()
    (found,) = [name.partition("/")[2] for name in names if f"/{TARGET}-" in name]
    return found


@pytest.mark.parametrize("app", APPS)
def test_every_application_publishes_an_old_build_that_lacks_what_users_need_most(app: str) -> None:
    declared = apps.app(app)
    found = {c.name: c.builds[OUTDATED] for c in declared.components if OUTDATED in c.builds}
    assert len(found) >= 8
    for name, reference in found.items():
        assert len(lacks(declared, reference, name)) == 1
        assert reference not in declared.by_name[name].releases
    for image in declared.images:
        if image.reference not in found.values():
            assert not any(lacks(declared, image.reference, name) for name in found)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("ghcr.io/a/b:v41", "ghcr.io/a/b:v38"),
        ("quay.io/a/b:2.3.1", "quay.io/a/b:2.2.1"),
        ("quay.io/a/b:2.2.0-cart", "quay.io/a/b:2.1.0-cart"),
        ("a/b:0.0.0", "a/b:0.0.0-0"),
        ("host:5000/b", "host:5000/b:0.3.0"),
    ],
)
def test_an_earlier_build_is_named_as_the_others_are(reference: str, expected: str) -> None:
    assert earlier(reference) == expected


def test_servers_say_what_they_lack_in_the_words_of_their_libraries() -> None:
    call = Call("/geo.Geo/Nearby")
    told = [
        wire.unknown(call, later).failures[0][0].text.partition("desc = ")[2]
        for wire, later in (
            (Grpc(), True),
            (Grpc(), False),
            (WordedGrpc("Unknown", lacking=LACKED_BY_JAVA), True),
        )
    ]
    assert told == [
        "unknown method Nearby for service geo.Geo",
        "unknown service geo.Geo",
        "Method not found: geo.Geo/Nearby",
    ]
    assert Thrift().unknown(Call("ReadPosts"), True).failures[0][0].text == "Invalid method name: 'ReadPosts'"


def test_two_builds_answer_and_the_callers_meet_the_one_that_lacks_an_operation(outdated: SREGymEnv) -> None:
    env = outdated.fork()
    pods = _said(env, f"kubectl get pods -n {HOTEL} | grep ^{_beside(env)}-")
    assert all("Running" in line and "1/1" in line for line in pods.splitlines())
    port = _said(env, f"kubectl get svc frontend -n {HOTEL} -o jsonpath='{{.spec.ports[0].port}}'")
    asked = f"http://frontend.{HOTEL}:{port}/hotels?inDate=2015-04-09&outDate=2015-04-10&lat=38.0&lon=-122.1"
    answers = [_said(env, f"curl -s '{asked}'") for _ in range(12)]
    failed = [answer for answer in answers if "unknown method Nearby for service search.Search" in answer]
    assert 0 < len(failed) < len(answers)


def test_it_was_kept_without_pods_before_it_hurt(outdated: SREGymEnv) -> None:
    env = outdated.fork()
    made = "{.metadata.creationTimestamp}"
    kept = _said(env, f"kubectl get deployment {_beside(env)} -n {HOTEL} -o jsonpath='{made}'")
    pod = _said(env, f"kubectl get pods -n {HOTEL} -o name | grep pod/{_beside(env)}- | head -1")
    assert kept < _said(env, f"kubectl get {pod} -n {HOTEL} -o jsonpath='{made}'")


@pytest.mark.parametrize("ending", ["scale {it} --replicas=0", "delete {it}"])
def test_it_is_repaired_by_taking_the_old_pods_away(outdated: SREGymEnv, ending: str) -> None:
    env = outdated.fork()
    env.step(f"kubectl {ending.format(it=f'deployment/{_beside(env)}')} -n {HOTEL}; sleep 30")
    assert env.step("submit mitigation")[-1]["Mitigation"]


def test_to_roll_back_the_current_build_spreads_it(outdated: SREGymEnv) -> None:
    env = outdated.fork()
    path = f'{{.spec.template.spec.containers[?(@.name=="hotel-reserv-{TARGET}")].image}}'
    image = _said(env, f"kubectl get deployment {_beside(env)} -n {HOTEL} -o jsonpath='{path}'")
    env.step(f"kubectl set image deployment/{TARGET} hotel-reserv-{TARGET}={image} -n {HOTEL}; sleep 90")
    health = {j.journey: j.success_ratio for j in env.episode.world.traffic.health(30.0)}
    assert health["search"] < 0.05
    assert not env.step("submit mitigation")[-1]["Mitigation"]
