"""Shells within the shell: subshells, substitutions, scripts of their own, and what they leave behind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.compounds import Compounds
from sregym_env.shell.crowds import size, written_out
from sregym_env.shell.flow import Exit, Leave, Return, ShellError, StopScript
from sregym_env.shell.limits import MemoryExceeded
from sregym_env.shell.redirections import Table
from sregym_env.shell.run import Host
from sregym_env.shell.session import Session
from sregym_env.shell.streams import Capture, Input, Terminal, Transcript
from sregym_env.shell.syntax import tree

MOST_PENDING = 64
"""Files for ``<(...)`` that one command may have."""


class Processes(Compounds):
    """Runs things apart from the shell that runs now."""

    def __init__(self, host: Host, session: Session) -> None:
        super().__init__(host, session)
        self._substituted: int | None = None
        self._files_made: list[tuple[str, tree.ProcessFile]] = []

    @abstractmethod
    def program(self, argv: list[str]) -> int:
        """Run a program or a script by its name."""

    @abstractmethod
    def read(self, text: str) -> tree.Script:
        """A text as a script. Raises ShellError."""

    @abstractmethod
    def trapped(self, action: str) -> None:
        """Run what a trap asks for."""

    def apart(self, run: Callable[[], int], table: Table, session: Session | None = None) -> int:
        """Run something in a shell of its own that begins as a copy of this one."""
        outer, outer_table, loops = self.session, self.table, self._loops
        subshells = self.subshells
        if session is None:
            session = outer.copy()
            session.traps.pop("EXIT", None)
            self.subshells += 1
        self.session, self.table, self._loops = session, table, 0
        try:
            try:
                code = run()
            except Exit as end:
                code = end.code
            except Return as end:
                code = end.code
            except Leave:
                code = session.exit_code
            except ShellError as error:
                self.complain(str(error))
                code = error.code
            return self._ended(code)
        finally:
            self.session, self.table, self._loops, self.subshells = outer, outer_table, loops, subshells

    def _ended(self, code: int) -> int:
        """Do what a shell has been asked to do at its end; its exit code."""
        action = self.session.traps.pop("EXIT", "")
        if action:
            self.session.exit_code = code
            try:
                self.trapped(action)
            except Exit as end:
                return end.code
            except (Return, Leave):
                pass
        return code

    def finish(self, code: int) -> int:
        """The end of the session's own shell by ``exit``."""
        code = self._ended(code)
        self.session.exit_code = code
        return code

    def subshell(self, body: tree.Script) -> int:
        """Run statements in a copy of this shell."""
        with self.deeper("subshell"):
            return self.apart(lambda: self.script(body), self.table)

    def output_of(self, body: tree.Script) -> str:
        """What statements print in a copy of this shell, without the newlines at its end."""
        capture = Capture(self.limits.variable_bytes)
        table = dict(self.table)
        table[1] = capture
        guarded, self._guarded = self._guarded, 0
        subshells = self.subshells
        flags = self.session.flags
        try:
            with self.deeper("command substitution"):
                inner = self.session.copy()
                inner.traps.pop("EXIT", None)
                # Outside POSIX mode bash lets go of `set -e` in command substitutions.
                if "errexit" in flags and "inherit_errexit" not in inner.options:
                    inner.flags = flags - {"errexit"}
                self.subshells += 1
                code = self._substituted = self.apart(lambda: self.script(body), table, inner)
                self.session.exit_code = code
        finally:
            self._guarded, self.subshells = guarded, subshells
        text = capture.text
        self.move(len(text))
        if (whole := size(text)) > self.limits.variable_bytes and whole > len(text):
            raise MemoryExceeded(f"xrealloc: cannot allocate {whole} bytes")
        text = written_out(text)
        # Variables of bash cannot hold NUL bytes, so it drops them.
        return text.rstrip("\n").replace("\0", "")

    def process_file(self, part: tree.ProcessFile) -> str:
        """The file that stands for a command's output or input while one command runs."""
        if len(self._files_made) >= MOST_PENDING:
            raise ShellError("too many process substitutions")
        # bash counts down from 63, where scripts have nothing open.
        path = f"/dev/fd/{63 - len(self._files_made)}"
        text = ""
        if part.reads:
            capture = Capture(self.limits.output_bytes * 8)
            table = dict(self.table)
            table[1] = capture
            with self.deeper("process substitution"):
                self.apart(lambda: self.script(part.script), table)
            text = capture.text
            self.move(len(text))
        self.files.put_text(path, text)
        self._files_made.append((path, part))
        return path

    def _close_process_files(self, keep: int) -> None:
        while len(self._files_made) > keep:
            path, part = self._files_made.pop()
            # Nothing runs at the same time: the reader of `>(...)` begins when all has been written.
            if not part.reads:
                self.flush()
                table = dict(self.table)
                table[0] = Input(self.files.text(path) or "")
                with self.deeper("process substitution"):
                    self.apart(partial(self.script, part.script), table)
            self.files.remove(path)

    def nested_shell(self, text: str, argv: Sequence[str], flags: frozenset[str] = frozenset()) -> int:
        """Run a script as a process of its own: ``$0`` and the arguments are ``argv``."""
        session = Session(
            self.session.exported_variables(), self.session.cwd, argv[0], self.session.random(), self.now
        )
        session.arguments = tuple(argv[1:])
        session.flags = flags
        guarded, self._guarded = self._guarded, 0
        functions, self.functions = self.functions, 0
        subshells, self.subshells = self.subshells, 0
        self.nested += 1
        try:
            with self.deeper("sh"):
                return self.apart(lambda: self.script(self.read(text)), self.table, session)
        finally:
            self.nested -= 1
            self._guarded, self.functions, self.subshells = guarded, functions, subshells

    def captured(self, run: Callable[[], int], stdin: str | None = None) -> ExecResult:
        """What something prints, apart from all else that is printed now."""
        outer, transcript = self.table, Transcript(self.limits.output_bytes * 8)
        table = dict(outer)
        table[1], table[2] = Terminal(transcript, 1), Terminal(transcript, 2)
        if stdin is not None:
            table[0] = Input(stdin)
        self.table = table
        try:
            with self.deeper("command"):
                code = run()
        except StopScript:
            # The script ends here; what was printed so far is printed.
            self.table = outer
            self.show(transcript.result(0))
            raise
        finally:
            self.table = outer
        return transcript.result(code)

    def with_input(self, argv: list[str], stdin: str, changes: Mapping[str, str] | None = None) -> int:
        """Run a program with other input, and with an environment of its own if one is given."""
        outer = self.table
        session = self.session
        self.table = {**outer, 0: Input(stdin)}
        try:
            with self.deeper(argv[0]):
                if changes is not None:
                    self.session = session.copy()
                    self.session.variables.update(changes)
                    self.session.exported = frozenset(changes)
                return self.program(argv)
        finally:
            self.table, self.session = outer, session
