"""A machine's disk that a program fills: what is written counts, the kubelet evicts others, and room must last."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.node_disk_filled_by_neighbour import (
    SLIPS,
    _arguments,
    _fills,
    _recorder,
    _Room,
    _slipped,
    _Spared,
)
from sregym_env.runtime import bulk
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.containers import spooling
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs.ffmpeg import _orders, _path
from sregym_env.tools.workstation import Workstation

HOTEL, PLACE = "hotel-reservation", "media-lab"
GREEDY, MODEST = (ObjectRef("deployments.apps", name, PLACE) for name in ("encoder-soak", "feed-archive"))
FOLDER, BESIDE = "/srv/rec/encoder-soak", "/srv/rec/feed-archive"


def _typed(world: World, line: str) -> str:
    return Workstation(world, ONCALL, HOTEL).run(line).text


def _node(world: World) -> str:
    """Where a database of the hotel's lies."""
    pods = world.cluster.list("pods", HOTEL)
    return next(str(p["spec"]["nodeName"]) for p in pods if p["metadata"]["name"].startswith("mongodb-geo"))


def _with(*arguments: str, kept: int = 5) -> EmbeddedWorld:
    world = deployed_world(apps.app(HOTEL))
    node = _node(world)
    world.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE}})
    world.cluster.create(_recorder(GREEDY, FOLDER, list(arguments), node))
    world.cluster.create(_recorder(MODEST, BESIDE, _arguments("1M", 60, kept, MODEST.name), node))
    world.advance(30.0)
    return world


def _unbounded() -> list[str]:
    return _slipped("unset", _arguments("200M", 60, 5, GREEDY.name))[0]


@pytest.fixture(scope="module")
def pressed() -> EmbeddedWorld:
    world = _with(*_unbounded())
    world.advance(2700.0)
    return world


def _condition(world: World) -> str:
    node = world.cluster.get("nodes", _node_of(world))
    return next(str(c["status"]) for c in node["status"]["conditions"] if c["type"] == "DiskPressure")


def _node_of(world: World) -> str:
    pods = world.cluster.list("pods", PLACE)
    return str(pods[0]["spec"]["nodeName"])


def _used(world: World) -> int:
    return int(_typed(world, f"ssh {_node_of(world)} 'df -k / | tail -n 1'").split()[2]) * 1024


def test_what_is_written_counts_on_the_disk() -> None:
    world = _with(*_unbounded())
    before, at = _used(world), world.now()
    world.advance(600.0)
    grown, seconds = _used(world) - before, (world.now() - at) / 1e6
    assert grown == pytest.approx(seconds * (25_000_000 + 125_000), rel=0.02)
    node = _node_of(world)
    assert "Opening '/out/encoder-soak-009.ts'" in _typed(
        world, f"kubectl logs -n {PLACE} deploy/encoder-soak"
    )
    sizes = _typed(world, f"ssh {node} stat -c %s {FOLDER}/encoder-soak-000.ts {FOLDER}/encoder-soak-001.ts")
    assert sizes.split() == ["1500000000"] * 2
    assert _typed(world, f"kubectl exec -n {PLACE} deploy/encoder-soak -- ls /out") == _typed(
        world, f"ssh {node} ls {FOLDER}"
    )
    exporter = _typed(
        world, f'promql \'delta(node_filesystem_avail_bytes{{node="{node}",mountpoint="/"}}[5m])\''
    )
    assert float(exporter.splitlines()[1].split()[0]) < -6e9


def test_a_wrap_keeps_within_bounds() -> None:
    world = _with(*_arguments("200M", 60, 5, GREEDY.name))
    world.advance(900.0)
    before = _used(world)
    world.advance(1800.0)
    assert abs(_used(world) - before) < 64 << 20
    assert len(_typed(world, f"ssh {_node_of(world)} ls {FOLDER}").split()) == 5
    assert _Room()(world.fork()).passed


def test_a_full_disk_drives_out_others(pressed: EmbeddedWorld) -> None:
    world = pressed.fork()
    node = _node_of(world)
    assert _condition(world) == "True"
    running = {
        p["metadata"]["name"] for p in world.cluster.list("pods", PLACE) if p["status"]["phase"] == "Running"
    }
    assert len(running) == 2, "a kubelet evicts nobody who is critical"
    told = _typed(world, "kubectl get events")
    assert "The node was low on resource: ephemeral-storage. Threshold quantity: " in told
    assert "mongodb-geo" in told and "node.kubernetes.io/disk-pressure" in told
    described = _typed(world, f"kubectl describe node {node}")
    assert (
        "Attempting to reclaim ephemeral-storage" in described
        and "only found 0 bytes eligible to free" in described
    )
    assert "Eviction manager: attempting to reclaim" in _typed(
        world, f"ssh {node} journalctl -u kubelet --no-pager"
    )
    assert not _Room()(world).passed


def test_a_full_disk_takes_no_more(pressed: EmbeddedWorld) -> None:
    world = pressed.fork()
    world.advance(900.0)
    assert "No space left on device" in _typed(
        world, f"kubectl logs -n {PLACE} deploy/encoder-soak --previous"
    )
    assert spooling.filled(world, _node_of(world)) <= spooling.room(world, _node_of(world))


def test_room_comes_back_and_is_believed_after_five_minutes(pressed: EmbeddedWorld) -> None:
    world = pressed.fork()
    node = _node_of(world)
    _typed(world, f"kubectl delete deploy encoder-soak -n {PLACE}")
    world.advance(60.0)
    _typed(world, f"ssh {node} rm -rf {FOLDER}")
    world.advance(200.0)
    assert _condition(world) == "True"
    world.advance(150.0)
    assert _condition(world) == "False"
    world.advance(120.0)
    pods = [p for p in world.cluster.list("pods", HOTEL) if p["metadata"]["name"].startswith("mongodb-geo")]
    assert any(p["status"]["phase"] == "Running" for p in pods)


def test_a_file_that_is_open_keeps_its_bytes() -> None:
    world = _with(*_arguments("200M", 86_400, 5, GREEDY.name))
    world.advance(600.0)
    node, before = _node_of(world), _used(world)
    _typed(world, f"ssh {node} 'rm -f {FOLDER}/*'")
    assert ".ts" not in _typed(world, f"ssh {node} ls {FOLDER}")
    assert _used(world) >= before
    _typed(world, f"kubectl scale deploy encoder-soak -n {PLACE} --replicas=0")
    world.advance(60.0)
    assert _used(world) < before - 10_000_000_000


def test_scratch_space_is_the_pods_own() -> None:
    world = _with(*_unbounded())
    patch = '[{"op":"replace","path":"/spec/template/spec/volumes/0","value":{"name":"out","emptyDir":{"sizeLimit":"2Gi"}}}]'
    _typed(world, f"kubectl patch deploy encoder-soak -n {PLACE} --type=json -p '{patch}'")
    world.advance(240.0)
    assert 'Usage of EmptyDir volume "out" exceeds the limit "2Gi"' in _typed(
        world, f"kubectl get events -n {PLACE}"
    )


def test_the_neighbour_must_be_spared() -> None:
    world = _with(*_arguments("20M", 60, 5, GREEDY.name))
    world.advance(600.0)
    arguments = tuple(_arguments("1M", 60, 5, MODEST.name))
    spared = _Spared(MODEST, _node_of(world), BESIDE, 5, arguments)
    assert not _Spared(MODEST, _node_of(world), BESIDE, 5, (*arguments[:-1], "/out/other-%03d.ts"))(
        world
    ).passed
    assert spared(world).passed
    emptied = world.fork()
    _typed(emptied, f"ssh {_node_of(world)} 'rm -f {BESIDE}/*'")
    assert not spared(emptied).passed
    _typed(world, f"kubectl scale deploy {MODEST.name} -n {PLACE} --replicas=0")
    world.advance(30.0)
    assert not spared(world).passed


@pytest.mark.parametrize("slip", SLIPS)
def test_every_slip_loses_the_bound(slip: str) -> None:
    arguments, option, wrong, right = _slipped(slip, _arguments("160M", 60, 5, "soak"))
    orders = _orders(arguments)
    assert orders is not None and right != wrong
    if orders.wrap and not orders.dated:
        assert orders.wrap * orders.seconds * orders.rate > 400e9
    assert option == "-segment_wrap" or option in arguments


def test_slow_growth_is_growth_too() -> None:
    assert _fills((0, 10**11), (2 * 10**9, 10**11))
    assert not _fills((10**9, 10**11), (10**9 + 1000, 10**11))


LONG: tuple[Any, ...] = ("9" * 5000, "-1", "x", "", "1e400", "9" * 18)


@pytest.mark.parametrize("text", LONG)
def test_numbers_of_any_length_are_read(text: str) -> None:
    words = [
        "-i",
        "x",
        "-f",
        "segment",
        "-segment_time",
        text,
        "-segment_wrap",
        text,
        "-b:v",
        f"{text}M",
        "-t",
        text,
        "/out/a-%03d.ts",
    ]
    orders = _orders(words)
    assert orders is not None
    assert 0 < orders.rate <= 5e8 and orders.seconds >= 10.0
    assert _path(orders, 7, 0).startswith("/out/a-")


def test_a_files_bytes_are_counted_and_not_kept() -> None:
    text = bulk.text(5_000_000_000, 17)
    assert len(text) < 100
    assert bulk.size(text) == bulk.size(text.encode()) == 5_000_000_000
    assert (bulk.written(text), bulk.counted("plain"), bulk.size("plain")) == (17, 0, 5)
