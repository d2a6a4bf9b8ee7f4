"""The line discipline of a terminal: what is typed becomes lines, and is echoed as it is typed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

MAX_LINE = 64 * 1024
"""Characters that one line may have; more are not taken."""

INTERRUPT, END, ERASE, ERASE_WORD, ERASE_LINE, ESCAPE = "\x03", "\x04", "\x7f", "\x17", "\x15", "\x1b"

_LAST_WORD = re.compile(r"\S*\s*\Z")


class Typed(NamedTuple):
    """Something that typing led to."""

    kind: Literal["line", "end", "interrupt"]
    text: str = ""
    echo: str = ""
    """What the screen showed of it until then."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal between two keys: the line so far, and an unfinished escape sequence."""

    line: str = ""
    escape: str = ""

    def type(self, keys: str) -> tuple[Terminal, list[Typed], str]:
        """The terminal after some keys, what they led to, and the echo of what led to nothing yet."""
        done: list[Typed] = []
        line, escape, echo = self.line, self.escape, ""
        for key, escape_left in _plain_keys(keys, escape):
            escape = escape_left
            if key in ("\r", "\n"):
                done.append(Typed("line", line, f"{echo}\r\n"))
                line = echo = ""
            elif key == INTERRUPT:
                done.append(Typed("interrupt", line, f"{echo}^C\r\n"))
                line = echo = ""
            elif key == END:
                if not line:
                    done.append(Typed("end", "", echo))
                    echo = ""
            elif key in (ERASE, "\b"):
                if line:
                    line, echo = line[:-1], f"{echo}\b \b"
            elif key in (ERASE_LINE, ERASE_WORD):
                kept = "" if key == ERASE_LINE else _LAST_WORD.sub("", line)
                echo += "\b \b" * (len(line) - len(kept))
                line = kept
            elif key and (key >= " " or key == "\t") and len(line) < MAX_LINE:
                line, echo = line + key, echo + key
        return Terminal(line, escape), done, echo


def _plain_keys(keys: str, escape: str) -> Iterator[tuple[str, str]]:
    """(key, unfinished escape sequence) for every character; keys of the arrows and their like do nothing."""
    for key in keys:
        if escape:
            escape += key
            ended = key.isalpha() or key == "~" if len(escape) > 2 else key not in "[O"
            escape = "" if ended or len(escape) > 16 else escape
            yield "", escape
        elif key == ESCAPE:
            escape = key
            yield "", escape
        else:
            yield key, ""


def as_shown(text: str) -> str:
    """Output as a terminal writes it: every new line starts on the left."""
    return text.replace("\r\n", "\n").replace("\n", "\r\n")
