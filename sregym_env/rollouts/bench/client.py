"""A client that asks a served cluster for the same thing over and over, on one connection.

It knows nothing of the package, so that it starts quickly as a process of its own:
``python client.py HOST PORT TOKEN PATH ACCEPT NUMBER``.
"""

from __future__ import annotations

import socket
import ssl
import sys


def ask(host: str, port: int, token: str, path: str, accept: str, number: int) -> int:
    """Ask so often, each time for a whole answer; the bytes of the last answer's body.

    Raises ConnectionError where an answer is anything but 200.
    """
    # The certificate was made a moment ago, for this server; what is measured is the server.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    raw = socket.create_connection((host, port))
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    fields = (
        f"GET {path} HTTP/1.1",
        "Host: kubernetes",
        f"Authorization: Bearer {token}",
        f"Accept: {accept}",
    )
    request = "\r\n".join((*fields, "", "")).encode()
    size = 0
    with context.wrap_socket(raw) as connection:
        buffer = bytearray(4 * 1024 * 1024)
        for _ in range(number):
            connection.sendall(request)
            size = _answer(connection, buffer)
    return size


def _answer(connection: ssl.SSLSocket, buffer: bytearray) -> int:
    view = memoryview(buffer)
    got, body, size = 0, 0, 0
    while not body or got < body + size:
        taken = connection.recv_into(view[got:])
        if not taken:
            raise ConnectionError("the server ended the connection")
        got += taken
        end = -1 if body else buffer.find(b"\r\n\r\n", 0, got)
        if end >= 0:
            head = bytes(buffer[:end]).lower()
            if not head.startswith(b"http/1.1 200"):
                raise ConnectionError(head.decode("latin-1"))
            body, size = end + 4, int(head.split(b"content-length:")[1].split(b"\r\n")[0])
    return size


if __name__ == "__main__":
    server, port, token, path, accept, number = sys.argv[1:]
    print(ask(server, int(port), token, path, accept, int(number)))
