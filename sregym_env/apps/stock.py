"""Images that many applications run: databases, caches, tracing, load; each with the program behind it."""

from __future__ import annotations

from sregym_env.cluster.app import Binary, Image

BIONIC = 'PRETTY_NAME="Ubuntu 18.04.5 LTS"\nNAME="Ubuntu"\nID=ubuntu\n'
BUSTER = 'PRETTY_NAME="Debian GNU/Linux 10 (buster)"\nNAME="Debian GNU/Linux"\nID=debian\n'
BOOKWORM = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nID=debian\n'
ALPINE = 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.23.0\nPRETTY_NAME="Alpine Linux v3.23"\n'


def mongodb(reference: str, version: str, *, size: int = 165_000_000, shell: str = "mongo") -> Image:
    """``mongo``; from 6.0 on the old shell is not in it any more."""
    binaries = {"mongod": Binary("mongod", version), "docker-entrypoint.sh": Binary("mongod", version)}
    tools = ("mongo", "mongodump", "mongostat") if shell == "mongo" else ()
    binaries |= {name: Binary("applet") for name in tools}
    return Image(
        reference,
        size,
        binaries,
        ("docker-entrypoint.sh",),
        ("mongod",),
        files={"/etc/os-release": BIONIC, "/etc/mongod.conf.orig": "storage:\n  dbPath: /var/lib/mongodb\n"},
        toolbox="debian",
    )


def memcached(reference: str) -> Image:
    """``memcached``."""
    binaries = {"memcached": Binary("memcached"), "docker-entrypoint.sh": Binary("memcached")}
    return Image(reference, 32_000_000, binaries, ("docker-entrypoint.sh",), ("memcached",), toolbox="debian")


def redis(reference: str, version: str) -> Image:
    """``redis``."""
    binaries = {"redis-server": Binary("redis", version), "docker-entrypoint.sh": Binary("redis", version)}
    return Image(
        reference,
        39_000_000,
        binaries,
        ("docker-entrypoint.sh",),
        ("redis-server",),
        workdir="/data",
        files={"/etc/os-release": BUSTER},
        toolbox="debian",
    )


def jaeger(reference: str) -> Image:
    """``jaegertracing/all-in-one``."""
    return Image(
        reference,
        29_000_000,
        {"/go/bin/all-in-one-linux": Binary("jaeger")},
        ("/go/bin/all-in-one-linux",),
        ("--sampling.strategies-file=/etc/jaeger/sampling_strategies.json",),
    )


def wrk2(reference: str) -> Image:
    """``deathstarbench/wrk2-client``."""
    binaries = {name: Binary("wrk2") for name in ("wrk", "bash", "sh")}
    return Image(reference, 95_000_000, binaries, (), ("/bin/bash",), toolbox="debian")


def postgresql(reference: str, version: str) -> Image:
    """``postgres``."""
    server = Binary("postgres", version)
    binaries = {"postgres": server, "docker-entrypoint.sh": server}
    binaries |= {name: Binary("psql", version) for name in ("psql", "pg_isready", "pg_dump")}
    files = {"/etc/os-release": BOOKWORM}
    return Image(
        reference,
        158_000_000,
        binaries,
        ("docker-entrypoint.sh",),
        ("postgres",),
        files=files,
        toolbox="debian",
    )


def valkey(reference: str, version: str) -> Image:
    """``valkey/valkey`` on Alpine."""
    server = Binary("valkey", version)
    binaries = dict.fromkeys(("valkey-server", "redis-server", "docker-entrypoint.sh"), server)
    return Image(
        reference,
        16_000_000,
        binaries,
        ("docker-entrypoint.sh",),
        ("valkey-server",),
        workdir="/data",
        files={"/etc/os-release": ALPINE},
    )


def kafka(reference: str, version: str) -> Image:
    """The demo's ``kafka``: ``apache/kafka`` with the Java agent."""
    server = Binary("kafka", version)
    binaries = dict.fromkeys(("/__cacert_entrypoint.sh", "/etc/kafka/docker/run"), server)
    return Image(
        reference,
        228_000_000,
        binaries,
        ("/__cacert_entrypoint.sh",),
        ("/etc/kafka/docker/run",),
        files={"/etc/os-release": ALPINE},
        user=1000,
    )


def topic_writer(reference: str) -> Image:
    """A tool that writes records into a topic of Kafka."""
    return Image(
        reference,
        31_000_000,
        {"/usr/local/bin/topic-writer": Binary("topic_writer")},
        ("/usr/local/bin/topic-writer",),
        (),
        files={"/etc/os-release": BOOKWORM},
        toolbox="debian",
        user=1000,
    )


def flagd(reference: str) -> Image:
    """``ghcr.io/open-feature/flagd``: distroless."""
    return Image(
        reference,
        19_000_000,
        {"/flagd-build": Binary("flagd")},
        ("/flagd-build",),
        (),
        toolbox="none",
        user=65532,
    )


def flagd_ui(reference: str) -> Image:
    """The demo's ``flagd-ui``."""
    server = Binary("flagd-ui")
    return Image(
        reference,
        46_000_000,
        {"/app/bin/server": server},
        (),
        ("/app/bin/server",),
        workdir="/app",
        toolbox="debian",
        user=65534,
    )


def opensearch(reference: str, version: str) -> Image:
    """``opensearchproject/opensearch``."""
    server = Binary("opensearch", version)
    binaries = {"./opensearch-docker-entrypoint.sh": server, "opensearch": server}
    return Image(
        reference,
        842_000_000,
        binaries,
        ("./opensearch-docker-entrypoint.sh",),
        ("opensearch",),
        workdir="/usr/share/opensearch",
        toolbox="debian",
        user=1000,
    )
