"""Custom resources by their schema."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube import custom, registry, schema
from sregym_env.kube.status import StatusError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 5},
                "mode": {"type": "string", "enum": ["fast", "slow"], "default": "slow"},
                "name": {"type": "string", "pattern": "^[a-z]+$"},
                "hosts": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "port": {"x-kubernetes-int-or-string": True},
            },
        }
    },
}
CRD = {
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets"},
        "versions": [{"name": "v1", "served": True, "schema": {"openAPIV3Schema": SCHEMA}}],
    }
}


def _widget(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec}


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"size": 1}, []),
        ({"size": 1, "port": "http", "labels": {"a": "b"}, "raw": {"x": 1}}, []),
        ({}, ["spec.size: Required value"]),
        (
            {"size": "3"},
            ['spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'],
        ),
        (
            {"size": 0},
            ["spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"],
        ),
        ({"size": 9}, ["spec.size: Invalid value: 9: spec.size in body should be less than or equal to 5"]),
        (
            {"size": 1, "mode": "x"},
            ['spec.mode: Unsupported value: "x": supported values: "fast", "slow"'],
        ),
        (
            {"size": 1, "name": "A"},
            ["spec.name: Invalid value: \"A\": spec.name in body should match '^[a-z]+$'"],
        ),
        (
            {"size": 1, "hosts": []},
            ["spec.hosts: Invalid value: 0: spec.hosts in body should have at least 1 items"],
        ),
        (
            {"size": 1, "hosts": [1]},
            [
                'spec.hosts[0]: Invalid value: "integer": spec.hosts[0] in body must be of type string: "integer"'
            ],
        ),
    ],
)
def test_validate(spec: dict[str, Any], errors: list[str]) -> None:
    assert [str(e) for e in custom.validate(SCHEMA, _widget(**spec))] == errors


def test_prune_and_defaults_share_and_never_mutate() -> None:
    obj = _widget(size=1, foo=2, raw={"any": 1})
    kept = copy.deepcopy(obj)
    made, unknown = custom.prune(SCHEMA, obj)
    assert unknown == ('unknown field "spec.foo"',)
    assert made["spec"] == {"size": 1, "raw": {"any": 1}}
    filled = custom.apply_schema_defaults(SCHEMA, made)
    assert filled["spec"]["mode"] == "slow"
    assert custom.apply_schema_defaults(SCHEMA, filled) is filled
    assert custom.prune(SCHEMA, filled)[0] is filled
    assert obj == kept


def test_strict_decoding() -> None:
    (resource,) = registry.custom_resources(CRD)
    with pytest.raises(StatusError) as caught:
        schema.decode(resource, _widget(size=1, foo=2), strict=True)
    assert str(caught.value) == (
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.foo"'
    )


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["size", "mode", "name", "hosts", "labels", "raw", "port", "x"]), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@given(VALUES)
def test_pruning_and_defaulting_are_idempotent_whatever_comes(spec: Any) -> None:
    obj = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec}
    kept = copy.deepcopy(obj)
    pruned, _ = custom.prune(SCHEMA, obj)
    assert custom.prune(SCHEMA, pruned) == (pruned, ())
    filled = custom.apply_schema_defaults(SCHEMA, pruned)
    assert custom.apply_schema_defaults(SCHEMA, filled) is filled
    assert custom.prune(SCHEMA, filled)[1] == ()
    for error in custom.validate(SCHEMA, filled):
        assert str(error).startswith(("spec", "<nil>"))
    assert custom.validate(SCHEMA, filled, filled) == []
    assert obj == kept


@pytest.mark.parametrize(
    ("schema", "value", "errors"),
    [
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1, "b": 1},
         ['<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives']),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {},
         ['<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)']),
        ({"not": {"required": ["a"]}}, {"a": 1}, ['<nil>: Invalid value: "": "spec" must not validate the schema (not)']),
        ({"maxProperties": 1, "additionalProperties": {"type": "string"}}, {"a": "x", "b": "y"},
         ["spec: Too many: 2: must have at most 1 items"]),
        ({"additionalProperties": {"type": "string", "format": "ipv4"}}, {"a": "1.2.3"},
         ['spec.a: Invalid value: "1.2.3": spec.a in body must be of type ipv4: "1.2.3"']),
        ({"properties": {"t": {"type": "object", "x-kubernetes-embedded-resource": True}}}, {"t": {"kind": "Pod"}},
         ["spec.t.apiVersion: Required value: must not be empty"]),
        ({"properties": {"l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"],
                               "items": {"type": "object"}}}}, {"l": [{"n": 1}, {"n": 1}]},
         ['spec.l[1]: Duplicate value: map[string]interface {}{"n":1}']),
        ({"properties": {"n": {"type": "number", "multipleOf": 2, "exclusiveMaximum": True, "maximum": 4}}}, {"n": 5},
         ["spec.n: Invalid value: 5: spec.n in body should be less than 4",
          "spec.n: Invalid value: 5: spec.n in body should be a multiple of 2"]),
        ({"properties": {"v": {"type": "string", "nullable": True}}}, {"v": None}, []),
        ({"properties": {"v": {"type": "string"}}}, {"v": None},
         ['spec.v: Invalid value: "null": spec.v in body must be of type string: "null"']),
    ],
)  # fmt: skip
def test_the_rest_of_the_schema_language(schema: dict[str, Any], value: Any, errors: list[str]) -> None:
    whole = {"type": "object", "properties": {"spec": {"type": "object", **schema}}}
    assert [str(e) for e in custom.validate(whole, {"spec": value})] == errors
