"""A small cluster for tests of scheduler and kubelet: real nodes and API, simple processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sregym_env.cluster.app import Binary, Image
from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import EPOCH
from sregym_env.sim import apiserver, scheduler
from sregym_env.sim.machines import kubelet, nodes
from sregym_env.sim.machines.kubelet import runtime
from sregym_env.sim.world import Machinery, SimWorld
from sregym_env.sim.world.process import Process

IMAGES = {
    image.reference: image
    for image in (
        Image("app:1", 50_000_000, {"app": Binary("app")}, entrypoint=("app",)),
        Image("app:2", 50_000_000, {"app": Binary("app")}, entrypoint=("app",)),
    )
}


def _traffic(world: SimWorld) -> None:
    world.memory.pop("traffic.due", None)


MACHINERY = Machinery.of(
    (scheduler.CONTROLLER, kubelet.CONTROLLER, kubelet.PROBER), {**kubelet.HANDLERS, "traffic": _traffic}
)


class Behaviour:
    """What the processes of a test do; tests change its fields."""

    def __init__(self) -> None:
        self.started: list[Process] = []
        self.on_start: Callable[[SimWorld, Process], None] = lambda world, process: None
        self.sigterm: tuple[float, int] = (0.0, 0)
        self.probe: tuple[bool, str] = (True, "")
        self.probes = 0
        self.command = ExecResult("", "", 0)


@pytest.fixture
def behaviour(monkeypatch: pytest.MonkeyPatch) -> Behaviour:
    """Replace programs and network by something a test controls."""
    made = Behaviour()

    def start(world: SimWorld, process: Process) -> None:
        world.put_process(process)
        made.started.append(process)
        made.on_start(world, process)

    def probe(world: SimWorld, *_: Any, **__: Any) -> tuple[bool, str]:
        made.probes += 1
        # What a test says follows from nothing that anybody notes.
        if world.inquiry is not None:
            world.inquiry.fleeting = True
        return made.probe

    def executable(_: SimWorld, image: Image, argv0: str) -> tuple[str, str] | None:
        return (argv0, "app") if argv0 in image.binaries else None

    monkeypatch.setattr(runtime, "start", start)
    monkeypatch.setattr(runtime, "executable", executable)
    monkeypatch.setattr(runtime, "terminate", lambda world, key: made.sigterm)
    monkeypatch.setattr(runtime, "probe", probe)
    monkeypatch.setattr(runtime, "execute", lambda world, pod, container, argv: made.command)
    return made


def new_world(images: dict[str, Image] | None = None) -> SimWorld:
    """Four nodes, two namespaces, no workloads."""
    world = SimWorld(0, start=EPOCH, machinery=MACHINERY, images=IMAGES if images is None else images)
    for name in ("default", "kube-node-lease"):
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        apiserver.create(world, "namespaces", namespace)
        account = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "default", "namespace": name},
        }
        apiserver.create(world, "serviceaccounts", account)
    for machine in nodes.MACHINES:
        nodes.create(world, machine)
    return world


def pod(name: str = "web", container: dict[str, Any] | None = None, **spec: Any) -> Manifest:
    """A pod with one container of image ``app:1``."""
    first = {"name": "main", "image": "app:1", **(container or {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [first], "automountServiceAccountToken": False, **spec},
    }


def create(world: SimWorld, manifest: Manifest) -> Manifest:
    """Create a pod."""
    return apiserver.create(world, "pods", manifest)


def get(world: SimWorld, name: str = "web") -> Manifest:
    """A pod as it is now."""
    found = world.store.get("pods", "default", name)
    assert found is not None
    return found


def state(world: SimWorld, name: str = "web", container: int = 0) -> dict[str, Any]:
    """A container's status."""
    found: dict[str, Any] = get(world, name)["status"]["containerStatuses"][container]
    return found


def condition(obj: Manifest, type: str) -> dict[str, Any]:
    """A condition of an object."""
    return next(c for c in obj["status"]["conditions"] if c["type"] == type)


def events(world: SimWorld, reason: str = "") -> list[str]:
    """Messages of events, in time order."""
    found = [e for e in world.store.list("events") if not reason or e["reason"] == reason]
    found.sort(key=lambda e: (e["firstTimestamp"], int(e["metadata"]["resourceVersion"])))
    return [e["message"] for e in found]
