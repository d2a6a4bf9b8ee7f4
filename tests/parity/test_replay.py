"""The in-process kubectl prints what was recorded of the real one, in every recorded state of the world.

Where a change of the simulation changes the worlds, ``make parity`` records anew (it needs kubectl 1.32).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parity.corpus.files import FILES
from tests.parity.harness import InProcess, write_files
from tests.parity.known import reason
from tests.parity.recording import load, recorded_states
from tests.parity.states import state, states

SHOWN = 5
"""Differences that a failure shows."""


@pytest.mark.parametrize("name", recorded_states())
def test_recorded_lines_print_the_same(name: str, tmp_path: Path) -> None:
    recording = load(name)
    world = state(name).make()
    assert world.digest() == recording.digest, (
        "the world has changed since it was recorded: run 'make parity'"
    )
    write_files(tmp_path, FILES)
    ours = InProcess(world, tmp_path)
    unlike = []
    for case, real in recording.outcomes:
        done = ours.run(case)
        if done != real and reason(name, case) is None:
            unlike.append(f"kubectl {case}\n--- real\n{real}\n--- in process\n{done}")
        assert done != real or reason(name, case) is None, f"equal now, remove it from the known ones: {case}"
    shown = "\n\n".join(unlike[:SHOWN])
    assert not unlike, f"{len(unlike)} of {len(recording.outcomes)} lines differ:\n{shown}"


def test_every_state_is_recorded() -> None:
    assert set(recorded_states()) == {each.name for each in states()}
