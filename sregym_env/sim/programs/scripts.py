"""Containers whose main process is a shell, ``sleep`` or ``nc``: init containers, sidecars, debug pods.

A script runs through the shell interpreter. It is cut at the first ``sleep`` it has not yet waited for and run
again after that time with the earlier ones skipped: up to there its commands are told what they were told before, and
what it writes is thrown away, so that it goes on as if it had slept. Loops which wait for something see the world as
it is then, and a world with such a pod can be forked like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime import effort
from sregym_env.runtime.frozen import evolve
from sregym_env.shell.files import Files
from sregym_env.shell.shell import Shell, ShellCommand, StopScript
from sregym_env.sim.network import addressing
from sregym_env.sim.processes import lifecycle
from sregym_env.sim.processes.context import ProcessContext, let_settle
from sregym_env.sim.programs import consoles, httpd, image_tools, steady, terminal, toolbox, visits
from sregym_env.sim.programs.defaults import CLOSED, MIB, NEVER, ONCE, Quiet
from sregym_env.sim.world.inquiry import Inquiry, Read
from sregym_env.sim.world.logs import Cycle
from sregym_env.sim.world.program import HttpRequest, HttpResponse, Usage

REPLAYS = 6
"""Sleeps after which a looping script is run from its start again rather than replayed further."""

COUNTED = 150
"""The same for a script that goes round a number of times and then ends."""

FOREVER = 10.0 * 365 * 86_400


LEAST_WAIT = 1.0
"""Seconds between two turns of a loop that has slept so often: one that hardly sleeps gets no more of the processor."""

COMMANDS = 5_000
"""Commands that a script may run between two sleeps; one that needs more computes for ever, and sees nothing happen."""

SHARE = 120_000.0
"""What all its programs may do in that time (units of ``runtime/effort.py``)."""

SPINS = "spins"
"""Key of a process's state: that it uses a whole core."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A script that sleeps. Kept outside the process: one that goes on sleeping changes nothing that others see."""

    printed: str
    """What it has printed, all of it."""
    turn: Turn | None = None
    told: tuple[Told, ...] = ()
    """What its commands have answered until then, in their order."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a loop that waits for something: the next one is the same while what it has read stays so."""

    printed: str
    length: float
    """Seconds."""
    asked: tuple[Told, ...]
    """What it has asked the network: while that answers the same, the turn is the same."""
    reads: tuple[Read, ...] | None
    """What the answers follow from; None where chance has a part in them."""


class Told(NamedTuple):
    """A command, and what it has answered."""

    words: tuple[str, ...]
    result: ExecResult


class Asked(NamedTuple):
    """What commands have answered just now."""

    told: tuple[Told, ...]
    inquiry: Inquiry


class _Replay:
    """A script's way back to where it slept: what its commands were told, and where the sleep began."""

    def __init__(self, shell: Shell, told: Sequence[Told], fresh: Sequence[Told]) -> None:
        """``fresh`` is what the first commands after the sleep have been told already."""
        self._shell = shell
        self._old = list(reversed(told))
        self._fresh = fresh
        self._files = shell.files.point()
        self._inside = False
        self.told: list[Told] = []
        self.there = False
        """Whether it has got to where it slept."""
        self._past = 0

    def wrap(self, command: ShellCommand) -> ShellCommand:
        """A command that answers as before, for as long as it is asked as before."""

        def call(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
            if self._inside:  # of another command, which answers for both
                return command(argv, stdin, shell)
            words = tuple(argv)
            known = self._old.pop() if self._old else None
            if known is None or known.words != words:
                self._old.clear()
                known = Told(words, self._asked(command, argv, stdin, shell))
            self.told.append(known)
            return known.result

        return call

    def _asked(self, command: ShellCommand, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        self._inside = True
        try:
            return command(argv, stdin, shell)
        finally:
            self._inside = False

    def awake(self) -> None:
        """Here it slept: what was done on the way here has been done before."""
        self._old = list(reversed(self._fresh))
        self._shell.files.back(self._files)
        self._past = len(self.told)
        self.there = True

    @property
    def since(self) -> tuple[Told, ...]:
        """What commands were told after the sleep."""
        return tuple(self.told[self._past :])


class Script(Quiet):
    """``sh``, ``bash`` or an executable script file as a container's main process."""

    name = "shell"

    def start(self, ctx: ProcessContext) -> None:
        """Run the script until it sleeps, serves or ends."""
        ctx.set_memory(1 * MIB)
        if ctx.over_limit:
            return
        if ctx.process.stdin and consoles.reads(ctx):
            consoles.start_main(ctx)
            return
        if not _steady(ctx):
            self._run(ctx, 0, Cut(""))

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Go on after a sleep, or end a script whose foreground server never returns."""
        kind, _, count = reason.partition(":")
        if kind == CLOSED and ONCE in ctx.process.state:
            cut = ctx.world.memory.get(_cut_key(ctx), Cut(""))
            self._run(ctx, ctx.process.state[ONCE], cut)
        elif kind == "slept":
            cut = ctx.world.memory.get(_cut_key(ctx)) or Cut("")
            if cut.turn is None:
                self._run(ctx, int(count), cut)
            else:
                self._turn(ctx, int(count), cut, cut.turn)

    def _turn(self, ctx: ProcessContext, done: int, cut: Cut, turn: Turn) -> None:
        """Take one more turn of a loop that waits: the same one while the network answers the same."""
        if turn.reads is None or not addressing.still(ctx.world, turn.reads):
            asked = _ask(ctx, turn.asked)
            if asked.told != turn.asked:
                self._run(ctx, done, cut, asked)
                return
            turn = replace(turn, reads=_lasting(asked.inquiry))
            ctx.world.memory[_cut_key(ctx)] = replace(cut, turn=turn)
        if turn.printed:
            ctx.log(turn.printed)
        ctx.wake_in(turn.length, f"slept:{done}")

    def _run(self, ctx: ProcessContext, done: int, cut: Cut, asked: Asked | None = None) -> None:
        """``asked`` is what it would ask first, where that has been asked."""
        shell = toolbox.container_shell(ctx)
        shell.limits = replace(shell.limits, commands=COMMANDS)
        way = _Replay(shell, cut.told, asked.told if asked is not None else ())
        shell.wrap_commands(way.wrap)
        connect = way.wrap(partial(toolbox.TOOLS["nc"], ctx))
        count = 0
        waits: list[float] = []
        servers: list[tuple[tuple[str, ...], dict[str, str], int]] = []

        def sleep(argv: Sequence[str], stdin: str, _: Shell) -> ExecResult:
            nonlocal count
            try:
                wait = visits.duration(argv[1] if len(argv) > 1 else "")
            except ValueError:
                return ExecResult(
                    stderr=f"sleep: invalid number '{argv[1] if len(argv) > 1 else ''}'\n", exit_code=1
                )
            count += 1
            if count <= done:
                slept()
                return ExecResult()
            waits.append(wait)
            raise StopScript

        def slept() -> None:
            if count == done:
                way.awake()

        def serve(argv: Sequence[str], stdin: str, inner: Shell) -> ExecResult:
            nonlocal count
            port = listening_port(argv)
            if port is None:
                return connect(argv, stdin, inner)
            if not lasting(argv):
                count += 1
                if count <= done:
                    over(port)
                    slept()
                    return ExecResult()
            try:
                ctx.listen(port)
            except OSError:
                return ExecResult(stderr="nc: bind: Address already in use\n", exit_code=1)
            if not lasting(argv):
                ctx.update(**{ONCE: count})
            waits.append(FOREVER)
            raise StopScript

        def over(port: int) -> None:
            """The wait that has just come to its end was for whoever came to a port."""
            if count == done and port in ctx.process.listening:
                ctx.deaf(port)

        def limit(argv: Sequence[str], stdin: str, inner: Shell) -> ExecResult:
            """``timeout`` of what serves for ever otherwise; of everything else it is the tool's own."""
            nonlocal count
            name = argv[2].rpartition("/")[2] if len(argv) > 2 else ""
            if name == "sleep" and len(argv) > 3:
                return cut_short(argv, stdin, inner)
            port = listening_port(argv[2:]) if name == "nc" else None
            try:
                wait = visits.duration(argv[1]) if port is not None else 0.0
            except ValueError:
                port = None
            if port is None:
                assert timed is not None
                return timed(argv, stdin)
            count += 1
            if count <= done:
                over(port)
                slept()
                return ExecResult(
                    exit_code=visits.TERMINATED if ctx.image.toolbox == "busybox" else visits.CUT_OFF
                )
            try:
                ctx.listen(port)
            except OSError:
                return ExecResult(stderr="nc: bind: Address already in use\n", exit_code=1)
            waits.append(wait)
            raise StopScript

        def cut_short(argv: Sequence[str], stdin: str, inner: Shell) -> ExecResult:
            try:
                most, wanted = visits.duration(argv[1]), visits.duration(argv[3])
            except ValueError:
                return sleep(argv[2:], stdin, inner)
            done = sleep(["sleep", argv[1] if most < wanted else argv[3]], stdin, inner)
            late = visits.TERMINATED if ctx.image.toolbox == "busybox" else visits.CUT_OFF
            return ExecResult(exit_code=late) if most < wanted else done

        def serve_files(argv: Sequence[str], stdin: str, inner: Shell) -> ExecResult:
            result = httpd.command(ctx, argv, stdin, inner)
            if result.exit_code == 0 and httpd.options(argv).foreground and not background.inside:
                waits.append(FOREVER)
                raise StopScript
            return result

        def hand_over(argv: Sequence[str], stdin: str, inner: Shell) -> ExecResult:
            if not background.inside:
                session = inner.session
                servers.append((tuple(argv), session.exported_variables(), session.open_files))
                raise StopScript
            return ExecResult()

        def follow(argv: Sequence[str], stdin: str, inner: Shell) -> ExecResult:
            result = inner.library("tail", argv[1:], stdin)
            if not toolbox.follows(argv) or result.exit_code or background.inside:
                return result
            inner.show(result)
            waits.append(FOREVER)
            raise StopScript

        def serve_or_run(argv: Sequence[str], stdin: str, inner: Shell) -> ExecResult:
            name = argv[0].rpartition("/")[2]
            if image_tools.SERVERS[name](argv):
                return hand_over(argv, stdin, inner)
            return toolbox.TOOLS[name](ctx, argv, stdin, inner)

        timed = shell.own("timeout")
        background = _Background(ctx, waits)
        shell.background = background
        shell.add_commands({"sleep": sleep, "nc": serve})
        if shell.has("httpd"):
            shell.add_commands({"httpd": serve_files})
        if shell.has("timeout"):
            shell.add_commands({"timeout": limit})
        # The image's own servers; its tools are commands already.
        shell.add_commands({name: hand_over for name in ctx.image.binaries if not shell.has(name)})
        shell.add_commands({name: serve_or_run for name in ctx.image.binaries if name in image_tools.SERVERS})
        if shell.has("tail"):
            shell.add_commands({"tail": follow})
        argv = list(ctx.process.argv)
        if argv[0] not in ("sh", "bash") and not argv[0].endswith(("/sh", "/bash")):
            argv = ["sh", *argv]
        with _share(), addressing.inquiring(ctx.world) as inquiry:
            try:
                result = consoles.in_name(ctx, argv, shell.call(argv))
            finally:
                shell.detach()  # the commands above keep the shell, and it would keep them
        for entry in inquiry.settling:
            let_settle(ctx.world, entry)
        if asked is not None:
            inquiry.reads.update(asked.inquiry.reads)
            inquiry.fleeting |= asked.inquiry.fleeting
        toolbox.save(ctx, shell)
        if shell.exhausted == "memory":
            self._print(ctx, result.stdout, cut.printed)
            _out_of_memory(ctx)
            return
        if shell.exhausted:
            # It computes, and goes on computing: what it would say of that is the interpreter's own.
            self._print(ctx, result.stdout, cut.printed)
            ctx.update(**{SPINS: True})
            return
        fresh = self._print(ctx, result.text, cut.printed, known=way.there)
        memory, key = ctx.world.memory, _cut_key(ctx)
        memory.pop(key, None)
        if servers:
            _become(ctx, *servers[0])
        elif not waits:
            consoles.finish(ctx, result)
        elif waits[0] < FOREVER:
            # Every replay is longer than the one before; who sleeps so often is in a loop, and may start over.
            again = count > (COUNTED if steady.counts(ctx.process.argv) else REPLAYS)
            length = max(waits[0], LEAST_WAIT) if again else waits[0]
            if not again:
                # What the first run printed may be more than a turn does.
                same = done and steady.waits(ctx.process.argv, [each.result.exit_code for each in way.told])
                turn = Turn(fresh, length, way.since, _lasting(inquiry)) if same else None
                memory[key] = Cut(result.text, turn, tuple(way.told))
            ctx.wake_in(length, f"slept:{0 if again else count}")
        elif ONCE in ctx.process.state:
            memory[key] = Cut(result.text, told=tuple(way.told))

    def _print(self, ctx: ProcessContext, text: str, printed: str, *, known: bool = False) -> str:
        """Write what was not printed before to the log; what that is. ``known``: what was before comes first."""
        fresh = consoles.printable(text[len(printed) if known else _common(text, printed) :])
        fresh = terminal.as_shown(fresh) if ctx.process.tty else fresh
        fresh = fresh.lstrip("\n") if printed else fresh
        if not fresh.strip("\n"):
            return ""
        ctx.log(fresh)
        return fresh

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """What a server of files that the script has started answers."""
        return httpd.answer(ctx, request, port)

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """A shell as process 1 has no handler for SIGTERM, so the signal is ignored."""
        ctx.world.memory.pop(_cut_key(ctx), None)
        return NEVER, 137

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Next to nothing, but for one that never sleeps."""
        return Usage(1.0 if ctx.process.state.get(SPINS) else 0.0005, ctx.process.memory)


def _ask(ctx: ProcessContext, questions: Sequence[Told]) -> Asked:
    """Ask the network again what a loop that waits has asked it."""
    shell = Shell(Files(), {})  # neither tool looks at its shell
    with addressing.inquiring(ctx.world) as inquiry:
        told = tuple(Told(words, toolbox.TOOLS[words[0]](ctx, words, "", shell)) for words, _ in questions)
    for entry in inquiry.settling:
        let_settle(ctx.world, entry)
    return Asked(told, inquiry)


def _lasting(inquiry: Inquiry) -> tuple[Read, ...] | None:
    """What answers follow from, where that is all they follow from."""
    return None if inquiry.fleeting else tuple(inquiry.reads.values())


def _become(ctx: ProcessContext, argv: tuple[str, ...], exported: Mapping[str, str], open_files: int) -> None:
    """Let a server take the place of the script that has got to it, with or without ``exec``: it is all that is left."""
    found = lifecycle.executable(ctx.world, ctx.image, argv[0])
    assert found is not None
    own = {name: value for name, value in exported.items() if name not in _THE_SHELLS}
    process = evolve(
        ctx.process,
        binary=found[0],
        program=found[1],
        argv=argv,
        env={**ctx.process.env, **own},
        state={},
        listening=(),
        open_files=open_files,
    )
    lifecycle.start(ctx.world, process)


_THE_SHELLS = frozenset("HOME HOSTNAME OLDPWD PATH PWD SHLVL _".split())
"""Variables that every shell sets."""


@contextmanager
def _share() -> Iterator[None]:
    """Give a script its share of the processor and no more, whoever pays for it."""
    with effort.bounded(own=SHARE) as share:
        yield
    effort.note(share.used)


def _steady(ctx: ProcessContext) -> bool:
    """Let a script that does the same for ever be: whether it is one. Its lines are made when somebody reads them."""
    loop = steady.loop_of(ctx.process.argv)
    if loop is None:
        return False
    before, turn = (steady.turn_of(text, partial(_once, ctx)) for text in (loop.before, loop.turn))
    begun = 0 if not loop.before else before.length if before.length > steady.BUSY_TURN else 0
    if not ctx.world.unread:
        process = ctx.process
        log = ctx.world.log((process.key[0], process.container, process.restart))
        for offset, line in before.lines:
            log.write(ctx.now() + offset, line)
        if turn.lines:
            log.open_burst(Cycle(ctx.now() + begun, None, turn.length, turn.lines))
    if turn.length <= steady.BUSY_TURN:
        ctx.update(**{SPINS: True})
    return True


def _once(ctx: ProcessContext, source: str, slept: Callable[[str, str], None]) -> None:
    """Carry a text out, sleeping not at all, and tell what it prints between its sleeps."""
    shell = toolbox.container_shell(ctx)
    words: list[str] = []
    mark = "\x1e"

    def sleep(argv: Sequence[str], stdin: str, _: Shell) -> ExecResult:
        try:
            if visits.duration(argv[1] if len(argv) > 1 else "") < FOREVER:
                words.append(argv[1])
                return ExecResult(mark)
        except ValueError:
            pass
        return ExecResult(stderr=f"sleep: invalid number '{argv[1] if len(argv) > 1 else ''}'\n", exit_code=1)

    shell.add_commands({"sleep": sleep})
    printed = shell.run(source).text.split(mark)
    for word, text in zip([*words, ""], printed, strict=False):
        slept(word, text)


def _out_of_memory(ctx: ProcessContext) -> None:
    """A script takes all the memory it can get: the kernel ends it."""
    limit = ctx.process.memory_limit
    if limit is not None:
        ctx.set_memory(limit + MIB)
    else:
        ctx.exit(137, delay=1.0)


class _Background:
    """What a script starts with ``&``: everything runs to its end at once, but servers go on."""

    def __init__(self, ctx: ProcessContext, waits: list[float]) -> None:
        """``waits`` is told how long the script waits."""
        self.inside = False
        self.serving = False
        self._ctx = ctx
        self._waits = waits
        self._started = 0

    def begin(self) -> None:
        """A command is about to be started in the background."""
        self.inside = self.serving = True
        self._started += 1

    def end(self, command: str, exit_code: int, output: str) -> int:
        """It has got as far as it gets at once; its process number."""
        self.inside = False
        return 6 + self._started

    def wait(self, words: list[str]) -> tuple[int, str]:
        """Wait for what never ends, if there is such a thing."""
        if self.serving and "httpd" in self._ctx.process.state:
            self._waits.append(FOREVER)
            raise StopScript
        return 0, ""


def _cut_key(ctx: ProcessContext) -> str:
    """Where a script that sleeps is kept until it runs again."""
    process = ctx.process
    return f"script/{process.key[0]}/{process.container}/{process.restart}"


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    if other.startswith(one) or one.startswith(other):
        return min(len(one), len(other))
    return next(index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)


def listening_port(argv: Sequence[str]) -> int | None:
    """The port of ``nc -l``: None where the command line does not listen."""
    flags = "".join(word[1:] for word in argv[1:] if word.startswith("-"))
    if "l" not in flags:
        return None
    for index, word in enumerate(argv[:-1]):
        if word.startswith("-") and word.endswith("p") and argv[index + 1].isdecimal():
            return int(argv[index + 1])
    for word in argv[1:]:
        if word.isdecimal():
            return int(word)
        if word.startswith("-p") and word[2:].isdecimal():
            return int(word[2:])
    return None


def lasting(argv: Sequence[str]) -> bool:
    """Whether ``nc -l`` goes on when its first visitor has gone: ``-k``, or ``-l`` twice."""
    flags = "".join(word[1:] for word in argv[1:] if word.startswith("-"))
    return "k" in flags or flags.count("l") > 1


class Sleep(Quiet):
    """``sleep DURATION`` as a main process."""

    name = "sleep"

    def start(self, ctx: ProcessContext) -> None:
        """Wait, then exit with 0."""
        ctx.set_memory(MIB // 2)
        argv = ctx.process.argv
        try:
            wait = visits.duration(argv[1] if len(argv) > 1 else "")
        except ValueError:
            ctx.log(f"sleep: invalid number '{argv[1] if len(argv) > 1 else ''}'")
            ctx.exit(1)
            return
        if wait < FOREVER:
            ctx.exit(0, delay=wait)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """What a server of files that somebody has started beside it answers."""
        return httpd.answer(ctx, request, port)

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """``sleep`` as process 1 ignores SIGTERM."""
        return NEVER, 137


class Netcat(Quiet):
    """``nc -lk -p PORT`` as a main process: accepts connections, or finds its port taken."""

    name = "nc"

    def start(self, ctx: ProcessContext) -> None:
        """Listen, or connect once and end."""
        ctx.set_memory(MIB // 2)
        port = listening_port(ctx.process.argv)
        if port is None:
            result = toolbox.container_shell(ctx).call(list(ctx.process.argv))
            if result.text:
                ctx.log(result.text)
            ctx.exit(result.exit_code)
            return
        try:
            ctx.listen(port)
        except OSError:
            ctx.log("nc: bind: Address already in use")
            ctx.exit(1, delay=0.1)
            return
        if not lasting(ctx.process.argv):
            ctx.update(**{ONCE: 1})

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """End, where it serves one visitor and that one has gone."""
        if reason == CLOSED and ONCE in ctx.process.state:
            ctx.exit(0)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """Takes what comes and says nothing."""
        return None

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """``nc`` as process 1 ignores SIGTERM."""
        return NEVER, 137


class Applet(Quiet):
    """Any other general command as a main process: runs once and ends."""

    name = "applet"

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Whatever still runs has no handler for SIGTERM, which process 1 therefore ignores."""
        return NEVER, 137

    def start(self, ctx: ProcessContext) -> None:
        """Run, print, exit with the command's code; one that follows a file goes on."""
        ctx.set_memory(MIB)
        if ctx.process.stdin and consoles.reads(ctx):
            consoles.start_main(ctx)
            return
        shell = toolbox.container_shell(ctx)
        shell.limits = replace(shell.limits, commands=COMMANDS)
        argv = list(ctx.process.argv)
        with _share():
            result = shell.call(argv) if shell.has(argv[0]) else ExecResult(exit_code=0)
        if toolbox.follows(argv) and not result.exit_code:
            if result.text.strip("\n"):
                ctx.log(consoles.printable(result.text))
            return
        if shell.exhausted == "memory":
            _out_of_memory(ctx)
            return
        if shell.exhausted:
            ctx.update(**{SPINS: True})
            return
        text = consoles.written(ctx, result)
        if text.strip("\r\n"):
            ctx.log(text)
        toolbox.save(ctx, shell)
        consoles.finish(ctx, result, delay=0.05)
