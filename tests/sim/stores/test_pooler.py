"""PgBouncer in front of PostgreSQL: what it keeps open, what it is refused, and what others have left."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs.postgres.pooler import pools, sections
from tests.sim.stores import shop

NAME = "reports-pool"
INI = """\
; pools of the reports
[databases]
otel = host=postgresql.shop port=5432 dbname=otel user=otelu password={password}

[pgbouncer]
listen_port = 6432
default_pool_size = 20
min_pool_size = {size}
"""


@pytest.fixture
def world() -> EmbeddedWorld:
    return shop.world()


def pooler(world: EmbeddedWorld, replicas: int = 1, size: int = 10, password: str = "otelp") -> None:
    """Somebody's poolers, and the time in which they fill their pools."""
    text = INI.format(size=size, password=password)
    metadata = {"name": NAME, "namespace": shop.NS}
    world.cluster.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"pgbouncer.ini": text}}
    )
    container: dict[str, Any] = {
        "name": "pgbouncer",
        "image": "edoburu/pgbouncer:v1.23.1-p2",
        "volumeMounts": [{"name": "config", "mountPath": "/etc/pgbouncer"}],
    }
    pod = {"containers": [container], "volumes": [{"name": "config", "configMap": {"name": NAME}}]}
    labels = {"app": NAME}
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    world.cluster.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
    world.advance(40.0)


def held(world: EmbeddedWorld) -> list[int]:
    """Connections of each client, most first."""
    asked = "SELECT count(*) FROM pg_stat_activity WHERE client_addr IS NOT NULL GROUP BY client_addr ORDER BY 1 DESC"
    return [int(line) for line in shop.sql(world, asked, "-tA", user="root").stdout.split()]


def scaled(world: EmbeddedWorld, replicas: int) -> None:
    world.cluster.patch("deployments.apps", NAME, {"spec": {"replicas": replicas}}, namespace=shop.NS)
    world.advance(60.0)


def lines(world: EmbeddedWorld) -> str:
    return world.cluster.logs(shop.NS, shop.pod(world, NAME))


def test_a_pool_is_kept_open_and_has_a_process_and_memory_for_each_connection(world: EmbeddedWorld) -> None:
    before = held(world)
    pooler(world, size=10)
    assert sorted(held(world)) == sorted([*before, 10])
    asked = "SELECT count(DISTINCT pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND state = 'idle'"
    assert int(shop.sql(world, asked, "-tA", user="root").stdout) == sum(before) + 10
    assert lines(world).count("new connection to server") == 10


def test_what_is_beyond_the_limit_is_refused_and_whoever_connects_anew_with_it(world: EmbeddedWorld) -> None:
    world.cluster.patch(
        "deployments.apps",
        "postgresql",
        {
            "spec": {
                "template": {
                    "spec": {
                        "containers": [
                            {"name": "postgresql", "args": ["postgres", "-c", "max_connections=20"]}
                        ]
                    }
                }
            }
        },
        namespace=shop.NS,
    )
    world.advance(40.0)
    pooler(world, replicas=1, size=10)
    assert shop.served(world, "reviews")[0] == 1.0
    scaled(world, 2)
    share, told = shop.served(world, "reviews")
    assert share == 0.0
    assert "remaining connection slots are reserved" in told
    assert sum(held(world)) == 17
    scaled(world, 1)
    assert shop.served(world, "reviews")[0] == 1.0
    assert sum(held(world)) < 17


def test_a_connection_that_is_ended_is_opened_again(world: EmbeddedWorld) -> None:
    pooler(world, size=6)
    before = held(world)
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle'"
    assert shop.sql(world, ended, "-tA", user="root").stdout.split().count("t") == sum(before)
    world.advance(30.0)
    assert 6 in held(world)


def test_a_wrong_password_is_told_and_tried_again(world: EmbeddedWorld) -> None:
    pooler(world, password="other")
    told = lines(world)
    assert told.count('server login failed: FATAL password authentication failed for user "otelu"') >= 2
    assert "new connection" not in told


def test_it_ends_without_a_configuration(world: EmbeddedWorld) -> None:
    pooler(world)
    world.cluster.patch(
        "configmaps", NAME, {"data": {"pgbouncer.ini": None, "other.ini": ""}}, namespace=shop.NS
    )
    world.cluster.delete("pods", shop.pod(world, NAME), shop.NS)
    world.advance(30.0)
    assert "cannot load config file" in lines(world)


def test_only_databases_with_a_user_of_their_own_are_filled() -> None:
    text = (
        INI.format(size=30, password="x")
        + "\n[databases]\nother = host=db dbname=x\nlow = host=db user=u pool_size=4 min_pool_size=9\n"
    )
    found = {pool.name: pool for pool in pools(sections(text))}
    assert set(found) == {"otel", "low"}
    assert found["otel"].kept == 20
    assert found["low"].kept == 4
    assert (found["low"].target.port, found["low"].target.database) == (5432, "low")
