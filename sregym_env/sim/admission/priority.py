"""Priority: a pod's class becomes a number."""

from __future__ import annotations

from sregym_env.kube import registry, status
from sregym_env.kube.types import Manifest
from sregym_env.sim.world import SimWorld

CLASSES = "priorityclasses.scheduling.k8s.io"
_PODS = registry.by_key("pods")
assert _PODS is not None


def mutate(world: SimWorld, operation: str, pod: Manifest, old: Manifest | None) -> Manifest:
    """The pod with ``priority`` and ``preemptionPolicy`` from its class or the global default."""
    if operation != "CREATE":
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
            assert _PODS is not None
            text = f"no PriorityClass with name {name} was found"
            raise status.forbidden_admission(_PODS, pod["metadata"]["name"], text)
        value, policy = found["value"], found.get("preemptionPolicy", policy)
    else:
        for candidate in world.store.list(CLASSES):
            if candidate.get("globalDefault"):
                value, policy = candidate["value"], candidate.get("preemptionPolicy", policy)
                extra = {"priorityClassName": candidate["metadata"]["name"]}
    return {**pod, "spec": {**spec, **extra, "priority": value, "preemptionPolicy": policy}}
