"""A login on a machine: its shell as root, with systemd behind it, its files and what looks at its kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sregym_env.cluster.streams import LONGEST_COMMAND, ExecResult
from sregym_env.runtime import bulk
from sregym_env.runtime.streams import keyed_bits
from sregym_env.shell.files import LateFiles
from sregym_env.shell.shell import Shell, ShellCommand
from sregym_env.sim.containers import node_files
from sregym_env.sim.network import addressing
from sregym_env.sim.programs import consoles, toolbox, visits
from sregym_env.sim.programs.machine import (
    daemons,
    disk_space,
    kubelet_unit,
    units,
)
from sregym_env.sim.programs.machine.system import SYSTEM, OnMachine
from sregym_env.sim.programs.visits import Visit
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Mount, Process

UNREACHED = 3.0
"""Seconds until the network says that a machine does not answer."""


class _Stay(Visit):
    """A command on a machine while it runs: it ends with the machine."""

    __slots__ = ()

    def _look_again(self) -> None:
        if kubelet_unit.off(self.ctx.world, self.ctx.process.node):
            self._end(visits.GONE)


def run(
    world: SimWorld,
    node: str,
    command: str,
    stdin: str = "",
    *,
    advance: Callable[[float], None] | None = None,
    limit: float = LONGEST_COMMAND,
) -> ExecResult:
    """Run a command line in a login shell of a machine, or what comes in on ``stdin`` where there is none.

    As ``ssh`` says it where the machine does not answer, with exit code 255. ``advance`` lets the world's time pass while it waits.
    """
    if kubelet_unit.off(world, node) or not addressing.reachable_machine(world, node):
        text = f"ssh: connect to host {node} port 22: No route to host\n"
        return ExecResult(stderr=text, exit_code=255, seconds=UNREACHED)
    ctx = OnMachine(world, _process(world, node))
    visit = _Stay(ctx, advance, min(limit, LONGEST_COMMAND))
    shell = _shell(visit)
    # What is typed into a login without a command is read as a script.
    words = ["bash", "-c", command] if command else ["bash", "-s"]
    result = visit.after(shell.call(words, stdin))
    if visit.code == visits.GONE:
        closed = f"Connection to {node} closed by remote host.\n"
        return ExecResult(result.stdout, result.stderr + closed, 255, seconds=result.seconds)
    if command:
        chunks = tuple(
            (stream, text if stream == 1 else consoles.in_line_one(text, command))
            for stream, text in result.chunks
        )
        result = replace(result, stderr=consoles.in_line_one(result.stderr, command), chunks=chunks)
    complaints = toolbox.save_machine(ctx, shell)
    return result.then(complaints, result.exit_code) if complaints else result


def _process(world: SimWorld, node: str) -> Process:
    return Process(
        key=(f"machine/{node}", "sshd"),
        namespace="",
        pod=node,
        container="sshd",
        node=node,
        ip=addressing.node_address(world, node),
        host_network=True,
        hostname=node,
        image=SYSTEM.reference,
        binary="sshd",
        program="",
        argv=("sshd: root@pts/0",),
        env={},
        mounts=(Mount("/", "root", "hostpath", "/"),),
        cpu_limit=None,
        memory_limit=None,
        restart=0,
        started_at=world.clock,
    )


def _shell(visit: Visit) -> Shell:
    ctx = visit.ctx
    world, node = ctx.world, ctx.process.node
    own: dict[str, ShellCommand] = {
        **toolbox.on_machine(visit),
        **units.own(visit),
        "sudo": _sudo,
        "ps": partial(_ps, visit),
        "df": partial(_df, visit),
    }
    return Shell(
        LateFiles(partial(toolbox.lay_machine, ctx), mtime=visit.wall),
        own,
        env={**toolbox.environment(ctx), "HOME": "/root", "USER": "root"},
        cwd="/root",
        only=toolbox.TEXT_TOOLS["debian"],
        seed=keyed_bits(world.streams.seed, world.clock, node),
        name="bash",
        clock=lambda: visit.wall,
    )


def _df(visit: Visit, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``df``, after what this login has removed so far."""
    world, node = visit.ctx.world, visit.ctx.process.node
    for path, text in list(node_files.present(world, node).items()):
        if bulk.counted(text) and shell.files.bytes_of(f"/{path}") is None:
            node_files.put(world, node, path, None)
    return disk_space.df(visit.ctx, argv, stdin, shell)


def _sudo(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``sudo`` of who is root already."""
    words = list(argv[1:])
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in ("-u", "-g") and words:
            words.pop(0)
        elif option in ("-i", "-s") and not words:
            return shell.call(["bash", "-s"], stdin)
    if not words:
        return ExecResult(stderr="usage: sudo -h | -K | -k | -V\n", exit_code=1)
    if not shell.has(words[0]):
        return ExecResult(stderr=f"sudo: {words[0]}: command not found\n", exit_code=1)
    return shell.call(words, stdin)


def _ps(visit: Visit, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``ps``: the daemons, and the main processes of the containers."""
    ctx = visit.ctx
    others = toolbox.visible_processes(ctx)
    own = max((pid for pid, _ in others), default=2000) + 17
    rows = [*daemons.rows(ctx), *toolbox.process_rows(ctx, own, argv, parent=1)]
    return toolbox.list_processes(ctx, argv, rows)
