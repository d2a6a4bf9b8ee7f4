"""Every declared fault binds to each of its targets and says what it must say."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from sregym_env import apps, faults
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.targets import services
from sregym_env.errors import ProblemError, UsageError
from sregym_env.faults import registry
from sregym_env.faults.fault import Declaration, Fault, fault
from sregym_env.faults.mechanisms import MECHANISMS, states
from sregym_env.faults.registry import declaration, declarations
from sregym_env.faults.spec import FaultSpec
from sregym_env.sim.bringup.deploy import deployed_world

every_fault = pytest.mark.parametrize("declared", declarations(), ids=lambda d: d.name)


def test_faults_are_found_by_scanning() -> None:
    names = [declared.name for declared in declarations()]
    assert names == sorted(names)
    assert len(names) >= 25


@every_fault
def test_a_fault_is_documented(declared: Declaration) -> None:
    assert declared.summary.endswith((".", ","))
    assert declared.mechanism in MECHANISMS


@every_fault
def test_a_fault_has_targets(declared: Declaration, inventory: Inventory) -> None:
    shop = (
        Inventory.of(deployed_world(apps.app("astronomy-shop")))
        if not declared.targets.find(inventory)
        else inventory
    )
    assert declared.targets.find(shop)


@every_fault
def test_targets_have_names_of_their_own(declared: Declaration, every_inventory: Inventory) -> None:
    targets = [target.name for target in declared.targets.find(every_inventory)]
    assert len(set(targets)) == len(targets)


@pytest.mark.sampled
@every_fault
def test_a_bound_fault_has_a_spec_that_its_own_cause_satisfies(
    declared: Declaration, every_inventory: Inventory
) -> None:
    for target in declared.targets.find(every_inventory):
        instance = declared.bind(every_inventory, target.name)
        spec = instance.spec
        assert FaultSpec.model_validate_json(spec.model_dump_json()) == spec
        words = " ".join(spec.cause.lower().split())
        assert states(spec.mechanism, words), words
        assert all(name in spec.cause for name in spec.components) or spec.resource_name in spec.cause
        assert spec.journeys
        if spec.wrong and declared.name not in ("service_dns_resolution_failure", "stale_coredns_config"):
            assert spec.field


@every_fault
def test_remedies_are_commands_that_parse_and_name_no_fault(
    declared: Declaration, every_inventory: Inventory
) -> None:
    for target in declared.targets.find(every_inventory):
        instance = declared.bind(every_inventory, target.name)
        assert instance.remedies and all(instance.remedies)
        for command in (*instance.investigation, *(c for remedy in instance.remedies for c in remedy)):
            assert command.startswith(("kubectl ", "sleep ", "ssh "))
            assert declared.name not in command
            shlex.split(command.partition("<<")[0])


@every_fault
def test_objects_that_a_fault_makes_do_not_name_it(declared: Declaration, every_inventory: Inventory) -> None:
    for target in declared.targets.find(every_inventory):
        fault = declared.bind(every_inventory, target.name).fault
        assert fault.edits or fault.disturbances
        text = repr((fault.edits, fault.trigger)).replace("default", "").replace("Default", "")
        # A filter of the shop's proxy is called so.
        text = text.replace("envoy.filters.http.fault", "")
        for word in (
            declared.name,
            declared.name.replace("_", "-"),
            "fault",
            "inject",
            "chaos",
            "sregym_env",
        ):
            assert word not in text


@every_fault
def test_words_fit_the_kind_of_workload(declared: Declaration, every_inventory: Inventory) -> None:
    """Repairs, investigations and causes speak of a component's workload by the kind it has."""
    for target in declared.targets.find(every_inventory):
        instance = declared.bind(every_inventory, target.name)
        said = " ".join(
            (*instance.investigation, *(c for r in instance.remedies for c in r), instance.spec.cause)
        )
        app = every_inventory.app
        for kind, name in re.findall(
            r"(?i)\b(deploy(?:ment)?|statefulset|sts|daemonset|ds)s?[ /]([a-z][\w-]*)", said
        ):
            if name in app.by_name:
                right = app.by_name[name].workload
                full = {"deploy": "deployment", "sts": "statefulset", "ds": "daemonset"}.get(
                    kind.lower(), kind.lower()
                )
                assert right == f"{full}s.apps", (target.name, kind, name)


@every_fault
def test_a_probe_that_must_fail_asks_where_nothing_listens(
    declared: Declaration, every_inventory: Inventory
) -> None:
    if declared.mechanism == "liveness_kills_under_load":
        pytest.skip("it asks the right server, which is busy")
    for target in declared.targets.find(every_inventory):
        for edit in declared.bind(every_inventory, target.name).fault.edits:
            for change in getattr(edit, "changes", {}).values():
                if isinstance(change, dict) and "httpGet" in change:
                    assert change["httpGet"]["port"] not in target.ports


def test_parameters_come_from_the_signature(inventory: Inventory) -> None:
    port = declaration("service_target_port_mismatch")
    assert port.bind(inventory, "consul", {"wrong_port": 1234}).spec.wrong == "1234"
    with pytest.raises(ProblemError, match="wrong_port"):
        port.bind(inventory, "consul", {"wrong_port": "many"})
    with pytest.raises(ProblemError, match="colour"):
        port.bind(inventory, "consul", {"colour": "red"})


def test_unknown_names_are_refused_with_near_ones(inventory: Inventory) -> None:
    with pytest.raises(ProblemError, match="missing_service"):
        declaration("missing_servise")
    with pytest.raises(ProblemError, match="mongodb-geo"):
        declaration("missing_service").bind(inventory, "mongo")


@pytest.mark.parametrize(
    ("name", "target", "restarted"),
    [
        ("scale_to_zero", "mongodb-geo", ["geo"]),
        ("scale_to_zero", "memcached-rate", []),
        ("missing_service", "memcached-rate", ["rate"]),
        ("missing_service", "frontend", []),
        ("network_policy_block", "recommendation", []),
        ("pvc_claim_mismatch", "user-pvc", ["user"]),
    ],
)
def test_the_trigger_restarts_who_would_not_notice(
    inventory: Inventory, name: str, target: str, restarted: list[str]
) -> None:
    trigger = declaration(name).bind(inventory, target).fault.trigger
    assert [edit.component for edit in trigger] == restarted


def test_services_of_registered_servers_are_no_targets(inventory: Inventory) -> None:
    names = {target.name for target in declaration("missing_service").targets.find(inventory)}
    assert {"geo", "search", "user", "jaeger"}.isdisjoint(names)
    assert {"consul", "frontend", "mongodb-geo", "memcached-rate"} <= names


def test_the_busiest_node_comes_first(inventory: Inventory) -> None:
    first = declaration("latent_sector_error").bind(inventory)
    assert first.target.node == "sre-worker2"
    assert len(first.target.volumes) == 3


@pytest.mark.parametrize(
    ("words", "near"),
    [
        ({"layer": "netwrk", "mechanism": "wrong_target_port"}, "network"),
        ({"layer": "network", "mechanism": "wrong_target_prt"}, "wrong_target_port"),
        ({"layer": "network", "mechanism": "wrong_target_port", "level": "brutal"}, "easy, medium, hard"),
    ],
)
def test_a_declaration_in_unknown_words_is_refused(words: dict[str, Any], near: str) -> None:
    with pytest.raises(UsageError, match=near):
        fault(targets=services(), **words)


def test_a_remedy_that_is_a_text_is_refused() -> None:
    with pytest.raises(UsageError, match="a remedy is a list of command lines, not 'kubectl get pods'"):
        Fault(
            resource=ObjectRef("pods", "web", "shop"),
            cause="it is broken",
            edits=[],
            remedies=["kubectl get pods"],
        )


def test_what_is_wrong_with_a_declaration_is_told_of_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def imported(name: str) -> object:
        raise UsageError("no mechanism 'wrong_target_prt'; did you mean wrong_target_port?")

    monkeypatch.setattr(importlib, "import_module", imported)
    with pytest.raises(
        UsageError, match=r"faults/scale_to_zero\.py: no mechanism 'wrong_target_prt'; did you mean"
    ):
        registry._declared("scale_to_zero")


@pytest.mark.parametrize(
    ("name", "head", "said"),
    [
        ("shop_closed", '@fault(layer="kubernetes", mechanism="scaled_to_zero", targets=services())', ""),
        (
            "shop_shut",
            '@fault(layer="kubernetes", mechanism="scaled_to_zero", targets=services())',
            "faults/shop_shut.py declares the fault shop_closed, which would not be found",
        ),
        ("shop_closed", "", "faults/shop_closed.py: shop_closed is not declared"),
    ],
)
def test_a_fault_that_nobody_would_find_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, head: str, said: str
) -> None:
    (tmp_path / f"{name}.py").write_text(
        "from __future__ import annotations\n"
        "from sregym_env.cluster.targets import ServiceTarget, services\n"
        "from sregym_env.faults.fault import Fault, fault\n\n"
        f"{head}\n"
        'def shop_closed(target: ServiceTarget) -> Fault:\n    """It is closed."""\n    raise NotImplementedError\n'
    )
    monkeypatch.setattr(faults, "__path__", [str(tmp_path)])
    try:
        if not said:
            assert [each.name for each in registry.declarations.__wrapped__()] == [name]
            return
        with pytest.raises(UsageError, match=said):
            registry.declarations.__wrapped__()
        with pytest.raises(UsageError, match=said):
            registry.declaration.__wrapped__(name)
    finally:
        sys.modules.pop(f"sregym_env.faults.{name}")
        vars(faults).pop(name)
