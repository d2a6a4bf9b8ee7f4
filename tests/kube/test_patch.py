"""Patches: against results recorded from kubectl v1.32, and by property."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube import patch, registry

DATA = Path(__file__).parent / "data"
DEPLOYMENT = registry.BUILTIN.find("deployments")
assert DEPLOYMENT is not None


def _load(name: str) -> Any:
    return json.loads((DATA / name).read_text())


def _cases(name: str) -> list[Any]:
    recorded = _load(name)
    return [(recorded["object"], case["patch"], case["result"]) for case in recorded["cases"]]


@pytest.mark.parametrize(("obj", "change", "result"), _cases("strategic_patches.json"))
def test_strategic_patch_as_recorded(obj: Any, change: Any, result: Any) -> None:
    before = json.dumps(obj)
    assert _clean(patch.strategic_merge_patch(obj, change, DEPLOYMENT)) == result
    assert json.dumps(obj) == before


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _clean(v) for k, v in value.items() if v is not None}
    return [_clean(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("obj", "change", "result"), _cases("json_patches.json"))
def test_json_patch_as_recorded(obj: Any, change: Any, result: Any) -> None:
    before = json.dumps(obj)
    try:
        made = patch.json_patch(obj, change)
    except patch.PatchError as error:
        made = str(error)
    assert made == result
    assert json.dumps(obj) == before


@pytest.mark.parametrize("case", _load("three_way_patches.json"))
def test_apply_computes_the_recorded_patch(case: Any) -> None:
    assert patch.three_way(case["original"], case["modified"], case["current"], DEPLOYMENT) == case["patch"]


@pytest.mark.parametrize("case", _load("three_way_patches.json"))
def test_applying_again_changes_nothing(case: Any) -> None:
    merged = patch.strategic_merge_patch(case["current"], case["patch"], DEPLOYMENT)
    again = patch.three_way(case["modified"], case["modified"], merged, DEPLOYMENT)
    # Where the live object has items that nobody applied, kubectl sends the order of its own again.
    assert patch.strategic_merge_patch(merged, again, DEPLOYMENT) == merged


def test_untouched_parts_are_shared() -> None:
    obj = _load("strategic_patches.json")["object"]
    change = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "new"}]}}}}
    made = patch.strategic_merge_patch(obj, change, DEPLOYMENT)
    assert made["metadata"] is obj["metadata"]
    assert made["spec"]["selector"] is obj["spec"]["selector"]
    containers = obj["spec"]["template"]["spec"]["containers"]
    assert made["spec"]["template"]["spec"]["containers"][1] is containers[1]
    assert patch.strategic_merge_patch(made, change, DEPLOYMENT) is made


def test_a_list_item_without_merge_key_is_refused() -> None:
    change = {"spec": {"template": {"spec": {"containers": [{"image": "q"}]}}}}
    obj = _load("strategic_patches.json")["object"]
    with pytest.raises(
        patch.PatchError, match=r"map: map\[image:q\] does not contain declared merge key: name"
    ):
        patch.strategic_merge_patch(obj, change, DEPLOYMENT)


# --- properties -----------------------------------------------------------------------------------------

_env = st.dictionaries(st.sampled_from("ABCD"), st.sampled_from(["1", "2"]), min_size=1).map(
    lambda e: [{"name": k, "value": v} for k, v in e.items()]
)


@st.composite
def _container(draw: st.DrawFn, name: str) -> dict[str, Any]:
    out: dict[str, Any] = {"name": name, "image": draw(st.sampled_from(["a", "b"]))}
    if draw(st.booleans()):
        out["env"] = draw(_env)
    if draw(st.booleans()):
        out["args"] = draw(st.lists(st.sampled_from("xy"), min_size=1, max_size=2))
    return out


@st.composite
def _deployment(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from("cdef"), min_size=1, unique=True))
    spec: dict[str, Any] = {"containers": [draw(_container(n)) for n in names]}
    if draw(st.booleans()):
        spec["nodeSelector"] = {draw(st.sampled_from("ab")): "x"}
    labels = draw(st.dictionaries(st.sampled_from("pqr"), st.sampled_from("12"), min_size=1))
    out: dict[str, Any] = {"metadata": {"name": "x", "labels": labels}, "spec": {"template": {"spec": spec}}}
    if draw(st.booleans()):
        out["metadata"]["finalizers"] = draw(
            st.lists(st.sampled_from(["a/b", "c/d"]), min_size=1, unique=True)
        )
    if draw(st.booleans()):
        out["spec"]["replicas"] = draw(st.integers(0, 3))
    return out


@given(_deployment(), _deployment())
def test_two_way_patch_makes_one_into_the_other(old: dict[str, Any], new: dict[str, Any]) -> None:
    kept = copy.deepcopy(old)
    change = patch.two_way(old, new, DEPLOYMENT)
    assert patch.strategic_merge_patch(old, change, DEPLOYMENT) == new
    assert (change == {}) == (old == new)
    assert old == kept


@given(_deployment(), _deployment())
def test_merge_patch_makes_one_into_the_other(old: dict[str, Any], new: dict[str, Any]) -> None:
    change = patch.two_way_merge(old, new)
    assert patch.merge_patch(old, change) == new
    assert patch.merge_patch(old, {}) is old


@pytest.mark.parametrize(
    ("obj", "change", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": 1}, {"a": True}, {"a": True}),
    ],
)
def test_merge_patch_of_the_rfc(obj: Any, change: Any, result: Any) -> None:
    made = patch.merge_patch(obj, change)
    assert json.dumps(made) == json.dumps(result)
