"""The ASGI application: who asks for what, and which part of the server answers."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections.abc import MutableMapping
from typing import Any

from sregym_env.kube import status, yamlout
from sregym_env.kube.durations import parse_duration
from sregym_env.kube.instrumentation import Measured
from sregym_env.serve import access, documents, indented, negotiate, paths, rest, upgrades
from sregym_env.serve.asking import Ask, quoted
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.message import JSON, Reply, Request, Response, Stream, json_response, parse_query
from sregym_env.serve.mounts import Receive, Scope, Send
from sregym_env.serve.transport import MAX_BODY, Gone, headers, read_request, send_response, send_stream
from sregym_env.sim.apiserver import custom
from sregym_env.sim.apiserver.admission import take_delay, take_warnings

TICK_SECONDS = 0.2
"""How often virtual time is brought up to the wall clock while nobody asks anything."""

_log = logging.getLogger(__name__)

_READS = ("GET", "HEAD")
_WRITES = ("POST", "PUT", "PATCH", "DELETE")


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

    def start(self) -> None:
        """Let time pass from now on; on the event loop."""
        if self._ticker is None:
            self._ticker = asyncio.create_task(self._tick())

    def close(self) -> None:
        """End every stream and stop the clock; on the event loop."""
        self.hosted.closing = True
        self.hosted.bell.ring()
        if self._ticker is not None:
            self._ticker.cancel()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._sync()
            if self.hosted.keeper is not None:
                self.hosted.keeper.regularly()

    def _sync(self) -> None:
        try:
            self.hosted.sync()
        except Exception:  # the cluster goes on without the event that failed; it is logged loudly
            _log.exception("the world failed")

    # --- connection kinds -------------------------------------------------------------------------

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self.start()
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        audit_id = str(uuid.uuid4())
        try:
            reply, seconds = self.answer(await read_request(scope, receive))
        except Gone:
            return
        except TimeoutError:
            seconds = 0.0
            reply = refusal(status.timeout("request did not complete within the allotted duration"))
        await self.hosted.let_pass(seconds)
        await self.hosted.kept()
        if isinstance(reply, Response):
            await send_response(reply, send, audit_id)
            return
        measured = self._measured(Request(scope["method"], scope["path"], parse_query(scope["query_string"])))
        self.hosted.counters.begin(measured)
        try:
            await send_stream(reply, receive, send, audit_id)
        finally:
            self.hosted.counters.end(measured)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request("GET", scope["path"], parse_query(scope["query_string"]), headers(scope))
        await receive()  # websocket.connect
        self._sync()
        accepted = False

        async def noting(message: MutableMapping[str, Any]) -> None:
            nonlocal accepted
            accepted = accepted or message["type"] == "websocket.accept"
            await self.hosted.let_pass(take_delay(self.hosted.world))
            await self.hosted.kept()
            await send(message)

        async def hearing() -> MutableMapping[str, Any]:
            message = await receive()
            self.hosted.change()
            return message

        measured = self._measured(request)
        self.hosted.counters.begin(measured)
        began = time.monotonic()
        code = 101
        try:
            user = access.identify(self.hosted.world, self.hosted.identities, request)
            where = paths.parse(request.path, custom.registry_of(self.hosted.world))
            if where is None:
                raise status.unknown_path()
            ask = Ask(self.hosted, self.hosted.cluster(user), where, request)
            self.hosted.change()
            await upgrades.serve(ask, scope.get("subprotocols", []), hearing, noting)
        except status.StatusError as error:
            code = error.code
            await self.hosted.let_pass(take_delay(self.hosted.world))
            await upgrades.refuse(error, scope, send)
        except OSError:
            raise  # the client has gone, which uvicorn knows how to take
        except (
            Exception
        ) as error:  # one failing connection must not take the cluster down; it is logged loudly
            _log.exception("%s failed", request.path)
            code = 500
            # Once the upgrade is answered, an error can no more be told as HTTP.
            if accepted:
                await send({"type": "websocket.close", "code": 1011})
            else:
                await upgrades.refuse(status.internal_error(type(error).__name__), scope, send)
        finally:
            self.hosted.announce()
            self.hosted.counters.end(measured)
            self.hosted.counters.count(measured, code, time.monotonic() - began)

    # --- requests ---------------------------------------------------------------------------------

    def respond(self, request: Request) -> Reply:
        """Answer a request. Never raises for what the client does wrong."""
        return self.answer(request)[0]

    def answer(self, request: Request) -> tuple[Reply, float]:
        """The answer to a request, and in how many virtual seconds it is to be told, as webhooks kept it waiting."""
        self._sync()
        began = time.monotonic()
        world = self.hosted.world
        take_warnings(world)  # of requests that no client of this server made
        take_delay(world, _seconds(request.first("timeout")))
        reply = _warned(self._answered(request), take_warnings(world))
        delay = take_delay(world)
        code = reply.status if isinstance(reply, Response) else 200
        self.hosted.counters.count(self._measured(request), code, time.monotonic() - began)
        self.hosted.announce()
        return reply, delay

    def _answered(self, request: Request) -> Reply:
        reply = self._unformed(request)
        try:
            return _in_form(request, reply)
        except RecursionError:
            return reply

    def _unformed(self, request: Request) -> Reply:
        try:
            return self._route(request)
        except status.StatusError as error:
            return refusal(error)
        except RecursionError:
            return refusal(status.bad_request("the request is nested too deeply"))
        except Exception as error:  # one failing request must not take the cluster down; it is logged loudly
            _log.exception("%s %s failed", request.method, request.path)
            return refusal(status.internal_error(f"{type(error).__name__}: {error}"))

    def _route(self, request: Request) -> Reply:
        user = access.identify(self.hosted.world, self.hosted.identities, request)
        if request.too_large and request.method in _WRITES:
            text = f"Request entity too large: limit is {MAX_BODY}"
            raise status.StatusError(413, "RequestEntityTooLarge", text)
        where = paths.parse(request.path, custom.registry_of(self.hosted.world))
        if where is not None and request.method == "GET" and not request.flag("watch"):
            self.hosted.pace.asked(f"{request.path}?{sorted(request.query.items())}")
        elif request.method != "GET":
            self.hosted.pace.acted()
        if request.method not in _READS or (where is not None and where.subresource in _CONNECTS):
            self.hosted.change()
        if where is not None:
            return rest.handle(Ask(self.hosted, self.hosted.cluster(user), where, request))
        return documents.answer(self.hosted, request, user)

    def _measured(self, request: Request) -> Measured:
        """Under which labels a request is counted, in the words of the API server's metrics."""
        where = paths.parse(request.path, custom.registry_of(self.hosted.world))
        if where is None:
            return Measured(request.method if request.method in (*_READS, *_WRITES) else "other")
        resource = where.resource
        scope = "resource" if where.name else "namespace" if where.namespace is not None else "cluster"
        return Measured(
            _verb(request, where),
            resource.group,
            resource.version,
            resource.plural,
            where.subresource,
            scope,
            "All" if request.first("dryRun") == "All" else "",
        )


_CONNECTS = ("exec", "attach", "portforward", "proxy")


def _verb(request: Request, where: paths.ApiPath) -> str:
    if where.subresource in _CONNECTS:
        return "CONNECT"
    if request.method == "GET" and request.flag("watch"):
        return "WATCH"
    if request.method == "GET":
        return "GET" if where.name else "LIST"
    if request.method == "DELETE" and not where.name:
        return "DELETECOLLECTION"
    if request.header("content-type").startswith("application/apply-patch"):
        return "APPLY"
    return request.method if request.method in (*_READS, *_WRITES) else "other"


def _seconds(text: str) -> float:
    """A duration that a client gives; 0 for what is none."""
    try:
        return parse_duration(text) / 1e9
    except ValueError:
        return 0.0


def _in_form(request: Request, reply: Reply) -> Reply:
    """The answer in YAML, or indented, where the client prefers it."""
    if isinstance(reply, Stream) or reply.content_type != JSON:
        return reply
    if not negotiate.wants_yaml(request.header("accept")):
        if not indented.wanted(request):
            return reply
        return Response(reply.status, indented.indented(reply.body), reply.content_type, reply.headers)
    text = yamlout.to_yaml(json.loads(reply.body))
    return Response(reply.status, text.encode(errors="replace"), negotiate.YAML, reply.headers)


def _warned(reply: Reply, texts: tuple[str, ...]) -> Reply:
    """The reply with what admission warned of."""
    if not texts or isinstance(reply, Stream):
        return reply
    added = tuple(("Warning", f'299 - "{quoted(text)}"') for text in texts)
    return Response(reply.status, reply.body, reply.content_type, (*reply.headers, *added))


def refusal(error: status.StatusError) -> Response:
    """An error of the API as a response."""
    wait = error.details.get("retryAfterSeconds")
    headers = (("Retry-After", str(wait)),) if wait else ()
    return json_response(error.status, error.code, headers)
