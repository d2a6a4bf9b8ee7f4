"""The OpenTelemetry collector: reads its pipelines, takes telemetry, and hands it on to its exporters.

What applications send it costs nobody anything here. What it exports of its own accord, every so often, goes through the
cluster's network: an exporter that finds nobody says so in the log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.yaml_files import document, under
from sregym_env.sim.world.logs import stamped
from sregym_env.sim.world.program import Call, Failure, Flow, HttpRequest, HttpResponse, Usage

HEALTH = 13133
EXPORT = "export"
"""What a collector asks of itself: to hand on what it has gathered."""
EVERY = 30.0
"""Seconds between two exports of its own metrics, with the retries of those that fail."""
_PORT = re.compile(r":(\d{1,5})$")
_ENDPOINT = re.compile(r"^(?:https?://)?([A-Za-z0-9.-]+):(\d{1,5})(/[^\s]*)?$")


@dataclass(frozen=True, slots=True)
class Settings:
    """One build of the collector."""

    version: str = "0.142.0"
    memory: int = 96 * MIB
    binary: str = "otelcol-contrib"


class OtelCollector(Quiet):
    """The collector; ``settings`` of its binary hold its build."""

    name = "otel_collector"

    def start(self, ctx: ProcessContext) -> None:
        """Read the file that ``--config`` names, and open what its receivers and extensions name."""
        settings = _settings(ctx)
        ctx.set_memory(settings.memory)
        if ctx.over_limit:
            return
        path = next((word.partition("=")[2] for word in ctx.process.argv if word.startswith("--config=")), "")
        try:
            text = ctx.read(path)
        except OSError:
            _fail(
                ctx,
                f"cannot retrieve the configuration: unable to read the file file:{path}: open {path}: no such file or directory",
            )
            return
        try:
            found = document(text)
        except ValueError as error:
            _fail(ctx, f"cannot retrieve the configuration: yaml: {error}")
            return
        if not under(found, "service", "pipelines"):
            _fail(ctx, "invalid configuration: service must have at least one pipeline")
            return
        wrong = _undeclared(found)
        if wrong:
            _fail(ctx, f"invalid configuration: {wrong}")
            return
        ports = tuple(dict.fromkeys(_ports(found)))
        try:
            ctx.listen(*ports)
        except OSError:
            _fail(ctx, f"cannot start pipelines: listen tcp :{ports[0]}: bind: address already in use")
            return
        ctx.update(config=text)
        version = settings.version
        _say(ctx, "info", "service@v" + version + "/service.go:224",
             f"Starting {settings.binary}...\t{{\"Version\": \"{version}\", \"NumCPU\": 4}}")  # fmt: skip
        _say(ctx, "info", "extensions/extensions.go:40", "Starting extensions...")
        for host, port, name in _received(found):
            _say(ctx, "info", "otlpreceiver@v" + version + "/otlp.go:121",
                 f"Starting {name} server\t{{\"endpoint\": \"{host}:{port}\"}}")  # fmt: skip
        _say(
            ctx,
            "info",
            "service@v" + version + "/service.go:247",
            "Everything is ready. Begin running and processing data.",
        )

    def offers(self, ctx: ProcessContext) -> tuple[tuple[str, float, str, int, Call], ...]:
        """Hand on what has been gathered, every so often."""
        if "config" not in ctx.process.state or HEALTH not in ctx.process.listening:
            return ()
        return (("", 1.0 / EVERY, "127.0.0.1", HEALTH, Call(EXPORT)),)

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """Take what is sent; or export, and say what does not arrive."""
        if call.operation != EXPORT:
            return Flow(1.0, 0.001)
        found = document(ctx.process.state["config"])
        for name, host, target, path in _exported(found):
            flow = ctx.call(
                host, target, Call(f"POST {path}" if path else "export"), timeout=5.0, waits=False
            )
            for failure, share in flow.failures:
                ctx.log_per_request(_dropped(name, host, target, path, failure), share=share)
        return Flow(1.0, 0.001)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """Its health, and OTLP over HTTP."""
        if port == HEALTH:
            return HttpResponse(
                200,
                '{"status":"Server available","upSince":"","uptime":""}',
                {"Content-Type": "application/json"},
            )
        if port == 4318:
            if request.method == "POST":
                return HttpResponse(200, "{}", {"Content-Type": "application/json"}, 0.001)
            return HttpResponse(
                405, "405 method not allowed, supported: [POST]", {"Content-Type": "text/plain"}, 0.0005
            )
        return HttpResponse(404, "404 page not found\n") if port == 8888 else None

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Drain the pipelines."""
        _say(
            ctx,
            "info",
            "otelcol@v" + _settings(ctx).version + "/collector.go:342",
            'Received signal from OS\t{"signal": "terminated"}',
        )
        return 0.5, 0

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Receivers that scrape the node keep it busy."""
        return Usage(0.02, ctx.process.memory)


def _settings(ctx: ProcessContext) -> Settings:
    binary = ctx.image.binaries.get(ctx.process.binary)
    found = None if binary is None else binary.settings
    return found if isinstance(found, Settings) else Settings()


def _say(ctx: ProcessContext, level: str, where: str, text: str) -> None:
    """``2026-08-06T12:00:00.123Z	info	service@v0.142.0/service.go:247	text``."""
    ctx.log(stamped(f"{{time|%Y-%m-%dT%H:%M:%S.%L}}Z\t{level}\t{where}\t{text}", ctx.wall()))


def _fail(ctx: ProcessContext, text: str) -> None:
    ctx.log(
        f"Error: {text}\n{stamped('{time|%Y/%m/%d %H:%M:%S}', ctx.wall())} collector server run finished with error: {text}"
    )
    ctx.exit(1, delay=0.05)


def _undeclared(found: Any) -> str:
    """The first component that a pipeline names and nobody has configured."""
    known = {
        kind: under(found, kind) or {} for kind in ("receivers", "processors", "exporters", "connectors")
    }
    for pipeline, parts in (under(found, "service", "pipelines") or {}).items():
        for kind in ("receivers", "processors", "exporters"):
            for name in under(parts, kind) or ():
                if name not in known[kind] and name not in known["connectors"]:
                    return f'service::pipelines::{pipeline}: references {kind[:-1]} "{name}" which is not configured'
    return ""


def _endpoints(found: Any, kind: str) -> Iterator[tuple[str, str]]:
    """(name, endpoint) of everything of a kind that has one, however deep."""
    for name, parts in (under(found, kind) or {}).items():
        frontier = [(str(name), parts)]
        while frontier:
            here, part = frontier.pop(0)
            if isinstance(part, dict):
                if isinstance(part.get("endpoint"), str):
                    yield here, part["endpoint"]
                frontier.extend((here, inner) for key, inner in part.items() if key != "endpoint")


def _received(found: Any) -> list[tuple[str, int, str]]:
    """(host, port, name) of every receiver."""
    made = []
    for name, endpoint in _endpoints(found, "receivers"):
        port = _PORT.search(endpoint)
        if port is not None and "://" not in endpoint:
            made.append((endpoint[: port.start()], int(port[1]), "GRPC" if port[1] == "4317" else name))
    return made


def _ports(found: Any) -> Iterator[int]:
    yield from (port for _, port, _ in _received(found))
    yield 8888
    for name, endpoint in _endpoints(found, "extensions"):
        port = _PORT.search(endpoint)
        if port is not None:
            yield int(port[1])
        elif name.startswith("health_check"):
            yield HEALTH


def _exported(found: Any) -> list[tuple[str, str, int, str]]:
    """(name, host, port, path) of every exporter that sends somewhere."""
    made = []
    for name, endpoint in _endpoints(found, "exporters"):
        match = _ENDPOINT.match(endpoint)
        if match is not None:
            suffix = "/v1/metrics" if name.startswith("otlphttp") else ""
            made.append((name, match[1], int(match[2]), (match[3] or "") + suffix))
    return made


def _dropped(name: str, host: str, port: int, path: str, failure: Failure) -> str:
    """The line about a batch that is tried again later."""
    cause = failure.text
    if name.startswith("otlphttp"):
        cause = f'failed to make an HTTP request: Post \\"http://{host}:{port}{path}\\": {failure.text}'
    elif not cause.startswith("rpc error"):
        cause = f'rpc error: code = Unavailable desc = connection error: desc = \\"transport: Error while dialing: {failure.text}\\"'
    return (
        "{time|%Y-%m-%dT%H:%M:%S.%L}Z\tinfo\tinternal/retry_sender.go:133\tExporting failed. Will retry the request after "
        f'interval.\t{{"otelcol.component.id": "{name}", "otelcol.component.kind": "exporter", "error": "{cause}", '
        '"interval": "5.4s"}'
    )
