"""A corrected ConfigMap that nobody refers to: what is newest is right, and what runs is what was before."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import Create
from sregym_env.cluster.forkable import Forkable
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults import problems
from sregym_env.faults.fault import FaultInstance
from sregym_env.faults.registry import declaration
from sregym_env.rollouts.validate import Subject
from sregym_env.runtime.chance import Chance
from sregym_env.tools.workstation import Workstation

FAULT = declaration("configmap_fixed_but_not_rolled_out")
APP, TARGET = "astronomy-shop", "checkout"


@cache
def fixed() -> Subject:
    """The pair in a world of its own, with a past."""
    return Subject(problems.pair(APP, FAULT.name, TARGET), 3)


@pytest.fixture
def world() -> Forkable:
    return fixed().world()


def _said(world: World, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text.strip()


def _facts() -> dict[str, Any]:
    (instance,) = fixed().injected.instances
    return {**instance.fault.facts, **instance.fault.details}


def _read(world: World, line: str) -> Any:
    return json.loads(_said(world, f"{line} -n {APP} -o json"))


def _made(instance: FaultInstance) -> list[dict[str, Any]]:
    edits = [*instance.fault.earlier, *instance.fault.edits]
    made = [edit.manifest for edit in edits if isinstance(edit, Create)]
    return [each for each in made if each["kind"] == "ConfigMap"]


def test_only_one_setting_differs_between_what_runs_and_what_is_newest(every_inventory: Inventory) -> None:
    for target in FAULT.targets.find(every_inventory):
        instance = FAULT.bind(every_inventory, target.name, None, Chance(("fixed", target.name)))
        details, facts = instance.fault.details, instance.fault.facts
        data = {each["metadata"]["name"]: each["data"] for each in _made(instance)}
        # One more is of another component, and one of it is not taken.
        assert len(data) in (3, 6), target.name
        old, new = data[details["wrong"]], data[details["right"]]
        (differing,) = [key for key in old if old[key] != new[key]]
        assert facts["value"] in old[differing]
        first = data[facts["before"]]
        assert [key for key in first if first[key] != new[key]] == [differing]
        assert facts["retired"] in first[differing]
        assert len(new) == len(first) + 1


def test_a_file_that_is_only_called_json_is_nobodys_settings(every_inventory: Inventory) -> None:
    """As those are that teams mount by the way."""
    declared = dict(every_inventory.declared)
    for key, manifest in every_inventory.declared.items():
        if key[0] != "deployments.apps":
            continue
        notes = copy.deepcopy(manifest)
        pod = notes["spec"]["template"]["spec"]
        pod["volumes"] = [*(pod.get("volumes") or ()), {"name": "notes", "configMap": {"name": "notes"}}]
        own = pod["containers"][0]
        mount = {"name": "notes", "mountPath": "/srv/notes"}
        own["volumeMounts"] = [*(own.get("volumeMounts") or ()), mount]
        declared[key] = notes
        made = {"metadata": {"name": "notes", "namespace": key[1]}, "data": {"notes.json": "Q1zR 7Ff"}}
        declared["configmaps", key[1], "notes"] = {"apiVersion": "v1", "kind": "ConfigMap", **made}
    spoilt = replace(every_inventory, declared=declared)
    assert [each.name for each in FAULT.targets.find(spoilt)] == [
        each.name for each in FAULT.targets.find(every_inventory)
    ]


def test_the_name_ends_in_a_hash_of_the_content(every_inventory: Inventory) -> None:
    for target in FAULT.targets.find(every_inventory):
        instance = FAULT.bind(every_inventory, target.name, None, Chance(("hash", target.name)))
        names = [each["metadata"]["name"] for each in _made(instance)]
        stems = {name.rpartition("-")[0] for name in names}
        assert len(names) == len(set(names))
        assert len(stems) == (2 if len(names) == 6 else 1)
        assert all(len(name.rpartition("-")[2]) == 10 for name in names)


def test_the_newest_one_is_right_and_the_pods_run_with_the_one_before(world: Forkable) -> None:
    facts = _facts()
    made = {
        name: _read(world, f"kubectl get configmap {facts[name]}")["metadata"]["creationTimestamp"]
        for name in ("before", "wrong", "right")
    }
    assert made["before"] < made["wrong"] < made["right"]
    template = _said(world, f"kubectl get deployment {TARGET} -n {APP} -o yaml")
    assert facts["wrong"] in template
    assert facts["right"] not in template
    told = _said(world, f"kubectl describe pods -n {APP} -l opentelemetry.io/name={TARGET}")
    assert facts["wrong"] in told


def test_users_suffer_while_every_pod_is_ready(world: Forkable) -> None:
    failing = {journey.journey for journey in world.traffic.health(30.0) if journey.success_ratio < 0.5}
    assert "checkout" in failing
    status = _read(world, f"kubectl get deployment {TARGET}")["status"]
    assert status["updatedReplicas"] == status["availableReplicas"] == status["replicas"]


def test_to_take_the_newest_one_is_wrong_elsewhere(world: Forkable) -> None:
    (instance,) = fixed().injected.instances
    other = instance.parameters["bystander"]
    listed = _said(world, f"kubectl get cm -n {APP} --sort-by=.metadata.creationTimestamp -o name")
    stem = _facts()["wrong"].rpartition("-")[0].replace(TARGET, other)
    names = [line.partition("/")[2] for line in listed.splitlines() if f"/{stem}-" in line]
    template = _said(world, f"kubectl get deployment {other} -n {APP} -o yaml")
    assert [name in template for name in names] == [False, True, False]
    _said(
        world,
        f"kubectl get deployment {other} -n {APP} -o yaml | sed s/{names[1]}/{names[2]}/ | kubectl apply -f -",
    )
    for line in instance.remedies[0]:
        _said(world, line)
    assert not fixed().judge(world).passed


def test_the_first_look_does_not_name_it(world: Forkable) -> None:
    facts = _facts()
    for line in (
        f"kubectl get pods -n {APP} -o wide",
        f"kubectl get events -n {APP}",
        f"kubectl get deployments,services -n {APP}",
        "alerts",
    ):
        said = _said(world, line)
        assert facts["wrong"] not in said
        assert facts["right"] not in said


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["kubectl rollout restart deployment/{target} -n {app}"], id="restarted"),
        pytest.param(["kubectl delete pods -n {app} -l opentelemetry.io/name={target}"], id="pods-deleted"),
        pytest.param(
            [
                "kubectl get deployment/{target} -n {app} -o yaml | sed s/{wrong}/{before}/ | kubectl apply -f -",
            ],
            id="back-to-the-first-one",
        ),
        pytest.param(
            [
                "kubectl annotate configmap {right} -n {app} checked=yes",
                "kubectl rollout restart deployment/{target} -n {app}",
            ],
            id="the-right-one-touched",
        ),
    ],
)
def test_what_does_not_change_the_reference_is_no_repair(world: Forkable, lines: list[str]) -> None:
    for line in lines:
        _said(world, line.format(target=TARGET, app=APP, **_facts()))
    _said(world, "sleep 120")
    assert not fixed().judge(world).passed


def test_pointed_at_the_corrected_one_it_serves(world: Forkable) -> None:
    facts = _facts()
    _said(
        world,
        f"kubectl get deployment {TARGET} -n {APP} -o yaml | sed s/{facts['wrong']}/{facts['right']}/ "
        f"| kubectl apply -f - && kubectl rollout status deployment/{TARGET} -n {APP} --timeout=180s",
    )
    assert fixed().judge(world).passed
