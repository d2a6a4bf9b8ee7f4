"""One more published build of every image of an application's stateless services, which works in another way than those that run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sregym_env.apps import builds
from sregym_env.cluster.app import App, Binary, Component, Image
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.sim.programs.services.settings import ServiceSettings

STEP = 3
"""How far its number is from that of the build beside it: what is known not to work for other reasons lies between."""

Change = Callable[[ServiceSettings], ServiceSettings]


def with_build(
    app: App,
    why: str,
    name: Callable[[Component, str], str],
    change: Callable[[Sequence[Component]], Change],
    fits: Callable[[ServiceSettings], bool] = lambda settings: True,
) -> App:
    """The application with one more build of each image of its stateless services that serve users.

    ``why`` it does not work is what components' :attr:`~sregym_env.cluster.app.Component.builds` know it by. ``name`` gives
    the new reference for a component that runs an image and that image's; ``change`` what is different about the services
    of an image, given all components that run it; ``fits`` says of which services there is such a build.
    """
    running = dict(_running(app))
    images = {image.reference: image for image in app.images}
    groups: dict[str, list[Component]] = {}
    for component in app.components:
        image = images.get(running.get(component.name, ""))
        if (
            component.stateless
            and image is not None
            and any(
                isinstance(binary.settings, ServiceSettings) and fits(binary.settings)
                for binary in image.binaries.values()
            )
            and rate(app, component.name) > 0.0
        ):
            groups.setdefault(image.reference, []).append(component)
    added: list[Image] = []
    known: dict[str, str] = {}
    for reference, components in groups.items():
        image = _changed(images[reference], name(components[0], reference), change(components))
        added.append(image)
        known |= dict.fromkeys((c.name for c in components), image.reference)
    return replace(
        app,
        images=(*app.images, *added),
        components=tuple(
            replace(c, builds={**c.builds, why: known[c.name]}) if c.name in known else c
            for c in app.components
        ),
    )


def rate(app: App, component: str) -> float:
    """Requests per second that come to a component, all its pods together."""
    return app.rate * sum(journey.weight for journey in app.journeys if component in journey.through)


def newest(component: Component, reference: str) -> str:
    """The newest build known to work of what a component runs whose tag says a number; ``reference`` where none does."""
    numbered = (each for each in reversed(component.releases) if _numbered(each))
    return next(numbered, component.releases[-1] if component.releases else reference)


def _numbered(reference: str) -> bool:
    _, colon, tag = reference.partition("@")[0].rpartition(":")
    return bool(colon) and "/" not in tag and any(letter.isdigit() for letter in tag)


def renamed(reference: str, why: str, step: int, plain: str) -> str:
    """The reference of another build in the style of one: a number that is ``step`` away, another commit, another digest.

    ``plain`` is the tag where the style has no number.
    """
    repository, colon, tag = reference.partition("@")[0].rpartition(":")
    if not _numbered(reference):
        return f"{reference if not colon or '/' in tag else repository}:{plain}"
    chance = Chance((why, reference))
    other = re.sub(
        r"(?<![0-9a-z])[0-9a-f]{7}(?![0-9a-z])", builds.text(chance, "commit", 7, "0123456789abcdef"), tag
    )
    if other == tag or "-" in tag:
        other = _counted(other, step)
    digest = f"@sha256:{builds.text(chance, 'digest', 64, '0123456789abcdef')}" if "@" in reference else ""
    return f"{repository}:{other}{digest}"


def _counted(tag: str, step: int) -> str:
    """A tag whose last number is so far away; where it would be less than nothing, the number before it is one less."""
    numbers = list(re.finditer(r"\d+", tag))
    for number in reversed(numbers):
        value = int(number.group())
        if value + step >= 0 or (number is not numbers[-1] and value):
            moved = value + step if value + step >= 0 and number is numbers[-1] else value - 1
            return f"{tag[: number.start()]}{moved:0{len(number.group())}d}{tag[number.end() :]}"
    return f"{tag}-0"


def _running(app: App) -> Iterator[tuple[str, str]]:
    """(component, reference of the image that its main container runs)."""
    containers = {component.name: component.container for component in app.components}
    for manifest in app.manifests:
        name = manifest["metadata"]["name"]
        for container in _containers(manifest):
            if container["name"] == containers.get(name):
                yield name, container["image"]


def _containers(manifest: Manifest) -> list[Manifest]:
    template: Manifest = (manifest.get("spec") or {}).get("template") or {}
    found: list[Manifest] = (template.get("spec") or {}).get("containers") or []
    return found


def _changed(image: Image, reference: str, change: Change) -> Image:
    binaries = {
        name: Binary(binary.program, change(binary.settings))
        if isinstance(binary.settings, ServiceSettings)
        else binary
        for name, binary in image.binaries.items()
    }
    return replace(image, reference=reference, binaries=binaries)
