"""Who has which address: services, pods, machines and processes by IP, and where a client sits.

Indexes are derived from the store's sorted lists (:mod:`sregym_env.sim.world.derived`).
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import is_
from typing import Any, NamedTuple

from sregym_env.kube.types import Manifest
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.derived import DerivedFrom, DerivedFromEach
from sregym_env.sim.world.process import Process, ProcessKey
from sregym_env.sim.world.store import Key, Objects

SLICES = "endpointslices.discovery.k8s.io"
_SERVICE_LABEL = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class NodeSource:
    """A client on a machine's own network: a kubelet, or a person logged in there.

    An empty ``node`` is a machine outside the cluster, which reaches nodes but neither pods nor ClusterIPs.
    """

    node: str = ""
    cluster_dns: bool = False
    """Whether it is set up to ask the cluster's DNS instead of the machine's own resolver."""


OUTSIDE = NodeSource()
"""A client that is no part of the cluster."""

Source = Process | NodeSource
"""Where a connection starts."""


class Endpoint(NamedTuple):
    """One address behind a Service port."""

    ip: str
    port: int
    """0 where the slice names no port."""
    node: str
    pod: str
    ready: bool
    serving: bool
    terminating: bool
    hostname: str


@dataclass(slots=True)
class Present:
    """What is derived from one state of a world (one ``epoch``)."""

    epoch: int
    running: list[Process]
    """Every process, and below what is derived from them."""
    by_pod: dict[str, list[Process]]
    by_node: dict[str, list[Process]]
    """Processes on the machines' own network, by node name."""
    wiring: list[tuple[Any, ...]]
    pods: Objects
    """Every pod; ``shapes`` says of each what matters to the network."""
    shapes: list[tuple[Any, ...]]
    by_ip: dict[str, Key]
    """Keys of the pods that have an address of their own."""
    topology: tuple[Any, ...]
    """Everything that decides where a connection leads; while it stays equal, ``cache`` stays valid, in this
    world and in forks of it."""
    cache: dict[Any, Any]
    """Answers of the layers above, by their own keys."""
    naming: tuple[Any, ...]
    """The part of the topology that decides what names resolve to; ``names`` stays valid while it stays equal."""
    names: dict[Any, Any]
    """Answers of name resolution, by their own keys."""


_POLICIES = "networkpolicies.networking.k8s.io"
_DECIDING = ("services", SLICES, "endpoints", "nodes", "namespaces", _POLICIES)
"""Resources whose every change may lead connections elsewhere."""


def _topology(
    world: SimWorld, shapes: list[tuple[Any, ...]], wiring: list[tuple[Any, ...]]
) -> tuple[Any, ...]:
    """What connections depend on, made of parts that most writes leave as they are (so comparing is cheap)."""
    store = world.store
    return (
        [store.list(resource) for resource in _DECIDING],
        shapes,
        wiring,
        world.disturbances,
        [
            name
            for node in store.list("nodes")
            if world.memory.get(f"node.off:{(name := node['metadata']['name'])}")
        ],
    )


def _naming(world: SimWorld, topology: tuple[Any, ...]) -> tuple[Any, ...]:
    """What name resolution depends on: it outlives pods that come and go behind ordinary Services."""
    store = world.store
    headless = _headless(store.list("services"))
    policies = store.list(_POLICIES)
    return (
        [store.list(resource) for resource in ("services", "nodes", "namespaces", _POLICIES)],
        [
            piece
            for service, pieces in _by_service(store.list(SLICES)).items()
            # The endpoints of the DNS server itself, and those that names lead to directly.
            if service[0] == "kube-system" or service in headless
            for piece in pieces
        ],
        [
            (process.key, process.ip, process.listening, process.state.get("corefile"))
            for process in world.processes.values()
            if "corefile" in process.state
        ],
        # Only a policy makes it matter who asks.
        topology[1] if policies else None,
        topology[3:],
    )


def _shape(pod: Manifest) -> tuple[Any, ...]:
    """What of a pod matters to the network: not its conditions or container states."""
    metadata, status = pod["metadata"], pod.get("status", {})
    return (
        metadata["name"],
        metadata.get("namespace", ""),
        metadata.get("uid"),
        metadata.get("labels"),
        pod["spec"],
        status.get("podIP"),
        status.get("phase") in ("Succeeded", "Failed"),
    )


def _shapes(pods: Objects, known: Present | None) -> list[tuple[Any, ...]]:
    """The shapes of all pods; those of the view before where no pod has changed its shape."""
    if known is None or len(known.pods) != len(pods):
        return [_shape(pod) for pod in pods]
    if known.pods is pods:
        return known.shapes
    shapes = [
        shape if pod is before else _shape(pod)
        for pod, before, shape in zip(pods, known.pods, known.shapes, strict=True)
    ]
    return known.shapes if shapes == known.shapes else shapes


def _wiring(running: list[Process], known: Present | None) -> list[tuple[Any, ...]]:
    """What of the processes matters to connections, taken from the view before where a process is still the same."""
    before = {} if known is None else dict(zip(map(id, known.running), known.wiring, strict=True))
    return [
        before.get(id(process))
        or (process.key, process.ip, process.listening, process.hostname, process.state.get("corefile"))
        for process in running
    ]


def present(world: SimWorld) -> Present:
    """The derived view of the world as it is now."""
    known: Present | None = world.view
    if known is not None and known.epoch == world.epoch:
        return known
    world.view = fresh = _derived(world, known)
    return fresh


def _derived(world: SimWorld, known: Present | None) -> Present:
    """The view of the world now, made of what is still right in the one before."""
    running = list(world.processes.values())
    if known is not None and len(known.running) == len(running) and all(map(is_, known.running, running)):
        running, by_pod, by_node, wiring = known.running, known.by_pod, known.by_node, known.wiring
    else:
        by_pod, by_node = {}, {}
        for process in running:
            by_pod.setdefault(process.key[0], []).append(process)
            if process.host_network:
                by_node.setdefault(process.node, []).append(process)
        wiring = _wiring(running, known)
    pods = world.store.list("pods")
    shapes = _shapes(pods, known)
    by_ip = known.by_ip if known is not None and known.shapes is shapes else _pods_by_ip(pods)
    topology = _topology(world, shapes, wiring)
    if known is not None and known.topology == topology:
        cache, naming, names = known.cache, known.naming, known.names
    else:
        cache, naming = {}, _naming(world, topology)
        names = known.names if known is not None and known.naming == naming else {}
    return Present(
        world.epoch, running, by_pod, by_node, wiring, pods, shapes, by_ip, topology, cache, naming, names
    )


def _services_by_ip(services: list[Manifest]) -> dict[str, Manifest]:
    found: dict[str, Manifest] = {}
    for service in services:
        spec = service["spec"]
        for ip in spec.get("clusterIPs") or (spec.get("clusterIP"),):
            if ip and ip != "None":
                found[ip] = service
        for ip in spec.get("externalIPs", ()):
            found.setdefault(ip, service)
        for ingress in service.get("status", {}).get("loadBalancer", {}).get("ingress", ()):
            if ingress.get("ip"):
                found.setdefault(ingress["ip"], service)
    return found


def _node_ports(services: list[Manifest]) -> dict[int, tuple[Manifest, Manifest]]:
    return {
        port["nodePort"]: (service, port)
        for service in services
        if service["spec"].get("type") in ("NodePort", "LoadBalancer")
        for port in service["spec"].get("ports", ())
        if port.get("nodePort")
    }


HostPort = tuple[str, int]
"""A pod's address and the port of its container."""


def _host_ports(pods: Objects) -> dict[tuple[str, int, str], HostPort]:
    """What the CNI's port mapping forwards: (node, port, protocol) to a pod that has claimed it."""
    found: dict[tuple[str, int, str], HostPort] = {}
    for pod in pods:
        spec, status = pod["spec"], pod.get("status", {})
        address = status.get("podIP")
        if not address or spec.get("hostNetwork") or status.get("phase") in ("Succeeded", "Failed"):
            continue
        for container in spec["containers"]:
            for port in container.get("ports") or ():
                if port.get("hostPort"):
                    slot = (spec.get("nodeName", ""), port["hostPort"], port.get("protocol", "TCP"))
                    found[slot] = (address, port["containerPort"])
    return found


def host_port(world: SimWorld, node: str, port: int, protocol: str) -> HostPort | None:
    """Where a node forwards a port that a pod there has claimed with ``hostPort``, or None."""
    view = present(world)
    table = view.cache.get("host ports")
    if table is None:
        table = view.cache["host ports"] = _host_ports(view.pods)
    return table.get((node, port, protocol))


def _pods_by_ip(pods: Objects) -> dict[str, Key]:
    found: dict[str, Key] = {}
    for pod in pods:
        status = pod.get("status", {})
        ip = status.get("podIP")
        # A pod on the machine's network has the machine's address, which leads to the machine.
        if ip and not pod["spec"].get("hostNetwork") and status.get("phase") not in ("Succeeded", "Failed"):
            found[ip] = (pod["metadata"].get("namespace", ""), pod["metadata"]["name"])
    return found


def _nodes_by_ip(nodes: list[Manifest]) -> dict[str, str]:
    return {
        address["address"]: node["metadata"]["name"]
        for node in nodes
        for address in node.get("status", {}).get("addresses", ())
        if address.get("type") in ("InternalIP", "ExternalIP")
    }


def _slices_by_service(slices: list[Manifest]) -> dict[tuple[str, str], list[Manifest]]:
    found: dict[tuple[str, str], list[Manifest]] = {}
    for piece in slices:
        metadata = piece["metadata"]
        name = metadata.get("labels", {}).get(_SERVICE_LABEL)
        if name:
            found.setdefault((metadata.get("namespace", ""), name), []).append(piece)
    return found


def _headless_of(services: list[Manifest]) -> frozenset[Key]:
    """Keys of the Services whose names lead straight to their pods."""
    return frozenset(
        (service["metadata"]["namespace"], service["metadata"]["name"])
        for service in services
        if service["spec"].get("clusterIP") == "None"
    )


_headless = DerivedFrom(_headless_of)
_by_cluster_ip = DerivedFrom(_services_by_ip)
_by_node_port = DerivedFrom(_node_ports)
_by_node_ip = DerivedFrom(_nodes_by_ip)
_by_service = DerivedFrom(_slices_by_service)


def service_at(world: SimWorld, ip: str) -> Manifest | None:
    """The Service that has this ClusterIP, external IP or load balancer IP."""
    return _by_cluster_ip(world.store.list("services")).get(ip)


def node_port(world: SimWorld, port: int) -> tuple[Manifest, Manifest] | None:
    """The Service and its port entry behind a node port."""
    return _by_node_port(world.store.list("services")).get(port)


def pod_at(world: SimWorld, ip: str) -> Manifest | None:
    """The pod that has this address now."""
    key = present(world).by_ip.get(ip)
    return None if key is None else world.store.get("pods", *key)


def node_at(world: SimWorld, ip: str) -> str | None:
    """Name of the node that has this address."""
    return _by_node_ip(world.store.list("nodes")).get(ip)


def node_address(world: SimWorld, node: str) -> str:
    """The internal address of a node, or an empty string."""
    for ip, name in _by_node_ip(world.store.list("nodes")).items():
        if name == node:
            return ip
    return ""


def pod_of(world: SimWorld, process: Process) -> Manifest | None:
    """The pod object a process belongs to, if it is still there."""
    pod = world.store.get("pods", process.namespace, process.pod)
    return pod if pod is not None and pod["metadata"].get("uid") == process.key[0] else None


def pod_processes(world: SimWorld, uid: str) -> list[Process]:
    """Running processes of a pod."""
    return present(world).by_pod.get(uid, [])


def source_key(source: Source) -> ProcessKey:
    """What identifies a client in caches."""
    if isinstance(source, Process):
        return source.key
    return ("workstation" if source.cluster_dns else "", source.node)


def source_ip(world: SimWorld, source: Source) -> str:
    """The address a client's packets carry."""
    return source.ip if isinstance(source, Process) else node_address(world, source.node)


def endpoints(world: SimWorld, namespace: str, service: str, port: Manifest | None = None) -> list[Endpoint]:
    """Everything behind a Service: all addresses, or those that have the given Service port.

    EndpointSlices are read; a Service without any (one without a selector whose Endpoints are kept by hand)
    is read from its Endpoints.
    """
    slices = _by_service(world.store.list(SLICES)).get((namespace, service))
    if slices:
        name = None if port is None else port.get("name", "")
        return [endpoint for piece in slices for endpoint in _by_port(piece).get(name, ())]
    manual = world.store.get("endpoints", namespace, service)
    return [] if manual is None else _manual_endpoints(manual, port)


def _ports_of(piece: Manifest) -> dict[str | None, list[Endpoint]]:
    """The endpoints of a slice by the name of the Service port; under None those without a port."""
    found: dict[str | None, list[Endpoint]] = {None: _slice_endpoints(piece, 0)}
    for port in piece.get("ports") or ():
        name = port.get("name") or ""
        if name not in found and port.get("port") is not None:
            found[name] = _slice_endpoints(piece, int(port["port"]))
    return found


_by_port = DerivedFromEach(_ports_of)


def _slice_endpoints(piece: Manifest, port: int) -> list[Endpoint]:
    found = []
    for entry in piece.get("endpoints") or ():
        conditions = entry.get("conditions") or {}
        # The API asks consumers to take an unknown condition for true.
        ready = conditions.get("ready") is not False
        target = entry.get("targetRef") or {}
        for ip in entry.get("addresses") or ():
            found.append(
                Endpoint(
                    ip=ip,
                    port=port,
                    node=entry.get("nodeName", ""),
                    pod=target.get("name", ""),
                    ready=ready,
                    serving=conditions.get("serving", ready) is not False,
                    terminating=bool(conditions.get("terminating")),
                    hostname=entry.get("hostname", ""),
                )
            )
    return found


def _manual_endpoints(manual: Manifest, port: Manifest | None) -> list[Endpoint]:
    found = []
    for subset in manual.get("subsets") or ():
        number = 0
        if port is not None:
            name = port.get("name", "")
            numbers = [p["port"] for p in subset.get("ports", ()) if p.get("name", "") == name]
            if not numbers:
                continue
            number = numbers[0]
        for entry in subset.get("addresses") or ():
            target = entry.get("targetRef") or {}
            found.append(
                Endpoint(
                    ip=entry["ip"],
                    port=number,
                    node=entry.get("nodeName", ""),
                    pod=target.get("name", ""),
                    ready=True,
                    serving=True,
                    terminating=False,
                    hostname=entry.get("hostname", ""),
                )
            )
    return found


def usable(found: list[Endpoint]) -> list[Endpoint]:
    """Endpoints that kube-proxy sends traffic to: the ready ones, else terminating ones that still serve."""
    ready = [endpoint for endpoint in found if endpoint.ready]
    return ready or [endpoint for endpoint in found if endpoint.serving and endpoint.terminating]


def reachable_machine(world: SimWorld, node: str) -> bool:
    """Whether a machine's network works.

    A machine that is off (``world.memory["node.off:<name>"]``) reaches nobody. One whose kubelet alone is
    stopped (``node.down:<name>``) still serves from its pods.
    """
    return not world.memory.get(f"node.off:{node}")
