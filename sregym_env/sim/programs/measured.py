"""The monitoring's own programs in the cluster: Loki, and the exporters that Prometheus scrapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast
from urllib.parse import parse_qs

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.world.logs import stamped
from sregym_env.sim.world.program import HttpRequest, HttpResponse, Usage

PLAIN = {"Content-Type": "text/plain; charset=utf-8"}
_FORM = "application/x-www-form-urlencoded"
MOST_FORM = 100_000
"""Characters of a form that are read."""


class Answering(Protocol):
    """What answers an API over HTTP."""

    def answer(self, path: str, parameters: Mapping[str, Sequence[str]]) -> tuple[int, str, str]:
        """Status, body and content type."""


class Exposing(Protocol):
    """What knows the series of exporters."""

    def exposition(self, job: str, instance: str = "") -> str:
        """What the exporter of a job exposes, in Prometheus's text format."""


def answered(api: object, request: HttpRequest) -> HttpResponse:
    """What an API answers to a GET, or to a POST with a form."""
    if request.method not in ("GET", "POST", "HEAD"):
        return HttpResponse(405, "Method Not Allowed\n", PLAIN)
    path, _, query = request.path.partition("?")
    asked = parse_qs(query, keep_blank_values=True)
    if request.method == "POST" and _is_form(request):
        for name, values in parse_qs(request.body[:MOST_FORM], keep_blank_values=True).items():
            asked[name] = [*values, *asked.get(name, ())]
    status, body, content_type = cast(Answering, api).answer(path, asked)
    return HttpResponse(status, body, {"Content-Type": content_type})


def _is_form(request: HttpRequest) -> bool:
    given = next((text for name, text in request.headers.items() if name.lower() == "content-type"), _FORM)
    return given.partition(";")[0].strip() == _FORM


class LokiServer(Quiet):
    """``grafana/loki`` as a single binary: it reads its file, and answers on 3100."""

    name = "loki_server"

    def start(self, ctx: ProcessContext) -> None:
        """Read the file that ``-config.file`` names, and listen."""
        ctx.set_memory(96 * MIB)
        if ctx.over_limit:
            return
        path = next((w.partition("=")[2] for w in ctx.process.argv if w.startswith("-config.file=")), "")
        try:
            if path:
                ctx.read(path)
            ctx.listen(3100, 7946, 9095)
        except OSError:
            ctx.log(f"failed parsing config: {path}: open {path}: no such file or directory")
            ctx.exit(1, delay=0.05)
            return
        for caller, text in (
            ("main.go:108", 'msg="Starting Loki" version="(version=2.9.6, branch=HEAD, revision=f6283f5b5)"'),
            ("server.go:322", "http=[::]:3100 grpc=[::]:9095 msg=\"server listening on addresses\""),
            ("module_service.go:82", "msg=initialising module=ingester"),
            ("loki.go:503", 'msg="Loki started"'),
        ):  # fmt: skip
            ctx.log(
                stamped(f"level=info ts={{time|%Y-%m-%dT%H:%M:%S.%L}}Z caller={caller} {text}", ctx.wall())
            )

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """Its API, and whether it is ready."""
        if port != 3100:
            return None
        path = request.path.partition("?")[0]
        if path == "/ready":
            return HttpResponse(200, "ready\n", PLAIN)
        if path == "/loki/api/v1/status/buildinfo":
            text = '{"version":"2.9.6","revision":"f6283f5b5","branch":"HEAD","buildUser":"root@2645337e4e98","goVersion":"go1.21.5"}'
            return HttpResponse(200, text, {"Content-Type": "application/json"})
        return answered(ctx.world.telemetry.logs, request)

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """It takes what the machines send."""
        return Usage(0.015, ctx.process.memory)


@dataclass(frozen=True, slots=True)
class ExporterSettings:
    """An exporter: what it prints, where it listens, and what it says."""

    title: str
    """Of the page at ``/``."""
    lines: tuple[str, ...]
    port: int
    job: str = ""
    """Whose series it exposes; empty where they are not known here."""
    of_machine: bool = False
    """Whether it tells of its own machine only."""
    ready: tuple[str, ...] = ()
    """Paths at which it says that it is well."""
    memory: int = 20 * MIB
    cpu: float = 0.003


class Exporter(Quiet):
    """kube-state-metrics, node_exporter, blackbox_exporter."""

    name = "exporter"

    def _settings(self, ctx: ProcessContext) -> ExporterSettings:
        binary = ctx.image.binaries.get(ctx.process.binary)
        settings = None if binary is None else binary.settings
        return settings if isinstance(settings, ExporterSettings) else ExporterSettings("", (), 0)

    def start(self, ctx: ProcessContext) -> None:
        """Listen, and say so."""
        settings = self._settings(ctx)
        ctx.set_memory(settings.memory)
        if ctx.over_limit:
            return
        try:
            ctx.listen(settings.port)
        except OSError:
            ctx.log(f"listen tcp :{settings.port}: bind: address already in use")
            ctx.exit(1, delay=0.05)
            return
        for line in settings.lines:
            ctx.log(stamped(line, ctx.wall()))

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """``/metrics``, its health, and a page that leads there."""
        settings = self._settings(ctx)
        path = request.path.partition("?")[0]
        if path in settings.ready:
            return HttpResponse(200, "OK", PLAIN)
        if path == "/metrics":
            instance = ctx.process.node if settings.of_machine else ""
            source = cast(Exposing, ctx.world.telemetry.metrics)
            text = source.exposition(settings.job, instance) if settings.job else ""
            return HttpResponse(
                200, text, {"Content-Type": "text/plain; version=0.0.4; charset=utf-8; escaping=values"}
            )
        if path == "/":
            page = f'<html><head><title>{settings.title}</title></head><body><h1>{settings.title}</h1><a href="/metrics">Metrics</a></body></html>\n'
            return HttpResponse(200, page, {"Content-Type": "text/html; charset=UTF-8"})
        return HttpResponse(404, "404 page not found\n", PLAIN)

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Constant."""
        return Usage(self._settings(ctx).cpu, ctx.process.memory)
