"""A store that asks for a password: it is told so by its arguments or its file, and says NOAUTH to who has none."""

from __future__ import annotations

import pytest

from sregym_env.cluster.api import World
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.envs.tasks.pairs import inventory_of
from sregym_env.errors import AppError
from sregym_env.faults import problems
from sregym_env.faults.registry import declaration
from sregym_env.rollouts.validate import Subject
from sregym_env.tools.workstation import Workstation

FAULT = declaration("valkey_auth_disruption")


def _inventory(app: str) -> Inventory:
    found = inventory_of(app)
    assert not isinstance(found, AppError)
    return found


def _struck(app: str, target: str, **parameters: str) -> World:
    played = problems.pair(app, FAULT.name, target, parameters).model_copy(update={"variation": False})
    return Subject(played, seed=3).world()


def _typed(world: World, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text


def test_the_server_is_ready_and_says_noauth_and_so_does_its_client() -> None:
    world = _struck("astronomy-shop", "valkey-cart")
    scope = "-n astronomy-shop"
    assert "1/1" in _typed(world, f"kubectl get deploy valkey-cart {scope}")
    assert "NOAUTH Authentication required." in _typed(
        world, f"kubectl exec {scope} deploy/valkey-cart -- valkey-cli ping"
    )
    told = _typed(world, f"kubectl exec {scope} deploy/valkey-cart -- valkey-cli -a invalid_pass ping")
    assert "PONG" in told.splitlines()
    assert "NOAUTH" in _typed(world, f"kubectl logs {scope} deploy/cart --previous") + _typed(
        world, f"kubectl logs {scope} deploy/cart --tail=200"
    )


def test_a_client_takes_the_password_behind_the_address() -> None:
    world = _struck("astronomy-shop", "valkey-cart")
    lines = "kubectl set env deploy/cart -n astronomy-shop VALKEY_ADDR=valkey-cart:6379,password="
    _typed(world, f"{lines}invalid_pass")
    _typed(world, "kubectl rollout status deploy/cart -n astronomy-shop --timeout=180s")
    assert "1/1" in _typed(world, "kubectl get deploy cart -n astronomy-shop")
    world.advance(60.0)
    assert all(each.success_ratio > 0.99 for each in world.traffic.health(30.0))


@pytest.mark.parametrize("target", ["home-timeline-redis", "user-timeline-redis", "social-graph-redis"])
def test_the_file_says_it_as_well_as_the_arguments(target: str) -> None:
    inventory = _inventory("social-network")
    instance = FAULT.bind(inventory, target, {"way": "file"})
    assert instance.fault.resource.resource == "configmaps"
    assert instance.spec.wrong == "invalid_pass"
    if target == "user-timeline-redis":
        world = _struck("social-network", target, way="file")
        told = _typed(world, f"kubectl exec -n social-network deploy/{target} -- redis-cli ping")
        assert "NOAUTH" in told


def test_the_password_can_be_given_where_the_client_takes_one() -> None:
    shop = FAULT.bind(_inventory("astronomy-shop"), "valkey-cart")
    assert any("set env" in " ".join(remedy) for remedy in shop.remedies)
    social = FAULT.bind(_inventory("social-network"), "user-timeline-redis")
    assert not any("set env" in " ".join(remedy) for remedy in social.remedies)
