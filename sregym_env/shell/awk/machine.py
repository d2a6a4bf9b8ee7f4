"""Runs a program over its input."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from sregym_env.runtime import effort
from sregym_env.shell import patterns
from sregym_env.shell.awk.counting import first_of
from sregym_env.shell.awk.syntax import AwkError, Function, Node, Program
from sregym_env.shell.awk.values import (
    LONGEST,
    UNSET,
    Input,
    compared,
    expression,
    formatted,
    number,
    text,
    true,
)
from sregym_env.shell.commands.posix import Expression
from sregym_env.shell.crowds import Part
from sregym_env.shell.limits import MemoryExceeded, TimeExceeded

STEPS = 250_000
"""Statements and calls that one program may execute."""
CHARACTER_EFFORT = 0.001
PIECE_EFFORT = 0.4
SHORT = 200
"""What a character of a text longer than ``SHORT`` costs that something is done with, and a piece that one is divided
into (units of ``runtime/effort.py``)."""
MATCH_EFFORT = 2.5
"""What it costs to replace a match (units of ``runtime/effort.py``)."""
STEP_EFFORT = 2.5
"""What each of them costs (units of ``runtime/effort.py``)."""


class _Jump(Exception):
    """Control leaves the present statement."""


class _Break(_Jump):
    pass


class _Continue(_Jump):
    pass


class _Next(_Jump):
    pass


class _NextFile(_Jump):
    pass


class _Exit(_Jump):
    pass


class _Return(_Jump):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Machine:
    """One run of a program: its variables, the present record, and what it printed."""

    def __init__(
        self,
        program: Program,
        variables: dict[str, Any],
        environment: dict[str, str],
        read: Callable[[str], str],
        run: Callable[[str, str], tuple[str, int]],
        now: float,
    ) -> None:
        self.program = program
        self.read_file = read
        self.run_command = run
        self.now = now
        self.globals: dict[str, Any] = {
            "FS": " ", "OFS": " ", "ORS": "\n", "RS": "\n", "SUBSEP": "\x1c", "CONVFMT": "%.6g", "OFMT": "%.6g",
            "NR": 0.0, "FNR": 0.0, "FILENAME": UNSET, "RSTART": 0.0, "RLENGTH": -1.0,
            "ENVIRON": {name: Input(value) for name, value in environment.items()},
            **variables,
        }  # fmt: skip
        self.frames: list[dict[str, Any]] = [{}]
        self.record = ""
        self.fields: list[Any] | None = []
        self.out: list[str] = []
        self.err: list[str] = []
        self.files: dict[str, list[str]] = {}
        """What was written to files and to commands (``|command``), by name."""
        self.closed: set[str] = set()
        """Files that were closed: the next ``>`` begins them anew."""
        self.readers: dict[str, Iterator[str]] = {}
        self.inside: set[int] = set()
        self.exit_code = 0
        self.steps = STEPS
        self.size = 0
        # As in gawk, `rand()` gives the same numbers in every run that does not call `srand()`.
        self.chance = random.Random(0)
        self.input: Iterator[str] = iter(())
        self.times = 1
        """For how many records each of those stands that are read now (:mod:`sregym_env.shell.crowds`)."""
        self.totals: frozenset[str] = frozenset()
        """Variables in which a program counts, and nothing else."""
        self.printed: list[Part] = []
        """What it has printed of records that stood for as many others."""

    # --- the run ---

    def execute(self, records: Iterator[str]) -> None:
        """Run the whole program. Raises AwkError or LimitExceeded."""
        self.input = records
        try:
            for body in self.program.begin:
                self.statement(body)
            if self.program.rules or self.program.end:
                for line in self.input:
                    self._set_record(line)
                    self._record_rules()
        except _Exit:
            pass
        except _Next:
            raise AwkError("next used in BEGIN or END") from None
        try:
            for body in self.program.end:
                self.statement(body)
        except _Exit:
            pass

    def turn(self, times: int) -> None:
        """The records that come now stand for so many each."""
        if times != self.times:
            self.printed.append((self.times, "".join(self.out)))
            self.out = []
            self.times = times

    def _record_rules(self) -> None:
        try:
            for index, (start, until, body) in enumerate(self.program.rules):
                if self._selected(index, start, until):
                    if self.times > 1 and first_of(start):
                        self._once(body)
                    elif body is None:
                        self._write("", None, self.record + text(self.globals["ORS"]))
                    else:
                        self.statement(body)
        except _Next:
            pass

    def _once(self, body: Node | None) -> None:
        """Do with one record alone what is done with the first of those for which it stands."""
        times = self.times
        self.turn(1)
        try:
            if body is None:
                self._write("", None, self.record + text(self.globals["ORS"]))
            else:
                self.statement(body)
        finally:
            self.turn(times)

    def _selected(self, index: int, start: Node | None, until: Node | None) -> bool:
        if start is None:
            return True
        if until is None:
            return true(self.value(start))
        if index not in self.inside:
            if not true(self.value(start)):
                return False
            self.inside.add(index)
        if true(self.value(until)):
            self.inside.discard(index)
        return True

    def _tick(self) -> None:
        self.steps -= 1
        if not self.steps & 15:
            effort.spend(16 * STEP_EFFORT)
        if self.steps < 0:
            raise TimeExceeded("awk: too many steps")

    # --- the record ---

    def _set_record(self, line: str) -> None:
        self.record = line
        self.fields = None

    def split(self, line: str, separator: str) -> list[Any]:
        """The fields of a text."""
        found = self._split(line, separator)
        effort.spend(PIECE_EFFORT * len(found))
        return found

    def _split(self, line: str, separator: str) -> list[Any]:
        if separator == " ":
            return [Input(part) for part in line.split()]
        if not line:
            return []
        if separator == "":
            return [Input(char) for char in line]
        if len(separator) == 1 and separator != "\\":
            return [Input(part) for part in line.split(separator)]
        parts, position = [], 0
        for found in self.expression(separator).finditer(line):
            if found.end() > found.start():
                parts.append(Input(line[position : found.start()]))
                position = found.end()
        parts.append(Input(line[position:]))
        return parts

    def expression(self, source: str) -> Expression:
        """A compiled regular expression; ``IGNORECASE`` applies."""
        fold = self.globals.get("IGNORECASE", 0.0)
        patterns.count(source)
        return expression(source, fold != 0.0 and true(fold))

    def _columns(self) -> list[Any]:
        if self.fields is None:
            self.fields = self.split(self.record, text(self.globals["FS"]))
        return self.fields

    def _field(self, index: int) -> Any:
        if index == 0:
            return Input(self.record)
        if index < 0:
            raise AwkError(f"attempt to access field {index}")
        columns = self._columns()
        return columns[index - 1] if index <= len(columns) else UNSET

    def _set_field(self, index: int, value: Any) -> None:
        if index == 0:
            self._set_record(text(value))
            return
        if not 0 < index < 100_000:
            raise AwkError(f"attempt to access field {index}")
        columns = self._columns()
        columns.extend([UNSET] * (index - len(columns)))
        columns[index - 1] = value
        self._join()

    def _join(self) -> None:
        columns = self._columns()
        effort.spend(PIECE_EFFORT * len(columns) + CHARACTER_EFFORT * len(self.record))
        self.record = text(self.globals["OFS"]).join(map(text, columns))
        if len(self.record) > LONGEST:
            raise MemoryExceeded("awk: fatal: more_blocks: cannot allocate memory: Cannot allocate memory")

    # --- variables ---

    def get(self, name: str) -> Any:
        """The value of a variable."""
        if name == "NF":
            return float(len(self._columns()))
        frame = self.frames[-1]
        if name in frame:
            return frame[name]
        return self.globals.get(name, UNSET)

    def put(self, name: str, value: Any) -> None:
        """Assign to a variable."""
        if name == "NF":
            columns = self._columns()
            count = max(0, min(int(number(value)), 100_000))
            self.fields = (columns + [UNSET] * count)[:count]
            self._join()
            return
        frame = self.frames[-1]
        (frame if name in frame else self.globals)[name] = value

    def array(self, name: str) -> dict[str, Any]:
        """The array of that name, made where there is none. Raises AwkError for a scalar."""
        frame = self.frames[-1]
        scope = frame if name in frame else self.globals
        found = scope.get(name, UNSET)
        if found is UNSET:
            found = scope[name] = {}
        if not isinstance(found, dict):
            raise AwkError(f"attempt to use scalar `{name}' as an array")
        return found

    def _scalar(self, value: Any) -> Any:
        if isinstance(value, dict):
            raise AwkError("attempt to use an array in a scalar context")
        return value

    def _text(self, node: Node) -> str:
        found = text(self._scalar(self.value(node)), text(self.globals["CONVFMT"]))
        if len(found) > SHORT:
            effort.spend(CHARACTER_EFFORT * len(found))
        return found

    def _number(self, node: Node) -> float:
        given = self._scalar(self.value(node))
        if isinstance(given, str) and len(given) > SHORT:
            effort.spend(PIECE_EFFORT * len(given))
        return number(given)

    def _key(self, keys: tuple[Node, ...]) -> str:
        return text(self.globals["SUBSEP"]).join(map(self._text, keys))

    def _store(self, place: Node, value: Any) -> None:
        match place:
            case ("name", name):
                self.put(name, value)
            case ("item", name, keys):
                self.array(name)[self._key(keys)] = value
            case ("field", index):
                self._set_field(int(self._number(index)), value)

    # --- statements ---

    def statement(self, node: Node) -> None:
        """Run one statement."""
        self._tick()
        match node:
            case ("block", body):
                for each in body:
                    self.statement(each)
            case ("expression", value):
                self.value(value)
            case ("print" | "printf", values, mode, target):
                self._print(node[0], values, mode, target)
            case ("if", condition, then, other):
                self.statement(then if true(self.value(condition)) else other)
            case ("while", condition, body):
                while true(self.value(condition)) and self._repeat(body):
                    pass
            case ("do", body, condition):
                while self._repeat(body) and true(self.value(condition)):
                    pass
            case ("for", first, condition, step, body):
                if first is not None:
                    self.statement(first)
                while (condition is None or true(self.value(condition))) and self._repeat(body):
                    if step is not None:
                        self.statement(step)
            case ("each", name, array, body):
                effort.spend(0.1 * PIECE_EFFORT * len(self.array(array)))
                for key in list(self.array(array)):
                    self.put(name, Input(key))
                    if not self._repeat(body):
                        break
            case ("delete", name, None):
                self.array(name).clear()
            case ("delete", name, keys):
                self.array(name).pop(self._key(keys), None)
            case ("exit", code):
                self.exit_code = self.exit_code if code is None else int(self._number(code)) & 255
                raise _Exit
            case ("return", value):
                raise _Return(UNSET if value is None else self.value(value))
            case ("next",):
                raise _Next
            case ("nextfile",):
                raise _NextFile
            case ("break",):
                raise _Break
            case ("continue",):
                raise _Continue

    def _repeat(self, body: Node) -> bool:
        """Run a loop's body once; False when it broke out."""
        try:
            self.statement(body)
        except _Break:
            return False
        except _Continue:
            pass
        return True

    def _print(self, kind: str, values: tuple[Node, ...], mode: str, target: Node | None) -> None:
        given = [self._scalar(self.value(value)) for value in values]
        if kind == "printf":
            if not given:
                raise AwkError("printf: no format")
            line = _formatted(text(given[0]), given[1:])
        else:
            form = text(self.globals["OFMT"])
            shown = [text(value, form) for value in given] if values else [self.record]
            line = text(self.globals["OFS"]).join(shown) + text(self.globals["ORS"])
        self._write(mode, None if target is None else self._text(target), line)

    def _write(self, mode: str, target: str | None, line: str) -> None:
        self.size += len(line)
        if self.size > LONGEST:
            raise TimeExceeded("awk: output too long")
        if target is None or target in ("/dev/stdout", "-"):
            self.out.append(line)
        elif target == "/dev/stderr":
            self.err.append(line)
        else:
            name = f"|{target}" if mode == "|" else target
            if name not in self.files or (name in self.closed and mode == ">"):
                self.closed.discard(name)
                self.files[name] = []
                if mode == ">>":
                    with suppress(OSError):
                        self.files[name].append(self.read_file(target))
            self.files[name].append(line)

    def close(self, name: str) -> float:
        """Run a command that was printed to, or forget a reader."""
        self.readers.pop(name, None)
        if name in self.files:
            self.closed.add(name)
        lines = self.files.pop(f"|{name}", None)
        if lines is None:
            return 0.0
        out, code = self.run_command(name, "".join(lines))
        self.out.append(out)
        return float(code)

    # --- expressions ---

    def value(self, node: Node) -> Any:
        """The value of an expression."""
        match node:
            case ("number" | "string", constant):
                return constant
            case ("name", name):
                return self.get(name)
            case ("field", index):
                return self._field(int(self._number(index)))
            case ("item", name, keys):
                array = self.array(name)
                return array.setdefault(self._key(keys), UNSET)
            case ("parenthesis", inner):
                return self.value(inner)
            case ("compare", operator, left, right):
                return self._compare(operator, self.value(left), self.value(right))
            case ("match", negated, left, right):
                found = self._regex(right).search(self._text(left)) is not None
                return float(found != negated)
            case ("regex", source):
                return float(self.expression(source).search(self.record) is not None)
            case ("and", left, right):
                return float(true(self.value(left)) and true(self.value(right)))
            case ("or", left, right):
                return float(true(self.value(left)) or true(self.value(right)))
            case ("not", inner):
                return float(not true(self.value(inner)))
            case ("join", left, right):
                first = self._text(left)
                joined = first + self._text(right)
                if len(joined) > LONGEST:
                    raise MemoryExceeded(
                        "awk: fatal: more_blocks: cannot allocate memory: Cannot allocate memory"
                    )
                return joined
            case ("arithmetic", operator, left, right):
                return self._arithmetic(operator, self._number(left), self._number(right))
            case ("assign", operator, place, value):
                result = self._scalar(self.value(value))
                if operator:
                    if self.times > 1 and place[1] in self.totals:
                        result = number(result) * self.times
                    result = self._arithmetic(operator, self._number(place), number(result))
                self._store(place, result)
                return result
            case ("step", operator, place, after):
                old = self._number(place)
                by = float(self.times) if self.times > 1 and place[1] in self.totals else 1.0
                new = old + by if operator == "+" else old - by
                self._store(place, new)
                return old if after else new
            case ("sign", operator, inner):
                signed = self._number(inner)
                return -signed if operator == "-" else signed
            case ("ternary", condition, then, other):
                return self.value(then if true(self.value(condition)) else other)
            case ("in", keys, name):
                return float(self._key(keys) in self.array(name))
            case ("group", values):
                return self._key(values)
            case ("getline", place, mode, source):
                return self._getline(place, mode, source)
            case ("call", name, arguments):
                return self._call(name, arguments)
            case ("builtin", name, arguments):
                return getattr(self, f"_do_{name}")(arguments)
        raise AwkError("syntax error")

    def _compare(self, operator: str, left: Any, right: Any) -> float:
        order = compared(self._scalar(left), self._scalar(right))
        return float(
            {
                "<": order < 0,
                "<=": order <= 0,
                "==": order == 0,
                "!=": order != 0,
                ">": order > 0,
                ">=": order >= 0,
            }[operator]
        )

    def _arithmetic(self, operator: str, left: float, right: float) -> float:
        if operator in "/%" and right == 0.0:
            raise AwkError("division by zero" if operator == "/" else "division by zero in %")
        try:
            match operator:
                case "+":
                    return left + right
                case "-":
                    return left - right
                case "*":
                    return left * right
                case "/":
                    return left / right
                case "%":
                    return math.fmod(left, right)
                case _:
                    return float(left**right)
        except (OverflowError, TypeError, ValueError, ZeroDivisionError):
            return math.inf

    def _regex(self, node: Node) -> Expression:
        return self.expression(node[1] if node[0] == "regex" else self._text(node))

    def _getline(self, place: Node | None, mode: str, source: Node | None) -> float:
        if source is None:
            line = next(self.input, None)
        else:
            name = self._text(source)
            if name not in self.readers:
                try:
                    if mode == "|":
                        content = self.run_command(name, "")[0]
                    else:
                        content = "".join(self.files[name]) if name in self.files else self.read_file(name)
                except OSError:
                    return -1.0
                self.readers[name] = iter(content.splitlines())
            line = next(self.readers[name], None)
        if line is None:
            return 0.0
        if source is not None and mode == "|":
            self.globals["NR"] = number(self.globals["NR"]) + 1
        if place is None:
            self._set_record(line)
        else:
            self._store(place, Input(line))
        return 1.0

    def _call(self, name: str, arguments: tuple[Node, ...]) -> Any:
        self._tick()
        function: Function | None = self.program.functions.get(name)
        if function is None:
            raise AwkError(f"function `{name}' not defined")
        if len(self.frames) > 60:
            raise AwkError("function call nesting too deep")
        frame: dict[str, Any] = dict.fromkeys(function.parameters, UNSET)
        lent: list[tuple[str, str]] = []
        for parameter, argument in zip(function.parameters, arguments, strict=False):
            given = self.value(argument)
            if given is UNSET and argument[0] == "name":
                lent.append((parameter, argument[1]))
            frame[parameter] = given
        self.frames.append(frame)
        result: Any = UNSET
        try:
            self.statement(function.body)
        except _Return as returned:
            result = returned.value
        finally:
            self.frames.pop()
        for parameter, variable in lent:
            # An unset variable that the function used as an array is an array from now on.
            if isinstance(frame[parameter], dict):
                self.put(variable, frame[parameter])
        return result

    # --- functions of the language ---

    def _do_length(self, arguments: tuple[Node, ...]) -> float:
        value = self.value(arguments[0]) if arguments else self.record
        return float(len(value) if isinstance(value, dict) else len(text(value)))

    def _do_substr(self, arguments: tuple[Node, ...]) -> str:
        whole = self._text(arguments[0])
        start = max(round(_finite(self._number(arguments[1]))), 1)
        end = start + round(_finite(self._number(arguments[2]))) if len(arguments) > 2 else len(whole) + 1
        return whole[start - 1 : max(end - 1, 0)]

    def _do_index(self, arguments: tuple[Node, ...]) -> float:
        return float(self._text(arguments[0]).find(self._text(arguments[1])) + 1)

    def _do_split(self, arguments: tuple[Node, ...]) -> float:
        line = self._text(arguments[0])
        if len(arguments) > 2:
            given = arguments[2]
            separator = given[1] if given[0] == "regex" else self._text(given)
            separator = f"(?:{separator})" if given[0] == "regex" and len(separator) == 1 else separator
        else:
            separator = text(self.globals["FS"])
        parts = self.split(line, separator)
        array = self.array(arguments[1][1])
        array.clear()
        array.update({str(index): part for index, part in enumerate(parts, 1)})
        return float(len(parts))

    def _do_sub(self, arguments: tuple[Node, ...]) -> float:
        return self._substitute(arguments, 1)

    def _do_gsub(self, arguments: tuple[Node, ...]) -> float:
        return self._substitute(arguments, 0)

    def _substitute(self, arguments: tuple[Node, ...], limit: int) -> float:
        place: Node = arguments[2] if len(arguments) > 2 else ("field", ("number", 0.0))
        form = self._text(arguments[1])
        new, count = _replaced(
            self._regex(arguments[0]), self._text(place), lambda found: _replacement(form, found[0]), limit
        )
        if count:
            self._store(place, new)
        return float(count)

    def _do_gensub(self, arguments: tuple[Node, ...]) -> str:
        form, which = self._text(arguments[1]), self._text(arguments[2])
        line = self._text(arguments[3]) if len(arguments) > 3 else self.record
        wanted = 0 if which[:1] in ("g", "G") else max(int(number(Input(which))), 1)
        seen = 0

        def replaced(found: Any) -> str:
            nonlocal seen
            seen += 1
            if wanted and seen != wanted:
                return str(found[0])
            return _replacement(form, found[0], found)

        return _replaced(self._regex(arguments[0]), line, replaced, 0)[0]

    def _do_match(self, arguments: tuple[Node, ...]) -> float:
        found = self._regex(arguments[1]).search(self._text(arguments[0]))
        self.globals["RSTART"] = 0.0 if found is None else float(found.start() + 1)
        self.globals["RLENGTH"] = -1.0 if found is None else float(found.end() - found.start())
        if len(arguments) > 2:
            array = self.array(arguments[2][1])
            array.clear()
            if found is not None:
                array["0"] = Input(found[0])
                array.update({str(i): Input(part or "") for i, part in enumerate(found.groups(), 1)})
        return float(self.globals["RSTART"])

    def _do_sprintf(self, arguments: tuple[Node, ...]) -> str:
        return _formatted(
            self._text(arguments[0]), [self._scalar(self.value(each)) for each in arguments[1:]]
        )

    def _do_tolower(self, arguments: tuple[Node, ...]) -> str:
        return self._text(arguments[0]).lower()

    def _do_toupper(self, arguments: tuple[Node, ...]) -> str:
        return self._text(arguments[0]).upper()

    def _do_int(self, arguments: tuple[Node, ...]) -> float:
        return float(math.trunc(self._number(arguments[0])))

    def _do_sqrt(self, arguments: tuple[Node, ...]) -> float:
        given = self._number(arguments[0])
        return math.sqrt(given) if given >= 0.0 else math.nan

    def _do_log(self, arguments: tuple[Node, ...]) -> float:
        given = self._number(arguments[0])
        return math.log(given) if given > 0.0 else -math.inf if given == 0.0 else math.nan

    def _do_exp(self, arguments: tuple[Node, ...]) -> float:
        return self._arithmetic("^", math.e, self._number(arguments[0]))

    def _do_sin(self, arguments: tuple[Node, ...]) -> float:
        return math.sin(self._number(arguments[0]))

    def _do_cos(self, arguments: tuple[Node, ...]) -> float:
        return math.cos(self._number(arguments[0]))

    def _do_atan2(self, arguments: tuple[Node, ...]) -> float:
        return math.atan2(self._number(arguments[0]), self._number(arguments[1]))

    def _do_rand(self, _: tuple[Node, ...]) -> float:
        return self.chance.random()

    def _do_srand(self, arguments: tuple[Node, ...]) -> float:
        self.chance = random.Random(self._number(arguments[0]) if arguments else self.now)
        return 0.0

    def _do_system(self, arguments: tuple[Node, ...]) -> float:
        out, code = self.run_command(self._text(arguments[0]), "")
        self.out.append(out)
        return float(code)

    def _do_close(self, arguments: tuple[Node, ...]) -> float:
        return self.close(self._text(arguments[0]))

    def _do_fflush(self, _: tuple[Node, ...]) -> float:
        return 0.0

    def _do_systime(self, _: tuple[Node, ...]) -> float:
        return float(int(self.now))

    def _do_strftime(self, arguments: tuple[Node, ...]) -> str:
        form = self._text(arguments[0]) if arguments else "%a %b %e %H:%M:%S UTC %Y"
        when = self._number(arguments[1]) if len(arguments) > 1 else self.now
        return datetime.fromtimestamp(when, UTC).strftime(form)


def _finite(value: float) -> float:
    return 0.0 if math.isnan(value) else max(min(value, 1e9), -1e9)


def _replaced(
    expression: Expression, line: str, replace: Callable[[Any], str], limit: int
) -> tuple[str, int]:
    """The text with its matches replaced, the first ``limit`` or all of them, and how many there were."""
    parts: list[str] = []
    position = count = 0
    previous = -1
    for found in expression.finditer(line):
        if found.start() == found.end() == previous:
            # An empty match right after a match is not a match.
            continue
        previous = found.end()
        parts += (line[position : found.start()], replace(found))
        position = found.end()
        count += 1
        effort.spend(MATCH_EFFORT)
        if count == limit:
            break
    parts.append(line[position:])
    made = "".join(parts)
    if len(made) > LONGEST:
        raise MemoryExceeded("awk: fatal: more_blocks: cannot allocate memory: Cannot allocate memory")
    return made, count


def _formatted(form: str, values: list[Any]) -> str:
    """``sprintf``, counted."""
    effort.spend(PIECE_EFFORT * form.count("%"))
    made = formatted(form, values)
    effort.spend(CHARACTER_EFFORT * len(made))
    if len(made) > LONGEST:
        raise MemoryExceeded("awk: fatal: more_blocks: cannot allocate memory: Cannot allocate memory")
    return made


def _replacement(form: str, whole: str, groups: Any = None) -> str:
    """A replacement text: ``&`` is what matched, ``\\&`` the character, ``\\1`` a group where there are any."""
    parts, index = [], 0
    while index < len(form):
        char = form[index]
        following = form[index + 1 : index + 2]
        if char == "\\" and following in ("&", "\\") and following:
            parts.append(following)
            index += 1
        elif char == "\\" and groups is not None and following.isdigit():
            parts.append((groups[int(following)] if int(following) <= len(groups.groups()) else "") or "")
            index += 1
        else:
            parts.append(whole if char == "&" else char)
        index += 1
    return "".join(parts)
