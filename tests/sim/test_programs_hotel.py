"""Hotel Reservation's programs in a whole world: consequences follow from state alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from sregym_env.apps.hotel_reservation import APP
from sregym_env.apps.hotel_reservation.services import CONFIG_PATH
from sregym_env.cluster.disturbances import DiskReadErrors
from sregym_env.cluster.identity import ADMIN
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.world.program import HttpRequest
from sregym_env.tools.workstation import Workstation

NS = APP.namespace


@pytest.fixture
def world() -> EmbeddedWorld:
    return deployed_world(APP, 1).fork()


def pods(world: EmbeddedWorld, component: str) -> list[Any]:
    return [p for p in world.store.list("pods", NS) if p["metadata"]["name"].startswith(component + "-")]


def name(world: EmbeddedWorld, component: str) -> str:
    return str(pods(world, component)[-1]["metadata"]["name"])


def run(world: EmbeddedWorld, component: str, *argv: str, stdin: str = "") -> Any:
    return world.cluster.exec(NS, name(world, component), list(argv), stdin=stdin)


def logs(world: EmbeddedWorld, component: str, **options: Any) -> str:
    return world.cluster.logs(NS, name(world, component), **options)


def restart(world: EmbeddedWorld, *components: str) -> None:
    for component in components:
        world.cluster.delete("pods", name(world, component), NS)


def change(world: EmbeddedWorld, deployment: str, container: str, **fields: Any) -> None:
    spec = {"containers": [{"name": container, **fields}]}
    world.cluster.patch("deployments.apps", deployment, {"spec": {"template": {"spec": spec}}}, namespace=NS)


def success(world: EmbeddedWorld, seconds: float = 10.0) -> dict[str, float]:
    return {h.journey: h.success_ratio for h in world.traffic.health(seconds)}


def ended(world: EmbeddedWorld, component: str) -> tuple[int, str]:
    status = pods(world, component)[-1]["status"]["containerStatuses"][0]
    last = status["lastState"].get("terminated") or status["state"]["terminated"]
    return last["exitCode"], last["reason"]


def mongo(world: EmbeddedWorld, component: str, script: str, *options: str) -> Any:
    return run(world, component, "mongo", "admin", "--quiet", *options, "--eval", script)


ROOT = ("-u", "root", "-p", "root")


def test_healthy(world: EmbeddedWorld) -> None:
    assert success(world) == {"search": 1.0, "recommend": 1.0, "user": 1.0, "reserve": 1.0}
    assert len(run(world, "consul", "consul", "catalog", "services").stdout.split()) == 8
    assert "Successfully registered in consul" in logs(world, "geo")
    agent = next(each for each in world.processes.values() if each.program == "consul")

    def told(path: str) -> Any:
        answer = world.programs["consul"].request(
            ProcessContext(world, agent), HttpRequest("GET", f"/v1/{path}"), 8500
        )
        assert answer is not None and answer.status == 200
        return json.loads(answer.body)

    assert [each["Status"] for each in told("health/state/any")] == ["passing"]
    assert told("health/state/critical") == []
    assert [each["Tags"]["role"] for each in told("agent/members")] == ["consul"]


def test_a_revoked_role_strikes_at_the_next_start(world: EmbeddedWorld) -> None:
    revoke = "db.revokeRolesFromUser('admin', [{role: 'readWrite', db: 'geo-db'}])"
    assert mongo(world, "mongodb-geo", revoke, *ROOT).exit_code == 0
    world.advance(20)
    assert success(world)["search"] == 1.0, "geo serves from memory"
    restart(world, "geo")
    world.advance(60)
    assert success(world)["search"] == 0.0
    assert ended(world, "geo") == (1, "Error")
    assert "not authorized on geo-db to execute command" in logs(world, "geo")
    assert (
        mongo(world, "mongodb-geo", revoke.replace("revokeRolesFrom", "grantRolesTo"), *ROOT).exit_code == 0
    )
    restart(world, "geo")
    world.advance(30)
    assert success(world)["search"] == 1.0


def test_a_dropped_user_cannot_log_in(world: EmbeddedWorld) -> None:
    assert mongo(world, "mongodb-rate", "db.dropUser('admin')", *ROOT).stdout == "true\n"
    restart(world, "rate")
    world.advance(30)
    assert ended(world, "rate")[0] == 2
    assert "Authentication failed" in logs(world, "rate")
    assert "UserNotFound" in logs(world, "mongodb-rate")


def test_cold_cache_and_missing_database_kill_the_service(world: EmbeddedWorld) -> None:
    world.cluster.delete("services", "mongodb-rate", NS)
    world.advance(30)
    assert success(world)["search"] == 1.0, "everything is cached"
    restart(world, "memcached-rate")
    world.advance(60)
    assert success(world)["search"] == 0.0
    assert "no reachable servers" in logs(world, "rate", previous=True)


def test_search_says_which_dependency_failed(world: EmbeddedWorld) -> None:
    world.cluster.patch("deployments.apps", "geo", {"spec": {"replicas": 0}}, namespace=NS)
    world.advance(60)
    assert "dependency=geo grpc_code=Unavailable" in logs(world, "search", tail=1)
    answer = run(
        world, "search", "wget", "-qO-", "http://frontend:5000/hotels?inDate=a&outDate=b&lat=1&lon=2"
    )
    assert "500 Internal Server Error" in answer.stderr


def test_a_configuration_without_the_key(world: EmbeddedWorld) -> None:
    config = json.loads(run(world, "geo", "cat", CONFIG_PATH).stdout)
    assert len(config) == 20
    del config["GeoMongoAddress"]
    data = {"config.json": json.dumps(config)}
    metadata = {"name": "geo-config", "namespace": NS}
    world.cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    volumes = [{"name": "v", "configMap": {"name": "geo-config"}}]
    patch = {"spec": {"template": {"spec": {"volumes": volumes}}}}
    world.cluster.patch("deployments.apps", "geo", patch, namespace=NS)
    mounts = [{"name": "v", "mountPath": CONFIG_PATH, "subPath": "config.json"}]
    change(world, "geo", "hotel-reserv-geo", volumeMounts=mounts)
    world.advance(60)
    assert "panic: no reachable servers" in logs(world, "geo", previous=True)


@pytest.mark.parametrize(
    ("deployment", "container", "fields", "code", "text"),
    [
        ("geo", "hotel-reserv-geo", {"image": "yinfangchen/geo:app3"}, 2, "no reachable servers"),
        ("mongodb-user", "hotel-reserv-user-mongo", {"image": "mongo:8.0.14-rc0"}, 62, "UPGRADE PROBLEM"),
        ("mongodb-rate", "hotel-reserv-rate-mongo", {"resources": {"limits": {"memory": "10Mi"}}}, 137, ""),
    ],
)
def test_broken_starts(
    world: EmbeddedWorld, deployment: str, container: str, fields: Any, code: int, text: str
) -> None:
    change(world, deployment, container, **fields)
    world.advance(75)
    assert ended(world, deployment)[0] == code
    assert text in logs(world, deployment) + logs(world, deployment, previous=True)


def test_the_wrong_binary_serves_the_wrong_thing(world: EmbeddedWorld) -> None:
    change(world, "profile", "hotel-reserv-profile", command=["geo"])
    world.advance(45)
    assert success(world)["recommend"] == 0.0
    assert success(world)["search"] == 0.0
    assert success(world)["user"] == 1.0


def test_a_failing_disk_ends_databases(world: EmbeddedWorld) -> None:
    node = pods(world, "mongodb-geo")[0]["spec"]["nodeName"]
    world.nodes.apply(DiskReadErrors(node, 1.0))
    assert "Input/output error" in run(world, "mongodb-geo", "cat", "/data/db/WiredTiger").stderr
    restart(world, "mongodb-geo")
    world.advance(30)
    assert ended(world, "mongodb-geo")[0] == 14
    assert "Input/output error" in logs(world, "mongodb-geo")
    world.nodes.heal(DiskReadErrors(node, 1.0))
    world.advance(400)
    assert pods(world, "mongodb-geo")[-1]["status"]["containerStatuses"][0]["ready"]


def test_a_restarted_registry_knows_nobody(world: EmbeddedWorld) -> None:
    restart(world, "consul")
    world.advance(30)
    assert success(world)["search"] == 1.0, "resolved addresses keep working"
    restart(world, "frontend")
    world.advance(30)
    assert success(world)["search"] == 0.0


def test_a_waiting_script_sees_the_world_change(world: EmbeddedWorld) -> None:
    wait = "until nslookup later.hotel-reservation.svc.cluster.local >/dev/null; do echo waiting; sleep 5; done; echo done"
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "waiter", "namespace": NS},
        "spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", wait]}],
        },
    }
    world.cluster.create(pod)
    world.advance(30)
    twin = world.fork()
    waited = world.cluster.logs(NS, "waiter")
    assert 3 <= waited.count("waiting") <= 7
    metadata = {"name": "later", "namespace": NS}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [{"port": 80}]}}
    world.cluster.create(service)
    for w in (world, twin):
        w.advance(15)
    assert world.cluster.get("pods", "waiter", NS)["status"]["phase"] == "Succeeded"
    assert world.cluster.logs(NS, "waiter").endswith("done\n")
    assert twin.cluster.get("pods", "waiter", NS)["status"]["phase"] == "Running"


def test_two_containers_cannot_listen_on_one_port(world: EmbeddedWorld) -> None:
    change(world, "user", "sidecar", image="busybox:latest", command=["nc", "-lk", "-p", "8086"])
    world.advance(60)
    texts = [
        world.cluster.logs(NS, name(world, "user"), container=c) for c in ("sidecar", "hotel-reserv-user")
    ]
    assert any("ddress already in use" in text for text in texts)


@pytest.mark.parametrize(
    ("component", "argv", "text", "code"),
    [
        ("frontend", ("wget", "-qO-", "http://localhost:5000/hotels"), "400 Bad Request", 1),
        ("frontend", ("curl", "x"), 'exec: "curl": executable file not found in $PATH', 127),
        ("frontend", ("sh", "-c", "echo $JAEGER_SAMPLE_RATIO | cat"), "1\n", 0),
        ("frontend", ("nc", "-zv", "consul", "8500"), "open", 0),
        ("frontend", ("nc", "-zv", "consul", "1234"), "timed out", 1),
        ("geo", ("nslookup", "mongodb-geo"), "Name:\tmongodb-geo.hotel-reservation.svc.cluster.local", 0),
        ("geo", ("nslookup", "nowhere"), "NXDOMAIN", 1),
        ("geo", ("cat", "/etc/resolv.conf"), "nameserver 10.96.0.10", 0),
        ("geo", ("date", "+%Y"), "2026\n", 0),
        ("geo", ("ls", "-l", CONFIG_PATH), "root     root", 0),
        ("mongodb-geo", ("mongo", "-u", "admin", "-p", "no"), "Error: Authentication failed.", 1),
        ("mongodb-geo", ("mongo", "--eval", "db.getUsers()"), "requires authentication", 252),
        ("mongodb-geo", ("bash", "-c", "ls /scripts"), "No such file", 2),
    ],
)
def test_commands(world: EmbeddedWorld, component: str, argv: Sequence[str], text: str, code: int) -> None:
    result = run(world, component, *argv)
    assert text in result.text
    assert result.exit_code == code


def test_files_written_in_a_container_stay_until_it_restarts(world: EmbeddedWorld) -> None:
    assert run(world, "geo", "sh", "-c", "echo kept > /tmp/note").exit_code == 0
    assert run(world, "geo", "cat", "/tmp/note").stdout == "kept\n"
    assert run(world, "mongodb-geo", "touch", "/data/db/mark").exit_code == 0
    restart(world, "geo", "mongodb-geo")
    world.advance(40)
    assert run(world, "geo", "cat", "/tmp/note").exit_code == 1
    assert "mark" in run(world, "mongodb-geo", "ls", "/data/db").stdout


def test_the_load_generator_reports_its_rounds(world: EmbeddedWorld) -> None:
    before = len(world.queue)
    text = logs(world, "wrk2-job", tail=40)
    assert "Running wrk2 on round #" in text
    assert "requests in 30.00s" in text
    assert "Non-2xx" not in text
    world.cluster.patch("deployments.apps", "search", {"spec": {"replicas": 0}}, namespace=NS)
    world.advance(70)
    assert "Non-2xx or 3xx responses: 1800" in logs(world, "wrk2-job", tail=40)
    assert len(world.queue) <= before + 5


def test_same_seed_same_world() -> None:
    digests = []
    for _ in range(2):
        world = deployed_world(APP, 3).fork()
        restart(world, "rate", "memcached-rate")
        run(world, "geo", "sh", "-c", "echo $RANDOM > /tmp/x")
        world.advance(40)
        digests.append(world.digest())
    assert digests[0] == digests[1]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("scale deploy frontend --replicas=0", "unable to connect to {} Connection refused"),
        ("delete svc frontend", "unable to resolve {} Name or service not known"),
        (
            "scale deploy coredns --replicas=0 -n kube-system",
            "unable to resolve {} Temporary failure in name resolution",
        ),
    ],
)
def test_a_generator_that_does_not_find_its_target_begins_no_round(change: str, told: str) -> None:
    world = deployed_world(APP).fork()
    desk = Workstation(world, ADMIN)
    desk.run("kubectl config set-context --current --namespace=hotel-reservation")
    desk.run(f"kubectl {change}")
    world.advance(120.0)
    begun, said = desk.run("kubectl logs job/wrk2-job --tail=2").text.splitlines()
    assert begun.startswith("Running wrk2 on round #")
    assert said == told.format("frontend.hotel-reservation.svc.cluster.local:5000")
