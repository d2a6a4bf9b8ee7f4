"""One run of a shell: what it may still use, where its descriptors lead, and what its parts ask of the whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime import effort
from sregym_env.shell.files import Files
from sregym_env.shell.limits import (
    COMMAND_EFFORT,
    COSTS,
    MOVING_EFFORT,
    READING_COST,
    SHORT,
    LimitExceeded,
    Limits,
    TimeExceeded,
)
from sregym_env.shell.session import Session
from sregym_env.shell.streams import FileSink, Input, Stream, Transcript
from sregym_env.shell.syntax import tree


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


class Host(Protocol):
    """The shell to which a run belongs."""

    files: Files
    limits: Limits
    background: Background | None

    @property
    def clock(self) -> Callable[[], float]:
        """Where the time comes from: Unix seconds."""
        ...

    def has_own(self, name: str) -> bool:
        """Whether a command of the caller's has this name."""
        ...

    def own(self, name: str) -> Callable[[Sequence[str], str], ExecResult] | None:
        """A command of the caller's, to be called with its words and its input."""
        ...

    def program(self, name: str) -> Program | None:
        """A command of the library."""
        ...

    def names(self) -> list[str]:
        """Every command there is, sorted."""
        ...


class Run(ABC):
    """What the parts of an interpreter share."""

    def __init__(self, host: Host, session: Session) -> None:
        self.host = host
        self.session = session
        self.files: Files = host.files
        self.limits: Limits = host.limits
        self.background: Background | None = host.background
        self.line = 1
        """The line of the script that runs."""
        self.last_word = ""
        """``$_``."""
        self.nested = 0
        """Shells within shells."""
        self.subshells = 0
        """Copies of the innermost shell within each other."""
        self.functions = 0
        """Functions and sourced scripts that run."""
        self.transcript = Transcript(self.limits.output_bytes)
        self.table: dict[int, Stream] = {}
        """What each descriptor leads to."""
        self._left = self.limits.commands
        self._moved = self.limits.moved_bytes
        self._depth = 0
        self._sinks: list[FileSink] = []

    @property
    def now(self) -> float:
        """The time, Unix seconds; commands let it pass."""
        return self.host.clock()

    # --- budgets ------------------------------------------------------------------------------------

    def spend(self, commands: int = 1) -> None:
        """Use some of the commands that a run has. Raises LimitExceeded."""
        self._left -= commands
        effort.spend(COMMAND_EFFORT * commands)
        if self._left < 0:
            raise TimeExceeded("too many commands executed")

    @property
    def fatal(self) -> int:
        """The exit code of a shell that ends because a variable is not set."""
        return 127 if self.nested and not self.subshells else 1

    @property
    def spent(self) -> int:
        """Commands that were used."""
        return self.limits.commands - max(self._left, 0)

    def move(self, characters: int) -> None:
        """Use some of what may be read and written. Raises LimitExceeded."""
        self._moved -= characters
        effort.spend(MOVING_EFFORT * characters)
        if self._moved < 0:
            raise TimeExceeded("too much data")

    def study(self, text: str) -> None:
        """Use what it costs to understand a text. Raises LimitExceeded."""
        if len(text) > SHORT:
            self.move(READING_COST * len(text))

    @contextmanager
    def deeper(self, what: str) -> Iterator[None]:
        """One level down. Raises LimitExceeded when that is too many."""
        self._depth += 1
        try:
            if self._depth > self.limits.depth:
                raise LimitExceeded(f"{what}: maximum nesting depth exceeded")
            yield
        finally:
            self._depth -= 1

    # --- streams ------------------------------------------------------------------------------------

    def out(self, text: str) -> None:
        """Write to standard output."""
        sink = self.table.get(1)
        if text and sink is not None and not isinstance(sink, Input):
            if len(text) > 1000:
                self.move(len(text))
            sink.write(text)

    def err(self, text: str) -> None:
        """Write to standard error."""
        sink = self.table.get(2)
        if text and sink is not None and not isinstance(sink, Input):
            sink.write(text)

    def complain(self, text: str) -> None:
        """Write an error of the shell itself."""
        self.err(f"bash: {text}\n")

    @property
    def input(self) -> Input:
        """Standard input; an empty one where it is closed."""
        found = self.table.get(0)
        return found if isinstance(found, Input) else Input("")

    def show(self, result: ExecResult) -> int:
        """Write what a command has printed; its exit code."""
        if result.chunks:
            for descriptor, text in result.chunks:
                if descriptor == 1:
                    self.out(text)
                else:
                    self.err(text)
        else:
            if result.stdout:
                self.out(result.stdout)
            if result.stderr:
                self.err(result.stderr)
        if result.cost:
            self.spend(result.cost)
        return result.exit_code & 255

    def flush(self) -> None:
        """Bring what was written to open files into them, for whoever looks now."""
        for sink in self._sinks:
            try:
                sink.flush()
            except OSError as error:
                self.complain(f"write error: {error.strerror}")

    def add_sink(self, sink: FileSink) -> None:
        """Remember a file that is being written."""
        if len(self._sinks) > 200:
            self.flush()
            # A descriptor may still lead to one of them.
            for known in self._sinks:
                known.through = True
            del self._sinks[:]
        self._sinks.append(sink)

    # --- what the parts ask of the whole ------------------------------------------------------------

    @abstractmethod
    def output_of(self, body: tree.Script) -> str:
        """What statements print in a copy of this shell, without the newlines at its end."""

    @abstractmethod
    def process_file(self, part: tree.ProcessFile) -> str:
        """The file that stands for a command's output or input while one command runs."""

    @abstractmethod
    def builtin(self, name: str, args: list[str]) -> int:
        """Run a builtin."""

    @abstractmethod
    def has_program(self, name: str) -> bool:
        """Whether a name is that of a program."""

    @abstractmethod
    def source(self, text: str) -> int:
        """Run a text in this shell, as ``eval`` does."""

    @abstractmethod
    def nested_shell(self, text: str, argv: Sequence[str], flags: frozenset[str] = frozenset()) -> int:
        """Run a script as a process of its own: ``$0`` and the arguments are ``argv``."""

    @abstractmethod
    def captured(self, run: Callable[[], int], stdin: str | None = None) -> ExecResult:
        """What something prints, apart from all else that is printed now."""

    @abstractmethod
    def with_input(self, argv: list[str], stdin: str, changes: Mapping[str, str] | None = None) -> int:
        """Run a program with other input, and other variables in its environment."""


@dataclass(frozen=True, slots=True)
class Call:
    """How a program of the library is called, and what it may ask of the shell around it."""

    run: Run
    name: str
    """The name by which it was called."""
    stdin: str

    @property
    def fs(self) -> Files:
        """The files of the machine."""
        return self.run.files

    @property
    def cwd(self) -> str:
        """The working directory."""
        return self.run.session.cwd

    @property
    def env(self) -> dict[str, str]:
        """The environment."""
        return self.run.session.exported_variables()

    @property
    def now(self) -> float:
        """The time, Unix seconds."""
        return self.run.now

    def resolve(self, path: str) -> str:
        """An absolute normal path."""
        return self.run.files.resolve_path(self.run.session.cwd, path)

    def charge(self, characters: int) -> None:
        """Use some of what may be read, by how much this program does with it. Raises LimitExceeded."""
        self.run.move(characters * COSTS.get(self.name, 1))

    def study(self, text: str) -> None:
        """Use what it costs to understand a program or a pattern. Raises LimitExceeded."""
        self.run.study(text)

    def execute(self, argv: Sequence[str], stdin: str = "") -> int:
        """Run a program whose output goes where this one's goes, now."""
        return self.run.with_input(list(argv), stdin)

    def script(self, text: str, stdin: str = "") -> ExecResult:
        """Run a script in a shell of its own; what it prints."""
        return self.run.captured(lambda: self.run.nested_shell(text, ("sh",)), stdin)


Program = Callable[[list[str], Call], ExecResult]
"""A program of the library: its words without its own name, and how it is called."""
