"""The tree of a query. Durations and instants are milliseconds; ``start`` and ``end`` are bytes of the query's text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sregym_env.telemetry.gotext import quote, shown
from sregym_env.telemetry.labels import NAME
from sregym_env.telemetry.promql.durations import duration_text
from sregym_env.telemetry.series import Matcher

ValueType: TypeAlias = Literal["none", "scalar", "string", "vector", "matrix"]

DOCUMENTED: dict[ValueType, str] = {
    "none": "none",
    "scalar": "scalar",
    "string": "string",
    "vector": "instant vector",
    "matrix": "range vector",
}
"""How errors name types."""

COMPARISONS = ("==", "!=", "<=", "<", ">=", ">")
SETS = ("and", "or", "unless")
WITH_PARAMETER = ("topk", "bottomk", "count_values", "quantile")


@dataclass(frozen=True, slots=True)
class At:
    """An ``@`` modifier: an instant, or the start or end of the query."""

    instant: int = 0
    edge: Literal["", "start", "end"] = ""

    def __str__(self) -> str:
        return f" @ {self.edge}()" if self.edge else f" @ {self.instant / 1000:.3f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything in a query."""

    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A literal number."""

    value: float

    def __str__(self) -> str:
        return shown(self.value)


@dataclass(frozen=True, slots=True)
class String(Node):
    """A literal string."""

    value: str

    def __str__(self) -> str:
        return quote(self.value)


@dataclass(frozen=True, slots=True)
class Selector(Node):
    """An instant vector selector."""

    name: str
    """The name before the braces; it is among the matchers too, as the last."""
    matchers: tuple[Matcher, ...]
    offset: int = 0
    at: At | None = None

    def bare(self) -> str:
        """Name and braces, without modifiers."""
        own = self.matchers[:-1] if self.name else self.matchers
        inside = ",".join(
            sorted(
                f"{each.name}{each.operator}{quote(each.value)}"
                for each in own
                if not (self.name and each.name == NAME)
            )
        )
        return f"{self.name}{{{inside}}}" if inside or not self.name else self.name

    def __str__(self) -> str:
        return self.bare() + modifiers(self)


@dataclass(frozen=True, slots=True)
class Range(Node):
    """A range vector selector."""

    selector: Selector
    range: int

    def __str__(self) -> str:
        return f"{self.selector.bare()}[{duration_text(self.range)}]{modifiers(self.selector)}"


@dataclass(frozen=True, slots=True)
class Subquery(Node):
    """A range of evaluations of an expression; a step of 0 is the default."""

    inner: Expr
    range: int
    step: int = 0
    offset: int = 0
    at: At | None = None

    def __str__(self) -> str:
        step = duration_text(self.step) if self.step else ""
        return f"{self.inner}[{duration_text(self.range)}:{step}]{modifiers(self)}"


@dataclass(frozen=True, slots=True)
class Paren(Node):
    """An expression in parentheses."""

    inner: Expr

    def __str__(self) -> str:
        return f"({self.inner})"


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """A sign before an expression."""

    operator: str
    inner: Expr

    def __str__(self) -> str:
        return f"{self.operator}{self.inner}"


@dataclass(frozen=True, slots=True)
class Matching:
    """How the sides of an operator are joined."""

    card: Literal["one-to-one", "many-to-one", "one-to-many", "many-to-many"] = "one-to-one"
    on: bool = False
    labels: tuple[str, ...] = ()
    include: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.labels and not self.on:
            return ""
        text = f" {'on' if self.on else 'ignoring'} ({', '.join(self.labels)})"
        if self.card in ("many-to-one", "one-to-many"):
            text += f" group_{'left' if self.card == 'many-to-one' else 'right'} ({', '.join(self.include)})"
        return text


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """An operator between two expressions."""

    operator: str
    left: Expr
    right: Expr
    returns_bool: bool = False
    matching: Matching = Matching()
    operator_start: int = 0

    def __str__(self) -> str:
        word = " bool" if self.returns_bool else ""
        return f"{self.left} {self.operator}{word}{self.matching} {self.right}"


@dataclass(frozen=True, slots=True)
class Aggregation(Node):
    """An aggregation over label sets."""

    operator: str
    inner: Expr
    parameter: Expr | None = None
    grouping: tuple[str, ...] = ()
    without: bool = False

    def __str__(self) -> str:
        text = self.operator
        if self.without:
            text += f" without ({', '.join(self.grouping)}) "
        elif self.grouping:
            text += f" by ({', '.join(self.grouping)}) "
        return f"{text}({'' if self.parameter is None else f'{self.parameter}, '}{self.inner})"


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A call of a function."""

    function: str
    arguments: tuple[Expr, ...]

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


Expr: TypeAlias = Number | String | Selector | Range | Subquery | Paren | Unary | Binary | Aggregation | Call


def modifiers(node: Selector | Subquery) -> str:
    """The offset and ``@`` of a selector as they are written."""
    offset = ""
    if node.offset:
        offset = f" offset {'-' if node.offset < 0 else ''}{duration_text(abs(node.offset))}"
    return ("" if node.at is None else str(node.at)) + offset


def children(node: Expr) -> tuple[Expr, ...]:
    """The expressions inside one."""
    if isinstance(node, Paren | Unary | Subquery):
        return (node.inner,)
    if isinstance(node, Range):
        return (node.selector,)
    if isinstance(node, Binary):
        return (node.left, node.right)
    if isinstance(node, Aggregation):
        return (node.inner,) if node.parameter is None else (node.parameter, node.inner)
    if isinstance(node, Call):
        return node.arguments
    return ()


def without_parens(node: Expr) -> Expr:
    """What parentheses enclose."""
    while isinstance(node, Paren):
        node = node.inner
    return node
