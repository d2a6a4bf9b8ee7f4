"""The types of a query's parts, and what does not fit, in Prometheus's words and order."""

from __future__ import annotations

from sregym_env.telemetry.gotext import quote
from sregym_env.telemetry.labels import NAME
from sregym_env.telemetry.promql.errors import ParseError
from sregym_env.telemetry.promql.signatures import SIGNATURES
from sregym_env.telemetry.promql.syntax import (
    COMPARISONS,
    DOCUMENTED,
    SETS,
    Aggregation,
    Binary,
    Call,
    Expr,
    Number,
    Paren,
    Range,
    Selector,
    String,
    Subquery,
    Unary,
    ValueType,
)


def type_of(node: Expr) -> ValueType:
    """What an expression's value is."""
    if isinstance(node, Number):
        return "scalar"
    if isinstance(node, String):
        return "string"
    if isinstance(node, Range | Subquery):
        return "matrix"
    if isinstance(node, Call):
        return SIGNATURES[node.function].result
    if isinstance(node, Paren | Unary):
        return type_of(node.inner)
    if isinstance(node, Binary):
        both = type_of(node.left) == "scalar" and type_of(node.right) == "scalar"
        return "scalar" if both else "vector"
    return "vector"


def check_types(tree: Expr, query: str) -> None:
    """Raises ParseError for the first thing in a tree that does not fit."""
    _Checks(query).check(tree)


class _Checks:
    __slots__ = ("_query",)

    def __init__(self, query: str) -> None:
        self._query = query

    def _wrong(self, text: str, position: int) -> ParseError:
        return ParseError(text, self._query, position)

    def check(self, node: Expr) -> ValueType:
        if isinstance(node, Aggregation):
            self._aggregation(node)
        elif isinstance(node, Binary):
            return self._binary(node)
        elif isinstance(node, Call):
            self._call(node)
        elif isinstance(node, Paren):
            return self.check(node.inner)
        elif isinstance(node, Unary):
            found = self.check(node.inner)
            if found not in ("scalar", "vector"):
                allowed = "unary expression only allowed on expressions of type scalar or instant vector"
                raise self._wrong(f"{allowed}, got {quote(DOCUMENTED[found])}", node.start)
            return found
        elif isinstance(node, Subquery):
            found = self.check(node.inner)
            if found != "vector":
                raise self._wrong(
                    f"subquery is only allowed on instant vector, got {found} instead", node.start
                )
        elif isinstance(node, Range):
            self._selector(node.selector)
        elif isinstance(node, Selector):
            self._selector(node)
        return type_of(node)

    def _expect(self, node: Expr, wanted: ValueType, context: str) -> None:
        found = self.check(node)
        if found != wanted:
            text = f"expected type {DOCUMENTED[wanted]} in {context}, got {DOCUMENTED[found]}"
            raise self._wrong(text, node.start)

    def _aggregation(self, node: Aggregation) -> None:
        self._expect(node.inner, "vector", "aggregation expression")
        if node.parameter is not None:
            wanted: ValueType = "string" if node.operator == "count_values" else "scalar"
            self._expect(node.parameter, wanted, "aggregation parameter")

    def _call(self, node: Call) -> None:
        signature = SIGNATURES[node.function]
        wanted, given = len(signature.arguments), len(node.arguments)
        least = wanted - 1 if signature.variadic else wanted
        most = least + signature.variadic if signature.variadic >= 0 else given
        where = f"argument(s) in call to {quote(node.function)}, got {given}"
        if not signature.variadic and given != wanted:
            raise self._wrong(f"expected {wanted} {where}", node.start)
        if given < least:
            raise self._wrong(f"expected at least {least} {where}", node.start)
        if given > most:
            raise self._wrong(f"expected at most {most} {where}", node.start)
        for at, argument in enumerate(node.arguments):
            kind = signature.arguments[min(at, wanted - 1)]
            self._expect(argument, kind, f"call to function {quote(node.function)}")

    def _binary(self, node: Binary) -> ValueType:
        left, right = self.check(node.left), self.check(node.right)
        compares, is_set = node.operator in COMPARISONS, node.operator in SETS
        if node.returns_bool and not compares:
            raise self._wrong("bool modifier can only be used on comparison operators", node.operator_start)
        if compares and not node.returns_bool and left == right == "scalar":
            raise self._wrong("comparisons between scalars must use BOOL modifier", node.operator_start)
        matching = node.matching
        for label in matching.labels:
            if matching.on and label in matching.include:
                text = f"label {quote(label)} must not occur in ON and GROUP clause at once"
                raise self._wrong(text, node.operator_start)
        for side, found in ((node.left, left), (node.right, right)):
            if found not in ("scalar", "vector"):
                text = "binary expression must contain only scalar and instant vector types"
                raise self._wrong(text, side.start)
        if "scalar" in (left, right):
            if matching.labels:
                raise self._wrong("vector matching only allowed between instant vectors", node.start)
        elif is_set and matching.card in ("many-to-one", "one-to-many"):
            raise self._wrong(f"no grouping allowed for {quote(node.operator)} operation", node.start)
        if is_set and "scalar" in (left, right):
            text = f"set operator {quote(node.operator)} not allowed in binary scalar expression"
            raise self._wrong(text, node.start)
        return "scalar" if left == right == "scalar" else "vector"

    def _selector(self, node: Selector) -> None:
        if node.name:
            for matcher in node.matchers[:-1]:
                if matcher.name == NAME:
                    names = f"{quote(node.name)} or {quote(matcher.value)}"
                    raise self._wrong(f"metric name must not be set twice: {names}", node.start)
        elif all(matcher.matches("") for matcher in node.matchers):
            text = "vector selector must contain at least one non-empty matcher"
            raise self._wrong(text, node.start)
