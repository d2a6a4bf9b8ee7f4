"""Queries: where rows come from, and what is left of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from typing import Any

from sregym_env.sim.programs.postgres.errors import refuse
from sregym_env.sim.programs.postgres.expressions import (
    Evaluator,
    Field,
    Scope,
    Surroundings,
    aggregated,
    converted,
)
from sregym_env.sim.programs.postgres.tree import (
    Apply,
    Case,
    Cast,
    ColumnRef,
    Expression,
    From,
    Join,
    Literal_,
    Operate,
    Scalar,
    Select,
    Source,
)

MOST_ROWS = 200_000
"""Rows that a query may look at, those of joins multiplied; a real server would take minutes."""

Relation = tuple[tuple[Field, ...], list[tuple[Any, ...]]]
Reader = Callable[[Source, Scope | None, Sequence[Any]], Relation]
"""What reads a table, a view or a function."""


def answer(
    select: Select, read: Reader, around: Surroundings, outer: Scope | None = None, row: Sequence[Any] = ()
) -> Relation:
    """The output columns of a query, and its rows. Raises Refused."""
    if select.values:
        evaluator = Evaluator(Scope((), outer, tuple(row)), around)
        rows = [tuple(evaluator.value(each, ()) for each in values) for values in select.values]
        kinds = [evaluator.type(each) for each in select.values[0]]
        fields = tuple(Field("", f"column{index}", kind) for index, kind in enumerate(kinds, 1))
        return fields, _limited(select, rows, evaluator)
    fields, rows = _from(select.source, read, around, outer, row)
    around.spend(len(rows) + 1)
    evaluator = Evaluator(Scope(fields, outer, tuple(row)), around)
    if select.where is not None:
        rows = [each for each in rows if evaluator.value(select.where, each) is True]
    items = _expanded(select.items, fields)
    names = tuple(Field("", name or _name(each), evaluator.type(each)) for each, name in items)
    grouped = bool(select.group) or any(aggregated(each) for each, _ in items) or select.having is not None
    if not rows and not grouped:
        # Names are resolved where there is nothing to evaluate them on, too.
        _checked(items, evaluator)
    orders = [_ordered(order.key, items, names) for order in select.order]
    made: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = []
    if grouped:
        for group in _groups(select, rows, evaluator, items):
            first = group[0] if group else (None,) * len(fields)
            if select.having is not None and evaluator.value(select.having, first, group) is not True:
                continue
            out = tuple(evaluator.value(each, first, group) for each, _ in items)
            made.append((out, tuple(evaluator.value(key, first, group) for key in orders)))
    else:
        for each in rows:
            out = tuple(evaluator.value(item, each) for item, _ in items)
            made.append((out, tuple(evaluator.value(key, each) for key in orders)))
    for index in reversed(range(len(orders))):
        order = select.order[index]
        made.sort(key=cmp_to_key(_comparing(index, order.descending, order.nulls_first)))
    rows = [out for out, _ in made]
    if select.distinct:
        rows = list(dict.fromkeys(rows))
    rows = _limited(select, rows, evaluator)
    if select.union is not None:
        rows += answer(select.union, read, around, outer, row)[1]
    return names, rows


def _comparing(index: int, descending: bool, nulls_first: bool) -> Callable[[Any, Any], int]:
    def compare(one: Any, other: Any) -> int:
        left, right = one[1][index], other[1][index]
        if left is None or right is None:
            if left is right:
                return 0
            return -1 if (left is None) == nulls_first else 1
        if left == right:
            return 0
        return -1 if (left < right) != descending else 1

    return compare


def _limited(select: Select, rows: list[tuple[Any, ...]], evaluator: Evaluator) -> list[tuple[Any, ...]]:
    start = _bound(select.offset, "OFFSET", "2201X", evaluator) or 0
    count = _bound(select.limit, "LIMIT", "2201W", evaluator)
    return rows[start:] if count is None else rows[start : start + count]


def _bound(given: Expression | None, word: str, code: str, evaluator: Evaluator) -> int | None:
    """A number of rows; None where there is no bound."""
    if given is None:
        return None
    if isinstance(given, ColumnRef):
        raise refuse("42P10", f"argument of {word} must not contain variables", position=given.position)
    plain = Evaluator(Scope((), evaluator.scope.outer, evaluator.scope.outer_row), evaluator.around)
    number = converted(plain.value(given, ()), "bigint")
    if number is not None and number < 0:
        raise refuse(code, f"{word} must not be negative")
    return None if number is None else int(number)


def _checked(items: Sequence[tuple[Expression, str]], evaluator: Evaluator) -> None:
    blank = (None,) * len(evaluator.scope.fields)
    for each, _ in items:
        if isinstance(each, ColumnRef):
            evaluator.value(each, blank)


def _expanded(
    items: Sequence[tuple[Expression, str]], fields: tuple[Field, ...]
) -> list[tuple[Expression, str]]:
    """The items with ``*`` written out."""
    found: list[tuple[Expression, str]] = []
    for each, name in items:
        if isinstance(each, ColumnRef) and each.name == "*":
            if not fields:
                raise refuse(
                    "42601", "SELECT * with no tables specified is not valid", position=each.position
                )
            if each.table and not any(field.table == each.table for field in fields):
                raise refuse(
                    "42P01", f'missing FROM-clause entry for table "{each.table}"', position=each.position
                )
            found += [
                (ColumnRef(field.name, field.table), field.name)
                for field in fields
                if not each.table or field.table == each.table
            ]
        else:
            found.append((each, name))
    return found


def _name(expression: Expression) -> str:
    """The name that an output column gets by itself."""
    match expression:
        case ColumnRef(name):
            return name
        case Apply(name):
            return name
        case Cast(operand, kind):
            return (
                _name(operand)
                if isinstance(operand, (ColumnRef, Apply))
                else _SHORT.get(kind, kind.partition("(")[0])
            )
        case Case():
            return "case"
        case Scalar(select, exists):
            return "exists" if exists else _name(select.items[0][0]) if select.items else "?column?"
    return "?column?"


_SHORT = {"integer": "int4", "bigint": "int8", "boolean": "bool", "smallint": "int2"}


def _ordered(key: Expression, items: Sequence[tuple[Expression, str]], names: Sequence[Field]) -> Expression:
    """What a key of ``ORDER BY`` means: an output column by place or name, or an expression."""
    if isinstance(key, Literal_) and isinstance(key.value, int):
        if not 0 < key.value <= len(items):
            raise refuse("42P10", f"ORDER BY position {key.value} is not in select list")
        return items[key.value - 1][0]
    if isinstance(key, ColumnRef) and not key.table:
        for (each, given), field in zip(items, names, strict=True):
            if given == key.name or (field.name == key.name and not isinstance(each, ColumnRef)):
                return each
    return key


def _groups(
    select: Select, rows: list[tuple[Any, ...]], evaluator: Evaluator, items: Sequence[tuple[Expression, str]]
) -> list[list[tuple[Any, ...]]]:
    keys = [_group_key(key, items) for key in select.group]
    for each, _ in items:
        if isinstance(each, ColumnRef) and not any(
            isinstance(key, ColumnRef) and key.name == each.name for key in keys
        ):
            name = f"{each.table}.{each.name}" if each.table else each.name
            index = evaluator.scope.find(each)
            if index is None:
                evaluator.value(each, ())
            elif not each.table:
                name = f"{evaluator.scope.fields[index].table}.{each.name}"
            raise refuse(
                "42803", f'column "{name}" must appear in the GROUP BY clause or be used in an aggregate function',
                position=each.position,
            )  # fmt: skip
    if not keys:
        return [rows]
    found: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for row in rows:
        found.setdefault(tuple(evaluator.value(key, row) for key in keys), []).append(row)
    return list(found.values())


def _group_key(key: Expression, items: Sequence[tuple[Expression, str]]) -> Expression:
    if isinstance(key, Literal_) and isinstance(key.value, int) and 0 < key.value <= len(items):
        return items[key.value - 1][0]
    if isinstance(key, ColumnRef) and not key.table:
        for each, name in items:
            if name == key.name and not aggregated(each):
                return each
    return key


def _from(
    source: From | None, read: Reader, around: Surroundings, outer: Scope | None, row: Sequence[Any]
) -> Relation:
    if source is None:
        return (), [()]
    if isinstance(source, Source):
        return read(source, outer, row)
    return _joined(source, read, around, outer, row)


def _joined(
    join: Join, read: Reader, around: Surroundings, outer: Scope | None, row: Sequence[Any]
) -> Relation:
    left_fields, left = _from(join.left, read, around, outer, row)
    right_fields, right = read(join.right, outer, row)
    fields = left_fields + right_fields
    if len(left) * len(right) > MOST_ROWS:
        raise refuse(
            "53200",
            "out of memory",
            detail='Failed on request of size 8388608 in memory context "ExecutorState".',
        )
    on = join.on
    if join.using:
        conditions: list[Expression] = []
        for name in join.using:
            first = next((field for field in left_fields if field.name == name), None)
            if first is None:
                raise refuse(
                    "42703", f'column "{name}" specified in USING clause does not exist in left table'
                )
            other = right_fields[0].table if right_fields else ""
            conditions.append(Operate("=", (ColumnRef(name, first.table), ColumnRef(name, other))))
        on = conditions[0]
        for each in conditions[1:]:
            on = Operate("and", (on, each))
    around.spend(len(left) * len(right))
    evaluator = Evaluator(Scope(fields, outer, tuple(row)), around)
    rows: list[tuple[Any, ...]] = []
    for one in left:
        matched = False
        for other_row in right:
            both = one + other_row
            if on is None or evaluator.value(on, both) is True:
                matched = True
                rows.append(both)
        if join.kind == "left" and not matched:
            rows.append(one + (None,) * len(right_fields))
    return fields, rows
