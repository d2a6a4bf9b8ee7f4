"""``systemctl`` and ``service`` of a machine, for who talks to its systemd: who has logged in, or has come into its files from a pod
that shares its processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.shell.shell import Shell, ShellCommand
from sregym_env.sim.containers import node_files
from sregym_env.sim.programs.image_tools import format_date
from sregym_env.sim.programs.machine import commands, kubelet_unit, records, time_service, time_tools
from sregym_env.sim.programs.visits import Visit
from sregym_env.sim.world import SimWorld, wallclock
from sregym_env.sim.world.figures import read_only


def own(visit: Visit) -> Mapping[str, ShellCommand]:
    """The commands that talk to systemd."""
    return {
        "systemctl": partial(_systemctl, visit),
        "service": partial(_service, visit),
        "reboot": partial(_reboot, visit),
    }


def keep(visit: Visit, shell: Shell) -> None:
    """Have what was written so far on the machine, before a unit reads it."""
    world, node = visit.ctx.world, visit.ctx.process.node
    roots = [mount for mount in visit.ctx.process.mounts if mount.kind == "hostpath" and mount.source == "/"]
    if any(mount.read_only for mount in roots) or read_only(node) in world.memory:
        return
    for path in (node_files.CONFIG, node_files.FLAGS, node_files.EXTRA, time_service.MASK):
        text = shell.files.text(f"/{path}")
        if text != node_files.text_of(world, node, path):
            node_files.put(world, node, path, text)


def _reboot(visit: Visit, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    world = visit.ctx.world
    world.after(SECOND, kubelet_unit.REBOOT, visit.ctx.process.node)
    return ExecResult()


def _service(visit: Visit, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``service NAME VERB``."""
    if len(argv) < 3:
        return ExecResult(
            stderr="Usage: service < option > | --status-all | [ service_name [ command | --full-restart ] ]\n",
            exit_code=1,
        )
    return _systemctl(visit, ["systemctl", argv[2], argv[1]], stdin, shell)


_UNITS = ("kubelet", "containerd", "ssh")
_STEADY = {
    "containerd": ("containerd", "containerd container runtime", "https://containerd.io", records.CONTAINERD_STARTED),
    "ssh": ("sshd", "OpenBSD Secure Shell server", "man:sshd(8)", records.SSH_STARTED),
}  # fmt: skip
"""Units that run as long as their machine does: their process, what they are, where that is explained, and when they start."""
_ACTIVE = {"running": "active", "failing": "activating", "stopped": "inactive"}
_SUB = {"running": "running", "failing": "auto-restart", "stopped": "dead"}
_ACTS = frozenset(
    "start stop restart try-restart reload reload-or-restart kill enable disable mask unmask".split()
)


def _systemctl(visit: Visit, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``systemctl`` for the units that matter here: kubelet and containerd."""
    lines, given = _lines_asked(argv[1:])
    words = [word for word in given if not word.startswith("-")]
    options = {word for word in given if word.startswith("-")}
    verb = words[0] if words else "list-units"
    names = ["ssh" if (name := word.removesuffix(".service")) == "sshd" else name for word in words[1:]]
    world, node = visit.ctx.world, visit.ctx.process.node
    if verb in ("daemon-reload", "reset-failed"):
        return ExecResult()
    if verb in ("reboot", "poweroff"):
        return _reboot(visit, argv, stdin, shell)
    if verb in ("list-units", "list-unit-files") or "--failed" in options:
        failed = bool(options & {"--failed", "--state=failed"})
        return ExecResult(
            "  UNIT LOAD ACTIVE SUB DESCRIPTION\n0 loaded units listed.\n" if failed else _listed(world, node)
        )
    if not names:
        return ExecResult(stderr="Too few arguments.\n", exit_code=1)
    out, errors, code = "", "", 0
    for name in names:
        if name in time_service.NAMES:
            keep(visit, shell)
            done = time_tools.unit(world, node, verb, options, _when, lines)
            _show_mask(world, node, shell)
            visit.take(done.seconds)
            said = _asked_for(done.stdout, options) if verb == "show" else done.stdout
            out, errors, code = out + said, errors + done.stderr, done.exit_code or code
            continue
        if name not in _UNITS:
            if verb in ("is-active", "is-enabled"):
                out, code = f"{out}inactive\n", 4
            elif verb in ("status", "cat", "show"):
                errors, code = f"{errors}Unit {name}.service could not be found.\n", 4
            else:
                errors, code = f"{errors}Failed to {verb} {name}.service: Unit {name}.service not found.\n", 5
            continue
        kind = kubelet_unit.now_is(world, node) if name == "kubelet" else "running"
        unit = kubelet_unit.of(world, node) if name == "kubelet" else kubelet_unit.Unit()
        if verb == "is-active":
            out += f"{_ACTIVE[kind]}\n"
            code = code if kind == "running" else 3
        elif verb == "is-enabled":
            out += "masked\n" if unit.masked else "enabled\n" if unit.enabled else "disabled\n"
            code = code if unit.enabled and not unit.masked else 1
        elif verb == "status":
            out += _status(world, node, name, lines)
            code = code if kind == "running" else 3
        elif verb == "cat":
            for path in (
                "lib/systemd/system/kubelet.service",
                "lib/systemd/system/kubelet.service.d/10-kubeadm.conf",
            ):
                out += (
                    f"# /{path}\n{node_files.text_of(world, node, path) or ''}\n" if name == "kubelet" else ""
                )
        elif verb == "show":
            out += _asked_for(_properties(world, node, name), options)
        elif verb not in _ACTS:
            return ExecResult(stderr=f"Unknown command verb {verb}.\n", exit_code=1)
        else:
            done = _acted(visit, shell, verb, name, options)
            out, errors, code = out + done.stdout, errors + done.stderr, done.exit_code or code
    return ExecResult(out, errors, code)


def _acted(visit: Visit, shell: Shell, verb: str, name: str, options: set[str]) -> ExecResult:
    """One verb that changes a unit."""
    world, node = visit.ctx.world, visit.ctx.process.node
    unit = kubelet_unit.of(world, node)
    if name != "kubelet":
        if verb in ("stop", "kill", "disable", "mask"):
            text = (
                f"Failed to {verb} {name}.service: Operation refused, unit {name}.service may be requested by dependency only "
                "(it is configured to refuse manual start/stop).\n"
            )
            return ExecResult(stderr=text, exit_code=1)
        return ExecResult()
    keep(visit, shell)
    if verb in ("enable", "disable"):
        if verb == "enable" and unit.masked:
            return ExecResult(
                stderr="Failed to enable unit: Unit file /etc/systemd/system/kubelet.service is masked.\n",
                exit_code=1,
            )
        kubelet_unit.mark(world, node, enabled=verb == "enable")
        link = "/etc/systemd/system/multi-user.target.wants/kubelet.service"
        text = (
            f"Created symlink {link} → /lib/systemd/system/kubelet.service.\n"
            if verb == "enable"
            else f'Removed "{link}".\n'
        )
        if "--now" in options:
            (kubelet_unit.start if verb == "enable" else kubelet_unit.stop)(world, node)
        return ExecResult(stderr=text if unit.enabled != (verb == "enable") else "")
    if verb in ("mask", "unmask"):
        kubelet_unit.mark(world, node, masked=verb == "mask")
        path = "/etc/systemd/system/kubelet.service"
        if unit.masked == (verb == "mask"):
            return ExecResult()
        return ExecResult(
            stderr=f"Created symlink {path} → /dev/null.\n" if verb == "mask" else f'Removed "{path}".\n'
        )
    if verb in ("stop",):
        kubelet_unit.stop(world, node)
        return ExecResult()
    if verb == "reload":
        text = (
            "Failed to reload kubelet.service: Job type reload is not applicable for unit kubelet.service.\n"
        )
        return ExecResult(stderr=text, exit_code=1)
    if unit.masked:
        return ExecResult(
            stderr=f"Failed to {verb} kubelet.service: Unit kubelet.service is masked.\n", exit_code=1
        )
    if verb == "start":
        kubelet_unit.start(world, node)
    elif verb != "try-restart" or kubelet_unit.now_is(world, node) != "stopped":
        kubelet_unit.restart(world, node)
    visit.take(1.0)
    return ExecResult()


def _show_mask(world: SimWorld, node: str, shell: Shell) -> None:
    """Have the login's own files say whether the time service is masked."""
    path = f"/{time_service.MASK}"
    if time_service.masked(world, node):
        shell.files.put_bytes(path, b"")
    elif shell.files.bytes_of(path) == b"":
        shell.files.remove(path)


def _listed(world: SimWorld, node: str) -> str:
    kind = kubelet_unit.now_is(world, node)
    state = {
        "running": "active     running     ",
        "failing": "activating auto-restart",
        "stopped": "inactive   dead        ",
    }[kind]
    return (
        "  UNIT                LOAD   ACTIVE     SUB          DESCRIPTION\n"
        "  containerd.service  loaded active     running      containerd container runtime\n"
        f"  kubelet.service     loaded {state} kubelet: The Kubernetes Node Agent\n"
        "  ssh.service         loaded active     running      OpenBSD Secure Shell server\n"
        f"{time_tools.listed(world, node)}"
    )


def _properties(world: SimWorld, node: str, name: str) -> str:
    """What ``systemctl show`` says of a unit, as far as it is known here."""
    if name in _STEADY:
        daemon, about, *_ = _STEADY[name]
        kind, unit, pid = "running", kubelet_unit.Unit(), records.PIDS[daemon]
    else:
        kind, unit = kubelet_unit.now_is(world, node), kubelet_unit.of(world, node)
        about, pid = "kubelet: The Kubernetes Node Agent", records.pid_of(world, node)
    found = {
        "Restart": "always",
        "RestartUSec": "10s",
        "MainPID": pid if kind == "running" else 0,
        "NRestarts": _restarts(world, node) if name == "kubelet" else 0,
        "Result": "exit-code" if kind == "failing" else "success",
        "Id": f"{name}.service",
        "Names": f"{name}.service",
        "Description": about,
        "LoadState": "masked" if unit.masked else "loaded",
        "ActiveState": _ACTIVE[kind],
        "SubState": _SUB[kind],
        "FragmentPath": f"/lib/systemd/system/{name}.service",
        "UnitFileState": "masked" if unit.masked else "enabled" if unit.enabled else "disabled",
    }
    return "".join(f"{key}={value}\n" for key, value in found.items())


def _asked_for(properties: str, options: set[str]) -> str:
    """Those of a unit's properties that were asked for (``-p``), with their names or without (``--value``)."""
    wanted: set[str] = set()
    for option in options:
        for prefix in ("--property=", "-p=", "-p"):
            if option.startswith(prefix):
                wanted.update(option.removeprefix(prefix).split(","))
                break
    lines = [line for line in properties.splitlines() if not wanted or line.partition("=")[0] in wanted]
    if "--value" in options:
        lines = [line.partition("=")[2] for line in lines]
    return "".join(f"{line}\n" for line in lines)


def _restarts(world: SimWorld, node: str) -> int:
    turns = kubelet_unit.of(world, node).turns
    if not turns or turns[-1].kind != "failing":
        return 0
    return int((world.clock - turns[-1].time) // (kubelet_unit.RESTART_SECONDS * SECOND)) + 1


def _status(world: SimWorld, node: str, name: str, lines_asked: int) -> str:
    booted = kubelet_unit.booted(world, node)
    if name in _STEADY:
        daemon, about, docs, after = _STEADY[name]
        return (
            f"● {name}.service - {about}\n"
            f"     Loaded: loaded (/lib/systemd/system/{name}.service; enabled; preset: enabled)\n"
            f"     Active: active (running) since {_when(world, node, booted + after)}\n       Docs: {docs}\n   Main PID: {records.PIDS[daemon]} ({daemon})\n"
            f"{_last_lines(world, node, name, lines_asked)}"
        )
    unit, kind = kubelet_unit.of(world, node), kubelet_unit.now_is(world, node)
    since = records.running_since(world, node)
    pid = records.pid_of(world, node)
    started = "/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS"
    head = {"running": "●", "failing": "●", "stopped": "○"}[kind]
    place = (
        "masked (Reason: Unit kubelet.service is masked.)"
        if unit.masked
        else (
            f"loaded (/lib/systemd/system/kubelet.service; {'enabled' if unit.enabled else 'disabled'}; preset: enabled)"
        )
    )
    lines = [
        f"{head} kubelet.service - kubelet: The Kubernetes Node Agent",
        f"     Loaded: {place}",
        "    Drop-In: /usr/lib/systemd/system/kubelet.service.d",
        "             └─10-kubeadm.conf",
    ]
    ended = f"    Process: {pid} ExecStart={started} (code=exited, status="
    if kind == "running":
        lines += [f"     Active: active (running) since {_when(world, node, since)}", "       Docs: https://kubernetes.io/docs/",
                  f"   Main PID: {pid} (kubelet)"]  # fmt: skip
    elif kind == "failing":
        lines += [
            f"     Active: activating (auto-restart) (Result: exit-code) since {_when(world, node, since)}",
            "       Docs: https://kubernetes.io/docs/",
            f"{ended}1/FAILURE)",
            f"   Main PID: {pid} (code=exited, status=1/FAILURE)",
        ]
    else:
        lines += [
            f"     Active: inactive (dead) since {_when(world, node, since)}",
            "       Docs: https://kubernetes.io/docs/",
            f"{ended}0/SUCCESS)",
            f"   Main PID: {pid} (code=exited, status=0/SUCCESS)",
        ]
    text = "\n".join(lines) + "\n"
    return text + _last_lines(world, node, name, lines_asked)


def _last_lines(world: SimWorld, node: str, name: str, count: int) -> str:
    """The end of a unit's journal, as ``systemctl status`` shows it."""
    if not count:
        return ""
    said = [each for each in records.daemons(world, node) if each.unit == name and each.time <= world.clock]
    shown = records.as_written(world, node, said[-count:])
    return "\n" + "".join(commands.journal_line(record, node, "short") for record in shown)


def _lines_asked(words: Sequence[str]) -> tuple[int, list[str]]:
    """How many lines of a journal ``systemctl status`` is to show, and its other words."""
    count, rest, left = "10", [], list(words)
    while left:
        word = left.pop(0)
        if word in ("-n", "--lines"):
            count = left.pop(0) if left else ""
        elif word.startswith(("-n", "--lines=")):
            count = word.removeprefix("-n").removeprefix("--lines=")
        elif word in ("-o", "-p", "-t", "--output", "--property", "--type"):
            rest.append(f"{word}={left.pop(0) if left else ''}")
        else:
            rest.append(word)
    return min(whole(count, 10), 1000), rest


def _when(world: SimWorld, node: str, since: int) -> str:
    now = wallclock.shown(world, node, world.clock)
    since = wallclock.shown(world, node, min(since, world.clock))
    past = abs(now - since) // SECOND
    days, hours, minutes = past // 86_400, past // 3600 % 24, past // 60 % 60
    ago = (
        f"{days} day{'s' if days > 1 else ''} ago" if days
        else f"{hours}h {minutes}min ago" if hours
        else f"{minutes}min {past % 60}s ago" if minutes
        else f"{past}s ago"
    )  # fmt: skip
    ago = ago if now >= since else f"{ago.removesuffix('ago')}left"
    return f"{format_date(since, '%a')} {rfc3339(since)[:10]} {rfc3339(since)[11:19]} UTC; {ago}"
