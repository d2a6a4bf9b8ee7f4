"""A tenant that ranks higher: who has to go, who stays Pending, and what it takes to come back."""

from __future__ import annotations

import json

import pytest

from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults import problems
from sregym_env.faults.registry import declaration
from sregym_env.rollouts.validate import Subject, undo_restores
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import NAMESPACE, subject, tried

FAULT = declaration("priority_preempts_production")
TARGET = "reservation"


@pytest.fixture
def workstation() -> Workstation:
    return Workstation(subject("priority_preempts_production", TARGET).world(), ONCALL)


def test_the_scheduler_says_for_whom_it_made_room(workstation: Workstation) -> None:
    uid = workstation.run(
        "kubectl get pods -n analytics-batch -o jsonpath='{.items[0].metadata.uid}'"
    ).text.strip()
    events = workstation.run(f"kubectl get events -n {NAMESPACE} --field-selector reason=Preempted").text
    assert f"Preempted by pod {uid} on node" in events
    assert events.count("Preempted by") == 1


def test_its_replacement_ranks_no_higher_and_waits(workstation: Workstation) -> None:
    listed = workstation.run(f"kubectl get pods -n {NAMESPACE} -l io.kompose.service={TARGET} -o json").text
    (pod,) = json.loads(listed)["items"]
    assert pod["status"]["phase"] == "Pending"
    assert pod["spec"]["priorityClassName"] == "platform-medium"
    (told,) = [each["message"] for each in pod["status"]["conditions"] if each["type"] == "PodScheduled"]
    assert "1 Insufficient memory" in told and "No preemption victims found for incoming pod" in told


def test_nobody_else_has_lost_a_pod(workstation: Workstation) -> None:
    pods = workstation.run(f"kubectl get pods -n {NAMESPACE} --no-headers").text.splitlines()
    assert [
        line.split()[0].rpartition("-")[0].rpartition("-")[0] for line in pods if "Running" not in line
    ] == [TARGET]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(
            ["kubectl delete deploy tenant-ingester -n analytics-batch"], id="the-tenants-work-deleted"
        ),
        pytest.param(
            ["kubectl scale deploy tenant-ingester -n analytics-batch --replicas=0"],
            id="the-tenant-scaled-down",
        ),
        pytest.param([f"kubectl rollout restart deploy/{TARGET} -n {NAMESPACE}"], id="restarted"),
        pytest.param([f"kubectl rollout undo deploy/{TARGET} -n {NAMESPACE}"], id="undone"),
        pytest.param(
            [
                f"for d in $(kubectl get deploy -n {NAMESPACE} -o name); do kubectl patch $d -n {NAMESPACE} "
                '-p \'{"spec":{"template":{"spec":{"priorityClassName":"production-critical"}}}}\'; done'
            ],
            id="everybody-ranked",
        ),
    ],
)
def test_what_leaves_it_outranked_or_ranks_everybody_is_no_repair(lines: list[str]) -> None:
    verdict, complaints = tried("priority_preempts_production", TARGET, [*lines, "sleep 180"])
    assert not complaints
    assert not verdict.passed


def test_nobody_leaves_a_note_on_the_machine_that_it_has_labelled() -> None:
    """Who takes it back makes the machine what it was before: in this world somebody had left a note on it since."""
    drawn = Subject(problems.pair("hotel-reservation", "priority_preempts_production", "rate", {}), seed=0)
    assert {resource for resource, _, _ in drawn.struck.instances[0].patched()} == {"nodes"}
    passed, detail = undo_restores(drawn)
    assert passed, detail
