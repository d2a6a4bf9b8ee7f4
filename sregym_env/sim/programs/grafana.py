"""Grafana: reads its configuration, serves its UI and its health."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.world.logs import stamped
from sregym_env.sim.world.program import Call, Flow, HttpRequest, HttpResponse, Usage

_PORT = re.compile(r"^\s*http_port\s*=\s*(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Settings:
    """One build of it."""

    version: str = "12.3.1"
    memory: int = 96 * MIB


class Grafana(Quiet):
    """The server; ``settings`` of its binary hold its build."""

    name = "grafana"

    def start(self, ctx: ProcessContext) -> None:
        """Read ``grafana.ini`` where there is one, and listen."""
        settings = _settings(ctx)
        ctx.set_memory(settings.memory)
        if ctx.over_limit:
            return
        path = ctx.process.env.get("GF_PATHS_CONFIG", "/etc/grafana/grafana.ini")
        try:
            text = ctx.read(path)
        except OSError:
            text = ""
        found = _PORT.search(text)
        port = int(found[1]) if found else 3000
        _say(
            ctx,
            "info",
            "settings",
            f'Starting Grafana" version={settings.version} branch=HEAD compiled=2025-12-16T10:00:00Z',
        )
        _say(ctx, "info", "settings", f'Config loaded from" file={path}')
        try:
            ctx.listen(port)
        except OSError:
            ctx.log(f"Error: ✗ listen tcp 0.0.0.0:{port}: bind: address already in use")
            ctx.exit(1, delay=0.05)
            return
        _say(ctx, "info", "sqlstore", 'Connecting to DB" dbtype=sqlite3')
        _say(ctx, "info", "migrator", 'migrations completed" performed=0 skipped=702 duration=1.2ms')
        _say(
            ctx,
            "info",
            "http.server",
            f'HTTP Server Listen" address=[::]:{port} protocol=http subUrl=/grafana socket=',
        )

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """A page."""
        return Flow(1.0, 0.004)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """``/api/health``, and its page for whoever may look at it."""
        path = request.path.partition("?")[0].removeprefix("/grafana") or "/"
        json = {"Content-Type": "application/json; charset=UTF-8"}
        if path == "/api/health":
            body = f'{{\n  "database": "ok",\n  "version": "{_settings(ctx).version}",\n  "commit": "0d1a5b4420"\n}}'
            return HttpResponse(200, body, json, 0.002)
        if path.startswith("/api/"):
            return HttpResponse(404, '{"message":"Not found","traceID":""}', json, 0.002)
        return HttpResponse(200, "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Grafana</title></head></html>\n",
                            {"Content-Type": "text/html; charset=UTF-8"}, 0.004)  # fmt: skip

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Say so."""
        _say(ctx, "info", "server", 'Shutdown started" reason="System signal: terminated')
        return 0.4, 0

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Its own clockwork."""
        return Usage(0.004 + 0.002 * sum(rates.values()), ctx.process.memory)


def _settings(ctx: ProcessContext) -> Settings:
    binary = ctx.image.binaries.get(ctx.process.binary)
    found = None if binary is None else binary.settings
    return found if isinstance(found, Settings) else Settings()


def _say(ctx: ProcessContext, level: str, logger: str, text: str) -> None:
    """``logger=http.server t=2026-08-06T12:00:00.123456Z level=info msg="text"``; a text may end its own quotation."""
    end = "" if '" ' in text and not text.endswith("terminated") else '"'
    ctx.log(
        stamped(
            f'logger={logger} t={{time|%Y-%m-%dT%H:%M:%S.%f}}Z level={level} msg="{text}{end}', ctx.wall()
        )
    )
