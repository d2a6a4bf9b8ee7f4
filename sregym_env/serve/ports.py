"""Listening on a port, or saying what is in the way."""

from __future__ import annotations

import errno
import socket

from sregym_env.errors import UsageError

BACKLOG = 128
"""Connections that may wait to be accepted."""


class PortError(UsageError):
    """Nobody can listen on a port: another program does, or this user may not."""

    def __init__(self, host: str, port: int, why: str) -> None:
        super().__init__(f"cannot listen on {host}:{port}: {why}")
        self.port = port
        self.why = why


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 stands for any that is free. Raises PortError."""
    # asyncio turns off Nagle's algorithm only on sockets that say they are TCP.
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise PortError(host, port, _REASONS.get(error.errno or 0, error.strerror or str(error))) from None
    return made


_REASONS = {
    errno.EADDRINUSE: "the port is in use",
    errno.EACCES: "this user may not use the port",
    errno.EADDRNOTAVAIL: "this machine has no such address",
}
