"""What a machine's kernel, kubelet and containerd have logged: read off what has happened to its pods and its disk."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from sregym_env.cluster.disturbances import DiskCorruption, DiskReadErrors
from sregym_env.kube import quantity
from sregym_env.kube.durations import parse_rfc3339, rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime import effort
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.containers import pids
from sregym_env.sim.network import conntrack
from sregym_env.sim.programs import devices
from sregym_env.sim.programs.machine import kernel_files, kubelet_unit
from sregym_env.sim.programs.machine.kernel_files import container_statuses, slice_of
from sregym_env.sim.world import SimWorld, disks, wallclock
from sregym_env.sim.world.figures import failing, read_only
from sregym_env.sim.world.kernels import build_of
from sregym_env.sim.world.process import Process

LOOK_EFFORT = 0.5
"""What it costs to look at a remembered write (units of ``runtime/effort.py``)."""
DISK_ERRORS_KEPT = 120
"""Failed reads that a ring buffer still holds beside everything else."""
DISK_ERROR_SECONDS = 9
"""Assumed mean time between the failed reads that the kernel tells of: it says nothing of repeated ones at once."""

CHECKSUM_SECONDS = 400
"""Assumed mean time between checksums of a file system's own blocks that do not fit, on a disk that corrupts what it brings."""

FAILURES_KEPT = 60
"""Starts of a kubelet that fails which a journal still holds."""

TOLD_EVERY, TOLD = 5, 10
"""The kernel tells of so many dropped packets in so many seconds (``net.core.message_cost``, ``message_burst``)."""
TELLINGS = 40
"""Such groups of lines that a ring buffer still holds."""

PIDS = {"containerd": 812, "sshd": 901, "systemd": 1}


def numbered(world: SimWorld, node: str) -> list[tuple[int, Process]]:
    """The main processes of a machine's containers, with their numbers on it, the first one first: a kernel gives these in turn, and a
    process keeps its own."""
    most = pids.setting(world, node, pids.PID_MAX)
    others = sorted(
        (kernel_files.newest_pid(process.started_at, most), key, process)
        for key, process in world.processes.items()
        if process.node == node
    )
    found: list[tuple[int, Process]] = []
    least = 0
    for number, _, process in others:
        # Room for its threads and children, where several are started in one second.
        found.append((max(number, least), process))
        least = found[-1][0] + _APART_PIDS
    return found


_APART_PIDS = 211


@dataclass(frozen=True, slots=True, order=True)
class Record:
    """One line of the journal."""

    time: int
    """Microseconds."""
    unit: str
    """``kernel``, ``kubelet``, ``containerd``, ``chrony``."""
    text: str
    priority: int = 6
    """As syslog counts: 3 is an error, 4 a warning, 6 a piece of information."""
    by: str = ""
    """Who says it, if not the unit itself: systemd."""
    pid: int = 0
    """The number of its process, where it is not the one that the daemon has had since the machine booted."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A container that the kernel has killed for its memory."""

    time: int
    pod: Manifest
    status: Mapping[str, Any]
    container_id: str


def kills(world: SimWorld, node: str) -> list[Kill]:
    """The containers of a machine that ran out of memory, as far as anybody remembers, oldest first."""
    found: dict[str, Kill] = {}
    for pod in _pods(world, node):
        for status in container_statuses(pod):
            for field in ("state", "lastState"):
                ended = (status.get(field) or {}).get("terminated") or {}
                identity = ended.get("containerID", "")
                if ended.get("reason") == "OOMKilled" and identity not in found:
                    found[identity] = Kill(
                        parse_rfc3339(ended["finishedAt"]), pod, status, identity.partition("://")[2]
                    )
    return sorted(found.values(), key=lambda kill: (kill.time, kill.container_id))


def _pods(world: SimWorld, node: str) -> Iterator[Manifest]:
    """The pods of a machine as they are, and as they were in remembered writes."""
    for pod in world.store.list("pods"):
        if pod["spec"].get("nodeName") == node:
            yield pod
    count = 0
    for _, change in world.store.dated_changes():
        count += 1
        if (
            change.resource == "pods"
            and change.old is not None
            and change.old["spec"].get("nodeName") == node
        ):
            yield change.old
    effort.note(LOOK_EFFORT * count)


# --- the kernel -----------------------------------------------------------------------------------


def kernel(world: SimWorld, node: str, booted: int, release: str, memory: int) -> list[Record]:
    """What the kernel of a machine has logged since it booted, oldest first."""
    found = [
        *_boot(booted, release, memory),
        *_links(world, node, booted),
        *_disk(world, node),
        *_file_system(world, node),
        *_read_only(world, node),
        *_tracking(world, node),
        *_rejected(world, node),
    ]
    for kill in kills(world, node):
        found += _killing(kill, release)
    return sorted((record for record in found if record.time >= booted), key=lambda record: record.time)


def _boot(booted: int, release: str, memory: int) -> Iterator[Record]:
    lines = (
        (0, build_of(release).banner(release)),
        (0, f"Command line: BOOT_IMAGE=/vmlinuz-{release} root={disks.ROOT_DEVICE} ro console=tty0 console=ttyS0,115200"),
        (0.4, f"Memory: {int(memory * 0.97) >> 10}K/{memory >> 10}K available"),
        (1.6, "nvme nvme0: 2/0/0 default/read/poll queues"),
        (1.7, "nvme nvme1: 2/0/0 default/read/poll queues"),
        (2.9, "EXT4-fs (nvme1n1p1): mounted filesystem with ordered data mode. Quota mode: none."),
        (3.8, "systemd[1]: Detected virtualization kvm."),
        (5.1, "EXT4-fs (nvme0n1p1): mounted filesystem with ordered data mode. Quota mode: none."),
        (9.4, "Bridge firewalling registered"),
    )  # fmt: skip
    for after, text in lines:
        yield Record(booted + int(after * SECOND), "kernel", text)


def _links(world: SimWorld, node: str, booted: int) -> Iterator[Record]:
    for pod in world.store.list("pods"):
        started = (pod.get("status") or {}).get("startTime")
        if pod["spec"].get("nodeName") != node or pod["spec"].get("hostNetwork") or not started:
            continue
        name = devices.cable(pod["metadata"]["namespace"], pod["metadata"]["name"])
        time = parse_rfc3339(started) + SECOND
        if time < booted:
            time = _plugged_again(pod, booted)
        yield Record(time, "kernel", f"IPv6: ADDRCONF(NETDEV_CHANGE): {name}: link becomes ready")


def _plugged_again(pod: Manifest, booted: int) -> int:
    """When a pod of before a machine's reboot got its link anew: its kubelet has made a sandbox then, and started the containers
    in that."""
    begun = [
        parse_rfc3339(text)
        for status in container_statuses(pod)
        for state in (status.get("state") or {}, status.get("lastState") or {})
        for each in state.values()
        if (text := each.get("startedAt")) and parse_rfc3339(text) > booted
    ]
    jitter = keyed_bits("plugged", pod["metadata"]["uid"]) % SECOND
    earliest = booted + kubelet_unit.AFTER_BOOT + SECOND
    return max(min(begun, default=earliest + 3 * SECOND) - SECOND + jitter // 2, earliest + jitter)


def _killing(kill: Kill, release: str) -> Iterator[Record]:
    """An out of memory kill as Linux tells it (``mm/oom_kill.c``, ``mm/memcontrol.c``)."""
    spec: Mapping[str, Any] = next(
        (
            c
            for field in ("containers", "initContainers")
            for c in kill.pod["spec"].get(field) or ()
            if c["name"] == kill.status["name"]
        ),
        {},
    )
    limit = _bytes(((spec.get("resources") or {}).get("limits") or {}).get("memory", "")) >> 10
    bits = keyed_bits("oom", kill.container_id)
    pid, cpu = 20_000 + bits % 900_000, bits % 8
    name = str((spec.get("command") or [kill.status["name"]])[0]).rpartition("/")[2][:15]
    group = f"/{slice_of(kill.pod)}/cri-containerd-{kill.container_id}.scope"
    adjusted = {"Guaranteed": -997, "BestEffort": 1000}.get(
        (kill.pod.get("status") or {}).get("qosClass", ""), 996
    )
    anonymous = int(limit * 0.985)
    lines = (
        f"{name} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj={adjusted}",
        f"CPU: {cpu} PID: {pid} Comm: {name} Not tainted {release} {_short(build_of(release).version)}",
        f"memory: usage {limit}kB, limit {limit}kB, failcnt {bits % 4000 + 40}",
        "swap: usage 0kB, limit 0kB, failcnt 0",
        f"Memory cgroup stats for {group}:",
        f"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri-containerd-{kill.container_id}.scope,mems_allowed=0,"
        f"oom_memcg={group},task_memcg={group},task={name},pid={pid},uid=0",
        f"Memory cgroup out of memory: Killed process {pid} ({name}) total-vm:{limit * 9}kB, anon-rss:{anonymous}kB, "
        f"file-rss:{limit - anonymous}kB, shmem-rss:0kB, UID:0 pgtables:{limit // 400}kB oom_score_adj:{adjusted}",
    )  # fmt: skip
    for index, text in enumerate(lines):
        yield Record(kill.time + index * 11, "kernel", text, 3 if index > 4 else 4)


def _short(version: str) -> str:
    """A kernel's version as it stands beside a stack: its number, and what package it is."""
    number, _, rest = version.partition(" ")
    return f"{number}  {rest[rest.find('Debian') :].partition(' (')[0]}" if "Debian" in rest else number


def _bytes(text: str) -> int:
    try:
        return int(quantity.bytes_(text)) if text else 0
    except ValueError:
        return 0


def failing_since(world: SimWorld, node: str) -> int | None:
    """When the data disk of a machine began to fail, microseconds; None where it does not."""
    if not any(isinstance(each, DiskReadErrors) and each.node == node for each in world.disturbances):
        return None
    since = world.memory.get(failing(node))
    return world.clock if since is None else int(since)


def _volumes(world: SimWorld, node: str) -> list[str]:
    """The volumes from which pods of a machine read, whether they run at the moment or not."""
    found = []
    for pod in world.store.list("pods"):
        if pod["spec"].get("nodeName") != node:
            continue
        for volume in pod["spec"].get("volumes") or ():
            name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
            claim = (
                world.store.get("persistentvolumeclaims", pod["metadata"]["namespace"], name)
                if name
                else None
            )
            if claim is not None and claim["spec"].get("volumeName"):
                found.append(str(claim["spec"]["volumeName"]))
    return found


def media_errors(world: SimWorld, node: str) -> int:
    """Reads that a machine's data disk has refused."""
    since = failing_since(world, node)
    if since is None or not _volumes(world, node):
        return 0
    return int((world.clock - since) / SECOND / DISK_ERROR_SECONDS * 3)


def _disk(world: SimWorld, node: str) -> Iterator[Record]:
    since = failing_since(world, node)
    volumes = _volumes(world, node)
    if since is None or not volumes:
        return
    period = DISK_ERROR_SECONDS * SECOND
    last = (world.clock - since) // period
    for number in range(max(0, last - DISK_ERRORS_KEPT), last + 1):
        bits = keyed_bits("medium error", node, number)
        time = since + number * period + bits % period
        if time > world.clock:
            continue
        volume = volumes[(bits >> 24) % len(volumes)]
        sector = keyed_bits("extent", volume) % 180_000_000 + (bits >> 40) % 24 * 8
        yield Record(
            time,
            "kernel",
            f"nvme1n1: Read(0x2) @ LBA {sector}, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR",
            4,
        )
        yield Record(
            time + 9,
            "kernel",
            f"critical medium error, dev nvme1n1, sector {sector} op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2",
            3,
        )


def _read_only(world: SimWorld, node: str) -> Iterator[Record]:
    """What ext4 says when it can write its journal no more, and makes the file system read-only."""
    since = world.memory.get(read_only(node))
    if since is None:
        return
    for after, text in (
        (0, "Buffer I/O error on dev nvme1n1p1, logical block 12091392, lost sync page write"),
        (0.0004, "JBD2: I/O error when updating journal superblock for nvme1n1p1-8."),
        (0.0005, "Aborting journal on device nvme1n1p1-8."),
        (0.0021, "EXT4-fs error (device nvme1n1p1): ext4_journal_check_start:83: comm kubelet: Detected aborted journal"),
        (0.0022, "EXT4-fs (nvme1n1p1): Remounting filesystem read-only"),
    ):  # fmt: skip
        yield Record(since + int(after * SECOND), "kernel", text, 2)


def _file_system(world: SimWorld, node: str) -> Iterator[Record]:
    """What ext4 says where its own checksums do not fit what a disk brings: now and then, for most of it is in memory."""
    if not any(isinstance(each, DiskCorruption) and each.node == node for each in world.disturbances):
        return
    since = int(world.memory.get(failing(node), world.clock))
    period = CHECKSUM_SECONDS * SECOND
    last = (world.clock - since) // period
    for number in range(max(0, last - DISK_ERRORS_KEPT), last + 1):
        bits = keyed_bits("metadata checksum", node, number)
        time = since + number * period + bits % period
        if time > world.clock:
            continue
        inode = 131_073 + (bits >> 20) % 5000
        yield Record(
            time,
            "kernel",
            f"EXT4-fs error (device nvme1n1): ext4_lookup:1855: inode #{inode}: comm kubelet: iget: checksum invalid",
            2,
        )


def shortages(world: SimWorld, node: str) -> Iterator[tuple[int, int, float]]:
    """(from when, to when, packets dropped per second) of the times at which a machine's table was full."""
    knots = conntrack.held(world, node)
    for knot, after in zip_longest(knots, knots[1:]):
        if knot.full:
            yield knot.time, world.clock if after is None else after.time, knot.lost


def _tracking(world: SimWorld, node: str) -> Iterator[Record]:
    """What the kernel says of a full table."""
    text = "nf_conntrack: nf_conntrack: table full, dropping packet"
    found: list[Record] = []
    for begin, end, rate in shortages(world, node):
        turns = (end - begin) // (TOLD_EVERY * SECOND)
        said = min(int(rate * TOLD_EVERY), TOLD)
        for turn in range(max(0, turns - TELLINGS), turns + 1):
            time = begin + turn * TOLD_EVERY * SECOND
            hidden = int(rate * TOLD_EVERY) - said
            if hidden > 0 and turn:
                found.append(Record(time, "kernel", f"net_ratelimit: {hidden} callbacks suppressed", 4))
            for number in range(max(said, 1)):
                later = time + keyed_bits("full", node, time, number) % (SECOND // 2)
                if later <= end:
                    found.append(Record(later, "kernel", text, 4))
    yield from sorted(found)[-TELLINGS * (TOLD + 1) :]


def _rejected(world: SimWorld, node: str) -> Iterator[Record]:
    """What the kernel says once of a control group that has as many processes as it may (``kernel/cgroup/pids.c``)."""
    for key, leak in sorted(pids.leaks(world).items()):
        process = world.processes.get(key)
        if (
            leak.node != node
            or process is None
            or not leak.most
            or leak.slope > 0.0
            or leak.had < leak.most - 1
        ):
            continue
        scope = kernel_files.scope_of(world, process)
        if scope:
            yield Record(leak.since, "kernel", f"cgroup: fork rejected by pids controller in /{scope}")


# --- whose clock it was by ----------------------------------------------------------------------------


def as_written(world: SimWorld, node: str, found: Iterable[Record]) -> list[Record]:
    """Records with the times that their machine's clock said, as they stand in its journal."""
    shown = wallclock.reader(world, node)
    return list(found) if shown is None else [_restamped(record, shown(record.time)) for record in found]


def _restamped(record: Record, time: int) -> Record:
    text = record.text
    if record.unit in ("kubelet", "containerd") and not record.by:
        for stamp in (_klog_stamp, _containerd_stamp):
            text = text.replace(stamp(record.time), stamp(time), 1)
    return replace(record, time=time, text=text)


def _klog_stamp(time: int) -> str:
    moment = rfc3339(time)
    return f"{moment[5:7]}{moment[8:10]} {moment[11:19]}.{time % SECOND:06d}"


def _containerd_stamp(time: int) -> str:
    return f"{rfc3339(time)[:19]}.{time % SECOND:06d}000Z"


# --- the kubelet and containerd ---------------------------------------------------------------------


def daemons(world: SimWorld, node: str) -> list[Record]:
    """What the kubelet and containerd of a machine have logged of its pods, oldest first: as far back as events go."""
    seen: list[Record] = [*_runs(world, node)]
    for event in world.store.list("events"):
        if (event.get("source") or {}).get("host") != node:
            continue
        if event["involvedObject"].get("kind") == "Node":
            seen += _of_node(event, node)
        if event["involvedObject"].get("kind") != "Pod":
            continue
        pod = world.store.get("pods", event["metadata"]["namespace"], event["involvedObject"]["name"])
        first, last = event.get("firstTimestamp"), event.get("lastTimestamp")
        for text in dict.fromkeys(filter(None, (first, last))):
            seen += _told(parse_rfc3339(str(text)), event, pod)
    lives = _lives(world, node)
    found = [*_runtime(world, node), *_life(world, node, lives), *_by_run(seen, _serving(lives))]
    for kill in kills(world, node):
        found.append(
            Record(
                kill.time + 4000,
                "containerd",
                _containerd(kill.time + 4000, "info", f'TaskOOM event container_id:"{kill.container_id}"'),
            )
        )
    return sorted(found, key=lambda record: record.time)


CONTAINERD_STARTED, SSH_STARTED = 8 * SECOND, 10 * SECOND
"""From the start of a machine's kernel to those of its containerd and of who logs people in."""


def _runtime(world: SimWorld, node: str) -> Iterator[Record]:
    """How containerd and sshd have come up with their machine, each time."""
    for booted, _ in kubelet_unit.boot_ids(world, node):
        time, about = booted + SSH_STARTED, "ssh.service - OpenBSD Secure Shell server"
        yield Record(time - 60_000, "ssh", f"Starting {about}...", by="systemd")
        pid = PIDS["sshd"]
        yield Record(time - 21_000, "ssh", "Server listening on 0.0.0.0 port 22.", by="sshd", pid=pid)
        yield Record(time, "ssh", f"Started {about}.", by="systemd")
    name = "containerd.service - containerd container runtime"
    for booted, _ in kubelet_unit.boot_ids(world, node):
        time = booted + CONTAINERD_STARTED
        yield Record(time - 310_000, "containerd", f"Starting {name}...", by="systemd")
        told = _containerd(time - 190_000, "info", "starting containerd")
        yield Record(time - 190_000, "containerd", told)
        told = _containerd(time - 2_000, "info", "containerd successfully booted in 0.188417s")
        yield Record(time - 2_000, "containerd", told)
        yield Record(time, "containerd", f"Started {name}.", by="systemd")


# --- the kubelet's own runs -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Run:
    """From when to when a kubelet has run, or failed again and again, or was stopped, and how it came to that."""

    begin: int
    end: int | None
    turn: kubelet_unit.Turn
    pid: int
    after: str
    """What was before in this run of the machine: ``boot`` for nothing, ``running``, ``failing``, ``stopped``."""


def _lives(world: SimWorld, node: str) -> list[_Run]:
    """What has become of a machine's kubelet since its first start, as far as anybody remembers, oldest first."""
    turns = kubelet_unit.of(world, node).turns
    boots = kubelet_unit.boots(world, node)
    starts = [time + kubelet_unit.AFTER_BOOT for time in boots]
    if len(boots) < kubelet_unit.BOOTS_KEPT:
        made = kubelet_unit.first_booted(world, node)
        boots, starts = (made, *boots), [made + kubelet_unit.FIRST_START, *starts]
    found: list[_Run] = []
    for boot, begun, end in zip_longest(boots, starts, boots[1:]):
        mine = [turn for turn in turns if boot <= turn.time and (end is None or turn.time < end)]
        if found and found[-1].turn.kind == "stopped" and (not mine or mine[0].time > begun + SECOND):
            # One that does not come up with its machine stays as it was.
            mine = [kubelet_unit.Turn(begun, "stopped"), *mine]
        elif not mine or mine[0].time > begun + SECOND:
            again = [each for each in _restarted(world, node, boot, begun) if end is None or each.time < end]
            mine = [kubelet_unit.Turn(begun, "running"), *again, *mine]
        found += _in_turn(mine, end, _boot_pid(node, boot), node)
    return found


def _in_turn(turns: list[kubelet_unit.Turn], end: int | None, pid: int, node: str) -> list[_Run]:
    """Turns from one start of a machine to its next, of which the first comes with the machine."""
    found, before = [], "boot"
    for turn, after in zip_longest(turns, turns[1:]):
        # systemd starts nothing before it has told that what ran before has ended.
        begin = turn.time + (_STOPPED + 19_000 if before == "running" else 0)
        number = pid if before == "boot" else _pid(node, turn.time)
        found.append(_Run(begin, end if after is None else after.time, turn, number, before))
        before = turn.kind
    return found


def _restarted(world: SimWorld, node: str, booted: int, begun: int) -> Iterator[kubelet_unit.Turn]:
    """Some kubelets were started again some days after their machine, long ago."""
    bits = keyed_bits("kubelet restarted", node, booted)
    later = begun + (bits >> 8) % (9 * 86_400) * SECOND
    if bits % 3 == 0 and later < world.plan.present - 86_400 * SECOND:
        yield kubelet_unit.Turn(later, "running")


def running_since(world: SimWorld, node: str) -> int:
    """When systemd has told last that a kubelet was started, or has ended, or failed."""
    lives = _lives(world, node)
    last = lives[-1]
    if last.turn.kind == "running":
        return last.begin
    if last.turn.kind == "stopped":
        before = lives[-2].turn.kind if len(lives) > 1 and last.after != "boot" else ""
        return last.turn.time + {"running": _STOPPED, "failing": -1000}.get(before, 0)
    period, first = kubelet_unit.RESTART_SECONDS * SECOND, last.begin + _FAILED
    return first + max(0, world.clock - first) // period * period


def pid_of(world: SimWorld, node: str) -> int:
    """The process number of a machine's kubelet, the last one if there is none."""
    lives = _lives(world, node)
    last = lives[-1]
    if last.turn.kind == "failing":
        period = kubelet_unit.RESTART_SECONDS * SECOND
        return _pid(node, last.turn.time + max(0, world.clock - last.turn.time) // period * period)
    return next((run.pid for run in reversed(lives) if run.turn.kind == "running"), last.pid)


def _pid(node: str, time: int) -> int:
    return 20_000 + keyed_bits("kubelet", node, time) % 900_000


def _boot_pid(node: str, booted: int) -> int:
    """That of a kubelet which has come up with its machine."""
    return 1100 + keyed_bits("kubelet", "boot", node, booted) % 800


def _serving(lives: list[_Run]) -> list[_Run]:
    return [run for run in lives if run.turn.kind == "running"]


def _by_run(seen: Iterable[Record], runs: list[_Run]) -> Iterator[Record]:
    """What kubelets have written, under the number of the run in which they did. What happened while none ran was noticed by
    the next one, or by nobody yet."""
    least = 0
    for record in sorted(seen, key=lambda record: record.time):
        if record.unit != "kubelet":
            yield record
            continue
        run = next((run for run in runs if run.end is None or record.time < run.end), None)
        if run is None:
            continue
        # It finds one after the other, in the order in which they have happened.
        time = max(record.time, run.begin + _LOOKS, least)
        if time > record.time:
            record, least = _restamped(record, time), time + _APART + record.time % _APART
        yield replace(record, text=record.text.replace(f" {0:7d} ", f" {run.pid:7d} ", 1), pid=run.pid)


_FAILED = 171_500
"""Microseconds from the start of a kubelet with a wrong setting until systemd has seen it fail."""
_LOOKS = 1_900_000
"""After its start a kubelet has a look at its containers, microseconds."""
_APART = 6_000
"""Microseconds between two things that it finds then."""
_SAID = "kubelet.service - kubelet: The Kubernetes Node Agent"
_STOPPED = 41_000
"""Microseconds from the beginning of a kubelet's end to its end."""


def _life(world: SimWorld, node: str, lives: list[_Run]) -> Iterator[Record]:
    """How the kubelet was started, stopped, and has failed."""
    before: _Run | None = None
    for run in lives:
        if before is not None and run.after != "boot":
            yield from _ended(before, run.turn.time)
        if run.turn.kind == "failing":
            yield from _failing(node, run, world.clock if run.end is None else run.end - 1)
        elif run.turn.kind == "running":
            yield Record(run.begin, "kubelet", f"Started {_SAID}.", by="systemd")
            yield from _first_lines(world, node, run, known=before is not None)
        before = run


def _ended(run: _Run, time: int) -> Iterator[Record]:
    """How a run is over because another one begins, or none any more."""
    if run.turn.kind == "running":
        yield from _stopping(time)
    elif run.turn.kind == "failing":
        tried, period = time - run.turn.time, kubelet_unit.RESTART_SECONDS * SECOND
        text = f"Stopped {_SAID}."
        if tried % period == 0:
            text = f"kubelet.service: Scheduled restart job, restart counter is at {tried // period}."
        yield Record(time - 1000, "kubelet", text, by="systemd")


def _first_lines(world: SimWorld, node: str, run: _Run, *, known: bool) -> Iterator[Record]:
    """What a kubelet says when it begins (``cmd/kubelet/app`` and ``pkg/kubelet`` of v1.32)."""
    machine = world.plan.machine(node)
    version = "" if machine is None else machine.kubelet
    for after, place, text in (
        (90_000, "server.go:520", '"Kubelet version" kubeletVersion="{version}"'),
        (90_031, "server.go:522", '"Golang settings" GOGC="" GOMAXPROCS="" GOTRACEBACK=""'),
        (90_840, "server.go:954", '"Client rotation is on, will bootstrap in background"'),
        (1_410_000, "kubelet_node_status.go:76", '"Attempting to register node" node="{node}"'),
        (1_452_000, *_REGISTERED[known]),
    ):
        yield _klog(run.begin + after, "I", place, text.format(version=version, node=node), run.pid)


_REGISTERED = {
    True: ("kubelet_node_status.go:125", '"Node was previously registered" node="{node}"'),
    False: ("kubelet_node_status.go:79", '"Successfully registered node" node="{node}"'),
}
"""What a kubelet says of its node, whether that was there before or not."""


def _stopping(time: int) -> Iterator[Record]:
    yield Record(time, "kubelet", f"Stopping {_SAID}...", by="systemd")
    yield Record(
        time + _STOPPED - 1000, "kubelet", "kubelet.service: Deactivated successfully.", by="systemd"
    )
    yield Record(time + _STOPPED, "kubelet", f"Stopped {_SAID}.", by="systemd")


def _failing(node: str, run: _Run, until: int) -> Iterator[Record]:
    """A kubelet that ends at once, and that systemd starts again and again."""
    period = kubelet_unit.RESTART_SECONDS * SECOND
    since, late = run.turn.time, run.begin - run.turn.time
    count = max(0, until - since) // period
    for number in range(max(0, count - FAILURES_KEPT), count + 1):
        time = since + number * period + late
        if number:
            text = f"kubelet.service: Scheduled restart job, restart counter is at {number}."
            yield Record(time, "kubelet", text, by="systemd")
        yield Record(time + 2_000, "kubelet", f"Started {_SAID}.", by="systemd")
        text = f'"command failed" err={json.dumps(run.turn.complaint)}'
        yield _klog(time + 160_000, "E", "run.go:72", text, _pid(node, since + number * period))
        over = "kubelet.service: Main process exited, code=exited, status=1/FAILURE"
        yield Record(time + 171_000, "kubelet", over, 5, by="systemd")
        yield Record(
            time + _FAILED, "kubelet", "kubelet.service: Failed with result 'exit-code'.", 4, by="systemd"
        )


_ANYWHERE = (0, SECOND)
_WITHIN: Mapping[str, tuple[int, int]] = {
    "Pulling": (0, 200_000), "Started": (300_000, 200_000), "ContainerStarted": (560_000, 300_000),
}  # fmt: skip
"""Where in the second in which it is told it happens (from when, how long): an image is pulled, a container started, and then the
kubelet hears of it."""


def _runs(world: SimWorld, node: str) -> Iterator[Record]:
    """What the kubelet has noticed of the containers that are there: that they started, and how the runs before ended."""
    for pod in world.store.list("pods"):
        if pod["spec"].get("nodeName") != node:
            continue
        place, uid = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}", pod["metadata"]["uid"]
        for status in container_statuses(pod):
            told = 0
            for field in ("lastState", "state"):
                state = status.get(field) or {}
                ended = state.get("terminated") or {}
                started = (state.get("running") or ended).get("startedAt")
                identity = ended.get("containerID") or status.get("containerID", "")
                for kind, text in (("ContainerStarted", started), ("ContainerDied", ended.get("finishedAt"))):
                    if text and identity:
                        data = {"ID": uid, "Type": kind, "Data": identity.partition("://")[2]}
                        about = f'"SyncLoop (PLEG): event for pod" pod="{place}" event={json.dumps(data, separators=(",", ":"))}'
                        bits = keyed_bits("pleg", identity, kind)
                        first, span = _WITHIN.get(kind, _ANYWHERE)
                        # It hears of what becomes of a container in the order in which that happens.
                        time = told = max(parse_rfc3339(text) + first + bits % span, told + 1 + bits % 9_000)
                        yield _klog(time, "I", "kubelet.go:2569", about)


def _of_node(event: Manifest, node: str) -> Iterator[Record]:
    """What the kubelet writes when it reports an event about its machine."""
    reason, message = event["reason"], event.get("message") or ""
    for text in dict.fromkeys(filter(None, (event.get("firstTimestamp"), event.get("lastTimestamp")))):
        time = parse_rfc3339(str(text)) + keyed_bits("journal", node, reason, text) % SECOND
        if reason == "EvictionThresholdMet":
            resource = message.rpartition(" ")[2]
            about = f'"Eviction manager: attempting to reclaim" resourceName="{resource}"'
            yield _klog(time, "I", "eviction_manager.go:376", about)
            about = f'"Eviction manager: must evict pod(s) to reclaim" resourceName="{resource}"'
            yield _klog(time + 210_000, "I", "eviction_manager.go:387", about)
        elif reason == "FreeDiskSpaceFailed":
            yield _klog(
                time,
                "E",
                "kubelet.go:1551",
                f'"Image garbage collection failed multiple times in a row" err={json.dumps(message)}',
            )
        elif reason.startswith(("NodeHas", "NodeNot", "NodeReady")):
            about = f'"Recording event message for node" node="{node}" event="{reason}"'
            yield _klog(time, "I", "kubelet_node_status.go:687", about)


def _told(time: int, event: Manifest, pod: Manifest | None) -> Iterator[Record]:
    """What the kubelet writes when it reports an event about a pod, and what containerd has to do with it."""
    about = event["involvedObject"]
    reason, message = event["reason"], event.get("message") or ""
    place, uid = f"{event['metadata']['namespace']}/{about['name']}", about.get("uid", "")
    container = about.get("fieldPath", "").partition("{")[2].rstrip("}")
    first, span = _WITHIN.get(reason, _ANYWHERE)
    time += first + keyed_bits("journal", event["metadata"]["name"], time) % span
    named = f'pod="{place}" podUID="{uid}" containerName="{container}"'
    identity = _identity(pod, container)
    if reason == "Unhealthy":
        probe, _, output = message.partition(" probe failed: ")
        yield _klog(
            time,
            "I",
            "prober.go:107",
            f'"Probe failed" probeType="{probe}" {named} probeResult="failure" output={json.dumps(output)}',
        )
    elif reason == "BackOff" and message.startswith("Back-off restarting"):
        waited = _waiting(pod, container) or message
        failed = f'failed to \\"StartContainer\\" for \\"{container}\\" with CrashLoopBackOff: \\"{waited}\\"'
        yield _klog(
            time,
            "E",
            "pod_workers.go:1301",
            f'"Error syncing pod, skipping" err="{failed}" pod="{place}" podUID="{uid}"',
        )
    elif reason == "Failed" and message.startswith("Failed to pull image "):
        image, _, error = message.removeprefix("Failed to pull image ").partition(": ")
        about = f'"Failed to pull image" err={json.dumps(error)} image={image}'
        yield _klog(time, "E", "kuberuntime_image.go:55", about)
        failed = f"PullImage {image} failed"
        told = f"{_containerd(time - 900, 'error', json.dumps(failed)[1:-1])} error={json.dumps(error)}"
        yield Record(time - 900, "containerd", told, 3)
    elif reason in ("Failed", "FailedMount", "FailedCreatePodSandBox", "FailedPostStartHook"):
        failed = json.dumps(_not_started(pod, container, message) if reason == "Failed" else message)
        about = f'"Error syncing pod, skipping" err={failed} pod="{place}" podUID="{uid}"'
        yield _klog(time, "E", "pod_workers.go:1301", about)
    elif reason == "Killing" and identity:
        yield _klog(
            time,
            "I",
            "kuberuntime_container.go:808",
            f'"Killing container with a grace period" {named} containerID="containerd://{identity}" gracePeriod=30',
        )
        yield Record(
            time + 700,
            "containerd",
            _containerd(time + 700, "info", f'StopContainer for \\"{identity}\\" with timeout 30 (s)'),
        )
    elif reason == "Started" and identity:
        yield Record(
            time,
            "containerd",
            _containerd(time, "info", f'StartContainer for \\"{identity}\\" returns successfully'),
        )
    elif reason == "Pulling":
        image = message.partition('"')[2].partition('"')[0]
        yield Record(time, "containerd", _containerd(time, "info", f'PullImage \\"{image}\\"'))
    elif reason == "Evicted":
        yield _klog(
            time,
            "I",
            "eviction_manager.go:614",
            f'"Eviction manager: pod is evicted successfully" pod="{place}"',
        )


def _not_started(pod: Manifest | None, container: str, message: str) -> str:
    """The error with which a kubelet gives up one look at a pod because a container could not be started."""
    if not container:
        return message
    text = message.removeprefix("Error: ")
    if text.isalnum():
        reason, text = text, _waiting(pod, container)
    elif text.startswith("failed to create containerd task"):
        reason = "RunContainerError"
    else:
        reason = "CreateContainerConfigError"
    return f'failed to "StartContainer" for "{container}" with {reason}: {json.dumps(text)}'


def _waiting(pod: Manifest | None, container: str) -> str:
    """Why a container waits, as the kubelet has put it."""
    for status in container_statuses(pod or {}):
        if status["name"] == container:
            return str(((status.get("state") or {}).get("waiting") or {}).get("message", ""))
    return ""


def _identity(pod: Manifest | None, container: str) -> str:
    for status in container_statuses(pod or {}):
        if status["name"] == container:
            return str(status.get("containerID", "")).partition("://")[2]
    return ""


def daemon_line(time: int, level: str, place: str, text: str, pid: int = 0) -> str:
    """A line as Kubernetes' daemons write it (klog); without ``pid`` the number of the process is still to be found."""
    return f"{level}{_klog_stamp(time)} {pid:7d} {place}] {text}"


def _klog(time: int, level: str, place: str, text: str, pid: int = 0) -> Record:
    line = daemon_line(time, level, place, text, pid)
    return Record(time, "kubelet", line, 3 if level == "E" else 6, pid=pid)


def _containerd(time: int, level: str, text: str) -> str:
    return f'time="{_containerd_stamp(time)}" level={level} msg="{text}"'
