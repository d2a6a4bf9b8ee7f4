"""OpenAI's responses. Nothing is kept on the server: the whole conversation is sent every time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from sregym_env.llm.messages import Message
from sregym_env.llm.model import FinishReason, Request
from sregym_env.llm.sse import Event
from sregym_env.llm.wire.asking import (
    ANSWER_DESCRIPTION,
    conversation,
    functions,
    split_system,
    unwrapped_reasoning,
    wrapped_reasoning,
)
from sregym_env.llm.wire.reading import (
    count,
    documents,
    mapping,
    objects,
    raise_reported,
    read_calls,
    reported,
    sequence,
    string,
)
from sregym_env.llm.wire.wire import ANSWER_TOOL, Answer, Counts, Document, Incomplete, Malformed, Plan, Rung

SEALED = "reasoning.encrypted_content"

_INCOMPLETE: dict[str, FinishReason] = {"max_output_tokens": "length", "content_filter": "content_filter"}

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class ResponsesWire:
    """``POST /responses``."""

    home = "https://api.openai.com/v1"
    vendor_domain = "openai.com"
    vendor_key = "OPENAI_API_KEY"
    rungs: tuple[Rung, ...] = ("json_schema", "tool", "json_object", "plain")

    def path(self, root: str) -> str:
        """The user's URL ends in the version."""
        return "/responses"

    def headers(self, key: str) -> dict[str, str]:
        """A bearer token."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, model: str, request: Request, plan: Plan) -> Document:
        """The body of a request. A seed and stop words do not exist in this format and are left out."""
        system, rest = split_system(conversation(request, plan))
        body: Document = {
            "model": model,
            "input": [item for each in rest for item in _items(each)],
            "store": False,
        }
        if system:
            body["instructions"] = system
        if request.tools:
            body["tools"] = [{"type": "function", **function} for function in functions(request)]
        if request.schema is not None:
            _ask_for_schema(body, request, plan)
        if "encrypted" not in plan.without:
            body["include"] = [SEALED]
        sampling = request.sampling
        effort = sampling.reasoning_effort
        wished = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_output_tokens": sampling.max_tokens,
            "reasoning": None if effort is None else {"effort": effort},
        }
        body |= {name: value for name, value in wished.items() if value is not None}
        if plan.stream:
            body["stream"] = True
        return {**body, **plan.extra}

    def assembled(self, events: Iterable[Event]) -> Document:
        """The response that the last event carries whole; its items from the events before it where it has none."""
        items: list[Document] = []
        for name, event in documents(events):
            kind = string(event.get("type")) or name
            if kind == "error":
                raise reported(event)
            if kind == "response.output_item.done":
                items.append(mapping(event.get("item")))
            if kind in _ENDS:
                response = mapping(event.get("response"))
                return response if response.get("output") else {**response, "output": items}
        raise Incomplete("the stream ended before the model did")

    def answer(self, document: Document) -> Answer:
        """What the output's items say."""
        raise_reported(document)
        status = string(document.get("status"))
        if status in ("failed", "cancelled"):
            raise reported(document.get("error") or {"message": f"the response {status}"})
        if not isinstance(document.get("output"), list):
            raise Malformed("the answer has no output")
        items = objects(document["output"])
        parts = [
            part for item in items if item.get("type") == "message" for part in objects(item.get("content"))
        ]
        refusal = "".join(string(part.get("refusal")) for part in parts)
        text = "".join(string(part.get("text")) for part in parts)
        called = [
            (item.get("call_id"), item.get("name"), item.get("arguments"))
            for item in items
            if item.get("type") == "function_call"
        ]
        reason = string(mapping(document.get("incomplete_details")).get("reason"))
        finish: FinishReason = "tool_calls" if called else "stop"
        if status == "incomplete":
            finish = _INCOMPLETE.get(reason, "")
        return Answer(
            text=text or refusal,
            calls=read_calls(called),
            reasoning=_reasoning(items),
            signed=wrapped_reasoning("responses", _sealed(items)),
            finish="refusal" if refusal else finish,
            model=string(document.get("model")),
            counts=_counts(mapping(document.get("usage"))),
        )


def _items(message: Message) -> list[Document]:
    if message.role == "tool":
        return [
            {
                "type": "function_call_output",
                "call_id": message.tool_call_id or "",
                "output": message.content,
            }
        ]
    if message.role != "assistant":
        return [{"role": message.role, "content": message.content}]
    items = unwrapped_reasoning("responses", message)
    if message.content:
        items.append({"role": "assistant", "content": message.content})
    for call in message.tool_calls:
        items.append(
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.function.name,
                "arguments": json.dumps(call.function.arguments, ensure_ascii=False),
            }
        )
    # Who said nothing has had a turn all the same.
    return items or [{"role": "assistant", "content": ""}]


def _ask_for_schema(body: Document, request: Request, plan: Plan) -> None:
    if plan.rung == "json_schema":
        form = {"type": "json_schema", "name": ANSWER_TOOL, "strict": True, "schema": request.schema}
        body["text"] = {"format": form}
    elif plan.rung == "tool":
        tool = {
            "type": "function",
            "name": ANSWER_TOOL,
            "description": ANSWER_DESCRIPTION,
            "parameters": request.schema,
            "strict": True,
        }
        body["tools"] = [*body.get("tools", ()), tool]
        body["tool_choice"] = {"type": "function", "name": ANSWER_TOOL}
    elif plan.rung == "json_object":
        body["text"] = {"format": {"type": "json_object"}}


def _reasoning(items: Sequence[Document]) -> str | None:
    """What the model thought in its own words, or else in the server's summary."""
    texts = []
    for item in items:
        if item.get("type") == "reasoning":
            parts = objects(item.get("content")) or objects(item.get("summary"))
            texts += [string(part.get("text")) for part in parts]
    return "\n\n".join(text for text in texts if text) or None


def _sealed(items: Sequence[Document]) -> list[Document]:
    """The reasoning items that the server can read again; the others would be unknown to it."""
    return [
        {
            "type": "reasoning",
            "id": item.get("id"),
            "summary": sequence(item.get("summary")),
            "encrypted_content": item["encrypted_content"],
        }
        for item in items
        if item.get("type") == "reasoning" and isinstance(item.get("encrypted_content"), str)
    ]


def _counts(usage: Document) -> Counts:
    prompt = count(usage.get("input_tokens"))
    cached = count(mapping(usage.get("input_tokens_details")).get("cached_tokens"))
    return Counts(
        prompt=prompt,
        cached=min(cached, prompt),
        completion=count(usage.get("output_tokens")),
        reasoning=count(mapping(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )
