"""Durations, sizes and numbers as queries and log lines write them.

Durations are whole nanoseconds. Texts of errors are those of Go's ``strconv`` and ``time``, of Prometheus'
``model.ParseDuration`` and of ``go-humanize``.
"""

from __future__ import annotations

import re

from sregym_env.kube.durations import parse_duration
from sregym_env.kube.status import go_quote

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
MAX_INT64 = 2**63 - 1

_RANGE = re.compile(
    r"(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?\Z", re.ASCII
)
_RANGE_UNITS = (31_536_000_000, 604_800_000, 86_400_000, 3_600_000, 60_000, 1000, 1)
"""Milliseconds of a year, a week, a day, an hour, a minute, a second and a millisecond."""

_SIZES = {"": 1, "b": 1} | {
    f"{letter}{suffix}": base ** (power + 1)
    for power, letter in enumerate("kmgtpe")
    for suffix, base in (("b", 1000), ("", 1000), ("ib", 1024), ("i", 1024))
}
_DIGITS = re.compile(r"[0-9.,]*")
_FLOAT = re.compile(
    r"[+-]?(?:(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan|0x[0-9a-f]*\.?[0-9a-f]*p[+-]?\d+)\Z",
    re.ASCII | re.IGNORECASE,
)
_LONGEST = 400
"""Characters of a number at most; nothing that is measured has more."""


def parse_range(text: str) -> int:
    """Nanoseconds of Prometheus' durations (``1h30m``, ``5d``), whole units in falling order. Raises ValueError."""
    if text == "0":
        return 0
    if not text:
        raise ValueError("empty duration string")
    found = _RANGE.match(text) if len(text) < _LONGEST else None
    if found is None:
        raise ValueError(f"not a valid duration string: {go_quote(text)}")
    total = sum(int(digits) * unit for digits, unit in zip(found.groups("0"), _RANGE_UNITS, strict=True))
    if total * MILLISECOND > MAX_INT64:
        raise ValueError("duration out of range")
    return total * MILLISECOND


def range_text(nanoseconds: int) -> str:
    """A duration as Prometheus prints it: ``1h30m``; ``0s``."""
    rest = nanoseconds // MILLISECOND
    if not rest:
        return "0s"
    out = []
    for letter, unit in zip(("y", "w", "d", "h", "m", "s", "ms"), _RANGE_UNITS, strict=True):
        # 90d is easier to read than 12w6d.
        if letter in "yw" and rest % unit:
            continue
        if rest >= unit:
            out.append(f"{rest // unit}{letter}")
            rest %= unit
    return "".join(out)


def parse_any_duration(text: str) -> int:
    """Nanoseconds of Prometheus' or of Go's durations. Raises ValueError with Go's text."""
    try:
        return parse_range(text)
    except ValueError:
        return parse_go_duration(text)


def parse_go_duration(text: str) -> int:
    """Nanoseconds of a Go duration. Raises ValueError."""
    if len(text) > _LONGEST:
        raise ValueError(f"time: invalid duration {go_quote(text)}")
    value = parse_duration(text)
    if abs(value) > MAX_INT64:
        raise ValueError(f"time: invalid duration {go_quote(text)}")
    return value


def parse_bytes(text: str) -> int:
    """Bytes of ``5kB``, ``1.5 MiB`` or ``17``. Raises ValueError."""
    found = _DIGITS.match(text)
    digits = found[0] if found else ""
    number = parse_float(digits.replace(",", ""))
    unit = text[len(digits) :].strip().lower()
    if unit not in _SIZES:
        raise ValueError(f"unhandled size name: {unit}")
    size = number * _SIZES[unit]
    if not size < 2**64:
        raise ValueError(f"too large: {text}")
    return int(size)


def bytes_text(size: int) -> str:
    """A size as go-humanize prints it, without the space: ``5.0kB``, ``17B``, ``120MB``."""
    if size < 10:
        return f"{size}B"
    value, unit = float(size), "B"
    for unit in ("B", "kB", "MB", "GB", "TB", "PB", "EB"):
        if value < 1000 or unit == "EB":
            break
        value /= 1000
    value = int(value * 10 + 0.5) / 10
    return f"{value:.0f}{unit}" if value >= 10 else f"{value:.1f}{unit}"


def parse_float(text: str) -> float:
    """A number as ``strconv.ParseFloat`` reads it. Raises ValueError."""
    if len(text) > _LONGEST or not _FLOAT.match(text) or "_" in text:
        raise ValueError(f"strconv.ParseFloat: parsing {go_quote(text)}: invalid syntax")
    return float.fromhex(text) if "x" in text.lower() else float(text)


def parse_whole(text: str, function: str = "ParseInt", bits: int = 64) -> int:
    """A whole number as ``strconv`` reads it. Raises ValueError."""
    body = text[1:] if text[:1] in ("+", "-") else text
    if not (body.isascii() and body.isdigit()):
        raise ValueError(f"strconv.{function}: parsing {go_quote(text)}: invalid syntax")
    value = int(text) if len(body.lstrip("0")) < 30 else 10**30
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise ValueError(f"strconv.{function}: parsing {go_quote(text)}: value out of range")
    return value


def float_text(value: float) -> str:
    """A number as ``strconv.FormatFloat(v, 'f', -1, 64)`` prints it, which is how samples are written."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    if value == int(value) and abs(value) < 1e16:
        text = str(int(value))
        return f"-{text}" if text == "0" and str(value)[0] == "-" else text
    text = repr(value)
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    power = int(exponent)
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{whole}{'' if fraction == '0' else fraction}"
    digits = whole + ("" if fraction == "0" else fraction)
    return sign + digits.ljust(power + 1, "0")
