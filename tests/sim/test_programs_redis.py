"""``redis-server`` and ``redis-cli`` in the pods of an application."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sregym_env import apps
from sregym_env.cluster.identity import ADMIN
from sregym_env.cluster.streams import ExecResult
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs import exec as container_exec
from sregym_env.tools.workstation import Workstation

APP = apps.app("social-network")
NS = APP.namespace
NAME = "user-timeline-redis"


@pytest.fixture
def world() -> EmbeddedWorld:
    return deployed_world(APP, 1).fork()


def pod(world: EmbeddedWorld, component: str = NAME) -> str:
    return next(
        str(p["metadata"]["name"])
        for p in world.store.list("pods", NS)
        if p["metadata"]["name"].startswith(component + "-")
    )


def cli(world: EmbeddedWorld, *words: str, stdin: str = "", component: str = NAME) -> ExecResult:
    return world.cluster.exec(NS, pod(world, component), ["redis-cli", "--no-raw", *words], stdin=stdin)


def test_replies_are_raw_but_on_a_terminal(world: EmbeddedWorld) -> None:
    desk = Workstation(world, ADMIN)
    words = f"-n {NS} {pod(world)} -- redis-cli config get maxmemory"
    assert desk.run(f"kubectl exec {words}").text == "maxmemory\n0\n"
    assert desk.run(f"kubectl exec {words} --no-raw").exit_code == 0
    there = world.store.get("pods", NS, pod(world))
    assert there is not None
    asked = ["redis-cli", "config", "get", "maxmemory"]
    seen, piped = (
        container_exec.begin(world, there, there["spec"]["containers"][0]["name"], asked, tty=tty)
        for tty in (True, False)
    )
    assert (seen.stdout, piped.stdout) == ('1) "maxmemory"\r\n2) "0"\r\n', "maxmemory\n0\n")


def test_the_kernel_and_ps_name_the_server_and_not_the_script_that_began_it(world: EmbeddedWorld) -> None:
    desk = Workstation(world, ADMIN)
    told = desk.run(
        f"kubectl exec -n {NS} {pod(world)} -- sh -c \"tr '\\\\0' ' ' < /proc/1/cmdline; cat /proc/1/comm\""
    ).text
    assert told.startswith("redis-server")
    assert told.endswith("redis-server\n")


def configured(world: EmbeddedWorld, text: str) -> None:
    """Change the server's file and have it restarted."""
    world.cluster.patch("configmaps", NAME, {"data": {"redis.conf": text}}, namespace=NS)
    world.cluster.delete("pods", pod(world), NS)
    world.cluster.advance(30.0)


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["ping"], "PONG"),
        (["PING", "hello"], '"hello"'),
        (["set", "a", "1"], "OK"),
        (["get", "nothing"], "(nil)"),
        (["dbsize"], "(integer) 1"),
        (["keys", "*"], '1) "user-timeline"'),
        (["config", "get", "maxmemory"], '1) "maxmemory"\n2) "0"'),
        (["config", "get", "io-*"], '1) "io-threads"\n2) "8"\n3) "io-threads-do-reads"\n4) "yes"'),
        (["config", "set", "colour", "red"], "(error) ERR Unsupported CONFIG parameter: colour"),
        (["get"], "(error) ERR wrong number of arguments for 'get' command"),
        (["fly", "to"], "(error) ERR unknown command `fly`, with args beginning with: `to`,"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, Sequence) and not isinstance(value, str) else "",
)
def test_commands(world: EmbeddedWorld, words: list[str], answer: str) -> None:
    assert cli(world, *words).stdout == f"{answer}\n"


def test_what_is_said_of_memory(world: EmbeddedWorld) -> None:
    told = cli(world, "info", "memory").stdout
    for name in ("used_memory_rss_human:6.00M", "maxmemory_human:0B", "mem_fragmentation_ratio:1.00"):
        assert f"{name}\n" in told
    stats = cli(world, "memory", "stats").stdout.splitlines()
    assert stats[0] == ' 1) "total.allocated"' and stats[9].startswith("10) ")
    assert cli(world, "memory", "doctor").stdout.startswith("Hi Sam, ")
    assert cli(world, "memory", "colour").stdout.startswith("(error) ERR unknown subcommand 'colour'.")


def test_keys_that_are_set_by_hand_live_as_long_as_the_server(world: EmbeddedWorld) -> None:
    assert cli(world, stdin='set a "b c"\nget a\ndel a x\nget a\nset d e\n').stdout == (
        'OK\n"b c"\n(integer) 1\n(nil)\nOK\n'
    )
    assert cli(world, "exists", "d").stdout == "(integer) 1\n"
    world.cluster.delete("pods", pod(world), NS)
    world.cluster.advance(20.0)
    assert cli(world, "exists", "d").stdout == "(integer) 0\n"


def test_other_servers_are_reached_by_name(world: EmbeddedWorld) -> None:
    assert cli(world, "-h", "home-timeline-redis", "ping").stdout == "PONG\n"
    refused = cli(world, "-p", "6380", "ping")
    assert (refused.stderr, refused.exit_code) == (
        "Could not connect to Redis at 127.0.0.1:6380: Connection refused\n",
        1,
    )


def test_a_password_keeps_the_application_out_and_lets_in_who_knows_it(world: EmbeddedWorld) -> None:
    configured(world, "port 6379\nrequirepass s3cret\n")
    assert cli(world, "ping").stdout == "(error) NOAUTH Authentication required.\n"
    known = cli(world, "-a", "s3cret", "ping")
    assert known.stdout == "PONG\n"
    assert "may not be safe" in known.stderr
    assert cli(world, "-a", "wrong", "--no-auth-warning", "ping").stderr.startswith("AUTH failed: WRONGPASS")
    health = {each.journey: each for each in world.traffic.health(10.0)}
    assert health["user-timeline"].success_ratio == 0.0
    assert "NOAUTH Authentication required." in next(iter(health["user-timeline"].errors))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("port 6379\nmaxmemori 10mb\n", ">>> 'maxmemori 10mb'\nBad directive or wrong number of arguments"),
        ("port 6379\n", "Ready to accept connections"),
    ],
)
def test_a_server_reads_its_file(world: EmbeddedWorld, text: str, said: str) -> None:
    configured(world, text)
    name = pod(world)
    previous = world.cluster.logs(NS, name)
    assert said in previous


def test_a_server_without_its_file_ends(world: EmbeddedWorld) -> None:
    spec = {"containers": [{"name": NAME, "args": ["/nowhere/redis.conf"]}]}
    world.cluster.patch("deployments.apps", NAME, {"spec": {"template": {"spec": spec}}}, namespace=NS)
    world.cluster.advance(20.0)
    new = next(
        p
        for p in world.store.list("pods", NS)
        if p["metadata"]["name"].startswith(NAME) and not p["status"]["containerStatuses"][0]["ready"]
    )
    text = "Fatal error, can't open config file '/nowhere/redis.conf': No such file or directory"
    assert text in world.cluster.logs(NS, new["metadata"]["name"])
    assert new["status"]["containerStatuses"][0]["restartCount"]
