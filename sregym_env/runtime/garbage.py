"""When Python looks for garbage: not while a world is being made or moves on, and never among what a process keeps.

A world is some hundred thousand objects, hardly any of them garbage. The cycle collector would go through all worlds of
a process again and again while another one is made: a quarter of a first reset, measured in a process with 27 base
worlds.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

MOST = 500_000
"""Objects made and not freed, after which some are looked at though others go on deferring."""

_lock = Lock()
_deferring = 0
_was_enabled = False


@contextmanager
def deferred() -> Iterator[None]:
    """Do not look for cycles meanwhile, in any thread; afterwards as before."""
    global _deferring, _was_enabled
    with _lock:
        if not _deferring:
            _was_enabled = gc.isenabled()
            gc.disable()
        _deferring += 1
    try:
        yield
    finally:
        with _lock:
            _deferring -= 1
            if not _deferring and _was_enabled:
                gc.enable()
            elif _deferring and _was_enabled and gc.get_count()[0] > MOST:
                # Among many threads there is always one that defers.
                gc.collect(1)


def keep() -> None:
    """Collect what is garbage now, and never again look at what is not: it stays as long as the process does.

    What is dropped is freed as ever, by its reference count.
    """
    gc.collect()
    gc.freeze()
