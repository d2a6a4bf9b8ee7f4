"""One HTTP request and what became of it, as a client sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal

HTTP_REASONS: Mapping[int, str] = {status.value: status.phrase for status in HTTPStatus}
"""Reason phrases by status code (RFC 9110)."""


@dataclass(frozen=True, slots=True)
class HttpCall:
    """One HTTP request to make, or what would come before it: a name to look up, a connection to open."""

    url: str
    """Of the scheme ``http`` or ``https``; ``tcp://host:port`` only opens a connection, and types the body; ``dns:///name`` only looks a name
    up through the machine's search path, and ``dns://server/name`` asks one server for exactly that name (RFC 4501)."""
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    timeout: float = 0.0
    """Seconds for the whole of it; 0 for no limit."""
    insecure: bool = False
    """Whether a server over https may present any certificate."""
    authorities: str = ""
    """Certificates (PEM) that must vouch for a server over https; empty for those that machines trust."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """What became of a question about a name's addresses."""

    rcode: str
    """``NOERROR``, ``NXDOMAIN``, ``SERVFAIL``, ``REFUSED``; ``TIMEOUT`` where no server answered."""
    addresses: tuple[str, ...] = ()
    canonical: str = ""
    """The name that has them, at the end of all aliases and search paths."""
    server: str = ""
    """Who was asked."""
    seconds: float = 0.0
    by: str = ""
    """``zone`` where the server has it from a zone of its own, ``forward`` where from another server."""


@dataclass(frozen=True, slots=True)
class HttpExchange:
    """What became of one HTTP request: the answer, or how far it got and why it failed."""

    outcome: Literal["ok", "no_such_host", "dns_timeout", "no_port", "refused", "timeout", "reset", "tls"]
    phase: Literal["lookup", "connect", "handshake", "wait", "done"]
    address: str
    """IP address it was sent to, empty if the name did not resolve."""
    port: int
    status: int = 0
    """HTTP status; 0 where the far end did not speak HTTP."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    seconds: float = 0.0
    """How long it took in all."""
    connect_seconds: float = 0.0
    lookup_seconds: float = 0.0
    problem: str = ""
    """For the outcome ``tls``: why there is no secure connection, as curl words it."""
    certificate: str = ""
    """The chain (PEM) that a server over https presented, where that is known."""
    lookup: Lookup | None = None
    """What was answered about a name that was only looked up."""
