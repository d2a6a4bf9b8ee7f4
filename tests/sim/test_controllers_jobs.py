"""Jobs and CronJobs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube.durations import parse_rfc3339, rfc3339
from sregym_env.runtime.clock import EPOCH, SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.controllers.cronjob import following, previous
from sregym_env.sim.controllers.jobends import indexes, ranges
from sregym_env.sim.world import SimWorld
from tests.sim.control_plane import (
    change,
    cluster,
    create,
    get,
    kubelet,
    names,
    pods,
    run,
    said,
    set_phase,
    template,
)

JOBS, CRON = "jobs.batch", "cronjobs.batch"


def job_spec(**spec: Any) -> dict[str, Any]:
    return {"template": template("job", restartPolicy="Never"), **spec}


def started(**spec: Any) -> SimWorld:
    world = cluster("n1")
    create(world, JOBS, "work", job_spec(**spec))
    run(world)
    return world


def finish(world: SimWorld, phase: str, count: int = 100) -> None:
    """End running pods and let the controllers see it."""
    for pod in [pod for pod in pods(world) if pod["status"]["phase"] == "Running"][:count]:
        end = {"exitCode": phase == "Failed", "finishedAt": rfc3339(world.now())}
        statuses = [{"name": "c", "state": {"terminated": end}}]
        set_phase(world, pod, phase, containerStatuses=statuses)
    run(world)


def true_conditions(world: SimWorld, name: str = "work") -> list[tuple[str, str]]:
    status = get(world, JOBS, name)["status"]
    return [(c["type"], c["reason"]) for c in status.get("conditions", []) if c["status"] == "True"]


def test_job_runs_to_completion() -> None:
    world = started(completions=3, parallelism=2)
    assert get(world, JOBS, "work")["status"]["active"] == 2
    finish(world, "Succeeded")
    finish(world, "Succeeded")
    status = get(world, JOBS, "work")["status"]
    assert status["succeeded"] == 3
    assert "active" not in status
    assert true_conditions(world) == [
        ("SuccessCriteriaMet", "CompletionsReached"),
        ("Complete", "CompletionsReached"),
    ]
    assert status["completionTime"]
    assert said(world, "Completed") == ["Job completed"]
    assert all(not pod["metadata"].get("finalizers") for pod in pods(world))


def test_failed_pods_are_replaced_with_growing_delays_until_the_limit() -> None:
    world = started(backoffLimit=2)
    for failures, pause in ((1, 10), (2, 20)):
        finish(world, "Failed")
        assert get(world, JOBS, "work")["status"]["failed"] == failures
        world.advance(pause - 3)
        assert len(pods(world)) == failures
        world.advance(4)
        assert len(pods(world)) == failures + 1
        run(world)
    finish(world, "Failed")
    assert true_conditions(world) == [
        ("FailureTarget", "BackoffLimitExceeded"),
        ("Failed", "BackoffLimitExceeded"),
    ]
    assert said(world, "BackoffLimitExceeded") == ["Job has reached the specified backoff limit"]


def test_deadline_ends_a_job() -> None:
    world = started(activeDeadlineSeconds=60)
    world.advance(50)
    assert not true_conditions(world)
    world.advance(15)
    run(world)
    assert ("Failed", "DeadlineExceeded") in true_conditions(world)
    assert not pods(world)


def test_a_job_that_is_refused_a_pod_asks_again_within_a_minute() -> None:
    world = cluster("n1")
    create(world, "resourcequotas", "small", {"hard": {"pods": "0"}})
    create(world, JOBS, "work", job_spec())
    # By now any other control loop would ask every quarter of an hour.
    world.advance(2000.0)
    assert not pods(world)
    change(world, "resourcequotas", "small", hard={"pods": "1"})
    world.advance(61.0)
    assert len(pods(world)) == 1


def test_suspending_a_job_deletes_its_pods_without_counting_them() -> None:
    world = started()
    change(world, JOBS, "work", suspend=True)
    run(world)
    assert not pods(world)
    status = get(world, JOBS, "work")["status"]
    assert "failed" not in status and "startTime" not in status
    assert true_conditions(world) == [("Suspended", "JobSuspended")]
    change(world, JOBS, "work", suspend=False)
    run(world)
    assert len(pods(world)) == 1


def test_indexed_job_runs_every_index_once() -> None:
    world = started(completions=3, parallelism=3, completionMode="Indexed")
    key = "batch.kubernetes.io/job-completion-index"
    assert sorted(pod["metadata"]["annotations"][key] for pod in pods(world)) == ["0", "1", "2"]
    environment = pods(world)[0]["spec"]["containers"][0]["env"]
    assert environment[0]["name"] == "JOB_COMPLETION_INDEX"
    finish(world, "Succeeded")
    assert get(world, JOBS, "work")["status"]["completedIndexes"] == "0-2"


def test_restarts_count_against_the_limit_when_containers_restart_in_place() -> None:
    world = cluster("n1")
    spec = job_spec(backoffLimit=2)
    spec["template"]["spec"]["restartPolicy"] = "OnFailure"
    create(world, JOBS, "work", spec)
    run(world)
    set_phase(world, pods(world)[0], "Running", containerStatuses=[{"name": "c", "restartCount": 2}])
    run(world)
    assert ("Failed", "BackoffLimitExceeded") in true_conditions(world)


def test_finished_job_is_removed_after_its_ttl() -> None:
    world = started(ttlSecondsAfterFinished=100)
    finish(world, "Succeeded")
    world.advance(90)
    assert names(world, JOBS) == ["work"]
    world.advance(20)
    run(world)
    assert names(world, JOBS) == []
    assert not pods(world)


@given(st.sets(st.integers(0, 40)))
def test_index_ranges_read_back(numbers: set[int]) -> None:
    assert indexes(ranges(sorted(numbers))) == numbers


# --- CronJobs -----------------------------------------------------------------------------------------


def cron(schedule: str = "*/5 * * * *", **spec: Any) -> SimWorld:
    world = cluster("n1")
    create(world, CRON, "tick", {"schedule": schedule, "jobTemplate": {"spec": job_spec()}, **spec})
    return world


def test_cron_job_starts_jobs_named_after_the_minute() -> None:
    world = cron()
    world.advance(301)
    minute = EPOCH // SECOND // 60 + 5
    assert names(world, JOBS) == [f"tick-{minute}"]
    status = get(world, CRON, "tick")["status"]
    assert parse_rfc3339(status["lastScheduleTime"]) == minute * 60 * SECOND
    assert [ref["name"] for ref in status["active"]] == [f"tick-{minute}"]
    run(world)
    finish(world, "Succeeded")
    status = get(world, CRON, "tick")["status"]
    assert "active" not in status and status["lastSuccessfulTime"]
    assert said(world, "SawCompletedJob") == [f"Saw completed job: tick-{minute}, condition: Complete"]


@pytest.mark.parametrize(("policy", "count"), [("Allow", 3), ("Forbid", 1), ("Replace", 1)])
def test_concurrency_policy(policy: str, count: int) -> None:
    world = cron(concurrencyPolicy=policy)
    for _ in range(3):
        world.advance(300)
        kubelet(world)
    run(world)
    assert len(names(world, JOBS)) == count
    assert bool(said(world, "JobAlreadyActive")) == (policy == "Forbid")


def test_history_is_limited() -> None:
    world = cron(successfulJobsHistoryLimit=2)
    for _ in range(5):
        world.advance(300)
        run(world)
        finish(world, "Succeeded")
    assert len(names(world, JOBS)) == 2


def test_suspended_cron_job_rests() -> None:
    world = cron(suspend=True)
    world.advance(3600)
    assert names(world, JOBS) == []


@pytest.mark.parametrize(
    ("schedule", "zone", "before", "after"),
    [
        ("*/5 * * * *", "", "2026-08-06T10:00:00Z", "2026-08-06T10:05:00Z"),
        ("@hourly", "", "2026-08-06T10:00:00Z", "2026-08-06T11:00:00Z"),
        ("30 9 * * *", "Europe/Berlin", "2026-08-06T07:30:00Z", "2026-08-07T07:30:00Z"),
        ("0 0 1 1 *", "", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
    ],
)
def test_schedules(schedule: str, zone: str, before: str, after: str) -> None:
    assert rfc3339(previous(schedule, zone, EPOCH)) == before
    assert rfc3339(following(schedule, zone, EPOCH)) == after


def test_pods_of_a_deleted_job_are_let_go() -> None:
    world = started()
    apiserver.delete(world, JOBS, "default", "work")
    run(world)
    assert all(not pod["metadata"].get("finalizers") for pod in pods(world))


def fail(world: SimWorld, code: int, name: str = "", **status: Any) -> None:
    """End running pods with an exit code."""
    for pod in [pod for pod in pods(world) if pod["status"]["phase"] == "Running"]:
        if name in pod["metadata"]["name"]:
            end = {"exitCode": code, "finishedAt": rfc3339(world.now())}
            statuses = [{"name": "c", "state": {"terminated": end}}]
            set_phase(world, pod, "Failed", containerStatuses=statuses, **status)
    run(world)


def exit_rule(action: str, *codes: int) -> dict[str, Any]:
    return {"action": action, "onExitCodes": {"operator": "In", "values": list(codes)}}


def test_failure_policy_fails_the_job_at_once() -> None:
    world = started(podFailurePolicy={"rules": [exit_rule("FailJob", 42)]})
    name = pods(world)[0]["metadata"]["name"]
    fail(world, 42)
    status = get(world, JOBS, "work")["status"]
    assert ("Failed", "PodFailurePolicy") in true_conditions(world)
    message = f"Container c for pod default/{name} failed with exit code 42 matching FailJob rule at index 0"
    assert {c["message"] for c in status["conditions"]} == {message}


def test_failure_policy_ignores() -> None:
    world = started(backoffLimit=0, podFailurePolicy={"rules": [exit_rule("Ignore", 7)]})
    fail(world, 7)
    world.advance(60)
    run(world)
    assert not true_conditions(world)
    assert not get(world, JOBS, "work")["status"].get("failed")
    fail(world, 1)
    assert ("Failed", "BackoffLimitExceeded") in true_conditions(world)


def test_each_index_has_its_own_limit() -> None:
    spec = {"completionMode": "Indexed", "completions": 2, "parallelism": 2, "backoffLimitPerIndex": 1}
    world = started(**spec)
    fail(world, 1, "work-1-")
    world.advance(20)
    run(world)
    counts = {
        pod["metadata"]["annotations"].get("batch.kubernetes.io/job-index-failure-count")
        for pod in pods(world)
        if "work-1-" in pod["metadata"]["name"]
    }
    assert counts == {"0", "1"}
    fail(world, 1, "work-1-")
    status = get(world, JOBS, "work")["status"]
    assert status["failedIndexes"] == "1" and not true_conditions(world)
    finish(world, "Succeeded")
    assert ("Failed", "FailedIndexes") in true_conditions(world)
    assert get(world, JOBS, "work")["status"]["completedIndexes"] == "0"


def test_too_many_failed_indexes() -> None:
    spec = {"completionMode": "Indexed", "completions": 3, "parallelism": 3, "backoffLimitPerIndex": 0}
    world = started(**spec, maxFailedIndexes=0)
    fail(world, 1, "work-2-")
    assert ("Failed", "MaxFailedIndexesExceeded") in true_conditions(world)


def test_success_policy() -> None:
    policy = {"rules": [{"succeededIndexes": "1", "succeededCount": 1}]}
    spec = {"completionMode": "Indexed", "completions": 3, "parallelism": 3, "successPolicy": policy}
    world = started(**spec)
    for pod in pods(world):
        if "work-1-" in pod["metadata"]["name"]:
            set_phase(world, pod, "Succeeded")
    run(world)
    run(world)
    assert ("SuccessCriteriaMet", "SuccessPolicy") in true_conditions(world)


def test_job_of_another_controller_is_left_alone() -> None:
    world = started(managedBy="example.com/other")
    assert not pods(world) and not get(world, JOBS, "work").get("status")
