"""``sysctl`` and ``conntrack``: what a machine's kernel is set to, and its table of connections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime import effort
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.runtime.streams import keyed_bits
from sregym_env.shell import crowds
from sregym_env.shell.shell import Shell
from sregym_env.sim.containers import pids
from sregym_env.sim.network import conntrack
from sregym_env.sim.network.connections import connect
from sregym_env.sim.network.local_ports import USUAL
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.machine.commands import LINE_EFFORT, machine_of, privileged
from sregym_env.sim.programs.machine.records import shortages
from sregym_env.sim.world import SimWorld

VERSION = "conntrack v1.4.7 (conntrack-tools)"
FILES = ("/etc/sysctl.conf", "/etc/sysctl.d/")
"""Where ``sysctl --system`` finds settings."""
LISTED = 4000
"""Entries that ``conntrack -L`` makes up one by one; where there are more, each of them stands for several like it."""


# --- sysctl -------------------------------------------------------------------------------------------


def _path(name: str) -> str:
    return "/proc/sys/" + name.strip().replace("/", ".").replace(".", "/")


def sysctl(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``sysctl``: settings below /proc/sys, of which the table's size and the numbers of processes and threads can be changed."""
    words, bare, out, errors = [], False, "", ""
    given = list(argv[1:])
    while given:
        word = given.pop(0)
        if word in ("-a", "--all", "-A"):
            words += [name for name, _ in _below(shell, "/proc/sys/") if not name.endswith("/")]
        elif word in ("-p", "--load") or word.startswith("-p"):
            path = word[2:] if word.startswith("-p") else ""
            path = path or (given.pop(0) if given and not given[0].startswith("-") else FILES[0])
            words += _said(shell, path)
        elif word == "--system":
            for path in (*(f"{FILES[1]}{name}" for name, _ in _below(shell, FILES[1])), FILES[0]):
                words += _said(shell, path)
        elif word.startswith("-"):
            bare = (
                bare or word in ("--values", "-b", "--binary") or (not word.startswith("--") and "n" in word)
            )
        else:
            words.append(word)
    for word in words:
        name, equals, value = word.partition("=")
        name = name.strip().lstrip("-").replace("/", ".")
        text = shell.files.text(_path(name))
        if text is None:
            errors += f"sysctl: cannot stat {_path(name)}: No such file or directory\n"
            continue
        shown = text.rstrip("\n")
        if equals:
            shown = value.strip()
            # What is so already is set to that by anybody who may.
            problem = "" if shown.split() == text.split() and privileged(ctx) else write(ctx, name, shown)
            if problem:
                errors += f"sysctl: {problem}\n"
                continue
        out += f"{shown}\n" if bare else f"{name} = {shown}\n"
    effort.spend(LINE_EFFORT * len(words))
    return ExecResult(out, errors, exit_code=1 if errors else 0)


def _below(shell: Shell, root: str) -> list[tuple[str, object]]:
    return list(shell.files.below(root))


def _said(shell: Shell, path: str) -> list[str]:
    """The assignments of a file."""
    text = shell.files.text(shell.resolve(path)) or ""
    lines = (line.strip() for line in text[:100_000].splitlines())
    return [line for line in lines if "=" in line and line[0] not in "#;"][:1000]


def write(ctx: ProcessContext, name: str, value: str) -> str:
    """Change a setting of the machine's kernel; the complaint where that cannot be."""
    process = ctx.process
    if not privileged(ctx) or (process.namespace and not process.host_network):
        return f'permission denied on key "{name}"'
    text = value.strip()
    if name in pids.RANGES:
        least, most = pids.RANGES[name]
        number = whole(text, 0)
        if not least <= number <= most:
            return f'setting key "{name}": Invalid argument'
        pids.set_to(ctx.world, process.node, name, number)
        return ""
    if name != conntrack.SETTING:
        return f'setting key "{name}": Read-only file system'
    if whole(text, conntrack.MOST + 1) > conntrack.MOST:
        return f'setting key "{name}": Invalid argument'
    conntrack.resize(ctx.world, process.node, int(text))
    return ""


# --- conntrack ----------------------------------------------------------------------------------------


def tool(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``conntrack``: ``-C`` counts the entries, ``-S`` says what became of packets, ``-L`` lists entries."""
    if not privileged(ctx):
        return ExecResult(stderr=f"{VERSION}: Operation failed: Operation not permitted\n", exit_code=1)
    words = list(argv[1:])
    count = machine_of(ctx).connections
    if "-C" in words or "--count" in words:
        return ExecResult(f"{count}\n")
    if "-S" in words or "--stats" in words:
        return ExecResult(_statistics(ctx))
    if "-L" not in words and "--dump" not in words:
        text = f"{VERSION}: You need to supply an option\nTry `conntrack -h' or 'conntrack --help' for more information.\n"
        return ExecResult(stderr=text, exit_code=2)
    wanted = dict(pairwise(words))
    filters = {
        "src=": wanted.get("-s") or wanted.get("--src") or wanted.get("--orig-src"),
        "dst=": wanted.get("-d") or wanted.get("--dst") or wanted.get("--orig-dst"),
        "dport=": wanted.get("--dport") or wanted.get("--orig-port-dst"),
    }
    protocol, state = wanted.get("-p") or wanted.get("--proto") or "", wanted.get("--state") or ""
    made = min(count, LISTED)
    # The first ones stand for one more each, where they do not come out even.
    each, more = divmod(count, max(made, 1))
    shown: dict[int, list[str]] = {each + 1: [], each: []}
    for number, line in enumerate(_listed(ctx, count)):
        fields = line.split()
        if (protocol and fields[0] != protocol) or (state and state.upper() not in fields):
            continue
        if all(value is None or f"{name}{value}" in fields for name, value in filters.items()):
            shown[each + (number < more)].append(f"{line}\n")
    effort.spend(LINE_EFFORT * sum(map(len, shown.values())))
    text = crowds.made((times, "".join(lines)) for times, lines in shown.items())
    told = f"{VERSION}: {crowds.lines(text)} flow entries have been shown.\n"
    return ExecResult(text, told)


def _statistics(ctx: ProcessContext) -> str:
    each = machine_of(ctx)
    lost = int(
        sum(rate * (end - begin) / SECOND for begin, end, rate in shortages(ctx.world, ctx.process.node))
    )
    lines = []
    for core in range(each.cores):
        bits = keyed_bits("conntrack", ctx.process.node, core)
        part = lost // each.cores + (1 if core < lost % each.cores else 0)
        lines.append(
            f"cpu={core:<7} found={bits % 900} invalid={bits // 1000 % 400} insert=0 insert_failed={part} drop={part} early_drop={part // 50} "
            f"error=0 search_restart={bits // 10**6 % 90} clash_resolve={bits // 10**8 % 9} chaintoolong=0 \n"
        )
    return "".join(lines)


def _listed(ctx: ProcessContext, count: int) -> Iterator[str]:
    """Entries of the machine's table as they come in a hash table: those of everybody, one among the other."""
    world, node = ctx.world, ctx.process.node
    groups = [*_long(world, node)]
    pods = [process for _, process in sorted(world.processes.items()) if process.node == node and process.ip]
    held = sum(number for _, _, _, _, number in groups)
    others = max(count - int(held), 0)
    total = held + others
    for index in range(min(count, LISTED)):
        bits = keyed_bits("entry", node, index)
        at = (bits % 1_000_003) / 1_000_003 * total
        port = USUAL[0] + (bits >> 24) % (USUAL[1] - USUAL[0] + 1)
        for source, dialled, answering, number, amount in groups:
            if at < amount:
                left = conntrack.TIME_OUTS["tcp_timeout_established"] - (bits >> 44) % 300
                yield (
                    f"tcp      6 {left} ESTABLISHED src={source} dst={dialled} sport={port} dport={number} "
                    f"src={answering} dst={source} sport={number} dport={port} [ASSURED] mark=0 use=1"
                )
                break
            at -= amount
        else:
            if pods:
                source = pods[(bits >> 8) % len(pods)].ip
                server = world.plan.dns_address
                yield (
                    f"udp      17 {(bits >> 44) % 30} src={source} dst={server} sport={port} dport=53 "
                    f"src={server} dst={source} sport=53 dport={port} mark=0 use=1"
                )


def _long(world: SimWorld, node: str) -> Iterator[tuple[str, str, str, int, float]]:
    """(client, address that it dials, address that answers, port, how many) of the connections that clients without end hold."""
    for key, process in sorted(world.processes.items()):
        holds = getattr(world.programs[process.program], "holds", None)
        knots = conntrack.held(world, "/".join(key))
        wish = None if holds is None or not knots else holds(ProcessContext(world, process))
        if wish is None:
            continue
        count = knots[-1].at(world.clock)
        hosts = [host for host in wish.host.split(",") if host][:16]
        for host in hosts:
            connection = connect(world, process, host, wish.port, kept=True)
            for leg in connection.legs:
                server = None if leg.process is None else world.processes.get(leg.process)
                if server is not None and node in (process.node, server.node):
                    dialled = connection.resolution.addresses[0]
                    yield process.ip, dialled, leg.address, leg.port, count * leg.share / len(hosts)
