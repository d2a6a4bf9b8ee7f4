"""What machines and pods say of their network interfaces: ``ip``, ``/proc/net/dev`` and ``/sys/class/net`` agree, with the cluster too."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster.identity import ADMIN
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation

APP = apps.app("hotel-reservation")
NODE = "sre-worker"


@pytest.fixture(scope="module")
def world() -> EmbeddedWorld:
    return deployed_world(APP, 1).fork()


@pytest.fixture(scope="module")
def desk(world: EmbeddedWorld) -> Workstation:
    return Workstation(world, ADMIN)


def on(desk: Workstation, line: str) -> str:
    return desk.run(f"ssh {NODE} '{line}'").text


def inside(desk: Workstation, line: str) -> str:
    return desk.run(f"kubectl exec -n {APP.namespace} deploy/consul -- {line}").text


def test_every_pod_of_a_machine_has_a_cable_and_a_route(world: EmbeddedWorld, desk: Workstation) -> None:
    pods = {
        pod["status"]["podIP"]: pod["metadata"]["uid"]
        for pod in world.store.list("pods")
        if pod["spec"].get("nodeName") == NODE and not pod["spec"].get("hostNetwork")
    }
    routes = dict(line.split(" dev ") for line in on(desk, "ip route").splitlines() if " dev cali" in line)
    assert set(routes) == set(pods)
    links = on(desk, "ip -o link").splitlines()
    for address, cable in routes.items():
        (line,) = (line for line in links if cable.split()[0] in line)
        assert f"link-netns cni-{pods[address]}" in line
        assert "mtu 1440" in line
    # The pod's own end names the same cable.
    address = inside(desk, "ip -4 addr show eth0").split("inet ")[1].partition("/")[0]
    number = inside(desk, "ip link show eth0").partition("@if")[2].partition(":")[0]
    where = next(
        pod["spec"]["nodeName"] for pod in world.store.list("pods") if pod["status"].get("podIP") == address
    )
    there = desk.run(f"ssh {where} ip -o link").text
    assert any(line.startswith(f"{number}: cali") for line in there.splitlines())


def test_other_machines_pods_are_behind_the_tunnel(world: EmbeddedWorld, desk: Workstation) -> None:
    lines = on(desk, "ip route").splitlines()
    for node in world.store.list("nodes"):
        block, address = node["spec"]["podCIDR"], node["status"]["addresses"][0]["address"]
        own = node["metadata"]["name"] == NODE
        assert (
            f"blackhole {block} proto bird " if own else f"{block} via {address} dev tunl0 proto bird onlink "
        ) in lines
    assert lines[0] == "default via 172.18.0.1 dev eth0 "
    assert on(desk, "ip route get 10.244.3.9").startswith("10.244.3.9 via 172.18.0.4 dev tunl0 src ")
    assert on(
        desk, "ip route get 8.8.8.8"
    ) == "8.8.8.8 via 172.18.0.1 dev eth0 src 172.18.0.2 uid 0 \n    cache \n\n".removesuffix("\n")
    assert on(desk, "ip route get 10.244.1.200").startswith("RTNETLINK answers: Invalid argument")


def test_counters_say_the_same_wherever_they_are_read(desk: Workstation) -> None:
    shown = on(desk, "ip -s link show eth0; cat /proc/net/dev /sys/class/net/eth0/statistics/rx_bytes")
    link = shown.split("RX:")[1].splitlines()[1].split()[0]
    table = shown.split("  eth0:")[1].split()[0]
    assert link == table == shown.split()[-1]
    measured = desk.run(
        f'promql \'sum(node_network_receive_bytes_total{{node="{NODE}",device="eth0"}})\''
    ).text
    assert float(measured.split()[-2]) == pytest.approx(int(link), rel=0.001)


def test_a_pods_counters_are_those_of_its_cable(desk: Workstation, world: EmbeddedWorld) -> None:
    pod = next(p for p in world.store.list("pods") if p["metadata"]["name"].startswith("consul-"))
    cable = next(
        line.split(" dev ")[1].split()[0]
        for line in desk.run(f"ssh {pod['spec']['nodeName']} ip route").text.splitlines()
        if line.startswith(f"{pod['status']['podIP']} ")
    )
    machine = desk.run(f"ssh {pod['spec']['nodeName']} cat /sys/class/net/{cable}/statistics/tx_bytes").text
    assert int(inside(desk, "cat /sys/class/net/eth0/statistics/rx_bytes")) == pytest.approx(
        int(machine), rel=0.01
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ip -br a show eth0", "eth0@if12        UP             172.18.0.2/16 \n"),
        ("ip -o -4 addr show eth0", "2: eth0    inet 172.18.0.2/16 brd 172.18.255.255 scope global eth0\\       valid_lft forever preferred_lft forever\n"),
        ("ip link show type ipip", "3: tunl0@NONE: <NOARP,UP,LOWER_UP> mtu 1440 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\n    link/ipip 0.0.0.0 brd 0.0.0.0\n"),
        ("ip neigh show | head -1", "172.18.0.5 dev eth0 lladdr 02:42:ac:12:00:05 REACHABLE \n"),
        ("ip addr show nope", 'Device "nope" does not exist.\n'),
        ("ip link set eth0 mtu 1400", "RTNETLINK answers: Operation not supported\n"),
        ("ip -z a", 'Option "-z" is unknown, try "ip -help".\n'),
        ("ip nope", 'Object "nope" is unknown, try "ip help".\n'),
        ("cat /sys/class/net/eth0/mtu /sys/class/net/tunl0/operstate", "1500\nunknown\n"),
        ("ip -V", "ip utility, iproute2-6.1.0, libbpf 1.1.0\n"),
    ],
)  # fmt: skip
def test_a_machine_is_asked(desk: Workstation, line: str, told: str) -> None:
    assert on(desk, line) == told


def test_a_pod_may_not_change_its_interface(desk: Workstation) -> None:
    assert inside(desk, "ip link set eth0 mtu 1400").startswith(
        "RTNETLINK answers: Operation not permitted\n"
    )
    assert inside(desk, "ip route") == "default via 169.254.1.1 dev eth0 \n169.254.1.1 dev eth0 scope link \n"
    assert "tunl0" not in inside(desk, "ifconfig")


def test_netstat_has_the_routes_of_route(desk: Workstation) -> None:
    shown = on(desk, "netstat -rn").splitlines()
    assert shown[:2] == [
        "Kernel IP routing table",
        "Destination     Gateway         Genmask         Flags   MSS Window  irtt Iface",
    ]
    assert shown[2].split() == ["0.0.0.0", "172.18.0.1", "0.0.0.0", "UG", "0", "0", "0", "eth0"]
    assert len(shown) == len(on(desk, "ip route").splitlines()) + 2


def test_rules_are_saved_chain_by_chain(desk: Workstation) -> None:
    desk.run(f"kubectl scale deploy geo -n {APP.namespace} --replicas=3; sleep 60")
    saved = desk.run("ssh sre-worker iptables-save -t nat").text.splitlines()
    chains = [line.split()[1] for line in saved if line.startswith("-A KUBE-")]
    runs = [chain for at, chain in enumerate(chains) if at == 0 or chains[at - 1] != chain]
    assert len(runs) == len(set(runs)) and any(chain.startswith("KUBE-SEP-") for chain in runs)


def test_rules_of_a_service_that_stays_on_its_machine(world: EmbeddedWorld, desk: Workstation) -> None:
    name = f'"{APP.namespace}/geo'
    where = world.cluster.list("pods", APP.namespace, label_selector="io.kompose.service=geo")[0]["spec"][
        "nodeName"
    ]
    other = next(
        each["metadata"]["name"] for each in world.store.list("nodes") if each["metadata"]["name"] != where
    )
    desk.run(
        f'kubectl patch svc geo -n {APP.namespace} -p \'{{"spec":{{"internalTrafficPolicy":"Local"}}}}\''
    )
    rules = {node: desk.run(f"ssh {node} iptables-save").text.splitlines() for node in (where, other)}
    mine = {node: [line for line in lines if name in line] for node, lines in rules.items()}
    assert any("KUBE-SVL-" in line for line in mine[where]) and not any(
        "DROP" in line for line in mine[where]
    )
    assert (
        len(mine[other]) == 1
        and mine[other][0].endswith("-j DROP")
        and "has no local endpoints" in mine[other][0]
    )
    desk.run(f"kubectl scale deploy geo -n {APP.namespace} --replicas=0; sleep 40")
    gone = [line for line in desk.run(f"ssh {where} iptables -S").text.splitlines() if name in line]
    assert len(gone) == 1 and gone[0].endswith("-j REJECT --reject-with icmp-port-unreachable")


def test_disks_of_a_machine(desk: Workstation) -> None:
    lines = on(desk, "lsblk").splitlines()
    assert lines[0].split() == ["NAME", "MAJ:MIN", "RM", "SIZE", "RO", "TYPE", "MOUNTPOINTS"]
    assert [line.split()[-1] for line in lines if "nvme1n1p1" in line] == ["/"]
