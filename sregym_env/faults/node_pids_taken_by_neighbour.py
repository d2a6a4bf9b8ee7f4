"""A machine whose process numbers another team's program uses up: nobody beside it can start anything, or the kubelet evicts them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import (
    AwaitRollout,
    Create,
    Edit,
    Elapse,
    JsonPatch,
    ObjectRef,
    OnMachine,
    RecreatePods,
)
from sregym_env.cluster.targets import MachinesTarget, TargetRule, kind_of
from sregym_env.errors import ClusterError
from sregym_env.faults.choices import elsewhere, one_of, two_of
from sregym_env.faults.commands import await_rollout, delete, put, revive
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.faults.machines import machines_of_users, neighbour, pressed, tied
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.numbers import whole

PLACES = (
    "netops-lab", "branch-ops", "facility-it", "noc-tools", "wan-lab", "dc-inventory", "asset-tracking", "office-it", "edge-checks",
)  # fmt: skip
"""Namespaces of a team that looks after devices."""
ASKERS = (
    "ups-readout", "printer-poll", "door-status", "pdu-readout", "link-check", "badge-sync", "camera-status", "ap-survey",
    "kiosk-check", "till-status", "switch-audit", "phone-register",
)  # fmt: skip
NETS = ("10.66.0", "10.80.12", "10.120.4", "172.28.9", "192.168.40", "10.9.64")
"""Where such devices are."""
KINDS = ("deployments.apps", "deployments.apps", "daemonsets.apps")
SLIPS = ("-no-reap", "-overlapping")
"""Options of the job runner by which processes pile up: nobody waits for those that jobs leave behind; a job that goes on for ever is
started again whenever it is due."""
WATCHES = ("", "10%", "5%", "1500", "2000")
"""What kubelets are told to want free of process numbers (``evictionHard``): nothing, as by default, or as clouds do."""
BOUNDS = (32_768, 49_152, 65_536)
"""``kernel.pid_max`` of machines on which systemd does not raise it, and what people set."""
MODEST = 12
"""Devices that the other one asks."""
CONFIG = "/var/lib/kubelet/config.yaml"
IDLE = 700
"""Tasks of everybody else on a machine, about."""
LOOK, STEPS, PATIENCE = 600.0, 2, 8
"""Seconds between two looks at the machines, how many there are at least, and how many while one still fills."""
FREE = 0.12
"""Of a machine's numbers: what has to be free."""
SLACK = 200
"""Tasks by which a machine that does not fill may have more from one row of looks to the next."""
LASTS = 30 * 86_400.0
"""Seconds for which what grows on has to find numbers."""
OVER = "sleep 340"
"""Until a kubelet says that a machine has processes left again."""


class _Load(NamedTuple):
    """What a machine has of tasks, and how many it takes."""

    used: int
    most: int


@dataclass(frozen=True, slots=True)
class _Left:
    """Whether no machine is short of process numbers, and none runs out of them."""

    def __call__(self, world: World) -> Finding:
        expected = "no machine is short of process numbers, or will be"
        wrong: dict[str, str] = {}
        before = dict(_loads(world))
        for step in range(1, PATIENCE + 1):
            now = dict(_loads(world))
            wrong = {
                node: "it is full" for node, load in now.items() if load.most - load.used < FREE * load.most
            }
            wrong |= dict.fromkeys(pressed(world, "PIDPressure"), "PIDPressure")
            if wrong:
                break
            world.advance(LOOK)
            if step % STEPS:
                continue
            now = dict(_loads(world))
            wrong = {node: "it fills" for node in now if _fills(before.get(node), now[node])}
            if not wrong:
                break
            before = now
        told = ", ".join(f"{node}: {what}" for node, what in wrong.items())
        return Finding("processes", not wrong, told or "all have some left", expected)


def _fills(before: _Load | None, now: _Load) -> bool:
    """Whether a machine's tasks go on as if there were no end to numbers."""
    growth = 0 if before is None else now.used - before.used
    return growth > SLACK and growth / (LOOK * STEPS) * LASTS > now.most - now.used


def _loads(world: World) -> Iterator[tuple[str, _Load]]:
    """Of the machines that answer."""
    for node in world.cluster.list("nodes"):
        name = node["metadata"]["name"]
        try:
            said = world.nodes.run(
                name, "sysctl -n kernel.pid_max kernel.threads-max; cat /proc/loadavg"
            ).stdout
        except ClusterError:
            continue
        lines = said.split("\n")
        counts = lines[2].split() if len(lines) > 2 else []
        if len(counts) > 3:
            used = whole(counts[3].rpartition("/")[2], 0)
            yield name, _Load(used, min(whole(lines[0], 0), whole(lines[1], 0)))


@dataclass(frozen=True, slots=True)
class _Spared:
    """Whether the program beside it, which leaves nothing behind, runs on as it was told to."""

    workload: ObjectRef
    arguments: tuple[str, ...]

    def __call__(self, world: World) -> Finding:
        where, expected = self.workload, f"{self.workload.name} runs as it did"
        try:
            found = world.cluster.get(where.resource, where.name, where.namespace)
        except StatusError as error:
            return Finding("neighbour", False, str(error), expected)
        status, container = found.get("status") or {}, found["spec"]["template"]["spec"]["containers"][0]
        if tuple(container.get("args") or ()) != self.arguments:
            return Finding("neighbour", False, "it has been told otherwise", expected)
        runs = bool(status.get("readyReplicas") or status.get("numberReady"))
        return Finding("neighbour", runs, "it runs" if runs else "it does not run", expected)


@fault(
    layer="node",
    mechanism="pids_taken",
    targets=TargetRule("node", machines_of_users),
    level="hard",
)
def node_pids_taken_by_neighbour(
    target: MachinesTarget,
    place: str = drawn(elsewhere(PLACES), published="netops-lab"),
    askers: tuple[str, str] = drawn(two_of("askers", ASKERS), published=("ups-readout", "printer-poll")),
    kind: str = drawn(one_of(*KINDS), published="deployments.apps"),
    slip: str = drawn(one_of(*SLIPS), published="-no-reap"),
    watch: str = drawn(one_of(*WATCHES), published=""),
    bound: int = drawn(one_of(*BOUNDS), published=32_768),
    net: str = drawn(one_of(*NETS), published="10.66.0"),
    devices: int = drawn(one_of(40, 48, 56, 64, 80), published=64),
    every: int = drawn(one_of(4, 5, 6), published=5),
) -> Fault:
    """Jobs of another team leave processes behind on a machine, until it has no numbers left for others.

    They are zombies of which nobody asks how they have ended, or scripts that go on for ever and are started again and again: they
    need neither CPU nor memory. Where the kubelet watches its process numbers (``watch``) the node says PIDPressure, takes no pods and
    evicts those of others, for theirs is critical; where it does not, the node is well, and nothing new starts there: no pod, no
    container, no command of a probe or of ``kubectl exec``. Beside it a program of the same kind leaves nothing behind. To restart the
    one is a respite, and a higher ``kernel.pid_max`` a longer one.
    """
    node = target.nodes[0]
    greedy, modest = (ObjectRef(kind, name, place) for name in askers)
    good = ["-quiet", "/etc/jobs/crontab"]
    bad = ["-quiet", slip, "/etc/jobs/crontab"]
    each = devices * 2 + 1 if slip == "-overlapping" else devices
    rate = each / every
    argument = "/spec/template/spec/containers/0/args"
    what, then = _told(target, node, watch)
    return Fault(
        resource=greedy,
        cause=f"The {kind_of(kind)} {greedy.name} in namespace {place}, on node {node}, runs its jobs with {slip} and leaves {each} processes behind "
        f"every {every} seconds ({_left(slip)}), so that {node} has none of its {bound} process IDs (kernel.pid_max) left: {what}, and "
        f"{', '.join(target.components)}, bound to that node, {then}.",
        earlier=[
            *tied(target, node),
            *_limited(target, bound),
            *_watching(target, watch),
            Create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}}),
            *(Create(made) for made in _asker(greedy, good, node, _script(slip, devices, net), every)),
            *(Create(made) for made in _asker(modest, good, node, _script(slip, MODEST, net), every)),
            AwaitRollout(greedy),
            AwaitRollout(modest),
            Elapse(600.0),
        ],
        edits=[JsonPatch(greedy, argument, bad)],
        trigger=[] if watch else [RecreatePods(name) for name in target.components],
        matures=float(round((bound - _wanted(watch, bound)) / rate + 60.0)),
        grows=True,
        details={"field": slip, "wrong": "set", "right": "not set"},
        facts={"node": node, "asker": greedy.name, "elsewhere": place, "bound": str(bound)},
        remedies=[
            [put(greedy, argument, good), await_rollout(greedy), *_over(watch), *revive(target)],
            [delete(greedy), f"kubectl wait --for=delete pod -l app={greedy.name} -n {place} --timeout=90s", *_over(watch), *revive(target)],
        ],
        look=[
            f"kubectl describe node {node}",
            f"ssh {node} 'cat /proc/loadavg; sysctl kernel.pid_max; ps -eo ppid= | sort | uniq -c | sort -rn | head -n 3'",
f"ssh {node} 'grep . /sys/fs/cgroup/kubepods.slice/*/*/pids.current | sort -t : -k 2 -n | tail -n 3'",
            f"kubectl get {kind_of(kind).lower()} {greedy.name} {modest.name} -n {place} -o yaml",
        ],
        accepts=[greedy],
        empties=[node],
        aliases=[node, greedy.name, place, "PIDPressure", "pid_max", "zombie", "defunct"],
        cured=[_Spared(modest, tuple(good)), _Left()],
    )  # fmt: skip


def _told(target: MachinesTarget, node: str, watch: str) -> tuple[str, str]:
    """What becomes of the machine, and of who is bound to it."""
    if watch:
        return (
            f"its kubelet (pid.available {watch}) reports PIDPressure and evicts the pods of others",
            "cannot be scheduled",
        )
    return (
        "nothing can be started there (fork/exec: resource temporarily unavailable)",
        "cannot be started again",
    )


def _left(slip: str) -> str:
    if slip == "-no-reap":
        return "zombies for which its first process never waits"
    return "a job that goes on for ever is started anew whenever it is due"


def _wanted(watch: str, bound: int) -> int:
    """Process numbers that are free at least when it bites."""
    if watch.endswith("%"):
        return bound * whole(watch[:-1], 0) // 100
    return whole(watch, 0)


def _over(watch: str) -> list[str]:
    return [OVER] if watch else ["sleep 30"]


def _names(target: MachinesTarget) -> list[str]:
    return [machine["metadata"]["name"] for machine in target.inventory.machines]


def _limited(target: MachinesTarget, bound: int) -> list[Edit]:
    """All machines of the cluster come with that many numbers."""
    # Some machines have such a file already.
    line, file = f"kernel.pid_max = {bound}", "/etc/sysctl.d/60-kernel.conf"
    said = f"echo '{line}' >> {file} && sysctl -q -p {file}"
    back = f"sed -i '/^{line}$/d' {file}; [ -s {file} ] || rm -f {file}; sysctl -q -w kernel.pid_max=4194304"
    return [OnMachine(name, said, back) for name in _names(target)]


def _watching(target: MachinesTarget, watch: str) -> list[Edit]:
    """All kubelets of the cluster want so many free."""
    if not watch:
        return []
    line = f'  pid.available: "{watch}"'
    said = (
        f"grep -q '^evictionHard:' {CONFIG} && sed -i 's/^evictionHard:$/&\\n{line}/' {CONFIG} || "
        f"printf 'evictionHard:\\n  imagefs.available: 15%%\\n  memory.available: 100Mi\\n  nodefs.available: 10%%\\n{line.replace('%', '%%')}\\n' >> {CONFIG}; "
        "systemctl restart kubelet"
    )
    back = f"sed -i '/pid.available/d' {CONFIG}; systemctl restart kubelet"
    return [OnMachine(name, said, back) for name in _names(target)]


def _script(slip: str, devices: int, net: str) -> str:
    """A job that asks every device how it is."""
    if slip == "-no-reap":
        return (
            "#!/bin/sh\n# One question to each of them; who answers late is not waited for.\n"
            f"for i in $(seq 1 {devices}); do\n"
            f'  (curl -s -m 20 -o "/tmp/$i.json" "http://{net}.$i/status" &)\ndone\n'
        )
    return (
        "#!/bin/sh\n# Asks each of them every half minute, and goes on until it is stopped.\n"
        f"for i in $(seq 1 {devices}); do\n"
        f'  while sleep 30; do curl -s -m 20 -o "/tmp/$i.json" "http://{net}.$i/status"; done &\ndone\nwait\n'
    )


def _asker(
    workload: ObjectRef, arguments: list[str], node: str, script: str, every: int
) -> Iterator[Manifest]:
    """A job runner of one machine, and its jobs."""
    metadata = {"name": workload.name, "namespace": workload.namespace, "labels": {"app": workload.name}}
    crontab = f"*/{every} * * * * * * /bin/sh /etc/jobs/ask.sh\n"
    yield {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"crontab": crontab, "ask.sh": script},
    }
    container = {
        "name": "jobs",
        "image": "dyrnq/supercronic:v0.2.41",
        "args": arguments,
        "resources": {"requests": {"cpu": "10m", "memory": "48Mi"}},
        "volumeMounts": [{"name": "jobs", "mountPath": "/etc/jobs"}],
    }
    yield neighbour(workload, node, container, {"name": "jobs", "configMap": {"name": workload.name}})
