"""What the API server counts about itself, and ``/metrics``, which tells it in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})

BUCKETS = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""The shorter buckets of ``apiserver_request_duration_seconds``, in seconds."""

MAX_SERIES = 5000
"""Label sets kept per metric; clients choose some of the labels."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The labels under which a request is counted."""

    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    scope: str = ""
    dry_run: str = ""

    def labels(self) -> dict[str, str]:
        """Without ``dry_run``, which only the counter of requests has."""
        return {
            "component": "apiserver" if self.resource else "",
            "group": self.group,
            "resource": self.resource,
            "scope": self.scope,
            "subresource": self.subresource,
            "verb": self.verb,
            "version": self.version,
        }


@dataclass(slots=True)
class _Histogram:
    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0

    def observe(self, value: float) -> None:
        index = next((i for i, bound in enumerate(BUCKETS) if value <= bound), len(BUCKETS))
        self.counts[index] += 1
        self.total += value


@dataclass(slots=True)
class Counters:
    """The counters of one served cluster."""

    requests: dict[tuple[Measured, int], int] = field(default_factory=dict)
    durations: dict[Measured, _Histogram] = field(default_factory=dict)
    long_running: dict[Measured, int] = field(default_factory=dict)

    def count(self, measured: Measured, code: int, seconds: float) -> None:
        """Count an answered request."""
        key = (measured, code)
        if key not in self.requests and len(self.requests) >= MAX_SERIES:
            return
        self.requests[key] = self.requests.get(key, 0) + 1
        histogram = self.durations.get(measured)
        if histogram is None:
            histogram = self.durations[measured] = _Histogram()
        histogram.observe(seconds)

    def begin(self, measured: Measured) -> None:
        """Count a watch or a connection that lasts."""
        self.long_running[measured] = self.long_running.get(measured, 0) + 1

    def end(self, measured: Measured) -> None:
        """It is over."""
        self.long_running[measured] -= 1


def exposition(counters: Counters, objects: Mapping[str, int], version: Mapping[str, str]) -> str:
    """``/metrics``: requests, durations, what lasts, and how many objects are stored by resource."""
    lines: list[str] = []
    _requests(lines, counters)
    _durations(lines, counters)
    _head(lines, "apiserver_longrunning_requests", "gauge", _LONG_RUNNING)
    for measured, number in counters.long_running.items():
        lines.append(_sample("apiserver_longrunning_requests", measured.labels(), number))
    _head(lines, "apiserver_storage_objects", "gauge", _OBJECTS)
    for resource, number in objects.items():
        lines.append(_sample("apiserver_storage_objects", {"resource": resource}, number))
    names = {"git_commit": "gitCommit", "git_tree_state": "gitTreeState", "git_version": "gitVersion"}
    names |= {"build_date": "buildDate", "compiler": "compiler", "go_version": "goVersion"}
    names |= {"major": "major", "minor": "minor", "platform": "platform"}
    _head(lines, "kubernetes_build_info", "gauge", _BUILD)
    labels = {label: version[key] for label, key in sorted(names.items())}
    lines.append(_sample("kubernetes_build_info", labels, 1))
    return "\n".join(lines) + "\n"


_REQUESTS = (
    "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, "
    "scope, component, and HTTP response code."
)
_DURATIONS = (
    "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, "
    "subresource, scope and component."
)
_LONG_RUNNING = (
    "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, "
    "scope and component. Not all requests are tracked this way."
)
_OBJECTS = (
    "[STABLE] Number of stored objects at the time of last check split by kind. In case of a fetching error, the "
    "value will be -1."
)
_BUILD = (
    "[ALPHA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, "
    "build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running."
)


def _requests(lines: list[str], counters: Counters) -> None:
    _head(lines, "apiserver_request_total", "counter", _REQUESTS)
    for (measured, code), number in counters.requests.items():
        labels = {"code": str(code), "dry_run": measured.dry_run, **measured.labels()}
        lines.append(_sample("apiserver_request_total", dict(sorted(labels.items())), number))


def _durations(lines: list[str], counters: Counters) -> None:
    name = "apiserver_request_duration_seconds"
    _head(lines, name, "histogram", _DURATIONS)
    for measured, histogram in counters.durations.items():
        labels = dict(sorted({"dry_run": measured.dry_run, **measured.labels()}.items()))
        reached = 0
        for bound, number in zip((*BUCKETS, "+Inf"), histogram.counts, strict=True):
            reached += number
            edge = bound if isinstance(bound, str) else f"{bound:g}"
            lines.append(_sample(f"{name}_bucket", {**labels, "le": edge}, reached))
        lines.append(_sample(f"{name}_sum", labels, histogram.total))
        lines.append(_sample(f"{name}_count", labels, reached))


def _head(lines: list[str], name: str, kind: str, text: str) -> None:
    lines += (f"# HELP {name} {text}", f"# TYPE {name} {kind}")


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    return f"{name}{{{','.join(_pairs(labels))}}} {value:g}" if labels else f"{name} {value:g}"


def _pairs(labels: Mapping[str, str]) -> Iterable[str]:
    return (f'{key}="{value.translate(_ESCAPES)}"' for key, value in labels.items())
