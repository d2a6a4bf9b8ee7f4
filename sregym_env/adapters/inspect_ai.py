"""inspect-ai: ``inspect eval sregym_env/sregym --model ...``.

A sample is a problem and a seed; the solver lets the model call the environment's tools until the episode is over, and
the scorer reports the reward, the success and what both graders found. What broke outside the agent raises, so that
inspect retries the sample or reports it as an error: it is never scored as zero.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio.to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolDef

from sregym_env.adapters.session import Session, rows
from sregym_env.adapters.trl import SYSTEM, SREGymTools
from sregym_env.errors import SREGymError

TOOLS = ("shell", "alerts", "wait", "submit_diagnosis", "submit_mitigation")

TURNS = 100
"""Turns after which a sample is settled as it stands; the environment's budget of commands ends most before."""


class EpisodeVoid(SREGymError):
    """Something else than the agent failed; the sample has no score."""


@task
def sregym(
    suite: str = "lite", split: str | None = None, seeds: int = 1, turns: int = TURNS, **arguments: Any
) -> Task:
    """The task: a suite, or its part in a split by fault family, each problem with so many seeds.

    Further arguments are the environment's (``noise``, ``variation``, ``stage``, ``max_commands``...).
    """
    samples = [
        Sample(id=row["task"], input="", metadata={"problem": row["problem"], "seed": row["seed"]})
        for row in rows(suite, part=split, seeds=range(seeds))  # type: ignore[arg-type]
    ]
    return Task(dataset=samples, solver=on_call(turns, **arguments), scorer=graded())


@solver
def on_call(turns: int = TURNS, **arguments: Any) -> Solver:
    """Lets the model call tools until the episode is over."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        session = Session(**arguments)
        briefing = await anyio.to_thread.run_sync(
            session.begin, state.metadata["problem"], state.metadata["seed"]
        )
        state.messages = [ChatMessageSystem(content=SYSTEM), ChatMessageUser(content=briefing)]
        state.tools = [_tool(session, name) for name in TOOLS]
        for _ in range(turns):
            state = await generate(state, tool_calls="single")
            if session.over:
                break
            if not state.output.message.tool_calls:
                state.messages.append(ChatMessageUser(content="Call a tool, or hand in."))
        reward = await anyio.to_thread.run_sync(session.reward)
        if reward is None:
            raise EpisodeVoid(
                f"the episode has no outcome: {session.info['exit_reason'] or 'the judge failed'}"
            )
        state.store.set("sregym", {"reward": reward, **session.metrics(), "grade": session.info["grade"]})
        return state

    return solve


@scorer(metrics={"reward": [mean(), stderr()], "success": [mean(), stderr()]})
def graded() -> Scorer:
    """The reward and the success; why, in the explanation."""

    async def score(state: TaskState, target: Target) -> Score:
        found = state.store.get("sregym")
        return Score(
            value={"reward": found["reward"], "success": found["success"]},
            explanation=found["grade"],
            metadata={name: value for name, value in found.items() if name != "grade"},
        )

    return score


def _tool(session: Session, name: str) -> Tool:
    """A tool of the environment as inspect's, described as it describes itself to other trainers."""

    async def execute(**arguments: Any) -> str:
        return await anyio.to_thread.run_sync(lambda: session.call(name, **arguments))

    described = ToolDef(getattr(SREGymTools, name), name=name)
    described.parameters.properties.pop("self", None)
    described.parameters.required = [each for each in described.parameters.required if each != "self"]
    called: Callable[..., Awaitable[str]] = execute
    return ToolDef(
        called, name=name, description=described.description, parameters=described.parameters, parallel=False
    ).as_tool()
