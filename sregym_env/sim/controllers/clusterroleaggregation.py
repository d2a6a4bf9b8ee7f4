"""The aggregation controller: a ClusterRole with an ``aggregationRule`` has the rules of those it selects.

Follows ``pkg/controller/clusterroleaggregation`` of v1.32.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sregym_env.kube.selectors import from_dict
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

RESOURCE = "clusterroles.rbac.authorization.k8s.io"


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Give one aggregating role the rules of the roles it selects."""
    role = world.store.get(RESOURCE, *key)
    if role is None or not role.get("aggregationRule"):
        return None
    rules: list[Any] = []
    for selector in role["aggregationRule"].get("clusterRoleSelectors") or ():
        matches = from_dict(selector).matches
        for other in world.store.list(RESOURCE):
            if other is role or not matches(other["metadata"].get("labels")):
                continue
            rules += [rule for rule in other.get("rules") or () if rule not in rules]
    if rules != (role.get("rules") or []):
        apiserver.update(world, RESOURCE, {**role, "rules": rules})
    return None


def _aggregating(world: SimWorld, _: Change) -> Iterable[Key]:
    return [("", role["metadata"]["name"]) for role in _found(world.store.list(RESOURCE))]


def _found(roles: list[Manifest]) -> list[Manifest]:
    return [role for role in roles if role.get("aggregationRule")]


CONTROLLER = Controller(
    "clusterrole-aggregation", {RESOURCE: _aggregating}, retried("clusterrole-aggregation", reconcile)
)
