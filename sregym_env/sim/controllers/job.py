"""The Job controller: pods run until enough of them succeeded, or too many failed.

Follows ``pkg/controller/job`` of v1.32 with pod tracking by finalizer: a pod is counted exactly once, when its
finalizer is taken away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sregym_env.kube import conditions
from sregym_env.kube.durations import parse_rfc3339, rfc3339
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import MINUTE, SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.controllers import jobends, pods
from sregym_env.sim.controllers.jobends import INDEX, index_of, indexes, ranges
from sregym_env.sim.controllers.ownership import controlled, reference
from sregym_env.sim.controllers.replicaset import create_pod, delete_pod, slow_start
from sregym_env.sim.controllers.retry import retried, sooner
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key
from sregym_env.sim.world.wakes import OwnerKeys, own_key

RESOURCE = "jobs.batch"
COMPONENT = "job-controller"
TRACKING = "batch.kubernetes.io/job-tracking"
FIRST_BACKOFF = 10 * SECOND
LONGEST_BACKOFF = 10 * MINUTE
"""A failed pod is replaced after 10 s, doubled with every failure in a row, at most 10 min."""
FIRST_RETRY = 1 * SECOND
LONGEST_RETRY = 1 * MINUTE
"""Where the API refuses something, as a pod for which a quota leaves no room, this loop asks again sooner than others."""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """How a Job ends: the condition that will be True, why, and in what words."""

    type: str
    reason: str
    message: str

    @property
    def target(self) -> str:
        """The condition that announces the end while pods are still going."""
        return "SuccessCriteriaMet" if self.type == "Complete" else "FailureTarget"


_COMPLETE = _Verdict("Complete", "CompletionsReached", "Reached expected number of succeeded pods")
_BACKOFF = _Verdict("Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
_DEADLINE = _Verdict("Failed", "DeadlineExceeded", "Job was active longer than specified deadline")
_TOO_MANY_INDEXES = _Verdict(
    "Failed",
    "MaxFailedIndexesExceeded",
    "Job has exceeded the specified maximal number of failed indexes",
)
_FAILED_INDEXES = _Verdict("Failed", "FailedIndexes", "Job has failed indexes")


def finished_condition(job: Manifest) -> conditions.Condition | None:
    """The condition that says a Job is over, or None while it is not."""
    status = job.get("status")
    for type in ("Complete", "Failed"):
        if conditions.is_true(status, type):
            return conditions.find(status, type)
    return None


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Bring one Job a step closer to its end. Raises StatusError where a pod could not be made."""
    job = world.store.get(RESOURCE, *key)
    if job is None:
        _release_orphans(world, key)
        return None
    if not jobends.is_ours(job):
        return None
    owned = controlled(world, "pods", job)
    if finished_condition(job) is not None or "deletionTimestamp" in job["metadata"]:
        for pod in owned:
            _untrack(world, pod)
        return None
    status, finished = _counted(world, job, owned)
    suspended = bool(job["spec"].get("suspend"))
    _note_suspension(world, job, status, suspended)
    active = [pod for pod in owned if pods.is_active(pod)]
    verdict = _verdict(world, job, status, owned, active)
    again: int | None = None
    failure: StatusError | None = None
    if verdict is not None:
        _announce(world, job, status, verdict)
        for pod in active:
            _remove(world, job, pod, counted=verdict.type == "Complete")
        active = []
    elif suspended:
        for pod in active:
            _remove(world, job, pod, counted=True)
        active = []
    elif "deletionTimestamp" not in job["metadata"]:
        again, failure = _run(world, job, status, owned, active)
        active = [pod for pod in controlled(world, "pods", job) if pods.is_active(pod)]
    terminating = [pod for pod in owned if pods.is_terminating(pod) and not pods.is_finished(pod)]
    _note_activity(status, active, len(terminating))
    over = verdict if verdict is not None and not active and not _still_going(world, job) else None
    if over is not None:
        _finish(world, status, over)
    # Counted first, let go second: a pod without the finalizer is never counted.
    apiserver.update_status(world, RESOURCE, *key, status)
    for pod in finished:
        _untrack(world, pod)
    if over is not None:
        _record_end(world, job, over)
    if failure is not None:
        raise failure
    if verdict is not None:
        # Only the pods that still go hold up the end, and they wake this loop themselves.
        return None
    return sooner(again, _until_deadline(world, job, status))


# --- counting -----------------------------------------------------------------------------------------


def _counted(world: SimWorld, job: Manifest, owned: list[Manifest]) -> tuple[dict[str, Any], list[Manifest]]:
    """The status with newly finished pods counted in, and those pods (still tracked)."""
    status = dict(job.get("status") or {})
    indexed = jobends.is_indexed(job)
    completed = indexes(status.get("completedIndexes", "")) if indexed else set()
    lost = indexes(status.get("failedIndexes", "")) if indexed else set()
    finished = []
    for pod in owned:
        if TRACKING not in (pod["metadata"].get("finalizers") or ()):
            continue
        succeeded = pods.phase(pod) == "Succeeded"
        if not succeeded and not jobends.has_failed(job, pod):
            continue
        finished.append(pod)
        if succeeded and indexed:
            completed.add(index_of(pod))
        elif succeeded:
            status["succeeded"] = status.get("succeeded", 0) + 1
        elif jobends.ruling(job, pod).counts:
            status["failed"] = status.get("failed", 0) + 1
        if not succeeded and jobends.has_index_limit(job) and jobends.fails_index(job, pod):
            lost.add(index_of(pod))
        _note_failure(world, job, pod, failed=not succeeded)
    if indexed and completed:
        status["succeeded"] = len(completed)
        status["completedIndexes"] = ranges(completed)
    if jobends.has_index_limit(job):
        # Unlike the completed ones, failed indexes are listed even while there are none.
        status["failedIndexes"] = ranges(lost - completed)
    return status, finished


def _note_failure(world: SimWorld, job: Manifest, pod: Manifest, *, failed: bool) -> None:
    """Count failures in a row: they set the delay before the next pod (of its index, where those are apart)."""
    slot = _backoff_slot(job, index_of(pod) if jobends.has_index_limit(job) else None)
    if not failed:
        world.memory.pop(slot, None)
        return
    count, last = world.memory.get(slot, (0, 0))
    world.memory[slot] = (count + 1, max(last, _finish_time(world, pod)))


def _finish_time(world: SimWorld, pod: Manifest) -> int:
    ends = [
        parse_rfc3339(end["finishedAt"])
        for status in (pod.get("status") or {}).get("containerStatuses") or ()
        if (end := (status.get("state") or {}).get("terminated")) and end.get("finishedAt")
    ]
    return max(ends, default=world.now())


def _untrack(world: SimWorld, pod: Manifest) -> None:
    metadata = pod["metadata"]
    finalizers = metadata.get("finalizers") or []
    if TRACKING in finalizers:
        rest = [name for name in finalizers if name != TRACKING]
        apiserver.patch_metadata(world, "pods", metadata["namespace"], metadata["name"], finalizers=rest)


def _release_orphans(world: SimWorld, key: Key) -> None:
    """Nobody counts the pods of a Job that is gone: let them go."""
    namespace, name = key
    for pod in world.store.list("pods", namespace):
        owners = pod["metadata"].get("ownerReferences", ())
        if any(owner["kind"] == "Job" and owner["name"] == name for owner in owners):
            _untrack(world, pod)


# --- deciding -----------------------------------------------------------------------------------------


def _note_suspension(world: SimWorld, job: Manifest, status: dict[str, Any], suspended: bool) -> None:
    known = conditions.is_true(status, "Suspended")
    listed = status.get("conditions") or []
    now = world.now()
    if suspended:
        status.pop("startTime", None)
        if not known:
            status["conditions"] = _with(listed, now, "Suspended", "True", "JobSuspended", "Job suspended")
            events.record(world, job, "Normal", "Suspended", "Job suspended", component=COMPONENT)
        return
    if known:
        status["conditions"] = _with(listed, now, "Suspended", "False", "JobResumed", "Job resumed")
        events.record(world, job, "Normal", "Resumed", "Job resumed", component=COMPONENT)
    if "startTime" not in status:
        status["startTime"] = rfc3339(now)


def _with(
    listed: list[conditions.Condition], now: int, type: str, status: str, reason: str, message: str
) -> list[conditions.Condition]:
    """Conditions with one set; a Job's also say when they were last looked at."""
    stamp = rfc3339(now)
    made = {
        "type": type,
        "status": status,
        "lastProbeTime": stamp,
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }
    return [*conditions.without(listed, type), made]


def _verdict(
    world: SimWorld, job: Manifest, status: dict[str, Any], owned: list[Manifest], active: list[Manifest]
) -> _Verdict | None:
    known = _announced(status)
    if known is not None:
        return known
    spec = job["spec"]
    reason = jobends.failing(job, owned)
    if reason:
        return _Verdict("Failed", "PodFailurePolicy", reason)
    if status.get("failed", 0) > spec.get("backoffLimit", 6) or _restarts_exhausted(job, owned):
        return _BACKOFF
    left = _until_deadline(world, job, status)
    if left is not None and left <= 0:
        return _DEADLINE
    lost = indexes(status.get("failedIndexes", ""))
    most = spec.get("maxFailedIndexes")
    if most is not None and len(lost) > most:
        return _TOO_MANY_INDEXES
    met = jobends.success(job, indexes(status.get("completedIndexes", "")))
    if met:
        return _Verdict("Complete", "SuccessPolicy", met)
    succeeded = status.get("succeeded", 0)
    completions = spec.get("completions")
    if completions is None:
        done = succeeded > 0 and not active
    else:
        done = succeeded + len(lost) >= completions
    if not done or spec.get("suspend"):
        return None
    return _FAILED_INDEXES if lost else _COMPLETE


def _announced(status: dict[str, Any]) -> _Verdict | None:
    """The end that an earlier round has announced."""
    for target, type in (("SuccessCriteriaMet", "Complete"), ("FailureTarget", "Failed")):
        found = conditions.find(status, target)
        if found is not None and found["status"] == "True":
            return _Verdict(type, str(found.get("reason", "")), str(found.get("message", "")))
    return None


def _restarts_exhausted(job: Manifest, owned: list[Manifest]) -> bool:
    spec = job["spec"]
    if spec["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    limit = spec.get("backoffLimit", 6)
    count = 0
    for pod in owned:
        if pods.phase(pod) in ("Running", "Pending"):
            status = pod.get("status") or {}
            for field in ("initContainerStatuses", "containerStatuses"):
                count += sum(found.get("restartCount", 0) for found in status.get(field) or ())
    # With a limit of n the nth restart ends it, with 0 the first (``pastBackoffLimitOnFailure``).
    return count > 0 if limit == 0 else count >= limit


def _until_deadline(world: SimWorld, job: Manifest, status: dict[str, Any]) -> int | None:
    deadline = job["spec"].get("activeDeadlineSeconds")
    if deadline is None or "startTime" not in status or finished_condition({"status": status}):
        return None
    return int(parse_rfc3339(status["startTime"]) + deadline * SECOND - world.now())


# --- acting -------------------------------------------------------------------------------------------


def _run(
    world: SimWorld, job: Manifest, status: dict[str, Any], owned: list[Manifest], active: list[Manifest]
) -> tuple[int | None, StatusError | None]:
    """Create or delete pods to have as many active ones as wanted."""
    spec = job["spec"]
    parallelism, completions = spec.get("parallelism", 1), spec.get("completions")
    succeeded = status.get("succeeded", 0)
    if completions is None:
        wanted = len(active) if succeeded else parallelism
    else:
        ended = succeeded + len(indexes(status.get("failedIndexes", "")))
        wanted = max(0, min(completions - ended, parallelism))
    leaving = _leaving(job, owned)
    if len(active) > wanted:
        for pod in pods.in_deletion_order(active, active)[: len(active) - wanted]:
            _remove(world, job, pod, counted=True)
        return None, None
    missing = wanted - len(active) - len(leaving)
    if missing <= 0:
        return None, None
    if jobends.is_indexed(job):
        return _run_indexes(world, job, status, owned, [*active, *leaving], missing)
    pause = _backoff_left(world, job)
    if pause > 0:
        return pause, None
    return None, slow_start(missing, lambda: create_pod(world, job, _pod(job, None), COMPONENT))


def _leaving(job: Manifest, owned: list[Manifest]) -> list[Manifest]:
    """Pods on their way out that are not replaced before they are gone."""
    if not jobends.replaces_only_failed(job):
        return []
    return [pod for pod in owned if pods.is_terminating(pod) and not pods.is_finished(pod)]


def _run_indexes(
    world: SimWorld,
    job: Manifest,
    status: dict[str, Any],
    owned: list[Manifest],
    present: list[Manifest],
    missing: int,
) -> tuple[int | None, StatusError | None]:
    """Create pods for the lowest indexes that have none, each when its own back-off is over."""
    limited = jobends.has_index_limit(job)
    chosen: list[int] = []
    pause: int | None = None
    for index in _free_indexes(job, status, present):
        left = _backoff_left(world, job, index if limited else None)
        if left > 0:
            pause = sooner(pause, left)
        elif len(chosen) < missing:
            chosen.append(index)
    numbers = iter(chosen)

    def create() -> StatusError | None:
        index = next(numbers)
        counts = jobends.next_counts(job, index, owned) if limited else {}
        return create_pod(world, job, _pod(job, index, counts), COMPONENT)

    return pause, slow_start(len(chosen), create)


def _backoff_left(world: SimWorld, job: Manifest, index: int | None = None) -> int:
    count, last = world.memory.get(_backoff_slot(job, index), (0, 0))
    if not count:
        return 0
    return int(last + min(FIRST_BACKOFF << min(count - 1, 20), LONGEST_BACKOFF) - world.now())


def _backoff_slot(job: Manifest, index: int | None) -> str:
    slot = f"job.backoff:{job['metadata']['uid']}"
    return slot if index is None else f"{slot}:{index}"


def _free_indexes(job: Manifest, status: dict[str, Any], present: list[Manifest]) -> list[int]:
    taken = {index_of(pod) for pod in present}
    for field in ("completedIndexes", "failedIndexes"):
        taken |= indexes(status.get(field, ""))
    return [index for index in range(job["spec"].get("completions") or 0) if index not in taken]


def _pod(job: Manifest, index: int | None, counts: dict[str, str] | None = None) -> Manifest:
    metadata, template = job["metadata"], job["spec"]["template"]
    name = metadata["name"]
    labels = {
        "batch.kubernetes.io/controller-uid": metadata["uid"],
        "batch.kubernetes.io/job-name": name,
        "controller-uid": metadata["uid"],
        "job-name": name,
    }
    annotations: dict[str, str] = dict(counts or {})
    prefix = f"{name}-"
    if index is not None:
        labels[INDEX] = str(index)
        annotations[INDEX] = str(index)
        prefix = f"{name}-{index}-"
    pod = pods.from_template(
        template,
        reference(job, "batch/v1", "Job"),
        labels=labels,
        annotations=annotations,
        finalizers=(TRACKING,),
        generate_name=prefix,
        namespace=metadata["namespace"],
    )
    return pod if index is None else {**pod, "spec": _with_index(pod["spec"], name, index)}


def _with_index(spec: Manifest, name: str, index: int) -> Manifest:
    variable = {
        "name": "JOB_COMPLETION_INDEX",
        "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}},
    }
    changed = {**spec, "hostname": f"{name}-{index}"}
    for field in ("initContainers", "containers"):
        if spec.get(field):
            changed[field] = [{**c, "env": [*(c.get("env") or ()), variable]} for c in spec[field]]
    return changed


def _remove(world: SimWorld, job: Manifest, pod: Manifest, *, counted: bool) -> None:
    """Delete a pod; ``counted`` means that it will not be counted as a failure any more."""
    if counted:
        _untrack(world, pod)
    delete_pod(world, job, pod, COMPONENT)


def _still_going(world: SimWorld, job: Manifest) -> bool:
    return any(not pods.is_finished(pod) for pod in controlled(world, "pods", job))


# --- status -------------------------------------------------------------------------------------------


def _note_activity(status: dict[str, Any], active: list[Manifest], terminating: int) -> None:
    status.pop("active", None)
    if active:
        status["active"] = len(active)
    status["ready"] = sum(pods.is_ready(pod) for pod in active)
    status["terminating"] = terminating
    # Upstream counts in two writes, by way of this field; here one write does both.
    status["uncountedTerminatedPods"] = {}


def _announce(world: SimWorld, job: Manifest, status: dict[str, Any], verdict: _Verdict) -> None:
    if not conditions.is_true(status, verdict.target):
        status["conditions"] = _with(
            status.get("conditions") or [],
            world.now(),
            verdict.target,
            "True",
            verdict.reason,
            verdict.message,
        )


def _finish(world: SimWorld, status: dict[str, Any], verdict: _Verdict) -> None:
    now = world.now()
    status["conditions"] = _with(
        status.get("conditions") or [], now, verdict.type, "True", verdict.reason, verdict.message
    )
    if verdict.type == "Complete":
        status["completionTime"] = rfc3339(now)
    status["terminating"] = 0


def _record_end(world: SimWorld, job: Manifest, verdict: _Verdict) -> None:
    slot = _backoff_slot(job, None)
    for known in [name for name in world.memory if name.startswith(slot)]:
        del world.memory[known]
    if verdict.type == "Complete":
        events.record(world, job, "Normal", "Completed", "Job completed", component=COMPONENT)
    else:
        events.record(world, job, "Warning", verdict.reason, verdict.message, component=COMPONENT)


def _wake_for_pod(world: SimWorld, change: Change) -> Iterable[Key]:
    # Few pods are a Job's, and that is the cheapest to see.
    found = tuple(_owner(world, change))
    return found if found and (pods.matters_to_owner(change) or _restarted(change)) else ()


def _restarted(change: Change) -> bool:
    if change.old is None or change.new is None:
        return False
    return pods.restarts(change.old) != pods.restarts(change.new)


_owner = OwnerKeys("Job")

CONTROLLER = Controller(
    "job", {RESOURCE: own_key, "pods": _wake_for_pod}, retried("job", reconcile, FIRST_RETRY, LONGEST_RETRY)
)
