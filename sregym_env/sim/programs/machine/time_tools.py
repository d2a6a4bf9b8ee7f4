"""What people ask and tell a machine's time service by: ``chronyc``, ``timedatectl``, ``hwclock``, ``date -s``, and its unit.

Texts of chrony 4.3 and systemd 252, as Debian 12 has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.shell.shell import Shell
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import moments
from sregym_env.sim.programs.image_tools import format_date
from sregym_env.sim.programs.machine import commands, records, time_service
from sregym_env.sim.programs.machine.time_service import DAEMON, DESCRIPTION, SERVER, UNIT
from sregym_env.sim.world import SimWorld, wallclock

When = Callable[[SimWorld, str, int], str]
"""How systemd tells since when something is so."""

_PATH = f"/lib/systemd/system/{UNIT}"
_MASK = f"/{time_service.MASK}"
_LINKS = (
    f"/etc/systemd/system/{DAEMON}.service",
    f"/etc/systemd/system/multi-user.target.wants/{UNIT}",
)
STARTING = 1.0
"""Seconds that a start takes."""


def _failed(text: str, code: int = 1) -> ExecResult:
    return ExecResult(stderr=text, exit_code=code)


def main_pid(world: SimWorld, node: str) -> int:
    """The process number of the daemon that runs, or ran last."""
    turns = [turn for turn in time_service.of(world, node).turns if turn.runs]
    return time_service.pid_of(node, turns[-1].time if turns else 0)


# --- the unit -----------------------------------------------------------------------------------------


def unit(world: SimWorld, node: str, verb: str, options: set[str], when: When, lines: int = 10) -> ExecResult:
    """``systemctl VERB chrony``; ``lines``: of its journal, that ``status`` shows."""
    runs = time_service.runs(world, node)
    if verb == "is-active":
        return ExecResult("active\n" if runs else "inactive\n", exit_code=0 if runs else 3)
    if verb == "is-enabled":
        state = time_service.state(world, node)
        return ExecResult(f"{state}\n", exit_code=int(state != "enabled"))
    if verb == "status":
        return ExecResult(_status(world, node, when, lines), exit_code=0 if runs else 3)
    if verb == "cat":
        if time_service.masked(world, node):
            return ExecResult(f"# Unit {UNIT} is masked.\n")
        return ExecResult(f"# {_PATH}\n{_FILE}\n")
    if verb == "show":
        state = "masked" if time_service.masked(world, node) else "loaded"
        active = "active\nSubState=running" if runs else "inactive\nSubState=dead"
        return ExecResult(
            f"Id={UNIT}\nLoadState={state}\nActiveState={active}\nUnitFileState={time_service.state(world, node)}\n"
        )
    act = _ACTS.get(verb)
    if act is None:
        return _failed(f"Unknown command verb {verb}.\n")
    return act(world, node, verb, "--now" in options)


def _enable(world: SimWorld, node: str, verb: str, now: bool) -> ExecResult:
    if time_service.masked(world, node):
        return _failed(f"Failed to enable unit: Unit file {_MASK} is masked.\n")
    before = time_service.of(world, node).enabled
    time_service.enable(world, node, True)
    if now:
        time_service.start(world, node)
    return ExecResult(
        stderr="" if before else "".join(f"Created symlink {link} → {_PATH}.\n" for link in _LINKS)
    )


def _disable(world: SimWorld, node: str, verb: str, now: bool) -> ExecResult:
    before = time_service.of(world, node).enabled
    time_service.enable(world, node, False)
    if now:
        time_service.stop(world, node)
    return ExecResult(stderr="".join(f'Removed "{link}".\n' for link in _LINKS) if before else "")


def _mask(world: SimWorld, node: str, verb: str, now: bool) -> ExecResult:
    before = time_service.masked(world, node)
    time_service.mask(world, node, True)
    if now:
        time_service.stop(world, node)
    return ExecResult(stderr="" if before else f"Created symlink {_MASK} → /dev/null.\n")


def _unmask(world: SimWorld, node: str, verb: str, now: bool) -> ExecResult:
    before = time_service.masked(world, node)
    time_service.mask(world, node, False)
    return ExecResult(stderr=f'Removed "{_MASK}".\n' if before else "")


def _stop(world: SimWorld, node: str, verb: str, now: bool) -> ExecResult:
    time_service.stop(world, node)
    return ExecResult()


def _start(world: SimWorld, node: str, verb: str, now: bool) -> ExecResult:
    if time_service.masked(world, node):
        return _failed(f"Failed to {verb} {UNIT}: Unit {UNIT} is masked.\n")
    runs = time_service.runs(world, node)
    if verb == "start":
        time_service.start(world, node)
    elif verb != "try-restart" or runs:
        time_service.restart(world, node)
    return ExecResult(seconds=0.0 if verb == "start" and runs else STARTING)


def _reload(world: SimWorld, node: str, verb: str, now: bool) -> ExecResult:
    return _failed(f"Failed to reload {UNIT}: Job type reload is not applicable for unit {UNIT}.\n")


_ACTS: Mapping[str, Callable[[SimWorld, str, str, bool], ExecResult]] = {
    "enable": _enable, "disable": _disable, "mask": _mask, "unmask": _unmask, "stop": _stop, "kill": _stop,
    "start": _start, "restart": _start, "try-restart": _start, "reload-or-restart": _start, "reload": _reload,
}  # fmt: skip

_FILE = f"""[Unit]
Description={DESCRIPTION}
Documentation=man:chronyd(8) man:chronyc(1) man:chrony.conf(5)
Conflicts=openntpd.service ntp.service ntpsec.service
Wants=time-sync.target
Before=time-sync.target
After=network.target

[Service]
Type=forking
PIDFile=/run/chrony/chronyd.pid
EnvironmentFile=-/etc/default/chrony
User=_chrony
ExecStart=!/usr/sbin/chronyd $DAEMON_OPTS

[Install]
Alias=chronyd.service
WantedBy=multi-user.target
"""


def listed(world: SimWorld, node: str) -> str:
    """Its line of ``systemctl list-units``."""
    load = "masked" if time_service.masked(world, node) else "loaded"
    state = "active     running     " if time_service.runs(world, node) else "inactive   dead        "
    said = UNIT if load == "masked" else DESCRIPTION
    return f"  {UNIT:<19} {load} {state} {said}\n"


def _status(world: SimWorld, node: str, when: When, lines_asked: int) -> str:
    booted = _booted(world, node)
    runs = time_service.runs(world, node)
    masked = time_service.masked(world, node)
    since = time_service.told_since(world, node, booted)
    pid = main_pid(world, node)
    place = (
        f"masked (Reason: Unit {UNIT} is masked.)"
        if masked
        else f"loaded ({_PATH}; {time_service.state(world, node)}; preset: enabled)"
    )
    lines = [
        f"{'●' if runs else '○'} {UNIT}" + ("" if masked else f" - {DESCRIPTION}"),
        f"     Loaded: {place}",
    ]
    docs = (
        []
        if masked
        else ["       Docs: man:chronyd(8)", "             man:chronyc(1)", "             man:chrony.conf(5)"]
    )
    if runs:
        lines += [f"     Active: active (running) since {when(world, node, since)}", *docs,
                  f"   Main PID: {pid} ({DAEMON})"]  # fmt: skip
    else:
        lines += [f"     Active: inactive (dead) since {when(world, node, since)}", *docs,
                  f"   Main PID: {pid} (code=exited, status=0/SUCCESS)"]  # fmt: skip
    text = "\n".join(lines) + "\n"
    if lines_asked:
        said = [each for each in time_service.journal(world, node, booted) if each.unit == "chrony"]
        said = said[-lines_asked:]
        text += "\n" + "".join(
            commands.journal_line(record, node, "short") for record in records.as_written(world, node, said)
        )
    return text


def _booted(world: SimWorld, node: str) -> int:
    try:
        return world.figures.machine(node).booted
    except LookupError:
        return world.clock


# --- chronyc ------------------------------------------------------------------------------------------


def chronyc(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``chronyc tracking``, ``sources``, ``sourcestats``, ``activity``, ``makestep``, ``waitsync``."""
    words = [word for word in argv[1:] if not word.startswith("-")]
    if any(word in ("-v", "--version") for word in argv[1:]):
        return ExecResult(f"chronyc (chrony) version 4.3 ({_CLIENT})\n")
    verb = words[0] if words else ""
    if not verb:
        return ExecResult(_HEAD)
    if verb not in _ASKED:
        return _failed("Unrecognized command\n")
    world, node = ctx.world, ctx.process.node
    ctx.unnoted()
    if not time_service.runs(world, node):
        return _failed("506 Cannot talk to daemon\n")
    return _ASKED[verb](ctx)


_CLIENT = "+READLINE +SECHASH +IPV6 -DEBUG"
_HEAD = (
    "chrony version 4.3\nCopyright (C) 1997-2003, 2007, 2009-2022 Richard P. Curnow and others\nchrony comes with ABSOLUTELY NO WARRANTY.  "
    "This is free software, and\nyou are welcome to redistribute it under certain conditions.  See the\nGNU General Public License version 2 "
    "for details.\n\n"
)


def _seconds(ctx: ProcessContext, *key: object) -> float:
    """A little of what a healthy daemon sees, seconds: the same for the same minute."""
    bits = keyed_bits("chrony", ctx.process.node, ctx.world.clock // (60 * SECOND), *key)
    return (bits % 90_000 + 4000) / 1e9


def _tracking(ctx: ProcessContext) -> ExecResult:
    world, node = ctx.world, ctx.process.node
    knows = time_service.knows(world, node)
    ahead = wallclock.offset(world, node)
    off = abs(ahead) / SECOND if ahead else _seconds(ctx, "system")
    fast = ahead > 0 if ahead else keyed_bits("fast", node, world.clock // (60 * SECOND)) % 2 == 0
    rate = time_service.frequency(node)
    last = world.clock - (keyed_bits("polled", node) % 60 + 4) * SECOND
    rows = {
        "Reference ID": "A9FEA97B (169.254.169.123)" if knows else "00000000 ()",
        "Stratum": "4" if knows else "0",
        "Ref time (UTC)": format_date(last if knows else 0, "%a %b %d %H:%M:%S %Y"),
        "System time": f"{off if knows else 0.0:.9f} seconds {'fast' if fast or not knows else 'slow'} of NTP time",
        "Last offset": f"{_seconds(ctx, 'last') if knows else 0.0:+.9f} seconds",
        "RMS offset": f"{_seconds(ctx, 'rms') if knows else 0.0:.9f} seconds",
        "Frequency": f"{abs(rate):.3f} ppm {'fast' if rate > 0 else 'slow'}",
        "Residual freq": f"{'+0.001' if knows else '+0.000'} ppm",
        "Skew": "0.041 ppm",
        "Root delay": f"{0.000412 if knows else 1.0:.9f} seconds",
        "Root dispersion": f"{0.000231 if knows else 1.0:.9f} seconds",
        "Update interval": f"{16.2 if knows else 0.0:.1f} seconds",
        "Leap status": "Normal" if knows else "Not synchronised",
    }
    return ExecResult("".join(f"{name:<16}: {value}\n" for name, value in rows.items()))


def _sources(ctx: ProcessContext) -> ExecResult:
    world, node = ctx.world, ctx.process.node
    knows = time_service.knows(world, node)
    ahead = wallclock.offset(world, node)
    seen, raw = (
        (ahead, ahead) if ahead else (round(_seconds(ctx, part) * SECOND) for part in ("sample", "raw"))
    )
    sample = f"{_short(seen):>7}[{_short(raw):>7}]" if knows else "  +0ns[   +0ns]"
    mark, reach, number = ("*", "377", 3) if knows else ("?", "0", 0)
    polled = keyed_bits("polled", node) % 15 + 1 if knows else "-"
    row = f"^{mark} {SERVER:<25} {number:5d}   4 {reach:>5} {polled:>5}  {sample} +/-  231us\n"
    head = "MS Name/IP address         Stratum Poll Reach LastRx Last sample               \n"
    return ExecResult(f"{head}{'=' * 79}\n{row}")


def _short(micros: int) -> str:
    """An offset as ``chronyc sources`` shortens it."""
    size = abs(micros) / SECOND
    for limit, unit_, per in _UNITS:
        if size < limit * per:
            return f"{'-' if micros < 0 else '+'}{size / per:.0f}{unit_}"
    return f"{'-' if micros < 0 else '+'}{size / 31_557_600:.0f}y"


_UNITS = (
    (9999.5, "us", 1e-6),
    (9999.5, "ms", 1e-3),
    (99_999.5, "s", 1.0),
    (99_999.5, "m", 60.0),
    (99_999.5, "h", 3600.0),
)


def _makestep(ctx: ProcessContext) -> ExecResult:
    if not commands.privileged(ctx, "SYS_ADMIN", "SYS_TIME"):
        return _failed("501 Not authorised\n")
    if time_service.knows(ctx.world, ctx.process.node):
        time_service.correct(ctx.world, ctx.process.node)
    return ExecResult("200 OK\n")


def _activity(ctx: ProcessContext) -> ExecResult:
    return ExecResult(
        "200 OK\n1 sources online\n0 sources offline\n0 sources doing burst (return to online)\n"
        "0 sources doing burst (return to offline)\n0 sources with unknown address\n"
    )


def _waitsync(ctx: ProcessContext) -> ExecResult:
    knows = time_service.knows(ctx.world, ctx.process.node)
    return ExecResult(
        f"try: 1, refid: {'A9FEA97B' if knows else '00000000'}, correction: 0.000000000, skew: 0.041\n",
        exit_code=int(not knows),
    )


_ASKED: Mapping[str, Callable[[ProcessContext], ExecResult]] = {
    "tracking": _tracking, "sources": _sources, "activity": _activity, "makestep": _makestep, "waitsync": _waitsync,
    "burst": lambda ctx: ExecResult("200 OK\n"), "online": lambda ctx: ExecResult("200 OK\n"),
}  # fmt: skip


# --- timedatectl --------------------------------------------------------------------------------------


def timedatectl(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``timedatectl``: ``status``, ``show``, ``set-ntp``, ``set-time``."""
    words = [word for word in argv[1:] if not word.startswith("-")]
    verb = words[0] if words else "status"
    ctx.unnoted()
    _heed(ctx, shell)
    if verb == "status":
        return ExecResult(_clock_status(ctx))
    if verb == "show":
        return ExecResult(_clock_shown(ctx))
    if verb in ("set-ntp", "set-time"):
        if len(words) < 2:
            return _failed("Too few arguments.\n")
        if len(words) > 2:
            return _failed("Too many arguments.\n")
        return (_set_ntp if verb == "set-ntp" else _set_time)(ctx, words[1])
    return _failed(f"Unknown command verb {verb}.\n")


def _heed(ctx: ProcessContext, shell: Shell) -> None:
    """Have a mask go that has been removed where the command was typed, whose files reach the machine when it ends."""
    world, node = ctx.world, ctx.process.node
    if time_service.masked(world, node) and shell.files.bytes_of(_MASK) is None:
        time_service.mask(world, node, False)


def _clock_status(ctx: ProcessContext) -> str:
    world, node = ctx.world, ctx.process.node
    now = format_date(ctx.wall(), "%a %F %T")
    runs = "active" if time_service.runs(world, node) else "inactive"
    rows = (
        ("Local time", f"{now} UTC"),
        ("Universal time", f"{now} UTC"),
        ("RTC time", format_date(ctx.now(), "%a %F %T")),
        ("Time zone", "Etc/UTC (UTC, +0000)"),
        ("System clock synchronized", "yes" if time_service.trusted(world, node) else "no"),
        ("NTP service", "n/a" if time_service.masked(world, node) else runs),
        ("RTC in local TZ", "no"),
    )
    return "".join(f"{name:>25}: {value}\n" for name, value in rows)


def _clock_shown(ctx: ProcessContext) -> str:
    world, node = ctx.world, ctx.process.node
    now, board = (format_date(time, "%a %F %T UTC") for time in (ctx.wall(), ctx.now()))
    there = not time_service.masked(world, node)
    rows = (
        ("Timezone", "Etc/UTC"),
        ("LocalRTC", "no"),
        ("CanNTP", "yes" if there else "no"),
        ("NTP", "yes" if there and time_service.runs(world, node) else "no"),
        ("NTPSynchronized", "yes" if time_service.trusted(world, node) else "no"),
        ("TimeUSec", now),
        ("RTCTimeUSec", board),
    )
    return "".join(f"{name}={value}\n" for name, value in rows)


def _set_ntp(ctx: ProcessContext, word: str) -> ExecResult:
    world, node = ctx.world, ctx.process.node
    if word.lower() not in (*_YES, *_NO):
        return _failed(f"Failed to parse NTP setting '{word[:80]}': Invalid argument\n")
    if not commands.privileged(ctx, "SYS_ADMIN"):
        return _failed("Failed to set ntp: Access denied\n")
    if time_service.masked(world, node):
        return _failed("Failed to set ntp: NTP not supported\n")
    on = word.lower() in _YES
    time_service.enable(world, node, on)
    (time_service.start if on else time_service.stop)(world, node)
    return ExecResult()


_YES, _NO = ("1", "yes", "y", "true", "t", "on"), ("0", "no", "n", "false", "f", "off")


def _set_time(ctx: ProcessContext, word: str) -> ExecResult:
    world, node = ctx.world, ctx.process.node
    asked = moments.moment(word, ctx.wall())
    if asked is None:
        return _failed(f"Failed to parse time specification '{word[:80]}': Invalid argument\n")
    if not commands.privileged(ctx, "SYS_ADMIN"):
        return _failed("Failed to set time: Access denied\n")
    if not time_service.masked(world, node) and time_service.runs(world, node):
        return _failed("Failed to set time: Automatic time synchronization is enabled\n")
    wallclock.put(world, node, asked - world.clock, "systemd-timedated")
    return ExecResult()


def hwclock(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``hwclock``: the clock on the board, which has kept time; ``--hctosys`` sets the machine's by it."""
    words = set(argv[1:])
    if not commands.privileged(ctx, "SYS_ADMIN", "SYS_TIME"):
        return _failed("hwclock: Cannot access the Hardware Clock via any known method.\n")
    if words & {"-s", "--hctosys"}:
        wallclock.put(ctx.world, ctx.process.node, 0, "hwclock")
        return ExecResult()
    if words & {"-w", "--systohc"}:
        return _failed("hwclock: ioctl(RTC_SET_TIME) to /dev/rtc0 to set the time failed: Invalid argument\n")
    now = ctx.now()
    return ExecResult(f"{format_date(now, '%F %T')}.{now % SECOND:06d}+00:00\n")


# --- date -s ------------------------------------------------------------------------------------------


def set_clock(ctx: ProcessContext, time: int) -> bool:
    """Set the clock of the machine under a process; whether it may."""
    if not commands.privileged(ctx, "SYS_TIME"):
        return False
    wallclock.put(ctx.world, ctx.process.node, time - ctx.world.clock, "date")
    return True


TOOLS: Mapping[str, commands.Tool] = {"chronyc": chronyc, "timedatectl": timedatectl, "hwclock": hwclock}
"""Commands by name."""
