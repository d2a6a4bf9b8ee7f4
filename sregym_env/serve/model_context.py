"""An episode for MCP clients (Model Context Protocol): its tools, over standard streams or streamable HTTP.

The library ``mcp`` is imported here and nowhere else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from sregym_env.serve.hosted import Hosted
from sregym_env.serve.mounts import Receive, Scope, Send
from sregym_env.serve.offered import Offer, offers

NAME = "sre"
"""What clients are told that this is: nothing that names the environment."""

MAX_BODY = 256 * 1024
"""The longest request taken, in bytes: more than any diagnosis."""

Act = Callable[[str], tuple[str, Mapping[str, Any]]]
"""Carries out an action: what the agent is told, and the step's ``info``."""


def server(act: Act, briefing: str, hosted: Hosted | None = None) -> Server[Any]:
    """The tools of one episode. ``briefing`` becomes the instructions; ``hosted`` is the world where time is the wall's,
    so that what takes time there takes it here."""
    known = offers()

    async def listed(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(offer) for offer in known.values()])

    async def called(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        offer = known.get(params.name)
        if offer is None:
            return _said(f'unknown tool "{params.name}"; the tools are: {", ".join(known)}', failed=True)
        try:
            action = offer.action(params.arguments or {})
        except ValueError as error:
            return _said(f"{offer.name}: {error}", failed=True)
        if hosted is not None:
            hosted.sync()
            hosted.change()
        text, info = act(action)
        if hosted is not None:
            hosted.announce()
            await hosted.kept()
            await asyncio.sleep(hosted.pace.ahead())
        if offer.name == "submit":
            text = _receipt(text, info)
        return _said(text, failed=bool(info["error_type"]) and info["error_type"] != "command_error")

    return Server(
        NAME,
        version=version("sregym-env"),
        instructions=briefing,
        on_list_tools=listed,
        on_call_tool=called,
    )


def _tool(offer: Offer) -> types.Tool:
    return types.Tool(name=offer.name, description=offer.description, input_schema=dict(offer.schema))


def _said(text: str, *, failed: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)


def _receipt(text: str, info: Mapping[str, Any]) -> str:
    """A submission's answer as SREGym gives it; no verdict is in it."""
    code = "400" if info["exit_code"] else "done" if info["stage"] == "done" else "200"
    return json.dumps({"status": code, "text": text.strip()})


def over_standard_streams(act: Act, briefing: str) -> None:
    """Serve the episode to the program that started this one, until it closes the streams."""

    async def serve() -> None:
        made = server(act, briefing)
        async with stdio_server() as (reading, writing):
            await made.run(reading, writing, made.create_initialization_options())

    asyncio.run(serve())


class Endpoint:
    """ASGI 3: the tools of one episode over streamable HTTP. Every request stands for itself: what there is of a session
    is the episode."""

    def __init__(self, act: Act, briefing: str, hosted: Hosted) -> None:
        self._manager = StreamableHTTPSessionManager(
            server(act, briefing, hosted), json_response=True, stateless=True, max_request_body_size=MAX_BODY
        )
        self._running: asyncio.Task[None] | None = None
        self._started = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        await self._started.wait()
        await self._manager.handle_request(scope, receive, send)

    async def _run(self) -> None:
        async with self._manager.run():
            self._started.set()
            await asyncio.Event().wait()

    def close(self) -> None:
        """End it; on the event loop."""
        if self._running is not None:
            self._running.cancel()
