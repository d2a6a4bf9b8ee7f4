"""All logs of a world as promtail ships them: one stream for each run of a container, labelled as promtail labels them.

Lines are rendered when somebody reads them: the newest hundred of a million cost what a hundred cost. What is kept is
what Loki keeps: a day, and of each file the bytes that the kubelet has not rotated away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sregym_env.kube.types import Manifest
from sregym_env.runtime import effort
from sregym_env.runtime.clock import DAY
from sregym_env.sim.monitoring.past import past
from sregym_env.sim.world import SimWorld, wallclock
from sregym_env.sim.world.logs import ContainerLog, Shown
from sregym_env.telemetry.logql.labels import Labels, make_labels
from sregym_env.telemetry.logql.matching import all_match
from sregym_env.telemetry.logql.source import Entry, Stream, Volume
from sregym_env.telemetry.logql.syntax import Matcher

RETENTION = DAY
"""How long Loki keeps lines."""

NANO = 1000
"""Nanoseconds in a microsecond."""

MOST_LINES = 50_000
"""Lines of one stream that one question can reach, newest first."""

LINE_EFFORT = 8.0
"""What it costs to make a line (units of ``runtime/effort.py``)."""

STREAM_EFFORT = 5.0
"""What it costs to look at a stream (units of ``runtime/effort.py``)."""


@dataclass(frozen=True, slots=True)
class ContainerStream:
    """What one run of a container has written."""

    labels: Labels
    log: ContainerLog
    now: int
    """Microseconds."""
    shown: Shown | None = None
    """What the clock of the machine said at an instant, if that was ever wrong."""

    def entries(self, start: int, end: int, backward: bool = False) -> Iterator[Entry]:
        """Entries of a range, oldest first or newest first."""
        newest = self._newest_first(start, end)
        return newest if backward else iter(list(newest)[::-1])

    def _newest_first(self, start: int, end: int) -> Iterator[Entry]:
        since = max(-(-start // NANO), self.now - RETENTION)
        until = min(-(-end // NANO), self.now + 1)
        for line in islice(self.log.before(until, since, self.shown), MOST_LINES):
            effort.note(LINE_EFFORT)
            yield line.time * NANO, line.text

    def volume(self, start: int, end: int) -> Volume:
        """How much there is of a range."""
        lines = size = 0
        for _, text in self._newest_first(start, end):
            lines += 1
            size += len(text.encode())
        return Volume(lines, size)


class WorldLogs:
    """The logs of a world as it is now (implements :class:`~sregym_env.telemetry.logql.source.LogSource`)."""

    __slots__ = ("_world",)

    def __init__(self, world: SimWorld) -> None:
        self._world = world

    def streams(self, matchers: Sequence[Matcher], start: int, end: int) -> Sequence[Stream]:
        """Streams that match and have entries of the range, by their labels."""
        world = self._world
        pods = self._pods(max(start // NANO, world.clock - RETENTION))
        found = []
        for (uid, container, restart), log in world.logs.items():
            pod = pods.get(uid)
            if pod is None:
                continue
            effort.spend(STREAM_EFFORT)
            labels = _labels(pod, container, restart)
            if not all_match(matchers, labels):
                continue
            stream = ContainerStream(
                make_labels(labels), log, world.clock, wallclock.reader(world, labels.get("node_name", ""))
            )
            if next(stream.entries(start, end, backward=True), None) is not None:
                found.append(stream)
        return sorted(found, key=lambda stream: stream.labels)

    def _pods(self, since: int) -> dict[str, Manifest]:
        """Every pod that was there at some time since then, by UID."""
        found: dict[str, Manifest] = {}
        for versions in past(self._world, since).objects("pods"):
            for version in versions:
                found.setdefault(version.obj["metadata"].get("uid", ""), version.obj)
        return found


def _labels(pod: Manifest, container: str, restart: int) -> dict[str, str]:
    metadata = pod["metadata"]
    own = metadata.get("labels") or {}
    app = own.get("app.kubernetes.io/name") or own.get("app") or own.get("k8s-app") or _workload(metadata)
    namespace, name = metadata["namespace"], metadata["name"]
    labels = {
        "app": app,
        "container": container,
        "filename": f"/var/log/pods/{namespace}_{name}_{metadata.get('uid', '')}/{container}/{restart}.log",
        "job": f"{namespace}/{app}",
        "namespace": namespace,
        "node_name": pod["spec"].get("nodeName", ""),
        "pod": name,
    }
    return {key: value for key, value in labels.items() if value}


def _workload(metadata: Manifest) -> str:
    """The name of what made a pod, its hash left out, as promtail falls back to it."""
    for owner in metadata.get("ownerReferences") or ():
        if owner.get("controller"):
            name = str(owner["name"])
            suffix = (metadata.get("labels") or {}).get("pod-template-hash")
            return name.removesuffix(f"-{suffix}") if suffix else name
    return str(metadata["name"])
