"""What a machine tells of itself in several ways is one thing: its disks, its journal, its counters, its processes."""

from __future__ import annotations

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
