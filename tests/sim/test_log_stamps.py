"""When a line was written, as ``logs --timestamps`` tells it: nine digits, no two alike, the same however much is read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.runtime.clock import EPOCH
from sregym_env.sim.world.logs import Line, single
from sregym_env.sim.world.logs import stamps as stamps_of

LINES = st.lists(st.tuples(st.integers(0, 50_000_000), st.integers(1, 60)), min_size=1, max_size=8).map(
    lambda groups: [
        Line(EPOCH + time, "x") for time, count in sorted(dict(groups).items()) for _ in range(count)
    ]
)


@given(LINES)
def test_stamps_are_of_one_width_in_order_and_all_different(lines: list[Line]) -> None:
    stamps = stamps_of(lines)
    assert {len(stamp) for stamp in stamps} == {len("2026-08-06T10:00:00.123456789Z")}
    assert stamps == sorted(set(stamps))


@given(LINES, st.data())
def test_a_tail_has_the_stamps_of_the_whole(lines: list[Line], data: st.DataObject) -> None:
    tail = data.draw(st.integers(1, len(lines)))
    assert stamps_of(lines[-tail:]) == stamps_of(lines)[-tail:]


@given(LINES)
def test_the_microsecond_is_the_lines_own(lines: list[Line]) -> None:
    for line, stamp in zip(lines, stamps_of(lines), strict=True):
        second, micro = divmod(line.time, 1_000_000)
        assert stamp[20:26] == f"{micro:06d}"
        assert int(stamp[17:19]) == second % 60


def test_what_is_written_at_once_is_several_lines() -> None:
    lines = [Line(EPOCH, "FATAL:  no\nDETAIL:  why"), Line(EPOCH + 1, "LOG:  on")]
    told = list(single(lines))
    assert [line.text for line in told] == ["FATAL:  no", "DETAIL:  why", "LOG:  on"]
    assert len(set(stamps_of(told))) == 3
