"""A control plane without scheduler and kubelet, and a stand-in for both that the tests play by hand."""

from __future__ import annotations

from typing import Any

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import EPOCH
from sregym_env.sim import apiserver
from sregym_env.sim.bringup import assembly
from sregym_env.sim.controllers.daemonset import target_node
from sregym_env.sim.world import Machinery, SimWorld

MACHINERY = Machinery.of(
    tuple(loop for loop in assembly.CONTROLLERS if loop.name not in ("scheduler", "kubelet", "dns")),
    {"traffic": lambda world: world.memory.pop("traffic.due", None)},
)


def cluster(*nodes: str) -> SimWorld:
    """A world with the namespace ``default`` and some ready nodes."""
    world = SimWorld(1, start=EPOCH, machinery=MACHINERY, images={})
    create(world, "namespaces", "default")
    for node in nodes:
        add_node(world, node)
    world.settle()
    return world


def add_node(world: SimWorld, name: str, **spec: Any) -> None:
    node = {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}, "spec": spec}
    apiserver.create(world, "nodes", {"apiVersion": "v1", "kind": "Node", **node})
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
    ready["lastTransitionTime"] = rfc3339(world.now())
    apiserver.update_status(world, "nodes", "", name, {"conditions": [ready]})


def create(world: SimWorld, resource: str, name: str, spec: Any = None, **more: Any) -> Any:
    """Create an object in ``default`` (or no namespace at all)."""
    kind = apiserver.resource_of(world, resource)
    metadata = {"name": name, **more.pop("metadata", {})}
    if kind.namespaced:
        metadata.setdefault("namespace", "default")
    obj = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **more}
    if spec is not None:
        obj["spec"] = spec
    return apiserver.create(world, resource, obj)


def template(app: str = "web", image: str = "nginx:1.27", **spec: Any) -> dict[str, Any]:
    container: dict[str, Any] = {"name": "c", "image": image, **spec.pop("container", {})}
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container], **spec}}


def workload(app: str = "web", image: str = "nginx:1.27", **spec: Any) -> dict[str, Any]:
    """The spec of a Deployment-like object."""
    made = {"selector": {"matchLabels": {"app": app}}, "template": template(app, image)}
    return {**made, **spec}


def change(world: SimWorld, resource: str, name: str, **spec: Any) -> Any:
    """Set fields of an object's spec."""
    found = get(world, resource, name)
    return apiserver.update(world, resource, {**found, "spec": {**found["spec"], **spec}})


def get(world: SimWorld, resource: str, name: str) -> Any:
    found = world.store.get(resource, "default", name) or world.store.get(resource, "", name)
    assert found is not None, f"{resource} {name}"
    return found


def names(world: SimWorld, resource: str, namespace: str | None = "default") -> list[str]:
    return [obj["metadata"]["name"] for obj in world.store.list(resource, namespace)]


def pods(world: SimWorld, **labels: str) -> list[Any]:
    return [
        pod
        for pod in world.store.list("pods", "default")
        if all(pod["metadata"].get("labels", {}).get(k) == v for k, v in labels.items())
    ]


def said(world: SimWorld, reason: str) -> list[str]:
    """Messages of the events with that reason."""
    return [event["message"] for event in world.store.list("events") if event["reason"] == reason]


def set_phase(
    world: SimWorld, pod: Any, phase: str, *, ready: bool = False, ip: str = "", **more: Any
) -> None:
    status = {**(pod.get("status") or {}), "phase": phase, **more}
    status["startTime"] = rfc3339(world.now())
    verdict = "True" if ready else "False"
    status["conditions"] = [{"type": "Ready", "status": verdict, "lastTransitionTime": rfc3339(world.now())}]
    if ip:
        status["podIP"] = ip
    metadata = pod["metadata"]
    apiserver.update_status(world, "pods", metadata["namespace"], metadata["name"], status)


def place(world: SimWorld, pod: Any, node: str) -> Any:
    return world.store.put("pods", {**pod, "spec": {**pod["spec"], "nodeName": node}})


def kubelet(world: SimWorld, *, ready: bool = True) -> bool:
    """Start every waiting pod and finish every deletion; whether there was anything to do."""
    acted = False
    for index, pod in enumerate(list(world.store.list("pods"))):
        metadata = pod["metadata"]
        if "deletionTimestamp" in metadata:
            apiserver.finalize_delete(world, "pods", metadata["namespace"], metadata["name"])
            acted = acted or not metadata.get("finalizers")
        elif pod["status"]["phase"] == "Pending":
            if not pod["spec"].get("nodeName"):
                pod = place(world, pod, target_node(pod) or "n1")
            set_phase(world, pod, "Running", ready=ready, ip=f"10.244.1.{index + 1}")
            acted = True
    return acted


def run(world: SimWorld, *, ready: bool = True) -> None:
    """Let controllers and the stand-in kubelet work until nothing changes."""
    for _ in range(50):
        world.settle()
        if not kubelet(world, ready=ready):
            return
    raise AssertionError("the cluster does not come to rest")
