"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sregym_env.llm.messages import Message
from sregym_env.llm.model import FinishReason, Request
from sregym_env.llm.sse import Event
from sregym_env.llm.wire.asking import (
    ANSWER_DESCRIPTION,
    conversation,
    functions,
    split_system,
    unwrapped_reasoning,
    wrapped_reasoning,
)
from sregym_env.llm.wire.reading import (
    count,
    documents,
    mapping,
    objects,
    raise_reported,
    read_calls,
    string,
)
from sregym_env.llm.wire.wire import ANSWER_TOOL, Answer, Counts, Document, Incomplete, Malformed, Plan, Rung

VERSION = "2023-06-01"

DEFAULT_MAX_TOKENS = 8192
"""This format demands a limit; where the request sets none, this one is sent."""

NOTHING = "(nothing)"
"""Stands for an empty text, which this format refuses."""

_FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_length",
}

_DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("input", "partial_json"),
}
"""Kinds of pieces: the block's field that they make up, and their own that holds them."""

_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


class AnthropicWire:
    """``POST /v1/messages``."""

    home = "https://api.anthropic.com"
    vendor_domain = "anthropic.com"
    vendor_key = "ANTHROPIC_API_KEY"
    rungs: tuple[Rung, ...] = ("json_schema", "tool", "plain")

    def path(self, root: str) -> str:
        """The user's URL may end in the version or not."""
        return "/messages" if root.endswith("/v1") else "/v1/messages"

    def headers(self, key: str) -> dict[str, str]:
        """The key in a header of its own, and the version of the format."""
        return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})

    def body(self, model: str, request: Request, plan: Plan) -> Document:
        """The body of a request. A seed does not exist in this format and is left out."""
        system, rest = split_system(conversation(request, plan))
        sampling = request.sampling
        body: Document = {
            "model": model,
            "max_tokens": sampling.max_tokens or DEFAULT_MAX_TOKENS,
            "messages": _turns(rest),
        }
        if system:
            body["system"] = system
        if request.tools:
            body["tools"] = [
                {
                    "name": function.get("name"),
                    "description": function.get("description", ""),
                    "input_schema": function.get("parameters", {"type": "object"}),
                }
                for function in functions(request)
            ]
        config: Document = {}
        if request.schema is not None:
            _ask_for_schema(body, config, request, plan)
        if sampling.reasoning_effort is not None:
            config["effort"] = sampling.reasoning_effort
        wished = {
            "output_config": config or None,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "stop_sequences": list(sampling.stop) or None,
            "stream": plan.stream or None,
        }
        body |= {name: value for name, value in wished.items() if value is not None}
        return {**body, **plan.extra}

    def assembled(self, events: Iterable[Event]) -> Document:
        """Blocks put together."""
        message: Document = {}
        blocks: dict[int, Document] = {}
        pieces: dict[tuple[int, str], list[str]] = {}
        done = False
        for name, event in documents(events):
            kind = string(event.get("type")) or name
            index = count(event.get("index"))
            if kind == "message_start":
                message = dict(mapping(event.get("message")))
            elif kind == "content_block_start":
                blocks[index] = dict(mapping(event.get("content_block")))
            elif kind == "content_block_delta":
                delta = mapping(event.get("delta"))
                field, key = _DELTAS.get(string(delta.get("type")), ("", ""))
                pieces.setdefault((index, field), []).append(string(delta.get(key)))
            elif kind == "message_delta":
                message |= {
                    name: value for name, value in mapping(event.get("delta")).items() if value is not None
                }
                message["usage"] = {**mapping(message.get("usage")), **mapping(event.get("usage"))}
            elif kind == "message_stop":
                done = True
        if not done and not message.get("stop_reason"):
            raise Incomplete("the stream ended before the model did")
        for (index, field), texts in pieces.items():
            if field and index in blocks:
                begun = blocks[index].get(field)
                blocks[index][field] = string(begun) + "".join(texts)
        return {**message, "content": [blocks[index] for index in sorted(blocks)]}

    def answer(self, document: Document) -> Answer:
        """What the content's blocks say."""
        if document.get("type") == "error":
            raise_reported({"error": document.get("error") or "unknown error"})
        raise_reported(document)
        if not isinstance(document.get("content"), list):
            raise Malformed("the answer has no content")
        blocks = objects(document["content"])
        called = [
            (block.get("id"), block.get("name"), block.get("input"))
            for block in blocks
            if block.get("type") == "tool_use"
        ]
        thoughts = [string(block.get("thinking")) for block in blocks if block.get("type") == "thinking"]
        return Answer(
            text="".join(string(block.get("text")) for block in blocks if block.get("type") == "text"),
            calls=read_calls(called),
            reasoning="\n\n".join(thought for thought in thoughts if thought) or None,
            signed=wrapped_reasoning("anthropic", _signed(blocks)),
            finish=_FINISH.get(string(document.get("stop_reason")), ""),
            model=string(document.get("model")),
            counts=_counts(mapping(document.get("usage"))),
        )


def _turns(messages: Sequence[Message]) -> list[Document]:
    """Turns that alternate: what follows one another on one side is one turn of many blocks."""
    turns: list[Document] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _spoken(message) if role == "assistant" else [_heard(message)]
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    for turn in turns:
        if turn["role"] == "user":
            turn["content"].sort(key=lambda block: block["type"] != "tool_result")
    return turns


def _heard(message: Message) -> Document:
    if message.role == "tool":
        return {"type": "tool_result", "tool_use_id": message.tool_call_id or "", "content": message.content}
    return _text(message.content)


def _text(text: str) -> Document:
    return {"type": "text", "text": text if text.strip() else NOTHING}


def _spoken(message: Message) -> list[Document]:
    signed = unwrapped_reasoning("anthropic", message)
    if any(block.get("type") not in _THOUGHTS for block in signed):
        return signed
    blocks = signed
    if message.content.strip():
        blocks.append(_text(message.content))
    for call in message.tool_calls:
        function = call.function
        blocks.append({"type": "tool_use", "id": call.id, "name": function.name, "input": function.arguments})
    return blocks or [_text("")]


def _signed(blocks: Sequence[Document]) -> list[Document]:
    """The thoughts, to be put before the rest again; the whole content where they do not stand before the rest."""
    kinds = [block.get("type") in _THOUGHTS for block in blocks]
    if not any(kinds):
        return []
    in_front = kinds == sorted(kinds, reverse=True)
    return [block for block, thought in zip(blocks, kinds, strict=True) if thought or not in_front]


def _ask_for_schema(body: Document, config: Document, request: Request, plan: Plan) -> None:
    if plan.rung == "json_schema":
        config["format"] = {"type": "json_schema", "schema": request.schema}
    elif plan.rung == "tool":
        tool = {
            "name": ANSWER_TOOL,
            "description": ANSWER_DESCRIPTION,
            "input_schema": request.schema,
            "strict": True,
        }
        body["tools"] = [*body.get("tools", ()), tool]
        body["tool_choice"] = {"type": "tool", "name": ANSWER_TOOL}


def _counts(usage: Document) -> Counts:
    cached = count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    return Counts(
        prompt=count(usage.get("input_tokens")) + cached + written,
        cached=cached,
        written=written,
        completion=count(usage.get("output_tokens")),
        reasoning=count(mapping(usage.get("output_tokens_details")).get("thinking_tokens")),
    )
