"""Traces as agents read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.telemetry.traces.model import Process, Reference, Span, Trace, TraceQuery
from sregym_env.telemetry.traces.text import (
    View,
    dependencies_text,
    duration_text,
    operations_text,
    search_text,
    trace_text,
)
from tests.effort import at_most
from tests.telemetry.traces.requests import START, hotel, request, span


def test_a_search() -> None:
    found = hotel().search(TraceQuery("frontend", 0, 2 * START, limit=6))
    assert search_text(found, View(rows=3)) == (
        "6 traces, 2 with errors; duration median 45.0ms, max 45.0ms\n"
        "TRACE ID          START                     DURATION  SPANS  ERRORS  ROOT                        SERVICES\n"
        "0000000000000014  2023-11-14T22:13:40.000Z    45.0ms     12       2  frontend: HTTP GET /hotels  "
        "frontend (1), geo (1), rate (9), search (1)\n"
        "0000000000000013  2023-11-14T22:13:39.000Z    45.0ms     11       0  frontend: HTTP GET /hotels  "
        "frontend (1), geo (1), rate (8), search (1)\n"
        "0000000000000012  2023-11-14T22:13:38.000Z    45.0ms     11       0  frontend: HTTP GET /hotels  "
        "frontend (1), geo (1), rate (8), search (1)\n"
        "-- page 1 of 2 (6 traces) --\n"
    )
    assert "000000000000000f" in search_text(found, View(rows=3, page=2))
    assert search_text([]) == "no traces\n"


def test_a_trace_with_errors_and_repeats() -> None:
    assert trace_text(request(5, broken=True)) == (
        "trace 0000000000000005  2023-11-14T22:13:25.000Z  45.0ms  12 spans, 2 errors\n"
        "services: frontend (1), geo (1), rate (9), search (1)\n"
        "     +0µs    45.0ms ████████████████████████  frontend: HTTP GET /hotels [server]  ERROR\n"
        "                                                  http.status_code=500\n"
        "   +900µs    40.0ms █████████████████████       search: /search.Search/Nearby [server]\n"
        "   +1.5ms     9.0ms █████                         geo: /geo.Geo/Nearby [server]\n"
        "  +11.0ms     800µs      █                        rate: get_rates [server]\n"
        "  +12.0ms     6.8ms       ████                    ... 7 more rate: get_rates [server] (801µs to 807µs)\n"
        "  +22.0ms    15.0ms            ████████           rate: /rate.Rate/GetRates [server]  ERROR\n"
        "                                                      grpc.code=14\n"
        "                                                      event +1.0ms: event=error message=dial tcp "
        "10.0.0.7:8084: connect: connection refused\n"
    )


def test_few_repeats_are_all_shown() -> None:
    text = trace_text(request(1, rates=3))
    assert text.count("get_rates") == 3
    assert "more" not in text


def test_pages_cover_every_line_once() -> None:
    whole = trace_text(request(5, broken=True)).splitlines()[2:]
    pages = [
        line
        for page in (1, 2, 3)
        for line in trace_text(request(5, broken=True), View(rows=4, page=page)).splitlines()[2:-1]
    ]
    assert pages == whole


def test_a_span_whose_parent_is_missing_says_so() -> None:
    lost = Trace("0000000000000001", (span(1, 2, 9, "geo", "op", 0, 10),))
    assert "geo: op [server]  (its parent 0000000000000009 is not here)" in trace_text(lost)


def test_spans_in_a_circle_are_shown() -> None:
    circle = Trace("0000000000000001", (span(1, 2, 3, "geo", "a", 0, 10), span(1, 3, 2, "geo", "b", 1, 5)))
    text = trace_text(circle)
    assert text.count("geo: a") == text.count("geo: b") == 1


def test_a_deep_and_long_trace() -> None:
    spans = tuple(span(1, i + 1, i, "geo", f"op{i}", i, 10_000) for i in range(5_000))
    with at_most(0.5):
        text = trace_text(Trace("0000000000000001", spans))
    assert "-- page 1 of 84 (5000 lines) --" in text


def test_operations_and_dependencies() -> None:
    assert operations_text(hotel().operations("rate")) == "/rate.Rate/GetRates (server)\nget_rates (server)\n"
    assert dependencies_text(hotel().dependencies(0, 2 * START)) == (
        "CALLER    CALLED  CALLS\n"
        "frontend  search  20\n"
        "search    geo     20\n"
        "search    rate    164\n"
    )  # fmt: skip
    assert operations_text([]) == "no operations\n"
    assert dependencies_text([]) == "no dependencies\n"


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (0, "0µs"), (999, "999µs"), (1_000, "1.0ms"), (999_949, "999.9ms"), (999_950, "1.00s"),
        (59_994_999, "59.99s"), (59_995_000, "1m00s"), (125_000_000, "2m05s"), (7_200_000_000, "120m00s"),
    ],
)  # fmt: skip
def test_durations(microseconds: int, text: str) -> None:
    assert duration_text(microseconds) == text


SPANS = st.lists(
    st.tuples(st.integers(1, 8), st.integers(0, 9), st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=12
)  # fmt: skip


@given(SPANS, st.integers(1, 4))
def test_any_shape_of_trace_is_shown_whole(shape: list[tuple[int, int, int, int]], repeats: int) -> None:
    """Whatever the references say, every span has its line, or is counted in one."""
    spans = {
        number: Span(
            "1" * 16, f"{number:016x}", f"op{number}", START + start, duration, Process("s"),
            (Reference(f"{parent:016x}", "1" * 16),),
        )
        for number, parent, start, duration in shape
    }  # fmt: skip
    text = trace_text(Trace("1" * 16, tuple(spans.values())), View(rows=100, repeats=repeats))
    for number in spans:
        assert text.count(f"s: op{number}") == 1
