"""The present: innocent changes in the hours before an incident and while it goes unnoticed.

Recency is evidence to weigh and not the answer: what changed last is mostly not what is wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from math import exp

from sregym_env.cluster.api import World
from sregym_env.cluster.app import App
from sregym_env.cluster.apply import BY_HAND
from sregym_env.cluster.composed import seen_by
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.cluster.targets import ROLLED
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds import beside, changes
from sregym_env.worlds.changes import Changing
from sregym_env.worlds.tenants.tasks import RunByHand

STILL = (
    "label", "service", "configmap", "secret", "autoscaler", "policy", "quota", "strategy", "budget", "allowance",
    "ceiling", "settings",
)  # fmt: skip
"""Kinds of changes that make no pod."""

FOLLOWED = 0.35
"""How often what has been rolled out is rolled out once more soon (a third of all deploys within four hours)."""

SOON = (20.0, 120.0)
"""Seconds after which it is."""

AGAIN = 0.75
"""How often it is delivered once more, or restarted, without anything else in it: a sync that somebody asks for, a pipeline that
is run anew, a second try after a look at it. Faulty rollouts are tried again, too."""

AT_ONCE, LATER = (20.0, 300.0), (1200.0, 0.55)
"""Seconds after which that is: soon, or (median, spread) when somebody has watched it."""

WATCHED = 0.75
"""How often somebody has."""

LONGEST_WATCH = 3600.0

SURGED = 0.4
"""How often a workload that is rolled out is scaled up for it, and down again."""

REPLACING = ("image", "env", "restart", "resources", "probe", "scale")
"""Kinds of changes that replace pods of a component, or add some."""

ROLLING = (*REPLACING, "job", "cronjob")
"""Kinds of changes that make pods."""

SORTS = {"rolling": 0.6, "still": 0.27, "beside": 0.13}
"""What a change is that is made meanwhile, and how often: one that makes pods, one that makes none, or a note on what belongs to
the cluster. Faults lie in objects of all these sorts: what was written last of a rare one would else be what is wrong."""

BEFORE = {0: 0.20, 1: 0.34, 2: 0.28, 3: 0.18}
"""How many changes lie in the hours before, and how often."""

MEANWHILE = {0: 0.28, 1: 0.18, 2: 0.20, 3: 0.18, 4: 0.16}
"""How many are made between the onset and the call, while others work on. So many that nobody finds the culprit by counting back
from what was written last."""

APART = 5 * 3600.0
"""Seconds from one change to the next in the long run."""

MOST = 4
"""How many changes are made at most in one stretch of time, however long."""

RELEASES = 9 * 3600.0
"""Seconds from one release of the application to the next, in the mean."""

CALLING = 1800.0
"""Seconds of that, more than pass, in which a release may come by the way."""

RELEASED = (0.75, 1.0)
"""Share of the application's objects that a release marks anew."""

GAP = (2400.0, 1.1)
"""Median, seconds, and spread (lognormal) of the time from one change to the next."""

LONGEST_GAP = 6 * 3600.0

RERUN = 0.1
"""How often somebody has a task run by hand in these hours, where there is one."""

CRON_JOBS = "cronjobs.batch"

ROLLOUT_SECONDS = 45.0
"""How long a change that replaces pods is watched by who made it."""

ROLLOUT_LIMIT = 300.0


def before(world: Changing, chance: Chance) -> None:
    """Innocent changes over some hours, the last one some time ago; they end healthy.

    Some day somebody has a task run by hand besides.
    """
    count = chance.weighted("count", BEFORE)
    asked = chance.below("rerun at", count + 1) if chance.yes("rerun", RERUN) else -1
    for number in range(count):
        if number == asked:
            _run_by_hand(world, chance.at("rerun"))
        draw = chance.at("change", number)
        seen, _ = _one_of(world, draw)
        found = changes.drawn(seen.app, draw)
        median, spread = GAP
        gap = min(LONGEST_GAP, draw.lognormal("gap", median, spread))
        if found is not None and not _forgets(seen.app, found):
            _make(seen, found)
            for more in _followed(seen, draw, found):
                _make(seen, more)
            next_one = world.now() + round(gap * 1e6)
            _delivered_again(world, _tried_again(seen, draw, found, next_one), next_one)
            _wait(world, next_one)
        else:
            world.advance(gap)
    if asked == count:
        _run_by_hand(world, chance.at("rerun"))


def _run_by_hand(world: World, chance: Chance) -> None:
    """Somebody does not wait for the schedule of a task, if there is any."""
    known = world.cluster.list(CRON_JOBS)
    if known:
        metadata = chance.choice("task", known)["metadata"]
        target = ObjectRef(CRON_JOBS, metadata["name"], metadata["namespace"])
        RunByHand(target, chance.choice("form", BY_HAND)).do(world)


def meanwhile(
    world: Changing,
    chance: Chance,
    seconds: float,
    touched: Collection[str],
    *,
    rolling: bool = True,
    spared: Collection[ObjectRef] = (),
) -> list[ObjectKey]:
    """Let time pass, with innocent changes of what does not need the components that are ``touched``.

    Without ``rolling`` none of them makes pods: where no pod can come up, such a change would not be innocent. In
    hours and days the application is released as well, but for its ``spared`` objects: a tool that delivers what
    is declared would put them right. Returns the objects that were changed.
    """
    until = world.now() + round(seconds * 1e6)
    start = world.now()
    found: list[ObjectKey] = []
    again: list[_Again] = []
    for number, moment in enumerate(_moments(chance, seconds)):
        found += _delivered_again(world, again, start + round(moment * 1e6))
        _wait(world, start + round(moment * 1e6))
        draw = chance.at("change", number)
        seen, own = _one_of(world, draw, touched)
        sort = draw.weighted("sort", SORTS)
        if sort == "beside":
            found += _noted(world, draw.at("beside"), spared)
        else:
            found += _changed(seen, draw, own, rolling and sort == "rolling", again, until)
        if number == 0 and chance.unit("released") < 1.0 - exp(-(seconds + CALLING) / RELEASES):
            found += _release(seen, chance.at("release"), own, spared)
    found += _delivered_again(world, again, until)
    _wait(world, until)
    return found


@dataclass(frozen=True, slots=True)
class _Again:
    """One more delivery of what has been rolled out."""

    time: int
    world: Changing
    """As the application sees it."""
    change: changes.Change
    """What has been rolled out."""
    chance: Chance


def _tried_again(world: Changing, chance: Chance, change: changes.Change, until: int) -> list[_Again]:
    """When a rollout is delivered once more, if it is: before a time, if there is time enough."""
    own = chance.at("again")
    if not change.rolls or not change.component or not own.yes("again", AGAIN):
        return []
    after = own.uniform("at once", *AT_ONCE)
    if own.yes("watched", WATCHED):
        after = min(LONGEST_WATCH, own.lognormal("later", *LATER))
        left = (until - world.now()) / 1e6
        if after > left:
            after = left * own.uniform("sooner", 0.5, 0.95)
    return [_Again(world.now() + round(after * 1e6), world, change, own)]


def _delivered_again(world: World, again: list[_Again], until: int) -> list[ObjectKey]:
    """What is delivered once more up to a time, and is taken from the list; the keys of what was."""
    found: list[ObjectKey] = []
    for each in sorted(again, key=lambda one: one.time):
        if each.time > until:
            break
        again.remove(each)
        _wait(world, each.time)
        if not _is_well(each.world, each.change.component):
            continue
        app, name, own = each.world.app, each.change.component, each.chance
        more = changes.delivered_again(app, name, own)
        if more is None:
            more = changes.drawn(app, own, components=(name,), kinds=("restart",))
        elif each.change.manager == changes.delivery(app):
            more = replace(more, manager=each.change.manager)
        if more is not None:
            changes.happen(each.world, more)
            found.append(_key(more.target))
    return found


def _changed(
    world: Changing, chance: Chance, touched: Collection[str], rolling: bool, again: list[_Again], until: int
) -> list[ObjectKey]:
    """Something of the application is changed that needs none of what is ``touched``; the keys of what was.

    What is delivered once more later, ``until`` when, comes into ``again``.
    """
    safe = [name for name in _independent(world.app, touched) if _is_well(world, name)]
    if not safe:
        return []
    # Any sort of what makes no pod, as often as any other; not all are possible in every application.
    likely = (ROLLING,) if rolling else ((chance.choice("still", STILL),), STILL)
    drawn = (changes.drawn(world.app, chance, components=safe, kinds=kinds) for kinds in likely)
    change = next((each for each in drawn if each is not None), None)
    if change is None or _forgets(world.app, change) or _taken(world, change):
        return []
    changes.happen(world, change)
    found = [_key(change.target)]
    for more in _followed(world, chance, change):
        changes.happen(world, more)
        found.append(_key(more.target))
    again += _tried_again(world, chance, change, until)
    return found


def _noted(world: World, chance: Chance, spared: Collection[ObjectRef]) -> list[ObjectKey]:
    """Somebody leaves a note on a machine or on the cluster's DNS; the key of what has it."""
    free = [place for place in beside.places(world.cluster) if place.target not in spared]
    if not free:
        return []
    place = chance.choice("place", free)
    target, by = place.target, chance.weighted("by", place.keepers)
    try:
        world.cluster.patch(
            target.resource,
            target.name,
            beside.note(chance),
            namespace=target.namespace,
            type="merge",
            field_manager=by,
        )
    except StatusError:
        # Admission may be part of what is wrong: whoever is refused leaves it at that.
        return []
    return [_key(target)]


def _one_of(
    world: Changing, chance: Chance, touched: Collection[str] = ()
) -> tuple[Changing, Collection[str]]:
    """The world as the application sees it in which something is changed, and what is touched of its components."""
    app = world.app
    if not app.parts:
        return world, touched
    part = chance.choice("application", app.parts)
    places = [app.workload_of(name) for name in touched]
    return seen_by(world, part.name), [name for _, space, name in places if space in part.namespaces]


def _followed(world: Changing, chance: Chance, change: changes.Change) -> Iterator[changes.Change]:
    """What comes with a rollout: it is scaled up and down again, and a fix of it follows."""
    if not change.rolls or not change.component:
        return
    if chance.yes("surged", SURGED):
        changes.surge(world, change.component, chance.at("surge"))
    if chance.yes("followed", FOLLOWED):
        world.advance(chance.uniform("follows", *SOON))
        draw = chance.at("more")
        more = changes.drawn(world.app, draw, components=(change.component,), kinds=REPLACING)
        if more is not None:
            yield more


def _moments(chance: Chance, seconds: float) -> list[float]:
    """When changes are made."""
    if seconds < APART:
        count = chance.weighted("count", MEANWHILE)
    else:
        count = max(1, min(MOST, chance.poisson("count", min(seconds / APART, 2.0 * MOST))))
    return sorted(chance.uniform(f"moment.{number}", 0.0, seconds * 0.9) for number in range(count))


def _release(
    world: Changing, chance: Chance, touched: Collection[str], spared: Collection[ObjectRef]
) -> list[ObjectKey]:
    app = world.app
    kept = set(spared)
    for name in touched:
        component, namespace = app.by_name[name], app.namespace_of(name)
        kept.add(ObjectRef(component.workload, name, namespace))
        kept.add(ObjectRef("services", component.service, namespace))
        kept.add(ObjectRef("persistentvolumeclaims", component.volume, namespace))
    released = changes.release(app, chance, chance.uniform("share", *RELEASED), kept)
    changes.happen_at_once(world, released)
    return [_key(change.target) for change in released]


def _key(target: ObjectRef) -> ObjectKey:
    return (target.resource, target.namespace or "", target.name)


def _forgets(app: App, change: changes.Change) -> bool:
    """Whether a change restarts a registry: it keeps in memory who has registered, and they do that when they start.

    Nobody restarts one without them, and so many restarts are no small change.
    """
    return change.rolls and bool(change.component) and app.by_name[change.component].kind == "registry"


def _taken(world: World, change: changes.Change) -> bool:
    """Whether a change would bring an object of a name that a fault has given to one of its own."""
    if change.created is None:
        return False
    try:
        world.cluster.get(change.target.resource, change.target.name, change.target.namespace)
    except StatusError:
        return False
    return True


def _wait(world: World, until: int) -> None:
    if until > world.now():
        world.advance((until - world.now()) / 1e6)


def _make(world: Changing, change: changes.Change) -> None:
    changes.happen(world, change)
    if not change.rolls:
        return
    waited = 0.0
    while waited < ROLLOUT_LIMIT:
        world.advance(ROLLOUT_SECONDS)
        waited += ROLLOUT_SECONDS
        if _is_well(world, change.component):
            return


def _independent(app: App, touched: Collection[str]) -> list[str]:
    """Components that start and serve whatever becomes of those touched."""
    lost = set(touched)
    grown = True
    while grown:
        more = {
            component.name
            for component in app.components
            if component.name not in lost
            and any(need.on in lost and need.essential for need in component.dependencies)
        }
        lost |= more
        grown = bool(more)
    return [c.name for c in app.components if c.name not in lost and c.workload in ROLLED]


def _is_well(world: World, name: str) -> bool:
    """Whether a component's workload is rolled out and available."""
    component = world.app.by_name[name]
    if component.workload not in ROLLED:
        return True
    workload = world.cluster.get(component.workload, name, world.app.namespace_of(name))
    return _rolled_out(workload)


def _rolled_out(workload: Manifest) -> bool:
    status = workload.get("status", {})
    wanted = workload["spec"].get("replicas", 1) if "replicas" in workload["spec"] else None
    if wanted is None:
        return True
    return bool(
        status.get("observedGeneration", 0) >= workload["metadata"]["generation"]
        and status.get("updatedReplicas", 0) == wanted
        and status.get("replicas", 0) == wanted
        and status.get("availableReplicas", 0) == wanted
    )
