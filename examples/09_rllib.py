"""RLlib's PPO on the numeric view, for a few iterations: the cluster as any other environment with a Box and a Discrete.

Needs torch and ``ray[rllib]``, which pins Gymnasium 1.2.2; ``make rllib`` installs them in a virtual environment of
their own and runs this. For a policy that shares its weights over components, and learns more from less, see
``train_reinforce.py``.
"""

from __future__ import annotations

import argparse
import logging
import os
import time
from typing import Any

import gymnasium
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.tune.registry import register_env

from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.wrappers import NumericView, StepLimit

FAULT = "scale_to_zero"


def make(config: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    """A repair of one family of faults, on whatever component of the training split the seed draws."""
    env = SREGymEnv(
        fault=FAULT, split="train", split_by="target", stage="mitigation", grade_at_limit=True, **config
    )
    return NumericView(StepLimit(env, 4), verbs=("restart", "scale"), mechanisms=())


def main() -> None:
    """Train and say how it goes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--batch", type=int, default=256, help="steps of the environment in each iteration")
    given = parser.parse_args()
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    logging.getLogger("ray").setLevel(logging.ERROR)
    ray.init(include_dashboard=False, log_to_driver=False, num_cpus=2)
    register_env("sregym", make)
    config = (
        PPOConfig()
        .environment("sregym", env_config={"obs_chars": 4_000})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=4)
        .learners(num_learners=0)
        .training(
            train_batch_size_per_learner=given.batch,
            minibatch_size=64,
            num_epochs=8,
            lr=1e-3,
            entropy_coeff=0.01,
            gamma=1.0,
        )
        .debugging(seed=0, log_level="ERROR")
    )
    algorithm = config.build_algo()
    started = time.perf_counter()
    for iteration in range(1, given.iterations + 1):
        told = algorithm.train()["env_runners"]
        print(
            f"iteration {iteration}: return {told['episode_return_mean']:.3f} over "
            f"{told['num_episodes']:.0f} episodes of {told['episode_len_mean']:.1f} steps, "
            f"{time.perf_counter() - started:.0f} s",
            flush=True,
        )
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
