"""How a service finds a value: in its configuration, its environment, or compiled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.numbers import whole
from sregym_env.sim.processes.context import ProcessContext


@dataclass(frozen=True, slots=True)
class Setting:
    """A key of the configuration file."""

    key: str


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable, with what is taken where it is unset or empty."""

    name: str
    default: str = ""


@dataclass(frozen=True, slots=True)
class Joined:
    """Values one behind the other."""

    parts: tuple[Setting | Variable | str, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """One of the options behind an address, as in ``cache:6379,password=word``."""

    of: Setting | Variable
    name: str


Value = Setting | Variable | Joined | Option | str
"""Text is a value that is compiled in."""

_PUT_IN = re.compile(r"%\{(time|env|config) ?([^ }]*) ?([^}]*)\}")


def config(ctx: ProcessContext) -> Mapping[str, str]:
    """The configuration as the process has read it."""
    found: Mapping[str, str] = ctx.process.state.get("config", {})
    return found


def value(ctx: ProcessContext, of: Value) -> str:
    """A value as the process finds it; empty where it is missing."""
    match of:
        case Setting(key):
            return config(ctx).get(key, "")
        case Variable(name, default):
            return ctx.process.env.get(name) or default
        case Joined(parts):
            return "".join(value(ctx, part) for part in parts)
        case Option(inner, name):
            return dict(part.partition("=")[::2] for part in value(ctx, inner).split(",")[1:]).get(name, "")
    return of


def number(text: str) -> int:
    """A port; 0 for what is none."""
    return int(text) if whole(text, 65536) < 65536 else 0


def filled_in(ctx: ProcessContext, text: str) -> str:
    """A line with its values put in."""
    if "%{" not in text:
        return text

    def put(found: re.Match[str]) -> str:
        kind, name, default = found.groups()
        if kind == "time":
            return rfc3339(ctx.wall())
        if kind == "env":
            return ctx.process.env.get(name, default)
        return config(ctx).get(name, default)

    return _PUT_IN.sub(put, text)


def flattened(document: Any, strings: bool) -> dict[str, str]:
    """A JSON document as keys and texts; nested keys joined by dots, what is no object is empty."""
    if not isinstance(document, dict):
        return {}
    if strings:
        return {key: text for key, text in sorted(document.items()) if isinstance(text, str)}
    found: dict[str, str] = {}
    for key, inner in sorted(document.items()):
        if isinstance(inner, dict):
            found |= {f"{key}.{name}": text for name, text in flattened(inner, strings).items()}
        elif isinstance(inner, bool):
            found[key] = "true" if inner else "false"
        elif isinstance(inner, (str, int, float)):
            found[key] = str(inner)
    return found


def positive(text: str) -> float | None:
    """A number above zero that somebody has written; None where there is none."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0.0 < found < 1e12 else None
