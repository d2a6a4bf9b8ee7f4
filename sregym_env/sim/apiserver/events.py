"""Recording Kubernetes Events, with the correlation that client-go's recorder does.

The same thing said again of the same object raises ``count`` and ``lastTimestamp``; more than ten different
messages for one reason in ten minutes are folded into one (client-go ``tools/record`` defaults).
"""

from __future__ import annotations

from typing import Any

from sregym_env.kube.durations import parse_rfc3339, rfc3339, rfc3339_micro
from sregym_env.kube.types import Manifest
from sregym_env.runtime import ids
from sregym_env.runtime.clock import MINUTE, SECOND
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
    metadata = obj["metadata"]
    namespace = metadata.get("namespace") or "default"
    # The API server would refuse it there, and client-go drops what is refused.
    space = world.store.get("namespaces", "", namespace)
    if space is None or space.get("status", {}).get("phase") == "Terminating":
        return
    identity = metadata.get("uid", "") if uid is None else uid
    slot = f"events:{namespace}:{identity or metadata['name']}"
    entries: tuple[_Entry, ...] = world.memory.get(slot, ())
    about = _about(world, namespace, entries)
    known = _correlated(about, field_path, type, reason, message, component)
    if known is None and _too_similar(world, about, reason):
        message = f"(combined from similar events): {message}"
        known = _correlated(about, field_path, type, reason, message[:36], component)
    said = _said(world, type, reason, message, component, host)
    if known is None:
        # The newest per object are remembered, so that correlation need not search all events.
        entry = _made(world, obj, said, entries, field_path, uid)
        world.memory[slot] = (*entries[-40:], entry)
        return
    again = {**known, "message": message, **_again(known, said)}
    if "metadata" in known:
        world.store.put("events", again)
    else:
        world.memory[slot] = tuple(again if entry is known else entry for entry in entries)


def _said(world: SimWorld, type: str, reason: str, message: str, component: str, host: str) -> Manifest:
    """What an event says, as the API that its reporter writes to has it."""
    if component in _NEWER:
        return {
            "reason": reason,
            "message": message,
            "source": {},
            "firstTimestamp": None,
            "lastTimestamp": None,
            "type": type,
            "eventTime": rfc3339_micro(world.now() // SECOND * SECOND),
            "action": _NEWER[component].get(reason, "Scheduling"),
            "reportingComponent": component,
            "reportingInstance": f"{component}-{_control_plane(world)}",
        }
    now = rfc3339(world.now())
    return {
        "reason": reason,
        "message": message,
        "source": {"component": component, **({"host": host} if host else {})},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
        "type": type,
        "eventTime": None,
        "reportingComponent": component,
        "reportingInstance": host,
    }


def _again(known: Manifest, said: Manifest) -> Manifest:
    """What changes in an event that is said once more."""
    if said.get("eventTime") is None:
        return {"count": known.get("count", 1) + 1, "lastTimestamp": said["lastTimestamp"]}
    seen = (known.get("series") or {}).get("count", 1) + 1
    return {"series": {"count": seen, "lastObservedTime": said["eventTime"]}}


_NEWER: dict[str, dict[str, str]] = {"default-scheduler": {"Scheduled": "Binding"}}
"""Components that report to the API ``events.k8s.io``, with what they were doing, by reason: their events have an
``eventTime`` and a series in place of time stamps and a count."""


def _control_plane(world: SimWorld) -> str:
    label = "node-role.kubernetes.io/control-plane"
    nodes = world.store.list("nodes")
    return next((n["metadata"]["name"] for n in nodes if label in (n["metadata"].get("labels") or {})), "")


_Entry = str | Manifest
"""An event by its name; where nobody reads it, what it says."""


def _made(
    world: SimWorld,
    obj: Manifest,
    said: Manifest,
    earlier: tuple[_Entry, ...],
    field_path: str,
    uid: str | None,
) -> _Entry:
    """A new event of an object, stored unless nobody would read it."""
    if world.unread and said["type"] == "Normal":
        world.streams.skip("event")
        world.streams.skip("uid", ids.UID_DRAWS)
        return {**said, "involvedObject": {"fieldPath": field_path}}
    reference = _reference(obj, field_path, uid)
    namespace = reference.get("namespace", "default")
    name = _name(world, namespace, reference["name"], earlier)
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": ids.uid(world.streams),
        "creationTimestamp": rfc3339(world.now()),
    }
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": metadata,
        "involvedObject": reference,
        **said,
    }
    world.store.put("events", event)
    return name


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


def _name(world: SimWorld, namespace: str, subject: str, entries: tuple[_Entry, ...]) -> str:
    """The object's name and the time in hexadecimal nanoseconds, as client-go's recorder names events.

    Events of one object that fall on the same instant sort in the order in which they were recorded.
    """
    nanoseconds = world.now() * 1000 + world.streams.bits("event") % 1000
    if entries and isinstance(last := entries[-1], str):
        nanoseconds = max(nanoseconds, int(last.rpartition(".")[2], 16) + 1000)
    while True:
        name = f"{subject[:236]}.{nanoseconds:x}"
        if world.store.get("events", namespace, name) is None:
            return name
        nanoseconds += 1000


def _about(world: SimWorld, namespace: str, entries: tuple[_Entry, ...]) -> list[Manifest]:
    """The events among these that are still there."""
    found = [
        world.store.get("events", namespace, entry) if isinstance(entry, str) else entry for entry in entries
    ]
    return [event for event in found if event is not None]


def _correlated(
    about: list[Manifest],
    field_path: str,
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
            and event["involvedObject"].get("fieldPath", "") == field_path
            and event["reportingComponent"] == component
        ):
            return event
    return None


def _too_similar(world: SimWorld, about: list[Manifest], reason: str) -> bool:
    if len(about) < SIMILAR_LIMIT:
        return False
    oldest = world.now() - SIMILAR_WINDOW
    similar = [
        event for event in about if event["reason"] == reason and parse_rfc3339(_last(event)) >= oldest
    ]
    return len(similar) >= SIMILAR_LIMIT


def _last(event: Manifest) -> str:
    series = event.get("series") or {}
    return str(series.get("lastObservedTime") or event["lastTimestamp"] or event["eventTime"])
