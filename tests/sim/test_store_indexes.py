"""The store's lists and owner index against what a search of its objects finds, across writes and forks."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube.types import Manifest
from sregym_env.sim.world.store import Store

OWNERS = st.lists(
    st.builds(
        lambda uid, controls: {"uid": uid, "controller": controls}, st.sampled_from("uvw"), st.booleans()
    ),
    max_size=2,
    unique_by=lambda owner: str(owner["uid"]),
)
WRITES = st.lists(
    st.tuples(
        st.sampled_from(("put", "status", "remove", "fork", "other")),
        st.sampled_from(("", "one", "two")),
        st.sampled_from("abcd"),
        OWNERS,
    ),
    max_size=25,
)


def _object(namespace: str, name: str, owners: list[dict[str, Any]]) -> Manifest:
    metadata: Manifest = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"metadata": {**metadata, **({"ownerReferences": owners} if owners else {})}}


def _check(store: Store) -> None:
    found = [obj for _, obj in sorted(store._tables.get("pods", {}).items())]

    def owners(obj: Manifest) -> list[dict[str, Any]]:
        return list(obj["metadata"].get("ownerReferences", ()))

    assert store.list("pods") == found
    for namespace in ("", "one", "two"):
        here = [obj for obj in found if obj["metadata"].get("namespace", "") == namespace]
        assert store.list("pods", namespace) == here
        orphans = [obj for obj in here if not any(owner["controller"] for owner in owners(obj))]
        assert store.uncontrolled("pods", namespace) == orphans
    for uid in "uvw":
        owned = [obj for obj in found if any(owner["uid"] == uid for owner in owners(obj))]
        assert store.owned_by("pods", uid) == owned


@given(WRITES)
def test_indexes_follow_every_write(writes: list[tuple[str, str, str, list[dict[str, Any]]]]) -> None:
    stores = [Store()]
    for what, namespace, name, owners in writes:
        store = stores[-1]
        if what == "put":
            store.put("pods", _object(namespace, name, owners))
        elif what == "status":
            known = store.get("pods", namespace, name)
            if known is not None:
                store.put("pods", {**known, "status": {"phase": "Running"}})
        elif what == "remove":
            store.remove("pods", namespace, name)
        elif what == "fork":
            stores.append(store.fork())
        else:
            stores.reverse()
        for each in stores:
            _check(each)
