"""Runs of a CronJob that never end, and hold what the pods of others need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sregym_env.cluster import apply as edits_apply
from sregym_env.cluster.api import World
from sregym_env.cluster.edits import Create, Downtime, Elapse, ObjectRef, RunCronJob
from sregym_env.cluster.targets import SCALED, ComponentTarget, components
from sregym_env.faults.choices import fresh, one_of
from sregym_env.faults.commands import makers, patch, restart, restart_short
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.kube import conditions
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole

CRONS = "cronjobs.batch"
JOBS = "jobs.batch"

PERIODS: Mapping[str, float] = {
    "* * * * *": 60.0,
    "*/5 * * * *": 300.0,
    "*/6 * * * *": 360.0,
    "*/10 * * * *": 600.0,
    "*/12 * * * *": 720.0,
    "*/15 * * * *": 900.0,
    "*/20 * * * *": 1200.0,
}
"""Schedules, and seconds from run to run."""

LISTENERS: Mapping[str, str] = {
    "exec": "exec nc -lk -p {port}",
    "plain": "nc -lk -p {port} > /dev/null",
    "announced": "echo collecting on :{port}; exec nc -lk -p {port}",
    "echoed": "nc -lk -p {port} -e cat",
}
"""What takes in what a run tells. None of them is ever told to end."""

TRIES = 4
"""So often a run offers what it has to tell before it gives up."""

SLACK = 120.0
"""Seconds in which a run of the schedule is at work, and more."""

STUCK = 300.0
"""Seconds after which a run that has not ended hangs."""


@fault(
    layer="kubernetes",
    mechanism="jobs_never_end",
    targets=components(
        at_request=True,
        where=lambda target: target.component.workload in SCALED and bool(target.replicas),
    ),
    level="hard",
)
def cron_jobs_never_finish(
    target: ComponentTarget,
    cron: str = drawn(
        fresh(CRONS, "audit-log-archiver", "usage-rollup", "{app}-report", "activity-digest", "{app}-stats-export", "session-report",
              "access-log-archiver", "kpi-snapshot", "partner-feed", "{app}-ledger-export", "event-archiver", "traffic-summary"),
        published="audit-log-archiver",
    ),
    sidecar: str = drawn(
        one_of("log-shipper", "fluent-bit", "log-agent", "metrics-relay", "statsd", "collector", "forwarder", "audit-relay", "vector",
               "telemetry", "log-tail", "push-gateway"),
        published="fluent-bit-sidecar",
    ),
    port: int = drawn(one_of(24224, 5170, 8125, 9125, 12201, 5140, 6514, 9514, 24225, 7070), published=24224),
    way: str = drawn(one_of(*LISTENERS), published="echoed"),
    first: bool = drawn(one_of(True, False), published=False),
    schedule: str = drawn(one_of(*[each for each in PERIODS if each != "* * * * *"]), published="* * * * *"),
    quota: str = drawn(
        fresh("resourcequotas", "pod-quota", "{app}-pods", "team-quota", "namespace-pods", "tenant-budget", "{app}-ceiling", "capacity",
              "workload-quota", "pods"),
        published="team-quota",
    ),
    room: int = drawn(lambda target, chance: chance.between("room", 6, 12), published=5),
    since: float = drawn(
        lambda target, chance: float(round(chance.uniform("since", 20_000.0, 200_000.0))), published=600.0
    ),
    seconds: float = drawn(
        lambda target, chance: float(round(chance.uniform("seconds", 180.0, 480.0))), published=180.0
    ),
) -> Fault:  # fmt: skip
    """The pods of a CronJob never complete, because a sidecar in them goes on when the work is done, and fill the namespace's quota.

    Every run does its work within a minute, and leaves a pod that holds its place for good. When nothing is left of the
    ResourceQuota, a component that was scaled down for some minutes (``seconds``) finds its places taken. More room, fewer
    pods or a deadline put it off: a run has to end by itself, with success. To suspend or delete the CronJob is to stop the
    application's own work, which nobody asked for. ``first`` says that the sidecar is the first of the pod's containers, ``room`` how many pods the quota leaves at first,
    and ``since`` how old that is.
    """
    task = ObjectRef(CRONS, cron, target.namespace)
    there = sum(
        pod["metadata"]["namespace"] == target.namespace
        and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
        for pod in target.inventory.pods
    )
    hard = there + room
    helper = _container(sidecar, LISTENERS[way].format(port=port))
    made = _cronjob(task, schedule, port, helper, first)
    pod = "/spec/jobTemplate/spec/template/spec"
    native = patch(
        task,
        [
            {"op": "add", "path": f"{pod}/initContainers", "value": [{**helper, "restartPolicy": "Always"}]},
            {"op": "remove", "path": f"{pod}/containers/{0 if first else 1}"},
        ],
    )
    # Whatever has lost a pod meanwhile waits as long as its controller does; a new revision does not.
    back = [*restart(target, [target.name]), restart_short(target.namespace)]
    cleared = f"kubectl delete jobs -l task={cron} -n {target.namespace}"
    # As many runs as there is room for, one more for every pod that is taken away, and one that is on its way.
    fills = (room + target.replicas + 1) * PERIODS[schedule] + SLACK
    return Fault(
        resource=task,
        cause=f"The Jobs of CronJob {cron} never complete: its sidecar container {sidecar} is a regular container that keeps running "
        f"when the task is done, so every run ({schedule}) leaves a pod that goes on, until they have used up ResourceQuota {quota} "
        f"(pods: {hard}) and no pod of {target.name} can be created.",
        earlier=[Create(_quota(quota, target.namespace, hard)), Elapse(since)],
        edits=[Create(made)],
        trigger=[Downtime(target.name, seconds)],
        matures=fills,
        grows=True,
        details={"field": "containers", "wrong": sidecar},
        facts={"quota": quota, "cron": cron, "port": port},
        remedies=[
            [native, cleared, *back],
            [
                f"""kubectl patch cronjob {cron} -n {target.namespace} -p '{{"spec":{{"suspend":true}}}}'""",
                cleared,
                *back,
                native,
                f"""kubectl patch cronjob {cron} -n {target.namespace} -p '{{"spec":{{"suspend":false}}}}'""",
            ],
        ],
        look=[
            makers(target),
            f"kubectl describe resourcequota -n {target.namespace}",
            f"kubectl get jobs,cronjobs -n {target.namespace}",
            f"kubectl get cronjob {cron} -n {target.namespace} -o yaml",
            f"kubectl get pods -n {target.namespace} -l task={cron} -o wide",
        ],
        accepts=[ObjectRef("resourcequotas", quota, target.namespace)],
        aliases=[sidecar, quota],
        cured=[
            _Limits(ObjectRef("resourcequotas", quota, target.namespace), hard),
            _Ends(task, sidecar, port),
        ],
    )


def _quota(name: str, namespace: str, pods: int) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"hard": {"pods": str(pods)}},
    }


def _cronjob(task: ObjectRef, schedule: str, port: int, helper: Manifest, first: bool) -> Manifest:
    """A task that tells the container beside it what it has done, and fails where nobody takes it."""
    labels = {"task": task.name}
    again = f'n=$((n+1)); if [ $n -ge {TRIES} ]; then echo "nothing takes records on port {port}"; exit 1; fi; sleep 2'
    script = (
        f"echo starting {task.name}; sleep 12; n=0; "
        f'until echo "{task.name} done" | nc -w 2 127.0.0.1 {port}; do {again}; done; echo "{task.name}: records delivered"'
    )
    work = _container("task", script)
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": task.name, "namespace": task.namespace, "labels": labels},
        "spec": {
            "schedule": schedule,
            "concurrencyPolicy": "Allow",
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 1,
            "jobTemplate": {
                "metadata": {"labels": labels},
                "spec": {
                    "backoffLimit": 0,
                    "template": {
                        "metadata": {"labels": labels},
                        "spec": {
                            "restartPolicy": "Never",
                            "containers": [helper, work] if first else [work, helper],
                        },
                    },
                },
            },
        },
    }


def _container(name: str, script: str) -> Manifest:
    return {
        "name": name,
        "image": "busybox:1.36",
        "command": ["sh", "-c", script],
        "resources": {
            "requests": {"cpu": "10m", "memory": "16Mi"},
            "limits": {"cpu": "100m", "memory": "64Mi"},
        },
    }


class _Limits:
    """Whether the quota is what it was: it keeps one team's pods from taking the room of all others."""

    def __init__(self, quota: ObjectRef, pods: int) -> None:
        self._quota = quota
        self._pods = pods

    def __call__(self, world: World) -> Finding:
        where, expected = self._quota, f"{self._quota.name} allows {self._pods} pods at most"
        try:
            hard = world.cluster.get(where.resource, where.name, where.namespace)["spec"].get("hard") or {}
        except StatusError as error:
            return Finding("quota", False, str(error), expected)
        allowed = str(hard.get("pods", ""))
        return Finding(
            "quota", whole(allowed, self._pods + 1) <= self._pods, f"pods: {allowed or 'any'}", expected
        )


class _Ends:
    """Whether the CronJob goes on, a run of it ends by itself with success and tells what it told, and no run hangs.

    A deadline ends a run as failed, and a policy that lets none beside another or replaces it leaves the last one hanging.
    """

    def __init__(self, task: ObjectRef, sidecar: str, port: int) -> None:
        self._task = task
        self._sidecar = sidecar
        self._port = port

    def __call__(self, world: World) -> Finding:
        expected = f"{self._task.name} runs by its schedule, delivers and completes"
        wrong = self._complaint(world)
        return Finding("runs end", not wrong, wrong or "a run has completed", expected)

    def _complaint(self, world: World) -> str:
        task, begun = self._task, world.now()
        try:
            spec = world.cluster.get(task.resource, task.name, task.namespace)["spec"]
        except StatusError as error:
            return str(error)
        if spec.get("suspend"):
            return f"{task.name} is suspended"
        if not self._delivers(spec["jobTemplate"]["spec"]["template"]["spec"]):
            return f"{task.name} tells nobody on port {self._port} any more"
        edits_apply.apply(world, RunCronJob(task))
        # Of the minute in which it was made, where its schedule has come just then.
        since = begun // SECOND * SECOND - 60 * SECOND
        runs = list(self._runs(world))
        latest = [job for job in runs if parse_rfc3339(job["metadata"]["creationTimestamp"]) >= since]
        if not any(conditions.is_true(job.get("status"), "Complete") for job in latest):
            return "a run has not completed" if latest else "no run was made"
        hanging = [
            job["metadata"]["name"]
            for job in runs
            if not conditions.is_true(job.get("status"), "Complete")
            and not conditions.is_true(job.get("status"), "Failed")
            and world.now() - parse_rfc3339(job["metadata"]["creationTimestamp"]) > STUCK * SECOND
        ]
        return f"hanging still: {', '.join(hanging[:3])}" if hanging else ""

    def _delivers(self, pod: Manifest) -> bool:
        """Whether what takes in the records is there still, and something offers them."""
        every: list[Mapping[str, Any]] = [*pod["containers"], *(pod.get("initContainers") or ())]
        told = [str(c.get("command")) + str(c.get("args")) for c in every if c["name"] != self._sidecar]
        return len(told) < len(every) and any(str(self._port) in text for text in told)

    def _runs(self, world: World) -> Iterator[Manifest]:
        for job in world.cluster.list(JOBS, self._task.namespace):
            owners = job["metadata"].get("ownerReferences") or ()
            if any(owner["kind"] == "CronJob" and owner["name"] == self._task.name for owner in owners):
                yield job
