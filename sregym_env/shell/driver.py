"""Runs the interpreter's coroutines to their end without an event loop.

The interpreter is written with ``async`` but never waits for anything once sleeping, timing out and
fetching are the caller's commands; so its coroutines can be driven by hand, and no loop of the caller is
touched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Coroutine
from shlex import quote
from typing import Any, TypeVar

from just_bash.interpreter import expansion
from just_bash.interpreter.errors import ExecutionLimitError
from just_bash.parser import parser
from just_bash.parser.parser import Parser
from just_bash.query_engine import evaluator as jq_evaluator

from sregym_env.shell.files import Clock

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


_call_plain = jq_evaluator.call_builtin


def _call_builtin(value: Any, name: str, args: Any, ctx: Any, evaluate: Any) -> Any:
    """``now`` from the shell's clock, groups in order, entries of arrays; every other function as it is."""
    if name == "now":
        return [Clock.now]
    name = _ALIASES.get(name, name)
    if name in ("@csv", "@sh", "@tsv") and isinstance(value, list):
        return [_row(value, name)]
    if name in ("@sh", "tojson"):
        return [_quoted(value) if name == "@sh" else _compact(value)]
    if name == "to_entries" and isinstance(value, list):
        return [[{"key": index, "value": item} for index, item in enumerate(value)]]
    found = _call_plain(value, name, args, ctx, evaluate)
    if name == "capture" and found == [None]:
        return []
    if name == "group_by" and len(found) == 1 and isinstance(found[0], list):
        return [sorted(found[0], key=lambda group: _rank(evaluate(group[0], args[0], ctx)))]
    return found


_ALIASES = {"fromdateiso8601": "fromdate", "todateiso8601": "todate"}


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _quoted(value: Any) -> str:
    return (
        quote(value)
        if isinstance(value, str) and "'" in value
        else f"'{value}'"
        if isinstance(value, str)
        else _compact(value)
    )


def _row(values: list[Any], form: str) -> str:
    """A list as ``@csv``, ``@tsv`` or ``@sh`` writes it."""
    if form == "@sh":
        return " ".join(map(_quoted, values))
    if form == "@tsv":
        escapes = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
        return "\t".join(
            "" if value is None else value.translate(escapes) if isinstance(value, str) else _compact(value)
            for value in values
        )
    return ",".join(
        ""
        if value is None
        else f'"{value.replace(chr(34), chr(34) * 2)}"'
        if isinstance(value, str)
        else _compact(value)
        for value in values
    )


def _rank(value: Any) -> Any:
    """A key that orders JSON values as jq does."""
    match value:
        case None:
            return (0,)
        case bool():
            return (1 + value,)
        case int() | float():
            return (3, value)
        case str():
            return (4, value)
        case list():
            return (5, [_rank(item) for item in value])
        case _:
            keys = sorted(value)
            return (6, keys, [_rank(value[key]) for key in keys])


jq_evaluator.call_builtin = _call_builtin
