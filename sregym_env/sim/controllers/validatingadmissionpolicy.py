"""The controller that checks the expressions of ValidatingAdmissionPolicies against the types they are about.

Follows ``pkg/controller/validatingadmissionpolicystatus`` of v1.32.
"""

from __future__ import annotations

from sregym_env.kube.cel.admission import type_warnings
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import custom
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Key
from sregym_env.sim.world.wakes import own_key

RESOURCE = "validatingadmissionpolicies.admissionregistration.k8s.io"


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Check one policy, once per generation."""
    policy = world.store.get(RESOURCE, *key)
    if policy is None or "deletionTimestamp" in policy["metadata"]:
        return None
    generation = policy["metadata"].get("generation", 1)
    known = policy.get("status") or {}
    if known.get("observedGeneration") != generation:
        found = type_warnings(policy["spec"], custom.registry_of(world))
        checking = {"expressionWarnings": found} if found else {}
        checked = {**known, "observedGeneration": generation, "typeChecking": checking}
        apiserver.update_status(world, RESOURCE, *key, checked)
    return None


CONTROLLER = Controller(
    "validatingadmissionpolicy-status",
    {RESOURCE: own_key},
    retried("validatingadmissionpolicy-status", reconcile),
)
