"""``ip`` of iproute2 6.1 (and of busybox), ``/proc/net/dev`` and ``/sys/class/net``: what a kernel says of its interfaces.

They are looked at and not changed: who wants to is told that it is not supported (on machines) or permitted (in pods).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address, ip_interface

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.shell import Shell
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import devices
from sregym_env.sim.programs.devices import PACKET_BYTES, Device
from sregym_env.sim.programs.machine.kernel_files import Late

VERSION = "ip utility, iproute2-6.1.0, libbpf 1.1.0\n"
USAGE = """Usage: ip [ OPTIONS ] OBJECT { COMMAND | help }
where  OBJECT := { address | link | neighbour | route | rule }
       OPTIONS := { -V[ersion] | -s[tatistics] | -d[etails] | -4 | -6 | -br[ief] | -o[neline] }
"""
_OBJECTS = ("address", "link", "neighbour", "route", "rule")
_OPTIONS = {
    "-s": "s", "-st": "s", "-stats": "s", "-statistics": "s", "-d": "d", "-details": "d", "-4": "4", "-6": "6", "-br": "b",
    "-brief": "b", "-o": "o", "-oneline": "o", "-c": "c", "-color": "c", "-N": "N", "-n": "n",
}  # fmt: skip
_CHANGES = ("add", "delete", "replace", "set", "flush", "change", "append", "prepend")
_FOREVER = "valid_lft forever preferred_lft forever"


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be shown, and how."""

    options: frozenset[str]
    busybox: bool

    def has(self, letter: str) -> bool:
        return letter in self.options


def ip(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``ip [OPTIONS] address|link|route|neighbour|rule [show ...]``."""
    ctx.unnoted()
    words = list(argv[1:])
    options = set()
    while words and words[0].startswith("-"):
        word = words.pop(0).replace("--", "-", 1)
        if word in ("-V", "-Version"):
            return ExecResult(VERSION)
        if word not in _OPTIONS:
            return ExecResult(stderr=f'Option "{word}" is unknown, try "ip -help".\n', exit_code=255)
        options.add(_OPTIONS[word])
    if not words or words[0] == "help":
        return ExecResult(stderr=USAGE, exit_code=255)
    kind = next((name for name in _OBJECTS if name.startswith(words[0])), "")
    if not kind:
        return ExecResult(stderr=f'Object "{words[0][:80]}" is unknown, try "ip help".\n', exit_code=1)
    verb, rest = (words[1], words[2:]) if len(words) > 1 else ("show", [])
    if any(change.startswith(verb) for change in _CHANGES):
        why = "Operation not supported" if ctx.process.host_network else "Operation not permitted"
        return ExecResult(stderr=f"RTNETLINK answers: {why}\n", exit_code=2)
    if verb == "get" and kind == "route":
        return _way(ctx, rest)
    if not any(known.startswith(verb) for known in ("show", "list")):
        return ExecResult(stderr=f'Command "{verb[:80]}" is unknown, try "ip {kind} help".\n', exit_code=255)
    return _VERBS[kind](ctx, rest, _Asked(frozenset(options), ctx.image.toolbox == "busybox"))


# --- interfaces ---------------------------------------------------------------------------------------


def _interfaces(kind: str, ctx: ProcessContext, words: list[str], asked: _Asked) -> ExecResult:
    chosen, name, up, sort = devices.of(ctx), "", False, ""
    while words:
        word = words.pop(0)
        if word == "up":
            up = True
        elif word == "type" and words:
            sort = words.pop(0)
        else:
            name = words.pop(0) if word == "dev" and words else word
    if name:
        chosen = tuple(each for each in chosen if each.name == name)
        if not chosen:
            return ExecResult(stderr=f'Device "{name[:80]}" does not exist.\n', exit_code=1)
    kinds = {"veth": lambda each: each.peer.startswith("if"), "ipip": lambda each: each.kind == "ipip"}
    if sort:
        chosen = tuple(each for each in chosen if sort in kinds and kinds[sort](each))
    if up:
        chosen = tuple(each for each in chosen if "UP" in each.flags.split(","))
    if kind == "address" and asked.has("6"):
        return ExecResult()
    if asked.has("b"):
        return ExecResult("".join(_brief(each, kind) for each in chosen))
    if asked.has("o"):
        return ExecResult("".join(_one_line(each, kind, asked) for each in chosen))
    if asked.has("4") and kind == "address":
        chosen = tuple(each for each in chosen if each.addresses)
    return ExecResult("".join(_whole(each, kind, asked) for each in chosen))


def _head(each: Device, kind: str, asked: _Asked) -> str:
    mode = "mode DEFAULT " if kind == "link" and not asked.busybox else ""
    group = "" if asked.busybox else f"{mode}group default "
    return f"{each.index}: {each.shown}: <{each.flags}> mtu {each.mtu} qdisc {each.queue} state {each.state} {group}qlen 1000"


def _layer(each: Device) -> str:
    end = {"loopback": LOOPBACK_MAC, "ipip": "0.0.0.0"}.get(each.kind, "ff:ff:ff:ff:ff:ff")
    spelled = f"    link/{each.kind} {each.mac} brd {end}"
    return f"{spelled} {each.namespace}" if each.namespace else spelled


LOOPBACK_MAC = "00:00:00:00:00:00"


def _address(each: Device, text: str) -> str:
    interface = ip_interface(text)
    wide = (
        f"brd {interface.network.broadcast_address} "
        if interface.network.prefixlen < 31 and each.kind == "ether"
        else ""
    )
    return f"inet {text} {wide}scope {'host' if each.kind == 'loopback' else 'global'} {each.name}"


def _whole(each: Device, kind: str, asked: _Asked) -> str:
    lines = [_head(each, kind, asked)]
    if not (asked.has("4") and kind == "address"):
        lines.append(_layer(each))
    if asked.has("d"):
        lines.append(f"    {_DETAILS[each.kind]}")
    if kind == "address":
        for text in each.addresses:
            lines += [f"    {_address(each, text)}", f"       {_FOREVER}"]
    if asked.has("s"):
        lines += _statistics(each)
    return "".join(f"{line}\n" for line in lines)


_DETAILS = {
    "loopback": "promiscuity 0 minmtu 0 maxmtu 0 numtxqueues 1 numrxqueues 1 gso_max_size 65536 gso_max_segs 65535",
    "ether": "promiscuity 0 minmtu 68 maxmtu 65535 numtxqueues 8 numrxqueues 8 gso_max_size 65536 gso_max_segs 65535",
    "ipip": "ipip any remote any local any ttl inherit nopmtudisc numtxqueues 1 numrxqueues 1 gso_max_size 65536 gso_max_segs 65535",
}


def _statistics(each: Device) -> list[str]:
    counts = each.counts()
    lines = []
    for way, amount, last in (
        ("RX", counts.received, ("missed", "mcast")),
        ("TX", counts.sent, ("carrier", "collsns")),
    ):
        names = ("packets", "errors", "dropped", *last)
        values = [int(amount / PACKET_BYTES), 0, 0, 0, 0]
        widths = [
            max(len(name), len(str(value)), 7 if name != "errors" else 6)
            for name, value in zip(names, values, strict=True)
        ]
        first = max(10, len(str(int(amount))))
        head = " ".join(f"{name:>{width}}" for name, width in zip(names, widths, strict=True))
        row = " ".join(f"{value:>{width}}" for value, width in zip(values, widths, strict=True))
        lines += [f"    {way}: {'bytes':>{first - 4}} {head} {'':10}", f"    {int(amount):>{first}} {row} "]
    return lines


def _brief(each: Device, kind: str) -> str:
    if kind == "link":
        return f"{each.shown:<16} {each.state:<14} {each.mac:<18}<{each.flags}> \n"
    return f"{each.shown:<16} {each.state:<14} {''.join(f'{text} ' for text in each.addresses)}\n"


def _one_line(each: Device, kind: str, asked: _Asked) -> str:
    if kind == "link":
        return f"{_head(each, kind, asked)}\\{_layer(each)}\n"
    return "".join(
        f"{each.index}: {each.name}    {_address(each, text)}\\       {_FOREVER}\n" for text in each.addresses
    )


# --- routes and neighbours ----------------------------------------------------------------------------


def _routes(ctx: ProcessContext, words: list[str], asked: _Asked) -> ExecResult:
    found = devices.routes(ctx)
    if asked.has("6"):
        return ExecResult()
    while words:
        word = words.pop(0)
        wanted = words.pop(0) if word in ("dev", "via", "proto", "table", "to") and words else ""
        if word in ("dev", "via", "proto"):
            found = tuple(each for each in found if f"{word} {wanted} " in f"{each.rest} ")
        elif word == "to" or word == "default" or word[:1].isdigit():
            found = tuple(each for each in found if each.to == (wanted or word))
    return ExecResult("".join(f"{each.line}\n" for each in found))


def _way(ctx: ProcessContext, words: list[str]) -> ExecResult:
    """``ip route get ADDRESS``: the narrowest route that is for it."""
    target = next((word for word in words if word[:1].isdigit()), "")
    try:
        wanted = IPv4Address(target)
    except ValueError:
        return ExecResult(
            stderr=f'Error: any valid prefix is expected rather than "{target[:80]}".\n', exit_code=1
        )
    own = {address.partition("/")[0]: each for each in devices.of(ctx) for address in each.addresses}
    if str(wanted) in own:
        return ExecResult(f"local {wanted} dev lo src {wanted} uid 0 \n    cache <local> \n")
    fitting = [each for each in devices.routes(ctx) if wanted in each.network]
    best = max(fitting, key=lambda each: each.network.prefixlen, default=None)
    if best is None or best.kind:
        text = "Network is unreachable" if best is None else "Invalid argument"
        return ExecResult(stderr=f"RTNETLINK answers: {text}\n", exit_code=2)
    parts = best.rest.split()
    said = [f"{word} {parts[parts.index(word) + 1]}" for word in ("via", "dev") if word in parts]
    name = parts[parts.index("dev") + 1]
    source = next(
        (
            each.addresses[0].partition("/")[0]
            for each in devices.of(ctx)
            if each.name == name and each.addresses
        ),
        "",
    )
    source = source or next((each.addresses[0].partition("/")[0] for each in devices.of(ctx) if each.name == "eth0" and each.addresses), "")  # fmt: skip
    return ExecResult(f"{wanted} {' '.join(said)} src {source} uid 0 \n    cache \n")


def _neighbours(ctx: ProcessContext, words: list[str], asked: _Asked) -> ExecResult:
    rows = (
        f"{address} dev {name} lladdr {mac} REACHABLE \n" for address, name, mac in devices.neighbours(ctx)
    )
    return ExecResult("".join(rows))


def _rules(ctx: ProcessContext, words: list[str], asked: _Asked) -> ExecResult:
    return ExecResult(
        "0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n"
    )


_VERBS: Mapping[str, Callable[[ProcessContext, list[str], _Asked], ExecResult]] = {
    "address": partial(_interfaces, "address"),
    "link": partial(_interfaces, "link"),
    "neighbour": _neighbours,
    "route": _routes,
    "rule": _rules,
}


# --- files --------------------------------------------------------------------------------------------


def files(ctx: ProcessContext, root: str = "") -> Late:
    """``/proc/net/dev`` and what lies under ``/sys/class/net``, by path: of what a process sees, or, below a ``root``, of its machine."""
    there = partial(devices.of_machine, ctx.world, ctx.process.node) if root else partial(devices.of, ctx)
    found: dict[str, Callable[[], str]] = {f"{root}/proc/net/dev": partial(_table, ctx, there)}
    for each in there():
        place = f"{root}/sys/class/net/{each.name}"
        for name in ("mtu", "address", "ifindex", "operstate", *(f"statistics/{name}" for name in _COUNTERS)):
            found[f"{place}/{name}"] = partial(_file, ctx, each, name)
    return found


_COUNTERS = tuple(
    f"{way}_{what}" for way in ("rx", "tx") for what in ("bytes", "packets", "dropped", "errors")
)


def _file(ctx: ProcessContext, each: Device, name: str) -> str:
    ctx.unnoted()
    plain = {"mtu": each.mtu, "address": each.mac, "ifindex": each.index, "operstate": each.state.lower()}
    if name in plain:
        return f"{plain[name]}\n"
    way, _, what = name.rpartition("/")[2].partition("_")
    if what not in ("bytes", "packets"):
        return "0\n"
    counts = each.counts()
    amount = counts.received if way == "rx" else counts.sent
    return f"{int(amount if what == 'bytes' else amount / PACKET_BYTES)}\n"


def _table(ctx: ProcessContext, there: Callable[[], tuple[Device, ...]]) -> str:
    ctx.unnoted()
    rows = [
        "Inter-|   Receive                                                |  Transmit\n",
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n",
    ]
    for each in there():
        received, sent = (int(amount) for amount in each.counts())
        rows.append(
            f"{each.name:>6}: {received:7d} {int(received / PACKET_BYTES):7d}    0    0    0     0          0         0 "
            f"{sent:8d} {int(sent / PACKET_BYTES):7d}    0    0    0     0       0          0\n"
        )
    return "".join(rows)
