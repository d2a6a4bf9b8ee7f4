"""A source of truth that is wrong: a Service that is mended by hand is reverted, and nothing else is touched."""

from __future__ import annotations

import json

import pytest

from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.registry import declaration
from sregym_env.runtime.chance import Chance
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import NAMESPACE, subject, tried

FAULT = declaration("gitops_reverts")
SERVICE = "memcached-rate"
MENDED = (
    f"kubectl patch svc {SERVICE} -n {NAMESPACE} --type=json "
    '-p \'[{"op":"replace","path":"/spec/ports/0/targetPort","value":11211}]\''
)


@pytest.fixture
def workstation() -> Workstation:
    return Workstation(subject("gitops_reverts", SERVICE).world(), ONCALL)


def _forwards_to(workstation: Workstation) -> str:
    path = "{.spec.ports[0].targetPort}"
    return workstation.run(f"kubectl get svc {SERVICE} -n {NAMESPACE} -o jsonpath='{path}'").text.strip()


def test_a_repair_by_hand_is_reverted_by_the_next_run(workstation: Workstation) -> None:
    assert _forwards_to(workstation) == "9999"
    workstation.run(MENDED)
    assert _forwards_to(workstation) == "11211"
    workstation.run("sleep 400")
    assert _forwards_to(workstation) == "9999"


def test_the_writer_shows_in_the_managed_fields_and_says_what_it_does(workstation: Workstation) -> None:
    workstation.run(MENDED)
    workstation.run("sleep 400")
    listed = workstation.run(f"kubectl get svc {SERVICE} -n {NAMESPACE} -o json --show-managed-fields").text
    assert "curl" in {entry["manager"] for entry in json.loads(listed)["metadata"]["managedFields"]}
    job = workstation.run("kubectl get jobs -n gitops -o name").text.split()[-1]
    assert f"synced service/{SERVICE}" in workstation.run(f"kubectl logs -n gitops {job}").text.splitlines()


def test_the_source_corrected_heals_by_itself(workstation: Workstation) -> None:
    workstation.run(
        "kubectl get cm state-sync-desired -n gitops -o yaml | sed s/9999/11211/ | kubectl apply -f -"
    )
    workstation.run("sleep 400")
    assert _forwards_to(workstation) == "11211"


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([MENDED], id="the-service-alone"),
        pytest.param(["kubectl delete cronjob state-sync -n gitops", MENDED], id="the-program-deleted"),
        pytest.param(["kubectl delete cm state-sync-desired -n gitops", MENDED], id="the-source-deleted"),
        pytest.param(
            ['kubectl patch cronjob state-sync -n gitops -p \'{"spec":{"suspend":true}}\'', MENDED],
            id="suspended-for-good",
        ),
        pytest.param(
            ["kubectl delete rolebinding state-sync -n hotel-reservation", MENDED], id="its-rights-taken-away"
        ),
    ],
)
def test_what_leaves_the_source_wrong_or_nobody_to_apply_it_is_no_repair(lines: list[str]) -> None:
    verdict, _ = tried("gitops_reverts", SERVICE, lines)
    assert not verdict.passed


def test_every_file_at_the_source_is_a_service_of_its_namespace(every_inventory: Inventory) -> None:
    for target in FAULT.targets.find(every_inventory):
        instance = FAULT.bind(every_inventory, target.name, None, Chance(("source", 1)))
        (source,) = [
            edit.manifest
            for edit in instance.fault.earlier
            if getattr(edit, "manifest", {}).get("kind") == "ConfigMap"
        ]
        names = [name.removesuffix(".json") for name in source["data"]]
        assert target.name in names
        assert all(("services", target.namespace, name) in every_inventory.declared for name in names)
