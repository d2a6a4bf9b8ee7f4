"""``xargs``: command lines built from standard input."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.numbers import whole
from sregym_env.shell.run import Call

_LARGEST = 5000
"""Words in one command line."""

_VALUED = "IiLlndPsaE"
_LONG = {
    "--max-args": "n",
    "--max-lines": "L",
    "--max-procs": "P",
    "--replace": "I",
    "--delimiter": "d",
    "--null": "0",
    "--no-run-if-empty": "r",
    "--verbose": "t",
    "--arg-file": "a",
    "--max-chars": "s",
}


@dataclass(slots=True)
class _Options:
    command: list[str] = field(default_factory=list)
    per_call: int = 0
    by_line: int = 0
    replace: str = ""
    delimiter: str = ""
    skip_empty: bool = False
    verbose: bool = False


class Xargs:
    """Builds command lines from standard input and runs them one after the other."""

    name = "xargs"

    def execute(self, args: list[str], ctx: Call) -> ExecResult:
        """Run the command for each group of words; 123 when one of them failed, as GNU's does."""
        try:
            options = _parse(args)
            lines = [
                _line(options, group)
                for group in _groups(options, ctx.stdin)
                if group or not options.skip_empty
            ]
        except ValueError as error:
            return ExecResult("", f"xargs: {error}\n", 1)
        code = 0
        for line in lines:
            if options.verbose:
                ctx.run.err(f"{shlex.join(line)}\n")
            if not ctx.run.has_program(line[0]):
                return ExecResult("", f"xargs: {line[0]}: No such file or directory\n", 127)
            found = ctx.execute(line)
            if found in (126, 127):
                return ExecResult(exit_code=found)
            # By this code a command ends xargs at once.
            if found == 255:
                return ExecResult(exit_code=124)
            code = 123 if found else code
        return ExecResult(exit_code=code)


def _parse(args: list[str]) -> _Options:
    options = _Options()
    rest = list(args)
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        word = rest.pop(0)
        if word == "--":
            break
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            letter = _LONG.get(name)
            if letter is None:
                raise ValueError(f"unrecognized option '{word}'")
            if letter in _VALUED and not equals:
                value = "{}" if letter == "I" else _next(rest, letter)
            _store(options, letter, value)
            continue
        body = word[1:]
        while body:
            letter, body = body[0], body[1:]
            if letter in _VALUED:
                # -i and -l take their value attached or not at all.
                value = body or ("{}" if letter == "i" else "1" if letter == "l" else _next(rest, letter))
                _store(options, letter.upper() if letter in "il" else letter, value)
                break
            _store(options, letter, "")
    options.command = rest or ["echo"]
    return options


def _next(rest: list[str], letter: str) -> str:
    if not rest:
        raise ValueError(f"option requires an argument -- '{letter}'")
    return rest.pop(0)


def _store(options: _Options, letter: str, value: str) -> None:
    if letter in "nL":
        number = whole(value, 0)
        if number < 1:
            raise ValueError(f"value {value} for -{letter} option should be >= 1")
        options.per_call, options.by_line = (number, 0) if letter == "n" else (0, number)
    elif letter == "I":
        options.replace = value
    elif letter == "d":
        options.delimiter = value.encode().decode("unicode_escape")
    elif letter == "0":
        options.delimiter = "\0"
    elif letter == "r":
        options.skip_empty = True
    elif letter == "t":
        options.verbose = True
    elif letter not in "PsaExpo":
        raise ValueError(f"invalid option -- '{letter}'")


def _groups(options: _Options, text: str) -> list[list[str]]:
    if options.delimiter:
        words = text.removesuffix("\n").removesuffix(options.delimiter).split(options.delimiter)
        items = [word for word in words if word]
    elif options.replace or options.by_line:
        items = [line.strip() for line in text.splitlines() if line.strip()]
    else:
        items = shlex.split(text, comments=False)
    if options.replace:
        return [[item] for item in items]
    if options.by_line and not options.delimiter:
        grouped = [items[i : i + options.by_line] for i in range(0, len(items), options.by_line)]
        return [[word for line in lines for word in shlex.split(line)] for lines in grouped]
    size = options.per_call or _LARGEST
    return [items[i : i + size] for i in range(0, len(items), size)] or [[]]


def _line(options: _Options, group: list[str]) -> list[str]:
    if options.replace:
        return [word.replace(options.replace, group[0]) for word in options.command]
    return [*options.command, *group]
