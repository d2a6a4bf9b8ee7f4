from __future__ import annotations

from typing import Any

import pytest

from sregym_env.cluster.disturbances import PodFreeze
from sregym_env.kube.status import StatusError
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.machines import kubelet
from sregym_env.sim.monitoring import metrics
from sregym_env.sim.users import plane, traffic
from sregym_env.sim.users.traffic import SimTraffic
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.program import Call
from tests.sim.dataplane import FakeLoad, FakeProgram, application, expose, pod, put, service, web_world

RATE = 100.0


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    made: dict[str, Any] = {
        "echo": FakeProgram("echo", latency=0.01),
        "coredns": FakeProgram("coredns"),
        "front": FakeProgram("front", calls=(("web", 8080, 1.0),), log="{time} ERR failed"),
        "fragile": FakeProgram("fragile", crash=0.01),
        "load": FakeLoad("load", offered=(("read", RATE, "front.app.svc.cluster.local", 80, Call("GET /")),)),
    }
    monkeypatch.setattr(SimWorld, "programs", made)
    return made


def loaded_world(program: str = "front") -> Any:
    world, _, _ = web_world()
    world.app = application()
    pod(world, "app", "front-1", "10.244.1.9", "w1", program=program)
    service(world, "app", "front", "10.96.1.2", 80, 80)
    expose(world, "app", "front", ["front-1"], 80)
    pod(world, "app", "load", "10.244.1.8", "w1", program="load", ports=())
    world.advance(2.0)
    return world


def health(world: Any, window: float) -> Any:
    (found,) = SimTraffic(world).health(window)
    return found


def test_health_of_a_steady_state_is_exact_and_free() -> None:
    world = loaded_world()
    world.advance(100.0)
    assert len(world.queue) == 0
    found = health(world, 60.0)
    assert found.requests == pytest.approx(60 * RATE)
    assert found.success_ratio == 1.0
    assert found.latency_seconds == pytest.approx(0.0002 + 0.001 + 0.0106)
    assert [(c.component, c.rate) for c in SimTraffic(world).components(60.0)] == [
        ("front-1", pytest.approx(RATE)),
        ("web-1", pytest.approx(RATE)),
    ]


def test_health_averages_over_time() -> None:
    world = loaded_world()
    world.advance(98.0)
    expose(world, "app", "web", ["web-1"], 9999)
    world.advance(31.0)
    found = health(world, 60.0)
    assert found.success_ratio == pytest.approx(0.5)
    (text,) = found.errors
    assert "connection refused" in text
    assert found.errors[text] == pytest.approx(0.5)
    assert health(world, 20.0).success_ratio == 0.0


def test_failing_requests_write_lines_while_they_fail() -> None:
    world = loaded_world()
    key = ("uid-front-1", "main", 0)
    expose(world, "app", "web", ["web-1"], 9999)
    world.advance(11.0)
    expose(world, "app", "web", ["web-1"], 80)
    world.advance(30.0)
    lines = world.logs[key].read(world.clock)
    assert 900 <= len(lines) <= 1100
    assert max(line.time for line in lines) <= world.clock - 29 * SECOND


def test_requests_that_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[Any] = []

    def exited(world: Any, key: Any, code: int, reason: str = "", *, restart: int | None = None) -> None:
        ended.append((key, code, restart))
        world.drop_process(key)

    monkeypatch.setattr(kubelet, "exited", exited)
    world = loaded_world("fragile")
    world.advance(60.0)
    assert ended == [(("uid-front-1", "main"), 2, 0)]
    assert [line.text for line in world.logs[("uid-front-1", "main", 0)].read(world.clock)] == ["panic: boom"]


def test_history_is_forked() -> None:
    world = loaded_world()
    copy = world.fork()
    expose(copy, "app", "web", ["web-1"], 9999)
    copy.advance(10.0)
    world.advance(10.0)
    assert health(copy, 5.0).success_ratio == 0.0
    assert health(world, 5.0).success_ratio == 1.0


def test_without_generator_there_is_no_traffic() -> None:
    world = loaded_world()
    world.drop_process(("uid-load", "main"))
    world.advance(61.0)
    assert health(world, 30.0).requests == 0.0


def test_a_frozen_generator_offers_nothing() -> None:
    world = loaded_world()
    world.disturbances = (PodFreeze("app", "load"),)
    world.touch()
    world.advance(61.0)
    assert health(world, 30.0).requests == 0.0


def test_little_cpu_slows_and_sheds(programs: dict[str, Any]) -> None:
    world = loaded_world()
    calm = health(world, 1.0).latency_seconds
    programs["echo"].cpu_per_request = 0.008
    world.change_process(("uid-web-1", "main"), cpu_limit=1.0)
    world.advance(5.0)
    busy = health(world, 1.0)
    assert busy.success_ratio == 1.0
    assert busy.latency_seconds > calm + 0.005
    world.change_process(("uid-web-1", "main"), cpu_limit=0.4)
    world.advance(5.0)
    assert health(world, 1.0).success_ratio > 0.9
    world.advance(30.0)
    # Half of what comes gets done, and none of it within the second for which anybody waits: the queue only grows.
    assert health(world, 1.0).success_ratio < 0.01
    (load,) = [load for load in traffic.history(world).last().loads if load.process[0] == "uid-web-1"]
    assert load.throttled > 0.99
    assert dict(load.rates)["op"] == pytest.approx(0.4 / 0.008, rel=0.02)
    assert load.memory > 20e6
    world.change_process(("uid-web-1", "main"), cpu_limit=None)
    world.advance(20.0)
    assert health(world, 1.0).success_ratio < 0.1, (
        "what waits is worked off first, though nobody wants it any more"
    )
    world.advance(400.0)
    programs["echo"].cpu_per_request = 0.0001
    world.change_process(("uid-web-1", "main"), cpu_limit=8.0)
    world.advance(400.0)
    assert health(world, 1.0).latency_seconds == pytest.approx(calm, rel=0.01)
    assert plane.PLANE not in world.memory, "at rest again"


def test_endpoint_probes() -> None:
    world = loaded_world()
    assert traffic.history(world).last().probes == (("app", "web", 8080, True),)
    world.store.remove("services", "app", "web")
    world.advance(2.0)
    assert traffic.history(world).last().probes == (("app", "web", 8080, False),)


def test_pod_metrics_lag_and_follow_the_load() -> None:
    world = loaded_world()
    assert metrics.pod_usage(world, world.store.get("pods", "app", "load")) is not None
    world.advance(60.0)
    usage = metrics.pod_usage(world, world.store.get("pods", "app", "web-1"))
    assert usage is not None
    assert usage.cpu == pytest.approx(0.011, rel=0.1)
    assert 15 * SECOND <= world.clock - usage.timestamp <= 30 * SECOND
    listed = {item["metadata"]["name"]: item for item in metrics.pod_metrics(world)}
    assert listed["web-1"]["containers"][0]["usage"]["memory"].endswith("Ki")
    assert [node["metadata"]["name"] for node in metrics.node_metrics(world)] == ["cp", "w1", "w2"]


def test_no_metrics_without_metrics_server() -> None:
    world = loaded_world()
    world.advance(60.0)
    expose(world, "kube-system", "metrics-server", ["metrics"], 10250, ready=False)
    assert metrics.pod_usage(world, world.store.get("pods", "app", "web-1")) is None
    with pytest.raises(StatusError) as error:
        metrics.pod_metrics(world)
    assert (error.value.code, error.value.reason) == (503, "ServiceUnavailable")


def test_new_pods_have_no_metrics_yet() -> None:
    world = loaded_world()
    world.change_process(("uid-web-1", "main"), started_at=world.clock)
    assert metrics.pod_usage(world, world.store.get("pods", "app", "web-1")) is None
    world.advance(45.0)
    assert metrics.pod_usage(world, world.store.get("pods", "app", "web-1")) is not None


def test_workload_of_a_pod() -> None:
    from sregym_env.sim.users.components import workload_of

    world = loaded_world()
    owner = {"kind": "Deployment", "name": "web", "controller": True, "uid": "d"}
    put(
        world,
        "replicasets.apps",
        {"metadata": {"name": "web-abc", "namespace": "app", "ownerReferences": [owner]}},
    )
    by_set = {"kind": "ReplicaSet", "name": "web-abc", "controller": True, "uid": "r"}
    metadata = {"name": "web-abc-x", "namespace": "app", "ownerReferences": [by_set]}
    assert workload_of(world, {"metadata": metadata}) == ("Deployment", "web")
    gone = {
        **metadata,
        "labels": {"pod-template-hash": "zzz"},
        "ownerReferences": [{**by_set, "name": "api-zzz"}],
    }
    assert workload_of(world, {"metadata": gone}) == ("Deployment", "api")
