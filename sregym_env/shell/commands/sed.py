"""``sed``: the stream editor."""

from __future__ import annotations

import re
from typing import Any

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime import effort
from sregym_env.shell.commands.arguments import UsageError, content, options, reason
from sregym_env.shell.commands.sed_syntax import Address, Command, SedError, parsed
from sregym_env.shell.limits import MemoryExceeded, TimeExceeded
from sregym_env.shell.run import Call

STEPS = 1_000_000
"""Commands that one run may execute."""
STEP_EFFORT = 0.6
"""What each of them costs (units of ``runtime/effort.py``)."""
SEARCH_EFFORT = 0.03
"""What it costs a command to look at a character of the line."""
MATCH_STEPS = 8
"""Commands that one substitution counts for."""
LONGEST = 8 * 1024 * 1024
"""Characters that one run may print or hold."""

_LONG = {
    "quiet": "n",
    "silent": "n",
    "expression": "e:",
    "file": "f:",
    "regexp-extended": "E",
    "in-place": "i::",
    "separate": "s",
    "null-data": "z",
    "unbuffered": "u",
    "line-length": "l:",
    "posix": "p",
    "debug": "d",
    "sandbox": "S",
}


class Sed:
    """The command."""

    name = "sed"

    def execute(self, args: list[str], ctx: Call) -> ExecResult:
        """Run ``sed [-nErsz] [-i[SUFFIX]] [-e script] [-f file] [script] [file ...]``."""
        try:
            given, operands = options(args, "ne:f:Eri::szul:", _LONG)
            scripts: list[str] = []
            for letter, value in given:
                if letter == "e":
                    scripts.append(value)
                elif letter == "f":
                    scripts.append((content(ctx, value)).removesuffix("\n"))
            if not scripts:
                if not operands:
                    return ExecResult(
                        "", "Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...\n", 1
                    )
                scripts.append(operands.pop(0))
            letters = {letter for letter, _ in given}
            script = "\n".join(scripts)
            quiet = "n" in letters or script.startswith("#n\n")
            ctx.study(script)
            program = parsed(script, bool(letters & {"E", "r"}))
        except UsageError as error:
            return ExecResult("", f"sed: {error}\n", 1)
        except OSError as error:
            return ExecResult("", f"sed: couldn't open file: {reason(error)}\n", 1)
        except (SedError, re.error) as error:
            return ExecResult("", f"sed: {error}\n", 1)
        suffix = next((value for letter, value in given if letter == "i"), None)
        end = "\0" if "z" in letters else "\n"
        if suffix is not None:
            return _in_place(program, quiet, end, suffix, operands, ctx)
        errors: list[str] = []
        texts: list[tuple[str, str]] = []
        for operand in operands or ["-"]:
            try:
                texts.append((operand, content(ctx, operand)))
            except OSError as error:
                errors.append(_unread(operand, error))
        code = 2 if errors else 0
        groups = [[text] for text in texts] if "s" in letters else [texts]
        out: list[str] = []
        try:
            for group in groups:
                run = Run(program, quiet, end, group, ctx)
                run.execute()
                out.append(run.output())
                if run.exit_code is not None:
                    code = run.exit_code
                    break
        except SedError as error:
            return ExecResult("".join(out), f"sed: {error}\n", 1)
        return ExecResult("".join(out), "".join(errors), code)


def _unread(operand: str, error: OSError) -> str:
    why = reason(error)
    if why == "Is a directory":
        return f"sed: couldn't edit {operand}: not a regular file\n"
    return f"sed: can't read {operand}: {why}\n"


def _in_place(
    program: tuple[Command, ...], quiet: bool, end: str, suffix: str, operands: list[str], ctx: Call
) -> ExecResult:
    if not operands:
        return ExecResult("", "sed: no input files\n", 1)
    errors: list[str] = []
    code = 0
    for operand in operands:
        path = ctx.resolve(operand)
        try:
            text = content(ctx, operand)
            run = Run(program, quiet, end, [(operand, text)], ctx)
            run.execute()
        except OSError as error:
            errors.append(_unread(operand, error))
            code = 4 if reason(error) == "Is a directory" else 2
            continue
        except SedError as error:
            return ExecResult("", f"sed: {error}\n", 1)
        if suffix:
            backup = suffix.replace("*", operand.rpartition("/")[2]) if "*" in suffix else operand + suffix
            ctx.fs.put_text(ctx.resolve(backup), text)
        ctx.fs.put_text(path, run.output())
        code = run.exit_code or code
    return ExecResult("", "".join(errors), code)


class Run:
    """One run of a script over some files."""

    def __init__(
        self,
        program: tuple[Command, ...],
        quiet: bool,
        end: str,
        texts: list[tuple[str, str]],
        ctx: Call,
    ) -> None:
        self._program = program
        self._quiet = quiet
        self._end = end
        self._ctx = ctx
        self._lines: list[str] = []
        self._complete = True
        for _, text in texts:
            parts = text.split(end)
            self._complete = parts[-1] == ""
            if self._complete:
                parts.pop()
            self._lines += parts
        self._name = texts[0][0] if texts else "-"
        self._number = 0
        self._space = ""
        self._hold = ""
        self._out: list[str] = []
        self._after: list[tuple[str, str]] = []
        self._ranges: dict[int, int] = {}
        """Ranges that are open, by command, and the line they end at (0: by its pattern)."""
        self._files: dict[str, list[str]] = {}
        self._last_pattern: Any = None
        self._swapped = False
        self._steps = STEPS
        self._size = 0
        self.exit_code: int | None = None

    def output(self) -> str:
        """What was printed."""
        return "".join(self._out)

    def execute(self) -> None:
        """Run the script. Raises SedError or LimitExceeded."""
        restart = False
        while restart or self._number < len(self._lines):
            if not restart:
                self._read()
            verdict = self._cycle()
            restart = verdict == "restart"
            if not self._quiet and verdict in ("end", "quit"):
                self._print(self._space, self._is_last())
            if not restart or self._after:
                self._flush()
            if self.exit_code is not None:
                break
        for name, lines in self._files.items():
            if name in ("/dev/stdout", "/dev/stderr"):
                continue
            self._ctx.fs.put_text(self._ctx.resolve(name), "".join(lines))

    def _use(self, steps: int) -> None:
        self._steps -= steps
        effort.spend(STEP_EFFORT * steps)
        if self._steps < 0:
            raise TimeExceeded("sed: too many steps")

    def _read(self) -> None:
        self._space = self._lines[self._number]
        self._number += 1
        self._swapped = False

    def _is_last(self) -> bool:
        return self._number >= len(self._lines)

    def _print(self, text: str, final: bool = False) -> None:
        self._size += len(text)
        if self._size > LONGEST:
            raise TimeExceeded("sed: output too long")
        # The last line keeps its missing newline.
        self._out.append(text if final and not self._complete else text + self._end)

    def _flush(self) -> None:
        for kind, text in self._after:
            if kind == "text":
                self._out.append(text)
                continue
            try:
                self._out.append(content(self._ctx, text))
            except OSError:
                continue
        self._after.clear()

    # --- addresses ---

    def _matches(self, pattern: Any) -> bool:
        if pattern is None:
            pattern = self._last_pattern
            if pattern is None:
                raise SedError("no previous regular expression")
        self._last_pattern = pattern
        return pattern.search(self._space) is not None

    def _at(self, address: Address) -> bool:
        kind = address[0]
        if kind == "line":
            return bool(self._number == address[1])
        if kind == "last":
            return self._is_last()
        if kind == "regex":
            return self._matches(address[1])
        _, first, step = address
        if step <= 0:
            return bool(self._number == first)
        return bool(self._number >= first and (self._number - first) % step == 0)

    def _selected(self, index: int, command: Command) -> bool:
        if command.first is None:
            return True
        if command.second is None:
            return self._at(command.first)
        ranges = self._ranges
        kind, *values = command.second
        if index in ranges:
            end = ranges[index]
            if kind == "regex":
                if self._matches(values[0]):
                    del ranges[index]
                return True
            if kind == "last":
                if self._is_last():
                    del ranges[index]
                return True
            if self._number >= end:
                del ranges[index]
                # A line that was passed over ends the range before this one.
                return self._number == end or self._at(command.first)
            return True
        zero = command.first == ("line", 0)
        if zero and self._number == 1 and kind == "regex":
            if not self._matches(values[0]):
                ranges[index] = 0
            return True
        if zero or not self._at(command.first):
            return False
        if kind == "regex":
            ranges[index] = 0
        elif kind == "last":
            if not self._is_last():
                ranges[index] = 0
        else:
            end = values[0]
            if kind == "plus":
                end += self._number
            elif kind == "multiple":
                end = -(-self._number // end) * end if end else 0
            if end > self._number:
                ranges[index] = end
        return True

    # --- commands ---

    def _cycle(self) -> str:
        """Run the commands once: ``end``, ``delete``, ``restart`` or ``quit``."""
        program = self._program
        at = 0
        while at < len(program):
            # Every command may read all of the line, so long lines cost more.
            self._use(1 + len(self._space) // 1024)
            effort.spend(SEARCH_EFFORT * len(self._space))
            command = program[at]
            at += 1
            if self._selected(at, command) == command.negated:
                if command.name == "{":
                    at = command.target
                continue
            match command.name:
                case "{":
                    pass
                case "s":
                    self._substitute(command)
                case "p":
                    self._print(self._space, False)
                case "d":
                    return "delete"
                case "b":
                    at = command.target
                case "t":
                    if self._swapped:
                        self._swapped = False
                        at = command.target
                case "T":
                    if not self._swapped:
                        at = command.target
                    self._swapped = False
                case "n":
                    if self._is_last():
                        return "quit" if not self._quiet else self._quit()
                    if not self._quiet:
                        self._print(self._space)
                    self._advance()
                case "N":
                    if self._is_last():
                        return "end"
                    held, swapped = self._space, self._swapped
                    self._advance()
                    self._space = f"{held}{self._end}{self._space}"
                    self._swapped = swapped
                    self._bounded(self._space)
                case "D":
                    _, newline, rest = self._space.partition("\n")
                    if not newline:
                        return "delete"
                    self._space = rest
                    return "restart"
                case "P":
                    self._print(self._space.partition("\n")[0])
                case "h":
                    self._hold = self._space
                case "H":
                    self._hold = self._bounded(f"{self._hold}\n{self._space}")
                case "g":
                    self._space = self._hold
                case "G":
                    self._space = self._bounded(f"{self._space}\n{self._hold}")
                case "x":
                    self._space, self._hold = self._hold, self._space
                case "a":
                    self._after.append(("text", command.text))
                case "i":
                    self._out.append(command.text)
                case "c":
                    if command.negated or command.second is None or at not in self._ranges:
                        self._out.append(command.text)
                    return "delete"
                case "r":
                    self._after.append(("file", command.text))
                case "w":
                    self._keep(command.text)
                case "y":
                    self._space = self._space.translate(command.table)
                case "=":
                    self._print(str(self._number))
                case "l":
                    self._print(_visible(self._space))
                case "z":
                    self._space = ""
                case "F":
                    self._print(self._name)
                case "q":
                    self.exit_code = command.target
                    return "quit"
                case "Q":
                    self.exit_code = command.target
                    return "delete"
        return "end"

    def _quit(self) -> str:
        self._number = len(self._lines)
        return "delete"

    def _advance(self) -> None:
        swapped = self._swapped
        for kind, text in self._after:
            if kind == "text":
                self._out.append(text)
        self._after = [item for item in self._after if item[0] != "text"]
        self._read()
        self._swapped = swapped

    def _bounded(self, text: str) -> str:
        if len(text) > LONGEST:
            raise MemoryExceeded("sed: couldn't re-allocate memory")
        return text

    def _keep(self, name: str) -> None:
        if name == "/dev/stdout":
            self._print(self._space)
        else:
            self._files.setdefault(name, []).append(self._space + self._end)

    def _substitute(self, command: Command) -> None:
        pattern = command.pattern
        if pattern is None:
            pattern = self._last_pattern
            if pattern is None:
                raise SedError("no previous regular expression")
        self._last_pattern = pattern
        text = self._space
        out: list[str] = []
        position = seen = 0
        replaced = False
        previous_end = -1
        for found in pattern.finditer(text):
            if found.start() == found.end() == previous_end:
                # An empty match right after a match is not a match.
                continue
            previous_end = found.end()
            seen += 1
            self._use(MATCH_STEPS)
            if seen < command.count:
                continue
            out.append(text[position : found.start()])
            out.append(_expanded(command.replacement, found))
            position = found.end()
            replaced = True
            if not command.everywhere:
                break
        if not replaced:
            return
        out.append(text[position:])
        self._space = self._bounded("".join(out))
        self._swapped = True
        if command.prints:
            self._print(self._space)
        if command.file:
            self._keep(command.file)


def _expanded(parts: tuple[tuple[str, Any], ...], found: Any) -> str:
    """A replacement with its groups and its changes of case."""
    out: list[str] = []
    mode = once = ""
    for kind, value in parts:
        if kind == "case":
            if value in "ul":
                once = value
            else:
                mode = "" if value == "E" else value
                once = ""
            continue
        text: str = value if kind == "text" else found[value] or ""
        if mode:
            text = text.upper() if mode == "U" else text.lower()
        if once and text:
            text = (text[0].upper() if once == "u" else text[0].lower()) + text[1:]
            once = ""
        out.append(text)
    return "".join(out)


def _visible(text: str) -> str:
    """The unambiguous form that ``l`` prints, folded at 70 columns."""
    spelled = {
        "\\": "\\\\",
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
    }
    units: list[str] = []
    for char in text:
        if char in spelled:
            units.append(spelled[char])
        elif char.isascii() and char.isprintable():
            units.append(char)
        else:
            units += [f"\\{byte:03o}" for byte in char.encode()]
    lines, line = [], ""
    for unit in [*units, "$"]:
        if len(line) + len(unit) > 69 and unit != "$":
            lines.append(line + "\\")
            line = ""
        line += unit
    return "\n".join([*lines, line])
