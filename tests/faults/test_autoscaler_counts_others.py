"""An autoscaler that counts others: what it sees, what it does, and who is left with too few pods."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sregym_env.cluster.oncall import ONCALL
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import NAMESPACE, subject

TARGET = "geo"
SCALER = "geo-autoscaler"
OTHERS = "geo-batch"


@pytest.fixture
def workstation() -> Workstation:
    return Workstation(subject("autoscaler_counts_others", TARGET).world(), ONCALL)


def _got(workstation: Workstation, what: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(workstation.run(f"kubectl get {what} -n {NAMESPACE} -o json").text)
    return found


def _utilization(workstation: Workstation) -> int:
    (metric,) = _got(workstation, f"hpa {SCALER}")["status"]["currentMetrics"]
    return int(metric["resource"]["current"]["averageUtilization"])


def test_it_has_scaled_in_and_says_that_all_is_well(workstation: Workstation) -> None:
    status = _got(workstation, f"hpa {SCALER}")["status"]
    assert (status["currentReplicas"], status["desiredReplicas"]) == (2, 2)
    said = {each["type"]: each["status"] for each in status["conditions"]}
    assert said["AbleToScale"] == said["ScalingActive"] == "True"
    assert _utilization(workstation) < 35
    events = workstation.run(f"kubectl describe hpa {SCALER} -n {NAMESPACE}").text
    assert "New size: 2; reason: All metrics below target" in events


def test_each_of_its_pods_is_at_its_limit(workstation: Workstation) -> None:
    container = _got(workstation, f"deploy {TARGET}")["spec"]["template"]["spec"]["containers"][0]
    limit = int(container["resources"]["limits"]["cpu"].removesuffix("m"))
    labels = f"io.kompose.service={TARGET},track=stable"
    rows = workstation.run(f"kubectl top pods -n {NAMESPACE} -l {labels} --no-headers").text.splitlines()
    assert len(rows) == 2
    assert all(int(row.split()[1].removesuffix("m")) >= 0.9 * limit for row in rows)


def test_the_service_leads_to_its_own_pods_alone(workstation: Workstation) -> None:
    (subset,) = _got(workstation, f"endpoints {TARGET}")["subsets"]
    led = {each["targetRef"]["name"] for each in subset["addresses"]}
    assert len(led) == 2
    assert not any(name.startswith(OTHERS) for name in led)


def test_pods_that_are_added_by_hand_are_taken_away(workstation: Workstation) -> None:
    workstation.run(f"kubectl scale deploy {TARGET} -n {NAMESPACE} --replicas=5")
    workstation.run("sleep 400")
    assert _got(workstation, f"deploy {TARGET}")["spec"]["replicas"] < 5


def test_without_the_others_among_its_pods_it_scales_out_again(workstation: Workstation) -> None:
    workstation.run(
        f"kubectl get deploy {OTHERS} -n {NAMESPACE} -o json | jq 'del(.metadata.resourceVersion, .metadata.uid, "
        '.metadata.creationTimestamp, .status) | .spec.selector.matchLabels = {"app":"x"} | '
        '.spec.template.metadata.labels = {"app":"x"}\' | kubectl replace --force -f -'
    )
    workstation.run("sleep 120")
    assert _got(workstation, f"deploy {TARGET}")["spec"]["replicas"] >= 4
    assert _got(workstation, f"deploy {OTHERS}")["status"]["readyReplicas"] == 2
