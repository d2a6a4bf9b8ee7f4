"""What a model is to its callers: a request in, a reply out, an error that says whether to try again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import Field

from sregym_env.errors import SREGymError
from sregym_env.llm.messages import Frozen, Message

FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "refusal", "context_length", ""]
"""Why a model stopped, whatever its server calls it; empty where the server does not say."""

FailureKind = Literal[
    "unreachable", "timeout", "rate_limited", "server", "rejected", "malformed", "context_length", "budget"
]
"""What went wrong between us and a model.

``rejected``: the server refuses the request itself (a wrong key, an unknown model, a bad parameter).
``malformed``: it answered something that is no reply. ``budget``: our own limit of tokens or money is used up.
"""


class Tokens(Frozen):
    """A turn as the model saw and wrote it, for trainers. Servers give what they can."""

    prompt_token_ids: tuple[int, ...] | None = None
    completion_token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    """One per completion token."""


class Usage(Frozen):
    """What a reply took."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Of the prompt tokens, those that the server had in its cache."""
    reasoning_tokens: int = 0
    """Of the completion tokens, those that were thought rather than said."""
    cost_usd: float | None = None
    """US dollars, where the prices are known."""
    requests: int = 0
    """HTTP requests made, the repeated ones included."""

    def __add__(self, other: Usage) -> Usage:
        known = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost_usd=sum(known) if known else None,
            requests=self.requests + other.requests,
        )

    @property
    def total_tokens(self) -> int:
        """Prompt and completion."""
        return self.prompt_tokens + self.completion_tokens


class Sampling(Frozen):
    """How a model draws its words. What is None is not sent: some servers refuse what they do not know."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    reasoning_effort: str | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model."""

    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    """Schemas of the tools in the OpenAI dialect (``env.unwrapped.tools("openai")``)."""
    schema: Mapping[str, Any] | None = None
    """JSON Schema that the answer must obey, as far as the server can hold a model to it."""
    sampling: Sampling = field(default_factory=Sampling)
    want_tokens: bool = False
    """Ask for token ids and logprobs."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered."""

    message: Message
    usage: Usage
    finish_reason: FinishReason = ""
    model: str = ""
    """The model's name as the server gives it."""
    tokens: Tokens | None = None


class ModelError(SREGymError):
    """A model could not be asked, or its answer is none. Says nothing about what it would have said."""

    def __init__(self, text: str, kind: FailureKind, *, usage: Usage = Usage()) -> None:
        super().__init__(text)
        self.kind = kind
        self.usage = usage
        """What was used up all the same."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors travel between processes; the usual way would call the constructor with the text alone."""
        return _error, (type(self), str(self), self.kind, self.usage)


def _error(of: type[ModelError], text: str, kind: FailureKind, usage: Usage) -> ModelError:
    return of(text, kind, usage=usage)


class Model(Protocol):
    """Something that answers. Calls may come from several threads at a time."""

    @property
    def name(self) -> str:
        """What to record about who answered, e.g. ``gpt-5``; never a key or a header."""
        ...

    def complete(self, request: Request) -> Reply:
        """The answer. Raises :class:`ModelError`."""
        ...
