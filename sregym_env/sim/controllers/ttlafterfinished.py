"""The TTL-after-finished controller: finished Jobs that asked for it are removed."""

from __future__ import annotations

from sregym_env.kube.durations import parse_rfc3339
from sregym_env.runtime.clock import SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.controllers.job import RESOURCE, finished_condition
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Key
from sregym_env.sim.world.wakes import own_key


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Delete one Job ``ttlSecondsAfterFinished`` after its end; microseconds until then."""
    job = world.store.get(RESOURCE, *key)
    if job is None or "deletionTimestamp" in job["metadata"]:
        return None
    ttl, end = job["spec"].get("ttlSecondsAfterFinished"), finished_condition(job)
    if ttl is None or end is None:
        return None
    left = parse_rfc3339(end["lastTransitionTime"]) + int(ttl) * SECOND - world.now()
    if left > 0:
        return left
    apiserver.delete(world, RESOURCE, *key, propagation="Foreground", uid=job["metadata"]["uid"])
    return None


CONTROLLER = Controller("ttl-after-finished", {RESOURCE: own_key}, retried("ttl-after-finished", reconcile))
