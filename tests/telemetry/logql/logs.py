"""Logs to ask about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sregym_env.telemetry.logql.labels import Labels, make_labels
from sregym_env.telemetry.logql.matching import all_match
from sregym_env.telemetry.logql.source import Entry, StoredLogs, Volume
from sregym_env.telemetry.logql.syntax import Matcher

SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND
"""2023-11-14T22:13:20Z"""


def at(seconds: float) -> int:
    """Nanoseconds of an instant so many seconds after the start."""
    return START + round(seconds * SECOND)


def shop() -> StoredLogs:
    """Two pods of a web server that log JSON twice a second, and a database that logs logfmt every ten seconds."""
    streams: list[tuple[dict[str, str], list[Entry]]] = []
    for pod in (1, 2):
        entries = [
            (
                at(i / 2 + pod / 10),
                f'{{"level":"{"error" if i % 10 == 0 else "info"}","took":"{i % 5 + pod}ms","id":{i}}}',
            )
            for i in range(600)
        ]
        streams.append(({"app": "web", "pod": f"web-{pod}", "namespace": "shop"}, entries))
    database = [(at(10 * i), f"level=info n={i} size={i}kB") for i in range(30)]
    streams.append(({"app": "db", "pod": "db-0", "namespace": "shop"}, database))
    return StoredLogs(streams)


class Endless:
    """A stream with a line every second since the epoch, which counts the lines that it renders."""

    def __init__(self, labels: dict[str, str]) -> None:
        self._labels = make_labels(labels)
        self.rendered = 0

    @property
    def labels(self) -> Labels:
        return self._labels

    def entries(self, start: int, end: int, backward: bool = False) -> Iterator[Entry]:
        seconds = range(-(-start // SECOND), -(-end // SECOND))
        for second in reversed(seconds) if backward else seconds:
            self.rendered += 1
            yield second * SECOND, f"level={'error' if second % 60 == 0 else 'info'} second={second}"

    def volume(self, start: int, end: int) -> Volume:
        lines = max(0, (end - start) // SECOND)
        return Volume(lines, 30 * lines)


class EndlessLogs:
    """A source of streams of which each has hundreds of thousands of lines in any week."""

    def __init__(self, count: int = 2) -> None:
        self.all = [Endless({"app": "web", "pod": f"web-{i}"}) for i in range(count)]

    def streams(self, matchers: Sequence[Matcher], start: int, end: int) -> Sequence[Endless]:
        return [stream for stream in self.all if all_match(matchers, dict(stream.labels))]

    @property
    def rendered(self) -> int:
        """Lines that have been rendered so far."""
        return sum(stream.rendered for stream in self.all)
