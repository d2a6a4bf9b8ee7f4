"""Pods in a table: ``printPod``, which sums a pod up in one word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.tables.cells import NO_FIELDS, age, since
from sregym_env.kube.tables.layout import Printer, Row
from sregym_env.kube.types import Manifest


@dataclass(frozen=True, slots=True)
class PodSummary:
    """What the STATUS, READY and RESTARTS cells of a pod say."""

    ready: int
    total: int
    reason: str
    restarts: int
    last_restart: str
    """RFC 3339 time of the last restart, empty when unknown."""


def pod_summary(pod: Manifest) -> PodSummary:
    """The pod's state as ``printPod`` sums it up."""
    spec, status = pod["spec"], pod.get("status") or NO_FIELDS
    phase = status.get("phase", "")
    reason = status.get("reason") or phase
    conditions = status.get("conditions") or ()
    for condition in conditions:
        if condition["type"] == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    total = len(spec["containers"])
    ready = restarts = 0
    last = ""
    initializing = False
    inits = spec.get("initContainers")
    if inits:
        sidecars = frozenset(c["name"] for c in inits if c.get("restartPolicy") == "Always")
        total += len(sidecars)
        statuses = status.get("initContainerStatuses") or ()
        start = _init_summary(statuses, sidecars, len(inits))
        ready, initializing = start.ready, bool(start.reason)
        reason = start.reason or reason
        restarts, last = start.restarts, start.last_restart
        if not initializing or _true(conditions, "Initialized"):
            own = [s for s in statuses if s["name"] in sidecars]
            restarts, last = _restarts(own)
    if not initializing or _true(conditions, "Initialized"):
        running = False
        for container in reversed(status.get("containerStatuses") or ()):
            restarts += container.get("restartCount", 0)
            ended = (container.get("lastState") or NO_FIELDS).get("terminated")
            if ended and (ended.get("finishedAt") or "") > last:
                last = ended["finishedAt"]
            state = container.get("state") or NO_FIELDS
            waiting, terminated = state.get("waiting"), state.get("terminated")
            if waiting and waiting.get("reason"):
                reason = waiting["reason"]
            elif terminated:
                reason = terminated.get("reason") or _exit_reason(terminated)
            elif container.get("ready") and "running" in state:
                running = True
                ready += 1
        if reason == "Completed" and running:
            reason = "Running" if _true(conditions, "Ready") else "NotReady"
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            reason = "Unknown"
        elif phase not in ("Succeeded", "Failed"):
            reason = "Terminating"
    return PodSummary(ready, total, reason, restarts, last)


def _true(conditions: Iterable[Mapping[str, Any]], type_: str) -> bool:
    return any(c["type"] == type_ and c.get("status") == "True" for c in conditions)


def _restarts(statuses: Iterable[Mapping[str, Any]]) -> tuple[int, str]:
    count, last = 0, ""
    for status in statuses:
        count += status.get("restartCount", 0)
        ended = (status.get("lastState") or NO_FIELDS).get("terminated")
        if ended:
            last = max(last, ended.get("finishedAt") or "")
    return count, last


def _init_summary(statuses: Sequence[Mapping[str, Any]], sidecars: frozenset[str], count: int) -> PodSummary:
    """Readiness of sidecars, and the reason why initialisation has not finished ("" when it has)."""
    ready = 0
    for i, status in enumerate(statuses):
        state = status.get("state") or NO_FIELDS
        terminated, waiting = state.get("terminated"), state.get("waiting")
        if terminated and terminated.get("exitCode", 0) == 0:
            continue
        if status["name"] in sidecars and status.get("started"):
            ready += bool(status.get("ready"))
            continue
        if terminated:
            reason = "Init:" + (terminated.get("reason") or _exit_reason(terminated))
        elif waiting and waiting.get("reason") not in (None, "", "PodInitializing"):
            reason = "Init:" + waiting["reason"]
        else:
            reason = f"Init:{i}/{count}"
        restarts, last = _restarts(statuses[: i + 1])
        return PodSummary(ready, count, reason, restarts, last)
    return PodSummary(ready, count, "", *_restarts(statuses))


def _exit_reason(terminated: Mapping[str, Any]) -> str:
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _pod(obj: Manifest, now: int) -> Row:
    summary = pod_summary(obj)
    restarts = str(summary.restarts)
    if summary.restarts and summary.last_restart:
        restarts = f"{restarts} ({since(summary.last_restart, now)} ago)"
    spec, status = obj["spec"], obj.get("status") or NO_FIELDS
    ips = status.get("podIPs")
    gates = spec.get("readinessGates")
    gate_text = "<none>"
    if gates:
        conditions = status.get("conditions") or ()
        gate_text = f"{sum(_true(conditions, g['conditionType']) for g in gates)}/{len(gates)}"
    return (
        obj["metadata"]["name"],
        f"{summary.ready}/{summary.total}",
        summary.reason,
        restarts,
        age(obj, now),
        (ips[0]["ip"] if ips else status.get("podIP")) or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        gate_text,
    )


PRINTERS: Mapping[str, Printer] = {
    "pods": Printer.of("Name|Ready|Status|Restarts|Age|IP*|Node*|Nominated Node*|Readiness Gates*", _pod),
}
"""Printers by resource key."""
