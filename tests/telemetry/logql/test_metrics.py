"""Metric queries, step by step."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.telemetry.logql.errors import QueryError
from sregym_env.telemetry.logql.labels import Labels
from sregym_env.telemetry.logql.queries import Matrix, RangeQuery, query_instant, query_range
from sregym_env.telemetry.logql.scan import Limits
from sregym_env.telemetry.logql.source import StoredLogs
from tests.effort import at_most
from tests.telemetry.logql.logs import EndlessLogs, at, shop


def instant(query: str, seconds: float = 300) -> dict[str, float]:
    """Samples at an instant by the values of their labels."""
    found = query_instant(shop(), query, at(seconds), now=at(seconds))
    return {",".join(value for _, value in labels): value for labels, value in found.vector}


VALUES: list[tuple[str, dict[str, float]]] = [
    ('count_over_time({app="db"}[1m])', {"db,shop,db-0": 5}),
    ('count_over_time({app="db"}[1m] offset 1m)', {"db,shop,db-0": 6}),
    ('rate({app="db"}[50s])', {"db,shop,db-0": 0.08}),
    ('bytes_over_time({app="db"}[15s])', {"db,shop,db-0": 25}),
    ('bytes_rate({app="db"}[15s])', {"db,shop,db-0": 25 / 15}),
    ('sum(count_over_time({app="web"}[1m]))', {"": 240}),
    ('sum by (pod) (count_over_time({app="web"}[1m]))', {"web-1": 120, "web-2": 120}),
    ('sum without (pod, namespace) (count_over_time({app="web"}[1m]))', {"web": 240}),
    ('sum by (level) (count_over_time({app="web"} | json [1m]))', {"error": 24, "info": 216}),
    ('count(count_over_time({namespace="shop"}[1m]))', {"": 3}),
    ('avg(count_over_time({namespace="shop"}[1m]))', {"": (120 + 120 + 5) / 3}),
    ('min(count_over_time({namespace="shop"}[1m]))', {"": 5}),
    ('max by (app) (count_over_time({namespace="shop"}[1m]))', {"db": 5, "web": 120}),
    ('stdvar(count_over_time({namespace="shop"}[1m]))', {"": 2938.8888888888887}),
    ('stddev(count_over_time({namespace="shop"}[1m]))', {"": math.sqrt(2938.8888888888887)}),
    ('topk(1, count_over_time({app=~"db|web"} | drop pod [1m]))', {"web,shop": 240}),
    ('bottomk(1, count_over_time({app=~"db|web"} | drop pod [1m]))', {"db,shop": 5}),
    ('sum_over_time({app="db"} | logfmt | unwrap n [15s])', {"db,info,shop,db-0,29kB": 29}),
    ('sum(sum_over_time({app="db"} | logfmt | unwrap n [1m]))', {"": 25 + 26 + 27 + 28 + 29}),
    ('avg_over_time({app="db"} | logfmt | unwrap n [1m]) by (app)', {"db": 27}),
    ('min_over_time({app="db"} | logfmt | unwrap n [1m]) by (app)', {"db": 25}),
    ('max_over_time({app="db"} | logfmt | unwrap bytes(size) [1m]) by (app)', {"db": 29_000}),
    ('first_over_time({app="db"} | logfmt | unwrap n [1m]) by (app)', {"db": 25}),
    ('last_over_time({app="db"} | logfmt | unwrap n [1m]) by (app)', {"db": 29}),
    ('stdvar_over_time({app="db"} | logfmt | unwrap n [1m]) by (app)', {"db": 2}),
    ('stddev_over_time({app="db"} | logfmt | unwrap n [1m]) by (app)', {"db": math.sqrt(2)}),
    ('quantile_over_time(0.5, {app="db"} | logfmt | unwrap n [1m]) by (app)', {"db": 27}),
    ('quantile_over_time(0.9, {app="db"} | logfmt | unwrap n [1m]) by (app)', {"db": 28.6}),
    ('quantile_over_time(2, {app="db"} | logfmt | unwrap n [1m]) by (app)', {"db": math.inf}),
    ('sum(rate({app="db"} | logfmt | unwrap n [1m]))', {"": 135 / 60}),
    ('rate_counter({app="db"} | logfmt | drop size | unwrap n [1m])', {"db,info,shop,db-0": 4 * 45 / 40 / 60}),
    ('max(max_over_time({app="web"} | json | unwrap duration(took) [1m]))', {"": 0.006}),
    ('max_over_time({app="db"} | logfmt | unwrap n | n > 100 [1m])', {}),
    ('sum_over_time({app="db"} | logfmt | unwrap missing [1m])', {}),
    ('absent_over_time({app="db"}[1m])', {}),
    ('absent_over_time({app="nope", pod=~"x.*", zone="a"}[1m])', {"nope,a": 1}),
    ('absent_over_time({app="nope", app="other"}[1m])', {"": 1}),
    ('count_over_time({app="db"}[1m]) * 2 + 1', {"db,shop,db-0": 11}),
    ('10 - count_over_time({app="db"}[1m])', {"db,shop,db-0": 5}),
    ('count_over_time({app="db"}[1m]) > 5', {}),
    ('5 >= count_over_time({app="db"}[1m])', {"db,shop,db-0": 5}),
    ('count_over_time({app="db"}[1m]) > bool 5', {"db,shop,db-0": 0}),
    ('sum(count_over_time({app="web"}[1m])) / sum(count_over_time({app="db"}[1m]))', {"": 48}),
    ('sum(count_over_time({app="web"}[1m])) / (sum(count_over_time({app="db"}[1m])) - 5)', {"": math.inf}),
    (
        'sum by (pod, app) (count_over_time({app="web"}[1m])) / on (app) group_left '
        'sum by (app) (count_over_time({app="web"}[1m]))',
        {"web,web-1": 0.5, "web,web-2": 0.5},
    ),
    (
        'sum by (app) (count_over_time({app="web"}[1m])) - on (app) group_right '
        'sum by (pod, app) (count_over_time({app="web"}[1m]))',
        {"web,web-1": 120, "web,web-2": 120},
    ),
    (
        'sum by (pod) (count_over_time({app="web"}[1m])) * ignoring (pod) group_left (app) '
        'sum by (app) (count_over_time({app="db"}[1m]))',
        {},
    ),
    ('count_over_time({app="web"}[1m]) and on (pod) count_over_time({pod="web-1"}[1m])', {"web,shop,web-1": 120}),
    ('count_over_time({app="web"}[1m]) unless on (pod) count_over_time({pod="web-1"}[1m])', {"web,shop,web-2": 120}),
    ('sum(count_over_time({app="nope"}[1m])) or vector(0)', {"": 0}),
    ('sum(count_over_time({app="db"}[1m])) or vector(0)', {"": 5}),
    ('label_replace(sum by (pod) (count_over_time({app="db"}[1m])), "n", "<$1>", "pod", "db-(.*)")', {"<0>,db-0": 5}),
    ('label_replace(sum by (pod) (count_over_time({app="db"}[1m])), "n", "$1", "pod", "web-(.*)")', {"db-0": 5}),
    ('label_replace(sum by (pod) (count_over_time({app="db"}[1m])), "pod", "", "pod", ".*")', {"": 5}),
    ("vector(5) % 3", {"": 2}),
    ("vector(2) ^ 3", {"": 8}),
    ("1 + 1", {"": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("query", "samples"), VALUES)
def test_values(query: str, samples: dict[str, float]) -> None:
    assert instant(query) == pytest.approx(samples)


def test_sorting_is_kept() -> None:
    query = 'sort_desc(sum by (app) (count_over_time({namespace="shop"}[1m])))'
    found = query_instant(shop(), query, at(300), now=at(300))
    assert [value for _, value in found.vector] == [240, 5]
    found = query_instant(shop(), query.replace("sort_desc", "sort"), at(300), now=at(300))
    assert [value for _, value in found.vector] == [5, 240]


def test_a_window_holds_its_end_and_not_its_start() -> None:
    assert instant('count_over_time({app="db"}[10s])', 100) == {"db,shop,db-0": 1}
    assert instant('count_over_time({app="db"}[10s])', 109.999) == {"db,shop,db-0": 1}
    assert instant('last_over_time({app="db"} | logfmt | unwrap n [10s]) by (app)', 100) == {"db": 10}


def matrix(query: str, start: float, end: float, step: float, limits: Limits | None = None) -> Matrix:
    asked = RangeQuery(query, at(start), at(end), step=round(step * 1e9))
    found = query_range(shop(), asked, now=at(300), limits=limits)
    assert isinstance(found, Matrix)
    return found


def test_steps_begin_at_multiples_of_the_step() -> None:
    found = matrix('count_over_time({app="db"}[1m])', 65, 245, 60)
    # 1 700 000 000 is 20 s past a whole minute.
    assert [(time - at(0) // 1_000_000) // 1000 for time, _ in found.series[0][1]] == [40, 100, 160, 220]
    unaligned = matrix('count_over_time({app="db"}[1m])', 65, 245, 60, Limits(align=False))
    assert [(time - at(0) // 1_000_000) // 1000 for time, _ in unaligned.series[0][1]] == [65, 125, 185, 245]


def test_series_have_gaps_where_nothing_was_logged() -> None:
    found = matrix('count_over_time({app="db"} |= "n=5" [10s])', 0, 100, 10)
    assert [len(points) for _, points in found.series] == [1]


ERRORS = [
    ('rate({app="db"} | json [1m])', "pipeline error: 'JSONParserErr' for series: '{__error__=\"JSONParserErr\", "),
    ('sum by (level) (rate({app="db"} | json [1m]))', "pipeline error: 'JSONParserErr'"),
    ('max(rate({app="db"} | json [1m]))', "pipeline error: 'JSONParserErr'"),
    ('sum_over_time({app="db"} | logfmt | unwrap size [1m])', "pipeline error: 'SampleExtractionErr'"),
    (
        'count_over_time({app="web"}[1m]) / on (app) count_over_time({app="web"}[1m])',
        "found duplicate series on the right hand-side;many-to-many matching not allowed",
    ),
    (
        'count_over_time({app="web"}[1m]) / on (app) sum by (app) (count_over_time({app="web"}[1m]))',
        "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)",
    ),
    ('count_over_time({app="web"} | json [5m])', "maximum number of series (500) reached for a single query"),
    ('rate({app="db"}[60d])', "[interval] value exceeds limit: [60d] > [30d1h]"),
    ('{app="db"}', "log queries are not supported as an instant query type"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "problem"), ERRORS)
def test_errors(query: str, problem: str) -> None:
    with pytest.raises(QueryError) as caught:
        instant(query)
    assert problem in str(caught.value)


def test_nothing_is_parsed_where_nobody_asks_for_labels() -> None:
    """As in Loki, for which lines that are no JSON are then no errors."""
    assert instant('sum(count_over_time({app="db"} | json [1m]))') == {"": 5}
    assert instant('sum by () (count_over_time({app="db"} | json | line_format "x" [1m]))') == {"": 5}
    with pytest.raises(QueryError, match="pipeline error"):
        instant('sum(count_over_time({app="db"} | json | line_format "{{.x}}" [1m]))')


def test_errors_can_be_passed_over() -> None:
    assert instant('sum(count_over_time({namespace="shop"} | json | __error__="" [1m]))') == {"": 240}
    assert instant('sum(sum_over_time({app="db"} | logfmt | unwrap size | __error__="" [1m]))') == {}


def test_windows_without_overlap_read_only_what_is_in_them() -> None:
    source = EndlessLogs(1)
    asked = RangeQuery('sum(count_over_time({app="web"}[10s]))', at(0), at(36_000), step=3600 * 10**9)
    query_range(source, asked, now=at(0))
    assert source.rendered == 11 * 10


def test_many_series_over_many_steps() -> None:
    lines = [(at(i / 10), f'{{"id":{i}}}') for i in range(3000)]
    source = StoredLogs([({"app": "web"}, lines)])
    asked = RangeQuery('sum(count_over_time({app="web"} | json [1m]))', at(0), at(300))
    with at_most(0.3):
        query_range(source, asked, now=at(300))
    asked = RangeQuery('max(count_over_time({app="web"} | json [1m]))', at(0), at(300))
    with at_most(1.0):
        query_range(source, asked, now=at(300))


def test_windows_are_bounded() -> None:
    asked = RangeQuery('sum(count_over_time({app="web"}[1h]))', at(0), at(36_000), step=10**9 * 10)
    with pytest.raises(QueryError, match="request timed out"):
        query_range(EndlessLogs(), asked, now=at(0), limits=Limits(max_samples=100_000))


SAMPLES = st.lists(
    st.tuples(st.integers(0, 60), st.sampled_from("abc"), st.integers(-5, 5)), min_size=1, max_size=30
)  # fmt: skip


def _stored(samples: list[tuple[int, str, int]]) -> StoredLogs:
    return StoredLogs([({"app": "x"}, [(at(time), f"k={key} v={value}") for time, key, value in samples])])


@given(samples=SAMPLES, window=st.integers(1, 40))
def test_counts_are_what_counting_gives(samples: list[tuple[int, str, int]], window: int) -> None:
    asked = RangeQuery(f'count_over_time({{app="x"}}[{window}s])', at(0), at(60), step=7 * 10**9)
    found = query_range(_stored(samples), asked, now=at(60), limits=Limits(align=False))
    assert isinstance(found, Matrix)
    expected = []
    for end in range(0, 61, 7):
        count = sum(end - window < time <= end for time, _, _ in samples)
        if count:
            expected.append((at(end) // 1_000_000, float(count)))
    assert (found.series[0][1] if found.series else []) == expected


@given(samples=SAMPLES, grouping=st.sampled_from(["", "by (k)", "without (k)", "by (app, k)"]))
def test_sums_are_the_same_counted_at_once_or_by_the_series(
    samples: list[tuple[int, str, int]], grouping: str
) -> None:
    """``sum`` counts lines by the group; ``sum(... * 1)`` must go by the series."""
    source = _stored(samples)

    def vector(query: str) -> list[tuple[Labels, float]]:
        return query_instant(source, query, at(60), now=at(60)).vector

    for inner in (
        'count_over_time({app="x"} | logfmt [40s])',
        'sum_over_time({app="x"} | logfmt | unwrap v [40s])',
    ):
        assert vector(f"sum {grouping} ({inner})") == vector(f"sum {grouping} ({inner} * 1)")
