"""ShareGPT as LLaMA-Factory reads it: turns of both sides in strict alternation, one tool call to a turn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sregym_env.llm.messages import Message
from sregym_env.rollouts.dataset.exporters.conversation import function, lesson
from sregym_env.rollouts.dataset.exporters.exporter import Format, Losses, Settings, Source, write_rows
from sregym_env.rollouts.dataset.files import write_whole
from sregym_env.rollouts.record import EpisodeRecord

DATASET_INFO = "dataset_info.json"


def row(record: EpisodeRecord, settings: Settings, losses: Losses) -> dict[str, Any] | None:
    """One conversation, the system's words apart."""
    messages = lesson(record, settings, losses)
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    turns = list(_turns([message for message in messages if message.role != "system"], settings, losses))
    turns = _alternating(turns)
    while turns and turns[-1]["from"] not in _AGENT:
        # The answer that a call at the end would have.
        turns.pop()
    if not turns:
        return None
    tools = [tool["function"] for tool in record.tools]
    return {"conversations": turns, "system": system, "tools": json.dumps(tools, ensure_ascii=False)}


def write(source: Source, path: Path, settings: Settings, losses: Losses) -> int:
    """The conversations, and the entry of ``dataset_info.json`` that tells LLaMA-Factory of them."""
    rows = (row(record, settings, losses) for record in source.records())
    number = write_rows(path, (each for each in rows if each is not None))
    info = path.with_name(DATASET_INFO)
    known = json.loads(info.read_text("utf-8")) if info.exists() else {}
    known[path.stem] = {
        "file_name": path.name,
        "formatting": "sharegpt",
        "columns": {"messages": "conversations", "system": "system", "tools": "tools"},
    }
    write_whole(info, json.dumps(known, indent=2, sort_keys=True).encode())
    return number


_AGENT = ("gpt", "function_call")


def _turns(messages: list[Message], settings: Settings, losses: Losses) -> Iterator[dict[str, str]]:
    answers: dict[str, str] = {
        message.tool_call_id or "": message.content for message in messages if message.role == "tool"
    }
    for message in messages:
        if message.role == "user":
            yield {"from": "human", "value": message.content}
        elif message.role == "assistant" and not message.tool_calls:
            losses.add("reasoning of turns", bool(message.reasoning_content))
            yield {"from": "gpt", "value": message.content}
        elif message.role == "assistant":
            losses.add("calls made at once, told one after the other", len(message.tool_calls) - 1)
            thought = _thought(message, settings, losses)
            for call in message.tool_calls:
                yield {
                    "from": "function_call",
                    "value": thought + json.dumps(function(call), ensure_ascii=False),
                }
                yield {"from": "observation", "value": answers.get(call.id, "")}
                thought = ""


def _thought(message: Message, settings: Settings, losses: Losses) -> str:
    """What stands before a call, in the marks by which LLaMA-Factory tells it from the call."""
    thought = "\n\n".join(text for text in (message.reasoning_content, message.content) if text)
    if not thought:
        return ""
    if settings.thoughts == "drop":
        losses.add("words beside tool calls")
        return ""
    return f"<think>\n{thought}\n</think>\n\n"


def _alternating(turns: list[dict[str, str]]) -> list[dict[str, str]]:
    """Turns of one side that follow each other, as one: a briefing in two messages, say."""
    merged: list[dict[str, str]] = []
    for turn in turns:
        if merged and (turn["from"] in _AGENT) == (merged[-1]["from"] in _AGENT):
            merged[-1] = {**merged[-1], "value": f"{merged[-1]['value']}\n\n{turn['value']}"}
        else:
            merged.append(dict(turn))
    return merged


SHAREGPT = Format(
    "sharegpt",
    "ShareGPT for LLaMA-Factory: conversations in strict alternation, and dataset_info.json",
    ".jsonl",
    write,
    ("text_calls", "thoughts"),
)
