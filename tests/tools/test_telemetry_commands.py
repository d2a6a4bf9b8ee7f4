"""``promql``, ``logql`` and ``traces`` on the workstation, and as tools of a model."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from sregym_env import apps
from sregym_env.cluster.oncall import ONCALL
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.call import CommandLine, Refusal, ToolCall, ToolOutcome
from sregym_env.tools.logql import USAGE as LOGQL_USAGE
from sregym_env.tools.options import Misuse, parsed
from sregym_env.tools.promql import USAGE as PROMQL_USAGE
from sregym_env.tools.tool import action, schemas, text_help
from sregym_env.tools.traces import USAGE as TRACES_USAGE
from sregym_env.tools.workstation import READ_SECONDS, Workstation

APP = apps.app("hotel-reservation")
NOW = 1_786_010_534_000


@pytest.fixture(scope="module")
def _world() -> EmbeddedWorld:
    world = deployed_world(APP, 0)
    world.advance(600.0)
    world.cluster.patch("deployments.apps", "reservation", {"spec": {"replicas": 0}}, namespace=APP.namespace)
    world.advance(300.0)
    return world


@pytest.fixture
def station(_world: EmbeddedWorld) -> Workstation:
    return Workstation(_world.fork(), ONCALL, APP.namespace)


def run(station: Workstation, line: str) -> ToolOutcome:
    return station.run(line)


@pytest.mark.parametrize(
    ("line", "begins", "holds"),
    [
        ("promql 'up == 0'", "no series", ""),
        ("promql 1+1", "2\n", ""),
        ("promql 'kube_deployment_status_replicas_available{deployment=\"reservation\"}'", "1 series at ", "             0  "),
        ("promql --range 10m 'probe_success{instance=~\"reservation.*\"}'", "1 series, 41 steps of 15s from ", "first 1  min 0  max 1  last 0"),
        ("promql 'up[3m]'", "", "Z  1"),
        ("promql --metrics '^kube_job'", "", "kube_job_status_active  (gauge)"),
        ("promql --series 'up{job=\"node-exporter\"}'", "4 series\ncommon labels: ", 'node="sre-worker"'),
        ("promql --page 2 kube_pod_status_phase", "", "-- page 2 of "),
        ("promql --time 10m 'sum(probe_success)'", "1 series at ", "             8  {}"),
        ("logql '{app=\"frontend\"} |= \"ERR\"'", "100 lines in 1 stream (limit 100 reached", "CheckAvailability failed"),
        ("logql --limit 2 --forward '{app=\"frontend\"}'", "2 lines in 1 stream", ""),
        ("logql -o raw --limit 1 '{app=\"frontend\"}'", "20", " ERR "),
        ("logql --labels", "app\ncontainer\n", "namespace\n"),
        ("logql --values container", "", "hotel-reserv-frontend\n"),
        ("logql 'sum by (app) (rate({app=\"frontend\"}[1m]))'", "1 series, ", '{app="frontend"}'),
        ("logql --instant 'count_over_time({app=\"frontend\"}[1m])'", "", '{app="frontend", container='),
        ("traces services", "frontend\ngeo\n", "search\n"),
        ("traces operations user", "/user.User/CheckUser (server)\n", ""),
        ("traces search frontend --errors --limit 3", "3 traces, 3 with errors; ", "frontend: HTTP GET /hotels"),
        ("traces search nobody", 'no traces: "nobody" is none of the services', ""),
        ("traces dependencies", "CALLER", "search    rate"),
        ("traces get $(traces search frontend --errors --limit 1 -o json | jq -r '.data[0].traceID')", "trace ", "[client]  ERROR"),
        ("promql -o json up | jq -r '.data.result | length'", "", ""),
    ],
)  # fmt: skip
def test_answers(station: Workstation, line: str, begins: str, holds: str) -> None:
    done = run(station, line)
    assert done.exit_code == 0, done.text
    assert done.text.startswith(begins), done.text
    assert holds in done.text


@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        ("promql 'up{'", 1, "promql: bad_data: 1:4: parse error: unexpected end of input inside braces\n"),
        ("promql 'rate(up)'", 1, 'promql: bad_data: 1:6: parse error: expected type range vector in call to function "rate", got instant vector\n'),
        ("promql --range 5m 'up[5m]'", 1, 'promql: bad_data: invalid expression type "range vector" for range query, must be Scalar or instant Vector\n'),
        ("promql", 2, f"promql: there is no query\n{PROMQL_USAGE}"),
        ("promql --range soon up", 2, "promql: --range: not a valid duration string"),
        ("promql --nope up", 2, 'promql: unknown option: "--nope"'),
        ("promql --page 0 up", 2, "promql: --page must be a whole number from 1 to 10000"),
        ("promql --range 30d --step 15s up", 2, "promql: a range of 2592000s has more than 2000 steps of 15s; take a larger --step"),
        ("promql --metrics '('", 2, "promql: error parsing regexp"),
        ("promql -o yaml up", 2, 'promql: -o must be text or json, not "yaml"'),
        ("logql '{app='", 1, "logql: parse error at line 1, col 6: syntax error: unexpected $end, expecting STRING\n"),
        ("logql '{}'", 1, "logql: "),
        ("logql --limit 5000 '{app=\"x\"}'", 2, "logql: --limit must be a whole number from 1 to 1000"),
        ("logql", 2, f"logql: there is no query\n{LOGQL_USAGE}"),
        ("logql --instant '{app=\"frontend\"}'", 1, "logql: log queries are not supported as an instant query type"),
        ("traces", 2, TRACES_USAGE),
        ("traces fetch", 2, 'traces: unknown command: "fetch"'),
        ("traces search", 2, "traces: search needs a service and nothing else"),
        ("traces get zzz", 1, 'traces: strconv.ParseUint: parsing "zzz": invalid syntax\n'),
        ("traces get 1", 1, "traces: trace not found\n"),
        ("traces search frontend --min-duration long", 2, 'traces: --min-duration: "long" is no duration'),
        ("traces search frontend --tag error", 2, "traces: --tag must be KEY=VALUE"),
    ],
)  # fmt: skip
def test_complaints(station: Workstation, line: str, code: int, text: str) -> None:
    done = run(station, line)
    assert done.text.startswith(text), done.text
    assert done.exit_code == code


@pytest.mark.parametrize("command", ["promql", "logql", "traces"])
def test_help_is_free_of_nothing_but_time(station: Workstation, command: str) -> None:
    before = station.world.now()
    done = run(station, f"{command} --help")
    assert done.exit_code == 0
    assert done.text.startswith(f"usage: {command}")
    assert done.tool == command
    assert station.world.now() - before == READ_SECONDS * 1_000_000
    assert f"{command} --help" in run(station, "help").text


def test_they_count_as_commands(station: Workstation) -> None:
    assert station.run("promql up; logql --labels; traces services", 10).commands == 3
    refused = station.run("promql up; traces services", 1)
    assert "budget of commands is used up" in refused.text


def test_an_answer_is_small(station: Workstation) -> None:
    for line in (
        "promql '{__name__=~\".+\"}'",
        "promql --range 30d '{namespace!=\"\"}'",
        "logql --since 24h --limit 1000 '{namespace!=\"\"}'",
        "traces search frontend --limit 100",
    ):
        assert len(run(station, line).text) < 64_000, line


@pytest.mark.parametrize(
    "line", ["promql '{__name__=~\".+\"}'", 'logql --since 24h \'{namespace!=""} |= "zzz"\'']
)
def test_the_workstation_lives_on(station: Workstation, line: str) -> None:
    run(station, line)
    assert station.defect is None
    assert run(station, "echo here").text == "here\n"


# --- as tools ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [
        ("promql", {"query": "up == 0"}, "promql -- 'up == 0'"),
        ("get_metrics", {"query": "-up"}, "promql -- -up"),
        ("promql", {"query": "up", "range": "30m", "step": "1m"}, "promql --range 30m --step 1m -- up"),
        ("logql", {"query": '{app="a b"}'}, "logql --since 15m --limit 100 -- '{app=\"a b\"}'"),
        ("get_logs", {"query": "{}", "since": "1h", "limit": "7"}, "logql --since 1h --limit 7 -- '{}'"),
        ("traces", {"command": "search frontend --errors"}, "traces search frontend --errors"),
        ("jaeger", {"command": "traces services"}, "traces services"),
    ],
)
def test_a_tool_call_is_a_line(name: str, arguments: dict[str, Any], line: str) -> None:
    asked = action(ToolCall(name, arguments))
    assert isinstance(asked, CommandLine)
    assert shlex.split(asked.line) == shlex.split(line)


def test_a_tool_call_that_lacks_its_query() -> None:
    refused = action(ToolCall("promql", {}))
    assert isinstance(refused, Refusal)
    assert 'argument "query" is missing' in refused.text


@pytest.mark.parametrize("format", ["openai", "openai_responses", "anthropic", "mcp", "text"])
def test_every_dialect_has_them(format: Any) -> None:
    text = json.dumps(schemas(format))
    for name in ("promql", "logql", "traces"):
        assert f'"{name}"' in text
        assert f"- {name}(" in text_help()


# --- options ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", NOW), ("now", NOW), ("5m", NOW - 300_000), ("-90s", NOW - 90_000), ("1786010000", 1_786_010_000_000),
        ("1786010000.25", 1_786_010_000_250), ("2026-08-06T10:00:00Z", 1_786_010_400_000),
    ],
)  # fmt: skip
def test_instants(text: str, expected: int) -> None:
    options = parsed([f"--time={text}"], {}, {"--time": "time"})
    assert options.instant("time", NOW) == expected


@pytest.mark.parametrize("text", ["tomorrow", "5 minutes", "1e9", "--", "x" * 1000])
def test_what_is_no_instant(text: str) -> None:
    with pytest.raises(Misuse) as caught:
        parsed([f"--time={text}"], {}, {"--time": "time"}).instant("time", NOW)
    assert len(str(caught.value)) < 250


def test_words_behind_two_dashes_are_no_options() -> None:
    options = parsed(["--page", "2", "--", "--page", "x"], {}, {"--page": "page"})
    assert options.words == ("--page", "x")
    assert options.number("page", 1, 1, 9) == 2
