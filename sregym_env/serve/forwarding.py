"""``port-forward`` over WebSocket: kubectl's SPDY frames and the channel pairs of the client libraries."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from sregym_env.kube import status
from sregym_env.kube.types import Manifest
from sregym_env.serve import spdy
from sregym_env.serve.asking import Ask
from sregym_env.serve.mounts import Receive, Send
from sregym_env.serve.tunnels import Tunnel

SPDY_PROTOCOL = "SPDY/3.1+portforward.k8s.io"
CHANNEL_PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io", "portforward.k8s.io")
LONGEST_WAIT = 60.0

MAX_PORTS = 100
"""Ports of one connection: channels are numbered by a byte."""

MAX_STREAMS = 1000
"""Streams that are open at once in one connection."""


async def serve(ask: Ask, offered: Sequence[str], receive: Receive, send: Send) -> None:
    """Answer an upgraded ``portforward`` request. Raises Forbidden, NotFound, BadRequest before accepting."""
    ask.demand("create", "portforward")
    ask.cluster.connecting(ask.where.namespace or "", ask.where.name, "portforward")
    pod = ask.admin.get("pods", ask.where.name, ask.where.namespace)
    if pod.get("status", {}).get("phase") != "Running":
        phase = pod.get("status", {}).get("phase", "")
        raise status.bad_request(f"pod not running. Current status={phase}")
    ask.cluster.dialled(pod)
    if SPDY_PROTOCOL in offered:
        await send({"type": "websocket.accept", "subprotocol": SPDY_PROTOCOL})
        await _Multiplexed(ask, pod, send).run(receive)
        return
    protocol = next((known for known in CHANNEL_PROTOCOLS if known in offered), None)
    ports = [
        int(port)
        for value in ask.request.query.get("ports", ())
        for port in value.split(",")
        if port.isascii() and port.isdigit() and len(port) < 10
    ]
    if not ports:
        raise status.bad_request('query parameter "ports" is required')
    for port in ports:
        if not 0 < port < 65536:
            raise status.bad_request(f'Unable to parse "{port}" as a port: value out of range')
    if len(ports) > MAX_PORTS:
        raise status.bad_request(f"at most {MAX_PORTS} ports can be forwarded at once")
    await send({"type": "websocket.accept", "subprotocol": protocol})
    await _channels(ask, pod, ports, receive, send)


async def _pause(ask: Ask, seconds: float) -> None:
    """Wait as long as the answer takes, where time passes by itself."""
    if ask.hosted.pace.mode == "real":
        await asyncio.sleep(min(seconds / max(ask.hosted.pace.factor, 0.001), LONGEST_WAIT))


# --- kubectl: SPDY --------------------------------------------------------------------------------


@dataclass(slots=True)
class _Pair:
    """The two streams of one forwarded connection."""

    id: str = ""
    error: int = 0
    data: int = 0
    tunnel: Tunnel | None = None


class _Multiplexed:
    """Many forwarded connections in one WebSocket."""

    def __init__(self, ask: Ask, pod: Manifest, send: Send) -> None:
        self._ask = ask
        self._pod = pod
        self._send_message = send
        self._writer = spdy.Writer()
        self._pairs: dict[str, _Pair] = {}
        self._by_stream: dict[int, _Pair] = {}

    async def run(self, receive: Receive) -> None:
        """Until the client leaves."""
        reader = spdy.Reader()
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return
            try:
                for frame in reader.feed(message.get("bytes") or b""):
                    await self._frame(frame)
            except (ValueError, struct.error, zlib.error):
                await self._send_message({"type": "websocket.close", "code": 1002})
                return

    async def _send(self, data: bytes) -> None:
        await self._send_message({"type": "websocket.send", "bytes": data})

    async def _frame(self, frame: spdy.Frame) -> None:
        if frame.type == spdy.SYN_STREAM:
            await self._open(frame)
        elif frame.type == 0:
            await self._data(frame)
        elif frame.type == spdy.RST_STREAM:
            self._forget(frame.stream)
        elif frame.type == spdy.PING:
            await self._send(spdy.control(spdy.PING, frame.data))

    async def _open(self, frame: spdy.Frame) -> None:
        if len(self._by_stream) >= MAX_STREAMS:
            raise ValueError("too many streams")
        name = frame.headers.get("requestid", "")
        pair = self._pairs.setdefault(name, _Pair(name))
        self._by_stream[frame.stream] = pair
        await self._send(self._writer.headers(spdy.SYN_REPLY, frame.stream, {}))
        if frame.headers.get("streamtype") == "error":
            pair.error = frame.stream
            return
        pair.data = frame.stream
        tunnel = Tunnel(self._ask.hosted, self._pod, int(frame.headers.get("port", "0")))
        refused = tunnel.refusal()
        if refused:
            await self._end(pair, refused)
        else:
            pair.tunnel = tunnel

    async def _data(self, frame: spdy.Frame) -> None:
        pair = self._by_stream.get(frame.stream)
        if pair is None or frame.stream != pair.data or pair.tunnel is None:
            return
        for answer in pair.tunnel.feed(frame.data):
            await _pause(self._ask, answer.seconds)
            if answer.data is None:
                await self._end(pair)
                return
            await self._send(spdy.data(pair.data, answer.data))
        if frame.fin:
            await self._end(pair)

    async def _end(self, pair: _Pair, error: str = "") -> None:
        pair.tunnel = None
        if pair.error:
            await self._send(spdy.data(pair.error, error.encode(), fin=True))
        await self._send(spdy.data(pair.data, b"", fin=True))
        self._pairs.pop(pair.id, None)
        for stream in (pair.error, pair.data):
            self._by_stream.pop(stream, None)

    def _forget(self, stream: int) -> None:
        pair = self._by_stream.pop(stream, None)
        if pair is not None:
            pair.tunnel = None


# --- client libraries: channel pairs --------------------------------------------------------------


async def _channels(ask: Ask, pod: Manifest, ports: list[int], receive: Receive, send: Send) -> None:
    """Two channels per port: data on the even, errors on the odd; each begins with the port's number."""
    tunnels: list[Tunnel | None] = []
    for index, port in enumerate(ports):
        number = struct.pack("<H", port)
        for channel in (2 * index, 2 * index + 1):
            await send({"type": "websocket.send", "bytes": bytes([channel]) + number})
        tunnel = Tunnel(ask.hosted, pod, port)
        refused = tunnel.refusal()
        if refused:
            await send({"type": "websocket.send", "bytes": bytes([2 * index + 1]) + refused.encode()})
        tunnels.append(None if refused else tunnel)
    while any(tunnels):
        message = await receive()
        if message["type"] != "websocket.receive":
            return
        data = message.get("bytes")
        data = data if data is not None else (message.get("text") or "").encode()
        index = data[0] // 2 if data and data[0] % 2 == 0 else len(tunnels)
        found = tunnels[index] if index < len(tunnels) else None
        for answer in found.feed(data[1:]) if found is not None else ():
            await _pause(ask, answer.seconds)
            if answer.data is None:
                tunnels[index] = None
                break
            await send({"type": "websocket.send", "bytes": bytes([2 * index]) + answer.data})
    await send({"type": "websocket.close", "code": 1000})
