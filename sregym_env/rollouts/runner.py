"""Playing one episode with one policy, and recording it."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from time import perf_counter
from typing import Any

import sregym_env
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.llm.messages import Message
from sregym_env.llm.model import ModelError, Usage
from sregym_env.llm.secrets import Scrubber
from sregym_env.rollouts.answering import answers
from sregym_env.rollouts.policies.policy import Policy, Turn, turn
from sregym_env.rollouts.record import (
    EpisodeRecord,
    Failure,
    Labels,
    Package,
    Producer,
    Step,
    Timing,
)


@dataclass(frozen=True, slots=True)
class Rollout:
    """An episode's record and its ground truth."""

    record: EpisodeRecord
    labels: Labels


@dataclass(frozen=True, slots=True)
class Budgets:
    """What an episode may take beyond the environment's own limits; None for no limit.

    Who runs into one has its episode finished (:meth:`SREGymEnv.finish`): what was earned is paid.
    """

    steps: int | None = None
    """Calls of ``env.step``."""
    sim_seconds: float | None = None
    tokens: int | None = None
    """Prompt and completion tokens of the policy's model, over all turns."""
    wall_seconds: float | None = None
    """Real seconds; records of episodes that run into it depend on the machine."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is None:
                continue
            kind, told = (int, "a whole number") if name in ("steps", "tokens") else (int | float, "a number")
            if not isinstance(value, kind) or isinstance(value, bool):
                raise UsageError(f"budget {name} must be {told}, not {value!r}")
            if not value > 0:
                raise UsageError(f"budget {name} must be positive, not {value!r}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an episode stands in a run."""

    run_id: str = ""
    group_id: str = ""
    sample_index: int = 0
    attempt: int = 0


Watcher = Callable[[str, str, dict[str, Any]], None]
"""Called with (action, observation, info) after every step."""


@dataclass(slots=True)
class _Log:
    """What has happened so far."""

    messages: list[Message]
    steps: list[Step] = field(default_factory=list)
    total: float = 0.0
    usage: Usage | None = None
    failure: Failure | None = None


def run_episode(
    env: SREGymEnv,
    policy: Policy,
    *,
    seed: int,
    options: dict[str, Any] | None = None,
    budgets: Budgets = Budgets(),
    place: Place = Place(),
    digests: bool = False,
    timing: bool = False,
    watch: Watcher | None = None,
) -> Rollout:
    """Reset, let the policy act until the episode ends, and return what happened.

    ``digests`` records a digest of the world after every step; ``timing`` records wall-clock seconds, which makes two
    records of the same episode differ. A model that cannot be asked ends the episode without a reward, except that one
    whose context is full has run into the limit ``max_tokens``; what the policy itself raises otherwise is a defect of
    the policy and is raised.
    """
    _demand_policy(policy)
    opened = env.reset(seed=seed, options=options)
    return play_opened(
        env,
        policy,
        opened,
        seed=seed,
        budgets=budgets,
        place=place,
        digests=digests,
        timing=timing,
        watch=watch,
    )


def play_opened(
    env: SREGymEnv,
    policy: Policy,
    opened: tuple[str, dict[str, Any]],
    *,
    seed: int,
    policy_seed: int | None = None,
    budgets: Budgets = Budgets(),
    place: Place = Place(),
    digests: bool = False,
    timing: bool = False,
    watch: Watcher | None = None,
) -> Rollout:
    """Play an environment that has just been reset with ``seed``, or a fork of one, as :func:`run_episode` does.

    ``opened`` is what the reset returned. The policy gets a seed of its own if there is one, so that members of a
    group differ.
    """
    _demand_policy(policy)
    began = perf_counter()
    observation, info = opened
    opening = policy.begin(env, observation, seed if policy_seed is None else policy_seed)
    log = _Log(list(opening) if opening else [Message(role="user", content=observation)])
    ended = False
    while not ended:
        asked = perf_counter()
        spent = _spent(budgets, log, env, asked - began)
        if spent:
            _, reward, *_, info = env.finish(spent)
            _pay(log, reward)
            break
        try:
            said = _turn(policy.act(observation, info))
        except ModelError as error:
            log.usage = (log.usage or Usage()) + error.usage
            if error.kind == "context_length" and log.steps:
                # The agent has filled its context itself: a limit like any other.
                _, reward, *_, info = env.finish("max_tokens")
                _pay(log, reward)
                break
            log.failure = Failure(kind="world", reason=error.kind, detail=str(error))
            *_, info = env.finish("infra")
            break
        acted = perf_counter()
        if said.usage is not None:
            log.usage = (log.usage or Usage()) + said.usage
            env.charge(said.usage.total_tokens)
        action = said.message.action
        observation, reward, terminated, truncated, info = env.step(action)
        stepped = perf_counter()
        ended = terminated or truncated
        log.total += reward
        clock = Timing(policy_s=acted - asked, env_s=stepped - acted) if timing else None
        _note(log, env, said, reward, (terminated, truncated), info, digests, clock)
        if watch is not None:
            watch(action, observation, info)
    wall = perf_counter() - began if timing else None
    return _rollout(env, policy, seed, place, log, info, wall)


def _demand_policy(policy: object) -> None:
    if not callable(getattr(policy, "begin", None)) or not callable(getattr(policy, "act", None)):
        raise UsageError(
            f"a policy has begin() and act(), which {policy!r} has not; policy(NAME) makes one by name"
        )


def _turn(said: str | Turn) -> Turn:
    made = turn(said) if isinstance(said, str) else said
    try:
        made.message.action.encode()
    except UnicodeEncodeError:
        # Halves of characters, which no file can hold; the environment reads them as question marks anyway.
        whole = Message.model_validate(Scrubber().document(made.message.model_dump()))
        made = replace(made, message=whole)
    return made


def _spent(budgets: Budgets, log: _Log, env: SREGymEnv, wall: float) -> str:
    """The budget that is used up; empty if none is."""
    tokens = 0 if log.usage is None else log.usage.total_tokens
    taken = {
        "max_steps": (budgets.steps, len(log.steps)),
        "sim_seconds": (budgets.sim_seconds, env.episode.seconds),
        "max_tokens": (budgets.tokens, tokens),
        "deadline": (budgets.wall_seconds, wall),
    }
    return next((name for name, (limit, used) in taken.items() if limit is not None and used >= limit), "")


def _pay(log: _Log, reward: float) -> None:
    """Add what settling an episode from outside earned to its last step."""
    log.total += reward
    if log.steps:
        last = log.steps[-1]
        log.steps[-1] = last.model_copy(update={"reward": last.reward + reward, "truncated": True})


def _note(
    log: _Log,
    env: SREGymEnv,
    said: Turn,
    reward: float,
    ended: tuple[bool, bool],
    info: dict[str, Any],
    digests: bool,
    clock: Timing | None,
) -> None:
    first = len(log.messages)
    log.messages.append(said.message)
    log.messages += answers(env, said.message)
    log.steps.append(
        Step(
            t=len(log.steps),
            message_span=(first, len(log.messages) - 1),
            reward=reward,
            reward_terms=env.terms,
            terminated=ended[0],
            truncated=ended[1],
            tool=info["tool"],
            exit_code=info["exit_code"],
            error_type=info["error_type"],
            obs_truncated=info["obs_truncated"],
            stage=info["stage"],
            commands=info["step_commands"],
            sim_time_s=info["sim_time_s"],
            potential=env.potential,
            state_digest=env.episode.digest if digests else None,
            tokens=said.tokens,
            usage=said.usage,
            finish_reason=said.finish_reason,
            timing=clock,
        )
    )


def _rollout(
    env: SREGymEnv,
    policy: Policy,
    seed: int,
    place: Place,
    log: _Log,
    info: Mapping[str, Any],
    wall: float | None,
) -> Rollout:
    state = env.state()
    config = env.config()
    actions = [log.messages[step.message_span[0]].action for step in log.steps]
    rollout_id = _rollout_id(place, state["episode_id"], config, policy, actions)
    failure = log.failure or classified(info, state)
    scored = info["trainable"] and log.failure is None
    record = EpisodeRecord(
        rollout_id=rollout_id,
        run_id=place.run_id,
        group_id=place.group_id or state["episode_id"],
        sample_index=place.sample_index,
        attempt=place.attempt,
        task_id=state["task_id"],
        episode_id=state["episode_id"],
        backend=config["backend"],
        seed=seed,
        config=config,
        policy=Producer(
            name=policy.name,
            version=policy.version,
            model=policy.settings.get("model"),
            settings=dict(policy.settings),
        ),
        package=Package(sregym_env=sregym_env.__version__, python=platform.python_version()),
        tools=tuple(env.tools("openai")),
        messages=tuple(log.messages),
        steps=tuple(log.steps),
        return_=round(log.total, 6) if scored else None,
        reward_terms=env.terms_total,
        success=info["is_success"],
        exit_reason=info["exit_reason"],
        failure=failure,
        trainable=scored,
        diagnosis=state["diagnosis"],
        grade=_told_grade(state),
        oracle=_told_verdict(state),
        ttd_s=_time(info["TTD"]),
        ttm_s=_time(info["TTM"]),
        sim_time_s=info["sim_time_s"],
        commands=info["commands"],
        usage=log.usage,
        judge_usage=None if state["judge_usage"] is None else Usage(**state["judge_usage"]),
        wall_s=wall,
        final_digest=state["digest"],
    )
    labels = Labels.of(rollout_id, state["task_id"], state, env.episode.staged.problem_json)
    return Rollout(record, labels)


def classified(info: Mapping[str, Any], state: Mapping[str, Any]) -> Failure | None:
    """Why an episode that is over did not succeed; None if it did."""
    if info["is_success"]:
        return None
    if state["failure"] is not None:
        kind, detail = state["failure"]
        return Failure(kind=kind, reason=info["exit_reason"] if kind != "judge" else "judge", detail=detail)
    if info["exit_reason"] != "submitted":
        return Failure(kind="agent", reason=info["exit_reason"])
    wrong = state["grade"] is not None and not state["grade"]["passed"]
    unrepaired = state["verdict"] is not None and not state["verdict"]["passed"]
    reason = "wrong_diagnosis" if wrong else "not_repaired" if unrepaired else "not_diagnosed"
    return Failure(kind="agent", reason="neither" if wrong and unrepaired else reason)


def _told_grade(state: Mapping[str, Any]) -> dict[str, Any] | None:
    grade = state["grade"]
    if grade is None:
        return None
    answers = {answer["id"]: answer["answer"] == "yes" for answer in grade["answers"]}
    return {"passed": grade["passed"], "score": grade["score"], "judge": state["judge"], "answers": answers}


def _told_verdict(state: Mapping[str, Any]) -> dict[str, Any] | None:
    verdict = state["verdict"]
    if verdict is None:
        return None
    checks: dict[str, bool] = {}
    for check in verdict["checks"]:
        # What is asked of a cause names it.
        name = check["name"].partition(":")[0]
        checks[name] = checks.get(name, True) and check["passed"]
    return {"passed": verdict["passed"], "score": verdict["score"], "checks": checks}


def _time(seconds: float) -> float | None:
    return None if seconds < 0 else seconds


def _rollout_id(
    place: Place, episode_id: str, config: Mapping[str, Any], policy: Policy, actions: list[str]
) -> str:
    parts = [
        place.run_id,
        place.group_id,
        str(place.sample_index),
        episode_id,
        json.dumps(config, sort_keys=True),
        policy.name,
        policy.version,
        json.dumps(dict(policy.settings), sort_keys=True),
        *actions,
    ]
    return blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
