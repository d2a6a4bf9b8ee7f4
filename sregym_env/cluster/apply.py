"""Making an edit, and going back: every edit returns what undoes it.

Undoing restores the desired state exactly (spec, data, labels, annotations, and a deleted Service's
address), whatever has happened to the object since.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.cluster import certificates
from sregym_env.cluster.api import Cluster, World
from sregym_env.cluster.disturbances import Disturbance, LoadSurge, RegistryLogin
from sregym_env.cluster.edits import (
    REMOVED,
    AtBirth,
    AwaitRollout,
    Create,
    Cycle,
    Delete,
    Downtime,
    Edit,
    Elapse,
    Enroll,
    Exec,
    IssueCertificate,
    JsonPatch,
    MergePatch,
    ObjectRef,
    OnMachine,
    Part,
    RecreatePods,
    Redeploy,
    ReplaceAgents,
    Restart,
    Rollout,
    RunCronJob,
    Scale,
    Substitute,
    Surge,
    Thin,
)
from sregym_env.errors import ClusterError
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.registry import BUILTIN, Registry
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import MINUTE, SECOND
from sregym_env.runtime.streams import keyed_bits

GONE_LIMIT = 120.0
"""Seconds to wait for a deleted object to be gone: four times a pod's default grace period."""

POD_LIMIT = 120.0
"""Seconds to wait for a pod in which a command can be run."""

PARTED = 45.0
"""Seconds for which nodes stay closed while pods leave them: new ones are placed within one."""

ROLLOUT_LIMIT = 300.0
"""Seconds to wait for a rollout."""

JOB_LIMIT = 90.0
"""Seconds to wait for a Job that a CronJob has made."""

SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
"""The annotation of a Job that says for when a CronJob has made it."""

INSTANTIATED = "cronjob.kubernetes.io/instantiate"
"""The annotation by which ``kubectl create job --from`` marks a run of a CronJob by hand."""

BY_HAND = (
    "{}-manual", "{}-now", "{}-once", "{}-test", "{}-adhoc", "{}-run1", "{}-retry", "{}-retry-2", "{}-rerun", "{}-manual-2",
    "manual-{}", "test-{}", "{}-manual-run", "{}-debug",
)  # fmt: skip
"""Names that people give to such runs, with a place for the CronJob's."""

RESTORE_ATTEMPTS = 5
"""How often an object is put back that others write to at the same time."""

SERVER_FIELDS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")
"""Metadata that the API server owns."""

RESTARTED = "kubectl.kubernetes.io/restartedAt"
"""The annotation of a pod template by which ``kubectl rollout restart`` makes a new revision."""

CONTROLLER_ANNOTATIONS = (
    "deployment.kubernetes.io/revision",
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
    "volume.beta.kubernetes.io/storage-provisioner",
)
"""Annotations that controllers own; they are neither restored nor re-created."""


@dataclass(frozen=True, slots=True)
class Restore:
    """Bring an object back to what it was."""

    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Discard:
    """Delete an object that was created."""

    target: ObjectRef


@dataclass(frozen=True, slots=True)
class Revert:
    """Run a command that takes back what another did."""

    component: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Renew:
    """Delete a component's pods, so that new ones meet what has been put back."""

    component: str


@dataclass(frozen=True, slots=True)
class End:
    """Let a disturbance end."""

    disturbance: Disturbance


@dataclass(frozen=True, slots=True)
class Clear:
    """Run a command line on a machine that takes back what another did."""

    node: str
    command: str


Undo = Restore | Discard | Revert | Clear | Renew | End | None
"""What undoes an edit; None when there is nothing to undo."""


def apply(world: World, edit: Edit, manager: str = "") -> Undo:
    """Make an edit as the cluster's administrator, under a field manager's name where one is given.

    Raises ClusterError if it cannot be made.
    """
    cluster = world.cluster
    match edit:
        case JsonPatch():
            return _json_patch(cluster, edit, manager)
        case MergePatch():
            return _merge_patch(cluster, edit.target, edit.patch, manager)
        case Restart():
            annotations = {RESTARTED: rfc3339(world.now())}
            restarted = {"spec": {"template": {"metadata": {"annotations": annotations}}}}
            return _merge_patch(cluster, edit.target, restarted, manager)
        case Create():
            made = cluster.create(edit.manifest, field_manager=manager)
            return Discard(ref(made, cluster.registry))
        case IssueCertificate():
            return _issue(world, edit, manager)
        case Delete():
            before = _get(cluster, edit.target)
            _delete(world, edit.target)
            return Restore(before)
        case Exec():
            execute(world, edit.component, edit.command)
            return Revert(edit.component, edit.undo)
        case OnMachine():
            _on_machine(world, edit.node, edit.command)
            return Clear(edit.node, edit.undo)
        case RecreatePods():
            recreate_pods(world, edit.component)
            return None
        case ReplaceAgents():
            _replace_agents(world, edit)
            return None
        case Part():
            _part(world, edit)
            return None
        case AtBirth():
            return Renew(edit.component)
        case Surge():
            _surge(world, edit)
            return None
        case Enroll():
            login = RegistryLogin(edit.host, edit.login)
            world.nodes.apply(login)
            return End(login)
        case Thin():
            _thin(world, edit)
            return None
        case Cycle():
            _cycle(world, edit.component)
            return None
        case Downtime():
            _pause(world, edit)
            return None
        case Redeploy():
            return _redeploy(world, edit, manager)
        case Rollout():
            return _rollout(cluster, edit, manager)
        case Scale():
            return _merge_patch(cluster, edit.target, {"spec": {"replicas": edit.replicas}}, manager, "scale")
        case RunCronJob():
            _run(world, edit.target, edit.by_hand)
            return None
        case AwaitRollout():
            _await_rollout(world, edit.target)
            return None
        case Elapse():
            world.advance(edit.seconds)
            return None
        case Substitute():
            return _substitute(cluster, edit, manager)


def undo(world: World, change: Undo) -> None:
    """Take an edit back. Undoing what is already undone does nothing."""
    match change:
        case Restore():
            _restore(world.cluster, change.manifest)
        case Discard():
            _delete(world, change.target)
        case Revert():
            execute(world, change.component, change.command)
        case Clear():
            _on_machine(world, change.node, change.command)
        case Renew():
            recreate_pods(world, change.component)
        case End():
            world.nodes.heal(change.disturbance)
        case None:
            pass


def _on_machine(world: World, node: str, command: str) -> None:
    """Run a command line on a machine. Raises ClusterError if it fails."""
    done = world.nodes.run(node, command)
    if done.exit_code:
        raise ClusterError(f"{command} on {node}: {done.stderr.strip()}")


def ref(manifest: Manifest, served: Registry = BUILTIN) -> ObjectRef:
    """The reference of a manifest of a kind that is served."""
    resource = served.by_kind(manifest["apiVersion"], manifest["kind"])
    if resource is None:
        raise ClusterError(f"no resource for kind {manifest['kind']} of {manifest['apiVersion']}")
    metadata = manifest["metadata"]
    return ObjectRef(resource.key, metadata["name"], metadata.get("namespace"))


def cleaned(manifest: Manifest) -> Manifest:
    """A manifest as a person would write it: without status and without what the server filled in."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in SERVER_FIELDS}
    annotations = {
        key: value
        for key, value in metadata.get("annotations", {}).items()
        if key not in CONTROLLER_ANNOTATIONS
    }
    if annotations:
        metadata["annotations"] = annotations
    else:
        metadata.pop("annotations", None)
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "finalizers"):
        metadata.pop(key, None)
    return {**{key: value for key, value in manifest.items() if key != "status"}, "metadata": metadata}


def changed(manifest: Manifest, changes: Mapping[str, Any]) -> Manifest:
    """A manifest with the fields at JSON pointers set, or removed where the value is ``REMOVED``."""
    result: Any = manifest
    for pointer, value in changes.items():
        result = _set(result, _parts(pointer), value)
    found: Manifest = result
    return found


def execute(world: World, component: str, command: tuple[str, ...], *, patience: float = POD_LIMIT) -> str:
    """Run a command in a component's first running pod, waiting for one for so many seconds, and return its output.

    Raises ClusterError if there is no such pod or the command fails.
    """
    waited = 0.0
    while (pod := _running_pod(world, component)) is None:
        if waited >= patience:
            raise ClusterError(f"{component} has no running pod to run a command in")
        world.advance(2.0)
        waited += 2.0
    container = world.app.by_name[component].container
    namespace = world.app.namespace_of(component)
    result = world.cluster.exec(namespace, pod, list(command), container=container)
    if result.exit_code != 0:
        raise ClusterError(f"{component}: {' '.join(command)}: exit code {result.exit_code}: {result.text}")
    return result.text


def recreate_pods(world: World, component: str) -> None:
    """Delete a component's pods."""
    for pod in _pods(world, component):
        _discard_pod(world.cluster, pod)


def _replace_agents(world: World, edit: ReplaceAgents) -> None:
    labels = _get(world.cluster, edit.target)["spec"]["selector"]["matchLabels"]
    for pod in _selected(world.cluster, edit.target.namespace or "", labels):
        if pod["spec"].get("nodeName") in edit.nodes:
            _discard_pod(world.cluster, pod)


def _surge(world: World, edit: Surge) -> None:
    surge = LoadSurge(edit.namespace, edit.factor, edit.crowd)
    world.nodes.apply(surge)
    try:
        world.advance(edit.seconds)
    finally:
        world.nodes.heal(surge)


def _thin(world: World, edit: Thin) -> None:
    """Scale a component's workload to half of it and, where it was not scaled meanwhile, back."""
    resource, namespace, name = world.app.workload_of(edit.component)
    workload = ObjectRef(resource, name, namespace)
    replicas = _get(world.cluster, workload)["spec"].get("replicas", 1)
    fewer = max(replicas // 2, 1)
    if fewer >= replicas:
        return
    _scale(world.cluster, workload, fewer)
    world.advance(edit.seconds)
    if _get(world.cluster, workload)["spec"].get("replicas", 1) == fewer:
        _scale(world.cluster, workload, replicas)


def _cycle(world: World, component: str) -> None:
    """Scale a component's workload to zero, wait until its pods are gone, and scale it back."""
    resource, namespace, name = world.app.workload_of(component)
    workload = ObjectRef(resource, name, namespace)
    replicas = _get(world.cluster, workload)["spec"].get("replicas", 1)
    _scale(world.cluster, workload, 0)
    waited = 0.0
    while waited < GONE_LIMIT and _pods(world, component):
        world.advance(1.0)
        waited += 1.0
    _scale(world.cluster, workload, replicas)


def _pause(world: World, edit: Downtime) -> None:
    """Scale a component's workload to zero and, some time later, back."""
    resource, namespace, name = world.app.workload_of(edit.component)
    workload = ObjectRef(resource, name, namespace)
    replicas = _get(world.cluster, workload)["spec"].get("replicas", 1)
    _scale(world.cluster, workload, 0)
    world.advance(edit.seconds)
    _scale(world.cluster, workload, replicas)


def _scale(cluster: Cluster, workload: ObjectRef, replicas: int) -> None:
    _merge_patch(cluster, workload, {"spec": {"replicas": replicas}}, "")


def _discard_pod(cluster: Cluster, pod: Manifest) -> None:
    try:
        cluster.delete("pods", pod["metadata"]["name"], pod["metadata"]["namespace"])
    except StatusError as error:
        if error.code != 404:
            raise


def _merge_patch(
    cluster: Cluster, target: ObjectRef, patch: Mapping[str, Any], manager: str, subresource: str = ""
) -> Undo:
    before = _get(cluster, target)
    cluster.patch(
        target.resource,
        target.name,
        dict(patch),
        namespace=target.namespace,
        type="merge",
        subresource=subresource,
        field_manager=manager,
    )
    return Restore(before)


def _json_patch(cluster: Cluster, edit: JsonPatch, manager: str) -> Undo:
    target = edit.target
    before = _get(cluster, target)
    operation = {"op": "remove", "path": edit.path}
    if edit.value is not REMOVED:
        operation = {"op": "add", "path": edit.path, "value": edit.value}
        present = _present(before, _parts(edit.path))
        if present:
            # In a list, `add` would insert beside the old value instead of taking its place.
            operation["op"] = "replace"
    cluster.patch(
        target.resource,
        target.name,
        [operation],
        namespace=target.namespace,
        type="json",
        field_manager=manager,
    )
    return Restore(before)


def _substitute(cluster: Cluster, edit: Substitute, manager: str) -> Undo:
    text = substituted(edit, _get(cluster, edit.target))
    return _json_patch(cluster, JsonPatch(edit.target, edit.path, text), manager)


def substituted(edit: Substitute, live: Manifest) -> str:
    """The text that stands at an edit's place after it. Raises ClusterError where there is nothing to replace."""
    text: Any = live
    for part in _parts(edit.path):
        text = text[part]
    if edit.before not in text:
        raise ClusterError(f"{edit.target.name}: {edit.path} does not contain {edit.before!r}")
    found: str = text.replace(edit.before, edit.after, 1)
    return found


def _redeploy(world: World, edit: Redeploy, manager: str) -> Undo:
    before = _get(world.cluster, edit.target)
    # In the foreground, so that the pods are gone first: else they would serve on for their grace period.
    _delete(world, edit.target, foreground=True)
    world.cluster.create(changed(cleaned(before), edit.changes), field_manager=manager)
    return Restore(before)


def _rollout(cluster: Cluster, edit: Rollout, manager: str) -> Undo:
    before = _get(cluster, edit.target)
    # The resourceVersion stays: a write in between is a conflict, and not undone unseen.
    cluster.replace(changed(before, edit.changes), field_manager=manager)
    return Restore(before)


def _restore(cluster: Cluster, before: Manifest) -> None:
    target = ref(before, cluster.registry)
    for attempt in range(RESTORE_ATTEMPTS):
        try:
            cluster.replace(_restored(before, _get(cluster, target)))
            if target.resource == "statefulsets.apps":
                _unblock(cluster, before)
            return
        except StatusError as error:
            if error.code == 404:
                cluster.create(cleaned(before))
                return
            # A controller of a cluster that runs by itself may have written in between.
            if error.reason != "Conflict" or attempt == RESTORE_ATTEMPTS - 1:
                raise


def _restored(before: Manifest, now: Manifest) -> Manifest:
    """What an object was, as a change to what it is now."""
    # With the present resourceVersion: a write in between is then a conflict, and not undone unseen.
    metadata = dict(now["metadata"])
    for key in ("labels", "annotations"):
        wanted = dict(before["metadata"].get(key, {}))
        kept = now["metadata"].get(key, {})
        for owned in CONTROLLER_ANNOTATIONS:
            wanted.pop(owned, None)
            if owned in kept:
                wanted[owned] = kept[owned]
        if wanted:
            metadata[key] = wanted
        else:
            metadata.pop(key, None)
    restored = {key: value for key, value in before.items() if key not in ("metadata", "status")}
    if "status" in now:
        restored["status"] = now["status"]
    return {**restored, "metadata": metadata}


def _unblock(cluster: Cluster, workload: Manifest) -> None:
    """Delete pods of a StatefulSet that are not ready: its controller waits for them and would never replace them."""
    labels = workload["spec"]["selector"]["matchLabels"]
    for pod in _selected(cluster, workload["metadata"]["namespace"], labels):
        conditions = pod.get("status", {}).get("conditions") or ()
        if not any(c["type"] == "Ready" and c["status"] == "True" for c in conditions):
            _discard_pod(cluster, pod)


def _delete(world: World, target: ObjectRef, *, foreground: bool = False) -> None:
    try:
        world.cluster.delete(
            target.resource,
            target.name,
            target.namespace,
            propagation="Foreground" if foreground else "Background",
        )
    except StatusError as error:
        if error.code != 404:
            raise
        return
    _await_gone(world, target)


def _await_gone(world: World, target: ObjectRef) -> None:
    waited = 0.0
    while _exists(world.cluster, target):
        if waited >= GONE_LIMIT:
            raise ClusterError(f"{target.resource} {target.name} is still there after {waited:.0f} s")
        world.advance(1.0)
        waited += 1.0


def _issue(world: World, edit: IssueCertificate, manager: str) -> Undo:
    now, name, space = world.now(), edit.target.name, edit.target.namespace
    begins, ends = now - round(edit.age * SECOND), now + round(edit.left * SECOND)
    key, signer = f"{space}/{name}", edit.signer or certificates.PLAIN
    made = certificates.issued(key, edit.names, begins, ends, signer)
    data = {"tls.crt": made.certificate, "tls.key": made.key}
    if edit.signer:
        data["ca.crt"] = certificates.authority(key, signer)
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": space},
        "type": "kubernetes.io/tls",
        "data": {key: b64encode(text.encode()).decode() for key, text in data.items()},
    }
    world.cluster.create(secret, field_manager=manager)
    return Discard(edit.target)


def instantiated(cron: Manifest, name: str) -> Manifest:
    """The Job that ``kubectl create job --from`` makes of a CronJob."""
    given = dict(cron["spec"]["jobTemplate"].get("metadata") or {})
    notes = {**(given.get("annotations") or {}), INSTANTIATED: "manual"}
    return _job_of(cron, {**given, "name": name, "annotations": notes}, {"controller": True})


def _scheduled(cron: Manifest, now: int) -> Manifest:
    """The Job that the controller makes of a CronJob when its time has come."""
    given = dict(cron["spec"]["jobTemplate"].get("metadata") or {})
    name = f"{cron['metadata']['name']}-{now // MINUTE}"
    held = {"controller": True, "blockOwnerDeletion": True}
    return _job_of(cron, {**given, "name": name, "annotations": {SCHEDULED: rfc3339(now)}}, held)


def _job_of(cron: Manifest, metadata: Manifest, held: Mapping[str, bool]) -> Manifest:
    source = cron["metadata"]
    owner = {
        "apiVersion": cron["apiVersion"],
        "kind": cron["kind"],
        "name": source["name"],
        "uid": source["uid"],
        **held,
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**metadata, "namespace": source["namespace"], "ownerReferences": [owner]},
        "spec": cron["spec"]["jobTemplate"]["spec"],
    }


def _run(world: World, target: ObjectRef, by_hand: bool) -> None:
    """Make a Job of a CronJob's template, named and owned as its controller does it or as kubectl does, and wait until it has ended."""
    cluster = world.cluster
    if not _exists(cluster, target):
        return
    cron = _get(cluster, target)
    if cron["spec"].get("suspend"):
        return
    if cron["spec"].get("concurrencyPolicy") == "Forbid" and (cron.get("status") or {}).get("active"):
        return
    if by_hand:
        form = BY_HAND[keyed_bits(cron["metadata"]["uid"]) % len(BY_HAND)]
        job, manager = instantiated(cron, form.format(target.name)), "kubectl-create"
    else:
        job, manager = _scheduled(cron, world.now()), ""
    try:
        made = ref(cluster.create(job, field_manager=manager), cluster.registry)
    except StatusError as error:
        # Its schedule has come in the same minute.
        if error.reason != "AlreadyExists":
            raise
        made = ref(job, cluster.registry)
    waited = 0.0
    while waited < JOB_LIMIT and _exists(cluster, made) and not _ended(_get(cluster, made)):
        world.advance(2.0)
        waited += 2.0


def _ended(job: Manifest) -> bool:
    conditions = job.get("status", {}).get("conditions") or ()
    return any(each["type"] in ("Complete", "Failed") and each["status"] == "True" for each in conditions)


def _await_rollout(world: World, target: ObjectRef) -> None:
    waited = 0.0
    while not _rolled_out(_get(world.cluster, target)):
        if waited >= ROLLOUT_LIMIT:
            raise ClusterError(f"{target.name} is not rolled out after {waited:.0f} s")
        world.advance(2.0)
        waited += 2.0


def _part(world: World, edit: Part) -> None:
    cluster = world.cluster
    nodes = sorted({pod["spec"].get("nodeName", "") for pod in _pods(world, edit.off)} - {""})
    closed = [name for name in nodes if not cluster.get("nodes", name)["spec"].get("unschedulable")]
    for name in closed:
        cluster.patch("nodes", name, {"spec": {"unschedulable": True}}, type="strategic")
    recreate_pods(world, edit.component)
    world.advance(PARTED)
    for name in closed:
        cluster.patch("nodes", name, {"spec": {"unschedulable": None}}, type="strategic")


def _rolled_out(workload: Manifest) -> bool:
    """As ``kubectl rollout status`` sees it: observed, all replicas updated and available, none left over.

    Of a DaemonSet: it has a pod for every node, and some are available.
    """
    wanted, status = workload["spec"].get("replicas", 1), workload.get("status", {})
    if workload["kind"] == "DaemonSet":
        nodes = status.get("desiredNumberScheduled", 0)
        # On a machine that is out of order its pods wait, and nobody waits for them.
        return bool(nodes == status.get("currentNumberScheduled", 0) and status.get("numberAvailable", 0))
    return bool(
        status.get("observedGeneration", 0) >= workload["metadata"]["generation"]
        and status.get("updatedReplicas", 0) == wanted
        and status.get("replicas", 0) == wanted
        and status.get("availableReplicas", 0) == wanted
    )


def _exists(cluster: Cluster, target: ObjectRef) -> bool:
    try:
        _get(cluster, target)
    except StatusError as error:
        if error.code != 404:
            raise
        return False
    return True


def _get(cluster: Cluster, target: ObjectRef) -> Manifest:
    return cluster.get(target.resource, target.name, target.namespace)


def _pods(world: World, component: str) -> list[Manifest]:
    resource, namespace, name = world.app.workload_of(component)
    workload = world.cluster.get(resource, name, namespace)
    return _selected(world.cluster, namespace, workload["spec"]["selector"]["matchLabels"])


def _selected(cluster: Cluster, namespace: str, labels: Mapping[str, str]) -> list[Manifest]:
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    return cluster.list("pods", namespace, label_selector=selector)


def _running_pod(world: World, component: str) -> str | None:
    container = world.app.by_name[component].container
    for pod in _pods(world, component):
        if "deletionTimestamp" in pod["metadata"]:
            continue
        for status in pod.get("status", {}).get("containerStatuses", ()):
            if status["name"] == container and "running" in status.get("state", {}):
                name: str = pod["metadata"]["name"]
                return name
    return None


def _parts(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _present(obj: Any, parts: list[str]) -> bool:
    for part in parts:
        if isinstance(obj, list):
            if not part.isdigit() or int(part) >= len(obj):
                return False
            obj = obj[int(part)]
        elif isinstance(obj, Mapping) and part in obj:
            obj = obj[part]
        else:
            return False
    return True


def _set(obj: Any, parts: list[str], value: Any) -> Any:
    if not parts:
        return value
    head, rest = parts[0], parts[1:]
    if isinstance(obj, list):
        items = list(obj)
        if head == "-":
            return [*items, value]
        index = int(head)
        if not rest and value is REMOVED:
            del items[index]
        else:
            items[index] = _set(items[index], rest, value)
        return items
    fields = dict(obj or {})
    if not rest and value is REMOVED:
        fields.pop(head, None)
        return fields
    # `/-` appends, so what it appends to is a list even where nothing is there yet.
    fallback: Any = [] if rest == ["-"] else {}
    fields[head] = _set(fields.get(head, fallback if rest else None), rest, value)
    return fields
