"""The ``promql`` command: queries of the cluster's Prometheus, answered as text a person or a model can take in."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from sregym_env.cluster.streams import ExecResult
from sregym_env.cluster.telemetry import Metrics, TelemetryUnavailable
from sregym_env.telemetry.promql.api import data_of
from sregym_env.telemetry.promql.engine import Result
from sregym_env.telemetry.promql.errors import QueryError
from sregym_env.telemetry.promql.text import View, matrix_text, result_text, series_text
from sregym_env.telemetry.series import PatternError, compiled
from sregym_env.tools.options import Misuse, Options, parsed, shown

USAGE = """usage: promql [options] QUERY            the answer now, one line for each series
       promql --range 15m [options] QUERY  over the last 15 minutes, as sparklines with first, min, max and last
       promql --metrics [REGEX]            the names of the metrics there are
       promql --series SELECTOR            the series that a selector finds
  --time T    evaluate at T (2026-08-06T10:00:00Z, seconds since 1970, or how long ago: 10m); the end of a --range
  --step S    resolution of a --range (default: a 60th of it, at least 15s)
  --page N    the Nth page of a long answer
  -o json     what Prometheus's HTTP API answers, for jq (500 series at most)
Everything is scraped once a minute, span metrics every 15 s: a rate needs a range of [2m] or more.
"""

_FLAGS = {"-h": "help", "--help": "help", "--metrics": "metrics", "--json": "json"}
_VALUED = {
    "--range": "range", "--since": "range", "-r": "range", "--time": "time", "-t": "time", "--end": "time", "--step": "step", "-s": "step",
    "--page": "page", "-p": "page", "-o": "output", "--output": "output", "--series": "series",
}  # fmt: skip

MOST_JSON = 500
"""Series in an answer written as JSON."""
LEAST_STEP = 15_000
"""Milliseconds."""
MOST_STEPS = 2000
LONGEST_PATTERN = 1000
"""Characters."""
LOOKBACK = 15 * 60_000
"""How far back names and series are looked for, milliseconds."""


def promql(metrics: Metrics, arguments: Sequence[str], now: int) -> ExecResult:
    """Answer a query; ``arguments`` are the command's own without its name, ``now`` is microseconds."""
    try:
        options = parsed(arguments, _FLAGS, _VALUED)
        return _answered(metrics, options, now // 1000)
    except Misuse as error:
        return ExecResult(stderr=f"promql: {error}\n{USAGE}", exit_code=2)
    except QueryError as error:
        return ExecResult(stderr=f"promql: {error.type}: {error}\n", exit_code=1)
    except TelemetryUnavailable as error:
        return ExecResult(stderr=f"promql: {error}\n", exit_code=1)


def _answered(metrics: Metrics, options: Options, now: int) -> ExecResult:
    if options.has("help"):
        return ExecResult(USAGE)
    view = View(page=options.number("page", 1, 1, 10_000))
    time = options.instant("time", now)
    if options.has("metrics"):
        return _names(metrics, options, time, view)
    if options.has("series"):
        found = metrics.series(options.value("series"), time - LOOKBACK, time)
        return ExecResult(_json_series(found) if _as_json(options) else series_text(found, view))
    query = " ".join(options.words).strip()
    if not query:
        raise Misuse("there is no query")
    if not options.has("range"):
        result = metrics.query(query, time)
        return ExecResult(_json(result) if _as_json(options) else result_text(result, view))
    length = options.duration("range", 0)
    step = options.duration("step", max(LEAST_STEP, length // 60 // 1000 * 1000))
    if length // step > MOST_STEPS:
        raise Misuse(
            f"a range of {length // 1000}s has more than {MOST_STEPS} steps of {step // 1000}s; take a larger --step"
        )
    start = time - length // step * step
    result = metrics.query_range(query, start, time, step)
    return ExecResult(_json(result) if _as_json(options) else matrix_text(result, start, time, step, view))


def _as_json(options: Options) -> bool:
    output = options.value("output", "json" if options.has("json") else "text")
    if output not in ("json", "text"):
        raise Misuse(f"-o must be text or json, not {shown(output)}")
    return output == "json"


def _names(metrics: Metrics, options: Options, time: int, view: View) -> ExecResult:
    pattern = " ".join(options.words)
    if len(pattern) > LONGEST_PATTERN:
        raise Misuse(f"a pattern of {len(pattern)} characters is too long; the limit is {LONGEST_PATTERN}")
    try:
        match = compiled(f".*(?:{pattern}).*", capturing=False).match if pattern else None
    except PatternError as error:
        raise Misuse(str(error)) from None
    known = metrics.metadata()
    names = [name for name in metrics.names(time - LOOKBACK, time) if match is None or match(name)]
    if _as_json(options):
        return ExecResult(orjson.dumps({"status": "success", "data": names}).decode() + "\n")
    if not names:
        return ExecResult("no metrics\n")
    rows = 4 * view.rows
    pages = -(-len(names) // rows)
    page = min(view.page, pages)
    lines = [f"{len(names)} metrics"]
    for name in names[(page - 1) * rows : page * rows]:
        about = known.get(name)
        lines.append(f"{name}  ({about[0].type})" if about else name)
    if pages > 1:
        lines.append(f"-- page {page} of {pages} --")
    return ExecResult("\n".join(lines) + "\n")


def _json(result: Result) -> str:
    data = data_of(
        result
        if len(result.series) <= MOST_JSON
        else Result(result.type, result.series[:MOST_JSON], result.text)
    )
    body = {"status": "success", "data": data}
    if len(result.series) > MOST_JSON:
        body["warnings"] = [f"{len(result.series) - MOST_JSON} more series are left out"]
    return orjson.dumps(body).decode() + "\n"


def _json_series(found: Sequence[tuple[tuple[str, str], ...]]) -> str:
    return (
        orjson.dumps({"status": "success", "data": [dict(labels) for labels in found[:MOST_JSON]]}).decode()
        + "\n"
    )
