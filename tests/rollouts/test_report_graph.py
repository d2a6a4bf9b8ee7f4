"""The picture of a call graph: callers left of what they call, nothing on top of anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.apps import app as application
from sregym_env.cluster.app import Component, Dependency
from sregym_env.rollouts.report.graph import NODE_HEIGHT, drawn, layered, ordered


@st.composite
def calls(draw: st.DrawFn) -> dict[str, list[str]]:
    """Who calls whom, without cycles."""
    count = draw(st.integers(1, 14))
    names = [f"c{index}" for index in range(count)]
    return {
        name: sorted(draw(st.sets(st.sampled_from(names[index + 1 :] or [name]), max_size=4)) - {name})
        for index, name in enumerate(names)
    }


@given(calls())
def test_callers_stand_left_of_what_they_call(callees: dict[str, list[str]]) -> None:
    layers = ordered(layered(callees), callees)
    column = {name: index for index, layer in enumerate(layers) for name in layer}
    assert sorted(column) == sorted(callees)
    assert all(column[name] < column[callee] for name, called in callees.items() for callee in called)
    assert all(layers)


def test_a_cycle_is_cut() -> None:
    assert sorted(name for layer in layered({"a": ["b"], "b": ["a"]}) for name in layer) == ["a", "b"]


def test_arrows_that_need_not_cross_do_not() -> None:
    callees: dict[str, list[str]] = {"a": ["z"], "b": ["y"], "c": ["x"], "x": [], "y": [], "z": []}
    first, second = ordered(layered(callees), callees)
    assert [callees[name][0] for name in first] == second


def test_no_two_components_touch_and_the_background_has_no_arrows() -> None:
    picture = drawn(application("hotel-reservation"))
    assert len(picture["nodes"]) == 20
    apart(picture)
    shelf = {node["name"] for node in picture["nodes"] if node["y"] > picture["shelf"]}
    assert shelf == {"consul", "jaeger"}
    assert not shelf & {name for arrow in picture["arrows"] for name in arrow[:2]}
    assert ["frontend", "search", "request"] in picture["arrows"]
    assert ["geo", "mongodb-geo", "start"] in picture["arrows"]


@given(calls())
def test_no_two_components_of_any_application_touch(callees: dict[str, list[str]]) -> None:
    components = tuple(
        Component(
            name=name,
            kind="web",
            workload="deployments.apps",
            container=name,
            dependencies=tuple(Dependency(callee, frozenset({"request"})) for callee in called),
        )
        for name, called in reversed(callees.items())
    )
    picture = drawn(replace(application("hotel-reservation"), components=components))
    assert sorted(node["name"] for node in picture["nodes"]) == sorted(callees)
    apart(picture)
    at = {node["name"]: node["x"] for node in picture["nodes"]}
    assert all(at[caller] < at[callee] for caller, callee, _ in picture["arrows"])


def apart(picture: dict[str, Any]) -> None:
    """All components are in the picture, and none touches another."""
    nodes = picture["nodes"]
    for index, node in enumerate(nodes):
        assert 0 <= node["x"] <= picture["width"] - node["width"]
        assert 0 <= node["y"] <= picture["height"] - NODE_HEIGHT
        for other in nodes[index + 1 :]:
            assert (
                node["x"] + node["width"] < other["x"]
                or other["x"] + other["width"] < node["x"]
                or abs(node["y"] - other["y"]) > NODE_HEIGHT
            ), (node, other)
