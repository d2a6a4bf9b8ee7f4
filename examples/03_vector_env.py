"""Many episodes at once with Gymnasium's own vector environments."""

import gymnasium as gym

import sregym_env  # noqa: F401  (registers the environments)

envs = gym.make_vec("SREGym/Suite-v0", num_envs=4, vectorization_mode="sync")
observations, infos = envs.reset(seed=11)
assert len(observations) == 4

for action in ("alerts", "kubectl get pods -n hotel-reservation", "kubectl get events -n hotel-reservation"):
    observations, rewards, terminated, truncated, infos = envs.step((action,) * 4)

for observation in observations:
    print(observation.splitlines()[0])
envs.close()
