"""What a node's disk holds: the files of a kubeadm machine that a debug pod finds under ``/host``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

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
- 10.96.0.10
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

_DIRECTORIES = (
    "bin boot dev home lib media mnt opt proc root run sbin srv sys tmp usr usr/bin usr/local/bin var var/lib "
    "var/lib/containerd var/lib/kubelet/pods var/log var/log/containers var/log/pods etc/cni/net.d "
    "etc/kubernetes/manifests etc/kubernetes/pki"
).split()


@lru_cache(maxsize=64)
def machine_files(node: str) -> Mapping[str, str]:
    """Text by path below the root; a path with a slash at its end is a directory."""
    directories = {f"{path}/": "" for path in _DIRECTORIES}
    return {
        **directories,
        "etc/hostname": f"{node}\n",
        "etc/hosts": f"127.0.0.1\tlocalhost\n127.0.1.1\t{node}\n",
        "etc/os-release": _OS_RELEASE,
        "etc/resolv.conf": "nameserver 192.0.2.53\n",
        "etc/containerd/config.toml": _CONTAINERD,
        "var/lib/kubelet/config.yaml": _KUBELET,
    }


@lru_cache(maxsize=256)
def below(node: str, path: str) -> Mapping[str, str]:
    """What a node's disk holds below a directory, by relative path."""
    prefix = path.strip("/")
    if not prefix:
        return machine_files(node)
    found = {}
    for name, text in machine_files(node).items():
        if name.startswith(f"{prefix}/") and len(name) > len(prefix) + 1:
            found[name[len(prefix) + 1 :]] = text
    return found
