"""A role that no longer grants what an init container fetches: old pods serve on, new ones are refused."""

from __future__ import annotations

import pytest

from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.registry import declaration
from sregym_env.runtime.chance import Chance
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import NAMESPACE, subject, tried

FAULT = declaration("rbac_misconfiguration")
ROLE = "geo-rbac-role"


@pytest.fixture
def workstation() -> Workstation:
    return Workstation(subject("rbac_misconfiguration", "geo").world(), ONCALL)


def test_the_api_server_refuses_what_the_pod_asks_for_first(workstation: Workstation) -> None:
    pods = workstation.run(f"kubectl get pods -n {NAMESPACE} -l io.kompose.service=geo").text
    assert "Init:CrashLoopBackOff" in pods or "Init:Error" in pods
    log = workstation.run(f"kubectl logs -n {NAMESPACE} deploy/geo -c config-loader").text
    assert log.splitlines()[-1] == "curl: (22) The requested URL returned error: 403"


def test_what_is_asked_for_is_there(workstation: Workstation) -> None:
    told = workstation.run(f"kubectl get configmap app-routing-config -n {NAMESPACE} -o name")
    assert told.exit_code == 0
    rules = workstation.run(f"kubectl get clusterrole {ROLE} -o jsonpath='{{.rules}}'").text
    assert "configmaps" not in rules


def test_nobody_grants_more_than_he_has(workstation: Workstation) -> None:
    rules = '{"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}'
    told = workstation.run(f"kubectl patch clusterrole {ROLE} --type=merge -p '{rules}'")
    assert "is attempting to grant RBAC permissions not currently held" in told.text


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([f"kubectl rollout restart deploy/geo -n {NAMESPACE}", "sleep 300"], id="restarted"),
        pytest.param(
            [
                f'kubectl patch deploy geo -n {NAMESPACE} --type=json -p \'[{{"op":"remove","path":"/spec/template/spec/initContainers"}}]\'',
                f"kubectl rollout status deploy/geo -n {NAMESPACE} --timeout=180s",
            ],
            id="init-container-removed",
        ),
        pytest.param(
            [
                f"kubectl set serviceaccount deploy/geo default -n {NAMESPACE}",
                "sleep 120",
            ],
            id="another-account",
        ),
    ],
)
def test_what_leaves_the_role_as_it_is_is_no_repair(lines: list[str]) -> None:
    verdict, _ = tried("rbac_misconfiguration", "geo", lines)
    assert not verdict.passed


def test_no_rule_that_is_drawn_grants_the_reading(every_inventory: Inventory) -> None:
    for target in FAULT.targets.find(every_inventory):
        for number in range(12):
            instance = FAULT.bind(every_inventory, target.name, None, Chance(("role", number)))
            place, wrong = instance.parameters["lacking"]
            right = instance.fault.details["right"]
            assert wrong != right and instance.parameters["settings"] not in wrong.split()
            assert place in ("verbs", "resources", "apiGroups", "resourceNames")
