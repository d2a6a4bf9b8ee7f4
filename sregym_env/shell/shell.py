"""The shell: a bash interpreted in process, with its own files, its caller's commands and hard limits.

Nothing typed into it reaches a real shell, file, socket or clock. The interpreter is ``just-bash`` (pinned);
this module is the only place, with its neighbours, that knows it.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from shlex import quote
from typing import Any

from just_bash.commands import create_command_registry
from just_bash.interpreter import ExitError, InterpreterState, VariableStore
from just_bash.interpreter.errors import ExecutionLimitError, InterpreterError
from just_bash.interpreter.types import VariableMetadata
from just_bash.parser import parse
from just_bash.parser.parser import ParseException
from just_bash.types import CommandContext, ExecutionLimits
from just_bash.types import ExecResult as BashResult

from sregym_env.cluster.api import ExecResult
from sregym_env.shell import bounds, patterns
from sregym_env.shell.awk import Awk
from sregym_env.shell.commands import library
from sregym_env.shell.driver import drive
from sregym_env.shell.files import Clock, Files
from sregym_env.shell.interpreter import Background, Budget, PipelineInterpreter, ending
from sregym_env.shell.text import Paste, Sort, Wc
from sregym_env.shell.xargs import Xargs

ShellCommand = Callable[[Sequence[str], str, "Shell"], ExecResult]
"""A command: (argv with its own name first, stdin, the shell that runs it) -> result."""

WITHHELD = frozenset(
    "sleep timeout date curl time hostname whoami alias history html-to-markdown sqlite3 help shuf bash sh "
    "argv.py printenv.py which".split()
)
"""Commands of the interpreter that would touch a clock, the network or chance, or that we do better."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one ``run`` may use before it is cut short."""

    commands: int = 20_000
    loop_iterations: int = 10_000
    depth: int = 60
    script_bytes: int = 256 * 1024
    output_bytes: int = 1024 * 1024


class StopScript(ExitError):  # type: ignore[misc]
    """Raised by a command to end the running script at once; what was printed so far is its output."""

    def __init__(self) -> None:
        super().__init__(0)


class Variables(VariableStore):  # type: ignore[misc]
    """Shell variables that refuse to grow without bound."""

    limit = 1024 * 1024
    """Bytes in one variable."""

    def __setitem__(self, name: str, value: str) -> None:
        if len(value) > self.limit:
            raise ExecutionLimitError(f"{name}: value too large", "commands")
        super().__setitem__(name, value)

    @staticmethod
    def exported(values: Mapping[str, str]) -> Variables:
        """Variables that are all exported."""
        variables = Variables(values)
        variables._metadata = _Metadata(frozenset(values))
        return variables

    def copy(self) -> Variables:
        """An independent copy, attributes included."""
        twin = Variables(self)
        known = self._metadata
        twin._metadata = _Metadata(known.exported if isinstance(known, _Metadata) else frozenset())
        for name, metadata in known.items():
            twin._metadata[name] = VariableMetadata(set(metadata.attributes), metadata.nameref_target)
        twin._local_meta_scopes = list(self._local_meta_scopes)
        return twin


class _Metadata(dict[str, Any]):
    """Attributes of variables; those of a large exported environment are made when they are asked for."""

    def __init__(self, exported: frozenset[str]) -> None:
        super().__init__()
        self.exported = exported

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or name in self.exported

    def __missing__(self, name: str) -> Any:
        if name not in self.exported:
            raise KeyError(name)
        made = self[name] = VariableMetadata({"x"})
        return made

    def get(self, name: str, default: Any = None) -> Any:
        """The attributes of a variable, or ``default``."""
        return self[name] if name in self else default  # noqa: SIM401 (this is get itself)


class _Adapter:
    """One of our commands, as the interpreter calls it."""

    __slots__ = ("_command", "_shell", "name")

    def __init__(self, name: str, command: ShellCommand, shell: Shell) -> None:
        self.name = name
        self._command = command
        self._shell = shell

    async def execute(self, args: list[str], ctx: CommandContext) -> BashResult:
        """Run it with the environment and directory of the calling (sub)shell."""
        shell = self._shell
        outer = shell._context
        shell._context = ctx
        try:
            result = self._command([self.name, *args], ctx.stdin, shell)
        finally:
            shell._context = outer
        return BashResult(result.stdout, result.stderr, result.exit_code)


class _Nested:
    """``sh`` and ``bash``: a script run by the same interpreter in a subshell."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def execute(self, args: list[str], ctx: CommandContext) -> BashResult:
        """``-c SCRIPT [NAME [ARGUMENT...]]``, a script file, or a script on standard input."""
        options = ""
        rest = list(args)
        while rest and rest[0][:1] in "-+" and len(rest[0]) > 1:
            flag = rest.pop(0)
            if flag == "--":
                break
            if flag == "-o" and rest:
                rest.pop(0)
            elif not flag.startswith("--"):
                options += flag[1:]
        if "c" in options:
            if not rest:
                return BashResult("", f"{self.name}: -c: option requires an argument\n", 2)
            script, arguments = rest[0], rest[1:] or [self.name]
        elif rest:
            path = ctx.fs.resolve_path(ctx.cwd, rest[0])
            try:
                script, arguments = await ctx.fs.read_file(path), rest
            except OSError:
                return BashResult("", f"{self.name}: {rest[0]}: No such file or directory\n", 127)
        else:
            script, arguments = ctx.stdin, [self.name]
        if "e" in options:
            script = "set -e\n" + script
        if "x" in options:
            script = "set -x\n" + script
        env = {"0": arguments[0], "#": str(len(arguments) - 1), "@": " ".join(arguments[1:])}
        env.update({str(i): value for i, value in enumerate(arguments[1:], 1)})
        env["*"] = env["@"]
        assert ctx.exec is not None
        Budget.handed = ctx.stdin if ctx.stdin and script is not ctx.stdin else None
        try:
            return await ending(ctx.exec(script, {"env": env, "cwd": ctx.cwd}))
        except ParseException as error:
            return BashResult("", syntax_error(error, script, self.name), 2)
        finally:
            Budget.handed = None


class _Env:
    """``env`` and ``printenv``: exported variables only, and running a command with some of them changed."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def execute(self, args: list[str], ctx: CommandContext) -> BashResult:
        """Print the environment, a part of it, or run a command in a changed one."""
        store = ctx.env
        variables = {name: store[name] for name in sorted(store) if "x" in store.get_attributes(name)}
        words = [word for word in args if word not in ("-", "-i", "-0", "--")]
        if self.name == "printenv" and words:
            found = [variables[name] for name in words if name in variables]
            return BashResult("".join(f"{value}\n" for value in found), "", int(len(found) < len(words)))
        changes: dict[str, str] = {}
        while words and "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            changes[name] = value
        if not words:
            return BashResult("".join(f"{k}={v}\n" for k, v in {**variables, **changes}.items()))
        assert ctx.exec is not None
        prefix = [f"{name}={quote(value)}" for name, value in changes.items()]
        return await ctx.exec(" ".join([*prefix, *map(quote, words)]), {"cwd": ctx.cwd})


class _Table(dict[str, Any]):
    """Commands by name; ``/bin/ls`` and ``/usr/bin/ls`` find ``ls``. Ours are wrapped when first used."""

    _bins = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/")

    def __init__(self, library: Mapping[str, Any], own: Mapping[str, ShellCommand], shell: Shell) -> None:
        super().__init__(library)
        for name in own:
            self.pop(name, None)
        self._own = own
        self._shell = shell

    def _plain(self, name: str) -> str | None:
        if dict.__contains__(self, name) or name in self._own:
            return name
        for prefix in self._bins:
            if name.startswith(prefix):
                short = name[len(prefix) :]
                return short if dict.__contains__(self, short) or short in self._own else None
        return None

    def __missing__(self, name: str) -> Any:
        plain = self._plain(name)
        if plain is None:
            raise KeyError(name)
        if not dict.__contains__(self, plain):
            self[plain] = _Adapter(plain, self._own[plain], self._shell)
        return dict.__getitem__(self, plain)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._plain(name) is not None

    def names(self) -> list[str]:
        """Every name, sorted."""
        return sorted({*dict.keys(self), *self._own})


@dataclass(frozen=True, slots=True)
class ShellState:
    """What a session remembers from one command to the next. Never changed once made."""

    variables: Variables
    cwd: str
    previous_dir: str
    functions: Mapping[str, Any]
    last_exit_code: int
    arrays: frozenset[str]
    options: Any


class Shell:
    """One bash session: files, variables, functions and a directory that persist from run to run.

    ``commands`` come before the interpreter's own; those named in :data:`WITHHELD` exist only if given.
    ``only`` restricts the interpreter's own commands to these names (what an image really has). ``clock``
    gives Unix seconds: ``$SECONDS``, ``jq``'s ``now`` and the times of written files come from it. ``seed``
    starts ``$RANDOM``.
    """

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
    ) -> None:
        self.files = files
        self.limits = limits or Limits()
        self.name = name
        self._own = dict(commands)
        self._only = only
        self._clock = clock or _stopped
        self._started = self._clock()
        self._context: CommandContext | None = None
        self.background: Background | None = None
        """What becomes of commands that end in ``&``; they run like others where there is nothing for them."""
        self.exited = False
        """Whether the last run ended with ``exit``."""
        variables = Variables.exported(env or {})
        variables.update({"PWD": cwd, "?": "0", "OPTIND": "1", "0": name})
        state = InterpreterState(env=variables, cwd=cwd, previous_dir="")
        state.random_generator = random.Random(seed)
        self._assemble(state)

    def _assemble(self, state: InterpreterState) -> None:
        table = _Table(_selection(self._only), self._own, self)
        self._interpreter = PipelineInterpreter(
            fs=self.files,
            commands=table,
            limits=ExecutionLimits(
                max_call_depth=self.limits.depth,
                max_command_count=self.limits.commands,
                max_loop_iterations=self.limits.loop_iterations,
            ),
            state=state,
        )

    @property
    def cwd(self) -> str:
        """The working directory, of the running command's subshell while one runs."""
        context = self._context
        directory: str = context.cwd if context is not None else self._interpreter.state.cwd
        return directory

    @property
    def env(self) -> Mapping[str, str]:
        """Exported and other variables as the running command sees them."""
        context = self._context
        variables: Mapping[str, str] = context.env if context is not None else self._interpreter.state.env
        return variables

    @property
    def exported(self) -> dict[str, str]:
        """The environment a child process gets, sorted by name."""
        store = self._interpreter.state.env
        names = sorted(name for name in store if "x" in store.get_attributes(name))
        current = self.env
        return {name: current[name] for name in names if name in current}

    @property
    def state(self) -> ShellState:
        """What the session remembers now."""
        state = self._interpreter.state
        return ShellState(
            variables=state.env.copy(),
            cwd=state.cwd,
            previous_dir=state.previous_dir,
            functions=dict(state.functions),
            last_exit_code=state.last_exit_code,
            arrays=frozenset(state.associative_arrays),
            options=replace(state.options),
        )

    def resume(self, kept: ShellState) -> None:
        """Go on where a session stood; files are not part of it."""
        state = self._interpreter.state
        state.env = kept.variables.copy()
        state.cwd, state.previous_dir = kept.cwd, kept.previous_dir
        state.functions = dict(kept.functions)
        state.last_exit_code = kept.last_exit_code
        state.associative_arrays = set(kept.arrays)
        state.options = replace(kept.options)

    @property
    def clock(self) -> Callable[[], float]:
        """Where the session's time comes from: Unix seconds."""
        return self._clock

    def add_commands(self, commands: Mapping[str, ShellCommand]) -> None:
        """Add or replace commands of this session."""
        self._own.update(commands)
        for name in commands:
            self._interpreter._commands.pop(name, None)

    def names(self) -> list[str]:
        """Every command there is, sorted."""
        names: list[str] = self._interpreter._commands.names()
        return names

    def resolve(self, path: str) -> str:
        """An absolute normal path."""
        absolute: str = self.files.resolve_path(self.cwd, path)
        return absolute

    def run(self, script: str, stdin: str = "") -> ExecResult:
        """Run a script in this session. Never raises for anything the script does."""
        if len(script) > self.limits.script_bytes:
            return ExecResult(stderr=f"{self.name}: Argument list too long\n", exit_code=126)
        try:
            tree = _parsed(script)
        except (ParseException, RecursionError) as error:
            return ExecResult(stderr=syntax_error(error, script, self.name), exit_code=2)
        except Exception as error:  # whatever the interpreter's parser trips over, the script is to blame
            return ExecResult(stderr=f"{self.name}: syntax error: {error}\n", exit_code=2)
        state = self._interpreter.state
        now = self._clock()
        Clock.now = self.files.mtime = now
        state.start_time = time.time() - (now - self._started)
        state.command_count = 0
        state.group_stdin = stdin or None
        state.loop_depth = state.call_depth = 0
        return self._finish(lambda: drive(self._interpreter.execute_script(tree)))

    def call(self, argv: Sequence[str], stdin: str = "") -> ExecResult:
        """Run one command without a shell in between, as ``exec`` does. The command must exist."""
        command = self._interpreter._commands[argv[0]]
        state = self._interpreter.state
        state.command_count = 0
        context = self._plain_context(stdin)
        return self._finish(lambda: drive(command.execute(list(argv[1:]), context)))

    def library(self, name: str, arguments: Sequence[str], stdin: str = "") -> ExecResult:
        """Run one of the interpreter's own commands, also where a command of ours has taken its name."""
        context = self._context or self._plain_context(stdin)
        command = _library()[name]
        result = drive(command.execute(list(arguments), context))
        return ExecResult(result.stdout, result.stderr, result.exit_code)

    def _plain_context(self, stdin: str) -> CommandContext:
        state = self._interpreter.state
        return CommandContext(
            fs=self.files,
            cwd=state.cwd,
            env=state.env,
            stdin=stdin,
            limits=self._interpreter._limits,
            exec=lambda script, opts: self._interpreter._exec_fn(script, opts.get("env"), opts["cwd"]),
            get_registered_commands=self.names,
        )

    def has(self, name: str) -> bool:
        """Whether a command of that name or path exists."""
        return name in self._interpreter._commands

    def fork(
        self,
        commands: Mapping[str, ShellCommand] | None = None,
        clock: Callable[[], float] | None = None,
    ) -> Shell:
        """An independent session in the same state, with other commands and another clock if given."""
        old = self._interpreter.state
        twin = Shell.__new__(Shell)
        twin.files = self.files.fork()
        twin.limits, twin.name = self.limits, self.name
        twin._own = self._own if commands is None else dict(commands)
        twin._only, twin._context = self._only, None
        twin.exited, twin.background = False, None
        twin._clock, twin._started = clock or self._clock, self._started
        state = InterpreterState(
            env=old.env.copy(), cwd=old.cwd, previous_dir=old.previous_dir, functions=dict(old.functions)
        )
        state.last_exit_code, state.associative_arrays = old.last_exit_code, set(old.associative_arrays)
        generator = random.Random()
        generator.setstate(old.random_generator.getstate())
        state.random_generator = generator
        twin._assemble(state)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """The session between two runs, without its caller's commands and clock: :meth:`fork` gives it new ones."""
        names = ("files", "limits", "name", "_only", "_started", "exited")
        state = self._interpreter.state
        kept = {"state": self.state, "chance": state.random_generator}
        return {**kept, **{name: getattr(self, name) for name in names}}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self._own, self._clock, self._context, self.background = {}, _stopped, None, None
        for name in ("files", "limits", "name", "_only", "_started", "exited"):
            setattr(self, name, kept[name])
        state = InterpreterState(env=kept["state"].variables, cwd=kept["state"].cwd)
        state.random_generator = kept["chance"]
        self._assemble(state)
        self.resume(kept["state"])

    def _finish(self, execute: Callable[[], BashResult]) -> ExecResult:
        cut = self.limits.output_bytes
        self.exited = False
        outer = Budget.left, Budget.chance, Budget.background
        Budget.left, Budget.chance = self.limits.commands, self._interpreter.state.random_generator
        Budget.background = self.background
        try:
            result = execute()
        except ExitError as error:
            self.exited = True
            result = BashResult(error.stdout, error.stderr, error.exit_code)
        except ExecutionLimitError as error:
            text = f"{error.stderr}{self.name}: {error}\n".replace(
                ", increase execution_limits.max_command_count", ""
            )
            result = BashResult(error.stdout, text, 126)
        except InterpreterError as error:
            result = BashResult(error.stdout, error.stderr, getattr(error, "exit_code", 1))
        except RecursionError:
            result = BashResult("", f"{self.name}: maximum nesting level exceeded\n", 2)
        except MemoryError:
            result = BashResult("", f"{self.name}: cannot allocate memory\n", 2)
        except ParseException as error:
            result = BashResult("", f"{self.name}: {error}\n", 2)
        except OSError as error:
            result = BashResult("", f"{self.name}: {_os_text(error)}\n", 1)
        except Exception as error:  # the interpreter's own defects must not end an episode
            result = BashResult("", f"{self.name}: {error}\n", 1)
        finally:
            Budget.left, Budget.chance, Budget.background = outer
        return ExecResult(_cut(result.stdout, cut), _cut(result.stderr, cut), result.exit_code & 255)


def _stopped() -> float:
    """The clock of a shell that was given none."""
    return 0.0


def syntax_error(error: Exception, script: str, name: str = "bash") -> str:
    """What bash says about a script it cannot parse, with the offending line."""
    if isinstance(error, RecursionError):
        return f"{name}: syntax error: expression too deeply nested\n"
    text = str(error)
    number = getattr(error, "line", 0) or 1
    lines = script.split("\n")
    line = lines[number - 1] if 0 < number <= len(lines) else lines[0]
    return f"{name}: line {number}: syntax error: {text}\n{name}: line {number}: `{line[:200]}'\n"


def _os_text(error: OSError) -> str:
    text = str(error)
    for code, spoken in _OS_TEXTS:
        if code in text:
            return f"{text.rpartition(' ')[2].strip(chr(39))}: {spoken}"
    return text


_OS_TEXTS = (
    ("ENOENT", "No such file or directory"),
    ("EISDIR", "Is a directory"),
    ("ENOTDIR", "Not a directory"),
    ("ENOSPC", "No space left on device"),
    ("ELOOP", "Too many levels of symbolic links"),
)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + f"\n... [output cut at {limit} bytes]\n"


@lru_cache(maxsize=512)
def _parsed(script: str) -> Any:
    return parse(script)


WIDEST = 200_000
"""Numbers that ``seq`` counts to and widths that ``printf`` pads to."""


class _Bounded:
    """``seq`` and ``printf`` with a guard on arguments that would make them produce without end."""

    def __init__(self, inner: Any) -> None:
        self.name: str = inner.name
        self._inner = inner

    async def execute(self, args: list[str], ctx: CommandContext) -> BashResult:
        """Refuse numbers beyond the bound, else run."""
        counted = (
            args
            if self.name == "seq" or (args and "*" in args[0])
            else _WIDTH.findall(args[0] if args else "")
        )
        for number in _numbers(counted):
            if number > WIDEST:
                return BashResult("", f"{self.name}: {number}: value too large\n", 1)
        result: BashResult = await self._inner.execute(args, ctx)
        return result


_WIDTH = re.compile(r"%[-+ 0#]*\d*\.?\d*")


def _numbers(args: list[str]) -> Iterator[int]:
    for arg in args:
        digits = ""
        for char in arg + " ":
            if char.isdecimal() and char.isascii():
                digits += char
                continue
            if len(digits) > 5:
                yield int(digits[:12])
            digits = ""


@lru_cache(maxsize=64)
def _selection(only: frozenset[str] | None) -> Mapping[str, Any]:
    """The interpreter's own commands, or those of them that an image has."""
    return {name: command for name, command in _library().items() if only is None or name in only}


_LIBRARY: dict[str, Any] = {}


def _library() -> Mapping[str, Any]:
    """The interpreter's own commands, loaded once per process; they keep no state."""
    if not _LIBRARY:
        patterns.install()
        bounds.install()
        for name, command in create_command_registry().items():
            if name not in WITHHELD:
                _LIBRARY[name] = _Bounded(command) if name in ("seq", "printf") else command
        for name in ("sh", "bash"):
            _LIBRARY[name] = _Nested(name)
        _LIBRARY["xargs"] = Xargs()
        for own in (Awk(), Paste(), Sort(), Wc()):
            _LIBRARY[own.name] = own
        _LIBRARY.update(library())
        for name in ("env", "printenv"):
            _LIBRARY[name] = _Env(name)
    return _LIBRARY
