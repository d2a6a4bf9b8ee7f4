"""Answers as agents read them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.telemetry.logql.queries import Matrix, RangeQuery, Streams, query_instant, query_range
from sregym_env.telemetry.logql.sparkline import BARS, sparkline
from sregym_env.telemetry.logql.text import View, instant_text, matrix_text, streams_text
from tests.telemetry.logql.logs import at, shop


def streams(query: str, limit: int = 100, end: float = 300, backward: bool = True) -> Streams:
    found = query_range(shop(), RangeQuery(query, at(0), at(end), limit, backward), now=at(300))
    assert isinstance(found, Streams)
    return found


def test_one_stream() -> None:
    assert streams_text(streams('{app="db"}', end=15), 100) == (
        "2 lines in 1 stream\n"
        '[1]     2  {app="db", namespace="shop", pod="db-0"}\n'
        "\n"
        "2023-11-14T22:13:20.000Z level=info n=0 size=0kB\n"
        "2023-11-14T22:13:30.000Z level=info n=1 size=1kB\n"
    )


def test_several_streams_with_what_they_share_said_once() -> None:
    text = streams_text(
        streams('{app="web"} | json | line_format "{{.id}}" | keep app, pod', end=1, limit=3), 3
    )
    assert text == (
        "3 lines in 2 streams (limit 3 reached: there may be more)\n"
        'common labels: {app="web"}\n'
        '[1]     1  {pod="web-1"}\n'
        '[2]     2  {pod="web-2"}\n'
        "\n"
        "2023-11-14T22:13:20.200Z [2] 0\n"
        "2023-11-14T22:13:20.600Z [1] 1\n"
        "2023-11-14T22:13:20.700Z [2] 1\n"
    )


def test_both_directions_read_the_same() -> None:
    first = streams_text(streams('{namespace="shop"}', limit=5000), 5000)
    assert first == streams_text(streams('{namespace="shop"}', limit=5000, backward=False), 5000)


def test_long_answers_show_both_ends() -> None:
    text = streams_text(streams('{app="db"}'), 100, View(head=2, tail=3))
    lines = text.splitlines()[3:]
    assert [line.rsplit(" n=")[-1].split()[0] if " n=" in line else line for line in lines] == [
        "0", "1", "... 25 lines not shown ...", "27", "28", "29",
    ]  # fmt: skip


def test_long_lines_and_many_streams_are_cut() -> None:
    text = streams_text(streams('{app="web"} | json', limit=50), 50, View(width=10, streams=2))
    assert "... and 48 more streams" in text
    assert '{"level":"... [+' in text


def test_nothing() -> None:
    assert streams_text(streams('{app="nope"}'), 100) == "no lines\n"


def test_instants() -> None:
    found = query_instant(shop(), 'sum by (pod) (rate({app="web"}[1m]))', at(300), now=at(300))
    assert instant_text(found) == '           2  {pod="web-1"}\n           2  {pod="web-2"}\n'
    assert instant_text(query_instant(shop(), "1 / 3", at(300), now=at(300))) == "0.3333333333333333\n"
    assert instant_text(query_instant(shop(), 'rate({app="x"}[1m])', at(300), now=at(300))) == "no series\n"


def test_matrices_are_sparklines() -> None:
    asked = RangeQuery(
        'sum by (app) (count_over_time({namespace="shop"}[30s]))', at(0), at(300), step=30 * 10**9
    )
    found = query_range(shop(), asked, now=at(300))
    assert isinstance(found, Matrix)
    assert matrix_text(found) == (
        "2 series, 10 steps from 2023-11-14T22:13:30.000Z to 2023-11-14T22:18:00.000Z\n"
        '▁█████████  min 2  max 3  last 3  {app="db"}\n'
        '▁█████████  min 40  max 120  last 120  {app="web"}\n'
    )


NUMBERS = st.lists(st.one_of(st.none(), st.floats()), max_size=100)


@given(values=NUMBERS, width=st.integers(1, 50))
def test_sparklines(values: list[float | None], width: int) -> None:
    line = sparkline(values, width)
    assert len(line) == min(width, len(values))
    assert set(line) <= set(BARS) | {" "}


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40))
def test_a_sparkline_shows_the_smallest_and_the_largest(values: list[float]) -> None:
    line = sparkline(values, len(values))
    assert line[values.index(min(values))] == BARS[0]
    if max(values) - min(values) > 1e-3:
        assert line[values.index(max(values))] == BARS[-1]


def test_folding_keeps_spikes() -> None:
    assert sparkline([0.0] * 50 + [9.0] + [0.0] * 49, 10) == "▁▁▁▁▁█▁▁▁▁"
