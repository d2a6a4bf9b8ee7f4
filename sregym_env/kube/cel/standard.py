"""The functions of the language itself: operators, conversions, sizes and optional values."""

from __future__ import annotations

import math
import re
from typing import Any

from sregym_env.kube import durations
from sregym_env.kube.cel.errors import CelError
from sregym_env.kube.cel.overloads import Overloads
from sregym_env.kube.cel.types import DYN, Type, join
from sregym_env.kube.cel.values import NONE, Duration, Optional, Timestamp, Uint, joined, kind_of

# --- arithmetic ----------------------------------------------------------------------------------

_INT64 = 1 << 63
_NS = 1_000_000_000


def integer(value: int) -> int:
    """An integer in range. Raises CelError."""
    if -_INT64 <= value < _INT64:
        return value
    raise CelError("integer overflow")


def unsigned(value: int) -> Uint:
    """An unsigned integer in range. Raises CelError."""
    if 0 <= value < 1 << 64:
        return Uint(value)
    raise CelError("unsigned integer overflow")


def _divide(a: int, b: int) -> int:
    if b == 0:
        raise CelError("division by zero")
    quotient = abs(a) // abs(b)
    return integer(quotient if (a < 0) == (b < 0) else -quotient)


def _modulus(a: int, b: int) -> int:
    if b == 0:
        raise CelError("modulus by zero")
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


def _float_divide(a: float, b: float) -> float:
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def _joined(types: list[Type]) -> Type:
    return join(types[0], types[1])


def _arithmetic(table: Overloads) -> None:
    for op, whole, double in (
        ("_+_", lambda a, b: a + b, lambda a, b: a + b),
        ("_-_", lambda a, b: a - b, lambda a, b: a - b),
        ("_*_", lambda a, b: a * b, lambda a, b: a * b),
        ("_/_", _divide, _float_divide),
    ):
        table.function(op, ("int", "int"), "int", lambda a, b, f=whole: integer(f(a, b)))
        table.function(op, ("uint", "uint"), "uint", lambda a, b, f=whole: unsigned(f(int(a), int(b))))
        table.function(op, ("double", "double"), "double", double)
    table.function("_%_", ("int", "int"), "int", _modulus)
    table.function("_%_", ("uint", "uint"), "uint", lambda a, b: unsigned(_modulus(int(a), int(b))))
    table.function("_+_", ("string", "string"), "string", lambda a, b: a + b, costly=True)
    table.function("_+_", ("bytes", "bytes"), "bytes", lambda a, b: a + b, costly=True)
    table.function("_+_", ("list", "list"), _joined, joined, costly=True)
    table.function("_+_", ("timestamp", "duration"), "timestamp", lambda a, b: Timestamp(a.ns + b.ns))
    table.function("_+_", ("duration", "timestamp"), "timestamp", lambda a, b: Timestamp(a.ns + b.ns))
    table.function("_+_", ("duration", "duration"), "duration", lambda a, b: Duration(integer(a.ns + b.ns)))
    table.function("_-_", ("timestamp", "timestamp"), "duration", lambda a, b: Duration(a.ns - b.ns))
    table.function("_-_", ("timestamp", "duration"), "timestamp", lambda a, b: Timestamp(a.ns - b.ns))
    table.function("_-_", ("duration", "duration"), "duration", lambda a, b: Duration(integer(a.ns - b.ns)))
    table.function("-_", ("int",), "int", lambda a: integer(-a))
    table.function("-_", ("double",), "double", lambda a: -a)


_NUMERIC = ("int", "uint", "double")


def _comparisons(table: Overloads) -> None:
    for op, order in (
        ("_<_", lambda a, b: a < b),
        ("_<=_", lambda a, b: a <= b),
        ("_>_", lambda a, b: a > b),
        ("_>=_", lambda a, b: a >= b),
    ):
        for a_kind in _NUMERIC:
            for b_kind in _NUMERIC:
                table.function(op, (a_kind, b_kind), "bool", order)
        for a_kind in ("string", "bytes", "bool"):
            table.function(op, (a_kind, a_kind), "bool", order, costly=True)
        for a_kind in ("timestamp", "duration"):
            table.function(op, (a_kind, a_kind), "bool", order)


# --- conversions ---------------------------------------------------------------------------------


def _to_int(value: Any) -> int:
    kind = kind_of(value)
    if kind == "string":
        if not re.fullmatch(r"[+-]?\d+", value):
            raise CelError(f'strconv.ParseInt: parsing "{value}": invalid syntax')
        return integer(int(value))
    if kind == "double":
        if not -_INT64 < value < _INT64:
            raise CelError("integer overflow")
        return int(value)
    if kind == "timestamp":
        return int(value.ns // _NS)
    if kind == "duration":
        return int(value.ns)
    return integer(int(value))


def _to_uint(value: Any) -> Uint:
    if isinstance(value, str):
        if not value.isdigit():
            raise CelError(f'strconv.ParseUint: parsing "{value}": invalid syntax')
        return unsigned(int(value))
    return unsigned(int(value))


def _to_double(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        raise CelError(f'strconv.ParseFloat: parsing "{value}": invalid syntax') from None


def _to_bool(value: str) -> bool:
    if value in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if value in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise CelError(f'strconv.ParseBool: parsing "{value}": invalid syntax')


def go_float(value: float) -> str:
    """A double as ``strconv.FormatFloat(f, 'g', -1, 64)`` writes it."""
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if math.isnan(value):
        return "NaN"
    text = repr(value)
    if text.endswith(".0"):
        text = text[:-2]
    digits = len(text.lstrip("-").split(".")[0])
    if "e" not in text and digits > 21:
        text = f"{value:e}"
    return re.sub(r"e([+-])(\d)$", r"e\g<1>0\2", text)


def to_string(value: Any) -> str:
    """``string(x)``."""
    kind = kind_of(value)
    if kind == "bool":
        return "true" if value else "false"
    if kind == "double":
        return go_float(value)
    if kind == "bytes":
        try:
            return str(value.decode())
        except UnicodeDecodeError:
            raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None
    if kind == "timestamp":
        return (
            durations.rfc3339_nano(value.ns // 1000)
            if value.ns % _NS
            else durations.rfc3339(value.ns // 1000)
        )
    if kind == "duration":
        return _seconds(value.ns)
    return str(getattr(value, "text", value))


def _seconds(ns: int) -> str:
    whole, rest = divmod(abs(ns), _NS)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{'-' if ns < 0 else ''}{whole}{fraction}s"


def _conversions(table: Overloads) -> None:
    for kind in ("int", "uint", "double", "string", "timestamp", "duration"):
        table.function("int", (kind,), "int", _to_int)
    for kind in ("int", "uint", "double", "string"):
        table.function("uint", (kind,), "uint", _to_uint)
        table.function("double", (kind,), "double", _to_double)
    for kind in ("int", "uint", "double", "string", "bool", "bytes", "timestamp", "duration"):
        table.function("string", (kind,), "string", to_string)
    table.function("bool", ("bool",), "bool", lambda a: a)
    table.function("bool", ("string",), "bool", _to_bool)
    table.function("bytes", ("string",), "bytes", lambda a: a.encode())
    table.function("bytes", ("bytes",), "bytes", lambda a: a)

    for kind in ("string", "bytes", "list", "map"):
        table.function("size", (kind,), "int", len)
        table.method("size", (kind,), "int", len)


# --- optional values -------------------------------------------------------------------------------


def _inner(types: list[Type]) -> Type:
    return types[0][1] if isinstance(types[0], tuple) and len(types[0]) > 1 else DYN


def _value(optional: Optional) -> Any:
    if not optional.present:
        raise CelError("optional.none() dereference")
    return optional.value


def _non_zero(value: Any) -> Optional:
    return NONE if value in (None, 0, "", b"", False) or value in ([], {}) else Optional(True, value)


def optional_values(table: Overloads) -> None:
    table.function("optional.none", (), ("optional", DYN), lambda: NONE)
    table.function("optional.of", (DYN,), lambda types: ("optional", types[0]), lambda a: Optional(True, a))
    table.function("optional.ofNonZeroValue", (DYN,), lambda types: ("optional", types[0]), _non_zero)
    table.method("hasValue", ("optional",), "bool", lambda a: a.present)
    table.method("value", ("optional",), _inner, _value)
    table.method("orValue", ("optional", DYN), lambda types: join(_inner(types), types[1]),
           lambda a, b: a.value if a.present else b)  # fmt: skip
    table.method("or", ("optional", "optional"), _joined, lambda a, b: a if a.present else b)


def register(table: Overloads) -> None:
    """Add the functions to a table."""
    _arithmetic(table)
    _comparisons(table)
    _conversions(table)
    optional_values(table)
