"""The labelled set: whole, balanced, spread, without doubles, and the same everywhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from sregym_env.rewards.labelled.collection import development, fingerprint, held_out
from sregym_env.rewards.labelled.diagnosis import CATEGORIES, REGISTERS, SET_APART, TUNING, Diagnosis, part_of
from sregym_env.rewards.labelled.grammar.generate import generated
from sregym_env.rewards.labelled.specs import specs
from sregym_env.rewards.labelled.written import _read, written
from sregym_env.rewards.screening import cleaned, objection

ROOT = Path(__file__).parents[3]
WHOLE = (*development(), *held_out())


def folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def masked(text: str) -> str:
    """A text without the names and numbers of its fault."""
    names = {name for spec in specs().values() for name in (*spec.components, *spec.affected, *spec.aliases)}
    known = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))
    return " ".join(re.findall(r"[a-z]+", known.sub(" ", text.lower())))


def test_it_is_large_and_right_and_wrong_are_in_equal_parts() -> None:
    counts = Counter(each.label for each in generated())
    assert counts["right"] == counts["wrong"] == 1190
    assert counts["attack"] == 280
    assert len(WHOLE) == len(generated()) + len(written())


def test_the_page_on_judging_says_how_large_it_is() -> None:
    page = (ROOT / "docs" / "judging.md").read_text("utf-8")
    assert f"{len(generated()):,} are generated" in page
    for names in (*CATEGORIES.values(), REGISTERS):
        assert all(name in page for name in names)


def test_ids_and_texts_are_all_different() -> None:
    assert len({each.id for each in WHOLE}) == len(WHOLE)
    assert len({folded(each.text) for each in WHOLE}) == len(WHOLE)


def test_no_two_generated_ones_differ_by_names_and_numbers_alone() -> None:
    assert len({masked(each.text) for each in generated()}) == len(generated())


def test_every_fault_has_every_label_and_category() -> None:
    faults = {fault for fault, _ in specs()}
    by_fault = Counter((each.pairs[0][0], each.label) for each in generated())
    assert {fault for fault, _ in by_fault} == faults
    assert {count for (_, label), count in by_fault.items() if label == "right"} == {17}
    assert {count for (_, label), count in by_fault.items() if label == "wrong"} == {17}
    for label, categories in CATEGORIES.items():
        assert {each.category for each in generated() if each.label == label} == set(categories)


def test_every_honest_category_is_written_in_every_register() -> None:
    honest = [each for each in generated() if each.label != "attack"]
    met = {(each.category, each.register) for each in honest}
    assert met == {
        (name, way) for label in ("right", "wrong") for name in CATEGORIES[label] for way in REGISTERS
    }


def test_targets_are_spread() -> None:
    targets: dict[str, set[str]] = {}
    for fault, target in specs():
        targets.setdefault(fault, set()).add(target)
    for fault, known in targets.items():
        assert {each.pairs[0][1] for each in generated() if each.pairs[0][0] == fault} == known


@pytest.mark.parametrize("label", CATEGORIES)
def test_about_half_of_everything_is_held_out(label: str) -> None:
    """By a hash of the id: within four standard deviations of a fair coin; but for those that were written to mend a judge, or for reports."""
    of_label = [each for each in WHOLE if each.label == label and not each.id.startswith((TUNING, SET_APART))]
    held = sum(each.part == "held-out" for each in of_label)
    assert abs(held - len(of_label) / 2) <= 4 * (len(of_label) / 4) ** 0.5


def test_the_parts_are_apart() -> None:
    assert all(each.part == "dev" for each in development())
    assert all(each.part == "held-out" for each in held_out())
    assert [part_of(id) for id in ("w-0001", "w-0002", "w-0003", "w-0004")] == [
        "dev",
        "held-out",
        "held-out",
        "dev",
    ]
    assert {part_of(f"{TUNING}{number:04d}") for number in range(50)} == {"dev"}


def test_the_same_in_every_process() -> None:
    code = "from sregym_env.rewards.labelled.collection import *; print(fingerprint((*development(), *held_out())))"
    for seed in ("1", "2"):
        told = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.strip() == fingerprint(WHOLE)


def test_a_fingerprint_tells_sets_apart() -> None:
    assert fingerprint(development()) != fingerprint(held_out())
    assert fingerprint(development()) == fingerprint(list(development()))


def test_the_frozen_specs_are_those_of_the_code() -> None:
    """After a change of a fault: ``python tools_dev/freeze_specs.py``, and look at what that does to the labels."""
    spec = importlib.util.spec_from_file_location("freeze_specs", ROOT / "tools_dev" / "freeze_specs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for file, text in module.texts().items():
        assert file.read_text() == text


def test_no_honest_diagnosis_is_taken_for_talk_to_the_grader() -> None:
    turned_away = [
        each.id for each in development() if each.label != "attack" and objection(cleaned(each.text))
    ]
    assert turned_away == []


GOOD = {
    "id": "x-1",
    "fault": "scale_to_zero",
    "target": "geo",
    "text": "geo has 0 replicas",
    "label": "right",
    "category": "plain",
    "register": "terse",
}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"category": "hedged"}, "'hedged' is no category of right ones"),
        ({"register": "shouted"}, "'shouted' is no register"),
        ({"label": "maybe"}, "is no category of maybe ones"),
        ({"fault": "scale_to_zero+missing_service"}, "as many targets as faults"),
        ({"text": "  "}, "an id and a text"),
    ],
)
def test_what_is_no_labelled_diagnosis_is_refused(change: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        Diagnosis(**{**GOOD, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "written_x.jsonl, line 2: "),
        ('{"id": "x"}', "written_x.jsonl, line 2: .*missing 6 required"),
        (
            '{"id": "x", "fault": "scale_to_zero", "target": "nobody", "text": "a b", "label": "right", "category": "plain", "register": "terse"}',
            "there is no scale_to_zero on nobody",
        ),
    ],
)
def test_a_bad_line_of_a_file_is_told(line: str, complaint: str, tmp_path: Path) -> None:
    import json

    file = tmp_path / "written_x.jsonl"
    file.write_text(f"{json.dumps(GOOD)}\n{line}\n")
    with pytest.raises(ValueError, match=complaint):
        list(_read(file))
