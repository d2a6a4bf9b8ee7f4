"""A question that several faults ask: whether what belongs to others, and looks like the cause, has been left alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.faults.fault import Finding
from sregym_env.kube.registry import BUILTIN
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest

_NARROWING = ("matchConditions", "objectSelector", "namespaceSelector")
"""Fields by which a webhook is asked about less than it was."""


class Keeps:
    """Whether objects are there still, and are what they were made as."""

    def __init__(self, *manifests: Manifest, free: Collection[str] = ()) -> None:
        """``free`` are fields, at any depth, that may be others now."""
        self._manifests = manifests
        self._free = frozenset(free)

    def __call__(self, world: World) -> Finding:
        found = list(self._missed(world))
        names = ", ".join(manifest["metadata"]["name"] for manifest in self._manifests)
        told = "; ".join(found) or "it is as it was"
        return Finding("what is others' stays", not found, told, f"as they were: {names}")

    def _missed(self, world: World) -> Iterator[str]:
        for manifest in self._manifests:
            kind, metadata = BUILTIN.by_kind(manifest["apiVersion"], manifest["kind"]), manifest["metadata"]
            assert kind is not None
            try:
                now = world.cluster.get(kind.key, metadata["name"], metadata.get("namespace"))
            except StatusError:
                yield f"{metadata['name']} is gone"
                continue
            then = {part: value for part, value in manifest.items() if part in ("spec", "webhooks", "data")}
            if not self._holds(now, then) or "deletionTimestamp" in now["metadata"]:
                yield f"{metadata['name']} is another one"

    def _holds(self, now: Any, then: Any) -> bool:
        """Whether everything that was written is there as it was, and nothing narrows it."""
        if isinstance(then, Mapping):
            if not isinstance(now, Mapping):
                return False
            narrowed = any(now.get(field) and field not in then for field in _NARROWING)
            return not narrowed and all(
                key in self._free or self._holds(now.get(key), value) for key, value in then.items()
            )
        if isinstance(then, list):
            return (
                isinstance(now, list)
                and len(now) == len(then)
                and all(self._holds(each, other) for each, other in zip(now, then, strict=True))
            )
        return bool(now == then)
