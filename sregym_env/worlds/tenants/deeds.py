"""What somebody does to a cluster at a time: values that a past is made of, carried out through the ordinary API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sregym_env.cluster.api import Propagation
from sregym_env.cluster.app import Image
from sregym_env.cluster.edits import ObjectRef
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Json, Manifest
from sregym_env.runtime.clock import MINUTE
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.worlds import changes
from sregym_env.worlds.changes import Change
from sregym_env.worlds.tenants import delivery
from sregym_env.worlds.tenants.delivery import Delivery


class Act(Protocol):
    """Something that is done."""

    def do(self, world: EmbeddedWorld) -> None:
        """Do it now. Raises StatusError where the API refuses it."""


@dataclass(frozen=True, slots=True)
class Deed:
    """An act and its time, microseconds since the Unix epoch."""

    time: int
    act: Act


@dataclass(frozen=True, slots=True)
class Install:
    """Objects are created by a tool."""

    manifests: tuple[Manifest, ...]
    tool: str

    def do(self, world: EmbeddedWorld) -> None:
        """Create them in order."""
        for manifest in self.manifests:
            world.cluster.create(delivery.sent(manifest, self.tool), field_manager=self.tool)


@dataclass(frozen=True, slots=True)
class Alter:
    """A change of a neighbour's object: nothing that the application declares."""

    change: Change

    def do(self, world: EmbeddedWorld) -> None:
        """Make it."""
        self.change.make(world)


@dataclass(frozen=True, slots=True)
class Patch:
    """A strategic merge patch."""

    target: ObjectRef
    patch: Json
    manager: str
    subresource: str = ""

    def do(self, world: EmbeddedWorld) -> None:
        """Send it."""
        world.cluster.patch(
            self.target.resource,
            self.target.name,
            self.patch,
            namespace=self.target.namespace,
            subresource=self.subresource,
            field_manager=self.manager,
        )


@dataclass(frozen=True, slots=True)
class Remove:
    """An object is deleted."""

    target: ObjectRef
    propagation: Propagation | None = None

    def do(self, world: EmbeddedWorld) -> None:
        """Ask for it."""
        target = self.target
        world.cluster.delete(target.resource, target.name, target.namespace, propagation=self.propagation)


@dataclass(frozen=True, slots=True)
class Release:
    """A new release of Helm: its Secret, and the one before superseded."""

    delivery: Delivery
    namespace: str
    number: int

    def do(self, world: EmbeddedWorld) -> None:
        """Write both."""
        now = world.now()
        if self.number > 1:
            before = delivery.release_secret(
                self.delivery, self.namespace, self.number - 1, now, deployed=False
            )
            name = before["metadata"]["name"]
            patch = {"metadata": {"labels": {"status": "superseded", "modifiedAt": str(now // 1_000_000)}}}
            world.cluster.patch("secrets", name, patch, namespace=self.namespace, field_manager="helm")
        if self.number > KEPT_RELEASES:
            old = f"sh.helm.release.v1.{self.delivery.release}.v{self.number - KEPT_RELEASES}"
            world.cluster.delete("secrets", old, self.namespace)
        made = delivery.release_secret(self.delivery, self.namespace, self.number, now, deployed=True)
        world.cluster.create(made, field_manager="helm")


@dataclass(frozen=True, slots=True)
class Cordon:
    """A node is closed to new pods, or opened again."""

    node: str
    closed: bool

    def do(self, world: EmbeddedWorld) -> None:
        """``kubectl cordon`` and ``uncordon``. A node that is not there needs neither."""
        if any(node["metadata"]["name"] == self.node for node in world.cluster.list("nodes")):
            spec = {"unschedulable": True if self.closed else None}
            world.cluster.patch("nodes", self.node, {"spec": spec}, field_manager="kubectl")


@dataclass(frozen=True, slots=True)
class Drain:
    """Pods leave a closed node, as ``kubectl drain --ignore-daemonsets --force`` has them."""

    node: str

    def do(self, world: EmbeddedWorld) -> None:
        """Evict each; one that a disruption budget protects is asked again later."""
        for pod in world.cluster.list("pods"):
            metadata, owners = pod["metadata"], pod["metadata"].get("ownerReferences") or ()
            kinds = {owner["kind"] for owner in owners if owner.get("controller")}
            ended = pod["status"].get("phase") in ("Succeeded", "Failed")
            if pod["spec"].get("nodeName") != self.node or kinds & {"DaemonSet", "Node"} or ended:
                continue
            self.evict(world, metadata["namespace"], metadata["name"])

    def evict(self, world: EmbeddedWorld, namespace: str, name: str) -> None:
        """One eviction, which may be refused."""
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
        }
        try:
            world.cluster.create(body, namespace=namespace, subresource="eviction", name=name)
        except StatusError as error:
            # 429: a budget allows no disruption now. Drains go on without such a pod in the end.
            if error.code not in (404, 429):
                raise


@dataclass(frozen=True, slots=True)
class Story:
    """Deeds, and the images that they need."""

    deeds: tuple[Deed, ...] = ()
    images: Mapping[str, Image] = field(default_factory=dict)
    pods: int = 0
    """How many pods are there in the end."""

    def and_(self, other: Story) -> Story:
        """Both stories."""
        return Story((*self.deeds, *other.deeds), {**self.images, **other.images}, self.pods + other.pods)


def joined(stories: Iterable[Story]) -> Story:
    """All of them as one."""
    found = Story()
    for story in stories:
        found = found.and_(story)
    return found


def live_through(world: EmbeddedWorld, deeds: Iterable[Deed], until: int) -> None:
    """Carry out deeds in order of time and let time pass to ``until``, microseconds.

    What should have happened before the world's present happens now.
    """
    for deed in sorted(deeds, key=lambda deed: deed.time):
        if deed.time <= until:
            world.run_until(max(world.now(), deed.time))
            deed.act.do(world)
    world.run_until(until)


KEPT_RELEASES = 10
"""``helm --history-max``."""

SETTLING = 5 * MINUTE
"""How long before the present the last deed is done at the latest, so that everything is up again."""

__all__ = [
    "SETTLING",
    "Act",
    "Alter",
    "Cordon",
    "Deed",
    "Drain",
    "Install",
    "Patch",
    "Release",
    "Remove",
    "Story",
    "changes",
    "joined",
    "live_through",
]
