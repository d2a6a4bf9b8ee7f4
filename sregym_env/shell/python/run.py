"""A program from its text to what it has printed."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.effort import EffortExceeded
from sregym_env.shell.python.bounds import Exhausted, Refused
from sregym_env.shell.python.library import KNOWN, Exit
from sregym_env.shell.python.machine import Machine
from sregym_env.shell.python.reading import read
from sregym_env.shell.shell import Shell

KILLED = 137
"""Exit code of a process that was killed."""

SUBSET = (
    "python3: a small part of Python runs on this machine, and {} is not in it. It knows expressions, loops, functions, "
    f"files, and the modules {', '.join(KNOWN)}; use jq, awk or a shell for the rest\n"
)


def run(text: str, argv: Sequence[str], stdin: str, shell: Shell, name: str = "<string>") -> ExecResult:
    """Run a program; ``name`` is where its text is from."""
    try:
        tree = read(text)
    except Refused as error:
        return ExecResult(stderr=SUBSET.format(error), exit_code=1)
    except SyntaxError as error:
        return ExecResult(stderr=_misspelt(error, name), exit_code=1)
    machine = Machine(shell, stdin, argv)
    code, complaint = 0, ""
    try:
        machine.run(tree)
    except Exit as end:
        code, complaint = _ended(end)
    except Refused as error:
        code, complaint = 1, SUBSET.format(error)
    except Exhausted:
        code, complaint = KILLED, "Killed\n"
    except EffortExceeded:
        raise
    except Exception as error:  # whatever a program's own values raise is the program's
        code, complaint = 1, _traceback(error, machine.line, text, name)
    library = machine.library
    return ExecResult("".join(library.out), "".join((*library.err, complaint)), code)


def _ended(end: Exit) -> tuple[int, str]:
    if end.value is None or isinstance(end.value, int):
        return int(end.value or 0) % 256, ""
    return 1, f"{end.value}\n"


def _traceback(error: Exception, line: int, text: str, name: str) -> str:
    kind = type(error)
    label = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    said = str(error)
    source = ""
    if not name.startswith("<"):
        source = f"    {text.splitlines()[line - 1].strip()}\n"
    return (
        f'Traceback (most recent call last):\n  File "{name}", line {line}, in <module>\n{source}'
        + (f"{label}: {said}" if said else label)
        + "\n"
    )


def _misspelt(error: SyntaxError, name: str) -> str:
    kind = type(error).__name__
    if error.lineno is None or error.text is None:
        return f'  File "{name}"\n{kind}: {error.msg}\n'
    shown = error.text.rstrip("\n")
    stripped = shown.lstrip()
    at = max((error.offset or 1) - 1 - (len(shown) - len(stripped)), 0)
    width = 1
    if error.end_lineno == error.lineno and error.end_offset is not None and error.offset is not None:
        width = max(error.end_offset - error.offset, 1)
    marks = f"    {' ' * at}{'^' * min(width, max(len(stripped) - at, 1))}\n"
    return f'  File "{name}", line {error.lineno}\n    {stripped}\n{marks}{kind}: {error.msg}\n'
