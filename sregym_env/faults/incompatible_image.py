"""A database moved to a release that cannot read its files."""

from __future__ import annotations

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import show
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.images import other_image


@fault(
    layer="application",
    mechanism="incompatible_version",
    targets=components(where=lambda target: "incompatible" in target.component.builds),
)
def incompatible_image(target: ComponentTarget) -> Fault:
    """The database image is of a release that refuses the data files of the old one, so it exits at start."""
    image, right = target.component.builds["incompatible"], target.container["image"]
    return other_image(
        target,
        image,
        cause=f"{target.kind} {target.name} runs {image}, which is incompatible with data files written by {right}; "
        "the database exits at start.",
        look=[show(target, "wide")],
    )
