"""``matchConditions`` of webhooks: expressions that must all hold for a webhook to be asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.kube import status
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.admission import expressions
from sregym_env.sim.apiserver.admission.attributes import Attributes
from sregym_env.sim.world import SimWorld


@dataclass(frozen=True, slots=True)
class Condition:
    """One named CEL expression."""

    name: str
    expression: str


def conditions_of(manifests: Iterable[Mapping[str, Any]]) -> tuple[Condition, ...]:
    """The conditions of a webhook."""
    return tuple(Condition(each.get("name", ""), each.get("expression", "")) for each in manifests)


def hold(
    world: SimWorld,
    conditions: tuple[Condition, ...],
    request: Attributes,
    resource: Resource,
    new: Manifest | None,
    old: Manifest | None,
    *,
    ignores: bool,
) -> bool:
    """Whether all conditions hold. Where one cannot be evaluated and none is false, the failure policy decides.

    Raises Forbidden where that is Fail.
    """
    if not conditions:
        return True
    names = expressions.names_of(world, request, resource, new, old)
    problems: list[str] = []
    for condition in conditions:
        try:
            if expressions.evaluated(condition.expression, expressions.MATCHING, names, "bool") is not True:
                return False
        except expressions.EvaluationError as error:
            problems.append(str(error))
    if not problems:
        return True
    if ignores:
        return False
    raise status.forbidden_admission(request.resource, request.name, status.aggregate(problems))
