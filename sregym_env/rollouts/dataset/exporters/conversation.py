"""A record as the conversation that a trainer wants: with tool calls, every one answered, ids that are unique."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sregym_env.llm.messages import Call, Function, Message
from sregym_env.rollouts.dataset.exporters.exporter import Losses, Settings
from sregym_env.rollouts.record import EpisodeRecord, Step
from sregym_env.tools.call import Action, CommandLine, Submission
from sregym_env.tools.parse import parse

UNUNDERSTOOD = ("parse_error", "unknown_tool")
"""Errors of turns that nobody should learn from."""

_THINKING = re.compile(r"\A\s*<think(?:ing)?>(.*?)</think(?:ing)?>", re.DOTALL)
_SAID_BESIDE = re.compile(
    r"<tool_call>.*?(?:</tool_call>|\Z)|^```[\w+-]*[ \t]*\n.*?^```[ \t]*$", re.DOTALL | re.MULTILINE
)


def conversation(record: EpisodeRecord, settings: Settings, losses: Losses) -> list[Message]:
    """The messages of a record, as the settings want them."""
    messages = list(record.opening)
    waiting = "mitigation" if record.config.get("stage") == "mitigation" else "diagnosis"
    for step in record.steps:
        first, last = step.message_span
        said, answers = record.messages[first], list(record.messages[first + 1 : last + 1])
        if settings.text_calls and not said.tool_calls:
            said, answers = _as_calls(said, answers, step, waiting, losses)
        messages += [said, *answers]
        waiting = step.stage
    return _with_unique_ids(messages, losses)


def lesson(record: EpisodeRecord, settings: Settings, losses: Losses) -> list[Message]:
    """What can be learned from by imitation: the conversation up to what the agent said last; empty if nothing.

    Formats for it have no place for rewards, verdicts and measurements.
    """
    messages = without_last_answer(conversation(record, settings, losses), losses)
    if messages:
        losses.add("rewards and measurements of steps", len(record.steps))
        losses.add("outcomes of episodes")
        losses.add("token ids of turns", sum(step.tokens is not None for step in record.steps))
    else:
        losses.add("episodes without a turn")
    return messages


def without_last_answer(messages: list[Message], losses: Losses) -> list[Message]:
    """A conversation that ends with what the agent said."""
    end = len(messages)
    while end and messages[end - 1].role != "assistant":
        end -= 1
    losses.add("observations after the last turn", len(messages) - end)
    return messages[:end]


def weights(record: EpisodeRecord) -> list[int]:
    """For every turn of the agent whether it is worth learning: 0 where it could not be understood."""
    return [0 if step.error_type in UNUNDERSTOOD else 1 for step in record.steps]


def function(call: Call) -> dict[str, Any]:
    """A call's name and arguments."""
    return {"name": call.function.name, "arguments": call.function.arguments}


def _as_calls(
    said: Message, answers: list[Message], step: Step, waiting: str, losses: Losses
) -> tuple[Message, list[Message]]:
    """A turn of text as tool calls with an answer each; as it was where it cannot be understood."""
    calls = []
    for number, action in enumerate(parse(said.content)):
        function = _function(action, waiting)
        if function is None:
            losses.add("turns of text that are no action, kept as text")
            return said, answers
        calls.append(Call(id=f"call_{step.t}_{number}", function=function))
    texts = _split("\n".join(answer.content for answer in answers), len(calls))
    if texts is None:
        losses.add("turns of text with several actions, kept as text")
        return said, answers
    thought, words = _words(said.content)
    turn = Message(
        role="assistant",
        content=words,
        reasoning_content=said.reasoning_content or thought,
        tool_calls=tuple(calls),
    )
    told = [
        Message(role="tool", content=text, tool_call_id=call.id, name=call.function.name)
        for text, call in zip(texts, calls, strict=True)
    ]
    return turn, told


def _function(action: Action, waiting: str) -> Function | None:
    if isinstance(action, Submission):
        stage = action.stage or waiting
        if stage == "diagnosis":
            return Function(name="submit_diagnosis", arguments={"text": action.text})
        return Function(name="submit_mitigation")
    if isinstance(action, CommandLine):
        if action.tool == "kubectl":
            return Function(name="kubectl", arguments={"command": action.line})
        if action.tool == "wait":
            return Function(name="wait", arguments={"seconds": int(action.line.removeprefix("sleep "))})
        if action.tool == "alerts":
            return Function(name="alerts")
        return Function(name="shell", arguments={"command": action.line})
    return None


def _words(text: str) -> tuple[str | None, str]:
    """What was thought, and what was said beside the actions."""
    found = _THINKING.match(text)
    rest = text[found.end() :] if found else text
    marked = _SAID_BESIDE.search(rest) is not None
    return (found[1].strip() if found else None), (_SAID_BESIDE.sub("", rest).strip() if marked else "")


def _split(observation: str, calls: int) -> list[str] | None:
    """The answers to single calls out of an observation that joins them."""
    if calls == 1:
        return [observation]
    texts = []
    rest = observation
    for number in range(1, calls + 1):
        heading = f"[{number}/{calls}]\n"
        before, found, rest = rest.partition(heading if number == 1 else f"\n{heading}")
        if not found or (number == 1 and before):
            return None
        if number > 1:
            texts.append(before)
    return [*texts, rest]


def _with_unique_ids(messages: Sequence[Message], losses: Losses) -> list[Message]:
    """Calls whose ids are empty or taken get new ones, and so do their answers."""
    taken: set[str] = set()
    renamed: list[Message] = []
    open_ids: Iterator[str] = iter(())
    for message in messages:
        if message.role == "tool":
            # The answers follow the calls in their order.
            renamed.append(message.model_copy(update={"tool_call_id": next(open_ids, message.tool_call_id)}))
            continue
        if message.tool_calls:
            calls = [_unique(call, taken, losses) for call in message.tool_calls]
            message = message.model_copy(update={"tool_calls": tuple(calls)})
            open_ids = iter([call.id for call in calls])
        renamed.append(message)
    return renamed


def _unique(call: Call, taken: set[str], losses: Losses) -> Call:
    identifier = call.id
    if not identifier or identifier in taken:
        losses.add("ids of calls that were empty or taken, renamed")
        identifier = f"call_{len(taken)}x"
    taken.add(identifier)
    return call if identifier == call.id else call.model_copy(update={"id": identifier})
