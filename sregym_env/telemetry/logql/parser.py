"""From the text of a query to its syntax tree, or to the error that Loki would give.

Loki's parser is made by goyacc, which names what it expected where four kinds of token or fewer would do. The lists
below are those of its states.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from sregym_env.telemetry.logql.errors import ParseError
from sregym_env.telemetry.logql.lexer import (
    CONVERSIONS,
    END,
    RANGE_OPERATIONS,
    VECTOR_OPERATIONS,
    Lexer,
    Token,
)
from sregym_env.telemetry.logql.operations import LOGICAL, scalar
from sregym_env.telemetry.logql.syntax import (
    AddressIs,
    BinaryOperation,
    Both,
    Compare,
    Decolorize,
    Distinct,
    Expr,
    Extraction,
    Formatted,
    Grouping,
    LabelCondition,
    LabelFilter,
    LabelFormat,
    LabelReplace,
    LineFilter,
    LineFormat,
    Literal,
    LogRange,
    Matcher,
    Matching,
    MetricExpr,
    Parse,
    RangeAggregation,
    Select,
    Selector,
    Stage,
    Term,
    Unwrap,
    VectorAggregation,
    VectorOf,
)
from sregym_env.telemetry.logql.units import parse_float, parse_whole
from sregym_env.telemetry.logql.validation import (
    check_matcher,
    check_matchers,
    check_pattern,
    check_range,
    check_replace,
)

MAX_QUERY = 5120
"""Characters of a query from which Loki refuses it (``maxInputSize``)."""

MAX_DEPTH = 50
MAX_OPERATORS = 100
"""Parentheses within each other, and operators in one query, each of which may hold all before or behind it. Loki has no
such bounds, Python's stack has."""

_T = TypeVar("_T")
_LITERAL = "unable to parse literal as a float"
_LINE_FILTERS = frozenset(("|=", "|~", "|>", "!=", "!~", "!>"))
_MATCHERS = ("=", "=~", "!~", "!=")
_COMPARISONS = frozenset((">", ">=", "<", "<=", "=", "!=", "=="))
_PRECEDENCE = {
    "or": 1, "and": 2, "unless": 2, "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "+": 4, "-": 4, "*": 5, "/": 5,
    "%": 5, "^": 6,
}  # fmt: skip
_CONDITION_PRECEDENCE = {"or": 1, "and": 2}
_VECTOR_KINDS = {name.upper(): name for name in VECTOR_OPERATIONS}
_RANGE_KINDS = {name.upper(): name for name in RANGE_OPERATIONS}
_CONVERSION_KINDS = {kind: name for name, kind in CONVERSIONS.items()}


@lru_cache(maxsize=256)
def parse(query: str) -> Expr:
    """The query's syntax tree, checked as Loki checks it. Raises ParseError."""
    expr = parse_unchecked(query)
    _validate(expr)
    return expr


def parse_unchecked(query: str) -> Expr:
    """The query's syntax tree; ``{}`` and ``{app=~".*"}`` may stand in it. Raises ParseError."""
    if len(query.encode("utf-8", "surrogatepass")) >= MAX_QUERY:
        raise ParseError(f"input size too long ({len(query)} > {MAX_QUERY})")
    return _Parser(query).query()


def parse_matchers(query: str) -> tuple[Matcher, ...]:
    """The matchers of a selector that has nothing else. Raises ParseError."""
    expr = parse(query)
    if not isinstance(expr, Selector) or expr.stages:
        raise ParseError("only label matchers are supported")
    return expr.matchers


def _validate(expr: Expr) -> None:
    match expr:
        case Selector():
            check_matchers(expr.matchers)
        case RangeAggregation():
            check_matchers(expr.range.selector.matchers)
        case VectorAggregation():
            if expr.operation in ("sort", "sort_desc") and expr.grouping and expr.grouping.names:
                raise ParseError("sort and sort_desc doesn't allow grouping by ")
            _validate(expr.of)
        case BinaryOperation():
            _validate(expr.left)
            _validate(expr.right)
        case LabelReplace():
            _validate(expr.of)
        case _:
            return


class _Parser:
    """One query: what comes next, and what has been wrong without being an error of syntax."""

    __slots__ = ("_depth", "_lexer", "_operators", "_problem", "_token")

    def __init__(self, query: str) -> None:
        self._lexer = Lexer(query)
        self._token: Token | None = None
        self._problem: ParseError | None = None
        self._depth = 0
        self._operators = 0

    # --- words ----------------------------------------------------------------------------------------

    def _peek(self) -> Token:
        if self._token is None:
            self._token = self._lexer.next()
        return self._token

    def _take(self) -> Token:
        token = self._peek()
        self._token = None
        return token

    def _at(self, *kinds: str) -> bool:
        return self._peek().kind in kinds

    def _unexpected(self, *expected: str) -> ParseError:
        token = self._peek()
        text = f"syntax error: unexpected {token.kind}"
        if expected:
            text += ", expecting " + " or ".join(expected)
        return ParseError(text, token.line, token.column)

    def _expect(self, kind: str, *others: str) -> Token:
        if not self._at(kind):
            raise self._unexpected(kind, *others)
        return self._take()

    def _expect_silently(self, kind: str) -> Token:
        if not self._at(kind):
            raise self._unexpected()
        return self._take()

    def _note(self, problem: str) -> None:
        """Remember a complaint that Loki makes once all of the query has been read."""
        if self._problem is None:
            self._problem = ParseError(problem)

    def _checked(self, check: Callable[[], None]) -> None:
        try:
            check()
        except ParseError as error:
            if self._problem is None:
                self._problem = error

    def _nest(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ParseError(f"expression is nested too deeply ({self._depth} > {MAX_DEPTH})")

    def _join(self) -> None:
        self._operators += 1
        if self._operators > MAX_OPERATORS:
            raise ParseError(f"expression has too many operators ({self._operators} > {MAX_OPERATORS})")

    # --- expressions ----------------------------------------------------------------------------------

    def query(self) -> Expr:
        expr = self._expression(0)
        if not self._at(END):
            raise self._unexpected()
        if self._problem is not None:
            raise self._problem
        return expr

    def _expression(self, floor: int, first: Expr | None = None) -> Expr:
        """Operands joined by operators that bind more strongly than ``floor``; ``first`` has been read before."""
        left = self._operand() if first is None else first
        while True:
            operation = self._peek().kind
            precedence = _PRECEDENCE.get(operation, 0)
            if precedence <= floor:
                return left
            self._take()
            self._join()
            as_bool, matching = self._modifier()
            # Powers bind to the right.
            right = self._expression(precedence - 1 if operation == "^" else precedence)
            left = self._binary(operation, left, right, as_bool, matching)

    def _binary(
        self, operation: str, left: Expr, right: Expr, as_bool: bool, matching: Matching
    ) -> MetricExpr:
        for side, leg in (("left", left), ("right", right)):
            if isinstance(leg, Selector):
                kind = "*syntax.PipelineExpr" if leg.stages else "*syntax.MatchersExpr"
                self._note(f"unexpected type for {side} leg of binary operation ({operation}): {kind}")
                return Literal(0.0)
            if operation in LOGICAL and isinstance(leg, Literal):
                self._note(
                    f"unexpected literal for {side} leg of logical/set binary operation ({operation}): {leg.value:f}"
                )
        assert not isinstance(left, Selector) and not isinstance(right, Selector)
        if isinstance(left, Literal) and isinstance(right, Literal):
            return Literal(scalar(operation, left.value, right.value))
        return BinaryOperation(operation, left, right, as_bool, matching)

    def _modifier(self) -> tuple[bool, Matching]:
        as_bool = self._at("bool") and bool(self._take())
        if not self._at("on", "ignoring"):
            return as_bool, Matching()
        on = self._take().kind == "on"
        names = self._names()
        if not self._at("group_left", "group_right"):
            return as_bool, Matching(on, names)
        group = self._take().kind
        # What stands in parentheses behind ``group_left`` is always a list of labels.
        include = self._names() if self._at("(") else ()
        return as_bool, Matching(on, names, group, include)

    def _names(self) -> tuple[str, ...]:
        """``(a, b)`` or ``()``."""
        self._expect("(")
        if self._at(")"):
            self._take()
            return ()
        names = [self._expect("IDENTIFIER", ")").text]
        while not self._at(")"):
            if not self._at(","):
                raise self._unexpected(",", ")")
            self._take()
            names.append(self._expect("IDENTIFIER").text)
        self._take()
        return tuple(names)

    def _operand(self) -> Expr:
        token = self._peek()
        kind = token.kind
        if kind == "{":
            return self._log_query()
        if kind == "(":
            self._take()
            self._nest()
            inner = self._expression(0)
            self._expect_silently(")")
            self._depth -= 1
            return inner
        if kind in ("NUMBER", "+", "-"):
            return Literal(self._number())
        if kind in _RANGE_KINDS:
            return self._range_aggregation(_RANGE_KINDS[kind])
        if kind in _VECTOR_KINDS:
            return self._vector_aggregation(_VECTOR_KINDS[kind])
        if kind == "VECTOR":
            self._take()
            self._expect("(")
            number = self._expect("NUMBER").text
            self._expect(")")
            return VectorOf(self._float(number, "unable to parse vectorExpr as a float"))
        if kind == "label_replace":
            return self._label_replace()
        if kind == "variants":
            self._take()
            self._expect("(")
            self._metric()
            raise ParseError("multi variant queries are disabled for this instance")
        raise self._unexpected()

    def _number(self) -> float:
        sign = self._take().kind if self._at("+", "-") else ""
        value = self._float(self._expect("NUMBER").text, _LITERAL)
        return -value if sign == "-" else value

    def _float(self, text: str, problem: str) -> float:
        try:
            return float(int(text, 16)) if text[:2] in ("0x", "0X") else parse_float(text)
        except ValueError as error:
            self._note(f"{problem}: {error}")
            return 0.0

    def _metric(self, first: Expr | None = None) -> MetricExpr:
        """An expression of samples: lines alone cannot stand here."""
        expr = self._expression(0, first)
        if isinstance(expr, Selector):
            raise self._unexpected()
        return expr

    # --- aggregations ---------------------------------------------------------------------------------

    def _vector_aggregation(self, operation: str) -> MetricExpr:
        self._take()
        grouping = self._grouping() if self._at("by", "without") else None
        self._expect("(")
        self._nest()
        parameter, of = "", None
        if self._at("NUMBER"):
            parameter = self._take().text
            if self._at(","):
                self._take()
            else:
                of = self._metric(Literal(self._float(parameter, _LITERAL)))
                parameter = ""
        if of is None:
            of = self._metric()
        self._expect_silently(")")
        self._depth -= 1
        if grouping is None and self._at("by", "without"):
            grouping = self._grouping()
        return VectorAggregation(operation, of, self._count(operation, parameter, grouping), grouping)

    def _count(self, operation: str, parameter: str, grouping: Grouping | None) -> int:
        """How many samples ``topk`` and its like keep; 0 for other operations."""
        if operation not in ("topk", "bottomk", "approx_topk"):
            if parameter:
                self._note(f"unsupported parameter for operation {operation}({parameter},")
            return 0
        if not parameter:
            self._note(f"parameter required for operation {operation}")
            return 1
        try:
            count = parse_whole(parameter)
        except ValueError:
            self._note(f"invalid parameter {operation}({parameter},")
            return 1
        if count <= 0:
            self._note(f"invalid parameter (must be greater than 0) {operation}({parameter}")
        if operation == "approx_topk" and grouping is not None:
            self._note(f"grouping not allowed for {operation} aggregation")
        return count

    def _grouping(self) -> Grouping:
        without = self._take().kind == "without"
        return Grouping(self._names(), without)

    def _label_replace(self) -> MetricExpr:
        self._take()
        self._expect("(")
        self._nest()
        of = self._metric()
        self._expect_silently(",")
        words = [self._expect("STRING").text]
        for _ in range(3):
            self._expect(",")
            words.append(self._expect("STRING").text)
        self._expect(")")
        self._depth -= 1
        expr = LabelReplace(of, words[0], words[1], words[2], words[3])
        self._checked(lambda: check_replace(expr))
        return expr

    def _range_aggregation(self, operation: str) -> MetricExpr:
        self._take()
        self._expect("(")
        parameter = ""
        if self._at("NUMBER"):
            parameter = self._take().text
            self._expect(",")
            if not self._at("{", "("):
                raise self._unexpected("{", "(")
        elif not self._at("{", "("):
            raise self._unexpected("NUMBER", "{", "(")
        lines = self._log_range()
        self._expect(")")
        grouping = self._grouping() if self._at("by", "without") else None
        value: float | None = None
        if parameter and operation != "quantile_over_time":
            self._note(f"parameter {parameter} not supported for operation {operation}")
        elif parameter:
            value = self._float(parameter, f"invalid parameter for operation {operation}")
        elif operation == "quantile_over_time":
            self._note(f"parameter required for operation {operation}")
        expr = RangeAggregation(operation, lines, value, grouping)
        self._checked(lambda: check_range(expr))
        return expr

    # --- ranges of lines ------------------------------------------------------------------------------

    def _log_range(self) -> LogRange:
        """Lines and how far back they reach; the range stands before or behind the pipeline, or behind parentheses."""
        if not self._at("("):
            return self._bare_range(closing=False)
        self._take()
        self._nest()
        if self._at("("):
            found = self._log_range()
            self._expect(")")
        elif self._at("{"):
            found = self._bare_range(closing=True)
        else:
            raise self._unexpected("{", "(")
        self._depth -= 1
        return found

    def _bare_range(self, closing: bool) -> LogRange:
        """A range that begins with a selector; ``closing`` where a parenthesis has been opened just before it."""
        matchers = self._selector()
        stages, unwrap = self._pipeline(unwraps=True)
        plain = not stages and unwrap is None
        closed = closing and self._at(")")
        if closed:
            self._take()
        elif not self._at("RANGE"):
            raise self._unexpected(
                *(("RANGE", ")", "|") if closing and unwrap else ("RANGE", "|") if unwrap else ())
            )
        interval = self._expect("RANGE").value
        offset = 0
        if self._at("offset"):
            self._take()
            offset = self._expect("DURATION").value
        if plain and not closed:
            stages, unwrap = self._pipeline(unwraps=True)
        elif plain and self._at("|"):
            self._take()
            unwrap = self._unwrap()
        if closing and not closed:
            self._expect(")")
        return LogRange(Selector(matchers, stages), interval, offset, unwrap)

    def _unwrap(self) -> Unwrap:
        """``unwrap x`` behind its ``|``, and the filters behind it."""
        self._expect("unwrap")
        conversion = ""
        if self._peek().kind in _CONVERSION_KINDS:
            conversion = _CONVERSION_KINDS[self._take().kind]
            self._expect("(")
            name = self._expect("IDENTIFIER").text
            self._expect(")")
        else:
            name = self._expect("IDENTIFIER", *_CONVERSION_KINDS).text
        conditions: list[LabelCondition] = []
        while self._at("|"):
            self._take()
            conditions.append(self._condition(0))
        return Unwrap(name, conversion, tuple(conditions))

    # --- log queries ----------------------------------------------------------------------------------

    def _log_query(self) -> Selector:
        matchers = self._selector()
        stages, _ = self._pipeline(unwraps=False)
        return Selector(matchers, stages)

    def _selector(self) -> tuple[Matcher, ...]:
        self._expect("{")
        if self._at("}"):
            self._take()
            return ()
        if not self._at("IDENTIFIER"):
            raise self._unexpected("IDENTIFIER", "}")
        matchers = [self._matcher()]
        while not self._at("}"):
            if not self._at(","):
                raise self._unexpected("}", ",")
            self._take()
            matchers.append(self._matcher())
        self._take()
        return tuple(matchers)

    def _matcher(self) -> Matcher:
        name = self._expect("IDENTIFIER").text
        if not self._at(*_MATCHERS):
            raise self._unexpected(*_MATCHERS)
        operation = self._take().kind
        return check_matcher(Matcher(name, operation, self._expect("STRING").text))

    def _pipeline(self, unwraps: bool) -> tuple[tuple[Stage, ...], Unwrap | None]:
        stages: list[Stage] = []
        while True:
            if self._peek().kind in _LINE_FILTERS:
                stages += self._line_filter()
            elif not self._at("|"):
                return tuple(stages), None
            else:
                self._take()
                if unwraps and self._at("unwrap"):
                    return tuple(stages), self._unwrap()
                stages.append(self._stage())

    def _line_filter(self) -> list[LineFilter]:
        operation = self._take().kind
        terms = [self._term()]
        while self._at("or"):
            self._take()
            terms.append(self._term())
        # Neither of two is the one not and the other not either.
        groups = [(term,) for term in terms] if operation[0] == "!" else [tuple(terms)]
        return [LineFilter(operation, group) for group in groups]

    def _term(self) -> Term:
        if self._at("STRING"):
            return Term(self._take().text)
        if not self._at("ip"):
            raise self._unexpected("STRING", "ip")
        return Term(self._address(), True)

    def _address(self) -> str:
        """``ip("10.0.0.0/8")``: the pattern."""
        self._take()
        self._expect("(")
        pattern = self._expect("STRING").text
        self._expect(")")
        return pattern

    def _stage(self) -> Stage:
        kind = self._peek().kind
        if kind in ("IDENTIFIER", "("):
            return LabelFilter(self._condition(0))
        match kind:
            case "json":
                self._take()
                return Parse("json", fields=self._extractions())
            case "logfmt":
                self._take()
                flags: list[str] = []
                while self._at("PARSER_FLAG"):
                    flags.append(self._take().text)
                ordered = tuple(flag for flag in ("--strict", "--keep-empty") if flag in flags)
                return Parse("logfmt", flags=ordered, fields=self._extractions())
            case "regexp" | "pattern":
                self._take()
                stage = Parse(kind, self._expect("STRING").text)
                check_pattern(stage)
                return stage
            case "unpack":
                self._take()
                return Parse("unpack")
            case "line_format":
                self._take()
                return LineFormat(self._expect("STRING").text)
            case "label_format":
                self._take()
                return LabelFormat(tuple(self._separated(self._format)))
            case "decolorize":
                self._take()
                return Decolorize()
            case "drop" | "keep":
                self._take()
                return Select(kind, tuple(self._separated(self._selected)))
            case "distinct":
                self._take()
                return Distinct(tuple(self._separated(lambda: self._expect("IDENTIFIER").text)))
        raise self._unexpected()

    def _separated(self, read: Callable[[], _T]) -> list[_T]:
        """One or more, with commas between them."""
        found = [read()]
        while self._at(","):
            self._take()
            found.append(read())
        return found

    def _extractions(self) -> tuple[Extraction, ...]:
        return tuple(self._separated(self._extraction)) if self._at("IDENTIFIER") else ()

    def _extraction(self) -> Extraction:
        name = self._expect("IDENTIFIER").text
        if not self._at("="):
            return Extraction(name, name)
        self._take()
        return Extraction(name, self._expect("STRING").text)

    def _format(self) -> Formatted:
        name = self._expect("IDENTIFIER").text
        self._expect("=")
        if not self._at("IDENTIFIER", "STRING"):
            raise self._unexpected("IDENTIFIER", "STRING")
        token = self._take()
        return Formatted(name, token.text, token.kind == "IDENTIFIER")

    def _selected(self) -> str | Matcher:
        name = self._expect("IDENTIFIER").text
        if not self._at(*_MATCHERS):
            return name
        operation = self._take().kind
        return check_matcher(Matcher(name, operation, self._expect("STRING").text))

    # --- filters of labels ----------------------------------------------------------------------------

    def _condition(self, floor: int) -> LabelCondition:
        """Conditions joined by ``or``, ``and``, or by commas or nothing, which take all that follows them."""
        left = self._simple_condition()
        while self._at("or", "and", ",", "IDENTIFIER", "("):
            kind = self._peek().kind
            binds = _CONDITION_PRECEDENCE.get(kind)
            if binds is not None and binds <= floor:
                return left
            self._join()
            if kind not in ("IDENTIFIER", "("):
                self._take()
            left = Both(left, self._condition(binds or 0), kind != "or")
        return left

    def _simple_condition(self) -> LabelCondition:
        if self._at("("):
            self._take()
            self._nest()
            inner = self._condition(0)
            self._expect_silently(")")
            self._depth -= 1
            return inner
        name = self._expect("IDENTIFIER", "(").text
        if self._at("=~", "!~"):
            operation = self._take().kind
            return check_matcher(Matcher(name, operation, self._expect("STRING").text))
        if self._peek().kind not in _COMPARISONS:
            raise self._unexpected()
        operation = self._take().kind
        if operation in ("=", "!="):
            if self._at("STRING"):
                return Matcher(name, operation, self._take().text)
            if self._at("ip"):
                return AddressIs(name, operation, self._address())
        compared = "==" if operation == "=" else operation
        if self._at("DURATION", "BYTES"):
            token = self._take()
            return Compare(name, compared, token.value, token.kind.lower())
        if not self._at("NUMBER", "+", "-"):
            raise self._unexpected()
        return Compare(name, compared, self._number(), "number")
