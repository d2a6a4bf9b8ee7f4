"""Astronomy Shop's components: what their steps say of who needs whom, and what users do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from sregym_env.apps.astronomy_shop.edition import Edition
from sregym_env.apps.astronomy_shop.services import services
from sregym_env.cluster.app import Account, Component, Dependency, Journey
from sregym_env.sim.programs.kafka import broker
from sregym_env.sim.programs.postgres import server
from sregym_env.sim.programs.services.graph import Need, needs, reached

MI = 1024 * 1024

_STARTS: Mapping[str, float] = {"postgresql": server.INIT_SECONDS, "kafka": broker.START_SECONDS}
"""Seconds until a store listens: the database makes its directory at every start."""

TASKS: Mapping[str, tuple[int, Mapping[str, float]]] = {
    "index": (1, {"home": 1}),
    "browse_product": (10, {"product": 1}),
    "get_recommendations": (3, {"recommendations": 1}),
    "get_product_reviews": (2, {"reviews": 1, "review-score": 1}),
    "ask_product_ai_assistant": (1, {"ask-assistant": 1}),
    "get_ads": (3, {"ads": 1}),
    "view_cart": (3, {"view-cart": 1}),
    "add_to_cart": (2, {"product": 1, "add-to-cart": 1}),
    "checkout": (1, {"product": 1, "add-to-cart": 1, "checkout": 1}),
    "checkout_multi": (1, {"product": 3, "add-to-cart": 3, "checkout": 1}),
    "flood_home": (5, {}),
}
"""What Locust's users do: the weight of each task, and the requests that it makes."""

REQUESTS = {
    "home": ("GET", "/"),
    "product": ("GET", "/api/products/{product}"),
    "recommendations": ("GET", "/api/recommendations?productIds={product}"),
    "reviews": ("GET", "/api/product-reviews/{product}"),
    "review-score": ("GET", "/api/product-reviews-avg-score/{product}"),
    "ask-assistant": ("POST", "/api/product-ask-ai-assistant/{product}"),
    "ads": ("GET", "/api/data/?contextKeys=telescopes"),
    "view-cart": ("GET", "/api/cart"),
    "add-to-cart": ("POST", "/api/cart"),
    "checkout": ("POST", "/api/checkout"),
}
"""Method, path and query of each journey."""

_ANSWERS: Mapping[str, Mapping[str, int]] = {
    "product-catalog": {"/oteldemo.ProductCatalogService/ListProducts": 10 * 480},
    "frontend": {"GET /": 12000, "GET /api/recommendations": 4 * 560},
}
"""Bytes of answers of several packets, estimated: ten products with their descriptions, the page as it is rendered, four products
to recommend."""

_TOTAL = sum(weight for weight, _ in TASKS.values())
_SENT = {
    name: sum(weight * requests.get(name, 0.0) for weight, requests in TASKS.values()) / _TOTAL
    for name in REQUESTS
}
MEAN_REQUESTS = sum(_SENT.values())
"""Requests that a task makes on average."""
WAIT = 5.5
"""Seconds between two tasks of a user."""

STORES = (
    "postgresql",
    "valkey-cart",
    "kafka",
    "flagd",
    "opensearch",
    "otel-collector-agent",
    "jaeger",
    "grafana",
)

_KINDS = {
    "postgresql": "postgresql", "valkey-cart": "valkey", "kafka": "kafka", "flagd": "feature_flags",
    "opensearch": "search", "otel-collector-agent": "telemetry", "jaeger": "tracing", "grafana": "dashboard",
}  # fmt: skip
_MEMORY = {
    "postgresql": 48, "valkey-cart": 6, "kafka": 370, "flagd": 22, "opensearch": 730, "otel-collector-agent": 96,
    "jaeger": 48, "grafana": 96,
}  # fmt: skip
"""Resident memory at rest, MiB."""
_WORKLOADS = {"opensearch": "statefulsets.apps", "otel-collector-agent": "daemonsets.apps"}
_CONTAINERS = {"otel-collector-agent": "opentelemetry-collector"}
_SERVICES = {"otel-collector-agent": "otel-collector"}
_WEB = frozenset(("frontend", "shipping", "quote", "email", "llm", "image-provider"))
_WORKERS = frozenset(("accounting", "fraud-detection"))
_FLAGGED = frozenset(
    ("ad", "cart", "checkout", "email", "fraud-detection", "llm", "payment", "product-catalog", "product-reviews",
     "recommendation", "frontend")
)  # fmt: skip

WAITS = {"accounting": "kafka", "checkout": "kafka", "fraud-detection": "kafka", "cart": "valkey-cart"}
"""Whom init containers wait for."""


def rate(edition: Edition) -> float:
    """Requests per second that the users make."""
    return edition.users * MEAN_REQUESTS / WAIT


@cache
def _reached() -> Mapping[str, Mapping[str, set[str]]]:
    """Operations that each journey leads to, by component, the front end first."""
    return {
        name: reached(
            services(), "frontend", f"{method} {path.partition('?')[0].replace('{product}', '{productId}')}"
        )
        for name, (method, path) in REQUESTS.items()
    }


def journeys(edition: Edition) -> tuple[Journey, ...]:
    """What users do, with the load generator's mix."""
    return tuple(
        Journey(
            name,
            method,
            path.replace("{product}", edition.product),
            _SENT[name] / MEAN_REQUESTS,
            ("frontend-proxy", *_reached()[name]),
        )
        for name, (method, path) in REQUESTS.items()
    )


def components(edition: Edition) -> tuple[Component, ...]:
    """All components, leaves first."""
    own = [_service(edition, name) for name in services()]
    return (
        *(_store(edition, name) for name in STORES),
        *own,
        _proxy(edition),
        Component(
            "load-generator",
            "load",
            "deployments.apps",
            "load-generator",
            edition.ports["load-generator"],
            "load-generator",
            memory=220 * MI,
            dependencies=(
                Dependency(
                    "frontend-proxy",
                    frozenset({"request"}),
                    "service",
                    edition.ports["frontend-proxy"],
                    _host(edition, "frontend-proxy"),
                ),
            ),
        ),
    )


def _host(edition: Edition, name: str) -> str:
    """The name under which it is looked up, where that is not its own."""
    host = edition.host(name)
    return "" if host == name else host


def _port(edition: Edition, name: str) -> int:
    return edition.ports.get("otel-collector" if name == "otel-collector-agent" else name, 0)


def _store(edition: Edition, name: str) -> Component:
    built = edition.builds["otel-collector" if name == "otel-collector-agent" else name]
    accounts = (Account(edition.user, edition.password), Account("root", edition.root_password))
    return Component(
        name,
        _KINDS[name],
        _WORKLOADS.get(name, "deployments.apps"),
        _CONTAINERS.get(name, name),
        _port(edition, name),
        _SERVICES.get(name, name),
        memory=_MEMORY[name] * MI,
        database="otel" if name == "postgresql" else "",
        tables=("catalog.products", "reviews.productreviews") if name == "postgresql" else (),
        written=name == "valkey-cart",
        accounts=accounts if name == "postgresql" else (),
        releases=built.works,
        service_port=80 if name == "grafana" else 0,
        starts=_STARTS.get(name, 0.0),
    )


def _service(edition: Edition, name: str) -> Component:
    settings = services()[name]
    operations = {operation for found in _reached().values() for operation in found.get(name, ())}
    # What nobody waits for is asked all the same.
    if name in _WORKERS:
        operations = {"consume orders"}
    if name == "email":
        operations = {"POST /send_order_confirmation"}
    found = {need.on: need for need in needs(settings, operations) if need.on in edition.builds}
    port = edition.ports.get(name, 0)
    dependencies = [_dependency(edition, name, need) for need in found.values()]
    if name in WAITS and WAITS[name] not in found:
        dependencies.append(_waited(edition, WAITS[name]))
    if name in _FLAGGED:
        dependencies.append(
            Dependency(
                "flagd",
                frozenset({"request"}),
                "service",
                edition.ports["flagd"],
                _host(edition, "flagd"),
                False,
            )
        )
    dependencies.append(
        Dependency("otel-collector-agent", frozenset({"request"}), "service", 4317, "otel-collector", False)
    )
    return Component(
        name=name,
        kind="worker" if name in _WORKERS else "web" if name in _WEB else "grpc_service",
        workload="deployments.apps",
        container=name,
        port=port,
        service=name if port else "",
        memory=settings.memory,
        dependencies=tuple(dependencies),
        releases=edition.builds[name].works,
        stateless=any(name in found for found in _reached().values()),
        starts=settings.opens_after,
        answers=_ANSWERS.get(name, {}),
    )


def _dependency(edition: Edition, name: str, need: Need) -> Dependency:
    moments: list[Literal["start", "request"]] = []
    waits = WAITS.get(name) == need.on
    if need.at_start or waits:
        moments.append("start")
    if need.at_request and (need.essential or not waits):
        moments.append("request")
    return Dependency(
        need.on,
        frozenset(moments),
        "service",
        edition.ports[need.on],
        _host(edition, need.on),
        need.essential or waits,
        cached=need.cached and need.at_request,
    )


def _waited(edition: Edition, name: str) -> Dependency:
    return Dependency(name, frozenset({"start"}), "service", edition.ports[name])


def _proxy(edition: Edition) -> Component:
    behind = (
        ("frontend", True),
        ("image-provider", False),
        ("flagd", False),
        ("grafana", False),
        ("jaeger", False),
    )
    return Component(
        "frontend-proxy",
        "web",
        "deployments.apps",
        "frontend-proxy",
        edition.ports["frontend-proxy"],
        "frontend-proxy",
        memory=30 * MI,
        dependencies=tuple(
            Dependency(
                name,
                frozenset({"request"}),
                "service",
                80 if name == "grafana" else edition.ports[name],
                "" if name in ("grafana", "jaeger") else _host(edition, name),
                essential,
            )
            for name, essential in behind
        ),
        releases=edition.builds["frontend-proxy"].works,
        stateless=True,
    )
