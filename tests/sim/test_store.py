"""The object store: revisions, forks that share, and the log of changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube.types import Manifest
from sregym_env.sim.world.shared import SharedLog
from sregym_env.sim.world.store import Change, Store


def config_map(name: str, namespace: str = "default", **data: str) -> Manifest:
    return {
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "uid": name},
        "data": data,
    }


def test_every_write_gets_the_next_revision_and_a_new_object() -> None:
    store = Store()
    first = store.put("configmaps", config_map("a", key="1"))
    second = store.put("configmaps", config_map("a", key="2"))
    assert (first["metadata"]["resourceVersion"], second["metadata"]["resourceVersion"]) == ("1", "2")
    assert first["data"] == {"key": "1"}, "a stored object never changes"


def test_listener_and_log_tell_the_same_story() -> None:
    store = Store()
    heard: list[Change] = []
    store.listener = heard.append
    store.put("configmaps", config_map("a"))
    store.put("configmaps", config_map("a", key="x"))
    store.remove("configmaps", "default", "a")
    assert [change.type for change in heard] == ["ADDED", "MODIFIED", "DELETED"]
    assert list(store.changes) == heard
    assert store.remove("configmaps", "default", "a") is None


def test_lists_are_ordered_by_namespace_and_name() -> None:
    store = Store()
    for namespace, name in (("b", "x"), ("a", "z"), ("a", "y")):
        store.put("configmaps", config_map(name, namespace))
    assert [o["metadata"]["name"] for o in store.list("configmaps")] == ["y", "z", "x"]
    assert [o["metadata"]["name"] for o in store.list("configmaps", "a")] == ["y", "z"]


def test_owners_are_found_after_they_change() -> None:
    store = Store()
    child = config_map("child")
    store.put("configmaps", child)
    assert store.owned_by("configmaps", "boss") == []
    adopted = {**child, "metadata": {**child["metadata"], "ownerReferences": [{"uid": "boss"}]}}
    store.put("configmaps", adopted)
    assert [o["metadata"]["name"] for o in store.owned_by("configmaps", "boss")] == ["child"]


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc"), st.integers(0, 3)), max_size=30))
def test_forks_never_see_each_others_writes(writes: list[tuple[bool, str, int]]) -> None:
    left = Store()
    left.put("configmaps", config_map("a", n="0"))
    right = left.fork()
    expected: dict[bool, dict[str, str]] = {True: {"a": "0"}, False: {"a": "0"}}
    for to_left, name, number in writes:
        store = left if to_left else right
        if number == 0:
            store.remove("configmaps", "default", name)
            expected[to_left].pop(name, None)
        else:
            store.put("configmaps", config_map(name, n=str(number)))
            expected[to_left][name] = str(number)
    for to_left, store in ((True, left), (False, right)):
        found = {o["metadata"]["name"]: o["data"]["n"] for o in store.list("configmaps")}
        assert found == expected[to_left]


@given(st.lists(st.tuples(st.booleans(), st.integers()), max_size=40))
def test_shared_logs_diverge_cleanly(appends: list[tuple[bool, int]]) -> None:
    left: SharedLog[int] = SharedLog()
    left.append(0)
    right = left.fork()
    expected: dict[bool, list[int]] = {True: [0], False: [0]}
    for to_left, number in appends:
        (left if to_left else right).append(number)
        expected[to_left].append(number)
    assert list(left) == expected[True]
    assert list(right) == expected[False]
    assert list(right.newest_first()) == expected[False][::-1]


def test_a_bounded_log_forgets_the_oldest() -> None:
    log: SharedLog[int] = SharedLog(keep=3)
    for number in range(10):
        log.append(number)
    assert list(log)[-3:] == [7, 8, 9]
    assert len(log) <= 6
    assert log.forgotten + len(log) == 10
