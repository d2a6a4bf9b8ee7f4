"""The resource quota controller: what a namespace uses of each ResourceQuota."""

from __future__ import annotations

from collections.abc import Iterable

from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import quota
from sregym_env.sim.controllers.pods import is_finished
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import CUSTOM, Controller, SimWorld
from sregym_env.sim.world.store import Change, Key
from sregym_env.sim.world.wakes import own_key

RESOURCE = "resourcequotas"
COUNTED = (
    "pods",
    "services",
    "configmaps",
    "secrets",
    "persistentvolumeclaims",
    "replicationcontrollers",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "jobs.batch",
    "cronjobs.batch",
    "ingresses.networking.k8s.io",
)
"""Resources whose coming and going is counted."""


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Bring the status of one quota up to date."""
    found = world.store.get(RESOURCE, *key)
    if found is not None:
        hard = dict(found["spec"].get("hard") or {})
        apiserver.update_status(world, RESOURCE, *key, {"hard": hard, "used": quota.used(world, found)})
    return None


def _quotas_in(world: SimWorld, change: Change) -> Iterable[Key]:
    quotas = world.store.list(RESOURCE, change.key[0])
    if not quotas:
        return ()
    old, new = change.old, change.new
    if old is not None and new is not None and old.get("spec") is new.get("spec"):
        if change.resource != "pods" or is_finished(old) == is_finished(new):
            return ()
    return [(change.key[0], found["metadata"]["name"]) for found in quotas]


CONTROLLER = Controller(
    "resourcequota",
    {CUSTOM: _quotas_in, **dict.fromkeys(COUNTED, _quotas_in), RESOURCE: own_key},
    retried("resourcequota", reconcile),
)
