"""Programs that look at the workstation itself: ``df``, ``free``, ``git``, ``id``, ``ip``, ``nproc``, ``uname``, ``uptime``.

A machine on which nothing happens but what is typed: its figures stand still, and its clock is the world's. Its texts are
those of Debian 12.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.shell import Shell

ADDRESS = "10.20.0.5"
"""Of the workstation, in a network of its own."""
BOOTED_EVERY = 30 * 86_400
"""Seconds between two starts of the machine: it is started anew every so often, counted from the Unix epoch."""

FILES: Mapping[str, str] = {
    "/etc/hostname": "oncall\n",
    "/etc/hosts": f"127.0.0.1\tlocalhost\n{ADDRESS}\toncall\n",
    "/etc/os-release": (
        'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nVERSION="12 (bookworm)"\n'
        "VERSION_CODENAME=bookworm\nID=debian\n"
    ),
}
"""What the machine's configuration says."""

_DISKS = (
    ("udev", 4_013_056, 0, "/dev"),
    ("tmpfs", 807_612, 1_180, "/run"),
    ("/dev/vda1", 51_290_592, 9_837_204, "/"),
    ("tmpfs", 4_038_052, 0, "/dev/shm"),
)
"""(device, KiB, KiB used, mount point)."""
_MEMORY = (8_076_104, 1_411_528, 4_902_312, 1_180, 1_762_264)
"""KiB: total, used, free, shared, cached."""

_GIT_HELP = """usage: git [-v | --version] [-h | --help] [-C <path>] [-c <name>=<value>]
           [--exec-path[=<path>]] [--html-path] [--man-path] [--info-path]
           [-p | --paginate | -P | --no-pager] [--no-replace-objects] [--bare]
           [--git-dir=<path>] [--work-tree=<path>] [--namespace=<name>]
           [--super-prefix=<path>] [--config-env=<name>=<envvar>]
           <command> [<args>]
"""
_GIT_VERBS = frozenset(
    "add bisect blame branch checkout cherry-pick clean commit describe diff fetch grep log ls-files merge mv pull push "
    "rebase remote reset restore revert rev-parse rm show stash status switch tag".split()
)
_IP_HELP = """Usage: ip [ OPTIONS ] OBJECT { COMMAND | help }
       ip [ -force ] -batch filename
where  OBJECT := { address | addrlabel | fou | help | ila | ioam | l2tp | link |
                   macsec | maddress | monitor | mptcp | mroute | mrule |
                   neighbor | neighbour | netconf | netns | nexthop | ntable |
                   ntbl | route | rule | sr | tap | tcpmetrics |
                   token | tunnel | tuntap | vrf | xfrm }
       OPTIONS := { -V[ersion] | -s[tatistics] | -d[etails] | -r[esolve] |
                    -h[uman-readable] | -iec | -j[son] | -p[retty] |
                    -f[amily] { inet | inet6 | mpls | bridge | link } |
                    -4 | -6 | -M | -B | -0 |
                    -l[oops] { maximum-addr-flush-attempts } | -br[ief] |
                    -o[neline] | -t[imestamp] | -ts[hort] | -b[atch] [filename] |
                    -rc[vbuf] [size] | -n[etns] name | -N[umeric] | -a[ll] |
                    -c[olor]}
"""

Command = Callable[[Sequence[str], str, Shell], ExecResult]


def misused(name: str, error: UsageError, code: int = 1) -> ExecResult:
    """How GNU's programs refuse a command line."""
    return ExecResult(stderr=f"{name}: {error}\nTry '{name} --help' for more information.\n", exit_code=code)


def df(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``df [-h|-k|-m|-T|-i|-a|-P] [file...]``."""
    try:
        given, operands = options(
            list(argv[1:]),
            "ahHikmlPTt:x:B:",
            {"human-readable": "h", "all": "a", "inodes": "i", "print-type": "T", "portability": "P", "si": "H", "total": "z",
             "block-size": "B:", "local": "l", "type": "t:", "exclude-type": "x:", "version": "V", "help": "?"},
        )  # fmt: skip
    except UsageError as error:
        return misused("df", error)
    flags = dict(given)
    if "V" in flags:
        return ExecResult("df (GNU coreutils) 9.1\n")
    missing = [word for word in operands if not _exists(shell, word)]
    errors = "".join(f"df: {word}: No such file or directory\n" for word in missing)
    rows = [_DISKS[2]] if len(operands) > len(missing) else [] if operands else list(_DISKS)
    cells = [_disk_heads(flags), *(_disk_cells(row, flags) for row in rows)]
    return ExecResult(_columns(cells) if rows else "", errors, int(bool(errors)))


def _disk_heads(flags: Mapping[str, str]) -> list[str]:
    if "i" in flags:
        middle = ["Inodes", "IUsed", "IFree", "IUse%"]
    elif "h" in flags or "H" in flags:
        middle = ["Size", "Used", "Avail", "Use%"]
    else:
        middle = ["1M-blocks" if "m" in flags else "1K-blocks", "Used", "Available", "Use%"]
    return ["Filesystem", *(["Type"] if "T" in flags else []), *middle, "Mounted on"]


def _disk_cells(row: tuple[str, int, int, str], flags: Mapping[str, str]) -> list[str]:
    device, size, used, place = row
    if "i" in flags:
        size, used = size // 16, used // 96
        figures = [str(size), str(used), str(size - used)]
    elif "h" in flags or "H" in flags:
        figures = [_human(size), _human(used), _human(size - used)]
    else:
        unit = 1024 if "m" in flags else 1
        figures = [str(-(-number // unit)) for number in (size, used, size - used)]
    kind = "devtmpfs" if device == "udev" else "tmpfs" if device == "tmpfs" else "ext4"
    return [device, *([kind] if "T" in flags else []), *figures, f"{-(-used * 100 // size)}%", place]


def _columns(rows: Sequence[Sequence[str]]) -> str:
    last = len(rows[0]) - 1
    texts = {0, last} | ({1} if "Type" in rows[0] else set())
    widths = [max(len(row[at]) for row in rows) for at in range(last)]
    lines = []
    for row in rows:
        cells = [
            row[at].ljust(widths[at]) if at in texts else row[at].rjust(widths[at]) for at in range(last)
        ]
        lines.append(" ".join([*cells, row[last]]) + "\n")
    return "".join(lines)


def _human(kib: int) -> str:
    number, unit = float(kib), "K"
    for larger in "MGT":
        if number < 1024:
            break
        number, unit = number / 1024, larger
    if kib == 0:
        return "0"
    return f"{number:.1f}{unit}" if number < 10 else f"{-(-number // 1):.0f}{unit}"


def free(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``free [-b|-k|-m|-g|-h]``."""
    try:
        given, operands = options(
            list(argv[1:]),
            "bkmghltwvs:c:V",
            {"bytes": "b", "kibi": "k", "mebi": "m", "gibi": "g", "human": "h", "total": "t", "wide": "w", "version": "V",
             "seconds": "s:", "count": "c:", "help": "?", "lohi": "l", "committed": "v"},
        )  # fmt: skip
    except UsageError as error:
        return ExecResult(stderr=f"free: {error}\n\nUsage:\n free [options]\n", exit_code=1)
    flags = dict(given)
    del operands
    if "V" in flags:
        return ExecResult("free from procps-ng 4.0.2\n")

    def shown(kib: int) -> str:
        if "h" in flags:
            return "0B" if not kib else f"{_human(kib)}i"
        if "b" in flags:
            return str(kib * 1024)
        return str(kib // 1024 if "m" in flags else kib >> 20 if "g" in flags else kib)

    total, used, left, shared, cached = _MEMORY
    head = "".join(name.rjust(12) for name in ("total", "used", "free", "shared", "buff/cache", "available"))
    memory = "".join(shown(kib).rjust(12) for kib in (total, used, left, shared, cached, left + cached))
    swap = "".join(shown(0).rjust(12) for _ in range(3))
    return ExecResult(f"       {head}\nMem:   {memory}\nSwap:  {swap}\n")


def identity(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``id``."""
    try:
        given, operands = options(
            list(argv[1:]),
            "agGnruzZ",
            {"user": "u", "group": "g", "groups": "G", "name": "n", "real": "r", "version": "V"},
        )
    except UsageError as error:
        return misused("id", error)
    flags = dict(given)
    if operands and operands[0] not in ("oncall", "1000"):
        return ExecResult(stderr=f"id: \u2018{operands[0]}\u2019: no such user\n", exit_code=1)
    if {"u", "g", "G"} & flags.keys():
        return ExecResult("oncall\n" if "n" in flags else "1000\n")
    return ExecResult("uid=1000(oncall) gid=1000(oncall) groups=1000(oncall)\n")


def nproc(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``nproc``."""
    try:
        _, operands = options(list(argv[1:]), "", {"all": "a", "ignore": "i:", "version": "V", "help": "?"})
        if operands:
            raise UsageError(f"extra operand \u2018{operands[0]}\u2019")
    except UsageError as error:
        return misused("nproc", error)
    return ExecResult("4\n")


def uname(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``uname``."""
    try:
        given, operands = options(
            list(argv[1:]),
            "asnrvmpio",
            {"all": "a", "kernel-name": "s", "nodename": "n", "kernel-release": "r", "kernel-version": "v", "machine": "m",
             "operating-system": "o", "version": "V"},
        )  # fmt: skip
        if operands:
            raise UsageError(f"extra operand \u2018{operands[0]}\u2019")
    except UsageError as error:
        return misused("uname", error)
    parts = {
        "s": "Linux", "n": "oncall", "r": "6.1.0-32-amd64", "v": "#1 SMP PREEMPT_DYNAMIC Debian 6.1.129-1 (2025-03-06)",
        "m": "x86_64", "o": "GNU/Linux",
    }  # fmt: skip
    asked = {letter for letter, _ in given} or {"s"}
    chosen = [text for letter, text in parts.items() if letter in asked or "a" in asked]
    return ExecResult(" ".join(chosen or ["unknown"]) + "\n")


def uptime(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``uptime [-p|-s]``."""
    try:
        given, operands = options(
            list(argv[1:]), "pshV", {"pretty": "p", "since": "s", "help": "h", "version": "V"}
        )
        if operands:
            raise UsageError(f"extra operand '{operands[0]}'")
    except UsageError as error:
        return ExecResult(stderr=f"uptime: {error}\n\nUsage:\n uptime [options]\n", exit_code=1)
    flags = dict(given)
    now = int(shell.clock())
    up = now % BOOTED_EVERY
    days, hours, minutes = up // 86_400, up % 86_400 // 3600, up % 3600 // 60
    if "s" in flags:
        return ExecResult(datetime.fromtimestamp(now - up, UTC).strftime("%Y-%m-%d %H:%M:%S\n"))
    if "p" in flags:
        spans = [(days // 7, "week"), (days % 7, "day"), (hours, "hour"), (minutes, "minute")]
        return ExecResult(
            "up " + ", ".join(f"{n} {unit}{'s' if n > 1 else ''}" for n, unit in spans if n) + "\n"
        )
    clock = datetime.fromtimestamp(now, UTC).strftime("%H:%M:%S")
    since = f"{days} day{'s' if days != 1 else ''}, " if days else ""
    since += f"{hours:2d}:{minutes:02d}" if hours else f"{minutes} min"
    return ExecResult(f" {clock} up {since},  1 user,  load average: 0.08, 0.03, 0.01\n")


def ip(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``ip address``, ``ip link``, ``ip route``, ``ip neighbour``."""
    words = list(argv[1:])
    brief = False
    while words and words[0].startswith("-"):
        option = words.pop(0).lstrip("-")
        if option in ("V", "Version"):
            return ExecResult("ip utility, iproute2-6.1.0, libbpf 1.1.0\n")
        if option in ("h", "help"):
            return ExecResult(_IP_HELP)
        brief = brief or option in ("br", "brief")
        if option not in (
            "br",
            "brief",
            "4",
            "6",
            "o",
            "oneline",
            "c",
            "color",
            "s",
            "stats",
            "statistics",
            "d",
            "details",
            "N",
        ):
            return ExecResult(stderr=f'Option "-{option}" is unknown, try "ip -help".\n', exit_code=255)
    if not words:
        return ExecResult(stderr=_IP_HELP, exit_code=255)
    kind = next((name for name in _IP_OBJECTS if name.startswith(words[0])), "")
    if not kind:
        return ExecResult(stderr=f'Object "{words[0]}" is unknown, try "ip help".\n', exit_code=1)
    verb = words[1] if len(words) > 1 else "show"
    if not any(known.startswith(verb) for known in ("show", "list", "get")):
        if any(known.startswith(verb) for known in ("add", "delete", "replace", "set", "flush", "change")):
            return ExecResult(stderr="RTNETLINK answers: Operation not permitted\n", exit_code=2)
        return ExecResult(stderr=f'Command "{verb}" is unknown, try "ip {kind} help".\n', exit_code=255)
    if kind in ("address", "link") and brief:
        shown = (
            ("127.0.0.1/8", f"{ADDRESS}/24")
            if kind == "address"
            else ("00:00:00:00:00:00", "52:54:00:6b:3c:58")
        )
        return ExecResult(
            f"lo               UNKNOWN        {shown[0]} \neth0             UP             {shown[1]} \n"
        )
    return ExecResult(_IP_OBJECTS[kind])


_LINKS = (
    "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000\n"
    "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n",
    "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP group default qlen 1000\n"
    "    link/ether 52:54:00:6b:3c:58 brd ff:ff:ff:ff:ff:ff\n",
)
_FOREVER = "       valid_lft forever preferred_lft forever\n"
_IP_OBJECTS: Mapping[str, str] = {
    "address": (
        f"{_LINKS[0]}    inet 127.0.0.1/8 scope host lo\n{_FOREVER}"
        f"{_LINKS[1]}    inet {ADDRESS}/24 brd 10.20.0.255 scope global eth0\n{_FOREVER}"
    ),
    "link": "".join(_LINKS),
    "route": f"default via 10.20.0.1 dev eth0 \n10.20.0.0/24 dev eth0 proto kernel scope link src {ADDRESS} \n",
    "neighbour": "10.20.0.1 dev eth0 lladdr 52:54:00:12:35:02 REACHABLE \n",
    "rule": "0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n",
}


def git(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``git``: no directory here is a repository, and no server with one can be reached."""
    words = list(argv[1:])
    if words[:1] in (["--version"], ["-v"], ["version"]):
        return ExecResult("git version 2.39.5\n")
    if words[:1] in (["--help"], ["-h"], ["help"]):
        return ExecResult(_GIT_HELP)
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in ("-C", "-c"):
            words = words[1:]
        elif word.partition("=")[0] not in (
            "--no-pager",
            "-P",
            "-p",
            "--git-dir",
            "--work-tree",
            "--bare",
            "--paginate",
        ):
            return ExecResult(stderr=f"unknown option: {word}\n{_GIT_HELP}", exit_code=129)
    if not words:
        return ExecResult(_GIT_HELP, exit_code=1)
    verb, operands = words[0], [word for word in words[1:] if not word.startswith("-")]
    if verb in ("clone", "ls-remote") and operands:
        where = operands[0]
        if "://" not in where and "@" not in where:
            return ExecResult(stderr=f"fatal: repository '{where}' does not exist\n", exit_code=128)
        host = (
            where.partition("://")[2].partition("/")[0].rpartition("@")[2]
            or where.rpartition("@")[2].partition(":")[0]
        )
        into = (
            f"Cloning into '{where.rstrip('/').rpartition('/')[2].removesuffix('.git')}'...\n"
            if verb == "clone"
            else ""
        )
        text = f"{into}fatal: unable to access '{where}': Could not resolve host: {host}\n"
        return ExecResult(stderr=text, exit_code=128)
    if verb in _GIT_VERBS:
        text = "fatal: not a git repository (or any of the parent directories): .git\n"
        return ExecResult(stderr=text, exit_code=128)
    if verb in ("config", "init", "clone", "ls-remote"):
        return ExecResult(stderr="fatal: could not create '.git': Permission denied\n", exit_code=128)
    return ExecResult(stderr=f"git: '{verb}' is not a git command. See 'git --help'.\n", exit_code=1)


def _exists(shell: Shell, path: str) -> bool:
    full = shell.resolve(path)
    return shell.files.bytes_of(full) is not None or shell.files.is_folder(full)


COMMANDS: Mapping[str, Command] = {
    "df": df,
    "free": free,
    "git": git,
    "id": identity,
    "ip": ip,
    "nproc": nproc,
    "uname": uname,
    "uptime": uptime,
}
"""The commands by name."""
