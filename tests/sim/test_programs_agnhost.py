"""``agnhost`` as people use it: to serve something, to look at the network, to wait."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.cluster.http import HttpCall
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs import agnhost
from sregym_env.sim.programs.agnhost import reviews
from tests.sim.admission.webhook_world import IMAGE, pair, pod, world_with_webhook


def container(name: str, *args: str, **more: Any) -> Any:
    made = pod(name, labels={"app": name})
    made["spec"]["containers"][0] |= {"args": list(args), **more}
    return made


@pytest.fixture(scope="module")
def settled() -> EmbeddedWorld:
    world = world_with_webhook()
    cluster = world.cluster
    cluster.create(container("net", "netexec"))
    cluster.create(container("host", "serve-hostname", "--port", "9000"))
    ports = [
        {"name": "SERVE_PORT_9001", "value": "hello"},
        {"name": "SERVE_TLS_PORT_9002", "value": "secret"},
    ]
    cluster.create(container("porter", "porter", env=ports))
    cluster.create(container("live", "liveness"))
    cluster.create(container("idle"))
    cluster.create(container("typo", "nonsense"))
    cluster.create(container("bare", "webhook"))
    service = {"selector": {"app": "net"}, "ports": [{"port": 80, "targetPort": 8080}]}
    cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "echo", "namespace": "default"},
            "spec": service,
        }
    )
    world.advance(25)
    return world


@pytest.fixture
def world(settled: EmbeddedWorld) -> EmbeddedWorld:
    return settled.fork()


def curl(world: EmbeddedWorld, *argv: str) -> tuple[str, str, int]:
    done = world.cluster.exec("default", "idle", ["curl", *argv])
    return done.stdout, done.stderr, done.exit_code


def address(world: EmbeddedWorld, name: str) -> str:
    return str(world.cluster.get("pods", name, "default")["status"]["podIP"])


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/hostname", "net"),
        ("/hostName", "net"),
        ("/echo?msg=hi", "hi"),
        ("/echo?msg=hi&code=x", "argument 'code' must be an integer or empty, got \"x\"\n"),
        ("/healthz", ""),
        ("/shell?cmd=echo%20a%20%3E%26%202", '{"output":"a\\n"}'),
        ("/shell?cmd=exit%203", '{"error":"exit status 3"}'),
        ("/dial?host=echo&port=80&request=echo?msg%3Dx&tries=2", '{"responses":["x","x"]}'),
        ("/dial?host=echo&port=80", "request parameter not specified. <nil>\n"),
        ("/unknown", "NOW: 2026-08-06 10:0"),
    ],
)
def test_netexec(world: EmbeddedWorld, path: str, answer: str) -> None:
    stdout, stderr, code = curl(world, "-s", f"http://echo{path}")
    assert (stderr, code) == ("", 0)
    assert stdout.startswith(answer) if path == "/unknown" else stdout == answer


def test_netexec_knows_who_asks_and_writes_it_down(world: EmbeddedWorld) -> None:
    shown = curl(world, "-s", "http://echo/clientip")[0]
    assert shown.rpartition(":")[0] == address(world, "idle")
    assert world.cluster.logs("default", "net").endswith(" GET /clientip\n")


def test_netexec_ends_when_asked(world: EmbeddedWorld) -> None:
    curl(world, "-s", "http://echo/exit?code=3&wait=2s")
    world.advance(4)
    status = world.cluster.get("pods", "net", "default")["status"]["containerStatuses"][0]
    assert status["lastState"]["terminated"]["exitCode"] == 3


def test_small_servers(world: EmbeddedWorld) -> None:
    assert curl(world, "-s", f"http://{address(world, 'host')}:9000/")[0] == "host"
    assert curl(world, "-s", f"http://{address(world, 'porter')}:9001/")[0] == "hello"
    assert curl(world, "-s", f"http://{address(world, 'porter')}:9002/")[2] == 7, "it has no certificate"
    assert "failed: open localhost.crt: no such file" in world.cluster.logs("default", "porter")
    live = f"http://{address(world, 'live')}:8080"
    assert curl(world, "-s", f"{live}/healthz")[0].startswith("error: ")
    assert curl(world, "-s", "-o", "/dev/null", "-w", "%{http_code}", f"{live}/nowhere")[0] == "404"


def test_what_the_command_line_can_get_wrong(world: EmbeddedWorld) -> None:
    assert world.cluster.logs("default", "typo").startswith('Error: unknown command "nonsense" for "app"\n')
    assert "open : no such file or directory" in world.cluster.logs("default", "bare")
    codes = {
        name: world.cluster.get("pods", name, "default")["status"]["containerStatuses"][0]["lastState"][
            "terminated"
        ]["exitCode"]
        for name in ("typo", "bare")
    }
    assert codes == {"typo": 0, "bare": 255}


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        (["netexec", "--http-port=x"], 'invalid argument "x" for "--http-port" flag: strconv.ParseInt: parsing "x": '
                                       "invalid syntax"),
        (["netexec", "--nope"], "unknown flag: --nope"),
        (["netexec", "--http-port"], "flag needs an argument: --http-port"),
        (["--v=4", "webhook", "--port", "8443"], ""),
        (["connect", "a:80", "--timeout=3s"], ""),
    ],
)  # fmt: skip
def test_command_lines(argv: list[str], problem: str) -> None:
    assert agnhost.parse(["/agnhost", *argv]).problem == problem


@pytest.mark.parametrize(
    ("argv", "stderr", "code"),
    [
        (["connect", "echo:80"], "", 0),
        (["connect", "echo:81", "--timeout=2s"], "TIMEOUT\n", 1),
        (["connect", "127.0.0.1:81"], "REFUSED\n", 1),
        (["connect", "nowhere:80"], "DNS: lookup nowhere on 10.96.0.10:53: no such host\n", 1),
        (["connect", "echo"], "UNKNOWN: address echo: missing port in address\n", 1),
    ],
)
def test_connect(world: EmbeddedWorld, argv: list[str], stderr: str, code: int) -> None:
    done = world.cluster.exec("default", "idle", ["/agnhost", *argv])
    assert (done.stderr, done.exit_code) == (stderr, code)


def test_https_from_inside(world: EmbeddedWorld) -> None:
    url = "https://guard.policy.svc/readyz"
    assert curl(world, "-sk", url) == ("ok", "", 0)
    stdout, stderr, code = curl(world, url)
    assert (stdout, code) == ("", 60)
    assert stderr.startswith(
        "curl: (60) SSL certificate problem: unable to get local issuer certificate\nMore"
    )
    world.cluster.exec("default", "idle", ["sh", "-c", f"cat > /tmp/ca.crt <<'END'\n{pair().authority}END"])
    assert curl(world, "-s", "--cacert", "/tmp/ca.crt", url) == ("ok", "", 0)
    assert curl(world, "-s", "--cacert", "/tmp/nothing", url)[2] == 77
    assert (
        curl(world, "-s", "http://guard.policy.svc:443/")[0]
        == "Client sent an HTTP request to an HTTPS server.\n"
    )
    assert curl(world, "https://echo:80/")[1:] == (
        "curl: (35) OpenSSL/3.0.13: error:0A00010B:SSL routines::wrong version number\n",
        35,
    )
    done = world.cluster.exec("default", "idle", ["wget", "-O-", url])
    assert (done.stdout, done.exit_code) == ("ok", 0)
    assert "wget: note: TLS certificate validation not implemented\n" in done.stderr


def test_https_from_the_workstation(world: EmbeddedWorld) -> None:
    url = "https://guard.policy.svc/readyz"
    assert world.request(HttpCall(url, insecure=True)).body == "ok"
    assert world.request(HttpCall(url, authorities=pair().authority)).body == "ok"
    refused = world.request(HttpCall(url))
    assert (refused.outcome, refused.phase) == ("tls", "handshake")
    assert refused.problem.startswith("SSL certificate problem: unable to get local issuer certificate\n")


def test_probes_over_https_do_not_verify() -> None:
    world = world_with_webhook(pair(days=(-30, -1)))
    status = world.cluster.get("deployments.apps", "guard", "policy")["status"]
    assert status["readyReplicas"] == 1


PODS = {"group": "", "version": "v1", "resource": "pods"}


@pytest.mark.parametrize(
    ("path", "review", "allowed", "text"),
    [
        ("/always-deny", {}, False, "this webhook denies all requests"),
        ("/always-allow-delay-5s", {}, True, "this webhook allows all requests"),
        ("/pods", {"resource": PODS, "object": {"metadata": {}}}, True, ""),
        ("/pods", {"resource": {}}, False, "expect resource to be { v1 pods}"),
        (
            "/pods",
            {
                "resource": PODS,
                "object": {
                    "metadata": {"labels": {"webhook-e2e-test": "webhook-disallow"}},
                    "spec": {"containers": [{"name": "webhook-disallow"}]},
                },
            },
            False,
            "the pod contains unwanted label; the pod contains unwanted container name;",
        ),
        ("/pods/attach", {"name": "other"}, True, ""),
        (
            "/pods/attach",
            {
                "name": "to-be-attached-pod",
                "resource": PODS,
                "subResource": "attach",
                "object": {"stdin": True, "container": "container1"},
            },
            False,
            "attaching to pod 'to-be-attached-pod' is not allowed",
        ),
        (
            "/custom-resource",
            {"operation": "DELETE", "oldObject": {"data": {"webhook-e2e-test": "webhook-nondeletable"}}},
            False,
            "the custom resource cannot be deleted because it contains unwanted key and value",
        ),
        (
            "/crd",
            {
                "resource": {
                    "group": "apiextensions.k8s.io",
                    "version": "v1",
                    "resource": "customresourcedefinitions",
                },
                "object": {"metadata": {"labels": {"webhook-e2e-test": "webhook-disallow"}}},
            },
            False,
            "the crd contains unwanted label",
        ),
    ],
)
def test_what_the_webhook_answers(path: str, review: dict[str, Any], allowed: bool, text: str) -> None:
    answer = reviews.HANDLERS[path](review, "")
    status = answer.get("status", {})
    assert answer["allowed"] is allowed
    assert status.get("message", status.get("reason", "")) == text


def test_the_image_is_there_in_the_versions_people_name() -> None:
    world = world_with_webhook()
    for tag in ("2.39", "2.47", "2.53"):
        assert f"{IMAGE.rpartition(':')[0]}:{tag}" in world.images
