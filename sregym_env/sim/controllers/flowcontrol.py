"""Flow schemas say whether the priority level they name exists (the API server's own flow control loop)."""

from __future__ import annotations

from collections.abc import Iterable

from sregym_env.kube.durations import rfc3339
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver.published import FLOW_SCHEMAS, PRIORITY_LEVELS, dangling
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key
from sregym_env.sim.world.wakes import own_key


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Bring the condition of one flow schema up to date."""
    schema = world.store.get(FLOW_SCHEMAS, *key)
    if schema is None:
        return None
    level = schema["spec"]["priorityLevelConfiguration"]["name"]
    exists = world.store.get(PRIORITY_LEVELS, "", level) is not None
    known = (schema.get("status") or {}).get("conditions") or ()
    made = dangling(level, exists, rfc3339(world.now()))
    if any(c["type"] == "Dangling" and c["message"] == made["message"] for c in known):
        return None
    apiserver.update_status(world, FLOW_SCHEMAS, *key, {"conditions": [made]})
    return None


def _schemas(world: SimWorld, change: Change) -> Iterable[Key]:
    if change.type != "MODIFIED":
        for schema in world.store.list(FLOW_SCHEMAS):
            if schema["spec"]["priorityLevelConfiguration"]["name"] == change.key[1]:
                yield ("", schema["metadata"]["name"])


CONTROLLER = Controller(
    "flowcontrol", {FLOW_SCHEMAS: own_key, PRIORITY_LEVELS: _schemas}, retried("flowcontrol", reconcile)
)
