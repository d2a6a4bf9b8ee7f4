"""Anthropic's messages, as a server sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.llm.wires.said import (
    Document,
    Heard,
    Refused,
    Said,
    arguments_text,
    parts_text,
    pieces,
)


def heard(body: Document, headers: dict[str, str]) -> Heard:
    if headers.get("anthropic-version") != "2023-06-01":
        raise Refused("anthropic-version: header is required")
    if "max_tokens" not in body:
        raise Refused("max_tokens: Field required")
    lines: list[tuple[str, str]] = []
    open_calls: list[str] = []
    signed = ""
    for number, message in enumerate(body["messages"]):
        role, blocks = message["role"], _blocks(message["content"])
        if role not in {"user", "assistant"}:
            raise Refused(f'messages.{number}.role: Unexpected role "{role}"')
        kinds = [block["type"] for block in blocks]
        if role == "user":
            results = [block for block in blocks if block["type"] == "tool_result"]
            if sorted(block["tool_use_id"] for block in results) != sorted(open_calls):
                raise Refused(f"messages.{number}: `tool_use` ids were found without `tool_result` blocks")
            if kinds != sorted(kinds, key=lambda kind: kind != "tool_result"):
                raise Refused(f"messages.{number}: `tool_result` blocks must come first")
            open_calls = []
            lines += [("tool", parts_text(block["content"])) for block in results]
        elif open_calls:
            raise Refused(f"messages.{number}: `tool_use` ids were found without `tool_result` blocks")
        else:
            open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
            signed = next((block["signature"] for block in blocks if block["type"] == "thinking"), "")
            if body.get("thinking") and open_calls and not signed:
                raise Refused(f"messages.{number}: Expected `thinking`, but found `tool_use`")
        words = "".join(block["text"] for block in blocks if block["type"] == "text")
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            raise Refused(f"messages.{number}: text content blocks must be non-empty")
        if words or role == "assistant":
            lines.append((role, words))
    if open_calls:
        raise Refused("`tool_use` ids were found without `tool_result` blocks")
    choice = body.get("tool_choice", {})
    forced = choice.get("name", "")
    rung = body.get("output_config", {}).get("format", {}).get("type", "")
    return Heard(
        api="anthropic",
        body=body,
        headers=headers,
        system=parts_text(body.get("system", "")),
        messages=tuple(lines),
        tools=tuple(tool["name"] for tool in body.get("tools", ())),
        forced=forced,
        rung=rung or ("tool" if forced else ""),
    )


def _blocks(content: Any) -> list[Document]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _said_blocks(said: Said, number: int) -> list[Document]:
    blocks: list[Document] = []
    if said.thinking:
        blocks.append({"type": "thinking", "thinking": said.thinking, "signature": f"signed-{number}"})
    if said.text:
        blocks.append({"type": "text", "text": said.text})
    for index, (name, arguments) in enumerate(said.calls):
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
        blocks.append({"type": "tool_use", "id": f"toolu_{number}_{index}", "name": name, "input": given})
    return blocks


def _usage(said: Said) -> Document:
    return {
        "input_tokens": said.prompt_tokens - said.cached_tokens,
        "cache_read_input_tokens": said.cached_tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens": said.completion_tokens,
    }


def document(said: Said, request: Heard, number: int) -> Document:
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": f"{request.body['model']}-20260101",
        "content": _said_blocks(said, number),
        "stop_reason": said.finish or ("tool_use" if said.calls else "end_turn"),
        "stop_sequence": None,
        "usage": _usage(said),
    }


def events(said: Said, request: Heard, number: int) -> Iterator[tuple[str, Document | str]]:
    # Broken arguments can only be said piece by piece: a whole block holds an object.
    sound = Said(**{**_fields(said), "calls": tuple((name, {}) for name, _ in said.calls)})
    whole = document(sound, request, number)
    usage = _usage(said)
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": begun}
    yield "ping", {"type": "ping"}
    arguments = iter(said.calls)
    for index, block in enumerate(whole["content"]):
        empty, deltas = _deltas(block, arguments)
        yield (
            "content_block_start",
            {"type": "content_block_start", "index": index, "content_block": empty},
        )
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield (
        "message_delta",
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": said.completion_tokens}},
    )
    yield "message_stop", {"type": "message_stop"}


def _fields(said: Said) -> dict[str, Any]:
    return {name: getattr(said, name) for name in Said.__slots__}


def _deltas(
    block: Document, calls: Iterator[tuple[str, dict[str, Any] | str]]
) -> tuple[Document, list[Document]]:
    if block["type"] == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
        signature = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]
    if block["type"] == "text":
        return {"type": "text", "text": ""}, [
            {"type": "text_delta", "text": piece} for piece in pieces(block["text"])
        ]
    _, arguments = next(calls)
    text = "" if arguments == {} else arguments_text(arguments)
    return {**block, "input": {}}, [
        {"type": "input_json_delta", "partial_json": piece} for piece in pieces(text)
    ]
