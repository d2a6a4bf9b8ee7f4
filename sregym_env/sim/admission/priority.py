"""Priority: a pod's class becomes a number."""

from __future__ import annotations

from sregym_env.kube.types import Manifest
from sregym_env.sim.admission.attributes import Attributes, refused
from sregym_env.sim.world import SimWorld

CLASSES = "priorityclasses.scheduling.k8s.io"


def mutate(world: SimWorld, request: Attributes, pod: Manifest, old: Manifest | None) -> Manifest:
    """The pod with ``priority`` and ``preemptionPolicy`` from its class or the global default."""
    if request.operation != "CREATE":
        if old is not None and "priority" in old["spec"] and "priority" not in pod["spec"]:
            keep = {k: old["spec"][k] for k in ("priority", "preemptionPolicy") if k in old["spec"]}
            return {**pod, "spec": {**pod["spec"], **keep}}
        return pod
    spec = pod["spec"]
    name = spec.get("priorityClassName")
    value, policy = 0, "PreemptLowerPriority"
    extra = {}
    if name:
        found = world.store.get(CLASSES, "", name)
        if found is None:
            raise refused(request, pod, f"no PriorityClass with name {name} was found")
        value, policy = found["value"], found.get("preemptionPolicy", policy)
    else:
        for candidate in world.store.list(CLASSES):
            if candidate.get("globalDefault"):
                value, policy = candidate["value"], candidate.get("preemptionPolicy", policy)
                extra = {"priorityClassName": candidate["metadata"]["name"]}
    return {**pod, "spec": {**spec, **extra, "priority": value, "preemptionPolicy": policy}}
