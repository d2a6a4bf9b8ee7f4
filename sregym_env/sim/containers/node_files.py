"""What a node's disk holds: the files of a kubeadm machine that a debug pod finds under ``/host``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

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


def _os_release(os_image: str) -> str:
    if os_image == OS_IMAGE:
        return _OS_RELEASE
    words = os_image.split()
    number = next((word.strip("()v") for word in words if word.strip("()v")[:1].isdigit()), "")
    family = _FAMILIES.get(words[0], "linux")
    lines = [f'PRETTY_NAME="{os_image}"', f'NAME="{words[0]}"', f"ID={family}"]
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


def setup(world: SimWorld, node: str) -> Setup:
    """How a machine of a cluster is set up."""
    plan = world.plan
    machine = plan.machine(node)
    image = OS_IMAGE if machine is None else machine.os_image
    return Setup(
        node, image, plan.dns_address, plan.upstream if plan.key else "192.0.2.53", of_machine(world, node)
    )


@lru_cache(maxsize=64)
def machine_files(machine: Setup) -> Mapping[str, str]:
    """Text by path below the root; a path with a slash at its end is a directory."""
    node = machine.node
    directories = {f"{path}/": "" for path in _DIRECTORIES}
    return {
        **directories,
        "etc/hostname": f"{node}\n",
        "etc/hosts": f"127.0.0.1\tlocalhost\n127.0.1.1\t{node}\n",
        "etc/os-release": _os_release(machine.os_image),
        "etc/resolv.conf": f"nameserver {machine.resolver}\n",
        "etc/cni/net.d/10-calico.conflist": _CALICO,
        "etc/containerd/config.toml": _CONTAINERD,
        "var/lib/calico/mtu": f"{machine.mtu}",
        "var/lib/kubelet/config.yaml": _KUBELET.format(dns=machine.dns),
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
