"""Groups as GRPO wants them: several members from one and the same state, each measured by its group.

One reset, K forks: the members share the problem, the seed and everything that has happened so far, so that they differ
in nothing but what they do. A member costs a fork (a tenth of a millisecond), not a reset. The policy here draws from a
few scripts and stands for a sampled model.

Of shaping: with ``reward="shaped"`` every step earns the change of a potential, the health of the users, and over an
episode that is played to its end these sum to minus the potential of its first state, which is the same for all
members. An advantage of whole trajectories, as GRPO has it, therefore does not see shaping at all; an advantage of
single turns does. What tells members apart in a whole trajectory is a graded outcome (``reward="graded"``).
"""

import random

import numpy as np

from sregym_env.envs.env import SREGymEnv

MEMBERS = 6
CAUSE = "The Service {0} forwards to a targetPort on which {0} does not listen."
SCRIPTS = (
    ("submit mitigation",),
    ("kubectl rollout restart deployment/memcached-rate -n hotel-reservation", "submit mitigation"),
    (f'submit diagnosis "{CAUSE.format("memcached-rate")}"', "submit mitigation"),
    (
        f'submit diagnosis "{CAUSE.format("memcached-rate")}"',
        "kubectl patch service memcached-rate -n hotel-reservation --type=json "
        '-p \'[{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 11211}]\'',
        "submit mitigation",
    ),
)


def advantages(returns: list[float]) -> np.ndarray:
    """GRPO's: how many standard deviations of its group a member lies above the mean."""
    values = np.array(returns)
    return (values - values.mean()) / (values.std() + 1e-6)


def group(reward: str, seed: int) -> tuple[list[float], list[float]]:
    """Returns of a group's members, and the part of them that is shaping."""
    env = SREGymEnv(
        fault="service_target_port_mismatch", app="hotel-reservation", target="memcached-rate", reward=reward
    )
    env.reset(seed=seed)
    # The members begin where the first look has been taken: a group may fork from the middle of an episode.
    env.step("kubectl get pods,services -n hotel-reservation")
    dice = random.Random(seed)
    returns, shaping = [], []
    for _ in range(MEMBERS):
        member = env.fork()
        returns.append(sum(member.step(action)[1] for action in dice.choice(SCRIPTS)))
        shaping.append(member.terms_total["shaping"])
    return returns, shaping


plain, none = group("composite", seed=4)
shaped, shaping = group("shaped", seed=4)
print("return    ", " ".join(f"{value:6.2f}" for value in plain))
print("shaped    ", " ".join(f"{value:6.2f}" for value in shaped))
print("shaping   ", " ".join(f"{value:6.2f}" for value in shaping))
print("advantage ", " ".join(f"{value:6.2f}" for value in advantages(plain)))

assert len(set(plain)) > 1, "a group whose members all do alike teaches nothing"
assert set(none) == {0.0}
assert np.ptp(shaping) < 1e-6, "shaping is the same for all members"
assert np.allclose(advantages(plain), advantages(shaped), atol=1e-3)
