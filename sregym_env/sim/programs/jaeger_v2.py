"""Jaeger 2: the collector's framework around a store of traces and its UI."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.yaml_files import document, under
from sregym_env.sim.world.logs import stamped
from sregym_env.sim.world.program import HttpRequest, HttpResponse, Usage

HEALTH, UI = 13133, 16686
PORTS = (4317, 4318, 5778, 5779, 9411, 14250, 14268, 16685, UI, HEALTH)


class JaegerV2(Quiet):
    """``jaegertracing/jaeger``."""

    name = "jaeger_v2"

    def start(self, ctx: ProcessContext) -> None:
        """Read the file that ``--config`` names, and listen."""
        ctx.set_memory(48 * MIB)
        if ctx.over_limit:
            return
        words = ctx.process.argv
        path = next((word.partition("=")[2] for word in words if word.startswith("--config=")), "")
        if not path and "--config" in words[:-1]:
            path = words[words.index("--config") + 1]
        base = ""
        if path:
            try:
                found = document(ctx.read(path))
            except OSError:
                self._fail(
                    ctx,
                    f"cannot retrieve the configuration: unable to read the file file:{path}: open {path}: no such file or directory",
                )
                return
            except ValueError as error:
                self._fail(ctx, f"cannot retrieve the configuration: yaml: {error}")
                return
            if not under(found, "service", "pipelines"):
                self._fail(ctx, "invalid configuration: service must have at least one pipeline")
                return
            base = str(under(found, "extensions", "jaeger_query", "base_path") or "")
        try:
            ctx.listen(*PORTS)
        except OSError:
            self._fail(ctx, "cannot start pipelines: listen tcp :4317: bind: address already in use")
            return
        ctx.update(base=base)
        for where, text in (
            ("service@v1.48.0/service.go:224", 'Starting jaeger...\t{"Version": "v2.14.1", "NumCPU": 4}'),
            ("jaegerquery/server.go:95", 'Starting HTTP server\t{"endpoint": "0.0.0.0:16686"}'),
            ("service@v1.48.0/service.go:247", "Everything is ready. Begin running and processing data."),
        ):
            ctx.log(stamped(f"{{time|%Y-%m-%dT%H:%M:%S.%L}}Z\tinfo\t{where}\t{text}", ctx.wall()))

    @staticmethod
    def _fail(ctx: ProcessContext, text: str) -> None:
        ctx.log(f"Error: {text}")
        ctx.exit(1, delay=0.05)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """Its health, and the UI below its base path."""
        path = request.path.partition("?")[0]
        if port == HEALTH:
            if path == "/status":
                return HttpResponse(
                    200, '{"status":"StatusOK","healthy":true}', {"Content-Type": "application/json"}
                )
            return HttpResponse(404, "404 page not found\n")
        if port != UI:
            return None if port in (4317, 14250, 16685) else HttpResponse(404, "404 page not found\n")
        base = str(ctx.process.state.get("base", ""))
        if not path.startswith(base):
            return HttpResponse(404, "404 page not found\n")
        if path.startswith(f"{base}/api/services"):
            return HttpResponse(200, '{"data":[],"total":0,"limit":0,"offset":0,"errors":null}\n')
        return HttpResponse(200, "<!doctype html><title>Jaeger UI</title>\n", {"Content-Type": "text/html"})

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Nearly nothing."""
        return Usage(0.003, ctx.process.memory)
