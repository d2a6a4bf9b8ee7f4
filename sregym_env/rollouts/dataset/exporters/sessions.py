"""The Session Trace Simple Format, which the Hugging Face Hub shows in its viewer: a file per episode."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sregym_env.llm.messages import Message
from sregym_env.rollouts.dataset.exporters.conversation import conversation
from sregym_env.rollouts.dataset.exporters.exporter import Format, Losses, Settings, Source, write_rows
from sregym_env.rollouts.record import EpisodeRecord


def lines(record: EpisodeRecord, settings: Settings, losses: Losses) -> Iterator[dict[str, Any]]:
    """The header and the messages of one episode."""
    outcome = "solved" if record.success else record.exit_reason
    yield {
        "type": "session",
        "harness": "sregym_env",
        "id": record.rollout_id,
        "name": f"{record.task_id} by {record.policy.model or record.policy.name}: {outcome}",
        "return": record.return_,
        "seed": record.seed,
    }
    for message in conversation(record, settings, losses):
        yield {"type": "message", "message": _message(message, record.policy.model)}


def write(source: Source, path: Path, settings: Settings, losses: Losses) -> int:
    """A folder with a session per file."""
    path.mkdir(parents=True, exist_ok=True)
    number = 0
    for record in source.records():
        write_rows(path / f"{record.rollout_id}.jsonl", lines(record, settings, losses))
        losses.add("rewards of steps, which the format has no place for", len(record.steps))
        number += 1
    return number


def _message(message: Message, model: str | None) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.role == "assistant" and model:
        told["model"] = model
    if message.reasoning_content:
        told["reasoningContent"] = message.reasoning_content
    if message.tool_calls:
        told["toolCalls"] = [
            {
                "id": call.id,
                "function": {
                    "name": call.function.name,
                    "arguments": json.dumps(call.function.arguments, ensure_ascii=False),
                },
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        told["toolCallId"] = message.tool_call_id
    return told


SESSIONS = Format(
    "sessions",
    "Session traces that the Hugging Face Hub shows, a file per episode",
    "",
    write,
    ("text_calls",),
)
