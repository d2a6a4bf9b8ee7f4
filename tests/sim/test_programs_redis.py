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
        (["keys", "nobody*"], "(empty array)"),
        (["type", "12"], "zset"),
        (["type", "962"], "none"),
        (["get", "12"], "(error) WRONGTYPE Operation against a key holding the wrong kind of value"),
        (["zcard", "nobody"], "(integer) 0"),
        (["ttl", "12"], "(integer) -1"),
        (["latency", "latest"], "(empty array)"),
        (["latency", "history", "command"], "(empty array)"),
        (["latency", "graph", "command"], "(error) ERR No samples available for event 'command'"),
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


def clients(world: EmbeddedWorld, component: str = NAME) -> list[dict[str, str]]:
    """What the server says of those who are connected, its own console aside."""
    lines = cli(world, "--raw", "client", "list", component=component).stdout.split("\n")
    found = [dict(word.split("=", 1) for word in line.split()) for line in lines if line]
    return [each for each in found if not each["addr"].startswith("127.")]


@pytest.mark.parametrize(
    ("component", "service"),
    [
        ("user-timeline-redis", "user-timeline-service"),
        ("home-timeline-redis", "home-timeline-service"),
        ("social-graph-redis", "social-graph-service"),
    ],
)
def test_services_hold_connections(world: EmbeddedWorld, component: str, service: str) -> None:
    """Those of the service alone, until it is gone; ``INFO`` counts the same."""
    name = pod(world, service)
    address = world.cluster.get("pods", name, NS)["status"]["podIP"]
    open_ = clients(world, component)
    assert {each["addr"].partition(":")[0] for each in open_} == {address}
    assert len({each["id"] for each in open_}) == len({each["addr"] for each in open_}) == len(open_) >= 2
    assert all(int(each["idle"]) <= int(each["age"]) for each in open_)
    assert {each["cmd"] for each in open_} <= {"zadd", "zrevrange", "zrange"}
    told = cli(world, "--raw", "info", "clients", component=component).stdout
    assert f"connected_clients:{len(open_) + 1}\n" in told
    world.cluster.patch("deployments.apps", service, {"spec": {"replicas": 0}}, namespace=NS)
    world.cluster.advance(60.0)
    assert clients(world, component) == []


def test_a_password_that_clients_do_not_know_keeps_them_out(world: EmbeddedWorld) -> None:
    assert clients(world)
    cli(world, "config", "set", "requirepass", "new")
    told = cli(world, "--raw", "-a", "new", "--no-auth-warning", "client", "list").stdout
    assert told.count(" addr=") == 1


def counts(world: EmbeddedWorld) -> dict[str, int]:
    lines = cli(world, "--raw", "info", "commandstats").stdout.splitlines()
    pairs = [line.removeprefix("cmdstat_").split(":calls=") for line in lines if line.startswith("cmdstat_")]
    return {name: int(rest.partition(",")[0]) for name, rest in pairs}


def stats(world: EmbeddedWorld) -> dict[str, str]:
    lines = cli(world, "--raw", "info", "stats").stdout.splitlines()
    return dict(line.split(":") for line in lines if ":" in line)


def test_what_is_counted_moves_with_the_traffic(world: EmbeddedWorld) -> None:
    before, first = counts(world), stats(world)
    assert before.keys() == {"zadd", "zrevrange"}
    assert int(first["total_commands_processed"]) == sum(before.values())
    world.advance(100.0)
    after, second = counts(world), stats(world)
    grown = sum(after.values()) - sum(before.values())
    assert grown == pytest.approx(100.0 * int(first["instantaneous_ops_per_sec"]), rel=0.05)
    assert int(second["total_connections_received"]) > int(first["total_connections_received"])
    assert int(second["total_connections_received"]) + 16 >= max(int(each["id"]) for each in clients(world))
    cli(world, "config", "resetstat")
    assert sum(counts(world).values()) == 0
    world.advance(10.0)
    assert sum(counts(world).values()) == pytest.approx(grown / 10, rel=0.1)


def test_a_sorted_set_for_each_who_has_posted(world: EmbeddedWorld) -> None:
    """Size, type, members and the walk over all keys say the same of it; a server that was emptied fills again."""
    names = cli(world, "--raw", "keys", "*").stdout.split()
    assert len(names) == len(set(names)) == int(cli(world, "--raw", "dbsize").stdout)
    assert all(name.isdecimal() and int(name) < 962 for name in names)
    page = cli(world, "--raw", "scan", "0", "count", "7").stdout.split()
    assert page == ["7", *names[:7]]
    name = names[3]
    card = int(cli(world, "--raw", "zcard", name).stdout)
    everybody = cli(world, "--raw", "zrange", name, "0", "-1", "withscores").stdout.split()
    members, scores = everybody[::2], [int(each) for each in everybody[1::2]]
    assert len(members) == len(set(members)) == card > 0
    assert scores == sorted(scores) and scores[-1] <= world.now() // 1000
    assert cli(world, "--raw", "zrevrange", name, "0", "1").stdout.split() == members[:-3:-1]
    total = cli(world, "--bigkeys").stdout
    assert f"Sampled {len(names)} keys in the keyspace!" in total
    posts = counts(world)["zadd"]
    (told,) = (line for line in total.splitlines() if " zsets with " in line)
    assert int(told.split()[3]) == pytest.approx(posts, rel=0.05)
    assert cli(world, "--raw", "del", name, "nobody").stdout == "1\n"
    assert cli(world, "--raw", "zcard", name).stdout == "0\n"
    cli(world, "flushall")
    assert cli(world, "--raw", "dbsize").stdout == "0\n"
    world.advance(20.0)
    filled = int(cli(world, "--raw", "dbsize").stdout)
    assert 0 < filled <= counts(world)["zadd"] - posts
    assert set(cli(world, "--raw", "keys", "*").stdout.split()) <= set(names)


def test_commands_are_seen_as_they_come(world: EmbeddedWorld) -> None:
    desk = Workstation(world, ADMIN)
    begun = world.now()
    text = desk.run(f"kubectl exec -n {NS} {pod(world)} -- timeout 3 redis-cli monitor").text
    assert "command terminated with exit code 124" in text
    first, *lines = [line for line in text.splitlines() if "terminated" not in line]
    assert first == "OK"
    asked = int(stats(world)["instantaneous_ops_per_sec"])
    assert len(lines) == pytest.approx(3 * asked, rel=0.1)
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times)
    assert begun / 1e6 - 1.0 <= times[0] and times[-1] <= world.now() / 1e6
    addresses = {each["addr"] for each in clients(world)}
    assert {line.split('"')[1] for line in lines} == {"ZADD", "ZREVRANGE"}
    assert {line.split()[2].strip("]").partition(":")[0] for line in lines} == {
        each.partition(":")[0] for each in addresses
    }


def test_latency_monitoring_is_off_until_it_is_asked_for(world: EmbeddedWorld) -> None:
    assert (
        "Latency monitoring is disabled in this Redis instance."
        in cli(world, "--raw", "latency", "doctor").stdout
    )
    cli(world, "config", "set", "latency-monitor-threshold", "100")
    assert "no latency spike was observed" in cli(world, "--raw", "latency", "doctor").stdout
