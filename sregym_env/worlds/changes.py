"""Innocent changes: what operators and their tools do to a healthy application, and what leaves it healthy.

A :class:`Change` is a value: which fields of which object had which values before, which have they after, who writes
them. It can be made in a world, applied to a declaration, and taken back from one, so that a past can be lived
backwards: the application is first deployed as it once was, and its changes bring it to what is declared.

:func:`possible` draws changes of one component, :func:`drawn` one of an application in the proportions of real
clusters (rates: 45 % image bumps, 15 % settings, 8 % restarts, 8 % scalings, 10 % autoscalers, 5 % rotations, 4 % Jobs,
5 % labels, budgets and policies).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Protocol

import orjson

from sregym_env.cluster.api import Cluster, World
from sregym_env.cluster.app import App, Component
from sregym_env.cluster.apply import changed, ref
from sregym_env.cluster.edits import REMOVED, ObjectRef
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.cluster.targets import SCALED
from sregym_env.errors import ClusterError
from sregym_env.kube import quantity, registry
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds import marks, templates
from sregym_env.worlds.lastapplied import APPLIERS, APPLY, ARGO, reapplied, sent

Kind = Literal[
    "image",
    "env",
    "resources",
    "probe",
    "annotation",
    "label",
    "restart",
    "scale",
    "configmap",
    "secret",
    "autoscaler",
    "budget",
    "policy",
    "quota",
    "service",
    "job",
    "cronjob",
    "strategy",
    "allowance",
    "ceiling",
    "settings",
    "undo",
    "release",
    "placement",
    "template",
    "serving",
]
"""What a change does."""

WEIGHTS: Mapping[str, float] = {
    "image": 0.45,
    "env": 0.08,
    "configmap": 0.07,
    "restart": 0.08,
    "scale": 0.08,
    "autoscaler": 0.10,
    "secret": 0.05,
    "job": 0.02,
    "cronjob": 0.02,
    "label": 0.01,
    "annotation": 0.02,
    "service": 0.01,
    "budget": 0.01,
    "policy": 0.01,
    "quota": 0.01,
    "resources": 0.04,
    "probe": 0.02,
    "strategy": 0.01,
    "allowance": 0.04,
    "ceiling": 0.02,
    "settings": 0.04,
}
"""How often which kind is made, where all are possible (estimates for what the counted estates do not tell apart)."""

INSTEAD: Mapping[str, float] = {"image": 0.10, "env": 0.55, "resources": 0.5, "probe": 0.5}
"""How often something else of the pod template is changed (:mod:`~sregym_env.worlds.templates`) instead of what a kind says."""

RESTARTED_AGAIN = 0.15
"""How often what is rolled out once more is restarted; else it is delivered once more."""

DELIVERIES = 8
"""How often a mark is drawn for that, until one makes a revision."""

SERVING = 0.5
"""How often a change of a Service is one of what it offers, and no note."""

ASKED_FOR = ("template", "serving")
"""Kinds that are drawn where they are named, and instead of others."""

NOW = "{now}"
"""In a value: the time at which the change is made."""

CAUSE = "kubernetes.io/change-cause"
RESTARTED = "kubectl.kubernetes.io/restartedAt"


class Changing(World, Protocol):
    """A world of which the declared application can be set anew."""

    @property
    def app(self) -> App:
        """The deployed application."""

    @app.setter
    def app(self, app: App) -> None: ...


@dataclass(frozen=True, slots=True)
class Step:
    """One field: its JSON pointer, its value before and after, ``REMOVED`` where there is none."""

    path: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Change:
    """An innocent change of one object, or a new object (``created``)."""

    kind: Kind
    target: ObjectRef
    manager: str
    """The field manager that writes it."""
    steps: tuple[Step, ...] = ()
    created: Manifest | None = None
    """The object that the change brings, as it would be declared."""
    component: str = ""
    """The component that it concerns; empty for the application as a whole."""

    @property
    def cause(self) -> str:
        """The change cause that it leaves; empty for none."""
        path = _pointer("metadata", "annotations", CAUSE)
        return next((str(s.after) for s in self.steps if s.path == path and s.after is not REMOVED), "")

    @property
    def rolls(self) -> bool:
        """Whether pods are replaced."""
        return any(step.path.startswith("/spec/template/") for step in self.steps)

    def later(self, manifest: Manifest) -> Manifest:
        """What an object is after the change."""
        return changed(manifest, {step.path: step.after for step in self.steps})

    def earlier(self, manifest: Manifest) -> Manifest:
        """What an object was before the change."""
        return _pruned(changed(manifest, {step.path: step.before for step in self.steps}), self.steps)

    def reversed(self) -> Change:
        """The change that takes this one back. Raises ValueError where that is a deletion."""
        if self.created is not None:
            raise ValueError(f"{self.target.name} is new: a change cannot take it back")
        return replace(self, steps=tuple(Step(s.path, s.after, s.before) for s in self.steps))

    def at(self, now: int) -> Change:
        """The change made at a time (microseconds): everything that names it filled in."""
        time = rfc3339(now)
        return replace(self, steps=tuple(replace(s, after=_filled(s.after, time)) for s in self.steps))

    def make(self, world: World) -> Change:
        """Write it through the API; the change as it was made (:meth:`at`). Raises StatusError, as the API does."""
        made = self.at(world.now())
        if made.created is not None:
            world.cluster.create(sent(made.created, made.manager), field_manager=made.manager)
        elif made.kind == "scale" and made.manager not in APPLIERS:
            replicas = next(s.after for s in made.steps if s.path == "/spec/replicas")
            world.cluster.patch(
                made.target.resource,
                made.target.name,
                {"spec": {"replicas": replicas}},
                namespace=made.target.namespace,
                type="merge",
                subresource="scale",
                field_manager=made.manager,
            )
        else:
            known = world.cluster.get(made.target.resource, made.target.name, made.target.namespace)
            world.cluster.replace(reapplied(known, made.manager, made.later), field_manager=made.manager)
        return made


def happen(world: Changing, change: Change) -> Change:
    """Make a change and have the world's application declare it; the change as it was made."""
    made = change.make(world)
    world.app = applied(world.app, made)
    return made


def filled_in(cluster: Cluster, change: Change) -> Change:
    """A change that has just been made, with what the server has filled into its values."""
    live = cluster.get(change.target.resource, change.target.name, change.target.namespace)
    return replace(change, steps=tuple(replace(s, after=_value(live, s.path)) for s in change.steps))


def happen_at_once(world: Changing, several: Sequence[Change]) -> None:
    """Make changes of objects that are declared, each of one of its own."""
    made = {change.target: change.make(world) for change in several}
    found = []
    for manifest in world.app.manifests:
        change = made.get(ref(manifest, world.cluster.registry))
        found.append(manifest if change is None else change.later(manifest))
    world.app = replace(world.app, manifests=tuple(found), place="")


def applied(app: App, change: Change) -> App:
    """The application after a change that :meth:`Change.make` returned."""
    if change.created is not None:
        return replace(app, manifests=(*app.manifests, change.created), place="")
    return _with_manifest(app, change.target, change.later)


def before(app: App, change: Change) -> App:
    """The application as it was before a change."""
    if change.created is not None:
        left = tuple(m for m in app.manifests if not _is(m, change.target))
        return replace(app, manifests=left, place="")
    return _with_manifest(app, change.target, change.earlier)


def _with_manifest(app: App, target: ObjectRef, become: Callable[[Manifest], Manifest]) -> App:
    found = tuple(become(m) if _is(m, target) else m for m in app.manifests)
    return replace(app, manifests=found, place="")


# --- drawing --------------------------------------------------------------------------------------------


def possible(app: App, component: str, chance: Chance, *, past: bool = False) -> list[Change]:
    """One drawn change of each kind that is possible for a component, in the order of :data:`WEIGHTS`.

    They start from what ``app`` declares. With ``past`` they end there instead: what the change has before is
    drawn, so that ``before(app, change)`` is a healthy application, too.
    """
    declared = app.by_name[component]
    found = []
    for kind in WEIGHTS:
        change = _DRAWS[kind](_Draw(app, declared, chance.at(kind), past))
        if change is not None:
            found.append(change)
    return found


def drawn(
    app: App,
    chance: Chance,
    *,
    components: Sequence[str] = (),
    kinds: Sequence[str] = (),
    past: bool = False,
) -> Change | None:
    """One change of an application: kind by :data:`WEIGHTS`, component evenly; None where nothing is possible.

    ``components`` and ``kinds`` narrow the choice.
    """
    left = {kind: weight for kind, weight in WEIGHTS.items() if not kinds or kind in kinds}
    left |= {kind: 1.0 for kind in ASKED_FOR if kind in kinds}
    names = [c.name for c in app.components if not components or c.name in components]
    while left:
        kind = chance.weighted(f"kind{len(left)}", left)
        del left[kind]
        for name in chance.at(kind).shuffled("component", names):
            draw = _Draw(app, app.by_name[name], chance.at(kind, name), past)
            change = _instead(draw, kind) or _DRAWS[kind](draw)
            if change is not None:
                return change
    return None


def _instead(draw: _Draw, kind: str) -> Change | None:
    """What is changed of the pod template instead of what a kind says, if anything is."""
    own = draw.chance.at("instead")
    return _template(replace(draw, chance=own)) if own.yes("template", INSTEAD.get(kind, 0.0)) else None


def delivered_again(app: App, component: str, chance: Chance) -> Change | None:
    """One more delivery of a component that only marks its pods anew; None where somebody restarts it instead."""
    if chance.yes("restart", RESTARTED_AGAIN):
        return None
    for attempt in range(DELIVERIES):
        draw = chance.at("delivery", attempt)
        again = drawn(app, draw, components=(component,), kinds=("annotation",))
        if again is not None and again.rolls:
            return again
    return None


MARKED = (
    "Deployment", "StatefulSet", "DaemonSet", "Service", "ConfigMap", "Secret", "ServiceAccount", "PersistentVolumeClaim",
    "NetworkPolicy", "PodDisruptionBudget", "HorizontalPodAutoscaler", "CronJob", "ResourceQuota", "LimitRange",
)  # fmt: skip
"""Kinds of objects that a release marks."""


def release(app: App, chance: Chance, share: float, spared: Collection[ObjectRef] = ()) -> list[Change]:
    """A release of a share of the application's parts that changes nothing but the label that says which release an object is
    of, by its delivery tool.

    A part of which anything is ``spared`` is left as it is. No selector asks for these labels, and no pod has them.
    """
    tool = delivery(app)
    kept = {(target.namespace, marks.part(app, target.name, target.namespace or "")) for target in spared}
    found = []
    for manifest in app.manifests:
        labels = manifest["metadata"].get("labels") or {}
        mark = next((each for each in marks.RELEASED if each in labels), None)
        if mark is None or manifest["kind"] not in MARKED:
            continue
        target = ref(manifest)
        place, part = target.namespace, marks.part_of(app, manifest)
        own = chance.at("part", place or "", part)
        if (place, part) in kept or not own.yes("released", share):
            continue
        known = labels[mark]
        value = marks.next_release(mark, known, own, own.at(*target.resource.split("."), target.name))
        if value != known:
            step = Step(_pointer("metadata", "labels", mark), known, value)
            found.append(Change("release", target, tool, (step,)))
    return found


def caused(app: App, change: Change, cause: str) -> Change:
    """A change that replaces pods, with the change cause that its author writes."""
    manifest = _find(app, change.target)
    known = (manifest["metadata"].get("annotations") or {}).get(CAUSE, REMOVED)
    step = Step(_pointer("metadata", "annotations", CAUSE), known, cause)
    return replace(change, steps=(*change.steps, step))


def undo(change: Change) -> Change:
    """``kubectl rollout undo`` of a change of the pod template."""
    kept = tuple(step for step in change.steps if step.path.startswith("/spec/template/"))
    return replace(replace(change, steps=kept).reversed(), kind="undo", manager="kubectl")


def cause_of(change: Change, chance: Chance) -> str:
    """The change cause that the author of a rollout writes; mostly none (law of real clusters: 80 %)."""
    style = chance.weighted("style", {"none": 0.80, "ci": 0.14, "command": 0.06})
    if style == "none" or not change.rolls:
        return ""
    name = change.target.name
    if style == "command":
        image = next((s.after for s in change.steps if s.path.endswith("/image")), "")
        if image:
            return f"kubectl set image deployment/{name} {change.component}={image} --record=true"
        return f"kubectl apply --filename={name}.yaml --record=true"
    number = chance.between("number", 12, 9800)
    texts = (
        f"pipeline #{number}",
        f"Jenkins build {number}",
        f"{chance.choice('project', _PROJECTS)}-{number}",
        f"release {chance.between('year', 24, 26)}.{chance.between('month', 1, 12)}.{chance.between('patch', 0, 9)}",
        f"deploy {chance.bits('sha'):016x}"[:15],
        f"merge request !{number}",
    )
    return chance.choice("text", texts)


_PROJECTS = ("OPS", "PLAT", "SHOP", "CORE", "INFRA", "BOOK", "WEB", "SRE", "PAY", "DATA")

# --- who writes -----------------------------------------------------------------------------------------

_MADE_BY_HAND: Mapping[str, float] = {
    "kubectl-client-side-apply": 0.5,
    "kubectl-create": 0.35,
    "OpenAPI-Generator": 0.15,
}
_MANUAL: Mapping[str, Mapping[str, float]] = {
    "image": {"kubectl-set": 0.5, "kubectl-edit": 0.25, "kubectl-patch": 0.15, "Mozilla": 0.05, "node-fetch": 0.05},
    "env": {"kubectl-set": 0.35, "kubectl-edit": 0.4, "kubectl-patch": 0.15, "Mozilla": 0.05, "node-fetch": 0.05},
    "resources": {"kubectl-set": 0.4, "kubectl-edit": 0.4, "kubectl-patch": 0.1, "Mozilla": 0.1},
    "restart": {"kubectl-rollout": 0.85, "Mozilla": 0.08, "node-fetch": 0.07},
    "scale": {"kubectl": 0.8, "Mozilla": 0.1, "node-fetch": 0.1},
    "label": {"kubectl-label": 0.8, "kubectl-edit": 0.2},
    "annotation": {"kubectl-annotate": 0.7, "kubectl-edit": 0.3},
    "job": {"kubectl-create": 0.8, "OpenAPI-Generator": 0.2},
    "cronjob": {"kubectl-create": 0.6, "OpenAPI-Generator": 0.4},
    "secret": {"external-secrets": 0.5, "kubectl-edit": 0.2, "kubectl-patch": 0.3},
    **dict.fromkeys(("budget", "allowance", "ceiling", "settings"), _MADE_BY_HAND),
}  # fmt: skip
_BY_HAND: Mapping[str, float] = {
    "kubectl-edit": 0.55,
    "kubectl-patch": 0.3,
    "Mozilla": 0.08,
    "node-fetch": 0.07,
}
_SHARE_BY_HAND: Mapping[str, float] = {
    "restart": 1.0, "scale": 0.8, "job": 0.7, "secret": 0.5, "label": 0.4, "annotation": 0.4,
    "serving": 0.6, "template": 0.3, "strategy": 0.4, "budget": 0.3, "allowance": 0.3, "ceiling": 0.3, "settings": 0.3,
}  # fmt: skip
_USUALLY_BY_HAND = 0.15
"""Share of changes of other kinds that are made past the delivery tool (12 % of innocent objects show one)."""


SCALERS: Mapping[str, float] = {
    "kubectl": 0.45,
    "kube-downscaler": 0.3,
    "node-fetch": 0.15,
    "OpenAPI-Generator": 0.1,
}
"""Who scales up and down past the delivery tool."""

SCALED_BY_HAND = 0.2
"""How often that is done past the delivery tool, which else delivers another number and then the old one."""

NODE_KEEPERS: Mapping[str, float] = {
    "kubectl": 0.4,
    "kubectl-edit": 0.25,
    "kubectl-patch": 0.15,
    "node-fetch": 0.08,
    "OpenAPI-Generator": 0.12,
}
"""Who changes machines."""

SYSTEM_KEEPERS: Mapping[str, float] = {
    "kubectl-edit": 0.35,
    "kubectl-client-side-apply": 0.3,
    "kubectl-patch": 0.15,
    "OpenAPI-Generator": 0.1,
    "node-fetch": 0.1,
}
"""Who changes what belongs to the cluster (``kube-system``)."""


def delivery(app: App) -> str:
    """The field manager of the tool that delivers an application, as its objects' marks tell."""
    for manifest in app.manifests:
        metadata = manifest["metadata"]
        labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
        if "argocd.argoproj.io/tracking-id" in annotations or "argocd.argoproj.io/instance" in labels:
            return ARGO
        if "kustomize.toolkit.fluxcd.io/name" in labels:
            return "kustomize-controller"
        if "meta.helm.sh/release-name" in annotations:
            return "helm"
    return APPLY


def manager_of(kind: str, tool: str, chance: Chance) -> str:
    """Who makes a change of a kind where ``tool`` delivers: mostly that one, sometimes a hand."""
    if chance.yes("by hand", _SHARE_BY_HAND.get(kind, _USUALLY_BY_HAND)):
        return chance.weighted("manager", _MANUAL.get(kind, _BY_HAND))
    return tool


_ABLE = frozenset(
    "kubectl kubectl-edit kubectl-patch kubectl-client-side-apply kube-downscaler Mozilla node-fetch OpenAPI-Generator".split()
)
"""Hands that can change anything, or anything of what they have a hand in."""


def same_hand(cluster: Cluster, target: ObjectRef, hand: str, chance: Chance, subresource: str = "") -> str:
    """Who changes an object past its delivery: mostly one who has before, where it shows one, and else ``hand``."""
    try:
        metadata = cluster.get(target.resource, target.name, target.namespace)["metadata"]
    except StatusError:
        return hand
    entries = metadata.get("managedFields") or ()
    known = [
        entry["manager"]
        for entry in entries
        if entry["manager"] in _ABLE and entry.get("subresource", "") == subresource
    ]
    return chance.choice("hand", known) if known and chance.yes("same hand", SAME_HAND) else hand


SAME_HAND = 0.8
"""How often it is the same hand."""


def scaler_of(cluster: Cluster, target: ObjectRef, tool: str, chance: Chance) -> str:
    """Who scales a workload away from what is declared, and back."""
    if not chance.yes("scaled by hand", SCALED_BY_HAND):
        return tool
    return same_hand(cluster, target, chance.weighted("scaler", SCALERS), chance, "scale")


def rescale(cluster: Cluster, target: ObjectRef, replicas: int, manager: str, tool: str) -> None:
    """Give a workload another number of replicas. Who delivers it writes the object as a whole."""
    if manager == tool and tool in APPLIERS:
        live = cluster.get(target.resource, target.name, target.namespace)
        scaled = partial(changed, changes={"/spec/replicas": replicas})
        cluster.replace(reapplied(live, tool, scaled), field_manager=tool)
        return
    cluster.patch(
        target.resource,
        target.name,
        {"spec": {"replicas": replicas}},
        namespace=target.namespace,
        type="merge",
        subresource="" if manager == tool else "scale",
        field_manager=manager,
    )


def surge(world: World, component: str, chance: Chance) -> ObjectKey | None:
    """Scale a component up and at once down again, so that no pod is made; the workload's key.

    None where an autoscaler would answer, or nothing can be scaled.
    """
    app = world.app
    declared, namespace = app.by_name[component], app.namespace_of(component)
    target = ObjectRef(declared.workload, component, namespace)
    manifest = _lookup(app, target) if declared.workload in SCALED else None
    if manifest is None or _scaler(_Draw(app, declared, chance, False)) is not None:
        return None
    tool = delivery(app)
    by = scaler_of(world.cluster, target, tool, chance)
    wanted = world.cluster.get(target.resource, target.name, namespace)["spec"].get("replicas", 1)
    for replicas in (wanted + 1, wanted):
        rescale(world.cluster, target, replicas, by, tool)
    return (target.resource, namespace, component)


def bound(app: App, component: str, nodes: Sequence[str], form: str, chance: Chance) -> Change | None:
    """A workload is bound to some machines by node ``selector`` or node ``affinity``, or kept from them (``avoiding``).

    None where it is bound already, and for a registry.
    """
    draw = _Draw(app, app.by_name[component], chance, False)
    workload = _restartable(draw)
    if workload is None:
        return None
    spec = workload["spec"]["template"]["spec"]
    if form == "selector":
        known = spec.get("nodeSelector")
        path, now = _pointer(*_POD, "nodeSelector"), {**(known or {}), _HOST: nodes[0]}
        taken = _HOST in (known or {})
    else:
        known = spec.get("affinity")
        path = _pointer(*_POD, "affinity")
        demand = {"key": _HOST, "operator": "NotIn" if form == "avoiding" else "In", "values": list(nodes)}
        required = {"nodeSelectorTerms": [{"matchExpressions": [demand]}]}
        of_nodes = {"requiredDuringSchedulingIgnoredDuringExecution": required}
        taken = "nodeAffinity" in (known or {})
        now = {**(known or {}), "nodeAffinity": of_nodes}
    return (
        None
        if taken
        else draw.change("placement", workload, (path, REMOVED if known is None else known, now))
    )


_HOST = "kubernetes.io/hostname"

# --- what is changed ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Draw:
    """What a change is drawn from."""

    app: App
    component: Component
    chance: Chance
    past: bool

    @property
    def namespace(self) -> str:
        return self.app.namespace_of(self.component.name)

    @property
    def workload(self) -> Manifest | None:
        """The component's Deployment, StatefulSet or DaemonSet, where the application declares it."""
        if self.component.workload not in _ROLLED:
            return None
        return _lookup(self.app, ObjectRef(self.component.workload, self.component.name, self.namespace))

    def change(self, kind: Kind, target: Manifest, *fields: tuple[str, Any, Any]) -> Change:
        """A change of fields: (pointer, value declared, the other value)."""
        steps = (Step(p, other, now) if self.past else Step(p, now, other) for p, now, other in fields)
        return Change(
            kind,
            ref(target),
            manager_of(kind, delivery(self.app), self.chance),
            tuple(steps),
            component=self.component.name,
        )

    def creation(self, kind: Kind, manifest: Manifest) -> Change:
        """A new object."""
        tool = delivery(self.app)
        manager = manager_of(kind, tool, self.chance)
        made = marks.delivered(self.app, manifest) if manager == tool else marks.by_hand(manifest)
        return Change(kind, ref(manifest), manager, created=made, component=self.component.name)


_ROLLED = ("deployments.apps", "statefulsets.apps", "daemonsets.apps")
_POD = ("spec", "template", "spec")


def _pointer(*parts: str | int) -> str:
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def _is(manifest: Manifest, target: ObjectRef) -> bool:
    """Whether a manifest is of that object (never one of a custom resource)."""
    metadata = manifest["metadata"]
    if metadata["name"] != target.name or metadata.get("namespace") != target.namespace:
        return False
    kind = registry.by_kind(manifest["apiVersion"], manifest["kind"])
    return kind is not None and kind.key == target.resource


def _lookup(app: App, target: ObjectRef) -> Manifest | None:
    return next((m for m in app.manifests if _is(m, target)), None)


def _find(app: App, target: ObjectRef) -> Manifest:
    found = _lookup(app, target)
    if found is None:
        raise ClusterError(f"application {app.name} does not declare {target.resource} {target.name}")
    return found


def _filled(value: Any, time: str) -> Any:
    return value.replace(NOW, time) if isinstance(value, str) else value


def _pruned(manifest: Manifest, steps: tuple[Step, ...]) -> Manifest:
    """Without the empty maps that removed fields leave behind."""
    for step in steps:
        parent = step.path.rpartition("/")[0]
        while step.before is REMOVED and parent and parent != "/metadata" and parent != "/spec":
            if _value(manifest, parent) != {}:
                break
            manifest = changed(manifest, {parent: REMOVED})
            parent = parent.rpartition("/")[0]
    return manifest


def _value(manifest: Any, pointer: str) -> Any:
    """The value at a JSON pointer; ``REMOVED`` where there is none."""
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(manifest, list):
            if not part.isdigit() or int(part) >= len(manifest):
                return REMOVED
            manifest = manifest[int(part)]
        elif isinstance(manifest, Mapping) and part in manifest:
            manifest = manifest[part]
        else:
            return REMOVED
    return manifest


def _restartable(draw: _Draw) -> Manifest | None:
    """The workload, if its pods may be replaced as an innocent change.

    A registry keeps in memory who has registered, and they do that when they start: nobody restarts one without them.
    """
    return None if draw.component.kind == "registry" else draw.workload


def _container(draw: _Draw) -> tuple[Manifest, int, Manifest] | None:
    """The workload, the index of the component's own container, and that container."""
    workload = _restartable(draw)
    if workload is None:
        return None
    for index, container in enumerate(workload["spec"]["template"]["spec"]["containers"]):
        if container["name"] == draw.component.container:
            return workload, index, container
    return None


def _image(draw: _Draw) -> Change | None:
    """Another working build: a newer one in the present, an older one before what is declared."""
    found = _container(draw)
    if found is None or found[2]["image"] not in draw.component.releases:
        return None
    workload, index, container = found
    releases = draw.component.releases
    at = releases.index(container["image"])
    # A step back is a rare thing (0.6 % of deploys), and has a kind of its own.
    others = releases[:at][-3:] if draw.past else releases[at + 1 :][:3]
    if not others:
        return None
    other = draw.chance.choice("release", others)
    return draw.change(
        "image", workload, (_pointer(*_POD, "containers", index, "image"), container["image"], other)
    )


_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "TZ": ("UTC", "Etc/UTC", "Europe/London", "Europe/Berlin", "America/New_York"),
    "APP_ENV": ("production", "prod", "live"),
    "DEPLOY_ENV": ("production", "prod"),
    "REGION": ("eu-west-1", "eu-central-1", "us-east-1", "ap-southeast-2"),
    "GIT_SHA": (),
    "BUILD_ID": (),
    "RELEASE": (),
    "FEATURE_NEW_CHECKOUT": ("true", "false"),
    "FEATURE_BETA_BANNER": ("on", "off"),
    "FEATURE_AUDIT_LOG": ("true", "false"),
    "METRICS_PREFIX": ("app", "svc", "prod"),
    "SENTRY_ENVIRONMENT": ("production", "prod-eu", "prod-us"),
    "OTEL_RESOURCE_ATTRIBUTES": (
        "deployment.environment=prod",
        "deployment.environment=production,team=core",
    ),
    "LANG": ("C.UTF-8", "en_US.UTF-8"),
    "SUPPORT_CONTACT": ("oncall@example.com", "platform@example.com", "sre@example.com"),
    "RESTART": ("1", "2", "3", "4", "7"),
    "MAINTENANCE_WINDOW": ("sun-02:00", "sat-03:30", "tue-04:00"),
    "COST_CENTER": ("4711", "1204", "8830"),
}
"""Environment variables that no program here reads, and values that they take (none: a hash)."""


def _setting(chance: Chance, name: str) -> str:
    values = _SETTINGS[name]
    return chance.choice("value", values) if values else f"{chance.bits('value'):016x}"[:7]


def _env(draw: _Draw) -> Change | None:
    """A variable that no program reads comes, goes or gets another value."""
    found = _container(draw)
    if found is None:
        return None
    workload, index, container = found
    env = container.get("env", REMOVED)
    known = [] if env is REMOVED else env
    chance = draw.chance
    name = chance.choice("name", tuple(_SETTINGS))
    kept = [variable for variable in known if variable["name"] != name]
    value = _setting(chance, name)
    if len(kept) < len(known) and known != [*kept, {"name": name, "value": value}]:
        other: Any = [
            {"name": name, "value": value} if variable["name"] == name else variable for variable in known
        ]
    else:
        other = [*kept, {"name": name, "value": value}]
    if other == known:
        return None
    return draw.change("env", workload, (_pointer(*_POD, "containers", index, "env"), env, other))


def _resources(draw: _Draw) -> Change | None:
    """A CPU request goes up or down, or a limit is wider."""
    found = _container(draw)
    # An autoscaler measures use against requests: it would answer.
    if found is None or _limited(draw) or _scaler(draw) is not None:
        return None
    workload, index, container = found
    resources = container.get("resources") or {}
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    chance = draw.chance
    choices: list[tuple[tuple[str, str], str]] = []
    if "cpu" in requests:
        bound = quantity.milli(limits["cpu"]) if "cpu" in limits else 2000
        sizes = [size for size in (50, 100, 150, 200, 250) if size <= bound]
        choices += [(("requests", "cpu"), f"{size}m") for size in sizes]
    if "cpu" in limits:
        wide = quantity.milli(limits["cpu"])
        choices += [(("limits", "cpu"), f"{size}m") for size in (wide * 5 // 4, wide * 3 // 2, wide * 2)]
    if "memory" in limits:
        size = quantity.bytes_(limits["memory"]) // (1024 * 1024)
        choices += [(("limits", "memory"), f"{more}Mi") for more in (size * 5 // 4, size * 3 // 2, size * 2)]
    changes = [
        (path, other) for path, other in choices if quantity.compare(resources[path[0]][path[1]], other) != 0
    ]
    if not changes:
        return None
    (group, name), other = chance.choice("size", changes)
    path = _pointer(*_POD, "containers", index, "resources", group, name)
    return draw.change("resources", workload, (path, resources[group][name], other))


def _limited(draw: _Draw) -> bool:
    """Whether the namespace bounds what pods may ask for."""
    return any(
        m["kind"] in ("ResourceQuota", "LimitRange") and m["metadata"].get("namespace") == draw.namespace
        for m in draw.app.manifests
    )


def _probe(draw: _Draw) -> Change | None:
    """A probe is asked less often, given more time, or allowed more failures."""
    found = _container(draw)
    if found is None:
        return None
    workload, index, container = found
    names = [name for name in ("livenessProbe", "readinessProbe") if name in container]
    if not names:
        return None
    chance = draw.chance
    name = chance.choice("probe", names)
    probe = container[name]
    field, default, others = chance.choice(
        "field",
        (
            ("periodSeconds", 10, (10, 15, 20, 30)),
            ("timeoutSeconds", 1, (2, 3, 5)),
            ("failureThreshold", 3, (3, 4, 5, 6)),
            ("initialDelaySeconds", 0, (5, 10, 15, 20)),
        ),
    )
    declared = probe.get(field, REMOVED)
    least = default if declared is REMOVED else declared
    wider = [value for value in others if value > least]
    # A probe that has to answer within its period must go on doing so.
    if field == "timeoutSeconds":
        wider = [value for value in wider if value <= probe.get("periodSeconds", 10)]
    if not wider:
        return None
    path = _pointer(*_POD, "containers", index, name, field)
    return draw.change("probe", workload, (path, declared, chance.choice("value", wider)))


_NOTES: Mapping[str, tuple[str, ...]] = {
    "example.com/owner": ("platform", "core", "checkout", "search", "data", "growth"),
    "example.com/runbook": ("https://wiki.example.com/runbooks/prod", "https://runbooks.example.com/tier-2"),
    "example.com/oncall": ("#team-core-oncall", "#platform-oncall", "@sre-primary"),
    "example.com/last-reviewed": ("2025-11", "2026-01", "2026-02", "2026-04", "2026-05"),
    "description": ("do not scale by hand", "owned by team core", "see runbook", "migrated in 2025"),
    "backup.velero.io/backup-volumes-excludes": ("tmp", "cache"),
    "reloader.stakater.com/auto": ("true", "false"),
    "downscaler/uptime": ("Mon-Sun 00:00-24:00 UTC",),
    "argocd-image-updater.argoproj.io/update-strategy": ("semver", "digest"),
    "cost.example.com/center": ("4711", "1204", "8830", "2250"),
    "goldilocks.fairwinds.com/vpa-update-mode": ("off",),
    "polaris.fairwinds.com/exempt": ("true",),
}
"""Annotations of workloads that nothing in a cluster reads."""

_POD_NOTES: Mapping[str, tuple[str, ...]] = {
    "prometheus.io/scrape": ("true", "false"),
    "prometheus.io/path": ("/metrics", "/internal/metrics"),
    "cluster-autoscaler.kubernetes.io/safe-to-evict": ("true", "false"),
    "checksum/config": (),
    "rollme": (),
    "sidecar.opentelemetry.io/inject": ("false",),
    "linkerd.io/inject": ("disabled",),
}
"""Annotations of pods that nothing here reads (none: a hash)."""


def _annotation(draw: _Draw) -> Change | None:
    """A note on the workload, or one on its pods, which replaces them."""
    workload = draw.workload
    if workload is None:
        return None
    chance = draw.chance
    on_pods = _restartable(draw) is not None and chance.yes("on pods", 0.4)
    notes = _POD_NOTES if on_pods else _NOTES
    where = ("spec", "template", "metadata") if on_pods else ("metadata",)
    name = chance.choice("name", tuple(notes))
    other: Any = (
        chance.choice("value", notes[name])
        if notes[name]
        else f"{chance.bits('value'):016x}{chance.bits('more'):016x}"
    )
    return _other_value(draw, "annotation", workload, _pointer(*where, "annotations", name), other)


_LABELS: Mapping[str, tuple[str, ...]] = {
    "team": ("platform", "core", "checkout", "search", "data", "growth", "travel"),
    "env": ("prod", "production", "live"),
    "tier": ("backend", "frontend", "data", "edge"),
    "cost-center": ("4711", "1204", "8830", "2250"),
    "criticality": ("high", "medium", "tier-1", "tier-2"),
    "data-classification": ("internal", "confidential", "public"),
    "business-unit": ("travel", "retail", "shared"),
    "managed-since": ("2024", "2025", "2026"),
}


def _label(draw: _Draw) -> Change | None:
    """A label of the workload itself, which no selector of the application asks for."""
    workload = draw.workload
    if workload is None:
        return None
    name = draw.chance.choice("name", tuple(_LABELS))
    other = draw.chance.choice("value", _LABELS[name])
    return _other_value(draw, "label", workload, _pointer("metadata", "labels", name), other)


def _other_value(draw: _Draw, kind: Kind, target: Manifest, path: str, other: Any) -> Change | None:
    declared = _value(target, path)
    if declared == other:
        # What is declared already can only have been missing.
        other = REMOVED
    return draw.change(kind, target, (path, declared, other))


def _restart(draw: _Draw) -> Change | None:
    """``kubectl rollout restart``: a trace that is left, so never what was there before."""
    workload = _restartable(draw)
    if workload is None or draw.past:
        return None
    path = _pointer("spec", "template", "metadata", "annotations", RESTARTED)
    return draw.change("restart", workload, (path, _value(workload, path), NOW))


def _scale(draw: _Draw) -> Change | None:
    """One replica more or less of what keeps no state and is not scaled by itself."""
    workload = draw.workload
    if workload is None or not draw.component.stateless or _scaler(draw) is not None or _limited(draw):
        return None
    if workload["kind"] == "DaemonSet" or _hard_spread(workload):
        return None
    replicas = workload["spec"].get("replicas", REMOVED)
    count = 1 if replicas is REMOVED else replicas
    others = [other for other in (count + 1, count - 1, count + 2) if 1 <= other <= 5]
    if _budget_of(draw) is not None:
        # Fewer pods than a budget asks for could never be drained.
        others = [other for other in others if other > count]
    if not others:
        return None
    other = draw.chance.choice("replicas", others)
    return draw.change("scale", workload, ("/spec/replicas", replicas, other))


def _hard_spread(workload: Manifest) -> bool:
    """Whether more pods could be refused a node."""
    pod = workload["spec"]["template"]["spec"]
    affinity = (pod.get("affinity") or {}).get("podAntiAffinity") or {}
    hard = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    spread = pod.get("topologySpreadConstraints") or ()
    return bool(hard) or any(s.get("whenUnsatisfiable") != "ScheduleAnyway" for s in spread)


def _scaler(draw: _Draw) -> Manifest | None:
    for manifest in draw.app.manifests:
        if manifest["kind"] == "HorizontalPodAutoscaler" and _is_near(draw, manifest):
            target = manifest["spec"]["scaleTargetRef"]
            if target["name"] == draw.component.name:
                return manifest
    return None


def _is_near(draw: _Draw, manifest: Manifest) -> bool:
    return bool(manifest["metadata"].get("namespace") == draw.namespace)


def _budget_of(draw: _Draw) -> Manifest | None:
    """The disruption budget that selects the component's pods."""
    workload = draw.workload
    labels = {} if workload is None else workload["spec"]["template"]["metadata"].get("labels") or {}
    for manifest in draw.app.manifests:
        if manifest["kind"] == "PodDisruptionBudget" and _is_near(draw, manifest):
            wanted = (manifest["spec"].get("selector") or {}).get("matchLabels") or {}
            if wanted.items() <= labels.items():
                return manifest
    return None


def _template(draw: _Draw) -> Change | None:
    """Anything of the pod template that has no effect on users."""
    found = _container(draw)
    if found is None:
        return None
    workload, index, _ = found
    template = workload["spec"]["template"]
    bounded = _limited(draw) or _scaler(draw) is not None
    pods = templates.Pods(
        draw.app, draw.component, draw.namespace, template, index, draw.chance.at("template"), bounded
    )
    changes = templates.drawn(pods)
    if changes is None:
        return None
    pointers = ((_pointer("spec", "template", *path), value) for path, value in changes.items())
    return draw.change("template", workload, *((p, _value(workload, p), value) for p, value in pointers))


_COMMENTS: Mapping[str, str] = {
    "sh": "#", "conf": "#", "yaml": "#", "yml": "#", "properties": "#", "env": "#", "toml": "#", "py": "#", "lua": "--",
    "sql": "--",
}  # fmt: skip
"""How a line is commented out, by the ending of the file."""

_REMARKS = (
    "reviewed, no change",
    "keep in sync with staging",
    "formatting",
    "owner: platform",
    "see the wiki before editing",
    "migrated from the old repository",
    "TODO: move to the chart",
    "ticket closed",
)


def _configmap(draw: _Draw) -> Change | None:
    """A comment in a file that the component mounts."""
    workload = draw.workload
    if workload is None:
        return None
    volumes = workload["spec"]["template"]["spec"].get("volumes") or ()
    mounted = {v["configMap"]["name"] for v in volumes if "name" in (v.get("configMap") or {})}
    files = [
        (manifest, key)
        for manifest in draw.app.manifests
        if manifest["kind"] == "ConfigMap"
        and _is_near(draw, manifest)
        and manifest["metadata"]["name"] in mounted
        for key in manifest.get("data") or ()
        if key.rpartition(".")[2] in _COMMENTS
    ]
    switched = _switched(draw)
    if switched is not None and (not files or draw.chance.yes("flag", 0.5)):
        return switched
    if not files:
        return None
    manifest, key = draw.chance.choice("file", files)
    text = manifest["data"][key]
    mark = _COMMENTS[key.rpartition(".")[2]]
    end = "" if not text or text.endswith("\n") else "\n"
    other = f"{text}{end}{mark} {draw.chance.choice('remark', _REMARKS)}\n"
    return draw.change("configmap", manifest, (_pointer("data", key), text, other))


def _switched(draw: _Draw) -> Change | None:
    """A feature flag that the component serves and that changes nothing about how users are served, switched."""
    file = draw.app.flag_file
    if file is None or draw.component.name != file.server:
        return None
    found = [
        m for m in draw.app.manifests if m["kind"] == "ConfigMap" and m["metadata"]["name"] == file.config_map
    ]
    flags = (orjson.loads(found[0]["data"][file.key])["flags"] if found else {}).items()
    known = [(name, flag) for name, flag in flags if name in file.harmless and len(flag["variants"]) > 1]
    if not known:
        return None
    name, flag = draw.chance.choice("switched", known)
    other = draw.chance.choice("variant", sorted(set(flag["variants"]) - {flag["defaultVariant"]}))
    text = found[0]["data"][file.key]
    at = text.index(f'"{name}"')
    now, then = (f'"defaultVariant": "{variant}"' for variant in (flag["defaultVariant"], other))
    changed = text[:at] + text[at:].replace(now, then, 1)
    return draw.change("configmap", found[0], (_pointer("data", file.key), text, changed))


def _secret(draw: _Draw) -> Change | None:
    """A rotated value in a Secret that no pod reads, or that only pulls images."""
    used = set(_secrets_read(draw.app))
    found = [
        manifest
        for manifest in draw.app.manifests
        if manifest["kind"] == "Secret" and _is_near(draw, manifest) and manifest.get("data")
        and manifest.get("type", "Opaque") == "Opaque" and manifest["metadata"]["name"] not in used
    ]  # fmt: skip
    if not found:
        return None
    secret = draw.chance.choice("secret", found)
    key = draw.chance.choice("key", sorted(secret["data"]))
    plain = f"{draw.chance.bits('value'):016x}{draw.chance.bits('more'):016x}"
    other = b64encode(plain[: draw.chance.between("length", 16, 32)].encode()).decode()
    return draw.change("secret", secret, (_pointer("data", key), secret["data"][key], other))


def _secrets_read(app: App) -> Iterator[str]:
    """Names of the Secrets that the application's pods name anywhere."""
    for manifest in app.manifests:
        spec = manifest.get("spec")
        # To go through a tree takes ten times as long as to write it down, and most name none.
        if spec and b"ecret" in orjson.dumps(spec):
            yield from _named_secrets(spec)


def _named_secrets(tree: Any) -> Iterator[str]:
    if isinstance(tree, list):
        for item in tree:
            yield from _named_secrets(item)
    elif isinstance(tree, Mapping):
        for key, value in tree.items():
            if key in ("secretName", "secretRef", "secretKeyRef", "secret", "imagePullSecrets"):
                yield from _texts(value)
            else:
                yield from _named_secrets(value)


def _texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, list):
        for item in tree:
            yield from _texts(item)
    elif isinstance(tree, Mapping):
        for value in tree.values():
            yield from _texts(value)


def _autoscaler(draw: _Draw) -> Change | None:
    """An autoscaler may go higher."""
    scaler = _scaler(draw)
    if scaler is None:
        return None
    most = scaler["spec"]["maxReplicas"]
    other = most + draw.chance.between("more", 1, 4)
    return draw.change("autoscaler", scaler, ("/spec/maxReplicas", most, other))


def _budget(draw: _Draw) -> Change | None:
    """A new disruption budget that allows one pod to go."""
    workload = draw.workload
    if workload is None or draw.past or _budget_of(draw) is not None:
        return None
    metadata = {"name": f"{draw.component.name}-pdb", "namespace": draw.namespace}
    spec = {
        "maxUnavailable": 1,
        "selector": {"matchLabels": dict(workload["spec"]["selector"]["matchLabels"])},
    }
    return draw.creation(
        "budget",
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec},
    )


def _policy(draw: _Draw) -> Change | None:
    """One more namespace may connect."""
    found = [
        (manifest, index)
        for manifest in draw.app.manifests
        if manifest["kind"] == "NetworkPolicy" and _is_near(draw, manifest)
        for index, rule in enumerate(manifest["spec"].get("ingress") or ())
        if rule.get("from")
    ]
    if not found:
        return None
    policy, index = draw.chance.choice("rule", found)
    name = draw.chance.choice(
        "namespace", ("monitoring", "observability", "ingress-nginx", "backup", "default")
    )
    peer = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}
    peers = policy["spec"]["ingress"][index]["from"]
    if peer in peers:
        return None
    return draw.change("policy", policy, (_pointer("spec", "ingress", index, "from"), peers, [*peers, peer]))


def _quota(draw: _Draw) -> Change | None:
    """A quota is wider."""
    quotas = [m for m in draw.app.manifests if m["kind"] == "ResourceQuota" and _is_near(draw, m)]
    counted = [(m, key) for m in quotas for key in m["spec"]["hard"] if key in ("pods", "count/pods")]
    if not counted:
        return None
    manifest, key = draw.chance.choice("quota", counted)
    hard = manifest["spec"]["hard"][key]
    other = str(quantity.whole(hard) + draw.chance.choice("more", (5, 10, 20)))
    return draw.change("quota", manifest, (_pointer("spec", "hard", key), hard, other))


_SERVICE_NOTES: Mapping[str, tuple[str, ...]] = {
    "prometheus.io/scrape": ("true", "false"),
    "prometheus.io/port": ("9090", "9100", "8080"),
    "external-dns.alpha.kubernetes.io/ttl": ("60", "300"),
    "example.com/owner": ("platform", "core", "travel"),
    "consul.hashicorp.com/service-sync": ("false",),
    "getambassador.io/config": ("none",),
}


def _service(draw: _Draw) -> Change | None:
    """A note on the component's Service."""
    name = draw.component.service
    service = _lookup(draw.app, ObjectRef("services", name, draw.namespace)) if name else None
    if service is None:
        return None
    own = draw.chance.at("instead")
    if own.yes("serving", SERVING) and (other_way := _serving(replace(draw, chance=own))) is not None:
        return other_way
    key = draw.chance.choice("name", tuple(_SERVICE_NOTES))
    other = draw.chance.choice("value", _SERVICE_NOTES[key])
    return _other_value(draw, "service", service, _pointer("metadata", "annotations", key), other)


_EXTRA_PORTS: Mapping[str, tuple[int, ...]] = {
    "metrics": (9464, 9102, 9090, 2112),
    "admin": (9901, 8085, 15000),
    "debug": (6060, 5005),
    "health": (8086, 13133),
}
"""Ports that Services offer beside those on which anybody calls."""

_PORT_NAMES: Mapping[str, tuple[str, ...]] = {
    "grpc_service": ("grpc", "rpc", "grpc-api"),
    "web": ("http", "web", "http-main"),
    "mongodb": ("mongodb", "mongo", "tcp-mongo"),
    "memcached": ("memcached", "memcache", "tcp-memcached"),
}
_PROTOCOLS: Mapping[str, tuple[str, ...]] = {
    "grpc_service": ("grpc", "kubernetes.io/h2c"),
    "web": ("http",),
    "mongodb": ("mongo", "tcp"),
}
_TRAFFIC_WAYS = {
    "port": 0.35,
    "renamed": 0.2,
    "protocol": 0.2,
    "target": 0.1,
    "selector": 0.1,
    "affinity": 0.05,
}


def _serving(draw: _Draw) -> Change | None:
    """What the component's Service says of its ports and pods, without any effect on who calls it."""
    name = draw.component.service
    service = _lookup(draw.app, ObjectRef("services", name, draw.namespace)) if name else None
    if service is None or service["spec"].get("type", "ClusterIP") != "ClusterIP":
        return None
    left = dict(_TRAFFIC_WAYS)
    while left:
        way = draw.chance.weighted(f"way{len(left)}", left)
        del left[way]
        other = _SERVED[way](draw, service, draw.chance.at(way))
        if other is not None:
            path = _pointer("spec", *other[0])
            return draw.change("serving", service, (path, _value(service, path), other[1]))
    return None


_Served = tuple[tuple[str | int, ...], Any]
"""A field of a Service's spec and what it becomes."""


def _port_more(draw: _Draw, service: Manifest, chance: Chance) -> _Served | None:
    ports = service["spec"].get("ports") or []
    ours = [
        each
        for each in ports
        if each.get("name") in _EXTRA_PORTS and each["port"] in _EXTRA_PORTS[each["name"]]
    ]
    if ours and len(ports) > 1 and not any(each["port"] == draw.component.offered_port for each in ours):
        return ("ports",), [each for each in ports if each not in ours]
    name = chance.choice("name", tuple(_EXTRA_PORTS))
    number = chance.choice("number", _EXTRA_PORTS[name])
    if any(each.get("name") == name or each["port"] == number or not each.get("name") for each in ports):
        return None
    made: Manifest = {"name": name, "port": number}
    if chance.yes("target", 0.7):
        made["targetPort"] = number
    return ("ports",), [*ports, made]


def _offered(draw: _Draw, service: Manifest) -> int | None:
    """The place of the port on which the component is called."""
    ports = service["spec"].get("ports") or ()
    return next((i for i, each in enumerate(ports) if each["port"] == draw.component.offered_port), None)


def _port_renamed(draw: _Draw, service: Manifest, chance: Chance) -> _Served | None:
    ports = service["spec"].get("ports") or []
    place = _offered(draw, service)
    # Routes may ask for a port by its name.
    if place is None or any(m["kind"] in _ROUTES for m in draw.app.manifests):
        return None
    taken = {each.get("name") for each in ports}
    others = [
        each
        for each in _PORT_NAMES.get(draw.component.kind, ("main", "tcp-main", "serving"))
        if each not in taken
    ]
    return (("ports", place, "name"), chance.choice("name", others)) if others else None


_ROUTES = ("Ingress", "HTTPRoute", "ServiceMonitor", "EndpointSlice", "Endpoints")


def _port_protocol(draw: _Draw, service: Manifest, chance: Chance) -> _Served | None:
    place, known = _offered(draw, service), _PROTOCOLS.get(draw.component.kind, ("tcp",))
    if place is None:
        return None
    path = ("ports", place, "appProtocol")
    now = _value(service, _pointer("spec", *path))
    return path, chance.choice("protocol", known) if now is REMOVED else REMOVED


def _port_target(draw: _Draw, service: Manifest, chance: Chance) -> _Served | None:
    """The port that a Service leads to, written down where it was left out."""
    place = _offered(draw, service)
    if place is None or "targetPort" in service["spec"]["ports"][place]:
        return None
    return ("ports", place, "targetPort"), draw.component.offered_port


def _selector_more(draw: _Draw, service: Manifest, chance: Chance) -> _Served | None:
    """One more label that all pods bear that a Service selects, or will ever bear: those that their workload selects by."""
    selector, workload = service["spec"].get("selector") or {}, draw.workload
    if not selector or workload is None:
        return None
    for manifest in draw.app.manifests:
        labels = ((manifest.get("spec") or {}).get("template") or {}).get("metadata", {}).get("labels") or {}
        if manifest["kind"] not in _ROUTES and manifest is not workload and _is_near(draw, manifest):
            if selector.items() <= labels.items():
                return None
    own = workload["spec"]["selector"].get("matchLabels") or {}
    more = sorted(set(own) - set(selector))
    if (
        not more
        or not selector.items() <= (workload["spec"]["template"]["metadata"].get("labels") or {}).items()
    ):
        return None
    label = chance.choice("label", more)
    return ("selector",), {**selector, label: own[label]}


def _kept_apart(draw: _Draw, service: Manifest, chance: Chance) -> _Served | None:
    """Clients stay with a pod, where there is only one."""
    workload = draw.workload
    if workload is None or workload["spec"].get("replicas", 1) != 1 or _scaler(draw) is not None:
        return None
    if service["spec"].get("clusterIP") == "None" or draw.component.stateless:
        return None
    known = service["spec"].get("sessionAffinity", "None")
    return ("sessionAffinity",), "ClientIP" if known == "None" else "None"


_SERVED: Mapping[str, Callable[[_Draw, Manifest, Chance], _Served | None]] = {
    "port": _port_more,
    "renamed": _port_renamed,
    "protocol": _port_protocol,
    "target": _port_target,
    "selector": _selector_more,
    "affinity": _kept_apart,
}


_TASKS = (
    "report",
    "cleanup",
    "export",
    "audit",
    "sync",
    "backfill",
    "reindex",
    "digest",
    "warmup",
    "archive",
)
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""What generated names end in (``k8s.io/apimachinery/pkg/util/rand``)."""
_SCHEDULES = ("15 2 * * *", "0 3 * * *", "30 1 * * *", "0 * * * *", "20 */6 * * *", "0 5 * * 1")


def task_pod(name: str, seconds: int) -> Manifest:
    """The pod of a task that writes two lines and ends well after some seconds."""
    script = f"echo starting {name}; sleep {seconds}; echo finished {name}"
    container = {
        "name": "task",
        "image": "busybox:1.36",
        "command": ["sh", "-c", script],
        "resources": {
            "requests": {"cpu": "10m", "memory": "16Mi"},
            "limits": {"cpu": "100m", "memory": "64Mi"},
        },
    }
    return {"containers": [container], "restartPolicy": "Never"}


def _job(draw: _Draw) -> Change | None:
    """A task that somebody runs once."""
    if draw.past or draw.workload is None or _limited(draw):
        return None
    chance = draw.chance
    task = f"{draw.component.name}-{chance.choice('task', _TASKS)}"
    name = f"{task}-{''.join(chance.choice(place, _LETTERS) for place in range(5))}"
    if _lookup(draw.app, ObjectRef("jobs.batch", name, draw.namespace)) is not None:
        return None
    pod = task_pod(task, chance.between("seconds", 5, 90))
    spec = {"backoffLimit": 2, "template": {"metadata": {"labels": {"task": task}}, "spec": pod}}
    metadata = {"name": name, "namespace": draw.namespace, "labels": {"task": task}}
    return draw.creation("job", {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})


def _cronjob(draw: _Draw) -> Change | None:
    """A task that runs by schedule from now on."""
    if draw.past or draw.workload is None or _limited(draw):
        return None
    chance = draw.chance
    name = f"{draw.component.name}-{chance.choice('task', _TASKS)}"
    if _lookup(draw.app, ObjectRef("cronjobs.batch", name, draw.namespace)) is not None:
        return None
    pod = task_pod(name, chance.between("seconds", 5, 60))
    template = {
        "spec": {"backoffLimit": 1, "template": {"metadata": {"labels": {"task": name}}, "spec": pod}}
    }
    spec = {
        "schedule": chance.choice("schedule", _SCHEDULES),
        "concurrencyPolicy": "Forbid",
        "jobTemplate": template,
    }
    metadata = {"name": name, "namespace": draw.namespace, "labels": {"task": name}}
    return draw.creation(
        "cronjob", {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": spec}
    )


def _strategy(draw: _Draw) -> Change | None:
    """How pods are replaced, how long one has to be ready, how much history is kept."""
    workload = draw.workload
    if workload is None or workload["kind"] != "Deployment":
        return None
    fields: list[tuple[str, tuple[Any, ...]]] = [
        ("/spec/minReadySeconds", (3, 5, 10)),
        ("/spec/progressDeadlineSeconds", (300, 900, 1200)),
        ("/spec/revisionHistoryLimit", (10, 5, 3)),
    ]
    # One more pod could not open the files of the one before it.
    surges = not draw.component.volume and not _limited(draw)
    if surges and workload["spec"].get("strategy", {}).get("type", "RollingUpdate") == "RollingUpdate":
        rolling = (
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%", "maxUnavailable": 0}},
        )
        fields.append(("/spec/strategy", rolling))
    path, values = draw.chance.choice("field", fields)
    declared = _value(workload, path)
    others = [value for value in values if value != declared]
    return draw.change("strategy", workload, (path, declared, draw.chance.choice("value", others)))


def _allowance(draw: _Draw) -> Change | None:
    """A new NetworkPolicy that lets everybody in, where none is: the first step of many who mean to have some."""
    workload = draw.workload
    if workload is None or draw.past or _restrained(draw):
        return None
    labels = dict(workload["spec"]["selector"]["matchLabels"])
    form = draw.chance.choice("form", ("allow-{}", "{}-ingress", "{}", "{}-policy", "np-{}"))
    metadata = {"name": form.format(draw.component.name), "namespace": draw.namespace}
    rule: Manifest = {}
    if draw.chance.yes("peers", 0.5):
        rule = {"from": [{"namespaceSelector": {}}, {"ipBlock": {"cidr": "0.0.0.0/0"}}]}
    spec = {"podSelector": {"matchLabels": labels}, "policyTypes": ["Ingress"], "ingress": [rule]}
    manifest = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata,
        "spec": spec,
    }
    return _new(draw, "allowance", manifest)


def _restrained(draw: _Draw) -> bool:
    """Whether the namespace has policies: one more could be what another is meant to deny."""
    return any(m["kind"] == "NetworkPolicy" and _is_near(draw, m) for m in draw.app.manifests)


def _ceiling(draw: _Draw) -> Change | None:
    """A new ResourceQuota that counts objects and leaves room for many more."""
    if draw.past or draw.workload is None or _limited(draw):
        return None
    chance = draw.chance
    app = draw.app.name.partition("-")[0]
    name = chance.choice(
        "name", ("object-counts", f"{app}-objects", "tenant-quota", "counts", f"{app}-ceiling")
    )
    most = chance.choice("most", (200, 300, 500, 1000))
    counted = chance.choice(
        "counted", ("count/configmaps", "count/secrets", "count/services", "count/jobs.batch")
    )
    metadata = {"name": name, "namespace": draw.namespace}
    spec = {"hard": {counted: str(most)}}
    return _new(
        draw, "ceiling", {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": spec}
    )


_SPARE = (
    "dashboard",
    "alerts",
    "runbook",
    "migration-notes",
    "smoke-test",
    "limits",
    "feature-docs",
    "seed-data",
)


def _settings(draw: _Draw) -> Change | None:
    """A new ConfigMap that people and scripts read, and no pod."""
    if draw.past or draw.workload is None or _limited(draw):
        return None
    chance = draw.chance
    what = chance.choice("what", _SPARE)
    metadata = {"name": f"{draw.component.name}-{what}", "namespace": draw.namespace}
    value = chance.choice("value", _REMARKS)
    data = {f"{what}.yaml": f"# {value}\nversion: {chance.between('version', 1, 40)}\n"}
    return _new(
        draw, "settings", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    )


def _new(draw: _Draw, kind: Kind, manifest: Manifest) -> Change | None:
    """A new object; none where one has its name."""
    return None if _lookup(draw.app, ref(manifest)) is not None else draw.creation(kind, manifest)


_DRAWS: Mapping[str, Callable[[_Draw], Change | None]] = {
    "image": _image,
    "env": _env,
    "resources": _resources,
    "probe": _probe,
    "annotation": _annotation,
    "label": _label,
    "restart": _restart,
    "scale": _scale,
    "configmap": _configmap,
    "secret": _secret,
    "autoscaler": _autoscaler,
    "budget": _budget,
    "policy": _policy,
    "quota": _quota,
    "service": _service,
    "job": _job,
    "cronjob": _cronjob,
    "strategy": _strategy,
    "allowance": _allowance,
    "ceiling": _ceiling,
    "settings": _settings,
    "template": _template,
    "serving": _serving,
}
