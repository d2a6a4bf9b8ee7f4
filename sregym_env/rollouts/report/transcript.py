"""One episode as the page shows it: what was thought, done and seen, step by step, and how it was graded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sregym_env.llm.messages import Call, Message
from sregym_env.rewards.checklist import checklist
from sregym_env.rollouts.record import EpisodeRecord, Labels, Step


def transcript(record: EpisodeRecord, labels: Labels | None, *, truth: bool, longest: int) -> dict[str, Any]:
    """Plain JSON. Texts longer than ``longest`` characters lose their middle; ``truth`` shows what the labels hold."""
    first = record.steps[0].message_span[0] if record.steps else len(record.messages)
    shown = labels if truth else None
    return {
        "id": record.rollout_id,
        "opening": [
            {"role": message.role, "text": cut(message.content, longest)}
            for message in record.messages[:first]
        ],
        "steps": [_step(record, step, longest) for step in record.steps],
        "end": record.sim_time_s,
        "diagnosis": None if record.diagnosis is None else cut(record.diagnosis, longest),
        "checks": _checks(record, shown),
        "answers": _answers(record, shown),
        "causes": [] if shown is None else [_cause(spec) for spec in shown.specs],
        "failure": None if record.failure is None else cut(record.failure.detail, longest),
    }


def _cause(spec: Mapping[str, Any]) -> dict[str, Any]:
    names = (
        "fault",
        "layer",
        "components",
        "cause",
        "resource_kind",
        "resource_name",
        "field",
        "wrong",
        "right",
    )
    return {name: spec.get(name, "") for name in (*names, "affected", "journeys")}


def _step(record: EpisodeRecord, step: Step, longest: int) -> dict[str, Any]:
    message = record.messages[step.message_span[0]]
    thought, command = said(message)
    return {
        "time": step.sim_time_s,
        "thought": cut(thought, longest),
        "command": cut(command, longest),
        "seen": cut(record.observation(step), longest),
        "cut": step.obs_truncated,
        "reward": step.reward,
        "terms": step.reward_terms,
        "stage": step.stage,
        "exit": step.exit_code,
        "error": step.error_type,
        "commands": step.commands,
        "tokens": None if step.usage is None else step.usage.total_tokens,
        "potential": step.potential,
    }


def said(message: Message) -> tuple[str, str]:
    """What an assistant thought and what it did: words beside tool calls are thoughts, words alone the action."""
    thoughts = [message.reasoning_content or ""]
    if not message.tool_calls:
        return "\n".join(filter(None, thoughts)), message.content
    thoughts.append(message.content)
    return "\n".join(filter(None, thoughts)), "\n".join(map(_called, message.tool_calls))


def _called(call: Call) -> str:
    arguments = call.function.arguments
    if call.function.name == "shell" and set(arguments) == {"command"}:
        return str(arguments["command"])
    if set(arguments) in ({"command"}, {"text"}):
        return f"{call.function.name} {next(iter(arguments.values()))}"
    told = json.dumps(arguments, ensure_ascii=False) if arguments else ""
    return f"{call.function.name} {told}".rstrip()


def _checks(record: EpisodeRecord, labels: Labels | None) -> list[dict[str, Any]] | None:
    """The oracle's checks: with what was seen and wanted where the labels are shown."""
    if labels is not None and labels.oracle is not None:
        return list(labels.oracle["checks"])
    if record.oracle is None:
        return None
    return [{"name": name, "passed": passed} for name, passed in record.oracle["checks"].items()]


def _answers(record: EpisodeRecord, labels: Labels | None) -> list[dict[str, Any]] | None:
    """The judge's answers beside their questions: with their evidence where the labels are shown."""
    if record.grade is None:
        return None
    questions = {question.id: question.text for question in checklist().questions}
    evidence = {}
    if labels is not None and labels.grade is not None:
        evidence = {answer["id"]: answer["evidence"] for answer in labels.grade["answers"]}
    return [
        {
            "id": name,
            "question": questions.get(name, name),
            "passed": yes,
            "evidence": evidence.get(name, ""),
        }
        for name, yes in record.grade["answers"].items()
    ]


def cut(text: str, longest: int) -> str:
    """The beginning and the end of a text that is too long, and how much is missing between them."""
    if len(text) <= longest:
        return text
    head, tail = longest * 2 // 3, longest // 3
    return f"{text[:head]}\n[... {len(text) - head - tail:,} characters left out here ...]\n{text[-tail:]}"
