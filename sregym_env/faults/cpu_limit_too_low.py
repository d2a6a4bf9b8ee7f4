"""A CPU limit below what the load needs."""

from __future__ import annotations

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend, put, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance

BUSY = 30.0
"""Requests per second from which a component needs more than the default limit."""

REQUEST = 0.7
"""Milli-cores that a request per second takes at least."""


def _busy(target: ComponentTarget) -> bool:
    if not target.component.stateless or not target.declares("resources", "limits", "cpu"):
        return False
    return _rate(target) >= BUSY


def _rate(target: ComponentTarget) -> float:
    """Requests per second that come to the component."""
    share = sum(journey.weight for journey in target.app.journeys if target.name in journey.through)
    return share * target.app.rate


def _starving(target: ComponentTarget, chance: Chance) -> str:
    """A small part of what one pod uses, in the form in which the API gives it back."""
    used = _rate(target) / target.replicas * REQUEST
    millis = max(1, round(used * chance.uniform("share", 0.08, 0.32)))
    return f"{millis}m"


@fault(
    layer="node",
    mechanism="cpu_throttling",
    targets=components(at_request=True, where=_busy),
    level="hard",
)
def cpu_limit_too_low(target: ComponentTarget, cpu: str = drawn(_starving, published="10m")) -> Fault:
    """The container's CPU limit is below what its load needs, so the kernel throttles it.

    Pods are Running and Ready and nothing crashes; requests queue up and run into their deadlines.
    """
    path, right = target.container_path("resources"), target.container["resources"]
    wrong = {
        **right,
        "limits": {**right["limits"], "cpu": cpu},
        "requests": {**right.get("requests", {}), "cpu": cpu},
    }
    return Fault(
        resource=target.workload,
        cause=f"The container of {target.kind} {target.name} has a CPU limit of {cpu} (it was "
        f"{right['limits']['cpu']}), less than its load needs; it is throttled and its requests time out.",
        **revision(target, {path: wrong}, starts=True),
        details={"field": "CPU limit", "wrong": cpu, "right": right["limits"]["cpu"]},
        remedies=[mend(target, put(target.workload, path, right))],
        look=[
            f"kubectl top pods -n {target.namespace}",
            show(target),
        ],
    )
