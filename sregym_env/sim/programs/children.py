"""Processes that a container's first one starts and keeps: the workers of nginx, the background processes of PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from sregym_env.kube import quantity
from sregym_env.runtime.numbers import whole
from sregym_env.sim.containers import pids
from sregym_env.sim.containers.accounts import Account, runs_as
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.process_list import Row
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Process

MOST = 128
"""Workers of one server that are counted."""


class Child(NamedTuple):
    """One of them."""

    number: int
    """How far its process number is behind that of the first one."""
    command: str
    name: str
    runs: Account
    """As whom."""
    threads: int
    since: int = 0
    """When it was started; 0: with the first one."""
    resident: int = 0
    """Its memory; 0: a share of what the container takes."""
    state: str = ""


class _Kind(NamedTuple):
    config: str
    usual: str
    runs: Account


_NGINX = {
    "nginx": _Kind("/etc/nginx/nginx.conf", "auto", Account(101, 101, "nginx", "nginx")),
    "openresty": _Kind(
        "/usr/local/openresty/nginx/conf/nginx.conf", "1", Account(65534, 65534, "nobody", "nogroup")
    ),
}
"""Where each looks for its configuration, how many workers that of its image asks for, and as whom they run."""
_SETTING = re.compile(r"^\s*worker_processes\s+(\w+)\s*;", re.MULTILINE)
_BESIDE, _BEHIND_SCRIPTS = 6, 28
"""How far the first one's number is behind that of a server, and of one that scripts have started."""


def _binary(process: Process) -> str:
    return process.binary.rpartition("/")[2]


def title(process: Process, words: list[str]) -> str:
    """The command line of a process as it has set it itself."""
    if _binary(process) in _NGINX and words:
        own = "nginx" if words[0].rpartition("/")[2] in _NGINX else words[0]
        return f"nginx: master process {' '.join((own, *words[1:]))}"
    return " ".join(words)


def name_of(process: Process, name: str) -> str:
    """What a process is called."""
    return "nginx" if _binary(process) in _NGINX else name


def of(world: SimWorld, process: Process) -> list[Child]:
    """The children of a container's process."""
    kind = _NGINX.get(_binary(process))
    kin: Callable[[ProcessContext], list[Row]] | None = getattr(
        world.programs.get(process.program), "kin", None
    )
    if kin is not None:
        runs = runs_as(world, process)
        return [
            Child(row.pid - 1, row.command, row.name, runs, 1, row.since, row.resident, row.state)
            for row in sorted(kin(ProcessContext(world, process)))
        ]
    if kind is not None:
        count = _workers(world, process, kind)
        first = _BEHIND_SCRIPTS if "entrypoint" in (process.argv or ("",))[0] else _BESIDE
        made = [("nginx: worker process", "nginx")] * count
        runs = kind.runs
    else:
        return []
    each, more = divmod(max(pids.own(process) - 1, len(made)), len(made))
    return [
        Child(first + at, command, name, runs, each + (at < more)) for at, (command, name) in enumerate(made)
    ]


def threads(world: SimWorld, process: Process) -> int:
    """The threads of a container's process itself."""
    return max(pids.own(process) - sum(each.threads for each in of(world, process)), 1)


def _workers(world: SimWorld, process: Process, kind: _Kind) -> int:
    path = next(
        (process.argv[at + 1] for at, word in enumerate(process.argv[:-1]) if word == "-c"), kind.config
    )
    try:
        text = ProcessContext(world, process).read(path)
    except OSError:
        asked = kind.usual
    else:
        found = _SETTING.search(text)
        asked = "1" if found is None else found[1]
    if asked != "auto":
        return min(max(whole(asked, 1), 1), MOST)
    node = world.store.get("nodes", "", process.node) or {}
    capacity = (node.get("status") or {}).get("capacity") or {}
    return min(max(round(quantity.cpu_cores(str(capacity.get("cpu", "1")))), 1), MOST)
