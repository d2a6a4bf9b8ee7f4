"""A draft of an application: its manifests as plain documents that knobs change in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import orjson

from sregym_env.cluster.app import App, Component, Dependency, Image, ImageRegistry
from sregym_env.cluster.inventory import declared
from sregym_env.cluster.targets import ROLLED
from sregym_env.kube.types import Manifest

MI = 1024 * 1024

BUSY = 30.0
"""Requests per second from which a lack of CPU is felt: what is struck by one must have a CPU limit."""


@dataclass(frozen=True)
class Work:
    """One workload that the application declares, other than its users'."""

    component: Component
    manifest: Manifest
    namespace: str
    published: Manifest
    """The workload in the application that is varied."""

    @property
    def name(self) -> str:
        """The component's name, which is the workload's."""
        return self.component.name

    @property
    def spec(self) -> Manifest:
        """The workload's spec."""
        spec: Manifest = self.manifest["spec"]
        return spec

    @property
    def template(self) -> Manifest:
        """Its pod template."""
        template: Manifest = self.spec["template"]
        return template

    @property
    def pod(self) -> Manifest:
        """Its pod template's spec."""
        pod: Manifest = self.template["spec"]
        return pod

    @cached_property
    def container(self) -> Manifest:
        """Its main container. Raises StopIteration where the application names none."""
        found: Manifest = next(c for c in self.pod["containers"] if c["name"] == self.component.container)
        return found

    @cached_property
    def published_container(self) -> Manifest:
        """Its main container in the application that is varied."""
        containers = self.published["spec"]["template"]["spec"]["containers"]
        found: Manifest = next((c for c in containers if c["name"] == self.component.container), {})
        return found

    @property
    def kind(self) -> str:
        """``Deployment``, ``StatefulSet`` or ``DaemonSet``."""
        kind: str = self.manifest["kind"]
        return kind

    @property
    def replicas(self) -> int:
        """How many pods it declares; one on every node counts as one."""
        count = self.spec.get("replicas")
        return 1 if count is None else int(count)

    @property
    def labels(self) -> dict[str, str]:
        """What selects its pods."""
        labels: dict[str, str] = self.spec["selector"]["matchLabels"]
        return labels

    @property
    def scalable(self) -> bool:
        """Whether any number of its pods serves as well as one."""
        return self.kind == "Deployment" and self.component.stateless and not self.component.volume

    @property
    def registry(self) -> bool:
        """Whether others tell it at their start where they are, and it forgets: who is told while one pod takes the
        other's place is told for nothing, so that must be a matter of a second."""
        return self.component.kind == "registry"

    @property
    def ports(self) -> frozenset[int]:
        """Ports that its pods take, as far as the application says."""
        listed = (p["containerPort"] for c in self.pod["containers"] for p in c.get("ports") or ())
        return frozenset((self.component.port, *listed))


class Draft:
    """The application as far as it is drawn."""

    def __init__(self, published: App, app: App, names: tuple[str, ...] = ()) -> None:
        """``app`` is the member of the family of ``published`` that varies further; ``names`` are known outside."""
        self.names = names
        """Names that the cluster's name server knows beyond the cluster."""
        self.app = app
        self._published = published
        self.manifests: list[Manifest] = [orjson.loads(orjson.dumps(m)) for m in app.manifests]
        self._images: dict[str, Image] = {}
        self.added: list[Manifest] = []
        """Objects that must be there before any pod."""
        self.registries: list[ImageRegistry] = []
        """Registries that ask who wants the application's images."""
        before, now = declared(published), declared(replace(app, manifests=tuple(self.manifests)))
        self.works = tuple(self._works(before, now))

    def _works(self, before: Any, now: Any) -> Iterator[Work]:
        for component in self.app.components:
            key = (component.workload, self.app.namespace_of(component.name), component.name)
            if component.workload in ROLLED and component.kind != "load" and key in now:
                yield Work(component, now[key], key[1], before.get(key, now[key]))

    def of(self, kind: str) -> Iterator[Manifest]:
        """Manifests of a kind, those that were added included."""
        for manifest in (*self.added, *self.manifests):
            if manifest["kind"] == kind:
                yield manifest

    def inside(self, namespace: str) -> tuple[Work, ...]:
        """Workloads in a namespace."""
        return tuple(work for work in self.works if work.namespace == namespace)

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """The application's namespaces in which it declares workloads."""
        return tuple(dict.fromkeys(work.namespace for work in self.works))

    def start_with(self, *manifests: Manifest) -> None:
        """Add objects that must be there before any pod."""
        self.added.extend(manifests)

    def end_with(self, *manifests: Manifest) -> None:
        """Add objects that come after the workloads."""
        self.manifests.extend(manifests)

    def pull(self, image: Image) -> str:
        """Make an image known; its reference."""
        self._images[image.reference] = image
        return image.reference

    def finished(self) -> App:
        """The application."""
        known = {image.reference for image in self.app.images}
        last = max(i for i, m in enumerate(self.manifests) if m["kind"] == "Namespace") + 1
        return replace(
            self.app,
            manifests=(*self.manifests[:last], *self.added, *self.manifests[last:]),
            registries=(*self.app.registries, *self.registries),
            images=(*self.app.images, *(i for r, i in self._images.items() if r not in known)),
            place="",
        )

    # --- what a knob may not take away ---------------------------------------------------------------

    @cached_property
    def callers(self) -> dict[str, list[tuple[Component, Dependency]]]:
        """Who essentially needs a component, and how."""
        found: dict[str, list[tuple[Component, Dependency]]] = {}
        for component in self.app.components:
            for dependency in component.dependencies:
                if dependency.essential:
                    found.setdefault(dependency.on, []).append((component, dependency))
        return found

    def asked_per_request(self, component: Component) -> bool:
        """Whether every request needs the component: no cache before it, not at start alone."""
        return component.name == self.app.entry or any(
            "request" in dependency.at and not dependency.cached and caller.name in self.app.serving
            for caller, dependency in self.callers.get(component.name, ())
        )

    def asked_anew(self, component: Component) -> bool:
        """Whether clients open connections to its Service all the time."""
        found = [d for _, d in self.callers.get(component.name, ()) if d.via == "service"]
        return bool(found) and not any(d.persistent for d in found) and self.asked_per_request(component)

    def share(self, component: Component) -> float:
        """Requests per second on whose way the component is."""
        return _share(self.app, component)

    def published_share(self, component: Component) -> float:
        """The same in the application that is varied."""
        return _share(self._published, component)


def _share(app: App, component: Component) -> float:
    return app.rate * sum(journey.weight for journey in app.journeys if component.name in journey.through)
