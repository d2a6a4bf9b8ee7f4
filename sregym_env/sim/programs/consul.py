"""``consul`` in development mode: a service registry whose catalogue lives in memory and dies with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

import orjson

from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import MILLISECOND, SECOND, seconds
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.world.program import Call, Command, Flow, HttpRequest, HttpResponse, Usage

VERSION = "1.22.3"
"""The release that an image runs unless its binary says otherwise."""
PORTS = (8300, 8301, 8302, 8400, 8500, 8502, 8600)

Registration = tuple[str, str, str, int]
"""(id, service name, address, port)."""


def version(ctx: ProcessContext) -> str:
    """The release of the binary that runs."""
    binary = ctx.image.binaries.get(ctx.process.binary) or ctx.image.binaries["consul"]
    return str(binary.settings or VERSION)


def services(ctx: ProcessContext) -> tuple[Registration, ...]:
    """Everything registered, in order of registration."""
    found: tuple[Registration, ...] = ctx.process.state.get("services", ())
    return found


def register(ctx: ProcessContext, id: str, name: str, address: str, port: int) -> None:
    """Add or replace a registration."""
    others = tuple(entry for entry in services(ctx) if entry[0] != id)
    ctx.update(services=(*others, (id, name, address, port)))
    _log(ctx, "INFO", f"agent: Synced service: service={id}")


def deregister(ctx: ProcessContext, id: str) -> bool:
    """Remove a registration; whether it was there."""
    left = tuple(entry for entry in services(ctx) if entry[0] != id)
    if len(left) == len(services(ctx)):
        return False
    ctx.update(services=left)
    _log(ctx, "INFO", f"agent: Deregistered service: service={id}")
    return True


def instances(ctx: ProcessContext, name: str) -> tuple[tuple[str, int], ...]:
    """Addresses registered under a service name."""
    return tuple((address, port) for _, service, address, port in services(ctx) if service == name)


class Consul(Quiet):
    """The agent, as a single server."""

    name = "consul"

    def start(self, ctx: ProcessContext) -> None:
        """Elect itself leader and listen."""
        ctx.set_memory(38 * MIB)
        if ctx.over_limit:
            return
        try:
            ctx.listen(*PORTS)
        except OSError:
            ctx.log("==> failed to setup node ID: listen tcp 0.0.0.0:8500: bind: address already in use")
            ctx.exit(1)
            return
        node = ctx.process.hostname
        ctx.log(
            f"==> Starting Consul agent...\n               Version: '{version(ctx)}'\n            Build Date: "
            f"'2026-01-21 11:20:48 +0000 UTC'\n               Node ID: '{_uuid(ctx.process.pod)}'\n             "
            f"Node name: '{node}'\n            Datacenter: 'dc1' (Segment: '<all>')\n                Server: true "
            "(Bootstrap: false)\n           Client Addr: [0.0.0.0] (HTTP: 8500, HTTPS: -1, gRPC: 8502, DNS: 8600)\n"
            "          Cluster Addr: 127.0.0.1 (LAN: 8301, WAN: 8302)\n\n==> Log data will now stream in as it occurs:\n"
        )
        for text in (
            "agent.server.raft: entering follower state: leader-address= leader-id=",
            "agent: started state syncer",
            "agent: Consul agent running!",
            "agent.server.raft: election won: term=2 tally=1",
            "agent.server: cluster leadership acquired",
            f"agent.server: New leader elected: payload={node}",
            "agent: Synced node info",
        ):
            _log(ctx, "INFO", text, 0.2)

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """Answer API calls at once."""
        return Flow(1.0, 0.0008)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """The HTTP API on 8500."""
        if port != 8500:
            return None
        path, _, query = request.path.partition("?")
        path = path.rstrip("/")
        if request.method == "PUT":
            return _write(ctx, path, request.body)
        found = _read(ctx, path)
        if found is None:
            return HttpResponse(
                404, f"Invalid URL path: not a recognized HTTP API endpoint: {path}", latency=0.0008
            )
        if isinstance(found, str) and path in ("", "/ui"):
            return HttpResponse(301, found, {"Location": "/ui/", "Content-Type": "text/html; charset=utf-8"})
        # An agent with ``-dev`` indents whatever it answers.
        pretty = "-dev" in ctx.process.argv or "pretty" in parse_qs(query, keep_blank_values=True)
        body = f"{json.dumps(found, indent=4)}\n" if pretty else orjson.dumps(found).decode()
        return HttpResponse(
            200, body, {"Content-Type": "application/json", "X-Consul-Index": _index(ctx)}, 0.0008
        )

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Leave."""
        _log(ctx, "INFO", "agent: Caught: signal=terminated")
        _log(ctx, "INFO", "agent: Graceful shutdown disabled. Exiting")
        return 0.3, 1

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Raft, gossip and a trickle of queries."""
        return Usage(0.006 + 0.0002 * sum(rates.values()), ctx.process.memory)

    @property
    def commands(self) -> Mapping[str, Command]:
        """``consul``."""
        return {"consul": _command}


def _index(ctx: ProcessContext) -> str:
    return str(14 + len(services(ctx)))


def _uuid(*key: object) -> str:
    text = f"{keyed_bits('a', *key):016x}{keyed_bits('b', *key):016x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


def _log(ctx: ProcessContext, level: str, text: str, delay: float = 0.0) -> None:
    now = ctx.wall() + seconds(delay)
    stamp = f"{rfc3339(now // SECOND * SECOND).removesuffix('Z')}.{now % SECOND // MILLISECOND:03d}Z"
    ctx.log(f"{stamp} [{level}]  {text}", delay=delay)


def _write(ctx: ProcessContext, path: str, body: str) -> HttpResponse:
    if path == "/v1/agent/service/register":
        try:
            given: Any = orjson.loads(body)
            name = str(given["Name"])
        except (ValueError, KeyError, TypeError):
            return HttpResponse(400, "Request decode failed: invalid service definition", latency=0.0005)
        register(
            ctx, str(given.get("ID") or name), name, str(given.get("Address", "")), int(given.get("Port", 0))
        )
        return HttpResponse(200, "", latency=0.0008)
    if path.startswith("/v1/agent/service/deregister/"):
        id = path.rpartition("/")[2]
        if deregister(ctx, id):
            return HttpResponse(200, "", latency=0.0008)
        text = f'Unknown service ID "{id}". Ensure that the service ID is passed, not the service name.'
        return HttpResponse(404, text, latency=0.0008)
    return HttpResponse(405, "method PUT not allowed", latency=0.0005)


def _read(ctx: ProcessContext, path: str) -> Any:
    """The document behind a GET; a string for the redirect to the UI; None where there is nothing."""
    known = services(ctx)
    node = ctx.process.hostname
    if path in ("", "/ui"):
        return '<a href="/ui/">Moved Permanently</a>.\n'
    if path == "/v1/status/leader":
        return "127.0.0.1:8300"
    if path == "/v1/status/peers":
        return ["127.0.0.1:8300"]
    if path == "/v1/catalog/nodes":
        return [{"ID": _uuid(ctx.process.pod), "Node": node, "Address": "127.0.0.1", "Datacenter": "dc1"}]
    if path == "/v1/catalog/services":
        return {"consul": [], **{name: [] for name in sorted({entry[1] for entry in known})}}
    if path == "/v1/agent/services":
        return {id: _service(id, name, address, port) for id, name, address, port in known}
    if path == "/v1/agent/self":
        return {"Config": {"Datacenter": "dc1", "NodeName": node, "Server": True, "Version": version(ctx)}}
    if path == "/v1/agent/members":
        return [{"Name": node, "Addr": "127.0.0.1", "Port": 8301, "Tags": _tags(ctx), "Status": 1}]
    if path in ("/v1/agent/checks", "/v1/kv"):
        return [] if path != "/v1/agent/checks" else {}
    kind, _, wanted = path.rpartition("/")
    matching = [entry for entry in known if entry[1] == wanted]
    if kind == "/v1/catalog/service":
        return [
            {"Node": node, "Address": "127.0.0.1", "ServiceID": id, "ServiceName": name, "ServiceAddress": address,
             "ServicePort": port}
            for id, name, address, port in matching
        ]  # fmt: skip
    if kind == "/v1/health/service":
        check = {"Node": node, "CheckID": "serfHealth", "Name": "Serf Health Status", "Status": "passing"}
        return [
            {
                "Node": {"Node": node, "Address": "127.0.0.1", "Datacenter": "dc1"},
                "Service": _service(*entry),
                "Checks": [check],
            }
            for entry in matching
        ]
    if kind == "/v1/health/checks":
        return []
    if kind == "/v1/health/state":
        check = {"Node": node, "CheckID": "serfHealth", "Name": "Serf Health Status", "Status": "passing"}
        return [check] if wanted in ("any", "passing") else []
    if kind == "/v1/agent/service":
        return next((_service(*entry) for entry in known if entry[0] == wanted), None)
    return None


def _tags(ctx: ProcessContext) -> dict[str, str]:
    """What a server tells of itself to its members (``serf.Member.Tags``)."""
    release = version(ctx)
    return {
        "build": release,
        "dc": "dc1",
        "id": _uuid(ctx.process.pod),
        "role": "consul",
        "segment": "",
        "vsn": "2",
    }


def _service(id: str, name: str, address: str, port: int) -> dict[str, Any]:
    return {
        "ID": id,
        "Service": name,
        "Tags": [],
        "Meta": {},
        "Port": port,
        "Address": address,
        "Datacenter": "dc1",
    }


def _command(ctx: ProcessContext, argv: Sequence[str], stdin: str) -> ExecResult:
    """The command line client, which asks the local agent."""
    words = [word for word in argv[1:] if not word.startswith("-")]
    match words:
        case [] | ["help"]:
            return ExecResult(stderr="Usage: consul [--version] [--help] <command> [<args>]\n", exit_code=127)
        case ["version"]:
            return ExecResult(f"Consul v{version(ctx)}\n")
        case ["members", *_]:
            head = "Node                      Address         Status  Type    Build   Protocol  DC   Partition  Segment\n"
            node = ctx.process.hostname
            return ExecResult(
                f"{head}{node:<25} 127.0.0.1:8301  alive   server  {version(ctx)}  2         dc1  default    <all>\n"
            )
        case ["catalog", "services", *_]:
            return ExecResult(
                "".join(f"{n}\n" for n in ["consul", *sorted({entry[1] for entry in services(ctx)})])
            )
        case ["catalog", "nodes", *_]:
            head = "Node                      ID        Address    DC\n"
            return ExecResult(
                f"{head}{ctx.process.hostname:<25} {_uuid(ctx.process.pod)[:8]}  127.0.0.1  dc1\n"
            )
        case ["services", "deregister", *rest]:
            id = next(
                (w.partition("=")[2] for w in argv if w.startswith(("-id=", "--id="))),
                rest[0] if rest else "",
            )
            if deregister(ctx, id):
                return ExecResult(f"Deregistered service: {id}\n")
            text = f'Error deregistering service "{id}": Unexpected response code: 404 (Unknown service ID "{id}".)\n'
            return ExecResult(stderr=text, exit_code=1)
        case ["operator", "raft", "list-peers", *_]:
            return ExecResult(
                "Node  ID  Address         State   Voter  RaftProtocol\n"
                f"{ctx.process.hostname}  {_uuid(ctx.process.pod)}  127.0.0.1:8300  leader  true   3\n"
            )
        case ["info"]:
            return ExecResult(
                f"agent:\n\tservices = {len(services(ctx))}\nconsul:\n\tleader = true\n\tserver = true\n"
            )
    return ExecResult(
        stderr=f"Usage: consul [--version] [--help] <command> [<args>]\n\nunknown command {words[0]}\n",
        exit_code=127,
    )
