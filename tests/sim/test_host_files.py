"""What lies on a machine's disk because of what runs there: manifests, logs, the kubelet, and since when."""

from __future__ import annotations

import re

import pytest
import yaml

from sregym_env.cluster.identity import ADMIN
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.runtime.clock import SECOND
from sregym_env.shell.files import DirectoryEntry, FileEntry, Files, GrowingEntry, SymlinkEntry
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.machines import power
from sregym_env.sim.programs.machine import host_files
from sregym_env.tools.workstation import Workstation

NODE, FIRST = "sre-worker2", "sre-control-plane"
DEBUG = "kubectl debug node/{node} -q --image=busybox -i --profile=sysadmin -- "


@pytest.fixture
def world() -> EmbeddedWorld:
    found = bare_cluster(0)
    found.advance(900.0)
    return found


def on(world: EmbeddedWorld, command: str, node: str = NODE) -> str:
    """What a command prints in a login on a machine."""
    done = world.nodes.run(node, command)
    return done.stdout + done.stderr


def below(world: EmbeddedWorld, command: str, node: str = NODE) -> str:
    """The same of a debug pod on it."""
    return Workstation(world, ADMIN).run(f"{DEBUG.format(node=node)}{command}").text


def test_a_control_plane_has_the_manifests_of_its_static_pods_and_a_worker_none(world: EmbeddedWorld) -> None:
    names = ["etcd.yaml", "kube-apiserver.yaml", "kube-controller-manager.yaml", "kube-scheduler.yaml"]
    assert on(world, "ls /etc/kubernetes/manifests", FIRST).split() == names
    assert on(world, "ls /etc/kubernetes/manifests") == ""
    told = yaml.safe_load(on(world, "cat /etc/kubernetes/manifests/kube-apiserver.yaml", FIRST))
    pod = world.cluster.get("pods", f"kube-apiserver-{FIRST}", "kube-system")
    assert told["kind"] == "Pod" and told["metadata"]["name"] == "kube-apiserver"
    assert not {"ownerReferences", "uid", "annotations"} & told["metadata"].keys()
    assert "nodeName" not in told["spec"]
    declared, live = told["spec"]["containers"][0], pod["spec"]["containers"][0]
    assert (declared["command"], declared["image"]) == (live["command"], live["image"])
    assert below(world, "ls /host/etc/kubernetes/manifests", FIRST).split() == names


def test_a_kubelet_has_its_access_and_its_program(world: EmbeddedWorld) -> None:
    access = yaml.safe_load(on(world, "cat /etc/kubernetes/kubelet.conf"))
    assert access["clusters"][0]["cluster"]["server"].endswith(":6443")
    assert access["users"][0]["user"]["client-key"].startswith("/var/lib/kubelet/pki/")
    version = world.cluster.get("nodes", NODE)["status"]["nodeInfo"]["kubeletVersion"]
    assert on(world, "/usr/bin/kubelet --version") == f"Kubernetes {version}\n"
    assert below(world, "chroot /host kubelet --version") == f"Kubernetes {version}\n"
    listed = on(world, "ls -l /usr/bin/kubelet /etc/kubernetes/kubelet.conf")
    assert re.search(r"^-rwxr-xr-x 1 root root 77\d{6} .* /usr/bin/kubelet$", listed, re.M)
    assert re.search(r"^-rw------- .* /etc/kubernetes/kubelet.conf$", listed, re.M)
    assert "address already in use" in on(world, "kubelet --config=/var/lib/kubelet/config.yaml")


def test_logs_lie_where_their_links_lead_and_say_what_kubectl_says(world: EmbeddedWorld) -> None:
    pods = [p for p in world.cluster.list("pods") if p["spec"]["nodeName"] == NODE]
    folders = {f"{m['namespace']}_{m['name']}_{m['uid']}" for m in (pod["metadata"] for pod in pods)}
    assert set(on(world, "ls /var/log/pods").split()) == folders
    pod = next(p for p in pods if p["metadata"]["name"].startswith("calico-node"))
    name = pod["metadata"]["name"]
    said = Workstation(world, ADMIN).run(f"kubectl logs -n kube-system {name} -c calico-node").text
    written = on(world, f"cat /var/log/containers/{name}_kube-system_calico-node-*.log").splitlines()
    assert [line.split(" ", 3)[3] for line in written] == said.splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT[\d:.]{18}Z stdout F ", line) for line in written)
    # The link leads nowhere from outside of the machine's root, as any absolute one.
    path = f"var/log/containers/{name}_kube-system_calico-node-*.log"
    assert "No such file" in below(world, f"sh -c 'cat /host/{path}'")
    assert below(world, f"chroot /host sh -c 'cat /{path}'").splitlines() == written
    size = on(world, "stat -c %s /var/log/pods/*/calico-node/0.log").strip()
    assert int(size) == len("".join(f"{line}\n" for line in written).encode())


def test_a_run_before_keeps_its_log(world: EmbeddedWorld) -> None:
    power.reboot(world, NODE, outage=20.0)
    world.advance(120.0)
    assert on(world, "ls /var/log/pods/*kube-proxy*/kube-proxy").split() == ["0.log", "1.log"]


def test_files_are_as_old_as_what_made_them(world: EmbeddedWorld) -> None:
    times = {
        path: int(on(world, f"stat -c %Y {path}"))
        for path in (
            "/etc/os-release", "/usr/bin/ls", "/etc/hostname", "/var/lib/kubelet/config.yaml", "/etc/kubernetes/kubelet.conf",
            "/var/log/pods", "/run", "/usr/bin/kubelet",
        )
    }  # fmt: skip
    made = parse_rfc3339(world.cluster.get("nodes", NODE)["metadata"]["creationTimestamp"]) // SECOND
    assert times["/etc/os-release"] == times["/usr/bin/ls"] < made - 10 * 86_400
    assert times["/usr/bin/kubelet"] < made
    assert made - 120 < times["/etc/hostname"] < times["/var/lib/kubelet/config.yaml"] < made + 60
    assert made <= times["/var/log/pods"] <= made + 120
    assert len(set(times.values())) >= 6
    assert times == {path: int(on(world, f"stat -c %Y {path}")) for path in times}


def test_what_was_written_bears_the_time_of_that(world: EmbeddedWorld) -> None:
    now = world.now() // SECOND
    on(world, "echo '# checked' >> /var/lib/kubelet/config.yaml; rm /usr/bin/lsblk")
    on(world, "sed -i s/default-auth/kubelet/ /etc/kubernetes/kubelet.conf")
    world.advance(600.0)
    for path in ("/var/lib/kubelet/config.yaml", "/etc/kubernetes/kubelet.conf"):
        assert now <= int(on(world, f"stat -c %Y {path}")) <= now + 10
    assert "name: kubelet\n" in on(world, "cat /etc/kubernetes/kubelet.conf")
    assert "No such file" in on(world, "ls /usr/bin/lsblk")


def test_a_command_under_chroot_is_one_of_the_machine(world: EmbeddedWorld) -> None:
    told = below(world, "chroot /host ps aux")
    assert told.startswith("USER ")
    assert "/usr/bin/kubelet --bootstrap-kubeconfig" in told and "/usr/bin/containerd" in told
    pid = on(world, "pgrep kubelet")
    assert below(world, "chroot /host pgrep kubelet") == pid
    assert below(world, "chroot /host pidof kubelet") == pid
    for command in ("cat /etc/hostname", "ls -l /etc/kubernetes /var/lib/kubelet", "crictl ps -q | wc -l"):
        theirs = below(world, f"chroot /host sh -c '{command}'")
        assert theirs == on(world, command) or "crictl" in command, command
    assert "PID   USER     TIME  COMMAND" in below(world, "ps")
    assert "/usr/bin/kubelet" in below(world, "ps")


def test_a_part_of_a_machine_shows_the_same_files(world: EmbeddedWorld) -> None:
    container = {"name": "main", "image": "busybox:1.36", "command": ["sleep", "3600"],
                 "volumeMounts": [{"name": "logs", "mountPath": "/logs"}]}  # fmt: skip
    spec = {
        "nodeName": NODE,
        "containers": [container],
        "volumes": [{"name": "logs", "hostPath": {"path": "/var/log"}}],
    }
    metadata = {"name": "reader", "namespace": "default"}
    world.cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    world.advance(30.0)
    seen = Workstation(world, ADMIN).run("kubectl exec reader -- sh -c 'ls /logs/pods; ls -d /logs'").text
    assert seen == on(world, "ls /var/log/pods") + "/logs\n"


def test_releases_have_the_time_of_their_build() -> None:
    times = [host_files.built(f"v1.32.{number}") for number in range(8)]
    assert times == sorted(times) and len(set(times)) == 8


# --- trees of files -------------------------------------------------------------------------------------


def grown() -> GrowingEntry:
    return GrowingEntry(lambda: "one\ntwo\n", lambda: 8, lambda: 77.0)


def test_a_growing_file_is_found_when_it_is_asked_for_and_copied_as_it_is() -> None:
    files = Files(mtime=5.0)
    files.add_entries({"/var/log/a.log": grown(), "/a": SymlinkEntry("/var/log/a.log")})
    assert files.text("/a") == "one\ntwo\n"
    files.copy_tree("/var/log", "/copy")
    copied = files.entry("/copy/a.log")
    assert type(copied) is FileEntry and copied.mtime == 77.0
    files.touch("/var/log/a.log", 90.0)
    files.set_mode("/a", 0o600)
    changed = files.entry("/a")
    assert type(changed) is FileEntry and (changed.mode, changed.mtime) == (0o600, 90.0)


def test_another_root_keeps_links_and_times() -> None:
    files = Files(mtime=5.0)
    files.add({"/host/etc/x": "1", "/etc/x": "2"})
    files.put_link("/host/l", "/etc/x")
    files.restamp("/host", lambda path, entry: DirectoryEntry(mtime=9.0) if path == "etc" else entry)
    inside = files.rooted("/host")
    assert inside.text("/l") == "1" and inside.names("/") == ["etc", "l"]
    entry = inside.entry("/etc")
    assert entry is not None and entry.mtime == 9.0
    inside.put_text("/etc/x", "3")
    assert files.text("/host/etc/x") == "1"
