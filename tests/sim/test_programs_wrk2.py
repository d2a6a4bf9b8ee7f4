"""The load generator: what it is asked for, and that it does not begin where it does not understand."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.apps.load import rounds
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.programs.wrk2_options import USAGE, Options, options_of, said, words_in, words_of

URL = "http://frontend.shop.svc.cluster.local:5000/hotels"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (f"-R 50 {URL}", {}),
        (f"{URL} -R50", {}),
        (f"--rate=50 {URL}", {}),
        (f"--ra 50 -- {URL}", {}),
        (f"-LR 50 {URL} -D exp", {}),
        (f"-R 1k -t 4 -c 2k {URL}", {"rate": 1000.0, "connections": 2000, "threads": 4}),
        (f"-R 50 -d 2m {URL}", {"duration": 120.0}),
    ],
)
def test_what_it_is_asked_for(line: str, wanted: dict[str, float]) -> None:
    host = "frontend.shop.svc.cluster.local"
    assert options_of(line.split()) == Options(**{"host": host, "port": 5000, "rate": 50.0, **wanted})


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (f"-R fast {URL}", "-R (--rate) wants a number, not 'fast'"),
        (f"-R 5x {URL}", "-R (--rate) wants a number, not '5x'"),
        (f"-R {'9' * 5000} {URL}", "-R (--rate) wants a number"),
        (f"-R 50 -d soon {URL}", "-d (--duration) wants a number, not 'soon'"),
        (f"-R 50 -c few {URL}", "-c (--connections) wants a number, not 'few'"),
        (f"-R 50 -t 0 {URL}", "-t (--threads) must not be 0"),
        (f"-R 50 -c 1 {URL}", "number of connections must be >= threads"),
        (URL, "Throughput MUST be specified"),
        (f"-R 0 {URL}", "Throughput MUST be specified"),
        ("-R 50", "no URL is given"),
        ("-R 50 frontend:5000", "invalid URL: frontend:5000"),
        (f"-R 50 -x {URL}", "wrk: invalid option -- 'x'"),
        (f"--speed 50 {URL}", "wrk: unrecognized option '--speed'"),
        (f"{URL} -R", "wrk: option requires an argument -- 'R'"),
    ],
)
def test_what_it_does_not_understand_ends_in_its_usage(line: str, wrong: str) -> None:
    told = options_of(line.split())
    assert isinstance(told, str) and told.startswith(wrong)
    assert said(told).endswith(USAGE)


def test_the_line_in_a_script_is_found() -> None:
    script = rounds(URL, "requests.lua", connections=3, seconds=30, rate=120)
    found = options_of(words_in(script, {}) or ())
    assert isinstance(found, Options)
    assert (found.rate, found.connections, found.threads, found.duration) == (120.0, 3, 3, 30.0)
    assert words_in("echo 'a wrk'; while true; do wrk \\\n -R ${RATE:-5} $URL; done", {"URL": URL}) == [
        "-R",
        "5",
        URL,
    ]
    assert words_of(["sh", "-c", "RATE=5 exec /usr/bin/wrk -R $MUCH x"], {"MUCH": "7"}) == ["-R", "7", "x"]
    assert words_in("echo nothing\nsleep 5\n", {}) is None


def test_a_generator_that_does_not_understand_ends() -> None:
    application = apps.app("hotel-reservation")
    world = deployed_world(application, 1).fork()
    space = application.namespace
    scripts = world.cluster.get("configmaps", "wrk2-payload-script", space)["data"]
    script = scripts["wrk2-workload.sh"]
    assert "-R 100" in script
    changed = {"data": {"wrk2-workload.sh": script.replace("-R 100", "-R fast")}}
    world.cluster.patch("configmaps", "wrk2-payload-script", changed, namespace=space)
    pod = next(
        p["metadata"]["name"]
        for p in world.cluster.list("pods", space)
        if p["metadata"]["name"].startswith("wrk2-job-")
    )
    world.cluster.delete("pods", pod, space)
    world.advance(120)
    pods = [p for p in world.cluster.list("pods", space) if p["metadata"]["name"].startswith("wrk2-job-")]
    assert pods and {p["status"]["phase"] for p in pods} == {"Failed"}
    assert "Usage: wrk <options> <url>" in world.cluster.logs(space, pods[0]["metadata"]["name"])
