"""Node-pressure eviction: what a kubelet does when its node runs out of memory, or has less of its disk or fewer processes free than it wants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sregym_env.kube import conditions
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.quantity import bytes_, format_bytes
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import MINUTE, SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.containers import pids, spooling
from sregym_env.sim.containers.resources import allocatable, pod_requests
from sregym_env.sim.machines.kubelet import disks, process_numbers
from sregym_env.sim.machines.kubelet.state import PodRecord
from sregym_env.sim.programs.machine import kubelet_unit
from sregym_env.sim.world import SimWorld

THRESHOLD = 100 * 2**20
"""Hard eviction threshold ``memory.available<100Mi``, bytes."""
TRANSITION = 5 * MINUTE
"""How long pressure must have been over before the condition says so."""
MONITOR = 10 * SECOND
COLLECT = 5 * MINUTE
"""How often a kubelet looks for images to remove (``ImageGCPeriod``)."""
CRITICAL = 2_000_000_000
"""The priority of what a cluster cannot do without (``SystemCriticalPriority``)."""


_AGAIN = "node.pressure.look"
"""``world.memory`` key of when kubelets look again while something is short."""


def look(world: SimWorld) -> None:
    """Evict one pod from every node that is short of memory, disk or processes, and keep the pressure conditions."""
    spooling.look(world)
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
            _set_pressure(world, node, _MEMORY, True)
            # One pod at a time: its end may be enough (the eviction manager kills at most one an interval).
            _evict(world, node, free)
            again = True
        elif slot in world.memory:
            again = True
            if world.clock - world.memory[slot] >= TRANSITION:
                del world.memory[slot]
                _set_pressure(world, node, _MEMORY, False)
        if disks.watched(world, name) and f"node.down:{name}" not in world.memory:
            again = _look_at_disk(world, name) or again
        counted = process_numbers.watched(world, name) or f"{SAID}{name}" in world.memory
        if counted and f"node.down:{name}" not in world.memory:
            again = _look_at_processes(world, name) or again
    _check_empty_dirs(world)
    if again:
        # Changes have it look in between: however often, it comes back once an interval.
        _look_at(world, _AGAIN, MONITOR)


def _look_at_disk(world: SimWorld, name: str) -> bool:
    """Keep the pressure of a disk, and evict one pod while it lasts; whether to look again."""
    node, slot = world.store.get("nodes", "", name), f"{kubelet_unit.PRESSED}{name}"
    short = None if node is None else disks.shortage(world, node)
    if node is None:
        return False
    _collect_images(world, node)
    if short is not None:
        world.memory[slot] = world.clock
        _set_pressure(world, node, _DISK, True)
        # Files may be removed at any time: whoever is pressed looks on.
        return _evict_from_disk(world, name, short) or bool(spooling.held(world, name))
    _look_when_short(world, node)
    if slot in world.memory and world.clock - world.memory[slot] < TRANSITION:
        return True
    world.memory.pop(slot, None)
    _set_pressure(world, node, _DISK, False)
    return False


def _look_when_short(world: SimWorld, node: Manifest) -> None:
    """Have a kubelet look at its disk when that will be short, as it fills now."""
    delay = disks.until_short(world, node)
    if delay is not None:
        _look_at(world, f"disk.watch:{node['metadata']['name']}", delay)


def _look_at(world: SimWorld, slot: str, delay: int) -> None:
    due, known = world.clock + max(delay, MONITOR), world.memory.get(slot)
    if known is None or known <= world.clock or due < known:
        world.memory[slot] = due
        world.after(due - world.clock, "kubelet.look")


def _look_at_processes(world: SimWorld, name: str) -> bool:
    """Keep the pressure of processes, and evict one pod while it lasts; whether to look again."""
    node, slot = world.store.get("nodes", "", name), f"{kubelet_unit.CROWDED}{name}"
    if node is None:
        return False
    short = process_numbers.shortage(world, name)
    if short is not None:
        world.memory[slot] = world.clock
        world.memory[f"{SAID}{name}"] = True
        _set_pressure(world, node, _PROCESSES, True)
        return _evict_for_processes(world, name, short)
    delay = process_numbers.until_short(world, name)
    if delay is not None:
        _look_at(world, f"pids.watch:{name}", delay)
    if f"{SAID}{name}" not in world.memory:
        return False
    if slot in world.memory and world.clock - world.memory[slot] < TRANSITION:
        return True
    world.memory.pop(slot, None)
    del world.memory[f"{SAID}{name}"]
    _set_pressure(world, node, _PROCESSES, False)
    return False


SAID = "pids.said:"
"""``world.memory`` key of a machine of which it was said that it has too few processes left."""


def _evict_for_processes(world: SimWorld, name: str, short: process_numbers.Shortage) -> bool:
    """Fail the pod with the most processes, lowest priority first; whether there was one.

    Processes that have ended are in no list of a control group: they count on the machine, and not here (``rankPIDPressure``).
    """
    ranked = []
    for record, pod in _evictable(world, name, "pid"):
        number = -_processes(world, record.uid)
        ranked.append((pod["spec"].get("priority", 0), number, record.namespace, record.name, record, pod))
    if not ranked:
        return False
    *_, record, pod = min(ranked, key=lambda entry: entry[:4])
    message = f"The node was low on resource: pids. Threshold quantity: {short.threshold}, available: {short.available}. "
    _note_disruption(world, pod, message)
    _fail(world, pod, record, message)
    return True


def _processes(world: SimWorld, uid: str) -> int:
    """The living processes of a pod."""
    total = 0
    for process in world.processes.values():
        if process.key[0] == uid:
            leak = pids.leak_of(world, process)
            total += 1 + (0 if leak is None or leak.dead else int(leak.at(world.clock)))
    return total


def _evict_from_disk(world: SimWorld, name: str, short: disks.Shortage) -> bool:
    """Fail the pod that uses most of the disk, first those that use more than they asked for, lowest priority first; whether there
    was one.

    Pods that tolerate a short disk, as those of DaemonSets, stay: they would only come back.
    """
    ranked = []
    for record, pod in _evictable(world, name, "disk"):
        used = _on_disk(world, pod)
        ranked.append(
            (
                used <= _asked(pod),
                pod["spec"].get("priority", 0),
                -used,
                record.namespace,
                record.name,
                record,
                pod,
                used,
            )
        )
    if not ranked:
        return False
    *_, record, pod, used = min(ranked, key=lambda entry: entry[:5])
    container = pod["spec"]["containers"][0]
    request = ((container.get("resources") or {}).get("requests") or {}).get("ephemeral-storage", "0")
    message = (
        f"The node was low on resource: ephemeral-storage. Threshold quantity: {format_bytes(short.threshold)}, "
        f"available: {short.available // 1024}Ki. Container {container['name']} was using {used // 1024}Ki, request is {request}, "
        "has larger consumption of ephemeral-storage. "
    )
    _note_disruption(world, pod, message)
    _fail(world, pod, record, message)
    return True


def _asked(pod: Manifest) -> int:
    """Bytes of a disk that a pod's containers ask for."""
    total = 0
    for container in pod["spec"]["containers"]:
        requests = (container.get("resources") or {}).get("requests") or {}
        total += int(bytes_(str(requests.get("ephemeral-storage", "0"))))
    return total


def _collect_images(world: SimWorld, node: Manifest) -> None:
    """Every five minutes a kubelet whose disk is fuller than it wants looks for images that nobody uses; here there are none."""
    name = node["metadata"]["name"]
    slot, wanted = f"disk.collected:{name}", disks.to_collect(world, node)
    if wanted <= 0 or world.clock - world.memory.get(slot, -COLLECT) < COLLECT:
        return
    world.memory[slot] = world.clock
    text = f"Failed to garbage collect required amount of images. Attempted to free {wanted} bytes, but only found 0 bytes eligible to free."
    events.record(
        world, node, "Warning", "FreeDiskSpaceFailed", text, component="kubelet", host=name, uid=name
    )


def _evictable(world: SimWorld, name: str, kind: str) -> Iterator[tuple[PodRecord, Manifest]]:
    """The pods of a machine that its kubelet may evict under that kind of pressure."""
    for record in world.runtime.values():
        if not isinstance(record, PodRecord) or record.node != name or record.failed is not None:
            continue
        pod = world.store.get("pods", record.namespace, record.name)
        if pod is not None and not _stays(pod, kind):
            yield record, pod


def _stays(pod: Manifest, kind: str) -> bool:
    """Whether a kubelet lets a pod be: those of the machine itself, critical ones, and who bears that kind of pressure."""
    annotations = pod["metadata"].get("annotations") or {}
    if "kubernetes.io/config.mirror" in annotations or "deletionTimestamp" in pod["metadata"]:
        return True
    if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return True
    if pod["spec"].get("priority", 0) >= CRITICAL:
        return True
    return any(
        each.get("key") in (None, "", f"node.kubernetes.io/{kind}-pressure")
        and each.get("operator") == "Exists"
        for each in pod["spec"].get("tolerations") or ()
    )


def _on_disk(world: SimWorld, pod: Manifest) -> int:
    """Bytes of a disk that a pod has filled: its log, and what it has written outside its volumes and to scratch space. What it has
    written to a path of its machine is nobody's."""
    uid = pod["metadata"]["uid"]
    return spooling.written_by(world, uid) + 4096 * (6 + keyed_bits("log", uid) % 900)


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
            if pod is not None and limit is not None and spooling.size_of(world, slot) > bytes_(limit):
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
    used += sum(spooling.size_of(world, f"emptydir/{uid}/{name}") for name in on_disk)
    if used > total:
        text = (
            f"Pod ephemeral local storage usage exceeds the total limit of containers {format_bytes(total)}. "
        )
        _fail(world, pod, record, text)


def _layer(world: SimWorld, uid: str, container: str) -> int:
    """Bytes that a container has written outside its volumes since it was last started."""
    process = world.processes.get((uid, container))
    return 0 if process is None else spooling.size_of(world, f"overlay/{uid}/{container}/{process.restart}")


def _is_on_disk(volume: Manifest) -> bool:
    source = volume.get("emptyDir")
    return source is not None and source.get("medium", "") != "Memory"


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


@dataclass(frozen=True, slots=True)
class _Pressure:
    """How a kubelet speaks of one kind of pressure."""

    type: str
    short: str
    """The reasons of the condition, its text and what is to be reclaimed."""
    enough: str
    text: tuple[str, str]
    reclaimed: str


_MEMORY = _Pressure(
    "MemoryPressure",
    "HasInsufficientMemory",
    "HasSufficientMemory",
    ("kubelet has insufficient memory available", "kubelet has sufficient memory available"),
    "memory",
)
_DISK = _Pressure(
    "DiskPressure",
    "HasDiskPressure",
    "HasNoDiskPressure",
    ("kubelet has disk pressure", "kubelet has no disk pressure"),
    "ephemeral-storage",
)
_PROCESSES = _Pressure(
    "PIDPressure",
    "HasInsufficientPID",
    "HasSufficientPID",
    ("kubelet has insufficient PID available", "kubelet has sufficient PID available"),
    "pids",
)


def _set_pressure(world: SimWorld, node: Manifest, kind: _Pressure, pressed: bool) -> None:
    old = node.get("status") or {}
    wanted = "True" if pressed else "False"
    word = kind.short if pressed else kind.enough
    made: list[dict[str, Any]] = []
    changed = False
    for condition in old.get("conditions", ()):
        if condition["type"] == kind.type and condition["status"] != wanted:
            changed = True
            condition = {
                **condition,
                "status": wanted,
                "lastTransitionTime": rfc3339(world.clock),
                "reason": f"Kubelet{word}",
                "message": kind.text[0 if pressed else 1],
            }
        made.append(condition)
    if not changed:
        return
    name = node["metadata"]["name"]
    reason = f"Node{word}"
    said = [("Normal", reason, f"Node {name} status is now: {reason}")]
    if pressed:
        said.insert(0, ("Warning", "EvictionThresholdMet", f"Attempting to reclaim {kind.reclaimed}"))
    for level, why, text in said:
        events.record(world, node, level, why, text, component="kubelet", host=name, uid=name)
    apiserver.update_status(world, "nodes", "", name, {**old, "conditions": made})
