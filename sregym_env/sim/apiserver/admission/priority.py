"""Priority: a pod's class becomes a number."""

from __future__ import annotations

from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.admission.attributes import Attributes, refused
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
    known = spec.get("priority")
    if known is not None and known != value:
        raise refused(
            request,
            pod,
            f"the integer value of priority ({known}) must not be provided in pod spec; priority admission "
            f"controller computed {value} from the given PriorityClass name",
        )
    known = spec.get("preemptionPolicy")
    if known is not None and known != policy:
        raise refused(
            request,
            pod,
            f"the string value of PreemptionPolicy ({known}) must not be provided in pod spec; priority admission "
            f"controller computed {policy} from the given PriorityClass name",
        )
    return {**pod, "spec": {**spec, **extra, "priority": value, "preemptionPolicy": policy}}


def validate_class(world: SimWorld, request: Attributes, new: Manifest, _: Manifest | None) -> None:
    """Raise Forbidden for a second default class."""
    if not new.get("globalDefault"):
        return
    for other in world.store.list(CLASSES):
        name = other["metadata"]["name"]
        if other.get("globalDefault") and name != new["metadata"]["name"]:
            text = f"PriorityClass {name} is already marked as default. Only one default can exist"
            raise refused(request, new, text)
