"""Packets that are too large for the way between the machines: what they carry never arrives, everything smaller does."""

from __future__ import annotations

import json
import re

import pytest

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import MachinePathLimit
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.registry import declaration
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import subject

NAMESPACE = "social-network"
STORE, READER = "post-storage-service", "home-timeline-service"


def _typed(world: World, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text


def _set(world: World, mtu: str, *, rolled: bool = True) -> None:
    _typed(
        world,
        f'kubectl patch cm calico-config -n kube-system --type merge -p \'{{"data":{{"veth_mtu":"{mtu}"}}}}\'',
    )
    if rolled:
        _typed(world, "kubectl rollout restart ds/calico-node -n kube-system")
        world.advance(200.0)


def _renew(world: World, *names: str) -> None:
    for name in names:
        _typed(world, f"kubectl rollout restart deploy/{name} -n {NAMESPACE}")
    world.advance(120.0)


def _served(world: World) -> dict[str, bool]:
    return {each.journey: each.success_ratio > 0.95 for each in world.traffic.health(60.0)}


def _pod(world: World, name: str) -> tuple[str, str, str]:
    (pod,) = world.cluster.list("pods", NAMESPACE, label_selector=f"service={name}")
    return pod["metadata"]["name"], pod["spec"]["nodeName"], pod["status"]["podIP"]


def _limit(world: EmbeddedWorld, carried: int = 1460) -> None:
    for node in world.cluster.list("nodes"):
        world.nodes.apply(MachinePathLimit(node["metadata"]["name"], carried))


@pytest.fixture
def world() -> EmbeddedWorld:
    return deployed_world(apps.app(NAMESPACE))


@pytest.fixture(scope="module")
def hit() -> EmbeddedWorld:
    """Both ends of one way were made after the change."""
    world = deployed_world(apps.app(NAMESPACE))
    _limit(world)
    _set(world, "0")
    _renew(world, STORE, READER)
    assert _pod(world, STORE)[1] != _pod(world, READER)[1]
    return world


def _ping(world: World, size: int) -> str:
    node, address = _pod(world, READER)[1], _pod(world, STORE)[2]
    pin = f'{{"spec":{{"nodeName":"{node}"}}}}'
    return _typed(
        world,
        f"kubectl run probe -n {NAMESPACE} --image=busybox --restart=Never -it --rm --overrides='{pin}' -- "
        f"ping -c 3 -q -s {size} {address}",
    )


def test_large_answers_hang_between_newer_pods_of_different_machines(hit: EmbeddedWorld) -> None:
    world = hit.fork()
    assert _served(world) == {"home-timeline": False, "user-timeline": True, "compose": True}
    errors = next(each.errors for each in world.traffic.health(60.0) if each.journey == "home-timeline")
    assert any("timed out" in text or "deadline" in text for text in errors)
    for pod in world.cluster.list("pods", NAMESPACE):
        for status in pod["status"].get("containerStatuses") or ():
            assert status["restartCount"] == 0
            assert status["ready"] or "terminated" in status["state"]


def test_older_pods_are_served_as_long_as_one_end_is_old(world: EmbeddedWorld) -> None:
    _limit(world)
    assert all(_served(world).values())
    _set(world, "0")
    assert all(_served(world).values())
    _renew(world, STORE)
    assert all(_served(world).values())
    _renew(world, READER)
    assert not _served(world)["home-timeline"]


def test_the_setting_counts_once_the_agent_has_read_it(world: EmbeddedWorld) -> None:
    _limit(world)
    _set(world, "0", rolled=False)
    _renew(world, STORE, READER)
    assert all(_served(world).values())


@pytest.mark.parametrize(("size", "arrives"), [(56, True), (1380, True), (1440, False), (4000, False)])
def test_ping_tells_by_size(hit: EmbeddedWorld, size: int, arrives: bool) -> None:
    lost = re.findall(r"(\d+)% packet loss", _ping(hit.fork(), size))
    assert lost == ["0" if arrives else "100"]


def test_interfaces_say_what_they_got(hit: EmbeddedWorld) -> None:
    world = hit.fork()
    run = "kubectl run probe -n {n} --image=busybox --restart=Never -it --rm -- ip link"
    assert "mtu 1480" in _typed(world, run.format(n=NAMESPACE))
    old, _, _ = _pod(world, "nginx-thrift")
    assert "mtu 1440" in _typed(
        world, f"kubectl debug -n {NAMESPACE} {old} -q --image=busybox -it -- ip link"
    )
    node = _pod(world, STORE)[1]
    shown = _typed(
        world,
        f"kubectl debug node/{node} -q --profile=sysadmin --image=busybox -it -- cat /host/var/lib/calico/mtu",
    )
    assert "1480" in shown


def _from_another_machine(world: EmbeddedWorld) -> str:
    """A command line that runs curl on a machine that has no pod of the renewed front end."""
    _renew(world, "nginx-thrift")
    node = _pod(world, "nginx-thrift")[1]
    other = next(
        each["metadata"]["name"]
        for each in world.cluster.list("nodes")
        if each["metadata"]["name"] != node and not each["spec"].get("taints")
    )
    pin = f'{{"spec":{{"nodeName":"{other}"}}}}'
    return f"kubectl run probe -n {NAMESPACE} --image=curlimages/curl --restart=Never -it --rm --overrides='{pin}' -- "


def test_curl_of_something_large_hangs_and_of_something_small_does_not(hit: EmbeddedWorld) -> None:
    world = hit.fork()
    run = _from_another_machine(world)
    small = _typed(world, run + "curl -s -m 5 -o /dev/null -w '%{http_code}' http://nginx-thrift:8080/")
    assert "200" in small
    large = _typed(
        world,
        run
        + "curl -s -m 5 -o /dev/null -w '%{http_code}' 'http://nginx-thrift:8080/wrk2-api/user-timeline/read?user_id=1&start=0&stop=10'",
    )
    assert "000" in large


@pytest.mark.parametrize("again", [(STORE,), (READER,)])
def test_a_smaller_mtu_and_one_new_end_heal(hit: EmbeddedWorld, again: tuple[str, ...]) -> None:
    world = hit.fork()
    _set(world, "1440")
    assert not _served(world)["home-timeline"]
    _renew(world, *again)
    assert all(_served(world).values())


def test_restarts_alone_heal_nothing(hit: EmbeddedWorld) -> None:
    world = hit.fork()
    _typed(world, f"kubectl rollout restart deploy -n {NAMESPACE}")
    world.advance(240.0)
    assert not all(_served(world).values())


def test_who_is_struck_answers_at_length_to_somebody_who_can_be_made_anew(every_inventory: Inventory) -> None:
    for target in declaration("mtu_blackhole_by_payload_size").targets.find(every_inventory):
        assert max(target.component.answers.values()) > 1460
        assert target.callers


def test_the_first_commands_do_not_name_it() -> None:
    pair = subject("mtu_blackhole_by_payload_size", STORE, NAMESPACE)
    world = pair.world()
    first = "\n".join(
        _typed(world, line)
        for line in (
            f"kubectl get deploy,svc -n {NAMESPACE}",
            f"kubectl get pods -n {NAMESPACE}",
            "kubectl get nodes",
            f"kubectl get events -n {NAMESPACE} --field-selector type=Warning",
            "alerts",
        )
    ).lower()
    assert "mtu" not in first
    assert "calico" not in first


@pytest.mark.parametrize(
    ("app", "store", "large", "small"),
    [
        (
            "astronomy-shop",
            "postgresql",
            "psql postgresql://root:otel@postgresql/otel -c 'select * from catalog.products'",
            "psql postgresql://root:otel@postgresql/otel -c 'select id from catalog.products limit 1'",
        ),
        (
            "hotel-reservation",
            "mongodb-profile",
            "mongo mongodb-profile/profile-db --quiet --eval 'db.hotels.find().toArray()'",
            "mongo mongodb-profile/profile-db --quiet --eval 'db.hotels.count()'",
        ),
    ],
)
def test_clients_of_databases_hang_over_large_results(app: str, store: str, large: str, small: str) -> None:
    world = deployed_world(apps.app(app))
    _set(world, "1480")
    _typed(world, f"kubectl rollout restart deploy/{store} -n {app}")
    world.advance(150.0)
    (pod,) = (
        each for each in world.cluster.list("pods", app) if each["metadata"]["name"].startswith(f"{store}-")
    )
    image, node = pod["spec"]["containers"][0]["image"], pod["spec"]["nodeName"]
    other = next(
        each["metadata"]["name"]
        for each in world.cluster.list("nodes")
        if each["metadata"]["name"] != node and not each["spec"].get("taints")
    )
    pin = f'{{"spec":{{"nodeName":"{other}"}}}}'
    _typed(world, f"kubectl run client -n {app} --image={image} --overrides='{pin}' --command -- sleep 9999")
    world.advance(60.0)
    run = f"timeout 20 kubectl exec -n {app} client -- "
    before = {line: _typed(world, run + line) for line in (large, small)}
    assert len(before[large]) > 1460
    assert before[small].strip()
    _limit(world)
    assert not _typed(world, run + large).strip()
    assert _typed(world, run + small) == before[small]


def _resent(world: World, node: str) -> float:
    query = f'rate(node_netstat_Tcp_RetransSegs{{node="{node}"}}[3m])'
    ((_, _, values),) = world.telemetry.metrics.query(query, world.now() // 1000).series
    return float(values[-1])


def test_who_answers_sends_it_again_and_again(hit: EmbeddedWorld) -> None:
    world = hit.fork()
    world.advance(60.0)
    node, other = _pod(world, STORE)[1], _pod(world, READER)[1]
    assert _resent(world, node) > 10.0 > 1.0 > _resent(world, other)
    name = _pod(world, STORE)[0]
    told = _typed(
        world, f"kubectl exec -n {NAMESPACE} {name} -- cat /proc/net/snmp | grep ^Tcp: | awk '{{print $13}}'"
    )
    assert int(told.split()[1]) > 1000
    assert int(_typed(world, f"ssh {node} nstat -az TcpExtTCPTimeouts | awk 'NR > 1 {{print $2}}'")) > 1000
    _set(world, "1440")
    _renew(world, READER)
    world.advance(200.0)
    assert _resent(world, node) < 1.0


def test_spans_tell_who_waits_in_vain_for_what_was_served(hit: EmbeddedWorld) -> None:
    world = hit.fork()
    world.advance(60.0)
    said = _typed(
        world,
        "traces search home-timeline-service --operation read_home_timeline_server --errors --limit 5 -o json | "
        "jq -c '.data[].spans[] | {op: .operationName, took: .duration, wrong: any(.tags[]; .key == \"error\")}'",
    )
    rows = [json.loads(line) for line in said.splitlines()]
    asked = [row for row in rows if row["op"] == "post_storage_read_posts_client"]
    served = [row for row in rows if row["op"] == "post_storage_read_posts_server"]
    assert len(asked) == len(served) == 5
    assert all(row["wrong"] and row["took"] >= 1_000_000 for row in asked)
    assert not any(row["wrong"] or row["took"] > 500_000 for row in served)


def test_what_never_arrives_is_served_by_nobody(hit: EmbeddedWorld) -> None:
    world = hit.fork()
    run = _from_another_machine(world)
    sent = "curl -s -m 5 -o /dev/null -w '%{http_code}' -X POST -d "
    address = "http://nginx-thrift:8080/nowhere"
    assert "404" in _typed(world, f"{run}{sent}short {address}")
    assert "000" in _typed(world, f"{run}{sent}{'x' * 2000} {address}")
