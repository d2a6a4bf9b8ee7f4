"""Load on a served cluster: many writers, many watches, many commands at once, each checked.

The clients here speak just enough HTTP/1.1 and WebSocket to be fast; the server runs in a thread of its own.
"""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
import struct
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from sregym_env.serve.server import ADMIN_CONFIG, EVERYTHING, Server, Settings
from sregym_env.sim.embedded import EmbeddedWorld

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"

_SMALL = 4096
"""Receive buffer of a slow client, in bytes."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a served cluster is and who asks."""

    host: str
    port: int
    token: str
    namespace: str

    def head(self, method: str, path: str, *more: str) -> bytes:
        """The head of a request."""
        fields = (
            f"{method} {path} HTTP/1.1",
            "Host: kubernetes",
            f"Authorization: Bearer {self.token}",
            *more,
        )
        return "\r\n".join((*fields, "", "")).encode()


@contextmanager
def serving(world: EmbeddedWorld, namespace: str) -> Iterator[Target]:
    """Serve a world in a thread, in real time."""
    with tempfile.TemporaryDirectory(prefix="sregym-load-") as made:
        server = Server(world, Settings(Path(made), EVERYTHING))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.005)
        try:
            yield Target("127.0.0.1", server.port, server.tokens[ADMIN_CONFIG], namespace)
        finally:
            server.stop()
            thread.join(5)


def _context() -> ssl.SSLContext:
    # The certificate was made a moment ago, for this process; what is measured is the server.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


# --- watches, writers and commands at once --------------------------------------------------------


Event = tuple[str, str, str]
"""Type, name and resource version."""

_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]

BEGIN_SECONDS = 120.0
"""How long a watch may take to begin, on a machine that is busy with other things."""

SLOW_SECONDS = 1.0
"""How long a slow client reads nothing at all."""


@dataclass(slots=True)
class Soaked:
    """What came of it."""

    expected: list[Event] = field(default_factory=list)
    watched: list[tuple[str, list[Event]]] = field(default_factory=list)
    """The kind of each watch and what it saw."""
    executed: list[tuple[int, int, bytes]] = field(default_factory=list)
    """Number, exit code and output of each command."""
    seconds: float = 0.0

    def losses(self) -> list[str]:
        """What a watch or a command should have got and did not, or the reverse."""
        found = []
        for number, (kind, seen) in enumerate(self.watched):
            due = [e for e in self.expected if kind != "filtered" or _is_even(e[1])]
            if kind == "table":
                due = [(t, n, "") for t, n, _ in due]
                seen = [(t, n, "") for t, n, _ in seen]
            if seen != due:
                at = next((i for i, (a, b) in enumerate(zip(seen, due, strict=False)) if a != b), len(seen))
                found.append(
                    f"watch {number} ({kind}): {len(seen)} of {len(due)} events, first difference at {at}"
                )
        for number, code, output in self.executed:
            if (code, output) != (number % 7, sequence(number)):
                found.append(f"command {number}: exit code {code}, {len(output)} bytes")
        return found


def sequence(number: int) -> bytes:
    """What the command of a number prints."""
    return b"".join(b"%d\n" % n for n in range(1, 3000 + number + 1))


def soak(
    world: EmbeddedWorld, target: Target, pod: str, *, watches: int = 50, execs: int = 20, rounds: int = 30
) -> Soaked:
    """Run writers while watches of four kinds look on and commands run; what each of them got."""
    return asyncio.run(_soak(world, target, pod, watches, execs, rounds))


async def _soak(
    world: EmbeddedWorld, target: Target, pod: str, watches: int, execs: int, rounds: int
) -> Soaked:
    began = time.perf_counter()
    found = Soaked()
    start = world.store.revision
    kinds = [("plain", "slow", "filtered", "table")[n % 4] for n in range(watches)]
    ready = [asyncio.Event() for _ in kinds]
    looking = [
        asyncio.create_task(_watch(target, kind, start, begun))
        for kind, begun in zip(kinds, ready, strict=True)
    ]
    for begun in ready:
        await asyncio.wait_for(begun.wait(), BEGIN_SECONDS)
    writers = [asyncio.create_task(_write(target, writer, rounds)) for writer in range(4)]
    commands = [asyncio.create_task(_exec(target, pod, number)) for number in range(execs)]
    found.executed = list(await asyncio.gather(*commands))
    await asyncio.gather(*writers)
    last = {"metadata": {"name": "the-end-0", "labels": {"parity": "even"}}}
    await _request(target, await _connect(target), "POST", "configmaps", last)
    found.watched = [(kind, seen) for kind, seen in zip(kinds, await asyncio.gather(*looking), strict=True)]
    found.expected = _committed(world, target.namespace, start)
    found.seconds = time.perf_counter() - began
    return found


def _committed(world: EmbeddedWorld, namespace: str, start: int) -> list[Event]:
    """What was written to ConfigMaps of the namespace, oldest first."""
    changes: list[Event] = []
    for change in world.store.changes.newest_first():
        if change.revision <= start:
            break
        if change.resource == "configmaps" and change.key[0] == namespace:
            changes.append((change.type, change.key[1], str(change.revision)))
    return changes[::-1]


def _is_even(name: str) -> bool:
    return int(name.rpartition("-")[2]) % 2 == 0


async def _connect(target: Target, small: bool = False) -> _Connection:
    raw = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if small:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL)
    raw.setblocking(False)
    await asyncio.get_running_loop().sock_connect(raw, (target.host, target.port))
    return await asyncio.open_connection(
        sock=raw, ssl=_context(), server_hostname=target.host, limit=_SMALL if small else 2**20
    )


async def _answered(reader: asyncio.StreamReader) -> bytes:
    return await reader.readuntil(b"\r\n\r\n")


async def _write(target: Target, writer: int, rounds: int) -> None:
    """Create, change and delete ConfigMaps."""
    connection = await _connect(target)
    for number in range(rounds):
        name = f"load-{writer}-{number}"
        labels = {"parity": "even" if number % 2 == 0 else "odd"}
        body: dict[str, Any] = {"metadata": {"name": name, "labels": labels}, "data": {"text": "x" * 500}}
        await _request(target, connection, "POST", "configmaps", body)
        for value in range(3):
            body["data"] = {"text": "x" * 500, "value": str(value)}
            await _request(target, connection, "PUT", f"configmaps/{name}", body)
        if number % 3 == 0:
            await _request(target, connection, "DELETE", f"configmaps/{name}", {})
    connection[1].close()


async def _request(
    target: Target, connection: _Connection, method: str, path: str, body: dict[str, Any]
) -> None:
    raw = orjson.dumps(body)
    reader, writer = connection
    more = (f"Content-Length: {len(raw)}", "Content-Type: application/json")
    writer.write(target.head(method, f"/api/v1/namespaces/{target.namespace}/{path}", *more) + raw)
    head = (await _answered(reader)).lower()
    answer = await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
    if not head.startswith((b"http/1.1 200", b"http/1.1 201")):
        raise ConnectionError(answer.decode(errors="replace"))


async def _watch(target: Target, kind: str, start: int, begun: asyncio.Event) -> list[Event]:
    """The events of one watch until the last object comes."""
    selector = "&labelSelector=parity%3Deven" if kind == "filtered" else ""
    path = f"/api/v1/namespaces/{target.namespace}/configmaps?watch=1&resourceVersion={start}{selector}"
    reader, writer = await _connect(target, small=kind == "slow")
    writer.write(target.head("GET", path, f"Accept: {TABLE if kind == 'table' else 'application/json'}"))
    head = await _answered(reader)
    if not head.startswith(b"HTTP/1.1 200"):
        raise ConnectionError(head.decode("latin-1"))
    begun.set()
    seen: list[Event] = []
    async for line in _lines(reader, slow=kind == "slow"):
        event = orjson.loads(line)
        obj = event["object"]
        if event["type"] not in ("ADDED", "MODIFIED", "DELETED"):
            raise ConnectionError(line.decode())
        metadata = obj["rows"][0]["object"]["metadata"] if kind == "table" else obj["metadata"]
        seen.append((event["type"], metadata["name"], metadata["resourceVersion"]))
        if metadata["name"] == "the-end-0":
            break
    writer.close()
    return seen


async def _lines(reader: asyncio.StreamReader, *, slow: bool) -> AsyncIterator[bytes]:
    """The lines of a chunked body; a slow client rests between chunks."""
    rest = b""
    if slow:
        await asyncio.sleep(SLOW_SECONDS)
    while True:
        size = int((await reader.readline()).strip() or b"0", 16)
        if not size:
            return
        rest += await reader.readexactly(size)
        await reader.readexactly(2)
        *lines, rest = rest.split(b"\n")
        for line in lines:
            if line:
                yield line
        if slow:
            await asyncio.sleep(0.001)


async def _exec(target: Target, pod: str, number: int) -> tuple[int, int, bytes]:
    """Run a command in a pod over WebSocket: its number, exit code and standard output."""
    script = f"seq%201%20{3000 + number};exit%20{number % 7}"
    path = (
        f"/api/v1/namespaces/{target.namespace}/pods/{pod}/exec?stdout=true&stderr=true&command=sh&command=-c"
        f"&command={script}"
    )
    reader, writer = await _connect(target)
    key = base64.b64encode(b"%16d" % number).decode()
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    more = (f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Protocol: v5.channel.k8s.io")
    writer.write(target.head("GET", path, *upgrade, *more))
    head = await _answered(reader)
    if not head.startswith(b"HTTP/1.1 101"):
        raise ConnectionError((head + await reader.read(2000)).decode(errors="replace"))
    output, ended = b"", b""
    while True:
        opcode, payload = await _frame(reader)
        if opcode == 8:
            break
        if opcode == 2 and payload[:1] == b"\x01":
            output += payload[1:]
        elif opcode == 2 and payload[:1] == b"\x03":
            ended = payload[1:]
    writer.close()
    return number, _exit_code(ended), output


async def _frame(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    first, second = await reader.readexactly(2)
    size = second & 0x7F
    if size == 126:
        size = struct.unpack(">H", await reader.readexactly(2))[0]
    elif size == 127:
        size = struct.unpack(">Q", await reader.readexactly(8))[0]
    return first & 0x0F, await reader.readexactly(size)


def _exit_code(raw: bytes) -> int:
    status = orjson.loads(raw)
    if status["status"] == "Success":
        return 0
    causes = (status.get("details") or {}).get("causes") or ()
    return next((int(c["message"]) for c in causes if c.get("reason") == "ExitCode"), -1)
