"""The ephemeralcontainers subresource: debug containers are added, never changed or taken away."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.kube.status import StatusError
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.cluster import SimCluster

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "busybox", "command": ["sleep", "99"]}]},
}


def add(cluster: SimCluster, **container: Any) -> dict[str, Any]:
    patch = {"spec": {"ephemeralContainers": [container]}}
    return cluster.patch("pods", "p", patch, namespace="default", subresource="ephemeralcontainers")


@pytest.fixture
def cluster() -> SimCluster:
    made = bare_cluster().cluster
    made.create(POD, namespace="default")
    add(made, name="d", image="busybox")
    return made


def test_defaults_are_set(cluster: SimCluster) -> None:
    added = cluster.get("pods", "p", "default")["spec"]["ephemeralContainers"][0]
    assert (added["imagePullPolicy"], added["terminationMessagePath"]) == ("Always", "/dev/termination-log")


@pytest.mark.parametrize(
    ("container", "complaint"),
    [
        ({"name": "d", "image": "nginx"}, 'existing ephemeral containers "d" may not be changed'),
        ({"name": "c", "image": "nginx"}, 'Duplicate value: "c"'),
        ({"name": "e", "image": "nginx", "targetContainerName": "x"}, 'targetContainerName: Not found: "x"'),
        ({"name": "e"}, "image: Required value"),
        (
            {"name": "e", "image": "nginx", "ports": [{"containerPort": 80}]},
            "ports: Forbidden: cannot be set for an Ephemeral Container",
        ),
    ],
)
def test_refusals(cluster: SimCluster, container: dict[str, Any], complaint: str) -> None:
    with pytest.raises(StatusError) as refused:
        add(cluster, **container)
    assert refused.value.code == 422
    assert complaint in refused.value.message
