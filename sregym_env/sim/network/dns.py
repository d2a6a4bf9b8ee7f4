"""Name resolution as a process in a pod experiences it: hosts file, resolv.conf, search path, CoreDNS.

The cluster's DNS server is found as every client finds it, through the kube-dns Service and its endpoints,
and answers from the Corefile its process has loaded. Error texts are those of Go's pure resolver.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from typing import Literal, NamedTuple

from sregym_env.cluster.resolvers import PUBLIC_RESOLVERS
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import is_whole, whole
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.containers import view
from sregym_env.sim.network import addressing, conntrack, corefile
from sregym_env.sim.network.addressing import OUTSIDE, NodeSource, Source
from sregym_env.sim.network.corefile import Corefile, CorefileError, KubernetesPlugin, ServerBlock, in_zone
from sregym_env.sim.network.links import NO_POD, path
from sregym_env.sim.network.netpolicy import Peer, allowed
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.process import Process
from sregym_env.sim.world.store import Change, Key

CLUSTER_DOMAIN = "cluster.local"

QUERY_TIMEOUT = 5.0
ATTEMPTS = 2
"""resolv.conf defaults: five seconds, two attempts."""

UPSTREAM_TIMEOUT = 2.0
"""Seconds that CoreDNS waits for an upstream; where it knows all of them to be down it asks one, once (plugin forward)."""

Rcode = Literal["NOERROR", "NXDOMAIN", "SERVFAIL", "REFUSED", "TIMEOUT"]
"""What a query came to; ``TIMEOUT`` stands for no answer at all."""

_PUBLIC_SUFFIXES = frozenset(("com", "org", "net", "io", "dev", "edu", "gov", "uk", "de", "fr", "jp", "cn"))


_RCODES: dict[str, Rcode] = {"NXDOMAIN": "NXDOMAIN", "SERVFAIL": "SERVFAIL", "REFUSED": "REFUSED"}


@dataclass(frozen=True, slots=True)
class ResolvConf:
    """A resolv.conf."""

    nameservers: tuple[str, ...]
    searches: tuple[str, ...]
    ndots: int
    options: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The file as the kubelet writes it."""
        lines = []
        if self.searches:
            lines.append("search " + " ".join(self.searches))
        lines.extend("nameserver " + server for server in self.nameservers)
        if self.options:
            lines.append("options " + " ".join(self.options))
        return "\n".join(lines) + "\n"


class Answer(NamedTuple):
    """What one server said about one name."""

    rcode: Rcode
    addresses: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    """CNAMEs that were followed, in order."""
    refused: bool = False
    """For ``TIMEOUT``: the packets were rejected rather than lost."""
    seconds: float = 0.0
    """How long the server waited for others."""
    by: Literal["", "zone", "forward"] = ""
    """Whether the server has it from a zone of its own, or from another server."""


class Query(NamedTuple):
    """One query a resolver sent: the full name, the server, and the answer."""

    name: str
    server: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of resolving a name."""

    host: str
    addresses: tuple[str, ...] = ()
    canonical: str = ""
    """The fully qualified name that was found."""
    error: Literal["", "no_such_host", "dns_timeout"] = ""
    text: str = ""
    """Go's error text: ``lookup consul on 10.96.0.10:53: no such host``."""
    server: str = ""
    latency: float = 0.0
    """Seconds it took."""
    queries: tuple[Query, ...] = ()
    """Everything that was asked, in order; empty where no server was needed."""


# --- what a client's machine or pod is configured with ---------------------------------------------


def resolv_conf(world: SimWorld, source: Source) -> ResolvConf:
    """The resolv.conf of a client, from its pod's dnsPolicy and dnsConfig."""
    pod = addressing.pod_of(world, source) if isinstance(source, Process) else None
    if pod is None:
        if isinstance(source, NodeSource) and source.cluster_dns:
            return ResolvConf((world.plan.dns_address,), (f"svc.{CLUSTER_DOMAIN}", CLUSTER_DOMAIN), 5)
        return ResolvConf((world.plan.upstream,), (), 1)
    spec = pod["spec"]
    policy = spec.get("dnsPolicy", "ClusterFirst")
    if policy == "ClusterFirst" and spec.get("hostNetwork"):
        policy = "Default"
    namespace = pod["metadata"]["namespace"]
    if policy in ("ClusterFirst", "ClusterFirstWithHostNet"):
        searches = (f"{namespace}.svc.{CLUSTER_DOMAIN}", f"svc.{CLUSTER_DOMAIN}", CLUSTER_DOMAIN)
        made = ResolvConf((world.plan.dns_address,), searches, 5, ("ndots:5",))
    elif policy == "None":
        made = ResolvConf((), (), 1)
    else:
        made = ResolvConf((world.plan.upstream,), (), 1)
    config = spec.get("dnsConfig")
    return made if not config else _configured(made, config)


def _configured(base: ResolvConf, config: Manifest) -> ResolvConf:
    ndots = base.ndots
    options = {option.partition(":")[0]: option for option in base.options}
    for option in config.get("options") or ():
        name, value = option["name"], option.get("value")
        options[name] = name if value is None else f"{name}:{value}"
        if name == "ndots" and is_whole(str(value)):
            # Resolvers cap it at 15 (resolv.conf(5)).
            ndots = min(whole(str(value), 15), 15)
    return ResolvConf(
        # More than three are cut off by the kubelet (``MaxDNSNameservers``).
        _unique((*base.nameservers, *(config.get("nameservers") or ())))[:3],
        _unique((*base.searches, *(config.get("searches") or ()))),
        ndots,
        tuple(options.values()),
    )


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def hosts_entries(world: SimWorld, source: Source) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The client's hosts file: (address, names) lines, hostAliases included."""
    entries: list[tuple[str, tuple[str, ...]]] = [
        ("127.0.0.1", ("localhost",)),
        ("::1", ("localhost", "ip6-localhost", "ip6-loopback")),
    ]
    pod = addressing.pod_of(world, source) if isinstance(source, Process) else None
    if pod is None or not isinstance(source, Process):
        return tuple(entries)
    if source.ip:
        subdomain = pod["spec"].get("subdomain")
        own: tuple[str, ...] = (source.hostname,)
        if subdomain:
            namespace = pod["metadata"]["namespace"]
            own = (f"{source.hostname}.{subdomain}.{namespace}.svc.{CLUSTER_DOMAIN}", source.hostname)
        entries.append((source.ip, own))
    for alias in pod["spec"].get("hostAliases") or ():
        entries.append((alias["ip"], tuple(alias.get("hostnames") or ())))
    return tuple(entries)


# --- resolving ----------------------------------------------------------------------------------------


def resolve(world: SimWorld, source: Source, host: str, hosts: bool = True) -> Resolution:
    """Resolve ``host`` as a program of ``source`` would: by its file of hosts first, unless only servers are to be asked."""
    key = ("dns" if hosts else "dns servers", addressing.source_key(source), host)
    found: Resolution = addressing.learned(world, key, lambda: _resolve(world, source, host, hosts))
    return found


def _resolve(world: SimWorld, source: Source, host: str, hosts: bool) -> Resolution:
    literal = host.strip("[]")
    if _is_address(literal):
        return Resolution(host, (literal,), literal)
    name = host.rstrip(".").lower()
    for address, names in hosts_entries(world, source) if hosts else ():
        # The cluster has IPv4 only.
        if name in names and ":" not in address:
            return Resolution(host, (address,), name)
    if not name or not _valid(name):
        return Resolution(host, error="no_such_host", text=f"lookup {host}: no such host")
    return _ask_servers(world, source, host, resolv_conf(world, source))


@lru_cache(maxsize=4096)
def _is_address(text: str) -> bool:
    if not text or not (text[0].isdigit() or ":" in text):
        return False
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def unanswered(world: SimWorld, source: Source, resolution: Resolution) -> tuple[float, str] | None:
    """(share of such look-ups of which no answer comes back because some kernel has no entry for them, what Go says of one); None
    where that happens to none. A query is asked again once, and may then be taken to another server."""
    tables = conntrack.full_tables(world)
    if not tables or not any(query.server == world.plan.dns_address for query in resolution.queries):
        return None
    here = conntrack.dropped(world, source.node, "")
    servers = [process.node for process in world.processes.values() if "corefile" in process.state]
    there = sum(conntrack.dropped(world, node, "") for node in servers if node != source.node)
    share = 1.0 - (1.0 - here) * (1.0 - (there / max(len(servers), 1)) ** ATTEMPTS)
    if share <= 0.0:
        return None
    text, _ = _failure_text(world, source, resolution.host, world.plan.dns_address, Answer("TIMEOUT"))
    return share, text


def timed_out(resolution: Resolution, text: str) -> Resolution:
    """The same, of whose queries the first was never answered."""
    first = resolution.queries[0]._replace(answer=Answer("TIMEOUT"))
    spent = QUERY_TIMEOUT * ATTEMPTS
    return Resolution(resolution.host, (), "", "dns_timeout", text, first.server, spent, (first,))


def resolved(world: SimWorld, source: Source, host: str, hosts: bool = True) -> Resolution:
    """What somebody finds who looks a name up now, over a connection that every kernel on its way has to enter.

    Without ``hosts`` only servers are asked, as ``nslookup`` and its kin do.
    """
    found = resolve(world, source, host, hosts)
    lost = unanswered(world, source, found)
    return found if lost is None or lost[0] < 0.5 else timed_out(found, lost[1])


def _valid(name: str) -> bool:
    return len(name) <= 253 and all(0 < len(label) <= 63 for label in name.split("."))


def candidates(host: str, conf: ResolvConf) -> list[str]:
    """Full names to try for ``host``, in the order of the search path."""
    name = host.rstrip(".").lower()
    if host.endswith("."):
        return [name]
    searched = [f"{name}.{search.strip('.')}" for search in conf.searches]
    return [name, *searched] if name.count(".") >= conf.ndots else [*searched, name]


def _ask_servers(world: SimWorld, source: Source, host: str, conf: ResolvConf) -> Resolution:
    if not conf.nameservers:
        # Resolvers that are told no server ask their own machine.
        conf = ResolvConf(("127.0.0.1",), conf.searches, conf.ndots)
    queries: list[Query] = []
    latency = 0.0
    last = conf.nameservers[0]
    unanswered: Answer | None = None
    for name in candidates(host, conf):
        answer, server, took = _ask_any(world, source, name, conf.nameservers)
        latency += took
        last = server
        queries.append(Query(name, server, answer))
        if answer.rcode == "NOERROR" and answer.addresses:
            canonical = answer.chain[-1] if answer.chain else name
            return Resolution(host, answer.addresses, canonical, "", "", server, latency, tuple(queries))
        if answer.rcode in ("TIMEOUT", "SERVFAIL", "REFUSED"):
            unanswered = answer
            if answer.rcode == "TIMEOUT":
                break
    text, error = _failure_text(world, source, host, last, unanswered)
    return Resolution(host, (), "", error, text, last, latency, tuple(queries))


def _failure_text(
    world: SimWorld, source: Source, host: str, server: str, unanswered: Answer | None
) -> tuple[str, Literal["no_such_host", "dns_timeout"]]:
    if unanswered is None:
        return f"lookup {host} on {server}:53: no such host", "no_such_host"
    if unanswered.rcode != "TIMEOUT":
        return f"lookup {host} on {server}:53: server misbehaving", "dns_timeout"
    ip = addressing.source_ip(world, source) or "127.0.0.1"
    # Linux dials from 32768 to 60999.
    port = 32768 + keyed_bits("ephemeral", ip, host) % 28232
    what = "read: connection refused" if unanswered.refused else "i/o timeout"
    return f"lookup {host} on {server}:53: read udp {ip}:{port}->{server}:53: {what}", "dns_timeout"


def _ask_any(
    world: SimWorld, source: Source, name: str, servers: tuple[str, ...]
) -> tuple[Answer, str, float]:
    """The first definite answer among the servers, in order."""
    took = 0.0
    answer = Answer("TIMEOUT")
    server = servers[0]
    for server in servers:
        answer, seconds = ask(world, source, name, server)
        took += seconds
        if answer.rcode in ("NOERROR", "NXDOMAIN"):
            return answer, server, took
    if answer.rcode == "TIMEOUT":
        took *= ATTEMPTS
    return answer, server, took


def ask(world: SimWorld, source: Source, name: str, server: str) -> tuple[Answer, float]:
    """What ``server`` answers ``source`` about the A records of a full name, and how long that takes."""
    if server in PUBLIC_RESOLVERS or server == world.plan.upstream:
        if isinstance(source, Process) and not _may_leave(world, source, server):
            return Answer("TIMEOUT"), QUERY_TIMEOUT
        return public_answer(name), 0.012
    addressing.note(world, "naming")
    found, rtt, refused = _server_process(world, source, server)
    if found is None:
        return Answer("TIMEOUT", refused=refused), rtt
    config = loaded_corefile(world, found)
    if config is None:
        return Answer("TIMEOUT"), QUERY_TIMEOUT
    answer = served(world, found, config, name.rstrip(".").lower())
    return answer, rtt + 0.0002 + answer.seconds


def _may_leave(world: SimWorld, source: Process, server: str) -> bool:
    if not addressing.reachable_machine(world, source.node):
        return False
    return allowed(world, _peer(world, source), Peer(server), 53, "UDP")


def _peer(world: SimWorld, source: Source) -> Peer:
    pod = addressing.pod_of(world, source) if isinstance(source, Process) else None
    if pod is not None and pod["spec"].get("hostNetwork"):
        pod = None
    return Peer(addressing.source_ip(world, source), source.node, pod)


def _server_process(world: SimWorld, source: Source, server: str) -> tuple[Process | None, float, bool]:
    """The DNS process behind an address: (process, round trip or time lost, whether packets were rejected)."""
    key = ("dns server", addressing.source_key(source), server)
    found: tuple[Process | None, float, bool] = addressing.learned(
        world, key, lambda: _find_server(world, source, server)
    )
    return found


def _find_server(world: SimWorld, source: Source, server: str) -> tuple[Process | None, float, bool]:
    """The DNS process behind an address: (process, round trip or time lost, whether packets were rejected)."""
    if source == OUTSIDE:
        return None, QUERY_TIMEOUT, False
    service = addressing.service_at(world, server)
    if service is None:
        targets = [(server, 53)]
    else:
        metadata = service["metadata"]
        port = next(
            (p for p in service["spec"].get("ports") or () if p["port"] == 53 and p.get("protocol") == "UDP"),
            None,
        )
        if port is None:
            return None, QUERY_TIMEOUT, False
        behind = addressing.usable(
            addressing.endpoints(world, metadata["namespace"], metadata["name"], port, node=source.node)
        )
        if not behind:
            # kube-proxy rejects packets to a Service without endpoints.
            return None, 0.001, True
        targets = [(endpoint.ip, endpoint.port) for endpoint in behind]
    me = _peer(world, source)
    here = (source.namespace, source.pod) if me.pod is not None and isinstance(source, Process) else NO_POD
    refused = False
    for ip, number in targets:
        pod = addressing.pod_at(world, ip)
        if pod is None:
            continue
        there = Peer(ip, pod["spec"].get("nodeName", ""), pod)
        if not allowed(world, me, there, number, "UDP"):
            continue
        name = (pod["metadata"]["namespace"], pod["metadata"]["name"])
        link = path(world, source.node, here, there.node, name)
        if not link.up or not link.answers:
            continue
        for process in addressing.pod_processes(world, pod["metadata"].get("uid", "")):
            if process.program == "coredns" and number in process.listening:
                return process, link.rtt + link.loss * QUERY_TIMEOUT, False
        refused = True
    return None, (0.001 if refused else QUERY_TIMEOUT), refused


# --- CoreDNS --------------------------------------------------------------------------------------------


def loaded_corefile(world: SimWorld, process: Process) -> Corefile | None:
    """The configuration a CoreDNS process serves from, or None if it has none that parses."""
    text = process.state.get("corefile")
    if text is None:
        text = _mounted_corefile(world, process)
    try:
        return None if text is None else corefile.parse(text)
    except CorefileError:
        return None


def _mounted_corefile(world: SimWorld, process: Process) -> str | None:
    """The Corefile as the process would read it from its file system now."""
    try:
        return view.attempt(world, process, corefile.PATH)
    except OSError:
        return None


def served(world: SimWorld, process: Process, config: Corefile, name: str, depth: int = 0) -> Answer:
    """What a CoreDNS process with this configuration answers about a name (no trailing dot)."""
    block = config.block(name)
    if block is None:
        return Answer("REFUSED")
    if depth > 7:
        return Answer("SERVFAIL")
    asked = name
    for rule in block.rewrites:
        changed = rule.apply(asked)
        if changed is not None:
            asked = changed
            if rule.stop:
                break
    return _plugins(world, process, config, block, asked, depth)


def _plugins(
    world: SimWorld, process: Process, config: Corefile, block: ServerBlock, name: str, depth: int
) -> Answer:
    # The order is that of CoreDNS's ``plugin.cfg``, whatever the order in the Corefile.
    for template in block.templates:
        if template.concerns(name):
            addresses = tuple(word for text in template.answers if _is_address(word := text.split()[-1]))
            rcode = _RCODES.get(template.rcode, "NOERROR")
            if addresses or rcode != "NOERROR" or not template.fallthrough:
                return Answer(rcode, addresses)
    for hosts in block.hosts:
        if any(in_zone(name, zone) for zone in hosts.zones):
            for entry, addresses in hosts.entries:
                if entry == name:
                    return Answer("NOERROR", tuple(a for a in addresses if ":" not in a))
            if not hosts.fallthrough:
                return Answer("NXDOMAIN")
    for plugin in block.kubernetes:
        zone = next((zone for zone in plugin.zones if in_zone(name, zone)), None)
        if zone is None:
            continue
        answer = _records(world, process, config, plugin, zone, name, depth)._replace(by="zone")
        if answer.rcode != "NXDOMAIN":
            return answer
        if plugin.fallthrough is None or not any(in_zone(name, through) for through in plugin.fallthrough):
            return answer
    for forward in block.forwards:
        if in_zone(name, forward.source) and not any(in_zone(name, zone) for zone in forward.excepted):
            return _forwarded(world, process, forward.to, name, depth)
    return Answer("SERVFAIL" if not block.kubernetes else "REFUSED")


def _forwarded(world: SimWorld, process: Process, to: tuple[str, ...], name: str, depth: int) -> Answer:
    for target in to:
        server = target.removeprefix("dns://").removeprefix("tls://")
        if server.startswith("/"):
            server = world.plan.upstream
        server = server.rpartition(":")[0] if server.count(":") == 1 else server
        if server in PUBLIC_RESOLVERS or server == world.plan.upstream:
            return public_answer(name)
        behind, _, _ = _server_process(world, process, server)
        config = None if behind is None else loaded_corefile(world, behind)
        if behind is not None and config is not None:
            return served(world, behind, config, name, depth + 1)
    return Answer("SERVFAIL", seconds=UPSTREAM_TIMEOUT)


def public_answer(name: str) -> Answer:
    """What the public DNS says: names under well-known top-level domains have a stable address."""
    name = name.rstrip(".").lower()
    labels = name.split(".")
    if len(labels) < 2 or labels[-1] not in _PUBLIC_SUFFIXES:
        return Answer("NXDOMAIN", by="forward")
    bits = keyed_bits("public", name)
    return Answer(
        "NOERROR",
        (f"{151 + bits % 60}.{bits >> 8 & 255}.{bits >> 16 & 255}.{1 + (bits >> 24) % 254}",),
        by="forward",
    )


def _records(
    world: SimWorld,
    process: Process,
    config: Corefile,
    plugin: KubernetesPlugin,
    zone: str,
    name: str,
    depth: int,
) -> Answer:
    labels = name[: len(name) - len(zone)].rstrip(".").split(".") if name != zone else []
    if not labels:
        return Answer("NOERROR")
    kind = labels[-1]
    if kind == "pod" and len(labels) == 3:
        return _pod_record(world, plugin, labels[0], labels[1])
    if kind != "svc":
        return Answer("NXDOMAIN")
    if len(labels) <= 2:
        known = len(labels) == 1 or world.store.get("namespaces", "", labels[0]) is not None
        return Answer("NOERROR" if known else "NXDOMAIN")
    namespace, service_name = labels[-2], labels[-3]
    if plugin.namespaces and namespace not in plugin.namespaces:
        return Answer("NXDOMAIN")
    service = world.store.get("services", namespace, service_name)
    if service is None:
        return Answer("NXDOMAIN")
    return _service_record(world, process, config, service, labels[:-3], depth)


def _service_record(
    world: SimWorld, process: Process, config: Corefile, service: Manifest, prefix: list[str], depth: int
) -> Answer:
    spec = service["spec"]
    if spec.get("type") == "ExternalName":
        target = str(spec.get("externalName", "")).rstrip(".").lower()
        inner = served(world, process, config, target, depth + 1)
        # The CNAME is an answer by itself, even where its target does not exist.
        rcode = "NOERROR" if inner.rcode == "NXDOMAIN" else inner.rcode
        return Answer(rcode, inner.addresses, (target, *inner.chain))
    headless = spec.get("clusterIP") in (None, "", "None")
    if len(prefix) == 2 and prefix[0].startswith("_"):
        prefix = []
    if not headless and not prefix:
        return Answer("NOERROR", tuple(ip for ip in (spec["clusterIP"],) if ":" not in ip))
    found = [
        endpoint.ip
        for endpoint in addressing.endpoints(
            world, service["metadata"]["namespace"], service["metadata"]["name"]
        )
        if endpoint.ready and (not prefix or prefix[0] in (endpoint.hostname, endpoint.ip.replace(".", "-")))
    ]
    return Answer("NOERROR", _unique(found)) if found else Answer("NXDOMAIN")


def _pod_record(world: SimWorld, plugin: KubernetesPlugin, dashed: str, namespace: str) -> Answer:
    ip = dashed.replace("-", ".")
    if plugin.pods == "disabled" or not _is_address(ip):
        return Answer("NXDOMAIN")
    if world.store.get("namespaces", "", namespace) is None:
        return Answer("NXDOMAIN")
    if plugin.pods == "verified":
        pod = addressing.pod_at(world, ip)
        if pod is None or pod["metadata"]["namespace"] != namespace:
            return Answer("NXDOMAIN")
    return Answer("NOERROR", (ip,))


# --- reload ---------------------------------------------------------------------------------------------

RELOAD_INTERVAL = 30 * SECOND
"""The reload plugin's default interval."""
_MOUNT_REFRESH = 60 * SECOND
"""How long a changed ConfigMap takes to reach a mounted volume."""


def _configuration_changed(world: SimWorld, change: Change) -> Iterable[Key]:
    for process in world.processes.values():
        if process.program == "coredns" and process.namespace == change.key[0]:
            if any(m.kind == "configmap" and m.source == change.key[1] for m in process.mounts):
                return (change.key,)
    return ()


def _reload(world: SimWorld, key: Key) -> int | None:
    """Have CoreDNS processes that mount this ConfigMap look at their Corefile, as the reload plugin does."""
    configmap = world.store.get("configmaps", *key)
    wanted = None if configmap is None else configmap.get("data", {}).get("Corefile")
    again: int | None = None
    for process in list(world.processes.values()):
        if process.program != "coredns" or process.namespace != key[0]:
            continue
        if any(m.kind == "configmap" and m.source == key[1] for m in process.mounts):
            _reload_process(world, process)
            if wanted is not None and _mounted_corefile(world, process) != wanted:
                # The kubelet has not synced the volume yet.
                again = RELOAD_INTERVAL
    return again


def _reload_process(world: SimWorld, process: Process) -> None:
    current = process.state.get("corefile")
    text = _mounted_corefile(world, process)
    if text is None or current is None or text == current or text == process.state.get("corefile_rejected"):
        return
    log = world.log((*process.key, process.restart))
    try:
        if not corefile.parse(current).has("reload"):
            return
        corefile.parse(text)
    except CorefileError as error:
        log.write(world.clock, "[INFO] Reloading\n" + f"[ERROR] Restart failed: {error}")
        log.write(world.clock, f"[ERROR] plugin/reload: Corefile changed but reload failed: {error}")
        world.change_process(process.key, state={**process.state, "corefile_rejected": text})
        return
    digest = "".join(f"{keyed_bits(text, index):016x}" for index in range(8))
    log.write(world.clock, "[INFO] Reloading\n[INFO] plugin/reload: Running configuration SHA512 = " + digest)
    log.write(world.clock, "[INFO] Reloading complete")
    state = {k: v for k, v in process.state.items() if k != "corefile_rejected"}
    world.change_process(process.key, state={**state, "corefile": text})


CONTROLLER = Controller(
    name="coredns-reload",
    watches={"configmaps": _configuration_changed},
    reconcile=_reload,
    latency=_MOUNT_REFRESH + RELOAD_INTERVAL // 2,
)
"""CoreDNS' reload plugin: no polling, it is woken by changes of the ConfigMap and looks when it would look."""
