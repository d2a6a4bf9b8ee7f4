"""Clients of scripted servers: their pauses are noted and never waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx

from sregym_env.llm.endpoint import Endpoint
from sregym_env.llm.messages import Message
from sregym_env.llm.model import Reply, Request
from sregym_env.llm.settings import endpoint_settings
from tests.llm.server import ScriptedServer

APIS = ("chat", "responses", "anthropic")

TOOLS = (
    {
        "type": "function",
        "function": {
            "name": "shell",
            "description": "Run a command line.",
            "parameters": {
                "type": "object",
                "properties": {"command": {"type": "string"}},
                "required": ["command"],
                "additionalProperties": False,
            },
            "strict": True,
        },
    },
)

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


class Time:
    """A clock that moves by sleeping alone; ``pauses`` are the sleeps."""

    def __init__(self) -> None:
        self.pauses: list[float] = []
        self.now = 1000.0

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


def client(
    server: ScriptedServer | httpx.BaseTransport, api: str = "chat", time: Time | None = None, **options: Any
) -> Endpoint:
    """A client of a server. Its jitter is nothing."""
    time = time or Time()
    scripted = isinstance(server, ScriptedServer)
    url = server.base_url(api) if isinstance(server, ScriptedServer) else "http://model.test/v1"
    settings = endpoint_settings({"model": "m", "api": api, "base_url": url, **options})
    return Endpoint(
        settings,
        transport=None if scripted else server,  # type: ignore[arg-type]
        sleep=time.sleep,
        draw=lambda: 0.0,
        clock=lambda: time.now,
        now=lambda: time.now,
    )


def user(text: str) -> Message:
    return Message(role="user", content=text)


def system(text: str) -> Message:
    return Message(role="system", content=text)


def told(call_id: str, text: str) -> Message:
    return Message(role="tool", content=text, tool_call_id=call_id, name="shell")


def ask(model: Endpoint, text: str = "hello", **more: Any) -> Reply:
    """One question."""
    return model.complete(Request((user(text),), **more))


def answering(*answers: tuple[int, dict[str, str], str]) -> tuple[httpx.MockTransport, list[httpx.Request]]:
    """A transport that gives these (status, headers, body) one after the other, the last one ever after."""
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        status, headers, body = answers[min(len(seen), len(answers)) - 1]
        return httpx.Response(status, headers=headers, content=body.encode())

    return httpx.MockTransport(handle), seen


def raising(error: Callable[[httpx.Request], Exception]) -> httpx.MockTransport:
    """A transport on which every request fails."""

    def handle(request: httpx.Request) -> httpx.Response:
        raise error(request)

    return httpx.MockTransport(handle)


FINE = (200, {}, '{"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}]}')
