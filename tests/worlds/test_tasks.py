"""Tasks as old as they say: their last run is the schedule's, and some were run by hand as well."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
import pytest

from sregym_env.cluster.apply import BY_HAND, INSTANTIATED, SCHEDULED, instantiated
from sregym_env.kube.conditions import is_true
from sregym_env.kube.durations import parse_rfc3339, rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import DAY, EPOCH, HOUR, MINUTE, SECOND
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.controllers.cronjob import following, previous
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import Kubectl
from sregym_env.worlds.lastapplied import input_of
from sregym_env.worlds.tenants import tasks
from sregym_env.worlds.tenants.deeds import Deed, Install, live_through
from sregym_env.worlds.tenants.workloads import Span, task
from tests.worlds.test_past import lived

SCHEDULES = ("0 2 * * *", "17 * * * *", "0 4 * * 0", "10 5 1 * *", "*/10 * * * *", "@monthly")
LATE = 5 * SECOND


def tasks_and_runs(world: EmbeddedWorld) -> Iterator[tuple[Manifest, list[Manifest]]]:
    """Every CronJob of a world with its Jobs."""
    jobs = world.cluster.list("jobs.batch")
    for cron in world.cluster.list("cronjobs.batch"):
        uid = cron["metadata"]["uid"]
        own = [j for j in jobs if any(o["uid"] == uid for o in j["metadata"].get("ownerReferences") or ())]
        yield cron, own


def made_at(manifest: Manifest) -> int:
    """When an object was created."""
    return parse_rfc3339(manifest["metadata"]["creationTimestamp"])


def notes_of(job: Manifest) -> Manifest:
    """A Job's annotations."""
    found: Manifest = job["metadata"].get("annotations") or {}
    return found


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("runs", (1, 3))
def test_who_is_switched_on_then_has_so_many_runs_behind_it(schedule: str, runs: int) -> None:
    present = EPOCH + 200 * DAY + 5 * HOUR + 3 * MINUTE
    time = tasks.since({"schedule": schedule}, runs, present, Chance(("since", schedule)))
    counted = 0
    due = following(schedule, "", time)
    while due < present:
        counted, due = counted + 1, following(schedule, "", due)
    # What runs every few minutes is seen in the events of an hour.
    assert counted == runs or (counted > runs and present - time == tasks.AT_LEAST)
    assert present - time >= tasks.AT_LEAST


def test_a_day_that_no_month_has_is_no_reason_to_fail() -> None:
    spec = {"schedule": "0 0 30 2 *"}
    assert tasks.since(spec, 3, EPOCH, Chance(("never",))) == EPOCH - DAY


def test_a_monthly_task_goes_on_where_it_has_last_run() -> None:
    """Nothing is made good for when an old task is switched on, and the next run comes by the schedule."""
    world = bare_cluster(0)
    born = world.now()
    spec = {
        "schedule": "10 5 1 * *",
        "suspend": True,
        "jobTemplate": {"spec": {"template": {"spec": _pod()}}},
    }
    made = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "m", "namespace": "default"}}
    target = tasks.ObjectRef("cronjobs.batch", "m", "default")
    live_through(
        world,
        [
            Deed(born + MINUTE, Install(({**made, "spec": spec},), "helm")),
            Deed(born + 70 * DAY, tasks.Ran(target)),
        ],
        born + 70 * DAY,
    )
    last = previous("10 5 1 * *", "", world.now())
    world.cluster.patch("cronjobs.batch", "m", {"spec": {"suspend": False}}, namespace="default")
    world.advance(HOUR / SECOND)
    found = world.cluster.get("cronjobs.batch", "m", "default")
    assert found["status"]["lastScheduleTime"] == rfc3339(last)
    assert "managedFields" not in found["metadata"] or not any(
        entry.get("subresource") for entry in found["metadata"]["managedFields"]
    )
    assert world.cluster.list("jobs.batch", "default") == []
    assert not [
        e for e in world.cluster.list("events", "default") if e["involvedObject"]["kind"] == "CronJob"
    ]
    world.advance((following("10 5 1 * *", "", world.now()) - world.now()) / SECOND + 60.0)
    (job,) = world.cluster.list("jobs.batch", "default")
    assert made_at(job) - parse_rfc3339(notes_of(job)[SCHEDULED]) < LATE


def _pod() -> Manifest:
    container = {"name": "t", "image": "busybox:1.36", "command": ["sh", "-c", "echo done"]}
    return {"containers": [container], "restartPolicy": "Never"}


def test_every_task_has_last_run_when_its_schedule_says() -> None:
    seen = 0
    for item in lived():
        for cron, _ in tasks_and_runs(item.world):
            spec, now = cron["spec"], item.world.now()
            due = previous(spec["schedule"], "", now - LATE)
            if spec.get("suspend") or due <= made_at(cron) + 30 * MINUTE:
                continue
            assert parse_rfc3339(cron["status"]["lastScheduleTime"]) >= due, cron["metadata"]
            seen += 1
    assert seen >= 10


def test_runs_have_begun_when_they_were_due_and_as_many_are_kept_as_the_history_holds() -> None:
    for item in lived():
        for cron, runs in tasks_and_runs(item.world):
            spec = cron["spec"]
            scheduled = [job for job in runs if SCHEDULED in notes_of(job)]
            late = [made_at(job) - parse_rfc3339(notes_of(job)[SCHEDULED]) for job in scheduled]
            assert all(each < LATE for each in late), cron["metadata"]
            well = [job for job in runs if is_true(job.get("status"), "Complete")]
            if spec.get("suspend") or not well:
                continue
            due, counted = previous(spec["schedule"], "", item.world.now() - 5 * MINUTE), 0
            while due > made_at(cron) + 30 * MINUTE and counted < tasks.kept(spec):
                counted, due = counted + 1, previous(spec["schedule"], "", due - SECOND)
            assert len(well) >= counted, cron["metadata"]


def test_nothing_tells_of_most_tasks_that_they_were_made_switched_off() -> None:
    """They are of their first generation, as one that has run all along is, and what was applied says nothing else."""
    first = later = 0
    for item in lived():
        for cron, _ in tasks_and_runs(item.world):
            if cron["spec"]["suspend"]:
                continue
            first += cron["metadata"]["generation"] == 1
            later += cron["metadata"]["generation"] > 1
            text = input_of(cron)
            assert text is None or not orjson.loads(text)["spec"].get("suspend"), cron["metadata"]
    assert first > 2 * later


def test_some_tasks_were_run_by_hand_and_none_of_what_is_broken_need_be() -> None:
    span = Span(EPOCH - 90 * DAY, EPOCH)
    stories = [task("heron", "report", Chance(("by hand", n)), span, "helm") for n in range(400)]
    found = [[d for d in story.deeds if isinstance(d.act, tasks.RunByHand)] for story in stories]
    share = sum(bool(each) for each in found) / len(stories)
    assert 0.06 <= share <= 0.17
    assert {len(each) for each in found} == {0, 1, 2}
    for story, again in zip(stories, found, strict=True):
        first = min(deed.time for deed in story.deeds)
        assert all(first < deed.time < span.present for deed in again)
        forms = [deed.act.form for deed in again if isinstance(deed.act, tasks.RunByHand)]
        assert len(set(forms)) == len(forms)
        assert set(forms) <= set(BY_HAND)


def test_a_run_by_hand_is_what_kubectl_makes_of_a_task() -> None:
    world = bare_cluster(0)
    labels = {"labels": {"team": "core"}, "annotations": {"note": "x"}}
    spec = {
        "schedule": "0 2 * * *",
        "jobTemplate": {"metadata": labels, "spec": {"template": {"spec": _pod()}}},
    }
    metadata = {"name": "report", "namespace": "default"}
    cron = world.cluster.create(
        {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": spec}
    )
    tasks.RunByHand(tasks.ObjectRef("cronjobs.batch", "report", "default"), "{}-manual").do(world)
    done = Kubectl(world.cluster, "default").run(["create", "job", "--from=cronjob/report", "typed"])
    assert done.stdout == "job.batch/typed created\n"
    ours = world.cluster.get("jobs.batch", "report-manual", "default")
    theirs = world.cluster.get("jobs.batch", "typed", "default")
    assert notes_of(ours) == notes_of(theirs) == {"note": "x", INSTANTIATED: "manual"}
    for key in ("ownerReferences", "labels"):
        assert ours["metadata"][key] == theirs["metadata"][key]
    managers = [[e["manager"] for e in job["metadata"]["managedFields"]] for job in (ours, theirs)]
    assert managers[0] == managers[1]
    assert instantiated(cron, "typed")["metadata"]["name"] == "typed"


def test_what_is_gone_or_taken_is_left_at_that() -> None:
    world = bare_cluster(0)
    act = tasks.RunByHand(tasks.ObjectRef("cronjobs.batch", "gone", "default"), "{}-now")
    act.do(world)
    assert world.cluster.list("jobs.batch", "default") == []
