"""How measurements are judged, and that every promise can be measured; nothing here is timed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice

import pytest

from sregym_env.rollouts.bench import elsewhere, measurable, probes
from sregym_env.rollouts.bench.against import HERE, compare
from sregym_env.rollouts.bench.calibration import AROUND, CHECKSUM, EVERY, REFERENCE_MS, interleaved, loop
from sregym_env.rollouts.bench.probes import PROBES
from sregym_env.rollouts.bench.promises import PROMISES, Comparison, Measurement, Promise

LATENCY = Promise("x", "a latency", "ms", 10, 20)
RATE = Promise("x", "a rate", "1/s", 100, 50)
SIZE = Promise("x", "a size", "MB", 1, 3)


@pytest.mark.parametrize(
    ("promise", "measured", "slowness", "calibrated", "verdict"),
    [
        (LATENCY, 10, 1, 10, "meets goal"),
        (LATENCY, 10.1, 1, 10.1, "above floor"),
        (LATENCY, 20.1, 1, 20.1, "below floor"),
        (LATENCY, 20, 2, 10, "meets goal"),
        (LATENCY, 9, 0.5, 18, "above floor"),
        (RATE, 100, 1, 100, "meets goal"),
        (RATE, 99, 1, 99, "above floor"),
        (RATE, 49, 1, 49, "below floor"),
        (RATE, 49, 2, 98, "above floor"),
        (RATE, 120, 0.5, 60, "above floor"),
        (SIZE, 1, 2, 1, "meets goal"),
        (SIZE, 3.1, 2, 3.1, "below floor"),
    ],
)
def test_a_verdict_is_what_it_would_be_on_the_reference_machine(
    promise: Promise, measured: float, slowness: float, calibrated: float, verdict: str
) -> None:
    found = Measurement(promise, measured, REFERENCE_MS * slowness)
    assert found.calibrated == pytest.approx(calibrated)
    assert found.verdict == verdict


def test_samples_are_summed_up_by_unit() -> None:
    samples = [0.001, 0.002, 0.009]
    assert LATENCY.summary(samples) == pytest.approx(2)
    assert RATE.summary(samples) == pytest.approx(250)
    assert SIZE.summary(samples) == 0.002


@pytest.mark.parametrize(
    ("promise", "this", "that", "verdict"),
    [
        (LATENCY, (10, 11, 12), (20, 21, 22), "faster"),
        (LATENCY, (20, 21, 22), (10, 11, 12), "slower"),
        (RATE, (10, 11, 12), (20, 21, 22), "slower"),
        (RATE, (20, 21, 22), (10, 11, 12), "faster"),
        (SIZE, (2,), (1,), "worse"),
        (SIZE, (1,), (2,), "better"),
        (LATENCY, (10, 15, 21), (20, 25, 26), "same"),
        (LATENCY, (100, 101, 102), (99, 99, 99.5), "same"),
        (SIZE, (0,), (0,), "same"),
        (LATENCY, (1, 2), (), "not compared"),
    ],
)
def test_a_difference_counts_beyond_noise(
    promise: Promise, this: tuple[float, ...], that: tuple[float, ...], verdict: str
) -> None:
    found = Comparison(promise, this, that, "" if that else "ImportError: no such thing")
    assert found.verdict == verdict
    assert found.to_dict()["that"] == (found.to_dict()["that"] if that else "ImportError: no such thing")


def test_the_loop_is_timed_before_between_and_after() -> None:
    clock = [0.0]
    events: list[str] = []

    def timed() -> float:
        events.append("loop")
        return float(len(events))

    def samples() -> Iterator[float]:
        for _ in range(4):
            clock[0] += EVERY * 0.6
            events.append("sample")
            yield 1.0

    taken, loop_ms = interleaved(samples(), clock=lambda: clock[0], loop_ms=timed)
    assert taken == [1.0] * 4
    around = ["loop"] * AROUND
    assert events == [*around, "sample", "sample", "loop", "sample", "sample", "loop", *around]
    assert loop_ms == 7.5


def test_the_loop_does_what_the_reference_was_measured_with() -> None:
    assert loop() == loop() == CHECKSUM


def test_every_promise_has_a_probe_and_a_goal_no_worse_than_its_floor() -> None:
    from sregym_env.rollouts.bench import served

    assert {promise.name for promise in PROMISES} == {*PROBES, *served.PROBES}
    assert all(promise.reached(promise.goal, promise.floor) for promise in PROMISES)
    assert measurable("served") and set(measurable("served")) < set(measurable())


def test_two_checkouts_are_measured_in_turns() -> None:
    (comparison,) = compare(HERE, rounds=1, only="import")
    assert comparison.promise.name == "import"
    assert len(comparison.this) == len(comparison.that) == 1 and comparison.failure == ""


def test_no_checkout_borrows_from_another(monkeypatch: pytest.MonkeyPatch) -> None:
    assert elsewhere.strangers() == []
    monkeypatch.setitem(sys.modules, "sregym_env.borrowed", pytest)
    assert elsewhere.strangers() == ["sregym_env.borrowed"]


SLOW = (
    "memory", "first_deploy", "first_base", "shop.deploy", "shop.base", "idle", "bases", "large.deploy", "large.list", "large.describe",
    "signals.month", "shop.reset",
)  # fmt: skip


@pytest.mark.parametrize("name", [name for name in PROBES if name not in SLOW])
def test_a_probe_takes_samples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "WARM", 1)
    assert all(sample >= 0 for sample in islice(PROBES[name](), 2))
