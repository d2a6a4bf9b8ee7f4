"""OpenAI's chat completions, and what vLLM, SGLang, Ollama, OpenRouter and others make of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sregym_env.llm.messages import Message
from sregym_env.llm.model import FinishReason, Request, Tokens
from sregym_env.llm.sse import Event
from sregym_env.llm.wire.asking import ANSWER_DESCRIPTION, conversation
from sregym_env.llm.wire.reading import (
    count,
    documents,
    mapping,
    objects,
    raise_reported,
    read_calls,
    string,
    whole_numbers,
    words,
)
from sregym_env.llm.wire.wire import ANSWER_TOOL, Answer, Counts, Document, Incomplete, Malformed, Plan, Rung

_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}


class ChatWire:
    """``POST /chat/completions``."""

    home = "https://api.openai.com/v1"
    vendor_domain = "openai.com"
    vendor_key = "OPENAI_API_KEY"
    rungs: tuple[Rung, ...] = ("json_schema", "tool", "json_object", "plain")

    def path(self, root: str) -> str:
        """The user's URL ends in the version, as everybody's does for this format."""
        return "/chat/completions"

    def headers(self, key: str) -> dict[str, str]:
        """A bearer token."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, model: str, request: Request, plan: Plan) -> Document:
        """The body of a request."""
        messages = [_said(message, plan) for message in conversation(request, plan)]
        body: Document = {"model": model, "messages": messages}
        if request.tools:
            body["tools"] = [dict(tool) for tool in request.tools]
        if request.schema is not None:
            _ask_for_schema(body, request, plan)
        sampling = request.sampling
        limit = "max_completion_tokens" if "max_tokens" in plan.without else "max_tokens"
        wished = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            limit: sampling.max_tokens,
            "seed": sampling.seed,
            "reasoning_effort": sampling.reasoning_effort,
            "stop": list(sampling.stop) or None,
        }
        body |= {name: value for name, value in wished.items() if value is not None}
        if request.want_tokens:
            body |= {name: True for name in ("logprobs", "return_token_ids") if name not in plan.without}
        if plan.stream:
            body["stream"] = True
            if "stream_options" not in plan.without:
                body["stream_options"] = {"include_usage": True}
        return {**body, **plan.extra}

    def assembled(self, events: Iterable[Event]) -> Document:
        """Deltas put together."""
        whole = _Whole()
        for _, chunk in documents(_until_done(events, whole)):
            whole.add(chunk)
        if not whole.done:
            raise Incomplete("the stream ended before the model did")
        return whole.document()

    def answer(self, document: Document) -> Answer:
        """The first choice."""
        raise_reported(document)
        choices = objects(document.get("choices"))
        if not choices or not isinstance(choices[0].get("message"), dict):
            raise Malformed("the answer has no message")
        choice, message = choices[0], choices[0]["message"]
        called = [
            (
                item.get("id"),
                mapping(item.get("function")).get("name"),
                mapping(item.get("function")).get("arguments"),
            )
            for item in objects(message.get("tool_calls"))
        ]
        refusal = string(message.get("refusal"))
        finish = _FINISH.get(string(choice.get("finish_reason")), "")
        return Answer(
            text=words(message.get("content")) or refusal,
            calls=read_calls(called),
            reasoning=string(message.get("reasoning_content")) or string(message.get("reasoning")) or None,
            signed=None,
            finish="refusal" if refusal else finish,
            model=string(document.get("model")),
            counts=_counts(mapping(document.get("usage"))),
            tokens=_tokens(document, choice),
        )


def _said(message: Message, plan: Plan) -> Document:
    said: Document = {"role": message.role, "content": message.content}
    if message.role == "tool":
        said["tool_call_id"] = message.tool_call_id or ""
    if message.tool_calls:
        said["content"] = message.content or None
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.function.name,
                    "arguments": json.dumps(call.function.arguments, ensure_ascii=False),
                },
            }
            for call in message.tool_calls
        ]
    if plan.send_reasoning and message.reasoning_content is not None:
        said["reasoning_content"] = message.reasoning_content
    return said


def _ask_for_schema(body: Document, request: Request, plan: Plan) -> None:
    if plan.rung == "json_schema":
        schema = {"name": ANSWER_TOOL, "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif plan.rung == "tool":
        function = {
            "name": ANSWER_TOOL,
            "description": ANSWER_DESCRIPTION,
            "parameters": request.schema,
            "strict": True,
        }
        body["tools"] = [*body.get("tools", ()), {"type": "function", "function": function}]
        body["tool_choice"] = {"type": "function", "function": {"name": ANSWER_TOOL}}
    elif plan.rung == "json_object":
        body["response_format"] = {"type": "json_object"}


def _until_done(events: Iterable[Event], whole: _Whole) -> Iterable[Event]:
    for event in events:
        if event.data.strip() == "[DONE]":
            whole.done = True
        yield event


class _Whole:
    """A message that comes in deltas."""

    def __init__(self) -> None:
        self.done = False
        self._model = ""
        self._texts: dict[str, list[str]] = {"content": [], "reasoning_content": [], "refusal": []}
        self._calls: dict[int, Document] = {}
        self._finish: str | None = None
        self._usage: Document = {}
        self._prompt_ids: Any = None
        self._ids: list[Any] = []
        self._logprobs: list[Any] = []

    def add(self, chunk: Document) -> None:
        self._model = string(chunk.get("model")) or self._model
        self._usage = mapping(chunk.get("usage")) or self._usage
        self._prompt_ids = chunk.get("prompt_token_ids") or self._prompt_ids
        for choice in objects(chunk.get("choices"))[:1]:
            delta = mapping(choice.get("delta"))
            self._texts["content"].append(words(delta.get("content")))
            thought = string(delta.get("reasoning_content")) or string(delta.get("reasoning"))
            self._texts["reasoning_content"].append(thought)
            self._texts["refusal"].append(string(delta.get("refusal")))
            for part in objects(delta.get("tool_calls")):
                self._call(part)
            self._ids += choice.get("token_ids") or []
            self._logprobs += mapping(choice.get("logprobs")).get("content") or []
            if choice.get("finish_reason"):
                self._finish = string(choice["finish_reason"])
                self.done = True

    def _call(self, part: Document) -> None:
        index = part.get("index")
        if not isinstance(index, int):
            # Who leaves out the number sends calls one after the other, each whole or begun by its id.
            index = len(self._calls) if part.get("id") or not self._calls else max(self._calls)
        call = self._calls.setdefault(index, {"id": "", "function": {"name": "", "arguments": ""}})
        call["id"] = string(part.get("id")) or call["id"]
        function = mapping(part.get("function"))
        call["function"]["name"] = call["function"]["name"] or string(function.get("name"))
        arguments = function.get("arguments")
        call["function"]["arguments"] += (
            json.dumps(arguments) if isinstance(arguments, dict) else string(arguments)
        )

    def document(self) -> Document:
        message: Document = {name: "".join(pieces) for name, pieces in self._texts.items()}
        message["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        choice = {
            "message": message,
            "finish_reason": self._finish,
            "token_ids": self._ids,
            "logprobs": {"content": self._logprobs},
        }
        return {
            "model": self._model,
            "choices": [choice],
            "usage": self._usage,
            "prompt_token_ids": self._prompt_ids,
        }


def _counts(usage: Document) -> Counts:
    prompt = count(usage.get("prompt_tokens"))
    details = mapping(usage.get("prompt_tokens_details"))
    cached = count(details.get("cached_tokens")) or count(usage.get("prompt_cache_hit_tokens"))
    return Counts(
        prompt=prompt,
        cached=min(cached, prompt),
        completion=count(usage.get("completion_tokens")),
        reasoning=count(mapping(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )


def _tokens(document: Document, choice: Document) -> Tokens | None:
    prompt = whole_numbers(document.get("prompt_token_ids"))
    completion = whole_numbers(choice.get("token_ids")) or whole_numbers(choice.get("output_ids"))
    items = objects(mapping(choice.get("logprobs")).get("content"))
    given = [item.get("logprob") for item in items]
    logprobs = tuple(float(value) for value in given if isinstance(value, int | float))
    if len(logprobs) != len(given):
        logprobs = ()
    if completion is None:
        completion = _spelled_ids(items)
    if prompt is None and completion is None and not logprobs:
        return None
    return Tokens(prompt_token_ids=prompt, completion_token_ids=completion, logprobs=logprobs or None)


def _spelled_ids(items: list[Document]) -> tuple[int, ...] | None:
    """Ids that vLLM spells as tokens (``return_tokens_as_token_ids``): ``token_id:123``."""
    numbers = [string(item.get("token")).removeprefix("token_id:") for item in items]
    spelled = [string(item.get("token")).startswith("token_id:") for item in items]
    if not numbers or not all(spelled) or not all(number.isdecimal() for number in numbers):
        return None
    return tuple(int(number) for number in numbers)
