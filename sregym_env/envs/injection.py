"""A world in which the faults of a problem have come, and the users suffer from them.

On the embedded cluster it is a world with a past of its own, drawn by the problem and the seed: a few innocent
changes lie shortly before and after the onset. The published world (``variation`` off) is the application as it is
published, struck as SREGym's injectors strike; so is a backend's own cluster, as far as time there is real.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import cast

from sregym_env import apps, noise
from sregym_env.cluster.api import World
from sregym_env.cluster.app import App
from sregym_env.cluster.deploy import Backend
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.forkable import demanded, forkable
from sregym_env.cluster.inventory import Inventory, ObjectKey
from sregym_env.envs import occasion
from sregym_env.envs.briefing import Mode
from sregym_env.errors import ProblemError, SREGymError, StagingError
from sregym_env.faults.fault import FaultInstance
from sregym_env.faults.onset import Onset, befall, serve_on, strike
from sregym_env.faults.problems import Problem, struck
from sregym_env.faults.registry import declaration
from sregym_env.kube.status import StatusError
from sregym_env.rewards import stored
from sregym_env.rewards.baseline import WINDOW_SECONDS, Baseline, call, capture
from sregym_env.rewards.checks import available, endpoints, failing_journeys
from sregym_env.runtime.chance import Chance
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.worlds import present, silence
from sregym_env.worlds.changes import Changing
from sregym_env.worlds.lived import GLANCE_SECONDS, base_of, base_world, lived_world

SYMPTOM_LIMIT = 300.0
"""Simulated seconds in which a fault's symptoms are awaited."""

ALERT_LIMIT = 1200.0
"""The same for an alert to fire, before a reactive episode begins."""

EVIDENCE_SECONDS = 30.0
"""How long the symptoms last at least before the agent is called, so that logs and events tell of them."""

LOOK_SECONDS = 10.0
"""Simulated seconds between looks at the users while symptoms are awaited."""

STALL_SECONDS = 60.0
"""How long a rollout may take to go on before it counts as stalled."""

PASSING_SECONDS = 120.0
"""Simulated seconds between looks at the users where nobody waits for what becomes of them."""

CALLED_AFTER = (300.0, 0.7)
"""Median, seconds, and spread (lognormal) of how long users suffer before somebody is called."""

LONGEST_CALL = 1500.0

RESTRAINING = (
    "nodes", "namespaces", "resourcequotas", "limitranges", "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
)  # fmt: skip
"""Kinds of objects that can keep every new pod from coming up."""


@dataclass(frozen=True, slots=True)
class Injected:
    """A world with the faults in, and what is needed to judge and to take them back."""

    world: World
    baseline: Baseline
    instances: tuple[FaultInstance, ...]
    onsets: tuple[Onset, ...]
    before: World | None = None
    """The world as it was before the faults, where it can be copied."""

    def fork(self) -> Injected:
        """The same in a copy of the world, which goes its own way."""
        return replace(self, world=demanded(self.world).fork())

    def heal(self, world: World) -> None:
        """Take the faults back in a world that is this one or a fork of it, the last one first."""
        for instance, onset in reversed(list(zip(self.instances, self.onsets, strict=True))):
            instance.heal(world, onset.changes)


def spared(instances: Sequence[FaultInstance]) -> tuple[str, ...]:
    """Components that nothing that comes and goes may touch while these faults last."""
    return tuple(dict.fromkeys(name for each in instances for name in each.spared))


def key_of(problem: Problem, seed: int, attempt: int = 0) -> str:
    """What everything that is drawn for an episode depends on: the problem without what stands beside it (its noise, alerts that
    are silent), the seed, and how many worlds that were drawn for it before were none in which the users are served first and
    hurt then."""
    quiet = problem.model_copy(update={"noise": False, "silent_alerts": False})
    text = f"{quiet.model_dump_json()}\x1f{seed}" + (f"\x1f{attempt}" if attempt else "")
    return blake2b(text.encode(), digest_size=16).hexdigest()


def prepare(problem: Problem, seed: int) -> None:
    """Make what the world of an episode shares with others, if it is not there yet: the next staging is quicker."""
    base = base_beneath(problem, seed)
    if base is not None:
        base_world(apps.app(problem.app), base)


def base_beneath(problem: Problem, seed: int) -> int | None:
    """Which base world of its application an episode stands on, the first that is drawn for it; None for the published world."""
    if not problem.variation:
        return None
    return base_of(Chance(("episode", key_of(problem, seed))).at("world"))


def inject(
    problem: Problem,
    seed: int,
    backend: Backend | None = None,
    *,
    attempt: int = 0,
    present: int | None = None,
) -> Injected:
    """A fresh world, of the embedded cluster unless a backend is given, in which the faults have just come.

    ``present``: the instant at which the embedded cluster's application is up, where it is not to be the drawn one.

    Raises ProblemError where the backend cannot make a disturbance that a fault or the noise consists of, and
    StagingError where the users were not served before.
    """
    app = apps.app(problem.app)
    chance = Chance(("episode", key_of(problem, seed, attempt))) if problem.variation else None
    patient = backend is None and chance is not None
    world = _healthy(app, problem, seed, chance, backend, present)
    if problem.silent_alerts:
        draw = None if chance is None else chance.at("alerts")
        silence.silence(world, draw, partial(_pass, cast(Changing, world), (), []) if patient else None)
    instances = tuple(_bound(world, problem, chance))
    _demand_disturbances(world, problem, instances)
    baseline = capture(world)
    if problem.silent_alerts:
        baseline = replace(baseline, mendable=silence.PLACES)
    _demand_service(problem, world, baseline)
    before = None if forkable(world) is None else demanded(world).fork()
    come: dict[int, Onset] = {}
    changed: list[ObjectKey] = []
    injected = Injected(world, baseline, instances, (), before)
    try:
        for number in _order(world, instances):
            instance = instances[number]
            if chance is None:
                come[number] = strike(world, instance)
            else:
                draw = chance.at("onset", number)
                hurts = _Watch(
                    world, _share(world, baseline, instance), instance, _is_last(instances, number)
                )
                pastime = partial(_pass, cast(Changing, world), instances, changed) if patient else None
                come[number] = befall(world, instance, draw, hurts, pastime)
        onsets = tuple(come[number] for number in range(len(instances)))
        refreshed = _with_tried(_refreshed(baseline, world, changed), onsets)
        whole = Injected(world, refreshed, instances, onsets, before)
        return begin_noise(whole, problem, seed) if problem.noise_on else whole
    except SREGymError:
        # The one that failed has taken itself back.
        there = tuple(instances[number] for number in come)
        replace(injected, instances=there, onsets=tuple(come.values())).heal(world)
        raise


def begin_noise(injected: Injected, problem: Problem, seed: int) -> Injected:
    """The same with the problem's noise in the world from now on."""
    return replace(
        injected,
        world=noise.begin(
            injected.world, noise_seed(problem, seed), problem.noise, spared(injected.instances)
        ),
    )


def _bound(world: World, problem: Problem, chance: Chance | None) -> Iterator[FaultInstance]:
    """The problem's faults on their targets, each in the application that it strikes."""
    inventories: dict[str, Inventory] = {}
    for number, each in enumerate(problem.faults):
        app, target = struck(problem.app, each.target)
        if app not in inventories:
            inventories[app] = Inventory.of(world, app)
        draw = None if chance is None else chance.at("fault", number)
        yield declaration(each.fault).bind(inventories[app], target, each.parameters, draw)


def _pass(
    world: Changing,
    instances: Sequence[FaultInstance],
    changed: list[ObjectKey],
    seconds: float,
    chance: Chance,
    every: float = PASSING_SECONDS,
) -> None:
    """Let time pass, with innocent changes meanwhile; what they change is added to ``changed``. Users are looked at ``every`` so many
    seconds."""
    touched = [name for each in instances for name in (*each.spec.components, *each.spared)]
    # What a fault has changed, and what no delivery could have written without putting it right.
    keys = {key for each in instances for key in each.accepts() | each.patched()}
    spared = {ObjectRef(resource, name, space or None) for resource, space, name in keys}
    demanded(world).watched_every(every)
    changed += present.meanwhile(world, chance, seconds, touched, rolling=_local(instances), spared=spared)
    demanded(world).watched_every(1.0 if _brisk(instances) else GLANCE_SECONDS)


def _brisk(instances: Sequence[FaultInstance]) -> bool:
    """Whether some fault lasts or not from one second to the next."""
    return any(each.fault.brisk for each in instances)


def _refreshed(baseline: Baseline, world: World, changed: Sequence[ObjectKey]) -> Baseline:
    """A baseline with what has been changed innocently since it was taken."""
    objects = {}
    for key in changed:
        # What was changed may have ended since.
        with suppress(StatusError):
            objects[key] = world.cluster.get(key[0], key[2], key[1] or None)
    return replace(baseline, objects={**baseline.objects, **objects})


def _with_tried(baseline: Baseline, onsets: Sequence[Onset]) -> Baseline:
    """A baseline in which what is faulty has what was changed of it innocently, and is otherwise as it was."""
    objects = dict(baseline.objects)
    for change in (each for onset in onsets for each in onset.tried):
        key = (change.target.resource, change.target.namespace or "", change.target.name)
        objects[key] = change.later(objects[key])
    return replace(baseline, objects=objects)


def _healthy(
    app: App,
    problem: Problem,
    seed: int,
    chance: Chance | None,
    backend: Backend | None,
    present: int | None,
) -> World:
    """The world before the faults."""
    if backend is not None:
        return backend.deploy(app, seed)
    if chance is None:
        return deployed_world(app, seed, present)
    world = lived_world(app, chance.at("world"), present)
    world.watched_every(GLANCE_SECONDS)
    return world


@dataclass(frozen=True, slots=True)
class _Watch:
    """Looks at the users until they suffer."""

    world: World
    baseline: Baseline
    instance: FaultInstance
    last: bool
    """Of several faults, those before the last one may well hurt on their own: nobody waits for each."""

    def __call__(self, limit: float) -> bool:
        waited = 0.0
        while waited < limit:
            self.world.advance(GLANCE_SECONDS)
            waited += GLANCE_SECONDS
            if suffering(self.world, self.baseline) and not (self.last and self._stalls()):
                return True
        return not self.last

    def _stalls(self) -> bool:
        """Whether what hurts is a rollout that does not go on: users meet its new pods between their start and their crash."""
        if not serve_on(self.world, self.instance):
            return False
        self.world.advance(STALL_SECONDS)
        return serve_on(self.world, self.instance)


def _share(world: World, baseline: Baseline, instance: FaultInstance) -> Baseline:
    """What a baseline says of the users of the application that a fault strikes."""
    if not world.app.parts:
        return baseline
    own = {journey.name for journey in instance.target.app.journeys}
    return replace(baseline, offered={name: rate for name, rate in baseline.offered.items() if name in own})


def _order(world: World, instances: Sequence[FaultInstance]) -> list[int]:
    """In which order the faults come: as they are listed, but of several applications those first that are noticed only
    when something restarts, or with time: the users of the others would suffer all the while."""
    if not world.app.parts:
        return list(range(len(instances)))
    return sorted(range(len(instances)), key=lambda number: not _waits(instances[number]))


def _waits(instance: FaultInstance) -> bool:
    """Whether a fault lies in what is asked for at a start (settings, accounts), or grows."""
    settings = instance.fault.resource.resource in ("configmaps", "secrets")
    return settings or bool(instance.entered) or instance.fault.matures > 0.0


def _is_last(instances: Sequence[FaultInstance], number: int) -> bool:
    """Whether no later fault strikes the same application."""
    own = instances[number].target.app.name
    return all(later.target.app.name != own for later in instances[number + 1 :])


def suffering(world: World, baseline: Baseline) -> bool:
    """Whether some journey missed the promise in the last seconds."""
    health = world.traffic.health(LOOK_SECONDS)
    return bool(failing_journeys(health, world.app.slo, baseline, LOOK_SECONDS))


def await_symptoms(
    injected: Injected, problem: Problem, seed: int, mode: Mode, *, attempt: int = 0
) -> Injected:
    """Let time pass until users suffer and somebody is called (in reactive mode: an alert fires).

    Innocent changes may be made meanwhile; what they change becomes part of the baseline.
    """
    world, baseline = injected.world, injected.baseline
    if not injected.instances:
        return _uneventful(injected, problem, seed, mode, attempt)
    waited = 0.0
    while waited < SYMPTOM_LIMIT:
        world.advance(LOOK_SECONDS)
        waited += LOOK_SECONDS
        if all(suffering(world, _share(world, baseline, each)) for each in injected.instances):
            break
    if injected.before is None or not problem.variation:
        world.advance(EVIDENCE_SECONDS)
    else:
        chance = Chance(("episode", key_of(problem, seed, attempt), "call"))
        median, spread = CALLED_AFTER
        length = min(LONGEST_CALL, chance.lognormal("after", median, spread))
        changed: list[ObjectKey] = []
        every = 1.0 if _brisk(injected.instances) else PASSING_SECONDS
        _pass(cast(Changing, world), injected.instances, changed, length, chance, every)
        demanded(world).watched_every(1.0)
        world.advance(EVIDENCE_SECONDS)
        baseline = _refreshed(baseline, world, changed)
    while mode == "reactive" and waited < ALERT_LIMIT:
        if any(alert.state == "firing" for alert in world.alerts()):
            break
        world.advance(EVIDENCE_SECONDS)
        waited += EVIDENCE_SECONDS
    _await_recurrence(injected, baseline)
    entered = dict.fromkeys(name for each in injected.instances for name in each.entered)
    kept = stored.met(world, baseline.kept, tuple(entered))
    return replace(injected, baseline=replace(baseline, called=call(world), kept=kept))


def _await_recurrence(injected: Injected, baseline: Baseline) -> None:
    """Where faults come and go: until one hurts again, or might have."""
    world = injected.world
    waited, longest = 0.0, max((each.fault.recurs for each in injected.instances), default=0.0)
    while waited < longest:
        health = world.traffic.health(EVIDENCE_SECONDS)
        if failing_journeys(health, world.app.slo, baseline, EVIDENCE_SECONDS):
            return
        world.advance(LOOK_SECONDS)
        waited += LOOK_SECONDS


def _uneventful(injected: Injected, problem: Problem, seed: int, mode: Mode, attempt: int) -> Injected:
    """Let time pass in a world in which nothing is wrong until somebody is called all the same.

    Innocent changes may be made before; what was noticed has passed when the agent comes.
    """
    world, baseline = injected.world, injected.baseline
    if injected.before is not None and problem.variation:
        chance = Chance(("episode", key_of(problem, seed, attempt), "call"))
        changed: list[ObjectKey] = []
        median, spread = CALLED_AFTER
        length = min(LONGEST_CALL, chance.lognormal("after", median, spread))
        _pass(cast(Changing, world), (), changed, length, chance)
        occasion.passed(
            demanded(world), chance.at("occasion"), partial(_well, world, baseline), mode == "reactive"
        )
        demanded(world).watched_every(1.0)
        baseline = _refreshed(baseline, world, changed)
    world.advance(EVIDENCE_SECONDS)
    kept = stored.met(world, baseline.kept, ())
    return replace(injected, baseline=replace(baseline, called=call(world), kept=kept))


def _well(world: World, baseline: Baseline) -> bool:
    """Whether users are served and every workload is whole."""
    return (
        not suffering(world, baseline)
        and available(world, baseline).passed
        and endpoints(world, baseline).passed
    )


def _local(instances: Sequence[FaultInstance]) -> bool:
    """Whether the faults leave pods of others alone: those in quotas and nodes keep all from coming."""
    return not any(key[0] in RESTRAINING for instance in instances for key in instance.accepts())


def noise_seed(problem: Problem, seed: int) -> int:
    """What the noise of an episode is drawn from."""
    return seed if not problem.variation else Chance(("noise", key_of(problem, seed))).bits("seed") >> 1


def _demand_disturbances(world: World, problem: Problem, instances: Sequence[FaultInstance]) -> None:
    """Before anything is changed: whether the backend can make what the faults and the noise consist of."""
    noise.demand(world, problem.noise)
    for instance in instances:
        for disturbance in instance.fault.disturbances:
            if type(disturbance) not in world.nodes.kinds:
                raise ProblemError(
                    f"{instance.declaration.name} needs {type(disturbance).__name__}, which this backend cannot make; "
                    "play it on the embedded cluster"
                )


def _demand_service(problem: Problem, world: World, baseline: Baseline) -> None:
    failing = failing_journeys(world.traffic.health(WINDOW_SECONDS), world.app.slo, baseline, WINDOW_SECONDS)
    if failing:
        raise StagingError(
            f"problem {problem.id}: the users of {problem.app} are not served before any fault: "
            f"{'; '.join(failing)}; correct the application's manifests, images or journeys until "
            f"`sregym validate --app {problem.app}` passes"
        )


def demand_suffering(
    problem: Problem, world: World, baseline: Baseline, instances: Sequence[FaultInstance]
) -> None:
    """Raise StagingError where a problem has faults and no user notices, or has none and some user is not served."""
    health = world.traffic.health(EVIDENCE_SECONDS)
    # Of several applications in one cluster each has users of its own.
    shares = [_share(world, baseline, each) for each in instances] or [baseline]
    missed = [failing_journeys(health, world.app.slo, share, EVIDENCE_SECONDS) for share in shares]
    failing = missed[0] if all(missed) else []
    if failing and not problem.faults:
        raise StagingError(
            f"problem {problem.id}: users are not served though nothing is wrong: {'; '.join(failing)}"
        )
    if problem.faults and not failing:
        slo = world.app.slo
        shown = "; ".join(f"{j.journey}: {j.success_ratio:.1%} in {j.latency_seconds:.2f} s" for j in health)
        faults = ", ".join(f"{each.fault}:{each.target}" for each in problem.faults)
        raise StagingError(
            f"problem {problem.id}: the users do not suffer from {faults}, {SYMPTOM_LIMIT:.0f} s after it came: {shown} "
            f"(promised: {slo.success_ratio:.0%} in {slo.latency_seconds} s); choose another target or parameters, or "
            "have the fault's `targets` leave such targets out"
        )
