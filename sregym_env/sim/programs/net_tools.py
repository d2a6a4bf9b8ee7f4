"""Network commands inside containers: name lookups, HTTP clients, port checks, and the socket table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sregym_env.cluster.http import HTTP_REASONS, HttpCall, HttpExchange
from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.commands.curl import curl
from sregym_env.shell.shell import Shell
from sregym_env.sim.network import dns
from sregym_env.sim.network.dns import Resolution
from sregym_env.sim.network.tls import Tls
from sregym_env.sim.processes import exchange
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.processes.exchange import Exchange


def _resolve(ctx: ProcessContext, host: str) -> Resolution:
    return dns.resolve(ctx.world, ctx.process, host)


def _server(ctx: ProcessContext) -> str:
    servers = dns.resolv_conf(ctx.world, ctx.process).nameservers
    return servers[0] if servers else "127.0.0.1"


def _words(argv: Sequence[str]) -> list[str]:
    return [word for word in argv[1:] if not word.startswith("-")]


# --- names -------------------------------------------------------------------------------------------------


def _lookup(ctx: ProcessContext, name: str, server: str) -> tuple[str, tuple[str, ...], str]:
    """(rcode, addresses, canonical name): through the search path, or of one server exactly."""
    if server:
        answer, _ = dns.ask(ctx.world, ctx.process, name.rstrip("."), server)
        canonical = answer.chain[-1] if answer.chain else name
        return answer.rcode, answer.addresses, canonical
    found = _resolve(ctx, name)
    if found.error == "dns_timeout":
        servfail = any(query.answer.rcode == "SERVFAIL" for query in found.queries)
        return ("SERVFAIL" if servfail else "TIMEOUT"), (), name
    if found.error:
        return "NXDOMAIN", (), name
    return "NOERROR", found.addresses, (found.canonical or name).rstrip(".")


def _nslookup(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    words = _words(argv)
    if not words:
        return ExecResult(stderr="Usage: nslookup [-type=QUERY_TYPE] HOST [DNS_SERVER]\n", exit_code=1)
    server = words[1] if len(words) > 1 else ""
    shown = server or _server(ctx)
    rcode, addresses, canonical = _lookup(ctx, words[0], server)
    head = f"Server:\t\t{shown}\nAddress:\t{shown}:53\n\n"
    if rcode == "TIMEOUT":
        return ExecResult(";; connection timed out; no servers could be reached\n\n", exit_code=1)
    if rcode != "NOERROR":
        return ExecResult(head + f"** server can't find {words[0]}: {rcode}\n\n", exit_code=1)
    body = "".join(f"Name:\t{canonical}\nAddress: {address}\n" for address in addresses)
    return ExecResult(head + (body or f"*** Can't find {words[0]}: No answer\n") + "\n")


def _dig(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    server = next((word[1:] for word in argv[1:] if word.startswith("@")), "") or _server(ctx)
    names = [
        w
        for w in argv[1:]
        if not w.startswith(("@", "+", "-")) and w.upper() not in ("A", "AAAA", "ANY", "IN", "SRV")
    ]
    name = names[0] if names else "."
    if "+search" in argv:
        rcode, addresses, canonical = _lookup(ctx, name, "")
    else:
        rcode, addresses, canonical = _lookup(ctx, name, server)
    if rcode == "TIMEOUT":
        return ExecResult(
            f";; communications error to {server}#53: timed out\n"
            "\n; <<>> DiG 9.18.28 <<>> " + " ".join(argv[1:]) + "\n;; global options: +cmd\n"
            ";; no servers could be reached\n",
            exit_code=9,
        )
    if "+short" in argv:
        return ExecResult("".join(f"{address}\n" for address in addresses))
    answer = "".join(f"{canonical}.\t30\tIN\tA\t{address}\n" for address in addresses)
    section = f";; ANSWER SECTION:\n{answer}\n" if answer else ""
    return ExecResult(
        f"\n; <<>> DiG 9.18.28 <<>> {' '.join(argv[1:])}\n;; global options: +cmd\n;; Got answer:\n"
        f";; ->>HEADER<<- opcode: QUERY, status: {rcode}, id: 41327\n"
        f";; flags: qr aa rd; QUERY: 1, ANSWER: {len(addresses)}, AUTHORITY: 0, ADDITIONAL: 1\n\n"
        f";; QUESTION SECTION:\n;{name.rstrip('.')}.\t\tIN\tA\n\n{section}"
        f";; Query time: 1 msec\n;; SERVER: {server}#53({server}) (UDP)\n\n"
    )


def _host(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    words = _words(argv)
    if not words:
        return ExecResult(stderr="Usage: host [-aCdilrTvVw] name [server]\n", exit_code=1)
    rcode, addresses, canonical = _lookup(ctx, words[0], words[1] if len(words) > 1 else "")
    if rcode == "TIMEOUT":
        return ExecResult(";; connection timed out; no servers could be reached\n", exit_code=1)
    if rcode != "NOERROR":
        return ExecResult(f"Host {words[0]} not found: 3({rcode})\n", exit_code=1)
    return ExecResult("".join(f"{canonical} has address {address}\n" for address in addresses))


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
    url, output, wait, quiet, spider, body, headers = "", "", 0.0, False, False, "", {}
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
        return ExecResult(stderr="wget: missing URL\n", exit_code=1)
    host, port = _host_port(url)
    done = _exchange(
        ctx,
        url,
        "POST" if body else "GET",
        {"User-Agent": "Wget", **(_FORM if body else {}), **headers},
        body,
        wait,
    )
    head = "" if quiet or done.phase == "lookup" else f"Connecting to {host}:{port} ({done.address}:{port})\n"
    if done.phase == "lookup" and done.outcome != "ok":
        return ExecResult(stderr=f"wget: bad address '{host}:{port}'\n".replace(":80'", "'"), exit_code=1)
    if done.outcome == "refused":
        return ExecResult(
            stderr=head + f"wget: can't connect to remote host ({done.address}): Connection refused\n",
            exit_code=1,
        )
    if done.outcome == "timeout":
        text = (
            "wget: download timed out\n"
            if wait
            else f"wget: can't connect to remote host ({done.address}): Operation timed out\n"
        )
        return ExecResult(stderr=head + text, exit_code=1)
    if url.startswith("https://") and done.phase in ("handshake", "wait", "done"):
        head += "" if quiet else "wget: note: TLS certificate validation not implemented\n"
    if done.response is None:
        return ExecResult(stderr=head + "wget: error getting response\n", exit_code=1)
    status = done.response.status
    if status >= 400:
        text = f"wget: server returned error: HTTP/1.1 {status} {HTTP_REASONS.get(status, '')}\n"
        return ExecResult(stderr=head + text, exit_code=1)
    if spider:
        return ExecResult(stderr=head + ("" if quiet else "remote file exists\n"))
    if output == "-":
        return ExecResult(done.response.body, head)
    name = output or url.rstrip("/").rpartition("/")[2].partition("?")[0] or "index.html"
    shell.files.put_text(shell.resolve(name), done.response.body)
    return ExecResult(stderr=head + ("" if quiet else f"saving to '{name}'\n'{name}' saved\n"))


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
        return self.ctx.now()

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
    return answer.result


# --- ports and sockets ----------------------------------------------------------------------------------------


def _nc(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    words = [
        w
        for i, w in enumerate(argv)
        if i and not w.startswith("-") and argv[i - 1] not in ("-w", "-p", "-e", "-i", "-G")
    ]
    flags = "".join(w[1:] for w in argv[1:] if w.startswith("-"))
    if "l" in flags:
        port = next(
            (argv[i + 1] for i, w in enumerate(argv[:-1]) if w.startswith("-") and w.endswith("p")), ""
        )
        number = int(port or (words[0] if words else "0")) if (port or words) else 0
        if number in _listening(ctx):
            return ExecResult(stderr="nc: bind: Address already in use\n", exit_code=1)
        return ExecResult()
    if len(words) < 2 or not words[1].isdecimal():
        return ExecResult(
            stderr="BusyBox v1.36.1 multi-call binary.\n\nUsage: nc [OPTIONS] HOST PORT\n", exit_code=1
        )
    host, port_number = words[0], int(words[1])
    connection = ctx.connect(host, port_number)
    leg = _drawn(ctx, connection.legs)
    if leg.outcome in ("no_such_host", "dns_timeout"):
        return ExecResult(stderr=f"nc: bad address '{host}'\n", exit_code=1)
    address = (connection.resolution.addresses or (host,))[0]
    name = host if host != address else address
    if leg.outcome == "ok":
        verbose = "v" in flags
        return ExecResult(stderr=f"{name} ({address}:{port_number}) open\n" if verbose else "")
    reason = {"refused": "Connection refused", "timeout": "Connection timed out"}.get(
        leg.outcome, "Connection reset by peer"
    )
    return ExecResult(stderr=f"nc: {name} ({address}:{port_number}): {reason}\n", exit_code=1)


def _drawn(ctx: ProcessContext, legs: Sequence[Any]) -> Any:
    draw = ctx.chance("dial") if len(legs) > 1 else 0.0
    for leg in legs:
        if draw < leg.share:
            return leg
        draw -= leg.share
    return legs[-1]


def _telnet(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    words = _words(argv)
    host, port = (words[0] if words else ""), int(words[1]) if len(words) > 1 and words[1].isdecimal() else 23
    leg = _drawn(ctx, ctx.connect(host, port).legs)
    if leg.outcome in ("no_such_host", "dns_timeout"):
        return ExecResult(stderr=f"telnet: bad address '{host}'\n", exit_code=1)
    if leg.outcome == "ok":
        return ExecResult(f"Connected to {host}\n", "Connection closed by foreign host\n", 1)
    reason = "Connection refused" if leg.outcome == "refused" else "Connection timed out"
    return ExecResult(stderr=f"telnet: can't connect to remote host ({leg.address}): {reason}\n", exit_code=1)


def _ping(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    words = [
        w
        for i, w in enumerate(argv)
        if i and not w.startswith("-") and argv[i - 1] not in ("-c", "-w", "-W", "-i")
    ]
    host = words[0] if words else ""
    found = _resolve(ctx, host)
    if found.error or not found.addresses:
        return ExecResult(stderr=f"ping: bad address '{host}'\n", exit_code=1)
    address = found.addresses[0]
    count = 4
    for index, word in enumerate(argv[:-1]):
        if word == "-c" and argv[index + 1].isdecimal():
            count = min(int(argv[index + 1]), 20)
    head = f"PING {host} ({address}): 56 data bytes\n"
    # Any port will do: a refusal is an answer, too.
    leg = ctx.connect(address, 7).legs[0]
    lost = leg.outcome == "timeout"
    lines = "" if lost else "".join(
        f"64 bytes from {address}: seq={i} ttl=62 time={leg.latency * 1000:.3f} ms\n" for i in range(count)
    )  # fmt: skip
    tail = f"\n--- {host} ping statistics ---\n{count} packets transmitted, {0 if lost else count} packets received, "
    tail += f"{100 if lost else 0}% packet loss\n"
    if not lost:
        rtt = f"{leg.latency * 1000:.3f}"
        tail += f"round-trip min/avg/max = {rtt}/{rtt}/{rtt} ms\n"
    return ExecResult(head + lines + tail, exit_code=int(lost))


def _listening(ctx: ProcessContext) -> list[int]:
    world, process = ctx.world, ctx.process
    ports: list[int] = []
    for other in world.processes.values():
        if other.key[0] == process.key[0]:
            ports.extend(port for port in other.listening if port and port not in ports)
    return sorted(ports)


def _netstat(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    name = ctx.process.binary.rpartition("/")[2]
    mine = set(ctx.process.listening)
    if argv[0] == "ss":
        lines = ["State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process"]
        for port in _listening(ctx):
            who = f'users:(("{name}",pid=1,fd=3))' if port in mine else ""
            lines.append(f"LISTEN 0      4096               *:{port:<5}            *:*    {who}".rstrip())
        return ExecResult("\n".join(lines) + "\n")
    lines = [
        "Active Internet connections (only servers)",
        "Proto Recv-Q Send-Q Local Address           Foreign Address         State       PID/Program name",
    ]
    for port in _listening(ctx):
        who = f"1/{name}" if port in mine else "-"
        lines.append(f"tcp        0      0 {f':::{port}':<23} {':::*':<23} LISTEN      {who}")
    return ExecResult("\n".join(lines) + "\n")


def _ip(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    address = ctx.process.ip
    if any(word.startswith("r") for word in argv[1:]) or argv[0] == "route":
        return ExecResult("default via 169.254.1.1 dev eth0 \n169.254.1.1 dev eth0 scope link \n")
    if argv[0] == "ifconfig":
        return ExecResult(
            "eth0      Link encap:Ethernet  HWaddr EE:EE:EE:EE:EE:EE\n"
            f"          inet addr:{address}  Bcast:0.0.0.0  Mask:255.255.255.255\n"
            "          UP BROADCAST RUNNING MULTICAST  MTU:1480  Metric:1\n\n"
            "lo        Link encap:Local Loopback\n          inet addr:127.0.0.1  Mask:255.0.0.0\n"
        )
    return ExecResult(
        "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN qlen 1000\n"
        "    inet 127.0.0.1/8 scope host lo\n       valid_lft forever preferred_lft forever\n"
        "2: eth0@if7: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1480 qdisc noqueue state UP qlen 1000\n"
        f"    inet {address}/32 scope global eth0\n       valid_lft forever preferred_lft forever\n"
    )


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
    "netstat": _netstat,
    "ss": _netstat,
    "ip": _ip,
    "ifconfig": _ip,
    "route": _ip,
    "arp": _arp,
    "traceroute": _arp,
}
