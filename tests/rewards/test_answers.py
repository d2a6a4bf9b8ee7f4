"""What counts as an answer of a model, and what counts as a quotation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.rewards.answers import NoAnswer, answers, quoted, schema, unsupported
from tests.rewards.scripted import IDS, answer

DIAGNOSIS = (
    "## Diagnosis\n\n**Component**: `deployment/profile`\n- replicas is 0,\n  so frontend can’t list hotels…\n"
    'log: {"msg": "dial tcp: \\"profile\\": no such host"}'
)

QUOTED = [
    "replicas is 0",
    "REPLICAS IS 0",
    '"replicas is 0"',
    "`replicas is 0, so frontend`",
    "replicas is 0, so   frontend can't list hotels",
    "Component: deployment/profile",
    "deployment/profile ... replicas is 0",
    "Component ... replicas is 0 [...] list hotels",
    "...replicas is 0.",
    "… replicas is 0 …",
    "frontend can't list hotels...",
    'dial tcp: "profile": no such host',
    "ｒｅｐｌｉｃａｓ is 0",
]

NOT_QUOTED = [
    "",
    " ",
    "...",
    "0",
    "is",
    "**",
    "the replica count is 0",
    "replicas: 0",
    "replicas is 0 ... deployment/profile",
    "replicas ... is ... 0 ... list",
    "the diagnosis says that replicas is 0",
    "profile has 0 replicas",
    "rep licas",
]


@pytest.mark.parametrize("evidence", QUOTED)
def test_quotations_may_differ_in_what_quoting_changes(evidence: str) -> None:
    assert quoted(evidence, DIAGNOSIS)


@pytest.mark.parametrize("evidence", NOT_QUOTED)
def test_what_is_not_written_there_is_no_quotation(evidence: str) -> None:
    assert not quoted(evidence, DIAGNOSIS)


@given(st.text(), st.data())
def test_any_passage_that_says_something_is_a_quotation(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    passage = text[start : data.draw(st.integers(start, len(text)))]
    # What is cut at a backslash or in a composed character is another text.
    if passage.isascii() and "\\" not in text and sum(map(str.isalnum, passage)) >= 3 and text.isascii():
        assert quoted(passage, text)


def test_only_a_yes_needs_a_quotation() -> None:
    given = answers(answer(["D1-Q1", "D3-Q3"], quotes={"D1-Q1": "replicas is 0", "D3-Q3": "says so"}))
    assert unsupported(given, DIAGNOSIS) == ("D3-Q3",)


def test_a_whole_answer_is_read_in_any_order_and_wrapping() -> None:
    items = json.loads(answer(["D2-Q2"], "replicas"))["items"]
    items[0]["answer"], items[0]["confidence"] = "No", "high"
    for text in (
        json.dumps({"items": items[::-1]}),
        json.dumps(items),
        f"Let me see {{...}}.\n```json\n{json.dumps({'items': items}, indent=2)}\n```",
        f'<think>{{"items": []}}</think>{json.dumps({"items": items})}',
    ):
        given = answers(text)
        assert [each.id for each in given] == list(IDS)
        assert [each.id for each in given if each.yes] == ["D2-Q2"]
        assert given[4].evidence == "replicas"


def changed(**fields: Any) -> str:
    document = json.loads(answer(evidence="replicas"))
    document["items"][3].update(fields)
    return json.dumps(document)


BAD = {
    "": "no JSON object",
    "yes to all": "no JSON object",
    '{"items": [': "JSON",
    "{}": "no list",
    '{"items": {"D1-Q1": "yes"}}': "no list",
    '{"items": []}': "D1-Q1 is missing; D1-Q2 is missing",
    '{"items": ["D1-Q1"]}': "must be an object",
    changed(id="D1-Q1"): "D2-Q1 is missing; D1-Q1 is answered 2 times",
    changed(id="D4-Q1"): "D2-Q1 is missing; 'D4-Q1' is no question",
    changed(id=7): "strings",
    changed(evidence=None): "strings",
    changed(answer=True): "strings",
    changed(answer="partially"): "neither yes nor no",
    changed(answer="yes/no"): "neither yes nor no",
    answer().replace('"id": "D1-Q1"', '"id": "D1-Q1", "answer": "no"', 1): "twice",
    "[" * 100_000: "JSON",
}


@pytest.mark.parametrize(("text", "problem"), BAD.items(), ids=lambda value: str(value)[:30])
def test_what_is_no_whole_answer_is_refused_with_the_reason(text: str, problem: str) -> None:
    with pytest.raises(NoAnswer, match="(?i)" + problem):
        answers(text)


def test_the_schema_asks_for_evidence_before_the_answer_and_for_known_questions() -> None:
    item = schema()["properties"]["items"]["items"]
    assert list(item["properties"]) == item["required"] == ["id", "evidence", "answer"]
    assert item["properties"]["id"]["enum"] == list(IDS)
    assert not item["additionalProperties"]
    assert not schema()["additionalProperties"]
