"""What parses and what Loki says of what does not.

The texts of errors of syntax were taken from a parser that goyacc made of Loki's published grammar.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.telemetry.logql.errors import ParseError
from sregym_env.telemetry.logql.parser import MAX_DEPTH, MAX_OPERATORS, MAX_QUERY, parse, parse_unchecked
from sregym_env.telemetry.logql.queries import query_instant
from sregym_env.telemetry.logql.source import StoredLogs

SYNTAX_ERRORS = [
    ("{app='foo'}", "line 1, col 6: invalid char literal"),
    ("{", "line 1, col 2: unexpected $end, expecting IDENTIFIER or }"),
    ("{a", "line 1, col 3: unexpected $end, expecting = or =~ or !~ or !="),
    ("{a=", "line 1, col 4: unexpected $end, expecting STRING"),
    ('{a="b",', "line 1, col 8: unexpected $end, expecting IDENTIFIER"),
    ('{a="b",}', "line 1, col 8: unexpected }, expecting IDENTIFIER"),
    ('{a="b" c', "line 1, col 8: unexpected IDENTIFIER, expecting } or ,"),
    ("rate(", "line 1, col 6: unexpected $end, expecting NUMBER or { or ("),
    ("rate(5", "line 1, col 7: unexpected $end, expecting ,"),
    ('rate({a="b"}', "line 1, col 13: unexpected $end"),
    ('rate({a="b"} |= "x"', "line 1, col 20: unexpected $end"),
    ('rate({a="b"} | json', "line 1, col 20: unexpected $end"),
    ('rate({a="b"} | unwrap x', "line 1, col 24: unexpected $end, expecting RANGE or |"),
    ('rate({a="b"}[5m]', "line 1, col 17: unexpected $end, expecting )"),
    ('rate({a="b"}[5m] offset', "line 1, col 24: unexpected $end, expecting DURATION"),
    ('rate({a="b"}[5m] offset 5m', "line 1, col 27: unexpected $end, expecting )"),
    (
        'rate({a="b"}[5m] | unwrap',
        "line 1, col 26: unexpected $end, expecting IDENTIFIER or BYTES_CONV or DURATION_CONV or DURATION_SECONDS_CONV",
    ),
    ('rate({a="b"}[5m]) +', "line 1, col 20: unexpected $end"),
    ("sum", "line 1, col 1: unexpected IDENTIFIER"),
    ("sum by", "line 1, col 1: unexpected IDENTIFIER"),
    ("sum by (", "line 1, col 9: unexpected $end, expecting IDENTIFIER or )"),
    ("sum by (a", "line 1, col 10: unexpected $end, expecting , or )"),
    ("sum by (a,", "line 1, col 11: unexpected $end, expecting IDENTIFIER"),
    ("sum by (a)", "line 1, col 11: unexpected $end, expecting ("),
    ("sum by (a) (", "line 1, col 13: unexpected $end"),
    ('sum(rate({a="b"}[5m])', "line 1, col 22: unexpected $end"),
    ('sum({a="b"})', "line 1, col 12: unexpected )"),
    ("sum(5", "line 1, col 6: unexpected $end"),
    ("topk(5,", "line 1, col 8: unexpected $end"),
    ("topk(5, {", "line 1, col 10: unexpected $end, expecting IDENTIFIER or }"),
    ("vector(", "line 1, col 8: unexpected $end, expecting NUMBER"),
    ("vector(1", "line 1, col 9: unexpected $end, expecting )"),
    ("label_replace(vector(1)", "line 1, col 24: unexpected $end"),
    ("label_replace(vector(1),", "line 1, col 25: unexpected $end, expecting STRING"),
    ('label_replace(vector(1),"a"', "line 1, col 28: unexpected $end, expecting ,"),
    ('{a="b"} |', "line 1, col 10: unexpected $end"),
    ('{a="b"} | json a=', "line 1, col 18: unexpected $end, expecting STRING"),
    ('{a="b"} | json a="x",', "line 1, col 22: unexpected $end, expecting IDENTIFIER"),
    ('{a="b"} | logfmt --strict a =', "line 1, col 30: unexpected $end, expecting STRING"),
    ('{a="b"} | a', "line 1, col 12: unexpected $end"),
    ('{a="b"} | a=', "line 1, col 13: unexpected $end"),
    ('{a="b"} | a=+', "line 1, col 14: unexpected $end, expecting NUMBER"),
    ('{a="b"} | a!=', "line 1, col 14: unexpected $end"),
    ('{a="b"} | a=~', "line 1, col 14: unexpected $end, expecting STRING"),
    ('{a="b"} | a>', "line 1, col 13: unexpected $end"),
    ('{a="b"} | a==', "line 1, col 14: unexpected $end"),
    ('{a="b"} | a="x" and', "line 1, col 20: unexpected $end, expecting IDENTIFIER or ("),
    ('{a="b"} | a="x",', "line 1, col 17: unexpected $end, expecting IDENTIFIER or ("),
    ('{a="b"} | (a="x"', "line 1, col 17: unexpected $end"),
    ('{a="b"} | (', "line 1, col 12: unexpected $end, expecting IDENTIFIER or ("),
    ('{a="b"} | drop', "line 1, col 15: unexpected $end, expecting IDENTIFIER"),
    ('{a="b"} | drop a,', "line 1, col 18: unexpected $end, expecting IDENTIFIER"),
    ('{a="b"} | drop a=', "line 1, col 18: unexpected $end, expecting STRING"),
    ('{a="b"} | line_format', "line 1, col 22: unexpected $end, expecting STRING"),
    ('{a="b"} | label_format', "line 1, col 23: unexpected $end, expecting IDENTIFIER"),
    ('{a="b"} | label_format a', "line 1, col 25: unexpected $end, expecting ="),
    ('{a="b"} | label_format a=', "line 1, col 26: unexpected $end, expecting IDENTIFIER or STRING"),
    ('{a="b"} | label_format a=b,', "line 1, col 28: unexpected $end, expecting IDENTIFIER"),
    ('{a="b"} | label_format a=b,)', "line 1, col 28: unexpected ), expecting IDENTIFIER"),
    ('{a="b"} | regexp', "line 1, col 17: unexpected $end, expecting STRING"),
    ('{a="b"} |= ip', "line 1, col 12: unexpected IDENTIFIER, expecting STRING or ip"),
    ('{a="b"} |= ip(', "line 1, col 15: unexpected $end, expecting STRING"),
    ('{a="b"} |= ip("x"', "line 1, col 18: unexpected $end, expecting )"),
    ('{a="b"} |= "x" or', "line 1, col 18: unexpected $end, expecting STRING or ip"),
    ('{a="b"} |= "x" or ip', "line 1, col 19: unexpected IDENTIFIER, expecting STRING or ip"),
    ('{a="b"} |= "x" or ip(', "line 1, col 22: unexpected $end, expecting STRING"),
    ("1 + on", "line 1, col 7: unexpected $end, expecting ("),
    ("1 + on(", "line 1, col 8: unexpected $end, expecting IDENTIFIER or )"),
    ("1 + on(a", "line 1, col 9: unexpected $end, expecting , or )"),
    ("1 + on(a) group_left (", "line 1, col 23: unexpected $end, expecting IDENTIFIER or )"),
    ("1 + on(a) group_left (a", "line 1, col 24: unexpected $end, expecting , or )"),
    ("1 + bool", "line 1, col 9: unexpected $end"),
    ("(", "line 1, col 2: unexpected $end"),
    ('({a="b"}', "line 1, col 9: unexpected $end"),
    ("(1", "line 1, col 3: unexpected $end"),
    ("1 2", "line 1, col 3: unexpected NUMBER"),
    ('{a="b"} 2', "line 1, col 9: unexpected NUMBER"),
    ("", "parse error : unexpected $end"),
    ('rate({a="b"} | unwrap bytes', "line 1, col 28: unexpected $end, expecting RANGE or |"),
    ('rate({a="b"} | unwrap bytes(', "line 1, col 29: unexpected $end, expecting IDENTIFIER"),
    ('rate({a="b"} | unwrap bytes(x', "line 1, col 30: unexpected $end, expecting )"),
    ("rate(((", "line 1, col 8: unexpected $end, expecting { or ("),
    ('rate(({a="b"})', "line 1, col 15: unexpected $end, expecting RANGE"),
    ('rate(({a="b"}[5m]', "line 1, col 18: unexpected $end, expecting )"),
    ('rate(({a="b"} |= "x"', "line 1, col 21: unexpected $end"),
    ('rate(({a="b"} | unwrap x', "line 1, col 25: unexpected $end, expecting RANGE or ) or |"),
    ('rate(({a="b"} | unwrap x)', "line 1, col 26: unexpected $end, expecting RANGE"),
    ('rate(({a="b"})[5m]', "line 1, col 19: unexpected $end, expecting )"),
    ('rate({a="b"}[5m] "foo"', "line 1, col 18: unexpected STRING, expecting )"),
    ('rate({a="b"} "foo"', "line 1, col 14: unexpected STRING"),
    ('rate({a="b"} |= "x"[5m]', "line 1, col 24: unexpected $end, expecting )"),
    ('rate({a="b"} |= "x"[5m] |= "y"', "line 0, col 25: unexpected |=, expecting )"),
    ('rate({a="b"}[5m] |= "x"', "line 1, col 24: unexpected $end, expecting )"),
    ('rate({a="b"}[5m] | unwrap x', "line 1, col 28: unexpected $end, expecting )"),
    ('rate({a="b"}[5m] | unwrap x offset 5m)', "line 1, col 29: unexpected offset, expecting )"),
    ('rate({a="b"} | unwrap x [5m]', "line 1, col 29: unexpected $end, expecting )"),
    ('rate({a="b"} | unwrap x |', "line 1, col 26: unexpected $end, expecting IDENTIFIER or ("),
    ('rate({a="b"} | unwrap x | a=', "line 1, col 29: unexpected $end"),
    ('rate({a="b"}[5m]) by', "line 1, col 21: unexpected $end, expecting ("),
    ('sum(rate({a="b"}[5m])) by', "line 1, col 26: unexpected $end, expecting ("),
    ("sum(1) 5", "line 1, col 8: unexpected NUMBER"),
    ("sum by (a) (1", "line 1, col 14: unexpected $end"),
    ("sum by (a) (1,", "line 1, col 15: unexpected $end"),
    ("sum(1,", "line 1, col 7: unexpected $end"),
    ("sum(1,5", "line 1, col 8: unexpected $end"),
    ("sum(+", "line 1, col 6: unexpected $end, expecting NUMBER"),
    ("sum(vector(1)", "line 1, col 14: unexpected $end"),
    ("quantile_over_time(0.9", "line 1, col 23: unexpected $end, expecting ,"),
    ("quantile_over_time(0.9,", "line 1, col 24: unexpected $end, expecting { or ("),
    ("1 +", "line 1, col 4: unexpected $end"),
    ("-", "line 1, col 2: unexpected $end, expecting NUMBER"),
    ('{a="b"} | pattern', "line 1, col 18: unexpected $end, expecting STRING"),
    ('{a="b"} | json | unwrap x', "line 1, col 18: unexpected unwrap"),
    ('{a="b"} | unwrap x', "line 1, col 11: unexpected unwrap"),
    ('{a="b"} | json by', "line 1, col 16: unexpected by"),
    ('{a="b"} | json | by="x"', "line 1, col 18: unexpected by"),
    ('{a="b"} json', "line 1, col 9: unexpected json"),
    ('{a="b"} !', "line 1, col 9: unexpected IDENTIFIER"),
    ('{a="b"} | a="x" b', "line 1, col 18: unexpected $end"),
    ('{a="b"} | a="x" b=', "line 1, col 19: unexpected $end"),
    ('{a="b"} | drop a b', "line 1, col 18: unexpected IDENTIFIER"),
    ('{a="b"} | drop a="x" b', "line 1, col 22: unexpected IDENTIFIER"),
    ('{a="b"} | json a b', "line 1, col 18: unexpected IDENTIFIER"),
    ('{a="b"} | label_format a=b c', "line 1, col 28: unexpected IDENTIFIER"),
    ('{a="b"} | a > ip("x")', "line 1, col 15: unexpected ip"),
    ('{a="b"} | a = ip("x"', "line 1, col 21: unexpected $end, expecting )"),
    ('{a="b"} | a = ip(', "line 1, col 18: unexpected $end, expecting STRING"),
    ('{a="b"} | a = ip', "line 1, col 15: unexpected IDENTIFIER"),
    ("sum by (a) by", "line 1, col 12: unexpected by, expecting ("),
    ('{a="b"}}', "line 1, col 8: unexpected }"),
    ('{"b"}', "line 1, col 2: unexpected STRING, expecting IDENTIFIER or }"),
    ('{a "b"}', "line 1, col 4: unexpected STRING, expecting = or =~ or !~ or !="),
    ('{a:="b"}', "line 1, col 3: unexpected IDENTIFIER, expecting = or =~ or !~ or !="),
    ("{a=b}", "line 1, col 4: unexpected IDENTIFIER, expecting STRING"),
    ("1 == bool 2 )", "line 1, col 13: unexpected )"),
    ("1 == ignoring (a) group_right 2 )", "line 1, col 33: unexpected )"),
    ("1 == ignoring", "line 1, col 14: unexpected $end, expecting ("),
    ("vector", "line 1, col 1: unexpected IDENTIFIER"),
    ("vector 5", "line 1, col 1: unexpected IDENTIFIER"),
    ("rate 5", "line 1, col 1: unexpected IDENTIFIER"),
    ("label_replace(", "line 1, col 15: unexpected $end"),
    ("label_replace({", "line 1, col 16: unexpected $end, expecting IDENTIFIER or }"),
    ('label_replace(vector(1),"a",', "line 1, col 29: unexpected $end, expecting STRING"),
    ('label_replace(vector(1),"a","b","c","d"', "line 1, col 40: unexpected $end, expecting )"),
    ('sum(rate({a="b"}[5m]) |', "line 1, col 23: unexpected |"),
    ('rate({a="b"}[5m])[5m]', "line 0, col 18: unexpected RANGE"),
    ('1 + {a="b"} |= "x" )', "line 1, col 20: unexpected )"),
    ("1e", "line 1, col 1: exponent has no digits"),
    ('{a="b"} | json "x"', "line 1, col 16: unexpected STRING"),
    ('{a="b"} | a=5 or', "line 1, col 17: unexpected $end, expecting IDENTIFIER or ("),
    ('{a="b"} |= `x` !~', "line 1, col 18: unexpected $end, expecting STRING or ip"),
    ("  ", "line 1, col 3: unexpected $end"),
    ('{a="b"}\n| json\n| level=', "line 3, col 9: unexpected $end"),
    ('{a="b"} # note\n|', "line 2, col 2: unexpected $end"),
    ('{a="b"} /* note */ | a', "line 1, col 23: unexpected $end"),
    ('{a="\\d"}', "line 1, col 4: invalid char escape"),
    ('{a="b', "line 1, col 4: literal not terminated"),
    ('rate({a="b"}[5x])', 'line 0, col 13: not a valid duration string: "5x"'),
    ('rate({a="b"}[5m)', "line 0, col 13: missing closing ']' in duration"),
    ("sum by (a b) (1)", "line 1, col 11: unexpected IDENTIFIER, expecting , or )"),
    ('{a="b"} | keep', "line 1, col 15: unexpected $end, expecting IDENTIFIER"),
    ('{a="b"} | decolorize x', "line 1, col 22: unexpected IDENTIFIER"),
    ('rate({a="b"}[5m]) offset 5m', "line 1, col 19: unexpected offset"),
    ('{a="b"} | label_format a.b="x"', "line 1, col 25: unexpected ., expecting ="),
    ('{a.b="c"}', "line 1, col 3: unexpected ., expecting = or =~ or !~ or !="),
    ('{"a"="b"}', "line 1, col 2: unexpected STRING, expecting IDENTIFIER or }"),
]


@pytest.mark.parametrize(("query", "problem"), SYNTAX_ERRORS)
def test_syntax_errors(query: str, problem: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_unchecked(query)
    said = str(caught.value).removeprefix("parse error at ").replace("syntax error: ", "")
    assert said == problem


OTHER_ERRORS = [
    (
        "{}",
        "queries require at least one regexp or equality matcher that does not have an empty-compatible value",
    ),
    ('{app=~".*"}', 'For instance, app=~".*" does not meet this requirement, but app=~".+" will'),
    ('{app!="x"}', "queries require at least one regexp or equality matcher"),
    ('rate({app=""}[5m])', "queries require at least one regexp or equality matcher"),
    ('{app=~"("}', "parse error : error parsing regexp: missing closing ): `(`"),
    ('{a="b"} | regexp "(?P<x>"', "invalid regexp parser: error parsing regexp: missing closing ): `(?P<x>`"),
    ('{a="b"} | regexp "(x)"', "invalid regexp parser: at least one named capture must be supplied"),
    ('{a="b"} | pattern "x"', "invalid pattern parser: at least one capture is required"),
    ('{a="b"} | pattern "<a><b>"', "invalid pattern parser: found consecutive capture: invalid expression"),
    ('{a="b"} | pattern "<a> <a>"', "invalid pattern parser: duplicate capture name (a): invalid expression"),
    ('avg_over_time({a="b"}[5m])', "invalid aggregation avg_over_time without unwrap"),
    ('count_over_time({a="b"} | unwrap x [5m])', "invalid aggregation count_over_time with unwrap"),
    ('sum_over_time({a="b"} | unwrap x [5m]) by (a)', "grouping not allowed for sum_over_time aggregation"),
    ('quantile_over_time({a="b"} | unwrap x [5m])', "parameter required for operation quantile_over_time"),
    ('rate(5, {a="b"}[5m])', "parameter 5 not supported for operation rate"),
    ('topk(rate({a="b"}[5m]))', "parameter required for operation topk"),
    ('topk(0, rate({a="b"}[5m]))', "invalid parameter (must be greater than 0) topk(0"),
    ('topk(1.5, rate({a="b"}[5m]))', "invalid parameter topk(1.5,"),
    ('sum(5, rate({a="b"}[5m]))', "unsupported parameter for operation sum(5,"),
    ('sort by (a) (rate({a="b"}[5m]))', "sort and sort_desc doesn't allow grouping by "),
    ('{a="b"} + 1', "unexpected type for left leg of binary operation (+): *syntax.MatchersExpr"),
    ('1 + {a="b"} |= "x"', "unexpected type for right leg of binary operation (+): *syntax.PipelineExpr"),
    (
        'rate({a="b"}[5m]) and 1',
        "unexpected literal for right leg of logical/set binary operation (and): 1.000000",
    ),
    (
        'label_replace(rate({a="b"}[5m]), "x", "$1", "y", "(")',
        "invalid regex in label_replace: error parsing regexp: missing closing ): `(`",
    ),
    ("1" * MAX_QUERY, f"input size too long ({MAX_QUERY} > {MAX_QUERY})"),
    ("(" * (MAX_DEPTH + 1), "nested too deeply"),
    ("2 ^ " * 1000 + "2", "expression has too many operators"),
    ("+".join(["vector(1)"] * 500), "expression has too many operators"),
    ('{a="b"} | ' + "a=1," * 1000 + "a=1", "expression has too many operators"),
    ('{a="b"} | ' + " and ".join(["a=1"] * 500), "expression has too many operators"),
]


@pytest.mark.parametrize(("query", "problem"), OTHER_ERRORS)
def test_what_parses_and_makes_no_sense(query: str, problem: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(query)
    assert problem in str(caught.value)


GOOD = [
    ('{app="web",pod=~"web-.*"}', '{app="web", pod=~"web-.*"}'),
    ('{app="web"} |= "a" or "b" != ip("10.0.0.0/8") |> "<_> x"', None),
    ('{app="web"} | json | level="error" and took>5ms or size<=1.5MB', None),
    ('{app="web"} | a="1" or b="2", c="3"', '{app="web"} | ( a="1" or ( b="2" , c="3" ) )'),
    ('{app="web"} | a="1", b="2" or c="3"', '{app="web"} | ( a="1" , ( b="2" or c="3" ) )'),
    ('{app="web"} | a="1" and b="2" or c="3"', '{app="web"} | ( ( a="1" , b="2" ) or c="3" )'),
    ('{app="web"} | JSON | Level="x"', '{app="web"} | json | Level="x"'),
    ('{app="web"} | json a, b="c.d[0]"', '{app="web"} | json a="a",b="c.d[0]"'),
    ('{app="web"} | logfmt --keep-empty --strict a', '{app="web"} | logfmt --strict --keep-empty a="a"'),
    ('{app="web"} | rate="a" | sum="b" | bytes > 5', '{app="web"} | rate="a" | sum="b" | bytes>5'),
    ('rate({app="web"}[5m] offset 1h | json | unwrap bytes(x) | x > 0)', None),
    ('count_over_time(({app="web"} |= "x")[90s])', 'count_over_time({app="web"} |= "x"[1m30s])'),
    ('sum(rate({app="web"}[1m])) by (pod)', 'sum by (pod) (rate({app="web"}[1m]))'),
    ("1 + 2 * 3 ^ 2 ^ 0.5", None),
    ("2 > bool 1", "1"),
    ("-1 - -2", "1"),
    ('sum(5 * rate({app="web"}[1m]))', 'sum((5 * rate({app="web"}[1m])))'),
    (
        'rate({a="b"}[1m]) / on (pod) group_left (node) rate({c="d"}[1m]) > bool 0.5',
        '((rate({a="b"}[1m]) / on (pod) group_left (node) rate({c="d"}[1m])) > bool 0.5)',
    ),
    ('absent_over_time({app="web"}[1w])', None),
    ("vector(1) or vector(2)", "(vector(1.000000) or vector(2.000000))"),
]


@pytest.mark.parametrize(("query", "written"), GOOD)
def test_queries_are_written_back(query: str, written: str | None) -> None:
    expr = parse(query)
    if written is not None:
        assert str(expr) == written
    assert parse(str(expr)) == expr


def test_the_deepest_query_that_is_allowed_can_be_evaluated() -> None:
    """With a stack that is used already, as a caller's may be."""
    query = "sum(" * (MAX_DEPTH - 1) + "^".join(["vector(1)"] * MAX_OPERATORS) + ")" * (MAX_DEPTH - 1)

    def below(frames: int) -> None:
        if frames:
            return below(frames - 1)
        assert str(parse(query)).startswith("sum(sum(")
        assert query_instant(StoredLogs([]), query, 0, now=0).vector == [((), 1.0)]
        return None

    below(250)


WORDS = (
    '{ } ( ) a b "x" `y` = != =~ !~ |= |~ |> !> | , json logfmt --strict regexp pattern line_format label_format drop '
    "keep decolorize distinct unwrap bytes( by without on ignoring group_left bool and or unless + - * / ^ == > rate( "
    "count_over_time( sum( topk( vector( label_replace( ip( 5 1.5 5m 10kB [5m] offset . # ' /*"
).split()
STARTS = [
    "",
    '{a="b"}',
    '{a="b"} |',
    'rate({a="b"}',
    'sum by (a) (rate({a="b"}[5m]))',
    '{a="b"} | json | a > 5',
]


@given(start=st.sampled_from(STARTS), words=st.lists(st.sampled_from(WORDS), max_size=8))
def test_any_words_parse_or_are_refused(start: str, words: list[str]) -> None:
    try:
        expr = parse_unchecked(" ".join([start, *words]))
    except ParseError:
        return
    assert parse_unchecked(str(expr)) == expr


@given(st.text(max_size=60))
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        parse(text)
    except ParseError as error:
        assert str(error).startswith("parse error")
