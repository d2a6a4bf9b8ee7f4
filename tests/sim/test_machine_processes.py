"""Processes and threads of machines: what a kernel takes, what is gathered, and what becomes of who wants one more."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from sregym_env import apps
from sregym_env.cluster.oncall import ONCALL
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.containers import pids
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.machines.kubelet import process_numbers
from sregym_env.sim.programs.supercronic import _every, _jobs, _options
from sregym_env.sim.world.process import Process
from sregym_env.tools.workstation import Workstation

HOTEL = "hotel-reservation"


@cache
def _healthy() -> EmbeddedWorld:
    return deployed_world(apps.app(HOTEL))


def _typed(world: EmbeddedWorld, line: str) -> str:
    return Workstation(world, ONCALL, HOTEL).run(line).text


def _one(world: EmbeddedWorld, pod: str = "mongodb-geo") -> Process:
    return next(each for _, each in sorted(world.processes.items()) if each.pod.startswith(pod))


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        ("kernel.pid_max", "32768", 32_768),
        ("kernel.pid_max", "301", 301),
        ("kernel.pid_max", "300", None),
        ("kernel.pid_max", "4194304", 4_194_304),
        ("kernel.pid_max", "4194305", None),
        ("kernel.pid_max", "-1", None),
        ("kernel.pid_max", "9" * 5000, None),
        ("kernel.pid_max", "many", None),
        ("kernel.threads-max", "1000", 1000),
        ("kernel.threads-max", "0", None),
    ],
)
@pytest.mark.parametrize("way", ["sysctl -w {name}={value}", "echo {value} > /proc/sys/{path}"])
def test_what_a_kernel_takes(way: str, name: str, value: str, taken: int | None) -> None:
    world = _healthy().fork()
    node = _one(world).node
    line = way.format(name=name, value=value, path=name.replace(".", "/"))
    said = _typed(world, f"ssh {node} '{line}'")
    wanted = pids.MADE[name] if taken is None else taken
    assert _typed(world, f"ssh {node} sysctl -n {name}").strip() == str(wanted)
    assert _typed(world, f"ssh {node} cat /proc/sys/{name.replace('.', '/')}").strip() == str(wanted)
    assert ("Invalid argument" in said) is (taken is None and way.startswith("sysctl"))
    assert pids.bound(world, node) == min(wanted, pids.MADE[pids.THREADS_MAX])


def test_the_lesser_of_the_two_is_the_bound() -> None:
    world = _healthy().fork()
    node = _one(world).node
    assert pids.bound(world, node) == 255_583
    pids.set_to(world, node, pids.PID_MAX, 40_000)
    pids.set_to(world, node, pids.THREADS_MAX, 20_000)
    assert pids.bound(world, node) == 20_000
    assert len(pids.limits(world, node)) == 3


def test_who_gathers_fills_up_to_what_is_left() -> None:
    world = _healthy().fork()
    process = _one(world)
    pids.set_to(world, process.node, pids.PID_MAX, 3000)
    before = pids.used(world, process.node)
    pids.begin(world, process, "curl", 10.0, dead=True)
    world.advance(30.0)
    assert pids.used(world, process.node) - before == pytest.approx(300, abs=1)
    assert pids.of_container(world, process) == pytest.approx(pids.own(process) + 300, abs=1)
    assert not pids.full(world, process.node)
    world.advance(600.0)
    assert pids.full(world, process.node)
    assert pids.used(world, process.node) == pytest.approx(3000 - pids.KEPT, abs=2)
    pids.set_to(world, process.node, pids.PID_MAX, 5000)
    world.advance(30.0)
    assert not pids.full(world, process.node)
    assert pids.used(world, process.node) == pytest.approx(3000 - pids.KEPT + 290, abs=15)


def test_what_was_gathered_ends_with_who_did() -> None:
    world = _healthy().fork()
    process = _one(world)
    pids.begin(world, process, "curl", 100.0, dead=True)
    world.advance(60.0)
    before = pids.used(world, process.node)
    _typed(world, f"kubectl delete pod {process.pod}")
    world.advance(10.0)
    assert pids.used(world, process.node) < before - 5900
    assert pids.LEAKS not in world.memory
    assert int(pids.held(world, process.node)[-1].at(world.clock)) == 0


def test_a_pod_may_have_only_so_many() -> None:
    world = _healthy().fork()
    process = _one(world)
    pids.allow(world, process.key[0], 100)
    pids.begin(world, process, "sh", 10.0, dead=False)
    world.advance(60.0)
    assert pids.of_container(world, process) == 100
    assert not pids.full(world, process.node)


def test_what_tells() -> None:
    world = _healthy().fork()
    process = _one(world)
    node = process.node
    pids.begin(world, process, "curl", 20.0, dead=True)
    world.advance(120.0)
    count = int(pids.leaks(world)[process.key].at(world.clock))
    said = _typed(world, f"promql 'container_threads{{pod=\"{process.pod}\"}}'")
    assert float(said.splitlines()[1].split()[0]) == pytest.approx(count, abs=1300)
    said = _typed(world, f"promql 'container_processes{{pod=\"{process.pod}\"}}'")
    assert float(said.splitlines()[1].split()[0]) == 1, "who has ended is in no list of a control group"
    for name, wanted in (
        ("node_processes_threads", pids.used(world, node)),
        ("node_processes_max_processes", 4_194_304),
        ("node_processes_max_threads", 255_583),
    ):
        said = _typed(world, f"promql '{name}{{node=\"{node}\"}}'")
        assert float(said.splitlines()[1].split()[0]) == pytest.approx(wanted, rel=0.6), name
    listed = _typed(world, f"ssh {node} ps aux")
    assert listed.count(" [curl] <defunct>\n") == pytest.approx(count, abs=200)
    assert " zombie" in _typed(world, f"ssh {node} 'top -b -n 1 | sed -n 2p'")
    told = _typed(
        world, f"ssh {node} 'cat /sys/fs/cgroup/kubepods.slice/*/*/pids.current | sort -n | tail -n 1'"
    )
    assert int(told) == pytest.approx(count, abs=300)
    told = _typed(
        world, f"kubectl exec {process.pod} -- cat /sys/fs/cgroup/pids.current /sys/fs/cgroup/pids.max"
    )
    assert int(told.split()[0]) == pytest.approx(count, abs=400) and told.split()[1] == "max"


HEADS = {
    "aux": "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND",
    "-ef": "UID          PID    PPID  C STIME TTY          TIME CMD",
    "-e": "    PID TTY          TIME CMD",
    "-eo pid,ppid,stat,comm": "    PID    PPID STAT COMMAND",
    "axo pid,args": "    PID COMMAND",
    "-eo pid,etimes,args --sort=-etimes": "    PID ELAPSED COMMAND",
}


@pytest.mark.parametrize("options", HEADS)
def test_ps_lists_the_columns_that_are_asked_for(options: str) -> None:
    world = _healthy().fork()
    said = _typed(world, f"ssh {_one(world).node} ps {options}").splitlines()
    assert said[0] == HEADS[options]
    if "-etimes" not in options:
        place = said[0].split().index("PID")
        numbers = [int(line.split()[place]) for line in said[1:]]
        assert numbers == sorted(set(numbers)) and numbers[0] == 1


def test_ps_tells_processes_apart() -> None:
    world = _healthy().fork()
    process = _one(world)
    pids.begin(world, process, "curl", 2.0, dead=True)
    world.advance(60.0)
    at = f"ssh {process.node}"
    rows = [line.split(None, 10) for line in _typed(world, f"{at} ps aux").splitlines()[1:]]
    daemons = [row for row in rows if row[10].startswith(("/sbin/init", "/usr/bin/"))]
    assert len({(row[4], row[5], row[9]) for row in daemons}) == len(daemons) > 2
    whose = _typed(world, f"{at} 'ps -eo ppid= | sort | uniq -c | sort -rn | head -n 1'").split()
    assert int(whose[0]) == pytest.approx(120, abs=6)
    assert "mongod" in _typed(world, f"{at} ps -o args= -p {whose[1]}")
    most = _typed(world, f"{at} ps -eo rss= --sort=-rss").split()
    assert list(map(int, most)) == sorted(map(int, most), reverse=True)
    assert _typed(world, f"{at} ps -p 4000000").splitlines() == ["    PID TTY          TIME CMD"]
    assert 'unknown user-defined format specifier "foo"' in _typed(world, f"{at} ps -eo foo")


@pytest.mark.parametrize(
    ("options", "head"),
    [
        ("-h /", "Filesystem      Size  Used Avail Use% Mounted on"),
        ("-hT /", "Filesystem     Type  Size  Used Avail Use% Mounted on"),
        ("/", "Filesystem     1K-blocks     Used Available Use% Mounted on"),
        ("-P /", "Filesystem     1024-blocks     Used Available Capacity Mounted on"),
        ("-i /", "Filesystem      Inodes  IUsed   IFree IUse% Mounted on"),
    ],
)
def test_df_of_a_machine_is_that_of_gnu(options: str, head: str) -> None:
    world = _healthy().fork()
    said = _typed(world, f"ssh {_one(world).node} df {options}").splitlines()
    assert said[0].split() == head.split() and len(said) == 2
    assert said[0].index("% Mounted" if "P" not in options else " Mounted") == said[1].index(
        "% /" if "P" not in options else " /", 20
    )
    if "h" in options:
        assert "." not in said[1].split("nvme1n1p1")[1], "numbers of two digits have no decimals"


def test_probes_that_cannot_be_started_are_thrown_away() -> None:
    world = _healthy().fork()
    _typed(
        world,
        "kubectl patch deploy mongodb-geo --type=json -p "
        '\'[{"op": "add", "path": "/spec/template/spec/containers/0/livenessProbe", "value": {"exec": {"command": ["true"]}, "periodSeconds": 5}}]\'',
    )
    world.advance(60.0)
    process = _one(world)
    pids.set_to(world, process.node, pids.PID_MAX, 1000)
    pids.begin(world, process, "curl", 100.0, dead=True)
    world.advance(120.0)
    assert pids.full(world, process.node)
    world.touch()
    world.advance(60.0)
    told = _typed(world, "kubectl get events")
    assert (
        "Liveness probe errored and resulted in unknown state: rpc error: code = Unknown desc = failed to exec"
        in told
    )
    pod = world.cluster.get("pods", process.pod, HOTEL)
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 0
    assert pod["status"]["containerStatuses"][0]["ready"]


def test_a_container_that_ends_is_not_started_again() -> None:
    world = _healthy().fork()
    process = _one(world, "geo-")
    pids.set_to(world, process.node, pids.PID_MAX, 1000)
    gathers = next(
        each
        for _, each in sorted(world.processes.items())
        if each.node == process.node and each.key != process.key
    )
    pids.begin(world, gathers, "curl", 200.0, dead=True)
    world.advance(60.0)
    world.after(0, "program.exit", process.key, process.restart, 1, "")
    world.advance(30.0)
    told = _typed(world, "kubectl get events")
    assert (
        "unable to start init: fork/exec /proc/self/fd/7: resource temporarily unavailable: unknown" in told
    )


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("registry.k8s.io/pause:3.10", "runtime: failed to create new OS thread (have 4 already; errno=11)"),
        ("nginx:1.27", "pthread_create: Resource temporarily unavailable"),
    ],
)
def test_a_pod_with_too_few_for_its_program(image: str, said: str) -> None:
    world = _healthy().fork()
    node = _one(world).node
    _typed(
        world, f"ssh {node} 'echo podPidsLimit: 5 >> /var/lib/kubelet/config.yaml; systemctl restart kubelet'"
    )
    world.advance(10.0)
    world.cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "small", "namespace": HOTEL},
            "spec": {
                "restartPolicy": "Never",
                "nodeName": node,
                "containers": [{"name": "one", "image": image}],
            },
        }
    )
    world.advance(30.0)
    assert said in _typed(world, "kubectl logs small")
    assert world.cluster.get("pods", "small", HOTEL)["status"]["phase"] == "Failed"


CONFIGS: Mapping[str, tuple[str, int]] = {
    "evictionHard: {pid.available: '10%'}": ("10%", 0),
    "podPidsLimit: 1024": ("", 1024),
    "podPidsLimit: -1": ("", 0),
    "podPidsLimit: true": ("", 0),
    "evictionHard: none": ("", 0),
    "evictionHard: {pid.available: '2k'}\npodPidsLimit: 512": ("2k", 512),
    "a: [": ("", 0),
    "": ("", 0),
}


@pytest.mark.parametrize("text", CONFIGS)
def test_what_a_kubelet_is_told(text: str) -> None:
    assert tuple(process_numbers._told(text)) == CONFIGS[text]


@pytest.mark.parametrize(
    ("words", "switches", "path"),
    [
        (["/etc/crontab"], set(), "/etc/crontab"),
        (["-quiet", "-no-reap", "/a"], {"quiet", "no-reap"}, "/a"),
        (["--overlapping", "/a", "-debug"], {"overlapping"}, "/a"),
        (["-no-reap=false", "/a"], set(), "/a"),
        (["-sentry-dsn", "https://x", "/a"], {"sentry-dsn"}, "/a"),
        (["-prometheus-listen-address=0.0.0.0", "/a"], {"prometheus-listen-address"}, "/a"),
        ([], set(), ""),
    ],
)
def test_a_job_runners_command_line(words: list[str], switches: set[str], path: str) -> None:
    assert _options(words) == (switches, path)


@pytest.mark.parametrize(
    ("schedule", "seconds"),
    [
        ("*/5 * * * * * *", 5.0),
        ("* * * * * * *", 1.0),
        ("0 */10 * * * * *", 600.0),
        ("*/2 * * * *", 120.0),
        ("0 3 * * *", 86_400.0),
        ("0 * * * *", 3600.0),
        ("0,30 * * * *", 1800.0),
        ("@hourly", 3600.0),
        ("*/0 * * * *", 60.0),
        (f"*/{'9' * 5000} * * * *", 3600.0),
    ],
)
def test_how_often_a_job_is_due(schedule: str, seconds: float) -> None:
    assert _every(schedule) == seconds


@pytest.mark.parametrize(
    ("text", "count", "bad"),
    [
        ("# nothing\n\nSHELL=/bin/sh\n*/5 * * * * * * /bin/sh /a.sh\n", 1, ""),
        ("@hourly /bin/true\n0 3 * * * /bin/true\n", 2, ""),
        ("every minute\n", 0, "every minute"),
        ("* * * * * a\n" * 500, 64, ""),
    ],
)
def test_a_crontab(text: str, count: int, bad: str) -> None:
    jobs, wrong = _jobs(text)
    assert (len(jobs), wrong) == (count, bad)


RUNNERS: Mapping[str, tuple[dict[str, Any], str]] = {
    "no crontab": ({"args": ["/nowhere"]}, "open /nowhere: no such file or directory"),
    "no arguments": ({"command": ["supercronic"]}, "Usage: supercronic [OPTIONS] CRONTAB"),
    "with pid 1": ({"command": ["supercronic", "/proc/mounts"]}, "reaping dead processes"),
}


@pytest.mark.parametrize("name", RUNNERS)
def test_a_job_runner_says_what_is_wrong(name: str) -> None:
    fields, said = RUNNERS[name]
    world = _healthy().fork()
    container = {"name": "jobs", "image": "dyrnq/supercronic:v0.2.41", **fields}
    world.cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "runner", "namespace": HOTEL},
            "spec": {"restartPolicy": "Never", "containers": [container]},
        }
    )
    world.advance(20.0)
    assert said in _typed(world, "kubectl logs runner")
