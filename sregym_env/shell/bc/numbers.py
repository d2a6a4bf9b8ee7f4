"""Numbers with a fixed count of decimal places, and how they are written in other bases."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_DOWN, Context, Decimal, localcontext
from math import isqrt
from typing import NamedTuple

LONGEST = 20_000
"""Decimal digits of the longest number."""
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class CalculationError(Exception):
    """What cannot be calculated; its text is what ``bc`` says."""


class Number(NamedTuple):
    """``units`` times ten to the power of ``-scale``."""

    units: int
    scale: int = 0


ZERO, ONE = Number(0), Number(1)


def _checked(number: Number) -> Number:
    if number.units.bit_length() > LONGEST * 10 // 3 or number.scale > LONGEST:
        raise CalculationError("Number too large")
    return number


def rescaled(number: Number, scale: int) -> Number:
    """The number with another count of places; what does not fit is cut off."""
    if scale >= number.scale:
        return _checked(Number(number.units * 10 ** (scale - number.scale), scale))
    return Number(_quotient(number.units, 10 ** (number.scale - scale)), scale)


def _quotient(left: int, right: int) -> int:
    """The quotient, rounded toward zero."""
    found = abs(left) // abs(right)
    return -found if (left < 0) != (right < 0) else found


def _aligned(left: Number, right: Number) -> tuple[int, int, int]:
    scale = max(left.scale, right.scale)
    return rescaled(left, scale).units, rescaled(right, scale).units, scale


def add(left: Number, right: Number, sign: int = 1) -> Number:
    """The sum, or with ``sign`` -1 the difference."""
    one, other, scale = _aligned(left, right)
    return _checked(Number(one + sign * other, scale))


def compare(left: Number, right: Number) -> int:
    """-1, 0 or 1."""
    one, other, _ = _aligned(left, right)
    return (one > other) - (one < other)


def multiply(left: Number, right: Number, scale: int) -> Number:
    """The product with as many places as its factors, or as ``scale`` if that is more."""
    full = left.scale + right.scale
    exact = _checked(Number(left.units * right.units, full))
    return rescaled(exact, min(full, max(scale, left.scale, right.scale)))


def divide(left: Number, right: Number, scale: int) -> Number:
    """The quotient, cut off after ``scale`` places."""
    if not right.units:
        raise CalculationError("Divide by zero")
    shift = scale + right.scale - left.scale
    top = left.units * 10 ** max(shift, 0)
    return _checked(Number(_quotient(top, right.units * 10 ** max(-shift, 0)), scale))


def modulo(left: Number, right: Number, scale: int) -> Number:
    """What :func:`divide` leaves."""
    if not right.units:
        raise CalculationError("Modulo by zero")
    quotient = divide(left, right, scale)
    places = max(left.scale, right.scale + scale)
    product = Number(quotient.units * right.units, quotient.scale + right.scale)
    return rescaled(add(left, product, -1), places)


def power(base: Number, exponent: Number, scale: int) -> Number:
    """The power; the exponent's places are ignored."""
    times = rescaled(exponent, 0).units
    if not times:
        return ONE
    digits = _digits(base) if abs(base.units) > 1 else 1
    if abs(times) * max(digits, base.scale) > LONGEST:
        raise CalculationError("exponent too large in raise")
    raised = Number(base.units ** abs(times), base.scale * abs(times))
    if times < 0:
        return divide(ONE, raised, scale)
    return rescaled(raised, min(raised.scale, max(scale, base.scale)))


def _digits(number: Number) -> int:
    """About how many digits a number has; never too few."""
    return number.units.bit_length() * 302 // 1000 + 1


def root(number: Number, scale: int) -> Number:
    """The square root."""
    if number.units < 0:
        raise CalculationError("Square root of a negative number")
    places = max(scale, number.scale)
    even = rescaled(number, 2 * places)
    return Number(isqrt(even.units), places)


def read(text: str, base: int) -> Number:
    """A number as it is written in a base. A single digit has its own value, others stay below the base."""
    whole, _, fraction = text.partition(".")
    if len(text) > LONGEST:
        raise CalculationError("Number too large")
    if base == 10 and text.replace(".", "").isdecimal():
        # Through Decimal: Python converts no more than 4,300 digits, and those slowly.
        return Number(int(Decimal(whole + fraction)), len(fraction))
    if len(whole) == 1 and not fraction:
        return Number(DIGITS.index(whole))
    units = 0
    for digit in whole:
        units = units * base + min(DIGITS.index(digit), base - 1)
    top, bottom = 0, 1
    for digit in fraction:
        top, bottom = top * base + min(DIGITS.index(digit), base - 1), bottom * base
    part = divide(Number(top), Number(bottom), len(fraction))
    return add(Number(units), part)


def written(number: Number, base: int) -> str:
    """A number as ``bc`` prints it."""
    if not number.units:
        return "0"
    sign = "-" if number.units < 0 else ""
    whole, part = divmod(abs(number.units), 10**number.scale)
    if base == 10:
        digits = _decimal(whole) if whole else ""
        return sign + digits + (f".{_decimal(part).rjust(number.scale, '0')}" if number.scale else "")
    width = len(str(base - 1))
    places: list[int] = []
    while whole:
        whole, digit = divmod(whole, base)
        places.append(digit)
    text = _spelled(reversed(places), base, width, spaced=True)
    if not number.scale:
        return sign + text
    one, fraction, unit = 1, [], 10**number.scale
    while one < unit:
        digit, part = divmod(part * base, unit)
        fraction.append(digit)
        one *= base
    return f"{sign}{text}.{_spelled(fraction, base, width, spaced=False)}"


def _decimal(units: int) -> str:
    with localcontext(Context(prec=LONGEST + 10)):
        return format(Decimal(units), "f")


def _spelled(digits: Iterable[int], base: int, width: int, *, spaced: bool) -> str:
    found = list(digits)
    if base <= 16:
        return "".join(DIGITS[digit] for digit in found)
    text = " ".join(f"{digit:0{width}d}" for digit in found)
    return f" {text}" if spaced and text else text


# --- the library of -l ------------------------------------------------------------------------------


def _exact(number: Number, precision: int) -> Decimal:
    with localcontext(Context(prec=precision)):
        return Decimal(number.units).scaleb(-number.scale)


def _cut(value: Decimal, scale: int) -> Number:
    with localcontext(Context(prec=LONGEST + 10, rounding=ROUND_DOWN)):
        return _checked(Number(int(value.scaleb(scale).to_integral_value(ROUND_DOWN)), scale))


MOST_PLACES = 500
"""Places to which functions of the library are calculated at most."""


def _precision(number: Number, scale: int) -> int:
    if scale > MOST_PLACES or _digits(number) > 2 * MOST_PLACES:
        raise CalculationError("Number too large")
    return scale + 30 + _digits(number)


def exponential(number: Number, scale: int) -> Number:
    """e to the power of the number."""
    precision = _precision(number, scale)
    value = _exact(number, precision)
    if abs(value) > 10_000:
        raise CalculationError("Number too large")
    precision += max(0, int(value / 2)) + 5
    with localcontext(Context(prec=precision)):
        return _cut(value.exp(), scale)


def logarithm(number: Number, scale: int) -> Number:
    """The natural logarithm; for what has none, the lowest number there is room for."""
    if number.units <= 0:
        return rescaled(Number(1 - 10 ** max(scale, 1)), scale)
    with localcontext(Context(prec=_precision(number, scale))):
        found = _cut(_exact(number, _precision(number, scale)).ln(), scale)
    return found if found.units else ZERO


def sine(number: Number, scale: int) -> Number:
    """The sine."""
    found = _cut(_sine(number, scale, 0), scale)
    return found if found.units else ZERO


def cosine(number: Number, scale: int) -> Number:
    """The cosine."""
    return _cut(_sine(number, scale, 1), scale)


def _sine(number: Number, scale: int, quarter: int) -> Decimal:
    precision = _precision(number, scale)
    with localcontext(Context(prec=precision)):
        value = _exact(number, precision)
        half_turn = 4 * _arctangent(Decimal(1))
        value -= 2 * half_turn * (value / (2 * half_turn)).to_integral_value()
        term = value if not quarter else Decimal(1)
        total, step, smallest = term, 1 - quarter, Decimal(10) ** -(precision - 4)
        while abs(term) > smallest:
            step += 2
            term = -term * value * value / (step * (step - 1))
            total += term
        return total


def arctangent(number: Number, scale: int) -> Number:
    """The angle of a slope."""
    precision = _precision(number, scale)
    with localcontext(Context(prec=precision)):
        return _cut(_arctangent(_exact(number, precision)), scale)


def _arctangent(value: Decimal) -> Decimal:
    """By halving the angle until the series is quick; in the current context."""
    halvings = 0
    while abs(value) > Decimal("0.05"):
        value = value / (1 + (1 + value * value).sqrt())
        halvings += 1
    square, raised, total, step = value * value, value, value, 1
    while raised:
        raised = -raised * square
        step += 2
        before = total
        total = total + raised / step
        if total == before:
            break
    return total * Decimal(2**halvings)
