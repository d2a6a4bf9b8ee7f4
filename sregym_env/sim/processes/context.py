"""A running process's view of the world: the implementation of :class:`~sregym_env.sim.world.program.Context`."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.cluster.app import Image
from sregym_env.runtime.clock import MILLISECOND, seconds
from sregym_env.sim.containers import view
from sregym_env.sim.network import addressing
from sregym_env.sim.network.connections import Connection, Leg, connect
from sregym_env.sim.processes.flow import Evaluation
from sregym_env.sim.world import SimWorld, wallclock
from sregym_env.sim.world.inquiry import Settling
from sregym_env.sim.world.logs import RequestLine
from sregym_env.sim.world.process import Process, ProcessKey
from sregym_env.sim.world.program import SHARED, Again, Call, Failure, Flow, Keeping
from sregym_env.sim.world.strain import Destination, Lack


class WrongBytes(OSError):
    """A disk has brought other bytes than were written."""


class ProcessContext:
    """What one process can see and do. Cheap to make; make one per occasion and throw it away."""

    __slots__ = ("_evaluation", "on_terminal", "process", "world")

    def __init__(self, world: SimWorld, process: Process, evaluation: Evaluation | None = None) -> None:
        self.world = world
        self.process = process
        self._evaluation = evaluation
        self.on_terminal = False
        """Whether what a command prints is seen on a terminal (``kubectl exec -t``)."""

    def unnoted(self) -> None:
        """Say that what is found out now follows from something that nobody notes: the clock, a file."""
        if self.world.inquiry is not None:
            self.world.inquiry.fleeting = True

    # --- time and chance --------------------------------------------------------------------------

    def now(self) -> int:
        """Microseconds since the Unix epoch."""
        self.unnoted()
        return self.world.clock

    def wall(self) -> int:
        """What its machine's clock says, microseconds since the Unix epoch."""
        now = self.now()
        return wallclock.shown(self.world, self.process.node, now)

    def chance(self, name: str) -> float:
        """The next number in [0, 1) of this process's own stream."""
        return view.chance(self.world, self.process, name)

    @property
    def image(self) -> Image:
        """The image the container was made from."""
        return view.image_of(self.world, self.process)

    # --- files ------------------------------------------------------------------------------------

    def read(self, path: str) -> str:
        """A file as the process sees it. Raises FileNotFoundError or OSError(EIO)."""
        self.unnoted()
        return view.attempt(self.world, self.process, path)

    def list_dir(self, path: str) -> list[str]:
        """Names in a directory, sorted. Raises FileNotFoundError."""
        self.unnoted()
        root = path.rstrip("/") + "/"
        mount = view.mount_of(self.process, path.rstrip("/"))
        names: set[str] = set()
        if mount is not None:
            inner = view.relative(mount, path.rstrip("/"))
            prefix = inner + "/" if inner else ""
            for name in view.content(self.world, self.process, mount):
                if name.startswith(prefix) and "\0" not in name:
                    names.add(name[len(prefix) :].split("/")[0])
            return sorted(names - {""})
        for name in view.files(self.world, self.process):
            if name.startswith(root):
                names.add(name[len(root) :].split("/")[0])
        names.discard("")
        if not names:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
        return sorted(names)

    def volume(self, path: str) -> Any:
        """The frozen content of the volume mounted at ``path``; None if empty. Raises OSError(EIO), and WrongBytes
        where what was read is not what was written: whoever keeps checksums notices."""
        mount = view.mount_of(self.process, path)
        if mount is None:
            return self.stored(f"{view.overlay_key(self.process)}{path}")
        fraction = view.failing_fraction(self.world, self.process, mount)
        if fraction and self.chance("disk") < fraction:
            raise OSError(errno.EIO, "Input/output error", path)
        corrupt = view.corrupt_fraction(self.world, self.process, mount)
        if corrupt and self.chance("disk") < corrupt:
            raise WrongBytes(errno.EIO, "checksum mismatch", path)
        return self.stored(view.storage_key(self.process, mount))

    def stored(self, name: str) -> Any:
        """The frozen content of a volume by its own name, the disk aside; None if empty."""
        addressing.note(self.world, "volume", name)
        return self.world.volumes.get(name)

    def write_volume(self, path: str, content: Any) -> None:
        """Replace the content of the volume mounted at ``path`` (or of that part of the root file system)."""
        mount = view.mount_of(self.process, path)
        if mount is None:
            self.world.volumes[f"{view.overlay_key(self.process)}{path}"] = content
        else:
            self.world.volumes[view.storage_key(self.process, mount)] = content
        self.world.touch()

    def disk_failing(self, path: str) -> float:
        """The share of reads from the disk under ``path`` that fail now."""
        return view.failing_fraction(self.world, self.process, view.mount_of(self.process, path))

    def disk_corrupt(self, path: str) -> float:
        """The share of reads from the disk under ``path`` that bring other bytes than were written."""
        return view.corrupt_fraction(self.world, self.process, view.mount_of(self.process, path))

    # --- output and life --------------------------------------------------------------------------

    def log(self, text: str, *, delay: float = 0.0) -> None:
        """Write lines to the container's log, ``delay`` seconds from now."""
        if self.world.unread:
            return
        process = self.process
        key = (process.key[0], process.container, process.restart)
        self.world.log(key).write(self.world.clock + seconds(delay), text)

    def number(self, least: int, *, again: bool = False) -> int:
        """A number for what happens once now, of those that count up in the container's log; ``again``: the last one."""
        if self.world.unread:
            return least
        process = self.process
        log = self.world.log((process.key[0], process.container, process.restart))
        return log.latest if again else log.number(self.world.clock, least)

    def listen(self, *ports: int) -> None:
        """Accept connections on more TCP ports. Raises OSError(EADDRINUSE)."""
        mine = self.process
        for other in self.world.processes.values():
            if other.key == mine.key:
                continue
            shared = other.key[0] == mine.key[0] or (
                other.host_network and mine.host_network and other.node == mine.node
            )
            if shared and any(port in other.listening for port in ports):
                raise OSError(errno.EADDRINUSE, "Address already in use")
        fresh = tuple(port for port in ports if port not in mine.listening)
        self.process = self.world.change_process(mine.key, listening=(*mine.listening, *fresh))

    def deaf(self, port: int) -> None:
        """Accept no more connections on a TCP port."""
        listening = tuple(each for each in self.process.listening if each != port)
        self.process = self.world.change_process(self.process.key, listening=listening)

    def update(self, **state: Any) -> None:
        """Change keys of the program's own state."""
        merged = {**self.process.state, **state}
        self.process = self.world.change_process(self.process.key, state=merged)

    def set_memory(self, resident: int) -> None:
        """Change the resident memory; beyond the container's limit the kernel kills the process."""
        self.process = self.world.change_process(self.process.key, memory=resident)
        if self.over_limit:
            self.killed()

    def killed(self) -> None:
        """Die at the hands of the kernel, for want of memory."""
        self._exit(137, 0.0, "OOMKilled")

    @property
    def over_limit(self) -> bool:
        """Whether the process uses more memory than its container may."""
        limit = self.process.memory_limit
        return limit is not None and self.process.memory > limit

    def exit(self, code: int, *, delay: float = 0.0) -> None:
        """End the process with an exit code, ``delay`` seconds from now."""
        self._exit(code, delay, "")

    def _exit(self, code: int, delay: float, reason: str) -> None:
        process = self.process
        # Never at once: the program's present step still works on this process.
        wait = max(seconds(delay), MILLISECOND)
        self.world.after(wait, "program.exit", process.key, process.restart, code, reason)

    def wake_in(self, delay: float, reason: str) -> None:
        """Have the program woken with ``reason`` in ``delay`` seconds, if this run still lives."""
        process = self.process
        self.world.after(seconds(delay), "program.wake", process.key, process.restart, reason)

    # --- network ----------------------------------------------------------------------------------

    def evaluation(self) -> Evaluation:
        """The evaluation this context takes part in; a fresh one outside of traffic."""
        if self._evaluation is None:
            self._evaluation = evaluation(self.world)
        return self._evaluation

    def call(
        self,
        host: str,
        port: int,
        call: Call,
        *,
        share: float = 1.0,
        timeout: float = 0.0,
        again: Again | None = None,
        required: bool = True,
        fail_fast: float = 0.0,
        cancels: bool = False,
        waits: bool = True,
        beside: Sequence[tuple[str, int]] = (),
        keeping: Keeping = SHARED,
        back: Leg | None = None,
    ) -> Flow:
        """Call a server and learn what becomes of such calls."""
        return self.evaluation().call(
            self.process,
            host,
            port,
            call,
            share=share,
            timeout=timeout,
            again=again,
            required=required,
            fail_fast=fail_fast,
            cancels=cancels,
            waits=waits,
            beside=beside,
            keeping=keeping,
            back=back,
        )

    def ask(self, host: str, port: int, call: Call, timeout: float = 0.0) -> Failure | None:
        """Make one call, outside of traffic: None if it succeeded, else why not."""
        # The world may have changed since the last call: earlier answers do not hold.
        self._evaluation = None
        flow = self.call(host, port, call, timeout=timeout)
        # Where there is nothing to decide nothing is drawn: a healthy start moves no stream.
        draw = self.chance("call") if 0.0 < flow.ok < 1.0 else 0.5
        if draw < flow.ok:
            return None
        draw -= flow.ok
        for failure, share in flow.failures:
            if draw < share or (failure, share) == flow.failures[-1]:
                return failure
            draw -= share
        return None

    def connect(self, host: str, port: int) -> Connection:
        """Where a connection would lead."""
        return connect(self.world, self.process, host, port)

    def peer(self, host: str, port: int) -> ProcessContext | None:
        """The process that answers at an address, through its own eyes; None where nobody does."""
        for leg in self.connect(host, port).legs:
            if leg.outcome == "ok" and leg.process is not None:
                addressing.note(self.world, "process", leg.process)
                found = self.world.processes.get(leg.process)
                if found is not None:
                    return ProcessContext(self.world, found)
        return None

    def crash(self, text: str, code: int, *, share: float) -> None:
        """While serving: a ``share`` of these requests kills the process after logging ``text``."""
        self.evaluation().note_crash(self.process, text, code, share)

    def log_per_request(self, template: str, *, share: float, low: float = 0.0, elapsed: float = 0.0) -> None:
        """While serving: a ``share`` of these requests, of those from ``low``, writes this line ``elapsed`` seconds on its way."""
        self.evaluation().note_log(RequestLine(template, low, share, elapsed))

    def settle(self, **state: Any) -> None:
        """While serving: what these requests leave in the program's state once they have been served."""
        if any(self.process.state.get(key) != value for key, value in state.items()):
            note_state(self.world, self.process, state)

    def settle_entry(self, name: str, key: str, value: Any) -> None:
        """Like :meth:`settle` for one entry of a mapping in the state."""
        note_state(self.world, self.process, {f"{name}.{key}": value})

    def learn(self, what: Any) -> None:
        """While serving: what the program learns from these requests. Its ``learned`` is given it once they have been served, and again
        whenever users are looked at who still make them."""
        note_state(self.world, self.process, {"": what})


def evaluation(
    world: SimWorld,
    *,
    strained: bool = True,
    lacking: Mapping[Destination, Lack] | None = None,
    full: Mapping[ProcessKey, float] | None = None,
) -> Evaluation:
    """A fresh evaluation of the present, in which every process sees the world through a context of its own."""
    return Evaluation(world, ProcessContext, strained=strained, lacking=lacking, full=full)


def note_state(world: SimWorld, process: Process, state: Mapping[str, Any]) -> None:
    """Have a process's state changed a moment after the present evaluation, which itself changes nothing.

    A name ``mapping.key`` changes one entry of a mapping; what has no name is for the program's ``learned``.
    """
    entry = (process.key, process.restart, tuple(sorted(state.items())))
    if world.inquiry is None:
        let_settle(world, entry)
    else:
        world.inquiry.settling.append(entry)


def let_settle(world: SimWorld, entry: Settling) -> None:
    """Have changed what an evaluation left to be changed."""
    pending = world.memory.get("program.settle", ())
    if entry not in pending:
        world.memory["program.settle"] = (*pending, entry)
        if not pending:
            world.after(MILLISECOND, "program.settle")
