"""What Loki refuses in a query that parses."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.telemetry.logql.errors import ParseError, QueryError
from sregym_env.telemetry.logql.labels import is_label_name
from sregym_env.telemetry.logql.matching import predicate
from sregym_env.telemetry.logql.patterns import PatternError, parse_pattern
from sregym_env.telemetry.logql.regexes import compiled
from sregym_env.telemetry.logql.syntax import LabelReplace, Matcher, Parse, RangeAggregation

_UNWRAPPED = frozenset(
    "avg_over_time sum_over_time max_over_time min_over_time stddev_over_time stdvar_over_time quantile_over_time rate "
    "rate_counter absent_over_time first_over_time last_over_time".split()
)
_PLAIN = frozenset(("bytes_over_time", "bytes_rate", "count_over_time", "rate", "absent_over_time"))
_GROUPED = frozenset(
    "avg_over_time stddev_over_time stdvar_over_time quantile_over_time max_over_time min_over_time first_over_time "
    "last_over_time".split()
)


def check_matcher(matcher: Matcher) -> Matcher:
    """The matcher itself. Raises ParseError where its pattern is wrong."""
    try:
        predicate(matcher)
    except ParseError:
        raise
    except QueryError as error:
        raise ParseError(str(error)) from None
    return matcher


def check_matchers(matchers: Sequence[Matcher]) -> None:
    """Raises ParseError where a selector would take every stream there is."""
    if all(predicate(matcher)("") for matcher in matchers):
        raise ParseError(
            "queries require at least one regexp or equality matcher that does not have an empty-compatible value. "
            'For instance, app=~".*" does not meet this requirement, but app=~".+" will'
        )


def check_pattern(stage: Parse) -> None:
    """Raises ParseError where ``regexp`` or ``pattern`` could never find a label."""
    try:
        if stage.kind == "pattern":
            parse_pattern(stage.pattern)
        else:
            _check_regexp(stage.pattern)
    except (PatternError, QueryError) as error:
        raise ParseError(f"invalid {stage.kind} parser: {error}") from None


def _check_regexp(pattern: str) -> None:
    names = sorted(compiled(pattern).groupindex)
    if not names:
        raise PatternError("at least one named capture must be supplied")
    for name in names:
        if not is_label_name(name):
            raise PatternError(f"invalid extracted label name '{name}'")


def check_range(expr: RangeAggregation) -> None:
    """Raises ParseError where an aggregation does not fit what it aggregates."""
    operation = expr.operation
    if expr.grouping is not None and operation not in _GROUPED:
        raise ParseError(f"grouping not allowed for {operation} aggregation")
    if expr.range.unwrap is not None and operation not in _UNWRAPPED:
        raise ParseError(f"invalid aggregation {operation} with unwrap")
    if expr.range.unwrap is None and operation not in _PLAIN:
        raise ParseError(f"invalid aggregation {operation} without unwrap")


def check_replace(expr: LabelReplace) -> None:
    """Raises ParseError where the pattern of ``label_replace`` is wrong."""
    try:
        compiled(expr.pattern)
    except QueryError as error:
        raise ParseError(f"invalid regex in label_replace: {error}") from None
