"""A kernel's table of connections: who holds without end fills it, and whoever comes then waits in vain until it has room again."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.connection_table_full import _bench, _broker, _Serves, _Stops
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.network import conntrack
from sregym_env.tools.workstation import Workstation

HOTEL = "hotel-reservation"
PLACE = "telemetry"
GATEWAY = ObjectRef("statefulsets.apps", "device-gateway", PLACE)
GREEDY = ObjectRef("deployments.apps", "sensor-soak", PLACE)
MODEST = ObjectRef("deployments.apps", "meter-fleet", PLACE)
HOSTS = "device-gateway-0.device-gateway,device-gateway-1.device-gateway"


def _typed(world: World, line: str) -> str:
    return Workstation(world, ONCALL, HOTEL).run(line).text


def _number(world: World, node: str, name: str = "count") -> int:
    return int(_typed(world, f"ssh {node} sysctl -n net.netfilter.nf_conntrack_{name}"))


def _least(world: World) -> float:
    return min(each.success_ratio for each in world.traffic.health(60.0))


def _node(world: World) -> str:
    """Where consul stands."""
    pods = world.cluster.list("pods", HOTEL)
    return next(str(p["spec"]["nodeName"]) for p in pods if p["metadata"]["name"].startswith("consul"))


def _with(greedy: int) -> EmbeddedWorld:
    """Four clients that want so many connections each, a hundred a second, and one that wants three hundred."""
    world = deployed_world(apps.app(HOTEL))
    node = _node(world)
    world.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE}})
    for manifest in _broker(GATEWAY, 2, node):
        world.cluster.create(manifest)
    world.advance(30.0)
    world.cluster.create(_bench(GREEDY, HOSTS, 4, greedy, 10, node))
    world.cluster.create(_bench(MODEST, HOSTS, 1, 300, 10, node))
    return world


@pytest.fixture(scope="module")
def full() -> EmbeddedWorld:
    world = _with(500_000)
    world.advance(720.0)
    return world


def test_a_table_fills_at_the_rate_of_its_clients() -> None:
    world = _with(500_000)
    node = _node(world)
    assert _number(world, node, "max") == conntrack.USUAL
    world.advance(60.0)
    before = _number(world, node)
    world.advance(60.0)
    assert _number(world, node) - before == pytest.approx(4 * 100 * 60, rel=0.05)
    assert "connect_succ total=" in _typed(world, f"kubectl logs -n {PLACE} deploy/sensor-soak --tail=1")
    assert not conntrack.full_tables(world)


def test_what_stands_goes_on_and_whoever_comes_waits_in_vain(full: EmbeddedWorld) -> None:
    world = full.fork()
    node = _node(world)
    assert set(conntrack.full_tables(world)) == {node}
    assert _least(world) > 0.99
    assert "timed out" in _typed(world, "kubectl exec deploy/frontend -- wget -T 3 -O- http://consul:8500/")
    # Whoever stands on that machine does not even learn the address.
    assert "bad address" in _typed(world, "kubectl exec deploy/consul -- wget -T 3 -O- http://frontend:5000/")
    assert "no servers could be reached" in _typed(world, "kubectl exec deploy/consul -- nslookup frontend")
    # Between other machines nothing is amiss.
    assert "open" in _typed(world, "kubectl exec deploy/frontend -- nc -zv -w 2 search 8082")


def test_a_caller_that_restarts_does_not_come_back(full: EmbeddedWorld) -> None:
    world = full.fork()
    _typed(world, "kubectl delete pod -l io.kompose.service=search --wait=false")
    world.advance(150.0)
    assert _least(world) < 0.01
    assert "8500: i/o timeout" in _typed(world, "kubectl logs deploy/search --tail=3")


def test_the_kernel_and_the_exporter_tell(full: EmbeddedWorld) -> None:
    world = full.fork()
    node = _node(world)
    text = "nf_conntrack: nf_conntrack: table full, dropping packet"
    assert text in _typed(world, f"ssh {node} dmesg")
    assert text in _typed(world, f"ssh {node} journalctl -k -n 5 --no-pager")
    debug = f"kubectl debug node/{node} -q --profile=sysadmin --image=busybox -it -- "
    assert text in _typed(world, f"{debug}chroot /host dmesg")
    assert (
        _number(world, node) == _number(world, node, "max") == int(_typed(world, f"ssh {node} conntrack -C"))
    )
    assert f"{conntrack.USUAL}" in _typed(world, f"promql 'node_nf_conntrack_entries{{node=\"{node}\"}}'")
    drops = [word for word in _typed(world, f"ssh {node} conntrack -S").split() if word.startswith("drop=")]
    assert all(int(word.partition("=")[2]) > 0 for word in drops)
    pods = {pod["status"]["podIP"]: pod["metadata"]["name"] for pod in world.cluster.list("pods", PLACE)}
    listed = _typed(
        world,
        f"ssh {node} \"conntrack -L 2>/dev/null | grep -o ' src=[0-9.]*' | sort | uniq -c | sort -rn | head -n 6\"",
    )
    busiest = [pods.get(line.partition("src=")[2].strip(), "") for line in listed.splitlines()]
    assert sum(name.startswith("sensor-soak") for name in busiest) == 4


@pytest.mark.parametrize(
    "line",
    [
        'ssh {node} "conntrack -L 2>/dev/null | wc -l"',
        "ssh {node} conntrack -L 2>/dev/null | wc -l",
        "ssh {node} conntrack -L 2>/tmp/told > /tmp/all; wc -l < /tmp/all",
        'ssh {node} "conntrack -L > /tmp/all 2>/dev/null"; ssh {node} "cat /tmp/all | wc -l"',
        "ssh {node} conntrack -L 2>&1 >/dev/null | grep -o '[0-9]* flow' | cut -d' ' -f1",
        "ssh {node} conntrack -L 2>/dev/null | awk '{print $1}' | sort | uniq -c | awk '{n += $1} END {print n}'",
        'ssh {node} conntrack -L 2>/dev/null | awk \'{n[$1]++} END {print n["tcp"] + n["udp"]}\'',
        'kubectl debug node/{node} -q --profile=sysadmin --image=busybox -i -- chroot /host sh -c "conntrack -L 2>/dev/null | wc -l"',
    ],
)
def test_whoever_counts_the_entries_finds_them_all(full: EmbeddedWorld, line: str) -> None:
    world = full.fork()
    node = _node(world)
    assert int(_typed(world, line.replace("{node}", node))) == int(_typed(world, f"ssh {node} conntrack -C"))


@pytest.mark.parametrize(
    "line",
    [
        "kubectl scale deploy/sensor-soak -n telemetry --replicas=0",
        "kubectl delete deploy sensor-soak -n telemetry",
        "kubectl patch deploy sensor-soak -n telemetry --type json -p "
        '\'[{"op":"replace","path":"/spec/template/spec/containers/0/args/4","value":"2000"}]\'',
    ],
)
def test_who_stops_it_has_room_again_after_two_minutes(full: EmbeddedWorld, line: str) -> None:
    world = full.fork()
    node = _node(world)
    _typed(world, line)
    world.advance(60.0)
    # What was closed is kept for the kernel's time-out.
    assert _number(world, node) > 0.9 * conntrack.USUAL
    world.advance(100.0)
    assert _number(world, node) < 10_000
    assert not conntrack.full_tables(world)
    assert _Stops()(world.fork()).passed
    assert _Serves((GATEWAY, MODEST))(world).passed


def test_a_bound_of_the_gateway_is_one_too(full: EmbeddedWorld) -> None:
    world = full.fork()
    _typed(
        world,
        "kubectl get configmap device-gateway -n telemetry -o yaml | sed 's/connection_messages false/max_connections 4000/' | kubectl apply -f -",
    )
    _typed(world, "kubectl rollout restart statefulset/device-gateway -n telemetry")
    world.advance(240.0)
    assert _Stops()(world.fork()).passed


@pytest.mark.parametrize(
    "line",
    [
        "true",
        "kubectl delete pods -n telemetry --all --wait=false",
        "ssh {node} sysctl -w net.netfilter.nf_conntrack_max=300000",
    ],
)
def test_what_does_not_stop_it(full: EmbeddedWorld, line: str) -> None:
    world = full.fork()
    _typed(world, line.format(node=_node(world)))
    world.advance(120.0)
    assert not _Stops()(world).passed


def test_a_gateway_that_is_stopped_takes_away_what_others_need(full: EmbeddedWorld) -> None:
    world = full.fork()
    _typed(world, "kubectl scale statefulset device-gateway -n telemetry --replicas=0")
    world.advance(120.0)
    assert not _Serves((GATEWAY, MODEST))(world).passed


def test_a_larger_table_fills_again_until_no_port_is_left() -> None:
    world = _with(500_000)
    node = _node(world)
    _typed(world, f'ssh {node} "echo 400000 > /proc/sys/net/netfilter/nf_conntrack_max"')
    assert _number(world, node, "max") == 400_000
    world.advance(1200.0)
    assert conntrack.full_tables(world)
    assert _number(world, node) == 400_000


@pytest.mark.parametrize("value", ["9" * 5000, "\u0663", "-1", "1e6", "", "3000000000"])
def test_what_is_no_number_of_entries_changes_nothing(full: EmbeddedWorld, value: str) -> None:
    world = full.fork()
    node = _node(world)
    assert "Invalid argument" in _typed(
        world, f'ssh {node} "sysctl -w net.netfilter.nf_conntrack_max={value}"'
    )
    assert _number(world, node, "max") == conntrack.USUAL


def test_containers_cannot_change_it(full: EmbeddedWorld) -> None:
    world = full.fork()
    said = _typed(world, "kubectl exec deploy/consul -- sysctl -w net.netfilter.nf_conntrack_max=900000")
    assert "permission denied" in said
    assert conntrack.most(world, _node(world)) == conntrack.USUAL


@pytest.mark.parametrize(
    "args",
    [
        ["conn", "-h", ",".join(["a"] * 5000), "-c", "9" * 5000, "-i", "0"],
        ["conn", "-h", "", "-c", "\u0663", "-i", "-5", "-p", "99999999"],
        ["conn", "-c"],
        ["pub"],
    ],
)
def test_whatever_a_client_is_told_it_harms_nobody(args: list[str]) -> None:
    world = deployed_world(apps.app(HOTEL))
    manifest = _bench(GREEDY, HOSTS, 1, 1, 10, _node(world))
    manifest["metadata"]["namespace"] = "default"
    manifest["spec"]["template"]["spec"]["containers"][0]["args"] = args
    world.cluster.create(manifest)
    world.advance(300.0)
    assert not conntrack.full_tables(world)
    assert _least(world) > 0.99


def test_few_connections_change_nothing() -> None:
    world = _with(400)
    world.advance(400.0)
    assert not conntrack.full_tables(world)
    assert _least(world) > 0.99
    assert _Stops()(world.fork()).passed
    assert _number(world, _node(world)) < 6000
