"""Fenced code blocks, as Markdown has them."""

from __future__ import annotations

import re
from typing import NamedTuple

SHELL_LANGUAGES = frozenset({"", "bash", "sh", "shell", "console", "zsh", "text", "terminal"})
JSON_LANGUAGES = frozenset({"json", "json5", "tool_call", "tool_code", "tool"})

_FENCE = re.compile(r"[ ]{0,3}```[ \t]*([\w+-]*)[ \t]*\Z")


class Block(NamedTuple):
    """A fenced block."""

    language: str
    """In lower case; empty where none is given."""
    body: str


def blocks(text: str) -> list[Block]:
    """The blocks of a text in which something stands. One that is not closed ends with the text."""
    found: list[Block] = []
    language: str | None = None
    body: list[str] = []
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if language is None:
            if fence is not None:
                language, body = fence[1].lower(), []
        elif fence is not None and not fence[1]:
            found.append(Block(language, "\n".join(body).strip()))
            language = None
        else:
            body.append(line)
    if language is not None:
        found.append(Block(language, "\n".join(body).strip()))
    return [block for block in found if block.body]
