"""Tool calls spelled as function calls: ``shell(command="ls")``, ``shell.call(command="ls")``, lists of them.

Llama, Gemma and others write them so. Nothing is evaluated: values are literals.
"""

from __future__ import annotations

import re
from typing import Any

from sregym_env.llm import jsontext
from sregym_env.tools.call import ToolCall
from sregym_env.tools.tool import BY_NAME

_NAME = re.compile(
    r"\s*(?:print\()?(?:functions\.|default_api\.|tools\.)?([A-Za-z_]\w{0,60})(?:\.call)?\(\s*"
)
_KEY = re.compile(r"\s*([A-Za-z_]\w{0,60})\s*=\s*")
_SEPARATORS = re.compile(r"[\s;,)]*+")
_COMMAS = re.compile(r"[\s,]*+")
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?(?![\w.])")
_WORDS: dict[str, Any] = {
    "True": True,
    "true": True,
    "False": False,
    "false": False,
    "None": None,
    "null": None,
}
_WORD = re.compile(r"[A-Za-z]{4,5}(?!\w)")
_STRINGS = (
    re.compile(r'"""((?:[^\\"]|\\.|"(?!""))*+)"""', re.DOTALL),
    re.compile(r"'''((?:[^\\']|\\.|'(?!''))*+)'''", re.DOTALL),
    re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL),
    re.compile(r"'((?:[^'\\]|\\.)*+)'", re.DOTALL),
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}


def calls(text: str) -> list[ToolCall] | None:
    """The calls of a text that consists of calls of tools we know; None if it does not."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    text = text.rstrip()
    found: list[ToolCall] = []
    index = 0
    while index < len(text):
        read = _call(text, index)
        if read is None:
            return None
        call, index = read
        found.append(call)
        index = _behind(text, index, _SEPARATORS)
    return found or None


def _call(text: str, index: int) -> tuple[ToolCall, int] | None:
    match = _NAME.match(text, index)
    if match is None or match[1] not in BY_NAME:
        return None
    index = match.end()
    arguments: dict[str, Any] = {}
    while index < len(text):
        if text[index] == ")":
            return ToolCall(match[1], arguments), index + 1
        key = _KEY.match(text, index)
        name = key[1] if key else _only_argument(match[1])
        value = _value(text, key.end() if key else index)
        if not name or name in arguments or value is None:
            return None
        arguments[name], index = value
        index = _behind(text, index, _COMMAS)
    return None


def _behind(text: str, index: int, pattern: re.Pattern[str]) -> int:
    match = pattern.match(text, index)
    return index if match is None else match.end()


def _only_argument(tool: str) -> str:
    arguments = BY_NAME[tool].arguments
    return arguments[0].name if len(arguments) == 1 else ""


def _value(text: str, index: int) -> tuple[Any, int] | None:
    for pattern in _STRINGS:
        if (match := pattern.match(text, index)) is not None:
            return _ESCAPE.sub(_unescaped, match[1]), match.end()
    if (match := _NUMBER.match(text, index)) is not None:
        return _number(match[0]), match.end()
    if (match := _WORD.match(text, index)) is not None and match[0] in _WORDS:
        return _WORDS[match[0]], match.end()
    if text[index : index + 1] in ("{", "["):
        try:
            return jsontext.at(text, index)
        except ValueError:
            return None
    return None


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) == 5:
        character = chr(int(code[1:], 16))
        return "\ufffd" if "\ud800" <= character <= "\udfff" else character
    return _ESCAPED.get(code, code if code in "\\'\"" else match[0])
