"""Between ASGI events and whole requests and responses, with the limits of the API server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from sregym_env.serve.message import Request, Response, Stream, parse_query
from sregym_env.serve.mounts import Receive, Scope, Send

MAX_BODY = 3 * 1024 * 1024
"""The API server's limit on request bodies, in bytes."""

BODY_SECONDS = 60.0
"""How long a body may take to arrive: the API server's ``--request-timeout``."""

_log = logging.getLogger(__name__)


class Gone(Exception):
    """The client left before its request was complete."""


def headers(scope: Mapping[str, Any]) -> dict[str, str]:
    """Headers by lower-case name; repeated ones joined."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


async def read_request(scope: Scope, receive: Receive, limit: int = MAX_BODY) -> Request:
    """The whole request of an HTTP scope; of a body over the limit nothing more than that it is too large.

    Raises Gone, and TimeoutError for a body that does not arrive.
    """
    given = headers(scope)
    query = parse_query(scope["query_string"])
    declared = given.get("content-length", "")
    if declared.isdigit() and int(declared[:20]) > limit:
        return Request(scope["method"], scope["path"], query, given, too_large=True)
    async with asyncio.timeout(BODY_SECONDS):
        body = await _body(receive, limit)
    if body is None:
        return Request(scope["method"], scope["path"], query, given, too_large=True)
    return Request(scope["method"], scope["path"], query, given, body)


async def _body(receive: Receive, limit: int) -> bytes | None:
    """The body, None if it is longer than the limit."""
    chunks = []
    length = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        chunk = message.get("body", b"")
        length += len(chunk)
        if length > limit:
            return None
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)


async def send_response(response: Response, send: Send, audit_id: str = "") -> None:
    """Send a complete response."""
    fields = [(b"audit-id", audit_id.encode())] if audit_id else []
    fields += [
        (b"content-type", response.content_type.encode()),
        (b"content-length", str(len(response.body)).encode()),
        *((name.lower().encode(), _field_value(value)) for name, value in response.headers),
    ]
    if not any(name == b"cache-control" for name, _ in fields):
        fields.append((b"cache-control", b"no-cache, private"))
    await send({"type": "http.response.start", "status": response.status, "headers": fields})
    await send({"type": "http.response.body", "body": response.body})


def _field_value(text: str) -> bytes:
    """A header's value without what would end the header."""
    return "".join(c if c >= " " else " " for c in text).strip().encode()


async def send_stream(reply: Stream, receive: Receive, send: Send, audit_id: str) -> None:
    """Send a stream until it ends or the client leaves."""
    fields = [
        (b"audit-id", audit_id.encode()),
        (b"content-type", reply.content_type.encode()),
        (b"cache-control", b"no-cache, private"),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    sending = asyncio.create_task(_pump(reply, send))
    gone = asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait((sending, gone), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, gone):
            task.cancel()
        results = await asyncio.gather(sending, gone, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            _log.error("a stream failed", exc_info=result)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _pump(reply: Stream, send: Send) -> None:
    async for chunk in reply.chunks:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
