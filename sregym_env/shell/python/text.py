"""Values as text: ``print``, ``format``, ``%``, with bounds on what a width may ask for."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.runtime.numbers import whole
from sregym_env.shell.python.bounds import Budget, Refused
from sregym_env.shell.python.values import MOMENTS, PLAIN

WIDEST = 10_000
"""Columns that a format may ask for."""

_NUMBERS = re.compile(r"\d+")


def shown(budget: Budget, value: Any) -> str:
    """``str(value)``."""
    text = value if isinstance(value, str) else str(budget.weigh(value))
    budget.make(len(text))
    return text


def quoted(budget: Budget, value: Any) -> str:
    """``repr(value)``."""
    text = repr(budget.weigh(value))
    budget.make(len(text))
    return text


def formatted(budget: Budget, value: Any, spec: str, conversion: str | None = None) -> str:
    """``format(value, spec)``."""
    if conversion == "r":
        value = quoted(budget, value)
    elif conversion == "s" or (not spec and not isinstance(value, MOMENTS)):
        value = shown(budget, value)
    elif conversion:
        value = ascii(budget.weigh(value))
    _narrow(spec)
    if type(value) not in PLAIN + MOMENTS and spec:
        raise TypeError(f"unsupported format string passed to {type(value).__name__}.__format__")
    text = format(value, spec)
    budget.make(len(text))
    return text


def _narrow(spec: str) -> None:
    if len(spec) > 200 or any(len(each) > 5 or int(each) > WIDEST for each in _NUMBERS.findall(spec)):
        raise MemoryError


def filled(budget: Budget, template: str, values: Sequence[Any], named: Mapping[str, Any]) -> str:
    """``template.format(*values, **named)``, with fields that are names, numbers and keys."""
    out = []
    auto = 0
    for literal, name, spec, conversion in string.Formatter().parse(template):
        budget.step()
        out.append(literal)
        if name is None:
            continue
        first, *keys = re.split(r"\[([^\]]*)\]", name)
        if "." in name:
            raise Refused("an attribute in a format")
        if not first:
            first, auto = str(auto), auto + 1
        value = values[whole(first, len(values))] if first.isdecimal() else named[first]
        for key in filter(None, keys):
            value = value[whole(key, 1 << 62)] if key.isdecimal() else value[key]
        if "{" in (spec or ""):
            raise Refused("a format within a format")
        out.append(formatted(budget, value, spec or "", conversion))
    text = "".join(out)
    budget.make(len(text))
    return text


def percent(budget: Budget, template: str, value: Any) -> str:
    """``template % value``."""
    if "*" in template:
        raise Refused("a width that is a value")
    for each in re.findall(r"%(?:\([^)]*\))?([^a-zA-Z%]*)", template):
        _narrow(each)
    budget.make(len(template))
    budget.weigh(value)
    text = str(template % value)
    budget.make(len(text))
    return text
