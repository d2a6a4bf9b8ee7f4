"""Streams, files and editors: the in-process kubectl says what the real one says (all: python -m tests.parity.streams)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.parity.harness import Case
from tests.parity.streams import STREAMS, StreamSides, stream_sides
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
