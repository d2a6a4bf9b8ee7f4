"""What forks share is safe to share: nobody writes to it, in whatever thread the forks are."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import FrameType

import pytest

from sregym_env.kube.types import Manifest
from sregym_env.sim.bringup.assembly import MACHINERY
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.world.derived import KEPT, DerivedFrom, DerivedFromEach
from sregym_env.sim.world.shared import SharedLog

THREADS = 4
ROUNDS = 3000


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads that are interrupted all the time."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-9)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


@pytest.mark.parametrize("moment", range(6))
def test_a_fork_of_a_log_may_append_at_any_moment_of_anothers_append(moment: int) -> None:
    log: SharedLog[str] = SharedLog()
    log.append("past")
    one, other = log.fork(), log.fork()
    calls = 0

    def interrupt(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        if frame.f_code is SharedLog.append.__code__:
            calls += 1
            if calls == moment + 1:
                sys.setprofile(None)
                other.append("other")

    sys.setprofile(interrupt)
    try:
        one.append("one")
    finally:
        sys.setprofile(None)
    if calls <= moment:
        other.append("other")
    assert [list(each) for each in (log, one, other)] == [["past"], ["past", "one"], ["past", "other"]]


def test_a_fork_of_a_log_is_not_changed_by_what_it_was_forked_from() -> None:
    log: SharedLog[int] = SharedLog(keep=2)
    log.append(1)
    fork = log.fork()
    for number in (2, 3, 4, 5):
        log.append(number)
    fork.append(9)
    assert list(fork) == [1, 9]
    assert (list(log), log.forgotten) == ([3, 4, 5], 2)
    copied = pickle.loads(pickle.dumps(log))
    assert (list(copied), copied.forgotten) == ([3, 4, 5], 2)
    copied.append(6)
    assert (list(copied), copied.forgotten) == ([3, 4, 5, 6], 2)


def test_views_are_right_while_threads_push_each_others_out(restless: None) -> None:
    first_name = DerivedFrom(lambda objects: str(objects[0]["name"]))
    name_of = DerivedFromEach(lambda obj: str(obj["name"]))

    def looked_at(thread: int) -> bool:
        right = True
        for number in range(ROUNDS):
            name = f"{thread}/{number}"
            obj: Manifest = {"name": name, "metadata": {"uid": str(number % 7)}}
            right = right and first_name([obj]) == name and name_of(obj) == name
        return right

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(looked_at, range(THREADS)))
    assert len(first_name._known) <= KEPT + THREADS


def test_worlds_that_are_kept_do_not_change_when_they_are_forked_and_the_forks_live_on() -> None:
    kept = bare_cluster(3).fork()
    before = pickle.dumps(kept)
    forks = [kept.fork(), kept.fork()]
    digests = []
    for fork in forks:
        fork.cluster.delete("pods", fork.store.list("pods")[0]["metadata"]["name"], "kube-system")
        fork.advance(600)
        digests.append(fork.digest())
    assert digests[0] == digests[1] != kept.digest()
    assert pickle.dumps(kept) == before


def test_a_world_with_control_loops_of_its_own_can_be_pickled() -> None:
    world = bare_cluster(2)
    world._machinery = replace(MACHINERY, place="")
    copied = pickle.loads(pickle.dumps(world))
    assert copied._machinery is not MACHINERY
    for each in (world, copied):
        each.cluster.delete("pods", each.store.list("pods")[0]["metadata"]["name"], "kube-system")
        each.advance(600)
    assert copied.digest() == world.digest()
