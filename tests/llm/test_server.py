"""The scripted server keeps the rules of the formats it speaks: what passes here would pass at a vendor's."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.llm.server import Said, ScriptedServer, Trouble, replay

ASKED = [{"role": "user", "content": "hello"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": "{}"}}
TOLD = {"role": "tool", "tool_call_id": "c1", "content": "done"}


def post(server: ScriptedServer, api: str, body: dict[str, Any]) -> httpx.Response:
    path = {"chat": "/chat/completions", "responses": "/responses", "anthropic": "/v1/messages"}[api]
    headers = {"anthropic-version": "2023-06-01"} if api == "anthropic" else {}
    return httpx.post(f"{server.base_url(api)}{path}", json={"model": "m", **body}, headers=headers)


@pytest.mark.parametrize(
    ("messages", "status"),
    [
        (ASKED, 200),
        ([*ASKED, {"role": "assistant", "tool_calls": [CALL]}, TOLD], 200),
        ([*ASKED, {"role": "assistant", "tool_calls": [CALL]}], 400),
        ([*ASKED, {"role": "assistant", "tool_calls": [CALL]}, *ASKED], 400),
        ([*ASKED, TOLD], 400),
    ],
)
def test_every_call_must_be_answered(messages: list[dict[str, Any]], status: int) -> None:
    with ScriptedServer() as server:
        assert post(server, "chat", {"messages": messages}).status_code == status


def test_anthropic_asks_for_its_version_and_a_length() -> None:
    with ScriptedServer() as server:
        assert post(server, "anthropic", {"messages": ASKED}).status_code == 400
        answer = post(server, "anthropic", {"messages": ASKED, "max_tokens": 5}).json()
        assert answer["content"] == [{"type": "text", "text": "ok"}]


def test_replay_goes_by_the_conversation() -> None:
    with ScriptedServer(replay("one", Said("two"))) as server:
        first = post(server, "chat", {"messages": ASKED}).json()["choices"][0]["message"]
        again = post(server, "chat", {"messages": ASKED}).json()["choices"][0]["message"]
        second = post(server, "chat", {"messages": [*ASKED, first, *ASKED]}).json()["choices"][0]["message"]
        assert [first["content"], again["content"], second["content"]] == ["one", "one", "two"]
        assert [heard.turns for heard in server.heard] == [0, 0, 1]


def test_troubles_come_once_each() -> None:
    with ScriptedServer() as server:
        server.misbehave(Trouble(status=429, headers={"Retry-After": "2"}), Trouble(body=b"<html>"))
        limited = post(server, "chat", {"messages": ASKED})
        assert (limited.status_code, limited.headers["retry-after"]) == (429, "2")
        assert post(server, "chat", {"messages": ASKED}).text == "<html>"
        assert post(server, "chat", {"messages": ASKED}).json()["choices"][0]["message"]["content"] == "ok"


def test_streams_carry_the_same_answer() -> None:
    with ScriptedServer(Said(calls=(("shell", {"command": "ls"}),))) as server:
        body = post(server, "chat", {"messages": ASKED, "stream": True}).text
    chunks = [json.loads(line[6:]) for line in body.split("\n\n") if line and line != "data: [DONE]"]
    deltas = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", ())]
    assert json.loads("".join(delta["function"]["arguments"] for delta in deltas)) == {"command": "ls"}
    assert body.endswith("data: [DONE]\n\n")
