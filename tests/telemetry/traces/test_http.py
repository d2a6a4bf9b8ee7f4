"""Jaeger's HTTP API: shapes, parameters and complaints."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.runtime import effort
from sregym_env.telemetry.traces.http import Jaeger
from sregym_env.telemetry.traces.model import Process, Span, Trace
from sregym_env.telemetry.traces.source import StoredTraces
from tests.telemetry.traces.requests import SECOND, START, hotel

NOW = START + 100 * SECOND


def get(path: str, **parameters: str | list[str]) -> Any:
    answer = Jaeger(hotel()).answer(
        f"/api/{path}",
        {name: [each] if isinstance(each, str) else each for name, each in parameters.items()},
        NOW,
    )
    assert (answer.status, answer.content_type) == (200, "application/json"), answer.body
    return json.loads(answer.body)


def test_services_and_operations() -> None:
    assert get("services") == {
        "data": ["frontend", "geo", "rate", "search"], "total": 4, "limit": 0, "offset": 0, "errors": None,
    }  # fmt: skip
    assert get("operations", service="rate")["data"] == [
        {"name": "/rate.Rate/GetRates", "spanKind": "server"},
        {"name": "get_rates", "spanKind": "server"},
    ]
    assert get("operations", service="rate", spanKind="client")["data"] == []
    assert get("services/rate/operations")["data"] == ["/rate.Rate/GetRates", "get_rates"]
    assert get("services/nope/operations")["data"] is None


def test_a_trace() -> None:
    body = get("traces/5")
    assert body["errors"] is None
    trace = body["data"][0]
    assert list(trace) == ["traceID", "spans", "processes", "warnings"]
    assert trace["traceID"] == "0000000000000005"
    assert trace["processes"]["p1"] == {
        "serviceName": "frontend",
        "tags": [
            {"key": "hostname", "type": "string", "value": "frontend-0"},
            {"key": "ip", "type": "string", "value": "10.0.0.1"},
        ],
    }
    assert trace["spans"][-1] == {
        "traceID": "0000000000000005",
        "spanID": "000000000000001e",
        "flags": 1,
        "operationName": "/rate.Rate/GetRates",
        "references": [{"refType": "CHILD_OF", "traceID": "0000000000000005", "spanID": "0000000000000002"}],
        "startTime": START + 5 * SECOND + 22_000,
        "duration": 15_000,
        "tags": [
            {"key": "span.kind", "type": "string", "value": "server"},
            {"key": "error", "type": "bool", "value": True},
            {"key": "grpc.code", "type": "int64", "value": 14},
        ],
        "logs": [
            {
                "timestamp": START + 5 * SECOND + 23_000,
                "fields": [
                    {"key": "event", "type": "string", "value": "error"},
                    {
                        "key": "message",
                        "type": "string",
                        "value": "dial tcp 10.0.0.7:8084: connect: connection refused",
                    },
                ],
            }
        ],
        "processID": "p4",
        "warnings": None,
    }
    assert get("traces/0000000000000005") == get("traces/5") == get("traces/00000000000000000000000000000005")


SEARCHES: list[tuple[dict[str, str | list[str]], list[int]]] = [
    ({"service": "frontend", "limit": "3"}, [20, 19, 18]),
    ({"service": "frontend", "start": str(START), "end": str(START + 2 * SECOND)}, [2, 1]),
    ({"service": "frontend", "start": str(START + 19 * SECOND)}, [20, 19]),
    ({"service": "rate", "tags": '{"error":"true"}'}, [20, 15, 10, 5]),
    ({"service": "rate", "tag": ["error:true", "grpc.code:14"]}, [20, 15, 10, 5]),
    ({"service": "rate", "tags": '{"grpc.code":"13"}'}, []),
    ({"service": "rate", "tags": '{"hostname":"rate-0"}', "limit": "1"}, [20]),
    ({"service": "rate", "tags": '{"message":"dial tcp 10.0.0.7:8084: connect: connection refused"}', "limit": "1"}, [20]),
    ({"service": "rate", "operation": "/rate.Rate/GetRates"}, [20, 15, 10, 5]),
    ({"service": "rate", "minDuration": "15ms"}, [20, 15, 10, 5]),
    ({"service": "rate", "minDuration": "15001us"}, []),
    ({"service": "geo", "maxDuration": "1ms"}, []),
    ({"service": "nope"}, []),
    ({"service": "frontend", "limit": "0"}, list(range(20, 0, -1))),
    ({"service": "frontend", "lookback": "1s", "limit": "1"}, [20]),
    ({"traceID": ["7", "3"]}, [7, 3]),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "found"), SEARCHES)
def test_searches(parameters: dict[str, str | list[str]], found: list[int]) -> None:
    body = get("traces", **parameters)
    assert [int(trace["traceID"], 16) for trace in body["data"]] == found
    assert body["total"] == 0


def test_an_identifier_that_is_not_there_is_named() -> None:
    body = get("traces", traceID=["7", "77"])
    assert body["errors"] == [{"msg": "trace not found", "traceID": "0000000000000077"}]
    assert len(body["data"]) == 1


def test_dependencies() -> None:
    end = str(NOW // 1000)
    assert get("dependencies", endTs=end, lookback="3600000")["data"] == [
        {"parent": "frontend", "child": "search", "callCount": 20},
        {"parent": "search", "child": "geo", "callCount": 20},
        {"parent": "search", "child": "rate", "callCount": 164},
    ]
    assert len(get("dependencies", service="geo")["data"]) == 1
    assert get("dependencies", endTs=end, lookback="1000")["data"] == []


REFUSED = [
    ("traces", {}, 400, "parameter 'service' is required"),
    ("operations", {}, 400, "parameter 'service' is required"),
    ("traces/99", {}, 404, "trace not found"),
    ("traces/xyz", {}, 400, 'strconv.ParseUint: parsing "xyz": invalid syntax'),
    ("traces/" + "1" * 33, {}, 400, "TraceID cannot be longer than 32 hex characters: " + "1" * 33),
    ("traces", {"service": "a", "limit": "x"}, 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
    ("traces", {"service": "a", "limit": "3000000000"}, 400, 'strconv.ParseInt: parsing "3000000000": value out of range'),
    ("traces", {"service": "a", "start": "now"}, 400, 'unable to parse param \'start\': strconv.ParseInt: parsing "now": invalid syntax'),
    ("traces", {"service": "a", "minDuration": "5"}, 400, 'unable to parse param \'minDuration\': time: missing unit in duration "5"'),
    ("traces", {"service": "a", "minDuration": "2s", "maxDuration": "1s"}, 400, "'maxDuration' should be greater than 'minDuration'"),
    ("traces", {"service": "a", "tag": "error"}, 400, "malformed 'tag' parameter, expecting key:value, received: error"),
    ("traces", {"service": "a", "tags": "{"}, 400, "malformed 'tags' parameter, cannot unmarshal JSON: unexpected end of JSON input"),
    ("traces", {"service": "a", "tags": '{"a":1}'}, 400, "malformed 'tags' parameter, cannot unmarshal JSON: json: cannot unmarshal number into Go value of type string"),
    ("traces", {"service": "a", "tags": "[]"}, 400, "malformed 'tags' parameter, cannot unmarshal JSON: json: cannot unmarshal array into Go value of type map[string]string"),
    ("traces", {"traceID": "x"}, 400, 'cannot parse traceID param: strconv.ParseUint: parsing "x": invalid syntax'),
    ("dependencies", {"endTs": "x"}, 400, 'unable to parse param \'endTs\': strconv.ParseInt: parsing "x": invalid syntax'),
    ("metrics/calls", {"service": "a"}, 501, "metrics querying is currently disabled"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "parameters", "status", "text"), REFUSED)
def test_what_is_refused(path: str, parameters: dict[str, str], status: int, text: str) -> None:
    answer = Jaeger(hotel()).answer(f"/api/{path}", {name: [each] for name, each in parameters.items()}, NOW)
    assert answer.status == status
    assert json.loads(answer.body)["errors"] == [{"code": status, "msg": text}]


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/traces/", "/search", "/api/services//operations"])
def test_other_paths(path: str) -> None:
    assert Jaeger(hotel()).answer(path, {}, NOW).status == 404


def test_pretty_print_and_the_escapes_of_go() -> None:
    answer = Jaeger(hotel()).answer("/api/services", {"prettyPrint": ["true"]}, NOW)
    assert answer.body.startswith(b'{\n    "data": [\n        "frontend",\n')
    values = (("a", b"\x00\xff"), ("b", 1.0), ("c", 2**60), ("d", "<&>"))
    only = Span("1" * 16, "2" * 16, "op", START, 1, Process("s"), tags=values, flags=0)
    source = StoredTraces([Trace("1" * 16, (only,))])
    answer = Jaeger(source).answer(f"/api/traces/{'1' * 16}", {}, NOW)
    assert b'"value":"\\u003c\\u0026\\u003e"' in answer.body
    span = json.loads(answer.body)["data"][0]["spans"][0]
    assert "flags" not in span
    assert [tag["value"] for tag in span["tags"]] == ["AP8=", 1, str(2**60), "<&>"]
    assert [tag["type"] for tag in span["tags"]] == ["binary", "float64", "int64", "string"]


def test_an_action_pays_for_the_spans_it_gets() -> None:
    with effort.bounded(own=1000.0), pytest.raises(effort.EffortExceeded):
        Jaeger(hotel()).answer("/api/traces", {"service": ["frontend"]}, NOW)


@given(
    path=st.sampled_from(["services", "operations", "traces", "traces/5", "dependencies", "services/geo/operations"]),
    parameters=st.dictionaries(
        st.sampled_from(
            ["service", "operation", "tags", "tag", "start", "end", "limit", "minDuration", "maxDuration", "traceID",
             "endTs", "lookback", "prettyPrint", "raw"]
        ),
        st.one_of(st.text(max_size=12), st.sampled_from(["rate", "5", "1ms", "-1", "{}", "null", '{"a":"b"}', "9" * 40])),
    ),
)  # fmt: skip
def test_no_request_is_too_strange(path: str, parameters: dict[str, str]) -> None:
    answer = Jaeger(hotel()).answer(f"/api/{path}", {name: [each] for name, each in parameters.items()}, NOW)
    assert answer.status in (200, 400, 404)
    json.loads(answer.body)
