"""Evaluation of queries.

A query is evaluated at all its steps at once: every expression becomes a grid of series and steps. What does not change
with the step (under ``@``) is evaluated once. Semantics are those of Prometheus 2.42 without experimental features:
a lookback of five minutes that includes its left edge, ranges closed on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from sregym_env.telemetry.labels import NAME, Labels, nameless, replaced
from sregym_env.telemetry.promql import functions
from sregym_env.telemetry.promql.aggregations import aggregated
from sregym_env.telemetry.promql.binary import scalars, vector_and_scalar, vectors
from sregym_env.telemetry.promql.budget import CELL, SERIES, Budget, Limits
from sregym_env.telemetry.promql.checks import type_of
from sregym_env.telemetry.promql.errors import BadData
from sregym_env.telemetry.promql.grid import Grid, empty, unique
from sregym_env.telemetry.promql.parser import parse
from sregym_env.telemetry.promql.ranges import FUNCTIONS, Samples, windows
from sregym_env.telemetry.promql.signatures import TIME_DEPENDENT
from sregym_env.telemetry.promql.syntax import (
    DOCUMENTED,
    Aggregation,
    At,
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
    children,
    without_parens,
)
from sregym_env.telemetry.series import Matcher, Series, SeriesSource, Times, Values, is_stale

Value: TypeAlias = Grid | Values | str
"""A vector, a scalar at every step, or a string."""


@dataclass(frozen=True, slots=True)
class Options:
    """How an engine is set."""

    lookback: int = 300_000
    """Milliseconds for which a sample counts (``--query.lookback-delta``)."""
    evaluation_interval: int = 60_000
    """Milliseconds; the step of subqueries that say none (``global.evaluation_interval``)."""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """A query's answer: (labels, instants in milliseconds, values) of every series."""

    type: ValueType
    series: Sequence[tuple[Labels, Times, Values]]
    text: str = ""
    """The value of a string."""


class Engine:
    """Answers queries about a source. It keeps nothing between them."""

    __slots__ = ("_options", "_source")

    def __init__(self, source: SeriesSource, options: Options | None = None) -> None:
        """Ask ``source``."""
        self._source = source
        self._options = options or Options()

    @property
    def options(self) -> Options:
        """How it is set."""
        return self._options

    def query(self, query: str, time_ms: int) -> Result:
        """The answer at an instant. Raises QueryError."""
        return self.evaluate(parse(query), time_ms)

    def evaluate(self, tree: Expr, time_ms: int) -> Result:
        """The answer of a parsed query at an instant. Raises QueryError."""
        steps = np.array([time_ms], dtype=np.int64)
        budget = Budget(self._options.limits)
        evaluation = _Evaluation(self._source, self._options, budget, steps, time_ms, time_ms)
        kind = type_of(tree)
        with np.errstate(all="ignore"):
            if kind == "matrix":
                found = evaluation.range_of(tree)
                return Result("matrix", found)
            value = evaluation.value(tree)
        if isinstance(value, str):
            return Result("string", (((), steps, np.zeros(1)),), value)
        if not isinstance(value, Grid):
            return Result("scalar", (((), steps, value),))
        value = value.filled()
        return Result(
            "vector", [(labels, steps, value.values[row]) for row, labels in enumerate(value.labels)]
        )

    def query_range(self, query: str, start_ms: int, end_ms: int, step_ms: int) -> Result:
        """The answers from start to end. Raises QueryError."""
        tree = parse(query)
        kind = type_of(tree)
        if kind not in ("scalar", "vector"):
            raise BadData(
                f'invalid expression type "{DOCUMENTED[kind]}" for range query, must be Scalar or instant Vector'
            )
        budget = Budget(self._options.limits)
        budget.hold((end_ms - start_ms) // step_ms + 1)
        steps = np.arange(start_ms, end_ms + 1, step_ms, dtype=np.int64)
        evaluation = _Evaluation(self._source, self._options, budget, steps, start_ms, end_ms)
        with np.errstate(all="ignore"):
            value = evaluation.value(tree)
        if not isinstance(value, Grid):
            assert isinstance(value, np.ndarray)
            return Result("matrix", (((), steps, value),))
        grid = value.filled()
        found = []
        for row in sorted(range(len(grid.labels)), key=lambda row: grid.labels[row]):
            present = grid.present[row]
            found.append((grid.labels[row], steps[present], grid.values[row][present]))
        return Result("matrix", found)


class _Evaluation:
    """An evaluation at some steps."""

    __slots__ = ("_budget", "_end", "_options", "_source", "_start", "_steps")

    def __init__(
        self, source: SeriesSource, options: Options, budget: Budget, steps: Times, start: int, end: int
    ) -> None:
        self._source = source
        self._options = options
        self._budget = budget
        self._steps = steps
        self._start = start
        self._end = end

    def _at_steps(self, steps: Times) -> _Evaluation:
        return _Evaluation(self._source, self._options, self._budget, steps, self._start, self._end)

    # --- values -------------------------------------------------------------------------------------

    def value(self, node: Expr) -> Value:
        """An expression's value."""
        count = len(self._steps)
        if count > 1 and not isinstance(node, Number | String | Paren) and _is_constant(node):
            return _spread(self._at_steps(self._steps[:1]).value(node), count)
        self._budget.spend(2.0)
        if isinstance(node, Number):
            return np.full(count, node.value)
        if isinstance(node, String):
            return node.value
        if isinstance(node, Paren):
            return self.value(node.inner)
        if isinstance(node, Selector):
            return self._instant(node, stamps=False)
        if isinstance(node, Unary):
            return self._unary(node)
        if isinstance(node, Binary):
            return self._binary(node)
        if isinstance(node, Aggregation):
            parameter = None if node.parameter is None else self.value(node.parameter)
            assert not isinstance(parameter, Grid)
            return aggregated(node, self._vector(node.inner).filled(), parameter, self._budget)
        if isinstance(node, Call):
            return self._call(node)
        raise AssertionError(node)  # ranges are arguments, and the whole query of an instant one

    def _vector(self, node: Expr) -> Grid:
        value = self.value(node)
        assert isinstance(value, Grid)
        return value

    def _scalar(self, node: Expr) -> Values:
        value = self.value(node)
        assert isinstance(value, np.ndarray)
        return value

    def _string(self, node: Expr) -> str:
        value = self.value(node)
        assert isinstance(value, str)
        return value

    def _unary(self, node: Unary) -> Value:
        value = self.value(node.inner)
        assert not isinstance(value, str)
        if not isinstance(value, Grid):
            return -value if node.operator == "-" else value
        if node.operator == "+":
            return value
        return unique(Grid(value.labels, -value.values, value.present).relabelled(nameless))

    def _binary(self, node: Binary) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        assert not isinstance(left, str) and not isinstance(right, str)
        if isinstance(left, Grid) and isinstance(right, Grid):
            return vectors(node, left, right, self._budget)
        if isinstance(left, Grid):
            assert not isinstance(right, Grid)
            return vector_and_scalar(node, left, right, vector_is_left=True)
        if isinstance(right, Grid):
            return vector_and_scalar(node, right, left, vector_is_left=False)
        return scalars(node.operator, left, right)

    # --- selectors ----------------------------------------------------------------------------------

    def _moments(self, at: At | None, offset: int) -> Times:
        """The instants that a selector looks at, one for each step."""
        steps = self._steps
        if at is not None:
            instant = {"start": self._start, "end": self._end}.get(at.edge, at.instant)
            steps = np.full(len(steps), instant, dtype=np.int64)
        return steps - offset

    def _select(self, matchers: Sequence[Matcher], start: int, end: int) -> list[Series]:
        found = sorted(self._source.select(matchers, start, end), key=lambda each: each.labels)
        self._budget.spend(SERIES * len(found))
        return found

    def _instant(self, node: Selector, stamps: bool) -> Grid:
        """The latest samples; with ``stamps`` their instants in seconds instead."""
        moments = self._moments(node.at, node.offset)
        lookback = self._options.lookback
        series = self._select(node.matchers, int(moments[0]) - lookback, int(moments[-1]))
        shape = (len(series), len(moments))
        self._budget.hold(shape[0] * shape[1])
        self._budget.spend(CELL * shape[0] * shape[1])
        out, present = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
        for times, rows in _alike(series):
            index = np.searchsorted(times, moments, "right") - 1
            near = (index >= 0) & (times[np.maximum(index, 0)] >= moments - lookback)
            if not near.any():
                continue
            index = np.maximum(index, 0)
            values = np.stack([series[row].values[index] for row in rows])
            present[rows] = near & ~is_stale(values)
            out[rows] = times[index] / 1000.0 if stamps else values
        return Grid([each.labels for each in series], out, present).filled()

    def range_of(self, node: Expr) -> list[tuple[Labels, Times, Values]]:
        """The samples of a range that is a query of its own."""
        node = without_parens(node)
        found: list[tuple[Labels, Times, Values]] = []
        labels, samples, length, ends = self._samples(node)
        for group in samples:
            low = int(np.searchsorted(group.times, ends[0] - length, "left"))
            high = int(np.searchsorted(group.times, ends[0], "right"))
            if high > low:
                for place, row in enumerate(group.rows):
                    found.append((labels[row], group.times[low:high], group.values[place, low:high]))
        found.sort(key=lambda each: each[0])
        return found

    def _samples(self, node: Expr) -> tuple[list[Labels], list[Samples], int, Times]:
        """The series of a range, their samples, the range's length and its right edges."""
        if isinstance(node, Range):
            selector = node.selector
            ends = self._moments(selector.at, selector.offset)
            series = self._select(selector.matchers, int(ends[0]) - node.range, int(ends[-1]))
            return [each.labels for each in series], self._clean(series), node.range, ends
        assert isinstance(node, Subquery)
        ends = self._moments(node.at, node.offset)
        interval = node.step or self._options.evaluation_interval
        first = -(-(int(ends[0]) - node.range) // interval) * interval
        count = (int(ends[-1]) - first) // interval + 1
        if count < 1:
            return [], [], node.range, ends
        self._budget.hold(count)
        self._budget.spend(CELL * count)
        steps = np.arange(first, first + count * interval, interval, dtype=np.int64)
        grid = self._at_steps(steps)._vector(node.inner).filled()
        patterns: dict[bytes, list[int]] = {}
        for row in range(len(grid.labels)):
            patterns.setdefault(grid.present[row].tobytes(), []).append(row)
        samples = []
        for rows in patterns.values():
            there = grid.present[rows[0]]
            samples.append(Samples(rows, steps[there], grid.values[rows][:, there]))
        return list(grid.labels), samples, node.range, ends

    def _clean(self, series: Sequence[Series]) -> list[Samples]:
        """Series that share their instants put together, without stale markers."""
        found = []
        for times, rows in _alike(series):
            values = np.stack([series[row].values for row in rows])
            self._budget.hold(values.size)
            stale = is_stale(values)
            if not stale.any():
                found.append(Samples(rows, times, values))
                continue
            for place, row in enumerate(rows):
                kept = ~stale[place]
                found.append(Samples([row], times[kept], values[place][None, kept]))
        return found

    # --- functions ----------------------------------------------------------------------------------

    def _call(self, node: Call) -> Value:
        name, given = node.function, node.arguments
        if name in FUNCTIONS:
            return self._over_range(node)
        if name == "time":
            return self._steps / 1000.0
        if name == "pi":
            return np.full(len(self._steps), np.pi)
        if name == "vector":
            value = self._scalar(given[0])
            return Grid([()], value[None], np.ones((1, len(value)), dtype=np.bool_))
        if name in functions.DATES and not given:
            return functions.mapped(functions.now(self._steps), functions.DATES[name])
        if name == "timestamp":
            return self._timestamp(given[0])
        numbers = [self._scalar(each) for each in given if type_of(each) == "scalar"]
        grid = self._vector(next(each for each in given if type_of(each) == "vector"))
        self._budget.spend(CELL * grid.values.size + 0.5 * len(grid.labels))
        if name in functions.SIMPLE:
            return functions.mapped(grid, functions.SIMPLE[name])
        if name in functions.DATES:
            return functions.mapped(grid, functions.DATES[name])
        texts = [self._string(each) for each in given if type_of(each) == "string"]
        return self._vector_call(node, grid, numbers, texts)

    def _vector_call(self, node: Call, grid: Grid, numbers: Sequence[Values], texts: Sequence[str]) -> Value:
        match node.function:
            case "scalar":
                return functions.scalar_of(grid)
            case "absent":
                return functions.absent(grid, _labels_of_absent(node.arguments[0]))
            case "round":
                return functions.rounded(grid, numbers[0] if numbers else np.ones(1))
            case "clamp":
                return functions.clamped(grid, numbers[0], numbers[1])
            case "clamp_min":
                return functions.mapped(grid, lambda values: functions.larger(numbers[0], values))
            case "clamp_max":
                return functions.mapped(grid, lambda values: functions.smaller(numbers[0], values))
            case "sort" | "sort_desc":
                return functions.ordered(grid, node.function == "sort_desc")
            case "label_replace":
                return functions.label_replaced(grid, texts, self._budget)
            case "label_join":
                return functions.label_joined(grid, texts, self._budget)
            case "histogram_quantile":
                return functions.histogram_quantile(numbers[0], grid, self._budget)
        return empty(grid.steps)  # what works on native histograms alone, of which there are none

    def _timestamp(self, node: Expr) -> Grid:
        inner = without_parens(node)
        if isinstance(inner, Selector):
            grid = self._instant(inner, stamps=True)
            return functions.mapped(grid, lambda values: values)
        return functions.mapped(
            self._vector(node), lambda values: np.broadcast_to(self._steps / 1000.0, values.shape)
        )

    def _over_range(self, node: Call) -> Grid:
        ranged = next(each for each in node.arguments if type_of(each) == "matrix")
        arguments = [self._scalar(each) for each in node.arguments if each is not ranged]
        function = FUNCTIONS[node.function]
        labels, samples, length, ends = self._samples(without_parens(ranged))
        shape = (len(labels), len(ends))
        self._budget.hold(shape[0] * shape[1])
        values, present = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
        for rows, part, window in windows(samples, ends, self._steps, length, arguments, self._budget):
            found, there = function(window)
            values[rows, part], present[rows, part] = found, there
        grid = Grid(labels, values, present)
        if node.function == "absent_over_time":
            return functions.absent(grid, _labels_of_absent(node.arguments[0]))
        return unique(grid if node.function == "last_over_time" else grid.relabelled(nameless))


def _alike(series: Sequence[Series]) -> Iterable[tuple[Times, list[int]]]:
    """The series that share their instants: (instants, which)."""
    by_identity: dict[int, list[int]] = {}
    for row, each in enumerate(series):
        by_identity.setdefault(id(each.timestamps), []).append(row)
    by_instants: dict[bytes, tuple[Times, list[int]]] = {}
    for rows in by_identity.values():
        times = series[rows[0]].timestamps
        if len(times):
            by_instants.setdefault(times.tobytes(), (times, []))[1].extend(rows)
    return by_instants.values()


def _is_constant(node: Expr) -> bool:
    """Whether a value is the same at all steps, because everything it looks at is at a fixed instant."""
    if isinstance(node, Number | String):
        return True
    if isinstance(node, Selector):
        return node.at is not None
    if isinstance(node, Range):
        return node.selector.at is not None
    if isinstance(node, Subquery):
        return node.at is not None
    if isinstance(node, Call) and node.function in TIME_DEPENDENT:
        return False
    return all(_is_constant(child) for child in children(node))


def _spread(value: Value, count: int) -> Value:
    """The value of one step at ``count`` steps."""
    if isinstance(value, str):
        return value
    if isinstance(value, Grid):
        shape = (len(value.labels), count)
        return Grid(value.labels, np.broadcast_to(value.values, shape), np.broadcast_to(value.present, shape))
    return np.broadcast_to(value, (count,))


def _labels_of_absent(node: Expr) -> Labels:
    """What is known of a series that is not there: the labels that must equal something."""
    node = without_parens(node)
    if isinstance(node, Range):
        node = node.selector
    if not isinstance(node, Selector):
        return ()
    labels: Labels = ()
    seen: set[str] = set()
    for matcher in node.matchers:
        if matcher.name == NAME:
            continue
        if matcher.operator == "=" and matcher.name not in seen:
            labels = replaced(labels, matcher.name, matcher.value)
            seen.add(matcher.name)
        else:
            labels = replaced(labels, matcher.name, "")
    return labels
