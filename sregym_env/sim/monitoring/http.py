"""What the monitoring in the cluster answers over HTTP: Prometheus's API, Loki's, and what exporters expose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

import orjson

from sregym_env.runtime.clock import MINUTE
from sregym_env.sim.monitoring.alerts import groups_of, recorded
from sregym_env.sim.monitoring.log_streams import WorldLogs
from sregym_env.sim.monitoring.scrapes import MILLI, Question, series_of
from sregym_env.sim.monitoring.series import FAMILIES, WorldSeries
from sregym_env.sim.world import SimWorld
from sregym_env.telemetry.gotext import sample
from sregym_env.telemetry.labels import Labels, value_of
from sregym_env.telemetry.logql.http import Loki
from sregym_env.telemetry.promql import api, rules
from sregym_env.telemetry.promql.engine import Engine
from sregym_env.telemetry.series import Matcher, Metadata, Series, SeriesSource, is_stale

Parameters = Mapping[str, Sequence[str]]
"""Of a query string and a form: every name with its values in order."""

Answer = tuple[int, str, str]
"""HTTP status, body and content type."""

PREFIX = "/api/v1/"
_JSON = "application/json"
_PLAIN = "text/plain; charset=utf-8"
_EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"
NOT_FOUND: Answer = (404, "404 page not found\n", _PLAIN)

LOOKED_BACK = 5 * MINUTE
"""How old a target's last scrape can be, and how far back labels are looked for."""

BUILD = {
    "version": "2.47.2",
    "revision": "3f3172cde1ee37f1c7b3a5f3d9b031190509b3ad",
    "branch": "HEAD",
    "buildUser": "root@79f2ad339b75",
    "buildDate": "20231012-16:07:10",
    "goVersion": "go1.21.3",
}
"""What ``/api/v1/status/buildinfo`` says."""


class _Lately:
    """A source that looks for labels in the last minutes of a range only: who asks for all there ever was (every dashboard
    does) would wait for ever."""

    def __init__(self, source: SeriesSource, now_ms: int) -> None:
        self._source = source
        self._now = now_ms

    def select(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Iterable[Series]:
        """As the source has them."""
        return self._source.select(matchers, start_ms, end_ms)

    def labels(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Iterable[Labels]:
        """Of the last minutes."""
        end = min(end_ms, self._now)
        return self._source.labels(matchers, max(start_ms, end - LOOKED_BACK // MILLI), end)

    def metadata(self) -> Mapping[str, Sequence[Metadata]]:
        """As the source has it."""
        return self._source.metadata()


def prometheus(world: SimWorld, path: str, parameters: Parameters) -> Answer:
    """The answer to a GET or POST of Prometheus's API. Never raises for what a client sent."""
    found = _prometheus(world, path.removeprefix(PREFIX), parameters) if path.startswith(PREFIX) else None
    if found is None:
        return NOT_FOUND
    return found.status, orjson.dumps(found.body).decode(), _JSON


def _prometheus(world: SimWorld, name: str, parameters: Parameters) -> api.Response | None:
    now = world.clock // MILLI
    source = _Lately(recorded(world), now)
    engine = Engine(source)
    if name == "query":
        return api.query(engine, parameters, now)
    if name == "query_range":
        return api.query_range(engine, parameters)
    if name == "series":
        return api.series(source, parameters)
    if name == "labels":
        return api.labels(source, parameters)
    if name.startswith("label/") and name.endswith("/values") and name.count("/") == 2:
        return api.label_values(source, unquote(name.split("/")[1]), parameters)
    if name == "metadata":
        return api.metadata(source, parameters)
    if name == "alerts":
        return rules.alerts(groups_of(world), engine, now)
    if name == "rules":
        return rules.rules(groups_of(world), engine, parameters, now)
    if name == "targets":
        return api.targets(targets(world), parameters)
    if name == "alertmanagers":
        return api.success({"activeAlertmanagers": [], "droppedAlertmanagers": []})
    if name == "status/buildinfo":
        return api.success(BUILD)
    return None


def targets(world: SimWorld) -> list[api.Target]:
    """What is scraped, and how the last scrape of each went."""
    source = WorldSeries(world)
    took = {each.labels[1:]: each for each in _latest(source, world, "scrape_duration_seconds")}
    found = []
    for each in _latest(source, world, "up"):
        time, up = int(each.timestamps[-1]), bool(each.values[-1])
        labels = tuple(pair for pair in each.labels if pair[0] != "__name__")
        job, instance = value_of(labels, "job"), value_of(labels, "instance")
        url = _url(job, instance)
        seconds = took.get(each.labels[1:])
        found.append(
            api.Target(
                pool=job,
                url=url,
                labels=labels,
                discovered=(("__address__", instance), ("job", job)),
                error="" if up else f'Get "{url}": context deadline exceeded',
                scraped=f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time):%Y-%m-%dT%H:%M:%S.%f}"[
                    :-3
                ]
                + "Z",
                seconds=0.0 if seconds is None else float(seconds.values[-1]),
                health="up" if up else "down",
                interval="15s" if job == "otel-spanmetrics" else "1m",
            )
        )
    return sorted(found, key=lambda target: (target.pool, target.url))


def _url(job: str, instance: str) -> str:
    if job == "kubernetes-cadvisor":
        return f"https://kubernetes.default.svc:443/api/v1/nodes/{instance}/proxy/metrics/cadvisor"
    if job.startswith("blackbox-"):
        return (
            f"http://prometheus-prometheus-blackbox-exporter:9115/probe?module=tcp_connect&target={instance}"
        )
    if job == "node-exporter":
        return f"http://{instance}:9100/metrics"
    return f"http://{instance}/metrics"


def _latest(source: WorldSeries, world: SimWorld, name: str) -> list[Series]:
    """The series of a metric whose last sample is none that says they have ended."""
    now = world.clock // MILLI
    found = source.select((Matcher("=", "__name__", name),), now - LOOKED_BACK // MILLI, now)
    return [each for each in found if len(each.values) and not is_stale(each.values[-1:])[0]]


def exposition(world: SimWorld, job: str, instance: str = "") -> str:
    """What the exporter of a job exposes, in Prometheus's text format; of one target where an instance is named."""
    now = world.clock
    shared: dict[tuple[str, int, int], object] = {}
    matchers = (Matcher("=", "job", job), *((Matcher("=", "instance", instance),) if instance else ()))
    question = Question(world, now - LOOKED_BACK, now, matchers, shared)
    lines = []
    for family in FAMILIES:
        if family.name in ("up", "scrape_duration_seconds"):
            continue
        given = [target for target in family.targets(question) if target.job.name == job]
        if not given:
            continue
        own = {name for target in given for name in target.all_labels}
        rows = [
            (each.labels, float(each.values[-1]))
            for each in series_of(question, family)
            if not is_stale(each.values[-1:])[0]
        ]
        if rows:
            lines.append(f"# HELP {family.name} {family.help}\n# TYPE {family.name} {family.type}\n")
            lines += [_exposed(labels, own, value) for labels, value in rows]
    return "".join(lines)


def _exposed(labels: Labels, target: set[str], value: float) -> str:
    inner = ",".join(
        f"{name}={orjson.dumps(text).decode()}"
        for name, text in labels
        if name not in target and name != "__name__"
    )
    name = value_of(labels, "__name__")
    return f"{name}{{{inner}}} {sample(value)}\n" if inner else f"{name} {sample(value)}\n"


def loki(world: SimWorld, path: str, parameters: Parameters) -> Answer:
    """The answer to a GET or POST of Loki's API. Never raises for what a client sent."""
    answer = Loki(WorldLogs(world)).answer(path, parameters, world.clock * 1000)
    return answer.status, answer.body.decode(), answer.content_type
