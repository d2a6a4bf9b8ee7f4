"""The network programs of the workstation: ``nc``, ``ping``, ``wget``, ``dig``, ``nslookup``, ``host``, ``telnet``.

What Debian 12 installs: OpenBSD's netcat, iputils, GNU Wget, BIND. Everything they find out comes from the world's own
network, by the requests that curl makes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from math import inf
from typing import Protocol
from urllib.parse import urlsplit

from sregym_env.cluster.http import HTTP_REASONS, HttpCall, HttpExchange, Lookup
from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.numbers import whole
from sregym_env.shell.commands import names
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.shell import Shell

TYPED = 10
"""Packets after which somebody stops a ``ping`` that would go on for ever."""
MOST_PACKETS = 1000
"""Packets that one ``ping`` sends at most."""
WGET_TRIES = 20
"""How often GNU Wget tries again after a time-out unless ``-t`` says otherwise."""

_NC_USAGE = (
    "usage: nc [-46CDdFhklNnrStUuvZz] [-I length] [-i interval] [-M ttl]\n"
    "\t  [-m minttl] [-O length] [-P proxy_username] [-p source_port]\n"
    "\t  [-q seconds] [-s sourceaddr] [-T keyword] [-V rtable] [-W recvlimit]\n"
    "\t  [-w timeout] [-X proxy_protocol] [-x proxy_address[:port]]\n"
    "\t  [destination] [port]\n"
)
_PING_USAGE = (
    "\nUsage\n  ping [options] <destination>\n\nOptions:\n"
    "  <destination>      DNS name or IP address\n  -c <count>         stop after <count> replies\n"
    "  -i <interval>      seconds between sending each packet\n  -q                 quiet output\n"
    "  -s <size>          use <size> as number of data bytes to be sent\n"
    "  -w <deadline>      reply wait <deadline> in seconds\n  -W <timeout>       time to wait for response\n\n"
    "For more details see ping(8).\n"
)
_WGET_USAGE = "Usage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.\n"
_WGET_LONG = {
    "output-document": "O:", "quiet": "q", "timeout": "T:", "connect-timeout": "T:", "read-timeout": "T:", "dns-timeout": "T:",
    "tries": "t:", "spider": "1", "server-response": "S", "header": "2:", "post-data": "3:", "body-data": "3:",
    "method": "4:", "no-check-certificate": "5", "ca-certificate": "6:", "user-agent": "U:", "no-verbose": "7",
    "output-file": "o:", "continue": "c", "help": "h", "version": "V", "verbose": "v", "directory-prefix": "P:",
    "retry-connrefused": "8", "content-on-error": "9", "no-proxy": "N", "max-redirect": "M:", "waitretry": "w:",
}  # fmt: skip
_SERVICES = {22: "ssh", 53: "domain", 80: "http", 443: "https", 3306: "mysql", 5432: "postgresql", 6379: "redis", 8080: "http-alt", 11211: "memcache", 27017: "mongodb"}  # fmt: skip
_REQUEST = re.compile(r"(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH) (\S{1,2000}) HTTP/1\.[01]\r?\n", re.ASCII)


class Wire(Protocol):
    """Whatever carries requests."""

    def now(self) -> int:
        """The present, microseconds."""
        ...

    def request(self, call: HttpCall) -> HttpExchange:
        """One request."""
        ...


class NetworkCommands:
    """The programs, over one wire. How long each takes is in the ``seconds`` of its result."""

    __slots__ = ("_wire",)

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def table(self) -> Mapping[str, Callable[[Sequence[str], str, Shell], ExecResult]]:
        """The commands by name."""
        return {
            "dig": self.dig,
            "host": self.host,
            "nc": self.netcat,
            "netcat": self.netcat,
            "nslookup": self.nslookup,
            "ping": self.ping,
            "telnet": self.telnet,
            "wget": self.wget,
        }

    # --- names ------------------------------------------------------------------------------------

    def _look(self, name: str, server: str) -> Lookup:
        if "/" in name or "/" in server:
            return Lookup("NXDOMAIN", (), name, server)
        found = self._wire.request(HttpCall(f"dns://{server}/{name}")).lookup
        return found or Lookup("TIMEOUT", (), name, server)

    def dig(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``dig``."""
        return names.dig(self._look, argv, self._wire.now() / 1e6)

    def host(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``host``."""
        return names.host(self._look, argv)

    def nslookup(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``nslookup``."""
        return names.nslookup(self._look, argv, busybox=False)

    # --- connections ------------------------------------------------------------------------------

    def _dial(self, host: str, port: int, wait: float = 0.0, sent: str = "") -> HttpExchange:
        shown = f"[{host}]" if ":" in host else host
        return self._wire.request(HttpCall(f"tcp://{shown}:{port}", body=sent, timeout=wait))

    def netcat(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``nc``: whether a port answers, and what an HTTP server says to a request that is typed."""
        try:
            given, operands = options(list(argv[1:]), "46CDdFhI:i:klM:m:NnO:P:p:q:rSs:T:tUuV:vW:w:X:x:Zz", {})
        except UsageError as error:
            return ExecResult(stderr=f"nc: {error}\n{_NC_USAGE}", exit_code=1)
        flags = dict(given)
        if "h" in flags:
            return ExecResult(stderr=_NC_USAGE)
        if "l" in flags:
            port = flags.get("p") or (operands[-1] if operands else "")
            if not port.isdecimal():
                return ExecResult(stderr=_NC_USAGE, exit_code=1)
            # Nobody comes.
            return ExecResult(seconds=inf)
        if len(operands) != 2:
            return ExecResult(stderr=_NC_USAGE, exit_code=1)
        first, _, last = operands[1].partition("-")
        if not 0 < whole(first, 0) < 65536 or (last and not 0 < whole(last, 0) < 65536):
            return ExecResult(stderr=f"nc: port number invalid: {operands[1]}\n", exit_code=1)
        wait = _number(flags.get("w", "0"))
        if wait is None:
            return ExecResult(stderr=f"nc: timeout cannot be negative: {flags['w']}\n", exit_code=1)
        # A range as wide as somebody waits for.
        ports = range(int(first), min(int(last or first), int(first) + 49, 65535) + 1)
        said, out, seconds, code = "", "", 0.0, 1
        sent = "" if "z" in flags else stdin
        for number in ports:
            done = self._dial(operands[0], number, wait, "" if _REQUEST.match(sent) else sent)
            seconds += done.seconds
            if done.outcome == "ok":
                code = 0
                out += self._typed(operands[0], number, sent) if _REQUEST.match(sent) else done.body
            said += _connected(operands[0], number, done, flags)
            if done.phase == "lookup" and done.outcome != "ok":
                break
        return ExecResult(out, said, code, seconds=seconds)

    def _typed(self, host: str, port: int, sent: str) -> str:
        asked = _REQUEST.match(sent)
        if asked is None:
            return ""
        head, _, body = sent[asked.end() :].replace("\r\n", "\n").partition("\n\n")
        fields = (line.partition(":") for line in head.split("\n") if ":" in line)
        headers = {name.strip(): value.strip() for name, _, value in fields}
        call = HttpCall(f"http://{host}:{port}{asked[2]}", asked[1], headers, body.rstrip("\n"))
        done = self._wire.request(call)
        if not done.status:
            return ""
        lines = [f"HTTP/1.1 {done.status} {HTTP_REASONS.get(done.status, '')}".rstrip()]
        lines += [f"{name}: {value}" for name, value in done.headers.items()]
        lines.append(f"Content-Length: {len(done.body.encode())}")
        return "".join(f"{line}\r\n" for line in lines) + "\r\n" + ("" if asked[1] == "HEAD" else done.body)

    def telnet(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``telnet``: whether a port answers."""
        usage = "Usage: telnet [-4] [-6] [-8] [-E] [-L] [-a] [-d] [-e char] [-l user]\n\t[-n tracefile] [-b hostalias] [-r] [host-name [port]]\n"
        try:
            given, operands = options(list(argv[1:]), "468ELade:l:n:b:rK", {})
        except UsageError as error:
            return ExecResult(stderr=f"telnet: {error}\n{usage}", exit_code=1)
        del given
        port = operands[1] if len(operands) > 1 else "23"
        if not operands or not port.isdecimal():
            return ExecResult(stderr=usage, exit_code=1)
        done = self._dial(operands[0], whole(port, 0))
        if done.phase == "lookup" and done.outcome != "ok":
            text = f"telnet: could not resolve {operands[0]}/{port}: Name or service not known\n"
            return ExecResult(stderr=text, exit_code=1, seconds=done.seconds)
        trying = f"Trying {done.address}...\n"
        if done.outcome == "ok":
            text = f"{trying}Connected to {operands[0]}.\nEscape character is '^]'.\n"
            return ExecResult(text, "Connection closed by foreign host.\n", 1, seconds=done.seconds)
        reason = "Connection refused" if done.outcome == "refused" else "Connection timed out"
        text = f"telnet: Unable to connect to remote host: {reason}\n"
        return ExecResult(trying, text, 1, seconds=done.seconds)

    def ping(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """``ping``. Without a count somebody stops it after a few packets."""
        try:
            given, operands = options(list(argv[1:]), "46AaBbc:DdF:fhI:i:Ll:M:m:nOp:Q:qRrS:s:T:t:UVvW:w:", {})
        except UsageError as error:
            return ExecResult(stderr=f"ping: {error}\n{_PING_USAGE}", exit_code=2)
        flags = dict(given)
        if "h" in flags:
            return ExecResult(stderr=_PING_USAGE, exit_code=2)
        if "V" in flags:
            return ExecResult("ping from iputils 20221126\n")
        if not operands:
            return ExecResult(stderr="ping: usage error: Destination address required\n", exit_code=1)
        for letter in "ciwW":
            if letter in flags and _number(flags[letter]) is None:
                return ExecResult(stderr=f"ping: invalid argument: '{flags[letter]}'\n", exit_code=1)
        host = operands[-1]
        found = self._look("127.0.0.1" if host == "localhost" else host, "")
        if not found.addresses:
            reason = (
                "Temporary failure in name resolution"
                if found.rcode != "NXDOMAIN"
                else "Name or service not known"
            )
            return ExecResult(stderr=f"ping: {host}: {reason}\n", exit_code=2, seconds=found.seconds)
        interval = _number(flags.get("i", "1")) or 1.0
        count = min(int(_number(flags["c"]) or 1), MOST_PACKETS) if "c" in flags else TYPED
        if "w" in flags:
            count = max(
                1, min(count if "c" in flags else MOST_PACKETS, int((_number(flags["w"]) or 1.0) / interval))
            )
        # Any port will do: a refusal is an answer, too.
        done = self._dial(found.addresses[0], 7)
        return _pinged(host, found.addresses[0], done, count, interval, flags)

    # --- HTTP -------------------------------------------------------------------------------------

    def wget(self, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        """GNU Wget."""
        try:
            given, urls = options(list(argv[1:]), "O:qT:t:SU:o:chVvP:nN", _WGET_LONG)
        except UsageError as error:
            return ExecResult(stderr=f"wget: {error}\n{_WGET_USAGE}", exit_code=2)
        flags = dict(given)
        if "V" in flags:
            return ExecResult("GNU Wget 1.21.3 built on linux-gnu.\n")
        if "h" in flags:
            return ExecResult(
                "GNU Wget 1.21.3, a non-interactive network retriever.\n"
                + _WGET_USAGE.partition("\n\n")[0]
                + "\n"
            )
        if not urls:
            return ExecResult(stderr=f"wget: missing URL\n{_WGET_USAGE}", exit_code=1)
        wait, tries = _number(flags.get("T", "0")), _number(flags.get("t", str(WGET_TRIES)))
        if wait is None or tries is None:
            bad = "T" if wait is None else "t"
            text = f"wget: -{bad}: Invalid {'time period' if bad == 'T' else 'number'} '{flags[bad]}'\n"
            return ExecResult(stderr=text, exit_code=2)
        headers = {"User-Agent": flags.get("U", "Wget/1.21.3"), "Accept": "*/*"}
        for letter, value in given:
            if letter == "2":
                name, _, text = value.partition(":")
                headers[name.strip()] = text.strip()
        body = flags.get("3", "")
        method = flags.get("4", "").upper() or ("HEAD" if "1" in flags else "POST" if body else "GET")
        results = [
            self._retrieve(
                url,
                HttpCall(url, method, headers, body, wait, insecure="5" in flags),
                int(tries) or WGET_TRIES,
                flags,
                shell,
            )
            for url in urls[:10]
        ]
        return ExecResult(
            "".join(result.stdout for result in results),
            "".join(result.stderr for result in results),
            max(result.exit_code for result in results),
            seconds=sum(result.seconds for result in results),
        )

    def _retrieve(
        self, url: str, call: HttpCall, tries: int, flags: Mapping[str, str], shell: Shell
    ) -> ExecResult:
        full = url if "://" in url else f"http://{url}"
        try:
            parts = urlsplit(full)
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            return ExecResult(stderr=f"{full}: Bad port number.\n", exit_code=1)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            reason = f"Unsupported scheme '{parts.scheme}'" if parts.hostname else "Invalid host name"
            return ExecResult(stderr=f"{full}: {reason}.\n", exit_code=1)
        done = self._wire.request(
            HttpCall(full, call.method, call.headers, call.body, call.timeout, call.insecure)
        )
        stamp = datetime.fromtimestamp(self._wire.now() // 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S")
        said, code, seconds = _told(parts.hostname, port, done, stamp, tries)
        said = f"--{stamp}--  {full if parts.path else full + '/'}\n{said}"
        if code:
            return ExecResult(stderr="" if "q" in flags else said, exit_code=code, seconds=seconds)
        kind = done.headers.get("Content-Type", "text/plain").partition(";")[0]
        length = len(done.body.encode())
        if "S" in flags:
            said += f"  HTTP/1.1 {done.status} {HTTP_REASONS.get(done.status, '')}\n"
            said += "".join(f"  {name}: {value}\n" for name, value in done.headers.items())
        said += f"Length: {length} [{kind}]\n"
        if "1" in flags:
            said += "Remote file exists.\n\n"
            return ExecResult(stderr="" if "q" in flags else said, seconds=seconds)
        target = flags.get("O") or parts.path.rpartition("/")[2] or "index.html"
        if target == "-":
            said += f"Saving to: \u2018STDOUT\u2019\n\n{stamp} (12.1 MB/s) - written to stdout [{length}/{length}]\n\n"
            return ExecResult(done.body, "" if "q" in flags else said, seconds=seconds)
        if "P" in flags and "O" not in flags:
            target = f"{flags['P'].rstrip('/')}/{target}"
        shell.files.put_text(shell.resolve(target), done.body)
        said += f"Saving to: \u2018{target}\u2019\n\n{stamp} (12.1 MB/s) - \u2018{target}\u2019 saved [{length}/{length}]\n\n"
        return ExecResult(stderr="" if "q" in flags else said, seconds=seconds)


def _told(host: str, port: int, done: HttpExchange, stamp: str, tries: int) -> tuple[str, int, float]:
    """What Wget says of a request until its answer's head has come: (text, exit code, seconds)."""
    said = "" if done.address == host else f"Resolving {host} ({host})... "
    if done.phase == "lookup" and done.outcome != "ok":
        reason = (
            "Temporary failure in name resolution"
            if done.outcome == "dns_timeout"
            else "Name or service not known"
        )
        return (
            f"{said}failed: {reason}.\nwget: unable to resolve host address \u2018{host}\u2019\n",
            4,
            done.seconds,
        )
    where = f"{host}:{port}" if done.address == host else f"{host} ({host})|{done.address}|:{port}"
    said += "" if done.address == host else f"{done.address}\n"
    said += f"Connecting to {where}... "
    if done.outcome == "refused":
        return f"{said}failed: Connection refused.\n", 4, done.seconds
    if done.outcome == "timeout":
        lost = "failed: Connection timed out.\n" if done.phase == "connect" else (
            "connected.\nHTTP request sent, awaiting response... Read error (Connection timed out) in headers.\n"
        )  # fmt: skip
        again = "Retrying.\n\n" if tries > 1 else "Giving up.\n\n"
        return said + lost + again, 4, done.seconds * tries + _pauses(tries)
    said += "connected.\n"
    if done.outcome == "tls":
        return f"{said}{_distrust(host, done.problem)}", 5, done.seconds
    said += "HTTP request sent, awaiting response... "
    if not done.status:
        return f"{said}No data received.\nGiving up.\n\n", 4, done.seconds
    reason = HTTP_REASONS.get(done.status, "")
    said += f"{done.status} {reason}\n"
    if done.status >= 400:
        return f"{said}{stamp} ERROR {done.status}: {reason}.\n\n", 8, done.seconds
    return said, 0, done.seconds


def _pauses(tries: int) -> float:
    """Seconds that Wget waits between so many tries: one more each time, ten at most."""
    again = tries - 1
    least = min(again, 10)
    return least * (least + 1) / 2 + 10.0 * (again - least)


def _distrust(host: str, problem: str) -> str:
    """What GnuTLS says of a certificate that curl complains of like this."""
    of = f"ERROR: The certificate of \u2018{host}\u2019"
    if "expired" in problem:
        return f"{of} is not trusted.\n{of} has expired.\n"
    if "not yet valid" in problem:
        return f"{of} is not trusted.\n{of} is not yet activated.\n"
    if "no alternative certificate" in problem or "subject name" in problem:
        return f"{of} is not trusted.\nThe certificate's owner does not match hostname \u2018{host}\u2019\n"
    return f"{of} is not trusted.\n{of} doesn't have a known issuer.\n"


def _connected(host: str, port: int, done: HttpExchange, flags: Mapping[str, str]) -> str:
    """What ``nc`` says of one port."""
    if done.phase == "lookup" and done.outcome != "ok":
        reason = (
            "Temporary failure in name resolution"
            if done.outcome == "dns_timeout"
            else "Name or service not known"
        )
        return f'nc: getaddrinfo for host "{host}" port {port}: {reason}\n'
    if "v" not in flags:
        return ""
    where = host if done.address == host else f"{host} ({done.address})"
    if done.outcome == "ok":
        service = "*" if "n" in flags else _SERVICES.get(port, "*")
        return f"Connection to {where} {port} port [tcp/{service}] succeeded!\n"
    if done.outcome == "timeout":
        late = "timed out: Operation now in progress" if "w" in flags else "failed: Connection timed out"
        return f"nc: connect to {where} port {port} (tcp) {late}\n"
    reason = "Connection refused" if done.outcome == "refused" else "Connection reset by peer"
    return f"nc: connect to {where} port {port} (tcp) failed: {reason}\n"


def _pinged(
    host: str, address: str, done: HttpExchange, count: int, interval: float, flags: Mapping[str, str]
) -> ExecResult:
    lost = done.outcome == "timeout"
    rtt = f"{done.seconds * 1000:.3f}"
    out = f"PING {host} ({address}) 56(84) bytes of data.\n"
    if not lost and "q" not in flags:
        out += "".join(
            f"64 bytes from {address}: icmp_seq={turn} ttl=62 time={rtt} ms\n" for turn in range(1, count + 1)
        )
    out += "" if "c" in flags or "w" in flags else "^C"
    took = round((count - 1) * interval * 1000) + 3 * count
    out += (
        f"\n--- {host} ping statistics ---\n{count} packets transmitted, {0 if lost else count} received, "
        f"{100 if lost else 0}% packet loss, time {took}ms\n"
    )
    out += "\n" if lost else f"rtt min/avg/max/mdev = {rtt}/{rtt}/{rtt}/0.000 ms\n"
    last = (_number(flags.get("W", "10")) or 10.0) if lost else 0.0
    return ExecResult(out, exit_code=int(lost), seconds=(count - 1) * interval + last)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < inf else None
