"""Paths of a machine that pods mount: what ``hostPath.type`` demands of them, and what it makes.

Follows ``pkg/volume/hostpath`` of v1.32. A machine has the directories and files of a kubeadm node, the sockets
and devices below, and whatever pods' volumes have made on it since.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.sim.containers.node_files import machine_files, setup
from sregym_env.sim.world import SimWorld

DIRECTORY, FILE, SOCKET, CHARACTER, BLOCK = "Directory", "File", "Socket", "CharDevice", "BlockDevice"
_WORDS = {
    DIRECTORY: "a directory",
    FILE: "a file",
    SOCKET: "a socket file",
    CHARACTER: "a character device",
    BLOCK: "a block device",
}
_SPECIAL = {
    "run/containerd/containerd.sock": SOCKET,
    "dev/null": CHARACTER,
    "dev/zero": CHARACTER,
    "dev/full": CHARACTER,
    "dev/random": CHARACTER,
    "dev/urandom": CHARACTER,
    "dev/tty": CHARACTER,
    "dev/kmsg": CHARACTER,
    "dev/sda": BLOCK,
    "dev/sda1": BLOCK,
    "usr/bin/kubelet": FILE,
    "etc/kubernetes/kubelet.conf": FILE,
    "etc/kubernetes/pki/ca.crt": FILE,
    "run/xtables.lock": FILE,
    "lib/modules": DIRECTORY,
    "var/lib/kubelet": DIRECTORY,
    "var/openebs/local": DIRECTORY,
    "opt/cni/bin": DIRECTORY,
}
_MAKES = {"": DIRECTORY, "DirectoryOrCreate": DIRECTORY, "FileOrCreate": FILE}
"""What is made where nothing is; without a type it is the runtime that makes a directory."""


def problems(world: SimWorld, pod: Manifest) -> list[tuple[str, str]]:
    """(volume, why it cannot be mounted) of the pod's hostPath volumes; makes what is to be made."""
    found = []
    for volume in pod["spec"].get("volumes") or ():
        source = volume.get("hostPath")
        if source is not None:
            text = _check(world, pod["spec"].get("nodeName", ""), source)
            if text:
                found.append((volume["name"], f"hostPath type check failed: {text}"))
    return found


def _check(world: SimWorld, node: str, source: Mapping[str, Any]) -> str:
    path = str(source.get("path") or "/")
    wanted = str(source.get("type") or "")
    kind = kind_of(world, node, path)
    if not kind and wanted in _MAKES:
        slot = _slot(node)
        world.memory[slot] = {**world.memory.get(slot, {}), _relative(path): _MAKES[wanted]}
        return ""
    needed = _MAKES.get(wanted, wanted) if wanted else ""
    if needed in _WORDS and kind != needed:
        return f"{path} is not {_WORDS[needed]}"
    return ""


def _slot(node: str) -> str:
    return f"node.paths:{node}"


def _relative(path: str) -> str:
    plain = "/".join(part for part in path.split("/") if part not in ("", "."))
    return "run" + plain.removeprefix("var/run") if plain.startswith("var/run") else plain


def kind_of(world: SimWorld, node: str, path: str) -> str:
    """What a machine has at a path: a kind, or ``""`` where there is nothing."""
    plain = _relative(path)
    if not plain:
        return DIRECTORY
    made: Mapping[str, str] = world.memory.get(_slot(node), {})
    known = made.get(plain) or _SPECIAL.get(plain)
    if known:
        return known
    files = machine_files(setup(world, node))
    if plain in files:
        return FILE
    below = plain + "/"
    if any(name.startswith(below) for places in (files, _SPECIAL, made) for name in places):
        return DIRECTORY
    return ""
