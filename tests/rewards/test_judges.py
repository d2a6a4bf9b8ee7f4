"""Judges from JSON, through HTTP, and in episodes."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cloudpickle
import gymnasium as gym
import pytest

from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.llm.model import Usage
from sregym_env.llm.settings import EndpointSettings
from sregym_env.rewards.asking import MAX_DIAGNOSIS_CHARS
from sregym_env.rewards.judge import Judge, JudgeError, SpecJudge
from sregym_env.rewards.judges import KEY_VARIABLE, judge
from sregym_env.rewards.labelled.agreement import FALSE_PASSES, KAPPA
from sregym_env.rewards.llm_judge import LLMJudge
from sregym_env.rollouts.policies import ExpertPolicy
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.rollouts.replay import replay
from sregym_env.rollouts.runner import Rollout, run_episode
from tests.llm.server import ScriptedServer, Trouble
from tests.llm.wires import Heard, Said
from tests.rewards.hotel_specs import APP, TARGET_PORT
from tests.rewards.scripted import answer

PROBLEM = "network_policy_block"
RIGHT = "The recommendation Service has targetPort 9999 but the pods listen on 8085."
QUICK = {"retry": {"attempts": 1}, "timeouts": {"connect": 5, "read": 20}}


def quoting(heard: Heard) -> str:
    """Yes to everything, with the first words of the diagnosis."""
    diagnosis = heard.messages[0][1].split("BEGIN DIAGNOSIS ")[1].split("\n", 1)[1]
    return answer(evidence=" ".join(diagnosis.split()[:5]))


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (KEY_VARIABLE, "SREGYM_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(quoting) as server:
        yield server


def options(server: ScriptedServer, **more: Any) -> dict[str, Any]:
    api = more.get("api", "chat")
    return {"model": "scripted", "base_url": server.base_url(api), **QUICK, **more}


# --- the factory ----------------------------------------------------------------------------------


def test_the_deterministic_judge_is_the_default() -> None:
    for value in (
        None,
        "spec",
        {"name": SpecJudge().name},
        {"name": SpecJudge().name, **SpecJudge().settings},
    ):
        assert judge(value) == SpecJudge()
    mine = SpecJudge()
    assert judge(mine) is mine


WRONG: list[tuple[Any, str]] = [
    ("gpt-5", "'gpt-5' is none"),
    (7, "7 is none"),
    ({}, "model"),
    ({"base_url": "http://127.0.0.1:1"}, "model"),
    ({"model": "m", "votes": 2}, "odd"),
    ({"model": "m", "votes": "3"}, "votes"),
    ({"model": "m", "attempts": 0}, "attempts"),
    ({"model": "m", "sampling": {"temprature": 1}}, "sampling.temprature"),
    ({"model": "m", "cache": ""}, "cache"),
    ({"model": "m", "vote": 3}, "vote"),
    ({"model": "m", "base_url": "ftp://x"}, "URL"),
    ({"model": "m", "base_url": "http://me:hunter22@127.0.0.1/v1"}, "credentials"),
    ({"model": "m", "api_key": "sk-123456"}, "environment variable"),
    ({"name": "spec-0"}, "name 'spec-0' was recorded"),
    ({"name": "llm-1", "model": "m", "base_url": "http://127.0.0.1:1/v1", "prompt": "0123"}, "prompt '0123'"),
    ({"name": "llm-1", "model": "m", "base_url": "http://127.0.0.1:1/v1", "checklist": "0"}, "checklist '0'"),
]


@pytest.mark.parametrize(("value", "complaint"), WRONG)
def test_what_is_no_judge_is_said_so_and_secrets_are_not_repeated(value: Any, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as caught:
        judge(value)
    assert not any(secret in str(caught.value) for secret in ("hunter22", "sk-123456"))
    with pytest.raises(UsageError, match=complaint):
        SREGymEnv(problem=PROBLEM, judge=value)


def test_a_judge_is_made_again_from_what_it_records() -> None:
    made = judge(
        {
            "model": "m",
            "base_url": "http://127.0.0.1:1/v1/?x=1",
            "votes": 3,
            "attempts": 2,
            "sampling": {"temperature": 0.0, "seed": 5},
            "extra": {"top_k": 1},
        }
    )
    recorded = json.loads(json.dumps({"name": made.name, **made.settings}))
    again = judge(recorded)
    assert {"name": again.name, **again.settings} == recorded
    assert recorded["base_url"] == "http://127.0.0.1:1/v1"
    assert (recorded["votes"], recorded["sampling"]) == (3, {"temperature": 0.0, "seed": 5})


def test_keys_come_from_the_environment_and_go_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "judge-secret-1")
    monkeypatch.setenv("SREGYM_API_KEY", "policy-secret-2")
    with ScriptedServer(quoting, key="judge-secret-1") as server:
        made = judge(options(server, cache=str(tmp_path / "kept")))
        grade = made.grade(RIGHT, [TARGET_PORT], APP)
        assert grade.passed
        assert server.heard[0].headers["authorization"] == "Bearer judge-secret-1"
    told = [repr(made), json.dumps(made.settings), json.dumps(grade.to_dict()), repr(pickle.dumps(made))]
    told += [path.read_text() for path in tmp_path.rglob("*.json")]
    assert len(told) == 5
    assert not any("secret" in text for text in told)


# --- through HTTP ---------------------------------------------------------------------------------


@pytest.mark.parametrize("api", ["chat", "responses", "anthropic"])
@pytest.mark.parametrize(
    "refuses", [(), ("json_schema",), ("json_schema", "tool"), ("json_schema", "tool", "json_object")]
)
def test_every_wire_format_and_every_way_to_ask_for_json(
    server: ScriptedServer, api: str, refuses: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "any-key-does")
    server.refuses = frozenset(refuses)
    grade = judge(options(server, api=api)).grade(RIGHT, [TARGET_PORT], APP)
    assert grade.score == 1.0
    assert grade.usage is not None
    assert (grade.usage.prompt_tokens, grade.usage.completion_tokens) == (100, 10)
    assert grade.usage.requests == server.requests


def test_a_fenced_answer_and_one_with_thoughts_are_answers(server: ScriptedServer) -> None:
    server.brain = lambda heard: Said(f"<think>{{}}</think>Sure:\n```json\n{quoting(heard)}\n```")
    assert judge(options(server)).grade(RIGHT, [TARGET_PORT], APP).score == 1.0


TROUBLES = {
    "down": Trouble(status=503),
    "refused": Trouble(status=401),
    "hung up": Trouble(hang_up=True),
    "nonsense": Trouble(body=b"<html>"),
}


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
def test_an_endpoint_in_trouble_is_a_failed_judge(server: ScriptedServer, trouble: Trouble) -> None:
    server.misbehave(*[trouble] * 8)
    with pytest.raises(JudgeError, match="could not be asked") as caught:
        judge(options(server)).grade(RIGHT, [TARGET_PORT], APP)
    assert caught.value.usage is not None
    assert caught.value.usage.requests == server.requests


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_a_cut_answer_is_a_failed_judge(server: ScriptedServer, finish: str) -> None:
    server.brain = lambda heard: Said(quoting(heard), finish=finish)
    with pytest.raises(JudgeError, match=f"broke off: {finish}"):
        judge(options(server)).grade(RIGHT, [TARGET_PORT], APP)


def test_a_budget_is_the_clients_and_its_end_fails_the_judge(server: ScriptedServer) -> None:
    made = judge(options(server, budget={"tokens": 110}))
    made.grade(RIGHT, [TARGET_PORT], APP)
    with pytest.raises(JudgeError, match="budget"):
        made.grade(RIGHT, [TARGET_PORT], APP)
    assert server.requests == 1


@pytest.mark.parametrize("way", [pickle, cloudpickle])
def test_a_judge_that_has_been_used_travels_without_its_connections(server: ScriptedServer, way: Any) -> None:
    made = judge(options(server, votes=3))
    before = made.grade(RIGHT, [TARGET_PORT], APP)
    copy: Judge = way.loads(way.dumps(made))
    assert copy.settings == made.settings
    assert copy.grade(RIGHT, [TARGET_PORT], APP) == before


def test_threads_share_a_judge(server: ScriptedServer) -> None:
    made = judge(options(server, concurrency=4))
    texts = [f"{RIGHT} It was changed {number} minutes ago." for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        grades = list(pool.map(lambda text: made.grade(text, [TARGET_PORT], APP), texts))
    assert [grade.score for grade in grades] == [1.0] * 24
    assert server.requests == 24
    assert server.most_at_once <= 4


# --- in episodes ----------------------------------------------------------------------------------


def played(server: ScriptedServer, **more: Any) -> Rollout:
    env = gym.make(f"SREGym/{PROBLEM}-v0", judge=options(server, **more), raise_errors=True)
    unwrapped = env.unwrapped
    assert isinstance(unwrapped, SREGymEnv)
    return run_episode(unwrapped, ExpertPolicy(), seed=3)


def test_an_episode_is_graded_by_a_model_and_says_so(server: ScriptedServer) -> None:
    record, labels = (rollout := played(server, votes=3)).record, rollout.labels
    assert record.success
    assert record.trainable
    assert record.return_ is not None
    assert record.judge_usage == Usage(prompt_tokens=200, completion_tokens=20, requests=2)
    assert record.usage is None
    assert record.grade is not None
    assert (record.grade["judge"], record.grade["passed"]) == ("llm-1", True)
    assert record.config["judge"]["model"] == "scripted"
    assert record.config["judge"]["base_url"] == server.base_url()
    assert judge(record.config["judge"]).settings == {
        k: v for k, v in record.config["judge"].items() if k != "name"
    }
    assert labels.grade is not None
    assert (labels.grade["model"], labels.grade["votes"]) == ("scripted", 3)
    assert record.diagnosis is not None
    assert labels.grade["answers"][0]["evidence"] in record.diagnosis
    assert EpisodeRecord.model_validate_json(record.to_json()) == record
    assert "D1-Q1" not in "".join(message.content for message in record.messages)


def test_a_model_that_says_no_pays_nothing_for_the_diagnosis(server: ScriptedServer) -> None:
    server.brain = lambda heard: answer([])
    record = played(server).record
    assert (record.success, record.trainable, record.failure and record.failure.kind) == (
        False,
        True,
        "agent",
    )
    assert record.reward_terms["diagnosis"] == 0.0


BROKEN = {
    "unreachable": Trouble(hang_up=True),
    "server": Trouble(status=500),
    "rejected": Trouble(status=401, text="no such key"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_an_episode_whose_judge_fails_has_no_reward(server: ScriptedServer, kind: str) -> None:
    server.misbehave(*[BROKEN[kind]] * 8)
    record = played(server).record
    assert record.return_ is None
    assert not record.trainable
    assert record.failure is not None
    assert (record.failure.kind, record.failure.reason) == ("judge", "judge")
    assert kind in record.failure.detail
    assert record.grade is None
    assert record.judge_usage == Usage(requests=server.requests)
    assert set(record.reward_terms.values()) == {0.0}
    assert all(step.reward == 0.0 for step in record.steps[-1:])


@pytest.mark.parametrize("said", [Said("{}", finish="length"), Said("I would rather not."), Said("{}")])
def test_a_model_that_breaks_off_or_will_not_answer_is_no_no(server: ScriptedServer, said: Said) -> None:
    server.brain = lambda heard: said
    record = played(server).record
    assert record.return_ is None
    assert record.failure is not None
    assert record.failure.kind == "judge"
    assert record.judge_usage is not None
    assert record.judge_usage.completion_tokens == 10 * server.requests


def test_a_failed_judgement_travels_and_forks_with_what_it_used(server: ScriptedServer) -> None:
    server.misbehave(Trouble(status=500))
    env = SREGymEnv(problem=PROBLEM, judge=options(server))
    env.reset(seed=1)
    env.step(f'submit diagnosis "{RIGHT}"')
    for copy in (env.fork(), pickle.loads(pickle.dumps(env))):
        assert copy.state()["judge_usage"]["requests"] == 1
        assert copy.state()["failure"][0] == "judge"


def test_equal_episodes_give_equal_infos_with_a_cache(server: ScriptedServer, tmp_path: Path) -> None:
    env = SREGymEnv(problem=PROBLEM, stage="diagnosis", judge=options(server, cache=str(tmp_path)))
    infos = []
    for _ in range(2):
        env.reset(seed=1)
        infos.append(env.step(f'submit diagnosis "{RIGHT}"'))
    assert infos[0] == infos[1]
    assert server.requests == 1


@pytest.mark.parametrize("broken", [False, True])
def test_an_episode_that_a_model_graded_is_replayed_without_asking_it(
    server: ScriptedServer, broken: bool
) -> None:
    if broken:
        server.misbehave(Trouble(status=500, text="out of order"))
    rollout = played(server)
    asked = server.requests
    again = replay(rollout.record, rollout.labels)
    assert [str(difference) for difference in again.differences] == []
    assert again.rollout.record.judge_usage == rollout.record.judge_usage
    assert again.rollout.record.failure == rollout.record.failure
    assert server.requests == asked


def test_the_class_of_a_judge_can_be_given_as_it_is() -> None:
    class Strict:
        name, settings = "strict", {"always": "no"}

        def grade(self, *_: Any) -> Any:
            raise JudgeError("never")

    env = SREGymEnv(problem=PROBLEM, judge=Strict())
    env.reset(seed=1)
    assert env.config()["judge"] == {"name": "strict", "always": "no"}
    assert isinstance(judge({"model": "m", "base_url": "http://127.0.0.1:1/v1"}), LLMJudge)


def test_what_the_page_on_judging_shows_is_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "any-key-does")
    page = (Path(__file__).parents[2] / "docs" / "judging.md").read_text("utf-8")
    (shown,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    scope: dict[str, Any] = {}
    exec(compile(shown, "judging.md", "exec"), scope)
    assert scope["env"].unwrapped.reset(seed=1)
    asking = page[page.index("## Asking a model") :]
    named = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`[^|]*) \|", asking, re.MULTILINE)))
    own = {"votes", "attempts", "sampling", "cache"}
    assert {*named} == own | {*EndpointSettings.model_fields} - {"send_reasoning"}
    assert f"at least {KAPPA}" in page
    assert f"at most {100 * FALSE_PASSES:.0f} %" in page
    assert f"{MAX_DIAGNOSIS_CHARS:,} characters" in page
