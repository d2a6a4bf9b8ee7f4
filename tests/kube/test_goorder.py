"""JSON in the order of Go's structs, and the empty fields that Go never omits."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube.goorder import in_go_order, to_go_json, with_zeros

DEPLOYMENT = {
    "spec": {"template": {"spec": {"containers": [{"image": "nginx", "name": "web"}]}}, "replicas": 1},
    "metadata": {"labels": {"b": "2", "a": "1"}, "name": "web"},
    "apiVersion": "apps/v1",
    "kind": "Deployment",
}


def test_keys_come_as_they_are_declared() -> None:
    found = in_go_order(DEPLOYMENT)
    assert list(found) == ["kind", "apiVersion", "metadata", "spec"]
    assert list(found["metadata"]) == ["name", "labels"]
    assert list(found["metadata"]["labels"]) == ["a", "b"]
    assert list(found["spec"]["template"]["spec"]["containers"][0]) == ["name", "image"]


def test_lists_are_ordered_too() -> None:
    found = in_go_order({"apiVersion": "v1", "items": [DEPLOYMENT], "kind": "List", "metadata": {}})
    assert list(found) == ["kind", "apiVersion", "metadata", "items"]
    assert next(iter(found["items"][0])) == "kind"


def test_what_go_never_omits_is_there() -> None:
    found = with_zeros(DEPLOYMENT)
    assert found["metadata"]["creationTimestamp"] is None
    assert found["spec"]["strategy"] == {} == found["status"]
    assert found["spec"]["template"]["spec"]["containers"][0]["resources"] == {}
    assert found["spec"]["selector"] is None


@given(st.permutations(list(DEPLOYMENT)))
def test_the_order_of_what_is_given_does_not_matter(keys: list[str]) -> None:
    text = to_go_json({key: DEPLOYMENT[key] for key in keys})
    assert text == to_go_json(DEPLOYMENT)
    assert json.loads(text) == DEPLOYMENT


def test_unknown_kinds_stay_as_they_are() -> None:
    thing = {"kind": "Thing", "apiVersion": "example.com/v1", "b": 1, "a": 2}
    assert list(in_go_order(thing)) == ["kind", "apiVersion", "b", "a"]
