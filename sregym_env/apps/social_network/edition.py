"""What the members of Social Network's family differ in, as far as only the application knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sregym_env.apps.builds import Builds
from sregym_env.kube.types import Manifest

NAMESPACE = "social-network"

SERVICES = (
    "unique-id-service",
    "media-service",
    "user-service",
    "social-graph-service",
    "url-shorten-service",
    "user-mention-service",
    "text-service",
    "post-storage-service",
    "user-timeline-service",
    "home-timeline-service",
    "compose-post-service",
)
"""The C++ services, leaves first."""
DATABASES = ("media", "post-storage", "social-graph", "url-shorten", "user", "user-timeline")
"""What the six MongoDB instances are named after."""
REDIS = ("home-timeline", "social-graph", "user-timeline")
MEMCACHED = ("media", "post-storage", "url-shorten", "user")

PORTS: Mapping[str, int] = {
    **dict.fromkeys(SERVICES, 9090),
    **{f"{name}-mongodb": 27017 for name in DATABASES},
    **{f"{name}-redis": 6379 for name in REDIS},
    **{f"{name}-memcached": 11211 for name in MEMCACHED},
    "nginx-thrift": 8080,
    "media-frontend": 8080,
}
"""Where everything listens in the published configuration."""

Host = Literal["short", "namespaced", "full"]
"""How the configuration names a Service: alone, with its namespace, fully qualified."""


@dataclass(frozen=True, slots=True)
class Edition:
    """One member of the family: everything that a team chooses in its own build and configuration."""

    application: Builds
    front: Builds
    media: Builds
    assets: str
    """The image that carries the front ends' scripts and pages."""
    mongodb: Builds
    redis: Builds
    memcached: Builds
    jaeger: Builds
    load: str
    ports: Mapping[str, int] = field(default_factory=lambda: PORTS)
    """Where everything listens. The Lua of the front ends, a team's own image, has the services' ports compiled in."""
    label: str = "service"
    """The label by which pods are selected."""
    host: Host = "short"
    entry_port: int = 8080
    """The port of the front end's Service."""
    redis_threads: int = 8
    connections: int = 512
    """Pool size of every client."""
    sample_ratio: str = "0.01"
    probes: Mapping[str, Manifest] = field(default_factory=dict)
    """How components are asked whether they are well, by component: the handler of a probe."""
    rate: int = 100
    """Requests per second that users offer."""
    mix: tuple[float, float, float] = (0.6, 0.3, 0.1)
    """Shares of home timelines, user timelines and posts."""
    round_seconds: int = 10
    """How long a round of the load generator lasts."""
    user: int = 42
    """Number of the user of the typical request."""

    def offer(self, component: str) -> int:
        """The port of a component's Service."""
        if component == "media-frontend":
            return 8081
        return self.entry_port if component == "nginx-thrift" else self.ports[component]

    def address(self, component: str) -> str:
        """The name under which the C++ services look a component up."""
        if self.host == "short":
            return component
        return f"{component}.{NAMESPACE}" + (".svc.cluster.local" if self.host == "full" else "")


PUBLISHED = Edition(
    application=Builds("deathstarbench/social-network-microservices:latest"),
    front=Builds("yg397/openresty-thrift:xenial"),
    media=Builds("yg397/media-frontend:xenial"),
    assets="ghcr.io/sregym/social-network-assets:v1",
    mongodb=Builds("library/mongo:4.4.6", versions=("4.4.6",)),
    redis=Builds("library/redis:6.2.4", versions=("6.2.4",)),
    memcached=Builds("library/memcached:1.6.7", versions=("1.6.7",)),
    jaeger=Builds("jaegertracing/all-in-one:1.57"),
    load="deathstarbench/wrk2-client:latest",
)
"""The application as DeathStarBench and SREGym publish it."""
