"""JSON values as jq orders, compares and prints them."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import orjson

from sregym_env.runtime import effort
from sregym_env.shell.limits import MemoryExceeded

MEMBERS = 2_000_000
"""Members that a value which is written may have, all levels together."""
MEMBER_EFFORT = 0.3
"""What each of them costs (units of ``runtime/effort.py``)."""

LARGEST = 1.7976931348623157e308
_EXACT = 1 << 53


class JqError(Exception):
    """An error that ``try`` can catch; ``value`` is what it carries."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value

    def text(self) -> str:
        """The message as the command prints it."""
        if isinstance(self.value, str):
            return f": {self.value}"
        return f" (not a string): {dump(self.value)}"


class Break(Exception):
    """Leaves the expression that a label names."""

    def __init__(self, label: object) -> None:
        super().__init__()
        self.label = label


def number(value: float) -> int | float:
    """A number in the one form that equal numbers share: whole ones are ints."""
    if isinstance(value, float):
        if value.is_integer():
            return int(value)
        if math.isinf(value):
            return int(LARGEST) if value > 0 else -int(LARGEST)
        return value
    # jq 1.6 keeps numbers as doubles: beyond 2**53 the last digits are lost.
    return value if -_EXACT <= value <= _EXACT else int(float(value))


def _number_read(text: str) -> int | float:
    return number(float(text))


# 400 digits are more than any double has before its point; thousands Python refuses to convert.
_DECODER = json.JSONDecoder(
    parse_float=_number_read, parse_int=lambda text: number(int(text[:400])), strict=False
)


def documents(text: str) -> tuple[list[Any], str]:
    """The JSON texts that follow one another in ``text``, and what is wrong after the last good one."""
    found: list[Any] = []
    position, end = 0, len(text)
    while True:
        while position < end and text[position] in " \t\r\n\ufeff":
            position += 1
        if position >= end:
            return found, ""
        try:
            value, position = _DECODER.raw_decode(text, position)
        except RecursionError:
            return found, "parse error: Exceeds depth limit for parsing"
        except json.JSONDecodeError as error:
            return found, _complaint(text, error.pos)
        if isinstance(value, int | float) and position < end and text[position] not in ' \t\r\n,]}[{"':
            return found, _complaint(text, position)
        found.append(value)


def _complaint(text: str, position: int) -> str:
    if position >= len(text.rstrip()):
        lines = text.count("\n") + 1
        return f"parse error: Unfinished JSON term at EOF at line {lines}, column {len(text) - text.rfind(chr(10)) - 1}"
    match = re.compile(r"[^\s,:\[\]{}\"]*").match(text, position)
    stop = match.end() if match else position
    line = text.count("\n", 0, stop) + 1
    column = stop - text.rfind("\n", 0, stop)
    return f"parse error: Invalid numeric literal at line {line}, column {column}"


def type_name(value: Any) -> str:
    """``type``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def truthy(value: Any) -> bool:
    """Everything but null and false."""
    return value is not None and value is not False


def rank(value: Any) -> Any:
    """A key that orders values: null, false, true, numbers, strings, arrays, objects."""
    if isinstance(value, str):
        return (4, value)
    if value is None:
        return (0,)
    if isinstance(value, bool):
        return (1 + value,)
    if isinstance(value, int | float):
        return (3, value)
    if isinstance(value, list):
        return (5, [rank(item) for item in value])
    keys = sorted(value)
    return (6, keys, [rank(value[key]) for key in keys])


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal; true is not 1."""
    if type(left) is type(right) and not isinstance(left, list | dict):
        return bool(left == right)
    return bool(rank(left) == rank(right))


def number_text(value: int | float) -> str:
    """A number as jq 1.6 prints it: 17 significant digits at most, exponents beyond."""
    if isinstance(value, int):
        if -(10**16) < value < 10**16:
            return str(value)
        value = float(value)
    if math.isnan(value):
        return "null"
    shown = repr(value)
    mantissa, _, exponent = shown.partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0") or "0"
    point = len(whole) + int(exponent or 0)
    if whole == "0":
        point = -(len(fraction) - len(fraction.lstrip("0"))) + int(exponent or 0)
    digits = digits.rstrip("0") or "0"
    if point <= -4 or point > len(digits) + 15:
        tail = f".{digits[1:]}" if len(digits) > 1 else ""
        power = point - 1
        return f"{sign}{digits[0]}{tail}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return sign + digits + "0" * (point - len(digits))
    return f"{sign}{digits[:point]}.{digits[point:]}"


def _weigh(value: Any, left: list[int]) -> None:
    """Raises MemoryExceeded for a value that is too large to be written: one may hold another many times over."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return
    left[0] -= len(value)
    effort.spend(MEMBER_EFFORT * len(value))
    if left[0] < 0:
        raise MemoryExceeded("jq: error: cannot allocate memory")
    for item in value:
        if isinstance(item, dict | list):
            _weigh(item, left)


def _odd(value: Any) -> bool:
    """Whether a value holds numbers that the quick printer may spell differently: floats and very large ones."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return isinstance(value, float) or (isinstance(value, int) and not -(10**16) < value < 10**16)
    return any(_odd(item) for item in value if not isinstance(item, str))


def dump(value: Any, indent: str = "", *, sort: bool = False, ascii_only: bool = False) -> str:
    """A value as JSON text; ``indent`` empty is the compact form."""
    if isinstance(value, str) and not ascii_only:
        return quoted(value)
    _weigh(value, [MEMBERS])
    if not ascii_only and indent in ("", "  ") and not _odd(value):
        flags = (orjson.OPT_INDENT_2 if indent else 0) | (orjson.OPT_SORT_KEYS if sort else 0)
        try:
            data = orjson.dumps(value, option=flags)
        except (TypeError, orjson.JSONEncodeError):
            data = b""
        if data and b"\x7f" not in data:
            return data.decode()
    out: list[str] = []
    _write(value, indent, "\n", sort, ascii_only, out)
    return "".join(out)


def quoted(text: str) -> str:
    """A string as JSON."""
    # jq escapes this control character too, unlike Python.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _write(value: Any, indent: str, lead: str, sort: bool, ascii_only: bool, out: list[str]) -> None:
    if isinstance(value, str):
        out.append(json.dumps(value) if ascii_only else quoted(value))
    elif value is None or isinstance(value, bool):
        out.append({None: "null", True: "true", False: "false"}[value])
    elif isinstance(value, int | float):
        out.append(number_text(value))
    elif not value:
        out.append("[]" if isinstance(value, list) else "{}")
    else:
        inner = lead + indent if indent else ""
        last = lead if indent else ""
        if isinstance(value, list):
            out.append("[")
            for index, item in enumerate(value):
                out.append(f",{inner}" if index else inner)
                _write(item, indent, inner, sort, ascii_only, out)
            out.append(f"{last}]")
        else:
            out.append("{")
            for index, key in enumerate(sorted(value) if sort else value):
                out.append(f",{inner}" if index else inner)
                out.append((json.dumps(key) if ascii_only else quoted(key)) + (": " if indent else ":"))
                _write(value[key], indent, inner, sort, ascii_only, out)
            out.append(f"{last}}}")


def text_of(value: Any) -> str:
    """``tostring``: strings as they are, everything else as JSON."""
    return value if isinstance(value, str) else dump(value)


def clipped(value: Any) -> str:
    """A value as error messages show it."""
    shown = dump(value)
    return shown if len(shown) <= 11 else shown[:10] + "..."


def described(value: Any) -> str:
    """Type and value as error messages show them."""
    return f"{type_name(value)} ({clipped(value)})"
