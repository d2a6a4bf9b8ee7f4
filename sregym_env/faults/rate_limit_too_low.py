"""A limiter that lets through less than what comes."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend, named, scope, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance

LIMIT = "_QPS_LIMIT"
"""How variables end that limit the requests per second of one pod."""


def _limit(target: ComponentTarget) -> tuple[int, dict[str, Any]] | None:
    """(position, entry) of the variable that paces a component; None where nothing does."""
    for index, entry in enumerate(target.container.get("env") or ()):
        if entry["name"].endswith(LIMIT) and "value" in entry:
            return index, entry
    return None


def _rate(target: ComponentTarget) -> float:
    """Requests per second that come to one of its pods."""
    share = sum(journey.weight for journey in target.app.journeys if target.name in journey.through)
    return share * target.app.rate / max(target.replicas, 1)


def _scarce(target: ComponentTarget, chance: Chance) -> str:
    """Less than what comes."""
    return str(max(1, round(_rate(target) * chance.uniform("share", 0.5, 0.85))))


@fault(
    layer="application",
    mechanism="rate_limit_too_low",
    targets=components(at_request=True, where=lambda target: _limit(target) is not None),
    level="hard",
)
def rate_limit_too_low(
    target: ComponentTarget,
    limit: str = drawn(_scarce, published=lambda target: str(round(0.7 * _rate(target)))),
) -> Fault:
    """A backend is paced to fewer requests per second than come, behind a queue that is longer than its callers' patience.

    Its pods are idle and ready. What they work off has expired when its turn comes, and callers ask for it again, so that
    hardly anybody is served, though most could be.
    """
    found = _limit(target)
    assert found is not None
    index, entry = found
    name, right = entry["name"], entry["value"]
    path = target.container_path("env", index, "value")
    back = f"kubectl set env {named(target.workload)}{scope(target.workload)} {name}={right}"
    return Fault(
        resource=target.workload,
        cause=f"{name} of {target.kind} {target.name} is {limit} (it was {right}), fewer requests per second than come: its queue "
        "holds requests that have expired, and their retries keep it full.",
        **revision(target, {path: limit}, starts=True),
        details={"field": name, "wrong": limit, "right": right},
        remedies=[mend(target, back)],
        look=[
            show(target),
            f"kubectl logs -n {target.namespace} {named(target.workload)} --tail=20",
            f"kubectl top pods -n {target.namespace}",
        ],
    )
