"""Who called whom while a steady state held, how often, and how it went.

The steps of a service say whom it asks; the readings say what everybody served. Both together give, for each call of
each operation, how many were made, how many were answered, and how many of these well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sregym_env.cluster.app import App
from sregym_env.runtime import effort
from sregym_env.sim.monitoring.readings import Journey, Place, Readings, Served, State
from sregym_env.sim.programs import envoy
from sregym_env.sim.programs.kafka import groups
from sregym_env.sim.programs.services.settings import ServiceSettings
from sregym_env.sim.programs.services.steps import Ask, Handler, LookAside, Step, Together, When
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Process
from sregym_env.sim.world.simworld import ENDED_KEPT

CALL_EFFORT = 6.0
"""What it costs to follow a call (units of ``runtime/effort.py``)."""

TURNS = 4
"""Times, at most, that it is found out what everybody is asked, from what they were found to be asked before."""

MOSTLY = 0.4
"""Share of its own time from which on a service waits for little else than a call."""

NodeKey = tuple[str, str]
"""(component, operation)."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """A call that a step makes."""

    ask: Ask
    callee: str
    """The component that is asked; empty where it is none of the application's."""
    made: float
    """Calls per request that is still alive then: less than 1 behind a cache."""
    answered: float
    """Share of them that reach somebody who answers."""
    ok: float
    """Share of the answered that succeed."""
    given_up: bool = False
    """Whether those that are not answered are waited for in vain, and not refused at once."""
    lost: float = 0.0
    """Share of the answered whose answer never arrives."""
    patience: float = 0.0
    """Seconds for which that is waited for."""

    @property
    def kept(self) -> float:
        """Share of the requests that live on."""
        if self.ask.lost.then == "ignore":
            return 1.0
        return 1.0 - self.made * (1.0 - self.answered * self.ok * (1.0 - self.lost))


@dataclass
class Node:
    """One operation of a component while a state holds."""

    place: Place
    operation: str
    rate: float
    ok: float
    latency: float
    processes: list[tuple[Process, float]]
    """Who serves it, with the rate of each."""
    handler: Handler | None
    calls: dict[int, Ahead] = field(default_factory=dict)
    """By the identity of the step."""
    refused: float = 0.0
    """Share of the requests that fail here although all calls went well."""

    @property
    def well(self) -> bool:
        """Whether every request that it serves succeeds."""
        return self.ok >= 1.0 - 1e-9

    @property
    def process(self) -> Process:
        """One of those who serve it."""
        return self.processes[0][0]


def steps_of(handler: Handler, process: Process) -> tuple[Step, ...]:
    """A handler's steps, those behind a condition that holds in their place."""
    return tuple(_taken(handler.steps, process.env))


def _taken(steps: tuple[Step, ...], env: Mapping[str, str]) -> Iterator[Step]:
    for step in steps:
        if isinstance(step, When):
            if env.get(step.variable) == step.value:
                yield from _taken(step.steps, env)
        else:
            yield step


Take = Callable[[Ask, bool, float], float]
"""A call, whether it is made only where a cache has missed, and the share of the requests that are alive then; the share of
these that live on."""


def through(steps: tuple[Step, ...], alive: float, take: Take, missed: bool = False) -> float:
    """Send requests through some steps; the share that comes out alive. Branches of one fork begin together."""
    for step in steps:
        if alive <= 1e-9:
            return 0.0
        if isinstance(step, Ask):
            alive *= take(step, missed, alive)
        elif isinstance(step, LookAside):
            alive *= take(step.cache, missed, alive)
            alive = through(step.miss, alive, take, True)
        elif isinstance(step, Together):
            kept = 1.0
            for branch in step.branches:
                kept *= through(branch, alive, take, missed) / alive
            alive *= kept
    return alive


class Graph:
    """The calls of one steady state."""

    def __init__(self, world: SimWorld, app: App, readings: Readings, state: State) -> None:
        """Follow every call from those who make it."""
        self.app = app
        self.state = state
        self.nodes: dict[NodeKey, Node] = {}
        self._offered: dict[NodeKey, float] = {}
        self._sure: dict[NodeKey, float] = {}
        self._apart: set[NodeKey] = set()
        """Whose own share of failures is known."""
        self._fallible: dict[str, bool] = {}
        self._lost = _lost(world, readings, state)
        self._publishing: set[str] | None = None
        self._forgotten = state.end < world.clock - ENDED_KEPT
        """Whether who ran then and has ended since is not known any more."""
        self._running = {
            place.name
            for run in (readings.runs if self._forgotten else ())
            if run.process.started_at <= state.start < run.ended and (place := readings.place(run.process))
        }
        for served in state.served:
            self._add(world, served)
        for journey in state.journeys:
            self._refine(journey)
        self._blamed: set[Place] = set()
        order = [component.name for component in reversed(app.components)]
        rank = {name: index for index, name in enumerate(order)}
        ordered = sorted(self.nodes.values(), key=lambda node: (rank.get(node.place.name, 0), node.operation))
        if all(node.well for node in ordered):
            for node in ordered:
                self._expect(node, {}, {})
        else:
            self._ask_around(ordered)
            self._tell_apart()
            stores = [self._suspect(node) for node in ordered if not node.well]
            self._blamed.update(store.place for store in stores if store is not None)
            self._ask_around(ordered)
        for node in ordered:
            self._follow(node)

    def _ask_around(self, ordered: Sequence[Node]) -> None:
        """Note what everybody is asked: of several calls in a row the first that is not answered ends them."""
        self._offered, self._sure = {}, {}
        for _ in range(TURNS):
            offered, sure = self._offered, self._sure
            self._offered, self._sure = {}, {}
            for node in ordered:
                self._expect(node, offered, sure)
            if self._offered == offered:
                break

    def _add(self, world: SimWorld, served: Served) -> None:
        if served.place.name not in self.app.by_name or served.rate <= 0.0:
            return
        if served.place.namespace not in self.app.namespaces:
            return
        key = (served.place.name, served.operation)
        node = self.nodes.get(key)
        if node is None:
            handler = handler_of(world, served.process, served.operation)
            self.nodes[key] = Node(
                served.place,
                served.operation,
                served.rate,
                served.ok,
                served.latency,
                [(served.process, served.rate)],
                handler,
            )
            return
        total = node.rate + served.rate
        node.ok = (node.ok * node.rate + served.ok * served.rate) / total
        node.latency = (node.latency * node.rate + served.latency * served.rate) / total
        node.rate = total
        node.processes.append((served.process, served.rate))

    def _refine(self, journey: Journey) -> None:
        """At the entry, what users of a journey meet is known apart."""
        node = self.entry(journey.name)
        if node is not None and journey.rate > 0.0:
            usual, node.ok, node.latency = node.latency, journey.ok, journey.latency
            self._apart.add((node.place.name, node.operation))
            self._pass_on(node, usual)

    def _pass_on(self, node: Node, usual: float) -> None:
        """Behind a proxy at the entry the same is known of whoever nobody else asks.

        ``usual``: what a request takes at the entry on the mean of all operations.
        """
        if node.process.program != envoy.Envoy.name or node.handler is None:
            return
        for ask in steps_of(node.handler, node.process):
            if not isinstance(ask, Ask):
                continue
            behind = self.nodes.get(self.asked(self.callee(node.place.name, ask.peer), ask))
            if behind is None or behind.rate > 1.02 * node.rate:
                continue
            self._apart.add((behind.place.name, behind.operation))
            # What the proxy alone spoils is none of those behind it.
            behind.ok = 1.0 if behind.ok >= 1.0 - 1e-9 else min(1.0, node.ok * node.rate / behind.rate)
            behind.latency = max(node.latency - max(usual - behind.latency, 0.0), 0.5 * node.latency)

    def _tell_apart(self) -> None:
        """Of a process one share of failures is known for all of its operations: tell these apart by whom each cannot do without.

        Leaves come first, so that what is found of them counts for those who ask them.
        """
        of: dict[str, list[Node]] = {}
        for key, node in self.nodes.items():
            if key not in self._apart and node.handler is not None:
                of.setdefault(node.place.name, []).append(node)
        for component in self.app.components:
            nodes = of.get(component.name, [])
            served = sum(node.rate * node.ok for node in nodes)
            if all(node.well for node in nodes):
                continue
            most = {id(node): self._most(node) for node in nodes}
            possible = sum(node.rate * most[id(node)] for node in nodes)
            if served <= 1.02 * possible:
                for node in nodes:
                    node.ok = 0.0 if served <= 0.0 else min(1.0, most[id(node)] * served / possible)

    def _most(self, node: Node) -> float:
        """The largest share of its requests in which an operation can succeed, with those that it asks as they are."""

        def take(ask: Ask, missed: bool, alive: float) -> float:
            key = self.asked(self.callee(node.place.name, ask.peer), ask)
            callee = self.nodes.get(key)
            if missed or ask.lost.then == "ignore":
                return 1.0
            if callee is None:
                return 0.0
            share = self._share(node, callee, self._offered.get(key, 0.0), self._sure.get(key, 0.0))
            # A store's share of successes is that of all who ask it.
            share *= 1.0 - self._missing(node, callee, ask)[0]
            return share * (1.0 if callee.handler is None and callee.ok > 0.0 else callee.ok)

        return 0.0 if node.handler is None else through(steps_of(node.handler, node.process), 1.0, take)

    def entry(self, journey: str) -> Node | None:
        """What serves a journey's requests; None where nothing does."""
        declared = next((each for each in self.app.journeys if each.name == journey), None)
        if declared is None:
            return None
        path = declared.path.partition("?")[0]
        return self.nodes.get((self.app.entry, f"{declared.method} {path}"))

    def may_fail(self, journey: str) -> bool:
        """Whether a request of a journey can have an error anywhere, even one that its users never see."""
        known = self._fallible.get(journey)
        if known is None:
            entry = self.entry(journey)
            known = self._fallible[journey] = entry is not None and self._fails(entry, set())
        return known

    def takers(self, topic: str) -> list[Node]:
        """Who takes records of a topic."""
        return [node for node in self.nodes.values() if groups.consumed(node.operation) == topic]

    def publishes(self, component: str) -> bool:
        """Whether a component publishes records with some of its requests."""
        if self._publishing is None:
            self._publishing = {
                node.place.name
                for node in self.nodes.values()
                for ahead in node.calls.values()
                if ahead.ask.operation == groups.PRODUCE
            }
        return component in self._publishing

    def taking_may_fail(self, node: Node) -> bool:
        """Whether what is done with a record can have an error anywhere."""
        return self._fails(node, set())

    def _fails(self, node: Node, seen: set[NodeKey]) -> bool:
        seen.add((node.place.name, node.operation))
        if node.refused > 1e-9:
            return True
        for ahead in node.calls.values():
            if ahead.made > 0.0 and ahead.answered * ahead.ok * (1.0 - ahead.lost) < 1.0 - 1e-9:
                return True
            key = self.asked(ahead.callee, ahead.ask)
            callee = self.nodes.get(key)
            if callee is not None and key not in seen and self._fails(callee, seen):
                return True
        return False

    def callee(self, component: str, peer: str) -> str:
        """The component that a service knows as a peer; empty where it is none."""
        if peer in self.app.by_name:
            return peer
        for dependency in self.app.by_name[component].dependencies:
            if dependency.on in self.app.by_name and self.app.by_name[dependency.on].kind == peer:
                return dependency.on
        return ""

    def asked(self, component: str, ask: Ask) -> NodeKey:
        """Who serves a call to a component: clients of SQL and Kafka name what they ask for on what they ask it."""
        full = (component, f"{ask.operation} {ask.of}")
        return full if ask.of and full in self.nodes else (component, ask.operation)

    def _expect(self, node: Node, offered: Mapping[NodeKey, float], sure: Mapping[NodeKey, float]) -> None:
        """Note what a node asks of others, who answer as far as can be told from what they were asked as noted before."""
        if node.handler is None:
            return

        def take(ask: Ask, missed: bool, alive: float) -> float:
            effort.spend(CALL_EFFORT)
            key = self.asked(self.callee(node.place.name, ask.peer), ask)
            self._offered[key] = self._offered.get(key, 0.0) + alive
            callee = self.nodes.get(key)
            if node.well and not missed:
                self._sure[key] = self._sure.get(key, 0.0) + alive
            if missed or ask.lost.then == "ignore":
                return 1.0
            if callee is None:
                return 1.0 if node.well else 0.0
            known = key in offered
            share = self._share(node, callee, offered[key], sure.get(key, 0.0)) if known else 1.0
            return share * self._met(node, ask, callee) * (1.0 - self._missing(node, callee, ask)[0])

        through(steps_of(node.handler, node.process), node.rate, take)

    def _missing(self, node: Node, callee: Node, ask: Ask) -> tuple[float, float]:
        """(share of a node's calls whose answer never arrives, seconds for which it waits)."""
        if not self._lost:
            return 0.0, 0.0
        return self._lost.get((node.place, callee.place, ask.operation), (0.0, 0.0))

    def _unknown(self, ask: Ask, component: str) -> bool:
        """Whether nothing is to be told of a call by whoever does well, though nobody is known who answers it: it does without, or
        who answered is forgotten."""
        return ask.lost.then != "ignore" or (self._forgotten and component not in self._running)

    def _share(self, node: Node, callee: Node, offered: float, sure: float) -> float:
        """Share of a node's calls that its callee answers. ``sure``: of what it is offered, by those who were always answered."""
        share = 0.0 if offered <= 0.0 else min(1.0, callee.rate / offered)
        if share < 1.0:
            # Whoever serves all its own requests well was always answered; the others have what is left.
            rest = offered - sure
            share = 1.0 if node.well or rest <= 0.0 else min(1.0, max(0.0, (callee.rate - sure) / rest))
        return 1.0 if share > 0.985 else share

    def _follow(self, node: Node) -> None:
        if node.handler is None:
            node.refused = 1.0 - node.ok
            return
        doubtful: list[tuple[Ask, str]] = []

        def take(ask: Ask, missed: bool, alive: float) -> float:
            name = self.callee(node.place.name, ask.peer)
            key = self.asked(name, ask)
            callee = self.nodes.get(key)
            offered = self._offered.get(key, 0.0)
            if callee is None:
                share = 0.0
            elif missed or ask.lost.then == "ignore":
                share = 0.0 if offered <= 0.0 else min(1.0, callee.rate / offered)
                share = 1.0 if share > 0.985 else share
            else:
                share = self._share(node, callee, offered, self._sure.get(key, 0.0))
            if callee is None and node.well and not missed and self._unknown(ask, name):
                ahead = Ahead(ask, name, 0.0, 1.0, 1.0)
            elif missed and callee is None:
                # Either everything is in the cache, or the database is not to be reached: what is left over will tell.
                doubtful.append((ask, name))
                ahead = Ahead(ask, name, 0.0, 1.0, 1.0)
            elif missed:
                ahead = Ahead(ask, name, share, 1.0, 1.0 if callee is None else callee.ok)
            else:
                ahead = Ahead(ask, name, 1.0, share, 0.0 if callee is None else self._met(node, ask, callee))
            if callee is not None and self._lost:
                lost, patience = self._missing(node, callee, ask)
                ahead = replace(ahead, lost=lost, patience=patience)
            node.calls[id(ask)] = ahead
            return ahead.kept

        alive = through(steps_of(node.handler, node.process), 1.0, take)
        left = 1.0 if alive <= 0.0 else min(1.0, node.ok / alive)
        if left < 0.99 and doubtful:
            ask, name = doubtful[0]
            node.calls[id(ask)] = Ahead(ask, name, 1.0 - left, 0.0, 0.0)
            left = 1.0
        slowest = self._slowest(node) if left < 0.99 else None
        if slowest is not None:
            # Nothing else explains it: the call was given up.
            node.calls[id(slowest.ask)] = replace(slowest, answered=slowest.answered * left, given_up=True)
            left = 1.0
        node.refused = 1.0 - left

    def _met(self, node: Node, ask: Ask, callee: Node) -> float:
        """Share of the answered calls that succeed for this caller.

        What a store makes of everybody's calls is known as one share: nothing of it fell on whoever serves all its own requests
        well, and more on whoever serves fewer than that.
        """
        if callee.handler is not None or not 0.0 < callee.ok < 1.0 - 1e-6:
            return callee.ok
        if ask.lost.then == "ignore":
            # Whether these went well is not to be seen from what it serves, but perhaps from whom the others blame.
            return 1.0 if node.well and callee.place in self._blamed else callee.ok
        if node.well:
            return 1.0
        return min(callee.ok, node.ok) if callee is self._suspect(node) else callee.ok

    def _suspect(self, node: Node) -> Node | None:
        """The store by which most of what a node fails to do can be explained."""
        found: list[Node] = []

        def take(ask: Ask, missed: bool, alive: float) -> float:
            store = self.nodes.get(self.asked(self.callee(node.place.name, ask.peer), ask))
            if store is not None and store.handler is None and not missed and 0.0 < store.ok < 1.0 - 1e-6:
                found.append(store)
            return 1.0

        if node.handler is not None:
            through(steps_of(node.handler, node.process), 1.0, take)
        return min(found, key=lambda store: store.ok, default=None)

    def _slowest(self, node: Node) -> Ahead | None:
        """The call without which a node cannot do and for which it waits most of its time."""
        found, longest = None, node.latency * MOSTLY
        for ahead in node.calls.values():
            callee = self.nodes.get(self.asked(ahead.callee, ahead.ask))
            if callee is None or ahead.ask.lost.then == "ignore" or ahead.made < 1.0:
                continue
            if callee.latency > longest:
                found, longest = ahead, callee.latency
        return found


def _lost(
    world: SimWorld, readings: Readings, state: State
) -> dict[tuple[Place, Place, str], tuple[float, float]]:
    """(share that never arrives, seconds until that is given up) of answers, by who waits, who has sent them, and of what."""
    found: dict[tuple[Place, Place, str], tuple[float, float]] = {}
    for each in state.stalled:
        ends = [readings.place_of(key) for key in (each.caller, each.server)]
        if ends[0] is not None and ends[1] is not None:
            key = (ends[0], ends[1], each.operation)
            found[key] = (min(found.get(key, (0.0, 0.0))[0] + each.share, 1.0), each.patience)
    return found


def handler_of(world: SimWorld, process: Process, operation: str) -> Handler | None:
    """What a process does with an operation, as far as its program says."""
    if process.program == envoy.Envoy.name:
        return envoy.handler_of(process, operation)
    image = world.images.get(process.image)
    binary = None if image is None else image.binaries.get(process.binary)
    settings = None if binary is None else binary.settings
    return settings.handler(operation) if isinstance(settings, ServiceSettings) else None


def takes_records(world: SimWorld, process: Process) -> bool:
    """Whether a process is made to take records from topics."""
    image = world.images.get(process.image)
    binary = None if image is None else image.binaries.get(process.binary)
    settings = None if binary is None else binary.settings
    return isinstance(settings, ServiceSettings) and any(
        groups.consumed(handler.operation) for handler in settings.handlers
    )


class Graphs:
    """The graphs of a world's steady states, each followed once."""

    def __init__(self, world: SimWorld, app: App, readings: Readings) -> None:
        """Of a world as it is now."""
        self._world, self._app, self._readings = world, app, readings
        self._known: dict[tuple[object, object], Graph] = {}

    def of(self, state: State) -> Graph:
        """The graph of a state."""
        key = (id(state.served), (state.journeys, state.stalled))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Graph(self._world, self._app, self._readings, state)
        return found


def errors_of(state: State) -> Mapping[str, str]:
    """What the clients of each failing journey say most often."""
    found = {}
    for journey in state.journeys:
        if journey.errors:
            text = max(journey.errors, key=lambda each: each[1])[0]
            found[journey.name] = text.partition(": ")[2] if text.startswith("HTTP ") else text
    return found
