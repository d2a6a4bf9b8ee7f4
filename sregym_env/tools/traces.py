"""The ``traces`` command: what requests went through, from the cluster's Jaeger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sregym_env.cluster.streams import ExecResult
from sregym_env.cluster.telemetry import TelemetryUnavailable
from sregym_env.kube.durations import parse_duration as parse_go_duration
from sregym_env.telemetry.traces.http import Jaeger
from sregym_env.telemetry.traces.ids import canonical_id
from sregym_env.telemetry.traces.model import TraceQuery
from sregym_env.telemetry.traces.source import TraceSource
from sregym_env.telemetry.traces.text import View, dependencies_text, operations_text, search_text, trace_text
from sregym_env.tools.options import Misuse, Options, parsed, shown

USAGE = """usage: traces services                       services that have written spans
       traces operations SERVICE             what a service has done
       traces search SERVICE [options]       requests that went through a service, newest first
       traces get TRACE_ID                   one request as a tree of spans
       traces dependencies                   who has called whom, and how often
  --since D             how far back (default 15m)
  --until T             the end of the range (2026-08-06T10:00:00Z, seconds since 1970, or how long ago: 10m)
  --errors              only requests with an error in the service that was named
  --operation NAME      only requests with this operation of the service
  --min-duration D      only operations that took at least so long (100ms, 1.5s); --max-duration likewise
  --tag KEY=VALUE       only spans with this tag; may be repeated
  --limit N             traces at most (default 20, up to 100)
  --page N              the Nth page of a long answer
  -o json               what Jaeger's HTTP API answers, for jq
Traces are a sample of the requests.
"""

_FLAGS = {"-h": "help", "--help": "help", "--errors": "errors", "--error": "errors", "--json": "json"}
_VALUED = {
    "--since": "since", "--range": "since", "-s": "since", "--until": "until", "--operation": "operation", "--min-duration": "min-duration",
    "--max-duration": "max-duration", "--tag": "tag", "--limit": "limit", "-n": "limit", "--page": "page", "-p": "page", "-o": "output",
    "--output": "output",
}  # fmt: skip

MINUTES_15 = 15 * 60_000


def traces(source: TraceSource, arguments: Sequence[str], now: int) -> ExecResult:
    """Answer a question; ``arguments`` are the command's own without its name, ``now`` is microseconds."""
    try:
        return _answered(source, parsed(arguments, _FLAGS, _VALUED), now)
    except Misuse as error:
        return ExecResult(stderr=f"traces: {error}\n{USAGE}", exit_code=2)
    except TelemetryUnavailable as error:
        return ExecResult(stderr=f"traces: {error}\n", exit_code=1)


def _answered(source: TraceSource, options: Options, now: int) -> ExecResult:
    if options.has("help") or not options.words:
        return ExecResult(USAGE, exit_code=0 if options.has("help") else 2)
    view = View(page=options.number("page", 1, 1, 10_000))
    command, *words = options.words
    as_json = _as_json(options)
    match command, words:
        case "services", []:
            return _of_api(source, "/api/services", {}, now) if as_json else ExecResult(_services(source))
        case "operations", [service]:
            if as_json:
                return _of_api(source, "/api/operations", {"service": [service]}, now)
            return ExecResult(operations_text(source.operations(service), view))
        case "search" | "find", [service]:
            return _search(source, service, options, view, now, as_json)
        case "get" | "show", [trace_id]:
            return _get(source, trace_id, view, now, as_json)
        case "dependencies" | "deps", []:
            start, end = _range(options, now)
            if as_json:
                asked = {"endTs": [str(end // 1000)], "lookback": [str((end - start) // 1000)]}
                return _of_api(source, "/api/dependencies", asked, now)
            return ExecResult(dependencies_text(source.dependencies(start, end), view))
    if command in ("operations", "search", "find", "get", "show"):
        what = "a trace's identifier" if command in ("get", "show") else "a service"
        raise Misuse(f"{command} needs {what} and nothing else")
    raise Misuse(f"unknown command: {shown(command)}")


def _as_json(options: Options) -> bool:
    output = options.value("output", "json" if options.has("json") else "text")
    if output not in ("json", "text"):
        raise Misuse(f"-o must be text or json, not {shown(output)}")
    return output == "json"


def _range(options: Options, now: int) -> tuple[int, int]:
    """Microseconds."""
    end = options.instant("until", now // 1000) * 1000
    end = now if not options.has("until") else end
    return end - options.duration("since", MINUTES_15) * 1000, end


def _services(source: TraceSource) -> str:
    return "".join(f"{name}\n" for name in source.services()) or "no services\n"


def _search(
    source: TraceSource, service: str, options: Options, view: View, now: int, as_json: bool
) -> ExecResult:
    start, end = _range(options, now)
    tags: dict[str, str] = {"error": "true"} if options.has("errors") else {}
    for text in options.values.get("tag", ()):
        key, equals, value = text.partition("=")
        if not equals:
            raise Misuse(f"--tag must be KEY=VALUE, not {shown(text)}")
        tags[key] = value
    query = TraceQuery(
        service,
        start,
        end,
        options.value("operation"),
        tags,
        _nanoseconds(options, "min-duration"),
        _nanoseconds(options, "max-duration"),
        options.number("limit", 20, 1, 100),
    )
    if as_json:
        asked = {
            "service": [service], "start": [str(start)], "end": [str(end)], "limit": [str(query.limit)],
            "operation": [query.operation], "tag": [f"{key}:{value}" for key, value in tags.items()],
            "minDuration": [options.value("min-duration")], "maxDuration": [options.value("max-duration")],
        }  # fmt: skip
        return _of_api(source, "/api/traces", asked, now)
    found = source.search(query)
    if not found and service not in source.services():
        return ExecResult(f"no traces: {shown(service)} is none of the services that have written spans\n")
    return ExecResult(search_text(found, view))


def _nanoseconds(options: Options, name: str) -> int:
    text = options.value(name)
    if not text:
        return 0
    try:
        found = parse_go_duration(text) if len(text) <= 40 else -1
    except ValueError:
        found = -1
    if found < 0:
        raise Misuse(f"--{name}: {shown(text)} is no duration; write 100ms or 1.5s")
    return found


def _get(source: TraceSource, text: str, view: View, now: int, as_json: bool) -> ExecResult:
    try:
        trace_id = canonical_id(text)
    except ValueError as error:
        return ExecResult(stderr=f"traces: {error}\n", exit_code=1)
    if as_json:
        return _of_api(source, f"/api/traces/{trace_id}", {}, now)
    trace = source.get(trace_id)
    if trace is None:
        return ExecResult(stderr="traces: trace not found\n", exit_code=1)
    return ExecResult(trace_text(trace, view))


def _of_api(source: TraceSource, path: str, parameters: Mapping[str, Sequence[str]], now: int) -> ExecResult:
    answer = Jaeger(source).answer(path, parameters, now)
    body = answer.body.decode()
    body = body if body.endswith("\n") else f"{body}\n"
    return ExecResult(body) if answer.status == 200 else ExecResult(stderr=f"traces: {body}", exit_code=1)
