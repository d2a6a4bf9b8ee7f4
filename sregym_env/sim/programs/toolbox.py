"""The general commands inside containers: what ``kubectl exec`` and shell scripts in containers can run.

Text tools come from the shell interpreter; what looks at the machine, the processes or the network is here,
and sees the container's own files, limits and network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import inf

from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.runtime import effort
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.frozen import evolve
from sregym_env.runtime.numbers import whole
from sregym_env.runtime.streams import keyed_bits
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.files import Entry, Files, LateFiles
from sregym_env.shell.shell import Shell, ShellCommand
from sregym_env.shell.shell import Shell as NewShell
from sregym_env.sim.containers import node_files, pids, view
from sregym_env.sim.containers.accounts import Account, account_of, runs_as
from sregym_env.sim.network import addressing, conntrack, dns
from sregym_env.sim.network.local_ports import sysctls
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import (
    children,
    httpd,
    image_tools,
    iproute,
    kube_proxy,
    moments,
    mongo_shell,
    net_tools,
    openssl,
    proc_files,
    process_list,
    visits,
)
from sregym_env.sim.programs.image_tools import format_date
from sregym_env.sim.programs.machine import (
    commands,
    crictl,
    daemons,
    disk_space,
    host_files,
    kernel_files,
    kubelet_unit,
    mounts,
    net_counters,
    records,
    time_tools,
    tracked,
    units,
)
from sregym_env.sim.programs.machine.system import OnMachine
from sregym_env.sim.programs.process_list import Row
from sregym_env.sim.programs.visits import Visit
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.figures import ContainerFigures, read_only
from sregym_env.sim.world.kernels import build_of
from sregym_env.sim.world.process import Process
from sregym_env.sim.world.strain import full_of

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
    "pidof top dmesg lsof sysctl timeout time chroot nsenter".split()
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
    names = OUR_TOOLS[image.toolbox] | (image.binaries.keys() & TOOLS.keys())
    bound: dict[str, ShellCommand] = {
        name: _bound(visit, TOOLS[name]) for name in sorted(names - TIMED.keys())
    }
    timed = names | TEXT_TOOLS[image.toolbox]
    bound.update({name: partial(TIMED[name], visit) for name in sorted(timed & TIMED.keys())})
    for name, command in program_commands(visit, setup).items():
        bound[name] = command
    if "ls" in TEXT_TOOLS[image.toolbox]:
        bound["ls"] = _ls
    if image.toolbox == "busybox":
        bound["tar"] = _tar
    return Shell(
        LateFiles(partial(_lay_out, ctx), mtime=process.started_at / SECOND),
        bound,
        env=environment(ctx),
        cwd=image.workdir,
        only=TEXT_TOOLS[image.toolbox],
        seed=keyed_bits(world.streams.seed, process.started_at, process.key[0]),
        name="sh" if image.toolbox == "busybox" else "bash",
        clock=lambda: visit.wall,
    )


def _lay_out(ctx: ProcessContext, tree: Files) -> None:
    """Put everything there that the container sees."""
    process = ctx.process
    tree.add(view.files(ctx.world, process))
    # Over the image's own files: the kubelet mounts these there.
    tree.add(_synthetic(ctx))
    tree.add_late(_of_kernel(ctx))
    own: Callable[[ProcessContext], Mapping[str, Entry]] | None = getattr(
        ctx.world.programs.get(process.program), "entries", None
    )
    if own is not None:
        tree.add_entries(own(ctx))
    _add_links(ctx, tree)
    tree.add_directories(mount.path for mount in process.mounts if not mount.sub_path)
    tree.add_directories((ctx.image.workdir, "/tmp", "/proc", "/bin", "/usr/bin"))
    lay_processes(ctx, tree, "/proc", visible_processes(ctx), machine=sees_machine(ctx))
    for mount in process.mounts:
        if mount.kind == "hostpath" and not mount.sub_path:
            host_files.lay(ctx, tree, mount.path.rstrip("/"), mount.source, machine_tools(ctx))
        if mount.kind == "hostpath" and not mount.source.strip("/"):
            lay_processes(
                ctx,
                tree,
                f"{mount.path.rstrip('/')}/proc",
                records.numbered(ctx.world, process.node),
                machine=True,
            )


def lay_processes(
    ctx: ProcessContext, tree: Files, root: str, seen: Sequence[tuple[int, Process]], *, machine: bool
) -> None:
    """Put what /proc says of these processes below ``root``; ``machine``: as the machine numbers them, with its daemons."""
    proc_files.lay(
        ctx,
        tree,
        root,
        seen,
        _container_figures,
        partial(_title, ctx.world),
        environment,
        partial(_descriptors, ctx.world),
        machine=machine,
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
                following = getattr(visit.ctx.world.programs[program], "following", None)
                found[name] = _program_command(visit, command, setup, following)
    return found


Following = Callable[[ProcessContext, Sequence[str]], Callable[[ProcessContext, int, int], str] | None]
"""What a program's command goes on to print while time passes, if it goes on: between two instants, microseconds."""
MOST_FOLLOWED = 400
"""Lines that such a command prints at most; after these it is silent."""


def _program_command(
    visit: Visit, command: Callable[..., ExecResult], setup: bool, following: Following | None = None
) -> ShellCommand:
    def call(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        if setup and argv[0] == "mongo":
            return mongo_shell.run(visit.ctx, argv, stdin, setup=True)
        result = command(_with_variables(visit.ctx, shell), argv, stdin)
        more = None if following is None or result.exit_code else following(visit.ctx, argv)
        if more is not None:
            shell.show(result)
            _follow(visit, shell, more)
        visit.take(result.seconds)
        return result

    return call


def _follow(visit: Visit, shell: Shell, more: Callable[[ProcessContext, int, int], str]) -> None:
    """Print what comes, second by second, until somebody ends it."""
    left = MOST_FOLLOWED
    since = round(visit.now * SECOND)
    while left > 0:
        try:
            visit.take(1.0)
        finally:
            # What came before it was ended has been printed.
            now = round(visit.now * SECOND)
            lines = more(visit.ctx, since, now).splitlines(keepends=True)[:left]
            shell.show(ExecResult("".join(lines)))
            left, since = left - len(lines), now
    visit.take(inf)


_SHELLS_OWN = frozenset(("PATH", "HOME", "HOSTNAME", "PWD", "OLDPWD", "SHLVL", "_"))
"""Variables that a shell has by itself."""


def _with_variables(ctx: ProcessContext, shell: Shell) -> ProcessContext:
    """A process as its child sees it: with what the shell has exported (``PGPASSWORD=... psql``) in its environment."""
    process = ctx.process
    exported = shell.exported
    env = {name: value for name, value in exported.items() if name in process.env or name not in _SHELLS_OWN}
    if env == process.env:
        return ctx
    child = ProcessContext(ctx.world, evolve(process, env=env))
    child.on_terminal = ctx.on_terminal
    return child


def _bound(visit: Visit, tool: Tool) -> ShellCommand:
    def call(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        result = tool(visit.ctx, argv, stdin, shell)
        visit.take(result.seconds)
        return result

    return call


def save(ctx: ProcessContext, shell: Shell) -> str:
    """Write what was changed in a container's shell back to the container; complaints about read-only places."""
    assert isinstance(shell.files, LateFiles), "a container's shell has its own tree"
    complaints = []
    for path, text in shell.files.changed().items():
        if path.startswith(("/proc/", "/sys/", "/dev/")):
            continue
        try:
            view.write(ctx.world, ctx.process, path, text)
        except OSError as error:
            complaints.append(f"sh: can't create {path}: {error.strerror}\n")
    return "".join(complaints)


MOST_DESCRIPTORS = 4096
"""Descriptors of a process that are listed."""

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
    first = _first(ctx)
    command = _title(world, first)
    return {
        "/etc/hosts": _hosts_file(dns.hosts_entries(world, process), process.ip),
        "/etc/hostname": process.hostname + "\n",
        "/etc/resolv.conf": dns.resolv_conf(world, process).text,
        "/proc/1/cmdline": proc_files.cmdline(first, command),
        "/proc/1/comm": _name(world, first)[:15] + "\n",
        "/proc/1/environ": "\0".join(f"{k}={v}" for k, v in environment(ProcessContext(world, first)).items())
        + "\0",
    }


def _name(world: SimWorld, process: Process) -> str:
    """What a process is called: an image's script has put a program in its own place."""
    words = _title(world, process)
    own = process.binary if words == list(process.argv) else words[0]
    return children.name_of(process, own.rpartition("/")[2])


def _first(ctx: ProcessContext) -> Process:
    """Number 1 of the container's process namespace: for who debugs a container, that one's."""
    return next((process for pid, process in visible_processes(ctx) if pid == 1), ctx.process)


def _add_links(ctx: ProcessContext, tree: Files) -> None:
    """What number 1 has open, and the root of its file system, which is another one for who debugs its container."""
    world, first = ctx.world, _first(ctx)
    # Nobody is kept from his shell by files that leave no room for a few more.
    with suppress(OSError):
        for number, target in enumerate(_descriptors(world, first)):
            tree.put_link(f"/proc/1/fd/{number}", target)
        if first.key == ctx.process.key:
            tree.put_link("/proc/1/root", "/")
            return
    theirs = view.files(world, first) | _synthetic(ProcessContext(world, first))
    tree.add({f"/proc/1/root{path}": text for path, text in theirs.items() if not path.startswith("/proc/")})


def _descriptors(world: SimWorld, process: Process) -> Iterator[str]:
    """Streams, what the runtime waits for events with, and sockets: who accepts nobody any more has as many as it may."""
    inode = 20_000 + keyed_bits("inode", *process.key, process.restart) % 900_000
    yield from (
        "/dev/null",
        f"pipe:[{inode}]",
        f"pipe:[{inode + 1}]",
        "anon_inode:[eventpoll]",
        "anon_inode:[eventfd]",
    )
    number = len(process.listening)
    if process.key in full_of(world):
        number = min(process.open_files, MOST_DESCRIPTORS) - 5
    yield from (f"socket:[{inode + 2 + each}]" for each in range(number))


def _of_kernel(ctx: ProcessContext) -> dict[str, Callable[[], str]]:
    """Files that the kernel writes when they are read: of the container, and where it sees the machine's files, of that."""
    process, world = ctx.process, ctx.world
    of_container, first = partial(_container_figures, ctx), _first(ctx)
    of_first = partial(_container_figures, ProcessContext(world, first))
    of_machine = partial(commands.machine_of, ctx)
    release = commands.kernel_release(world, process.node)
    proc: dict[str, Callable[[], str]] = {
        **kernel_files.of_machine(of_machine, world, process.node, release),
        **{
            f"1/{name}": text
            for name, text in kernel_files.of_process(
                of_first, first, name=_name(world, first), runs=runs_as(world, first)
            ).items()
        },
        **{
            f"self/{name}": text
            for name, text in kernel_files.of_process(
                of_container, evolve(process, open_files=0), runs=account_of(world, process)
            ).items()
        },
        **kernel_files.of_network(
            process.ip, partial(net_tools.listening_ports, ctx), partial(net_tools.closed, ctx)
        ),
        "net/snmp": partial(net_counters.snmp, ctx),
        "net/netstat": partial(net_counters.netstat, ctx),
        **kernel_files.of_namespace(sysctls(addressing.pod_of(world, process))),
    }
    group = kernel_files.control_group(of_container, world, process)
    found = {f"/proc/{name}": text for name, text in proc.items()}
    found |= dict.fromkeys(
        ("/proc/mounts", "/proc/self/mounts", "/proc/1/mounts"), partial(mounts.table, ctx)
    )
    found |= {f"/sys/fs/cgroup/{name}": text for name, text in group.items()}
    found.update(iproute.files(ctx))
    for mount in process.mounts:
        if mount.kind == "hostpath" and mount.source.rstrip("/") == "":
            found |= of_host(
                ctx, mount.path.rstrip("/"), kernel_files.of_machine(of_machine, world, process.node, release)
            )
    return found


def of_host(ctx: ProcessContext, root: str, proc: kernel_files.Late) -> dict[str, Callable[[], str]]:
    """What the kernel writes below the root of a machine's own files: its control groups among them."""
    found = {f"{root}/proc/{name}": text for name, text in proc.items()}
    table = partial(mounts.table, OnMachine(ctx.world, ctx.process))
    found |= dict.fromkeys((f"{root}/proc/{name}mounts" for name in ("", "self/", "1/")), table)
    network: dict[str, Callable[[], str]] = {
        **kernel_files.of_network(
            ctx.process.ip, partial(net_tools.listening_ports, ctx), partial(net_tools.closed, ctx)
        ),
        "net/snmp": partial(net_counters.snmp, ctx),
        "net/netstat": partial(net_counters.netstat, ctx),
    }
    found |= {f"{root}/proc/{name}": text for name, text in network.items()}
    found[f"{root}/sys/class/dmi/id/product_uuid"] = lambda: (
        f"{kubelet_unit.system_uuid(ctx.world, ctx.process.node)}\n"
    )
    found.update(iproute.files(ctx, root))
    for _, process in sorted(ctx.world.processes.items()):
        scope = kernel_files.scope_of(ctx.world, process) if process.node == ctx.process.node else ""
        if scope:
            pod = f"{root}/sys/fs/cgroup/{scope.rpartition('/')[0]}"
            found[f"{pod}/pids.current"] = partial(kernel_files.tasks_of_pod, ctx.world, process.key[0])
            found[f"{pod}/pids.max"] = partial(kernel_files.most_of_pod, ctx.world, process.key[0])
            figures = partial(_container_figures, ProcessContext(ctx.world, process))
            group = kernel_files.control_group(figures, ctx.world, process)
            found |= {f"{root}/sys/fs/cgroup/{scope}/{name}": text for name, text in group.items()}
    return found


def _container_figures(ctx: ProcessContext) -> ContainerFigures:
    ctx.unnoted()
    process = ctx.process
    try:
        return ctx.world.figures.container(process)
    except LookupError:
        return ContainerFigures(process, 0.0, 0.0, 0.0, 0.0, 0.0, process.memory, 0, 0.0, 0.0, 0.0)


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


def _ps(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    machines = sees_machine(ctx)
    seen = visible_processes(ctx)
    own = max((pid for pid, _ in seen), default=2000) + 17 if machines else 57
    started = [pid + child.number for pid, process in seen for child in children.of(ctx.world, process)]
    if started and not machines:
        own = max(own, max(started) + 9)
    rows = daemons.rows(ctx) if machines else []
    if ctx.image.toolbox == "debian":
        return list_processes(ctx, argv, [*rows, *process_rows(ctx, own, argv, parent=int(machines))])
    rows = [*rows, *process_rows(ctx, own, argv)]
    rows.sort(key=lambda row: row.pid)
    told = [(row, row.command.removesuffix(" <defunct>")) for row in rows]
    lines = "".join(
        f"{row.pid:>5} {row.user[:8]:<8}  {process_list.used(row.seconds)} {command}\n"
        for row, command in told
    )
    return _ok(f"PID   USER     TIME  COMMAND\n{lines}")


def list_processes(ctx: ProcessContext, argv: Sequence[str], rows: Sequence[Row]) -> ExecResult:
    """``ps`` of procps over these processes."""
    return process_list.listing(rows, argv, ctx.now(), commands.machine_of(ctx).memory)


def server_rows(ctx: ProcessContext, parent: int = 0) -> list[Row]:
    """What containers run, and what that has started. ``parent``: whose children the first ones are."""
    found = []
    for pid, process in visible_processes(ctx):
        cores, resident, seconds = commands.usage(ctx, process)
        words = _title(ctx.world, process)
        runs = _shown(ctx, runs_as(ctx.world, process))
        name = children.name_of(process, words[0].rpartition("/")[2] if words else "")
        below = children.of(ctx.world, process)
        # What they take is theirs who do the work.
        share = 0.9 / len(below) if below else 0.0
        left = 1.0 - share * len(below)
        found.append(
            Row(
                pid,
                parent,
                process.started_at,
                children.title(process, words),
                name,
                int(resident * left),
                seconds * left,
                user=runs[0],
                uid=runs[1],
                threads=children.threads(ctx.world, process),
                cores=cores * left,
            )
        )
        for child in below:
            number, state = pid + child.number, "Sl" if child.threads > 1 else "S"
            user, uid = _shown(ctx, child.runs)
            found.append(
                Row(
                    number,
                    pid,
                    child.since or process.started_at,
                    child.command,
                    child.name,
                    child.resident or int(resident * share),
                    seconds * share,
                    child.state or state,
                    child.threads,
                    user,
                    uid,
                    cores=cores * share,
                )
            )
    return found


def _shown(ctx: ProcessContext, runs: Account) -> tuple[str, int]:
    """Somebody as a process list shows him: a machine knows nobody of the accounts that images have made."""
    known = not sees_machine(ctx) or runs.user in ("root", "nobody")
    return (runs.shown if known else str(runs.uid)), runs.uid


def process_rows(ctx: ProcessContext, own: int, argv: Sequence[str], parent: int = 0) -> list[Row]:
    """Every process that is seen, and ``ps`` itself under the number ``own``. ``parent``: whose children containers are."""
    found = server_rows(ctx, parent)
    user, uid = _shown(ctx, account_of(ctx.world, ctx.process))
    for pid, since, leak, whose in gathered(ctx):
        text = f"[{leak.command}] <defunct>" if leak.dead else leak.command
        resident, state = (0, "Z") if leak.dead else (968 << 10, "S")
        found.append(
            Row(
                pid,
                whose,
                since,
                text,
                leak.command.split(" ")[0],
                resident,
                state=state,
                user=user,
                uid=uid,
            )
        )
    own_row = Row(own, parent, ctx.now(), " ".join(argv), "ps", 1560 << 10, state="R")
    return [*found, own_row._replace(user=user, uid=uid)]


def sees_machine(ctx: ProcessContext) -> bool:
    """Whether a process is in the machine's own process namespace."""
    own = ctx.process
    pod = ctx.world.store.get("pods", own.namespace, own.pod)
    return not own.namespace or bool(pod is not None and pod["spec"].get("hostPID"))


def visible_processes(ctx: ProcessContext) -> list[tuple[int, Process]]:
    """The main processes in the container's process namespace, with their numbers in it."""
    world, own = ctx.world, ctx.process
    pod = world.store.get("pods", own.namespace, own.pod)
    spec = {} if pod is None else pod["spec"]
    if sees_machine(ctx):
        return records.numbered(world, own.node)
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


SHOWN = 70_000
"""Processes that are listed, at most, of those that others have gathered."""


def gathered(ctx: ProcessContext) -> list[tuple[int, int, pids.Leak, int]]:
    """(number, since when, what it is, whose child) of the processes that those which are seen have gathered, the
    oldest first."""
    if not pids.leaks(ctx.world):
        return []
    found: list[tuple[int, int, pids.Leak, int]] = []
    most = pids.setting(ctx.world, ctx.process.node, pids.PID_MAX)
    seen = visible_processes(ctx)
    taken = {pid for pid, _ in seen}
    for own, process in seen:
        leak = pids.leak_of(ctx.world, process)
        if leak is None or not leak.rate:
            continue
        first = 300 + keyed_bits("pids", *process.key, process.restart) % 20_000
        for number in range(min(int(leak.at(ctx.now())), SHOWN - len(found))):
            pid = 300 + (first + number - 300) % max(most - 300, 1)
            if pid in taken:
                continue
            since = process.started_at + int(number / leak.rate * SECOND)
            found.append((pid, since, leak, own))
    effort.spend(len(found) * commands.LINE_EFFORT * 0.2)
    return found


def _title(world: SimWorld, process: Process) -> list[str]:
    """What a main process is called: some programs say it themselves."""
    known: Callable[[Process], list[str]] | None = getattr(world.programs.get(process.program), "title", None)
    return _command(process.program, process.argv) if known is None else known(process)


def _command(program: str, argv: Sequence[str]) -> list[str]:
    """What process 1 runs: an image's entrypoint script puts the program in its own place."""
    if not argv or not argv[0].endswith("docker-entrypoint.sh"):
        return list(argv)
    words = list(argv[1:])
    named = bool(words) and not words[0].startswith("-") and not words[0].endswith(".conf")
    return words if named else [_SERVERS.get(program, program), *words]


_SERVERS = {"redis": "redis-server", "valkey": "valkey-server"}
"""Programs whose server has another name than they have here."""


def _top(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    machine = sees_machine(ctx)
    rows = [*(daemons.rows(ctx) if machine else ()), *server_rows(ctx, int(machine))]
    leaks = [
        leak for _, each in visible_processes(ctx) if (leak := pids.leak_of(ctx.world, each)) is not None
    ]
    return commands.top(ctx, argv, stdin, shell, rows, leaks)


def _id(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    mine = account_of(ctx.world, ctx.process)
    if argv[0] == "whoami":
        return _ok(f"{mine.user}\n") if mine.user else _fail(f"whoami: unknown uid {mine.uid}\n")
    asked = {letter for word in argv[1:] if word.startswith("-") for letter in word[1:]}
    if asked & {"u", "g"}:
        number, name = (mine.uid, mine.user) if "u" in asked else (mine.gid, mine.group)
        return _ok(f"{name if 'n' in asked and name else number}\n")
    user = f"{mine.uid}({mine.user})" if mine.user else str(mine.uid)
    group = f"{mine.gid}({mine.group})" if mine.group else str(mine.gid)
    return _ok(f"uid={user} gid={group}" + (f" groups={group}\n" if mine.user else "\n"))


def _hostname(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    if any(word in ("-i", "-I") for word in argv[1:]):
        return _ok(ctx.process.ip + "\n")
    return _ok(ctx.process.hostname + "\n")


_UNAME_LONG = {
    "all": "a", "kernel-name": "s", "nodename": "n", "kernel-release": "r", "kernel-version": "v", "machine": "m",
    "operating-system": "o",
}  # fmt: skip


def _uname(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    release = commands.kernel_release(ctx.world, ctx.process.node)
    busybox = ctx.image.toolbox == "busybox" and bool(ctx.process.namespace)
    parts = {
        "s": "Linux", "n": ctx.process.hostname, "r": release, "v": build_of(release).version, "m": "x86_64",
        "o": "Linux" if busybox else "GNU/Linux",
    }  # fmt: skip
    try:
        given, operands = options(["-m"] if argv[0] == "arch" else list(argv[1:]), "asnrvmpio", _UNAME_LONG)
    except UsageError as error:
        return _fail(f"uname: {error}\n")
    if operands:
        return _fail(f"uname: extra operand \u2018{operands[0]}\u2019\n")
    asked = {letter for letter, _ in given} or {"s"}
    chosen = [text for letter, text in parts.items() if letter in asked or "a" in asked]
    return _ok(" ".join(chosen or ["unknown"]) + "\n")


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
    if any(not word.startswith("+") for word in operands):
        return _fail("date: can't set date: Operation not permitted\n")
    done, code = "", 0
    wanted = flags.get("s", flags.get("d"))
    if wanted is not None:
        asked = _moment(wanted, now)
        if asked is None and not (busybox and "d" in flags):
            asked = moments.moment(wanted, now)
        if asked is None:
            return _fail(f"date: invalid date '{wanted[: moments.LONGEST]}'\n")
        now = asked
    if "s" in flags and not time_tools.set_clock(ctx, now):
        done, code = "date: can't set date: Operation not permitted\n", 1
        if busybox:
            return _fail(done)
    form = next((word[1:] for word in operands), "%a %b %e %H:%M:%S %Z %Y")
    if "R" in flags:
        form = "%a, %d %b %Y %H:%M:%S %z"
    elif "I" in flags:
        unit = flags["I"] or "date"
        form = next((form for name, form in _ISO.items() if name.startswith(unit)), "%F")
    return ExecResult(format_date(now, form) + "\n", done.replace("can't", "cannot"), code)


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


def _numbers(ctx: ProcessContext) -> list[Row]:
    """Every process that is seen, but for who asks."""
    rows = daemons.rows(ctx) if sees_machine(ctx) else []
    return sorted([*rows, *process_rows(ctx, 0, [])[:-1]], key=lambda row: row.pid)


def _pidof(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    names = {word for word in argv[1:] if not word.startswith("-")}
    found = [str(row.pid) for row in reversed(_numbers(ctx)) if row.name in names and row.state != "Z"]
    found = found[:1] if "-s" in argv else found
    return ExecResult(f"{' '.join(found)}\n" if found else "", exit_code=int(not found))


def _pgrep(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    try:
        given, operands = options(list(argv[1:]), "flaxcnovid:u:P:", {"full": "f", "list-name": "l", "list-full": "a", "exact": "x",
                                  "count": "c", "newest": "n", "oldest": "o", "delimiter": "d:", "parent": "P:"})  # fmt: skip
    except UsageError as error:
        return _fail(f"pgrep: {error}\n", 2)
    flags = dict(given)
    if not operands and "P" not in flags:
        return _fail("pgrep: no matching criteria specified\nTry `pgrep --help' for more information.\n", 2)
    rows = [row for row in _numbers(ctx) if "P" not in flags or str(row.parent) in flags["P"].split(",")]
    said = "".join(f"{row.command if 'f' in flags else row.name[:15]}\n" for row in rows)
    pattern = ["-nxE" if "x" in flags else "-nE", "-e", operands[0] if operands else ""]
    lines = shell.library("grep", pattern, said).stdout.splitlines()
    found = [rows[int(line.partition(":")[0]) - 1] for line in lines]
    if "n" in flags or "o" in flags:
        found = sorted(found, key=lambda row: (row.since, row.pid))
        found = found[-1:] if "n" in flags else found[:1]
    if "c" in flags:
        return ExecResult(f"{len(found)}\n", exit_code=int(not found))
    shown = [
        f"{row.pid} {row.command}"
        if "a" in flags
        else f"{row.pid} {row.name[:15]}"
        if "l" in flags
        else str(row.pid)
        for row in found
    ]
    text = flags.get("d", "\n").join(shown)
    return ExecResult(f"{text}\n" if found else "", exit_code=int(not found))


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
        except OSError as error:
            return _fail(f"dd: can't open '{target}': {error.strerror}\n")
    count = options.get("count", "1")
    return ExecResult(stderr=f"{count}+0 records in\n{count}+0 records out\n")


def _nproc(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    return _ok(f"{commands.machine_of(ctx).cores}\n")


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
    said, code = "", 0
    for key in argv[2:]:
        found = dns.resolved(ctx.world, ctx.process, key)
        if found.error or not found.addresses:
            code = 2
            continue
        name = found.canonical or key
        for address in found.addresses:
            if argv[1] == "hosts":
                said += f"{address:<15} {name}\n"
                continue
            said += "".join(
                f"{address:<15} {kind:<6} {told}\n"
                for kind, told in (("STREAM", name), ("DGRAM", ""), ("RAW", ""))
            )
            name = ""
    return ExecResult(said, exit_code=code)


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


def machine_tools(ctx: ProcessContext) -> frozenset[str]:
    """The names of the commands of a machine's own system."""
    return _own_tools(ctx) | TEXT_TOOLS["debian"]


def _own_tools(ctx: ProcessContext) -> frozenset[str]:
    machine = ctx.world.plan.machine(ctx.process.node)
    own = commands.on_machine() if machine is None else commands.on_machine(machine.os_image)
    return OUR_TOOLS["debian"] - {"apt", "apt-get"} | own & TOOLS.keys()


def on_machine(visit: Visit) -> dict[str, ShellCommand]:
    """The commands of a machine's own system."""
    names = _own_tools(visit.ctx)
    bound: dict[str, ShellCommand] = {
        name: _bound(visit, TOOLS[name]) for name in sorted(names - TIMED.keys())
    }
    bound.update({name: partial(TIMED[name], visit) for name in sorted(names & TIMED.keys())})
    return bound


class _Rooted(Visit):
    """A command of a visit whose root is that of the machine now, or that is ``there``: it takes the visit's time, and finds the
    machine's system."""

    __slots__ = ("_outer", "_there")

    def __init__(self, outer: Visit, there: ProcessContext | None = None) -> None:
        super().__init__(outer.ctx, limit=outer.limit)
        self._outer = outer
        self._there = there

    @property
    def ctx(self) -> ProcessContext:
        """The container's process, with the machine's files and programs."""
        outer = self._outer.ctx
        found = self._there or OnMachine(outer.world, outer.process)
        found.on_terminal = outer.on_terminal
        return found

    @property
    def now(self) -> float:
        """The time as the command sees it, Unix seconds."""
        return self._outer.now

    def take(self, seconds: float) -> None:
        """Let a command's time pass. Raises TimeUp as the visit does."""
        self._outer.take(seconds)

    def check(self) -> None:
        """Raises TimeUp again where a shell of its own has kept it."""
        self._outer.check()

    def within(self, seconds: float, run: Callable[[], ExecResult], late: int) -> ExecResult:
        """What a command does that may take so long; with exit code ``late`` where it takes longer."""
        return self._outer.within(seconds, run, late)


def _is_machines(ctx: ProcessContext, root: str) -> bool:
    """Whether a directory is the root of the machine's own files."""
    return any(
        mount.kind == "hostpath"
        and not mount.source.strip("/")
        and mount.path.rstrip("/") == root.rstrip("/")
        for mount in ctx.process.mounts
    )


def _chroot(visit: Visit, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """A command with another root: of the machine where that is the machine's (``chroot /host`` in a node's debug pod)."""
    if len(argv) < 2:
        return _fail("BusyBox v1.36.1 () multi-call binary.\n\nUsage: chroot NEWROOT [PROG ARGS]\n")
    root = shell.resolve(argv[1])
    if not shell.files.is_folder(root):
        return _fail(f"chroot: can't change root directory to '{argv[1]}': No such file or directory\n")
    inside = shell.files.rooted(root)
    inner = _Rooted(visit)
    own = on_machine(inner)
    if sees_machine(visit.ctx) and _is_machines(visit.ctx, root):
        # Number 1 is the machine's, and has the same root: systemctl finds whom to talk to.
        own |= units.own(inner)
    rooted = NewShell(inside, own, env=environment(inner.ctx), only=TEXT_TOOLS["debian"], clock=shell.clock)
    before = inside.tree()
    words = list(argv[2:]) or ["/bin/sh"]
    if not rooted.has(words[0]):
        return _fail(f"chroot: can't execute '{words[0]}': No such file or directory\n", 127)
    result = rooted.call(words, stdin)
    visit.check()
    after = inside.tree()
    for path in before:
        if path not in after and not path.endswith("/"):
            shell.files.remove(root.rstrip("/") + path)
    for path, text in after.items():
        if before.get(path) != text and not path.endswith("/"):
            shell.files.put_bytes(root.rstrip("/") + path, inside.bytes_of(path) or b"")
    return result


def lay_machine(ctx: ProcessContext, files: Files) -> None:
    """Put everything there that lies on the machine, or that its kernel shows."""
    world, node = ctx.world, ctx.process.node
    files.add(
        {f"/{path}": text for path, text in node_files.present(world, node).items() if isinstance(text, str)}
    )
    late = kernel_files.of_machine(
        partial(commands.machine_of, ctx), world, node, commands.kernel_release(world, node)
    )
    files.add_late(of_host(ctx, "", late))
    files.add_directories(("/root", "/tmp", "/proc"))
    lay_processes(ctx, files, "/proc", records.numbered(world, node), machine=True)
    host_files.lay(ctx, files, "", tools=machine_tools(ctx))


def save_machine(ctx: ProcessContext, shell: Shell) -> str:
    """Keep what a shell with the machine's own files has written there; complaints where nothing can be."""
    world, node = ctx.world, ctx.process.node
    assert isinstance(shell.files, LateFiles), "a login has its own tree"
    after = shell.files.changed()
    changed = [path for path in after if not path.startswith(("/proc/", "/sys/", "/dev/"))]
    complaints = ""
    if read_only(node) in world.memory:
        complaints = "".join(
            f"bash: {path}: Read-only file system\n" for path in changed if not path.startswith("/run/")
        )
        changed = [path for path in changed if path.startswith("/run/")]
    for path in changed:
        node_files.put(world, node, path.lstrip("/"), after.get(path))
    if changed:
        kubelet_unit.edited(world, node)
    for name in (conntrack.SETTING, *pids.RANGES):
        setting = "/proc/sys/" + name.replace(".", "/")
        if setting in after:
            tracked.write(OnMachine(world, ctx.process), name, after.get(setting) or "")
    return complaints


def _nsenter(visit: Visit, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``nsenter -t PID [-a | -muinpC] [COMMAND]``: a command where another process is: in the machine's own files as its number 1, in
    those of another container, or in the network alone of one."""
    words, letters, target = list(argv[1:]), "", ""
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name in ("-t", "--target"):
            target = value if equals else words.pop(0) if words else ""
        elif word.startswith("-t") and not word.startswith("--"):
            target = word[2:]
        elif word.startswith("--"):
            letters += {
                "--all": "a",
                "--mount": "m",
                "--net": "n",
                "--pid": "p",
                "--uts": "u",
                "--ipc": "i",
            }.get(name, "")
        else:
            letters += word[1:]
    command, ctx = words or ["/bin/sh"], visit.ctx
    seen = dict(visible_processes(ctx))
    machine = target == "1" and sees_machine(ctx)
    process = seen.get(whole(target, -1))
    if not machine and process is None:
        known = sees_machine(ctx) and any(str(pid) == target for pid, _ in daemons.running(ctx))
        if not known:
            return _fail(f"nsenter: cannot open /proc/{target or 'self'}/ns/ns: No such file or directory\n")
        machine = True
    if not commands.privileged(ctx):
        return _fail(
            f"nsenter: cannot open /proc/{target}/ns/{'net' if 'm' not in letters else 'mnt'}: Permission denied\n"
        )
    if machine and not set("am") & set(letters):
        return shell.call(command, stdin) if shell.has(command[0]) else _not_there(command[0])
    if machine:
        inner = _Rooted(visit)
        files = LateFiles(partial(lay_machine, inner.ctx), mtime=visit.wall)
        own = {**on_machine(inner), **units.own(inner)}
        there = NewShell(files, own, env=environment(inner.ctx), only=TEXT_TOOLS["debian"], clock=shell.clock)
    elif set("am") & set(letters):
        assert process is not None
        elsewhere = _Rooted(visit, ProcessContext(ctx.world, process))
        there = container_shell(elsewhere.ctx, visit=elsewhere)
    else:
        assert process is not None
        # Its network alone, with the tools and the files from here.
        beside = _Rooted(
            visit, (OnMachine if isinstance(ctx, OnMachine) else ProcessContext)(ctx.world, process)
        )
        names = (
            on_machine(beside)
            if isinstance(ctx, OnMachine)
            else {name: _bound(beside, TOOLS[name]) for name in OUR_TOOLS[ctx.image.toolbox] & TOOLS.keys()}
        )
        there = NewShell(
            shell.files, names, env=environment(ctx), only=TEXT_TOOLS["debian"], clock=shell.clock
        )
    if not there.has(command[0]):
        return _not_there(command[0])
    result = there.call(command, stdin)
    visit.check()
    if machine:
        complaints = save_machine(inner.ctx, there)
        return result.then(complaints, result.exit_code) if complaints else result
    return result


def _not_there(name: str) -> ExecResult:
    return _fail(f"nsenter: failed to execute {name}: No such file or directory\n", 127)


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
    "mount": mounts.mount,
    "kill": _kill,
    "killall": _kill,
    "pidof": _pidof,
    "pgrep": _pgrep,
    "which": _which,
    "dd": _dd,
    "nproc": _nproc,
    "sync": _quiet,
    "lsof": _quiet,
    "time": _time,
    "apt-get": _no_packages,
    "apt": _no_packages,
    "getent": _getent,
    **commands.TOOLS,
    "df": disk_space.df,
    **time_tools.TOOLS,
    "openssl": openssl.openssl,
    "sysctl": tracked.sysctl,
    "conntrack": tracked.tool,
    **crictl.TOOLS,
    **net_counters.TOOLS,
    **net_tools.TOOLS,
    **kube_proxy.TOOLS,
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


def _crictl(visit: Visit, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``crictl``; its ``exec`` runs in a shell of the other container."""
    asked = crictl.executed(visit.ctx, argv)
    result = crictl.crictl(visit.ctx, argv, stdin, shell) if asked is None else asked
    if isinstance(result, tuple):
        result = _elsewhere(visit, *result[:3], stdin if result[3] else "")
    visit.take(result.seconds)
    return result


def _elsewhere(visit: Visit, name: str, process: Process, command: Sequence[str], stdin: str) -> ExecResult:
    """A command in another container of the machine."""
    inner = Visit(ProcessContext(visit.ctx.world, process), limit=visit.limit)
    there = container_shell(inner.ctx, visit=inner)
    if not there.has(command[0]):
        text = (
            "Internal error occurred: error executing command in container: failed to exec in container: failed to start exec: OCI "
            f'runtime exec failed: exec failed: unable to start container process: exec: "{command[0]}": executable file not found in '
            "$PATH: unknown"
        )
        return _fail(f"FATA[0000] execing command in container {name}: {text}\n")
    done = inner.after(there.call(list(command), stdin))
    complaints = save(inner.ctx, there)
    errors = done.stderr + complaints
    if done.exit_code:
        errors += f"FATA[0000] execing command in container {name}: command terminated with exit code {done.exit_code}\n"
    return ExecResult(done.stdout, errors, min(done.exit_code, 1), seconds=done.seconds)


TIMED: Mapping[str, Callable[[Visit, Sequence[str], str, Shell], ExecResult]] = {
    "chroot": _chroot,
    "crictl": _crictl,
    "nsenter": _nsenter,
    "sleep": visits.wait,
    "tail": _tail,
    "timeout": visits.timeout,
}
"""Commands that have to do with the time which others take."""
