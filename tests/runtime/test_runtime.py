"""Virtual time, the event heap and named random streams."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.runtime import ids
from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.runtime.events import EventQueue
from sregym_env.runtime.streams import Streams, keyed_unit


def test_events_due_at_the_same_instant_happen_in_the_order_they_were_pushed() -> None:
    queue = EventQueue()
    for name in ("first", "second", "third"):
        queue.push(5 * SECOND, name)
    popped = []
    while (event := queue.pop_due(10 * SECOND)) is not None:
        popped.append(event.kind)
    assert popped == ["first", "second", "third"]


def test_nothing_is_popped_before_it_is_due() -> None:
    queue = EventQueue()
    queue.push(SECOND, "later")
    assert queue.pop_due(SECOND - 1) is None
    assert queue.next_time() == SECOND


def test_a_forked_queue_goes_its_own_way() -> None:
    queue = EventQueue()
    queue.push(1, "shared")
    fork = queue.fork()
    fork.push(2, "only in the fork")
    assert len(queue) == 1
    assert [event.kind for event in fork] == ["shared", "only in the fork"]


@given(st.lists(st.integers(0, 1000)))
def test_events_come_out_in_order_of_time(times: list[int]) -> None:
    queue = EventQueue()
    for time in times:
        queue.push(time, "tick")
    out = []
    while (event := queue.pop_due(1000)) is not None:
        out.append(event.time)
    assert out == sorted(times)


def test_streams_do_not_shift_each_other() -> None:
    alone = Streams(7)
    expected = [alone.unit("a") for _ in range(3)]
    mixed = Streams(7)
    got = []
    for _ in range(3):
        mixed.unit("b")
        got.append(mixed.unit("a"))
    assert got == expected


def test_a_forked_stream_draws_the_same_and_then_diverges() -> None:
    streams = Streams(1)
    streams.bits("x")
    fork = streams.fork()
    assert streams.bits("x") == fork.bits("x")
    fork.reseed(2)
    assert streams.bits("x") != fork.bits("x")


def test_draws_are_pinned_so_that_every_process_and_version_agrees() -> None:
    assert Streams(0).bits("name") == 3509253986991728212
    assert 0.0 <= keyed_unit("a", 1) < 1.0
    assert keyed_unit("a", 1) == keyed_unit("a", 1) != keyed_unit("a", 2)


@given(st.integers(0, 2**63), st.integers(1, 50))
def test_below_and_choice_stay_in_range(seed: int, n: int) -> None:
    streams = Streams(seed)
    assert 0 <= streams.below("x", n) < n
    assert streams.choice("x", range(n)) in range(n)


def test_identifiers_look_like_kubernetes_ones() -> None:
    streams = Streams(3)
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", ids.uid(streams)
    )
    assert re.fullmatch(r"[bcdfghjklmnpqrstvwxz2456789]{5}", ids.name_suffix(streams))
    assert ids.safe_hash(b"template") == ids.safe_hash(b"template") != ids.safe_hash(b"other")
    # SafeEncodeString of decimal digits uses ten letters of the alphabet only.
    assert all(re.fullmatch(r"[456789bcdf]{1,10}", ids.safe_hash(bytes([n]))) for n in range(200))


def test_seconds_round_to_the_nearest_microsecond() -> None:
    assert seconds(0.1) == 100_000
    assert seconds(1e-7) == 0
