"""Everything that Prometheus has scraped of a world, rendered when somebody asks: a source for the PromQL engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sregym_env.runtime.clock import DAY
from sregym_env.sim.monitoring import cadvisor, exporters, kube_state, node_exporter, span_metrics
from sregym_env.sim.monitoring.scrapes import MILLI, Family, Found, Question, series_of
from sregym_env.sim.world import SimWorld
from sregym_env.telemetry.labels import NAME, Labels
from sregym_env.telemetry.series import Matcher, Metadata, Series

RETENTION = 15 * DAY
"""``--storage.tsdb.retention.time``."""

FAMILIES: tuple[Family, ...] = (
    *kube_state.FAMILIES,
    *cadvisor.FAMILIES,
    *node_exporter.FAMILIES,
    *span_metrics.FAMILIES,
    *exporters.FAMILIES,
)
"""Every metric."""

BY_NAME: Mapping[str, Family] = {family.name: family for family in FAMILIES}

_METADATA: Mapping[str, Sequence[Metadata]] = {
    family.name: (Metadata(family.type, family.help),) for family in FAMILIES
}


class WorldSeries:
    """The series of a world as it is now (implements :class:`~sregym_env.telemetry.series.SeriesSource`).

    Make one for each query: it keeps what it has read of the world.
    """

    __slots__ = ("_found", "_world")

    def __init__(self, world: SimWorld) -> None:
        self._world = world
        self._found: Found = {}

    def select(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Iterator[Series]:
        """See :class:`~sregym_env.telemetry.series.SeriesSource`."""
        now = self._world.clock
        start = max(start_ms * MILLI, self._world.plan.born, now - RETENTION)
        end = min(end_ms * MILLI, now)
        if start > end:
            return
        question = Question(self._world, start, end, tuple(matchers), self._found)
        for family in _named(matchers):
            yield from series_of(question, family)

    def labels(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Iterable[Labels]:
        """See :class:`~sregym_env.telemetry.series.SeriesSource`."""
        # What there was at the end is enough to know the labels, and what went before costs the same again.
        return [series.labels for series in self.select(matchers, start_ms, end_ms)]

    def metadata(self) -> Mapping[str, Sequence[Metadata]]:
        """See :class:`~sregym_env.telemetry.series.SeriesSource`."""
        return _METADATA


def _named(matchers: Sequence[Matcher]) -> Iterable[Family]:
    """The metrics whose names fit."""
    conditions = [matcher for matcher in matchers if matcher.name == NAME]
    for matcher in conditions:
        if matcher.operator == "=":
            family = BY_NAME.get(matcher.value)
            return [] if family is None or not all(m.matches(family.name) for m in conditions) else [family]
    return [family for family in FAMILIES if all(matcher.matches(family.name) for matcher in conditions)]
