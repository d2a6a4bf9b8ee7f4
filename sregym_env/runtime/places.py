"""Values that every process finds under a name, and that therefore travel by it.

What never changes (control loops, declarations, built-in applications) is not copied with the state that
uses it: pickles and deep copies hold ``module:attribute`` and find the very value that is there.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def found_at(place: str) -> Any:
    """The value at ``module:attribute``. Raises ImportError or AttributeError where there is none."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def reduced(value: object, place: str) -> tuple[Callable[[str], Any], tuple[str]] | None:
    """What ``__reduce__`` returns for a value that lies at ``place``; None where something else lies there."""
    if not place:
        return None
    try:
        found = found_at(place)
    except (ImportError, AttributeError):
        return None
    return (found_at, (place,)) if found is value else None
