"""verifiers: a task set, and an environment in which the world answers the model turn by turn.

The world plays the user: each reply of the model is carried out (a command line, or a tool call in any dialect that is
understood), and what it printed is the next turn. ``vf.load_taskset`` finds the classes by this module's ``__all__``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from sregym_env.adapters.session import Session, rows
from sregym_env.adapters.trl import SYSTEM
from sregym_env.envs.tasks.splits import By, Split

__all__ = ["SREGymEnvironment", "SREGymTask", "SREGymTaskset"]


class SREGymConfig(vf.TasksetConfig):
    """Which problems, and how they are played."""

    suite: str = "lite"
    part: Split | None = None
    """Only this split."""
    by: By = "family"
    seeds: int = 1
    """Seeds per problem."""
    arguments: dict[str, Any] = {}
    """Arguments of the environment."""


class SREGymData(vf.TaskData):
    """One problem and its seed. What the model is told is the prompt."""

    problem: str
    seed: int
    arguments: dict[str, Any] = {}


class SREGymTask(vf.Task[SREGymData, vf.State, vf.TaskConfig]):
    """A problem to play."""

    @property
    def key(self) -> str:
        """Stable: what is played, not where it stands in a list."""
        return f"{self.data.name}"


class SREGymTaskset(vf.Taskset[SREGymTask, SREGymConfig]):
    """The problems of a suite or of its part in a split."""

    def load(self) -> Iterator[SREGymTask]:
        """Every problem with every seed, its briefing as the prompt."""
        config = self.config
        for row in rows(config.suite, part=config.part, by=config.by, seeds=range(config.seeds)):
            session = Session(**config.arguments)
            briefing = session.begin(row["problem"], row["seed"])
            yield SREGymTask(
                SREGymData(
                    # The environment's own opaque name, which says nothing about the fault.
                    name=session.episode_id,
                    prompt=briefing,
                    system_prompt=SYSTEM,
                    problem=row["problem"],
                    seed=row["seed"],
                    arguments=config.arguments,
                ),
                config.task,
            )


class SREGymEnvironmentConfig(vf.EnvConfig):
    """One seat."""

    engineer: vf.AgentConfig = vf.AgentConfig()


class SREGymEnvironment(vf.Env[SREGymEnvironmentConfig]):
    """Plays a task: the model's replies against the world."""

    async def run(self, task: SREGymTask, agents: Any) -> None:
        """One episode. A reward of None stays unrecorded: scoring did not happen."""
        data = task.data
        session = Session(**data.arguments)
        await asyncio.to_thread(session.begin, data.problem, data.seed)
        async with agents.engineer.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                observation = await asyncio.to_thread(session.say, segment.last_reply)
                if session.over:
                    break
                segment = await interaction.turn(observation or "(nothing was printed)")
        reward = await asyncio.to_thread(session.reward)
        trace = interaction.trace
        if reward is None:
            raise RuntimeError("the episode has no outcome: the judge or the world failed")
        trace.record_reward("sregym", reward, 1.0)
        trace.record_metrics(session.metrics())
