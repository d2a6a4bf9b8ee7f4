"""Network interfaces and routes as a kernel lists them: of a pod, and of a machine with one end of every pod's cable.

Names, flags and addresses are those of Calico with tunnels of IP in IP (``felix``, ``bird``), counters those that the
monitoring shows. What crosses the tunnel is assumed to be what pods exchange, evenly among machines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha1
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import NamedTuple

from sregym_env.kube.types import Manifest
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.network import addressing
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.world import SimWorld, interfaces
from sregym_env.sim.world.process import Process

PACKET_BYTES = 340.0
"""Mean bytes of a packet, assumed."""
CALICO_MAC = "ee:ee:ee:ee:ee:ee"
"""Of the machine's end of every pod's cable, on which Calico answers for all others."""
NEXT_HOP = "169.254.1.1"
"""To whom pods hand everything: nobody, for whom the machine's end of the cable answers."""
FIRST_CABLE = 5
"""The smallest index of a pod's cable on its machine."""


class Counts(NamedTuple):
    """Bytes that came in and went out."""

    received: float
    sent: float


@dataclass(frozen=True, slots=True)
class Device:
    """One interface."""

    index: int
    name: str
    flags: str
    mtu: int
    queue: str = "noqueue"
    state: str = "UNKNOWN"
    kind: str = "ether"
    """``loopback``, ``ether`` or ``ipip``."""
    mac: str = "00:00:00:00:00:00"
    peer: str = ""
    """What stands after the ``@``."""
    addresses: tuple[str, ...] = ()
    """With the length of their networks."""
    namespace: str = ""
    """In which its other end lies, as ``ip`` words it."""
    counts: Callable[[], Counts] = lambda: Counts(0.0, 0.0)

    @property
    def shown(self) -> str:
        """Its name with its other end."""
        return f"{self.name}@{self.peer}" if self.peer else self.name


class Route(NamedTuple):
    """One line of a routing table."""

    to: str
    """``default``, an address, or a network."""
    rest: str
    """What ``ip route`` prints after it."""
    kind: str = ""
    """``blackhole``, or empty."""

    @property
    def line(self) -> str:
        """As ``ip route`` prints it."""
        return f"{f'{self.kind} ' if self.kind else ''}{self.to} {self.rest} "

    @property
    def network(self) -> IPv4Network:
        """The addresses that it is for."""
        return IPv4Network("0.0.0.0/0" if self.to == "default" else self.to)


LOOPBACK = Device(1, "lo", "LOOPBACK,UP,LOWER_UP", 65536, kind="loopback", addresses=("127.0.0.1/8",))


def of(ctx: ProcessContext) -> tuple[Device, ...]:
    """The interfaces that a process sees."""
    if ctx.process.host_network:
        return of_machine(ctx.world, ctx.process.node)
    return _of_pod(ctx.world, ctx.process)


def routes(ctx: ProcessContext) -> tuple[Route, ...]:
    """The routes that a process's packets take."""
    if ctx.process.host_network:
        return _machine_routes(ctx.world, ctx.process.node)
    return (Route("default", f"via {NEXT_HOP} dev eth0"), Route(NEXT_HOP, "dev eth0 scope link"))


def neighbours(ctx: ProcessContext) -> tuple[tuple[str, str, str], ...]:
    """(address, interface, hardware address) of those that it has spoken to on its own network."""
    if not ctx.process.host_network:
        return ((NEXT_HOP, "eth0", CALICO_MAC),)
    world, node = ctx.world, ctx.process.node
    others = [
        (address, "eth0", hardware(world, address))
        for name, address in _machines(world)
        if name != node and addressing.reachable_machine(world, name)
    ]
    gateway = str(_network(world, node)[1])
    return (*others, (gateway, "eth0", hardware(world, gateway)))


def hardware(world: SimWorld, address: str) -> str:
    """The hardware address behind an address of the machines' network: what Docker makes of it, or one of a cloud's."""
    octets = IPv4Address(address).packed
    if world.plan.provider == "kind":
        return "02:42:" + ":".join(f"{byte:02x}" for byte in octets)
    tail = keyed_bits("hardware", world.plan.key, address) & 0xFFFFFF
    return f"0a:{octets[3]:02x}:{octets[2]:02x}:" + ":".join(
        f"{byte:02x}" for byte in tail.to_bytes(3, "big")
    )


# --- pods ---------------------------------------------------------------------------------------------


def cable(namespace: str, pod: str) -> str:
    """Name of the machine's end of a pod's cable (``VethNameForWorkload`` of Calico)."""
    return f"cali{sha1(f'{namespace}.{pod}'.encode()).hexdigest()[:11]}"


def _index(uid: str) -> int:
    """The number that a machine's kernel gave to a pod's cable."""
    return FIRST_CABLE + keyed_bits("cable", uid) % 4000


def _of_pod(world: SimWorld, process: Process) -> tuple[Device, ...]:
    uid = process.key[0]
    tail = keyed_bits("hardware", uid) & 0xFFFFFFFFFF
    mac = f"{(tail >> 32 & 0xFC) | 0x02:02x}:" + ":".join(f"{byte:02x}" for byte in tail.to_bytes(5, "big"))
    return (
        LOOPBACK,
        Device(2, "tunl0", "NOARP", 1480, "noop", "DOWN", "ipip", "0.0.0.0", "NONE"),
        Device(
            4, "eth0", "BROADCAST,MULTICAST,UP,LOWER_UP", interfaces.of_process(world, process), state="UP", mac=mac,
            peer=f"if{_index(uid)}", addresses=(f"{process.ip}/32",) if process.ip else (), namespace="link-netnsid 0",
            counts=lambda: _counted(world, uid),
        ),
    )  # fmt: skip


def _counted(world: SimWorld, uid: str) -> Counts:
    """What a pod has received and sent: its containers share one interface."""
    received = sent = 0.0
    for process in world.processes.values():
        if process.key[0] == uid:
            try:
                found = world.figures.container(process)
            except LookupError:
                continue
            received, sent = received + found.received, sent + found.sent
    return Counts(received, sent)


# --- machines -----------------------------------------------------------------------------------------


def of_machine(world: SimWorld, node: str) -> tuple[Device, ...]:
    """The interfaces of a machine."""
    address = addressing.node_address(world, node)
    network = _network(world, node)
    card = Device(
        2, "eth0", "BROADCAST,MULTICAST,UP,LOWER_UP", interfaces.CARD, "noqueue" if world.plan.provider == "kind" else "mq", "UP",
        mac=hardware(world, address) if address else LOOPBACK.mac, addresses=(f"{address}/{network.prefixlen}",) if address else (),
        counts=lambda: _of_card(world, node),
        **({"peer": "if12", "namespace": "link-netnsid 0"} if world.plan.provider == "kind" else {}),
    )  # fmt: skip
    block = _block(world, node)
    tunnel = Device(
        3, "tunl0", "NOARP,UP,LOWER_UP", interfaces.of_machine(world, node), kind="ipip", mac="0.0.0.0",
        peer="NONE", addresses=(f"{block.network_address}/32",) if block else (), counts=lambda: _tunnelled(world, node),
    )  # fmt: skip
    return (LOOPBACK, card, tunnel, *_cables(world, node))


def _cables(world: SimWorld, node: str) -> Sequence[Device]:
    found = []
    for pod in _wired(world, node):
        metadata = pod["metadata"]
        uid, name = metadata["uid"], cable(metadata["namespace"], metadata["name"])
        mtu = interfaces.of_pod(world, uid)
        namespace = f"link-netns cni-{uid}"

        def crossed(uid: str = uid) -> Counts:
            counted = _counted(world, uid)
            return Counts(counted.sent, counted.received)

        flags = "BROADCAST,MULTICAST,UP,LOWER_UP"
        found.append(
            Device(
                _index(uid),
                name,
                flags,
                mtu,
                state="UP",
                mac=CALICO_MAC,
                peer="if4",
                namespace=namespace,
                counts=crossed,
            )
        )
    return sorted(found, key=lambda device: (device.index, device.name))


def _wired(world: SimWorld, node: str) -> list[Manifest]:
    """The pods of a machine that have a cable of their own."""
    return [
        pod
        for pod in world.store.list("pods")
        if pod["spec"].get("nodeName") == node
        and not pod["spec"].get("hostNetwork")
        and pod.get("status", {}).get("podIP")
        and pod["status"].get("phase") not in ("Succeeded", "Failed")
    ]


def _of_card(world: SimWorld, node: str) -> Counts:
    try:
        figures = world.figures.machine(node)
    except LookupError:
        return Counts(0.0, 0.0)
    return Counts(figures.received, figures.sent)


def _tunnelled(world: SimWorld, node: str) -> Counts:
    machines = len(_machines(world))
    share = (machines - 1) / machines if machines else 0.0
    counted = [_counted(world, pod["metadata"]["uid"]) for pod in _wired(world, node)]
    card = _of_card(world, node)
    return Counts(
        min(share * sum(each.received for each in counted), card.received),
        min(share * sum(each.sent for each in counted), card.sent),
    )


def _machines(world: SimWorld) -> list[tuple[str, str]]:
    """Names and addresses."""
    found = (
        (obj["metadata"]["name"], addressing.node_address(world, obj["metadata"]["name"]))
        for obj in world.store.list("nodes")
    )
    return [(name, address) for name, address in found if address]


def _network(world: SimWorld, node: str) -> IPv4Network:
    """The network of a machine's own interface: Docker's is a /16, a cloud's subnets are assumed to be /24."""
    length = 16 if world.plan.provider == "kind" else 24
    return IPv4Interface(f"{addressing.node_address(world, node) or '127.0.0.1'}/{length}").network


def _block(world: SimWorld, node: str) -> IPv4Network | None:
    """The addresses of a machine's pods."""
    obj = world.store.get("nodes", "", node)
    text = "" if obj is None else obj["spec"].get("podCIDR", "")
    return IPv4Network(text) if text else None


def _machine_routes(world: SimWorld, node: str) -> tuple[Route, ...]:
    address, network = addressing.node_address(world, node), _network(world, node)
    if not address:
        return ()
    found = [Route(str(network), f"dev eth0 proto kernel scope link src {address}")]
    own = _block(world, node)
    if own is not None:
        found.append(Route(str(own), "proto bird", "blackhole"))
    for name, there in _machines(world):
        block = _block(world, name)
        if name != node and block is not None:
            found.append(Route(str(block), f"via {there} dev tunl0 proto bird onlink"))
    for pod in _wired(world, node):
        metadata = pod["metadata"]
        found.append(
            Route(pod["status"]["podIP"], f"dev {cable(metadata['namespace'], metadata['name'])} scope link")
        )
    found.sort(key=lambda route: (route.network.network_address, route.network.prefixlen))
    gateway = f"via {network[1]} dev eth0" + (
        "" if world.plan.provider == "kind" else f" proto dhcp src {address} metric 100"
    )
    return (Route("default", gateway), *found)
