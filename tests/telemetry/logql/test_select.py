"""Log queries: which lines, in which order, at which cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.runtime import effort
from sregym_env.telemetry.logql.errors import QueryError
from sregym_env.telemetry.logql.queries import RangeQuery, Streams, query_range
from sregym_env.telemetry.logql.scan import Limits
from sregym_env.telemetry.logql.source import LogSource, StoredLogs
from tests.effort import at_most
from tests.telemetry.logql.logs import SECOND, EndlessLogs, at, shop


def ask(
    source: LogSource,
    query: str,
    start: float = 0,
    end: float = 300,
    limit: int = 5000,
    backward: bool = True,
) -> Streams:
    found = query_range(source, RangeQuery(query, at(start), at(end), limit, backward), now=at(300))
    assert isinstance(found, Streams)
    return found


def test_streams_are_grouped_by_their_labels_and_ordered() -> None:
    found = ask(shop(), '{namespace="shop"}', end=1)
    assert [dict(stream.labels)["pod"] for stream in found.streams] == ["db-0", "web-1", "web-2"]
    assert [len(stream.entries) for stream in found.streams] == [1, 2, 2]
    assert found.streams[1].entries == [
        (at(0.6), '{"level":"info","took":"2ms","id":1}'),
        (at(0.1), '{"level":"error","took":"1ms","id":0}'),
    ]


def test_labels_of_parsers_make_streams() -> None:
    found = ask(shop(), '{app="web"} | json | keep level, pod')
    got = [(dict(stream.labels), len(stream.entries)) for stream in found.streams]
    assert got == [
        ({"level": "error", "pod": "web-1"}, 60),
        ({"level": "error", "pod": "web-2"}, 60),
        ({"level": "info", "pod": "web-1"}, 540),
        ({"level": "info", "pod": "web-2"}, 540),
    ]


def test_the_limit_takes_the_newest_or_the_oldest() -> None:
    newest = ask(shop(), '{app="web"}', limit=3)
    assert [time for stream in newest.streams for time, _ in stream.entries] == [
        at(299.6),
        at(299.7),
        at(299.2),
    ]
    oldest = ask(shop(), '{app="web"}', limit=3, backward=False)
    assert [time for stream in oldest.streams for time, _ in stream.entries] == [at(0.1), at(0.6), at(0.2)]


def test_a_range_holds_its_start_and_not_its_end() -> None:
    found = ask(shop(), '{app="db"}', start=10, end=30, backward=False)
    assert [time for time, _ in found.streams[0].entries] == [at(10), at(20)]


def test_the_tail_of_a_long_log_costs_what_is_read() -> None:
    source = EndlessLogs()
    week = RangeQuery('{app="web"}', at(0), at(7 * 86_400), 100)
    with at_most(0.002, "the last 100 lines"):
        found = query_range(source, week, now=at(0))
    assert isinstance(found, Streams)
    assert found.lines == 100
    assert source.rendered <= 102


def test_a_filter_reads_no_further_than_it_must() -> None:
    source = EndlessLogs(1)
    found = query_range(source, RangeQuery('{app="web"} |= "error"', at(0), at(7 * 86_400), 5), now=at(0))
    assert isinstance(found, Streams)
    assert source.rendered <= 5 * 60


@pytest.mark.parametrize("stages", ['|= "second=17"', '|~ "second=17[0-9]*7"', '!= "error" |= "9"'])
def test_filtering_ten_thousand_lines(stages: str) -> None:
    lines = [
        (at(i), f"level=info second={i} a line of the usual length of some eighty characters")
        for i in range(10_000)
    ]
    source = StoredLogs([({"app": "web"}, lines)])
    with at_most(0.05, stages):
        ask(source, f'{{app="web"}} {stages}', end=20_000)


def test_a_query_is_stopped_where_it_reads_too_much() -> None:
    query = RangeQuery('{app="web"} |= "nothing has this"', at(0), at(7 * 86_400))
    with pytest.raises(QueryError, match="request timed out") as caught:
        query_range(EndlessLogs(), query, now=at(0), limits=Limits(max_lines=10_000))
    assert caught.value.status == 504


def test_an_answer_is_no_larger_than_it_may_be() -> None:
    query = RangeQuery('{app="web"} | line_format `{{ printf "%100000d" 1 }}`', at(0), at(1000), 1000)
    with pytest.raises(QueryError, match="trying to send message larger than max") as caught:
        query_range(EndlessLogs(), query, now=at(0), limits=Limits(max_answer=1_000_000))
    assert caught.value.status == 500


def test_a_query_of_an_action_times_out_before_the_action_is_killed() -> None:
    query = RangeQuery('{app="web"} | logfmt | second="x"', at(0), at(7 * 86_400))
    with effort.bounded(own=100_000.0) as spent, pytest.raises(QueryError, match="request timed out"):
        query_range(EndlessLogs(), query, now=at(0))
    assert 70_000 < spent.used < 90_000


ENTRIES = st.lists(st.tuples(st.integers(0, 20), st.text(alphabet="abc ", max_size=6)), max_size=20)


@given(first=ENTRIES, second=ENTRIES, limit=st.integers(1, 30), word=st.text(alphabet="abc", max_size=2))
def test_both_directions_are_what_sorting_gives(
    first: list[tuple[int, str]], second: list[tuple[int, str]], limit: int, word: str
) -> None:
    streams = [({"app": "a"}, first), ({"app": "b"}, second)]
    source = StoredLogs((labels, [(at(time), line) for time, line in entries]) for labels, entries in streams)
    wanted = sorted(time for _, entries in streams for time, line in entries if word in line and time < 15)
    for backward in (False, True):
        found = ask(source, f'{{app=~".+"}} |= "{word}"', end=15, limit=limit, backward=backward)
        times = sorted((time - at(0)) // SECOND for stream in found.streams for time, _ in stream.entries)
        assert times == (wanted[-limit:] if backward else wanted[:limit])
