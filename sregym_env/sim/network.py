"""Where a connection leads: name, Service, endpoint, policy, wire, and the process that must listen.

:func:`connect` is the one function behind user traffic, probes, ``curl`` and every program's dial. It knows
shares rather than single packets: a Service with two endpoints of which one refuses has two legs. Error
texts are those of Go's ``net`` package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import urlsplit

from sregym_env.kube.types import Manifest
from sregym_env.runtime.frozen import evolve
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim import addressing, dns
from sregym_env.sim.addressing import OUTSIDE, Endpoint, NodeSource, Source
from sregym_env.sim.dns import Resolution
from sregym_env.sim.links import NO_POD, Link, PodName, late, path, retransmissions
from sregym_env.sim.netpolicy import Peer, allowed
from sregym_env.sim.process import Process, ProcessKey
from sregym_env.sim.programs.program import Call, HttpRequest, HttpResponse, Program
from sregym_env.sim.tls import Tls
from sregym_env.sim.world import SimWorld

if TYPE_CHECKING:
    from sregym_env.sim.programs.context import ProcessContext

__all__ = [
    "CONNECT_TIMEOUT",
    "Connection",
    "Exchange",
    "Leg",
    "NodeSource",
    "Outcome",
    "Source",
    "connect",
    "http_get",
    "http_request",
    "pick",
    "probe_grpc",
    "probe_http",
    "probe_tcp",
]

Outcome = Literal["ok", "no_such_host", "dns_timeout", "refused", "timeout", "reset", "tls"]

CONNECT_TIMEOUT = 20.0
"""Seconds a client waits for a connection if it sets no limit of its own (gRPC's minimum connect timeout)."""
NO_ROUTE_DELAY = 3.0
"""Seconds until the kernel reports that no machine answers for an address (three ARP probes)."""


class Leg(NamedTuple):
    """One of the places a connection may lead to."""

    share: float
    outcome: Outcome
    address: str = ""
    port: int = 0
    """Port at the far end, after Service translation."""
    process: ProcessKey | None = None
    """Who accepts; None where nobody does."""
    latency: float = 0.0
    """Seconds: the round trip of one exchange if ok, else how long until the failure is noticed."""
    jitter: float = 0.0
    """Half-width of the spread of ``latency``."""
    loss: float = 0.0
    """Probability that an exchange loses a packet."""
    answers: bool = True
    """False where the far end accepts connections and then says nothing."""
    text: str = ""
    """What Go reports: ``dial tcp 10.96.3.7:27017: connect: connection refused``."""


class Connection(NamedTuple):
    """What becomes of many connections to ``host:port``; the shares of the legs sum to 1."""

    host: str
    port: int
    resolution: Resolution
    legs: tuple[Leg, ...]

    @property
    def ok(self) -> bool:
        """Whether every connection is accepted."""
        return all(leg.outcome == "ok" for leg in self.legs)


def connect(
    world: SimWorld, source: Source, host: str, port: int, protocol: Literal["TCP", "UDP"] = "TCP"
) -> Connection:
    """Where connections from ``source`` to ``host:port`` lead right now."""
    cache = addressing.present(world).cache
    key = (addressing.source_key(source), host, port, protocol)
    found: Connection | None = cache.get(key)
    if found is None:
        found = cache[key] = _connect(world, source, host, port, protocol)
    return found


def _connect(world: SimWorld, source: Source, host: str, port: int, protocol: str) -> Connection:
    resolution = dns.resolve(world, source, host)
    if resolution.error:
        leg = Leg(1.0, resolution.error, text=f"dial tcp: {resolution.text}", latency=resolution.latency)
        return Connection(host, port, resolution, (leg,))
    route = _Route(world, source, protocol)
    per_address = [route.legs(address, port) for address in resolution.addresses]
    if len(per_address) > 1:
        per_address = _first_that_accepts(per_address)
    share = 1.0 / len(per_address)
    legs = tuple(
        leg if share == 1.0 else leg._replace(share=leg.share * share) for legs in per_address for leg in legs
    )
    return Connection(host, port, resolution, legs)


def _first_that_accepts(per_address: list[tuple[Leg, ...]]) -> list[tuple[Leg, ...]]:
    """A dialler with several addresses moves on from those that refuse at once."""
    accepting = [legs for legs in per_address if any(leg.outcome != "refused" for leg in legs)]
    return accepting or per_address[:1]


class _Route:
    """Finds the legs to an address for one client."""

    __slots__ = ("here", "peer", "protocol", "source", "world")

    def __init__(self, world: SimWorld, source: Source, protocol: str) -> None:
        self.world = world
        self.source = source
        self.protocol = protocol
        pod = addressing.pod_of(world, source) if isinstance(source, Process) else None
        self.here: PodName = NO_POD
        if isinstance(source, Process) and not source.host_network:
            self.here = (source.namespace, source.pod)
        else:
            pod = None
        self.peer = Peer(addressing.source_ip(world, source), source.node, pod)

    def legs(self, address: str, port: int) -> tuple[Leg, ...]:
        world, source = self.world, self.source
        if address.startswith("127.") or address == "::1":
            return (self._own(address, port),)
        if isinstance(source, Process) and address == source.ip:
            return (self._own(address, port),)
        node = addressing.node_at(world, address)
        if node is not None:
            return self._machine(address, node, port)
        if source == OUTSIDE:
            return (self._lost(address, port),)
        service = addressing.service_at(world, address)
        if service is not None:
            return self._service(service, address, port)
        return (self._pod(address, port, address, port, ""),)

    # --- Services -------------------------------------------------------------------------------

    def _service(self, service: Manifest, address: str, port: int) -> tuple[Leg, ...]:
        spec = service["spec"]
        for entry in spec.get("ports") or ():
            if entry["port"] == port and entry.get("protocol", "TCP") == self.protocol:
                local = spec.get("internalTrafficPolicy") == "Local"
                return self._balanced(service, entry, address, port, local)
        return (self._lost(address, port),)

    def _balanced(
        self, service: Manifest, entry: Manifest, address: str, port: int, local: bool
    ) -> tuple[Leg, ...]:
        metadata = service["metadata"]
        every = addressing.endpoints(self.world, metadata["namespace"], metadata["name"], entry)
        found = addressing.usable(every)
        if local and found:
            found = [endpoint for endpoint in found if endpoint.node == self.source.node]
            if not found:
                return (self._lost(address, port),)
        if not found:
            return (self._refused(address, port),)
        if service["spec"].get("sessionAffinity") == "ClientIP":
            found = [found[keyed_bits("affinity", self.peer.ip, address) % len(found)]]
        legs = [self._endpoint(endpoint, address, port) for endpoint in found]
        if len(legs) == 1:
            return (legs[0],)
        share = 1.0 / len(legs)
        return tuple(leg._replace(share=share) for leg in legs)

    def _endpoint(self, endpoint: Endpoint, address: str, port: int) -> Leg:
        node = addressing.node_at(self.world, endpoint.ip)
        if node is not None:
            return self._machine_port(endpoint.ip, node, endpoint.port, address, port)
        return self._pod(endpoint.ip, endpoint.port, address, port, endpoint.node)

    # --- machines -------------------------------------------------------------------------------

    def _machine(self, address: str, node: str, port: int) -> tuple[Leg, ...]:
        behind = addressing.node_port(self.world, port) if self.protocol == "TCP" else None
        if behind is not None:
            local = behind[0]["spec"].get("externalTrafficPolicy") == "Local"
            if local:
                return self._node_local(behind, address, node, port)
            return self._balanced(*behind, address, port, False)
        claimed = addressing.host_port(self.world, node, port, self.protocol)
        if claimed is not None:
            return (self._pod(*claimed, address, port, node),)
        return (self._machine_port(address, node, port, address, port),)

    def _node_local(
        self, behind: tuple[Manifest, Manifest], address: str, node: str, port: int
    ) -> tuple[Leg, ...]:
        metadata = behind[0]["metadata"]
        every = addressing.endpoints(self.world, metadata["namespace"], metadata["name"], behind[1])
        found = [endpoint for endpoint in addressing.usable(every) if endpoint.node == node]
        if not found:
            return (self._lost(address, port),)
        share = 1.0 / len(found)
        return tuple(self._endpoint(e, address, port)._replace(share=share) for e in found)

    def _machine_port(self, ip: str, node: str, number: int, address: str, port: int) -> Leg:
        link = path(self.world, self.source.node, self.here, node, NO_POD)
        if not link.up or not allowed(self.world, self.peer, Peer(ip, node), number, self.protocol):
            return self._lost(address, port)
        for process in addressing.present(self.world).by_node.get(node, ()):
            if number in process.listening:
                return self._accepted(process, ip, number, link)
        return self._refused(address, port, ip, number)

    # --- pods -----------------------------------------------------------------------------------

    def _own(self, address: str, port: int) -> Leg:
        source = self.source
        if isinstance(source, Process) and not source.host_network:
            processes = addressing.pod_processes(self.world, source.key[0])
        else:
            processes = addressing.present(self.world).by_node.get(source.node, [])
        link = path(self.world, source.node, self.here, source.node, self.here)
        for process in processes:
            if port in process.listening:
                return self._accepted(process, address, port, link)
        return self._refused(address, port)

    def _pod(self, ip: str, number: int, address: str, port: int, node: str) -> Leg:
        """A pod's address, dialled as ``address:port`` (which may be a Service's)."""
        world = self.world
        pod = addressing.pod_at(world, ip)
        if pod is None:
            return self._unreachable(address, port, node)
        metadata = pod["metadata"]
        there = Peer(ip, pod["spec"].get("nodeName", ""), pod)
        link = path(world, self.source.node, self.here, there.node, (metadata["namespace"], metadata["name"]))
        if not link.up or not allowed(world, self.peer, there, number, self.protocol):
            return self._lost(address, port)
        for process in addressing.pod_processes(world, metadata.get("uid", "")):
            if number in process.listening:
                return self._accepted(process, ip, number, link)
        return self._refused(address, port, ip, number, link)

    # --- outcomes -------------------------------------------------------------------------------

    def _accepted(self, process: Process, ip: str, number: int, link: Link) -> Leg:
        return Leg(
            1.0,
            "ok",
            ip,
            number,
            process.key,
            link.rtt,
            link.jitter,
            link.loss,
            link.answers,
        )

    def _refused(
        self, address: str, port: int, ip: str = "", number: int = 0, link: Link | None = None
    ) -> Leg:
        text = f"dial tcp {_join(address, port)}: connect: connection refused"
        rtt = 0.0001 if link is None else link.rtt
        return Leg(1.0, "refused", ip or address, number or port, latency=rtt, text=text)

    def _lost(self, address: str, port: int) -> Leg:
        text = f"dial tcp {_join(address, port)}: i/o timeout"
        return Leg(1.0, "timeout", address, port, latency=CONNECT_TIMEOUT, text=text)

    def _unreachable(self, address: str, port: int, node: str) -> Leg:
        """Nobody has this address. Inside the pods' range the machines say so; elsewhere packets vanish."""
        if not address.startswith(POD_RANGE) or (node and not addressing.reachable_machine(self.world, node)):
            return self._lost(address, port)
        text = f"dial tcp {_join(address, port)}: connect: no route to host"
        return Leg(1.0, "timeout", address, port, latency=NO_ROUTE_DELAY, text=text)


POD_RANGE = "10.244."
"""Prefix of the cluster's pod addresses (10.244.0.0/16)."""


@lru_cache(maxsize=4096)
def _join(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def pick(connection: Connection, unit: float) -> Leg:
    """The leg that one connection takes, for a number in [0, 1)."""
    for leg in connection.legs:
        if unit < leg.share:
            return leg
        unit -= leg.share
    return connection.legs[-1]


# --- single requests -----------------------------------------------------------------------------------


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
) -> Exchange:
    """Send one HTTP request (of any method) to ``host:port`` and see what becomes of it; over TLS if given.

    One leg is drawn from the stream of the client. Nothing but that stream changes.
    """
    connection = connect(world, source, host, port)
    patience = timeout or CONNECT_TIMEOUT
    leg = connection.legs[0]
    if len(connection.legs) > 1:
        leg = pick(connection, world.streams.unit(f"dial:{'/'.join(addressing.source_key(source))}"))
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
    return _exchange(world, source, connection, leg, request, patience, base, tls)


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
) -> Exchange:
    from sregym_env.sim.programs.context import ProcessContext  # programs dial through this layer

    assert leg.process is not None
    process = world.processes[leg.process]
    connected = base.lookup_seconds + leg.latency
    waiting = evolve(base, connect_seconds=min(connected, patience), phase="wait")
    lost, extra = retransmissions(leg.loss, patience)
    if lost and world.streams.unit(f"loss:{'/'.join(addressing.source_key(source))}") < lost:
        return _gave_up(waiting, connection, patience)
    if not leg.answers or connected >= patience:
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
        response = program(world, process).request(context, request, leg.port)
    elif certificate:
        response = HttpResponse(400, NOT_TLS, {"Connection": "close"})
    else:
        response = program(world, process).request(context, request, leg.port)
    total = connected + leg.latency + extra + (0.0005 if response is None else response.latency)
    if total > patience:
        return _gave_up(waiting, connection, patience)
    return evolve(waiting, outcome="ok", response=response, total_seconds=total, phase="done")


NOT_TLS = "Client sent an HTTP request to an HTTPS server.\n"
"""What Go's HTTPS server answers to a client that speaks plain HTTP."""
HTTP_TO_HTTPS = "http: server gave HTTP response to HTTPS client"
"""What Go's client says of a server that speaks plain HTTP."""
NOT_A_HANDSHAKE = "tls: first record does not look like a TLS handshake"
"""The same of a server that speaks something else."""


def served_certificate(context: ProcessContext, port: int) -> str:
    """The certificate chain (PEM) that a process presents on a port; empty where it does not speak TLS."""
    find = getattr(program(context.world, context.process), "certificate", None)
    return "" if find is None else find(context, port)


def _handshake(context: ProcessContext, client: str, leg: Leg, tls: Tls, certificate: str) -> str:
    """Agree on a secure connection; Go's words for what is in the way."""
    behaviour = program(context.world, context.process)
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


def program(world: SimWorld, process: Process) -> Program:
    """The simulated program a process runs."""
    own: Program | None = world.programs.get(process.program)
    return _programs()[process.program] if own is None else own


@lru_cache(maxsize=1)
def _programs() -> Mapping[str, Program]:
    from sregym_env.sim.programs.registry import PROGRAMS  # programs dial through this layer

    return PROGRAMS


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
        if not failing or world.streams.unit(f"probe:{node}:{host}:{port}") >= failing:
            return ""
        return f"dial tcp {_join(host, port)}: i/o timeout"
    if leg.outcome == "timeout" and leg.latency > timeout:
        return f"dial tcp {_join(host, port)}: i/o timeout"
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
    given = {"Host": _join(host, port), "User-Agent": "kube-probe/1.32", "Accept": "*/*", **(headers or {})}
    tls = Tls() if scheme == "https" else None  # A kubelet does not verify certificates.
    done = http_get(world, NodeSource(node), host, port, HttpRequest("GET", path, given), timeout, tls)
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
    from sregym_env.sim.flow import Evaluation  # flow dials through this module

    leg = connect(world, NodeSource(node), host, port).legs[0]
    limit = f"{timeout:g}s"
    if leg.outcome != "ok" or leg.process is None:
        text = f'failed to connect service "{_join(host, port)}" within {limit}: context deadline exceeded'
        return False, f"timeout: {text}"
    late_text = f"timeout: health rpc did not complete within {limit}"
    if not leg.answers or leg.latency > timeout:
        return False, late_text
    call = Call("grpc.health.v1.Health/Check", (("service", service),))
    flow = Evaluation(world).serve(world.processes[leg.process], call, leg.port)
    if flow.latency > timeout:
        return False, late_text
    if flow.ok > 0.5:
        return True, ""
    if flow.failures and flow.failures[0][0].kind == "unavailable":
        return False, 'service unhealthy (responded with "NOT_SERVING")'
    what = "rpc error: code = Unimplemented desc = unknown service grpc.health.v1.Health"
    return False, f"error: health rpc probe failed: {what}"
