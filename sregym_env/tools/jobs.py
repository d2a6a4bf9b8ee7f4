"""What goes on in the background of a workstation: jobs of the shell and the ports they listen on.

A job is data, not a thread: a port that is forwarded stays open until the job is killed, a ``sleep`` is over at
its time, and everything else has run to its end by the time the next command is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sregym_env.tools.kubectl.desk import Listener

FIRST_PID = 4021
"""Process number of a session's first job."""
MOST_JOBS = 64
"""Jobs that may go on at once."""
FIRST_FREE_PORT = 34_567
"""Where the search for a port begins that is any free one."""


@dataclass(frozen=True, slots=True)
class Job:
    """A command in the background."""

    number: int
    pid: int
    command: str
    exit_code: int = 0
    ends: int | None = None
    """When it is over (the world's time); None while it goes on until it is killed."""
    ports: tuple[int, ...] = ()
    output: str = ""
    """The file that its output goes to, if it goes to one."""
    killed: bool = False

    def running(self, now: int) -> bool:
        """Whether it still goes on."""
        return not self.killed and (self.ends is None or now < self.ends)


class Jobs:
    """The jobs of one session and its open ports."""

    __slots__ = ("_last_pid", "_opened", "detached", "known", "limit", "notices", "ports", "waits")

    def __init__(self) -> None:
        self.known: tuple[Job, ...] = ()
        self.ports: dict[int, Listener] = {}
        self.detached = False
        """Whether the command that runs now was started in the background."""
        self.notices: list[str] = []
        """What jobs have written to the terminal since the last command."""
        self.waits = 0.0
        """Seconds for which the command that was started in the background goes on."""
        self.limit = 0.0
        """Seconds after which ``timeout`` ends it; 0 for never."""
        self._opened: list[int] = []
        self._last_pid = FIRST_PID - 1

    def fork(self) -> Jobs:
        """An independent copy."""
        # Forks are made between two command lines, when nothing is being started and nothing is left to show.
        twin = Jobs()
        twin.known, twin.ports, twin._last_pid = self.known, dict(self.ports), self._last_pid
        return twin

    # --- ports ------------------------------------------------------------------------------------

    def listen(self, port: int, listener: Listener, now: int) -> int:
        """Open a port (0: any free one). Raises OSError when it is taken."""
        if port == 0:
            port = FIRST_FREE_PORT
            while port in self.ports:
                port += 1
        if port in self.ports and self.listener(port, now) is not None:
            raise OSError("address already in use")
        self.known = tuple(job for job in self.known if port not in job.ports)
        self.ports[port] = listener
        self._opened.append(port)
        return port

    def close(self, port: int) -> None:
        """Close a port."""
        self.ports.pop(port, None)

    def listener(self, port: int, now: int) -> Listener | None:
        """What is behind a port; None where nothing listens (any more)."""
        owners = [job for job in self.known if port in job.ports]
        if owners and not any(job.running(now) for job in owners):
            self.ports.pop(port, None)
        return self.ports.get(port)

    def say(self, port: int, text: str, now: int, append: Callable[[str, str], None]) -> None:
        """The command behind a port has written something: to its file, or to the terminal."""
        job = next((job for job in self.known if port in job.ports and job.running(now)), None)
        if job is not None and job.output:
            append(job.output, text)
        else:
            self.notices.append(text)

    def lose(self, port: int, now: int) -> None:
        """The command behind a port has ended by itself."""
        for job in self.known:
            if port in job.ports and job.running(now):
                self._end(job, now, 1)

    # --- jobs -------------------------------------------------------------------------------------

    @property
    def last_pid(self) -> int:
        """Process number of the newest job, 0 before the first."""
        return 0 if self._last_pid < FIRST_PID else self._last_pid

    def begin(self) -> None:
        """A command is started in the background."""
        self.detached, self.waits, self.limit, self._opened = True, 0.0, 0.0, []

    def started(self, command: str, exit_code: int, now: int, output: str) -> Job:
        """It has got as far as it gets at once; what is left goes on as a job."""
        self.detached = False
        self._last_pid += 1
        ports = tuple(port for port in self._opened if port in self.ports)
        living = [job for job in self.known if job.running(now)]
        # As bash numbers jobs: after the highest that still runs, so that numbers come again.
        number = max((job.number for job in living), default=0) + 1
        ends = None if ports else now + round(self.waits * 1_000_000)
        if ports and self.limit:
            ends = now + round(self.limit * 1_000_000)
        job = Job(number, self._last_pid, command, exit_code, ends, ports, output)
        self.known = (*self.known[-MOST_JOBS:], job)
        self._opened = []
        return job

    def find(self, word: str, now: int) -> Job | None:
        """The job that ``%1``, ``%+``, ``%name`` or a process number means."""
        living = [job for job in self.known if job.running(now)]
        if word in ("%", "%%", "%+"):
            return living[-1] if living else None
        if word == "%-":
            return living[-2] if len(living) > 1 else None
        if word.startswith("%"):
            name = word[1:]
            if name.isdecimal():
                return next((job for job in living if job.number == int(name)), None)
            return next((job for job in reversed(living) if job.command.startswith(name)), None)
        if word.isdecimal():
            return next((job for job in self.known if job.pid == int(word)), None)
        return None

    def kill(self, job: Job, now: int) -> None:
        """End a job; its ports are closed."""
        self._end(job, now, 143)

    def _end(self, job: Job, now: int, code: int) -> None:
        for port in job.ports:
            self.ports.pop(port, None)
        gone = replace(job, killed=True, exit_code=code, ends=now)
        self.known = tuple(gone if other.pid == job.pid else other for other in self.known)

    def named(self, name: str, now: int) -> list[Job]:
        """Running jobs whose command holds a word (``pkill -f``)."""
        return [job for job in self.known if job.running(now) and name in job.command]

    def listing(self, now: int, *, pids: bool = False, long: bool = False) -> str:
        """What ``jobs`` prints."""
        living = [job for job in self.known if job.running(now)]
        if pids:
            return "".join(f"{job.pid}\n" for job in living)
        lines = []
        for index, job in enumerate(living):
            mark = "+" if index == len(living) - 1 else "-" if index == len(living) - 2 else " "
            pid = f" {job.pid}" if long else ""
            lines.append(f"[{job.number}]{mark}{pid}  {'Running':<23} {job.command} &\n")
        return "".join(lines)
