"""What /proc says of number 1: what it has open, and its file system, also to who debugs its container."""

from __future__ import annotations

from sregym_env import apps
from sregym_env.cluster.identity import ADMIN
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.world.strain import FULL
from sregym_env.tools.workstation import Workstation

APP = apps.app("hotel-reservation")


def _world() -> tuple[EmbeddedWorld, Workstation]:
    world = deployed_world(APP, 1).fork()
    return world, Workstation(world, ADMIN)


def test_whoever_debugs_a_container_sees_its_files() -> None:
    _, desk = _world()
    pod = desk.run(f"kubectl get po -n {APP.namespace} -o name | grep memcached-rate").text.strip()
    script = "cat /proc/1/root/etc/hostname; tr '\\0' ' ' </proc/1/cmdline; ls -l /proc/1/fd/0"
    said = desk.run(
        f"kubectl debug -q -i -n {APP.namespace} {pod} --image=busybox:1.36 "
        f'--target=$(kubectl get {pod} -n {APP.namespace} -o jsonpath="{{.spec.containers[0].name}}") -- sh -c "{script}"'
    ).text
    assert pod.removeprefix("pod/") in said.splitlines()
    assert "memcached" in said.splitlines()[-1] or "memcached" in said
    assert "/dev/null" in said


def test_open_files_of_who_accepts_nobody_any_more() -> None:
    world, desk = _world()
    count = f"kubectl exec -n {APP.namespace} deploy/geo -- sh -c 'ls /proc/1/fd | wc -l; ls /proc/1/root/proc/1/comm'"
    assert 5 < int(desk.run(count).text.split()[0]) < 20
    (key,) = (each.key for each in world.processes.values() if each.binary == "geo")
    world.change_process(key, open_files=300)
    world.memory[FULL] = {key: 0.5}
    assert desk.run(count).text.split()[0] == "300"
