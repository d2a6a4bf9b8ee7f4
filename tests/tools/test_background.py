"""Commands in the background of the workstation, and the ports they open."""

from __future__ import annotations

import pytest

from sregym_env.apps.hotel_reservation import APP
from sregym_env.cluster.identity import ADMIN, User
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation

NAMESPACE = "hotel-reservation"
FORWARD = "kubectl port-forward svc/frontend 8080:5000"


@pytest.fixture(scope="module")
def settled() -> EmbeddedWorld:
    return deployed_world(APP)


@pytest.fixture
def desk(settled: EmbeddedWorld) -> Workstation:
    return Workstation(settled.fork(), ADMIN, NAMESPACE)


def text(desk: Workstation, line: str) -> str:
    return desk.run(line).text


def test_a_forwarded_port_stays_open_over_actions(desk: Workstation) -> None:
    assert text(desk, f"{FORWARD} &") == (
        "Forwarding from 127.0.0.1:8080 -> 5000\nForwarding from [::1]:8080 -> 5000\n"
    )
    answer = text(desk, "curl -s localhost:8080/")
    assert "<title>Hotel Reservation</title>" in answer
    assert answer.endswith("Handling connection for 8080\n")
    assert text(desk, "curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/no").startswith("404")
    assert text(desk, "jobs") == f"[1]+  Running                 {FORWARD} &\n"
    text(desk, "kill %1")
    assert "Failed to connect to localhost port 8080" in text(desk, "curl localhost:8080")
    assert text(desk, "jobs") == ""


def test_output_goes_where_it_is_sent(desk: Workstation) -> None:
    assert text(desk, f"{FORWARD} > pf.log 2>&1 &\nsleep 1; curl -s localhost:8080 | wc -l") == "5\n"
    assert text(desk, "cat pf.log").splitlines()[-1] == "Handling connection for 8080"


def test_output_goes_there_from_wherever_one_is(desk: Workstation) -> None:
    assert text(desk, f"{FORWARD} > pf.log 2>&1 & cd /tmp; curl -s localhost:8080 | wc -l; ls") == "5\n"
    assert text(desk, "tail -1 ~/pf.log") == "Handling connection for 8080\n"


@pytest.mark.parametrize("stop", ["kill $PF", "kill -9 $PF", "pkill -f port-forward", "kill %kubectl"])
def test_jobs_are_killed(desk: Workstation, stop: str) -> None:
    text(desk, f"{FORWARD} > /dev/null & PF=$!\n{stop}")
    assert text(desk, "curl -s localhost:8080; echo $?") == "7\n"


def test_a_forward_ends_with_its_pod(desk: Workstation) -> None:
    text(desk, f"{FORWARD} > pf.log 2>&1 &")
    text(desk, "kubectl delete pod -l io.kompose.service=frontend")
    assert text(desk, "curl -s localhost:8080; echo $?") == "52\n"
    assert text(desk, "tail -1 pf.log") == "error: lost connection to pod\n"
    assert text(desk, "curl -s localhost:8080; echo $?") == "7\n"


def test_a_port_without_a_listener(desk: Workstation) -> None:
    answer = text(desk, "kubectl port-forward deploy/frontend 9000:9999 & curl localhost:9000")
    assert "curl: (52) Empty reply from server" in answer
    assert "connect: connection refused" in answer


def test_a_port_is_taken_once(desk: Workstation) -> None:
    answer = desk.run(f"{FORWARD} & {FORWARD}")
    assert "bind: address already in use" in answer.text
    assert "error: unable to listen on any of the requested ports: [{8080 5000}]" in answer.text


def test_the_foreground_is_bounded(desk: Workstation) -> None:
    before = desk.world.now()
    assert desk.run(f"timeout 5 {FORWARD}").exit_code == 124
    assert desk.world.now() - before == 5_000_000
    assert "run it in the background (&)" in text(desk, FORWARD)
    assert text(desk, "curl -s localhost:8080; echo $?") == "7\n"


def test_timeout_ends_a_background_forward(desk: Workstation) -> None:
    assert "Hotel" in text(desk, f"timeout 5 {FORWARD} & curl -s localhost:8080")
    assert text(desk, "sleep 5; curl -s localhost:8080; echo $?") == "7\n"


def test_a_proxy_answers_with_the_rights_of_the_person(settled: EmbeddedWorld) -> None:
    desk = Workstation(settled.fork(), ADMIN, NAMESPACE)
    assert text(desk, "kubectl proxy --port=8001 &") == "Starting to serve on 127.0.0.1:8001\n"
    names = text(
        desk,
        f"curl -s localhost:8001/apis/apps/v1/namespaces/{NAMESPACE}/deployments | jq -r '.items[].metadata.name'",
    )
    assert "frontend" in names.split()
    assert '"code": 404' in text(desk, "curl -s localhost:8001/api/v1/namespaces/nothing")
    other = Workstation(settled.fork(), User("nobody"), NAMESPACE)
    text(other, "kubectl proxy &")
    assert '"code": 403' in text(other, "curl -s localhost:8001/api/v1/pods")


def test_nobody_forwards_without_the_right(settled: EmbeddedWorld) -> None:
    desk = Workstation(settled.fork(), User("nobody"), NAMESPACE)
    assert "forbidden" in text(desk, f"{FORWARD} & curl -s localhost:8080")


@pytest.mark.parametrize(
    ("line", "printed", "seconds"),
    [
        ("sleep 5 & sleep 9 & wait; echo done", "done\n", 9.0),
        ("sleep 5 & echo now", "now\n", 1.0),
        ("(echo a; exit 3) & wait $!; echo $?", "a\n3\n", 1.0),
        ("wait 99; echo $?", "bash: wait: pid 99 is not a child of this shell\n127\n", 1.0),
        ("kill %1", "bash: kill: %1: no such job\n", 1.0),
        ("kill 99", "bash: kill: (99) - No such process\n", 1.0),
        ("nohup echo hi & wait", "hi\n", 1.0),
    ],
)
def test_jobs_of_the_shell(desk: Workstation, line: str, printed: str, seconds: float) -> None:
    before = desk.world.now()
    assert text(desk, line) == printed
    assert (desk.world.now() - before) / 1e6 == pytest.approx(seconds, abs=0.01)


def test_jobs_are_listed_as_processes(desk: Workstation) -> None:
    text(desk, f"{FORWARD} > /dev/null &")
    assert f"4021  0.0  0.1 746612 42180 ?        Sl   15:00   0:00 {FORWARD}" in text(desk, "ps aux")
    assert text(desk, "pgrep -f port-forward") == "4021\n"
    assert "127.0.0.1:8080" in text(desk, "ss -tlnp")
    assert text(desk, "kill $(pgrep -f port-forward); ps aux | grep -c forward") == "0\n"


@pytest.mark.parametrize(
    "line",
    [
        f"bash -c '{FORWARD} > /dev/null & sleep 1; curl -s localhost:8080; kill $!'",
        f"({FORWARD} > /dev/null 2>&1 &); curl -s localhost:8080",
        f"{{ {FORWARD}; }} > /dev/null & until curl -sf localhost:8080; do sleep 1; done",
        f"nohup {FORWARD} &> /dev/null &\ncurl -s localhost:8080",
        f"echo '{FORWARD} > /dev/null &' > pf.sh; bash pf.sh; curl -s localhost:8080",
    ],
)
def test_ways_to_start_a_forward(desk: Workstation, line: str) -> None:
    assert "Hotel Reservation" in text(desk, line)


def test_a_fork_has_its_own_ports(desk: Workstation) -> None:
    text(desk, f"{FORWARD} &")
    twin = desk.fork(desk.world.fork())
    text(twin, "kill %1")
    assert "Hotel" in text(desk, "curl -s localhost:8080")
    assert text(twin, "curl -s localhost:8080; echo $?") == "7\n"
