"""The service that keeps a machine's clock right, as a unit of its machine: chrony, which Debian calls ``chrony.service``.

It steps a clock that is wrong when it has started (``makestep 1 3``), and corrects nothing that somebody does to it later
unless it is told so. It is masked as every unit is: by an empty file in the place of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

from sregym_env.runtime.clock import MINUTE, SECOND, seconds
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.containers import node_files
from sregym_env.sim.programs.machine.records import Record
from sregym_env.sim.world import SimWorld, wallclock

UNIT = "chrony.service"
NAMES = frozenset(("chrony", "chronyd"))
"""What its unit is called: its name and its alias."""
DAEMON = "chronyd"
"""What it calls itself, and by which a clock has been set that it has set."""
DESCRIPTION = "chrony, an NTP client/server"
MASK = "etc/systemd/system/chrony.service"
"""The file which masks it while it is there and empty."""
ASKED = "machine.asked-the-time"
"""Event: a daemon that has started knows the time."""
SERVER = "169.254.169.123"
"""Whom machines ask."""

KEPT = 8
"""Turns in its life that the journal remembers."""
MEASURED = seconds(6.5)
"""From its start until it has asked often enough (``iburst``)."""
STEPPED = SECOND
"""What is off by more is stepped (``makestep 1 3``)."""

_UNIT = "chrony.unit:"


@dataclass(frozen=True, slots=True)
class Turn:
    """From an instant on it runs, or does not."""

    time: int
    runs: bool


@dataclass(frozen=True, slots=True)
class Unit:
    """What systemd knows of it beside what is so from the machine's start."""

    turns: tuple[Turn, ...] = ()
    enabled: bool = True


def of(world: SimWorld, node: str) -> Unit:
    """The unit as it is."""
    found: Unit | None = world.memory.get(f"{_UNIT}{node}")
    return found or Unit()


def runs(world: SimWorld, node: str) -> bool:
    """Whether it runs on a machine that is on."""
    turns = of(world, node).turns
    return not turns or turns[-1].runs


def masked(world: SimWorld, node: str) -> bool:
    """Whether it cannot be started at all."""
    return node_files.text_of(world, node, MASK) == ""


def state(world: SimWorld, node: str) -> str:
    """What ``systemctl is-enabled`` says of it."""
    if masked(world, node):
        return "masked"
    return "enabled" if of(world, node).enabled else "disabled"


def knows(world: SimWorld, node: str) -> bool:
    """Whether it runs, and has asked often enough."""
    turns = of(world, node).turns
    return runs(world, node) and (not turns or world.clock - turns[-1].time >= MEASURED)


def trusted(world: SimWorld, node: str) -> bool:
    """Whether the kernel takes its clock for right: it has been told nothing, or by the daemon last."""
    steps = wallclock.steps(world, node)
    return not steps or steps[-1].by == DAEMON


# --- what happens to it -------------------------------------------------------------------------------


def start(world: SimWorld, node: str) -> None:
    """Have it started, unless it runs."""
    if not runs(world, node):
        _turn(world, node, True)


def restart(world: SimWorld, node: str) -> None:
    """Have it stopped and started."""
    _turn(world, node, True)


def stop(world: SimWorld, node: str) -> None:
    """Have it stopped, and left so."""
    if runs(world, node):
        _turn(world, node, False)


def enable(world: SimWorld, node: str, enabled: bool) -> None:
    """Have it started with the machine from now on, or not."""
    world.memory[f"{_UNIT}{node}"] = replace(of(world, node), enabled=enabled)


def mask(world: SimWorld, node: str, masked_: bool) -> None:
    """Have it startable no more, or again."""
    node_files.put(world, node, MASK, "" if masked_ else None)


def boot(world: SimWorld, node: str) -> None:
    """The machine has booted: its clock says what the one on its board does, and what is enabled is started."""
    if of(world, node) == Unit() and not wallclock.steps(world, node) and not masked(world, node):
        return
    if wallclock.offset(world, node):
        wallclock.put(world, node, 0, "kernel")
    if of(world, node).enabled and not masked(world, node):
        restart(world, node)
    else:
        stop(world, node)


def asked(world: SimWorld, node: str) -> None:
    """A daemon that has started knows the time now."""
    if knows(world, node):
        correct(world, node)


def correct(world: SimWorld, node: str) -> None:
    """Set the clock right."""
    if not trusted(world, node) or abs(wallclock.offset(world, node)) > STEPPED:
        wallclock.put(world, node, 0, DAEMON)


def _turn(world: SimWorld, node: str, runs_: bool) -> None:
    unit = of(world, node)
    turns = (*unit.turns, Turn(world.clock, runs_))
    world.memory[f"{_UNIT}{node}"] = replace(unit, turns=turns[-KEPT:])
    if runs_:
        world.after(MEASURED, ASKED, node)


# --- what it says --------------------------------------------------------------------------------------

FLAGS = "+CMDMON +NTP +REFCLOCK +RTC +PRIVDROP +SCFILTER +SIGND +ASYNCDNS +NTS +SECHASH +IPV6 -DEBUG"
"""How Debian 12 has built it."""

_SAID = f"{UNIT} - {DESCRIPTION}"


def pid_of(node: str, time: int) -> int:
    """The process number of the daemon that was started at an instant; 0 is the machine's start."""
    return 20_000 + keyed_bits(DAEMON, node, time) % 900_000 if time else 641


def frequency(node: str) -> float:
    """How many parts in a million a machine's crystal is fast, as its daemon has found."""
    return (keyed_bits("crystal", node) % 40_000 - 20_000) / 1000


def journal(world: SimWorld, node: str, booted: int) -> list[Record]:
    """What it has logged since the machine booted, oldest first."""
    turns = [turn for turn in of(world, node).turns if turn.time > booted]
    found = [] if turns and turns[0].time < booted + MINUTE else [*_begun(node, booted + 9 * SECOND, 0)]
    number, running = 0, True
    for turn, after in zip_longest(turns, turns[1:]):
        if running:
            found += _ended(turn.time, pid_of(node, number))
        running = turn.runs
        if running:
            number = turn.time
            found += _begun(node, turn.time, number)
            if after is None or after.time > turn.time + MEASURED:
                found.append(
                    _line(turn.time + MEASURED - 2000, f"Selected source {SERVER}", pid_of(node, number))
                )
    found += _steps(world, node, booted)
    return sorted((record for record in found if record.time <= world.clock), key=lambda record: record.time)


def told_since(world: SimWorld, node: str, booted: int) -> int:
    """When systemd has told last that it was started, or stopped."""
    turns = of(world, node).turns
    if not turns:
        return booted + 9 * SECOND + _STARTED
    return turns[-1].time + (_STARTED if turns[-1].runs else _STOPPED)


_STARTED, _STOPPED = 41_000, 13_000
"""Microseconds from the beginning of its start, and of its end, to that."""


def _line(time: int, text: str, pid: int) -> Record:
    return Record(time, "chrony", text, by=DAEMON, pid=pid)


def _begun(node: str, time: int, number: int) -> Iterator[Record]:
    pid = pid_of(node, number)
    yield Record(time, "chrony", f"Starting {_SAID}...", by="systemd")
    yield _line(time + 31_000, f"chronyd version 4.3 starting ({FLAGS})", pid)
    text = f"Frequency {-frequency(node):.3f} +/- 0.041 ppm read from /var/lib/chrony/chrony.drift"
    yield _line(time + 31_400, text, pid)
    yield _line(time + 32_000, "Using right/UTC timezone to obtain leap second data", pid)
    yield _line(time + 33_000, "Loaded seccomp filter (level 1)", pid)
    yield Record(time + _STARTED, "chrony", f"Started {_SAID}.", by="systemd")


def _ended(time: int, pid: int) -> Iterator[Record]:
    yield Record(time, "chrony", f"Stopping {_SAID}...", by="systemd")
    yield _line(time + 9_000, "chronyd exiting", pid)
    yield Record(time + 12_000, "chrony", f"{UNIT}: Deactivated successfully.", by="systemd")
    yield Record(time + _STOPPED, "chrony", f"Stopped {_SAID}.", by="systemd")


def _steps(world: SimWorld, node: str, booted: int) -> Iterator[Record]:
    before = 0
    for step in wallclock.steps(world, node):
        wrong, before = step.offset - before, step.offset
        if step.time < booted:
            continue
        if step.by == DAEMON and wrong:
            pid = pid_of(node, _running_at(world, node, step.time))
            amount = f"{wrong / SECOND:.6f}"
            yield _line(step.time - 1000, f"System clock wrong by {amount} seconds", pid)
            yield _line(step.time, f"System clock was stepped by {amount} seconds", pid)
        if wrong < 0:
            yield Record(
                step.time + 600,
                "systemd-journald",
                "Time jumped backwards, rotating.",
                by="systemd-journald",
                pid=287,
            )


def _running_at(world: SimWorld, node: str, time: int) -> int:
    return max((turn.time for turn in of(world, node).turns if turn.runs and turn.time <= time), default=0)
