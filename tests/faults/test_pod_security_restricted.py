"""A standard that a namespace begins to enforce: who is refused, what was said before, and who may change it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.pod_security_restricted import PREFIX
from sregym_env.faults.problems import pair
from sregym_env.faults.registry import declaration
from sregym_env.rollouts.validate import Subject
from sregym_env.runtime.chance import Chance
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import NAMESPACE, subject, tried, typed

FAULT = declaration("pod_security_restricted")
LABEL = f"kubectl label ns {NAMESPACE} --overwrite {PREFIX}enforce"
RESTARTED = [
    f"kubectl rollout restart deploy/geo -n {NAMESPACE}",
    f"kubectl rollout status deploy/geo -n {NAMESPACE} --timeout=120s",
]
WARNED = {"enforce": "baseline", "warn": "restricted"}


@pytest.fixture(scope="module")
def warned() -> Subject:
    """The pair where a lower standard was enforced, and the same one warned of, long before."""
    played = pair(
        "hotel-reservation", "pod_security_restricted", "geo", {"before": WARNED, "versioned": False}
    )
    return Subject(played.model_copy(update={"variation": False}), seed=5)


def test_new_pods_are_refused_and_running_ones_go_on() -> None:
    workstation = Workstation(subject("pod_security_restricted", "geo").world(), ONCALL)
    events = workstation.run(f"kubectl get events -n {NAMESPACE} --field-selector reason=FailedCreate").text
    assert 'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false' in events
    assert "1/1" in workstation.run(f"kubectl get deploy frontend -n {NAMESPACE}").text


def test_a_tool_warns_of_what_is_only_warned_of(warned: Subject) -> None:
    said = Workstation(warned.world(), ONCALL).run(RESTARTED[0]).text
    assert 'Warning: would violate PodSecurity "restricted:latest"' in said


@pytest.mark.parametrize(
    ("line", "passes"),
    [
        pytest.param(f"{LABEL}=baseline", True, id="as-it-was"),
        pytest.param(f"{LABEL}=privileged", False, id="lower-than-it-was"),
        pytest.param(f"{LABEL}-", False, id="nothing-enforced"),
        pytest.param(f"{LABEL}=baseline {PREFIX}warn-", False, id="no-longer-warned-of"),
    ],
)
def test_what_was_said_before_must_be_said_still(warned: Subject, line: str, passes: bool) -> None:
    world = warned.world()
    assert not typed(world, [line, *RESTARTED])
    assert warned.judge(world).passed is passes


def test_every_workload_made_to_comply_is_a_repair() -> None:
    complying = (
        f"for d in $(kubectl get deploy -n {NAMESPACE} -o name); do kubectl patch $d -n {NAMESPACE} --type=json -p "
        """'[{"op":"add","path":"/spec/template/spec/securityContext","value":{"runAsNonRoot":true,"runAsUser":1000,"fsGroup":1000,"""
        """"seccompProfile":{"type":"RuntimeDefault"}}},{"op":"add","path":"/spec/template/spec/containers/0/securityContext","value":"""
        """{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]'; done"""
    )
    verdict, complaints = tried("pod_security_restricted", "geo", [complying, "sleep 120"])
    assert not complaints
    failed = {check.name for check in verdict.failed}
    # Whether a database bears it is the database's own affair; nobody is charged for having complied.
    assert not failed & {"collateral", "privileges", "guards", "cause"}


def test_on_call_may_label_namespaces_and_neither_make_nor_delete_one() -> None:
    world = subject("pod_security_restricted", "geo").world()
    workstation = Workstation(world, ONCALL)
    # A warning that namespaces are in no namespace comes first.
    assert workstation.run(f"kubectl auth can-i patch ns/{NAMESPACE}").text.splitlines()[-1] == "yes"
    for verb in ("create", "delete"):
        assert workstation.run(f"kubectl auth can-i {verb} namespaces").text.splitlines()[-1].startswith("no")


def test_a_namespace_of_others_may_not_be_touched() -> None:
    lines = [f"{LABEL}-", f"kubectl label ns kube-system {PREFIX}enforce=privileged", *RESTARTED]
    verdict, _ = tried("pod_security_restricted", "geo", lines)
    assert "collateral" in {check.name for check in verdict.failed}


def test_nothing_is_said_to_be_less_long_before(every_inventory: Inventory) -> None:
    for target in FAULT.targets.find(every_inventory):
        for seed in range(4):
            before = FAULT.bind(every_inventory, target.name, None, Chance(("before", seed))).parameters[
                "before"
            ]
            assert before.get("enforce") != "restricted"


def _said_before(inventory: Inventory) -> list[str]:
    """What is enforced long before, in many draws."""
    return [
        FAULT.bind(inventory, "geo", None, Chance(("enforced", seed))).parameters["before"].get("enforce", "")
        for seed in range(40)
    ]


def test_the_middle_standard_was_enforced_where_all_pods_meet_it_and_nowhere_else(
    inventory: Inventory,
) -> None:
    assert _said_before(inventory).count("baseline") > 30
    key = ("deployments.apps", NAMESPACE, "frontend")
    frontend = inventory.declared[key]
    security = {"capabilities": {"add": ["SYS_PTRACE"]}}
    containers = [
        {**each, "securityContext": security} for each in frontend["spec"]["template"]["spec"]["containers"]
    ]
    pod = {**frontend["spec"]["template"]["spec"], "containers": containers}
    more = {
        **frontend,
        "spec": {**frontend["spec"], "template": {**frontend["spec"]["template"], "spec": pod}},
    }
    needing = replace(inventory, declared={**inventory.declared, key: more})
    assert "baseline" not in _said_before(needing)


def test_the_middle_standard_is_no_repair_where_pods_need_more() -> None:
    world = subject("pod_security_restricted", "geo").world()
    patch = """kubectl patch deploy frontend -n hotel-reservation --type=json -p '[{"op":"add","path":"/spec/template/spec/containers/0/securityContext","value":{"capabilities":{"add":["NET_ADMIN"]}}}]'"""
    workstation = Workstation(world, ONCALL)
    assert not typed(world, [f"{LABEL}=baseline"])
    workstation.run(patch)
    world.advance(60.0)
    events = workstation.run(f"kubectl get events -n {NAMESPACE} --field-selector reason=FailedCreate").text
    assert 'violates PodSecurity "baseline:latest": non-default capabilities' in events
