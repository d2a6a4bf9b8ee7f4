"""A machine whose disk another team's program fills, to a path of the machine itself: the kubelet evicts whoever else is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import (
    AwaitRollout,
    Create,
    Elapse,
    JsonPatch,
    ObjectRef,
    OnMachine,
)
from sregym_env.cluster.targets import MachinesTarget, TargetRule, kind_of
from sregym_env.errors import ClusterError
from sregym_env.faults.choices import elsewhere, one_of, two_of
from sregym_env.faults.commands import await_rollout, delete, named, put, revive
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.faults.machines import machines_of_users, neighbour, pressed, tied
from sregym_env.kube.quantity import bytes_
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.numbers import whole

PLACES = (
    "media-lab", "encoder-qa", "broadcast-qa", "stream-lab", "video-qa", "playout", "transcode-lab", "ott-staging", "studio-qa",
)  # fmt: skip
"""Namespaces of a team that works with video."""
WRITERS = (
    "encoder-soak", "ladder-test", "channel-recorder", "contribution-feed", "uplink-record", "hdr-soak", "mezzanine-capture",
    "codec-compare", "playout-monitor", "feed-archive", "multiview-record", "loudness-check",
)  # fmt: skip
ROOTS = (
    "/var/lib/{place}",
    "/srv/{place}",
    "/data/{place}",
    "/opt/{place}",
    "/var/spool/{place}",
    "/mnt/{place}",
)
KINDS = ("deployments.apps", "deployments.apps", "daemonsets.apps")
SLIPS = ("unset", "dated", "count")
"""How a bound gets lost: the wrap is gone; files are named after the time, which nothing wraps; more of
them are kept than there is room for. One file that never ends would empty the disk itself: who starts anew writes over it."""
LENGTHS = (20, 30, 60)
"""Seconds of a segment."""
MODEST, MODEST_LENGTH = "4M", 1200
"""What the other program makes, and seconds of its segments: as large as those of the first."""
SHARE = 0.58
"""Of a disk: what has to be written at most until its kubelet is alarmed."""
LOOK, STEPS, PATIENCE = 1200.0, 3, 12
"""Seconds between two looks at the disks, how many there are at least (who starts anew writes over what he wrote before), and how
many while one still fills."""
FREE = 0.14
"""Of a disk: what has to be free, a little less than what a kubelet wants that is told nothing."""
SLACK = 64 << 20
"""Bytes by which a disk that does not fill may hold more from one row of looks to the next."""
LASTS = 30 * 86_400.0
"""Seconds for which what grows on has to find room."""
OVER = "sleep 340"
"""Until a kubelet says that a disk has room again."""


@dataclass(frozen=True, slots=True)
class _Room:
    """Whether no machine's disk is short, and none fills."""

    def __call__(self, world: World) -> Finding:
        expected = "no machine's disk is short, or will be"
        wrong: dict[str, str] = {}
        before = dict(_disks(world))
        for step in range(1, PATIENCE + 1):
            wrong = {
                **_full(dict(_disks(world))),
                **dict.fromkeys(pressed(world, "DiskPressure"), "DiskPressure"),
            }
            if wrong:
                break
            world.advance(LOOK)
            if step % STEPS:
                continue
            now = dict(_disks(world))
            wrong = {node: "it fills" for node in now if _fills(before.get(node), now[node])}
            if not wrong:
                break
            before = now
        told = ", ".join(f"{node}: {what}" for node, what in wrong.items())
        return Finding("disk", not wrong, told or "all have room", expected)


def _full(disks: Mapping[str, tuple[int, int]]) -> dict[str, str]:
    """The machines whose disks are as good as full, whatever their kubelets have been told to make of that."""
    return {node: "it is full" for node, (used, left) in disks.items() if left < FREE * (used + left)}


def _fills(before: tuple[int, int] | None, now: tuple[int, int]) -> bool:
    """Whether a disk, (bytes used, bytes available) before and now, goes on as if it had no end."""
    growth = 0 if before is None else now[0] - before[0]
    return growth > SLACK and growth / (LOOK * STEPS) * LASTS > now[1]


def _disks(world: World) -> Iterator[tuple[str, tuple[int, int]]]:
    """(machine, (bytes used, bytes available)) of the machines that answer."""
    for node in world.cluster.list("nodes"):
        name = node["metadata"]["name"]
        try:
            cells = world.nodes.run(name, "df -k / | tail -n 1").stdout.split()
        except ClusterError:
            continue
        if len(cells) > 3:
            yield name, (whole(cells[2], 0) * 1024, whole(cells[3], 0) * 1024)


@dataclass(frozen=True, slots=True)
class _Spared:
    """Whether the program beside it, which keeps within bounds, runs on as it was told to and has what it has recorded."""

    workload: ObjectRef
    node: str
    folder: str
    files: int
    arguments: tuple[str, ...]

    def __call__(self, world: World) -> Finding:
        where, expected = self.workload, f"{self.workload.name} runs and has its {self.files} recordings"
        try:
            found = world.cluster.get(where.resource, where.name, where.namespace)
        except StatusError as error:
            return Finding("neighbour", False, str(error), expected)
        status, container = found.get("status") or {}, found["spec"]["template"]["spec"]["containers"][0]
        if tuple(container.get("args") or ()) != self.arguments:
            return Finding("neighbour", False, "it has been told to record otherwise", expected)
        if not (status.get("readyReplicas") or status.get("numberReady")):
            return Finding("neighbour", False, "it does not run", expected)
        try:
            said = world.nodes.run(self.node, f"ls {self.folder} | wc -l").stdout.strip()
        except ClusterError as error:
            said = str(error)
        kept = whole(said, 0)
        return Finding("neighbour", kept >= self.files, f"it has {kept}", expected)


@fault(
    layer="node",
    mechanism="disk_filled",
    targets=TargetRule("node", machines_of_users),
    level="hard",
)
def node_disk_filled_by_neighbour(
    target: MachinesTarget,
    place: str = drawn(elsewhere(PLACES), published="media-lab"),
    writers: tuple[str, str] = drawn(
        two_of("writers", WRITERS), published=("encoder-soak", "channel-recorder")
    ),
    kind: str = drawn(one_of(*KINDS), published="deployments.apps"),
    root: str = drawn(one_of(*ROOTS), published="/var/lib/{place}"),
    slip: str = drawn(one_of(*SLIPS), published="unset"),
    rate: int = drawn(one_of(120, 140, 160, 180, 200), published=160),
    length: int = drawn(one_of(*LENGTHS), published=60),
    right: int = drawn(one_of(3, 4, 5), published=5),
    kept: int = drawn(one_of(10, 12, 14, 16), published=12),
) -> Fault:
    """A program of another team records without a bound into a directory of a machine, until its disk is full and the kubelet evicts.

    What lies in a path of the machine is no pod's, so it is others who are evicted. The machine says DiskPressure and takes no pods:
    who is bound to it, by a volume or a nodeSelector, has nowhere to run. Beside it a program of the same kind keeps within its
    bounds since its second revision, and has ``kept`` recordings. To stop the writer leaves the disk full, and to remove its files lets it fill again.
    """
    node = target.nodes[0]
    greedy, modest = (ObjectRef(kind, name, place) for name in writers)
    above = root.format(place=place)
    folder, beside = f"{above}/{greedy.name}", f"{above}/{modest.name}"
    good = _arguments(f"{rate}M", length, right, greedy.name)
    bad, field, wrong, meant = _slipped(slip, good)
    bounded = _arguments(MODEST, MODEST_LENGTH, kept, modest.name)
    argument = "/spec/template/spec/containers/0/args"
    return Fault(
        resource=greedy,
        cause=f"The {kind_of(kind)} {greedy.name} in namespace {place} records {rate} Mbit/s into the hostPath {folder} of node {node} and removes "
        f"nothing ({field} {wrong}, {meant} before), so the root disk of {node} is full: its kubelet reports DiskPressure and evicts the pods of "
        f"others, and {', '.join(target.components)}, bound to that node, cannot be scheduled.",
        earlier=[
            *tied(target, node),
            Create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}}),
            OnMachine(node, f"mkdir -p {folder}", f"rm -rf {above}"),
            Create(_recorder(greedy, folder, good, node)),
            Create(_recorder(modest, beside, _slipped("dated", bounded)[0], node)),
            AwaitRollout(greedy),
            AwaitRollout(modest),
            JsonPatch(modest, argument, bounded),
            AwaitRollout(modest),
            Elapse(float(MODEST_LENGTH * (kept + 1))),
        ],
        edits=[JsonPatch(greedy, argument, bad)],
        matures=float(round(SHARE * _capacity(target, node) / (rate * 125_000) + 300.0)),
        grows=True,
        details={"field": field, "wrong": wrong, "right": meant},
        facts={"node": node, "writer": greedy.name, "elsewhere": place, "folder": folder},
        remedies=[
            [put(greedy, argument, good), await_rollout(greedy), *_emptied(node, folder), *revive(target)],
            [delete(greedy), f"kubectl wait --for=delete pod -l app={greedy.name} -n {place} --timeout=90s", *_emptied(node, folder), *revive(target)],
        ],
        look=[
            f"kubectl describe node {node}",
            f"ssh {node} 'df -h /; du -sh {above}/* /var/lib/* 2>/dev/null | sort -h | tail -n 5'",
            f"kubectl get pods -A -o wide --field-selector spec.nodeName={node}",
            f"kubectl get {named(greedy).replace('/', ' ')} {modest.name} -n {place} -o yaml",
        ],
        accepts=[greedy],
        empties=[node],
        aliases=[node, greedy.name, place, folder, "DiskPressure"],
        cured=[_Spared(modest, node, beside, kept, tuple(bounded)), _Room()],
    )  # fmt: skip


def _capacity(target: MachinesTarget, node: str) -> int:
    """Bytes of the machine's disk."""
    for machine in target.inventory.machines:
        if machine["metadata"]["name"] == node:
            capacity = (machine.get("status") or {}).get("capacity") or {}
            return int(bytes_(str(capacity.get("ephemeral-storage", "100Gi"))))
    return 100 << 30


def _arguments(rate: str, length: int, wrap: int, name: str) -> list[str]:
    return [
        "-hide_banner", "-nostdin", "-re", "-f", "lavfi", "-i", "testsrc2=size=3840x2160:rate=25", "-c:v", "libx264", "-b:v", rate,
        "-f", "segment", "-segment_time", str(length), "-segment_wrap", str(wrap), f"/out/{name}-%03d.ts",
    ]  # fmt: skip


def _slipped(slip: str, good: list[str]) -> tuple[list[str], str, str, str]:
    """The arguments without a bound: and which option is wrong, its value, and the one that was meant."""
    if slip == "dated":
        stem = good[-1].removesuffix("-%03d.ts")
        return [*good[:-1], "-strftime", "1", f"{stem}-%Y%m%d-%H%M%S.ts"], "-strftime", "1", "0"
    option = "-segment_wrap"
    at = good.index(option)
    if slip == "unset":
        return [*good[:at], *good[at + 2 :]], option, "unset", good[at + 1]
    wrong = str(int(good[at + 1]) * 1000)
    return [*good[: at + 1], wrong, *good[at + 2 :]], option, wrong, good[at + 1]


def _emptied(node: str, folder: str) -> list[str]:
    """Whatever lies there goes: what is open still is written on, and closed within a minute."""
    return [f"ssh {node} 'rm -f {folder}/*'", OVER]


def _recorder(workload: ObjectRef, folder: str, arguments: list[str], node: str) -> Manifest:
    """A recorder of one machine."""
    container = {
        "name": "ffmpeg",
        "image": "jrottenberg/ffmpeg:7.1-ubuntu2404",
        "args": arguments,
        "resources": {"requests": {"cpu": "20m", "memory": "96Mi"}},
        "volumeMounts": [{"name": "out", "mountPath": "/out"}],
    }
    volume = {"name": "out", "hostPath": {"path": folder, "type": "DirectoryOrCreate"}}
    return neighbour(workload, node, container, volume)
