"""What a machine's container runtime says of its containers: ``crictl ps``, ``pods``, ``images``, ``inspect``, ``logs``, ``stats``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.durations import parse_rfc3339, rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime import effort
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.shell.patterns import compiled
from sregym_env.sim.containers import stock
from sregym_env.sim.containers.images import exact_size, find, image_id
from sregym_env.sim.processes import lifecycle
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.image_tools import format_date
from sregym_env.sim.programs.machine import kernel_files
from sregym_env.sim.programs.machine.commands import LINE_EFFORT, usage
from sregym_env.sim.world import wallclock


def failed(text: str, code: int = 1) -> ExecResult:
    """A command that has failed."""
    return ExecResult(stderr=text, exit_code=code)


def gone(ctx: ProcessContext) -> tuple[str, ...]:
    """Identities of the machine's containers that somebody has removed."""
    found: tuple[str, ...] = ctx.world.memory.get(f"removed:{ctx.process.node}", ())
    return found


def containers(ctx: ProcessContext) -> Iterator[tuple[Manifest, Mapping[str, Any], bool, str, int]]:
    """Containers of the machine, the newest first: pod, status, whether it runs, identity, when it was made."""
    rows = []
    removed = gone(ctx)
    for pod in ctx.world.store.list("pods"):
        if pod["spec"].get("nodeName") != ctx.process.node:
            continue
        for status in kernel_files.container_statuses(pod):
            for field in ("state", "lastState"):
                state = status.get(field) or {}
                ended, running = state.get("terminated"), state.get("running")
                if running:
                    rows.append(
                        (
                            pod,
                            status,
                            True,
                            status.get("containerID", ""),
                            parse_rfc3339(running["startedAt"]),
                        )
                    )
                elif ended and ended.get("containerID"):
                    started = ended.get("startedAt") or ended["finishedAt"]
                    rows.append((pod, status, False, ended["containerID"], parse_rfc3339(started)))
    rows.sort(key=lambda row: (-row[4], row[3]))
    for pod, status, running_, identity, made in rows:
        if identity.partition("://")[2] not in removed:
            yield pod, status, running_, identity.partition("://")[2], made


def attempt_of(status: Mapping[str, Any], running: bool, identity: str) -> int:
    own = status.get("containerID", "").partition("://")[2] == identity
    return int(status["restartCount"]) - (0 if own else 1)


def sandboxes(ctx: ProcessContext, pod: Manifest) -> list[str]:
    """Identities of a pod's sandboxes, the newest first."""
    uid = pod["metadata"]["uid"]
    count = int(ctx.world.memory.get(f"sandbox:{uid}", 0))
    found = []
    for number in range(count, max(count - 2, -1), -1):
        what = (uid, number) if number else (uid,)
        found.append("".join(f"{keyed_bits('sandbox', *what, part):016x}" for part in range(4)))
    return found


def sandbox(ctx: ProcessContext, pod: Manifest) -> str:
    """Identity of the sandbox that a pod runs in."""
    return sandboxes(ctx, pod)[0]


def _age(now: int, then: int) -> str:
    seconds = max(now - then, 0) // SECOND
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = seconds // size
            return (
                f"{count} {unit}{'s' if count != 1 else ''} ago"
                if count != 1 or unit in ("day", "second")
                else f"About {'an' if unit == 'hour' else 'a'} {unit} ago"
            )
    return "Less than a second ago"


def _table(rows: list[list[str]]) -> str:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "".join(
        "".join(cell.ljust(width + 3) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n"
        for row in rows
    )


def value_of(words: Sequence[str], *names: str) -> str:
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else words[at + 1] if at + 1 < len(words) else ""
    return ""


def _ps(ctx: ProcessContext, words: Sequence[str]) -> ExecResult:
    every = any(word in ("-a", "--all") for word in words)
    name, now = value_of(words, "--name"), ctx.now()
    try:
        named = compiled(name)
    except re.error as error:
        return failed(f"FATA[0000] listing containers: {error}\n")
    wanted = [row for row in containers(ctx) if (row[2] or every) and named.search(row[1]["name"])]
    if any(word in ("-q", "--quiet") for word in words):
        return ExecResult("".join(f"{row[3]}\n" for row in wanted))
    rows = [["CONTAINER", "IMAGE", "CREATED", "STATE", "NAME", "ATTEMPT", "POD ID", "POD", "NAMESPACE"]]
    for pod, status, running, identity, made in wanted:
        image = str(status.get("imageID") or status["image"]).partition("sha256:")[2][:13] or status["image"]
        rows.append([identity[:13], image, _age(now, made), "Running" if running else "Exited", status["name"], str(attempt_of(status, running, identity)),
                     sandbox(ctx, pod)[:13], pod["metadata"]["name"], pod["metadata"]["namespace"]])  # fmt: skip
    effort.spend(LINE_EFFORT * len(rows))
    return ExecResult(_table(rows))


def _pods(ctx: ProcessContext, words: Sequence[str]) -> ExecResult:
    rows = [["POD ID", "CREATED", "STATE", "NAME", "NAMESPACE", "ATTEMPT", "RUNTIME"]]
    for pod in ctx.world.store.list("pods"):
        started = (pod.get("status") or {}).get("startTime")
        if pod["spec"].get("nodeName") != ctx.process.node or not started:
            continue
        ready = (pod.get("status") or {}).get("phase") in ("Running", "Pending")
        rows.append([sandbox(ctx, pod)[:13], _age(ctx.now(), parse_rfc3339(started)), "Ready" if ready else "NotReady", pod["metadata"]["name"],
                     pod["metadata"]["namespace"], str(ctx.world.memory.get(f"sandbox:{pod['metadata']['uid']}", 0)), "(default)"])  # fmt: skip
    return ExecResult(_table(rows))


def found(
    ctx: ProcessContext, words: Sequence[str]
) -> tuple[Manifest, Mapping[str, Any], bool, str, int] | ExecResult:
    with_values = ("--tail", "-o", "--output", "--since")
    names = [
        word
        for at, word in enumerate(words)
        if not word.startswith("-") and (at == 0 or words[at - 1] not in with_values)
    ]
    if not names:
        return failed("FATA[0000] ID cannot be empty\n")
    for row in containers(ctx):
        if row[3].startswith(names[0]) and names[0]:
            return row
    return failed(
        f'E{format_date(ctx.wall(), "%m%d %T")}.000000   20117 remote_runtime.go:432] "ContainerStatus from runtime service failed" err="rpc error: '
        f'code = NotFound desc = an error occurred when try to find container \\"{names[0]}\\": not found" containerID="{names[0]}"\n'
        f'FATA[0000] rpc error: code = NotFound desc = an error occurred when try to find container "{names[0]}": not found\n'
    )


def _logs(ctx: ProcessContext, words: Sequence[str]) -> ExecResult:
    row = found(ctx, words)
    if isinstance(row, ExecResult):
        return row
    pod, status, running, identity, _ = row
    run = attempt_of(status, running, identity)
    key = (pod["metadata"]["uid"], status["name"])
    tail = value_of(words, "--tail")
    limit = int(tail[:7]) if tail.isdecimal() else None
    log = ctx.world.logs.get((*key, run))
    shown = wallclock.reader(ctx.world, ctx.process.node)
    lines = [] if log is None else log.read(ctx.now(), limit=limit, shown=shown)
    process = ctx.world.processes.get(key)
    if process is not None and process.restart == run:
        lines = [*lines, *lifecycle.live_lines(ctx.world, key, since=0, limit=limit)]
        lines = lines if limit is None else lines[-limit:] if limit else []
    effort.spend(LINE_EFFORT * len(lines))
    return ExecResult("".join(f"{line.text}\n" for line in lines))


def _inspect(ctx: ProcessContext, words: Sequence[str]) -> ExecResult:
    row = found(ctx, words)
    if isinstance(row, ExecResult):
        return row
    pod, status, running, identity, made = row
    ended: Mapping[str, Any] = next(
        (
            s["terminated"]
            for f in ("state", "lastState")
            if (s := status.get(f) or {}).get("terminated", {}).get("containerID", "").endswith(identity)
        ),
        {},
    )
    document = {
        "status": {
            "id": identity,
            "metadata": {"attempt": attempt_of(status, running, identity), "name": status["name"]},
            "state": "CONTAINER_RUNNING" if running else "CONTAINER_EXITED",
            "createdAt": rfc3339(made),
            "startedAt": rfc3339(made),
            "finishedAt": ended.get("finishedAt", "0001-01-01T00:00:00Z"),
            "exitCode": ended.get("exitCode", 0),
            "reason": ended.get("reason", ""),
            "message": ended.get("message", ""),
            "image": {"image": status["image"]},
            "imageRef": status.get("imageID", ""),
            "labels": {
                "io.kubernetes.container.name": status["name"],
                "io.kubernetes.pod.name": pod["metadata"]["name"],
                "io.kubernetes.pod.namespace": pod["metadata"]["namespace"],
                "io.kubernetes.pod.uid": pod["metadata"]["uid"],
            },
            "logPath": f"/var/log/pods/{pod['metadata']['namespace']}_{pod['metadata']['name']}_{pod['metadata']['uid']}/{status['name']}/"
            f"{attempt_of(status, running, identity)}.log",
        },
        "info": {
            "sandboxID": sandbox(ctx, pod),
            "runtimeSpec": {"linux": {"cgroupsPath": f"{kernel_files.slice_of(pod).rpartition('/')[2]}:cri-containerd:{identity}"}},
        },
    }  # fmt: skip
    return ExecResult(json.dumps(document, indent=2) + "\n")


def _stats(ctx: ProcessContext, words: Sequence[str]) -> ExecResult:
    rows = [["CONTAINER", "NAME", "CPU %", "MEM", "DISK", "INODES"]]
    for pod, status, running, identity, _ in containers(ctx):
        process = ctx.world.processes.get((pod["metadata"]["uid"], status["name"])) if running else None
        if process is not None:
            cores, resident, _ = usage(ctx, process)
            rows.append(
                [
                    identity[:13],
                    status["name"],
                    f"{cores * 100:.2f}",
                    f"{resident / 1e6:.2f}MB",
                    "32.77kB",
                    "9",
                ]
            )
    return ExecResult(_table(rows))


def _images(ctx: ProcessContext, words: Sequence[str]) -> ExecResult:
    rows = [["IMAGE", "TAG", "IMAGE ID", "SIZE"]]
    for reference in sorted(stock.present(ctx.world, ctx.process.node)):
        name, _, tag = reference.rpartition(":")
        image = find(ctx.world.images, reference)
        size = _human(exact_size(image, reference)) if image is not None else ""
        rows.append([name, tag, image_id(reference).partition("sha256:")[2][:13], size])
    return ExecResult(_table(rows))


def _human(size: int) -> str:
    """Bytes in three figures, as ``crictl`` prints them (``units.HumanSizeWithPrecision``)."""
    value, unit = float(size), 0
    while value >= 1000 and unit < len(_SIZES) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.3g}{_SIZES[unit]}"


_SIZES = ("B", "kB", "MB", "GB", "TB")


def _version(ctx: ProcessContext, words: Sequence[str]) -> ExecResult:
    machine = ctx.world.plan.machine(ctx.process.node)
    version = (machine.runtime if machine is not None else "containerd://1.7.27").partition("://")[2]
    return ExecResult(
        f"Version:  0.1.0\nRuntimeName:  containerd\nRuntimeVersion:  {version}\nRuntimeApiVersion:  v1\n"
    )


READS: Mapping[str, Callable[[ProcessContext, Sequence[str]], ExecResult]] = {
    "ps": _ps, "pods": _pods, "logs": _logs, "inspect": _inspect, "stats": _stats, "images": _images, "version": _version,
}  # fmt: skip
"""What only looks, by name."""
