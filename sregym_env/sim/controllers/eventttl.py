"""Events are forgotten an hour after they were last written (the API server's ``--event-ttl``)."""

from __future__ import annotations

from collections.abc import Iterable

from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import HOUR, SECOND
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

NAME = "event-ttl"
TTL = HOUR
_ALL: Key = ("", "")


def reconcile(world: SimWorld, _: Key) -> int | None:
    """Remove what is too old; microseconds until the next event is."""
    now, oldest = world.now(), None
    for event in list(world.store.list("events")):
        written = last_written(event)
        if written + TTL <= now:
            # Nobody deletes it: etcd's lease on it has run out, so admission is not asked.
            world.store.remove("events", *_key(event))
        elif oldest is None or written < oldest:
            oldest = written
    return None if oldest is None else max(SECOND, oldest + TTL - now)


def last_written(event: Manifest) -> int:
    """When an event was last written, microseconds."""
    series = event.get("series") or {}
    text = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return parse_rfc3339(text or event["metadata"]["creationTimestamp"])


def _key(event: Manifest) -> Key:
    return event["metadata"]["namespace"], event["metadata"]["name"]


def _written(world: SimWorld, change: Change) -> Iterable[Key]:
    # One timer for all: it is set already unless this is the first event.
    if change.type == "ADDED":
        world.wake(NAME, _ALL, TTL)
    return ()


CONTROLLER = Controller(NAME, {"events": _written}, reconcile)
