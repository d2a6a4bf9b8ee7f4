"""A small custom resource for tests, and a bare API server that establishes it."""

from __future__ import annotations

import copy
from typing import Any

from sregym_env.runtime.clock import EPOCH
from sregym_env.sim import apiserver
from sregym_env.sim.cluster import SimCluster
from sregym_env.sim.controllers import (
    customresourcedefinition,
    garbage,
    namespace,
    resourcequota,
    validatingadmissionpolicy,
)
from sregym_env.sim.world import Machinery, SimWorld

KEY = "widgets.example.com"
DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"

SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["size"],
    "x-kubernetes-validations": [
        {"rule": "self.size <= self.max", "message": "size must not be above max"},
        {
            "rule": "self.mode != 'bad'",
            "messageExpression": "'mode ' + self.mode + ' is not allowed'",
            "fieldPath": ".mode",
            "reason": "FieldValueForbidden",
        },
    ],
    "properties": {
        "size": {
            "type": "integer",
            "minimum": 1,
            "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "must not shrink"}],
        },
        "max": {"type": "integer", "default": 10},
        "replicas": {"type": "integer", "default": 1},
        "mode": {"type": "string", "enum": ["fast", "slow", "bad"], "default": "slow"},
        "port": {"x-kubernetes-int-or-string": True},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    },
}
STATUS = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer"},
        "selector": {"type": "string"},
        "ready": {"type": "boolean"},
    },
}
CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": KEY},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"], "categories": ["all"]},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                        "labelSelectorPath": ".status.selector",
                    },
                },
                "additionalPrinterColumns": [
                    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                    {"name": "Mode", "type": "string", "jsonPath": ".spec.mode", "priority": 1},
                ],
                "selectableFields": [{"jsonPath": ".spec.mode"}],
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "description": "A widget.",
                        "properties": {"spec": SPEC, "status": STATUS},
                    }
                },
            },
            {
                "name": "v1beta1",
                "served": True,
                "storage": False,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            },
        ],
    },
}


def definition(**changes: Any) -> dict[str, Any]:
    """The definition with other fields of its ``spec``."""
    made = copy.deepcopy(CRD)
    made["spec"].update(changes)
    return made


def widget(name: str = "w", version: str = "v1", **spec: Any) -> dict[str, Any]:
    """A widget; of size 3 when nothing is said."""
    return {
        "apiVersion": f"example.com/{version}",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec or {"size": 3},
    }


def bare_world(*more: Any) -> SimWorld:
    """An API server with the controllers that matter to custom resources, and those given."""
    controllers = (
        customresourcedefinition.CONTROLLER,
        validatingadmissionpolicy.CONTROLLER,
        namespace.CONTROLLER,
        garbage.CONTROLLER,
        resourcequota.CONTROLLER,
        *more,
    )
    world = SimWorld(1, start=EPOCH, machinery=Machinery.of(controllers, {"traffic": _nothing}), images={})
    for name in ("default", "other"):
        apiserver.create(
            world, "namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        )
    return world


def _nothing(_world: SimWorld) -> None:
    """Nobody looks at the traffic of a world without any."""


def widgets_world(*more: Any) -> SimWorld:
    """One in which widgets are established."""
    world = bare_world(*more)
    SimCluster(world).create(CRD)
    world.advance(1)
    return world
