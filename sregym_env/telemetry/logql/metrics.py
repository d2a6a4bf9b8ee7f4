"""Metric queries: samples from lines, windows over samples, vectors step by step."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from sregym_env.kube.gotemplate import TemplateError
from sregym_env.telemetry.logql.errors import QueryError, pipeline_error, too_many_series
from sregym_env.telemetry.logql.labels import ERROR, Labels
from sregym_env.telemetry.logql.operations import ARITHMETIC, COMPARISONS, LOGICAL
from sregym_env.telemetry.logql.pipeline import Pipeline, condition_step, without_labels
from sregym_env.telemetry.logql.regexes import compiled
from sregym_env.telemetry.logql.row import Row
from sregym_env.telemetry.logql.scan import Chosen, Limits, Scan, choose
from sregym_env.telemetry.logql.source import LogSource
from sregym_env.telemetry.logql.syntax import (
    BinaryOperation,
    Grouping,
    LabelReplace,
    Literal,
    Matching,
    MetricExpr,
    RangeAggregation,
    Unwrap,
    VectorAggregation,
    VectorOf,
)
from sregym_env.telemetry.logql.templates import expand
from sregym_env.telemetry.logql.units import SECOND, parse_bytes, parse_float, parse_go_duration
from sregym_env.telemetry.logql.windows import largest, mean, reducer, smallest, variance

Vector = list[tuple[Labels, float]]
"""The samples of one instant."""

EXTRACTION_ERROR = "SampleExtractionErr"

_NOTHING: Labels = ()

_ADDITIVE = frozenset(("bytes_over_time", "bytes_rate", "sum_over_time", "rate", "count_over_time"))
"""Aggregations of which a sum over series is the same over all their samples."""


class Evaluation:
    """One metric query at work: over which instants, reading what."""

    __slots__ = ("_limits", "_now", "_scan", "_source", "_times")

    def __init__(self, source: LogSource, times: Sequence[int], now: int, limits: Limits, scan: Scan) -> None:
        """``times`` are the instants of the result (nanoseconds), ``now`` what the templates' clock shows."""
        self._source = source
        self._times = times
        self._now = now
        self._limits = limits
        self._scan = scan

    def vectors(self, expr: MetricExpr) -> list[Vector]:
        """The vector of each instant. Raises QueryError."""
        result = (
            self._range(expr, self._limits.max_series)
            if isinstance(expr, RangeAggregation)
            else self._evaluate(expr)
        )
        names: dict[Labels, None] = {}
        for vector in result:
            names.update(dict.fromkeys(labels for labels, _ in vector))
            if len(names) > self._limits.max_series:
                raise too_many_series(self._limits.max_series)
        return result

    def _evaluate(self, expr: MetricExpr) -> list[Vector]:
        match expr:
            case RangeAggregation():
                return self._range(expr)
            case VectorAggregation():
                combine = _combiner(expr)
                return [combine(self._noted(vector)) for vector in self._aggregated(expr)]
            case BinaryOperation():
                return self._binary(expr)
            case LabelReplace():
                return self._label_replace(expr)
            case Literal() | VectorOf():
                return [[(_NOTHING, expr.value)] for _ in self._times]

    def _aggregated(self, expr: VectorAggregation) -> list[Vector]:
        """What an aggregation is made of; where sums of sums are meant, lines are counted by the group at once."""
        of = expr.of
        if expr.operation == "sum" and isinstance(of, RangeAggregation) and of.operation in _ADDITIVE:
            if not (of.operation == "rate" and of.range.unwrap):
                return self._range(of, grouping=expr.grouping or Grouping())
        return self._evaluate(of)

    def _noted(self, vector: Vector) -> Vector:
        self._scan.combined(len(vector))
        return vector

    # --- samples --------------------------------------------------------------------------------------

    def _range(
        self, expr: RangeAggregation, most: int | None = None, grouping: Grouping | None = None
    ) -> list[Vector]:
        """Windows over samples; ``most`` is how many series there may be, ``grouping`` what becomes of their labels."""
        lines = expr.range
        ends = [time - lines.offset for time in self._times]
        samples = self._samples(expr, self._spans(ends, lines.interval), grouping)
        if most is not None and len(samples) > most:
            raise too_many_series(most)
        vectors: list[Vector] = [[] for _ in ends]
        reduce = reducer(expr)
        for labels in sorted(samples):
            times, values = samples[labels]
            if any(after < before for before, after in pairwise(times)):
                order = sorted(range(len(times)), key=times.__getitem__)
                times, values = [times[i] for i in order], [values[i] for i in order]
            failed = any(name == ERROR for name, _ in labels)
            # Windows that can hold a sample of this series.
            reach = range(bisect_left(ends, times[0]), bisect_left(ends, times[-1] + lines.interval))
            for step in reach:
                vector, end = vectors[step], ends[step]
                low = bisect_right(times, end - lines.interval)
                high = bisect_right(times, end, low)
                if low == high:
                    continue
                if failed:
                    raise pipeline_error(labels)
                self._scan.windowed(high - low)
                vector.append((labels, reduce(times[low:high], values[low:high])))
        if expr.operation == "absent_over_time":
            present = _absent_labels(expr)
            return [[] if vector else [(present, 1.0)] for vector in vectors]
        return vectors

    def _spans(self, ends: Sequence[int], interval: int) -> list[tuple[int, int]]:
        """What has to be read for windows that end at these instants: (start, end) without the end."""
        spans: list[tuple[int, int]] = []
        for end in ends:
            # A window holds its end and not its start.
            start = end - interval + 1
            if spans and start <= spans[-1][1]:
                spans[-1] = (spans[-1][0], end + 1)
            else:
                spans.append((start, end + 1))
        return spans

    def _samples(
        self, expr: RangeAggregation, spans: Sequence[tuple[int, int]], grouping: Grouping | None
    ) -> dict[Labels, tuple[list[int], list[float]]]:
        query = expr.range.selector
        parts = query.stages
        if expr.range.unwrap is None and grouping == Grouping():
            parts = without_labels(parts)
        pipeline = Pipeline(parts, self._now)
        take = _taker(expr, pipeline)
        stages = 0 if pipeline.plain and expr.range.unwrap is None else len(parts) + 1
        samples: dict[Labels, tuple[list[int], list[float]]] = {}
        for each in choose(self._source, query.matchers, spans[0][0], spans[-1][1]):
            for start, end in spans:
                for time, line in self._scan.counted(each.stream.entries(start, end), stages):
                    taken = take(each, time, line)
                    if taken is None:
                        continue
                    labels, value = taken
                    if grouping is not None:
                        labels = grouped(labels, grouping)
                    series = samples.get(labels)
                    if series is None:
                        self._scan.holds("", labels)
                        series = samples[labels] = ([], [])
                    series[0].append(time)
                    series[1].append(value)
                    self._scan.kept += 1
        return samples

    # --- vectors --------------------------------------------------------------------------------------

    def _binary(self, expr: BinaryOperation) -> list[Vector]:
        if isinstance(expr.right, Literal):
            combine = _with_number(expr.operation, expr.right.value, False, expr.as_bool)
            return [combine(self._noted(vector)) for vector in self._evaluate(expr.left)]
        if isinstance(expr.left, Literal):
            combine = _with_number(expr.operation, expr.left.value, True, expr.as_bool)
            return [combine(self._noted(vector)) for vector in self._evaluate(expr.right)]
        join = _logical if expr.operation in LOGICAL else _joined
        pairs = zip(self._evaluate(expr.left), self._evaluate(expr.right), strict=True)
        return [join(expr, self._noted(left), self._noted(right)) for left, right in pairs]

    def _label_replace(self, expr: LabelReplace) -> list[Vector]:
        pattern = compiled(f"^(?:{expr.pattern})$")
        changed: dict[Labels, Labels] = {}

        def change(labels: Labels) -> Labels:
            if labels not in changed:
                values = dict(labels)
                found = pattern.search(values.get(expr.source, ""))
                if found is not None:
                    values.pop(expr.name, None)
                    try:
                        value = expand(expr.replacement, found)
                    except TemplateError as error:
                        raise QueryError(str(error)) from None
                    if value:
                        self._scan.holds(value)
                        values[expr.name] = value
                changed[labels] = tuple(sorted(values.items()))
            return changed[labels]

        return [[(change(labels), value) for labels, value in vector] for vector in self._evaluate(expr.of)]


# --- from lines to samples ----------------------------------------------------------------------------

_Taker = Callable[[Chosen, int, str], tuple[Labels, float] | None]


def _taker(expr: RangeAggregation, pipeline: Pipeline) -> _Taker:
    """How a line becomes a sample."""
    unwrap = expr.range.unwrap
    if unwrap is not None:
        return _unwrapping(unwrap, expr.grouping, pipeline)
    process = pipeline.process
    sized = expr.operation in ("bytes_over_time", "bytes_rate")

    def take(each: Chosen, time: int, line: str) -> tuple[Labels, float] | None:
        kept = process(time, line, each.labels, each.base)
        if kept is None:
            return None
        return kept[1], float(len(kept[0].encode())) if sized else 1.0

    return take


def _unwrapping(unwrap: Unwrap, grouping: Grouping | None, pipeline: Pipeline) -> _Taker:
    name = unwrap.name
    convert = _CONVERSIONS[unwrap.conversion]
    conditions = [condition_step(each, each) for each in unwrap.conditions]
    if grouping is None or grouping.without:
        names = (*(grouping.names if grouping else ()), name)
        group = Grouping(names, True)
    else:
        group = grouping

    def take(each: Chosen, time: int, line: str) -> tuple[Labels, float] | None:
        row = pipeline.row(time, line, each.base)
        if row is None:
            return None
        text = row.labels.get(name, "")
        if not text:
            return None
        value = 0.0
        try:
            value = convert(text)
        except ValueError as error:
            row.fail(EXTRACTION_ERROR, str(error))
        if not all(condition(row) for condition in conditions):
            return None
        return _grouped(row, group), value

    return take


def _grouped(row: Row, group: Grouping) -> Labels:
    return grouped(row.result(), group)


_CONVERSIONS: Mapping[str, Callable[[str], float]] = {
    "": parse_float,
    "bytes": lambda text: float(parse_bytes(text)),
    "duration": lambda text: parse_go_duration(text) / SECOND,
    "duration_seconds": lambda text: parse_go_duration(text) / SECOND,
}


def _absent_labels(expr: RangeAggregation) -> Labels:
    """What is known of a series that is not there: what its selector says of single values."""
    values: dict[str, str | None] = {}
    for matcher in expr.range.selector.matchers:
        single = matcher.operation == "=" and matcher.name not in values
        values[matcher.name] = matcher.value if single else None
    return tuple(sorted((name, value) for name, value in values.items() if value))


# --- aggregation over series --------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def grouped(labels: Labels, grouping: Grouping | None) -> Labels:
    """The labels that are left of a series in its group. Those of an error stay: it must not get lost."""
    if any(name == ERROR for name, _ in labels):
        return labels
    if grouping is None:
        return _NOTHING
    names = grouping.names
    return tuple(pair for pair in labels if (pair[0] in names) is not grouping.without)


def _combiner(expr: VectorAggregation) -> Callable[[Vector], Vector]:
    operation, grouping = expr.operation, expr.grouping

    def groups(vector: Vector) -> Iterable[tuple[Labels, Vector]]:
        members: dict[Labels, Vector] = {}
        for sample in vector:
            members.setdefault(grouped(sample[0], grouping), []).append(sample)
        return sorted(members.items())

    if operation in ("sort", "sort_desc"):
        return lambda vector: _ranked(vector, operation == "sort_desc")
    if operation in ("topk", "bottomk", "approx_topk"):
        most = operation != "bottomk"
        return lambda vector: [
            sample for _, members in groups(vector) for sample in _ranked(members, most)[: expr.parameter]
        ]
    reduce = _REDUCERS[operation]
    return lambda vector: [
        (labels, reduce([value for _, value in members])) for labels, members in groups(vector)
    ]


def _ranked(vector: Vector, descending: bool) -> Vector:
    """Samples by value; what is no number comes last."""
    sign = -1 if descending else 1
    return sorted(vector, key=lambda sample: (sample[1] != sample[1], sign * sample[1], sample[0]))


_REDUCERS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": lambda values: float(sum(values)),
    "avg": mean,
    "min": smallest,
    "max": largest,
    "count": lambda values: float(len(values)),
    "stddev": lambda values: math.sqrt(variance(values)),
    "stdvar": variance,
}


# --- operations between vectors -----------------------------------------------------------------------


def _with_number(operation: str, number: float, swapped: bool, as_bool: bool) -> Callable[[Vector], Vector]:
    """A vector and a number; ``swapped`` where the number stands on the left."""
    if operation in COMPARISONS:
        compare = COMPARISONS[operation]

        def holds(value: float) -> bool:
            return compare(number, value) if swapped else compare(value, number)

        if as_bool:
            return lambda vector: [(labels, float(holds(value))) for labels, value in vector]
        return lambda vector: [(labels, value) for labels, value in vector if holds(value)]
    combine = ARITHMETIC[operation]
    if swapped:
        return lambda vector: [(labels, combine(number, value)) for labels, value in vector]
    return lambda vector: [(labels, combine(value, number)) for labels, value in vector]


def _signature(labels: Labels, matching: Matching) -> Labels:
    names = matching.names or ()
    return tuple(pair for pair in labels if (pair[0] in names) is matching.on)


def _logical(expr: BinaryOperation, left: Vector, right: Vector) -> Vector:
    matching = expr.matching
    if expr.operation == "or":
        known = {_signature(labels, matching) for labels, _ in left}
        return left + [sample for sample in right if _signature(sample[0], matching) not in known]
    known = {_signature(labels, matching) for labels, _ in right}
    wanted = expr.operation == "and"
    return [sample for sample in left if (_signature(sample[0], matching) in known) is wanted]


def _joined(expr: BinaryOperation, left: Vector, right: Vector) -> Vector:
    """Samples of two vectors that belong together, joined by arithmetic or comparison. Raises QueryError."""
    matching, operation = expr.matching, expr.operation
    to_many = matching.group == "group_right"
    many, one = (right, left) if to_many else (left, right)
    singles: dict[Labels, tuple[Labels, float]] = {}
    for sample in one:
        signature = _signature(sample[0], matching)
        if signature in singles:
            side = "left" if to_many else "right"
            raise QueryError(
                f"found duplicate series on the {side} hand-side;many-to-many matching not allowed: matching labels "
                "must be unique on one side",
                500,
            )
        singles[signature] = sample
    result: Vector = []
    seen: set[Labels] = set()
    for labels, value in many:
        signature = _signature(labels, matching)
        if signature not in singles:
            continue
        other_labels, other = singles[signature]
        metric = _result_labels(labels, other_labels, matching)
        key = metric if matching.group else signature
        if key in seen:
            raise QueryError(
                "multiple matches for labels: grouping labels must ensure unique matches"
                if matching.group
                else "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)",
                500,
            )
        first, second = (other, value) if to_many else (value, other)
        if operation not in COMPARISONS:
            joined = ARITHMETIC[operation](first, second)
        else:
            holds = COMPARISONS[operation](first, second)
            if not holds and not expr.as_bool:
                continue
            joined = float(holds) if expr.as_bool else first
        seen.add(key)
        result.append((metric, joined))
    return result


def _result_labels(many: Labels, one: Labels, matching: Matching) -> Labels:
    if not matching.group:
        names = matching.names or ()
        return tuple(pair for pair in many if (pair[0] in names) is matching.on)
    values, others = dict(many), dict(one)
    for name in matching.include:
        values.pop(name, None)
        if others.get(name):
            values[name] = others[name]
    return tuple(sorted(values.items()))
