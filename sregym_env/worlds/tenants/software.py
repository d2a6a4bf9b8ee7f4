"""What neighbours run: programs of their own and well-known ones, as images with one quiet daemon in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.cluster.app import Binary, Image
from sregym_env.runtime.chance import Chance
from sregym_env.sim.programs.defaults import MIB
from sregym_env.sim.programs.servers import DaemonSettings


@dataclass(frozen=True, slots=True)
class Software:
    """A server as a workload runs it."""

    name: str
    repository: str
    """Without the tag; empty for what the tenant builds itself."""
    tags: tuple[str, ...]
    """Released ones, oldest first."""
    ports: tuple[int, ...]
    binary: str
    lines: tuple[str, ...] = ()
    """What it writes when it starts (:class:`DaemonSettings`); ``{tag}`` is the build's."""
    memory: int = 40
    """Resident, MiB."""
    size: int = 60
    """Of the image, MB."""
    cpu: float = 0.003
    """Cores at rest."""
    http: bool = True
    path: str = "/healthz"
    """Where it answers probes."""


def image(software: Software, reference: str) -> Image:
    """The image that a reference to a build of some software names."""
    tag = reference.rpartition(":")[2]
    settings = DaemonSettings(
        tuple(line.replace("{tag}", tag) for line in software.lines),
        software.ports,
        software.ports if software.http else (),
        software.memory * MIB,
        software.cpu,
    )
    return Image(
        reference,
        software.size * 1_000_000,
        {software.binary: Binary("daemon", settings)},
        (software.binary,),
        toolbox="busybox",
    )


STORES = (
    Software("redis", "redis", ("6.2.14", "7.0.15", "7.2.4", "7.2.5", "7.4.1"), (6379,), "redis-server",
             ("1:C {redis:0.01} * oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo",
              "1:M {redis:0.02} * Ready to accept connections tcp"), 9, 41, http=False),
    Software("postgres", "postgres", ("14.9", "14.11", "15.6", "15.8", "16.3"), (5432,), "postgres",
             ("{calico:0.4} UTC [1] LOG:  listening on IPv4 address \"0.0.0.0\", port 5432",
              "{calico:0.5} UTC [1] LOG:  database system is ready to accept connections"),
             48, 155, http=False),
    Software("rabbitmq", "rabbitmq", ("3.11.28", "3.12.13", "3.12.14", "3.13.2", "3.13.7"), (5672, 15672), "rabbitmq-server",
             ("  Starting broker... completed with 4 plugins.",), 130, 100, http=False),
    Software("mongodb", "bitnami/mongodb", ("5.0.24", "6.0.13", "6.0.16", "7.0.8", "7.0.14"), (27017,), "mongod",
             ('{"t":{"$date":"{milli:0.9}"},"s":"I","c":"NETWORK","id":23016,"msg":"Waiting for connections","attr":{"port":27017,"ssl":"off"}}',),
             120, 250, http=False),
    Software("memcached", "bitnami/memcached", ("1.6.21", "1.6.24", "1.6.27", "1.6.29"), (11211,), "memcached", (), 6, 30,
             http=False),
    Software("minio", "quay.io/minio/minio", ("RELEASE.2024-01-16T16-07-38Z", "RELEASE.2024-05-10T01-41-38Z",
                                             "RELEASE.2024-08-17T01-24-54Z"), (9000,), "minio",
             ("MinIO Object Storage Server", "API: http://0.0.0.0:9000"), 110, 150, path="/minio/health/live"),
    Software("mysql", "mysql", ("8.0.35", "8.0.36", "8.0.39", "8.4.2"), (3306,), "mysqld",
             ("{micro:2.1} 0 [System] [MY-010931] [Server] /usr/sbin/mysqld: ready for connections. Version: '{tag}'  "
              "socket: '/var/run/mysqld/mysqld.sock'  port: 3306  MySQL Community Server - GPL.",), 380, 170, http=False),
    Software("nats", "nats", ("2.9.25", "2.10.11", "2.10.18", "2.10.22"), (4222, 8222), "nats-server",
             ("[1] {slashes6:0.01} [INF] Listening for client connections on 0.0.0.0:4222",
              "[1] {slashes6:0.02} [INF] Server is ready"), 14, 8),
)  # fmt: skip
"""Stores and brokers that tenants run beside their services."""

_STARTS = (
    ('{"level":"info","msg":"configuration loaded","source":"env"}', '{"level":"info","msg":"listening","port":%d}'),
    ("INFO  starting", "INFO  server started on port %d"),
    ("[boot] migrations up to date", "[boot] ready, port %d"),
    ("Started Application in 7.214 seconds (process running for 8.02), port %d",),
    (" * Running on all addresses (0.0.0.0)", " * Running on http://127.0.0.1:%d"),
    ("level=info msg=\"starting server\" addr=:%d",),
    ("Now listening on: http://[::]:%d", "Application started. Press Ctrl+C to shut down."),
)  # fmt: skip

_BINARIES = (
    "/app/server",
    "/usr/local/bin/app",
    "/app/main",
    "node",
    "java",
    "gunicorn",
    "/service",
    "dotnet",
    "puma",
)

ROLES: Mapping[str, float] = {
    "api": 0.17,
    "web": 0.12,
    "frontend": 0.10,
    "worker": 0.12,
    "gateway": 0.06,
    "auth": 0.05,
    "backend": 0.08,
    "scheduler": 0.05,
    "consumer": 0.05,
    "notifier": 0.04,
    "admin": 0.05,
    "importer": 0.04,
    "sync": 0.03,
    "search": 0.02,
    "profile": 0.02,
    "user": 0.02,
    "indexer": 0.03,
    "proxy": 0.03,
    "bff": 0.02,
}
"""What tenants call their services; some as the applications here call theirs."""


def own(role: str, tags: tuple[str, ...], chance: Chance) -> Software:
    """A service that a tenant builds itself."""
    port = chance.choice("port", (8080, 8080, 8080, 3000, 5000, 8000, 9000, 4000, 8081))
    lines = tuple(line % port if "%d" in line else line for line in chance.choice("lines", _STARTS))
    return Software(
        role,
        "",
        tags,
        (port,),
        chance.choice("binary", _BINARIES),
        lines,
        memory=chance.between("memory", 12, 180),
        size=chance.between("size", 9, 320),
        cpu=chance.uniform("cpu", 0.001, 0.02),
        path=chance.choice(
            "path", ("/healthz", "/health", "/ready", "/status", "/actuator/health", "/ping", "/")
        ),
    )


def registry_of(chance: Chance) -> str:
    """Where a cluster's own images are kept (prefix with an organisation)."""
    account = f"{chance.between('account', 10**11, 10**12 - 1)}"
    org = chance.choice(
        "org", ("acme", "northwind", "contoso", "initech", "globex", "umbra", "hooli", "wayfarer", "fabrikam")
    )
    hosts = {
        f"{account}.dkr.ecr.eu-west-1.amazonaws.com/{org}": 0.20,
        f"{org}registry.azurecr.io": 0.12,
        f"europe-west1-docker.pkg.dev/{org}-prod/images": 0.15,
        f"ghcr.io/{org}": 0.20,
        f"quay.io/{org}": 0.05,
        f"harbor.{org}.example/{org}": 0.13,
        f"docker.io/{org}": 0.15,
    }
    return chance.weighted("host", hosts)


def tags_of(chance: Chance, count: int) -> tuple[str, ...]:
    """Tags of a service's builds in the habit of its team, oldest first."""
    style = chance.weighted(
        "style", {"semver": 0.37, "counter": 0.21, "sha": 0.21, "dated": 0.16, "latest": 0.05}
    )
    if style == "latest":
        return ("latest",)
    major, minor, number = (
        chance.between("major", 0, 6),
        chance.between("minor", 0, 30),
        chance.between("number", 3, 900),
    )
    month = chance.between("month", 1, 5)
    tags = []
    for index in range(count):
        sha = f"{chance.bits(f'sha{index}'):016x}"[:7]
        if style == "semver":
            tags.append(
                f"{'v' if chance.yes('v', 0.4) else ''}{major}.{minor + index}.{chance.below(f'patch{index}', 6)}"
            )
        elif style == "counter":
            number += chance.between(f"step{index}", 1, 9)
            tags.append(f"v{number}")
        elif style == "sha":
            tags.append(sha)
        else:
            tags.append(f"prod-{sha}-2026{month + index % 6:02d}{chance.between(f'day{index}', 1, 28):02d}")
    return tuple(tags)
