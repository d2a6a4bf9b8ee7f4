"""The controller that says of a ValidatingAdmissionPolicy that it has been looked at.

Follows ``pkg/controller/validatingadmissionpolicystatus`` of v1.32, which checks expressions against the types
of built-in kinds and puts what it finds into ``status.typeChecking``. Here nothing is ever found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sregym_env.sim import apiserver
from sregym_env.sim.controllers.controller import Controller, own_key
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.store import Key

if TYPE_CHECKING:
    from sregym_env.sim.world import SimWorld

RESOURCE = "validatingadmissionpolicies.admissionregistration.k8s.io"


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Note the generation that was checked."""
    policy = world.store.get(RESOURCE, *key)
    if policy is None or "deletionTimestamp" in policy["metadata"]:
        return None
    generation = policy["metadata"].get("generation", 1)
    known = policy.get("status") or {}
    if known.get("observedGeneration") != generation:
        checked = {**known, "observedGeneration": generation, "typeChecking": {}}
        apiserver.update_status(world, RESOURCE, *key, checked)
    return None


CONTROLLER = Controller(
    "validatingadmissionpolicy-status",
    {RESOURCE: own_key},
    retried("validatingadmissionpolicy-status", reconcile),
)
