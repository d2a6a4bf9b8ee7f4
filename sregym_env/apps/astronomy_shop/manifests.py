"""Astronomy Shop's manifests, as the chart renders them: the demo's own components."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sregym_env.apps.astronomy_shop import catalogue, files, helm, observability
from sregym_env.apps.astronomy_shop.edition import NAMESPACE, RELEASE, VERSION, Edition
from sregym_env.kube.types import Manifest

HTTP = frozenset(("accounting", "ad", "email", "fraud-detection", "kafka", "quote"))
"""Components that send telemetry over HTTP."""
FLAGS = frozenset(
    ("ad", "cart", "checkout", "email", "fraud-detection", "frontend", "frontend-proxy", "llm", "load-generator", "payment",
     "product-catalog", "product-reviews", "recommendation")
)  # fmt: skip
"""Components that are told where flagd is."""
UNINSTRUMENTED = frozenset(("postgresql", "valkey-cart", "flagd"))

LIMITS = {
    "accounting": 120, "ad": 300, "cart": 160, "checkout": 20, "currency": 20, "email": 100, "fraud-detection": 300,
    "frontend": 250, "frontend-proxy": 65, "image-provider": 50, "load-generator": 1500, "payment": 140,
    "product-catalog": 20, "product-reviews": 100, "quote": 40, "recommendation": 500, "shipping": 20, "flagd": 75,
    "kafka": 600, "postgresql": 100, "valkey-cart": 20,
}  # fmt: skip
"""Memory limits, MiB; the language model has none."""


SPARED = frozenset(("cart",))
"""Components that get no requests while they are not well, and are not restarted for it."""


def manifests(edition: Edition) -> tuple[Manifest, ...]:
    """Everything to apply, in order."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    made = (*_accounts(), *observability.objects(edition), *_own(edition))
    return (namespace, *(helm.released(each) for each in made), helm.release())


def _accounts() -> Iterator[Manifest]:
    metadata = {"name": RELEASE, "namespace": NAMESPACE, "labels": _plain()}
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


def _plain() -> dict[str, str]:
    return {key: text for key, text in helm.labels("").items() if text}


def variable(name: str, value: object) -> Manifest:
    """One variable of a container's environment."""
    return {"name": name, "value": str(value)}


def field_of(name: str, path: str) -> Manifest:
    """A variable with something of the pod itself."""
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


@dataclass(frozen=True, slots=True)
class Shape:
    """What the pod of a component has beside its image, port and environment."""

    user: int = 0
    group: int = 0
    waits: tuple[str, int] | None = None
    """Whom its init container waits for."""
    arguments: tuple[str, ...] = ()
    sidecars: tuple[Manifest, ...] = ()
    init: tuple[Manifest, ...] = ()
    mounts: tuple[Manifest, ...] = ()
    volumes: tuple[Manifest, ...] = ()
    ports: tuple[tuple[str, int], ...] = ()
    """(name, number) of ports, where they are not just one called ``service``."""
    offered: tuple[tuple[str, int], ...] = ()
    """(name, number) of the Service's ports, where they are not just one."""
    secured: Manifest = field(default_factory=dict)


def _own(edition: Edition) -> Iterator[Manifest]:
    yield _config_map("flagd-config", {"demo.flagd.json": files.flags(edition.flags)})
    yield _config_map("postgresql-init", {"init.sql": catalogue.init_sql(edition.user, edition.password)})
    for name, env in _environments(edition).items():
        shape = _shapes(edition).get(name, Shape())
        port = edition.ports.get(name, 0)
        if port:
            yield _service(edition, name, shape.offered or (("tcp-service", port),))
        yield _deployment(edition, name, env, shape, port)


def _config_map(name: str, data: dict[str, str]) -> Manifest:
    metadata = {"name": name, "namespace": NAMESPACE, "labels": _plain()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _service(edition: Edition, name: str, ports: tuple[tuple[str, int], ...]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": helm.labels(name)},
        "spec": {
            "type": "ClusterIP",
            "ports": [{"port": port, "name": called, "targetPort": port} for called, port in ports],
            "selector": {edition.label: name},
        },
    }


def _deployment(edition: Edition, name: str, env: list[Manifest], shape: Shape, port: int) -> Manifest:
    ports = shape.ports or ((("service", port),) if port else ())
    container: Manifest = {
        "name": name,
        "image": edition.builds[name].runs,
        "imagePullPolicy": "IfNotPresent",
    }
    if shape.arguments:
        container["command"] = list(shape.arguments)
    if ports:
        container["ports"] = [{"containerPort": number, "name": called} for called, number in ports]
    container["env"] = [*_common(name), *env]
    limit = edition.limits.get(name, LIMITS.get(name, 0))
    if limit:
        container["resources"] = {"limits": {"memory": f"{limit}Mi"}}
    if shape.user:
        container["securityContext"] = {
            "runAsUser": shape.user,
            "runAsGroup": shape.group or shape.user,
            "runAsNonRoot": True,
        }
    handler = edition.probes.get(name)
    if handler is not None:
        container["readinessProbe"] = handler
        if name not in SPARED:
            container["livenessProbe"] = handler
    if shape.mounts:
        container["volumeMounts"] = list(shape.mounts)
    pod: Manifest = {
        "serviceAccountName": RELEASE,
        "containers": [container, *shape.sidecars],
    }
    init = [*shape.init, *([_waiting(edition, *shape.waits)] if shape.waits else [])]
    if init:
        pod["initContainers"] = init
    if shape.volumes:
        pod["volumes"] = list(shape.volumes)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": helm.labels(name)},
        "spec": {
            "replicas": 1,
            "revisionHistoryLimit": 10,
            "selector": {"matchLabels": {edition.label: name}},
            "template": {
                "metadata": {
                    "labels": {**helm.pod_labels(name), "app.kubernetes.io/version": VERSION},
                    "annotations": {"resource.opentelemetry.io/service.namespace": "otel-demo"},
                },
                "spec": pod,
            },
        },
    }


def _waiting(edition: Edition, host: str, port: int) -> Manifest:
    script = f"until nc -z -v -w30 {host} {port}; do echo waiting for {host}; sleep 2; done;"
    return {
        "name": f"wait-for-{host}",
        "image": edition.builds["busybox"].runs,
        "command": ["sh", "-c", script],
    }


def _common(name: str) -> list[Manifest]:
    if name in UNINSTRUMENTED:
        return []
    port = 4318 if name in HTTP else 4317
    return [
        field_of("OTEL_SERVICE_NAME", "metadata.labels['app.kubernetes.io/component']"),
        variable("OTEL_COLLECTOR_NAME", "otel-collector"),
        variable("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "cumulative"),
        variable("OTEL_RESOURCE_ATTRIBUTES", f"service.name=$(OTEL_SERVICE_NAME),service.namespace=opentelemetry-demo,service.version={VERSION}"),
        variable("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://$(OTEL_COLLECTOR_NAME):{port}"),
    ]  # fmt: skip


def _environments(edition: Edition) -> dict[str, list[Manifest]]:
    """What each component is told beside what all are told, leaves first."""
    address, ports = edition.address, edition.ports
    npgsql = (
        f"Host={edition.host('postgresql')};Username={edition.user};Password={edition.password};Database=otel"
    )
    libpq = f"postgres://{edition.user}:{edition.password}@{edition.host('postgresql')}/otel?sslmode=disable"
    psycopg = f"host={edition.host('postgresql')} user={edition.user} password={edition.password} dbname=otel"
    flagd = {"FLAGD_HOST": edition.host("flagd"), "FLAGD_PORT": ports["flagd"]}
    made: dict[str, dict[str, Any]] = {
        "postgresql": {"POSTGRES_USER": "root", "POSTGRES_PASSWORD": edition.root_password, "POSTGRES_DB": "otel"},
        "valkey-cart": {},
        "kafka": {
            "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://kafka:{ports['kafka']}",
            "KAFKA_LISTENERS": f"PLAINTEXT://:{ports['kafka']},CONTROLLER://:9093",
            "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@kafka:9093",
            "KAFKA_HEAP_OPTS": "-Xmx400M -Xms400M",
        },
        "flagd": {"GOMEMLIMIT": "60MiB"},
        "llm": {**flagd},
        "ad": {"AD_PORT": ports["ad"], **flagd, "OTEL_LOGS_EXPORTER": "otlp"},
        "cart": {
            "CART_PORT": ports["cart"],
            "ASPNETCORE_URLS": "http://*:$(CART_PORT)",
            "VALKEY_ADDR": address("valkey-cart"),
            **flagd,
        },
        "currency": {"CURRENCY_PORT": ports["currency"], "VERSION": VERSION, "IPV6_ENABLED": "false"},
        "quote": {"QUOTE_PORT": ports["quote"], "OTEL_PHP_AUTOLOAD_ENABLED": "true"},
        "shipping": {"SHIPPING_PORT": ports["shipping"], "QUOTE_ADDR": f"http://{address('quote')}", "IPV6_ENABLED": "false"},
        "product-catalog": {
            "PRODUCT_CATALOG_PORT": ports["product-catalog"],
            "GOMEMLIMIT": "16MiB",
            **flagd,
            "DB_CONNECTION_STRING": libpq,
            "OTEL_SEMCONV_STABILITY_OPT_IN": "database",
        },
        "recommendation": {
            "RECOMMENDATION_PORT": ports["recommendation"],
            "PRODUCT_CATALOG_ADDR": address("product-catalog"),
            "OTEL_PYTHON_LOG_CORRELATION": "true",
            **flagd,
        },
        "product-reviews": {
            "PRODUCT_REVIEWS_PORT": ports["product-reviews"],
            "OTEL_PYTHON_LOG_CORRELATION": "true",
            "PRODUCT_CATALOG_ADDR": address("product-catalog"),
            "DB_CONNECTION_STRING": psycopg,
            "LLM_HOST": edition.host("llm"),
            "LLM_PORT": ports["llm"],
            "LLM_BASE_URL": "http://$(LLM_HOST):$(LLM_PORT)/v1",
            "LLM_MODEL": "astronomy-llm",
            "OPENAI_API_KEY": "dummy",
            **flagd,
        },
        "payment": {"PAYMENT_PORT": ports["payment"], "IPV6_ENABLED": "false", **flagd},
        "email": {"EMAIL_PORT": ports["email"], "APP_ENV": "production", **flagd},
        "checkout": {
            "CHECKOUT_PORT": ports["checkout"],
            "CART_ADDR": address("cart"),
            "CURRENCY_ADDR": address("currency"),
            "EMAIL_ADDR": f"http://{address('email')}",
            "PAYMENT_ADDR": address("payment"),
            "PRODUCT_CATALOG_ADDR": address("product-catalog"),
            "SHIPPING_ADDR": f"http://{address('shipping')}",
            "KAFKA_ADDR": address("kafka"),
            **flagd,
            "GOMEMLIMIT": "16MiB",
        },
        "accounting": {
            "KAFKA_ADDR": address("kafka"),
            "DB_CONNECTION_STRING": npgsql,
            "OTEL_DOTNET_AUTO_TRACES_ENTITYFRAMEWORKCORE_INSTRUMENTATION_ENABLED": "false",
        },
        "fraud-detection": {
            "KAFKA_ADDR": address("kafka"),
            **flagd,
            "OTEL_INSTRUMENTATION_KAFKA_EXPERIMENTAL_SPAN_ATTRIBUTES": "true",
            "OTEL_INSTRUMENTATION_MESSAGING_EXPERIMENTAL_RECEIVE_TELEMETRY_ENABLED": "true",
        },
        "image-provider": {
            "IMAGE_PROVIDER_PORT": ports["image-provider"],
            "OTEL_COLLECTOR_PORT_GRPC": 4317,
            "OTEL_COLLECTOR_HOST": "$(OTEL_COLLECTOR_NAME)",
        },
        "frontend": {
            "FRONTEND_PORT": ports["frontend"],
            "FRONTEND_ADDR": f":{ports['frontend']}",
            "AD_ADDR": address("ad"),
            "CART_ADDR": address("cart"),
            "CHECKOUT_ADDR": address("checkout"),
            "CURRENCY_ADDR": address("currency"),
            "PRODUCT_CATALOG_ADDR": address("product-catalog"),
            "PRODUCT_REVIEWS_ADDR": address("product-reviews"),
            "RECOMMENDATION_ADDR": address("recommendation"),
            "SHIPPING_ADDR": f"http://{address('shipping')}",
            **flagd,
            "PORT": "$(FRONTEND_PORT)",
            "OTEL_COLLECTOR_HOST": "$(OTEL_COLLECTOR_NAME)",
            "ENV_PLATFORM": "kubernetes",
            "WEB_OTEL_SERVICE_NAME": "frontend-web",
            "PUBLIC_OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:8080/otlp-http/v1/traces",
        },
        "frontend-proxy": {
            "ENVOY_ADDR": "0.0.0.0",
            "ENVOY_PORT": ports["frontend-proxy"],
            "ENVOY_ADMIN_ADDR": "0.0.0.0",
            "ENVOY_ADMIN_PORT": 10000,
            **flagd,
            "FLAGD_UI_HOST": edition.host("flagd"),
            "FLAGD_UI_PORT": 4000,
            "FRONTEND_HOST": edition.host("frontend"),
            "FRONTEND_PORT": ports["frontend"],
            "GRAFANA_HOST": "grafana",
            "GRAFANA_PORT": 80,
            "IMAGE_PROVIDER_HOST": edition.host("image-provider"),
            "IMAGE_PROVIDER_PORT": ports["image-provider"],
            "JAEGER_HOST": "jaeger",
            "JAEGER_UI_PORT": 16686,
            "LOCUST_WEB_HOST": edition.host("load-generator"),
            "LOCUST_WEB_PORT": ports["load-generator"],
            "OTEL_COLLECTOR_HOST": "$(OTEL_COLLECTOR_NAME)",
            "OTEL_COLLECTOR_PORT_GRPC": 4317,
            "OTEL_COLLECTOR_PORT_HTTP": 4318,
        },
        "load-generator": {
            "LOCUST_WEB_HOST": "0.0.0.0",
            "LOCUST_WEB_PORT": ports["load-generator"],
            "LOCUST_USERS": edition.users,
            "LOCUST_SPAWN_RATE": edition.spawn_rate,
            "LOCUST_HOST": f"http://{address('frontend-proxy')}",
            "LOCUST_HEADLESS": "false",
            "LOCUST_AUTOSTART": "true",
            "LOCUST_BROWSER_TRAFFIC_ENABLED": "false",
            "FLAGD_HOST": edition.host("flagd"),
            "FLAGD_PORT": ports["flagd"],
            "FLAGD_OFREP_PORT": 8016,
        },
    }  # fmt: skip
    return {name: [variable(key, text) for key, text in env.items()] for name, env in made.items()}


def _shapes(edition: Edition) -> dict[str, Shape]:
    kafka, valkey = ("kafka", edition.ports["kafka"]), ("valkey-cart", edition.ports["valkey-cart"])
    flagd = edition.ports["flagd"]
    loads = edition.ports["load-generator"]
    return {
        "accounting": Shape(waits=kafka),
        "cart": Shape(waits=valkey),
        "checkout": Shape(waits=kafka),
        "fraud-detection": Shape(waits=kafka),
        "frontend": Shape(user=1001),
        "frontend-proxy": Shape(user=101),
        "payment": Shape(user=1000),
        "quote": Shape(user=33),
        "valkey-cart": Shape(user=999, group=1000, ports=(("valkey-cart", valkey[1]),), offered=(("valkey-cart", valkey[1]),)),
        "kafka": Shape(user=1000, ports=(("plaintext", kafka[1]), ("controller", 9093)),
                       offered=(("plaintext", kafka[1]), ("controller", 9093))),
        "postgresql": Shape(
            ports=(("postgresql", edition.ports["postgresql"]),),
            offered=(("postgresql", edition.ports["postgresql"]),),
            mounts=({"name": "init-scripts", "mountPath": "/docker-entrypoint-initdb.d"},),
            volumes=({"name": "init-scripts", "configMap": {"name": "postgresql-init"}},),
        ),
        "flagd": Shape(
            arguments=("/flagd-build", "start", "--port", str(flagd), "--uri", "file:./etc/flagd/demo.flagd.json"),
            ports=(("rpc", flagd),),
            offered=(("rpc", flagd), ("tcp-service-ui", 4000)),
            mounts=({"name": "config-rw", "mountPath": "/etc/flagd"},),
            init=(_flagd_init(edition),),
            sidecars=(_flagd_ui(edition),),
            volumes=(
                {"name": "config-rw", "emptyDir": {}},
                {"name": "config-ro", "configMap": {"name": "flagd-config"}},
            ),
        ),
        "load-generator": Shape(
            sidecars=(_exporter(edition, loads),),
            offered=(("tcp-service", loads), ("locust-exporter", 9646)),
        ),
    }  # fmt: skip


def _flagd_init(edition: Edition) -> Manifest:
    script = "cp /config-ro/demo.flagd.json /config-rw/demo.flagd.json && cat /config-rw/demo.flagd.json"
    return {
        "name": "init-config",
        "image": edition.builds["busybox"].runs,
        "command": ["sh", "-c", script],
        "volumeMounts": [
            {"name": "config-ro", "mountPath": "/config-ro"},
            {"name": "config-rw", "mountPath": "/config-rw"},
        ],
    }


def _flagd_ui(edition: Edition) -> Manifest:
    key = "yYrECL4qbNwleYInGJYvVnSkwJuSQJ4ijPTx5tirGUXrbznFIBFVJdPl5t6O9ASw"
    env = {"FLAGD_UI_PORT": 4000, "SECRET_KEY_BASE": key, "PHX_HOST": "localhost"}
    return {
        "name": "flagd-ui",
        "image": edition.builds["flagd-ui"].runs,
        "imagePullPolicy": "IfNotPresent",
        "ports": [{"containerPort": 4000, "name": "service"}],
        "env": [
            *_common("email"),
            *(variable(name, text) for name, text in env.items()),
        ],
        "resources": {"limits": {"memory": "250Mi"}},
        "volumeMounts": [{"name": "config-rw", "mountPath": "/app/data"}],
    }


def _exporter(edition: Edition, port: int) -> Manifest:
    return {
        "name": "locust-exporter",
        "image": edition.builds["locust-exporter"].runs,
        "imagePullPolicy": "IfNotPresent",
        "ports": [{"containerPort": 9646, "name": "metrics"}],
        "env": [variable("LOCUST_EXPORTER_URI", f"http://localhost:{port}")],
        "resources": {
            "requests": {"cpu": "10m", "memory": "32Mi"},
            "limits": {"cpu": "50m", "memory": "64Mi"},
        },
    }
