"""``exec``, ``attach`` and ``port-forward`` of clients before kubectl 1.30: SPDY on the raw connection.

The streams of such a connection carry what the channels of a WebSocket carry. So the connection is handed to the
application as a WebSocket: frames become messages and messages become frames here, and nothing else knows of it.
"""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Iterable, MutableMapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from sregym_env.serve import spdy
from sregym_env.serve.forwarding import SPDY_PROTOCOL

UPGRADE = b"spdy/3.1"
VERSIONS = ("v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io")
"""Protocols of remote commands over SPDY that are spoken, best first; all end with a ``Status`` or a text."""
FORWARDING = "portforward.k8s.io"

CHANNELS = ("stdin", "stdout", "stderr", "error", "resize")
"""Stream types in the order of the WebSocket protocol's channel numbers."""
CLOSE = 255

STREAMS_SECONDS = 30.0
"""How long the client may take to open its streams (the kubelet's stream creation timeout)."""

MOST_WAITING = 64
"""Messages of a client that may wait to be read."""

MOST_STREAMS = 16
"""Streams that one remote command may open."""


class UpgradingProtocol(H11Protocol):
    """HTTP/1.1 that switches to SPDY where a client asks for it, and to WebSocket as ever."""

    def _should_upgrade(self) -> bool:
        return self._get_upgrade() == UPGRADE or super()._should_upgrade()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over to the protocol that was asked for."""
        if self._get_upgrade() != UPGRADE:
            super().handle_websocket_upgrade(event)
            return
        self.connections.discard(self)
        protocol = SpdyConnection(self.app, self.scope, self.connections)
        protocol.connection_made(self.transport)
        self.transport.set_protocol(protocol)
        task = self.loop.create_task(protocol.run())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        # h11 may have read beyond the request: what is left over is the new protocol's.
        while self.conn.next_event() not in (h11.NEED_DATA, h11.PAUSED):
            pass
        rest, _ = self.conn.trailing_data
        if rest:
            protocol.data_received(rest)


class SpdyConnection(asyncio.Protocol):
    """One upgraded connection, as the application's WebSocket."""

    def __init__(self, app: Any, scope: Any, connections: set[Any]) -> None:
        self._app = app
        self._connections = connections
        self._raw = str(scope["path"]).endswith("/portforward")
        offered = _header(scope["headers"], b"x-stream-protocol-version")
        wanted = (FORWARDING,) if self._raw else VERSIONS
        self._version = next((known for known in wanted if known in offered), "")
        self._scope = {
            **scope,
            "type": "websocket",
            "subprotocols": [SPDY_PROTOCOL if self._raw else "v5.channel.k8s.io"],
            "extensions": {"websocket.http.response": {}},
        }
        self._inbox: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()
        self._inbox.put_nowait({"type": "websocket.connect"})
        self._transport: asyncio.Transport | None = None
        self._reader = spdy.Reader()
        self._writer = spdy.Writer()
        self._streams: dict[str, int] = {}
        self._kinds: dict[int, str] = {}
        self._missing = set() if self._raw else _expected(scope["query_string"].decode("latin-1"))
        """Streams that the client is still to open."""
        self._opened = asyncio.Event()
        self._status = 0
        self._paused = False

    # --- the connection ---------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over a connection."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._connections.discard(self)
        self._inbox.put_nowait({"type": "websocket.disconnect", "code": 1006})

    def shutdown(self) -> None:
        """The server ends."""
        self._close()

    def data_received(self, data: bytes) -> None:
        """Bytes from the client, who waits where it says more than is listened to."""
        if self._inbox.qsize() >= MOST_WAITING and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        if self._raw:
            self._inbox.put_nowait({"type": "websocket.receive", "bytes": data})
            return
        try:
            for frame in self._reader.feed(data):
                self._frame(frame)
        except (ValueError, struct.error, zlib.error):
            self._close()

    async def run(self) -> None:
        """Serve the connection to its end."""
        try:
            await self._app(self._scope, self._receive, self._send)
        except TimeoutError:
            return
        finally:
            self._close()

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    # --- from the client --------------------------------------------------------------------------

    async def _receive(self) -> MutableMapping[str, Any]:
        message = await self._inbox.get()
        if self._paused and self._inbox.qsize() < MOST_WAITING // 2 and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return message

    def _frame(self, frame: spdy.Frame) -> None:
        if frame.type == spdy.SYN_STREAM:
            self._open(frame)
        elif frame.type == spdy.PING:
            self._write(spdy.control(spdy.PING, frame.data))
        elif frame.type == 0 and frame.stream in self._kinds:
            kind = self._kinds[frame.stream]
            if frame.data and kind in ("stdin", "resize"):
                self._hear(bytes([CHANNELS.index(kind)]) + frame.data)
            if frame.fin and kind == "stdin":
                self._hear(bytes([CLOSE, 0]))

    def _open(self, frame: spdy.Frame) -> None:
        kind = frame.headers.get("streamtype", "")
        if len(self._kinds) >= MOST_STREAMS:
            raise ValueError("too many streams")
        self._streams[kind], self._kinds[frame.stream] = frame.stream, kind
        self._write(self._writer.headers(spdy.SYN_REPLY, frame.stream, {}))
        if frame.fin and kind == "stdin":
            self._hear(bytes([CLOSE, 0]))
        self._missing.discard(kind)
        if not self._missing:
            self._opened.set()

    def _hear(self, message: bytes) -> None:
        self._inbox.put_nowait({"type": "websocket.receive", "bytes": message})

    # --- to the client ----------------------------------------------------------------------------

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        kind = message["type"]
        if kind == "websocket.accept":
            lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: SPDY/3.1"]
            if self._version:
                lines.append(f"X-Stream-Protocol-Version: {self._version}")
            self._write(("\r\n".join(lines) + "\r\n\r\n").encode())
            if self._missing:
                await asyncio.wait_for(self._opened.wait(), STREAMS_SECONDS)
        elif kind == "websocket.send":
            data = message.get("bytes") or b""
            if self._raw:
                self._write(data)
            elif data and data[0] < len(CHANNELS):
                self._say(CHANNELS[data[0]], data[1:])
        elif kind == "websocket.close":
            await self._finish()
        elif kind == "websocket.http.response.start":
            self._status = int(message["status"])
        elif kind == "websocket.http.response.body":
            self._refuse(message.get("body") or b"")

    def _say(self, kind: str, data: bytes) -> None:
        stream = self._streams.get(kind)
        if stream is not None:
            self._write(spdy.data(stream, data, fin=kind == "error"))

    async def _finish(self) -> None:
        """End every stream that the server writes to; the client closes the connection then."""
        for kind in ("stdout", "stderr"):
            if kind in self._streams:
                self._write(spdy.data(self._streams[kind], b"", fin=True))
        # The client reads the status and hangs up; who does not is hung up on.
        try:
            async with asyncio.timeout(1.0):
                while (await self._inbox.get())["type"] != "websocket.disconnect":
                    pass
        except TimeoutError:
            return

    def _refuse(self, body: bytes) -> None:
        phrase = HTTPStatus(self._status).phrase
        head = (
            f"HTTP/1.1 {self._status} {phrase}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self._write(head.encode() + body)


def _expected(query: str) -> set[str]:
    """The streams that a client opens for what it asks."""
    asked = parse_qs(query)
    return {"error", *(kind for kind in CHANNELS[:3] if asked.get(kind, ["false"])[0] in ("true", "1"))}


def _header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[str]:
    """The values of a header that may be repeated or hold a list."""
    values = [value.decode("latin-1") for key, value in headers if key == name]
    return [part.strip() for value in values for part in value.split(",")]
