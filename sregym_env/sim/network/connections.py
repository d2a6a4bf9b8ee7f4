"""Where a connection leads: name, Service, endpoint, policy, wire, and the process that must listen.

:func:`connect` is the one function behind user traffic, probes, ``curl`` and every program's dial. It knows
shares rather than single packets: a Service with two endpoints of which one refuses has two legs. Error
texts are those of Go's ``net`` package.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from sregym_env.kube.types import Manifest
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.network import addressing, conntrack, dns
from sregym_env.sim.network.addressing import OUTSIDE, Endpoint, NodeSource, Source
from sregym_env.sim.network.dns import Resolution
from sregym_env.sim.network.links import NO_POD, Link, PodName, path
from sregym_env.sim.network.netpolicy import Peer, allowed
from sregym_env.sim.world import SimWorld, interfaces
from sregym_env.sim.world.process import Process, ProcessKey

__all__ = [
    "CONNECT_TIMEOUT",
    "Connection",
    "Leg",
    "NodeSource",
    "Outcome",
    "Source",
    "connect",
    "fits",
    "no_port",
    "pick",
]

Outcome = Literal["ok", "no_such_host", "dns_timeout", "no_port", "refused", "timeout", "reset", "tls"]

CONNECT_TIMEOUT = 20.0
"""Seconds a client waits for a connection if it sets no limit of its own (gRPC's minimum connect timeout)."""
RELAYS = "relays"
"""Under which name a process remembers to which addresses its ports pass connections on."""
MOST_HOPS = 8
"""Proxies of connections in a row, after which they have run in a circle until nobody has a port left."""
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
    carries: float = math.inf
    """Bytes of the largest message that arrives, either way; of a larger one the packets are lost again and again."""
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
    world: SimWorld,
    source: Source,
    host: str,
    port: int,
    protocol: Literal["TCP", "UDP"] = "TCP",
    *,
    kept: bool = False,
) -> Connection:
    """Where connections from ``source`` to ``host:port`` lead right now; ``kept`` ones stand already, so that no kernel has to make room
    for them."""
    key = (addressing.source_key(source), host, port, protocol)
    if kept or not conntrack.full_tables(world):
        return addressing.learned(world, key, lambda: _connect(world, source, host, port, protocol))  # type: ignore[no-any-return]

    def entered() -> Connection:
        # Asked for in here, so that this answer lasts no longer than the one that it is made of.
        return _entered(world, source, connect(world, source, host, port, protocol, kept=True))

    return addressing.learned(world, (*key, "new"), entered)  # type: ignore[no-any-return]


def _entered(world: SimWorld, source: Source, connection: Connection) -> Connection:
    """What becomes of new connections, of which every kernel on their way needs an entry."""
    resolution = connection.resolution
    if resolution.error or source == OUTSIDE:
        return connection
    legs: list[Leg] = []
    for leg in connection.legs:
        share = _unentered(world, source, leg)
        lost = split(connection, leg, share)
        legs += lost if share < 0.5 else lost[::-1]
    unanswered = dns.unanswered(world, source, resolution)
    if unanswered is None:
        return connection._replace(legs=tuple(legs))
    share, text = unanswered
    silent = Leg(share, "dns_timeout", text=f"dial tcp: {text}", latency=dns.QUERY_TIMEOUT * dns.ATTEMPTS)
    if share >= 1.0:
        return connection._replace(resolution=dns.timed_out(resolution, text), legs=(silent,))
    rest = [leg._replace(share=leg.share * (1.0 - share)) for leg in legs]
    return connection._replace(legs=(silent, *rest) if share >= 0.5 else (*rest, silent))


def _unentered(world: SimWorld, source: Source, leg: Leg) -> float:
    """The share of the connections of a leg for which some kernel has no entry."""
    process = None if leg.process is None else world.processes.get(leg.process)
    if process is None:
        pod = addressing.pod_at(world, leg.address) if leg.outcome == "refused" else None
        return 0.0 if pod is None else conntrack.dropped(world, source.node, pod["spec"].get("nodeName", ""))
    if isinstance(source, Process) and source.key[0] == process.key[0]:
        return 0.0
    return conntrack.dropped(world, source.node, process.node)


def split(connection: Connection, leg: Leg, share: float) -> list[Leg]:
    """A leg, and beside it the ``share`` of its connections whose packets some kernel drops."""
    if share <= 0.0:
        return [leg]
    address = connection.resolution.addresses[0] if len(connection.resolution.addresses) == 1 else leg.address
    text = f"dial tcp {joined(address, connection.port)}: i/o timeout"
    lost = Leg(leg.share * share, "timeout", address, connection.port, latency=CONNECT_TIMEOUT, text=text)
    return [lost] if share >= 1.0 else [leg._replace(share=leg.share * (1.0 - share)), lost]


def _connect(
    world: SimWorld, source: Source, host: str, port: int, protocol: str, hops: int = 0
) -> Connection:
    resolution = dns.resolve(world, source, host)
    if resolution.error:
        leg = Leg(1.0, resolution.error, text=f"dial tcp: {resolution.text}", latency=resolution.latency)
        return Connection(host, port, resolution, (leg,))
    route = _Route(world, source, protocol, hops)
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

    __slots__ = ("here", "hops", "peer", "protocol", "source", "world")

    def __init__(self, world: SimWorld, source: Source, protocol: str, hops: int) -> None:
        self.world = world
        self.hops = hops
        self.source = source
        self.protocol = protocol
        pod = None
        if isinstance(source, Process):
            pod = addressing.pod_of(world, source)
            # Its address is among what its own processes say.
            addressing.pod_processes(world, source.key[0])
        self.here: PodName = NO_POD
        if isinstance(source, Process) and not source.host_network:
            self.here = (source.namespace, source.pod)
        else:
            # On the machine's network the machine speaks: no policy selects it by a pod's labels.
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
        self, service: Manifest, entry: Manifest, address: str, port: int, local: bool, node: str = ""
    ) -> tuple[Leg, ...]:
        """``node`` is the machine that forwards, where it is not the client's own."""
        metadata, by = service["metadata"], node or self.source.node
        if not addressing.forwarded(self.world, by, metadata["namespace"], metadata["name"]):
            return (self._lost(address, port),)
        every = addressing.endpoints(self.world, metadata["namespace"], metadata["name"], entry, node=by)
        found = addressing.usable(every)
        if local and found:
            # Endpoints elsewhere but none here: kube-proxy drops; where there are none at all it rejects.
            found = [endpoint for endpoint in found if endpoint.node == self.source.node]
            if not found:
                return (self._lost(address, port),)
        if not found:
            return (self._refused(address, port),)
        if service["spec"].get("sessionAffinity") == "ClientIP":
            # Keyed by the two ends: a client keeps its endpoint, and nothing has to be remembered.
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
            return self._balanced(*behind, address, port, False, node)
        claimed = addressing.host_port(self.world, node, port, self.protocol)
        if claimed is not None:
            return (self._pod(*claimed, address, port, node),)
        return (self._machine_port(address, node, port, address, port),)

    def _node_local(
        self, behind: tuple[Manifest, Manifest], address: str, node: str, port: int
    ) -> tuple[Leg, ...]:
        metadata = behind[0]["metadata"]
        every = addressing.endpoints(
            self.world, metadata["namespace"], metadata["name"], behind[1], node=node
        )
        found = [endpoint for endpoint in addressing.usable(every) if endpoint.node == node]
        if not found:
            return (self._lost(address, port),)
        share = 1.0 / len(found)
        return tuple(self._endpoint(e, address, port)._replace(share=share) for e in found)

    def _machine_port(self, ip: str, node: str, number: int, address: str, port: int) -> Leg:
        link = path(self.world, self.source.node, self.here, node, NO_POD)
        if not link.up or not allowed(self.world, self.peer, Peer(ip, node), number, self.protocol):
            return self._lost(address, port)
        for process in addressing.machine_processes(self.world, node):
            if number in process.listening:
                return self._accepted(process, ip, number, link)
        return self._refused(address, port, ip, number, link)

    # --- pods -----------------------------------------------------------------------------------

    def _own(self, address: str, port: int) -> Leg:
        source = self.source
        if isinstance(source, Process) and not source.host_network:
            processes = addressing.pod_processes(self.world, source.key[0])
        else:
            processes = addressing.machine_processes(self.world, source.node)
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
                leg = self._accepted(process, ip, number, link)
                return leg._replace(carries=min(leg.carries, self._carried(process, link)))
        return self._refused(address, port, ip, number, link)

    def _carried(self, process: Process, link: Link) -> float:
        """Bytes of the largest message that passes between two pods. What machines send themselves always does: their
        kernels notice that larger packets are lost, and send smaller ones (``net.ipv4.tcp_mtu_probing``)."""
        source = self.source
        if not link.largest or self.here == NO_POD or process.host_network or not isinstance(source, Process):
            return math.inf
        if interfaces.sent(self.world, source.key[0], process.key[0]) <= link.largest:
            return math.inf
        return float(link.largest - interfaces.TUNNEL - interfaces.HEADERS)

    # --- outcomes -------------------------------------------------------------------------------

    def _accepted(self, process: Process, ip: str, number: int, link: Link) -> Leg:
        leg = Leg(
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
        passed = process.state.get(RELAYS)
        return leg if passed is None or number not in passed else self._relayed(process, passed[number], leg)

    def _relayed(self, process: Process, upstreams: Sequence[tuple[str, int]], leg: Leg) -> Leg:
        """What a proxy of connections makes of one that it has accepted: it opens another to the first of its upstreams that
        takes it, and where none does it closes the client's."""
        for host, port in upstreams if self.hops < MOST_HOPS else ():
            for beyond in _connect(self.world, process, host, port, self.protocol, self.hops + 1).legs:
                if beyond.outcome == "ok":
                    return beyond._replace(
                        share=1.0,
                        latency=leg.latency + beyond.latency,
                        jitter=leg.jitter + beyond.jitter,
                        loss=1.0 - (1.0 - leg.loss) * (1.0 - beyond.loss),
                        answers=leg.answers and beyond.answers,
                    )
        return leg._replace(outcome="reset", process=None, text="EOF")

    def _refused(
        self, address: str, port: int, ip: str = "", number: int = 0, link: Link | None = None
    ) -> Leg:
        text = f"dial tcp {joined(address, port)}: connect: connection refused"
        rtt, loss = (0.0001, 0.0) if link is None else (link.rtt, link.loss)
        return Leg(1.0, "refused", ip or address, number or port, latency=rtt, loss=loss, text=text)

    def _lost(self, address: str, port: int) -> Leg:
        text = f"dial tcp {joined(address, port)}: i/o timeout"
        return Leg(1.0, "timeout", address, port, latency=CONNECT_TIMEOUT, text=text)

    def _unreachable(self, address: str, port: int, node: str) -> Leg:
        """Nobody has this address. Inside the pods' range the machines say so; elsewhere packets vanish."""
        if not address.startswith(_prefix(self.world.plan.pod_cidr)) or (
            node and not addressing.reachable_machine(self.world, node)
        ):
            return self._lost(address, port)
        text = f"dial tcp {joined(address, port)}: connect: no route to host"
        return Leg(1.0, "timeout", address, port, latency=NO_ROUTE_DELAY, text=text)


def no_port(address: str, port: int, share: float) -> Leg:
    """Where connections lead for which their client has no local port: nowhere, at once."""
    text = f"dial tcp {joined(address, port)}: connect: cannot assign requested address"
    return Leg(share, "no_port", address, port, latency=0.0001, text=text)


def fits(world: SimWorld, source: Source, address: str, size: int) -> bool:
    """Whether a packet of ``size`` bytes gets to an address and an equal one back: each kernel cuts it to its interface's MTU,
    and nobody cuts it on the way."""
    pod = addressing.pod_at(world, address)
    there = addressing.node_at(world, address) if pod is None else pod["spec"].get("nodeName", "")
    here = (source.namespace, source.pod) if isinstance(source, Process) else NO_POD
    link = path(world, source.node, here, there or "", NO_POD)
    if not link.largest or not isinstance(source, Process):
        return True
    if addressing.node_at(world, address) is not None:
        # Between machines there is no tunnel; what a pod sends to one leaves its machine as it is.
        return min(size, interfaces.of_process(world, source)) <= link.largest
    mtu = interfaces.of_process(world, source)
    if source.host_network:
        mtu = min(mtu, interfaces.of_machine(world, source.node))
    far = interfaces.USUAL if pod is None else interfaces.of_pod(world, pod["metadata"]["uid"])
    return min(size, max(mtu, far), interfaces.DETECTED) + interfaces.TUNNEL <= link.largest


@lru_cache(maxsize=256)
def _prefix(cidr: str) -> str:
    """How the addresses of a range of 16 bits or more begin; pods' ranges are at least that large."""
    return ".".join(cidr.split(".")[: 2 if int(cidr.partition("/")[2]) >= 16 else 1]) + "."


@lru_cache(maxsize=4096)
def joined(address: str, port: int) -> str:
    """``host:port`` as Go writes it."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def pick(connection: Connection, unit: float) -> Leg:
    """The leg that one connection takes, for a number in [0, 1)."""
    for leg in connection.legs:
        if unit < leg.share:
            return leg
        unit -= leg.share
    # Shares are floats: they may sum to a little less than 1.
    return connection.legs[-1]
