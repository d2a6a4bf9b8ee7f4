"""Environments that keep their worlds packed play as any other, in a tenth of the memory."""

from __future__ import annotations

from typing import Any, cast

import pytest

from sregym_env import SREGymEnv
from sregym_env.cluster.deploy import Backend
from sregym_env.envs.scene import Packed
from sregym_env.errors import UsageError
from tests.envs.test_pickling import AFTER, BEFORE, PROBLEMS

MOST_BYTES = 500_000
"""What a thousand environments of all applications may take each, in one process."""


def played(env: SREGymEnv, problem: dict[str, Any]) -> list[Any]:
    """Everything that is seen of an episode."""
    seen: list[Any] = [env.reset(seed=11, options=problem)]
    for action in (*BEFORE, *AFTER, 'submit diagnosis "no idea"', "submit mitigation"):
        seen += [env.step(action), env.results, env.terms, env.episode.seconds]
    return [*seen, env.state(), env.render()]


@pytest.mark.parametrize("name", ["disk", "shop", "credentials"])
def test_it_plays_as_one_that_is_not_packed(name: str) -> None:
    arguments = {key: value for key, value in PROBLEMS[name].items() if key not in ("problem", "noise")}
    options = {key: value for key, value in PROBLEMS[name].items() if key in ("problem", "noise")}
    envs = [
        SREGymEnv(**arguments, **options, raise_errors=True, render_mode="ansi", compact=compact)
        for compact in (False, True)
    ]
    plain, packed = (played(env, options) for env in envs)
    assert packed == plain


def test_the_world_rests_between_calls() -> None:
    env = SREGymEnv(problem="network_policy_block", compact=True, raise_errors=True)
    env.reset(seed=3)
    for act in (lambda: env.step("kubectl get pods -A"), env.state, lambda: env.finish("max_steps")):
        kept = env.episode._kept
        assert isinstance(kept, Packed)
        assert len(kept.content) < MOST_BYTES
        # What is asked for at every step needs no world.
        assert (env.episode.seconds, env.results, env.episode._kept) == (
            env.episode.seconds,
            env.results,
            kept,
        )
        act()
    assert isinstance(env.episode._kept, Packed)


def test_forks_and_snapshots_go_on_apart() -> None:
    env = SREGymEnv(problem="network_policy_block", compact=True, raise_errors=True)
    env.reset(seed=3)
    snapshot, other = env.snapshot(), env.fork()
    gone = env.step("kubectl delete networkpolicies --all -A; sleep 30; kubectl get networkpolicies -A")
    assert other.step("kubectl get networkpolicies -A")[0] != gone[0]
    env.restore(snapshot)
    digest = env.state()["digest"]
    env.step("sleep 30")
    assert env.state()["digest"] != digest
    env.restore(snapshot)
    assert env.state()["digest"] == digest


def test_a_cluster_cannot_be_packed() -> None:
    class Elsewhere:
        def deploy(self) -> None: ...

    with pytest.raises(UsageError, match="cannot be packed"):
        SREGymEnv(problem="network_policy_block", compact=True, backend=cast(Backend, Elsewhere()))
