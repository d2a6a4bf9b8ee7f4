"""OpenAI's chat format, as most open trainers read it: ``messages`` and ``tools``, arguments as strings of JSON.

Turns read back into what the environment was told: :func:`messages_of`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sregym_env.llm.messages import Call, Function, Message
from sregym_env.rollouts.dataset.exporters.conversation import lesson, weights
from sregym_env.rollouts.dataset.exporters.exporter import Losses, Settings, row_format
from sregym_env.rollouts.record import EpisodeRecord


def row(record: EpisodeRecord, settings: Settings, losses: Losses) -> dict[str, Any] | None:
    """A training example of one episode."""
    messages = lesson(record, settings, losses)
    if not messages:
        return None
    said = iter(weights(record))
    told = [_message(message, settings, losses) for message in messages]
    if settings.mask_errors:
        for message in told:
            if message["role"] == "assistant":
                message["weight"] = next(said)
    example: dict[str, Any] = {"messages": told}
    if any(message.tool_calls for message in messages):
        example["tools"] = list(record.tools)
        example["parallel_tool_calls"] = any(len(message.tool_calls) > 1 for message in messages)
    return example


def _message(message: Message, settings: Settings, losses: Losses) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    if message.role != "assistant":
        return {"role": message.role, "content": message.content}
    if message.reasoning_content:
        losses.add("reasoning of turns, which the format has no place for")
    turn: dict[str, Any] = {"role": "assistant"}
    if message.content and settings.thoughts == "drop" and message.tool_calls:
        losses.add("words beside tool calls")
    elif message.content or not message.tool_calls:
        turn["content"] = message.content
    if message.tool_calls:
        turn["tool_calls"] = [_call(call) for call in message.tool_calls]
    return turn


def _call(call: Call) -> dict[str, Any]:
    arguments = json.dumps(call.function.arguments, ensure_ascii=False)
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.function.name, "arguments": arguments},
    }


def messages_of(example: Mapping[str, Any]) -> list[Message]:
    """The messages of an example; those of the assistant have the ``action`` that the environment is told."""
    return [_read(message) for message in example["messages"]]


def _read(message: Mapping[str, Any]) -> Message:
    calls = tuple(
        Call(
            id=call["id"],
            function=Function(
                name=call["function"]["name"], arguments=json.loads(call["function"]["arguments"])
            ),
        )
        for call in message.get("tool_calls", ())
    )
    return Message(
        role=message["role"],
        content=message.get("content") or "",
        tool_calls=calls,
        tool_call_id=message.get("tool_call_id"),
    )


OPENAI = row_format(
    "openai",
    "OpenAI chat fine-tuning: messages and tools, arguments as JSON strings",
    row,
    ("text_calls", "thoughts", "mask_errors"),
)
