"""Answers of the network that outlive a change of the world are those that would be found anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

from sregym_env.apps import app
from sregym_env.cluster.disturbances import LinkLoss, MachineLinkLoss, PodFreeze
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.network import addressing, connections
from sregym_env.sim.network.addressing import (
    NodeSource,
    Reads,
    Standing,
    inquiring,
    learned,
    note,
    present,
    still,
)
from sregym_env.sim.network.connections import Connection, connect
from sregym_env.sim.users import traffic
from sregym_env.sim.world.strain import FULL, LACKING, Lack
from sregym_env.worlds.lived import base_world

V = TypeVar("V")

HOTEL = app("hotel-reservation")
NAMESPACE = HOTEL.namespace


def asked(world: EmbeddedWorld) -> dict[tuple[str, ...], object]:
    """Where everybody's connections to every component lead."""
    ends = [(each.name, each.port) for each in HOTEL.components if each.port]
    clients = [process for process in world.processes.values() if process.namespace == NAMESPACE]
    found: dict[tuple[str, ...], object] = {}
    for name, port in ends:
        host = f"{name}.{NAMESPACE}.svc.cluster.local"
        found["node", name] = connect(world, NodeSource("", cluster_dns=True), host, port)
        for client in clients:
            found[client.pod, client.container, name] = connect(world, client, host, port)
    return found


def users(world: EmbeddedWorld) -> object:
    """What becomes of what the users want."""
    calm = learned(world, "traffic", lambda: traffic._unstrained(world))
    strained = learned(
        world, "strained traffic", lambda: traffic._outcome(world, traffic._walk(world, strained=True))
    )
    return calm, strained


def changes(world: EmbeddedWorld, chance: Chance) -> None:
    """One of many things that happen to a cluster."""
    cluster = world.cluster
    name = chance.choice(
        "component", [each.name for each in HOTEL.components if each.workload == "deployments.apps"]
    )
    pods = [pod for pod in cluster.list("pods", NAMESPACE) if pod["metadata"]["name"].startswith(name + "-")]
    pod = pods[0]["metadata"]["name"] if pods else ""
    kind = chance.choice("kind", KINDS)
    if kind == "restart" and pod:
        cluster.delete("pods", pod, NAMESPACE)
    elif kind == "scale":
        replicas = chance.between("replicas", 0, 2)
        cluster.patch(
            "deployments.apps", name, {"spec": {"replicas": replicas}}, namespace=NAMESPACE, type="merge"
        )
    elif kind == "labels" and pod:
        labels = {"metadata": {"labels": {"io.kompose.service": "moved"}}}
        cluster.patch("pods", pod, labels, namespace=NAMESPACE, type="merge")
    elif kind == "port":
        ports = {"spec": {"ports": [{"port": 9, "targetPort": 9}]}}
        cluster.patch("services", name, ports, namespace=NAMESPACE, type="merge")
    elif kind == "mark":
        marks = {"metadata": {"labels": {"release": f"{chance.below('release', 100)}"}}}
        cluster.patch("services", name, marks, namespace=NAMESPACE, type="merge")
    elif kind == "policy":
        metadata = {"name": f"deny-{chance.below('suffix', 10**6)}", "namespace": NAMESPACE}
        spec = {"podSelector": {"matchLabels": {"io.kompose.service": name}}, "policyTypes": ["Ingress"]}
        policy = {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": metadata,
            "spec": spec,
        }
        cluster.create(policy, namespace=NAMESPACE)
    elif kind == "dns":
        for server in cluster.list("pods", "kube-system", label_selector="k8s-app=kube-dns"):
            cluster.delete("pods", server["metadata"]["name"], "kube-system")
    elif kind == "freeze" and pod:
        world.nodes.apply(PodFreeze(NAMESPACE, pod))
    elif kind == "loss" and pod:
        world.nodes.apply(LinkLoss(NAMESPACE, pod, 0.2))
    elif kind == "heal":
        for disturbance in world.disturbances:
            world.nodes.heal(disturbance)


KINDS = ("restart", "scale", "labels", "port", "mark", "policy", "dns", "freeze", "loss", "heal")


@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(3, 6))]
)
@pytest.mark.parametrize("remembered", [addressing.REMEMBERED, 40])
def test_whatever_happens_answers_that_last_are_right(
    seed: int, remembered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addressing, "REMEMBERED", remembered)
    world = base_world(HOTEL, seed)
    chance = Chance(("lasting", seed))
    asked(world)
    for step in range(12):
        changes(world, chance.at(step))
        for seconds in (0.0, 0.5, 20.0):
            world.advance(seconds)
            anew = world.fork()
            anew.view = None
            assert asked(world) == asked(anew), (step, seconds)
            assert users(world) == users(anew), (step, seconds)


@pytest.mark.parametrize("seed", range(2))
def test_what_is_looked_at_together_holds_as_it_does_alone(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spared: list[bool] = []
    alone = addressing.holds

    class Compared(Standing):
        def holds(self, reads: Reads) -> bool:
            with monkeypatch.context() as patched:
                asked: list[object] = []
                patched.setattr(
                    addressing, "holds", lambda world, each: asked.append(each) or alone(world, each)
                )
                found = super().holds(reads)
            assert found == alone(self._world, reads)
            spared.append(not asked)
            return found

        def doubted(self, owners: Iterable[V]) -> list[V]:
            every = list(owners)
            found = super().doubted(every)
            for owner in every:
                if all(owner is not each for each in found):
                    for _, part in self._held[id(owner)].parts:
                        assert alone(self._world, part.thing)  # type: ignore[arg-type]
                        spared.append(True)
            return found

    monkeypatch.setattr(addressing, "Standing", Compared)
    world = base_world(HOTEL, seed).fork()
    for number in range(12):
        changes(world, Chance(("looks", seed, number)))
        world.advance(20.0)
    assert sum(spared) > len(spared) / 2


def test_most_answers_outlive_the_restart_of_one_pod() -> None:
    world = base_world(HOTEL, 0)
    before = asked(world)
    changes(world, _that("restart"))
    world.advance(0.05)
    view = present(world)
    asked(world)
    kept = [key for key, known in view.cache.items() if view.before.get(key) is known]
    assert len(kept) > 0.8 * len(before)


def _marked(world: EmbeddedWorld) -> None:
    changes(world, _that("mark"))


def _noted(world: EmbeddedWorld) -> None:
    """A condition of a pod that no connection asks for."""
    pod = world.cluster.list("pods", NAMESPACE)[0]
    conditions = {"status": {"conditions": [{"type": "example.com/seen", "status": "True"}]}}
    world.cluster.patch(
        "pods",
        pod["metadata"]["name"],
        conditions,
        namespace=NAMESPACE,
        type="strategic",
        subresource="status",
    )


@pytest.mark.parametrize("happens", [_marked, _noted])
def test_what_no_connection_asks_for_forgets_no_answer(happens: Callable[[EmbeddedWorld], None]) -> None:
    world = base_world(HOTEL, 0)
    asked(world)
    before, epoch = dict(present(world).cache), world.epoch
    happens(world)
    view = present(world)
    assert world.epoch > epoch and view.epoch == world.epoch
    assert all(view.cache[key] is known for key, known in before.items())


def test_of_a_change_only_what_it_concerns_is_read_anew() -> None:
    world = base_world(HOTEL, 0)
    asked(world)
    seen = dict(present(world).seen)
    kept = world.fork()
    process = next(each for each in world.processes.values() if each.namespace == NAMESPACE)
    world.change_process(process.key, listening=frozenset())
    now = present(world).seen
    assert {what for what in seen if what not in now} <= {
        ("processes", process.key[0]), ("process", process.key), ("offering", None), ("machine", process.node)
    }  # fmt: skip
    assert present(kept).seen == seen


def _that(kind: str) -> Chance:
    return next(found for number in range(1000) if (found := Chance((number,))).choice("kind", KINDS) == kind)


def test_what_chance_or_the_clock_has_a_part_in_is_found_anew() -> None:
    world = base_world(HOTEL, 0)
    process = next(iter(world.processes.values()))
    found: list[int] = []

    def find() -> int:
        assert world.inquiry is not None
        world.inquiry.fleeting = True
        found.append(1)
        return len(found)

    assert [learned(world, "clock", find), learned(world, "clock", find)] == [1, 2]
    with inquiring(world) as outer:
        learned(world, "clock", find)
        note(world, "process", process.key)
    assert outer.fleeting
    assert [*outer.reads] == [("ground", None), ("process", process.key)]
    assert outer.reads["process", process.key] == (("process", process.key), process)
    assert world.inquiry is None


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Where connections lead that are found out anew."""
    found: list[tuple[str, int]] = []
    find = connections._connect

    def counted(world: Any, source: Any, host: str, port: int, protocol: str) -> Connection:
        found.append((host, port))
        return find(world, source, host, port, protocol)

    monkeypatch.setattr(connections, "_connect", counted)
    return found


def test_what_was_known_is_known_again_when_a_disturbance_has_gone(found: list[tuple[str, int]]) -> None:
    world = base_world(HOTEL, 0).fork()
    before = asked(world)
    restarted = _a_pod(world, "geo")
    lossy = MachineLinkLoss(restarted["spec"]["nodeName"], 0.2)
    world.nodes.apply(lossy)
    assert asked(world) != before
    world.nodes.heal(lossy)
    found.clear()
    assert asked(world) == before
    assert not found
    world.nodes.apply(lossy)
    asked(world)
    world.cluster.delete("pods", restarted["metadata"]["name"], NAMESPACE)
    world.advance(60.0)
    world.nodes.heal(lossy)
    anew = world.fork()
    anew.view = None
    assert asked(world) == asked(anew) != before, "what has changed meanwhile is not"


def test_what_strikes_one_pod_is_of_no_matter_to_the_others(found: list[tuple[str, int]]) -> None:
    world = base_world(HOTEL, 0).fork()
    before = asked(world)
    frozen = PodFreeze(NAMESPACE, _a_pod(world, "rate")["metadata"]["name"])
    for strike in (world.nodes.apply, world.nodes.heal):
        found.clear()
        strike(frozen)
        asked(world)
        # Its own connections lead where the others do, over an interface of its own.
        assert 0 < len(found) < len(before) / 5
    assert asked(world) == before


def _a_pod(world: EmbeddedWorld, component: str) -> Manifest:
    return next(
        pod
        for pod in world.cluster.list("pods", NAMESPACE)
        if pod["metadata"]["name"].startswith(f"{component}-")
    )


def test_a_script_that_waits_for_an_address_sees_that_it_is_let_through() -> None:
    world = base_world(HOTEL, 1).fork()  # its network plugin heeds policies
    geo = _a_pod(world, "geo")
    address, port = geo["status"]["podIP"], geo["spec"]["containers"][0]["ports"][0]["containerPort"]
    waits = f"until nc -z -w 1 {address} {port}; do echo waiting; sleep 5; done; echo through"
    pod = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "waits", "namespace": NAMESPACE},
        "spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", waits]}],
        },
    }  # fmt: skip
    policy = {
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": {"name": "nobody", "namespace": NAMESPACE},
        "spec": {"podSelector": {"matchLabels": geo["metadata"]["labels"]}, "policyTypes": ["Ingress"]},
    }  # fmt: skip
    world.cluster.create(policy, namespace=NAMESPACE)
    world.cluster.create(pod, namespace=NAMESPACE)
    world.advance(120.0)
    assert world.cluster.get("pods", "waits", NAMESPACE)["status"]["phase"] == "Running"
    world.cluster.delete("networkpolicies.networking.k8s.io", "nobody", NAMESPACE)
    world.advance(20.0)
    assert world.cluster.get("pods", "waits", NAMESPACE)["status"]["phase"] == "Succeeded"


@pytest.mark.parametrize(
    ("what", "slot", "found"),
    [
        ("full", FULL, {("uid", "geo"): 1.0}),
        ("lacking", LACKING, {("uid", "10.0.0.1", 80): Lack(1.0, 1.0)}),
    ],
)
def test_who_runs_out_of_ports_or_descriptors_is_heard_of(
    what: str, slot: str, found: dict[Any, Any]
) -> None:
    world = base_world(HOTEL, 0)

    def read() -> object:
        return learned(
            world, ("test", what), lambda: (note(world, what), dict(world.memory.get(slot, {})))[1]
        )

    assert read() == {}
    traffic._leave(world, slot, found)
    assert read() == found
    traffic._leave(world, slot, {})
    assert read() == {}
    assert not world.view.short[0] and not world.view.short[1]


def test_readings_that_somebody_keeps_are_looked_at_once_for_each_change() -> None:
    world = base_world(HOTEL, 0)
    client = next(each for each in world.processes.values() if each.namespace == NAMESPACE)
    with inquiring(world) as inquiry:
        connect(world, client, f"geo.{NAMESPACE}.svc.cluster.local", 8083)
    reads = tuple(inquiry.reads.values())
    assert still(world, reads) and present(world).found[id(reads)] is reads
    world.cluster.delete("services", "geo", NAMESPACE)
    assert not still(world, reads)
    assert id(reads) not in present(world).found
