"""``agnhost``: the test image of the Kubernetes project, as far as people use it to build and to probe things.

Subcommands: ``webhook``, ``netexec``, ``serve-hostname``, ``porter``, ``liveness``, ``pause``, ``connect``,
``dns-suffix``, ``dns-server-list``, ``etc-hosts`` and ``entrypoint-tester``. Behaviour and texts follow the
published image.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import orjson

from sregym_env.cluster.api import ExecResult
from sregym_env.kube.durations import format_duration, parse_duration, rfc3339_micro
from sregym_env.kube.status import go_quote
from sregym_env.runtime.clock import SECOND
from sregym_env.sim import tls
from sregym_env.sim.programs import agnhost_webhook as hooks
from sregym_env.sim.programs.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.program import Command, HttpRequest, HttpResponse, Usage

NOT_FOUND = HttpResponse(404, "404 page not found\n", {"Content-Type": "text/plain; charset=utf-8"})
WORK = 0.0006
"""Seconds to answer a request."""

Flags = Mapping[str, str]

_FLAGS: Mapping[str, Mapping[str, str]] = {
    "webhook": {"tls-cert-file": "", "tls-private-key-file": "", "port": "443", "sidecar-image": ""},
    "netexec": {
        "http-port": "8080",
        "tls-cert-file": "",
        "tls-private-key-file": "",
        "udp-port": "8081",
        "sctp-port": "-1",
        "http-override": "",
        "udp-listen-addresses": "",
    },
    "serve-hostname": {"tcp": "false", "udp": "false", "http": "true", "close": "false", "port": "9376"},
    "porter": {"json-response": "false"},
    "liveness": {},
    "pause": {},
    "connect": {"timeout": "0s", "protocol": "tcp", "udp-data": "hostname", "sctp-data": "hostname"},
    "dns-suffix": {},
    "dns-server-list": {},
    "etc-hosts": {},
    "entrypoint-tester": {},
}
"""Flags of each subcommand and their defaults."""
_BOOLEAN = frozenset(("tcp", "udp", "http", "close", "json-response"))
_NUMBERS = frozenset(("port", "http-port", "udp-port", "sctp-port"))
_LOGGING = frozenset(
    "v vmodule log_dir log_file log_file_max_size logtostderr alsologtostderr add_dir_header skip_headers "
    "skip_log_headers stderrthreshold one_output log_backtrace_at".split()
)


class Invocation(NamedTuple):
    """A command line of agnhost: the subcommand, its flags and arguments, or what is wrong with it."""

    command: str
    flags: Flags
    words: tuple[str, ...] = ()
    problem: str = ""


def parse(argv: Sequence[str]) -> Invocation:
    """Understand ``/agnhost SUBCOMMAND [flags] [arguments]`` as cobra does."""
    words: list[str] = []
    given: dict[str, str] = {}
    rest = [*argv[1:]]
    if "--" in rest:
        rest, words = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    plain = [word for word in rest if not word.startswith("-")]
    command = plain[0] if plain else ""
    if not command:
        return Invocation("", {})
    if command not in _FLAGS:
        return Invocation("", {}, problem=f'unknown command {go_quote(command)} for "app"')
    known = _FLAGS[command]
    rest.remove(command)
    found: list[str] = []
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            found.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if name not in known and name not in _LOGGING:
            return Invocation(command, known, problem=f"unknown flag: --{name}")
        if not equals and name in _BOOLEAN:
            value = "true"
        elif not equals:
            if not rest:
                return Invocation(command, known, problem=f"flag needs an argument: --{name}")
            value = rest.pop(0)
        if name in _NUMBERS and not value.lstrip("-").isdecimal():
            text = f"strconv.ParseInt: parsing {go_quote(value)}: invalid syntax"
            text = f'invalid argument {go_quote(value)} for "--{name}" flag: {text}'
            return Invocation(command, known, problem=text)
        given[name] = value
    return Invocation(command, {**known, **given}, (*found, *words))


def usage_text(invocation: Invocation) -> str:
    """What cobra prints of a command line it refuses."""
    if not invocation.command:
        return f"Error: {invocation.problem}\nRun 'app --help' for usage.\n"
    return f"Error: {invocation.problem}\nUsage:\n  app {invocation.command} [flags]\n"


class Agnhost(Quiet):
    """The executable. Which of its servers a process is follows from its command line."""

    name = "agnhost"

    def start(self, ctx: ProcessContext) -> None:
        """Serve, pause or run once, as the command line says."""
        ctx.set_memory(6 * MIB)
        if ctx.over_limit:
            return
        invocation = parse(ctx.process.argv)
        if invocation.problem:
            ctx.log(usage_text(invocation))
            ctx.exit(0, delay=0.05)
            return
        starter = _STARTERS.get(invocation.command)
        if starter is not None:
            starter(ctx, invocation)
            return
        result = run(ctx, invocation)
        if result.text.strip("\n"):
            ctx.log(result.text)
        ctx.exit(result.exit_code, delay=0.05)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """One HTTP request to the server this process is."""
        invocation = parse(ctx.process.argv)
        server = _SERVERS.get(invocation.command)
        return None if server is None else server(ctx, invocation, request, port)

    def certificate(self, ctx: ProcessContext, port: int) -> str:
        """The certificate that was loaded at start, on every port that speaks TLS."""
        return str(ctx.process.state.get("tls", {}).get(port, ""))

    def handshake_failed(self, ctx: ProcessContext, client: str, text: str) -> None:
        """Go's HTTP server logs it."""
        ctx.log(f"{_stamp(ctx)} http: TLS handshake error from {client}: {text}")

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """On SIGTERM: ``serve-hostname`` waits for its pod's end, ``pause`` exits with 2, servers just die."""
        command = parse(ctx.process.argv).command
        if command == "serve-hostname":
            ctx.log(f"{_stamp(ctx)} Shutting down after receiving signal: terminated.")
            ctx.log(f"{_stamp(ctx)} Awaiting pod deletion.")
            return 60.0, 0
        # Process 1 survives the signal's default action, upon which Go's runtime exits with 2 instead.
        return 0.05, 2

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """A milli-core at rest."""
        return Usage(0.001 + 0.0002 * sum(rates.values()), ctx.process.memory)

    @property
    def commands(self) -> Mapping[str, Command]:
        """``/agnhost`` itself, for ``kubectl exec``."""
        return {"/agnhost": _command}


def _command(ctx: ProcessContext, argv: Sequence[str], stdin: str) -> ExecResult:
    invocation = parse(argv)
    if invocation.problem:
        return ExecResult(stderr=usage_text(invocation))
    if invocation.command in _STARTERS:
        return ExecResult(stderr="listen tcp: bind: address already in use\n", exit_code=1)
    return run(ctx, invocation)


# --- logging ------------------------------------------------------------------------------------------------


def _stamp(ctx: ProcessContext) -> str:
    """The time as Go's ``log`` package prints it."""
    return rfc3339_micro(ctx.now())[:19].replace("-", "/").replace("T", " ")


def _log(ctx: ProcessContext, text: str) -> None:
    ctx.log(f"{_stamp(ctx)} {text}")


def _klog(ctx: ProcessContext, letter: str, where: str, text: str) -> None:
    shown = rfc3339_micro(ctx.now())
    ctx.log(f"{letter}{shown[5:7]}{shown[8:10]} {shown[11:26]}       1 {where}] {text}")


def _verbosity(invocation: Invocation) -> int:
    level = invocation.flags.get("v", "0")
    return int(level) if level.isdecimal() else 0


# --- starting -------------------------------------------------------------------------------------------------


def _start_pause(ctx: ProcessContext, invocation: Invocation) -> None:
    ctx.log("Paused")


def _key_pair(ctx: ProcessContext, certificate: str, key: str) -> tuple[str, str]:
    """(the certificate's PEM text, why the pair cannot be used)."""
    texts = []
    for path in (certificate, key):
        try:
            texts.append(ctx.read(path if path.startswith("/") else f"/{path}"))
        except FileNotFoundError:
            return "", f"open {path}: no such file or directory"
        except OSError:
            return "", f"read {path}: input/output error"
    return texts[0], tls.pair_problem(texts[0], texts[1])


def _start_webhook(ctx: ProcessContext, invocation: Invocation) -> None:
    flags = invocation.flags
    text, problem = _key_pair(ctx, flags["tls-cert-file"], flags["tls-private-key-file"])
    if problem:
        _klog(ctx, "F", "config.go:34", problem)
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


def _start_netexec(ctx: ProcessContext, invocation: Invocation) -> None:
    flags = invocation.flags
    port = int(flags["http-port"])
    _log(ctx, f"Started HTTP server on port {port}")
    if int(flags["udp-port"]) != -1:
        _log(ctx, f"Started UDP server on port  {flags['udp-port']}")
    text, problem = "", ""
    if flags["tls-cert-file"]:
        text, problem = _key_pair(ctx, flags["tls-cert-file"], flags["tls-private-key-file"])
    if not problem:
        try:
            ctx.listen(port)
        except OSError:
            problem = f"listen tcp :{port}: bind: address already in use"
    if problem:
        _log(ctx, problem)
        ctx.exit(1, delay=0.05)
    elif text:
        ctx.update(tls={port: text})


def _start_hostname(ctx: ProcessContext, invocation: Invocation) -> None:
    flags = invocation.flags
    if flags["http"] == "true" and "true" in (flags["tcp"], flags["udp"]):
        _log(ctx, "Can't server TCP/UDP mode and HTTP mode at the same time")
        ctx.exit(1, delay=0.05)
        return
    port = int(flags["port"])
    if "true" in (flags["http"], flags["tcp"]):
        try:
            ctx.listen(port)
        except OSError:
            _log(ctx, f"Error from net.Listen(): listen tcp :{port}: bind: address already in use")
            ctx.exit(1, delay=0.05)
            return
    _log(ctx, f"Serving on port {port}.")


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
        text, problem = _key_pair(ctx, *files) if secure else ("", "")
        if not problem:
            try:
                ctx.listen(port)
            except OSError:
                problem = f"listen tcp 0.0.0.0:{port}: bind: address already in use"
        what = f'server on port "{port}" failed: {problem}'
        if problem and secure:
            what = f'tls server on port "{port}" with certFile="{files[0]}", keyFile="{files[1]}" failed: {problem}'
        if problem:
            _log(ctx, what)
        elif secure:
            secured[port] = text
    if secured:
        ctx.update(tls=secured)


def _start_liveness(ctx: ProcessContext, invocation: Invocation) -> None:
    try:
        ctx.listen(8080)
    except OSError:
        _log(ctx, "listen tcp :8080: bind: address already in use")
        ctx.exit(1, delay=0.05)


_STARTERS: Mapping[str, Callable[[ProcessContext, Invocation], None]] = {
    "pause": _start_pause,
    "webhook": _start_webhook,
    "netexec": _start_netexec,
    "serve-hostname": _start_hostname,
    "porter": _start_porter,
    "liveness": _start_liveness,
}


# --- serving --------------------------------------------------------------------------------------------------


def _text(body: str, status: int = 200, latency: float = WORK, connection: str = "") -> HttpResponse:
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    if connection:
        headers["Connection"] = connection
    return HttpResponse(status, body, headers, latency)


def _serve_webhook(
    ctx: ProcessContext, invocation: Invocation, request: HttpRequest, port: int
) -> HttpResponse | None:
    path = request.path.partition("?")[0]
    if path == "/readyz":
        return _text("ok")
    handler = hooks.HANDLERS.get(path)
    if handler is None:
        return NOT_FOUND
    kind = _header(request, "Content-Type")
    if kind != "application/json":
        _klog(ctx, "E", "main.go:125", f"contentType={kind}, expect application/json")
        return HttpResponse(200, "", latency=WORK)
    try:
        review = orjson.loads(request.body)
        asked = review["request"]
        version = review["apiVersion"]
    except (ValueError, KeyError, TypeError) as error:
        text = f"Request could not be decoded: {error}"
        _klog(ctx, "E", "main.go:137", text)
        return _text(f"{text}\n", 400)
    if _verbosity(invocation) >= 2:
        _klog(ctx, "I", "main.go:129", f"handling request: {request.body}")
    if review.get("kind") != "AdmissionReview" or not version.startswith("admission.k8s.io/"):
        text = f"Unsupported group version kind: {version}, Kind={review.get('kind', '')}"
        _klog(ctx, "E", "main.go:170", text)
        return _text(f"{text}\n", 400)
    try:
        answer = handler(asked, invocation.flags["sidecar-image"])
    except hooks.Broken:
        return None
    body = {"kind": "AdmissionReview", "apiVersion": version, "response": {"uid": asked["uid"], **answer}}
    latency = WORK + hooks.delay(path, asked)
    return HttpResponse(200, orjson.dumps(body).decode(), {"Content-Type": "application/json"}, latency)


def _header(request: HttpRequest, name: str) -> str:
    return next((value for key, value in request.headers.items() if key.lower() == name.lower()), "")


def _serve_netexec(
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
    _log(ctx, "GET /")
    shown = rfc3339_micro(ctx.now())
    since = (ctx.now() - ctx.process.started_at) / SECOND
    return _text(f"NOW: {shown[:10]} {shown[11:26]}000 +0000 UTC m=+{since:.9f}")


def _netexec_client(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    _log(ctx, "GET /clientip")
    return _text(request.client)


def _netexec_echo(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    text, code = query.get("msg", ""), query.get("code", "")
    _log(ctx, f"GET /echo?msg={text}&code={code}")
    if code and not code.isdecimal():
        return _text(f"argument 'code' must be an integer or empty, got {go_quote(code)}\n")
    return _text(text, int(code) if code else 200)


def _netexec_exit(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse | None:
    code, timeout, wait = (query.get(name, "") for name in ("code", "timeout", "wait"))
    _log(ctx, f"GET /exit?code={code}&timeout={timeout}&wait={wait}")
    spans = []
    for name, text in (("timeout", timeout), ("wait", wait)):
        try:
            spans.append(parse_duration(text) if text else 0)
        except ValueError:
            what = f"argument '{name}' must be a valid golang duration or empty, got {go_quote(text)}\n"
            return _text(what)
    if code and not code.lstrip("-").isdecimal():
        return _text(f"argument 'code' must be an integer [0-127] or empty, got {go_quote(code)}\n")
    number = int(code or 0)
    shown = [format_duration(span) for span in spans]
    _log(
        ctx,
        f"Will begin shutdown in {shown[1]}, allowing {shown[0]} for connections to close, then will exit with "
        f"{number}",
    )
    ctx.exit(number & 255, delay=spans[1] / 1e9)
    return None if not spans[0] else _text("")


def _netexec_health(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    _log(ctx, "GET /healthz")
    ready = parse(ctx.process.argv).flags["udp-port"] != "-1"
    return HttpResponse(200 if ready else 412, "", latency=WORK)


def _netexec_hostname(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    _log(ctx, f"GET {request.path.partition('?')[0]}")
    return _text(ctx.process.hostname)


def _netexec_redirect(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    location, code = query.get("location", ""), query.get("code", "")
    _log(ctx, f"{request.method} /redirect?msg={location}&code={code}")
    if code and not code.isdecimal():
        return _text(f"argument 'code' must be an integer or empty, got {go_quote(code)}\n")
    body = f'<a href="{location}">Found</a>.\n\n' if request.method == "GET" else ""
    return HttpResponse(
        int(code or 302), body, {"Location": location, "Content-Type": "text/html; charset=utf-8"}, WORK
    )


def _netexec_shell(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    from sregym_env.sim.programs import toolbox

    command = query.get("shellCommand") or query.get("cmd", "")
    _log(ctx, f"GET /shell?cmd={command}")
    shell = toolbox.container_shell(ctx)
    before = shell.files.texts()
    result = shell.call(["sh", "-c", command])
    toolbox.save(ctx, shell, before)
    output: dict[str, str] = {}
    if result.text:
        output["output"] = result.text
    if result.exit_code:
        output["error"] = f"exit status {result.exit_code}"
    shown = " ".join(f"{key}:{output[key]}" for key in sorted(output))
    _log(ctx, f"Output: map[{shown}]")
    return _text(_json({key: output[key] for key in sorted(output)}))


def _netexec_shutdown(ctx: ProcessContext, request: HttpRequest, query: Query) -> None:
    _log(ctx, "GET /shutdown")
    ctx.exit(0)


def _netexec_dial(ctx: ProcessContext, request: HttpRequest, query: Query) -> HttpResponse:
    from sregym_env.sim import network

    host, port = query.get("host", ""), query.get("port", "")
    asked, protocol, tries = query.get("request", ""), query.get("protocol", ""), query.get("tries", "")
    _log(ctx, f"GET /dial?host={host}&protocol={protocol}&port={port}&request={asked}&tries={tries}")
    if tries and not tries.isdecimal():
        text = f"strconv.Atoi: parsing {go_quote(tries)}: invalid syntax"
        return _text(f"tries parameter is invalid. {text}\n", 400)
    if not asked:
        return _text("request parameter not specified. <nil>\n", 400)
    if protocol.lower() not in ("", "http"):
        return _text(f"unsupported protocol. {protocol}\n", 400)
    if not port.isdecimal():
        text = f"lookup tcp/{port}: unknown port" if port else "missing port in address"
        return _text(f"host and/or port param are invalid. {text}\n", 400)
    answers: list[str] = []
    errors: list[str] = []
    spent = 0.0
    for _ in range(min(int(tries or 1), 1000)):
        url = f"http://{host}:{port}/{asked}"
        done = network.http_request(ctx.world, ctx.process, url, timeout=5.0)
        spent += done.total_seconds
        if done.response is not None:
            answers.append(done.response.body)
        else:
            errors.append(f'Get "http://{done.address or host}:{port}/{asked}": {done.text}')
    output = {**({"errors": errors} if errors else {}), **({"responses": answers} if answers else {})}
    return _text(_json(output), latency=WORK + spent)


def _json(value: Any) -> str:
    """A document as Go's ``encoding/json`` writes it into HTML-safe text."""
    text = orjson.dumps(value).decode()
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


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


def _serve_hostname(
    ctx: ProcessContext, invocation: Invocation, request: HttpRequest, port: int
) -> HttpResponse | None:
    flags = invocation.flags
    if flags["http"] != "true":
        return None
    _log(ctx, f"HTTP request from {request.client}")
    return _text(ctx.process.hostname, connection="close" if flags["close"] == "true" else "")


def _serve_porter(
    ctx: ProcessContext, invocation: Invocation, request: HttpRequest, port: int
) -> HttpResponse | None:
    value = _served_ports(ctx).get(port, ("", False))[0]
    if invocation.flags["json-response"] == "true":
        body = _json({"Method": request.method, "Body": value})
        return HttpResponse(200, body, {"Content-Type": "application/json"}, WORK)
    return _text(value)


def _serve_liveness(
    ctx: ProcessContext, invocation: Invocation, request: HttpRequest, port: int
) -> HttpResponse | None:
    parts = urlsplit(request.path)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    since = (ctx.now() - ctx.process.started_at) / SECOND
    if parts.path == "/started":
        return _text(format_duration(round(since * 1e9)))
    if parts.path == "/healthz":
        return _text(f"error: {since:.9f}", 500) if since > 10 else _text("ok")
    if parts.path == "/redirect":
        return HttpResponse(302, "", {"Location": query.get("loc", "")}, WORK)
    if parts.path in ("/sleep-headers", "/sleep-body"):
        wait = float(query.get("time", "0")) if query.get("time", "0").isdecimal() else 0.0
        code = int(query["code"]) if query.get("code", "").isdecimal() else 500
        return _text(f"Slept for {wait:.0f} secs\n", code, WORK + wait)
    return None if parts.path == "/disconnect-headers" else NOT_FOUND


_SERVERS: Mapping[str, Callable[[ProcessContext, Invocation, HttpRequest, int], HttpResponse | None]] = {
    "webhook": _serve_webhook,
    "netexec": _serve_netexec,
    "serve-hostname": _serve_hostname,
    "porter": _serve_porter,
    "liveness": _serve_liveness,
}


# --- commands that end ----------------------------------------------------------------------------------------


def run(ctx: ProcessContext, invocation: Invocation) -> ExecResult:
    """Run a subcommand that ends by itself."""
    runner = _RUNNERS.get(invocation.command)
    if runner is None:
        return ExecResult("Usage:\n  app [command]\n\nAvailable Commands:\n" + _COMMANDS)
    return runner(ctx, invocation)


_COMMANDS = "".join(f"  {name}\n" for name in sorted(_FLAGS))


def _connect(ctx: ProcessContext, invocation: Invocation) -> ExecResult:
    if len(invocation.words) != 1:
        text = f"accepts 1 arg(s), received {len(invocation.words)}"
        return ExecResult(stderr=usage_text(invocation._replace(problem=text)))
    target = invocation.words[0]
    host, colon, port = target.rpartition(":")
    if not colon:
        return ExecResult(stderr=f"UNKNOWN: address {target}: missing port in address\n", exit_code=1)
    if not port.isdecimal():
        return ExecResult(stderr=f"DNS: lookup tcp/{port}: unknown port\n", exit_code=1)
    from sregym_env.sim import network

    host = host.strip("[]")
    connection = ctx.connect(host or "127.0.0.1", int(port))
    legs = connection.legs
    leg = legs[0] if len(legs) == 1 else network.pick(connection, ctx.chance("dial"))
    if leg.outcome == "ok":
        return ExecResult()
    if leg.outcome in ("no_such_host", "dns_timeout"):
        return ExecResult(stderr=f"DNS: {leg.text.removeprefix('dial tcp: ')}\n", exit_code=1)
    if leg.outcome == "refused":
        return ExecResult(stderr="REFUSED\n", exit_code=1)
    if "no route to host" in leg.text and leg.latency * 1e9 < _limit(invocation):
        return ExecResult(stderr=f"OTHER: {leg.text}\n", exit_code=1)
    return ExecResult(stderr="TIMEOUT\n", exit_code=1)


def _limit(invocation: Invocation) -> float:
    """Nanoseconds that ``connect`` waits."""
    try:
        return parse_duration(invocation.flags["timeout"]) or float("inf")
    except ValueError:
        return float("inf")


def _resolver_line(ctx: ProcessContext, key: str) -> ExecResult:
    from sregym_env.sim import dns

    found = dns.resolv_conf(ctx.world, ctx.process)
    words = found.searches if key == "search" else found.nameservers
    return ExecResult(",".join(words) + "\n")


def _hosts(ctx: ProcessContext, invocation: Invocation) -> ExecResult:
    from sregym_env.sim.programs import toolbox

    return toolbox.container_shell(ctx).call(["cat", "/etc/hosts"])


def _arguments(ctx: ProcessContext, invocation: Invocation) -> ExecResult:
    return ExecResult(f"[{' '.join(['/agnhost', invocation.command, *invocation.words])}]\n")


_RUNNERS: Mapping[str, Callable[[ProcessContext, Invocation], ExecResult]] = {
    "connect": _connect,
    "dns-suffix": lambda ctx, _: _resolver_line(ctx, "search"),
    "dns-server-list": lambda ctx, _: _resolver_line(ctx, "nameservers"),
    "etc-hosts": _hosts,
    "entrypoint-tester": _arguments,
}
