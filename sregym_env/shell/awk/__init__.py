"""``awk``: the whole language, because agents use it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell import crowds, patterns
from sregym_env.shell.awk.counting import totals
from sregym_env.shell.awk.machine import Machine
from sregym_env.shell.awk.syntax import AwkError, Parser, Program, unescape
from sregym_env.shell.awk.values import Input, number
from sregym_env.shell.run import Call

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


class Awk:
    """The command."""

    name = "awk"

    def execute(self, args: list[str], ctx: Call, counting: frozenset[str] = frozenset()) -> ExecResult:
        """Run ``awk [-F fs] [-v name=value] ['program' | -f file] [file ...]``; ``counting``: its totals."""
        try:
            source, variables, operands = _arguments(args, ctx)
            ctx.study(source)
            program = _parsed(source)
        except (AwkError, re.error) as error:
            return ExecResult("", f"awk: cmd. line:1: {error}\n", 1)
        except RecursionError:
            return ExecResult("", "awk: cmd. line:1: program is nested too deeply\n", 2)
        machine = Machine(
            program,
            variables,
            ctx.env,
            lambda path: _read(ctx, path),
            lambda command, stdin: _run(ctx, command, stdin),
            ctx.now,
        )
        machine.globals["ARGC"] = float(len(operands) + 1)
        machine.globals["ARGV"] = {str(i): Input(word) for i, word in enumerate(("awk", *operands))}
        machine.totals = counting
        code = 0
        try:
            machine.execute(_records(machine, operands, ctx))
        except (AwkError, re.error) as error:
            machine.err.append(f"awk: cmd. line:1: {error}\n")
            code = 2
        except RecursionError:
            machine.err.append("awk: cmd. line:1: nested too deeply\n")
            code = 2
        for name in list(machine.files):
            if name.startswith("|"):
                machine.close(name[1:])
            else:
                path = ctx.resolve(name)
                ctx.fs.put_text(path, "".join(machine.files[name]))
        failed = 2 if any(line.startswith("awk: cannot open") for line in machine.err) else 0
        out = "".join(machine.out)
        if machine.printed:
            out = crowds.made([*machine.printed, (machine.times, out)])
        return ExecResult(out, "".join(machine.err), machine.exit_code or code or failed)

    def counted(self, args: list[str], ctx: Call) -> ExecResult | None:
        """Run it on an input in parts, taking each for as many as it stands for; None for programs that would do with the second
        of some equal records other than with the first."""
        try:
            source, _, operands = _arguments(args, ctx)
            found = totals(_parsed(source))
        except (AwkError, OSError, RecursionError, re.error):
            return self.execute(args, replace(ctx, stdin=""))
        if found is None or any(word != "-" for word in operands):
            return None
        return self.execute(args, ctx, found)


@lru_cache(maxsize=256)
def _parsed(source: str) -> Program:
    return Parser(source).program()


def _arguments(args: list[str], ctx: Call) -> tuple[str, dict[str, Any], list[str]]:
    variables: dict[str, Any] = {}
    sources: list[str] = []
    rest = list(args)
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        word = rest.pop(0)
        if word == "--":
            break
        letter = word[1]
        if letter not in "Fvf" or word.startswith("--"):
            raise AwkError(f"unknown option '{word}'")
        value = word[2:]
        if not value:
            if not rest:
                raise AwkError(f"option requires an argument -- {letter}")
            value = rest.pop(0)
        if letter == "F":
            variables["FS"] = "\t" if value == "t" else unescape(value)
        elif letter == "v":
            name, equals, given = value.partition("=")
            if not equals:
                raise AwkError(f"`{value}' argument to `-v' should be in `var=value' form")
            variables[name] = Input(unescape(given))
        else:
            try:
                sources.append(_read(ctx, value))
            except OSError as error:
                raise AwkError(f"cannot open source file `{value}'") from error
    if not sources:
        if not rest:
            raise AwkError("usage: awk [-F fs][-v var=value][prog | -f progfile][file ...]")
        sources.append(rest.pop(0))
    return "\n".join(sources), variables, rest


def _read(ctx: Call, path: str) -> str:
    if path in ("-", "/dev/stdin"):
        return ctx.stdin
    text = ctx.fs.read_text(ctx.resolve(path))
    ctx.charge(len(text))
    return text


def _run(ctx: Call, command: str, stdin: str) -> tuple[str, int]:
    """Run a command of the shell, as ``system`` and pipes do."""
    result = ctx.script(command, stdin)
    ctx.run.err(result.stderr)
    return result.stdout, result.exit_code


def _records(machine: Machine, operands: list[str], ctx: Call) -> Iterator[str]:
    """The records of all input files in turn."""
    files = 0
    for operand in [*operands, ""]:
        if operand and _ASSIGNMENT.match(operand):
            name, _, value = operand.partition("=")
            machine.globals[name] = Input(unescape(value))
            continue
        if not operand and files:
            return
        files += 1
        try:
            content = _read(ctx, operand or "-")
        except OSError:
            machine.err.append(f'awk: cannot open "{operand}" (No such file or directory)\n')
            continue
        machine.globals["FILENAME"] = Input("" if operand in ("", "-") else operand)
        machine.globals["FNR"] = 0.0
        for times, part in crowds.parts(content):
            machine.turn(times)
            for record in _split(part, str(machine.globals["RS"])):
                machine.globals["NR"] = number(machine.globals["NR"]) + times
                machine.globals["FNR"] = number(machine.globals["FNR"]) + times
                yield record
        machine.turn(1)


def _split(content: str, separator: str) -> list[str]:
    if separator == "":
        return [part.strip("\n") for part in re.split(r"\n{2,}", content.strip("\n")) if part]
    if len(separator) > 1:
        parts: list[str] = patterns.compiled(separator).split(content)
    else:
        parts = content.split(separator)
    if parts and parts[-1] in ("", "\n"):
        parts.pop()
    return parts
