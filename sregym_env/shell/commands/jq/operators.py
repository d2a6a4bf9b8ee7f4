"""What jq's operators do to values: indexing, arithmetic, comparison, setting and deleting paths, formats."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote as percent

from sregym_env.runtime import effort
from sregym_env.shell.commands.jq.values import (
    JqError,
    clipped,
    described,
    dump,
    number,
    rank,
    same,
    text_of,
    type_name,
)
from sregym_env.shell.limits import MemoryExceeded

COPY_EFFORT = 0.004
"""What a character or a member that is copied costs (units of ``runtime/effort.py``)."""
FORMAT_EFFORT = 0.05
"""What a character costs that is written in another way."""

LONGEST = 8 * 1024 * 1024
"""Characters in one string and items in one array."""


def indexed(value: Any, key: Any) -> Any:
    """``value[key]``. Raises JqError."""
    if isinstance(key, str):
        if isinstance(value, dict):
            return value.get(key)
        if value is None:
            return None
        raise JqError(f'Cannot index {type_name(value)} with "{key}"')
    if isinstance(key, bool) or key is None:
        if value is None and key is None:
            return None
        raise JqError(f"Cannot index {type_name(value)} with {type_name(key)}")
    if isinstance(key, int | float):
        if isinstance(value, list):
            index = math.floor(key)
            return value[index] if -len(value) <= index < len(value) else None
        if value is None:
            return None
        raise JqError(f"Cannot index {type_name(value)} with number")
    if isinstance(key, dict) and "start" in key:
        return sliced(value, key.get("start"), key.get("end"))
    if isinstance(key, list) and isinstance(value, list):
        return positions(value, key)
    raise JqError(f"Cannot index {type_name(value)} with {type_name(key)}")


def positions(value: list[Any], part: list[Any]) -> list[int]:
    """Where a list begins in another."""
    if not part:
        return []
    return [i for i in range(len(value) - len(part) + 1) if same(value[i : i + len(part)], part)]


def _bounds(length: int, start: Any, stop: Any) -> tuple[int, int]:
    for bound in (start, stop):
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int | float)):
            raise JqError("Start and end indices of an array slice must be numbers")
    low = 0 if start is None else math.floor(start)
    high = length if stop is None else math.ceil(stop)
    low = max(low + length, 0) if low < 0 else min(low, length)
    high = max(high + length, 0) if high < 0 else min(high, length)
    return low, max(low, high)


def sliced(value: Any, start: Any, stop: Any) -> Any:
    """``value[start:stop]``. Raises JqError."""
    if value is None:
        return None
    if not isinstance(value, list | str):
        raise JqError(f"Cannot index {type_name(value)} with object")
    low, high = _bounds(len(value), start, stop)
    return value[low:high]


def items(value: Any) -> Iterable[tuple[Any, Any]]:
    """The keys and members that ``.[]`` goes over. Raises JqError."""
    if isinstance(value, list):
        return enumerate(value)
    if isinstance(value, dict):
        return value.items()
    raise JqError(
        f"Cannot iterate over {type_name(value)}" + ("" if value is None else f" ({clipped(value)})")
    )


def arithmetic(operator: str, left: Any, right: Any) -> Any:
    """``+ - * / %``. Raises JqError."""
    plain = type(left) in (int, float) and type(right) in (int, float)
    if plain:
        match operator:
            case "+":
                return number(left + right)
            case "-":
                return number(left - right)
            case "*":
                return number(float(left) * right if abs(left) > 1e15 or abs(right) > 1e15 else left * right)
    match operator:
        case "+":
            return _sum(left, right)
        case "-":
            if isinstance(left, list) and isinstance(right, list):
                gone = [rank(item) for item in right]
                return [item for item in left if rank(item) not in gone]
        case "*":
            return _product(left, right)
        case "/":
            return _quotient(left, right, plain)
        case "%" if plain:
            low, high = _truncated(left), _truncated(right)
            if high == 0:
                raise JqError(
                    f"{described(left)} and {described(right)} cannot be divided because the divisor is zero"
                )
            return int(math.copysign(abs(low) % abs(high), low))
    spoken = {"-": "subtracted", "%": "divided"}[operator]
    raise JqError(f"{described(left)} and {described(right)} cannot be {spoken}")


def _truncated(value: float) -> int:
    return int(max(min(value, 9e18), -9e18))


def _sum(left: Any, right: Any) -> Any:
    if left is None:
        return right
    if right is None:
        return left
    if type(left) is type(right) and isinstance(left, str | list):
        if len(left) + len(right) > LONGEST:
            raise MemoryExceeded("jq: error: cannot allocate memory")
        effort.spend(COPY_EFFORT * (len(left) + len(right)))
        total: Any = left + right
        return total
    if isinstance(left, dict) and isinstance(right, dict):
        effort.spend(10 * COPY_EFFORT * (len(left) + len(right)))
        return {**left, **right}
    raise JqError(f"{described(left)} and {described(right)} cannot be added")


def _product(left: Any, right: Any) -> Any:
    if isinstance(left, dict) and isinstance(right, dict):
        merged = dict(left)
        for key, value in right.items():
            old = merged.get(key)
            merged[key] = _product(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
        return merged
    if isinstance(right, str) and type(left) in (int, float):
        left, right = right, left
    if isinstance(left, str) and type(right) in (int, float):
        if right <= 0:
            return None
        times = max(math.ceil(right), 1)
        if times * len(left) > LONGEST:
            raise MemoryExceeded("jq: error: cannot allocate memory")
        return left * times
    raise JqError(f"{described(left)} and {described(right)} cannot be multiplied")


def _quotient(left: Any, right: Any, plain: bool) -> Any:
    if plain:
        if right == 0:
            raise JqError(
                f"{described(left)} and {described(right)} cannot be divided because the divisor is zero"
            )
        return number(left / right)
    if isinstance(left, str) and isinstance(right, str):
        return split(left, right)
    raise JqError(f"{described(left)} and {described(right)} cannot be divided")


def split(text: str, separator: str) -> list[str]:
    """``split/1``: the parts between a fixed text."""
    if not text:
        return []
    return list(text) if not separator else text.split(separator)


def compared(operator: str, left: Any, right: Any) -> bool:
    """``== != < <= > >=``."""
    if operator == "==":
        return same(left, right)
    if operator == "!=":
        return not same(left, right)
    if type(left) is type(right) and isinstance(left, str | int):
        a, b = left, right
    else:
        a, b = rank(left), rank(right)
    match operator:
        case "<":
            return bool(a < b)
        case "<=":
            return bool(a <= b)
        case ">":
            return bool(a > b)
    return bool(a >= b)


def placed(value: Any, path: list[Any], at: int, change: Callable[[Any], Any]) -> Any:
    """A copy of ``value`` whose member at ``path[at:]`` is changed. Raises JqError."""
    if at == len(path):
        return change(value)
    key = path[at]
    if isinstance(key, str):
        if value is not None and not isinstance(value, dict):
            raise JqError(f'Cannot index {type_name(value)} with "{key}"')
        members = dict(value or {})
        effort.spend(5 * COPY_EFFORT * len(members))
        members[key] = placed(members.get(key), path, at + 1, change)
        return members
    if isinstance(key, dict):
        if value is not None and not isinstance(value, list):
            raise JqError(f"Cannot update field at object index of {type_name(value)}")
        whole = value or []
        low, high = _bounds(len(whole), key.get("start"), key.get("end"))
        part = placed(whole[low:high] if value is not None else None, path, at + 1, change)
        if not isinstance(part, list):
            raise JqError("A slice of an array can only be assigned another array")
        return [*whole[:low], *part, *whole[high:]]
    if isinstance(key, bool) or not isinstance(key, int | float):
        raise JqError(f"Invalid path component {dump(key)}")
    if value is not None and not isinstance(value, list):
        raise JqError(f"Cannot index {type_name(value)} with number")
    elements = list(value or [])
    effort.spend(COPY_EFFORT * len(elements))
    index = math.floor(key)
    if index < 0:
        index += len(elements)
        if index < 0:
            raise JqError("Out of bounds negative array index")
    if index > LONGEST:
        raise JqError("Array index too large")
    elements.extend([None] * (index + 1 - len(elements)))
    elements[index] = placed(elements[index], path, at + 1, change)
    return elements


def deleted(value: Any, paths: list[list[Any]]) -> Any:
    """A copy of ``value`` without what the paths lead to. Raises JqError."""
    for path in sorted(paths, key=rank, reverse=True):
        if not path:
            return None
        value = _without(value, path, 0)
    return value


def _without(value: Any, path: list[Any], at: int) -> Any:
    key = path[at]
    if value is None:
        return None
    if at + 1 < len(path):
        inner = indexed(value, key)
        if inner is None:
            return value
        return placed(value, [key], 0, lambda old: _without(old, path, at + 1))
    if isinstance(value, dict) and isinstance(key, str):
        return {name: item for name, item in value.items() if name != key}
    if isinstance(value, list) and isinstance(key, dict):
        low, high = _bounds(len(value), key.get("start"), key.get("end"))
        return value[:low] + value[high:]
    if isinstance(value, list) and isinstance(key, int | float):
        index = math.floor(key)
        index += len(value) if index < 0 else 0
        return [item for i, item in enumerate(value) if i != index]
    what = f'field "{key}"' if isinstance(key, str) else f"element {dump(key)}"
    raise JqError(f"Cannot delete {what} of {type_name(value)}")


def written(form: str, value: Any) -> str:
    """A value in a format: ``@csv``, ``@tsv``, ``@json`` ... Raises JqError."""
    text = text_of(value) if form in _ENCODED else ""
    effort.spend(FORMAT_EFFORT * len(text))
    if len(text) > LONGEST:
        raise MemoryExceeded("jq: error: cannot allocate memory")
    match form:
        case "@text":
            return text_of(value)
        case "@json":
            return dump(value)
        case "@csv" | "@tsv" | "@sh":
            return _row(form, value)
        case "@html":
            return text.translate(_HTML)
        case "@uri":
            return percent(text, safe="-_.~")
        case "@base64":
            return base64.b64encode(text.encode("utf-8", "replace")).decode()
        case "@base64d":
            text = text.rstrip("=")
            try:
                return base64.b64decode(text + "=" * (-len(text) % 4), validate=True).decode(
                    "utf-8", "replace"
                )
            except (binascii.Error, ValueError):
                raise JqError(f"{described(value)} is not valid base64 data") from None
    raise JqError(f"{form[1:]} is not a valid format")


_ENCODED = ("@html", "@uri", "@base64", "@base64d")
_HTML = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;", "'": "&apos;", '"': "&quot;"})
_TSV = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _row(form: str, value: Any) -> str:
    if form == "@sh":
        cells = value if isinstance(value, list) else [value]
        return " ".join(_cell(form, cell) for cell in cells)
    if not isinstance(value, list):
        raise JqError(f"{described(value)} cannot be {form[1:]}-formatted, only an array can be")
    return ("," if form == "@csv" else "\t").join(_cell(form, cell) for cell in value)


def _cell(form: str, cell: Any) -> str:
    if isinstance(cell, list | dict):
        spoken = "can not be escaped for shell" if form == "@sh" else f"is not valid in a {form[1:]} row"
        raise JqError(f"{described(cell)} {spoken}")
    if isinstance(cell, str):
        match form:
            case "@sh":
                return "'" + cell.replace("'", "'\\''") + "'"
            case "@csv":
                return '"' + cell.replace('"', '""') + '"'
        return cell.translate(_TSV)
    if cell is None and form != "@sh":
        return ""
    return dump(cell)
