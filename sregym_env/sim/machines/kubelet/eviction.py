"""Node-pressure eviction: what a kubelet does when its node runs out of memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sregym_env.kube import conditions
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.quantity import bytes_, format_bytes
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import MINUTE, SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.containers.resources import allocatable, pod_requests
from sregym_env.sim.machines.kubelet.state import PodRecord
from sregym_env.sim.world import SimWorld

THRESHOLD = 100 * 2**20
"""Hard eviction threshold ``memory.available<100Mi``, bytes."""
TRANSITION = 5 * MINUTE
"""How long pressure must have been over before the condition says so."""
MONITOR = 10 * SECOND


def look(world: SimWorld) -> None:
    """Evict one pod from every node whose memory is short, and keep the pressure conditions."""
    used: dict[str, int] = {}
    for process in world.processes.values():
        used[process.node] = used.get(process.node, 0) + process.memory
    again = False
    for node in world.store.list("nodes"):
        name = node["metadata"]["name"]
        slot = f"node.pressure:{name}"
        free = allocatable(node).get("memory", 0) - used.get(name, 0)
        if free < THRESHOLD and f"node.down:{name}" not in world.memory:
            world.memory[slot] = world.clock
            _set_pressure(world, node, True)
            # One pod at a time: its end may be enough (the eviction manager kills at most one an interval).
            _evict(world, node, free)
            again = True
        elif slot in world.memory:
            again = True
            if world.clock - world.memory[slot] >= TRANSITION:
                del world.memory[slot]
                _set_pressure(world, node, False)
    _check_empty_dirs(world)
    if again:
        world.after(MONITOR, "kubelet.look")


def _check_empty_dirs(world: SimWorld) -> None:
    """Evict pods that have written more than an emptyDir's ``sizeLimit`` or a limit of ephemeral storage."""
    written: dict[str, None] = {}
    for slot in [slot for slot in world.volumes if slot.startswith(_LOCAL)]:
        kind, uid, name = slot.split("/", 2)
        record = world.runtime.get(uid)
        if not isinstance(record, PodRecord) or record.failed is not None:
            continue
        written[uid] = None
        pod = world.store.get("pods", record.namespace, record.name)
        for volume in () if pod is None or kind != "emptydir" else pod["spec"].get("volumes", ()):
            limit = (volume.get("emptyDir") or {}).get("sizeLimit") if volume["name"] == name else None
            if pod is not None and limit is not None and _size(world.volumes[slot]) > bytes_(limit):
                _fail(world, pod, record, f'Usage of EmptyDir volume "{name}" exceeds the limit "{limit}". ')
    for uid in written:
        _check_ephemeral_storage(world, uid)


_LOCAL = ("emptydir/", "overlay/")
"""Where volumes keep what a pod has written to its node's disk."""


def _check_ephemeral_storage(world: SimWorld, uid: str) -> None:
    """The limits on ``ephemeral-storage``: each container's writable layer, and everything of the pod together."""
    record = world.runtime[uid]
    pod = world.store.get("pods", record.namespace, record.name)
    if pod is None or record.failed is not None:
        return
    total, complete = 0, True
    for container in pod["spec"]["containers"]:
        text = ((container.get("resources") or {}).get("limits") or {}).get("ephemeral-storage")
        complete = complete and text is not None
        total += 0 if text is None else bytes_(text)
        if text is not None and _layer(world, uid, container["name"]) > bytes_(text):
            name = container["name"]
            _fail(
                world, pod, record, f'Container {name} exceeded its local ephemeral storage limit "{text}". '
            )
            return
    if not complete:
        return
    used = sum(_layer(world, uid, container["name"]) for container in pod["spec"]["containers"])
    on_disk = [v["name"] for v in pod["spec"].get("volumes") or () if _is_on_disk(v)]
    used += sum(_size(world.volumes.get(f"emptydir/{uid}/{name}", "")) for name in on_disk)
    if used > total:
        text = (
            f"Pod ephemeral local storage usage exceeds the total limit of containers {format_bytes(total)}. "
        )
        _fail(world, pod, record, text)


def _layer(world: SimWorld, uid: str, container: str) -> int:
    """Bytes that a container has written outside its volumes since it was last started."""
    process = world.processes.get((uid, container))
    return (
        0 if process is None else _size(world.volumes.get(f"overlay/{uid}/{container}/{process.restart}", ""))
    )


def _is_on_disk(volume: Manifest) -> bool:
    source = volume.get("emptyDir")
    return source is not None and source.get("medium", "") != "Memory"


def _size(content: Any) -> int:
    """Bytes of a volume's content: files by name, or a text."""
    if isinstance(content, Mapping):
        return sum(_size(part) for part in content.values())
    return len(content.encode()) if isinstance(content, str) else 0


def _fail(world: SimWorld, pod: Manifest, record: PodRecord, message: str) -> None:
    events.record(world, pod, "Warning", "Evicted", message, component="kubelet", host=record.node)
    world.runtime[record.uid] = replace(record, failed=("Evicted", message))
    world.wake("kubelet", (record.namespace, record.name), 0)


def _evict(world: SimWorld, node: Manifest, free: int) -> None:
    """Fail the pod that exceeds its memory request the most, lowest priority first."""
    name = node["metadata"]["name"]
    ranked = []
    for record in world.runtime.values():
        if not isinstance(record, PodRecord) or record.node != name or record.failed is not None:
            continue
        pod = world.store.get("pods", record.namespace, record.name)
        if pod is None or pod["metadata"].get("annotations", {}).get("kubernetes.io/config.mirror"):
            continue
        usage = sum(_resident(world, record.uid, c["name"]) for c in pod["spec"]["containers"])
        if usage == 0:
            continue
        over = usage - pod_requests(pod).memory
        ranked.append(
            (over <= 0, pod["spec"].get("priority", 0), -over, record.namespace, record.name, record, pod)
        )
    if not ranked:
        return
    # Names break ties; records and pods cannot be compared.
    *_, record, pod = min(ranked, key=lambda entry: entry[:5])
    message = (
        f"The node was low on resource: memory. Threshold quantity: {format_bytes(THRESHOLD)}, "
        f"available: {max(free, 0) // 1024}Ki. {_consumption(world, record, pod)}"
    )
    _note_disruption(world, pod, message)
    _fail(world, pod, record, message)


def _note_disruption(world: SimWorld, pod: Manifest, message: str) -> None:
    """The condition by which a Job's failure policy knows that the pod was not at fault."""
    metadata, status = pod["metadata"], pod.get("status") or {}
    verdict = ("DisruptionTarget", "True", "TerminationByKubelet", message)
    listed = conditions.put_in_place(status.get("conditions") or (), world.clock, *verdict)
    apiserver.update_status(
        world, "pods", metadata["namespace"], metadata["name"], {**status, "conditions": listed}
    )


def _consumption(world: SimWorld, record: PodRecord, pod: Manifest) -> str:
    out = []
    for container in pod["spec"]["containers"]:
        usage = _resident(world, record.uid, container["name"])
        request = ((container.get("resources") or {}).get("requests") or {}).get("memory", "0")
        out.append(
            f"Container {container['name']} was using {usage // 1024}Ki, request is {request}, "
            "has larger consumption of memory. "
        )
    return "".join(out)


def _resident(world: SimWorld, uid: str, container: str) -> int:
    process = world.processes.get((uid, container))
    return 0 if process is None else process.memory


def _set_pressure(world: SimWorld, node: Manifest, pressed: bool) -> None:
    old = node.get("status") or {}
    wanted = "True" if pressed else "False"
    made: list[dict[str, Any]] = []
    changed = False
    for condition in old.get("conditions", ()):
        if condition["type"] == "MemoryPressure" and condition["status"] != wanted:
            changed = True
            condition = {
                **condition,
                "status": wanted,
                "lastTransitionTime": rfc3339(world.clock),
                "reason": "KubeletHasInsufficientMemory" if pressed else "KubeletHasSufficientMemory",
                "message": f"kubelet has {'in' if pressed else ''}sufficient memory available",
            }
        made.append(condition)
    if not changed:
        return
    name = node["metadata"]["name"]
    reason = "NodeHasInsufficientMemory" if pressed else "NodeHasSufficientMemory"
    if pressed:
        text = "Attempting to reclaim memory"
        events.record(
            world, node, "Warning", "EvictionThresholdMet", text, component="kubelet", host=name, uid=name
        )
    events.record(
        world,
        node,
        "Normal",
        reason,
        f"Node {name} status is now: {reason}",
        component="kubelet",
        host=name,
        uid=name,
    )
    apiserver.update_status(world, "nodes", "", name, {**old, "conditions": made})
