"""The tools of an episode as MCP clients find them, asked by the library's own client."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.serve.incidents import Incidents
from sregym_env.serve.offered import offers
from sregym_env.tools.call import Refusal, ToolCall
from sregym_env.tools.tool import TOOLS, action

mcp = pytest.importorskip("mcp")
model_context = pytest.importorskip("sregym_env.cli.model_context")

PROBLEM = "hotel-reservation/scale_to_zero/geo"

SREGYM: dict[str, dict[str, Any]] = {
    "exec_kubectl_cmd_safely": {"cmd": "kubectl get pods"},
    "get_metrics": {"query": "up"},
    "get_alerts": {},
    "get_services": {},
    "get_operations": {"service": "frontend"},
    "get_traces": {"service": "frontend", "last_n_minutes": 5},
    "get_dependency_graph": {},
    "get_logs": {"query": '{app="geo"}', "last_n_minutes": 5},
    "get_labels": {},
    "get_label_values": {"label": "app"},
    "submit": {"ans": "geo has no replicas"},
}
"""Tools of SREGym's servers, and arguments as they take them."""


def text(result: Any) -> str:
    (content,) = result.content
    return str(content.text)


def staged() -> SREGymEnv:
    env = SREGymEnv(PROBLEM, variation=False)
    env.reset(seed=1)
    return env


def test_all_that_the_environment_has_is_offered_by_itself() -> None:
    found = offers()
    assert [*found][: len(TOOLS)] == [tool.name for tool in TOOLS]
    assert {"exec_kubectl_cmd_safely", "get_alerts", "submit"} <= set(found)
    own = {tool.name for tool in TOOLS}
    assert ("get_metrics" in found) is ("promql" in own)
    assert ("get_logs" in found) is ("logql" in own)
    assert ("get_dependency_graph" in found) is ("traces" in own)
    assert set(found) <= own | set(SREGYM)


@pytest.mark.parametrize("name", sorted(set(SREGYM) & set(offers())))
def test_the_names_of_sregym_are_understood(name: str) -> None:
    """As the environment's own tools: none is refused, and what answers is the tool that it stands for."""
    call = json.loads(offers()[name].action(SREGYM[name]))
    assert not isinstance(action(ToolCall(call["name"], call["arguments"])), Refusal)
    observation, _, _, _, info = staged().step(offers()[name].action(SREGYM[name]))
    assert info["error_type"] == "", observation


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("exec_kubectl_cmd_safely", {}),
        ("exec_kubectl_cmd_safely", {"cmd": 3}),
        ("exec_kubectl_cmd_safely", {"cmd": "get pods", "namespace": "default"}),
        ("submit", {"answer": "x"}),
    ],
)
def test_arguments_that_do_not_fit_are_told(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="argument"):
        offers()[name].action(arguments)


async def played(client: Any, env: SREGymEnv) -> None:
    """A whole episode through a client."""
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == [*offers()]
    assert "hotel-reservation" in client.instructions
    assert "geo" in text(await client.call_tool("shell", {"command": "kubectl get deploy -A | grep geo"}))
    assert "geo" in text(await client.call_tool("exec_kubectl_cmd_safely", {"cmd": "kubectl get deploy -A"}))
    wrong = await client.call_tool("exec_kubectl_cmd_safely", {"command": "get pods"})
    assert wrong.is_error and "unknown argument 'command'" in text(wrong)
    assert (await client.call_tool("format_the_disk", {})).is_error
    failed = await client.call_tool("kubectl", {"command": "get pods nothing"})
    assert not failed.is_error and "NotFound" in text(failed)
    solution = env.episode.staged.solutions[0]
    for line in solution.remedies[0]:
        await client.call_tool("shell", {"command": line})
    said = json.loads(text(await client.call_tool("submit", {"ans": solution.diagnosis})))
    assert said["status"] == "200"
    said = json.loads(text(await client.call_tool("submit", {"ans": ""})))
    assert said["status"] == "done" and "success" not in said["text"].lower()


def test_in_process() -> None:
    from sregym_env.serve.model_context import server

    env = staged()

    def act(said: str) -> tuple[str, dict[str, Any]]:
        observation, _, _, _, info = env.step(said)
        return observation, info

    async def run() -> None:
        async with mcp.Client(server(act, "of hotel-reservation")) as client:
            await played(client, env)

    asyncio.run(run())
    assert env.episode.waiting_for == "done"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_standard_streams(tmp_path: Path, mode: Any) -> None:
    report = tmp_path / "result.json"
    words = [
        "-m",
        "sregym_env.cli.main",
        "mcp",
        PROBLEM,
        "--seed",
        "1",
        "--published",
        "--result",
        str(report),
    ]
    parameters = mcp.StdioServerParameters(
        command=sys.executable, args=words, env={"PYTHONPATH": ":".join(sys.path)}
    )

    async def run() -> None:
        async with mcp.Client(parameters, mode=mode) as client:
            await played(client, staged())

    asyncio.run(run())
    result = json.loads(report.read_text())
    assert result["is_success"] and result["reward"] > 0.5


def test_who_leaves_early_is_paid_for_what_was_handed_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (solution,) = staged().episode.staged.solutions

    def left(act: Callable[[str], Any], _briefing: str) -> None:
        act(f"submit diagnosis {shlex.quote(solution.diagnosis)}")

    monkeypatch.setattr(model_context, "over_standard_streams", left)
    report = tmp_path / "made for it" / "result.json"
    model_context.serve(PROBLEM, seed=1, noise=False, variation=False, max_commands=60, report=report)
    result = json.loads(report.read_text())
    assert (result["exit_reason"], result["trainable"]) == ("gave_up", True)
    assert result["reward"] == pytest.approx(0.4)


def test_a_result_that_could_not_be_written_is_told_before_the_episode(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"--result .* cannot be written"):
        model_context.serve(
            PROBLEM,
            seed=1,
            noise=False,
            variation=False,
            max_commands=60,
            report=tmp_path / "file" / "result.json",
        )


class Pool:
    """A running pool with one incident, its time standing still."""

    def __init__(self, folder: Path) -> None:
        self.results: list[dict[str, Any]] = []
        self.pool = Incidents(folder, lambda _incident, _reward, info: self.results.append(info), mode="step")
        self.incident = self.pool.open(PROBLEM, seed=1, variation=False)
        self.thread = threading.Thread(target=self.pool.server.run, daemon=True)
        self.thread.start()
        while not self.pool.server.started:
            time.sleep(0.01)


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    made = Pool(tmp_path)
    yield made
    made.pool.server.stop()
    made.thread.join(30)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_http_beside_the_cluster(pool: Pool, mode: Any) -> None:
    async def run() -> None:
        async with mcp.Client(f"{pool.incident.desk}/mcp", mode=mode) as client:
            await played(client, staged())

    asyncio.run(run())
    (info,) = pool.results
    assert info["is_success"]
    deployments = pool.incident.cluster.hosted.world.store.list("deployments.apps")
    assert {d["metadata"]["name"]: d["spec"]["replicas"] for d in deployments}["geo"] > 0


def test_strangers_get_no_tools(pool: Pool) -> None:
    import http.client

    for given in ({"Origin": "https://example.com"}, {"Host": "evil.example.com"}):
        connection = http.client.HTTPConnection("127.0.0.1", pool.pool.desk_port, timeout=30)
        connection.request("POST", "/mcp", b"{}", {"Content-Type": "application/json", **given})
        assert connection.getresponse().status == 403
        connection.close()
