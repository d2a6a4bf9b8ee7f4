"""A container image that does not exist."""

from __future__ import annotations

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import missing_image
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.images import other_image


@fault(layer="configuration", mechanism="image_unavailable", targets=components(), level="easy")
def incorrect_image(
    target: ComponentTarget, image: str = drawn(missing_image, published="app-image:latest")
) -> Fault:
    """The container's image does not exist, so it is never pulled and the container never starts."""
    return other_image(
        target,
        image,
        cause=f"{target.kind} {target.name} uses the image {image}, which does not exist (it should be "
        f"{target.container['image']}); its pods hang in ImagePullBackOff.",
    )
