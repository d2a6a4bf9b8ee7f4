"""The live backend asks over HTTP what the embedded one answers in process: both must say the same."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import httpx
import orjson
import pytest

from sregym_env.cluster.oncall import ONCALL
from sregym_env.cluster.telemetry import Telemetry, TelemetryUnavailable
from sregym_env.live.telemetry import Addresses, LiveTelemetry
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.monitoring.log_streams import WorldLogs
from sregym_env.sim.monitoring.series import WorldSeries
from sregym_env.telemetry.logql.errors import QueryError as LogQueryError
from sregym_env.telemetry.logql.http import Loki
from sregym_env.telemetry.logql.queries import RangeQuery
from sregym_env.telemetry.promql import api
from sregym_env.telemetry.promql.engine import Engine
from sregym_env.telemetry.promql.errors import BadData
from sregym_env.telemetry.traces.http import Jaeger
from sregym_env.telemetry.traces.model import TraceQuery
from sregym_env.tools.logql import logql
from sregym_env.tools.promql import promql
from sregym_env.tools.traces import traces
from sregym_env.tools.workstation import Workstation
from tests.monitoring.conftest import NAMESPACE

ADDRESSES = Addresses("http://prometheus", "http://loki", "http://jaeger")


def answering(world: EmbeddedWorld) -> httpx.MockTransport:
    """Prometheus, Loki and Jaeger of a world, by their HTTP APIs."""
    source = WorldSeries(world)
    now = world.now()

    def handle(request: httpx.Request) -> httpx.Response:
        asked = parse_qs(request.url.query.decode(), keep_blank_values=True)
        path = request.url.path
        if request.url.host == "prometheus":
            answer = _prometheus(source, path, asked, now // 1000)
            return httpx.Response(answer.status, content=orjson.dumps(answer.body))
        if request.url.host == "loki":
            found = Loki(WorldLogs(world)).answer(path, asked, now * 1000)
            return httpx.Response(found.status, content=found.body)
        told = Jaeger(world.telemetry.traces).answer(path, asked, now)
        return httpx.Response(told.status, content=told.body)

    return httpx.MockTransport(handle)


def _prometheus(source: WorldSeries, path: str, asked: dict[str, list[str]], now_ms: int) -> api.Response:
    match path.removeprefix("/api/v1/"):
        case "query":
            return api.query(Engine(source), asked, now_ms)
        case "query_range":
            return api.query_range(Engine(source), asked)
        case "series":
            return api.series(source, asked)
        case "metadata":
            return api.metadata(source, asked)
    return api.label_values(source, "__name__", asked)


@pytest.fixture
def both(broken: EmbeddedWorld) -> tuple[Telemetry, Telemetry, int]:
    return broken.telemetry, LiveTelemetry(ADDRESSES, answering(broken)), broken.now()


QUERIES = (
    ["up"],
    ["--range", "10m", "sum by (service_name) (rate(traces_span_metrics_calls_total[2m]))"],
    ["kube_pod_info[2m]"],
    ["histogram_quantile(0.95, sum by (le) (rate(traces_span_metrics_duration_milliseconds_bucket[5m])))"],
    ["scalar(count(up)) / 0"],
    ["-o", "json", "probe_success"],
    ["--metrics", "kube_deployment"],
    ["--series", "up{job='node-exporter'}"],
    ["up{"],
    ["rate(up)"],
)


@pytest.mark.parametrize("words", QUERIES)
def test_metrics(both: tuple[Telemetry, Telemetry, int], words: list[str]) -> None:
    here, there, now = both
    wanted, found = promql(here.metrics, words, now), promql(there.metrics, words, now)
    assert found.stdout == wanted.stdout
    assert found.exit_code == wanted.exit_code
    # The API says which parameter was wrong as well.
    assert found.stderr.replace('invalid parameter "query": ', "") == wanted.stderr


@pytest.mark.parametrize(
    "words",
    [
        [f'{{namespace="{NAMESPACE}"}}'],
        ["--forward", "--limit", "5", '{app="frontend"} |= "ERR"'],
        ["sum by (app) (count_over_time({app=~'f.*'}[1m]))"],
        ["--instant", "sum(count_over_time({app='frontend'}[1m]))"],
        ["--labels"],
        ["--values", "app"],
        ["{app="],
        ['{app="x"} | json | a >'],
    ],
)
def test_logs(both: tuple[Telemetry, Telemetry, int], words: list[str]) -> None:
    here, there, now = both
    assert logql(there.logs, words, now) == logql(here.logs, words, now)


@pytest.mark.parametrize(
    "words",
    [
        ["services"],
        ["operations", "search"],
        ["search", "frontend", "--errors", "--limit", "5"],
        ["search", "frontend", "--min-duration", "3ms", "--limit", "5"],
        ["dependencies", "--since", "5m"],
        ["get", "1"],
    ],
)
def test_traces(both: tuple[Telemetry, Telemetry, int], words: list[str]) -> None:
    here, there, now = both
    assert traces(there.traces, words, now) == traces(here.traces, words, now)


def test_a_trace_survives_its_way(broken: EmbeddedWorld) -> None:
    live = LiveTelemetry(ADDRESSES, answering(broken)).traces
    found = live.search(TraceQuery("frontend", broken.now() - 10**8, broken.now(), limit=3))
    assert found
    assert list(found) == [broken.telemetry.traces.get(trace.trace_id) for trace in found]
    assert live.get(found[0].trace_id) == found[0]


def test_where_nothing_is_configured() -> None:
    nowhere = LiveTelemetry(Addresses())
    with pytest.raises(
        TelemetryUnavailable, match="no Prometheus is configured for this cluster: give its address"
    ):
        nowhere.metrics.query("up", 0)
    with pytest.raises(TelemetryUnavailable, match=r'Addresses\(loki="http://...'):
        nowhere.logs.labels(0, 1)
    assert traces(nowhere.traces, ["services"], 0).stderr.startswith("traces: no Jaeger is configured")


def _failing(answer: Any) -> LiveTelemetry:
    return LiveTelemetry(ADDRESSES, httpx.MockTransport(answer))


def test_what_does_not_answer_says_so() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("connection refused")

    with pytest.raises(
        TelemetryUnavailable, match="Prometheus at http://prometheus does not answer: connection refused"
    ):
        _failing(refuse).metrics.query("up", 0)
    page = _failing(lambda request: httpx.Response(502, text="<html>bad gateway</html>"))
    with pytest.raises(TelemetryUnavailable, match="answers with status 502: <html>"):
        page.metrics.query("up", 0)
    with pytest.raises(LogQueryError, match="bad gateway"):
        page.logs.query_range(RangeQuery('{a="b"}', 0, 1))
    wrong = {"status": "error", "errorType": "bad_data", "error": "no"}
    with pytest.raises(BadData):
        _failing(lambda request: httpx.Response(400, json=wrong)).metrics.query("up", 0)


def test_the_workstation_reads_it(broken: EmbeddedWorld) -> None:
    done = Workstation(broken, ONCALL).run("promql 'count(up)'")
    assert done.exit_code == 0
