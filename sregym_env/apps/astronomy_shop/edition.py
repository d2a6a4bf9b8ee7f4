"""What the members of Astronomy Shop's family differ in, as far as only the application knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sregym_env.apps.builds import Builds
from sregym_env.kube.types import Manifest

NAMESPACE = "astronomy-shop"
RELEASE = "astronomy-shop"
"""The Helm release; also the service account of every component of the demo's own."""
CHART = "0.40.4"
VERSION = "2.2.0"
"""Of the chart's application."""

OWN = (
    "accounting", "ad", "cart", "checkout", "currency", "email", "fraud-detection", "frontend", "frontend-proxy",
    "image-provider", "llm", "load-generator", "payment", "product-catalog", "product-reviews", "quote",
    "recommendation", "shipping", "flagd-ui", "kafka", "topic-writer",
)  # fmt: skip
"""Images of the demo's own."""
OTHERS: Mapping[str, str] = {
    "flagd": "ghcr.io/open-feature/flagd:v0.12.9",
    "postgresql": "postgres:17.6",
    "valkey-cart": "valkey/valkey:9.0.1-alpine3.23",
    "busybox": "busybox:latest",
    "locust-exporter": "containersol/locust_exporter:v0.5.0",
    "grafana": "docker.io/grafana/grafana:12.3.1",
    "k8s-sidecar": "quay.io/kiwigrid/k8s-sidecar:2.2.1",
    "jaeger": "jaegertracing/jaeger:2.14.1",
    "opensearch": "opensearchproject/opensearch:3.4.0",
    "otel-collector": "otel/opentelemetry-collector-contrib:0.142.0",
}
"""Images of others."""

PORTS: Mapping[str, int] = {
    **dict.fromkeys(
        ("ad", "cart", "checkout", "currency", "email", "frontend", "frontend-proxy", "payment", "product-catalog",
         "quote", "recommendation", "shipping"), 8080
    ),
    "image-provider": 8081,
    "product-reviews": 3551,
    "llm": 8000,
    "load-generator": 8089,
    "flagd": 8013,
    "kafka": 9092,
    "postgresql": 5432,
    "valkey-cart": 6379,
    "grafana": 3000,
    "jaeger": 16686,
    "opensearch": 9200,
    "otel-collector": 4317,
}  # fmt: skip
"""Where everything listens in the published chart."""


PROBES: Mapping[str, Manifest] = {"cart": {"grpc": {"port": PORTS["cart"]}}}
"""The chart has none; the benchmark gives cart one, by which its health check counts."""


@dataclass(frozen=True, slots=True)
class Edition:
    """One member of the family: everything that a team chooses in its own build and values."""

    builds: Mapping[str, Builds]
    """By component, or by what the image is of."""
    ports: Mapping[str, int] = field(default_factory=lambda: PORTS)
    user: str = "otelu"
    password: str = "otelp"
    """Whom the services log in as."""
    root_password: str = "otel"
    grafana_password: str = "admin"
    users: int = 10
    """How many users the load generator plays."""
    spawn_rate: int = 1
    limits: Mapping[str, int] = field(default_factory=dict)
    """Memory limits that differ from the chart's, MiB."""
    probes: Mapping[str, Manifest] = field(default_factory=lambda: PROBES)
    """How components are asked whether they are well, by component: the handler of a probe."""
    flags: Mapping[str, bool] = field(default_factory=dict)
    """Feature flags of the team's own, and whether they are on."""
    label: str = "opentelemetry.io/name"
    """The label by which pods are selected."""
    qualified: bool = False
    """Whether addresses name the namespace."""
    product: str = "L9ECAV7KIM"
    """Number of the product of the typical request."""

    def address(self, component: str) -> str:
        """``host:port`` of a component, as its callers are told."""
        return f"{self.host(component)}:{self.ports[component]}"

    def host(self, component: str) -> str:
        """The name under which callers look a component up."""
        return f"{component}.{NAMESPACE}.svc.cluster.local" if self.qualified else component


def _published() -> dict[str, Builds]:
    demo = {name: Builds(f"ghcr.io/open-telemetry/demo:{VERSION}-{name}") for name in OWN}
    others = {
        name: Builds(reference, versions=(reference.rpartition(":")[2],))
        for name, reference in OTHERS.items()
    }
    return demo | others


PUBLISHED = Edition(_published())
"""The application as OpenTelemetry and SREGym publish it."""
