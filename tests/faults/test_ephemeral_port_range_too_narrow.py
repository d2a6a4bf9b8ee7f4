"""Local ports of a pod: who needs many for one destination runs out of them, everybody else goes on."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.cluster.oncall import ONCALL
from sregym_env.runtime.chance import Chance
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.network.local_ports import at_once, refused, taken_as
from sregym_env.sim.users.dialling import lacking
from sregym_env.sim.users.traffic import _walk
from sregym_env.sim.world.strain import LACKING, NO_LACK
from sregym_env.tools.workstation import Workstation
from sregym_env.worlds.variation.vary import vary

HOTEL, SOCIAL, SHOP = "hotel-reservation", "social-network", "astronomy-shop"
RANGE = "net.ipv4.ip_local_port_range"


def _typed(world: World, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text


def _set(world: World, app: str, name: str, value: str, sysctl: str = RANGE) -> None:
    _typed(
        world,
        f"kubectl patch deploy {name} -n {app} --type merge -p "
        f'\'{{"spec":{{"template":{{"spec":{{"securityContext":{{"sysctls":[{{"name":"{sysctl}","value":"{value}"}}]}}}}}}}}}}\'',
    )
    world.advance(180.0)


def _struck(app: str, name: str, value: str) -> EmbeddedWorld:
    world = deployed_world(apps.app(app))
    _set(world, app, name, value)
    return world


def _served(world: World) -> dict[str, float]:
    return {each.journey: each.success_ratio for each in world.traffic.health(60.0)}


@pytest.fixture(scope="module")
def frontend() -> EmbeddedWorld:
    """Four ports, as published, before five names that are watched."""
    return _struck(HOTEL, "frontend", "32000 32003")


def test_a_name_without_a_port_to_watch_it_is_never_found(frontend: EmbeddedWorld) -> None:
    world = frontend.fork()
    served = _served(world)
    assert served["recommend"] > 0.99
    assert served["user"] > 0.99
    assert served["search"] < 0.01
    assert served["reserve"] < 0.01
    pods = _typed(world, f"kubectl get pods -n {HOTEL}")
    assert "0/1" not in pods
    said = _typed(world, f"kubectl logs -n {HOTEL} deploy/frontend | grep 'assign requested'")
    assert said.count("\n") == 1
    assert "health/service/srv-reservation" in said


def test_its_kernel_says_the_same(frontend: EmbeddedWorld) -> None:
    world = frontend.fork()
    read = f"kubectl exec -n {HOTEL} deploy/frontend -- cat /proc/sys/net/ipv4/ip_local_port_range"
    assert _typed(world, read) == "32000\t32003\n"
    assert _typed(world, read.replace("frontend", "search")) == "32768\t60999\n"
    asked = f"kubectl exec -n {HOTEL} deploy/frontend -- wget -O- http://consul:8500/v1/status/leader"
    assert "Cannot assign requested address" in _typed(world, asked)
    assert "Cannot assign" not in _typed(world, asked.replace("frontend", "search"))
    # Another destination has the same ports once more.
    other = f"kubectl exec -n {HOTEL} deploy/frontend -- wget -O- http://jaeger:16686/"
    assert "Cannot assign" not in _typed(world, other)


@pytest.mark.parametrize("value", ["32000 32004", "1024 65535"])
def test_as_many_ports_as_names_are_enough(frontend: EmbeddedWorld, value: str) -> None:
    world = frontend.fork()
    _set(world, HOTEL, "frontend", value)
    assert min(_served(world).values()) > 0.99
    # Nobody else in the pod gets one then.
    assert (LACKING in world.memory) == (value == "32000 32004")


def test_who_keeps_one_connection_needs_one_port() -> None:
    world = _struck(SHOP, "recommendation", "32000 32000")
    assert min(_served(world).values()) > 0.99


def test_whom_a_lost_call_kills_a_few_are_too_many() -> None:
    """Two ports are enough for nearly all of its calls to its cache."""
    world = _struck(HOTEL, "reservation", "32000 32001")
    assert _served(world)["reserve"] < 0.5
    assert _served(world)["recommend"] > 0.99
    said = _typed(world, f"kubectl logs -n {HOTEL} deploy/reservation --previous | tail -30")
    assert "connect: cannot assign requested address" in said


def test_closed_connections_hold_ports_for_a_minute() -> None:
    few, more, enough = (
        _served(_struck(SHOP, "product-reviews", f"40000 {40000 + number - 1}"))["reviews"]
        for number in (4, 10, 60)
    )
    assert few < 0.35 < more < 0.8
    assert enough > 0.99


def test_pools_that_renew_their_connections_run_out() -> None:
    world = _struck(SOCIAL, "social-graph-service", "32000 32003")
    assert 0.3 < _served(world)["compose"] < 0.7
    assert _served(world)["user-timeline"] > 0.99
    said = _typed(world, f"kubectl logs -n {SOCIAL} deploy/social-graph-service --tail=3")
    assert "Failed to connect to Redis: Cannot assign requested address" in said
    # Its configuration says for how long a connection lives.
    volumes = world.cluster.get("deployments.apps", "social-graph-service", SOCIAL)["spec"]["template"][
        "spec"
    ]["volumes"]
    name = next(each["configMap"]["name"] for each in volumes if "configMap" in each)
    _typed(
        world,
        f"kubectl get cm {name} -n {SOCIAL} -o json | sed 's/keepalive_ms\\\\\": 10000/keepalive_ms\\\\\": 3600000/g' | "
        f"kubectl replace -f -; kubectl rollout restart deploy/social-graph-service -n {SOCIAL}",
    )
    world.advance(180.0)
    assert _served(world)["compose"] > 0.9


def test_workers_that_get_no_port_fail_their_share() -> None:
    world = _struck(SOCIAL, "nginx-thrift", "32000 32003")
    assert set(_served(world).values()) == {0.5}
    said = _typed(world, f"kubectl logs -n {SOCIAL} deploy/nginx-thrift --tail=20")
    assert "failed (99: Cannot assign requested address)" in said


def test_a_healthy_world_looks_at_nobody() -> None:
    world = deployed_world(apps.app(HOTEL))
    walk = _walk(world, strained=False, lacking=NO_LACK).evaluation
    assert not lacking(walk)
    assert LACKING not in world.memory


def test_settings_that_no_pod_may_bring_are_refused() -> None:
    world = deployed_world(apps.app(HOTEL))
    _typed(
        world,
        f"kubectl run probe -n {HOTEL} --image=busybox --restart=Never --overrides="
        '\'{"spec":{"securityContext":{"sysctls":[{"name":"net.core.somaxconn","value":"1024"}]}}}\' -- sleep 60',
    )
    world.advance(20.0)
    pod = world.cluster.get("pods", "probe", HOTEL)
    assert pod["status"]["reason"] == "SysctlForbidden"
    assert (
        pod["status"]["message"] == 'Pod was rejected: forbidden sysctl: "net.core.somaxconn" not allowlisted'
    )
    _set(world, HOTEL, "geo", "60000 1024")
    events = _typed(world, f"kubectl get events -n {HOTEL} --field-selector reason=FailedCreatePodSandBox")
    assert "write /proc/sys/net/ipv4/ip_local_port_range: invalid argument" in events


def test_what_the_kernel_reads() -> None:
    assert taken_as("32000 32003") == (32000, 32003)
    assert taken_as("1024\t65535") == (1024, 65535)
    assert taken_as("40000") == (40000, 60999)
    assert [taken_as(each) for each in ("60999 32768", "0 100", "1024-65535", "1 99999", "")] == [None] * 5


def test_losses() -> None:
    assert refused(1, 1.0) == pytest.approx(0.5)
    assert refused(0, 0.1) == 1.0
    assert refused(0.5, 1.0) == pytest.approx(0.75)
    assert refused(50, 10.0) < 1e-9
    assert at_once(60.0, 0.001, 10.0) == 3
    assert at_once(0.1, 0.001, 10.0) == 1


def test_healthy_worlds_bring_settings_too() -> None:
    app = apps.app(HOTEL)
    found: list[dict[str, str]] = []
    for seed in range(24):
        varied = vary(app, Chance(("sysctls", seed)))
        for manifest in varied.manifests:
            spec = (manifest.get("spec") or {}).get("template", {}).get("spec", {})
            found += (spec.get("securityContext") or {}).get("sysctls") or ()
    ranges = [taken_as(each["value"]) for each in found if each["name"] == RANGE]
    assert len(ranges) > 10
    assert all(each is not None and each[1] - each[0] > 20_000 for each in ranges)


def test_sockets_tell_where_the_ports_are() -> None:
    """Those of connections that have ended, and of such as stand; who has ports enough says nothing of his."""
    world = _struck(SOCIAL, "compose-post-service", "60000 60002")
    inside = f"kubectl debug -q -i -n {SOCIAL} $(kubectl get po -n {SOCIAL} -o name -l app=compose-post-service) --image=nicolaka/netshoot -- "
    lines = _typed(world, inside + "ss -tan state time-wait").splitlines()
    lines = lines[next(at for at, line in enumerate(lines) if line.startswith("Recv-Q Send-Q ")) :]
    ended = [line.split() for line in lines[1:]]
    assert {line[2].rpartition(":")[2] for line in ended} == {"60000", "60001", "60002"}
    assert all(
        line.startswith("TIME-WAIT")
        for line in _typed(world, inside + "ss -tan").splitlines()
        if ":6000" in line
    )
    assert f"tw {len(ended)} " in _typed(world, inside + "cat /proc/net/sockstat")
    assert f"timewait {len(ended)})" in _typed(world, inside + "ss -s")
    assert "LISTEN" in _typed(world, inside + "ss -tln")
    other = f"kubectl exec -n {SOCIAL} deploy/text-service -- cat /proc/net/sockstat"
    assert " tw 0 " in _typed(world, other)
