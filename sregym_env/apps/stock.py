"""Images that many applications run: databases, caches, tracing, load; each with the program behind it."""

from __future__ import annotations

from sregym_env.cluster.app import Binary, Image

BIONIC = 'PRETTY_NAME="Ubuntu 18.04.5 LTS"\nNAME="Ubuntu"\nID=ubuntu\n'
BUSTER = 'PRETTY_NAME="Debian GNU/Linux 10 (buster)"\nNAME="Debian GNU/Linux"\nID=debian\n'


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
