"""Recording Kubernetes Events, with the correlation that client-go's recorder does.

The same thing said again of the same object raises ``count`` and ``lastTimestamp``; more than ten different
messages for one reason in ten minutes are folded into one (client-go ``tools/record`` defaults).
"""

from __future__ import annotations

from typing import Any

from sregym_env.kube.durations import parse_rfc3339, rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime import ids
from sregym_env.runtime.clock import MINUTE
from sregym_env.sim.world import SimWorld

SIMILAR_LIMIT = 10
SIMILAR_WINDOW = 10 * MINUTE
"""More events than this that differ only in their message within the window are aggregated
(``defaultAggregateMaxEvents``, ``defaultAggregateIntervalInSeconds`` of client-go)."""


def record(
    world: SimWorld,
    obj: Manifest,
    type: str,
    reason: str,
    message: str,
    *,
    component: str,
    host: str = "",
    field_path: str = "",
    uid: str | None = None,
) -> None:
    """Say that something happened to ``obj``.

    ``type`` is ``Normal`` or ``Warning``; ``component`` and ``host`` name who says so; ``uid`` overrides the
    object's own (the kubelet uses the node's name). Events of cluster-scoped objects go to ``default``.
    """
    reference = _reference(obj, field_path, uid)
    namespace = reference.get("namespace", "default")
    # The API server would refuse it there, and client-go drops what is refused.
    name = world.store.get("namespaces", "", namespace)
    if name is None or name.get("status", {}).get("phase") == "Terminating":
        return
    slot = f"events:{namespace}:{reference['uid'] or reference['name']}"
    names: tuple[str, ...] = world.memory.get(slot, ())
    about = _about(world, namespace, names)
    known = _correlated(about, reference, type, reason, message, component)
    now = rfc3339(world.now())
    if known is not None:
        world.store.put("events", {**known, "count": known.get("count", 1) + 1, "lastTimestamp": now})
        return
    if _too_similar(world, about, reason):
        message = f"(combined from similar events): {message}"
        known = _correlated(about, reference, type, reason, message[:36], component)
        if known is not None:
            count = known.get("count", 1) + 1
            world.store.put("events", {**known, "message": message, "count": count, "lastTimestamp": now})
            return
    source = {"component": component, **({"host": host} if host else {})}
    name = _name(world, namespace, reference, names)
    world.store.put(
        "events",
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": ids.uid(world.streams),
                "creationTimestamp": now,
            },
            "involvedObject": reference,
            "reason": reason,
            "message": message,
            "source": source,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": type,
            "eventTime": None,
            "reportingComponent": component,
            "reportingInstance": host,
        },
    )
    # The newest per object are remembered, so that correlation need not search all events.
    world.memory[slot] = (*names[-40:], name)


def _reference(obj: Manifest, field_path: str, uid: str | None) -> dict[str, Any]:
    metadata = obj["metadata"]
    reference = {"kind": obj["kind"], "apiVersion": obj["apiVersion"], "name": metadata["name"]}
    if metadata.get("namespace"):
        reference["namespace"] = metadata["namespace"]
    reference["uid"] = metadata.get("uid", "") if uid is None else uid
    if metadata.get("resourceVersion") and uid is None:
        reference["resourceVersion"] = metadata["resourceVersion"]
    if field_path:
        reference["fieldPath"] = field_path
    return reference


def _name(world: SimWorld, namespace: str, reference: dict[str, Any], earlier: tuple[str, ...]) -> str:
    """The object's name and the time in hexadecimal nanoseconds, as client-go's recorder names events.

    Events of one object that fall on the same instant sort in the order in which they were recorded.
    """
    nanoseconds = world.now() * 1000 + world.streams.bits("event") % 1000
    if earlier:
        nanoseconds = max(nanoseconds, int(earlier[-1].rpartition(".")[2], 16) + 1000)
    while True:
        name = f"{reference['name'][:236]}.{nanoseconds:x}"
        if world.store.get("events", namespace, name) is None:
            return name
        nanoseconds += 1000


def _about(world: SimWorld, namespace: str, names: tuple[str, ...]) -> list[Manifest]:
    """The events of those names that are still there."""
    found = [world.store.get("events", namespace, name) for name in names]
    return [event for event in found if event is not None]


def _correlated(
    about: list[Manifest],
    reference: dict[str, Any],
    type: str,
    reason: str,
    message: str,
    component: str,
) -> Manifest | None:
    combined = message.startswith("(combined from similar events)")
    for event in reversed(about):
        if event["reason"] != reason:
            continue
        same_text = event["message"].startswith(message) if combined else event["message"] == message
        if (
            same_text
            and event["type"] == type
            and event["involvedObject"].get("fieldPath") == reference.get("fieldPath")
            and event["source"]["component"] == component
        ):
            return event
    return None


def _too_similar(world: SimWorld, about: list[Manifest], reason: str) -> bool:
    if len(about) < SIMILAR_LIMIT:
        return False
    oldest = world.now() - SIMILAR_WINDOW
    similar = [
        event
        for event in about
        if event["reason"] == reason and parse_rfc3339(event["lastTimestamp"]) >= oldest
    ]
    return len(similar) >= SIMILAR_LIMIT
