"""Status conditions: finding one, and replacing one as the controllers of Kubernetes do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sregym_env.kube.durations import rfc3339

Condition = dict[str, Any]


def find(status: dict[str, Any] | None, type: str) -> Condition | None:
    """The condition of that type in an object's ``status``, or None."""
    if status is not None:
        for condition in status.get("conditions") or ():
            if condition["type"] == type:
                return condition  # type: ignore[no-any-return]
    return None


def is_true(status: dict[str, Any] | None, type: str) -> bool:
    """Whether the condition of that type is there and True."""
    condition = find(status, type)
    return condition is not None and condition["status"] == "True"


def without(conditions: Sequence[Condition], type: str) -> list[Condition]:
    """The conditions of other types."""
    return [condition for condition in conditions if condition["type"] != type]


def put(
    conditions: Sequence[Condition],
    now: int,
    type: str,
    status: str,
    reason: str,
    message: str,
    *,
    update_time: bool = False,
    compare_message: bool = False,
) -> list[Condition]:
    """The conditions with one set, as ``SetDeploymentCondition`` and its siblings do it.

    A condition that already has the status and the reason (and, with ``compare_message``, the message) stays
    as it is; otherwise it moves to the end, and its ``lastTransitionTime`` changes only with its status.
    ``update_time`` says whether the kind has a ``lastUpdateTime``.
    """
    known = find({"conditions": conditions}, type)
    if (
        known is not None
        and known["status"] == status
        and known.get("reason", "") == reason
        and (not compare_message or known.get("message", "") == message)
    ):
        return list(conditions)
    stamp = rfc3339(now)
    same = known is not None and known["status"] == status
    made: Condition = {"type": type, "status": status}
    if update_time:
        made["lastUpdateTime"] = stamp
    made["lastTransitionTime"] = known["lastTransitionTime"] if same and known is not None else stamp
    made["reason"] = reason
    made["message"] = message
    return [*without(conditions, type), made]


def put_in_place(
    conditions: Sequence[Condition], now: int, type: str, status: str, reason: str, message: str
) -> list[Condition]:
    """The conditions with one set where it stands (``meta.SetStatusCondition``, pods, namespaces)."""
    stamp = rfc3339(now)
    made: Condition = {
        "type": type,
        "status": status,
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }
    out: list[Condition] = []
    found = False
    for condition in conditions:
        if condition["type"] != type:
            out.append(condition)
            continue
        found = True
        if condition["status"] == status and "lastTransitionTime" in condition:
            made["lastTransitionTime"] = condition["lastTransitionTime"]
        out.append({**condition, **made})
    if not found:
        out.append(made)
    return out
