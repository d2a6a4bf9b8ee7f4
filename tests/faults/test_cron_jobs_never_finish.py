"""Runs that never end: what each leaves behind, how the quota is used up, and who finds his place taken."""

from __future__ import annotations

import json
from typing import Any

import gymnasium as gym
import pytest

from sregym_env.cluster.oncall import ONCALL
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import NAMESPACE, subject

TARGET = "recommendation"
CRON = "audit-log-archiver"
SIDECAR = "fluent-bit-sidecar"
QUOTA = "team-quota"

POD = ".spec.jobTemplate.spec.template.spec"
NATIVE = (
    f"kubectl get cronjob {CRON} -n {NAMESPACE} -o json | jq '{POD}.initContainers = [{POD}.containers[1] + "
    f'{{restartPolicy:"Always"}}] | del({POD}.containers[1])\' | kubectl replace -f -'
)


@pytest.fixture
def workstation() -> Workstation:
    return Workstation(subject("cron_jobs_never_finish", TARGET).world(), ONCALL)


def _listed(workstation: Workstation, what: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        workstation.run(f"kubectl get {what} -n {NAMESPACE} -o json").text
    )["items"]
    return found


def _pods(workstation: Workstation, labels: str) -> list[dict[str, Any]]:
    return _listed(workstation, f"pods -l {labels}")


def _left(workstation: Workstation) -> int:
    """Pods for which there is room."""
    text = workstation.run(f"kubectl get quota {QUOTA} -n {NAMESPACE} -o json").text
    status = json.loads(text)["status"]
    return int(status["hard"]["pods"]) - int(status["used"]["pods"])


def test_a_run_has_done_its_work_and_goes_on(workstation: Workstation) -> None:
    pods = _pods(workstation, f"task={CRON}")
    assert len(pods) >= 5
    for pod in pods:
        states = {each["name"]: each["state"] for each in pod["status"]["containerStatuses"]}
        assert pod["status"]["phase"] == "Running"
        assert states["task"]["terminated"]["exitCode"] == 0
        assert "running" in states[SIDECAR]
        logs = workstation.run(f"kubectl logs {pod['metadata']['name']} -c task -n {NAMESPACE}").text
        assert "records delivered" in logs
    (row,) = workstation.run(f"kubectl get {'pod/' + pods[0]['metadata']['name']} -n {NAMESPACE}").text.splitlines()[1:]  # fmt: skip
    assert row.split()[1:3] == ["1/2", "NotReady"]
    assert not any(job["status"].get("succeeded") for job in _listed(workstation, f"jobs -l task={CRON}"))


def test_nothing_is_left_for_whoever_comes_back(workstation: Workstation) -> None:
    assert _left(workstation) == 0
    assert not _pods(workstation, f"io.kompose.service={TARGET}")
    events = workstation.run(f"kubectl get events -n {NAMESPACE} --field-selector reason=FailedCreate").text
    refused = [line for line in events.splitlines() if f"exceeded quota: {QUOTA}" in line]
    # Runs wait for a place like everybody else, and ask more often.
    assert {line.split()[3].partition("/")[0] for line in refused} == {"job", "replicaset"}
    deployments = _listed(workstation, "deployments")
    short = [d["metadata"]["name"] for d in deployments if not d["status"].get("availableReplicas")]
    assert short == [TARGET]


def test_who_only_clears_up_has_it_full_again(workstation: Workstation) -> None:
    workstation.run(f"kubectl delete jobs -l task={CRON} -n {NAMESPACE}")
    workstation.run(f"kubectl rollout restart deploy/{TARGET} -n {NAMESPACE}")
    workstation.run("sleep 60")
    assert _left(workstation) > 0
    assert len(_pods(workstation, f"io.kompose.service={TARGET}")) == 1
    workstation.run("sleep 600")
    assert _left(workstation) == 0


def test_with_a_native_sidecar_a_run_completes(workstation: Workstation) -> None:
    assert workstation.run(NATIVE).exit_code == 0
    workstation.run(f"kubectl delete jobs -l task={CRON} -n {NAMESPACE}")
    workstation.run("sleep 300")
    jobs = _listed(workstation, f"jobs -l task={CRON}")
    assert jobs
    assert sum(job["status"].get("succeeded", 0) for job in jobs) >= 2
    assert _left(workstation) > 0


def test_without_a_sidecar_a_run_fails(workstation: Workstation) -> None:
    workstation.run(
        f"kubectl patch cronjob {CRON} -n {NAMESPACE} --type=json "
        '-p \'[{"op":"remove","path":"/spec/jobTemplate/spec/template/spec/containers/1"}]\''
    )
    workstation.run(f"kubectl delete jobs -l task={CRON} -n {NAMESPACE}")
    workstation.run("sleep 150")
    failed = [job for job in _listed(workstation, f"jobs -l task={CRON}") if job["status"].get("failed")]
    assert failed
    name = failed[0]["metadata"]["name"]
    logs = workstation.run(f"kubectl logs job/{name} -n {NAMESPACE}").text
    assert "nothing takes records on port 24224" in logs


def test_an_innocent_change_brings_no_quota_of_the_same_name() -> None:
    """Both draw from names that people give, and in this world they drew one."""
    env = gym.make(
        "SREGym/Pair-v0",
        fault="cron_jobs_never_finish",
        app="social-network",
        target="social-graph-redis",
        raise_errors=True,
    )
    env.reset(seed=431)
    listed = str(env.step("kubectl get resourcequota -n social-network -o name")[0])
    assert listed.count("/social-ceiling") == 1
