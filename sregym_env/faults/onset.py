"""How a fault comes: the way such faults come in reality, some time back, until the users feel it.

A changed pod template is rolled out, an object is edited, an account is altered, a disk decays. Where that does not
reach the users yet, because an old ReplicaSet or what clients remember serves on, ordinary events follow as they do
in any cluster, until it does: a nightly scale-down and the scale-up after it, a client's own rollout, an eviction, a
drained node. Nobody restarts innocent clients to make it hurt more than it would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sregym_env.cluster import apply as edits_apply
from sregym_env.cluster.api import Cluster, World
from sregym_env.cluster.apply import Undo
from sregym_env.cluster.edits import Create, Cycle, Edit, ObjectRef, RecreatePods, Redeploy, Rollout
from sregym_env.cluster.targets import ROLLED, SCALED
from sregym_env.errors import SREGymError
from sregym_env.faults.fault import FaultInstance
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import SECOND
from sregym_env.worlds.changes import delivery, drawn, manager_of

Hurts = Callable[[float], bool]
"""Lets up to so many seconds pass, until the users suffer; whether they do."""

FIRST_LOOK = 90.0
"""Simulated seconds in which a change that bites at once is felt: a rollout and a few failed probes."""

EVENT_LOOK = 60.0
"""The same after each of the ordinary events that follow."""

LAST_LOOK = 240.0
"""The same when no event is left: crash loops and throttled queues take their time."""

WAITING = (36000.0, 1.2)
"""Median, seconds, and spread (lognormal) of how long a change that nobody sees waits for the event by which it bites."""

STALLED = (420.0, 0.6)
"""The same for a rollout that does not get ahead, which somebody sees sooner or later, and between two events."""

LONGEST_WAIT = 4 * 86400.0

CREATORS = {"kubectl-client-side-apply": 0.5, "kubectl-create": 0.35, "OpenAPI-Generator": 0.15}
"""Field managers of objects that are created by hand, and how often they are met (estimates)."""

SCALERS = {"kubectl": 0.4, "kube-downscaler": 0.35, "node-fetch": 0.15, "OpenAPI-Generator": 0.1}
"""The same of who scales down and up."""

RETRIED = 0.8
"""How often somebody has restarted or rolled the faulty workload once more before anybody is called, so that the
revision before the last one is as faulty as the last."""


@dataclass(frozen=True, slots=True)
class Onset:
    """A fault that has come."""

    changes: tuple[Undo, ...]
    """What :meth:`FaultInstance.heal` needs."""
    undoable: tuple[ObjectRef, ...] = ()
    """Workloads whose revision before the last one is sound: ``kubectl rollout undo`` is a repair."""


def remedies(instance: FaultInstance, onset: Onset) -> tuple[tuple[str, ...], ...]:
    """Alternative repairs as command lines; to go back a revision is one where the one before the last is sound."""
    rollback = tuple(instance.fault.rollback)
    return (*instance.remedies, rollback) if onset.undoable and rollback else instance.remedies


def strike(world: World, instance: FaultInstance) -> Onset:
    """Let a fault come as SREGym's injectors make it: workloads are deleted and created anew, clients restarted.

    Where a part of it cannot be made, the parts before it are taken back, and the error goes on.
    """
    changes = _made(world, instance, [_recreated(edit) for edit in instance.fault.edits], None)
    try:
        # Last of all: clients that restart before the fault is in would find everything well.
        for edit in instance.fault.trigger:
            # What was created anew has no pods of an older revision.
            if not isinstance(edit, Cycle):
                edits_apply.apply(world, edit)
    except SREGymError:
        instance.heal(world, changes)
        raise
    return Onset(changes)


def befall(
    world: World, instance: FaultInstance, chance: Chance, hurts: Hurts, *, patient: bool = True
) -> Onset:
    """Let a fault come as such faults come, and ordinary events after it until the users suffer.

    ``patient`` lets hours and days lie between the change and the events; a world whose time is real has no such
    patience. Whether the users suffer in the end is for the caller to see.
    """
    changes = _made(world, instance, instance.fault.edits, _Authors(world, chance.at("author")))
    try:
        if not hurts(FIRST_LOOK):
            _wait_for_trouble(world, instance, chance, hurts, patient)
        rolled = [edit.target for edit in instance.fault.edits if isinstance(edit, Rollout)]
        sound = tuple(target for target in rolled if _history_stays(world.cluster, target))
        if sound and patient and chance.yes("retried", RETRIED):
            world.advance(chance.uniform("retried.after", 20.0, 240.0))
            for target in sound:
                _rolled_again(world, target, chance.at("again", target.name))
            sound = ()
    except SREGymError:
        instance.heal(world, changes)
        raise
    return Onset(changes, sound)


class _Authors:
    """Who makes which edit: whoever makes such changes of the application, as of innocent ones."""

    def __init__(self, world: World, chance: Chance) -> None:
        self._tool = delivery(world.app)
        self._chance = chance

    def of(self, edit: Edit) -> str:
        """The field manager of an edit."""
        if isinstance(edit, Create):
            by_hand = self._chance.yes("created", 0.5)
            return self._chance.weighted("creator", CREATORS) if by_hand else self._tool
        return manager_of("env" if isinstance(edit, Rollout) else "service", self._tool, self._chance)


def _rolled_again(world: World, target: ObjectRef, chance: Chance) -> None:
    """Somebody tries again: one more revision of a workload, by a restart or by one more delivery that only marks it."""
    again = drawn(world.app, chance, components=(target.name,), kinds=("annotation",))
    if again is None or not again.rolls or chance.yes("restart", 0.4):
        restart(world.cluster, target)
    else:
        again.make(world)


def _made(
    world: World, instance: FaultInstance, edits: Sequence[Edit], authors: _Authors | None
) -> tuple[Undo, ...]:
    """The fault's edits and disturbances, made; all taken back where one cannot be."""
    changes: list[Undo] = []
    try:
        for edit in edits:
            changes.append(edits_apply.apply(world, edit, "" if authors is None else authors.of(edit)))
        for disturbance in instance.fault.disturbances:
            world.nodes.apply(disturbance)
    except SREGymError:
        # A world that cannot be copied goes on to be used by others.
        instance.heal(world, changes)
        raise
    return tuple(changes)


def _recreated(edit: Edit) -> Edit:
    return Redeploy(edit.target, edit.changes) if isinstance(edit, Rollout) else edit


def _wait_for_trouble(
    world: World, instance: FaultInstance, chance: Chance, hurts: Hurts, patient: bool
) -> None:
    """Ordinary events, one after the other, until the users suffer."""
    stalled = any(isinstance(edit, Rollout) for edit in instance.fault.edits)
    for number, event in enumerate(_events(world, instance, chance)):
        if patient:
            law = STALLED if stalled or number else WAITING
            world.advance(min(LONGEST_WAIT, chance.lognormal(f"wait.{number}", *law)))
        event()
        if hurts(EVENT_LOOK):
            return
    hurts(LAST_LOOK)


def _events(world: World, instance: FaultInstance, chance: Chance) -> Iterator[Callable[[], None]]:
    """What ordinary operation does sooner or later to those by whose restart the fault bites."""
    for edit in instance.fault.edits:
        if isinstance(edit, Rollout) and edit.target.resource in SCALED:
            yield lambda target=edit.target: _scaled_down_and_up(world, target, chance)  # type: ignore[misc]
    for edit in instance.fault.trigger:
        if isinstance(edit, RecreatePods):
            yield lambda name=edit.component: _restarted(world, instance, name, chance)  # type: ignore[misc]
            # A rollout of a client stalls where its readiness asks for what is gone: the old pods serve until they go.
            yield lambda name=edit.component: _moved(world, instance, name)  # type: ignore[misc]
        elif not isinstance(edit, Cycle):
            yield lambda other=edit: _quietly(world, other)  # type: ignore[misc]


def _quietly(world: World, edit: Edit) -> None:
    edits_apply.apply(world, edit)


def _scaled_down_and_up(world: World, target: ObjectRef, chance: Chance) -> None:
    """A window in which a workload is scaled down, as schedules and maintenance do, and up again after it.

    The Deployment's newest ReplicaSet gets all pods then: an older one that served on is no more.
    """
    cluster = world.cluster
    wanted = cluster.get(target.resource, target.name, target.namespace)["spec"].get("replicas", 1)
    scaler = chance.at("window").weighted("by", SCALERS)
    _scale(cluster, target, 0, scaler)
    world.advance(chance.at("window", target.name).uniform("length", 45.0, 400.0))
    _scale(cluster, target, wanted, scaler)


def _scale(cluster: Cluster, target: ObjectRef, replicas: int, manager: str) -> None:
    patch = {"spec": {"replicas": replicas}}
    cluster.patch(
        target.resource,
        target.name,
        patch,
        namespace=target.namespace,
        type="merge",
        subresource="scale",
        field_manager=manager,
    )


def _restarted(world: World, instance: FaultInstance, component: str, chance: Chance) -> None:
    """A component's pods are replaced by something that ordinary operation does."""
    draw = chance.at("event", component)
    target = instance.target.workload_of(component)
    ways = {"eviction": 0.3, "drain": 0.2}
    # A rollout of the workload that is struck itself would leave its old pods serving.
    if component not in instance.target.components and target.resource in ROLLED:
        ways["rollout"] = 0.5
    how = draw.weighted("how", ways)
    if how == "rollout":
        restart(world.cluster, target)
        return
    pods = _pods_of(world.cluster, target)
    if how == "drain":
        _drained(world, pods, draw)
    else:
        for pod in pods:
            _evict(world.cluster, pod)


def _moved(world: World, instance: FaultInstance, component: str) -> None:
    """A component's pods are evicted, as descheduling and the replacement of nodes do."""
    for pod in _pods_of(world.cluster, instance.target.workload_of(component)):
        _evict(world.cluster, pod)


def _drained(world: World, pods: list[Manifest], chance: Chance) -> None:
    """The nodes of some pods are closed, these pods evicted, and the nodes opened again, as a maintenance does."""
    cluster = world.cluster
    nodes = sorted({pod["spec"].get("nodeName", "") for pod in pods} - {""})
    closed = [name for name in nodes if not cluster.get("nodes", name)["spec"].get("unschedulable")]
    for name in closed:
        _cordon(cluster, name, True)
    for pod in pods:
        _evict(cluster, pod)
    world.advance(chance.uniform("maintenance", 30.0, 300.0))
    for name in closed:
        _cordon(cluster, name, False)


def _cordon(cluster: Cluster, node: str, closed: bool) -> None:
    patch = {"spec": {"unschedulable": True if closed else None}}
    cluster.patch("nodes", node, patch, type="strategic", field_manager="kubectl")


def _evict(cluster: Cluster, pod: Manifest) -> None:
    metadata = pod["metadata"]
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
    }
    try:
        cluster.create(
            eviction, namespace=metadata["namespace"], subresource="eviction", name=metadata["name"]
        )
    except StatusError:
        # A disruption budget without room for it: whoever drains a node deletes the pod in the end.
        with suppress(StatusError):
            cluster.delete("pods", metadata["name"], metadata["namespace"])


def restart(cluster: Cluster, target: ObjectRef) -> None:
    """``kubectl rollout restart``."""
    stamp = rfc3339(cluster.now() // SECOND * SECOND)
    patch = {
        "spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": stamp}}}}
    }
    cluster.patch(
        target.resource,
        target.name,
        patch,
        namespace=target.namespace,
        type="strategic",
        field_manager="kubectl-rollout",
    )


def _pods_of(cluster: Cluster, target: ObjectRef) -> list[Manifest]:
    workload = cluster.get(target.resource, target.name, target.namespace)
    labels = workload["spec"]["selector"]["matchLabels"]
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    return cluster.list("pods", target.namespace, label_selector=selector)


def _history_stays(cluster: Cluster, target: ObjectRef) -> bool:
    """Whether a workload keeps the revision before its last one."""
    try:
        workload = cluster.get(target.resource, target.name, target.namespace)
    except StatusError:
        return False
    return bool(workload["spec"].get("revisionHistoryLimit", 10))
