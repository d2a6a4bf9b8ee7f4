"""This package's answers beside those of Prometheus 2.42, recorded by ``record_prometheus.py``."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from sregym_env.kube.gotemplate import TemplateError
from sregym_env.telemetry.promql.engine import Engine
from sregym_env.telemetry.promql.errors import ParseError
from sregym_env.telemetry.promql.parser import parse
from sregym_env.telemetry.promql.templates import expanded
from sregym_env.telemetry.series import MemorySource, is_stale
from tests.telemetry import drawn
from tests.telemetry.broken import BROKEN
from tests.telemetry.compared import answered, difference, shortened, unpacked
from tests.telemetry.expanded import EXPANSIONS
from tests.telemetry.queries import MIDDLE, questions, stale_questions

GOLDEN = Path(__file__).parent / "golden"
PARTS = 30


@lru_cache(maxsize=1)
def source() -> MemorySource:
    return drawn.source()


def recorded(name: str) -> list[Any]:
    rows: list[Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return rows


ANSWERS = recorded("answers")


def test_everything_that_is_asked_is_recorded() -> None:
    assert [row[:2] for row in ANSWERS] == [list(question) for question in questions()]
    assert [query for query, _ in recorded("broken")] == BROKEN
    assert [template for template, _ in recorded("expanded")] == EXPANSIONS
    assert len(ANSWERS) > 800


def differences(rows: list[Any], series: MemorySource) -> Iterator[str]:
    for endpoint, parameters, want in rows:
        question = (endpoint, parameters)
        got = json.loads(json.dumps(shortened(question, answered(series, question))))
        found = difference(unpacked(want), unpacked(got))
        if found:
            yield f"{endpoint} {parameters}: {found}"


@pytest.mark.parametrize("part", range(PARTS))
def test_answers_are_those_of_prometheus(part: int) -> None:
    assert list(differences(ANSWERS[part::PARTS], source())) == []


def test_answers_about_series_with_stale_markers_are_those_of_prometheus() -> None:
    rows = recorded("stale")
    assert [row[:2] for row in rows] == [list(question) for question in stale_questions()]
    assert any(is_stale(each.values).any() for each in drawn.stale_series())
    assert list(differences(rows, MemorySource(drawn.stale_series()))) == []


def said_of(query: str) -> str | None:
    try:
        parse(query)
    except ParseError as error:
        return f'invalid parameter "query": {error}'
    return None


def test_what_is_no_query_is_told_in_the_words_of_prometheus() -> None:
    rows = recorded("broken")
    told = [(query, text) for query, text in rows if text is not None]
    assert len(told) > 350
    assert [(query, said_of(query)) for query, _ in told] == told
    assert [query for query, text in rows if text is None and said_of(query)] == []


def test_queries_are_written_as_prometheus_writes_them() -> None:
    rows = [(query, text) for query, text in recorded("formatted") if text is not None]
    assert len(rows) > 500
    assert [(query, str(parse(query))) for query, _ in rows] == rows


@pytest.mark.parametrize(("template", "want"), recorded("expanded"))
def test_templates_expand_as_in_prometheus(template: str, want: str) -> None:
    engine = Engine(source())
    if want.startswith("error: "):
        with pytest.raises(TemplateError):
            expanded(template, {}, engine, MIDDLE)
    else:
        assert expanded(template, {}, engine, MIDDLE) == html.unescape(want).rstrip("\n")
