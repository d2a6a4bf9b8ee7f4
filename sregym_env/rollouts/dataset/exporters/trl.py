"""TRL's formats: conversations for supervised fine-tuning, pairs for preference training.

Arguments of tool calls are objects; ``datasets`` reads them as they are from 4.7 on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from sregym_env.llm.messages import Message
from sregym_env.rollouts.dataset.exporters.conversation import function, lesson
from sregym_env.rollouts.dataset.exporters.exporter import (
    Format,
    Losses,
    Settings,
    Source,
    row_format,
    write_rows,
)
from sregym_env.rollouts.record import EpisodeRecord


def row(record: EpisodeRecord, settings: Settings, losses: Losses) -> dict[str, Any] | None:
    """A conversation for the SFT trainer."""
    messages = lesson(record, settings, losses)
    if not messages:
        return None
    return {"messages": _told(messages, settings, losses), "tools": list(record.tools)}


def write_preferences(source: Source, path: Path, settings: Settings, losses: Losses) -> int:
    """Pairs of episodes that began in the same state and ended with different returns."""
    return write_rows(path, _pairs(source, settings, losses))


def _pairs(source: Source, settings: Settings, losses: Losses) -> Iterator[dict[str, Any]]:
    for _, members in groupby(source.records(), key=_state):
        group = [record for record in members if record.return_ is not None]
        found = list(_ranked(group, settings))
        if not found:
            losses.add("groups without two returns that differ by the margin")
        for better, worse in found:
            pair = _pair(better, worse, settings, losses)
            if pair is not None:
                yield pair


def _state(record: EpisodeRecord) -> tuple[str, ...]:
    """What members of a group have in common; episodes of one group come one after the other."""
    return (record.group_id, record.episode_id, str(sorted(record.config.items())))


def _ranked(
    group: Sequence[EpisodeRecord], settings: Settings
) -> Iterator[tuple[EpisodeRecord, EpisodeRecord]]:
    ranked = sorted(
        group, key=lambda record: (-(record.return_ or 0.0), len(record.steps), record.sample_index)
    )
    candidates = [(better, worse) for i, better in enumerate(ranked) for worse in ranked[i + 1 :]]
    if settings.pairs == "best":
        candidates = [(ranked[0], ranked[-1])] if len(ranked) > 1 else []
    for better, worse in candidates:
        if (better.return_ or 0.0) - (worse.return_ or 0.0) >= settings.margin:
            yield better, worse


def _pair(
    better: EpisodeRecord, worse: EpisodeRecord, settings: Settings, losses: Losses
) -> dict[str, Any] | None:
    """The common beginning as prompt, and how both went on from there."""
    chosen = lesson(better, settings, losses)
    rejected = lesson(worse, settings, losses)
    common = _common(chosen, rejected)
    if common == 0 or min(len(chosen), len(rejected)) == common:
        losses.add("pairs without a common beginning or with an empty end")
        return None
    return {
        "prompt": _told(chosen[:common], settings, losses),
        "chosen": _told(chosen[common:], settings, losses),
        "rejected": _told(rejected[common:], settings, losses),
        "tools": list(better.tools),
        "chosen_return": better.return_,
        "rejected_return": worse.return_,
    }


def _common(one: Sequence[Message], other: Sequence[Message]) -> int:
    """How many messages two conversations share, up to where an agent speaks."""
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    while shared and one[shared - 1].role == "assistant":
        shared -= 1
    return shared


def _told(messages: Sequence[Message], settings: Settings, losses: Losses) -> list[dict[str, Any]]:
    return [_message(message, settings, losses) for message in messages]


def _message(message: Message, settings: Settings, losses: Losses) -> dict[str, Any]:
    if message.role == "tool":
        return {
            "role": "tool",
            "name": message.name,
            "tool_call_id": message.tool_call_id,
            "content": message.content,
        }
    told: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        if settings.thoughts == "drop":
            losses.add("words beside tool calls", bool(message.content))
            told["content"] = ""
        told["tool_calls"] = [
            {"id": call.id, "type": "function", "function": function(call)} for call in message.tool_calls
        ]
    if message.reasoning_content:
        if settings.thoughts == "keep":
            told["reasoning_content"] = message.reasoning_content
        else:
            losses.add("reasoning of turns")
    return told


TRL_SFT = row_format(
    "trl",
    "TRL supervised fine-tuning: messages and tools, arguments as objects",
    row,
    ("text_calls", "thoughts"),
)
TRL_PREFERENCE = Format(
    "trl-preference",
    "TRL preference pairs: prompt, chosen, rejected, of groups that began in one state",
    ".jsonl",
    write_preferences,
    ("text_calls", "thoughts", "margin", "pairs"),
)
