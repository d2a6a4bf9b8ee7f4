"""Pods that mount a volume claim nobody made."""

from __future__ import annotations

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import VolumeTarget, volumes
from sregym_env.faults.commands import mend, put
from sregym_env.faults.fault import Fault, fault


@fault(layer="storage", mechanism="missing_volume_claim", targets=volumes(claimed=True), level="easy")
def pvc_claim_mismatch(target: VolumeTarget, suffix: str = "-broken") -> Fault:
    """The workload references a PersistentVolumeClaim that does not exist, so its pods stay Pending."""
    path = target.template_path("volumes", target.volume_index, "persistentVolumeClaim", "claimName")
    wrong = target.name + suffix
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.component.name} references the PersistentVolumeClaim {wrong}, which does not "
        f"exist (its claim is {target.name}); its pods stay Pending.",
        edits=[Redeploy(target.workload, {path: wrong})],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "claimName", "wrong": wrong, "right": target.name},
        remedies=[mend(target, put(target.workload, path, target.name))],
        look=[f"kubectl get pvc -n {target.namespace}"],
    )
