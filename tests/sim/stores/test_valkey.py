"""Valkey: connections, memory, keys, and ``valkey-cli`` as it prints without a terminal."""

from __future__ import annotations

import pytest

from sregym_env.cluster.streams import ExecResult
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import redis_memory
from tests.sim.stores import shop


@pytest.fixture
def world() -> EmbeddedWorld:
    return shop.world()


def cli(world: EmbeddedWorld, *words: str, stdin: str = "") -> ExecResult:
    return shop.run(world, "valkey-cart", "valkey-cli", *words, stdin=stdin)


def server(world: EmbeddedWorld) -> ProcessContext:
    return ProcessContext(world, next(p for p in world.processes.values() if p.program == "valkey"))


def test_the_log_of_a_start(world: EmbeddedWorld) -> None:
    text = world.cluster.logs(shop.NS, shop.pod(world, "valkey-cart"))
    for said in (
        "* oO0OoO0OoO0Oo Valkey is starting oO0OoO0OoO0Oo",
        "* Valkey version=9.0.1, bits=64, commit=00000000, modified=0, pid=1, just started",
        "# Warning: no config file specified, using the default config. In order to specify a config file use valkey-server /path/to/valkey.conf",
        "* Ready to accept connections tcp",
    ):
        assert said in text


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["PING"], "PONG"),
        (["--no-raw", "PING", "x"], '"x"'),
        (["GET", "nothing"], ""),
        (["--no-raw", "GET", "nothing"], "(nil)"),
        (["CONFIG", "GET", "requirepass"], "requirepass\n"),
        (["CONFIG", "GET", "maxmemory*"], "maxmemory\n0\nmaxmemory-policy\nnoeviction"),
        (["CONFIG", "SET", "maxmemory", "10mb", "maxmemory-policy", "allkeys-lru"], "OK"),
        (["CONFIG", "SET", "maxmemory", "much"],
         "ERR CONFIG SET failed (possibly related to argument 'maxmemory') - argument must be a memory value"),
        (["CONFIG", "SET", "colour", "red"], "ERR Unknown option or number of arguments for CONFIG SET - 'colour'"),
        (["FLY", "to"], "ERR unknown command 'FLY', with args beginning with: 'to' "),
        (["TTL", "nothing"], "-2"),
        (["AUTH", "x"], "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
         "configuration is correct?"),
    ],
)  # fmt: skip
def test_commands(world: EmbeddedWorld, words: list[str], answer: str) -> None:
    # Raw, as where there is no terminal: the client ends an error's text with a line of its own.
    assert cli(world, *words).stdout == f"{answer}\n\n" if answer.startswith("ERR ") else f"{answer}\n"


def test_carts_are_keys(world: EmbeddedWorld) -> None:
    names = cli(world, "KEYS", "*").stdout.split()
    assert len(names) == int(cli(world, "DBSIZE").stdout)
    assert len(set(names)) == len(names) > 10
    assert cli(world, "TYPE", names[0]).stdout == "hash\n"
    assert cli(world, "HGETALL", names[0]).stdout.startswith("cart\n")
    assert 0 < int(cli(world, "TTL", names[0]).stdout) <= 3600
    page = cli(world, "SCAN", "0", "COUNT", "5").stdout.split()
    assert page == ["5", *names[:5]]
    cli(world, "FLUSHALL")
    assert cli(world, "DBSIZE").stdout == "0\n"
    world.advance(60.0)
    assert 30 <= int(cli(world, "DBSIZE").stdout) <= 90, "shoppers fill new carts"


def test_a_password_meets_new_connections_only(world: EmbeddedWorld) -> None:
    cli(world, "CONFIG", "SET", "requirepass", "invalid_pass")
    assert cli(world, "PING").stdout == "NOAUTH Authentication required.\n\n"
    assert cli(world, "-a", "wrong", "PING").stderr.endswith(
        "AUTH failed: WRONGPASS invalid username-password pair or user is disabled.\n"
    )
    world.advance(20.0)
    assert shop.served(world, "cart")[0] == 1.0
    world.cluster.delete("pods", shop.pod(world, "cart"), shop.NS)
    world.advance(30.0)
    share, told = shop.served(world, "cart")
    assert share == 0.0 and "authentication failure" in told and "NOAUTH" in told
    assert cli(world, "-a", "invalid_pass", "CONFIG", "SET", "requirepass", "").stdout == "OK\n"
    world.advance(20.0)
    assert shop.served(world, "cart")[0] == 1.0


def test_full_memory_refuses_writes_and_serves_reads(world: EmbeddedWorld) -> None:
    cli(world, "CONFIG", "SET", "maxmemory", "100kb")
    assert cli(world, "SET", "a", "b").stdout == "OOM command not allowed when used memory > 'maxmemory'.\n\n"
    world.advance(20.0)
    assert shop.served(world, "cart")[0] == 1.0
    share, told = shop.served(world, "add")
    assert (
        share == 0.0
        and "RedisServerException: OOM command not allowed when used memory > 'maxmemory'." in told
    )
    cli(world, "CONFIG", "SET", "maxmemory", "0")
    world.advance(20.0)
    assert shop.served(world, "add")[0] == 1.0


def test_a_flood_ends_in_the_containers_limit(world: EmbeddedWorld) -> None:
    for _ in range(10):
        assert redis_memory.store(server(world), 1_000_000) == ""
    assert cli(world, "INFO", "keyspace").stdout.startswith("# Keyspace\ndb0:keys=")
    assert redis_memory.store(server(world), 10_000_000) == ""
    world.advance(5.0)
    status = world.cluster.get("pods", shop.pod(world, "valkey-cart"), shop.NS)["status"][
        "containerStatuses"
    ][0]
    assert status["restartCount"] == 1
    assert status["lastState"]["terminated"]["reason"] == "OOMKilled"


@pytest.mark.parametrize(("policy", "refused"), [("noeviction", True), ("allkeys-lru", False)])
def test_a_limit_of_its_own_protects_the_server(world: EmbeddedWorld, policy: str, refused: bool) -> None:
    cli(world, "CONFIG", "SET", "maxmemory", "8mb", "maxmemory-policy", policy)
    answers = [redis_memory.store(server(world), 1_000_000) for _ in range(20)]
    assert any(answers) == refused
    assert server(world).process.memory < 20 << 20


def test_clients_are_the_processes_that_run(world: EmbeddedWorld) -> None:
    lines = cli(world, "CLIENT", "LIST").stdout.split("\n")
    # Where each has arrived: the cart over the network, the console over loopback.
    assert f" laddr={server(world).process.ip}:6379 " in lines[0] and " laddr=127.0.0.1:6379 " in lines[1]
    address = world.cluster.get("pods", shop.pod(world, "cart"), shop.NS)["status"]["podIP"]
    assert sum(f"addr={address}:" in line for line in lines) == 1
    world.cluster.patch("deployments.apps", "cart", {"spec": {"replicas": 0}}, namespace=shop.NS)
    world.advance(60.0)
    assert address not in cli(world, "CLIENT", "LIST").stdout


def test_a_volume_keeps_what_is_set_and_a_container_does_not(world: EmbeddedWorld) -> None:
    pod = {"volumes": [{"name": "data", "emptyDir": {}}],
           "containers": [{"name": "valkey-cart", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]}  # fmt: skip
    cli(world, "SET", "a", "b")
    world.cluster.patch(
        "deployments.apps", "valkey-cart", {"spec": {"template": {"spec": pod}}}, namespace=shop.NS
    )
    world.advance(40.0)
    assert cli(world, "GET", "a").stdout == "\n"
    cli(world, "SET", "a", "b")
    shop.run(world, "valkey-cart", "kill", "1")
    world.advance(20.0)
    assert cli(world, "GET", "a").stdout == "b\n"


def test_what_is_counted_moves_with_the_traffic(world: EmbeddedWorld) -> None:
    def counted() -> dict[str, int]:
        lines = cli(world, "INFO", "commandstats").stdout.splitlines()
        pairs = [line.removeprefix("cmdstat_").split(":calls=") for line in lines if ":calls=" in line]
        return {name: int(rest.partition(",")[0]) for name, rest in pairs}

    before = counted()
    assert {"hget", "hset"} <= before.keys()
    world.advance(100.0)
    after = counted()
    assert all(after[name] > before[name] for name in ("hget", "hset"))
    told = cli(world, "--bigkeys").stdout
    assert f"Sampled {cli(world, 'DBSIZE').stdout.strip()} keys in the keyspace!" in told
