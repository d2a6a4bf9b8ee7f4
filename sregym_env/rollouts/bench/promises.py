"""What is promised, and how a measurement is judged: arithmetic alone, no clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any, Literal

from sregym_env.rollouts.bench.calibration import REFERENCE_MS

Unit = Literal["ms", "1/s", "s/s", "MB", "kB", "%", ""]
"""``ms``: less is better; ``1/s`` and ``s/s``: more is better; the rest does not depend on the machine, and less of
it is better."""

TOLERANCE = 0.05
"""The share by which medians must differ before two checkouts are said to differ."""


@dataclass(frozen=True, slots=True)
class Promise:
    """One line of the table; goal and floor hold on the reference machine."""

    name: str
    """The probe that takes its samples: promises in a row that share it share its samples."""
    text: str
    unit: Unit
    goal: float
    floor: float

    @property
    def more_is_better(self) -> bool:
        """Whether it is a rate."""
        return self.unit in ("1/s", "s/s")

    def reached(self, value: float, mark: float) -> bool:
        """Whether a value is as good as a mark."""
        return value >= mark if self.more_is_better else value <= mark

    def summary(self, samples: Sequence[float]) -> float:
        """Samples in the promise's unit: seconds become the median in ms, or what is done per second of them."""
        if self.unit == "ms":
            return median(samples) * 1000
        return 1 / mean(samples) if self.more_is_better else median(samples)

    def calibrated(self, measured: float, loop_ms: float) -> float:
        """What would have been measured on the reference machine."""
        speed = loop_ms / REFERENCE_MS
        if self.unit == "ms":
            return measured / speed
        return measured * speed if self.more_is_better else measured


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured for a promise, and how long the calibration loop took meanwhile."""

    promise: Promise
    measured: float
    """In the promise's unit, on this machine."""
    loop_ms: float

    @property
    def calibrated(self) -> float:
        """The same on the reference machine."""
        return self.promise.calibrated(self.measured, self.loop_ms)

    @property
    def verdict(self) -> str:
        """``meets goal``, ``above floor`` or ``below floor``, by the calibrated value."""
        if self.promise.reached(self.calibrated, self.promise.goal):
            return "meets goal"
        return "above floor" if self.promise.reached(self.calibrated, self.promise.floor) else "below floor"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "promise": self.promise.text,
            "measured": round(self.measured, 3),
            "loop_ms": round(self.loop_ms, 2),
            "calibrated": round(self.calibrated, 3),
            "unit": self.promise.unit,
            "goal": self.promise.goal,
            "floor": self.promise.floor,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """One promise measured alternately in two checkouts: calibrated values, one per round."""

    promise: Promise
    this: tuple[float, ...]
    that: tuple[float, ...]
    """Empty where that checkout cannot be measured."""
    failure: str = ""
    """Why one cannot."""

    @property
    def ratio(self) -> float:
        """The median of this checkout over the median of the other; below 1 is less."""
        other = median(self.that)
        return median(self.this) / other if other else float(median(self.this) == 0) or float("inf")

    @property
    def verdict(self) -> str:
        """``slower`` or ``faster`` (``worse`` or ``better`` for sizes) only where no round of one overlaps any
        round of the other and the medians differ by more than the tolerance; ``same`` otherwise."""
        if not self.this or not self.that:
            return "not compared"
        if abs(self.ratio - 1) <= TOLERANCE:
            return "same"
        good, bad = ("faster", "slower") if self.promise.unit in ("ms", "1/s", "s/s") else ("better", "worse")
        if max(self.this) < min(self.that):
            return bad if self.promise.more_is_better else good
        if min(self.this) > max(self.that):
            return good if self.promise.more_is_better else bad
        return "same"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        compared = bool(self.this and self.that)
        return {
            "promise": self.promise.text,
            "unit": self.promise.unit,
            "this": _spread(self.this) or self.failure,
            "that": _spread(self.that) or self.failure,
            "ratio": round(self.ratio, 3) if compared else None,
            "verdict": self.verdict,
        }


def _spread(values: Sequence[float]) -> str:
    """The median and, in brackets, the least and the greatest."""
    if not values:
        return ""
    return f"{median(values):.4g} ({min(values):.4g} to {max(values):.4g})"


PROMISES = (
    Promise("import", "import beyond gymnasium", "ms", 50, 150),
    Promise("first_deploy", "first deploy in a process", "ms", 100, 300),
    Promise(
        "first_base", "first base world in a process: deployed, and its past lived through", "ms", 100, 300
    ),
    Promise("kept_base", "the same, read from the folder in SREGYM_CACHE", "ms", 50, 200),
    Promise("reset", "reset of an unseen (problem, seed), over all faults", "ms", 15, 40),
    Promise("member", "reset of a further member of a group", "ms", 0.1, 1),
    Promise("read", "read action", "ms", 0.2, 2),
    Promise("mixed", "mixed diagnostic steps", "1/s", 5000, 2000),
    Promise("write", "write action with convergence", "ms", 2, 20),
    Promise("grading", "grading a mitigation, over all faults", "ms", 20, 60),
    Promise("episode", "a whole expert episode, over all faults", "ms", 50, 150),
    Promise("episode", "whole expert episodes per core", "1/s", 20, 7),
    Promise("share", "grading as a share of an expert episode, over all faults", "%", 50, 70),
    Promise("fork", "fork", "ms", 0.1, 1),
    Promise("simulated", "simulated seconds per second", "s/s", 10_000, 5_000),
    Promise("memory", "memory per idle environment", "MB", 1, 3),
    Promise("pickled", "an episode in its middle, pickled and compressed", "kB", 300, 1000),
    Promise("shop.deploy", "Astronomy Shop: first deploy in a process", "ms", 100, 300),
    Promise("shop.base", "Astronomy Shop: first base world in a process", "ms", 100, 300),
    Promise(
        "shop.reset", "Astronomy Shop: reset of an unseen (problem, seed), over all faults", "ms", 25, 60
    ),
    Promise("shop.fork", "Astronomy Shop: fork", "ms", 0.1, 0.2),
    Promise(
        "idle",
        "1,000 idle environments of all applications, each a world of its own, compact",
        "MB",
        500,
        3000,
    ),
    Promise("bases", "memory per kept base world (64 per application), of all applications", "MB", 5, 10),
    Promise("compact", "read action of a compact environment", "ms", 50, 100),
    Promise("signals.metrics", "Astronomy Shop: promql over fifteen minutes, of all services", "ms", 2, 5),
    Promise("signals.logs", "Astronomy Shop: kubectl logs --tail=100", "ms", 1, 2),
    Promise("signals.traces", "Astronomy Shop: one search for traces", "ms", 5, 10),
    Promise(
        "signals.month",
        "thirty days of a world in which one container crashes every five minutes",
        "ms",
        5_000,
        10_000,
    ),
    Promise("signals.history", "memory per hour of such a world's past", "MB", 1, 3),
    Promise("large.deploy", "50 machines: deploying 2,000 pods", "ms", 5000, 15_000),
    Promise("large.list", "50 machines: listing 2,000 pods", "ms", 20, 50),
    Promise("large.describe", "50 machines: describing one of them", "ms", 20, 50),
    Promise("served.list", "served: lists of 20 pods per second of its processor time", "1/s", 1000, 500),
    Promise("served.table", "served: the same list as a table", "1/s", 1000, 500),
    Promise("served.losses", "served: of 50 watches and 20 commands at once, incomplete", "", 0, 0),
)
