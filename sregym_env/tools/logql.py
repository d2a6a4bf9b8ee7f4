"""The ``logql`` command: queries of the cluster's Loki."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from sregym_env.cluster.streams import ExecResult
from sregym_env.cluster.telemetry import Logs, TelemetryUnavailable
from sregym_env.telemetry.logql.errors import QueryError
from sregym_env.telemetry.logql.queries import Instant, Matrix, RangeQuery, Streams
from sregym_env.telemetry.logql.text import View, instant_text, matrix_text, streams_text
from sregym_env.telemetry.logql.units import float_text
from sregym_env.tools.options import Misuse, Options, parsed, shown

USAGE = """usage: logql [options] QUERY     lines, or what a metric query counts over the range
       logql --labels            the labels that streams have
       logql --values LABEL      the values of one of them
  --since D     how far back (default 15m), e.g. 5m, 1h30m
  --until T     the end of the range (2026-08-06T10:00:00Z, seconds since 1970, or how long ago: 10m)
  --limit N     lines at most, the newest (default 100, up to 1000)
  --forward     the oldest lines of the range instead
  --step S      resolution of a metric query (default: a 60th of the range)
  --instant     a metric query at the end of the range only
  -o json|raw   what Loki's HTTP API answers, for jq; or bare lines, for grep
e.g. logql '{namespace="shop"} |~ "(?i)error"'   logql 'sum by (pod) (count_over_time({namespace="shop"} |= "timeout" [1m]))'
"""

_FLAGS = {
    "-h": "help", "--help": "help", "--forward": "forward", "--labels": "labels", "--instant": "instant", "--json": "json", "--raw": "raw",
}  # fmt: skip
_VALUED = {
    "--since": "since", "--range": "since", "-s": "since", "--until": "until", "--to": "until", "--limit": "limit", "-n": "limit",
    "--step": "step", "-o": "output", "--output": "output", "--values": "values",
}  # fmt: skip

MINUTES_15 = 15 * 60_000
NANO = 1_000_000
"""Nanoseconds in a millisecond."""

VIEW = View(hidden=frozenset(("filename", "job")))
"""What is of no use to people beside pod and container is left out of their text."""


def logql(logs: Logs, arguments: Sequence[str], now: int) -> ExecResult:
    """Answer a query; ``arguments`` are the command's own without its name, ``now`` is microseconds."""
    try:
        return ExecResult(_answered(logs, parsed(arguments, _FLAGS, _VALUED), now // 1000))
    except Misuse as error:
        return ExecResult(stderr=f"logql: {error}\n{USAGE}", exit_code=2)
    except (QueryError, TelemetryUnavailable) as error:
        text = str(error)
        return ExecResult(stderr=f"logql: {text}" if text.endswith("\n") else f"logql: {text}\n", exit_code=1)


def _answered(logs: Logs, options: Options, now: int) -> str:
    if options.has("help"):
        return USAGE
    # What is written now belongs to it: ranges of lines leave their end out.
    end = options.instant("until", now) * NANO + (NANO if not options.has("until") else 0)
    length = options.duration("since", MINUTES_15)
    start = end - length * NANO
    output = _output(options)
    if options.has("labels") or options.has("values"):
        label = options.value("values")
        found = logs.labels(start, end) if options.has("labels") else logs.values(label, start, end)
        if output == "json":
            return orjson.dumps({"status": "success", "data": list(found)}).decode() + "\n"
        return "".join(f"{each}\n" for each in found) or "none\n"
    query = " ".join(options.words).strip()
    if not query:
        raise Misuse("there is no query")
    if options.has("instant"):
        instant = logs.query(query, end)
        return _json(instant) if output == "json" else instant_text(instant, VIEW)
    limit = options.number("limit", 100, 1, 1000)
    step = options.duration("step", max(1000, length // 60 // 1000 * 1000)) * NANO
    asked = RangeQuery(query, start, end, limit, not options.has("forward"), step)
    answer = logs.query_range(asked)
    if output == "json":
        return _json(answer)
    if isinstance(answer, Matrix):
        return matrix_text(answer, VIEW)
    return _raw(answer) if output == "raw" else streams_text(answer, limit, VIEW)


def _output(options: Options) -> str:
    flag = "json" if options.has("json") else "raw" if options.has("raw") else "text"
    output = options.value("output", flag)
    if output not in ("json", "raw", "text"):
        raise Misuse(f"-o must be text, json or raw, not {shown(output)}")
    return output


def _raw(found: Streams) -> str:
    entries = sorted((time, line) for stream in found.streams for time, line in stream.entries)
    return "".join(f"{line}\n" for _, line in entries)


def _json(found: Streams | Matrix | Instant) -> str:
    data: dict[str, object]
    if isinstance(found, Streams):
        streams = [
            {"stream": dict(stream.labels), "values": [[str(time), line] for time, line in stream.entries]}
            for stream in found.streams
        ]
        data = {"resultType": "streams", "result": streams}
    elif isinstance(found, Matrix):
        series = [
            {"metric": dict(labels), "values": [[time / 1000, float_text(value)] for time, value in points]}
            for labels, points in found.series
        ]
        data = {"resultType": "matrix", "result": series}
    else:
        vector = [
            {"metric": dict(labels), "value": [found.time / 1000, float_text(value)]}
            for labels, value in found.vector
        ]
        data = {"resultType": "vector", "result": vector}
    return orjson.dumps({"status": "success", "data": data}).decode() + "\n"
