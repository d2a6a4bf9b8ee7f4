"""What a healthy cluster writes all the time: when each Node and Lease was last renewed, and at which revision.

Nothing of this is an event or is stored. An idle cluster's revision counter (:class:`~sregym_env.sim.world.plan.Pace`)
is cut into frames of two seconds; each leader renews at its own place in every frame, each machine and API server in
every fifth, each node's status in every 150th. So every renewal has an instant and a revision of its own, and both rise
together.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import HOUR, MINUTE, SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.derived import DerivedFrom
from sregym_env.sim.world.plan import Pace

STATUS_PERIOD = 5 * MINUTE
"""How often an unchanged node status is posted (``nodeStatusReportFrequency``)."""
LEASE_PERIOD = 10 * SECOND
"""How often a node's Lease is renewed (a quarter of its 40 s duration)."""
LEADER_PERIOD = 2 * SECOND
"""How often a leader renews its Lease (``--leader-elect-retry-period``)."""
LEASES = "leases.coordination.k8s.io"
NODE_LEASES = "kube-node-lease"
"""The namespace of machines' Leases."""
SERVER_LABEL = "apiserver.kubernetes.io/identity"
"""The label of the Lease by which an API server says that it lives; renewed as often as a node's."""
SHORT = 60
"""Leases that last at most this long, in seconds, are renewed by leaders."""

FRAME = LEADER_PERIOD
FRAMES_AN_HOUR = HOUR // FRAME


class Writer(NamedTuple):
    """Who renews something: in one of ``every`` frames, at a place in it."""

    every: int
    residue: int
    place: int


class Renewal(NamedTuple):
    """The last time that something was renewed."""

    time: int
    revision: int


def is_leaders(lease: Manifest) -> bool:
    """Whether a Lease is one by which one of several processes leads."""
    seconds = (lease.get("spec") or {}).get("leaseDurationSeconds")
    return (
        lease["metadata"].get("namespace") != NODE_LEASES
        and SERVER_LABEL not in (lease["metadata"].get("labels") or {})
        and isinstance(seconds, int)
        and seconds <= SHORT
    )


def last(world: SimWorld, pace: Pace, obj: Manifest, until: int) -> Renewal | None:
    """The last renewal of a Node or Lease by an instant; None if there has been none since the counter's last knot."""
    writer = _writer(world, pace, obj)
    if writer is None:
        return None
    start, base = pace.knots[-1]
    if until < start:
        return None
    counted = pace.at(until) - base
    frame = counted * FRAMES_AN_HOUR // pace.per_hour + 1
    frame -= (frame - writer.residue) % writer.every
    while (number := _number(pace, frame, writer)) > counted:
        frame -= writer.every
    if frame < 0:
        return None
    time = pace.when(base + number)
    return Renewal(time, base + number + world.store.writes_until(time))


def _number(pace: Pace, frame: int, writer: Writer) -> int:
    return frame * pace.per_hour // FRAMES_AN_HOUR + writer.place


def _writer(world: SimWorld, pace: Pace, obj: Manifest) -> Writer | None:
    leaders, steady = _leases(world.store.list(LEASES))
    nodes = _nodes(world.store.list("nodes"))
    metadata = obj["metadata"]
    name = (metadata.get("namespace", ""), metadata["name"])
    key = world.plan.key
    places = _places(key, pace.per_hour // FRAMES_AN_HOUR)
    # Leaders have the same places in every frame; the others share what is left, in frames of their own.
    free = len(leaders)
    left = max(1, len(places) - free)
    lap = LEASE_PERIOD // FRAME

    def place(residue: int, turn: int) -> int:
        shift = keyed_bits(key, "shift", residue % lap)
        return places[(free + (turn + shift) % left) % len(places)]

    if name in leaders:
        return Writer(1, 0, places[leaders[name] % len(places)])
    if name in steady:
        turn, residue = divmod(steady[name], lap)
        return Writer(lap, residue, place(residue, turn))
    if name in nodes:
        every = STATUS_PERIOD // FRAME
        # Each somewhere in a share of the period of its own, so that no two fall together and none keeps step.
        early = nodes[name] * every // len(nodes)
        share = (nodes[name] + 1) * every // len(nodes) - early
        residue = keyed_bits(key, "status", len(nodes)) + early
        residue += keyed_bits(key, "status of", name[1]) % max(1, share)
        return Writer(every, residue % every, place(residue % every, -(-len(steady) // lap)))
    return None


@lru_cache(maxsize=256)
def _places(key: str, count: int) -> tuple[int, ...]:
    """The places of a frame in a random order."""
    return tuple(sorted(range(count), key=lambda place: keyed_bits(key, "place", place)))


Ranks = dict[tuple[str, str], int]


def _ranked(leases: list[Manifest]) -> tuple[Ranks, Ranks]:
    """Leaders' Leases and those of machines and API servers, each with its rank."""
    leaders: Ranks = {}
    steady: Ranks = {}
    for lease in leases:
        metadata = lease["metadata"]
        name = (metadata.get("namespace", ""), metadata["name"])
        if name[0] == NODE_LEASES or SERVER_LABEL in (metadata.get("labels") or {}):
            steady[name] = len(steady)
        elif is_leaders(lease):
            leaders[name] = len(leaders)
    return leaders, steady


_leases = DerivedFrom(_ranked)
_nodes = DerivedFrom(lambda nodes: {("", node["metadata"]["name"]): rank for rank, node in enumerate(nodes)})
