"""The machines: nodes as the cluster's plan has them, and what their kubelets report of them.

Heartbeats are not events: :func:`present` fills in, when somebody looks, the times at which a living
kubelet would last have reported.
"""

from __future__ import annotations

from typing import Any

from sregym_env.kube.durations import parse_rfc3339, rfc3339, rfc3339_micro
from sregym_env.kube.types import Manifest
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.containers import images, stock
from sregym_env.sim.machines import heartbeats, leaders, renewals
from sregym_env.sim.machines.kubelet import wake_node
from sregym_env.sim.programs.machine import kubelet_unit
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.plan import PUBLISHED, Machine

PAUSE = "registry.k8s.io/pause:3.10"
"""The image of every pod's sandbox, on each node since it was made."""
PAUSE_SIZE = 320_368
LISTED_IMAGES = 50
"""How many images a node's status names (``nodeStatusMaxImages``)."""
LEASE_SECONDS = 40
"""How long a node's Lease holds (``nodeLeaseDurationSeconds``)."""
LEADERS = ("kube-controller-manager", "kube-scheduler")
"""Components of the control plane that elect a leader through a Lease of their name in ``kube-system``."""


VERSION = PUBLISHED.version
CONTROL_PLANE = PUBLISHED.first
MACHINES = PUBLISHED.machines
"""What the published cluster is made of."""

_READY: tuple[tuple[str, str, str, str], ...] = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)
_HEALTHY = ("NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID")
"""What a kubelet that starts says of its node's conditions (``nodestatus/setters.go``)."""


def create(world: SimWorld, machine: Machine) -> Manifest:
    """Let a machine join the cluster: its Node with a ready status, its Lease and its CSINode."""
    node = apiserver.create(world, "nodes", _manifest(machine))
    apiserver.update_status(world, "nodes", "", machine.name, _status(world, machine))
    now = rfc3339_micro(world.now())
    owner = {"apiVersion": "v1", "kind": "Node", "name": machine.name, "uid": node["metadata"]["uid"]}
    apiserver.create(
        world,
        renewals.LEASES,
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": machine.name, "namespace": "kube-node-lease", "ownerReferences": [owner]},
            "spec": {
                "holderIdentity": machine.name,
                "leaseDurationSeconds": LEASE_SECONDS,
                "renewTime": now,
            },
        },
    )
    apiserver.create(
        world,
        "csinodes.storage.k8s.io",
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSINode",
            "metadata": {"name": machine.name, "ownerReferences": [owner]},
            "spec": {"drivers": []},
        },
    )
    return node


def _manifest(machine: Machine) -> Manifest:
    labels = {
        "beta.kubernetes.io/arch": machine.architecture,
        "beta.kubernetes.io/os": "linux",
        **dict(machine.labels),
        "kubernetes.io/arch": machine.architecture,
        "kubernetes.io/hostname": machine.name,
        "kubernetes.io/os": "linux",
    }
    spec: dict[str, Any] = {"podCIDR": machine.pod_cidr, "podCIDRs": [machine.pod_cidr]}
    taints = [_taint(*taint) for taint in machine.taints]
    if machine.control_plane:
        labels["node-role.kubernetes.io/control-plane"] = ""
        labels["node.kubernetes.io/exclude-from-external-load-balancers"] = ""
        taints.insert(0, _taint("node-role.kubernetes.io/control-plane", "", "NoSchedule"))
    if machine.provider_id:
        spec["providerID"] = machine.provider_id
    if taints:
        spec["taints"] = taints
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": machine.name,
            "labels": labels,
            "annotations": {
                **dict(machine.annotations),
                "kubeadm.alpha.kubernetes.io/cri-socket": "unix:///run/containerd/containerd.sock",
                "node.alpha.kubernetes.io/ttl": "0",
                "volumes.kubernetes.io/controller-managed-attach-detach": "true",
            },
        },
        "spec": spec,
    }


def _taint(key: str, value: str, effect: str) -> dict[str, str]:
    return {"effect": effect, "key": key, **({"value": value} if value else {})}


def _status(world: SimWorld, machine: Machine) -> dict[str, Any]:
    now = rfc3339(world.now())
    plan = world.plan
    addresses = [{"type": "InternalIP", "address": machine.address}]
    if machine.external:
        addresses.append({"type": "ExternalIP", "address": machine.external})
    addresses.append({"type": "Hostname", "address": machine.name})
    return {
        "addresses": addresses,
        "allocatable": dict(machine.allocatable or machine.capacity),
        "capacity": dict(machine.capacity),
        "conditions": [
            {
                "type": type,
                "status": status,
                "lastHeartbeatTime": now,
                "lastTransitionTime": now,
                "reason": reason,
                "message": message,
            }
            for type, status, reason, message in _READY
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "architecture": machine.architecture,
            "bootID": kubelet_unit.new_boot_id(world, machine.name),
            "containerRuntimeVersion": machine.runtime,
            "kernelVersion": machine.kernel,
            "kubeProxyVersion": machine.kubelet,
            "kubeletVersion": machine.kubelet,
            "machineID": plan.identity("machine", machine.name).replace("-", ""),
            "operatingSystem": "linux",
            "osImage": machine.os_image,
            "systemUUID": plan.identity("system", machine.name),
        },
    }


# --- what a reader sees -----------------------------------------------------------------------------


def present(world: SimWorld, obj: Manifest) -> Manifest:
    """A Node or node Lease as a client sees it now: with the heartbeats of a kubelet that lives.

    Other objects are returned as they are. A kubelet that is down (``node.down:<name>`` in the world's
    memory, since an instant) has not reported after that. Where the cluster's counter runs by itself, heartbeats
    have revisions, too.
    """
    kind = obj.get("kind")
    if kind == "Node":
        return _present_node(world, obj)
    if kind == "Lease":
        return _present_lease(world, obj)
    return obj


def last_report(world: SimWorld, name: str, period: int) -> int:
    """When the kubelet of a node last reported something that it reports every ``period`` microseconds."""
    # Machines do not report all at once; keyed by name, because looking must draw no chance.
    offset = keyed_bits("heartbeat", name) % period
    return (_until(world, name) - offset) // period * period + offset


def _until(world: SimWorld, machine: str) -> int:
    """The present, or since when a machine is silent."""
    down = world.memory.get(f"node.down:{machine}")
    return world.now() if not isinstance(down, int) or isinstance(down, bool) else min(down, world.now())


def _with_revision(obj: Manifest, revision: int) -> Manifest:
    """The object at a revision, unless something newer has been written to it."""
    metadata = obj["metadata"]
    if int(metadata["resourceVersion"]) >= revision:
        return obj
    return {**obj, "metadata": {**metadata, "resourceVersion": str(revision)}}


def _present_node(world: SimWorld, node: Manifest) -> Manifest:
    status = node.get("status") or {}
    name = node["metadata"]["name"]
    pace = world.store.pace
    if pace is None:
        heartbeat = last_report(world, name, renewals.STATUS_PERIOD)
    else:
        renewed = renewals.last(world, pace, node, _until(world, name))
        heartbeat = 0 if renewed is None else renewed.time
        if renewed is not None:
            node = _with_revision(node, renewed.revision)
    conditions = []
    for condition in status.get("conditions", ()):
        # A change is posted at once, whenever the next report is due; that nothing is known of it any more nobody has posted.
        unknown = condition.get("reason") == "NodeStatusUnknown"
        posted = condition.get("lastHeartbeatTime") if unknown else condition["lastTransitionTime"]
        told = max(heartbeat, parse_rfc3339(posted) if posted else 0)
        conditions.append({**condition, "lastHeartbeatTime": rfc3339(told)})
    return {**node, "status": {**status, "conditions": conditions, "images": _images(world, name)}}


def _images(world: SimWorld, node: str) -> list[dict[str, Any]]:
    """What a kubelet lists: the largest images first, at most 50, each by its digests and then its tags."""
    tags: dict[str, list[str]] = {images.image_id(PAUSE): [PAUSE]}
    sizes = {images.image_id(PAUSE): PAUSE_SIZE}
    for reference in stock.present(world, node):
        image = images.find(world.images, reference)
        if image is None:
            continue
        digest = images.image_id(reference)
        sizes.setdefault(digest, images.exact_size(image, reference))
        known = tags.setdefault(digest, [])
        if "@" not in reference:
            known.append(reference)
    largest = sorted(sizes, key=lambda digest: (-sizes[digest], digest))[:LISTED_IMAGES]
    return [{"names": [digest, *tags[digest]], "sizeBytes": sizes[digest]} for digest in largest]


def _present_lease(world: SimWorld, lease: Manifest) -> Manifest:
    metadata = lease["metadata"]
    name, namespace = metadata["name"], metadata.get("namespace")
    pace = world.store.pace
    if pace is None:
        first = world.plan.first.name
        if namespace == renewals.NODE_LEASES:
            renewed = last_report(world, name, renewals.LEASE_PERIOD)
        elif namespace != "kube-system":
            return lease
        elif name in LEADERS:
            renewed = last_report(world, first, renewals.LEADER_PERIOD)
        elif renewals.SERVER_LABEL in (metadata.get("labels") or {}):
            renewed = last_report(world, first, renewals.LEASE_PERIOD)
        else:
            return lease
        return {**lease, "spec": {**lease["spec"], "renewTime": rfc3339_micro(renewed)}}
    until = _held_until(world, lease)
    found = None if until is None else renewals.last(world, pace, lease, until)
    if found is None:
        return lease
    spec = lease["spec"]
    # Who has won a Lease since has written that.
    if parse_rfc3339(spec.get("renewTime") or rfc3339_micro(0)) >= found.time:
        return lease
    return _with_revision({**lease, "spec": {**spec, "renewTime": rfc3339_micro(found.time)}}, found.revision)


def _held_until(world: SimWorld, lease: Manifest) -> int | None:
    """Until when the holder of a Lease renews it; None if nobody does."""
    metadata = lease["metadata"]
    name, namespace = metadata["name"], metadata.get("namespace")
    if namespace == renewals.NODE_LEASES:
        return _until(world, name)
    if renewals.SERVER_LABEL in (metadata.get("labels") or {}):
        return _until(world, metadata["labels"].get("kubernetes.io/hostname", ""))
    held = world.memory.get(f"{leaders.HELD}{namespace}/{name}")
    return world.now() if held is not None and leaders.is_running(world, held) else None


# --- kubelets that stop and start -------------------------------------------------------------------


def stop(world: SimWorld, name: str) -> None:
    """The node's kubelet stops reporting and acting; the node controller will notice in its own time."""
    if f"node.down:{name}" not in world.memory:
        heartbeats.fall_silent(world, name)
        world.touch()


def start(world: SimWorld, name: str) -> None:
    """The node's kubelet is back: it reports Ready and looks at all its pods."""
    if f"node.down:{name}" not in world.memory:
        return
    heartbeats.come_back(world, name)
    node = world.store.get("nodes", "", name)
    machine = world.plan.machine(name)
    if node is not None:
        _report_ready(world, node)
    elif machine is not None:
        # A kubelet whose Node somebody has deleted registers it anew, with the boot that it finds.
        world.memory.pop(f"{kubelet_unit.UNTOLD}{name}", None)
        create(world, machine)
    world.touch()
    wake_node(world, name)


def _report_ready(world: SimWorld, node: Manifest) -> None:
    name = node["metadata"]["name"]
    status = node.get("status") or {}
    info = status.get("nodeInfo") or {}
    rebooted = world.memory.pop(f"{kubelet_unit.UNTOLD}{name}", False)
    booted = kubelet_unit.new_boot_id(world, name) if rebooted else info.get("bootID")
    known = {condition["type"]: condition for condition in status.get("conditions", ())}
    now = rfc3339(world.now())
    conditions = []
    for type, value, reason, message in _READY:
        before = known.get(type, {})
        same = before.get("status") == value
        # A kubelet that starts is not ready until its runtime and network are.
        if rebooted and type == "Ready":
            same = False
        since = before["lastTransitionTime"] if same else now
        conditions.append(
            {
                "type": type,
                "status": value,
                "lastHeartbeatTime": now,
                "lastTransitionTime": since,
                "reason": reason,
                "message": message,
            }
        )
    changed = {**status, "conditions": conditions, "nodeInfo": {**info, "bootID": booted}}
    apiserver.update_status(world, "nodes", "", name, changed)
    said = [("Normal", "Starting", "Starting kubelet.")]
    if rebooted:
        for reason in _HEALTHY:
            said.append(("Normal", reason, f"Node {name} status is now: {reason}"))
        said.append(("Warning", "Rebooted", f"Node {name} has been rebooted, boot id: {booted}"))
    said.append(("Normal", "NodeReady", f"Node {name} status is now: NodeReady"))
    for level, reason, text in said:
        events.record(world, node, level, reason, text, component="kubelet", host=name, uid=name)
