"""A quota that new pods cannot satisfy."""

from __future__ import annotations

from sregym_env.cluster.edits import Create, ObjectRef, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components, declares_memory
from sregym_env.faults.commands import delete, makers, restart
from sregym_env.faults.fault import Fault, fault


@fault(
    layer="kubernetes",
    mechanism="quota_blocks_pods",
    targets=components(at_request=True, where=lambda target: not declares_memory(target)),
)
def namespace_memory_limit(target: ComponentTarget, memory: str = "1Gi") -> Fault:
    """A ResourceQuota on memory refuses every new pod that does not declare its memory.

    Running pods go on; a pod that is replaced never comes back.
    """
    quota = ObjectRef("resourcequotas", "memory-limit-quota", target.namespace)
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
                    "spec": {"hard": {"memory": memory}},
                }
            )
        ],
        trigger=[RecreatePods(target.name)],
        details={"field": "quota", "wrong": memory},
        remedies=[[delete(quota), *restart(target, [target.name])]],
        look=[
            f"kubectl describe resourcequota -n {target.namespace}",
            makers(target),
        ],
    )
