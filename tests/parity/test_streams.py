"""Streams, files and editors: the in-process kubectl says what a real one says, on a sample and where there is one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.parity.corpus.streams import STREAMS
from tests.parity.harness import Case, Sides, sides
from tests.parity.states import state
from tests.serve.serving import real_kubectl

CASES = STREAMS[::4]
"""Every fourth."""


@pytest.fixture(scope="module")
def both() -> Iterator[Sides]:
    if real_kubectl() is None:
        pytest.skip("no kubectl 1.32 on this machine")
    streams = state("healthy-streams")
    with sides(streams.make(), streams.files, **streams.how) as made:
        yield made


@pytest.mark.parametrize("case", CASES, ids=str)
def test_both_say_the_same(both: Sides, case: Case) -> None:
    real, ours = both.compare(case)
    assert ours == real
