"""Network commands inside containers: name lookups, HTTP clients, port checks, and the socket table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv4Address, ip_interface
from math import inf
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sregym_env.cluster.http import HTTP_REASONS, HttpCall, HttpExchange
from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.runtime.streams import keyed_bits
from sregym_env.shell.commands import names
from sregym_env.shell.commands.curl import curl
from sregym_env.shell.shell import Shell
from sregym_env.sim.network import dns
from sregym_env.sim.network.connections import connect, fits, joined
from sregym_env.sim.network.dns import Resolution
from sregym_env.sim.network.local_ports import ports
from sregym_env.sim.network.tls import Tls
from sregym_env.sim.processes import exchange
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.processes.exchange import Exchange
from sregym_env.sim.programs import devices, iproute
from sregym_env.sim.programs.defaults import CLOSED, ONCE
from sregym_env.sim.programs.machine import commands, kubelet_unit, net_counters, records
from sregym_env.sim.programs.machine.system import OnMachine
from sregym_env.sim.world import interfaces
from sregym_env.sim.world.strain import lacking_of


def _resolve(ctx: ProcessContext, host: str) -> Resolution:
    return dns.resolved(ctx.world, ctx.process, host)


def _words(argv: Sequence[str]) -> list[str]:
    return [word for word in argv[1:] if not word.startswith("-")]


def _unknown(
    argv: Sequence[str], short: str, usage: str, long: frozenset[str] = frozenset()
) -> ExecResult | None:
    """What busybox says of an option that it does not know; ``short`` is getopt's list."""
    known = {letter: short[at + 1 : at + 2] == ":" for at, letter in enumerate(short) if letter != ":"}
    words = list(argv[1:])
    while words:
        word = words.pop(0)
        if word == "--":
            break
        if word.startswith("--"):
            name, equals, _ = word[2:].partition("=")
            if name not in long and f"{name}=" not in long:
                return ExecResult(stderr=f"{argv[0]}: unrecognized option '{word}'\n{usage}", exit_code=1)
            if f"{name}=" in long and not equals and words:
                words.pop(0)
            continue
        if not word.startswith("-") or word == "-":
            continue
        for at, letter in enumerate(word[1:], 2):
            if letter not in known:
                return ExecResult(stderr=f"{argv[0]}: invalid option -- '{letter}'\n{usage}", exit_code=1)
            if known[letter]:
                if not word[at:]:
                    if not words:
                        text = f"{argv[0]}: option requires an argument -- '{letter}'\n{usage}"
                        return ExecResult(stderr=text, exit_code=1)
                    words.pop(0)
                break
    return None


_BUSYBOX = "BusyBox v1.36.1 (2023-05-18 22:34:17 UTC) multi-call binary.\n\n"
_WGET_USAGE = (
    f"{_BUSYBOX}Usage: wget [-cqS] [--spider] [-O FILE] [-o LOGFILE] [--header STR]\n"
    "\t[--post-data STR | --post-file FILE] [-Y on/off]\n"
    "\t[--no-check-certificate] [-P DIR] [-U AGENT] [-T SEC] URL...\n\nRetrieve files via HTTP or FTP\n"
)
_WGET_LONG = frozenset(
    "spider header= post-data= post-file= no-check-certificate user-agent= timeout= tries= quiet continue "
    "output-document= output-file= directory-prefix= server-response proxy= no-proxy no-verbose method= body-data=".split()
)
_NC_USAGE = (
    f"{_BUSYBOX}Usage: nc [OPTIONS] HOST PORT  - connect\nnc [OPTIONS] -l -p PORT [HOST] [PORT]  - listen\n"
)
_PING_USAGE = f"{_BUSYBOX}Usage: ping [OPTIONS] HOST\n\nSend ICMP ECHO_REQUESTs to HOST\n"
_TELNET_USAGE = f"{_BUSYBOX}Usage: telnet [-a] [-l USER] HOST [PORT]\n\nConnect to telnet server\n"


# --- names -------------------------------------------------------------------------------------------------


def _looker(ctx: ProcessContext) -> names.Look:
    return partial(exchange.look_up, ctx.world, ctx.process)


def _nslookup(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    bind = "dig" in ctx.image.binaries
    return names.nslookup(_looker(ctx), argv, busybox=not bind)


def _dig(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    version = (names.ALPINE,) if ctx.image.toolbox == "busybox" else ()
    return names.dig(_looker(ctx), argv, ctx.now() / SECOND, *version)


def _host(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    return names.host(_looker(ctx), argv)


# --- HTTP --------------------------------------------------------------------------------------------------


def _exchange(
    ctx: ProcessContext,
    url: str,
    method: str,
    headers: Mapping[str, str],
    body: str,
    wait: float,
    tls: Tls | None = None,
) -> Exchange:
    return exchange.http_request(ctx.world, ctx.process, url, method, headers, body, wait, tls)


def _host_port(url: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return "", 0


def _wget(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    if (unknown := _unknown(argv, "cqSO:o:P:U:T:t:Y:nv46", _WGET_USAGE, _WGET_LONG)) is not None:
        return unknown
    url, output, wait, quiet, spider, body, headers = "", "", 0.0, False, False, "", {}
    posts = any(word.startswith("--post-data") for word in argv)
    rest = list(argv[1:])
    while rest:
        word = rest.pop(0)
        if word in ("-O", "-T", "-t", "-U", "-P", "--header", "--post-data", "-o") and rest:
            value = rest.pop(0)
            if word == "-O":
                output = value
            elif word == "-T":
                wait = _seconds(value)
            elif word == "--header":
                name, _, text = value.partition(":")
                headers[name.strip()] = text.strip()
            elif word == "--post-data":
                body = value
        elif word.startswith("--post-data="):
            body = word[12:]
        elif word.startswith("--timeout="):
            wait = _seconds(word[10:])
        elif word.startswith("-T"):
            wait = _seconds(word[2:])
        elif word == "--spider":
            spider = True
        elif word.startswith("-") and not word.startswith("--"):
            quiet = quiet or "q" in word
            if "O" in word:
                tail = word.partition("O")[2]
                output = tail or (rest.pop(0) if rest else "")
        elif not word.startswith("--"):
            url = word
    if not url:
        return ExecResult(stderr=_WGET_USAGE, exit_code=1)
    done = _exchange(
        ctx,
        url,
        "POST" if posts else "GET",
        {"User-Agent": "Wget", **(_FORM if posts else {}), **headers},
        body,
        wait,
    )
    result, answer = _retrieved(done, url, quiet=quiet, limited=bool(wait))
    if answer is not None and not spider and output == "-":
        result = ExecResult(answer, result.stderr)
    elif answer is not None and not spider:
        name = output or url.rstrip("/").rpartition("/")[2].partition("?")[0] or "index.html"
        shell.files.put_text(shell.resolve(name), answer)
        if not quiet:
            result = ExecResult(stderr=f"{result.stderr}saving to '{name}'\n'{name}' saved\n")
    elif answer is not None and not quiet:
        result = ExecResult(stderr=f"{result.stderr}remote file exists\n")
    return replace(result, seconds=done.total_seconds)


def _retrieved(done: Exchange, url: str, *, quiet: bool, limited: bool) -> tuple[ExecResult, str | None]:
    """What busybox's wget says of a request, and the answer's body where there is one."""
    host, port = _host_port(url)
    head = "" if quiet or done.phase == "lookup" else f"Connecting to {host}:{port} ({done.address}:{port})\n"
    failed = ""
    if done.phase == "lookup" and done.outcome != "ok":
        failed = f"bad address '{host}{'' if port == 80 else f':{port}'}'"
    elif done.outcome == "no_port":
        failed = f"can't connect to remote host ({done.address}): Cannot assign requested address"
    elif done.outcome == "refused":
        failed = f"can't connect to remote host ({done.address}): Connection refused"
    elif done.outcome == "timeout" and limited:
        failed = "download timed out"
    elif done.outcome == "timeout":
        failed = f"can't connect to remote host ({done.address}): Operation timed out"
    else:
        if url.startswith("https://") and done.phase in ("handshake", "wait", "done") and not quiet:
            head += "wget: note: TLS certificate validation not implemented\n"
        if done.response is None:
            failed = "error getting response"
        elif done.response.status >= 400:
            status = done.response.status
            failed = f"server returned error: HTTP/1.1 {status} {HTTP_REASONS.get(status, '')}"
    if failed or done.response is None:
        return ExecResult(stderr=f"{head}wget: {failed}\n", exit_code=1), None
    return ExecResult(stderr=head), done.response.body


def _seconds(text: str) -> float:
    try:
        return max(0.0, float(text))
    except ValueError:
        return 0.0


_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
"""What a body is unless the command line says something else."""


@dataclass(frozen=True, slots=True)
class _Wire:
    """How the curl of a container reaches things: from its process's place in the network."""

    ctx: ProcessContext

    def now(self) -> int:
        """The present."""
        return self.ctx.wall()

    def request(self, call: HttpCall) -> HttpExchange:
        """One HTTP request."""
        return exchange.as_curl(self.ctx.world, self.ctx.process, call)


def _curl(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    answer = curl(
        _Wire(ctx),
        list(argv[1:]),
        lambda path: stdin if path == "-" else shell.files.text(shell.resolve(path)),
    )
    for path, text in answer.files:
        shell.files.put_text(shell.resolve(path), text)
    return replace(answer.result, seconds=answer.seconds)


# --- ports and sockets ----------------------------------------------------------------------------------------


def _nc(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    if (unknown := _unknown(argv, "lkvnuzw:p:e:i:s:o:q:G:NrtU46", _NC_USAGE)) is not None:
        return unknown
    words, flags, wait = _operands(argv, "wpeisoqG"), _flags(argv, "wpeisoqG"), 0.0
    if "w" in flags:
        wait = _seconds(flags["w"])
    if "l" in flags:
        port = flags.get("p", words[-1] if words else "")
        try:
            ctx.listen(whole(port, 0))
        except OSError:
            return ExecResult(stderr="nc: bind: Address already in use\n", exit_code=1)
        # Nobody comes.
        return ExecResult(seconds=inf)
    if len(words) < 2 or not words[1].isdecimal():
        return ExecResult(stderr=_NC_USAGE, exit_code=1)
    host, port_number = words[0], int(words[1])
    done = exchange.dial(ctx.world, ctx.process, host, port_number, wait)
    if done.outcome in ("no_such_host", "dns_timeout"):
        return ExecResult(stderr=f"nc: bad address '{host}'\n", exit_code=1, seconds=done.seconds)
    if done.outcome == "ok":
        text = f"{host} ({done.address}:{port_number}) open\n" if "v" in flags else ""
        said = "" if "z" in flags else _said(ctx, host, port_number, stdin)
        _leave(ctx, host, port_number)
        return ExecResult(said, text, seconds=done.seconds)
    reasons = {
        "no_port": "Cannot assign requested address",
        "refused": "Connection refused",
        "timeout": "Connection timed out",
    }
    reason = reasons.get(done.outcome, "Connection reset by peer")
    text = f"nc: {host} ({done.address}:{port_number}): {reason}\n"
    return ExecResult(stderr=text, exit_code=1, seconds=done.seconds)


def _leave(ctx: ProcessContext, host: str, port: int) -> None:
    """Close a connection: whoever serves one and no more ends with it."""
    world = ctx.world
    for leg in connect(world, ctx.process, host, port).legs[:1]:
        server = None if leg.process is None else world.processes.get(leg.process)
        if server is not None and ONCE in server.state:
            world.after(0, "program.wake", server.key, server.restart, CLOSED)


_REQUEST = re.compile(r"(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH) (\S{1,2000}) HTTP/1\.[01]\r?\n", re.ASCII)


def _said(ctx: ProcessContext, host: str, port: int, sent: str) -> str:
    """What a server answers to something that was typed: to HTTP as it came over the line, else what its program says."""
    asked = _REQUEST.match(sent)
    if asked is None:
        return exchange.typed(ctx.world, ctx.process, host, port, sent)
    head, _, body = sent[asked.end() :].replace("\r\n", "\n").partition("\n\n")
    fields = (line.partition(":") for line in head.split("\n") if ":" in line)
    headers = {name.strip(): value.strip() for name, _, value in fields}
    done = _exchange(ctx, f"http://{joined(host, port)}{asked[2]}", asked[1], headers, body.rstrip("\n"), 0.0)
    if done.response is None:
        return ""
    answer = done.response
    lines = [f"HTTP/1.1 {answer.status} {HTTP_REASONS.get(answer.status, '')}".rstrip()]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    lines.append(f"Content-Length: {len(answer.body.encode())}")
    return "".join(f"{line}\r\n" for line in lines) + "\r\n" + ("" if asked[1] == "HEAD" else answer.body)


def _operands(argv: Sequence[str], valued: str) -> list[str]:
    """The words that are neither options nor values of such."""
    found: list[str] = []
    words = list(argv[1:])
    while words:
        word = words.pop(0)
        if word == "--":
            return found + words
        if not word.startswith("-") or word == "-":
            found.append(word)
            continue
        taking = next((at for at, letter in enumerate(word[1:], 2) if letter in valued), 0)
        if taking and not word[taking:] and words:
            words.pop(0)
    return found


def _flags(argv: Sequence[str], valued: str) -> dict[str, str]:
    """Options by their letter, with the values of those that take one."""
    found: dict[str, str] = {}
    words = list(argv[1:])
    while words:
        word = words.pop(0)
        if word == "--":
            break
        if not word.startswith("-") or word == "-":
            continue
        for at, letter in enumerate(word[1:], 2):
            if letter in valued:
                found[letter] = word[at:] or (words.pop(0) if words else "")
                break
            found[letter] = ""
    return found


def _telnet(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    if (unknown := _unknown(argv, "al:", _TELNET_USAGE)) is not None:
        return unknown
    words = _operands(argv, "l")
    if not words:
        return ExecResult(stderr=_TELNET_USAGE, exit_code=1)
    host, port = words[0], whole(words[1], 0) if len(words) > 1 else 23
    done = exchange.dial(ctx.world, ctx.process, host, port)
    if done.outcome in ("no_such_host", "dns_timeout"):
        return ExecResult(stderr=f"telnet: bad address '{host}'\n", exit_code=1, seconds=done.seconds)
    if done.outcome == "ok":
        return ExecResult(
            f"Connected to {host}\n", "Connection closed by foreign host\n", 1, seconds=done.seconds
        )
    reason = "Connection refused" if done.outcome == "refused" else "Connection timed out"
    text = f"telnet: can't connect to remote host ({done.address}): {reason}\n"
    return ExecResult(stderr=text, exit_code=1, seconds=done.seconds)


TYPED = 10
"""Packets after which somebody stops a ``ping`` that would go on for ever."""
ECHO_DATA, MOST_DATA = 56, 65507
"""Bytes that ping sends beside the headers, where it is not told how many, and at most."""
ECHO_HEADERS = 28
"""Bytes of the headers of IP and ICMP."""
MOST_PACKETS = 1000
"""Packets whose answers are shown."""


def _ping(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    # Only the ping of iputils can be told whether to fragment; images that bring dig bring that one.
    iputils = isinstance(ctx, OnMachine)
    options = "46c:s:t:I:w:W:i:qAp:nv" + ("M:" if iputils or "dig" in ctx.image.binaries else "")
    options += "DORfbl:Q:T:" if iputils else ""
    if (unknown := _unknown(argv, options, _PING_USAGE)) is not None:
        return unknown
    words, flags = _operands(argv, "cstIwWipM"), _flags(argv, "cstIwWipM")
    if not words:
        return ExecResult(stderr=_PING_USAGE, exit_code=1)
    host = words[0]
    found = _resolve(ctx, host)
    if found.error or not found.addresses:
        if iputils:
            text = f"ping: {host}: Name or service not known\n"
            return ExecResult(stderr=text, exit_code=2, seconds=found.latency)
        return ExecResult(stderr=f"ping: bad address '{host}'\n", exit_code=1, seconds=found.latency)
    address = found.addresses[0]
    given = flags.get("c", "")
    if given and not given.isdecimal():
        return ExecResult(stderr=f"ping: invalid number '{given}'\n", exit_code=1)
    count = min(whole(given, MOST_PACKETS), MOST_PACKETS) if given else TYPED
    if "w" in flags:
        count = min(count, max(1, int(_seconds(flags["w"]))))
    size = min(whole(flags["s"], MOST_DATA), MOST_DATA) if flags.get("s", "").isdecimal() else ECHO_DATA
    head = f"PING {host} ({address}): {size} data bytes\n"
    if iputils:
        head = f"PING {host} ({address}) {size}({size + ECHO_HEADERS}) bytes of data.\n"
    mtu = _way_mtu(ctx, address) if iputils else interfaces.of_process(ctx.world, ctx.process)
    if flags.get("M") == "do" and size + ECHO_HEADERS > mtu:
        text = f"ping: local error: message too long, mtu={mtu}\n"
        return ExecResult(head, text * count, exit_code=1, seconds=found.latency + count)
    # Any port will do: a refusal is an answer, too.
    done = exchange.dial(ctx.world, ctx.process, address, 7)
    leg = connect(ctx.world, ctx.process, address, 7).legs[0]
    lost = done.outcome == "timeout" and not leg.loss
    lost = lost or not fits(ctx.world, ctx.process, address, size + ECHO_HEADERS)
    rtt = f"{(leg.latency if leg.loss else done.seconds) * 1000:.3f}"
    # Nobody sends an echo again.
    back = [] if lost else [i for i in range(count) if not leg.loss or ctx.chance("ping") >= leg.loss]
    if iputils:
        return _pinged(found.latency, flags, head, (host, address), size, count, back, rtt)
    lines = "" if "q" in flags else "".join(
        f"{size + 8} bytes from {address}: seq={i} ttl=62 time={rtt} ms\n" for i in back
    )  # fmt: skip
    stopped = "" if given or "w" in flags else "^C"
    tail = f"{stopped}\n--- {host} ping statistics ---\n{count} packets transmitted, {len(back)} packets received, "
    tail += f"{100 * (count - len(back)) // max(count, 1)}% packet loss\n"
    lost = not back
    if not lost:
        tail += f"round-trip min/avg/max = {rtt}/{rtt}/{rtt} ms\n"
    last = (_seconds(flags["W"]) if "W" in flags else 10.0) if lost else 0.0
    return ExecResult(head + lines + tail, exit_code=int(lost), seconds=found.latency + count - 1 + last)


def _way_mtu(ctx: ProcessContext, address: str) -> int:
    """The MTU of the interface by which what is for an address leaves."""
    ctx.unnoted()
    fitting = [
        route for route in devices.routes(ctx) if IPv4Address(address) in route.network and not route.kind
    ]
    best = max(fitting, key=lambda route: route.network.prefixlen, default=None)
    name = "" if best is None else best.rest.partition("dev ")[2].partition(" ")[0]
    return next((each.mtu for each in devices.of(ctx) if each.name == name), interfaces.CARD)


def _pinged(
    looked: float,
    flags: Mapping[str, str],
    head: str,
    whom: tuple[str, str],
    size: int,
    count: int,
    back: Sequence[int],
    rtt: str,
) -> ExecResult:
    """What the ping of iputils says of so many packets."""
    host, address = whom
    lines = "" if "q" in flags else "".join(
        f"{size + 8} bytes from {address}: icmp_seq={i + 1} ttl=63 time={rtt} ms\n" for i in back
    )  # fmt: skip
    stopped = "" if "c" in flags or "w" in flags else "^C"
    lost = 100 * (count - len(back)) // max(count, 1)
    tail = f"{stopped}\n--- {host} ping statistics ---\n{count} packets transmitted, {len(back)} received, {lost}% packet loss"
    tail += f", time {max(count - 1, 0) * 1001}ms\n"
    tail += f"rtt min/avg/max/mdev = {rtt}/{rtt}/{rtt}/0.000 ms\n\n" if back else "\n"
    last = 0.0 if back else _seconds(flags["W"]) if "W" in flags else 10.0
    return ExecResult(
        head + lines + tail.removesuffix("\n"), exit_code=int(not back), seconds=looked + count - 1 + last
    )


_DRIVERS = {"aws": "ena", "gce": "gve", "azure": "hv_netvsc"}
"""What drives the network cards of clouds."""


def _ethtool(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``ethtool DEVICE``: its settings; ``-i`` its driver, ``-S`` what it has counted."""
    words, flags = [word for word in argv[1:] if not word.startswith("-")], argv[1:]
    if not words:
        return ExecResult(
            stderr="ethtool: bad command line argument(s)\nFor more information run ethtool -h\n", exit_code=1
        )
    ctx.unnoted()
    each = next((device for device in devices.of(ctx) if device.name == words[0]), None)
    if each is None:
        text = "Cannot get device settings: No such device\nNo data available\n"
        return ExecResult(stderr=f"netlink error: No such device\n{text}", exit_code=75)
    virtual = each.kind != "ether" or bool(each.peer)
    if any(word in ("-i", "--driver") for word in flags):
        driver = {"loopback": "loopback", "ipip": "ipip"}.get(
            each.kind, "veth" if virtual else _DRIVERS.get(ctx.world.plan.provider, "virtio_net")
        )
        return ExecResult(
            f"driver: {driver}\nversion: {commands.kernel_release(ctx.world, ctx.process.node)}\nfirmware-version: \nexpansion-rom-version: \n"
            f"bus-info: {'' if virtual else '0000:00:03.0'}\nsupports-statistics: {'no' if each.kind != 'ether' else 'yes'}\nsupports-test: no\n"
            "supports-eeprom-access: no\nsupports-register-dump: no\nsupports-priv-flags: no\n"
        )
    if any(word in ("-S", "--statistics") for word in flags):
        if each.kind != "ether":
            return ExecResult(stderr="no stats available\n", exit_code=94)
        counts = each.counts()
        rows = (
            ("rx_packets", counts.received / devices.PACKET_BYTES), ("rx_bytes", counts.received), ("rx_drops", 0),
            ("tx_packets", counts.sent / devices.PACKET_BYTES), ("tx_bytes", counts.sent), ("tx_drops", 0),
        )  # fmt: skip
        return ExecResult(
            "NIC statistics:\n" + "".join(f"     {name}: {int(value)}\n" for name, value in rows)
        )
    if each.kind == "loopback":
        return ExecResult(f"Settings for {each.name}:\n\tLink detected: yes\n")
    up = "yes" if "LOWER_UP" in each.flags else "no"
    if each.kind != "ether":
        return ExecResult(f"Settings for {each.name}:\n\tLink detected: {up}\n")
    return ExecResult(
        f"Settings for {each.name}:\n\tSupported ports: [  ]\n\tSupported link modes:   Not reported\n\tSupports auto-negotiation: No\n"
        "\tSpeed: 10000Mb/s\n\tDuplex: Full\n\tAuto-negotiation: off\n\tPort: "
        f"{'Twisted Pair' if virtual else 'Other'}\n\tPHYAD: 0\n\tTransceiver: internal\n\tLink detected: {up}\n"
    )


class Server(NamedTuple):
    """Who accepts connections on a TCP port."""

    port: int
    who: tuple[str, int] | None
    """Its name and number, for those who may see them."""
    address: str = "*"


def listening(ctx: ProcessContext) -> list[Server]:
    """The TCP ports on which somebody accepts connections in a process's network, which is its pod's or its machine's."""
    world, process = ctx.world, ctx.process
    ctx.unnoted()
    if not process.host_network:
        found: dict[int, Server] = {}
        for other in world.processes.values():
            if other.key[0] == process.key[0]:
                for port in other.listening:
                    seen = (process.binary.rpartition("/")[2], 1) if port in process.listening else None
                    found.setdefault(port, Server(port, seen))
        return sorted(each for each in found.values() if each.port)
    everybody = not process.namespace
    servers = _daemons(ctx) if everybody else [each._replace(who=None) for each in _daemons(ctx)]
    for pid, other in records.numbered(world, process.node):
        if other.host_network:
            name = (other.binary.rpartition("/")[2] or other.program, pid)
            own = (name[0], 1) if other.key == process.key else None
            servers += [Server(port, name if everybody else own) for port in other.listening if port]
    return sorted(servers, key=lambda each: each.port)


def listening_ports(ctx: ProcessContext) -> list[int]:
    """Their ports alone, each once, sorted."""
    return sorted({each.port for each in listening(ctx)})


def _daemons(ctx: ProcessContext) -> list[Server]:
    """A machine's own: who logs people in, the container runtime, and its kubelet while it runs."""
    world, node = ctx.world, ctx.process.node
    streams = 32_768 + keyed_bits("containerd", node) % 28_000
    found = [
        Server(22, ("sshd", records.PIDS["sshd"]), "0.0.0.0"),
        Server(streams, ("containerd", records.PIDS["containerd"]), "127.0.0.1"),
    ]
    if kubelet_unit.runs(world, node):
        who = ("kubelet", records.pid_of(world, node))
        found += [Server(10250, who), Server(10248, who, "127.0.0.1")]
    return found


MOST_TAKEN = 20_000
"""Connections that are listed."""


class Taken(NamedTuple):
    """A connection by which a local port is in use."""

    port: int
    address: str
    to: int
    closed: bool
    """Whether it has ended, and its port is not free yet."""


def taken(ctx: ProcessContext) -> list[Taken]:
    """Those of the pod towards whom it has no port left; of others nobody counts them."""
    ctx.unnoted()
    uid, (first, last) = ctx.process.key[0], ports(ctx.world, ctx.process)
    found: list[Taken] = []
    for (pod, address, to), lack in sorted(lacking_of(ctx.world).items()):
        ended = first + round((last + 1 - first) * lack.closed)
        found += [Taken(port, address, to, port < ended) for port in range(first, last + 1) if pod == uid]
    return found[:MOST_TAKEN]


def closed(ctx: ProcessContext) -> int:
    """How many of them have ended."""
    return sum(each.closed for each in taken(ctx))


_SERVERS, _CLIENTS = ("listening", "all"), ("time-wait", "established", "connected", "all")
"""States by which ``ss`` is asked for either."""


def _netstat(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    flags = "".join(word[1:] for word in argv[1:] if word.startswith("-") and not word.startswith("--"))
    flags += "".join(word[2] for word in argv[1:] if word in ("--listening", "--all"))
    if argv[0] == "ss" and ("s" in flags or "--summary" in argv):
        return commands.sockets(ctx, len(listening(ctx)), closed(ctx))
    if argv[0] == "netstat" and ("r" in flags or "--route" in argv):
        return ExecResult(_routing(_route(ctx, argv, stdin, shell).stdout))
    if argv[0] == "netstat" and ("s" in flags or "--statistics" in argv):
        return ExecResult(net_counters.summary(ctx))
    state = next((argv[at + 1] for at, word in enumerate(argv[:-1]) if word == "state"), "")
    tcp = "u" not in flags or "t" in flags
    servers = tcp and (state in _SERVERS if state else "l" in flags or "a" in flags)
    clients = tcp and (state in _CLIENTS if state else "l" not in flags)
    used = taken(ctx) if clients else []
    if state in ("time-wait", "established"):
        used = [each for each in used if each.closed is (state == "time-wait")]
    elif argv[0] == "ss" and not state and "a" not in flags:
        # Without either it shows what stands.
        used = [each for each in used if not each.closed]
    heard = listening(ctx) if servers else []
    lines = list((_ss if argv[0] == "ss" else _stat)(ctx, flags, heard, used))
    if argv[0] == "ss" and state in ("listening", "time-wait", "established"):
        # Who asks for one state is not told it on every line.
        lines = [line.partition(" ")[2].lstrip() for line in lines]
    return ExecResult("\n".join(lines) + "\n")


def _ss(ctx: ProcessContext, flags: str, heard: Sequence[Server], used: Sequence[Taken]) -> Iterator[str]:
    own = ctx.process.ip
    yield "State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process"
    for port, whose, address in heard:
        who = f'users:(("{whose[0]}",pid={whose[1]},fd=3))' if whose is not None and "p" in flags else ""
        peer = "*" if address == "*" else "0.0.0.0"
        yield f"LISTEN 0      4096   {address:>13}:{port:<5} {peer:>12}:*    {who}".rstrip()
    for each in used:
        kind = "TIME-WAIT" if each.closed else "ESTAB"
        yield f"{kind:<9} 0   0      {own}:{each.port}  {each.address}:{each.to}"


def _stat(ctx: ProcessContext, flags: str, heard: Sequence[Server], used: Sequence[Taken]) -> Iterator[str]:
    own = ctx.process.ip
    shown = "servers and established" if "a" in flags else "only servers" if "l" in flags else "w/o servers"
    yield f"Active Internet connections ({shown})"
    told = "p" in flags
    yield f"Proto Recv-Q Send-Q Local Address           Foreign Address         State       {'PID/Program name' if told else ''}"
    for port, whose, address in heard:
        who = "-" if whose is None else f"{whose[1]}/{whose[0]}"
        here, peer = (f":::{port}", ":::*") if address == "*" else (f"{address}:{port}", "0.0.0.0:*")
        kind = "tcp6" if address == "*" and ctx.image.toolbox == "debian" else "tcp"
        yield f"{kind:<5}      0      0 {here:<23} {peer:<23} LISTEN      {who if told else ''}"
    for each in used:
        here, there = f"{own}:{each.port}", f"{each.address}:{each.to}"
        kind = "TIME_WAIT" if each.closed else "ESTABLISHED"
        yield f"tcp        0      0 {here:<23} {there:<23} {kind:<11} {'-' if told else ''}"


def _route(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    ctx.unnoted()
    head = "Kernel IP routing table\nDestination     Gateway         Genmask         Flags Metric Ref    Use Iface\n"
    rows = []
    for each in devices.routes(ctx):
        words = each.rest.split()
        name = words[words.index("dev") + 1] if "dev" in words else "*"
        gateway = words[words.index("via") + 1] if "via" in words else "0.0.0.0" if name != "*" else "-"
        flags = (
            ("!" if each.kind else "U")
            + ("G" if "via" in words else "")
            + ("H" if each.network.prefixlen == 32 else "")
        )
        metric = words[words.index("metric") + 1] if "metric" in words else "0"
        where, mask = each.network.network_address, each.network.netmask
        rows.append(f"{where!s:<15} {gateway:<15} {mask!s:<15} {flags:<5} {metric:<6} 0        0 {name}\n")
    return ExecResult(head + "".join(rows))


def _routing(routes: str) -> str:
    """The table of ``route`` as ``netstat -r`` prints it: with a connection's limits in the place of metrics."""
    head, _, *rows = routes.splitlines()
    said = [f"{head}\nDestination     Gateway         Genmask         Flags   MSS Window  irtt Iface\n"]
    for row in rows:
        to, gateway, mask, flags, *_, name = row.split()
        said.append(f"{to:<15} {gateway:<15} {mask:<15} {flags:<9} 0 0          0 {name}\n")
    return "".join(said)


def _ifconfig(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    ctx.unnoted()
    shown = []
    for each in devices.of(ctx):
        if argv[1] not in ("-a", each.name) if argv[1:] else "UP" not in each.flags.split(","):
            continue
        address = next(map(ip_interface, each.addresses), None)
        counts = each.counts()
        kind = {"loopback": "Local Loopback", "ipip": "IPIP Tunnel  HWaddr"}.get(
            each.kind, f"Ethernet  HWaddr {each.mac.upper()}"
        )
        own = (
            ""
            if address is None
            else f"          inet addr:{address.ip}  Bcast:0.0.0.0  Mask:{address.netmask}\n"
        )
        flags = each.flags.replace(",LOWER_UP", ",RUNNING").replace(",", " ")
        shown.append(
            f"{each.name:<9} Link encap:{kind}\n{own}          {flags}  MTU:{each.mtu}  Metric:1\n"
            f"          RX bytes:{int(counts.received)}  TX bytes:{int(counts.sent)}\n"
        )
    if not shown:
        return ExecResult(
            stderr=f"ifconfig: {argv[1][:80]}: error fetching interface information: Device not found\n",
            exit_code=1,
        )
    return ExecResult("\n".join(shown) + "\n")


def _arp(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    if argv[0] == "traceroute":
        words = _words(argv)
        found = _resolve(ctx, words[0] if words else "")
        if found.error:
            return ExecResult(stderr=f"traceroute: bad address '{words[0] if words else ''}'\n", exit_code=1)
        to = found.addresses[0]
        return ExecResult(
            f"traceroute to {words[0]} ({to}), 30 hops max, 46 byte packets\n 1  {to}  0.312 ms\n"
        )
    return ExecResult("? (169.254.1.1) at ee:ee:ee:ee:ee:ee [ether]  on eth0\n")


TOOLS: Mapping[str, Callable[[ProcessContext, Sequence[str], str, Any], ExecResult]] = {
    "nslookup": _nslookup,
    "dig": _dig,
    "host": _host,
    "wget": _wget,
    "curl": _curl,
    "nc": _nc,
    "telnet": _telnet,
    "ping": _ping,
    "ethtool": _ethtool,
    "netstat": _netstat,
    "ss": _netstat,
    "ip": iproute.ip,
    "ifconfig": _ifconfig,
    "route": _route,
    "arp": _arp,
    "traceroute": _arp,
}
