"""The on-call workstation: a shell with kubectl, curl, alerts, promql, logql, traces and submit, whose every command takes time.

Simple command lines go straight to the command; everything else goes through the interpreted shell. The
files, variables and kubeconfig of the session persist from action to action. Nothing typed here reaches a
real shell, file or socket.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.identity import User
from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.effort import EffortExceeded
from sregym_env.runtime.numbers import whole
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.commands.curl import curl
from sregym_env.shell.commands.python import python
from sregym_env.shell.files import FileEntry, Files, SymlinkEntry, encoded, readable
from sregym_env.shell.shell import KILLED, Limits, Shell, ShellCommand
from sregym_env.tools.alerts import alerts
from sregym_env.tools.background import Background, JobCommands, Wire
from sregym_env.tools.call import Submission, ToolOutcome
from sregym_env.tools.helm import helm
from sregym_env.tools.jobs import Jobs
from sregym_env.tools.kubectl.app import Kubectl, changes
from sregym_env.tools.kubectl.desk import Listener
from sregym_env.tools.logql import logql
from sregym_env.tools.machine import ADDRESS, COMMANDS, FILES
from sregym_env.tools.network import NetworkCommands
from sregym_env.tools.openssl import Openssl
from sregym_env.tools.promql import promql
from sregym_env.tools.ssh import ssh
from sregym_env.tools.submit import from_argv, from_line
from sregym_env.tools.taxonomy import told
from sregym_env.tools.traces import traces

READ_SECONDS = 1.0
"""What looking costs in the cluster's time."""
WRITE_SECONDS = 2.0
"""What changing something costs."""
LINE_LIMIT = 3600.0
"""Seconds of the cluster's time after which a command line is killed."""
MAX_SLEEP = 600.0
"""The longest single ``sleep``, seconds."""
MAX_LINE = 256 * 1024
"""Characters in one action."""
UNLIMITED = 1_000_000_000
"""Commands, where nobody counts."""

HOME = "/home/oncall"

_SINGLE_QUOTED = re.compile(r"'[^']*'")
_SHELL_SYNTAX = re.compile(r"[|&;<>()$`\\\n*?\[\]{}~#!]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)\Z")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Workstation:
    """One engineer's session on a world."""

    def __init__(
        self,
        world: World,
        user: User,
        namespace: str = "default",
        *,
        _parent: Workstation | None = None,
    ) -> None:
        """``user`` is the API identity; ``namespace`` the kubeconfig's current one."""
        self.world = world
        self.user = user
        self.seed: int = 0 if _parent is None else _parent.seed
        """From which ``$RANDOM`` is drawn; to be set before the first line that needs a shell."""
        self._spent = 0.0
        self._limit = LINE_LIMIT
        self._submissions: list[Submission] = []
        self._used = ""
        self._count, self._allowed = 0, UNLIMITED
        self.defect: Exception | None = None
        """What of ours broke while the last line ran."""
        cluster = world.cluster.as_user(user)
        if _parent is None:
            self._kubectl = Kubectl(cluster, namespace)
            self.jobs = Jobs()
            self._session: Shell | None = None
        else:
            self._kubectl = _parent._kubectl.with_cluster(cluster)
            self.jobs = _parent.jobs.fork()
            self._session = None if _parent._session is None else _parent._session.fork()

    def fork(self, world: World) -> Workstation:
        """The same session, files and all, in a forked world."""
        return Workstation(world, self.user, _parent=self)

    def __getstate__(self) -> dict[str, Any]:
        """The session between two command lines."""
        names = ("world", "user", "seed", "jobs", "_kubectl", "_session")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._spent, self._limit, self._submissions, self._used = 0.0, LINE_LIMIT, [], ""
        self._count, self._allowed = 0, UNLIMITED
        self.defect = None
        for name, value in state.items():
            setattr(self, name, value)

    def run(self, line: str, allowed: int = UNLIMITED) -> ToolOutcome:
        """Run one command line; the world's time moves by what it takes.

        ``allowed``: how many commands that reach beyond the workstation (kubectl, curl, alerts, promql ...) it may run; further
        ones are refused.
        """
        self._spent, self._limit, self._submissions, self._used = 0.0, LINE_LIMIT, [], ""
        self._count, self._allowed = 0, allowed
        self.defect = None
        self.jobs.notices = []
        if len(line) > MAX_LINE:
            self._pass(READ_SECONDS)
            text = f"bash: command line too long: {len(line)} characters, the limit is {MAX_LINE}\n"
            return ToolOutcome(text, 126, "parse_error", "shell")
        line = _CONTROL.sub("", line).strip()
        if not line:
            self._pass(READ_SECONDS)
            return ToolOutcome("", 0, "", "shell")
        submitted = from_line(line)
        if isinstance(submitted, Submission):
            return ToolOutcome("", 0, "", "submit", (submitted,))
        if isinstance(submitted, str):
            self._pass(READ_SECONDS)
            return ToolOutcome(submitted, 2, "parse_error", "submit")
        try:
            result = self._carried_out(line)
        except EffortExceeded as error:
            result = ExecResult(stderr=f"{error}\n", exit_code=KILLED)
        except (RecursionError, MemoryError):
            result = ExecResult(stderr="bash: fork: Cannot allocate memory\n", exit_code=254)
        except Exception as error:  # our own defect; whoever types must not be able to void an episode
            self.defect = error
            result = ExecResult(stderr="Segmentation fault (core dumped)\n", exit_code=139)
        return self._outcome(result)

    def _carried_out(self, line: str) -> ExecResult:
        """What a line prints; it takes a second at least."""
        shell, commands = self._shell, self._commands()
        # Only meanwhile: a session that held its commands would keep this workstation, and with it the world.
        shell.attach(commands, self._clock, Background(self))
        try:
            words = _plain_words(line)
            command = None if words is None else commands.get(words[0])
            if words is not None and command is not None:
                result = command(list(words), "", shell)
            else:
                result = shell.run(line)
                self._used = self._used or "shell"
        finally:
            shell.detach()
        # What only computes takes time as well; the time of a submission is the episode's to add.
        if not self._spent and not self._submissions:
            self._pass(READ_SECONDS)
        return result

    def _outcome(self, result: ExecResult) -> ToolOutcome:
        error = ""
        if result.exit_code:
            error = "forbidden" if "(Forbidden)" in result.stderr else "command_error"
        # Bytes that are no text have stood for themselves until here.
        text = readable(result.text + "".join(self.jobs.notices))
        used = self._used or "shell"
        count = min(max(self._count, 1), self._allowed)
        return ToolOutcome(text, result.exit_code, error, used, tuple(self._submissions), count)  # type: ignore[arg-type]

    # --- the session ------------------------------------------------------------------------------

    @property
    def _shell(self) -> Shell:
        if self._session is None:
            self._session = Shell(
                Files({f"{HOME}/.kube/config": self._kubectl.own.text(), **FILES}, mtime=self._clock()),
                {},
                env={
                    "HOME": HOME,
                    "USER": "oncall",
                    "LANG": "C.UTF-8",
                    "PATH": "/usr/local/bin:/usr/bin:/bin",
                    "TERM": "dumb",
                },
                cwd=HOME,
                limits=Limits(),
                seed=self.seed,
                began=self._clock(),
            )
        return self._session

    def _clock(self) -> float:
        return self.world.now() / SECOND

    def _commands(self) -> Mapping[str, ShellCommand]:
        """Our own commands, bound to this session."""
        own: dict[str, ShellCommand] = {
            **JobCommands(self).table(),
            "kubectl": self._run_kubectl,
            "k": self._run_kubectl,
            "curl": self._run_curl,
            "ssh": self._run_ssh,
            "alerts": self._run_alerts,
            "promql": self._run_promql,
            "logql": self._run_logql,
            "traces": self._run_traces,
            "sleep": self._run_sleep,
            "timeout": self._run_timeout,
            "time": self._run_time,
            "date": self._run_date,
            "submit": self._run_submit,
            "hostname": _hostname,
            "whoami": _whoami,
            "which": _which,
            "help": _help,
            "helm": self._run_helm,
            "python3": python,
            "python": python,
            "openssl": partial(self._run_beyond, Openssl(Wire(self)).run),
            **{
                name: partial(self._run_beyond, run)
                for name, run in NetworkCommands(Wire(self)).table().items()
            },
            **COMMANDS,
        }
        return own

    def _pass(self, seconds: float) -> None:
        seconds = min(seconds, self._limit - self._spent)
        if seconds > 0:
            self._spent += seconds
            self.world.advance(seconds)

    def _refused(self) -> ExecResult | None:
        """Count a command that reaches beyond the workstation; why it may not run, if it may not."""
        self._count += 1
        if self._count > self._allowed:
            return ExecResult(
                stderr=f"bash: killed: the episode's budget of commands is used up ({self._allowed} were left)\n",
                exit_code=137,
            )
        return self._expired()

    def _expired(self) -> ExecResult | None:
        if self._spent >= LINE_LIMIT:
            return ExecResult(
                stderr=f"bash: killed: command line took more than {LINE_LIMIT:.0f} seconds\n", exit_code=137
            )
        return None

    def pass_time(self, seconds: float) -> None:
        """Let time pass on behalf of a command, as far as the line may take."""
        self._pass(seconds)

    def call(self, argv: list[str], stdin: str, shell: Shell, complaint: str) -> ExecResult:
        """Run another command on behalf of one of ours."""
        return self._call(argv, stdin, shell, complaint)

    @property
    def names(self) -> list[str]:
        """Commands of this package's that the session has, sorted."""
        return sorted(self._commands())

    @property
    def kubectl(self) -> Kubectl:
        """The session's kubectl."""
        return self._kubectl

    def append(self, path: str, text: str) -> None:
        """Add to a file that a job writes to."""
        files = self._shell.files
        full = self._shell.resolve(path)
        if full != "/dev/null":
            files.put_bytes(full, (files.bytes_of(full) or b"") + encoded(text))

    # --- commands ---------------------------------------------------------------------------------

    def _run_kubectl(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        if (refused := self._refused()) is not None:
            return refused
        self._used = "kubectl"
        before = self.world.now()
        words = tuple(argv[1:])
        ends = before + round((self._limit - self._spent) * SECOND)
        desk = _Desk(shell, self)
        result = self._kubectl.run(words, stdin, desk, ends, desk)
        # Commands that wait (rollout status, delete, wait) have let time pass themselves.
        self._spent += (self.world.now() - before) / SECOND
        self._pass(WRITE_SECONDS if changes(words) else READ_SECONDS)
        return result

    def _run_curl(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        if (refused := self._refused()) is not None:
            return refused
        self._used = "curl"
        answer = curl(
            Wire(self),
            list(argv[1:]),
            lambda path: stdin if path == "-" else shell.files.text(shell.resolve(path)),
        )
        self._pass(max(answer.seconds, 0.1))
        for path, text in answer.files:
            shell.files.put_text(shell.resolve(path), text)
        return answer.result

    def _run_ssh(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        if (refused := self._refused()) is not None:
            return refused
        self._used = self._used or "shell"
        before = self.world.now()
        result = ssh(self.world, argv, stdin, shell, self._limit - self._spent)
        # What waits on the machine has let time pass itself.
        self._spent += (self.world.now() - before) / SECOND
        self._pass(max(result.seconds, READ_SECONDS))
        return replace(self._expired() or result, seconds=0.0)

    def _asked(self, command: str, answer: Callable[[], ExecResult]) -> ExecResult:
        """What a command says that only reads the cluster's monitoring."""
        if (refused := self._refused()) is not None:
            return refused
        self._used = command
        result = answer()
        self._pass(READ_SECONDS)
        return result

    def _run_beyond(self, run: ShellCommand, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """A command that reaches beyond the workstation and says how long it took."""
        if (refused := self._refused()) is not None:
            return refused
        self._used = self._used or "shell"
        result = run(argv, stdin, shell)
        self._pass(max(result.seconds, 0.1))
        return replace(self._expired() or result, seconds=0.0)

    def _run_helm(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        if (refused := self._refused()) is not None:
            return refused
        self._used = self._used or "shell"
        namespace = self._kubectl.kubeconfig.namespace("")
        result = helm(self._kubectl.cluster, namespace, argv, self.world.now())
        self._pass(READ_SECONDS)
        return result

    def _run_promql(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        return self._asked(
            "promql", lambda: promql(self.world.telemetry.metrics, list(argv[1:]), self.world.now())
        )

    def _run_logql(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        return self._asked(
            "logql", lambda: logql(self.world.telemetry.logs, list(argv[1:]), self.world.now())
        )

    def _run_traces(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        return self._asked(
            "traces", lambda: traces(self.world.telemetry.traces, list(argv[1:]), self.world.now())
        )

    def _run_alerts(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        return self._asked("alerts", lambda: alerts(self.world.alerts(), list(argv[1:]), self.world.now()))

    def _run_sleep(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        self._used = self._used or "wait"
        if len(argv) < 2:
            return ExecResult(
                stderr="sleep: missing operand\nTry 'sleep --help' for more information.\n", exit_code=1
            )
        total = 0.0
        for word in argv[1:]:
            match = _DURATION.match(word)
            if match is None and word.startswith("-") and len(word) > 1:
                long = word.startswith("--")
                kind = f"unrecognized option '{word}'" if long else f"invalid option -- '{word[1]}'"
                return _misused("sleep", kind, 1)
            if match is None:
                return ExecResult(stderr=f"sleep: invalid time interval '{word}'\n", exit_code=1)
            total += float(match[1]) * _UNITS[match[2]]
        note = ""
        if total > MAX_SLEEP:
            note = f"sleep: {total:g} seconds is too long here; slept {MAX_SLEEP:g}\n"
            total = MAX_SLEEP
        if self.jobs.detached:
            self.jobs.waits += total
            return ExecResult(stderr=note)
        self._pass(total)
        return self._expired() or ExecResult(stderr=note)

    def _run_timeout(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        at = _timeout_options(argv)
        if isinstance(at, str):
            return _misused("timeout", at, 125)
        if at + 1 >= len(argv):
            return _misused("timeout", "missing operand", 125)
        match = _DURATION.match(argv[at])
        if match is None:
            return _misused("timeout", f"invalid time interval \u2018{argv[at]}\u2019", 125)
        seconds = float(match[1]) * _UNITS[match[2]]
        if seconds and self.jobs.detached:
            self.jobs.limit = seconds
        outer, start = self._limit, self._spent
        if seconds:
            self._limit = min(outer, start + seconds)
        try:
            result = self._call(list(argv[at + 1 :]), stdin, shell, "timeout: failed to run command ")
            late = bool(seconds) and self._spent >= start + seconds
        finally:
            self._limit = outer
        return replace(result, exit_code=124) if late else result

    def _run_time(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        words = list(argv[1:])
        while words and words[0] in ("-p", "--", "--portability"):
            words.pop(0)
        if words and words[0].startswith("-"):
            kind = "unrecognized option" if words[0].startswith("--") else "invalid option --"
            return _misused("time", f"{kind} '{words[0] if kind[0] == 'u' else words[0][1:2]}'", 125)
        before = self.world.now()
        result = self._call(words, stdin, shell, "time: cannot run ") if words else ExecResult()
        spent = (self.world.now() - before) / SECOND
        minutes, seconds = divmod(spent, 60)
        # The processor's time is made up: a measured one would differ from run to run.
        text = f"\nreal\t{minutes:.0f}m{seconds:.3f}s\nuser\t0m0.051s\nsys\t0m0.012s\n"
        return result.then(text, result.exit_code)

    def _call(self, argv: list[str], stdin: str, shell: Shell, complaint: str) -> ExecResult:
        """Run another command on behalf of one of ours."""
        own = self._commands().get(argv[0])
        if own is not None:
            return own(argv, stdin, shell)
        if shell.has(argv[0]):
            return shell.call(argv, stdin)
        return ExecResult(
            stderr=f"{complaint}\u2018{argv[0]}\u2019: No such file or directory\n", exit_code=127
        )

    def _run_date(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        moment = datetime.fromtimestamp(self.world.now() // SECOND, UTC)
        wrong = _date_words(argv)
        if wrong is not None:
            return wrong
        asked = _option(argv, "-d", "--date")
        if asked is not None:
            found = _moment(asked, moment)
            if found is None:
                return ExecResult(stderr=f"date: invalid date \u2018{asked}\u2019\n", exit_code=1)
            moment = found
        formats = [word for word in argv[1:] if word.startswith("+") and word != asked]
        if not formats:
            if (
                iso := next((word for word in argv[1:] if word.startswith(("-I", "--iso"))), None)
            ) is not None:
                unit = iso.partition("=")[2] or iso.removeprefix("-I")
                form = next((form for name, form in _ISO.items() if unit and name.startswith(unit)), "%F")
                return ExecResult(moment.strftime(form) + "\n")
            if any(word in ("-R", "--rfc-email") for word in argv[1:]):
                return ExecResult(moment.strftime("%a, %d %b %Y %H:%M:%S +0000\n"))
            if (rfc := next((word for word in argv[1:] if word.startswith("--rfc-3339")), None)) is not None:
                date = (
                    "%F"
                    if rfc.endswith("date")
                    else "%F %T.000000000+00:00"
                    if rfc.endswith("ns")
                    else "%F %T+00:00"
                )
                return ExecResult(moment.strftime(date) + "\n")
            return ExecResult(moment.strftime("%a %b %e %H:%M:%S UTC %Y\n"))
        # GNU's own letters: what strftime makes of them depends on the platform.
        text = formats[0][1:].replace("%s", str(int(moment.timestamp()))).replace("%N", "000000000")
        return ExecResult(moment.strftime(text) + "\n")

    def _run_submit(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        self._used = "submit"
        understood = from_argv(list(argv[1:]), stdin)
        if isinstance(understood, Submission):
            self._submissions.append(understood)
            return ExecResult()
        if understood == told():
            return ExecResult(f"{understood}\n")
        return ExecResult(stderr=f"{understood}\n", exit_code=2)


class _Desk:
    """The session as kubectl sees it: files, variables, programs and ports."""

    __slots__ = ("_shell", "_station")

    def __init__(self, shell: Shell, station: Workstation) -> None:
        self._shell = shell
        self._station = station

    def read_bytes(self, path: str) -> bytes:
        """Content of a file. Raises FileNotFoundError, IsADirectoryError."""
        full = self._shell.resolve(path)
        data = self._shell.files.bytes_of(full)
        if data is not None:
            return data
        if self._shell.files.is_folder(full):
            raise IsADirectoryError(path)
        raise FileNotFoundError(path)

    def write_bytes(self, path: str, data: bytes) -> None:
        """Write a file. Raises OSError where that cannot be."""
        self._shell.files.put_bytes(self._shell.resolve(path), data)

    def make_directories(self, path: str) -> None:
        """Make sure that a directory exists."""
        self._shell.files.add_directories((self._shell.resolve(path),))

    def is_directory(self, path: str) -> bool:
        """Whether there is a directory at a path."""
        return self._shell.files.is_folder(self._shell.resolve(path))

    def walk(self, path: str) -> Sequence[tuple[str, bytes | None]]:
        """(path relative to the directory, content) of everything in it, sorted; None for directories."""
        return [
            (name, entry.content if isinstance(entry, FileEntry) else None)
            for name, entry in self._shell.files.below(self._shell.resolve(path))
            if not isinstance(entry, SymlinkEntry)
        ]

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        self._shell.files.remove(self._shell.resolve(path))

    def variable(self, name: str) -> str:
        """An environment variable, empty where there is none."""
        return self._shell.env.get(name, "")

    def has(self, name: str) -> bool:
        """Whether there is a command, or a script at a path."""
        return self._shell.has(name) or self._shell.files.bytes_of(self._shell.resolve(name)) is not None

    def execute(self, script: str) -> ExecResult:
        """Run a script in a shell of its own."""
        return self._shell.call(["bash", "-c", script])

    @property
    def detached(self) -> bool:
        """Whether the command runs in the background."""
        return self._station.jobs.detached

    def listen(self, port: int, listener: Listener) -> int:
        """Accept connections on a local port (0: any free one). Raises OSError when it is taken."""
        return self._station.jobs.listen(port, listener, self._station.world.now())

    def close(self, port: int) -> None:
        """Stop accepting connections on a port."""
        self._station.jobs.close(port)

    def read_text(self, path: str) -> str:
        """Content of a file. Raises FileNotFoundError, IsADirectoryError."""
        full = self._shell.resolve(path)
        text = self._shell.files.text(full)
        if text is not None:
            return text
        if self.list_files(path):
            raise IsADirectoryError(path)
        raise FileNotFoundError(path)

    @property
    def folder(self) -> str:
        """The working directory."""
        return self._shell.resolve(".")

    def list_files(self, path: str) -> Sequence[str]:
        """Paths of the files directly in a directory, sorted."""
        full = self._shell.resolve(path)
        return sorted(name for name in self._shell.files.texts() if posixpath.dirname(name) == full)


@lru_cache(maxsize=1024)
def _plain_words(line: str) -> tuple[str, ...] | None:
    """The words of a line that means to a shell what it says; None where the shell must read it."""
    if _SHELL_SYNTAX.search(_SINGLE_QUOTED.sub("''", line)):
        return None
    try:
        words = tuple(shlex.split(line) if '"' in line or "'" in line else line.split())
    except ValueError:
        return None
    return None if not words or "=" in words[0] else words


def _option(argv: Sequence[str], short: str, long: str) -> str | None:
    """The value of an option, attached or not; None if it is absent."""
    for index, word in enumerate(argv):
        if word in (short, long):
            return argv[index + 1] if index + 1 < len(argv) else ""
        if word.startswith(f"{long}="):
            return word.partition("=")[2]
        if word.startswith(short) and not word.startswith("--") and len(word) > len(short):
            return word[len(short) :]
    return None


_AGO = re.compile(r"([+-]?\d+)\s*(sec|second|min|minute|hour|day|week)s?(\s+ago)?\Z")
_SPANS = {"sec": 1, "second": 1, "min": 60, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _shifted(moment: datetime, seconds: int) -> datetime | None:
    try:
        return moment + timedelta(seconds=seconds)
    except OverflowError:
        return None


def _moment(text: str, now: datetime) -> datetime | None:
    """The time that ``date -d`` is asked about, of the forms people use; None for others."""
    words = text.strip().lower()
    if words in ("", "now", "today"):
        return now
    if words in ("yesterday", "tomorrow"):
        return now + timedelta(days=-1 if words == "yesterday" else 1)
    if words.startswith("@") and (since := whole(words[1:].removeprefix("-"))) is not None:
        return _shifted(_EPOCH, -since if words[1] == "-" else since)
    if match := _AGO.match(words):
        count = whole(match[1].lstrip("+-"))
        if count is None:
            return None
        seconds = (-count if match[1][0] == "-" else count) * _SPANS[match[2]]
        return _shifted(now, -seconds if match[3] else seconds)
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


_ISO = {
    "hours": "%Y-%m-%dT%H+00:00",
    "minutes": "%Y-%m-%dT%H:%M+00:00",
    "seconds": "%Y-%m-%dT%H:%M:%S+00:00",
    "ns": "%Y-%m-%dT%H:%M:%S,000000000+00:00",
}
"""Forms of ``date -I``, by the name of their precision."""


def _date_words(argv: Sequence[str]) -> ExecResult | None:
    """The complaint about a command line of ``date``, if there is one."""
    try:
        given, operands = options(
            list(argv[1:]),
            "d:f:I::r:Rs:u",
            {"date": "d:", "file": "f:", "iso-8601": "I::", "reference": "r:", "rfc-email": "R", "rfc-3339": "3:", "set": "s:",
             "utc": "u", "universal": "u", "debug": "D", "help": "h", "version": "V"},
        )  # fmt: skip
    except UsageError as error:
        return _misused("date", str(error), 1)
    flags = dict(given)
    if flags.get("I") and not any(name.startswith(flags["I"]) for name in ("date", *_ISO)):
        return _misused("date", f"invalid argument \u2018{flags['I']}\u2019 for \u2018--iso-8601\u2019", 1)
    if "s" in flags or any(not word.startswith("+") for word in operands):
        text = next((word for word in operands if not word.startswith("+")), flags.get("s", ""))
        if "s" in flags or re.fullmatch(r"\d{8}(\d{2}){0,2}(\.\d{2})?", text):
            return ExecResult(stderr="date: cannot set date: Operation not permitted\n", exit_code=1)
        return ExecResult(stderr=f"date: invalid date \u2018{text}\u2019\n", exit_code=1)
    if len(operands) > 1:
        return _misused("date", f"extra operand \u2018{operands[1]}\u2019", 1)
    return None


def _timeout_options(argv: Sequence[str]) -> int | str:
    """Index of the first word of ``timeout`` that is no option, or what is wrong with one."""
    at = 1
    while at < len(argv) and argv[at].startswith("-") and argv[at] != "--":
        word = argv[at]
        if word.startswith("--"):
            if word.partition("=")[0] not in (
                "--kill-after",
                "--signal",
                "--foreground",
                "--preserve-status",
                "--verbose",
            ):
                return f"unrecognized option '{word}'"
        elif word[1] not in "ksv":
            return f"invalid option -- '{word[1]}'"
        at += 2 if argv[at] in ("-k", "-s", "--kill-after", "--signal") else 1
    return at + 1 if at < len(argv) and argv[at] == "--" else at


def _misused(command: str, text: str, code: int) -> ExecResult:
    return ExecResult(
        stderr=f"{command}: {text}\nTry '{command} --help' for more information.\n", exit_code=code
    )


def _which(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    words = list(argv[1:])
    while words and words[0].startswith("-") and len(words[0]) > 1:
        word = words.pop(0)
        if word not in ("-a", "-s", "-as", "--"):
            text = f"Illegal option {word}\nUsage: /usr/bin/which [-as] args\n"
            return ExecResult(stderr=text, exit_code=2)
    found = [name for name in words if shell.has(name)]
    lines = (name if name.startswith("/") else f"/usr/bin/{name}" for name in found)
    return ExecResult("".join(f"{line}\n" for line in lines), exit_code=int(len(found) < len(words)))


def _whoami(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    try:
        _, operands = options(list(argv[1:]), "", {"help": "h", "version": "v"})
    except UsageError as error:
        return _misused("whoami", str(error), 1)
    if operands:
        return _misused("whoami", f"extra operand \u2018{operands[0]}\u2019", 1)
    return ExecResult("oncall\n")


def _hostname(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    try:
        given, operands = options(
            list(argv[1:]),
            "aAbdfF:iIsyV",
            {
                "alias": "a",
                "domain": "d",
                "fqdn": "f",
                "long": "f",
                "ip-address": "i",
                "all-ip-addresses": "I",
                "short": "s",
            },
        )
    except UsageError as error:
        return ExecResult(
            stderr=f"hostname: {error}\nUsage: hostname [-b] {{hostname|-F file}}\n", exit_code=4
        )
    flags = dict(given)
    if operands:
        return ExecResult(stderr="hostname: you must be root to change the host name\n", exit_code=1)
    if {"i", "I"} & flags.keys():
        return ExecResult(f"{ADDRESS}{' ' if 'I' in flags else ''}\n")
    return ExecResult("\n" if "d" in flags or "a" in flags else "oncall\n")


def _help(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    for word in argv[1:]:
        if word.startswith("-") and word.strip("-") not in ("d", "m", "s", "help", ""):
            text = f"bash: help: -{word[1:2]}: invalid option\nhelp: usage: help [-dms] [pattern ...]\n"
            return ExecResult(stderr=text, exit_code=2)
    return ExecResult(HELP)


HELP = """Commands here: kubectl, helm, curl, wget, nc, dig, nslookup, ping, openssl, alerts, promql (metrics), logql (logs),
traces, ssh (MACHINE COMMAND), sleep, date, timeout, submit, and the usual text tools (grep, awk, sed, jq, sort, head, tail, cut, wc, xargs, ...).
kubectl --help, alerts --help, promql --help, logql --help, traces --help and submit say more. Nothing is interactive.
"""
