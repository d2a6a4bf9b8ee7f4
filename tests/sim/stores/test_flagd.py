"""flagd and what services take its flags for; OpenSearch's state as its REST interface shows it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import flagd
from sregym_env.sim.programs.services.peers import At, Peer
from sregym_env.sim.world.program import HttpRequest
from tests.sim.stores import shop

FLAGD = Peer("flagd", "openfeature", At("flagd", "8013"))


@pytest.fixture
def world() -> EmbeddedWorld:
    return shop.world()


def context(world: EmbeddedWorld, component: str) -> ProcessContext:
    name = shop.pod(world, component)
    return ProcessContext(
        world, next(p for p in world.processes.values() if p.pod == name and p.container == component)
    )


def resolved(world: EmbeddedWorld, flag: str, default: Any, peer: Peer = FLAGD) -> Any:
    return flagd.resolve(context(world, "checkout"), peer, flag, default)


def get(
    world: EmbeddedWorld, component: str, path: str, port: int, method: str = "GET", body: str = ""
) -> tuple[int, Any]:
    ctx = context(world, component)
    answer = world.programs[ctx.process.program].request(ctx, HttpRequest(method, path, {}, body), port)
    assert answer is not None
    return answer.status, orjson.loads(answer.body) if answer.body.startswith(("{", "[")) else answer.body


def change(world: EmbeddedWorld, text: str) -> None:
    """Write the file that flagd watches."""
    ctx = context(world, "flagd")
    ctx.write_volume("/etc/flagd", {"demo.flagd.json": text})


@pytest.mark.parametrize(
    ("flag", "default", "found"),
    [
        ("kafkaQueueProblems", 0, 0),
        ("cartFailure", False, False),
        ("cartFailure", True, False),
        ("unknown", 7, 7),
        ("gone", False, False),
        ("kafkaQueueProblems", "text", "text"),
    ],
)
def test_flags(world: EmbeddedWorld, flag: str, default: Any, found: Any) -> None:
    assert resolved(world, flag, default) == found


def test_a_changed_file_is_served_at_once_and_a_broken_one_never(world: EmbeddedWorld) -> None:
    flags = orjson.loads(orjson.dumps(shop.FLAGS))
    flags["flags"]["kafkaQueueProblems"]["defaultVariant"] = "on"
    change(world, orjson.dumps(flags).decode())
    assert resolved(world, "kafkaQueueProblems", 0) == 100
    world.advance(1.0)
    change(world, "{")
    world.advance(1.0)
    assert resolved(world, "cartFailure", True) is False


@pytest.mark.parametrize(
    "about",
    [
        [],
        "text",
        {},
        {"state": "ENABLED", "variants": ["on"], "defaultVariant": "on"},
        {"state": "ENABLED", "variants": None},
    ],
)
def test_a_flag_that_makes_no_sense_has_no_value(world: EmbeddedWorld, about: Any) -> None:
    change(world, orjson.dumps({"flags": {"odd": about}}).decode())
    assert resolved(world, "odd", 3) == 3
    status, body = get(world, "flagd", "/ofrep/v1/evaluate/flags/odd", 8016, "POST")
    assert status == 200 and body["value"] is None


def test_the_config_map_is_copied_once(world: EmbeddedWorld) -> None:
    flags = orjson.dumps(shop.FLAGS).decode().replace('"defaultVariant":"off"', '"defaultVariant":"on"')
    world.cluster.patch("configmaps", "flagd-config", {"data": {"demo.flagd.json": flags}}, namespace=shop.NS)
    world.advance(120.0)
    assert resolved(world, "kafkaQueueProblems", 0) == 0
    world.cluster.delete("pods", shop.pod(world, "flagd"), shop.NS)
    world.advance(30.0)
    assert resolved(world, "kafkaQueueProblems", 0) == 100


def test_without_flagd_defaults_hold(world: EmbeddedWorld) -> None:
    world.cluster.patch("deployments.apps", "flagd", {"spec": {"replicas": 0}}, namespace=shop.NS)
    world.advance(40.0)
    assert resolved(world, "cartFailure", True) is True
    assert resolved(world, "cartFailure", True, Peer("f", "openfeature", At("cart", "8080"))) is True


@pytest.mark.parametrize(
    ("path", "port", "body", "status", "shown"),
    [
        ("/healthz", 8014, "", 200, ""),
        ("/readyz", 8014, "", 200, ""),
        ("/ofrep/v1/evaluate/flags/kafkaQueueProblems", 8016, "{}", 200,
         {"value": 0, "key": "kafkaQueueProblems", "reason": "STATIC", "variant": "off", "metadata": {}}),
        ("/ofrep/v1/evaluate/flags/nope", 8016, "{}", 404,
         {"key": "nope", "errorCode": "FLAG_NOT_FOUND", "errorDetails": "flag `nope` does not exist"}),
        ("/flagd.evaluation.v1.Service/ResolveBoolean", 8013, '{"flagKey":"cartFailure"}', 200,
         {"value": False, "key": "cartFailure", "reason": "STATIC", "variant": "off", "metadata": {}}),
    ],
)  # fmt: skip
def test_requests(world: EmbeddedWorld, path: str, port: int, body: str, status: int, shown: Any) -> None:
    assert get(world, "flagd", path, port, "POST", body) == (status, shown)


def test_without_its_file_it_does_not_start(world: EmbeddedWorld) -> None:
    args = ["start", "--uri", "file:./etc/flagd/other.json"]
    spec = {"containers": [{"name": "flagd", "args": args}]}
    world.cluster.patch(
        "deployments.apps", "flagd", {"spec": {"template": {"spec": spec}}}, namespace=shop.NS
    )
    world.advance(30.0)
    name = shop.pod(world, "flagd")
    text = world.cluster.logs(shop.NS, name)
    assert (
        "unable to read file etc/flagd/other.json: open etc/flagd/other.json: no such file or directory"
        in text
    )
    assert world.cluster.get("pods", name, shop.NS)["status"]["containerStatuses"][0]["restartCount"]


@pytest.mark.parametrize(
    ("path", "status", "part"),
    [
        ("/_cluster/health", 200, {"status": "green", "number_of_nodes": 1}),
        ("/otel-logs-2026-08-06/_search", 404, {"status": 404}),
        ("/otel-*/_search", 200, {"timed_out": False}),
        ("/", 200, {"tagline": "The OpenSearch Project: https://opensearch.org/"}),
    ],
)
def test_opensearch(world: EmbeddedWorld, path: str, status: int, part: dict[str, Any]) -> None:
    told, body = get(world, "opensearch", path, 9200)
    assert told == status
    assert {name: body.get(name) for name in part} == part


def test_opensearch_takes_its_heap_from_the_environment(world: EmbeddedWorld) -> None:
    container = {"name": "opensearch", "resources": {"limits": {"memory": "600Mi"}}}
    spec = {"containers": [container]}
    world.cluster.patch(
        "deployments.apps", "opensearch", {"spec": {"template": {"spec": spec}}}, namespace=shop.NS
    )
    world.advance(60.0)
    status = world.cluster.get("pods", shop.pod(world, "opensearch"), shop.NS)["status"]["containerStatuses"][
        0
    ]
    assert (status.get("lastState") or status["state"])["terminated"]["reason"] == "OOMKilled"
