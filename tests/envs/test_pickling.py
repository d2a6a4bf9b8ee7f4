"""Environments, episodes and snapshots travel: to a copy, and to another process that goes on in the same way."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import cloudpickle
import gymnasium as gym
import pytest

import sregym_env  # noqa: F401 - registers the ids
from sregym_env import SREGymEnv
from sregym_env.apps import app
from sregym_env.envs.episode import Episode
from sregym_env.sim.bringup.assembly import MACHINERY

MOST_BYTES = 800_000
"""What an episode in the middle may take, compressed."""

NAMESPACE = "hotel-reservation"

BEFORE = (
    f"kubectl get pods -n {NAMESPACE}",
    "greeting=hello; twice() { echo $1 $1; }; cd /tmp; kubectl get nodes > nodes.txt",
    f"kubectl exec -n {NAMESPACE} deploy/mongodb-geo -- sh -c 'echo note > /data/db/note; date'",
    f"kubectl rollout restart deployment/geo -n {NAMESPACE} && sleep 7",
    f"kubectl port-forward -n {NAMESPACE} svc/frontend 5000:5000 > /tmp/forward.log 2>&1 &",
    f"kubectl delete pod -n {NAMESPACE} -l io.kompose.service=frontend --wait=false",
)
"""An episode interrupted in the midst of a rollout, with a session that remembers things."""

AFTER = (
    "pwd; twice $greeting; cat nodes.txt | wc -l; jobs",
    "curl -s -o /dev/null -w '%{http_code}' http://localhost:5000/",
    f"kubectl exec -n {NAMESPACE} deploy/mongodb-geo -- cat /data/db/note",
    f"kubectl get pods,endpoints,events -n {NAMESPACE}",
    f"kubectl logs -n {NAMESPACE} deployment/frontend --tail=50",
    f"kubectl scale deployment/search -n {NAMESPACE} --replicas=2; sleep 20; kubectl get deploy -A",
    "alerts",
)

PROBLEMS: dict[str, dict[str, Any]] = {
    "network": {"problem": "network_policy_block"},
    "disk": {"problem": "latent_sector_error", "noise": True},
    "credentials": {"problem": "revoke_auth_mongodb-1", "reward": "graded"},
    "several": {"problem": "hotel_res_concurrent_fault", "mode": "reactive"},
    "shop": {"problem": "missing_service_astronomy_shop"},
    "pair": {"fault": "cpu_limit_too_low", "app": NAMESPACE, "target": "frontend", "render_mode": "ansi"},
}


def begun(name: str, seed: int = 11) -> SREGymEnv:
    """An environment in the middle of an episode."""
    env = SREGymEnv(**PROBLEMS[name], raise_errors=True)
    env.reset(seed=seed)
    for action in BEFORE:
        env.step(action)
    return env


def ended(env: SREGymEnv) -> list[Any]:
    """Everything that is seen until the end of the episode, with the world's digests on the way."""
    (first, *_) = env.episode.staged.solutions
    seen: list[Any] = []
    for action in (*AFTER, f"submit diagnosis <<'EOF'\n{first.diagnosis}\nEOF", *first.remedies[0]):
        seen += [env.step(action), env.state()["digest"]]
    seen += [env.step("submit mitigation"), env.state(), env.render()]
    return seen


def ended_elsewhere(data: bytes) -> list[Any]:
    """:func:`ended` of a pickled environment, in the process that is given it."""
    env: SREGymEnv = pickle.loads(data)
    return ended(env)


@pytest.mark.parametrize(
    "names",
    [[*PROBLEMS][::2], pytest.param([*PROBLEMS][1::2], marks=pytest.mark.exhaustive)],
    ids=" ".join,
)
def test_an_episode_ends_in_another_process_as_its_twin_does_here(names: list[str]) -> None:
    here = {name: begun(name) for name in names}
    sent = [pickle.dumps(env) for env in here.values()]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as other:
        theirs = list(other.map(ended_elsewhere, sent))
    for env, seen in zip(here.values(), theirs, strict=True):
        assert seen == ended(env)


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_episode_in_the_middle_is_small(name: str) -> None:
    episode = begun(name).episode
    assert len(zlib.compress(pickle.dumps(episode))) < MOST_BYTES


def by_pickle(value: Any) -> Any:
    """A copy by the standard library's pickle."""
    return pickle.loads(pickle.dumps(value))


def by_cloudpickle(value: Any) -> Any:
    """A copy by cloudpickle."""
    return cloudpickle.loads(cloudpickle.dumps(value))


WAYS: tuple[Callable[[Any], Any], ...] = (by_pickle, by_cloudpickle, copy.deepcopy)


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_goes_on_alike_and_apart(way: Callable[[Any], Any]) -> None:
    env = begun("credentials")
    before = env.state()["digest"]
    first, second = way(env), way(env)
    seen = ended(first)
    assert env.state()["digest"] == before
    assert ended(second) == seen
    assert ended(env) == seen


@pytest.mark.parametrize("way", WAYS)
def test_snapshots_and_episodes_are_copied_too(way: Callable[[Any], Any]) -> None:
    env = begun("network")
    snapshot = way(env.snapshot())
    episode: Episode = way(env.episode)
    seen = ended(env)
    env.restore(snapshot)
    assert ended(env) == seen
    assert [episode.play(action).observation for action in AFTER] == [step[0] for step in seen[:14:2]]


@pytest.mark.parametrize("way", WAYS)
def test_an_environment_is_copied_in_its_wrappers_and_before_its_first_reset(
    way: Callable[[Any], Any],
) -> None:
    env = gym.make("SREGym/Suite-v0")
    copied = way(env)
    assert copied.reset(seed=3) == env.reset(seed=3)
    assert way(env).step(BEFORE[0]) == copied.step(BEFORE[0]) == env.step(BEFORE[0])
    assert way(env).reset() == env.reset()  # the environment's own generator draws the next problem


def test_a_copy_shares_what_is_no_state() -> None:
    env = begun("pair")
    copied = by_pickle(env)
    world = copied.episode.world
    assert world._machinery is MACHINERY
    published = SREGymEnv(**PROBLEMS["pair"], variation=False)
    published.reset(seed=1)
    assert by_pickle(published).episode.world.app is app(NAMESPACE)
    assert copied.episode.staged.app is world.app
    assert copied.episode.workstation.world is world
    assert copied.episode.staged.world is world


def test_a_failed_episode_travels() -> None:
    class Refusing:
        name = "refusing"

        def grade(self, *_: Any) -> Any:
            raise OSError("no answer")

    env = SREGymEnv(problem="network_policy_block", judge=Refusing())
    env.reset(seed=1)
    env.step('submit diagnosis "the network policy"')
    assert isinstance(env.episode.failure, OSError)
    copied = by_cloudpickle(env)
    assert str(copied.episode.failure) == "OSError: no answer"
    assert copied.state() == env.state()
