"""What admission says, as the real kubectl passes it on."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from sregym_env.kube.types import Manifest
from tests.serve.serving import Served, real_kubectl, served
from tests.sim.admission.webhook_world import IMAGE, configuration, pod, rule, world_with_webhook

pytestmark = pytest.mark.skipif(real_kubectl() is None, reason="needs a real kubectl")

DENIED = (
    'Error from server: {}admission webhook "guard.example.com" denied the request: this webhook denies all '
    "requests\n"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(world_with_webhook(), tmp_path_factory.mktemp("webhooks")) as running:
        yield running


@pytest.fixture(autouse=True)
def fresh(server: Served) -> None:
    world = world_with_webhook()
    world.cluster.create(pod("idle"))
    world.advance(20)
    server.put(world)


def said(server: Served, *argv: str, given: Manifest | None = None) -> tuple[str, str, int]:
    done = server.kubectl(["-n", "default", *argv], "" if given is None else json.dumps(given))
    return done.stdout, done.stderr, done.code


def configure(server: Served, **given: object) -> None:
    stdout, stderr, code = said(server, "apply", "-f", "-", given=configuration(**given))  # type: ignore[arg-type]
    assert (stderr, code) == ("", 0), stdout


def test_denials(server: Served) -> None:
    configure(server)
    assert said(server, "run", "x", f"--image={IMAGE}") == ("", DENIED.format(""), 1)
    text = 'error when creating "STDIN": '
    assert said(server, "create", "-f", "-", given=pod("x"))[1] == DENIED.format(text)


@pytest.mark.parametrize(
    ("resources", "operation", "argv"),
    [
        ("pods/exec", "CONNECT", ["exec", "idle", "--", "/agnhost", "dns-suffix"]),
        ("pods/attach", "CONNECT", ["attach", "idle"]),
        ("pods", "DELETE", ["delete", "pod", "idle"]),
        ("pods", "UPDATE", ["label", "pod", "idle", "a=b"]),
        ("deployments/scale", "UPDATE", ["scale", "deployment/guard", "-n", "policy", "--replicas=2"]),
    ],
)
def test_every_kind_of_request(server: Served, resources: str, operation: str, argv: list[str]) -> None:
    configure(server, rules=[rule(resources, operation, "*")])
    _, stderr, code = said(server, *argv)
    assert code == 1
    assert stderr.endswith(DENIED.format(""))


def test_calls_that_fail(server: Served) -> None:
    configure(server, service={"name": "gone"})
    assert said(server, "run", "x", f"--image={IMAGE}")[1] == (
        'Error from server (InternalError): Internal error occurred: failed calling webhook "guard.example.com": '
        'failed to call webhook: Post "https://gone.policy.svc:443/always-deny?timeout=10s": service "gone" not found\n'
    )


def test_warnings(server: Served) -> None:
    said(server, "label", "namespace", "default", "pod-security.kubernetes.io/warn=baseline")
    given = pod("x")
    given["spec"]["hostNetwork"] = True
    assert said(server, "apply", "-f", "-", given=given) == (
        "pod/x created\n",
        'Warning: would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)\n',
        0,
    )
