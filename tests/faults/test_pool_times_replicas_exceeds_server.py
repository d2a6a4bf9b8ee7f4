"""Pools that are together too large: each change is reasonable, and a third service cannot connect."""

from __future__ import annotations

from functools import cache

import pytest

from sregym_env.cluster.forkable import Forkable
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.pool_times_replicas_exceeds_server import RESERVED, _connections, _sizes
from sregym_env.faults.registry import declaration
from sregym_env.rollouts.validate import Subject
from sregym_env.sim.programs.postgres.server import AT_REST
from sregym_env.sim.programs.postgres.sessions import PER_SESSION
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import subject

FAULT = declaration("pool_times_replicas_exceeds_server")
APP, TARGET = "astronomy-shop", "postgresql"
ASKED = "SELECT count(*) FROM pg_stat_activity WHERE client_addr IS NOT NULL"


@cache
def pair() -> Subject:
    return subject(FAULT.name, TARGET, APP)


@pytest.fixture
def world() -> Forkable:
    return pair().world()


def _said(world: Forkable, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text.strip()


def _psql(world: Forkable, text: str) -> str:
    return _said(world, f'kubectl exec -n {APP} deploy/postgresql -- psql -U root -d otel -tAc "{text}"')


def test_before_either_change_there_is_room_and_after_it_there_is_none_whatever_the_memory_is_told(
    every_inventory: Inventory,
) -> None:
    for target in FAULT.targets.find(every_inventory):
        most = _connections(target)
        limit = AT_REST + most / 0.85 * PER_SESSION
        for way in ("pool", "replicas"):
            for replicas in (2, 3):
                before, after = _sizes(target, way, replicas)
                assert before[0] * before[1] <= 0.6 * (most - RESERVED)
                assert AT_REST + after[0] * after[1] * PER_SESSION > limit
                # One of the two has changed.
                assert sum(a != b for a, b in zip(before, after, strict=True)) == 1


def test_all_slots_that_are_not_reserved_are_taken_by_who_does_not_use_them(world: Forkable) -> None:
    most = int(_psql(world, "SHOW max_connections"))
    assert int(_psql(world, ASKED)) == most - RESERVED
    idle = _psql(world, f"{ASKED} AND state = 'idle'")
    assert int(idle) == most - RESERVED


def test_who_connects_anew_fails_and_who_is_connected_goes_on(world: Forkable) -> None:
    health = {journey.journey: journey.success_ratio for journey in world.traffic.health(30.0)}
    assert health["reviews"] < 0.1
    assert health["browse" if "browse" in health else "product"] > 0.9
    assert "remaining connection slots are reserved" in _said(
        world, f"kubectl logs -n {APP} deploy/product-reviews --tail=20"
    )
    assert "FATAL:  remaining connection slots" in _said(
        world, f"kubectl logs -n {APP} deploy/postgresql --tail=20"
    )


def test_a_larger_limit_alone_has_the_server_killed(world: Forkable) -> None:
    args = '["postgres","-c","max_connections=100"]'
    patch = f'{{"spec":{{"template":{{"spec":{{"containers":[{{"name":"postgresql","args":{args}}}]}}}}}}}}'
    _said(world, f"kubectl patch deployment postgresql -n {APP} -p '{patch}'")
    _said(world, "sleep 150")
    pods = _said(world, f"kubectl get pods -n {APP} -l opentelemetry.io/name=postgresql -o yaml")
    assert "OOMKilled" in pods
    assert not pair().judge(world).passed


def test_connections_that_are_ended_are_opened_again(world: Forkable) -> None:
    before = int(_psql(world, ASKED))
    _psql(world, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE client_addr IS NOT NULL")
    _said(world, "sleep 40")
    assert int(_psql(world, ASKED)) >= before - 2
    assert not pair().judge(world).passed
