"""A quota that new pods cannot satisfy."""

from __future__ import annotations

from sregym_env.cluster.edits import Create, ObjectRef, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components, declares_memory
from sregym_env.faults.choices import fresh, one_of
from sregym_env.faults.commands import delete, makers, restart, restart_short
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.runtime.chance import Chance

KEYS = (
    ("memory",), ("requests.memory",), ("limits.memory",), ("requests.memory", "limits.memory"), ("memory", "limits.memory"),
)  # fmt: skip
"""What quotas on memory are on."""


def _refused(target: ComponentTarget) -> bool:
    """Whether such a quota refuses its pods: they declare no memory, and the namespace gives them none by default."""
    ranges = [
        limit
        for (resource, namespace, _), manifest in target.inventory.declared.items()
        if resource == "limitranges" and namespace == target.namespace
        for limit in manifest["spec"].get("limits") or ()
    ]
    given = any(
        "memory" in (limit.get(kind) or {}) for limit in ranges for kind in ("default", "defaultRequest")
    )
    return not declares_memory(target) and not given


def _beside(target: ComponentTarget, chance: Chance) -> dict[str, str]:
    """What else the quota limits, far above what is used."""
    others = (("pods", ("100", "150", "250")), ("services", ("50", "80")), ("persistentvolumeclaims", ("20", "40")),
              ("count/deployments.apps", ("60", "100")), ("configmaps", ("60", "120")), ("secrets", ("80", "150")))  # fmt: skip
    chosen = chance.sample("others", others, chance.between("count", 0, 2))
    return {key: chance.choice(key, values) for key, values in chosen}


@fault(
    layer="kubernetes",
    mechanism="quota_blocks_pods",
    targets=components(at_request=True, where=_refused),
)
def namespace_memory_limit(
    target: ComponentTarget,
    memory: str = drawn(
        one_of("1Gi", "2Gi", "4Gi", "6Gi", "8Gi", "10Gi", "12Gi", "16Gi", "20Gi", "24Gi", "32Gi", "48Gi", "64Gi", "8192Mi"),
        published="1Gi",
    ),
    name: str = drawn(
        fresh("resourcequotas", "compute-resources", "{app}-quota", "mem-quota", "namespace-quota", "default-quota", "compute",
              "{app}-compute", "team-quota", "resource-quota", "quota", "memory-quota", "tenant-limits", "{app}-limits"),
        published="memory-limit-quota",
    ),
    keys: tuple[str, ...] = drawn(one_of(*KEYS), published=("memory",)),
    others: dict[str, str] = drawn(_beside, published={}),
) -> Fault:  # fmt: skip
    """A ResourceQuota on memory refuses every new pod that does not declare its memory.

    Running pods go on; a pod that is replaced never comes back.
    """
    quota = ObjectRef("resourcequotas", name, target.namespace)
    hard = {**dict.fromkeys(keys, memory), **others}
    return Fault(
        resource=quota,
        cause=f"ResourceQuota {quota.name} in namespace {target.namespace} limits memory to {memory}; pods that "
        f"declare no memory are refused (must specify memory), so the pods of {target.name} cannot be re-created.",
        edits=[
            Create(
                {
                    "apiVersion": "v1",
                    "kind": "ResourceQuota",
                    "metadata": {"name": quota.name, "namespace": target.namespace},
                    "spec": {"hard": hard},
                }
            )
        ],
        trigger=[RecreatePods(target.name)],
        details={"field": "quota", "wrong": memory},
        # Whatever has lost a pod meanwhile waits as long as its controller does; a new revision does not.
        remedies=[[delete(quota), *restart(target, [target.name]), restart_short(target.namespace)]],
        look=[
            f"kubectl describe resourcequota -n {target.namespace}",
            makers(target),
        ],
        answers=["resources"],
    )
