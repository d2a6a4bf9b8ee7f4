"""What the faults that change a container's image have in common."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.cluster.targets import ComponentTarget
from sregym_env.faults.commands import mend, named
from sregym_env.faults.drawn import Choose
from sregym_env.faults.fault import Fault
from sregym_env.faults.revisions import revision


def other_image(target: ComponentTarget, image: str, *, cause: str, look: Sequence[str] = ()) -> Fault:
    """The component's container runs ``image``; the repair is the image that the app declares."""
    right = target.container["image"]
    container = target.component.container
    return Fault(
        resource=target.workload,
        cause=cause,
        **revision(target, {target.container_path("image"): image}),
        details={"field": "image", "wrong": image, "right": right},
        remedies=[
            mend(
                target,
                f"kubectl set image {named(target.workload)} {container}={right} -n {target.namespace}",
            )
        ],
        look=look,
    )


def builds(target: ComponentTarget, why: str) -> list[str]:
    """Published images of the component that do not work for a reason (``defective``, ``defective-2`` ...)."""
    return [image for reason, image in target.component.builds.items() if reason.partition("-")[0] == why]


def a_build(why: str) -> Choose:
    """One of those images."""
    return lambda target, chance: chance.choice("image", builds(target, why))
