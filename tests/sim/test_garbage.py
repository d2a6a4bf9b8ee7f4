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
