"""What a script is once it has been read: small frozen nodes that nothing changes and everything may share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

# --- words ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """Text as it stands; the shell may still take its wildcards, braces and tildes for what they are."""

    text: str


@dataclass(frozen=True, slots=True)
class Quoted:
    """Text of which every character stands for itself."""

    text: str


@dataclass(frozen=True, slots=True)
class DoubleQuoted:
    """Parts whose results are neither split nor taken for wildcards."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """``$name``, ``${name[subscript]}`` and all that can be asked of one."""

    name: str
    subscript: Word | None = None
    """What stands between the brackets; ``@`` and ``*`` for all elements."""
    asked: str = ""
    """``length``, ``indirect``, ``keys``, ``names`` or nothing."""
    operator: str = ""
    first: Word | None = None
    second: Word | None = None


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """``$(...)``: what a script prints."""

    script: Script


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``$((...))``."""

    expression: Word


@dataclass(frozen=True, slots=True)
class ProcessFile:
    """``<(...)`` and ``>(...)``: a file name that stands for a command's output or input."""

    script: Script
    reads: bool
    """Whether the file is read, which is what the command prints."""


Part: TypeAlias = Literal | Quoted | DoubleQuoted | Parameter | CommandOutput | Arithmetic | ProcessFile


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command before it is expanded."""

    parts: tuple[Part, ...]
    source: str
    plain: str | None = None
    """The word itself where nothing of it can mean anything else."""


@dataclass(frozen=True, slots=True)
class Elements:
    """``(a b [3]=c)`` on the right of an assignment; each with its subscript or None."""

    items: tuple[tuple[Word | None, Word], ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """``name=value``, ``name[i]=value``, ``name+=value``."""

    name: str
    subscript: Word | None
    append: bool
    value: Word | Elements
    source: str


# --- commands ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Redirection:
    """``2>file`` and its kin; a here-document is the text that ``target`` stands for."""

    operator: str
    descriptor: int | None
    target: Word
    variable: str = ""
    """The variable that gets a free descriptor's number (``{fd}>file``)."""


@dataclass(frozen=True, slots=True)
class Simple:
    """Assignments, then a command's words."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word | Assignment, ...]
    redirections: tuple[Redirection, ...]
    source: str
    line: int


@dataclass(frozen=True, slots=True)
class Group:
    """``{ ...; }``."""

    body: Script
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Subshell:
    """``( ... )``."""

    body: Script
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    """Conditions with what is to be done, in order, and what else."""

    clauses: tuple[tuple[Script, Script], ...]
    otherwise: Script | None
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class While:
    """``while`` and ``until``."""

    condition: Script
    body: Script
    until: bool
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class For:
    """``for name in words`` and ``select``; without words the arguments."""

    name: str
    words: tuple[Word, ...] | None
    body: Script
    select: bool = False
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Count:
    """``for ((start; condition; step))``."""

    start: Word
    condition: Word
    step: Word
    body: Script
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """``case``: patterns, what to do, and how the clause ends (``;;``, ``;&``, ``;;&``)."""

    subject: Word
    clauses: tuple[tuple[tuple[Word, ...], Script, str], ...]
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """A function's definition."""

    name: str
    body: Command
    source: str
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Calculation:
    """``(( ... ))``."""

    expression: Word
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Test:
    """One test of ``[[ ]]``: an operator and its one or two words; without an operator, whether it is empty."""

    operator: str
    left: Word
    right: Word | None = None


@dataclass(frozen=True, slots=True)
class Not:
    """``! test``."""

    inner: Condition


@dataclass(frozen=True, slots=True)
class Both:
    """``left && right``, or ``||`` where ``either``."""

    left: Condition
    right: Condition
    either: bool


Condition: TypeAlias = Test | Not | Both


@dataclass(frozen=True, slots=True)
class Conditional:
    """``[[ ... ]]``."""

    condition: Condition
    redirections: tuple[Redirection, ...] = ()


Command: TypeAlias = (
    Simple | Group | Subshell | If | While | For | Count | Case | Function | Calculation | Conditional
)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands of which each reads what the one before prints."""

    commands: tuple[Command, ...]
    negated: bool = False
    timed: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """Pipelines joined by ``&&`` and ``||``."""

    pipelines: tuple[Pipeline, ...]
    operators: tuple[str, ...]
    background: bool
    source: str
    line: int


@dataclass(frozen=True, slots=True)
class Script:
    """Statements in order."""

    statements: tuple[Statement, ...]
