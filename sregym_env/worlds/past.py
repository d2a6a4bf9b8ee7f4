"""What a world has lived through: everything that happened up to now, by ordinary API writes at virtual times.

:func:`live` takes a bare cluster and an application. Add-ons and neighbours come, the application is installed as it
once was, changes bring it to what is declared, nodes are drained, tasks run, and things are left lying about. In the
end every workload is healthy and ``world.app`` declares what is live.

Laws (ages, revisions, causes, working hours): counted in public estates of clusters, but for two that follow from
cost: changes of the last five hours are few, because those of the present come on top, and histories are short.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sregym_env.cluster.app import App
from sregym_env.cluster.apply import recreate_pods, ref
from sregym_env.cluster.composed import composed, seen_by
from sregym_env.cluster.deploy import unavailable
from sregym_env.cluster.edits import REMOVED, ObjectRef
from sregym_env.errors import AppError
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.pulling import repository
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import DAY, HOUR, MINUTE, SECOND, seconds
from sregym_env.sim.containers import node_files
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs.machine import kubelet_unit
from sregym_env.sim.world.simworld import LOOKING
from sregym_env.worlds import beside, changes
from sregym_env.worlds.changes import Change, Step
from sregym_env.worlds.nameserver import Serve, Zone
from sregym_env.worlds.placement import BOUND, Bind
from sregym_env.worlds.tenants import tasks
from sregym_env.worlds.tenants.deeds import (
    Act,
    Alter,
    Cordon,
    Deed,
    Drain,
    Install,
    Patch,
    Release,
    live_through,
)
from sregym_env.worlds.tenants.delivery import FLUX, HELM, Delivery, dated
from sregym_env.worlds.tenants.gitops import Delivered, registered
from sregym_env.worlds.tenants.neighbours import Neighbourhood, neighbourhood
from sregym_env.worlds.tenants.oddities import Place, oddities
from sregym_env.worlds.tenants.rarities import rarities
from sregym_env.worlds.tenants.workloads import Span, last_change

QUIET = 10 * MINUTE
"""How long before the present the application is changed last."""

APART = 4 * MINUTE
"""How far changes of the application lie apart at least, so that one is rolled out before the next comes."""

SEEN = 65 * MINUTE
"""How much of the past is lived through second by second: a little longer than events last."""

STARTING = 15 * MINUTE
"""How long the application has to itself when it is installed."""

SCALED = (0.0, 0.14)
"""Share of the workloads that have been scaled up and down again, from and to."""

SCALINGS = (1.6, 0.8)
"""How often: median and spread (lognormal)."""


def live(
    world: EmbeddedWorld, app: App, chance: Chance, present: int | None = None, zone: Zone | None = None
) -> App:
    """Let a bare world live to ``present`` with ``app`` in it; what its application declares then.

    ``present`` is in microseconds since the Unix epoch; without it, the present of the world's plan. ``zone`` is what
    the cluster's name server answers beyond the cluster. Raises AppError where the application is not healthy in the
    end.
    """
    span = Span(world.now(), world.plan.present if present is None else present)
    neighbours = neighbourhood(app, chance.at("neighbours"), span, len(world.cluster.list("nodes")))
    start = installed_at(chance.at("start"), span)
    place = _place(app, neighbours, start, span)
    left = oddities(place, chance.at("oddities")).and_(rarities(place, chance.at("rarities")))
    beside_it = {**neighbours.story.images, **left.images}
    first, own, releases = _own_past(_open(app, frozenset(map(repository, beside_it))), chance, start, span)
    deeds = [
        Deed(start, Found(first)),
        *own,
        *maintenance(world, chance.at("maintenance"), start, span),
        *_served(zone, chance.at("zone"), start, world.now()),
        *upkeep(world, chance.at("upkeep"), start, span),
        *neighbours.story.deeds,
    ]
    deeds += releases
    world.images = {**world.images, **beside_it}
    deeds = [*deeds, *left.deeds]
    deeds += registered(_delivered(deeds), _changed_by(deeds, FLUX), chance.at("registered"))
    reached = 0
    for until in (start + STARTING, span.at(0.5), span.present - SEEN):
        world.memory[LOOKING] = until
        live_through(world, [deed for deed in deeds if reached < deed.time <= until], until)
        reached = max(reached, until)
    del world.memory[LOOKING]
    live_through(world, [deed for deed in deeds if deed.time > reached], span.present)
    _check(world)
    return world.app


def _open(app: App, pulled: Collection[str]) -> App:
    """An application whose registries hand out to everybody what its neighbours pull without a login."""
    if app.parts:
        return composed([_open(part, pulled) for part in app.parts])
    registries = tuple(
        replace(each, closed=tuple(name for name in each.closed if name not in pulled))
        for each in app.registries
    )
    return replace(app, registries=registries)


def _delivered(deeds: Sequence[Deed]) -> list[Delivered]:
    """Everything that was installed, each where it was first."""
    return [
        Delivered(deed.time, manifest)
        for deed, act in _acts(deeds)
        if isinstance(act, Install)
        for manifest in act.manifests
    ]


def _changed_by(deeds: Sequence[Deed], tool: str) -> list[int]:
    """When a tool has changed something of a neighbour."""
    return [deed.time for deed, act in _acts(deeds) if isinstance(act, Alter) and act.change.manager == tool]


def _acts(deeds: Sequence[Deed]) -> Iterator[tuple[Deed, Act]]:
    for deed in deeds:
        yield deed, deed.act.act if isinstance(deed.act, Within) else deed.act


def _own_past(app: App, chance: Chance, start: int, span: Span) -> tuple[App, list[Deed], list[Deed]]:
    """The application as it was first installed, what was done to it since, and what Helm has kept of that.

    Several in one cluster are installed together, and each has a history of its own.
    """
    if app.parts:
        pasts = [_own_past(part, chance.at(part.name), start, span) for part in app.parts]
        named = list(zip((part.name for part in app.parts), pasts, strict=True))
        return (
            composed([first for first, _, _ in pasts]),
            [Deed(deed.time, Within(name, deed.act)) for name, (_, own, _) in named for deed in own],
            [Deed(deed.time, Within(name, deed.act)) for name, (_, _, kept) in named for deed in kept],
        )
    first, history = lived_backwards(app, chance.at("history"), start, span)
    tool = changes.delivery(app)
    own = [
        *installation(first, chance.at("installation"), start, tool),
        *history,
        *later_traces(app, chance.at("traces"), start, span),
        *scalings(app, chance.at("scalings"), start, span),
        *bindings(app, chance.at("bindings"), start, span),
        *marking(chance.at("marking"), start, span),
        *_reruns(app, chance.at("reruns"), start, span),
    ]
    return first, own, _releases(app, own, start) if tool == HELM else []


def _served(zone: Zone | None, chance: Chance, start: int, now: int) -> list[Deed]:
    """The name server's zone, there when the application is installed."""
    if zone is None:
        return []
    return [Deed(max(start - round(chance.uniform("before", 0.2, 30.0) * HOUR), now), Serve(zone))]


def installed_at(chance: Chance, span: Span) -> int:
    """When the application was installed: early in most clusters, never in the last tenth of one's life."""
    if chance.yes("early", 0.55):
        return span.at(chance.uniform("share", 0.02, 0.10))
    return span.at(chance.uniform("share", 0.10, 0.75))


def _place(app: App, neighbours: Neighbourhood, start: int, span: Span) -> Place:
    """Where oddities may lie: not where rules would refuse or cut off what they are, or where they would use up room."""
    spaces, full = {}, {m["metadata"].get("namespace") for m in app.manifests if m["kind"] == "ResourceQuota"}
    for deed in neighbours.story.deeds:
        for manifest in deed.act.manifests if isinstance(deed.act, Install) else ():
            name = manifest["metadata"]["name"]
            if manifest["kind"] == "Namespace" and name in neighbours.tenants:
                spaces[name] = deed.time + MINUTE
            elif manifest["kind"] in ("ResourceQuota", "LimitRange", "NetworkPolicy"):
                full.add(manifest["metadata"]["namespace"])
    open_spaces = {name: since for name, since in spaces.items() if name not in full}
    names = tuple(c.workload_name for c in app.components if c.kind != "load")
    own = "" if app.namespace in full else app.namespace
    served = tuple(served_workloads(app))
    return Place(open_spaces, own, start + STARTING, span, neighbours.tool, names, served)


def served_workloads(app: App) -> Iterator[Manifest]:
    """Deployments in the main namespace that keep nothing, and that a Service of the application's selects."""
    here = [m for m in app.manifests if m["metadata"].get("namespace") == app.namespace]
    selectors = [m["spec"].get("selector") or {} for m in here if m["kind"] == "Service"]
    for manifest in here:
        component = app.by_name.get(app.called(app.namespace, manifest["metadata"]["name"]))
        if (
            manifest["kind"] == "Deployment"
            and component is not None
            and component.stateless
            and component.kind != "load"
        ):
            labels = manifest["spec"]["template"]["metadata"].get("labels") or {}
            if any(selector and selector.items() <= labels.items() for selector in selectors):
                yield manifest


def _check(world: EmbeddedWorld) -> None:
    """Raise AppError where the application does not serve, or the cluster's own workloads are not available."""
    app = world.app
    spaces = (*app.namespaces, "kube-system")
    missing = [name for namespace in spaces for name in unavailable(world.cluster, namespace)]
    fares = world.traffic.health(60.0)
    hurt = [h.journey for h in fares if h.success_ratio < app.slo.of(h.journey).success_ratio]
    if missing or hurt or not fares:
        raise AppError(
            f"application {app.name} is not healthy after its past: unavailable {missing}, hurt journeys {hurt}"
        )


# --- the application's own past -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Found:
    """The application is there from now on: its users come, and its images can be pulled."""

    app: App

    def do(self, world: EmbeddedWorld) -> None:
        """Name it."""
        world.app = self.app


@dataclass(frozen=True, slots=True)
class Within:
    """What is done to one of several applications, as that one sees the world."""

    app: str
    act: Act

    def do(self, world: EmbeddedWorld) -> None:
        """Do it."""
        self.act.do(seen_by(world, self.app))


@dataclass(frozen=True, slots=True)
class Happen:
    """A change of the application that leads to what is declared in the end."""

    change: Change
    chance: Chance

    def do(self, world: EmbeddedWorld) -> None:
        """Make it, with the cause that its author writes."""
        change = self.change
        if cause := changes.cause_of(change, self.chance):
            change = changes.caused(world.app, change, cause)
        changes.happen(world, change)


@dataclass(frozen=True, slots=True)
class GoOn:
    """A task of the application goes on (:class:`~sregym_env.worlds.tenants.tasks.GoesOn`), and was never off."""

    change: Change
    """By which it would have been switched on."""

    def do(self, world: EmbeddedWorld) -> None:
        """Let it, and have the application declare it as it is."""
        tasks.GoesOn(self.change.target, self.change.manager).do(world)
        world.app = changes.applied(world.app, self.change)


@dataclass(frozen=True, slots=True)
class Improvise:
    """A change that is drawn from what the application is at that time, and stays."""

    kinds: tuple[str, ...]
    component: str
    chance: Chance

    def do(self, world: EmbeddedWorld) -> None:
        """Draw and make it; nothing where none is possible."""
        change = changes.drawn(world.app, self.chance, components=(self.component,), kinds=self.kinds)
        if change is not None:
            Happen(change, self.chance).do(world)


@dataclass(frozen=True, slots=True)
class Regret:
    """A change that is drawn, and undone when somebody has looked at what it does."""

    component: str
    chance: Chance

    def do(self, world: EmbeddedWorld) -> None:
        """Make it, wait some minutes (nine in the median), undo it."""
        change = changes.drawn(
            world.app, self.chance, components=(self.component,), kinds=("image", "env", "resources")
        )
        if change is None:
            return
        made = changes.happen(world, change)
        world.advance(60.0 * min(max(self.chance.lognormal("minutes", 9.0, 0.7), 3.0), 45.0))
        changes.happen(world, changes.undo(made))


@dataclass(frozen=True, slots=True)
class Surge:
    """A workload was scaled up for a moment (:func:`~sregym_env.worlds.changes.surge`)."""

    component: str
    chance: Chance

    def do(self, world: EmbeddedWorld) -> None:
        """Scale up, and down again."""
        changes.surge(world, self.component, self.chance)


@dataclass(frozen=True, slots=True)
class Marked:
    """A release that only marks objects anew (:func:`~sregym_env.worlds.changes.release`)."""

    chance: Chance

    def do(self, world: EmbeddedWorld) -> None:
        """Write the marks."""
        share = self.chance.uniform("share", 0.3, 0.95)
        changes.happen_at_once(world, changes.release(world.app, self.chance, share))


@dataclass(frozen=True, slots=True)
class Touch:
    """A patch of an object that may have gone since."""

    target: ObjectRef
    patch: Manifest
    manager: str

    def do(self, world: EmbeddedWorld) -> None:
        """Send it."""
        with suppress(StatusError):
            Patch(self.target, self.patch, self.manager).do(world)


def lived_backwards(app: App, chance: Chance, start: int, span: Span) -> tuple[App, list[Deed]]:
    """The application as it was first installed, and the changes that have brought it to what is declared."""
    times = _change_times(app, chance, start, span)
    state, deeds = app, []
    for index, (time, component) in reversed(list(enumerate(times))):
        mine = chance.at("change", index)
        change = _replacing(state, component, mine)
        if change is None:
            continue
        state = changes.before(state, change)
        deeds.append(Deed(time, Happen(change, mine.at("cause"))))
    for index, manifest in enumerate(_tasks(state)):
        mine, spec = chance.at("task", index), manifest["spec"]
        if spec.get("suspend"):
            continue
        change = _switched_on(manifest, changes.delivery(app))
        state = changes.before(state, change)
        time = tasks.since(spec, tasks.kept(spec), span.present, mine)
        if time > start + STARTING:
            deeds.append(Deed(time, tasks.Ran(change.target)))
        on = Happen(change, mine) if mine.yes("switched", tasks.SWITCHED) else GoOn(change)
        deeds.append(Deed(min(max(time, start + STARTING), span.present - QUIET), on))
    return state, deeds


def _replacing(app: App, component: str, chance: Chance) -> Change | None:
    """A change before what is declared that has replaced the component's pods, if one can be drawn soon."""
    change = None
    for attempt in range(4):
        change = changes.drawn(
            app,
            chance.at(attempt),
            components=(component,),
            kinds=("image", "env", "resources", "probe", "annotation"),
            past=True,
        )
        if change is not None and change.rolls:
            return change
    return change


def _change_times(app: App, chance: Chance, start: int, span: Span) -> list[tuple[int, str]]:
    """When which component was changed, oldest first: a drawn share of them, most once, the last time as by law."""
    share = chance.uniform("share", 0.22, 0.40)
    found = []
    for component in app.components:
        mine = chance.at("times", component.name)
        if component.kind == "load" or not mine.yes("changed", share):
            continue
        count = mine.weighted("count", {1: 0.60, 2: 0.25, 3: 0.11, 4: 0.04})
        age = float(last_change(mine.at("last")))
        for index in range(count):
            found.append((in_office(span.ago(age), mine.at("hour", index), start, span), component.name))
            # The gap between two deploys of a service: a day in the median, hours or weeks as well.
            age += mine.lognormal(f"gap{index}", 2.0, 1.4) * DAY
    return _apart(sorted(found), start + STARTING, span.present - QUIET)


def _apart(times: Sequence[tuple[int, str]], earliest: int, latest: int) -> list[tuple[int, str]]:
    """The same times, no two too near each other, all in a range; those for which there is no room are left out."""
    found: list[tuple[int, str]] = []
    due = latest
    for time, name in reversed(times):
        time = min(max(time, earliest), due)
        if time < earliest:
            break
        found.append((time, name))
        due = time - APART
    return found[::-1]


_HOURS = (9, 9, 9, 9, 10, 10, 11, 12, 13, 14, 15, 16)
"""When people deploy: 39 % of deploys fall in the hour after nine, 97 % between eight and seventeen."""


def in_office(time: int, chance: Chance, start: int, span: Span) -> int:
    """A time when people work, near the given one; that one itself where it is in working hours or none is near."""
    day, weekday = time // DAY, (time // DAY + 3) % 7
    if (weekday < 5 and 8 <= (time % DAY) // HOUR < 17) or chance.yes("off hours", 0.03):
        return time
    day -= max(0, weekday - 4)
    hour = chance.choice("hour", _HOURS)
    moved = day * DAY + hour * HOUR + chance.below("second", 3600) * SECOND
    if moved > time:
        moved -= DAY if weekday not in (0,) else 3 * DAY
    return moved if start + STARTING < moved < span.present - QUIET else time


def _tasks(app: App) -> list[Manifest]:
    """The application's CronJobs."""
    return [manifest for manifest in app.manifests if manifest["kind"] == "CronJob"]


def _switched_on(task: Manifest, tool: str) -> Change:
    """A task of the application, as made switched off (see :func:`~sregym_env.worlds.tenants.workloads.task`)."""
    step = Step("/spec/suspend", True, task["spec"].get("suspend", REMOVED))
    return Change("cronjob", ref(task), tool, (step,))


def _reruns(app: App, chance: Chance, start: int, span: Span) -> Iterator[Deed]:
    """Tasks of the application that somebody has run by hand."""
    for manifest in _tasks(app):
        target, share = ref(manifest), tasks.RERUN_IDLE if manifest["spec"].get("suspend") else tasks.RERUN
        earliest, latest = start + STARTING, span.present - QUIET
        again = tasks.reruns(target, chance.at(target.name), earliest, latest, share)
        yield from (Deed(time, act) for time, act in again)


def installation(app: App, chance: Chance, start: int, tool: str) -> list[Deed]:
    """One run of the delivery tool: objects are fractions of a second to seconds apart."""
    pace = chance.uniform("pace", 0.15, 1.6)
    deeds = []
    time = float(start)
    for index, manifest in enumerate(app.manifests):
        deeds.append(Deed(round(time), Install((dated(manifest, round(time)),), tool)))
        time += seconds(pace * chance.uniform(f"gap{index}", 0.3, 2.0))
    return deeds


def later_traces(app: App, chance: Chance, start: int, span: Span) -> list[Deed]:
    """Restarts, labels, notes and rollbacks that have left no other trace than themselves."""
    found: list[Deed] = []
    kinds: dict[str, tuple[str, ...]] = {
        "restart": ("restart",),
        "note": ("label", "annotation", "strategy"),
        "remark": ("service", "configmap"),
        "rules": ("budget", "policy", "quota", "autoscaler", "secret", "allowance", "settings"),
        "serving": ("serving",),
    }
    rates = {
        "restart": 0.09, "note": 0.45, "remark": 0.15, "rules": 0.05, "regret": 0.015, "serving": 0.06,
    }  # fmt: skip
    for component in app.components:
        for name, rate in rates.items():
            mine = chance.at(name, component.name)
            if component.kind == "load" or not mine.yes("happened", rate):
                continue
            time = in_office(span.ago(last_change(mine.at("age"))), mine, start, span)
            time = min(max(time, start + STARTING + mine.below("late", 3600) * SECOND), span.present - QUIET)
            drawn = kinds.get(name, ())
            if name == "restart" and mine.yes("changed", CHANGED):
                drawn = ("template",)
            act = Improvise(drawn, component.name, mine) if drawn else Regret(component.name, mine)
            found.append(Deed(time, act))
    return found


CHANGED = 0.5
"""How often what replaced a component's pods has changed something of them for good."""


def scalings(app: App, chance: Chance, start: int, span: Span) -> list[Deed]:
    """Workloads that were scaled up for an hour and down again, some of them often; each time counts in the generation."""
    found: list[Deed] = []
    share = chance.uniform("share", *SCALED)
    for component in app.components:
        mine = chance.at(component.name)
        if component.kind == "load" or not mine.yes("scaled", share):
            continue
        count = round(min(mine.lognormal("count", *SCALINGS), 40.0))
        for index in range(count):
            age = mine.at("age", index).lognormal("days", 20.0, 1.3) * DAY
            time = min(max(span.ago(age), start + STARTING), span.present - QUIET)
            found.append(Deed(time, Surge(component.name, mine.at("by"))))
    return found


def bindings(app: App, chance: Chance, start: int, span: Span) -> list[Deed]:
    """Workloads that were bound to machines, for a licence or a disk that is only there."""
    found: list[Deed] = []
    share = chance.uniform("share", *BOUND)
    for component in app.components:
        mine = chance.at(component.name)
        if component.kind == "load" or not mine.yes("bound", share):
            continue
        time = in_office(span.ago(last_change(mine.at("age"))), mine, start, span)
        time = min(max(time, start + STARTING), span.present - QUIET)
        found.append(Deed(time, Bind(component.name, mine, chance.at("pools"))))
    return found


def marking(chance: Chance, start: int, span: Span) -> list[Deed]:
    """Releases that have only marked objects anew."""
    found = []
    for index in range(chance.weighted("count", {0: 0.4, 1: 0.35, 2: 0.25})):
        mine = chance.at(index)
        time = in_office(span.ago(last_change(mine.at("age"))), mine, start, span)
        time = min(max(time, start + STARTING), span.present - QUIET)
        found.append(Deed(time, Marked(mine)))
    return found


def upkeep(world: EmbeddedWorld, chance: Chance, start: int, span: Span) -> list[Deed]:
    """What was changed on machines and in ``kube-system`` without any effect."""
    found = []
    for place in beside.places(world.cluster):
        mine = chance.at(place.target.resource, place.target.name)
        if not mine.yes("changed", NOTED):
            continue
        patch = beside.note(mine)
        time = in_office(span.ago(last_change(mine.at("age"))), mine, start, span)
        time = min(max(time, start), span.present - QUIET)
        found.append(Deed(time, Touch(place.target, patch, mine.weighted("by", place.keepers))))
    return [*found, *_restarted(chance.at("restarted"), start, span)]


def _restarted(chance: Chance, start: int, span: Span) -> list[Deed]:
    """Somebody has restarted the cluster's name server once, as people do who suspect it."""
    if not chance.yes("restarted", RESTARTED):
        return []
    age = chance.uniform("age", 1.0, 30.0) * HOUR if chance.yes("late", 0.3) else last_change(chance)
    time = min(max(span.ago(age), start), span.present - QUIET) // SECOND * SECOND
    template = {"metadata": {"annotations": {changes.RESTARTED: rfc3339(time)}}}
    target = ObjectRef("deployments.apps", "coredns", "kube-system")
    return [Deed(time, Touch(target, {"spec": {"template": template}}, "kubectl-rollout"))]


RESTARTED = 0.15
"""How often that was done."""

NOTED = 0.3
"""How often such an object has been."""


def _releases(app: App, deeds: Sequence[Deed], start: int) -> list[Deed]:
    """Helm's records of the application: one of its installation and one of every change that Helm has made.

    Where a quota counts Secrets there is no room for them: Helm keeps its records elsewhere.
    """
    if any(
        "secrets" in key for m in app.manifests if m["kind"] == "ResourceQuota" for key in m["spec"]["hard"]
    ):
        return []
    marked = next(
        m for m in app.manifests if "meta.helm.sh/release-name" in (m["metadata"].get("annotations") or {})
    )
    release = marked["metadata"]["annotations"]["meta.helm.sh/release-name"]
    delivery = Delivery(HELM, release)
    times = [deed.time for deed in deeds if isinstance(deed.act, Happen) and deed.act.change.manager == HELM]
    found = [Deed(start + 5 * SECOND, Release(delivery, app.namespace, 1))]
    for number, time in enumerate(sorted(times), 2):
        found.append(Deed(time + SECOND, Release(delivery, app.namespace, number)))
    return found


# --- the cluster's maintenance --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Care:
    """What somebody does after machines were emptied or rebooted."""

    def do(self, world: EmbeddedWorld) -> None:
        """Clear away failed pods, and start again what a registry that started anew has forgotten."""
        app = world.app
        for namespace in app.namespaces:
            for pod in world.cluster.list("pods", namespace, field_selector="status.phase=Failed"):
                world.cluster.delete("pods", pod["metadata"]["name"], namespace)
        started = [_started(world, c.name) for c in app.components if c.kind == "registry"]
        since = max((time for times in started for time in times), default="")
        found_by = {need.on for c in app.components for need in c.dependencies if need.via == "registry"}
        for component in app.components:
            if component.name in found_by and any(time < since for time in _started(world, component.name)):
                recreate_pods(world, component.name)


def _started(world: EmbeddedWorld, name: str) -> list[str]:
    """When the containers of a component's pods have started."""
    component = world.app.by_name[name]
    resource, namespace, name = world.app.workload_of(name)
    if not any(d["metadata"]["name"] == name for d in world.cluster.list(resource, namespace)):
        return []
    workload = world.cluster.get(resource, name, namespace)
    labels = workload["spec"]["selector"]["matchLabels"].items()
    return [
        state["state"]["running"]["startedAt"]
        for pod in world.cluster.list("pods", namespace)
        if labels <= (pod["metadata"].get("labels") or {}).items()
        and "deletionTimestamp" not in pod["metadata"]
        for state in pod["status"].get("containerStatuses") or ()
        if state["name"] == component.container and "running" in state["state"]
    ]


@dataclass(frozen=True, slots=True)
class RollOutSettings:
    """Kubelets get their configuration anew, with nothing in it that was not there before, and are restarted."""

    chance: Chance

    def do(self, world: EmbeddedWorld) -> None:
        """All of them, one after the other, or a single one."""
        chance = self.chance
        names = [node["metadata"]["name"] for node in world.cluster.list("nodes")]
        for name in names if chance.yes("all", 0.35) else [chance.choice("node", names)]:
            if kubelet_unit.off(world, name) or not kubelet_unit.runs(world, name):
                continue
            text = node_files.text_of(world, name, node_files.CONFIG)
            node_files.put(world, name, node_files.CONFIG, text)
            world.advance(chance.at(name).uniform("until", 2.0, 40.0))
            kubelet_unit.restart(world, name)
            world.advance(3.0)


def _settings(chance: Chance, start: int, span: Span) -> list[Deed]:
    """Somebody has done that once, now and then in the last hours."""
    if not chance.yes("kubelets", KUBELETS):
        return []
    late = chance.yes("late", 0.5)
    age = chance.uniform("hours", 0.5, 8.0) * HOUR if late else last_change(chance)
    return [Deed(min(max(span.ago(age), start + STARTING), span.present - QUIET), RollOutSettings(chance))]


KUBELETS = 0.35
"""How often kubelets were given their settings anew."""


def maintenance(world: EmbeddedWorld, chance: Chance, start: int, span: Span) -> list[Deed]:
    """A node that was closed, emptied and opened again, in a good third of all worlds; and the care for a registry
    after everything that moves or restarts pods."""
    deeds = _drain(world, chance, span)
    plan = world.plan
    moved = [plan.born + upkeep.at for upkeep in plan.upkeep if upkeep.kind in ("reboot", "leave", "retire")]
    moved += [deed.time for deed in deeds if isinstance(deed.act, Cordon) and not deed.act.closed]
    times = [
        time + round(chance.uniform(f"care{index}", 5.0, 11.0) * MINUTE) for index, time in enumerate(moved)
    ]
    care = [time for time in times if start + STARTING < time < span.present - QUIET]
    deeds += _spared(world, start)
    deeds += _settings(chance.at("settings"), start, span)
    return [*deeds, *(Deed(time, Care()) for time in (*care, span.present - QUIET + MINUTE))]


def _spared(world: EmbeddedWorld, start: int) -> list[Deed]:
    """Machines that will be closed or taken away are closed while the application is installed: its volumes stay where
    they are made, and there they would be out of reach."""
    plan = world.plan
    found = []
    for upkeep in plan.upkeep:
        time = plan.born + upkeep.at
        if upkeep.kind in ("cordon", "leave", "retire") and time > start:
            found.append(Deed(max(start - 2 * MINUTE, world.now()), Cordon(upkeep.subject, True)))
            if time > start + STARTING:
                found.append(Deed(start + STARTING, Cordon(upkeep.subject, False)))
    return found


def _drain(world: EmbeddedWorld, chance: Chance, span: Span) -> list[Deed]:
    workers = [
        node["metadata"]["name"]
        for node in world.cluster.list("nodes")
        if not node["spec"].get("taints") and not node["spec"].get("unschedulable")
    ]
    going = {upkeep.subject for upkeep in world.plan.upkeep if upkeep.kind in ("leave", "cordon", "retire")}
    workers = [name for name in workers if name not in going]
    if len(workers) < 3 or not chance.yes("drained", 0.35):
        return []
    node = chance.choice("node", workers)
    time = span.ago(chance.lognormal("age", 25.0, 0.9) * DAY)
    open_again = time + round(chance.uniform("minutes", 4.0, 25.0) * MINUTE)
    if open_again > span.present - HOUR:
        return []
    return [
        Deed(time, Cordon(node, True)),
        Deed(time + chance.between("seconds", 4, 40) * SECOND, Drain(node)),
        Deed(open_again, Cordon(node, False)),
    ]


__all__ = [
    "Care",
    "Found",
    "Happen",
    "Improvise",
    "Regret",
    "RollOutSettings",
    "installed_at",
    "live",
    "maintenance",
]
