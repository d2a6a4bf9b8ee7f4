"""The namespace controller: a namespace that is deleted takes everything in it along.

Follows ``pkg/controller/namespace/deletion`` of v1.32.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sregym_env.kube import conditions
from sregym_env.kube.registry import BUILTIN
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.controllers import apiservice
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import CUSTOM, Controller, SimWorld
from sregym_env.sim.world.store import Change, Key
from sregym_env.sim.world.wakes import own_key

RESOURCE = "namespaces"
RETRY = 15 * SECOND
"""While content remains the controller estimates how long to wait: half the pods' grace by default."""


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Delete the contents of a terminating namespace, and the namespace when it is empty."""
    namespace = world.store.get(RESOURCE, *key)
    if namespace is None or "deletionTimestamp" not in namespace["metadata"]:
        return None
    name = key[1]
    for resource in world.store.resources():
        for obj in world.store.list(resource, name):
            if "deletionTimestamp" not in obj["metadata"]:
                apiserver.delete(world, resource, name, obj["metadata"]["name"])
    remaining = {
        resource: found
        for resource in world.store.resources()
        if (found := world.store.list(resource, name)) and resource != "events"
    }
    # Nobody knows what a namespace still holds of an aggregated API that does not answer.
    stale = apiservice.stale(world)
    if remaining or stale:
        status = _status(world, namespace, remaining, stale)
        apiserver.update_status(world, RESOURCE, *key, status)
        return RETRY
    for event in world.store.list("events", name):
        apiserver.delete(world, "events", name, event["metadata"]["name"])
    # Finalizers of others keep it even when it is empty, those of its ``spec`` and those of its metadata.
    spec = namespace.get("spec") or {}
    known = list(spec.get("finalizers") or ())
    rest = [each for each in known if each != "kubernetes"]
    if not rest and not (namespace["metadata"].get("finalizers") or ()):
        apiserver.finalize_delete(world, RESOURCE, *key)
    elif rest != known:
        world.store.put(RESOURCE, {**namespace, "spec": {**spec, "finalizers": rest}})
    return None


def _discovery(stale: list[str]) -> tuple[str, str, str, str]:
    if not stale:
        text = "All resources successfully discovered"
        return "NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", text
    each = ", ".join(f"{version}: stale GroupVersion discovery: {version}" for version in stale)
    text = (
        f"Discovery failed for some groups, {len(stale)} failing: unable to retrieve the complete list of server "
        f"APIs: {each}"
    )
    return "NamespaceDeletionDiscoveryFailure", "True", "DiscoveryFailed", text


def _content(remaining: dict[str, list[Manifest]], contents: str) -> tuple[str, str, str, str]:
    if not remaining:
        return "NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed"
    text = f"Some resources are remaining: {contents}"
    return "NamespaceContentRemaining", "True", "SomeResourcesRemain", text


def _status(
    world: SimWorld, namespace: Manifest, remaining: dict[str, list[Manifest]], stale: list[str]
) -> Manifest:
    contents = ", ".join(
        f"{_dotted(resource)} has {len(found)} resource instances" for resource, found in remaining.items()
    )
    held: Counter[str] = Counter()
    for found in remaining.values():
        for obj in found:
            held.update(obj["metadata"].get("finalizers") or ())
    verdicts = [
        _discovery(stale),
        ("NamespaceDeletionGroupVersionParsingFailure", "False", "ParsedGroupVersions",
         "All legacy kube types successfully parsed"),
        ("NamespaceDeletionContentFailure", "False", "ContentDeleted",
         "All content successfully deleted, may be waiting on finalization"),
        _content(remaining, contents),
    ]  # fmt: skip
    if held:
        kept = ", ".join(f"{finalizer} in {held[finalizer]} resource instances" for finalizer in sorted(held))
        text = f"Some content in the namespace has finalizers remaining: {kept}"
        verdicts.append(("NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain", text))
    else:
        text = "All content-preserving finalizers finished"
        verdicts.append(("NamespaceFinalizersRemaining", "False", "ContentHasNoFinalizers", text))
    status = {**(namespace.get("status") or {}), "phase": "Terminating"}
    listed = status.get("conditions") or []
    for verdict in verdicts:
        listed = conditions.put_in_place(listed, world.now(), *verdict)
    return {**status, "conditions": listed}


def _dotted(resource: str) -> str:
    """``pods.``: a GroupResource of the core group as upstream prints it here."""
    return resource if "." in resource else f"{resource}."


def _emptied(world: SimWorld, change: Change) -> Iterable[Key]:
    """Something that is gone may have been the last thing in a terminating namespace."""
    if change.new is not None or not change.key[0]:
        return ()
    namespace = world.store.get(RESOURCE, "", change.key[0])
    if namespace is None or "deletionTimestamp" not in namespace["metadata"]:
        return ()
    return (("", change.key[0]),)


CONTROLLER = Controller(
    "namespace",
    {
        CUSTOM: _emptied,
        **{r.key: _emptied for r in BUILTIN.preferred() if r.namespaced},
        RESOURCE: own_key,
    },
    retried("namespace", reconcile),
)
