"""What a long validation tells a log while it lasts."""

from __future__ import annotations

import pytest

from sregym_env.cli.validation import TOLD_EVERY, watching
from sregym_env.rollouts.validate import Line, Report


def test_a_log_is_told_how_far_it_is_and_what_failed(capsys: pytest.CaptureFixture[str]) -> None:
    good = Report("app", "fault", "good", (Line("remedies_cure", True, "", 0.1),))
    bad = Report("app", "fault", "bad", (Line("remedies_cure", False, "still [broken]", 0.1),))
    with watching() as watch:
        for number in range(2 * TOLD_EVERY):
            watch(bad if number == 7 else good, 2 * TOLD_EVERY)
    assert capsys.readouterr().err.splitlines() == [
        "fault:bad remedies_cure: still [broken]",
        f"{TOLD_EVERY} of {2 * TOLD_EVERY} pairs",
        f"{2 * TOLD_EVERY} of {2 * TOLD_EVERY} pairs",
    ]
