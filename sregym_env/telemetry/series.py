"""What an engine asks of whoever has time series.

Instants are integers: milliseconds since the Unix epoch, UTC, as in Prometheus. Values are floats. A series that
was scraped before and is gone ends with the stale marker, a NaN with bits of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np
import re2
from numpy.typing import NDArray

from sregym_env.runtime import effort
from sregym_env.telemetry.labels import Labels, value_of

Times = NDArray[np.int64]
Values = NDArray[np.float64]

STALE_BITS = 0x7FF0000000000002
"""The bits of the stale marker (``value.StaleNaN`` of Prometheus)."""

STALE: float = float(np.array([STALE_BITS], dtype=np.uint64).view(np.float64)[0])
"""The stale marker. Compare bits (:func:`is_stale`), for it is a NaN."""


def is_stale(values: Values) -> NDArray[np.bool_]:
    """Where the values are stale markers."""
    return np.asarray(np.ascontiguousarray(values).view(np.uint64) == STALE_BITS)


class PatternError(ValueError):
    """A regular expression that RE2 refuses; ``str()`` is Go's text."""


_SAID = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "trailing \\": "trailing backslash at end of expression",
    "unexpected )": "unexpected )",
    "invalid named capture group": "invalid named capture",
}
"""What RE2 in C++ says, and what Go says of the same."""


_MEMORY = 4 << 20
"""Bytes that one expression may use."""


@lru_cache(maxsize=64)
def compiled(pattern: str, capturing: bool = True) -> Any:
    """An anchored expression, as Prometheus compiles it. Raises :class:`PatternError`.

    One that is not ``capturing`` tells whether it matches, and nothing of its groups: with many of them RE2 needs
    seconds for these, and microseconds without.
    """
    if not capturing:
        compiled(pattern)
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    options.never_capture = not capturing
    try:
        return re2.compile(f"^(?:{pattern})$", options)
    except re2.error as error:
        said = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        kind, _, part = said.partition(": ")
        if kind.startswith("missing ") and kind.endswith(")"):
            part = f"^(?:{pattern})$"
        raise PatternError(f"error parsing regexp: {_SAID.get(kind, kind)}: `{part}`") from None


HEAVY = 100_000
"""Instructions times groups from which on an expression's groups are not looked for."""


def weight(expression: Any) -> int:
    """What it costs to find an expression's groups, per character: its instructions times its groups."""
    return int(expression.programsize) * (int(expression.groups) + 1)


_PLAIN = re.compile(r"[A-Za-z0-9_:|-]+")
"""Patterns that are a choice of words and nothing else."""

_TEST = 0.4
"""Units of effort that one label's test costs."""

Operator = Literal["=", "!=", "=~", "!~"]


@dataclass(frozen=True, slots=True)
class Matcher:
    """A condition on one label; a label that is not there is empty."""

    operator: Operator
    name: str
    value: str

    def matches(self, value: str) -> bool:
        """Whether a label's value fits. Raises :class:`PatternError` for a pattern that was never checked."""
        return self.test()(value)

    def test(self) -> Callable[[str], bool]:
        """The same, made ready for many values."""
        wanted = self.value
        if self.operator == "=":
            return lambda value: value == wanted
        if self.operator == "!=":
            return lambda value: value != wanted
        positive = self.operator == "=~"
        if _PLAIN.fullmatch(wanted):
            names = frozenset(wanted.split("|"))
            return lambda value: (value in names) is positive
        match = compiled(wanted, capturing=False).match
        return lambda value: (match(value) is not None) is positive


def fitting(matchers: Iterable[Matcher]) -> Callable[[Labels], bool]:
    """A test whether a label set fits every matcher. What it costs is counted as effort."""
    tests = [(matcher.name, matcher.test()) for matcher in dict.fromkeys(matchers)]
    cost = _TEST * len(tests)

    def fits(labels: Labels) -> bool:
        effort.spend(cost)
        return all(test(value_of(labels, name)) for name, test in tests)

    return fits


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """A series' samples in a stretch of time.

    Series that share one ``timestamps`` array (those of one scraped target) are worked on together, so sources
    should share it.
    """

    labels: Labels
    timestamps: Times
    """int64 milliseconds, increasing."""
    values: Values
    """float64, as many."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a target's exposition says of a metric."""

    type: str
    help: str
    unit: str = ""


class SeriesSource(Protocol):
    """Something that has time series and renders them when they are asked for."""

    def select(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Iterable[Series]:
        """The series that fit all matchers, with their samples in ``[start_ms, end_ms]``.

        Series without a sample there may be left out. Any order will do.
        """
        ...

    def labels(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Iterable[Labels]:
        """The label sets of the series that fit and have samples in ``[start_ms, end_ms]``."""
        ...

    def metadata(self) -> Mapping[str, Sequence[Metadata]]:
        """What is known of every metric."""
        ...


class MemorySource:
    """Series that are all there already: for tests and recordings."""

    def __init__(
        self, series: Iterable[Series], metadata: Mapping[str, Sequence[Metadata]] | None = None
    ) -> None:
        """Hold the series, each label set once."""
        self._series = sorted(series, key=lambda each: each.labels)
        self._metadata = dict(metadata or {})
        self._with: dict[tuple[str, str], list[Series]] = {}
        for each in self._series:
            for pair in each.labels:
                self._with.setdefault(pair, []).append(each)

    def select(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Iterable[Series]:
        """See :class:`SeriesSource`."""
        cut: dict[int, tuple[Times, int, int]] = {}
        for each in self._fitting(matchers):
            found = cut.get(id(each.timestamps))
            if found is None:
                times = each.timestamps
                low = int(np.searchsorted(times, start_ms, "left"))
                high = int(np.searchsorted(times, end_ms, "right"))
                found = cut[id(times)] = (times[low:high], low, high)
            times, low, high = found
            if high - low == len(each.timestamps):
                yield each
            elif high > low:
                yield Series(each.labels, times, each.values[low:high])

    def _fitting(self, matchers: Sequence[Matcher]) -> list[Series]:
        """The series that fit: the fewest that have one of the wanted labels, sifted by the other matchers."""
        sure = [each for each in matchers if each.operator == "=" and each.value]
        if not sure:
            fits = fitting(matchers)
            return [each for each in self._series if fits(each.labels)]
        candidates = [self._with.get((each.name, each.value), []) for each in sure]
        fewest = min(range(len(sure)), key=lambda at: len(candidates[at]))
        rest = [each for each in matchers if each is not sure[fewest]]
        if not rest:
            return candidates[fewest]
        fits = fitting(rest)
        return [each for each in candidates[fewest] if fits(each.labels)]

    def labels(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Iterable[Labels]:
        """See :class:`SeriesSource`."""
        return [each.labels for each in self.select(matchers, start_ms, end_ms)]

    def metadata(self) -> Mapping[str, Sequence[Metadata]]:
        """See :class:`SeriesSource`."""
        return self._metadata
