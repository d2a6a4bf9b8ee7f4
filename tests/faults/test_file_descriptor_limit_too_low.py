"""Open files of a process: who has no descriptor left accepts nobody, and serves those on whom it has taken."""

from __future__ import annotations

import re

import pytest

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.cluster.targets import ComponentTarget
from sregym_env.faults.wrong_binary import _program
from sregym_env.runtime.chance import Chance
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.world.strain import FULL
from sregym_env.tools.workstation import Workstation
from sregym_env.worlds.variation.vary import vary

HOTEL = "hotel-reservation"


def _typed(world: World, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text


def _begin(world: World, name: str, script: str) -> None:
    _typed(
        world,
        f"kubectl patch deploy {name} -n {HOTEL} --type json -p "
        f'\'[{{"op":"add","path":"/spec/template/spec/containers/0/command","value":["/bin/sh","-c","{script}"]}}]\'',
    )
    world.advance(120.0)


def _served(world: World) -> dict[str, float]:
    return {each.journey: each.success_ratio for each in world.traffic.health(60.0)}


@pytest.fixture
def world() -> EmbeddedWorld:
    return deployed_world(apps.app(HOTEL))


@pytest.fixture(scope="module")
def full() -> EmbeddedWorld:
    """Sixty-four descriptors for a hundred connections and its own."""
    world = deployed_world(apps.app(HOTEL))
    _begin(world, "frontend", "ulimit -n 64 && exec frontend")
    return world


def test_users_whom_nobody_accepts_wait_and_the_others_do_not(full: EmbeddedWorld) -> None:
    world = full.fork()
    assert all(0.3 < share < 0.6 for share in _served(world).values())
    errors = {text for each in world.traffic.health(60.0) for text in each.errors}
    assert errors == {"context deadline exceeded"}
    said = _typed(
        world, f"kubectl logs -n {HOTEL} deploy/frontend --since=30s | grep -c 'too many open files'"
    )
    assert 20 <= int(said) <= 35
    assert "1/1" in _typed(world, f"kubectl get pods -n {HOTEL} | grep ^frontend")


def test_new_connections_hang_and_its_port_is_open(full: EmbeddedWorld) -> None:
    world = full.fork()
    asked = f"kubectl exec -n {HOTEL} deploy/search -- "
    assert "timed out" in _typed(world, f"{asked}wget -T 3 -O- http://frontend:5000/")
    assert "open" in _typed(world, f"{asked}nc -zv -w 2 frontend 5000")


def test_its_kernel_says_the_same(full: EmbeddedWorld) -> None:
    world = full.fork()
    run = f"kubectl exec -n {HOTEL} deploy/frontend -- "
    assert re.search(r"Max open files +64 +64 ", _typed(world, f"{run}cat /proc/1/limits"))
    # What runs beside it has what the container was given.
    assert "1048576" in _typed(world, f"{run}sh -c 'ulimit -n'")


def test_more_descriptors_or_fewer_users_end_it(full: EmbeddedWorld) -> None:
    raised = full.fork()
    _begin(raised, "frontend", "ulimit -n 1024 && exec frontend")
    assert min(_served(raised).values()) > 0.99
    assert FULL not in raised.memory
    shared = full.fork()
    _typed(shared, f"kubectl scale deploy/frontend -n {HOTEL} --replicas=4")
    shared.advance(120.0)
    assert min(_served(shared).values()) > 0.99


def test_who_is_asked_over_kept_connections_needs_few(world: EmbeddedWorld) -> None:
    _begin(world, "geo", "ulimit -n 32; exec geo")
    assert min(_served(world).values()) > 0.99
    assert "Max open files            32 " in _typed(
        world, f"kubectl exec -n {HOTEL} deploy/geo -- cat /proc/1/limits"
    )


def test_nobody_raises_what_the_container_was_given(world: EmbeddedWorld) -> None:
    _begin(world, "geo", "ulimit -n 2000000 && exec geo")
    assert "Operation not permitted" in _typed(world, f"kubectl logs -n {HOTEL} deploy/geo --tail=5")
    assert _typed(world, "bash -c 'ulimit -n 512; ulimit -n; ulimit -n 600; ulimit -Sn'").count("512") == 2


@pytest.mark.parametrize("value", ["9" * 5000, "\u0663", "0x10", "1.5"])
def test_what_is_no_number_is_said_to_be_none(world: EmbeddedWorld, value: str) -> None:
    assert _typed(world, f"ulimit -n {value}") == f"bash: ulimit: {value}: invalid number\n"


def test_healthy_worlds_set_limits_too() -> None:
    app = apps.app(HOTEL)
    limits, programs = [], set()
    for seed in range(24):
        varied = vary(app, Chance(("limits", seed)))
        for manifest in varied.manifests:
            spec = (manifest.get("spec") or {}).get("template", {}).get("spec", {})
            for container in spec.get("containers") or ():
                command = container.get("command") or []
                if len(command) == 3 and "ulimit" in command[2]:
                    limits.append(int(re.findall(r"ulimit -n (\d+)", command[2])[0]))
                    programs.add(_program(command))
    assert len(limits) > 10
    assert min(limits) >= 4096
    assert programs <= {component.name for component in app.components}


def test_it_strikes_where_users_keep_connections() -> None:
    from sregym_env.faults.file_descriptor_limit_too_low import _connections, _crowded

    inventory = Inventory.of(deployed_world(apps.app(HOTEL)))
    found = {each.name for each in inventory.app.components if each.container and each.kind != "load"}
    struck = {
        name
        for name in found
        if ComponentTarget(inventory, inventory.app.by_name[name]).component.workload == "deployments.apps"
        and _crowded(ComponentTarget(inventory, inventory.app.by_name[name]))
    }
    assert struck == {"frontend"}
    assert _connections(ComponentTarget(inventory, inventory.app.by_name["frontend"])) == 100.0
