"""ControllerRevisions: the template history of StatefulSets and DaemonSets (``pkg/controller/history``)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from sregym_env.kube.types import Manifest
from sregym_env.runtime.ids import safe_hash
from sregym_env.sim import apiserver
from sregym_env.sim.controllers.ownership import claim, reference, spec_selector
from sregym_env.sim.world import SimWorld

RESOURCE = "controllerrevisions.apps"
HASH_LABEL = "controller-revision-hash"


@dataclass(frozen=True, slots=True)
class History:
    """All recorded templates of a workload, oldest first, and the one that is wanted now."""

    all: tuple[Manifest, ...]
    update: Manifest

    def named(self, name: str) -> Manifest | None:
        """The revision of that name, if it is still kept."""
        for found in self.all:
            if found["metadata"]["name"] == name:
                return found
        return None


def recorded(world: SimWorld, owner: Manifest, kind: str) -> History:
    """The workload's history, with its present template recorded as the newest revision."""
    found = claim(world, RESOURCE, owner, "apps/v1", kind, spec_selector(owner))
    ordered = sorted(found, key=lambda obj: (obj["revision"], obj["metadata"]["name"]))
    data = _data(owner)
    equal = [obj for obj in ordered if obj.get("data") == data]
    newest = ordered[-1]["revision"] if ordered else 0
    if equal and equal[-1] is ordered[-1]:
        return History(tuple(ordered), equal[-1])
    if equal:
        # The template went back to an older one: that revision becomes the newest.
        update = apiserver.update(world, RESOURCE, {**equal[-1], "revision": newest + 1})
        rest = [obj for obj in ordered if obj is not equal[-1]]
        return History((*rest, update), update)
    update = _created(world, owner, kind, data, newest + 1)
    return History((*ordered, update), update)


def _data(owner: Manifest) -> dict[str, Any]:
    # Recorded as upstream does: used as a patch, it replaces the whole template.
    return {"spec": {"template": {**owner["spec"]["template"], "$patch": "replace"}}}


def _created(world: SimWorld, owner: Manifest, kind: str, data: dict[str, Any], revision: int) -> Manifest:
    metadata = owner["metadata"]
    collisions = (owner.get("status") or {}).get("collisionCount", 0)
    while True:
        text = orjson.dumps(data, option=orjson.OPT_SORT_KEYS) + str(collisions or "").encode()
        digest = safe_hash(text)
        name = f"{metadata['name']}-{digest}"
        if world.store.get(RESOURCE, metadata["namespace"], name) is None:
            break
        collisions += 1
    template_labels = (owner["spec"]["template"].get("metadata") or {}).get("labels") or {}
    key = HASH_LABEL if kind == "DaemonSet" else "controller.kubernetes.io/hash"
    made: Manifest = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": {**template_labels, key: digest},
            "annotations": dict(metadata.get("annotations") or {}),
            "ownerReferences": [reference(owner, "apps/v1", kind)],
        },
        "data": data,
        "revision": revision,
    }
    return apiserver.create(world, RESOURCE, made)


def template(revision: Manifest, owner: Manifest) -> Manifest:
    """The pod template a revision recorded; the owner's own object where they are equal."""
    recorded = revision["data"]["spec"]["template"]
    current: Manifest = owner["spec"]["template"]
    if recorded.get("spec") == current.get("spec") and recorded.get("metadata") == current.get("metadata"):
        return current
    return {key: value for key, value in recorded.items() if key != "$patch"}


def truncate(world: SimWorld, owner: Manifest, history: History, live: Iterable[str], default: int) -> None:
    """Delete the oldest revisions beyond the limit that no pod uses; ``live`` names those in use."""
    limit = owner["spec"].get("revisionHistoryLimit", default)
    kept = frozenset(live) | {history.update["metadata"]["name"]}
    idle = [obj for obj in history.all if obj["metadata"]["name"] not in kept]
    for obj in idle[: max(0, len(idle) - limit)]:
        apiserver.delete(world, RESOURCE, obj["metadata"]["namespace"], obj["metadata"]["name"])
