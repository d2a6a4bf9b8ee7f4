"""A broker holds what is on its way to it: many producers of large records at once are more than its heap has room for."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster import apply
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.fault import FaultInstance
from sregym_env.faults.registry import declaration
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs.kafka import producing, settings
from sregym_env.tools.workstation import Workstation

SHOP = "astronomy-shop"


def _typed(world: EmbeddedWorld, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text


def _takes(world: EmbeddedWorld, journey: str = "checkout") -> float:
    return next(each.latency_seconds for each in world.traffic.health(60.0) if each.journey == journey)


def _restarts(world: EmbeddedWorld) -> int:
    return int(_typed(world, f"kubectl get pods -n {SHOP} --no-headers | grep ^kafka-").split()[3])


@pytest.fixture(scope="module")
def writing() -> tuple[EmbeddedWorld, FaultInstance]:
    """Three programs write, none of them wrongly."""
    world = deployed_world(apps.app(SHOP)).fork()
    instance = declaration("kafka_producer_leak").bind(Inventory.of(world), "kafka")
    for edit in instance.fault.earlier:
        apply.apply(world, edit)
    world.advance(180.0)
    return world, instance


@pytest.fixture(scope="module")
def leaking(writing: tuple[EmbeddedWorld, FaultInstance]) -> tuple[EmbeddedWorld, FaultInstance]:
    world, instance = writing[0].fork(), writing[1]
    for edit in instance.fault.edits:
        apply.apply(world, edit)
    world.advance(300.0)
    return world, instance


def test_who_writes_large_records_with_one_producer_harms_nobody(
    writing: tuple[EmbeddedWorld, FaultInstance],
) -> None:
    world, instance = writing[0].fork(), writing[1]
    assert all(each.passed for each in instance.cured(world))
    world.advance(300.0)
    assert _restarts(world) == 0
    assert _takes(world) < 0.2
    logs = {
        name: _typed(world, f"kubectl logs deploy/{name} -n {SHOP} --tail=1")
        for name in instance.parameters["writers"]
    }
    assert all('"msg":"delivered"' in text for text in logs.values()), logs


def test_a_producer_for_every_record_takes_the_broker_away(
    leaking: tuple[EmbeddedWorld, FaultInstance],
) -> None:
    world, instance = leaking[0].fork(), leaking[1]
    guilty = instance.parameters["writers"][0]
    assert _restarts(world) >= 4
    assert _takes(world) > 1.5
    assert not all(each.passed for each in instance.cured(world))
    said = _typed(world, f"kubectl logs deploy/kafka -n {SHOP} --previous")
    assert "java.lang.OutOfMemoryError: Java heap space" in said
    address = _typed(
        world, f"kubectl get pods -n {SHOP} -l app={guilty} -o jsonpath='{{.items[0].status.podIP}}'"
    )
    assert f"clientAddress=/{address}," in said
    assert "rdkafka#producer-" in _typed(world, f"kubectl logs deploy/{guilty} -n {SHOP} --tail=3")


@pytest.mark.parametrize("change", ["REUSE_PRODUCER=true", "WORKERS=3", "REUSE_PRODUCER-"])
def test_fewer_producers_end_it(leaking: tuple[EmbeddedWorld, FaultInstance], change: str) -> None:
    world, instance = leaking[0].fork(), leaking[1]
    _typed(world, f"kubectl set env deploy/{instance.parameters['writers'][0]} {change} -n {SHOP}")
    world.advance(420.0)
    before = _restarts(world)
    world.advance(120.0)
    assert _restarts(world) == before
    assert _takes(world) < 0.2
    assert all(each.passed for each in instance.cured(world))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("kubectl scale deploy/{guilty} --replicas=0", "no longer writes"),
        ("kubectl set env deploy/{guilty} RECORDS_PER_MINUTE=1", "no longer writes"),
        ("kubectl set env deploy/{guilty} RECORD_BYTES=1024", "no longer writes"),
        ("kubectl set env deploy/kafka KAFKA_MESSAGE_MAX_BYTES-", "takes no record"),
        ("kubectl set env deploy/kafka KAFKA_HEAP_OPTS=-Xmx3G", "on their way"),
    ],
)
def test_what_only_hides_it_is_no_cure(
    leaking: tuple[EmbeddedWorld, FaultInstance], line: str, why: str
) -> None:
    world, instance = leaking[0].fork(), leaking[1]
    _typed(world, f"{line.format(guilty=instance.parameters['writers'][0])} -n {SHOP}")
    world.advance(120.0)
    assert [each for each in instance.cured(world) if not each.passed and why in each.observed]


@pytest.mark.parametrize(
    "env",
    [
        {"RECORD_BYTES": "9" * 5000},
        {"WORKERS": "\u0663"},
        {"WORKERS": "0", "RECORDS_PER_MINUTE": "-4"},
        {"RECORDS_PER_MINUTE": "999999999", "REUSE_PRODUCER": "false", "WORKERS": "999999999"},
        {"KAFKA_ADDR": f"kafka:{'9' * 5000}"},
        {"KAFKA_ADDR": "kafka"},
        {"KAFKA_ADDR": ":9092"},
    ],
)
def test_whatever_it_is_told_is_bounded(env: dict[str, str]) -> None:
    found = producing.told({"KAFKA_ADDR": "kafka:9092", "KAFKA_TOPIC": "t", **env})
    if "KAFKA_ADDR" in env:
        assert found is None
    else:
        assert found is not None
        assert 0 < found.record <= producing.MOST_BYTES
        assert 1 <= found.workers <= producing.MOST_WORKERS
        assert 0.0 <= found.rate <= producing.MOST_RATE


def test_listeners_with_impossible_ports_are_none() -> None:
    assert settings.endpoint(f"PLAINTEXT://kafka:{'9' * 5000}", "PLAINTEXT") is None
    assert settings.endpoint("PLAINTEXT://kafka:\u0663", "PLAINTEXT") is None


def test_a_writer_that_is_told_nothing_says_so(writing: tuple[EmbeddedWorld, FaultInstance]) -> None:
    world, instance = writing[0].fork(), writing[1]
    name = instance.parameters["writers"][2]
    _typed(world, f"kubectl set env deploy/{name} KAFKA_TOPIC- -n {SHOP}")
    world.advance(60.0)
    assert "KAFKA_ADDR (host:port) and KAFKA_TOPIC must be set" in _typed(
        world, f"kubectl logs deploy/{name} -n {SHOP}"
    )
