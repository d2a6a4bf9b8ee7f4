"""What requests have in common, whatever the wire format."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.llm.messages import Message
from sregym_env.llm.model import Request
from sregym_env.llm.wire.wire import Plan

ANSWER_DESCRIPTION = "Give the answer."


def conversation(request: Request, plan: Plan) -> tuple[Message, ...]:
    """The messages; where only words can hold the model to a schema, the last one asks for it."""
    if request.schema is None or plan.rung not in ("json_object", "plain"):
        return request.messages
    schema = json.dumps(request.schema, ensure_ascii=False)
    wish = f"Answer with one JSON document and nothing else. It must obey this JSON Schema:\n{schema}"
    messages = list(request.messages)
    if messages and messages[-1].role == "user":
        last = messages.pop()
        wish = f"{last.content}\n\n{wish}"
    return (*messages, Message(role="user", content=wish))


def split_system(messages: Sequence[Message]) -> tuple[str, tuple[Message, ...]]:
    """The system's words at the beginning, and the rest."""
    count = next((index for index, each in enumerate(messages) if each.role != "system"), len(messages))
    return "\n\n".join(message.content for message in messages[:count]), tuple(messages[count:])


def functions(request: Request) -> list[dict[str, Any]]:
    """The tools of a request without their OpenAI chat wrapping."""
    unwrapped = []
    for tool in request.tools:
        inner = tool.get("function", tool)
        unwrapped.append(dict(inner) if isinstance(inner, Mapping) else dict(tool))
    return unwrapped


def wrapped_reasoning(api: str, blocks: Sequence[Mapping[str, Any]]) -> str | None:
    """Signed reasoning as a message carries it; None if there is none."""
    return json.dumps({"api": api, "blocks": list(blocks)}, ensure_ascii=False) if blocks else None


def unwrapped_reasoning(api: str, message: Message) -> list[dict[str, Any]]:
    """The blocks that this format's server signed; none if another's did."""
    if message.signed_reasoning is None:
        return []
    try:
        sealed = json.loads(message.signed_reasoning)
    except ValueError:
        return []
    if not isinstance(sealed, dict) or sealed.get("api") != api or not isinstance(sealed.get("blocks"), list):
        return []
    return [block for block in sealed["blocks"] if isinstance(block, dict)]
