"""Only the report touches the held-out half: what a judge is made with must not be what it is measured with."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SET = "sregym_env.rewards.labelled"
WHOLE = {
    f"{SET}.collection": {"held_out", "written"},
    f"{SET}.grammar.generate": {"generated"},
    f"{SET}.written": {"written"},
}
"""What holds texts of the held-out half, by module."""

REPORT = {
    "sregym_env/rewards/labelled/collection.py",
    "sregym_env/rewards/labelled/grammar/generate.py",
    "sregym_env/rewards/labelled/written.py",
    "sregym_env/cli/judging.py",
    "tests/cli/test_judging.py",
    "tests/rewards/labelled/test_set.py",
    "tests/rewards/labelled/test_grammar.py",
}
"""Who may: the set itself, the command that reports, and the tests of these, in which no judge is tried."""


def reached(text: str) -> set[str]:
    """What of the held-out half a module's source reaches for: by import, by attribute, or by its files."""
    found: set[str] = set()
    if "labelled" not in text and "written_" not in text:
        return found
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module in WHOLE:
            found |= {alias.name for alias in node.names} & {*WHOLE[node.module], "*"}
        elif isinstance(node, ast.ImportFrom) and node.module in (SET, f"{SET}.grammar"):
            found |= {alias.name for alias in node.names if f"{node.module}.{alias.name}" in WHOLE}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in WHOLE}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A path has no spaces, unlike what documents it.
            found |= {"its files"} if "written_" in node.value and " " not in node.value else set()
    return found


def test_only_the_report_reaches_for_it() -> None:
    bad = {}
    for folder in ("sregym_env", "tests", "examples", "tools_dev"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if name not in REPORT and path != Path(__file__) and (found := reached(path.read_text("utf-8"))):
                bad[name] = found
    assert bad == {}, "use sregym_env.rewards.labelled.collection.development instead"


def test_whoever_may_does() -> None:
    assert [name for name in sorted(REPORT) if not reached((ROOT / name).read_text("utf-8"))] == []


@pytest.mark.parametrize(
    "source",
    [
        f"from {SET}.collection import held_out",
        f"from {SET}.collection import *",
        f"from {SET} import collection",
        f"import {SET}.grammar.generate as g",
        f"def f():\n    from {SET}.grammar.generate import generated",
        "open('data/written_notes.jsonl')",
    ],
)
def test_reaching_is_seen(source: str) -> None:
    assert reached(source)


def test_looking_at_the_other_half_is_no_reaching() -> None:
    assert not reached(f"from {SET}.collection import development, fingerprint")
