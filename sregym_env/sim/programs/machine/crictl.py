"""``crictl``: what it does to a machine's containers, the kubelet notices as it notices every end of a container.

Nobody tells the kubelet: it finds a container that has ended, or a sandbox that is not there, and starts another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.pulling import canonical
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import MILLISECOND, SECOND, seconds
from sregym_env.shell.shell import Shell
from sregym_env.sim.containers import registries, stock
from sregym_env.sim.containers.images import find, image_id, is_valid, pull_duration, pull_error
from sregym_env.sim.processes import lifecycle
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.image_tools import format_date
from sregym_env.sim.programs.machine.runtime import (
    READS,
    attempt_of,
    containers,
    failed,
    gone,
    sandbox,
    sandboxes,
)
from sregym_env.sim.world.process import Process

KILLED = 137
"""Exit code of a process that was killed."""
MOST_REMOVED = 200
"""Removed containers of a machine that are remembered."""
REMOVING = 0.2
"""Seconds that the runtime takes to take something down."""

Row = tuple[Manifest, Mapping[str, Any], bool, str, int]


def crictl(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``crictl``, without ``exec``, which needs a shell of the other container."""
    verb, words = spoken(argv)
    look = READS.get(verb)
    if look is not None:
        return look(ctx, words)
    act = WRITES.get(verb)
    if act is not None:
        return act(ctx, words)
    if verb in ("run", "create", "runp", "start", "update", "checkpoint"):
        return failed(f"FATA[0000] {verb}: containers outside of pods cannot be made on this machine\n")
    return failed(f'No help topic for "{verb}"\n', 3)


def spoken(argv: Sequence[str]) -> tuple[str, list[str]]:
    """(the command, its words), without what stands before it."""
    words = list(argv[1:])
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in _VALUED else words[1:]
    return (words[0], words[1:]) if words else ("", [])


_VALUED = ("-r", "--runtime-endpoint", "-i", "--image-endpoint", "-t", "--timeout", "-c", "--config")


def _parted(words: Sequence[str], valued: Sequence[str] = ()) -> tuple[dict[str, str], list[str]]:
    """(flags with their values, the rest)."""
    flags: dict[str, str] = {}
    rest: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-") or word == "-":
            rest.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if name in valued and not equals:
            value = left.pop(0) if left else ""
        flags[name] = value
    return flags, rest


def _said(ctx: ProcessContext, call: str, kind: str, identity: str, error: str) -> str:
    """What the client's library logs of a call that has failed."""
    stamp = format_date(ctx.wall(), "%m%d %T")
    quoted = error.replace('"', '\\"')
    return f'E{stamp}.000000   20117 remote_runtime.go:366] "{call} from runtime service failed" err="{quoted}" {kind}="{identity}"\n'


def container(ctx: ProcessContext, identity: str) -> Row | None:
    """A container of the machine by the beginning of its identity."""
    return next((row for row in containers(ctx) if identity and row[3].startswith(identity)), None)


def running(ctx: ProcessContext, row: Row) -> Process | None:
    """The process of a container, if it runs."""
    pod, status = row[0], row[1]
    process = ctx.world.processes.get((pod["metadata"]["uid"], status["name"]))
    return process if row[2] and process is not None else None


def missing(ctx: ProcessContext, call: str, identity: str, doing: str) -> ExecResult:
    """The complaint about a container that is not there."""
    error = f'rpc error: code = NotFound desc = an error occurred when try to find container "{identity}": not found'
    return failed(_said(ctx, call, "containerID", identity, error) + f"FATA[0000] {doing}{error}\n")


def _each(
    words: Sequence[str], act: Callable[[str], ExecResult], nothing: str = "ID cannot be empty"
) -> ExecResult:
    """The same with every word, until one fails."""
    if not words:
        return failed(f"FATA[0000] {nothing}\n")
    out, took = "", 0.0
    for word in words:
        done = act(word)
        out += done.stdout
        took += done.seconds
        if done.exit_code:
            return ExecResult(out, done.stderr, done.exit_code, seconds=took)
    return ExecResult(out, seconds=took)


def _stop(ctx: ProcessContext, words: Sequence[str]) -> ExecResult:
    flags, names = _parted(words, ("t", "timeout"))
    given = flags.get("t", flags.get("timeout", "0"))
    if not given.isdecimal():
        return failed(
            f'Incorrect Usage: invalid value "{given}" for flag -timeout: parse error\n\n'
            f'FATA[0000] invalid value "{given}" for flag -timeout: parse error\n'
        )
    allowed = min(float(given), 3600.0)
    if flags.keys() & {"a", "all"}:
        names = [row[3] for row in containers(ctx) if row[2]]
    nothing = "you must specify at least one CONTAINER-ID or use --all"
    return _each(names, lambda name: _stopped(ctx, name, allowed), nothing)


def _stopped(ctx: ProcessContext, name: str, allowed: float) -> ExecResult:
    row = container(ctx, name)
    if row is None:
        return missing(ctx, "StopContainer", name, f'stopping the container "{name}": ')
    return ExecResult(f"{name}\n", seconds=_end(ctx, row, allowed) + REMOVING)


def _end(ctx: ProcessContext, row: Row, allowed: float) -> float:
    """Have a container end: at once, or by SIGTERM within so many seconds; how long it takes."""
    process = running(ctx, row)
    if process is None:
        return 0.0
    took, code = 0.0, KILLED
    if allowed:
        asked, own = lifecycle.terminate(ctx.world, process.key)
        took, code = (asked, own) if asked < allowed else (allowed, KILLED)
    ctx.world.after(max(seconds(took), MILLISECOND), "program.exit", process.key, process.restart, code, "")
    return took


def _remove(ctx: ProcessContext, words: Sequence[str]) -> ExecResult:
    flags, names = _parted(words)
    force = bool(flags.keys() & {"f", "force", "fa", "af"})
    if flags.keys() & {"a", "all", "fa", "af"}:
        names = [row[3] for row in containers(ctx)]
    return _each(
        names, lambda name: _removed(ctx, name, force), "you must specify at least one ID or use --all"
    )


def _removed(ctx: ProcessContext, name: str, force: bool) -> ExecResult:
    row = container(ctx, name)
    if row is None:
        return missing(ctx, "ContainerStatus", name, f'getting container status "{name}": ')
    if running(ctx, row) is not None:
        if not force:
            return failed(f'FATA[0000] container "{name}" is running, please stop it first\n')
        _end(ctx, row, 0.0)
    pod, status, runs, identity, _ = row
    ctx.world.memory[f"removed:{ctx.process.node}"] = (*gone(ctx), identity)[-MOST_REMOVED:]
    if not runs:
        ctx.world.logs.pop((pod["metadata"]["uid"], status["name"], attempt_of(status, runs, identity)), None)
    return ExecResult(f"{name}\n", seconds=REMOVING)


def _pod(ctx: ProcessContext, name: str) -> tuple[Manifest, bool] | None:
    """(the pod whose sandbox begins so, whether that is the one it runs in)."""
    for pod in ctx.world.store.list("pods"):
        if pod["spec"].get("nodeName") == ctx.process.node and name:
            for identity in sandboxes(ctx, pod):
                if identity.startswith(name):
                    return pod, identity == sandbox(ctx, pod)
    return None


def _no_pod(ctx: ProcessContext, call: str, name: str, doing: str) -> ExecResult:
    error = (
        f'rpc error: code = NotFound desc = an error occurred when try to find sandbox "{name}": not found'
    )
    return failed(_said(ctx, call, "podSandboxID", name, error) + f"FATA[0000] {doing}{error}\n")


def _stop_pod(ctx: ProcessContext, words: Sequence[str]) -> ExecResult:
    def stopped(name: str) -> ExecResult:
        known = _pod(ctx, name)
        if known is None:
            return _no_pod(ctx, "StopPodSandbox", name, f'stopping the pod sandbox "{name}": ')
        if known[1]:
            ctx.world.after(MILLISECOND, "runtime.sandbox", known[0]["metadata"]["uid"])
        return ExecResult(f"Stopped sandbox {name}\n", seconds=REMOVING)

    return _each(_parted(words)[1], stopped)


def _remove_pod(ctx: ProcessContext, words: Sequence[str]) -> ExecResult:
    flags, names = _parted(words)

    def removed(name: str) -> ExecResult:
        known = _pod(ctx, name)
        if known is None:
            return _no_pod(ctx, "PodSandboxStatus", name, f'getting sandbox status of pod "{name}": ')
        if known[1]:
            if not flags.keys() & {"f", "force"}:
                return failed(f'FATA[0000] pod sandbox "{name}" is running, please stop it first\n')
            ctx.world.after(MILLISECOND, "runtime.sandbox", known[0]["metadata"]["uid"])
        return ExecResult(f"Removed sandbox {name}\n", seconds=REMOVING)

    return _each(names, removed)


def _pull(ctx: ProcessContext, words: Sequence[str]) -> ExecResult:
    names = _parted(words, ("creds", "auth", "pod-config", "username", "u", "pull-timeout"))[1]
    if len(names) != 1:
        return failed("NAME:\n   crictl pull - Pull an image from a registry\n", 0)
    name, world = names[0], ctx.world
    image = find(world.images, name) if is_valid(name) else None
    # Nobody in particular comes: logins on the command line are not taken.
    refused = registries.refusal(world, "", (), name) if is_valid(name) else ""
    if image is None or refused:
        error = (
            refused or pull_error(world.images, name, world.plan.upstream)
            if is_valid(name)
            else f'rpc error: code = Unknown desc = failed to parse image reference "{name}": invalid reference format'
        )
        said = _said(ctx, "PullImage", "image", name, error).replace("runtime service", "image service")
        return failed(f"{said}FATA[0000] pulling image: {error}\n")
    here = canonical(name) in stock.present(world, ctx.process.node)
    stock.add(world, ctx.process.node, name)
    digest = image_id(name).rpartition("@")[2]
    took = 0.5 if here else pull_duration(image, 0.5) / SECOND
    return ExecResult(f"Image is up to date for {digest}\n", seconds=took)


def _remove_image(ctx: ProcessContext, words: Sequence[str]) -> ExecResult:
    out = ""
    for name in _parted(words)[1]:
        if not stock.drop(ctx.world, ctx.process.node, name):
            return ExecResult(
                out, f"ERRO[0000] no such image {name}\nFATA[0000] unable to remove the image(s)\n", 1
            )
        out += f"Deleted: {canonical(name)}\n"
    return ExecResult(out)


WRITES: Mapping[str, Callable[[ProcessContext, Sequence[str]], ExecResult]] = {
    "stop": _stop, "rm": _remove, "stopp": _stop_pod, "rmp": _remove_pod, "pull": _pull, "rmi": _remove_image,
}  # fmt: skip
"""What changes something, by name."""


def executed(
    ctx: ProcessContext, argv: Sequence[str]
) -> tuple[str, Process, list[str], bool] | ExecResult | None:
    """(identity as given, process, command, whether it gets input) of ``crictl exec``; a complaint; None for another command."""
    verb, words = spoken(argv)
    if verb != "exec":
        return None
    stdin = False
    while words and words[0].startswith("-"):
        flag = words.pop(0)
        if flag in ("--timeout", "-r", "--transport"):
            words = words[1:]
        elif "t" in flag.lstrip("-") and flag.strip("-") in ("t", "it", "ti", "tty"):
            return failed("FATA[0000] execing command in container: input is not a terminal\n")
        stdin = stdin or flag.strip("-") in ("i", "interactive")
    if len(words) < 2:
        return ExecResult("NAME:\n   crictl exec - Run a command in a running container\n")
    row = container(ctx, words[0])
    if row is None:
        return missing(ctx, "Exec", words[0], "execing command in container: ")
    process = running(ctx, row)
    if process is None:
        error = "rpc error: code = Unknown desc = container is in CONTAINER_EXITED state"
        return failed(f"FATA[0000] execing command in container: {error}\n")
    return words[0], process, words[1:], stdin


TOOLS: Mapping[str, Callable[[ProcessContext, Sequence[str], str, Shell], ExecResult]] = {"crictl": crictl}
