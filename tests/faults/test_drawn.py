"""Parameters that are drawn: many that differ, none that heals, none that tells; and every draw can be repaired."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import orjson
import pytest

from sregym_env import apps
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.envs.injection import LOOK_SECONDS, suffering
from sregym_env.faults.drawn import Drawn
from sregym_env.faults.fault import Declaration, FaultInstance
from sregym_env.faults.mechanisms import states
from sregym_env.faults.onset import strike
from sregym_env.faults.problems import Problem, pair
from sregym_env.faults.registry import declaration, declarations
from sregym_env.rewards import stored
from sregym_env.rewards.baseline import Baseline, call, capture, protected_objects
from sregym_env.rewards.oracle import judge_state
from sregym_env.rollouts.validate import desired
from sregym_env.runtime.chance import Chance
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation

DRAWS = 20
"""Of one target."""

READ = 6
"""Draws of one target whose words are read as the judge reads; reading takes ten times as long as drawing."""

LEAST: Mapping[str, int] = {
    # Builds that do not work are the application's: another member of its family has other ones.
    "faulty_image": 1,
    "incompatible_image": 1,
    "volume_node_conflict": 5,
    "wrong_binary": 6,
    "cpu_limit_too_low": 5,
    # Two ways to spell out a standard, and what was said before: nothing, mostly, where some container needs a capability.
    "pod_security_restricted": 3,
    # There is nothing about a machine that is gone but which one it is.
    "node_without_power": 1,
    # Seven settings, or none: it has been stopped.
    "kubelet_does_not_run": 4,
    "pod_anti_affinity_deadlock": 8,
    # A policy has two values, of which one is at fault; one leaking build is published of each image.
    "internal_traffic_policy_local": 1,
    "memory_leak": 1,
    # Only which of the machines it is on which its callers stand, of which most have one.
    "stale_backend_on_some_nodes": 1,
    # Most flags have one other variant.
    "served_feature_flag": 1,
}
"""Different draws that so many chances give at least, where it is fewer than :data:`USUAL`."""

USUAL = 9

TELLING = re.compile(
    r"broken|wrong|\bfault|inject|chaos|legacy|extra-node|deny-all|\bbad\b|fake|dummy|invalid|missing|non-?exist|poison|"
    r"sregym_env|\bfail(s|ed|ing)?\b|\btrap|\bold\b|mistake|unknown",
    re.IGNORECASE,
)
"""Words that no operator's object would have, or that say what is the matter."""

every_fault = pytest.mark.parametrize("declared", declarations(), ids=lambda d: d.name)


def drawn(
    declared: Declaration,
    inventory: Inventory,
    target: str,
    number: int,
    given: Mapping[str, Any] | None = None,
) -> FaultInstance:
    return declared.bind(inventory, target, given, Chance(("drawn", declared.name, target, number)))


def written(instance: FaultInstance) -> str:
    return orjson.dumps(dict(instance.parameters), option=orjson.OPT_SORT_KEYS).decode()


def shown(instance: FaultInstance) -> str:
    return repr((instance.fault.earlier, instance.fault.edits, instance.fault.disturbances))


def ends(declared: Declaration, inventory: Inventory) -> list[Any]:
    """The first, the middle and the last of a fault's targets, which stand for all: targets differ in what is drawn from, not how."""
    found = declared.targets.find(inventory)
    return list(
        {target.name: target for target in (*found[:1], *found[len(found) // 2 :][:1], *found[-1:])}.values()
    )


@pytest.mark.sampled
@every_fault
def test_draws_differ(declared: Declaration, every_inventory: Inventory) -> None:
    for target in ends(declared, every_inventory):
        found = {shown(drawn(declared, every_inventory, target.name, number)) for number in range(DRAWS)}
        # How much there is to choose from is the application's matter where it is not ours.
        usual = USUAL if target.app.name in apps.bundled() else 1
        assert len(found) >= min(usual, LEAST.get(declared.name, USUAL)), target.name


@every_fault
def test_no_parameter_is_a_constant(declared: Declaration) -> None:
    assert all(isinstance(default, Drawn) for default in declared.defaults.values())


@pytest.mark.sampled
@every_fault
def test_a_draw_changes_what_is_there(declared: Declaration, every_inventory: Inventory) -> None:
    """No value that is drawn is the one that stands there in a healthy system."""
    for target in declared.targets.find(every_inventory):
        for number in range(READ):
            instance = drawn(declared, every_inventory, target.name, number)
            details = instance.fault.details
            assert details.get("wrong") != details.get("right") or "wrong" not in details, written(instance)


@pytest.mark.sampled
@every_fault
def test_equal_chances_draw_alike_and_parameters_round_trip(
    declared: Declaration, every_inventory: Inventory
) -> None:
    for target in declared.targets.find(every_inventory)[:3]:
        one, two = (drawn(declared, every_inventory, target.name, 7) for _ in range(2))
        assert shown(one) == shown(two)
        problem = pair(every_inventory.app.name, declared.name, target.name, orjson.loads(written(one)))
        (choice,) = Problem.model_validate_json(problem.model_dump_json()).faults
        # Whatever else would be drawn: what the problem says wins.
        again = drawn(declared, every_inventory, choice.target, 8, choice.parameters)
        assert written(again) == written(one)
        assert (shown(again), again.spec, again.remedies) == (shown(one), one.spec, one.remedies)


@pytest.mark.sampled
@every_fault
def test_a_draw_tells_nothing(declared: Declaration, every_inventory: Inventory) -> None:
    for target in ends(declared, every_inventory):
        for number in range(DRAWS):
            text = shown(drawn(declared, every_inventory, target.name, number))
            # The class names of edits, what an application's own objects say, the key with which the published shop asks
            # its language model, and a filter of its proxy's own template.
            own = re.findall(r'"description": "[^"]*"', getattr(target, "entry", ""))
            for known in (
                "AnyDatabase",
                "'dummy'",
                "'failurePolicy': 'Fail'",
                "envoy.filters.http.fault",
                *own,
            ):
                text = text.replace(known, "")
            told = TELLING.findall(text)
            assert not told, (target.name, told, text)


@pytest.mark.sampled
@every_fault
def test_the_cause_of_a_draw_states_its_mechanism_and_values(
    declared: Declaration, every_inventory: Inventory
) -> None:
    for target in ends(declared, every_inventory):
        for number in range(READ):
            instance = drawn(declared, every_inventory, target.name, number)
            spec, words = instance.spec, " ".join(instance.spec.cause.lower().split())
            assert states(spec.mechanism, words), words
            assert spec.resource_name in spec.cause or spec.resource_kind in (
                "Node",
                "ConfigMap",
                "MongoDB account",
            )
            for remedy in instance.remedies:
                assert all(
                    command.startswith(("kubectl ", "sleep ", "ssh ")) and declared.name not in command
                    for command in remedy
                )


@pytest.mark.sampled
@every_fault
def test_published_values_are_what_is_played_without_chance(
    declared: Declaration, every_inventory: Inventory
) -> None:
    for target in declared.targets.find(every_inventory)[:1]:
        instance = declared.bind(every_inventory, target.name)
        for name, default in declared.defaults.items():
            assert instance.parameters[name] == default.at_published(target)


def test_a_port_that_is_drawn_is_served_by_nobody(every_inventory: Inventory) -> None:
    for name, parameter in (
        ("service_target_port_mismatch", "wrong_port"),
        ("service_port_mismatch", "wrong"),
    ):
        declared = declaration(name)
        for target in declared.targets.find(every_inventory):
            ports = {port["port"] for port in target.manifest["spec"]["ports"]} | {target.port}
            for number in range(60):
                port = drawn(declared, every_inventory, target.name, number).parameters[parameter]
                assert 0 < port < 65536 and port not in ports


def test_a_selector_that_is_drawn_matches_no_pod(every_inventory: Inventory) -> None:
    declared = declaration("service_selector_mismatch")
    pods = [pod["metadata"].get("labels") or {} for pod in every_inventory.pods]
    for target in declared.targets.find(every_inventory):
        for number in range(60):
            selector = drawn(declared, every_inventory, target.name, number).parameters["selector"]
            assert not any(selector.items() <= labels.items() for labels in pods), selector


# --- in a world -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ground:
    """A healthy world, and what it is."""

    world: EmbeddedWorld
    inventory: Inventory
    baseline: Baseline


@cache
def ground(app: str) -> Ground:
    world = deployed_world(apps.app(app))
    return Ground(world, Inventory.of(world), capture(world))


def home(declared: Declaration) -> Ground:
    """The first application in which the fault has targets, the best known one first."""
    others = [name for name in apps.bundled() if name != "hotel-reservation"]
    return next(
        at for at in map(ground, ("hotel-reservation", *others)) if declared.targets.find(at.inventory)
    )


def struck(declared: Declaration, number: int) -> tuple[FaultInstance, EmbeddedWorld, Any]:
    """A world in which a fault with drawn parameters has come, on one of its targets, another one for every number."""
    at = home(declared)
    targets = declared.targets.find(at.inventory)
    instance = drawn(declared, at.inventory, targets[(number * 5 + 1) % len(targets)].name, number)
    world = at.world.fork()
    return instance, world, strike(world, instance)


@pytest.mark.sampled
@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.exhaustive)])
@every_fault
def test_users_suffer_from_a_draw_until_it_is_repaired(declared: Declaration, number: int) -> None:
    instance, world, _ = struck(declared, number)
    baseline = home(declared).baseline
    for _ in range(30):
        world.advance(LOOK_SECONDS)
        if suffering(world, baseline):
            break
    assert suffering(world, baseline), written(instance)
    baseline = replace(baseline, called=call(world), kept=stored.met(world, baseline.kept, instance.entered))
    assert not judge_state(world, baseline, (instance,)).passed, written(instance)
    # Every way of repairing it is tried on one of the draws; the first one on all.
    for remedy in instance.remedies if number == 0 else instance.remedies[:1]:
        trial = world.fork()
        workstation = Workstation(trial, ONCALL)
        said = [workstation.run(command).text for command in remedy]
        verdict = judge_state(trial, baseline, (instance,))
        assert verdict.passed, (written(instance), [check.observed for check in verdict.failed], said)


@pytest.mark.sampled
@every_fault
def test_a_draw_is_taken_back_exactly(declared: Declaration) -> None:
    instance, world, onset = struck(declared, 3)
    instance.heal(world, onset.changes)
    # A kubelet takes back what it has said of its machine when that has been over for five minutes.
    world.advance(900.0 if declared.mechanism in ("disk_filled", "pids_taken") else 120.0)
    now = {key: desired(obj) for key, obj in protected_objects(world)}
    then = {key: desired(obj) for key, obj in home(declared).baseline.objects.items()}
    assert sorted(key for key in now.keys() | then.keys() if now.get(key) != then.get(key)) == []
