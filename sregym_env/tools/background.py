"""Commands that go on in the background of the workstation: ``&``, ``jobs``, ``kill``, ``wait``, forwarded ports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import urlsplit

from sregym_env.cluster.api import World
from sregym_env.cluster.http import HttpCall, HttpExchange, Lookup
from sregym_env.cluster.identity import User
from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.status import StatusError, not_found
from sregym_env.runtime.clock import SECOND
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.shell import Shell, ShellCommand
from sregym_env.tools.jobs import FIRST_PID, Job, Jobs
from sregym_env.tools.kubectl.app import Kubectl
from sregym_env.tools.kubectl.desk import Forward, Proxy
from sregym_env.tools.kubectl.proxy import answer

WAIT_LIMIT = 60.0
"""Seconds for which ``wait`` waits for a job that does not end by itself."""

LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")
"""Names of the workstation itself."""

_SIGNALS = "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM\n"


class Station(Protocol):
    """The workstation as its jobs see it."""

    jobs: Jobs
    user: User

    @property
    def world(self) -> World:
        """The world it stands in."""
        ...

    @property
    def kubectl(self) -> Kubectl:
        """The session's kubectl."""
        ...

    def pass_time(self, seconds: float) -> None:
        """Let time pass on behalf of a command, as far as the line may take."""
        ...

    def call(self, argv: list[str], stdin: str, shell: Shell, complaint: str) -> ExecResult:
        """Run another command on behalf of one of ours."""
        ...

    def append(self, path: str, text: str) -> None:
        """Add to a file that a job writes to."""
        ...


class Background:
    """What the shell of a workstation does with commands that end in ``&``."""

    __slots__ = ("_station",)

    def __init__(self, station: Station) -> None:
        self._station = station

    def begin(self) -> None:
        """A command is started in the background."""
        self._station.jobs.begin()

    def end(self, command: str, exit_code: int, output: str) -> int:
        """It goes on as a job; its process number."""
        station = self._station
        return station.jobs.started(command, exit_code, station.world.now(), output).pid

    def wait(self, words: list[str]) -> tuple[int, str]:
        """Wait for jobs; for those that never end as long as makes sense."""
        station = self._station
        now = station.world.now()
        wanted = [word for word in words if not word.startswith("-")]
        found = [job for job in station.jobs.known if job.running(now)]
        if wanted:
            found = []
            for word in wanted:
                job = station.jobs.find(word, now)
                if job is None:
                    return 127, f"bash: wait: pid {word} is not a child of this shell\n"
                found.append(job)
        code = 0
        for job in found:
            if job.running(station.world.now()):
                ends = now + round(WAIT_LIMIT * SECOND) if job.ends is None else job.ends
                station.pass_time(max(0.0, (ends - station.world.now()) / SECOND))
            # Without operands `wait` succeeds, whatever became of the jobs.
            code = job.exit_code if wanted else 0
        return code, ""


class JobCommands:
    """``jobs``, ``kill`` and their like, bound to a session."""

    __slots__ = ("_station",)

    def __init__(self, station: Station) -> None:
        self._station = station

    def table(self) -> Mapping[str, ShellCommand]:
        """The commands by name."""
        return {
            "jobs": self.jobs,
            "kill": self.kill,
            "pkill": self.pkill,
            "pgrep": self.pgrep,
            "fg": self.foreground,
            "bg": quiet,
            "disown": quiet,
            "nohup": self.nohup,
            "ps": self.processes,
            "ss": self.sockets,
        }

    def jobs(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``jobs``."""
        station = self._station
        if (wrong := _invalid(argv, "lnprs", "[-lnprs] [jobspec ...] or jobs -x command [args]")) is not None:
            return wrong
        flags = "".join(word[1:] for word in argv[1:] if word.startswith("-"))
        return ExecResult(station.jobs.listing(station.world.now(), pids="p" in flags, long="l" in flags))

    def kill(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``kill``."""
        return _kill(self._station, argv)

    def pkill(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``pkill``."""
        if (wrong := _pattern(argv)) is not None:
            return wrong
        found = _matching(self._station, argv)
        for job in found:
            self._station.jobs.kill(job, self._station.world.now())
        return ExecResult(exit_code=0 if found else 1)

    def pgrep(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``pgrep``."""
        if (wrong := _pattern(argv)) is not None:
            return wrong
        found = _matching(self._station, argv)
        return ExecResult("".join(f"{job.pid}\n" for job in found), exit_code=0 if found else 1)

    def foreground(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``fg``."""
        if (wrong := _invalid(argv, "", "[job_spec]")) is not None:
            return wrong
        word = argv[1] if len(argv) > 1 else "%+"
        job = self._station.jobs.find(word, self._station.world.now())
        if job is None:
            shown = "current" if word == "%+" else word
            return ExecResult(stderr=f"bash: fg: {shown}: no such job\n", exit_code=1)
        Background(self._station).wait([str(job.pid)])
        return ExecResult(f"{job.command}\n")

    def nohup(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``nohup``."""
        if len(argv) > 1 and argv[1].startswith("-"):
            kind = (
                f"unrecognized option '{argv[1]}'"
                if argv[1][:2] == "--"
                else f"invalid option -- '{argv[1][1:2]}'"
            )
            return ExecResult(
                stderr=f"nohup: {kind}\nTry 'nohup --help' for more information.\n", exit_code=125
            )
        if len(argv) < 2:
            text = "nohup: missing operand\nTry 'nohup --help' for more information.\n"
            return ExecResult(stderr=text, exit_code=125)
        return self._station.call(list(argv[1:]), stdin, shell, "nohup: failed to run command ")

    def processes(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``ps``."""
        if (wrong := _ps_option(argv)) is not None:
            return wrong
        return ExecResult(_processes(self._station, argv))

    def sockets(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``ss``."""
        try:
            options(list(argv[1:]), "HOnraleompizbETsNZtuxwdSK46f:A:F:hV", _SS_LONG)
        except UsageError as error:
            return ExecResult(
                stderr=f"ss: {error}\nUsage: ss [ OPTIONS ]\n       ss [ OPTIONS ] [ FILTER ]\n",
                exit_code=255,
            )
        return ExecResult(_sockets(self._station))


def quiet(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """Do nothing and say nothing: ``bg``, ``disown``."""
    known = {"bg": ("", "[job_spec ...]"), "disown": ("ahr", "[-h] [-ar] [jobspec ... | pid ...]")}
    letters, usage = known[argv[0]]
    return _invalid(argv, letters, usage) or ExecResult()


def _invalid(argv: Sequence[str], letters: str, usage: str) -> ExecResult | None:
    """What a builtin says of an option that it does not know."""
    for word in argv[1:]:
        if word == "--" or not word.startswith("-") or len(word) < 2 or word[1:].isdecimal():
            return None
        wrong = next((letter for letter in word[1:] if letter not in letters), "")
        if wrong:
            text = f"bash: {argv[0]}: -{wrong}: invalid option\n{argv[0]}: usage: {argv[0]} {usage}\n"
            return ExecResult(stderr=text, exit_code=2)
    return None


_SS_LONG = {
    "tcp": "t", "udp": "u", "listening": "l", "numeric": "n", "processes": "p", "all": "a", "no-header": "H", "summary": "s",
    "extended": "e", "memory": "m", "info": "i", "resolve": "r", "ipv4": "4", "ipv6": "6", "unix": "x", "options": "o",
}  # fmt: skip


def _ps_option(argv: Sequence[str]) -> ExecResult | None:
    """What procps says of an option that it does not know."""
    for word in argv[1:]:
        if word.startswith("--") and word[2:].partition("=")[0] not in _PS_LONG:
            text = "error: unknown gnu long option"
        elif word.startswith("-") and not set(word[1:].partition("=")[0]) <= set(_PS_LETTERS):
            text = "error: unsupported SysV option"
        else:
            continue
        text += "\n\nUsage:\n ps [options]\n\n Try 'ps --help <simple|list|output|threads|misc|all>'\n"
        return ExecResult(
            stderr=f"{text}  or 'ps --help <s|l|o|t|m|a>'\n for additional help text.\n\nFor more details see ps(1).\n",
            exit_code=1,
        )
    return None


_PS_LETTERS = "AadefFlMjyHcLmTwVNstupgGUCqOo,0123456789-xXrSnhk"
_PS_LONG = frozenset(
    "sort pid ppid user group cols columns width headers no-headers forest info help version deselect".split()
)


def _pattern(argv: Sequence[str]) -> ExecResult | None:
    """What ``pkill`` and ``pgrep`` say of a command line without a pattern, or with an option that they do not know."""
    name, words, patterns = argv[0], list(argv[1:]), 0
    while words:
        word = words.pop(0)
        if word.startswith("-") and len(word) > 1:
            plain = word.lstrip("-").partition("=")[0]
            signal = plain.isdecimal() or plain.removeprefix("SIG") in _SIGNALS.split()
            known = (
                plain in _PATTERN_LONG
                if word.startswith("--")
                else set(plain) <= set("acdefgGilnoPstuUvwxHq")
            )
            if not signal and not known:
                kind = (
                    f"unrecognized option '{word}'"
                    if word.startswith("--")
                    else f"invalid option -- '{word[1:2]}'"
                )
                text = f"{name}: {kind}\n\nUsage:\n {name} [options] <pattern>\n\nFor more details see {name}(1).\n"
                return ExecResult(stderr=text, exit_code=2)
            if word in ("-u", "-U", "-g", "-G", "-P", "-s", "-t", "-d", "--signal") and words:
                words.pop(0)
        else:
            patterns += 1
    if not patterns:
        text = f"{name}: no matching criteria specified\nTry `{name} --help' for more information.\n"
        return ExecResult(stderr=text, exit_code=2)
    return None


_PATTERN_LONG = frozenset(
    "full list-name list-full count exact newest oldest inverse ignore-case signal echo parent euid uid group delimiter".split()
)


def _kill(station: Station, argv: Sequence[str]) -> ExecResult:
    words = list(argv[1:])
    if words[:1] == ["-l"]:
        return ExecResult(_SIGNALS)
    if words[:1] == ["-s"]:
        words = words[2:]
    only_asks = words[:1] == ["-0"]
    words = [word for word in words if not word.startswith("-")]
    if not words:
        text = (
            "kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]\n"
        )
        return ExecResult(stderr=text, exit_code=2)
    errors, now = "", station.world.now()
    for word in words:
        job = station.jobs.find(word, now)
        if job is not None and job.running(now):
            if not only_asks:
                station.jobs.kill(job, now)
        elif word.startswith("%"):
            errors += f"bash: kill: {word}: no such job\n"
        elif word.isdecimal():
            errors += f"bash: kill: ({word}) - No such process\n"
        else:
            errors += f"bash: kill: {word}: arguments must be process or job IDs\n"
    return ExecResult(stderr=errors, exit_code=int(bool(errors)))


def _processes(station: Station, argv: Sequence[str]) -> str:
    """What ``ps`` lists: the shell, its jobs, and itself."""
    now = station.world.now()
    jobs = [job for job in station.jobs.known if job.running(now)]
    listed = [(1, "bash"), *((job.pid, job.command) for job in jobs), (FIRST_PID - 1, " ".join(argv))]
    if not any("u" in word or "f" in word for word in argv[1:]):
        rows = [f"{pid:>7} ?        00:00:00 {command.split(' ')[0]}\n" for pid, command in listed]
        return "    PID TTY          TIME CMD\n" + "".join(rows)
    clock = datetime.fromtimestamp(now // SECOND, UTC).strftime("%H:%M")
    rows = [
        f"oncall   {pid:>7}  0.0  0.1 746612 42180 ?        Sl   {clock}   0:00 {command}\n"
        for pid, command in listed
    ]
    return "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n" + "".join(rows)


def _sockets(station: Station) -> str:
    """What ``ss -tlnp`` lists: the ports that jobs listen on."""
    now = station.world.now()
    lines = ["State    Recv-Q   Send-Q     Local Address:Port      Peer Address:Port  Process\n"]
    for job in station.jobs.known:
        if not job.running(now):
            continue
        for port in job.ports:
            local = f"127.0.0.1:{port}"
            owner = f'users:(("kubectl",pid={job.pid},fd=8))'
            lines.append(f"LISTEN   0        4096       {local:>18}           0.0.0.0:*      {owner}\n")
    return "".join(lines)


def _matching(station: Station, argv: Sequence[str]) -> list[Job]:
    """The jobs that ``pkill`` and ``pgrep`` mean."""
    words = [word for word in argv[1:] if not word.startswith("-")]
    if not words:
        return []
    whole = any(word.startswith("-") and "f" in word for word in argv[1:])
    named = station.jobs.named(words[0], station.world.now())
    return named if whole else [job for job in named if words[0] in job.command.split(" ")[0]]


_NOWHERE = HttpExchange("no_such_host", "lookup", "", 0, lookup=Lookup("NXDOMAIN"))
"""What becomes of a request to something that is no host."""


class Wire:
    """How curl reaches things: ports that jobs of the workstation listen on, and the cluster's network."""

    __slots__ = ("_station",)

    def __init__(self, station: Station) -> None:
        self._station = station

    def now(self) -> int:
        """The present."""
        return self._station.world.now()

    def request(self, call: HttpCall) -> HttpExchange:
        """One HTTP request."""
        station = self._station
        try:
            parts = urlsplit(call.url)
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            return _NOWHERE
        if parts.hostname in LOCAL and parts.scheme != "dns":
            listener = station.jobs.listener(port, station.world.now())
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            if isinstance(listener, Forward):
                return _forwarded(station, port, listener, replace(call, url=target))
            if isinstance(listener, Proxy):
                return _proxied(station, port, listener, target, call.method)
        return station.world.request(call)


def _forwarded(station: Station, port: int, forward: Forward, call: HttpCall) -> HttpExchange:
    """A request to a local port behind which a pod is; the job ends when the connection cannot be made."""
    now = station.world.now()
    station.jobs.say(port, f"Handling connection for {port}\n", now, station.append)
    try:
        done = _through(station, forward, call)
    except StatusError as error:
        reason = error.message
    else:
        if done.outcome not in ("refused", "no_such_host"):
            return replace(done, address="127.0.0.1", port=port)
        where = f'"/var/run/netns/cni-{forward.uid}"'
        reason = (
            f"error forwarding port {forward.port} to pod {forward.uid.replace('-', '')}, uid : failed to execute "
            f"portforward in network namespace {where}: failed to connect to localhost:{forward.port} inside "
            f"namespace {where}, IPv4: dial tcp4 127.0.0.1:{forward.port}: connect: connection refused IPv6 dial "
            "tcp6: address localhost: no suitable address found "
        )
    escaped = reason.replace('"', '\\"')
    stamp = datetime.fromtimestamp(now // SECOND, UTC).strftime("%m%d %H:%M:%S")
    text = (
        f'E{stamp}.000000 {station.jobs.last_pid:>7} portforward.go:424] "Unhandled Error" err="an error occurred '
        f'forwarding {port} -> {forward.port}: {escaped}"\nerror: lost connection to pod\n'
    )
    station.jobs.say(port, text, now, station.append)
    station.jobs.lose(port, now)
    return HttpExchange("reset", "done", "127.0.0.1", port, seconds=0.01)


def _through(station: Station, forward: Forward, call: HttpCall) -> HttpExchange:
    """The request in the pod's network. Raises StatusError where the pod is gone or down."""
    pod = station.world.cluster.get("pods", forward.pod, forward.namespace)
    # A connection belongs to one pod: a StatefulSet's next one of that name is another.
    if forward.uid and pod["metadata"]["uid"] != forward.uid:
        raise not_found("pods", forward.pod)
    return station.world.cluster.as_user(station.user).forward(
        forward.namespace, forward.pod, forward.port, call
    )


def _proxied(station: Station, port: int, proxy: Proxy, path: str, method: str) -> HttpExchange:
    """A request to a local port behind which the API server is."""
    status, body = answer(station.kubectl, proxy, method, path)
    kind = "application/json" if body.startswith(("{", "[")) else "text/plain; charset=utf-8"
    shown = "" if method == "HEAD" else body
    return HttpExchange("ok", "done", "127.0.0.1", port, status, {"Content-Type": kind}, shown, 0.02, 0.001)
