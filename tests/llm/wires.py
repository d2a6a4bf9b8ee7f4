"""What a model server of each kind reads and writes, for :mod:`tests.llm.server`.

Written against the vendors' descriptions and without the client's code, so that the two can disagree.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Document = dict[str, Any]
Events = list[tuple[str, Document | str]]
"""Server-sent events: a name (empty for none) and the data."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the scripted model says."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any] | str], ...] = ()
    """Tool calls: name and arguments; a string goes out as it is, broken JSON included."""
    thinking: str = ""
    finish: str = ""
    """Why it stopped, in the words of the wire format; empty for the usual one."""
    prompt_tokens: int = 100
    completion_tokens: int = 10
    cached_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Heard:
    """One request, whatever its wire format."""

    api: str
    body: Document
    headers: dict[str, str]
    """By lower-case name."""
    system: str
    messages: tuple[tuple[str, str], ...]
    """(role, text) without the system's; the role of a tool's answer is ``tool``."""
    tools: tuple[str, ...]
    forced: str
    """The tool that the model has to call; empty if it may choose."""
    rung: str
    """How JSON was asked for: json_schema, tool, json_object; empty if it was not, or in words only."""

    @property
    def turns(self) -> int:
        """How often the model has spoken in this conversation."""
        return sum(role == "assistant" for role, _ in self.messages)

    @property
    def last(self) -> str:
        """What was said to it last."""
        return self.messages[-1][1] if self.messages else ""


class Refused(Exception):
    """The request breaks the rules of its format."""


def heard(api: str, body: Document, headers: dict[str, str]) -> Heard:
    """Read a request. Raises Refused where a real server would answer 400."""
    return {"chat": _chat_heard, "responses": _responses_heard, "anthropic": _anthropic_heard}[api](
        body, headers
    )


def document(said: Said, request: Heard, number: int) -> Document:
    """The plain answer."""
    said = _as_forced(said, request)
    make = {"chat": _chat_document, "responses": _responses_document, "anthropic": _anthropic_document}
    return make[request.api](said, request, number)


def events(said: Said, request: Heard, number: int) -> Events:
    """The same answer as a stream of small pieces."""
    said = _as_forced(said, request)
    make = {"chat": _chat_events, "responses": _responses_events, "anthropic": _anthropic_events}
    return list(make[request.api](said, request, number))


def failure(api: str, status: int, text: str, code: str = "") -> Document:
    """The body of an error."""
    if api == "anthropic":
        kind = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}
        return {
            "type": "error",
            "error": {"type": code or kind.get(status, "api_error"), "message": text},
            "request_id": "req_1",
        }
    return {"error": {"message": text, "type": "error", "param": None, "code": code or None}}


def _as_forced(said: Said, request: Heard) -> Said:
    """A model that must call a tool says its JSON as the arguments."""
    if request.forced and not said.calls and said.text:
        return Said(
            calls=((request.forced, said.text),),
            prompt_tokens=said.prompt_tokens,
            completion_tokens=said.completion_tokens,
        )
    return said


def _arguments(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _pieces(text: str, size: int = 7) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _ids(text: str) -> list[int]:
    """Token ids of a tokenizer that knows bytes."""
    return list(text.encode())


# --- OpenAI chat completions ------------------------------------------------------------------------


def _chat_heard(body: Document, headers: dict[str, str]) -> Heard:
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
                _object(each["function"]["arguments"])
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


def _object(arguments: Any) -> None:
    try:
        if isinstance(json.loads(arguments), dict):
            return
    except (TypeError, ValueError):
        pass
    raise Refused("tool call arguments must be a JSON object in a string")


def _chat_usage(said: Said) -> Document:
    return {
        "prompt_tokens": said.prompt_tokens,
        "completion_tokens": said.completion_tokens,
        "total_tokens": said.prompt_tokens + said.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": said.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": said.reasoning_tokens},
    }


def _chat_finish(said: Said) -> str:
    return said.finish or ("tool_calls" if said.calls else "stop")


def _chat_logprobs(text: str) -> Document:
    return {"content": [{"token": chr(byte), "logprob": -byte / 100} for byte in _ids(text)]}


def _prompt_ids(request: Heard) -> list[int]:
    return _ids("".join(f"<{role}>{text}" for role, text in request.messages))


def _chat_document(said: Said, request: Heard, number: int) -> Document:
    message: Document = {"role": "assistant", "content": said.text or None}
    if said.thinking:
        message["reasoning_content"] = said.thinking
    if said.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": _arguments(arguments)},
            }
            for index, (name, arguments) in enumerate(said.calls)
        ]
    choice: Document = {"index": 0, "message": message, "finish_reason": _chat_finish(said), "logprobs": None}
    answer: Document = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": f"{request.body['model']}-2026-01-01",
        "choices": [choice],
        "usage": _chat_usage(said),
    }
    if request.body.get("logprobs"):
        choice["logprobs"] = _chat_logprobs(said.text)
    if request.body.get("return_token_ids"):
        choice["token_ids"] = _ids(said.text)
        answer["prompt_token_ids"] = _prompt_ids(request)
    return answer


def _chat_events(said: Said, request: Heard, number: int) -> Iterator[tuple[str, Document | str]]:
    def chunk(delta: Document, finish: str | None = None, **more: Any) -> Document:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, **more}
        return {**head, "choices": [choice]}

    head: Document = {"id": f"c-{number}", "object": "chat.completion.chunk", "model": request.body["model"]}
    first = chunk({"role": "assistant", "content": ""})
    if request.body.get("return_token_ids"):
        first["prompt_token_ids"] = _prompt_ids(request)
    yield "", first
    for piece in _pieces(said.thinking):
        yield "", chunk({"reasoning_content": piece})
    for piece in _pieces(said.text):
        more: Document = {}
        if request.body.get("logprobs"):
            more["logprobs"] = _chat_logprobs(piece)
        if request.body.get("return_token_ids"):
            more["token_ids"] = _ids(piece)
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
        for piece in _pieces(_arguments(arguments)):
            yield "", chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield "", chunk({}, _chat_finish(said))
    if request.body.get("stream_options", {}).get("include_usage"):
        yield "", {**head, "choices": [], "usage": _chat_usage(said)}
    yield "", "[DONE]"


# --- OpenAI responses -------------------------------------------------------------------------------


def _responses_heard(body: Document, headers: dict[str, str]) -> Heard:
    lines: list[tuple[str, str]] = []
    open_calls: list[str] = []
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "message":
            lines.append((item["role"], _parts_text(item["content"])))
        elif kind == "function_call":
            _object(item["arguments"])
            open_calls.append(item["call_id"])
            lines.append(("call", item["name"]))
        elif kind == "function_call_output":
            if item["call_id"] not in open_calls:
                raise Refused(f"No tool call found for function call output with call_id {item['call_id']}.")
            open_calls.remove(item["call_id"])
            lines.append(("tool", item["output"]))
        elif kind != "reasoning":
            raise Refused(f"Invalid value: {kind!r}")
    if open_calls:
        raise Refused(f"No tool output found for function call {open_calls[0]}.")
    choice = body.get("tool_choice")
    forced = choice["name"] if isinstance(choice, dict) else ""
    rung = body.get("text", {}).get("format", {}).get("type", "")
    return Heard(
        api="responses",
        body=body,
        headers=headers,
        system=body.get("instructions", ""),
        messages=tuple(_merged(lines)),
        tools=tuple(tool["name"] for tool in body.get("tools", ())),
        forced=forced,
        rung=rung or ("tool" if forced else ""),
    )


def _merged(lines: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Calls and the words before them are one turn of the assistant."""
    merged: list[tuple[str, str]] = []
    for role, text in lines:
        turn = "assistant" if role == "call" else role
        if role == "call" and merged and merged[-1][0] == "assistant":
            continue
        merged.append((turn, "" if role == "call" else text))
    return merged


def _parts_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def _responses_items(said: Said, number: int) -> list[Document]:
    items: list[Document] = []
    if said.thinking:
        items.append(
            {
                "id": f"rs_{number}",
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": said.thinking}],
                "encrypted_content": f"sealed-{number}",
            }
        )
    if said.text:
        items.append(
            {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": said.text, "annotations": []}],
            }
        )
    for index, (name, arguments) in enumerate(said.calls):
        items.append(
            {
                "id": f"fc_{number}_{index}",
                "type": "function_call",
                "call_id": f"call_{number}_{index}",
                "name": name,
                "arguments": _arguments(arguments),
                "status": "completed",
            }
        )
    return items


def _responses_document(said: Said, request: Heard, number: int) -> Document:
    answer: Document = {
        "id": f"resp_{number}",
        "object": "response",
        "model": f"{request.body['model']}-2026-01-01",
        "status": "incomplete" if said.finish else "completed",
        "incomplete_details": {"reason": said.finish} if said.finish else None,
        "error": None,
        "output": _responses_items(said, number),
        "usage": {
            "input_tokens": said.prompt_tokens,
            "input_tokens_details": {"cached_tokens": said.cached_tokens},
            "output_tokens": said.completion_tokens,
            "output_tokens_details": {"reasoning_tokens": said.reasoning_tokens},
            "total_tokens": said.prompt_tokens + said.completion_tokens,
        },
    }
    return answer


def _responses_events(said: Said, request: Heard, number: int) -> Iterator[tuple[str, Document | str]]:
    whole = _responses_document(said, request, number)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"type": "response.created", "response": begun}
    for index, item in enumerate(whole["output"]):
        yield (
            "response.output_item.added",
            {"type": "response.output_item.added", "output_index": index, "item": item},
        )
        for piece in _pieces(item.get("arguments", "")):
            yield (
                "response.function_call_arguments.delta",
                {"type": "response.function_call_arguments.delta", "output_index": index, "delta": piece},
            )
        yield (
            "response.output_item.done",
            {"type": "response.output_item.done", "output_index": index, "item": item},
        )
    kind = "response.incomplete" if said.finish else "response.completed"
    yield kind, {"type": kind, "response": whole}


# --- Anthropic messages -----------------------------------------------------------------------------


def _anthropic_heard(body: Document, headers: dict[str, str]) -> Heard:
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
            lines += [("tool", _parts_text(block["content"])) for block in results]
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
        system=_parts_text(body.get("system", "")),
        messages=tuple(lines),
        tools=tuple(tool["name"] for tool in body.get("tools", ())),
        forced=forced,
        rung=rung or ("tool" if forced else ""),
    )


def _blocks(content: Any) -> list[Document]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _anthropic_blocks(said: Said, number: int) -> list[Document]:
    blocks: list[Document] = []
    if said.thinking:
        blocks.append({"type": "thinking", "thinking": said.thinking, "signature": f"signed-{number}"})
    if said.text:
        blocks.append({"type": "text", "text": said.text})
    for index, (name, arguments) in enumerate(said.calls):
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
        blocks.append({"type": "tool_use", "id": f"toolu_{number}_{index}", "name": name, "input": given})
    return blocks


def _anthropic_usage(said: Said) -> Document:
    return {
        "input_tokens": said.prompt_tokens - said.cached_tokens,
        "cache_read_input_tokens": said.cached_tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens": said.completion_tokens,
    }


def _anthropic_document(said: Said, request: Heard, number: int) -> Document:
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": f"{request.body['model']}-20260101",
        "content": _anthropic_blocks(said, number),
        "stop_reason": said.finish or ("tool_use" if said.calls else "end_turn"),
        "stop_sequence": None,
        "usage": _anthropic_usage(said),
    }


def _anthropic_events(said: Said, request: Heard, number: int) -> Iterator[tuple[str, Document | str]]:
    # Broken arguments can only be said piece by piece: a whole block holds an object.
    sound = Said(**{**_fields(said), "calls": tuple((name, {}) for name, _ in said.calls)})
    whole = _anthropic_document(sound, request, number)
    usage = _anthropic_usage(said)
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": begun}
    yield "ping", {"type": "ping"}
    arguments = iter(said.calls)
    for index, block in enumerate(whole["content"]):
        empty, deltas = _anthropic_deltas(block, arguments)
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


def _anthropic_deltas(
    block: Document, calls: Iterator[tuple[str, dict[str, Any] | str]]
) -> tuple[Document, list[Document]]:
    if block["type"] == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
        signature = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]
    if block["type"] == "text":
        return {"type": "text", "text": ""}, [
            {"type": "text_delta", "text": piece} for piece in _pieces(block["text"])
        ]
    _, arguments = next(calls)
    text = "" if arguments == {} else _arguments(arguments)
    return {**block, "input": {}}, [
        {"type": "input_json_delta", "partial_json": piece} for piece in _pieces(text)
    ]
