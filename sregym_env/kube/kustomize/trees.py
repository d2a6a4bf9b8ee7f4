"""Changing values deep inside objects, by path copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Change = Callable[[Any], Any]
"""From the old value (None where there is none) to the new one."""


def edit(value: Any, steps: Sequence[str], change: Change, *, create: bool = False) -> Any:
    """The tree with the values at a path changed; every element of a list on the way is entered.

    Without ``create`` a path that does not exist is left alone.
    """
    if isinstance(value, list) and (steps or not create):
        return [edit(item, steps, change, create=create) for item in value] if steps else change(value)
    if not steps:
        return change(value)
    step = steps[0]
    if step.endswith("[]"):
        create_below, step = create and bool(steps[1:]), step[:-2]
        if not isinstance(value, dict) or not isinstance(value.get(step), list):
            return value
        create = create_below
    if value is None and create:
        value = {}
    if not isinstance(value, dict):
        return value
    held = value.get(step)
    if held is None and not create:
        return value
    made = edit(held, steps[1:], change, create=create)
    return value if made is held else {**value, step: made}


def path(text: str) -> tuple[str, ...]:
    """``a/b/c`` as steps."""
    return tuple(text.split("/"))


def merged(more: dict[str, Any]) -> Change:
    """A change that adds these keys to a mapping."""
    return lambda held: {**(held or {}), **more}
