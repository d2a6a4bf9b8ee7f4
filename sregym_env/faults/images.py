"""What the faults that change a container's image have in common."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import ComponentTarget
from sregym_env.faults.commands import mend, named
from sregym_env.faults.fault import Fault


def other_image(target: ComponentTarget, image: str, *, cause: str, look: Sequence[str] = ()) -> Fault:
    """The component's container runs ``image``; the repair is the image that the app declares."""
    right = target.container["image"]
    container = target.component.container
    return Fault(
        resource=target.workload,
        cause=cause,
        edits=[Redeploy(target.workload, {target.container_path("image"): image})],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "image", "wrong": image, "right": right},
        remedies=[
            mend(
                target,
                f"kubectl set image {named(target.workload)} {container}={right} -n {target.namespace}",
            )
        ],
        look=look,
    )
