"""Starts, wakes and ends processes: between the kubelet, the event queue and the programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.cluster.app import Image
from sregym_env.cluster.disturbances import DiskCorruption, DiskReadErrors, Disturbance
from sregym_env.sim.containers import pids
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.world import Handler, SimWorld
from sregym_env.sim.world.logs import Line
from sregym_env.sim.world.process import Process, ProcessKey

_BINS = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/")


def executable(world: SimWorld, image: Image, argv0: str) -> tuple[str, str] | None:
    """(binary, program) that ``argv0`` names in an image, or None where runc would find no executable."""
    name = argv0
    if name not in image.binaries:
        for prefix in _BINS:
            if argv0.startswith(prefix):
                name = argv0[len(prefix) :]
                break
        else:
            name = argv0.removeprefix("./")
    if name in image.binaries:
        return name, image.binaries[name].program
    if argv0 in image.files:
        return argv0, "shell"
    for other in sorted({binary.program for binary in image.binaries.values()}):
        if name in world.programs[other].commands:
            return name, "applet"
    program = world.toolboxes[image.toolbox].get(name)
    return None if program is None else (name, program)


def past_entrypoint(world: SimWorld, image: Image, argv: tuple[str, ...]) -> tuple[str, ...]:
    """What an image's entrypoint script puts in its own place where it is given another command than the server.

    So does ``busybox`` with the command it is given.
    """
    if len(argv) > 1 and image.toolbox == "busybox" and argv[0] in ("busybox", "/bin/busybox"):
        return argv[1:]
    if len(argv) < 2 or not argv[0].endswith("docker-entrypoint.sh") or argv[1].startswith("-"):
        return argv
    server, asked = executable(world, image, argv[0]), executable(world, image, argv[1])
    return argv if asked is None or server is None or asked[1] == server[1] else argv[1:]


def start(world: SimWorld, process: Process) -> None:
    """Let a main process begin its run."""
    world.put_process(process)
    ctx = ProcessContext(world, process)
    most = pids.allowed(world, process.key[0])
    if most and pids.own(process) > most:
        _without_threads(ctx)
        return
    world.programs[process.program].start(ctx)


def _without_threads(ctx: ProcessContext) -> None:
    """What programs say whose pod may not have the threads that they need: Go's runtime in an image that holds nothing but its
    program, else the C library's."""
    if ctx.image.toolbox == "none":
        ctx.log("runtime: failed to create new OS thread (have 4 already; errno=11)")
        ctx.log("runtime: may need to increase max user processes (ulimit -u)")
        ctx.log("fatal error: newosproc")
        ctx.exit(2)
        return
    ctx.log("pthread_create: Resource temporarily unavailable")
    ctx.exit(1)


def terminate(world: SimWorld, key: ProcessKey) -> tuple[float, int]:
    """Send SIGTERM: seconds until the process exits by itself, and its exit code."""
    process = world.processes.get(key)
    if process is None:
        return 0.0, 0
    answer: tuple[float, int] = world.programs[process.program].terminate(ProcessContext(world, process))
    return answer


def disturbed(world: SimWorld, disturbance: Disturbance) -> None:
    """Tell the programs whose disk begins to fail or to lie; other disturbances show by themselves."""
    if not isinstance(disturbance, DiskReadErrors | DiskCorruption):
        return
    for process in list(world.processes.values()):
        if process.node == disturbance.node and any(mount.kind == "pvc" for mount in process.mounts):
            world.programs[process.program].wake(ProcessContext(world, process), "disk")


def live_lines(world: SimWorld, key: ProcessKey, *, since: int = 0, limit: int | None = None) -> list[Line]:
    """Log lines that a running program prints at a steady pace and that are rendered only when read.

    They come after everything in the container's stored log, oldest first.
    """
    process = world.processes.get(key)
    render = None if process is None else getattr(world.programs[process.program], "lines", None)
    if process is None or render is None:
        return []
    lines: list[Line] = render(ProcessContext(world, process), since, limit)
    return lines


def _wake(world: SimWorld, key: ProcessKey, restart: int, reason: str) -> None:
    process = world.processes.get(key)
    if process is not None and process.restart == restart:
        world.programs[process.program].wake(ProcessContext(world, process), reason)


def _settle(world: SimWorld) -> None:
    for key, restart, items in world.memory.pop("program.settle", ()):
        process = world.processes.get(key)
        if process is None or process.restart != restart:
            continue
        for name, value in items:
            _remember(ProcessContext(world, world.processes[key]), name, value)


def _remember(ctx: ProcessContext, name: str, value: Any) -> None:
    """Have a process remember what requests have left."""
    if not name:
        ctx.world.programs[ctx.process.program].learned(ctx, value)
        return
    outer, dot, inner = name.partition(".")
    ctx.update(**{outer: {**ctx.process.state.get(outer, {}), inner: value} if dot else value})


HANDLERS: Mapping[str, Handler] = {
    "program.wake": _wake,
    "program.settle": _settle,
}
