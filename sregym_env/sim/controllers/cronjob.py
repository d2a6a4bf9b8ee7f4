"""The CronJob controller: Jobs on a schedule (``pkg/controller/cronjob`` of v1.32)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from email.utils import format_datetime
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from sregym_env.kube.durations import parse_rfc3339, rfc3339
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import MILLISECOND, MINUTE, SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.controllers.job import finished_condition
from sregym_env.sim.controllers.ownership import controlled, reference
from sregym_env.sim.controllers.replicaset import is_namespace_terminating
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Key
from sregym_env.sim.world.wakes import OwnerKeys, own_key

RESOURCE = "cronjobs.batch"
JOBS = "jobs.batch"
COMPONENT = "cronjob-controller"
SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"
SLACK = 100 * MILLISECOND
"""The controller looks again that much after the scheduled time (nextScheduleDelta)."""
MANY_MISSED = 100
"""Missed starts after which the controller warns (``TooManyMissedTimes``)."""

_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


@lru_cache(maxsize=256)
def _zone(name: str) -> tzinfo:
    return ZoneInfo(name) if name else UTC


def previous(schedule: str, zone: str, now: int) -> int:
    """The last scheduled time at or before ``now``. Raises ValueError for a schedule that cannot be parsed."""
    # CronSim looks strictly before its start: from a second later, the present counts as well.
    start = datetime.fromtimestamp(now // SECOND + 1, _zone(zone))
    return _time(CronSim(_MACROS.get(schedule, schedule), start, reverse=True))


def following(schedule: str, zone: str, now: int) -> int:
    """The next scheduled time after ``now``. Raises ValueError for a schedule that cannot be parsed."""
    start = datetime.fromtimestamp(now // SECOND, _zone(zone))
    return _time(CronSim(_MACROS.get(schedule, schedule), start))


def _time(schedule: CronSim) -> int:
    try:
        return round(next(schedule).timestamp()) * SECOND
    except StopIteration:
        raise ValueError("the schedule never comes due") from None


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Start, replace and clean up the Jobs of one CronJob; microseconds until its next time."""
    cron_job = world.store.get(RESOURCE, *key)
    if cron_job is None or "deletionTimestamp" in cron_job["metadata"]:
        return None
    owned = controlled(world, JOBS, cron_job)
    status = dict(cron_job.get("status") or {})
    _note_finished(world, cron_job, status, owned)
    _clean_up(world, cron_job, owned)
    try:
        again = _schedule(world, cron_job, status, owned)
    finally:
        apiserver.update_status(world, RESOURCE, *key, status)
    return again


def _note_finished(
    world: SimWorld, cron_job: Manifest, status: dict[str, Any], owned: list[Manifest]
) -> None:
    active = list(status.get("active") or ())
    by_uid = {job["metadata"]["uid"]: job for job in owned}
    for job in owned:
        uid, name = job["metadata"]["uid"], job["metadata"]["name"]
        end = finished_condition(job)
        listed = any(ref["uid"] == uid for ref in active)
        if end is None:
            if not listed:
                text = f"Saw a job that the controller did not create or forgot: {name}"
                events.record(world, cron_job, "Warning", "UnexpectedJob", text, component=COMPONENT)
            continue
        if listed:
            active = [ref for ref in active if ref["uid"] != uid]
            text = f"Saw completed job: {name}, condition: {end['type']}"
            events.record(world, cron_job, "Normal", "SawCompletedJob", text, component=COMPONENT)
        completed = (job.get("status") or {}).get("completionTime")
        if end["type"] == "Complete" and completed and completed > status.get("lastSuccessfulTime", ""):
            status["lastSuccessfulTime"] = completed
    for ref in active:
        if ref["uid"] not in by_uid:
            text = f"Active job went missing: {ref['name']}"
            events.record(world, cron_job, "Normal", "MissingJob", text, component=COMPONENT)
    _set_active(status, [ref for ref in active if ref["uid"] in by_uid])


def _set_active(status: dict[str, Any], active: list[dict[str, Any]]) -> None:
    if active:
        status["active"] = active
    else:
        status.pop("active", None)


def _clean_up(world: SimWorld, cron_job: Manifest, owned: list[Manifest]) -> None:
    spec = cron_job["spec"]
    limits = (
        ("Complete", spec.get("successfulJobsHistoryLimit", 3)),
        ("Failed", spec.get("failedJobsHistoryLimit", 1)),
    )
    for type, limit in limits:
        done = [job for job in owned if (finished_condition(job) or {}).get("type") == type]
        done.sort(key=lambda job: ((job.get("status") or {}).get("startTime", ""), job["metadata"]["name"]))
        for job in done[: max(0, len(done) - limit)]:
            _delete_job(world, cron_job, job)


def _delete_job(world: SimWorld, cron_job: Manifest, job: Manifest) -> None:
    metadata = job["metadata"]
    apiserver.delete(world, JOBS, metadata["namespace"], metadata["name"])
    text = f"Deleted job {metadata['name']}"
    events.record(world, cron_job, "Normal", "SuccessfulDelete", text, component=COMPONENT)


def _schedule(
    world: SimWorld, cron_job: Manifest, status: dict[str, Any], owned: list[Manifest]
) -> int | None:
    spec, now = cron_job["spec"], world.now()
    if spec.get("suspend"):
        return None
    schedule, zone = spec["schedule"], spec.get("timeZone") or ""
    try:
        due = previous(schedule, zone, now)
        again = following(schedule, zone, now) - now + SLACK
    except ZoneInfoNotFoundError:
        text = f"invalid timeZone: {_quoted(zone)}: unknown time zone {zone}"
        events.record(world, cron_job, "Warning", "UnknownTimeZone", text, component=COMPONENT)
        return None
    except (CronSimError, ValueError) as error:
        text = f"unparseable schedule: {_quoted(schedule)} : {error}"
        events.record(world, cron_job, "Warning", "UnparseableSchedule", text, component=COMPONENT)
        return None
    known = status.get("lastScheduleTime") or cron_job["metadata"]["creationTimestamp"]
    if due <= parse_rfc3339(known):
        return again
    _note_missed(world, cron_job, parse_rfc3339(known), due)
    deadline = spec.get("startingDeadlineSeconds")
    if deadline is not None and due + deadline * SECOND < now:
        moment = format_datetime(datetime.fromtimestamp(due // SECOND, UTC))
        text = f"Missed scheduled time to start a job: {moment}"
        events.record(world, cron_job, "Warning", "MissSchedule", text, component=COMPONENT)
        return again
    _start(world, cron_job, status, owned, due)
    return again


def _note_missed(world: SimWorld, cron_job: Manifest, since: int, due: int) -> None:
    spec = cron_job["spec"]
    schedule, zone = spec["schedule"], spec.get("timeZone") or ""
    if spec.get("startingDeadlineSeconds") is not None:
        since = max(since, world.now() - spec["startingDeadlineSeconds"] * SECOND)
    missed = 0
    while missed <= MANY_MISSED and since < due:
        since = following(schedule, zone, since)
        missed += 1
    if missed > MANY_MISSED:
        text = (
            "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
        )
        events.record(world, cron_job, "Warning", "TooManyMissedTimes", text, component=COMPONENT)


def _quoted(text: str) -> str:
    return f'"{text}"'


def _start(
    world: SimWorld, cron_job: Manifest, status: dict[str, Any], owned: Iterable[Manifest], due: int
) -> None:
    active = list(status.get("active") or ())
    policy = cron_job["spec"].get("concurrencyPolicy", "Allow")
    if policy == "Forbid" and active:
        text = "Not starting job because prior execution is running and concurrency policy is Forbid"
        events.record(world, cron_job, "Normal", "JobAlreadyActive", text, component=COMPONENT)
        return
    if policy == "Replace":
        uids = {ref["uid"] for ref in active}
        for job in owned:
            if job["metadata"]["uid"] in uids:
                _delete_job(world, cron_job, job)
        active = []
    wanted = _job(cron_job, due)
    try:
        job = apiserver.create(world, JOBS, wanted)
    except StatusError as error:
        if error.reason == "AlreadyExists":
            status["lastScheduleTime"] = rfc3339(due)
            return
        if not is_namespace_terminating(error):
            text = f"Error creating job: {error.message}"
            events.record(world, cron_job, "Warning", "FailedCreate", text, component=COMPONENT)
        raise
    metadata = job["metadata"]
    text = f"Created job {metadata['name']}"
    events.record(world, cron_job, "Normal", "SuccessfulCreate", text, component=COMPONENT)
    active.append(
        {
            "kind": "Job",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
            "apiVersion": "batch/v1",
            "resourceVersion": metadata["resourceVersion"],
        }
    )
    _set_active(status, active)
    status["lastScheduleTime"] = rfc3339(due)


def _job(cron_job: Manifest, due: int) -> Manifest:
    metadata, template = cron_job["metadata"], cron_job["spec"]["jobTemplate"]
    source = template.get("metadata") or {}
    made: Manifest = {
        # The scheduled minute: a second attempt at the same start finds the name taken.
        "name": f"{metadata['name']}-{due // MINUTE}",
        "namespace": metadata["namespace"],
        "annotations": {**(source.get("annotations") or {}), SCHEDULED_AT: rfc3339(due)},
        "ownerReferences": [reference(cron_job, "batch/v1", "CronJob")],
    }
    if source.get("labels"):
        made["labels"] = source["labels"]
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": made, "spec": template["spec"]}


CONTROLLER = Controller(
    "cronjob", {RESOURCE: own_key, JOBS: OwnerKeys("CronJob")}, retried("cronjob", reconcile)
)
