"""RuntimeClass: what running in a certain way costs a pod and where it can be done.

Follows ``plugin/pkg/admission/runtimeclass`` of v1.32.
"""

from __future__ import annotations

from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.admission.attributes import Attributes, refused
from sregym_env.sim.world import SimWorld

CLASSES = "runtimeclasses.node.k8s.io"


def _class_of(world: SimWorld, request: Attributes, pod: Manifest) -> Manifest | None:
    name = pod["spec"].get("runtimeClassName")
    if not name:
        return None
    found = world.store.get(CLASSES, "", name)
    if found is None:
        raise refused(request, pod, f'pod rejected: RuntimeClass "{name}" not found')
    return found


def mutate(world: SimWorld, request: Attributes, pod: Manifest, _: Manifest | None) -> Manifest:
    """A new pod with the overhead, node selector and tolerations of its class. Raises Forbidden."""
    if request.operation != "CREATE":
        return pod
    found = _class_of(world, request, pod)
    if found is None:
        return pod
    spec: dict[str, Any] = dict(pod["spec"])
    overhead = (found.get("overhead") or {}).get("podFixed")
    if overhead:
        if spec.get("overhead") and spec["overhead"] != overhead:
            raise refused(
                request, pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
            )
        spec["overhead"] = overhead
    scheduling = found.get("scheduling") or {}
    wanted, own = scheduling.get("nodeSelector") or {}, spec.get("nodeSelector") or {}
    for key, value in sorted(wanted.items()):
        if own.get(key, value) != value:
            raise refused(
                request,
                pod,
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {own[key]}",
            )
    if wanted:
        spec["nodeSelector"] = {**own, **wanted}
    added = [each for each in scheduling.get("tolerations") or () if each not in spec.get("tolerations", ())]
    if added:
        spec["tolerations"] = [*spec.get("tolerations", ()), *added]
    return {**pod, "spec": spec}


def validate(world: SimWorld, request: Attributes, pod: Manifest, _: Manifest | None) -> None:
    """Raise Forbidden for overhead that no class has given the pod."""
    if request.operation != "CREATE" or not (
        pod["spec"].get("overhead") or pod["spec"].get("runtimeClassName")
    ):
        return
    found = _class_of(world, request, pod)
    defined = {} if found is None else (found.get("overhead") or {}).get("podFixed") or {}
    given = pod["spec"].get("overhead") or {}
    if defined and given != defined:
        raise refused(
            request, pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        )
    if given and not defined:
        text = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
        raise refused(request, pod, text)
