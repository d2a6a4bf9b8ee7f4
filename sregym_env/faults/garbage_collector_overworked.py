"""A garbage collector that is told to run all the time: it takes the CPU that requests need."""

from __future__ import annotations

from typing import Any

from sregym_env.apps.calls import collecting, collector
from sregym_env.apps.further import rate
from sregym_env.cluster.edits import Edit, Rollout
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend, named, put, scope, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.faults.storms import IDLE
from sregym_env.kube.quantity import milli
from sregym_env.runtime.chance import Chance

BUSY = 30.0
"""Requests per second from which a component allocates enough that collecting all the time is felt."""

OVER = (1.25, 1.7)
"""Least and most CPU that requests take with the collector's part, times what the limit gives."""


def _collects(target: ComponentTarget) -> bool:
    return bool(
        target.component.stateless
        and collector(target.app, target.name)
        and target.declares("resources", "limits", "cpu")
        and rate(target.app, target.name) >= BUSY
    )


def _percent(target: ComponentTarget, chance: Chance) -> str:
    return str(chance.weighted("percent", {"1": 0.6, "2": 0.3, "3": 0.1}))


def _suited(target: ComponentTarget, percent: str, over: float) -> list[Edit]:
    """A limit that is some times what the component needs, and less than it needs when it collects all the time."""
    path, right = target.container_path("resources"), target.container["resources"]
    needed = collecting(target.app, target.name, float(percent))
    cpu = round((needed / over / target.replicas + IDLE) * 1000)
    if cpu >= milli(right["limits"]["cpu"]):
        return []
    asked = min(milli(right.get("requests", {}).get("cpu", f"{cpu}m")), cpu)
    changed = {
        **right,
        "limits": {**right["limits"], "cpu": f"{cpu}m"},
        "requests": {**right.get("requests", {}), "cpu": f"{asked}m"},
    }
    return [Rollout(target.workload, {path: changed})]


@fault(
    layer="application",
    mechanism="collector_overworked",
    targets=components(at_request=True, where=_collects),
    level="hard",
)
def garbage_collector_overworked(
    target: ComponentTarget,
    percent: str = drawn(_percent, published="1"),
    over: float = drawn(lambda target, chance: round(chance.uniform("over", *OVER), 2), published=1.4),
) -> Fault:
    """A Go runtime is told to collect its garbage whenever the heap has grown by a hundredth.

    Every request then pays for marking all that lives. The container uses its whole CPU limit, which leaves plenty above what
    requests take by themselves, and is throttled; pods stay Running and Ready. ``over`` is how much more it would use than the
    limit gives.
    """
    variable = collector(target.app, target.name)
    env: list[dict[str, Any]] = list(target.container.get("env") or ())
    before = next((entry for entry in env if entry["name"] == variable), None)
    entry = {"name": variable, "value": percent}
    changed = [entry if each is before else each for each in env] if before else [*env, entry]
    right = str(before["value"]) if before and "value" in before else ""
    change = f"kubectl set env {named(target.workload)}{scope(target.workload)}"
    more = put(target.workload, target.container_path("resources"), _plenty(target, percent))
    return Fault(
        resource=target.workload,
        cause=f"{variable} of {target.kind} {target.name} is {percent} (it was {right or 'not set: 100'}), so that its Go runtime "
        "collects garbage all the time and the collector takes the CPU that requests need.",
        earlier=_suited(target, percent, over),
        **revision(target, {target.container_path("env"): changed}, starts=True),
        details={"field": variable, "wrong": percent, "right": right or "100"},
        remedies=[
            mend(target, f"{change} {variable}={right}" if right else f"{change} {variable}-"),
            mend(target, f"{change} {variable}=100"),
            mend(target, more),
        ],
        look=[
            f"kubectl top pods -n {target.namespace}",
            show(target),
            f"kubectl logs -n {target.namespace} {named(target.workload)} --tail=60",
        ],
        aliases=["garbage collector"],
    )


def _plenty(target: ComponentTarget, percent: str) -> dict[str, Any]:
    """Resources with which the component copes with its collector."""
    needed = collecting(target.app, target.name, float(percent))
    right = target.container["resources"]
    return {**right, "limits": {**right["limits"], "cpu": str(round(2.0 * needed + 1.0))}}
