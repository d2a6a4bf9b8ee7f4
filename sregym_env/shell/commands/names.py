"""``dig``, ``host`` and ``nslookup`` as BIND 9.18 has them, over whatever can look a name up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from sregym_env.cluster.http import Lookup
from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.streams import keyed_bits

Look = Callable[[str, str], Lookup]
"""(name, server) -> what is answered: of that server exactly, or through the search path where there is none."""

_VERSION = "9.18.28-1~deb12u2-Debian"
ALPINE = "9.18.27"
"""The version that Alpine's package names."""
_LEAKED = (
    ";; WARNING: .local is reserved for Multicast DNS\n"
    ";; You are currently testing what happens when an mDNS query is leaked to DNS\n"
)
_ZONE = "cluster.local."
_SOA = "ns.dns.cluster.local. hostmaster.cluster.local. {} 7200 1800 86400 30"
"""What CoreDNS says of the zone of a cluster; its serial number is the time."""
_TYPES = frozenset("A AAAA ANY CNAME MX NS PTR SOA SRV TXT".split())
_DIG_VALUED = frozenset("-b -c -f -k -p -q -t -y".split())
_DIG_BARE = frozenset("-4 -6 -i -m -r -u".split())
_PLUS = frozenset(
    "aaflag aaonly additional adflag all answer authority badcookie besteffort bufsize cdflag class cmd comments cookie "
    "crypto defname dns64prefix dnssec do domain edns ednsflags ednsnegotiation ednsopt expire fail fuzztime "
    "header-only https identify idnin idnout ignore keepalive keepopen mapped multiline ndots nsid nssearch onesoa opcode "
    "padding qid qr question raflag rdflag recurse retry rrcomments search short showbadcookie showbadvers "
    "showsearch split stats subnet sigchase tcflag tcp time timeout tls topdown trace tries trusted-key ttlid ttlunits "
    "unexpected unknownformat vc yaml zflag".split()
)
_DIG_USAGE = (
    "Usage:  dig [@global-server] [domain] [q-type] [q-class] {q-opt}\n"
    "            {global-d-opt} host [@local-server] {local-d-opt}\n"
    "            [ host [@local-server] {local-d-opt} [...]]\n\n"
    'Use "dig -h" (or "dig -h | more") for complete list of options\n'
)
_HOST_USAGE = (
    "Usage: host [-aCdilrTvVw] [-c class] [-N ndots] [-t type] [-W time]\n"
    "            [-R number] [-m flag] [-p port] hostname [server]\n"
)
MOST_NAMES = 10
"""Names that one command line looks up; each takes the cluster's time."""


class _Misused(Exception):
    """A command line that is refused."""


def dig(look: Look, argv: Sequence[str], now: float, version: str = _VERSION) -> ExecResult:
    """``dig``. ``now`` in Unix seconds."""
    if "-v" in argv[1:]:
        return ExecResult(stderr=f"DiG {version}\n")
    if "-h" in argv[1:]:
        return ExecResult(_DIG_USAGE)
    try:
        server, flags, asked = _dig_words(argv)
    except _Misused as error:
        return ExecResult(stderr=f"{error}\n{_DIG_USAGE}", exit_code=1)
    results = [
        _dug(look, name, kind, server, flags, argv, now, version)
        for name, kind in (asked or [(".", "NS")])[:MOST_NAMES]
    ]
    return _all(results)


def _dig_words(argv: Sequence[str]) -> tuple[str, frozenset[str], list[tuple[str, str]]]:
    """(server, flags, (name, type) pairs) of a command line. Raises _Misused."""
    server, flags, names, kind = "", set[str](), list[tuple[str, str]](), "A"
    words = list(argv[1:])
    while words:
        word = words.pop(0)
        if word.startswith("@"):
            server = word[1:]
        elif word.startswith("+"):
            name = word[1:].partition("=")[0]
            # BIND takes any beginning of a name that is long enough.
            if not any(known.startswith(name.removeprefix("no")) for known in _PLUS) or not name:
                raise _Misused(f"Invalid option: {word}")
            flags.add(name)
        elif word == "-x" and words:
            names.append((".".join(reversed(words.pop(0).split("."))) + ".in-addr.arpa", "PTR"))
        elif word[:2] in _DIG_VALUED:
            value = word[2:] or (words.pop(0) if words else "")
            if not value:
                raise _Misused(f"Invalid option: {word}")
            if word[:2] == "-t":
                kind = value.upper()
            elif word[:2] == "-q":
                names.append((value, ""))
        elif word.startswith("-") and word not in _DIG_BARE:
            raise _Misused(f"Invalid option: {word}")
        elif word.upper() in _TYPES:
            kind = word.upper()
        elif word.upper() not in ("IN", "CH") and not word.startswith("-"):
            names.append((word, ""))
    return server, frozenset(flags), [(name, own or kind) for name, own in names]


def _dug(
    look: Look,
    name: str,
    kind: str,
    server: str,
    flags: frozenset[str],
    argv: Sequence[str],
    now: float,
    version: str,
) -> ExecResult:
    shown = server
    if server and not _is_address(server):
        of_server = look(server, "")
        if not of_server.addresses:
            text = f"dig: couldn't get address for '{server}': not found\n"
            return ExecResult(stderr=text, exit_code=10, seconds=of_server.seconds)
        shown = of_server.addresses[0]
    if "search" in flags or "defname" in flags:
        found = look(name, "")
    else:
        found = look(name, shown or look("localhost", "").server)
    shown = shown or found.server
    line = " ".join(argv[1:])
    head = f"\n; <<>> DiG {version} <<>> {line}\n"
    if found.rcode == "TIMEOUT":
        lost = f";; communications error to {shown}#53: timed out\n"
        ended = "" if "short" in flags else f"{head};; global options: +cmd\n"
        # It asks three times, as its +tries says.
        return ExecResult(f"{lost * 3}{ended};; no servers could be reached\n", exit_code=9, seconds=15.0)
    addresses = found.addresses if kind in ("A", "ANY") else ()
    if "short" in flags:
        return ExecResult("".join(f"{address}\n" for address in addresses), seconds=found.seconds)
    canonical = found.canonical.rstrip(".")
    answer = "".join(f"{canonical}.\t30\tIN\tA\t{address}\n" for address in addresses)
    section = f";; ANSWER SECTION:\n{answer}\n" if answer else ""
    if "noall" in flags and "answer" in flags:
        return ExecResult(answer, seconds=found.seconds)
    identity = keyed_bits(int(now), name, shown) % 65536
    when = datetime.fromtimestamp(int(now), UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
    wrong = found.rcode in ("SERVFAIL", "REFUSED")
    forwarded = found.by == "forward" and not wrong
    denied = found.by == "zone" and not addresses and not wrong
    asked = f"{name.rstrip('.')}."
    leaked = _LEAKED if asked.endswith(".local.") else ""
    authority = (
        f";; AUTHORITY SECTION:\n{_ZONE}\t\t30\tIN\tSOA\t{_SOA.format(int(now))}\n\n" if denied else ""
    )
    cookie = "" if forwarded else f"; COOKIE: {keyed_bits('cookie', int(now), name):016x} (echoed)\n"
    # CoreDNS spells the names of its own answers in full.
    each = 16 if forwarded else len(asked) + 15
    size = 12 + len(asked) + 5 + len(addresses) * each + 93 * denied + (11 if forwarded else 23)
    return ExecResult(
        f"{head};; global options: +cmd\n;; Got answer:\n{leaked}"
        f";; ->>HEADER<<- opcode: QUERY, status: {found.rcode}, id: {identity}\n"
        f";; flags: qr {'' if wrong or forwarded else 'aa '}rd{' ra' if forwarded else ''}; "
        f"QUERY: 1, ANSWER: {len(addresses)}, AUTHORITY: {int(denied)}, ADDITIONAL: 1\n"
        f"{'' if forwarded else ';; WARNING: recursion requested but not available'}\n"
        f"{'' if forwarded else chr(10)}"
        f";; OPT PSEUDOSECTION:\n; EDNS: version: 0, flags:; udp: 1232\n{cookie}"
        f";; QUESTION SECTION:\n;{asked}\t\tIN\t{kind}\n\n{section}{authority}"
        f";; Query time: {max(round(found.seconds * 1000), 0)} msec\n;; SERVER: {shown}#53({shown}) (UDP)\n;; WHEN: {when}\n"
        f";; MSG SIZE  rcvd: {size}\n\n",
        seconds=found.seconds,
    )


def nslookup(look: Look, argv: Sequence[str], *, busybox: bool) -> ExecResult:
    """``nslookup NAME [SERVER]``; busybox's writes the server's port otherwise and has fewer options."""
    words = []
    for word in argv[1:]:
        if not word.startswith("-") or len(word) == 1:
            words.append(word)
        elif not word.startswith(
            ("-type=", "-query=", "-q=", "-timeout=", "-retry=", "-port=", "-class=", "-debug")
        ):
            if busybox:
                return ExecResult(
                    stderr=f"nslookup: unrecognized option: {word.lstrip('-')}\n{_NSLOOKUP}", exit_code=1
                )
            return ExecResult(f"*** Invalid option: {word.lstrip('-')}\n", exit_code=1)
    if not words:
        if busybox:
            return ExecResult(stderr=_NSLOOKUP, exit_code=1)
        return ExecResult("> \n")  # its own prompt, and nothing to read
    name, server = words[0], words[1] if len(words) > 1 else ""
    asked = server
    if server and not _is_address(server):
        of_server = look(server, "")
        if not of_server.addresses:
            text = f"nslookup: couldn't get address for '{server}': not found\n"
            return ExecResult(stderr=text, exit_code=1, seconds=of_server.seconds)
        asked = of_server.addresses[0]
    found = look(name, asked)
    shown = asked or found.server
    head = f"Server:\t\t{server or shown}\nAddress:\t{shown}{':' if busybox else '#'}53\n\n"
    if found.rcode == "TIMEOUT":
        if busybox:
            return ExecResult(
                ";; connection timed out; no servers could be reached\n\n", exit_code=1, seconds=10.0
            )
        lost = f";; communications error to {shown}#53: timed out\n" * 3
        return ExecResult(f"{lost};; no servers could be reached\n\n", exit_code=1, seconds=15.0)
    if found.rcode != "NOERROR":
        text = f"{head}** server can't find {name}: {found.rcode}\n\n"
        return ExecResult(text, exit_code=1, seconds=found.seconds)
    body = "".join(f"Name:\t{found.canonical}\nAddress: {address}\n" for address in found.addresses)
    if body and found.by == "forward":
        body = f"Non-authoritative answer:\n{body}"
    body = body or f"*** Can't find {name}: No answer\n"
    return ExecResult(f"{head}{body}\n", seconds=found.seconds)


def host(look: Look, argv: Sequence[str]) -> ExecResult:
    """``host NAME [SERVER]``."""
    words: list[str] = []
    rest = list(argv[1:])
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or len(word) == 1:
            words.append(word)
        elif word[1] in "ctNRmpW":
            if not word[2:] and rest:
                rest.pop(0)
        elif set(word[1:]) - set("aCdilrsTUvVw46"):
            bad = next(letter for letter in word[1:] if letter not in "aCdilrsTUvVw46")
            return ExecResult(stderr=f"host: illegal option -- {bad}\n{_HOST_USAGE}", exit_code=1)
    if not words:
        return ExecResult(stderr=_HOST_USAGE, exit_code=1)
    found = look(words[0], words[1] if len(words) > 1 else "")
    if found.rcode == "TIMEOUT":
        text = ";; connection timed out; no servers could be reached\n"
        return ExecResult(text, exit_code=1, seconds=max(found.seconds, 10.0))
    if found.rcode != "NOERROR":
        return ExecResult(
            f"Host {words[0]} not found: 3({found.rcode})\n", exit_code=1, seconds=found.seconds
        )
    lines = "".join(f"{found.canonical} has address {address}\n" for address in found.addresses)
    return ExecResult(lines, seconds=found.seconds)


_NSLOOKUP = (
    "BusyBox v1.36.1 (2023-05-18 22:34:17 UTC) multi-call binary.\n\n"
    "Usage: nslookup [-type=QUERY_TYPE] [-debug] HOST [DNS_SERVER]\n\n"
    "Query DNS about HOST\n\nQUERY_TYPE: soa,ns,a,aaaa,cname,mx,txt,ptr,srv,any\n"
)


def _is_address(text: str) -> bool:
    return ":" in text or (text.count(".") == 3 and text.replace(".", "").isdigit())


def _all(results: Sequence[ExecResult]) -> ExecResult:
    return ExecResult(
        "".join(result.stdout for result in results),
        "".join(result.stderr for result in results),
        max((result.exit_code for result in results), default=0),
        seconds=sum(result.seconds for result in results),
    )
