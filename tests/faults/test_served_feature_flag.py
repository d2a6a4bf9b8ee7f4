"""Feature flags: which there are, what the file says of them, and what stays as it is when one is switched."""

from __future__ import annotations

import json

import pytest

from sregym_env import apps
from sregym_env.apps.astronomy_shop.edition import Edition
from sregym_env.apps.astronomy_shop.family import edition
from sregym_env.apps.astronomy_shop.files import FLAGS, flags
from sregym_env.apps.astronomy_shop.flags import HARMFUL, HARMLESS
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.targets import FlagTarget, feature_flags
from sregym_env.faults.onset import strike
from sregym_env.faults.registry import declaration
from sregym_env.runtime.chance import Chance
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.worlds.changes import drawn

APP = apps.app("astronomy-shop")
TARGETS: dict[str, FlagTarget] = {
    target.name: target for target in feature_flags().find(Inventory.of(deployed_world(APP)))
}


def test_every_harmful_flag_is_a_target_and_has_its_variants_in_the_file() -> None:
    assert list(TARGETS) == [flag.name for flag in HARMFUL]
    for flag in HARMFUL:
        assert set(flag.variants) <= set(FLAGS[flag.name]["variants"]) - {FLAGS[flag.name]["defaultVariant"]}


@pytest.mark.parametrize("flag", HARMFUL, ids=lambda flag: flag.name)
def test_switching_one_changes_that_one_alone(flag: object) -> None:
    target = TARGETS[flag.name]  # type: ignore[attr-defined]
    text = target.config_manifest["data"][target.file.key]
    before = json.loads(text)["flags"]
    assert text.count(target.entry) == 1
    for variant in target.flag.variants:
        after = json.loads(text.replace(target.entry, target.switched(variant)))["flags"]
        assert {name for name in before if before[name] != after[name]} == {target.name}
        assert after[target.name]["defaultVariant"] == variant


def test_an_application_without_flags_has_no_targets() -> None:
    assert feature_flags().find(Inventory.of(deployed_world(apps.app("social-network")))) == []


def test_teams_have_flags_of_their_own_some_of_which_are_on() -> None:
    drawn_flags: list[Edition] = [edition(Chance((seed,))) for seed in range(12)]
    states = {on for each in drawn_flags for on in each.flags.values()}
    assert states == {True, False}
    for each in drawn_flags:
        served = json.loads(flags(each.flags))["flags"]
        assert set(served) == set(FLAGS) | set(each.flags)
        assert all(served[flag.name]["defaultVariant"] == "off" for flag in HARMFUL)
        assert set(each.flags) <= set(HARMLESS)


def test_innocent_changes_switch_only_harmless_flags() -> None:
    family = APP.family
    assert family is not None
    switched = set()
    for seed in range(40):
        app = family(APP, Chance((seed,)))
        change = drawn(app, Chance((seed,)).at("change"), components=("flagd",), kinds=("configmap",))
        for step in change.steps if change is not None else ():
            assert isinstance(step.after, str) and isinstance(step.before, str)
            now, then = (json.loads(text)["flags"] for text in (step.after, step.before))
            switched |= {name for name in now if now[name] != then[name]}
    assert switched
    assert switched <= set(HARMLESS)


def test_what_is_taken_back_is_read_again() -> None:
    world = deployed_world(APP).fork()
    instance = declaration("served_feature_flag").bind(
        Inventory.of(world), "paymentFailure", {"variant": "50%"}
    )

    def orders() -> float:
        world.advance(120.0)
        return {each.journey: each.success_ratio for each in world.traffic.health(20.0)}["checkout"]

    onset = strike(world, instance)
    assert orders() == pytest.approx(0.5)
    instance.heal(world, onset.changes)
    assert orders() == 1.0
