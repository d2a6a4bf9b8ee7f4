"""The scripts of delivery pipelines: bash, real kubectl, exit codes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sregym_env.serve.pace import Pace
from sregym_env.sim.embedded import EmbeddedWorld
from tests.serve.serving import Finished, Served

SPEED = 10.0

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ci, labels: {app: web, part-of: shop}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: web, image: "IMAGE", args: [netexec, --http-port=8080], ports: [{containerPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: ci, labels: {app: web, part-of: shop}}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
"""

EXTRA = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: extra, namespace: ci, labels: {part-of: shop}}
data: {a: b}
"""

AGNHOST = "registry.k8s.io/e2e-test-images/agnhost"


class Pipeline:
    """A directory with manifests and a shell in it."""

    def __init__(self, served: Served, directory: Path) -> None:
        assert served.binary is not None
        world = served.server.hosted.world
        served.server.hosted.pace = Pace(world, "real", SPEED)
        self.world: EmbeddedWorld = world
        self.directory = directory
        self._path = f"{served.binary.parent}:{os.environ['PATH']}"
        self._kubeconfig = served.kubeconfig
        self.write("shop.yaml", WEB.replace("IMAGE", f"{AGNHOST}:2.52"))

    def write(self, name: str, text: str) -> None:
        """A file of the pipeline."""
        (self.directory / name).write_text(text)

    def run(self, script: str) -> Finished:
        """What a script prints and how it ends; it ends at the first failing command."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=self.directory,
            env={
                "PATH": self._path,
                "KUBECONFIG": str(self._kubeconfig),
                "HOME": str(self.directory),
            },
        )
        return Finished(done.stdout, done.stderr, done.returncode)

    def succeed(self, script: str) -> str:
        """The output of a script that must not fail."""
        done = self.run(script)
        assert done.code == 0, (done.stdout, done.stderr)
        return done.stdout


@pytest.fixture
def pipeline(kubectl: Served, tmp_path: Path) -> Pipeline:
    made = Pipeline(kubectl, tmp_path)
    made.succeed("kubectl create namespace ci")
    return made


DEPLOYED = "kubectl apply -f shop.yaml && kubectl rollout status deployment/web -n ci --timeout=60s"


def test_apply_and_wait(pipeline: Pipeline) -> None:
    told = pipeline.succeed(DEPLOYED)
    assert "deployment.apps/web created\nservice/web created\n" in told
    assert told.endswith('deployment "web" successfully rolled out\n')
    assert (
        pipeline.succeed("kubectl apply -f shop.yaml")
        == "deployment.apps/web unchanged\nservice/web unchanged\n"
    )
    told = pipeline.succeed("kubectl wait -n ci --for=condition=Ready pod -l app=web --timeout=60s")
    assert told.count("condition met") == 2
    told = pipeline.succeed(
        "kubectl wait -n ci --for=jsonpath='{.status.availableReplicas}'=2 deployment/web --timeout=60s"
    )
    assert told == "deployment.apps/web condition met\n"


def test_diff_gates_a_deployment(pipeline: Pipeline) -> None:
    pipeline.succeed(DEPLOYED)
    assert pipeline.run("kubectl diff -f shop.yaml").code == 0
    pipeline.succeed("sed -i s/2.52/2.53/ shop.yaml")
    changed = pipeline.run("kubectl diff -f shop.yaml")
    assert changed.code == 1
    assert f"-      - image: {AGNHOST}:2.52" not in changed.stderr
    assert (
        f"+        image: {AGNHOST}:2.53" in changed.stdout
        or f"+      - image: {AGNHOST}:2.53" in changed.stdout
    )
    assert pipeline.run("kubectl diff --server-side -f shop.yaml").code == 1


def test_a_failed_rollout_is_undone(pipeline: Pipeline) -> None:
    pipeline.succeed(DEPLOYED)
    script = f"""
        kubectl set image deployment/web web={AGNHOST}:no-such-tag -n ci
        if ! kubectl rollout status deployment/web -n ci --timeout=3s; then
            kubectl rollout undo deployment/web -n ci
            kubectl rollout status deployment/web -n ci --timeout=60s
            exit 7
        fi
    """
    done = pipeline.run(script)
    assert done.code == 7
    assert "error: timed out waiting for the condition" in done.stderr
    assert "deployment.apps/web rolled back" in done.stdout
    image = pipeline.succeed(
        "kubectl get deployment web -n ci -o jsonpath='{.spec.template.spec.containers[0].image}'"
    )
    assert image == f"{AGNHOST}:2.52"
    history = pipeline.succeed("kubectl rollout history deployment/web -n ci")
    assert [line.split()[0] for line in history.splitlines()[2:] if line] == ["2", "3"]


def test_prune_by_label(pipeline: Pipeline) -> None:
    pipeline.write("extra.yaml", EXTRA)
    command = "kubectl apply --prune -l part-of=shop -n ci --prune-allowlist=core/v1/ConfigMap -f shop.yaml"
    pipeline.succeed(f"{command} -f extra.yaml")
    told = pipeline.succeed(command)
    assert "configmap/extra pruned" in told
    assert pipeline.run("kubectl get configmap extra -n ci").code == 1


def test_prune_by_apply_set(pipeline: Pipeline) -> None:
    pipeline.write("extra.yaml", EXTRA)
    command = "KUBECTL_APPLYSET=true kubectl apply --prune --applyset=shop -n ci -f shop.yaml"
    pipeline.succeed(f"{command} -f extra.yaml")
    told = pipeline.succeed(command)
    assert "configmap/extra pruned" in told


def test_server_side_apply_and_its_conflicts(pipeline: Pipeline) -> None:
    told = pipeline.succeed("kubectl apply --server-side --field-manager=ci -f shop.yaml")
    assert told == "deployment.apps/web serverside-applied\nservice/web serverside-applied\n"
    pipeline.succeed("kubectl scale deployment/web --replicas=5 -n ci")
    done = pipeline.run("kubectl apply --server-side --field-manager=ci -f shop.yaml")
    assert done.code == 1
    assert 'conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas' in done.stderr
    pipeline.succeed("kubectl apply --server-side --field-manager=ci --force-conflicts -f shop.yaml")
    assert pipeline.succeed("kubectl get deploy web -n ci -o jsonpath={.spec.replicas}") == "2"


def test_from_client_side_to_server_side(pipeline: Pipeline) -> None:
    pipeline.succeed(DEPLOYED)
    pipeline.succeed(
        "sed -i 's/replicas: 2/replicas: 3/' shop.yaml && kubectl apply --server-side -f shop.yaml"
    )
    managers = pipeline.succeed(
        "kubectl get deploy web -n ci --show-managed-fields "
        "-o jsonpath='{range .metadata.managedFields[*]}{.manager}/{.operation}{\"\\n\"}{end}'"
    ).split()
    assert "kubectl/Apply" in managers
    assert "kubectl-client-side-apply/Update" not in managers


def test_a_job_gates_a_release(pipeline: Pipeline) -> None:
    told = pipeline.succeed("""
        kubectl create job migrate -n ci --image=busybox:1.36 -- sh -c 'echo migrating; sleep 2'
        kubectl wait job/migrate -n ci --for=condition=Complete --timeout=60s
        kubectl logs job/migrate -n ci
        kubectl delete job migrate -n ci --wait
    """)
    assert "job.batch/migrate condition met\nmigrating\n" in told
    failed = pipeline.run("""
        kubectl create job migrate -n ci --image=busybox:1.36 -- sh -c 'exit 3'
        kubectl wait job/migrate -n ci --for=condition=Complete --timeout=2s
    """)
    assert failed.code == 1
    assert "timed out waiting for the condition on jobs/migrate" in failed.stderr


def test_generated_objects_are_piped_into_apply(pipeline: Pipeline) -> None:
    script = """
        kubectl create configmap settings -n ci --from-literal=level=LEVEL --dry-run=client -o yaml | kubectl apply -f -
        kubectl create secret generic token -n ci --from-literal=t=LEVEL --dry-run=client -o json | kubectl apply -f -
    """
    assert (
        pipeline.succeed(script.replace("LEVEL", "1")) == "configmap/settings created\nsecret/token created\n"
    )
    assert (
        pipeline.succeed(script.replace("LEVEL", "2"))
        == "configmap/settings configured\nsecret/token configured\n"
    )


def test_a_smoke_test_through_a_pod_and_through_a_tunnel(pipeline: Pipeline) -> None:
    pipeline.succeed(DEPLOYED)
    told = pipeline.succeed(
        "kubectl run smoke -n ci --image=busybox:1.36 --restart=Never --command -- sh -c 'until wget -qO- http://web/echo?msg=alive; do sleep 1; done'\n"
        "kubectl wait pod/smoke -n ci --for=jsonpath='{.status.phase}'=Succeeded --timeout=60s\n"
        "kubectl logs smoke -n ci"
    )
    assert told.rstrip().endswith("alive")
    told = pipeline.succeed("""
        kubectl port-forward -n ci service/web :80 > ports &
        tunnel=$!
        until grep -q Forwarding ports; do sleep 0.1; done
        port=$(sed -n 's/.*127.0.0.1:\\([0-9]*\\).*/\\1/p' ports | head -1)
        curl -s "http://127.0.0.1:$port/echo?msg=tunnelled"
        kill $tunnel
    """)
    assert told == "tunnelled"


def test_environments_come_and_go(pipeline: Pipeline) -> None:
    pipeline.succeed(DEPLOYED)
    told = pipeline.succeed("kubectl delete -f shop.yaml --wait --timeout=60s")
    assert 'deployment.apps "web" deleted' in told
    pipeline.succeed("kubectl wait -n ci --for=delete pod -l app=web --timeout=60s")
    assert pipeline.succeed("kubectl get all -n ci 2>&1") == "No resources found in ci namespace.\n"
    pipeline.succeed("kubectl delete namespace ci --timeout=60s")
    assert pipeline.run("kubectl get namespace ci").code == 1


def test_mistakes_end_a_pipeline(pipeline: Pipeline) -> None:
    pipeline.write("bad.yaml", WEB.replace("replicas: 2", "replicas: two"))
    done = pipeline.run("kubectl apply -f bad.yaml && echo never")
    assert (done.code, "never" in done.stdout) == (1, False)
    pipeline.write("typo.yaml", WEB.replace("replicas: 2", "replica: 2"))
    done = pipeline.run("kubectl apply -f typo.yaml")
    assert done.code == 1
    assert 'strict decoding error: unknown field "spec.replica"' in done.stderr
    done = pipeline.run("kubectl apply --dry-run=server -f shop.yaml && kubectl get deployment web -n ci")
    assert done.code == 1
    assert "deployment.apps/web created (server dry run)" in done.stdout


def test_a_node_is_drained(pipeline: Pipeline) -> None:
    pipeline.succeed(DEPLOYED)
    told = pipeline.succeed("""
        node=$(kubectl get pod -n ci -l app=web -o jsonpath='{.items[0].spec.nodeName}')
        kubectl drain "$node" --ignore-daemonsets --delete-emptydir-data --timeout=60s
        kubectl rollout status deployment/web -n ci --timeout=60s
        kubectl uncordon "$node"
    """)
    assert "evicted" in told and "uncordoned" in told
