"""The machine under the containers: what its kernel counts agrees with metrics, and its logs with what has happened."""

from __future__ import annotations

import json
import re

import pytest

from sregym_env.apps.hotel_reservation import APP
from sregym_env.cluster.disturbances import DiskReadErrors
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs.machine import logins
from sregym_env.sim.programs.machine.commands import moment_of, pretty
from sregym_env.sim.world.figures import read_only
from sregym_env.sim.world.kernels import build_of
from sregym_env.tools.kubectl import Kubectl

NAMESPACE = "hotel-reservation"
NOW = 1_786_000_000_000_000


@pytest.fixture
def world() -> EmbeddedWorld:
    return deployed_world(APP).fork()


def typed(world: EmbeddedWorld, *words: str) -> str:
    return Kubectl(world.cluster, NAMESPACE).run(list(words), "", None).stdout


def inside(world: EmbeddedWorld, workload: str, script: str) -> str:
    return typed(world, "exec", f"deploy/{workload}", "--", "sh", "-c", script)


def on_node(world: EmbeddedWorld, node: str, script: str, profile: str = "sysadmin") -> str:
    words = (
        "debug",
        f"node/{node}",
        "--image=busybox",
        f"--profile={profile}",
        "-q",
        "-i",
        "--",
        "sh",
        "-c",
        script,
    )
    return typed(world, *words)


def fields(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}


def node_of(world: EmbeddedWorld, workload: str) -> str:
    pods = world.cluster.list("pods", NAMESPACE, label_selector=f"io.kompose.service={workload}")
    return str(pods[0]["spec"]["nodeName"])


def test_counters_of_a_container_go_up_by_what_metrics_say(world: EmbeddedWorld) -> None:
    text = inside(
        world, "frontend", "cat /sys/fs/cgroup/cpu.stat; sleep 60; echo; cat /sys/fs/cgroup/cpu.stat"
    )
    before, after = (fields(part) for part in text.split("\n\n"))
    assert all(after[name] >= before[name] for name in before)
    assert before["usage_usec"] == before["user_usec"] + before["system_usec"]
    cores = (after["usage_usec"] - before["usage_usec"]) / 60e6
    query = f'rate(container_cpu_usage_seconds_total{{namespace="{NAMESPACE}",container="hotel-reserv-frontend"}}[5m])'
    ((_, _, values),) = world.telemetry.metrics.query(query, int(world.cluster.now() // 1000)).series
    assert cores == pytest.approx(float(values[0]), rel=0.25)


def test_memory_stays_within_the_limit_and_adds_up(world: EmbeddedWorld) -> None:
    script = "cd /sys/fs/cgroup; cat memory.max memory.current; grep -E '^(anon|file|kernel) ' memory.stat"
    limit, current, *stat = inside(world, "geo", script).split("\n")
    assert limit == "max" or int(current) <= int(limit)
    assert sum(fields("\n".join(filter(None, stat))).values()) == pytest.approx(int(current), rel=0.01)


def test_everybody_on_a_machine_sees_the_same_memory_and_load(world: EmbeddedWorld) -> None:
    node = node_of(world, "geo")
    own = inside(world, "geo", "grep MemTotal /proc/meminfo; cat /proc/loadavg")
    machine = on_node(world, node, "grep MemTotal /host/proc/meminfo; cat /host/proc/loadavg")
    assert own.split()[:3] == machine.split()[:3]
    assert float(own.split()[3]) == pytest.approx(
        float(machine.split()[3]), abs=0.1
    )  # a debug pod takes seconds
    allocated = world.cluster.get("nodes", node)["status"]["capacity"]["memory"]
    assert own.split()[1] == allocated.removesuffix("Ki")


def test_the_machine_has_the_control_groups_of_its_containers(world: EmbeddedWorld) -> None:
    node = node_of(world, "geo")
    found = on_node(world, node, "find /host/sys/fs/cgroup -name cpu.stat").split()
    pods = [p for p in world.cluster.list("pods") if p["spec"].get("nodeName") == node]
    uid = next(p for p in pods if p["metadata"]["name"].startswith("geo-"))["metadata"]["uid"].replace(
        "-", "_"
    )
    assert any(uid in path and "cri-containerd-" in path for path in found)


@pytest.mark.parametrize(
    "profile, told", [("general", "klogctl: Operation not permitted"), ("sysadmin", "Linux version")]
)
def test_only_the_privileged_read_the_kernels_messages(world: EmbeddedWorld, profile: str, told: str) -> None:
    assert told in on_node(world, node_of(world, "geo"), "dmesg | head -1", profile)


def test_a_failing_disk_shows_in_the_kernels_log_and_in_its_own_figures(world: EmbeddedWorld) -> None:
    node = node_of(world, "mongodb-geo")
    script = "dmesg | grep -c 'critical medium error'; chroot /host smartctl -a /dev/nvme1n1 | grep Integrity"
    healthy = on_node(world, node, script)
    assert healthy.split()[0] == "0" and healthy.split()[-1] == "0"
    world.nodes.apply(DiskReadErrors(node))
    world.advance(90.0)
    first = on_node(world, node, script).split()
    world.advance(90.0)
    second = on_node(world, node, script).split()
    assert 0 < int(first[0]) < int(second[0])
    assert 0 < int(first[-1]) < int(second[-1])
    world.nodes.heal(DiskReadErrors(node))
    assert on_node(world, node, script).split()[0] == "0"


def test_a_container_that_ran_out_of_memory_is_in_the_kernels_log(world: EmbeddedWorld) -> None:
    typed(world, "set", "resources", "deploy/geo", "--limits=memory=8Mi", "--requests=memory=8Mi")
    world.advance(60.0)
    pod = next(
        p
        for p in world.cluster.list("pods", NAMESPACE, label_selector="io.kompose.service=geo")
        if p["status"]["containerStatuses"][0]["restartCount"]
    )
    text = on_node(world, pod["spec"]["nodeName"], "dmesg; chroot /host journalctl -u kubelet")
    assert "limit 8192kB" in text and "Memory cgroup out of memory: Killed process" in text
    assert 'with CrashLoopBackOff: \\"back-off' in text
    assert pod["metadata"]["uid"].replace("-", "_") in text


def test_the_runtime_knows_the_containers_as_the_api_does(world: EmbeddedWorld) -> None:
    node = node_of(world, "geo")
    script = "chroot /host sh -c 'crictl inspect $(crictl ps -q --name hotel-reserv-geo | tail -1)'"
    told = json.loads(on_node(world, node, script))
    pod = world.cluster.get("pods", told["status"]["labels"]["io.kubernetes.pod.name"], NAMESPACE)
    identities = [each["containerID"].partition("://")[2] for each in pod["status"]["containerStatuses"]]
    assert told["status"]["id"] in identities


def on_machine(world: EmbeddedWorld, line: str, node: str = "sre-worker") -> str:
    return logins.run(world, node, line).text


def test_a_machine_tells_who_listens(world: EmbeddedWorld) -> None:
    shown = on_machine(world, "ss -lntp")
    for who in ("*:10250 ", "127.0.0.1:10248 ", "0.0.0.0:22 ", '"kube-proxy"', '"sshd"'):
        assert who in shown
    assert "users:" not in on_machine(world, "ss -lnt")
    pid = on_machine(world, "pgrep kubelet").strip()
    assert f"{pid}/kubelet" in on_machine(world, "netstat -lntp")
    assert "PID/Program" not in on_machine(world, "netstat -lnt")
    count = len(shown.splitlines()) - 1
    assert f"TCP:   {count} (estab 0" in on_machine(world, "ss -s")
    on_machine(world, "systemctl stop kubelet")
    assert "10250" not in on_machine(world, "ss -lnt")


def test_the_kernel_tells_of_a_pods_sockets_what_netstat_does(world: EmbeddedWorld) -> None:
    said = inside(world, "mongodb-geo", "cat /proc/net/tcp; cat /proc/net/sockstat")
    assert f"00000000:{27017:04X} 00000000:0000 0A" in said and "TCP: inuse 1 " in said


def test_a_machine_asks_its_own_kube_proxy(world: EmbeddedWorld) -> None:
    assert '"nodeEligible":true' in on_machine(world, "curl -s localhost:10256/healthz")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("uname -sr", "Linux 6.1.0-32-amd64\n"),
        ("uname -v", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.129-1 (2025-03-06)\n"),
        ("uname -x", "uname: invalid option"),
        (
            "nosuch; cd /nope",
            "bash: line 1: nosuch: command not found\nbash: line 1: cd: /nope: No such file or directory\n",
        ),
        ("systemctl --failed", "  UNIT LOAD ACTIVE SUB DESCRIPTION\n0 loaded units listed.\n"),
        ("systemctl list-units --state=failed", "  UNIT LOAD ACTIVE SUB DESCRIPTION\n0 loaded"),
        ("mount | grep ' / '", "/dev/nvme1n1p1 on / type ext4 (rw,relatime,errors=remount-ro)\n"),
        ("crictl images | grep -cE ' ([0-9]{4,}|[0-9]{3}\\.[0-9]+)[kM]B'", "0"),
        ("grep ^NAME= /etc/os-release", 'NAME="Debian GNU/Linux"\n'),
    ],
)
def test_what_machines_print(world: EmbeddedWorld, line: str, said: str) -> None:
    assert on_machine(world, line).startswith(said)


@pytest.mark.parametrize(
    ("release", "version", "builder"),
    [
        ("6.1.0-32-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.129-1 (2025-03-06)", "debian-kernel@lists.debian.org"),
        ("6.8.0-51-generic", "#52-Ubuntu SMP PREEMPT_DYNAMIC Fri Mar 14 09:21:37 UTC 2025", "buildd@lcy02-amd64-090"),
        ("5.15.0-130-generic", "#140-Ubuntu SMP Fri Mar 14 09:21:37 UTC 2025", "buildd@lcy02-amd64-090"),
        ("6.8.0-1028-aws", "#30-Ubuntu SMP PREEMPT_DYNAMIC Fri Mar 14 09:21:37 UTC 2025", "buildd@lcy02-amd64-090"),
        ("5.14.0-503.29.1.el9_5.x86_64", "#1 SMP PREEMPT_DYNAMIC Fri Mar 7 11:43:59 UTC 2025", "mockbuild@iad1-prod-build001.bld.equ.rockylinux.org"),
        ("6.1.130-147.221.amzn2023.x86_64", "#1 SMP PREEMPT_DYNAMIC Tue Apr 22 18:12:06 UTC 2025", "mockbuild@ip-10-0-41-169"),
        ("6.12.18-talos", "#1 SMP Wed Mar 26 12:09:11 UTC 2025", "@buildkitsandbox"),
    ],
)  # fmt: skip
def test_a_kernel_tells_who_built_it(release: str, version: str, builder: str) -> None:
    build = build_of(release)
    assert (build.version, build.builder) == (version, builder)
    assert build.banner(release).startswith(f"Linux version {release} ({builder}) (")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (59, "up 0 minutes"),
        (3600, "up 1 hour"),
        (86_400 * 8 + 7260, "up 1 week, 1 day, 2 hours, 1 minute"),
    ],
)
def test_how_long_a_machine_has_been_up(seconds: int, said: str) -> None:
    assert pretty(seconds * SECOND) == said


def test_the_journal_tells_of_an_image_that_cannot_be_pulled(world: EmbeddedWorld) -> None:
    node = node_of(world, "geo")
    image = {
        "spec": {
            "template": {"spec": {"containers": [{"name": "hotel-reserv-geo", "image": "nowhere/geo:1"}]}}
        }
    }
    world.cluster.patch("deployments.apps", "geo", image, namespace=NAMESPACE)
    world.advance(60.0)
    pods = world.cluster.list("pods", NAMESPACE, label_selector="io.kompose.service=geo")
    node = next(pod["spec"]["nodeName"] for pod in pods if pod["status"]["phase"] == "Pending")
    kubelet = on_machine(world, "journalctl -u kubelet --no-pager", node)
    assert re.search(
        r'kuberuntime_image.go:55\] "Failed to pull image" err="rpc error: .*" image="nowhere/geo:1"', kubelet
    )
    waits = r'pod_workers.go:1301\] "Error syncing pod, skipping" err="failed to \\"StartContainer\\" for \\"hotel-reserv-geo\\" with'
    assert re.search(waits + r" ErrImagePull: ", kubelet) and re.search(
        waits + r" ImagePullBackOff: ", kubelet
    )
    runtime = on_machine(world, "journalctl -u containerd --no-pager", node)
    assert re.search(r'level=error msg="PullImage \\"nowhere/geo:1\\" failed" error="rpc error: ', runtime)


def test_a_pods_names_are_looked_up_one_by_one(world: EmbeddedWorld) -> None:
    asked = "getent hosts nope geo; echo $?; getent ahosts geo | sed 's/^[0-9.]* *//'"
    first, code, *others = inside(world, "mongodb-geo", asked).splitlines()
    assert first.endswith("geo.hotel-reservation.svc.cluster.local") and code == "2"
    assert others == ["STREAM geo.hotel-reservation.svc.cluster.local", "DGRAM  ", "RAW    "]


def test_consul_indents_what_it_answers(world: EmbeddedWorld) -> None:
    text = inside(world, "consul", "wget -qO- http://127.0.0.1:8500/v1/catalog/service/srv-geo")
    assert text.startswith('[\n    {\n        "') and text.endswith("]\n")


def test_a_disk_that_cannot_be_written_shows_on_its_machine(world: EmbeddedWorld) -> None:
    world.memory[read_only("sre-worker")] = world.now()
    assert "(ro,relatime" in on_machine(world, "mount")
    assert "Remounting filesystem read-only" in on_machine(world, "dmesg")
    done = logins.run(world, "sre-worker", "touch /etc/x")
    assert done.stderr == "bash: /etc/x: Read-only file system\n"
    assert "No such file" in on_machine(world, "cat /etc/x")


def test_looking_changes_nothing(world: EmbeddedWorld) -> None:
    twin = world.fork()
    inside(
        world,
        "geo",
        "cat /proc/stat /proc/meminfo /sys/fs/cgroup/cpu.stat /proc/net/dev; top -b -n1; free; df; vmstat; ps",
    )
    inside(twin, "geo", "true")
    assert world.digest() == twin.digest()


@pytest.mark.parametrize(
    "text, ago",
    [
        ("now", 0),
        ("-1h", 3600),
        ("10 min ago", 600),
        ("2 hours ago", 7200),
        ("1 day ago", 86_400),
        ("30s ago", 30),
    ],
)
def test_times_of_the_journal(text: str, ago: int) -> None:
    assert moment_of(text, NOW) == NOW - ago * 1_000_000


@pytest.mark.parametrize("text", ["", "soon", "-h", "ten minutes ago", "2026-13-40"])
def test_times_that_are_none(text: str) -> None:
    assert moment_of(text, NOW) is None
