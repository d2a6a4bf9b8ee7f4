"""What a fault leaves behind: what it implies and nothing else, written as innocent changes are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.cluster.apply import changed, ref
from sregym_env.cluster.edits import (
    Create,
    Delete,
    JsonPatch,
    MergePatch,
    ObjectRef,
    Restart,
    Rollout,
    Substitute,
)
from sregym_env.cluster.inventory import Inventory
from sregym_env.faults import onset
from sregym_env.faults.fault import FaultInstance
from sregym_env.faults.onset import befall
from sregym_env.faults.registry import declaration
from sregym_env.kube.types import Manifest
from sregym_env.rewards.baseline import protected_objects
from sregym_env.rewards.objects import desired
from sregym_env.runtime.chance import Chance
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.worlds import changes, lastapplied
from sregym_env.worlds.changes import Change
from sregym_env.worlds.lastapplied import APPLY, ARGO
from sregym_env.worlds.lived import lived_world

LOOK = 90.0
"""Seconds in which controllers answer a change."""

PAIRS = (
    ("incorrect_image", "search"),
    ("service_port_mismatch", "mongodb-rate"),
    ("missing_service", "memcached-rate"),
    ("scale_to_zero", "geo"),
    ("namespace_memory_limit", "rate"),
    ("network_policy_block", "mongodb-geo"),
    ("cordoned_nodes", "search"),
    ("configmap_drift", "geo"),
    ("service_dns_resolution_failure", "mongodb-geo"),
    ("revoke_auth_mongodb", "mongodb-rate"),
)
"""A fault of each kind of edit."""

Key = tuple[str, str, str]


@lru_cache(maxsize=1)
def ground() -> EmbeddedWorld:
    """A world that has lived."""
    return lived_world(apps.app("hotel-reservation"), Chance(("onset", 0)))


def bound(world: EmbeddedWorld, fault: str, target: str) -> FaultInstance:
    return declaration(fault).bind(Inventory.of(world), target, None, Chance(("onset", fault)))


def come(world: EmbeddedWorld, instance: FaultInstance) -> None:
    """The fault comes, and somebody notices at once."""

    def hurts(seconds: float) -> bool:
        world.advance(LOOK)
        return True

    befall(world, instance, Chance(("come",)), hurts)


def written(world: World) -> dict[Key, Manifest]:
    """What people have written, with who has."""
    return {key: _written(obj) for key, obj in protected_objects(world)}


def _written(obj: Manifest) -> Manifest:
    metadata = {k: v for k, v in obj["metadata"].items() if k != "resourceVersion"}
    metadata["managedFields"] = [
        e for e in metadata.get("managedFields", ()) if e.get("subresource") != "status"
    ]
    return {**{k: v for k, v in obj.items() if k != "status"}, "metadata": metadata}


def struck(instance: FaultInstance) -> Iterator[Key]:
    """The objects that a fault's edits name."""
    for edit in instance.fault.edits:
        match edit:
            case Create(manifest):
                target = ref(manifest)
            case JsonPatch() | MergePatch() | Delete() | Rollout() | Substitute() | Restart():
                target = edit.target
            case _:
                continue
        yield (target.resource, target.namespace or "", target.name)


@pytest.mark.parametrize(("fault", "target"), PAIRS, ids=lambda name: name)
def test_a_world_with_a_fault_differs_from_its_twin_in_what_the_fault_writes(fault: str, target: str) -> None:
    with_it, without = ground().fork(), ground().fork()
    instance = bound(with_it, fault, target)
    come(with_it, instance)
    without.run_until(with_it.now())
    now, then = written(with_it), written(without)
    differing = {key for key in now.keys() | then.keys() if now.get(key) != then.get(key)}
    assert differing == set(struck(instance))


def traces(world: World, target: ObjectRef) -> dict[str, Any]:
    """Everything about an object that tells of a write, but not what was written."""
    metadata = world.cluster.get(target.resource, target.name, target.namespace)["metadata"]
    writes = [
        (e["manager"], e["operation"], e.get("subresource", ""), e["time"])
        for e in metadata["managedFields"]
        if e.get("subresource") != "status"
    ]
    notes = metadata.get("annotations") or {}
    return {
        **{name: metadata.get(name) for name in ("generation", "creationTimestamp")},
        "fields": sorted(set(metadata) - {"annotations", "labels"}),
        "writes": writes,
        "revision": notes.get("deployment.kubernetes.io/revision"),
        "input": lastapplied.LAST_APPLIED in notes,
    }


def innocent(world: EmbeddedWorld, kind: str, component: str, manager: str) -> Change:
    # A budget is made for whoever has none yet.
    names = () if kind == "budget" else (component,)
    found = changes.drawn(world.app, Chance(("innocent", kind)), components=names, kinds=(kind,))
    assert found is not None
    return replace(found, manager=manager)


@pytest.mark.parametrize(
    "manager", ["helm", "argocd-controller", APPLY, "kubectl-edit", "kubectl-set", "Mozilla"]
)
@pytest.mark.parametrize(
    ("fault", "target", "kind"),
    [
        ("incorrect_image", "search", "env"),
        ("service_port_mismatch", "mongodb-rate", "service"),
        ("network_policy_block", "mongodb-geo", "budget"),
    ],
)
def test_an_innocent_change_by_the_same_hand_leaves_the_same_traces(
    fault: str, target: str, kind: str, manager: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guilty, harmless = ground().fork(), ground().fork()
    instance = bound(guilty, fault, target)
    monkeypatch.setattr(onset.Authors, "of", lambda self, edit: manager)
    come(guilty, instance)
    change = changes.happen(harmless, innocent(harmless, kind, target, manager))
    harmless.run_until(guilty.now())
    assert traces(guilty, instance.fault.resource) == traces(harmless, change.target)


def delivered(world: EmbeddedWorld, target: ObjectRef) -> None:
    """Have an object remember what was applied, as if a tool that applies had delivered it."""
    declared = next(m for m in world.app.manifests if ref(m) == target)
    known = world.cluster.get(target.resource, target.name, target.namespace)
    notes = lastapplied.sent(declared, APPLY)["metadata"]["annotations"]
    metadata = {**known["metadata"], "annotations": {**known["metadata"].get("annotations", {}), **notes}}
    world.cluster.replace({**known, "metadata": metadata}, field_manager=APPLY)


@pytest.mark.parametrize(
    ("manager", "follows"),
    [(APPLY, True), (ARGO, True), ("kubectl-edit", False), ("kubectl-set", False), ("helm", False)],
)
@pytest.mark.parametrize(
    ("fault", "target"),
    [
        ("incorrect_image", "search"),
        ("service_port_mismatch", "mongodb-rate"),
        ("configmap_drift", "geo"),
        ("service_wrong_pod_selection", "frontend"),
    ],
)
def test_what_was_applied_last_follows_a_fault_that_is_applied_and_no_other(
    manager: str, follows: bool, fault: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = ground().fork()
    instance = bound(world, fault, target)
    struck = [
        edit.target
        for edit in instance.fault.edits
        if isinstance(edit, JsonPatch | MergePatch | Rollout | Substitute)
    ]
    for each in struck:
        delivered(world, each)
    before = {each: world.cluster.get(each.resource, each.name, each.namespace) for each in struck}
    monkeypatch.setattr(onset.Authors, "of", lambda self, edit: manager)
    come(world, instance)
    assert struck
    for each in struck:
        live = world.cluster.get(each.resource, each.name, each.namespace)
        text = lastapplied.input_of(live)
        assert text is not None
        assert (text != lastapplied.input_of(before[each])) == follows
        if follows:
            # To apply what is remembered changes nothing.
            again = lastapplied.reapplied(live, APPLY, lambda known: known)
            assert again == live


@pytest.mark.parametrize(
    ("fault", "target"),
    [("incorrect_image", "search"), ("wrong_binary", "geo"), ("missing_secret", "rate")],
)
def test_who_tries_again_changes_something_else_of_it_and_that_stays(
    fault: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onset, "RETRIED", 1.0)
    monkeypatch.setattr(onset, "OTHERWISE", 1.0)
    tried = set()
    for number in range(6):
        world = ground().fork()
        instance = bound(world, fault, target)
        edits = [edit for edit in instance.fault.edits if isinstance(edit, Rollout)]
        before = desired_of(world)

        def hurts(seconds: float, world: EmbeddedWorld = world) -> bool:
            world.advance(LOOK)
            return True

        def pastime(seconds: float, chance: Chance, world: EmbeddedWorld = world) -> None:
            world.advance(LOOK)

        came = befall(world, instance, Chance(("tried", number)), hurts, pastime)
        assert not came.undoable
        for change in came.tried:
            tried.add(change.kind)
            key = (change.target.resource, change.target.namespace or "", change.target.name)
            assert change.later(world.cluster.get(*key[::2], key[1])) == world.cluster.get(*key[::2], key[1])
            before[key] = desired(change.later(written(ground())[key]))
        for edit in edits:
            live = world.cluster.get(edit.target.resource, edit.target.name, edit.target.namespace)
            assert changed(live, edit.changes)["spec"] == live["spec"], "the fault is still there"
        instance.heal(world, came.changes)
        assert desired_of(world) == before
    assert tried >= {"template"}


def desired_of(world: World) -> dict[Key, Manifest]:
    """What people want of every object."""
    return {key: desired(obj) for key, obj in protected_objects(world)}


def test_what_is_not_the_applications_is_created_by_who_can_create() -> None:
    world = ground()
    made = Create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "elsewhere"}})
    hands = {onset.Authors(world, Chance(("maker", number))).of(made) for number in range(60)}
    assert "kubectl-create" in hands and APPLY in hands
    assert not hands & {"kubectl-edit", "kubectl-patch"}
