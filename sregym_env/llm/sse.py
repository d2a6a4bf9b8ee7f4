"""Server-sent events: from the text of a stream to its events. Pure.

See https://html.spec.whatwg.org/multipage/server-sent-events.html; identifiers and reconnection times are not needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Event(NamedTuple):
    """One event."""

    name: str
    """Empty where the server gives none."""
    data: str


def is_stream(content_type: str, text: str) -> bool:
    """Whether an answer is a stream of events. Its beginning counts too: servers mislabel their answers."""
    if "text/event-stream" in content_type.lower():
        return True
    return text.lstrip("\ufeff \r\n").startswith(("data:", "event:", ": "))


def events(text: str) -> Iterator[Event]:
    """The events of a stream. One that was cut off before its blank line counts: its data may be whole."""
    name = ""
    data: list[str] = []
    for line in [*text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if not line:
            if data:
                yield Event(name, "\n".join(data))
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
