"""Servers whose command line names a number that is none: they say so and end, and take no number of their own instead."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.cluster.app import Binary, Image
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld

WRONG_CACHE = "the argument ('much') for option '--wiredTigerCacheSizeGB' is invalid"
WRONG_PORT = (
    'invalid argument "eight" for "-p, --port" flag: strconv.ParseUint: parsing "eight": invalid syntax'
)
UNKNOWN_PORT = "listen tcp: lookup tcp/nine: unknown port"


def played(
    program: str, settings: Any, argv: tuple[str, ...], env: dict[str, str]
) -> tuple[EmbeddedWorld, str]:
    """A cluster in which a pod has run such a command line, and that pod's log."""
    world = bare_cluster()
    image = Image("example.com/server:1", 1_000_000, {argv[0]: Binary(program, settings)}, (), argv)
    world.images = {**world.images, image.reference: image}
    container = {
        "name": "server",
        "image": image.reference,
        "env": [{"name": k, "value": v} for k, v in env.items()],
    }
    spec = {"containers": [container], "restartPolicy": "Never"}
    metadata = {"name": "server", "namespace": "default"}
    world.cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    world.cluster.advance(30.0)
    return world, world.cluster.logs("default", "server")


def code(world: EmbeddedWorld) -> int | None:
    """The pod's exit code; None while it runs."""
    (status,) = world.cluster.get("pods", "server", "default")["status"]["containerStatuses"]
    found: int | None = status["state"].get("terminated", {}).get("exitCode")
    return found


@pytest.mark.parametrize(
    ("program", "argv", "env", "said", "exits"),
    [
        ("redis", ("redis-server", "--port", "fast"), {}, "argument couldn't be parsed into an integer", 1),
        ("redis", ("redis-server", "--port", "70000"), {}, "argument must be between 0 and 65535 inclusive", 1),
        ("redis", ("redis-server", "--maxmemory", "much"), {}, ">>> 'maxmemory \"much\"'\nargument must be a memory value", 1),
        ("redis", ("redis-server", "--maxmemry", "5mb"), {}, "at line 2\n>>> 'maxmemry \"5mb\"'\nBad directive", 1),
        ("memcached", ("memcached", "-c", "many"), {}, "Maximum connections must be greater than 0", 1),
        ("memcached", ("memcached", "--threads=few"), {}, "Number of threads must be greater than 0", 1),
        ("mongod", ("mongod", "--wiredTigerCacheSizeGB", "much"), {}, WRONG_CACHE, 2),
        ("mongod", ("mongod", "--wiredTigerCacheSizeGB=much"), {}, WRONG_CACHE, 2),
        ("locust", ("locust",), {"LOCUST_USERS": "many"}, "argument -u/--users: invalid int value: 'many'", 2),
        ("flagd", ("flagd", "start", "--port", "eight"), {}, WRONG_PORT, 1),
        ("prometheus_server", ("prometheus", "--web.listen-address=:nine"), {}, UNKNOWN_PORT, 1),
    ],
)  # fmt: skip
def test_a_number_that_is_none_ends_the_server(
    program: str, argv: tuple[str, ...], env: dict[str, str], said: str, exits: int
) -> None:
    settings = {"redis": "6.2.4", "mongod": "4.4.6"}.get(program)
    world, log = played(program, settings, argv, env)
    assert said in log
    assert code(world) == exits


def test_numbers_that_are_some_are_taken() -> None:
    world, log = played("redis", "6.2.4", ("redis-server", "--port", "7000", "--maxmemory", "5mb"), {})
    assert code(world) is None and "port=7000" in log
