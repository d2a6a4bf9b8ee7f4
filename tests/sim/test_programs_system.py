"""Programs of the cluster's own pods where something is in their way."""

from __future__ import annotations

import pytest

from sregym_env.sim.bringup.deploy import bare_cluster


@pytest.mark.parametrize(
    ("image", "arguments", "words"),
    [
        (
            "registry.k8s.io/coredns/coredns:v1.11.3",
            ["-conf", "/etc/coredns/Corefile"],
            "Listen: listen tcp :53: bind: address already in use",
        ),
    ],
)
def test_the_second_of_a_kind_in_a_pod_finds_its_port_taken(
    image: str, arguments: list[str], words: str
) -> None:
    world = bare_cluster()
    mounts = [{"name": "config", "mountPath": "/etc/coredns"}]
    containers = [
        {"name": name, "image": image, "args": arguments, "volumeMounts": mounts} for name in ("one", "two")
    ]
    spec = {"containers": containers, "volumes": [{"name": "config", "configMap": {"name": "coredns"}}]}
    world.cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "twice", "namespace": "kube-system"},
            "spec": spec,
        }
    )
    world.advance(120.0)
    states = world.cluster.get("pods", "twice", "kube-system")["status"]["containerStatuses"]
    assert [state["ready"] for state in states] == [True, False]
    assert states[1]["restartCount"] >= 1
    assert words in world.cluster.logs("kube-system", "twice", container="two", previous=True)
