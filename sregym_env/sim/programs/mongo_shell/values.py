"""Values of the shell and how it prints them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class Raw:
    """A value printed as it is, e.g. ``ObjectId("...")``."""

    text: str


@dataclass(frozen=True, slots=True)
class Database:
    """``db``."""

    name: str


@dataclass(frozen=True, slots=True)
class Collection:
    """``db.name``."""

    database: str
    name: str


@dataclass(frozen=True, slots=True)
class Admin:
    """``rs``, ``sh`` and other singletons by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Cursor:
    """The result of a query."""

    documents: tuple[Mapping[str, Any], ...]
    is_pretty: bool = False

    def render(self) -> str:
        """The first batch of twenty, as the shell prints it."""
        shown = self.documents[:20]
        lines = [tojson(d, one_line=not self.is_pretty) for d in shown]
        if len(self.documents) > len(shown):
            lines.append('Type "it" for more')
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Method:
    """A method not yet called."""

    target: Any
    name: str


def echo(value: Any, *, one_line: bool = False) -> str:
    """A value as the shell echoes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, Cursor):
        return value.render()
    return tojson(value, one_line=one_line)


def tojson(value: Any, indent: str = "", *, one_line: bool = False) -> str:
    """The legacy shell's ``tojson``: tabs, a blank before and after the colon, numbers in plain notation."""
    match value:
        case Raw():
            return value.text
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return (
                str(value) if abs(value) < 2**31 else f"NumberLong({value})" if value < 2**53 else str(value)
            )
        case float():
            return str(int(value)) if value.is_integer() else repr(value)
        case str():
            return orjson.dumps(value).decode()
        case Mapping():
            return _object(value, indent, one_line)
        case list() | tuple():
            return _array(value, indent, one_line)
    return f"[{type(value).__name__.lower()}]"


def _object(value: Mapping[str, Any], indent: str, one_line: bool) -> str:
    if not value:
        return "{ }" if one_line else "{\n" + indent + "\t\n" + indent + "}" if indent else "{ }"
    if one_line:
        return "{ " + ", ".join(f'"{k}" : {tojson(v, one_line=True)}' for k, v in value.items()) + " }"
    inner = indent + "\t"
    lines = [f'{inner}"{k}" : {tojson(v, inner)}' for k, v in value.items()]
    return "{\n" + ",\n".join(lines) + "\n" + indent + "}"


def _array(value: Sequence[Any], indent: str, one_line: bool) -> str:
    if not value:
        return "[ ]"
    if one_line:
        return "[ " + ", ".join(tojson(v, one_line=True) for v in value) + " ]"
    inner = indent + "\t"
    return "[\n" + ",\n".join(inner + tojson(v, inner) for v in value) + "\n" + indent + "]"


def plain(value: Any) -> Any:
    """A value of the shell as plain JSON."""
    match value:
        case Raw():
            return value.text
        case Mapping():
            return {k: plain(v) for k, v in value.items()}
        case list() | tuple():
            return [plain(v) for v in value]
        case Cursor():
            return [plain(v) for v in value.documents]
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)
