"""``attach``: the standard streams of a container's main process, and connections forwarded into a pod."""

from __future__ import annotations

from dataclasses import replace

from sregym_env.cluster.http import HttpCall, HttpExchange
from sregym_env.cluster.streams import Attached
from sregym_env.kube import status
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.machines import container_logs
from sregym_env.sim.network.addressing import NodeSource
from sregym_env.sim.processes import lifecycle
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.processes.exchange import as_curl
from sregym_env.sim.programs import consoles
from sregym_env.sim.world import SimWorld, wallclock
from sregym_env.sim.world.logs import Line
from sregym_env.sim.world.process import Process

LOCAL = "127.0.0.1"
FRESH = 1 * SECOND
"""Who attaches to a container this young sees its output from the start: a real kubelet would only now report it."""


def chosen(pod: Manifest, container: str | None) -> str:
    """The container meant, made sure that it runs. Raises BadRequest, InternalError with the kubelet's refusal."""
    name = pod["metadata"]["name"]
    found = container_logs.choose_container(pod, container)
    if not pod["spec"].get("nodeName"):
        raise status.bad_request(f"pod {name} does not have a host assigned")
    known = container_logs.container_status(pod, found)
    if known is None or "running" not in known.get("state", {}):
        full = f"{name}_{pod['metadata']['namespace']}"
        raise status.internal_error(
            f"unable to upgrade connection: container {found} not found in pod {full}"
        )
    return found


def attach(world: SimWorld, pod: Manifest, container: str, stdin: str, end: bool, cursor: int) -> Attached:
    """Give a main process input and take what it has written since ``cursor`` (see :meth:`Cluster.attach`)."""
    key = (pod["metadata"]["uid"], container)
    process = world.processes.get(key)
    if process is None:
        return Attached(_logged(world, key, _last_run(pod, container), cursor), False, world.clock)
    ctx = ProcessContext(world, process)
    if cursor < 0:
        cursor = process.started_at - 1 if world.clock - process.started_at < FRESH else world.clock
        if consoles.CONSOLE not in process.state and consoles.WRITTEN in process.state:
            return Attached(str(process.state[consoles.WRITTEN]), False, world.clock)
    if consoles.CONSOLE in process.state:
        closes = end and _ends_with_input(pod, container, process)
        turn = consoles.feed_main(ctx, stdin, end=closes)
        # Whoever has no more to say to a process that stays is let go.
        return Attached(turn.stdout + turn.stderr, turn.console is not None and not end, world.clock)
    text = _logged(world, key, process.restart, cursor)
    return Attached(text, consoles.WRITTEN not in process.state, world.clock)


def _ends_with_input(pod: Manifest, container: str, process: Process) -> bool:
    """Whether the process's standard input is closed with that of the first who attaches (``stdinOnce``).

    A shell without it stays; a command that reads to the end would wait for ever, and is given its end.
    """
    console = process.state.get(consoles.CONSOLE)
    if isinstance(console, consoles.Console) and console.kind in ("whole", "filter"):
        return True
    return any(spec["name"] == container and spec.get("stdinOnce") for spec in pod["spec"]["containers"])


def redrawn(world: SimWorld, pod: Manifest, container: str) -> str:
    """The prompt that the main process draws anew when its terminal's size changes."""
    process = world.processes.get((pod["metadata"]["uid"], container))
    console = None if process is None else process.state.get(consoles.CONSOLE)
    if process is None or not isinstance(console, consoles.Console) or not console.tty:
        return ""
    return consoles.prompt(ProcessContext(world, process), console)


def _last_run(pod: Manifest, container: str) -> int:
    known = container_logs.container_status(pod, container)
    return 0 if known is None else int(known["restartCount"])


def _logged(world: SimWorld, key: tuple[str, str], run: int, cursor: int) -> str:
    """What the run has logged after ``cursor``."""
    log = world.logs.get((*key, run))
    process = world.processes.get(key)
    shown = None if process is None else wallclock.reader(world, process.node)
    lines: list[Line] = [] if log is None else log.read(world.now(), since=cursor + 1, shown=shown)
    if process is not None and process.restart == run:
        lines = [*lines, *lifecycle.live_lines(world, key, since=cursor + 1)]
    return "".join(f"{line.text}\n" for line in lines)


# --- forwarded connections --------------------------------------------------------------------------


def source(world: SimWorld, pod: Manifest) -> Process | NodeSource:
    """A process of the pod, in whose network a forwarded connection is made."""
    uid = pod["metadata"]["uid"]
    for key, process in world.processes.items():
        if key[0] == uid:
            return process
    return NodeSource(pod["spec"]["nodeName"])


def running(pod: Manifest) -> None:
    """Raises BadRequest for a pod into which nothing can be forwarded."""
    phase = pod.get("status", {}).get("phase", "")
    if phase != "Running":
        raise status.bad_request(f"pod not running. Current status={phase}")


def forward(world: SimWorld, pod: Manifest, port: int, call: HttpCall) -> HttpExchange:
    """One HTTP request over a connection forwarded to a port of the pod."""
    running(pod)
    return as_curl(world, source(world, pod), replace(call, url=f"http://{LOCAL}:{port}{call.url}"))
