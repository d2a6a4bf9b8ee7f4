"""Python looks for garbage as before once a world is made, whoever else makes one."""

from __future__ import annotations

import gc
from threading import Barrier, Thread

import pytest

from sregym_env.runtime import garbage


def test_threads_share_what_the_collector_waits_for() -> None:
    assert gc.isenabled()
    both = Barrier(2)
    seen: list[bool] = []

    def make(last: bool) -> None:
        with garbage.deferred():
            both.wait()
            if last:
                both.wait()
                seen.append(gc.isenabled())
        if not last:
            both.wait()

    threads = [Thread(target=make, args=(last,)) for last in (False, True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [False], "the first to end leaves it waiting for the other"
    assert gc.isenabled()


def test_an_error_ends_the_waiting() -> None:
    with pytest.raises(ZeroDivisionError), garbage.deferred():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_whoever_has_turned_it_off_keeps_it_off() -> None:
    gc.disable()
    try:
        with garbage.deferred():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_among_threads_that_always_defer_some_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "MOST", -1)
    looked: list[str] = []

    def look(phase: str, about: dict[str, int]) -> None:
        looked.append(phase)

    with garbage.deferred():
        gc.callbacks.append(look)
        try:
            with garbage.deferred():
                assert not looked
            assert looked, "the last one in is not the last one out"
        finally:
            gc.callbacks.remove(look)


def test_who_collects_by_hand_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "MOST", -1)
    looked: list[str] = []

    def look(phase: str, about: dict[str, int]) -> None:
        looked.append(phase)

    gc.disable()
    gc.callbacks.append(look)
    try:
        with garbage.deferred(), garbage.deferred():
            pass
        assert not looked
        assert not gc.isenabled()
    finally:
        gc.callbacks.remove(look)
        gc.enable()
