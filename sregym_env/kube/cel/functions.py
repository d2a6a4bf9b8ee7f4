"""The functions of the language: operators, the standard library, and how one of several overloads is chosen.

The extensions that Kubernetes adds stand in :mod:`sregym_env.kube.cel.strings` and
:mod:`sregym_env.kube.cel.kubernetes`; every module adds to one table when first needed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sregym_env.kube import durations
from sregym_env.kube.cel.errors import CelError
from sregym_env.kube.cel.types import DYN, Type, fits, join, matches
from sregym_env.kube.cel.values import NONE, Duration, Host, Optional, Timestamp, Uint, joined, kind_of

if TYPE_CHECKING:
    from sregym_env.kube.cel.compiler import Frame, Run

Result = Type | Callable[[list[Type]], Type]


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function; a method has its receiver as the first parameter."""

    parameters: tuple[Type, ...]
    returns: Any
    run: Callable[..., Any]
    costly: bool = False
    """Whether the work grows with the size of the arguments."""

    def accepts(self, types: Sequence[Type]) -> bool:
        """Whether arguments of these types fit."""
        return len(types) == len(self.parameters) and all(map(fits, types, self.parameters))

    def takes(self, values: Sequence[Any]) -> bool:
        """Whether these arguments fit."""
        return all(map(matches, values, self.parameters))

    def result(self, types: list[Type]) -> Type:
        """Type of what it returns."""
        return self.returns(types) if callable(self.returns) else self.returns


_GLOBAL: dict[str, list[Overload]] = {}
_MEMBER: dict[str, list[Overload]] = {}


def function(name: str, parameters: Sequence[Type], returns: Result, run: Callable[..., Any], *,
             costly: bool = False) -> None:  # fmt: skip
    """Add an overload of a global function or operator."""
    _GLOBAL.setdefault(name, []).append(Overload(tuple(parameters), returns, run, costly))


def method(name: str, parameters: Sequence[Type], returns: Result, run: Callable[..., Any], *,
           costly: bool = False) -> None:  # fmt: skip
    """Add an overload of a method."""
    _MEMBER.setdefault(name, []).append(Overload(tuple(parameters), returns, run, costly))


@lru_cache(maxsize=1)
def _load() -> None:
    from sregym_env.kube.cel import kubernetes, strings, times

    for module in (strings, times, kubernetes):
        module.register()


def is_global(name: str) -> bool:
    """Whether there is a global function of that name (``sets.contains``)."""
    _load()
    return name in _GLOBAL


def overloads(name: str, member: bool) -> list[Overload]:
    """The signatures of a function or method; empty where there is none."""
    _load()
    return (_MEMBER if member else _GLOBAL).get(name, [])


def dispatch(chosen: list[Overload], runs: list[Run]) -> Run:
    """A function that evaluates the arguments and calls the overload that they fit."""

    def call(frame: Frame) -> Any:
        values = [run(frame) for run in runs]
        for overload in chosen:
            if overload.takes(values):
                frame.pay(1 + sum(map(_size, values)) if overload.costly else 1)
                return overload.run(*values)
        raise CelError("no such overload")

    return call


def _size(value: Any) -> int:
    if isinstance(value, list):
        return len(value) + sum(len(v) // 10 for v in value if type(v) is str)
    return len(value) // 10 if type(value) in (str, dict, bytes) else 0


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


for _op, _int, _double in (
    ("_+_", lambda a, b: a + b, lambda a, b: a + b),
    ("_-_", lambda a, b: a - b, lambda a, b: a - b),
    ("_*_", lambda a, b: a * b, lambda a, b: a * b),
    ("_/_", _divide, _float_divide),
):
    function(_op, ("int", "int"), "int", lambda a, b, f=_int: integer(f(a, b)))
    function(_op, ("uint", "uint"), "uint", lambda a, b, f=_int: unsigned(f(int(a), int(b))))
    function(_op, ("double", "double"), "double", _double)
function("_%_", ("int", "int"), "int", _modulus)
function("_%_", ("uint", "uint"), "uint", lambda a, b: unsigned(_modulus(int(a), int(b))))
function("_+_", ("string", "string"), "string", lambda a, b: a + b, costly=True)
function("_+_", ("bytes", "bytes"), "bytes", lambda a, b: a + b, costly=True)
function("_+_", ("list", "list"), _joined, joined, costly=True)
function("_+_", ("timestamp", "duration"), "timestamp", lambda a, b: Timestamp(a.ns + b.ns))
function("_+_", ("duration", "timestamp"), "timestamp", lambda a, b: Timestamp(a.ns + b.ns))
function("_+_", ("duration", "duration"), "duration", lambda a, b: Duration(integer(a.ns + b.ns)))
function("_-_", ("timestamp", "timestamp"), "duration", lambda a, b: Duration(a.ns - b.ns))
function("_-_", ("timestamp", "duration"), "timestamp", lambda a, b: Timestamp(a.ns - b.ns))
function("_-_", ("duration", "duration"), "duration", lambda a, b: Duration(integer(a.ns - b.ns)))
function("-_", ("int",), "int", lambda a: integer(-a))
function("-_", ("double",), "double", lambda a: -a)

_NUMERIC = ("int", "uint", "double")
for _op, _order in (
    ("_<_", lambda a, b: a < b),
    ("_<=_", lambda a, b: a <= b),
    ("_>_", lambda a, b: a > b),
    ("_>=_", lambda a, b: a >= b),
):
    for _a in _NUMERIC:
        for _b in _NUMERIC:
            function(_op, (_a, _b), "bool", _order)
    for _a in ("string", "bytes", "bool"):
        function(_op, (_a, _a), "bool", _order, costly=True)
    for _a in ("timestamp", "duration"):
        function(_op, (_a, _a), "bool", _order)


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


for _kind in ("int", "uint", "double", "string", "timestamp", "duration"):
    function("int", (_kind,), "int", _to_int)
for _kind in ("int", "uint", "double", "string"):
    function("uint", (_kind,), "uint", _to_uint)
    function("double", (_kind,), "double", _to_double)
for _kind in ("int", "uint", "double", "string", "bool", "bytes", "timestamp", "duration"):
    function("string", (_kind,), "string", to_string)
function("bool", ("bool",), "bool", lambda a: a)
function("bool", ("string",), "bool", _to_bool)
function("bytes", ("string",), "bytes", lambda a: a.encode())
function("bytes", ("bytes",), "bytes", lambda a: a)

for _kind in ("string", "bytes", "list", "map"):
    function("size", (_kind,), "int", len)
    method("size", (_kind,), "int", len)


# --- optional values -------------------------------------------------------------------------------


def _inner(types: list[Type]) -> Type:
    return types[0][1] if isinstance(types[0], tuple) and len(types[0]) > 1 else DYN


def _value(optional: Optional) -> Any:
    if not optional.present:
        raise CelError("optional.none() dereference")
    return optional.value


def _non_zero(value: Any) -> Optional:
    return NONE if value in (None, 0, "", b"", False) or value in ([], {}) else Optional(True, value)


function("optional.none", (), ("optional", DYN), lambda: NONE)
function("optional.of", (DYN,), lambda types: ("optional", types[0]), lambda a: Optional(True, a))
function("optional.ofNonZeroValue", (DYN,), lambda types: ("optional", types[0]), _non_zero)
method("hasValue", ("optional",), "bool", lambda a: a.present)
method("value", ("optional",), _inner, _value)
method("orValue", ("optional", DYN), lambda types: join(_inner(types), types[1]),
       lambda a, b: a.value if a.present else b)  # fmt: skip
method("or", ("optional", "optional"), _joined, lambda a, b: a if a.present else b)


# --- objects of the host -----------------------------------------------------------------------------


def host_method(type_name: str, name: str, parameters: Sequence[Type], returns: Result) -> None:
    """A method of a :class:`~sregym_env.kube.cel.values.Host`: the Python method ``cel_NAME``."""

    def run(owner: Host, *arguments: Any) -> Any:
        return getattr(owner, f"cel_{name}")(*arguments)

    method(name, (type_name, *parameters), returns, run)
