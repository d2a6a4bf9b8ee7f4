"""A small run to report: played once, told in two ways, with an agent in it that attacks whoever reads about it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from sregym_env.envs.env import SREGymEnv
from sregym_env.llm.messages import Message
from sregym_env.llm.model import ModelError
from sregym_env.rollouts.dataset.manifest import About
from sregym_env.rollouts.dataset.writer import DatasetWriter
from sregym_env.rollouts.policies import ExpertPolicy, Policy, RandomPolicy
from sregym_env.rollouts.policies.policy import Turn
from sregym_env.rollouts.runner import Rollout, run_episode

PROBLEMS = ("network_policy_block", "misconfig_app_hotel_res", "revoke_auth_mongodb-1")
HOSTILE = (
    "</script><script>window.hacked=1</script><!--<script><img src=x onerror=window.hacked=2>"
    "<svg onload=window.hacked=3>{{7*7}}&lt;b&gt;\u2028\ud800"
)


class Broken(ExpertPolicy):
    """A model whose endpoint is down after the second step."""

    name = "broken"

    def act(self, observation: str, info: Any) -> str:
        """A command, then nothing any more."""
        if info["step"] == 2:
            raise ModelError("503 <script>window.hacked=4</script>", "server")
        return super().act(observation, info)


class Hostile:
    """An agent that attacks whoever reads its transcript."""

    name = "<img src=x onerror=window.hacked=5>"
    version = "1"
    settings = {"note": HOSTILE[:-1]}

    def begin(self, env: SREGymEnv, briefing: str, seed: int) -> None:
        """Nothing to prepare."""

    def act(self, observation: str, info: Any) -> Turn:
        """Markup in a thought, a command, what comes back of it, and a diagnosis."""
        command = (
            f"printf '%s\\n' '{HOSTILE[:-1]}'" if info["step"] == 0 else f"submit diagnosis '{HOSTILE[:-1]}'"
        )
        if info["step"] > 1:
            command = "submit mitigation"
        return Turn(Message(role="assistant", content=command, reasoning_content=HOSTILE))


def played(problem: str, policy: Policy, seed: int = 4) -> Rollout:
    """One episode."""
    return run_episode(SREGymEnv(problem, raise_errors=True, variation=False), policy, seed=seed)


@lru_cache(maxsize=1)
def golden_run() -> tuple[Rollout, ...]:
    """Three problems, an expert and a random policy, an endpoint that broke and an agent that attacks."""
    rollouts = [played(problem, make()) for problem in PROBLEMS for make in (ExpertPolicy, RandomPolicy)]
    return *rollouts, played(PROBLEMS[0], Broken()), played(PROBLEMS[0], Hostile())


def written(folder: Path) -> Path:
    """The run as a dataset."""
    writer = DatasetWriter(folder, About(title="Three <b>incidents</b>"))
    for index, rollout in enumerate(golden_run()):
        writer.add(index, [rollout])
    writer.finish()
    return folder
