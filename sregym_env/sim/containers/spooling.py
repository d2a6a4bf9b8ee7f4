"""What processes write to the disks of machines without pause: files that grow, and how much of each disk they have filled.

A process writes at an even pace into one file after the other (:func:`begin`), until it ends or the disk is full. Bytes of such
files are counted and never kept (:mod:`sregym_env.runtime.bulk`). Between two changes everything follows from the clock: how large
the files are that are open now, how much a disk holds, and when it will be full.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sregym_env.kube.quantity import bytes_
from sregym_env.runtime import bulk
from sregym_env.runtime.clock import MILLISECOND, SECOND
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.figures import disk_used
from sregym_env.sim.world.process import Process, ProcessKey

NO_SPACE = "no space left"
"""Why a process is woken that can write no more."""
TURN = "disk.turn"
"""Event: a disk may be full now."""
STREAMS = "disk.streams"
"""``world.memory`` key of the files that grow: a :class:`Stream` by process; absent while there is none."""
_SCRATCH = "disk.scratch"
KNOTS = 400
"""Turns of a disk that are remembered."""
FILES = 8192
"""Files that grew, of one disk; for more there are no inodes left."""


class Stream(NamedTuple):
    """A file that a process writes."""

    restart: int
    node: str
    place: str
    """Where it lies in ``world.volumes``, and by which name there."""
    name: str
    rate: float
    """Bytes per second."""
    since: int
    """Microseconds, and how many bytes it had then."""
    had: float
    unlinked: bool = False
    """Whether somebody has removed it meanwhile: its bytes stay until it is closed."""

    def at(self, time: int) -> int:
        """Its bytes at a later instant."""
        return int(self.had + self.rate * max(time - self.since, 0) / SECOND)


class Knot(NamedTuple):
    """How many bytes such files have on a disk from an instant on."""

    time: int
    amount: float
    slope: float
    """Per second."""

    def at(self, time: int) -> float:
        """The number at a later instant."""
        return max(self.amount + self.slope * (time - self.time) / SECOND, 0.0)


_NONE: Mapping[ProcessKey, Stream] = {}


def streams(world: SimWorld) -> Mapping[ProcessKey, Stream]:
    """The files that grow now, by the process that writes them."""
    found: Mapping[ProcessKey, Stream] = world.memory.get(STREAMS, _NONE)
    return found


def held(world: SimWorld, node: str) -> tuple[Knot, ...]:
    """What such files have filled of a machine's disk, oldest first; nothing where there never was one."""
    found: tuple[Knot, ...] = world.memory.get(f"disk.held:{node}", ())
    return found


def filled(world: SimWorld, node: str) -> int:
    """Bytes that such files have on a machine's disk now."""
    knots = held(world, node)
    return int(knots[-1].at(world.clock)) if knots else 0


def size(world: SimWorld, node: str) -> int:
    """Bytes of a machine's disk."""
    found = world.store.get("nodes", "", node)
    capacity = {} if found is None else (found.get("status") or {}).get("capacity") or {}
    return int(bytes_(str(capacity.get("ephemeral-storage", "0"))))


def room(world: SimWorld, node: str) -> int:
    """Bytes that such files may have at most: what everything else leaves of a disk."""
    return int(size(world, node) * (1.0 - disk_used(world.plan, node)))


def full(world: SimWorld, node: str) -> bool:
    """Whether a machine's disk has no room for anybody but root."""
    return bool(held(world, node)) and filled(world, node) >= room(world, node)


# --- who writes -----------------------------------------------------------------------------------------


def begin(world: SimWorld, process: Process, place: str, name: str, rate: float) -> bool:
    """Have a process write into a file from now on, which is empty then, at so many bytes per second; what it wrote before is
    closed. Whether there is room: where there is none it is woken with NO_SPACE."""
    finish(world, process.key)
    node = process.node
    known = world.volumes.get(place) or {}
    freed = bulk.counted(known.get(name))
    if name not in known and sum(1 for text in known.values() if bulk.counted(text)) >= FILES:
        _refuse(world, process)
        return False
    world.volumes[place] = {**known, name: bulk.text(0, world.clock)}
    if not place.startswith("hostpath/"):
        # What goes with its pod has to be looked for.
        world.memory[_SCRATCH] = True
    count = filled(world, node) - freed
    if count >= room(world, node) - rate:
        _note(world, node, count)
        _refuse(world, process)
        return False
    stream = Stream(process.restart, node, place, name, rate, world.clock, 0.0)
    world.memory[STREAMS] = {**streams(world), process.key: stream}
    _note(world, node, count)
    return True


def finish(world: SimWorld, key: ProcessKey) -> None:
    """Have a process write no more: its file stays as it is, unless somebody has removed it."""
    stream = streams(world).get(key)
    if stream is None:
        return
    count = filled(world, stream.node)
    left = {each: other for each, other in streams(world).items() if each != key}
    if left:
        world.memory[STREAMS] = left
    else:
        del world.memory[STREAMS]
    if stream.unlinked:
        count -= stream.at(world.clock)
    else:
        known = world.volumes.get(stream.place) or {}
        world.volumes[stream.place] = {**known, stream.name: bulk.text(stream.at(world.clock), world.clock)}
    _note(world, stream.node, count)


def _refuse(world: SimWorld, process: Process) -> None:
    world.after(MILLISECOND, "program.wake", process.key, process.restart, NO_SPACE)


def look(world: SimWorld) -> None:
    """Close the files of who is no more, and count anew what has gone with pods."""
    for key, stream in list(streams(world).items()):
        process = world.processes.get(key)
        if process is None or process.restart != stream.restart:
            finish(world, key)
    if world.memory.get(_SCRATCH):
        for node in _nodes(world):
            _note(world, node, _count(world, node))


def turn(world: SimWorld, node: str) -> None:
    """Handler of ``disk.turn``: a disk may be full now."""
    world.memory.pop(f"disk.due:{node}", None)
    if not full(world, node):
        _expect(world, node)
        return
    for key, stream in sorted(streams(world).items()):
        process = world.processes.get(key)
        if stream.node == node:
            finish(world, key)
            if process is not None:
                _refuse(world, process)


# --- what is written meanwhile by others ----------------------------------------------------------------


def changed(world: SimWorld, node: str, place: str, name: str, old: Any, new: Any) -> None:
    """Somebody else has written a file of a machine's disk, or removed it (None), after the fact."""
    for key, stream in streams(world).items():
        if (stream.place, stream.name) == (place, name) and not stream.unlinked:
            if new is None:
                other = stream._replace(unlinked=True)
            else:
                # Whoever empties a file that is open makes a hole of what was in it.
                other = stream._replace(since=world.clock, had=0.0)
            world.memory[STREAMS] = {**streams(world), key: other}
            _note(world, node, _count(world, node))
            return
    if bulk.counted(old) or bulk.counted(new):
        _note(world, node, _count(world, node))


def now(world: SimWorld, place: str) -> Iterator[tuple[str, str]]:
    """(name, text) of the files of a volume that grow, as they are now."""
    for stream in streams(world).values():
        if stream.place == place and not stream.unlinked:
            yield stream.name, bulk.text(stream.at(world.clock), world.clock)


def written_by(world: SimWorld, uid: str) -> int:
    """Bytes that a pod's containers have written to their machine's disk outside of other volumes."""
    total = 0
    for place in world.volumes:
        if place.startswith((f"emptydir/{uid}/", f"overlay/{uid}/")):
            total += size_of(world, place)
    return total


def size_of(world: SimWorld, place: str) -> int:
    """Bytes of the files of a volume."""
    content = world.volumes.get(place)
    if not isinstance(content, Mapping):
        return bulk.size(content) if isinstance(content, str) else 0
    return _size({**content, **dict(now(world, place))})


def _size(content: Mapping[str, Any]) -> int:
    total = 0
    for part in content.values():
        total += _size(part) if isinstance(part, Mapping) else bulk.size(part) if isinstance(part, str) else 0
    return total


# --- accounts -------------------------------------------------------------------------------------------


def _nodes(world: SimWorld) -> list[str]:
    return [key.partition(":")[2] for key in sorted(world.memory) if key.startswith("disk.held:")]


def _places(world: SimWorld, node: str) -> Iterator[str]:
    """The volumes that lie on a machine's disk."""
    for place in world.volumes:
        kind, _, rest = place.partition("/")
        if kind == "hostpath" and rest.startswith(f"{node}/"):
            yield place
        elif kind in ("emptydir", "overlay"):
            record = world.runtime.get(rest.partition("/")[0])
            # What a pod has written to scratch space goes with its end.
            if record is not None and record.node == node and record.failed is None:
                yield place


def _count(world: SimWorld, node: str) -> float:
    """What files of which the bytes are counted have on a disk now, found by looking at all of them."""
    growing = {
        (each.place, each.name) for each in streams(world).values() if each.node == node and not each.unlinked
    }
    total = sum(each.at(world.clock) for each in streams(world).values() if each.node == node)
    for place in _places(world, node):
        content = world.volumes[place]
        for name, text in content.items() if isinstance(content, Mapping) else ():
            if (place, name) not in growing:
                total += bulk.counted(text)
    return float(total)


def _note(world: SimWorld, node: str, count: float) -> None:
    """A disk holds so much now, and goes on as its streams do."""
    slope = sum(each.rate for each in streams(world).values() if each.node == node)
    knots = held(world, node)
    fresh = Knot(world.clock, max(count, 0.0), slope)
    if knots and knots[-1].slope == slope and abs(knots[-1].at(world.clock) - count) < 4096:
        return
    if knots or count or slope:
        world.memory[f"disk.held:{node}"] = (*knots[-KNOTS:], fresh)
    _expect(world, node)


def _expect(world: SimWorld, node: str) -> None:
    """Look again when a disk will be full."""
    knots = held(world, node)
    if not knots or knots[-1].slope <= 0:
        return
    left = room(world, node) - knots[-1].at(world.clock)
    delay = max(int(left / knots[-1].slope * SECOND) + MILLISECOND, MILLISECOND)
    due, known = world.clock + delay, world.memory.get(f"disk.due:{node}")
    if known is None or known <= world.clock or due < known:
        world.memory[f"disk.due:{node}"] = due
        world.after(delay, TURN, node)
