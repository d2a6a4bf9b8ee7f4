"""What an on-call engineer can read of an application at one moment, object by object.

Everything is asked with the agent's own identity: whoever cannot see it with ``kubectl get`` does not see it here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sregym_env.cluster.api import World
from sregym_env.cluster.app import App, Component
from sregym_env.cluster.oncall import ONCALL
from sregym_env.cluster.targets import ROLLED
from sregym_env.kube.selectors import from_dict
from sregym_env.kube.types import Manifest

_Key = tuple[str, str]
"""(namespace, name)."""


def components_of(app: App) -> tuple[Component, ...]:
    """The components that a numeric view shows, in the application's order: those that serve."""
    return tuple(each for each in app.components if each.workload in ROLLED and each.kind != "load")


@dataclass(frozen=True, slots=True)
class Parts:
    """The objects of one component, as far as they exist."""

    component: Component
    namespace: str
    workload: Manifest | None
    pods: tuple[Manifest, ...]
    service: Manifest | None
    endpoints: Manifest | None
    policies: tuple[Manifest, ...]
    """Network policies that select its pods."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels by which its workload selects its pods; none where there is no workload."""
        if self.workload is None:
            return {}
        labels: Mapping[str, str] = self.workload["spec"]["selector"].get("matchLabels") or {}
        return labels

    @property
    def container(self) -> Manifest | None:
        """Its main container as the workload has it now."""
        if self.workload is None:
            return None
        containers: list[Manifest] = self.workload["spec"]["template"]["spec"]["containers"]
        named = (each for each in containers if each["name"] == self.component.container)
        return next(named, containers[0])

    @property
    def listening(self) -> Mapping[str | int, int]:
        """Ports that its containers declare, by number and by name."""
        if self.workload is None:
            return {}
        found: dict[str | int, int] = {}
        for container in self.workload["spec"]["template"]["spec"]["containers"]:
            for port in container.get("ports") or ():
                found[port["containerPort"]] = port["containerPort"]
                if port.get("name"):
                    found[port["name"]] = port["containerPort"]
        return found


@dataclass(frozen=True, slots=True)
class Scene:
    """An application's objects by component."""

    parts: Mapping[str, Parts]

    @classmethod
    def of(cls, world: World) -> Scene:
        """Read it. Costs no simulated time; on a real cluster, a few list calls for each namespace."""
        app, cluster = world.app, world.cluster.as_user(ONCALL)
        shown = components_of(app)
        kinds = sorted({component.workload for component in shown})
        listed: dict[str, dict[_Key, Manifest]] = {
            kind: _by_name(item for namespace in app.namespaces for item in cluster.list(kind, namespace))
            for kind in (*kinds, "services", "endpoints")
        }
        pods = {namespace: cluster.list("pods", namespace) for namespace in app.namespaces}
        policies = {
            namespace: cluster.list("networkpolicies.networking.k8s.io", namespace)
            for namespace in app.namespaces
        }
        parts = {}
        for component in shown:
            namespace = app.namespace_of(component.name)
            workload = listed[component.workload].get((namespace, component.workload_name))
            parts[component.name] = Parts(
                component,
                namespace,
                workload,
                _selected(workload, pods[namespace]),
                listed["services"].get((namespace, component.service)),
                listed["endpoints"].get((namespace, component.service)),
                _selecting(workload, policies[namespace]),
            )
        return cls(parts)


def _by_name(objects: Iterable[Manifest]) -> dict[_Key, Manifest]:
    return {(each["metadata"]["namespace"], each["metadata"]["name"]): each for each in objects}


def _labels(obj: Manifest) -> Mapping[str, str]:
    labels: Mapping[str, str] = obj.get("metadata", {}).get("labels") or {}
    return labels


def _selected(workload: Manifest | None, pods: Sequence[Manifest]) -> tuple[Manifest, ...]:
    if workload is None:
        return ()
    selector = from_dict(workload["spec"]["selector"])
    return tuple(pod for pod in pods if selector.matches(_labels(pod)))


def _selecting(workload: Manifest | None, policies: Sequence[Manifest]) -> tuple[Manifest, ...]:
    if workload is None or not policies:
        return ()
    labels = _labels(workload["spec"]["template"])
    return tuple(each for each in policies if from_dict(each["spec"].get("podSelector")).matches(labels))
