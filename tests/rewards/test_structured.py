"""Structured diagnoses: every fault's own answer is right, and each of its fields is compared."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.judge import SpecJudge
from sregym_env.tools.call import Refusal, Submission, ToolCall
from sregym_env.tools.causes import Cause, causes_of, handed_in
from sregym_env.tools.submit import from_argv, from_line
from sregym_env.tools.taxonomy import TAXONOMY, told
from sregym_env.tools.tool import action
from tests.redteam.specs import app_of, one_of_each

from .hotel_specs import APP, CONFIG_KEY, DISK, MISSING_SERVICE, REVOKED, TARGET_PORT, ZERO


def graded(text: str, *specs: FaultSpec) -> Grade:
    return SpecJudge().grade(text, specs, APP)


def answered(spec: FaultSpec, **other: Any) -> Grade:
    """The grade of a fault's own answer with some fields replaced."""
    return graded(handed_in([replace(spec.answer, **other)]), spec)


def no(grade: Grade) -> set[str]:
    return {answer.id for answer in grade.answers if not answer.yes}


@pytest.mark.sampled
@pytest.mark.parametrize("spec", one_of_each(), ids=lambda spec: f"{spec.namespace}-{spec.fault}")
def test_every_faults_own_answer_gets_full_marks(spec: FaultSpec) -> None:
    grade = SpecJudge().grade(handed_in([spec.answer]), [spec], app_of(spec))
    assert (grade.passed, no(grade)) == (True, set())
    assert grade.score == pytest.approx(1.0)


@pytest.mark.sampled
@pytest.mark.parametrize("spec", one_of_each(), ids=lambda spec: f"{spec.namespace}-{spec.fault}")
def test_any_other_mechanism_pays_no_more_than_the_place(spec: FaultSpec) -> None:
    for key in TAXONOMY:
        if key != spec.mechanism:
            cause = replace(spec.answer, mechanism=key)
            grade = SpecJudge().grade(handed_in([cause]), [spec], app_of(spec))
            assert not grade.passed and grade.score <= 0.11, key


RIGHT: dict[str, tuple[FaultSpec, dict[str, Any], set[str]]] = {
    "as it is": (TARGET_PORT, {}, set()),
    "path": (TARGET_PORT, {"field": "spec.ports[0].targetPort"}, set()),
    "case": (TARGET_PORT, {"kind": "service", "field": "TargetPort"}, set()),
    "plural": (TARGET_PORT, {"kind": "services"}, set()),
    "no object": (TARGET_PORT, {"kind": "", "name": ""}, {"D3-Q3"}),
    "no value": (TARGET_PORT, {"value": ""}, {"D2-Q2"}),
    "no field": (TARGET_PORT, {"field": ""}, {"D2-Q2"}),
    "wrong field": (TARGET_PORT, {"field": "nodePort"}, {"D2-Q2"}),
    "only what is asked": (TARGET_PORT, {"kind": "", "name": "", "field": "", "value": ""}, {"D2-Q2", "D3-Q3"}),
    "pod of a workload": (ZERO, {"kind": "pod"}, set()),
    "user": (REVOKED, {"kind": "User", "name": "admin"}, set()),
    "absent in words": (REVOKED, {"value": "missing"}, set()),
    "what was lost": (REVOKED, {"value": "readWrite"}, set()),
    "node for its databases": (DISK, {"components": ("kind-worker2",)}, set()),
    "key": (CONFIG_KEY, {"field": "config.json", "value": "GeoMongoAddress"}, set()),
    "deleted": (MISSING_SERVICE, {"value": "deleted", "field": ""}, set()),
}  # fmt: skip

WRONG: dict[str, tuple[FaultSpec, dict[str, Any], set[str]]] = {
    "other component": (TARGET_PORT, {"components": ("geo",)}, {"D1-Q1"}),
    "one more": (TARGET_PORT, {"components": ("recommendation", "geo")}, {"D1-Q3", "D3-Q1"}),
    "other object": (TARGET_PORT, {"name": "geo"}, {"D1-Q2"}),
    "other kind": (TARGET_PORT, {"kind": "ConfigMap"}, {"D1-Q2"}),
    "other value": (TARGET_PORT, {"value": "8080"}, {"D2-Q1"}),
    "mechanism of kin": (REVOKED, {"mechanism": "database_account_missing"}, {"D2-Q1", "D2-Q3"}),
    "one of two": (DISK, {"components": ("mongodb-geo",)}, {"D3-Q2"}),
}


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_right_passes_and_what_is_left_out_earns_nothing(case: str) -> None:
    spec, other, missing = RIGHT[case]
    grade = answered(spec, **other)
    assert (grade.passed, no(grade)) == (True, missing)


@pytest.mark.parametrize("case", WRONG)
def test_what_is_said_must_be_right(case: str) -> None:
    spec, other, missing = WRONG[case]
    grade = answered(spec, **other)
    assert not grade.passed and missing <= no(grade)
    assert grade.score <= 0.11


def test_several_faults_need_an_answer_each_and_pay_by_share() -> None:
    specs = (TARGET_PORT, ZERO, REVOKED)
    answers = [spec.answer for spec in specs]
    assert graded(handed_in(answers[::-1]), *specs).score == pytest.approx(1.0)
    for count in (1, 2):
        grade = graded(handed_in(answers[:count]), *specs)
        assert not grade.passed
        assert grade.score == pytest.approx(0.11 * count / 3, abs=1e-3)
    mixed = [
        replace(answers[0], mechanism="scaled_to_zero"),
        replace(answers[1], mechanism="wrong_target_port"),
        answers[2],
    ]
    assert not graded(handed_in(mixed), *specs).passed


def test_faults_of_one_kind_may_be_answered_at_once() -> None:
    specs = [
        ZERO.model_copy(update={"components": (name,), "resource_name": name})
        for name in ("geo", "rate", "search")
    ]
    together = Cause(("geo", "rate", "search"), "scaled_to_zero", field="replicas", value="0")
    assert graded(handed_in([together]), *specs).passed
    assert not graded(handed_in([replace(together, components=("geo", "rate"))]), *specs).passed


def test_stuffing_closed_answers_earns_less_than_the_place() -> None:
    every = [replace(TARGET_PORT.answer, mechanism=key) for key in list(TAXONOMY)[:16]]
    grade = graded(handed_in(every), TARGET_PORT)
    assert not grade.passed and grade.score <= 0.11
    everyone = Cause(tuple(component.name for component in APP.components), "wrong_target_port")
    assert graded(handed_in([everyone]), TARGET_PORT).score == 0.0


# --- handing it in --------------------------------------------------------------------------------

FLAGS = (
    "submit diagnosis --component recommendation --kind Service --name recommendation --mechanism wrong_target_port "
    '--field targetPort --value 9999 --because "it doesn\'t listen there"'
)


def causes(submitted: object) -> tuple[Cause, ...]:
    assert isinstance(submitted, Submission), submitted
    found = causes_of(submitted.text)
    assert found is not None
    return found


def test_flags_and_a_tool_call_and_json_say_the_same() -> None:
    (cause,) = causes(from_line(FLAGS))
    assert cause.because == "it doesn't listen there"
    assert graded(handed_in([cause]), TARGET_PORT).score == pytest.approx(1.0)
    called = action(ToolCall("submit_structured_diagnosis", {"causes": [cause.to_dict()]}))
    assert causes(called) == (cause,)
    assert causes(from_line(f"submit diagnosis <<'EOF'\n{json.dumps(cause.to_dict())}\nEOF")) == (cause,)


@pytest.mark.parametrize(
    ("line", "components"),
    [
        ("--component a,b --mechanism scaled_to_zero", [("a", "b")]),
        ("--component a --component b --mechanism scaled_to_zero", [("a", "b")]),
        (
            "--component a --mechanism scaled_to_zero --component b --mechanism missing-service",
            [("a",), ("b",)],
        ),
        ("--component=a --mechanism=scaled_to_zero --because=x", [("a",)]),
        ("--components a b --mechanism 'Scaled to zero'", [("a", "b")]),
    ],
)
def test_flags_for_several(line: str, components: list[tuple[str, ...]]) -> None:
    found = causes(from_line(f"submit diagnosis {line}"))
    assert [cause.components for cause in found] == components
    assert all(cause.mechanism in TAXONOMY for cause in found)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("--component a", "mechanism is missing"),
        ("--mechanism scaled_to_zero", "component is missing"),
        ("--component a --mechanism scaled_to_zeroo", "did you mean scaled_to_zero"),
        ("--component a --mechanism magic", "submit mechanisms"),
        ("--component a --mechanism scaled_to_zero --colour red", "unknown flag --colour"),
        ("--component a --mechanism scaled_to_zero " * 17, "at most 16"),
    ],
)
def test_what_is_wrong_with_flags_is_said_and_nothing_is_handed_in(line: str, complaint: str) -> None:
    said = from_line(f"submit diagnosis {line}")
    assert isinstance(said, str) and complaint in said


@pytest.mark.parametrize(
    "given",
    [[], ["a"], [{}], [{"component": "a", "mechanism": "magic"}], [{"component": 3, "mechanism": "wrong_command"}],
     [{"component": "a", "mechanism": "wrong_command", "x": 1}], "nonsense"],
)  # fmt: skip
def test_what_is_wrong_with_a_call_is_refused(given: object) -> None:
    assert isinstance(action(ToolCall("submit_structured_diagnosis", {"causes": given})), Refusal)


def test_the_taxonomy_is_told_to_agents() -> None:
    assert from_argv(["mechanisms"]) == told()
    assert all(f"{kind.key}: {kind.definition}" in told() for kind in TAXONOMY.values())
    assert all(kind.title and len(kind.definition) > 40 for kind in TAXONOMY.values())


def test_prose_about_flags_is_prose() -> None:
    submitted = from_line("submit diagnosis the process was started with --component geo")
    assert submitted == Submission("diagnosis", "the process was started with --component geo")


@given(st.text(max_size=200))
def test_any_flags_are_understood_or_refused(text: str) -> None:
    assert isinstance(from_line(f"submit diagnosis --component {text}"), Submission | str | None)


@pytest.mark.parametrize("value", ["EIO", "I/O error", "input/output errors", "read errors"])
def test_a_read_error_has_many_names(value: str) -> None:
    truth = next(each for each in one_of_each("hotel-reservation") if each.mechanism == "disk_read_errors")
    answer = replace(truth.answer, value=value)
    assert SpecJudge().grade(handed_in([answer]), [truth], app_of(truth)).passed
