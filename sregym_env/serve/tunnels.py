"""Bytes to a port of a pod and back, as a forwarded connection carries them.

Inside the simulation there are requests, not packets: what the client sends is read as HTTP/1.1, asked
from within the pod's network, and the answer is written as HTTP/1.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from sregym_env.cluster.http import HTTP_REASONS
from sregym_env.kube.types import Manifest
from sregym_env.serve.hosted import Hosted
from sregym_env.sim.network import connections
from sregym_env.sim.network.addressing import NodeSource
from sregym_env.sim.processes import exchange
from sregym_env.sim.processes.exchange import Exchange
from sregym_env.sim.world.process import Process

LOCAL = "127.0.0.1"
TIMEOUT = 60.0

MAX_REQUEST = 4 * 1024 * 1024
"""The longest request that is forwarded, in bytes."""

_HOP_HEADERS = ("content-length", "transfer-encoding", "connection")


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes back for one request, after how many (virtual) seconds; None where the far end hangs up."""

    data: bytes | None
    seconds: float = 0.0


class Tunnel:
    """One forwarded connection."""

    def __init__(self, hosted: Hosted, pod: Manifest, port: int) -> None:
        self._hosted = hosted
        self._pod = pod
        self._port = port
        self._buffer = b""

    def refusal(self) -> str:
        """Why nothing can be forwarded to this port, in the runtime's words; empty if something listens."""
        leg = connections.connect(self._hosted.world, self._source(), LOCAL, self._port).legs[0]
        if leg.outcome == "ok":
            return ""
        metadata = self._pod["metadata"]
        sandbox = sha256(metadata["uid"].encode()).hexdigest()
        namespace = f"/var/run/netns/cni-{metadata['uid']}"
        return (
            f"error forwarding port {self._port} to pod {sandbox}, uid : failed to execute portforward in network "
            f'namespace "{namespace}": failed to connect to localhost:{self._port} inside namespace "{namespace}", '
            f"IPv4: dial tcp4 {LOCAL}:{self._port}: connect: connection refused IPv6 dial tcp6: address localhost: "
            "no suitable address found "
        )

    def _source(self) -> Process | NodeSource:
        """A process of the pod, whose network the connection is made in."""
        uid = self._pod["metadata"]["uid"]
        for key, process in self._hosted.world.processes.items():
            if key[0] == uid:
                return process
        return NodeSource(self._pod["spec"]["nodeName"])

    def feed(self, data: bytes) -> Iterator[Answer]:
        """The answers to the requests that these bytes complete."""
        self._buffer += data
        if len(self._buffer) > MAX_REQUEST:
            self._buffer = b""
            yield Answer(None)
            return
        while (taken := _take_request(self._buffer)) is not None:
            request, self._buffer = taken
            yield self._ask(request)

    def _ask(self, request: _HttpRequest) -> Answer:
        self._hosted.sync()
        world = self._hosted.world
        url = f"http://{LOCAL}:{self._port}{request.target}"
        body = request.body.decode(errors="replace")
        done = exchange.http_request(
            world, self._source(), url, request.method, request.headers, body, TIMEOUT
        )
        self._hosted.announce()
        if done.outcome != "ok" or done.response is None:
            return Answer(None, done.total_seconds)
        return Answer(_rendered(request.method, done), done.total_seconds)


@dataclass(frozen=True, slots=True)
class _HttpRequest:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


def _take_request(buffer: bytes) -> tuple[_HttpRequest, bytes] | None:
    """The first whole request of a buffer and what follows it; None while it is incomplete."""
    head, separator, rest = buffer.partition(b"\r\n\r\n")
    if not separator:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3:
        return _HttpRequest("GET", "/", {}, b""), b""
    headers = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    lengths = [value for name, value in headers.items() if name.lower() == "content-length"]
    length = int(lengths[0]) if lengths and lengths[0].isascii() and lengths[0].isdigit() else 0
    if len(rest) < length:
        return None
    return _HttpRequest(words[0], words[1], headers, rest[:length]), rest[length:]


def _rendered(method: str, done: Exchange) -> bytes:
    response = done.response
    assert response is not None
    body = response.body.encode()
    lines = [f"HTTP/1.1 {response.status} {HTTP_REASONS.get(response.status, 'Unknown')}"]
    lines += [f"{k}: {v}" for k, v in response.headers.items() if k.lower() not in _HOP_HEADERS]
    lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join(lines).encode("latin-1", errors="replace") + b"\r\n\r\n"
    return head if method == "HEAD" else head + body
