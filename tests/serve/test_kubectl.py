"""The real kubectl against the served cluster; skipped where there is none."""

from __future__ import annotations

import re
import shlex
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from sregym_env.cluster.disturbances import KubeletStopped
from sregym_env.sim.embedded import EmbeddedWorld
from tests.serve.serving import Served, real_kubectl

pytestmark = pytest.mark.usefixtures("kubectl")

GENERATORS = (
    "deployment g --image=nginx --replicas=2",
    "configmap g --from-literal=a=b",
    "secret generic g --from-literal=a=b",
    "namespace g",
    "job g --image=busybox -- echo hi",
    "cronjob g --image=busybox --schedule='*/5 * * * *' -- date",
    "serviceaccount g",
    "role g --verb=get,list --resource=pods,deployments.apps",
    "rolebinding g --role=g --serviceaccount=hotel-reservation:default",
    "clusterrole g --verb=get --resource=nodes",
    "clusterrolebinding g --clusterrole=view --user=jane",
    "quota g --hard=pods=100",
    "poddisruptionbudget g --selector=app=web --min-available=1",
    "ingress g --rule='example.com/x=web:80'",
    "service clusterip g --tcp=80:8080",
    "priorityclass g --value=1000",
    "token default",
)


@pytest.mark.parametrize(
    "line",
    [
        "get pods", "get all -A", "get nodes -o wide", "get deploy frontend -o yaml", "describe deploy frontend",
        "describe node sre-worker", "describe svc frontend", "logs deploy/frontend --tail=2", "top pods", "top nodes",
        "get events -A -o json", "explain deploy.spec.strategy", "auth can-i get pods", "auth whoami", "api-resources",
        "api-versions", "version", "cluster-info", "rollout status deploy/frontend --timeout=60s",
        "rollout history deploy/frontend", "rollout restart deploy/geo", "exec deploy/mongodb-geo -- ls /",
        "wait --for=condition=Available deploy/frontend --timeout=60s", "scale deploy/geo --replicas=2",
        "set image deploy/geo *=nothing:1", "label deploy geo x=y", "annotate deploy geo x=y",
        "taint node sre-worker k=v:NoSchedule", "cordon sre-worker", "autoscale deploy geo --max=3",
        "expose deploy geo --name=other --port=80", "run probe --image=busybox --restart=Never -- sleep 9",
        "patch deploy geo -p '{\"spec\":{\"replicas\":2}}'",
        "debug node/sre-worker --image=busybox --profile=general -- ls",
    ],
)  # fmt: skip
def test_commands_succeed(kubectl: Served, line: str) -> None:
    done = kubectl.kubectl(shlex.split(line))
    assert done.code == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("line", ["exec deploy/mongodb-geo -- ls /", "attach deploy/mongodb-geo"])
def test_a_kubelet_that_does_not_answer_is_told_before_anything_is_upgraded(
    kubectl: Served, world: EmbeddedWorld, line: str
) -> None:
    pod = next(each for each in world.cluster.list("pods") if "mongodb-geo" in each["metadata"]["name"])
    world.nodes.apply(KubeletStopped(pod["spec"]["nodeName"]))
    done = kubectl.kubectl(shlex.split(line))
    said = r"Error from server: error dialing backend: dial tcp [\d.]+:10250: connect: connection refused"
    assert re.fullmatch(said, done.stderr.splitlines()[-1])


@pytest.mark.parametrize("line", GENERATORS)
def test_protobuf_bodies_of_generators(kubectl: Served, line: str) -> None:
    done = kubectl.kubectl(["create", *shlex.split(line)])
    assert done.code == 0, done.stderr


def test_apply_changes_what_changed(kubectl: Served, manifest: Path) -> None:
    assert kubectl.kubectl(["apply", "-f", str(manifest)]).stdout == "deployment.apps/web created\n"
    assert kubectl.kubectl(["apply", "-f", str(manifest)]).stdout == "deployment.apps/web unchanged\n"
    manifest.write_text(manifest.read_text().replace("replicas: 1", "replicas: 2"))
    assert kubectl.kubectl(["apply", "-f", str(manifest)]).stdout == "deployment.apps/web configured\n"
    done = kubectl.kubectl(["rollout", "status", "deploy/web", "--timeout=60s"])
    assert done.stdout.endswith('deployment "web" successfully rolled out\n')
    assert kubectl.kubectl(["delete", "-f", str(manifest)]).code == 0


def test_strict_validation(kubectl: Served, manifest: Path) -> None:
    manifest.write_text(manifest.read_text().replace("replicas", "replicaz"))
    done = kubectl.kubectl(["apply", "-f", str(manifest)])
    assert done.code == 1
    assert 'strict decoding error: unknown field "spec.replicaz"' in done.stderr


@pytest.mark.parametrize("code", [0, 3])
def test_exec_streams_and_exit_codes(kubectl: Served, code: int) -> None:
    script = f"echo out; echo err >&2; exit {code}"
    done = kubectl.kubectl(["exec", "deploy/mongodb-geo", "--", "sh", "-c", script])
    assert (done.stdout, done.code) == ("out\n", code)
    assert done.stderr.startswith("err\n")


def test_exec_reads_standard_input(kubectl: Served) -> None:
    done = kubectl.kubectl(["exec", "-i", "deploy/mongodb-geo", "--", "cat"], "hello\n")
    assert (done.stdout, done.code) == ("hello\n", 0)


def test_exec_of_a_missing_program(kubectl: Served) -> None:
    done = kubectl.kubectl(["exec", "deploy/mongodb-geo", "--", "nonsense"])
    assert done.code == 1
    assert 'exec: "nonsense": executable file not found in $PATH' in done.stderr


def test_drain_moves_the_pods(kubectl: Served) -> None:
    done = kubectl.kubectl(
        ["drain", "sre-worker", "--ignore-daemonsets", "--delete-emptydir-data"], timeout=120
    )
    assert done.code == 0, done.stderr
    assert done.stdout.endswith("node/sre-worker drained\n")


def test_drain_in_step_mode(kubectl: Served, world: EmbeddedWorld) -> None:
    kubectl.put(world, "step")
    done = kubectl.kubectl(
        ["drain", "sre-worker", "--ignore-daemonsets", "--delete-emptydir-data"], timeout=120
    )
    assert done.stdout.endswith("node/sre-worker drained\n")


def test_ages_are_right_for_the_client(kubectl: Served, manifest: Path) -> None:
    kubectl.kubectl(["apply", "-f", str(manifest)])
    described = kubectl.kubectl(["describe", "deploy", "web"]).stdout
    age = next(line.split()[2] for line in described.splitlines() if "ScalingReplicaSet" in line)
    assert age in ("0s", "1s", "2s", "3s", "4s")


def test_watching_shows_changes_as_they_come(kubectl: Served, manifest: Path) -> None:
    pace = kubectl.server.hosted.pace
    pace.factor = 1e-3  # hardly anything happens before somebody looks
    kubectl.kubectl(["apply", "-f", str(manifest)])
    with running(kubectl, "get", "deploy", "web", "-w", "--no-headers", "--request-timeout=60s") as process:
        assert process.stdout is not None
        assert process.stdout.readline().split()[1] == "0/1"
        pace.anchor()
        pace.factor = 10.0
        assert any(line.split()[1] == "1/1" for line in process.stdout)


def test_logs_follow(kubectl: Served) -> None:
    done = kubectl.kubectl(["logs", "-f", "deploy/frontend", "--tail=1", "--request-timeout=2s"])
    assert done.stdout.count("\n") >= 1


@contextmanager
def forwarding(
    kubectl: Served, target: str, port: int, *flags: str
) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """A running ``kubectl port-forward``: its local port, and the process."""
    with running(kubectl, "port-forward", target, f":{port}", *flags) as process:
        assert process.stdout is not None
        found = re.search(r":(\d+) ->", process.stdout.readline())
        assert found is not None
        yield int(found[1]), process


@contextmanager
def running(kubectl: Served, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A kubectl that does not end by itself."""
    assert kubectl.binary is not None
    process = subprocess.Popen(
        [str(kubectl.binary), *words],
        env={"KUBECONFIG": str(kubectl.kubeconfig), "HOME": str(kubectl.home)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def test_port_forward_carries_requests(kubectl: Served) -> None:
    with forwarding(kubectl, "svc/frontend", 5000) as (port, _):
        for _ in range(3):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as response:
                assert b"Hotel Reservation" in response.read()


def test_the_monitoring_answers_through_forwarded_ports(kubectl: Served) -> None:
    with forwarding(kubectl, "svc/prometheus-server", 80, "--namespace=observe") as (port, _):
        asked = httpx.get(
            f"http://127.0.0.1:{port}/api/v1/query", params={"query": "count(up == 1)"}, timeout=60
        )
        assert asked.json()["status"] == "success"
        assert float(asked.json()["data"]["result"][0]["value"][1]) > 5
        form = httpx.post(f"http://127.0.0.1:{port}/api/v1/query", data={"query": "vector("}, timeout=60)
        assert (form.status_code, form.json()["errorType"]) == (400, "bad_data")
    with forwarding(kubectl, "svc/loki", 3100, "--namespace=observe") as (port, _):
        found = httpx.get(f"http://127.0.0.1:{port}/loki/api/v1/label/namespace/values", timeout=60)
        assert "hotel-reservation" in found.json()["data"]


def test_port_forward_to_a_port_without_a_listener(kubectl: Served) -> None:
    with forwarding(kubectl, "deploy/frontend", 9999) as (port, process):
        with pytest.raises(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60)
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert process.stdout is not None
        assert "connect: connection refused" in process.stdout.read()


@pytest.mark.parametrize("minor", [27, 28, 29, 30, 31, 33])
def test_other_versions_of_kubectl(kubectl: Served, minor: int) -> None:
    binary = real_kubectl(minor)
    if binary is None:
        pytest.skip(f"no kubectl 1.{minor} on this machine")
    other = Served(kubectl.server, kubectl.home, binary)
    cache = {"KUBECACHEDIR": str(kubectl.home / f"cache{minor}")}
    for line in ("get pods", "describe deploy frontend", "create deployment web --image=nginx", "top nodes"):
        done = other.kubectl(shlex.split(line), **cache)
        assert (done.code, done.stderr) == (0, ""), line
