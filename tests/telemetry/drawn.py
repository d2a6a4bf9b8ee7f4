"""The series that recordings of a real Prometheus were made with, drawn anew in the same way every time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from random import Random

import numpy as np

from sregym_env.telemetry.gotext import plain
from sregym_env.telemetry.labels import NAME, Labels, labels_of
from sregym_env.telemetry.series import STALE, MemorySource, Series, Times

BEGIN = 1_700_000_000_000
"""The first instant, in milliseconds."""
LENGTH = 7_200_000
"""Two hours."""
END = BEGIN + LENGTH


def series() -> list[Series]:
    """All of them."""
    return list(_Draw(Random(20_240_229)).everything())


def stale_series() -> list[Series]:
    """Half an hour of series that come and go, with stale markers, which imported blocks cannot hold."""
    return list(_Draw(Random(1_905)).stale())


def source() -> MemorySource:
    """A source of them."""
    return MemorySource(series())


def open_metrics(drawn: Iterable[Series]) -> Iterator[str]:
    """The series as OpenMetrics, line by line."""
    for each in drawn:
        pairs = dict(each.labels)
        name = pairs.pop(NAME)
        inside = ",".join(f'{key}="{_escaped(value)}"' for key, value in pairs.items())
        metric = f"{name}{{{inside}}}" if inside else name
        for instant, value in zip(each.timestamps.tolist(), each.values.tolist(), strict=True):
            yield f"{metric} {plain(value)} {instant // 1000}.{instant % 1000:03d}\n"
    yield "# EOF\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


class _Draw:
    def __init__(self, random: Random) -> None:
        self._random = random

    def everything(self) -> Iterator[Series]:
        for number, instance in enumerate(("a:80", "b:80", "c:81")):
            for job in ("api", "web"):
                times = self._times(
                    15_000, jitter=0 if job == "web" else 4, missing=(0.0, 0.02, 0.15)[number]
                )
                yield from self._server(job, instance, times)
        yield from self._kubernetes()
        yield from self._gauges()
        yield from self._odd()

    def _times(
        self, step: int, jitter: int = 0, missing: float = 0.0, first: int = 0, last: int = LENGTH
    ) -> Times:
        offset = self._random.randrange(step)
        times = [
            BEGIN + at + offset + self._random.randint(-jitter, jitter)
            for at in range(first, last - offset, step)
            if self._random.random() >= missing
        ]
        return np.array(times, dtype=np.int64)

    def _series(self, name: str, times: Times, values: Iterable[float], **labels: str) -> Series:
        labelled: Labels = labels_of({NAME: name, **labels})
        return Series(labelled, times, np.array(list(values), dtype=np.float64))

    def _counter(self, times: Times, rate: float, resets: float = 0.004, whole: bool = True) -> list[float]:
        value = float(self._random.randrange(100_000)) if self._random.random() < 0.7 else 0.0
        out = []
        for _ in times:
            if self._random.random() < resets:
                value = 0.0
            step = self._random.random() * 2 * rate
            value += float(round(step)) if whole else round(step, 6)
            out.append(value)
        return out

    def stale(self) -> Iterator[Series]:
        shared = self._times(15_000, last=1_800_000)
        for number in range(4):
            values = self._counter(shared, 5.0, 0.02)
            ended = [STALE if self._random.random() < 0.15 else value for value in values]
            yield self._series(
                "flapping_total", shared, ended, pod=f"p{number}", job="a" if number % 2 else "b"
            )
        for number in range(3):
            own = self._times(60_000, jitter=5, missing=0.1, last=1_800_000)
            cut = 5 + 7 * number
            values = [float(at) for at in range(len(own))]
            values[cut : cut + 3] = [STALE, STALE, values[cut + 2]]
            yield self._series("gauge", own, values, pod=f"p{number}")
        yield self._series("over", shared[:20], [*range(19), STALE], pod="p0")
        yield self._series("steady", shared, [float(at % 5) for at in range(len(shared))], pod="p0")

    def _server(self, job: str, instance: str, times: Times) -> Iterator[Series]:
        yield self._series(
            "up", times, [float(self._random.random() < 0.97) for _ in times], job=job, instance=instance
        )
        for method in ("GET", "POST"):
            for code in ("200", "404", "500"):
                rate = {"200": 90.0, "404": 4.0, "500": 0.3}[code]
                values = self._counter(times, rate)
                labels = {"job": job, "instance": instance, "method": method, "code": code}
                yield self._series("http_requests_total", times, values, **labels)
        cpu = self._counter(times, 2.5, whole=False)
        yield self._series("process_cpu_seconds_total", times, cpu, job=job, instance=instance)
        bounds = ["0.005", "0.01", "0.05", "0.1", "0.5", "1", "5", "+Inf"]
        counts = [0.0] * len(bounds)
        rows = []
        for _ in times:
            if self._random.random() < 0.003:
                counts = [0.0] * len(bounds)
            seen = 0.0
            for at in range(len(bounds)):
                seen += self._random.randrange(6)
                counts[at] += seen
            rows.append(list(counts))
        for at, bound in enumerate(bounds):
            column = [row[at] for row in rows]
            yield self._series("request_seconds_bucket", times, column, job=job, instance=instance, le=bound)
        yield self._series(
            "request_seconds_count", times, [row[-1] for row in rows], job=job, instance=instance
        )
        total = [round(row[-1] * 0.21 + row[0] * 0.01, 6) for row in rows]
        yield self._series("request_seconds_sum", times, total, job=job, instance=instance)

    def _kubernetes(self) -> Iterator[Series]:
        times = self._times(60_000)
        nodes = ("node-1", "node-2")
        for number in range(8):
            namespace = "shop" if number % 2 else "hotel"
            labels = {"namespace": namespace, "pod": f"pod-{number}"}
            lifetime = times[: 40 + 10 * number]
            yield self._series(
                "kube_pod_info", lifetime, [1.0] * len(lifetime), node=nodes[number % 2], **labels
            )
            phases = [self._random.choice(("Running",) * 9 + ("Pending",)) for _ in lifetime]
            for phase in ("Running", "Pending", "Failed"):
                column = [float(each == phase) for each in phases]
                yield self._series("kube_pod_status_phase", lifetime, column, phase=phase, **labels)
            restarts, out = 0.0, []
            for _ in lifetime:
                restarts += self._random.random() < 0.05
                out.append(restarts)
            yield self._series(
                "kube_pod_container_status_restarts_total", lifetime, out, container="main", **labels
            )
            limit = float(self._random.choice((64, 128, 256)) * 2**20)
            yield self._series("container_memory_limit_bytes", lifetime, [limit] * len(lifetime), **labels)
            used = [float(self._random.randrange(10**6, int(limit))) for _ in lifetime]
            yield self._series("container_memory_bytes", lifetime, used, container="main", **labels)

    def _gauges(self) -> Iterator[Series]:
        for room in ("attic", "cellar", "hall", "kitchen"):
            times = self._times(30_000, jitter=900, missing=0.05)
            level = self._random.uniform(-10, 30)
            values = []
            for _ in times:
                level += self._random.uniform(-1, 1)
                values.append(round(level, 3))
            yield self._series("temperature_celsius", times, values, room=room)
        times = self._times(15_000)
        ramp = [round(1000 - (at - BEGIN) / 9_000 + self._random.uniform(-3, 3), 2) for at in times.tolist()]
        yield self._series("disk_free", times, ramp, device="sda")
        yield self._series(
            "disk_free", times, [round(1000 + at * 0.5, 1) for at in range(len(times))], device="sdb"
        )
        for at in range(6):
            yield self._series("tied", times, [float(at // 2)] * len(times), host=f"h{at}")
        stamps = [float(at // 1000 - 86_400 * 40) for at in times.tolist()]
        yield self._series("boot_time_seconds", times, stamps, host="h0")

    def _odd(self) -> Iterator[Series]:
        times = self._times(15_000)
        n = len(times)
        odd = "odd"
        yield self._series(odd, times, [math.nan] * n, kind="nan")
        yield self._series(odd, times, [math.inf] * n, kind="inf")
        yield self._series(odd, times, [-math.inf] * n, kind="neginf")
        yield self._series(odd, times, [1.7e308] * n, kind="big")
        yield self._series(odd, times, [5e-324] * n, kind="tiny")
        yield self._series(odd, times, [-0.0] * n, kind="negzero")
        yield self._series(odd, times, [math.nan if at % 3 else float(at) for at in range(n)], kind="holes")
        yield self._series(
            odd, times, [math.inf if at % 5 == 2 else float(at % 7) for at in range(n)], kind="spikes"
        )
        yield self._series(odd, times, [1e16 if at % 2 else -1e16 + at for at in range(n)], kind="cancel")
        slow = self._times(400_000)
        yield self._series("sparse", slow, [float(at * at) for at in range(len(slow))], kind="slow")
        yield self._series(
            "lonely", self._times(15_000, first=3_600_000, last=3_615_000 + 15_000)[:1], [42.5], kind="once"
        )
        early = self._times(15_000, last=2_000_000)
        yield self._series("gone", early, [float(at) for at in range(len(early))], kind="early")
        late = self._times(15_000, first=5_000_000)
        yield self._series("late_total", late, self._counter(late, 5.0, 0.0), kind="late")
        yield self._series("texts", times, [1.0] * n, path='/a b/"c"\\d\n', city="Zürich", emoji="🚀")
        yield self._series("texts", times, [2.0] * n, path="/api/v1/items/7", city="Genève")
        yield self._series("texts", times, [3.0] * n, path="/api/v2/users/12", city="Bern", src="x", dst="y")
        for le, value in (("1", 5.0), ("2", 9.0), ("4", 12.0)):
            yield self._series("bad_bucket", times, [value] * n, le=le, kind="no_inf")
        for le, value in (("1", 5.0), ("2", 3.0), ("4", 12.0), ("+Inf", 11.0)):
            yield self._series("bad_bucket", times, [value] * n, le=le, kind="falling")
        for le, value in (("1", 5.0), ("1.0", 4.0), ("oops", 3.0), ("+Inf", 12.0)):
            yield self._series("bad_bucket", times, [value] * n, le=le, kind="mixed")
        yield self._series("bad_bucket", times, [4.0] * n, le="+Inf", kind="only_inf")
        for le, value in (("-2", 1.0), ("-1", 4.0), ("0", 6.0), ("3", 9.0), ("+Inf", 10.0)):
            yield self._series("bad_bucket", times, [value] * n, le=le, kind="negative")
        for le in ("1", "+Inf"):
            yield self._series("bad_bucket", times, [0.0] * n, le=le, kind="empty")
        yield self._series("bad_bucket", times, [7.0] * n, kind="no_le")
        for side, hosts in (("left", ("x", "y")), ("right", ("x", "y", "y2"))):
            for host in hosts:
                yield self._series(
                    side, times, [float(len(host) + n % 5)] * n, host=host[:1], extra=host, side=side
                )
