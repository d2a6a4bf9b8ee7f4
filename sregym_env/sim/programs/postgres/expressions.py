"""What expressions are worth: operators, functions and casts of PostgreSQL, on one row or on a group of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, DivisionByZero, InvalidOperation, localcontext
from typing import Any, Protocol

import re2

from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.sim.programs.postgres.errors import Refused, refuse
from sregym_env.sim.programs.postgres.tree import (
    Among,
    Apply,
    Case,
    Cast,
    ColumnRef,
    Expression,
    Literal_,
    Operate,
    Scalar,
    Select,
)

NUMERIC = ("smallint", "integer", "bigint", "numeric", "real", "double precision", "oid", "money")
MOST_TEXT = 1_000_000
"""Characters of a text that expressions may make."""
AGGREGATES = frozenset("count sum min max avg string_agg array_agg bool_or bool_and".split())


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a relation: where it comes from, its name, and its type."""

    table: str
    name: str
    type: str = "text"


class Surroundings(Protocol):
    """What an expression needs to know beyond its row."""

    def function(self, name: str, arguments: Sequence[Any]) -> Any:
        """A function of the server. Raises KeyError for one that it does not have."""
        ...

    def rows(self, select: Select, outer: Scope | None, row: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The rows of a query inside another."""
        ...

    def cast(self, kind: str, value: Any) -> Any:
        """A cast that needs the catalogue (``regclass``)."""
        ...

    def spend(self, rows: int) -> None:
        """Note that so many rows are looked at. Raises Refused where a statement looks at too many."""
        ...


@dataclass(frozen=True, slots=True)
class Scope:
    """Columns that names may mean, those of the query around it last."""

    fields: tuple[Field, ...]
    outer: Scope | None = None
    outer_row: tuple[Any, ...] = ()

    def find(self, ref: ColumnRef) -> int | None:
        """Where a column stands in a row; None where it is none of these. Raises Refused where it is several."""
        found = [
            index
            for index, each in enumerate(self.fields)
            if each.name == ref.name and (not ref.table or each.table == ref.table)
        ]
        if len(found) > 1 and len({self.fields[index].table for index in found}) > 1:
            raise refuse("42702", f'column reference "{ref.name}" is ambiguous', position=ref.position)
        return found[0] if found else None


def unknown_column(ref: ColumnRef, scope: Scope) -> Exception:
    """The report of a column that is not there."""
    if ref.table:
        if not any(each.table == ref.table for each in scope.fields):
            text = f'missing FROM-clause entry for table "{ref.table}"'
            return refuse("42P01", text, position=ref.position)
        return refuse("42703", f"column {ref.table}.{ref.name} does not exist", position=ref.position)
    return refuse("42703", f'column "{ref.name}" does not exist', position=ref.position)


def aggregated(expression: Any) -> bool:
    """Whether an expression asks about a group of rows."""
    match expression:
        case Apply(name, arguments):
            return name in AGGREGATES or any(aggregated(each) for each in arguments)
        case Operate(_, operands):
            return any(aggregated(each) for each in operands)
        case Cast(operand):
            return aggregated(operand)
        case Among(operand):
            return aggregated(operand)
        case Case(branches, otherwise):
            return any(aggregated(each) for pair in branches for each in pair) or (
                otherwise is not None and aggregated(otherwise)
            )
    return False


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates expressions over rows of one scope."""

    scope: Scope
    around: Surroundings

    def value(
        self, expression: Expression, row: Sequence[Any], group: Sequence[Sequence[Any]] | None = None
    ) -> Any:
        """What an expression is worth; ``group`` are the rows that aggregates look at."""
        match expression:
            case Literal_(value):
                return value
            case ColumnRef():
                return self._column(expression, row)
            case Operate(operator, operands, position):
                return self._operate(operator, operands, row, group, position)
            case Apply():
                return self._apply(expression, row, group)
            case Cast(operand, kind):
                with located(operand):
                    return self.cast(self.value(operand, row, group), kind)
            case Among():
                return self._among(expression, row, group)
            case Case(branches, otherwise):
                for condition, then in branches:
                    if self.value(condition, row, group) is True:
                        return self.value(then, row, group)
                return None if otherwise is None else self.value(otherwise, row, group)
            case Scalar(select, exists):
                rows = self.around.rows(select, self.scope, row)
                if exists:
                    return bool(rows)
                if len(rows) > 1:
                    raise refuse("21000", "more than one row returned by a subquery used as an expression")
                return rows[0][0] if rows else None
        raise refuse("0A000", "this expression is not supported")

    def _column(self, ref: ColumnRef, row: Sequence[Any]) -> Any:
        index = self.scope.find(ref)
        if index is not None:
            return row[index]
        outer = self.scope.outer
        if outer is not None:
            place = outer.find(ref)
            if place is not None:
                return self.scope.outer_row[place]
        raise unknown_column(ref, self.scope)

    def _operate(
        self, operator: str, operands: tuple[Expression, ...], row: Sequence[Any], group: Any, position: int
    ) -> Any:
        if operator in ("and", "or"):
            left = self._truth(self.value(operands[0], row, group), operator)
            if left is (operator == "or"):
                return left
            right = self._truth(self.value(operands[1], row, group), operator)
            if right is (operator == "or"):
                return right
            return None if left is None or right is None else right
        values = [self.value(each, row, group) for each in operands]
        if len(operands) == 2 and operator in _COMPARED:
            self._comparable(operator, operands, position)
        match operator:
            case "not":
                found = self._truth(values[0], "NOT")
                return None if found is None else not found
            case "is null":
                return values[0] is None
            case "is true":
                return values[0] is True
            case "is false":
                return values[0] is False
            case "distinct":
                return values[0] is not values[1] if None in values else _compared("<>", values[0], values[1])
        if None in values:
            return None
        if operator == "negative":
            if not isinstance(values[0], (int, Decimal, timedelta)):
                raise _no_operator("-", 0, values[0], position)
            return -values[0]
        if operator == "between":
            return _compared(">=", values[0], values[1]) and _compared("<=", values[0], values[2])
        if operator in ("like", "ilike"):
            text, pattern = str(values[0]), str(values[1])
            return like(text.lower(), pattern.lower()) if operator == "ilike" else like(text, pattern)
        with located(next((each for each in operands if _is_text(each)), None)):
            return binary(operator, values[0], values[1], position)

    def _comparable(self, operator: str, operands: Sequence[Expression], position: int) -> None:
        """Whether two types can be compared: a text in the statement takes any type, a column's stays what it is."""
        kinds = [self.type(each).partition("(")[0] for each in operands]
        bare = [isinstance(each, Literal_) and isinstance(each.value, str) for each in operands]
        for index in (0, 1):
            texts = kinds[index] in _TEXTS and not bare[index] and isinstance(operands[index], ColumnRef)
            if texts and kinds[1 - index] in NUMERIC:
                raise refuse(
                    "42883",
                    f"operator does not exist: {kinds[0]} {operator} {kinds[1]}",
                    hint="No operator matches the given name and argument types. You might need to add explicit type casts.",
                    position=position,
                )

    @staticmethod
    def _truth(value: Any, operator: str) -> bool | None:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in _TRUTHS:
            return _TRUTHS[value.lower()]
        raise refuse(
            "42804", f"argument of {operator.upper()} must be type boolean, not type {type_of_value(value)}"
        )

    def _among(self, among: Among, row: Sequence[Any], group: Any) -> Any:
        value = self.value(among.operand, row, group)
        choices: list[Any] = []
        if isinstance(among.choices, Select):
            choices = [each[0] for each in self.around.rows(among.choices, self.scope, row)]
        else:
            for each in among.choices:
                found = self.value(each, row, group)
                choices.extend(found if isinstance(found, tuple) else (found,))
        if value is None:
            return None
        inside = any(each is not None and _compared("=", value, each) for each in choices)
        if not inside and None in choices:
            return None
        return inside != among.negated

    def _apply(self, call: Apply, row: Sequence[Any], group: Any) -> Any:
        name = call.name
        if name in AGGREGATES:
            if group is None:
                raise refuse("42803", "aggregate functions are not allowed in WHERE", position=call.position)
            return self._aggregate(call, group)
        if name == "coalesce":
            return next(
                (v for v in (self.value(a, row, group) for a in call.arguments) if v is not None), None
            )
        values = [self.value(each, row, group) for each in call.arguments]
        plain = _FUNCTIONS.get(name)
        if plain is not None:
            if (
                name not in ("concat", "nullif", "concat_ws", "array", "unnest", "greatest", "least")
                and None in values
            ):
                return None
            try:
                return plain(*values)
            except _UNFIT:
                raise self._no_function(call, values) from None
        try:
            return self.around.function(name, values)
        except (KeyError, *_UNFIT):
            raise self._no_function(call, values) from None

    @staticmethod
    def _no_function(call: Apply, values: Sequence[Any]) -> Exception:
        kinds = ", ".join("unknown" if isinstance(v, str) or v is None else type_of_value(v) for v in values)
        return refuse(
            "42883",
            f"function {call.name}({kinds}) does not exist",
            hint="No function matches the given name and argument types. You might need to add explicit type casts.",
            position=call.position,
        )

    def _aggregate(self, call: Apply, group: Sequence[Sequence[Any]]) -> Any:
        if call.star and call.name == "count":
            return len(group)
        if len(call.arguments) != (2 if call.name == "string_agg" else 1):
            raise self._no_function(call, ())
        values = [v for v in (self.value(call.arguments[0], each) for each in group) if v is not None]
        if call.distinct:
            values = list(dict.fromkeys(values))
        match call.name:
            case "count":
                return len(values)
            case "string_agg":
                mark = self.value(call.arguments[1], group[0]) if group else ""
                return bounded(*_between(str(mark), [shown(each) for each in values])) if values else None
            case "array_agg":
                return tuple(values) if values else None
            case "bool_or" | "bool_and":
                return (any(values) if call.name == "bool_or" else all(values)) if values else None
        if not values:
            return None
        if call.name in ("min", "max"):
            return min(values) if call.name == "min" else max(values)
        if not all(isinstance(v, (int, Decimal, timedelta)) for v in values):
            raise refuse(
                "42883",
                f"function {call.name}({type_of_value(values[0])}) does not exist",
                position=call.position,
            )
        total = values[0]
        for each in values[1:]:
            total = total + each
        if call.name == "sum":
            return total
        if isinstance(total, timedelta):
            return total / len(values)
        return divided(Decimal(total), Decimal(len(values)))

    def cast(self, value: Any, kind: str) -> Any:
        """A value of another type. Raises Refused."""
        return converted(value, kind, self.around.cast)

    # --- types ----------------------------------------------------------------------------------------

    def type(self, expression: Expression) -> str:
        """The type of an expression, as far as it decides how a client shows it."""
        match expression:
            case Literal_(value):
                return type_of_value(value)
            case ColumnRef():
                index = self.scope.find(expression)
                return "text" if index is None else self.scope.fields[index].type
            case Cast(_, kind):
                return kind
            case Operate(operator, operands):
                if operator in ("+", "-", "*", "/", "%", "^", "negative"):
                    return self.type(operands[0])
                return "text" if operator in ("||", "->", "->>") else "boolean"
            case Apply(name, arguments):
                if name in _INTEGERS:
                    return "bigint"
                if name in (
                    "sum",
                    "min",
                    "max",
                    "avg",
                    "round",
                    "coalesce",
                    "nullif",
                    "abs",
                    "ceil",
                    "floor",
                ):
                    return self.type(arguments[0]) if arguments else "text"
                return "text"
            case Case(branches, _):
                return self.type(branches[0][1])
            case Scalar(select, exists):
                return "boolean" if exists else self.type(select.items[0][0]) if select.items else "text"
        return "boolean"


_UNFIT = (TypeError, ValueError, AttributeError, ArithmeticError, IndexError)
"""What comes of arguments that a function does not take."""
_COMPARED = ("=", "<>", "<", ">", "<=", ">=")
_TEXTS = ("text", "character varying", "character", "name")
_INTEGERS = frozenset(
    "count length char_length pg_backend_pid array_length pg_database_size pg_total_relation_size pg_relation_size pg_table_size pg_indexes_size "
    "pg_table_size extract date_part cardinality".split()
)
_TRUTHS = {"t": True, "true": True, "yes": True, "on": True, "1": True, "f": False, "false": False, "no": False,
           "off": False, "0": False}  # fmt: skip


def type_of_value(value: Any) -> str:
    """The type that a value has by itself."""
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer" if -(2**31) <= value < 2**31 else "bigint"
        case Decimal():
            return "numeric"
        case datetime():
            return "timestamp with time zone"
        case timedelta():
            return "interval"
    return "text"


def shown(value: Any) -> str:
    """A value as the server writes it."""
    match value:
        case None:
            return ""
        case bool():
            return "t" if value else "f"
        case datetime():
            text = f"{value:%Y-%m-%d %H:%M:%S}"
            if value.microsecond:
                text += f".{value.microsecond:06d}".rstrip("0")
            return text + "+00"
        case timedelta():
            return _interval(value)
        case tuple():
            return "{" + ",".join(shown(each) for each in value) + "}"
        case Decimal():
            return f"{value:f}"
    return str(value)


def _interval(value: timedelta) -> str:
    total = value.days * 86_400_000_000 + value.seconds * 1_000_000 + value.microseconds
    sign, total = ("-", -total) if total < 0 else ("", total)
    days, rest = divmod(total, 86_400_000_000)
    whole, micros = divmod(rest, 1_000_000)
    text = f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    if micros:
        text += f".{micros:06d}".rstrip("0")
    if days:
        return f"{sign}{days} day{'s' if days != 1 else ''}" + (f" {sign}{text}" if rest else "")
    return sign + text


def like(text: str, pattern: str) -> bool:
    """Whether a text is as ``LIKE`` asks, in time proportional to both lengths."""
    place = mark = 0
    star, kept = -1, 0
    while place < len(text):
        if mark < len(pattern) and pattern[mark] == "%":
            star, kept = mark, place
            mark += 1
        elif mark < len(pattern) and (pattern[mark] == "_" or pattern[mark] == text[place]):
            place, mark = place + 1, mark + 1
        elif star >= 0:
            kept += 1
            place, mark = kept, star + 1
        else:
            return False
    return not pattern[mark:].strip("%")


def _pair(left: Any, right: Any) -> tuple[Any, Any]:
    """Two values of one type: a text takes the other's."""
    if isinstance(left, str) and not isinstance(right, str):
        return converted(left, type_of_value(right)), right
    if isinstance(right, str) and not isinstance(left, str):
        return left, converted(right, type_of_value(left))
    return left, right


def _compared(operator: str, left: Any, right: Any, position: int = -1) -> bool:
    left, right = _pair(left, right)
    try:
        match operator:
            case "=":
                return bool(left == right)
            case "<>":
                return bool(left != right)
            case "<":
                return bool(left < right)
            case ">":
                return bool(left > right)
            case "<=":
                return bool(left <= right)
        return bool(left >= right)
    except TypeError:
        raise _no_operator(operator, left, right, position) from None


def _whole(value: Any) -> Any:
    """A number as it is, unless it is an integer that no type holds."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise refuse("22003", "bigint out of range")
    return value


def _no_operator(operator: str, left: Any, right: Any, position: int) -> Exception:
    return refuse(
        "42883",
        f"operator does not exist: {type_of_value(left)} {operator} {type_of_value(right)}",
        hint="No operator matches the given name and argument types. You might need to add explicit type casts.",
        position=position,
    )


def binary(operator: str, left: Any, right: Any, position: int = -1) -> Any:
    """An operator on two values, neither of them null. Raises Refused."""
    if operator in ("=", "<>", "<", ">", "<=", ">="):
        return _compared(operator, left, right, position)
    if operator == "||" and not isinstance(left, tuple):
        return bounded(shown(left), shown(right))
    if operator == "||":
        return (
            left + right
            if isinstance(left, tuple) and isinstance(right, tuple)
            else shown(left) + shown(right)
        )
    if operator in ("~", "~*", "!~", "!~*"):
        options = "(?i)" if "*" in operator else ""
        try:
            found = re2.search(options + str(right), str(left)) is not None
        except re2.error:
            raise refuse("2201B", "invalid regular expression: quantifier operand invalid") from None
        return found != operator.startswith("!")
    if isinstance(left, (datetime, timedelta)) or isinstance(right, (datetime, timedelta)):
        left, right = _moments(left, right)
    else:
        left, right = _pair(left, right)
    try:
        match operator:
            case "+":
                return _whole(left + right)
            case "-":
                return _whole(left - right)
            case "*":
                return _whole(left * right)
            case "/":
                if isinstance(left, int) and isinstance(right, int):
                    quotient = abs(left) // abs(right)
                    return quotient if (left < 0) == (right < 0) else -quotient
                return divided(Decimal(left), Decimal(right))
            case "%":
                return int(math.fmod(left, right)) if isinstance(left, int) else left % right
            case "^":
                return Decimal(left) ** Decimal(right) if abs(right) < 1000 else Decimal(0)
    except (ZeroDivisionError, DivisionByZero):
        raise refuse("22012", "division by zero") from None
    except (TypeError, InvalidOperation, OverflowError, ValueError):
        pass
    raise _no_operator(operator, left, right, position)


def divided(left: Decimal, right: Decimal) -> Decimal:
    """A quotient with as many digits as PostgreSQL gives it (``select_div_scale``): sixteen that count, in fours."""
    if not right:
        raise DivisionByZero
    (above, first), (below, other) = _leading(left), _leading(right)
    weight = above - below - (first <= other)
    scale = max(16 - 4 * weight, _scale(left), _scale(right), 0)
    with localcontext() as context:
        context.prec = 200
        return (left / right).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)


def _leading(value: Decimal) -> tuple[int, int]:
    """(place, digit) of the first digit to the base of ten thousand."""
    if not value:
        return 0, 0
    place = value.adjusted() // 4
    return place, int(abs(value).scaleb(-4 * place))


def _scale(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _is_text(expression: Any) -> bool:
    return isinstance(expression, Literal_) and isinstance(expression.value, str)


@contextmanager
def located(expression: Any) -> Iterator[None]:
    """Have what a constant causes reported where it stands."""
    try:
        yield
    except Refused as error:
        place = expression.position if _is_text(expression) else -1
        if error.error.position >= 0 or place < 0 or error.error.code not in ("22P02", "22003", "22007"):
            raise
        raise Refused(error.error._replace(position=place)) from None


def _moments(left: Any, right: Any) -> tuple[Any, Any]:
    if isinstance(right, str):
        right = converted(right, "interval" if isinstance(left, timedelta) else "timestamp with time zone")
    if isinstance(left, str):
        left = converted(left, "timestamp with time zone")
    return left, right


_UNITS = {
    "microsecond": 1e-6, "millisecond": 1e-3, "ms": 1e-3, "second": 1.0, "sec": 1.0, "s": 1.0, "minute": 60.0, "min": 60.0,
    "m": 60.0, "hour": 3600.0, "h": 3600.0, "day": 86400.0, "d": 86400.0, "week": 604800.0, "month": 2592000.0,
    "year": 31557600.0,
}  # fmt: skip


def converted(value: Any, kind: str, catalogue: Callable[[str, Any], Any] | None = None) -> Any:
    """A value as another type. Raises Refused."""
    if value is None:
        return None
    base, _, inside = kind.partition("(")
    text = shown(value)
    wrong = refuse("22P02", f'invalid input syntax for type {base}: "{text}"')
    match base:
        case "smallint" | "integer" | "bigint" | "oid":
            return _integer(value, text, base, wrong)
        case "numeric" | "real" | "double precision":
            try:
                number = Decimal(text.strip())
            except InvalidOperation:
                raise wrong from None
            if "," in inside:
                scale = inside.rstrip(")").partition(",")[2].strip()
                number = number.quantize(Decimal(1).scaleb(-int(scale)))
            return number
        case "boolean":
            if isinstance(value, int):
                return bool(value)
            if text.lower() not in _TRUTHS:
                raise wrong
            return _TRUTHS[text.lower()]
        case "character varying" | "character":
            limit = inside.rstrip(")")
            return text[: whole(limit, None)]
        case "interval":
            return value if isinstance(value, timedelta) else _span(text, wrong)
        case "timestamp with time zone" | "timestamp without time zone":
            if isinstance(value, datetime):
                return value
            try:
                found = datetime.fromisoformat(text.strip())
            except ValueError:
                raise refuse("22007", f'invalid input syntax for type {kind}: "{text}"') from None
            return found if found.tzinfo else found.replace(tzinfo=UTC)
        case "date":
            return text[:10]
        case "regclass" | "regrole" | "regnamespace":
            return catalogue(base, value) if catalogue is not None else text
    if kind.endswith("[]") and isinstance(value, str):
        return tuple(part for part in text.strip("{}").split(",") if part)
    return text if base in ("text", "name", "uuid", "inet") else value


def _integer(value: Any, text: str, base: str, wrong: Exception) -> int:
    if isinstance(value, Decimal):
        number = int(value.to_integral_value())
    else:
        stripped = text.strip()
        if not stripped.lstrip("+-").isdecimal() or len(stripped) > 30:
            raise wrong
        number = int(stripped)
    bits = {"smallint": 15, "integer": 31}.get(base, 63)
    if not -(2**bits) <= number < 2**bits:
        if isinstance(value, str):
            raise refuse("22003", f'value "{text}" is out of range for type {base}')
        raise refuse("22003", f"{base} out of range")
    return number


def _span(text: str, wrong: Exception) -> timedelta:
    words = text.lower().split()
    total = 0.0
    try:
        while words:
            word = words.pop(0)
            if ":" in word:
                parts = [float(part) for part in word.split(":")]
                total += sum(part * scale for part, scale in zip(parts, (3600, 60, 1), strict=False))
                continue
            digits = word.rstrip("abcdefghijklmnopqrstuvwxyz")
            unit = word[len(digits) :] or (words.pop(0) if words else "s")
            total += float(digits) * _UNITS[unit if unit in _UNITS else unit.removesuffix("s")]
        return timedelta(seconds=total)
    except (ValueError, KeyError, OverflowError):
        raise wrong from None


def moment(time: int) -> datetime:
    """Microseconds since the Unix epoch as a value of SQL."""
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=time)


def _part(name: str, value: Any) -> Any:
    if isinstance(value, timedelta):
        seconds = Decimal(value.days * 86400 + value.seconds) + Decimal(value.microseconds) / SECOND
        return {"epoch": seconds, "minute": int(seconds // 60 % 60), "hour": int(seconds // 3600)}.get(
            name, seconds
        )
    if name == "epoch":
        return Decimal(str(value.timestamp()))
    return getattr(value, name.lower(), 0)


def _truncated(unit: str, value: datetime) -> datetime:
    smaller = {"hour": ("minute",), "day": ("minute", "hour"), "minute": (), "second": ()}.get(
        unit, ("minute", "hour")
    )
    changes: dict[str, Any] = {
        "microsecond": 0,
        **({} if unit == "second" else {"second": 0}),
        **dict.fromkeys(smaller, 0),
    }
    return value.replace(**changes)


def pretty(size: int) -> str:
    """``pg_size_pretty``."""
    for unit, scale in (("bytes", 1), ("kB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30)):
        if size < 10 * 1024 * scale:
            return f"{(size + scale // 2) // scale} {unit}"
    return f"{size >> 40} TB"


def bounded(*parts: str) -> str:
    """Texts behind each other. Raises Refused where they are longer than anybody needs."""
    if sum(map(len, parts)) > MOST_TEXT:
        raise refuse("54000", "string size exceeds the maximum allowed")
    return "".join(parts)


def _between(mark: str, texts: Sequence[str]) -> list[str]:
    """Texts with a mark between each two."""
    return [part for text in texts for part in (mark, text)][1:]


def _replaced(text: str, old: str, new: str) -> str:
    if not old:
        return text
    if len(text) + text.count(old) * len(new) > MOST_TEXT:
        raise refuse("54000", "string size exceeds the maximum allowed")
    return text.replace(old, new)


def _substring(text: str, start: int, length: int | None = None) -> str:
    begin = start - 1
    return text[max(begin, 0) : None if length is None else max(begin + length, 0)]


def _split(text: str, mark: str, number: int) -> str:
    parts = text.split(mark) if mark else [text]
    return parts[number - 1] if 0 < number <= len(parts) else ""


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "age": lambda late, early: late - early,
    "array": lambda *each: tuple(each),
    "array_length": lambda values, dimension: len(values) or None,
    "cardinality": len,
    "ceil": lambda value: Decimal(math.ceil(value)),
    "char_length": lambda text: len(shown(text)),
    "concat": lambda *each: bounded(*(shown(v) for v in each)),
    "concat_ws": lambda mark, *each: bounded(*_between(str(mark), [shown(v) for v in each if v is not None])),
    "date_part": _part,
    "date_trunc": _truncated,
    "extract": _part,
    "floor": lambda value: Decimal(math.floor(value)),
    "greatest": lambda *each: max((v for v in each if v is not None), default=None),
    "least": lambda *each: min((v for v in each if v is not None), default=None),
    "left": lambda text, count: str(text)[:count],
    "length": lambda text: len(shown(text)),
    "lower": lambda text: shown(text).lower(),
    "nullif": lambda one, other: None if one == other else one,
    "pg_size_pretty": lambda size: pretty(int(size)),
    "replace": lambda text, old, new: _replaced(shown(text), str(old), shown(new)),
    "right": lambda text, count: str(text)[-count:] if count else "",
    "round": lambda value, digits=0: round(Decimal(value), min(max(int(digits), -20), 20)),
    "split_part": _split,
    "substr": _substring,
    "substring": _substring,
    "trim": lambda text: str(text).strip(" "),
    "unnest": lambda values: values,
    "upper": lambda text: shown(text).upper(),
}
