"""Streams over WebSocket: commands, main processes' input, forwarded ports.

The official client's own streams drop everything but the token from the request, and with it who is impersonated; so the
connections are opened here, in the channel protocol: every message is one byte for the channel and then its data.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import h11
import orjson
import websocket

from sregym_env.cluster.http import HttpCall, HttpExchange
from sregym_env.cluster.streams import ExecResult
from sregym_env.errors import ClusterError
from sregym_env.kube.status import StatusError, internal_error
from sregym_env.live.connection import TIMEOUT, Answer, Connection, Query

_PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_STDIN, _STDOUT, _STDERR, _ERROR, _CLOSE = 0, 1, 2, 3, 255
_CHUNK = 32 * 1024

QUIET_SECONDS = 0.3
"""How long a main process that was given input is listened to after its last word."""

_NOT_STARTED = 126
"""Exit code with which kubectl reports a command that the container runtime did not start."""


@contextmanager
def _opened(
    connection: Connection, path: str, query: Query, protocols: Sequence[str], timeout: float
) -> Iterator[websocket.WebSocket]:
    """An upgraded connection. Raises StatusError where the API server refuses it, ClusterError without an answer."""
    settings = connection.api.configuration
    options: dict[str, object] = {"cert_reqs": ssl.CERT_REQUIRED if settings.verify_ssl else ssl.CERT_NONE}
    named = {
        "ca_certs": settings.ssl_ca_cert,
        "certfile": settings.cert_file,
        "keyfile": settings.key_file,
        "server_hostname": settings.tls_server_name,
    }
    options.update((name, value) for name, value in named.items() if value)
    socket = websocket.WebSocket(sslopt=options, skip_utf8_validation=True)
    socket.settimeout(timeout)
    url = connection.url(path, query)
    try:
        socket.connect(  # type: ignore[no-untyped-call]
            url.replace("http", "ws", 1),
            header=[f"{name}: {value}" for name, value in connection.headers()],
            subprotocols=list(protocols),
            suppress_origin=True,
        )
        yield socket
    except websocket.WebSocketBadStatusException as error:
        refused = Answer(error.status_code, {}, error.resp_body or b"")
        text = (error.resp_body or b"").decode(errors="replace").strip()
        raise refused.refusal or StatusError(error.status_code, "", text) from error
    except (websocket.WebSocketException, OSError) as error:
        raise ClusterError(f"{path}: the connection failed: {error}") from error
    finally:
        socket.close(timeout=1)


def _heard(socket: websocket.WebSocket) -> Iterator[tuple[int, bytes]]:
    """(channel, data) of every message until the server ends the connection or is silent for too long."""
    while True:
        try:
            opcode, data = socket.recv_data()
        except (websocket.WebSocketConnectionClosedException, websocket.WebSocketTimeoutException):
            return
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            return
        if data and data[0] != _CLOSE:
            yield data[0], bytes(data[1:])


def _tell(socket: websocket.WebSocket, stdin: bytes, *, end: bool) -> None:
    for start in range(0, len(stdin), _CHUNK):
        socket.send_binary(bytes([_STDIN]) + stdin[start : start + _CHUNK])
    # Only the newer protocol knows how to say that there is no more.
    if end and socket.getsubprotocol() == _PROTOCOLS[0]:
        socket.send_binary(bytes([_CLOSE, _STDIN]))


def execute(
    connection: Connection, path: str, query: Query, stdin: bytes, limit: float = TIMEOUT
) -> ExecResult:
    """Run a command to its end; one that is silent for ``limit`` seconds is given up. Raises StatusError where the connection is refused or the container does not run."""
    said: dict[int, bytearray] = {_STDOUT: bytearray(), _STDERR: bytearray(), _ERROR: bytearray()}
    with _opened(connection, path, query, _PROTOCOLS, min(limit, TIMEOUT)) as socket:
        if stdin:
            _tell(socket, stdin, end=True)
        for channel, data in _heard(socket):
            if channel in said:
                said[channel] += data
    stdout, stderr = (said[channel].decode(errors="surrogateescape") for channel in (_STDOUT, _STDERR))
    code, complaint = _ended(bytes(said[_ERROR]))
    return ExecResult(stdout, stderr + complaint, code)


def _ended(final: bytes) -> tuple[int, str]:
    """Exit code and the container runtime's complaint, from the final ``Status``. Raises StatusError without a container."""
    if not final:
        return 1, "error: the connection ended before the command did\n"
    found = orjson.loads(final)
    if found.get("status") == "Success":
        return 0, ""
    if found.get("reason") == "NonZeroExitCode":
        return int(found["details"]["causes"][0]["message"]), ""
    text = str(found.get("message") or "")
    if "unable to upgrade connection" in text:
        raise internal_error(text.removeprefix("Internal error occurred: "))
    code = 127 if "not found" in text or "no such file" in text else _NOT_STARTED
    return code, f"error: {text}\n"


def feed(connection: Connection, path: str, query: Query, stdin: bytes, *, end: bool) -> str:
    """Give a main process input and listen until it has nothing more to say for a moment."""
    said = bytearray()
    with _opened(connection, path, query, _PROTOCOLS, TIMEOUT) as socket:
        _tell(socket, stdin, end=end)
        socket.settimeout(QUIET_SECONDS)
        for channel, data in _heard(socket):
            if channel in (_STDOUT, _STDERR):
                said += data
    return said.decode(errors="surrogateescape")


# --- forwarded ports ----------------------------------------------------------------------------------


def forward(connection: Connection, path: str, port: int, call: HttpCall) -> HttpExchange:
    """One HTTP request over a connection forwarded to a port. Raises StatusError where it is refused."""
    # Forwarded ports know only the older protocol.
    with _opened(connection, path, [("ports", str(port))], _PROTOCOLS[1:], call.timeout or TIMEOUT) as socket:
        http = h11.Connection(h11.CLIENT)
        body = call.body.encode()
        headers = [("Host", f"localhost:{port}"), *call.headers.items()]
        if body:
            headers.append(("Content-Length", str(len(body))))
        try:
            sent = http.send(h11.Request(method=call.method, target=call.url or "/", headers=headers))
            if body:
                sent = (sent or b"") + (http.send(h11.Data(data=body)) or b"")
            sent = (sent or b"") + (http.send(h11.EndOfMessage()) or b"")
        except h11.LocalProtocolError as error:
            raise StatusError(400, "BadRequest", f"no HTTP request: {error}") from error
        socket.send_binary(b"\0" + sent)
        return _exchanged(http, socket, port)


def _exchanged(http: h11.Connection, socket: websocket.WebSocket, port: int) -> HttpExchange:
    """The response, read until it is complete."""
    begun: h11.Response | None = None
    body = bytearray()
    opened: set[int] = set()
    for channel, data in _heard(socket):
        if channel not in opened:
            opened.add(channel)  # The first message of each channel is the port's number.
            continue
        if channel == 1:
            outcome = "refused" if "refused" in data.decode(errors="replace") else "reset"
            return HttpExchange(outcome, "connect", "127.0.0.1", port)  # type: ignore[arg-type]
        try:
            http.receive_data(data)
            while (event := http.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                if isinstance(event, h11.Response):
                    begun = event
                elif isinstance(event, h11.Data):
                    body += event.data
                elif isinstance(event, (h11.EndOfMessage, h11.ConnectionClosed)):
                    return _answered(begun, body, port)
        except h11.RemoteProtocolError:
            return HttpExchange("ok", "done", "127.0.0.1", port, body=data.decode(errors="replace"))
    if begun is None:
        return HttpExchange("timeout", "wait", "127.0.0.1", port)
    return _answered(begun, body, port)


def _answered(begun: h11.Response | None, body: bytearray, port: int) -> HttpExchange:
    if begun is None:
        return HttpExchange("reset", "wait", "127.0.0.1", port)
    headers = {name.decode(): value.decode() for name, value in begun.headers.raw_items()}
    text = body.decode(errors="replace")
    return HttpExchange("ok", "done", "127.0.0.1", port, begun.status_code, headers, text)
