"""The policy that asks a model plays whole episodes against a server, in every wire format, and records what was said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.llm.messages import Message, call
from sregym_env.llm.model import ModelError, Reply, Request, Usage
from sregym_env.rollouts.policies import ExpertPolicy, LLMPolicy, Policy, policy
from sregym_env.rollouts.policies.eliding import KEPT_LAST, elided, size
from sregym_env.rollouts.policies.prompts import found, shipped
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.rollouts.runner import Rollout, run_episode
from tests.llm.client import APIS
from tests.llm.server import Heard, Said, ScriptedServer, Trouble, replay

PROBLEM = "network_policy_block"
SEED = 4


def played(player: Policy, seed: int = SEED, **arguments: Any) -> Rollout:
    env = SREGymEnv(PROBLEM, raise_errors=True, **{"max_commands": 100, **arguments})
    return run_episode(env, player, seed=seed)


@pytest.fixture(scope="module")
def expert() -> EpisodeRecord:
    record = played(ExpertPolicy()).record
    assert record.success
    return record


def lines(record: EpisodeRecord) -> list[tuple[tuple[str, dict[str, Any]], ...]]:
    """The tool calls of a record's turns; a command line is a call of the shell."""
    turns = []
    for step in record.steps:
        message = record.messages[step.message_span[0]]
        calls = tuple((each.function.name, dict(each.function.arguments)) for each in message.tool_calls)
        turns.append(calls or (("shell", {"command": message.content}),))
    return turns


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [False, True])
def test_who_says_what_the_expert_says_succeeds_as_the_expert_does(
    api: str, stream: bool, expert: EpisodeRecord
) -> None:
    says = [Said("Next.", calls=calls, thinking="hm") for calls in lines(expert)]
    with ScriptedServer(replay(*says)) as server:
        options = {"model": "m", "base_url": server.base_url(api), "api": api, "stream": stream}
        record = played(policy("llm", options)).record
    assert record.success and record.return_ == expert.return_
    assert record.final_digest == expert.final_digest
    assert record.commands == expert.commands
    assert (record.policy.name, record.policy.model) == ("llm", "m")
    assert [message.role for message in record.opening] == ["system", "user"]
    assert record.usage == Usage(
        prompt_tokens=100 * len(says), completion_tokens=10 * len(says), requests=len(says)
    )
    assert all(step.usage is not None and step.finish_reason == "tool_calls" for step in record.steps)
    # What was sent last is the record up to there.
    sent = [text for role, text in server.heard[-1].messages if role in ("user", "tool")]
    before = record.messages[: record.steps[-1].message_span[0]]
    assert sent == [message.content for message in before if message.role in ("user", "tool")]
    assert server.heard[-1].tools == tuple(tool["function"]["name"] for tool in record.tools)


def test_a_model_without_tools_writes_its_actions(expert: EpisodeRecord) -> None:
    says = []
    for calls in lines(expert):
        blocks = [json.dumps({"name": name, "arguments": arguments}) for name, arguments in calls]
        says.append("<think>hm</think>\n" + "\n".join(f"<tool_call>{block}</tool_call>" for block in blocks))
    with ScriptedServer(replay(*says)) as server:
        options = {"model": "m", "base_url": server.base_url(), "mode": "text"}
        record = played(policy("llm", options)).record
    assert record.success and record.final_digest == expert.final_digest
    assert server.heard[0].tools == ()
    assert "- shell(" in server.heard[0].system or "- shell" in server.heard[0].system
    assert "{{" not in server.heard[0].system
    assert {message.role for message in record.messages[2:]} == {"assistant", "user"}


def test_every_conversation_that_is_sent_begins_with_the_one_before() -> None:
    with ScriptedServer(replay("kubectl get pods", "", "I am lost.", Said("submit mitigation"))) as server:
        played(policy("llm", {"model": "m", "base_url": server.base_url(), "mode": "text"}))
        sent = [heard.body["messages"] for heard in server.heard]
    assert len(sent) == 4
    for earlier, later in pairwise(sent):
        assert later[: len(earlier)] == earlier


def test_parallel_calls_are_answered_by_their_ids() -> None:
    calls = (
        ("shell", {"command": "echo one"}),
        ("shell", "{broken"),
        ("reboot", {}),
        ("shell", {"command": "echo two"}),
    )
    with ScriptedServer(replay(Said(calls=calls), Said(calls=(("submit_mitigation", {}),)))) as server:
        record = played(policy("llm", {"model": "m", "base_url": server.base_url()})).record
    first = record.steps[0]
    said, *answers = record.messages[first.message_span[0] : first.message_span[1] + 1]
    assert [each.tool_call_id for each in answers] == [each.id for each in said.tool_calls]
    assert [each.role for each in answers] == ["tool"] * 4
    assert answers[0].content == "one\n" and answers[3].content == "two\n"
    assert "not a JSON object" in answers[1].content
    assert "unknown tool" in answers[2].content


def test_who_says_nothing_is_reminded() -> None:
    with ScriptedServer(
        replay("", "Let me think about this for a while.", Said("submit mitigation"))
    ) as server:
        record = played(policy("llm", {"model": "m", "base_url": server.base_url()})).record
    observations = [record.observation(step) for step in record.steps]
    assert "the action is empty" in observations[0] and "this is prose" in observations[1]
    assert [step.error_type for step in record.steps] == ["parse_error", "parse_error", ""]


def test_token_ids_are_recorded_step_by_step() -> None:
    with ScriptedServer(replay("kubectl get pods", "submit mitigation")) as server:
        options = {"model": "m", "base_url": server.base_url(), "mode": "text", "tokens": True}
        record = played(policy("llm", options)).record
    tokens = [step.tokens for step in record.steps]
    assert tokens[0] is not None and tokens[1] is not None
    assert bytes(tokens[0].completion_token_ids or ()) == b"kubectl get pods"
    before, after = tokens[0].prompt_token_ids or (), tokens[1].prompt_token_ids or ()
    assert after[: len(before)] == before and len(after) > len(before)


class Failing:
    """A model that does what it is told to, then fails."""

    name = "failing"

    def __init__(self, error: ModelError, *says: str) -> None:
        self._error = error
        self._says = list(says)

    def complete(self, request: Request) -> Reply:
        if not self._says:
            raise self._error
        return Reply(Message(role="assistant", content=self._says.pop(0)), Usage(prompt_tokens=5, requests=1))


@pytest.mark.parametrize(
    ("kind", "says", "failure", "reason"),
    [
        ("rate_limited", ["kubectl get pods"], "world", "rate_limited"),
        ("budget", [], "world", "budget"),
        # Who fills the context has run into a limit; a context too small for the briefing is nobody's play.
        ("context_length", ["submit diagnosis geo", "kubectl get pods"], "agent", "max_tokens"),
        ("context_length", [], "world", "context_length"),
    ],
)
def test_how_an_episode_ends_whose_model_fails(kind: Any, says: list[str], failure: str, reason: str) -> None:
    error = ModelError("no", kind, usage=Usage(requests=4))
    record = played(LLMPolicy(Failing(error, *says), mode="text")).record
    assert record.failure is not None
    assert (record.failure.kind, record.failure.reason) == (failure, reason)
    assert record.trainable is (failure == "agent")
    assert (record.return_ is not None) is (failure == "agent")
    assert record.usage == Usage(prompt_tokens=5 * len(says), requests=len(says) + 4)


def test_a_server_that_refuses_leaves_a_record_without_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SREGYM_API_KEY", "sk-planted-in-here")
    with ScriptedServer("kubectl get pods", echoes_headers=True) as server:
        server.misbehave(Trouble(), Trouble(status=401))
        rollout = played(policy("llm", {"model": "m", "base_url": f"{server.base_url()}?key=sk-in-the-url"}))
    text = rollout.record.to_json() + rollout.labels.to_json()
    assert rollout.record.failure is not None and "HTTP 401" in rollout.record.failure.detail
    assert "sk-planted" not in text and "sk-in-the-url" not in text and "[redacted]" in text


def test_settings_say_what_makes_the_policy(tmp_path: Path) -> None:
    file = tmp_path / "mine.md"
    file.write_text("Be quick.\n{{tools}}\n")
    options = {
        "model": "m",
        "base_url": "http://h:1/v1?x=y",
        "prompt": str(file),
        "sampling": {"temperature": 0.7, "stop": ["END"]},
        "extra": {"top_k": 5},
    }
    made = policy("llm", options)
    assert made.settings == {
        "model": "m",
        "api": "chat",
        "base_url": "http://h:1/v1",
        "extra": {"top_k": 5},
        "mode": "tools",
        "prompt": "mine.md",
        "prompt_sha": found(str(file)).sha,
        "sampling": {"temperature": 0.7, "stop": ["END"]},
        "context_chars": None,
    }
    json.dumps(made.settings)
    before = made.settings["prompt_sha"]
    file.write_text("Be slow.")
    assert policy("llm", options).settings["prompt_sha"] != before


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "which model"),
        ({"model": "m", "mode": "telepathy"}, "tools or text"),
        ({"model": "m", "prompt": "nowhere"}, "no prompt 'nowhere'"),
        ({"model": "m", "sampling": {"heat": 1}}, "sampling: heat"),
        ({"model": "m", "context_chars": 0}, "context_chars must be a whole number, at least 1"),
        ({"model": "m", "context_chars": "x"}, "context_chars must be a whole number"),
        ({"model": "m", "sampling": "hot"}, "sampling must be a mapping"),
        ({"model": "m", "tokens": "no"}, "tokens must be true or false"),
        ({"model": 5}, "model must be a name, or a model"),
        ({"model": "m", "api_key": "sk-x"}, "api_key_env"),
        ({"model": "m", "bass_url": "x"}, "bass_url"),
        ({"model": Failing(ModelError("", "server")), "base_url": "x"}, "given as an object"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        policy("llm", options)


def test_members_of_a_group_draw_different_words() -> None:
    with ScriptedServer("submit mitigation") as server:
        options = {"model": "m", "base_url": server.base_url(), "sampling": {"seed": 100}}
        for seed in (4, 5):
            played(policy("llm", options), seed=seed)
        played(policy("llm", {**options, "sampling": {}}))
        assert [heard.body.get("seed") for heard in server.heard] == [104, 105, None]


def test_every_prompt_that_ships_can_be_read() -> None:
    assert {"sre", "sre_text", "brief"} <= set(shipped())
    for name in shipped():
        assert found(name).text and len(found(name).sha) == 16
    assert "{{tools}}" in found("sre_text").text


# --- a conversation that grows too long -----------------------------------------------------------


def conversation(sizes: Sequence[int]) -> list[Message]:
    """An opening, then turns whose answers have these sizes."""
    messages = [Message(role="system", content="s" * 50), Message(role="user", content="b" * 500)]
    for number, length in enumerate(sizes):
        said = Message(
            role="assistant", content="look", tool_calls=(call(str(number), "shell", command="ls"),)
        )
        messages += [said, Message(role="tool", content="x" * length, tool_call_id=str(number))]
    return messages


def test_the_oldest_answers_go_first_and_stay_away() -> None:
    messages = conversation([1000, 1000, 100, 1000, 1000, 1000])
    sent, left = elided(messages, 5000, 0)
    kept = [len(each.content) for each in sent if each.role == "tool"]
    assert "left out to save room: 1000 characters" in sent[3].content
    # Short ones stay, and more goes than is needed now.
    assert [length for length in kept if length >= 100] == [100, 1000, 1000] and kept[3] < 100
    # The next turn fits, and leaves the same messages out.
    longer = [*messages, *conversation([300])[2:]]
    again, still = elided(longer, 5000, left)
    assert still == left and again[: len(sent)] == sent


@given(st.lists(st.integers(0, 3000), max_size=20), st.integers(500, 20_000), st.integers(0, 45))
def test_what_is_said_and_what_is_new_stays(sizes: list[int], limit: int, before: int) -> None:
    messages = conversation(sizes)
    sent, left = elided(messages, limit, min(before, len(messages)))
    assert len(sent) == len(messages)
    assert sent[:2] == tuple(messages[:2])
    assert [each for each in sent if each.role == "assistant"] == [
        each for each in messages if each.role == "assistant"
    ]
    assert [each.tool_call_id for each in sent] == [each.tool_call_id for each in messages]
    if before == 0:
        assert sent[-KEPT_LAST:] == tuple(messages[-KEPT_LAST:])
        assert sum(map(size, sent)) <= limit or left == max(len(messages) - KEPT_LAST, min(2, len(messages)))
    if sum(map(size, messages)) <= limit and before == 0:
        assert list(sent) == messages and left == 0


def test_a_policy_leaves_out_and_the_record_does_not() -> None:
    def brain(heard: Heard) -> str:
        return "submit mitigation" if heard.turns == 8 else "kubectl get pods -A -o wide"

    with ScriptedServer(brain) as server:
        options = {"model": "m", "base_url": server.base_url(), "mode": "text", "context_chars": 12_000}
        record = played(policy("llm", options), variation=False).record
        sent = [sum(len(text) for _, text in heard.messages) for heard in server.heard]
        assert "left out to save room" in str(server.heard[-1].messages)
    assert max(sent) <= 20_000 < sum(len(message.content) for message in record.messages)
    assert "left out to save room" not in record.to_json()
