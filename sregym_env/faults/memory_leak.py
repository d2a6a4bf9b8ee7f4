"""A published build that leaks memory with every request it serves."""

from __future__ import annotations

from sregym_env.apps.further import rate
from sregym_env.apps.leaking import LEAKING, leak
from sregym_env.cluster.api import World
from sregym_env.cluster.targets import ROLLED, ComponentTarget, components
from sregym_env.faults.commands import mend, named, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, Predicate, fault
from sregym_env.faults.images import builds
from sregym_env.faults.revisions import revision
from sregym_env.kube.quantity import bytes_

MI = 1024**2

FILLS = (90.0, 180.0)
"""Least and most seconds of the usual load after which a pod has come to its limit."""

KILLS = 6
"""So often a pod was killed at least before anybody is called: kubelets have become slow to start it again."""

BACKOFF = 300.0
"""The longest pause before a container is started again, seconds."""

LEAST = 6 * MI
"""What it must leak in the shortest of those times, and a pod's limit leaves above what it takes at rest, bytes."""


def _growth(target: ComponentTarget) -> float:
    """Bytes per second by which the pods of the leaking build grow together."""
    return leak(target.app, builds(target, LEAKING)[0]) * rate(target.app, target.name)


def _leaks(target: ComponentTarget) -> bool:
    return bool(builds(target, LEAKING)) and _growth(target) * FILLS[0] >= LEAST


def _limit(seconds: float, target: ComponentTarget) -> str:
    """What it takes at rest and what it leaks in so many seconds; where it has less, its own."""
    leaked = max(_growth(target) / max(target.replicas, 1) * seconds, LEAST)
    filled = round((target.component.memory + leaked) / MI)
    own = target.declares("resources", "limits", "memory")
    return str(own) if own is not None and bytes_(own) <= filled * MI else f"{filled}Mi"


def _none_runs(target: ComponentTarget, image: str) -> Predicate:
    """Whether no workload of the application runs a build any more."""

    def cured(world: World) -> Finding:
        running = [
            f"{resource.partition('.')[0]}/{each['metadata']['name']}"
            for resource in ROLLED
            for space in target.app.namespaces
            for each in world.cluster.list(resource, space)
            if any(c.get("image") == image for c in each["spec"]["template"]["spec"]["containers"])
        ]
        return Finding("leak", not running, ", ".join(running) or "none", f"nobody runs {image}")

    return cured


@fault(
    layer="application",
    mechanism="defective_image",
    targets=components(at_request=True, where=_leaks),
    level="hard",
)
def memory_leak(
    target: ComponentTarget,
    limit: str = drawn(
        lambda target, chance: _limit(chance.uniform("fills", *FILLS), target),
        published=lambda target: _limit(150.0, target),
    ),
) -> Fault:
    """The container runs a published build that leaks memory with every request, and is OOM-killed whenever it reaches its limit.

    It came by a rollout, with a memory limit that suited the build before. Pods start, serve, grow and die, each in its
    turn, and kubelets start them again ever later. A restart begins anew; a higher limit is reached later.
    """
    image, right = builds(target, LEAKING)[0], target.container["image"]
    changes = {target.container_path("image"): image}
    if target.declares("resources", "limits", "memory") != limit:
        changes[target.container_path("resources", "limits", "memory")] = limit
        requested = target.declares("resources", "requests", "memory")
        if requested is not None and bytes_(requested) > bytes_(limit):
            changes[target.container_path("resources", "requests", "memory")] = limit
    fills = (bytes_(limit) - target.component.memory) / _growth(target) * max(target.replicas, 1)
    container = target.component.container
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} runs the defective build {image} instead of {right}, which has "
        f"a memory leak: it leaks memory with every request that it serves, so its container grows to its limit of {limit} "
        "and is OOMKilled again and again.",
        **revision(target, changes, starts=True),
        matures=KILLS * fills + BACKOFF,
        recurs=1.5 * fills + BACKOFF,
        details={"field": "image", "wrong": image, "right": right},
        remedies=[
            mend(
                target,
                f"kubectl set image {named(target.workload)} {container}={right} -n {target.namespace}",
            )
        ],
        look=[show(target, "wide"), f"kubectl top pods -n {target.namespace}"],
        cured=[_none_runs(target, image)],
    )
