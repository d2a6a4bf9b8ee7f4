"""Runs scripts: the one place that knows what each construct of bash does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sregym_env.shell.consuming import rest_of
from sregym_env.shell.flow import Exit, Return, ShellError, StopScript
from sregym_env.shell.limits import PROGRAM_COST
from sregym_env.shell.parameters import quoted
from sregym_env.shell.processes import Processes
from sregym_env.shell.reading import reads_input
from sregym_env.shell.redirections import opened
from sregym_env.shell.run import Call, Host
from sregym_env.shell.session import Keyed, Session
from sregym_env.shell.streams import Capture, Input
from sregym_env.shell.syntax import tree
from sregym_env.shell.syntax.commands import parsed
from sregym_env.shell.syntax.words import ScriptError

DECLARATIONS = frozenset("declare typeset local export readonly".split())
"""Builtins whose arguments may be assignments."""


class Interpreter(Processes):
    """Runs scripts in a session."""

    def __init__(self, host: Host, session: Session, builtins: Mapping[str, Builtin]) -> None:
        super().__init__(host, session)
        self._builtins = builtins
        self._aliased: tuple[str, ...] = ()

    # --- scripts ------------------------------------------------------------------------------------

    def script(self, node: tree.Script) -> int:
        """Run statements in order; the exit code of the last."""
        for statement in node.statements:
            self.statement(statement)
        return self.session.exit_code

    def statement(self, node: tree.Statement) -> int:
        """Run one statement. Raises LimitExceeded, Flow, ShellError."""
        self.spend()
        self.line = node.line
        if node.background:
            return self._in_background(node)
        pipelines = node.pipelines
        last = len(pipelines) - 1
        if not last:
            code = self.pipeline(pipelines[0])
            if code and not pipelines[0].negated:
                self._failed(code)
            return code
        # Under `set -e` only the last command of a list counts: `a && b` survives a failing a.
        self._guarded += 1
        try:
            code = self.pipeline(pipelines[0])
            ran = 0
            for index, operator in enumerate(node.operators, 1):
                if (code == 0) == (operator == "&&"):
                    self._guarded -= index == last
                    try:
                        code = self.pipeline(pipelines[index])
                    finally:
                        self._guarded += index == last
                    ran = index
        finally:
            self._guarded -= 1
        if code and ran == last and not pipelines[last].negated:
            self._failed(code)
        return code

    def _failed(self, code: int) -> None:
        """What a failure means where nobody asks for it: traps, and the end under ``set -e``."""
        if self._guarded:
            return
        session = self.session
        action = session.traps.get("ERR")
        if action:
            self.trapped(action)
            session.exit_code = code
        if "errexit" in session.flags:
            raise Exit(code)

    def trapped(self, action: str) -> None:
        """Run what a trap asks for."""
        # A failure in the trap must not run the trap again.
        self._guarded += 1
        try:
            self.source(action)
        finally:
            self._guarded -= 1

    def source(self, text: str) -> int:
        """Run a text in this shell, as ``eval`` does."""
        with self.deeper("eval"):
            return self.script(self.read(text))

    def read(self, text: str) -> tree.Script:
        """A text as a script. Raises ShellError."""
        if len(text) > self.limits.script_bytes:
            raise ShellError("script too long")
        self.study(text)
        try:
            return parsed(text)
        except ScriptError as error:
            raise ShellError(syntax_text(error, text), 2) from None

    # --- pipelines ----------------------------------------------------------------------------------

    def pipeline(self, node: tree.Pipeline) -> int:
        """Run a pipeline; its exit code is also the session's."""
        if node.timed:
            return self._timed(node)
        if node.negated:
            self._guarded += 1
            try:
                code = int(not self._stages(node.commands))
            finally:
                self._guarded -= 1
        else:
            code = self._stages(node.commands)
        self.session.exit_code = code
        return code

    def _stages(self, commands: tuple[tree.Command, ...]) -> int:
        if len(commands) == 1:
            code = self.command(commands[0])
            self.session.pipe_codes = (code,)
            return code
        outer = self.table
        codes: list[int] = []
        piped = ""
        stopped: StopScript | None = None
        # Nothing runs at the same time: each stage works on all that the one before has printed.
        for index, command in enumerate(commands):
            table = dict(outer)
            if index:
                table[0] = Input(piped)
            capture = None
            if index < len(commands) - 1:
                capture = table[1] = Capture(self.limits.output_bytes * 8)
            try:
                # Even the last stage is a subshell, as in bash without lastpipe: `... | read x` leaves no x.
                with self.deeper("pipeline"):
                    codes.append(self.apart(partial(self.command, command), table))
            except StopScript as stop:
                # The script ends here; what was printed so far still goes through the rest of the pipeline, unless
                # something there says nothing before it has seen the end.
                if any(map(_gathers, commands[index + 1 :])):
                    raise
                stopped = stop
                codes.append(0)
            if capture is not None:
                piped = capture.text
                self.move(len(piped))
        if stopped is not None:
            raise stopped
        self.session.pipe_codes = tuple(codes)
        if "pipefail" in self.session.flags:
            return next((code for code in reversed(codes) if code), 0)
        return codes[-1]

    def _timed(self, node: tree.Pipeline) -> int:
        began = self.host.clock()
        code = self.pipeline(tree.Pipeline(node.commands, node.negated))
        # Nothing takes no time, and no more of it can have been a processor's than went by.
        real = max(self.host.clock() - began, 0.002)
        minutes, seconds = divmod(real, 60)
        user, system = min(0.051, 0.6 * real), min(0.012, 0.25 * real)
        self.err(f"\nreal\t{minutes:.0f}m{seconds:.3f}s\nuser\t0m{user:.3f}s\nsys\t0m{system:.3f}s\n")
        return code

    def _in_background(self, node: tree.Statement) -> int:
        foreground = tree.Statement(node.pipelines, node.operators, False, node.source, node.line)
        background = self.background
        table = dict(self.table)
        # Without job control, bash gives commands in the background nothing to read.
        table[0] = Input("")
        # What is started from there runs in its foreground.
        self.background = None
        if background is not None:
            background.begin()
        code = 1
        guarded, self._guarded = self._guarded, 0
        try:
            with self.deeper("background"):
                code = self.apart(lambda: self.statement(foreground), table)
        finally:
            self._guarded = guarded
            self.background = background
            if background is not None:
                self.flush()
                pid = background.end(node.source[:200], code, self._written_to(node))
                self.session.background_pid = pid
        self.session.exit_code = 0
        return 0

    def _written_to(self, node: tree.Statement) -> str:
        """The file to which a statement's last command sends its output, if it does."""
        for redirection in reversed(node.pipelines[-1].commands[-1].redirections):
            if redirection.operator in (">", ">>", "&>", "&>>", ">|") and redirection.descriptor in (None, 1):
                target = self.expander.text(redirection.target)
                return self.files.resolve_path(self.session.cwd, target)
        return ""

    # --- commands -----------------------------------------------------------------------------------

    def command(self, node: tree.Command) -> int:
        """Run one command."""
        if type(node) is tree.Simple:
            return self._simple(node)
        run: Callable[[Interpreter, Any], int] = _COMPOUND[type(node)]
        if not node.redirections:
            code = run(self, node)
            self.session.exit_code = code
            return code
        outer, made = self.table, len(self._files_made)
        try:
            self.table = opened(self.expander, node.redirections, outer)
            code = run(self, node)
        except OSError as error:
            self.complain(f"{error.filename}: {error.strerror}")
            code = 1
        finally:
            self.flush()
            self.table = outer
            self._close_process_files(made)
        self.session.exit_code = code
        return code

    def _simple(self, node: tree.Simple) -> int:
        made = len(self._files_made)
        self._substituted = None
        words = node.words
        session = self.session
        if words and session.aliases and self._alias(node):
            return session.exit_code
        plain = words[0].plain if words and type(words[0]) is tree.Word else None
        if plain in DECLARATIONS and plain not in session.functions:
            argv: list[Any] = [plain]
            for each in words[1:]:
                argv += [each] if type(each) is tree.Assignment else self.expander.fields((each,))  # type: ignore[arg-type]
        else:
            argv = self.expander.fields(words)  # type: ignore[arg-type]
        if not argv:
            return self._bare(node, made)
        if "xtrace" in session.flags:
            self._trace(node, argv)
        outer = self.table
        undo: list[Callable[[], None]] = []
        try:
            if node.redirections:
                self.table = opened(self.expander, node.redirections, outer)
            if node.assignments:
                undo = self._temporarily(node.assignments)
            code = self.execute(argv)
        except OSError as error:
            self.complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
            code = 1
        finally:
            for restore in reversed(undo):
                restore()
            if node.redirections:
                self.flush()
                # `exec >file` without a command redirects the shell itself.
                if argv != ["exec"]:
                    self.table = outer
            if len(self._files_made) > made:
                self._close_process_files(made)
        self.last_word = argv[-1] if type(argv[-1]) is str else ""
        self.session.exit_code = code
        return code

    def _bare(self, node: tree.Simple, made: int) -> int:
        """Assignments and redirections without a command."""
        outer = self.table
        try:
            if node.redirections:
                self.table = opened(self.expander, node.redirections, outer)
            for assignment in node.assignments:
                self.assign(assignment)
                if "xtrace" in self.session.flags:
                    value = self.variables.get(assignment.name) or ""
                    self.err(f"+ {assignment.name}={value if _SAFE.match(value) else quoted(value)}\n")
        except OSError as error:
            self.complain(f"{error.filename}: {error.strerror}")
            self.session.exit_code = 1
            return 1
        finally:
            self.table = outer
            self._close_process_files(made)
        # `x=$(false)` fails as its substitution does; `x=y` never fails.
        code = self._substituted or 0
        self.session.exit_code = code
        return code

    def assign(self, node: tree.Assignment, name: str | None = None) -> None:
        """Carry out an assignment. Raises ShellError."""
        name = name or node.name
        variables = self.variables
        if isinstance(node.value, tree.Elements):
            self._assign_elements(name, node)
            return
        text = self.expander.text(node.value)
        if node.subscript is None:
            variables.set(name, text, node.append)
        else:
            key = self.expander.text(node.subscript)
            variables.set_element(name, key, text, node.append)

    def _assign_elements(self, name: str, node: tree.Assignment) -> None:
        assert isinstance(node.value, tree.Elements)
        variables = self.variables
        known = self.session.variables.get(variables.target(name))
        if isinstance(known, Keyed):
            items = node.value.items
            pairs: list[tuple[str, str]] = []
            # `m=(key value key value)`: since 5.1 bash takes words without subscripts in pairs.
            if items and items[0][0] is None:
                flat = self.expander.fields(tuple(word for _, word in items))
                pairs = list(zip(flat[::2], [*flat[1::2], ""], strict=False))
            else:
                pairs = [
                    (self.expander.text(key_word), self.expander.text(word))
                    for key_word, word in items
                    if key_word is not None
                ]
            if not node.append:
                known.clear()
            for key, text in pairs:
                variables.set_element(name, key, text)
            return
        values: list[tuple[str | None, str]] = []
        for place, word in node.value.items:
            if place is None:
                values += [(None, text) for text in self.expander.fields((word,))]
            else:
                values.append((self.expander.text(place), self.expander.text(word)))
        at = 0
        if node.append:
            array = variables.array(name)
            at = max((key for key in array if isinstance(key, int)), default=-1) + 1
        else:
            variables.set_array(name, [])
        for subscript, text in values:
            if subscript is not None:
                at = variables.calculate(subscript)
            variables.set_element(name, str(at), text)
            at += 1

    def _temporarily(self, assignments: tuple[tree.Assignment, ...]) -> list[Callable[[], None]]:
        """Assign for one command only; what puts it back."""
        undo: list[Callable[[], None]] = []
        for assignment in assignments:
            session, name = self.session, assignment.name
            before, exported = session.variables.get(name), name in session.exported

            def restore(
                session: Session = session, name: str = name, before: Any = before, exported: bool = exported
            ) -> None:
                if before is None:
                    session.variables.pop(name, None)
                else:
                    session.variables[name] = before
                session.exported = session.exported | {name} if exported else session.exported - {name}

            undo.append(restore)
            self.assign(assignment)
            session.exported |= {name}
        return undo

    def _alias(self, node: tree.Simple) -> bool:
        """Run a command whose first word is an alias as what it stands for; whether it is one."""
        first = node.words[0]
        if type(first) is not tree.Word or first.plain != first.source or first.source in self._aliased:
            return False
        stands_for = self.session.aliases.get(first.source)
        if stands_for is None or any(r.operator == "<<" for r in node.redirections):
            return False
        at = node.source.find(first.source)
        text = node.source[:at] + stands_for + node.source[at + len(first.source) :]
        # An alias is not looked for in itself: `alias ls='ls -l'` is no endless loop.
        outer, self._aliased = self._aliased, (*self._aliased, first.source)
        try:
            self.source(text)
        finally:
            self._aliased = outer
        return True

    def _trace(self, node: tree.Simple, argv: list[Any]) -> None:
        shown = []
        for assignment in node.assignments:
            if isinstance(assignment.value, tree.Word):
                value = self.expander.text(assignment.value)
                shown.append(f"{assignment.name}={value if _SAFE.match(value) else quoted(value)}")
        for word in argv:
            text = word if type(word) is str else word.source
            shown.append(text if _SAFE.match(text) else quoted(text))
        self.err(f"{self.variables.get('PS4') or '+ '}{' '.join(shown)}\n")

    # --- what a command's name leads to -------------------------------------------------------------

    def builtin(self, name: str, args: list[str]) -> int:
        """Run a builtin."""
        return self._builtins[name](self, args)

    def has_builtin(self, name: str) -> bool:
        """Whether a name is that of a builtin."""
        return name in self._builtins and not self.host.has_own(name)

    def has_program(self, name: str) -> bool:
        """Whether a name is that of a program."""
        return self.host.own(name) is not None or self.host.program(name) is not None

    def execute(self, argv: list[Any], *, functions: bool = True) -> int:
        """Run a function, a builtin, a program or a script by its name."""
        name: str = argv[0]
        function = self.session.functions.get(name) if functions else None
        if function is not None:
            return self.call(function, argv[1:])
        builtin = self._builtins.get(name)
        if builtin is not None and not self.host.has_own(name):
            return builtin(self, argv[1:])
        return self.program(argv)

    def program(self, argv: list[str]) -> int:
        """Run a program or a script by its name."""
        name = argv[0]
        self.spend(PROGRAM_COST)
        self.flush()
        source = self.input
        stdin, mark = source.rest, source.mark
        own = self.host.own(name)
        if own is not None:
            code = self.show(own(argv, stdin))
        else:
            command = self.host.program(name)
            if command is None:
                return self._unknown(argv)
            call = Call(self, name.rpartition("/")[2], stdin)
            if len(stdin) > 1000 and reads_input(argv):
                call.charge(len(stdin))
            code = self.show(command(argv[1:], call))
        if stdin and source.mark == mark:
            # Programs are given all that is left; how much they would have read is worked out afterwards.
            source.rest = rest_of(argv, stdin, seekable=source.seekable)
        return code

    def _unknown(self, argv: list[str]) -> int:
        name = argv[0]
        if "/" in name:
            path = self.files.resolve_path(self.session.cwd, name)
            text = self.files.text(path)
            if text is not None:
                return self._script_file(name, text, argv)
            if self.files.is_folder(path):
                self.complain(f"{name}: Is a directory")
                return 126
            self.complain(f"{name}: No such file or directory")
            return 127
        if not name:
            self.complain(": command not found")
            return 127
        self.complain(f"{name}: command not found")
        return 127

    def _script_file(self, name: str, text: str, argv: list[str]) -> int:
        """Run a file: by whatever its first line says."""
        interpreter = _interpreter(text)
        if not interpreter or interpreter[0].rpartition("/")[2] in _SHELLS:
            return self.nested_shell(text, argv)
        program = interpreter[0]
        if not self.has_program(program):
            if interpreter[0].startswith("/"):
                self.complain(f"{name}: {program}: bad interpreter: No such file or directory")
                return 126
            self.err(f"/usr/bin/env: '{program}': No such file or directory\n")
            return 127
        return self.program([*interpreter, *argv])

    def call(self, function: tree.Function, arguments: Sequence[str]) -> int:
        """Run a function."""
        session = self.session
        outer = session.arguments
        with self.deeper(function.name):
            session.arguments = tuple(arguments)
            session.scopes = (*session.scopes, {})
            session.frames = (function.name, *session.frames)
            self.functions += 1
            # `break` in a function does not leave a loop of its caller.
            loops, self._loops = self._loops, 0
            try:
                return self.command(function.body)
            except Return as end:
                return end.code
            finally:
                self._loops = loops
                self.functions -= 1
                session.arguments = outer
                session.frames = session.frames[1:]
                scope = session.scopes[-1]
                session.scopes = session.scopes[:-1]
                for name, (value, exported, letters) in scope.items():
                    if value is None:
                        session.variables.pop(name, None)
                    else:
                        session.variables[name] = value
                    session.exported = session.exported | {name} if exported else session.exported - {name}
                    if letters:
                        session.attributes[name] = letters
                    else:
                        session.attributes.pop(name, None)

    def define(self, node: tree.Function) -> int:
        """A function's definition."""
        body = node.body
        self.session.functions[node.name] = tree.Function(node.name, body, node.source)
        return 0

    def wait(self, words: list[str]) -> int:
        """``wait``."""
        if self.background is None:
            return 0
        self.flush()
        code, complaint = self.background.wait(words)
        self.err(complaint)
        return code


_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./\[\]{}^-]+\Z")


def syntax_text(error: ScriptError, script: str) -> str:
    """What bash says about a script that it cannot read, with the offending line; without the shell's name."""
    near = error.text.startswith("near ")
    lines = script.split("\n")
    line = lines[error.line - 1] if 0 < error.line <= len(lines) else lines[-1]
    between = "syntax error " if near else "" if error.text.startswith("unexpected EOF") else "syntax error: "
    said = f"line {error.line}: {between}{error.text}"
    return f"{said}\nbash: line {error.line}: `{line[:200]}'" if near else said


_COMPOUND: Mapping[type, Callable[[Interpreter, Any], int]] = {
    tree.Group: lambda run, node: run.script(node.body),
    tree.Subshell: lambda run, node: run.subshell(node.body),
    tree.If: Interpreter.choose,
    tree.While: Interpreter.loop_while,
    tree.For: Interpreter.loop_for,
    tree.Count: Interpreter.loop_count,
    tree.Case: Interpreter.case,
    tree.Function: Interpreter.define,
    tree.Calculation: Interpreter.calculation,
    tree.Conditional: Interpreter.conditional,
}

Builtin = Callable[[Interpreter, list[Any]], int]
"""A builtin: the run, and its words without its own name."""


_SHELLS = frozenset("sh bash ash dash zsh".split())
"""What this interpreter can take the place of."""


def _interpreter(text: str) -> list[str]:
    """The words of a script's first line that say what runs it; nothing where it does not."""
    if not text.startswith("#!"):
        return []
    words = text[2:256].partition("\n")[0].split()
    if words and words[0].endswith("/env"):
        words = [word for word in words[1:] if word != "-S"]
    if len(words) > 1 and words[0].endswith("busybox"):
        return words[1:]
    return words


_GATHERING = frozenset("sort wc tail tac uniq shuf column".split())
"""Programs that print when their input has ended."""


def _gathers(command: tree.Command) -> bool:
    """Whether a stage of a pipeline prints only when it has seen all of its input."""
    if not isinstance(command, tree.Simple) or not command.words:
        return False
    words = [word.source if isinstance(word, tree.Word) else "" for word in command.words]
    name = words[0].rpartition("/")[2]
    if name == "grep":
        return any(word[:1] == "-" and "c" in word for word in words[1:])
    return name in _GATHERING or (name == "awk" and any("END" in word for word in words[1:]))
