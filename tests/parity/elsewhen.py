"""A world of a fixed time before a client of today: its API with every timestamp moved.

What is served to people is staged at their time. Recordings are of worlds whose time is fixed, and the real kubectl
computes ages with the clock on the wall: so here, and nowhere else, timestamps are moved by a whole number of seconds on
the way out, and back on the way in. The texts keep their lengths.
"""

from __future__ import annotations

import re
import time
from collections.abc import MutableMapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sregym_env.runtime.clock import SECOND
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.mounts import Asgi, Receive, Scope, Send

_ANYWHERE = re.compile(rb"\b(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?=[.,]\d|Z|[+-]00:00|\s|$)")


PAST = timedelta(days=60)
"""Older timestamps (of releases) are not moved."""


class Elsewhen:
    """ASGI 3: an application whose world is put where the client's clock is."""

    def __init__(self, application: Asgi, hosted: Hosted) -> None:
        self._application = application
        self._hosted = hosted
        self.offset = 0
        """Seconds by which the client is later."""

    def anchor(self) -> None:
        """Let the world's present be the client's from now on."""
        self.offset = int(time.time()) - self._hosted.world.now() // SECOND

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event of the ASGI protocol."""

        async def hearing() -> MutableMapping[str, Any]:
            return _moved(await receive(), -self.offset)

        async def saying(message: MutableMapping[str, Any]) -> None:
            await send(_moved(message, self.offset))

        if scope["type"] != "lifespan":
            query = _shifted(scope["query_string"].replace(b"%3A", b":"), -self.offset)
            scope = {**scope, "query_string": query}
        await self._application(scope, hearing, saying)


def _moved(message: MutableMapping[str, Any], seconds: int) -> MutableMapping[str, Any]:
    changed = {key: _shifted(message[key], seconds) for key in ("body", "bytes") if message.get(key)}
    return {**message, **changed} if changed else message


def _shifted(data: bytes, seconds: int) -> bytes:
    oldest = datetime.fromtimestamp(time.time() - max(seconds, 0), UTC) - PAST

    def move(found: re.Match[bytes]) -> bytes:
        text = found[0].decode()
        try:
            moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
        except ValueError:
            return found[0]
        if moment < oldest:
            return found[0]
        return (moment + timedelta(seconds=seconds)).strftime(f"%Y-%m-%d{text[10]}%H:%M:%S").encode()

    return _ANYWHERE.sub(move, data)
