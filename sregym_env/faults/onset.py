"""How a fault comes: the way such faults come in reality, some time back, until the users feel it.

A changed pod template is rolled out, an object is edited, an account is altered, a disk decays. Where that does not
reach the users yet, because an old ReplicaSet or what clients remember serves on, ordinary events follow as they do
in any cluster, until it does: a nightly scale-down and the scale-up after it, a client's own rollout, an eviction, a
drained node. Nobody restarts innocent clients to make it hurt more than it would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, cast

from sregym_env.cluster import apply as edits_apply
from sregym_env.cluster.api import Cluster, World
from sregym_env.cluster.apply import Undo
from sregym_env.cluster.edits import (
    REMOVED,
    Create,
    Cycle,
    Delete,
    Downtime,
    Edit,
    JsonPatch,
    MergePatch,
    ObjectRef,
    RecreatePods,
    Redeploy,
    Restart,
    Rollout,
    Scale,
    Substitute,
)
from sregym_env.cluster.targets import ROLLED, SCALED
from sregym_env.errors import SREGymError
from sregym_env.faults.fault import FaultInstance
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.patch.rfc7386 import merge_patch
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import SECOND
from sregym_env.worlds import marks
from sregym_env.worlds.changes import (
    NODE_KEEPERS,
    SCALERS,
    SYSTEM_KEEPERS,
    Change,
    Changing,
    delivered_again,
    delivery,
    drawn,
    filled_in,
    happen,
    manager_of,
    rescale,
    same_hand,
    scaler_of,
)
from sregym_env.worlds.lastapplied import APPLIERS, ARGO, LAST_APPLIED, input_of, reapplied, sent

Hurts = Callable[[float], bool]
"""Lets up to so many seconds pass, until the users suffer; whether they do."""

Pastime = Callable[[float, Chance], None]
"""Lets so many seconds pass, and with them whatever else goes on in the cluster."""

FIRST_LOOK = 90.0
"""Simulated seconds in which a change that bites at once is felt: a rollout and a few failed probes."""

EVENT_LOOK = 60.0
"""The same after each of the ordinary events that follow."""

LAST_LOOK = 240.0
"""The same when no event is left: crash loops and throttled queues take their time."""

WAITING = (30000.0, 1.1)
"""Median, seconds, and spread (lognormal) of how long a change that nobody sees waits for the event by which it bites."""

BESIDE = (20000.0, 1.0)
"""Median, seconds, and spread (lognormal) of how long what harms nobody by itself has been there."""

STALLED = (600.0, 0.8)
"""The same for a rollout that does not get ahead, which somebody sees sooner or later, for what gets worse all the time,
and between two events."""

LONGEST_WAIT = 3 * 86400.0

RETRIED = 0.88
"""How often somebody has restarted or rolled the faulty workload once more before anybody is called, so that the
revision before the last one is as faulty as the last."""

OTHERWISE = 0.5
"""How often something else of the workload is changed by that, which neither harms nor helps: the next build, another setting. Who
looks for what was delivered twice, or for the latest that differs, does not look for what is wrong."""

TRIED = ("image", "env", "template")
"""Kinds of changes that are tried."""

PRUNING = 3.0
"""Seconds from a delivery without an object to its deletion."""

UNABLE_TO_CREATE = frozenset(("kubectl-edit", "kubectl-patch"))
"""Field managers of commands that change what is there, and create nothing."""

MAKERS: Mapping[str, float] = {"kubectl-client-side-apply": 0.5, "kubectl-create": 0.5}
"""Who creates in their place what is not the application's."""


@dataclass(frozen=True, slots=True)
class Onset:
    """A fault that has come."""

    changes: tuple[Undo, ...]
    """What :meth:`FaultInstance.heal` needs."""
    undoable: tuple[ObjectRef, ...] = ()
    """Workloads whose revision before the last one is sound: ``kubectl rollout undo`` is a repair."""
    tried: tuple[Change, ...] = ()
    """What was changed besides of what is faulty by who tried again: innocent, and declared."""


def remedies(instance: FaultInstance, onset: Onset) -> tuple[tuple[str, ...], ...]:
    """Alternative repairs as command lines; to go back a revision is one where the one before the last is sound."""
    rollback = tuple(instance.fault.rollback)
    return (*instance.remedies, rollback) if onset.undoable and rollback else instance.remedies


def strike(world: World, instance: FaultInstance) -> Onset:
    """Let a fault come as SREGym's injectors make it: workloads are deleted and created anew, clients restarted.

    Where a part of it cannot be made, the parts before it are taken back, and the error goes on.
    """
    world = instance.seen(world)
    changes: list[Undo] = []
    try:
        _make(world, instance.fault.earlier, None, changes)
        if any(isinstance(edit, Rollout) for edit in instance.fault.earlier):
            world.advance(EVENT_LOOK)
        _make(world, [*map(_recreated, instance.fault.edits)], None, changes)
        _disturb(world, instance)
        world.advance(instance.fault.matures)
        # Last of all: clients that restart before the fault is in would find everything well.
        for edit in instance.fault.trigger:
            # What was created anew has no pods of an older revision.
            if not isinstance(edit, Cycle):
                edits_apply.apply(world, edit)
    except SREGymError:
        instance.heal(world, changes)
        raise
    return Onset(tuple(changes))


def befall(
    world: World, instance: FaultInstance, chance: Chance, hurts: Hurts, pastime: Pastime | None = None
) -> Onset:
    """Let a fault come as such faults come, and ordinary events after it until the users suffer.

    With a ``pastime`` hours and days lie between the change and the events; a world whose time is real has no such
    patience. Whether the users suffer in the end is for the caller to see.
    """
    world = instance.seen(world)
    authors = Authors(world, chance.at("author"))
    changes: list[Undo] = []
    tried: list[Change] = []
    try:
        if instance.fault.earlier:
            _make(world, instance.fault.earlier, authors, changes)
            _lie(world, chance.at("earlier"), pastime)
        _make(world, instance.fault.edits, authors, changes)
        _disturb(world, instance)
        if instance.fault.matures:
            _mature(world, instance, chance.at("mature"), pastime)
        rolled = [
            edit.target for edit in instance.fault.edits if isinstance(edit, Rollout) and not edit.partial
        ]
        sound = tuple(target for target in rolled if _history_stays(world.cluster, target))
        again = bool(sound) and pastime is not None and chance.yes("retried", RETRIED)
        # What has been brought about by something that passed would be over with a new revision: that comes before.
        if again and instance.transient:
            tried += _retried(world, sound, chance, authors, instance)
        if not hurts(max(FIRST_LOOK, instance.fault.recurs)):
            _wait_for_trouble(world, instance, chance, hurts, pastime)
        if again and not instance.transient:
            tried += _retried(world, sound, chance, authors, instance)
    except SREGymError:
        instance.heal(world, changes)
        raise
    kept = [_kept(world.cluster, change, tried) for change in changes]
    return Onset(tuple(kept), () if again else sound, tuple(tried))


def serve_on(world: World, instance: FaultInstance) -> bool:
    """Whether pods of an older revision still serve where all are meant to be replaced.

    Users may have met one of the new pods in the moment between its start and its crash: that is no trouble that lasts.
    """
    if not any(isinstance(edit, Cycle) for edit in instance.fault.trigger):
        return False
    for edit in instance.fault.edits:
        if isinstance(edit, Rollout) and edit.target.resource in SCALED:
            status = world.cluster.get(edit.target.resource, edit.target.name, edit.target.namespace).get(
                "status", {}
            )
            if status.get("updatedReplicas", 0) < status.get("replicas", 0):
                return True
    return False


def _retried(
    world: World, targets: Sequence[ObjectRef], chance: Chance, authors: Authors, instance: FaultInstance
) -> Iterator[Change]:
    """Somebody tries again: one more revision of each. What they change besides."""
    world.advance(chance.uniform("retried.after", 20.0, 240.0))
    for target in targets:
        own = chance.at("again", target.name)
        other = (
            _other(world, target, own.at("otherwise"), instance) if own.yes("otherwise", OTHERWISE) else None
        )
        if other is None:
            _rolled_again(world, target, own, authors)
        else:
            yield filled_in(world.cluster, happen(cast(Changing, world), other))


def _kept(cluster: Cluster, undo: Undo, tried: Sequence[Change]) -> Undo:
    """What takes an edit back, and leaves alone what was changed innocently of the same object since."""
    if isinstance(undo, edits_apply.Restore):
        target = edits_apply.ref(undo.manifest, cluster.registry)
        mine = [change for change in tried if change.target == target]
        return edits_apply.Restore(reduce(lambda known, change: change.later(known), mine, undo.manifest))
    return undo


def _other(world: World, target: ObjectRef, chance: Chance, instance: FaultInstance) -> Change | None:
    """An innocent change of a faulty workload's pods that leaves alone what the fault has changed of them, if one is found."""
    found = drawn(world.app, chance, components=(target.name,), kinds=TRIED)
    if found is None or not found.rolls or found.target != target:
        return None
    faulty = [_area(path) for edit in instance.fault.edits for path in _paths(edit, target)]
    mine = [_area(step.path) for step in found.steps]
    met = any(one[: len(other)] == other[: len(one)] for one in mine for other in faulty)
    return None if met else found


def _paths(edit: Edit, target: ObjectRef) -> Iterator[str]:
    """The fields of an object that an edit changes."""
    match edit:
        case Rollout(target=edited, changes=changes) | Redeploy(target=edited, changes=changes):
            yield from changes if edited == target else ()
        case JsonPatch(target=edited, path=path) | Substitute(target=edited, path=path) if edited == target:
            yield path


def _area(path: str) -> tuple[str, ...]:
    """The part of an object that a JSON pointer is about: of a pod template a field of the pod, or of a container."""
    parts = tuple(path.split("/")[1:])
    return parts[:6] if parts[3:4] in (("containers",), ("initContainers",)) else parts[:4]


def _mature(world: World, instance: FaultInstance, chance: Chance, pastime: Pastime | None) -> None:
    """Let the time pass that a fault needs until it can bite, and with it whatever else goes on."""
    if pastime is None:
        world.advance(instance.fault.matures)
    else:
        pastime(instance.fault.matures, chance)


def _lie(world: World, chance: Chance, pastime: Pastime | None) -> None:
    """Let hours pass in which what has been made harms nobody."""
    if pastime is None:
        world.advance(EVENT_LOOK)
    else:
        pastime(min(LONGEST_WAIT, chance.lognormal("lies", *BESIDE)), chance)


class Authors:
    """Who makes which edit: whoever makes such changes innocently."""

    def __init__(self, world: World, chance: Chance) -> None:
        self._tool = delivery(world.app)
        self._world = world
        self._chance = chance

    def of(self, edit: Edit) -> str:
        """The field manager of an edit."""
        by = self._drawn(edit)
        match edit:
            case Rollout(by=writer) | JsonPatch(by=writer) if writer:
                return writer
            case (
                Rollout(target=target)
                | JsonPatch(target=target)
                | MergePatch(target=target)
                | Substitute(target=target)
            ):
                if by != self._tool:
                    return same_hand(self._world.cluster, target, by, self._chance)
        return by

    def looks(self, manifest: Manifest, author: str) -> Manifest:
        """A new object as its author makes it."""
        return marks.delivered(self._world.app, manifest) if author == self._tool else marks.by_hand(manifest)

    def _drawn(self, edit: Edit) -> str:
        chance, tool = self._chance, self._tool
        match edit:
            case Create(manifest) if manifest["metadata"].get("namespace") not in self._world.app.namespaces:
                keeper = chance.weighted("system", SYSTEM_KEEPERS)
                return chance.weighted("maker", MAKERS) if keeper in UNABLE_TO_CREATE else keeper
            case Restart():
                return manager_of("restart", tool, chance)
            case Scale():
                return chance.weighted("scaler", SCALERS)
            case Create():
                return manager_of("settings", tool, chance)
            case Rollout():
                return manager_of("env", tool, chance)
            case JsonPatch(target=target) | MergePatch(target=target) | Substitute(target=target):
                # No pipeline of an application delivers machines or what belongs to the cluster.
                if target.resource == "nodes":
                    return chance.weighted("node", NODE_KEEPERS)
                if target.namespace not in self._world.app.namespaces:
                    return chance.weighted("system", SYSTEM_KEEPERS)
        return manager_of("service", tool, chance)


def _rolled_again(world: World, target: ObjectRef, chance: Chance, authors: Authors) -> None:
    """Somebody tries again: one more revision of a workload, by a restart or by one more delivery that only marks it."""
    again = delivered_again(world.app, target.name, chance)
    if again is None:
        restart(world.cluster, target)
    else:
        replace(again, manager=authors.of(Rollout(target, {}))).make(world)


def _make(world: World, edits: Sequence[Edit], authors: Authors | None, changes: list[Undo]) -> None:
    """Make edits; what undoes each is added to ``changes``."""
    for edit in edits:
        author = "" if authors is None else authors.of(edit)
        made = edit
        if isinstance(edit, Create) and authors is not None:
            made = Create(authors.looks(edit.manifest, author))
        if isinstance(edit, Delete) and author == ARGO:
            _let_go(world, edit.target, changes)
        if author in APPLIERS:
            made = _with_input(world.cluster, made, author)
        changes.append(edits_apply.apply(world, made, author))


def _let_go(world: World, target: ObjectRef, changes: list[Undo]) -> None:
    """Argo CD no longer delivers an object, before it is deleted: else it would miss it."""
    live = world.cluster.get(target.resource, target.name, target.namespace)
    if marks.TRACKED not in (live["metadata"].get("annotations") or {}):
        return
    mark = f"/metadata/annotations/{marks.TRACKED.replace('/', '~1')}"
    edit = _with_input(world.cluster, JsonPatch(target, mark, REMOVED), ARGO)
    changes.append(edits_apply.apply(world, edit, ARGO))
    world.advance(PRUNING)


def _disturb(world: World, instance: FaultInstance) -> None:
    for disturbance in instance.fault.disturbances:
        world.nodes.apply(disturbance)


def _with_input(cluster: Cluster, edit: Edit, tool: str) -> Edit:
    """An edit as a tool that applies makes it, which keeps its input with the object."""
    match edit:
        case Create(manifest):
            return Create(sent(manifest, tool))
        case JsonPatch() | Rollout() | Substitute() | MergePatch():
            target = edit.target
        case _:
            return edit
    live = cluster.get(target.resource, target.name, target.namespace)
    if input_of(live) is None:
        return edit
    if isinstance(edit, MergePatch):
        text = input_of(reapplied(live, tool, partial(merge_patch, patch=dict(edit.patch))))
        return MergePatch(
            target, merge_patch(dict(edit.patch), {"metadata": {"annotations": {LAST_APPLIED: text}}})
        )
    fields = _fields(edit, live)
    text = input_of(reapplied(live, tool, partial(edits_apply.changed, changes=fields)))
    return Rollout(target, {**fields, f"/metadata/annotations/{LAST_APPLIED.replace('/', '~1')}": text})


def _fields(edit: JsonPatch | Rollout | Substitute, live: Manifest) -> dict[str, Any]:
    """JSON pointers and the values that an edit gives to what stands there."""
    match edit:
        case JsonPatch(path=path, value=value):
            return {path: value}
        case Rollout(changes=fields):
            return dict(fields)
        case Substitute(path=path):
            return {path: edits_apply.substituted(edit, live)}


def _recreated(edit: Edit) -> Edit:
    return Redeploy(edit.target, edit.changes) if isinstance(edit, Rollout) and not edit.partial else edit


def _wait_for_trouble(
    world: World,
    instance: FaultInstance,
    chance: Chance,
    hurts: Hurts,
    pastime: Pastime | None,
) -> None:
    """Ordinary events, one after the other, until the users suffer."""
    stalled = any(isinstance(edit, Rollout) for edit in instance.fault.edits)
    for number, event in enumerate(_events(world, instance, chance)):
        if pastime is not None:
            law = STALLED if stalled or number or instance.fault.grows else WAITING
            wait = min(LONGEST_WAIT, chance.lognormal(f"wait.{number}", *law))
            pastime(wait, chance.at("meanwhile", number))
        event()
        if hurts(EVENT_LOOK):
            return
    hurts(LAST_LOOK)


def _events(world: World, instance: FaultInstance, chance: Chance) -> Iterator[Callable[[], None]]:
    """What ordinary operation does sooner or later to those by whose restart the fault bites."""
    for edit in instance.fault.edits:
        if (
            isinstance(edit, Rollout)
            and edit.target.resource in SCALED
            and not edit.partial
            and not instance.transient
        ):
            yield lambda target=edit.target: _scaled_down_and_up(world, target, chance)  # type: ignore[misc]
    for edit in instance.fault.trigger:
        if isinstance(edit, RecreatePods):
            yield lambda name=edit.component: _restarted(world, instance, name, chance)  # type: ignore[misc]
            # A rollout of a client stalls where its readiness asks for what is gone: the old pods serve until they go.
            yield lambda name=edit.component: _moved(world, instance, name)  # type: ignore[misc]
        elif isinstance(edit, Downtime):
            yield lambda window=edit: _scaled_down_and_up(  # type: ignore[misc]
                world, instance.target.workload_of(window.component), chance, window.seconds
            )
        elif not isinstance(edit, Cycle):
            yield lambda other=edit: _quietly(world, other)  # type: ignore[misc]


def _quietly(world: World, edit: Edit) -> None:
    edits_apply.apply(world, edit)


def _scaled_down_and_up(world: World, target: ObjectRef, chance: Chance, seconds: float = 0.0) -> None:
    """A window in which a workload is scaled down, as schedules and maintenance do, and up again after it; how long it is
    is drawn where it is not said.

    The Deployment's newest ReplicaSet gets all pods then: an older one that served on is no more.
    """
    cluster = world.cluster
    wanted = cluster.get(target.resource, target.name, target.namespace)["spec"].get("replicas", 1)
    tool = delivery(world.app)
    by = scaler_of(cluster, target, tool, chance.at("window"))
    rescale(cluster, target, 0, by, tool)
    world.advance(seconds or chance.at("window", target.name).uniform("length", 45.0, 400.0))
    rescale(cluster, target, wanted, by, tool)


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
