"""A liveness probe that waits behind the users' requests: who has more to do than usual is killed for it, and so are the others."""

from __future__ import annotations

import math
from typing import Any

from sregym_env.apps.calls import cores, services
from sregym_env.apps.further import rate
from sregym_env.cluster.app import App
from sregym_env.cluster.edits import AwaitRollout, Delete, Rollout, Scale, Surge
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend, patch, put, restore, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.probes import timing, with_liveness_probe
from sregym_env.faults.revisions import revision
from sregym_env.faults.storms import IDLE, LEAST, scalers, way
from sregym_env.kube.quantity import milli
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

OPEN, PATIENCE = 100.0, 20.0
"""Requests that the users of a journey have open at most, and seconds after which they give up."""

ALONE, TOGETHER = 3.0, 1.8
"""Seconds that a request waits in the end where one pod has the load of all, and where all of them have a crowd: what waits in the
same queue for a second at most is too late."""

FEWEST, MOST = 5, 7
"""Pods: a rollout that takes one away leaves enough, and with one more away there are too few."""

LEAST_CROWD, LARGEST_CROWD = 2.4, 3.0
"""Times the usual number of users."""

TIMINGS = ((2, 2), (3, 2))
"""Period and failure threshold, over before all that come back are there again."""

PATIENT = {"timeoutSeconds": 10, "periodSeconds": 15, "failureThreshold": 4}
"""A timing that waits for longer than any request, and still finds a server that hangs within a minute."""


def _handlers(target: ComponentTarget) -> list[Manifest]:
    """What can be asked of it that it answers by itself when its turn comes, and no kernel for it."""
    service = services(target.app).get(target.name)
    # What waits for a limiter's turn lets probes pass by.
    if service is None or service.limiter is not None:
        return []
    port = target.component.port
    found: list[Manifest] = [{"grpc": {"port": port}}] if service.health else []
    found += [{"httpGet": {"path": "/metrics", "port": each}} for each in service.metrics]
    if service.routes:
        found += [{"httpGet": {"path": path, "port": port}} for path in ("/", *_pages(target))]
    return found


def _pages(target: ComponentTarget) -> list[str]:
    """What its users ask it for."""
    known = services(target.app)
    return [
        journey.path
        for journey in target.app.journeys
        if journey.method == "GET" and next((n for n in journey.through if n in known), "") == target.name
    ]


def _queues(target: ComponentTarget) -> bool:
    """Whether its work can be shared out to several pods, and something of it waits for its turn."""
    return bool(
        target.component.stateless
        and target.component.workload == "deployments.apps"
        and target.inventory.declares(target.component)
        and cores(target.app, target.name) >= LEAST
        and _handlers(target)
    )


def _probe(target: ComponentTarget, chance: Chance) -> Manifest:
    """As people write one who think of a program that hangs, and not of one that is busy."""
    period, failures = chance.choice("timing", TIMINGS)
    probe = dict(chance.choice("handler", _handlers(target)))
    delay = chance.choice("delay", (0, 0, 1, 2))
    if delay:
        probe["initialDelaySeconds"] = delay
    probe["periodSeconds"] = period
    if chance.yes("timeout", 0.6):
        probe["timeoutSeconds"] = 1
    if chance.yes("success", 0.4):
        probe["successThreshold"] = 1
    return probe | {"failureThreshold": failures}


def _published(target: ComponentTarget) -> Manifest:
    return {**_handlers(target)[0], "periodSeconds": 3, "timeoutSeconds": 1, "failureThreshold": 2}


def _longest(app: App, name: str) -> float:
    """Seconds that a request waits in the end where no more is done than what usually comes."""
    asked = [app.rate * journey.weight for journey in app.journeys if name in journey.through]
    return sum(min(OPEN, PATIENCE * each) for each in asked) / rate(app, name)


@fault(
    layer="configuration",
    mechanism="liveness_kills_under_load",
    targets=components(at_request=True, where=_queues),
)
def liveness_kills_under_load(
    target: ComponentTarget,
    probe: dict[str, Any] = drawn(_probe, published=_published),
    used: float = drawn(lambda target, chance: round(chance.uniform("used", 0.78, 0.81), 2), published=0.79),
    seconds: float = drawn(lambda target, chance: float(chance.between("seconds", 60, 110)), published=60.0),
) -> Fault:
    """A liveness probe waits in the same queue as the users' requests, for a second; since a crowd of users it kills every pod in turn.

    It asks for something that the program itself answers when its turn comes, and CPU limits leave some room (the usual load takes
    the share ``used`` of them). As long as all pods are there both are well. A crowd that came for ``seconds`` had it wait for more
    than its second, so the kubelet killed; whoever comes back meets the load of all, has it wait still longer, and is killed before the
    others are back from their back-off. The crowd is gone, and there are never enough of them at a time.
    """
    longest = _longest(target.app, target.name)
    pods = min(max(math.ceil(ALONE / used / longest), FEWEST), MOST)
    factor = round(min(max(TOGETHER / used / longest, LEAST_CROWD), LARGEST_CROWD), 1)
    path = target.container_path("resources")
    changes, back = with_liveness_probe(target, probe, -1)
    made = revision(target, changes, starts=True)
    _, every, failures = timing(probe)
    # Where its own probe waits in the queue as well, a large enough crowd may be too much for that one.
    own = target.declares("livenessProbe") or {}
    calm = not own.keys() & {"grpc", "httpGet"}
    patient = put(target.workload, target.container_path("livenessProbe"), {**probe, **PATIENT})
    return Fault(
        resource=target.workload,
        cause=f"The livenessProbe of {target.kind} {target.name} waits in the queue of the users' requests for a second at most "
        f"(timeout=1s period={every}s #failure={failures}): since a crowd of users, which is gone, the kubelet kills overloaded pods, "
        "the load goes to the others, these are killed as well, and there are never enough of them at a time.",
        earlier=[
            *map(Delete, scalers(target)),
            Scale(target.workload, pods),
            Rollout(target.workload, {path: _suited(target, pods, used)}),
            AwaitRollout(target.workload),
        ],
        edits=made["edits"],
        trigger=[Surge(target.app.namespace, factor, seconds, crowd=True)],
        rollback=made["rollback"] if calm else (),
        spared=way(target),
        brisk=True,
        details={
            "field": "livenessProbe",
            "wrong": f"timeoutSeconds=1 periodSeconds={every} failureThreshold={failures}",
        },
        facts={"period": f"period={every}s", "failures": f"#failure={failures}"},
        remedies=[
            mend(target, patient),
            *([mend(target, patch(target.workload, back))] if calm else []),
            mend(target, restore(target.workload, path, target.declares("resources"))),
        ],
        look=[
            show(target),
            f"kubectl get events -n {target.namespace} --field-selector reason=Unhealthy",
            f"kubectl top pods -n {target.namespace}",
        ],
        accepts=scalers(target),
    )


def _suited(target: ComponentTarget, pods: int, used: float) -> Manifest:
    """Its resources with a CPU limit of which the usual load takes that share on so many pods."""
    right = target.container.get("resources") or {}
    limit = round((cores(target.app, target.name) / pods / used + IDLE) * 1000)
    asked = min(milli(right.get("requests", {}).get("cpu", f"{limit}m")), limit)
    return {
        **right,
        "limits": {**right.get("limits", {}), "cpu": f"{limit}m"},
        "requests": {**right.get("requests", {}), "cpu": f"{asked}m"},
    }
