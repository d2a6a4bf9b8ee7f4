"""One step: from what is known about answers to rates, from rates to queues, from queues to what is known next.

A step reads the laws that the step before left behind (how long each operation takes, how often it fails), sends the
offered load down the calls with these, lets every queue move implicitly (no step is too long to be stable), and works out
the laws anew. Feedback through the calls therefore takes one step per call; :func:`~.advance.adopt` lets the laws catch up
where the network changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sregym_env.sim.dataplane.accounting import EDGE_ROWS, OPERATION_ROWS, STATION_ROWS
from sregym_env.sim.dataplane.accounting import EdgeTotal as E
from sregym_env.sim.dataplane.accounting import OperationTotal as O
from sregym_env.sim.dataplane.accounting import StationTotal as S
from sregym_env.sim.dataplane.plan import HEAP_ROOM, LOADS, Floats, Plan
from sregym_env.sim.dataplane.queueing import PERIOD, below, quota_exponent, slope, utilisation
from sregym_env.sim.dataplane.state import HELD_ROWS, LAW_ROWS, WAY_ROWS, Held, Law, State, Way

TINY = 1e-12
MOST_GC = 0.98
"""Share of the cores that a collector takes at most: a JVM gives up (``GC overhead limit exceeded``) at this (measured)."""
RESIDUAL = 0.15
"""Share of a CFS period that an arrival without quota waits beside the backlog (fitted to the reference simulation)."""
CORE = 1e-9
"""CPU seconds below which a request has no demand of its own."""


@dataclass(slots=True)
class Step:
    """What a step leads to."""

    stations: Floats
    operations: Floats
    edges: Floats
    edge_rates: Floats
    station_rates: Floats
    operation_rates: Floats


def levels(plan: Plan, at: float) -> tuple[Floats, Floats]:
    """What the sources offer at a time in seconds: (rate, users) per edge, zero for edges of operations."""
    rates, users = np.zeros(len(plan.edges)), np.zeros(len(plan.edges))
    for edge in plan.roots:
        source = plan.sources[plan.source[edge]]
        level = source.profile.level(at)
        rates[edge], users[edge] = source.rate * level, source.users * level
    return rates, users


def attempts(plan: Plan, laws: Floats, stations: Floats) -> tuple[Floats, Floats]:
    """How attempts end per edge: the rows of :class:`~.state.Way` (but those that move), and an attempt's second moment."""
    reached = laws[:, plan.leg_op]
    mean = reached[Law.MEAN] + plan.leg_delay
    in_time = below(plan.leg_timeout, mean, reached[Law.VARIANCE] + plan.leg_var)
    turned = stations[Held.TURNED, plan.leg_station]
    prompt = in_time[0]
    if plan.cancels:
        dropped = np.where(plan.gives_up[0], stations[Held.DROPPED, plan.leg_station], 0.0)
        prompt = np.minimum(prompt, 1.0 - dropped)
    late = 1.0 - prompt
    square = mean * mean + reached[Law.VARIANCE] + plan.leg_var
    first = mean * in_time[1] + plan.patience * late
    second = square * in_time[2] + plan.patience**2 * late
    enters = 1.0 - turned
    quick = plan.quick
    table = np.empty((6, len(plan.leg_op)))
    table[0] = turned * quick + enters * first
    table[1] = turned * quick * quick + enters * second
    table[2] = enters * late
    table[3] = enters * prompt * (1.0 - reached[Law.OK])
    table[4] = turned
    table[5] = 0.0
    if not plan.all_alive:
        dead, ends = plan.buried
        table[:, dead] = ends
    per_edge = np.add.reduceat(table * plan.leg_share, plan.leg_first, axis=1)
    ways = np.empty((WAY_ROWS, len(plan.edges)))
    ways[Way.MEAN] = np.maximum(per_edge[0], 1e-6)
    ways[Way.TIMEOUT : Way.REFUSED + 1] = per_edge[2:6]
    fails = np.minimum(per_edge[2:6].sum(axis=0), 1.0 - 1e-9)
    beyond = fails**plan.retries
    again = fails * (1.0 - beyond * (1.0 - fails) / (1.0 - beyond * fails))
    ways[Way.AGAIN] = np.minimum(again, plan.budget / (1.0 + plan.budget))
    return ways, per_edge[1]


def calls(plan: Plan, ways: Floats, second: Floats, shut: Floats) -> tuple[Floats, Floats, Floats]:
    """What becomes of whole calls, retries included: (share that fails, mean, variance)."""
    fails = ways[Way.TIMEOUT : Way.REFUSED + 1].sum(axis=0)
    again, once = ways[Way.AGAIN], ways[Way.MEAN]
    times = 1.0 / (1.0 - again)
    lost = np.clip((fails - again) * times, 0.0, 1.0)
    mean = times * once + (times - 1.0) * plan.backoff
    variance = (
        times * np.maximum(second - once * once, 0.0) + (times * times - times) * (once + plan.backoff) ** 2
    )
    open_ = 1.0 - shut
    return shut + open_ * lost, mean * open_, variance * open_


def step(
    plan: Plan,
    state: State,
    offered: tuple[Floats, Floats],
    at: float,
    dt: float,
) -> Step:
    """The step from ``at`` (seconds) over ``dt`` seconds under what the sources offer."""
    old, laws, flows = state.stations, state.operations, state.edges
    shut = (flows[Way.SHUT] > at).astype(np.float64) if plan.breaks else np.zeros(len(plan.edges))
    ways, second = attempts(plan, laws, old)
    lost, call_mean, call_var = calls(plan, ways, second, shut)
    often, fine = _frequency(plan, lost, old)

    # --- rates, from the sources down -----------------------------------------------------------------
    once, again = ways[Way.MEAN], ways[Way.AGAIN]
    paused = 1.0 + dt / plan.backoff
    kept = dt / plan.backoff / paused
    rate, users = offered
    drain = 1.0 + (dt / once) * (1.0 - again * kept)
    before = flows[Way.FLYING] + kept * flows[Way.WAITING]
    closed = users > 0.0
    if closed.any():
        # Who is in flight does not think, which is as implicit as all else.
        idle = users - flows[Way.WAITING]
        flying = (before + dt * idle / plan.thinks) / (drain + dt / plan.thinks)
        rate = np.where(closed, np.maximum(idle - flying, 0.0) / plan.thinks, rate)
    ahead = before / drain
    grows = dt / drain
    base = kept * (flows[Way.WAITING] / dt + again * ahead / once)
    gain = 1.0 + kept * again * grows / once
    lets = 1.0 - shut
    gain *= lets
    passed = _passed(plan, plan.shares @ (gain * rate + base), plan.shares * (gain * often), old, dt)
    wanted = rate + often * passed[plan.caller]
    first = lets * wanted
    flying = ahead + grows * first
    done = flying / once
    waiting = (flows[Way.WAITING] + dt * again * done) / paused
    retried = waiting / plan.backoff
    tried = first + retried

    # --- stations --------------------------------------------------------------------------------------
    reached = plan.shares @ tried
    arrived = plan.at_station @ reached
    each = np.maximum(arrived, TINY)
    demand = (plan.at_station @ ((reached + TINY) * plan.demand)) / (arrived + TINY)
    stage_mean, stage_var = _stages(plan, often, call_mean, call_var)
    awaited = plan.of_group @ stage_mean
    elsewhere = (plan.at_station @ (reached * (plan.pause + awaited))) / each
    speed = _speed(plan, at)
    collecting = _collecting(plan, old, demand)
    work = np.maximum(demand + collecting, CORE)
    cores = _shared(plan, arrived * work + old[Held.QUEUE]) * speed
    by_cpu = cores / work
    by_threads = plan.threads / np.maximum(work / speed + elsewhere, TINY)
    capacity = np.minimum(np.minimum(by_cpu, by_threads), 1e9)
    factor = plan.burstiness
    power = _exponent(plan, work, by_threads < by_cpu, arrived / capacity) + 1.0
    bound = _bound(plan, old, np.minimum(arrived, capacity), work / speed + elsewhere)
    in_service = capacity * work / speed

    load = old[Held.QUEUE] + dt * arrived
    could = dt * capacity
    rho = utilisation(load, could, in_service, factor, power)
    queue = np.maximum(load - could * rho, 0.0)
    completed = capacity * rho
    steep = slope(np.minimum(rho, 1.0 - 1e-9), in_service, factor, power)
    spread = (old[Held.SPREAD] + dt * (arrived + completed * plan.spread)) / (1.0 + 2.0 * could / steep)

    # --- bounds: rejection, back-pressure, cancellation --------------------------------------------------
    new = np.empty((HELD_ROWS, len(plan.stations)))
    over = np.maximum(queue - plan.queue, 0.0)
    queue = queue - over
    turned = over / dt / each
    dropping = np.zeros_like(queue)
    if (queue > bound).any():
        queue, arrived, flying, first, tried, wanted = _hold_back(
            plan, np.maximum(queue - bound, 0.0), completed, queue, arrived, flying, first, tried, wanted, dt
        )
    if plan.cancels:
        dropping = _cancel(plan, np.maximum(queue - in_service, 0.0), capacity, tried, arrived)
        queue = queue - dropping
    full = over + dropping > 0.0
    if full.any():
        excess = np.maximum(arrived - capacity, 1e-3 * capacity + TINY)
        spread = np.where(full, np.minimum(spread, queue + arrived * capacity / excess**2), spread)

    # --- what is held ------------------------------------------------------------------------------------
    waits = np.maximum(rho, 1e-9) ** (power - 1.0)
    behind = np.maximum(queue - in_service * rho, 0.0)
    wait = np.where(
        (rho < 0.5) & (over + dropping <= 0.0),
        factor / np.maximum(capacity * (1.0 - rho), TINY),
        behind / np.maximum(rho * waits * capacity, TINY),
    )
    stationary = rho * steep * factor
    new[Held.QUEUE] = queue
    new[Held.SPREAD] = spread
    new[Held.LEAKED] = old[Held.LEAKED] + dt * plan.leak * completed
    new[Held.CAPACITY] = capacity
    new[Held.UTILISATION] = rho
    new[Held.TURNED] = np.minimum(turned, 1.0)
    new[Held.DROPPED] = np.minimum(dropping / dt / each, 1.0)
    new[Held.WAITS] = waits
    if plan.throttling:
        wait = wait + np.where(plan.throttles, _residual(plan, work, rho), 0.0)
    # Who arrives meets at most all others that can be here.
    new[Held.WAIT] = np.minimum(wait, np.maximum(bound - plan.cores, 0.0) / (capacity * waits + TINY))
    new[Held.WAIT_SPREAD] = np.minimum(1.0, spread / np.maximum(stationary, TINY))
    gc_cores = completed * collecting
    new[Held.STRETCH] = 1.0 / (speed * (1.0 - np.minimum(gc_cores / cores, MOST_GC)))
    present = queue + np.minimum(completed * elsewhere, plan.threads)
    new[Held.PRESENT] = present
    new[Held.MEMORY] = plan.memory + plan.per_request * present + new[Held.LEAKED]
    hits, misses = _fill(plan, old, new, arrived, wanted * (1.0 - lost), dt)

    # --- laws, from the present queues -------------------------------------------------------------------
    laws_after = _laws(plan, new, plan.of_group @ stage_var + plan.pause_var, plan.pause + awaited, fine)

    # --- accounts ----------------------------------------------------------------------------------------
    edge_rates = np.empty((EDGE_ROWS, len(plan.edges)))
    edge_rates[E.CALLS] = wanted
    edge_rates[E.RETRIES] = retried
    # What is in flight changes by what came and went: the rate of ends follows from the states, so that nothing is lost.
    ended = first + retried - (flying - flows[Way.FLYING]) / dt
    kinds = ways[Way.TIMEOUT : Way.REFUSED + 1]
    fails = kinds.sum(axis=0)
    edge_rates[E.OK] = ended * (1.0 - fails)
    edge_rates[E.TIMEOUT : E.REFUSED + 1] = ended * kinds
    edge_rates[E.SHUNNED] = wanted - first
    given_up = ended * fails - (edge_rates[E.RETRIES] + (waiting - flows[Way.WAITING]) / dt)
    edge_rates[E.LAST_TIMEOUT : E.LAST_REFUSED + 1] = given_up * kinds / np.maximum(fails, TINY)
    station_rates = np.empty((STATION_ROWS, len(plan.stations)))
    station_rates[S.ARRIVED] = arrived
    station_rates[S.TURNED_AWAY] = over / dt
    station_rates[S.DROPPED] = dropping / dt
    station_rates[S.COMPLETED] = arrived - (queue - old[Held.QUEUE]) / dt - (over + dropping) / dt
    station_rates[S.CPU] = completed * (demand + collecting) / speed
    station_rates[S.GC] = gc_cores
    station_rates[S.PERIODS : S.THROTTLED + 1] = 0.0
    if plan.throttling:
        running = -np.expm1(-np.minimum(arrived + queue / PERIOD, 1e4) * PERIOD) / PERIOD
        station_rates[S.PERIODS] = running * plan.throttles
        # Who is short of threads, a limiter among them, waits with quota left.
        short = by_threads < by_cpu
        out = np.where(short, _runs_out(plan, work, completed / by_cpu), waits) if short.any() else waits
        station_rates[S.THROTTLED] = np.minimum(running, out / PERIOD) * plan.throttles
    station_rates[S.HITS], station_rates[S.MISSES] = hits, misses
    operation_rates = np.empty((OPERATION_ROWS, len(plan.operations)))
    operation_rates[O.SERVED] = reached * (completed / each)[plan.station_of]
    operation_rates[O.FAILED] = operation_rates[O.SERVED] * (1.0 - laws_after[Law.OK])

    ways[Way.FLYING] = flying
    ways[Way.WAITING] = waiting
    ways[Way.SHUT] = flows[Way.SHUT]
    if plan.breaks:
        trips = (shut == 0.0) & (tried > plan.volume) & (fails > plan.threshold)
        ways[Way.SHUT, trips] = (at + dt + plan.open_for)[trips]
    return Step(new, laws_after, ways, edge_rates, station_rates, operation_rates)


def _passed(plan: Plan, known: Floats, ways: Floats, held: Floats, dt: float) -> Floats:
    """Requests per second that every operation passes on to its callees (and a zero for the sources).

    ``known`` arrives from sources and as retries, ``ways`` (O x E) is what an edge sends on of what its caller passes.
    A station passes on no more than it could serve within the step.
    """
    passed = np.zeros(len(plan.operations) + 1)
    room = held[Held.CAPACITY][plan.station_of]
    for _ in range(plan.depth):
        reached = known + ways @ passed[plan.caller]
        passed[:-1] = reached * np.minimum(1.0, room / (plan.together @ reached + TINY))
    return passed


def _frequency(plan: Plan, lost: Floats, held: Floats) -> tuple[Floats, Floats]:
    """Calls per request of the caller, and the logarithm of the share of its requests that the edge lets succeed."""
    often = plan.calls
    if plan.looks:
        hit = (plan.ceiling * held[Held.FILLED])[plan.station_of] @ plan.shares * (1.0 - lost)
        often = often.copy()
        often[plan.looking] *= 1.0 - hit[plan.lookup[plan.looking]]
    lost = lost * plan.required
    fine = np.where(often <= 1.0, 1.0 - often * lost, np.maximum(1.0 - lost, TINY) ** np.maximum(often, 1.0))
    fine = np.log(np.maximum(fine, TINY))
    return often * np.exp(plan.before @ fine), fine


def _stages(plan: Plan, often: Floats, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the time spent in every group of edges that are called at the same time."""
    seldom = np.minimum(often, 1.0)
    each_mean = often * mean * plan.waits
    each_var = (often * variance + seldom * (1.0 - seldom) * mean * mean) * plan.waits
    if not plan.parallel:
        return each_mean, each_var
    total = np.add.reduceat(each_mean, plan.group)
    total_var = np.add.reduceat(each_var, plan.group)
    squares = np.add.reduceat(each_mean * each_mean, plan.group)
    # The slowest of several: a p-norm of the means, p by how much they vary (fitted to the maximum of exponential and normal
    # variables, 3 % off at worst there).
    varies = np.sqrt(total_var / np.maximum(squares, 1e-24))
    norm = np.clip(0.45 + 1.3 / np.maximum(varies, 0.05), 1.0, 30.0)
    largest = np.maximum(np.maximum.reduceat(each_mean, plan.group), 1e-15)
    wide = np.repeat(norm, plan.group_size)
    parts = (each_mean / np.repeat(largest, plan.group_size)) ** wide
    # The largest counts as 1, unless all are nothing.
    sums = np.maximum(np.add.reduceat(parts, plan.group), 1.0)
    slowest_var = np.add.reduceat(parts * each_var, plan.group) / sums
    single = plan.group_size == 1
    return np.where(single, total, largest * sums ** (1.0 / norm)), np.where(single, total_var, slowest_var)


def _speed(plan: Plan, at: float) -> Floats:
    """How far every station has warmed up, as a factor on its speed."""
    if not plan.warming:
        return np.ones(len(plan.stations))
    warmed: Floats = 1.0 - (1.0 - plan.cold) * np.exp(-np.maximum(at - plan.since, 0.0) / plan.warm_up)
    return warmed


def _collecting(plan: Plan, held: Floats, demand: Floats) -> Floats:
    """CPU seconds of garbage collection per request served: the collector's work is proportional to what is allocated."""
    if not plan.collecting:
        return plan.mark
    live = plan.memory + plan.per_request * held[Held.PRESENT] + held[Held.LEAKED]
    heap = np.minimum(plan.heap, live * (1.0 + plan.growth))
    free = np.maximum(heap - live, HEAP_ROOM * heap + 1.0)
    most = np.maximum(demand, CORE) * MOST_GC / (1.0 - MOST_GC)
    found: Floats = np.minimum(plan.mark * live * plan.allocation / free, most)
    return found


def _shared(plan: Plan, wants: Floats) -> Floats:
    """Cores that every station gets: its quota, or its share of a machine that is short (processor sharing by weights)."""
    if not plan.nodes:
        return plan.quota
    wants = np.minimum(wants, plan.quota)
    cores = plan.quota
    for number in range(len(plan.nodes)):
        mine = np.flatnonzero(plan.node == number)
        if wants[mine].sum() + plan.node_other[number] <= plan.node_cores[number]:
            continue
        cores = cores.copy()
        asked = np.concatenate([wants[mine], plan.node_other[[number]]])
        weights = np.concatenate([plan.weight[mine], np.maximum(plan.node_other_weight[[number]], TINY)])
        left, hungry, level = plan.node_cores[number], np.full(len(asked), True), 0.0
        for _ in asked:
            level = left / weights[hungry].sum()
            sated = hungry & (asked <= level * weights)
            if not sated.any():
                break
            left -= asked[sated].sum()
            hungry &= ~sated
            if not hungry.any():
                break
        # Who is sated may take what a hungry one of its weight gets.
        cores[mine] = np.minimum(
            plan.quota[mine], np.maximum(wants[mine] * ~hungry[:-1], level * weights[:-1])
        )
    return cores


def _exponent(plan: Plan, work: Floats, by_threads: NDArray[np.bool_], load: Floats) -> Floats:
    """With which power of the utilisation arrivals wait: by cores, by quota or by threads, whichever is short."""
    column = np.minimum(load, 0.9999) * LOADS
    whole = column.astype(np.intp)
    lower = plan.core_exponent[plan.every, whole]
    by_cores = lower + (column - whole) * (plan.core_exponent[plan.every, whole + 1] - lower)
    exponent = np.where(by_threads, plan.thread_exponent, by_cores)
    if plan.throttling:
        by_quota = quota_exponent(plan.per_period / work, plan.spread, load)
        exponent = np.where(plan.throttles & ~by_threads, by_quota, exponent)
    return exponent


def _runs_out(plan: Plan, work: Floats, load: Floats) -> Floats:
    """Share of its periods in which a station uses up its quota, of which it uses ``load``."""
    exponent = quota_exponent(plan.per_period / work, plan.spread, load)
    share: Floats = np.maximum(load, 1e-9) ** exponent
    return share


def _residual(plan: Plan, work: Floats, rho: Floats) -> Floats:
    """What is left of a period when its quota has run out, as an arrival meets it."""
    fits = np.sqrt((1.0 + plan.spread) * rho * work / plan.per_period)
    left: Floats = RESIDUAL * PERIOD * np.minimum(rho * fits + 1.0 - rho, 1.0 - plan.quota / plan.cores)
    return left


def _bound(plan: Plan, held: Floats, served: Floats, hold: Floats) -> Floats:
    """Requests that can be at a station because every caller waits for its answer with a thread in hand."""
    if not len(plan.pair_caller):
        return plan.back_pressure
    waiting = (held[Held.QUEUE] / held[Held.CAPACITY])[plan.pair_callee]
    # Threads that are not held for other reasons: own work, other callees, what lies beyond the callee's queue.
    others = served[plan.pair_caller] * np.maximum(hold[plan.pair_caller] - waiting, 0.0)
    left = np.maximum(plan.threads[plan.pair_caller] - others, 1.0)
    return plan.back_pressure + np.bincount(plan.pair_callee, left, len(plan.stations))


def _hold_back(
    plan: Plan,
    over: Floats,
    completed: Floats,
    queue: Floats,
    arrived: Floats,
    flying: Floats,
    first: Floats,
    tried: Floats,
    wanted: Floats,
    dt: float,
) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
    """Callers that wait with a thread in hand cannot have more requests at a callee than threads: these stay with them."""
    flow = tried[plan.leg_edge] * plan.leg_share * plan.alive
    into = np.bincount(plan.leg_station, flow, len(plan.stations))
    stays = flow * (over / np.maximum(into, TINY))[plan.leg_station]
    wished = np.bincount(plan.leg_edge, stays, len(plan.edges))
    blocked = np.minimum(wished, 0.999 * dt * first)
    inner = np.flatnonzero(plan.caller < len(plan.operations))
    callers = plan.station_of[plan.caller[inner]]
    each = blocked[inner] / np.maximum(plan.calls[inner], 1.0)
    back = np.bincount(callers, each, len(plan.stations))
    # No more can stay with a caller than it would have passed on.
    stay = np.minimum(1.0, dt * completed / np.maximum(back, TINY))
    blocked[inner] *= stay[callers]
    back = back * stay
    part = blocked / np.maximum(wished, TINY)
    given = np.bincount(plan.leg_station, stays * part[plan.leg_edge], len(plan.stations))
    # They are the caller's queue again, and have not been served there either.
    rate = blocked / dt
    return (
        queue - given + back,
        arrived - given / dt,
        flying - blocked,
        first - rate,
        tried - rate,
        wanted - rate,
    )


def _cancel(plan: Plan, queue: Floats, capacity: Floats, tried: Floats, arrived: Floats) -> Floats:
    """Requests dropped in the queue because their callers have given up."""
    _, parts, seconds = plan.gives_up
    flow = tried[plan.leg_edge] * parts
    into = np.bincount(plan.leg_station, flow, len(plan.stations))
    after = np.bincount(plan.leg_station, flow * seconds, len(plan.stations))
    patience = after / np.maximum(into, TINY)
    share = np.minimum(into / np.maximum(arrived, TINY), 1.0)
    return np.where(into > 0.0, share * np.maximum(queue - capacity * patience, 0.0), 0.0)


def _fill(
    plan: Plan, old: Floats, new: Floats, arrived: Floats, fetched: Floats, dt: float
) -> tuple[Floats, Floats]:
    """Caches fill with what is fetched in time; returns hits and misses per second."""
    filled = old[Held.FILLED]
    new[Held.FILLED] = filled
    hit = plan.ceiling * filled
    if not plan.looks:
        return arrived * hit, np.where(plan.ceiling > 0.0, arrived * (1.0 - hit), 0.0)
    looked = plan.lookup[plan.looking]
    fetches = np.bincount(looked, fetched[plan.looking], len(plan.edges))
    into = plan.at_station @ (plan.shares @ fetches)
    grows = into / plan.keys * plan.ceiling / np.maximum(1.0 - hit, 1e-9)
    new[Held.FILLED] = (filled + dt * grows) / (1.0 + dt * (grows + 1.0 / plan.ttl))
    new[Held.FILLED] = np.where(plan.ceiling > 0.0, new[Held.FILLED], filled)
    return arrived * hit, np.where(plan.ceiling > 0.0, arrived * (1.0 - hit), 0.0)


def _laws(plan: Plan, held: Floats, variance: Floats, elsewhere: Floats, fine: Floats) -> Floats:
    """What requests meet at every operation: wait, own work, disk and callees."""
    laws = np.empty((LAW_ROWS, len(plan.operations)))
    wait = held[Held.WAITS] * held[Held.WAIT]
    wait_var = wait * held[Held.WAIT] * (1.0 + held[Held.WAIT_SPREAD]) - wait * wait
    own = plan.demand * held[Held.STRETCH, plan.station_of] + plan.throttled
    laws[Law.MEAN] = wait[plan.station_of] + own + elsewhere
    laws[Law.VARIANCE] = wait_var[plan.station_of] + own * own * plan.spread[plan.station_of] + variance
    laws[Law.OK] = plan.good * np.exp(plan.of_caller @ fine)
    return laws
