"""DefaultTolerationSeconds: pods bear a not-ready or unreachable node for five minutes."""

from __future__ import annotations

from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.admission.attributes import Attributes
from sregym_env.sim.world import SimWorld

_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def mutate(_world: SimWorld, request: Attributes, pod: Manifest, _old: Manifest | None) -> Manifest:
    """The pod with the two default NoExecute tolerations, where it has none of its own for them."""
    if request.operation != "CREATE":
        return pod
    known = pod["spec"].get("tolerations", [])
    added = [
        {"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for taint in _TAINTS
        if not any(_covers(toleration, taint) for toleration in known)
    ]
    return {**pod, "spec": {**pod["spec"], "tolerations": [*known, *added]}} if added else pod


def _covers(toleration: Manifest, taint: str) -> bool:
    return toleration.get("key", taint) in ("", taint) and toleration.get("effect", "") in ("", "NoExecute")
