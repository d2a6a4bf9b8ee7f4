"""The database shell's language, its authorisation, and what it prints."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env import apps
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs import javascript as js
from sregym_env.sim.programs.mongo_data import Account, MongoData, allows
from sregym_env.sim.programs.mongo_shell.database import _summed
from sregym_env.sim.programs.mongo_shell.queries import matches
from sregym_env.sim.programs.mongo_shell.values import tojson


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a; b", 2),
        ("db.f({a: 1,\n  b: [2,\n 3]})\nprint(1)", 2),
        ("db.x.find()\n  .limit(2)", 1),
        ("// nothing\n", 0),
        ("print('a;b')", 1),
        ("use admin\nshow dbs", 2),
    ],
)
def test_statements(text: str, count: int) -> None:
    assert len(list(js.statements(text))) == count


def test_literals() -> None:
    tree = js.parse("f({a: 'x', \"b\": [1, -2.5, true, null], c: {d: ObjectId('1')}})")
    assert tree.arguments[0]["a"] == "x"
    assert tree.arguments[0]["b"] == [1, -2.5, True, None]


@pytest.mark.parametrize("text", ["f(", "{a: }", "a b", "1 +", "db.", "@"])
def test_syntax_errors(text: str) -> None:
    with pytest.raises(js.SyntaxProblem):
        js.parse(text)


@given(st.text(max_size=80))
def test_parser_never_breaks(text: str) -> None:
    for statement in js.statements(text):
        with suppress(js.SyntaxProblem):
            js.parse(statement)


@pytest.mark.parametrize(
    ("roles", "database", "command", "allowed"),
    [
        ((("readWrite", "geo-db"),), "geo-db", "insert", True),
        ((("readWrite", "geo-db"),), "rate-db", "find", False),
        ((("read", "geo-db"),), "geo-db", "insert", False),
        ((("userAdminAnyDatabase", "admin"),), "geo-db", "createUser", True),
        ((("userAdminAnyDatabase", "admin"),), "geo-db", "find", False),
        ((("root", "admin"),), "geo-db", "dropDatabase", True),
        ((("dbOwner", "geo-db"),), "geo-db", "drop", True),
        ((("readWriteAnyDatabase", "test"),), "geo-db", "find", False),
        ((("clusterMonitor", "admin"),), "admin", "serverStatus", True),
        ((), "geo-db", "find", False),
    ],
)
def test_roles(roles: Any, database: str, command: str, allowed: bool) -> None:
    assert allows(roles, database, command) is allowed


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, True),
        ({"a": 3}, True),
        ({"a": {"$gt": 2, "$lt": 4}}, True),
        ({"a": {"$in": [1, 2]}}, False),
        ({"b.c": "x"}, True),
        ({"z": {"$exists": False}}, True),
        ({"a": {"$gt": "text"}}, False),
        ({"b.c": {"$regex": "^x"}}, True),
    ],
)
def test_queries(query: Any, found: bool) -> None:
    assert matches({"a": 3, "b": {"c": "x"}}, query) is found


def test_printing() -> None:
    assert tojson({"a": 1, "b": [True, None]}, one_line=True) == '{ "a" : 1, "b" : [ true, null ] }'
    assert tojson({"a": {"b": "c"}}) == '{\n\t"a" : {\n\t\t"b" : "c"\n\t}\n}'


def test_data_is_a_value() -> None:
    first = MongoData("4.4").with_account(Account("a", "admin", "p"))
    second = first.without_account("a", "admin").with_documents("d", "c", ({"x": 1},))
    assert first.account("a", "admin") is not None and second.account("a", "admin") is None
    assert first.documents("d", "c") == () and len(second.documents("d", "c")) == 1
    assert second.without_collection("d", "c").collections == {}


def test_a_hash_is_of_what_stands_in_a_collection() -> None:
    one, other = {"_id": "1", "a": 1}, {"_id": "2", "b": [2.0, None]}
    assert _summed([one, other]) == _summed([other, one]) == _summed([{"a": 1}, {"b": [2, None]}])
    assert len({_summed([one]), _summed([one, other]), _summed([{"a": 2}]), _summed([])}) == 4


# --- what a server says of its work -------------------------------------------------------------------------

SOCIAL = apps.app("social-network")
STORE = "user-timeline-mongodb"


@pytest.fixture
def social() -> EmbeddedWorld:
    return deployed_world(SOCIAL, 1).fork()


def asked(world: EmbeddedWorld, script: str, tool: str = "mongo", *words: str) -> str:
    """What the shell prints in the server's pod."""
    pods = world.cluster.list("pods", SOCIAL.namespace)
    name = next(p["metadata"]["name"] for p in pods if p["metadata"]["name"].startswith(f"{STORE}-"))
    command = [tool, *words] if words else [tool, "--quiet", "--eval", script]
    return world.cluster.exec(SOCIAL.namespace, name, command).stdout


def told(world: EmbeddedWorld, script: str) -> Any:
    return orjson.loads(asked(world, f"JSON.stringify({script})"))


def test_the_one_who_asks_is_under_way(social: EmbeddedWorld) -> None:
    (own,) = told(social, "db.currentOp().inprog")
    assert (own["op"], own["appName"], own["command"]["currentOp"]) == ("command", "MongoDB Shell", 1)
    assert own["active"] and own["secs_running"] == 0 and own["desc"] == f"conn{own['connectionId']}"
    assert told(social, "db.currentOp({op: 'query'}).inprog") == []
    everybody = told(social, "db.currentOp(true).inprog")
    pods = {
        p["metadata"]["name"]: p["status"]["podIP"] for p in social.cluster.list("pods", SOCIAL.namespace)
    }
    address = next(ip for name, ip in pods.items() if name.startswith("user-timeline-service-"))
    idle = [each for each in everybody if not each["active"]]
    assert idle and {each["client"].partition(":")[0] for each in idle} == {address}
    assert told(social, "db.serverStatus().connections.current") == len(everybody)


def test_what_a_server_counts_moves_with_the_traffic(social: EmbeddedWorld) -> None:
    before = told(social, "db.serverStatus().opcounters")
    social.advance(100.0)
    after, network = told(social, "db.serverStatus().opcounters"), told(social, "db.serverStatus().network")
    line = asked(social, "", "mongostat", "-n", "1").splitlines()
    row = dict(zip(line[0].split(), line[1].split(), strict=True))
    assert after["update"] - before["update"] == pytest.approx(100 * int(row["update"]), rel=0.1)
    assert after["update"] > before["update"] > 1000
    assert network["numRequests"] == sum(after.values())
    status = told(social, "db.serverStatus()")
    assert status["opLatencies"]["writes"]["ops"] == after["update"] + after["insert"] + after["delete"]
    assert int(row["conn"]) == status["connections"]["current"]


def test_a_server_that_cannot_keep_up_has_operations_under_way(social: EmbeddedWorld) -> None:
    limits = {"resources": {"limits": {"cpu": "6m"}, "requests": {"cpu": "1m"}}}
    spec = {"template": {"spec": {"containers": [{"name": STORE, **limits}]}}}
    social.cluster.patch("deployments.apps", STORE, {"spec": spec}, namespace=SOCIAL.namespace)
    social.advance(240.0)
    busy = [each for each in told(social, "db.currentOp().inprog") if each["ns"].startswith("user-timeline.")]
    assert busy
    assert {each["op"] for each in busy} <= {"update", "query"}
    assert {each["command"]["$db"] for each in busy} == {"user-timeline"}
    status = told(social, "db.serverStatus()")
    assert status["connections"]["active"] == status["globalLock"]["activeClients"]["total"] + 1 > 1
