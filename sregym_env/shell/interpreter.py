"""The interpreter with what it lacks: redirections in order, errors of every stage of a pipeline, and one budget for a whole run."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Protocol

from just_bash.interpreter import Interpreter
from just_bash.interpreter import interpreter as module
from just_bash.interpreter.builtins import BUILTINS
from just_bash.interpreter.errors import ExecutionLimitError
from just_bash.types import ExecResult as BashResult

from sregym_env.shell import dialect
from sregym_env.shell.consuming import rest_of
from sregym_env.shell.reading import shell_script, spoken_words


class Background(Protocol):
    """What a session does with commands that end in ``&``."""

    def begin(self) -> None:
        """A command is about to be started in the background."""
        ...

    def end(self, command: str, exit_code: int, output: str) -> int:
        """It has got as far as it gets at once; its process number. ``output`` is the file it writes to."""
        ...

    def wait(self, words: list[str]) -> tuple[int, str]:
        """Wait for background commands: the exit code, and a complaint."""
        ...


class Budget:
    """What the present run has: commands left, subshells included, where ``$RANDOM`` comes from, and jobs."""

    left = 0
    chance: random.Random | None = None
    background: Background | None = None
    at_exit: Callable[[], Awaitable[BashResult]] | None = None
    """What the script that runs now has asked for with ``trap ... EXIT``."""
    rest: str | None = None
    """What the pipeline that ended last has left of the standard input it shares with those after it."""
    seekable = False
    """Whether that input is a file."""
    handed: str | None = None
    """Standard input for the shell that is started next."""


class PipelineInterpreter(Interpreter):  # type: ignore[misc]
    """Runs scripts; the standard error of all commands of a pipeline is kept, as a terminal would show it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self._state.random_generator is None:
            self._state.random_generator = Budget.chance
        if Budget.handed is not None:
            self._state.group_stdin, Budget.handed = Budget.handed, None
        self._frames: list[tuple[list[Any], list[str]]] = []

    async def execute_statement(self, node: Any) -> BashResult:
        """Run a statement if the budget allows. Raises ExecutionLimitError."""
        Budget.left -= 1
        if Budget.left < 0:
            raise ExecutionLimitError("too many commands executed", "commands")
        background = Budget.background
        if not node.background or background is None:
            return await super().execute_statement(node)
        # What is started from there runs in its foreground.
        Budget.background = None
        background.begin()
        code = 1
        try:
            result = await super().execute_statement(replace(node, background=False))
            code = result.exit_code
        finally:
            Budget.background = background
            pid = background.end(spoken(node), code, _written_to(node))
        self._state.last_background_pid = pid
        self._state.env[dialect.LAST_BACKGROUND] = str(pid)
        self._state.last_exit_code = 0
        self._state.env["?"] = "0"
        return BashResult(result.stdout, result.stderr, 0)

    async def execute_pipeline(self, node: Any) -> BashResult:
        """Run a pipeline and note what it leaves of the standard input."""
        try:
            if len(node.commands) == 1:
                return await super().execute_pipeline(node)
            return await self._run_stages(node)
        finally:
            Budget.rest = self._state.group_stdin

    async def _run_stages(self, node: Any) -> BashResult:
        """Run a pipeline and put the errors of its earlier commands before those of the last."""
        commands = node.commands
        merged = node.pipe_amp or ()
        plain = [c for i, c in enumerate(commands[:-1]) if not (i < len(merged) and merged[i])]
        spilled: list[str] = []
        self._frames.append((plain, spilled))
        try:
            result = await super().execute_pipeline(node)
        finally:
            self._frames.pop()
        if not spilled:
            return result
        return BashResult(result.stdout, "".join(spilled) + result.stderr, result.exit_code)

    async def _process_output_redirections(self, redirections: list[Any], result: BashResult) -> BashResult:
        """Send each stream where the redirections, read from left to right, leave it: ``> file 2>&1``."""
        ends: dict[int, Any] = {1: 1, 2: 2}
        for node in redirections:
            if node.operator in (">", ">>", ">|") and node.fd in (None, 1, 2):
                ends[node.fd or 1] = node
            elif node.operator in ("&>", "&>>"):
                ends[1] = ends[2] = node
            elif node.operator == ">&" and node.fd in (None, 1, 2) and _plain(node.target) in ("1", "2"):
                ends[node.fd or 1] = ends[int(_plain(node.target))]
            elif node.operator not in ("<", "<<", "<<-", "<<<"):
                return await super()._process_output_redirections(redirections, result)
        out, err = ends[1], ends[2]
        files = [node for node in (out, err) if not isinstance(node, int)]
        if not files or not any(node.operator == ">&" for node in redirections):
            return await super()._process_output_redirections(redirections, result)
        if out is err:
            joint = replace(out, operator="&>>" if out.operator == ">>" else "&>", fd=None)
            return await super()._process_output_redirections([joint], result)
        if len(files) == 2:
            return await super()._process_output_redirections(files, result)
        # One stream goes to a file; the other to the terminal, as output or as error.
        kept = result.stderr if files[0] is out else result.stdout
        inner = BashResult(result.stdout, "") if files[0] is out else BashResult("", result.stderr)
        to_file = replace(files[0], fd=1 if files[0] is out else 2)
        done = await super()._process_output_redirections([to_file], inner)
        as_output = (err if files[0] is out else out) == 1
        code = done.exit_code or result.exit_code
        return BashResult(kept if as_output else "", done.stderr + ("" if as_output else kept), code)

    async def execute_command(self, node: Any, stdin: str) -> BashResult:
        """Run one command and note its errors for the pipeline it is part of."""
        if stdin or self._state.group_stdin or getattr(node, "redirections", ()):
            result = await self._run_command(node, stdin)
        else:
            result = await super().execute_command(node, stdin)
            if _LEFT in self._state.env:
                self._settle_read(node, shared=False)
        if self._frames and result.stderr:
            commands, spilled = self._frames[-1]
            if any(node is command for command in commands):
                spilled.append(result.stderr)
        return result

    async def _run_command(self, node: Any, stdin: str) -> BashResult:
        """Run one command; what it reads of a shared standard input is gone for the next."""
        state = self._state
        inputs = [r for r in getattr(node, "redirections", ()) if r.operator in _INPUTS and not r.fd]
        redirected = inputs[-1] if inputs else None
        before = state.group_stdin
        shared = bool(before) and stdin is before and redirected is None
        if node.type == "SimpleCommand":
            return await self._run_simple(node, stdin, shared)
        if shared:
            Budget.rest = before
            try:
                return await super().execute_command(node, stdin)
            finally:
                state.group_stdin = Budget.rest
        if not before and not stdin and redirected is None:
            return await super().execute_command(node, stdin)
        outer, Budget.seekable = Budget.seekable, redirected is not None and _is_file(redirected)
        state.group_stdin = stdin if redirected is None else None
        try:
            return await super().execute_command(node, stdin if redirected is None else "")
        finally:
            state.group_stdin, Budget.seekable = before, outer

    async def _run_simple(self, node: Any, stdin: str, shared: bool) -> BashResult:
        state = self._state
        words = spoken_words(node) if shared else []
        nested = bool(words) and words[0].rpartition("/")[2] in _SHELLS
        if shared:
            Budget.rest = stdin
        try:
            result = await super().execute_command(node, stdin)
        finally:
            self._settle_read(node, shared)
        if (
            not shared
            or not words
            or words[0] in state.functions
            or words[0] in ("read", "eval", "source", ".")
        ):
            return result
        if nested and shell_script(words[1:]):
            state.group_stdin = Budget.rest
        elif state.group_stdin is stdin:
            state.group_stdin = rest_of(words, stdin, seekable=Budget.seekable)
        return result

    def _settle_read(self, node: Any, shared: bool) -> None:
        """Put what ``read`` has left where it came from: not every one reads the shared standard input."""
        left = self._state.env.get(_LEFT)
        if left is None:
            return
        words = spoken_words(node)
        number = next((w[2:] or n for w, n in zip(words, [*words[1:], ""], strict=True) if w[:2] == "-u"), "")
        entry = self._state.fd_table._fds.get(int(number)) if number.isdecimal() else None
        if entry is not None:
            entry.content = left
        if entry is not None or not shared:
            del self._state.env[_LEFT]


_LEFT = "__remaining_stdin__"
"""The variable in which the interpreter's ``read`` leaves what it has not read."""
_INPUTS = ("<", "<<", "<<-", "<<<", "<&")
_SHELLS = ("sh", "bash", "ash", "dash")


def _is_file(redirection: Any) -> bool:
    """Whether an input comes from a file, not from a document or a command."""
    parts = getattr(redirection.target, "parts", ())
    return redirection.operator == "<" and all(part.type != "ProcessSubstitution" for part in parts)


def _plain(word: Any) -> str:
    """A word that is plain text, such as the ``1`` of ``2>&1``; else nothing."""
    parts: Any = getattr(word, "parts", ())
    return str(getattr(parts[0], "value", "")) if len(parts) == 1 else ""


def spoken(node: Any) -> str:
    """A statement as somebody would type it, as far as ``jobs`` shows it."""
    pipelines = [
        " | ".join(_spoken_command(command) for command in pipeline.commands) for pipeline in node.pipelines
    ]
    text = pipelines[0] if pipelines else ""
    for operator, pipeline in zip(node.operators, pipelines[1:], strict=False):
        text += f" {operator} {pipeline}"
    return text[:200]


def _spoken_command(node: Any) -> str:
    if getattr(node, "type", "") != "SimpleCommand" or node.name is None:
        return "( ... )"
    words = [_spoken_word(word) for word in (node.name, *node.args)]
    for redirection in node.redirections:
        descriptor = "" if redirection.fd is None else str(redirection.fd)
        space = "" if redirection.operator in (">&", "<&") else " "
        words.append(f"{descriptor}{redirection.operator}{space}{_spoken_word(redirection.target)}")
    return " ".join(words)


def _spoken_word(word: Any) -> str:
    out = []
    for part in getattr(word, "parts", ()):
        kind = getattr(part, "type", "")
        if kind == "SingleQuoted":
            out.append(f"'{part.value}'")
        elif kind == "DoubleQuoted":
            out.append('"' + _spoken_word(part) + '"')
        elif hasattr(part, "value"):
            out.append(str(part.value))
        else:
            out.append(f"${getattr(part, 'parameter', '(...)')}")
    return "".join(out)


def _written_to(node: Any) -> str:
    """The file to which a statement's one command sends its output, if it does."""
    commands = node.pipelines[-1].commands if node.pipelines else ()
    for redirection in getattr(commands[-1], "redirections", ()) if commands else ():
        if redirection.operator in (">", ">>", "&>", "&>>", ">|") and redirection.fd in (None, 1):
            return _spoken_word(redirection.target)
    return ""


async def _wait(ctx: Any, args: list[str]) -> BashResult:
    """``wait``: for the commands in the background, where a session keeps any."""
    if Budget.background is None:
        return BashResult("", "", 0)
    code, complaint = Budget.background.wait(list(args))
    return BashResult("", complaint, code)


async def _trap(ctx: Any, args: list[str]) -> BashResult:
    """``trap``: of the signals only the end of a script comes here; the others are accepted and never arrive."""
    words = [word for word in args if word != "--"]
    if len(words) < 2:
        return BashResult("", "", 0)
    action, signals = words[0], {word.upper().removeprefix("SIG") for word in words[1:]}
    if signals & {"EXIT", "0"}:
        run = ctx.exec_fn
        Budget.at_exit = None if action in ("-", "") else lambda: run(action, None, None)
    return BashResult("", "", 0)


async def ending(script: Awaitable[BashResult]) -> BashResult:
    """Run a script of its own and then what it has asked for at its end."""
    outer, Budget.at_exit = Budget.at_exit, None
    try:
        result = await script
        if Budget.at_exit is None:
            return result
        last = await Budget.at_exit()
        return BashResult(result.stdout + last.stdout, result.stderr + last.stderr, result.exit_code)
    finally:
        Budget.at_exit = outer


BUILTINS["wait"] = _wait
BUILTINS["trap"] = _trap
dialect.install()
module.Interpreter = PipelineInterpreter
