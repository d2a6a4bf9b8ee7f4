"""One request over the simulated network: dialled, perhaps secured, answered by the program that listens.

:func:`http_get` is what ``curl``, webhooks and journeys' checks send; the probes are the kubelet's. Error texts are
those of Go's ``net`` and ``net/http`` packages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from sregym_env.cluster.http import HttpCall, HttpExchange, Lookup
from sregym_env.runtime.frozen import evolve
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.dataplane.law import Law
from sregym_env.sim.network import addressing, dns, local_ports, tls
from sregym_env.sim.network.addressing import NodeSource, Source
from sregym_env.sim.network.connections import (
    CONNECT_TIMEOUT,
    Connection,
    Leg,
    Outcome,
    connect,
    joined,
    no_port,
    pick,
)
from sregym_env.sim.network.dns import Resolution
from sregym_env.sim.network.links import late, retransmissions
from sregym_env.sim.network.tls import Tls
from sregym_env.sim.processes.context import ProcessContext, evaluation
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import ProcessKey
from sregym_env.sim.world.program import Call, HttpRequest, HttpResponse
from sregym_env.sim.world.strain import NEGLIGIBLE, full_of, late_share, longest_wait, negligible, strain_of


@dataclass(frozen=True, slots=True)
class Exchange:
    """What became of one request: how far it got, how long each phase took, and the answer."""

    outcome: Outcome
    """``ok`` once the connection was accepted and something answered; ``tls`` where the two did not agree on a
    secure connection; else why not."""
    text: str = ""
    """Go's error text where it failed."""
    response: HttpResponse | None = None
    """The answer; None where the far end failed or does not speak HTTP."""
    address: str = ""
    """The address that was dialled, before Service translation."""
    port: int = 0
    lookup_seconds: float = 0.0
    connect_seconds: float = 0.0
    """Seconds from the start until the connection stood (curl's ``time_connect``)."""
    total_seconds: float = 0.0
    phase: Literal["lookup", "connect", "handshake", "wait", "done"] = "done"
    """Where it ended."""
    resolution: Resolution | None = None
    certificate: str = ""
    """The chain a TLS server presented, PEM; empty without TLS."""


def http_request(
    world: SimWorld,
    source: Source,
    url: str,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: str = "",
    timeout: float = 0.0,
    tls: Tls | None = None,
) -> Exchange:
    """One HTTP request to a URL, as ``curl`` makes it; ``timeout`` limits the whole of it, 0 for none.

    The port defaults to 80 (443 for https). A URL that makes no sense fails in the lookup phase. ``tls`` is how
    the client behaves where the URL begins with ``https``; without it, it trusts everybody.
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        return Exchange("no_such_host", f"parse {url!r}: {error}", phase="lookup")
    target = parts.path or "/"
    if parts.query:
        target += "?" + parts.query
    given = dict(headers or {})
    given.setdefault("Host", parts.netloc.rpartition("@")[2])
    secured = (tls or Tls()) if parts.scheme == "https" else None
    request = HttpRequest(method, target, given, body)
    return http_get(world, source, parts.hostname or "", port, request, timeout, secured)


def http_get(
    world: SimWorld,
    source: Source,
    host: str,
    port: int,
    request: HttpRequest,
    timeout: float = 0.0,
    tls: Tls | None = None,
    *,
    verdict: bool = False,
) -> Exchange:
    """Send one HTTP request (of any method) to ``host:port`` and see what becomes of it; over TLS if given.

    One leg is drawn from the stream of the client. Nothing but that stream changes. ``verdict`` says that nobody asks how long it takes,
    as long as that is less than ``timeout``.
    """
    connection = connect(world, source, host, port)
    patience = timeout or CONNECT_TIMEOUT
    leg = connection.legs[0]
    if len(connection.legs) > 1:
        _chanced(world)
        leg = pick(connection, world.streams.unit(f"dial:{'/'.join(addressing.source_key(source))}"))
    leg = _from_port(world, source, connection, leg)
    lookup = min(connection.resolution.latency, patience)
    base = Exchange(
        leg.outcome,
        leg.text,
        address=_dialled(connection, leg),
        port=port,
        lookup_seconds=lookup,
        resolution=connection.resolution,
    )
    if leg.outcome != "ok":
        phase: Literal["lookup", "connect"] = "lookup" if connection.resolution.error else "connect"
        spent = min(patience, leg.latency if phase == "lookup" else lookup + leg.latency)
        return evolve(base, phase=phase, connect_seconds=spent, total_seconds=spent)
    return _exchange(world, source, connection, leg, request, patience, base, tls, verdict)


def _from_port(world: SimWorld, source: Source, connection: Connection, leg: Leg) -> Leg:
    """The leg, where the client has a port for it."""
    taken = local_ports.taken(world, source, connection)
    if taken <= 0.0 or connection.resolution.error:
        return leg
    if taken < 1.0:
        _chanced(world)
        if world.streams.unit(f"port:{'/'.join(addressing.source_key(source))}") >= taken:
            return leg
    return no_port(connection.resolution.addresses[0], connection.port, 1.0)


def _chanced(world: SimWorld) -> None:
    """Note that chance had a part in an answer."""
    if world.inquiry is not None:
        world.inquiry.fleeting = world.inquiry.chanced = True


def _dialled(connection: Connection, leg: Leg) -> str:
    """The address a client saw: the only one its name has, else the pod's own (a headless Service)."""
    addresses = connection.resolution.addresses
    return addresses[0] if len(addresses) == 1 else leg.address


def _exchange(
    world: SimWorld,
    source: Source,
    connection: Connection,
    leg: Leg,
    request: HttpRequest,
    patience: float,
    base: Exchange,
    tls: Tls | None,
    verdict: bool,
) -> Exchange:
    assert leg.process is not None
    addressing.note(world, "process", leg.process)
    process = world.processes[leg.process]
    connected = base.lookup_seconds + leg.latency
    waiting = evolve(base, connect_seconds=min(connected, patience), phase="wait")
    lost, extra = retransmissions(leg.loss, patience)
    if lost:
        _chanced(world)
    if lost and world.streams.unit(f"loss:{'/'.join(addressing.source_key(source))}") < lost:
        return _gave_up(waiting, connection, patience)
    addressing.note(world, "full")
    if not leg.answers or connected >= patience or leg.process in full_of(world):
        return _gave_up(waiting, connection, patience)
    if _bytes(request.body, request.headers) > leg.carries:
        # What it is about arrives never, so that nobody serves it.
        return _gave_up(waiting, connection, patience)
    context = ProcessContext(world, process)
    client = addressing.source_ip(world, source)
    request = evolve(request, client=f"{client}:{_client_port(world, client)}")
    certificate = served_certificate(context, leg.port)
    if tls is not None:
        connected += 2 * leg.latency
        waiting = evolve(waiting, certificate=certificate)
        problem = _handshake(context, request.client, leg, tls, certificate)
        if problem:
            return evolve(waiting, outcome="tls", text=problem, phase="handshake", total_seconds=connected)
        response = world.programs[process.program].request(context, request, leg.port)
    elif certificate:
        response = HttpResponse(400, NOT_TLS, {"Connection": "close"})
    else:
        response = world.programs[process.program].request(context, request, leg.port)
    total = connected + leg.latency + extra + (0.0005 if response is None else response.latency)
    stream = f"wait:{'/'.join(addressing.source_key(source))}"
    total += _waited(world, process.key, stream, patience - total if verdict else None)
    if response is not None and _answered(world, request, response) > leg.carries:
        total = math.inf
    if total > patience:
        return _gave_up(waiting, connection, patience)
    return evolve(waiting, outcome="ok", response=response, total_seconds=total, phase="done")


def _waited(world: SimWorld, key: ProcessKey, stream: str, left: float | None) -> float:
    """Seconds that one request waits for a server under its load; without end where the server takes on no more.

    Who only asks whether that is less than ``left`` seconds is not kept waiting where it is as good as certain.
    """
    if left is not None:
        addressing.note(world, "longest wait", key)
        if longest_wait(world, key) <= left:
            return 0.0
    addressing.note(world, "strain", key)
    strain = strain_of(world, key)
    if strain is None or negligible(strain) or (left is not None and late_share(strain, left) <= NEGLIGIBLE):
        return 0.0
    _chanced(world)
    draw = world.streams.unit(stream)
    if draw < strain.turned:
        return math.inf
    draw = (draw - strain.turned) / (1.0 - strain.turned)
    if draw >= strain.waits:
        return 0.0
    return Law.gamma(strain.wait, strain.wait_variation * strain.wait**2).sample(draw / strain.waits)


def _bytes(body: str, headers: Mapping[str, str]) -> int:
    """What a message in HTTP takes: its body, its first line and its headers."""
    return FIRST_LINE + sum(len(name) + len(value) + 4 for name, value in headers.items()) + len(body)


def _answered(world: SimWorld, request: HttpRequest, response: HttpResponse) -> int:
    known = 0
    if world._app is not None and response.status < 400:
        known = world._app.answers.get(f"{request.method} {request.path.partition('?')[0]}", 0)
    return max(known, _bytes(response.body, response.headers))


FIRST_LINE = 120
"""Bytes of a request's or an answer's first line and of the headers that nobody writes down, such as its date."""

NOT_TLS = "Client sent an HTTP request to an HTTPS server.\n"
"""What Go's HTTPS server answers to a client that speaks plain HTTP."""
HTTP_TO_HTTPS = "http: server gave HTTP response to HTTPS client"
"""What Go's client says of a server that speaks plain HTTP."""
NOT_A_HANDSHAKE = "tls: first record does not look like a TLS handshake"
"""The same of a server that speaks something else."""


def served_certificate(context: ProcessContext, port: int) -> str:
    """The certificate chain (PEM) that a process presents on a port; empty where it does not speak TLS."""
    find = getattr(context.world.programs[context.process.program], "certificate", None)
    return "" if find is None else find(context, port)


def _handshake(context: ProcessContext, client: str, leg: Leg, tls: Tls, certificate: str) -> str:
    """Agree on a secure connection; Go's words for what is in the way."""
    behaviour = context.world.programs[context.process.program]
    if not certificate:
        # A server answers what it cannot read as HTTP in its own protocol: with an HTTP error if that is HTTP.
        answer = behaviour.request(context, HttpRequest("PRI", "*"), leg.port)
        return NOT_A_HANDSHAKE if answer is None else HTTP_TO_HTTPS
    problem = "" if tls.refuses is None else tls.refuses(certificate)
    if problem:
        noted = getattr(behaviour, "handshake_failed", None)
        if noted is not None:
            noted(context, client, f"remote error: tls: {tls.alert}")
    return problem


def _client_port(world: SimWorld, client: str) -> int:
    """A port of the range from which Linux dials."""
    return 32768 + keyed_bits("dial", client, world.clock) % 28232


def _gave_up(waiting: Exchange, connection: Connection, patience: float) -> Exchange:
    text = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    return evolve(waiting, outcome="timeout", text=text, total_seconds=patience)


# --- probes ----------------------------------------------------------------------------------------------


def probe_tcp(world: SimWorld, node: str, host: str, port: int, timeout: float = 1.0) -> str:
    """Connect from a machine as a kubelet's TCP probe: an empty text if accepted, else what failed.

    A NetworkPolicy never stops a machine from reaching its own pods.
    """
    leg = connect(world, NodeSource(node), host, port).legs[0]
    if leg.outcome == "ok":
        lost, _ = retransmissions(leg.loss, timeout)
        unlucky, _ = late(leg.latency, leg.jitter, timeout)
        failing = 1.0 - (1.0 - lost) * (1.0 - unlucky)
        if failing:
            _chanced(world)
        if not failing or world.streams.unit(f"probe:{node}:{host}:{port}") >= failing:
            return ""
        return f"dial tcp {joined(host, port)}: i/o timeout"
    if leg.outcome == "timeout" and leg.latency > timeout:
        return f"dial tcp {joined(host, port)}: i/o timeout"
    return leg.text


_NOT_HTTP = (
    "net/http: HTTP/1.x transport connection broken: malformed HTTP response "
    '"\\x00\\x00\\x06\\x04\\x00\\x00\\x00\\x00\\x00\\x00\\x05\\x00\\x00@\\x00"'
)
"""What Go's client says to the settings frame with which a gRPC server greets it."""


def probe_http(
    world: SimWorld,
    node: str,
    host: str,
    port: int,
    path: str = "/",
    headers: Mapping[str, str] | None = None,
    timeout: float = 1.0,
    scheme: str = "http",
) -> tuple[int, str]:
    """Send a kubelet's HTTP probe: (status, error text); the status is 0 where there was no HTTP answer.

    The text is what follows ``Get "http://...": `` in the event.
    """
    given = {"Host": joined(host, port), "User-Agent": "kube-probe/1.32", "Accept": "*/*", **(headers or {})}
    tls = Tls() if scheme == "https" else None  # A kubelet does not verify certificates.
    done = http_get(
        world, NodeSource(node), host, port, HttpRequest("GET", path, given), timeout, tls, verdict=True
    )
    if done.outcome == "timeout" and (done.phase == "wait" or done.total_seconds >= timeout):
        awaiting = " (Client.Timeout exceeded while awaiting headers)"
        return 0, f"context deadline exceeded{awaiting if done.phase == 'wait' else ''}"
    if done.outcome != "ok":
        return 0, done.text
    if done.response is None:
        return 0, _NOT_HTTP
    return done.response.status, ""


def probe_grpc(
    world: SimWorld, node: str, host: str, port: int, timeout: float = 1.0, service: str = ""
) -> tuple[bool, str]:
    """Ask a gRPC health service as the kubelet does: (whether it serves, what failed)."""
    leg = connect(world, NodeSource(node), host, port).legs[0]
    limit = f"{timeout:g}s"
    if leg.outcome != "ok" or leg.process is None:
        text = f'failed to connect service "{joined(host, port)}" within {limit}: context deadline exceeded'
        return False, f"timeout: {text}"
    late_text = f"timeout: health rpc did not complete within {limit}"
    addressing.note(world, "full")
    if not leg.answers or leg.latency > timeout or leg.process in full_of(world):
        return False, late_text
    addressing.note(world, "process", leg.process)
    call = Call("grpc.health.v1.Health/Check", (("service", service),))
    flow = evaluation(world).serve(world.processes[leg.process], call, leg.port)
    left = timeout - flow.latency
    if left < 0.0 or _waited(world, leg.process, f"probe:{node}:{host}:{port}", left) > left:
        return False, late_text
    if flow.ok > 0.5:
        return True, ""
    if flow.failures and flow.failures[0][0].kind == "unavailable":
        return False, 'service unhealthy (responded with "NOT_SERVING")'
    what = "rpc error: code = Unimplemented desc = unknown service grpc.health.v1.Health"
    return False, f"error: health rpc probe failed: {what}"


def look_up(world: SimWorld, source: Source, name: str, server: str = "") -> Lookup:
    """The addresses of a name: through the search path of who asks, or of one server exactly."""
    conf = dns.resolv_conf(world, source)
    asked = server or (conf.nameservers[0] if conf.nameservers else "127.0.0.1")
    if server:
        answer, seconds = dns.ask(world, source, name.rstrip("."), server)
        canonical = answer.chain[-1] if answer.chain else name
        return Lookup(answer.rcode, answer.addresses, canonical, asked, seconds, answer.by)
    found = dns.resolved(world, source, name, hosts=False)
    by = found.queries[-1].answer.by if found.queries else ""
    if not found.error:
        canonical = (found.canonical or name).rstrip(".")
        return Lookup("NOERROR", found.addresses, canonical, asked, found.latency, by)
    rcode = "NXDOMAIN"
    if found.error == "dns_timeout":
        rcode = "SERVFAIL" if any(query.answer.rcode == "SERVFAIL" for query in found.queries) else "TIMEOUT"
    return Lookup(rcode, (), name, asked, found.latency, by)


def dial(world: SimWorld, source: Source, host: str, port: int, timeout: float = 0.0) -> HttpExchange:
    """A connection that is opened and closed again."""
    connection = connect(world, source, host, port)
    leg = connection.legs[0]
    if len(connection.legs) > 1:
        _chanced(world)
        leg = pick(connection, world.streams.unit(f"dial:{'/'.join(addressing.source_key(source))}"))
    leg = _from_port(world, source, connection, leg)
    outcome, spent = leg.outcome, connection.resolution.latency + leg.latency
    if timeout and spent > timeout:
        outcome, spent = "timeout", timeout
    phase: Literal["lookup", "connect", "done"] = "done" if outcome == "ok" else "connect"
    if connection.resolution.error:
        phase = "lookup"
    return HttpExchange(outcome, phase, _dialled(connection, leg), port, seconds=spent, connect_seconds=spent)


def typed(world: SimWorld, source: Source, host: str, port: int, text: str) -> str:
    """What whoever listens there, and has let one in, answers to something that is typed and no HTTP; empty where he keeps silent."""
    legs = connect(world, source, host, port).legs
    leg = next((each for each in legs if each.outcome == "ok" and each.answers), legs[0])
    if not text or leg.outcome != "ok" or leg.process is None or not leg.answers:
        return ""
    server = world.processes[leg.process]
    program = world.programs.get(server.program)
    return "" if program is None else program.typed(ProcessContext(world, server), text, leg.port)


def as_curl(world: SimWorld, source: Source, call: HttpCall) -> HttpExchange:
    """One HTTP request from a place in the network, as curl makes it, or what would come before one."""
    scheme, _, rest = call.url.partition("://")
    if scheme == "dns":
        server, _, name = rest.partition("/")
        lookup = look_up(world, source, name, server)
        return HttpExchange("ok", "lookup", "", 53, seconds=lookup.seconds, lookup=lookup)
    if scheme == "tcp":
        host, _, port = rest.rpartition(":")
        dialled = dial(world, source, host, int(port), call.timeout)
        if not call.body or dialled.outcome != "ok":
            return dialled
        return evolve(dialled, body=typed(world, source, host, int(port), call.body))
    secured = tls.as_curl(world.clock, call.url, insecure=call.insecure, authorities=call.authorities)
    done = http_request(world, source, call.url, call.method, call.headers, call.body, call.timeout, secured)
    answer = done.response
    return HttpExchange(
        outcome=done.outcome,
        phase=done.phase,
        address=done.address,
        port=done.port,
        status=0 if answer is None else answer.status,
        headers={} if answer is None else answer.headers,
        body="" if answer is None else answer.body,
        seconds=done.total_seconds,
        connect_seconds=done.connect_seconds,
        lookup_seconds=done.lookup_seconds,
        certificate=done.certificate,
        problem=tls.curl_text(done.text if done.certificate else "")[1] if done.outcome == "tls" else "",
    )
