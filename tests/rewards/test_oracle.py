"""The oracle on a small fake world: right repairs pass, hacks and half repairs do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sregym_env.cluster.health import ComponentHealth, JourneyHealth
from sregym_env.faults.fault import Finding
from sregym_env.faults.traces import Reach
from sregym_env.kube.status import not_found
from sregym_env.rewards.baseline import capture
from sregym_env.rewards.checks import nodes
from sregym_env.rewards.oracle import Patience, judge_state
from sregym_env.rewards.verdict import Verdict
from tests.rewards.hotel_specs import APP, NAMESPACE


def deployment(name: str, replicas: int = 1) -> dict[str, Any]:
    """A rolled-out Deployment with a limit and a probe."""
    container = {
        "name": name,
        "resources": {"limits": {"cpu": "1"}},
        "readinessProbe": {"tcpSocket": {"port": 1}},
    }
    return {
        "metadata": {"name": name, "namespace": NAMESPACE, "generation": 1},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [container]}}},
        "status": {"observedGeneration": 1, "availableReplicas": replicas, "updatedReplicas": replicas},
    }


def pod(name: str, restarts: int = 0) -> dict[str, Any]:
    """A running pod of a ReplicaSet."""
    status = {"name": name, "restartCount": restarts, "state": {"running": {}}}
    owner = {"kind": "ReplicaSet", "name": name}
    return {
        "metadata": {"name": name, "namespace": NAMESPACE, "ownerReferences": [owner]},
        "status": {"containerStatuses": [status]},
    }


class RealWorld:
    """Just enough of a world: tables of objects, and users served as long as ``served`` says so."""

    def __init__(self) -> None:
        self.app = APP
        self.clock = 0.0
        self.served = 1.0
        self.offered = 100.0
        self.after_recreation = 1.0
        self.crashing = False
        self.tables: dict[str, dict[str, Any]] = {
            "nodes": {"n1": node("n1")},
            "services": {"geo": {"metadata": {"name": "geo", "namespace": NAMESPACE}}},
            "deployments.apps": {"geo": deployment("geo"), "rate": deployment("rate")},
            "pods": {"geo-1": pod("geo-1")},
            "endpointslices.discovery.k8s.io": {"geo-x": slice_("geo")},
        }

    @property
    def cluster(self) -> RealWorld:
        return self

    @property
    def traffic(self) -> RealWorld:
        return self

    def now(self) -> int:
        return round(self.clock * 1e6)

    def advance(self, seconds: float) -> None:
        self.clock += seconds
        if self.crashing:
            self.tables["pods"] = {"geo-1": pod("geo-1", round(self.clock))}

    def components(self, window: float) -> list[ComponentHealth]:
        return []

    def health(self, window: float) -> list[JourneyHealth]:
        return [
            JourneyHealth(journey.name, self.offered * journey.weight * window, self.served, 0.1, {})
            for journey in APP.journeys
        ]

    def list(self, resource: str, namespace: str | None = None) -> list[Any]:
        if namespace not in (None, NAMESPACE):
            return []
        return list(self.tables.get(resource, {}).values())

    def get(self, resource: str, name: str, namespace: str | None = None) -> Any:
        try:
            return self.tables[resource][name]
        except KeyError:
            raise not_found(resource, name) from None

    def delete(self, resource: str, name: str, namespace: str | None = None) -> None:
        self.served = min(self.served, self.after_recreation)


class FakeWorld(RealWorld):
    """The same as a value."""

    def fork(self) -> FakeWorld:
        copy = FakeWorld()
        copy.__dict__.update(self.__dict__)
        copy.tables = {resource: dict(table) for resource, table in self.tables.items()}
        return copy

    def trial(self) -> FakeWorld:
        return self.fork()

    def reseed(self, seed: int) -> None:
        raise NotImplementedError

    def digest(self) -> str:
        raise NotImplementedError

    def schedule(self, delay_seconds: float, action: Any) -> None:
        raise NotImplementedError


def node(name: str, **spec: Any) -> dict[str, Any]:
    """A ready node."""
    return {
        "metadata": {"name": name},
        "spec": spec,
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }


def slice_(service: str, ready: bool = True) -> dict[str, Any]:
    """An EndpointSlice with one endpoint."""
    return {
        "metadata": {"name": service, "labels": {"kubernetes.io/service-name": service}},
        "endpoints": [{"conditions": {"ready": ready}}],
    }


NOWHERE = Reach(frozenset(), frozenset(), frozenset(), False, ())


class Plain:
    """A fault with nothing to add."""

    wrongs = ()
    reach = NOWHERE

    def cured(self, world: Any) -> list[Finding]:
        return []

    transient = False

    def replay(self, world: Any) -> None:
        return None

    def accepts(self) -> list[Any]:
        return []


def verdict(change: Callable[[FakeWorld], None], cause: Any = None) -> Verdict:
    """Judge a world that was healthy and then changed."""
    world = FakeWorld()
    baseline = capture(world)  # type: ignore[arg-type]
    change(world)
    causes = [cause or Plain()]
    return judge_state(world, baseline, causes, Patience(30, 30))  # type: ignore[arg-type]


def put(world: FakeWorld, resource: str, name: str, obj: Any) -> None:
    """Replace or, with None, remove an object."""
    if obj is None:
        del world.tables[resource][name]
    else:
        world.tables[resource][name] = obj


def without_probe() -> dict[str, Any]:
    """The geo Deployment with its probe taken away."""
    changed = deployment("geo")
    del changed["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]
    return changed


def test_a_healthy_world_passes() -> None:
    result = verdict(lambda world: None)
    assert result.passed, result.failed
    assert result.score == 1.0


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("journeys", lambda w: setattr(w, "served", 0.9)),
        ("journeys", lambda w: setattr(w, "offered", 0.0)),
        ("journeys", lambda w: setattr(w, "offered", 30.0)),
        ("inventory", lambda w: put(w, "services", "geo", None)),
        ("inventory", lambda w: put(w, "deployments.apps", "geo", None)),
        ("replicas", lambda w: put(w, "deployments.apps", "geo", deployment("geo", 0))),
        ("policy", lambda w: put(w, "deployments.apps", "geo", without_probe())),
        ("available", lambda w: put(w, "deployments.apps", "geo", deployment("geo") | {"status": {}})),
        ("endpoints", lambda w: put(w, "endpointslices.discovery.k8s.io", "geo-x", slice_("geo", False))),
        ("nodes", lambda w: put(w, "nodes", "n1", node("n1", unschedulable=True))),
        ("durability", lambda w: setattr(w, "after_recreation", 0.5)),
        ("durability", lambda w: setattr(w, "crashing", True)),
    ],
)
def test_every_shortcoming_is_named(name: str, change: Callable[[FakeWorld], None]) -> None:
    result = verdict(change)
    assert not result.passed
    assert name in {check.name for check in result.failed}
    assert 0.0 <= result.score < 1.0


TAINTED = {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}


@pytest.mark.parametrize(
    ("before", "now", "opened"),
    [
        ({"unschedulable": True}, {}, True),
        ({"unschedulable": True}, {"unschedulable": True}, False),
        # Closed by other means it is closed all the same.
        ({"unschedulable": True}, TAINTED, False),
        (TAINTED, {}, True),
        ({}, {}, False),
    ],
)
@pytest.mark.parametrize("accepted", [(), (("nodes", "", "n1"),)], ids=["innocent", "of the fault"])
def test_a_node_that_somebody_closed_stays_closed(before: Any, now: Any, opened: bool, accepted: Any) -> None:
    world = FakeWorld()
    put(world, "nodes", "n1", node("n1", **before))
    baseline = capture(world)  # type: ignore[arg-type]
    put(world, "nodes", "n1", node("n1", **now))
    found = nodes(world, baseline, accepted)  # type: ignore[arg-type]
    assert ("takes pods that it kept off" in found.observed) == opened


def test_what_a_fault_accepts_is_no_loss() -> None:
    class Cordons(Plain):
        def accepts(self) -> list[Any]:
            return [("nodes", "", "n1")]

    change = lambda w: put(w, "nodes", "n1", node("n1", unschedulable=True))  # noqa: E731
    assert verdict(change, Cordons()).passed


def test_a_fault_may_ask_for_more() -> None:
    class Strict(Plain):
        def cured(self, world: Any) -> list[Finding]:
            return [Finding("config", False, "still there", "gone")]

    result = verdict(lambda world: None, Strict())
    assert [check.name for check in result.failed] == ["cause: config", "durability"]


def test_a_world_that_cannot_be_copied_is_judged_itself() -> None:
    world = RealWorld()
    baseline = capture(world)  # type: ignore[arg-type]
    world.after_recreation = 0.5
    result = judge_state(world, baseline, [Plain()], Patience(30, 30))  # type: ignore[arg-type]
    assert [check.name for check in result.failed] == ["cause", "durability"]
    assert world.clock > 0.0
    assert world.served == 0.5, "its own pods were recreated"


def test_the_judged_world_is_not_touched() -> None:
    world = FakeWorld()
    baseline = capture(world)  # type: ignore[arg-type]
    judge_state(world, baseline, [Plain()])  # type: ignore[arg-type]
    assert world.clock == 0.0
