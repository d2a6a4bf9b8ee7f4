"""ATIF, the agent trajectory interchange format of Harbor and of the SREGym benchmark: a file per episode.

The format has no rewards: they go into ``extra`` of the steps, the outcome into ``extra`` of the final metrics.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sregym_env.llm.messages import Call, Function, Message
from sregym_env.llm.model import Usage
from sregym_env.rollouts.dataset.exporters.conversation import conversation
from sregym_env.rollouts.dataset.exporters.exporter import Format, Losses, Settings, Source
from sregym_env.rollouts.dataset.files import write_whole
from sregym_env.rollouts.record import EpisodeRecord, Step

NAME = "sregym_env"


def trajectory(record: EpisodeRecord, settings: Settings, losses: Losses) -> dict[str, Any]:
    """One episode as a trajectory."""
    messages = conversation(record, settings, losses)
    opening = len(record.opening)
    steps = [_said(message) for message in messages[:opening]]
    turns = _turns(messages[opening:])
    steps += [_step(record, step, turn) for step, turn in zip(record.steps, turns, strict=True)]
    return _known(
        {
            "schema_version": f"ATIF-v{settings.atif_version}",
            "session_id": record.run_id or record.rollout_id,
            "trajectory_id": record.rollout_id,
            "agent": _agent(record),
            "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
            "final_metrics": _final(record),
            "extra": {NAME: _about(record)},
        }
    )


def write(source: Source, path: Path, settings: Settings, losses: Losses) -> int:
    """A folder with a trajectory per file."""
    path.mkdir(parents=True, exist_ok=True)
    number = 0
    for record in source.records():
        text = json.dumps(trajectory(record, settings, losses), ensure_ascii=False, indent=1)
        write_whole(path / f"{record.rollout_id}.json", text.encode())
        number += 1
    return number


def actions_of(document: Mapping[str, Any]) -> list[str]:
    """What the environment was told, read back from a trajectory."""
    actions = []
    for step in document["steps"]:
        if step["source"] == "agent":
            calls = tuple(
                Call(
                    id=call["tool_call_id"],
                    function=Function(name=call["function_name"], arguments=call["arguments"]),
                )
                for call in step.get("tool_calls", ())
            )
            actions.append(Message(role="assistant", content=step["message"], tool_calls=calls).action)
    return actions


def _said(message: Message) -> dict[str, Any]:
    """A message of the opening. Examples of what an agent would say are none of its turns."""
    source = "system" if message.role == "system" else "user"
    return {"source": source, "message": message.content}


def _turns(messages: list[Message]) -> list[list[Message]]:
    """A turn of the agent and its answers, each."""
    turns: list[list[Message]] = []
    for message in messages:
        if message.role == "assistant":
            turns.append([])
        turns[-1].append(message)
    return turns


def _step(record: EpisodeRecord, step: Step, turn: list[Message]) -> dict[str, Any]:
    said, answers = turn[0], turn[1:]
    deterministic = record.policy.model is None and not said.reasoning_content
    calls = [
        {"tool_call_id": call.id, "function_name": call.function.name, "arguments": call.function.arguments}
        for call in said.tool_calls
    ]
    results = [_known({"source_call_id": each.tool_call_id, "content": each.content}) for each in answers]
    return _known(
        {
            "source": "agent",
            "message": said.content,
            "reasoning_content": said.reasoning_content,
            "tool_calls": calls or None,
            "observation": {"results": results},
            "metrics": None if deterministic else _metrics(step),
            "llm_call_count": 0 if deterministic else 1,
            "extra": _extra(step),
        }
    )


def _metrics(step: Step) -> dict[str, Any] | None:
    usage, tokens = step.usage, step.tokens
    found = _known(
        {
            **(_used(usage) if usage is not None else {}),
            "prompt_token_ids": None if tokens is None else tokens.prompt_token_ids,
            "completion_token_ids": None if tokens is None else tokens.completion_token_ids,
            "logprobs": None if tokens is None else tokens.logprobs,
            "extra": _known({"finish_reason": step.finish_reason}) or None,
        }
    )
    return found or None


def _used(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost_usd": usage.cost_usd,
    }


def _extra(step: Step) -> dict[str, Any]:
    """What the format has no place for, of one step."""
    kept = step.model_dump(
        mode="json", exclude={"message_span", "tokens", "usage", "finish_reason", "timing"}
    )
    return _known(kept)


def _agent(record: EpisodeRecord) -> dict[str, Any]:
    policy = record.policy
    return _known(
        {
            "name": policy.name,
            "version": policy.version or "unknown",
            "model_name": policy.model,
            "tool_definitions": list(record.tools) or None,
            "extra": {"settings": policy.settings} if policy.settings else None,
        }
    )


def _final(record: EpisodeRecord) -> dict[str, Any]:
    used = {} if record.usage is None else _used(record.usage)
    outcome = record.model_dump(mode="json", by_alias=True, include=set(_OUTCOME))
    return _known(
        {
            **{f"total_{name}": value for name, value in used.items()},
            "total_steps": len(record.opening) + len(record.steps),
            "extra": outcome,
        }
    )


_OUTCOME = (
    "return_",
    "reward_terms",
    "success",
    "exit_reason",
    "failure",
    "trainable",
    "diagnosis",
    "grade",
    "oracle",
    "ttd_s",
    "ttm_s",
    "sim_time_s",
    "commands",
    "final_digest",
)

_ABOUT = (
    "schema_version",
    "group_id",
    "sample_index",
    "attempt",
    "task_id",
    "episode_id",
    "backend",
    "seed",
    "config",
    "package",
)


def _about(record: EpisodeRecord) -> dict[str, Any]:
    return record.model_dump(mode="json", include=set(_ABOUT))


def _known(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if value is not None}


ATIF = Format(
    "atif",
    "ATIF trajectories, a file per episode; rewards in extra",
    "",
    write,
    ("text_calls", "atif_version"),
)
