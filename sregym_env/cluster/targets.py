"""Targets: what a fault can strike, and the rules that find targets in an inventory.

A rule keeps only targets whose loss must reach the users: the component is on their path (or needed when
something on it starts) and what the fault breaks is the way in which it is really reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.cluster.app import AddressSource, App, Component
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.inventory import Inventory
from sregym_env.errors import ProblemError
from sregym_env.kube.types import Manifest


@dataclass(frozen=True)
class _InApp:
    """What every target has: the application in which it was found."""

    inventory: Inventory

    @property
    def app(self) -> App:
        """The application it belongs to."""
        return self.inventory.app

    @property
    def namespace(self) -> str:
        """The application's namespace."""
        return self.inventory.app.namespace


@dataclass(frozen=True)
class ComponentTarget(_InApp):
    """One component and its workload."""

    component: Component

    @property
    def name(self) -> str:
        """The component's name."""
        return self.component.name

    @property
    def components(self) -> tuple[str, ...]:
        """The one component."""
        return (self.component.name,)

    @property
    def workload(self) -> ObjectRef:
        """Its workload object."""
        return ObjectRef(self.component.workload, self.component.name, self.namespace)

    @property
    def manifest(self) -> Manifest:
        """Its workload as the app declares it."""
        return self.inventory.workload(self.component)

    @property
    def pod_spec(self) -> Manifest:
        """The declared pod template's spec."""
        spec: Manifest = self.manifest["spec"]["template"]["spec"]
        return spec

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels by which its pods are selected."""
        labels: Mapping[str, str] = self.manifest["spec"]["selector"]["matchLabels"]
        return labels

    @property
    def container_index(self) -> int:
        """Where its main container stands in the pod template."""
        return [c["name"] for c in self.pod_spec["containers"]].index(self.component.container)

    @property
    def container(self) -> Manifest:
        """Its main container as declared."""
        container: Manifest = self.pod_spec["containers"][self.container_index]
        return container

    @property
    def dependents(self) -> tuple[str, ...]:
        """Components that need it to start, directly: what must restart for its loss to be noticed."""
        return tuple(component.name for component in self.app.dependents(self.component.name, "start"))

    def template_path(self, *parts: object) -> str:
        """JSON pointer of a field of the pod template's spec."""
        return "/".join(("", "spec", "template", "spec", *map(str, parts)))

    def container_path(self, *parts: object) -> str:
        """JSON pointer of a field of the main container."""
        return self.template_path("containers", self.container_index, *parts)


@dataclass(frozen=True)
class ServiceTarget(_InApp):
    """One Service through which a component is reached."""

    component: Component

    @property
    def name(self) -> str:
        """The Service's name."""
        return self.component.service

    @property
    def components(self) -> tuple[str, ...]:
        """The component behind it."""
        return (self.component.name,)

    @property
    def service(self) -> ObjectRef:
        """The Service object."""
        return ObjectRef("services", self.name, self.namespace)

    @property
    def manifest(self) -> Manifest:
        """The Service as the app declares it."""
        return self.inventory.manifest("services", self.name)

    @property
    def selector(self) -> Mapping[str, str]:
        """Its declared selector."""
        selector: Mapping[str, str] = self.manifest["spec"]["selector"]
        return selector

    @property
    def port_index(self) -> int:
        """Which of its ports leads to the component's serving port."""
        ports = [port["port"] for port in self.manifest["spec"]["ports"]]
        return ports.index(self.component.port)

    @property
    def port(self) -> int:
        """The port on which the component listens."""
        target: int = self.manifest["spec"]["ports"][self.port_index]["targetPort"]
        return target

    @property
    def callers(self) -> tuple[str, ...]:
        """Components inside the app that reach the component through this Service."""
        return tuple(
            caller.name
            for caller, dependency in _callers(self.app, self.component)
            if dependency.via == "service" and caller.kind != "load"
        )


@dataclass(frozen=True)
class VolumeTarget(ComponentTarget):
    """A component's persistent volume."""

    @property
    def name(self) -> str:
        """The claim's name."""
        return self.component.volume

    @property
    def claim(self) -> ObjectRef:
        """The PersistentVolumeClaim."""
        return ObjectRef("persistentvolumeclaims", self.component.volume, self.namespace)

    @property
    def claim_manifest(self) -> Manifest:
        """The claim as the app declares it."""
        return self.inventory.manifest("persistentvolumeclaims", self.component.volume)

    @property
    def volume_index(self) -> int:
        """Which of the pod's volumes it is."""
        for index, volume in enumerate(self.pod_spec["volumes"]):
            if volume.get("persistentVolumeClaim", {}).get("claimName") == self.component.volume:
                return index
        raise ProblemError(f"{self.component.name} does not mount {self.component.volume}")

    @property
    def node(self) -> str:
        """The node that holds the data."""
        return self.inventory.volume_of[self.component.name].node


@dataclass(frozen=True)
class ConfigTarget(ComponentTarget):
    """A ConfigMap that a component's pods mount."""

    config_map: str

    @property
    def name(self) -> str:
        """The ConfigMap's name."""
        return self.config_map

    @property
    def config(self) -> ObjectRef:
        """The ConfigMap object."""
        return ObjectRef("configmaps", self.config_map, self.namespace)

    @property
    def config_manifest(self) -> Manifest:
        """The ConfigMap as the app declares it."""
        return self.inventory.manifest("configmaps", self.config_map)


@dataclass(frozen=True)
class NodeTarget(_InApp):
    """One worker node and the volumes it holds.

    It is called after one of the components whose data lie on it, because which node that is differs from
    world to world.
    """

    node: str
    volumes: tuple[VolumeTarget, ...]
    namesake: str

    @property
    def name(self) -> str:
        """``node-of-mongodb-geo``."""
        return f"node-of-{self.namesake}"

    @property
    def components(self) -> tuple[str, ...]:
        """Components whose data lie on it."""
        return tuple(volume.component.name for volume in self.volumes)


Target = ComponentTarget | ServiceTarget | VolumeTarget | ConfigTarget | NodeTarget


@dataclass(frozen=True, slots=True)
class TargetRule:
    """Which targets of an inventory a fault can strike."""

    kind: str
    """``component``, ``service``, ``volume``, ``configmap`` or ``node``."""
    search: Callable[[Inventory], Iterable[Any]]

    def find(self, inventory: Inventory) -> list[Any]:
        """All targets, the most telling first."""
        return list(self.search(inventory))

    def named(self, inventory: Inventory, name: str) -> Any:
        """The target called ``name``, or the first of all when it is empty. Raises ProblemError."""
        found = self.find(inventory)
        for target in found:
            if not name or target.name == name:
                return target
        known = ", ".join(target.name for target in found) or "none"
        raise ProblemError(f"no {self.kind} target {name!r} in {inventory.app.name}; there are: {known}")


Where = Callable[[ComponentTarget], bool]


def components(
    *,
    kinds: tuple[str, ...] = (),
    at_request: bool = False,
    by_service: bool = False,
    where: Where | None = None,
) -> TargetRule:
    """Components whose loss reaches the users.

    ``kinds`` limits them to kinds of component; ``at_request`` to those that every request needs (no cache
    in front, not only at start); ``by_service`` to those that are reached through their Service, so that
    losing its endpoints is enough; ``where`` is any other condition.
    """

    def search(inventory: Inventory) -> Iterable[ComponentTarget]:
        for component in inventory.app.components:
            target = ComponentTarget(inventory, component)
            if (
                component.name in inventory.app.critical
                and (not kinds or component.kind in kinds)
                and (not at_request or _needed_per_request(inventory.app, component))
                and (not by_service or _reached(inventory.app, component, "service"))
                and (where is None or where(target))
            ):
                yield target

    return TargetRule("component", search)


def services(*, at_request: bool = False, persistent: bool | None = None) -> TargetRule:
    """Services through which something on the users' path is reached.

    ``at_request`` keeps those that every request passes; ``persistent=False`` those whose callers open new
    connections all the time, so that a share of bad endpoints is felt.
    """

    def search(inventory: Inventory) -> Iterable[ServiceTarget]:
        for component in inventory.app.components:
            if (
                component.service
                and component.name in inventory.app.critical
                and _reached(inventory.app, component, "service")
                and (not at_request or _needed_per_request(inventory.app, component))
                and (persistent is None or _persistent(inventory.app, component) == persistent)
            ):
                yield ServiceTarget(inventory, component)

    return TargetRule("service", search)


def volumes() -> TargetRule:
    """Persistent volumes of components whose loss reaches the users."""

    def search(inventory: Inventory) -> Iterable[VolumeTarget]:
        for component in inventory.app.components:
            if component.name in inventory.volume_of and component.name in inventory.app.critical:
                yield VolumeTarget(inventory, component)

    return TargetRule("volume", search)


def configmaps() -> TargetRule:
    """ConfigMaps that components whose loss reaches the users mount."""

    def search(inventory: Inventory) -> Iterable[ConfigTarget]:
        for component in inventory.app.components:
            if component.name not in inventory.app.critical:
                continue
            spec = inventory.workload(component)["spec"]["template"]["spec"]
            for volume in spec.get("volumes", ()):
                name = volume.get("configMap", {}).get("name", "")
                if ("configmaps", name) in inventory.declared:
                    yield ConfigTarget(inventory, component, name)

    return TargetRule("configmap", search)


def nodes_with_volumes() -> TargetRule:
    """Nodes that hold volumes of components whose loss reaches the users, those with the most first."""

    def search(inventory: Inventory) -> Iterable[NodeTarget]:
        held: dict[str, list[VolumeTarget]] = {}
        for target in volumes().find(inventory):
            if target.node:
                held.setdefault(target.node, []).append(target)
        for node in sorted(held, key=lambda node: (-len(held[node]), node)):
            for target in held[node]:
                yield NodeTarget(inventory, node, tuple(held[node]), target.component.name)

    return TargetRule("node", search)


def _callers(app: App, component: Component) -> list[tuple[Component, Any]]:
    return [
        (caller, dependency)
        for caller in app.components
        for dependency in caller.dependencies
        if dependency.on == component.name and dependency.essential
    ]


def _reached(app: App, component: Component, via: AddressSource) -> bool:
    """Whether the users, or something on their path, reach the component in this way."""
    return any(
        dependency.via == via and (caller.name in app.serving or caller.kind == "load")
        for caller, dependency in _callers(app, component)
    )


def _needed_per_request(app: App, component: Component) -> bool:
    if component.name == app.entry:
        return True
    return any(
        "request" in dependency.at and not dependency.cached and caller.name in app.serving
        for caller, dependency in _callers(app, component)
    )


def _persistent(app: App, component: Component) -> bool:
    return any(
        dependency.persistent for _, dependency in _callers(app, component) if dependency.via == "service"
    )
