"""How long a command in a container takes, and what becomes of the world meanwhile.

A command that waits (``sleep``, a connection that nobody answers) says so in the ``seconds`` of its result. Where somebody
outside the world has asked for it (``kubectl exec``), the world's clock moves by that much before the next command
runs. Where the world itself runs it (probes, hooks) nothing moves: the seconds are summed up for who asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

from sregym_env.cluster.streams import LONGEST_COMMAND, ExecResult
from sregym_env.runtime.clock import SECOND
from sregym_env.shell.shell import Shell, StopScript
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.world import wallclock

TERMINATED = 143
"""Exit code of a command that a SIGTERM has ended (128 + 15), as busybox's ``timeout`` sends it."""
GONE = 137
"""Exit code of a command whose container has ended under it (128 + 9)."""
CUT_OFF = 124
"""Exit code where the time of who asked is up, as GNU's ``timeout`` says it."""


class TimeUp(StopScript):
    """The time that a command may take is over."""

    def __init__(self, owner: object = None) -> None:
        self.owner = owner
        """Which ``timeout`` it was; None for the end of everything."""


class Visit:
    """One command in a container while it runs: where it stands, and how long it has taken.

    ``advance`` lets the world's time pass; without it only the sum is kept. ``limit`` is in seconds.
    """

    __slots__ = ("_advance", "_ctx", "_ends", "_up", "code", "limit", "seconds")

    def __init__(
        self,
        ctx: ProcessContext,
        advance: Callable[[float], None] | None = None,
        limit: float = LONGEST_COMMAND,
    ) -> None:
        self._ctx = ctx
        self._advance = advance
        self.limit = limit
        self.seconds = 0.0
        """Seconds that it has taken so far."""
        self.code: int | None = None
        """Exit code with which it was ended, if it was."""
        self._ends: tuple[tuple[float, object], ...] = ()
        self._up: TimeUp | None = None

    @property
    def ctx(self) -> ProcessContext:
        """The container as it is now."""
        return self._ctx

    @property
    def now(self) -> float:
        """The time as the command sees it, Unix seconds."""
        ahead = 0.0 if self._advance is not None else self.seconds
        # Not noted: which of its commands care for the time, they note themselves.
        return self._ctx.world.clock / SECOND + ahead

    @property
    def wall(self) -> float:
        """What the machine's clock says, Unix seconds."""
        return self.now + wallclock.offset(self._ctx.world, self._ctx.process.node) / SECOND

    def take(self, seconds: float) -> None:
        """Let a command's time pass. Raises TimeUp where there is none left, or where the container ends meanwhile."""
        if seconds <= 0:
            return
        ends, owner = min(self._ends, key=lambda end: end[0], default=(inf, None))
        left = max(0.0, min(self.limit, ends) - self.seconds)
        spent = min(seconds, left)
        self.seconds += spent
        if self._advance is not None:
            self._advance(spent)
            self._look_again()
        if seconds >= left and left < inf:
            if ends <= self.limit:
                self._up = TimeUp(owner)
                raise self._up
            self._end(CUT_OFF)

    def check(self) -> None:
        """Raises TimeUp again where a shell of its own has kept it."""
        if self._up is not None:
            raise self._up

    def within(self, seconds: float, run: Callable[[], ExecResult], late: int) -> ExecResult:
        """What a command does that may take so long; with exit code ``late`` where it takes longer."""
        owner = object()
        outer = self._ends
        self._ends = (*outer, (self.seconds + seconds, owner))
        try:
            return run()
        except TimeUp as up:
            if up.owner is not owner:
                raise
            self._up = None
            # What it had printed by then has been shown.
            return ExecResult(exit_code=late)
        finally:
            self._ends = outer

    def after(self, result: ExecResult) -> ExecResult:
        """What is told of a command that has ended: its exit code, and the seconds for which no clock has moved."""
        if self.code is not None:
            result = replace(result, exit_code=self.code)
        return result if self._advance is not None else replace(result, seconds=self.seconds)

    def _look_again(self) -> None:
        """Find the container as it is now. Raises TimeUp where it has ended."""
        process = self._ctx.process
        present = self._ctx.world.processes.get(process.key)
        if present is None or present.restart != process.restart:
            self._end(GONE)
        else:
            terminal = self._ctx.on_terminal
            self._ctx = ProcessContext(self._ctx.world, present)
            self._ctx.on_terminal = terminal

    def _end(self, code: int) -> None:
        self.code = code
        self._up = TimeUp()
        raise self._up


def timeout(visit: Visit, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``timeout``, as busybox and GNU have it."""
    busybox = visit.ctx.image.toolbox == "busybox"
    words = list(argv[1:])
    late = TERMINATED if busybox else CUT_OFF
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        name, equals, _ = word.partition("=")
        if name in ("-s", "-k", "--signal", "--kill-after"):
            if not equals and words:
                words.pop(0)
        elif busybox or word not in ("--foreground", "--preserve-status", "-v", "--verbose", "-f", "-p"):
            return ExecResult(
                stderr=_misused(busybox, f"{_kind(word)} '{word.lstrip('-')}'"),
                exit_code=1 if busybox else 125,
            )
    if len(words) < 2:
        return ExecResult(stderr=_misused(busybox, "missing operand"), exit_code=1 if busybox else 125)
    try:
        limit = duration(words[0])
    except ValueError:
        text = (
            f"timeout: invalid number '{words[0]}'\n"
            if busybox
            else f"timeout: invalid time interval '{words[0]}'\n"
        )
        return ExecResult(stderr=text, exit_code=1 if busybox else 125)
    command = words[1:]
    if not shell.has(command[0]):
        if busybox:
            text = f"timeout: can't execute '{command[0]}': No such file or directory\n"
        else:
            text = f"timeout: failed to run command '{command[0]}': No such file or directory\n"
        return ExecResult(stderr=text, exit_code=127)
    return visit.within(limit or inf, lambda: shell.call(command, stdin), late)


def wait(visit: Visit, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``sleep``: GNU's and busybox's add up what they are given."""
    result = sleep(argv, busybox=visit.ctx.image.toolbox == "busybox")
    visit.take(result.seconds)
    return replace(result, seconds=0.0)


def sleep(argv: Sequence[str], *, busybox: bool) -> ExecResult:
    """What ``sleep`` says and how long it takes."""
    if len(argv) < 2:
        if busybox:
            return ExecResult(stderr=_SLEEP_USAGE, exit_code=1)
        return ExecResult(
            stderr="sleep: missing operand\nTry 'sleep --help' for more information.\n", exit_code=1
        )
    total = 0.0
    for word in argv[1:]:
        try:
            total += duration(word)
        except ValueError:
            if word.startswith("-") and len(word) > 1:
                said = f"{_kind(word)} '{word.lstrip('-')[:1] if not word.startswith('--') else word}'"
                text = f"sleep: {said}\n"
                text += _SLEEP_USAGE if busybox else "Try 'sleep --help' for more information.\n"
            elif busybox:
                text = f"sleep: invalid number '{word}'\n"
            else:
                text = f"sleep: invalid time interval '{word}'\nTry 'sleep --help' for more information.\n"
            return ExecResult(stderr=text, exit_code=1)
    return ExecResult(seconds=total)


def duration(text: str) -> float:
    """Seconds of ``5``, ``1.5``, ``2m``, ``1h``, ``infinity``. Raises ValueError."""
    if text in ("infinity", "inf"):
        return inf
    factor = {"s": 1, "m": 60, "h": 3600, "d": 86_400}.get(text[-1:])
    value = float(text[:-1] if factor else text)
    if not value >= 0.0 or text[:1] not in "0123456789.":
        raise ValueError(text)
    return value * (factor or 1)


def _kind(word: str) -> str:
    return "unrecognized option" if word.startswith("--") else "invalid option --"


def _misused(busybox: bool, text: str) -> str:
    if not busybox:
        return f"timeout: {text}\nTry 'timeout --help' for more information.\n"
    head = "" if text == "missing operand" else f"timeout: {text}\n"
    return f"{head}{_TIMEOUT_USAGE}"


_TIMEOUT_USAGE = (
    "BusyBox v1.36.1 (2023-05-18 22:34:17 UTC) multi-call binary.\n\n"
    "Usage: timeout [-s SIG] [-k KILL_SECS] SECS PROG ARGS\n\n"
    "Run PROG. Send SIG to it if it is not gone in SECS seconds.\n"
    "Default SIG: TERM.If it still exists in KILL_SECS seconds, send KILL.\n"
)
_SLEEP_USAGE = (
    "BusyBox v1.36.1 (2023-05-18 22:34:17 UTC) multi-call binary.\n\n"
    "Usage: sleep [N]...\n\n"
    "Pause for a time equal to the total of the args given, where each arg can\n"
    "have an optional suffix of (s)econds, (m)inutes, (h)ours, or (d)ays\n"
)
