"""node-exporter: what the machines themselves say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest

import numpy as np

from sregym_env.kube import quantity
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.containers import pids, spooling
from sregym_env.sim.monitoring.machines_up import node_targets, nodes, powered
from sregym_env.sim.monitoring.metrics import SYSTEM_CPU, SYSTEM_MEMORY
from sregym_env.sim.monitoring.readings import Times, Values
from sregym_env.sim.monitoring.scrapes import Family, Job, Question, Row, Target, shaken, steady
from sregym_env.sim.network import conntrack, resending
from sregym_env.sim.programs.machine import kubelet_unit, time_service
from sregym_env.sim.world import disks, wallclock
from sregym_env.sim.world.figures import FOR_USERS, disk_used, losing, read_only
from sregym_env.sim.world.kernels import build_of

JOB = Job("node-exporter")

_MODES = {"user": 0.62, "system": 0.31, "softirq": 0.04, "iowait": 0.03}
"""Assumed shares of a machine's CPU use."""

Read = Callable[[Question, str, Times], Iterator[tuple[Mapping[str, str], Values]]]


def _capacity(question: Question, node: str, resource: str) -> float:
    versions = nodes(question).get(node)
    text = (
        str((versions[0].obj.get("status", {}).get("capacity") or {}).get(resource, "0")) if versions else "0"
    )
    return quantity.cpu_cores(text) if resource == "cpu" else float(quantity.bytes_(text))


def _booted(question: Question, node: str) -> int:
    versions = nodes(question)[node]
    return versions[-1].start - kubelet_unit.FIRST_BOOT


def _seconds_used(question: Question, node: str, times: Times) -> Values:
    """Seconds of CPU that a machine has used since it was made: its daemons and all that runs on it now."""

    def total() -> Values:
        used = np.maximum((times - _booted(question, node)) / SECOND, 0.0) * SYSTEM_CPU
        for run in question.readings.runs:
            if run.process.node == node:
                used = used + question.readings.cpu_seconds(run, times)
        return np.maximum.accumulate(used)

    return question.once(f"cpu {node} {len(times)}", total)


def _cpu(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    cores = max(1, round(_capacity(question, node, "cpu")))
    used = _seconds_used(question, node, times) / cores
    up = np.maximum((times - _booted(question, node)) / SECOND, 0.0)
    for core in range(cores):
        for mode, share in _MODES.items():
            yield {"cpu": str(core), "mode": mode}, _hundredths(used * share)
        yield {"cpu": str(core), "mode": "idle"}, _hundredths(np.maximum(up - used, 0.0))


def _hundredths(values: Values) -> Values:
    """As the kernel counts: in hundredths of a second."""
    return np.floor(values * 100.0) / 100.0


def _load(
    minutes: int, question: Question, node: str, times: Times
) -> Iterator[tuple[Mapping[str, str], Values]]:
    before = times - minutes * 60 * SECOND
    total = np.zeros(len(times))
    for run in question.readings.runs:
        if run.process.node == node:
            used = question.readings.cpu_seconds(run, np.concatenate((before, times)))
            total = total + np.maximum(used[len(times) :] - used[: len(times)], 0.0)
    mean = total / (minutes * 60.0) + SYSTEM_CPU
    yield {}, np.round(mean * (1.0 + 0.05 * shaken(times, "load", node, minutes)), 2)


def _memory_used(question: Question, node: str, times: Times) -> Values:
    used = steady(times, float(SYSTEM_MEMORY))
    for run in question.readings.runs:
        if run.process.node == node:
            used = used + question.readings.memory(run, times) * run.alive(times)
    return np.asarray(used * (1.0 + 0.004 * shaken(times, "memory", node)))


def _total(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    yield {}, steady(times, _capacity(question, node, "memory"))


def _available(
    share: float, question: Question, node: str, times: Times
) -> Iterator[tuple[Mapping[str, str], Values]]:
    left = np.maximum(_capacity(question, node, "memory") - _memory_used(question, node, times), 0.0)
    yield {}, np.floor(left * share / 4096) * 4096


def _labels(each: disks.FileSystem) -> Mapping[str, str]:
    return {"device": each.device, "fstype": each.kind, "mountpoint": each.path}


def _size(question: Question, node: str, each: disks.FileSystem) -> float:
    return float(each.size) or _capacity(question, node, "ephemeral-storage")


def _disk(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    for each in disks.MEASURED:
        yield _labels(each), steady(times, _size(question, node, each))


def _free(question: Question, node: str, times: Times, each: disks.FileSystem) -> Values:
    size = _size(question, node, each)
    if each is not disks.ROOT:
        return steady(times, size - each.used)
    used = disk_used(question.world.plan, node)
    return np.maximum(size * (1.0 - used) - _written(question, node, times), 0.0)


def _disk_left(
    users: bool, question: Question, node: str, times: Times
) -> Iterator[tuple[Mapping[str, str], Values]]:
    for each in disks.MEASURED:
        left = _free(question, node, times, each)
        left = left * FOR_USERS if users and each.kind == "ext4" else left
        yield _labels(each), np.floor(left / 4096) * 4096


def _inodes(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    for each in disks.MEASURED:
        yield _labels(each), steady(times, float(int(_size(question, node, each)) // disks.PER_INODE))


def _inodes_left(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    for each in disks.MEASURED:
        size = _size(question, node, each)
        taken = np.floor((size - np.floor(_free(question, node, times, each) / 4096) * 4096) / disks.PER_FILE)
        yield _labels(each), float(int(size) // disks.PER_INODE) - taken


def _mounted_read_only(
    question: Question, node: str, times: Times
) -> Iterator[tuple[Mapping[str, str], Values]]:
    since = question.world.memory.get(read_only(node))
    for each in disks.MEASURED:
        sound = each is not disks.ROOT or since is None
        yield _labels(each), steady(times, 0.0) if sound else np.where(times >= int(since or 0), 1.0, 0.0)


def _written(question: Question, node: str, times: Times) -> Values:
    """Bytes of what programs have written to a machine's disk and not removed."""
    knots = spooling.held(question.world, node)
    found = steady(times, 0.0)
    for knot in knots:
        later = knot.amount + knot.slope * (times - knot.time) / SECOND
        found = np.where(times >= knot.time, np.maximum(later, 0.0), found)
    return np.asarray(found)


def _boot(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    made = _booted(question, node)
    last = question.world.memory.get(f"{kubelet_unit.BOOTED}{node}", made)
    yield {}, np.where(times >= last, float(last // SECOND), float(made // SECOND))


def _ahead(question: Question, node: str, times: Times) -> Values:
    """Seconds by which a machine's clock is ahead."""
    found = np.zeros(len(times))
    for step in wallclock.steps(question.world, node):
        found = np.where(times >= step.time, step.offset / SECOND, found)
    return found


def _time(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    yield {}, times / SECOND + _ahead(question, node, times)


def _synchronised(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    found = np.ones(len(times))
    for step in wallclock.steps(question.world, node):
        found = np.where(times >= step.time, float(step.by == time_service.DAEMON), found)
    yield {}, found


def _estimated(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    """What the kernel still has to correct of what it has been told: nothing, where it is told nothing."""
    yield {}, steady(times, 0)


def _uname(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    info = nodes(question)[node][0].obj.get("status", {}).get("nodeInfo") or {}
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(info.get("architecture", ""), "x86_64")
    release = info.get("kernelVersion", "")
    told = {
        "domainname": "(none)",
        "machine": machine,
        "nodename": node,
        "release": release,
        "sysname": "Linux",
        "version": build_of(release).version,
    }
    yield told, steady(times, 1.0)


def _requests(question: Question, node: str, times: Times) -> Values:
    total = np.zeros(len(times))
    for run in question.readings.runs:
        if run.process.node == node:
            total = total + question.readings.requests(run, times)
    return np.maximum.accumulate(total)


def _bytes(
    size: float, question: Question, node: str, times: Times
) -> Iterator[tuple[Mapping[str, str], Values]]:
    idle = np.maximum((times - _booted(question, node)) / SECOND, 0.0) * 5200.0
    yield {"device": "eth0"}, np.floor(idle + _requests(question, node, times) * size)


SEGMENTS_IDLE = 40.0
"""The same per second of a machine that nobody asks anything: heartbeats, watches, scrapes."""
LOST_ANYWAY = 4e-5
"""Assumed share of segments that are sent again though nothing is wrong."""


def _segments(question: Question, node: str, times: Times) -> Values:
    idle = np.maximum((times - _booted(question, node)) / SECOND, 0.0) * SEGMENTS_IDLE
    return np.asarray(idle + _requests(question, node, times) * resending.SEGMENTS)


def _sent(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    yield {}, np.floor(_segments(question, node, times))


def _sent_again(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    """What is lost is sent until it arrives: by the machine whose packets are lost, and by the others as far as they send
    to it (assumed: to all machines alike)."""
    total = _segments(question, node, times) * LOST_ANYWAY
    there = nodes(question)
    for name in there:
        share = 1.0 if name == node else 1.0 / max(len(there) - 1, 1)
        for begin, end, lost in question.world.memory.get(losing(name), ()):
            first = np.full(len(times), begin)
            last = np.maximum(np.minimum(times, end) if end else times, begin)
            during = _segments(question, node, last) - _segments(question, node, first)
            total = total + during * share * lost / (1.0 - lost)
    total = total + _never_arrived(question, node, times) + _greeted_again(question, node, times)
    yield {}, np.floor(np.maximum.accumulate(total))


def _never_arrived(question: Question, node: str, times: Times) -> Values:
    """What is sent again of answers whose packets are too large for the way."""
    found = steady(times, 0.0)
    for knot in resending.knots(question.world, node):
        found = np.where(times >= knot.time, knot.total + knot.slope * (times - knot.time) / SECOND, found)
    return np.asarray(found)


def _greeted_again(question: Question, node: str, times: Times) -> Values:
    """First packets of connections that are sent again, because the machine's table of connections has had no room for them."""
    found = steady(times, 0.0)
    held = conntrack.held(question.world, node)
    for knot, after in zip_longest(held, held[1:]):
        last = times if after is None else np.minimum(times, after.time)
        found = found + knot.lost * AGAIN * np.maximum(last - knot.time, 0) / SECOND
    return np.asarray(found)


AGAIN = 2.0 / 3.0
"""Of the first packets of connections for which there is no room, those that are not their client's first try."""


def _timed_out(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    """How often a kernel has waited for an acknowledgement in vain: not where it has tried before it had to."""
    late = _never_arrived(question, node, times) * (1.0 - resending.PROBED / resending.TIMES)
    usual = _segments(question, node, times) * LOST_ANYWAY * 0.25
    yield {}, np.floor(np.maximum.accumulate(late + usual + _greeted_again(question, node, times)))


def _greeted(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    yield {}, np.floor(np.maximum.accumulate(_greeted_again(question, node, times)))


def _came(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    """As much as is sent: every segment is acknowledged or answered."""
    yield {}, np.floor(_segments(question, node, times) * 0.97)


def _conntrack(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    ahead = times + SECOND
    rate = _requests(question, node, ahead) - _requests(question, node, times)
    usual = conntrack.IDLE + conntrack.PER_REQUEST * np.maximum(rate, 0.0)
    usual = usual * (1.0 + 0.06 * shaken(times, "conntrack", node))
    most = _most(question, node, times)
    held, full = np.zeros(len(times)), np.zeros(len(times), dtype=bool)
    for knot in conntrack.held(question.world, node):
        later = times >= knot.time
        held = np.where(later, np.maximum(knot.number + knot.slope * (times - knot.time) / SECOND, 0.0), held)
        full = np.where(later, knot.full, full)
    yield {}, np.floor(np.where(full, most, np.minimum(usual + held, most)))


def _most(question: Question, node: str, times: Times) -> Values:
    found = np.zeros(len(times))
    for since, number in conntrack.limits(question.world, node):
        found = np.where(times >= since, float(number), found)
    return found


def _conntrack_limit(
    question: Question, node: str, times: Times
) -> Iterator[tuple[Mapping[str, str], Values]]:
    yield {}, _most(question, node, times)


def _tasks(question: Question, node: str, times: Times) -> Values:
    """What its daemons and all containers have started, and what some of these have gathered."""
    found = steady(times, float(pids.SYSTEM))
    for run in question.readings.runs:
        if run.process.node == node:
            found = found + pids.own(run.process) * run.alive(times)
    return np.floor(found + gathered(question, node, times))


def gathered(question: Question, name: str, times: Times) -> Values:
    """What a machine, or one process, has gathered."""
    found = np.zeros(len(times))
    for knot in pids.held(question.world, name):
        later = np.maximum(knot.number + knot.slope * (times - knot.time) / SECOND, 0.0)
        found = np.where(times >= knot.time, later, found)
    return found


def _threads(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    yield {}, _tasks(question, node, times)


PROCESSES = 0.55
"""Assumed processes for every task of a machine's daemons."""


def _processes(question: Question, node: str, times: Times) -> Iterator[tuple[Mapping[str, str], Values]]:
    found = steady(times, pids.SYSTEM * PROCESSES)
    for run in question.readings.runs:
        if run.process.node == node:
            found = found + 1.0 * run.alive(times)
    yield {}, np.floor(found + gathered(question, node, times))


def _at_most(
    which: int, question: Question, node: str, times: Times
) -> Iterator[tuple[Mapping[str, str], Values]]:
    found = np.zeros(len(times))
    for each in pids.limits(question.world, node):
        found = np.where(times >= each.time, float(each[which]), found)
    yield {}, found


def _targets(question: Question) -> Sequence[Target]:
    return node_targets(JOB, question)


def _rows(read: Read, question: Question, target: Target, times: Times) -> Iterator[Row]:
    there = powered(question, target.instance, times)
    for labels, values in read(question, target.instance, times):
        yield labels, values, there


def _family(name: str, type: str, help: str, read: Read) -> Family:
    return Family(name, type, help, _targets, partial(_rows, read))


FAMILIES: tuple[Family, ...] = (
    _family("node_cpu_seconds_total", "counter", "Seconds the CPUs spent in each mode.", _cpu),
    _family("node_load1", "gauge", "1m load average.", partial(_load, 1)),
    _family("node_load5", "gauge", "5m load average.", partial(_load, 5)),
    _family("node_load15", "gauge", "15m load average.", partial(_load, 15)),
    _family("node_memory_MemTotal_bytes", "gauge", "Memory information field MemTotal_bytes.", _total),
    _family("node_memory_MemAvailable_bytes", "gauge", "Memory information field MemAvailable_bytes.", partial(_available, 1.0)),
    _family("node_memory_MemFree_bytes", "gauge", "Memory information field MemFree_bytes.", partial(_available, 0.61)),
    _family("node_filesystem_size_bytes", "gauge", "Filesystem size in bytes.", _disk),
    _family("node_filesystem_avail_bytes", "gauge", "Filesystem space available to non-root users in bytes.", partial(_disk_left, True)),
    _family("node_filesystem_free_bytes", "gauge", "Filesystem free space in bytes.", partial(_disk_left, False)),
    _family("node_filesystem_files", "gauge", "Filesystem total file nodes.", _inodes),
    _family("node_filesystem_files_free", "gauge", "Filesystem total free file nodes.", _inodes_left),
    _family("node_filesystem_readonly", "gauge", "Filesystem read-only status.", _mounted_read_only),
    _family("node_network_receive_bytes_total", "counter", "Network device statistic receive_bytes.", partial(_bytes, 700.0)),
    _family("node_network_transmit_bytes_total", "counter", "Network device statistic transmit_bytes.", partial(_bytes, 1050.0)),
    _family("node_netstat_Tcp_OutSegs", "untyped", "Statistic TcpOutSegs.", _sent),
    _family("node_netstat_Tcp_RetransSegs", "untyped", "Statistic TcpRetransSegs.", _sent_again),
    _family("node_netstat_Tcp_InSegs", "untyped", "Statistic TcpInSegs.", _came),
    _family("node_netstat_TcpExt_TCPTimeouts", "untyped", "Statistic TcpExtTCPTimeouts.", _timed_out),
    _family("node_netstat_TcpExt_TCPSynRetrans", "untyped", "Statistic TcpExtTCPSynRetrans.", _greeted),
    _family("node_nf_conntrack_entries", "gauge", "Number of currently allocated flow entries for connection tracking.", _conntrack),
    _family("node_nf_conntrack_entries_limit", "gauge", "Maximum size of connection tracking table.", _conntrack_limit),
    _family("node_processes_pids", "gauge", "Number of PIDs", _processes),
    _family("node_processes_threads", "gauge", "Allocated threads in system", _threads),
    _family("node_processes_max_processes", "gauge", "Number of max PIDs limit", partial(_at_most, 1)),
    _family("node_processes_max_threads", "gauge", "Limit of threads in the system", partial(_at_most, 2)),
    _family("node_boot_time_seconds", "gauge", "Node boot time, in unixtime.", _boot),
    _family("node_time_seconds", "gauge", "System time in seconds since epoch (1970).", _time),
    _family("node_timex_offset_seconds", "gauge", "Time offset in between local system and reference clock.", _estimated),
    _family("node_timex_sync_status", "gauge", "Is clock synchronized to a reliable server (1 = yes, 0 = no).", _synchronised),
    _family("node_uname_info", "gauge", "Labeled system information as provided by the uname system call.", _uname),
)  # fmt: skip
"""What Prometheus gets of it."""
