"""The in-process kubectl prints what was recorded of the real one, in every recorded state of the world.

No world is simulated here (README.md): what fails is kubectl.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parity.known import reason
from tests.parity.playing import played
from tests.parity.recording import load, recorded_states
from tests.parity.states import state, states

SHOWN = 5
"""Differences that a failure shows."""


@pytest.mark.parametrize("name", recorded_states())
def test_recorded_lines_print_the_same(name: str, tmp_path: Path) -> None:
    recording = load(name)
    unlike, equal = [], []
    for each in played(recording, state(name).bench(tmp_path)):
        case, real = each.line.case, each.line.real
        if each.ours == real:
            equal += [str(case)] if reason(name, case) else []
        elif reason(name, case) is None:
            asked = "".join(f"\nasked otherwise: {question}" for question in each.otherwise)
            unlike.append(f"kubectl {case}\n--- real\n{real}\n--- in process\n{each.ours}{asked}")
    assert not equal, f"equal now, remove them from the known ones: {equal}"
    shown = "\n\n".join(unlike[:SHOWN])
    assert not unlike, f"{len(unlike)} of {len(recording.lines)} lines differ:\n{shown}"


def test_every_line_of_the_corpus_is_recorded() -> None:
    assert set(recorded_states()) == {each.name for each in states()}, "run 'make parity'"
    for each in states():
        missing = set(each.lines) - {line.case for line in load(each.name).lines}
        assert not missing, f"{each.name}: run 'make parity'"
