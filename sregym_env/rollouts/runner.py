"""Playing one episode with one policy, and recording it."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from time import perf_counter
from typing import Any

import sregym_env
from sregym_env.envs.env import SREGymEnv
from sregym_env.rollouts.policies import Policy
from sregym_env.rollouts.record import EpisodeRecord, Labels, Message, Package, Step, Timing
from sregym_env.rollouts.record import Policy as PolicyRecord


@dataclass(frozen=True, slots=True)
class Rollout:
    """An episode's record and its ground truth."""

    record: EpisodeRecord
    labels: Labels


Watcher = Callable[[str, str, dict[str, Any]], None]
"""Called with (action, observation, info) after every step."""


def run_episode(
    env: SREGymEnv,
    policy: Policy,
    *,
    seed: int,
    options: dict[str, Any] | None = None,
    digests: bool = False,
    timing: bool = False,
    watch: Watcher | None = None,
) -> Rollout:
    """Reset, let the policy act until the episode ends, and return what happened.

    ``digests`` records a digest of the world after every step; ``timing`` records wall-clock seconds, which
    makes two records of the same episode differ.
    """
    observation, info = env.reset(seed=seed, options=options)
    policy.begin(env, observation, seed)
    messages = [Message(role="user", content=observation)]
    steps: list[Step] = []
    total = 0.0
    ended = False
    while not ended:
        asked = perf_counter()
        action = policy.act(observation, info)
        acted = perf_counter()
        observation, reward, terminated, truncated, info = env.step(action)
        stepped = perf_counter()
        ended = terminated or truncated
        total += reward
        messages += [
            Message(role="assistant", content=action),
            Message(role="user", content=observation),
        ]
        steps.append(
            Step(
                t=len(steps),
                action_text=action,
                observation=observation,
                obs_truncated=info["obs_truncated"],
                reward=reward,
                terminated=terminated,
                truncated=truncated,
                tool=info["tool"],
                exit_code=info["exit_code"],
                error_type=info["error_type"],
                stage=info["stage"],
                sim_time_s=info["sim_time_s"],
                message_span=(len(messages) - 2, len(messages) - 1),
                state_digest=env.episode.digest if digests else None,
                timing=Timing(policy_s=acted - asked, env_s=stepped - acted) if timing else None,
            )
        )
        if watch is not None:
            watch(action, observation, info)
    return _rollout(env, policy, seed, options or {}, messages, steps, total, info)


def _rollout(
    env: SREGymEnv,
    policy: Policy,
    seed: int,
    options: dict[str, Any],
    messages: list[Message],
    steps: list[Step],
    total: float,
    info: dict[str, Any],
) -> Rollout:
    state = env.state()
    staged = env.episode.staged
    rollout_id = _rollout_id(info["episode_id"], policy.name, [step.action_text for step in steps])
    diagnosis = None
    if state["diagnosis"] is not None:
        diagnosis = {"text": state["diagnosis"], "grade": state["grade"]}
    record = EpisodeRecord(
        rollout_id=rollout_id,
        task_id=info["task_id"],
        episode_id=info["episode_id"],
        seed=seed,
        options=options,
        policy=PolicyRecord(name=policy.name, version=policy.version, seed=seed),
        package=Package(sregym_env=sregym_env.__version__, python=platform.python_version()),
        messages=tuple(messages),
        steps=tuple(steps),
        return_=round(total, 6),
        reward_terms={
            "mitigation": info["reward_mitigation"],
            "diagnosis": info["reward_diagnosis"],
            "cost": info["reward_cost"],
        },
        success=info["is_success"],
        exit_reason=info["exit_reason"],
        trainable=info["trainable"],
        diagnosis=diagnosis,
        oracle=state["verdict"],
        ttl_s=info["TTL"],
        ttm_s=info["TTM"],
        sim_time_s=info["sim_time_s"],
        final_digest=state["digest"],
    )
    labels = Labels(
        rollout_id=rollout_id,
        problem=dict(staged.problem_json),
        specs=tuple(state["specs"]),
        root_cause=tuple(state["root_cause"]),
    )
    return Rollout(record, labels)


def _rollout_id(episode_id: str, policy: str, actions: list[str]) -> str:
    """The same for the same actions in the same episode."""
    text = "\x1f".join([episode_id, policy, *actions])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
