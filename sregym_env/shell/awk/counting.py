"""Whether a program does with every one of some equal records the same, or counts them."""

from __future__ import annotations

from collections.abc import Iterator

from sregym_env.shell.awk.syntax import Node, Program

_PLACE = {"sub": 2, "gsub": 2, "split": 1}
"""Functions that write to one of their arguments, and after how many others that stands."""
_OWN = frozenset(
    (
        "NF",
        "FS",
        "OFS",
        "ORS",
        "SUBSEP",
        "ENVIRON",
        "FILENAME",
        "RSTART",
        "RLENGTH",
        "ARGV",
        "ARGC",
        "CONVFMT",
        "OFMT",
    )
)
"""Variables that hold the same for each of some equal records."""


class _Stateful(Exception):
    """It depends on what came before."""


def totals(program: Program) -> frozenset[str] | None:
    """The variables in which its rules count; None where what they do with a record depends on the records before it."""
    if program.functions:
        return None
    uses: dict[str, list[str]] = {}
    try:
        for start, until, body in program.rules:
            if until is not None:
                return None
            for name, how in (*_chosen(start), *_statement(body)):
                uses.setdefault(name, []).append(how)
    except _Stateful:
        return None
    counting = frozenset(name for name, found in uses.items() if set(found) == {"counted"})
    counting |= {name for name, found in uses.items() if found == ["first"]}
    for name, found in uses.items():
        # What a record leaves is not asked for by the next one: it is written there first.
        if name not in counting and name not in _OWN and set(found) != {"read"} and found[0] != "written":
            return None
        if name in ("NR", "FNR"):
            return None
    return counting


def first_of(pattern: Node | None) -> bool:
    """Whether a pattern is ``!seen[...]++``: it takes the first of some equal records and no other."""
    return pattern is not None and pattern[0] == "not" and pattern[1][:2] == ("step", "+") and pattern[1][3]


def _chosen(pattern: Node | None) -> Iterator[tuple[str, str]]:
    if pattern is not None and first_of(pattern) and pattern[1][2][0] == "item":
        yield from _keys(pattern[1][2])
        yield pattern[1][2][1], "first"
    else:
        yield from _value(pattern)


def _statement(node: Node | None) -> Iterator[tuple[str, str]]:
    """(variable, ``read``, ``written`` or ``counted``) in the order in which it happens."""
    if node is None:
        return
    match node:
        case ("expression", ("step", _, place, _)) if place[0] in ("name", "item"):
            yield from _keys(place)
            yield place[1], "counted"
        case ("expression", ("assign", "+" | "-", place, value)) if place[0] in ("name", "item"):
            yield from _value(value)
            yield from _keys(place)
            yield place[1], "counted"
        case ("expression", value):
            yield from _value(value)
        case ("block", body):
            for each in body:
                yield from _statement(each)
        case ("print" | "printf", values, _, None):
            for each in values:
                yield from _value(each)
        case ("if", condition, then, other):
            yield from _value(condition)
            yield from _statement(then)
            yield from _statement(other)
        case ("while", condition, body):
            yield from _value(condition)
            yield from _statement(body)
        case ("for", first, condition, step, body):
            yield from _statement(first)
            yield from _value(condition)
            yield from _statement(body)
            yield from _statement(step)
        case ("next",) | ("break",) | ("continue",):
            return
        case _:
            raise _Stateful


def _keys(place: Node) -> Iterator[tuple[str, str]]:
    for each in place[2] if place[0] == "item" else ():
        yield from _value(each)


def _value(node: Node | None) -> Iterator[tuple[str, str]]:
    if node is None:
        return
    match node:
        case ("number" | "string" | "regex", _):
            return
        case ("name", name):
            yield name, "read"
        case ("item", name, keys):
            for each in keys:
                yield from _value(each)
            yield name, "read"
        case ("in", keys, name):
            for each in keys:
                yield from _value(each)
            yield name, "read"
        case ("assign", operator, place, value):
            yield from _value(value)
            if place[0] == "field":
                yield from _value(place[1])
                return
            yield from _keys(place)
            yield place[1], "changed" if operator or place[0] == "item" else "written"
        case ("step", _, place, _):
            if place[0] == "field":
                raise _Stateful
            yield from _keys(place)
            yield place[1], "changed"
        case ("builtin", name, arguments):
            if name in ("getline", "rand", "srand", "system", "close", "fflush"):
                raise _Stateful
            for at, each in enumerate(arguments):
                if at == _PLACE.get(name) and each[0] in ("name", "item"):
                    yield from _keys(each)
                    yield each[1], "written" if name == "split" else "changed"
                else:
                    yield from _value(each)
            if name == "match":
                yield "RSTART", "written"
        case ("getline" | "call", *_):
            raise _Stateful
        case (_, *rest):
            for each in rest:
                if isinstance(each, tuple) and each and isinstance(each[0], str):
                    yield from _value(each)
                elif isinstance(each, tuple):
                    for inner in each:
                        yield from _value(inner)
