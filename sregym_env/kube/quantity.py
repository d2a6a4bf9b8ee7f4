"""Kubernetes resource quantities: ``500m``, ``1Gi``, ``1e3``; exact, on integers.

Internally a quantity is an integer number of nano-units (the finest that Kubernetes keeps; finer
input rounds up, as in Go). Canonical texts keep the family of the suffix they were written in
(decimal, binary or exponent) and use the largest suffix without a fraction.
"""

from __future__ import annotations

import re
from functools import lru_cache

NANO = 10**9
"""Nano-units in one unit."""

FORMAT_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
SUFFIX_ERROR = "unable to parse quantity's suffix"

_BINARY = {"": 0, "Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SHAPE = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(.*)\Z", re.DOTALL)
_SUFFIX = re.compile(r"[eEinumkKMGTP]*[-+]?[0-9]*\Z")
_EXPONENT = re.compile(r"[eE]([-+]?\d+)\Z")


@lru_cache(maxsize=16384)
def _parse(text: str) -> tuple[int, str]:
    """(nano-units, family) of a text; family is ``decimal``, ``binary`` or ``exponent``."""
    if not text:
        raise ValueError(FORMAT_ERROR)
    shape = _SHAPE.match(text)
    assert shape is not None
    sign, whole, fraction, suffix = shape.groups()
    if not whole and not fraction:
        raise ValueError(FORMAT_ERROR)
    if not _SUFFIX.match(suffix):
        raise ValueError(FORMAT_ERROR)
    digits = int((whole or "") + (fraction or ""))
    places = len(fraction or "")
    if suffix in _BINARY and suffix:
        family, scaled = "binary", digits * NANO * (1 << _BINARY[suffix])
    elif suffix in _DECIMAL:
        family, scaled = "decimal", digits * 10 ** (9 + _DECIMAL[suffix])
    else:
        exponent = _EXPONENT.match(suffix)
        if exponent is None:
            raise ValueError(SUFFIX_ERROR)
        power = 9 + int(exponent.group(1))
        if abs(power) > 60:
            raise ValueError(SUFFIX_ERROR)
        family = "exponent"
        if power < 0:
            places -= power
            power = 0
        scaled = digits * 10**power
    nano = -(-scaled // 10**places)  # finer than nano rounds up, away from zero
    return (-nano if sign == "-" else nano), family


def _text(value: str | int | float) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        raise ValueError(FORMAT_ERROR)
    return str(value) if isinstance(value, int) else repr(value)


def nano(value: str | int | float) -> int:
    """Nano-units of a quantity. Raises ValueError with the text of ``resource.ParseQuantity``."""
    return _parse(_text(value))[0]


def milli(value: str | int | float) -> int:
    """Thousandths of a unit, rounded up (``Quantity.MilliValue``): ``"0.1"`` CPU is 100."""
    return -(-_parse(_text(value))[0] // 1_000_000)


def whole(value: str | int | float) -> int:
    """Whole units, rounded up (``Quantity.Value``): ``"1Ki"`` is 1024."""
    return -(-_parse(_text(value))[0] // NANO)


def cpu_cores(value: str | int | float) -> float:
    """CPU cores as a float: ``"250m"`` is 0.25."""
    return _parse(_text(value))[0] / NANO


def bytes_(value: str | int | float) -> int:
    """Bytes, rounded up: ``"1Mi"`` is 1048576."""
    return whole(value)


def is_valid(value: object) -> bool:
    """Whether a JSON value is a quantity."""
    try:
        nano(value)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return False
    return True


@lru_cache(maxsize=16384)
def _canonical(text: str) -> str:
    return format_nano(*_parse(text))


def canonical(value: str | int | float) -> str:
    """The text Kubernetes writes back: ``"1000m"`` is ``"1"``, ``"1024Mi"`` is ``"1Gi"``, 2 is ``"2"``.

    Returns the same object when the text is canonical already.
    """
    if isinstance(value, dict | list):
        raise ValueError(FORMAT_ERROR)
    text = _text(value)
    made = _canonical(text)
    return text if made == text else made


def format_nano(amount: int, family: str = "decimal") -> str:
    """The canonical text of nano-units in a family of suffixes (``decimal``, ``binary``, ``exponent``)."""
    if amount == 0:
        return "0"
    sign, size = ("-", -amount) if amount < 0 else ("", amount)
    if family == "binary" and size % NANO == 0 and size >= 1024 * NANO:
        return sign + _format_binary(size // NANO)
    power = -9
    while size % 1000 == 0 and power < 18:
        size //= 1000
        power += 3
    if family == "exponent":
        return f"{sign}{size}e{power}" if power else f"{sign}{size}"
    suffix = next(s for s, p in _DECIMAL.items() if p == power)
    return f"{sign}{size}{suffix}"


def _format_binary(size: int) -> str:
    shift = 0
    while size % 1024 == 0 and shift < 60:
        size //= 1024
        shift += 10
    suffix = next(s for s, p in _BINARY.items() if p == shift)
    return f"{size}{suffix}"


def format_bytes(amount: int) -> str:
    """Bytes as a binary quantity: 1048576 is ``"1Mi"``."""
    return format_nano(amount * NANO, "binary")


def compare(left: str | int | float, right: str | int | float) -> int:
    """-1, 0 or 1 as left is less than, equal to or more than right."""
    a, b = nano(left), nano(right)
    return (a > b) - (a < b)


def add(left: str | int | float, right: str | int | float) -> str:
    """The sum, in the family of the left side (of the right side when the left is zero)."""
    a, family = _parse(_text(left))
    b, other = _parse(_text(right))
    return format_nano(a + b, other if a == 0 else family)


def subtract(left: str | int | float, right: str | int | float) -> str:
    """The difference, in the family of the left side (of the right side when the left is zero)."""
    a, family = _parse(_text(left))
    b, other = _parse(_text(right))
    return format_nano(a - b, other if a == 0 else family)


def is_zero(value: str | int | float) -> bool:
    """Whether the amount is zero."""
    return nano(value) == 0
