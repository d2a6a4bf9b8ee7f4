"""A database moved to a release that cannot read its files."""

from __future__ import annotations

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.images import a_build, builds, other_image


@fault(
    layer="application",
    mechanism="incompatible_version",
    targets=components(where=lambda target: bool(builds(target, "incompatible"))),
)
def incompatible_image(
    target: ComponentTarget,
    image: str = drawn(a_build("incompatible"), published=lambda target: builds(target, "incompatible")[0]),
) -> Fault:
    """The database image is of a release that refuses the data files of the old one, so it exits at start."""
    right = target.container["image"]
    return other_image(
        target,
        image,
        cause=f"{target.kind} {target.name} runs {image}, which is incompatible with data files written by {right}; "
        "the database exits at start.",
        look=[show(target, "wide")],
    )
