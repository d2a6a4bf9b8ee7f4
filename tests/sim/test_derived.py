"""Views that are computed once per list or object."""

from __future__ import annotations

from sregym_env.kube.types import Manifest
from sregym_env.sim.world import derived
from sregym_env.sim.world.derived import DerivedFrom, DerivedFromEach


def _pod(name: str, uid: str = "") -> Manifest:
    return {"metadata": {"name": name, "uid": uid or name}}


def test_a_list_is_looked_at_once() -> None:
    seen: list[list[Manifest]] = []

    def compute(objects: list[Manifest]) -> int:
        seen.append(objects)
        return len(objects)

    size = DerivedFrom(compute)
    one, equal = [_pod("a")], [_pod("a")]
    assert [size(one), size(one), size(equal), size([])] == [1, 1, 1, 0]
    assert len(seen) == 3


def test_another_version_of_an_object_is_looked_at_again() -> None:
    name = DerivedFromEach(lambda obj: str(obj["metadata"]["name"]))
    old, new = _pod("old", "u"), _pod("new", "u")
    assert [name(old), name(new), name(old), name({"metadata": {"name": "none"}})] == [
        "old",
        "new",
        "old",
        "none",
    ]


def test_memory_is_bounded() -> None:
    size = DerivedFrom(len)
    name = DerivedFromEach(lambda obj: str(obj["metadata"]["name"]))
    for number in range(derived.KEPT_OBJECTS + 10):
        assert size([{}] * (number % 7)) == number % 7
        assert name(_pod(f"p{number}")) == f"p{number}"
    assert len(size._known) <= derived.KEPT
    assert len(name._known) <= derived.KEPT_OBJECTS
