"""``supercronic``: runs jobs by a crontab in a container, and as its first process waits for whatever those leave behind.

Jobs are shell scripts, of which it matters here what they start and do not wait for. What a script has put into the background of a
subshell (``( ... & )``) falls to the first process of the container when it ends: one that does not wait for it (``-no-reap``, or
not the first process) keeps it as a zombie. A script that goes on for ever holds its processes; with ``-overlapping`` another one is
started whenever it is due.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.sim.containers import pids
from sregym_env.sim.network import addressing
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.world.logs import Line
from sregym_env.sim.world.program import Usage

VALUED = frozenset(
    "-prometheus-listen-address -sentry-dsn -sentryDsn -sentry-environment -sentry-release".split()
)
"""Options with a value."""
LONGEST = 65_536
"""Characters of a crontab or a script that are read."""
JOBS, MOST = 64, 10_000
"""Jobs of a crontab, and processes of a run, at most."""
KEPT_LINES = 200
_FIELDS = re.compile(r"((?:\S+\s+){5}|@\w+\s+)(.+)\Z")
_SECONDS = re.compile(r"((?:[\d*,/?-]+\s+){6}[\d*,/?-]+)\s+(.+)\Z")
_EVERY = re.compile(r"\*/(\d{1,6})\Z")
_NAMED = {
    "@hourly": 3600,
    "@daily": 86_400,
    "@midnight": 86_400,
    "@weekly": 604_800,
    "@monthly": 2_592_000,
    "@yearly": 31_536_000,
}
_LOOP = re.compile(r"\bseq (?:1 )?(\d{1,9})\b|\{1\.\.(\d{1,9})\}")
_DETACHED = re.compile(r"\([^()]*&\s*\)")
_FOR_EVER = re.compile(r"\bwhile (?:true|:|sleep)\b")
_COMMANDS = ("curl", "wget", "ping", "nc", "sleep", "rsync", "ssh", "dig")


class Job(NamedTuple):
    """A line of a crontab."""

    position: int
    schedule: str
    every: float
    """Seconds."""
    command: str


class Left(NamedTuple):
    """What a run of a job leaves behind."""

    number: int
    command: str
    lasting: bool
    """Whether it is a run that goes on for ever, and has so many processes."""


class Supercronic(Quiet):
    """The job runner."""

    name = "supercronic"

    def start(self, ctx: ProcessContext) -> None:
        """Read the crontab, and begin."""
        ctx.set_memory(14 * MIB)
        if ctx.over_limit:
            return
        switches, path = _options(ctx.process.argv[1:])
        if not path:
            ctx.log("Usage: supercronic [OPTIONS] CRONTAB")
            ctx.exit(2)
            return
        quiet = "quiet" in switches
        reaps = "no-reap" not in switches and _first(ctx)
        if "no-reap" not in switches:
            self._say(
                ctx,
                quiet,
                "info" if reaps else "warning",
                "reaping dead processes" if reaps else "process reaping disabled, not pid 1",
            )
        self._say(ctx, quiet, "info", f"read crontab: {path}")
        try:
            text = ctx.read(path)[:LONGEST]
        except OSError as error:
            self._say(
                ctx, False, "fatal", f"open {path}: {(error.strerror or 'no such file or directory').lower()}"
            )
            ctx.exit(1)
            return
        jobs, bad = _jobs(text)
        if bad:
            self._say(ctx, False, "fatal", f"bad crontab line: '{bad}'")
            ctx.exit(1)
            return
        rate, gathered, dead = 0.0, "", False
        for job in jobs:
            left = _left(ctx, job)
            if left.lasting and "overlapping" in switches:
                rate, gathered = rate + left.number / job.every, left.command
            elif not left.lasting and left.number and not (reaps or _others_reap(ctx)):
                rate, gathered, dead = rate + left.number / job.every, left.command, True
        ctx.update(jobs=tuple(tuple(job) for job in jobs))
        if rate:
            pids.begin(ctx.world, ctx.process, gathered, rate, dead=dead)

    def _say(self, ctx: ProcessContext, quiet: bool, level: str, text: str) -> None:
        if not quiet or level != "info":
            ctx.log(_line(ctx.wall(), level, text))

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Say that no process is left for a job; what is said from then on is :meth:`lines`."""
        if reason == pids.NONE_LEFT and "failing" not in ctx.process.state:
            ctx.update(failing=ctx.now())

    def lines(self, ctx: ProcessContext, since: int, limit: int | None = None) -> list[Line]:
        """What is said of runs that cannot be started, at or after ``since``, the end only where there is a ``limit``."""
        state, process = ctx.process.state, ctx.process
        leak = pids.leak_of(ctx.world, process)
        if "failing" not in state or leak is None or leak.slope > 0.0:
            return []
        found: list[Line] = []
        for fields in state["jobs"]:
            job = Job(*fields)
            step = int(job.every * SECOND)
            last = (ctx.now() - process.started_at) // step
            first = max(-(-(max(since, state["failing"]) - process.started_at) // step), last - KEPT_LINES)
            for run in range(last, max(first, 0) - 1, -1):
                time = process.started_at + run * step
                text = (
                    f'time="{_stamp(time)}" level=error msg="error running command: fork/exec /bin/sh: resource temporarily unavailable" '
                    f'iteration={run} job.command="{job.command}" job.position={job.position} job.schedule="{job.schedule}"'
                )
                found.append(Line(time, text))
                if limit is not None and len(found) >= limit:
                    break
        found.sort(key=lambda line: line.time)
        return found if limit is None else found[-limit:] if limit else []

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Its last lines go into the stored log; what it has gathered ends with it."""
        process = ctx.process
        log = ctx.world.log((process.key[0], process.container, process.restart))
        for line in self.lines(ctx, 0):
            log.write(line.time, line.text)
        return 0.3, 0

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """A few hundredths of a core for what its jobs do."""
        return Usage(0.03, ctx.process.memory)


def _line(time: int, level: str, text: str) -> str:
    return f'time="{_stamp(time)}" level={level} msg="{text}"'


def _stamp(time: int) -> str:
    return f"{rfc3339(time)[:19]}Z"


def _options(words: Sequence[str]) -> tuple[frozenset[str], str]:
    """The switches of a command line, and the crontab that it names."""
    switches, path, skip = set(), "", False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-") and not path:
            name = word.lstrip("-").partition("=")
            skip = f"-{name[0]}" in VALUED and not name[1]
            if name[2] not in ("false", "0"):
                switches.add(name[0])
        else:
            path = path or word
    return frozenset(switches), path


def _pod(ctx: ProcessContext) -> Mapping[str, object]:
    pod = addressing.pod_of(ctx.world, ctx.process)
    spec: Mapping[str, object] = {} if pod is None else pod["spec"]
    return spec


def _first(ctx: ProcessContext) -> bool:
    """Whether it is the first process that it sees."""
    spec = _pod(ctx)
    return not (spec.get("shareProcessNamespace") or spec.get("hostPID"))


def _others_reap(ctx: ProcessContext) -> bool:
    """Whether the first process is somebody else's, which waits for whatever falls to it: the pause container's, or systemd."""
    return not _first(ctx)


def _jobs(text: str) -> tuple[list[Job], str]:
    """The jobs of a crontab, or the line that is none."""
    found: list[Job] = []
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#") or re.match(r"\w+\s*=", line):
            continue
        match = _SECONDS.match(line) or _FIELDS.match(line)
        if match is None:
            return found, line[:200]
        schedule = match[1].strip()
        if len(found) < JOBS:
            found.append(Job(len(found), schedule, _every(schedule), match[2].strip()[:400]))
    return found, ""


def _every(schedule: str) -> float:
    """Seconds between two runs: of the first field that is no bare star."""
    if schedule in _NAMED:
        return float(_NAMED[schedule])
    fields = schedule.split()
    units = (1, 60, 3600, 86_400) if len(fields) == 7 else (60, 3600, 86_400)
    for field, unit in zip(fields, units, strict=False):
        step = _EVERY.match(field)
        if step:
            return float(max(whole(step[1], 1), 1) * unit)
        if field in ("*", "?"):
            return float(unit)
        listed = field.count(",") + 1
        if listed > 1:
            return {1: 60.0, 60: 3600.0, 3600: 86_400.0}.get(unit, 86_400.0) / listed
    return 86_400.0


def _left(ctx: ProcessContext, job: Job) -> Left:
    """What a run leaves: read off the script that it runs, or off the command itself."""
    script = job.command
    for word in job.command.split():
        if word.startswith("/") and not word.startswith(("/bin/", "/usr/bin/")):
            try:
                script = ctx.read(word)[:LONGEST]
            except OSError:
                return Left(0, "", False)
            break
    code = "\n".join(line for line in script.splitlines() if not line.lstrip().startswith("#"))
    loop = _LOOP.search(code)
    times = min(whole(loop[1] or loop[2], 0), MOST) if loop else 1
    command = next((name for name in _COMMANDS if re.search(rf"\b{name}\b", code)), "sh")
    if _FOR_EVER.search(code):
        # A shell for each, and the one that waits for them.
        return Left(times * 2 + 1, command, True)
    return Left(times if _DETACHED.search(code) else 0, command, False)
