"""What a wire format has to know, and the values that it speaks in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sregym_env.llm.messages import Call
from sregym_env.llm.model import FinishReason, Request, Tokens
from sregym_env.llm.sse import Event

Api = Literal["chat", "responses", "anthropic"]
"""OpenAI's chat completions (and everybody's who is compatible), OpenAI's responses, Anthropic's messages."""

Rung = Literal["json_schema", "tool", "json_object", "plain"]
"""How a server is held to a JSON Schema, from strict to hopeful: by its decoder, by a tool that must be called and
whose arguments are the answer, to JSON of any shape, and by words alone."""

ANSWER_TOOL = "answer"
"""The tool whose arguments are the answer."""

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """How requests are worded for one server."""

    rung: Rung = "plain"
    """Of requests with a schema."""
    without: frozenset[str] = frozenset()
    """What the server refuses (:data:`~sregym_env.llm.ladder.FEATURES`)."""
    stream: bool = False
    send_reasoning: bool = False
    """Send ``reasoning_content`` back."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the body, which win over ours."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Tokens as a server counts them; ``cached`` and ``written`` are parts of ``prompt``."""

    prompt: int = 0
    cached: int = 0
    written: int = 0
    completion: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered, whatever its format."""

    text: str
    calls: tuple[Call, ...]
    reasoning: str | None
    signed: str | None
    finish: FinishReason
    model: str
    counts: Counts
    tokens: Tokens | None = None


class Malformed(Exception):
    """An answer that is none."""


class Incomplete(Exception):
    """A stream that broke off before its end."""


class Reported(Exception):
    """An error that a server reports inside an answer that says 200."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


class Wire(Protocol):
    """One wire format."""

    @property
    def home(self) -> str:
        """Where its vendor serves it."""
        ...

    @property
    def vendor_domain(self) -> str:
        """The vendor's domain, below which the vendor's key may be sent."""
        ...

    @property
    def vendor_key(self) -> str:
        """The environment variable in which people keep the vendor's key."""
        ...

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """What it can ask for, from strict to hopeful."""
        ...

    def path(self, root: str) -> str:
        """What is appended to the path of the URL that the user gives."""
        ...

    def headers(self, key: str) -> dict[str, str]:
        """Headers besides the content's type; without a key none that holds one."""
        ...

    def body(self, model: str, request: Request, plan: Plan) -> Document:
        """The body of a request."""
        ...

    def assembled(self, events: Iterable[Event]) -> Document:
        """The plain answer that a stream amounts to. Raises Incomplete, Malformed, Reported."""
        ...

    def answer(self, document: Document) -> Answer:
        """What an answer says. Raises Malformed, Reported."""
        ...
