"""Custom resources by their schema."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from sregym_env.kube import custom, registry
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
        custom.decode(resource, SCHEMA, _widget(size=1, foo=2), strict=True)
    assert str(caught.value) == (
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.foo"'
    )
