"""Path copy, and names."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube import names, paths

TREE: dict[str, Any] = {"a": {"b": [1, {"c": None}]}, "z": {}}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("a", "b", 0), 1),
        (("a", "b", -2), 1),
        (("a", "b", 1, "c"), "default"),
        (("a", "b", 5), "default"),
        (("a", "x", "y"), "default"),
        (("a", "b", "x"), "default"),
        ((), TREE),
    ],
)
def test_get_in(path: tuple[str | int, ...], value: Any) -> None:
    assert paths.get_in(TREE, path, "default") == value


def test_set_in_shares_the_rest() -> None:
    kept = copy.deepcopy(TREE)
    made = paths.set_in(TREE, ("a", "b", 1, "d"), 2)
    assert made == {"a": {"b": [1, {"c": None, "d": 2}]}, "z": {}}
    assert made["z"] is TREE["z"]
    assert kept == TREE
    assert paths.set_in(TREE, ("a", "b", 2), 3)["a"]["b"] == [1, {"c": None}, 3]
    assert paths.set_in(TREE, ("n", "m"), 1)["n"] == {"m": 1}
    with pytest.raises(IndexError):
        paths.set_in(TREE, ("a", "b", 7), 3)
    with pytest.raises(TypeError):
        paths.set_in(TREE, ("a", "b", "x"), 3)


def test_delete_in() -> None:
    kept = copy.deepcopy(TREE)
    assert paths.delete_in(TREE, ("a", "b", 0))["a"]["b"] == [{"c": None}]
    assert paths.delete_in(TREE, ("a", "x")) is TREE
    assert paths.delete_in(TREE, ("a", "b", 9)) is TREE
    assert "z" not in paths.delete_in(TREE, ("z",))
    assert kept == TREE


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.integers())
def test_what_is_set_is_got_and_can_be_deleted(path: list[str], value: int) -> None:
    made = paths.set_in({}, path, value)
    assert paths.get_in(made, path) == value
    assert paths.get_in(paths.delete_in(made, path), path) is None


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (names.dns1123_label, ["a", "a-b", "0a"], ["", "A", "-a", "a.b", "a" * 64]),
        (names.dns1123_subdomain, ["a.b", "a"], ["a..b", "a_b", "a" * 254]),
        (names.dns1035_label, ["a1"], ["1a", "a.b"]),
        (names.qualified_name, ["a", "a.b/c_d", "A"], ["a/b/c", "/a", "a/", "-a", "a b"]),
        (names.label_value, ["", "a", "A.b_c-d"], ["-a", "a b", "a" * 64]),
        (names.env_var_name, ["A", "a.b", "1 b"], ["", "a=b", "é"]),
        (names.config_key, ["a.b-c_D"], ["a/b", "..", ""]),
        (names.port_name, ["http", "a-1"], ["a--b", "-a", "123", "a" * 16, "A"]),
        (names.path_segment, ["system:x"], ["a/b", "..", "a%b"]),
    ],
)
def test_names(check: Any, good: list[str], bad: list[str]) -> None:
    for value in good:
        assert check(value) == (), value
    for value in bad:
        assert check(value) != (), value
