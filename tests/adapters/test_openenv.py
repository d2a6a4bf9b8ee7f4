"""OpenEnv's own client against its own server, with our environment in between."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("openenv", reason="OpenEnv is not installed: make adapters")

import httpx
import uvicorn
from openenv.core.generic_client import GenericEnvClient

import sregym_env.adapters.openenv as adapter
from tests.adapters.playing import PROBLEM, SEED, solution


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(adapter.app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


def test_a_whole_episode(url: str) -> None:
    diagnosis, repair = solution()
    with GenericEnvClient(base_url=url).sync() as env:
        found = env.reset(seed=SEED, problem=PROBLEM)
        assert "on call" in found.observation["text"]
        assert not found.done
        for line in (f"submit diagnosis <<'E'\n{diagnosis}\nE", *repair, "submit mitigation"):
            found = env.step({"text": line})
        assert found.done
        assert found.reward == pytest.approx(1.0)
        state = env.state()
        assert _of(state, "step_count") == 2 + len(repair)


def _of(state: Any, name: str) -> Any:
    return state[name] if isinstance(state, dict) else getattr(state, name)


def test_sessions_side_by_side(url: str) -> None:
    with GenericEnvClient(base_url=url).sync() as one, GenericEnvClient(base_url=url).sync() as other:
        one.reset(seed=1, problem=PROBLEM)
        other.reset(seed=2, problem=PROBLEM)
        command = {"text": "kubectl get pods -A -o name | sort | head -3"}
        assert one.step(command).observation["text"] != other.step(command).observation["text"]


def test_tasks_can_be_listed_and_chosen(url: str) -> None:
    env = adapter.SREGymEnvironment()
    assert env.list_splits() == ["train", "validation", "test", "all"]
    assert env.num_tasks("all") == 21 == len(env.list_tasks("all"))
    assert env.get_task("test", 1) == {"id": "test-1", "index": 1}
    assert len(env.get_task_range("test", 1)) == env.num_tasks("test") - 1
    with pytest.raises(IndexError, match="no number 99"):
        env.get_task("test", 99)
    assert env.reset(seed=0, split="test", index=1).text
    listed = httpx.get(f"{url}/sregym_env/splits")
    assert listed.status_code == 200, listed.text
    assert "validation" in listed.text


def test_a_rejected_action_is_an_observation() -> None:
    env = adapter.SREGymEnvironment()
    env.reset(seed=0)
    seen = env.step(adapter.SREGymAction(text='{"name": "no_such_tool"}'))
    assert (seen.error_type, seen.done) == ("unknown_tool", False)
