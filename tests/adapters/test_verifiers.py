"""verifiers' own episode machinery and chat harness, with a scripted model server."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("verifiers.v1", reason="verifiers is not installed: make adapters")

import verifiers.v1 as vf
from verifiers.v1.clients import ModelContext
from verifiers.v1.configs.client import EvalClientConfig
from verifiers.v1.runtimes import SubprocessConfig

from sregym_env.adapters.verifiers import (
    SREGymConfig,
    SREGymEnvironment,
    SREGymEnvironmentConfig,
    SREGymTaskset,
)
from tests.adapters.playing import solution
from tests.llm.server import ScriptedServer, replay

SMOKE_INDEX = 2


def test_a_task_set_has_a_task_for_every_problem_and_seed() -> None:
    tasks = list(SREGymTaskset(SREGymConfig(suite="smoke", seeds=2)))
    assert len(tasks) == 10
    assert len({task.key for task in tasks}) == 10
    assert "on call" in tasks[0].data.prompt_text
    assert all("network_policy" not in f"{task.data.name}{task.data.prompt_text}" for task in tasks)


def test_a_whole_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SREGYM_TEST_KEY", "none")
    diagnosis, repair = solution()
    lines = (f"submit diagnosis <<'E'\n{diagnosis}\nE", *repair, "submit mitigation")
    config = SREGymEnvironmentConfig(
        taskset=SREGymConfig(id="sregym_verifiers", suite="smoke", seeds=4),
        engineer=vf.AgentConfig(harness={"id": "null"}, runtime=SubprocessConfig()),
    )

    async def play(url: str) -> vf.Episode:
        env = SREGymEnvironment(config)
        client = EvalClientConfig(base_url=url, api_key_var="SREGYM_TEST_KEY")
        context = ModelContext(model="scripted", client=client)
        task = list(env.taskset)[SMOKE_INDEX * 4 + 3]
        async with env.serving():
            return await env.run_episode(task, context)

    with ScriptedServer(replay(*lines)) as server:
        episode = asyncio.run(play(server.base_url("chat")))
    assert not episode.errors, episode.errors
    trace = episode.traces[0]
    assert trace.rewards["sregym"].score == pytest.approx(1.0)
    assert trace.metrics["success"] == 1.0
