"""A disk that lies: who keeps checksums notices, the kernel and the disk's own figures do not."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster.disturbances import DiskCorruption, DiskReadErrors
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.problems import problem
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import NAMESPACE

POD = "kubectl get pods -n hotel-reservation -l io.kompose.service=mongodb-geo -o jsonpath={.items[0].metadata.name}"


@pytest.fixture
def world() -> EmbeddedWorld:
    return deployed_world(apps.app("hotel-reservation"))


def _node(world: EmbeddedWorld) -> str:
    (pod,) = world.cluster.list("pods", NAMESPACE, label_selector="io.kompose.service=mongodb-geo")
    return str(pod["spec"]["nodeName"])


def _typed(world: EmbeddedWorld, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text


def test_mongod_aborts_on_a_checksum_and_not_on_a_failed_read(world: EmbeddedWorld) -> None:
    world.nodes.apply(DiskCorruption(_node(world), 1.0))
    world.advance(300.0)
    told = _typed(world, f"kubectl logs -n {NAMESPACE} deploy/mongodb-geo --previous")
    assert "read checksum error for 4096B block at offset" in told
    assert "WT_PANIC: WiredTiger library panic" in told
    assert "Input/output error" not in told
    status = _typed(world, f"kubectl get pods -n {NAMESPACE} -l io.kompose.service=mongodb-geo")
    assert "CrashLoopBackOff" in status or "Error" in status


def test_the_disk_calls_itself_healthy_and_only_the_file_system_complains(world: EmbeddedWorld) -> None:
    node = _node(world)
    shell = f"kubectl debug node/{node} -q --profile=sysadmin --image=busybox -it -- sh -c"
    look = (
        f"{shell} 'chroot /host smartctl -H /dev/nvme1n1; dmesg | grep -c medium; dmesg | grep -c checksum'"
    )
    world.nodes.apply(DiskCorruption(node, 1.0))
    world.advance(1800.0)
    said = _typed(world, look)
    assert "test result: PASSED" in said
    medium, checksum = map(int, said.split()[-2:])
    assert medium == 0 < checksum
    world.nodes.apply(DiskReadErrors(node, 1.0))
    world.advance(60.0)
    assert "FAILED!" in _typed(world, look)


def test_a_file_reads_otherwise_from_one_moment_to_the_next(world: EmbeddedWorld) -> None:
    def sums() -> set[str]:
        pod = _typed(world, POD).strip()
        found = set()
        for _ in range(8):
            found.add(
                _typed(world, f"kubectl exec -n {NAMESPACE} {pod} -- sh -c 'cat /data/db/*.wt | md5sum'")
            )
            world.advance(1.0)
        return found

    assert len(sums()) == 1
    world.nodes.apply(DiskCorruption(_node(world), 0.5))
    assert len(sums()) > 1


def test_the_published_id_strikes_the_disk_under_geo() -> None:
    (choice,) = problem("silent_data_corruption").faults
    assert (choice.fault, choice.target) == ("silent_data_corruption", "node-of-mongodb-geo")
