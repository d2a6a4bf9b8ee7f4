"""What a container's processes see of files: mounted volumes over the image, and writes on top.

Everything a container can write lies in ``world.volumes``: persistent volumes under the name of their
PersistentVolume, and scratch space under the keys made here. A volume's content is a frozen mapping of
relative path to text. What is too much for text, such as the data of a database, lies beside the file in which it
stands, under the file's name with ``\\0`` before it (:func:`structured`), and goes where the file is copied to.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

from sregym_env.cluster.app import Image
from sregym_env.cluster.disturbances import DiskCorruption, DiskReadErrors
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.containers import node_files, spooling
from sregym_env.sim.containers.images import find
from sregym_env.sim.containers.volumes import mounted
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Mount, Process

Content = Mapping[str, Any]
EMPTY: Content = {}
SEALS = "containers.seals"
"""``world.memory`` key of structured data by the text that stands for it in files."""
WRITABLE = ("pvc", "emptydir", "hostpath")


def image_of(world: SimWorld, process: Process) -> Image:
    """The image a container was made from."""
    found = world.images.get(process.image)
    if found is None:
        found = find(world.images, process.image)
    if found is None:
        raise KeyError(process.image)
    return found


def storage_key(process: Process, mount: Mount) -> str:
    """Where the content of a writable mount lies in ``world.volumes``."""
    if mount.kind == "pvc":
        return mount.source
    if mount.kind == "hostpath":
        return f"hostpath/{process.node}/{mount.source}"
    return f"emptydir/{process.key[0]}/{mount.volume}"


def overlay_key(process: Process) -> str:
    """Where a container's writes to its own root file system lie in ``world.volumes``."""
    return f"overlay/{process.key[0]}/{process.container}/{process.restart}"


def mount_of(process: Process, path: str) -> Mount | None:
    """The innermost mount that holds ``path``."""
    best: Mount | None = None
    for mount in process.mounts:
        root = mount.path.rstrip("/")
        if (path == root or path.startswith(root + "/")) and (best is None or len(root) > len(best.path)):
            best = mount
    return best


def relative(mount: Mount, path: str) -> str:
    """``path`` as a path inside the mounted volume."""
    inner = path[len(mount.path.rstrip("/")) :].lstrip("/")
    if mount.sub_path:
        return f"{mount.sub_path}/{inner}" if inner else mount.sub_path
    return inner


def content(world: SimWorld, process: Process, mount: Mount) -> Content:
    """Everything in the volume behind a mount."""
    if mount.kind in WRITABLE:
        key = storage_key(process, mount)
        found: Content = world.volumes.get(key) or EMPTY
        growing = dict(spooling.now(world, key))
        if growing:
            found = {**found, **growing}
        if mount.kind != "hostpath":
            return found
        made = node_files.below(node_files.setup(world, process.node), mount.source)
        changed = node_files.written_below(world, process.node, mount.source)
        held = {**made, **found, **changed}
        return {name: text for name, text in held.items() if text is not None}
    return mounted(world, process, mount)


def failing_fraction(world: SimWorld, process: Process, mount: Mount | None) -> float:
    """The share of reads from the mount's disk that fail."""
    return _share(world, process, mount, DiskReadErrors)


def corrupt_fraction(world: SimWorld, process: Process, mount: Mount | None) -> float:
    """The share of reads from the mount's disk that bring other bytes than were written."""
    return _share(world, process, mount, DiskCorruption)


def _share(
    world: SimWorld,
    process: Process,
    mount: Mount | None,
    kind: type[DiskReadErrors] | type[DiskCorruption],
) -> float:
    if mount is None or mount.kind != "pvc":
        return 0.0
    for disturbance in world.disturbances:
        if isinstance(disturbance, kind) and disturbance.node == process.node:
            return disturbance.fraction
    return 0.0


def _brought(world: SimWorld, process: Process, name: str, text: str, fraction: float) -> str:
    """The text of a file as a disk brings it that corrupts a share of what is read: it differs from one read to the next."""
    bits = keyed_bits("corrupt", process.node, name, world.clock)
    if not text or bits % 10_000 >= fraction * 10_000:
        return text
    at = (bits >> 16) % len(text)
    return f"{text[:at]}{chr(ord(text[at]) ^ 1)}{text[at + 1 :]}"


def structured(name: str) -> str:
    """The key of what stands in a file."""
    folder, slash, file = name.rpartition("/")
    return f"{folder}{slash}\0{file}"


def _sealed(world: SimWorld, held: Content) -> dict[str, str]:
    """Texts of the files in which structured data stands: each tells its ``checkpoint``, where and when it was written.
    Whoever copies them copies the data."""
    found = {}
    for key, data in held.items():
        name = key.replace("\0", "")
        if name == key or held.get(name) != "":
            continue
        text = f"\1\2WiredTiger checkpoint {keyed_bits(world.streams.seed, 'seal', data.checkpoint):016x}\n"
        known: Mapping[str, Any] = world.memory.get(SEALS, EMPTY)
        if known.get(text) is not data:
            world.memory[SEALS] = {**known, text: data}
        found[name] = text
    return found


def files(world: SimWorld, process: Process) -> dict[str, str]:
    """Every file the container sees, by absolute path; paths with a slash at their end are directories."""
    tree = dict(image_of(world, process).files)
    overlay = overlay_key(process)
    for path, text in (*(world.volumes.get(overlay) or EMPTY).items(), *spooling.now(world, overlay)):
        if text is None:
            tree.pop(path, None)
        else:
            tree[path] = text
    # The outer mounts first: an inner one covers a part of what they show.
    for mount in sorted(process.mounts, key=lambda m: len(m.path)):
        root = mount.path.rstrip("/")
        for path in [p for p in tree if p.startswith(root + "/")]:
            del tree[path]
        prefix = mount.sub_path
        held = content(world, process, mount)
        sealed = _sealed(world, held)
        corrupt = corrupt_fraction(world, process, mount)
        for name, text in held.items():
            if not isinstance(text, str):
                continue
            text = sealed.get(name, text)
            if corrupt:
                text = _brought(world, process, name, text, corrupt)
            if not prefix:
                tree[f"{root}/{name}"] = text
            elif name == prefix:
                tree[root] = text
            elif name.startswith(prefix + "/"):
                tree[root + name[len(prefix) :]] = text
    return tree


def read(world: SimWorld, process: Process, path: str, chance: float) -> str:
    """One file. Raises FileNotFoundError, or OSError(EIO) where ``chance`` falls into the failing share."""
    mount = mount_of(process, path)
    if chance < failing_fraction(world, process, mount):
        raise OSError(errno.EIO, "Input/output error", path)
    text: Any
    if mount is not None:
        text = content(world, process, mount).get(relative(mount, path))
    else:
        overlay = world.volumes.get(overlay_key(process)) or EMPTY
        text = overlay.get(path) if path in overlay else image_of(world, process).files.get(path)
    if not isinstance(text, str):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
    return text


def attempt(world: SimWorld, process: Process, path: str) -> str:
    """One file, as a process reads it now: a failing disk may fail this time. Raises as :func:`read`."""
    fraction = failing_fraction(world, process, mount_of(process, path))
    return read(world, process, path, chance(world, process, "disk") if fraction else 1.0)


def chance(world: SimWorld, process: Process, name: str) -> float:
    """The next number in [0, 1) of a process's own stream."""
    if world.inquiry is not None:
        world.inquiry.fleeting = True
    return world.streams.unit(f"process/{process.namespace}/{process.container}/{name}")


def write(world: SimWorld, process: Process, path: str, text: str | None) -> None:
    """Write one file, or with None remove it. Raises OSError(EROFS) on read-only mounts, OSError(ENOSPC) on a full disk."""
    mount = mount_of(process, path)
    if mount is not None and (mount.kind not in WRITABLE or mount.read_only):
        raise OSError(errno.EROFS, "Read-only file system", path)
    key = overlay_key(process) if mount is None else storage_key(process, mount)
    name = path if mount is None else relative(mount, path)
    if name in ("", "/"):
        return
    on_disk = mount is None or mount.kind in ("emptydir", "hostpath")
    if on_disk and text is not None and spooling.full(world, process.node):
        raise OSError(errno.ENOSPC, "No space left on device", path)
    known = world.volumes.get(key) or EMPTY
    if mount is not None and mount.kind == "hostpath":
        place, below = node_files.place_of(process.node, f"{mount.source.rstrip('/')}/{name}")
        if key == place or name not in known:
            node_files.put(world, process.node, below, text)
            return
    if mount is not None and text is None:
        world.volumes[key] = {n: t for n, t in known.items() if n != name}
    elif mount is not None and text in world.memory.get(SEALS, EMPTY):
        world.volumes[key] = {**known, name: "", structured(name): world.memory[SEALS][text]}
    else:
        # On the root file system a None stays: it hides the image's own file.
        world.volumes[key] = {**known, name: text}
    if on_disk:
        spooling.changed(world, process.node, key, name, known.get(name), text)
    if mount is None or mount.kind == "emptydir":
        # The kubelet watches how much of its disk pods fill.
        world.touch()


def spool(world: SimWorld, process: Process, path: str, rate: float) -> None:
    """Have a process write into a file from now on, at so many bytes per second, until it writes another one or ends.

    Raises OSError(EROFS) where it may not. Where there is no room, now or later, it is woken with ``spooling.NO_SPACE``.
    """
    mount = mount_of(process, path)
    if mount is not None and (mount.kind not in WRITABLE or mount.read_only):
        raise OSError(errno.EROFS, "Read-only file system", path)
    if mount is None:
        place, name = overlay_key(process), path
    elif mount.kind == "hostpath":
        place, name = node_files.place_of(process.node, f"{mount.source}/{relative(mount, path)}")
    else:
        place, name = storage_key(process, mount), relative(mount, path)
    spooling.begin(world, process, place, name, rate)
