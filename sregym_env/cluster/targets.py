"""Targets: what a fault can strike, and the rules that find targets in an inventory.

A rule keeps only targets whose loss must reach the users: the component is on their path (or needed when
something on it starts) and what the fault breaks is the way in which it is really reached.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.cluster.app import AddressSource, App, Component, FeatureFlag, FlagFile
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.inventory import Inventory, template
from sregym_env.errors import AppError, ProblemError
from sregym_env.kube import registry
from sregym_env.kube.types import Manifest

ROLLED = ("deployments.apps", "statefulsets.apps", "daemonsets.apps")
"""Kinds of workload that can be rolled out and restarted."""

SCALED = ("deployments.apps", "statefulsets.apps")
"""Those that have a number of replicas."""


@dataclass(frozen=True)
class InApp:
    """What every target has: the application in which it was found."""

    inventory: Inventory

    @property
    def app(self) -> App:
        """The application it belongs to."""
        return self.inventory.app

    @property
    def namespace(self) -> str:
        """Where it is; the application's main namespace for what is in none."""
        return self.inventory.app.namespace

    def workload_of(self, component: str) -> ObjectRef:
        """The workload object of any component. Raises KeyError."""
        declared = self.app.by_name[component]
        return ObjectRef(declared.workload, component, self.app.namespace_of(component))


@dataclass(frozen=True)
class ComponentTarget(InApp):
    """One component and its workload."""

    component: Component

    @property
    def namespace(self) -> str:
        """The component's namespace."""
        return self.app.namespace_of(self.component.name)

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
        return self.workload_of(self.component.name)

    @property
    def kind(self) -> str:
        """The kind of its workload, such as ``StatefulSet``."""
        return kind_of(self.component.workload)

    @property
    def maker(self) -> str:
        """The kind of object that creates its pods."""
        return "ReplicaSet" if self.component.workload == "deployments.apps" else self.kind

    @property
    def manifest(self) -> Manifest:
        """Its workload as the app declares it."""
        return self.inventory.workload(self.component)

    @property
    def pod_spec(self) -> Manifest:
        """The declared pod template's spec."""
        spec: Manifest = template(self.manifest)["spec"]
        return spec

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels by which its pods are selected."""
        labels: Mapping[str, str] = self.manifest["spec"]["selector"]["matchLabels"]
        return labels

    @property
    def container_index(self) -> int:
        """Where its main container stands in the pod template. Raises AppError."""
        names = [c["name"] for c in self.pod_spec["containers"]]
        if self.component.container not in names:
            raise AppError(
                f"application {self.app.name}: {self.kind} {self.name} has no container {self.component.container}; "
                f"its component must name one of {', '.join(names)}"
            )
        return names.index(self.component.container)

    @property
    def container(self) -> Manifest:
        """Its main container as declared."""
        container: Manifest = self.pod_spec["containers"][self.container_index]
        return container

    @property
    def replicas(self) -> int:
        """How many pods it declares."""
        count = self.manifest["spec"].get("replicas")
        return 1 if count is None else int(count)

    @property
    def ports(self) -> frozenset[int]:
        """Ports that its pods take, as far as it declares them."""
        listed = (p["containerPort"] for c in self.pod_spec["containers"] for p in c.get("ports") or ())
        return frozenset((self.component.port, *listed))

    @property
    def dependents(self) -> tuple[str, ...]:
        """Components that need it to start, directly: what must restart for its loss to be noticed."""
        return tuple(
            component.name
            for component in self.app.dependents(self.component.name, "start")
            if component.workload in ROLLED
        )

    def declares(self, *parts: str) -> Any:
        """What the main container declares under nested keys, such as ``resources``, ``limits``; None for nothing."""
        return _under(self.container, parts)

    def template_declares(self, *parts: str) -> Any:
        """What the pod template's spec declares under nested keys; None for nothing."""
        return _under(self.pod_spec, parts)

    def template_path(self, *parts: object) -> str:
        """JSON pointer of a field of the pod template's spec."""
        return "/".join(("", "spec", "template", "spec", *map(str, parts)))

    def container_path(self, *parts: object) -> str:
        """JSON pointer of a field of the main container."""
        return self.template_path("containers", self.container_index, *parts)


@dataclass(frozen=True)
class ServiceTarget(InApp):
    """One Service through which a component is reached."""

    component: Component

    @property
    def namespace(self) -> str:
        """The Service's namespace."""
        return self.app.namespace_of(self.component.name)

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
        return self.inventory.manifest("services", self.name, self.namespace)

    @property
    def workload(self) -> ObjectRef:
        """The workload behind it."""
        return self.workload_of(self.component.name)

    @property
    def selector(self) -> Mapping[str, str]:
        """Its declared selector."""
        selector: Mapping[str, str] = self.manifest["spec"]["selector"]
        return selector

    @property
    def port_index(self) -> int:
        """Which of its ports leads to the component's serving port. Raises AppError."""
        ports = [port["port"] for port in self.manifest["spec"]["ports"]]
        if self.component.offered_port not in ports:
            raise AppError(
                f"application {self.app.name}: Service {self.name} has no port {self.component.offered_port}; say in "
                f"component {self.component.name} which of {ports} leads to it (service_port)"
            )
        return ports.index(self.component.offered_port)

    @property
    def port(self) -> int:
        """The port on which the component listens."""
        return self.component.port

    @property
    def target_port(self) -> int | str:
        """Where it forwards to, as it declares it: a port or the name of one."""
        declared = self.manifest["spec"]["ports"][self.port_index]
        target: int | str = declared.get("targetPort", declared["port"])
        return target

    @property
    def headless(self) -> bool:
        """Whether its name leads straight to the pods, past its ports."""
        return bool(self.manifest["spec"].get("clusterIP") == "None")

    @property
    def callers(self) -> tuple[str, ...]:
        """Components inside the app that reach the component through this Service."""
        return tuple(
            caller.name
            for caller, dependency in _callers(self.app, self.component)
            # Users are never restarted: what they meet is what is measured.
            if dependency.via == "service" and caller.kind != "load" and caller.workload in ROLLED
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
        return self.inventory.manifest("persistentvolumeclaims", self.component.volume, self.namespace)

    @property
    def claimed(self) -> bool:
        """Whether the app declares the claim; else the workload makes it from a template of its own."""
        return ("persistentvolumeclaims", self.namespace, self.component.volume) in self.inventory.declared

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
        return self.inventory.manifest("configmaps", self.config_map, self.namespace)


@dataclass(frozen=True)
class FlagTarget(ComponentTarget):
    """A feature flag that a component asks for, in the ConfigMap from which all are served."""

    flag: FeatureFlag
    file: FlagFile

    @property
    def name(self) -> str:
        """The flag's name."""
        return self.flag.name

    @property
    def config(self) -> ObjectRef:
        """The ConfigMap object."""
        return ObjectRef("configmaps", self.file.config_map, self.app.namespace_of(self.file.server))

    @property
    def config_manifest(self) -> Manifest:
        """The ConfigMap as the app declares it."""
        return self.inventory.manifest("configmaps", self.file.config_map, self.config.namespace or "")

    @property
    def entry(self) -> str:
        """What the file says of the flag, from its name to its default variant. Raises AppError."""
        text = self.config_manifest["data"][self.file.key]
        found = re.search(
            rf'"{re.escape(self.flag.name)}"\s*:\s*\{{.*?"defaultVariant"\s*:\s*"[^"]*"', text, re.DOTALL
        )
        if found is None:
            raise AppError(
                f"application {self.app.name}: {self.file.key} of ConfigMap {self.file.config_map} has no flag {self.flag.name} "
                "with a defaultVariant; declare it there or leave it out of flag_file"
            )
        return found.group()

    @property
    def variant(self) -> str:
        """Its default variant."""
        return self.entry.rstrip('"').rpartition('"')[2]

    def switched(self, variant: str) -> str:
        """The entry with another default variant."""
        return f'{self.entry.removesuffix(self.variant + chr(34))}{variant}"'


@dataclass(frozen=True)
class NodeTarget(InApp):
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


@dataclass(frozen=True)
class MachineTarget(InApp):
    """One worker node that bears a part of the users' path.

    It is called after one of the components on that path, because which node that is differs from world to world: one on
    which it stands, unless that is none that such a fault can strike.
    """

    node: str
    components: tuple[str, ...]
    """Components on the path that stand on it, the one by which it is called first."""
    namesake: str

    @property
    def name(self) -> str:
        """``machine-of-cart``."""
        return f"machine-of-{self.namesake}"


@dataclass(frozen=True)
class MachinesTarget(InApp):
    """Worker nodes without which components cannot run: one that holds their data, or all that take pods."""

    nodes: tuple[str, ...]
    components: tuple[str, ...]
    """Components that have nowhere else to go."""
    namesake: str

    @property
    def name(self) -> str:
        """``node-of-mongodb-geo``, or ``workers``."""
        return f"node-of-{self.namesake}" if self.namesake else "workers"


@dataclass(frozen=True)
class NamespaceTarget(InApp):
    """One namespace of the application."""

    name: str

    @property
    def namespace(self) -> str:
        """The namespace itself."""
        return self.name

    @property
    def components(self) -> tuple[str, ...]:
        """Components on the users' path that are reached through a Service in it."""
        return tuple(
            component.name
            for component in self.app.components
            if component.name in self.app.critical
            and self.app.namespace_of(component.name) == self.name
            and ("services", self.name, component.service) in self.inventory.declared
            and _reached(self.app, component, "service")
        )


@dataclass(frozen=True, slots=True)
class TargetRule:
    """Which targets of an inventory a fault can strike."""

    kind: str
    """``component``, ``service``, ``volume``, ``configmap``, ``flag``, ``node`` or ``namespace``."""
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
WhereService = Callable[[ServiceTarget], bool]


def components(
    *,
    kinds: tuple[str, ...] = (),
    at_request: bool = False,
    by_service: bool = False,
    where: Where | None = None,
) -> TargetRule:
    """Components whose loss reaches the users and whose workload the app declares: an operator would take back
    what is changed about its own.

    ``kinds`` limits them to kinds of component; ``at_request`` to those that every request needs (no cache
    in front, not only at start); ``by_service`` to those that are reached through their Service, so that
    losing its endpoints is enough; ``where`` is any other condition.
    """

    def search(inventory: Inventory) -> Iterable[ComponentTarget]:
        for component in inventory.app.components:
            target = ComponentTarget(inventory, component)
            if (
                component.name in inventory.app.critical
                and inventory.declares(component)
                and component.workload in ROLLED
                and (not kinds or component.kind in kinds)
                and (not at_request or _needed_per_request(inventory.app, component))
                and (not by_service or _reached(inventory.app, component, "service"))
                and (where is None or where(target))
            ):
                yield target

    return TargetRule("component", search)


def scheduled(target: ComponentTarget) -> bool:
    """Whether its pods wait for a node: those of a DaemonSet belong to one, cordoned or not, or do not exist."""
    return target.component.workload != "daemonsets.apps"


def reconnected(target: ComponentTarget) -> bool:
    """Whether its callers open new connections all the time, so that whoever comes to stand behind its name is met."""
    callers = [dependency for _, dependency in _callers(target.app, target.component)]
    return bool(callers) and not any(dependency.persistent for dependency in callers)


def declares_memory(target: ComponentTarget) -> bool:
    """Whether its main container requests memory or limits it."""
    return any(target.declares("resources", kind, "memory") is not None for kind in ("requests", "limits"))


def services(
    *, at_request: bool = False, persistent: bool | None = None, where: WhereService | None = None
) -> TargetRule:
    """Services through which something on the users' path is reached and which the app declares.

    ``at_request`` keeps those that every request passes; ``persistent=False`` those whose callers open new
    connections all the time, so that a share of bad endpoints is felt; ``where`` is any other condition.
    """

    def search(inventory: Inventory) -> Iterable[ServiceTarget]:
        for component in inventory.app.components:
            if (
                component.service
                and ("services", inventory.app.namespace_of(component.name), component.service)
                in inventory.declared
                and component.name in inventory.app.critical
                and _reached(inventory.app, component, "service")
                and (not at_request or _needed_per_request(inventory.app, component))
                and (persistent is None or _persistent(inventory.app, component) == persistent)
                and (where is None or where(ServiceTarget(inventory, component)))
            ):
                yield ServiceTarget(inventory, component)

    return TargetRule("service", search)


def volumes(*, claimed: bool = False) -> TargetRule:
    """Persistent volumes of components whose loss reaches the users.

    ``claimed`` keeps those whose pods name a claim that the app declares.
    """

    def search(inventory: Inventory) -> Iterable[VolumeTarget]:
        for component in inventory.app.components:
            target = VolumeTarget(inventory, component)
            if (
                component.name in inventory.volume_of
                and component.name in inventory.app.critical
                and inventory.declares(component)
                and (target.claimed or not claimed)
            ):
                yield target

    return TargetRule("volume", search)


def configmaps() -> TargetRule:
    """ConfigMaps that components whose loss reaches the users mount."""

    def search(inventory: Inventory) -> Iterable[ConfigTarget]:
        for component in inventory.app.components:
            if component.name not in inventory.app.critical or component.workload not in ROLLED:
                continue
            spec = template(inventory.workload(component))["spec"]
            namespace = inventory.app.namespace_of(component.name)
            for volume in spec.get("volumes", ()):
                name = volume.get("configMap", {}).get("name", "")
                if ("configmaps", namespace, name) in inventory.declared and inventory.declares(component):
                    yield ConfigTarget(inventory, component, name)

    return TargetRule("configmap", search)


def feature_flags() -> TargetRule:
    """Feature flags with which a component does not serve its users."""

    def search(inventory: Inventory) -> Iterable[FlagTarget]:
        file = inventory.app.flag_file
        for flag in file.harmful if file is not None else ():
            assert file is not None
            yield FlagTarget(inventory, inventory.app.by_name[flag.component], flag, file)

    return TargetRule("flag", search)


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


def machines_needed() -> TargetRule:
    """Nodes that hold the volume of a store to which users write, and last all nodes that take pods together.

    Who only reads has read it, or has it in a cache, and does not notice for hours that a database is out of reach.
    """

    def search(inventory: Inventory) -> Iterable[MachinesTarget]:
        app = inventory.app
        for target in nodes_with_volumes().find(inventory):
            if app.by_name[target.namesake].written:
                yield MachinesTarget(inventory, (target.node,), target.components, target.namesake)
        nodes = tuple(
            node["metadata"]["name"]
            for node in inventory.machines
            if not any(taint["effect"] == "NoSchedule" for taint in node["spec"].get("taints") or ())
        )
        serving = tuple(
            component.name
            for component in app.components
            if component.name in app.serving and component.workload in SCALED
        )
        if nodes and serving:
            yield MachinesTarget(inventory, nodes, serving, "")

    return TargetRule("node", search)


def namespaces() -> TargetRule:
    """Namespaces in which components on the users' path are reached through their Services."""

    def search(inventory: Inventory) -> Iterable[NamespaceTarget]:
        found = (NamespaceTarget(inventory, name) for name in inventory.app.namespaces)
        yield from (target for target in found if target.components)

    return TargetRule("namespace", search)


def kind_of(workload: str) -> str:
    """The kind of a registry key, such as ``StatefulSet``; the key itself for a kind that is not built in."""
    resource = registry.by_key(workload)
    return workload if resource is None else resource.kind


def _under(obj: Any, parts: tuple[str, ...]) -> Any:
    for part in parts:
        obj = (obj or {}).get(part)
    return obj


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
