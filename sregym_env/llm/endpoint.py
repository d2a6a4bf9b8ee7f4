"""A model behind HTTP.

:class:`Endpoint` words a request for the server's wire format, tries again where that may help, asks for less where the
server cannot do more, counts what was used up, and hands back a reply. Any number of threads may ask at a time.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Self

import httpx

from sregym_env.llm import jsontext
from sregym_env.llm.failures import Failed
from sregym_env.llm.ladder import learnt, lowered, may_be_about_wording, next_rung
from sregym_env.llm.messages import UNREADABLE, Message
from sregym_env.llm.model import FinishReason, ModelError, Reply, Request, Usage
from sregym_env.llm.prices import cost, price_of
from sregym_env.llm.settings import EndpointSettings, endpoint_settings
from sregym_env.llm.transport import Transport
from sregym_env.llm.wire.anthropic import AnthropicWire
from sregym_env.llm.wire.chat import ChatWire
from sregym_env.llm.wire.responses import ResponsesWire
from sregym_env.llm.wire.wire import ANSWER_TOOL, Answer, Api, Plan, Wire

WIRES: Mapping[Api, Wire] = {
    "chat": ChatWire(),
    "responses": ResponsesWire(),
    "anthropic": AnthropicWire(),
}
"""The wire formats by name."""

_CUT_OFF: frozenset[FinishReason] = frozenset({"length", "content_filter", "refusal", "context_length"})
"""Endings after which asking in another way does not help."""


class Endpoint:
    """A :class:`~sregym_env.llm.model.Model` behind HTTP.

    Pickles as its settings: a copy in another process finds the key in that process's environment, opens connections of
    its own and counts its own budget.
    """

    def __init__(
        self,
        settings: EndpointSettings,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        draw: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        """What comes after the settings is for tests: HTTP itself, the pauses, their jitter in [0, 1), the seconds, and
        the seconds since 1970. Raises UsageError where a key is demanded and missing."""
        self.settings = settings
        self._wire = WIRES[settings.api]
        self._sleep, self._draw, self._clock = sleep, draw, clock
        self._transport = Transport(settings, self._wire, transport=transport, clock=clock, now=now)
        self._lock = Lock()
        self._used = Usage()
        self._plan = Plan(
            rung=self._wire.rungs[0],
            stream=settings.stream,
            send_reasoning=settings.send_reasoning,
            extra=settings.extra,
        )

    @property
    def name(self) -> str:
        """The model's name as it is asked for."""
        return self.settings.model

    @property
    def used(self) -> Usage:
        """What all questions have taken so far."""
        with self._lock:
            return self._used

    @property
    def plan(self) -> Plan:
        """How requests are worded, after what has been learnt of the server."""
        with self._lock:
            return self._plan

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[type[Endpoint], tuple[EndpointSettings]]:
        return (type(self), (self.settings,))

    def __repr__(self) -> str:
        return f"Endpoint({self.settings!r})"

    def complete(self, request: Request) -> Reply:
        """The answer. Raises ModelError.

        Where the request has a schema, the content of the reply is one JSON document, which need not obey it; except
        that a model which was cut off or refused is handed back as it is, with its finish reason.
        """
        known = plan = self.plan
        usage = Usage()
        schema = request.schema is not None
        rungs = self._wire.rungs
        complaint: Failed | None = None
        began = self._clock()
        while True:
            try:
                answer, taken = self._stubbornly(request, plan, usage, began)
            except Failed as failed:
                usage += Usage(requests=failed.attempts)
                complaint = complaint or failed
                lower = self._after_refusal(request, plan, failed)
                if lower is None:
                    # What the server said first was about what was really asked.
                    raise self._error(complaint, usage) from None
                plan = lower
                continue
            usage += taken
            text = answer.text if not schema else _document_of(answer)
            if text is not None or answer.finish in _CUT_OFF:
                break
            lower = next_rung(plan, rungs)
            if lower is None:
                raise ModelError(f"{self.name} gave no JSON: {answer.text[:200]!r}", "malformed", usage=usage)
            plan = lower
        if complaint is not None and plan != known:
            with self._lock:
                self._plan = learnt(self._plan, plan, rungs, schema)
        return self._reply(request, answer, usage, text)

    # --- one question -----------------------------------------------------------------------------

    def _stubbornly(self, request: Request, plan: Plan, before: Usage, began: float) -> tuple[Answer, Usage]:
        """Ask by a plan until there is an answer. Raises Failed where wording may be the matter, else ModelError."""
        body = self._wire.body(self.settings.model, request, plan)
        retry = self.settings.retry
        for attempt in range(1, retry.attempts + 1):
            self._check_budget(before + Usage(requests=attempt - 1))
            try:
                answer = self._transport.ask(body)
            except Failed as failed:
                self._count(Usage(requests=1))
                usage = before + Usage(requests=attempt)
                final = failed.kind == "rejected" and not failed.retry
                if final and may_be_about_wording(failed.status, str(failed)):
                    failed.attempts = attempt
                    raise
                if not failed.retry or attempt == retry.attempts:
                    raise self._error(failed, usage) from None
                pause = retry.pause(attempt, failed.wished, self._draw())
                if self._clock() - began + pause > retry.total_seconds:
                    raise self._error(failed, usage, f"; the next try would be {pause:.0f} s later") from None
                self._sleep(pause)
                continue
            taken = self._usage(answer)
            self._count(taken)
            return answer, taken + Usage(requests=attempt - 1)
        raise AssertionError("a retry has at least one attempt")

    def _after_refusal(self, request: Request, plan: Plan, failed: Failed) -> Plan | None:
        def body(other: Plan) -> dict[str, Any]:
            return self._wire.body(self.settings.model, request, other)

        return lowered(plan, self._wire.rungs, str(failed), request.schema is not None, body)

    def _error(self, failed: Failed, usage: Usage, more: str = "") -> ModelError:
        return ModelError(f"{self.name}: {failed}{more}", failed.kind, usage=usage)

    def _reply(self, request: Request, answer: Answer, usage: Usage, document: str | None) -> Reply:
        calls = answer.calls if request.schema is None else ()
        finish = answer.finish
        if calls and finish in ("", "stop"):
            finish = "tool_calls"
        message = Message(
            role="assistant",
            content=answer.text if document is None else document,
            reasoning_content=answer.reasoning,
            signed_reasoning=answer.signed,
            tool_calls=calls,
        )
        tokens = answer.tokens if request.want_tokens else None
        return Reply(message, usage, finish, answer.model or self.settings.model, tokens)

    # --- counting ---------------------------------------------------------------------------------

    def _usage(self, answer: Answer) -> Usage:
        """What one answer took."""
        counts = answer.counts
        price = price_of(self.settings.prices, answer.model, self.settings.model)
        dollars = None
        if price is not None:
            dollars = cost(
                price,
                prompt=counts.prompt,
                cached=counts.cached,
                written=counts.written,
                completion=counts.completion,
            )
        return Usage(
            prompt_tokens=counts.prompt,
            completion_tokens=counts.completion,
            cached_tokens=counts.cached,
            reasoning_tokens=counts.reasoning,
            cost_usd=dollars,
            requests=1,
        )

    def _count(self, usage: Usage) -> None:
        with self._lock:
            self._used += usage

    def _check_budget(self, usage: Usage) -> None:
        used, budget = self.used, self.settings.budget
        if budget.tokens is not None and used.total_tokens >= budget.tokens:
            spent = f"{used.total_tokens} of {budget.tokens} tokens"
        elif budget.usd is not None and (used.cost_usd or 0.0) >= budget.usd:
            spent = f"{used.cost_usd:.4f} of {budget.usd:g} US dollars"
        else:
            return
        raise ModelError(f"{self.name}: the budget is used up: {spent}", "budget", usage=usage)


def endpoint(options: Mapping[str, Any]) -> Endpoint:
    """A client from plain JSON (:class:`~sregym_env.llm.settings.EndpointSettings`). Raises UsageError."""
    return Endpoint(endpoint_settings(options))


def _document_of(answer: Answer) -> str | None:
    """The JSON that an answer to a schema gives: by the answering tool, or somewhere in its words."""
    for call in answer.calls:
        if call.function.name == ANSWER_TOOL and UNREADABLE not in call.function.arguments:
            return json.dumps(call.function.arguments, ensure_ascii=False)
    return jsontext.found(answer.text)
