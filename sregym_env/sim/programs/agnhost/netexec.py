"""``agnhost netexec``: an HTTP server that tells, does and fails as it is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qs, urlsplit

from sregym_env.kube.durations import format_duration, parse_duration, rfc3339_micro
from sregym_env.kube.status import go_quote
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.processes import exchange
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import toolbox
from sregym_env.sim.programs.agnhost.line import WORK, Invocation, go_json, key_pair, log, parse, plain
from sregym_env.sim.world.program import HttpRequest, HttpResponse


def start(ctx: ProcessContext, invocation: Invocation) -> None:
    flags = invocation.flags
    port = int(flags["http-port"])
    log(ctx, f"Started HTTP server on port {port}")
    if int(flags["udp-port"]) != -1:
        log(ctx, f"Started UDP server on port  {flags['udp-port']}")
    text, problem = "", ""
    if flags["tls-cert-file"]:
        text, problem = key_pair(ctx, flags["tls-cert-file"], flags["tls-private-key-file"])
    if not problem:
        try:
            ctx.listen(port)
        except OSError:
            problem = f"listen tcp :{port}: bind: address already in use"
    if problem:
        log(ctx, problem)
        ctx.exit(1, delay=0.05)
    elif text:
        ctx.update(tls={port: text})


def serve(
    ctx: ProcessContext, invocation: Invocation, request: HttpRequest, port: int
) -> HttpResponse | None:
    target = invocation.flags["http-override"] or request.path
    parts = urlsplit(target)
    query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
    if request.body and not invocation.flags["http-override"]:
        query = {**query, **{name: values[0] for name, values in parse_qs(request.body).items()}}
    handler = _NETEXEC.get(parts.path, _netexec_root)
    return handler(ctx, request, query)


Query = Mapping[str, str]


def _netexec_root(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    log(ctx, "GET /")
    shown = rfc3339_micro(ctx.wall())
    since = (ctx.now() - ctx.process.started_at) / SECOND
    return plain(f"NOW: {shown[:10]} {shown[11:26]}000 +0000 UTC m=+{since:.9f}")


def _netexec_client(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    log(ctx, "GET /clientip")
    return plain(request.client)


def _netexec_echo(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    text, code = query.get("msg", ""), query.get("code", "")
    log(ctx, f"GET /echo?msg={text}&code={code}")
    if code and not code.isdecimal():
        return plain(f"argument 'code' must be an integer or empty, got {go_quote(code)}\n")
    return plain(text, int(code) if code else 200)


def _netexec_exit(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse | None:
    code, timeout, wait = (query.get(name, "") for name in ("code", "timeout", "wait"))
    log(ctx, f"GET /exit?code={code}&timeout={timeout}&wait={wait}")
    spans = []
    for name, text in (("timeout", timeout), ("wait", wait)):
        try:
            spans.append(parse_duration(text) if text else 0)
        except ValueError:
            what = f"argument '{name}' must be a valid golang duration or empty, got {go_quote(text)}\n"
            return plain(what)
    if code and not code.lstrip("-").isdecimal():
        return plain(f"argument 'code' must be an integer [0-127] or empty, got {go_quote(code)}\n")
    number = int(code or 0)
    shown = [format_duration(span) for span in spans]
    log(
        ctx,
        f"Will begin shutdown in {shown[1]}, allowing {shown[0]} for connections to close, then will exit with "
        f"{number}",
    )
    ctx.exit(number & 255, delay=spans[1] / 1e9)
    return None if not spans[0] else plain("")


def _netexec_health(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    log(ctx, "GET /healthz")
    ready = parse(ctx.process.argv).flags["udp-port"] != "-1"
    return HttpResponse(200 if ready else 412, "", latency=WORK)


def _netexec_hostname(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    log(ctx, f"GET {request.path.partition('?')[0]}")
    return plain(ctx.process.hostname)


def _netexec_redirect(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    location, code = query.get("location", ""), query.get("code", "")
    log(ctx, f"{request.method} /redirect?msg={location}&code={code}")
    if code and not code.isdecimal():
        return plain(f"argument 'code' must be an integer or empty, got {go_quote(code)}\n")
    body = f'<a href="{location}">Found</a>.\n\n' if request.method == "GET" else ""
    return HttpResponse(
        int(code or 302), body, {"Location": location, "Content-Type": "text/html; charset=utf-8"}, WORK
    )


def _netexec_shell(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    command = query.get("shellCommand") or query.get("cmd", "")
    log(ctx, f"GET /shell?cmd={command}")
    shell = toolbox.container_shell(ctx)
    result = shell.call(["sh", "-c", command])
    toolbox.save(ctx, shell)
    output: dict[str, str] = {}
    if result.text:
        output["output"] = result.text
    if result.exit_code:
        output["error"] = f"exit status {result.exit_code}"
    shown = " ".join(f"{key}:{output[key]}" for key in sorted(output))
    log(ctx, f"Output: map[{shown}]")
    return plain(go_json({key: output[key] for key in sorted(output)}))


def _netexec_shutdown(ctx: ProcessContext, request: HttpRequest, query: Query) -> None:
    log(ctx, "GET /shutdown")
    ctx.exit(0)


def _netexec_dial(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    host, port = query.get("host", ""), query.get("port", "")
    asked, protocol, tries = query.get("request", ""), query.get("protocol", ""), query.get("tries", "")
    log(ctx, f"GET /dial?host={host}&protocol={protocol}&port={port}&request={asked}&tries={tries}")
    if tries and not tries.isdecimal():
        text = f"strconv.Atoi: parsing {go_quote(tries)}: invalid syntax"
        return plain(f"tries parameter is invalid. {text}\n", 400)
    if not asked:
        return plain("request parameter not specified. <nil>\n", 400)
    if protocol.lower() not in ("", "http"):
        return plain(f"unsupported protocol. {protocol}\n", 400)
    if not port.isdecimal():
        text = f"lookup tcp/{port}: unknown port" if port else "missing port in address"
        return plain(f"host and/or port param are invalid. {text}\n", 400)
    answers: list[str] = []
    errors: list[str] = []
    spent = 0.0
    for _ in range(min(int(tries or 1), 1000)):
        url = f"http://{host}:{port}/{asked}"
        done = exchange.http_request(ctx.world, ctx.process, url, timeout=5.0)
        spent += done.total_seconds
        if done.response is not None:
            answers.append(done.response.body)
        else:
            errors.append(f'Get "http://{done.address or host}:{port}/{asked}": {done.text}')
    output = {**({"errors": errors} if errors else {}), **({"responses": answers} if answers else {})}
    return plain(go_json(output), latency=WORK + spent)


_NETEXEC: Mapping[str, Callable[[ProcessContext, HttpRequest, Query], HttpResponse | None]] = {
    "/clientip": _netexec_client,
    "/dial": _netexec_dial,
    "/echo": _netexec_echo,
    "/exit": _netexec_exit,
    "/healthz": _netexec_health,
    "/hostname": _netexec_hostname,
    "/hostName": _netexec_hostname,
    "/redirect": _netexec_redirect,
    "/shell": _netexec_shell,
    "/shutdown": _netexec_shutdown,
}
