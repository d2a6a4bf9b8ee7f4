"""HTTP requests into a cluster's network, from outside of it: through the API server's proxy.

The workstation stands outside, so a host is looked up through the API: ``service.namespace``, a Service's address or a
pod's. What the proxy complains of is told as the outcome that a client inside the network would have met.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from sregym_env.cluster.api import Cluster
from sregym_env.cluster.http import HttpCall, HttpExchange, Lookup
from sregym_env.errors import ClusterError
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.live.connection import Answer, Connection

PATIENCE = 10.0
"""Seconds a request without a limit of its own may take."""

Outcome = Literal["no_such_host", "dns_timeout", "refused", "timeout", "reset", "tls"]

_OWN = ("authorization", "host", "connection", "accept-encoding", "content-length", "transfer-encoding")
"""Headers that belong to the connection with the API server. A caller's must not pass for the environment's."""

_PORTS = {"http": 80, "https": 443}

_DIALLED = re.compile(r"dial tcp \[?([^\]\s]+?)\]?:(\d+)")
_COMPLAINTS: tuple[tuple[str, Outcome], ...] = (
    ("connection refused", "refused"),
    ("no endpoints available", "refused"),
    ("no_such_host", "no_such_host"),
    ("no such host", "no_such_host"),
    ("tls:", "tls"),
    ("i/o timeout", "timeout"),
    ("timed out", "timeout"),
    ("deadline exceeded", "timeout"),
    ("timeout", "timeout"),
)


_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
"""What the proxy passes on."""


@dataclass(frozen=True, slots=True)
class _Host:
    """What a host name or address leads to."""

    plural: str
    """``services`` or ``pods``."""
    namespace: str
    name: str
    address: str
    ports: frozenset[int] | None = None
    """Ports on which a Service is offered; None where any may answer."""

    def proxied(self, scheme: str, port: int, path: str) -> str:
        """The path of the API server's proxy to a path there."""
        secured = "https:" if scheme == "https" else ""
        root = f"/api/v1/namespaces/{self.namespace}/{self.plural}"
        return f"{root}/{secured}{self.name}:{port}/proxy{_within(path)}"


def exchange(connection: Connection, cluster: Cluster, call: HttpCall) -> HttpExchange:
    """One HTTP request to whatever in the cluster its URL names; names are looked up in the API, whoever is asked."""
    url = urlsplit(call.url)
    if url.scheme == "dns":
        name = url.path.strip("/")
        found = _found(cluster, name)
        lookup = Lookup("NXDOMAIN") if found is None else Lookup("NOERROR", (found.address,), name)
        return HttpExchange("ok", "lookup", "", 53, lookup=replace(lookup, server=url.hostname or ""))
    try:
        port = url.port or _PORTS.get(url.scheme, 0)
    except ValueError:
        port = 0
    host = _found(cluster, url.hostname or "") if port else None
    if host is None:
        return HttpExchange("no_such_host", "lookup", "", port)
    if host.ports is not None and port not in host.ports:
        # Nobody answers for such a port of a Service, not even with a refusal.
        return HttpExchange("timeout", "connect", host.address, port, seconds=call.timeout or PATIENCE)
    method = "HEAD" if url.scheme == "tcp" else call.method.upper()
    if method not in _METHODS:
        return HttpExchange("ok", "done", host.address, port, 405)
    path = host.proxied(url.scheme, port, url.path)
    began = monotonic()
    try:
        answer = connection.send(
            method,
            path + (f"?{url.query}" if url.query else ""),
            (),
            call.body.encode() if call.body else None,
            accept="*/*",
            headers=[(name, value) for name, value in call.headers.items() if _is_passed(name)],
            timeout=call.timeout or PATIENCE,
        )
    except ClusterError:
        return HttpExchange("timeout", "wait", host.address, port, seconds=monotonic() - began)
    except ValueError:  # a header that cannot be sent
        return HttpExchange("ok", "done", host.address, port, 400)
    return replace(_told(answer, host.address, port), seconds=monotonic() - began)


def _is_passed(name: str) -> bool:
    lowered = name.lower()
    return lowered not in _OWN and not lowered.startswith("impersonate-")


def _found(cluster: Cluster, host: str) -> _Host | None:
    """What a host means; None for what there is not."""
    labels = host.removesuffix(".").removesuffix(".svc.cluster.local").removesuffix(".svc").split(".")
    if len(labels) == 2 and not labels[1].isdigit():
        with suppress(StatusError):
            service = cluster.get("services", labels[0], labels[1])
            return _service(service)
        return None
    for service in cluster.list("services"):
        if service["spec"].get("clusterIP") == host:
            return _service(service)
    for pod in cluster.list("pods", field_selector=f"status.podIP={host}") if _is_address(host) else ():
        return _Host("pods", pod["metadata"]["namespace"], pod["metadata"]["name"], host)
    return None


def _is_address(host: str) -> bool:
    return host.replace(".", "").isdigit() or ":" in host


def _service(service: Manifest) -> _Host:
    metadata, spec = service["metadata"], service["spec"]
    ports = frozenset(port["port"] for port in spec.get("ports") or ())
    return _Host("services", metadata["namespace"], metadata["name"], spec.get("clusterIP", ""), ports)


def _within(path: str) -> str:
    """The path without segments that would lead out of the proxy to the rest of the API, which asks as administrator."""
    kept: list[str] = []
    for segment in path.split("/")[1:]:
        parts = unquote(segment).split("/")
        if parts == [".."]:
            kept = kept[:-1]
        elif not {".", ".."} & {*parts}:
            kept.append(quote(segment, safe="%:@!$&'()*+,;=~-._"))
    return "/" + "/".join(kept)


def _told(answer: Answer, address: str, port: int) -> HttpExchange:
    """The answer of the service, or why the proxy got none."""
    refusal = answer.refusal
    if refusal is not None and refusal.code in (404, 500, 502, 503, 504):
        text = refusal.message
        for words, outcome in _COMPLAINTS:
            # An application may answer with a Status of its own; only the proxy's begin like this.
            if words in text and (text.startswith(("error trying to reach", "no endpoints", "services "))):
                dialled = _DIALLED.search(text)
                where = dialled[1] if dialled else address
                if outcome == "no_such_host":
                    return HttpExchange(outcome, "lookup", "", port, problem=text)
                return HttpExchange(outcome, "connect", where, port, problem=text)
    # That one is the API server's, not the application's.
    headers = {name: value for name, value in answer.headers.items() if name.lower() != "audit-id"}
    body = answer.body.decode(errors="replace")
    return HttpExchange("ok", "done", address, port, answer.status, headers, body)
