"""The embedded world: one value that holds a cluster, its machines, its users and its future.

Everything that can change is a field of :class:`SimWorld`, and every field can be forked in microseconds;
everything that acts (controllers, scheduler, kubelet, programs, traffic) is a stateless function over it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, SupportsIndex
from weakref import ref

from sregym_env.cluster.api import Cluster
from sregym_env.cluster.app import App, Image
from sregym_env.cluster.disturbances import Disturbance
from sregym_env.cluster.identity import User
from sregym_env.cluster.telemetry import Telemetry
from sregym_env.kube.registry import BUILTIN
from sregym_env.kube.types import Manifest
from sregym_env.runtime import effort, garbage, places
from sregym_env.runtime.clock import HOUR, MILLISECOND, SECOND, seconds
from sregym_env.runtime.events import EventQueue
from sregym_env.runtime.frozen import evolve
from sregym_env.runtime.streams import Streams
from sregym_env.sim.world.figures import Figures
from sregym_env.sim.world.inquiry import Inquiry
from sregym_env.sim.world.logs import ContainerLog
from sregym_env.sim.world.plan import PUBLISHED, SLOT, ClusterPlan
from sregym_env.sim.world.process import Process, ProcessKey
from sregym_env.sim.world.program import Program
from sregym_env.sim.world.store import Change, Key, Store

Handler = Callable[..., None]
"""Called as ``handler(world, *args)`` when an event of its kind is due."""

LogKey = tuple[str, str, int]
"""(pod UID, container name, restart count)."""


LOOKING = "look.from"
"""``memory`` key of the instant before which nobody looks at what users and probes make of changes, microseconds: in a
past of which nobody will see the seconds. What runs is what would run; only its steady states are not recorded."""

ENDED = "cache.ended"
"""``memory`` key of the processes that have ended of late, (when, what it was), oldest first: what metrics of the past
hours are read from. Nothing that happens depends on it."""
ENDED_KEPT = 2 * HOUR
ENDED_MOST = 127
"""For how long they are kept, and how many."""

GRAIN = "look.grain"
"""``memory`` key of how often, at most, users and probes are looked at after changes, microseconds; a second by itself."""

EVENT_EFFORT = 30.0
"""What an event costs beside the writes, looks and scripts that it brings about (units of ``runtime/effort.py``)."""

_WITHOUT_CONSEQUENCE = frozenset(
    (
        "events",
        "leases.coordination.k8s.io",
        "replicasets.apps",
        "controllerrevisions.apps",
        "horizontalpodautoscalers.autoscaling",
        "poddisruptionbudgets.policy",
        "cronjobs.batch",
        "resourcequotas",
        "limitranges",
    )
)
"""Resources whose changes never alter where a connection leads or what a process does."""


Wake = Callable[["SimWorld", Change], Iterable[Key]]
"""Which of a controller's keys a change concerns."""

Reconcile = Callable[["SimWorld", Key], int | None]
"""Bring one key closer to what is wanted; microseconds after which to look again, or None."""

CUSTOM = "*"
"""In the place of a registry key: every resource that is not built in."""


def is_custom(resource: str) -> bool:
    """Whether the key is that of a custom resource."""
    return BUILTIN.by_key(resource) is None


@dataclass(frozen=True, slots=True)
class Controller:
    """A named control loop.

    ``watches`` maps registry keys of resources (or :data:`CUSTOM`) to wake functions. A woken key is reconciled once,
    ``latency`` microseconds later, however many changes woke it. ``reconcile`` must look at the state as it
    is, never at what woke it.
    """

    name: str
    watches: Mapping[str, Wake]
    reconcile: Reconcile
    latency: int = 20 * MILLISECOND


def _no_api(world: SimWorld, user: User) -> Cluster:
    raise LookupError("this world has no API server")


def _no_telemetry(world: SimWorld) -> Telemetry:
    raise LookupError("this world has no monitoring")


def _no_figures(world: SimWorld) -> Figures:
    raise LookupError("this world's kernels count nothing")


_TIED = frozenset(("__weakref__", "_logs_owned", "_programs", "inquiry", "view"))
"""Fields of a world that say something about this one object only, or follow from the others."""


@dataclass(frozen=True)
class Machinery:
    """The stateless parts of a world: control loops and event handlers, indexed for dispatch, and its programs.

    Rooms below reach those above only through it: the network runs programs that it does not import, and a
    program in a pod asks an API server that is made of all of them.
    """

    by_name: Mapping[str, Controller]
    by_resource: Mapping[str, tuple[tuple[Controller, Wake], ...]]
    handlers: Mapping[str, Handler]
    programs: Mapping[str, Program] = field(default_factory=dict)
    """What processes run, by name."""
    toolboxes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Programs by command name for each kind of image."""
    api: Callable[[SimWorld, User], Cluster] = _no_api
    """The Kubernetes API as an identity sees it."""
    telemetry: Callable[[SimWorld], Telemetry] = _no_telemetry
    """What its monitoring knows of its past."""
    figures: Callable[[SimWorld], Figures] = _no_figures
    """What the kernels of its machines count now."""

    place: str = ""
    """Where every process finds it (``module:attribute``), so that worlds are pickled without it."""

    @classmethod
    def of(
        cls,
        controllers: tuple[Controller, ...],
        handlers: Mapping[str, Handler],
        programs: Mapping[str, Program] | None = None,
        toolboxes: Mapping[str, Mapping[str, str]] | None = None,
        api: Callable[[SimWorld, User], Cluster] = _no_api,
        telemetry: Callable[[SimWorld], Telemetry] = _no_telemetry,
        place: str = "",
        figures: Callable[[SimWorld], Figures] = _no_figures,
    ) -> Machinery:
        """Index control loops by name and by the resources that wake them, in the order given."""
        by_resource: dict[str, list[tuple[Controller, Wake]]] = {}
        for controller in controllers:
            for resource, wake in controller.watches.items():
                by_resource.setdefault(resource, []).append((controller, wake))
        return cls(
            {controller.name: controller for controller in controllers},
            {resource: tuple(wakes) for resource, wakes in by_resource.items()},
            handlers,
            programs or {},
            toolboxes or {},
            api,
            telemetry,
            figures,
            place,
        )

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        return places.reduced(self, self.place) or super().__reduce_ex__(protocol)


class SimWorld:
    """A cluster on a virtual clock.

    Attributes:
        store: the API objects.
        queue: the future.
        streams: chance.
        processes: what runs, by (pod UID, container).
        logs: what it wrote, by (pod UID, container, restart).
        runtime: each kubelet's knowledge of its pods, by pod UID (frozen values).
        volumes: contents of persistent volumes, by PersistentVolume name (frozen values).
        disturbances: what is wrong with the machines now, in order of arrival.
        images: every image that can be pulled, by reference.
        memory: small frozen facts that components of the simulation keep, by name.
        acting: the control loop that is at work, by name; empty while none is.
        audit: the objects that requests through the API have written since somebody asked for an account of it, each
            once, in the order in which they came; None where nobody has. What control loops and kubelets write by
            themselves is not in it, and it influences nothing.
        epoch: grows with every change that could alter where a connection leads.
        view: what the network derived from the world at some epoch; forks start from it, and it is no state.
        inquiry: while somebody looks for an answer, what has been read for it; no state either.
        unread: whether what is written only for people to read is left out, for there are none: container logs,
            Normal events, changes of Endpoints (connections follow EndpointSlices) and the blackbox exporter's
            probes. Nothing else goes another way for it, chance included.
    """

    __slots__ = (
        "__weakref__",
        "_app",
        "_due",
        "_logs_owned",
        "_machinery",
        "_programs",
        "acting",
        "audit",
        "clock",
        "disturbances",
        "epoch",
        "images",
        "inquiry",
        "logs",
        "memory",
        "processes",
        "queue",
        "runtime",
        "store",
        "streams",
        "unread",
        "view",
        "volumes",
    )

    def __init__(
        self,
        seed: int,
        *,
        start: int,
        machinery: Machinery,
        images: Mapping[str, Image],
        app: App | None = None,
    ) -> None:
        self.store = Store()
        self.queue = EventQueue()
        self.streams = Streams(seed)
        self.clock = start
        self.processes: dict[ProcessKey, Process] = {}
        self.logs: dict[LogKey, ContainerLog] = {}
        self._logs_owned: set[LogKey] = set()
        self.runtime: dict[str, Any] = {}
        self.volumes: dict[str, Any] = {}
        self.disturbances: tuple[Disturbance, ...] = ()
        self.images = images
        self._programs = _programs_of(machinery, app)
        self.memory: dict[str, Any] = {}
        self.epoch = 0
        self.view: Any = None
        self.inquiry: Inquiry | None = None
        self._app = app
        self.acting = ""
        self.audit: tuple[tuple[str, str, str], ...] | None = None
        self.unread = False
        self._due: dict[tuple[str, Key], int] = {}
        self._machinery = machinery
        _tie(self)

    @property
    def plan(self) -> ClusterPlan:
        """What the cluster was made of, and when."""
        found: ClusterPlan = self.memory.get(SLOT, PUBLISHED)
        return found

    @property
    def programs(self) -> Mapping[str, Program]:
        """What processes of this world run, by name: the programs of the application among them."""
        return self._programs

    @property
    def toolboxes(self) -> Mapping[str, Mapping[str, str]]:
        """Programs by command name for each kind of image."""
        return self._machinery.toolboxes

    @property
    def figures(self) -> Figures:
        """What the kernels of this world's machines count now. Raises LookupError where nobody counts."""
        return self._machinery.figures(self)

    def api(self, user: User) -> Cluster:
        """The Kubernetes API as ``user`` sees it."""
        return self._machinery.api(self, user)

    @property
    def telemetry(self) -> Telemetry:
        """Metrics, logs and traces of its past."""
        return self._machinery.telemetry(self)

    @property
    def app(self) -> App:
        """The deployed application. Raises LookupError on a bare cluster."""
        if self._app is None:
            raise LookupError("no application is deployed in this world")
        return self._app

    @app.setter
    def app(self, app: App) -> None:
        self._app = app
        self.images = {**self.images, **{image.reference: image for image in app.images}}
        self._programs = _programs_of(self._machinery, app)

    def fork(self) -> Self:
        """An independent world with the same present and, given the same actions, the same future."""
        copy = object.__new__(type(self))
        copy.store = self.store.fork()
        _tie(copy)
        copy.queue = self.queue.fork()
        copy.streams = self.streams.fork()
        copy.clock = self.clock
        copy.processes = self.processes.copy()
        copy.logs = self.logs.copy()
        copy._logs_owned = set()
        # Both share the logs now, so this world must copy before it writes, too. A kept world owns none and
        # stays untouched: other threads may fork it at the same time.
        if self._logs_owned:
            self._logs_owned = set()
        copy.runtime = self.runtime.copy()
        copy.volumes = self.volumes.copy()
        copy.disturbances = self.disturbances
        copy.images = self.images
        copy._programs = self._programs
        copy.memory = self.memory.copy()
        copy.epoch = self.epoch
        copy.view = self.view
        copy.inquiry = None
        copy._app = self._app
        copy.acting = ""
        copy.audit = self.audit
        copy.unread = self.unread
        copy._due = self._due.copy()
        copy._machinery = self._machinery
        return copy

    def refilled(self, parts: Mapping[str, Any], tables: Mapping[str, dict[Key, Manifest]]) -> Self:
        """A fork with other values in place of some fields, by name, and other tables in place of some of its store's.

        The store remembers no changes. Without a ``view`` among the fields the network derives one anew."""
        copy = self.fork()
        copy.store.refill(tables)
        for name, value in {"view": None, **parts}.items():
            setattr(copy, name, value)
        copy._programs = _programs_of(copy._machinery, copy._app)
        return copy

    def __getstate__(self) -> dict[str, Any]:
        """Everything, for a copy in this process or another one that goes on in the same way."""
        return {name: getattr(self, name) for name in SimWorld.__slots__ if name not in _TIED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._programs = _programs_of(self._machinery, self._app)
        self._logs_owned = set()
        self.view = None
        self.inquiry = None
        _tie(self)

    def reseed(self, seed: int) -> None:
        """From now on, chance is drawn from this seed."""
        self.streams.reseed(seed)

    # --- time -------------------------------------------------------------------------------------

    def now(self) -> int:
        """The present, microseconds since the Unix epoch."""
        return self.clock

    def after(self, delay: int, kind: str, *args: Any) -> None:
        """Let an event of ``kind`` happen in ``delay`` microseconds."""
        self.queue.push(self.clock + delay, kind, *args)

    def happen(self, kind: str, *args: Any) -> None:
        """Let an event of ``kind`` happen at once."""
        self._machinery.handlers[kind](self, *args)

    def run_until(self, time: int) -> None:
        """Let everything due up to ``time`` happen, in order, and move the clock there.

        Raises EffortExceeded where the action on whose behalf that is has used up what the world may do meanwhile;
        the clock then stands at what happened last.
        """
        present = effort.present()
        with garbage.deferred():
            if present is None:
                self._happen_until(time)
            else:
                self._happen_within(present, time)
        self.clock = max(self.clock, time)

    def _happen_until(self, time: int) -> None:
        while (event := self.queue.pop_due(time)) is not None:
            if event.time > self.clock:
                self.clock = event.time
            if event.kind == "reconcile":
                self._reconcile(*event.args)
            else:
                self._machinery.handlers[event.kind](self, *event.args)

    def _happen_within(self, present: effort.Effort, time: int) -> None:
        """The same, counted, and stopped between two events when it is too much."""
        present.within += 1
        try:
            while present.world >= 0 and (event := self.queue.pop_due(time)) is not None:
                present.world -= EVENT_EFFORT
                if event.time > self.clock:
                    self.clock = event.time
                if event.kind == "reconcile":
                    self._reconcile(*event.args)
                else:
                    self._machinery.handlers[event.kind](self, *event.args)
        finally:
            present.within -= 1
        effort.check()

    def advance(self, duration_seconds: float) -> None:
        """Let ``duration_seconds`` pass."""
        self.run_until(self.clock + seconds(duration_seconds))

    def settle(self, limit_seconds: float = 600.0) -> bool:
        """Run until no controller has work due within a second, at most ``limit_seconds``; whether it settled."""
        deadline = self.clock + seconds(limit_seconds)
        while self.clock < deadline:
            next_time = self.queue.next_time()
            if next_time is None or next_time > self.clock + SECOND:
                return True
            self.run_until(next_time)
        return False

    # --- control loops ----------------------------------------------------------------------------

    def wake(self, controller: str, key: Key, delay: int) -> None:
        """Have ``controller`` look at ``key`` in ``delay`` microseconds, or sooner if it already will."""
        due = self.clock + delay
        slot = (controller, key)
        known = self._due.get(slot)
        if known is not None and known <= due:
            return
        self._due[slot] = due
        self.queue.push(due, "reconcile", controller, key)

    def wake_watchers(self, change: Change, delay: int) -> None:
        """Have the control loops that such a change would wake look again in ``delay`` microseconds."""
        for controller, wake in self._machinery.by_resource.get(change.resource, ()):
            for key in wake(self, change):
                self.wake(controller.name, key, delay)

    def _reconcile(self, name: str, key: Key) -> None:
        slot = (name, key)
        # Nothing is taken out of the queue: an event that an earlier waking has overtaken is ignored here.
        if self._due.get(slot) != self.clock:
            return
        # Before the loop runs: its own writes may wake it again.
        del self._due[slot]
        self.acting = name
        try:
            again = self._machinery.by_name[name].reconcile(self, key)
        finally:
            self.acting = ""
        if again is not None:
            # A loop that asks for no delay still lets the rest of the world have its turn.
            self.wake(name, key, max(again, MILLISECOND))

    def _changed(self, change: Change) -> None:
        wakes = self._machinery.by_resource.get(change.resource, ())
        if not wakes and is_custom(change.resource):
            wakes = self._machinery.by_resource.get(CUSTOM, ())
        elif change.resource not in _WITHOUT_CONSEQUENCE:
            self.touch()
        asked: Wake | None = None
        keys: tuple[Key, ...] = ()
        for controller, wake in wakes:
            # Loops in a row that wake by the same function (those of Services' endpoints) ask it once.
            if wake is not asked:
                asked, keys = wake, tuple(wake(self, change))
            for key in keys:
                self.wake(controller.name, key, controller.latency)

    def touch(self) -> None:
        """Note that connections may now lead elsewhere, and have the traffic looked at again."""
        self.epoch += 1
        if "traffic.due" not in self.memory:
            self.memory["traffic.due"] = True
            # The next whole second, however many changes come before it: a rollout costs one look a second.
            grain = self.memory.get(GRAIN, SECOND)
            due = max(self.clock - self.clock % grain + grain, self.memory.get(LOOKING, 0))
            self.queue.push(due, "traffic")
            # A world made of a few parts, as in tests, may have no kubelets.
            if "kubelet.look" in self._machinery.handlers:
                self.queue.push(due, "kubelet.look")

    def stirred(self) -> None:
        """Note that the answers of servers now take other times, and have probes made again."""
        self.epoch += 1
        if "kubelet.look" in self._machinery.handlers:
            self.queue.push(self.clock + MILLISECOND, "kubelet.look")

    # --- processes and logs -----------------------------------------------------------------------

    def put_process(self, process: Process) -> None:
        """Start or change a process."""
        self.processes[process.key] = process
        self.touch()

    def change_process(self, key: ProcessKey, **changes: Any) -> Process:
        """Change fields of a running process and return it."""
        process = evolve(self.processes[key], **changes)
        self.put_process(process)
        return process

    def drop_process(self, key: ProcessKey) -> Process | None:
        """Remove a process that is no more."""
        self.touch()
        gone = self.processes.pop(key, None)
        if gone is not None:
            recent = [run for run in self.memory.get(ENDED, ()) if run[0] > self.clock - ENDED_KEPT]
            self.memory[ENDED] = (*recent[-ENDED_MOST:], (self.clock, gone))
        return gone

    def log(self, key: LogKey) -> ContainerLog:
        """The log of one run of a container, to write to."""
        if key not in self._logs_owned:
            known = self.logs.get(key)
            self.logs[key] = ContainerLog() if known is None else known.fork()
            self._logs_owned.add(key)
        return self.logs[key]


def _programs_of(machinery: Machinery, app: App | None) -> Mapping[str, Program]:
    """What processes run: the machinery's programs, and those that the deployed application brings."""
    if app is None or not app.programs:
        return machinery.programs
    own: dict[str, Any] = {program.name: program for program in app.programs}
    return {**machinery.programs, **own}


def _tie(world: SimWorld) -> None:
    """Have a world's store tell it of changes and ask it for the time, without keeping it alive: a world and its
    store would otherwise outlive their last use until the garbage collector finds them."""
    known = ref(world)

    def tell(change: Change) -> None:
        told = known()
        if told is not None:
            told._changed(change)

    def time() -> int:
        asked = known()
        return 0 if asked is None else asked.clock

    world.store.listener = tell
    world.store.clock = time
