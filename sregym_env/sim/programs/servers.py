"""Small servers: memcached, Jaeger all-in-one, CoreDNS, and daemons that just stay up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs

from sregym_env.runtime.clock import HOUR, SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.network import corefile
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import memcached_text
from sregym_env.sim.programs.defaults import MIB, NEVER, Quiet
from sregym_env.sim.world.plan import PUBLISHED
from sregym_env.sim.world.program import Call, Flow, HttpRequest, HttpResponse, Usage
from sregym_env.telemetry.traces.http import Jaeger as Query


class Memcached(Quiet):
    """``memcached``: silent; remembers which key spaces its clients have filled."""

    name = "memcached"

    def start(self, ctx: ProcessContext) -> None:
        """Listen; the cache is empty."""
        ctx.set_memory(4 * MIB)
        if ctx.over_limit:
            return
        if wrong := memcached_text.refused(ctx.process.argv):
            ctx.log(wrong)
            ctx.exit(1)
            return
        port = memcached_text.asked(ctx.process.argv, "-p", "--port", 11211)
        if not port:
            return  # it listens on no TCP port
        try:
            ctx.listen(port)
        except OSError:
            ctx.log(
                f"bind(): Address already in use\nfailed to listen on TCP port {port}: Address already in use"
            )
            ctx.exit(71)

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """A look-up in memory."""
        return Flow(1.0, 0.00025)

    def typed(self, ctx: ProcessContext, text: str, port: int) -> str:
        """The text protocol."""
        return memcached_text.answers(ctx, text)

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Twenty microseconds of CPU per request."""
        return Usage(0.001 + 0.00002 * sum(rates.values()), ctx.process.memory)


def filled(ctx: ProcessContext, space: str) -> bool:
    """Whether the cache of ``ctx`` holds the keys of a key space."""
    return space in ctx.process.state.get("filled", ())


def fill(ctx: ProcessContext, space: str) -> None:
    """Note, while serving, that clients put the keys of a key space into the cache."""
    known = ctx.process.state.get("filled", ())
    if space not in known:
        ctx.settle(filled=tuple(sorted((*known, space))))


class Jaeger(Quiet):
    """``jaegertracing/all-in-one``: takes spans, keeps them in memory, serves its UI."""

    name = "jaeger"

    def start(self, ctx: ProcessContext) -> None:
        """Listen on the collector, query and admin ports."""
        ctx.set_memory(32 * MIB)
        if ctx.over_limit:
            return
        try:
            ctx.listen(4317, 4318, 5775, 5778, 6831, 6832, 14250, 14267, 14268, 14269, 16685, 16686)
        except OSError:
            ctx.log(
                f'{{"level":"fatal","ts":{ctx.wall() / 1e6:.7f},"caller":"all-in-one/main.go:107","msg":"Failed to start '
                'the admin servers","error":"cannot start admin server: listen tcp :14269: bind: address already in use"}'
            )
            ctx.exit(1)
            return
        for text in ('"msg":"Mem storage initialized","configuration":{"MaxTraces":0}', '"msg":"Starting HTTP server",'
                     '"addr":":16686"', '"msg":"Health Check state change","status":"ready"'):  # fmt: skip
            ctx.log(
                f'{{"level":"info","ts":{ctx.wall() / 1e6:.7f},"caller":"all-in-one/main.go:141",{text}}}'
            )

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """The UI and the query service on 16686, health on 14269."""
        path = request.path.partition("?")[0]
        if port == 14269:
            if path == "/":
                return HttpResponse(200, '{"status":"Server available","upSince":"2026-08-06T05:00:00Z"}')
            return HttpResponse(404, "404 page not found\n")
        if port == 16686:
            if path.startswith("/api/"):
                asked = parse_qs(request.path.partition("?")[2], keep_blank_values=True)
                answer = Query(ctx.world.telemetry.traces).answer(path, asked, ctx.now())
                return HttpResponse(
                    answer.status, answer.body.decode(), {"Content-Type": answer.content_type}
                )
            return HttpResponse(
                200, "<!doctype html><title>Jaeger UI</title>\n", {"Content-Type": "text/html"}
            )
        return None if port in (4317, 14250, 16685) else HttpResponse(404, "404 page not found\n")


class CoreDns(Quiet):
    """``coredns``: loads its Corefile at start; one that does not parse ends it with exit code 1."""

    name = "coredns"

    def start(self, ctx: ProcessContext) -> None:
        """Read the Corefile named by ``-conf`` and serve."""
        ctx.set_memory(20 * MIB)
        if ctx.over_limit:
            return
        argv = ctx.process.argv
        path = argv[argv.index("-conf") + 1] if "-conf" in argv[:-1] else "/etc/coredns/Corefile"
        try:
            text = ctx.read(path)
        except OSError:
            ctx.log(f"loading Caddyfile via flag: open {path}: no such file or directory")
            ctx.exit(1)
            return
        try:
            corefile.parse(text)
        except corefile.CorefileError as error:
            ctx.log(str(error))
            ctx.exit(1)
            return
        ctx.update(corefile=text)
        try:
            ctx.listen(53, 8080, 8181, 9153)
        except OSError:
            ctx.log("Listen: listen tcp :53: bind: address already in use")
            ctx.exit(1)
            return
        digest = "".join(f"{keyed_bits(text, index):016x}" for index in range(8))
        ctx.log(f".:53\n[INFO] plugin/reload: Running configuration SHA512 = {digest}")
        ctx.log("CoreDNS-1.11.3\nlinux/amd64, go1.21.11, a6338e9")

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """Health on 8080, readiness on 8181, metrics on 9153."""
        path = request.path.partition("?")[0]
        config = corefile.parse(str(ctx.process.state.get("corefile", "")))
        if port == 8080 and path == "/health" and config.has("health"):
            return HttpResponse(200, "OK")
        if port == 8181 and path == "/ready" and config.has("ready"):
            return HttpResponse(200, "OK")
        if port == 9153 and path == "/metrics" and config.has("prometheus"):
            return HttpResponse(
                200, _dns_metrics(config), {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
            )
        return HttpResponse(404, "404 page not found\n") if port != 53 else None

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Stay for the health plugin's ``lameduck`` period."""
        ctx.log(
            "[INFO] SIGTERM: Shutting down servers then terminating\n[INFO] plugin/health: Going into lameduck mode for 5s"
        )
        return 5.1, 0

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """A few milli-cores."""
        return Usage(0.003, ctx.process.memory)


DNS_PLUGINS = (
    "cache", "errors", "forward", "health", "hosts", "kubernetes", "loadbalance", "log", "loop", "prometheus", "ready", "reload",
    "rewrite", "template",
)  # fmt: skip
"""Plugins of CoreDNS that a Corefile may name."""


def _dns_metrics(config: corefile.Corefile) -> str:
    """What CoreDNS exposes that follows from its configuration."""
    enabled = "".join(
        f'coredns_plugin_enabled{{name="{name}",server="dns://:53",view="",zone="."}} 1\n'
        for name in DNS_PLUGINS
        if config.has(name)
    )
    return (
        "# HELP coredns_build_info A metric with a constant '1' value labeled by version, revision, and goversion from which "
        "CoreDNS was built.\n# TYPE coredns_build_info gauge\n"
        'coredns_build_info{goversion="go1.21.11",revision="a6338e9",version="1.11.3"} 1\n'
        "# HELP coredns_panics_total A metrics that counts the number of panics.\n# TYPE coredns_panics_total counter\n"
        "coredns_panics_total 0\n"
        "# HELP coredns_plugin_enabled A metric that indicates whether a plugin is enabled on per server and zone basis.\n"
        f"# TYPE coredns_plugin_enabled gauge\n{enabled}"
    )


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """A process that stays up: what it prints, where it listens and what it needs."""

    lines: tuple[str, ...] = ()
    """Printed at start. ``{klog:1.5}`` is the time 1.5 s after it, in one of the :data:`FORMS` in which programs write it."""
    ports: tuple[int, ...] = ()
    http: tuple[int, ...] = ()
    """Ports of those that answer every HTTP request with ``ok``."""
    memory: int = 20 * MIB
    cpu: float = 0.003
    ignores_term: bool = False


FORMS = {
    "klog": ("I%m%d %H:%M:%S", ".", 6, ""),
    "calico": ("%Y-%m-%d %H:%M:%S", ".", 3, ""),
    "iso": ("%Y-%m-%dT%H:%M:%S", "", 0, "Z"),
    "milli": ("%Y-%m-%dT%H:%M:%S", ".", 3, "Z"),
    "micro": ("%Y-%m-%dT%H:%M:%S", ".", 6, "Z"),
    "slashes": ("%Y/%m/%d %H:%M:%S", "", 0, ""),
    "slashes6": ("%Y/%m/%d %H:%M:%S", ".", 6, ""),
    "redis": ("%d %b %Y %H:%M:%S", ".", 3, ""),
    "clock": ("%H:%M:%S", ".", 3, ""),
    "epoch": ("%s", ".", 3, ""),
}
"""How programs write a time: up to the second, what stands before its fraction, the fraction's digits, what follows."""

_STAMP = re.compile(rf"\{{({'|'.join(FORMS)}):([0-9.]+)\}}")


def _stamped(ctx: ProcessContext, kind: str, delay: float) -> str:
    plan, key = ctx.world.plan, ctx.process.key
    # In the published cluster these lines were written when it was planned.
    time = PUBLISHED.born - 5 * HOUR
    if plan.key:
        time = ctx.wall() + plan.bits("line", *key, ctx.process.restart) % SECOND // 2
    time += round(delay * SECOND)
    form, point, digits, after = FORMS[kind]
    instant = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=time)
    whole = str(time // SECOND) if form == "%s" else f"{instant:{form}}"
    return f"{whole}{point}{f'{instant.microsecond:06d}'[:digits]}{after}"


class Daemon(Quiet):
    """A system component whose inner life nobody looks at."""

    name = "daemon"

    def _settings(self, ctx: ProcessContext) -> DaemonSettings:
        binary = ctx.image.binaries.get(ctx.process.binary)
        settings = None if binary is None else binary.settings
        return settings if isinstance(settings, DaemonSettings) else DaemonSettings()

    def start(self, ctx: ProcessContext) -> None:
        """Print the first lines and listen."""
        settings = self._settings(ctx)
        ctx.set_memory(settings.memory)
        if ctx.over_limit:
            return
        for line in settings.lines:
            ctx.log(_STAMP.sub(lambda found: _stamped(ctx, found[1], float(found[2])), line))
        ports = tuple(dict.fromkeys((*settings.ports, *settings.http)))
        if ports:
            try:
                ctx.listen(*ports)
            except OSError:
                ctx.log(f"listen tcp :{ports[0]}: bind: address already in use")
                ctx.exit(1)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """``ok`` on health ports."""
        return HttpResponse(200, "ok") if port in self._settings(ctx).http else None

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Exit cleanly, unless it ignores the signal."""
        return (NEVER, 137) if self._settings(ctx).ignores_term else (0.1, 0)

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Constant."""
        return Usage(self._settings(ctx).cpu, ctx.process.memory)
