"""Reading what servers answer: nothing about its types is taken for granted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sregym_env.llm import jsontext
from sregym_env.llm.messages import UNREADABLE, Call, Function
from sregym_env.llm.sse import Event
from sregym_env.llm.wire.wire import Document, Malformed, Reported


def mapping(value: Any) -> Document:
    """An object; an empty one if it is none."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """A list; an empty one if it is none."""
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[Document]:
    """The objects of a list."""
    return [item for item in sequence(value) if isinstance(item, dict)]


def string(value: Any) -> str:
    """A text; an empty one if it is none."""
    return value if isinstance(value, str) else ""


def count(value: Any) -> int:
    """A number of tokens; 0 if it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def whole_numbers(value: Any) -> tuple[int, ...] | None:
    """Token ids; None if there are none."""
    if not isinstance(value, list) or not value:
        return None
    return tuple(value) if all(type(item) is int for item in value) else None


def words(content: Any) -> str:
    """The text of a content that is a string, or a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(string(part.get("text")) for part in objects(content))


def read_calls(given: Sequence[tuple[Any, Any, Any]]) -> tuple[Call, ...]:
    """Tool calls from (id, name, arguments); the arguments may be an object or its JSON.

    Ids are made unique within the turn: every call is answered by its id.
    """
    calls: list[Call] = []
    used: set[str] = set()
    for index, (identifier, name, arguments) in enumerate(given):
        unique = string(identifier) or f"call_{index}"
        while unique in used:
            unique += f"_{index}"
        used.add(unique)
        calls.append(Call(id=unique, function=Function(name=string(name), arguments=_arguments(arguments))))
    return tuple(calls)


def _arguments(given: Any) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    if given is None or given == "":
        return {}
    text = given if isinstance(given, str) else json.dumps(given)
    try:
        value = jsontext.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {UNREADABLE: text}


def documents(events: Iterable[Event]) -> Iterator[tuple[str, Document]]:
    """The JSON of events with their names. Raises Malformed, and Reported for an error in the stream."""
    for event in events:
        if event.data.strip() in ("", "[DONE]"):
            continue
        try:
            document = jsontext.loads(event.data)
        except ValueError:
            raise Malformed(f"an event of the stream is not JSON: {event.data[:200]}") from None
        if not isinstance(document, dict):
            raise Malformed(f"an event of the stream is no object: {event.data[:200]}")
        raise_reported(document)
        yield event.name, document


def raise_reported(document: Document) -> None:
    """Raise Reported if a document is the report of an error."""
    error = document if document.get("object") == "error" else document.get("error")
    if error and isinstance(error, dict | str) and not document.get("choices") and not document.get("output"):
        raise reported(error)


def reported(error: Any) -> Reported:
    """The error that a server reports in one of the ways in which servers do."""
    if isinstance(error, str):
        return Reported(error)
    fields = mapping(error)
    code = fields.get("code") or fields.get("type") or fields.get("status") or ""
    return Reported(string(fields.get("message")) or json.dumps(error), str(code))
