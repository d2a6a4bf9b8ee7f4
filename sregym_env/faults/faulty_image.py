"""A published build that does not work."""

from __future__ import annotations

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend
from sregym_env.faults.fault import Fault, fault


@fault(
    layer="application",
    mechanism="defective_image",
    targets=components(where=lambda target: "defective" in target.component.builds),
)
def faulty_image(target: ComponentTarget) -> Fault:
    """The container runs a published but defective build of its image, which fails after it starts."""
    image, right = target.component.builds["defective"], target.container["image"]
    name = target.component.container
    return Fault(
        resource=target.workload,
        cause=f"Deployment {target.name} runs the defective build {image} instead of {right}; its container fails.",
        edits=[Redeploy(target.workload, {target.container_path("image"): image})],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "image", "wrong": image, "right": right},
        remedies=[
            mend(target, f"kubectl set image deployment/{target.name} {name}={right} -n {target.namespace}")
        ],
        look=[f"kubectl get deployment {target.name} -n {target.namespace} -o wide"],
    )
