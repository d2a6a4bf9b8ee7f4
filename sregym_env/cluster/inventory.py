"""The inventory: what an application consists of and where it runs, as faults and oracles look it up.

The declared part (workloads, Services, volume claims, ConfigMaps) comes from the app's manifests, the rest
(pods, volumes, nodes) from the living cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sregym_env.cluster.api import Cluster, World
from sregym_env.cluster.app import App, Component
from sregym_env.kube import registry
from sregym_env.kube.quantity import bytes_
from sregym_env.kube.types import Manifest

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
"""The label and taint key of control plane nodes."""


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
    declared: Mapping[tuple[str, str], Manifest]
    """The app's own manifests by (resource key, name)."""

    @classmethod
    def of(cls, world: World) -> Inventory:
        """The inventory of a healthy world."""
        app, cluster = world.app, world.cluster
        workers = [
            node for node in cluster.list("nodes") if CONTROL_PLANE not in node["metadata"].get("labels", {})
        ]
        return cls(
            app=app,
            pods=tuple(cluster.list("pods", app.namespace)),
            volumes=tuple(_volumes(app, cluster)),
            nodes=tuple(node["metadata"]["name"] for node in workers),
            node_memory=max((_memory(node) for node in workers), default=0),
            declared=declared(app),
        )

    def manifest(self, resource: str, name: str) -> Manifest:
        """A manifest as the app declares it. Raises KeyError."""
        return self.declared[(resource, name)]

    def workload(self, component: Component) -> Manifest:
        """The declared workload of a component."""
        return self.declared[(component.workload, component.name)]

    @cached_property
    def volume_of(self) -> Mapping[str, Volume]:
        """Volumes by component."""
        return {volume.component: volume for volume in self.volumes}


def declared(app: App) -> dict[tuple[str, str], Manifest]:
    """An app's manifests by (resource key, name)."""
    found = {}
    for manifest in app.manifests:
        resource = registry.by_kind(manifest["apiVersion"], manifest["kind"])
        assert resource is not None, manifest["kind"]
        found[(resource.key, manifest["metadata"]["name"])] = manifest
    return found


def _volumes(app: App, cluster: Cluster) -> list[Volume]:
    claims = {
        claim["metadata"]["name"]: claim["spec"].get("volumeName", "")
        for claim in cluster.list("persistentvolumeclaims", app.namespace)
    }
    holders = {volume["metadata"]["name"]: _node(volume) for volume in cluster.list("persistentvolumes")}
    return [
        Volume(component.name, component.volume, claims[component.volume], holders[claims[component.volume]])
        for component in app.components
        if component.volume and claims.get(component.volume, "") in holders
    ]


def _node(volume: Manifest) -> str:
    """The node to which a local volume's affinity binds it; empty for a volume that is reachable anywhere."""
    required = volume["spec"].get("nodeAffinity", {}).get("required", {})
    for term in required.get("nodeSelectorTerms", ()):
        for expression in term.get("matchExpressions", ()):
            if expression["key"] == "kubernetes.io/hostname" and expression["operator"] == "In":
                name: str = expression["values"][0]
                return name
    return ""


def _memory(node: Manifest) -> int:
    return bytes_(node["status"]["capacity"]["memory"])
