"""OpenAI's responses, as a server sees them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.llm.wires.said import (
    Document,
    Heard,
    Refused,
    Said,
    arguments_text,
    demand_object,
    parts_text,
    pieces,
)


def heard(body: Document, headers: dict[str, str]) -> Heard:
    lines: list[tuple[str, str]] = []
    open_calls: list[str] = []
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "message":
            lines.append((item["role"], parts_text(item["content"])))
        elif kind == "function_call":
            demand_object(item["arguments"])
            open_calls.append(item["call_id"])
            lines.append(("call", item["name"]))
        elif kind == "function_call_output":
            if item["call_id"] not in open_calls:
                raise Refused(f"No tool call found for function call output with call_id {item['call_id']}.")
            open_calls.remove(item["call_id"])
            lines.append(("tool", item["output"]))
        elif kind != "reasoning":
            raise Refused(f"Invalid value: {kind!r}")
    if open_calls:
        raise Refused(f"No tool output found for function call {open_calls[0]}.")
    choice = body.get("tool_choice")
    forced = choice["name"] if isinstance(choice, dict) else ""
    rung = body.get("text", {}).get("format", {}).get("type", "")
    return Heard(
        api="responses",
        body=body,
        headers=headers,
        system=body.get("instructions", ""),
        messages=tuple(_merged(lines)),
        tools=tuple(tool["name"] for tool in body.get("tools", ())),
        forced=forced,
        rung=rung or ("tool" if forced else ""),
    )


def _merged(lines: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Calls and the words before them are one turn of the assistant."""
    merged: list[tuple[str, str]] = []
    for role, text in lines:
        turn = "assistant" if role == "call" else role
        if role == "call" and merged and merged[-1][0] == "assistant":
            continue
        merged.append((turn, "" if role == "call" else text))
    return merged


def _items(said: Said, number: int) -> list[Document]:
    items: list[Document] = []
    if said.thinking:
        items.append(
            {
                "id": f"rs_{number}",
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": said.thinking}],
                "encrypted_content": f"sealed-{number}",
            }
        )
    if said.text:
        items.append(
            {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": said.text, "annotations": []}],
            }
        )
    for index, (name, arguments) in enumerate(said.calls):
        items.append(
            {
                "id": f"fc_{number}_{index}",
                "type": "function_call",
                "call_id": f"call_{number}_{index}",
                "name": name,
                "arguments": arguments_text(arguments),
                "status": "completed",
            }
        )
    return items


def document(said: Said, request: Heard, number: int) -> Document:
    answer: Document = {
        "id": f"resp_{number}",
        "object": "response",
        "model": f"{request.body['model']}-2026-01-01",
        "status": "incomplete" if said.finish else "completed",
        "incomplete_details": {"reason": said.finish} if said.finish else None,
        "error": None,
        "output": _items(said, number),
        "usage": {
            "input_tokens": said.prompt_tokens,
            "input_tokens_details": {"cached_tokens": said.cached_tokens},
            "output_tokens": said.completion_tokens,
            "output_tokens_details": {"reasoning_tokens": said.reasoning_tokens},
            "total_tokens": said.prompt_tokens + said.completion_tokens,
        },
    }
    return answer


def events(said: Said, request: Heard, number: int) -> Iterator[tuple[str, Document | str]]:
    whole = document(said, request, number)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"type": "response.created", "response": begun}
    for index, item in enumerate(whole["output"]):
        yield (
            "response.output_item.added",
            {"type": "response.output_item.added", "output_index": index, "item": item},
        )
        for piece in pieces(item.get("arguments", "")):
            yield (
                "response.function_call_arguments.delta",
                {"type": "response.function_call_arguments.delta", "output_index": index, "delta": piece},
            )
        yield (
            "response.output_item.done",
            {"type": "response.output_item.done", "output_index": index, "item": item},
        )
    kind = "response.incomplete" if said.finish else "response.completed"
    yield kind, {"type": kind, "response": whole}
