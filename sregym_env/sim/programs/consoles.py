"""Programs that are given their input piece by piece: shells with a prompt, filters, and commands that read to the end.

A :class:`Console` is such a program between two pieces of input. It is a value, so a world in which somebody has
a shell open can be forked like any other. A console belongs to a connection (``kubectl exec -i``) or to a
container's main process (``stdin: true``), to which people attach.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell import reading
from sregym_env.shell.files import readable
from sregym_env.shell.session import Session
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import mongo_shell, toolbox
from sregym_env.sim.programs.terminal import Terminal, as_shown
from sregym_env.sim.programs.visits import Visit

MAX_INPUT = 32 * 1024 * 1024
"""Characters of input that a command may be given; the rest is dropped."""

MAX_COMMAND = 256 * 1024
"""Characters of one command typed over several lines; a longer one is taken for whole."""
GROWTH = 1.25
"""By how much an unfinished command grows before it is looked at again."""

_SHELLS = frozenset(("sh", "bash", "ash", "dash", "zsh"))
_MONGO = frozenset(("mongo", "mongosh"))

Kind = Literal["shell", "mongo", "filter", "whole"]


@dataclass(frozen=True, slots=True)
class Console:
    """A program that waits for input."""

    kind: Kind
    argv: tuple[str, ...]
    tty: bool
    pending: str = ""
    """Input that is not yet a whole command."""
    terminal: Terminal = field(default_factory=Terminal)
    shell: Session | None = None
    conversation: Any = None
    """What a program other than the shell remembers."""
    exit_code: int = 0


class Turn(NamedTuple):
    """What came of some input: the console as it waits now (None once the program has ended), and its output."""

    console: Console | None
    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    seconds: float = 0.0
    """How long it took: no clock has moved for it."""


def begin(ctx: ProcessContext, argv: Sequence[str], *, tty: bool) -> Turn:
    """Start a command whose standard input is open."""
    kind = _kind(ctx, argv)
    if kind is None:
        return _ended(tty, _run(ctx, list(argv), ""))
    console = Console(kind, tuple(argv), tty)
    if kind == "mongo":
        head, conversation, code = mongo_shell.greeting(ctx, argv)
        if conversation is None:
            return _ended(tty, ExecResult(head, exit_code=code))
        console = replace(console, conversation=conversation)
        return Turn(console, _screen(tty, head + (prompt(ctx, console) if tty else "")))
    return Turn(console, _screen(tty, prompt(ctx, console)) if tty else "")


def feed(ctx: ProcessContext, console: Console, data: str) -> Turn:
    """Give a program more input."""
    if not console.tty:
        return _lines(ctx, console, data)
    terminal, typed, rest = console.terminal.type(data)
    console = replace(console, terminal=terminal)
    out: list[str] = []
    seconds = 0.0
    for event in typed:
        out.append(event.echo)
        if event.kind == "interrupt":
            if console.kind not in ("shell", "mongo"):
                return Turn(None, "".join(out), "", 130)
            console = replace(console, pending="", exit_code=130)
            out.append(prompt(ctx, console))
            continue
        turn = close(ctx, console) if event.kind == "end" else _lines(ctx, console, f"{event.text}\n")
        out.append(turn.stdout)
        seconds += turn.seconds
        if turn.console is None:
            return turn._replace(stdout="".join(out), seconds=seconds)
        console = turn.console
    return Turn(console, "".join(out) + rest, seconds=seconds)


def close(ctx: ProcessContext, console: Console) -> Turn:
    """Tell a program that there is no more input."""
    if console.kind == "shell":
        turn = _shell(ctx, console, console.pending) if console.pending else Turn(console)
        if turn.console is None:
            return turn
        bye = "exit\n" if console.tty and console.argv[0].endswith("bash") else ""
        shown = turn.stdout + _screen(console.tty, bye)
        return Turn(None, shown, turn.stderr, turn.console.exit_code, turn.seconds)
    if console.kind == "mongo":
        quiet = "--quiet" in console.argv
        return Turn(None, "" if quiet else _screen(console.tty, "bye\n"), "", console.exit_code)
    if console.kind == "filter":
        return Turn(None, _screen(console.tty, console.pending))
    return _ended(console.tty, _run(ctx, list(console.argv), console.pending))


# --- what kind of program ---------------------------------------------------------------------------


def _kind(ctx: ProcessContext, argv: Sequence[str]) -> Kind | None:
    """How a command takes its input; None for one that has no use for any."""
    name = argv[0].rpartition("/")[2]
    if name in _SHELLS and reading.shell_script(argv[1:]) is None:
        return "shell"
    if not reading.reads_input(argv):
        return None
    if name in _MONGO and toolbox.container_shell(ctx).has(name):
        return "mongo"
    if name == "cat" and all(word in ("-", "-u") for word in argv[1:]):
        return "filter"
    return "whole"


# --- running ----------------------------------------------------------------------------------------


def _lines(ctx: ProcessContext, console: Console, data: str) -> Turn:
    if console.kind == "whole":
        room = MAX_INPUT - len(console.pending)
        return Turn(replace(console, pending=console.pending + data[:room]))
    text = console.pending + data
    whole, newline, rest = text.rpartition("\n")
    if not newline:
        return Turn(replace(console, pending=text[:MAX_INPUT]))
    console = replace(console, pending=rest)
    if console.kind == "filter":
        return Turn(console, _screen(console.tty, f"{whole}\n"))
    if console.kind == "mongo":
        return _mongo(ctx, console, whole)
    out: list[str] = []
    err: list[str] = []
    command = ""
    checked = 0
    seconds = 0.0
    lines = [f"{line}\n" for line in whole.split("\n")]
    if not console.tty and len(lines) > 1 and reading.is_script(f"{whole}\n"):
        lines = [f"{whole}\n"]
    for at, line in enumerate(lines):
        command += line
        if len(command) < MAX_COMMAND:
            # Looking costs the length of the command: after every line it would cost the square of it.
            if len(command) < checked * GROWTH and at + 1 < len(lines):
                continue
            if not reading.is_complete(command):
                checked = len(command)
                continue
        checked = 0
        turn = _shell(ctx, console, command)
        command = ""
        out.append(turn.stdout)
        err.append(turn.stderr)
        seconds += turn.seconds
        if turn.console is None:
            return turn._replace(stdout="".join(out), stderr="".join(err), seconds=seconds)
        console = turn.console
    if command and console.tty:
        out.append("> ")
    return Turn(replace(console, pending=command + rest), "".join(out), "".join(err), seconds=seconds)


def _shell(ctx: ProcessContext, console: Console, command: str) -> Turn:
    """One command of an interactive shell."""
    visit = Visit(ctx)
    shell = toolbox.container_shell(ctx, visit=visit)
    if console.shell is not None:
        shell.resume(console.shell)
    result = shell.run(command)
    complaints = toolbox.save(ctx, shell)
    if console.tty:
        pieces = (*result.pieces, (2, complaints))
        texts = (text if stream == 1 else _named(ctx, console.argv[0], text) for stream, text in pieces)
        output, errors = _screen(True, "".join(texts)), ""
    else:
        output, errors = result.stdout, _named(ctx, console.argv[0], result.stderr + complaints)
    if shell.exited:
        said = "exit\r\n" if console.tty and console.argv[0].endswith("bash") else ""
        return Turn(None, said + output, errors, result.exit_code, visit.seconds)
    after = replace(console, shell=shell.state, exit_code=result.exit_code, pending="")
    return Turn(after, output + (prompt(ctx, after) if console.tty else ""), errors, seconds=visit.seconds)


def in_name(ctx: ProcessContext, argv: Sequence[str], result: ExecResult) -> ExecResult:
    """What a shell with a script (``sh -c ...``) has printed, its complaints in its own name."""
    name = argv[0].rpartition("/")[2]
    if name not in _SHELLS or "-c" not in argv[1:] or not result.stderr:
        return result
    script = argv[argv.index("-c") + 1] if argv[-1] != "-c" else ""

    def own(text: str) -> str:
        said = _named(ctx, name, text)
        return in_line_one(said, script) if name == "bash" else said

    chunks = tuple((stream, text if stream == 1 else own(text)) for stream, text in result.chunks)
    return replace(result, stderr=own(result.stderr), chunks=chunks)


def in_line_one(errors: str, script: str) -> str:
    """Bash's complaints about a script of one line, which it numbers where nobody types."""
    if "\n" in script:
        return errors
    return re.sub(r"^bash: (?!line \d|warning: |-c: )", "bash: line 1: ", errors, flags=re.MULTILINE)


def _named(ctx: ProcessContext, argv0: str, errors: str) -> str:
    """The complaints of the interpreter in the name of the shell that runs."""
    if not errors:
        return ""
    name = argv0.rpartition("/")[2]
    errors = re.sub(r"^(?:bash|sh): ", f"{name}: ", errors, flags=re.MULTILINE)
    if name == "bash":
        return errors
    debian = ctx.image.toolbox == "debian"
    where, why = ("1: ", "") if debian else ("", r": \2")
    for said, own in (
        (r"(.*): command not found", rf"{where}\1: not found"),
        (r"cd: (.*): (No such file or directory|Not a directory)", rf"{where}cd: can't cd to \1{why}"),
    ):
        errors = re.sub(rf"^{name}: {said}$", f"{name}: {own}", errors, flags=re.MULTILINE)
    return errors


def _mongo(ctx: ProcessContext, console: Console, lines: str) -> Turn:
    output, conversation = mongo_shell.reply(ctx, console.argv, console.conversation, lines)
    if conversation is None:
        return Turn(None, _screen(console.tty, output))
    after = replace(console, conversation=conversation)
    return Turn(after, _screen(console.tty, output) + (prompt(ctx, after) if console.tty else ""))


def _run(ctx: ProcessContext, argv: list[str], stdin: str) -> ExecResult:
    """A command with all of its input."""
    visit = Visit(ctx)
    shell = toolbox.container_shell(ctx, visit=visit)
    if not shell.has(argv[0]):
        return ExecResult(stderr=f"{argv[0]}: not found\n", exit_code=127)
    result = visit.after(shell.call(argv, stdin))
    complaints = toolbox.save(ctx, shell)
    return result.then(complaints, result.exit_code or 1) if complaints else result


def _ended(tty: bool, result: ExecResult) -> Turn:
    if tty:
        return Turn(None, _screen(True, result.text), "", result.exit_code, result.seconds)
    return Turn(None, result.stdout, result.stderr, result.exit_code, result.seconds)


def _screen(tty: bool, text: str) -> str:
    return as_shown(text) if tty else text


# --- prompts ----------------------------------------------------------------------------------------


def prompt(ctx: ProcessContext, console: Console) -> str:
    """What a program shows while it waits for a command."""
    if console.kind == "mongo":
        return "> "
    if console.kind != "shell":
        return ""
    if console.pending:
        return "> "
    name = console.argv[0].rpartition("/")[2]
    state = console.shell
    directory = ctx.image.workdir if state is None else state.cwd
    home = "/root" if state is None else str(state.variables.get("HOME", "/root"))
    short = (
        "~" + directory[len(home) :] if directory == home or directory.startswith(f"{home}/") else directory
    )
    sign = "#" if ctx.image.user == 0 else "$"
    custom = "" if state is None else str(state.variables.get("PS1", ""))
    if custom:
        values = {"w": short, "h": ctx.process.hostname.split(".")[0], "u": "root", "$": sign}
        return re.sub(r"\\([whu$])", lambda found: values[found[1]], custom)
    if ctx.image.toolbox == "busybox" and name in ("sh", "ash"):
        return f"{short} {sign} "
    if name == "bash" and ctx.image.toolbox == "debian":
        return f"root@{ctx.process.hostname}:{short}{sign} "
    return f"{sign} " if name in ("sh", "dash") else f"{name}-5.2{sign} "


# --- main processes ---------------------------------------------------------------------------------

CONSOLE = "console"
"""Key of a main process's state under which its console lies."""
WRITTEN = "written"
"""Key of a main process's state that holds what a command printed that has already ended."""

LINGER = 0.3
"""Seconds that an interactive container lives on after its command is done, so that who started it can attach.

A real kubelet reports a container as running up to a second after it started; here it does so at once.
"""


def printable(text: str) -> str:
    """Output as a log can hold it: bytes that are no text are replaced."""
    return readable(text)


def written(ctx: ProcessContext, result: ExecResult) -> str:
    """What a main process has printed, as its terminal shows it if it has one."""
    return _screen(ctx.process.tty, printable(result.text))


def finish(ctx: ProcessContext, result: ExecResult, delay: float = 0.0) -> None:
    """End a main process; one that people may attach to lives on for a moment, with what it has printed."""
    if ctx.process.stdin:
        ctx.update(**{WRITTEN: written(ctx, result)})
        delay = LINGER
    ctx.exit(result.exit_code, delay=delay)


def reads(ctx: ProcessContext) -> bool:
    """Whether the main process of a container has use for its standard input."""
    return _kind(ctx, ctx.process.argv) is not None


def start_main(ctx: ProcessContext) -> None:
    """Begin a main process that waits for input."""
    process = ctx.process
    turn = begin(ctx, process.argv, tty=process.tty)
    _note(ctx, turn)
    ctx.update(**{CONSOLE: turn.console, WRITTEN: turn.stdout + turn.stderr})
    if turn.console is None:
        ctx.exit(turn.exit_code, delay=LINGER)


def feed_main(ctx: ProcessContext, data: str, *, end: bool = False) -> Turn:
    """Give the main process input, and with ``end`` tell it that there is no more."""
    console = ctx.process.state.get(CONSOLE)
    if not isinstance(console, Console):
        return Turn(None)
    turn = feed(ctx, console, data) if data else Turn(console)
    if end and turn.console is not None:
        last = close(ctx, turn.console)
        turn = Turn(last.console, turn.stdout + last.stdout, turn.stderr + last.stderr, last.exit_code)
    _note(ctx, turn)
    ctx.update(**{CONSOLE: turn.console})
    if turn.console is None:
        ctx.exit(turn.exit_code)
    return turn


def _note(ctx: ProcessContext, turn: Turn) -> None:
    """Write output to the container's log as well."""
    text = printable(turn.stdout + turn.stderr)
    if text.strip("\r\n"):
        ctx.log(text.rstrip("\n"))
