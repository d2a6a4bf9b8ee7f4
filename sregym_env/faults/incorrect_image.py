"""A container image that does not exist."""

from __future__ import annotations

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend
from sregym_env.faults.fault import Fault, fault


@fault(layer="configuration", mechanism="image_unavailable", targets=components(), level="easy")
def incorrect_image(target: ComponentTarget, image: str = "app-image:latest") -> Fault:
    """The container's image does not exist, so it is never pulled and the container never starts."""
    right = target.container["image"]
    name = target.component.container
    return Fault(
        resource=target.workload,
        cause=f"Deployment {target.name} uses the image {image}, which does not exist (it should be {right}); "
        "its pods hang in ImagePullBackOff.",
        edits=[Redeploy(target.workload, {target.container_path("image"): image})],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "image", "wrong": image, "right": right},
        remedies=[
            mend(target, f"kubectl set image deployment/{target.name} {name}={right} -n {target.namespace}")
        ],
    )
