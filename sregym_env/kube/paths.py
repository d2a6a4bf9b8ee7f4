"""Reading and changing JSON trees by path without mutating them.

A path is a tuple of dictionary keys and list indices. The changing functions copy the containers
along the path and share everything else with the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Path = Sequence[str | int]


def get_in(obj: Any, path: Path, default: Any = None) -> Any:
    """The value at ``path``, or ``default`` where the path leads nowhere (or to a null)."""
    for step in path:
        if isinstance(obj, dict):
            obj = obj.get(step)
        elif isinstance(obj, list) and isinstance(step, int) and -len(obj) <= step < len(obj):
            obj = obj[step]
        else:
            return default
        if obj is None:
            return default
    return obj


def set_in(obj: Any, path: Path, value: Any) -> Any:
    """A tree like ``obj`` with ``value`` at ``path``; missing dictionaries on the way are created.

    A list index may equal the length of the list, which appends. Raises IndexError beyond that and
    TypeError when a step does not fit the container it meets.
    """
    return _set(obj, path, 0, value)


def _set(obj: Any, path: Path, depth: int, value: Any) -> Any:
    if depth == len(path):
        return value
    step = path[depth]
    if isinstance(obj, list):
        if not isinstance(step, int):
            raise TypeError(f"list index must be an integer, not {step!r}")
        items = list(obj)
        if step == len(items):
            items.append(_set(None, path, depth + 1, value))
        else:
            items[step] = _set(items[step], path, depth + 1, value)
        return items
    if obj is None:
        return {step: _set(None, path, depth + 1, value)}
    if not isinstance(obj, dict):
        raise TypeError(f"cannot set {step!r} in a {type(obj).__name__}")
    changed = dict(obj)
    changed[step] = _set(obj.get(step), path, depth + 1, value)
    return changed


def delete_in(obj: Any, path: Path) -> Any:
    """A tree like ``obj`` without the value at ``path``; ``obj`` itself when there is none."""
    if not path:
        return None
    return _delete(obj, path, 0)


def _delete(obj: Any, path: Path, depth: int) -> Any:
    step = path[depth]
    if isinstance(obj, dict):
        if step not in obj:
            return obj
    elif not (isinstance(obj, list) and isinstance(step, int) and -len(obj) <= step < len(obj)):
        return obj
    if depth == len(path) - 1:
        copy = obj.copy()
        del copy[step]
        return copy
    child = obj[step]
    changed_child = _delete(child, path, depth + 1)
    if changed_child is child:
        return obj
    copy = obj.copy()
    copy[step] = changed_child
    return copy


def merged(obj: dict[str, Any] | None, **changes: Any) -> dict[str, Any]:
    """A dictionary like ``obj`` with these keys set."""
    return {**(obj or {}), **changes}
