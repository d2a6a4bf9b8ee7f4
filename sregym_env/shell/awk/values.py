"""Values of the language: numbers, strings, and strings that look like numbers."""

from __future__ import annotations

import math
import re
from typing import Any

from sregym_env.shell.awk.syntax import AwkError
from sregym_env.shell.commands.posix import Expression, compiled

_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_FORMAT = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?([a-zA-Z%])")
LONGEST = 4_000_000
"""Characters in one string."""


class Input(str):
    """Text that came from outside the program; a number if it looks like one."""

    __slots__ = ()


UNSET = Input("")
"""What a variable holds before anything is assigned to it."""


def number(value: Any) -> float:
    """The number that a value stands for."""
    if isinstance(value, float):
        return value
    match = _NUMBER.match(value)
    return float(match[0]) if match else 0.0


def text(value: Any, form: str = "%.6g") -> str:
    """The string that a value stands for."""
    if not isinstance(value, float):
        return str(value)
    if value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    if math.isnan(value) or math.isinf(value):
        return f"{'-' if value < 0 else ''}{'nan' if math.isnan(value) else 'inf'}"
    return formatted(form, [value])


def numeric(value: Any) -> bool:
    """Whether a comparison takes the value as a number."""
    if isinstance(value, float):
        return True
    if not isinstance(value, Input):
        return False
    match = _NUMBER.match(value)
    return value is UNSET or (match is not None and not value[match.end() :].strip())


def true(value: Any) -> bool:
    """Whether a condition holds."""
    if isinstance(value, float):
        return value != 0.0
    return number(value) != 0.0 if value and numeric(value) else value != ""


def compared(left: Any, right: Any) -> int:
    """Negative, zero or positive, as numbers where both look like numbers."""
    if numeric(left) and numeric(right):
        a, b = number(left), number(right)
        return (a > b) - (a < b)
    first, second = text(left), text(right)
    return (first > second) - (first < second)


def _character(code: float) -> str:
    """The character of a number; none is half a pair."""
    number = int(code) & 0x10FFFF
    return "\ufffd" if 0xD800 <= number < 0xE000 else chr(number)


def formatted(form: str, values: list[Any]) -> str:
    """``sprintf``. Raises AwkError where the result would be too long."""
    rest = list(values)

    def following() -> Any:
        return rest.pop(0) if rest else UNSET

    def written(match: re.Match[str]) -> str:
        flags, width, precision, kind = match.groups()
        if kind == "%":
            return "%"
        width = str(int(number(following()))) if width == "*" else width or ""
        precision = str(int(number(following()))) if precision == "*" else precision
        if len(width) > 5 or len(precision or "") > 5:
            raise AwkError("format is too wide")
        point = "" if precision is None else f".{precision}"
        value = following()
        if kind in "di":
            whole = number(value)
            return f"%{flags}{width}{point}d" % (int(whole) if math.isfinite(whole) else 0)
        if kind in "ouxX":
            return f"%{flags}{width}{point}{'d' if kind == 'u' else kind}" % int(number(value))
        if kind in "eEfFgG":
            return f"%{flags}{width}{point}{kind}" % number(value)
        if kind == "c":
            shown = _character(value) if isinstance(value, float) else text(value)[:1]
            return f"%{flags.replace('0', '')}{width}s" % shown
        if kind == "s":
            return f"%{flags.replace('0', '')}{width}{point}s" % text(value)
        return match[0]

    return _FORMAT.sub(written, form)


def expression(source: str, fold: bool = False) -> Expression:
    """A compiled extended regular expression. Raises ``re.error``."""
    return compiled(source, extended=True, escapes=True, bracket_escapes=True, fold=fold)
