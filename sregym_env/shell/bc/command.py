"""Runs programs, and the command ``bc`` itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime import effort
from sregym_env.shell.bc import numbers
from sregym_env.shell.bc.numbers import ONE, ZERO, CalculationError, Number
from sregym_env.shell.bc.syntax import Node, Parser, QuitRead, SyntaxFailed
from sregym_env.shell.run import Call

STEPS = 200_000
STEP_EFFORT = 1.5
"""What each of them costs (units of ``runtime/effort.py``)."""
"""Statements and operations that one run may take."""
_OUTPUT = 1024 * 1024
_MOST_PLACES = 2_000
"""The largest ``scale``; the real one has no bound that matters."""
_WIDTH = 68
"""Characters of a number before its line is broken (``BC_LINE_LENGTH`` of 70)."""
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "q": '"', "t": "\t", "\\": "\\"}
_LIMITS = (
    "BC_BASE_MAX     = 2147483647\nBC_DIM_MAX      = 16777215\nBC_SCALE_MAX    = 2147483647\n"
    "BC_STRING_MAX   = 2147483647\nMAX Exponent    = 9223372036854775807\nNumber of vars  = 32767\n"
)
_LIBRARY: Mapping[str, Callable[[Number, int], Number]] = {
    "e": numbers.exponential,
    "l": numbers.logarithm,
    "s": numbers.sine,
    "c": numbers.cosine,
    "a": numbers.arctangent,
}


class _Halt(Exception):
    """The program ends."""


class _Leave(Exception):
    """``break``, ``continue`` or ``return``."""

    def __init__(self, how: str, value: Number = ZERO) -> None:
        super().__init__(how)
        self.how = how
        self.value = value


class Bc:
    """The command."""

    name = "bc"

    def execute(self, args: list[str], ctx: Call) -> ExecResult:
        """Run the files given and then standard input."""
        options = "".join(word[1:] for word in args if word.startswith("-") and not word.startswith("--"))
        library = "l" in options or "--mathlib" in args
        if "v" in options or "--version" in args:
            return ExecResult("bc 1.07.1\nCopyright 1991-1994, 1997, 1998, 2000, 2004, 2006, 2008, 2012-2017 "
                              "Free Software Foundation, Inc.\n")  # fmt: skip
        machine = Machine(library=library)
        for word in args:
            if word.startswith("-"):
                continue
            path = ctx.resolve(word)
            try:
                text = ctx.fs.read_text(path)
            except OSError:
                errors = "".join(machine.errors)
                return ExecResult("".join(machine.out), f"{errors}File {word} is unavailable.\n", 1)
            if not machine.run(text, word):
                return machine.result()
        machine.run(ctx.stdin or "", "(standard_in)")
        return machine.result()


class Machine:
    """The variables and functions of one run."""

    def __init__(self, *, library: bool = False) -> None:
        self.out: list[str] = []
        self.errors: list[str] = []
        self._library = library
        self._settings = {"scale": ZERO, "ibase": Number(10), "obase": Number(10), "last": ZERO}
        if library:
            self._settings["scale"] = Number(20)
        self._variables: dict[str, Number] = {}
        self._arrays: dict[str, dict[int, Number]] = {}
        self._functions: dict[str, Node] = {}
        self._column = 0
        self._left = STEPS
        self._written = 0
        self._depth = 0
        self._where = "(main)"

    def result(self) -> ExecResult:
        """What was printed so far."""
        return ExecResult("".join(self.out), "".join(self.errors), 0)

    def run(self, text: str, source: str) -> bool:
        """Run a program; whether ``bc`` goes on to its next file."""
        parser = Parser(text)
        while not parser.done:
            try:
                for statement in parser.line():
                    self._run(statement)
            except SyntaxFailed as error:
                self.errors.append(f"{source} {error.line}: syntax error\n")
            except CalculationError as error:
                self.errors.append(f"Runtime error (func={self._where}, adr=3): {error}\n")
            except _Leave:
                continue
            except (QuitRead, _Halt):
                return False
            except RecursionError:
                self.errors.append("Runtime error (func=(main), adr=3): Out of memory\n")
            self._depth, self._where = 0, "(main)"
        return True

    # --- printing -----------------------------------------------------------------------------------

    def _show(self, text: str) -> None:
        self._written += len(text)
        if self._written > _OUTPUT:
            raise _Halt
        for char in text:
            if char == "\n":
                self._column = 0
            else:
                self._column += 1
                if self._column > _WIDTH:
                    self.out.append("\\\n")
                    self._column = 1
            self.out.append(char)

    def _number(self, value: Number) -> str:
        return numbers.written(value, self._settings["obase"].units)

    # --- statements ---------------------------------------------------------------------------------

    def _step(self) -> None:
        self._left -= 1
        effort.spend(STEP_EFFORT)
        if self._left < 0:
            self.errors.append("bc: interrupted\n")
            raise _Halt

    def _run(self, node: Node | None) -> None:
        if node is None:
            return
        self._step()
        kind = node[0]
        if kind == "block":
            for inner in node[1]:
                self._run(inner)
        elif kind == "show":
            value = self._value(node[1])
            self._settings["last"] = value
            self._show(f"{self._number(value)}\n")
        elif kind == "run":
            self._value(node[1])
        elif kind == "text":
            self._show(node[1])
        elif kind == "print":
            self._print(node[1])
        elif kind == "if":
            self._run(node[2] if self._value(node[1]).units else node[3])
        elif kind == "while":
            self._loop(node[1], None, node[2])
        elif kind == "for":
            if node[1] is not None:
                self._value(node[1])
            self._loop(node[2], node[3], node[4])
        elif kind == "define":
            self._functions[node[1]] = node
        elif kind == "return":
            raise _Leave("return", ZERO if node[1] is None else self._value(node[1]))
        elif kind in ("break", "continue"):
            raise _Leave(kind)
        elif kind == "halt":
            raise _Halt
        elif kind == "limits":
            self._show(_LIMITS)

    def _print(self, items: list[Node]) -> None:
        for item in items:
            if item[0] == "text":
                self._show(_unescaped(item[1]))
            else:
                value = self._value(item)
                self._settings["last"] = value
                self._show(self._number(value))

    def _loop(self, condition: Node | None, after: Node | None, body: Node) -> None:
        while condition is None or self._value(condition).units:
            self._step()
            try:
                self._run(body)
            except _Leave as leave:
                if leave.how == "break":
                    return
                if leave.how == "return":
                    raise
            if after is not None:
                self._value(after)

    # --- expressions --------------------------------------------------------------------------------

    @property
    def _scale(self) -> int:
        return self._settings["scale"].units

    def _value(self, node: Node) -> Number:
        self._step()
        kind = node[0]
        if kind == "number":
            return numbers.read(node[1], self._settings["ibase"].units)
        if kind == "group":
            return self._value(node[1])
        if kind in ("variable", "element", "setting"):
            return self._read(node)
        if kind == "minus":
            inner = self._value(node[1])
            return Number(-inner.units, inner.scale)
        if kind == "binary":
            return self._binary(node[1], self._value(node[2]), self._value(node[3]))
        if kind == "compare":
            return _truth(_holds(node[1], numbers.compare(self._value(node[2]), self._value(node[3]))))
        if kind == "assign":
            return self._assign(node)
        if kind == "step":
            old = self._read(node[2])
            new = numbers.add(old, ONE, 1 if node[1] == "+" else -1)
            self._write(node[2], new)
            return new if node[3] else old
        if kind == "not":
            return _truth(not self._value(node[1]).units)
        if kind in ("and", "or"):
            left, right = self._value(node[1]).units, self._value(node[2]).units
            return _truth(bool(left and right) if kind == "and" else bool(left or right))
        if kind == "builtin":
            return self._builtin(node[1], self._value(node[2]))
        if kind == "call":
            return self._call(node[1], node[2])
        raise CalculationError("Invalid argument")

    def _binary(self, operator: str, left: Number, right: Number) -> Number:
        # What a product of long numbers costs grows with the square of their length.
        self._left -= ((left.units.bit_length() + right.units.bit_length()) // 1024) ** 2 // 4
        if operator in "+-":
            return numbers.add(left, right, 1 if operator == "+" else -1)
        if operator == "^" and right.scale and right.units % 10**right.scale:
            self.errors.append(f"Runtime warning (func={self._where}, adr=8): non-zero scale in exponent\n")
        operation = {"*": numbers.multiply, "/": numbers.divide, "%": numbers.modulo, "^": numbers.power}
        return operation[operator](left, right, self._scale)

    def _builtin(self, name: str, value: Number) -> Number:
        if name == "sqrt":
            return numbers.root(value, self._scale)
        if name == "scale":
            return Number(value.scale)
        digits = len(numbers.written(Number(abs(value.units)), 10)) if value.units else 1
        return Number(max(digits, value.scale))

    def _read(self, node: Node) -> Number:
        if node[0] == "setting":
            return self._settings[node[1]]
        if node[0] == "variable":
            return self._variables.get(node[1], ZERO)
        return self._arrays.get(node[1], {}).get(self._index(node[2]), ZERO)

    def _index(self, node: Node) -> int:
        index = numbers.rescaled(self._value(node), 0).units
        if not 0 <= index < 16_777_215:
            raise CalculationError("Array index out of bounds")
        return index

    def _write(self, node: Node, value: Number) -> None:
        if node[0] == "variable":
            self._variables[node[1]] = value
        elif node[0] == "element":
            self._arrays.setdefault(node[1], {})[self._index(node[2])] = value
        elif node[1] == "last":
            self._settings["last"] = value
        else:
            self._set(node[1], numbers.rescaled(value, 0).units)

    def _set(self, name: str, value: int) -> None:
        low, high = {"scale": (0, _MOST_PLACES), "ibase": (2, 36), "obase": (2, 2_147_483_647)}[name]
        if value < low:
            spoken = "negative scale, set to 0" if name == "scale" else f"{name} too small, set to 2"
            self.errors.append(f"Runtime warning (func={self._where}, adr=3): {spoken}\n")
        elif value > high:
            self.errors.append(
                f"Runtime warning (func={self._where}, adr=3): {name} too large, set to {high}\n"
            )
        self._settings[name] = Number(min(max(value, low), high))

    def _assign(self, node: Node) -> Number:
        _, operator, place, expression = node
        value = self._value(expression)
        if operator:
            value = self._binary(operator, self._read(place), value)
        self._write(place, value)
        return self._read(place) if place[0] == "setting" else value

    def _call(self, name: str, arguments: list[Node]) -> Number:
        function = self._functions.get(name)
        if function is None:
            if self._library and name in _LIBRARY and len(arguments) == 1:
                self._left -= 500
                return _LIBRARY[name](self._value(arguments[0]), self._scale)
            raise CalculationError(f"Function {name} not defined.")
        _, _, parameters, local, body = function
        if len(parameters) != len(arguments):
            raise CalculationError("Parameter number mismatch")
        if self._depth >= 100:
            raise CalculationError("Function call depth exceeded")
        given = [dict(self._arrays.get(a[1], {})) if a[0] == "array" else self._value(a) for a in arguments]
        names = [*parameters, *local]
        kept = [(self._variables.get(n), self._arrays.get(n.removesuffix("[]"))) for n in names]
        for index, each in enumerate(names):
            value = given[index] if index < len(given) else None
            if each.endswith("[]"):
                self._arrays[each[:-2]] = value if isinstance(value, dict) else {}
            else:
                self._variables[each] = value if isinstance(value, Number) else ZERO
        outer, self._where = self._where, name
        self._depth += 1
        try:
            self._run(body)
            return ZERO
        except _Leave as leave:
            return leave.value
        finally:
            self._depth -= 1
            self._where = outer
            for each, (variable, array) in zip(names, kept, strict=True):
                if each.endswith("[]"):
                    self._arrays[each[:-2]] = array or {}
                else:
                    self._variables[each] = variable or ZERO


def _truth(holds: bool) -> Number:
    return ONE if holds else ZERO


def _holds(operator: str, order: int) -> bool:
    return {
        "==": order == 0,
        "!=": order != 0,
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
    }[operator]


def _unescaped(text: str) -> str:
    out, at = [], 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            out.append(_ESCAPES.get(text[at + 1], ""))
            at += 2
        else:
            out.append(text[at])
            at += 1
    return "".join(out)
