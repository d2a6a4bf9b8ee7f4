"""Leaving out of a conversation what no longer fits. Pure.

The environment's oldest answers go first, each leaving a note in its place: what the model itself said, its calls and the
newest answers stay. Once left out they stay out, and more is left out at a time than is needed, so that a server's cache
holds for some turns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from sregym_env.llm.messages import Message

KEPT_LAST = 4
"""The newest messages, which are never left out."""

SHARE = 0.7
"""Of the limit: what a conversation is cut down to."""

SHORT = 200
"""Answers up to so many characters stay: a note would not be much shorter."""


def size(message: Message) -> int:
    """Characters of a message."""
    arguments = sum(len(json.dumps(call.function.arguments)) for call in message.tool_calls)
    return len(message.content) + len(message.reasoning_content or "") + arguments


def elided(messages: Sequence[Message], limit: int, before: int) -> tuple[tuple[Message, ...], int]:
    """The conversation within ``limit`` characters, as far as that can be, and up to which message answers are left out.

    ``before`` is that number of the turn before; 0 at first. The opening (what comes before the first word of the model)
    stays.
    """
    first = next((index for index, each in enumerate(messages) if each.role == "assistant"), len(messages))
    sent = [_noted(each) if first <= index < before else each for index, each in enumerate(messages)]
    total = sum(map(size, sent))
    if total <= limit:
        return tuple(sent), before
    end = max(before, first)
    while end < len(sent) - KEPT_LAST and total > limit * SHARE:
        noted = _noted(sent[end])
        total -= size(sent[end]) - size(noted)
        sent[end] = noted
        end += 1
    return tuple(sent), end


def _noted(message: Message) -> Message:
    if message.role == "assistant" or len(message.content) <= SHORT:
        return message
    note = f"[left out to save room: {len(message.content)} characters; run the command again to see them]"
    return message.model_copy(update={"content": note})
