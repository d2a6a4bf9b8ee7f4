"""Laws of sets of fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube.ownership import fields
from sregym_env.kube.ownership.fields import (
    LEAF,
    Fields,
    canonical,
    difference,
    field,
    intersection,
    is_fields,
    keyed,
    outside,
    path,
    paths,
    union,
    valued,
)

_ELEMENTS = st.sampled_from([field("a"), field("b"), keyed((("name", "x"),)), valued("v"), valued(3)])
_PATHS = st.lists(_ELEMENTS, min_size=1, max_size=4)


def _of(members: list[list[str]]) -> Fields:
    found: Fields = LEAF
    for member in members:
        tree: Fields = LEAF
        for element in reversed(member):
            tree = {element: tree}
        found = union(found, tree)
    return found


sets = st.lists(_PATHS, max_size=6).map(_of)


def _members(tree: Fields) -> set[str]:
    return set(paths(tree))


@given(sets, sets)
def test_the_algebra_is_that_of_sets_of_paths(a: Fields, b: Fields) -> None:
    assert _members(union(a, b)) == _members(a) | _members(b)
    assert _members(difference(a, b)) == _members(a) - _members(b)
    assert _members(intersection(a, b)) == _members(a) & _members(b)


@given(sets, sets, sets)
def test_laws(a: Fields, b: Fields, c: Fields) -> None:
    assert canonical(union(a, b)) == canonical(union(b, a))
    assert canonical(union(a, union(b, c))) == canonical(union(union(a, b), c))
    assert canonical(union(a, a)) == canonical(a)
    assert canonical(union(intersection(a, b), difference(a, b))) == canonical(a)
    assert canonical(difference(a, union(b, c))) == canonical(difference(difference(a, b), c))
    assert difference(a, a) == LEAF
    assert canonical(intersection(a, a)) == canonical(a)


@given(sets, sets)
def test_what_is_outside_and_the_rest_share_a_set_out(a: Fields, roots: Fields) -> None:
    tops = _members(roots)
    left = outside(a, roots)
    below = difference(a, left)
    assert all(any(member.startswith(top) for top in tops) for member in _members(below))
    assert not any(member.startswith(top) for top in tops for member in _members(left))
    assert canonical(union(below, left)) == canonical(a)
    assert intersection(below, left) == LEAF


@given(sets)
def test_every_set_is_well_formed(a: Fields) -> None:
    assert is_fields(a)
    assert canonical(a) == a


def test_a_set_does_not_change() -> None:
    a, b = path("spec", "replicas"), path("spec")
    union(a, b)
    difference(a, b)
    assert (a, b) == ({"f:spec": {"f:replicas": {}}}, {"f:spec": {}})


def test_the_order_of_elements_is_that_of_the_api_server() -> None:
    mixed: Fields = {
        keyed((("containerPort", 443), ("protocol", "TCP"))): {},
        keyed((("containerPort", 80), ("protocol", "UDP"))): {},
        keyed((("containerPort", 80), ("protocol", "TCP"))): {},
        field("b"): {},
        field("a"): {"f:x": {}, ".": {}},
        ".": {},
    }
    assert list(canonical(mixed)) == [
        ".", "f:a", "f:b", 'k:{"containerPort":80,"protocol":"TCP"}', 'k:{"containerPort":80,"protocol":"UDP"}',
        'k:{"containerPort":443,"protocol":"TCP"}',
    ]  # fmt: skip
    assert list(canonical(mixed)["f:a"]) == [".", "f:x"]


def test_paths_name_members_of_a_level_first() -> None:
    tree: Fields = {
        "f:spec": {
            "f:containers": {'k:{"name":"web"}': {".": {}, "f:image": {}}},
            "f:replicas": {},
            "f:finalizers": {'v:"a"': {}},
        }
    }
    assert list(paths(tree)) == [
        ".spec.replicas",
        '.spec.containers[name="web"]',
        '.spec.containers[name="web"].image',
        '.spec.finalizers[="a"]',
    ]


@pytest.mark.parametrize(
    ("tree", "good"),
    [
        ({}, True),
        ({"f:a": {".": {}, "f:b": {}}}, True),
        ({"x:a": {}}, False),
        ({"f": {}}, False),
        ({"f:a": {".": {"f:b": {}}}}, False),
        ({"k:nonsense": {}}, False),
        ({'k:["a"]': {}}, False),
        ({'v:"a"': {}, "i:3": {}}, True),
        ([], False),
        ({"f:a": 1}, False),
    ],
)
def test_malformed_sets_are_found(tree: object, good: bool) -> None:
    assert is_fields(tree) is good


def test_elements_are_written_as_gos_encoder_writes_them() -> None:
    assert keyed((("b", 1), ("a", "<&>"))) == 'k:{"a":"\\u003c\\u0026\\u003e","b":1}'
    assert fields.text(keyed((("name", 'a"b'),))) == '[name="a\\"b"]'
