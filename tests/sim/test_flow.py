from __future__ import annotations

from typing import Any, Literal

import pytest

from sregym_env.cluster.disturbances import LinkDelay, LinkLoss, PodFreeze
from sregym_env.sim.machines.kubelet import runtime
from sregym_env.sim.processes import exchange
from sregym_env.sim.processes.context import evaluation
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.logs import RequestLine
from sregym_env.sim.world.program import Again, Call, Failure, Flow, HttpRequest
from sregym_env.sim.world.strain import STRAINS, Served, Strain
from tests.sim.dataplane import FakeProgram, expose, pod, service, web_world

CALL = Call("get")
PROGRAMS = {
    "echo": FakeProgram("echo", latency=0.01),
    "coredns": FakeProgram("coredns"),
    "front": FakeProgram("front", calls=(("web", 8080, 1.0), ("web", 8080, 0.5)), log="{time} ERR failed"),
    "loop": FakeProgram("loop", calls=(("self", 80, 1.0),)),
    "fragile": FakeProgram("fragile", crash=0.25),
}


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimWorld, "programs", PROGRAMS)


def with_front(program: str = "front") -> tuple[Any, Any]:
    world, client, _ = web_world()
    pod(world, "app", "front-1", "10.244.1.9", "w1", program=program)
    service(world, "app", "front", "10.96.1.2", 80, 80)
    expose(world, "app", "front", ["front-1"], 80)
    return world, client


def test_latency_adds_up_along_the_path() -> None:
    world, client, _ = web_world()
    flow = evaluation(world).call(client, "web", 8080, CALL)
    assert flow == Flow(1.0, pytest.approx(0.0106))
    world, client = with_front()
    flow = evaluation(world).call(client, "front", 80, CALL)
    assert flow.latency == pytest.approx(0.0002 + 0.001 + 1.5 * 0.0106)


def test_each_kind_of_call_is_served_once_and_rates_go_down() -> None:
    world, client = with_front()
    looked = evaluation(world)
    looked.call(client, "front", 80, CALL, rate=10.0)
    looked.call(client, "front", 80, CALL, rate=6.0)
    looked.send_rates()
    rates = {visit.process.pod: visit.rate for visit in looked.visits.values()}
    assert rates == {"web-1": pytest.approx(24.0), "front-1": 16.0}


def test_rates_follow_the_legs() -> None:
    world, client = with_front()
    pod(world, "app", "web-2", "10.244.1.6", "w1")
    expose(world, "app", "web", ["web-1", "web-2"], 80)
    looked = evaluation(world)
    looked.call(client, "front", 80, CALL, rate=8.0)
    looked.send_rates()
    rates = {visit.process.pod: visit.rate for visit in looked.visits.values()}
    assert rates["web-1"] == rates["web-2"] == pytest.approx(6.0)


def test_failures_carry_shares_and_texts() -> None:
    world, client = with_front()
    pod(world, "app", "web-2", "10.244.1.6", "w1", ports=(81,))
    expose(world, "app", "web", ["web-1", "web-2"], 80)
    flow = evaluation(world).call(client, "web", 8080, CALL)
    refused = Failure("refused", "dial tcp 10.96.1.1:8080: connect: connection refused")
    assert flow.ok == 0.5
    assert flow.failures == ((refused, 0.5),)


def test_notes_belong_to_the_request_being_served() -> None:
    world, client = with_front("fragile")
    looked = evaluation(world)
    looked.call(client, "front", 80, CALL, rate=4.0)
    visit = next(iter(looked.visits.values()))
    assert visit.crashes == [(0.25, "panic: boom", 2)]
    world, client = with_front()
    expose(world, "app", "web", ["web-1"], 80, ready=False)
    looked = evaluation(world)
    looked.call(client, "front", 80, CALL, rate=4.0)
    assert list(looked.visits.values())[-1].logs == {
        "{time} ERR failed": RequestLine("{time} ERR failed", 0.0, 1.0)
    }


def test_recursion_ends() -> None:
    world, client = with_front("loop")
    service(world, "app", "self", "10.96.1.3", 80, 80)
    expose(world, "app", "self", ["front-1"], 80)
    looked = evaluation(world)
    looked.call(client, "front", 80, Call("op"), rate=1.0)
    looked.send_rates()
    assert [visit.rate for visit in looked.visits.values()] == [1.0]


@pytest.mark.parametrize(
    ("disturbance", "timeout", "ok", "latency"),
    [
        (LinkDelay("app", "web-1", 0.5, 0.2), 0.0, 1.0, 0.5106),
        (LinkDelay("app", "web-1", 0.5, 0.2), 0.1, 0.0, 0.1),
        (LinkDelay("app", "client", 0.5, 0.0), 1.0, 1.0, 0.5106),
        (LinkLoss("app", "web-1", 0.5), 1.0, 0.875, None),
        (PodFreeze("app", "web-1"), 2.0, 0.0, 2.0),
        (PodFreeze("app", "client"), 2.0, 1.0, 0.0106),
    ],
)
def test_disturbances(disturbance: Any, timeout: float, ok: float, latency: float | None) -> None:
    world, client, _ = web_world()
    world.disturbances = (disturbance,)
    world.touch()
    flow = evaluation(world).call(client, "web", 8080, CALL, timeout=timeout)
    assert flow.ok == pytest.approx(ok)
    assert flow.ok + sum(share for _, share in flow.failures) == pytest.approx(1.0)
    if latency is not None:
        assert flow.latency == pytest.approx(latency)


def strained(world: SimWorld, key: Any, **more: Any) -> None:
    plain = Strain(0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0, 0.0, {})
    world.memory[STRAINS] = {key: plain._replace(**more)}
    world.stirred()


def test_who_finds_the_queue_full_is_turned_away() -> None:
    world, client, server = web_world()
    strained(world, server.key, turned=0.4)
    flow = evaluation(world).call(client, "web", 8080, CALL)
    assert flow.ok == pytest.approx(0.6)
    assert flow.failures == ((Failure("overload", "context deadline exceeded"), pytest.approx(0.4)),)
    assert evaluation(world, strained=False).call(client, "web", 8080, CALL).ok == 1.0


def test_waiting_for_a_server_takes_time_and_patience() -> None:
    world, client, server = web_world()
    strained(world, server.key, waits=0.5, wait=2.0, wait_variation=1.0)
    flow = evaluation(world).call(client, "web", 8080, CALL)
    assert flow.latency == pytest.approx(1.0106, rel=0.01)
    hasty = evaluation(world).call(client, "web", 8080, CALL, timeout=1.0)
    assert 0.2 < 1.0 - hasty.ok < 0.5
    assert hasty.failures[0][0].kind == "timeout"


@pytest.mark.parametrize("kind", ["http", "grpc"])
def test_a_probe_that_is_as_good_as_never_late_is_left_to_no_chance(kind: Literal["http", "grpc"]) -> None:
    world, client, server = web_world()

    def ask(wait: float) -> tuple[bool, bool]:
        strained(world, server.key, waits=0.5, wait=wait, wait_variation=1.0)
        answer, reads, chanced = runtime.noted(
            world, lambda: runtime.probe(world, "w1", server.ip, 80, kind, timeout=1.0)
        )
        assert bool(reads) != chanced
        return answer[0], chanced

    assert ask(0.02) == (True, False)
    assert ask(0.2)[1]
    # What a person sees of such an answer is the time that it took, and differs from one to the next.
    strained(world, server.key, waits=0.5, wait=0.02, wait_variation=1.0)
    times = {
        exchange.http_get(world, client, "web", 8080, HttpRequest("GET", "/")).total_seconds for _ in range(8)
    }
    assert len(times) > 2


def test_a_known_law_says_how_long_it_takes_and_what_gets_done() -> None:
    world, client, server = web_world()
    strained(world, server.key, operations={(CALL, 80): Served(3.0, 0.01, 7.0)})
    walk = evaluation(world)
    assert walk.call(client, "web", 8080, CALL, timeout=1.0).ok < 1e-3
    assert walk.call(client, "web", 8080, CALL, rate=50.0).latency == pytest.approx(3.0006)
    walk.send_rates()
    (visit,) = walk.visits.values()
    assert visit.rate == 7.0


def test_calls_are_tried_again_until_they_succeed_or_patience_ends() -> None:
    world, client, _ = web_world()
    world.disturbances = (LinkLoss("app", "web-1", 0.5),)
    world.touch()
    once = evaluation(world).call(client, "web", 8080, CALL, timeout=0.1)
    walk = evaluation(world)
    flow = walk.call(client, "web", 8080, CALL, timeout=0.1, again=Again(2, 0.05, 2.0))
    lost = 1.0 - once.ok
    assert flow.ok == pytest.approx(1.0 - lost**3)
    assert sum(share for _, share in flow.failures) == pytest.approx(lost**3)
    assert flow.latency == pytest.approx(once.latency * (1 + lost + lost**2) + lost * 0.05 + lost**2 * 0.1)
