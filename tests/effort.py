"""Processor time within bounds, on whatever machine: what must come to an end, and soon."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time

from sregym_env.rollouts.bench.calibration import REFERENCE_MS, timed_loop

BORNE = 3.0
"""How much more than its limit something may take: a core that is shared is slower by moments."""


@contextmanager
def at_most(seconds: float, what: str = "") -> Iterator[None]:
    """Let the body take so many seconds of the reference machine's processor. It is timed, not interrupted."""
    began = process_time()
    yield
    spent = process_time() - began
    if spent >= seconds:
        slowness = max(1.0, min(timed_loop() for _ in range(3)) / REFERENCE_MS)
        assert spent / slowness < seconds * BORNE, (
            f"{spent:.1f} s of CPU, {slowness:.1f} times as slow: {what}"
        )
