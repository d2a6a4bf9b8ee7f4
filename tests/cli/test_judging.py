"""``sregym judge-eval``: what it prints and how it exits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from typer.testing import CliRunner

from sregym_env.cli.judging import evaluate, thinned
from sregym_env.cli.main import app
from sregym_env.cluster.app import App
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.labelled.collection import development, fingerprint, held_out
from sregym_env.rewards.labelled.diagnosis import CATEGORIES, REGISTERS
from tests.llm.server import ScriptedServer
from tests.rewards.scripted import answer


class Never:
    """A judge who lets nobody pass."""

    name = "never"
    settings: dict[str, str] = {}

    def grade(self, diagnosis: str, specs: Sequence[FaultSpec], app: App) -> Grade:
        return Grade((), 0.0, False)


def judge_eval(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["judge-eval", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def answered(*words: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = judge_eval(*words, "--json")
    return code, json.loads(out)


def test_the_default_is_the_deterministic_judge_on_the_part_that_may_be_looked_at() -> None:
    code, figures = answered("--sample", "60")
    assert figures["part"] == "dev"
    assert figures["judge"]["name"].startswith("spec")
    assert figures["diagnoses"] == 60
    assert figures["not_judged"] == 0
    assert figures["set"] == fingerprint(thinned(development(), 60))
    assert code == (0 if figures["good_enough"] else 1)


def test_the_report_is_on_what_was_held_out() -> None:
    _, figures = answered("--part", "held-out", "--sample", "40")
    assert figures["part"] == "held-out"
    assert figures["set"] == fingerprint(thinned(held_out(), 40))


def test_tables_have_a_line_for_every_label_category_and_register(capsys: pytest.CaptureFixture[str]) -> None:
    assert not evaluate(Never(), "dev")
    out = capsys.readouterr().out
    for kind in (*CATEGORIES, *(name for names in CATEGORIES.values() for name in names), *REGISTERS):
        assert kind in out
    assert "kappa      0.000" in out
    assert f"dev, {len(development())} diagnoses, set {fingerprint(development())}" in out


def test_misses_are_shown_with_their_text() -> None:
    with ScriptedServer(lambda heard: answer([])) as server:
        words = ("--model", "m", "--base-url", server.base_url(), "--sample", "30", "--option", "votes=3")
        code, figures = answered(*words, "--misses", "2")
        _, out, _ = judge_eval(*words, "--misses", "1")
    assert code == 1
    assert figures["kappa"] == 0.0
    assert figures["judge"]["votes"] == 3
    assert figures["usage"]["requests"] > 30
    assert [each["label"] for each in figures["misses"]] == ["right", "right"]
    known = {each.id: each for each in development()}
    first = figures["misses"][0]
    assert first["text"] == known[first["id"]].text
    assert f"{first['id']}: right" in out
    assert "D1-Q1 no" in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--part", "all"), "--part must be dev or held-out"),
        (("--option", "votes"), "--option wants KEY=VALUE"),
        (("--base-url", "http://127.0.0.1:1/v1"), "model"),
        (("--model", "m", "--base-url", "nowhere"), "base_url"),
    ],
)
def test_what_makes_no_sense_is_told(words: tuple[str, ...], complaint: str) -> None:
    code, _, err = judge_eval(*words)
    assert code == 2
    assert complaint in err


def test_a_sample_is_spread() -> None:
    assert [each.id for each in thinned(development(), 3)] == [
        development()[n * len(development()) // 3].id for n in range(3)
    ]
    assert thinned(development(), 0) == development()
    assert thinned(development(), 10**6) == development()
