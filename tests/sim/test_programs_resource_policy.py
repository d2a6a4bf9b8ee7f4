"""The webhook that caps the resources of new pods: what it makes of them, and what becomes of its policy."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube.quantity import nano
from sregym_env.sim.programs.resource_policy import capped, ceilings_of, flags_of, operations

QUANTITIES = st.sampled_from(["0", "7Mi", "10M", "64Mi", "1Gi", "12345678", "100m", "2"])
RESOURCES = st.dictionaries(st.sampled_from(["memory", "cpu"]), QUANTITIES)


@pytest.mark.parametrize(
    ("resources", "held"),
    [
        ({}, {"limits": {"memory": "16Mi"}}),
        ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "1", "memory": "16Mi"}}),
        ({"limits": {"memory": "8Mi"}}, {"limits": {"memory": "8Mi"}}),
        (
            {"limits": {"memory": "256Mi"}, "requests": {"memory": "128Mi", "cpu": "10m"}},
            {"limits": {"memory": "16Mi"}, "requests": {"memory": "16Mi", "cpu": "10m"}},
        ),
        # What is no quantity is for the API server to refuse.
        ({"limits": {"memory": "much"}}, {"limits": {"memory": "much"}}),
        ({"limits": {"memory": None}}, {"limits": {"memory": None}}),
    ],
)
def test_held_to_the_ceiling(resources: dict[str, Any], held: dict[str, Any]) -> None:
    assert capped(resources, {"memory": "16Mi"}) == held


@given(limits=RESOURCES, requests=RESOURCES, ceilings=RESOURCES)
def test_nothing_is_above_a_ceiling_and_once_is_enough(
    limits: dict[str, str], requests: dict[str, str], ceilings: dict[str, str]
) -> None:
    held = capped({"limits": limits, "requests": requests}, ceilings)
    for name, ceiling in ceilings.items():
        assert nano(held["limits"][name]) <= nano(ceiling)
        assert nano(held.get("requests", {}).get(name, "0")) <= nano(ceiling)
    assert capped(held, ceilings) == held


def test_only_containers_above_a_ceiling_are_changed() -> None:
    small, large = {"resources": {"limits": {"memory": "8Mi"}}}, {"resources": {"limits": {"memory": "1Gi"}}}
    pod = {"spec": {"containers": [small, large]}}
    assert [each["path"] for each in operations(pod, {"memory": "16Mi"})] == ["/spec/containers/1/resources"]
    assert operations(pod, {}) == []
    assert operations({}, {"memory": "16Mi"}) == []


@pytest.mark.parametrize(
    "text",
    ["", "ceilings:", "ceilings: [1]", "ceilings: {memory: much}", "ceilings: {memory: {}}", "{", "- a"],
)
def test_a_policy_that_cannot_be_used(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ceilings_of(text)


def test_an_empty_policy_caps_nothing() -> None:
    assert ceilings_of("ceilings: {}\n") == {}


@pytest.mark.parametrize("word", ["--nonsense=1", "--port=x", "serve"])
def test_a_command_line_that_cannot_be_used(word: str) -> None:
    with pytest.raises(ValueError, match="flag"):
        flags_of(["/resource-policy", word])
