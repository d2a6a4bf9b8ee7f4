"""What is heard and said, whatever the wire format."""

from __future__ import annotations

import json
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


def arguments_text(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def pieces(text: str, size: int = 7) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def byte_ids(text: str) -> list[int]:
    """Token ids of a tokenizer that knows bytes."""
    return list(text.encode())


def demand_object(arguments: Any) -> None:
    try:
        if isinstance(json.loads(arguments), dict):
            return
    except (TypeError, ValueError):
        pass
    raise Refused("tool call arguments must be a JSON object in a string")


def parts_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)
