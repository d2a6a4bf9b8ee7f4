"""cAdvisor: what every kubelet says of the containers on its machine.

The labels are those that users ask for: namespace, pod, container and image, the machine as ``instance`` and ``node``.
What a container's run has used begins at nothing, so a restart shows as a reset of its counters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sregym_env.kube import quantity
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.containers import pids
from sregym_env.sim.monitoring import node_exporter
from sregym_env.sim.monitoring.machines_up import node_targets, nodes, reachable
from sregym_env.sim.monitoring.readings import CFS_PERIOD, Run, Times, Values
from sregym_env.sim.monitoring.scrapes import Family, Job, Question, Row, Target, shaken, steady
from sregym_env.sim.programs.devices import PACKET_BYTES

JOB = Job("kubernetes-cadvisor")

CPU_NOISE = 0.8
"""Seconds of its CPU use by which a counter's reading may be early or late: housekeeping reads it now and then."""
MEMORY_NOISE = 0.01
PAGE_CACHE = 3 << 20
"""Assumed bytes of files that a container has in memory beside its own."""
REQUEST_BYTES, ANSWER_BYTES = 620.0, 980.0
"""Assumed size of a request and its answer on the wire, with the packets that acknowledge them."""
IDLE_BYTES = 46.0
"""What a pod that nobody asks anything sends and receives a second: probes, DNS, keep-alives."""

Reading = Callable[[Question, Run, Times], Values]


def _labels(run: Run) -> dict[str, str]:
    process = run.process
    return {
        "namespace": process.namespace,
        "pod": process.pod,
        "container": process.container,
        "image": process.image,
    }


def _on(question: Question, target: Target) -> list[list[Run]]:
    """The runs of the containers on a machine, those of one container together, oldest first."""

    def grouped() -> dict[str, list[list[Run]]]:
        found: dict[str, dict[tuple[str, str], list[Run]]] = {}
        for run in question.readings.runs:
            process = run.process
            if run.ended <= question.start:
                continue
            found.setdefault(process.node, {}).setdefault(process.key, []).append(run)
        return {node: list(runs.values()) for node, runs in found.items()}

    return question.once("runs", grouped).get(target.instance, [])


def _of_containers(
    read: Reading, extra: dict[str, str], question: Question, target: Target, times: Times
) -> Iterator[Row]:
    there = reachable(question, target.instance, times)
    for runs in _on(question, target):
        labels = {**_labels(runs[-1]), **extra}
        if not all(question.wants(name, value) for name, value in labels.items()):
            continue
        yield _joined(read, labels, question, runs, times, there)


def _joined(
    read: Reading,
    labels: dict[str, str],
    question: Question,
    runs: list[Run],
    times: Times,
    there: NDArray[np.bool_],
) -> Row:
    values = np.zeros(len(times))
    present = np.zeros(len(times), dtype=np.bool_)
    for run in runs:
        alive = run.alive(times)
        if alive.all():
            values = read(question, run, times)
            present = alive
        elif alive.any():
            values[alive] = read(question, run, times[alive])
            present |= alive
    return labels, values, present & there


# --- CPU --------------------------------------------------------------------------------------------------


def _cpu(question: Question, run: Run, times: Times) -> Values:
    used = question.readings.cpu_seconds(run, times)
    if len(times) < 1:
        return used
    process = run.process
    age = np.maximum((times - process.started_at) / SECOND, 0.001)
    mean = used / age
    noisy = used + mean * CPU_NOISE * shaken(times, "cpu", *process.key, process.restart)
    return np.maximum.accumulate(np.maximum(noisy, 0.0))


def _periods(question: Question, run: Run, times: Times) -> Values:
    return np.floor(question.readings.periods(run, times))


def _throttled(question: Question, run: Run, times: Times) -> Values:
    return np.floor(question.readings.throttled(run, times))


def _throttled_seconds(question: Question, run: Run, times: Times) -> Values:
    # A period that is held back loses half of itself on average.
    return question.readings.throttled(run, times) * CFS_PERIOD / 2


def _limited_only(read: Reading, question: Question, target: Target, times: Times) -> Iterator[Row]:
    """Of containers with a limit: the kernel counts no periods without one."""
    there = reachable(question, target.instance, times)
    for runs in _on(question, target):
        labels = _labels(runs[-1])
        if runs[-1].process.cpu_limit and question.wants_all(labels):
            yield _joined(read, labels, question, runs, times, there)


def _quota(question: Question, run: Run, times: Times) -> Values:
    return steady(times, round((run.process.cpu_limit or 0.0) * 100_000.0))


def _period(question: Question, run: Run, times: Times) -> Values:
    return steady(times, 100_000.0)


# --- memory -----------------------------------------------------------------------------------------------


def _rss(question: Question, run: Run, times: Times) -> Values:
    resident = question.readings.memory(run, times)
    noisy = resident * (1.0 + MEMORY_NOISE * shaken(times, "memory", *run.process.key))
    if run.process.memory_limit is not None:
        noisy = np.minimum(noisy, run.process.memory_limit)
    return np.floor(noisy / 4096) * 4096


def _working_set(question: Question, run: Run, times: Times) -> Values:
    found = _rss(question, run, times) + PAGE_CACHE / 3
    return np.floor(_limited(run, found) / 4096) * 4096


def _memory(question: Question, run: Run, times: Times) -> Values:
    return np.floor(_limited(run, _rss(question, run, times) + PAGE_CACHE) / 4096) * 4096


def _limited(run: Run, values: Values) -> Values:
    limit = run.process.memory_limit
    return values if limit is None else np.minimum(values, float(limit))


def _memory_limit(question: Question, run: Run, times: Times) -> Values:
    return steady(times, float(run.process.memory_limit or 0))


def _started(question: Question, run: Run, times: Times) -> Values:
    return steady(times, run.process.started_at // SECOND)


def _seen(question: Question, run: Run, times: Times) -> Values:
    return np.floor(times / SECOND)


def _processes(question: Question, run: Run, times: Times) -> Values:
    """Those that live: who has ended is in no list of a control group."""
    leak = pids.leak_of(question.world, run.process)
    return np.floor(1.0 + (_gathered(question, run, times) if leak is None or not leak.dead else 0.0 * times))


def _threads(question: Question, run: Run, times: Times) -> Values:
    return np.floor(pids.own(run.process) + _gathered(question, run, times))


def _gathered(question: Question, run: Run, times: Times) -> Values:
    process = run.process
    return node_exporter.gathered(question, "/".join((*process.key, str(process.restart))), times)


def _oom(question: Question, target: Target, times: Times) -> Iterator[Row]:
    """Kills that a container has survived: none, for what is counted goes with the control group of its run."""
    there = reachable(question, target.instance, times)
    for runs in _on(question, target):
        labels = _labels(runs[-1])
        if not all(question.wants(name, value) for name, value in labels.items()):
            continue
        alive = np.zeros(len(times), dtype=np.bool_)
        for run in runs:
            alive |= run.alive(times)
        yield labels, steady(times, 0.0), alive & there


# --- network ----------------------------------------------------------------------------------------------


def _network(
    asked: float, per: float, idle: float, question: Question, target: Target, times: Times
) -> Iterator[Row]:
    """Of pods that have a network of their own, all their containers together."""
    there = reachable(question, target.instance, times)
    pods: dict[str, list[Run]] = {}
    for runs in _on(question, target):
        for run in runs:
            if not run.process.host_network:
                pods.setdefault(run.process.key[0], []).append(run)
    for runs in pods.values():
        process = runs[-1].process
        labels = {"namespace": process.namespace, "pod": process.pod, "interface": "eth0"}
        if not all(question.wants(name, value) for name, value in labels.items()):
            continue
        born = min(run.process.started_at for run in runs)
        ended = max(run.ended for run in runs)
        alive = (times >= born) & (times < ended)
        if not alive.any():
            continue
        total = np.maximum((times - born) / SECOND, 0.0) * idle
        for run in runs:
            total = total + question.readings.requests(run, times) * asked
        yield labels, np.floor(np.maximum.accumulate(total) / per), alive & there


def _none(question: Question, target: Target, times: Times) -> Iterator[Row]:
    for labels, values, present in _network(0.0, 1.0, 0.0, question, target, times):
        yield labels, values * 0.0, present


# --- machines ---------------------------------------------------------------------------------------------


def _capacity(resource: str, question: Question, target: Target, times: Times) -> Iterator[Row]:
    versions = nodes(question).get(target.instance)
    if versions:
        text = str((versions[0].obj.get("status", {}).get("capacity") or {}).get(resource, "0"))
        value = quantity.cpu_cores(text) if resource == "cpu" else float(quantity.bytes_(text))
        yield {}, steady(times, value), reachable(question, target.instance, times)


def _targets(question: Question) -> Sequence[Target]:
    return node_targets(JOB, question)


def _family(
    name: str, type: str, help: str, rows: Callable[[Question, Target, Times], Iterator[Row]]
) -> Family:
    return Family(name, type, help, _targets, rows)


def _container(name: str, type: str, help: str, read: Reading, **extra: str) -> Family:
    return _family(name, type, help, partial(_of_containers, read, extra))


FAMILIES: tuple[Family, ...] = (
    _container("container_cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed in seconds.", _cpu, cpu="total"),
    _family("container_cpu_cfs_periods_total", "counter", "Number of elapsed enforcement period intervals.", partial(_limited_only, _periods)),
    _family("container_cpu_cfs_throttled_periods_total", "counter", "Number of throttled period intervals.", partial(_limited_only, _throttled)),
    _family("container_cpu_cfs_throttled_seconds_total", "counter", "Total time duration the container has been throttled.", partial(_limited_only, _throttled_seconds)),
    _family("container_spec_cpu_quota", "gauge", "CPU quota of the container.", partial(_limited_only, _quota)),
    _container("container_spec_cpu_period", "gauge", "CPU period of the container.", _period),
    _container("container_memory_working_set_bytes", "gauge", "Current working set in bytes.", _working_set),
    _container("container_memory_rss", "gauge", "Size of RSS in bytes.", _rss),
    _container("container_memory_usage_bytes", "gauge", "Current memory usage in bytes, including all memory regardless of when it was accessed", _memory),
    _container("container_spec_memory_limit_bytes", "gauge", "Memory limit for the container.", _memory_limit),
    _container("container_processes", "gauge", "Number of processes running inside the container.", _processes),
    _container("container_threads", "gauge", "Number of threads running inside the container", _threads),
    _container("container_start_time_seconds", "gauge", "Start time of the container since unix epoch in seconds.", _started),
    _container("container_last_seen", "gauge", "Last time a container was seen by the exporter", _seen),
    _family("container_oom_events_total", "counter", "Count of out of memory events observed for the container", _oom),
    _family("container_network_receive_bytes_total", "counter", "Cumulative count of bytes received", partial(_network, REQUEST_BYTES, 1.0, IDLE_BYTES)),
    _family("container_network_transmit_bytes_total", "counter", "Cumulative count of bytes transmitted", partial(_network, ANSWER_BYTES, 1.0, IDLE_BYTES)),
    _family("container_network_receive_packets_total", "counter", "Cumulative count of packets received", partial(_network, REQUEST_BYTES, PACKET_BYTES, IDLE_BYTES)),
    _family("container_network_transmit_packets_total", "counter", "Cumulative count of packets transmitted", partial(_network, ANSWER_BYTES, PACKET_BYTES, IDLE_BYTES)),
    _family("container_network_receive_errors_total", "counter", "Cumulative count of errors encountered while receiving", _none),
    _family("container_network_transmit_errors_total", "counter", "Cumulative count of errors encountered while transmitting", _none),
    _family("machine_cpu_cores", "gauge", "Number of logical CPU cores.", partial(_capacity, "cpu")),
    _family("machine_memory_bytes", "gauge", "Amount of memory installed on the machine.", partial(_capacity, "memory")),
)  # fmt: skip
"""What Prometheus gets of it."""
