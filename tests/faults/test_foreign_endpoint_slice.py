"""A slice that no controller keeps: the data plane takes the union of a Service's slices, and nothing takes it away."""

from __future__ import annotations

import json

import pytest

from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.registry import declaration
from sregym_env.runtime.chance import Chance
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import subject

NAMESPACE = "hotel-reservation"
SERVICE = "memcached-rate"
SLICES = f"kubectl get endpointslices -n {NAMESPACE} -l kubernetes.io/service-name={SERVICE} -o json"
FAULT = declaration("foreign_endpoint_slice")


@pytest.fixture
def workstation() -> Workstation:
    return Workstation(subject("foreign_endpoint_slice", SERVICE).world(), ONCALL)


def _addresses(workstation: Workstation) -> set[str]:
    pieces = json.loads(workstation.run(SLICES).text)["items"]
    return {address for piece in pieces for each in piece["endpoints"] or () for address in each["addresses"]}


def test_the_endpoints_do_not_show_what_the_slices_add(workstation: Workstation) -> None:
    told = json.loads(workstation.run(f"kubectl get endpoints {SERVICE} -n {NAMESPACE} -o json").text)
    own = {each["ip"] for each in told["subsets"][0]["addresses"]}
    assert own < _addresses(workstation)


def test_a_share_of_the_connections_goes_there(workstation: Workstation) -> None:
    failing = {
        journey.journey
        for journey in workstation.world.traffic.health(30.0)
        if 0.0 < journey.success_ratio < 0.95
    }
    assert failing


def test_it_outlives_the_service_and_its_pods(workstation: Workstation) -> None:
    before = len(_addresses(workstation))
    workstation.run(f"kubectl get service {SERVICE} -n {NAMESPACE} -o yaml > /tmp/service.yaml")
    workstation.run(
        f"kubectl replace --force -f /tmp/service.yaml; kubectl rollout restart deploy/{SERVICE} -n {NAMESPACE}; sleep 60"
    )
    pieces = json.loads(workstation.run(SLICES).text)["items"]
    assert sorted("ownerReferences" in piece["metadata"] for piece in pieces) == [False, True]
    assert len(_addresses(workstation)) == before


def test_no_pod_of_the_service_has_an_address_that_is_drawn(every_inventory: Inventory) -> None:
    for target in FAULT.targets.find(every_inventory):
        own = {
            pod["status"].get("podIP")
            for pod in target.inventory.pods
            if target.selector.items() <= (pod["metadata"].get("labels") or {}).items()
        }
        for number in range(24):
            instance = FAULT.bind(every_inventory, target.name, None, Chance(("slice", number)))
            addresses = instance.parameters["addresses"]
            assert len(set(addresses)) == len(addresses) >= (len(own) + 1) // 2
            assert not own & set(addresses)
