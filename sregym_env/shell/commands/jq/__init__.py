"""``jq`` 1.6."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.commands.arguments import content, reason
from sregym_env.shell.commands.jq.functions import BUILTINS, PATHS, Halt
from sregym_env.shell.commands.jq.machine import Machine
from sregym_env.shell.commands.jq.syntax import JqSyntaxError, parsed
from sregym_env.shell.commands.jq.values import Break, JqError, documents, dump, truthy
from sregym_env.shell.files import readable
from sregym_env.shell.run import Call

_LONG = {
    "compact-output": "c",
    "null-input": "n",
    "exit-status": "e",
    "ascii-output": "a",
    "raw-output": "r",
    "slurp": "s",
    "sort-keys": "S",
    "join-output": "j",
    "raw-input": "R",
    "tab": "T",
    "monochrome-output": "M",
    "color-output": "C",
    "unbuffered": "u",
    "seq": "Q",
    "stream": "?",
    "args": "A",
    "jsonargs": "J",
    "from-file": "f",
    "indent": "i",
    "help": "h",
    "version": "V",
    "arg": "arg",
    "argjson": "argjson",
    "slurpfile": "slurpfile",
    "rawfile": "rawfile",
}
_SHORT = "cneraSsjRMCfhV"
_USAGE = "Use jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://stedolan.github.io/jq\n"


class _Usage(Exception):
    """A command line that jq refuses."""


class _Options:
    """What the command line asks for."""

    def __init__(self) -> None:
        self.flags: set[str] = set()
        self.program: str | None = None
        self.files: list[str] = []
        self.indent = 2
        self.named: dict[str, Any] = {}
        self.positional: list[Any] = []


class Jq:
    """The command."""

    name = "jq"

    def execute(self, args: list[str], ctx: Call) -> ExecResult:
        """Run a filter over JSON texts; 2 for bad usage, 3 for a bad filter, 4 for bad JSON, 5 for a runtime error."""
        try:
            options = _options(args, ctx)
        except _Usage as error:
            return ExecResult("", f"jq: {error}\n{_USAGE}", 2)
        if "V" in options.flags:
            return ExecResult("jq-1.6\n")
        if options.program is None:
            return ExecResult("", "Usage:\tjq [OPTIONS] FILTER [FILES...]\n", 2)
        try:
            ctx.study(options.program)
            node = parsed(options.program)
        except JqSyntaxError as error:
            return _refused(str(error), options.program)
        texts: list[str] = []
        errors: list[str] = []
        for name in options.files or ([] if "n" in options.flags and not ctx.stdin else ["-"]):
            try:
                texts.append(content(ctx, name))
            except OSError as error:
                errors.append(f"jq: error: Could not open {name}: {reason(error)}\n")
        return self._run(options, node, "".join(texts), errors, ctx)

    def _run(self, options: _Options, node: Any, text: str, errors: list[str], ctx: Call) -> ExecResult:
        flags = options.flags
        values, wrong = _inputs(text, flags)
        inputs = iter(values)
        machine = Machine(BUILTINS, PATHS, inputs, ctx.env, ctx.now)
        scope: dict[str, Any] = {f"${name}": value for name, value in options.named.items()}
        scope["$ARGS"] = {"positional": options.positional, "named": options.named}
        out: list[str] = []
        code = 2 if errors else 0
        last: Any = _NOTHING
        printer = _Printer(options)
        where = (
            "<unknown>"
            if "n" in flags
            else f"{options.files[-1] if options.files else '<stdin>'}:{text.count(chr(10))}"
        )
        for value in iter([None]) if "n" in flags else inputs:
            try:
                for result in machine.run(node, value, scope):
                    out.append(printer.text(result))
                    last = result
            except JqError as error:
                errors.append(f"jq: error (at {where}){error.text()}\n")
                code = 5
            except Break:
                errors.append(f"jq: error (at {where}): break\n")
                code = 5
            except (ValueError, OverflowError):  # nan and what is too large, where a whole number is needed
                errors.append(f"jq: error (at {where}): Not a whole number\n")
                code = 5
            except JqSyntaxError as error:
                return _refused(str(error), options.program or "")
            except Halt as halt:
                errors.append(halt.message)
                return ExecResult(readable("".join(out)), "".join(errors), halt.code)
        if wrong and "n" not in flags:
            errors.append(f"{wrong}\n")
            code = 4
        if "e" in flags and code == 0:
            code = 4 if last is _NOTHING else 0 if truthy(last) else 1
        return ExecResult(readable("".join(out)), "".join(errors), code)


_NOTHING = object()


class _Printer:
    """How results are shown."""

    def __init__(self, options: _Options) -> None:
        flags = options.flags
        self._indent = "" if "c" in flags else "\t" if "T" in flags else " " * options.indent
        self._raw = bool(flags & {"r", "j"})
        self._end = "" if "j" in flags else "\n"
        self._sort = "S" in flags
        self._ascii = "a" in flags

    def text(self, value: Any) -> str:
        """One result, with its newline."""
        if self._raw and isinstance(value, str):
            return value + self._end
        return dump(value, self._indent, sort=self._sort, ascii_only=self._ascii) + self._end


def _inputs(text: str, flags: set[str]) -> tuple[list[Any], str]:
    if "R" in flags:
        if "s" in flags:
            return [text], ""
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        return list(lines), ""
    values, wrong = documents(text)
    if "s" in flags:
        return ([] if wrong else [values]), wrong
    return values, wrong


def _refused(message: str, program: str) -> ExecResult:
    hint = " (Unix shell quoting issues?)" if message.startswith("syntax error") else ""
    text = f"jq: error: {message}{hint} at <top-level>, line 1:\n{program}\njq: 1 compile error\n"
    return ExecResult("", text, 3)


def _options(args: list[str], ctx: Call) -> _Options:
    options = _Options()
    rest: Iterator[str] = iter(args)
    positional = ""
    ended = False
    for word in rest:
        if ended or not word.startswith("-") or word == "-":
            if options.program is None:
                options.program = word
            elif positional:
                options.positional.append(_argument(word) if positional == "J" else word)
            else:
                options.files.append(word)
            continue
        if word == "--":
            ended = True
            continue
        letters = (
            [_LONG.get(word[2:])] if word.startswith("--") else [c if c in _SHORT else None for c in word[1:]]
        )
        if None in letters:
            raise _Usage(f"Unknown option: {word}")
        for letter in letters:
            if letter in ("A", "J"):
                positional = letter
            elif letter == "i":
                options.indent = _indentation(next(rest, ""))
            elif letter in ("arg", "argjson", "slurpfile", "rawfile"):
                name, value = next(rest, None), next(rest, None)
                if name is None or value is None:
                    raise _Usage(f"--{letter} takes two parameters (e.g. --{letter} name value)")
                options.named[name] = _named(letter, name, value, ctx)
            elif letter is not None:
                options.flags.add(letter)
    if "f" in options.flags and options.program is not None:
        try:
            options.program = content(ctx, options.program)
        except OSError as error:
            raise _Usage(f"error: Could not open {options.program}: {reason(error)}") from None
    return options


def _indentation(word: str) -> int:
    if not word.isdigit():
        raise _Usage("--indent takes a number")
    if int(word) > 7:
        raise _Usage("Cannot indent more than 7 characters")
    return int(word)


def _argument(text: str) -> Any:
    values, wrong = documents(text)
    if wrong or len(values) != 1:
        raise _Usage("Invalid JSON text passed to --jsonargs")
    return values[0]


def _named(kind: str, name: str, value: str, ctx: Call) -> Any:
    if kind == "arg":
        return value
    if kind == "argjson":
        values, wrong = documents(value)
        if wrong or len(values) != 1:
            raise _Usage("Invalid JSON text passed to --argjson")
        return values[0]
    try:
        text = content(ctx, value)
    except OSError as error:
        raise _Usage(
            f"Bad JSON in --{kind} {name} {value}: Could not open {value}: {reason(error)}"
        ) from None
    if kind == "rawfile":
        return text
    values, wrong = documents(text)
    if wrong:
        raise _Usage(f"Bad JSON in --{kind} {name} {value}: {wrong}")
    return values
