"""The grammar of actions: from whatever text a model writes to tool calls.

Understood, in this order: JSON tool calls (plain, OpenAI, Anthropic, alone or in a list), Hermes/Qwen
``<tool_call>`` blocks, fenced code blocks, and raw command lines. Nothing here ever raises: what cannot be
understood becomes a :class:`~sregym_env.tools.call.Refusal` that says why.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sregym_env.tools.call import Action, Refusal, ToolCall
from sregym_env.tools.submit import from_line
from sregym_env.tools.tool import action

MAX_ACTION_CHARS = 65_536
"""Longer actions are refused: no sane command line or diagnosis needs more."""

MAX_CALLS = 16
"""Tool calls understood in one action."""

_THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_HERMES = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_FENCE = re.compile(r"^```([\w+-]*)[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_PREFIX = re.compile(r"\$[ \t]+(?=\S)")
_SHELL_LANGUAGES = frozenset({"", "bash", "sh", "shell", "console", "zsh", "text", "terminal"})
_JSON_LANGUAGES = frozenset({"json", "json5", "tool_call", "tool_code"})


def parse(text: str) -> tuple[Action, ...]:
    """The actions a text asks for, at least one. Never raises, whatever the text is."""
    if len(text) > MAX_ACTION_CHARS:
        return (Refusal(f"the action is {len(text)} characters long; at most {MAX_ACTION_CHARS} are read"),)
    cleaned = _clean(text)
    if not cleaned:
        return (Refusal("the action is empty; write a command line or a tool call"),)
    if cleaned[0] in "{[":
        found = _from_json(cleaned)
        if found:
            return found
    if "<tool_call>" in cleaned:
        return _from_blocks(_HERMES.findall(cleaned))
    # A fence inside a here-document or a diagnosis is part of what is handed over.
    if "```" in cleaned and "<<" not in cleaned.split("\n", 1)[0] and not cleaned.startswith("submit"):
        found = _from_fences(cleaned)
        if found:
            return found
    return (_from_line(cleaned),)


def _clean(text: str) -> str:
    if _CONTROL.search(text):
        text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if "<think" in text:
        text = _THINKING.sub("", text, count=1)
    return text.encode("utf-8", "replace").decode("utf-8").strip()


def _from_line(line: str) -> Action:
    prompt = _PREFIX.match(line)
    # Models copy the prompt of a user; that of root looks like a comment, so it stays one.
    if prompt is not None:
        line = line[prompt.end() :]
    if line.startswith("submit"):
        submitted = from_line(line)
        if isinstance(submitted, str):
            return Refusal(submitted, "parse_error", "submit")
        if submitted is not None:
            return submitted
    return action(ToolCall("shell", {"command": line}))


def _from_fences(text: str) -> tuple[Action, ...]:
    actions: list[Action] = []
    for language, body in _FENCE.findall(text):
        body = body.strip()
        if not body:
            continue
        if language.lower() in _JSON_LANGUAGES or body[0] in "{[":
            actions.extend(_from_json(body))
        elif language.lower() in _SHELL_LANGUAGES:
            actions.append(_from_line(body))
    return _limited(actions)


def _from_blocks(blocks: list[str]) -> tuple[Action, ...]:
    actions: list[Action] = []
    for block in blocks:
        actions.extend(_from_json(block.strip()) or (Refusal("a <tool_call> block does not hold JSON"),))
    return _limited(actions)


def _limited(actions: list[Action]) -> tuple[Action, ...]:
    if len(actions) > MAX_CALLS:
        return (Refusal(f"{len(actions)} tool calls in one action; at most {MAX_CALLS} are carried out"),)
    return tuple(actions)


def _from_json(text: str) -> tuple[Action, ...]:
    """Actions of a JSON document; none where it is no tool call and may be a shell line."""
    document = _loads(text)
    if document is None:
        if text.startswith(("{", "[")) and '"name"' in text:
            return (Refusal("the tool call is not valid JSON"),)
        return ()
    actions: list[Action] = []
    for item in _items(document):
        call = _call(item)
        actions.append(call if isinstance(call, Refusal) else action(call))
    return _limited(actions)


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


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


def _call(item: Any) -> ToolCall | Refusal:
    if not isinstance(item, dict):
        return Refusal('a tool call is an object such as {"name": "shell", "arguments": {"command": "..."}}')
    body = item["function"] if isinstance(item.get("function"), dict) else item
    name = body.get("name") or body.get("tool") or body.get("tool_name")
    if not isinstance(name, str):
        return Refusal('the tool call has no "name"')
    arguments = _arguments(body)
    if arguments is None:
        return Refusal(f"the arguments of {name[:60]} are not a JSON object")
    identifier = item.get("id") or item.get("call_id") or ""
    return ToolCall(name, arguments, identifier if isinstance(identifier, str) else "")


def _arguments(body: dict[str, Any]) -> dict[str, Any] | None:
    for key in ("arguments", "input", "parameters", "args"):
        if key in body:
            value = body[key]
            break
    else:
        return {}
    if value is None or value == "":
        return {}
    if isinstance(value, str):
        value = _loads(value)
    return value if isinstance(value, dict) else None
