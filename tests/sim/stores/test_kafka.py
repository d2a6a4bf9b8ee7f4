"""A broker, its groups and the tools of its image."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.kafka import groups, settings
from sregym_env.sim.world.program import Call
from tests.sim.stores import shop

BIN = "/opt/kafka/bin/"
SERVER = ("--bootstrap-server", "localhost:9092")


@pytest.fixture
def world() -> EmbeddedWorld:
    return shop.world()


def tool(world: EmbeddedWorld, name: str, *words: str, server: tuple[str, ...] = SERVER) -> ExecResult:
    return shop.run(world, "kafka", BIN + name, *server, *words)


def lag(world: EmbeddedWorld, group: str = "accounting") -> tuple[int, int]:
    """(committed, lag) as the tool shows them."""
    told = tool(world, "kafka-consumer-groups.sh", "--describe", "--group", group).stdout
    words = told.splitlines()[-1].split()
    assert words[0] == group
    return int(words[3]), int(words[5])


def environment(world: EmbeddedWorld, **changes: str) -> None:
    env = [{"name": name, "value": text} for name, text in changes.items()]
    spec = {"containers": [{"name": "kafka", "env": env}]}
    world.cluster.patch(
        "deployments.apps", "kafka", {"spec": {"template": {"spec": spec}}}, namespace=shop.NS
    )
    world.advance(40.0)


def test_consumers_take_what_is_produced(world: EmbeddedWorld) -> None:
    before, behind = lag(world)
    world.advance(100.0)
    after, still = lag(world)
    # One request in ten of ten per second places an order.
    assert 95 <= after - before <= 105
    assert behind <= 2 and still <= 2


def test_a_consumer_that_is_slow_falls_behind_and_catches_up(world: EmbeddedWorld) -> None:
    lock = 'BEGIN; LOCK TABLE accounting."order" IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(3600)'
    command = ["psql", "-h", "postgresql", "-U", "root", "-d", "otel", "-c", lock]
    container = {
        "name": "hold",
        "image": "postgres:17.6",
        "command": command,
        "env": [{"name": "PGPASSWORD", "value": "otel"}],
    }
    world.cluster.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "holder", "namespace": shop.NS},
         "spec": {"restartPolicy": "Never", "containers": [container]}}
    )  # fmt: skip
    world.advance(200.0)
    assert lag(world)[1] > 100
    assert shop.served(world, "checkout")[0] == 1.0, "producers do not wait for consumers"
    world.cluster.delete("pods", "holder", shop.NS)
    world.advance(60.0)
    assert lag(world)[1] <= 2


def test_a_group_without_members_keeps_its_offsets(world: EmbeddedWorld) -> None:
    world.cluster.patch("deployments.apps", "accounting", {"spec": {"replicas": 0}}, namespace=shop.NS)
    world.advance(60.0)
    told = tool(world, "kafka-consumer-groups.sh", "--describe", "--group", "accounting").stdout
    assert told.startswith("\nConsumer group 'accounting' has no active members.\n")
    first = lag(world)
    world.advance(100.0)
    second = lag(world)
    assert first[0] == second[0]
    assert second[1] >= first[1] + 95
    assert (
        "Empty"
        in tool(world, "kafka-consumer-groups.sh", "--describe", "--group", "accounting", "--state").stdout
    )


def test_consumers_find_a_broker_that_was_replaced(world: EmbeddedWorld) -> None:
    world.cluster.delete("pods", shop.pod(world, "kafka"), shop.NS)
    world.advance(90.0)
    committed, behind = lag(world)
    assert 0 < committed < 100, "a new container has a new log"
    assert behind <= 2


def test_the_next_member_takes_over_from_one_that_leaves(world: EmbeddedWorld) -> None:
    """A rollout starts the new consumer while the old one still has the partition."""
    note = {"spec": {"template": {"metadata": {"annotations": {"again": "1"}}}}}
    world.cluster.patch("deployments.apps", "accounting", note, namespace=shop.NS)
    world.advance(60.0)
    told = tool(world, "kafka-consumer-groups.sh", "--describe", "--group", "accounting").stdout
    address = world.cluster.get("pods", shop.pod(world, "accounting"), shop.NS)["status"]["podIP"]
    assert f"/{address} " in told
    before = lag(world)
    world.advance(100.0)
    after = lag(world)
    assert after[0] - before[0] >= 95 and after[1] <= 2


def test_consumers_say_that_the_broker_is_gone(world: EmbeddedWorld) -> None:
    """They take nothing any more, write of it at once and then again and again, and stop when it is back."""
    world.cluster.patch("deployments.apps", "kafka", {"spec": {"replicas": 0}}, namespace=shop.NS)
    world.advance(120.0)
    consumer = shop.pod(world, "accounting")
    lines = world.cluster.logs(shop.NS, consumer).splitlines()
    said = [line.partition("%")[2] for line in lines if "rdkafka" in line]
    assert [line.split("|")[2] for line in said[:5]] == ["FAIL", "FAIL", "FAIL", "ERROR", "ERROR"]
    assert "Disconnected (after " in said[0] and said[4].endswith(": 1/1 brokers are down")
    assert all("Connection refused (after 1ms in state CONNECT" in line for line in said[5:])
    assert 3 <= len(said[5:]) <= 5, "identical errors are told of every half minute"
    assert float(said[0].split("|")[1]) == pytest.approx(world.now() / SECOND - 118.0, abs=4.0)
    world.cluster.patch("deployments.apps", "kafka", {"spec": {"replicas": 1}}, namespace=shop.NS)
    world.advance(60.0)
    before = world.cluster.logs(shop.NS, consumer).count("rdkafka")
    world.advance(120.0)
    assert world.cluster.logs(shop.NS, consumer).count("rdkafka") == before
    assert lag(world)[1] <= 2


@pytest.mark.parametrize(
    ("component", "kind", "stops"),
    [
        ("kafka", "Ingress", True),
        ("accounting", "Egress", True),
        # Records come back on the connection that the consumer has opened.
        ("accounting", "Ingress", False),
    ],
)
def test_records_come_on_the_connection_of_the_consumer(
    world: EmbeddedWorld, component: str, kind: str, stops: bool
) -> None:
    labels = world.cluster.get("pods", shop.pod(world, component), shop.NS)["metadata"]["labels"]
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "closed", "namespace": shop.NS},
        "spec": {"podSelector": {"matchLabels": labels}, "policyTypes": [kind]},
    }
    before = lag(world)
    world.cluster.create(policy)
    world.advance(60.0)
    lines = world.cluster.logs(shop.NS, shop.pod(world, "accounting")).splitlines()
    told = [line for line in lines if "rdkafka" in line]
    assert bool(told) == stops
    if stops:
        assert lag(world)[0] - before[0] < 10
        # With its way out it has lost the name server as well.
        why = "Connection setup timed out" if component == "kafka" else "Failed to resolve"
        assert why in told[-1]
    else:
        assert lag(world)[0] - before[0] > 40 and lag(world)[1] <= 2
    world.cluster.delete("networkpolicies.networking.k8s.io", "closed", shop.NS)
    world.advance(60.0)
    assert lag(world)[1] <= 2


@pytest.mark.parametrize(
    ("name", "words", "shown"),
    [
        ("kafka-topics.sh", ["--list"], "__consumer_offsets\norders\n"),
        ("kafka-topics.sh", ["--describe", "--topic", "nope"], "Error while executing topic command : Topic 'nope' does not exist as expected\n"),
        ("kafka-topics.sh", ["--create", "--topic", "new", "--partitions", "3"], "Created topic new.\n"),
        ("kafka-consumer-groups.sh", ["--list"], "accounting\n"),
        ("kafka-configs.sh", ["--entity-type", "topics", "--entity-name", "orders", "--describe"],
         "Dynamic configs for topic orders are:\n"),
        ("kafka-configs.sh", ["--topic", "nope", "--describe"],
         "The topic 'nope' doesn't exist and doesn't have dynamic config.\n"),
        ("kafka-configs.sh", ["--entity-type", "brokers", "--entity-name", "1", "--describe"],
         "Dynamic configs for broker 1 are:\n"),
        ("kafka-consumer-groups.sh", ["--list", "--state"], "GROUP      STATE \naccounting Stable\n"),
        ("kafka-consumer-groups.sh", ["--list", "--state", "empty"], "GROUP STATE\n"),
        ("kafka-get-offsets.sh", ["--topic", "orders", "--time", "earliest"], "orders:0:0\n"),
        ("kafka-get-offsets.sh", ["--topic-partitions", "orders:7"], ""),
        ("kafka-cluster.sh", ["cluster-id"], "Cluster ID: 5L6g3nShT-eMCtK--X86sw\n"),
        ("kafka-log-dirs.sh", ["--describe", "--topic-list", "nope"],
         "Querying brokers for log directories information\nReceived log directory information from brokers 1\n"
         '{"brokers":[{"broker":1,"logDirs":[{"partitions":[],"error":null,"logDir":"/tmp/kafka-logs"}]}],"version":1}\n'),
        ("kafka-consumer-groups.sh", ["--describe", "--group", "x"], "\nError: Consumer group 'x' does not exist.\n"),
        ("kafka-consumer-groups.sh", ["--delete", "--group", "accounting"],
         "\nError: Deletion of some consumer groups failed:\n* Group 'accounting' could not be deleted due to: "
         "org.apache.kafka.common.errors.GroupNotEmptyException: The group is not empty.\n"),
    ],
)  # fmt: skip
def test_tools(world: EmbeddedWorld, name: str, words: list[str], shown: str) -> None:
    assert tool(world, name, *words).stdout == shown


def test_tools_say_the_same_of_one_log(world: EmbeddedWorld) -> None:
    """Offsets, the group's place and the size of the log are views of one topic."""
    end = int(tool(world, "kafka-get-offsets.sh", "--topic", "orders").stdout.split(":")[2])
    committed, behind = lag(world)
    assert committed + behind == end > 0
    document = orjson.loads(
        tool(world, "kafka-log-dirs.sh", "--describe", "--topic-list", "orders").stdout.splitlines()[2]
    )
    (part,) = document["brokers"][0]["logDirs"][0]["partitions"]
    assert (part["partition"], part["size"]) == ("orders-0", end * 310)
    offsets = tool(world, "kafka-get-offsets.sh", "--topic", "__consumer_offsets").stdout.splitlines()
    assert len(offsets) == 50
    (commits,) = (line for line in offsets if not line.endswith(":0"))
    # One every five seconds, since the group began.
    assert commits.startswith("__consumer_offsets:5:")
    up = (world.now() - next(p for p in world.processes.values() if p.program == "kafka").started_at) / SECOND
    assert int(commits.rpartition(":")[2]) == pytest.approx(min(up / 5, committed), abs=20)


def test_members_of_a_group(world: EmbeddedWorld) -> None:
    """Those who wait for the partition are members, too."""
    world.cluster.patch("deployments.apps", "accounting", {"spec": {"replicas": 2}}, namespace=shop.NS)
    world.advance(30.0)
    told = tool(
        world, "kafka-consumer-groups.sh", "--describe", "--group", "accounting", "--members", "--verbose"
    ).stdout
    rows = [line.split() for line in told.splitlines()[1:]]
    assert rows[0] == ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "ASSIGNMENT"]
    assert [row[3:] for row in rows[1:]] == [["rdkafka", "1", "orders(0)"], ["rdkafka", "0", "-"]]
    addresses = {
        f"/{pod['status']['podIP']}"
        for pod in world.cluster.list("pods", shop.NS)
        if pod["metadata"]["name"].startswith("accounting-")
    }
    assert {row[2] for row in rows[1:]} == addresses
    state = tool(world, "kafka-consumer-groups.sh", "--describe", "--group", "accounting", "--state").stdout
    assert state.splitlines()[-1].split()[-2:] == ["Stable", "2"]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("ls /opt/kafka/bin | head -2", "kafka-broker-api-versions.sh\nkafka-cluster.sh\n"),
        ("cd /opt/kafka/bin; ./kafka-topics.sh --bootstrap-server localhost:9092 --list", "__consumer_offsets\norders\n"),
        ("cd /opt/kafka; bin/kafka-cluster.sh cluster-id --bootstrap-server localhost:9092", "Cluster ID: 5L6g3nShT-eMCtK--X86sw\n"),
        ("ls -l /opt/kafka/bin/kafka-topics.sh | cut -c1-10", "-rwxr-xr-x\n"),
        ("ps | grep -c '[k]afka.Kafka /opt/kafka/config/server.properties'", "1\n"),
        ("ps | awk '/java/ && $1 == 1 {print $2}'", "appuser\n"),
        ("cat /proc/1/comm; pidof java", "java\n1\n"),
        ("ps | awk '$4 == \"ps\" {print $2}'", "appuser\n"),
        ("grep -c listeners /opt/kafka/config/server.properties", "2\n"),
    ],
)  # fmt: skip
def test_the_tools_lie_in_their_place(world: EmbeddedWorld, line: str, shown: str) -> None:
    assert shop.run(world, "kafka", "sh", "-c", line).stdout == shown


def test_tools_that_reach_no_broker(world: EmbeddedWorld) -> None:
    assert (
        "Timed out waiting for a node assignment"
        in tool(world, "kafka-topics.sh", "--list", server=("--bootstrap-server", "localhost:9099")).stderr
    )
    assert (
        "DNS resolution failed for nowhere"
        in tool(world, "kafka-topics.sh", "--list", server=("--bootstrap-server", "nowhere:9092")).stderr
    )
    assert "Missing required argument" in tool(world, "kafka-topics.sh", "--list", server=()).stderr


@pytest.mark.parametrize(
    ("heap", "said"),
    [
        ("-Xmx4X -Xms400M", "Invalid maximum heap size: -Xmx4X"),
        ("-Xmx64M", "java.lang.OutOfMemoryError: Java heap space"),
    ],
)
def test_a_heap_that_does_not_do(world: EmbeddedWorld, heap: str, said: str) -> None:
    environment(world, KAFKA_HEAP_OPTS=heap)
    name = shop.pod(world, "kafka")
    assert said in world.cluster.logs(shop.NS, name) + world.cluster.logs(shop.NS, name, previous=True)
    status = world.cluster.get("pods", name, shop.NS)["status"]["containerStatuses"][0]
    assert status["restartCount"] and status["lastState"]["terminated"]["exitCode"] == 1


def test_a_broker_that_advertises_another_name_is_lost_to_producers(world: EmbeddedWorld) -> None:
    environment(world, KAFKA_ADVERTISED_LISTENERS="PLAINTEXT://kafka-broker:9092")
    world.advance(30.0)
    # Orders go on: publishing is best effort. The log of the producer says what is wrong.
    assert "run out of available brokers to talk to: dial tcp: lookup kafka-broker" in world.cluster.logs(
        shop.NS, shop.pod(world, "checkout")
    )


@pytest.mark.parametrize(
    ("call", "ok"),
    [
        (Call("produce orders"), 1.0),
        (Call("produce orders", (("bytes", "10485760"),)), 0.0),
        (Call("produce other"), 1.0),
    ],
)
def test_records_beyond_the_limit_are_refused(world: EmbeddedWorld, call: Call, ok: float) -> None:
    process = next(p for p in world.processes.values() if p.program == "kafka")
    assert world.programs["kafka"].serve(ProcessContext(world, process), call, 9092).ok == ok


def test_a_record_larger_than_the_room_on_the_heap_ends_the_broker(world: EmbeddedWorld) -> None:
    environment(world, KAFKA_MESSAGE_MAX_BYTES="536870912")
    process = next(p for p in world.processes.values() if p.program == "kafka")
    ctx = ProcessContext(world, process)
    big, small = (Call("produce orders", (("bytes", str(size)),)) for size in (209_715_200, 10_485_760))
    assert world.programs["kafka"].serve(ctx, big, 9092).failures[0][0].kind == "reset"
    assert world.programs["kafka"].serve(ctx, small, 9092).ok == 1.0


@pytest.mark.parametrize(
    ("text", "listener", "found"),
    [
        ("PLAINTEXT://kafka:9092,CONTROLLER://:9093", "PLAINTEXT", ("kafka", 9092)),
        ("PLAINTEXT://kafka:9092,CONTROLLER://:9093", "CONTROLLER", ("", 9093)),
        ("kafka:9092", "PLAINTEXT", None),
        ("PLAINTEXT://kafka:99999", "PLAINTEXT", None),
    ],
)
def test_endpoints(text: str, listener: str, found: tuple[str, int] | None) -> None:
    assert settings.endpoint(text, listener) == found


@given(
    st.lists(st.tuples(st.integers(1, 50), st.floats(0.0, 20.0)), max_size=6),
    st.lists(st.tuples(st.integers(0, 200), st.sampled_from((0.0, 0.01, 0.1, 1.0))), max_size=5),
)
def test_a_queue_loses_and_invents_nothing(
    lengths: list[tuple[int, float]], paces: list[tuple[int, float]]
) -> None:
    made, at = [], 0.0
    for length, rate in lengths:
        made.append((at, at + length, rate))
        at += length
    now = int(max(at, 200.0)) * SECOND
    known = sorted((time * SECOND, pace) for time, pace in paces)
    produced, backlog = groups.queue(made, known, now)
    assert produced == pytest.approx(sum((end - begin) * rate for begin, end, rate in made))
    assert 0.0 <= backlog <= produced + 1e-6
    if not any(pace for _, pace in known):
        assert backlog == pytest.approx(produced)
