"""Several applications in one server, each below a base path of its own (``/c/NAME``)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

_PREFIX = "/c/"


def base_path(name: str) -> str:
    """The base path of a name; the empty name is the root."""
    return f"{_PREFIX}{name}" if name else ""


def split(path: str) -> tuple[str, str]:
    """The name a path belongs to and the path below its base."""
    if not path.startswith(_PREFIX):
        return "", path
    name, slash, rest = path[len(_PREFIX) :].partition("/")
    return name, slash + rest


class Mounts:
    """ASGI 3: passes each connection to the application that is mounted where its path leads."""

    def __init__(self, on_start: Callable[[], None] | None = None, on_stop: Callable[[], None] | None = None):
        self._mounted: dict[str, Asgi] = {}
        self._on_start = on_start
        self._on_stop = on_stop

    def mount(self, name: str, application: Asgi) -> None:
        """Serve an application below ``/c/NAME``, or at the root for the empty name."""
        self._mounted[name] = application

    def unmount(self, name: str) -> None:
        """Serve it no more."""
        self._mounted.pop(name, None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event of the ASGI protocol."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        name, rest = split(scope["path"])
        application = self._mounted.get(name)
        if application is None:
            await _nothing_here(scope, receive, send)
            return
        await application({**scope, "path": rest or "/"} if name else scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                if self._on_start is not None:
                    self._on_start()
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                if self._on_stop is not None:
                    self._on_stop()
                await send({"type": "lifespan.shutdown.complete"})
                return


_NOT_FOUND = b"404 page not found\n"


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    """What Go's request multiplexer answers."""
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"x-content-type-options", b"nosniff"),
        (b"content-length", str(len(_NOT_FOUND)).encode()),
    ]
    kind = "http"
    if scope["type"] == "websocket":
        kind = "websocket.http"
        await receive()  # websocket.connect
    await send({"type": f"{kind}.response.start", "status": 404, "headers": headers})
    await send({"type": f"{kind}.response.body", "body": _NOT_FOUND})
