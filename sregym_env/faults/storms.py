"""What the storms of retries have in common: a caller whose RPCs give up soon and try again often, and whom it overwhelms.

The component that it calls has a CPU limit that suits the usual load and leaves some room above it, as after a team has looked
at what it uses. Neither hurts anybody, nor do both together, until for a while more comes or less can be done: then calls take
longer than they may, are given up with their work half done, and are made again, dozens of times. What passed is over, and the
component gets nothing else done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sregym_env.apps.calls import cores, patience
from sregym_env.apps.further import rate
from sregym_env.cluster.edits import Edit, ObjectRef, Rollout, Scale
from sregym_env.cluster.targets import ComponentTarget
from sregym_env.faults.commands import mend, named, put, scope, show
from sregym_env.faults.fault import Fault
from sregym_env.faults.revisions import revision
from sregym_env.kube.quantity import milli
from sregym_env.runtime.chance import Chance

LEAST = 0.02
"""Cores that the usual load takes at least at a component that can be overwhelmed: of less than that a few requests at once are
more than a limit lets through."""

MOST = 90.0
"""Requests per second at a pod, above which so many more calls hardly ever meet a queue."""

LOOSE, STEADY, FULL = 0.52, 0.0016, 0.68
"""The share of a limit that is used where a request comes now and then, what each request per second at a pod adds, and the most."""

MOST_SCALED = 2
"""Workloads of a namespace that autoscalers change, at the most."""

SCALERS = "horizontalpodautoscalers.autoscaling"

IDLE = 0.002
"""Cores that a pod of a Go service takes without a request."""


def callees(target: ComponentTarget) -> tuple[ComponentTarget, ...]:
    """Whom a caller's RPCs can overwhelm: Deployments with a CPU limit, the busiest first."""
    _, called = patience(target.app, target.name)
    found = [
        ComponentTarget(target.inventory, target.app.by_name[name])
        for name in called
        if name in target.app.by_name and cores(target.app, name) > 0.0
    ]
    fit = [
        each
        for each in found
        if each.component.workload == "deployments.apps" and each.declares("resources", "limits", "cpu")
    ]
    return tuple(sorted(fit, key=lambda each: -cores(each.app, each.name)))


def calls_several(target: ComponentTarget) -> bool:
    """Whether a component has RPC clients that can be told how patient they are, and enough of those whom it can overwhelm that
    some have the number of pods that they are given, whatever is scaled by itself."""
    return target.component.stateless and len(callees(target)) > MOST_SCALED


def _fit(found: Sequence[ComponentTarget]) -> list[str]:
    """Those of them that have enough to do, and no pod of which does so much that it is never surprised."""
    busy = [each for each in found if cores(each.app, each.name) >= LEAST] or list(found)
    calm = [each for each in busy if _each(each, each.replicas) <= MOST]
    return [each.name for each in calm or sorted(busy, key=lambda each: _each(each, each.replicas))[:1]]


def _each(callee: ComponentTarget, pods: int) -> float:
    """Requests per second that come to a pod of it."""
    return rate(callee.app, callee.name) / pods


def victim(target: ComponentTarget, chance: Chance) -> str:
    """One of those whom it can overwhelm."""
    return str(chance.choice("callee", _fit(callees(target))))


def unscaled(target: ComponentTarget, chance: Chance) -> str:
    """One of them that no autoscaler changes."""
    scaled = {
        manifest["spec"]["scaleTargetRef"]["name"]
        for (resource, space, _), manifest in target.inventory.declared.items()
        if resource == SCALERS and space == target.namespace
    }
    return str(chance.choice("callee", _fit([each for each in callees(target) if each.name not in scaled])))


def busiest(target: ComponentTarget) -> str:
    """The one of them with the most work."""
    return _fit(callees(target))[0]


def tightness(target: ComponentTarget, chance: Chance) -> float:
    """How much of the room above what a callee needs is taken away."""
    return round(chance.uniform("tight", 0.005, 0.03), 3)


def timeout(target: ComponentTarget, chance: Chance) -> str:
    """Little more than what a call takes."""
    return str(chance.choice("timeout", ("40ms", "40ms", "45ms", "50ms", "50ms")))


def retries(target: ComponentTarget, chance: Chance) -> str:
    """Dozens."""
    return str(chance.choice("retries", ("20", "24", "25", "30", "30", "32", "40")))


def storm(
    target: ComponentTarget,
    policy: tuple[str, str],
    callee: str,
    tight: float,
    trigger: Edit,
    since: str,
    pods: int = 1,
) -> Fault:
    """A caller with ``policy`` (time-out, retries) whose RPCs a ``trigger`` has turned into a storm at a callee on at least so
    many ``pods``. ``since`` ends the sentence that tells the cause."""
    called = next(each for each in callees(target) if each.name == callee)
    timeout, retries = policy
    patience, attempts, made = hasty(target, timeout, retries)
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} gives up its RPCs after {timeout} ({patience}) and tries each {retries} more times "
        f"({attempts}): since {since}.",
        earlier=suited(called, max(called.replicas, pods), tight),
        edits=made["edits"],
        trigger=[trigger],
        rollback=made["rollback"],
        spared=way(called),
        details={"field": attempts, "wrong": retries},
        facts={"timeout": patience, "patience": timeout, "callee": callee},
        remedies=remedies(target, called),
        look=look(target, called),
        accepts=[called.workload],
        aliases=[patience],
    )


def suited(callee: ComponentTarget, pods: int, tight: float) -> Sequence[Edit]:
    """Its limit is cut to what it needs on so many pods, and leaves some room: the more comes to a pod the steadier it comes,
    and the less room it takes. ``tight`` is added to the share of the limit that is used."""
    share = min(LOOSE + STEADY * _each(callee, pods), FULL) + tight
    path = callee.container_path("resources")
    right = callee.container["resources"]
    cpu = max(round((cores(callee.app, callee.name) / share / pods + IDLE) * 1000), 5)
    asked = min(milli(right.get("requests", {}).get("cpu", f"{cpu}m")), cpu)
    changed = {
        **right,
        "limits": {**right["limits"], "cpu": f"{cpu}m"},
        "requests": {**right.get("requests", {}), "cpu": f"{asked}m"},
    }
    scaled = [Scale(callee.workload, pods)] if pods != callee.replicas else []
    return [*scaled, Rollout(callee.workload, {path: changed})]


def hasty(target: ComponentTarget, timeout: str, retries: str) -> tuple[str, str, dict[str, Any]]:
    """(variable of the time-out, of the retries, what is rolled out): the caller gives each call so long and tries so often."""
    policy, _ = patience(target.app, target.name)
    assert policy is not None
    names = {entry["name"] for entry in target.container.get("env") or ()}
    entries = [{"name": policy.timeout, "value": timeout}, {"name": policy.retries, "value": retries}]
    assert not names & {entry["name"] for entry in entries}
    env = [*(target.container.get("env") or ()), *entries]
    return policy.timeout, policy.retries, revision(target, {target.container_path("env"): env}, starts=True)


def remedies(target: ComponentTarget, callee: ComponentTarget) -> list[list[str]]:
    """Ways out that last: ask as before, ask patiently and once more, or let the callee do more than ever comes."""
    policy, _ = patience(target.app, target.name)
    assert policy is not None
    change = f"kubectl set env {named(target.workload)}{scope(target.workload)}"
    more = put(callee.workload, callee.container_path("resources"), callee.container["resources"])
    return [
        mend(target, f"{change} {policy.timeout}- {policy.retries}-"),
        mend(target, f"{change} {policy.timeout}=1s {policy.retries}=1"),
        mend(callee, more),
    ]


def look(target: ComponentTarget, callee: ComponentTarget) -> list[str]:
    """Where it shows."""
    return [
        show(target),
        show(callee),
        f"kubectl top pods -n {target.namespace}",
        f"kubectl rollout history {named(target.workload)}{scope(target.workload)}",
    ]


def way(callee: ComponentTarget) -> list[str]:
    """Everything that requests pass which pass the callee: where they stop for a moment, the storm may end."""
    passed = [journey.through for journey in callee.app.journeys if callee.name in journey.through]
    load = [component.name for component in callee.app.components if component.kind == "load"]
    return list(dict.fromkeys([*load, *(name for through in passed for name in through)]))


def scalers(target: ComponentTarget) -> list[ObjectRef]:
    """Autoscalers that it has: of two none would do anything."""
    return [
        ObjectRef(SCALERS, name, space)
        for (resource, space, name), manifest in target.inventory.declared.items()
        if resource == SCALERS
        and space == target.namespace
        and manifest["spec"]["scaleTargetRef"]["name"] == target.name
    ]
