"""What each stage makes of a line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.telemetry.logql.errors import ParseError
from sregym_env.telemetry.logql.labels import make_labels
from sregym_env.telemetry.logql.parser import parse
from sregym_env.telemetry.logql.pipeline import Pipeline
from sregym_env.telemetry.logql.syntax import Selector
from tests.effort import at_most

STREAM = {"app": "web", "pod": "web-1"}
TIME = 1_700_000_000_123_456_789
"""2023-11-14T22:13:20.123456789Z"""


def run(stages: str, line: str) -> tuple[str, dict[str, str]] | None:
    """A line and its labels behind a pipeline; labels of the stream that are as they were are left out."""
    query = parse(f'{{app="web"}} {stages}')
    assert isinstance(query, Selector)
    kept = Pipeline(query.stages, now=TIME).process(TIME, line, make_labels(STREAM), STREAM)
    if kept is None:
        return None
    labels = dict(kept[1])
    return kept[0], {name: value for name, value in labels.items() if STREAM.get(name) != value}


LINES = [
    ('|= "err"', "an error", True),
    ('|= "ERR"', "an error", False),
    ('|= "x" or "err"', "an error", True),
    ('!= "x" or "err"', "an error", False),
    ('!= "x" or "y"', "an error", True),
    ('|~ "er+o"', "an error", True),
    ('|~ "^er"', "an error", False),
    ('|~ "(?i)ERROR"', "an error", True),
    ('|~ "errors?"', "an error", True),
    ('|~ "x|error"', "an error", True),
    ('!~ "er+o"', "an error", False),
    ('|> "<_> error"', "an error", True),
    ('|> "<_>error"', "error", False),
    ('|> "an<_>"', "an error", True),
    ('|> "an"', "an error", False),
    ('|> "error"', "an error", True),
    ('|> "an <_>"', "not an error", True),
    ('|> "<_>n e<_>"', "an error", True),
    ('!> "an<_>"', "an error", False),
    ('|= ip("10.0.0.1")', "from 10.0.0.1:80 to", True),
    ('|= ip("10.0.0.1")', "from 10.0.0.12", False),
    ('|= ip("10.0.0.0/24")', "from 10.0.0.12", True),
    ('|= ip("10.0.0.5-10.0.0.20")', "from 10.0.0.12", True),
    ('!= ip("10.0.0.0/8")', "from 10.0.0.12", False),
    ('|= ip("2001:db8::/32")', "from 2001:db8::7 to", True),
    ('|= "a" |= "b" != "c"', "a b", True),
    ('|= "a" |= "b" != "c"', "a b c", False),
    ('| app="web"', "", True),
    ('| app=~"we"', "", False),
    ('| app!="web" or pod="web-1"', "", True),
    ('| missing=""', "", True),
    ('| missing!=""', "", False),
    ('| logfmt | took > 5ms', "took=6ms", True),
    ('| logfmt | took > 5ms', "took=4.9ms", False),
    ('| logfmt | took > 5ms', "x=1", False),
    ('| logfmt | took = 1m', "took=60s", True),
    ('| logfmt | size >= 1kB', "size=1000", True),
    ('| logfmt | size >= 1KiB', "size=1000B", False),
    ('| logfmt | n == 5', "n=5.0", True),
    ('| logfmt | n != 5', "n=5.0", False),
    ('| logfmt | n > -1', "n=0", True),
    ('| logfmt | c = ip("10.0.0.0/8")', "c=10.1.2.3", True),
    ('| logfmt | c != ip("10.0.0.0/8")', "c=10.1.2.3", False),
    ('| json | __error__=""', "no json", False),
    ('| json | __error__="JSONParserErr"', "no json", True),
    ('| json | __error__!=""', '{"a":1}', False),
]  # fmt: skip


@pytest.mark.parametrize(("stages", "line", "stays"), LINES)
def test_filters(stages: str, line: str, stays: bool) -> None:
    assert (run(stages, line) is not None) is stays


LABELS = [
    ("| json", '{"level":"info","n":1.50,"ok":true,"no":null,"l":[1]}', {"level": "info", "n": "1.50", "ok": "true"}),
    ("| json", '{"a":{"b":{"c":"d"}},"1x":"y","k-e y":"z"}', {"a_b_c": "d", "_1x": "y", "k_e_y": "z"}),
    ("| json", '{"app":"db","pod":"web-1"}', {"app_extracted": "db", "pod_extracted": "web-1"}),
    ("| json", '{"a":"x\\ny"}', {"a": "x\ny"}),
    ("| json", '{"n":12345678901234567890123}', {"n": "12345678901234567890123"}),
    ("| json", "no json", {
        "__error__": "JSONParserErr",
        "__error_details__": "Value looks like object, but can't find closing '}' symbol",
    }),
    ("| json", '{"a":', {"__error__": "JSONParserErr", "__error_details__": "Malformed JSON error"}),
    ("| json | drop __error__", "no json", {}),
    ('| json a="b.c", d="e[1]", f="g"', '{"b":{"c":"x"},"e":[1,{"y":2}]}', {"a": "x", "d": '{"y":2}', "f": ""}),
    ('| json a="[\\"k k\\"]"', '{"k k":5}', {"a": "5"}),
    ("| json level", '{"level":"warn","x":1}', {"level": "warn"}),
    ("| logfmt", 'level=warn msg="it is \\"bad\\"" n=5 flag', {"level": "warn", "msg": 'it is "bad"', "n": "5"}),
    ("| logfmt --keep-empty", "a= flag b=1", {"a": "", "flag": "", "b": "1"}),
    ("| logfmt", 'a=1 b="open', {"a": "1"}),
    ("| logfmt", 'a=1 "x" b=2', {"a": "1", "b": "2"}),
    ("| logfmt --strict", "a=1 b=2=3 c=4", {
        "a": "1", "__error__": "LogfmtParserErr",
        "__error_details__": "logfmt syntax error at pos 8 : unexpected '='",
    }),
    ("| logfmt", "app=db", {"app_extracted": "db"}),
    ('| logfmt x="level", y', "level=warn y=1 z=2", {"x": "warn", "y": "1"}),
    ('| regexp "(?P<method>\\\\w+) (?P<path>\\\\S+)"', "GET /x", {"method": "GET", "path": "/x"}),
    ('| regexp "(?P<n>[0-9]+)"', "none", {}),
    ('| pattern "<ip> - <_> \\"<method> <path>\\" <status>"', '1.2.3.4 - bob "GET /x" 200', {
        "ip": "1.2.3.4", "method": "GET", "path": "/x", "status": "200",
    }),
    ('| pattern "a <x> b <y>"', "a 1 c", {"x": "1 c"}),
    ('| pattern "a <x>"', "b 1", {}),
    ("| unpack", '{"_entry":"the line","zone":"a","n":5}', {"zone": "a"}),
    ("| unpack", "text", {
        "__error__": "JSONParserErr", "__error_details__": "expecting json object(6), but it is not",
    }),
    ('| logfmt | label_format b=a, c="{{.a}}-{{.app}}"', "a=1", {"b": "1", "c": "-web"}),
    ('| logfmt | label_format c="{{.a | ToUpper}}"', "a=x", {"a": "x", "c": "X"}),
    ("| label_format host=pod", "", {"host": "web-1"}),
    ("| logfmt | drop a, b=~\"x.*\"", "a=1 b=xy c=3", {"c": "3"}),
    ("| logfmt | drop b=\"z\"", "b=xy", {"b": "xy"}),
    ("| logfmt | keep app, pod, c", "a=1 c=3", {"c": "3"}),
    ("| logfmt | n > 5", "n=x", {
        "n": "x", "__error__": "LabelFilterErr",
        "__error_details__": 'strconv.ParseFloat: parsing "x": invalid syntax',
    }),
    ("| logfmt | n > 5s", "n=x", {
        "n": "x", "__error__": "LabelFilterErr", "__error_details__": 'time: invalid duration "x"',
    }),
    ("| logfmt | n > 5kB", "n=5qB", {
        "n": "5qB", "__error__": "LabelFilterErr", "__error_details__": "unhandled size name: qb",
    }),
]  # fmt: skip


@pytest.mark.parametrize(("stages", "line", "labels"), LABELS)
def test_labels(stages: str, line: str, labels: dict[str, str]) -> None:
    kept = run(stages, line)
    assert kept is not None
    assert kept[1] == labels


TEMPLATES = [
    ("{{.app}} {{.missing}}|{{ .pod | upper }}", "web |WEB-1"),
    ("{{ __line__ }}", "the line"),
    ("{{ __line__ | trunc 3 }}{{ substr 4 6 __line__ }}{{ trunc -1 __line__ }}", "thelie"),
    ('{{ if eq .app "web" }}yes{{ else }}no{{ end }}', "yes"),
    ('{{ Replace .pod "-" "_" 1 }} {{ replace "web" "w" .pod }}', "web_1 w-1"),
    ('{{ trimPrefix "web-" .pod }} {{ TrimSuffix .pod "-1" }} {{ trimAll "w1" .pod }}', "1 web eb-"),
    ('{{ regexReplaceAll "(w)(e)" .app "${2}$1" }} {{ regexReplaceAllLiteral "w" .app "$1" }}', "ewb $1eb"),
    ('{{ count "e" "eel" }} {{ contains "eb" .app }} {{ hasPrefix "w" .app }} {{ hasSuffix "x" .app }}', "2 true true false"),
    ("{{ add 1 2 3 }} {{ sub 5 7 }} {{ mul 2 3 }} {{ div 7 2 }} {{ mod 7 4 }}", "6 -2 6 3 3"),
    ("{{ addf 1.5 2 }} {{ divf 1 4 }} {{ max 1 3 2 }} {{ minf 1.5 0.5 }}", "3.5 0.25 3 0.5"),
    ("{{ ceil 1.2 }} {{ floor 1.8 }} {{ round 1.256 2 }} {{ int \"12\" }} {{ float64 \"1.5\" }}", "2 1 1.26 12 1.5"),
    ('{{ duration "1m30s" }} {{ bytes "1.5kB" }}', "90 1500"),
    ('{{ default "x" .missing }}{{ default "x" .app }} {{ repeat 3 "ab" }}', "xweb ababab"),
    ('{{ alignLeft 5 .app }}|{{ alignRight 5 .app }}|{{ alignLeft 2 .app }}', "web  |  web|we"),
    ('{{ b64enc .app }} {{ b64dec "d2Vi" }} {{ urlencode "a b&c" }} {{ urldecode "a+b%26" }}', "d2Vi web a+b%26c a b&"),
    ('{{ range $k, $v := fromJson "{\\"b\\":1,\\"a\\":\\"x\\"}" }}{{$k}}={{$v}};{{ end }}', "a=x;b=1;"),
    ('{{ __timestamp__ | date "2006-01-02T15:04:05.000Z07:00" }}', "2023-11-14T22:13:20.123Z"),
    ('{{ __timestamp__ | date "Mon Jan _2 3:04PM" }} {{ unixEpochMillis __timestamp__ }}', "Tue Nov 14 10:13PM 1700000000123"),
    ('{{ toDate "2006-01-02" "2021-03-04" | unixEpoch }}', "1614816000"),
    ('{{ toDateInZone "2006-01-02 15:04" "Europe/Berlin" "2021-07-01 12:00" | unixEpoch }}', "1625133600"),
    ('{{ unixToTime "1614816000" | date "2006-01-02" }} {{ unixToTime "18690" | unixEpoch }}', "2021-03-04 1614816000"),
    ("{{ now | unixEpoch }} {{ __timestamp__ }}", "1700000000 2023-11-14 22:13:20.123456789 +0000 UTC"),
    ('{{ printf "%-5s|%03d" .app 7 }}', "web  |007"),
    ("{{- .app -}}  x", "webx"),
]  # fmt: skip


@pytest.mark.parametrize(("template", "line"), TEMPLATES)
def test_templates(template: str, line: str) -> None:
    assert run(f"| line_format `{template}`", "the line") == (line, {})


FAILURES = [
    ("{{ div 1 0 }}", "error calling div: runtime error: integer divide by zero"),
    ('{{ repeat 100000000 "x" }}', "the template's output is too long"),
    ('{{ regexReplaceAll "(" .app "" }}', "error calling regexReplaceAll: error parsing regexp: missing closing ): `(`"),
    ('{{ ToUpper 5 }}', "error calling ToUpper: wrong number or type of arguments"),
]  # fmt: skip


@pytest.mark.parametrize(("template", "details"), FAILURES)
def test_a_template_that_fails_leaves_the_line(template: str, details: str) -> None:
    kept = run(f"| line_format `{template}`", "the line")
    assert kept == ("the line", {"__error__": "TemplateFormatErr", "__error_details__": details})


STAGE_ERRORS = [
    ('|~ "("', "stage '|~ \"(\"' : error parsing regexp: missing closing ): `(`"),
    ('|= "a" != "b" or "c" |~ "("', 'stage \'|= "a" != "b" != "c" |~ "("\' : error parsing regexp'),
    ('|~ ip("10.0.0.1")', "stage '|~ ip(\"10.0.0.1\")' : ip: invalid operation"),
    ('|= ip("x")', 'stage \'|= ip("x")\' : ip: invalid pattern: "x"'),
    ('| a=ip("x")', 'stage \'| a=ip("x")\' : ip: invalid pattern: "x"'),
    ('|> "<a> x"', "stage '|> \"<a> x\"' : named captures are not allowed"),
    ('| line_format "{{ .a"', "invalid line template: template: line:1: unclosed action"),
    ('| line_format "{{ nope }}"', 'invalid line template: template: line:1: function "nope" not defined'),
    ('| label_format a="{{ end }}"', "invalid template for label 'a': template: label:1: unexpected {{end}}"),
    ("| label_format a=b,a=c", "multiple label name 'a' not allowed in a single format operation"),
    ("| label_format __error__=b", "__error__ cannot be formatted"),
    ('| json a="[x"', "cannot parse expression [[x]: "),
    ("| line_format `{{" + "(" * 2000 + "}}`", "invalid line template: "),
]


@pytest.mark.parametrize(("stages", "problem"), STAGE_ERRORS)
def test_stages_that_make_no_sense(stages: str, problem: str) -> None:
    with pytest.raises(ParseError) as caught:
        run(stages, "")
    assert problem in str(caught.value)


def test_unpack_puts_the_entry_in_the_place_of_the_line() -> None:
    assert run("| unpack", '{"_entry":"the line","zone":"a"}') == ("the line", {"zone": "a"})


def test_decolorize() -> None:
    assert run("| decolorize", "\x1b[31mred\x1b[0m \x1b[1;32mgreen\x1b[m") == ("red green", {})


@pytest.mark.parametrize(
    ("names", "kept"),
    [("a", ["a=1 b=1", "a=2 b=1"]), ("b", ["a=1 b=1", "a=1 b=2", "b=3"]), ("a, b", ["a=1 b=1"])],
)
def test_distinct_keeps_the_first_of_each(names: str, kept: list[str]) -> None:
    query = parse(f'{{app="web"}} | logfmt | distinct {names}')
    assert isinstance(query, Selector)
    pipeline = Pipeline(query.stages, now=0)
    lines = ["a=1 b=1", "a=1 b=2", "a=2 b=1", "b=3"]
    assert [line for line in lines if pipeline.process(0, line, make_labels(STREAM), STREAM)] == kept


HOSTILE = [
    '|~ "(a+)+$"',
    '|~ "(a|aa)*b"',
    '| regexp "(?P<x>(a*)*b)"',
    '| label_format x=`{{ regexReplaceAll "(a+)+$" __line__ "" }}`',
    '| pattern "<a>b<c>b<d>b<e>"',
    f'| line_format `{{{{ toDate "{"1" * 60}" "{"1" * 90}x" }}}}`',
    '| label_format x=`{{ regexReplaceAll "(.*)" __line__ "' + "$1" * 500 + '" }}`',
    "| json",
    "| logfmt",
    '| json x="a"',
    "| unpack",
]  # fmt: skip


@pytest.mark.parametrize("stages", HOSTILE)
def test_hostile_patterns_and_lines_cost_little(stages: str) -> None:
    lines = [
        "a" * 5000 + "!",
        '{"a":' * 900 + "1" + "}" * 900,
        '{"a":' + "[" * 900 + "]" * 900 + "}",
        '{"a":' * 5000,
        "[" * 5000,
        "{" + ",".join(f'"k{i}":1' for i in range(3000)) + "}",
    ]
    with at_most(0.5, stages):
        for line in lines:
            run(stages, line)


def test_a_line_gives_no_more_labels_than_it_may() -> None:
    kept = run("| json", "{" + ",".join(f'"k{i}":1' for i in range(3000)) + "}")
    assert kept is not None
    assert len(kept[1]) <= 1000


VALUES = st.one_of(
    st.text(alphabet="abc xyz0\"\\=\n", max_size=8), st.booleans(), st.integers(-(10**30), 10**30), st.none()
)  # fmt: skip


@given(st.dictionaries(st.text(alphabet="abc_", min_size=1, max_size=5), VALUES, max_size=5))
def test_json_finds_what_was_written(values: dict[str, str | bool | int | None]) -> None:
    kept = run("| json", json.dumps(values))
    assert kept is not None
    expected = {
        name if name not in STREAM else f"{name}_extracted": ("true" if value else "false")
        if isinstance(value, bool)
        else str(value)
        for name, value in values.items()
        if value is not None
    }
    assert kept[1] == expected


@given(st.text(max_size=80))
def test_no_line_is_too_strange(line: str) -> None:
    stages = (
        '| json | logfmt | regexp "(?P<w>\\\\w+)" | pattern "<p> <q>" | unpack | n > 5 | t > 5s | b > 5kB '
        "| line_format `{{.w}} {{__line__}}` | decolorize | label_format z=w | drop p | keep q, w, z"
    )
    for stage in stages.split(" | "):
        run(stage if stage.startswith("|") else f"| {stage}", line)
    run(stages, line)
