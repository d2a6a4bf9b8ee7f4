"""Logs of an embedded world as Loki has them."""

from __future__ import annotations

from sregym_env.cluster.telemetry import Logs
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.telemetry.logql.queries import Matrix, RangeQuery, Streams
from tests.monitoring.conftest import NAMESPACE

HOUR = 3600 * 10**9


def asked(world: EmbeddedWorld, query: str, length: int = HOUR, limit: int = 100) -> Streams:
    end = world.now() * 1000 + 1_000_000
    found = world.telemetry.logs.query_range(RangeQuery(query, end - length, end, limit))
    assert isinstance(found, Streams)
    return found


def test_lines_are_those_that_kubectl_prints(broken: EmbeddedWorld) -> None:
    pods = [
        p["metadata"]["name"]
        for p in broken.cluster.list("pods", NAMESPACE)
        if "frontend" in p["metadata"]["name"]
    ]
    lines = broken.cluster.logs(NAMESPACE, pods[0], tail=50).splitlines()
    found = asked(broken, f'{{namespace="{NAMESPACE}", pod="{pods[0]}"}}', limit=50)
    entries = sorted(
        (time, -place, line) for stream in found.streams for place, (time, line) in enumerate(stream.entries)
    )
    assert [line for _, _, line in entries] == lines
    assert len(lines) == 50


def test_streams_are_labelled_as_promtail_labels_them(healthy: EmbeddedWorld) -> None:
    logs: Logs = healthy.telemetry.logs
    end = healthy.now() * 1000
    names = ["app", "container", "filename", "job", "namespace", "node_name", "pod"]
    assert list(logs.labels(end - 12 * HOUR, end)) == names
    assert "frontend" in logs.values("app", end - 12 * HOUR, end)
    assert NAMESPACE in logs.values("namespace", end - 12 * HOUR, end)


def test_what_is_not_read_is_not_made(broken: EmbeddedWorld) -> None:
    found = asked(broken, f'{{namespace="{NAMESPACE}"}}', 24 * HOUR, limit=10)
    assert found.lines == 10
    assert found.scan.lines < 400


def test_lines_are_counted(broken: EmbeddedWorld) -> None:
    end = broken.now() * 1000
    query = f'sum(count_over_time({{namespace="{NAMESPACE}", app="frontend"}} |= "ERR" [5m]))'
    found = broken.telemetry.logs.query(query, end)
    assert found.vector[0][1] > 1000
    matrix = broken.telemetry.logs.query_range(RangeQuery(query, end - HOUR // 2, end, step=60 * 10**9))
    assert isinstance(matrix, Matrix)
    assert len(matrix.series) == 1
