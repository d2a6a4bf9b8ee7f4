"""What becomes of a pod whose sandbox is gone, of one by the runtime or of all by a reboot: its containers have ended, and start
again in a new one."""

from __future__ import annotations

from collections.abc import Iterator

from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import seconds
from sregym_env.runtime.frozen import evolve
from sregym_env.sim.apiserver import events
from sregym_env.sim.machines.kubelet.state import Container, Ended, PodRecord
from sregym_env.sim.machines.kubelet.sync import ended
from sregym_env.sim.world import SimWorld

KILLED = 137
"""How a container ends that the runtime kills."""
NOTICED = seconds(0.5)
"""How long until the kubelet looks: half its relist period."""
LOST, LOST_REASON = 255, "Unknown"
"""How containerd reports a container whose task was gone when it started (``unknownExitCode``)."""


def cut(world: SimWorld, node: str) -> None:
    """The machine's power is gone: so are all its processes. Its kubelet cannot tell anybody."""
    for record in _records(world, node):
        for name in record.containers:
            container = world.runtime[record.uid].containers[name]
            if container.alive:
                ended(world, world.runtime[record.uid], container, LOST, LOST_REASON)


def recover(world: SimWorld, node: str) -> None:
    """The machine is up again: its kubelet finds no sandbox of its pods and makes them anew."""
    for record in _records(world, node):
        pod = world.store.get("pods", record.namespace, record.name)
        if pod is None or record.failed is not None or "deletionTimestamp" in pod["metadata"]:
            continue
        if (
            not any(_was_cut(container) for container in record.containers.values())
            and record.sandbox_at >= 0
        ):
            continue
        _restart(world, pod, record)


def sandbox_stopped(world: SimWorld, uid: str) -> None:
    """Somebody has had the runtime stop a pod's sandbox: all that ran in it was killed, and the kubelet finds it so."""
    record = world.runtime.get(uid)
    if not isinstance(record, PodRecord) or record.sandbox_at >= 0:
        return
    pod = world.store.get("pods", record.namespace, record.name)
    for name in record.containers:
        container = world.runtime[uid].containers[name]
        if container.alive:
            ended(world, world.runtime[uid], container, KILLED, "")
    slot = f"sandbox:{uid}"
    world.memory[slot] = world.memory.get(slot, 0) + 1
    if pod is not None and world.runtime[uid].failed is None and "deletionTimestamp" not in pod["metadata"]:
        _restart(world, pod, world.runtime[uid], known=True)
    world.wake("kubelet", (record.namespace, record.name), NOTICED)


def _records(world: SimWorld, node: str) -> Iterator[PodRecord]:
    for record in list(world.runtime.values()):
        if isinstance(record, PodRecord) and record.node == node:
            yield record


def _was_cut(container: Container) -> bool:
    return container.ended is not None and container.ended.reason == LOST_REASON


def _restart(world: SimWorld, pod: Manifest, record: PodRecord, *, known: bool = False) -> None:
    """``known``: the kubelet has run all the while, and remembers its back-offs and what is mounted."""
    policy = pod["spec"].get("restartPolicy", "Always")
    found = {name: _found(world, container) for name, container in record.containers.items()}
    # A pod that never restarts gets no second sandbox (``computePodActions``): it has failed.
    if policy == "Never" or (policy == "OnFailure" and _has_succeeded(pod, record)):
        world.runtime[record.uid] = evolve(record, containers=found)
        return
    inits = any(container.role == "init" for container in found.values())
    reason = "PodInitializing" if inits else "ContainerCreating"
    done = policy == "OnFailure"
    text = "Pod sandbox changed, it will be killed and re-created."
    events.record(world, pod, "Normal", "SandboxChanged", text, component="kubelet", host=record.node)
    if not known:
        _empty_memory(world, pod)
    world.runtime[record.uid] = evolve(
        record,
        containers={name: _again(container, reason, done, known) for name, container in found.items()},
        sandbox_at=0,
        ip="",
        mounted=known and record.mounted,
        mount_failures=0,
        mount_retry_at=0,
        refresh_at=0,
        initialized=not inits,
    )


def _found(world: SimWorld, container: Container) -> Container:
    """A container as the runtime finds it: the end of what ran is the instant at which it was noticed."""
    if container.ended is None or not _was_cut(container):
        return container
    return evolve(container, ended=evolve(container.ended, finished_at=world.clock))


def _has_succeeded(pod: Manifest, record: PodRecord) -> bool:
    return all(
        (gone := record.containers[spec["name"]].ended) is not None and gone.exit_code == 0
        for spec in pod["spec"]["containers"]
    )


def _again(container: Container, reason: str, done: bool, known: bool) -> Container:
    """A container that is to be started; what a kubelet remembers of back-offs and pulls is gone."""
    if container.role == "ephemeral":
        return container
    gone: Ended | None = container.ended
    if done and container.role == "main" and gone is not None and gone.exit_code == 0:
        return container
    return evolve(
        container,
        state="waiting",
        reason=reason,
        message="",
        ended=None,
        last=container.last if gone is None else gone,
        backoff=container.backoff if known else 0,
        backoff_at=container.backoff_at if known else 0,
        retry_at=0,
        pull=None,
        pull_failures=0,
    )


def _empty_memory(world: SimWorld, pod: Manifest) -> None:
    uid = pod["metadata"]["uid"]
    for volume in pod["spec"].get("volumes") or ():
        if (volume.get("emptyDir") or {}).get("medium") == "Memory":
            world.volumes.pop(f"emptydir/{uid}/{volume['name']}", None)
