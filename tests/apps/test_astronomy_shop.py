"""What is special about Astronomy Shop: its objects, who suffers when a component is gone, and what its programs say."""

from __future__ import annotations

import gzip
from base64 import b64decode
from collections import Counter

import orjson
import pytest

from sregym_env import apps
from sregym_env.apps.astronomy_shop import components, files
from sregym_env.cluster.api import World
from sregym_env.rewards.baseline import capture
from sregym_env.rewards.checks import available
from sregym_env.sim.bringup.deploy import deployed_world

APP = apps.app("astronomy-shop")
HOME, PRODUCT, RECOMMENDED, REVIEWS, SCORE, ASSISTANT, ADS, VIEW, ADD, CHECKOUT = (
    "home", "product", "recommendations", "reviews", "review-score", "ask-assistant", "ads", "view-cart", "add-to-cart",
    "checkout",
)  # fmt: skip
ALL = {journey.name for journey in APP.journeys}

SUFFER: dict[str, set[str]] = {
    "postgresql": {PRODUCT, RECOMMENDED, REVIEWS, SCORE, ASSISTANT, CHECKOUT},
    "valkey-cart": {VIEW, ADD, CHECKOUT},
    "ad": {ADS},
    "cart": {VIEW, ADD, CHECKOUT},
    "currency": {CHECKOUT},
    "quote": {CHECKOUT},
    "shipping": {CHECKOUT},
    "payment": {CHECKOUT},
    "checkout": {CHECKOUT},
    "product-catalog": {PRODUCT, RECOMMENDED, ASSISTANT, CHECKOUT},
    "recommendation": {RECOMMENDED},
    "llm": {ASSISTANT},
    "product-reviews": {REVIEWS, SCORE, ASSISTANT},
    "frontend": ALL,
    "frontend-proxy": ALL,
}
"""Journeys that fail without a component. Without the others nobody notices: mail and pictures are not waited for, orders
are published to whoever takes them, flags have defaults, and the rest looks on."""


def logs(world: World, component: str, container: str = "") -> str:
    """What the pods of a component have written."""
    pods = world.cluster.list("pods", APP.namespace)
    names = [
        pod["metadata"]["name"]
        for pod in pods
        if pod["metadata"]["labels"].get("opentelemetry.io/name") == component
    ]
    return "\n".join(
        world.cluster.logs(APP.namespace, name, container=container or component) for name in names
    )


def scale(world: World, name: str, replicas: int) -> None:
    workload = APP.by_name[name].workload
    world.cluster.patch(
        workload, name, {"spec": {"replicas": replicas}}, namespace=APP.namespace, type="merge"
    )


def without(*names: str) -> World:
    world = deployed_world(APP, 1).fork()
    for name in names:
        scale(world, name, 0)
    world.cluster.advance(60.0)
    return world


def flagged(flag: str, variant: str) -> World:
    """A world in which a flag has another default variant, and flagd has been restarted to read it."""
    world = deployed_world(APP, 1).fork()
    document = orjson.loads(files.flags({}))
    document["flags"][flag]["defaultVariant"] = variant
    patch = {"data": {"demo.flagd.json": orjson.dumps(document).decode()}}
    world.cluster.patch("configmaps", "flagd-config", patch, namespace=APP.namespace, type="merge")
    note = {"spec": {"template": {"metadata": {"annotations": {"restarted": "yes"}}}}}
    world.cluster.patch("deployments.apps", "flagd", note, namespace=APP.namespace, type="merge")
    world.cluster.advance(60.0)
    return world


def served(world: World) -> dict[str, float]:
    return {each.journey: each.success_ratio for each in world.traffic.health(20.0)}


# --- what is deployed ---------------------------------------------------------------------------------------


def test_the_counts_are_those_of_the_chart() -> None:
    kinds = Counter(manifest["kind"] for manifest in APP.manifests)
    assert (kinds["Deployment"], kinds["StatefulSet"], kinds["DaemonSet"], kinds["Service"]) == (24, 1, 1, 25)
    assert (kinds["PersistentVolumeClaim"], kinds["PodDisruptionBudget"]) == (0, 1)


def test_helm_knows_the_release_and_every_object_of_it() -> None:
    for manifest in APP.manifests:
        if manifest["kind"] != "Namespace" and not manifest["metadata"]["name"].startswith("sh.helm"):
            assert manifest["metadata"]["annotations"]["meta.helm.sh/release-name"] == "astronomy-shop"
    secret = APP.manifests[-1]
    assert secret["type"] == "helm.sh/release.v1"
    document = orjson.loads(gzip.decompress(b64decode(b64decode(secret["data"]["release"]))))
    assert document["chart"]["metadata"]["appVersion"] == "2.2.0"
    assert document["config"]["prometheus"] == {"enabled": False}


def test_only_memory_is_limited_and_nothing_of_the_demo_is_probed() -> None:
    for manifest in APP.manifests:
        if manifest["metadata"].get("labels", {}).get("helm.sh/chart") == "opentelemetry-demo-0.40.4":
            template = (manifest.get("spec") or {}).get("template") or {"spec": {"containers": ()}}
            for container in template["spec"]["containers"]:
                assert ("readinessProbe" in container) == (container["name"] == "cart")
                if container["name"] not in ("llm", "locust-exporter"):
                    assert set(container["resources"]["limits"]) == {"memory"}, container["name"]


def test_ten_users_make_some_two_requests_a_second_and_a_tenth_of_an_order() -> None:
    assert 2.0 < APP.rate < 3.0
    orders = APP.rate * next(journey.weight for journey in APP.journeys if journey.name == CHECKOUT)
    assert orders == pytest.approx(0.1, abs=0.03)
    assert set(components.REQUESTS) == ALL


# --- who needs whom -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [c.name for c in APP.components if c.workload != "daemonsets.apps" and c.kind != "load"]
)
def test_who_suffers_without_a_component(name: str) -> None:
    health = without(name).traffic.health(20.0)
    assert {each.journey for each in health if each.success_ratio < 0.5} == SUFFER.get(name, set())
    assert all(each.success_ratio in (0.0, 1.0) for each in health)


def test_who_is_critical_is_who_makes_somebody_suffer_now_or_at_a_restart() -> None:
    assert set(APP.serving) == set(SUFFER)
    assert set(APP.critical) == set(SUFFER) | {"kafka"}


def test_without_kafka_orders_go_on_until_checkout_is_restarted() -> None:
    world = without("kafka", "checkout")
    scale(world, "checkout", 1)
    world.cluster.advance(60.0)
    assert served(world)[CHECKOUT] == 0.0
    pod = next(
        p for p in world.cluster.list("pods", APP.namespace) if p["metadata"]["name"].startswith("checkout-")
    )
    assert pod["status"]["phase"] == "Pending"
    waiting = world.cluster.logs(APP.namespace, pod["metadata"]["name"], container="wait-for-kafka")
    assert waiting.count("waiting for kafka") > 10
    scale(world, "kafka", 1)
    world.cluster.advance(90.0)
    assert served(world)[CHECKOUT] == 1.0


def test_without_its_database_the_catalogue_does_not_start() -> None:
    world = without("postgresql", "product-catalog")
    scale(world, "product-catalog", 1)
    world.cluster.advance(20.0)
    assert "ERROR Failed to initialize database connection: dial tcp" in logs(world, "product-catalog")
    pod = next(
        p
        for p in world.cluster.list("pods", APP.namespace)
        if p["metadata"]["name"].startswith("product-catalog-")
    )
    assert pod["status"]["containerStatuses"][0]["restartCount"] >= 1


# --- what they say ------------------------------------------------------------------------------------------


def test_the_front_end_prints_the_status_with_its_trace() -> None:
    said = logs(without("ad"), "frontend")
    assert "Error: 14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED 10.96." in said
    assert "    at callErrorFromStatus (/app/node_modules/@grpc/grpc-js/build/src/call.js:32:19)" in said


def test_a_failed_order_names_its_cause_on_the_way_back() -> None:
    said = logs(without("payment"), "frontend")
    assert (
        "Error: 13 INTERNAL: failed to charge card: could not charge the card: rpc error: code = Unavailable desc = "
        "connection error" in said
    )
    said = logs(without("quote"), "frontend")
    assert (
        "13 INTERNAL: shipping quote failure: failed POST to shipping quote service: expected 200, got 500"
        in said
    )


def test_carts_say_that_their_store_is_gone() -> None:
    said = logs(without("valkey-cart"), "cart")
    assert (
        "info: Grpc.AspNetCore.Server.ServerCallHandler[0]\n      Error status code 'FailedPrecondition'"
        in said
    )
    assert "UnableToConnect on valkey-cart:6379" in said


def test_reviews_say_what_the_database_driver_says() -> None:
    said = logs(without("postgresql"), "product-reviews")
    assert "ERROR [main] [_common.py:121] [trace_id=" in said
    assert 'connection to server at "postgresql"' in said
    assert "Connection refused" in said


def test_the_proxy_answers_in_place_of_what_is_not_there() -> None:
    errors = {text for each in without("frontend").traffic.health(20.0) for text in each.errors}
    assert errors == {
        "HTTP 503: upstream connect error or disconnect/reset before headers. reset reason: connection failure"
    }


def test_orders_are_booked_and_looked_at() -> None:
    world = deployed_world(APP, 1)
    assert "Order details: {" in logs(world, "accounting")
    assert "Consumed record with orderId: " in logs(world, "fraud-detection")
    assert "2026-08-06 " in logs(world, "fraud-detection")


def test_the_collector_misses_a_prometheus_that_is_not_installed() -> None:
    world = deployed_world(APP, 1)
    pods = [p["metadata"]["name"] for p in world.cluster.list("pods", APP.namespace)]
    agents = [name for name in pods if name.startswith("otel-collector-agent-")]
    assert len(agents) == 3
    said = world.cluster.logs(APP.namespace, agents[0])
    assert "Everything is ready. Begin running and processing data." in said
    assert '"otelcol.component.id": "otlphttp/prometheus"' in said
    assert "no such host" in said


def test_a_daemon_need_not_come_back_on_a_machine_that_is_closed() -> None:
    world = deployed_world(APP, 1).fork()
    baseline = capture(world)
    agent = next(
        p
        for p in world.cluster.list("pods", APP.namespace)
        if p["metadata"]["name"].startswith("otel-collector-agent-")
    )
    container = {"name": "opentelemetry-collector", "image": "example.com/nowhere:1"}
    patch = {
        "spec": {
            "updateStrategy": {"type": "OnDelete", "rollingUpdate": None},
            "template": {"spec": {"containers": [container]}},
        }
    }
    world.cluster.patch(
        "daemonsets.apps", "otel-collector-agent", patch, namespace=APP.namespace, type="strategic"
    )
    world.cluster.delete("pods", agent["metadata"]["name"], APP.namespace)
    world.cluster.advance(60.0)
    assert "2/3 available" in available(world, baseline).observed
    world.cluster.patch("nodes", agent["spec"]["nodeName"], {"spec": {"unschedulable": True}}, type="merge")
    assert available(world, baseline).passed


# --- flags --------------------------------------------------------------------------------------------------

FLAGS: dict[tuple[str, str], dict[str, float]] = {
    ("productCatalogFailure", "on"): {PRODUCT: 0.9, RECOMMENDED: 0.9, CHECKOUT: 0.81, ASSISTANT: 0.9},
    ("adFailure", "on"): {ADS: 0.9},
    ("paymentFailure", "100%"): {CHECKOUT: 0.0},
    ("paymentFailure", "50%"): {CHECKOUT: 0.5},
    ("paymentUnreachable", "on"): {CHECKOUT: 0.0},
    ("llmRateLimitError", "on"): {ASSISTANT: 0.25},
    ("cartFailure", "on"): {},
    ("imageSlowLoad", "10sec"): {},
}
"""The share of each journey that is still served once a flag has a variant; what is not named is served entirely."""


@pytest.mark.parametrize(("flag", "variant"), FLAGS)
def test_what_a_flag_does_to_the_users(flag: str, variant: str) -> None:
    found = served(flagged(flag, variant))
    assert found == pytest.approx(dict.fromkeys(ALL, 1.0) | FLAGS[flag, variant])


def test_garbage_collections_slow_the_advertisements_down() -> None:
    health = {each.journey: each for each in flagged("adManualGc", "on").traffic.health(20.0)}
    assert health[ADS].success_ratio == 1.0
    assert health[ADS].latency_seconds > 0.8 > health[PRODUCT].latency_seconds


def test_a_flag_that_fails_charges_is_told_to_the_front_end() -> None:
    world = flagged("paymentFailure", "100%")
    assert "Payment request failed. Invalid token. app.loyalty.level=gold" in logs(world, "payment")
    assert (
        "13 INTERNAL: failed to charge card: could not charge the card: rpc error: code = Unknown desc = Payment request failed"
        in logs(world, "frontend")
    )


def test_a_flooded_queue_is_taken_a_record_a_second() -> None:
    world = flagged("kafkaQueueProblems", "on")
    assert served(world) == dict.fromkeys(ALL, 1.0)
    assert "FeatureFlag 'kafkaQueueProblems' is enabled, sleeping 1 second" in logs(world, "fraud-detection")
    pod = next(
        p["metadata"]["name"]
        for p in world.cluster.list("pods", APP.namespace)
        if p["metadata"]["name"].startswith("kafka-")
    )
    groups = "/opt/kafka/bin/kafka-consumer-groups.sh"
    shown = world.cluster.exec(
        APP.namespace,
        pod,
        [groups, "--bootstrap-server", "kafka:9092", "--describe", "--group", "fraud-detection"],
    ).stdout
    lag = next(line.split()[5] for line in shown.splitlines() if line.startswith("fraud-detection"))
    assert int(lag) > 200


def test_a_cart_that_says_it_is_ill_is_taken_out() -> None:
    world = flagged("failedReadinessProbe", "on")
    assert served(world)[VIEW] == 0.0
    messages = [event["message"] for event in world.cluster.list("events", APP.namespace)]
    assert 'Readiness probe failed: service unhealthy (responded with "NOT_SERVING")' in messages


def test_without_flagd_every_flag_is_off() -> None:
    world = flagged("paymentFailure", "100%")
    assert served(world)[CHECKOUT] == 0.0
    scale(world, "flagd", 0)
    world.cluster.advance(60.0)
    assert served(world)[CHECKOUT] == 1.0
