"""The kubelet's loop: bring one pod of a node from what it is to what its spec says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.runtime.frozen import evolve
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events, guarded, identities
from sregym_env.sim.containers import pids, volumes
from sregym_env.sim.machines.kubelet import admission, containers, directories, hostpaths, sandbox, status
from sregym_env.sim.machines.kubelet.state import Container, PodRecord
from sregym_env.sim.machines.kubelet.sync import Sync
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

MOUNT_BACKOFF = seconds(0.5)
"""First retry of a failed mount, doubling (``exponentialbackoff`` of the volume manager)."""
# ``maxDurationBeforeRetry``: two minutes and two seconds.
MOUNT_BACKOFF_CAP = seconds(122)
MOUNT_WAIT = seconds(123)
"""How long a pod sync waits for its volumes before it says which are missing."""
REFRESH = (45.0, 75.0)
"""Seconds until a changed ConfigMap or Secret reaches mounted volumes (sync period plus cache)."""
TERMINAL = ("Succeeded", "Failed")
MIRROR = "kubernetes.io/config.mirror"
"""Annotation of the API's image of a static pod."""


def reconcile(world: SimWorld, key: Key) -> int | None:
    """One look at a pod; microseconds until the next, if it needs one."""
    pod = world.store.get("pods", *key)
    node_name = "" if pod is None else pod["spec"].get("nodeName", "")
    if pod is None or not node_name:
        _forget_others(world, key, "")
        return None
    uid = pod["metadata"]["uid"]
    # Its containers go on; when it comes back it looks at all of them (:func:`wake_node`).
    if f"node.down:{node_name}" in world.memory:
        return None
    if uid not in world.runtime:
        _forget_others(world, key, uid)
        if not _admit(world, pod, node_name):
            return None
    sync = Sync(world, pod)
    _sync(sync)
    if uid not in world.runtime:
        return None
    current = status.render(world, pod, sync.record)
    apiserver.update_status(world, "pods", *key, current)
    return None if sync.due is None else max(0, sync.due - world.clock)


# --- coming and going -----------------------------------------------------------------------------


def _admit(world: SimWorld, pod: Manifest, node_name: str) -> bool:
    node = world.store.get("nodes", "", node_name)
    old = pod.get("status") or {}
    metadata = pod["metadata"]
    if node is None:
        return False
    if old.get("phase") in TERMINAL:
        if "deletionTimestamp" in metadata:
            apiserver.finalize_delete(world, "pods", metadata["namespace"], metadata["name"])
        return False
    bound = any(condition["type"] == "PodScheduled" for condition in old.get("conditions", ()))
    # Who has the condition came through the scheduler, which has checked the same.
    refused = None if bound else admission.refusal(world, pod, node)
    refused = refused or admission.forbidden(pod)
    if refused is not None:
        reason, message = refused
        # Only the status has the prefix, not the event (``rejectPod``).
        text = message.removeprefix("Pod was rejected: ")
        events.record(world, pod, "Warning", reason, text, component="kubelet", host=node_name)
        refusal = status.rejected(world, pod, reason, message)
        apiserver.update_status(world, "pods", metadata["namespace"], metadata["name"], refusal)
        return False
    spec = pod["spec"]
    inits = spec.get("initContainers", ())
    known: dict[str, Container] = {}
    for container in inits:
        known[container["name"]] = containers.first_state(container, "init", True)
    for container in spec["containers"]:
        known[container["name"]] = containers.first_state(container, "main", bool(inits))
    world.runtime[metadata["uid"]] = PodRecord(
        uid=metadata["uid"],
        namespace=metadata["namespace"],
        name=metadata["name"],
        node=node_name,
        seen_at=world.clock,
        containers=known,
        initialized=not inits,
        static=_static(pod),
    )
    return True


def _static(pod: Manifest) -> Manifest | None:
    metadata = pod["metadata"]
    if MIRROR not in (metadata.get("annotations") or {}):
        return None
    kept = ("name", "namespace", "labels", "annotations", "ownerReferences")
    own = {field: metadata[field] for field in kept if field in metadata}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": own, "spec": pod["spec"]}


def _forget_others(world: SimWorld, key: Key, uid: str) -> None:
    """Clean up after pods of this name that are no more (force-deleted ones end at once)."""
    gone = [
        record.uid
        for record in world.runtime.values()
        if isinstance(record, PodRecord) and (record.namespace, record.name) == key and record.uid != uid
    ]
    for other in gone:
        static = world.runtime[other].static
        if static is not None and not uid:
            try:
                apiserver.create(world, "pods", static, identities.node(static["spec"].get("nodeName", "")))
            except StatusError:
                world.wake("kubelet", key, guarded.AGAIN)
                continue
        forget(world, other)


def forget(world: SimWorld, uid: str) -> None:
    """Drop everything a node keeps of a pod: processes, logs, knowledge."""
    record: PodRecord | None = world.runtime.pop(uid, None)
    world.memory.pop(f"sandbox:{uid}", None)
    pids.forget(world, uid)
    if record is None:
        return
    for container in record.containers.values():
        if (uid, container.name) in world.processes:
            world.drop_process((uid, container.name))
        for run in range(max(0, container.restarts - 1), container.restarts + 1):
            world.logs.pop((uid, container.name, run), None)
    prefixes = (f"emptydir/{uid}/", f"overlay/{uid}/")
    for slot in [slot for slot in world.volumes if slot.startswith(prefixes)]:
        del world.volumes[slot]


# --- the steps ------------------------------------------------------------------------------------


def _sync(sync: Sync) -> None:
    metadata = sync.pod["metadata"]
    _know_ephemeral(sync)
    if "deletionTimestamp" in metadata:
        _terminate(sync, metadata.get("deletionGracePeriodSeconds", 30) * SECOND)
        return
    _check_deadline(sync)
    if sync.record.failed is not None:
        # Hard eviction thresholds grant no grace.
        _stop_all(sync, 0 if sync.record.failed[0] == "Evicted" else _own_grace(sync))
        return
    if _finished(sync):
        _stop_all(sync, _own_grace(sync))
        return
    if not directories.ensure(sync) or not _volumes(sync) or not sandbox.ensure(sync):
        return
    _refresh(sync)
    # Whoever looks into a pod that does not get ready need not wait until it is.
    _ephemeral(sync)
    if _initialise(sync):
        policy = sync.spec.get("restartPolicy", "Always")
        for spec in sync.spec["containers"]:
            containers.advance(sync, spec, policy)
        if _finished(sync):
            _stop_all(sync, _own_grace(sync))


def _own_grace(sync: Sync) -> int:
    return int(sync.spec.get("terminationGracePeriodSeconds", 30)) * SECOND


def _finished(sync: Sync) -> bool:
    """Whether no main container runs or will run again."""
    policy = sync.spec.get("restartPolicy", "Always")
    if policy == "Always" or not sync.record.initialized:
        return False
    for spec in sync.spec["containers"]:
        container = sync.container(spec["name"])
        if container.state != "ended" or container.ended is None:
            return False
        if policy == "OnFailure" and container.ended.exit_code != 0:
            return False
    return True


def _check_deadline(sync: Sync) -> None:
    limit = sync.spec.get("activeDeadlineSeconds")
    record = sync.record
    if limit is None or record.failed is not None or _finished(sync):
        return
    due = record.seen_at + int(limit) * SECOND
    if sync.now < due:
        sync.look_again(due)
        return
    text = "Pod was active on the node longer than the specified deadline"
    sync.event("Normal", "DeadlineExceeded", text)
    sync.record = evolve(record, failed=("DeadlineExceeded", text))


def _volumes(sync: Sync) -> bool:
    record = sync.record
    if record.mounted:
        return True
    if record.mount_retry_at > sync.now:
        sync.look_again(record.mount_retry_at)
        return False
    sources, problems = volumes.sync(sync.world, sync.pod)
    problems += hostpaths.problems(sync.world, sync.pod)
    claims = volumes.claim_problems(sync.world, sync.pod)
    if not problems and not claims:
        sync.record = evolve(record, sources=sources, mounted=True)
        return True
    for name, text in problems:
        sync.event("Warning", "FailedMount", f'MountVolume.SetUp failed for volume "{name}" : {text}')
    if claims:
        names = " ".join(name for name, _ in claims)
        reasons = ", ".join(text for _, text in claims)
        text = (
            f"Unable to attach or mount volumes: unmounted volumes=[{names}], unattached volumes=[], "
            f"failed to process volumes=[{names}]: {reasons}"
        )
        sync.event("Warning", "FailedMount", text)
    elif sync.now - record.seen_at >= MOUNT_WAIT:
        names = " ".join(dict.fromkeys(name for name, _ in problems))
        text = (
            f"Unable to attach or mount volumes: unmounted volumes=[{names}], unattached volumes=[], "
            "failed to process volumes=[]: timed out waiting for the condition"
        )
        sync.event("Warning", "FailedMount", text)
    delay = min(MOUNT_BACKOFF * 2 ** min(record.mount_failures, 12), MOUNT_BACKOFF_CAP)
    retry = sync.now + delay
    sync.record = evolve(record, mount_failures=record.mount_failures + 1, mount_retry_at=retry)
    sync.look_again(retry)
    return False


def _refresh(sync: Sync) -> None:
    """Let changed ConfigMaps and Secrets reach the volumes after the kubelet's sync period."""
    record = sync.record
    if not record.sources:
        return
    if record.refresh_at and sync.now < record.refresh_at:
        sync.look_again(record.refresh_at)
        return
    if not record.refresh_at:
        if not _changed(sync):
            return
        due = sync.now + seconds(sync.chance(*REFRESH))
        sync.record = evolve(record, refresh_at=due)
        sync.look_again(due)
        return
    sources, problems = volumes.sync(sync.world, sync.pod)
    for name, text in problems:
        sync.event("Warning", "FailedMount", f'MountVolume.SetUp failed for volume "{name}" : {text}')
    # A volume whose source has gone keeps what was last written into it.
    kept = {slot: obj if obj is not None else record.sources.get(slot) for slot, obj in sources.items()}
    sync.record = evolve(record, sources=kept, refresh_at=0)
    sync.world.touch()


def _changed(sync: Sync) -> bool:
    namespace = sync.record.namespace
    store = sync.world.store
    for slot, resource, source in volumes.referenced(sync.pod):
        now = store.get(resource, namespace, source.get("name", ""))
        if now is not None and now is not sync.record.sources.get(slot):
            return True
    return False


def _initialise(sync: Sync) -> bool:
    """Run init containers in order and keep sidecars up; whether the main containers may run."""
    # An init container of a pod that always restarts is done once it has succeeded.
    policy = "OnFailure" if sync.spec.get("restartPolicy", "Always") != "Never" else "Never"
    for spec in sync.spec.get("initContainers", ()):
        container = sync.container(spec["name"])
        if container.sidecar:
            container = containers.advance(sync, spec, "Always")
            if not sync.record.initialized and not (container.alive and container.started):
                return False
        elif not sync.record.initialized:
            container = containers.advance(sync, spec, policy)
            done = (
                container.state == "ended" and container.ended is not None and not container.ended.exit_code
            )
            if not done:
                return False
    if not sync.record.initialized:
        sync.record = evolve(sync.record, initialized=True)
    return True


def _know_ephemeral(sync: Sync) -> None:
    """Those that have come since: a pod's status tells of them, whatever keeps them from starting."""
    for spec in sync.spec.get("ephemeralContainers", ()):
        if spec["name"] not in sync.record.containers:
            sync.put(containers.first_state(spec, "ephemeral", False))


def _ephemeral(sync: Sync) -> None:
    for spec in sync.spec.get("ephemeralContainers", ()):
        containers.advance(sync, spec, "Never")


def _specs(sync: Sync) -> Iterable[dict[str, Any]]:
    spec = sync.spec
    yield from spec["containers"]
    yield from spec.get("ephemeralContainers", ())
    # Sidecars end last, in reverse order of their start.
    yield from reversed(spec.get("initContainers", []))


def _stop_all(sync: Sync, allowed: int) -> bool:
    """Tell every running container to end; whether none runs any more."""
    idle = True
    for spec in _specs(sync):
        container = sync.record.containers.get(spec["name"])
        if container is None or not container.alive:
            continue
        if container.stop is None:
            containers.stop(sync, spec, container, f"Stopping container {container.name}", allowed)
            container = sync.container(spec["name"])
        # A later deletion with less grace overtakes what the container was told first.
        if container.stop is not None and container.stop.exit_at > sync.now + allowed:
            container = sync.put(
                evolve(container, stop=evolve(container.stop, exit_at=sync.now + allowed, exit_code=137))
            )
        if container.alive:
            container = containers.advance(sync, spec, "Never")
        idle = idle and not container.alive
    return idle


def _terminate(sync: Sync, grace: int) -> None:
    record = sync.record
    deadline = sync.now + grace
    if not record.terminate_by or deadline < record.terminate_by:
        sync.record = evolve(record, terminate_by=deadline)
    if _stop_all(sync, max(0, sync.record.terminate_by - sync.now)):
        _leave(sync)


def _leave(sync: Sync) -> None:
    """The pod is down: report how it ended where somebody still waits for that, and let it go."""
    world, record = sync.world, sync.record
    if sync.pod["metadata"].get("finalizers"):
        current = status.render(world, sync.pod, record)
        if current["phase"] not in TERMINAL:
            ends = [container.ended for container in record.containers.values() if container.role == "main"]
            clean = all(end is not None and end.exit_code == 0 for end in ends)
            current["phase"] = "Succeeded" if clean else "Failed"
        apiserver.update_status(world, "pods", record.namespace, record.name, current)
    if not apiserver.finalize_delete(world, "pods", record.namespace, record.name):
        sync.look_again(sync.now + guarded.AGAIN)
        return
    # A static pod's record stays: its mirror is put back from it (:func:`_forget_others`).
    if record.static is None:
        forget(world, sync.uid)


# --- when to look ---------------------------------------------------------------------------------


def _pods(world: SimWorld, change: Change) -> Iterable[Key]:
    new, old = change.new, change.old
    if new is None:
        return (change.key,)
    if not new["spec"].get("nodeName"):
        return ()
    # Most changes are the kubelet's own status writes; they keep the spec as the same object.
    if old is not None and old["spec"] is new["spec"]:
        metadata, before = new["metadata"], old["metadata"]
        same = all(
            metadata.get(field) == before.get(field)
            for field in ("uid", "deletionTimestamp", "deletionGracePeriodSeconds")
        )
        if same and not _gates_changed(new, old):
            return ()
    return (change.key,)


def _gates_changed(new: Manifest, old: Manifest) -> bool:
    """Whether somebody else wrote a condition that the pod's readiness waits for."""
    gates = new["spec"].get("readinessGates")
    return bool(gates) and new.get("status") is not old.get("status")


def _copied(world: SimWorld, change: Change) -> Iterable[Key]:
    """Pods whose volumes hold a copy of the changed object."""
    namespace, name = change.key
    for record in list(world.runtime.values()):
        if not isinstance(record, PodRecord) or record.namespace != namespace or not record.mounted:
            continue
        pod = world.store.get("pods", namespace, record.name)
        if pod is None or not record.sources:
            continue
        if any(r == change.resource and s.get("name") == name for _, r, s in volumes.referenced(pod)):
            yield (namespace, record.name)


def wake_node(world: SimWorld, node: str) -> None:
    """Have a node's kubelet look at all its pods (it has just come back)."""
    for pod in world.store.list("pods"):
        if pod["spec"].get("nodeName") == node:
            world.wake("kubelet", (pod["metadata"]["namespace"], pod["metadata"]["name"]), 0)


CONTROLLER = Controller(
    name="kubelet",
    watches={"pods": _pods, "configmaps": _copied, "secrets": _copied},
    reconcile=reconcile,
)
