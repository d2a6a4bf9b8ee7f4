"""Writing verbs on the embedded cluster: what they do, and what has no recording."""

from __future__ import annotations

import pytest

from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import CommandResult, Kubectl

IMAGE = "registry.k8s.io/pause:3.10"


class Desk:
    """kubectl on a fresh cluster with one Deployment."""

    def __init__(self) -> None:
        self.world: EmbeddedWorld = bare_cluster()
        self.kubectl = Kubectl(self.world.cluster)
        self.run(f"create deployment web --image={IMAGE} --replicas=2")
        self.run("rollout status deploy/web")

    def run(self, line: str, stdin: str = "", code: int = 0) -> CommandResult:
        done = self.kubectl.run(line.split(), stdin)
        assert done.exit_code == code, (line, done)
        return done

    def field(self, path: str, kind: str = "deploy/web") -> str:
        return self.run(f"get {kind} -o jsonpath={{{path}}}").stdout


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_set_image_rolls_out_and_undo_goes_back(desk: Desk) -> None:
    assert desk.run("set image deploy/web pause=registry.k8s.io/pause:3.9").stdout == (
        "deployment.apps/web image updated\n"
    )
    desk.world.advance(2.0)
    desk.run("rollout undo deploy/web")
    desk.world.advance(2.0)
    assert desk.field(".spec.template.spec.containers[0].image") == IMAGE
    assert desk.run("rollout undo deploy/web --to-revision=7", code=1).stderr == (
        "error: unable to find specified revision 7 in history\n"
    )
    assert "3 " in desk.run("rollout history deploy/web").stdout


def test_scale_with_timeout_waits(desk: Desk) -> None:
    desk.run("scale deploy/web --replicas=4 --timeout=2m")
    assert desk.field(".status.replicas") == "4"


def test_delete_waits_until_the_object_is_gone(desk: Desk) -> None:
    desk.run("delete deploy web --cascade=foreground")
    assert "not found" in desk.run("get deploy web", code=1).stderr


def test_drain_moves_pods_and_uncordon_reopens(desk: Desk) -> None:
    node = desk.field(".items[0].spec.nodeName", "pods -l app=web")
    done = desk.run(f"drain {node} --ignore-daemonsets --delete-emptydir-data --force")
    assert done.stdout.startswith(f"node/{node} cordoned\nevicting pod ")
    assert done.stdout.endswith(f"node/{node} drained\n")
    assert done.stderr.startswith("Warning: ignoring DaemonSet-managed Pods: ")
    assert node not in desk.field(".items[*].spec.nodeName", "pods -l app=web")
    assert desk.run(f"uncordon {node}").stdout == f"node/{node} uncordoned\n"


def test_drain_tells_why_it_refuses(desk: Desk) -> None:
    node = desk.field(".items[0].spec.nodeName", "pods -n kube-system -l k8s-app=kube-proxy")
    done = desk.run(f"drain {node}", code=1)
    assert f'error: unable to drain node "{node}" due to error: ' in done.stderr
    assert "(use --ignore-daemonsets to ignore)" in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "label deploy/web a=b", "annotate deploy/web a=b", "scale deploy/web --replicas=5", "set env deploy/web A=B",
        "set image deploy/web pause=x", "patch deploy/web -p {\"spec\":{\"replicas\":7}}", "delete deploy/web",
        "expose deploy/web --port=80", "autoscale deploy/web --max=3", "run p --image=x",
        "create configmap c", "taint nodes --all a=b:NoSchedule", "cordon -l kubernetes.io/os=linux",
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", ["client", "server"])
def test_dry_runs_change_nothing(desk: Desk, line: str, how: str) -> None:
    look = "get nodes,all,configmaps,horizontalpodautoscalers -A -o yaml"
    before = desk.run(look).stdout
    desk.run(f"{line} --dry-run={how}")
    assert desk.run(look).stdout == before


def test_run_attached_shows_the_pods_output(desk: Desk) -> None:
    done = desk.kubectl.run(
        ["run", "p", "-i", "--rm", "--restart=Never", f"--image={IMAGE}", "--timeout=20s"]
    )
    assert 'pod "p" deleted' in done.stdout
    assert "Terminating" in desk.run("get pod p").stdout


def test_a_command_is_cut_off_when_its_time_is_up(desk: Desk) -> None:
    ends = desk.world.now() + 5_000_000
    done = desk.kubectl.run("wait deploy/web --for=delete --timeout=1h".split(), ends=ends)
    assert (done.exit_code, desk.world.now()) == (124, ends)


def test_a_kustomization_must_be_a_directory(desk: Desk) -> None:
    assert "must build at directory" in desk.run("apply -k dir", code=1).stderr


def test_wait_shares_its_time_among_objects(desk: Desk) -> None:
    before = desk.world.now()
    done = desk.run("wait pods -l app=web --for=condition=Bogus --timeout=3s", code=1)
    assert done.stderr.count("timed out waiting for the condition on pods/web-") == 2
    assert desk.world.now() - before == 3_000_000
