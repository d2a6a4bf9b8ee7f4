"""How the API server reaches a webhook: Service, network, TLS, HTTP, and what it says where it does not.

The server runs on the control plane's own network and finds Services by its own knowledge of them, not by DNS;
from there on the call takes the way that any connection takes. Error texts are those of client-go and of Go's
``net/http``. No time passes: a call is judged by how long it would have taken.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from posixpath import normpath
from typing import Any
from urllib.parse import urlsplit

from sregym_env.cluster.key_pairs import certificates
from sregym_env.kube.durations import rfc3339_micro
from sregym_env.kube.status import go_quote
from sregym_env.kube.types import Manifest
from sregym_env.sim.network import addressing, tls
from sregym_env.sim.network.addressing import NodeSource
from sregym_env.sim.processes import exchange
from sregym_env.sim.processes.exchange import Exchange
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.program import HttpRequest

_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
_ROUTES_ITSELF = "--enable-aggregator-routing=true"
"""With this flag the API server dials the endpoints of Services instead of their ClusterIPs."""

_HEADERS = {
    "User-Agent": "kube-apiserver-admission",
    "Content-Type": "application/json",
    "Accept": "application/json, */*",
    "Accept-Encoding": "gzip",
}


class CallFailed(Exception):
    """A webhook that could not be asked, or whose answer is no HTTP success; carries Go's text and the time."""

    def __init__(self, text: str, seconds: float = 0.0) -> None:
        super().__init__(text)
        self.text = text
        self.seconds = seconds


class Unroutable(Exception):
    """A Service through which the API server cannot dial; carries its text."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a webhook lives, from its ``clientConfig``."""

    url: str
    """Without the query."""
    name: str
    """The name that its certificate must bear."""
    authorities: str
    """PEM; empty where the configuration gives none."""
    broken_bundle: bool
    service: tuple[str, str, int] | None
    """(namespace, name, port); None for a plain URL."""


def target_of(client: Mapping[str, Any]) -> Target:
    """The target of a ``clientConfig``."""
    bundle = client.get("caBundle") or ""
    try:
        authorities = b64decode(bundle).decode("utf-8", "replace")
    except ValueError:
        authorities = ""
    broken = bool(bundle) and not certificates(authorities)
    service = client.get("service")
    if service is None:
        parts = urlsplit(client.get("url") or "")
        path = _clean(parts.path)
        url = f"{parts.scheme}://{parts.netloc}{path}"
        return Target(url, parts.hostname or "", authorities, broken, None)
    namespace, name = service.get("namespace", ""), service.get("name", "")
    port = int(service.get("port") or 443)
    host = f"{name}.{namespace}.svc"
    url = f"https://{host}:{port}{_clean(service.get('path') or '')}"
    return Target(url, host, authorities, broken, (namespace, name, port))


def _clean(path: str) -> str:
    return "/" + normpath(path).strip("/.") if path.strip("/") else "/"


def call(
    world: SimWorld, target: Target, body: str, timeout: int, left: float | None = None
) -> tuple[str, float]:
    """POST a document: (the body of the answer, seconds it took). Raises CallFailed.

    ``left``: the seconds that the request on whose behalf it is sent has left, where that may be less.
    """
    full = f"{target.url}?timeout={timeout}s"
    try:
        done = _sent(world, target, body, timeout, float(timeout) if left is None else left)
    except Unroutable as error:
        raise CallFailed(f"Post {go_quote(full)}: {error}") from None
    text = _transport_error(done, timeout)
    if text:
        raise CallFailed(f"Post {go_quote(full)}: {text}", done.total_seconds)
    assert done.response is not None
    status, answer = done.response.status, done.response.body
    if not 200 <= status <= 206:
        raise CallFailed(_status_text(status, answer), done.total_seconds)
    if not answer:
        kind = next((v for k, v in done.response.headers.items() if k.lower() == "content-type"), "")
        raise CallFailed(
            f"0-length response with status code: {status} and content type: {kind}", done.total_seconds
        )
    return answer, done.total_seconds


def _sent(world: SimWorld, target: Target, body: str, timeout: int, left: float) -> Exchange:
    """The exchange with whoever answers. Raises Unroutable."""
    source = api_server(world)
    parts = urlsplit(target.url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    if target.service is not None:
        host, port = _route(world, *target.service)
    path = f"{parts.path}?timeout={timeout}s"
    request = HttpRequest("POST", path, {"Host": parts.netloc, **_HEADERS}, body)
    now, name, authorities = world.now(), target.name, target.authorities
    secured = tls.Tls(lambda presented: tls.go_refusal(presented, authorities, name, now))
    return exchange.http_get(world, source, host, port, request, left, secured)


def api_server(world: SimWorld) -> NodeSource:
    """Where the API server stands: on the network of the control plane's machine."""
    nodes = world.store.list("nodes")
    for node in nodes:
        if _CONTROL_PLANE in (node["metadata"].get("labels") or {}):
            return NodeSource(node["metadata"]["name"])
    return NodeSource(nodes[0]["metadata"]["name"] if nodes else "")


def note_failure(world: SimWorld, name: str, text: str, *, open: bool) -> None:
    """Have the API server's own log say that a webhook could not be asked, and what follows from it."""
    stamp = rfc3339_micro(world.now())
    when = f"{stamp[5:7]}{stamp[8:10]} {stamp[11:26]}       1"
    way = "open" if open else "closed"
    lines = [
        f"W{when} dispatcher.go:{210 if open else 225}] Failed calling webhook, failing {way} {name}: {text}"
    ]
    if open:
        quoted = go_quote(text)
        lines.append(f'E{when} dispatcher.go:214] "Unhandled Error" err={quoted} logger="UnhandledError"')
    for process in world.processes.values():
        if process.program == "kube_apiserver":
            world.log((process.key[0], process.container, process.restart)).write(
                world.now(), "\n".join(lines)
            )


def _route(world: SimWorld, namespace: str, name: str, port: int) -> tuple[str, int]:
    """The address that the API server dials for a Service (``proxy.ResolveCluster``, ``ResolveEndpoint``)."""
    service = world.store.get("services", namespace, name)
    if service is None:
        raise Unroutable(f"service {go_quote(name)} not found")
    if _routes_itself(world):
        return _endpoint(world, service, port)
    spec = service["spec"]
    kind = spec.get("type", "ClusterIP")
    if kind == "ExternalName":
        return str(spec.get("externalName", "")), port
    if kind == "ClusterIP" and spec.get("clusterIP") == "None":
        raise Unroutable('cannot route to service with ClusterIP "None"')
    _service_port(service, port)
    return str(spec.get("clusterIP", "")), port


def _service_port(service: Manifest, port: int) -> Manifest:
    for entry in service["spec"].get("ports") or ():
        if entry.get("port") == port:
            found: Manifest = entry
            return found
    raise Unroutable(f"no service port {port} found for service {go_quote(service['metadata']['name'])}")


def _routes_itself(world: SimWorld) -> bool:
    for pod in world.store.list("pods", "kube-system"):
        if (pod["metadata"].get("labels") or {}).get("component") == "kube-apiserver":
            for container in pod["spec"]["containers"]:
                if _ROUTES_ITSELF in (*container.get("command", ()), *container.get("args", ())):
                    return True
    return False


def _endpoint(world: SimWorld, service: Manifest, port: int) -> tuple[str, int]:
    entry = _service_port(service, port)
    namespace, name = service["metadata"]["namespace"], service["metadata"]["name"]
    found = [one for one in addressing.endpoints(world, namespace, name, entry) if one.ready and one.port]
    if not found:
        raise Unroutable(f"no endpoints available for service {go_quote(name)}")
    chosen = found[int(world.streams.unit("webhook") * len(found))] if len(found) > 1 else found[0]
    return chosen.ip, chosen.port


_DEADLINE = "context deadline exceeded"


def _transport_error(done: Exchange, timeout: int) -> str:
    """Go's words for an exchange without an answer; empty where there is one."""
    if done.outcome == "timeout":
        noticed = done.phase == "connect" and "no route to host" in done.text and done.total_seconds < timeout
        return done.text if noticed else _DEADLINE
    if done.outcome != "ok":
        return done.text or "EOF"
    return "EOF" if done.response is None else ""


_STATUS_TEXTS: Mapping[int, str] = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    406: "the server was unable to respond with a content type that the client supports",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the "
    "request",
}


def _status_text(code: int, body: str) -> str:
    """What client-go makes of an HTTP error (``NewGenericServerResponse``)."""
    known = _STATUS_TEXTS.get(code)
    if known is not None:
        return known
    said = body.strip() or "unknown"
    if code in (403, 415):
        return said
    if code >= 500:
        return f"an error on the server ({go_quote(said)}) has prevented the request from succeeding"
    return f"the server responded with the status code {code} but did not return more information"
