"""The built-in functions of jq 1.6 (and ``ltrimstr``'s younger relatives that agents type)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from sregym_env.runtime import effort
from sregym_env.shell import patterns
from sregym_env.shell.commands.jq.machine import Builtin, Machine, PathBuiltin, Places, Scope, Values
from sregym_env.shell.commands.jq.operators import (
    arithmetic,
    deleted,
    indexed,
    items,
    placed,
    positions,
    split,
    written,
)
from sregym_env.shell.commands.jq.syntax import Node
from sregym_env.shell.commands.jq.values import (
    JqError,
    described,
    documents,
    dump,
    number,
    rank,
    same,
    text_of,
    truthy,
    type_name,
)
from sregym_env.shell.limits import MemoryExceeded

COMPARISON_EFFORT = 0.12
CONTAINMENT_EFFORT = 1.5
"""What it costs to compare two values, and to look for one in another (units of ``runtime/effort.py``)."""

BUILTINS: dict[str, Builtin] = {}
PATHS: dict[str, PathBuiltin] = {}


def _plain(name: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Declare a function of the input alone."""

    def declare(work: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def run(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
            yield work(value)

        BUILTINS[f"{name}/0"] = run
        return work

    return declare


def _with_values(name: str, count: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a function of the input and of values; it is called for every combination of them."""

    def declare(work: Callable[..., Any]) -> Callable[..., Any]:
        def run(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
            def combined(index: int, given: tuple[Any, ...]) -> Values:
                if index < 0:
                    yield work(value, *given)
                    return
                for each in machine.run(arguments[index], value, scope):
                    yield from combined(index - 1, (each, *given))

            yield from combined(count - 1, ())

        BUILTINS[f"{name}/{count}"] = run
        return work

    return declare


def _filter(key: str) -> Callable[[Builtin], Builtin]:
    """Declare a function that runs its arguments itself."""

    def declare(work: Builtin) -> Builtin:
        BUILTINS[key] = work
        return work

    return declare


def _path(key: str) -> Callable[[PathBuiltin], PathBuiltin]:
    def declare(work: PathBuiltin) -> PathBuiltin:
        PATHS[key] = work
        return work

    return declare


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise JqError(f"{described(value)} {what}")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise JqError(f"{described(value)} {what}")
    return value


def _number(value: Any, what: str = "number required") -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise JqError(f"{described(value)} {what}")
    return value


# --- streams ---


@_filter("empty/0")
def _empty(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    return iter(())


@_path("empty/0")
def _empty_places(
    machine: Machine, arguments: tuple[Node, ...], path: list[Any], value: Any, scope: Scope
) -> Places:
    return iter(())


@_filter("error/0")
def _error(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    raise JqError(value)


@_filter("error/1")
def _error_with(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    for message in machine.run(arguments[0], value, scope):
        raise JqError(message)
    return iter(())


@_path("error/1")
def _error_places(
    machine: Machine, arguments: tuple[Node, ...], path: list[Any], value: Any, scope: Scope
) -> Places:
    for message in machine.run(arguments[0], value, scope):
        raise JqError(message)
    return iter(())


@_filter("select/1")
def _select(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    for condition in machine.run(arguments[0], value, scope):
        if truthy(condition):
            yield value


@_path("select/1")
def _select_places(
    machine: Machine, arguments: tuple[Node, ...], path: list[Any], value: Any, scope: Scope
) -> Places:
    for condition in machine.run(arguments[0], value, scope):
        if truthy(condition):
            yield path, value


@_filter("map/1")
def _map(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    found: list[Any] = []
    for _, item in items(value):
        machine.tick()
        found += machine.run(arguments[0], item, scope)
    yield found


@_filter("map_values/1")
def _map_values(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    yield machine.modified(
        ("each", ("identity",)), value, scope, lambda old: machine.run(arguments[0], old, scope)
    )


@_filter("recurse/0")
def _recurse(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    machine.tick()
    yield value
    if isinstance(value, list | dict):
        for _, item in items(value):
            yield from _recurse(machine, arguments, item, scope)


@_path("recurse/0")
def _recurse_places(
    machine: Machine, arguments: tuple[Node, ...], path: list[Any], value: Any, scope: Scope
) -> Places:
    machine.tick()
    yield path, value
    if isinstance(value, list | dict):
        for key, item in items(value):
            yield from _recurse_places(machine, arguments, [*path, key], item, scope)


@_filter("recurse/1")
def _recurse_by(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    machine.tick()
    yield value
    for item in machine.run(arguments[0], value, scope):
        yield from _recurse_by(machine, arguments, item, scope)


@_path("recurse/1")
def _recurse_by_places(
    machine: Machine, arguments: tuple[Node, ...], path: list[Any], value: Any, scope: Scope
) -> Places:
    machine.tick()
    yield path, value
    for inner, item in machine.places(arguments[0], path, value, scope):
        yield from _recurse_by_places(machine, arguments, inner, item, scope)


@_filter("first/1")
def _first_of(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    for found in machine.run(arguments[0], value, scope):
        yield found
        return


@_path("first/1")
def _first_place(
    machine: Machine, arguments: tuple[Node, ...], path: list[Any], value: Any, scope: Scope
) -> Places:
    for found in machine.places(arguments[0], path, value, scope):
        yield found
        return


@_filter("last/1")
def _last_of(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    found = list(machine.run(arguments[0], value, scope))
    return iter(found[-1:])


@_path("last/1")
def _last_place(
    machine: Machine, arguments: tuple[Node, ...], path: list[Any], value: Any, scope: Scope
) -> Places:
    found = list(machine.places(arguments[0], path, value, scope))
    return iter(found[-1:])


@_filter("nth/2")
def _nth_of(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    for index in machine.run(arguments[0], value, scope):
        if _number(index) < 0:
            raise JqError("Out of bounds negative array index")
        for position, found in enumerate(machine.run(arguments[1], value, scope)):
            if position == index:
                yield found
                break


@_filter("limit/2")
def _limit(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    for count in machine.run(arguments[0], value, scope):
        left = _number(count)
        if left <= 0:
            continue
        for found in machine.run(arguments[1], value, scope):
            yield found
            left -= 1
            if left <= 0:
                break


@_filter("until/2")
def _until(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    current = value
    while not truthy(next(machine.run(arguments[0], current, scope), None)):
        machine.tick()
        machine.tick()
        current = next(machine.run(arguments[1], current, scope))
    yield current


@_filter("while/2")
def _while(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    machine.tick()
    for condition in machine.run(arguments[0], value, scope):
        if truthy(condition):
            yield value
            for after in machine.run(arguments[1], value, scope):
                yield from _while(machine, arguments, after, scope)


@_filter("repeat/1")
def _repeat(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    machine.tick()
    yield value
    for after in machine.run(arguments[0], value, scope):
        yield from _repeat(machine, arguments, after, scope)


def _ordered(values: Iterable[Any], key: Callable[[Any], Any] | None = None) -> list[Any]:
    """The values in order, counted."""
    given = list(values)
    effort.spend(COMPARISON_EFFORT * len(given) * len(given).bit_length())
    return sorted(given, key=key)


def _counted(machine: Machine, start: float, stop: float, step: float) -> Iterator[Any]:
    current = start
    while current < stop if step > 0 else current > stop:
        machine.tick()
        yield number(current)
        if step == 0:
            continue
        current += step


@_filter("range/1")
def _range(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    for stop in machine.run(arguments[0], value, scope):
        yield from _counted(machine, 0, _number(stop, "Range bounds must be numeric"), 1)


@_filter("range/2")
def _range_from(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    for start in machine.run(arguments[0], value, scope):
        for stop in machine.run(arguments[1], value, scope):
            yield from _counted(machine, _number(start), _number(stop), 1)


@_filter("range/3")
def _range_by(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    for start in machine.run(arguments[0], value, scope):
        for stop in machine.run(arguments[1], value, scope):
            for step in machine.run(arguments[2], value, scope):
                yield from _counted(machine, _number(start), _number(stop), _number(step))


@_filter("any/2")
def _any_of(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    yield any(
        truthy(found)
        for item in machine.run(arguments[0], value, scope)
        for found in machine.run(arguments[1], item, scope)
    )


@_filter("all/2")
def _all_of(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    yield all(
        truthy(found)
        for item in machine.run(arguments[0], value, scope)
        for found in machine.run(arguments[1], item, scope)
    )


_EACH: Node = ("each", ("identity",))


@_filter("any/1")
def _any_by(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    return _any_of(machine, (_EACH, arguments[0]), value, scope)


@_filter("all/1")
def _all_by(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    return _all_of(machine, (_EACH, arguments[0]), value, scope)


@_filter("isempty/1")
def _is_empty(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    missing = object()
    yield next(machine.run(arguments[0], value, scope), missing) is missing


@_filter("add/1")
def _add_of(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    yield _added(list(machine.run(arguments[0], value, scope)))


@_filter("input/0")
def _input(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    missing = object()
    found = next(machine.inputs, missing)
    if found is missing:
        raise JqError("No more inputs")
    yield found


@_filter("inputs/0")
def _inputs(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    return machine.inputs


@_filter("env/0")
def _env(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    yield machine.environment


@_filter("now/0")
def _now(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    yield number(machine.now)


@_filter("debug/0")
def _debug(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    yield value


BUILTINS["stderr/0"] = _debug


@_filter("input_line_number/0")
def _input_line_number(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    yield 0


# --- paths ---


@_filter("path/1")
def _paths_of(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    for path, _ in machine.places(arguments[0], [], value, scope):
        yield path


@_filter("paths/0")
def _all_paths(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    for path, _ in _recurse_places(machine, (), [], value, scope):
        if path:
            yield path


@_filter("paths/1")
def _chosen_paths(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    for path, item in _recurse_places(machine, (), [], value, scope):
        if path and any(truthy(found) for found in machine.run(arguments[0], item, scope)):
            yield path


@_filter("leaf_paths/0")
def _leaf_paths(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    for path, item in _recurse_places(machine, (), [], value, scope):
        if path and not isinstance(item, list | dict):
            yield path


@_with_values("getpath", 1)
def _get_path(value: Any, path: Any) -> Any:
    for key in _list(path, "Path must be specified as an array"):
        if value is None:
            return None
        value = indexed(value, key)
    return value


@_path("getpath/1")
def _get_path_places(
    machine: Machine, arguments: tuple[Node, ...], path: list[Any], value: Any, scope: Scope
) -> Places:
    for keys in machine.run(arguments[0], value, scope):
        try:
            found = _get_path(value, keys)
        except JqError:
            found = None
        yield [*path, *keys], found


@_with_values("setpath", 2)
def _set_path(value: Any, path: Any, given: Any) -> Any:
    return placed(value, _list(path, "Path must be specified as an array"), 0, lambda _: given)


@_with_values("delpaths", 1)
def _delete_paths(value: Any, paths: Any) -> Any:
    return deleted(value, _list(paths, "Paths must be specified as an array"))


@_filter("del/1")
def _delete(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    yield deleted(value, [path for path, _ in machine.places(arguments[0], [], value, scope)])


@_filter("to_entries/0")
def _to_entries(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    if not isinstance(value, dict | list):
        raise JqError(f"{described(value)} has no keys")
    yield [{"key": key, "value": item} for key, item in items(value)]


@_plain("from_entries")
def _from_entries(value: Any) -> Any:
    found: dict[str, Any] = {}
    for _, entry in items(value):
        key: Any = None
        for name in ("key", "k", "name", "Name", "Key", "K"):
            key = indexed(entry, name)
            if key is not None and key is not False:
                break
        if isinstance(key, bool | int | float) or key is None:
            key = dump(key)
        item = next((entry[name] for name in ("value", "v", "Value", "V") if name in entry), None)
        found[_text(key, "cannot be used as an object key")] = item
    return found


@_filter("with_entries/1")
def _with_entries(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    entries = next(_to_entries(machine, (), value, scope))
    found: list[Any] = []
    for entry in entries:
        found += machine.run(arguments[0], entry, scope)
    yield _from_entries(found)


@_filter("walk/1")
def _walk(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    machine.tick()
    if isinstance(value, dict):
        inner: dict[str, Any] = {}
        for key in _ordered(value):
            for found in _walk(machine, arguments, value[key], scope):
                inner[key] = found
        value = inner
    elif isinstance(value, list):
        value = [found for item in value for found in _walk(machine, arguments, item, scope)]
    yield from machine.run(arguments[0], value, scope)


# --- arrays and objects ---


@_plain("length")
def _length(value: Any) -> Any:
    if value is None:
        return 0
    if isinstance(value, bool):
        raise JqError(f"{described(value)} has no length")
    return abs(value) if isinstance(value, int | float) else len(value)


@_plain("utf8bytelength")
def _byte_length(value: Any) -> Any:
    return len(_text(value, "only strings have UTF-8 byte length").encode("utf-8", "replace"))


@_plain("keys")
def _keys(value: Any) -> Any:
    if isinstance(value, dict):
        return _ordered(value)
    if isinstance(value, list):
        return list(range(len(value)))
    raise JqError(f"{described(value)} has no keys")


@_plain("keys_unsorted")
def _keys_unsorted(value: Any) -> Any:
    return list(value) if isinstance(value, dict) else _keys(value)


@_with_values("has", 1)
def _has(value: Any, key: Any) -> Any:
    if isinstance(value, dict) and isinstance(key, str):
        return key in value
    if isinstance(value, list) and isinstance(key, int | float) and not isinstance(key, bool):
        return 0 <= key < len(value)
    raise JqError(
        f"Cannot check whether {type_name(value)} has a {'string' if isinstance(key, str) else type_name(key)} key"
    )


@_with_values("in", 1)
def _in(value: Any, container: Any) -> Any:
    return _has(container, value)


@_with_values("contains", 1)
def _contains(value: Any, part: Any) -> Any:
    if isinstance(value, dict) and isinstance(part, dict):
        return all(key in value and _contains_inner(value[key], item) for key, item in part.items())
    if isinstance(value, list) and isinstance(part, list):
        return all(any(_contains_inner(item, wanted) for item in value) for wanted in part)
    if isinstance(value, str) and isinstance(part, str):
        return part in value
    if type_name(value) == type_name(part):
        return same(value, part)
    raise JqError(f"{described(value)} and {described(part)} cannot have their containment checked")


def _contains_inner(value: Any, part: Any) -> bool:
    effort.spend(CONTAINMENT_EFFORT)
    return type_name(value) == type_name(part) and bool(_contains(value, part))


@_with_values("inside", 1)
def _inside(value: Any, whole: Any) -> Any:
    return _contains(whole, value)


@_plain("add")
def _added(value: Any) -> Any:
    members = [item for _, item in items(value)]
    if members and all(isinstance(item, str) for item in members):
        return _joined(members, "")
    if members and all(isinstance(item, list) for item in members):
        return [inner for item in members for inner in item]
    total: Any = None
    for item in members:
        total = arithmetic("+", total, item)
    return total


@_plain("any")
def _any(value: Any) -> Any:
    return any(truthy(item) for _, item in items(value))


@_plain("all")
def _all(value: Any) -> Any:
    return all(truthy(item) for _, item in items(value))


@_plain("sort")
def _sort(value: Any) -> Any:
    return _ordered(_list(value, "cannot be sorted, as it is not an array"), key=rank)


def _ranked(machine: Machine, argument: Node, value: Any, scope: Scope, what: str) -> list[tuple[Any, Any]]:
    return [
        (rank(list(machine.run(argument, item, scope))), item)
        for item in _list(value, f"cannot be {what}, as it is not an array")
    ]


@_filter("sort_by/1")
def _sort_by(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    pairs = _ranked(machine, arguments[0], value, scope, "sorted")
    yield [item for _, item in _ordered(pairs, key=lambda pair: pair[0])]


def _grouped(pairs: list[tuple[Any, Any]]) -> list[list[Any]]:
    groups: list[tuple[Any, list[Any]]] = []
    for key, item in _ordered(pairs, key=lambda pair: pair[0]):
        if groups and groups[-1][0] == key:
            groups[-1][1].append(item)
        else:
            groups.append((key, [item]))
    return [members for _, members in groups]


@_filter("group_by/1")
def _group_by(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    yield _grouped(_ranked(machine, arguments[0], value, scope, "grouped"))


@_filter("unique_by/1")
def _unique_by(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    yield [members[0] for members in _grouped(_ranked(machine, arguments[0], value, scope, "grouped"))]


@_plain("unique")
def _unique(value: Any) -> Any:
    pairs = [(rank(item), item) for item in _list(value, "cannot be sorted, as it is not an array")]
    return [members[0] for members in _grouped(pairs)]


@_filter("min_by/1")
def _min_by(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    pairs = _ranked(machine, arguments[0], value, scope, "iterated over")
    yield min(pairs, key=lambda pair: pair[0])[1] if pairs else None


@_filter("max_by/1")
def _max_by(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    pairs = _ranked(machine, arguments[0], value, scope, "iterated over")
    yield max(reversed(pairs), key=lambda pair: pair[0])[1] if pairs else None


@_plain("min")
def _min(value: Any) -> Any:
    return min(_list(value, "cannot be iterated over"), key=rank, default=None)


@_plain("max")
def _max(value: Any) -> Any:
    return max(reversed(_list(value, "cannot be iterated over")), key=rank, default=None)


@_plain("reverse")
def _reverse(value: Any) -> Any:
    if value is None:
        return []
    if isinstance(value, str):
        return value[::-1]
    return _list(value, "cannot be reversed, as it is not an array")[::-1]


@_plain("first")
def _first(value: Any) -> Any:
    return indexed(value, 0)


@_plain("last")
def _last(value: Any) -> Any:
    return indexed(value, -1)


@_with_values("nth", 1)
def _nth(value: Any, index: Any) -> Any:
    return indexed(value, index)


for _name, _key in (("first/0", 0), ("last/0", -1)):

    def _end_places(
        machine: Machine,
        arguments: tuple[Node, ...],
        path: list[Any],
        value: Any,
        scope: Scope,
        key: int = _key,
    ) -> Places:
        yield [*path, key], indexed(value, key)

    PATHS[_name] = _end_places


def _flat(value: list[Any], depth: float) -> list[Any]:
    found: list[Any] = []
    for item in value:
        if isinstance(item, list) and depth > 0:
            found += _flat(item, depth - 1)
        else:
            found.append(item)
    return found


@_plain("flatten")
def _flatten(value: Any) -> Any:
    return _flat(_list(value, "cannot be flattened"), math.inf)


@_with_values("flatten", 1)
def _flatten_to(value: Any, depth: Any) -> Any:
    if _number(depth) < 0:
        raise JqError("flatten depth must not be negative")
    return _flat(_list(value, "cannot be flattened"), depth)


@_plain("transpose")
def _transpose(value: Any) -> Any:
    rows = _list(value, "cannot be transposed")
    width = max(map(len, rows), default=0)
    return [[row[i] if i < len(row) else None for row in rows] for i in range(width)]


@_filter("combinations/0")
def _combinations(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    machine.tick()
    if not value:
        yield []
        return
    for head in value[0]:
        for tail in _combinations(machine, arguments, value[1:], scope):
            yield [head, *tail]


@_with_values("indices", 1)
def _indices(value: Any, part: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, str) and isinstance(part, str):
        return [i for i in range(len(value)) if part and value.startswith(part, i)]
    if isinstance(value, list):
        return positions(value, part if isinstance(part, list) else [part])
    raise JqError(f"Cannot determine indices of {type_name(part)} in {type_name(value)}")


BUILTINS["_indices/1"] = BUILTINS["indices/1"]


@_with_values("index", 1)
def _index(value: Any, part: Any) -> Any:
    found = _indices(value, part)
    return found[0] if found else None


@_with_values("rindex", 1)
def _last_index(value: Any, part: Any) -> Any:
    found = _indices(value, part)
    return found[-1] if found else None


@_filter("IN/1")
def _is_in(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    yield any(same(value, each) for each in machine.run(arguments[0], value, scope))


@_filter("IN/2")
def _is_in_both(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    known = [rank(each) for each in machine.run(arguments[1], value, scope)]
    yield any(rank(each) in known for each in machine.run(arguments[0], value, scope))


@_filter("INDEX/1")
def _index_by(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    found: dict[str, Any] = {}
    for _, item in items(value):
        for key in machine.run(arguments[0], item, scope):
            found[text_of(key)] = item
    yield found


@_filter("INDEX/2")
def _index_stream(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    found: dict[str, Any] = {}
    for item in machine.run(arguments[0], value, scope):
        for key in machine.run(arguments[1], item, scope):
            found[text_of(key)] = item
    yield found


# --- kinds ---


@_plain("type")
def _type(value: Any) -> Any:
    return type_name(value)


@_plain("not")
def _not(value: Any) -> Any:
    return not truthy(value)


def _kinds() -> None:
    tests: dict[str, Callable[[Any], bool]] = {
        "values": lambda value: value is not None,
        "nulls": lambda value: value is None,
        "booleans": lambda value: isinstance(value, bool),
        "numbers": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
        "strings": lambda value: isinstance(value, str),
        "arrays": lambda value: isinstance(value, list),
        "objects": lambda value: isinstance(value, dict),
        "iterables": lambda value: isinstance(value, list | dict),
        "scalars": lambda value: not isinstance(value, list | dict),
    }
    for name, test in tests.items():

        def run(
            machine: Machine,
            arguments: tuple[Node, ...],
            value: Any,
            scope: Scope,
            test: Callable[[Any], bool] = test,
        ) -> Values:
            if test(value):
                yield value

        def places(
            machine: Machine,
            arguments: tuple[Node, ...],
            path: list[Any],
            value: Any,
            scope: Scope,
            test: Callable[[Any], bool] = test,
        ) -> Places:
            if test(value):
                yield path, value

        BUILTINS[f"{name}/0"] = run
        PATHS[f"{name}/0"] = places


_kinds()


# --- texts ---


@_plain("tostring")
def _to_string(value: Any) -> Any:
    return text_of(value)


@_plain("tojson")
def _to_json(value: Any) -> Any:
    return dump(value)


@_plain("fromjson")
def _from_json(value: Any) -> Any:
    found, wrong = documents(_text(value, "only strings can be parsed"))
    if wrong:
        raise JqError(f"{wrong.removeprefix('parse error: ')} (while parsing '{value}')")
    return found[0] if found else None


@_plain("tonumber")
def _to_number(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    text = _text(value, "cannot be parsed as a number")
    if not re.fullmatch(r"\s*-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*", text):
        raise JqError(
            f"Invalid numeric literal at EOF at line 1, column {len(text)} (while parsing '{text}')"
        )
    return number(float(text))


@_with_values("split", 1)
def _split(value: Any, separator: Any) -> Any:
    if not isinstance(value, str) or not isinstance(separator, str):
        raise JqError("split input and separator must be strings")
    return split(value, separator)


def _joined(parts: list[str], separator: str) -> str:
    if sum(map(len, parts)) + len(separator) * len(parts) > 8_000_000:
        raise MemoryExceeded("jq: error: cannot allocate memory")
    return separator.join(parts)


@_with_values("join", 1)
def _join(value: Any, separator: Any) -> Any:
    parts: list[str] = []
    for _, item in items(value):
        if isinstance(item, list | dict):
            raise JqError(f'string ("") and {described(item)} cannot be added')
        parts.append("" if item is None else text_of(item))
    return _joined(parts, _text(separator, "cannot be a separator"))


@_plain("ascii_downcase")
def _downcase(value: Any) -> Any:
    text = _text(value, "explode input must be a string")
    return "".join(char.lower() if char.isascii() else char for char in text)


@_plain("ascii_upcase")
def _upcase(value: Any) -> Any:
    text = _text(value, "explode input must be a string")
    return "".join(char.upper() if char.isascii() else char for char in text)


@_with_values("startswith", 1)
def _starts_with(value: Any, prefix: Any) -> Any:
    if not isinstance(value, str) or not isinstance(prefix, str):
        raise JqError("startswith() requires string inputs")
    return value.startswith(prefix)


@_with_values("endswith", 1)
def _ends_with(value: Any, suffix: Any) -> Any:
    if not isinstance(value, str) or not isinstance(suffix, str):
        raise JqError("endswith() requires string inputs")
    return value.endswith(suffix)


@_with_values("ltrimstr", 1)
def _left_trimmed(value: Any, prefix: Any) -> Any:
    return value.removeprefix(prefix) if isinstance(value, str) and isinstance(prefix, str) else value


@_with_values("rtrimstr", 1)
def _right_trimmed(value: Any, suffix: Any) -> Any:
    return (
        value.removesuffix(suffix) if isinstance(value, str) and isinstance(suffix, str) and suffix else value
    )


@_plain("trim")
def _trim(value: Any) -> Any:
    return _text(value, "trim input must be a string").strip()


@_plain("ltrim")
def _left_trim(value: Any) -> Any:
    return _text(value, "trim input must be a string").lstrip()


@_plain("rtrim")
def _right_trim(value: Any) -> Any:
    return _text(value, "trim input must be a string").rstrip()


@_plain("explode")
def _explode(value: Any) -> Any:
    return [ord(char) for char in _text(value, "cannot be exploded")]


@_plain("implode")
def _implode(value: Any) -> Any:
    return "".join(chr(int(code) & 0x10FFFF) for code in _list(value, "cannot be imploded"))


@_plain("ascii")
def _ascii(value: Any) -> Any:
    return chr(int(_number(value)) & 0x7F)


@_with_values("format", 1)
def _formatted(value: Any, form: Any) -> Any:
    return written(f"@{form}", value)


# --- regular expressions ---


def _compiled(pattern: Any, flags: Any) -> tuple[Any, bool]:
    if isinstance(pattern, list):
        pattern, flags = pattern[0], pattern[1] if len(pattern) > 1 else flags
    text = _text(pattern, "cannot be matched, as it is not a string")
    letters = "" if flags is None else _text(flags, "is not a string")
    wrong = [letter for letter in letters if letter not in "gimnpslx"]
    if wrong:
        raise JqError(f"{letters} is not a valid modifier string")
    options = (re.IGNORECASE if "i" in letters else 0) | (re.VERBOSE if "x" in letters else 0)
    options |= re.DOTALL if "s" in letters or "p" in letters else 0
    try:
        patterns.count(text)
        return patterns.compiled(text, options), "g" in letters
    except re.error as error:
        raise JqError(f"{text} (at offset 0) is not a valid regex: {error}") from None


MATCH_EFFORT = 3.0
"""What a match and what is made of it cost (units of ``runtime/effort.py``)."""


def _matches(value: Any, pattern: Any, flags: Any, everywhere: bool = False) -> list[Any]:
    subject = _text(value, "cannot be matched, as it is not a string")
    compiled, asked = _compiled(pattern, flags)
    if not (everywhere or asked):
        found = compiled.search(subject)
        return [] if found is None else [found]
    found = []
    for match in compiled.finditer(subject):
        effort.spend(MATCH_EFFORT)
        found.append(match)
    return found


def _described_match(found: Any) -> dict[str, Any]:
    names = {index: name for name, index in found.re.groupindex.items()}
    captures = [
        {
            "offset": found.start(index),
            "length": len(text or ""),
            "string": text,
            "name": names.get(index),
        }
        for index, text in enumerate(found.groups(), 1)
    ]
    return {
        "offset": found.start(),
        "length": found.end() - found.start(),
        "string": found[0],
        "captures": captures,
    }


def _named(found: Any) -> dict[str, Any]:
    return {name: found[index] for name, index in found.re.groupindex.items()}


def _flagged(name: str, work: Callable[[Any, Any, Any], Iterator[Any]]) -> None:
    """Declare ``name/1`` and ``name/2``: a pattern, and its flags if given."""

    def run(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
        for flags in machine.run(arguments[1], value, scope) if len(arguments) > 1 else (None,):
            for pattern in machine.run(arguments[0], value, scope):
                yield from work(value, pattern, flags)

    BUILTINS[f"{name}/1"] = BUILTINS[f"{name}/2"] = run


_flagged("test", lambda value, pattern, flags: iter([bool(_matches(value, pattern, flags))]))
_flagged("match", lambda value, pattern, flags: map(_described_match, _matches(value, pattern, flags)))
_flagged("capture", lambda value, pattern, flags: map(_named, _matches(value, pattern, flags)))
_flagged(
    "scan",
    lambda value, pattern, flags: (
        list(found.groups()) if found.groups() else found[0]
        for found in _matches(value, pattern, flags, True)
    ),
)


def _parts(value: Any, pattern: Any, flags: Any) -> Iterator[str]:
    position = 0
    for found in _matches(value, pattern, flags, True):
        yield value[position : found.start()]
        position = found.end()
    yield value[position:]


_flagged("splits", _parts)


@_with_values("split", 2)
def _split_by(value: Any, pattern: Any, flags: Any) -> Any:
    return list(_parts(value, pattern, flags))


def _substitution(everywhere: bool) -> Builtin:
    def run(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
        for flags in machine.run(arguments[2], value, scope) if len(arguments) > 2 else (None,):
            for pattern in machine.run(arguments[0], value, scope):
                out: list[str] = []
                position = 0
                for found in _matches(value, pattern, flags, everywhere):
                    out.append(value[position : found.start()])
                    for text in machine.run(arguments[1], _named(found), scope):
                        out.append(_text(text, "cannot be added to a string"))
                        break
                    position = found.end()
                yield _joined([*out, value[position:]], "")

    return run


for _count in (2, 3):
    BUILTINS[f"sub/{_count}"] = _substitution(False)
    BUILTINS[f"gsub/{_count}"] = _substitution(True)


# --- numbers and times ---


def _mathematics() -> None:
    functions: dict[str, Callable[[float], float]] = {
        "floor": math.floor,
        "ceil": math.ceil,
        "round": lambda value: math.floor(abs(value) + 0.5) * (-1 if value < 0 else 1),
        "trunc": math.trunc,
        "sqrt": lambda value: math.sqrt(value) if value >= 0 else math.nan,
        "fabs": abs,
        "abs": abs,
        "exp": math.exp,
        "exp10": lambda value: 10.0**value,
        "exp2": lambda value: 2.0**value,
        "log": lambda value: math.log(value) if value > 0 else -math.inf,
        "log2": lambda value: math.log2(value) if value > 0 else -math.inf,
        "log10": lambda value: math.log10(value) if value > 0 else -math.inf,
        "sin": math.sin,
        "cos": math.cos,
        "tan": math.tan,
    }
    for name, work in functions.items():

        def run(value: Any, work: Callable[[float], float] = work) -> Any:
            try:
                return number(work(_number(value)))
            except OverflowError:
                return number(math.inf)

        _plain(name)(run)


_mathematics()


@_with_values("pow", 2)
def _power(value: Any, base: Any, exponent: Any) -> Any:
    try:
        result = float(_number(base)) ** _number(exponent)
    except (OverflowError, ZeroDivisionError):
        return number(math.inf)
    return number(result) if isinstance(result, float) else math.nan


@_plain("infinite")
def _infinite(value: Any) -> Any:
    return number(math.inf)


@_plain("nan")
def _nan(value: Any) -> Any:
    return math.nan


@_plain("isnan")
def _is_nan(value: Any) -> Any:
    return math.isnan(_number(value))


@_plain("isinfinite")
def _is_infinite(value: Any) -> Any:
    return abs(_number(value)) >= 1.7e308


@_plain("isnormal")
def _is_normal(value: Any) -> Any:
    return _number(value) != 0 and not math.isnan(value)


def _moment(value: Any) -> datetime:
    if isinstance(value, list):
        year, month, day, hour, minute, second = (int(part) for part in value[:6])
        return datetime(year, month + 1, day, hour, minute, second, tzinfo=UTC)
    try:
        return datetime.fromtimestamp(math.floor(_number(value, "must be a number")), UTC)
    except (OverflowError, ValueError, OSError):
        raise JqError("error converting number of seconds since epoch to datetime") from None


def _from_text(value: Any, form: str) -> int:
    text = _text(value, "cannot be parsed as a date")
    try:
        return int(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp())
    except (ValueError, re.error):
        raise JqError(f'date "{text}" does not match format "{form}"') from None


_ISO = "%Y-%m-%dT%H:%M:%SZ"


@_plain("todate")
def _to_date(value: Any) -> Any:
    return _moment(value).strftime(_ISO)


@_plain("fromdate")
def _from_date(value: Any) -> Any:
    return _from_text(value, _ISO)


@_plain("gmtime")
def _gmtime(value: Any) -> Any:
    return _broken_down(_moment(value), value)


def _broken_down(moment: datetime, value: Any = 0) -> list[Any]:
    fields = moment.timetuple()
    seconds = number(moment.second + float(value) % 1) if isinstance(value, float) else moment.second
    return [
        moment.year,
        moment.month - 1,
        moment.day,
        moment.hour,
        moment.minute,
        seconds,
        (fields.tm_wday + 1) % 7,
        fields.tm_yday - 1,
    ]


@_plain("mktime")
def _mktime(value: Any) -> Any:
    return int(_moment(_list(value, "mktime requires array of 6 numbers")).timestamp())


@_with_values("strftime", 1)
def _strftime(value: Any, form: Any) -> Any:
    return _moment(value).strftime(_text(form, "strftime/1 requires a string format"))


@_with_values("strptime", 1)
def _strptime(value: Any, form: Any) -> Any:
    return _broken_down(_moment(_from_text(value, form)))


for _alias, _known in (
    ("todateiso8601", "todate"),
    ("fromdateiso8601", "fromdate"),
    ("date", "todate"),
    ("localtime", "gmtime"),
):
    BUILTINS[f"{_alias}/0"] = BUILTINS[f"{_known}/0"]


@_filter("halt/0")
def _halt(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    raise Halt(0, "")


@_filter("halt_error/0")
def _halt_error(machine: Machine, arguments: tuple[Node, ...], value: Any, scope: Scope) -> Values:
    raise Halt(5, value if isinstance(value, str) else dump(value) + "\n")


class Halt(Exception):
    """Ends the run with an exit code and a last message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__()
        self.code = code
        self.message = message
