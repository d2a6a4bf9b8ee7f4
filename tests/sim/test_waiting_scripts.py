"""A script that waits for a server is not run again while its question would get the same answer."""

from __future__ import annotations

from typing import Any

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

    def counted(script: scripts.Script, ctx: ProcessContext, *rest: Any) -> None:
        runs.append(ctx.process.pod)
        run(script, ctx, *rest)

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
    other = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "other"},
        "spec": {"ports": [{"port": 80}]},
    }
    world.cluster.create(other, namespace=NAMESPACE)
    world.advance(10)
    assert world.cluster.logs(NAMESPACE, "waiter").count("waiting\n") == log.count("waiting\n") + 5
    assert runs.count("waiter") == 2, "it may be another answer, but is not"
    geo = world.cluster.get("deployments.apps", "geo", NAMESPACE)["spec"]["selector"]["matchLabels"]
    spec = {"selector": geo, "ports": [{"port": 80, "targetPort": HOTEL.by_name["geo"].port}]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "later"}, "spec": spec}
    world.cluster.create(service, namespace=NAMESPACE)
    world.advance(5)
    assert world.cluster.logs(NAMESPACE, "waiter").endswith("there\n")
    assert runs.count("waiter") == 3


def test_a_sleep_after_the_waiting_loop_is_slept_once() -> None:
    world = base_world(HOTEL, 0)
    script = "until nc -z geo 8083; do sleep 2; done; echo there; sleep 3; sleep 3; echo over"
    script = script.replace("8083", str(HOTEL.by_name["geo"].port))
    stop = {"spec": {"replicas": 0}}
    world.cluster.patch("deployments.apps", "geo", stop, namespace=NAMESPACE, type="merge")
    world.advance(60)
    container = {"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", script]}
    spec = {"restartPolicy": "Never", "containers": [container]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "waiter"}, "spec": spec}
    world.cluster.create(pod, namespace=NAMESPACE)
    world.advance(40)
    start = {"spec": {"replicas": 1}}
    world.cluster.patch("deployments.apps", "geo", start, namespace=NAMESPACE, type="merge")
    world.advance(120)
    assert world.cluster.logs(NAMESPACE, "waiter").endswith("there\nover\n")
    assert world.cluster.logs(NAMESPACE, "waiter").count("there") == 1
    assert world.cluster.get("pods", "waiter", NAMESPACE)["status"]["phase"] == "Succeeded"


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


@pytest.mark.parametrize(
    ("script", "printed"),
    [
        ("for i in $(seq 12); do echo $i; sleep 1; done; echo end", [*map(str, range(1, 13)), "end"]),
        ("i=0; while [ $i -lt 9 ]; do i=$((i+1)); echo $i >> /tmp/f; sleep 1; done; grep -c . /tmp/f", ["9"]),
        ("for i in 1 2 3; do echo a$i; sleep 1; echo b$i; done | cat", ["a1", "b1", "a2", "b2", "a3", "b3"]),
        ("for i in 1 2; do date +%s > /tmp/t; cat /tmp/t; sleep 1; done | sort -u | grep -c .", ["2"]),
        ("a=$(date +%s); sleep 9; b=$(date +%s); echo $((b-a))", ["9"]),
        ("timeout 2 sleep 10; echo $?; timeout 5 sleep 1; echo $?", ["143", "0"]),
        ("timeout 3 nc -z frontend 5000 && echo open", ["open"]),
    ],
    ids=["counts", "writes", "piped", "clock", "remembers", "cut-short", "timed"],
)
def test_a_script_that_sleeps_goes_on_where_it_was(script: str, printed: list[str]) -> None:
    world = base_world(HOTEL, 0)
    container = {"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", script]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "loop"},
        "spec": {"containers": [container], "restartPolicy": "Never"},
    }
    world.cluster.create(pod, namespace=NAMESPACE)
    world.advance(30)
    assert world.cluster.logs(NAMESPACE, "loop").splitlines() == printed
    assert world.cluster.get("pods", "loop", NAMESPACE)["status"]["phase"] == "Succeeded"


def test_every_line_of_a_loop_bears_the_time_at_which_it_was_written() -> None:
    world = base_world(HOTEL, 0)
    script = "for i in 1 2 3 4 5 6 7 8; do date +%s; sleep 2; done"
    container = {"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", script]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "loop"},
        "spec": {"containers": [container], "restartPolicy": "Never"},
    }
    world.cluster.create(pod, namespace=NAMESPACE)
    world.advance(9)
    twin = world.fork()
    for each in (world, twin):
        each.advance(20)
        seconds = [int(line) for line in each.cluster.logs(NAMESPACE, "loop").splitlines()]
        assert seconds == list(range(seconds[0], seconds[0] + 16, 2))
