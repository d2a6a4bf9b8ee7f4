"""A small shop over PostgreSQL, Kafka, Valkey, flagd and OpenSearch, in the forms in which the Astronomy Shop has them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import orjson

from sregym_env.apps import stock
from sregym_env.cluster.app import App, Binary, Component, Image, Journey
from sregym_env.cluster.streams import ExecResult
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs.defaults import MIB
from sregym_env.sim.programs.services.peers import At, Peer
from sregym_env.sim.programs.services.protocols import Grpc, Http
from sregym_env.sim.programs.services.runtimes.go import Go
from sregym_env.sim.programs.services.settings import Route, ServiceSettings
from sregym_env.sim.programs.services.steps import Ask, Compute, End, Handler, Lost, Open, Reach, Say, Start
from sregym_env.sim.programs.services.values import Variable

NS = "shop"
INIT = """-- A comment.
CREATE USER otelu WITH PASSWORD 'otelp';

CREATE SCHEMA accounting;
CREATE SCHEMA reviews;
CREATE SCHEMA catalog;

CREATE TABLE accounting."order" (
    order_id TEXT PRIMARY KEY
);
CREATE TABLE accounting.shipping (
    shipping_tracking_id TEXT PRIMARY KEY,
    shipping_cost_units BIGINT NOT NULL,
    order_id TEXT NOT NULL,
    FOREIGN KEY (order_id) REFERENCES accounting."order"(order_id) ON DELETE CASCADE
);
GRANT USAGE ON SCHEMA accounting TO otelu;
GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA accounting TO otelu;

CREATE TABLE reviews.productreviews (
    id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    product_id VARCHAR(16) NOT NULL,
    username VARCHAR(64) NOT NULL,
    score NUMERIC(2,1) NOT NULL
);
CREATE INDEX product_id_index ON reviews.productreviews (product_id);
GRANT USAGE ON SCHEMA reviews TO otelu;
GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA reviews TO otelu;
INSERT INTO reviews.productreviews (product_id, username, score) VALUES
    ('OLJCESPC7Z', 'stargazer_mike', '4.7'), ('OLJCESPC7Z', 'it''s me', '5.0'), ('L9ECAV7KIM', 'b', '3.5');

CREATE TABLE catalog.products (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    price_units BIGINT NOT NULL,
    categories TEXT
);
GRANT USAGE ON SCHEMA catalog TO otelu;
GRANT SELECT ON ALL TABLES IN SCHEMA catalog TO otelu;
INSERT INTO catalog.products (id, name, price_units, categories) VALUES
    ('OLJCESPC7Z', 'Explorascope; the small one', 101, 'telescopes'),
    ('66VCHSJNUP', 'Starsense', 349, 'telescopes'),
    ('L9ECAV7KIM', 'Lens Cleaning Kit', 21, 'accessories'),
    ('HQTGWGPNH4', 'The Comet Book', 0, NULL);
"""
FLAGS = {
    "flags": {
        "kafkaQueueProblems": {
            "state": "ENABLED",
            "variants": {"on": 100, "off": 0},
            "defaultVariant": "off",
        },
        "cartFailure": {"state": "ENABLED", "variants": {"on": True, "off": False}, "defaultVariant": "off"},
        "gone": {"state": "DISABLED", "variants": {"on": True, "off": False}, "defaultVariant": "on"},
    }
}
DATABASE = Variable("DB_CONNECTION_STRING")


def _open(port: str) -> Open:
    return Open(port, End("fatal", "main.go:1"), End("fatal", "main.go:2"))


def _service(
    name: str,
    port: str,
    peers: tuple[Peer, ...],
    handlers: tuple[Handler, ...],
    start: tuple[Start, ...] = (),
    **more: Any,
) -> ServiceSettings:
    opened = (_open(port),) if port else ()
    return ServiceSettings(
        name, Go(f"/src/{name}"), Grpc(), 10 * MIB, (*start, *opened), handlers, peers, **more
    )


def _services() -> dict[str, ServiceSettings]:
    say = Say("error", "main.go:9", "{error}")
    catalog = _service(
        "catalog", "8080",
        (Peer("db", "lib-pq", At(DATABASE), columns=(("catalog.products", ("id", "name", "price_units", "categories")),)),),
        (Handler("/catalog/Get", (Compute(0.0005), Ask("db", "select", "catalog.products", Lost(log=say)))),),
    )  # fmt: skip
    reviews = _service(
        "reviews", "3551", (Peer("db", "psycopg2", At(DATABASE)),),
        (Handler("/reviews/Get", (Ask("db", "select", "reviews.productreviews", Lost(log=say)),)),),
    )  # fmt: skip
    cart = _service(
        "cart", "8080", (Peer("cache", "stackexchange-redis", At(Variable("VALKEY_ADDR"))),),
        (
            Handler("/cart/Get", (Ask("cache", "hget", "cart", Lost(log=say)),)),
            Handler("/cart/Add", (Ask("cache", "hset", "cart", Lost(log=say)),)),
        ),
    )  # fmt: skip
    broker = At(Variable("KAFKA_ADDR"))
    checkout = _service(
        "checkout", "8080", (Peer("cart", "grpc-go", At("cart:8080")), Peer("queue", "sarama", broker)),
        (Handler("/checkout/Place", (Ask("cart", "/cart/Get"), Ask("queue", "produce", "orders", Lost("ignore", log=say)))),),
        (Reach("queue", every=2.0, log=(say,)),),
    )  # fmt: skip
    accounting = _service(
        "accounting", "", (Peer("queue", "confluent-kafka", broker, database="accounting/orders"), Peer("db", "npgsql", At(DATABASE))),
        (Handler("consume orders", (Ask("db", "insert", "accounting.order", Lost("ignore", log=say)),)),),
        (Reach("queue", every=2.0, log=(say,)),),
    )  # fmt: skip
    routes = tuple(
        Route(path, lambda given: "", lambda given: "ok\n", {"GET": f"GET {path}"})
        for path in ("/product", "/reviews", "/cart", "/add", "/checkout")
    )
    asks = {"/product": ("catalog", "/catalog/Get"), "/reviews": ("reviews", "/reviews/Get"), "/cart": ("cart", "/cart/Get"),
            "/add": ("cart", "/cart/Add"), "/checkout": ("checkout", "/checkout/Place")}  # fmt: skip
    ports = {"reviews": 3551}
    peers = tuple(
        Peer(name, "grpc-go", At(f"{name}:{ports.get(name, 8080)}"), timeout=5.0)
        for name in ("catalog", "reviews", "cart", "checkout")
    )
    web = ServiceSettings(
        "web", Go("/src/web"), Http(), 20 * MIB, (_open("8080"),),
        tuple(Handler(f"GET {path}", (Ask(*ask),)) for path, ask in asks.items()), peers, routes,
    )  # fmt: skip
    return {each.name: each for each in (catalog, reviews, cart, checkout, accounting, web)}


def deployment(
    name: str, image: str, port: int, env: dict[str, str], **container: Any
) -> list[dict[str, Any]]:
    pod: dict[str, Any] = container.pop("pod", {})
    given = {
        "name": name,
        "image": image,
        "env": [{"name": k, "value": v} for k, v in env.items()],
        **container,
    }
    if port:
        given["ports"] = [{"containerPort": port}]
    labels = {"app": name}
    made: list[dict[str, Any]] = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": NS},
         "spec": {"selector": {"matchLabels": labels},
                  "template": {"metadata": {"labels": labels}, "spec": {"containers": [given], **pod}}}}
    ]  # fmt: skip
    if port:
        made.append({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": NS},
                     "spec": {"selector": labels, "ports": [{"port": port}]}})  # fmt: skip
    return made


def _manifests() -> tuple[dict[str, Any], ...]:
    url = {"DB_CONNECTION_STRING": "postgres://otelu:otelp@postgresql/otel?sslmode=disable"}
    queue = {"KAFKA_ADDR": "kafka:9092"}
    config = {"configMap": {"name": "postgresql-init"}}
    flags = {"configMap": {"name": "flagd-config"}}
    copied = {"name": "config-rw", "emptyDir": {}}
    init = {"name": "init-config", "image": "busybox:latest",
            "command": ["sh", "-c", "cp /config-ro/demo.flagd.json /config-rw/demo.flagd.json"],
            "volumeMounts": [{"name": "config-ro", "mountPath": "/config-ro"}, {"name": "config-rw", "mountPath": "/config-rw"}]}  # fmt: skip
    made: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NS}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "postgresql-init", "namespace": NS}, "data": {"init.sql": INIT}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "flagd-config", "namespace": NS},
         "data": {"demo.flagd.json": orjson.dumps(FLAGS).decode()}},
        *deployment(
            "postgresql", "postgres:17.6", 5432, {"POSTGRES_USER": "root", "POSTGRES_PASSWORD": "otel", "POSTGRES_DB": "otel"},
            volumeMounts=[{"name": "init", "mountPath": "/docker-entrypoint-initdb.d"}], pod={"volumes": [{"name": "init", **config}]},
            resources={"limits": {"memory": "100Mi"}},
        ),
        *deployment("valkey-cart", "valkey/valkey:9.0.1-alpine3.23", 6379, {}, resources={"limits": {"memory": "20Mi"}}),
        *deployment(
            "kafka", "kafka:2.2.0", 9092,
            {"KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092", "KAFKA_LISTENERS": "PLAINTEXT://:9092,CONTROLLER://:9093",
             "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@kafka:9093", "KAFKA_HEAP_OPTS": "-Xmx400M -Xms400M"},
            resources={"limits": {"memory": "600Mi"}},
        ),
        *deployment(
            "flagd", "ghcr.io/open-feature/flagd:v0.12.9", 8013, {},
            args=["start", "--port", "8013", "--ofrep-port", "8016", "--uri", "file:./etc/flagd/demo.flagd.json"],
            volumeMounts=[{"name": "config-rw", "mountPath": "/etc/flagd"}],
            pod={"initContainers": [init], "volumes": [copied, {"name": "config-ro", **flags}]},
        ),
        *deployment("opensearch", "opensearch:3.4.0", 9200, {"OPENSEARCH_JAVA_OPTS": "-Xms400m -Xmx400m"}),
        *deployment("catalog", "catalog", 8080, url),
        *deployment("reviews", "reviews", 3551, {"DB_CONNECTION_STRING": "host=postgresql user=otelu password=otelp dbname=otel"}),
        *deployment("cart", "cart", 8080, {"VALKEY_ADDR": "valkey-cart:6379"}),
        *deployment("checkout", "checkout", 8080, queue),
        *deployment("accounting", "accounting", 0,
                    {**queue, "DB_CONNECTION_STRING": "Host=postgresql;Username=otelu;Password=otelp;Database=otel"}),
        *deployment("web", "web", 8080, {}),
        *deployment("toolbox", "busybox:latest", 0, {}, command=["sleep", "infinity"]),
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "load", "namespace": NS},
         "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [
             {"name": "load", "image": "wrk2", "command": ["wrk", "-R", "10", "-d", "30s", "http://web.shop.svc.cluster.local:8080"]}]}}}},
    ]  # fmt: skip
    return tuple(made)


@lru_cache(maxsize=1)
def shop() -> App:
    services = _services()
    images = tuple(
        Image(name, 20_000_000, {name: Binary("service", each)}, command=(name,), toolbox="busybox")
        for name, each in services.items()
    )
    stores = (
        stock.postgresql("postgres:17.6", "17.6"), stock.valkey("valkey/valkey:9.0.1-alpine3.23", "9.0.1"),
        stock.kafka("kafka:2.2.0", "3.9.1"), stock.flagd("ghcr.io/open-feature/flagd:v0.12.9"),
        stock.opensearch("opensearch:3.4.0", "3.4.0"), stock.wrk2("wrk2"),
    )  # fmt: skip
    kinds = {"postgresql": ("postgresql", 5432), "valkey-cart": ("redis", 6379), "kafka": ("kafka", 9092),
             "flagd": ("flags", 8013), "opensearch": ("search", 9200)}  # fmt: skip
    components = [
        Component(name, kind, "deployments.apps", name, port, name) for name, (kind, port) in kinds.items()
    ]
    components += [
        Component(
            name,
            "grpc_service",
            "deployments.apps",
            name,
            {"reviews": 3551, "accounting": 0}.get(name, 8080),
            "" if name == "accounting" else name,
        )
        for name in services
    ]
    components.append(Component("load", "load", "jobs.batch", "load"))
    journeys = tuple(
        Journey(path.strip("/"), "GET", path, weight)
        for path, weight in (
            ("/product", 0.4),
            ("/reviews", 0.1),
            ("/cart", 0.2),
            ("/add", 0.2),
            ("/checkout", 0.1),
        )
    )
    return App(
        "stores-shop",
        "Shop",
        NS,
        "A shop.",
        tuple(components),
        _manifests(),
        (*images, *stores),
        journeys,
        "web",
        rate=10.0,
    )


def world(seed: int = 1) -> EmbeddedWorld:
    """A fresh copy of the shop, healthy and under load."""
    return deployed_world(shop(), seed).fork()


def pod(world: EmbeddedWorld, name: str) -> str:
    """The newest pod of a component that runs."""
    found = [p for p in world.store.list("pods", NS) if p["metadata"]["name"].startswith(name + "-")]
    return str(max(found, key=lambda p: p["metadata"]["creationTimestamp"])["metadata"]["name"])


def run(world: EmbeddedWorld, component: str, *argv: str, stdin: str = "") -> ExecResult:
    """Run a command in a component's container."""
    return world.cluster.exec(NS, pod(world, component), list(argv), stdin=stdin)


def sql(world: EmbeddedWorld, text: str, *options: str, user: str = "root") -> ExecResult:
    """Run a statement in the database's own container."""
    return run(world, "postgresql", "psql", "-U", user, "-d", "otel", *options, "-c", text)


def served(world: EmbeddedWorld, journey: str, seconds: float = 10.0) -> tuple[float, str]:
    """The share of a journey's requests that succeed, and what one of the others is told."""
    health = next(each for each in world.traffic.health(seconds) if each.journey == journey)
    return health.success_ratio, next(iter(health.errors), "")
