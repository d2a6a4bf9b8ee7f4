"""The volume expansion controller: claims that ask for more than they have (``pkg/controller/volume/expand``).

No volume plugin of this cluster can expand anything: local paths have no size. A claim whose class allows it
therefore waits for an external resizer, as with OpenEBS local volumes on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterable

from sregym_env.kube import quantity
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver import events
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.controllers.volumebinding import CLAIMS, VOLUMES, requested
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

COMPONENT = "volume_expand"
IGNORED = (
    "Ignoring the PVC: didn't find a plugin capable of expanding the volume; waiting for an external controller "
    "to process this PVC."
)


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Say of one claim that nobody here can expand it."""
    claim = world.store.get(CLAIMS, *key)
    if claim is None or not _is_too_small(world, claim):
        return None
    events.record(world, claim, "Warning", "ExternalExpanding", IGNORED, component=COMPONENT)
    return None


def _is_too_small(world: SimWorld, claim: Manifest) -> bool:
    status = claim.get("status") or {}
    if status.get("phase") != "Bound":
        return False
    volume = world.store.get(VOLUMES, "", claim["spec"].get("volumeName", ""))
    if volume is None:
        return False
    size = (volume["spec"].get("capacity") or {}).get("storage", "0")
    return quantity.compare(requested(claim), size) > 0


def _asks_for_more(_: SimWorld, change: Change) -> Iterable[Key]:
    old, new = change.old, change.new
    if old is not None and new is not None and old["spec"] is not new["spec"]:
        if quantity.compare(requested(new), requested(old)) > 0:
            yield change.key


CONTROLLER = Controller("volume-expand", {CLAIMS: _asks_for_more}, retried("volume-expand", reconcile))
