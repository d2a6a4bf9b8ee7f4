"""What objects were."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.runtime.clock import EPOCH, SECOND
from sregym_env.sim.monitoring.past import FOREVER, past
from tests.sim.control_plane import cluster

_STEP = st.tuples(st.sampled_from("ab"), st.sampled_from(("put", "remove")), st.integers(0, 3))


def obj(name: str, size: int) -> dict[str, Any]:
    metadata = {"namespace": "default", "name": name, "uid": name}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"size": str(size)}}


@given(st.lists(_STEP, max_size=12), st.integers(0, 12))
def test_every_instant_has_the_object_that_was_there(steps: list[tuple[str, str, int]], since: int) -> None:
    world = cluster()
    start = world.clock
    was: list[dict[str, str]] = [{}]
    for index, (name, act, size) in enumerate(steps):
        world.clock = start + (index + 1) * SECOND
        now = dict(was[-1])
        if act == "put":
            world.store.put("configmaps", obj(name, size))
            now[name] = str(size)
        else:
            world.store.remove("configmaps", "default", name)
            now.pop(name, None)
        was.append(now)
    for half in (world, world.fork()):
        found = past(half, start + since * SECOND)
        versions = [version for each in found.objects("configmaps") for version in each]
        for index in range(since, len(was)):
            time = start + index * SECOND + 1
            there = {
                version.obj["metadata"]["name"]: version.obj["data"]["size"]
                for version in versions
                if version.start <= time < version.end and version.obj["metadata"].get("uid") in ("a", "b")
            }
            assert there == was[index]


def test_what_was_never_written_since_is_as_it_is() -> None:
    world = cluster("w1")
    world.advance(600.0)
    found = list(past(world, world.clock - 60 * SECOND).objects("nodes"))
    assert [[version.end for version in each] for each in found] == [[FOREVER]]
    assert found[0][0].start == EPOCH
