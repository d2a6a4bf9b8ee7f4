"""Commands that look at the machine: ``top``, ``free``, ``vmstat``, ``iostat``, ``dmesg``, ``journalctl``,
``smartctl``, ``systemctl``, ``ss -s``.

In a container they see what a container sees: the whole machine's memory and load, no devices. The kernel's messages and
the disk's own figures are for containers with privileges; the journal and the runtime's socket for whoever has come
into the machine's files with ``chroot``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.durations import parse_rfc3339, rfc3339
from sregym_env.runtime import effort
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.shell import Shell
from sregym_env.sim.containers import pids
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.image_tools import format_date
from sregym_env.sim.programs.machine import kernel_files, kubelet_unit, records, time_service
from sregym_env.sim.programs.machine.records import Record
from sregym_env.sim.programs.process_list import Row
from sregym_env.sim.world import SimWorld, disks, wallclock
from sregym_env.sim.world.figures import IdleMachine, MachineFigures
from sregym_env.sim.world.plan import KERNEL, OS_IMAGE, VERSION
from sregym_env.sim.world.process import Process

Tool = Callable[[ProcessContext, Sequence[str], str, Shell], ExecResult]

LINE_EFFORT = 1.0
"""What a line that is shown costs (units of ``runtime/effort.py``)."""


def _failed(text: str, code: int = 1) -> ExecResult:
    return ExecResult(stderr=text, exit_code=code)


def machine_of(ctx: ProcessContext) -> MachineFigures:
    """What the kernel under a process counts; what an idle machine counts where nobody does."""
    ctx.unnoted()
    try:
        return ctx.world.figures.machine(ctx.process.node)
    except LookupError:
        return IdleMachine(ctx.world.clock)


def kernel_release(world: SimWorld, node: str) -> str:
    """The kernel of a machine."""
    machine = world.plan.machine(node)
    return KERNEL if machine is None else machine.kernel


def kubelet_version(world: SimWorld, node: str) -> str:
    """The release of a machine's kubelet."""
    machine = world.plan.machine(node)
    return VERSION if machine is None else machine.kubelet


def privileged(ctx: ProcessContext, *capabilities: str) -> bool:
    """Whether the container may do what the kernel keeps from containers that lack these capabilities."""
    process = ctx.process
    if not process.namespace:
        # Who is logged in on the machine itself.
        return True
    pod = ctx.world.store.get("pods", process.namespace, process.pod) or {"spec": {}}
    for field in ("containers", "initContainers", "ephemeralContainers"):
        for container in pod["spec"].get(field) or ():
            if container["name"] == process.container:
                context = container.get("securityContext") or {}
                added = (context.get("capabilities") or {}).get("add") or ()
                return bool(context.get("privileged")) or any(
                    each in added for each in capabilities or ("SYS_ADMIN", "SYSLOG")
                )
    return False


# --- memory, load and CPU -----------------------------------------------------------------------------


def free(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``free``: the machine's memory, whatever the container's limit."""
    flags = "".join(word[1:] for word in argv[1:] if word.startswith("-") and not word.startswith("--"))
    unit = next((u for u in ("b", "m", "g", "h") if u in flags), "k")
    memory = kernel_files.memory_of(machine_of(ctx))
    total, unused, available = memory["MemTotal"], memory["MemFree"], memory["MemAvailable"]
    cache = memory["Buffers"] + memory["Cached"]
    rows = (total, total - unused - cache, unused, memory["Shmem"], cache, available)
    cells = [_amount(value, unit) for value in rows]
    none = _amount(0, unit)
    head = "               total        used        free      shared  buff/cache   available\n"
    return ExecResult(
        f"{head}Mem:    {cells[0]:>12}{cells[1]:>12}{cells[2]:>12}{cells[3]:>12}{cells[4]:>12}{cells[5]:>12}\n"
        f"Swap:   {none:>12}{none:>12}{none:>12}\n"
    )


def _amount(kilobytes: int, unit: str) -> str:
    if unit == "h":
        value, at = float(kilobytes), 0
        while value >= 1024 and at < 3:
            value, at = value / 1024, at + 1
        return (
            "0B"
            if not kilobytes
            else f"{value:.1f}{('Ki', 'Mi', 'Gi', 'Ti')[at]}"
            if value < 10
            else f"{value:.0f}{('Ki', 'Mi', 'Gi', 'Ti')[at]}"
        )
    return str({"b": kilobytes << 10, "m": kilobytes >> 10, "g": kilobytes >> 20}.get(unit, kilobytes))


def uptime(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``uptime [-p|-s]``."""
    each = machine_of(ctx)
    if ctx.image.toolbox == "busybox" and ctx.process.namespace:
        return ExecResult(_uptime_line(ctx, each) + "\n")
    try:
        given, operands = options(list(argv[1:]), "ps", {"pretty": "p", "since": "s"})
        if operands:
            raise UsageError(f"extra operand '{operands[0]}'")
    except UsageError as error:
        return _failed(f"uptime: {error}\n")
    asked = {letter for letter, _ in given}
    if "s" in asked:
        ahead = ctx.wall() - ctx.now()
        return ExecResult(format_date(each.booted + ahead, "%Y-%m-%d %T") + "\n")
    return ExecResult((pretty(ctx.now() - each.booted) if "p" in asked else _uptime_line(ctx, each)) + "\n")


def pretty(up: int) -> str:
    """A time since a machine booted as ``uptime -p`` tells it."""
    minutes = max(up, 0) // SECOND // 60
    parts = (
        ("week", minutes // 10_080),
        ("day", minutes // 1440 % 7),
        ("hour", minutes // 60 % 24),
        ("minute", minutes % 60),
    )
    said = [f"{count} {name}{'s' if count != 1 else ''}" for name, count in parts if count]
    return f"up {', '.join(said) or '0 minutes'}"


def _uptime_line(ctx: ProcessContext, each: MachineFigures) -> str:
    minutes = max(ctx.now() - each.booted, 0) // SECOND // 60
    days, hours = minutes // 1440, f"{minutes // 60 % 24:2d}:{minutes % 60:02d}"
    up = f"{days} day{'s' if days != 1 else ''}, {hours}" if days else hours
    load = ", ".join(f"{value:.2f}" for value in each.load)
    return f" {format_date(ctx.wall(), '%T')} up {up},  0 users,  load average: {load}"


def _shares(each: MachineFigures) -> dict[str, float]:
    """Percent of all cores by mode, now."""
    busy = min(1.0, each.busy / each.cores) * 100
    found = {name: busy * share for name, share in kernel_files.MODES}
    return {**found, "idle": 100.0 - sum(found.values())}


def top(
    ctx: ProcessContext,
    argv: Sequence[str],
    stdin: str,
    shell: Shell,
    seen: Sequence[Row] = (),
    gathered: Sequence[pids.Leak] = (),
) -> ExecResult:
    """One look of ``top``: what runs in the process namespace, by its use of CPU, and what that has gathered."""
    each, busybox = machine_of(ctx), ctx.image.toolbox == "busybox"
    shares, memory = _shares(each), kernel_files.memory_of(each)
    rows = sorted(seen, key=lambda row: (-row.cores, row.pid))
    total = memory["MemTotal"]
    out = []
    if busybox:
        used = total - memory["MemFree"]
        load = " ".join(f"{value:.2f}" for value in each.load)
        out += [
            f"Mem: {used}K used, {memory['MemFree']}K free, {memory['Shmem']}K shrd, {memory['Buffers']}K buff, {memory['Cached']}K cached",
            f"CPU: {shares['user']:3.0f}% usr {shares['system']:3.0f}% sys   0% nic {shares['idle']:3.0f}% idle {shares['iowait']:3.0f}% io"
            f"   0% irq {shares['softirq']:3.0f}% sirq",
            f"Load average: {load} {max(1, round(each.busy))}/{kernel_files.tasks(each, ctx.world, ctx.process.node)} 57",
            "  PID  PPID USER     STAT   VSZ %VSZ CPU %CPU COMMAND",
        ]
        for row in rows:
            out.append(
                f"{row.pid:5d} {row.parent:5d} {row.user:<8} S    {_short(row.size):>5} {row.size * 100 // total:3d}%   {row.pid % each.cores} "
                f"{row.cores * 100 / each.cores:3.0f}% {row.command}"
            )
        return ExecResult("\n".join(out) + "\n")
    dead = sum(int(leak.at(ctx.now())) for leak in gathered if leak.dead)
    alive = len(rows) + sum(int(leak.at(ctx.now())) for leak in gathered if not leak.dead)
    out += [
        f"top -{_uptime_line(ctx, each)}",
        f"Tasks: {alive + dead + 1:3d} total,   1 running, {alive:3d} sleeping,   0 stopped, {dead:3d} zombie",
        f"%Cpu(s): {shares['user']:4.1f} us, {shares['system']:4.1f} sy,  0.0 ni, {shares['idle']:4.1f} id, {shares['iowait']:4.1f} wa,  0.0 hi, "
        f"{shares['softirq']:4.1f} si,  0.0 st",
        f"MiB Mem : {total / 1024:8.1f} total, {memory['MemFree'] / 1024:8.1f} free, {(total - memory['MemAvailable']) / 1024:8.1f} used, "
        f"{(memory['Buffers'] + memory['Cached']) / 1024:8.1f} buff/cache",
        f"MiB Swap:      0.0 total,      0.0 free,      0.0 used. {memory['MemAvailable'] / 1024:8.1f} avail Mem",
        "",
        "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND",
    ]
    for row in rows:
        size = row.resident >> 10
        clock = f"{int(row.seconds) // 60}:{row.seconds % 60:05.2f}"
        out.append(
            f"{row.pid:7d} {row.user:<8}  20   0 {row.size:7d} {size:6d} {size // 8:6d} S {row.cores * 100:5.1f} {size * 100 / total:5.1f} {clock:>9} "
            f"{row.name[:15]}"
        )
    return ExecResult("\n".join(out) + "\n")


def _short(kilobytes: int) -> str:
    return f"{kilobytes >> 10}m" if kilobytes >= 100_000 else str(kilobytes)


def usage(ctx: ProcessContext, process: Process) -> tuple[float, int, float]:
    """Cores in use now, resident bytes and seconds of CPU of a process."""
    ctx.unnoted()
    try:
        found = ctx.world.figures.container(process)
    except LookupError:
        return 0.0, process.memory, 0.0
    return found.cores, found.resident, found.cpu


def vmstat(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``vmstat``, its first line; ``vmstat SECONDS COUNT`` repeats it, a moment apart."""
    each = machine_of(ctx)
    memory, shares = kernel_files.memory_of(each), _shares(each)
    read, written = (
        int(value / max(1.0, (ctx.now() - each.booted) / SECOND)) >> 10
        for value in kernel_files.disk_traffic(each)
    )
    row = (
        f"{max(1, round(each.busy)):2d}  0      0 {memory['MemFree']:6d} {memory['Buffers']:6d} {memory['Cached']:6d}    0    0 {read:5d} {written:5d} "
        f"{900 + int(each.busy * 4000):4d} {1800 + int(each.busy * 9000):4d} {shares['user']:2.0f} {shares['system'] + shares['softirq']:2.0f} "
        f"{shares['idle']:2.0f} {shares['iowait']:2.0f}  0"
    )
    head = (
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    )
    numbers = [int(word[:6]) for word in argv[1:] if word.isdecimal()]
    count = min(numbers[1], 100) if len(numbers) > 1 else 1
    waited = float(min(numbers[0], 3600) * (count - 1)) if numbers else 0.0
    return ExecResult(head + f"{row}\n" * count, seconds=waited)


def iostat(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``iostat``, with ``-x`` extended: means since the machine booted."""
    each = machine_of(ctx)
    up = max(1.0, (ctx.now() - each.booted) / SECOND)
    shares = {name: each.cpu * share / up / each.cores * 100 for name, share in kernel_files.MODES}
    idle = 100.0 - sum(shares.values())
    read, written = kernel_files.disk_traffic(each)
    reads, writes = read / 4096 / up, written / 4096 / up
    release = kernel_release(ctx.world, ctx.process.node)
    out = [
        f"Linux {release} ({ctx.process.node}) \t{format_date(ctx.wall(), '%m/%d/%y')} \t_x86_64_\t({each.cores} CPU)",
        "",
        "avg-cpu:  %user   %nice %system %iowait  %steal   %idle",
        f"         {shares['user']:6.2f}    0.00  {shares['system'] + shares['softirq']:6.2f}  {shares['iowait']:6.2f}    0.00  {idle:6.2f}",
        "",
    ]
    if any(word.startswith("-") and "x" in word for word in argv[1:]):
        failing = 4.0 if records.media_errors(ctx.world, ctx.process.node) else 0.0
        wait = 0.31 + failing * 40
        out += [
            "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util",
            f"nvme1n1       {reads:7.2f} {read / 1024 / up:9.2f}     0.00   0.00 {wait:7.2f}     4.00 {writes:7.2f} {written / 1024 / up:9.2f}     0.00   0.00"
            f"    0.42     4.00 {reads * wait / 1000:7.2f} {min(100.0, (reads * wait + writes * 0.42) / 10):6.2f}",
        ]
    else:
        out += [
            "Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd",
            f"nvme1n1       {reads + writes:8.2f} {read / 1024 / up:12.2f} {written / 1024 / up:12.2f}         0.00 {int(read) >> 10:10d} {int(written) >> 10:10d}          0",
        ]
    return ExecResult("\n".join(out) + "\n\n")


# --- logs of the machine --------------------------------------------------------------------------------


def _kernel_records(ctx: ProcessContext) -> tuple[list[Record], MachineFigures]:
    each = machine_of(ctx)
    return _said_by_kernel(ctx, each.booted, each), each


def _said_by_kernel(ctx: ProcessContext, booted: int, each: MachineFigures) -> list[Record]:
    """What the kernel has said since a boot."""
    node = ctx.process.node
    return records.kernel(ctx.world, node, booted, kernel_release(ctx.world, node), each.memory)


def dmesg(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """The kernel's ring buffer, for those who may read it."""
    busybox = ctx.image.toolbox == "busybox"
    if not privileged(ctx):
        return _failed(
            "dmesg: klogctl: Operation not permitted\n"
            if busybox
            else "dmesg: read kernel buffer failed: Operation not permitted\n"
        )
    found, each = _kernel_records(ctx)
    words = [word for word in argv[1:] if word.startswith("-")]
    stamped = any(word in ("--ctime",) or (not word.startswith("--") and "T" in word) for word in words)
    level = next((word.partition("=")[2] for word in words if word.startswith("--level")), "")
    if "-l" in argv and argv.index("-l") + 1 < len(argv):
        level = argv[argv.index("-l") + 1]
    if level:
        known = {"emerg": 0, "alert": 1, "crit": 2, "err": 3, "warn": 4, "notice": 5, "info": 6}
        wanted = {known.get(name, -1) for name in level.split(",")}
        found = [record for record in found if record.priority in wanted]
    out = []
    # It knows how long the machine had been up, and counts from what the clock says now.
    ahead = wallclock.offset(ctx.world, ctx.process.node)
    for record in found:
        since = (record.time - each.booted) / SECOND
        stamp = format_date(record.time + ahead, "%a %b %e %T %Y") if stamped else f"{since:12.6f}"
        out.append(f"[{stamp}] {record.text}\n")
    effort.spend(LINE_EFFORT * len(out))
    return ExecResult("".join(out))


_JOURNAL_LONG = {
    "unit": "u:", "dmesg": "k", "lines": "n:", "reverse": "r", "follow": "f", "since": "S:", "until": "U:", "no-pager": "P", "output": "o:",
    "priority": "p:", "grep": "g:", "boot": "b::", "quiet": "q", "list-boots": "L", "utc": "Z", "pager-end": "e", "catalog": "x", "all": "a", "no-hostname": "H",
}  # fmt: skip
_PRIORITIES = ("emerg", "alert", "crit", "err", "warning", "notice", "info", "debug")


def journalctl(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """The machine's journal: kernel, kubelet and containerd."""
    try:
        given, operands = options(_of_boot(argv[1:]), "u:kn:rfS:U:Po:p:g:b::qZexaHL", _JOURNAL_LONG)
    except UsageError as error:
        return _failed(f"journalctl: {error}\n")
    units = [value.removesuffix(".service") for name, value in given if name == "u"]
    flags = dict(given)
    if operands:
        return _failed(f"Failed to add match '{operands[0]}': Invalid argument\n")
    world, node = ctx.world, ctx.process.node
    kernel, each = _kernel_records(ctx)
    runs = kubelet_unit.boot_ids(world, node)
    wanted_run = None
    if "b" in flags or ("k" in flags and "L" not in flags):
        wanted_run = _run_of(runs, flags.get("b", ""))
        if wanted_run is None:
            return _failed(
                f"Data from the specified boot ({flags['b']}) is not available: No such boot ID in journal\n"
            )
        if wanted_run < len(runs) - 1:
            kernel = _said_by_kernel(ctx, runs[wanted_run][0], each)
    daemons = (
        ()
        if "k" in flags
        else (*records.daemons(world, node), *time_service.journal(world, node, each.booted))
    )
    if "L" in flags:
        before = [_said_by_kernel(ctx, begin, each) for begin, _ in runs[:-1]]
        return ExecResult(
            _boots(ctx, runs, [*daemons, *kernel, *(record for said in before for record in said)])
        )
    if "k" in flags:
        found = kernel
    else:
        found = sorted([*(() if units else kernel), *daemons], key=lambda record: record.time)
        wanted = {"chrony" if unit in time_service.NAMES else unit for unit in units}
        found = [record for record in found if not units or record.unit in wanted]
    if wanted_run is not None:
        begin, end = runs[wanted_run][0], _ended(runs, wanted_run)
        found = [record for record in found if record.time >= begin and (end is None or record.time < end)]
    found = records.as_written(world, node, (record for record in found if record.time <= ctx.now()))
    now = ctx.wall()
    for name in ("S", "U"):
        if name in flags:
            moment = moment_of(flags[name], now)
            if moment is None:
                return _failed(f"Failed to parse timestamp: {flags[name]}\n")
            found = [
                record
                for record in found
                if (record.time >= moment if name == "S" else record.time <= moment)
            ]
    if "p" in flags:
        word = flags["p"].partition("..")[2] or flags["p"]
        highest = (
            _PRIORITIES.index(word)
            if word in _PRIORITIES
            else int(word)
            if word in tuple("01234567")
            else None
        )
        if highest is None:
            return _failed(f"Unknown log level {word}\n")
        found = [record for record in found if record.priority <= highest]
    if "g" in flags:
        matching = shell.library(
            "grep", ["-nE", "-e", flags["g"]], "".join(f"{record.text}\n" for record in found)
        ).stdout
        numbers = {int(line.partition(":")[0]) for line in matching.splitlines()}
        found = [record for at, record in enumerate(found, 1) if at in numbers]
    count = flags.get("n", "10" if "f" in flags else "1000" if "e" in flags else "all")
    if count != "all":
        if not count.isdecimal():
            return _failed(f"Failed to parse lines '{count}'\n")
        found = found[-int(count[:6]) :] if int(count[:6]) else []
    if "r" in flags:
        found = found[::-1]
    effort.spend(LINE_EFFORT * len(found))
    if not found:
        return ExecResult("-- No entries --\n")
    return ExecResult(
        "".join(journal_line(record, ctx.process.node, flags.get("o", "short")) for record in found)
    )


def syslog(ctx: ProcessContext, *, kernel: bool) -> str:
    """What a syslog daemon has written since the machine has booted: of the kernel, and of all."""
    world, node = ctx.world, ctx.process.node
    said, each = _kernel_records(ctx)
    if not kernel:
        since = each.booted
        said = [*said, *records.daemons(world, node), *time_service.journal(world, node, since)]
        said = [record for record in said if record.time >= since]
    found = records.as_written(
        world, node, sorted((r for r in said if r.time <= world.clock), key=lambda record: record.time)
    )
    effort.spend(LINE_EFFORT * len(found))
    return "".join(journal_line(record, node, "short") for record in found)


def _of_boot(words: Sequence[str]) -> list[str]:
    """A command line in which the value of ``-b`` stands with it."""
    found: list[str] = []
    for word in words:
        if found and _ASKS_BOOT.fullmatch(found[-1]) and _BOOT.fullmatch(word):
            found[-1] += f"={word}" if found[-1] == "--boot" else word
        else:
            found.append(word)
    return found


_ASKS_BOOT = re.compile(r"-[A-Za-z]*b|--boot")
_BOOT = re.compile(r"[-+]?\d{1,6}|[0-9a-f]{32}|all", re.ASCII)


def _run_of(runs: Sequence[tuple[int, str]], asked: str) -> int | None:
    """Which run of a machine somebody means: by how many before the last, by its number from the first, or by its identifier."""
    for at, (_, identity) in enumerate(runs):
        if asked == identity.replace("-", ""):
            return at
    if not re.fullmatch(r"[-+]?\d{0,6}", asked, re.ASCII):
        return None
    number = int(asked or "0")
    at = number - 1 if number > 0 else len(runs) - 1 + number
    return at if 0 <= at < len(runs) else None


def _ended(runs: Sequence[tuple[int, str]], at: int) -> int | None:
    return runs[at + 1][0] if at + 1 < len(runs) else None


def _boots(ctx: ProcessContext, runs: Sequence[tuple[int, str]], said: Sequence[Record]) -> str:
    """``journalctl --list-boots``."""
    world, node = ctx.world, ctx.process.node
    lines = ["IDX BOOT ID                          FIRST ENTRY                 LAST ENTRY                 "]
    for at, (begin, identity) in enumerate(runs):
        end = _ended(runs, at)
        told = [each.time for each in said if begin <= each.time < (ctx.now() + 1 if end is None else end)]
        first, last = (
            format_date(wallclock.shown(world, node, time), "%a %Y-%m-%d %T UTC")
            for time in (begin, max(told, default=begin))
        )
        lines.append(f"{at - len(runs) + 1:3d} {identity.replace('-', '')} {first} {last}")
    return "\n".join(lines) + "\n"


def journal_line(record: Record, node: str, form: str) -> str:
    """One line of the journal in one of its forms."""
    number = record.pid or records.PIDS.get(record.by or record.unit)
    who = (record.by or record.unit) if number is None else f"{record.by or record.unit}[{number}]"
    if form == "cat":
        return record.text + "\n"
    if form.startswith("json"):
        fields = {"__REALTIME_TIMESTAMP": str(record.time), "_HOSTNAME": node, "PRIORITY": str(record.priority), "SYSLOG_IDENTIFIER": record.by or record.unit,
                  "MESSAGE": record.text}  # fmt: skip
        return json.dumps(fields) + "\n"
    stamp = {
        "short-iso": lambda: rfc3339(record.time)[:19] + "+00:00",
        "short-precise": lambda: format_date(record.time, "%b %d %T") + f".{record.time % SECOND:06d}",
        "short-unix": lambda: f"{record.time // SECOND}.{record.time % SECOND:06d}",
    }.get(form, lambda: format_date(record.time, "%b %d %T"))()
    return f"{stamp} {node} {who}: {record.text}\n"


_UNITS = {
    "s": 1,
    "sec": 1,
    "second": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3600,
    "hr": 3600,
    "hour": 3600,
    "d": 86_400,
    "day": 86_400,
}


def moment_of(text: str, now: int) -> int | None:
    """A time as systemd reads it (``-1h``, ``10 min ago``, ``today``, an ISO date), microseconds; None where it cannot."""
    word = text.strip().lower()
    midnight = now // (86_400 * SECOND) * 86_400 * SECOND
    known = {"now": now, "today": midnight, "yesterday": midnight - 86_400 * SECOND}
    if word in known:
        return known[word]
    past = word.removesuffix(" ago").removeprefix("-").strip()
    if past != word:
        number = past[: len(past) - len(past.lstrip("0123456789"))]
        unit = past[len(number) :].strip()
        size = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
        return now - int(number[:9]) * size * SECOND if number and size else None
    if word.startswith("@") and word[1:].isdecimal():
        return int(word[1:13]) * SECOND
    try:
        stamp = text.strip().replace(" ", "T").removesuffix("Z")
        return parse_rfc3339(f"{stamp}{'' if 'T' in stamp else 'T00:00:00'}Z")
    except ValueError:
        return None


def systemctl(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``systemctl status`` and ``is-active`` of the daemons that are there; nothing is started or stopped by it."""
    words = [word for word in argv[1:] if not word.startswith("-")]
    if len(words) < 2 or words[0] not in ("status", "is-active", "is-enabled"):
        if words and words[0] in (
            "restart",
            "stop",
            "start",
            "reload",
            "enable",
            "disable",
            "kill",
            "daemon-reload",
        ):
            return _failed(
                f"Failed to {words[0]} {' '.join(words[1:]) or 'daemon'}: Running in chroot, ignoring request.\n"
            )
        return _failed("Running in chroot, ignoring command 'list-units'\n", 0)
    out, code = "", 0
    for word in words[1:]:
        name = word.removesuffix(".service")
        if name in time_service.NAMES and words[0] == "is-enabled":
            state = time_service.state(ctx.world, ctx.process.node)
            out, code = f"{out}{state}\n", code if state == "enabled" else 1
            continue
        if name not in ("kubelet", "containerd", *time_service.NAMES):
            out += f"Unit {name}.service could not be found.\n" if words[0] == "status" else "inactive\n"
            code = 4 if words[0] == "status" else 3
        elif words[0] != "status":
            out += "active\n" if words[0] == "is-active" else "enabled\n"
        else:
            # Without PID 1 behind it systemctl knows of a unit only what is in its files.
            out += f"○ {name}.service\n     Loaded: loaded (/lib/systemd/system/{name}.service; enabled; preset: enabled)\n"
            out += "     Active: unknown (Running in chroot, ignoring request.)\n"
    return ExecResult(out, exit_code=code)


def kubelet(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """The kubelet's program: its version; a second one beside that of the machine comes to nothing."""
    if any(word in ("--version", "--version=true") for word in argv[1:]):
        return ExecResult(f"Kubernetes {kubelet_version(ctx.world, ctx.process.node)}\n")
    text = "failed to run Kubelet: listen tcp 0.0.0.0:10250: bind: address already in use"
    pid = 20_000 + keyed_bits("kubelet", ctx.process.node, "second", ctx.now()) % 900_000
    line = records.daemon_line(ctx.wall(), "E", "run.go:72", f'"command failed" err={json.dumps(text)}', pid)
    return _failed(f"{line}\n")


# --- the disk -------------------------------------------------------------------------------------------


def smartctl(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """What the data disk says of itself."""
    head = f"smartctl 7.3 2022-02-28 r5338 [x86_64-linux-{kernel_release(ctx.world, ctx.process.node)}] (local build)\nCopyright (C) 2002-22, Bruce Allen, Christian Franke, www.smartmontools.org\n\n"
    devices = [word for word in argv[1:] if word.startswith("/dev/")]
    if "--scan" in argv:
        return ExecResult(
            "/dev/nvme0 -d nvme # /dev/nvme0, NVMe device\n/dev/nvme1 -d nvme # /dev/nvme1, NVMe device\n"
        )
    if not devices:
        return ExecResult(
            f"{head}ERROR: smartctl requires a device name as the final command-line argument.\n\n",
            exit_code=1,
        )
    device = devices[0]
    if not privileged(ctx):
        return ExecResult(
            f"{head}Smartctl open device: {device} failed: Operation not permitted\n", exit_code=2
        )
    if device.rstrip("0123456789pn").removesuffix("nvme") != "/dev/" or not device.startswith(
        ("/dev/nvme0", "/dev/nvme1")
    ):
        return ExecResult(f"{head}Smartctl open device: {device} failed: No such device\n", exit_code=2)
    errors = records.media_errors(ctx.world, ctx.process.node) if device.startswith("/dev/nvme1") else 0
    each = machine_of(ctx)
    read, written = kernel_files.disk_traffic(each)
    hours = (
        8000 + keyed_bits("disk", ctx.process.node) % 9000 + int((ctx.now() - each.booted) / SECOND / 3600)
    )
    health = "PASSED"
    warning = "0x04" if errors else "0x00"
    if errors:
        health = "FAILED!\n- NVM subsystem reliability has been degraded"
    text = (
        f"=== START OF SMART DATA SECTION ===\nSMART overall-health self-assessment test result: {health}\n\n"
    )
    if not any(word in ("-H", "--health") for word in argv[1:]):
        text += (
            "SMART/Health Information (NVMe Log 0x02)\n"
            f"Critical Warning:                   {warning}\n"
            "Temperature:                        38 Celsius\n"
            f"Available Spare:                    {100 if not errors else 61}%\n"
            "Available Spare Threshold:          10%\n"
            "Percentage Used:                    7%\n"
            f"Data Units Read:                    {int(read / 512_000) + 1_904_221:,}\n"
            f"Data Units Written:                 {int(written / 512_000) + 4_812_077:,}\n"
            f"Power On Hours:                     {hours:,}\n"
            "Unsafe Shutdowns:                   3\n"
            f"Media and Data Integrity Errors:    {errors}\n"
            f"Error Information Log Entries:      {errors}\n"
        )
    return ExecResult(head + text + "\n", exit_code=8 if errors else 0)


def sockets(ctx: ProcessContext, count: int, closed: int = 0) -> ExecResult:
    """``ss -s``: ``count`` sockets listen; ``closed`` connections wait for their port to be free again."""
    return ExecResult(
        f"Total: {count + 12}\nTCP:   {count + closed} (estab 0, closed {closed}, orphaned 0, timewait {closed})\n\nTransport Total     IP        IPv6\n"
        f"RAW\t  0         0         0        \nUDP\t  0         0         0        \nTCP\t  {count:<10}{count:<10}0        \n"
        f"INET\t  {count:<10}{count:<10}0        \nFRAG\t  0         0         0        \n\n"
    )


def lsblk(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """The disks: what the machine starts from, and the one with its files."""
    size = f"{machine_of(ctx).disk / 1024**3:.0f}G"
    small = f"{disks.BOOT_DISK_SIZE >> 30}G"
    rows = (
        (disks.BOOT_DISK, "259:2", small, "disk", ""), (f"└─{disks.BOOT_DISK}p1", "259:3", small, "part", disks.BOOT.path),
        (disks.ROOT_DISK, "259:0", size, "disk", ""), (f"└─{disks.ROOT_DISK}p1", "259:1", size, "part", disks.ROOT.path),
    )  # fmt: skip
    width = max(5, len(size))
    lines = [f"NAME        MAJ:MIN RM {'SIZE':>{width}} RO TYPE MOUNTPOINTS"]
    for name, number, room, kind, where in rows:
        lines.append(f"{name:<11} {number:<7}  0 {room:>{width}}  0 {kind} {where}".rstrip())
    return ExecResult("\n".join(lines) + "\n")


def lscpu(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``lscpu``: the processors, as /proc/cpuinfo tells of them."""
    cores = machine_of(ctx).cores
    each = max(1, cores // 2)
    rows = (
        ("Architecture:", "x86_64"), ("  CPU op-mode(s):", "32-bit, 64-bit"), ("  Byte Order:", "Little Endian"),
        ("CPU(s):", str(cores)), ("  On-line CPU(s) list:", f"0-{cores - 1}" if cores > 1 else "0"), ("Vendor ID:", "GenuineIntel"),
        ("  Model name:", "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz"), ("    CPU family:", "6"), ("    Model:", "106"),
        ("    Thread(s) per core:", str(cores // each)), ("    Core(s) per socket:", str(each)), ("    Socket(s):", "1"),
        ("    Stepping:", "6"), ("    BogoMIPS:", "5799.99"), ("Virtualization features:", ""), ("  Hypervisor vendor:", "KVM"),
        ("  Virtualization type:", "full"), ("NUMA:", ""), ("  NUMA node(s):", "1"),
        ("  NUMA node0 CPU(s):", f"0-{cores - 1}" if cores > 1 else "0"),
    )  # fmt: skip
    return ExecResult("".join(f"{name:<25}{value}".rstrip() + "\n" for name, value in rows))


TOOLS: Mapping[str, Tool] = {
    "lscpu": lscpu, "free": free, "uptime": uptime, "dmesg": dmesg, "vmstat": vmstat, "iostat": iostat, "journalctl": journalctl, "systemctl": systemctl,
    "smartctl": smartctl, "lsblk": lsblk, "kubelet": kubelet,
}  # fmt: skip
"""Commands by name; ``top`` needs to know what is to be seen (:func:`top`)."""

ON_MACHINES = frozenset(
    "kubelet pgrep dmesg journalctl systemctl timedatectl chronyc hwclock crictl vmstat ss netstat ip iptables iptables-save sysctl conntrack lsblk lscpu curl ping nstat ethtool".split()
)
_EXTRA = frozenset(("iostat", "smartctl"))


def on_machine(os_image: str = OS_IMAGE) -> frozenset[str]:
    """The commands that a machine has beside those of its distribution: purpose-made systems have no tools for disks."""
    plain = os_image.startswith(("Debian", "Ubuntu", "Rocky", "Amazon"))
    return ON_MACHINES | _EXTRA if plain else ON_MACHINES
