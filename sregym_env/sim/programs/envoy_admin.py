"""Envoy's administration interface: what its pages say follows from the configuration, from names as they resolve now, and from the
traffic that has gone through it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs

import orjson

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime import ids
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.shell import patterns
from sregym_env.sim.network import dns
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import request_filter
from sregym_env.sim.programs.envoy_config import Config
from sregym_env.sim.programs.yaml_files import document
from sregym_env.sim.world.history import Load, Segment, window
from sregym_env.sim.world.program import HttpRequest, HttpResponse

HOT_RESTART: Final = "11.104"
"""What ``--hot-restart-version`` says in these releases."""

COMMIT: Final = "9be6b9fd3e9d9d2a1b4a5bcd5c1f6d0c5e4a3f21"
OWN: Final = 0.0003
"""Seconds that a page takes."""

_KIND: Final = "type.googleapis.com/envoy.admin.v3."
_LIMITS: Final = (
    ("max_connections", 1024),
    ("max_pending_requests", 1024),
    ("max_requests", 1024),
    ("max_retries", 3),
)


def page(ctx: ProcessContext, config: Config, version: str, request: HttpRequest) -> HttpResponse:
    """What a request to the administration interface is answered."""
    path, _, query = request.path.partition("?")
    asked = {name: values[-1] for name, values in parse_qs(query, keep_blank_values=True).items()}
    if path == "/ready":
        return _answer("LIVE\n")
    if path in _MUTATIONS:
        if request.method != "POST":
            return HttpResponse(405, f"Method {request.method} not allowed, POST required.", _PLAIN, OWN)
        if path == "/quitquitquit":
            ctx.exit(0, delay=0.1)
        return _answer("OK\n")
    made = _PAGES.get(path)
    if made is None:
        return HttpResponse(404, "invalid path. admin commands are:\n" + _help(), _PLAIN, OWN)
    return made(_Look(ctx, config, version, asked))


_PLAIN: Final[Mapping[str, str]] = {
    "content-type": "text/plain; charset=UTF-8",
    "cache-control": "no-cache, max-age=0",
    "x-content-type-options": "nosniff",
    "server": "envoy",
}


def _answer(text: str, kind: str = "text/plain; charset=UTF-8") -> HttpResponse:
    return HttpResponse(200, text, {**_PLAIN, "content-type": kind}, OWN)


def _json(found: Any) -> HttpResponse:
    text = orjson.dumps(found, option=orjson.OPT_INDENT_2).decode()
    # Protobuf's printer indents by one.
    text = re.sub(r"(?m)^( +)", lambda spaces: spaces[1][: len(spaces[1]) // 2], text)
    return _answer(f"{text}\n", "application/json")


@dataclass(frozen=True, slots=True)
class _Look:
    """Who looks at what."""

    ctx: ProcessContext
    config: Config
    version: str
    asked: Mapping[str, str]

    @property
    def up(self) -> int:
        """Seconds since it was started."""
        return (self.ctx.now() - self.ctx.process.started_at) // SECOND

    @property
    def text(self) -> str:
        """The configuration as it was read."""
        found: str = self.ctx.process.state["config"]
        return found


# --- what has gone through it ---------------------------------------------------------------------


@dataclass(slots=True)
class Count:
    """Requests."""

    sent: float = 0.0
    lost: float = 0.0
    """Of them those that were answered by nobody, or by an error of the server's."""
    rate: float = 0.0
    """Per second, now."""
    latency: float = 0.0
    """Seconds, now."""

    @property
    def total(self) -> int:
        """Whole ones."""
        return int(self.sent)

    @property
    def failed(self) -> int:
        """Whole ones."""
        return min(int(self.lost), self.total)


def counted(ctx: ProcessContext, config: Config) -> dict[str, Count]:
    """What this run of the proxy has passed to each cluster, and under "" what it has answered by itself."""
    found: dict[str, Count] = {"": Count(), **{name: Count() for name, _ in config.clusters}}
    process, end = ctx.process, ctx.now()
    for number, (segment, length) in enumerate(window(ctx.world, process.started_at, end)):
        for load in segment.loads:
            if load.process == process.key and load.restart == process.restart:
                for name, rate, lost in _split(config, segment, load, process.namespace):
                    count = found.setdefault(name, Count())
                    count.sent += rate * length
                    count.lost += lost * length
                    if number == 0:
                        count.rate += rate
                        count.latency = load.latency
    return found


def _split(
    config: Config, segment: Segment, load: Load, namespace: str
) -> Iterator[tuple[str, float, float]]:
    """(cluster, requests per second, of them lost) of what a proxy was sent."""
    rates: dict[str, float] = {}
    for operation, rate in load.rates:
        path = operation.partition(" ")[2]
        denied = request_filter.outcome(config.denied, path).denied if config.denied else False
        rule = None if denied else config.rule(path)
        name = "" if rule is None else rule.cluster
        rates[name] = rates.get(name, 0.0) + rate
    lost = sum(rates.values()) * (1.0 - load.ok)
    # The proxy is told as a whole: what is lost is lost where those behind it do not serve.
    serving = {each.name: each for each in segment.components if each.namespace == namespace}
    blame = {}
    for name, rate in rates.items():
        behind = serving.get(config.address(name)[0].partition(".")[0])
        ok = 1.0 if not name or behind is None else behind.ok if behind.rate else 0.0
        blame[name] = rate * (1.0 - ok)
    whole = sum(blame.values())
    for name, rate in rates.items():
        share = blame[name] / whole if whole else rate / (sum(rates.values()) or 1.0)
        yield name, rate, min(rate, lost * share)


# --- pages ----------------------------------------------------------------------------------------


def _hosts(look: _Look) -> Iterator[tuple[str, str, int, tuple[str, ...]]]:
    """(cluster, host, port, addresses) of every cluster: its name is resolved again and again (``STRICT_DNS``)."""
    for name, (host, port) in look.config.clusters:
        yield name, host, port, dns.resolved(look.ctx.world, look.ctx.process, host).addresses


def _clusters(look: _Look) -> HttpResponse:
    counts = counted(look.ctx, look.config)
    lines = []
    for name, host, port, addresses in _hosts(look):
        lines.append(f"{name}::observability_name::{name}")
        lines += [
            f"{name}::{priority}_priority::{limit}::{value}"
            for priority in ("default", "high")
            for limit, value in _LIMITS
        ]
        lines.append(f"{name}::added_via_api::false")
        for address in addresses:
            fields = _host_fields(counts[name], host, len(addresses))
            lines += [f"{name}::{address}:{port}::{field}::{value}" for field, value in fields]
    return _answer("".join(f"{line}\n" for line in lines))


def _host_fields(count: Count, host: str, hosts: int) -> Iterator[tuple[str, object]]:
    total, failed = count.total // hosts, count.failed // hosts
    active = _active(count)
    yield from (
        ("cx_active", active),
        ("cx_connect_fail", 0),
        ("cx_total", max(active, min(total, 4 + total // 5000))),
        ("rq_active", int(count.rate * count.latency)),
        ("rq_error", failed),
        ("rq_success", total - failed),
        ("rq_timeout", 0),
        ("rq_total", total),
        ("hostname", host),
        ("health_flags", "healthy"),
        ("weight", 1),
        ("region", ""),
        ("zone", ""),
        ("sub_zone", ""),
        ("canary", "false"),
        ("priority", 0),
        ("success_rate", "-1"),
        ("local_origin_success_rate", "-1"),
    )


def _active(count: Count) -> int:
    """Connections that are open: as many as requests are under way, and one that waits for more."""
    return 0 if not count.rate else 1 + int(count.rate * count.latency)


def _stats(look: _Look) -> HttpResponse:
    try:
        chosen = patterns.compiled(look.asked.get("filter", ""))
    except re.error as error:
        return HttpResponse(400, f"Invalid re2 regex: {error}\n", _PLAIN, OWN)
    values = {name: value for name, value in _values(look) if chosen.search(name)}
    if "usedonly" in look.asked:
        values = {name: value for name, value in values.items() if value}
    form = look.asked.get("format", "text")
    if form == "json":
        return _json({"stats": [{"name": name, "value": values[name]} for name in sorted(values)]})
    if form == "prometheus":
        return _exposed(values)
    return _answer("".join(f"{name}: {values[name]}\n" for name in sorted(values)))


def _values(look: _Look) -> Iterator[tuple[str, int]]:
    ctx, config = look.ctx, look.config
    counts = counted(ctx, config)
    for name, _, _, addresses in _hosts(look):
        count, at = counts[name], f"cluster.{name}"
        yield f"{at}.membership_healthy", len(addresses)
        yield f"{at}.membership_total", len(addresses)
        yield f"{at}.upstream_cx_active", _active(count)
        yield f"{at}.upstream_rq_200", count.total - count.failed
        yield f"{at}.upstream_rq_2xx", count.total - count.failed
        yield f"{at}.upstream_rq_503", count.failed
        yield f"{at}.upstream_rq_5xx", count.failed
        yield f"{at}.upstream_rq_active", int(count.rate * count.latency)
        yield f"{at}.upstream_rq_completed", count.total
        yield f"{at}.upstream_rq_total", count.total
    total = sum(count.total for count in counts.values())
    failed = sum(count.failed for count in counts.values())
    refused = counts[""].total
    rate = sum(count.rate for count in counts.values())
    http = "http.ingress_http"
    yield f"{http}.downstream_rq_1xx", 0
    yield f"{http}.downstream_rq_2xx", total - failed - refused
    yield f"{http}.downstream_rq_3xx", 0
    yield f"{http}.downstream_rq_4xx", refused
    yield f"{http}.downstream_rq_5xx", failed
    yield f"{http}.downstream_rq_active", sum(int(c.rate * c.latency) for c in counts.values())
    yield f"{http}.downstream_rq_completed", total
    yield f"{http}.downstream_rq_total", total
    yield f"{http}.no_route", refused
    listener = f"listener.0.0.0.0_{config.port}"
    yield f"{listener}.downstream_cx_active", 0 if not rate else 1 + int(rate * 0.1)
    yield f"{listener}.http.ingress_http.downstream_rq_2xx", total - failed - refused
    yield f"{listener}.http.ingress_http.downstream_rq_5xx", failed
    yield "cluster_manager.active_clusters", len(config.clusters)
    yield "listener_manager.total_listeners_active", 1
    yield "server.concurrency", _cores(look)
    yield "server.live", 1
    yield "server.memory_allocated", ctx.process.memory
    yield "server.state", 0
    yield "server.uptime", look.up


def _cores(look: _Look) -> int:
    node = look.ctx.world.store.get("nodes", "", look.ctx.process.node)
    return 4 if node is None else max(1, int(str(node["status"]["capacity"]["cpu"]).rstrip("m")))


_CLUSTER = re.compile(r"cluster\.([^.]+)\.(.+)", re.ASCII)
_GAUGES = ("membership", "_active", "server.", "cluster_manager", "listener_manager")


def _exposed(values: Mapping[str, int]) -> HttpResponse:
    """In the format that Prometheus scrapes."""
    families: dict[str, list[str]] = {}
    for name in sorted(values):
        of_cluster = _CLUSTER.fullmatch(name)
        labels = ""
        if of_cluster:
            labels = f'envoy_cluster_name="{of_cluster[1]}"'
            family = f"envoy_cluster_{of_cluster[2]}"
        elif name.startswith("http.ingress_http."):
            labels = 'envoy_http_conn_manager_prefix="ingress_http"'
            family = f"envoy_http_{name.removeprefix('http.ingress_http.')}"
        else:
            family = f"envoy_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"
        kind = "gauge" if any(each in name for each in _GAUGES) else "counter"
        head = f"# TYPE {family} {kind}"
        families.setdefault(head, []).append(f"{family}{{{labels}}} {values[name]}")
    text = "\n".join("\n".join((head, *lines, "")) for head, lines in sorted(families.items()))
    return _answer(f"{text}\n")


def _listeners(look: _Look) -> HttpResponse:
    key = ("envoy", *look.ctx.process.key, look.ctx.process.restart)
    # A listener without a name gets one.
    name = ids.uid_of(f"{keyed_bits(*key):016x}{keyed_bits(*key, 'low'):016x}")
    return _answer(f"{name}::0.0.0.0:{look.config.port}\n")


def _server_info(look: _Look) -> HttpResponse:
    build = f"{COMMIT}/{look.version}/Clean/RELEASE/BoringSSL"
    argv = look.ctx.process.argv
    path = argv[argv.index("-c") + 1] if "-c" in argv[:-1] else ""
    options = {
        "base_id": "0",
        "concurrency": _cores(look),
        "config_path": path,
        "config_yaml": "",
        "mode": "Serve",
        "drain_time": "600s",
        "parent_shutdown_time": "900s",
        "log_level": "info",
    }
    return _json(
        {
            "version": build,
            "state": "LIVE",
            "hot_restart_version": HOT_RESTART,
            "command_line_options": options,
            "node": {"id": "", "cluster": "", "user_agent_name": "envoy"},
            "uptime_current_epoch": f"{look.up}s",
            "uptime_all_epochs": f"{look.up}s",
        }
    )


def _config_dump(look: _Look) -> HttpResponse:
    whole = document(look.text)
    since = rfc3339(look.ctx.process.started_at)
    resources = whole["static_resources"]
    routes = resources["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]["route_config"]
    dump = [
        {"@type": f"{_KIND}BootstrapConfigDump", "bootstrap": whole, "last_updated": since},
        {
            "@type": f"{_KIND}ClustersConfigDump",
            "static_clusters": [{"cluster": each, "last_updated": since} for each in resources["clusters"]],
        },
        {
            "@type": f"{_KIND}ListenersConfigDump",
            "static_listeners": [
                {"listener": each, "last_updated": since} for each in resources["listeners"]
            ],
        },
        {
            "@type": f"{_KIND}RoutesConfigDump",
            "static_route_configs": [{"route_config": routes, "last_updated": since}],
        },
    ]
    return _json({"configs": dump})


def _memory(look: _Look) -> HttpResponse:
    size = look.ctx.process.memory
    return _json(
        {
            "allocated": str(int(size * 0.32)),
            "heap_size": str(int(size * 0.55)),
            "pageheap_unmapped": "0",
            "pageheap_free": str(int(size * 0.06)),
            "total_thread_cache": str(int(size * 0.02)),
            "total_physical_bytes": str(size),
        }
    )


_COMMANDS: Final[Mapping[str, str]] = {
    "/": "Admin home page",
    "/certs": "print certs on machine",
    "/clusters": "upstream cluster status",
    "/config_dump": "dump current Envoy configs (experimental)",
    "/healthcheck/fail": "cause the server to fail health checks",
    "/healthcheck/ok": "cause the server to pass health checks",
    "/help": "print out list of admin commands",
    "/hot_restart_version": "print the hot restart compatibility version",
    "/listeners": "print listener info",
    "/logging": "query/change logging levels",
    "/memory": "print current allocation/heap usage",
    "/quitquitquit": "exit the server",
    "/ready": "print server state, return 200 if LIVE, otherwise return 503",
    "/reset_counters": "reset all counters to zero",
    "/runtime": "print runtime values",
    "/server_info": "print server version/status information",
    "/stats": "print server stats",
    "/stats/prometheus": "print server stats in prometheus format",
}
_MUTATIONS: Final = ("/healthcheck/fail", "/healthcheck/ok", "/logging", "/quitquitquit", "/reset_counters")


def _help() -> str:
    return "".join(f"  {path}: {text}\n" for path, text in _COMMANDS.items())


def _prometheus(look: _Look) -> HttpResponse:
    return _stats(_Look(look.ctx, look.config, look.version, {**look.asked, "format": "prometheus"}))


_PAGES: Mapping[str, Callable[[_Look], HttpResponse]] = {
    "/": lambda look: _answer("<title>Envoy Admin</title>\n", "text/html; charset=UTF-8"),
    "/certs": lambda look: _json({"certificates": []}),
    "/clusters": _clusters,
    "/config_dump": _config_dump,
    "/help": lambda look: _answer("admin commands are:\n" + _help()),
    "/hot_restart_version": lambda look: _answer(HOT_RESTART),
    "/listeners": _listeners,
    "/memory": _memory,
    "/runtime": lambda look: _json({"entries": {}, "layers": []}),
    "/server_info": _server_info,
    "/stats": _stats,
    "/stats/prometheus": _prometheus,
}
