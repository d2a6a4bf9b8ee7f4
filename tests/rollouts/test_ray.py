"""A pool on Ray: the same results whoever plays, nothing lost and nothing twice whatever dies.

A cluster takes seconds to begin, so all cases share one, in one test: spread over processes each would begin its own.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sregym_env.errors import UsageError
from sregym_env.faults.problems import problem
from sregym_env.rollouts.ledger import RunError
from sregym_env.rollouts.plan import Group, PolicyChoice, RunPlan, groups
from sregym_env.rollouts.pool import Finished, LocalPool, Pool, Raised
from sregym_env.rollouts.runs import play

ray = pytest.importorskip("ray")

from sregym_env.rollouts.ray import RolloutPool, Worker  # noqa: E402

PROBLEMS = (problem("network_policy_block"), problem("hotel-reservation/scale_to_zero/geo"))


def plan(policy: str = "random", episodes: int = 4, samples: int = 2) -> RunPlan:
    """Eight groups of two random episodes."""
    options = {"steps": 3} if policy == "random" else {}
    return RunPlan.of(
        groups(PROBLEMS, rounds=episodes, samples=samples, seed=9),
        policy=PolicyChoice(name=policy, options=options),
    )


class Unreliable(Worker):
    """Kills itself, hangs or raises, by the number of the group."""

    def play(self, worker: int, plan: RunPlan, group: Group) -> Finished | Raised | UsageError:
        if group.index == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if group.index == 2:
            time.sleep(3600)
        if group.index == 3:
            raise KeyError("a defect")
        return super().play(worker, plan, group)


class Stillborn(Worker):
    """Cannot be made."""

    def __init__(self) -> None:
        raise OSError("no licence server")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def dataset(pool: Pool, folder: Path) -> dict[str, bytes]:
    """What a run leaves on disk."""
    play(plan(), pool, folder=folder)
    return contents(folder)


# --- the cases, on one cluster and mostly with the same two workers ------------------------------


def the_bytes_are_those_of_one_process(pool: RolloutPool, tmp_path: Path) -> None:
    alone = dataset(LocalPool(), tmp_path / "alone")
    assert len(alone) > 3
    assert dataset(pool, tmp_path / "two") == alone
    # Once more with the same workers: what they have played before does not show.
    assert dataset(pool, tmp_path / "again") == alone
    with RolloutPool(1, episodes_per_worker=3) as threads:
        assert dataset(threads, tmp_path / "threads") == alone


def results_come_in_order_or_as_they_are_done(pool: RolloutPool, tmp_path: Path) -> None:
    made = plan()
    assert [result.index for result in pool.map(made)] == list(range(8))
    some = made.groups[3:6]
    assert sorted(result.index for result in pool.map_unordered(made, some)) == [3, 4, 5]


def what_makes_no_sense_is_said_at_once(pool: RolloutPool, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no policy 'oracle'"):
        list(pool.map(plan(policy="oracle")))
    with pytest.raises(UsageError, match="connected already"):
        RolloutPool(1, address="10.0.0.1:6379")
    with pytest.raises(UsageError, match="at least 1"):
        RolloutPool(0)


def a_killed_worker_costs_an_attempt_and_no_result(pool: RolloutPool, tmp_path: Path) -> None:
    made = plan(episodes=8, samples=1)
    stream = pool.map_unordered(made)
    results = [next(stream)]
    os.kill(pool.pids[0], signal.SIGKILL)
    results += stream
    assert sorted(result.index for result in results) == list(range(16))
    assert all(result.error is None for result in results)
    assert sum(result.attempt for result in results) == 1
    expected = {result.index: result.rollouts for result in LocalPool().map(made)}
    assert {result.index: result.rollouts for result in results} == expected


def who_stops_listening_finds_free_workers(pool: RolloutPool, tmp_path: Path) -> None:
    stream = pool.map_unordered(plan())
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert [result.index for result in pool.map(plan(episodes=1))] == [0, 1]


def who_always_fails_is_given_up_and_nobody_else(pool: RolloutPool, tmp_path: Path) -> None:
    with RolloutPool(2, group_seconds=45.0, attempts=2, worker=Unreliable) as unreliable:
        results = list(unreliable.map(plan()))
    told = {result.index: result.error for result in results if result.error is not None}
    assert sorted(told) == [1, 2, 3]
    assert "ActorDiedError" in told[1]
    assert told[2] == "not done in 45 s"
    assert told[3] == "KeyError: 'a defect'"
    assert {result.attempt for result in results if result.error} == {1}
    assert [bool(result.rollouts) for result in results] == [
        True,
        False,
        False,
        False,
        True,
        True,
        True,
        True,
    ]


def workers_for_whom_there_is_no_room_do_not_hang(pool: RolloutPool, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no worker has begun in 0\.5 s: each asks for 1 CPU, 3 moon"):
        RolloutPool(2, resources={"moon": 3}, start_seconds=0.5)


def workers_that_cannot_start_are_not_made_for_ever(pool: RolloutPool, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="3 workers in a row could not start"):
        RolloutPool(1, worker=Stillborn)


CASES: tuple[Callable[[RolloutPool, Path], None], ...] = (
    the_bytes_are_those_of_one_process,
    results_come_in_order_or_as_they_are_done,
    what_makes_no_sense_is_said_at_once,
    a_killed_worker_costs_an_attempt_and_no_result,
    who_stops_listening_finds_free_workers,
    who_always_fails_is_given_up_and_nobody_else,
    workers_for_whom_there_is_no_room_do_not_hang,
    workers_that_cannot_start_are_not_made_for_ever,
)


@pytest.fixture
def pool() -> Iterator[RolloutPool]:
    """Two workers on a cluster with room for more."""
    ray.init(
        "local",
        num_cpus=5,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=2**27,
        # Nobody else: processes that are begun for future use would take the time of those that are used.
        _system_config={"prestart_worker_first_driver": False},
    )
    with RolloutPool(2) as made:
        yield made
    ray.shutdown()


def test_a_cluster_that_is_not_there_is_told_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(RunError, match=f"no Ray cluster at 127.0.0.1:{port}"):
        RolloutPool(1, address=f"127.0.0.1:{port}")


@pytest.mark.ray
def test_a_pool_on_ray(pool: RolloutPool, tmp_path: Path, subtests: pytest.Subtests) -> None:
    for case in CASES:
        with subtests.test(msg=case.__name__):
            case(pool, tmp_path / case.__name__)
