"""Webhooks that may each be ignored, and of which together no request hears the end."""

from __future__ import annotations

import pytest

from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.registry import declaration
from sregym_env.faults.webhooks_time_out_together import BOUND
from sregym_env.runtime.chance import Chance
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import NAMESPACE, subject

FAULT = declaration("webhooks_time_out_together")
SERVERS = ("audit-log-enforcer", "image-policy-checker", "pod-resource-validator", "tenant-quota-validator")
OVER = "Timeout: request did not complete within requested timeout - context deadline exceeded"


@pytest.fixture
def workstation() -> Workstation:
    return Workstation(subject("webhooks_time_out_together", "geo").world(), ONCALL)


def test_events_name_no_webhook(workstation: Workstation) -> None:
    events = workstation.run(f"kubectl get events -n {NAMESPACE} --field-selector reason=FailedCreate").text
    assert f"Error creating: {OVER}" in events
    assert not any(name in events for name in SERVERS)


def test_the_replica_set_hears_of_it_after_as_long_as_a_request_may_take(workstation: Workstation) -> None:
    counted = f"kubectl get events -n {NAMESPACE} --field-selector reason=FailedCreate -o jsonpath='{{.items[*].count}}'"
    before = int(workstation.run(counted).text)
    workstation.run(f"sleep {5 * BOUND}")
    assert 3 <= int(workstation.run(counted).text) - before <= 5


def test_a_pod_made_by_hand_waits_out_the_whole_time_and_is_refused(workstation: Workstation) -> None:
    world = subject("webhooks_time_out_together", "geo").world()
    begins = world.now()
    outcome = Workstation(world, ONCALL).run(
        f"kubectl run probe --image=busybox:1.36 -n {NAMESPACE} -- sleep 60"
    )
    assert OVER in outcome.text
    assert BOUND <= (world.now() - begins) / 1e6 < BOUND + 5


def test_the_log_of_the_api_server_tells_which_are_not_reached(workstation: Workstation) -> None:
    log = workstation.run("kubectl logs -n kube-system -l component=kube-apiserver --tail=20").text
    assert "failing open" in log
    assert sum(f'failed calling webhook "{name}.policy-system.svc"' in log for name in SERVERS) >= 3


def test_the_servers_answer_whom_the_policies_let_in(workstation: Workstation) -> None:
    """From beside them, and from the machine they run on; not from the application."""
    inside = workstation.run(
        f"kubectl exec -n {NAMESPACE} deploy/frontend -- nc -z -w 3 {SERVERS[0]}.policy-system.svc 443"
    )
    assert inside.exit_code != 0
    up = workstation.run("kubectl get deploy -n policy-system --no-headers").text
    assert up.count("1/1") == 4


def test_in_drawn_worlds_each_of_the_four_is_needed_to_pass_the_bound(every_inventory: Inventory) -> None:
    for target in FAULT.targets.find(every_inventory):
        for seed in range(5):
            waits = dict(
                FAULT.bind(every_inventory, target.name, None, Chance(("waits", seed))).parameters["waits"]
            )
            assert len(waits) == 4
            assert sum(waits.values()) > BOUND
            assert all(
                1 <= seconds <= 30 and sum(waits.values()) - seconds < BOUND for seconds in waits.values()
            )
