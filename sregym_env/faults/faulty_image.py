"""A published build that does not work."""

from __future__ import annotations

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.images import a_build, builds, other_image


@fault(
    layer="application",
    mechanism="defective_image",
    targets=components(where=lambda target: bool(builds(target, "defective"))),
)
def faulty_image(
    target: ComponentTarget,
    image: str = drawn(a_build("defective"), published=lambda target: builds(target, "defective")[0]),
) -> Fault:
    """The container runs a published but defective build of its image, which fails after it starts."""
    right = target.container["image"]
    return other_image(
        target,
        image,
        cause=f"{target.kind} {target.name} runs the defective build {image} instead of {right}; its container fails.",
        look=[show(target, "wide")],
    )
