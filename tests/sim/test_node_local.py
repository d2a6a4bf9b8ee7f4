"""What a pod shares with its machine: paths, disk and ports."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld


def create(world: EmbeddedWorld, name: str, **more: Any) -> None:
    container = {
        "name": "c",
        "image": "busybox:1.36",
        "command": ["sleep", "3600"],
        **more.pop("container", {}),
    }
    spec = {"containers": [container], "nodeName": "sre-worker", **more}
    world.cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
    world.advance(10)


def status(world: EmbeddedWorld, name: str) -> Any:
    return world.cluster.get("pods", name, "default")["status"]


def events(world: EmbeddedWorld, name: str) -> list[str]:
    listed = world.cluster.list("events", "default", field_selector=f"involvedObject.name={name}")
    return [event["message"] for event in listed if event["type"] == "Warning"]


def mounting(world: EmbeddedWorld, name: str, path: str, type: str) -> None:
    volume = {"name": "v", "hostPath": {"path": path, "type": type}}
    create(world, name, volumes=[volume], container={"volumeMounts": [{"name": "v", "mountPath": "/v"}]})


@pytest.mark.parametrize(
    ("path", "type", "complaint"),
    [
        ("/var/log", "Directory", ""),
        ("/etc/hostname", "File", ""),
        ("/run/containerd/containerd.sock", "Socket", ""),
        ("/dev/null", "CharDevice", ""),
        ("/new", "DirectoryOrCreate", ""),
        ("/new", "", ""),
        ("/new", "Directory", "/new is not a directory"),
        ("/etc/hostname", "Directory", "/etc/hostname is not a directory"),
        ("/etc/hostname", "DirectoryOrCreate", "/etc/hostname is not a directory"),
        ("/var/log", "File", "/var/log is not a file"),
        ("/var/log", "Socket", "/var/log is not a socket file"),
        ("/var/log", "CharDevice", "/var/log is not a character device"),
        ("/var/log", "BlockDevice", "/var/log is not a block device"),
    ],
)
def test_the_type_of_a_host_path(path: str, type: str, complaint: str) -> None:
    world = bare_cluster()
    mounting(world, "p", path, type)
    if complaint:
        assert status(world, "p")["phase"] == "Pending"
        text = f'MountVolume.SetUp failed for volume "v" : hostPath type check failed: {complaint}'
        assert text in events(world, "p")
    else:
        assert status(world, "p")["phase"] == "Running"


def test_what_one_pod_makes_the_next_finds() -> None:
    world = bare_cluster()
    mounting(world, "first", "/data/shared", "DirectoryOrCreate")
    mounting(world, "second", "/data/shared", "Directory")
    mounting(world, "third", "/data", "Directory")
    assert [status(world, name)["phase"] for name in ("second", "third")] == ["Running", "Running"]


def test_a_container_that_writes_too_much_is_evicted() -> None:
    world = bare_cluster()
    create(world, "p", container={"resources": {"limits": {"ephemeral-storage": "1Ki"}}})
    world.cluster.exec("default", "p", ["sh", "-c", "seq 1 2000 > /tmp/big"])
    world.advance(30)
    assert status(world, "p")["reason"] == "Evicted"
    assert status(world, "p")["message"] == 'Container c exceeded its local ephemeral storage limit "1Ki". '


def test_a_host_port_leads_to_the_pod() -> None:
    world = bare_cluster()
    serving = {
        "image": "registry.k8s.io/e2e-test-images/agnhost:2.47",
        "command": None,
        "args": ["netexec", "--http-port=8080"],
        "ports": [{"containerPort": 8080, "hostPort": 18080}],
    }
    create(world, "web", container=serving)
    create(world, "client")
    done = world.cluster.exec("default", "client", ["wget", "-qO-", "-T", "2", "http://172.18.0.2:18080/"])
    assert done.stdout.startswith("NOW: "), done
    done = world.cluster.exec("default", "client", ["wget", "-qO-", "-T", "2", "http://172.18.0.3:18080/"])
    assert "refused" in done.stderr


def test_a_pod_past_its_deadline_fails_when_its_containers_have_ended() -> None:
    world = bare_cluster()
    create(world, "late", activeDeadlineSeconds=12, terminationGracePeriodSeconds=20, restartPolicy="Never")
    world.advance(10)
    assert status(world, "late")["phase"] == "Running"
    assert "reason" not in status(world, "late")
    world.advance(20)
    assert status(world, "late")["phase"] == "Failed"
    assert status(world, "late")["reason"] == "DeadlineExceeded"


def test_init_containers_that_are_done_are_ready() -> None:
    world = bare_cluster()
    first = {"name": "z", "image": "busybox:1.36", "command": ["true"]}
    second = {"name": "a", "image": "busybox:1.36", "command": ["sleep", "3600"], "restartPolicy": "Always"}
    create(world, "p", initContainers=[first, second])
    shown = status(world, "p")["initContainerStatuses"]
    assert [(found["name"], found["ready"]) for found in shown] == [("z", True), ("a", True)]
