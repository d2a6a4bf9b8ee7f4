"""The monitoring in the cluster, asked over HTTP by those who stand in it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from sregym_env.cluster.http import HttpCall
from sregym_env.cluster.oncall import ONCALL
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation

PROMETHEUS = "http://prometheus-server.observe"
LOKI = "http://loki.observe:3100"


def get(world: EmbeddedWorld, url: str, method: str = "GET", body: str = "") -> tuple[int, str]:
    exchange = world.request(HttpCall(url, method, body=body))
    assert exchange.outcome == "ok"
    return exchange.status, exchange.body


def data(world: EmbeddedWorld, path: str) -> Any:
    status, body = get(world, PROMETHEUS + path)
    assert status == 200, body
    return orjson.loads(body)["data"]


def typed(world: EmbeddedWorld, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text


def test_the_monitoring_runs(healthy: EmbeddedWorld) -> None:
    pods = healthy.cluster.list("pods", "observe")
    names = [pod["metadata"]["labels"]["app.kubernetes.io/name"] for pod in pods]
    nodes = len(healthy.cluster.list("nodes"))
    assert sorted(names) == [
        "kube-state-metrics",
        "loki",
        "prometheus",
        "prometheus-blackbox-exporter",
        *nodes * ["prometheus-node-exporter"],
    ]
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}


def test_the_api_answers_what_the_command_does(healthy: EmbeddedWorld) -> None:
    found = data(healthy, "/api/v1/query?query=count(up==1)")
    asked = orjson.loads(typed(healthy, "promql -o json 'count(up==1)'"))["data"]
    assert found["result"][0]["value"][1] == asked["result"][0]["value"][1]


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/api/v1/labels", "job"),
        ("/api/v1/label/job/values", "kube-state-metrics"),
        ("/api/v1/metadata?metric=up", "up"),
        ("/api/v1/alerts", "alerts"),
        ("/api/v1/rules", "groups"),
        ("/api/v1/targets", "activeTargets"),
        ("/api/v1/status/buildinfo", "version"),
    ],
)
def test_what_prometheus_can_be_asked(healthy: EmbeddedWorld, path: str, key: str) -> None:
    assert key in data(healthy, path)


def test_targets_are_those_that_are_up(healthy: EmbeddedWorld) -> None:
    active = data(healthy, "/api/v1/targets")["activeTargets"]
    up = data(healthy, "/api/v1/query?query=up")["result"]
    told = {(t["labels"]["job"], t["labels"]["instance"], t["health"] == "up") for t in active}
    assert told == {(s["metric"]["job"], s["metric"]["instance"], s["value"][1] == "1") for s in up}


@pytest.mark.parametrize(
    ("method", "url", "body", "status", "text"),
    [
        ("GET", f"{PROMETHEUS}/-/healthy", "", 200, "Prometheus Server is Healthy.\n"),
        ("GET", f"{PROMETHEUS}/-/ready", "", 200, "Prometheus Server is Ready.\n"),
        ("GET", f"{PROMETHEUS}/api/v1/nothing", "", 404, "404 page not found\n"),
        ("DELETE", f"{PROMETHEUS}/api/v1/query", "", 405, "Method Not Allowed\n"),
        ("GET", f"{PROMETHEUS}/api/v1/query?query=up(", "", 400, "unclosed left parenthesis"),
        ("POST", f"{PROMETHEUS}/api/v1/query", "query=vector(7)", 200, '"7"'),
        ("GET", f"{PROMETHEUS}/metrics", "", 200, "prometheus_build_info"),
        ("GET", f"{LOKI}/ready", "", 200, "ready\n"),
        ("GET", f"{LOKI}/loki/api/v1/labels", "", 200, '"namespace"'),
        ("GET", f"{LOKI}/loki/api/v1/query_range?query=%7B", "", 400, "parse error at line 1, col 2"),
        ("GET", "http://prometheus-kube-state-metrics.observe:8080/healthz", "", 200, "OK"),
        ("GET", "http://prometheus-prometheus-blackbox-exporter.observe:9115/-/healthy", "", 200, "OK"),
    ],
)
def test_answers_and_errors_are_the_real_ones(
    healthy: EmbeddedWorld, method: str, url: str, body: str, status: int, text: str
) -> None:
    given, answer = get(healthy, url, method, body)
    assert given == status
    assert text in answer


def test_exporters_expose_what_prometheus_has_scraped(healthy: EmbeddedWorld) -> None:
    _, text = get(healthy, "http://prometheus-kube-state-metrics.observe:8080/metrics")
    name = healthy.app.components[0].name
    line = next(
        line
        for line in text.splitlines()
        if line.startswith("kube_deployment_status_replicas_available{") and f'deployment="{name}"' in line
    )
    query = f'kube_deployment_status_replicas_available{{deployment="{name}"}}'
    asked = orjson.loads(typed(healthy, f"promql -o json '{query}'"))["data"]["result"]
    assert line.rpartition(" ")[2] == asked[0]["value"][1]


def test_through_the_api_server_and_a_forwarded_port(healthy: EmbeddedWorld) -> None:
    world = healthy.fork()
    raw = "/api/v1/namespaces/observe/services/prometheus-server:80/proxy/api/v1/query?query=vector(3)"
    assert '"3"' in typed(world, f"kubectl get --raw '{raw}'")
    forwarded = typed(
        world,
        "kubectl port-forward -n observe svc/prometheus-server 9090:80 & sleep 2; "
        "curl -s 'localhost:9090/api/v1/query?query=vector(4)'",
    )
    assert '"4"' in forwarded


def test_a_network_policy_shuts_it_as_anything_else(healthy: EmbeddedWorld) -> None:
    world = healthy.fork()
    world.cluster.create(
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "deny", "namespace": "observe"},
            "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
        }
    )
    world.advance(5.0)
    pod = world.cluster.list("pods", world.app.namespace)[0]["metadata"]["name"]
    asked = f"kubectl exec -n {world.app.namespace} {pod} -- wget -T 2 -qO- {PROMETHEUS}/-/healthy"
    assert "Healthy" not in typed(world, asked)
