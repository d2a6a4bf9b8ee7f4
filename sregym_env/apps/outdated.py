"""An old build of every team's own images that lacks an operation which its callers have come to ask for.

It starts, is ready and serves everything else. Published before those that run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sregym_env.apps.further import STEP, Change, renamed, with_build
from sregym_env.cluster.app import App, Component
from sregym_env.sim.programs.services.graph import reached
from sregym_env.sim.programs.services.settings import ServiceSettings

OUTDATED = "outdated"
"""Why such a build does not work, in :attr:`~sregym_env.cluster.app.Component.builds`."""


def with_outdated(app: App) -> App:
    """The application with one more build of each image of its stateless services."""
    lacked = _most_asked(app)

    def change(components: Sequence[Component]) -> Change:
        return lambda settings: replace(settings, lacks=lacked.get(settings.name, ()))

    return with_build(app, OUTDATED, _before, change)


def _before(component: Component, reference: str) -> str:
    return earlier(component.releases[0] if component.releases else reference)


def earlier(reference: str) -> str:
    """The reference of an earlier build in the style of one: a lower number, another commit, another digest."""
    return renamed(reference, OUTDATED, -STEP, f"0.{STEP}.0")


def lacks(app: App, reference: str, service: str) -> tuple[str, ...]:
    """The operations that a service lacks in a build. Raises KeyError for an image that there is not."""
    image = {image.reference: image for image in app.images}[reference]
    found = (binary.settings for binary in image.binaries.values())
    return next(
        (each.lacks for each in found if isinstance(each, ServiceSettings) and each.name == service), ()
    )


def _most_asked(app: App) -> Mapping[str, tuple[str, ...]]:
    """The operation of each service that most of the users' requests cannot do without."""
    services = {
        binary.settings.name: binary.settings
        for image in app.images
        for binary in image.binaries.values()
        if isinstance(binary.settings, ServiceSettings)
    }
    asked: dict[str, dict[str, float]] = {}
    for journey in app.journeys:
        entry = next((name for name in journey.through if name in services), "")
        path = f"{journey.method} {journey.path.partition('?')[0]}"
        for name, operations in reached(services, entry, path).items():
            for operation in sorted(operations):
                handler = services[name].handler(operation) if name in services else None
                if handler is not None:
                    weights = asked.setdefault(name, {})
                    weights[handler.operation] = weights.get(handler.operation, 0.0) + journey.weight
    return {name: (max(weights, key=lambda each: weights[each]),) for name, weights in asked.items()}
