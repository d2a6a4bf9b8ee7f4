"""A fixed amount of pure Python: how fast this machine is now, next to the one for which the promises hold.

Machines differ twofold, and one shared machine differs twofold from hour to hour. So the loop here is timed
between the samples of every figure, and the figure is judged as it would be where the loop takes
:data:`REFERENCE_MS`. Time is the processor's time of this process: what other processes take is not ours.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from time import process_time

REFERENCE_MS = 20.0
"""Milliseconds of the loop on the reference machine: one core of a quiet 2-core cloud machine (Intel Xeon of
2023, 2.3 GHz), CPython 3.11. Goals and floors are in milliseconds of that machine."""

CHECKSUM = 454_170
"""What the loop computes. Whoever changes the loop changes this, and must measure the reference anew."""

EVERY = 0.25
"""Seconds of samples between two timings of the loop."""

AROUND = 3
"""Timings of the loop before the first sample, and after the last."""


@dataclass(slots=True)
class _Part:
    """Something with attributes, as most of what the simulation handles."""

    name: str
    labels: dict[str, str]
    ready: bool
    restarts: int = 0
    events: list[str] = field(default_factory=list)


def loop() -> int:
    """The fixed work: make objects, index, change, render, sort and parse them; about as much memory as a world."""
    total = 0
    for round_ in range(20):
        parts = [
            _Part(f"service-{n % 20}-{n:04x}", {"app": f"service-{n % 20}", "tier": str(n % 3)}, n % 7 != 0)
            for n in range(600)
        ]
        by_app: dict[str, list[_Part]] = {}
        for part in parts:
            by_app.setdefault(part.labels["app"], []).append(part)
        for app, members in sorted(by_app.items()):
            for part in members:
                if not part.ready and app.endswith(("1", "2", "3")):
                    part.restarts += round_ + 1
                    part.events.append(f"Back-off restarting {part.name}")
        documents = {
            part.name: {
                "metadata": {"name": part.name, "labels": dict(part.labels)},
                "status": {"ready": part.ready, "restarts": part.restarts, "conditions": [*part.events]},
            }
            for part in parts
        }
        changed = {key: {**value, "kind": "Part"} for key, value in documents.items()}
        lines = [f"{name:<24}{_phase(document):<12}{len(document):>3}" for name, document in changed.items()]
        for line in sorted(lines, reverse=True):
            name, phase, _ = line.split()
            total += len(name.rpartition("-")[2]) + (phase == "Running") * len(line)
        total += sum(part.restarts for part in parts)
    return total


def _phase(document: dict[str, object]) -> str:
    status = document["status"]
    assert isinstance(status, dict)
    return "Running" if status["ready"] and not status["conditions"] else "CrashLoop"


def timed_loop() -> float:
    """Milliseconds of processor time that the loop takes now."""
    was_enabled = gc.isenabled()
    gc.disable()  # a collection would count what the measured code has on the heap
    try:
        began = process_time()
        loop()
        return (process_time() - began) * 1000
    finally:
        if was_enabled:
            gc.enable()


def interleaved(
    samples: Iterator[float],
    *,
    clock: Callable[[], float] = process_time,
    loop_ms: Callable[[], float] = timed_loop,
) -> tuple[list[float], float]:
    """The samples, and the median milliseconds of the loop timed before, between and after them."""
    taken: list[float] = []
    loops = [loop_ms() for _ in range(AROUND)]
    last = clock()
    for sample in samples:
        taken.append(sample)
        if clock() - last > EVERY:
            loops.append(loop_ms())
            last = clock()
    loops += [loop_ms() for _ in range(AROUND)]
    return taken, median(loops)
