"""The general commands inside containers: what ``kubectl exec`` and shell scripts in containers can run.

Text tools come from the shell interpreter; what looks at the machine, the processes or the network is here,
and sees the container's own files, limits and network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf

from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.durations import parse_rfc3339, rfc3339
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.files import FileEntry, Files
from sregym_env.shell.shell import Shell, ShellCommand
from sregym_env.shell.shell import Shell as NewShell
from sregym_env.sim.containers import view
from sregym_env.sim.network import dns
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import httpd, image_tools, mongo_shell, net_tools, visits
from sregym_env.sim.programs.image_tools import format_date
from sregym_env.sim.programs.visits import Visit
from sregym_env.sim.world.process import Process

Tool = Callable[[ProcessContext, Sequence[str], str, "Shell"], ExecResult]

_TEXT = frozenset(
    "cat head tail wc grep fgrep egrep sed awk sort uniq cut paste tr rev nl fold expand tee xargs find basename "
    "dirname tree du true false clear sh base64 diff seq expr md5sum sha1sum sha256sum tac od rmdir echo printf "
    "ls mkdir touch rm cp mv ln chmod pwd readlink realpath stat strings split comm gzip gunzip zcat tar test [ "
    "sha512sum unexpand yes".split()
)
_DEBIAN_ONLY = frozenset("bash join column file".split())
_NETWORK_BUSYBOX = frozenset("nslookup wget nc telnet ping netstat ifconfig ip route traceroute arp".split())
_MACHINE = frozenset(
    "env printenv ps id whoami hostname uname date df mount free uptime sleep kill which sync nproc arch dd killall "
    "pidof top dmesg lsof timeout time chroot".split()
)

TEXT_TOOLS: Mapping[str, frozenset[str]] = {
    "busybox": _TEXT - {"strings", "split", "comm", "gzip", "zcat"} | {"gzip", "zcat"},
    "debian": _TEXT | _DEBIAN_ONLY,
    "none": frozenset(),
}
"""Commands of the interpreter that each kind of image has."""

OUR_TOOLS: Mapping[str, frozenset[str]] = {
    "busybox": _MACHINE | _NETWORK_BUSYBOX,
    "debian": _MACHINE | frozenset(("getent", "apt-get", "apt")),
    "none": frozenset(),
}
"""Commands of this package that each kind of image has. Images may add more (``curl``, ``dig``) as binaries."""


def container_shell(ctx: ProcessContext, *, setup: bool = False, visit: Visit | None = None) -> Shell:
    """A shell in the container of ``ctx``. ``setup``: as the image's entrypoint before the server is up.

    ``visit`` keeps the time that its commands take; without one they take none.
    """
    visit = visit or Visit(ctx, limit=inf)
    world, process = ctx.world, ctx.process
    image = ctx.image
    tree = Files(mtime=process.started_at / SECOND)
    tree.add(view.files(world, process))
    # Over the image's own files: the kubelet mounts these there.
    tree.add(_synthetic(ctx))
    tree.add_directories(mount.path for mount in process.mounts if not mount.sub_path)
    tree.add_directories((image.workdir, "/tmp", "/proc", "/bin", "/usr/bin"))
    names = OUR_TOOLS[image.toolbox] | (image.binaries.keys() & TOOLS.keys())
    commands: dict[str, ShellCommand] = {
        name: _bound(visit, TOOLS[name]) for name in sorted(names - TIMED.keys())
    }
    timed = names | TEXT_TOOLS[image.toolbox]
    commands.update({name: partial(TIMED[name], visit) for name in sorted(timed & TIMED.keys())})
    for name, command in program_commands(visit, setup).items():
        commands[name] = command
    if "ls" in TEXT_TOOLS[image.toolbox]:
        commands["ls"] = _ls
    if image.toolbox == "busybox":
        commands["tar"] = _tar
    return Shell(
        tree,
        commands,
        env=environment(ctx),
        cwd=image.workdir,
        only=TEXT_TOOLS[image.toolbox],
        seed=keyed_bits(world.streams.seed, process.started_at, process.key[0]),
        name="sh" if image.toolbox == "busybox" else "bash",
        clock=lambda: visit.now,
    )


def environment(ctx: ProcessContext) -> dict[str, str]:
    """The environment of the container's processes."""
    process = ctx.process
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {"PATH": path, "HOSTNAME": process.hostname, **process.env, "HOME": "/root"}


def program_commands(visit: Visit, setup: bool) -> dict[str, ShellCommand]:
    """Commands that the container's own program brings (``mongo``, ``consul`` ...)."""
    found: dict[str, ShellCommand] = {}
    image = visit.ctx.image
    for program in sorted({binary.program for binary in image.binaries.values()}):
        for name, command in visit.ctx.world.programs[program].commands.items():
            if name in image.binaries or name not in TOOLS:
                found[name] = _program_command(visit, command, setup)
    return found


def _program_command(visit: Visit, command: Callable[..., ExecResult], setup: bool) -> ShellCommand:
    def call(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        if setup and argv[0] == "mongo":
            return mongo_shell.run(visit.ctx, argv, stdin, setup=True)
        result = command(visit.ctx, argv, stdin)
        visit.take(result.seconds)
        return result

    return call


def _bound(visit: Visit, tool: Tool) -> ShellCommand:
    def call(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        result = tool(visit.ctx, argv, stdin, shell)
        visit.take(result.seconds)
        return result

    return call


def save(ctx: ProcessContext, shell: Shell, before: Mapping[str, str]) -> str:
    """Write what a script changed back to the container; complaints about read-only places.

    ``before`` is the tree of the shell's files as it was.
    """
    after = shell.files.tree()
    complaints = []
    for path in sorted({*after, *before}):
        text = after.get(path)
        if text == before.get(path) or path.startswith(("/proc/", "/sys/", "/dev/")):
            continue
        try:
            view.write(ctx.world, ctx.process, path, text)
        except OSError:
            complaints.append(f"sh: can't create {path}: Read-only file system\n")
    return "".join(complaints)


_HOSTS = """# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
"""
"""What the kubelet writes at the top of every pod's hosts file (``managedHostsFileContent``)."""


def _hosts_file(entries: Sequence[tuple[str, Sequence[str]]], own: str) -> str:
    """The file's text; the first two entries are those of the loop-back interface."""
    lines = [(address, "\t".join(names)) for address, names in entries[2:]]
    text = _HOSTS + "".join(f"{address}\t{names}\n" for address, names in lines if address == own)
    aliases = "".join(f"{address}\t{names}\n" for address, names in lines if address != own)
    return f"{text}\n# Entries added by HostAliases.\n{aliases}" if aliases else text


def _synthetic(ctx: ProcessContext) -> dict[str, str]:
    """Files that the kubelet and the kernel provide."""
    process, world = ctx.process, ctx.world
    limit = process.memory_limit
    cpu = process.cpu_limit
    return {
        "/etc/hosts": _hosts_file(dns.hosts_entries(world, process), process.ip),
        "/etc/hostname": process.hostname + "\n",
        "/etc/resolv.conf": dns.resolv_conf(world, process).text,
        "/proc/1/cmdline": "\0".join(process.argv) + "\0",
        "/proc/1/comm": process.binary.rpartition("/")[2][:15] + "\n",
        "/proc/1/environ": "\0".join(f"{k}={v}" for k, v in environment(ctx).items()) + "\0",
        "/proc/1/status": (
            f"Name:\t{process.binary}\nState:\tS (sleeping)\nPid:\t1\nPPid:\t0\nVmRSS:\t{process.memory >> 10} kB\n"
        ),
        "/proc/meminfo": "MemTotal:       16777216 kB\nMemFree:         6291456 kB\nMemAvailable:   11534336 kB\n",
        "/proc/loadavg": "0.42 0.38 0.35 2/912 57\n",
        "/proc/uptime": f"{_host_uptime(ctx):.2f} {_host_uptime(ctx) * 7:.2f}\n",
        "/sys/fs/cgroup/memory.max": "max\n" if limit is None else f"{limit}\n",
        "/sys/fs/cgroup/memory.current": f"{process.memory}\n",
        "/sys/fs/cgroup/cpu.max": "max 100000\n" if cpu is None else f"{int(cpu * 100000)} 100000\n",
    }


def _host_uptime(ctx: ProcessContext) -> float:
    plan, node = ctx.world.plan, ctx.process.node
    machine = plan.machine(node)
    joined = plan.born + (0 if machine is None else machine.joins)
    return (ctx.now() - int(ctx.world.memory.get(f"node.booted:{node}", joined))) / SECOND


# --- commands about the machine and its processes ------------------------------------------------------


def _ok(text: str) -> ExecResult:
    return ExecResult(text)


def _fail(text: str, code: int = 1) -> ExecResult:
    return ExecResult(stderr=text, exit_code=code)


def _env(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    wanted = [word for word in argv[1:] if not word.startswith("-")]
    variables = shell.exported
    if argv[0] == "printenv" and wanted:
        missing = [name for name in wanted if name not in variables]
        return ExecResult(
            "".join(f"{variables[n]}\n" for n in wanted if n in variables), exit_code=int(bool(missing))
        )
    while wanted and "=" in wanted[0]:
        name, _, value = wanted.pop(0).partition("=")
        variables[name] = value
    if wanted and argv[0] == "env":
        if not shell.has(wanted[0]):
            return _fail(f"env: can't execute '{wanted[0]}': No such file or directory\n", 127)
        return shell.library("env", argv[1:], stdin)
    return _ok("".join(f"{name}={value}\n" for name, value in variables.items()))


PROCESSOR_SHARE = 0.006
"""CPU time that ``ps`` shows per second of a program's life: that of a mostly idle server."""


def _ps(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    procps = ctx.image.toolbox == "debian"
    listed = [(pid, process.memory >> 10, process.started_at, " ".join(_command(process.program, process.argv)))
              for pid, process in visible_processes(ctx)]  # fmt: skip
    if procps:
        now = rfc3339(ctx.now())[11:16]
        lines = ["USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"]
        for pid, rss, since, command in listed:
            started = rfc3339(since)[11:16]
            lines.append(
                f"root       {pid:>5}  0.6  {rss / 167772.16:3.1f} {rss * 9:6d} {rss:5d} ?        Ssl  {started}   "
                f"{_used(ctx, since)} {command}\n"
            )
        lines.append(f"root          57  0.0  0.0   7064  1560 ?        R    {now}   0:00 {' '.join(argv)}\n")
        return _ok("".join(lines))
    lines = [f"{pid:>5} root      {_used(ctx, since)} {command}\n" for pid, _, since, command in listed]
    return _ok(f"PID   USER     TIME  COMMAND\n{''.join(lines)}   57 root      0:00 {' '.join(argv)}\n")


def _used(ctx: ProcessContext, since: int) -> str:
    """CPU time of a mostly idle server that has run since then."""
    used = int((ctx.now() - since) / SECOND * PROCESSOR_SHARE)
    return f"{used // 60}:{used % 60:02d}"


def visible_processes(ctx: ProcessContext) -> list[tuple[int, Process]]:
    """The main processes in the container's process namespace, with their numbers in it."""
    world, own = ctx.world, ctx.process
    pod = world.store.get("pods", own.namespace, own.pod)
    spec = {} if pod is None else pod["spec"]
    if spec.get("hostPID"):
        others = [process for _, process in sorted(world.processes.items()) if process.node == own.node]
        return [(1000 + 211 * index, process) for index, process in enumerate(others)]
    if spec.get("shareProcessNamespace"):
        names = [container["name"] for container in spec["containers"]]
        names += [container["name"] for container in spec.get("ephemeralContainers") or ()]
        shared = [found for name in names if (found := world.processes.get((own.key[0], name))) is not None]
        # Number 1 is the pause container's.
        return [(7 + 12 * index, process) for index, process in enumerate(shared)]
    target = next(
        (
            c.get("targetContainerName")
            for c in spec.get("ephemeralContainers") or ()
            if c["name"] == own.container
        ),
        None,
    )
    seen = world.processes.get((own.key[0], target)) if target else None
    return [(1, own)] if seen is None else [(1, seen), (21, own)]


def _command(program: str, argv: Sequence[str]) -> list[str]:
    """What process 1 runs: an image's entrypoint script puts the program in its own place."""
    if not argv or not argv[0].endswith("docker-entrypoint.sh"):
        return list(argv)
    words = list(argv[1:])
    return words if words and not words[0].startswith("-") else [program, *words]


def _top(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    process = ctx.process
    total, rss = 16 << 20, process.memory >> 10
    return _ok(
        f"Mem: {total - 6291456}K used, 6291456K free, 2304K shrd, 212992K buff, 4718592K cached\n"
        "CPU:   3% usr   1% sys   0% nic  95% idle   0% io   0% irq   0% sirq\n"
        "Load average: 0.42 0.38 0.35 2/912 57\n  PID  PPID USER     STAT   VSZ %VSZ CPU %CPU COMMAND\n"
        f"    1     0 root     S     {rss}  {rss * 100 // total}%   1   0% {' '.join(_command(process.program, process.argv))}\n"
    )


def _id(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    user = ctx.image.user
    name = "root" if user == 0 else str(user)
    if argv[0] == "whoami":
        return _ok(name + "\n") if user == 0 else _fail(f"whoami: unknown uid {user}\n")
    if "-u" in argv:
        return _ok(f"{user}\n")
    return _ok(
        f"uid={user}({name}) gid={user}({name}) groups={user}({name})\n"
        if user == 0
        else f"uid={user} gid=0(root)\n"
    )


def _hostname(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    if any(word in ("-i", "-I") for word in argv[1:]):
        return _ok(ctx.process.ip + "\n")
    return _ok(ctx.process.hostname + "\n")


def _uname(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    if "-r" in argv:
        return _ok("6.1.0-32-amd64\n")
    if "-m" in argv or argv[0] == "arch":
        return _ok("x86_64\n")
    if "-a" in argv:
        return _ok(
            f"Linux {ctx.process.hostname} 6.1.0-32-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.129-1 x86_64 Linux\n"
        )
    return _ok("Linux\n")


def _date(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    busybox = ctx.image.toolbox == "busybox"
    try:
        given, operands = options(list(argv[1:]), "d:D:r:s:uRI::", _DATE_LONG)
    except UsageError as error:
        usage = _DATE_USAGE if busybox else "Try 'date --help' for more information.\n"
        return _fail(f"date: {error}\n{usage}")
    flags = dict(given)
    ctx.unnoted()
    now = round(shell.clock() * SECOND)
    if "s" in flags or any(not word.startswith("+") for word in operands):
        return _fail("date: can't set date: Operation not permitted\n")
    if "d" in flags:
        asked = _moment(flags["d"], now)
        if asked is None:
            return _fail(f"date: invalid date '{flags['d']}'\n")
        now = asked
    form = next((word[1:] for word in operands), "%a %b %e %H:%M:%S %Z %Y")
    if "R" in flags:
        form = "%a, %d %b %Y %H:%M:%S %z"
    elif "I" in flags:
        unit = flags["I"] or "date"
        form = next((form for name, form in _ISO.items() if name.startswith(unit)), "%F")
    return _ok(format_date(now, form) + "\n")


_DATE_LONG = {
    "date": "d:", "utc": "u", "universal": "u", "rfc-2822": "R", "rfc-email": "R", "iso-8601": "I::", "reference": "r:", "set": "s:",
}  # fmt: skip
_DATE_USAGE = (
    "BusyBox v1.36.1 (2023-05-18 22:34:17 UTC) multi-call binary.\n\n"
    "Usage: date [OPTIONS] [+FMT] [[-s] TIME]\n\nDisplay time (using +FMT), or set time\n"
)
_ISO = {
    "date": "%F",
    "hours": "%Y-%m-%dT%H+00:00",
    "minutes": "%Y-%m-%dT%H:%M+00:00",
    "seconds": "%Y-%m-%dT%H:%M:%S+00:00",
    "ns": "%Y-%m-%dT%H:%M:%S,%N+00:00",
}
"""Forms of ``date -I``, by the name of their precision."""


def _moment(text: str, now: int) -> int | None:
    """The time that ``date -d`` is asked about, microseconds; None for forms that are not understood."""
    word = text.strip()
    if word in ("", "now", "today"):
        return now
    try:
        if word.startswith("@"):
            return int(word[1:13]) * SECOND
        stamp = word.replace(" ", "T")
        return parse_rfc3339(
            stamp if stamp.endswith("Z") else f"{stamp}{'' if 'T' in stamp else 'T00:00:00'}Z"
        )
    except ValueError:
        return None


def _df(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    human = any("h" in word for word in argv[1:] if word.startswith("-"))
    rows = [("overlay", "/"), ("tmpfs", "/dev"), ("/dev/nvme1n1p1", "/etc/hosts")]
    rows += [
        ("/dev/nvme1n1p1", m.path) for m in ctx.process.mounts if m.kind in ("pvc", "hostpath", "emptydir")
    ]
    rows += [("tmpfs", m.path) for m in ctx.process.mounts if m.kind in ("secret", "projected")]
    lines = ["Filesystem                Size      Used Available Use% Mounted on" if human
             else "Filesystem           1K-blocks      Used Available Use% Mounted on"]  # fmt: skip
    for device, path in rows:
        big = device != "tmpfs"
        size, used = (98_831_908, 30_720_000) if big else (65_536, 0)
        free, share = size - used, used * 100 // size
        if human:
            cells = [
                f"{n / 1048576:.1f}G" if n >= 1048576 else f"{n / 1024:.1f}M" if n else "0"
                for n in (size, used, free)
            ]
            lines.append(f"{device:<22}{cells[0]:>9}{cells[1]:>10}{cells[2]:>10}{share:>4}% {path}")
        else:
            lines.append(f"{device:<21}{size:>9}{used:>10}{free:>10}{share:>4}% {path}")
    return _ok("\n".join(lines) + "\n")


def _mount(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    lines = [
        "overlay on / type overlay (rw,relatime)",
        "proc on /proc type proc (rw,nosuid,nodev,noexec,relatime)",
    ]
    for mount in ctx.process.mounts:
        mode = "ro" if mount.read_only or mount.kind in ("configmap", "secret", "projected") else "rw"
        kind, device = (
            ("tmpfs", "tmpfs") if mount.kind in ("secret", "projected") else ("ext4", "/dev/nvme1n1p1")
        )
        lines.append(f"{device} on {mount.path} type {kind} ({mode},relatime)")
    return _ok("\n".join(lines) + "\n")


def _free(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    divide = 1024 if "-m" in argv else 1
    total, used, free, cached = (n // divide for n in (16777216, 5242880, 6291456, 5242880))
    return _ok(
        "              total        used        free      shared  buff/cache   available\n"
        f"Mem:    {total:>11} {used:>11} {free:>11} {2304 // divide:>11} {cached:>11} {free + cached:>11}\n"
        "Swap:             0           0           0\n"
    )


def _uptime(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    days = int(_host_uptime(ctx) // 86_400)
    clock = format_date(ctx.now(), "%T")
    return _ok(f" {clock} up {days} days,  2:11,  0 users,  load average: 0.42, 0.38, 0.35\n")


def _kill(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    words = list(argv[1:])
    signal = "TERM"
    if words and words[0].startswith("-"):
        signal = words.pop(0).lstrip("-").upper().removeprefix("SIG")
        if signal == "S" and words:
            signal = words.pop(0).upper().removeprefix("SIG")
        if signal == "L":
            return _ok("HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM\n")
    if argv[0] in ("killall", "pkill"):
        if not words or words[0] != ctx.process.binary.rpartition("/")[2]:
            return _fail(f"{argv[0]}: {words[0] if words else ''}: no process killed\n")
    elif not words:
        return _fail("kill: you need to specify whom to kill\n")
    elif words[0] != "1":
        return _fail(f"sh: can't kill pid {words[0]}: No such process\n")
    # The kernel drops a SIGKILL that process 1 is sent from within its namespace.
    if signal in ("TERM", "15", "INT", "2", "QUIT", "3"):
        wait, code = ctx.world.programs[ctx.process.program].terminate(ctx)
        if wait < 3600:
            ctx.exit(code, delay=wait)
    return ExecResult()


def _pidof(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    name = argv[1] if len(argv) > 1 else ""
    return _ok("1\n") if name == ctx.process.binary.rpartition("/")[2] else ExecResult(exit_code=1)


def _which(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    image = ctx.image
    lines = []
    for name in argv[1:]:
        if name in image.binaries:
            lines.append(f"/usr/local/bin/{name}\n")
        elif shell.has(name):
            lines.append(f"/{'usr/' if image.toolbox == 'debian' else ''}bin/{name}\n")
    return ExecResult("".join(lines), exit_code=int(len(lines) < len(argv) - 1))


def _dd(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    options = dict(word.partition("=")[::2] for word in argv[1:])
    source = options.get("if", "")
    if source and not source.startswith("/dev/"):
        path = shell.resolve(source)
        fraction = ctx.disk_failing(path)
        if fraction and ctx.chance("disk") < fraction:
            return _fail(
                f"dd: error reading '{source}': Input/output error\n0+0 records in\n0+0 records out\n"
            )
        if shell.files.text(path) is None:
            return _fail(f"dd: can't open '{source}': No such file or directory\n")
    target = options.get("of", "")
    if target and not target.startswith("/dev/"):
        try:
            view.write(ctx.world, ctx.process, shell.resolve(target), "")
        except OSError:
            return _fail(f"dd: can't open '{target}': Read-only file system\n")
    count = options.get("count", "1")
    return ExecResult(stderr=f"{count}+0 records in\n{count}+0 records out\n")


def _nproc(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    return _ok("8\n")


def _quiet(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    return ExecResult()


def _time(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``time command`` of busybox, where no shell has taken the word for itself."""
    words = [word for word in argv[1:] if word not in ("-p", "-v")]
    if not words:
        return _fail(
            "BusyBox v1.36.1 (2023-05-18 22:34:17 UTC) multi-call binary.\n\nUsage: time [-vpa] [-o FILE] PROG ARGS\n"
        )
    if not shell.has(words[0]):
        return _fail(f"time: can't execute '{words[0]}': No such file or directory\n", 127)
    began = shell.clock()
    result = shell.call(words, stdin)
    minutes, seconds = divmod(shell.clock() - began, 60)
    took = f"real\t{minutes:.0f}m {seconds:.2f}s\nuser\t0m 0.00s\nsys\t0m 0.00s\n"
    return result.then(took, result.exit_code)


def _no_packages(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    return _fail(
        "E: Could not get lock /var/lib/dpkg/lock-frontend - open (30: Read-only file system)\n"
        "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?\n",
        100,
    )


def _getent(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    if len(argv) < 3 or argv[1] not in ("hosts", "ahosts", "ahostsv4"):
        return ExecResult(exit_code=2)
    found = dns.resolve(ctx.world, ctx.process, argv[2])
    if found.error or not found.addresses:
        return ExecResult(exit_code=2)
    return _ok("".join(f"{address:<15} {found.canonical or argv[2]}\n" for address in found.addresses))


_TOTAL = re.compile(r"^total \d+\n", re.MULTILINE)
_LISTED = re.compile(r"^([-dlc][-rwxst]{9}) +(\d+) \S+ +\S+ +(\d+) (\S+ +\d+ +[\d:]+) (.*)$", re.MULTILINE)


def _ls(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``ls``: the library's, with the columns of a container."""
    result = shell.library("ls", argv[1:])
    if not any(word.startswith("-") and "l" in word for word in argv[1:]):
        return result
    text = _TOTAL.sub("", result.stdout)
    text = _LISTED.sub(lambda m: f"{m[1]} {m[2]:>4} root     root {m[3]:>12} {m[4]} {m[5]}", text)
    lines = text.count("\n")
    return ExecResult(
        f"total {lines * 4}\n{text}" if _TOTAL.search(result.stdout) else text,
        result.stderr,
        result.exit_code,
    )


_BUSYBOX_TAR = (
    (re.compile(r"Removing leading `/' from member names"), "removing leading '/' from member names"),
    (re.compile(r"(.*): Cannot stat: (.*)"), r"\1: \2"),
    (
        re.compile(r"Exiting with failure status due to previous errors"),
        "error exit delayed from previous errors",
    ),
    (
        re.compile(r"(.*): Cannot open: (.*)\ntar: Error is not recoverable: exiting now"),
        r"can't open '\1': \2",
    ),
    (re.compile(r"This does not look like a tar archive\n.*"), "short read"),
)
"""GNU's complaints and how busybox words them."""


def _tar(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``tar`` of busybox: the interpreter's in other words."""
    result = shell.library("tar", argv[1:], stdin)
    errors = result.stderr
    for pattern, words in _BUSYBOX_TAR:
        errors = pattern.sub(words, errors)
    return ExecResult(result.stdout, errors, min(result.exit_code, 1))


def _chroot(visit: Visit, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """A command of the machine whose files are below a directory (``chroot /host`` in a node's debug pod)."""
    if len(argv) < 2:
        return _fail("BusyBox v1.36.1 () multi-call binary.\n\nUsage: chroot NEWROOT [PROG ARGS]\n")
    root = shell.resolve(argv[1])
    if not shell.files.is_folder(root):
        return _fail(f"chroot: can't change root directory to '{argv[1]}': No such file or directory\n")
    inside = Files(mtime=shell.files.mtime)
    for name, entry in shell.files.below(root):
        if isinstance(entry, FileEntry):
            inside.put_bytes(f"/{name}", entry.content)
        else:
            inside.add_directories((f"/{name}",))
    names = OUR_TOOLS["debian"] - {"apt", "apt-get"} | {"ip", "ss", "netstat"} & TOOLS.keys()
    commands = {name: _bound(visit, TOOLS[name]) for name in sorted(names - TIMED.keys())}
    commands.update({name: partial(TIMED[name], visit) for name in sorted(names & TIMED.keys())})
    machine = NewShell(
        inside, commands, env=environment(visit.ctx), only=TEXT_TOOLS["debian"], clock=shell.clock
    )
    before = inside.tree()
    words = list(argv[2:]) or ["/bin/sh"]
    if not machine.has(words[0]):
        return _fail(f"chroot: can't execute '{words[0]}': No such file or directory\n", 127)
    result = machine.call(words, stdin)
    visit.check()
    for path, text in inside.tree().items():
        if before.get(path) != text and not path.endswith("/"):
            shell.files.put_bytes(root.rstrip("/") + path, inside.bytes_of(path) or b"")
    return result


TOOLS: Mapping[str, Tool] = {
    "httpd": httpd.command,
    "env": _env,
    "printenv": _env,
    "ps": _ps,
    "top": _top,
    "id": _id,
    "whoami": _id,
    "hostname": _hostname,
    "uname": _uname,
    "arch": _uname,
    "date": _date,
    "df": _df,
    "mount": _mount,
    "free": _free,
    "uptime": _uptime,
    "kill": _kill,
    "killall": _kill,
    "pidof": _pidof,
    "which": _which,
    "dd": _dd,
    "nproc": _nproc,
    "sync": _quiet,
    "dmesg": _quiet,
    "lsof": _quiet,
    "time": _time,
    "apt-get": _no_packages,
    "apt": _no_packages,
    "getent": _getent,
    **net_tools.TOOLS,
    **image_tools.TOOLS,
}


def _tail(visit: Visit, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``tail``; one that follows goes on until somebody ends it."""
    result = shell.library("tail", argv[1:], stdin)
    if not follows(argv) or result.exit_code:
        return result
    shell.show(result)
    visit.take(inf)
    return ExecResult()


def follows(argv: Sequence[str]) -> bool:
    """Whether a command line is that of a ``tail`` that waits for more."""
    if argv[0].rpartition("/")[2] != "tail":
        return False
    short = "".join(word[1:] for word in argv[1:] if word.startswith("-") and not word.startswith("--"))
    return "f" in short or "F" in short or any(word.startswith("--follow") for word in argv[1:])


TIMED: Mapping[str, Callable[[Visit, Sequence[str], str, Shell], ExecResult]] = {
    "chroot": _chroot,
    "sleep": visits.wait,
    "tail": _tail,
    "timeout": visits.timeout,
}
"""Commands that have to do with the time which others take."""
