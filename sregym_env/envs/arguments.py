"""What callers hand to environments, checked by name: a slip is told at once, and not after a thousand episodes of something else."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
import orjson

from sregym_env.errors import UsageError


def flag(name: str, value: Any) -> bool:
    """A bool (Python's or numpy's). Raises UsageError for anything else: the text ``"no"`` would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise UsageError(f"{name} must be true or false, not {value!r}")
    return bool(value)


def number(name: str, value: Any, least: float) -> float:
    """A finite number of at least ``least`` (Python's or numpy's). Raises UsageError for anything else."""
    if not isinstance(value, Real) or isinstance(value, bool) or not isfinite(value) or value < least:
        raise UsageError(f"{name} must be a finite number, at least {least:,}, not {value!r}")
    return float(value)


def whole(name: str, value: Any, least: int) -> int:
    """A whole number of at least ``least`` (Python's or numpy's). Raises UsageError for anything else."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise UsageError(f"{name} must be a whole number, at least {least:,}, not {value!r}")
    return int(value)


def one_of(name: str, value: Any, allowed: tuple[str | None, ...]) -> Any:
    """The value. Raises UsageError where it is none of those that there are."""
    if value not in allowed:
        raise UsageError(f"{name} must be one of {', '.join(filter(None, allowed))}, not {value!r}")
    return value


def word(name: str, value: Any) -> str | None:
    """A text, or None. Raises UsageError for anything else."""
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{name} must be a text, not {value!r}")
    return value


def mapping(name: str, value: Any) -> dict[str, Any]:
    """A mapping, empty for None. Raises UsageError for anything else."""
    if value is not None and not isinstance(value, Mapping):
        raise UsageError(f"{name} must be a mapping, not {value!r}")
    return dict(value or {})


def typed(action: Any) -> str:
    """An action as text: a tool call that is a mapping, or a list of them, as the JSON that it stands for; bytes as UTF-8.

    None, which is the content of a message in which a model said nothing, is an empty text.
    """
    if action is None:
        return ""
    if isinstance(action, bytes | bytearray):
        return action.decode(errors="replace")
    if isinstance(action, Mapping | list | tuple):
        try:
            return orjson.dumps(action).decode()
        except orjson.JSONEncodeError:
            return str(action)
    return str(action)
