"""The ASGI application: from bytes on a connection to the API, and back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import orjson

from sregym_env.cluster.api import User
from sregym_env.kube import status
from sregym_env.serve import access, discovery, openapi, paths, rest, upgrades
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.message import (
    Reply,
    Request,
    Response,
    Stream,
    json_response,
    parse_query,
    text_response,
)
from sregym_env.sim.cluster import VERSION

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

TICK_SECONDS = 0.2
"""How often virtual time is brought up to the wall clock while nobody asks anything."""

MAX_BODY = 3 * 1024 * 1024
"""The API server's limit on request bodies."""

_log = logging.getLogger(__name__)


class Application:
    """ASGI 3: one served cluster."""

    def __init__(self, hosted: Hosted) -> None:
        self.hosted = hosted
        self._ticker: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event of the ASGI protocol."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)

    # --- connection kinds -------------------------------------------------------------------------

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self._ticker = asyncio.create_task(self._tick())
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    def close(self) -> None:
        """End every stream and stop the clock."""
        self.hosted.closing = True
        self.hosted.bell.ring()
        if self._ticker is not None:
            self._ticker.cancel()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self.hosted.sync()

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply = self.respond(await read_request(scope, receive))
        if isinstance(reply, Stream):
            await self._stream(reply, receive, send)
        else:
            await send_response(reply, send)

    async def _stream(self, reply: Stream, receive: Receive, send: Send) -> None:
        headers = [
            (b"content-type", reply.content_type.encode()),
            (b"cache-control", b"no-cache, private"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        sending = asyncio.create_task(_pump(reply, send))
        gone = asyncio.create_task(_disconnected(receive))
        await asyncio.wait((sending, gone), return_when=asyncio.FIRST_COMPLETED)
        for task in (sending, gone):
            task.cancel()
        results = await asyncio.gather(sending, gone, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                _log.error("a stream failed", exc_info=result)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request("GET", scope["path"], parse_query(scope["query_string"]), _headers(scope))
        await receive()  # websocket.connect
        self.hosted.sync()
        try:
            user = access.identify(self.hosted.world, self.hosted.identities, request)
            where = paths.parse(request.path)
            if where is None:
                raise status.unknown_path()
            ask = rest.Ask(self.hosted, self.hosted.cluster(user), where, request)
            await upgrades.serve(ask, scope.get("subprotocols", []), receive, send)
        except status.StatusError as error:
            await upgrades.refuse(error, scope, send)
        finally:
            self.hosted.announce()

    # --- requests ---------------------------------------------------------------------------------

    def respond(self, request: Request) -> Reply:
        """Answer a request. Never raises for what the client does wrong."""
        self.hosted.sync()
        try:
            return self._route(request)
        except status.StatusError as error:
            return refusal(error)
        except Exception as error:  # one failing request must not take the cluster down; it is logged loudly
            _log.exception("%s %s failed", request.method, request.path)
            return refusal(status.internal_error(f"{type(error).__name__}: {error}"))
        finally:
            self.hosted.announce()

    def _route(self, request: Request) -> Reply:
        if len(request.body) > MAX_BODY:
            text = f"Request entity too large: limit is {MAX_BODY}"
            raise status.StatusError(413, "RequestEntityTooLarge", text)
        user = access.identify(self.hosted.world, self.hosted.identities, request)
        where = paths.parse(request.path)
        if where is not None and request.method == "GET" and not request.flag("watch"):
            self.hosted.pace.asked(f"{request.path}?{sorted(request.query.items())}")
        elif request.method != "GET":
            self.hosted.pace.acted()
        if where is not None:
            return rest.handle(rest.Ask(self.hosted, self.hosted.cluster(user), where, request))
        return self._document(request, user)

    def _document(self, request: Request, user: User) -> Response:
        """What is not a resource: version, health, discovery, schemas."""
        path = request.path.rstrip("/") or "/"
        public = path.startswith(access.PUBLIC)
        if not public and "system:authenticated" not in user.groups:
            raise status.forbidden_path(user.name, request.method.lower(), request.path)
        if path == "/version":
            return Response(200, orjson.dumps(dict(VERSION), option=orjson.OPT_INDENT_2))
        if path.startswith(("/healthz", "/livez", "/readyz")):
            return text_response("ok")
        found = self._discovered(request, path)
        if found is None:
            raise status.unknown_path()
        return found

    def _discovered(self, request: Request, path: str) -> Response | None:
        aggregated = discovery.aggregated_version(request.header("accept"))
        if path in ("/api", "/apis") and aggregated:
            made = json_response(discovery.aggregated(path == "/api", aggregated))
            return Response(200, made.body, discovery.aggregated_type(aggregated))
        if path == "/api":
            return json_response(discovery.core_versions(self.hosted.address))
        if path == "/apis":
            return json_response(discovery.groups())
        if path == "/openapi/v2" and openapi.V2_ACCEPTED in request.header("accept"):
            return Response(200, openapi.second(), openapi.V2_PROTOBUF)
        if path == "/openapi/v3":
            return json_response(openapi.index())
        if path.startswith("/openapi/v3/"):
            document = openapi.document(path.removeprefix("/openapi/v3/"))
            return None if document is None else Response(200, document)
        parts = path.strip("/").split("/")
        found = None
        if parts[0] == "api" and len(parts) == 2:
            found = discovery.resources(parts[1])
        elif parts[0] == "apis" and len(parts) == 2:
            found = discovery.group(parts[1])
        elif parts[0] == "apis" and len(parts) == 3:
            found = discovery.resources(f"{parts[1]}/{parts[2]}")
        elif path == "/":
            found = {"paths": ["/api", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"]}
        return None if found is None else json_response(found)


def refusal(error: status.StatusError) -> Response:
    """An error of the API as a response."""
    wait = error.details.get("retryAfterSeconds")
    headers = (("Retry-After", str(wait)),) if wait else ()
    return json_response(error.status, error.code, headers)


def _headers(scope: Mapping[str, Any]) -> dict[str, str]:
    """Headers by lower-case name; repeated ones joined."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


async def read_request(scope: Scope, receive: Receive) -> Request:
    """The whole request of an HTTP scope."""
    chunks = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        chunks.append(message.get("body", b""))
        if not message.get("more_body"):
            break
    query = parse_query(scope["query_string"])
    return Request(scope["method"], scope["path"], query, _headers(scope), b"".join(chunks))


async def send_response(response: Response, send: Send) -> None:
    """Send a complete response."""
    headers = [
        (b"content-type", response.content_type.encode()),
        (b"content-length", str(len(response.body)).encode()),
        (b"cache-control", b"no-cache, private"),
        *((name.lower().encode(), value.encode()) for name, value in response.headers),
    ]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _pump(reply: Stream, send: Send) -> None:
    async for chunk in reply.chunks:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
