"""The shell: a bash interpreted in process, with its own files, its caller's commands and hard limits.

Nothing typed into it reaches a real shell, file, socket or clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.effort import EffortExceeded
from sregym_env.shell import builtins
from sregym_env.shell.commands.library import LIBRARY
from sregym_env.shell.files import Files
from sregym_env.shell.flow import Exit, Flow, Return, ShellError, StopScript
from sregym_env.shell.interpreter import Interpreter, syntax_text
from sregym_env.shell.limits import LimitExceeded, Limits, MemoryExceeded, TimeExceeded
from sregym_env.shell.run import Background, Call, Program
from sregym_env.shell.session import Session
from sregym_env.shell.streams import Input, Terminal
from sregym_env.shell.syntax.commands import parsed
from sregym_env.shell.syntax.words import ScriptError

ShellCommand = Callable[[Sequence[str], str, "Shell"], ExecResult]
"""A command: (argv with its own name first, stdin, the shell that runs it) -> result."""

OUT_OF_MEMORY = 2
"""bash's exit code where it cannot allocate."""
KILLED = 137
"""Exit code of a process that was killed: 128 and the signal's number."""

_BINS = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/")


class Shell:
    """One bash session: files, variables, functions and a directory that persist from run to run.

    ``commands`` come before the library's programs. ``only`` restricts those to these names (what an image really
    has). ``clock`` gives Unix seconds: ``$SECONDS``, ``jq``'s ``now`` and the times of written files come from it.
    ``seed`` starts ``$RANDOM``. A session can be pickled and copied if its commands and its clock can.
    """

    __slots__ = (
        "_clock",
        "_commands",
        "_only",
        "_running",
        "_session",
        "background",
        "exhausted",
        "exited",
        "files",
        "limits",
        "name",
    )

    def __init__(
        self,
        files: Files,
        commands: Mapping[str, ShellCommand],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = "/",
        limits: Limits | None = None,
        only: frozenset[str] | None = None,
        seed: int = 0,
        name: str = "bash",
        clock: Callable[[], float] | None = None,
        began: float | None = None,
    ) -> None:
        self.files = files
        self.limits = limits or _USUAL
        self.name = name
        self._commands: Mapping[str, ShellCommand] = commands
        self._only = only
        self._clock = clock or _stopped
        self._session = Session(env or {}, cwd, name, seed, self._clock() if began is None else began)
        self._running: Interpreter | None = None
        self.background: Background | None = None
        """What becomes of commands that end in ``&``; they run like others where there is nothing for them."""
        self.exited = False
        self.exhausted = ""
        """What the last run has used up: ``time``, ``memory``, or nothing."""
        """Whether the last run ended with ``exit``."""

    # --- what it is ---------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """What the session remembers, that of the running subshell while one runs."""
        running = self._running
        return self._session if running is None else running.session

    @property
    def cwd(self) -> str:
        """The working directory, of the running command's subshell while one runs."""
        return self.session.cwd

    @property
    def env(self) -> Mapping[str, str]:
        """Exported and other variables as the running command sees them."""
        variables = self.session.variables
        return MappingProxyType({name: value for name, value in variables.items() if isinstance(value, str)})

    @property
    def exported(self) -> dict[str, str]:
        """The environment a child process gets, sorted by name."""
        return self.session.exported_variables()

    @property
    def state(self) -> Session:
        """A copy of what the session remembers now."""
        return self._session.copy()

    def resume(self, kept: Session) -> None:
        """Go on where a session stood; files are not part of it."""
        self._session = kept.copy()

    @property
    def clock(self) -> Callable[[], float]:
        """Where the session's time comes from: Unix seconds."""
        return self._clock

    def resolve(self, path: str) -> str:
        """An absolute normal path."""
        return self.files.resolve_path(self.cwd, path)

    # --- commands -----------------------------------------------------------------------------------

    def add_commands(self, commands: Mapping[str, ShellCommand]) -> None:
        """Add or replace commands of this session."""
        self._commands = {**self._commands, **commands}

    def attach(
        self,
        commands: Mapping[str, ShellCommand],
        clock: Callable[[], float],
        background: Background | None = None,
    ) -> None:
        """Have a caller's commands, its clock and its place for what runs in the background, until :meth:`detach`."""
        self._commands, self._clock, self.background = commands, clock, background

    def detach(self) -> None:
        """Let go of what :meth:`attach` brought: a caller who keeps a shell is not kept by it."""
        self._commands, self._clock, self.background = {}, _stopped, None

    def names(self) -> list[str]:
        """Every command there is, sorted."""
        return sorted({*(LIBRARY if self._only is None else self._only & LIBRARY.keys()), *self._commands})

    def has_own(self, name: str) -> bool:
        """Whether a command of the caller's has this name."""
        return name in self._commands

    def own(self, name: str) -> Callable[[Sequence[str], str], ExecResult] | None:
        """A command of the caller's, to be called with its words and its input."""
        command = self._commands.get(name)
        if command is None:
            # Some have a place of their own, to which a path may lead from anywhere.
            command = self._commands.get(self.resolve(name)) if "/" in name else None
            if command is None and name.startswith("/"):
                command = self._commands.get(_short(name))
            if command is None:
                return None
        return partial(_called, command, self)

    def program(self, name: str) -> Program | None:
        """A command of the library, if there is one here."""
        if name.startswith("/"):
            name = _short(name)
        if self._only is not None and name not in self._only:
            return None
        return LIBRARY.get(name)

    def has(self, name: str) -> bool:
        """Whether a command of that name or path exists."""
        return self.own(name) is not None or self.program(name) is not None

    # --- running ------------------------------------------------------------------------------------

    def run(self, script: str, stdin: str = "") -> ExecResult:
        """Run a script in this session. Never raises for anything the script does."""
        if len(script) > self.limits.script_bytes:
            return ExecResult(stderr=f"{self.name}: Argument list too long\n", exit_code=126)
        try:
            tree = parsed(script)
        except ScriptError as error:
            return ExecResult(stderr=f"bash: {syntax_text(error, script)}\n", exit_code=2)
        return self._run(lambda run: run.script(tree), stdin)

    def call(self, argv: Sequence[str], stdin: str = "") -> ExecResult:
        """Run one command without a shell in between, as ``exec`` does. The command must exist."""
        return self._run(lambda run: run.program(list(argv)), stdin)

    def wrap_commands(self, wrap: Callable[[ShellCommand], ShellCommand]) -> None:
        """Put something around every command of the caller's."""
        self._commands = {name: wrap(command) for name, command in self._commands.items()}

    def show(self, result: ExecResult) -> None:
        """Write what a command has printed so far, for one that goes on; a command of the caller's may do so."""
        if self._running is not None:
            self._running.show(result)

    def library(self, name: str, arguments: Sequence[str], stdin: str = "") -> ExecResult:
        """Run a program of the library, also where a command of the caller's has taken its name."""
        return self._run(lambda run: run.show(LIBRARY[name](list(arguments), Call(run, name, stdin))), stdin)

    def fork(
        self,
        commands: Mapping[str, ShellCommand] | None = None,
        clock: Callable[[], float] | None = None,
    ) -> Shell:
        """An independent session in the same state, with other commands and another clock if given."""
        twin = Shell.__new__(Shell)
        twin.files = self.files.fork()
        twin.limits, twin.name = self.limits, self.name
        twin._commands = self._commands if commands is None else commands
        twin._only = self._only
        twin._clock = clock or self._clock
        twin._session = self._session.copy()
        twin._running, twin.background, twin.exited, twin.exhausted = None, None, False, ""
        return twin

    def _run(self, do: Callable[[Interpreter], int], stdin: str) -> ExecResult:
        running = self._running
        if running is not None:
            # A command of the caller's runs another: it belongs to the same line, and draws on the same
            # budget.
            return running.captured(lambda: do(running), stdin)
        self.exited = False
        self.exhausted = ""
        self.files.mtime = self._clock()
        session = self._session
        run = Interpreter(self, session, builtins.TABLE)
        run.table.update({0: Input(stdin), 1: Terminal(run.transcript, 1), 2: Terminal(run.transcript, 2)})
        self._running = run
        try:
            code = self._guarded(run, do)
        finally:
            self._running = None
            run.let_go()
        return run.transcript.result(code & 255, run.spent)

    def _guarded(self, run: Interpreter, do: Callable[[Interpreter], int]) -> int:
        """Run, and put into words whatever ended it."""
        table = run.table
        try:
            code = self._ended(run, do)
            run.flush()
            return code
        except (EffortExceeded, TimeExceeded):
            self.exhausted = "time"
            run.session, run.table = self._session, table
            run.flush()
            run.err("Killed\n")
            self._session.exit_code = KILLED
            return KILLED
        except MemoryExceeded as error:
            self.exhausted = "memory"
            # A program complains in its own name.
            run.session, run.table = self._session, table
            run.flush()
            named = str(error).startswith(("awk:", "sed:", "jq:"))
            run.err(f"{'' if named else 'bash: '}{error}\n")
            self._session.exit_code = OUT_OF_MEMORY
            return OUT_OF_MEMORY
        except LimitExceeded as error:
            text, code = str(error), 126
        except RecursionError:
            text, code = "maximum nesting level exceeded", 2
        except MemoryError:
            self.exhausted = "memory"
            text, code = "xmalloc: cannot allocate memory", OUT_OF_MEMORY
        except OSError as error:
            text, code = f"{error.filename}: {error.strerror}" if error.filename else str(error), 1
        except Exception as error:  # a defect of the interpreter or of a command must not end an episode
            # Python's own words about a number of thousands of digits are nobody's here.
            far = "integer string conversion" in str(error)
            text, code = "Numerical result out of range" if far else str(error), 1
        # Whatever subshell or redirection it happened in, the complaint is for the terminal.
        run.session, run.table = self._session, table
        run.flush()
        run.complain(text)
        self._session.exit_code = code
        return code

    def _ended(self, run: Interpreter, do: Callable[[Interpreter], int]) -> int:
        session = self._session
        try:
            return do(run)
        except Exit as end:
            self.exited = end.asked
            return run.finish(end.code) if end.asked else end.code
        except StopScript:
            return 0
        except Return as end:
            return end.code
        except Flow:
            return session.exit_code
        except ShellError as error:
            run.complain(str(error))
            session.exit_code = error.code
            return error.code


def _called(command: ShellCommand, shell: Shell, argv: Sequence[str], stdin: str) -> ExecResult:
    return command(argv, stdin, shell)


def _short(name: str) -> str:
    """The command that a path of a usual directory names."""
    for prefix in _BINS:
        if name.startswith(prefix):
            return name[len(prefix) :]
    return name


def _stopped() -> float:
    """The clock of a shell that was given none."""
    return 0.0


_USUAL = Limits()

__all__ = ["Background", "Limits", "Shell", "ShellCommand", "StopScript"]
