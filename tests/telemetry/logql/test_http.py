"""Loki's HTTP API: shapes, parameters and complaints."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.telemetry.logql.http import Loki
from sregym_env.telemetry.logql.source import StoredLogs
from tests.telemetry.logql.logs import at, shop

API = "/loki/api/v1/"
NOW = at(300)


def get(path: str, **parameters: str) -> Any:
    answer = Loki(shop()).answer(API + path, {name: [value] for name, value in parameters.items()}, NOW)
    assert answer.status == 200, answer.body
    return json.loads(answer.body)


def refused(path: str, **parameters: str) -> tuple[int, str]:
    answer = Loki(shop()).answer(API + path, {name: [value] for name, value in parameters.items()}, NOW)
    assert answer.content_type == "text/plain; charset=utf-8"
    return answer.status, answer.body.decode()


def test_streams() -> None:
    body = get("query_range", query='{app="db"} |= "n=29"', start="1700000000", end="1700000300")
    stats = body["data"].pop("stats")
    assert body == {
        "status": "success",
        "data": {
            "resultType": "streams",
            "result": [
                {
                    "stream": {"app": "db", "namespace": "shop", "pod": "db-0"},
                    "values": [["1700000290000000000", "level=info n=29 size=29kB"]],
                }
            ],
        },
    }
    assert stats["summary"]["totalLinesProcessed"] == 30
    assert stats["summary"]["totalEntriesReturned"] == 1
    assert list(stats) == ["summary", "querier", "ingester", "cache", "index"]


def test_matrix() -> None:
    body = get(
        "query_range",
        query='count_over_time({app="db"}[1m])',
        start="1700000040",
        end="1700000100",
        step="60",
    )
    assert body["data"]["resultType"] == "matrix"
    assert body["data"]["result"] == [
        {
            "metric": {"app": "db", "namespace": "shop", "pod": "db-0"},
            "values": [[1700000040, "5"], [1700000100, "6"]],
        }
    ]


def test_vector_and_scalar() -> None:
    body = get("query", query='sum(rate({app="db"}[1m])) * 0.5', time="1700000100.5")
    assert body["data"]["resultType"] == "vector"
    assert body["data"]["result"] == [{"metric": {}, "value": [1700000100.5, "0.05"]}]
    body = get("query", query="1 / 3", time="1700000100")
    assert body["data"]["resultType"] == "scalar"
    assert body["data"]["result"] == [1700000100, "0.3333333333333333"]


def test_defaults() -> None:
    body = get("query_range", query='{app="web"}')
    assert sum(len(stream["values"]) for stream in body["data"]["result"]) == 100
    assert body["data"]["result"][0]["values"][0][0] == str(at(299.6))
    # A 250th of the hour before now, in whole seconds.
    body = get("query_range", query="vector(1)")
    times = [time for time, _ in body["data"]["result"][0]["values"]]
    assert (times[0], times[1] - times[0], times[-1]) == (1699996700, 14, 1700000298)


def test_labels_and_series() -> None:
    assert get("labels") == {"status": "success", "data": ["app", "namespace", "pod"]}
    assert get("label/pod/values") == {"status": "success", "data": ["db-0", "web-1", "web-2"]}
    assert get("label/pod/values", query='{app="web"}')["data"] == ["web-1", "web-2"]
    assert get("label/nope/values") == {"status": "success"}
    assert get("labels", start="1600000000", end="1600000001") == {"status": "success"}
    assert get("series", match='{app="db"}') == {
        "status": "success",
        "data": [{"app": "db", "namespace": "shop", "pod": "db-0"}],
    }
    assert get("series", match='{app="nope"}') == {"status": "success", "data": []}


def test_index_stats() -> None:
    found = get("index/stats", query='{app="db"}')
    assert found == {"streams": 1, "chunks": 1, "bytes": 730, "entries": 30}


REFUSED: list[tuple[str, dict[str, str], int, str]] = [
    ("query_range", {"query": ""}, 400, "parse error : syntax error: unexpected $end"),
    ("query_range", {"query": "{"}, 400, "parse error at line 1, col 2: syntax error: unexpected $end, expecting IDENTIFIER or }"),
    ("query_range", {"query": '{a="b"}', "limit": "x"}, 400, 'strconv.Atoi: parsing "x": invalid syntax'),
    ("query_range", {"query": '{a="b"}', "limit": "0"}, 400, "limit must be a positive value"),
    ("query_range", {"query": '{a="b"}', "limit": "5001"}, 400, "max entries limit per query exceeded, limit > max_entries_limit_per_query (5001 > 5000)"),
    ("query_range", {"query": '{a="b"}', "direction": "up"}, 400, "invalid direction 'up'"),
    ("query_range", {"query": '{a="b"}', "start": "x"}, 400, "could not parse 'start' parameter: strconv.ParseInt: parsing \"x\": invalid syntax"),
    ("query_range", {"query": '{a="b"}', "end": "x"}, 400, "could not parse 'end' parameter: strconv.ParseInt: parsing \"x\": invalid syntax"),
    ("query_range", {"query": '{a="b"}', "since": "x"}, 400, "could not parse 'since' parameter: not a valid duration string: \"x\""),
    ("query_range", {"query": '{a="b"}', "start": "2", "end": "1"}, 400, "end timestamp must not be before start time"),
    ("query_range", {"query": '{a="b"}', "step": "x"}, 400, 'cannot parse "x" to a valid duration'),
    ("query_range", {"query": '{a="b"}', "step": "0"}, 400, "zero or negative query resolution step widths are not accepted. Try a positive integer"),
    ("query_range", {"query": '{a="b"}', "step": "0.01"}, 400, "exceeded maximum resolution of 11,000 points per time series. Try decreasing the query resolution (?step=XX)"),
    ("query_range", {"query": '{a="b"}', "start": "1600000000", "step": "1d"}, 400, "the query time range exceeds the limit (query length: 1157d9h51m40s, limit: 30d1h)"),
    ("query", {"query": '{a="b"}'}, 400, "log queries are not supported as an instant query type, please change your query to a range query type"),
    ("query", {"query": '1', "time": "soon"}, 400, 'strconv.ParseInt: parsing "soon": invalid syntax'),
    ("series", {}, 400, "0 matcher groups supplied"),
    ("series", {"match": '{a="b"} |= "c"'}, 400, "parse error : only label matchers are supported"),
    ("index/stats", {"query": "{}"}, 400, "parse error : queries require at least one regexp or equality matcher that does not have an empty-compatible value. For instance, app=~\".*\" does not meet this requirement, but app=~\".+\" will"),
    ("labels", {"query": '{a="b"} | json'}, 400, "only label matchers are supported"),
    ("patterns", {}, 404, "404 page not found\n"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "parameters", "status", "text"), REFUSED)
def test_what_is_refused(path: str, parameters: dict[str, str], status: int, text: str) -> None:
    assert refused(path, **parameters) == (status, text)


TIMES = [
    ("1700000290", 29),
    ("1700000290.0", 29),
    ("1700000290.001", None),
    ("1700000290000000000", 29),
    ("1700000290000000001", None),
    ("2023-11-14T22:18:10Z", 29),
    ("2023-11-14T22:18:10.000000001Z", None),
    ("2023-11-14T23:18:10+01:00", 29),
]


@pytest.mark.parametrize(("text", "first"), TIMES)
def test_timestamps(text: str, first: int | None) -> None:
    body = get("query_range", query='{app="db"} | logfmt | keep n', start=text, direction="forward")
    assert [stream["stream"]["n"] for stream in body["data"]["result"]] == ([str(first)] if first else [])


def test_lines_are_escaped_as_go_does() -> None:
    source = StoredLogs([({"app": "x"}, [(at(1), '<a href="x">&\u00e9\ud800</a>')])])
    answer = Loki(source).answer(f"{API}query_range", {"query": ['{app="x"}'], "start": [str(at(0))]}, NOW)
    assert b'\\u003ca href=\\"x\\"\\u003e\\u0026\xc3\xa9' in answer.body
    json.loads(answer.body)


@given(
    path=st.sampled_from(["query", "query_range", "labels", "label/a/values", "series", "index/stats"]),
    parameters=st.dictionaries(
        st.sampled_from(["query", "start", "end", "since", "limit", "direction", "step", "time", "match"]),
        st.one_of(
            st.text(max_size=12),
            st.sampled_from(['{app="db"}', "1", "-5", "1e300", "nan", "0.1", "1h", "9" * 40]),
        ),
    ),
)
def test_no_request_is_too_strange(path: str, parameters: dict[str, str]) -> None:
    answer = Loki(shop()).answer(API + path, {name: [value] for name, value in parameters.items()}, NOW)
    assert answer.status in (200, 400)
