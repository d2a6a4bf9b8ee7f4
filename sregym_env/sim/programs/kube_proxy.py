"""``kube-proxy``: keeps the rules of a machine, says at its health port when it wrote them last, and shows them.

``iptables-save`` and ``iptables -t nat -S`` print those of ClusterIPs in the form in which kube-proxy writes them.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from hashlib import sha256

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
    """``iptables-save [-t nat]``."""
    table = _table(argv, "nat")
    if table != "nat":
        return ExecResult(
            f"*{table}\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n"
        )
    rules = list(_rules(ctx))
    chains = dict.fromkeys(["KUBE-MARK-MASQ", *(rule.split()[1] for rule in rules)])
    heads = [f":{name} ACCEPT [0:0]" for name in ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING")]
    heads += [f":{name} - [0:0]" for name in chains]
    return ExecResult("\n".join(["*nat", *heads, *_entrances(), *rules, "COMMIT"]) + "\n")


def iptables(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``iptables -t nat -S [CHAIN]`` and ``-L [CHAIN]``, which prints the same here."""
    if not any(word.startswith(("-S", "-L", "--list")) for word in argv[1:]):
        return ExecResult(stderr="iptables: only -S and -L are to be had here\n", exit_code=2)
    if _table(argv, "filter") != "nat":
        return ExecResult("-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n")
    wanted = next((word for word in argv[1:] if word.isupper() and not word.startswith("-")), "")
    rules = [*_entrances(), *_rules(ctx)]
    known = [rule for rule in rules if not wanted or rule.split()[1] == wanted]
    if wanted and not known:
        return ExecResult(stderr="iptables: No chain/target/match by that name.\n", exit_code=1)
    chains = dict.fromkeys(rule.split()[1] for rule in known)
    return ExecResult("\n".join([*(f"-N {name}" for name in chains), *known]) + "\n")


def _table(argv: Sequence[str], usual: str) -> str:
    words = list(argv)
    for flag in ("-t", "--table"):
        if flag in words[:-1]:
            return words[words.index(flag) + 1]
    return usual


def _entrances() -> tuple[str, ...]:
    portals = '-m comment --comment "kubernetes service portals" -j KUBE-SERVICES'
    return f"-A PREROUTING {portals}", f"-A OUTPUT {portals}"


def _rules(ctx: ProcessContext) -> Iterator[str]:
    """Those of ClusterIPs, Services in the order of their names."""
    world, node = ctx.world, ctx.process.node
    ctx.unnoted()
    stale = service_rules.left(world, node)
    chains: list[str] = []
    for service in world.store.list("services"):
        metadata, spec = service["metadata"], service["spec"]
        key, address = (metadata["namespace"], metadata["name"]), spec.get("clusterIP", "None")
        if address in ("", "None") or (stale is not None and key not in stale.services):
            continue
        for port in spec.get("ports") or ():
            found = addressing.usable(addressing.endpoints(world, *key, port, node=node))
            if not found:
                continue
            name = "/".join(key) + (f":{port['name']}" if port.get("name") else "")
            protocol = str(port.get("protocol", "TCP")).lower()
            chain = f"KUBE-SVC-{_hashed(name + protocol)}"
            yield (
                f'-A KUBE-SERVICES -d {address}/32 -p {protocol} -m comment --comment "{name} cluster IP" -m {protocol} '
                f"--dport {port['port']} -j {chain}"
            )
            chains += _chain(chain, name, protocol, [f"{each.ip}:{each.port}" for each in found])
    yield from chains


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
