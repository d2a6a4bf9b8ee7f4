"""Log queries: which lines, in which order, with which labels."""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.telemetry.logql.labels import Labels
from sregym_env.telemetry.logql.pipeline import Pipeline
from sregym_env.telemetry.logql.scan import Scan, choose, merged
from sregym_env.telemetry.logql.source import Entry, LogSource
from sregym_env.telemetry.logql.syntax import Selector


@dataclass(frozen=True, slots=True)
class FoundStream:
    """Lines that share their labels once the pipeline is through, in the order of the query."""

    labels: Labels
    entries: list[Entry]


def select(
    source: LogSource, query: Selector, start: int, end: int, limit: int, backward: bool, now: int, scan: Scan
) -> list[FoundStream]:
    """Up to ``limit`` lines of ``start <= time < end``, the newest for ``backward``, grouped by their labels.

    Times are nanoseconds; ``now`` is what the templates' clock shows. Raises QueryError.
    """
    pipeline = Pipeline(query.stages, now)
    chosen = choose(source, query.matchers, start, end)
    stages = 0 if pipeline.plain else len(query.stages)
    found: dict[Labels, list[Entry]] = {}
    if not chosen or limit <= 0:
        return []
    entries = merged(
        chosen, lambda stream: scan.counted(stream.entries(start, end, backward), stages), backward
    )
    process, left = pipeline.process, limit
    for each, time, line in entries:
        kept = process(time, line, each.labels, each.base)
        if kept is None:
            continue
        line, labels = kept
        if labels in found:
            scan.holds(line)
            found[labels].append((time, line))
        else:
            scan.holds(line, labels)
            found[labels] = [(time, line)]
        left -= 1
        if not left:
            break
    scan.kept += limit - left
    return [FoundStream(labels, found[labels]) for labels in sorted(found)]
