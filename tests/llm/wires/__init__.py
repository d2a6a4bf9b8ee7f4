"""What a model server of each kind reads and writes, for :mod:`tests.llm.server`.

Written against the vendors' descriptions and without the client's code, so that the two can disagree.
"""

from __future__ import annotations

from tests.llm.wires import anthropic, chat, responses
from tests.llm.wires.said import Document, Events, Heard, Refused, Said

__all__ = ["Document", "Events", "Heard", "Refused", "Said", "document", "events", "failure", "heard"]


def heard(api: str, body: Document, headers: dict[str, str]) -> Heard:
    """Read a request. Raises Refused where a real server would answer 400."""
    return {"chat": chat.heard, "responses": responses.heard, "anthropic": anthropic.heard}[api](
        body, headers
    )


def document(said: Said, request: Heard, number: int) -> Document:
    """The plain answer."""
    said = _as_forced(said, request)
    make = {"chat": chat.document, "responses": responses.document, "anthropic": anthropic.document}
    return make[request.api](said, request, number)


def events(said: Said, request: Heard, number: int) -> Events:
    """The same answer as a stream of small pieces."""
    said = _as_forced(said, request)
    make = {"chat": chat.events, "responses": responses.events, "anthropic": anthropic.events}
    return list(make[request.api](said, request, number))


def failure(api: str, status: int, text: str, code: str = "") -> Document:
    """The body of an error."""
    if api == "anthropic":
        kind = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}
        return {
            "type": "error",
            "error": {"type": code or kind.get(status, "api_error"), "message": text},
            "request_id": "req_1",
        }
    return {"error": {"message": text, "type": "error", "param": None, "code": code or None}}


def _as_forced(said: Said, request: Heard) -> Said:
    """A model that must call a tool says its JSON as the arguments."""
    if request.forced and not said.calls and said.text:
        return Said(
            calls=((request.forced, said.text),),
            prompt_tokens=said.prompt_tokens,
            completion_tokens=said.completion_tokens,
        )
    return said
