"""What lies on a machine's disk because of what runs there, and since when each of its files is there.

Manifests of static pods, the kubelet and its access to the API, the logs of containers. They are found when somebody
looks; what was written over them or removed (``world.volumes``) stays as it was left.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime import bulk, effort
from sregym_env.runtime.clock import DAY, HOUR, MINUTE, SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.shell.files import (
    DirectoryEntry,
    Entry,
    FileEntry,
    Files,
    GrowingEntry,
    SymlinkEntry,
    encoded,
)
from sregym_env.sim.containers import node_files
from sregym_env.sim.network import pki
from sregym_env.sim.processes import lifecycle
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.machine import commands, kubelet_unit, runtime
from sregym_env.sim.programs.machine.commands import LINE_EFFORT, kubelet_version
from sregym_env.sim.world import SimWorld, wallclock
from sregym_env.sim.world.logs import Line, single, stamps

PODS, CONTAINERS, MANIFESTS = "var/log/pods", "var/log/containers", "etc/kubernetes/manifests"
"""Where a kubelet keeps logs and links to them, and from where it takes static pods, below the root."""
KUBELET, CONF, AUTHORITY = "usr/bin/kubelet", "etc/kubernetes/kubelet.conf", "etc/kubernetes/pki/ca.crt"

_PRIVATE = (f"{MANIFESTS}/", CONF)
"""What nobody but root may read."""
_STAY = ("proc/", "sys/", "usr/bin/")
"""Below these everything has a time already: of the kernel's files, that at which somebody looks."""
_SIZE = 77_406_000
"""Bytes of a kubelet, about."""
_BUILT = {
    "v1.32.0": 20_068,
    "v1.32.1": 20_103,
    "v1.32.2": 20_131,
    "v1.32.3": 20_158,
    "v1.32.4": 20_200,
    "v1.32.5": 20_223,
}
"""When releases were built, days since the Unix epoch: what comes in a package bears the time of its build."""
_BUILDS_APART = 30
_SMALL = 20_000
"""Bytes up to which a log is read to know its size."""


def lay(
    ctx: ProcessContext, tree: Files, root: str, below: str = "", tools: frozenset[str] = frozenset()
) -> None:
    """Put these files into a tree that shows a directory of the machine at ``root``, and give all that is there its time.

    ``tools`` are the names of commands that the machine has.
    """
    ctx.unnoted()
    prefix = f"{below.strip('/')}/" if below.strip("/") else ""
    times = _Times(ctx)
    written = node_files.written_below(ctx.world, ctx.process.node, "")
    tree.add_entries(
        {
            f"{root}/{path[len(prefix) :]}": entry
            for path, entry in _entries(ctx, prefix, times, tools).items()
            if path.startswith(prefix) and path not in written
        }
    )
    tree.restamp(root or "/", lambda path, entry: times.stamped(f"{prefix}{path}", entry))


def _entries(ctx: ProcessContext, prefix: str, times: _Times, tools: frozenset[str]) -> dict[str, Entry]:
    """Files and links by their path below the machine's root: all that may lie below a directory."""
    found: dict[str, Entry] = {}
    if _meet(prefix, "etc/kubernetes"):
        found |= _of_kubernetes(ctx.world, ctx.process.node, times)
    if _meet(prefix, "etc"):
        found["etc/machine-id"] = FileEntry(
            f"{kubelet_unit.machine_id(ctx.world, ctx.process.node)}\n".encode(), 0o444
        )
    if _meet(prefix, "usr/bin"):
        found.update(_binaries(tools, kubelet_version(ctx.world, ctx.process.node), times.system))
    if _meet(prefix, "var/log"):
        found |= _logs(ctx, times)
        found |= _of_syslog(ctx, times)
    return found


def _meet(prefix: str, place: str) -> bool:
    """Whether one of two directories holds the other."""
    return f"{place}/".startswith(prefix) or prefix.startswith(f"{place}/")


@lru_cache(maxsize=64)
def _binaries(tools: frozenset[str], version: str, system: int) -> tuple[tuple[str, FileEntry], ...]:
    """Programs by path: of their bytes nobody needs to know more than how many they are."""
    sizes = {f"usr/bin/{name}": 18_000 + keyed_bits("binary", name) % 180_000 // 8 * 8 for name in tools}
    sizes[KUBELET] = _SIZE + keyed_bits("binary", version) % 90_000 // 4 * 4
    times = {path: built(version) if path == KUBELET else system for path in sizes}
    return tuple(
        (path, FileEntry(encoded(bulk.text(size, times[path])), 0o755, times[path] / SECOND))
        for path, size in sorted(sizes.items())
    )


def built(version: str) -> int:
    """When a release of Kubernetes was built, microseconds."""
    known = _BUILT.get(version)
    if known is None:
        patch = version.rpartition(".")[2]
        known = _BUILT["v1.32.5"] + _BUILDS_APART * max(int(patch) - 5, 1) if patch.isdecimal() else 20_131
    return known * DAY + keyed_bits("built", version) % (8 * HOUR // SECOND) * SECOND + 12 * HOUR


# --- the kubelet's files --------------------------------------------------------------------------------


def _of_kubernetes(world: SimWorld, node: str, times: _Times) -> dict[str, Entry]:
    """What kubeadm has written: access to the API, and on a control plane the manifests of its pods."""
    authority, plan = pki.authority(world.plan), world.plan
    access = _access(authority, plan.endpoint, plan.cluster_name)
    found: dict[str, Entry] = {CONF: FileEntry(access), AUTHORITY: FileEntry(authority.encode())}
    for pod in world.runtime.values():
        static = getattr(pod, "static", None)
        if static is not None and static["spec"].get("nodeName") == node:
            name = static["metadata"]["name"].removesuffix(f"-{node}")
            path = f"{MANIFESTS}/{name}.yaml"
            found[path] = GrowingEntry(
                partial(_declared, static, name),
                partial(_length, static, name),
                partial(times.seconds, path),
                0o600,
            )
    return found


def _length(static: Manifest, name: str) -> int:
    return len(_declared(static, name))


@lru_cache(maxsize=64)
def _access(authority: str, endpoint: str, name: str) -> bytes:
    """The kubelet's kubeconfig, by which it is known by a certificate that it renews itself."""
    identity = "/var/lib/kubelet/pki/kubelet-client-current.pem"
    cluster = {
        "certificate-authority-data": b64encode(authority.encode()).decode(),
        "server": f"https://{endpoint}:6443",
    }
    return node_files.written(
        {
            "apiVersion": "v1",
            "clusters": [{"cluster": cluster, "name": name}],
            "contexts": [
                {"context": {"cluster": name, "user": "default-auth"}, "name": f"default-auth@{name}"}
            ],
            "current-context": f"default-auth@{name}",
            "kind": "Config",
            "preferences": {},
            "users": [
                {
                    "name": "default-auth",
                    "user": {"client-certificate": identity, "client-key": identity},
                }
            ],
        }
    ).encode()


_FILLED_IN = frozenset(
    """nodeName schedulerName dnsPolicy restartPolicy terminationGracePeriodSeconds enableServiceLinks preemptionPolicy
    tolerations serviceAccount serviceAccountName terminationMessagePath terminationMessagePolicy""".split()
)
"""Fields of a pod that the cluster fills in where a manifest says nothing."""


def _declared(static: Manifest, name: str) -> str:
    """A static pod as its file declares it: without what the kubelet and the API server have added."""
    metadata = static["metadata"]
    notes = {
        key: text
        for key, text in (metadata.get("annotations") or {}).items()
        if not key.startswith("kubernetes.io/config.")
    }
    own: Manifest = {"labels": _plain(metadata.get("labels") or {}), "name": name}
    own["namespace"] = metadata["namespace"]
    if notes:
        own["annotations"] = notes
    spec = _plain(static["spec"])
    whole = {"apiVersion": "v1", "kind": "Pod", "metadata": own, "spec": spec, "status": {}}
    return node_files.written(whole)


def _plain(value: Any) -> Any:
    """Plain mappings and lists, without fields that are filled in."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items() if key not in _FILLED_IN}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


# --- logs of containers ---------------------------------------------------------------------------------


def _logs(ctx: ProcessContext, times: _Times) -> dict[str, Entry]:
    """The log of every run of a container that its machine still knows, and the links to them."""
    found: dict[str, Entry] = {}
    for pod, status, running, identity, made in runtime.containers(ctx):
        metadata, name = pod["metadata"], status["name"]
        number = runtime.attempt_of(status, running, identity)
        folder = f"{PODS}/{metadata['namespace']}_{metadata['name']}_{metadata['uid']}"
        path = f"{folder}/{name}/{number}.log"
        found[path] = _log(ctx.world, ctx.process.node, (metadata["uid"], name), number, made)
        link = f"{CONTAINERS}/{metadata['name']}_{metadata['namespace']}_{name}-{identity}.log"
        found[link] = SymlinkEntry(f"/{path}")
        begun = parse_rfc3339((pod.get("status") or {}).get("startTime") or metadata["creationTimestamp"])
        times.note(link, made)
        times.note(folder, begun)
        times.note(f"{folder}/{name}", made)
        times.note(PODS, begun)
        times.note(CONTAINERS, made)
    return found


_SYSLOGS = {"Ubuntu": ("syslog", "kern.log"), "Rocky": ("messages", ""), "Amazon": ("messages", "")}
"""Where systems that have a syslog daemon beside the journal keep all that is said, and what their kernel says; others have none."""
_RECORDS = {"wtmp": 3072, "btmp": 384, "lastlog": 292_292}
"""Bytes of what is noted of logins."""


def _of_syslog(ctx: ProcessContext, times: _Times) -> dict[str, Entry]:
    """What a machine's daemons and its kernel have said, in the journal and where there is a syslog."""
    world, node = ctx.world, ctx.process.node
    found: dict[str, Entry] = {}
    for name, size in _RECORDS.items():
        when = kubelet_unit.booted(world, node) if name == "wtmp" else times.system
        found[f"var/log/{name}"] = FileEntry(encoded(bulk.text(size, when)), 0o664, when / SECOND)
    journal = f"var/log/journal/{kubelet_unit.machine_id(world, node)}/system.journal"
    found[journal] = FileEntry(encoded(bulk.text(_JOURNAL, world.clock)), 0o640, world.clock / SECOND)
    every, kernel = _SYSLOGS.get(node_files.setup(world, node).os_image.partition(" ")[0], ("", ""))
    for path, alone in ((every, False), (kernel, True)):
        if path:
            text = partial(commands.syslog, ctx, kernel=alone)
            found[f"var/log/{path}"] = GrowingEntry(
                text, partial(_bytes, text), partial(_written_now, world, node), 0o640
            )
    return found


_JOURNAL = 48 << 20
"""Bytes of a journal, about."""


def _bytes(text: Callable[[], str]) -> int:
    return len(text().encode())


def _written_now(world: SimWorld, node: str) -> float:
    return wallclock.shown(world, node, world.clock) / SECOND


def _log(world: SimWorld, node: str, key: tuple[str, str], number: int, made: int) -> GrowingEntry:
    """One log as the runtime writes it: each line with its time and stream."""
    return GrowingEntry(
        partial(_text, world, node, key, number),
        partial(_size, world, node, key, number),
        partial(_last_written, world, node, key, number, made),
    )


def _lines(world: SimWorld, node: str, key: tuple[str, str], number: int) -> list[Line]:
    log = world.logs.get((*key, number))
    shown = wallclock.reader(world, node)
    lines = [] if log is None else log.read(world.clock, shown=shown)
    process = world.processes.get(key)
    if process is not None and process.restart == number:
        lines = [*lines, *lifecycle.live_lines(world, key, since=0, limit=None)]
    found = list(single(lines))
    effort.spend(LINE_EFFORT * len(found))
    return found


def _text(world: SimWorld, node: str, key: tuple[str, str], number: int) -> str:
    lines = _lines(world, node, key, number)
    said = stamps(lines, wallclock.reader(world, node))
    return "".join(f"{stamp} stdout F {line.text}\n" for stamp, line in zip(said, lines, strict=True))


def _size(world: SimWorld, node: str, key: tuple[str, str], number: int) -> int:
    log = world.logs.get((*key, number))
    size = 0 if log is None else log.size(world.clock)
    return size if size > _SMALL else len(_text(world, node, key, number).encode())


def _last_written(world: SimWorld, node: str, key: tuple[str, str], number: int, made: int) -> float:
    log = world.logs.get((*key, number))
    last = None if log is None else next(log.before(world.clock + 1), None)
    time = made if last is None else max(made, last.time)
    return wallclock.shown(world, node, time) / SECOND


# --- since when they are there --------------------------------------------------------------------------


class _Times:
    """When the files of a machine were written last, as its clock tells it."""

    __slots__ = ("_booted", "_made", "_node", "_noted", "_world", "_written", "system")

    def __init__(self, ctx: ProcessContext) -> None:
        world, node = ctx.world, ctx.process.node
        self._world, self._node = world, node
        self._booted = kubelet_unit.booted(world, node)
        found = world.store.get("nodes", "", node)
        self._made = (
            world.plan.born if found is None else parse_rfc3339(found["metadata"]["creationTimestamp"])
        )
        image = node_files.setup(world, node).os_image
        self.system = world.plan.born - (12 + keyed_bits("system", world.plan.key, image) % 120) * DAY
        """When the machine's system was built."""
        self.system += keyed_bits("build", world.plan.key, image) % 86_400 * SECOND
        self._noted: dict[str, int] = {}
        self._written = node_files.times(world, node)

    def note(self, path: str, time: int) -> None:
        """Something has come about at a path: the last time counts."""
        self._noted[path] = max(time, self._noted.get(path, 0))

    def stamped(self, path: str, entry: Entry) -> Entry:
        """An entry with its time, and with the permissions that such files have."""
        if path.startswith(_STAY) or (
            isinstance(entry, FileEntry) and bulk.written(entry.content) is not None
        ):
            return entry
        folder = isinstance(entry, DirectoryEntry)
        at = self.seconds(path, folder=folder)
        if isinstance(entry, DirectoryEntry):
            return DirectoryEntry(0o1777 if path == "tmp" else entry.mode, at)
        if isinstance(entry, SymlinkEntry):
            return SymlinkEntry(entry.target, entry.mode, at)
        return FileEntry(entry.content, 0o600 if path.startswith(_PRIVATE) else entry.mode, at)

    def seconds(self, path: str, *, folder: bool = False) -> float:
        """When what is at a path was written last, Unix seconds by the machine's clock."""
        return wallclock.shown(self._world, self._node, self._of(path, folder=folder)) / SECOND

    def _of(self, path: str, *, folder: bool) -> int:
        known = self._written.get(path, self._noted.get(path))
        if known is not None:
            return known
        jitter = keyed_bits("file", self._node, path) % (9 * SECOND)
        if path.startswith(("tmp", "run", "dev", "proc", "sys")) or path in ("etc/resolv.conf", "var/log"):
            return self._booted + jitter
        if path == node_files.CONFIG:
            return self._configured(jitter)
        if path.startswith("lib/systemd/system/kubelet.service"):
            return built(kubelet_version(self._world, self._node))
        for place, after in _AFTER.items():
            if path == place or (place not in _SHALLOW and not folder and path.startswith(f"{place}/")):
                return self._made + after + jitter
        return self.system

    def _configured(self, jitter: int) -> int:
        """When somebody has written the kubelet's configuration last: kubeadm, whoever has rolled it out to all machines
        since, or somebody who looked after this one alone."""
        plan = self._world.plan
        joined = self._made + _JOINED + jitter
        if not plan.key:
            return joined
        bits, own = keyed_bits("configured", plan.key), keyed_bits("configured", plan.key, self._node)
        rolled = plan.present - (HOUR + (bits >> 8) % (30 * DAY // SECOND) * SECOND)
        if bits % 10 < 4:
            joined = max(joined, rolled + own % (6 * MINUTE))
        if own % 9 == 0:
            joined = max(joined, plan.present - (HOUR + (own >> 8) % (12 * DAY // SECOND) * SECOND))
        return joined


_JOINED = -14 * SECOND
_AFTER: Mapping[str, int] = {
    "etc/sysctl.d": -72 * SECOND, "etc/modules-load.d": -72 * SECOND,
    "etc/hostname": -95 * SECOND, "etc/hosts": -95 * SECOND, "etc/machine-id": -95 * SECOND, "etc/containerd": -70 * SECOND, "etc/default/kubelet": -52 * SECOND,
    "etc/default": -52 * SECOND, "etc/kubernetes/pki": -24 * SECOND, "etc/kubernetes/manifests": -18 * SECOND,
    "etc/kubernetes": -12 * SECOND, "var/lib/kubelet/pods": SECOND, "var/lib/kubelet": _JOINED, "var/lib/calico": 40 * SECOND,
    "etc/cni/net.d": 40 * SECOND, "etc/cni": -60 * SECOND, "var/lib": -60 * SECOND, "var/lib/containerd": -60 * SECOND, "etc": -12 * SECOND,
}  # fmt: skip
"""How long after a machine's node is known its parts are there."""
_SHALLOW = frozenset(("etc", "etc/default", "var/lib"))
"""Directories of which that says nothing about what is in them."""

__all__ = ["AUTHORITY", "CONF", "CONTAINERS", "KUBELET", "MANIFESTS", "PODS", "built", "lay"]
