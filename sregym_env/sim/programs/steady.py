"""Scripts that do the same for ever: ``while true; do echo alive; sleep 5; done``.

Such a script needs nobody to run it: what one turn of its loop prints, every turn prints, until the container ends.
Found in its text alone, and only where nothing in the loop could ever make a turn another one: constant words, no
assignments, no files, no network, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from sregym_env.runtime.clock import SECOND
from sregym_env.shell.syntax import tree
from sregym_env.shell.syntax.commands import parsed
from sregym_env.shell.syntax.words import ScriptError
from sregym_env.sim.programs.visits import duration

_SAME = frozenset("echo printf true : sleep".split())
"""Commands that do the same every time, given the same words."""
_ASKING = frozenset(("nc", "nslookup"))
"""Commands whose answer follows from where connections and names lead."""
_MOVING = frozenset("RANDOM SECONDS EPOCHSECONDS EPOCHREALTIME LINENO BASHPID SRANDOM _ ?".split())
"""Variables that change by themselves."""
_NOWHERE = frozenset(("/dev/null", "&1", "&2", "1", "2"))

BUSY_TURN = 20
"""Microseconds that a turn takes in which nothing sleeps."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A script's beginning, and what it goes on to do for ever; both as source text."""

    before: str
    turn: str


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn prints and how long it takes, microseconds."""

    lines: tuple[tuple[int, str], ...]
    length: int


def loop_of(argv: Sequence[str]) -> Loop | None:
    """The loop in which a shell's command line ends; None where it does not end in such a one."""
    if len(argv) != 3 or argv[1] != "-c" or argv[0].rpartition("/")[2] not in ("sh", "bash"):
        return None
    try:
        statements = parsed(argv[2]).statements
    except ScriptError:
        return None
    body = _endless(statements[-1]) if statements else None
    if body is None or not body.statements:
        return None
    if not all(_is_same(statement) for statement in (*statements[:-1], *body.statements)):
        return None
    return Loop(_source(statements[:-1]), _source(body.statements))


def waits(argv: Sequence[str], codes: Sequence[int]) -> bool:
    """Whether a shell's command line begins with a loop that asks the network the same until it likes the answer, and
    does the same between (``until nc -z db 27017; do echo waiting; sleep 2; done``), and is still in it when its
    questions have ended with these exit codes, from the beginning."""
    if len(argv) != 3 or argv[1] != "-c" or argv[0].rpartition("/")[2] not in ("sh", "bash"):
        return False
    try:
        statements = parsed(argv[2]).statements
    except ScriptError:
        return False
    for statement in statements:
        command = _only(statement)
        if isinstance(command, tree.While):
            asked, between = command.condition.statements, command.body.statements
            return (
                not command.redirections
                and all(_is_same(each, _ASKING) for each in asked)
                and all(_is_same(each) for each in between)
                and _goes_on(command, codes)
            )
        if not _is_same(statement):
            return False
    return False


def _goes_on(loop: tree.While, codes: Sequence[int]) -> bool:
    """Whether a loop whose condition is nothing but questions has not come to its end."""
    asked = loop.condition.statements
    last = asked[-1].pipelines[0]
    ends = codes[len(asked) - 1 :: len(asked)]
    return bool(ends) and all(((code == 0) != last.negated) != loop.until for code in ends)


_COUNTS = re.compile(r"\bfor\b|\(\(|\b(?:let|expr|seq)\b")


def counts(argv: Sequence[str]) -> bool:
    """Whether a shell's command line goes round a number of times and then ends, so that it must not begin anew."""
    if len(argv) != 3 or argv[1] != "-c" or _COUNTS.search(argv[2]) is None:
        return False
    try:
        statements = parsed(argv[2]).statements
    except ScriptError:
        return False
    return all(_endless(statement) is None for statement in statements)


def _source(statements: Sequence[tree.Statement]) -> str:
    return "\n".join(statement.source for statement in statements)


def _only(statement: tree.Statement) -> tree.Command | None:
    """The one command that a statement is."""
    if statement.background or len(statement.pipelines) != 1:
        return None
    pipeline = statement.pipelines[0]
    return pipeline.commands[0] if len(pipeline.commands) == 1 and not pipeline.timed else None


def _endless(statement: tree.Statement) -> tree.Script | None:
    """The body of a loop whose condition never changes."""
    command = _only(statement)
    if isinstance(command, tree.Count):
        return (
            None if command.condition.source.strip() or command.start.source.strip() else _plain_body(command)
        )
    if not isinstance(command, tree.While) or len(command.condition.statements) != 1:
        return None
    asked = _only(command.condition.statements[0])
    if not isinstance(asked, tree.Simple) or asked.assignments or asked.redirections or len(asked.words) != 1:
        return None
    word = asked.words[0]
    plain = word.plain if isinstance(word, tree.Word) else None
    return _plain_body(command) if plain in (("false",) if command.until else ("true", ":")) else None


def _plain_body(command: tree.While | tree.Count) -> tree.Script | None:
    return None if command.redirections else command.body


def _is_same(statement: tree.Statement, names: Collection[str] = _SAME) -> bool:
    """Whether a statement is one of these commands, and does the same whenever it is carried out."""
    command = _only(statement)
    if not isinstance(command, tree.Simple) or command.assignments or not command.words:
        return False
    first = command.words[0]
    if not isinstance(first, tree.Word) or first.plain not in names:
        return False
    if not all(isinstance(word, tree.Word) and _is_constant(word) for word in command.words[1:]):
        return False
    return all(redirection.target.source in _NOWHERE for redirection in command.redirections)


def _is_constant(word: tree.Word) -> bool:
    return word.plain is not None or all(_is_constant_part(part) for part in word.parts)


def _is_constant_part(part: tree.Part) -> bool:
    if isinstance(part, tree.Literal):
        return not set("*?[{~") & set(part.text)
    if isinstance(part, tree.DoubleQuoted):
        return all(_is_constant_part(inner) for inner in part.parts)
    if isinstance(part, tree.Parameter):
        return not (part.asked or part.operator or part.subscript) and part.name not in _MOVING
    return isinstance(part, tree.Quoted)


def turn_of(source: str, run: Callable[[str, Callable[[str, str], None]], None]) -> Turn:
    """What a turn does: ``run`` carries a script out and tells of every ``sleep`` (its word and what was printed
    before it); the last call, with an empty word, tells of what was printed after them."""
    lines: list[tuple[int, str]] = []
    at = 0

    def slept(word: str, printed: str) -> None:
        nonlocal at
        lines.extend((at, line) for line in printed.split("\n")[: printed.count("\n")])
        if word:
            at += round(duration(word) * SECOND)

    run(source, slept)
    return Turn(tuple(lines), max(at, BUSY_TURN))
