"""Tool calls as JSON documents: plain, OpenAI's, Anthropic's, alone or in lists, alone in the text or behind prose."""

from __future__ import annotations

import re
from typing import Any

from sregym_env.llm import jsontext
from sregym_env.llm.messages import UNREADABLE
from sregym_env.tools.call import Refusal, ToolCall
from sregym_env.tools.tool import BY_NAME

Calls = list[ToolCall | Refusal]

MAX_PLACES = 64
"""Places in a text at which a document is looked for."""

NOT_JSON = Refusal("the tool call is not valid JSON")

_ARGUMENTS = ("arguments", "input", "parameters", "args")
_NAMES = ("name", "tool", "tool_name")

_OPENING = re.compile(
    r"[\[{]\s{0,9}(?:\{\s{0,9})?\"(?:name|tool|tool_name|tool_calls|function|type|id|role|action|arguments|parameters)\"\s{0,9}:"
)
_BEGINNING = re.compile(r"\{\s*\"|\[\s*\{")
_NAMED = re.compile(r'"(?:name|tool|tool_name)"\s{0,9}:\s{0,9}"([\w.-]{1,40})"')


def whole(text: str) -> Calls | None:
    """The calls of a text that is one JSON document; None if it is none. No calls where the document holds none."""
    try:
        document = jsontext.loads(text)
    except ValueError:
        return None
    return [call_of(item) for item in _items(document)]


def is_broken(text: str) -> bool:
    """Whether a text that is no JSON document was meant to be one: nothing for a shell begins so."""
    return _BEGINNING.match(text) is not None


def words(text: str) -> str | None:
    """What an assistant's message without calls says, if a text is such a message in JSON."""
    try:
        document = jsontext.loads(text)
    except ValueError:
        return None
    if not isinstance(document, dict) or not isinstance(document.get("content"), str):
        return None
    return str(document["content"]) if not document.get("tool_calls") and "role" in document else None


def behind_prose(text: str, looked_at: str) -> Calls:
    """The calls of documents that stand somewhere in a text and can be nothing else.

    ``looked_at`` is the text with what may not be read as a call blanked out. A document that begins like a call of a
    tool we know, and is broken, is told of.
    """
    calls: Calls = []
    broken = False
    index = 0
    for _ in range(MAX_PLACES):
        match = _OPENING.search(looked_at, index)
        if match is None:
            break
        try:
            document, index = jsontext.at(text, match.start())
        except ValueError:
            named = _NAMED.search(text, match.start(), match.start() + 200)
            broken = broken or (named is not None and named[1] in BY_NAME)
            index = match.start() + 1
            continue
        calls += [call_of(item) for item in _items(document) if _is_clear(item)]
    return [*calls, NOT_JSON] if broken else calls


def sequence(text: str, start: int) -> tuple[Calls, int] | None:
    """The calls of documents that follow one another from an index on, and the index behind them; None if none does."""
    calls: Calls = []
    index = _skipped(text, start)
    began = False
    while index < len(text) and text[index] in "{[":
        try:
            document, index = jsontext.at(text, index)
        except ValueError:
            return ([*calls, NOT_JSON], len(text)) if began else None
        began = True
        calls += [call_of(item) for item in _items(document)]
        index = _skipped(text, index)
    return (calls, index) if began else None


def _skipped(text: str, index: int) -> int:
    while index < len(text) and (text[index].isspace() or text[index] in ";,"):
        index += 1
    return index


def _items(document: Any) -> list[Any]:
    """The single calls inside a document: a call, a list, an assistant message, a content list."""
    if isinstance(document, list):
        return [inner for item in document for inner in _items_of(item)]
    return _items_of(document)


def _items_of(item: Any) -> list[Any]:
    if isinstance(item, dict):
        if isinstance(item.get("tool_calls"), list):
            return list(item["tool_calls"])
        if isinstance(item.get("content"), list):
            return [part for part in item["content"] if _is_tool_use(part)]
        if item.get("type") in ("text", "thinking", "reasoning"):
            return []
    return [item]


def _is_tool_use(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "tool_use"


def _is_clear(item: Any) -> bool:
    """Whether an object in the middle of a text is a call and not a piece of a manifest that has a name as well."""
    if not isinstance(item, dict):
        return False
    body = item["function"] if isinstance(item.get("function"), dict) else item
    name = _name(body)
    given = next((body[key] for key in _ARGUMENTS if key in body), None)
    if name is None or not (given is None or isinstance(given, dict | str)):
        return False
    return name in BY_NAME or isinstance(given, dict)


def _name(body: dict[str, Any]) -> str | None:
    name = next((body[key] for key in _NAMES if body.get(key)), None)
    return name if isinstance(name, str) else None


def call_of(item: Any) -> ToolCall | Refusal:
    """The call that an object is."""
    if not isinstance(item, dict):
        return Refusal('a tool call is an object such as {"name": "shell", "arguments": {"command": "..."}}')
    body = item["function"] if isinstance(item.get("function"), dict) else item
    name = _name(body)
    if name is None:
        return Refusal('the tool call has no "name"')
    arguments = _arguments(body)
    if arguments is None or UNREADABLE in arguments:
        return Refusal(f"the arguments of {name[:60]} are not a JSON object")
    identifier = item.get("id") or item.get("call_id") or ""
    return ToolCall(name, arguments, identifier if isinstance(identifier, str) else "")


def _arguments(body: dict[str, Any]) -> dict[str, Any] | None:
    value: Any = next((body[key] for key in _ARGUMENTS if key in body), {})
    if value is None or value == "":
        return {}
    if isinstance(value, str):
        try:
            value = jsontext.loads(value)
        except ValueError:
            return None
    return value if isinstance(value, dict) else None
