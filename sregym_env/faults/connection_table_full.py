"""A machine whose kernel remembers no further connection, because somebody else's clients have filled its table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import AwaitRollout, Create, JsonPatch, ObjectRef, RecreatePods
from sregym_env.cluster.targets import ROLLED, ComponentTarget, components
from sregym_env.errors import ClusterError
from sregym_env.faults.choices import elsewhere, one_of, two_of
from sregym_env.faults.commands import put, revive, scale
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.numbers import whole
from sregym_env.sim.network.conntrack import USUAL

PORT = 1883
PLACES = ("telemetry", "iot-staging", "edge-lab", "metering", "fleet-qa", "devices", "load-lab", "smart-grid")
"""Namespaces of a team that talks to devices."""
BROKERS = ("device-gateway", "mqtt-gateway", "edge-gateway", "ingest-broker", "rpc-gateway", "uplink")
CLIENTS = (
    "edge-traffic-client",
    "meter-fleet",
    "sensor-soak",
    "fleet-sim",
    "device-replay",
    "vehicle-fleet",
    "beacon-load",
    "tracker-fleet",
)
WIDE = "1024 65535"
"""Local ports that who means to open many connections gives his pods."""
SHARE = 0.7
"""Of a table: what is more is too full."""
LOOK, PATIENCE = 60.0, 60
"""Seconds between two looks at a table that still fills, and how many there are: an hour."""
FORGOTTEN = "sleep 130"
"""Until the kernel has forgotten what was closed."""
SLACK = 50
"""Entries by which a table that does not fill may grow from one look to the next."""


@dataclass(frozen=True, slots=True)
class _Stops:
    """Whether no machine's table fills: not now, and not by what is still being opened."""

    def __call__(self, world: World) -> Finding:
        expected = f"no machine's table of connections is more than {SHARE:.0%} full, or will be"
        before: Mapping[str, int] = {}
        for _ in range(PATIENCE):
            counts, most = _tables(world)
            over = [node for node, count in counts.items() if count > SHARE * most[node]]
            growing = [node for node, count in counts.items() if count > before.get(node, 0) + SLACK]
            if before and (over or not growing):
                break
            before = counts
            # Entries of what was closed are kept for two minutes.
            world.advance(LOOK * (3 if over else 1))
        wrong = dict.fromkeys((*over, *growing))
        told = ", ".join(f"{node}: {counts[node]} of {most[node]}" for node in wrong)
        return Finding("connections", not wrong, told or "none fills", expected)


def _tables(world: World) -> tuple[dict[str, int], dict[str, int]]:
    """(entries, how many there may be) by machine, of those that answer."""
    counts, most = {}, {}
    for node in world.cluster.list("nodes"):
        name = node["metadata"]["name"]
        try:
            said = world.nodes.run(
                name, "sysctl -n net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max"
            )
        except ClusterError:
            continue
        numbers = said.stdout.split()
        if len(numbers) == 2:
            counts[name], most[name] = (whole(each, 0) for each in numbers)
    return counts, most


@dataclass(frozen=True, slots=True)
class _Serves:
    """Whether the other team's broker serves on, and the clients that hold few connections."""

    workloads: tuple[ObjectRef, ...]

    def __call__(self, world: World) -> Finding:
        gone = []
        for each in self.workloads:
            try:
                status = world.cluster.get(each.resource, each.name, each.namespace).get("status") or {}
            except StatusError:
                status = {}
            if not status.get("readyReplicas"):
                gone.append(each.name)
        expected = f"{', '.join(each.name for each in self.workloads)} run"
        return Finding(
            "others' service", not gone, ", ".join(gone) + " does not" if gone else "they run", expected
        )


def _node(target: ComponentTarget) -> str:
    """The machine on which most of its pods stand."""
    workload = target.workload
    namespace, name = workload.namespace, workload.name
    found: dict[str, int] = {}
    for pod in target.inventory.pods:
        owners = [each["name"] for each in pod["metadata"].get("ownerReferences") or ()]
        node = pod["spec"].get("nodeName", "")
        if (
            node
            and pod["metadata"]["namespace"] == namespace
            and any(name in (owner, owner.rpartition("-")[0]) for owner in owners)
        ):
            found[node] = found.get(node, 0) + 1
    return max(sorted(found), key=lambda node: found[node], default="")


def _callers(target: ComponentTarget) -> tuple[str, ...]:
    """Components that connect to it when they start, or when they are asked for the first time. Users are none of them: what they meet is
    what is measured."""
    app = target.app
    found = [*app.dependents(target.name, "start"), *app.dependents(target.name, "request")]
    names = [each.name for each in found if each.kind != "load" and each.workload in ROLLED]
    return tuple(name for name in dict.fromkeys(names) if name in app.critical)


@fault(
    layer="node",
    mechanism="connection_table_full",
    targets=components(where=lambda target: bool(_callers(target)) and bool(_node(target))),
    level="hard",
)
def connection_table_full(
    target: ComponentTarget,
    place: str = drawn(elsewhere(PLACES), published="telemetry"),
    broker: str = drawn(one_of(*BROKERS), published="rpc-gateway"),
    clients: tuple[str, str] = drawn(
        two_of("clients", CLIENTS), published=("edge-traffic-client", "meter-fleet")
    ),
    replicas: int = drawn(one_of(5, 6, 7), published=5),
    brokers: int = drawn(one_of(3, 4), published=4),
    count: int = drawn(one_of(300_000, 400_000, 500_000, 600_000, 1_000_000), published=500_000),
    right: int = drawn(one_of(50, 100, 200, 300, 500), published=200),
    every: int = drawn(one_of(8, 10, 12, 15, 20), published=10),
) -> Fault:
    """Clients of another team, on the machine of a component, open connections without end until its kernel's table is full.

    What stands goes on; whoever has to connect anew through that machine waits in vain: callers that restart, probes, look-ups of
    names. Nodes are Ready and pods are well; the kernel says ``nf_conntrack: table full, dropping packet``. Beside them stands a
    client of the same kind that holds few connections, and both need the broker.
    """
    node = _node(target)
    greedy, modest = (ObjectRef("deployments.apps", name, place) for name in clients)
    server = ObjectRef("statefulsets.apps", broker, place)
    hosts = ",".join(f"{broker}-{index}.{broker}" for index in range(brokers))
    argument = "/spec/template/spec/containers/0/args/4"
    rate = replicas * 1000.0 / every
    return Fault(
        resource=greedy,
        cause=f"The pods of Deployment {greedy.name} in namespace {place}, all on node {node}, open connections to {broker} without end "
        f"(emqtt_bench -c {count}, {right} before) and have filled that node's connection tracking table: nf_conntrack: table full, "
        f"dropping packet, so new connections to and from {target.name} and the other pods there time out.",
        earlier=[
            Create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}}),
            *map(Create, _broker(server, brokers, node)),
            AwaitRollout(server),
            Create(_bench(greedy, hosts, replicas, right, every, node)),
            Create(_bench(modest, hosts, 1, right, every, node)),
            AwaitRollout(greedy),
            AwaitRollout(modest),
        ],
        edits=[JsonPatch(greedy, argument, str(count))],
        trigger=[RecreatePods(caller) for caller in _callers(target)],
        spared=[target.name],
        matures=float(round(USUAL / rate + 60.0)),
        grows=True,
        details={"field": "-c", "wrong": str(count), "right": str(right)},
        facts={"node": node, "broker": broker, "client": greedy.name, "elsewhere": place},
        remedies=[
            [put(greedy, argument, str(right)), FORGOTTEN, *revive(target)],
            [scale(greedy, 0), FORGOTTEN, *revive(target)],
            [f"kubectl delete deployment {greedy.name} -n {place}", FORGOTTEN, *revive(target)],
        ],
        look=[
            f"kubectl get pods -A -o wide --field-selector spec.nodeName={node}",
            f"ssh {node} 'dmesg | tail -n 5; sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max'",
            f"ssh {node} 'conntrack -L 2>/dev/null | grep -o \"src=[0-9.]*\" | sort | uniq -c | sort -rn | head -n 8'",
            f"kubectl get deployment {greedy.name} -n {place} -o yaml",
        ],
        accepts=[greedy],
        aliases=[node, greedy.name, place, "conntrack", "nf_conntrack"],
        cured=[_Stops(), _Serves((server, modest))],
    )  # fmt: skip


def _broker(server: ObjectRef, brokers: int, node: str) -> list[Manifest]:
    labels = {"app": server.name}
    metadata = {"name": server.name, "namespace": server.namespace, "labels": labels}
    text = f"listener {PORT}\nallow_anonymous true\nconnection_messages false\n"
    container = {
        "name": "mosquitto",
        "image": "eclipse-mosquitto:2.0.20",
        "ports": [{"containerPort": PORT, "name": "mqtt"}],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
        "volumeMounts": [{"name": "config", "mountPath": "/mosquitto/config"}],
    }
    pod: dict[str, Any] = {
        **_stands(node),
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": server.name}}],
    }
    ports = [{"name": "mqtt", "port": PORT}]
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {
        "serviceName": server.name,
        "podManagementPolicy": "Parallel",
        "replicas": brokers,
        "selector": {"matchLabels": labels},
        "template": template,
    }
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"mosquitto.conf": text}},
        {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"clusterIP": "None", "selector": labels, "ports": ports}},
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": spec},
    ]  # fmt: skip


def _stands(node: str) -> dict[str, Any]:
    """On one machine, whoever else may come there."""
    return {"nodeSelector": {"kubernetes.io/hostname": node}, "tolerations": [{"operator": "Exists"}]}


def _bench(client: ObjectRef, hosts: str, replicas: int, count: int, every: int, node: str) -> Manifest:
    labels = {"app": client.name}
    container = {
        "name": "bench",
        "image": "emqx/emqtt-bench:0.4.25",
        "args": ["conn", "-h", hosts, "-c", str(count), "-i", str(every)],
        "resources": {"requests": {"cpu": "5m", "memory": "64Mi"}},
    }
    pod = {
        **_stands(node),
        "securityContext": {"sysctls": [{"name": "net.ipv4.ip_local_port_range", "value": WIDE}]},
        "containers": [container],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": client.name, "namespace": client.namespace, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
