"""``kube-proxy``: keeps the rules of a machine, says at its health port when it wrote them last, and shows them.

``iptables-save`` and ``iptables -t TABLE -S`` print those of ClusterIPs in the form in which kube-proxy writes them.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

import orjson

from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import SECOND
from sregym_env.shell.shell import Shell
from sregym_env.sim.network import addressing, service_rules
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.servers import Daemon
from sregym_env.sim.world.program import HttpRequest, HttpResponse

HEALTH, METRICS = 10256, 10249
"""Its ports."""


class KubeProxy(Daemon):
    """The process of its DaemonSet on one machine."""

    name = service_rules.PROGRAM

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """``/healthz`` fails once changes have waited too long to be written; ``/metrics`` tells of both times."""
        ctx.unnoted()
        path = request.path.partition("?")[0]
        last, asked = service_rules.written(ctx.world, ctx.process), _asked(ctx)
        if port == HEALTH and path in ("/healthz", "/livez"):
            late = asked > last and ctx.now() - asked > 2 * service_rules.SYNC_PERIOD
            body = {"lastUpdated": rfc3339(last), "currentTime": rfc3339(ctx.now()), "nodeEligible": True}
            headers = {"Content-Type": "application/json", "X-Content-Type-Options": "nosniff"}
            return HttpResponse(503 if late else 200, orjson.dumps(body).decode(), headers)
        if port == METRICS and path == "/metrics":
            return HttpResponse(200, "".join(_metrics(last, asked)), {"Content-Type": "text/plain"})
        if port == METRICS and path == "/proxyMode":
            return HttpResponse(200, "iptables")
        return HttpResponse(404, "404 page not found\n") if port in (HEALTH, METRICS) else None


def _asked(ctx: ProcessContext) -> int:
    """When something that its rules do not say yet was first to be written; else when they were."""
    world, process = ctx.world, ctx.process
    found = service_rules.left(world, process.node)
    if found is None:
        return service_rules.written(world, process)
    # What is asked for is written at the next turn of the clock at the latest.
    return found.since + service_rules.SYNC_PERIOD


def _metrics(last: int, asked: int) -> Iterator[str]:
    for name, value, what in (
        ("last_timestamp_seconds", last, "The last time proxy rules were successfully synced"),
        ("last_queued_timestamp_seconds", asked, "The last time a sync of proxy rules was queued"),
    ):
        full = f"kubeproxy_sync_proxy_rules_{name}"
        yield f"# HELP {full} [ALPHA] {what}\n# TYPE {full} gauge\n"
        yield f'{full}{{ip_family="IPv4"}} {value / SECOND:.9e}\n'


# --- what it has written -----------------------------------------------------------------------------------


def iptables_save(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``iptables-save [-t TABLE]``."""
    table = _table(argv, "")
    return ExecResult("".join(_saved(ctx, each) for each in ((table,) if table else ("filter", "nat"))))


def _saved(ctx: ProcessContext, table: str) -> str:
    if table != "nat":
        denied = _denied(ctx) if table == "filter" else []
        heads = [f":{name} ACCEPT [0:0]" for name in ("INPUT", "FORWARD", "OUTPUT")]
        heads += [":KUBE-SERVICES - [0:0]"] if denied else []
        return "\n".join([f"*{table}", *heads, *denied, "COMMIT"]) + "\n"
    rules = list(_rules(ctx))
    chains = dict.fromkeys(["KUBE-MARK-MASQ", *(rule.split()[1] for rule in rules)])
    heads = [f":{name} ACCEPT [0:0]" for name in ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING")]
    heads += [f":{name} - [0:0]" for name in chains]
    return "\n".join(["*nat", *heads, *_entrances(), *rules, "COMMIT"]) + "\n"


def iptables(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``iptables -t nat -S [CHAIN]`` and ``-L [CHAIN]``, which prints the same here."""
    if not any(word.startswith(("-S", "-L", "--list")) for word in argv[1:]):
        return ExecResult(stderr="iptables: only -S and -L are to be had here\n", exit_code=2)
    wanted = next((word for word in argv[1:] if word.isupper() and not word.startswith("-")), "")
    nat = _table(argv, "filter") == "nat"
    rules = [*_entrances(), *_rules(ctx)] if nat else _denied(ctx)
    known = [rule for rule in rules if not wanted or rule.split()[1] == wanted]
    if wanted and not known:
        return ExecResult(stderr="iptables: No chain/target/match by that name.\n", exit_code=1)
    policies = [] if nat or wanted else [f"-P {name} ACCEPT" for name in ("INPUT", "FORWARD", "OUTPUT")]
    chains = dict.fromkeys(rule.split()[1] for rule in known)
    return ExecResult("\n".join([*policies, *(f"-N {name}" for name in chains), *known]) + "\n")


def _table(argv: Sequence[str], usual: str) -> str:
    words = list(argv)
    for flag in ("-t", "--table"):
        if flag in words[:-1]:
            return words[words.index(flag) + 1]
    return usual


def _entrances() -> tuple[str, ...]:
    portals = '-m comment --comment "kubernetes service portals" -j KUBE-SERVICES'
    return f"-A PREROUTING {portals}", f"-A OUTPUT {portals}"


class _Portal(NamedTuple):
    """One port of a ClusterIP, as a node's kube-proxy knows it."""

    name: str
    address: str
    port: int
    protocol: str
    local: bool
    """Whether it leads to pods of this node alone."""
    every: int
    """How many endpoints there are anywhere."""
    ends: tuple[str, ...]
    """Where it leads from here."""

    def entrance(self, comment: str, target: str) -> str:
        """The rule of KUBE-SERVICES that takes what is sent there to a target."""
        return (
            f'-A KUBE-SERVICES -d {self.address}/32 -p {self.protocol} -m comment --comment "{self.name} {comment}" '
            f"-m {self.protocol} --dport {self.port} -j {target}"
        )


def _portals(ctx: ProcessContext) -> Iterator[_Portal]:
    """Those of ClusterIPs, Services in the order of their names."""
    world, node = ctx.world, ctx.process.node
    ctx.unnoted()
    stale = service_rules.left(world, node)
    for service in world.store.list("services"):
        metadata, spec = service["metadata"], service["spec"]
        key, address = (metadata["namespace"], metadata["name"]), spec.get("clusterIP", "None")
        if address in ("", "None") or (stale is not None and key not in stale.services):
            continue
        local = spec.get("internalTrafficPolicy") == "Local"
        for port in spec.get("ports") or ():
            found = addressing.usable(addressing.endpoints(world, *key, port, node=node))
            ends = tuple(f"{each.ip}:{each.port}" for each in found if not local or each.node == node)
            name = "/".join(key) + (f":{port['name']}" if port.get("name") else "")
            protocol = str(port.get("protocol", "TCP")).lower()
            yield _Portal(name, address, port["port"], protocol, local, len(found), ends)


def _rules(ctx: ProcessContext) -> Iterator[str]:
    """Those of the table ``nat``."""
    chains: list[str] = []
    for portal in _portals(ctx):
        if portal.ends:
            chain = f"KUBE-{'SVL' if portal.local else 'SVC'}-{_hashed(portal.name + portal.protocol)}"
            yield portal.entrance("cluster IP", chain)
            chains += _chain(chain, portal.name, portal.protocol, portal.ends)
    # Rules are printed chain by chain.
    order = {chain: at for at, chain in enumerate(dict.fromkeys(rule.split()[1] for rule in chains))}
    yield from sorted(chains, key=lambda rule: order[rule.split()[1]])


def _denied(ctx: ProcessContext) -> list[str]:
    """Those of the table ``filter``: what has endpoints elsewhere alone is dropped, what has none is rejected."""
    dropped = [
        each.entrance("has no local endpoints", "DROP")
        for each in _portals(ctx)
        if each.every and not each.ends
    ]
    reject = "REJECT --reject-with icmp-port-unreachable"
    return dropped + [each.entrance("has no endpoints", reject) for each in _portals(ctx) if not each.every]


def _chain(chain: str, name: str, protocol: str, ends: Sequence[str]) -> Iterator[str]:
    for number, end in enumerate(ends):
        there = f"KUBE-SEP-{_hashed(name + protocol + end)}"
        left = len(ends) - number
        chosen = f" -m statistic --mode random --probability {1 / left:.11f}" if left > 1 else ""
        yield f'-A {chain} -m comment --comment "{name} -> {end}"{chosen} -j {there}'
        yield f'-A {there} -s {end.rpartition(":")[0]}/32 -m comment --comment "{name}" -j KUBE-MARK-MASQ'
        yield f'-A {there} -p {protocol} -m comment --comment "{name}" -m {protocol} -j DNAT --to-destination {end}'


def _hashed(text: str) -> str:
    """As kube-proxy names chains: the beginning of a digest in base 32."""
    return base64.b32encode(sha256(text.encode()).digest()).decode()[:16]


TOOLS = {"iptables": iptables, "iptables-save": iptables_save}
"""Commands by name, in its image and on machines."""
