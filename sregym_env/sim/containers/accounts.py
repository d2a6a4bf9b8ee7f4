"""As whom a container's processes run: what its manifest says, else its image; and what that account is called in the image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sregym_env.cluster.app import Image
from sregym_env.kube.types import Manifest
from sregym_env.sim.containers.view import image_of
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Process

PASSWD = "/etc/passwd"


class Account(NamedTuple):
    """A user and its group, with the names that they have in an image; empty where it knows none."""

    uid: int = 0
    gid: int = 0
    user: str = "root"
    group: str = "root"

    @property
    def shown(self) -> str:
        """The user as ``ps`` shows it."""
        return self.user or str(self.uid)


ROOT = Account()


def account_of(world: SimWorld, process: Process) -> Account:
    """As whom a process runs. What runs on a machine itself is root's."""
    if not process.namespace:
        return ROOT
    image, pod = image_of(world, process), world.store.get("pods", process.namespace, process.pod)
    asked = _asked(pod, process.container)
    uid = int(asked.get("runAsUser", image.user))
    known = _known(image).get(uid)
    group = int(asked.get("runAsGroup", known.gid if known is not None else 0))
    if known is not None and known.gid == group:
        return known
    own = _own(world, process)
    user = known.user if known is not None else own if uid == NUMBERS.get(own) else ""
    return Account(uid, group, user, "root" if group == 0 else "")


def runs_as(world: SimWorld, process: Process) -> Account:
    """As whom a container's first process runs: an entrypoint that begins as root steps down to the server's own account."""
    found = account_of(world, process)
    own = _own(world, process)
    number = NUMBERS.get(own, 0)
    return Account(number, number, own, own) if own and found.uid in (0, number) else found


def _own(world: SimWorld, process: Process) -> str:
    """The account that a server's image has for it; empty where it has none."""
    name: str = getattr(world.programs.get(process.program), "account", "") if process.namespace else ""
    return name


NUMBERS: Mapping[str, int] = {
    **dict.fromkeys(("postgres", "redis", "valkey", "mongodb"), 999),
    "appuser": 1000,
}
"""Accounts of servers that images have beside root."""


def _asked(pod: Manifest | None, container: str) -> Manifest:
    """What the security contexts of a container and of its pod say; the container's own wins."""
    spec: Manifest = {} if pod is None else pod["spec"]
    for field in ("containers", "initContainers", "ephemeralContainers"):
        for each in spec.get(field) or ():
            if each["name"] == container:
                return {**(spec.get("securityContext") or {}), **(each.get("securityContext") or {})}
    return {}


def _known(image: Image) -> dict[int, Account]:
    """The accounts of an image, by number."""
    found = {0: ROOT}
    for line in image.files.get(PASSWD, "").splitlines():
        name, _, uid, gid, *_ = line.split(":")
        found[int(uid)] = Account(int(uid), int(gid), name, name if uid == gid else "")
    return found
