"""Every example runs to its end."""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


ARGUMENTS = {
    "05_outside_agent": ["hotel-reservation/incorrect_image/profile"],
    "train_reinforce": ["--quick"],
}
"""Command lines of those that would take minutes."""

NEEDS = {"09_rllib": "torch"}
"""What is not among the dependencies for development."""


BEGIN_CLUSTERS = ("08_ray_rollouts",)
"""Those that begin a Ray cluster, which takes minutes beside other tests."""


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.ray] * (path.stem in BEGIN_CLUSTERS))
        for path in EXAMPLES
    ],
)
def test_example(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    if not find_spec(NEEDS.get(path.stem, "sys")):
        pytest.skip(f"needs {NEEDS[path.stem]}")
    monkeypatch.setattr(sys, "argv", [str(path), *ARGUMENTS.get(path.stem, [])])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4
