"""What a query may cost."""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.runtime import effort
from sregym_env.telemetry.promql.errors import QueryTimeout, TooManySamples

SERIES = 1.5
"""Units of work that a selected series costs, in microseconds of the reference machine."""
CELL = 0.03
"""Units that a value at a step, or a sample in a window, costs where arrays are worked on at once."""
WALKED = 0.1
"""Units that a sample in a window costs: functions that add up go through samples one after another."""
STEP = 2.0
"""Units that a value costs where it is worked on by itself."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one query."""

    samples: int = 5_000_000
    """Samples that a query may hold (``--query.max-samples``, which is ten times as many by default)."""
    work: float = 600_000.0
    """Units of :mod:`sregym_env.runtime.effort`, about microseconds. What ``--query.timeout`` is in Prometheus."""
    points: int = 11_000
    """Steps of a range query."""


class Budget:
    """What is left for one query. All work is also noted as the effort of the action it is done for."""

    __slots__ = ("_limits", "_samples", "_work")

    def __init__(self, limits: Limits) -> None:
        """Begin with the whole."""
        self._limits = limits
        self._samples = 0
        self._work = 0.0

    def hold(self, samples: int) -> None:
        """Count samples that are held. Raises TooManySamples."""
        self._samples += samples
        if self._samples > self._limits.samples:
            raise TooManySamples

    def spend(self, units: float) -> None:
        """Count work. Raises QueryTimeout."""
        self._work += units
        if self._work > self._limits.work:
            raise QueryTimeout("query timed out in expression evaluation")
        effort.spend(units)
