"""Environments in threads never meet: what each sees is what it sees alone."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Barrier
from typing import Any

import pytest

from sregym_env import SREGymEnv
from sregym_env.envs import staging
from sregym_env.rollouts.policies import ExpertPolicy, Policy, RandomPolicy
from sregym_env.sim.bringup import deploy

THREADS = 4
SWITCH_INTERVAL = 1e-9
"""Seconds that a thread runs before another may: as good as none, so they alternate as often as they can."""

NAMESPACE = "hotel-reservation"

SHELL = (
    "for i in 1 2 3; do echo $i $RANDOM; done | sort -r > /tmp/n; cat /tmp/n",
    "x=$(kubectl get pods -A -o name | wc -l); echo $((x * 2)); f() { local y=$1; echo $y; }; f $RANDOM",
    "(sleep 30; echo late) & jobs; echo now; wait; jobs",
    "printf 'a b\\nc d\\n' | while read -r p q; do echo \"$q $p\"; done | tee /tmp/t | sed s/a/z/ | awk '{print $2}'",
    f"kubectl get pods -n {NAMESPACE} -o json | jq -r '.items[].metadata.name' | head -n 5 | xargs -n 2 echo",
    f"kubectl exec -n {NAMESPACE} deploy/mongodb-geo -- sh -c 'for i in 1 2; do echo $i > /tmp/$i; done; cat /tmp/*'",
    "echo 'select(.spec) | .metadata.name' > /tmp/q; kubectl get deploy -A -o json | jq '.items[]' | jq -f /tmp/q | wc -l",
    f"kubectl get deployment geo -n {NAMESPACE} -o yaml > /tmp/geo.yaml; grep -c image /tmp/geo.yaml",
    "sed -i 's/replicas: 1/replicas: 2/' /tmp/geo.yaml; kubectl apply -f /tmp/geo.yaml; sleep 5; cat <<E | sort\nb\na\nE",
    f"kubectl rollout restart deployment/search -n {NAMESPACE}; kubectl rollout status deployment/search -n {NAMESPACE}",
    "seq 300 | while read n; do [ $((n % 97)) = 0 ] && echo $n; done; date; echo $SECONDS",
)
"""Everything for which a shell keeps something: budgets, chance, jobs, standard input, files, functions."""


class ShellPolicy:
    """Types what makes the shell work, each seed in an order of its own."""

    name = "shell"
    version = "1"

    def __init__(self) -> None:
        self._left: list[str] = []

    def begin(self, env: SREGymEnv, observation: str, seed: int) -> None:
        """Lay out the episode."""
        at = seed % len(SHELL)
        self._left = [*SHELL[at:], *SHELL[:at], 'submit diagnosis "geo is scaled"']

    def act(self, observation: str, info: dict[str, Any]) -> str:
        """The next command, whatever was seen."""
        return self._left.pop(0) if self._left else "submit mitigation"


@dataclass(frozen=True)
class Part:
    """One episode that is played."""

    policy: type[Any]
    seed: int
    arguments: dict[str, Any] = field(default_factory=dict)

    def play(self) -> list[Any]:
        """Everything that is seen from the first reset to the end, and the truth about it."""
        env = SREGymEnv(**self.arguments, raise_errors=True)
        observation, info = env.reset(seed=self.seed)
        policy: Policy = self.policy()
        policy.begin(env, observation, self.seed)
        seen: list[Any] = [observation, info]
        over = False
        while not over:
            observation, reward, terminated, truncated, info = env.step(policy.act(observation, info))
            seen.append((observation, reward, terminated, truncated, info))
            over = terminated or truncated
        return [*seen, env.state()]


_PROBLEMS = (
    "network_policy_block",
    "latent_sector_error",
    "revoke_auth_mongodb-1",
    "pvc_claim_mismatch",
    "readiness_probe_misconfiguration_hotel_reservation",
    "wrong_dns_policy_hotel_reservation",
    "namespace_memory_limit",
    "service_wrong_pod_selection_hotel_reservation",
)


def parts(times: int) -> list[Part]:
    """Episodes in which every problem is played so many times from one staged variant, so that threads share
    what is kept; half of them by the shell's policy."""
    policies: tuple[type[Any], ...] = (ShellPolicy, ExpertPolicy, ShellPolicy, RandomPolicy)
    made = []
    for number in range(8 * times):
        problem, seed = _PROBLEMS[number % 8], 8 * (number // 8) + number % 2
        arguments = {"problem": problem, "noise": number % 3 == 2}
        made.append(Part(policies[(number + number // 8) % 4], seed, arguments))
    return made


def forget() -> None:
    """As in a fresh process: nothing is staged or settled."""
    staging.forget()
    deploy._settled.clear()
    deploy._clusters.clear()


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads that are interrupted all the time."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


@pytest.mark.parametrize("times", [2, pytest.param(3, marks=pytest.mark.exhaustive)])
def test_episodes_in_threads_equal_their_serial_twins(restless: None, times: int) -> None:
    episodes = parts(times)
    forget()
    alone = [part.play() for part in episodes]
    forget()
    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(Part.play, episodes))
    for part, mine, theirs in zip(episodes, alone, together, strict=True):
        for step, (expected, found) in enumerate(zip(mine, theirs, strict=False)):
            assert found == expected, (part, step)
        assert len(mine) == len(theirs), part


def first_steps(problem: str) -> list[Any]:
    """The beginning of an episode, and its end."""
    env = SREGymEnv(problem=problem, raise_errors=True)
    seen: list[Any] = [env.reset(seed=1)]
    for action in (SHELL[4], f"kubectl describe pods -n {NAMESPACE}", "submit mitigation"):
        seen.append(env.step(action))
    return [*seen, env.state()]


def first_steps_of_a_process() -> list[list[Any]]:
    """Four first steps at once, where nothing has been imported, compiled or deployed before."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(first_steps, _PROBLEMS[:THREADS]))


def test_the_first_episodes_of_a_process_may_begin_in_threads() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as fresh:
        together = fresh.submit(first_steps_of_a_process).result()
    assert together == [first_steps(problem) for problem in _PROBLEMS[:THREADS]]


def test_forks_of_one_environment_in_threads_equal_each_other(restless: None) -> None:
    env = SREGymEnv(problem="revoke_auth_mongodb-1", raise_errors=True)
    env.reset(seed=3)
    env.step(SHELL[1])
    start = Barrier(THREADS)

    def play(_: int) -> list[Any]:
        start.wait()
        branches = [env.fork() for _ in range(3)]
        seen = []
        for action in (
            f"kubectl delete pod -n {NAMESPACE} --all",
            "sleep 60",
            *SHELL[:2],
            "submit mitigation",
        ):
            seen.append([branch.step(action) for branch in branches])
        return [*seen, [branch.state() for branch in branches]]

    before = env.state()
    with ThreadPoolExecutor(THREADS) as pool:
        first, *others = pool.map(play, range(THREADS))
    assert all(step == [step[0]] * 3 for step in first)
    assert others == [first] * (THREADS - 1)
    assert env.state() == before
