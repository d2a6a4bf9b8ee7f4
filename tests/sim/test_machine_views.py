"""What a machine tells of itself in several ways is one thing: its disks, its journal, its counters, its processes."""

from __future__ import annotations

import re

import pytest

from sregym_env import apps
from sregym_env.cluster.oncall import ONCALL
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation

HOTEL = "hotel-reservation"
NODE = "sre-worker"
DEBUG = f"kubectl debug node/{NODE} -q --profile=sysadmin --image=busybox -i -- "


def _typed(world: EmbeddedWorld, line: str) -> str:
    return Workstation(world, ONCALL, HOTEL).run(line).text


@pytest.fixture(scope="module")
def kept() -> EmbeddedWorld:
    return deployed_world(apps.app(HOTEL))


@pytest.fixture
def world(kept: EmbeddedWorld) -> EmbeddedWorld:
    return kept.fork()


# --- disks --------------------------------------------------------------------------------------------


def _measured(world: EmbeddedWorld, name: str) -> dict[tuple[str, str, str], float]:
    query = f'node_filesystem_{name}{{node="{NODE}"}}'
    found = world.telemetry.metrics.query(query, world.now() // 1000).series
    rows = [(dict(labels), float(values[-1])) for labels, _, values in found]
    return {(row["device"], row["fstype"], row["mountpoint"]): value for row, value in rows}


@pytest.mark.parametrize("at", [f"ssh {NODE} ", f"{DEBUG}chroot /host "])
def test_df_and_node_exporter_tell_the_same(world: EmbeddedWorld, at: str) -> None:
    rows = [line.split() for line in _typed(world, f"{at}df -T").splitlines()[1:]]
    shown = {(row[0], row[1], row[6]): tuple(int(number) << 10 for number in row[2:5]) for row in rows}
    sizes, free, avail = (_measured(world, f"{name}_bytes") for name in ("size", "free", "avail"))
    assert shown.keys() == sizes.keys() and ("/dev/nvme1n1p1", "ext4", "/") in shown
    for key, (size, used, left) in shown.items():
        assert (size, used, left) == pytest.approx(
            (sizes[key], sizes[key] - free[key], avail[key]), rel=1e-4, abs=1 << 20
        )
    inodes = {line.split()[5]: line.split() for line in _typed(world, f"{at}df -i").splitlines()[1:]}
    for key, number in _measured(world, "files").items():
        assert int(inodes[key[2]][1]) == number
    for key, number in _measured(world, "files_free").items():
        assert int(inodes[key[2]][3]) == pytest.approx(number, abs=500)


def test_all_who_tell_of_mounts_tell_of_the_same(world: EmbeddedWorld) -> None:
    table = [line.split() for line in _typed(world, f"ssh {NODE} cat /proc/mounts").splitlines()]
    said = "".join(f"{row[0]} on {row[1]} type {row[2]} ({row[3]})\n" for row in table)
    for line in (
        f"ssh {NODE} mount",
        f"{DEBUG}chroot /host mount",
        f"{DEBUG}chroot /host sh -c 'mount'",
    ):
        assert _typed(world, line) == said
    assert _typed(world, f"{DEBUG}chroot /host cat /proc/mounts") == _typed(
        world, f"ssh {NODE} cat /proc/self/mounts"
    )
    shown = {
        f"/dev/{row[0].strip('└─')}": row[6]
        for row in map(str.split, _typed(world, f"ssh {NODE} lsblk").splitlines()[1:])
        if len(row) > 6
    }
    assert shown == {row[0]: row[1] for row in table if row[0].startswith("/dev/")}
    boot = _typed(world, f"ssh {NODE} dmesg")
    assert "root=/dev/nvme1n1p1 " in boot


def test_a_container_sees_its_own_mounts(world: EmbeddedWorld) -> None:
    run = "kubectl exec deploy/mongodb-geo -- "
    table = _typed(world, f"{run}cat /proc/mounts").splitlines()
    assert table[0] == "overlay / overlay rw,relatime 0 0"
    assert "/dev/nvme1n1p1 /data/db ext4 rw,relatime 0 0" in table
    holding = [line.split()[1] for line in table if line.split()[2] in ("overlay", "tmpfs", "ext4")]
    assert [line.split()[5] for line in _typed(world, f"{run}df").splitlines()[1:]] == holding
    host = [line.split()[5] for line in _typed(world, f"{DEBUG}df").splitlines()[1:]]
    assert {"/", "/host", "/host/boot", "/host/run"} <= set(host)


# --- systemd, the journal and boots ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "line", "told"),
    [
        ("kubelet", "true", "Started kubelet"),
        ("kubelet", "systemctl restart kubelet", "Started kubelet"),
        ("kubelet", "systemctl stop kubelet", "Stopped kubelet"),
        ("kubelet", "systemctl stop kubelet; sleep 3; systemctl start kubelet", "Started kubelet"),
        (
            "kubelet",
            "echo 'KUBELET_EXTRA_ARGS=--nosuch' > /etc/default/kubelet; systemctl restart kubelet; sleep 33",
            "Failed with result",
        ),
        ("containerd", "true", "Started containerd"),
        ("chrony", "true", "Started chrony"),
        ("chrony", "systemctl restart chrony", "Started chrony"),
        ("chrony", "systemctl stop chrony", "Stopped chrony"),
    ],
)
@pytest.mark.parametrize("later", [0.0, 0.97, 0.99])
def test_a_status_tells_since_when_as_the_journal_does(
    world: EmbeddedWorld, unit: str, line: str, told: str, later: float
) -> None:
    world.advance(later)
    _typed(world, f'ssh {NODE} "{line.replace(chr(34), "")}"')
    world.advance(2.0)
    journal = _typed(world, f"ssh {NODE} journalctl -u {unit} -o short-iso | grep '{told}' | tail -n 1")
    since = _typed(world, f"ssh {NODE} systemctl status -n 0 {unit} | grep -o 'since.*UTC'")
    day, time = since.split()[2:4]
    assert journal.startswith(f"{day}T{time}+00:00 ")


def test_the_journal_tells_of_a_container_in_the_order_of_its_life(world: EmbeddedWorld) -> None:
    for _ in range(3):
        _typed(world, f"{DEBUG}true")
    pods = [p for p in world.cluster.list("pods", HOTEL) if p["spec"].get("nodeName") == NODE]
    names = [p["metadata"]["name"] for p in pods if "mongodb" in p["metadata"]["name"]]
    _typed(world, f"kubectl exec {names[0]} -- kill 1")
    world.advance(30.0)
    _typed(world, f"ssh {NODE} systemctl stop kubelet")
    _typed(world, f"kubectl exec {names[1]} -- kill 1")
    world.advance(20.0)
    _typed(world, f"ssh {NODE} systemctl start kubelet")
    world.advance(60.0)
    lines = _typed(world, f"ssh {NODE} journalctl -o short-precise").splitlines()
    met: dict[str, list[str]] = {}
    for line in lines:
        found = re.search(r'StartContainer for \\"(\w+)|"Type":"(\w+)","Data":"(\w+)"', line)
        if found:
            met.setdefault(found[1] or found[3], []).append(found[2] or "Ready")
    order = ["Ready", "ContainerStarted", "ContainerDied"]
    assert sum(kinds[-1] == "ContainerDied" for kinds in met.values()) > 3
    for kinds in met.values():
        assert kinds == [kind for kind in order if kind in kinds]
    stamps = [line[:22] for line in lines if " kubelet[" in line and line.startswith("Aug 06")]
    assert stamps == sorted(stamps)


def _boot(world: EmbeddedWorld) -> str:
    info = world.cluster.get("nodes", NODE)["status"]["nodeInfo"]
    kernel = _typed(world, f"ssh {NODE} cat /proc/sys/kernel/random/boot_id").strip()
    assert info["bootID"] == kernel
    assert info["machineID"] == _typed(world, f"ssh {NODE} cat /etc/machine-id").strip()
    uuid = _typed(world, f"{DEBUG}cat /host/sys/class/dmi/id/product_uuid").strip()
    assert info["systemUUID"] == uuid
    return str(kernel).replace("-", "")


def test_boots_are_listed_under_the_kernels_own_names(world: EmbeddedWorld) -> None:
    names = [_boot(world)]
    for _ in range(2):
        _typed(world, f"ssh {NODE} reboot")
        world.advance(150.0)
        names.append(_boot(world))
    rows = _typed(world, f"ssh {NODE} journalctl --list-boots").splitlines()
    assert rows[0].split() == ["IDX", "BOOT", "ID", "FIRST", "ENTRY", "LAST", "ENTRY"]
    assert [row.split()[:2] for row in rows[1:]] == [["-2", names[0]], ["-1", names[1]], ["0", names[2]]]
    for row, asked in zip(rows[1:], ("-2", names[1], "0"), strict=True):
        words = row.split()
        said = _typed(world, f"ssh {NODE} journalctl -b {asked} -o short-iso").splitlines()
        stamps = [line.split()[0] for line in said]
        assert (stamps[0], stamps[-1]) == tuple(f"{words[at]}T{words[at + 1]}+00:00" for at in (3, 7))
        assert "Linux version" in said[0]
        assert all(
            " kernel: " in line for line in _typed(world, f"ssh {NODE} journalctl -kb {asked}").splitlines()
        )
    assert "No such boot ID" in _typed(world, f"ssh {NODE} journalctl -b -7")
    query = f'node_boot_time_seconds{{node="{NODE}"}}'
    (_, _, values), *_ = world.telemetry.metrics.query(query, world.now() // 1000).series
    told = _typed(world, f"ssh {NODE} 'grep btime /proc/stat; uptime -s'").split()
    assert int(values[-1]) == int(told[1]) and " ".join(told[2:]) == " ".join(rows[-1].split()[3:5])


def test_the_kernel_names_cables_as_ip_does(world: EmbeddedWorld) -> None:
    told = set(re.findall(r"cali\w+", _typed(world, f"ssh {NODE} dmesg")))
    there = set(re.findall(r"cali\w+", _typed(world, f"ssh {NODE} ip link")))
    assert there and there <= told


# --- chroot into the machine's files --------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["sysadmin", "general", "legacy"])
def test_who_shares_the_machines_processes_talks_to_its_systemd(world: EmbeddedWorld, profile: str) -> None:
    at = f"kubectl debug node/{NODE} -q --profile={profile} --image=busybox -i -- chroot /host "
    for line in (
        "systemctl status -n 0 kubelet",
        "systemctl is-active kubelet containerd chrony",
        "systemctl list-units",
        "systemctl cat kubelet",
    ):
        assert _typed(world, f"{at}{line}").endswith(_typed(world, f"ssh {NODE} {line}"))


def test_what_is_done_to_a_unit_from_a_pod_is_done(world: EmbeddedWorld) -> None:
    at = f"{DEBUG}chroot /host "
    _typed(world, f"{at}systemctl restart chrony")
    since = _typed(world, f"ssh {NODE} systemctl status chrony | grep -o ' ..s ago'")
    assert since == "" or since.strip().removesuffix("s ago").isdecimal()
    _typed(world, f"{at}sh -c 'systemctl disable --now chrony; systemctl is-active chrony'")
    assert _typed(world, f"ssh {NODE} systemctl is-enabled chrony") == "disabled\n"
    script = "echo KUBELET_EXTRA_ARGS=--nosuch > /etc/default/kubelet; systemctl restart kubelet; systemctl is-active kubelet"
    # With the kubelet its connection to the pod is gone.
    assert "connection refused" in _typed(world, f"{at}sh -c '{script}'")
    assert _typed(world, f"ssh {NODE} systemctl is-active kubelet") == "activating\n"
    assert "unknown flag: --nosuch" in _typed(world, f"ssh {NODE} journalctl -u kubelet -n 5")
    assert "--nosuch" in _typed(world, f"ssh {NODE} cat /etc/default/kubelet")


def test_a_pod_can_have_its_machine_boot_anew(world: EmbeddedWorld) -> None:
    before = _boot(world)
    _typed(world, f"{DEBUG}chroot /host systemctl reboot")
    world.advance(150.0)
    assert _boot(world) != before


# --- processes ------------------------------------------------------------------------------------------


def _status(text: str) -> dict[str, str]:
    return {name: value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())}


def test_proc_tells_of_every_process_what_ps_does(world: EmbeddedWorld) -> None:
    rows = [
        line.split(None, 3)
        for line in _typed(world, f"ssh {NODE} ps -eo pid=,ppid=,nlwp=,args=").splitlines()
    ]
    shown = {row[0]: row for row in rows if not row[3].startswith("ps ")}
    there = {name for name in _typed(world, f"ssh {NODE} ls /proc").split() if name.isdecimal()}
    assert there == shown.keys() and len(there) > 12
    script = f"for p in {' '.join(sorted(there))}; do echo PID: $p; cat /proc/$p/status; done"
    for at in (f"ssh {NODE} '{script}'", f"{DEBUG}chroot /host bash -c '{script}'"):
        said = _typed(world, at)
        for block in said.split("PID: ")[1:]:
            pid, _, text = block.partition("\n")
            status = _status(text)
            assert (status["Pid"], status["PPid"], status["Threads"]) == tuple(shown[pid][:3])
    for pid, row in shown.items():
        words = _typed(world, f"ssh {NODE} \"tr '\\\\0' ' ' < /proc/{pid}/cmdline\"").strip()
        assert words == row[3].strip()
        assert "Max open files" in _typed(world, f"ssh {NODE} cat /proc/{pid}/limits")


def test_a_process_keeps_its_number(world: EmbeddedWorld) -> None:
    before = _typed(world, f"ssh {NODE} ps -eo pid=,args= | grep -v ' ps '")
    _typed(world, f"{DEBUG}true")
    _typed(
        world,
        'kubectl run one --image=busybox --restart=Never --overrides=\'{"spec":{"nodeName":"'
        + NODE
        + "\"}}' -- sleep 600",
    )
    world.advance(10.0)
    after = _typed(world, f"ssh {NODE} ps -eo pid=,args= | grep -v ' ps '").splitlines()
    assert [line for line in before.splitlines() if line not in after] == []
    assert any(line.endswith("sleep 600") for line in after)


def test_threads_are_listed_one_by_one(world: EmbeddedWorld) -> None:
    rows = [line.split(None, 9) for line in _typed(world, f"ssh {NODE} ps -eLf").splitlines()[1:]]
    counts: dict[str, int] = {}
    for row in rows:
        counts[row[1]] = counts.get(row[1], 0) + 1
    assert all(counts[row[1]] == int(row[5]) for row in rows)
    assert len({row[3] for row in rows}) == len(rows)
    assert _typed(world, f"ssh {NODE} ps -Lp 812").splitlines()[0].split() == [
        "PID",
        "LWP",
        "TTY",
        "TIME",
        "CMD",
    ]
    names = _typed(
        world, f"ssh {NODE} 'ps -o nlwp= -p $(pgrep -x kubelet); pgrep -l kubelet; pidof containerd'"
    ).split()
    assert names[0] == "21" and names[2:] == ["kubelet", "812"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("pgrep -c mongod", "2"),
        ("pgrep -fc 'mongod --auth'", "1"),
        ("pgrep nosuch; echo $?", "1"),
        ("pgrep", "pgrep: no matching criteria specified\nTry `pgrep --help' for more information.\n"),
        ("pidof nosuch; echo $?", "1"),
        ("lscpu | grep '^CPU(s):' | tr -s ' '", "CPU(s): 8"),
        ("ethtool eth0 | grep Link", "\tLink detected: yes"),
        ("ethtool nosuch 2>&1 | tail -n 2 | head -n 1", "Cannot get device settings: No such device"),
        ("ping -c 1 nosuch", "ping: nosuch: Name or service not known"),
        ("ping -q -c 2 172.18.0.3 | tail -n 2 | head -n 1", "2 packets transmitted, 2 received, 0% packet loss, time 1001ms"),
        ("cat /etc/sysctl.d/k8s.conf | tail -n 1", "net.ipv4.ip_forward                 = 1"),
        ("sysctl --system", "net.bridge.bridge-nf-call-iptables = 1\nnet.bridge.bridge-nf-call-ip6tables = 1\nnet.ipv4.ip_forward = 1\n"),
        ("sysctl -w net.ipv4.ip_forward=0", 'sysctl: setting key "net.ipv4.ip_forward": Read-only file system'),
        ("ls /var/log", "btmp\ncontainers\njournal\nlastlog\npods\nwtmp"),
        ("systemctl is-active sshd", "active"),
    ],
)  # fmt: skip
def test_tools_of_a_machine(world: EmbeddedWorld, line: str, said: str) -> None:
    text = _typed(world, f"ssh {NODE} <<'EOF'\n{line}\nEOF")
    assert text.strip("\n") == said.strip("\n")


@pytest.mark.parametrize(
    ("app", "name", "user", "uid", "title", "workers"),
    [
        ("social-network", "nginx-thrift", "nobody", "nobody", "nginx: master process nginx -g daemon off;", 8),
        ("astronomy-shop", "image-provider", "nginx", "101", "nginx: master process nginx -g daemon off;", 8),
        # Five that work in the background, and one for each of two connections.
        ("astronomy-shop", "postgresql", "postgres", "999", "postgres", 7),
    ],
)  # fmt: skip
def test_servers_show_whom_they_have_started(
    app: str, name: str, user: str, uid: str, title: str, workers: int
) -> None:
    world = deployed_world(apps.app(app)).fork()
    typed = Workstation(world, ONCALL, app)
    (pod,) = (p for p in world.cluster.list("pods", app) if p["metadata"]["name"].startswith(f"{name}-"))
    node, short = pod["spec"]["nodeName"], title.partition(":")[0]
    shown = typed.run(f"ssh {node} ps -eo user=,pid=,ppid=,args= | grep '{short}' | grep -v grep").text
    rows = [line.split(None, 3) for line in shown.splitlines()]
    assert rows[0][3].strip() == title and len(rows) == workers + 1
    assert {(row[0], row[2]) for row in rows[1:]} == {(uid, rows[0][1])}
    assert typed.run(f"ssh {node} pgrep -c {short}").text == f"{workers + 1}\n"
    inside = typed.run(f"kubectl exec deploy/{name} -- ps aux 2>/dev/null").text.splitlines()[1:-1]
    assert len(inside) == workers + 1 and inside[0].rstrip().endswith(title)
    assert sum(user in line.split()[:2] for line in inside) >= workers
    listed = typed.run(f"kubectl exec deploy/{name} 2>/dev/null -- ls /proc").text.split()
    assert {word for word in listed if word.isdecimal()} == {
        next(word for word in line.split() if word.isdecimal()) for line in inside
    }


# --- counters of the network ----------------------------------------------------------------------------


def _counted(text: str) -> dict[str, int]:
    """Of /proc/net/snmp and netstat."""
    found = {}
    lines = text.splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        group, _, head = names.partition(": ")
        assert len(head.split()) == len(values.split()) - 1
        found.update(
            {
                f"{group}{name}": int(value)
                for name, value in zip(head.split(), values.split()[1:], strict=True)
            }
        )
    return found


@pytest.mark.parametrize(
    "at", [f"ssh {NODE} ", f"{DEBUG}chroot /host ", "kubectl exec deploy/mongodb-geo -- "]
)
def test_files_and_tools_count_alike(world: EmbeddedWorld, at: str) -> None:
    counts = _counted(_typed(world, f"{at}cat /proc/net/snmp /proc/net/netstat"))
    assert counts["TcpOutSegs"] > 1000 > counts["TcpExtTCPTimeouts"] * (counts["TcpOutSegs"] < 10_000)
    if "exec" in at:
        return
    told = {
        row[0]: int(row[1])
        for row in (line.split() for line in _typed(world, f"{at}nstat -az").splitlines()[1:])
    }
    assert told.keys() >= {"TcpRetransSegs", "TcpExtTCPTimeouts", "TcpExtTCPMTUPFail"}
    for name, value in told.items():
        assert value == pytest.approx(counts[name], rel=1e-3, abs=5)
    again = _typed(world, f"{at}netstat -s | grep -o '[0-9]* segments retransmitted' | cut -d' ' -f1")
    assert int(again) == pytest.approx(told["TcpRetransSegs"], abs=5)
    metric = world.telemetry.metrics.query(
        f'node_netstat_Tcp_RetransSegs{{node="{NODE}"}}', world.now() // 1000
    )
    assert float(metric.series[0][2][-1]) == pytest.approx(told["TcpRetransSegs"], abs=2)


# --- where other processes are --------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["-t 1 -m -u -i -n -p --", "--target 1 --all", "-t1 -a --"])
def test_who_enters_the_first_process_is_on_the_machine(world: EmbeddedWorld, where: str) -> None:
    at = f"{DEBUG}nsenter {where} "
    for line in ("systemctl is-active kubelet", "cat /etc/machine-id", "mount", "crictl ps -q"):
        assert _typed(world, f"{at}{line}").split()[:40] == _typed(world, f"ssh {NODE} {line}").split()[
            :40
        ] or ("crictl" in line)
    _typed(world, f"{at}sh -c 'echo here > /var/tmp/told; sysctl -w net.netfilter.nf_conntrack_max=300000'")
    told = _typed(world, f"ssh {NODE} 'cat /var/tmp/told; sysctl -n net.netfilter.nf_conntrack_max'")
    assert told.split() == ["here", "300000"]


def test_a_network_of_a_container_is_looked_at_with_the_machines_tools(world: EmbeddedWorld) -> None:
    (pod,) = (p for p in world.cluster.list("pods", HOTEL) if p["metadata"]["name"].startswith("mongodb-geo"))
    node, address = pod["spec"]["nodeName"], pod["status"]["podIP"]
    script = f"for p in $(pgrep mongod); do nsenter -t $p -n ip -br addr show eth0 | grep {address}/ && nsenter -t $p -n ss -lnt; done"
    said = _typed(world, f"ssh {node} '{script}'")
    assert f" {address}/32" in said and ":27017" in said and ":10250" not in said
    inside = "nsenter -t $(pgrep -o mongod) -m ls /"
    assert "data" in _typed(world, f"ssh {node} '{inside}'").split()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"kubectl debug node/{NODE} -q --profile=general --image=busybox -i -- nsenter -t 1 -m ls", "Permission denied"),
        ("kubectl exec deploy/mongodb-geo -- nsenter -t 1 -m ls", "Permission denied"),
        (f"{DEBUG}nsenter -t 99999 -m ls", "No such file or directory"),
        (f"{DEBUG}nsenter -t 1 -m nosuch", "No such file or directory"),
        (f"{DEBUG}nsenter", "No such file or directory"),
    ],
)  # fmt: skip
def test_who_may_not_enter_is_told_so(world: EmbeddedWorld, line: str, why: str) -> None:
    said = _typed(world, line)
    assert said.startswith("nsenter: ") and why in said


@pytest.mark.parametrize("at", [f"ssh {NODE} ", f"{DEBUG}chroot /host ", DEBUG])
def test_top_lists_whom_ps_lists(world: EmbeddedWorld, at: str) -> None:
    shown = _typed(world, f"{at}top -b -n 1").splitlines()
    head = next(number for number, line in enumerate(shown) if line.split()[:1] == ["PID"])
    mine = {line.split()[0] for line in shown[head + 1 :]}
    listed = {line.split()[0] for line in _typed(world, f"ssh {NODE} ps -e").splitlines()[1:-1]}
    # Beside these there is the container in which it runs.
    assert listed <= mine and len(mine - listed) <= 1
