"""The program: any service of an application, in any language that is declared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from urllib.parse import parse_qsl

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import Quiet
from sregym_env.sim.programs.flagd import resolve
from sregym_env.sim.programs.services import consuming, starting
from sregym_env.sim.programs.services.peers import watches
from sregym_env.sim.programs.services.settings import ServiceSettings, settings_of
from sregym_env.sim.programs.services.trail import served
from sregym_env.sim.programs.services.values import positive
from sregym_env.sim.programs.services.wires import Framework
from sregym_env.sim.world.program import (
    PLENTY,
    Call,
    Capacity,
    Failure,
    Flow,
    HttpRequest,
    HttpResponse,
    Usage,
)

_PLAIN = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}


class Service(Quiet):
    """Any service; the ``settings`` of its binary say which."""

    name = "service"

    def start(self, ctx: ProcessContext) -> None:
        """Take the steps of the start, unless there is too little memory for any."""
        settings = settings_of(ctx)
        ctx.set_memory(settings.memory)
        if not ctx.over_limit:
            starting.begin(ctx, settings)

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Go on with a start that waits."""
        starting.resume(ctx, settings_of(ctx), reason)

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """Run the operation's steps over the share of requests that is still alive."""
        settings = settings_of(ctx)
        handler = settings.handler(call.operation)
        if handler is not None:
            return served(ctx, settings, handler)
        if settings.health and settings.wire.is_health(call.operation):
            if settings.ill is not None and resolve(ctx, *settings.ill, False):
                return Flow(0.0, 0.0002, ((Failure("unavailable", "NOT_SERVING"), 1.0),))
            return Flow(1.0, 0.0002)
        return settings.wire.unknown(call, call.operation in settings.lacks)

    def standing(self, ctx: ProcessContext) -> list[tuple[str, int]]:
        """Connections that it holds all the time: blocking queries at a registry."""
        return [registry for _, registry in watches(ctx, settings_of(ctx).peers)]

    def attend(self, ctx: ProcessContext) -> tuple[tuple[float, str], ...]:
        """What it writes by itself while whoever gives it work is gone: lines per second, and the line."""
        return consuming.attend(ctx, settings_of(ctx))

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """Answer over HTTP: routes of a web service, ``/metrics`` of the others."""
        settings = settings_of(ctx)
        path, _, query = request.path.partition("?")
        if not settings.routes:
            return _metrics(settings, path) if port in settings.metrics else None
        route = next((r for r in settings.routes if r.serves(path)), None)
        if route is None:
            page = settings.wire.missing if isinstance(settings.wire, Framework) else "404 page not found\n"
            return HttpResponse(404, page, _headers(settings, page), 0.0003)
        given = dict(parse_qsl(query)) | dict(parse_qsl(request.body))
        flow = ctx.evaluation().serve(ctx.process, Call(route.operation(request.method)), port)
        complaint = route.check(given)
        if complaint and not any(f.status == 500 and f.text.startswith("internal") for f, _ in flow.failures):
            return HttpResponse(400, complaint + "\n", _PLAIN, 0.0004)
        failure = _drawn(ctx, flow)
        if failure is None:
            body = route.answer(given)
            headers = {**_headers(settings, body), "Access-Control-Allow-Origin": "*"}
            headers.pop("X-Content-Type-Options", None)
            return HttpResponse(200, body, headers, flow.latency)
        return HttpResponse(failure.status or 500, failure.text + "\n", _PLAIN, flow.latency)

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """As its language does."""
        return settings_of(ctx).runtime.stops

    def capacity(self, ctx: ProcessContext) -> Capacity:
        """What its limiter lets through, what its build leaks, and what its language's collector costs."""
        settings, env = settings_of(ctx), ctx.process.env
        bounds = PLENTY
        if settings.limiter is not None:
            rate = positive(env.get(settings.limiter.rate, ""))
            if rate is not None:
                bounds = bounds._replace(
                    rate=rate, queue=positive(env.get(settings.limiter.queue, "")) or math.inf
                )
        if settings.leak:
            bounds = bounds._replace(leak=settings.leak)
        collector = settings.runtime.collector(env, settings.memory)
        return bounds if collector is None else bounds._replace(collector=collector)

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """CPU of the steps' own work, plus serialisation."""
        settings = settings_of(ctx)
        cpu = settings.runtime.at_rest
        cpu += sum(rate * settings.cpu(operation) for operation, rate in rates.items())
        cpu += sum(cores for peer, flag, cores in settings.burns if resolve(ctx, peer, flag, False))
        return Usage(cpu, ctx.process.memory)


def _headers(settings: ServiceSettings, body: str) -> Mapping[str, str]:
    """Plain text; a web framework says what its pages and documents are."""
    if isinstance(settings.wire, Framework):
        if body[:1] in ("{", "["):
            return {"Content-Type": "application/json; charset=utf-8"}
        if body[:1] == "<":
            return {"Content-Type": "text/html; charset=utf-8"}
    return _PLAIN


def _drawn(ctx: ProcessContext, flow: Flow) -> Failure | None:
    """What becomes of one request: None if it succeeds."""
    draw = ctx.chance("request") if 0.0 < flow.ok < 1.0 else 0.0
    if draw < flow.ok:
        return None
    draw -= flow.ok
    for failure, share in flow.failures:
        if draw < share:
            return failure
        draw -= share
    return flow.failures[-1][0]


def _metrics(settings: ServiceSettings, path: str) -> HttpResponse:
    if path != "/metrics":
        return HttpResponse(404, "404 page not found\n", _PLAIN)
    return HttpResponse(200, f"# HELP up Whether {settings.name} serves.\n# TYPE up gauge\nup 1\n", _PLAIN)
