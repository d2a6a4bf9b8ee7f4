"""Equal parts of stored objects made one: nothing that anybody reads is another."""

import json

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.sim.world.alike import made_one

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.floats(0, 2, width=16) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.text("ab", max_size=2), VALUES, max_size=3), max_size=4))
def test_what_is_read_stays_the_same_to_the_byte(objects: list[dict[str, object]]) -> None:
    table = {("", str(number)): manifest for number, manifest in enumerate(objects)}
    made = made_one({"pods": table})["pods"]
    assert json.dumps(list(made.values())) == json.dumps(objects)
    assert list(made) == list(table)


def test_equal_parts_are_held_once_and_numbers_of_other_types_apart() -> None:
    pods = {
        ("", name): {"name": name, "spec": {"cpu": [1, "x"]}, "ready": value}
        for name, value in (("a", 1), ("b", True))
    }
    one, other = made_one({"pods": pods})["pods"].values()
    assert one["spec"] is other["spec"] is not pods["", "b"]["spec"]
    assert one["ready"] is not other["ready"] is True


def test_the_order_of_keys_is_kept() -> None:
    made = made_one({"pods": {("", "a"): {"x": 1, "y": 2}, ("", "b"): {"y": 2, "x": 1}}})["pods"]
    assert [list(each) for each in made.values()] == [["x", "y"], ["y", "x"]]
