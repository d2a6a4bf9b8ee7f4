"""A build of every team's own images that leaks memory: whatever a request allocates for its trace is kept for good.

It works, passes every probe, and grows with the requests it serves. Published beside the others, newer than those that run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sregym_env.apps import builds
from sregym_env.cluster.app import App, Binary, Component, Image
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.sim.programs.services.settings import ServiceSettings

LEAKING = "leaking"
"""Why such a build does not work, in :attr:`~sregym_env.cluster.app.Component.builds`."""

DOUBLES = 60.0
"""Seconds of the usual load in which the services of an image leak as much as they take at rest, taken together."""

_NEWER = 3
"""By how much its number is higher than the newest one's: what is known not to work for other reasons lies between."""


def with_leaking(app: App) -> App:
    """The application with one more build of each image of its stateless services."""
    running = dict(_running(app))
    images = {image.reference: image for image in app.images}
    groups: dict[str, list[Component]] = {}
    for component in app.components:
        image = images.get(running.get(component.name, ""))
        if (
            component.stateless
            and image is not None
            and _is_service(image)
            and rate(app, component.name) > 0.0
        ):
            groups.setdefault(image.reference, []).append(component)
    added: list[Image] = []
    known: dict[str, str] = {}
    for reference, components in groups.items():
        newest = components[0].releases[-1] if components[0].releases else reference
        leak = sum(c.memory for c in components) / sum(rate(app, c.name) for c in components) / DOUBLES
        image = _leaking(images[reference], later(newest), round(leak))
        added.append(image)
        known |= dict.fromkeys((c.name for c in components), image.reference)
    return replace(
        app,
        images=(*app.images, *added),
        components=tuple(
            replace(c, builds={**c.builds, LEAKING: known[c.name]}) if c.name in known else c
            for c in app.components
        ),
    )


def rate(app: App, component: str) -> float:
    """Requests per second that come to a component, all its pods together."""
    return app.rate * sum(journey.weight for journey in app.journeys if component in journey.through)


def later(reference: str) -> str:
    """The reference of a later build in the style of one: a higher number, another commit, another digest."""
    repository, colon, tag = reference.partition("@")[0].rpartition(":")
    if not colon or "/" in tag or not any(letter.isdigit() for letter in tag):
        return f"{reference if not colon or '/' in tag else repository}:1.{_NEWER}.0"
    chance = Chance((LEAKING, reference))
    renamed = re.sub(
        r"(?<![0-9a-z])[0-9a-f]{7}(?![0-9a-z])", builds.text(chance, "commit", 7, "0123456789abcdef"), tag
    )
    if renamed == tag or "-" in tag:
        renamed = re.sub(r"\d+(?=\D*$)", lambda match: _higher(match.group()), renamed)
    digest = f"@sha256:{builds.text(chance, 'digest', 64, '0123456789abcdef')}" if "@" in reference else ""
    return f"{repository}:{renamed}{digest}"


def _higher(number: str) -> str:
    return f"{int(number) + _NEWER:0{len(number)}d}"


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


def _is_service(image: Image) -> bool:
    return any(isinstance(binary.settings, ServiceSettings) for binary in image.binaries.values())


def _leaking(image: Image, reference: str, leak: int) -> Image:
    binaries: Mapping[str, Binary] = {
        name: replace(binary, settings=replace(binary.settings, leak=float(leak)))
        if isinstance(binary.settings, ServiceSettings)
        else binary
        for name, binary in image.binaries.items()
    }
    return replace(image, reference=reference, binaries=binaries)


def leak(app: App, reference: str) -> float:
    """Bytes that a build leaks with every request. Raises KeyError for an image that there is not."""
    image = {image.reference: image for image in app.images}[reference]
    found = (binary.settings for binary in image.binaries.values())
    return max((each.leak for each in found if isinstance(each, ServiceSettings)), default=0.0)
