"""Measuring what the design promises: samples beside a calibration loop, goals, floors, another checkout."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import groupby

from sregym_env.rollouts.bench.calibration import interleaved
from sregym_env.rollouts.bench.probes import PROBES, Probe
from sregym_env.rollouts.bench.promises import PROMISES, Measurement, Promise


def measure(only: str = "") -> Iterator[Measurement]:
    """The promises of :func:`measurable`, in order."""
    for name, sharing in groupby(measurable(only), lambda promise: promise.name):
        samples, loop_ms = interleaved(_probe(name)())
        for promise in sharing:
            yield Measurement(promise, promise.summary(samples), loop_ms)


def measurable(only: str = "") -> tuple[Promise, ...]:
    """Those whose name contains ``only`` and that can be measured with what is installed: the server is an extra."""
    serves = find_spec("uvicorn") is not None
    return tuple(p for p in PROMISES if only in p.name and (serves or not p.name.startswith("served")))


def _probe(name: str) -> Probe:
    if name in PROBES:
        return PROBES[name]
    from sregym_env.rollouts.bench import served  # the server is an extra

    return served.PROBES[name]
