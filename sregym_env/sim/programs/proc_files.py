"""What /proc says of every process that is seen, beside the first one of a container."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial

from sregym_env.shell.files import Files
from sregym_env.sim.containers.accounts import runs_as
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import children
from sregym_env.sim.programs.machine import daemons, kernel_files
from sregym_env.sim.programs.process_list import Row
from sregym_env.sim.world.figures import ContainerFigures
from sregym_env.sim.world.process import Process

Figures = Callable[[ProcessContext], ContainerFigures]


def lay(
    ctx: ProcessContext,
    tree: Files,
    root: str,
    seen: Iterable[tuple[int, Process]],
    figures: Figures,
    command: Callable[[Process], list[str]],
    environment: Callable[[ProcessContext], Mapping[str, str]],
    descriptors: Callable[[Process], Iterable[str]],
    *,
    machine: bool,
) -> None:
    """Put the directories of these processes below ``root``, and of the machine's daemons where it is the machine's /proc."""
    late: dict[str, Callable[[], str]] = {}
    links: list[tuple[str, str]] = []
    for pid, process in seen:
        late.update(_of_children(ctx, root, pid, process))
        if pid == 1:
            # Of a container's first one the kernel's files are there already.
            continue
        own = ProcessContext(ctx.world, process)
        scope = kernel_files.scope_of(ctx.world, process) if machine else ""
        words = command(process)
        place = f"{root}/{pid}"
        of_one: dict[str, Callable[[], str]] = {
            **kernel_files.of_process(
                partial(figures, own),
                process,
                pid,
                int(machine),
                scope,
                partial(children.threads, ctx.world, process),
                _comm(process, words).rstrip(),
                runs_as(ctx.world, process),
            ),
            "cmdline": partial(cmdline, process, words),
            "comm": partial(_comm, process, words),
            "environ": partial(_environ, environment, own),
            "oom_score_adj": partial(kernel_files.oom_score_adj, ctx.world, process),
        }
        late.update({f"{place}/{name}": text for name, text in of_one.items()})
        links += [(f"{place}/fd/{number}", target) for number, target in enumerate(descriptors(process))]
    if machine:
        for pid, name in daemons.running(ctx):
            late[f"{root}/{pid}/cmdline"] = partial(_of_daemon, ctx, pid, "cmdline")
            late[f"{root}/{pid}/status"] = partial(_of_daemon, ctx, pid, "status")
            late[f"{root}/{pid}/limits"] = kernel_files.limits_of_daemon
            late[f"{root}/{pid}/comm"] = partial(_named, name)
    tree.add_late(late)
    # Nobody is kept from his shell by files that leave no room for a few more.
    with suppress(OSError):
        for path, target in links:
            tree.put_link(path, target)


def _of_children(ctx: ProcessContext, root: str, pid: int, process: Process) -> dict[str, Callable[[], str]]:
    late: dict[str, Callable[[], str]] = {}
    for child in children.of(ctx.world, process):
        below = f"{root}/{pid + child.number}"
        row = Row(
            pid + child.number, pid, 0, child.command, child.name, threads=child.threads, uid=child.runs.uid
        )
        late[f"{below}/cmdline"] = partial(_said, child.command)
        late[f"{below}/comm"] = partial(_named, child.name)
        late[f"{below}/status"] = partial(kernel_files.status_of, row)
    return late


def cmdline(process: Process, words: list[str]) -> str:
    """/proc/PID/cmdline of a process that was started with these words."""
    told = children.title(process, words)
    # Who sets his own title writes it over his words as one.
    return "\0".join(words) + "\0" if told == " ".join(words) else told + "\0"


def _comm(process: Process, words: list[str]) -> str:
    name = words[0].rpartition("/")[2] if words else ""
    return _named(children.name_of(process, name))


def _said(text: str) -> str:
    return f"{text}\0"


def _named(name: str) -> str:
    return f"{name[:15]}\n"


def _environ(environment: Callable[[ProcessContext], Mapping[str, str]], ctx: ProcessContext) -> str:
    return "".join(f"{name}={value}\0" for name, value in environment(ctx).items())


def _of_daemon(ctx: ProcessContext, pid: int, what: str) -> str:
    row = next((each for each in daemons.rows(ctx) if each.pid == pid), None)
    if row is None:
        return ""
    return "\0".join(row.command.split(" ")) + "\0" if what == "cmdline" else kernel_files.status_of(row)
