from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.cluster.disturbances import LinkDelay, LinkLoss, PodFreeze
from sregym_env.sim.network import connections, links
from sregym_env.sim.network.addressing import NodeSource
from sregym_env.sim.network.connections import Connection, connect
from sregym_env.sim.processes import exchange
from sregym_env.sim.world import SimWorld
from tests.sim.dataplane import FakeProgram, expose, pod, put, service, web_world

PROGRAMS = {"echo": FakeProgram("echo"), "coredns": FakeProgram("coredns")}


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimWorld, "programs", PROGRAMS)


def only(connection: Connection) -> tuple[str, str]:
    assert len(connection.legs) == 1
    return connection.legs[0].outcome, connection.legs[0].text


@pytest.mark.parametrize(
    ("host", "port", "outcome", "text"),
    [
        ("web", 8080, "ok", ""),
        ("10.96.1.1", 8080, "ok", ""),
        ("10.244.2.5", 80, "ok", ""),
        ("localhost", 1234, "ok", ""),
        ("10.244.1.5", 1234, "ok", ""),
        ("localhost", 99, "refused", "dial tcp 127.0.0.1:99: connect: connection refused"),
        ("web", 9999, "timeout", "dial tcp 10.96.1.1:9999: i/o timeout"),
        ("10.244.2.5", 81, "refused", "dial tcp 10.244.2.5:81: connect: connection refused"),
        ("10.244.2.77", 80, "timeout", "dial tcp 10.244.2.77:80: connect: no route to host"),
        ("172.18.0.3", 22, "refused", "dial tcp 172.18.0.3:22: connect: connection refused"),
        ("nothing", 80, "no_such_host", "dial tcp: lookup nothing on 10.96.0.10:53: no such host"),
        ("203.0.113.1", 80, "timeout", "dial tcp 203.0.113.1:80: i/o timeout"),
    ],
)
def test_where_a_connection_leads(host: str, port: int, outcome: str, text: str) -> None:
    world, client, server = web_world()
    assert only(connect(world, client, host, port)) == (outcome, text)
    if outcome == "ok" and "1234" not in str(port):
        assert connect(world, client, host, port).legs[0].process == server.key


def test_service_without_ready_endpoints_refuses() -> None:
    world, client, _ = web_world()
    expose(world, "app", "web", ["web-1"], 80, ready=False)
    assert only(connect(world, client, "web", 8080)) == (
        "refused",
        "dial tcp 10.96.1.1:8080: connect: connection refused",
    )


def test_wrong_target_port_refuses_under_the_services_address() -> None:
    world, client, _ = web_world()
    expose(world, "app", "web", ["web-1"], 9999)
    assert only(connect(world, client, "web", 8080)) == (
        "refused",
        "dial tcp 10.96.1.1:8080: connect: connection refused",
    )


def two_backends(**spec: Any) -> tuple[Any, Any]:
    world, client, _ = web_world()
    pod(world, "app", "web-2", "10.244.1.6", "w1", labels={"app": "web"}, ports=(81,))
    service(world, "app", "web", "10.96.1.1", 8080, 80, **spec)
    expose(world, "app", "web", ["web-1", "web-2"], 80)
    return world, client


def test_legs_share_the_connections() -> None:
    world, client = two_backends()
    legs = connect(world, client, "web", 8080).legs
    assert [(leg.share, leg.outcome) for leg in legs] == [(0.5, "ok"), (0.5, "refused")]
    assert connections.pick(connect(world, client, "web", 8080), 0.7).outcome == "refused"


def test_internal_traffic_policy_and_affinity() -> None:
    world, client = two_backends(internalTrafficPolicy="Local")
    assert only(connect(world, client, "web", 8080))[0] == "refused"
    assert connect(world, NodeSource("cp"), "10.96.1.1", 8080).legs[0].outcome == "timeout"
    world, client = two_backends(sessionAffinity="ClientIP")
    assert len(connect(world, client, "web", 8080).legs) == 1


def test_node_port() -> None:
    world, client, server = web_world()
    service(world, "app", "web", "10.96.1.1", 8080, 80, type="NodePort", nodePort=30080)
    for source in (client, NodeSource("cp"), NodeSource()):
        assert connect(world, source, "172.18.0.2", 30080).legs[0].process == server.key
    assert connect(world, NodeSource(), "10.96.1.1", 8080).legs[0].outcome == "timeout"


def policy(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p", "namespace": "app"}, "spec": spec}


@pytest.mark.parametrize(
    ("spec", "ok"),
    [
        ({"podSelector": {}}, False),
        ({"podSelector": {"matchLabels": {"app": "web"}}}, False),
        ({"podSelector": {"matchLabels": {"app": "other"}}}, True),
        ({"podSelector": {}, "ingress": [{}]}, True),
        (
            {"podSelector": {}, "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "client"}}}]}]},
            True,
        ),
        (
            {"podSelector": {}, "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "nobody"}}}]}]},
            False,
        ),
        ({"podSelector": {}, "ingress": [{"from": [{"namespaceSelector": {}}]}]}, True),
        (
            {
                "podSelector": {},
                "ingress": [
                    {
                        "from": [
                            {
                                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "app"}},
                                "podSelector": {"matchLabels": {"app": "web"}},
                            }
                        ]
                    }
                ],
            },
            False,
        ),
        ({"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": "10.244.1.0/24"}}]}]}, True),
        (
            {
                "podSelector": {},
                "ingress": [{"from": [{"ipBlock": {"cidr": "10.244.0.0/16", "except": ["10.244.1.0/24"]}}]}],
            },
            False,
        ),
        ({"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}, True),
        ({"podSelector": {}, "ingress": [{"ports": [{"port": "main"}]}]}, True),
        ({"podSelector": {}, "ingress": [{"ports": [{"port": 8080}]}]}, False),
        ({"podSelector": {}, "ingress": [{"ports": [{"port": 1, "endPort": 100}]}]}, True),
        ({"podSelector": {}, "ingress": [{"ports": [{"port": 80, "protocol": "UDP"}]}]}, False),
        ({"podSelector": {}, "policyTypes": ["Egress"]}, False),
        (
            {
                "podSelector": {"matchLabels": {"app": "client"}},
                "policyTypes": ["Egress"],
                "egress": [
                    {"to": [{"podSelector": {"matchLabels": {"app": "web"}}}], "ports": [{"port": 80}]}
                ],
            },
            True,
        ),
    ],
)
def test_network_policy(spec: dict[str, Any], ok: bool) -> None:
    world, client, _ = web_world()
    put(world, "networkpolicies.networking.k8s.io", policy(**spec))
    assert connect(world, client, "10.96.1.1", 8080).legs[0].outcome == ("ok" if ok else "timeout")
    assert exchange.probe_tcp(world, "w2", "10.244.2.5", 80) == ""


def test_dead_machine_and_dead_process() -> None:
    world, client, server = web_world()
    world.memory["node.off:w2"] = True
    world.touch()
    assert only(connect(world, client, "web", 8080))[0] == "timeout"
    del world.memory["node.off:w2"]
    world.drop_process(server.key)
    assert only(connect(world, client, "web", 8080))[0] == "refused"


def test_cache_follows_changes() -> None:
    world, client, _ = web_world()
    first = connect(world, client, "web", 8080)
    assert connect(world, client, "web", 8080) is first
    world.store.remove("services", "app", "web")
    assert only(connect(world, client, "web", 8080))[0] == "no_such_host"


def test_disturbed_links() -> None:
    world, client, _ = web_world()
    world.disturbances = (LinkDelay("app", "web-1", 0.5, 0.2), LinkLoss("app", "client", 0.5))
    world.touch()
    leg = connect(world, client, "web", 8080).legs[0]
    assert leg.latency == pytest.approx(0.5006)
    assert leg.loss == pytest.approx(0.5)
    world.disturbances = (PodFreeze("app", "web-1"),)
    world.touch()
    assert connect(world, client, "web", 8080).legs[0].answers is False
    assert exchange.probe_tcp(world, "w2", "10.244.2.5", 80) == ""
    status, text = exchange.probe_http(world, "w2", "10.244.2.5", 80)
    assert (status, text) == (0, "context deadline exceeded (Client.Timeout exceeded while awaiting headers)")


def test_http() -> None:
    world, client, _ = web_world()
    done = exchange.http_request(world, client, "http://web:8080/index.html?a=1")
    assert done.response is not None and done.response.body == "hello"
    assert 0.0 < done.lookup_seconds < done.connect_seconds < done.total_seconds < 0.01
    assert exchange.probe_http(world, "w2", "10.244.2.5", 80, "/missing") == (404, "")
    assert (done.address, done.port) == ("10.96.1.1", 8080)
    assert exchange.http_request(world, client, "http://web:notaport/").phase == "lookup"
    failed = exchange.http_request(world, client, "nothing:80")
    assert (failed.phase, failed.outcome) == ("lookup", "no_such_host")
    blocked = exchange.http_request(world, client, "web:9/x", timeout=3)
    assert (blocked.phase, blocked.outcome, blocked.total_seconds) == ("connect", "timeout", 3)
    assert exchange.http_request(world, client, "localhost:1234").response is None
    assert exchange.probe_tcp(world, "w2", "10.244.2.5", 81).endswith("connection refused")


def test_fork_is_independent() -> None:
    world, client, server = web_world()
    connect(world, client, "web", 8080)
    copy = world.fork()
    copy.drop_process(server.key)
    assert only(connect(copy, client, "web", 8080))[0] == "refused"
    assert only(connect(world, client, "web", 8080))[0] == "ok"


@given(st.floats(0.0, 0.95), st.floats(0.001, 60.0))
def test_losses_are_probabilities(loss: float, patience: float) -> None:
    lost, extra = links.retransmissions(loss, patience)
    assert 0.0 <= lost <= 1.0
    assert 0.0 <= extra <= patience
    more, _ = links.retransmissions(min(loss + 0.01, 1.0), patience)
    assert more >= lost - 1e-12


@given(st.floats(0.001, 10.0), st.floats(0.0, 1.0), st.floats(0.001, 20.0))
def test_lateness_is_a_probability(mean: float, relative: float, patience: float) -> None:
    share, average = links.late(mean, mean * relative, patience)
    assert 0.0 <= share <= 1.0
    assert average <= min(patience, mean) + 1e-9


def test_a_workstation_asks_the_clusters_dns() -> None:
    world, _, server = web_world()
    kubelet, person = NodeSource("cp"), NodeSource("cp", cluster_dns=True)
    assert only(connect(world, kubelet, "web.app", 8080))[0] == "no_such_host"
    assert connect(world, person, "web.app", 8080).legs[0].process == server.key
    assert connect(world, person, "web.app.svc.cluster.local", 8080).legs[0].process == server.key


def test_cache_outlives_writes_that_move_nothing() -> None:
    world, client, server = web_world()
    first = connect(world, client, "web", 8080)
    web = world.store.get("pods", "app", "web-1")
    assert web is not None
    put(
        world,
        "pods",
        {**web, "status": {**web["status"], "conditions": [{"type": "Ready", "status": "True"}]}},
    )
    put(world, "events", {"metadata": {"name": "e", "namespace": "app"}})
    world.change_process(server.key, memory=5)
    assert connect(world, client, "web", 8080) is first
    assert connect(world.fork(), client, "web", 8080) is first
    world.change_process(server.key, listening=())
    assert only(connect(world, client, "web", 8080))[0] == "refused"


def test_relabelled_pods_meet_other_policies() -> None:
    world, client, _ = web_world()
    rule = {"from": [{"podSelector": {"matchLabels": {"app": "friend"}}}]}
    put(world, "networkpolicies.networking.k8s.io", policy(podSelector={}, ingress=[rule]))
    assert only(connect(world, client, "10.96.1.1", 8080))[0] == "timeout"
    pod = world.store.get("pods", "app", "client")
    assert pod is not None
    put(world, "pods", {**pod, "metadata": {**pod["metadata"], "labels": {"app": "friend"}}})
    assert only(connect(world, client, "10.96.1.1", 8080))[0] == "ok"
