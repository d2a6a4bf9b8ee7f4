"""Envoy as an edge proxy: static listeners, routes by prefix, clusters found by DNS.

The image's entrypoint puts the environment into a template and starts Envoy with the result, so a variable that is
missing or wrong becomes an address that is. What it does with a request follows from that file alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sregym_env.sim.containers import view
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.processes.exchange import http_get
from sregym_env.sim.programs import envoy_admin, request_filter
from sregym_env.sim.programs.backtracking import LIMIT
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.envoy_config import Config, ConfigError, Rule, filled, parsed
from sregym_env.sim.programs.services.drivers.connecting import workers
from sregym_env.sim.programs.services.steps import Ask, Handler
from sregym_env.sim.world.logs import stamped
from sregym_env.sim.world.process import Process
from sregym_env.sim.world.program import Call, Failure, Flow, HttpRequest, HttpResponse, Keeping, Usage

TEMPLATE = "/home/envoy/envoy.tmpl.yaml"
CONFIG = "/home/envoy/envoy.yaml"
CONNECT_TIMEOUT = 5.0
"""Seconds that a cluster waits for a connection (``connect_timeout``)."""
OWN = 0.0003
"""Seconds that a request spends in the proxy itself."""

REFUSED = "request blocked\n"
"""What is answered to a request that the filter does not let through."""

_CLOSED = "upstream connect error or disconnect/reset before headers. reset reason: "


@dataclass(frozen=True, slots=True)
class Settings:
    """One build of the proxy."""

    version: str = "1.34.10"
    memory: int = 30 * MIB
    template: str = TEMPLATE
    """Where the file is that the environment is put into."""


class Envoy(Quiet):
    """The proxy; ``settings`` of its binary hold its build."""

    name = "envoy"

    def start(self, ctx: ProcessContext) -> None:
        """Put the environment into the template, read the result, listen."""
        settings = _settings(ctx)
        ctx.set_memory(settings.memory)
        if ctx.over_limit:
            return
        try:
            template = ctx.read(settings.template)
        except OSError:
            ctx.log(f"/bin/sh: 1: cannot open {settings.template}: No such file")
            ctx.exit(2)
            return
        restarts = f"hot restart version={envoy_admin.HOT_RESTART}"
        _say(ctx, "info", "main", "server.cc:433", f"initializing epoch 0 (base id=0, {restarts})")
        text = filled(template, ctx.process.env)
        with suppress(OSError):
            view.write(ctx.world, ctx.process, CONFIG, text)
        try:
            config = parsed(text)
        except ConfigError as error:
            _end(ctx, f"error initializing configuration '{CONFIG}': {error}")
            return
        try:
            ctx.listen(config.port, config.admin)
        except OSError:
            _end(ctx, f"cannot bind '0.0.0.0:{config.port}': Address already in use")
            return
        ctx.update(config=text)
        _say(ctx, "info", "main", "server.cc:985", "runtime: {}")
        _say(ctx, "info", "config", "configuration_impl.cc:168", f"loading {len(config.clusters)} cluster(s)")
        _say(ctx, "info", "config", "configuration_impl.cc:172", "loading 1 listener(s)")
        _say(ctx, "info", "upstream", "cluster_manager_impl.cc:247", "cm init: all clusters initialized")
        _say(ctx, "info", "main", "server.cc:1020", "all clusters initialized. initializing init manager")
        _say(
            ctx,
            "info",
            "config",
            "listener_manager_impl.cc:944",
            "all dependencies initialized. starting workers",
        )
        _say(ctx, "info", "main", "server.cc:1039", "starting main dispatch loop")

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """Pass the request on to the cluster of the first route that its path matches."""
        config = _config(ctx)
        if config is None or port != config.port:
            return Flow(1.0, OWN)
        method, _, path = call.operation.partition(" ")
        looked = request_filter.outcome(config.denied, path)
        if looked.slowest:
            ctx.log_per_request(_slow(looked, path), share=1.0)
        own = OWN + looked.seconds
        if looked.denied:
            return Flow(0.0, own, ((Failure("http", REFUSED, 403), 1.0),))
        rule = config.rule(path)
        if rule is None:
            return Flow(0.0, own, ((Failure("http", "", 404), 1.0),))
        host, upstream = config.address(rule.cluster)
        flow = ctx.call(
            host,
            upstream,
            Call(f"{method} {_rewritten(rule, path)}"),
            timeout=rule.timeout,
            keeping=Keeping(shared=False, clients=workers(ctx)),
        )
        if config.prints:
            self._print(ctx, method, path, flow)
        lost: dict[Failure, float] = {}
        for failure, share in flow.failures:
            told = _worded(failure)
            lost[told] = lost.get(told, 0.0) + share
        latency = flow.latency
        if not flow.ok and all(leg.outcome != "ok" for leg in ctx.connect(host, upstream).legs):
            latency = min(latency, CONNECT_TIMEOUT)
        return Flow(flow.ok, latency + own, tuple(lost.items()))

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """One request: the admin's pages, or what a cluster answers."""
        config = _config(ctx)
        path = request.path.partition("?")[0]
        if config is None:
            return None
        if port == config.admin:
            return envoy_admin.page(ctx, config, _settings(ctx).version, request)
        looked = request_filter.outcome(config.denied, path)
        own = OWN + looked.seconds
        if looked.denied:
            return HttpResponse(403, REFUSED, {"content-type": "text/plain", "server": "envoy"}, own)
        rule = config.rule(path)
        if rule is None:
            return HttpResponse(404, "", {"server": "envoy"}, own)
        host, upstream = config.address(rule.cluster)
        passed = HttpRequest(
            request.method, _rewritten(rule, request.path), request.headers, request.body, request.client
        )
        answer = http_get(ctx.world, ctx.process, host, upstream, passed, rule.timeout)
        delay = request.headers.get("x-envoy-fault-delay-request", "")
        waited = answer.total_seconds + own + (int(delay[:9]) / 1000 if delay[:9].isdecimal() else 0.0)
        if answer.response is not None:
            found = answer.response
            return HttpResponse(found.status, found.body, {**found.headers, "server": "envoy"}, waited)
        outcome: Any = "reset" if answer.outcome == "ok" else answer.outcome
        told = _worded(Failure(outcome, answer.text))
        return HttpResponse(told.status, told.text, {"content-type": "text/plain", "server": "envoy"}, waited)

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Say so, and exit cleanly."""
        _say(ctx, "warning", "main", "server.cc:928", "caught ENVOY_SIGTERM")
        _say(ctx, "info", "main", "server.cc:1061", "shutting down server instance")
        _say(ctx, "info", "main", "server.cc:1041", "main dispatch loop exited")
        return 0.1, 0

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """A hundred and twenty microseconds of CPU per request, and what the filter of requests takes."""
        config = _config(ctx)
        filtered = 0.0
        if config is not None and config.denied:
            filtered = sum(
                rate * request_filter.outcome(config.denied, name.partition(" ")[2]).seconds
                for name, rate in rates.items()
            )
        return Usage(0.003 + 0.00012 * sum(rates.values()) + filtered, ctx.process.memory)

    @staticmethod
    def _print(ctx: ProcessContext, method: str, path: str, flow: Flow) -> None:
        head = f'[{{time|%Y-%m-%dT%H:%M:%S.%L}}Z] "{method} {path} HTTP/1.1"'
        if flow.ok:
            ctx.log_per_request(
                f'{head} 200 - via_upstream - "-" 0 512 {flow.latency * 1000:.0f}', share=flow.ok
            )
        low = flow.ok
        for failure, share in flow.failures:
            told = _worded(failure)
            flags = "via_upstream" if failure.status else "UF upstream_reset_before_response_started"
            ctx.log_per_request(
                f'{head} {told.status} {flags} - "-" 0 {len(told.text)}', share=share, low=low
            )
            low += share


def handler_of(process: Process, operation: str) -> Handler | None:
    """What a proxy does with a request, as steps of a service: it asks the cluster of the first route that the path matches.

    None where it asks nobody.
    """
    text = process.state.get("config")
    if text is None:
        return None
    config = parsed(text)
    method, _, path = operation.partition(" ")
    rule = config.rule(path)
    if rule is None or request_filter.outcome(config.denied, path).denied:
        return None
    return Handler(operation, (Ask(rule.cluster, f"{method} {_rewritten(rule, path)}"),))


def _slow(looked: request_filter.Outcome, path: str) -> str:
    """A line of the filter's own about an evaluation that took long."""
    ended = ", match limit exceeded" if looked.steps >= LIMIT else ""
    told = f"request-filter: rule {looked.slowest}: {looked.steps} steps{ended}, {len(path)} characters, {looked.seconds:.3f} s"
    return f"[{{time|%Y-%m-%d %H:%M:%S.%L}}][14][warning][wasm] [source/extensions/common/wasm/context.cc:1148] wasm log: {told}"


def _settings(ctx: ProcessContext) -> Settings:
    binary = ctx.image.binaries.get(ctx.process.binary)
    found = None if binary is None else binary.settings
    return found if isinstance(found, Settings) else Settings()


def _config(ctx: ProcessContext) -> Config | None:
    found = ctx.process.state.get("config")
    return None if found is None else parsed(found)


def _rewritten(rule: Rule, path: str) -> str:
    return rule.rewrite + path[len(rule.prefix) :] if rule.rewrite else path


def _worded(failure: Failure) -> Failure:
    """What Envoy answers in an upstream's place."""
    if failure.status:
        return failure
    match failure.kind:
        case "no_such_host" | "dns_timeout":
            return Failure("http", "no healthy upstream", 503)
        case "timeout" | "overload" if "dial tcp" not in failure.text:
            return Failure("http", "upstream request timeout", 504)
        case "timeout" | "overload":
            return Failure("http", f"{_CLOSED}connection timeout", 503)
        case "reset" | "unavailable":
            return Failure("http", f"{_CLOSED}connection termination", 503)
        case "no_port":
            why = "immediate connect error: Cannot assign requested address|remote address:"
            where = failure.text.split(": ")[0].removeprefix("dial tcp ")
            return Failure(
                "http", f"{_CLOSED}remote connection failure, transport failure reason: {why}{where}", 503
            )
    return Failure("http", f"{_CLOSED}connection failure", 503)


def _say(ctx: ProcessContext, level: str, component: str, where: str, text: str) -> None:
    """``[2026-08-06 12:00:00.123][1][info][main] [source/server/server.cc:433] text``."""
    folder = {"main": "server/", "config": "server/", "upstream": "common/upstream/"}[component]
    line = f"[{{time|%Y-%m-%d %H:%M:%S.%L}}][1][{level}][{component}] [source/{folder}{where}] {text}"
    ctx.log(stamped(line, ctx.wall()))


def _end(ctx: ProcessContext, text: str) -> None:
    _say(ctx, "critical", "main", "server.cc:422", text)
    _say(ctx, "info", "main", "server.cc:1061", "exiting")
    ctx.exit(1, delay=0.05)
