"""What only a cluster behind a kubeconfig has: a connection, a clock of its own, somebody in between."""

from __future__ import annotations

import pickle
import time
from pathlib import Path

import pytest

from sregym_env.cluster.http import HttpCall
from sregym_env.errors import ClusterError
from sregym_env.live import services
from sregym_env.live.backend import LiveBackend
from sregym_env.live.clock import WallClock
from sregym_env.live.connection import Connection
from sregym_env.live.world import LiveWorld
from sregym_env.runtime.clock import SECOND
from sregym_env.serve.moment import wall
from sregym_env.serve.pace import Pace
from sregym_env.sim.bringup.deploy import deployed_world
from tests.serve.serving import Served
from tests.world.worlds import APP, NAMESPACE, over_http


def test_the_clock_on_the_wall() -> None:
    clock = WallClock()
    assert abs(clock.now() / SECOND - time.time()) < 1.0
    fast = WallClock(speed=100.0)
    began, wall = fast.now(), time.monotonic()
    fast.sleep(20.0)
    passed = (fast.now() - began) / SECOND
    assert passed >= 20.0
    assert passed == pytest.approx((time.monotonic() - wall) * 100.0, rel=0.2)


def test_waiting_while_the_server_lets_time_pass(server: Served) -> None:
    """As against ``sregym serve --speed 50``: nobody but the wall moves the clock."""
    served = deployed_world(APP, 0, wall())
    server.server.on_loop(lambda: setattr(server.server.hosted, "pace", Pace(served, "real", 50.0)))
    world = LiveWorld(APP, Connection.of(str(server.kubeconfig)), WallClock(50.0))
    begin = served.now()
    world.advance(25.0)
    assert served.now() - begin >= 20 * SECOND
    assert {journey.success_ratio for journey in world.traffic.health(25.0)} == {1.0}
    pod = world.cluster.list("pods", NAMESPACE)[0]
    assert abs(_stamp(pod["status"]["startTime"]) - time.time()) < 10 * 3600


def _stamp(text: str) -> float:
    return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ")) - time.timezone


def test_a_kubeconfig_that_leads_nowhere(tmp_path: Path, server: Served) -> None:
    with pytest.raises(ClusterError, match="kubeconfig: "):
        LiveBackend(str(tmp_path / "none")).deploy(APP, 0)
    elsewhere = tmp_path / "kubeconfig"
    text = server.kubeconfig.read_text()
    elsewhere.write_text(text.replace(server.server.url, "https://127.0.0.1:1"))
    with pytest.raises(ClusterError, match="no answer from the API server"):
        LiveBackend(str(elsewhere)).deploy(APP, 0)


def test_a_backend_is_a_small_value() -> None:
    assert len(pickle.dumps(LiveBackend("kubeconfig", context="kind"))) < 300


def test_nobody_in_between_speaks_for_the_environment(server: Served) -> None:
    """The proxy asks as administrator: a caller's headers must not change who asks, nor a path where."""
    sent: list[list[tuple[str, str]]] = []

    class Listening(Connection):
        def send(self, *args: object, **options: object) -> object:  # type: ignore[override]
            sent.append(list(options.get("headers") or ()))  # type: ignore[call-overload]
            return super().send(*args, **options)  # type: ignore[arg-type]

    world = over_http(server, deployed_world(APP, 0))
    listening = Listening(Connection.of(str(server.kubeconfig)).api)
    headers = {"Authorization": "Bearer x", "Impersonate-User": "y", "Host": "z", "X-Mine": "1"}
    call = HttpCall(f"http://frontend.{NAMESPACE}:5000/", headers=headers)
    assert services.exchange(listening, world.cluster, call).status == 200
    assert sent == [[("X-Mine", "1")]]
    odd = HttpCall(f"http://frontend.{NAMESPACE}:5000/", headers={"X-Mine": "a\r\nAuthorization: b"})
    assert services.exchange(listening, world.cluster, odd).status == 400
    assert world.request(HttpCall(f"http://frontend.{NAMESPACE}:5000/", "GET / HTTP/1.1\r\n")).status == 405


@pytest.mark.parametrize(
    ("path", "within"),
    [
        ("", "/"),
        ("/a/b?", "/a/b%3F"),
        ("/a/../b", "/b"),
        ("/../../../secrets", "/secrets"),
        ("/%2e%2e/%2E./x", "/x"),
        ("/a/./b/", "/a/b/"),
        ("/a%2fb", "/a%2fb"),
        ("/a/..%2f../b", "/a/b"),
    ],
)
def test_paths_stay_within_the_proxy(path: str, within: str) -> None:
    assert services._within(path) == within
