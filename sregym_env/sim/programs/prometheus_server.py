"""Prometheus' server as a process: up, healthy, and reloaded on demand. What it has measured is asked elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sregym_env.runtime.numbers import is_whole, whole
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.measured import answered
from sregym_env.sim.programs.yaml_files import document, under
from sregym_env.sim.world.logs import stamped
from sregym_env.sim.world.program import HttpRequest, HttpResponse, Usage
from sregym_env.telemetry.promql.rules import RuleError, load_rules

SCRAPED = "kube-state-metrics"
"""The job by which the Prometheus is known that scrapes the cluster."""

LOADED = "prometheus.rules"
"""Slot of a world's memory: the rules that the Prometheus which scrapes the cluster has read last."""

EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"
PAGE = "<!doctype html><title>Prometheus Time Series Collection and Processing Server</title>\n"


class PrometheusServer(Quiet):
    """``prom/prometheus``."""

    name = "prometheus_server"

    def start(self, ctx: ProcessContext) -> None:
        """Load the file that ``--config.file`` names, and listen on the port of ``--web.listen-address``."""
        ctx.set_memory(64 * MIB)
        if ctx.over_limit:
            return
        path = _flag(ctx, "config.file", "prometheus.yml")
        given = _flag(ctx, "web.listen-address", "0.0.0.0:9090").rpartition(":")[2]
        port = whole(given or "0", 65536)
        if port > 65535:
            cause = (
                f"address {given}: invalid port" if is_whole(given) else f"lookup tcp/{given}: unknown port"
            )
            _say(ctx, "error", f'Unable to start web listener" err="listen tcp: {cause}')
            ctx.exit(1, delay=0.05)
            return
        try:
            config = document(ctx.read(path))
        except (OSError, ValueError) as error:
            cause = (
                f"open {path}: no such file or directory" if isinstance(error, OSError) else f"yaml: {error}"
            )
            _say(ctx, "error", f'Error loading config (--config.file={path})" file={path} err="{cause}')
            ctx.exit(2, delay=0.05)
            return
        try:
            ctx.listen(port)
        except OSError:
            _say(
                ctx,
                "error",
                f'Unable to start web listener" err="listen tcp 0.0.0.0:{port}: bind: address already in use',
            )
            ctx.exit(1, delay=0.05)
            return
        scraping = _scrapes(config)
        problem = _read_rules(ctx, config) if scraping else ""
        if problem:
            _say(ctx, "error", f'Error loading config (--config.file={path})" file={path} err="{problem}')
            ctx.exit(2, delay=0.05)
            return
        ctx.update(scraping=scraping, started=ctx.now())
        _say(ctx, "info", 'Start listening for connections" address=0.0.0.0:' + str(port))
        _say(ctx, "info", "TSDB started")
        _say(ctx, "info", "Server is ready to receive web requests.")

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """Whether it is well and ready; and its API, if it is the one that scrapes the cluster."""
        path = request.path.partition("?")[0]
        plain = {"Content-Type": "text/plain; charset=utf-8"}
        if path == "/-/healthy":
            return HttpResponse(200, "Prometheus Server is Healthy.\n", plain)
        if path == "/-/ready":
            return HttpResponse(200, "Prometheus Server is Ready.\n", plain)
        if path == "/-/reload":
            if "--web.enable-lifecycle" not in ctx.process.argv:
                return HttpResponse(403, "Lifecycle API is not enabled.", plain)
            if request.method not in ("POST", "PUT"):
                return HttpResponse(405, "Only POST or PUT requests allowed", plain)
            return self._reloaded(ctx, plain)
        if path.startswith("/api/") and ctx.process.state.get("scraping"):
            return answered(ctx.world.telemetry.metrics, request)
        if path == "/metrics":
            return HttpResponse(200, _own_metrics(ctx), {"Content-Type": EXPOSITION})
        if path in ("/", "/graph", "/alerts", "/targets", "/rules"):
            return HttpResponse(200, PAGE, {"Content-Type": "text/html; charset=utf-8"})
        return HttpResponse(404, "404 page not found\n", plain)

    def _reloaded(self, ctx: ProcessContext, plain: Mapping[str, str]) -> HttpResponse:
        """Read the configuration and the rules again; what it cannot use it leaves as it was."""
        path = _flag(ctx, "config.file", "prometheus.yml")
        _say(ctx, "info", f'Loading configuration file" filename={path}')
        try:
            config = document(ctx.read(path))
        except (OSError, ValueError) as error:
            problem = f"couldn't load configuration (--config.file={path!r}): {error}"
        else:
            problem = _read_rules(ctx, config) if ctx.process.state.get("scraping") else ""
        if problem:
            _say(ctx, "error", f'Failed to apply configuration" err="{problem}')
            return HttpResponse(500, f"failed to reload config: {problem}\n", plain)
        return HttpResponse(200, "", plain)

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """It scrapes."""
        return Usage(0.02, ctx.process.memory)


def _scrapes(config: Any) -> bool:
    """Whether a configuration is that of the Prometheus which scrapes the cluster."""
    jobs = under(config, "scrape_configs")
    return isinstance(jobs, list) and any(under(job, "job_name") == SCRAPED for job in jobs)


def _read_rules(ctx: ProcessContext, config: Any) -> str:
    """Take the rules of the first file of rules that there is and has any; why they cannot be used, or nothing."""
    listed = under(config, "rule_files")
    found = ""
    for path in listed if isinstance(listed, list) else ():
        try:
            text = ctx.read(str(path))
        except OSError:
            continue  # a pattern that matches nothing
        problem = _unusable(text)
        if problem:
            return f"loading groups failed: {path}: {problem}"
        if text.strip() not in ("", "{}"):
            found = found or text
    ctx.world.memory[LOADED] = found or "groups: []\n"
    ctx.world.touch()
    return ""


@lru_cache(maxsize=64)
def _unusable(text: str) -> str:
    try:
        load_rules(text)
    except RuleError as error:
        return str(error)
    return ""


def _own_metrics(ctx: ProcessContext) -> str:
    """The little of its own metrics that anybody asks for."""
    started = float(ctx.process.state.get("started", ctx.now())) / 1e6
    return "".join(
        f"# HELP {name} {about}\n# TYPE {name} gauge\n{name}{labels} {value}\n"
        for name, about, labels, value in (
            ("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", "", f"{started:.3f}"),
            ("prometheus_build_info", "A metric with a constant '1' value labeled by version.", '{version="2.47.2"}', "1"),
            ("prometheus_config_last_reload_successful", "Whether the last configuration reload attempt was successful.", "", "1"),
            ("prometheus_ready", "Whether Prometheus startup was fully completed and the server is ready for normal operation.", "", "1"),
        )
    )  # fmt: skip


def _flag(ctx: ProcessContext, name: str, default: str) -> str:
    for word in ctx.process.argv:
        if word.startswith(f"--{name}="):
            return word.partition("=")[2]
    return default


def _say(ctx: ProcessContext, level: str, text: str) -> None:
    """``ts=2026-08-06T12:00:00.123Z caller=main.go:1024 level=info msg="text"``."""
    end = "" if '" ' in text and 'err="' not in text else '"'
    ctx.log(
        stamped(
            f'ts={{time|%Y-%m-%dT%H:%M:%S.%L}}Z caller=main.go:1024 level={level} msg="{text}{end}',
            ctx.wall(),
        )
    )
