"""Which parts of types merge, and what comparing and merging make of that."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube.ownership import compare, merge, shape
from sregym_env.kube.ownership.checked import complaint
from sregym_env.kube.ownership.fields import paths
from sregym_env.kube.registry import BUILTIN, RESOURCES

POD = shape.of_definition("io.k8s.api.core.v1.PodSpec")
CUSTOM = shape.of_custom(
    {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "size": {"type": "integer"},
                    "name": {"type": "string"},
                    "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                    "ports": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["port", "protocol"],
                        "items": {
                            "type": "object",
                            "properties": {
                                "port": {"type": "integer"},
                                "protocol": {"type": "string", "default": "TCP"},
                                "name": {"type": "string"},
                            },
                        },
                    },
                    "plain": {"type": "array", "items": {"type": "string"}},
                    "whole": {
                        "type": "object",
                        "x-kubernetes-map-type": "atomic",
                        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                    },
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    "either": {"x-kubernetes-int-or-string": True},
                },
            }
        },
    }
)


def at(root: shape.Shape, *names: str) -> shape.Shape:
    found: shape.Shape | None = root
    for name in names:
        assert found is not None
        found = found.item if name == "[]" else found.child(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("names", "atomic", "keys"),
    [
        (("containers",), False, ("name",)),
        (("containers", "[]", "ports"), False, ("containerPort", "protocol")),
        (("containers", "[]", "command"), True, ()),
        (("containers", "[]", "env", "[]", "valueFrom", "configMapKeyRef"), True, ()),
        (("volumes", "[]", "configMap"), False, ()),
        (("nodeSelector",), True, ()),
        (("tolerations",), True, ()),
        (("imagePullSecrets",), False, ("name",)),
        (("topologySpreadConstraints",), False, ("topologyKey", "whenUnsatisfiable")),
        (("topologySpreadConstraints", "[]", "labelSelector"), True, ()),
        (("containers", "[]", "resources", "limits"), False, ()),
    ],
)
def test_what_merges_in_a_pod(names: tuple[str, ...], atomic: bool, keys: tuple[str, ...]) -> None:
    found = at(POD, *names)
    assert (found.atomic, found.keys) == (atomic, keys)


def test_every_served_kind_has_a_shape() -> None:
    for resource in RESOURCES:
        found = shape.of_resource(resource)
        if resource.definition:
            assert at(found, "metadata", "ownerReferences").keys == ("uid",)
            assert at(found, "metadata", "finalizers").kind == "list"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"size": 3}, [".spec.size"]),
        ({"tags": ["b", "a"]}, ['.spec.tags[="a"]', '.spec.tags[="b"]']),
        (
            {"ports": [{"port": 80, "name": "web"}]},
            [
                '.spec.ports[port=80,protocol="TCP"]',
                '.spec.ports[port=80,protocol="TCP"].name',
                '.spec.ports[port=80,protocol="TCP"].port',
            ],
        ),
        ({"plain": ["a"]}, [".spec.plain"]),
        ({"plain": []}, [".spec.plain"]),
        ({"tags": []}, []),
        ({"whole": {"a": "1"}}, [".spec.whole"]),
        ({"labels": {"a": "1"}}, [".spec.labels.a"]),
        ({"labels": {}}, [".spec.labels"]),
        ({"labels": None}, [".spec.labels"]),
        ({"free": {"a": {"b": [1]}}}, [".spec.free.a", ".spec.free.a.b"]),
        ({"either": 3}, [".spec.either"]),
    ],
)
def test_the_fields_of_a_configuration(spec: Any, expected: list[str]) -> None:
    assert list(paths(compare.fields_of(CUSTOM, {"spec": spec}))) == expected


@pytest.mark.parametrize(
    ("old", "new", "added", "modified", "removed"),
    [
        ({"size": 1}, {"size": 2}, [], [".spec.size"], []),
        ({"size": 1}, {}, [], [], [".spec.size"]),
        ({}, {"labels": {"a": "1"}}, [".spec.labels", ".spec.labels.a"], [], []),
        ({"labels": None}, {"labels": {"a": "1"}}, [".spec.labels.a"], [], []),
        ({"labels": {"a": "1"}}, {"labels": {"a": "1", "b": "2"}}, [".spec.labels.b"], [], []),
        ({"plain": ["a"]}, {"plain": ["b"]}, [], [".spec.plain"], []),
        ({"tags": ["a", "b"]}, {"tags": ["b", "c"]}, ['.spec.tags[="c"]'], [], ['.spec.tags[="a"]']),
        ({"tags": ["a", "a"]}, {"tags": ["a"]}, [], ['.spec.tags[="a"]'], []),
        ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}, [], [], []),
        ({"whole": {"a": "1"}}, {"whole": {"a": "1", "b": "2"}}, [], [".spec.whole"], []),
        (
            {"ports": [{"port": 80}]},
            {"ports": [{"port": 80, "protocol": "TCP"}]},
            ['.spec.ports[port=80,protocol="TCP"].protocol'],
            [],
            [],
        ),
        ({"free": {"a": {"b": 1}}}, {"free": {"a": [1]}}, [], [".spec.free.a"], []),
        ({"size": 1}, {"size": True}, [], [".spec.size"], []),
    ],
)
def test_comparison(old: Any, new: Any, added: list[str], modified: list[str], removed: list[str]) -> None:
    found = compare.compare(CUSTOM, {"spec": old}, {"spec": new})
    assert [list(paths(part)) for part in (found.added, found.modified, found.removed)] == [
        added,
        modified,
        removed,
    ]


@pytest.mark.parametrize(
    ("live", "config", "merged"),
    [
        ("ab", "bc", "abc"),
        ("abc", "cb", "acb"),
        ("abcd", "xc", "abxcd"),
        ("", "ba", "ba"),
        ("ab", "", "ab"),
        ("abc", "dcba", "dcba"),
        ("xaybz", "ba", "xybza"),
        ("aabc", "a", "abc"),
    ],
)
def test_shared_items_stand_in_the_order_of_the_configuration(live: str, config: str, merged: str) -> None:
    found = merge.merge(CUSTOM, {"spec": {"tags": list(live)}}, {"spec": {"tags": list(config)}})
    assert "".join(found["spec"]["tags"]) == merged


tags = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6)


@given(tags, tags)
def test_merging_lists_keeps_everything_once(live: list[str], config: list[str]) -> None:
    found = merge.merge(CUSTOM, {"spec": {"tags": live}}, {"spec": {"tags": config}})["spec"]["tags"]
    assert sorted(found) == sorted({*live, *config})
    assert [tag for tag in found if tag in config] == config
    again = merge.merge(CUSTOM, {"spec": {"tags": found}}, {"spec": {"tags": config}})
    assert again["spec"]["tags"] == found


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"size": 1}, ""),
        ({"foo": 1}, ".spec.foo: field not declared in schema"),
        ({"size": "x"}, ".spec.size: expected numeric (int or float), got string"),
        ({"name": 3}, ".spec.name: expected string, got &value.valueUnstructured{Value:3}"),
        ({"tags": ["a", "a"]}, '.spec.tags: duplicate entries for key [="a"]'),
        ({"tags": "a"}, ".spec.tags: expected list, got &{a}"),
        ({"labels": ["a"]}, ".spec.labels: expected map, got &{[a]}"),
        (
            {"ports": [{"name": "x"}]},
            '.spec.ports: element 0: associative list with keys has an element that omits key field "port" '
            "(and doesn't have default value)",
        ),
        (
            {"size": "x", "name": 1},
            "errors:\n  .spec.size: expected numeric (int or float), got string\n"
            "  .spec.name: expected string, got &value.valueUnstructured{Value:1}",
        ),
        ({"free": {"anything": [1]}}, ""),
        ({"size": None}, ""),
    ],
)
def test_complaints(spec: Any, text: str) -> None:
    assert complaint(CUSTOM, {"apiVersion": "v1", "kind": "X", "spec": spec}) == text


def test_environment_values_must_be_strings() -> None:
    deployment = BUILTIN.by_key("deployments.apps")
    assert deployment is not None
    container = {"name": "c", "env": [{"name": "PORT", "value": 8080}]}
    config = {"spec": {"template": {"spec": {"containers": [container]}}}}
    assert complaint(shape.of_resource(deployment), config) == (
        '.spec.template.spec.containers[name="c"].env[name="PORT"].value: expected string, got '
        "&value.valueUnstructured{Value:8080}"
    )
