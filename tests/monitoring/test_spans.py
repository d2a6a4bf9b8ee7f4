"""Traces of an embedded world: single requests that agree with what the traffic was."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster.http import HttpCall
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.monitoring.spans import _mixed, _unmixed
from sregym_env.telemetry.traces.model import FOLLOWS_FROM, Trace, TraceQuery
from sregym_env.telemetry.traces.text import trace_text
from tests.monitoring.conftest import NAMESPACE

MINUTES_10 = 600 * SECOND


def search(world: EmbeddedWorld, service: str = "frontend", **asked: object) -> list[Trace]:
    query = TraceQuery(service, world.now() - MINUTES_10, world.now(), **asked)  # type: ignore[arg-type]
    return list(world.telemetry.traces.search(query))


def test_a_request_is_a_tree(healthy: EmbeddedWorld) -> None:
    found = search(healthy, limit=50)
    assert len(found) == 50
    assert len({span.span_id for trace in found for span in trace.spans}) == sum(len(t.spans) for t in found)
    for trace in found:
        by_id = {span.span_id: span for span in trace.spans}
        roots = [span for span in trace.spans if not span.parent_id]
        assert [root.service for root in roots] == ["frontend"]
        assert trace.errors == 0
        for span in trace.spans:
            assert span.duration > 0
            assert span.end <= healthy.now()
            if span.parent_id:
                parent = by_id[span.parent_id]
                assert parent.start <= span.start
                assert span.end <= parent.end


def test_names_are_the_applications(healthy: EmbeddedWorld) -> None:
    traces = healthy.telemetry.traces
    assert set(traces.services()) == {
        "frontend", "search", "geo", "rate", "profile", "recommendation", "reservation", "user",
    }  # fmt: skip
    names = {(operation.name, operation.kind) for operation in traces.operations("frontend")}
    assert ("HTTP GET /hotels", "server") in names
    assert ("/search.Search/Nearby", "client") in names
    assert ("memcached_get_profile", "client") in {(o.name, o.kind) for o in traces.operations("profile")}
    assert traces.operations("nobody") == []


def test_whoever_asks_finds_the_same(healthy: EmbeddedWorld) -> None:
    found = search(healthy, limit=20)
    later = healthy.fork()
    later.reseed(5)
    later.advance(120.0)
    for trace in found:
        assert later.telemetry.traces.get(trace.trace_id) == trace
    assert healthy.telemetry.traces.get("0000000000000001") is None


def test_what_has_failed_is_found(broken: EmbeddedWorld) -> None:
    failed = search(broken, tags={"error": "true"}, limit=40)
    assert len(failed) == 40
    for trace in failed:
        assert trace.root.failed
        deepest = [span for span in trace.spans if span.failed and span.kind == "client"]
        assert deepest
    names = {
        span.operation for trace in failed for span in trace.spans if span.failed and span.kind == "client"
    }
    assert "/reservation.Reservation/CheckAvailability" in names
    assert not any(span.service == "reservation" for trace in failed for span in trace.spans)
    before = TraceQuery(
        "frontend",
        broken.now() - 3 * MINUTES_10,
        broken.now() - MINUTES_10 - 30 * SECOND,
        tags={"error": "true"},
    )
    assert list(broken.telemetry.traces.search(before)) == []


def test_durations_add_up_to_the_latency(healthy: EmbeddedWorld) -> None:
    found = search(healthy, operation="HTTP GET /hotels", limit=100)
    mean = sum(trace.duration for trace in found) / len(found) / SECOND
    told = next(j for j in healthy.traffic.health(600.0) if j.journey == "search").latency_seconds
    assert mean == pytest.approx(told, rel=0.25)


@pytest.mark.parametrize(("shortest", "longest"), [("1ms", "0s"), ("0s", "2ms"), ("3ms", "5ms")])
def test_searches_by_duration(healthy: EmbeddedWorld, shortest: str, longest: str) -> None:
    low, high = (
        int(shortest[:-2] or 0) if shortest != "0s" else 0,
        int(longest[:-2]) if longest != "0s" else 0,
    )
    found = search(healthy, min_duration=low * 10**6, max_duration=high * 10**6, limit=20)
    assert found
    for trace in found:
        fitting = [span for span in trace.spans if span.service == "frontend"]
        assert any(
            span.duration >= low * 1000 and (not high or span.duration <= high * 1000) for span in fitting
        )


def test_dependencies_are_the_calls_of_the_range(healthy: EmbeddedWorld) -> None:
    links = {(link.parent, link.child): link.calls for link in healthy.telemetry.traces.dependencies(
        healthy.now() - MINUTES_10, healthy.now())}  # fmt: skip
    assert {
        ("frontend", "search"),
        ("search", "geo"),
        ("search", "rate"),
        ("frontend", "profile"),
    } <= links.keys()
    health = {j.journey: j.requests for j in healthy.traffic.health(600.0)}
    assert links[("frontend", "search")] == pytest.approx(health["search"], rel=0.02)


def test_without_a_collector_nothing_is_kept(healthy: EmbeddedWorld) -> None:
    healthy.cluster.patch("deployments.apps", "jaeger", {"spec": {"replicas": 0}}, namespace=NAMESPACE)
    healthy.advance(60.0)
    assert search(healthy) == []
    assert healthy.telemetry.traces.services() == []
    healthy.cluster.patch("deployments.apps", "jaeger", {"spec": {"replicas": 1}}, namespace=NAMESPACE)
    healthy.advance(120.0)
    kept = search(healthy, limit=1000)
    assert kept
    assert min(trace.start for trace in kept) > healthy.now() - 120 * SECOND


def test_jaeger_answers_inside_the_cluster(healthy: EmbeddedWorld) -> None:
    url = f"http://jaeger.{NAMESPACE}:16686/api/"
    services = healthy.request(HttpCall(url + "services"))
    assert services.status == 200
    assert '"frontend"' in services.body
    found = healthy.request(HttpCall(url + "traces?service=frontend&limit=1"))
    assert found.status == 200
    trace = search(healthy, limit=1)[0]
    assert trace.trace_id in found.body
    missing = healthy.request(HttpCall(url + "traces"))
    assert missing.status == 400
    assert "parameter 'service' is required" in missing.body


@pytest.mark.parametrize("number", [0, 1, 2**63, 2**64 - 1, 123_456_789_012])
def test_identifiers_can_be_read_back(number: int) -> None:
    assert _unmixed("key", _mixed("key", number)) == number
    assert _mixed("key", number) != _mixed("other", number)


@pytest.fixture(scope="module")
def shop() -> EmbeddedWorld:
    """An Astronomy Shop whose users are served."""
    world = deployed_world(apps.app("astronomy-shop"), 0)
    world.advance(600.0)
    return world


def test_requests_are_followed_beyond_the_edge_proxy(shop: EmbeddedWorld) -> None:
    found = [trace for trace in search(shop, "checkout", limit=20) if len(trace.services) > 3]
    assert found
    for trace in found:
        assert [span.service for span in trace.spans if not span.parent_id] == ["frontend-proxy"]
        assert {"frontend", "checkout", "cart", "payment", "shipping", "quote", "email"} <= set(
            trace.services
        )
    calls = {(each.parent, each.child) for each in shop.telemetry.traces.dependencies(0, shop.now())}
    assert ("frontend-proxy", "frontend") in calls


def test_statements_and_records_are_answered_under_their_full_names(shop: EmbeddedWorld) -> None:
    spans = [span for trace in search(shop, "product-catalog", limit=50) for span in trace.spans]
    assert any(span.operation == "select" for span in spans)
    assert any(
        span.operation == "publish orders"
        for trace in search(shop, "checkout", limit=5)
        for span in trace.spans
    )
    assert all(trace.errors == 0 for trace in search(shop, "frontend-proxy", limit=100))


@pytest.mark.parametrize(
    ("service", "names", "linked"),
    [
        (
            "accounting",
            ["order-consumed", "receive orders", "insert", "insert", "insert"],
            {"receive orders"},
        ),
        ("fraud-detection", ["receive orders", "process orders"], {"receive orders", "process orders"}),
    ],
)
def test_a_record_that_is_taken_has_a_trace_of_its_own(
    shop: EmbeddedWorld, service: str, names: list[str], linked: set[str]
) -> None:
    """It is linked to the span that published the record, after which it was received."""
    traces = shop.telemetry.traces
    found = search(shop, service, limit=10)
    assert len(found) == 10
    for trace in found:
        assert traces.get(trace.trace_id) == trace
        assert [span.operation for span in trace.spans] == names
        assert {span.service for span in trace.spans} == {service}
        assert [span.operation for span in trace.spans if not span.parent_id] == names[:1]
        links = {
            span.operation: reference
            for span in trace.spans
            for reference in span.references
            if reference.kind == FOLLOWS_FROM
        }
        assert links.keys() == linked
        shown = trace_text(trace)
        assert shown.count(" follows from span ") == len(links)
        for reference in links.values():
            assert f"follows from span {reference.span_id} of trace {reference.trace_id}" in shown
            other = traces.get(reference.trace_id)
            assert other is not None
            (published,) = (span for span in other.spans if span.span_id == reference.span_id)
            assert (published.service, published.operation) == ("checkout", "publish orders")
            assert published.end <= next(
                span.end for span in trace.spans if span.operation == "receive orders"
            )
    kinds = {(each.name, each.kind) for each in traces.operations(service)}
    assert ("receive orders", "consumer") in kinds and "server" not in {kind for _, kind in kinds}


def test_records_that_nobody_takes_have_no_trace_until_somebody_does(shop: EmbeddedWorld) -> None:
    world = shop.fork()
    begin = world.now()
    world.cluster.patch(
        "deployments.apps", "accounting", {"spec": {"replicas": 0}}, namespace="astronomy-shop"
    )
    world.advance(300.0)

    def published_since() -> list[Trace]:
        query = TraceQuery("accounting", begin + 60 * SECOND, world.now())
        return list(world.telemetry.traces.search(query))

    assert published_since() == []
    world.cluster.patch(
        "deployments.apps", "accounting", {"spec": {"replicas": 1}}, namespace="astronomy-shop"
    )
    world.advance(60.0)
    back = published_since()
    assert len(back) > 15
    assert min(span.end for trace in back for span in trace.spans) > begin + 300 * SECOND
    world.cluster.patch("deployments.apps", "kafka", {"spec": {"replicas": 0}}, namespace="astronomy-shop")
    world.advance(30.0)
    gone = world.now()
    world.advance(300.0)
    assert not search_since(world, "accounting", gone) and not search_since(world, "fraud-detection", gone)


def search_since(world: EmbeddedWorld, service: str, begin: int) -> list[Trace]:
    return list(world.telemetry.traces.search(TraceQuery(service, begin, world.now())))


def test_only_the_calls_that_fail_are_said_to_fail(shop: EmbeddedWorld) -> None:
    """A component that is away fails who asks it, and no other operation of theirs."""
    world = shop.fork()
    world.cluster.patch(
        "deployments.apps", "product-reviews", {"spec": {"replicas": 0}}, namespace="astronomy-shop"
    )
    world.advance(400.0)
    query = (
        'sum by (span_name) (rate(traces_span_metrics_calls_total{status_code="STATUS_CODE_ERROR"}[3m])) > 0'
    )
    failing = {
        str(dict(labels)["span_name"])
        for labels, _, _ in world.telemetry.metrics.query(query, world.now() // 1000).series
    }
    assert failing
    assert all("eview" in name or "ssistant" in name for name in failing), failing


def test_what_comes_after_a_call_that_fails_is_not_said_to_fail(shop: EmbeddedWorld) -> None:
    """Half of the calls to quote are refused: whatever checkout does later it does half as often, and well."""
    world = shop.fork()
    selector = world.cluster.get("services", "quote", "astronomy-shop")["spec"]["selector"]
    idle = {"name": "idle", "image": "busybox", "command": ["sleep", "99999"]}
    stranger = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "stranger", "labels": selector},
        "spec": {"containers": [idle]},
    }
    world.cluster.create(stranger, namespace="astronomy-shop")
    world.advance(400.0)
    query = 'sum by (service_name, span_name) (rate(traces_span_metrics_calls_total{status_code="STATUS_CODE_ERROR"}[3m])) > 0'
    rows = world.telemetry.metrics.query(query, world.now() // 1000).series
    failing = {(str(dict(labels)["service_name"]), str(dict(labels)["span_name"])) for labels, _, _ in rows}
    assert failing == {
        ("shipping", "POST /getquote"),
        ("shipping", "POST /get-quote"),
        ("checkout", "POST /get-quote"),
        ("checkout", "/oteldemo.CheckoutService/PlaceOrder"),
        ("frontend", "/oteldemo.CheckoutService/PlaceOrder"),
        ("frontend", "POST /api/checkout"),
        ("frontend-proxy", "POST /api/checkout"),
    }


def test_who_is_forgotten_is_not_said_to_have_been_away(shop: EmbeddedWorld) -> None:
    """Of pods that ended hours ago nobody knows any more whether they answered."""
    world = shop.fork()
    before = world.now()
    note = {"spec": {"template": {"metadata": {"annotations": {"again": "1"}}}}}
    world.cluster.patch("deployments.apps", "postgresql", note, namespace="astronomy-shop")
    world.advance(3 * 3600.0)
    world.cluster.patch("deployments.apps", "quote", note, namespace="astronomy-shop")
    world.advance(60.0)
    query = 'sum by (service_name) (rate(traces_span_metrics_calls_total{status_code="STATUS_CODE_ERROR"}[3m])) > 0'
    assert not world.telemetry.metrics.query(query, before // 1000).series


def test_a_refused_login_fails_its_own_statements_alone(shop: EmbeddedWorld) -> None:
    world = shop.fork()
    (pod,) = (
        each
        for each in world.cluster.list("pods", "astronomy-shop")
        if each["metadata"]["name"].startswith("postgresql-")
    )
    change = ["psql", "-U", "root", "-d", "otel", "-c", "ALTER USER otelu WITH PASSWORD 'x9'"]
    assert world.cluster.exec("astronomy-shop", pod["metadata"]["name"], change).stdout == "ALTER ROLE\n"
    world.advance(300.0)
    found = [trace for trace in search(world, "product-reviews", limit=20) if trace.errors]
    assert found
    for trace in found:
        (deepest,) = (
            span
            for span in trace.spans
            if span.failed and not any(s.parent_id == span.span_id for s in trace.spans)
        )
        assert (deepest.service, deepest.operation) == ("product-reviews", "select")
    assert not any(
        trace.errors
        for trace in search(world, "product-catalog", limit=20)
        if "product-reviews" not in trace.services
    )


def test_stores_and_collectors_write_no_spans(shop: EmbeddedWorld) -> None:
    silent = {"valkey-cart", "postgresql", "kafka", "opensearch", "otel-collector-agent", "load-generator"}
    assert not silent & set(shop.telemetry.traces.services())


def test_a_call_that_is_given_up_fails_at_the_caller(healthy: EmbeddedWorld) -> None:
    """What waits too long for another is not said to have failed by itself, with a call that went well."""
    healthy.cluster.patch(
        "deployments.apps",
        "rate",
        {"spec": {"template": {"spec": {"containers": [
            {"name": "hotel-reserv-rate", "resources": {"requests": {"cpu": "1m"}, "limits": {"cpu": "5m"}}}
        ]}}}},
        namespace=NAMESPACE,
    )  # fmt: skip
    healthy.advance(300.0)
    query = TraceQuery("search", healthy.now() - 60 * SECOND, healthy.now(), limit=20)
    failed = [trace for trace in healthy.telemetry.traces.search(query) if trace.errors]
    assert failed
    for trace in failed:
        (asked,) = (
            span
            for span in trace.spans
            if span.operation == "/rate.Rate/GetRates" and span.service == "search"
        )
        (served,) = (
            span
            for span in trace.spans
            if span.operation == "/search.Search/Nearby" and span.service == "search"
        )
        assert ("error", True) in asked.tags
        assert asked.duration > 0.5 * served.duration
