"""Pods that mount a volume claim nobody made."""

from __future__ import annotations

from sregym_env.cluster.targets import VolumeTarget, volumes
from sregym_env.faults.choices import names_of, near_word, until
from sregym_env.faults.commands import mend, put
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance


def _claim(target: VolumeTarget, chance: Chance) -> str:
    """A claim that there is not: the component's under another name, as charts, copies and slips name it."""
    claim, component = target.name, target.component.name
    short = claim.removesuffix("-pvc")
    forms = (
        f"{component}-pvc", f"{component}-data", f"data-{component}", f"data-{component}-0", f"{short}-data", f"pvc-{short}",
        f"{short}-pv", f"{short}-claim", f"{claim}-{chance.between('copy', 1, 4)}", f"{short}-pvc-v{chance.between('v', 2, 4)}",
        f"{short}-storage", f"{claim}-new", f"{short}-db-pvc", f"{target.app.name}-{claim}", f"{claim}-restored",
        f"{component}-storage", f"{short}-volume", f"{claim}-ssd", f"{short}s-pvc", f"{claim}-migrated",
    )  # fmt: skip
    have = names_of(target.inventory, "persistentvolumeclaims", target.namespace)

    def draw(by: Chance) -> str:
        return near_word(claim, by) if by.yes("slip", 0.2) else by.choice("form", forms)

    return str(until(chance, draw, lambda name: name not in have, f"{claim}-2"))


@fault(layer="storage", mechanism="missing_volume_claim", targets=volumes(claimed=True), level="easy")
def pvc_claim_mismatch(
    target: VolumeTarget, claim: str = drawn(_claim, published=lambda target: f"{target.name}-broken")
) -> Fault:
    """The workload references a PersistentVolumeClaim that does not exist, so its pods stay Pending."""
    path = target.template_path("volumes", target.volume_index, "persistentVolumeClaim", "claimName")
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.component.name} references the PersistentVolumeClaim {claim}, which does not "
        f"exist (its claim is {target.name}); its pods stay Pending.",
        **revision(target, {path: claim}),
        details={"field": "claimName", "wrong": claim, "right": target.name},
        remedies=[mend(target, put(target.workload, path, target.name))],
        look=[f"kubectl get pvc -n {target.namespace}"],
    )
