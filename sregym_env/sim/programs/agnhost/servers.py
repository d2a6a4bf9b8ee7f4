"""The servers of agnhost besides ``netexec``: how they start and what they answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qs, urlsplit

import orjson

from sregym_env.kube.durations import format_duration
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.agnhost import converting, netexec, reviews
from sregym_env.sim.programs.agnhost.line import (
    NOT_FOUND,
    WORK,
    Invocation,
    go_json,
    key_pair,
    klog,
    log,
    plain,
    verbosity,
)
from sregym_env.sim.world.program import HttpRequest, HttpResponse


def _start_pause(ctx: ProcessContext, invocation: Invocation) -> None:
    ctx.log("Paused")


def _start_webhook(ctx: ProcessContext, invocation: Invocation) -> None:
    flags = invocation.flags
    text, problem = key_pair(ctx, flags["tls-cert-file"], flags["tls-private-key-file"])
    if problem:
        klog(ctx, "F", "config.go:34", problem)
        ctx.exit(255, delay=0.05)
        return
    port = int(flags["port"])
    try:
        ctx.listen(port)
    except OSError:
        ctx.log(f"panic: listen tcp :{port}: bind: address already in use\n\ngoroutine 1 [running]:")
        ctx.exit(2, delay=0.05)
        return
    ctx.update(tls={port: text})


def _start_hostname(ctx: ProcessContext, invocation: Invocation) -> None:
    flags = invocation.flags
    if flags["http"] == "true" and "true" in (flags["tcp"], flags["udp"]):
        log(ctx, "Can't server TCP/UDP mode and HTTP mode at the same time")
        ctx.exit(1, delay=0.05)
        return
    port = int(flags["port"])
    if "true" in (flags["http"], flags["tcp"]):
        try:
            ctx.listen(port)
        except OSError:
            log(ctx, f"Error from net.Listen(): listen tcp :{port}: bind: address already in use")
            ctx.exit(1, delay=0.05)
            return
    log(ctx, f"Serving on port {port}.")


_PORTS = ("SERVE_PORT_", "SERVE_TCP_PORT_", "SERVE_TLS_PORT_")


def _served_ports(ctx: ProcessContext) -> dict[int, tuple[str, bool]]:
    """(value, whether over TLS) by port, of the variables that ``porter`` reads."""
    found = {}
    for name, value in ctx.process.env.items():
        for prefix in _PORTS:
            number = name[len(prefix) :]
            if name.startswith(prefix) and number.isdecimal():
                found[int(number)] = (value, "TLS" in prefix)
    return found


def _start_porter(ctx: ProcessContext, invocation: Invocation) -> None:
    env = ctx.process.env
    files = (env.get("CERT_FILE") or "localhost.crt", env.get("KEY_FILE") or "localhost.key")
    secured: dict[int, str] = {}
    for port, (_, secure) in _served_ports(ctx).items():
        text, problem = key_pair(ctx, *files) if secure else ("", "")
        if not problem:
            try:
                ctx.listen(port)
            except OSError:
                problem = f"listen tcp 0.0.0.0:{port}: bind: address already in use"
        what = f'server on port "{port}" failed: {problem}'
        if problem and secure:
            what = f'tls server on port "{port}" with certFile="{files[0]}", keyFile="{files[1]}" failed: {problem}'
        if problem:
            log(ctx, what)
        elif secure:
            secured[port] = text
    if secured:
        ctx.update(tls=secured)


def _start_liveness(ctx: ProcessContext, invocation: Invocation) -> None:
    try:
        ctx.listen(8080)
    except OSError:
        log(ctx, "listen tcp :8080: bind: address already in use")
        ctx.exit(1, delay=0.05)


STARTERS: Mapping[str, Callable[[ProcessContext, Invocation], None]] = {
    "pause": _start_pause,
    "webhook": _start_webhook,
    "crd-conversion-webhook": _start_webhook,
    "netexec": netexec.start,
    "serve-hostname": _start_hostname,
    "porter": _start_porter,
    "liveness": _start_liveness,
}


def _serve_webhook(
    ctx: ProcessContext, invocation: Invocation, request: HttpRequest, port: int
) -> HttpResponse | None:
    path = request.path.partition("?")[0]
    if path == "/readyz":
        return plain("ok")
    handler = reviews.HANDLERS.get(path)
    if handler is None:
        return NOT_FOUND
    kind = header_of(request, "Content-Type")
    if kind != "application/json":
        klog(ctx, "E", "main.go:125", f"contentType={kind}, expect application/json")
        return HttpResponse(200, "", latency=WORK)
    try:
        review = orjson.loads(request.body)
        asked = review["request"]
        version = review["apiVersion"]
    except (ValueError, KeyError, TypeError) as error:
        text = f"Request could not be decoded: {error}"
        klog(ctx, "E", "main.go:137", text)
        return plain(f"{text}\n", 400)
    if verbosity(invocation) >= 2:
        klog(ctx, "I", "main.go:129", f"handling request: {request.body}")
    if review.get("kind") != "AdmissionReview" or not version.startswith("admission.k8s.io/"):
        text = f"Unsupported group version kind: {version}, Kind={review.get('kind', '')}"
        klog(ctx, "E", "main.go:170", text)
        return plain(f"{text}\n", 400)
    try:
        answer = handler(asked, invocation.flags["sidecar-image"])
    except reviews.Broken:
        return None
    body = {"kind": "AdmissionReview", "apiVersion": version, "response": {"uid": asked["uid"], **answer}}
    latency = WORK + reviews.delay(path, asked)
    return HttpResponse(200, orjson.dumps(body).decode(), {"Content-Type": "application/json"}, latency)


def header_of(request: HttpRequest, name: str) -> str:
    return next((value for key, value in request.headers.items() if key.lower() == name.lower()), "")


def _serve_hostname(
    ctx: ProcessContext, invocation: Invocation, request: HttpRequest, port: int
) -> HttpResponse | None:
    flags = invocation.flags
    if flags["http"] != "true":
        return None
    log(ctx, f"HTTP request from {request.client}")
    return plain(ctx.process.hostname, connection="close" if flags["close"] == "true" else "")


def _serve_porter(
    ctx: ProcessContext, invocation: Invocation, request: HttpRequest, port: int
) -> HttpResponse | None:
    value = _served_ports(ctx).get(port, ("", False))[0]
    if invocation.flags["json-response"] == "true":
        body = go_json({"Method": request.method, "Body": value})
        return HttpResponse(200, body, {"Content-Type": "application/json"}, WORK)
    return plain(value)


def _serve_liveness(
    ctx: ProcessContext, invocation: Invocation, request: HttpRequest, port: int
) -> HttpResponse | None:
    parts = urlsplit(request.path)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    since = (ctx.now() - ctx.process.started_at) / SECOND
    if parts.path == "/started":
        return plain(format_duration(round(since * 1e9)))
    if parts.path == "/healthz":
        return plain(f"error: {since:.9f}", 500) if since > 10 else plain("ok")
    if parts.path == "/redirect":
        return HttpResponse(302, "", {"Location": query.get("loc", "")}, WORK)
    if parts.path in ("/sleep-headers", "/sleep-body"):
        wait = float(query.get("time", "0")) if query.get("time", "0").isdecimal() else 0.0
        code = whole(query.get("code", ""), 500)
        return plain(f"Slept for {wait:.0f} secs\n", code, WORK + wait)
    return None if parts.path == "/disconnect-headers" else NOT_FOUND


SERVERS: Mapping[str, Callable[[ProcessContext, Invocation, HttpRequest, int], HttpResponse | None]] = {
    "webhook": _serve_webhook,
    "crd-conversion-webhook": converting.serve,
    "netexec": netexec.serve,
    "serve-hostname": _serve_hostname,
    "porter": _serve_porter,
    "liveness": _serve_liveness,
}
