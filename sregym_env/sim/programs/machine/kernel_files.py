"""Files under /proc and /sys that the kernel writes when they are read.

All figures follow from what the world does (:mod:`sregym_env.sim.world.figures`); what the world has no numbers for,
such as swap, is zero. Forms are those of Linux 6.1 with control groups of version 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.containers import pids
from sregym_env.sim.containers.accounts import ROOT, Account
from sregym_env.sim.network import conntrack
from sregym_env.sim.programs.machine import kubelet_unit
from sregym_env.sim.programs.process_list import Row
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.figures import ContainerFigures, MachineFigures
from sregym_env.sim.world.kernels import build_of
from sregym_env.sim.world.process import Process

Late = Mapping[str, Callable[[], str]]

PAGE = 4096
USER = 0.67
"""Assumed share of CPU time that programs spend outside the kernel."""
READ_BYTES, WRITTEN_BYTES = 512.0, 2048.0
"""Assumed bytes that a request to a container with a persistent volume reads from its disk and writes to it."""
DEVICE = "259:0"
"""``/dev/nvme1n1``, on which volumes and containers lie."""

_SETTINGS = {
    "fs/file-max": "9223372036854775807",
    "fs/inotify/max_user_instances": "128",
    "fs/inotify/max_user_watches": "123456",
    "fs/nr_open": "1048576",
    "kernel/dmesg_restrict": "1",
    "kernel/panic": "10",
    "net/bridge/bridge-nf-call-ip6tables": "1",
    "net/bridge/bridge-nf-call-iptables": "1",
    "net/core/netdev_max_backlog": "1000",
    "net/core/rmem_max": "212992",
    "net/core/somaxconn": "4096",
    "net/core/wmem_max": "212992",
    "net/ipv4/ip_forward": "1",
    "net/ipv4/ip_local_port_range": "32768\t60999",
    "net/ipv4/ip_unprivileged_port_start": "1024",
    "net/ipv4/tcp_fin_timeout": "60",
    "net/ipv4/tcp_mtu_probing": "0",
    "net/ipv4/tcp_retries2": "15",
    "net/ipv4/tcp_rmem": "4096\t131072\t6291456",
    "net/ipv4/tcp_wmem": "4096\t16384\t4194304",
    "net/ipv4/tcp_keepalive_time": "7200",
    "net/ipv4/tcp_max_syn_backlog": "4096",
    "net/ipv4/tcp_syncookies": "1",
    "net/ipv4/tcp_tw_reuse": "2",
    "vm/max_map_count": "65530",
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "vm/swappiness": "60",
    **{f"net/netfilter/nf_conntrack_{name}": str(value) for name, value in conntrack.TIME_OUTS.items()},
}
"""Below /proc/sys: what kubeadm's machines and the kubelet set, else the kernel's defaults."""

_LIMITS = (
    ("Max cpu time", "unlimited", "unlimited", "seconds"),
    ("Max file size", "unlimited", "unlimited", "bytes"),
    ("Max data size", "unlimited", "unlimited", "bytes"),
    ("Max stack size", "8388608", "unlimited", "bytes"),
    ("Max core file size", "unlimited", "unlimited", "bytes"),
    ("Max resident set", "unlimited", "unlimited", "bytes"),
    ("Max processes", "unlimited", "unlimited", "processes"),
    ("Max open files", "1048576", "1048576", "files"),
    ("Max locked memory", "8388608", "8388608", "bytes"),
    ("Max address space", "unlimited", "unlimited", "bytes"),
    ("Max file locks", "unlimited", "unlimited", "locks"),
    ("Max pending signals", "127791", "127791", "signals"),
    ("Max msgqueue size", "819200", "819200", "bytes"),
    ("Max nice priority", "0", "0", ""),
    ("Max realtime priority", "0", "0", ""),
    ("Max realtime timeout", "unlimited", "unlimited", "us"),
)


# --- control groups -----------------------------------------------------------------------------------


def control_group(figures: Callable[[], ContainerFigures], world: SimWorld, process: Process) -> Late:
    """The files of a container's control group, by name."""

    def of(render: Callable[[ContainerFigures], str]) -> Callable[[], str]:
        return lambda: render(figures())

    cpu, memory = process.cpu_limit, process.memory_limit
    found: dict[str, Callable[[], str]] = {
        "cgroup.controllers": lambda: "cpuset cpu io memory hugetlb pids rdma misc\n",
        "cgroup.procs": lambda: "1\n",
        "cpu.max": lambda: "max 100000\n" if cpu is None else f"{int(cpu * 100_000)} 100000\n",
        "cpu.pressure": of(_cpu_pressure),
        "cpu.stat": of(_cpu_stat),
        "io.stat": of(_io_stat),
        "memory.current": of(lambda each: f"{_pages(each.resident + each.cache)}\n"),
        "memory.events": of(_memory_events),
        "memory.high": lambda: "max\n",
        "memory.max": lambda: "max\n" if memory is None else f"{memory // PAGE * PAGE}\n",
        "memory.min": lambda: "0\n",
        "memory.peak": of(lambda each: f"{_pages(each.resident + each.cache)}\n"),
        "memory.stat": of(_memory_stat),
        "memory.swap.current": lambda: "0\n",
        "memory.swap.max": lambda: "0\n",
        "pids.current": of(lambda each: f"{pids.of_container(world, each.process)}\n"),
        "pids.max": lambda: "max\n",
    }
    return found


def tasks_of_pod(world: SimWorld, uid: str) -> str:
    """``pids.current`` of a pod's own group: its containers and what holds its sandbox."""
    here = (process for process in world.processes.values() if process.key[0] == uid)
    return f"{1 + sum(pids.of_container(world, process) for process in here)}\n"


def most_of_pod(world: SimWorld, uid: str) -> str:
    """``pids.max`` of a pod's own group."""
    return f"{pids.allowed(world, uid) or 'max'}\n"


def _pages(amount: float) -> int:
    return int(amount) // PAGE * PAGE


def _cpu_stat(each: ContainerFigures) -> str:
    used = int(each.cpu * 1e6)
    user = int(used * USER)
    throttled = int(each.throttled_seconds * 1e6)
    lines = [f"usage_usec {used}", f"user_usec {user}", f"system_usec {used - user}", "core_sched.force_idle_usec 0",
             f"nr_periods {int(each.periods)}", f"nr_throttled {int(each.throttled)}", f"throttled_usec {throttled}",
             "nr_bursts 0", "burst_usec 0"]  # fmt: skip
    return "\n".join(lines) + "\n"


def _cpu_pressure(each: ContainerFigures) -> str:
    # What is held back waits for a CPU: the kernel counts that as pressure.
    share = 100.0 * each.throttled / each.periods / 2 if each.periods else 0.0
    total = int(each.throttled_seconds * 1e6)
    line = f"avg10={share:.2f} avg60={share:.2f} avg300={share:.2f} total={total}\n"
    return f"some {line}full {line}"


def _io_stat(each: ContainerFigures) -> str:
    if not any(mount.kind == "pvc" for mount in each.process.mounts):
        return ""
    read, written = _traffic_of_disk(each)
    return (
        f"{DEVICE} rbytes={_pages(read)} wbytes={_pages(written)} rios={int(read) // PAGE} wios={int(written) // PAGE} "
        "dbytes=0 dios=0\n"
    )


def _traffic_of_disk(each: ContainerFigures) -> tuple[float, float]:
    if not any(mount.kind == "pvc" for mount in each.process.mounts):
        return 0.0, 0.0
    return each.requests * READ_BYTES + each.resident / 4, each.requests * WRITTEN_BYTES


def _memory_events(each: ContainerFigures) -> str:
    # The group of a run ends with it: what killed the one before is counted in a group that is gone.
    return "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n"


def _memory_stat(each: ContainerFigures) -> str:
    anonymous, cached = _pages(each.resident * 0.97), _pages(each.cache)
    kernel = _pages(each.resident) - anonymous
    lines = {
        "anon": anonymous, "file": cached, "kernel": kernel, "kernel_stack": pids.own(each.process) * 16384, "pagetables": _pages(kernel / 3),
        "percpu": 0, "sock": 0, "shmem": 0, "file_mapped": _pages(cached / 2), "file_dirty": 0, "file_writeback": 0, "swapcached": 0,
        "inactive_anon": _pages(anonymous * 0.96), "active_anon": 0, "inactive_file": _pages(cached * 2 / 3), "active_file": _pages(cached / 3),
        "unevictable": 0, "slab_reclaimable": _pages(kernel / 3), "slab_unreclaimable": _pages(kernel / 6),
        "workingset_refault_anon": 0, "workingset_refault_file": 0, "pgfault": anonymous // PAGE * 2, "pgmajfault": cached // PAGE // 64,
    }  # fmt: skip
    return "".join(f"{name} {value}\n" for name, value in lines.items())


# --- /proc --------------------------------------------------------------------------------------------


def of_machine(figures: Callable[[], MachineFigures], world: SimWorld, node: str, kernel: str) -> Late:
    """What /proc says of the machine, the same in every container: names below /proc."""

    def of(render: Callable[[MachineFigures], str]) -> Callable[[], str]:
        return lambda: render(figures())

    now = world.clock
    return {
        "cpuinfo": of(_cpuinfo),
        "diskstats": of(_diskstats),
        "loadavg": of(partial(_loadavg, world, node)),
        "meminfo": of(_meminfo),
        "pressure/cpu": of(
            lambda each: _pressure(max(0.0, each.busy / each.cores - 0.6) * 40.0, each.cpu, full=False)
        ),
        "pressure/io": of(lambda each: _pressure(0.0, 0.0)),
        "pressure/memory": of(
            lambda each: _pressure(max(0.0, 0.05 - each.available / each.memory) * 400.0, 0.0)
        ),
        "stat": of(partial(_stat, now)),
        "uptime": of(partial(_uptime, now)),
        "version": lambda: f"{build_of(kernel).banner(kernel)}\n",
        "sys/net/netfilter/nf_conntrack_count": of(lambda each: f"{each.connections}\n"),
        "sys/net/netfilter/nf_conntrack_max": lambda: f"{conntrack.most(world, node)}\n",
        "sys/kernel/osrelease": lambda: kernel + "\n",
        "sys/kernel/random/boot_id": lambda: f"{kubelet_unit.boot_ids(world, node)[-1][1]}\n",
        **{
            f"sys/{name.replace('.', '/')}": partial(_setting, world, node, name)
            for name in (pids.PID_MAX, pids.THREADS_MAX)
        },
        **{f"sys/{name}": partial(_text, value + "\n") for name, value in _SETTINGS.items()},
    }


def _text(text: str) -> str:
    return text


def _setting(world: SimWorld, node: str, name: str) -> str:
    return f"{pids.setting(world, node, name)}\n"


def memory_of(each: MachineFigures) -> dict[str, int]:
    """The fields of /proc/meminfo, kB: programs' memory is what is neither free nor cache."""
    total, available = each.memory >> 10, each.available >> 10
    free = int(available * 0.61)
    buffers = min(212_992, (available - free) // 8)
    cached = available - free - buffers
    used = total - available
    return {
        "MemTotal": total, "MemFree": free, "MemAvailable": available, "Buffers": buffers, "Cached": cached, "SwapCached": 0,
        "Active": int(used * 0.4) + cached // 2, "Inactive": int(used * 0.5) + cached // 2, "Unevictable": 0, "Mlocked": 0,
        "SwapTotal": 0, "SwapFree": 0, "Dirty": 412, "Writeback": 0, "AnonPages": int(used * 0.84), "Mapped": cached // 6, "Shmem": 2304,
        "KReclaimable": buffers // 2, "Slab": int(used * 0.06), "SReclaimable": buffers // 2, "SUnreclaim": int(used * 0.04),
        "KernelStack": 12_480, "PageTables": int(used * 0.01), "CommitLimit": total // 2, "Committed_AS": int(used * 1.9),
        "VmallocTotal": 34_359_738_367, "VmallocUsed": 61_204, "HugePages_Total": 0, "HugePages_Free": 0,
    }  # fmt: skip


def _meminfo(each: MachineFigures) -> str:
    lines = []
    for name, value in memory_of(each).items():
        unit = "" if name.startswith("HugePages") else " kB"
        lines.append(f"{name + ':':<15} {value:>8}{unit}\n")
    return "".join(lines)


def tasks(each: MachineFigures, world: SimWorld, node: str) -> int:
    """The tasks of a machine."""
    others = sum(pids.own(one.process) for one in each.containers)
    return pids.SYSTEM + others + int(pids.gathered(world, node))


def newest_pid(time: int, most: int) -> int:
    """The number of the process that was started last at an instant, of up to ``most``: they are given in turn, and from 300 on again
    when there are none left."""
    newest = 4000 + (time // SECOND) % 3_900_000
    return newest if newest < most else 300 + newest % max(most - 300, 1)


def _loadavg(world: SimWorld, node: str, each: MachineFigures) -> str:
    running = max(1, round(each.busy))
    newest = newest_pid(world.clock, pids.setting(world, node, pids.PID_MAX))
    count = tasks(each, world, node)
    return " ".join(f"{load:.2f}" for load in each.load) + f" {running}/{count} {newest}\n"


def _stat(now: int, each: MachineFigures) -> str:
    up = max(now - each.booted, 0) / SECOND
    lines = ["cpu  " + _times(each.cpu, up * each.cores)]
    lines += [f"cpu{core} " + _times(each.cpu / each.cores, up) for core in range(each.cores)]
    created = 4000 + int(up * 1.3)
    lines += [f"intr {int(up * 900 + each.cpu * 4000)}", f"ctxt {int(up * 1800 + each.cpu * 9000)}", f"btime {each.booted // SECOND}",
              f"processes {created}", f"procs_running {max(1, round(each.busy))}", "procs_blocked 0"]  # fmt: skip
    return "\n".join(lines) + "\n"


MODES = (
    ("user", 0.62),
    ("nice", 0.0),
    ("system", 0.31),
    ("idle", 0.0),
    ("iowait", 0.03),
    ("irq", 0.0),
    ("softirq", 0.04),
    ("steal", 0.0),
)
"""The columns of /proc/stat, and how what was used is shared among them; as node-exporter reads them."""


def _times(used: float, up: float) -> str:
    shares = [int((up - used if name == "idle" else used * share) * 100) for name, share in MODES]
    return " ".join(map(str, (*(max(0, share) for share in shares), 0, 0)))


def _uptime(now: int, each: MachineFigures) -> str:
    up = max(now - each.booted, 0) / SECOND
    return f"{up:.2f} {max(0.0, up * each.cores - each.cpu):.2f}\n"


def _pressure(share: float, total: float, *, full: bool = True) -> str:
    share = min(share, 99.0)
    line = f"avg10={share:.2f} avg60={share:.2f} avg300={share * 0.9:.2f} total={int(total * 4000)}\n"
    none = "avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
    return f"some {line}full {line if full else none}"


def _cpuinfo(each: MachineFigures) -> str:
    return "".join(
        f"processor\t: {core}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\n"
        "model name\t: Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz\nstepping\t: 6\ncpu MHz\t\t: 2899.998\n"
        f"cache size\t: 55296 KB\nphysical id\t: 0\nsiblings\t: {each.cores}\ncore id\t\t: {core // 2}\n"
        f"cpu cores\t: {max(1, each.cores // 2)}\nbogomips\t: 5799.99\n\n"
        for core in range(each.cores)
    )


def disk_traffic(each: MachineFigures) -> tuple[float, float]:
    """Bytes that a machine's containers have read from its data disk and written to it."""
    pairs = [_traffic_of_disk(one) for one in each.containers]
    return sum(read for read, _ in pairs), sum(written for _, written in pairs) + each.cpu * 20_000


def _diskstats(each: MachineFigures) -> str:
    read, written = disk_traffic(each)
    reads, writes = int(read) // PAGE, int(written) // PAGE
    row = f"{reads} 0 {int(read) // 512} {reads // 4} {writes} {writes // 3} {int(written) // 512} {writes // 2} 0 {writes // 3} {writes}"
    return f" 259       0 nvme1n1 {row} 0 0 0 0 0 0\n 259       1 nvme1n1p1 {row} 0 0 0 0 0 0\n"


def of_process(
    figures: Callable[[], ContainerFigures],
    process: Process,
    pid: int = 1,
    parent: int = 0,
    scope: str = "",
    threads: Callable[[], int] | None = None,
    name: str = "",
    runs: Account = ROOT,
) -> Late:
    """What /proc says of one process: names below /proc/PID. ``scope``: its control group as the machine sees it."""

    def status() -> str:
        each = figures()
        resident = each.resident >> 10
        count = pids.own(process) if threads is None else threads()
        switched = int(each.cpu * 900)
        uids, gids = (f"\t{number}" * 4 for number in (runs.uid, runs.gid))
        return (
            f"Name:\t{(name or process.binary.rpartition('/')[2])[:15]}\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t{pid}\nNgid:\t0\nPid:\t{pid}\nPPid:\t{parent}\n"
            f"TracerPid:\t0\nUid:{uids}\nGid:{gids}\nFDSize:\t64\n"
            f"VmPeak:\t{resident * 9:8d} kB\nVmSize:\t{resident * 9:8d} kB\nVmHWM:\t{resident:8d} kB\nVmRSS:\t{resident:8d} kB\n"
            f"RssAnon:\t{int(resident * 0.86):8d} kB\nRssFile:\t{resident - int(resident * 0.86):8d} kB\nVmSwap:\t       0 kB\n"
            f"Threads:\t{count}\nSigQ:\t0/127791\nNoNewPrivs:\t0\nSeccomp:\t0\nCpus_allowed_list:\t0-7\n"
            f"voluntary_ctxt_switches:\t{switched}\nnonvoluntary_ctxt_switches:\t{switched // 12}\n"
        )

    return {
        "limits": partial(_limits, process.open_files),
        "status": status,
        "cgroup": partial(_text, f"0::/{scope}\n"),
    }


def status_of(row: Row) -> str:
    """/proc/PID/status of a process of which no more is known than ``ps`` tells."""
    resident = row.resident >> 10
    uids = f"\t{row.uid}" * 4
    return (
        f"Name:\t{row.name[:15]}\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t{row.pid}\nNgid:\t0\nPid:\t{row.pid}\nPPid:\t{row.parent}\n"
        f"TracerPid:\t0\nUid:{uids}\nFDSize:\t64\nVmSize:\t{row.size:8d} kB\nVmRSS:\t{resident:8d} kB\nThreads:\t{row.threads}\n"
    )


def limits_of_daemon() -> str:
    """/proc/PID/limits of one of a machine's daemons."""
    return _limits(1_048_576)


def oom_score_adj(world: SimWorld, process: Process) -> str:
    """/proc/PID/oom_score_adj, as the kubelet sets it."""
    pod = world.store.get("pods", process.namespace, process.pod) or {}
    quality = (pod.get("status") or {}).get("qosClass", "")
    return f"{ {'Guaranteed': -997, 'BestEffort': 1000}.get(quality, 996) }\n"


def _limits(open_files: int = 0) -> str:
    head = f"{'Limit':<25} {'Soft Limit':<20} {'Hard Limit':<20} {'Units':<10}\n"
    return head + "".join(
        f"{name:<25} {soft:<20} {hard:<20} {unit:<10}\n"
        for name, soft, hard, unit in (
            (row[0], str(open_files), str(open_files), row[3])
            if open_files and row[0] == "Max open files"
            else row
            for row in _LIMITS
        )
    )


# --- networks -----------------------------------------------------------------------------------------


def of_network(address: str, ports: Callable[[], list[int]], closed: Callable[[], int]) -> Late:
    """What /proc says of a network namespace, in which so many connections have been closed of late: names below /proc."""

    def sockets() -> str:
        count = len(ports())
        return f"sockets: used {count + 12}\nTCP: inuse {count} orphan 0 tw {closed()} alloc {count + 1} mem 1\nUDP: inuse 0 mem 0\nUDPLITE: inuse 0\nRAW: inuse 0\nFRAG: inuse 0 memory 0\n"

    def listening() -> str:
        head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        rows = [
            f"{index:4d}: 00000000:{port:04X} 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
            f"{20_000 + keyed_bits('socket', address, port) % 900_000} 1 0000000000000000 100 0 0 10 0"
            for index, port in enumerate(ports())
        ]
        return head + "".join(f"{row:<149}\n" for row in rows)

    return {
        "net/sockstat": sockets,
        "net/tcp": listening,
        "net/tcp6": partial(_text, _TCP6),
    }


def of_namespace(settings: Mapping[str, str]) -> Late:
    """The settings of a network namespace that are its own: names below /proc."""
    return {
        f"sys/{name.replace('.', '/')}": partial(_text, "\t".join(value.split()) + "\n")
        for name, value in settings.items()
    }


_TCP6 = (
    "  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt"
    "   uid  timeout inode\n"
)


# --- the machine's own tree ---------------------------------------------------------------------------


def slice_of(pod: Manifest) -> str:
    """The control group of a pod below /sys/fs/cgroup, as the kubelet names it with systemd's driver."""
    uid = pod["metadata"]["uid"].replace("-", "_")
    quality = (pod.get("status") or {}).get("qosClass", "Guaranteed").lower()
    if quality == "guaranteed":
        return f"kubepods.slice/kubepods-pod{uid}.slice"
    return f"kubepods.slice/kubepods-{quality}.slice/kubepods-{quality}-pod{uid}.slice"


def container_statuses(pod: Manifest) -> Iterator[Mapping[str, Any]]:
    """All of a pod."""
    status = pod.get("status") or {}
    for field in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        yield from status.get(field) or ()


def scope_of(world: SimWorld, process: Process) -> str:
    """The control group of a container below /sys/fs/cgroup; empty where nobody knows its pod."""
    pod = world.store.get("pods", process.namespace, process.pod)
    if pod is None:
        return ""
    for status in container_statuses(pod):
        if status["name"] == process.container and status.get("containerID"):
            return f"{slice_of(pod)}/cri-containerd-{status['containerID'].partition('://')[2]}.scope"
    return ""
