"""A build of every team's own images that leaks memory: whatever a request allocates for its trace is kept for good.

It works, passes every probe, and grows with the requests it serves. Published beside the others, newer than those that run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sregym_env.apps.further import STEP, Change, newest, rate, renamed, with_build
from sregym_env.cluster.app import App, Component
from sregym_env.sim.programs.services.settings import ServiceSettings

LEAKING = "leaking"
"""Why such a build does not work, in :attr:`~sregym_env.cluster.app.Component.builds`."""

DOUBLES = 60.0
"""Seconds of the usual load in which the services of an image leak as much as they take at rest, taken together."""


def with_leaking(app: App) -> App:
    """The application with one more build of each image of its stateless services."""

    def change(components: Sequence[Component]) -> Change:
        leak = sum(c.memory for c in components) / sum(rate(app, c.name) for c in components) / DOUBLES
        return lambda settings: replace(settings, leak=float(round(leak)))

    return with_build(app, LEAKING, _after, change)


def _after(component: Component, reference: str) -> str:
    return later(newest(component, reference))


def later(reference: str) -> str:
    """The reference of a later build in the style of one: a higher number, another commit, another digest."""
    return renamed(reference, LEAKING, STEP, f"1.{STEP}.0")


def leak(app: App, reference: str) -> float:
    """Bytes that a build leaks with every request. Raises KeyError for an image that there is not."""
    image = {image.reference: image for image in app.images}[reference]
    found = (binary.settings for binary in image.binaries.values())
    return max((each.leak for each in found if isinstance(each, ServiceSettings)), default=0.0)
