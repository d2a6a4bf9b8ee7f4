"""What an instant looks like: rates, shares, uses and laws, all of one state, worked out when somebody asks.

Shares of failures are the model's; durations are conditional laws beside them. So a counter of time-outs and a histogram of
answers never contradict each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from sregym_env.runtime.chance import Chance
from sregym_env.sim.dataplane.accounting import EdgeTotal, OperationTotal, StationTotal
from sregym_env.sim.dataplane.law import Law
from sregym_env.sim.dataplane.network import Network
from sregym_env.sim.dataplane.plan import HUGE, plan_of
from sregym_env.sim.dataplane.state import Held, State, Way

MOST_ATTEMPTS = 8
"""Attempts of a call that a law tells apart; what is left counts as the last of them."""

Outcome = Literal["ok", "timeout", "error", "rejected", "refused", "shunned"]


@dataclass(frozen=True, slots=True)
class StationReading:
    """One station. Rates are per second."""

    arrivals: float
    completions: float
    utilisation: float
    cpu: float
    """Cores used, the collector's included."""
    collecting: float
    """Share of the used CPU time that goes to the collector."""
    queue: float
    present: float
    """Requests in the process."""
    memory: float
    throttled: float
    """Share of the CFS periods in which it runs that run out of quota."""
    hit_ratio: float


@dataclass(frozen=True, slots=True)
class EdgeReading:
    """One edge. Rates are per second; kinds are those of attempts."""

    calls: float
    retries: float
    ok: float
    failures: dict[Outcome, float]
    in_flight: float

    @property
    def ok_ratio(self) -> float:
        """Share of the calls that end well of all that end."""
        ended = self.ok + self.failures["shunned"] + self.given_up
        return self.ok / ended if ended > 0.0 else 1.0

    given_up: float = 0.0
    """Calls per second whose last attempt failed."""


@dataclass(frozen=True, slots=True)
class Span:
    """One request at one operation (or one attempt that reached none), with what it led to."""

    operation: str
    """Empty for an attempt that nobody took."""
    edge: str
    start: float
    """Seconds after the root call began."""
    duration: float
    """As its caller sees it: cut off at the time-out."""
    served: float
    """As the callee sees it."""
    outcome: Outcome
    children: tuple[Span, ...] = ()


class Reading:
    """A state read under its network. Keep it for one instant; what it works out it remembers."""

    def __init__(self, network: Network, state: State) -> None:
        self.network = network
        self.state = state
        self._plan = plan_of(network)
        self._operations: dict[int, Law] = {}
        self._edges: dict[int, tuple[Law, Law, Law]] = {}
        self._stages: dict[int, list[list[int]]] = {}
        for number in range(len(self._plan.edges)):
            groups = self._stages.setdefault(int(self._plan.caller[number]), [])
            last = self._plan.edges[groups[-1][0]] if groups else None
            edge = self._plan.edges[number]
            if not edge.waits:
                continue
            if last is not None and last.stage == edge.stage:
                groups[-1].append(number)
            else:
                groups.append([number])

    # --- figures ----------------------------------------------------------------------------------------

    def station(self, name: str) -> StationReading:
        """One station."""
        number = self._plan.station_index[name]
        held, rates = self.state.stations[:, number], self.state.station_rates[:, number]
        cpu, periods = float(rates[StationTotal.CPU]), float(rates[StationTotal.PERIODS])
        cache = self._plan.stations[number].cache
        return StationReading(
            float(rates[StationTotal.ARRIVED]),
            float(rates[StationTotal.COMPLETED]),
            float(held[Held.UTILISATION]),
            cpu,
            float(rates[StationTotal.GC]) / cpu if cpu > 0.0 else 0.0,
            float(held[Held.QUEUE]),
            float(held[Held.PRESENT]),
            float(held[Held.MEMORY]),
            float(rates[StationTotal.THROTTLED]) / periods if periods > 0.0 else 0.0,
            cache.ceiling * float(held[Held.FILLED]) if cache else 0.0,
        )

    def edge(self, name: str) -> EdgeReading:
        """One edge; those of sources are the users' journeys."""
        number = self._plan.edge_index[name]
        rates = self.state.edge_rates[:, number]
        kinds: dict[Outcome, float] = {
            "timeout": float(rates[EdgeTotal.TIMEOUT]),
            "error": float(rates[EdgeTotal.ERROR]),
            "rejected": float(rates[EdgeTotal.REJECTED]),
            "refused": float(rates[EdgeTotal.REFUSED]),
            "shunned": float(rates[EdgeTotal.SHUNNED]),
        }
        return EdgeReading(
            float(rates[EdgeTotal.CALLS]),
            float(rates[EdgeTotal.RETRIES]),
            float(rates[EdgeTotal.OK]),
            kinds,
            float(self.state.edges[Way.FLYING, number] + self.state.edges[Way.WAITING, number]),
            float(rates[EdgeTotal.LAST_TIMEOUT : EdgeTotal.LAST_REFUSED + 1].sum()),
        )

    def served(self, operation: str) -> tuple[float, float]:
        """(requests per second, share answered without an error) of an operation."""
        number = self._plan.operation_index[operation]
        rate = float(self.state.operation_rates[OperationTotal.SERVED, number])
        failed = float(self.state.operation_rates[OperationTotal.FAILED, number])
        return rate, 1.0 - failed / rate if rate > 0.0 else 1.0

    # --- laws -------------------------------------------------------------------------------------------

    def wait(self, station: str) -> Law:
        """How long an arrival waits for a core, for quota or for a thread."""
        return self._wait(self._plan.station_index[station])

    def _wait(self, number: int) -> Law:
        held = self.state.stations[:, number]
        waits, mean = float(held[Held.WAITS]), float(held[Held.WAIT])
        waiting = Law.gamma(mean, float(held[Held.WAIT_SPREAD]) * mean * mean)
        return Law.mixed([(1.0 - waits, Law.fixed(0.0)), (waits, waiting)])

    def own(self, operation: str) -> Law:
        """What a request is served for by the station itself, its wait included and its callees left out."""
        number = self._plan.operation_index[operation]
        plan = self._plan
        station = int(plan.station_of[number])
        work = plan.demand[number] * self.state.stations[Held.STRETCH, station] + plan.throttled[number]
        law = self._wait(station).plus(Law.gamma(float(work), float(work * work * plan.spread[station])))
        return law.plus(Law.gamma(float(plan.pause[number]), float(plan.pause_var[number])))

    def operation(self, name: str) -> Law:
        """From arrival to answer, callees included."""
        return self._operation(self._plan.operation_index[name])

    def _operation(self, number: int) -> Law:
        law = self._operations.get(number)
        if law is None:
            law = self.own(self._plan.operations[number].name)
            for group in self._stages.get(number, []):
                slowest: Law | None = None
                for edge in group:
                    each = self._per_request(edge)
                    slowest = each if slowest is None else slowest.slower(each)
                if slowest is not None:
                    law = law.plus(slowest)
            self._operations[number] = law
        return law

    def _per_request(self, edge: int) -> Law:
        often = self._often(edge)
        one = self._laws(edge)[0]
        law = Law.fixed(0.0)
        for _ in range(math.floor(often)):
            law = law.plus(one)
        rest = often % 1.0
        return law if rest < 1e-9 else Law.mixed([(1.0 - rest, law), (rest, law.plus(one))])

    def _often(self, edge: int) -> float:
        """Calls per request of the caller at this instant."""
        spec = self._plan.edges[edge]
        if not spec.lookup:
            return spec.calls
        looked = self._plan.lookup[edge]
        plan = self._plan
        hit = sum(
            float(
                plan.shares[number, looked]
                * plan.ceiling[station]
                * self.state.stations[Held.FILLED, station]
            )
            for number, station in enumerate(plan.station_of)
        )
        return spec.calls * (1.0 - hit * self.edge(plan.edges[looked].name).ok_ratio)

    def call(self, edge: str) -> Law:
        """A whole call with its retries, however it ends."""
        return self._laws(self._plan.edge_index[edge])[0]

    def attempt(self, edge: str) -> Law:
        """One attempt, cut off at its time-out."""
        return self._laws(self._plan.edge_index[edge])[1]

    def answer(self, edge: str) -> Law:
        """A call that succeeds."""
        return self._laws(self._plan.edge_index[edge])[2]

    def _laws(self, number: int) -> tuple[Law, Law, Law]:
        found = self._edges.get(number)
        if found is None:
            found = self._edges[number] = self._work_out(number)
        return found

    def _work_out(self, number: int) -> tuple[Law, Law, Law]:
        edge, ways = self._plan.edges[number], self.state.edges[:, number]
        first = int(self._plan.leg_first[number])
        answers = Law.mixed([(leg.share, self._leg(first + n)) for n, leg in enumerate(edge.legs) if leg.to])
        prompt = answers.within(edge.timeout)
        way = Law.mixed([(leg.share, Law.gamma(leg.delay, leg.jitter**2)) for leg in edge.legs if leg.to])
        gone = [
            leg for leg in edge.legs if not leg.to and leg.dead != "blackhole" and leg.delay < edge.timeout
        ]
        told = Law.mixed([(leg.share, Law.fixed(leg.delay)) for leg in gone])
        wrong_at_once = sum(leg.share for leg in gone if leg.dead == "error")
        timed = Law.fixed(edge.timeout) if edge.timeout < HUGE else prompt
        late, wrong, turned, refused = (
            float(ways[row]) for row in (Way.TIMEOUT, Way.ERROR, Way.REJECTED, Way.REFUSED)
        )
        again = float(ways[Way.AGAIN])
        fails = late + wrong + turned + refused
        ways_to_fail = (
            (late, timed),
            (wrong - wrong_at_once, prompt),
            (turned, way),
            (refused + wrong_at_once, told),
        )
        failed = Law.mixed(ways_to_fail) if fails > 0.0 else prompt
        attempt = Law.mixed([(1.0 - fails, prompt), (fails, failed)])
        last = Law.mixed([(1.0 - fails, prompt), (max(fails - again, 0.0), failed)])
        round_ = failed.plus(Law.gamma(edge.backoff, 0.0))
        before = Law.fixed(0.0)
        weight, calls, answered = 1.0, [], []
        for count in range(MOST_ATTEMPTS):
            final = count + 1 == MOST_ATTEMPTS or weight * again < 1e-4
            share = weight if final else weight * (1.0 - again)
            calls.append((share, before.plus(last)))
            answered.append((share, before.plus(prompt)))
            if final:
                break
            weight *= again
            before = before.plus(round_)
        return Law.mixed(calls), attempt, Law.mixed(answered)

    def _leg(self, leg: int) -> Law:
        plan = self._plan
        return self._operation(int(plan.leg_op[leg])).plus(
            Law.gamma(float(plan.leg_delay[leg]), float(plan.leg_var[leg]))
        )

    # --- single requests --------------------------------------------------------------------------------

    def exemplar(self, edge: str, chance: Chance) -> tuple[Span, ...]:
        """One call on an edge as it might be right now: a span per attempt, each with what it led to."""
        return self._call(self._plan.edge_index[edge], chance, 0.0)[0]

    def _call(self, number: int, chance: Chance, start: float) -> tuple[tuple[Span, ...], float, bool]:
        """(spans, end, success)."""
        edge, ways = self._plan.edges[number], self.state.edges[:, number]
        if ways[Way.SHUT] > self.state.time / 1e6:
            return (Span("", edge.name, start, 0.0, 0.0, "shunned"),), start, False
        spans: list[Span] = []
        for attempt in range(round(edge.retries) + 1):
            span = self._attempt(number, chance.at(attempt), start)
            spans.append(span)
            start += span.duration
            if span.outcome == "ok":
                return tuple(spans), start, True
            # A budget lets only some of them try again.
            if edge.budget < HUGE and not chance.yes(f"again{attempt}", edge.budget / (1.0 + edge.budget)):
                break
            start += edge.backoff
        return tuple(spans), start, False

    def _attempt(self, number: int, chance: Chance, start: float) -> Span:
        edge = self._plan.edges[number]
        leg = chance.weighted("leg", {each: each.share for each in edge.legs})
        way = (
            Law.gamma(leg.delay, leg.jitter**2).sample(chance.unit("way"))
            if leg.dead != "blackhole"
            else edge.timeout
        )
        if not leg.to:
            if leg.dead == "blackhole" or way >= edge.timeout:
                return Span("", edge.name, start, min(way, edge.timeout), 0.0, "timeout")
            return Span("", edge.name, start, way, 0.0, "error" if leg.dead == "error" else "refused")
        operation = self._plan.operation_index[leg.to]
        station = int(self._plan.station_of[operation])
        if chance.yes("turned", float(self.state.stations[Held.TURNED, station])):
            return Span(leg.to, edge.name, start, leg.delay, 0.0, "rejected")
        children, served, ok = self._serve(operation, chance.at("in"), start + leg.delay / 2.0)
        whole = served + leg.delay
        outcome: Outcome = "timeout" if whole > edge.timeout else "ok" if ok else "error"
        if edge.pool < HUGE and children:
            # The pool is none of the world's operations: what it led to takes its place.
            inner = children[0]
            return replace(
                inner, edge=edge.name, start=start, duration=min(whole, edge.timeout), outcome=outcome
            )
        return Span(leg.to, edge.name, start, min(whole, edge.timeout), served, outcome, children)

    def _serve(self, operation: int, chance: Chance, start: float) -> tuple[tuple[Span, ...], float, bool]:
        spec = self._plan.operations[operation]
        now = start + self.own(spec.name).sample(chance.unit("own"))
        ok = not chance.yes("failing", spec.failing)
        spans: list[Span] = []
        hits: set[str] = set()
        for group in self._stages.get(operation, []):
            ends = [now]
            for number in group:
                edge = self._plan.edges[number]
                if edge.lookup in hits:
                    continue
                at, fine = now, True
                for count in range(self._count(edge.calls, chance, edge.name)):
                    made, at, fine = self._call(number, chance.at(edge.name, count), at)
                    spans += made
                    if not fine and edge.required:
                        break
                ok = ok and (fine or not edge.required)
                if fine and self._found(number, chance):
                    hits.add(edge.name)
                ends.append(at)
            now = max(ends)
            if not ok:
                break
        return tuple(spans), now - start, ok

    def _count(self, calls: float, chance: Chance, name: str) -> int:
        return math.floor(calls) + chance.yes(f"calls {name}", calls % 1.0)

    def _found(self, number: int, chance: Chance) -> bool:
        """Whether a lookup hit."""
        leg = self._plan.edges[number].legs[0]
        if not leg.to:
            return False
        station = self._plan.station_of[self._plan.operation_index[leg.to]]
        ratio = float(self._plan.ceiling[station] * self.state.stations[Held.FILLED, station])
        return chance.yes(f"hit {self._plan.edges[number].name}", ratio)
