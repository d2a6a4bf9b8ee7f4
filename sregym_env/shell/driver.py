"""Runs the interpreter's coroutines to their end without an event loop.

The interpreter is written with ``async`` but never waits for anything once sleeping, timing out and
fetching are the caller's commands; so its coroutines can be driven by hand, and no loop of the caller is
touched.
"""

from __future__ import annotations

import re
from collections.abc import Coroutine
from typing import Any, TypeVar

from just_bash.interpreter import expansion
from just_bash.interpreter.errors import ExecutionLimitError
from just_bash.parser import parser
from just_bash.parser.parser import Parser

T = TypeVar("T")

PARSE_STEPS = 20_000
"""Steps of the parser before a script counts as nonsense; the largest sane one needs a few hundred."""

parser.MAX_PARSE_ITERATIONS = PARSE_STEPS


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends and return its result."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("the interpreter tried to wait for something outside the simulation")


_expand_plain = expansion._expand_subscript_vars


def _expand_subscript(ctx: Any, subscript: str) -> str:
    """Expand ``$(command)`` inside an array subscript by hand; the interpreter would start an event loop."""
    while (start := subscript.find("$(")) >= 0:
        depth, end = 1, start + 2
        while end < len(subscript) and depth:
            depth += {"(": 1, ")": -1}.get(subscript[end], 0)
            end += 1
        if depth:
            break
        inner = drive(ctx.execute_script(Parser().parse(subscript[start + 2 : end - 1])))
        subscript = subscript[:start] + inner.stdout.rstrip("\n") + subscript[end:]
    expanded: str = _expand_plain(ctx, subscript)
    return expanded


expansion._expand_subscript_vars = _expand_subscript

LONGEST_RANGE = 100_000
"""Items of one ``{1..n}``."""

_expand_sequence_plain = expansion._expand_sequence


def _expand_sequence(content: str) -> list[str]:
    """Expand ``start..end[..step]`` in a word unless it would fill the memory."""
    parts = content.split("..")
    if all(_INTEGER.match(part) for part in parts) and len(parts) in (2, 3):
        step = int(parts[2]) if len(parts) == 3 else 1
        if abs(int(parts[1]) - int(parts[0])) // max(abs(step), 1) > LONGEST_RANGE:
            raise ExecutionLimitError(f"{{{content}}}: brace expansion too long", "commands")
    items: list[str] = _expand_sequence_plain(content)
    return items


_INTEGER = re.compile(r"-?\d{1,18}$")
expansion._expand_sequence = _expand_sequence
