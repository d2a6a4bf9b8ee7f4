"""The Go microservices: read a configuration, connect, register, serve; panic as Go programs do.

What each binary does is data (:mod:`~.go_steps`); this is the machine that runs it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

import orjson

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime import ids
from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import consul, mongo_server, servers
from sregym_env.sim.programs.defaults import Quiet
from sregym_env.sim.programs.go_steps import (
    Cached,
    FailIf,
    GoSettings,
    Handler,
    Load,
    Query,
    Retries,
    Rpc,
    Work,
)
from sregym_env.sim.world.program import Call, Failure, Flow, HttpRequest, HttpResponse, Usage

DIAL_TIMEOUT = 10.0
"""Seconds mgo looks for a reachable server before it gives up."""
DIAL_RETRIES = (0.6, 2.0, 4.5, 7.5)
"""When, within that time, the dial is tried again."""
CACHE_TIMEOUT = 2.0
"""``MEMC_TIMEOUT``."""

FAIL_FAST = 0.001
"""Seconds until an RPC fails whose connection is in back-off: calls do not wait for it to come back."""

_LEVELS = {"ERROR": 3, "WARNING": 2, "INFO": 1, "DEBUG": 0, "TRACE": 0}
_SEVERITY = {"TRC": 0, "DBG": 0, "INF": 1, "WRN": 2, "ERR": 3, "FTL": 4, "PNC": 5}

_COMMAND_BODY = {
    "insert": "ordered: true, writeConcern: { getLastError: 1 }, ",
    "find": "filter: {}, ",
}
"""What the mgo driver sends with a database command, as the server quotes it when it refuses."""
UNAVAILABLE = "rpc error: code = Unavailable desc = "
HEALTH = "grpc.health.v1.Health/Check"
"""What gRPC's health service is asked."""
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where a word begins in a configuration key."""


class GoService(Quiet):
    """Any binary of the application; ``settings`` of its binary say which."""

    name = "go_service"

    # --- start ------------------------------------------------------------------------------------

    def start(self, ctx: ProcessContext) -> None:
        """Read the configuration and dial the database, or go straight on."""
        settings = _settings(ctx)
        ctx.set_memory(settings.memory)
        if ctx.over_limit:
            return
        stamp = rfc3339(ctx.now())
        ctx.log(f'{{"level":"info","time":"{stamp}","message":"TLS disabled."}}')
        ctx.log(
            f'{{"level":"info","time":"{stamp}","message":"Tune: setGCPercent to {ctx.process.env.get("GC", "100")}"}}'
        )
        _log(ctx, "INF", "main", 24, "Reading config...")
        config = self._configuration(ctx, settings)
        if config is None:
            return
        ctx.update(config=config)
        if settings.load is None:
            self._finish(ctx, settings, 0.02)
            return
        _log(ctx, "INF", "main", 40, f"Read database URL: {config.get(settings.load.address, '')}")
        _log(ctx, "INF", "main", 41, "Initializing DB connection...")
        self._dial(ctx, settings, 0)

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Go on with what start has deferred: ``dial:<attempt>``."""
        kind, _, number = reason.partition(":")
        if kind == "dial":
            self._dial(ctx, _settings(ctx), int(number))

    def _configuration(self, ctx: ProcessContext, settings: GoSettings) -> dict[str, str] | None:
        try:
            text = ctx.read(settings.config)
        except OSError:
            _log(
                ctx,
                "ERR",
                "main",
                30,
                "Got error while reading config: open config.json: no such file or directory",
            )
            ctx.exit(1)
            return None
        try:
            found = orjson.loads(text)
        except ValueError:
            found = {}  # the program ignores what json.Unmarshal returns and goes on with an empty map
        if not isinstance(found, dict):
            found = {}
        config = {key: value for key, value in sorted(found.items()) if isinstance(value, str)}
        return {**config, **settings.constant}

    def _dial(self, ctx: ProcessContext, settings: GoSettings, attempt: int) -> None:
        load = settings.load
        assert load is not None
        host, port = _address(_config(ctx), load.address)
        failure: Failure | None
        if not host:
            failure = Failure("no_such_host", "no reachable servers")
        else:
            call = Call("connect", _credentials(ctx, load))
            failure = ctx.ask(host, port, call, DIAL_TIMEOUT)
        if failure is None:
            self._note_login(ctx, host, port, call)
            self._load(ctx, settings, host, port)
            return
        if failure.kind == "auth":
            self._note_login(ctx, host, port, call, refused=True)
            _panic(ctx, "db", 57, failure.text)
            return
        now = (ctx.now() - ctx.process.started_at) / SECOND
        if attempt < len(DIAL_RETRIES) and now < DIAL_TIMEOUT:
            ctx.wake_in(max(DIAL_RETRIES[attempt] - now, 0.1), f"dial:{attempt + 1}")
        else:
            _panic(ctx, "db", 57, "no reachable servers", max(DIAL_TIMEOUT - now, 0.0))

    def _note_login(
        self, ctx: ProcessContext, host: str, port: int, call: Call, refused: bool = False
    ) -> None:
        """The lines that a connection leaves in the log of the server."""
        server = ctx.peer(host, port)
        if server is None or server.process.program != "mongod":
            return
        # From the time: a port number is not worth a draw of chance.
        remote = ("remote", f"{ctx.process.ip}:{36000 + ctx.now() // SECOND % 20000}")
        call = Call("connect", (*call.attributes, remote))
        if not refused:
            mongo_server.log_login(server, call)
            return
        user, source = call.attribute("user"), call.attribute("source")
        unknown = mongo_server.stored_or_empty(server).account(user, source) is None
        mongo_server.log_refused_login(server, call, unknown)

    def _load(self, ctx: ProcessContext, settings: GoSettings, host: str, port: int) -> None:
        load = settings.load
        assert load is not None
        _log(ctx, "INF", "db", 60, "New session successfull...")
        _log(ctx, "INF", "db", 63, "Generating test data...")
        server = ctx.peer(host, port)
        credentials = _credentials(ctx, load)
        for collection, key, documents in load.collections:
            names = (("database", load.database), ("collection", collection))
            first = documents[0].get(key, "") if documents else ""
            for operation, body in (
                ("count", f'query: {{ {key}: "{first}" }}, '),
                ("insert", _COMMAND_BODY["insert"]),
            ):
                call = Call(operation, (*credentials, *names, ("body", body)))
                failure = ctx.ask(host, port, call, DIAL_TIMEOUT)
                if failure is not None:
                    if server is not None and failure.kind == "denied":
                        mongo_server.log_unauthorised(server, failure.text, connected=True)
                    _fatal(ctx, "db", 74, failure.text)
                    return
            if server is not None and server.process.program == "mongod":
                try:
                    mongo_server.insert_if_absent(server, load.database, collection, documents, key)
                except OSError:
                    _fatal(ctx, "db", 74, "EOF")
                    return
        _log(ctx, "INF", "db", 120, "Successfull", 0.15)
        self._finish(ctx, settings, 0.2)

    def _finish(self, ctx: ProcessContext, settings: GoSettings, delay: float) -> None:
        """Everything after the database: tracing, registry, listening."""
        config = _config(ctx)
        jaeger, registry = config.get("jaegerAddress", ""), config.get("consulAddress", "")
        for cache in settings.caches:
            _log(ctx, "INF", "main", 44, f"Read memcashed address: {config.get(cache, '')}", delay)
            _log(ctx, "INF", "main", 45, "Initializing Memcashed client...", delay)
        _log(ctx, "INF", "main", 46, f"Read target port: {config.get(settings.port_key, '')}", delay)
        _log(ctx, "INF", "main", 47, f"Read consul address: {registry}", delay)
        _log(ctx, "INF", "main", 48, f"Read jaeger address: {jaeger}", delay)
        text = f"Initializing jaeger agent [service name: {settings.name} | host: {jaeger}]..."
        _log(ctx, "INF", "main", 55, text, delay)
        ratio = ctx.process.env.get("JAEGER_SAMPLE_RATIO", "0.01")
        _log(
            ctx, "INF", "tracer", 41, f"Jaeger client: adjusted sample ratio {ratio}", delay, folder="tracing"
        )
        _log(ctx, "INF", "main", 60, "Jaeger agent initialized", delay)
        _log(ctx, "INF", "main", 62, f"Initializing consul agent [host: {registry}]...", delay)
        _log(ctx, "INF", "main", 67, "Consul agent initialized", delay)
        _log(ctx, "INF", "main", 78, "Starting server...", delay)
        number = config.get(settings.port_key, "")
        # What is no number reads as 0, which the program takes for unset.
        port = int(number) if number.isdecimal() and int(number) < 65536 else 0
        if not port:
            _fatal(ctx, "main", 79, "server port must be set", delay)
            return
        try:
            ctx.listen(port, *settings.extra_ports)
        except OSError:
            text = f"listen tcp :{port}: bind: address already in use"
            _fatal(ctx, "main", 79, text if settings.routes else f"failed to listen: {text}", delay)
            return
        if settings.routes:
            self._serve_http(ctx, settings, delay)
        if settings.registry_name:
            self._register(ctx, settings, port, delay)

    def _serve_http(self, ctx: ProcessContext, settings: GoSettings, delay: float) -> None:
        folder = f"services/{settings.name}"
        said = [(56, "Loading static content..."), (62, "Initializing gRPC clients...")]
        said += [(240, f"get Grpc conn is : {service}") for service in settings.clients]
        said += [(87, "Successfull"), (89, f"{settings.name} before mux"), (103, "Serving http")]
        for line, text in said:
            _log(ctx, "INF", "server", line, text, delay, folder=folder)

    def _register(self, ctx: ProcessContext, settings: GoSettings, port: int, delay: float) -> None:
        process = ctx.process
        id = ids.uid(ctx.world.streams)
        name = settings.registry_name
        text = f"Trying to register service [ name: {name}, id: {id}, address: {process.ip}, port: {port} ]"
        _log(ctx, "INF", "registry", 84, text, delay, folder="registry")
        host, number = _address(_config(ctx), "consulAddress")
        # Without an address Consul's client talks to 127.0.0.1:8500.
        url = f"http://{host or '127.0.0.1'}:{number or 8500}/v1/agent/service/register"
        failure = ctx.ask(host or "127.0.0.1", number or 8500, Call("register"), DIAL_TIMEOUT)
        agent = None if failure else ctx.peer(host or "127.0.0.1", number or 8500)
        if failure is None and (agent is None or agent.process.program != "consul"):
            failure = Failure("http", "Unexpected response code: 404 (404 page not found)", 404)
        if failure is not None or agent is None:
            reason = failure.text if failure is not None else "EOF"
            shown = reason if failure is not None and failure.kind == "http" else f'Put "{url}": {reason}'
            _fatal(ctx, "main", 79, f"failed register: {shown}", delay)
            return
        consul.register(agent, id, name, process.ip, port)
        _log(ctx, "INF", "registry", 92, "Successfully registered in consul", delay + 0.01, folder="registry")
        ctx.update(registration=id)

    # --- serving ----------------------------------------------------------------------------------

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """Run the operation's steps over the share of requests that is still alive."""
        settings = _settings(ctx)
        handler = _handler(settings, call.operation)
        if handler is None:
            if settings.health and call.operation == HEALTH:
                return Flow(1.0, 0.0002)
            if settings.routes:
                return Flow(0.0, 0.0002, ((Failure("http", "404 page not found\n", 404), 1.0),))
            text = (
                f"rpc error: code = Unimplemented desc = unknown service {call.operation.rpartition('/')[0]}"
            )
            return Flow(0.0, 0.0002, ((Failure("error", text), 1.0),))
        trail = _Trail(ctx, settings, handler.operation)
        for step in handler.steps:
            trail.take(step)
            if trail.alive <= 0.0:
                break
        return trail.flow()

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """Answer over HTTP: routes of a web service, ``/metrics`` of the others."""
        settings = _settings(ctx)
        path, _, query = request.path.partition("?")
        if not settings.routes:
            if port in settings.extra_ports:
                return _metrics(settings, path)
            return None
        route = next((r for r in settings.routes if r.path == path), None)
        if route is None:
            return HttpResponse(404, "404 page not found\n", _PLAIN, 0.0003)
        given = dict(parse_qsl(query)) | dict(parse_qsl(request.body))
        flow = ctx.evaluation().serve(ctx.process, Call(_operation(route, request.method)), port)
        complaint = route.check(given)
        if complaint and not any(f.status == 500 and f.text.startswith("internal") for f, _ in flow.failures):
            return HttpResponse(400, complaint + "\n", _PLAIN, 0.0004)
        draw = ctx.chance("request") if 0.0 < flow.ok < 1.0 else 0.0
        if draw < flow.ok:
            headers = {"Content-Type": "text/plain; charset=utf-8", "Access-Control-Allow-Origin": "*"}
            return HttpResponse(200, route.answer(given), headers, flow.latency)
        draw -= flow.ok
        failure = flow.failures[-1][0]
        for candidate, share in flow.failures:
            if draw < share:
                failure = candidate
                break
            draw -= share
        return HttpResponse(failure.status or 500, failure.text + "\n", _PLAIN, flow.latency)

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """The services install no handler; Go's runtime ends the process with the signal's status."""
        return 0.05, 2

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """CPU of the steps' own work, plus serialisation."""
        settings = _settings(ctx)
        cpu = 0.002
        for operation, rate in rates.items():
            handler = _handler(settings, operation)
            if handler is not None:
                cpu += rate * sum(
                    step.seconds if isinstance(step, Work) else 0.00012 for step in handler.steps
                )
        return Usage(cpu, ctx.process.memory)


_PLAIN = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}


def _settings(ctx: ProcessContext) -> GoSettings:
    process = ctx.process
    settings = ctx.image.binaries[process.binary].settings
    assert isinstance(settings, GoSettings)
    return settings


def _config(ctx: ProcessContext) -> Mapping[str, str]:
    config: Mapping[str, str] = ctx.process.state.get("config", {})
    return config


def _address(config: Mapping[str, str], key: str) -> tuple[str, int]:
    host, _, port = config.get(key, "").partition(":")
    return host, int(port) if port.isdecimal() else 0


def _credentials(ctx: ProcessContext, step: Load | Query) -> tuple[tuple[str, str], ...]:
    """The account of a database: the environment's, else the configuration's, else the one that is compiled in.

    For ``GeoMongoAddress`` those are ``GEO_MONGO_USER`` and ``GeoMongoUser``, and the same with the password.
    """
    stem, variable = _account_names(step.address)
    env, config = ctx.process.env, _config(ctx)
    user = env.get(f"{variable}_USER") or config.get(f"{stem}User") or step.user
    if not user:
        return ()
    password = env.get(f"{variable}_PASSWORD") or config.get(f"{stem}Password") or step.password
    return (("user", user), ("password", password), ("source", "admin"))


@lru_cache(maxsize=256)
def _account_names(address: str) -> tuple[str, str]:
    """How the account beside an address is called: in the configuration and in the environment."""
    stem = address.removesuffix("Address")
    return stem, _WORD.sub("_", stem).upper()


def _handler(settings: GoSettings, operation: str) -> Handler | None:
    for handler in settings.handlers:
        if handler.operation == operation:
            return handler
    if settings.routes:
        method, _, path = operation.partition(" ")
        for route in settings.routes:
            if route.path == path:
                wanted = _operation(route, method)
                return next((h for h in settings.handlers if h.operation == wanted), None)
    return None


def _operation(route: Any, method: str) -> str:
    return str(route.methods.get(method) or route.methods.get("GET") or next(iter(route.methods.values())))


def _metrics(settings: GoSettings, path: str) -> HttpResponse:
    if path != "/metrics":
        return HttpResponse(404, "404 page not found\n", _PLAIN)
    return HttpResponse(200, f"# HELP up Whether {settings.name} serves.\n# TYPE up gauge\nup 1\n", _PLAIN)


class _Trail:
    """The requests of one operation on their way through its steps."""

    def __init__(self, ctx: ProcessContext, settings: GoSettings, operation: str) -> None:
        self.ctx = ctx
        self.settings = settings
        self.operation = operation
        self.alive = 1.0
        self.latency = 0.0
        self.failures: dict[Failure, float] = {}

    def flow(self) -> Flow:
        """What became of all of them."""
        return Flow(max(self.alive, 0.0), self.latency, tuple(self.failures.items()))

    def take(self, step: Any) -> None:
        """Send the living through one step."""
        match step:
            case Work():
                self.latency += self.alive * step.seconds
            case Rpc():
                self._rpc(step)
            case Cached():
                self._cached(step)
            case Query():
                self._after(_query(self.ctx, step, self.alive), step.where, "{error}")
            case FailIf():
                self._fail_if(step)

    def _fail_if(self, step: FailIf) -> None:
        if self.ctx.process.env.get(step.variable) == step.value:
            self.ctx.log_per_request(step.log, share=self.alive)
            self._lose(Failure("http", step.answer, 500), self.alive)

    def _lose(self, failure: Failure, share: float) -> None:
        self.failures[failure] = self.failures.get(failure, 0.0) + share
        self.alive = max(self.alive - share, 0.0)

    def _rpc(self, step: Rpc) -> None:
        alive = self.alive
        flow = remote(self.ctx, step, alive)
        self.latency += alive * flow.latency
        for failure, share in flow.failures:
            lost = alive * share
            if step.log:
                code = grpc_code(failure)
                self.ctx.log_per_request(step.log.replace("{code}", code), share=lost)
            text = failure.text
            if step.answer:
                text = UNAVAILABLE + step.answer
            elif not text.startswith("rpc error"):
                text = grpc_text(failure)
            kind = "http" if self.settings.routes else failure.kind
            self._lose(Failure(kind, text, 500 if self.settings.routes else 0), lost)
        if not flow.failures and flow.ok <= 0.0:
            self._lose(Failure("unavailable", UNAVAILABLE + "there is no address available"), alive)

    def _cached(self, step: Cached) -> None:
        ctx, alive = self.ctx, self.alive
        host, port = _address(_config(ctx), step.address)
        call = Call("get_multi", (("space", step.space),))
        flow = _dialled(ctx, host, port, call, alive, CACHE_TIMEOUT)
        self._after(flow, step.where, step.failure)
        if self.alive <= 0.0:
            return
        server = ctx.peer(host, port)
        if server is None or servers.filled(server, step.space):
            return
        found = _query(ctx, step.query, self.alive)
        self._after(found, step.query.where, "{error}")
        if found.ok > 0.0 and server.process.program == "memcached":
            servers.fill(server, step.space)

    def _after(self, flow: Flow, where: str, form: str) -> None:
        """A step whose failures the handler answers with a panic: the process dies, callers see EOF."""
        alive = self.alive
        self.latency += alive * flow.latency
        for failure, share in flow.failures:
            lost = alive * share
            text = form.replace("{error}", failure.text)
            trace = panic_text("{time}", where, text, self.settings, self.operation)
            self.ctx.crash(trace, 2, share=lost)
            self._lose(Failure("unavailable", UNAVAILABLE + "error reading from server: EOF"), lost)


def _dialled(ctx: ProcessContext, host: str, port: int, call: Call, share: float, timeout: float) -> Flow:
    if not host:
        text = "memcache: no servers configured or available"
        return Flow(0.0, 0.0, ((Failure("error", text), 1.0),))
    return ctx.call(host, port, call, share=share, timeout=timeout)


def _query(ctx: ProcessContext, step: Query, share: float) -> Flow:
    host, port = _address(_config(ctx), step.address)
    if not host:
        return Flow(0.0, 0.0, ((Failure("no_such_host", "no reachable servers"), 1.0),))
    names = (("database", step.database), ("collection", step.collection))
    body = ("body", _COMMAND_BODY.get(step.operation, ""))
    call = Call(step.operation, (*_credentials(ctx, step), *names, body))
    flow = ctx.call(host, port, call, share=share, timeout=DIAL_TIMEOUT)
    if all(failure.kind in ("auth", "denied") for failure, _ in flow.failures):
        return flow
    lost = tuple(
        (
            failure if failure.kind in ("auth", "denied") else Failure(failure.kind, "no reachable servers"),
            share,
        )
        for failure, share in flow.failures
    )
    return Flow(flow.ok, flow.latency, lost)


# --- gRPC ---------------------------------------------------------------------------------------------


def addresses(ctx: ProcessContext, service: str) -> tuple[tuple[str, int], ...]:
    """Where a service is, by the registry; as last known while the registry is away or knows nothing.

    A watch that comes back empty keeps the addresses: after a restart of the registry its index has gone
    backwards, and the client's blocking query waits for the old one.
    """
    host, port = _address(_config(ctx), "consulAddress")
    known: Mapping[str, tuple[tuple[str, int], ...]] = ctx.process.state.get("resolved", {})
    agent = ctx.peer(host or "127.0.0.1", port or 8500)
    if agent is None or agent.process.program != "consul":
        return known.get(service, ())
    current = consul.instances(agent, service)
    if not current:
        return known.get(service, ())
    if current != known.get(service):
        ctx.settle_entry("resolved", service, current)
    return current


def remote(ctx: ProcessContext, step: Rpc, share: float) -> Flow:
    """What becomes of an RPC, its retries included."""
    policy = step.retries
    if policy is None:
        return _balanced(ctx, step, share, 0.0)
    timeout, attempts, backoff, multiplier = _policy(ctx, policy)
    left, ok, latency = 1.0, 0.0, 0.0
    failures: tuple[tuple[Failure, float], ...] = ()
    for attempt in range(attempts):
        flow = _balanced(ctx, step, share * left, timeout)
        ok += left * flow.ok
        latency += left * flow.latency
        failures = tuple((failure, left * part) for failure, part in flow.failures)
        left *= 1.0 - flow.ok
        if left < 1e-6:
            break
        if attempt + 1 < attempts:
            latency += left * backoff
            backoff *= multiplier
    return Flow(ok, latency, failures if left >= 1e-6 else ())


def _policy(ctx: ProcessContext, policy: Retries) -> tuple[float, int, float, float]:
    env = ctx.process.env

    def number(name: str, default: float) -> float:
        try:
            return float(env[f"{policy.prefix}_{name}"])
        except (KeyError, ValueError):
            return default

    return (
        number("TIMEOUT_MS", policy.timeout * 1000) / 1000,
        max(1, int(number("MAX_ATTEMPTS", policy.attempts))),
        number("INITIAL_BACKOFF_MS", policy.backoff * 1000) / 1000,
        number("BACKOFF_MULTIPLIER", policy.multiplier),
    )


def _balanced(ctx: ProcessContext, step: Rpc, share: float, timeout: float) -> Flow:
    """Round robin over the addresses that can be connected to."""
    known = addresses(ctx, step.service)
    if not known:
        text = UNAVAILABLE + "there is no address available"
        return Flow(0.0, 0.0005, ((Failure("unavailable", text), 1.0),))
    usable = known
    if len(known) > 1:
        usable = (
            tuple(a for a in known if any(leg.outcome == "ok" for leg in ctx.connect(*a).legs)) or known[:1]
        )
    call = Call(step.method)
    part = 1.0 / len(usable)
    ok = latency = 0.0
    failures: dict[Failure, float] = {}
    for host, port in usable:
        flow = ctx.call(host, port, call, share=share * part, timeout=timeout)
        ok += part * flow.ok
        dead = not flow.ok and all(leg.outcome != "ok" for leg in ctx.connect(host, port).legs)
        latency += part * (min(flow.latency, FAIL_FAST) if dead else flow.latency)
        for failure, lost in flow.failures:
            failures[failure] = failures.get(failure, 0.0) + part * lost
    return Flow(ok, latency, tuple(failures.items()))


def grpc_code(failure: Failure) -> str:
    """The gRPC code a client sees for a failure."""
    text = failure.text
    if text.startswith("rpc error: code = "):
        return text[18:].partition(" ")[0]
    if failure.kind in ("timeout", "overload") and "deadline" in text:
        return "DeadlineExceeded"
    return "Unavailable"


def grpc_text(failure: Failure) -> str:
    """A transport failure as gRPC-Go reports it."""
    code = grpc_code(failure)
    if code == "DeadlineExceeded":
        return "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
    return f'{UNAVAILABLE}connection error: desc = "transport: Error while dialing {failure.text}"'


# --- logging ---------------------------------------------------------------------------------------------


def _log(
    ctx: ProcessContext, level: str, file: str, line: int, text: str, delay: float = 0.0, folder: str = ""
) -> None:
    if ctx.world.unread:
        return
    wanted = _LEVELS.get(ctx.process.env.get("LOG_LEVEL", "INFO").upper(), 1)
    if _SEVERITY[level] < wanted:
        return
    where = f"{folder or 'cmd/' + _settings(ctx).name}/{file}.go:{line}"
    stamp = rfc3339(ctx.now() + seconds(delay))
    ctx.log(f"{stamp} {level} {where} > {text}", delay=delay)


def panic_text(stamp: str, where: str, text: str, settings: GoSettings, operation: str = "") -> str:
    """zerolog's panic line and the trace the runtime prints after it.

    ``operation`` is the gRPC method whose handler panicked; empty for the main goroutine.
    """
    root = settings.config.rpartition("/")[0]
    module = root.removeprefix("/go/src/")
    length = len(text.encode())
    if operation:
        package, method = f"{module}/{where}".rpartition("/")[0], operation.rpartition("/")[2]
        frames = (
            f"{package}.(*Server).{method}(0xc0001ac000, {{0xb5b6a8, 0xc00039e0f0}}, 0xc000310280)\n"
            f"\t{root}/{where} +0x6a5\n"
            "google.golang.org/grpc.(*Server).processUnaryRPC(0xc0001aa000, {0xb5e6f0, 0xc0002c4000}, 0xc0003b2000)\n"
            "\t/go/pkg/mod/google.golang.org/grpc@v1.53.0/server.go:1336 +0xd13\n"
            "created by google.golang.org/grpc.(*Server).serveStreams.func1\n"
            "\t/go/pkg/mod/google.golang.org/grpc@v1.53.0/server.go:963 +0x28a"
        )
    else:
        frames = (
            "main.initializeDatabase({0xc00002c0f0, 0x11})\n"
            f"\t{root}/{where} +0x1c5\nmain.main()\n\t{root}/{where.rpartition('/')[0]}/main.go:42 +0x5b2"
        )
    return (
        f"{stamp} PNC {where} > {text}\npanic: {text}\n\ngoroutine {8214 if operation else 1} [running]:\n"
        f"github.com/rs/zerolog.(*Logger).Panic.func1({{0xc0001a6000?, 0x{length:x}?}})\n"
        "\t/go/pkg/mod/github.com/rs/zerolog@v1.29.0/logger.go:376 +0x2d\n"
        f"github.com/rs/zerolog.(*Event).msg(0xc0001b4000, {{0xc000196040, 0x{length:x}}})\n"
        "\t/go/pkg/mod/github.com/rs/zerolog@v1.29.0/event.go:156 +0x2b8\n"
        f"{frames}"
    )


def _panic(ctx: ProcessContext, file: str, line: int, text: str, delay: float = 0.0) -> None:
    where = f"cmd/{_settings(ctx).name}/{file}.go:{line}"
    stamp = rfc3339(ctx.now() + seconds(delay))
    ctx.log(panic_text(stamp, where, text, _settings(ctx)), delay=delay)
    ctx.exit(2, delay=delay + 0.02)


def _fatal(ctx: ProcessContext, file: str, line: int, text: str, delay: float = 0.0) -> None:
    _log(ctx, "FTL", file, line, text, delay)
    ctx.exit(1, delay=delay + 0.02)
