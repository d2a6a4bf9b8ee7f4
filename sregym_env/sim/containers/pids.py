"""Processes and threads of machines: how many a kernel takes, how many there are, and what becomes of who wants one more.

Everything on a machine shares its numbers. Most programs have a few threads for as long as they run (:func:`own`); one that does not
wait for its children, or that starts more without end, gathers them at an even pace (:func:`begin`) until it ends, until its pod has
as many as it may, or until the machine has none left. Between two changes everything follows from the clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sregym_env.runtime.clock import MILLISECOND, SECOND
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Process, ProcessKey

PID_MAX, THREADS_MAX = "kernel.pid_max", "kernel.threads-max"
MADE: Mapping[str, int] = {PID_MAX: 4_194_304, THREADS_MAX: 255_583}
"""What machines come with: systemd's ``50-pid-max.conf``, and what Linux finds for 32 gigabytes (``set_max_threads``)."""
RANGES: Mapping[str, tuple[int, int]] = {PID_MAX: (301, 4_194_304), THREADS_MAX: (1, 0x3FFFFFFF)}
"""What may be written (``pid_max_min``, ``PID_MAX_LIMIT`` and ``MAX_THREADS`` of Linux 6.1)."""
SYSTEM = 240
"""Assumed tasks of a machine's kernel and daemons."""
KEPT = 256
"""Assumed tasks that nobody but root's own logins and daemons gets, as a kubelet is told with ``systemReserved``."""
START = 32
"""Assumed tasks that are needed for a moment to start a container or a command in one: threads of a shim (12), of runc, and of its
helpers in the container (10 each)."""
AGAIN = 4
"""Tasks that have to be free until who has found none takes some again."""
TURN = "pids.turn"
"""Event: a machine, or a pod, may have none left now."""
NONE_LEFT = "no pids left"
"""Why a process is woken that can start no further ones."""
LEAKS = "pids.leaks"
"""``world.memory`` key of what is gathered: a :class:`Leak` by process; absent while nobody does."""
KNOTS = 240
"""Turns of a machine that are remembered."""


class Leak(NamedTuple):
    """What a process has gathered, and goes on to gather."""

    restart: int
    node: str
    command: str
    """What these processes are called."""
    dead: bool
    """Whether they have ended and nobody has asked how."""
    rate: float
    """Processes per second that it would start and not get rid of."""
    most: int
    """How many its pod may have of them; 0 for no bound."""
    since: int
    """Microseconds, how many there were then, and how many have come a second since."""
    had: float
    slope: float

    def at(self, time: int) -> float:
        """How many there are at a later instant."""
        return self.had + self.slope * max(time - self.since, 0) / SECOND


class Knot(NamedTuple):
    """How many a machine, or a process, has gathered from an instant on."""

    time: int
    number: float
    slope: float
    """Per second."""

    def at(self, time: int) -> float:
        """The number at a later instant."""
        return max(self.number + self.slope * (time - self.time) / SECOND, 0.0)


class Limits(NamedTuple):
    """What a machine's kernel takes from an instant on."""

    time: int
    pid_max: int
    threads_max: int


_NONE: Mapping[ProcessKey, Leak] = {}


# --- what a kernel takes --------------------------------------------------------------------------------


def limits(world: SimWorld, node: str) -> tuple[Limits, ...]:
    """What a machine's kernel has taken, oldest first."""
    found: tuple[Limits, ...] = world.memory.get(f"pids.most:{node}", ())
    return found or (Limits(0, MADE[PID_MAX], MADE[THREADS_MAX]),)


def setting(world: SimWorld, node: str, name: str) -> int:
    """One of the two settings as it is now."""
    last = limits(world, node)[-1]
    return last.pid_max if name == PID_MAX else last.threads_max


def set_to(world: SimWorld, node: str, name: str, number: int) -> None:
    """Give a machine's kernel another setting from now on."""
    known = limits(world, node)
    last = known[-1]
    fresh = last._replace(time=world.clock, **{"pid_max" if name == PID_MAX else "threads_max": number})
    if fresh[1:] != last[1:]:
        world.memory[f"pids.most:{node}"] = (*known[-KNOTS:], fresh)
        world.touch()


def bound(world: SimWorld, node: str) -> int:
    """Processes and threads that a machine takes, as its kubelet reckons: the lesser of the two settings."""
    last = limits(world, node)[-1]
    return min(last.pid_max, last.threads_max)


# --- how many there are ---------------------------------------------------------------------------------


def own(process: Process) -> int:
    """The tasks of a container's program itself: servers have a few threads for every core that they may use."""
    cores = process.cpu_limit or 4.0
    return 5 + int(2 * cores) + len(process.listening)


def leaks(world: SimWorld) -> Mapping[ProcessKey, Leak]:
    """What is gathered now, by the process that does."""
    found: Mapping[ProcessKey, Leak] = world.memory.get(LEAKS, _NONE)
    return found


def leak_of(world: SimWorld, process: Process) -> Leak | None:
    """What one process has gathered."""
    found = leaks(world).get(process.key)
    return found if found is not None and found.restart == process.restart else None


def of_container(world: SimWorld, process: Process) -> int:
    """All tasks of a container."""
    leak = leak_of(world, process)
    return own(process) + (0 if leak is None else int(leak.at(world.clock)))


def gathered(world: SimWorld, node: str) -> float:
    """What all processes of a machine have gathered."""
    return sum(each.at(world.clock) for _, each in _on(world, node))


def used(world: SimWorld, node: str) -> int:
    """All tasks of a machine."""
    others = sum(own(process) for process in world.processes.values() if process.node == node)
    return SYSTEM + others + int(gathered(world, node))


def room(world: SimWorld, node: str) -> int:
    """Tasks that pods of a machine may still start."""
    return bound(world, node) - KEPT - used(world, node)


def full(world: SimWorld, node: str) -> bool:
    """Whether nothing can be started in pods of a machine."""
    if LEAKS not in world.memory and f"pids.most:{node}" not in world.memory:
        return False
    return room(world, node) < START


def held(world: SimWorld, name: str) -> tuple[Knot, ...]:
    """What a machine (by its name) or a process (``uid/container/restart``) has gathered over time, oldest first."""
    found: tuple[Knot, ...] = world.memory.get(f"pids.held:{name}", ())
    return found


def _on(world: SimWorld, node: str) -> Iterator[tuple[ProcessKey, Leak]]:
    for key, leak in leaks(world).items():
        process = world.processes.get(key)
        if leak.node == node and process is not None and process.restart == leak.restart:
            yield key, leak


# --- pods that may have only so many ---------------------------------------------------------------------


def allow(world: SimWorld, uid: str, number: int) -> None:
    """Have a pod's control group take so many tasks (``pids.max``), for as long as there is one."""
    world.memory[_allowed(uid)] = number


def allowed(world: SimWorld, uid: str) -> int:
    """Tasks that a pod may have; 0 for no bound."""
    return int(world.memory.get(_allowed(uid), 0))


def forget(world: SimWorld, uid: str) -> None:
    """A pod is no more."""
    world.memory.pop(_allowed(uid), None)


def _allowed(uid: str) -> str:
    return f"pids.max:{uid}"


# --- who gathers ----------------------------------------------------------------------------------------


def begin(world: SimWorld, process: Process, command: str, rate: float, *, dead: bool) -> None:
    """Have a process gather others from now on, at so many a second, until it ends."""
    number = allowed(world, process.key[0])
    beside = sum(own(each) for each in world.processes.values() if each.key[0] == process.key[0])
    most = max(number - beside, 1) if number else 0
    leak = Leak(process.restart, process.node, command, dead, rate, most, world.clock, 0.0, 0.0)
    world.memory[LEAKS] = {**leaks(world), process.key: leak}
    settle(world, process.node)


def look(world: SimWorld) -> None:
    """Something has changed: forget what has ended, and have those go on for whom there is room again."""
    if LEAKS not in world.memory:
        return
    left: dict[ProcessKey, Leak] = {}
    nodes: dict[str, None] = {}
    for key, leak in leaks(world).items():
        process = world.processes.get(key)
        nodes[leak.node] = None
        if process is not None and process.restart == leak.restart:
            left[key] = leak
    if left:
        world.memory[LEAKS] = left
    else:
        del world.memory[LEAKS]
    for node in nodes:
        settle(world, node)


def turn(world: SimWorld, node: str) -> None:
    """Handler of ``pids.turn``: a machine, or a pod, may have none left now."""
    world.memory.pop(f"pids.due:{node}", None)
    before = dict(_on(world, node))
    settle(world, node)
    for key, leak in sorted(_on(world, node)):
        if leak.slope <= 0.0 < before[key].slope:
            world.after(MILLISECOND, "program.wake", key, leak.restart, NONE_LEFT)


def settle(world: SimWorld, node: str) -> None:
    """Reckon anew how those of a machine go on that gather: each as fast as it can, as long as there is room."""
    here = dict(_on(world, node))
    if not here and not held(world, node):
        return
    free = room(world, node)
    made: dict[ProcessKey, Leak] = {}
    for key, leak in here.items():
        number = leak.at(world.clock)
        stuck = (leak.most and number >= leak.most - 0.5) or free < (1 if leak.slope > 0.0 else AGAIN)
        slope = 0.0 if stuck else leak.rate
        made[key] = leak._replace(since=world.clock, had=number, slope=slope) if slope != leak.slope else leak
    if any(made[key] is not here[key] for key in made):
        world.memory[LEAKS] = {**leaks(world), **made}
    for key, leak in made.items():
        _note(world, "/".join((*key, str(leak.restart))), leak.at(world.clock), leak.slope)
    slope = sum(each.slope for each in made.values())
    _note(world, node, sum(each.at(world.clock) for each in made.values()), slope)
    _expect(world, node, free, tuple(made.values()), slope)


def _note(world: SimWorld, name: str, number: float, slope: float) -> None:
    known = held(world, name)
    if known and known[-1].slope == slope and abs(known[-1].at(world.clock) - number) < 1.0:
        return
    if known or number or slope:
        world.memory[f"pids.held:{name}"] = (*known[-KNOTS:], Knot(world.clock, number, slope))


def _expect(world: SimWorld, node: str, free: int, here: tuple[Leak, ...], slope: float) -> None:
    """Look again when the machine, or a pod, will have none left."""
    if slope <= 0.0:
        return
    waits = [free / slope]
    waits += [
        (each.most - each.at(world.clock)) / each.slope for each in here if each.most and each.slope > 0.0
    ]
    delay = max(int(min(waits) * SECOND) + MILLISECOND, MILLISECOND)
    due, known = world.clock + delay, world.memory.get(f"pids.due:{node}")
    if known is None or known <= world.clock or due < known:
        world.memory[f"pids.due:{node}"] = due
        world.after(delay, TURN, node)
