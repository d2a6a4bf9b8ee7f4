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


@pytest.mark.parametrize("target", ["", "wait"])
@pytest.mark.parametrize("volume", ["", "missing"])
def test_a_pod_that_waits_can_be_looked_into(target: str, volume: str) -> None:
    """What keeps a pod's own containers from starting keeps nobody from its first one, and voids no status."""
    world = bare_cluster()
    spec = {
        **POD["spec"],
        "initContainers": [{"name": "wait", "image": "busybox", "command": ["sleep", "9999"]}],
    }
    if volume:
        spec["volumes"] = [{"name": "v", "secret": {"secretName": volume}}]
    world.cluster.create({**POD, "spec": spec}, namespace="default")
    world.advance(20.0)
    container = {
        "name": "d",
        "image": "busybox",
        "command": ["sh", "-c", "ps"],
        "targetContainerName": target,
    }
    add(world.cluster, **{key: value for key, value in container.items() if value})
    world.advance(10.0)
    status = world.cluster.get("pods", "p", "default")["status"]
    assert status["phase"] == "Pending"
    (shown,) = status["ephemeralContainerStatuses"]
    if volume:
        assert "waiting" in shown["state"]
    else:
        assert shown["state"]["terminated"]["exitCode"] == 0
        assert ("sleep 9999" in world.cluster.logs("default", "p", container="d")) is bool(target)


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
