"""What memcached and Redis answer to what is typed at their ports, from pods and from a workstation."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster.identity import ADMIN
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.tools.workstation import Workstation

APP = apps.app("hotel-reservation")
SOCIAL = apps.app("social-network")


@pytest.fixture(scope="module")
def desk() -> Workstation:
    world = deployed_world(APP, 1).fork()
    world.advance(120.0)
    return Workstation(world, ADMIN)


def test_memcached_counts(desk: Workstation) -> None:
    lines = desk.run(
        f"printf 'stats\\r\\nquit\\r\\n' | nc memcached-rate.{APP.namespace} 11211"
    ).text.splitlines()
    found = {line.split()[1]: line.split()[2] for line in lines if line.startswith("STAT ")}
    assert lines[-1] == "END"
    assert int(found["cmd_get"]) == int(found["get_hits"]) + int(found["get_misses"]) > 100
    assert int(found["uptime"]) >= 120
    assert found["limit_maxbytes"] == str(64 * 1024 * 1024)


def test_it_answers_pods_and_is_flushed(desk: Workstation) -> None:
    script = "printf 'flush_all\\r\\nnonsense\\r\\n' | nc -w 2 memcached-profile 11211"
    said = desk.run(
        f'kubectl run nc -n {APP.namespace} --rm -i --restart=Never --image=busybox:1.36 -- sh -c "{script}"'
    )
    assert "OK\r\nERROR\r\n" in said.text


def test_whoever_speaks_something_else_keeps_silent(desk: Workstation) -> None:
    assert desk.run(f"echo stats | nc mongodb-rate.{APP.namespace} 27017").text == ""


def test_redis_is_pinged() -> None:
    desk = Workstation(deployed_world(SOCIAL, 1).fork(), ADMIN)
    assert desk.run(f"echo PING | nc home-timeline-redis.{SOCIAL.namespace} 6379").text == "+PONG\r\n"


def test_who_is_let_in_is_answered() -> None:
    """Where a Service leads to somebody who is not there as well, a connection that stands is one to who is."""
    desk = Workstation(deployed_world(APP, 1).fork(), ADMIN)
    desk.run(
        f"kubectl get endpointslices -n {APP.namespace} -l kubernetes.io/service-name=memcached-rate -o json | jq '.items[0]|"
        '.metadata={name:"a-other",namespace:.metadata.namespace,labels:{"kubernetes.io/service-name":"memcached-rate"}}|'
        '.endpoints[0]={addresses:["10.244.9.9"],conditions:{ready:true}}\' | kubectl create -f -'
    )
    said = desk.run(
        f"for i in $(seq 12); do echo version | nc -v -w 1 memcached-rate.{APP.namespace} 11211 2>&1; done"
    ).text
    assert 0 < said.count("succeeded!") < 12
    assert said.count("VERSION") == said.count("succeeded!")
