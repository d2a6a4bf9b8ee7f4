"""Streams, files and editors: the in-process kubectl says what the real one says (all: python -m tests.parity.streams)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parity.harness import Case
from tests.parity.recording import load
from tests.parity.streams import RECORDED, STREAMS, StreamSide, StreamSides, healthy, stream_sides
from tests.serve.serving import real_kubectl

CASES = STREAMS[::4]
"""A sample: every fourth."""


@pytest.fixture(scope="module")
def sides() -> Iterator[StreamSides]:
    if real_kubectl() is None:
        pytest.skip("no kubectl 1.32 on this machine")
    with stream_sides() as made:
        yield made


@pytest.mark.parametrize("case", CASES, ids=str)
def test_both_say_the_same(sides: StreamSides, case: Case) -> None:
    real, ours = sides.compare(case)
    assert ours == real


def test_recorded_lines_print_the_same(tmp_path: Path) -> None:
    recording = load(RECORDED)
    side = StreamSide(healthy(), tmp_path, "https://127.0.0.1:6443")
    assert side.digest == recording.digest, "the world has changed since it was recorded: run 'make parity'"
    assert [case for case, _ in recording.outcomes] == list(STREAMS)
    unlike = [str(case) for case, real in recording.outcomes if side.run(case) != real]
    assert not unlike
