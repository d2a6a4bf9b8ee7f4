"""Clients that are slow, endless, many, or speak something else."""

from __future__ import annotations

import base64
import os
import socket
import ssl
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sregym_env.serve import connections, spdy, transport
from sregym_env.serve.server import ADMIN_CONFIG
from sregym_env.sim.embedded import EmbeddedWorld
from tests.serve.serving import Served, served

POD_QUERY = "command=cat&stdin=true&stdout=true"


@pytest.fixture(scope="module")
def place(settled: EmbeddedWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    patched = pytest.MonkeyPatch()
    patched.setattr(connections, "HEAD_SECONDS", 0.4)
    patched.setattr(transport, "BODY_SECONDS", 0.4)
    with served(settled.fork(), tmp_path_factory.mktemp("hostile"), "real") as found:
        yield found
    patched.undo()


def connect(place: Served) -> ssl.SSLSocket:
    context = ssl._create_unverified_context()
    made = context.wrap_socket(socket.create_connection(("127.0.0.1", place.server.port)))
    made.settimeout(60)
    return made


def head(place: Served, line: str, *more: str) -> bytes:
    token = place.server.tokens[ADMIN_CONFIG]
    fields = ["Host: x", f"Authorization: Bearer {token}", *more]
    return "\r\n".join((f"{line} HTTP/1.1", *fields, "", "")).encode()


def everything(made: ssl.SSLSocket) -> bytes:
    """What comes until the server ends the connection."""
    data = b""
    try:
        while chunk := made.recv(65536):
            data += chunk
    except (ConnectionError, ssl.SSLError):
        pass
    return data


def exchange(place: Served, *sent: bytes) -> bytes:
    with connect(place) as made:
        for data in sent:
            try:
                made.sendall(data)
            except OSError:  # refused before everything was said
                break
        made.settimeout(3)
        try:
            return everything(made)
        except TimeoutError:
            return b"the connection stays open"


@pytest.fixture(autouse=True)
def _alive_afterwards(place: Served) -> Iterator[None]:
    yield
    with connect(place) as made:
        made.sendall(head(place, "GET /readyz", "Connection: close"))
        assert everything(made).endswith(b"ok")


# --- bodies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunked", [False, True])
def test_a_hundred_megabytes_are_not_read(place: Served, chunked: bool) -> None:
    size = 100 * 1024 * 1024
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {size}"
    sent = 0
    with connect(place) as made:
        target = "POST /api/v1/namespaces/default/configmaps"
        made.sendall(head(place, target, length, "Content-Type: application/json"))
        piece = b"x" * 65536
        if chunked:
            piece = b"%x\r\n%b\r\n" % (len(piece), piece)
        try:
            while sent < size:
                made.sendall(piece)
                sent += len(piece)
        except OSError:
            pass
        answer = everything(made)
    assert answer.startswith(b"HTTP/1.1 413"), answer[:200]
    assert b"Request entity too large: limit is 3145728" in answer
    assert sent < size / 2


def test_a_body_that_trickles(place: Served) -> None:
    with connect(place) as made:
        made.sendall(head(place, "POST /api/v1/namespaces/default/configmaps", "Content-Length: 100"))
        began = time.monotonic()
        made.sendall(b"{")
        made.settimeout(60)
        answer = made.recv(65536) + made.recv(65536)
    assert answer.startswith(b"HTTP/1.1 504")
    assert b"Timeout: request did not complete within the allotted duration" in answer
    assert time.monotonic() - began < 20


def test_a_client_that_leaves_in_the_middle(place: Served) -> None:
    with connect(place) as made:
        made.sendall(
            head(place, "DELETE /api/v1/namespaces/hotel-reservation", "Content-Length: 100") + b"{}"
        )
    time.sleep(0.1)
    answer = exchange(place, head(place, "GET /api/v1/namespaces/hotel-reservation", "Connection: close"))
    assert b"deletionTimestamp" not in answer and b'"Active"' in answer


# --- headers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("begun", [b"", b"GET /api HTTP/1.1\r\nHost: x\r\nX-"])
def test_headers_that_never_end(place: Served, begun: bytes) -> None:
    began = time.monotonic()
    with connect(place) as made:
        if begun:
            made.sendall(begun)
        assert everything(made) == b""
    assert time.monotonic() - began < 20


def test_floods_of_headers(place: Served) -> None:
    flood = b"".join(b"X-%d: %d\r\n" % (n, n) for n in range(20_000))
    answer = exchange(place, b"GET / HTTP/1.1\r\nHost: x\r\n" + flood + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 431 Request Header Fields Too Large")


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 2\r\n\r\nxx", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n", 501),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: " + b"x" * 600_000 + b"\r\n\r\n", 431),
        (b"GET /" + b"x" * 600_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
    ],
)
def test_what_is_no_http(place: Served, request_: bytes, code: int) -> None:
    answer = exchange(place, request_)
    assert answer.startswith(b"HTTP/1.1 %d " % code), answer[:200]
    assert b"Connection: close" in answer and b"Traceback" not in answer


def test_both_lengths_smuggle_nothing(place: Served) -> None:
    inner = b"GET /api/v1/namespaces/kube-system/secrets HTTP/1.1\r\nHost: x\r\n\r\n"
    outer = head(
        place,
        "POST /version",
        f"Content-Length: {5 + len(inner)}",
        "Transfer-Encoding: chunked",
        "Connection: close",
    )
    answer = exchange(place, outer + b"0\r\n\r\n" + inner)
    assert answer.count(b"HTTP/1.1 ") == 1 and b"SecretList" not in answer


# --- upgrades -------------------------------------------------------------------------------------


def upgrade(place: Served, target: str, protocol: str = "v5.channel.k8s.io") -> tuple[ssl.SSLSocket, bytes]:
    made = connect(place)
    key = base64.b64encode(os.urandom(16)).decode()
    made.sendall(
        head(
            place,
            f"GET {target}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
            f"Sec-WebSocket-Protocol: {protocol}",
        )
    )
    answer = b""
    while b"\r\n\r\n" not in answer:
        chunk = made.recv(65536)
        if not chunk:
            break
        answer += chunk
    return made, answer


def frame(payload: bytes, opcode: int = 2, *, masked: bool = True, length: int | None = None) -> bytes:
    size = len(payload) if length is None else length
    bit = 0x80 if masked else 0
    first = bytes([0x80 | opcode])
    if size < 126:
        first += bytes([bit | size])
    elif size < 65536:
        first += bytes([bit | 126]) + struct.pack(">H", size)
    else:
        first += bytes([bit | 127]) + struct.pack(">Q", size)
    return first + (b"\0\0\0\0" if masked else b"") + payload


def pod(place: Served) -> str:
    store = place.server.hosted.world.store
    found = next(p for p in store.list("pods") if p["metadata"]["name"].startswith("frontend"))
    return f"/api/v1/namespaces/hotel-reservation/pods/{found['metadata']['name']}"


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("/api/v1/pods", 400),
        ("/nonsense", 404),
        ("/c/nothing/api", 404),
        ("/api/v1/namespaces/hotel-reservation/pods/nobody/exec?command=ls", 404),
        ("/api/v1/namespaces/hotel-reservation/pods/nobody/portforward?ports=80", 404),
    ],
)
def test_upgrades_of_what_cannot_be_upgraded(place: Served, target: str, code: int) -> None:
    made, answer = upgrade(place, target)
    made.close()
    assert answer.startswith(b"HTTP/1.1 %d " % code), answer[:200]


@pytest.mark.parametrize("ports", ["0", "65536", "x", "", "99999999999999", ",".join(["80"] * 200)])
def test_ports_that_are_none(place: Served, ports: str) -> None:
    made, answer = upgrade(place, f"{pod(place)}/portforward?ports={ports}", "portforward.k8s.io")
    made.close()
    assert answer.startswith(b"HTTP/1.1 400 "), answer[:200]


def test_other_protocols(place: Served) -> None:
    for protocol, code in (("h2c", 200), ("SPDY/3.1", 404), ("nonsense", 200)):
        line = head(place, "GET /version", "Connection: Upgrade, close", f"Upgrade: {protocol}")
        assert exchange(place, line).startswith(b"HTTP/1.1 %d " % code)


@pytest.mark.parametrize(
    "sent",
    [
        frame(b"", length=1 << 40),
        frame(b"\x00" + b"x" * 5_000_000),
        frame(b"\x00x", masked=False),
        frame(b"\x07hello"),
        frame(b""),
        frame(b"\xff\x07"),
        frame(b"\xff\xff", opcode=1),
        frame(b"{", opcode=1),
        frame(b"\x04{"),
        frame(b"\x04" + b"[" * 5000),
        b"\xff" * 64,
        frame(b"x" * 200, opcode=9),
    ],
)
def test_frames_that_make_no_sense(place: Served, sent: bytes) -> None:
    made, answer = upgrade(place, f"{pod(place)}/exec?{POD_QUERY}")
    assert answer.startswith(b"HTTP/1.1 101 "), answer[:300]
    with made:
        try:
            made.sendall(sent)
            made.sendall(frame(b"\xff\x00"))
            made.settimeout(0.3)
            rest = everything(made)
        except (OSError, TimeoutError):
            rest = b""
    assert b"Traceback" not in rest


def bomb() -> bytes:
    deflate = zlib.compressobj(9, zdict=spdy.dictionary())
    block = deflate.compress(b"\0" * 200_000_000) + deflate.flush()
    body = struct.pack(">II", 1, 0) + b"\0\0" + block
    return spdy.control(spdy.SYN_STREAM, body)


@pytest.mark.parametrize(
    "sent",
    [
        bomb(),
        spdy.control(spdy.SYN_STREAM, b""),
        spdy.control(spdy.SYN_STREAM, b"\0" * 10 + b"garbage"),
        struct.pack(">II", 1, 0xFFFFFF) + b"x" * 100,
        spdy.data(7, b"to nobody"),
        b"".join(
            spdy.Writer().headers(spdy.SYN_STREAM, n, {"streamtype": "data", "port": "x"}) for n in (1, 3)
        ),
        spdy.control(99, b"?"),
    ],
)
def test_spdy_that_makes_no_sense(place: Served, sent: bytes) -> None:
    made, answer = upgrade(place, f"{pod(place)}/portforward", "SPDY/3.1+portforward.k8s.io")
    assert answer.startswith(b"HTTP/1.1 101 ")
    began = time.monotonic()
    with made:
        try:
            made.sendall(frame(sent))
            made.sendall(frame(b"", opcode=8))
            everything(made)
        except OSError:
            pass
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    "sent",
    [
        bomb(),
        b"x" * 100_000,
        spdy.control(spdy.SYN_STREAM, b"\0" * 10 + b"garbage"),
        struct.pack(">II", 1, 0xFFFFFF) + b"x" * 100,
        spdy.data(7, b"to nobody") * 1000,
    ],
)
def test_spdy_on_the_raw_connection(place: Served, sent: bytes) -> None:
    began = time.monotonic()
    with connect(place) as made:
        line = f"POST {pod(place)}/exec?{POD_QUERY}"
        made.sendall(head(place, line, "Connection: Upgrade", "Upgrade: SPDY/3.1", "Content-Length: 0"))
        assert made.recv(4096).startswith(b"HTTP/1.1 101 ")
        try:
            made.sendall(sent)
            made.settimeout(1)
            everything(made)
        except OSError:
            pass
    assert time.monotonic() - began < 20


# --- many -----------------------------------------------------------------------------------------


def test_many_connections_and_no_more(place: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 40)
    monkeypatch.setattr(connections, "HEAD_SECONDS", 60.0)
    kept = [connect(place) for _ in range(30)]
    for made in kept:
        made.sendall(head(place, "GET /version"))
    assert all(made.recv(65536).startswith(b"HTTP/1.1 200") for made in kept)
    refused = 0
    for _ in range(30):
        try:
            made = connect(place)
            made.sendall(head(place, "GET /version"))
            refused += not made.recv(65536)
            kept.append(made)
        except OSError:
            refused += 1
    for made in kept:
        made.close()
    assert refused >= 15
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(place.server._servers[0].server_state.connections) > 5:
        time.sleep(0.02)


def test_files_are_nobodys_but_their_owners(place: Served) -> None:
    directory: Path = place.kubeconfig.parent
    assert place.kubeconfig.stat().st_mode & 0o077 == 0
    assert (directory / "server.key").stat().st_mode & 0o077 == 0
