"""What counts as a difference between a manifest and an object."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.cluster.apply import changed
from sregym_env.cluster.edits import REMOVED
from sregym_env.kube.defaults import apply_defaults
from sregym_env.kube.drift import drifted
from sregym_env.kube.registry import by_key
from sregym_env.kube.types import Manifest

CONTAINER = "/spec/template/spec/containers/0"

WANTED: Manifest = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}, "annotations": {}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}, "creationTimestamp": None},
            "spec": {
                "containers": [
                    {"name": "web", "image": "web:1", "args": ["-v"], "ports": [{"containerPort": 80}],
                     "env": [{"name": "LEVEL", "value": "info"}, {"name": "EMPTY", "value": ""}]}
                ]
            },
        },
    },
}  # fmt: skip


def live(**fields: Any) -> Manifest:
    """The Deployment as the server has it, changed at some JSON pointers."""
    kind = by_key("deployments.apps")
    assert kind is not None
    return changed({**apply_defaults(kind, WANTED), "status": {"replicas": 2}}, fields)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, False),
        ({"/status/replicas": 1}, False),
        ({"/metadata/uid": "3c1f"}, False),
        ({"/metadata/annotations/deployment.kubernetes.io~1revision": "4"}, False),
        ({"/metadata/labels/team": "core"}, False),
        ({"/metadata/labels/app": "other"}, True),
        ({"/metadata/labels": REMOVED}, True),
        ({"/spec/replicas": 3}, True),
        ({"/spec/template/metadata/annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}, False),
        ({f"{CONTAINER}/image": "web:2"}, True),
        ({f"{CONTAINER}/resources": {"limits": {"cpu": "1"}}}, False),
        ({f"{CONTAINER}/args": ["-v", "-v"]}, True),
        ({f"{CONTAINER}/args": REMOVED}, True),
        ({f"{CONTAINER}/ports/0/containerPort": 81}, True),
        ({f"{CONTAINER}/env/0/value": "debug"}, True),
        ({f"{CONTAINER}/env": [{"name": "EMPTY"}, {"name": "MORE", "value": "1"}, {"name": "LEVEL", "value": "info"}]}, False),
        ({f"{CONTAINER}/env": [{"name": "LEVEL", "value": "info"}]}, True),
    ],
)  # fmt: skip
def test_what_a_manifest_names_counts_and_nothing_else(fields: dict[str, Any], expected: bool) -> None:
    assert drifted(WANTED, live(**fields)) == expected


def test_fields_that_somebody_else_sets_can_be_left_out() -> None:
    scaled = live(**{"/spec/replicas": 5})
    assert drifted(WANTED, scaled)
    assert not drifted(WANTED, scaled, ("replicas",))
    assert drifted(WANTED, live(**{"/spec/replicas": 5, f"{CONTAINER}/image": "web:2"}), ("replicas",))
