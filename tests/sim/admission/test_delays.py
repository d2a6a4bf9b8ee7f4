"""A request lasts as long as the webhooks that judge it, for kubectl in process as for clients over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.serve.app import Application
from sregym_env.serve.message import Request, Response
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import Kubectl
from tests.serve.serving import Served, real_kubectl, served
from tests.sim.admission.webhook_world import (
    IMAGE,
    NAMESPACE,
    URL,
    configuration,
    pod,
    rule,
    world_with_webhook,
)

RUN = f"run x --image={IMAGE}"
DENY = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "deny", "namespace": NAMESPACE},
    "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
}
"""The endpoint is there and nothing that is sent to it arrives."""
OVER = "Error from server (Timeout): Timeout: request did not complete within requested timeout - context deadline exceeded\n"
GAVE_UP = "Unable to connect to the server: net/http: request canceled (Client.Timeout exceeded while awaiting headers)\n"


def lost(name: str, kind: str = "Validating", seconds: int = 10, **more: object) -> Manifest:
    return configuration(kind, "/x", name=name, timeoutSeconds=seconds, **more)  # type: ignore[arg-type]


def slow(name: str, kind: str = "Validating", **more: object) -> Manifest:
    return configuration(kind, "/always-allow-delay-5s", name=name, timeoutSeconds=30, **more)  # type: ignore[arg-type]


def world_with(*manifests: Manifest) -> EmbeddedWorld:
    world = world_with_webhook()
    for manifest in manifests:
        world.cluster.create(manifest)
    return world


def typed(
    world: EmbeddedWorld, line: str, stdin: str = "", ends: int | None = None
) -> tuple[str, int, float]:
    """(standard error, exit code, virtual seconds it took)."""
    began = world.now()
    done = Kubectl(world.cluster).run(line.split(), stdin, ends=ends)
    return done.stderr, done.exit_code, round((world.now() - began) / SECOND, 1)


def test_an_endpoint_that_does_not_answer_takes_its_time() -> None:
    world = world_with(DENY, lost("guard", seconds=7))
    stderr, code, seconds = typed(world, RUN)
    assert (code, seconds) == (1, 7.0)
    assert stderr == (
        'Error from server (InternalError): Internal error occurred: failed calling webhook "guard.example.com": '
        f'failed to call webhook: Post "{URL}/x?timeout=7s": context deadline exceeded\n'
    )
    # What refuses at once, and a Service that is not there, take none.
    assert typed(world_with(lost("guard", service={"name": "gone"})), RUN)[1:] == (1, 0.0)


def test_the_world_goes_on_while_a_request_waits() -> None:
    world = world_with(DENY, lost("guard", rules=[rule("configmaps")]))
    world.cluster.create(pod("meanwhile"))
    assert typed(world, "create configmap x --from-literal=a=b")[2] == 10.0
    assert world.cluster.get("pods", "meanwhile", "default")["status"]["phase"] == "Running"


def test_one_after_another_or_at_the_same_time() -> None:
    changing = [slow(f"change-{number}", "Mutating") for number in range(3)]
    judging = [slow(f"judge-{number}") for number in range(4)]
    assert typed(world_with(*changing), RUN) == ("", 0, 15.0)
    assert typed(world_with(*judging), RUN) == ("", 0, 5.0)
    assert typed(world_with(*changing, *judging), RUN) == ("", 0, 20.0)
    # With a name that the server makes up, too.
    made = json.dumps({**pod(), "metadata": {"generateName": "web-"}})
    assert typed(world_with(*changing, *judging), "create -f -", made) == ("", 0, 20.0)


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_no_more_than_34_seconds_in_all(policy: str) -> None:
    world = world_with(
        DENY, *(lost(f"lost-{number}", "Mutating", failurePolicy="Ignore") for number in range(3))
    )
    assert typed(world, RUN) == ("", 0, 30.0)
    world.cluster.create(lost("last", failurePolicy=policy))
    assert typed(world, RUN.replace(" x ", " y ")) == (OVER, 1, 34.0)


def test_dry_runs_deletions_and_commands_wait_as_well() -> None:
    world = world_with(slow("guard", rules=[rule("pods pods/exec", "*")]))
    assert typed(world, f"{RUN} --dry-run=server") == ("", 0, 5.0)
    assert typed(world, RUN)[2] == 5.0
    world.advance(20)
    assert typed(world, "exec x -- /agnhost dns-suffix")[2] == 5.0
    assert typed(world, "delete pod x --wait=false --now")[2] == 5.0
    assert typed(world, "get pods")[2] == 0.0


def test_several_requests_of_a_command_wait_each() -> None:
    world = world_with(slow("guard", rules=[rule("configmaps")]))
    many = "\n---\n".join(
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{number}}}" for number in range(3)
    )
    assert typed(world, "apply -f -", many)[2] == 15.0
    # Cut off by ``timeout 7`` in the second.
    world = world_with(slow("guard", rules=[rule("configmaps")]))
    assert typed(world, "apply -f -", many, ends=world.now() + 7 * SECOND)[1:] == (124, 7.0)


def test_request_timeout() -> None:
    world = world_with(slow("guard"))
    assert typed(world, f"{RUN} --request-timeout=2s") == (GAVE_UP, 1, 2.0)
    assert not world.store.list("pods", "default"), "the server gives up as well"
    assert typed(world, f"{RUN} --request-timeout=2") == (GAVE_UP, 1, 2.0)
    assert typed(world, f"{RUN} --request-timeout=7s") == ("", 0, 5.0)


def test_what_others_waited_for_costs_nobody_else() -> None:
    world = world_with(DENY, lost("guard"))
    with pytest.raises(Exception, match="deadline"):
        world.cluster.create(pod("x"))
    assert typed(world, "create configmap x --from-literal=a=b") == ("", 0, 0.0)
    # Components are judged all the same, and do not wait.
    world.cluster.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {
                "selector": {"matchLabels": {"a": "b"}},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod()["spec"]},
            },
        }
    )
    world.advance(30)
    assert world.cluster.delay() == 0.0
    assert not world.store.list("pods", "default")


# --- over HTTP --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(world_with_webhook(), tmp_path_factory.mktemp("delays")) as running:
        yield running


def test_a_served_answer_is_told_later(server: Served) -> None:
    world = server.put(world_with(DENY, lost("guard", seconds=4)))
    began = world.now()
    application: Application = server.server.application
    headers = {"authorization": f"Bearer {_token(server.kubeconfig)}"}
    path = "/api/v1/namespaces/default/pods"
    reply, seconds = application.answer(Request("POST", path, {}, headers, json.dumps(pod("x")).encode()))
    assert isinstance(reply, Response)
    assert (reply.status, seconds, world.now()) == (500, 4.0, began)
    asked = Request("POST", path, {"timeout": ["2s"]}, headers, json.dumps(pod("x")).encode())
    reply, seconds = application.answer(asked)
    assert isinstance(reply, Response)
    assert (reply.status, seconds) == (504, 2.0)
    assert application.answer(Request("GET", path, {}, headers))[1] == 0.0


@pytest.mark.skipif(real_kubectl() is None, reason="needs a real kubectl")
def test_the_real_kubectl_waits_and_gives_up_as_the_one_in_process(server: Served) -> None:
    given = (DENY, lost("guard", seconds=2), slow("late", rules=[rule("configmaps pods/exec", "*")]))
    for line in (
        RUN,
        f"{RUN} --request-timeout=1s",
        "create configmap x --from-literal=a=b",
    ):
        world = server.put(world_with(*given), "real")
        ours, code, seconds = typed(world.fork(), line)
        began, clock = world.now(), time.monotonic()
        done = server.kubectl([*line.split(), "-n", "default"])
        # Which of its clocks runs out first is chance in the real one.
        said = (
            GAVE_UP
            if done.stderr.startswith("Unable to connect to the server: context deadline exceeded")
            else done.stderr
        )
        assert (said, done.code) == (ours, code), line
        assert seconds <= time.monotonic() - clock
        # kubectl counts from before the server has its request.
        assert 0.8 * seconds * SECOND <= world.now() - began


def _token(kubeconfig: Path) -> str:
    return kubeconfig.read_text().partition("token: ")[2].split()[0]
