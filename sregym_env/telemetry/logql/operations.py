"""Arithmetic between two samples, as Go's floating point does it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping

LOGICAL = frozenset(("or", "and", "unless"))
COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def _divided(left: float, right: float) -> float:
    if right:
        return left / right
    if not left or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _rest(left: float, right: float) -> float:
    try:
        return math.fmod(left, right)
    except ValueError:
        return math.nan


def _power(left: float, right: float) -> float:
    try:
        return math.pow(left, right)
    except OverflowError:
        return math.inf if left > 0 or not right % 2 else -math.inf
    except ValueError:
        return math.inf if not left else math.nan


ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "%": _rest,
    "^": _power,
}


def scalar(operation: str, left: float, right: float) -> float:
    """Two numbers joined by an operator; comparisons give 1 or 0."""
    if operation in COMPARISONS:
        return float(COMPARISONS[operation](left, right))
    return ARITHMETIC[operation](left, right) if operation in ARITHMETIC else math.nan
