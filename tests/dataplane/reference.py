"""The reference: every request of a network by itself, event by event.

It shares the network's values with the model under test and nothing else: first come, first served cores, threads held while
callees work, timers, retries, connection pools, caches with single keys, CFS quota with its 100 ms periods. Slow (some
100,000 requests per second) and exact up to chance.
"""

from __future__ import annotations

import heapq
import math
import random
from bisect import insort
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from sregym_env.sim.dataplane.network import NEVER, Edge, Leg, Network, Operation, Station

Done = Callable[[bool], None]
PERIOD = 0.1


@dataclass
class Record:
    """What became of the calls on one edge."""

    began: list[float] = field(default_factory=list)
    ended: list[tuple[float, bool, float]] = field(default_factory=list)
    """(time, success, duration)."""
    attempts: int = 0

    def calls(self, start: float, end: float) -> int:
        """Calls begun within a window."""
        return sum(start <= each < end for each in self.began)

    def good(self, start: float, end: float) -> int:
        """Calls that succeeded within a window."""
        return sum(ok for when, ok, _ in self.ended if start <= when < end)

    def durations(self, start: float, end: float) -> list[float]:
        """Durations of the calls that ended within a window, sorted."""
        return sorted(length for when, _, length in self.ended if start <= when < end)


class _Request:
    __slots__ = ("cancelled", "done", "hits", "op", "work")

    def __init__(self, op: Operation, done: Done) -> None:
        self.op = op
        self.done = done
        self.cancelled = False
        self.hits: set[str] = set()
        self.work = 0.0


class _Server:
    """One station: waiting requests, threads, cores."""

    def __init__(self, sim: Reference, spec: Station) -> None:
        self.sim = sim
        self.spec = spec
        self.threads = 0
        self.waiting: deque[_Request] = deque()
        self.ready: deque[_Request] = deque()
        self.busy = 0
        self.present = 0
        self.leaked = 0.0
        self.rate = 0.0
        self.rated = 0.0
        self.keys = 0
        self.arrived = self.throttled = self.periods = 0
        # CFS: running requests by the processor time at which they end; that clock stands while throttled.
        self.running: list[tuple[float, int, _Request]] = []
        self.clock = 0.0
        self.seen = 0.0
        self.budget = 0.0
        self.version = 0
        self.ticking = False

    @property
    def quota(self) -> bool:
        return self.spec.quota < self.spec.cores

    def arrive(self, request: _Request) -> None:
        self.arrived += 1
        if len(self.waiting) + len(self.ready) + self.busy >= self.spec.queue + self.spec.cores:
            request.done(False)
            return
        self.present += 1
        if self.threads < self.spec.threads:
            self.threads += 1
            self.admit(request)
        else:
            self.waiting.append(request)

    def admit(self, request: _Request) -> None:
        if self.busy < self.spec.cores:
            self.busy += 1
            self.serve(request)
        else:
            self.ready.append(request)

    def serve(self, request: _Request) -> None:
        # As it is now, whenever the request was made: a machine that is slow for a while is not slow for old requests later.
        demand = self.sim.operations[request.op.name].demand
        work = self.sim.draw(demand, self.spec.variability) / self.speed()
        if self.quota:
            self.catch_up()
            insort(self.running, (self.clock + work, self.sim.number(), request))
            self.schedule()
        else:
            self.sim.after(work, lambda: self.served(request))

    def speed(self) -> float:
        now, spec = self.sim.now, self.spec
        speed = 1.0
        if spec.cold < 1.0:
            speed = 1.0 - (1.0 - spec.cold) * math.exp(-max(now - spec.since, 0.0) / spec.warm_up)
        if spec.collector is None:
            return speed
        live = spec.memory + spec.per_request * self.present + self.leaked
        heap = min(spec.collector.heap, live * (1.0 + spec.collector.growth))
        free = max(heap - live, 0.01 * heap)
        rate = self.rate * math.exp(self.rated - now)
        share = spec.collector.mark * live * spec.collector.allocation * rate / free / spec.cores
        return speed * (1.0 - min(share, 0.98))

    def served(self, request: _Request) -> None:
        now = self.sim.now
        self.rate = self.rate * math.exp(self.rated - now) + 1.0
        self.rated = now
        self.leaked += self.spec.leak
        self.release_core()
        if request.op.pause:
            self.sim.after(
                self.sim.draw(request.op.pause, request.op.pause_variability), lambda: self.stages(request, 0)
            )
        else:
            self.stages(request, 0)

    def release_core(self) -> None:
        while self.ready:
            following = self.ready.popleft()
            if following.cancelled:
                self.leave(following)
                continue
            self.serve(following)
            return
        self.busy -= 1

    def stages(self, request: _Request, number: int) -> None:
        groups = self.sim.stages[request.op.name]
        if number == len(groups):
            ok = self.sim.random() >= request.op.failing
            self.leave(request)
            request.done(ok)
            return
        group = groups[number]
        left = len(group)
        failed = False

        def one(ok: bool) -> None:
            nonlocal left, failed
            left -= 1
            failed = failed or not ok
            if left == 0:
                if failed:
                    self.leave(request)
                    request.done(False)
                else:
                    self.stages(request, number + 1)

        for edge in group:
            self.sim.per_request(edge, request, one)

    def leave(self, request: _Request) -> None:
        self.present -= 1
        while self.waiting:
            following = self.waiting.popleft()
            if following.cancelled:
                self.present -= 1
                continue
            self.admit(following)
            return
        self.threads -= 1

    # --- CFS ------------------------------------------------------------------------------------------

    def catch_up(self) -> None:
        now = self.sim.now
        if self.running and self.budget > 0.0:
            ran = now - self.seen
            self.clock += ran
            self.budget = max(0.0, self.budget - ran * len(self.running))
            if self.budget < 1e-12:
                self.budget = 0.0
        self.seen = now

    def schedule(self) -> None:
        if not self.ticking:
            self.ticking = True
            self.periods += 1
            self.budget = self.spec.quota * PERIOD
            edge = (math.floor(self.sim.now / PERIOD) + 1) * PERIOD
            self.sim.at(edge, self.period)
        self.version += 1
        if self.running and self.budget > 0.0:
            mine = self.version
            finish = self.running[0][0] - self.clock
            empty = self.budget / len(self.running)
            self.sim.after(max(min(finish, empty), 0.0), lambda: self.look(mine))

    def look(self, version: int) -> None:
        if version != self.version:
            return
        self.catch_up()
        if self.budget <= 0.0:
            self.throttled += 1
            return
        while self.running and self.running[0][0] <= self.clock + 1e-9:
            self.served(self.running.pop(0)[2])
        self.schedule()

    def period(self) -> None:
        self.catch_up()
        self.budget = self.spec.quota * PERIOD
        if not self.running:
            self.ticking = False
            return
        self.periods += 1
        self.sim.at((math.floor(self.sim.now / PERIOD + 1e-6) + 1) * PERIOD, self.period)
        self.schedule()


class Reference:
    """A run of a network from time 0; :meth:`change` makes it another network on the way."""

    def __init__(self, network: Network, seed: int = 0) -> None:
        self.chance = random.Random(seed)
        self.random = self.chance.random
        self.now = 0.0
        self.heap: list[tuple[float, int, Callable[[], None]]] = []
        self.count = 0
        self.servers: dict[str, _Server] = {}
        self.records: dict[str, Record] = {}
        self.breakers: dict[str, tuple[float, float, float]] = {}
        self.pools: dict[str, tuple[list[int], deque[Callable[[], None]]]] = {}
        self.network = network
        self.change(network)
        for source in network.sources:
            if source.users:
                for _ in range(round(source.users)):
                    self.after(
                        self.draw(source.think, 1.0),
                        lambda name=source.name, think=source.think: self.user(name, think),
                    )  # type: ignore[misc]
            else:
                self.after(0.0, lambda name=source.name: self.arrival(name, False))  # type: ignore[misc]

    def change(self, network: Network) -> None:
        """Another network from now on; sources stay those of the first, but for their rates."""
        self.network = network
        for spec in network.stations:
            server = self.servers.get(spec.name)
            if server is None or server.spec.run != spec.run:
                fresh = _Server(self, spec)
                if spec.cache and spec.run == 0:
                    fresh.keys = round(spec.cache.keys)
                self.servers[spec.name] = fresh
            else:
                server.spec = spec
        self.operations = {each.name: each for each in network.operations}
        self.sources = {each.name: each for each in network.sources}
        by_caller: dict[str, dict[int, list[Edge]]] = {}
        for edge in network.edges:
            by_caller.setdefault(edge.caller, {}).setdefault(edge.stage, []).append(edge)
            self.records.setdefault(edge.name, Record())
        self.stages = {
            each.name: [group for _, group in sorted(by_caller.get(each.name, {}).items())]
            for each in network.operations
        }
        self.roots = {
            each.name: [edge for group in by_caller.get(each.name, {}).values() for edge in group]
            for each in network.sources
        }

    # --- time and chance --------------------------------------------------------------------------------

    def number(self) -> int:
        self.count += 1
        return self.count

    def at(self, time: float, what: Callable[[], None]) -> None:
        self.count += 1
        heapq.heappush(self.heap, (time, self.count, what))

    def after(self, delay: float, what: Callable[[], None]) -> None:
        self.at(self.now + delay, what)

    def run(self, until: float) -> None:
        """Let time pass."""
        heap = self.heap
        while heap and heap[0][0] <= until:
            self.now, _, what = heapq.heappop(heap)
            what()
        self.now = until

    def draw(self, mean: float, variability: float) -> float:
        if mean <= 0.0 or variability <= 0.0:
            return mean
        if variability == 1.0:
            return -mean * math.log(1.0 - self.random())
        return self.chance.gammavariate(1.0 / variability, mean * variability)

    # --- calls --------------------------------------------------------------------------------------------

    def arrival(self, name: str, comes: bool) -> None:
        source = self.sources[name]
        if comes:
            for edge in self.roots[name]:
                self.call(edge, None, lambda _: None)
        rate = source.rate * source.profile.level(self.now)
        change = source.profile.holds_until(self.now)
        gap = self.draw(1.0 / rate, 1.0) if rate > 0.0 else NEVER
        # A Poisson process has no memory: at a change of the rate it begins anew.
        if self.now + gap > change:
            self.at(change, lambda: self.arrival(name, False))
        elif gap < NEVER:
            self.after(gap, lambda: self.arrival(name, True))

    def user(self, name: str, think: float) -> None:
        for edge in self.roots[name]:
            self.call(edge, None, lambda _: self.after(self.draw(think, 1.0), lambda: self.user(name, think)))

    def per_request(self, edge: Edge, request: _Request, done: Done) -> None:
        """All calls that a request makes on an edge."""
        if edge.lookup and edge.lookup in request.hits:
            done(True)
            return
        count = math.floor(edge.calls) + (self.random() < edge.calls % 1.0)

        def following(left: int, ok: bool) -> None:
            if not ok and edge.required:
                done(False)
            elif left == 0:
                done(True)
            else:
                self.call(edge, request, lambda fine: following(left - 1, fine))

        if not edge.waits:
            for _ in range(count):
                self.call(edge, request, lambda _: None)
            done(True)
        else:
            following(count, True)

    def call(self, edge: Edge, request: _Request | None, done: Done) -> None:
        """One call with its retries."""
        record = self.records[edge.name]
        began = self.now
        record.began.append(began)
        left = round(edge.retries)

        def ended(ok: bool) -> None:
            nonlocal left
            if not ok and left > 0:
                left -= 1
                self.after(edge.backoff * (0.5 + self.random()), lambda: self.attempt(edge, request, ended))
                return
            record.ended.append((self.now, ok, self.now - began))
            done(ok)

        self.attempt(edge, request, ended)

    def attempt(self, edge: Edge, request: _Request | None, done: Done) -> None:
        self.records[edge.name].attempts += 1
        leg = self.leg(edge)
        open_ = True
        callee: _Request | None = None

        def end(ok: bool) -> None:
            nonlocal open_
            if open_:
                open_ = False
                done(ok)

        def late() -> None:
            if open_ and callee is not None and edge.cancels:
                callee.cancelled = True
            end(False)

        if edge.timeout < NEVER:
            self.after(edge.timeout, late)
        if not leg.to:
            if leg.dead != "blackhole":
                self.after(leg.delay, lambda: end(False))
            return

        def answered(ok: bool) -> None:
            self.give_back(edge)
            if ok and open_ and request is not None:
                self.remember(edge, leg, request)
            end(ok)

        callee = _Request(self.operations[leg.to], answered)

        def go() -> None:
            assert callee is not None
            server = self.servers[callee.op.station]
            if leg.delay:
                self.after(leg.delay, lambda: server.arrive(callee))
            else:
                server.arrive(callee)

        self.connect(edge, go)

    def connect(self, edge: Edge, go: Callable[[], None]) -> None:
        if edge.pool == NEVER:
            go()
            return
        used, queue = self.pools.setdefault(edge.name, ([0], deque()))
        if used[0] < edge.pool:
            used[0] += 1
            go()
        else:
            queue.append(go)

    def give_back(self, edge: Edge) -> None:
        if edge.pool == NEVER:
            return
        used, queue = self.pools[edge.name]
        if queue:
            queue.popleft()()
        else:
            used[0] -= 1

    def remember(self, edge: Edge, leg: Leg, request: _Request) -> None:
        """What an answer does to caches: a lookup may hit, a fetch fills."""
        cache = self.servers[self.operations[leg.to].station]
        if (
            cache.spec.cache is not None
            and self.random() < cache.spec.cache.ceiling * cache.keys / cache.spec.cache.keys
        ):
            request.hits.add(edge.name)
        if edge.lookup:
            looked = next(each for each in self.network.edges if each.name == edge.lookup)
            server = self.servers[self.operations[looked.legs[0].to].station]
            spec = server.spec.cache
            assert spec is not None
            # What was asked for was missing: a key that is not there now, unless it can never be there.
            missing = spec.keys - server.keys
            if self.random() < spec.ceiling * missing / (spec.keys - spec.ceiling * server.keys):
                server.keys += 1

    def leg(self, edge: Edge) -> Leg:
        if len(edge.legs) == 1:
            return edge.legs[0]
        draw = self.random()
        for leg in edge.legs:
            draw -= leg.share
            if draw < 0.0:
                return leg
        return edge.legs[-1]
