"""What the kubelet asks of the container runtime (processes that start, end and are looked into) and of the network.

The kubelet calls nothing of programs, processes and connections but these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from sregym_env.cluster.app import Image
from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.types import Manifest
from sregym_env.sim.network import addressing
from sregym_env.sim.processes import exchange, lifecycle
from sregym_env.sim.processes.context import let_settle
from sregym_env.sim.programs import exec as container_exec
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.inquiry import Read
from sregym_env.sim.world.process import Process, ProcessKey
from sregym_env.sim.world.program import HttpRequest

T = TypeVar("T")


def noted(world: SimWorld, find: Callable[[], T]) -> tuple[T, tuple[Read, ...], bool]:
    """What ``find`` finds out, what that follows from (nothing where it could be otherwise the next time), and whether chance had a part
    in it."""
    with addressing.inquiring(world) as inquiry:
        found = find()
    for entry in inquiry.settling:
        let_settle(world, entry)
    reads = () if inquiry.fleeting or inquiry.settling else tuple(inquiry.reads.values())
    return found, reads, inquiry.chanced


def holds(world: SimWorld, reads: tuple[Read, ...]) -> bool:
    """Whether that still says the same."""
    return addressing.holds(world, reads)


def standing(world: SimWorld) -> addressing.Standing:
    """What many probes follow from, looked at together."""
    return addressing.Standing(world)


def executable(world: SimWorld, image: Image, argv0: str) -> tuple[str, str] | None:
    """(binary, program) that ``argv0`` names in an image, or None."""
    return lifecycle.executable(world, image, argv0)


def past_entrypoint(world: SimWorld, image: Image, argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command line without an entrypoint script that only hands over to it."""
    return lifecycle.past_entrypoint(world, image, argv)


def start(world: SimWorld, process: Process) -> None:
    """Let a main process begin."""
    lifecycle.start(world, process)


def terminate(world: SimWorld, key: ProcessKey) -> tuple[float, int]:
    """Send SIGTERM: seconds until the process exits by itself, and its exit code."""
    return lifecycle.terminate(world, key)


def execute(world: SimWorld, pod: Manifest, container: str, argv: Sequence[str]) -> ExecResult:
    """Run a command in a running container, as exec probes and hooks do."""
    return container_exec.run(world, pod, container, list(argv), "")


def probe(
    world: SimWorld,
    node: str,
    host: str,
    port: int,
    kind: Literal["tcp", "http", "grpc"],
    *,
    scheme: str = "http",
    request: HttpRequest | None = None,
    service: str = "",
    timeout: float = 1.0,
) -> tuple[bool, str]:
    """Probe a port from a node: whether it answered well, and what a failed probe says."""
    if kind == "tcp":
        text = exchange.probe_tcp(world, node, host, port, timeout)
        return not text, text
    if kind == "grpc":
        return exchange.probe_grpc(world, node, host, port, timeout, service)
    asked = request or HttpRequest("GET", "/")
    status, text = exchange.probe_http(world, node, host, port, asked.path, asked.headers, timeout, scheme)
    if status:
        return 200 <= status < 400, f"HTTP probe failed with statuscode: {status}"
    return False, f'Get "{scheme}://{host}:{port}{asked.path}": {text}'
