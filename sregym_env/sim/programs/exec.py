"""``kubectl exec``: a command in a running container, with that image's commands, files and network."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sregym_env.cluster.streams import LONGEST_COMMAND, ExecResult
from sregym_env.kube.types import Manifest
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.containers import pids
from sregym_env.sim.processes import lifecycle
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import consoles, toolbox, visits
from sregym_env.sim.programs.consoles import Console, Turn
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import ProcessKey

NOT_RUNNING = 126
NOT_FOUND = 127


def begin(world: SimWorld, pod: Manifest, container: str, argv: Sequence[str], *, tty: bool) -> Turn:
    """Start ``argv`` with its standard input open; :func:`go_on` gives it input."""
    key = (pod["metadata"]["uid"], container)
    process = world.processes.get(key)
    refused = None if process is None else _not_found(world, ProcessContext(world, process), argv)
    if process is None or refused is not None or pids.full(world, process.node):
        result = refused or run(world, pod, container, argv)
        return Turn(None, result.stdout, result.stderr, result.exit_code, result.seconds)
    ctx = ProcessContext(world, process)
    ctx.on_terminal = tty
    return consoles.begin(ctx, argv, tty=tty)


def go_on(
    world: SimWorld, key: ProcessKey, restart: int, console: Console, data: str, *, end: bool
) -> Turn | None:
    """What comes of more input; None where the container has ended meanwhile."""
    process = world.processes.get(key)
    if process is None or process.restart != restart:
        return None
    ctx = ProcessContext(world, process)
    ctx.on_terminal = console.tty
    turn = consoles.feed(ctx, console, data) if data else Turn(console)
    if end and turn.console is not None:
        last = consoles.close(ctx, turn.console)
        turn = Turn(
            last.console,
            turn.stdout + last.stdout,
            turn.stderr + last.stderr,
            last.exit_code,
            turn.seconds + last.seconds,
        )
    return turn


def _not_found(world: SimWorld, ctx: ProcessContext, argv: Sequence[str]) -> ExecResult | None:
    """The runtime's refusal to start a command that is not there."""
    if (
        toolbox.container_shell(ctx).has(argv[0])
        or lifecycle.executable(world, ctx.image, argv[0]) is not None
    ):
        return None
    return ExecResult(stderr=_oci(world, argv[0]), exit_code=NOT_FOUND)


def run(
    world: SimWorld,
    pod: Manifest,
    container: str,
    argv: Sequence[str],
    stdin: str = "",
    *,
    advance: Callable[[float], None] | None = None,
    limit: float = LONGEST_COMMAND,
) -> ExecResult:
    """Run ``argv`` in a container of ``pod``; for at most ``limit`` seconds, after which it is cut off with exit code 124.

    ``advance`` lets the world's time pass while it waits. Without it the time stands still, and the result says how
    many ``seconds`` it took. A missing executable is answered with the OCI runtime's text and exit code 127, a container without a
    running process with exit code 126.
    """
    metadata = pod["metadata"]
    process = world.processes.get((metadata["uid"], container))
    if process is None:
        return ExecResult(
            stderr=f'error: Internal error occurred: unable to upgrade connection: container not found ("{container}")\n',
            exit_code=NOT_RUNNING,
        )
    if not argv:
        return ExecResult(
            stderr="error: you must specify at least one command for the container\n", exit_code=1
        )
    if pids.full(world, process.node):
        return ExecResult(stderr=_no_process(world), exit_code=NOT_RUNNING)
    ctx = ProcessContext(world, process)
    visit = visits.Visit(ctx, advance, limit)
    shell = toolbox.container_shell(ctx, visit=visit)
    name = argv[0]
    if not shell.has(name):
        image = ctx.image
        if lifecycle.executable(world, image, name) is None:
            return ExecResult(stderr=_oci(world, name), exit_code=NOT_FOUND)
        if name in image.files:
            argv = ["sh", *argv]
        else:
            # The binary of the server that runs here: a second one finds its port taken.
            text = f"{name}: listen tcp: bind: address already in use\n"
            return ExecResult(stderr=text, exit_code=1)
    failed = _unreadable(ctx, argv)
    if failed:
        return ExecResult(stderr=failed, exit_code=1)
    result = consoles.in_name(ctx, argv, visit.after(shell.call(list(argv), stdin)))
    if visit.code == visits.GONE:
        return result
    complaints = toolbox.save(visit.ctx, shell)
    if complaints:
        return result.then(complaints, result.exit_code or 1)
    return result


def _unreadable(ctx: ProcessContext, argv: Sequence[str]) -> str:
    """The complaint of a command that meets a failing disk in one of the files it was given."""
    words = argv[1:]
    if argv[0].rpartition("/")[2] in ("sh", "bash"):
        words = " ".join(argv[1:]).replace(";", " ").split()
    for word in words:
        if word.startswith("/"):
            fraction = ctx.disk_failing(word)
            if fraction and ctx.chance("disk") < fraction:
                return f"{argv[0]}: {word}: Input/output error\n"
    return ""


def _oci(world: SimWorld, name: str) -> str:
    """What the container runtime says about an executable that is not there."""
    where = "executable file not found in $PATH"
    if "/" in name:
        where = f"stat {name}: no such file or directory"
    return _refusal(world, name, f'exec: "{name}": {where}')


def _no_process(world: SimWorld) -> str:
    """What the container runtime says on a machine that has no process left."""
    why = "error starting setns process: fork/exec /proc/self/fd/6: resource temporarily unavailable"
    return _refusal(world, "", why)


def _refusal(world: SimWorld, name: str, why: str) -> str:
    # Not drawn: a mistyped command must not change what happens later.
    identity = "".join(f"{keyed_bits(world.clock, name, part):016x}" for part in range(4))
    return (
        "error: Internal error occurred: Internal error occurred: error executing command in container: failed to "
        f'exec in container: failed to start exec "{identity}": OCI runtime exec failed: exec failed: unable to '
        f"start container process: {why}: unknown\n"
    )
