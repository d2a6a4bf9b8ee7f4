"""Several applications in one cluster, seen as one.

Whoever looks at the whole (staging, the oracle, the judge, the briefing) sees one :class:`~sregym_env.cluster.app.App`
with the components, journeys and namespaces of all. Whoever is concerned with one of them (a fault that strikes it, a
change of it, its load generator, its traces) sees that one as it is by itself: its :attr:`~.App.parts`, or the world
through :func:`seen_by`. Components of the same name bear their namespace before it in the whole
(``astronomy-shop/frontend``); all others keep their names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from sregym_env.cluster.api import World
from sregym_env.cluster.app import App, Component, Image, ImageRegistry, Journey
from sregym_env.errors import AppError
from sregym_env.kube.pulling import repository
from sregym_env.kube.types import Manifest

W = TypeVar("W", bound=World)

JOINED = "+"
"""Between the names of applications that are in one cluster."""


def composed(parts: Sequence[App]) -> App:
    """These applications as one. Raises AppError where they cannot be in one cluster."""
    name = JOINED.join(part.name for part in parts)
    _demand_distinct(name, "application", [part.name for part in parts])
    _demand_distinct(name, "namespace", [space for part in parts for space in part.namespaces])
    _demand_distinct(name, "journey", [each.name for part in parts for each in part.journeys])
    borne = Counter(component.name for part in parts for component in part.components)
    names = [_names(part, borne) for part in parts]
    rate = sum(part.rate for part in parts)
    first = parts[0]
    return App(
        name=name,
        title=_listed([part.title for part in parts]),
        namespace=first.namespace,
        description="\n\n".join(part.description.strip() for part in parts),
        components=tuple(
            _component(part, component, known)
            for part, known in zip(parts, names, strict=True)
            for component in part.components
        ),
        manifests=_manifests(name, parts),
        images=_images(name, parts),
        journeys=tuple(
            _journey(journey, known, part.rate / rate)
            for part, known in zip(parts, names, strict=True)
            for journey in part.journeys
        ),
        entry=names[0][first.entry],
        slo=replace(
            first.slo, journeys={j.name: part.slo.of(j.name) for part in parts for j in part.journeys}
        ),
        rate=rate,
        programs=tuple({each.name: each for part in parts for each in part.programs}.values()),
        activities=tuple(dict.fromkeys(word for part in parts for word in part.activities)),
        registries=_registries(parts),
        parts=tuple(parts),
    )


def seen_by(world: W, app: str) -> W:
    """A world as one of its applications sees it: ``app`` is that one, also where it is declared anew."""
    return cast(W, _Seen(world, app)) if world.app.parts else world


class _Seen:
    """The world itself, but for its application."""

    def __init__(self, world: Any, app: str) -> None:
        self._world = world
        self._name = app

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    @property
    def app(self) -> App:
        """The application that looks."""
        found: App = self._world.app.part(self._name)
        return found

    @app.setter
    def app(self, app: App) -> None:
        parts = self._world.app.parts
        self._world.app = composed([app if part.name == self._name else part for part in parts])

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_world", "_name", "app"):
            object.__setattr__(self, name, value)
        else:
            setattr(self._world, name, value)


# --- what they are together ------------------------------------------------------------------------------


def _names(part: App, borne: Mapping[str, int]) -> Mapping[str, str]:
    """What the components of an application are called in the whole."""
    return {
        c.name: f"{part.namespace_of(c.name)}/{c.name}" if borne[c.name] > 1 else c.name
        for c in part.components
    }


def _component(part: App, component: Component, names: Mapping[str, str]) -> Component:
    name = names[component.name]
    needs = component.dependencies
    if any(names.get(need.on, need.on) != need.on for need in needs):
        needs = tuple(replace(need, on=names.get(need.on, need.on)) for need in needs)
    return replace(
        component,
        name=name,
        namespace=part.namespace_of(component.name),
        dependencies=needs,
        bears="" if name == component.name else component.name,
    )


def _journey(journey: Journey, names: Mapping[str, str], share: float) -> Journey:
    return replace(
        journey, weight=journey.weight * share, through=tuple(names[name] for name in journey.through)
    )


def _manifests(name: str, parts: Sequence[App]) -> tuple[Manifest, ...]:
    """All objects; one that several applications bring alike is there once."""
    found: dict[tuple[str, str, str], Manifest] = {}
    for part in parts:
        for manifest in part.manifests:
            metadata = manifest["metadata"]
            key = manifest["kind"], metadata.get("namespace", ""), metadata["name"]
            known = found.setdefault(key, manifest)
            if known is not manifest and known != manifest:
                raise AppError(f"application {name}: {part.name} has another {key[0]} {key[2]} than the rest")
    return tuple(found.values())


def _images(name: str, parts: Sequence[App]) -> tuple[Image, ...]:
    found: dict[str, Image] = {}
    for part in parts:
        for image in part.images:
            known = found.setdefault(image.reference, image)
            if known is not image and known != image:
                raise AppError(f"application {name}: {part.name} has another image {image.reference}")
    return tuple(found.values())


def _registries(parts: Sequence[App]) -> tuple[ImageRegistry, ...]:
    """Whom registries know for any of the applications. What one of them has to ask for by name stays open to another that does not."""
    found = []
    for part in parts:
        public = {each for other in parts if other is not part for each in _unasked(other)}
        for registry in part.registries:
            closed = tuple(each for each in registry.closed if each not in public)
            found.append(replace(registry, closed=closed))
    return tuple(dict.fromkeys(found))


def _unasked(part: App) -> set[str]:
    """Repositories from which an application takes images without having to say who it is."""
    closed = {each for registry in part.registries for each in registry.closed}
    return {repository(image.reference) for image in part.images} - closed


def _demand_distinct(name: str, what: str, names: Sequence[str]) -> None:
    again = [each for each, count in Counter(names).items() if count > 1]
    if again:
        raise AppError(
            f"application {name}: {what} {again[0]} is there twice; play them in clusters of their own"
        )


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


__all__ = ["JOINED", "composed", "seen_by"]
