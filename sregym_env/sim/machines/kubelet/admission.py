"""What a kubelet checks before it accepts a pod that did not come through the scheduler."""

from __future__ import annotations

from sregym_env.kube.types import Manifest
from sregym_env.sim.containers import nodefit
from sregym_env.sim.containers.resources import allocatable, pod_requests
from sregym_env.sim.network.local_ports import SAFE_SYSCTLS
from sregym_env.sim.world import SimWorld

_ELSEWHERE = (
    "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
)


def refusal(world: SimWorld, pod: Manifest, node: Manifest) -> tuple[str, str] | None:
    """(reason, message) if the node is not for the pod or has not enough of something for it, else None."""
    if not nodefit.matches_node(pod["spec"], node):
        return "NodeAffinity", _ELSEWHERE
    capacity = allocatable(node)
    used: dict[str, int] = {}
    pods = 0
    for other in world.store.list("pods"):
        if other is pod or other["spec"].get("nodeName") != node["metadata"]["name"]:
            continue
        if (other.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
            continue
        pods += 1
        for name, amount in pod_requests(other).named():
            used[name] = used.get(name, 0) + amount
    if pods + 1 > capacity.get("pods", 110):
        return _refused("pods", 1, pods, capacity.get("pods", 110))
    for name, amount in pod_requests(pod).named():
        if amount and used.get(name, 0) + amount > capacity.get(name, 0):
            return _refused(name, amount, used.get(name, 0), capacity.get(name, 0))
    return None


def forbidden(pod: Manifest) -> tuple[str, str] | None:
    """(reason, message) if the pod brings a setting of the kernel that is not allowed to pods, else None."""
    spec = pod["spec"]
    context = spec.get("securityContext")
    for each in (context or {}).get("sysctls") or ():
        name, inner = each["name"], each["name"].replace("/", ".")
        if inner not in SAFE_SYSCTLS:
            return "SysctlForbidden", f'Pod was rejected: forbidden sysctl: "{name}" not allowlisted'
        if spec.get("hostNetwork") and inner.startswith("net."):
            return (
                "SysctlForbidden",
                f'Pod was rejected: forbidden sysctl: "{name}" not allowed with host net enabled',
            )
    return None


def _refused(name: str, requested: int, used: int, capacity: int) -> tuple[str, str]:
    text = (
        f"Pod was rejected: Node didn't have enough resource: {name}, requested: {requested}, "
        f"used: {used}, capacity: {capacity}"
    )
    return f"OutOf{name}", text
