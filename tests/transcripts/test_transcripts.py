"""Every golden transcript still reads as it was recorded (``python -m tests.transcripts.transcript`` records anew)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transcripts.transcript import every, load, play


@pytest.mark.parametrize("path", every(), ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    transcript = load(path)
    text, solved = play(transcript)
    assert text == transcript.text, (
        "if it is meant to read otherwise now: python -m tests.transcripts.transcript"
    )
    assert solved


def test_there_are_at_least_ten_incidents() -> None:
    assert len(every()) >= 10
