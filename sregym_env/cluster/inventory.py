"""The inventory: what an application consists of and where it runs, as faults and oracles look it up.

The declared part (workloads, Services, volume claims, ConfigMaps) comes from the app's manifests, the rest
(pods, volumes, nodes, and workloads that an operator made) from the living cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sregym_env.cluster.api import Cluster, World
from sregym_env.cluster.app import App, Component
from sregym_env.errors import AppError
from sregym_env.kube import registry
from sregym_env.kube.quantity import bytes_
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
"""The label and taint key of control plane nodes."""

ObjectKey = tuple[str, str, str]
"""(resource key, namespace or "", name)."""


@dataclass(frozen=True, slots=True)
class Volume:
    """A component's persistent volume: its claim, what it is bound to, and the node that holds the data."""

    component: str
    claim: str
    volume: str
    node: str


@dataclass(frozen=True)
class Inventory:
    """A frozen view of a deployed application."""

    app: App
    pods: tuple[Manifest, ...]
    volumes: tuple[Volume, ...]
    nodes: tuple[str, ...]
    """Names of the nodes that run workloads (no control plane), sorted."""
    node_memory: int
    """Memory of the largest of them, bytes."""
    declared: Mapping[ObjectKey, Manifest]
    """The app's own manifests."""
    made: Mapping[str, Manifest] = field(default_factory=dict)
    """Workloads that the app does not declare, because an operator makes them, by component."""
    addresses: tuple[str, ...] = ()
    """Cluster addresses of the application's Services."""
    whole: App | None = None
    """All that is deployed, where the application is only a part of it."""
    machines: tuple[Manifest, ...] = ()
    """The nodes that run workloads, as objects, in the order of their names."""
    room: Mapping[str, int] = field(default_factory=dict)
    """Memory of each of them that no pod has asked for, bytes, by name."""

    @classmethod
    def of(cls, world: World, part: str = "") -> Inventory:
        """The inventory of a healthy world, or of one of its applications.

        Raises AppError where the app does not say what its objects are.
        """
        app, cluster = world.app.part(part) if part else world.app, world.cluster
        workers = [
            node for node in cluster.list("nodes") if CONTROL_PLANE not in node["metadata"].get("labels", {})
        ]
        own = declared(app)
        return cls(
            app=app,
            pods=tuple(pod for namespace in app.namespaces for pod in cluster.list("pods", namespace)),
            volumes=tuple(local_volumes(app, cluster)),
            nodes=tuple(node["metadata"]["name"] for node in workers),
            node_memory=max((_memory(node) for node in workers), default=0),
            declared=own,
            made=dict(_made(app, cluster, own)),
            addresses=tuple(_addresses(app, cluster)),
            whole=None if app is world.app else world.app,
            machines=tuple(workers),
            room=_room(workers, cluster.list("pods")),
        )

    def manifest(self, resource: str, name: str, namespace: str) -> Manifest:
        """A manifest as the app declares it. Raises KeyError."""
        return self.declared[(resource, namespace, name)]

    def declares(self, component: Component) -> bool:
        """Whether the app itself declares the component's workload, and not an operator."""
        return _key(self.app, component) in self.declared

    def workload(self, component: Component) -> Manifest:
        """The workload of a component: as declared, or as an operator made it. Raises AppError."""
        found = self.declared.get(_key(self.app, component)) or self.made.get(component.name)
        if found is None:
            raise _no_workload(self.app, component)
        return found

    def called(self, component: str) -> str:
        """What a component of the application is called among all that is deployed."""
        if self.whole is None:
            return component
        _, namespace, name = self.app.workload_of(component)
        return self.whole.called(namespace, name)

    @cached_property
    def volume_of(self) -> Mapping[str, Volume]:
        """Volumes by component."""
        return {volume.component: volume for volume in self.volumes}


def template(workload: Manifest) -> Manifest:
    """The pod template of a workload, a CronJob's too."""
    spec = workload["spec"]
    found: Manifest = spec["jobTemplate"]["spec"]["template"] if "jobTemplate" in spec else spec["template"]
    return found


def declared(app: App) -> dict[ObjectKey, Manifest]:
    """An app's manifests by key. Raises AppError for a kind that neither Kubernetes nor the app defines."""
    custom = dict(_defined(app))
    found = {}
    for manifest in app.manifests:
        version, kind = manifest["apiVersion"], manifest["kind"]
        builtin = registry.by_kind(version, kind)
        key = custom.get((version.partition("/")[0], kind), "") if builtin is None else builtin.key
        metadata = manifest["metadata"]
        if not key:
            raise AppError(
                f"application {app.name}: {kind} {metadata['name']} is of {version}, which is no kind of Kubernetes; "
                "add its CustomResourceDefinition to the manifests, before the object"
            )
        found[(key, metadata.get("namespace", ""), metadata["name"])] = manifest
    return found


def _defined(app: App) -> Iterator[tuple[tuple[str, str], str]]:
    """((group, kind), resource key) of the kinds that an app defines."""
    for manifest in app.manifests:
        if manifest["kind"] == "CustomResourceDefinition":
            spec = manifest["spec"]
            yield (spec["group"], spec["names"]["kind"]), f"{spec['names']['plural']}.{spec['group']}"


def _key(app: App, component: Component) -> ObjectKey:
    return app.workload_of(component.name)


def _made(app: App, cluster: Cluster, own: Mapping[ObjectKey, Manifest]) -> Iterator[tuple[str, Manifest]]:
    for component in app.components:
        key = _key(app, component)
        if key not in own:
            try:
                yield component.name, cluster.get(component.workload, key[2], key[1])
            except StatusError as error:
                raise _no_workload(app, component) from error


def _no_workload(app: App, component: Component) -> AppError:
    return AppError(
        f"application {app.name}: component {component.name} has no workload {component.workload} in namespace "
        f"{app.namespace_of(component.name)}; declare it in the manifests under the component's name, or have an "
        "operator make it before the application is available"
    )


def _addresses(app: App, cluster: Cluster) -> Iterator[str]:
    for namespace in app.namespaces:
        for service in cluster.list("services", namespace):
            address = service["spec"].get("clusterIP", "None")
            if address not in ("", "None"):
                yield address


def local_volumes(app: App, cluster: Cluster) -> list[Volume]:
    """The volumes of an application's components, as they are bound now."""
    claims = {
        (namespace, claim["metadata"]["name"]): claim["spec"].get("volumeName", "")
        for namespace in app.namespaces
        for claim in cluster.list("persistentvolumeclaims", namespace)
    }
    holders = {volume["metadata"]["name"]: _node(volume) for volume in cluster.list("persistentvolumes")}
    found = []
    for component in app.components:
        bound = claims.get((app.namespace_of(component.name), component.volume), "")
        if component.volume and bound in holders:
            found.append(Volume(component.name, component.volume, bound, holders[bound]))
    return found


def _node(volume: Manifest) -> str:
    """The node to which a local volume's affinity binds it; empty for a volume that is reachable anywhere."""
    required = volume["spec"].get("nodeAffinity", {}).get("required", {})
    for term in required.get("nodeSelectorTerms", ()):
        for expression in term.get("matchExpressions", ()):
            if expression["key"] == "kubernetes.io/hostname" and expression["operator"] == "In":
                name: str = expression["values"][0]
                return name
    return ""


def _room(workers: Sequence[Manifest], pods: Sequence[Manifest]) -> dict[str, int]:
    """Memory of nodes that is left by the requests of their pods, bytes."""
    left = {node["metadata"]["name"]: bytes_(node["status"]["allocatable"]["memory"]) for node in workers}
    for pod in pods:
        node = pod["spec"].get("nodeName", "")
        if node in left and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed"):
            left[node] -= _requested(pod["spec"])
    return left


def _requested(spec: Manifest) -> int:
    """What a pod asks for: all containers together, or the largest init container where that is more."""
    asked, first = (
        [
            bytes_(((container.get("resources") or {}).get("requests") or {}).get("memory", "0"))
            for container in spec.get(kind) or ()
        ]
        for kind in ("containers", "initContainers")
    )
    return max(sum(asked), *first) if first else sum(asked)


def _memory(node: Manifest) -> int:
    return bytes_(node["status"]["capacity"]["memory"])
