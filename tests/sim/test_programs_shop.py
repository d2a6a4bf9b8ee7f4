"""Envoy, Locust, the collector, Grafana, Jaeger 2 and Prometheus in the pods of Astronomy Shop."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env import apps
from sregym_env.apps.astronomy_shop import files
from sregym_env.cluster.app import Binary, Image
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.network.connections import NodeSource
from sregym_env.sim.processes.exchange import Exchange, http_request
from sregym_env.sim.programs.envoy_config import Config, ConfigError, Rule, filled, parsed
from sregym_env.sim.world.program import HttpResponse

APP = apps.app("astronomy-shop")
NS = APP.namespace


@pytest.fixture
def world() -> EmbeddedWorld:
    return deployed_world(APP, 1).fork()


def ask(
    world: EmbeddedWorld, path: str, method: str = "GET", host: str = "frontend-proxy:8080", **more: Any
) -> Exchange:
    """One request from a node of the cluster."""
    name, _, port = host.partition(":")
    node = world.store.list("nodes")[0]["metadata"]["name"]
    url = f"http://{name}.{NS}.svc.cluster.local:{port}{path}"
    return http_request(world, NodeSource(node, cluster_dns=True), url, method, **more)


def told(world: EmbeddedWorld, component: str, variable: str, value: str | None) -> None:
    """Give a component another value of an environment variable, or none, and have it rolled out."""
    found = world.cluster.get("deployments.apps", component, NS)
    container = next(c for c in found["spec"]["template"]["spec"]["containers"] if c["name"] == component)
    env = [each for each in container["env"] if each["name"] != variable]
    if value is not None:
        env.append({"name": variable, "value": value})
    containers = [
        {**c, "env": env} if c["name"] == component else c
        for c in found["spec"]["template"]["spec"]["containers"]
    ]
    patch = {
        "spec": {
            "strategy": {"type": "Recreate", "rollingUpdate": None},
            "template": {"spec": {"containers": containers}},
        }
    }
    world.cluster.patch("deployments.apps", component, patch, namespace=NS, type="merge")
    world.cluster.advance(40.0)


def log(world: EmbeddedWorld, component: str) -> str:
    pods = [p["metadata"]["name"] for p in world.store.list("pods", NS)]
    name = next(n for n in pods if n.startswith(f"{component}-"))
    return str(world.cluster.logs(NS, name, container=component))


# --- Envoy --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/", '<div id="__next">'),
        ("/api/products/OLJCESPC7Z", '"currencyCode":"USD"'),
        ("/api/recommendations?productIds=OLJCESPC7Z", "Starsense Explorer"),
        ("/api/cart", '"items":[]'),
        ("/images/products/RoofBinoculars.jpg", "PNG"),
        ("/feature", "Flagd Configurator"),
        ("/grafana/api/health", '"database": "ok"'),
        ("/jaeger/ui/search", "Jaeger UI"),
        ("/loadgen/stats/requests", '"Aggregated"'),
    ],
)
def test_the_proxy_leads_to_everything(world: EmbeddedWorld, path: str, shown: str) -> None:
    exchange = ask(world, path)
    assert exchange.response is not None
    assert exchange.response.status == 200
    assert shown in exchange.response.body
    assert exchange.response.headers["server"] == "envoy"


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/", 200, "text/html; charset=utf-8"),
        ("/api/products", 200, "application/json; charset=utf-8"),
        ("/nothing/here", 404, "text/html; charset=utf-8"),
    ],
)
def test_the_front_end_says_what_it_answers(world: EmbeddedWorld, path: str, status: int, kind: str) -> None:
    response = ask(world, path).response
    assert response is not None
    assert (response.status, response.headers["Content-Type"]) == (status, kind)


def test_telemetry_of_browsers_goes_through_the_proxy(world: EmbeddedWorld) -> None:
    exchange = ask(world, "/otlp-http/v1/traces", "POST", body="{}")
    assert exchange.response is not None
    assert (exchange.response.status, exchange.response.body) == (200, "{}")


def test_what_a_browser_asks_to_be_slow_is_slow(world: EmbeddedWorld) -> None:
    slow = ask(world, "/images/products/a.jpg", headers={"x-envoy-fault-delay-request": "10000"})
    assert slow.total_seconds > 10.0 > ask(world, "/images/products/a.jpg").total_seconds


def admin(world: EmbeddedWorld, path: str, method: str = "GET") -> HttpResponse:
    """One request to the proxy's administration interface."""
    pod = next(p for p in world.store.list("pods", NS) if p["metadata"]["name"].startswith("frontend-proxy-"))
    node = world.store.list("nodes")[0]["metadata"]["name"]
    exchange = http_request(world, NodeSource(node), f"http://{pod['status']['podIP']}:10000{path}", method)
    assert exchange.response is not None
    return exchange.response


@pytest.mark.parametrize(
    ("path", "status", "shown"),
    [
        ("/ready", 200, r"\ALIVE\n\Z"),
        ("/clusters", 200, r"(?m)^frontend::10\.96\.\d+\.\d+:8080::hostname::frontend$"),
        ("/clusters", 200, r"(?m)^frontend::default_priority::max_connections::1024$"),
        ("/clusters", 200, r"(?m)^frontend::10\.96\.\d+\.\d+:8080::health_flags::healthy$"),
        ("/listeners", 200, r"\A[0-9a-f-]{36}::0\.0\.0\.0:8080\n\Z"),
        ("/server_info", 200, r'"version": "[0-9a-f]{40}/1\.34\.10/Clean/RELEASE/BoringSSL"'),
        ("/server_info", 200, r'"config_path": "/home/envoy/envoy\.yaml"'),
        ("/config_dump", 200, r'"@type": "type\.googleapis\.com/envoy\.admin\.v3\.BootstrapConfigDump"'),
        ("/stats?filter=^server.live$", 200, r"\Aserver\.live: 1\n\Z"),
        ("/stats?filter=(", 400, r"\AInvalid re2 regex: "),
        ("/stats?filter=server.live&format=json", 200, r'"name": "server\.live",\n *"value": 1'),
        (
            "/stats/prometheus",
            200,
            r'(?m)^envoy_cluster_membership_healthy\{envoy_cluster_name="frontend"\} 1$',
        ),
        ("/hot_restart_version", 200, r"\A11\.104\Z"),
        ("/quitquitquit", 405, r"POST required"),
        ("/nothing", 404, r"\Ainvalid path\. admin commands are:\n"),
    ],
)
def test_the_administrator_sees_where_requests_go(
    world: EmbeddedWorld, path: str, status: int, shown: str
) -> None:
    response = admin(world, path)
    assert response.status == status
    assert re.search(shown, response.body), response.body


def statistics(world: EmbeddedWorld) -> dict[str, int]:
    lines = admin(world, "/stats").body.splitlines()
    return {name: int(value) for name, value in (line.split(": ") for line in lines)}


def test_statistics_follow_the_traffic(world: EmbeddedWorld) -> None:
    before = statistics(world)
    world.advance(300.0)
    found = {name: value - before[name] for name, value in statistics(world).items()}
    offered = sum(fare.requests for fare in world.traffic.health(300.0))
    assert found["http.ingress_http.downstream_rq_total"] == pytest.approx(offered, rel=0.02)
    upstream = sum(value for name, value in found.items() if name.endswith(".upstream_rq_total"))
    assert found["http.ingress_http.downstream_rq_total"] == upstream
    assert found["cluster.frontend.upstream_rq_5xx"] <= 0.01 * upstream
    assert found["server.uptime"] == 300


def test_what_nobody_answers_is_counted_where_it_was_sent(world: EmbeddedWorld) -> None:
    world.cluster.patch("deployments.apps", "frontend", {"spec": {"replicas": 0}}, namespace=NS)
    world.advance(60.0)
    before = statistics(world)
    world.advance(120.0)
    found = {name: value - before[name] for name, value in statistics(world).items()}
    lost, sent = (found[f"cluster.frontend.upstream_rq_{name}"] for name in ("5xx", "total"))
    # Whole ones are told, and requests come in fractions.
    assert lost == pytest.approx(sent, abs=1)
    assert sent > 100
    assert found["http.ingress_http.downstream_rq_5xx"] == lost


def test_a_name_that_does_not_resolve_has_no_hosts(world: EmbeddedWorld) -> None:
    told(world, "frontend-proxy", "FRONTEND_HOST", "frontnd")
    text = admin(world, "/clusters").body
    assert "frontend::observability_name::frontend" in text
    assert "frontend::10." not in text
    assert statistics(world)["cluster.frontend.membership_total"] == 0


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("id", "uid=101(envoy) gid=101(envoy) groups=101(envoy)\n"),
        ("whoami", "envoy\n"),
        ("ps -o user,uid,pid,args -p 1", "USER       UID     PID COMMAND\nenvoy      101       1 envoy -c /home/envoy/envoy.yaml\n"),
        ("tr '\\0' ' ' < /proc/1/cmdline", "envoy -c /home/envoy/envoy.yaml "),
        ("grep -E '^(Name|Uid)' /proc/1/status", "Name:\tenvoy\nUid:\t101\t101\t101\t101\n"),
        ("grep -c '[$][{]' envoy.tmpl.yaml envoy.yaml", "envoy.tmpl.yaml:22\nenvoy.yaml:0\n"),
        ("grep -A1 'address: frontend$' envoy.yaml", "                      address: frontend\n                      port_value: 8080\n"),
        ("grep -c service_envoyproxy_io /etc/envoy/envoy.yaml", "3\n"),
        ("head -1 /etc/os-release", 'PRETTY_NAME="Ubuntu 22.04.5 LTS"\n'),
    ],
)  # fmt: skip
def test_the_proxy_s_container_is_of_one_piece(world: EmbeddedWorld, line: str, shown: str) -> None:
    names = [pod["metadata"]["name"] for pod in world.store.list("pods", NS)]
    pod = next(name for name in names if name.startswith("frontend-proxy-"))
    done = world.cluster.exec(NS, pod, ["sh", "-c", line])
    assert done.stdout == shown


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        # Without its own variable it finds the one that Kubernetes makes of the Service.
        ("FRONTEND_PORT", None, 'invalid value "tcp://10.96.'),
        ("LOCUST_WEB_PORT", None, "SocketAddressValidationError.PortSpecifier: is required"),
        ("FRONTEND_HOST", "", "Address: value length must be at least 1 characters"),
        ("ENVOY_PORT", "eighty", 'invalid value "eighty" for type TYPE_UINT32'),
    ],
)
def test_a_template_that_makes_no_configuration_ends_it(
    world: EmbeddedWorld, variable: str, value: str | None, said: str
) -> None:
    told(world, "frontend-proxy", variable, value)
    assert "[critical][main]" in log(world, "frontend-proxy")
    assert said in log(world, "frontend-proxy")
    assert all(each.success_ratio == 0.0 for each in world.traffic.health(10.0))


@pytest.mark.parametrize(
    ("variable", "value", "answer"),
    [
        ("FRONTEND_HOST", "frontnd", "no healthy upstream"),
        (
            "FRONTEND_PORT",
            "8081",
            "upstream connect error or disconnect/reset before headers. reset reason: connection",
        ),
    ],
)
def test_a_wrong_address_is_a_503(world: EmbeddedWorld, variable: str, value: str, answer: str) -> None:
    told(world, "frontend-proxy", variable, value)
    response = ask(world, "/").response
    assert response is not None
    assert response.status == 503
    assert response.body.startswith(answer)
    errors = {text for each in world.traffic.health(10.0) for text in each.errors}
    assert errors
    assert {text.startswith(f"HTTP 503: {answer}") for text in errors} == {True}, errors


ENV = {
    **{name: "name" for _, name, _ in files.CLUSTERS},
    **{port: "8080" for _, _, port in files.CLUSTERS},
    "ENVOY_ADDR": "0.0.0.0", "ENVOY_PORT": "8080", "ENVOY_ADMIN_ADDR": "0.0.0.0", "ENVOY_ADMIN_PORT": "10000",
}  # fmt: skip


def test_the_template_routes_by_the_first_prefix_that_matches() -> None:
    config = parsed(filled(files.envoy_template(), ENV))
    assert config.rule("/images/a.jpg") == Rule("/images/", "image-provider", "/")
    assert config.rule("/imagesque") == Rule("/", "frontend")
    assert (config.port, config.admin, config.prints) == (8080, 10000, False)


@given(st.text(max_size=60))
def test_whatever_stands_in_a_file_is_a_configuration_or_an_error(text: str) -> None:
    try:
        assert isinstance(parsed(text), Config)
    except ConfigError as error:
        assert str(error)


# --- Locust -------------------------------------------------------------------------------------------------


def test_statistics_are_of_the_traffic_since_the_last_reset(world: EmbeddedWorld) -> None:
    host = "load-generator:8089"
    assert ask(world, "/stats/reset", host=host).response is not None
    world.cluster.advance(120.0)
    response = ask(world, "/stats/requests", host=host).response
    assert response is not None
    document = orjson.loads(response.body)
    rows = {row["name"]: row for row in document["stats"]}
    assert (document["user_count"], document["state"]) == (10, "running")
    assert rows["Aggregated"]["num_requests"] == pytest.approx(APP.rate * 120.0, rel=0.02)
    assert rows["Aggregated"]["num_failures"] == 0
    assert rows["/api/checkout"]["method"] == "POST"


def test_more_users_ask_more_and_none_ask_nothing(world: EmbeddedWorld) -> None:
    told(world, "load-generator", "LOCUST_USERS", "40")
    world.cluster.advance(20.0)
    offered = sum(each.requests for each in world.traffic.health(10.0)) / 10.0
    assert offered == pytest.approx(4 * APP.rate, rel=0.01)
    assert 'All users spawned: {"WebsiteUser": 40} (40 total users)' in log(world, "load-generator")
    told(world, "load-generator", "LOCUST_AUTOSTART", "false")
    assert not any(each.requests for each in world.traffic.health(10.0))


# --- what looks on ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "key", "wrong", "component", "said"),
    [
        ("otel-collector-agent", "relay", "service: {}\n", "otel-collector-agent", "service must have at least one pipeline"),
        ("otel-collector-agent", "relay", "a: [b\n", "otel-collector-agent", "cannot retrieve the configuration: yaml"),
        ("otel-collector-agent", "relay", files.COLLECTOR.replace("      receivers: [otlp]", "      receivers: [otpl]"),
         "otel-collector-agent", 'references receiver "otpl" which is not configured'),
        ("user-config", "user-config.yaml", "extensions: {}\n", "jaeger", "service must have at least one pipeline"),
    ],
)  # fmt: skip
def test_a_wrong_file_ends_them(
    world: EmbeddedWorld, name: str, key: str, wrong: str, component: str, said: str
) -> None:
    world.cluster.patch("configmaps", name, {"data": {key: wrong}}, namespace=NS, type="merge")
    pods = [p["metadata"]["name"] for p in world.store.list("pods", NS)]
    world.cluster.delete("pods", next(n for n in pods if n.startswith(component)), NS)
    world.cluster.advance(30.0)
    pods = [
        p["metadata"]["name"]
        for p in world.store.list("pods", NS)
        if p["metadata"]["name"].startswith(component)
    ]
    assert any(said in world.cluster.logs(NS, each) for each in pods)


PROMETHEUS = Image(
    "prom/prometheus:v2.47.2",
    90_000_000,
    {"/bin/prometheus": Binary("prometheus_server")},
    ("/bin/prometheus",),
    ("--config.file=/etc/prometheus/prometheus.yml",),
    files={
        "/etc/prometheus/prometheus.yml": "global: {scrape_interval: 1m}\n",
        "/etc/prometheus/bad.yml": "a: [b\n",
    },
)


@pytest.mark.parametrize(
    ("arguments", "said", "healthy"),
    [
        ((), "Server is ready to receive web requests.", True),
        (("--config.file=/etc/prometheus/bad.yml",), "Error loading config", False),
        (("--config.file=/nowhere.yml",), 'err="open /nowhere.yml: no such file or directory"', False),
    ],
)
def test_prometheus_is_up_with_a_file_that_it_can_read(
    world: EmbeddedWorld, arguments: tuple[str, ...], said: str, healthy: bool
) -> None:
    world.images = {**world.images, PROMETHEUS.reference: PROMETHEUS}
    container: dict[str, Any] = {"name": "prometheus", "image": PROMETHEUS.reference}
    if arguments:
        container["args"] = list(arguments)
    pod = {"metadata": {"name": "prometheus", "namespace": NS}, "spec": {"containers": [container]}}
    world.cluster.create({"apiVersion": "v1", "kind": "Pod", **pod})
    world.cluster.advance(20.0)
    assert said in world.cluster.logs(NS, "prometheus")
    found = next(p for p in world.store.list("pods", NS) if p["metadata"]["name"] == "prometheus")
    node = world.store.list("nodes")[0]["metadata"]["name"]
    exchange = http_request(world, NodeSource(node), f"http://{found['status']['podIP']}:9090/-/healthy")
    assert (exchange.response is not None and exchange.response.status == 200) == healthy
