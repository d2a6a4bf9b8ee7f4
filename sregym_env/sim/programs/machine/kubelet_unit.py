"""The kubelet as a unit of its machine: whether it runs, by which settings, and what becomes of it when it is started.

It reads its files when it starts, and only then. With settings that it does not understand it ends at once, and systemd starts
it again every ten seconds, so that it comes up by itself once they are right. What the cluster makes of it is for
``sim/machines``, which is told through events.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from sregym_env.cluster.disturbances import KubeletSetting
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.types import Json
from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.sim.containers.node_files import CONFIG, EXTRA, FLAGS, put, text_of, written
from sregym_env.sim.programs.yaml_files import document
from sregym_env.sim.world import SimWorld

OFF = "machine.off:"
"""``world.memory`` key of a machine without power."""
FOLLOW, RETRY, REBOOT = "machine.kubelet", "machine.retry", "machine.reboot"
"""Events: a kubelet may have started or stopped, a failed one is started again, a machine boots anew."""
RESTART_SECONDS = 10
"""``RestartSec`` of kubeadm's unit."""
AFTER_BOOT = 11 * SECOND
"""From the start of a machine's kernel to that of its kubelet."""
FIRST_BOOT = 71 * SECOND
"""From the start of a new machine's kernel until its node is known."""
FIRST_START = FIRST_BOOT - 3 * SECOND
"""From the same to the start of its kubelet."""
UNTOLD = "node.boot_untold:"
"""``world.memory`` key of machines that have booted, of which no kubelet has told yet."""
BOOTED = "node.booted:"
"""``world.memory`` key of when a machine has booted anew."""
BOOTS, BOOTS_KEPT = "node.boots:", 8
"""``world.memory`` key of when it has booted anew, and how many of these times are remembered."""
STARTUP = seconds(2.0)
"""Until a kubelet that has started says that its node is ready."""
KEPT = 8
"""Turns in a kubelet's life that the journal remembers."""

PRESSED = "disk.pressure:"
"""``world.memory`` key of when a kubelet saw its disk short last."""
CROWDED = "pids.pressure:"
"""``world.memory`` key of when a kubelet saw too few processes left last."""

_UNIT = "kubelet.unit:"
_LOADED = "kubelet.loaded:"
_BEFORE = "kubelet.before:"


@dataclass(frozen=True, slots=True)
class Turn:
    """From an instant on a kubelet runs, fails again and again, or is stopped."""

    time: int
    kind: Literal["running", "failing", "stopped"]
    complaint: str = ""
    """What it says when it fails."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What systemd knows of a machine's kubelet beside what is so from the machine's start."""

    turns: tuple[Turn, ...] = ()
    enabled: bool = True
    masked: bool = False


def of(world: SimWorld, node: str) -> Unit:
    """The unit as it is."""
    found: Unit | None = world.memory.get(f"{_UNIT}{node}")
    return found or Unit()


def off(world: SimWorld, node: str) -> bool:
    """Whether a machine has no power."""
    return f"{OFF}{node}" in world.memory


def now_is(world: SimWorld, node: str) -> Literal["running", "failing", "stopped"]:
    """How a kubelet fares."""
    turns = of(world, node).turns
    return turns[-1].kind if turns else "running"


def runs(world: SimWorld, node: str) -> bool:
    """Whether the kubelet of a machine that is on runs."""
    return now_is(world, node) == "running"


# --- what happens to it -------------------------------------------------------------------------------


def start(world: SimWorld, node: str) -> None:
    """Have it started, unless it runs."""
    if now_is(world, node) == "stopped":
        _try(world, node)


def restart(world: SimWorld, node: str) -> None:
    """Have it stopped and started."""
    _try(world, node)


def stop(world: SimWorld, node: str) -> None:
    """Have it stopped, and left so."""
    if now_is(world, node) != "stopped":
        _turn(world, node, Turn(world.clock, "stopped"))


def boots(world: SimWorld, node: str) -> tuple[int, ...]:
    """When the kernel of a machine was started anew, oldest first."""
    found: tuple[int, ...] = world.memory.get(f"{BOOTS}{node}", ())
    return found


def booted(world: SimWorld, node: str) -> int:
    """When a machine has booted last; for the first time a little before its node was known."""
    known = boots(world, node)
    return known[-1] if known else first_booted(world, node)


def first_booted(world: SimWorld, node: str) -> int:
    """When a machine has booted for the first time."""
    found = world.store.get("nodes", "", node)
    if found is None:
        return world.plan.born
    return parse_rfc3339(found["metadata"]["creationTimestamp"]) - FIRST_BOOT


def new_boot_id(world: SimWorld, node: str, since: int | None = None) -> str:
    """The kernel's identifier of a machine's present run, or of that which began at an instant, as it was when that began."""
    since = world.memory.get(f"{BOOTED}{node}") if since is None else since
    return world.plan.identity("boot", node) if since is None else world.plan.identity("boot", since, node)


def boot_ids(world: SimWorld, node: str) -> list[tuple[int, str]]:
    """(when it began, the kernel's identifier) of a machine's runs that are remembered, oldest first; the last one's is what its
    kubelet has told, once it has."""
    known = boots(world, node)
    found = [(time, new_boot_id(world, node, time)) for time in known]
    if len(known) < BOOTS_KEPT:
        found.insert(0, (first_booted(world, node), world.plan.identity("boot", node)))
    told = _told(world, node, "bootID")
    if told and f"{UNTOLD}{node}" not in world.memory:
        found[-1] = (found[-1][0], told)
    return found


def machine_id(world: SimWorld, node: str) -> str:
    """What stands in a machine's /etc/machine-id."""
    return _told(world, node, "machineID") or world.plan.identity("machine", node).replace("-", "")


def system_uuid(world: SimWorld, node: str) -> str:
    """What a machine's firmware calls it."""
    return _told(world, node, "systemUUID") or world.plan.identity("system", node)


def _told(world: SimWorld, node: str, field: str) -> str:
    found = world.store.get("nodes", "", node) or {}
    return str(((found.get("status") or {}).get("nodeInfo") or {}).get(field) or "")


def boot(world: SimWorld, node: str) -> None:
    """The machine has booted: what is enabled is started."""
    time = world.now() - AFTER_BOOT
    world.memory[f"{BOOTED}{node}"] = time
    world.memory[f"{UNTOLD}{node}"] = True
    world.memory[f"{BOOTS}{node}"] = (*boots(world, node), time)[-BOOTS_KEPT:]
    unit = of(world, node)
    if unit == Unit() and complaint(world, node) == "":
        _load(world, node)
    elif unit.enabled and not unit.masked:
        _try(world, node, delay=0)
    else:
        stop(world, node)


def mark(world: SimWorld, node: str, *, enabled: bool | None = None, masked: bool | None = None) -> None:
    """Have it started with the machine from now on, or not; or not startable at all."""
    unit = of(world, node)
    unit = replace(
        unit,
        enabled=unit.enabled if enabled is None else enabled,
        masked=unit.masked if masked is None else masked,
    )
    world.memory[f"{_UNIT}{node}"] = unit


def retry(world: SimWorld, node: str) -> bool:
    """systemd starts it again after a failure; whether anything is otherwise now."""
    turns = of(world, node).turns
    if not turns or turns[-1].kind != "failing" or turns[-1].complaint == complaint(world, node):
        return False
    _try(world, node)
    return True


def edited(world: SimWorld, node: str) -> None:
    """Somebody has written files of a machine: a kubelet that fails reads them when it is started the next time."""
    turns = of(world, node).turns
    if turns and turns[-1].kind == "failing":
        past = (world.clock - turns[-1].time) % (RESTART_SECONDS * SECOND)
        world.after(RESTART_SECONDS * SECOND - past, RETRY, node)


def _try(world: SimWorld, node: str, delay: int = STARTUP) -> None:
    text = complaint(world, node)
    _turn(world, node, Turn(world.clock, "failing" if text else "running", text))
    if not text:
        _load(world, node)
    world.after(0 if text else delay, FOLLOW, node)


def _turn(world: SimWorld, node: str, turn: Turn) -> None:
    unit = of(world, node)
    world.memory[f"{_UNIT}{node}"] = replace(unit, turns=(*unit.turns, turn)[-KEPT:])
    if turn.kind != "running":
        world.after(0, FOLLOW, node)


def _load(world: SimWorld, node: str) -> None:
    world.memory[f"{_LOADED}{node}"] = text_of(world, node, CONFIG) or ""
    # Since when there was pressure it does not remember.
    world.memory.pop(f"{PRESSED}{node}", None)
    world.memory.pop(f"{CROWDED}{node}", None)


# --- its settings -------------------------------------------------------------------------------------


def loaded_text(world: SimWorld, node: str) -> str:
    """The configuration by which a kubelet runs that has been started since its machine was made: its file as it was then."""
    return str(world.memory.get(f"{_LOADED}{node}", ""))


def give(world: SimWorld, setting: KubeletSetting) -> None:
    """Give a kubelet another setting; what was there before is remembered."""
    node = setting.node
    path = FLAGS if setting.key.startswith("--") else CONFIG
    text = text_of(world, node, path) or ""
    world.memory[f"{_BEFORE}{node}/{setting.key}"] = (path, text)
    if path == FLAGS:
        put(world, node, path, re.sub(r'"\s*$', f' {setting.key}={setting.value}"\n', text))
        return
    config: dict[str, Any] = dict(document(text) or {})
    at = config
    *outer, last = setting.key.split("/")
    for part in outer:
        at[part] = dict(at.get(part) or {})
        at = at[part]
    at[last] = setting.value
    put(world, node, path, written(config))


def take_back(world: SimWorld, setting: KubeletSetting) -> None:
    """Put the file back as it was before."""
    found = world.memory.pop(f"{_BEFORE}{setting.node}/{setting.key}", None)
    if found is not None:
        put(world, setting.node, *found)


_GATES = frozenset(
    """AllAlpha AllBeta AppArmor CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions CPUManagerPolicyOptions
    ContainerCheckpoint CrashLoopBackOffMax DisableNodeKubeProxyVersion DynamicResourceAllocation EventedPLEG
    GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HPAScaleToZero ImageMaximumGCAge ImageVolume
    InPlacePodVerticalScaling KubeletCgroupDriverFromCRI KubeletCrashLoopBackOffMax KubeletFineGrainedAuthz
    KubeletInUserNamespace KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletSeparateDiskGC KubeletTracing
    LocalStorageCapacityIsolationFSQuotaMonitoring MemoryManager MemoryQoS NodeLogQuery NodeSwap PodAndContainerStatsFromCRI
    PodLifecycleSleepAction PodReadyToStartContainersCondition ProcMountType RecursiveReadOnlyMounts
    ResourceHealthStatus RotateKubeletServerCertificate SELinuxMount SidecarContainers SizeMemoryBackedVolumes
    TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions TopologyManagerPolicyOptions
    UserNamespacesSupport WindowsHostNetwork""".split()
)
"""Features that a kubelet of v1.32 knows by name."""

_FLAGS = frozenset(
    """--address --allowed-unsafe-sysctls --anonymous-auth --application-metrics-count-limit --authentication-token-webhook
    --authorization-mode --bootstrap-kubeconfig --cert-dir --cgroup-driver --cgroup-root --client-ca-file --cloud-config
    --cloud-provider --cluster-dns --cluster-domain --config --config-dir --container-log-max-files --container-log-max-size
    --container-runtime-endpoint --cpu-manager-policy --enable-server --event-burst --event-qps --eviction-hard
    --eviction-max-pod-grace-period --eviction-minimum-reclaim --eviction-pressure-transition-period --eviction-soft
    --eviction-soft-grace-period --fail-swap-on --feature-gates --hostname-override --image-credential-provider-bin-dir
    --image-credential-provider-config --image-gc-high-threshold --image-gc-low-threshold --image-service-endpoint --keep-terminated-pod-volumes
    --kube-reserved --kubeconfig --kubelet-cgroups --log-flush-frequency --logging-format --make-iptables-util-chains
    --max-open-files --max-pods --node-ip --node-labels --node-status-update-frequency --pod-cidr --pod-infra-container-image
    --pod-manifest-path --pod-max-pids --port --protect-kernel-defaults --provider-id --read-only-port --register-node
    --register-with-taints --registry-burst --registry-qps --resolv-conf --root-dir --rotate-certificates
    --rotate-server-certificates --runtime-cgroups --seccomp-default --serialize-image-pulls --system-reserved
    --tls-cert-file --tls-cipher-suites --tls-min-version --tls-private-key-file --topology-manager-policy --v --vmodule
    --volume-plugin-dir""".split()
)  # fmt: skip
"""Flags of a kubelet of v1.32."""

_SOCKETS = ("unix:///run/containerd/containerd.sock", "unix:///var/run/containerd/containerd.sock")
_PLACE = "failed to load kubelet config file, path: /var/lib/kubelet/config.yaml, error: "


def complaint(world: SimWorld, node: str) -> str:
    """Why a kubelet that starts now with the files of its machine would end at once; empty where it would run."""
    given = _given(world, node)
    unknown = next((name for name in given if name not in _FLAGS), "")
    if unknown:
        return f"failed to parse kubelet flag: unknown flag: {unknown}"
    text = text_of(world, node, CONFIG)
    if text is None:
        lost = "open /var/lib/kubelet/config.yaml: no such file or directory"
        return f'{_PLACE}failed to read kubelet config file "/var/lib/kubelet/config.yaml", error: {lost}'
    try:
        config = document(text)
    except ValueError as error:
        mark_ = getattr(error.__cause__, "problem_mark", None)
        line = 1 if mark_ is None else mark_.line + 1
        what = getattr(error.__cause__, "problem", None) or error
        return f"{_PLACE}failed to decode: yaml: line {line}: {what}"
    if not isinstance(config, dict) or config.get("kind") != "KubeletConfiguration":
        return f"{_PLACE}failed to decode: Object 'Kind' is missing in '{text[:40].strip()}'"
    gates = config.get("featureGates") or {}
    if not isinstance(gates, dict) or any(not isinstance(value, bool) for value in gates.values()):
        return _misfit("featureGates", gates, "bool")
    endpoint = config.get("containerRuntimeEndpoint") or ""
    if not isinstance(endpoint, str):
        return _misfit("containerRuntimeEndpoint", endpoint, "string")
    for field in ("evictionHard", "evictionSoft", "systemReserved", "kubeReserved"):
        held = config.get(field) or {}
        if not isinstance(held, dict):
            return _misfit(field, held, "map[string]string")
        for value in held.values():
            if not isinstance(value, str):
                return _misfit(field, value, "string")
    foreign = next((name for name in sorted(gates) if name not in _GATES), "")
    if foreign:
        return f"failed to set feature gates from initial flags-based config: unrecognized feature gate: {foreign}"
    return _invalid(config) or _no_runtime(given, config)


def _given(world: SimWorld, node: str) -> dict[str, str]:
    """The flags that a kubelet is started with, beside those of its unit."""
    found = {}
    for path in (FLAGS, EXTRA):
        for line in (text_of(world, node, path) or "").splitlines():
            name, _, value = line.strip().partition("=")
            if name in ("KUBELET_KUBEADM_ARGS", "KUBELET_EXTRA_ARGS"):
                try:
                    words = shlex.split(value)
                except ValueError:
                    words = [value]
                for word in " ".join(words).split():
                    if word.startswith("-"):
                        flag, _, setting = word.partition("=")
                        found[f"--{flag.lstrip('-')}"] = setting
    return found


def _misfit(field: str, value: Json, wanted: str) -> str:
    kind = {bool: "bool", str: "string", int: "number", float: "number", list: "array"}.get(
        type(value), "object"
    )
    return f"{_PLACE}failed to decode: json: cannot unmarshal {kind} into Go struct field KubeletConfiguration.{field} of type {wanted}"


def _invalid(config: Mapping[str, Any]) -> str:
    high = config.get("imageGCHighThresholdPercent", 85)
    low = config.get("imageGCLowThresholdPercent", 80)
    problems = []
    if isinstance(high, int) and isinstance(low, int) and low >= high:
        problems.append(
            f"imageGCLowThresholdPercent (--image-gc-low-threshold) {low} must be less than imageGCHighThresholdPercent "
            f"(--image-gc-high-threshold) {high}"
        )
    for signal, value in (config.get("evictionHard") or {}).items():
        if signal not in SIGNALS:
            problems.append(f"unknown eviction signal {signal}")
        elif threshold(value, 100) is None:
            problems.append(f"invalid eviction threshold {value} of {signal}")
    if not problems:
        return ""
    return f"failed to validate kubelet configuration, error: invalid configuration: {problems[0]}, path: &TypeMeta{{Kind:,APIVersion:,}}"


SIGNALS = (
    "memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree",
    "containerfs.available", "containerfs.inodesFree", "pid.available",
)  # fmt: skip
"""What a kubelet may be told to watch."""

_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)(%|Ki|Mi|Gi|Ti|k|M|G|T|)\Z")
_SIZES = {
    "": 1,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
    "k": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
}


def threshold(text: str, capacity: int) -> int | None:
    """An eviction threshold as a number, of a capacity where it is a share; None where it is none."""
    found = _QUANTITY.match(text.strip())
    if found is None:
        return None
    number = float(found[1])
    if found[2] == "%":
        return int(capacity * number / 100) if 0 < number < 100 else None
    # Longer than any disk: a float that holds no such number is infinite.
    return int(min(number * _SIZES[found[2]], 2.0**62))


def _no_runtime(given: Mapping[str, str], config: Mapping[str, Any]) -> str:
    endpoint = str(
        config.get("containerRuntimeEndpoint") or given.get("--container-runtime-endpoint") or _SOCKETS[0]
    )
    if endpoint in _SOCKETS or f"unix://{endpoint}" in _SOCKETS:
        return ""
    path = endpoint.removeprefix("unix://")
    why = (
        'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix '
        f'{path}: connect: no such file or directory"'
    )
    return f'failed to run Kubelet: validate service connection: validate CRI v1 runtime API for endpoint "{endpoint}": {why}'
