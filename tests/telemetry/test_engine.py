"""What recordings do not hold: stale markers, limits, hostile texts, and laws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import promql_parser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sregym_env.runtime import effort
from sregym_env.telemetry.labels import Labels, labels_of
from sregym_env.telemetry.promql.budget import Limits
from sregym_env.telemetry.promql.engine import Engine, Options, Result
from sregym_env.telemetry.promql.errors import ParseError, QueryError, QueryTimeout
from sregym_env.telemetry.promql.parser import MAX_DEPTH, parse
from sregym_env.telemetry.series import STALE, STALE_BITS, MemorySource, Series, is_stale
from tests.telemetry import test_recorded as recorded
from tests.telemetry.queries import INSTANT, SOME_RANGES
from tests.telemetry.random_queries import Queries

MINUTE = 60_000


def series(name: str, points: Iterable[tuple[float, float]], **labels: str) -> Series:
    """A series of (minute, value)."""
    given = list(points)
    times = np.array([round(minute * MINUTE) for minute, _ in given], dtype=np.int64)
    return Series(labels_of({"__name__": name, **labels}), times, np.array([value for _, value in given]))


def asked(
    query: str, minute: float, *sources: Series, options: Options | None = None
) -> dict[Labels, list[float]]:
    """An instant query's values by labels."""
    result = Engine(MemorySource(sources), options).query(query, round(minute * MINUTE))
    return {labels: values.tolist() for labels, _, values in result.series}


# --- stale markers --------------------------------------------------------------------------------------


def test_the_stale_marker_is_a_nan_of_its_own() -> None:
    assert math.isnan(STALE)
    assert is_stale(np.array([STALE, math.nan, 1.0])).tolist() == [True, False, False]
    assert np.array([STALE]).view(np.uint64)[0] == STALE_BITS


ENDED = series("a", [(0, 1), (1, 2), (2, STALE), (4, 4), (5, 5)], x="y")
OTHER = series("a", [(0, 1), (1, 2), (2, 3), (4, 4), (5, 5)], x="z")


@pytest.mark.parametrize(
    ("query", "minute", "want"),
    [
        ("a{x='y'}", 1.9, [2.0]),
        ("a{x='y'}", 2, []),
        ("a{x='y'}", 3, []),
        ("a{x='y'}", 4, [4.0]),
        ("a{x='y'} offset 1m", 3, []),
        ("a{x='y'} offset 2m", 3, [2.0]),
        ("count(a)", 3, [1.0]),
        ("absent(a{x='y'})", 3, [1.0]),
        ("absent(a{x='z'})", 3, []),
        ("count_over_time(a{x='y'}[5m])", 5, [4.0]),
        ("sum_over_time(a{x='y'}[5m])", 5, [12.0]),
        ("last_over_time(a{x='y'}[3m])", 3, [2.0]),
        ("present_over_time(a{x='y'}[30s])", 2.4, []),
        ("timestamp(a{x='y'})", 3, []),
        ("a{x='y'} or a{x='z'}", 3, [3.0]),
        ("a{x='y'}[2m]", 3, [2.0]),
        ("count_over_time(a{x='y'}[5m:1m])", 5, [4.0]),
        ("max_over_time(timestamp(a{x='y'})[5m:1m])", 3, [60.0]),
    ],
)
def test_stale_series_are_gone(query: str, minute: float, want: list[float]) -> None:
    found = asked(query, minute, ENDED, OTHER)
    assert [value for values in found.values() for value in values] == want


def test_series_of_one_target_may_end_at_different_instants() -> None:
    times = np.arange(6, dtype=np.int64) * MINUTE
    both = [
        Series(
            labels_of({"__name__": "b", "n": str(n)}), times, np.where(times == (n + 2) * MINUTE, STALE, 1.0)
        )
        for n in range(3)
    ]
    assert list(asked("count_over_time(b[10m])", 5, *both).values()) == [[5.0]] * 3
    result = Engine(MemorySource(both)).query_range("count(b)", 0, 5 * MINUTE, MINUTE)
    assert result.series[0][2].tolist() == [3, 3, 2, 2, 2, 3]


# --- edges of windows -----------------------------------------------------------------------------------


def test_lookback_and_ranges_include_both_edges() -> None:
    one = series("one", [(10, 7)])
    assert asked("one", 15, one) and not asked("one", 15.001, one)
    assert not asked("one", 15, one, options=Options(lookback=4 * MINUTE))
    assert asked("count_over_time(one[2m])", 12, one) and not asked("count_over_time(one[2m])", 12.001, one)
    assert asked("count_over_time(one[2m])", 10, one) and not asked("count_over_time(one[2m])", 9.999, one)


@pytest.mark.parametrize(
    ("points", "want"),
    [
        ([(0, 0), (1, 60), (2, 120), (3, 180), (4, 240), (5, 300)], 300.0),
        # A counter that began within the window is not extrapolated below zero.
        ([(2, 0), (3, 60), (4, 120), (5, 180)], 180.0),
        # One reset: 60 to 0 and on.
        ([(0, 0), (1, 60), (2, 0), (3, 60), (4, 120), (5, 180)], 240.0),
        # Half an average distance, where samples are far from the edges.
        ([(3, 100), (4, 160)], 150.0),
    ],
)
def test_increase_extrapolates_as_prometheus_does(points: list[tuple[float, float]], want: float) -> None:
    ((value,),) = asked("increase(c[5m])", 5, series("c", points)).values()
    assert value == pytest.approx(want)


def test_an_engine_that_says_otherwise_steps_subqueries_otherwise() -> None:
    options = Options(evaluation_interval=15_000)
    ((value,),) = asked("count_over_time(vector(1)[2m:])", 10, options=options).values()
    assert value == 9


# --- limits ---------------------------------------------------------------------------------------------


def many(count: int) -> list[Series]:
    times = np.arange(100, dtype=np.int64) * MINUTE
    return [Series(labels_of({"__name__": "m", "n": str(n)}), times, np.ones(100)) for n in range(count)]


@pytest.mark.parametrize("query", ["m", "sum(m)", "rate(m[30m])", "count_over_time(m[1h:1s])"])
def test_too_many_samples_are_refused(query: str) -> None:
    said = "query processing would load too many samples into memory in query execution"
    with pytest.raises(QueryError, match=said):
        asked(query, 60, *many(60), options=Options(limits=Limits(samples=50)))


COSTLY = (
    "count_over_time(sum(m)[10y:1s])",
    "sum_over_time(sum_over_time(m[60m:1s])[60m:1s])",
    "max_over_time(max_over_time(max_over_time(vector(1)[1d:1m])[1d:1m])[1d:1m])",
    "topk(50, m)" + " or topk(50, m)" * 30,
    "sum_over_time(topk(50, m)[60m:1s])",
    'count_over_time(label_replace(m, "a", "$1$1$1$1", "n", "(.*)")[100d:1s])',
    "quantile_over_time(0.5, m[100m:50ms])",
    "count_over_time(vector(time())[100y:1ms])",
)


@pytest.mark.parametrize("query", COSTLY)
def test_costly_queries_are_stopped(query: str) -> None:
    with effort.bounded() as spent:
        try:
            Engine(MemorySource(many(60))).query(query, 90 * MINUTE)
        except QueryError as error:
            assert isinstance(error, QueryTimeout) or "too many samples" in str(error)
    assert spent.used < 1_000_000


def test_random_texts_are_answered() -> None:
    queries, source = Queries(7), recorded.source()
    answers = 0
    for number in range(400):
        query = queries.spoilt() if number % 2 else queries.vector()
        try:
            Engine(source).query(query, recorded.MIDDLE)
            answers += 1
        except QueryError as error:
            assert str(error)
    assert 100 < answers < 300


@pytest.mark.parametrize(
    "query",
    [
        "(" * 100_000,
        "(" * 20_000 + "1" + ")" * 20_000,
        "-" * 50_000 + "1",
        "1" + "+1" * 20_000,
        "abs(" * 10_000 + "m" + ")" * 10_000,
        "m" + "[5m:]" * 10_000,
        "sum by (" + "a," * 30_000 + "a) (m)",
        "m{" + 'a="b",' * 10_000 + "}",
        "1" * 100_000,
        '"' + "\\n" * 40_000 + '"',
        "m[" + "1" * 5_000 + "d]",
        "#" * 100_000,
        "x" * 200_000,
        "1 or " * 20_000,
        "\x00\ud800\uffff",
        'up{a=~"' + "(a*)*" * 100 + '"}',
        'up{a=~"' + "a{1000}" * 1000 + '"}',
        "9" * 400 + "." + "9" * 400,
        "m offset 999999999999999999999y",
        "m @ 1e300",
        "1 ^ 1e300 ^ 1e300",
        "label_replace(" * 9 + "m" + (', "n", "' + "$1" * 4_000 + '", "n", "(.*)")') * 9,
        'label_replace(m, "a", "' + "$1" * 40_000 + '", "n", "(.*)")',
        'label_join(label_replace(m, "n", "'
        + "x" * 50_000
        + '", "n", ".*"), "a", ""'
        + ', "n"' * 9_000
        + ")",
        'count_values("' + "x" * 90_000 + '", m)',
        "m{" + ",".join(f'n=~"{number}.*|.*"' for number in range(5_000)) + "}",
    ],
)
def test_hostile_texts_are_answered(query: str) -> None:
    try:
        Engine(MemorySource(many(3))).query(query, 90 * MINUTE)
    except QueryError as error:
        assert str(error)


def test_expressions_as_deep_as_allowed_are_evaluated() -> None:
    deep = MAX_DEPTH - 2
    assert asked("(" * deep + "1" + ")" * deep, 0) == {(): [1.0]}
    assert asked("abs(" * deep + "vector(1)" + ")" * deep, 0) == {(): [1.0]}
    assert asked("sum(" * (deep - 1) + "vector(1)" + ")" * (deep - 1), 0) == {(): [1.0]}
    assert asked("1" + " + 1" * deep, 0) == {(): [deep + 1.0]}
    with pytest.raises(ParseError, match="nested more than"):
        parse("(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH)


# --- another parser -------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(4))
def test_another_parser_reads_the_same(part: int) -> None:
    """Where promql-parser takes a query, it takes what we print of it for the same."""
    compared = 0
    for query in [*INSTANT, *SOME_RANGES][part::4]:
        try:
            theirs = promql_parser.parse(query).prettify()
            ours = str(parse(query))
        except (ValueError, ParseError):
            continue
        assert promql_parser.parse(ours).prettify() == theirs, query
        compared += 1
    assert compared > 80


# --- laws -----------------------------------------------------------------------------------------------

VALUES = st.floats(min_value=-1e6, max_value=1e6).map(lambda value: round(value, 3))
COLUMNS = st.lists(st.lists(VALUES, min_size=1, max_size=12), min_size=1, max_size=5)


def drawn(columns: Sequence[Sequence[float]]) -> MemorySource:
    return MemorySource(
        series("m", enumerate(column), n=str(number), half=str(number % 2))
        for number, column in enumerate(columns)
    )


def table(result: Result) -> dict[Labels, list[tuple[int, float]]]:
    return {
        labels: list(zip(times.tolist(), values.tolist(), strict=True))
        for labels, times, values in result.series
    }


def same(first: Result, second: Result) -> None:
    a, b = table(first), table(second)
    assert a.keys() == b.keys()
    for labels, points in a.items():
        assert [time for time, _ in points] == [time for time, _ in b[labels]]
        assert [value for _, value in points] == pytest.approx([value for _, value in b[labels]], nan_ok=True)


LAWS = [
    ("sum(m)", "sum(sum by (half) (m))"),
    ("sum(m)", "avg(m) * count(m)"),
    ("sum by (n) (m)", "sum without (half) (m)"),
    ("max(m)", "-min(-m)"),
    ("topk(1, m) * 0", "topk(1, m) - topk(1, m)"),
    ("max(m)", "max(topk(2, m))"),
    ("quantile(0, m)", "min(m)"),
    ("quantile(1, m)", "max(m)"),
    ("stddev(m) ^ 2 + 1", "stdvar(m) + 1"),
    ("m and m", "m"),
    ("m or m", "m"),
    ("m unless m", "m > Inf"),
    ("m or (m unless m)", "m"),
    ("(m > 0) or (m <= 0)", "m"),
    ("m > bool 0", "1 - (m <= bool 0)"),
    ("m + m", "2 * m"),
    ("m - on(n, half) m", "0 * m"),
    ("m * on(half) group_left sum by (half) (m * 0 + 1)", "m * on(half) group_left count by (half) (m)"),
    ("sum by (half) (m)", "sum by (half) (label_replace(m, 'x', '$1', 'n', '(.*)'))"),
    ("increase(m[5m]) / 300", "rate(m[5m])"),
    ("sum_over_time(m[5m])", "avg_over_time(m[5m]) * count_over_time(m[5m])"),
    ("max_over_time(m[5m])", "quantile_over_time(1, m[5m])"),
    ("stdvar_over_time(m[5m]) + 1", "stddev_over_time(m[5m]) ^ 2 + 1"),
    ("last_over_time(m[5m])", "m"),
    ("m offset 3m", "last_over_time(m[5m] offset 3m)"),
    ("sum_over_time(m[5m:1m])", "avg_over_time(m[5m:1m]) * count_over_time(m[5m:1m])"),
    ("m @ 120", "last_over_time(m[5m] @ 120)"),
    ("clamp(m, -10, 10)", "clamp_min(clamp_max(m, 10), -10)"),
    ("sort(m)", "m"),
    ("abs(m)", "m * sgn(m)"),
    ("count_values('v', m * 0 + 0)", "count_values('v', m - m)"),
]


@pytest.mark.parametrize(("left", "right"), LAWS)
@given(columns=COLUMNS)
@settings(max_examples=15)
def test_laws(left: str, right: str, columns: list[list[float]]) -> None:
    engine = Engine(drawn(columns))
    same(
        engine.query_range(f"sum by (n, half, v) ({left})", 0, 14 * MINUTE, MINUTE),
        engine.query_range(f"sum by (n, half, v) ({right})", 0, 14 * MINUTE, MINUTE),
    )


@pytest.mark.parametrize(
    "query", [query for query in SOME_RANGES if "start()" not in query and "end()" not in query]
)
@given(columns=COLUMNS)
@settings(max_examples=2)
def test_a_range_query_is_many_instant_queries(query: str, columns: list[list[float]]) -> None:
    engine = Engine(drawn(columns))
    for name in ("temperature_celsius", "http_requests_total", "up", "odd", "disk_free"):
        query = query.replace(name, "m")
    try:
        ranged = table(engine.query_range(query, 0, 13 * MINUTE, 2 * MINUTE))
    except QueryError:
        return
    one_by_one: dict[Labels, list[tuple[int, float]]] = {}
    for step in range(0, 13 * MINUTE + 1, 2 * MINUTE):
        for labels, points in table(engine.query(query, step)).items():
            one_by_one.setdefault(labels, []).extend((step, value) for _, value in points)
    assert ranged.keys() == one_by_one.keys()
    for labels, points in ranged.items():
        assert [time for time, _ in points] == [time for time, _ in one_by_one[labels]]
        assert [value for _, value in points] == pytest.approx(
            [value for _, value in one_by_one[labels]], nan_ok=True, rel=1e-9, abs=1e-9
        )
