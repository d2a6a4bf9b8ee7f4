"""Everything that makes a client what it is, as plain JSON and without a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field, ValidationError, field_validator, model_validator

from sregym_env.errors import UsageError
from sregym_env.llm.messages import Frozen
from sregym_env.llm.prices import Price
from sregym_env.llm.retry import Retry
from sregym_env.llm.wire.wire import Api

_SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "api-key", "cookie"})


class Timeouts(Frozen):
    """Seconds."""

    connect: float = Field(default=5.0, gt=0)
    read: float = Field(default=60.0, gt=0)
    """Between two pieces of an answer. Who does not stream gets it in one piece, after all the thinking."""
    total: float = Field(default=600.0, gt=0)
    """For one HTTP request."""


class Budget(Frozen):
    """What a client may use up before it asks no more; None for no limit.

    Counted per client: one in another process counts for itself.
    """

    tokens: int | None = Field(default=None, gt=0)
    """Prompt and completion."""
    usd: float | None = Field(default=None, gt=0)
    """Needs the model's price."""


class EndpointSettings(Frozen):
    """Where a model is, and how to speak to it."""

    model: str = Field(min_length=1)
    base_url: str | None = None
    """The vendor's own if left out. For the OpenAI formats it ends in the version, e.g. http://127.0.0.1:8000/v1."""
    api: Api = "chat"
    api_key_env: str | None = None
    """The environment variable that holds the key. If left out: SREGYM_API_KEY, and for the vendor's own servers and this
    machine also OPENAI_API_KEY or ANTHROPIC_API_KEY."""
    stream: bool = False
    """Ask for a stream: servers that think for minutes keep the connection alive that way."""
    timeouts: Timeouts = Timeouts()
    retry: Retry = Retry()
    concurrency: int = Field(default=16, ge=1)
    """HTTP requests at a time."""
    prices: dict[str, Price] = Field(default_factory=dict)
    """By the model's name, as it is asked for or as the server gives it."""
    budget: Budget = Budget()
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further keys of the request's body, e.g. ``{"top_k": 20}`` for vLLM; they win over ours."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Further headers, none of them secret, e.g. ``{"anthropic-beta": "..."}``."""
    headers_env: dict[str, str] = Field(default_factory=dict)
    """Further headers whose values are secret: the environment variables that hold them."""
    send_reasoning: bool = False
    """Send ``reasoning_content`` back to a chat server. Some want it, others refuse it."""

    @field_validator("base_url")
    @classmethod
    def _is_url(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be an http or https URL")
        if parts.username is not None or parts.password is not None:
            raise ValueError(
                "must hold no credentials; name an environment variable in api_key_env or headers_env"
            )
        return url.strip()

    @field_validator("headers")
    @classmethod
    def _are_open(cls, headers: dict[str, str]) -> dict[str, str]:
        secret = sorted(name for name in headers if name.lower() in _SECRET_HEADERS)
        if secret:
            raise ValueError(
                f"{secret[0]} is a secret: name the environment variable that holds it in headers_env"
            )
        return headers

    @model_validator(mode="after")
    def _dollars_can_be_counted(self) -> Self:
        if self.budget.usd is not None and self.model not in self.prices:
            raise ValueError(f"a budget in dollars needs a price for {self.model} in prices")
        return self

    @property
    def public(self) -> dict[str, Any]:
        """What shapes the answers, to be recorded beside them. Nothing of it is secret."""
        url = None
        if self.base_url is not None:
            parts = urlsplit(self.base_url)
            url = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
        told: dict[str, Any] = {"model": self.model, "api": self.api, "base_url": url}
        if self.extra:
            told["extra"] = dict(self.extra)
        return told

    def __repr__(self) -> str:
        return f"EndpointSettings({', '.join(f'{name}={value!r}' for name, value in self.public.items())})"

    __str__ = __repr__


def endpoint_settings(options: Mapping[str, Any]) -> EndpointSettings:
    """Settings from plain JSON. Raises UsageError, which repeats no value: one may be a key in the wrong place."""
    if "api_key" in options:
        raise UsageError(
            "api_key is no option, lest keys end up in records: name an environment variable in api_key_env"
        )
    if unknown := sorted(map(str, options.keys() - EndpointSettings.model_fields.keys())):
        there = ", ".join(EndpointSettings.model_fields)
        raise UsageError(f"model endpoint: no setting {unknown[0]!r}; there are {there}")
    try:
        return EndpointSettings.model_validate(dict(options))
    except ValidationError as error:
        raise UsageError(f"model endpoint: {explained(error)}") from None


def explained(error: ValidationError) -> str:
    """What is wrong with options, without the options' values."""
    problems = []
    for each in error.errors(include_input=False, include_url=False, include_context=False):
        place = ".".join(str(part) for part in each["loc"])
        problems.append(f"{place}: {each['msg']}" if place else each["msg"])
    return "; ".join(problems)
