"""A limiter without headroom, behind which retries keep a collapse going."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.edits import Surge
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
    """Just above what comes, so that all is well until more comes for a moment."""
    return str(max(2, round(_rate(target) * chance.uniform("headroom", 1.15, 1.4))))


@fault(
    layer="application",
    mechanism="capacity_without_headroom",
    targets=components(at_request=True, where=lambda target: _limit(target) is not None),
    level="hard",
)
def retry_collapse(
    target: ComponentTarget,
    limit: str = drawn(_scarce, published=lambda target: str(round(1.25 * _rate(target)))),
    factor: float = drawn(lambda target, chance: round(chance.uniform("factor", 4.0, 7.0), 1), published=5.0),
    seconds: float = drawn(lambda target, chance: float(chance.between("seconds", 20, 60)), published=30.0),
) -> Fault:
    """A paced backend is limited to hardly more than what usually comes, behind a queue longer than its callers' patience.

    After a surge of users everything that is worked off has expired, and what has expired is asked for again: the surge
    is gone, and the collapse stays. A restart helps until the next one.
    """
    found = _limit(target)
    assert found is not None
    index, entry = found
    name, right = entry["name"], entry["value"]
    path = target.container_path("env", index, "value")
    back = f"kubectl set env {named(target.workload)}{scope(target.workload)} {name}={right}"
    return Fault(
        resource=target.workload,
        cause=f"{name} of {target.kind} {target.name} is {limit} (it was {right}), hardly more than the requests that come; "
        "since a surge of users its queue holds requests that have expired, and retries of them keep it full though the "
        "surge is over.",
        **{
            **revision(target, {path: limit}, starts=True),
            "trigger": [Surge(target.app.namespace, factor, seconds)],
        },
        details={"field": name, "wrong": limit, "right": right},
        remedies=[mend(target, back)],
        look=[
            show(target),
            f"kubectl logs -n {target.namespace} {named(target.workload)} --tail=20",
            f"kubectl top pods -n {target.namespace}",
        ],
    )
