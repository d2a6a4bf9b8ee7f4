"""Baselines and random walks play any application to its end, and know nothing."""

from __future__ import annotations

import re

import pytest

from sregym_env import apps
from sregym_env.envs.env import SREGymEnv
from sregym_env.rollouts.policies import policy
from sregym_env.rollouts.policies.scripted import SCRIPTED, Red, reds, rolled_out
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.rollouts.runner import run_episode

LISTING = """\
geo-7fc899cd4f-lhlfn      ReplicaSet    false        3        Running
db-0                      StatefulSet   <none>       <none>   Pending
edge-x2f4q                DaemonSet     true,false   1        Running
frontend-7d6f8c8d4b-69jss ReplicaSet    true         0        Running
wrk2-job-rwt6k            Job           false        0        Failed
"""

REPLICASETS = """\
NAME                      DESIRED   CURRENT   READY   AGE
memcached-rate-7c9c4f5c   1         1         1       5h
geo-7fc899cd4f            0         0         0       41s
geo-647869989f            1         1         1       3m10s
old-647869989f            1         1         1       3h10m
"""

NAMES = ("random", *SCRIPTED)


def played(problem: str, name: str, seed: int = 1, **options: object) -> EpisodeRecord:
    env = SREGymEnv(problem, raise_errors=True)
    return run_episode(env, policy(name, options), seed=seed).record


def test_workloads_are_read_off_their_pods() -> None:
    assert reds(LISTING, "a") == [
        Red("a", "deployment", "geo", 3, "Running"),
        Red("a", "statefulset", "db", 0, "Pending"),
        Red("a", "daemonset", "edge", 1, "Running"),
    ]


def test_recent_rollouts_are_read_off_replica_sets() -> None:
    assert rolled_out(REPLICASETS) == ["geo"]


@pytest.mark.parametrize("calls", ["text", "tools"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "problem", ["wrong_dns_policy_hotel_reservation", "parcel-tracking/incompatible_image/ledger"]
)
def test_every_one_of_them_plays_to_the_end(problem: str, name: str, calls: str) -> None:
    record = played(problem, name, calls=calls)
    assert record.exit_reason == "submitted"
    assert record.diagnosis and record.oracle is not None
    assert not record.success
    assert [
        record.action(step) for step in record.steps if step.error_type not in ("", "command_error")
    ] == []


def test_restarting_what_is_red_helps_where_a_restart_is_all_it_takes() -> None:
    before = played("hotel-reservation/scale_to_zero/geo", "wait")
    restarted = played("hotel-reservation/revoke_auth_mongodb/mongodb-geo", "restart")
    assert before.oracle is not None and not before.oracle["passed"]
    assert any("rollout restart deployment/geo" in action for action in restarted.actions)
    assert restarted.diagnosis is not None and "geo" in restarted.diagnosis


def test_the_walk_meets_every_kind_of_workload_and_both_namespaces() -> None:
    typed = "\n".join(played("parcel-tracking/scale_to_zero/pricing", "random", 3, steps=40).actions)
    for kind in ("deployment", "statefulset", "daemonset"):
        assert kind in typed
    for namespace in apps.app("parcel-tracking").namespaces:
        assert re.search(rf"-n {namespace}\b", typed)
