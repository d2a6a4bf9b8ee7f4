"""What a node's disk holds: the files of a kubeadm machine that a debug pod finds under ``/host``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import yaml

from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.containers import spooling
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.interfaces import USUAL, of_machine
from sregym_env.sim.world.plan import OS_IMAGE

_OS_RELEASE = """PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID="12"
VERSION="12 (bookworm)"
VERSION_CODENAME=bookworm
ID=debian
HOME_URL="https://www.debian.org/"
SUPPORT_URL="https://www.debian.org/support"
BUG_REPORT_URL="https://bugs.debian.org/"
"""

_FAMILIES = {"Ubuntu": "ubuntu", "Debian": "debian", "Rocky": "rocky", "Amazon": "amzn", "Flatcar": "flatcar",
             "Talos": "talos", "Container-Optimized": "cos"}  # fmt: skip


_NAMES = {
    "Rocky": "Rocky Linux", "Amazon": "Amazon Linux", "Flatcar": "Flatcar Container Linux by Kinvolk",
    "Debian": "Debian GNU/Linux", "Container-Optimized": "Container-Optimized OS",
}  # fmt: skip
"""What a system calls itself without its version."""
_QUOTED = {family: f'"{family}"' for family in ("rocky", "amzn")}
"""Those that put their identifier in quotation marks."""


def _os_release(os_image: str) -> str:
    if os_image == OS_IMAGE:
        return _OS_RELEASE
    words = os_image.split()
    name = _NAMES.get(words[0], words[0])
    number = next((word.strip("()v") for word in words if word.strip("()v")[:1].isdigit()), "")
    # Point releases, and the builds of what has only these, are in no VERSION_ID.
    number = ".".join(number.split(".")[: {"Ubuntu": 2, "Amazon": 1}.get(words[0], 3)])
    family = _FAMILIES.get(words[0], "linux")
    lines = [f'PRETTY_NAME="{os_image}"', f'NAME="{name}"', f"ID={_QUOTED.get(family, family)}"]
    if number:
        lines.append(f'VERSION_ID="{number}"')
    return "\n".join(lines) + "\n"


_KUBELET = """apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous:
    enabled: false
  webhook:
    cacheTTL: 0s
    enabled: true
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
authorization:
  mode: Webhook
cgroupDriver: systemd
clusterDNS:
- {dns}
clusterDomain: cluster.local
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
kind: KubeletConfiguration
rotateCertificates: true
staticPodPath: /etc/kubernetes/manifests
"""

_FLAGS = 'KUBELET_KUBEADM_ARGS="--pod-infra-container-image=registry.k8s.io/pause:3.10{more}"\n'

_SERVICE = """[Unit]
Description=kubelet: The Kubernetes Node Agent
Documentation=https://kubernetes.io/docs/
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/usr/bin/kubelet
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
"""

_DROP_IN = """# Note: This dropin only works with kubeadm and kubelet v1.11+
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
# This is a file that "kubeadm init" and "kubeadm join" generates at runtime, populating the KUBELET_KUBEADM_ARGS variable dynamically
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
# This is a file that the user can use for overrides of the kubelet args as a last resort. Preferably, the user should use
# the .NodeRegistration.KubeletExtraArgs object in the configuration files instead. KUBELET_EXTRA_ARGS should be sourced from this file.
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
"""

CONFIG, FLAGS, EXTRA = (
    "var/lib/kubelet/config.yaml",
    "var/lib/kubelet/kubeadm-flags.env",
    "etc/default/kubelet",
)
"""Where a kubelet's settings lie, below the root."""

_OFTEN: tuple[Mapping[str, Any], ...] = (
    {"evictionHard": {"imagefs.available": "15%", "memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}},
    {"evictionHard": {"imagefs.available": "10%", "memory.available": "100Mi", "nodefs.available": "5%", "nodefs.inodesFree": "5%"}},
    {"featureGates": {"InPlacePodVerticalScaling": True}},
    {"featureGates": {"ImageMaximumGCAge": True, "NodeSwap": True}},
    {"imageGCHighThresholdPercent": 80, "imageGCLowThresholdPercent": 70},
    {"imageGCHighThresholdPercent": 75, "imageGCLowThresholdPercent": 60},
    {"serializeImagePulls": False, "maxParallelImagePulls": 4},
    {"shutdownGracePeriod": "30s", "shutdownGracePeriodCriticalPods": "10s"},
    {"containerLogMaxSize": "50Mi", "containerLogMaxFiles": 3},
    {"nodeStatusUpdateFrequency": "10s"},
)  # fmt: skip
"""What people add to a kubelet's configuration, none of it of any consequence here."""
_MORE_FLAGS = ("", " --v=2", " --node-labels=", "")


_SYSCTL = """net.bridge.bridge-nf-call-iptables  = 1
net.bridge.bridge-nf-call-ip6tables = 1
net.ipv4.ip_forward                 = 1
"""
"""What kubeadm's instructions have every machine set."""
_KERNEL: tuple[tuple[str, str], ...] = (
    ("60-kernel.conf", "kernel.pid_max = 4194304\n"),
    ("60-kernel.conf", "net.ipv4.ip_local_port_range = 32768 60999\n"),
    ("99-sysctl.conf", "kernel.pid_max = 4194304\n"),
)
"""Files in ``/etc/sysctl.d`` by which a cluster's machines are told what their kernel does anyway."""


_CONTAINERD = """version = 2

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:3.10"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = true
"""

_CALICO = """{
  "name": "k8s-pod-network",
  "cniVersion": "0.3.1",
  "plugins": [
    {
      "type": "calico",
      "log_level": "info",
      "log_file_path": "/var/log/calico/cni/cni.log",
      "datastore_type": "kubernetes",
      "nodename_file_optional": false,
      "mtu": 0,
      "ipam": {"type": "host-local", "subnet": "usePodCidr"},
      "policy": {"type": "k8s"},
      "kubernetes": {"kubeconfig": "/etc/cni/net.d/calico-kubeconfig"}
    },
    {"type": "portmap", "snat": true, "capabilities": {"portMappings": true}},
    {"type": "bandwidth", "capabilities": {"bandwidth": true}}
  ]
}
"""
"""An MTU of 0 stands for what Calico has written beside."""

_DIRECTORIES = (
    "bin boot dev home lib media mnt opt proc root run sbin srv sys tmp usr usr/bin usr/local/bin var var/lib "
    "var/lib/containerd var/lib/kubelet/pods var/log var/log/containers var/log/pods etc/cni/net.d "
    "etc/kubernetes/manifests etc/kubernetes/pki"
).split()


class Setup(NamedTuple):
    """What the files of a machine depend on."""

    node: str
    os_image: str
    dns: str
    """The address of the cluster's DNS."""
    resolver: str
    """The name server of the machine itself."""
    mtu: int = USUAL
    """What new pods' interfaces get."""
    habits: int = 0
    """Bits that say what the cluster's kubelets are told beside the usual; 0: nothing."""
    own: int = 0
    """Bits that say what this one is told besides."""


def setup(world: SimWorld, node: str) -> Setup:
    """How a machine of a cluster is set up."""
    plan = world.plan
    machine = plan.machine(node)
    image = OS_IMAGE if machine is None else machine.os_image
    resolver, habits, own = "192.0.2.53", 0, 0
    if plan.key:
        resolver = plan.upstream
        habits, own = keyed_bits("kubelets", plan.key), keyed_bits("kubelet", plan.key, node)
    return Setup(node, image, plan.dns_address, resolver, of_machine(world, node), habits, own)


def _settings(machine: Setup) -> tuple[str, str]:
    """The kubelet's configuration, and the flags that kubeadm has noted for it."""
    text = _KUBELET.format(dns=machine.dns)
    if not machine.habits:
        return text, _FLAGS.format(more="")
    config = yaml.safe_load(text)
    chosen = [each for at, each in enumerate(_OFTEN) if machine.habits >> (3 * at) & 7 < 2]
    if machine.own % 3 == 0:
        # One that was set up at another time, or by somebody else.
        chosen.append(_OFTEN[machine.own // 3 % len(_OFTEN)])
    for each in chosen:
        config.update(each)
    more = _MORE_FLAGS[(machine.habits if machine.own >> 20 & 3 else machine.own) >> 40 & 3]
    return written(config), _FLAGS.format(more=more)


def written(config: Mapping[str, Any]) -> str:
    """A configuration as kubeadm writes it."""
    return yaml.safe_dump(config, default_flow_style=False, sort_keys=True)


# --- what is there now --------------------------------------------------------------------------------


def _slot(node: str) -> str:
    """Where what was written below a machine's root lies in ``world.volumes``."""
    return f"hostpath/{node}//"


def place_of(node: str, path: str = "") -> tuple[str, str]:
    """(volume, name in it) of a path of a machine, below its root."""
    return _slot(node), path.strip("/")


def _now(world: SimWorld, node: str) -> Mapping[str, Any]:
    """What was written below a machine's root, files that grow at their present size."""
    slot = _slot(node)
    changed: Mapping[str, Any] = world.volumes.get(slot) or {}
    growing = dict(spooling.now(world, slot))
    return {**changed, **growing} if growing else changed


def written_below(world: SimWorld, node: str, path: str) -> Mapping[str, Any]:
    """What was written below a directory of a machine, by relative path; None for what was removed."""
    prefix = path.strip("/")
    changed = _now(world, node)
    if not prefix or not changed:
        return changed
    prefix += "/"
    return {
        name[len(prefix) :]: text
        for name, text in changed.items()
        if name.startswith(prefix) and name != prefix
    }


def present(world: SimWorld, node: str) -> Mapping[str, Any]:
    """The texts of a machine's files as they are now, by path below the root; None for one that was removed."""
    return {**machine_files(setup(world, node)), **_now(world, node)}


def text_of(world: SimWorld, node: str, path: str) -> str | None:
    """One file of a machine as it is now; None where there is none."""
    changed = world.volumes.get(_slot(node)) or {}
    found = changed[path] if path in changed else machine_files(setup(world, node)).get(path)
    return found if isinstance(found, str) else None


TIMES = "machine.files:"
"""``world.memory`` key of when files of a machine were written or removed since it was made, by path."""
FOUND = ("var/log/pods/", "var/log/containers/", "etc/kubernetes/", "usr/bin/")
"""Where files lie that are there because of what runs on a machine: that one was removed has to be remembered."""


def times(world: SimWorld, node: str) -> Mapping[str, int]:
    """When files of a machine were written or removed since it was made, microseconds, by path below the root."""
    found: Mapping[str, int] = world.memory.get(f"{TIMES}{node}") or {}
    return found


def put(world: SimWorld, node: str, path: str, text: str | None) -> None:
    """Write a file of a machine, or with None remove it."""
    slot = _slot(node)
    changed = world.volumes.get(slot) or {}
    made = machine_files(setup(world, node)).get(path)
    world.memory[f"{TIMES}{node}"] = {**times(world, node), path: world.clock}
    if made == text and not (text is None and path.startswith(FOUND)):
        world.volumes[slot] = {name: each for name, each in changed.items() if name != path}
    else:
        world.volumes[slot] = {**changed, path: text}
    spooling.changed(world, node, slot, path, changed.get(path), text)


@lru_cache(maxsize=64)
def machine_files(machine: Setup) -> Mapping[str, str]:
    """Text by path below the root; a path with a slash at its end is a directory."""
    node = machine.node
    directories = {f"{path}/": "" for path in _DIRECTORIES}
    config, flags = _settings(machine)
    # Of eight clusters three have one.
    kernel = _KERNEL[machine.habits >> 44 & 7 :][:1] if machine.habits else ()
    return {
        **directories,
        **{f"etc/sysctl.d/{name}": text for name, text in kernel},
        "etc/hostname": f"{node}\n",
        "etc/hosts": f"127.0.0.1\tlocalhost\n127.0.1.1\t{node}\n",
        "etc/os-release": _os_release(machine.os_image),
        "etc/modules-load.d/k8s.conf": "overlay\nbr_netfilter\n",
        "etc/sysctl.conf": "# See /etc/sysctl.d/ for additional system variables, and sysctl.conf(5).\n",
        "etc/sysctl.d/k8s.conf": _SYSCTL,
        "etc/resolv.conf": f"nameserver {machine.resolver}\n",
        "etc/cni/net.d/10-calico.conflist": _CALICO,
        "etc/containerd/config.toml": _CONTAINERD,
        "var/lib/calico/mtu": f"{machine.mtu}",
        "lib/systemd/system/kubelet.service": _SERVICE,
        "lib/systemd/system/kubelet.service.d/10-kubeadm.conf": _DROP_IN,
        CONFIG: config,
        EXTRA: "KUBELET_EXTRA_ARGS=\n",
        FLAGS: flags,
    }


@lru_cache(maxsize=256)
def below(machine: Setup, path: str) -> Mapping[str, str]:
    """What a node's disk holds below a directory, by relative path."""
    prefix = path.strip("/")
    if not prefix:
        return machine_files(machine)
    found = {}
    for name, text in machine_files(machine).items():
        if name.startswith(f"{prefix}/") and len(name) > len(prefix) + 1:
            found[name[len(prefix) + 1 :]] = text
    return found
