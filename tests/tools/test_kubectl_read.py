"""The read half of kubectl against output recorded from the real one, and what has no recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sregym_env.cluster.identity import User
from sregym_env.tools.kubectl import Kubectl
from tests.tools.kubectl_world import NS, FakeCluster, objects

DATA = json.loads((Path(__file__).parent / "data" / "kubectl_read.json").read_text())
NOW = DATA["now"]


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster(objects(NOW), NOW)


@pytest.fixture
def kubectl(cluster: FakeCluster) -> Kubectl:
    return Kubectl(cluster, NS)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: " ".join(case["args"]))
def test_prints_what_kubectl_prints(kubectl: Kubectl, case: dict[str, Any]) -> None:
    result = kubectl.run(case["args"])
    assert (result.exit_code, result.stdout, result.stderr) == (case["exit"], case["stdout"], case["stderr"])


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("gett pods", 'error: unknown command "gett" for "kubectl"\n\nDid you mean this?\n\tset\n\tget\n'),
        ("-n", "error: flag needs an argument: 'n' in -n\nSee 'kubectl --help' for usage.\n"),
        ("get pods -Z", "error: unknown shorthand flag: 'Z' in -Z\nSee 'kubectl get --help' for usage.\n"),
        ("get pods --show-labels=x", 'error: invalid argument "x" for "--show-labels" flag: strconv.ParseBool: '
         "parsing \"x\": invalid syntax\nSee 'kubectl get --help' for usage.\n"),
        ("logs lonely --tail=9223372036854775808", 'error: invalid argument "9223372036854775808" for "--tail" flag: '
         'strconv.ParseInt: parsing "9223372036854775808": value out of range\nSee \'kubectl logs --help\' for usage.\n'),
        ("config use-context x", 'error: no context exists with the name: "x"\n'),
        ("logs lonely -c nope", "error: container nope is not valid for pod lonely\n"),
        ("exec job-x1 -- ls", "error: cannot exec into a container in a completed pod; current phase is Succeeded\n"),
    ],
)  # fmt: skip
def test_refusals(kubectl: Kubectl, line: str, text: str) -> None:
    result = kubectl.run(line.split())
    assert (result.stderr, result.stdout, result.exit_code) == (text, "", 1)


@pytest.mark.parametrize(
    "line", ["--namespace shop get pods", "get -nshop po", "get -n=shop pod", "get pods -n shop"]
)
def test_global_flags_may_stand_anywhere(cluster: FakeCluster, line: str) -> None:
    result = Kubectl(cluster).run(line.split())  # type: ignore[arg-type]
    assert result.stdout.startswith("NAME  ")
    assert result.stdout.count("\n") == 4


def test_set_context_persists_the_namespace(cluster: FakeCluster) -> None:
    kubectl = Kubectl(cluster)  # type: ignore[arg-type]
    assert kubectl.run(["get", "pods"]).stderr == "No resources found in default namespace.\n"
    done = kubectl.run(["config", "set-context", "--current", f"--namespace={NS}"])
    assert done.stdout == 'Context "kubernetes-admin@kubernetes" modified.\n'
    assert "lonely" in kubectl.run(["get", "pods"]).stdout
    assert kubectl.run(["config", "view", "--minify", "-o", "jsonpath={..namespace}"]).stdout == NS
    assert "lonely" in kubectl.with_cluster(cluster).run(["get", "pods"]).stdout  # type: ignore[arg-type]


def test_logs(kubectl: Kubectl, cluster: FakeCluster) -> None:
    result = kubectl.run("logs web-5d4f-abcde --tail=5 --since=90s -p --timestamps".split())
    assert result.stdout == "log of app\n"
    assert result.stderr == 'Defaulted container "app" out of: app, proxy, init (init)\n'
    call = cluster.log_calls[-1]
    assert (call["tail"], call["since_seconds"], call["previous"], call["timestamps"]) == (5, 90, True, True)
    many = kubectl.run("logs -l app=web --all-containers --prefix".split())
    assert many.stdout.splitlines()[0] == "[pod/web-5d4f-abcde/init] log of init"
    assert cluster.log_calls[-1]["tail"] == 10
    assert kubectl.run(["logs", "deploy/web", "-c", "proxy"]).stdout == "log of proxy\n"
    assert "log stream closed" in kubectl.run(["logs", "-f", "lonely"]).stderr


def test_exec(kubectl: Kubectl) -> None:
    assert kubectl.run("exec lonely -- echo a b".split()).stdout == "c:echo a b:\n"
    assert kubectl.run("exec -i lonely -- cat".split(), stdin="in").stdout == "c:cat:in\n"
    assert kubectl.run("exec deploy/web -c proxy -- env".split()).stdout == "proxy:env:\n"
    failed = kubectl.run("exec lonely -- false".split())
    assert (failed.exit_code, failed.stderr) == (3, "bad\ncommand terminated with exit code 3\n")


def test_auth(kubectl: Kubectl, cluster: FakeCluster) -> None:
    assert kubectl.run("auth can-i list pods".split()).stdout == "yes\n"
    cluster.denied.add("delete")
    answer = kubectl.run("auth can-i delete pods".split())
    assert (answer.stdout, answer.exit_code) == ("no\n", 1)
    assert "kubernetes-admin" in kubectl.run(["auth", "whoami"]).stdout
    cluster.denied.add("impersonate")
    refused = kubectl.run("get pods --as jane".split())
    assert refused.stderr == (
        'Error from server (Forbidden): users "jane" is forbidden: User "kubernetes-admin" cannot impersonate '
        'resource "users" in API group "" at the cluster scope\n'
    )


def test_watch_shows_changes_within_a_bounded_time(kubectl: Kubectl, cluster: FakeCluster) -> None:
    result = kubectl.run("get pods -w --request-timeout=3s".split())
    assert result.stdout.count("lonely") == 1
    assert cluster.now() == NOW + 3_000_000
    assert result.stderr == ""
    assert "watch closed after 30s" in kubectl.run("get pods -w".split()).stderr


def test_raw(kubectl: Kubectl) -> None:
    assert kubectl.run(["get", "--raw", "/healthz"]).stdout == "ok"
    pods = json.loads(
        kubectl.run(["get", "--raw", f"/api/v1/namespaces/{NS}/pods?labelSelector=app=web"]).stdout
    )
    assert [item["metadata"]["name"] for item in pods["items"]] == ["web-5d4f-abcde"]
    assert "could not find the requested resource" in kubectl.run(["get", "--raw", "/nope"]).stderr


def test_manifests_on_stdin(kubectl: Kubectl) -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: lonely, namespace: shop}\n---\nkind: Service\n"
        "apiVersion: v1\nmetadata: {name: web}\n"
    )
    assert kubectl.run("get -f - -o name".split(), stdin=text).stdout == "pod/lonely\nservice/web\n"
    bad = kubectl.run("get -f -".split(), stdin="kind: Pod\nmetadata: {name: x}\n")
    assert bad.stderr == "Error from server (NotFound): the server could not find the requested resource\n"


def test_help_exists_for_every_command(kubectl: Kubectl) -> None:
    top = kubectl.run([]).stdout
    assert "Basic Commands" in top and "describe" in top
    text = kubectl.run(["get", "--help"]).stdout
    assert "--all-namespaces" in text and "Usage:\n  kubectl get" in text


def test_explain(kubectl: Kubectl) -> None:
    text = kubectl.run(["explain", "deploy.spec.replicas"]).stdout
    assert text.startswith(
        "GROUP:      apps\nKIND:       Deployment\nVERSION:    v1\n\nFIELD: replicas <integer>\n\n"
    )
    assert "  containers\t<[]Container> -required-\n" in kubectl.run(["explain", "pods.spec"]).stdout


def test_a_user_sees_with_his_own_eyes(cluster: FakeCluster) -> None:
    agent = cluster.as_user(User("system:serviceaccount:agents:sre"))
    text = Kubectl(agent).run(["config", "current-context"]).stdout  # type: ignore[arg-type]
    assert text == "sre@kubernetes\n"
