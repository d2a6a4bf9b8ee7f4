"""A script that waits for a server is not run again while its question would get the same answer."""

from __future__ import annotations

import pytest

from sregym_env.apps import app
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import scripts
from sregym_env.worlds.lived import base_world

HOTEL = app("hotel-reservation")
NAMESPACE = HOTEL.namespace


def test_a_waiting_loop_runs_again_when_the_answer_may_be_another(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    run = scripts.Script._run

    def counted(script: scripts.Script, ctx: ProcessContext, done: int, printed: str) -> None:
        runs.append(ctx.process.pod)
        run(script, ctx, done, printed)

    monkeypatch.setattr(scripts.Script, "_run", counted)
    world = base_world(HOTEL, 0)
    script = "until nc -z -w 2 later 80; do echo waiting; sleep 2; done; echo there; sleep 1000"
    container = {"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", script]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "waiter"},
        "spec": {"containers": [container]},
    }
    world.cluster.create(pod, namespace=NAMESPACE)
    world.advance(120)
    log = world.cluster.logs(NAMESPACE, "waiter")
    assert log.count("waiting\n") == pytest.approx(58, abs=3)
    assert len(set(log.splitlines())) == 2, "the question fails, and is asked again"
    assert runs.count("waiter") == 2
    geo = world.cluster.get("deployments.apps", "geo", NAMESPACE)["spec"]["selector"]["matchLabels"]
    spec = {"selector": geo, "ports": [{"port": 80, "targetPort": HOTEL.by_name["geo"].port}]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "later"}, "spec": spec}
    world.cluster.create(service, namespace=NAMESPACE)
    world.advance(5)
    assert world.cluster.logs(NAMESPACE, "waiter").endswith("there\n")


@pytest.mark.parametrize(
    "script",
    ["echo up; exec geo", "export A=1; geo", "echo up && exec /usr/bin/geo", "sleep 1; geo; echo down"],
)
def test_a_server_takes_the_place_of_the_script_that_starts_it(script: str) -> None:
    world = deployed_world(HOTEL, 0)
    container = {"command": ["sh", "-c", script]}
    named = world.cluster.get("deployments.apps", "geo", NAMESPACE)["spec"]["template"]["spec"]["containers"][
        0
    ]
    patch = {"spec": {"template": {"spec": {"containers": [{**container, "name": named["name"]}]}}}}
    world.cluster.patch("deployments.apps", "geo", patch, namespace=NAMESPACE, type="strategic")
    world.advance(120)
    status = world.cluster.get("deployments.apps", "geo", NAMESPACE)["status"]
    assert status["availableReplicas"] == status["updatedReplicas"] == 1
    assert all(health.success_ratio == 1.0 for health in world.traffic.health(20))


@pytest.mark.parametrize(
    ("command", "ends"),
    [
        (["sh", "-c", "nc -l -p 9000 > /dev/null; echo served"], True),
        (["nc", "-l", "-p", "9000"], True),
        (["sh", "-c", "timeout 20 nc -lk -p 9000; echo served"], True),
        (["sh", "-c", "nc -lk -p 9000; echo served"], False),
        (["sh", "-c", "nc -ll -p 9000; echo served"], False),
        (["nc", "-lk", "-p", "9000"], False),
    ],
    ids=["one", "one-alone", "timed", "many", "many-by-two", "many-alone"],
)
def test_what_serves_one_visitor_or_for_some_time_ends(command: list[str], ends: bool) -> None:
    world = base_world(HOTEL, 0)
    visitor = "sleep 5; echo hello | nc -w 2 127.0.0.1 9000 && echo heard"
    containers = [
        {"name": "server", "image": "busybox:1.36", "command": command},
        {"name": "visitor", "image": "busybox:1.36", "command": ["sh", "-c", visitor]},
    ]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "two"},
        "spec": {"containers": containers, "restartPolicy": "Never"},
    }
    world.cluster.create(pod, namespace=NAMESPACE)
    world.advance(60)
    assert world.cluster.logs(NAMESPACE, "two", container="visitor") == "heard\n"
    status = world.cluster.get("pods", "two", NAMESPACE)["status"]
    assert status["phase"] == ("Succeeded" if ends else "Running")
    if ends and command[0] == "sh":
        assert world.cluster.logs(NAMESPACE, "two", container="server") == "served\n"


def test_a_server_whose_time_is_over_listens_no_more() -> None:
    world = base_world(HOTEL, 0)
    server = "timeout 20 nc -lk -p 9000; echo $?; sleep 1000"
    visitor = "sleep 5; nc -z 127.0.0.1 9000 && echo open; sleep 40; nc -z 127.0.0.1 9000 || echo shut"
    containers = [
        {"name": name, "image": "busybox:1.36", "command": ["sh", "-c", script]}
        for name, script in (("server", server), ("visitor", visitor))
    ]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "two"},
        "spec": {"containers": containers, "restartPolicy": "Never"},
    }
    world.cluster.create(pod, namespace=NAMESPACE)
    world.advance(80)
    assert world.cluster.logs(NAMESPACE, "two", container="server") == "143\n"
    lines = world.cluster.logs(NAMESPACE, "two", container="visitor").splitlines()
    assert (lines[0], lines[-1]) == ("open", "shut")
