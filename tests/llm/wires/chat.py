"""OpenAI's chat completions, as a server sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.llm.wires.said import (
    Document,
    Heard,
    Refused,
    Said,
    arguments_text,
    byte_ids,
    demand_object,
    pieces,
)


def heard(body: Document, headers: dict[str, str]) -> Heard:
    lines: list[tuple[str, str]] = []
    open_calls: list[str] = []
    for message in body["messages"]:
        role, text = message["role"], message.get("content") or ""
        if role == "tool":
            if message["tool_call_id"] not in open_calls:
                raise Refused("messages with role 'tool' must be a response to a preceding 'tool_calls'")
            open_calls.remove(message["tool_call_id"])
        elif open_calls:
            raise Refused(f"tool_call_ids did not have response messages: {', '.join(open_calls)}")
        if role == "assistant":
            for each in message.get("tool_calls", ()):
                demand_object(each["function"]["arguments"])
                open_calls.append(each["id"])
        lines.append((role, text))
    if open_calls:
        raise Refused(f"tool_call_ids did not have response messages: {', '.join(open_calls)}")
    choice = body.get("tool_choice")
    response_format = body.get("response_format", {}).get("type", "")
    forced = choice["function"]["name"] if isinstance(choice, dict) else ""
    return Heard(
        api="chat",
        body=body,
        headers=headers,
        system="\n".join(text for role, text in lines if role == "system"),
        messages=tuple(line for line in lines if line[0] != "system"),
        tools=tuple(tool["function"]["name"] for tool in body.get("tools", ())),
        forced=forced,
        rung=response_format or ("tool" if forced else ""),
    )


def _usage(said: Said) -> Document:
    return {
        "prompt_tokens": said.prompt_tokens,
        "completion_tokens": said.completion_tokens,
        "total_tokens": said.prompt_tokens + said.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": said.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": said.reasoning_tokens},
    }


def _finish(said: Said) -> str:
    return said.finish or ("tool_calls" if said.calls else "stop")


def _logprobs(text: str) -> Document:
    return {"content": [{"token": chr(byte), "logprob": -byte / 100} for byte in byte_ids(text)]}


def _prompt_ids(request: Heard) -> list[int]:
    return byte_ids("".join(f"<{role}>{text}" for role, text in request.messages))


def document(said: Said, request: Heard, number: int) -> Document:
    message: Document = {"role": "assistant", "content": said.text or None}
    if said.thinking:
        message["reasoning_content"] = said.thinking
    if said.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": arguments_text(arguments)},
            }
            for index, (name, arguments) in enumerate(said.calls)
        ]
    choice: Document = {"index": 0, "message": message, "finish_reason": _finish(said), "logprobs": None}
    answer: Document = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": f"{request.body['model']}-2026-01-01",
        "choices": [choice],
        "usage": _usage(said),
    }
    if request.body.get("logprobs"):
        choice["logprobs"] = _logprobs(said.text)
    if request.body.get("return_token_ids"):
        choice["token_ids"] = byte_ids(said.text)
        answer["prompt_token_ids"] = _prompt_ids(request)
    return answer


def events(said: Said, request: Heard, number: int) -> Iterator[tuple[str, Document | str]]:
    def chunk(delta: Document, finish: str | None = None, **more: Any) -> Document:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, **more}
        return {**head, "choices": [choice]}

    head: Document = {"id": f"c-{number}", "object": "chat.completion.chunk", "model": request.body["model"]}
    first = chunk({"role": "assistant", "content": ""})
    if request.body.get("return_token_ids"):
        first["prompt_token_ids"] = _prompt_ids(request)
    yield "", first
    for piece in pieces(said.thinking):
        yield "", chunk({"reasoning_content": piece})
    for piece in pieces(said.text):
        more: Document = {}
        if request.body.get("logprobs"):
            more["logprobs"] = _logprobs(piece)
        if request.body.get("return_token_ids"):
            more["token_ids"] = byte_ids(piece)
        yield "", chunk({"content": piece}, **more)
    for index, (name, arguments) in enumerate(said.calls):
        opening = {"name": name, "arguments": ""}
        yield (
            "",
            chunk(
                {
                    "tool_calls": [
                        {
                            "index": index,
                            "id": f"call_{number}_{index}",
                            "type": "function",
                            "function": opening,
                        }
                    ]
                }
            ),
        )
        for piece in pieces(arguments_text(arguments)):
            yield "", chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield "", chunk({}, _finish(said))
    if request.body.get("stream_options", {}).get("include_usage"):
        yield "", {**head, "choices": [], "usage": _usage(said)}
    yield "", "[DONE]"
