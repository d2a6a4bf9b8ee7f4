"""What requests write: lines of one request stand together, in order, and no more of them than there are requests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.runtime.clock import SECOND
from sregym_env.sim.world.logs import Burst, ContainerLog

ID = "{trace_id}"


def _texts(log: ContainerLog, now: int) -> list[str]:
    return [line.text for line in log.read(now)]


def test_lines_of_one_request_stand_together_and_bear_its_identifier() -> None:
    log = ContainerLog()
    for text in ("received", "done"):
        log.open_burst(Burst(0, None, 0.5, f"{text} {ID}", "payment"))
    lines = _texts(log, 60 * SECOND)
    assert len(lines) >= 50
    for received, done in zip(lines[::2], lines[1::2], strict=False):
        assert received.split() == ["received", done.split()[1]]


def test_a_request_succeeds_or_fails() -> None:
    log = ContainerLog()
    log.open_burst(Burst(0, None, 2.0, f"received {ID}", "payment"))
    log.open_burst(Burst(0, None, 2.0, f"done {ID}", "payment", among=(0.0, 0.7)))
    log.open_burst(Burst(0, None, 2.0, f"error {ID}", "payment", among=(0.7, 1.0)))
    said = [line.split() for line in _texts(log, 100 * SECOND)]
    received = {trace for word, trace in said if word == "received"}
    done = {trace for word, trace in said if word == "done"}
    failed = {trace for word, trace in said if word == "error"}
    assert done | failed == received
    assert not done & failed
    assert abs(len(failed) - 60) <= 2


@given(
    rate=st.floats(0.05, 40.0),
    low=st.floats(0.0, 0.9),
    share=st.floats(0.05, 1.0),
    length=st.integers(1, 400),
)
def test_as_many_write_a_line_as_should(rate: float, low: float, share: float, length: int) -> None:
    high = min(low + share, 1.0)
    burst = Burst(0, length * SECOND, rate, "line", "seed", among=(low, high))
    expected = rate * length * (high - low)
    assert abs(sum(1 for _ in burst.lines_before(1000 * SECOND)) - expected) <= 4 + 0.02 * expected


@given(since=st.integers(0, 90), until=st.integers(0, 90), after=st.floats(0.0, 9.0))
def test_a_window_shows_what_of_everything_lies_in_it(since: int, until: int, after: float) -> None:
    burst = Burst(0, 60 * SECOND, 3.0, "line", "seed", among=(0.2, 0.8), after=int(after * SECOND))
    everything = list(burst.lines_before(1000 * SECOND))
    window = list(burst.lines_before(until * SECOND, since * SECOND))
    assert window == [line for line in everything if since * SECOND <= line.time < until * SECOND]


def test_who_waits_writes_later_also_when_no_more_requests_come() -> None:
    log = ContainerLog()
    log.open_burst(Burst(0, None, 1.0, "timed out", "cart", after=5 * SECOND))
    log.close_bursts(10 * SECOND)
    assert len(_texts(log, 5 * SECOND)) <= 1
    assert 9 <= len(_texts(log, 60 * SECOND)) <= 11


def test_a_process_that_is_gone_writes_nothing() -> None:
    log = ContainerLog()
    log.open_burst(Burst(0, None, 1.0, "timed out", "cart", after=5 * SECOND))
    log.close_bursts(10 * SECOND)
    log.close(12 * SECOND)
    assert all(line.time < 12 * SECOND for line in log.read(60 * SECOND))
    assert 6 <= len(log.read(60 * SECOND)) <= 8


def test_a_connection_keeps_its_number() -> None:
    log = ContainerLog()
    for text in ("accepted", "ended"):
        log.open_burst(Burst(0, None, 1.0, f"conn{{ordinal}} {text}", "mongod"))
    log.open_burst(Burst(0, None, 1.0, "conn{ordinal} other", "another"))
    said = [line.split() for line in _texts(log, 30 * SECOND)]
    accepted = [number for number, word in said if word == "accepted"]
    assert accepted == [number for number, word in said if word == "ended"]
    assert not {number for number, word in said if word == "other"} & set(accepted)
